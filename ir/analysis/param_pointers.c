// SPDX-License-Identifier: MIT
// Finds the loads of kernel parameters that give addresses of global memory (ir/analysis/param_pointers.h).
//
// A declaration `.ptr .global` suffices. By the PTX ISA it names the space of the memory that the parameter points to,
// and a generic address outside the windows of other spaces is the same number in global memory. So it does not matter
// whether the parameter is a generic address. `.ptr` of another space excludes the parameter, because a generic address
// in that space is another number. Nothing is known of parameters of device functions.
//
// Under the premise, a load of the width of an address from any other parameter is a candidate, from a by-value
// structure at an aligned offset too. PTX has no types, so a candidate may also be an index. It is rejected if
//
// - it is an operand of a sum whose other operand may be an address, too: one of them is an offset. This does not
//   reject a parameter declared `.ptr`, which is no offset;
// - it is the base of an access to another space, or the operand of a cvta from or to another space;
// - an operand of isspacep depends on it in any way: the kernel distinguishes the spaces itself. A value from memory
//   or from a call may depend on every parameter.
//
// All loads of a parameter at one offset are rejected together. In a module for texmode_independent (OpenCL), where a
// parameter may be an address of any space, there is no candidate.
//
//     R1 = ld.param.b64 [@p]; R3 = mad.wide.s32 R2, 4, R1; ld.b32 [R3]      p is an address
//     R1 = ld.param.b64 [@n]; R3 = add.s64 R2, R1; ld.b32 [R3]              n is none if R2 was loaded from memory
//     R1 = ld.param.b64 [@n]; R3 = shl.b64 R1, 2; R4 = add.s64 R2, R3       the sum is not about n, which is scaled
//     R1 = ld.param.b64 [@p]; P1 = isspacep.shared R1                       nothing is known of p
//
// A register may hold an address if one of its definitions may give one. Registers narrower than an address hold none,
// and neither do values that are computed from them, except where parts of an address are put together: by packing, and
// by a shift or a factor of at least half the width of an address. A product, or a value that was shifted left, is no
// address, but a shift to the right may restore one.
//
// Does not do: vectors; structures that are read through their addresses; the sum of two parameters, one of which is
// an index. An isspacep in a function to which the kernel passes a parameter rejects nothing.
#include <string.h>

#include "ir/analysis/param_pointers.h"

enum { STRUCTURE_MAX = 1 << 16 };

// Ascending: the join of two is their maximum.
typedef enum { NO_ADDRESS, SCALED, MAY_BE_ADDRESS } Nature;

// Degrees of rejection, as bits: of offsets; of parameters declared `.ptr` too; of all values on which a register
// depends.
typedef enum { OFFSETS = 1, ADDRESSES = 2, ALL_INPUTS = 4 } Rejection;

typedef struct Search {
    const Fn *fn;
    const Analyses *a;
    Arena scratch;
    uint32_t bytes;        // of an address
    uint8_t *nature;       // by RegId: Nature
    uint32_t *first_part;  // by local symbol: number of its first part; 0 = no candidate is in the symbol
    bool *rejected;        // by part: `bytes` bytes of a parameter
    bool all_rejected;
    uint8_t *visited;  // by RegId: Rejection
    VEC(RegId) work;
    VEC(InstrId) candidates;
} Search;

/* -- Loads of parameters -------------------------------------------------------------------------------- */

static uint32_t address_bytes(const Fn *fn) { return fn->module->address_size == 32 ? 4 : 8; }

static bool has_address_width(const Fn *fn, Operand o)
{
    return op_is_reg(o) && width_bits(ir_reg(fn, op_index(o))->width) >= 8 * address_bytes(fn);
}

static Space space_of(const Fn *fn, const Desc *d)
{
    return mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
}

// Returns the parameter from which an instruction of a kernel loads; NULL = it does something else.
static const Sym *loaded_param(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_LD || op_kind(*ir_use(fn, i, 0)) != K_SYM)
        return NULL;
    const Sym *s = ir_sym(fn, op_index(*ir_use(fn, i, 0)));
    return s->kind == SYM_FORMAL && s->space == SP_PARAM && space_of(fn, d) == SP_PARAM ? s : NULL;
}

