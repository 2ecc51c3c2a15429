// SPDX-License-Identifier: MIT
// Finds values that are one constant although several definitions may give them, for OriCopyProp.
//
// In ssa form these are phis whose inputs are all moves of one constant, or phis of that kind, through loops, too. In
// multi form they are the values of AN_RDEFS, which are phis in the same way. A guarded definition gives its constant
// or the value before it, so it counts as a phi of both. copy_representatives() solves the system; a constant is a
// value that is no copy. So the cost is linear, whatever the order of the phis.
//
//     b3: R4 = mov.phi b1: R2, b2: R3; R5 = add.s32 R4, 1     R4 is 7 if R2 and R3 are moves of 7
//     R4 = mov.b32 7; @P0 R4 = mov.b32 7; R5 = add.s32 R4, 1  R4 is 7
//
// No constant:
//     @P0 R4 = mov.b32 7; R5 = add.s32 R4, 1         R4 has its old value where P0 is false
//     b3: R4 = mov.phi b1: 7, b2: undef              other uses of the phi may stay and read another value
//
// Few functions have such values, so quick tests come first. In ssa form the search starts at the first phi with a
// constant and only phis beside it, and solves only for phis that have no other inputs. In multi form the definitions
// that reach uses are computed only for registers with at least two moves of constants.
#include "phases/scalar/constant_values.h"

static bool is_plain_const(Operand o) { return op_is_const(o) && !o.mods; }

/* -- Copies of values ----------------------------------------------------------------------------------- */

// A system of values 1 .. n-1, each with the values of which it is a copy. Constants are the values from n on.
typedef struct System {
    Arena scratch;
    uint32_t n;
    VEC(uint32_t) first, input;
    VEC(Operand) constants;
    IdSet index;  // of constants
} System;

static void system_init(System *s, Heap *heap, uint32_t n)
{
    *s = (System){.n = n};
    arena_init(&s->scratch, heap);
    VEC_PUSH(&s->scratch, &s->first, 0);
}

static uint32_t value_of_const(System *s, Operand o)
{
    uint32_t hash = op_index(o) * 0x9E3779B9u;
    IDSET_EACH(&s->index, hash, k) {
        if (op_same(s->constants.at[k], o))
            return s->n + k;
    }
    VEC_PUSH(&s->scratch, &s->constants, o);
    idset_add(&s->index, &s->scratch, hash, s->constants.n - 1);
    return s->n + s->constants.n - 1;
}

static void begin_value(System *s) { VEC_PUSH(&s->scratch, &s->first, s->input.n); }
// Adds an input of the value that was begun last; 0 = a value that is unknown.
static void add_input(System *s, uint32_t value) { VEC_PUSH(&s->scratch, &s->input, value); }

// Returns the constants that the values equal, by value, K_NONE = none, in memory of the arena; NULL if no value equals
// one. Frees the system.
static Operand *solve(System *s, Arena *arena)
{
    Operand *of = NULL;
    uint32_t all = s->n + s->constants.n;
    for (uint32_t v = s->n; v < all; v++) {
        begin_value(s);
        add_input(s, 0);
    }
    begin_value(s);
    uint32_t *representative = copy_representatives(&(Edges){s->first.at, s->input.at}, all, &s->scratch);
    for (uint32_t v = 1; v < s->n; v++) {
        if (representative[v] < s->n)
            continue;
        of = of ? of : NEW_ARRAY(arena, Operand, s->n);
        of[v] = s->constants.at[representative[v] - s->n];
    }
    arena_free(&s->scratch);
    return of;
}

/* -- SSA form ------------------------------------------------------------------------------------------- */

Operand constant_source(const Fn *fn, const Analyses *a, Operand o)
{
    Operand source = copy_source(fn, a, o), at = source, constant = op_none();
    for (int n = 0; n < COPY_CHAIN; n++) {
        if (is_plain_const(at))
            return op_kind(constant) == K_NONE || op_same(constant, at) ? at : source;
        InstrId def = op_is_reg(at) && !at.mods ? def_of(a, op_index(at)) : 0;
        if (!def || !(ir_instr(fn, def)->flags & IF_TIED))
            return source;
        Operand moved = copy_source(fn, a, copy_of_any(fn, a, def, op_index(at)));
        if (!is_plain_const(moved) || (op_kind(constant) != K_NONE && !op_same(constant, moved)))
            return source;
        constant = moved;
        at = copy_source(fn, a, *ir_tied(fn, ir_instr(fn, def), 0));
    }
    return source;
}

