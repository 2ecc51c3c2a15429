// SPDX-License-Identifier: MIT
// Redundancy elimination over value numbers (phases/redundancy/redundancy.h).
//
// Values are numbered in the preorder of the dominator tree, whose siblings are in reverse postorder. An instruction
// whose result has the number of another register is a candidate. Its leader is the nearest register of this number
// that dominates it. Candidates are visited in the same order, so the registers of a number whose blocks dominate the
// current one form a stack. A block that does not dominate the current one dominates none of the later ones, and is
// popped for good. So the time is linear in the number of candidates, however many of them a number has.
//
// A candidate is replaced if the rules permit its leader. Otherwise it is a leader for the candidates after it.
#include "phases/redundancy/redundancy.h"

#include "phases/manager/remarks.h"

/* -- Candidates ----------------------------------------------------------------------------------------- */

static bool kind_is_wanted(const Redundancy *r, const Instr *i)
{
    const Desc *d = ir_desc(r->fn, i);
    if (d->op == OP_PHI)
        return r->rules->kinds & RD_PHIS;
    if (d->op == OP_MOV && op_kind(*ir_use(r->fn, i, 0)) != K_SREG)
        return r->rules->kinds & RD_COPIES && op_is_reg(*ir_use(r->fn, i, 0));
    return true;
}

void redundancy_note(Redundancy *r, InstrId id)
{
    if (kind_is_wanted(r, ir_instr(r->fn, id)))
        VEC_PUSH(&r->scratch, &r->candidates, id);
}

void redundancy_number(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    bool known;
    if (r->pass != r->values.passes) {
        r->pass = r->values.passes;
        r->candidates.n = r->narrow.n = 0;
    }
    uint32_t narrow = r->narrow.n;
    if (!(r->rules->kinds & RD_LOADS) || !loads_number(r, id, &known))
        known = values_number(&r->values, id);
    if (known || narrow < r->narrow.n)
        redundancy_note(r, id);
}

/* -- Leaders -------------------------------------------------------------------------------------------- */

static BlockId block_of(const Redundancy *r, RegId reg) { return ir_instr(r->fn, def_of(r->a, reg))->block; }

// Returns the nearest register with a number whose definition dominates a block that is not left yet; 0 = none.
static RegId find_leader(Redundancy *r, ValueNumber number, BlockId b)
{
    RegId first = op_index((Operand){number, 0});
    uint32_t *top = &r->top[first];
    while (*top && !dominates(r->a, block_of(r, r->members.at[*top].reg), b))
        *top = r->members.at[*top].below;
    if (*top)
        return r->members.at[*top].reg;
    return dominates(r->a, block_of(r, first), b) ? first : 0;
}

static void add_member(Redundancy *r, ValueNumber number, RegId reg)
{
    uint32_t *top = &r->top[op_index((Operand){number, 0})];
    VEC_PUSH(&r->scratch, &r->members, ((Member){reg, *top}));
    *top = r->members.n - 1;
}

static bool is_constant(ValueNumber number) { return op_kind((Operand){number, 0}) != K_REG; }

// Returns the operand that may replace a register that instruction `id` defines; K_NONE = none.
static Operand replacement_of(Redundancy *r, InstrId id, RegId reg)
{
    ValueNumber number = r->values.of[reg];
    if (number == op_reg(r->fn, reg).word)
        return op_none();
    Operand by = {number, 0};
    if (!is_constant(number)) {
        RegId leader = find_leader(r, number, ir_instr(r->fn, id)->block);
        if (!leader || (r->rules->permits && !r->rules->permits(r, def_of(r->a, leader), id)))
            return op_none();
        by = op_reg(r->fn, leader);
    }
    return replace_allowed(r->fn, reg, by) ? by : op_none();
}

bool is_expensive(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    switch (d->op) {
    case OP_DIV:
    case OP_REM:
    case OP_RCP:
    case OP_SQRT: return true;
    case OP_MUL_HI: return type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width == W64;
    default: return false;
    }
}

/* -- Replacement ---------------------------------------------------------------------------------------- */

enum { DEFS_MAX = 16 };

// Finds operands for all results of an instruction; false if one has none.
static bool find_replacements(Redundancy *r, InstrId id, Operand by[static DEFS_MAX])
{
    const Instr *i = ir_instr(r->fn, id);
    if (i->ndef > DEFS_MAX)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(r->fn, i, k);
        by[k] = op_is_reg(def) ? replacement_of(r, id, op_index(def)) : op_none();
        if (op_is_reg(def) && op_kind(by[k]) == K_NONE)
            return false;
    }
    return true;
}