// Returns the parameter from which an instruction loads an integer of the width of an address, the whole parameter or
// an aligned part of a structure; else NULL.
static const Sym *loaded_address(const Fn *fn, const Instr *i)
{
    const Sym *s = loaded_param(fn, i);
    if (!s || i->ndef != 1 || i->flags & IF_PINNED || op_kind(*ir_use(fn, i, 1)) != K_IMM)
        return NULL;
    const Desc *d = ir_desc(fn, i);
    TypeInfo t = type_info[tab_mnem(fn->tables, d->mnem)->type[0]], whole = type_info[s->type];
    uint32_t bytes = address_bytes(fn);
    bool integer = t.class == TC_B || t.class == TC_U || t.class == TC_S;
    Operand to = *ir_def(fn, i, 0);
    bool same_width = width_bits(t.width) == 8 * bytes && op_is_reg(to) && ir_reg(fn, op_index(to))->width == t.width;
    int64_t at = const_signed(tab_const(fn->tables, op_index(*ir_use(fn, i, 1))));
    if (!integer || !same_width || d->traits & TR_ORDERED || at < 0 || at % bytes)
        return NULL;
    if (s->flags & SYM_ARRAY)
        return s->size <= STRUCTURE_MAX && (uint64_t)at + bytes <= s->size ? s : NULL;
    return !at && !s->vec && width_bits(whole.width) == 8 * bytes ? s : NULL;
}

bool loads_global_pointer(const Fn *fn, const Instr *i)
{
    const Sym *s = loaded_address(fn, i);
    return s && s->flags & SYM_PTR && s->ptr_space == SP_GLOBAL && ~s->flags & SYM_ARRAY;
}

bool has_global_pointer(const Fn *fn)
{
    for (uint32_t k = 0; fn->flags & FN_KERNEL && k < fn->sig.nparams; k++)
        if (ir_sym(fn, fn->sig.params[k])->ptr_space == SP_GLOBAL)
            return true;
    return false;
}

static bool points_elsewhere(const Sym *s) { return s->flags & SYM_PTR && s->ptr_space && s->ptr_space != SP_GLOBAL; }

// Returns the number of the part of a parameter that a candidate loads.
static uint32_t part_of(const Search *s, const Instr *i)
{
    uint64_t at = tab_const(s->fn->tables, op_index(*ir_use(s->fn, i, 1))).bits;
    return s->first_part[op_index(*ir_use(s->fn, i, 0)) & ~(uint32_t)SYM_LOCAL] + (uint32_t)at / s->bytes;
}

static bool is_candidate(const Search *s, const Instr *i)
{
    const Sym *sym = loaded_address(s->fn, i);
    return sym && s->first_part[op_index(*ir_use(s->fn, i, 0)) & ~(uint32_t)SYM_LOCAL] && !points_elsewhere(sym);
}

// True if the module is one of OpenCL.
static bool is_texmode_independent(const Module *m)
{
    static const char item[] = "texmode_independent";
    Str target = tab_str(&m->tables, m->target);
    for (size_t k = 0; k + sizeof item - 1 <= target.len; k++)
        if (memcmp(target.text + k, item, sizeof item - 1) == 0)
            return true;
    return false;
}

static void find_candidates(Search *s)
{
    const Fn *fn = s->fn;
    uint32_t parts = 1;
    s->first_part = NEW_ARRAY(&s->scratch, uint32_t, fn->syms.n);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Sym *sym = loaded_address(fn, i);
            if (!sym || points_elsewhere(sym))
                continue;
            uint32_t *first = &s->first_part[op_index(*ir_use(fn, i, 0)) & ~(uint32_t)SYM_LOCAL];
            if (!*first) {
                *first = parts;
                parts += (uint32_t)(MAX(sym->size, s->bytes) / s->bytes);
            }
            VEC_PUSH(&s->scratch, &s->candidates, id);
        }
    }
    s->rejected = NEW_ARRAY(&s->scratch, bool, parts);
}

/* -- Nature of registers -------------------------------------------------------------------------------- */

// True for a constant that may be an address, or a factor that moves a value by half the width of an address.
static bool is_large(const Search *s, Operand o)
{
    int64_t n = const_signed(tab_const(s->fn->tables, op_index(o))), limit = INT64_C(1) << (4 * s->bytes);
    return n >= limit || n < -limit / 2;
}

