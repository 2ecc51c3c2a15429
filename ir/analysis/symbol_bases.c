// SPDX-License-Identifier: MIT
// Finds the variables from whose addresses registers are computed (ir/analysis/symbol_bases.h).
//
// A walk in reverse postorder propagates symbols through moves, sums, multiply-adds, integer conversions, selects and
// phis. Definitions precede uses, except for phis in loops. A phi takes the symbol of an input that has one. A second
// walk compares the symbols of all inputs. If they differ, all of these symbols escape, and the symbol of the phi is
// mixed: its accesses have no base.
//
// A symbol escapes at any other use of its address: in data, calls, casts to generic addresses, differences. A
// comparison with a constant, or with another address of the symbol, is no escape.
//
//     R1 = mov.b32 @x; R2 = mad.lo.s32 R9, 4, R1; ld.shared.b32 [R2+8]      base x, any offset
//     R3 = add.s32 R1, 8; ld.shared.b32 [R3+8]                              base x, offset 16
//     R4 = mov.phi b0: R1, b1: R5; R5 = add.s32 R4, 4; ld.shared [R4]       base x, any offset
//     R6 = sub.s32 R9, R1; R7 = selp.b32 R1, R2, P1; st.global.b32 [R8], R1    x escapes at the sub and the st
#include "ir/analysis/symbol_bases.h"

typedef struct Walk {
    SymbolBases *s;
    const Fn *fn;
    bool *mixed;  // by local symbol; 0 stands for all symbols of the module
    bool mixes;   // some symbol is mixed
} Walk;

static bool is_variable_space(Space space) { return space == SP_GLOBAL || space == SP_SHARED || space == SP_LOCAL; }

static uint32_t local_index(SymId sym) { return sym & SYM_LOCAL ? sym & ~(uint32_t)SYM_LOCAL : 0; }

static void escape(const Walk *w, SymId sym) { w->s->escaped[local_index(sym)] = true; }

// Returns the sum of offsets; OFFSET_ANY if it is unknown or large.
static int32_t add_offsets(int64_t x, int64_t y)
{
    int64_t sum = x == OFFSET_ANY || y < -INT32_MAX || y > INT32_MAX ? OFFSET_ANY : x + y;
    return sum > OFFSET_ANY && sum <= INT32_MAX ? (int32_t)sum : OFFSET_ANY;
}

static SymbolBase base_of(const Walk *w, Operand o)
{
    return op_is_reg(o) ? w->s->of_reg[op_index(o)] : (SymbolBase){0};
}

/* -- Definitions ---------------------------------------------------------------------------------------- */

static bool is_integer(Type t)
{
    TypeInfo info = type_info[t];
    return (info.class == TC_U || info.class == TC_S || info.class == TC_B) && (info.width == W32 || info.width == W64);
}

// Returns the base of a sum with a number.
static SymbolBase moved(const Walk *w, SymbolBase base, Operand by, bool minus)
{
    int64_t number = op_is_const(by) && !by.mods ? const_signed(tab_const(w->fn->tables, op_index(by))) : INT64_MAX;
    base.offset = number == INT64_MIN ? OFFSET_ANY : add_offsets(base.offset, minus ? -number : number);
    return base;
}

// Returns the base of the result of an instruction with an address among its operands. Without a base the operands
// escape.
static SymbolBase base_of_result(const Walk *w, const Instr *i, const Desc *d)
{
    const Mnem *m = tab_mnem(w->fn->tables, d->mnem);
    const Operand *use = ir_use(w->fn, i, 0);
    const SymbolBase none = {0};
    if (ir_guarded(i) || i->ndef != 1 || !is_integer((Type)m->type[0]) || m->mod[MC_SAT])
        return none;
    switch (d->op) {
    case OP_MOV: return base_of(w, use[0]);
    case OP_CVT: return is_integer((Type)m->type[1]) ? moved(w, base_of(w, use[0]), op_none(), false) : none;
    case OP_ADD:
    case OP_SUB: {
        SymbolBase x = base_of(w, use[0]), y = base_of(w, use[1]);
        if (x.sym && !y.sym)
            return moved(w, x, use[1], d->op == OP_SUB);
        return y.sym && !x.sym && d->op == OP_ADD ? moved(w, y, use[0], false) : none;
    }
    case OP_MAD_LO:
    case OP_MAD_WIDE: {
        bool number = !base_of(w, use[0]).sym && !base_of(w, use[1]).sym;
        return number ? moved(w, base_of(w, use[2]), op_none(), false) : none;
    }
    case OP_SELP: {
        SymbolBase x = base_of(w, use[0]), y = base_of(w, use[1]);
        return x.sym == y.sym ? (SymbolBase){x.sym, x.offset == y.offset ? x.offset : OFFSET_ANY} : none;
    }
    default: return none;
    }
}