// Returns the opcode of the only definition of a register; OPCODE_COUNT if there is none.
static Opcode defining_op(const Fn *fn, const Analyses *a, Operand o)
{
    InstrId def = op_is_reg(o) && !o.mods ? def_of(a, op_index(o)) : 0;
    return def ? ir_desc(fn, ir_instr(fn, def))->op : OPCODE_COUNT;
}

// Returns constant_source() of the result of a move. Most moves that phis read are of constants.
static Operand moved_operand(const Fn *fn, const Analyses *a, Operand o)
{
    const Instr *i = ir_instr(fn, def_of(a, op_index(o)));
    Operand from = *ir_use(fn, i, 0);
    return is_plain_const(from) && !ir_guarded(i) && !(i->flags & IF_PINNED) ? from : constant_source(fn, a, o);
}

// True if the inputs of a phi are one constant and phis that may be constants. Sets *found if the constant is among
// them. At the header of a loop the last inputs are those from inside, which are seldom constants, so they come first.
static bool may_be_constant(const ConstantPhis *p, const Instr *phi, bool *found)
{
    const Fn *fn = p->fn;
    const Analyses *a = p->a;
    Operand constant = op_none();
    for (uint32_t k = ir_nuse(phi); k; k -= 2) {
        Operand o = *ir_use(fn, phi, k - 1);
        Opcode op = defining_op(fn, a, o);
        if (op == OP_MOV) {
            o = moved_operand(fn, a, o);
            op = defining_op(fn, a, o);
        }
        if (op == OP_PHI && p->tested[op_index(o)] != PHI_VARIES)
            continue;
        if (!is_plain_const(o) || (op_kind(constant) != K_NONE && !op_same(constant, o)))
            return false;
        constant = o;
    }
    *found |= op_kind(constant) != K_NONE;
    return true;
}

// Adds the inputs of a phi to the system. `value` has the values of phis, by RegId.
static void add_phi(System *s, const Fn *fn, const Analyses *a, const Instr *phi, const uint32_t *value)
{
    begin_value(s);
    for (uint32_t k = 1; k < ir_nuse(phi); k += 2) {
        Operand o = constant_source(fn, a, *ir_use(fn, phi, k));
        add_input(s, op_is_reg(o) ? value[op_index(o)] : value_of_const(s, o));
    }
}

static RegId result_of(const Fn *fn, InstrId phi) { return op_index(*ir_def(fn, ir_instr(fn, phi), 0)); }

// Returns ConstantPhis.of, given the n - 1 phis that may be constants, from 1 on.
static Operand *solve_phis(const ConstantPhis *p, const InstrId *phis, uint32_t n)
{
    System s;
    Operand *by_reg = NEW_ARRAY(p->arena, Operand, p->fn->regs.n);
    system_init(&s, p->arena->heap, n);
    uint32_t *value = NEW_ARRAY(&s.scratch, uint32_t, p->fn->regs.n);
    for (uint32_t v = 1; v < n; v++)
        value[result_of(p->fn, phis[v])] = v;
    for (uint32_t v = 1; v < n; v++)
        add_phi(&s, p->fn, p->a, ir_instr(p->fn, phis[v]), value);
    Operand *of = solve(&s, p->arena);
    for (uint32_t v = 1; of && v < n; v++)
        by_reg[result_of(p->fn, phis[v])] = of[v];
    return by_reg;
}

static Operand *search_phis(const ConstantPhis *p)
{
    const Fn *fn = p->fn;
    VEC(InstrId) phis = {0};
    bool found = false;
    VEC_PUSH(p->arena, &phis, 0);
    FOR_BLOCK_ENDS(fn, b)
        for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next)
            if (p->tested[result_of(fn, id)] != PHI_VARIES && may_be_constant(p, ir_instr(fn, id), &found))
                VEC_PUSH(p->arena, &phis, id);
    return solve_phis(p, phis.at, phis.n);
}

