// SPDX-License-Identifier: MIT
// Replaces registers of ssa form: map[old] = new, and one sweep at the end of the phase. All phases that find a value
// equal to an existing one use it.
//
//     ReplaceMap map;
//     replace_begin(&map, fn);
//     ... replace_set(&map, old, new) ...      ; any number of times; replace_find() returns the current replacement
//     replace_apply(&map);                     ; the sweep
//
// `new` is a whole operand: a register, a constant, or a predicate with a `!`. The caller proves that `new` is
// available at all uses of `old`. A register with one definition is available if the definition dominates that of
// `old`. The definition of `old` is removed, so the sweep rewrites all its uses: guards, inputs of phis and old values
// of guarded definitions, too. If a slot does not take `new` (a constant as an address), the register stays. A move
// then replaces its definition; if the definition was a phi, the move is after the phis of the block.
//
//     R1 = add.s32 2, 3                 (removed)
//     st.global.b32 [R9], R1       ->   st.global.b32 [R9], 5        ; rep[R1] = 5
//     ld.global.b32 R2, [R1]            R1 = mov.b32 5; ... [R1]     ; the same, where an address requires a register
//     @P1 bra b2                        @!P0 bra b2                  ; rep[P1] = !P0
//
// An instruction is removed if all its definitions are replaced, so an instruction with another effect must not be
// replaced. An instruction that also defines another register stays as it is.
//
// Must not fire: on registers that are pinned or named elsewhere, as `old` or as `new`, since their values change; on
// `undef` as `new`, since each use would read a different value.
//
// Chains are followed with path halving. replace_set() resolves `new` first, so it detects cycles. Documented: a map of
// whole operands, and one sweep. Inferred: the rest.
#include "ir/rewrite/rewrite.h"

void replace_begin(ReplaceMap *map, Fn *fn)
{
    *map = (ReplaceMap){.fn = fn, .nregs = fn->regs.n};
    arena_init(&map->scratch, fn->arena.heap);
    map->by = NEW_ARRAY(&map->scratch, Operand, map->nregs);
}

/* -- The map -------------------------------------------------------------------------------------------- */

bool replace_allowed(const Fn *fn, RegId old, Operand by)
{
    const Reg *r = ir_reg(fn, old);
    uint32_t allowed = r->width == W1 ? OPM_NOT : 0;
    if (!reg_in_ssa(r) || by.mods & ~allowed)
        return false;
    if (op_kind(by) == K_IMM)
        return op_index(by) != CONST_UNDEF && tab_const(fn->tables, op_index(by)).width == r->width && !by.mods;
    if (!op_is_reg(by))
        return false;
    const Reg *to = ir_reg(fn, op_index(by));
    return reg_in_ssa(to) && to->file == r->file && to->width == r->width;
}

// Returns the replacement of the register of an operand; NULL = none.
static Operand *entry(const ReplaceMap *map, Operand o)
{
    return op_is_reg(o) && replace_has(map, op_index(o)) ? &map->by[op_index(o)] : NULL;
}

// Returns an operand with its register replaced by `by`.
static Operand through(const ReplaceMap *map, Operand o, Operand by)
{
    uint32_t negate = (o.mods ^ by.mods) & OPM_NOT;
    if (op_kind(by) == K_IMM)
        return negate ? op_const(map->fn, !tab_const(map->fn->tables, op_index(by)).bits, W1) : by;
    return (Operand){by.word, (o.mods & ~(uint32_t)OPM_NOT) | negate};
}

Operand replace_find(const ReplaceMap *map, Operand o)
{
    for (Operand *by, *next; (by = entry(map, o)); o = through(map, o, *by))
        if ((next = entry(map, *by)))
            *by = through(map, *by, *next);
    return o;
}

void replace_set(ReplaceMap *map, RegId old, Operand by)
{
    Fn *fn = map->fn;
    by = replace_find(map, by);
    bool cycle = op_is_reg(by) && op_index(by) == old;
    if (cycle || old >= map->nregs || entry(map, op_reg(fn, old)) || !replace_allowed(fn, old, by))
        heap_fail(map->scratch.heap, ST_INTERNAL, "%s%u cannot be replaced%s", reg_file_names[ir_reg(fn, old)->file],
                  ir_reg(fn, old)->ordinal, cycle ? ": it would be replaced by itself" : "");
    map->by[old] = by;
    map->n++;
}

/* -- The sweep ------------------------------------------------------------------------------------------ */