static void keep(Redundancy *r, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(r->fn, i, k);
        if (op_is_reg(def) && !is_constant(r->values.of[op_index(def)]))
            add_member(r, r->values.of[op_index(def)], op_index(def));
    }
}

static void replace(Redundancy *r, InstrId id, const Operand by[static DEFS_MAX])
{
    const Instr *i = ir_instr(r->fn, id);
    if (ir_desc(r->fn, i)->traits & TR_READ)
        remove_annotations(r->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(r->fn, i, k);
        if (!op_is_reg(def))
            continue;
        replace_set(&r->map, op_index(def), by[k]);
        r->guards |= ir_reg(r->fn, op_index(def))->width == W1;
    }
    r->replaced++;
}

// Returns the first narrow copy of a load, and moves on to those of the next load; NULL = it has none.
static const NarrowCopy *take_narrow(Redundancy *r, InstrId id)
{
    const NarrowCopy *first = NULL;
    while (r->next_narrow < r->narrow.n && r->narrow.at[r->next_narrow].load == id) {
        first = first ? first : &r->narrow.at[r->next_narrow];
        r->next_narrow++;
    }
    return first;
}

// Replaces a load of one element by a move of the leader of its value; false if there is none.
static bool replace_by_move(Redundancy *r, const NarrowCopy *copy)
{
    const Instr *i = ir_instr(r->fn, copy->load);
    ValueNumber number = value_number(&r->values, copy->from);
    Operand by = {number, 0}, def = *ir_def(r->fn, i, copy->element);
    if (i->ndef != 1)
        return false;
    if (!is_constant(number)) {
        RegId leader = find_leader(r, number, i->block);
        if (!leader || (r->rules->permits && !r->rules->permits(r, def_of(r->a, leader), copy->load)))
            return false;
        by = op_reg(r->fn, leader);
    }
    Tail tail = tail_of(r->fn, i, copy->element);
    AccessMove move = {op_reg(r->fn, op_index(def)), by, copy->bytes, copy->is_signed, tail};
    VEC_PUSH(&r->scratch, &r->moves, ((LoadMove){copy->load, move}));
    return true;
}

static void visit(Redundancy *r, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id);
    const NarrowCopy *narrow = take_narrow(r, id);
    Operand by[DEFS_MAX];
    bool left = r->rules->budget < 0 || knob_left(&r->ctx->knobs, r->rules->budget) > 0, replaced = false;
    if (left && find_replacements(r, id, by)) {
        replace(r, id, by);
        replaced = true;
    } else {
        replaced = left && narrow && replace_by_move(r, narrow);
        keep(r, i);
    }
    if (replaced && r->rules->budget >= 0)
        knob_spend(&r->ctx->knobs, r->rules->budget);
}

// Rewrites the function; returns progress.
static bool apply(Redundancy *r)
{
    for (uint32_t k = 0; k < r->moves.n; k++) {
        remove_annotations(r->fn, r->moves.at[k].load);
        instr_replace_by_access_move(r->fn, r->moves.at[k].load, &r->moves.at[k].move);
    }
    return replace_apply(&r->map) || r->moves.n;
}

bool redundancy_eliminate(Ctx *ctx, Fn *fn, const RedundancyRules *rules)
{
    Redundancy r = {.ctx = ctx, .fn = fn, .rules = rules, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF)};
    arena_init(&r.scratch, &ctx->heap);
    values_init(&r.values, &r.scratch, fn, r.a, ctx->target.backend->swap_operands);
    if (rules->kinds & RD_LOADS)
        loads_init(&r);
    values_solve(&r.values, rules->number ? rules->number : redundancy_number, &r);
    bool progress = false;
    if (r.candidates.n) {
        r.top = NEW_ARRAY(&r.scratch, uint32_t, fn->regs.n);
        VEC_PUSH(&r.scratch, &r.members, (Member){0});
        replace_begin(&r.map, fn);
        for (uint32_t k = 0; k < r.candidates.n; k++)
            visit(&r, r.candidates.at[k]);
        progress = apply(&r);
    }
    arena_free(&r.scratch);
    if (progress && !r.guards && !r.moves.n)
        phase_changes_only(ctx, CHANGE_USES);
    return progress;
}