static Nature nature_of(const Search *s, Operand o)
{
    if (op_is_reg(o)) {
        const Reg *r = ir_reg(s->fn, op_index(o));
        if (!has_address_width(s->fn, o))
            return NO_ADDRESS;
        return reg_in_ssa(r) ? (Nature)s->nature[op_index(o)] : MAY_BE_ADDRESS;
    }
    if (op_kind(o) == K_IMM)
        return op_is_const(o) && is_large(s, o) ? MAY_BE_ADDRESS : NO_ADDRESS;
    return op_kind(o) == K_SYM || op_kind(o) == K_BANK ? MAY_BE_ADDRESS : NO_ADDRESS;
}

// Returns the join over the operands.
static Nature nature_of_uses(const Search *s, const Instr *i)
{
    Nature found = NO_ADDRESS;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        found = MAX(found, nature_of(s, ir_ops(s->fn, i)[k]));
    return found;
}

static Nature nature_of_product(const Search *s, Operand x, Operand y)
{
    Operand c = op_kind(x) == K_IMM ? x : y;
    Nature factors = MAX(nature_of(s, x), nature_of(s, y));
    if (op_is_const(c) && is_large(s, c))
        return MAY_BE_ADDRESS;
    if (op_is_const(c) && tab_const(s->fn->tables, op_index(c)).bits == 1)
        return factors;
    return factors ? SCALED : NO_ADDRESS;
}

static Nature nature_of_shift(const Search *s, Operand x, Operand by)
{
    if (!op_is_const(by))
        return MAY_BE_ADDRESS;  // a loop may put an address together, byte by byte
    uint64_t n = tab_const(s->fn->tables, op_index(by)).bits;
    if (n >= 4 * s->bytes)
        return MAY_BE_ADDRESS;
    return n && nature_of(s, x) ? SCALED : nature_of(s, x);
}

// Returns the nature of the results of an instruction that have at least the width of an address.
static Nature nature_of_results(const Search *s, const Instr *i)
{
    const Fn *fn = s->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const Operand *use = ir_ops(fn, i) + i->ndef;
    Nature most = nature_of_uses(s, i);
    switch (d->op) {
    case OP_MOV:
    case OP_PHI:
    case OP_SELP:
    case OP_ADD:
    case OP_SUB:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_NEG:
    case OP_ABS:
    case OP_MIN:
    case OP_MAX: return most;
    case OP_UNDEF:
    case OP_SET: return NO_ADDRESS;
    case OP_LD:
    case OP_LDU: return width_bits(type_info[m->type[0]].width) < 8 * s->bytes ? NO_ADDRESS : MAY_BE_ADDRESS;
    case OP_CVT: return type_info[m->type[1]].class == TC_F ? NO_ADDRESS : most;
    case OP_SHL: return nature_of_shift(s, use[0], use[1]);
    case OP_MUL_LO:
    case OP_MUL_WIDE: return nature_of_product(s, use[0], use[1]);
    case OP_MAD_LO:
    case OP_MAD_WIDE: return MAX(nature_of_product(s, use[0], use[1]), nature_of(s, use[2]));
    case OP_SHR:
    case OP_DIV:
    case OP_REM:
    case OP_BFE:
    case OP_SAD:
    case OP_MUL_HI:
    case OP_POPC:
    case OP_CLZ:
    case OP_BFIND: return most ? MAY_BE_ADDRESS : NO_ADDRESS;
    default: return MAY_BE_ADDRESS;
    }
}

static void visit_definitions(Search *s, InstrId id)
{
    const Instr *i = ir_instr(s->fn, id);
    Nature found = NO_ADDRESS;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand to = ir_ops(s->fn, i)[k];
        if (!has_address_width(s->fn, to))
            continue;
        found = found ? found : nature_of_results(s, i);
        if (ir_ntied(i))
            found = MAX(found, nature_of(s, *ir_tied(s->fn, i, k)));
        if (found <= (Nature)s->nature[op_index(to)])
            continue;
        s->nature[op_index(to)] = (uint8_t)found;
        VEC_PUSH(&s->scratch, &s->work, op_index(to));
    }
}

