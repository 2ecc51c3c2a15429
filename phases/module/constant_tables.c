// SPDX-License-Identifier: MIT
// Finds tables of functions that keep their initial values, and the functions that a load of such a table returns.
//
// The premise for a variable of the module is that only its code can name it: a function declared it (SYM_STATIC), or
// the user lists it (--internalize). Then an analysis of all functions decides if some code may write it. The address
// of a constant table occurs only
//
//     as the base of plain loads                                  ld.global.u64 [@table+8], ld.global.u64 [R4]
//     plus a number, moved, selected, cast, in a register that is used in these ways only
//
// so no store, atomic operation, call, comparison, or opaque instruction has it, and no data: its address escapes
// nowhere. Registers are followed without regard to the order of instructions, since functions are in multi form.
//
// A register holds the address once, as a summand: `sub R, R9, R4` and the sum of two addresses are escapes. So no code
// can compute the distance to another variable, and a base plus any index is an address in the table, or outside of all
// variables that the program may name by it. An access beyond the end of a variable is undefined. Tables are aligned to
// their elements, and so are loads. Hence a load with an unknown index returns one of the elements, whatever the index.
//
//     global @table: .u64[2] = {@f, @g}      and --internalize=table
//     R1 = ld.global.b64 [@table+8]                       @g
//     R2 = mov.b64 @table; R3 = mad.wide.u32 R9, 8, R2
//     R4 = ld.global.b64 [R3]                             @f or @g
//
// Must not fire:
//     ld.volatile.global.b64 [@table]     something else writes the table
//     weak global @table                  the linker may choose another definition
//     {@f, 0} and an unknown index        the call may be under a test of the pointer, which is no function then
//     .u64 table[1] = {f+8}, mask(f)      no function
//
// A function of a table may be .weak: then the direct call, as the table, names the definition that the linker chooses.
#include "phases/module/module.h"

enum {
    TABLE_BYTES = 8,
    ELEMENTS_MAX = 4096,  // of a table that is loaded with an unknown index
    PASSES_MAX = 16,
    STEPS_MAX = 64,
};

/* -- Candidates ----------------------------------------------------------------------------------------- */

// Returns the function of an element; 0 if it is anything else.
static SymId function_of(const Module *m, const Reloc *r)
{
    if (r->mask || r->addend || r->generic || r->sym & SYM_LOCAL)
        return 0;
    const Sym *s = &m->syms.at[r->sym];
    return s->kind == SYM_FUNC && !(s->flags & SYM_KERNEL) ? r->sym : 0;
}

// True for a variable with initial values that are addresses.
static bool is_table(const Module *m, const Sym *s)
{
    bool space = s->space == SP_GLOBAL || s->space == SP_CONST;
    uint32_t other = SYM_EXTERN | SYM_WEAK | SYM_COMMON | SYM_GONE;
    return m->address_size == 64 && s->kind == SYM_VAR && space && !(s->flags & other) && !s->attribute &&
           type_info[s->type].width == W64 && s->vec <= 1 && s->align && s->align % TABLE_BYTES == 0 && s->init &&
           !s->init->raw && s->init->nrelocs;
}

/* -- Escapes -------------------------------------------------------------------------------------------- */

// The search for escapes of symbols of the module, or of the symbols of one function.
typedef struct Scan {
    const Fn *fn;
    ConstantTables *tables;  // candidates that have not escaped yet
    bool local;              // they are symbols of the function
    uint32_t *held;          // by RegId: the index of the table whose address the register may hold; 0 = none
    bool changed;
} Scan;

static uint32_t index_of(const Scan *s, SymId sym)
{
    bool local = sym & SYM_LOCAL;
    uint32_t index = local ? sym & ~(uint32_t)SYM_LOCAL : sym;
    return local == s->local && index < s->tables->n && s->tables->at[index] ? index : 0;
}

static void escape(const Scan *s, uint32_t index) { s->tables->at[index] = false; }

