// SPDX-License-Identifier: MIT
// Removes phis that have only one value, and phis that only phis use.
//
// Slot: 62 OriRemoveRedundantMultiDefMov. A phi equals a value if each input is that value or the phi itself. The same
// holds for several phis whose inputs are only each other and that value. copy_representatives() computes the value. A
// register replaces the phi in all uses. A constant is moved to the phi's register after the phis of the block, since
// not every use takes constants. Inputs from unreachable blocks are ignored. An `undef` input counts as equal to the
// other inputs if their definition dominates the phi; otherwise the phi stays. Phis that only phis use are dead and are
// removed, too, unless the function has no dead code (NO_DEAD).
//
//     b3: R4 = mov.phi b1: R1, b2: R1                  b3: ... R1 ...
//         ... R4 ...                              ->
//
//     b1: R2 = mov.phi b0: R1, b2: R3                  b1: ...
//     b2: R3 = mov.phi b1: R2, b2: R3             ->   b2: ... R1 ...
//         ... R3 ...; @P0 bra b2 else b1
//
//     b3: R4 = mov.phi b1: 7, b2: 7                    b3: R4 = mov.b32 7
//         ... R4 ...                              ->       ... R4 ...
//
//     b3: R4 = mov.phi b1: undef, b2: R1               b3: ... R1 ...       ; R1 is defined before b1 and b2
//
// Must not fire:
//     b3: R4 = mov.phi b1: undef, b2: R1               if R1 is defined in b2: on the path through b1 it has no value
//     b1: R2 = mov.phi b0: undef, b1: R3               if R3 is a phi of b1, too: R2 is R3 of the last iteration
//         R3 = mov.phi b0: R1, b1: R4
//     R4 = mov.phi b1: R1, b2: R2                      if R1 and R2 are both `mov.undef`: they are two values
//     R4 = mov.phi b1: 7, b2: 7; .pragma "nounroll"    no move is allowed before an annotation for ptxas
//     R4 = mov.phi b1: UR1, b2: UR1                    the phi moves the value to another register file
//
// Effect on live ranges: if all inputs are the value, it is live up to the phi on every path, so no live range becomes
// longer. With an `undef` input, the value becomes live on another path.
//
// Does not do: phis with only `undef` inputs; phis that equal each other (OriReplaceEquivMultiDefMov); phis of copies
// (OriCopyProp).
// Documented: slot and name. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

enum { ROUNDS = 4 };  // of root_phis(); the last roots all phis that it would have to test

typedef struct Phi {
    InstrId instr;
    BlockId block;
    bool marker;     // an annotation for ptxas follows the phis: no move is allowed between
    bool undefined;  // an input is `undef`
    bool rooted;     // it stays, whatever its inputs are
    bool marked;     // live: an instruction that is no dead phi uses it
} Phi;

typedef struct Redundant {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    VEC(Phi) phis;       // value k + 1 of the graph is phi k
    VEC(Operand) value;  // by value of the graph
    uint32_t *of_reg;    // by RegId: its value, 0 = none
    IdSet of_const;      // values by constant
    VEC(uint32_t) first, input;
    uint32_t *representative;
    VEC(uint32_t) work;  // live phis whose inputs are to be marked live
    bool found;          // some phi equals another value
    bool extended;       // a live range becomes longer
} Redundant;

static bool is_phi_value(const Redundant *r, uint32_t value) { return value && value <= r->phis.n; }

static Phi *phi_of(const Redundant *r, uint32_t value) { return &r->phis.at[value - 1]; }

/* -- The graph of values -------------------------------------------------------------------------------- */

static uint32_t add_value(Redundant *r, Operand o)
{
    VEC_PUSH(&r->scratch, &r->value, o);
    return r->value.n - 1;
}

static void collect_phis(Redundant *r)
{
    Fn *fn = r->fn;
    FOR_BLOCK_ENDS(fn, b) {
        InstrId end = is_reachable(r->a, b) ? first_non_phi(fn, b) : ir_block(fn, b)->first;
        bool marker = ir_desc(fn, ir_instr(fn, end))->traits & TR_MARKER;
        for (InstrId id = ir_block(fn, b)->first; id != end; id = ir_instr(fn, id)->next) {
            Operand def = *ir_def(fn, ir_instr(fn, id), 0);
            VEC_PUSH(&r->scratch, &r->phis, ((Phi){.instr = id, .block = b, .marker = marker}));
            r->of_reg[op_index(def)] = add_value(r, op_reg(fn, op_index(def)));
        }
    }
}