typedef struct Sweep {
    ReplaceMap *map;
    Fn *fn;
    bool *read;         // by RegId: replaced, but has a use that cannot be rewritten
    VEC(InstrId) gone;  // instructions all of whose definitions are replaced, in layout order
    bool counted;       // AN_NUSES is valid
    BlockId block;      // the block of the last phi of place_of_move()
    InstrId after;      // its first instruction that is no phi
} Sweep;

static void rewrite_use(Sweep *s, const Instr *i, uint32_t k)
{
    Operand *o = ir_ops(s->fn, i) + k, by = replace_find(s->map, *o);
    if (!fit_operand(s->fn, i, k, &by)) {
        s->read[op_index(*o)] = true;
        return;
    }
    if (s->counted) {
        nuses_count(s->fn, *o, -1);
        nuses_count(s->fn, by, 1);
    }
    *o = by;
}

// True if the instruction that defines the one operand reads the other one, as in x + (y - x).
static bool is_nested(const Fn *fn, Operand o, Operand in)
{
    const Analyses *a = fn->analyses;
    InstrId def = op_is_reg(o) && op_is_reg(in) && a && a->valid & AN_DEF ? def_of(a, op_index(in)) : 0;
    const Instr *i = ir_instr(fn, def);
    bool reads = false;
    for (uint32_t k = 0; k < 2 && def && k < ir_nuse(i); k++)
        reads |= op_same(*ir_use(fn, i, k), o);
    return reads;
}

// Notes what a phase tells of an instruction with rewritten uses.
static void note_rewritten(ReplaceMap *map, const Instr *i)
{
    Opcode op = ir_desc(map->fn, i)->op;
    const Operand *uses = ir_use(map->fn, i, 0);
    map->conditions |= op == OP_SETP || op == OP_SELP;
    map->phis |= op == OP_PHI;
    map->equal |= ir_nuse(i) > 1 && (op_same(uses[0], uses[1]) || is_nested(map->fn, uses[0], uses[1]) ||
                                     is_nested(map->fn, uses[1], uses[0]));
}

static void rewrite_uses(Sweep *s, const Instr *i)
{
    const Operand *ops = ir_ops(s->fn, i);
    bool any = false;
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        if (!entry(s->map, ops[k]))
            continue;
        rewrite_use(s, i, k);
        any = true;
    }
    if (any)
        note_rewritten(s->map, i);
}

static bool is_replaced(const Sweep *s, const Instr *i)
{
    const Operand *ops = ir_ops(s->fn, i);
    uint32_t regs = 0;
    for (uint32_t k = 0; k < i->ndef; k++) {
        regs += op_is_reg(ops[k]);
        if (op_is_reg(ops[k]) && !entry(s->map, ops[k]))
            return false;
    }
    return regs > 0;
}

// Returns the instruction before which to insert a move that replaces this instruction.
static InstrId place_of_move(Sweep *s, InstrId id)
{
    const Instr *i = ir_instr(s->fn, id);
    if (ir_desc(s->fn, i)->op != OP_PHI)
        return id;
    if (s->block != i->block)
        s->after = first_non_phi(s->fn, i->block);
    s->block = i->block;
    return s->after;
}

static void remove_replaced(Sweep *s, InstrId id)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (!op_is_reg(def) || !s->read[op_index(def)])
            continue;
        Operand by = replace_find(s->map, op_reg(fn, op_index(def)));
        InstrId move = insert_move(fn, place_of_move(s, id), op_index(def), by);
        ir_instr(fn, move)->line = i->line;
        nuses_count(fn, by, 1);
        s->map->moves++;
    }
    nuses_count_instr(fn, ir_instr(fn, id), -1);
    ir_remove(fn, id);
}

static void sweep(ReplaceMap *map)
{
    Fn *fn = map->fn;
    Sweep s = {.map = map, .fn = fn, .read = NEW_ARRAY(&map->scratch, bool, map->nregs)};
    s.counted = fn->analyses && fn->analyses->valid & AN_NUSES;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            rewrite_uses(&s, i);
            if (is_replaced(&s, i))
                VEC_PUSH(&map->scratch, &s.gone, id);
        }
    }
    for (uint32_t k = 0; k < s.gone.n; k++)
        remove_replaced(&s, s.gone.at[k]);
}

bool replace_apply(ReplaceMap *map)
{
    if (map->n)
        sweep(map);
    arena_free(&map->scratch);
    return map->n > 0;
}