// Returns the table whose address an operand has; 0 = none.
static uint32_t table_of(const Scan *s, Operand o)
{
    if (op_kind(o) == K_SYM)
        return index_of(s, op_index(o));
    return op_is_reg(o) ? s->held[op_index(o)] : 0;
}

static void escape_operand(const Scan *s, Operand o)
{
    escape(s, table_of(s, o));
    const List *list = op_kind(o) == K_LIST ? ir_list(s->fn, op_index(o)) : NULL;
    for (uint32_t k = 0; list && k < list->n; k++)
        escape(s, table_of(s, ir_run(s->fn, list->ops)[k]));
}

static bool is_plain_load(const Desc *d) { return d->op == OP_LD && !(d->traits & TR_ORDERED); }

static bool is_integer(Type type)
{
    TypeClass class = (TypeClass)type_info[type].class;
    return class == TC_B || class == TC_U || class == TC_S;
}

// True if the result of an instruction is its use k, an address, plus a number, or one of its uses.
static bool passes(const Fn *fn, const Instr *i, uint32_t k)
{
    const Desc *d = ir_desc(fn, i);
    bool wide = i->ndef == 1 && op_is_reg(*ir_def(fn, i, 0)) && ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width == W64;
    if (!wide || k >= ir_nuse(i) || ir_use(fn, i, k)->mods)
        return false;
    switch (d->op) {
    case OP_ADDR:
    case OP_MOV:
    case OP_CVTA:
    case OP_CVTA_ADDR:
    case OP_CVTA_TO:
    case OP_SUB: return k == 0;
    case OP_ADD: return k < 2 && is_integer((Type)tab_mnem(fn->tables, d->mnem)->type[0]);
    case OP_SELP: return k < 2;
    case OP_MAD_LO:
    case OP_MAD_WIDE: return k == 2;
    case OP_PHI: return k % 2;
    default: return false;
    }
}

// The definition has the address of a table, too. A register with addresses of two tables is an escape of both.
static void hold(Scan *s, Operand def, uint32_t index)
{
    RegId r = op_is_reg(def) ? op_index(def) : 0;
    if (!r || !index)
        return;
    if (ir_reg(s->fn, r)->flags & (REG_NAMED | REG_PINNED))
        escape(s, index);
    if (s->held[r] && s->held[r] != index) {
        escape(s, index);
        escape(s, s->held[r]);
    }
    s->changed |= !s->held[r];
    s->held[r] = s->held[r] ? s->held[r] : index;
}

static void visit(Scan *s, const Instr *i)
{
    const Fn *fn = s->fn;
    const Desc *d = ir_desc(fn, i);
    const Operand *ops = ir_ops(fn, i);
    uint32_t summands = 0;
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        uint32_t index = table_of(s, ops[k]), use = k - i->ndef;
        bool base = use == 0 && is_plain_load(d) && !ops[k].mods;
        bool tied = use >= ir_nuse(i) && use < ir_nuse(i) + ir_ntied(i);
        if (tied)
            hold(s, ops[use - ir_nuse(i)], index);
        else if (index && passes(fn, i, use) && !(d->op == OP_ADD && summands++))
            hold(s, ops[0], index);
        else if (!base)
            escape_operand(s, ops[k]);
    }
}

static void escape_in_data(void *user, SymId sym)
{
    const Scan *s = user;
    escape(s, index_of(s, sym));
}

static void visit_init(const Scan *s, const Init *init)
{
    for (uint32_t k = 0; init && k < init->nrelocs; k++)
        escape(s, index_of(s, init->relocs[k].sym));
}

// Follows the addresses through the registers of a function. If that takes too many passes, all of them escape.
static void scan(Scan *s, const Fn *fn, Arena *arena)
{
    uint32_t pass = 0;
    s->fn = fn;
    s->held = NEW_ARRAY(arena, uint32_t, fn->regs.n);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        visit_init(s, ir_sym(fn, k | SYM_LOCAL)->init);
    do {
        s->changed = false;
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id)
                visit(s, ir_instr(fn, id));
    } while (s->changed && ++pass < PASSES_MAX);
    for (RegId r = 1; s->changed && r < fn->regs.n; r++)
        escape(s, s->held[r]);
}