static uint32_t value_of_const(Redundant *r, Operand o)
{
    uint32_t hash = op_index(o) * 0x9E3779B9u;
    IDSET_EACH(&r->of_const, hash, v) {
        if (op_same(r->value.at[v], op_imm(op_index(o))))
            return v;
    }
    uint32_t v = add_value(r, op_imm(op_index(o)));
    idset_add(&r->of_const, &r->scratch, hash, v);
    return v;
}

static uint32_t value_of_operand(Redundant *r, Operand o)
{
    if (!op_is_reg(o))
        return value_of_const(r, o);
    uint32_t *v = &r->of_reg[op_index(o)];
    if (!*v)
        *v = add_value(r, o);
    return *v;
}

static void add_phi_inputs(Redundant *r, uint32_t value)
{
    Phi *phi = phi_of(r, value);
    const Instr *i = ir_instr(r->fn, phi->instr);
    uint32_t inputs = r->input.n;
    RegFile file = op_file(*ir_def(r->fn, i, 0));
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand o = *ir_use(r->fn, i, k + 1);
        if (!is_reachable(r->a, op_index(*ir_use(r->fn, i, k))))
            continue;
        phi->undefined |= op_is_undef(o);
        phi->rooted |= op_is_reg(o) && op_file(o) != file;
        if (!op_is_undef(o))
            VEC_PUSH(&r->scratch, &r->input, value_of_operand(r, o));
    }
    if (phi->rooted || r->input.n == inputs)
        VEC_PUSH(&r->scratch, &r->input, 0);
}

static void build_graph(Redundant *r)
{
    r->first.n = r->input.n = 0;
    VEC_PUSH(&r->scratch, &r->first, 0);  // value 0, the input of values that are no copies, has no inputs
    for (uint32_t v = 1; v <= r->phis.n; v++) {
        VEC_PUSH(&r->scratch, &r->first, r->input.n);
        add_phi_inputs(r, v);
    }
    for (uint32_t v = r->phis.n + 1; v < r->value.n; v++) {
        VEC_PUSH(&r->scratch, &r->first, r->input.n);
        VEC_PUSH(&r->scratch, &r->input, 0);
    }
    VEC_PUSH(&r->scratch, &r->first, r->input.n);
    r->representative = copy_representatives(&(Edges){r->first.at, r->input.at}, r->value.n, &r->scratch);
}

/* -- Phis that stay ------------------------------------------------------------------------------------- */

// True if a value is a constant, or is defined on every path to the block of a phi.
static bool is_there(Redundant *r, uint32_t value, BlockId b)
{
    Fn *fn = r->fn;
    if (!op_is_reg(r->value.at[value]))
        return true;
    r->a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEFUSE);
    RegId reg = op_index(r->value.at[value]);
    BlockId home = ir_instr(fn, r->a->defs.at[r->a->defs.first[reg]].instr)->block;
    return home != b && dominates(r->a, home, b);
}

// True if a phi must stay although its inputs are one value. If `all`, every such phi with an undefined input stays,
// without a test of availability.
static bool is_on_its_own(Redundant *r, uint32_t v, bool all)
{
    const Phi *phi = phi_of(r, v);
    if (!r->representative[v])  // all inputs are undefined
        return true;
    if (r->representative[v] == v)
        return false;
    if (!op_is_reg(r->value.at[r->representative[v]]) && phi->marker)
        return true;
    return phi->undefined && (all || !is_there(r, r->representative[v], phi->block));
}

// Roots the phis that must stay. False: there are none.
static bool root_phis(Redundant *r, bool all)
{
    bool found = false;
    for (uint32_t v = 1; v <= r->phis.n; v++) {
        bool own = is_on_its_own(r, v, all);
        phi_of(r, v)->rooted |= own;
        found |= own;
    }
    return found;
}

static void find_values(Redundant *r)
{
    build_graph(r);
    for (int k = 1; root_phis(r, k >= ROUNDS); k++)
        build_graph(r);
}

/* -- Live phis ------------------------------------------------------------------------------------------ */