static bool define(const Walk *w, const Instr *i, SymbolBase base)
{
    Operand to = *ir_def(w->fn, i, 0);
    if (!base.sym || !op_is_reg(to) || !reg_in_ssa(ir_reg(w->fn, op_index(to))))
        return false;
    w->s->of_reg[op_index(to)] = base;
    return true;
}

// A phi takes the symbol of the first input that has one.
static void visit_phi(const Walk *w, const Instr *i)
{
    for (uint32_t k = 1; k < ir_nuse(i); k += 2) {
        SymbolBase base = base_of(w, *ir_use(w->fn, i, k));
        if (base.sym && define(w, i, (SymbolBase){base.sym, OFFSET_ANY}))
            return;
    }
}

/* -- Uses ----------------------------------------------------------------------------------------------- */

// True if the access names the space of the symbol. Other than plain accesses to local memory count as escapes.
static bool names_space(const Walk *w, const Desc *d, SymId sym)
{
    Space space = (Space)ir_sym(w->fn, sym)->space;
    switch (d->op) {
    case OP_LD:
    case OP_LDU:
    case OP_ST:
        if (space == SP_LOCAL && d->traits & TR_ORDERED)
            return false;
        break;
    case OP_ATOM:
    case OP_RED:
    case OP_PREFETCH: break;
    default: return false;
    }
    return mod_space((Mod)tab_mnem(w->fn->tables, d->mnem)->mod[MC_SPACE]) == space;
}

// True if the instruction compares an address with a constant or with another address of the symbol.
static bool only_compares(const Walk *w, const Instr *i, const Desc *d, SymId sym)
{
    if (d->op != OP_SETP || ir_nuse(i) < 2)
        return false;
    for (uint32_t k = 0; k < 2; k++)
        if (!op_is_const(*ir_use(w->fn, i, k)) && base_of(w, *ir_use(w->fn, i, k)).sym != sym)
            return false;
    return true;
}

// Propagates the bases of operands, or lets their symbols escape.
static void visit_uses(const Walk *w, const Instr *i, const Desc *d)
{
    const Operand *ops = ir_ops(w->fn, i);
    if (define(w, i, base_of_result(w, i, d)))
        return;
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        SymId sym = op_kind(ops[k]) == K_SYM ? op_index(ops[k]) : base_of(w, ops[k]).sym;
        bool address = sym && k == i->ndef && names_space(w, d, sym);
        if (sym && !address && !only_compares(w, i, d, sym))
            escape(w, sym);
    }
}

static bool is_address_of_variable(const Walk *w, const Instr *i)
{
    Operand sym = *ir_use(w->fn, i, 0);
    return op_kind(sym) == K_SYM && ir_sym(w->fn, op_index(sym))->kind == SYM_VAR &&
           is_variable_space((Space)ir_sym(w->fn, op_index(sym))->space);
}

static void visit_address(const Walk *w, const Instr *i)
{
    SymId sym = op_index(*ir_use(w->fn, i, 0));
    SymbolBase base = moved(w, (SymbolBase){sym, 0}, *ir_use(w->fn, i, 1), false);
    if (is_address_of_variable(w, i) && (ir_guarded(i) || !define(w, i, base)))
        escape(w, sym);
}