static bool any_table(const ConstantTables *t)
{
    for (uint32_t k = 1; k < t->n; k++)
        if (t->at[k])
            return true;
    return false;
}

const ConstantTables *constant_tables(const Ctx *ctx, const Module *m, Arena *arena)
{
    ConstantTables *t = NEW(arena, ConstantTables);
    *t = (ConstantTables){.n = m->syms.n, .at = NEW_ARRAY(arena, bool, m->syms.n)};
    for (SymId k = 1; k < t->n; k++)
        t->at[k] = is_table(m, &m->syms.at[k]) && (m->syms.at[k].flags & SYM_STATIC || module_internalizes(ctx, m, k));
    if (!any_table(t))
        return NULL;
    Scan s = {.tables = t};
    Arena scratch;
    arena_init(&scratch, arena->heap);
    for (uint32_t k = 0; k < m->items.n; k++) {
        if (m->items.at[k].kind == ITEM_VAR)
            visit_init(&s, m->syms.at[m->items.at[k].index].init);
        if (m->items.at[k].kind == ITEM_RAW)
            raw_symbols(m, module_item_text(m, &m->items.at[k]), escape_in_data, &s);
    }
    for (uint32_t k = 0; k < m->fns.n; k++)
        if (m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED)
            scan(&s, m->fns.at[k], &scratch);
    arena_free(&scratch);
    return t;
}

const ConstantTables *constant_tables_of(const Fn *fn, Arena *arena)
{
    ConstantTables *t = NEW(arena, ConstantTables);
    *t = (ConstantTables){.n = fn->syms.n, .at = NEW_ARRAY(arena, bool, fn->syms.n)};
    for (uint32_t k = 1; k < t->n; k++)
        t->at[k] = is_table(fn->module, ir_sym(fn, k | SYM_LOCAL));
    if (!any_table(t))
        return NULL;
    Scan s = {.tables = t, .local = true};
    scan(&s, fn, arena);
    return t;
}

/* -- Loads ---------------------------------------------------------------------------------------------- */

// The address of a load.
typedef struct Place {
    const Fn *fn;
    const Analyses *a;
    const ConstantTables *module, *own;
    uint32_t steps;
    // Of the part that was followed:
    bool generic;     // the rest is a generic address
    Space space;      // of the other addresses; SP_NONE = unknown
    uint64_t offset;  // of the load from the rest, if the load is exact
    bool exact;
    SymId table;  // result
} Place;

// Takes a symbol plus an offset as the rest of the address.
static bool take_symbol(Place *p, Operand sym, Operand offset)
{
    if (op_kind(sym) != K_SYM || p->generic || !op_is_const(offset))
        return false;
    SymId id = op_index(sym);
    const ConstantTables *t = id & SYM_LOCAL ? p->own : p->module;
    uint32_t index = id & ~(uint32_t)SYM_LOCAL;
    if (!t || index >= t->n || !t->at[index] || ir_sym(p->fn, id)->space != p->space)
        return false;
    p->offset += (uint64_t)const_signed(tab_const(p->fn->tables, op_index(offset)));
    p->table = id;
    return true;
}

// Passes a cast of an address in a space, to a generic address or from one.
static bool take_cast(Place *p, const Desc *d, bool to_generic)
{
    Space space = mod_space((Mod)tab_mnem(p->fn->tables, d->mnem)->mod[MC_SPACE]);
    if (p->generic != to_generic || (p->space != SP_NONE && p->space != space))
        return false;
    p->generic = !to_generic;
    p->space = space;
    return true;
}

static bool find_table(Place *p, Operand o);

// Follows one of two summands. A constant is added to the offset, any other number makes it unknown.
static bool take_sum(Place *p, Operand rest, Operand number, bool minus)
{
    Place before = *p;
    bool constant = op_is_const(number) && !number.mods;
    uint64_t n = constant ? (uint64_t)const_signed(tab_const(p->fn->tables, op_index(number))) : 0;
    p->offset += minus ? 0 - n : n;
    p->exact &= constant;
    if (find_table(p, rest))
        return true;
    uint32_t steps = p->steps;
    *p = before;
    p->steps = steps;
    return false;
}

