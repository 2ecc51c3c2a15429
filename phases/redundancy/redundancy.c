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
#include "phases/redundancy/load_pre.h"
#include "phases/scalar/fold/fold_rules.h"

/* -- Candidates ----------------------------------------------------------------------------------------- */

static bool kind_is_wanted(Redundancy *r, const Instr *i)
{
    const Desc *d = ir_desc(r->fn, i);
    if (d->op == OP_PHI) {
        r->left |= r->rules->watched & RD_PHIS;
        return r->rules->kinds & RD_PHIS;
    }
    if (d->op == OP_MOV && op_kind(*ir_use(r->fn, i, 0)) != K_SREG)
        return r->rules->kinds & RD_COPIES && op_is_reg(*ir_use(r->fn, i, 0));
    return true;
}

void redundancy_note(Redundancy *r, InstrId id)
{
    bool noted = r->candidates.n && r->candidates.at[r->candidates.n - 1] == id;
    if (!noted && kind_is_wanted(r, ir_instr(r->fn, id)))
        VEC_PUSH(&r->scratch, &r->candidates, id);
}

// Each instruction with a copy must be a candidate, or take_copy() stops at it.
void redundancy_note_copy(Redundancy *r, const Copy *copy)
{
    if (!kind_is_wanted(r, ir_instr(r->fn, copy->instr)))
        return;
    VEC_PUSH(&r->scratch, &r->copies, *copy);
    redundancy_note(r, copy->instr);
}

// Forgets the candidates of an earlier pass.
static inline void start_instruction(Redundancy *r)
{
    if (r->pass == r->values.passes)
        return;
    r->candidates.n = r->copies.n = r->loads.n = 0;
    if (r->bytes.entries)
        value_table_clear(&r->bytes);
    r->pass = r->values.passes;
}

void redundancy_number_apart(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    start_instruction(r);
    values_number_apart(&r->values, id);
}

// Notes the results that may replace those of a guarded instruction as copies.
static void note_like(Redundancy *r, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, r->values.like);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(r->fn, i, k)))
            redundancy_note_copy(r, &(Copy){id, k, op_reg(r->fn, op_index(*ir_def(r->fn, other, k))), 0, false});
}

void redundancy_number(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    bool known;
    start_instruction(r);
    if (!(kinds_found(r->rules) & (RD_LOADS | RD_CONSTANT_LOADS)) || !loads_number(r, id, &known)) {
        known = values_number(&r->values, id);
        if (r->values.like)
            note_like(r, id);
    }
    if (known)
        redundancy_note(r, id);
}

// Notes an instruction with one result, which has the number of another one.
static void find(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    start_instruction(r);
    if (kind_is_wanted(r, ir_instr(r->fn, id)))
        VEC_PUSH(&r->scratch, &r->candidates, id);
}

/* -- Leaders -------------------------------------------------------------------------------------------- */

static BlockId block_of(const Redundancy *r, RegId reg) { return ir_instr(r->fn, def_of(r->a, reg))->block; }

// Returns the nearest register with a number whose definition dominates a block that is not left yet; 0 = none.
static inline RegId find_leader(Redundancy *r, ValueNumber number, BlockId b)
{
    RegId first = op_index((Operand){number, 0});
    uint32_t *top = &r->top[first];
    while (*top && !dominates(r->a, block_of(r, r->members.at[*top].reg), b))
        *top = r->members.at[*top].below;
    if (*top)
        return r->members.at[*top].reg;
    BlockId home = block_of(r, first);
    return home == b || dominates(r->a, home, b) ? first : 0;
}

static void add_member(Redundancy *r, ValueNumber number, RegId reg)
{
    uint32_t *top = &r->top[op_index((Operand){number, 0})];
    VEC_PUSH(&r->scratch, &r->members, ((Member){reg, *top}));
    *top = r->members.n - 1;
}

static bool is_constant(ValueNumber number) { return op_kind((Operand){number, 0}) != K_REG; }