static bool leads_to_constant(const Redundant *r, uint32_t value)
{
    return !op_is_reg(r->value.at[r->representative[value]]);
}

static void sum_up(Redundant *r)
{
    for (uint32_t v = 1; v <= r->phis.n; v++) {
        bool found = r->representative[v] != v;
        r->found |= found;
        r->extended |= found && phi_of(r, v)->undefined && !leads_to_constant(r, v);
    }
}

static void need(Redundant *r, Operand o)
{
    uint32_t v = op_is_reg(o) ? r->of_reg[op_index(o)] : 0;
    if (is_phi_value(r, v) && !leads_to_constant(r, v))
        v = r->representative[v];
    if (!is_phi_value(r, v) || phi_of(r, v)->marked)
        return;
    phi_of(r, v)->marked = true;
    if (r->representative[v] == v)
        VEC_PUSH(&r->scratch, &r->work, v);
}

static void mark_uses(Redundant *r, const Instr *i)
{
    const Operand *ops = ir_ops(r->fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++)
        need(r, ops[k]);
}

// Marks live phis, from the uses by other instructions. In a function without dead code all phis are live if none
// equals another value.
static void find_marked(Redundant *r)
{
    const Fn *fn = r->fn;
    bool all = fn->properties & PROP_NO_DEAD && !r->found;
    for (uint32_t v = 1; v <= r->phis.n; v++)
        phi_of(r, v)->marked = all;
    for (BlockId b = all ? 0 : fn->first; b; b = ir_block(fn, b)->next)
        FOR_INSTRS(fn, b, id)
            if (!ir_is_phi(fn, id) || !is_reachable(r->a, b))
                mark_uses(r, ir_instr(fn, id));
    while (r->work.n)
        mark_uses(r, ir_instr(fn, phi_of(r, r->work.at[--r->work.n])->instr));
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// Inserts a move of the constant to the phi's register after the phis of the block.
static void replace_by_constant(Redundant *r, uint32_t value, InstrId after)
{
    RegId def = op_index(r->value.at[value]);
    InstrId move = insert_move(r->fn, after, def, r->value.at[r->representative[value]]);
    ir_instr(r->fn, move)->line = ir_instr(r->fn, phi_of(r, value)->instr)->line;
}

static void take_out(Redundant *r)
{
    Fn *fn = r->fn;
    BlockId block = 0;
    InstrId after = 0;
    ReplaceMap map;
    replace_begin(&map, fn);
    for (uint32_t v = 1; v <= r->phis.n; v++) {
        const Phi *phi = phi_of(r, v);
        if (r->representative[v] == v && phi->marked)
            continue;
        if (!leads_to_constant(r, v) && r->representative[v] != v) {
            replace_set(&map, op_index(r->value.at[v]), r->value.at[r->representative[v]]);
            continue;
        }
        after = phi->block == block ? after : first_non_phi(fn, phi->block);
        block = phi->block;
        if (phi->marked)
            replace_by_constant(r, v, after);
        ir_remove(fn, phi->instr);
    }
    replace_apply(&map);
}

static bool has_phis(const Fn *fn)
{
    FOR_BLOCK_ENDS(fn, b)
        if (ir_is_phi(fn, ir_block(fn, b)->first))
            return true;
    return false;
}

static bool has_work(const Redundant *r)
{
    for (uint32_t v = 1; v <= r->phis.n; v++)
        if (r->representative[v] != v || !phi_of(r, v)->marked)
            return true;
    return false;
}

bool phase_redundant_phis(Ctx *ctx, Fn *fn)
{
    if (!has_phis(fn))
        return false;
    Redundant r = {.fn = fn, .a = analysis_need(fn, AN_RPO)};
    arena_init(&r.scratch, &ctx->heap);
    r.of_reg = NEW_ARRAY(&r.scratch, uint32_t, fn->regs.n);
    add_value(&r, op_none());
    collect_phis(&r);
    find_values(&r);
    sum_up(&r);
    find_marked(&r);
    bool progress = has_work(&r);
    if (progress)
        take_out(&r);
    arena_free(&r.scratch);
    // NO_DEAD no longer holds: the branches that selected an input may be dead now, even if other phis depend on them.
    if (!r.extended)
        phase_keeps(ctx, PROP_CONVENTIONAL);
    return progress;
}