// Finds the table in whose address plus a number an operand is.
static bool find_table(Place *p, Operand o)
{
    const Fn *fn = p->fn;
    InstrId def = op_in_ssa(fn, o) && p->steps++ < STEPS_MAX ? def_of(p->a, op_index(o)) : 0;
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || ir_guarded(i) || i->ndef != 1 || ir_reg(fn, op_index(o))->width != W64)
        return false;
    const Desc *d = ir_desc(fn, i);
    const Operand *use = ir_use(fn, i, 0);
    if ((d->op == OP_ADD || d->op == OP_SUB) && !is_integer((Type)tab_mnem(fn->tables, d->mnem)->type[0]))
        return false;
    switch (d->op) {
    case OP_MOV: return find_table(p, use[0]);
    case OP_ADDR: return take_symbol(p, use[0], use[1]);
    case OP_CVTA: return take_cast(p, d, true) && find_table(p, use[0]);
    case OP_CVTA_ADDR: return take_cast(p, d, true) && take_symbol(p, use[0], use[1]);
    case OP_CVTA_TO: return take_cast(p, d, false) && find_table(p, use[0]);
    case OP_ADD: return take_sum(p, use[0], use[1], false) || take_sum(p, use[1], use[0], false);
    case OP_SUB: return take_sum(p, use[0], use[1], true);
    case OP_MAD_LO:
    case OP_MAD_WIDE: return take_sum(p, use[2], op_none(), false);
    default: return false;
    }
}

// True for a plain load of one whole element, whose address is to be followed.
static bool start_place(Place *p, const Instr *load)
{
    const Fn *fn = p->fn;
    const Desc *d = ir_desc(fn, load);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    Type type = (Type)m->type[0];
    bool whole = type_info[type].width == W64 && is_integer(type) && !m->mod[MC_VEC];
    if (!is_plain_load(d) || load->ndef != 1 || !whole || load->callseq)
        return false;
    p->generic = !m->mod[MC_SPACE];
    p->space = p->generic ? SP_NONE : mod_space((Mod)m->mod[MC_SPACE]);
    p->exact = true;
    return true;
}

// Returns the function at an offset in a table; 0 if there is anything else.
static SymId function_at(const Module *m, const Init *init, uint64_t offset)
{
    uint32_t first = 0, end = init->nrelocs;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (init->relocs[middle].offset == offset)
            return function_of(m, &init->relocs[middle]);
        if (init->relocs[middle].offset < offset)
            first = middle + 1;
        else
            end = middle;
    }
    return 0;
}

// Passes the function of one element, or of each; false if one of them has none.
static bool pass_functions(const Place *p, TakeFunction *take, void *user)
{
    const Module *m = p->fn->module;
    const Sym *s = ir_sym(p->fn, p->table);
    uint64_t n = s->size / TABLE_BYTES;
    SymId function = p->exact ? function_at(m, s->init, p->offset) : 0;
    if (p->exact)
        return function && take(user, function);
    for (uint64_t k = 0; k < n && n <= ELEMENTS_MAX; k++) {
        function = function_at(m, s->init, k * TABLE_BYTES);
        if (!function || !take(user, function))
            return false;
    }
    return n && n <= ELEMENTS_MAX;
}

bool loaded_functions(const ConstantTables *module, const ConstantTables *own, const Fn *fn, const Analyses *a,
                      const Instr *load, TakeFunction *take, void *user)
{
    Place p = {.fn = fn, .a = a, .module = module, .own = own};
    if ((!module && !own) || !start_place(&p, load))
        return false;
    Operand base = *ir_use(fn, load, 0), offset = *ir_use(fn, load, 1);
    bool found = op_kind(base) == K_SYM ? take_symbol(&p, base, offset) : take_sum(&p, base, offset, false);
    return found && pass_functions(&p, take, user);
}