// Returns the operand that may replace a result with this number of instruction `id`; K_NONE = none.
static Operand operand_of(Redundancy *r, InstrId id, ValueNumber number)
{
    if (is_constant(number))
        return (Operand){number, 0};
    r->leader = find_leader(r, number, ir_instr(r->fn, id)->block);
    r->verdict = !r->leader ? RV_NOT_DOMINATED : r->rules->permits ? r->rules->permits(r, r->leader, id) : RV_REPLACED;
    return r->verdict == RV_REPLACED ? op_reg(r->fn, r->leader) : op_none();
}

/* -- Scaled sums ---------------------------------------------------------------------------------------- */

static bool is_wide_sum(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    Type type = (Type)tab_mnem(fn->tables, d->mnem)->type[0];
    return d->op == OP_ADD && (type == TY_S64 || type == TY_U64);
}

static uint8_t *find_other_uses(Redundancy *r)
{
    const Fn *fn = r->fn;
    uint8_t *other = NEW_ARRAY(&r->scratch, uint8_t, fn->regs.n);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            bool sum = is_wide_sum(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]) && !sum)
                    other[op_index(ops[k])] = true;
        }
    }
    return other;
}

bool redundancy_scales_sums(Redundancy *r, const Instr *i)
{
    if (op_kind(*ir_use(r->fn, i, 1)) != K_IMM || ir_reg(r->fn, op_index(*ir_def(r->fn, i, 0)))->width != W64)
        return false;
    if (!r->other_uses)
        r->other_uses = find_other_uses(r);
    return !r->other_uses[op_index(*ir_def(r->fn, i, 0))];
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

bool redundancy_all_run_same(Redundancy *r)
{
    if (!r->sequence_known)
        r->same_sequence = all_run_same_collectives(r->fn);
    r->sequence_known = true;
    return r->same_sequence;
}

/* -- Replacement ---------------------------------------------------------------------------------------- */

enum { DEFS_MAX = 16 };

// Returns the number that the replacement of a result has; 0 = there is none. `copy` is the first copy of its
// instruction, NULL = none.
static ValueNumber number_of_result(const Redundancy *r, const Copy *copy, InstrId id, uint32_t k)
{
    RegId reg = op_index(*ir_def(r->fn, ir_instr(r->fn, id), k));
    if (r->values.of[reg] != op_reg(r->fn, reg).word)
        return r->values.of[reg];
    for (; copy && copy < r->copies.at + r->copies.n && copy->instr == id; copy++)
        if (copy->result == k && !copy->bytes)
            return value_number(&r->values, copy->from);
    return 0;
}

// Finds operands for all results of an instruction; false if one has none.
static bool find_replacements(Redundancy *r, const Copy *copy, InstrId id, Operand by[static DEFS_MAX])
{
    const Instr *i = ir_instr(r->fn, id);
    if (i->ndef > DEFS_MAX)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(r->fn, i, k);
        if (!op_is_reg(def))
            continue;
        ValueNumber number = number_of_result(r, copy, id, k);
        by[k] = number ? operand_of(r, id, number) : op_none();
        if (op_kind(by[k]) == K_NONE || !replace_allowed(r->fn, op_index(def), by[k]))
            return false;
    }
    return true;
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
        r->constants |= !op_is_reg(by[k]);
    }
    VEC_PUSH(&r->scratch, &r->removed, id);
}

// Makes the results of an instruction leaders for the next candidates.
static void keep(Redundancy *r, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(r->fn, i, k);
        ValueNumber number = op_is_reg(def) ? value_number(&r->values, def) : 0;
        if (number && !is_constant(number) && number != op_reg(r->fn, op_index(def)).word)
            add_member(r, number, op_index(def));
    }
}

// Returns the first copy of an instruction, and moves on to those of the next one; NULL = it has none.
static const Copy *take_copy(Redundancy *r, InstrId id)
{
    const Copy *first = NULL;
    for (; r->next_copy < r->copies.n && r->copies.at[r->next_copy].instr == id; r->next_copy++)
        first = first ? first : &r->copies.at[r->next_copy];
    return first;
}