static inline void visit(const Walk *w, const Instr *i)
{
    const Desc *d = ir_desc(w->fn, i);
    if (d->op == OP_PHI) {
        visit_phi(w, i);
    } else if (d->op == OP_ADDR) {
        visit_address(w, i);
    } else {
        const Operand *ops = ir_ops(w->fn, i);
        for (uint32_t k = i->ndef; k < i->nops; k++)
            if (op_kind(ops[k]) == K_SYM || base_of(w, ops[k]).sym) {
                visit_uses(w, i, d);
                break;
            }
    }
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

static void mix(Walk *w, SymId sym)
{
    escape(w, sym);
    w->mixes = true;
    w->mixed[local_index(sym)] = true;
}

// Finds phis whose inputs have different symbols. An undefined input has none and does no harm.
static void check_phi(Walk *w, const Instr *i)
{
    SymId sym = base_of(w, *ir_def(w->fn, i, 0)).sym;
    for (uint32_t k = 1; k < ir_nuse(i); k += 2) {
        Operand o = *ir_use(w->fn, i, k);
        SymId input = base_of(w, o).sym;
        if (input == sym || op_is_undef(o))
            continue;
        if (input)
            escape(w, input);
        if (sym)
            mix(w, sym);
    }
}

static void check_phis(Walk *w, const Analyses *a)
{
    for (uint32_t k = 0; k < a->nrpo; k++)
        for (InstrId id = ir_block(w->fn, a->rpo[k])->first; id && ir_is_phi(w->fn, id); id = instr_after(w->fn, id))
            check_phi(w, ir_instr(w->fn, id));
    for (RegId r = 1; w->mixes && r < w->fn->regs.n; r++)
        if (w->s->of_reg[r].sym && w->mixed[local_index(w->s->of_reg[r].sym)])
            w->s->of_reg[r] = (SymbolBase){0};
}

static void escape_data(const Walk *w)
{
    for (uint32_t k = 1; k < w->fn->syms.n; k++) {
        const Init *init = ir_sym(w->fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            escape(w, init->relocs[r].sym);
    }
}

/* -- Queries -------------------------------------------------------------------------------------------- */

void symbol_bases_find(SymbolBases *s, Arena *arena, const Fn *fn, const Analyses *a)
{
    *s = (SymbolBases){.fn = fn};
    if (fn->form != FORM_SSA)
        return;
    s->of_reg = NEW_ARRAY(arena, SymbolBase, fn->regs.n);
    s->escaped = NEW_ARRAY(arena, bool, fn->syms.n + 1);
    Walk w = {.s = s, .fn = fn, .mixed = NEW_ARRAY(arena, bool, fn->syms.n + 1)};
    escape_data(&w);
    for (uint32_t k = 0; k < a->nrpo; k++)
        FOR_INSTRS(fn, a->rpo[k], id)
            visit(&w, ir_instr(fn, id));
    check_phis(&w, a);
}

SymbolBase symbol_base_of_access(const SymbolBases *s, const Instr *i)
{
    Operand base = *ir_use(s->fn, i, 0), by = *ir_use(s->fn, i, 1);
    Space space = mod_space((Mod)tab_mnem(s->fn->tables, ir_desc(s->fn, i)->mnem)->mod[MC_SPACE]);
    SymbolBase found = {0};
    if (op_kind(base) == K_SYM)
        found.sym = op_index(base);
    else if (op_is_reg(base) && s->of_reg)
        found = s->of_reg[op_index(base)];
    if (!found.sym || ir_sym(s->fn, found.sym)->space != space || ir_sym(s->fn, found.sym)->kind != SYM_VAR)
        return (SymbolBase){0};
    bool known = op_is_const(by) && !by.mods;
    int64_t number = known ? const_signed(tab_const(s->fn->tables, op_index(by))) : INT64_MAX;
    return (SymbolBase){found.sym, add_offsets(found.offset, number)};
}

bool symbol_is_private(const SymbolBases *s, SymId sym)
{
    const Sym *v = ir_sym(s->fn, sym);
    return s->escaped && local_index(sym) && v->kind == SYM_VAR && !(v->flags & (SYM_EXTERN | SYM_WEAK | SYM_COMMON)) &&
           !s->escaped[local_index(sym)];
}