static void find_natures(Search *s)
{
    const Fn *fn = s->fn;
    s->nature = NEW_ARRAY(&s->scratch, uint8_t, fn->regs.n);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            visit_definitions(s, id);
    while (s->work.n) {
        RegId r = s->work.at[--s->work.n];
        FOR_USES(s->a, r, u)
            visit_definitions(s, u->instr);
    }
}

/* -- Rejection ------------------------------------------------------------------------------------------ */

static void reject_definition(Search *s, InstrId id, Rejection how)
{
    const Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    const Sym *param = loaded_param(fn, i);
    if (param) {
        bool stays = how == OFFSETS && param->flags & SYM_PTR;
        if (is_candidate(s, i) && !stays)
            s->rejected[part_of(s, i)] = true;
        return;
    }
    if (ir_desc(fn, i)->traits & TR_READ) {
        s->all_rejected |= how == ALL_INPUTS;
        return;
    }
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        Operand o = ir_ops(fn, i)[k];
        if (!op_is_reg(o) || s->visited[op_index(o)] & how || ir_reg(fn, op_index(o))->width <= W1 ||
            (how != ALL_INPUTS && nature_of(s, o) != MAY_BE_ADDRESS))
            continue;
        s->visited[op_index(o)] |= (uint8_t)how;
        VEC_PUSH(&s->scratch, &s->work, op_index(o));
    }
}

// Rejects the parameters from which an operand is computed.
static void reject(Search *s, Operand o, Rejection how)
{
    if (!op_is_reg(o) || s->visited[op_index(o)] & how)
        return;
    s->visited[op_index(o)] |= (uint8_t)how;
    VEC_PUSH(&s->scratch, &s->work, op_index(o));
    while (s->work.n) {
        RegId r = s->work.at[--s->work.n];
        s->all_rejected |= how == ALL_INPUTS && !reg_in_ssa(ir_reg(s->fn, r));
        FOR_DEFS(s->a, r, def)
            reject_definition(s, def->instr, how);
    }
}

static void reject_if_both(Search *s, Nature other, Operand x)
{
    if (other == MAY_BE_ADDRESS && nature_of(s, x) == MAY_BE_ADDRESS)
        reject(s, x, OFFSETS);
}

static void reject_by_use(Search *s, InstrId id)
{
    const Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    const Operand *use = ir_ops(fn, i) + i->ndef;
    Space space = space_of(fn, d);
    switch (d->op) {
    case OP_ADD:
        reject_if_both(s, nature_of(s, use[0]), use[1]);
        reject_if_both(s, nature_of(s, use[1]), use[0]);
        return;
    case OP_MAD_LO:
    case OP_MAD_WIDE: reject_if_both(s, nature_of_product(s, use[0], use[1]), use[2]); return;
    case OP_ISSPACEP: reject(s, use[0], ALL_INPUTS); return;
    case OP_MAPA:
    case OP_CTARANK: reject(s, use[0], ADDRESSES); return;
    case OP_LD:
    case OP_LDU:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_PREFETCH:
    case OP_CVTA:
    case OP_CVTA_TO:
        if (space != SP_GENERIC && space != SP_GLOBAL)
            reject(s, use[0], ADDRESSES);
        return;
    default: return;
    }
}

const bool *param_pointers(const Fn *fn, const Analyses *a, Arena *arena)
{
    bool *found = NULL;
    Search s = {.fn = fn, .a = a, .bytes = address_bytes(fn)};
    if (~fn->flags & FN_KERNEL || is_texmode_independent(fn->module))
        return NULL;
    arena_init(&s.scratch, arena->heap);
    find_candidates(&s);
    if (s.candidates.n) {
        find_natures(&s);
        s.visited = NEW_ARRAY(&s.scratch, uint8_t, fn->regs.n);
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id)
                reject_by_use(&s, id);
    }
    for (uint32_t k = 0; k < s.candidates.n && !s.all_rejected; k++) {
        if (s.rejected[part_of(&s, ir_instr(fn, s.candidates.at[k]))])
            continue;
        found = found ? found : NEW_ARRAY(arena, bool, fn->instrs.n);
        found[s.candidates.at[k]] = true;
    }
    arena_free(&s.scratch);
    return found;
}