// Plans a move in place of an instruction with one result; false if no leader may be its source.
static bool plan_move(Redundancy *r, const Copy *copy)
{
    const Instr *i = ir_instr(r->fn, copy->instr);
    Operand def = *ir_def(r->fn, i, copy->result);
    Operand by = i->ndef == 1 ? operand_of(r, copy->instr, value_number(&r->values, copy->from)) : op_none();
    if (op_kind(by) == K_NONE)
        return false;
    Tail tail = tail_of(r->fn, i, copy->result);
    AccessMove move = {op_reg(r->fn, op_index(def)), by, copy->bytes, copy->is_signed, tail};
    VEC_PUSH(&r->scratch, &r->moves, ((PlannedMove){copy->instr, move}));
    return true;
}

static void visit(Redundancy *r, InstrId id)
{
    const RedundancyRules *rules = r->rules;
    const Copy *copy = r->next_copy < r->copies.n ? take_copy(r, id) : NULL;
    Operand by[DEFS_MAX];
    if (rules->budget >= 0 && knob_left(&r->ctx->knobs, rules->budget) <= 0)
        return;
    r->verdict = RV_OTHER;
    r->leader = 0;
    bool whole = find_replacements(r, copy, id, by), done = whole || (copy && copy->bytes && plan_move(r, copy));
    if (whole)
        replace(r, id, by);
    else
        keep(r, id);
    if (done && rules->budget >= 0)
        knob_spend(&r->ctx->knobs, rules->budget);
    if (rules->report)
        rules->report(r, id, r->leader, done ? RV_REPLACED : r->verdict);
    r->replaced += done;
}

/* -- Dead code ------------------------------------------------------------------------------------------ */

// Returns what replaces the first register that a removed instruction defines.
static Operand replacement_of(const Redundancy *r, const Instr *i)
{
    const Operand *def = ir_ops(r->fn, i);
    while (!op_is_reg(*def))
        def++;
    return replace_find(&r->map, op_reg(r->fn, op_index(*def)));
}

// True if something else reads operand k of an instruction: the users of its replacement `by`, or the definition
// `other` of that, at the same position or at the other one of the first two. For a load, the variable counts, too.
static bool is_still_read(const Redundancy *r, const Instr *i, uint32_t k, Operand by, const Instr *other)
{
    Operand o = replace_find(&r->map, ir_ops(r->fn, i)[k]);
    bool counts = op_is_reg(o) || (op_kind(o) == K_SYM && ir_desc(r->fn, i)->traits & TR_READ);
    if (!counts || o.word == by.word)
        return true;
    if (!other || other->ndef != i->ndef || other->nops != i->nops)
        return false;
    const Operand *others = ir_ops(r->fn, other);
    uint32_t first = i->ndef, twin = k == first ? MIN(k + 1, i->nops - 1u) : k == first + 1 ? first : k;
    return replace_find(&r->map, others[k]).word == o.word || replace_find(&r->map, others[twin]).word == o.word;
}

// True if an instruction of the block stays that is neither phi nor terminator.
static bool has_others(const Redundancy *r, BlockId b)
{
    FOR_INSTRS(r->fn, b, id) {
        const Instr *i = ir_instr(r->fn, id);
        Operand def = i->ndef ? *ir_def(r->fn, i, 0) : op_none();
        bool replaced = op_is_reg(def) && replace_has(&r->map, op_index(def));
        if (!(ir_desc(r->fn, i)->traits & (TR_TERM | TR_PSEUDO | TR_MARKER)) && !replaced)
            return true;
    }
    return false;
}

// True if a function without dead code has none after the replacement: the operands of removed instructions have other
// uses, and their blocks other instructions, on which branches depend.
static bool leaves_no_dead(const Redundancy *r)
{
    BlockId alive = 0;
    for (uint32_t n = 0; n < r->removed.n; n++) {
        const Instr *i = ir_instr(r->fn, r->removed.at[n]);
        Operand by = replacement_of(r, i);
        const Instr *other = op_is_reg(by) ? ir_instr(r->fn, def_of(r->a, op_index(by))) : NULL;
        for (uint32_t k = i->ndef; k < i->nops; k++)
            if (!is_still_read(r, i, k, by, other))
                return false;
        if (other && other->block == i->block)
            continue;
        if (ir_desc(r->fn, i)->op == OP_PHI || (alive != i->block && !has_others(r, i->block)))
            return false;
        alive = i->block;
    }
    return true;
}

/* -- The pass ------------------------------------------------------------------------------------------- */