Operand constant_phi_search(ConstantPhis *p, RegId r)
{
    if (p->of)
        return p->of[r];
    if (!p->tested)
        p->tested = NEW_ARRAY(p->arena, uint8_t, p->fn->regs.n);
    bool found = false, may_be = may_be_constant(p, ir_instr(p->fn, def_of(p->a, r)), &found);
    p->tested[r] = may_be ? PHI_MAY_BE_CONSTANT : PHI_VARIES;
    if (!may_be || !found)
        return op_none();
    p->of = search_phis(p);
    return p->of[r];
}

/* -- Multi form ----------------------------------------------------------------------------------------- */

// Returns the constant that a move, guarded or not, writes to a register; K_NONE for other instructions.
static Operand moved_constant(const Fn *fn, const Analyses *a, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    if (ir_desc(fn, i)->op != OP_MOV || !op_is_reg(*ir_def(fn, i, 0)))
        return op_none();
    Operand moved = copy_source(fn, a, copy_of_any(fn, a, id, op_index(*ir_def(fn, i, 0))));
    return is_plain_const(moved) ? moved : op_none();
}

// Marks the joined registers with at least two moves of constants, by RegId, in memory of the arena. Returns NULL if
// there are none.
static bool *find_registers(const Fn *fn, const Analyses *a, Arena *arena)
{
    bool *once = NEW_ARRAY(arena, bool, fn->regs.n), *twice = NULL;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            if (op_kind(moved_constant(fn, a, id)) == K_NONE)
                continue;
            RegId r = op_index(*ir_def(fn, ir_instr(fn, id), 0));
            if (once[r] && def_is_joined(a, r)) {
                twice = twice ? twice : NEW_ARRAY(arena, bool, fn->regs.n);
                twice[r] = true;
            }
            once[r] = true;
        }
    }
    return twice;
}

// Returns the value of the system for a value of AN_RDEFS.
static uint32_t system_value(const ReachingDefs *rd, ValueId v) { return v ? v - rd->first_def + 1 : 0; }

static void add_definition(System *s, const Fn *fn, const Analyses *known, const Analyses *a, ValueId v)
{
    const ReachingDefs *rd = &a->rdefs;
    InstrId def = value_def(a, v);
    Operand moved = moved_constant(fn, known, def);
    add_input(s, op_kind(moved) == K_NONE ? 0 : value_of_const(s, moved));
    if (ir_guarded(ir_instr(fn, def)))
        add_input(s, system_value(rd, rd->old[v - rd->first_def]));
}

static void add_meeting(System *s, const Fn *fn, const Analyses *a, ValueId v)
{
    const ReachingPhi *phi = value_phi(a, v);
    const ValueId *input = a->rdefs.input + phi->inputs;
    FOR_PREDS(a, phi->block, p) {
        if (is_reachable(a, *p))
            add_input(s, system_value(&a->rdefs, *input));
        input++;
    }
    if (phi->block == fn->first)  // the caller is a predecessor, too
        add_input(s, 0);
}

bool joined_constants(JoinedConstants *j, Fn *fn, const Analyses *a, Arena *arena)
{
    System s;
    const bool *about = find_registers(fn, a, arena);
    if (!about)
        return false;
    j->a = rdefs_of_part(fn, &j->own, UINT32_MAX, about);
    const ReachingDefs *rd = &j->a->rdefs;
    system_init(&s, fn->arena.heap, system_value(rd, value_count(j->a)));
    for (ValueId v = rd->first_def; v < value_count(j->a); v++) {
        begin_value(&s);
        if (value_is_phi(j->a, v))
            add_meeting(&s, fn, j->a, v);
        else
            add_definition(&s, fn, a, j->a, v);
    }
    Operand *of = solve(&s, arena);
    j->of = of ? of + 1 : NULL;
    if (!of)
        joined_constants_free(j);
    return of;
}

void joined_constants_free(JoinedConstants *j) { analysis_free(&j->own); }