// Lists the registers that have fewer uses once the instructions are removed.
static void list_read(Redundancy *r)
{
    for (uint32_t n = 0; n < r->removed.n; n++) {
        const Instr *i = ir_instr(r->fn, r->removed.at[n]);
        for (uint32_t k = i->ndef; k < i->nops; k++) {
            Operand o = replace_find(&r->map, ir_ops(r->fn, i)[k]);
            if (op_is_reg(o))
                VEC_PUSH(&r->scratch, &r->read, op_index(o));
        }
    }
}

// Rewrites the function. Returns the number of moves in place of instructions.
static uint32_t apply(Redundancy *r, bool *inserts)
{
    for (uint32_t k = 0; k < r->moves.n; k++) {
        remove_annotations(r->fn, r->moves.at[k].instr);
        instr_replace_by_access_move(r->fn, r->moves.at[k].instr, &r->moves.at[k].move);
    }
    bool pre = r->rules->kinds & RD_PARTIAL_LOADS && r->partial;
    if (!r->moves.n && !pre && r->fn->properties & PROP_NO_DEAD && leaves_no_dead(r))
        phase_keeps(r->ctx, PROP_NO_DEAD);
    *inserts = pre && load_pre(r);
    list_read(r);
    replace_apply(&r->map);
    if (r->splits)
        analysis_drop(r->fn, 0);
    return r->moves.n + r->map.moves;
}

// Returns the kinds of change (CHANGE_*) of a pass that only replaced registers.
static uint32_t find_changes(Redundancy *r)
{
    const Analyses *a = analysis_need(r->fn, AN_DEF | AN_NUSES);
    bool single = rules_match_single(r->fn, a, &r->scratch, r->read.at, r->read.n);
    return CHANGE_USES | (r->map.equal ? CHANGE_EQUAL_USES : 0) | (r->constants ? CHANGE_CONSTANTS : 0) |
           (r->guards ? CHANGE_GUARDS | CHANGE_CONDITIONS : 0) | (r->map.conditions ? CHANGE_CONDITIONS : 0) |
           (r->map.phis ? CHANGE_PHIS : 0) | (single ? CHANGE_FEWER_USES : 0);
}

uint32_t redundancy_eliminate(Ctx *ctx, Fn *fn, const RedundancyRules *rules, uint32_t *moves, bool *left)
{
    Redundancy r = {.ctx = ctx, .fn = fn, .rules = rules, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF)};
    arena_init(&r.scratch, &ctx->heap);
    ValueOrder *swaps = ctx->target.backend->swap_operands;
    values_init(&r.values, &r.scratch, fn, r.a, swaps == sm_shared_swap_operands ? NULL : swaps);
    if (kinds_found(rules) & (RD_LOADS | RD_CONSTANT_LOADS))
        loads_init(&r);
    r.values.pessimistic = !(kinds_found(rules) & RD_PHIS);
    r.values.finds_copies = rules->kinds & RD_COPIES;
    r.values.found = !rules->number || rules->plain ? find : NULL;
    values_solve(&r.values, rules->number ? rules->number : redundancy_number, &r);
    start_instruction(&r);
    values_free_table(&r.values);
    if (rules->report && remarks_wanted(ctx))
        redundancy_explain(&r);
    uint32_t inserted = 0;
    bool inserts = false;
    if (r.candidates.n || r.partial) {
        r.top = NEW_ARRAY(&r.scratch, uint32_t, fn->regs.n);
        VEC_PUSH(&r.scratch, &r.members, (Member){0});
        replace_begin(&r.map, fn);
        for (uint32_t k = 0; k < r.candidates.n; k++)
            visit(&r, r.candidates.at[k]);
        if (rules->watched & RD_PARTIAL_LOADS && r.partial && !r.left)
            r.left = load_pre_applies(&r);
        if (rules->finish)
            rules->finish(&r);
        inserted = apply(&r, &inserts);
    }
    if (r.replaced && !r.moves.n && !inserts)
        phase_changes_only(ctx, find_changes(&r));
    arena_free(&r.scratch);
    if (moves)
        *moves = inserted;
    if (left)
        *left = r.left;
    return r.replaced;
}
