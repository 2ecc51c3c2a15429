// SPDX-License-Identifier: MIT
// Tests reaching definitions against a bit-set data flow, with both ways of placing phis, and on large shapes.
#include "tests/unit/graph.h"

/* -- Random functions ----------------------------------------------------------------------------------- */

// NEST nested loops have enough dominance frontiers for phis to be placed by search.
enum { NEST = 80, BLOCKS = GRAPH_BLOCKS + 2 * NEST, REGS = 40, POOL = 5, INSTRS = 5, DEFS = 62 };

// Instructions of blocks. Operands: d p = definition of a value, predicate; u q = use of one; a 64-bit use; k o 32-bit
// and 64-bit constant; x = register of an opaque instruction; _ = sink, a definition.
static const struct {
    const char *mnemonic, *shape, *ops;
} forms[] = {
    {"mov.u32", "%,%", "dk"},
    {"mov.u32", "%,%", "du"},
    {"add.u32", "%,%,%", "duu"},
    {"selp.u32", "%,%,%,%", "duuq"},
    {"setp.eq.u32", "%,%,%", "puu"},
    {"setp.lt.u32", "%|%,%,%", "ppuk"},
    {"ld.global.v2.u32", "{%,%},[&]", "ddao"},
    {"ld.global.v4.u32", "{%,%,%,%},[&]", "d_ddao"},
    {"st.global.u32", "[&],%", "aou"},
    {"tcgen05.ld", "{%,%},[&]", "xxao"},
};

typedef struct Program {
    Fixture f;
    Fn *fn;
    Graph graph;
    uint64_t *seed;
    RegId address;
    uint32_t ndefs[REGS];
} Program;

static RegId new_reg(Program *p, Width width, uint8_t flags)
{
    RegId r = reg_new(p->fn, width == W1 ? RF_P : RF_R, width);
    ir_reg(p->fn, r)->flags = flags;
    return r;
}

static RegId any_reg(Program *p, Width width)
{
    for (;;) {
        RegId r = 1 + unit_random(p->seed, p->fn->regs.n - 1);
        if (ir_reg(p->fn, r)->width == width)
            return r;
    }
}

static Operand written(Program *p, Width width)
{
    bool fresh = p->fn->regs.n < REGS && unit_random(p->seed, 6) == 0;
    RegId r = fresh ? new_reg(p, width, 0) : any_reg(p, width);
    if (p->ndefs[r] == DEFS)
        return op_def(op_none());
    p->ndefs[r]++;
    return def(p->fn, r);
}

static Operand inout(Program *p)
{
    RegId r = any_reg(p, W32);
    while (!(ir_reg(p->fn, r)->flags & REG_PINNED))
        r = any_reg(p, W32);
    Operand o = use(p->fn, r);
    o.mods = OPM_INOUT;
    return o;
}

static Operand operand(Program *p, char letter)
{
    switch (letter) {
    case 'd': return written(p, W32);
    case 'p': return written(p, W1);
    case 'u': return use(p->fn, any_reg(p, W32));
    case 'q': return use(p->fn, any_reg(p, W1));
    case 'a': return use(p->fn, p->address);
    case 'k': return op_const(p->fn, unit_random(p->seed, 1000), W32);
    case 'o': return op_const(p->fn, unit_random(p->seed, 1000), W64);
    case 'x': return inout(p);
    default: return op_def(op_none());
    }
}

static void emit_form(Program *p, BlockId b)
{
    uint32_t form = unit_random(p->seed, ARRAY_LEN(forms)), n = 0;
    uint8_t flags = unit_random(p->seed, 3) ? 0 : IF_GUARDED;
    Operand ops[16];
    for (const char *letter = forms[form].ops; *letter; letter++)
        ops[n++] = operand(p, *letter);
    if (op_is_def(ops[0]) && !op_is_reg(ops[0]))
        return;  // enough definitions
    if (flags)
        ops[n++] = operand(p, 'q');
    DescId desc = desc_parse(p->fn->tables, forms[form].mnemonic, forms[form].shape);
    ir_insert_before(p->fn, ir_terminator(p->fn, b), desc, flags, ops, n);
}

// Replaces the registers that terminators use.
static void reread(Program *p, BlockId b)
{
    const Instr *end = ir_instr(p->fn, ir_terminator(p->fn, b));
    for (uint32_t k = 0; k < end->nops; k++) {
        Operand *o = ir_ops(p->fn, end) + k;
        if (op_is_reg(*o))
            *o = use(p->fn, any_reg(p, (Width)ir_reg(p->fn, op_index(*o))->width));
    }
}

// Adds nested loops with edges between their ends: headers, then latches. Returns the first block.
static BlockId add_nest(Fn *fn, RegId pred, uint32_t depth)
{
    BlockId first = fn->blocks.n, bottom = first + depth;
    for (uint32_t k = 0; k < 2 * depth; k++)
        add_block(fn, first + k);
    for (uint32_t k = 0; k < depth; k++)
        emit_bra(fn, first + k, first + k + 1);
    for (uint32_t k = 0; k + 1 < depth; k++)
        emit_branch(fn, bottom + k, pred, bottom - 1 - k, bottom + k + 1);
    emit_branch(fn, bottom + depth - 1, pred, first, first);
    return first;
}

// Adds a nest, with an edge from a random reachable block, and from the nest's end to a random block.
static void append_nest(Program *p)
{
    Fn *fn = p->fn;
    Blocks reachable = graph_reach(&p->graph, bit(1), graph_all(&p->graph));
    BlockId from, to[GRAPH_TARGETS + 1], last;
    do
        from = 1 + unit_random(p->seed, p->graph.n);
    while (!has(reachable, from));
    uint32_t n = p->graph.nsucc[from];
    memcpy(to, p->graph.succ[from], n * sizeof *to);
    to[n] = add_nest(fn, 2, NEST);
    ir_remove(fn, ir_terminator(fn, from));
    emit_brx(fn, from, 1, to, n + 1);
    last = fn->blocks.n - 1;
    ir_remove(fn, ir_terminator(fn, last));
    emit_branch(fn, last, 2, to[n], 1 + unit_random(p->seed, p->graph.n));
}

static void shuffle_layout(Program *p)
{
    for (BlockId b = 2; b < p->fn->blocks.n; b++) {
        BlockId after = 1 + unit_random(p->seed, p->fn->blocks.n - 1);
        if (unit_random(p->seed, 3) || b == after)
            continue;
        block_unlink(p->fn, b);
        block_insert_after(p->fn, b, after);
    }
}

static void build_random(Program *p, uint64_t *seed, bool nest)
{
    *p = (Program){.seed = seed};
    fixture_open(&p->f);
    p->fn = p->f.fn;
    graph_random(&p->graph, seed);
    graph_build(&p->f, &p->graph);  // makes registers 1 and 2
    if (nest)
        append_nest(p);
    p->address = new_reg(p, W64, 0);
    new_reg(p, W32, REG_PINNED);
    new_reg(p, W1, REG_PINNED);
    new_reg(p, W32, REG_NAMED);
    for (int k = 0; k < POOL; k++)
        new_reg(p, k % 2 ? W1 : W32, 0);
    shuffle_layout(p);
    for (BlockId b = 1; b < p->fn->blocks.n; b++)
        for (uint32_t k = unit_random(seed, b > p->graph.n ? 2 : INSTRS); k > 0; k--)
            emit_form(p, b);
    for (BlockId b = 1; b < p->fn->blocks.n; b++)
        reread(p, b);
}

/* -- A naive reference ---------------------------------------------------------------------------------- */

// Definitions of one register: bit 0 is the absence of one, bit 1 + k the definition at index k of its row.
typedef uint64_t Defs;

typedef struct Naive {
    const Fn *fn;
    const Analyses *a;
    RegId r;
    Defs out[BLOCKS + 1];
    bool live[BLOCKS + 1], phi[BLOCKS + 1];
    bool seen[BLOCKS + 1];  // phis that a value is expanded through
} Naive;

static Defs at_start(const Naive *n, BlockId b)
{
    const Edges *preds = &n->a->preds;
    Defs set = b == n->fn->first || !is_reachable(n->a, b);
    for (uint32_t e = preds->first[b]; e < preds->first[b + 1]; e++)
        if (is_reachable(n->a, b) && is_reachable(n->a, preds->at[e]))
            set |= n->out[preds->at[e]];
    return set;
}

static uint32_t row_place(const Naive *n, InstrId id, uint32_t op)
{
    const Refs *defs = &n->a->defs;
    uint32_t k = defs->first[n->r];
    while (defs->at[k].instr != id || defs->at[k].op != op)
        k++;
    return k - defs->first[n->r];
}

static bool names(const Naive *n, Operand o) { return op_is_reg(o) && op_index(o) == n->r; }

static Defs over_instr(const Naive *n, InstrId id, Defs set)
{
    const Instr *i = ir_instr(n->fn, id);
    Defs kept = ir_guarded(i) ? set : 0;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (names(n, *ir_def(n->fn, i, k)))
            set = kept | (Defs)2 << row_place(n, id, k);
    return set;
}

static void flow(Naive *n)
{
    memset(n->out, 0, sizeof n->out);
    for (bool changed = true; changed;) {
        changed = false;
        for (BlockId b = 1; b < n->fn->blocks.n; b++) {
            Defs set = at_start(n, b);
            FOR_INSTRS(n->fn, b, id)
                set = over_instr(n, id, set);
            changed |= set != n->out[b];
            n->out[b] = set;
        }
    }
}

// Returns 1 if the first access of the register in a block is a read, 0 if it is a definition, -1 if there is none.
static int reads_first(const Naive *n, BlockId b)
{
    FOR_INSTRS(n->fn, b, id) {
        const Instr *i = ir_instr(n->fn, id);
        for (uint32_t k = i->ndef; k < i->nops; k++)
            if (names(n, ir_ops(n->fn, i)[k]))
                return 1;
        for (uint32_t k = 0; k < i->ndef; k++)
            if (names(n, ir_ops(n->fn, i)[k]))
                return ir_guarded(i);
    }
    return -1;
}

static void find_live(Naive *n)
{
    const Edges *succs = &n->a->succs;
    int reads[BLOCKS + 1];
    for (BlockId b = 1; b < n->fn->blocks.n; b++) {
        reads[b] = reads_first(n, b);
        n->live[b] = reads[b] == 1;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = n->a->nrpo; k--;) {
            BlockId b = n->a->rpo[k];
            for (uint32_t e = succs->first[b]; e < succs->first[b + 1] && !n->live[b] && reads[b] < 0; e++)
                changed |= n->live[b] = n->live[succs->at[e]];
        }
    }
}

// Marks the dominance frontier of a block; returns true if a mark is new.
static bool mark_frontier(const Naive *n, BlockId d, bool *marked)
{
    const Edges *preds = &n->a->preds;
    bool changed = false;
    for (BlockId b = 1; b < n->fn->blocks.n; b++) {
        if (!is_reachable(n->a, b) || marked[b] || (b != d && dominates(n->a, d, b)))
            continue;
        for (uint32_t e = preds->first[b]; e < preds->first[b + 1]; e++)
            marked[b] |= is_reachable(n->a, preds->at[e]) && dominates(n->a, d, preds->at[e]);
        changed |= marked[b];
    }
    return changed;
}

// Finds the phis: blocks of the iterated dominance frontier of its definitions in which the register is live.
static void find_phis(Naive *n)
{
    bool done[BLOCKS + 1] = {false}, writes[BLOCKS + 1] = {false};
    memset(n->phi, 0, sizeof n->phi);
    FOR_DEFS(n->a, n->r, d)
        writes[ir_instr(n->fn, d->instr)->block] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (BlockId b = 1; b < n->fn->blocks.n; b++)
            if ((writes[b] || n->phi[b]) && !done[b] && is_reachable(n->a, b)) {
                done[b] = true;
                changed |= mark_frontier(n, b, n->phi);
            }
    }
    find_live(n);
    for (BlockId b = 1; b < n->fn->blocks.n; b++)
        n->phi[b] &= n->live[b];
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

// Returns the definitions of a value. seen[] collects the phis on the way.
static Defs expand(Naive *n, ValueId value)
{
    const ReachingDefs *rd = &n->a->rdefs;
    const Edges *preds = &n->a->preds;
    if (!value)
        return 1;
    if (value < rd->first_def) {
        CHECK_EQ(value, n->r);
        CHECK_EQ(def_count(n->a, n->r), 1);
        return 2;
    }
    if (value < rd->first_phi) {
        const Occurrence *o = &rd->at[rd->defs[value - rd->first_def]];
        CHECK(names(n, *ir_run(n->fn, o->op)));
        uint32_t place = row_place(n, o->instr, o->op - ir_instr(n->fn, o->instr)->ops);
        return (Defs)2 << place | (o->guarded ? expand(n, rd->old[value - rd->first_def]) : 0);
    }
    if (!CHECK(value - rd->first_phi < rd->nphis))
        return 0;
    const ReachingPhi *phi = &rd->phi[value - rd->first_phi];
    if (n->seen[phi->block])
        return 0;
    n->seen[phi->block] = true;
    CHECK_EQ(phi->reg, n->r);
    Defs set = phi->block == n->fn->first;
    for (uint32_t e = preds->first[phi->block], k = phi->inputs; e < preds->first[phi->block + 1]; e++, k++)
        set |= is_reachable(n->a, preds->at[e]) ? expand(n, rd->input[k]) : 0;
    return set;
}

static void check_value(Naive *n, ValueId value, Defs expected)
{
    memset(n->seen, 0, sizeof n->seen);
    CHECK(expand(n, value) == expected);
}

static bool writes_register(const Naive *n, InstrId id)
{
    FOR_DEFS(n->a, n->r, d)
        if (d->instr == id)
            return true;
    return false;
}

// Checks a read; in unreachable code it need only exist.
static void check_read(Naive *n, BlockId b, ValueId value, Defs expected)
{
    if (is_reachable(n->a, b))
        check_value(n, value, expected);
    else
        CHECK(!value || (!value_is_phi(n->a, value) && writes_register(n, value_def(n->a, value))));
}

static void check_instr(Naive *n, InstrId id, Defs set)
{
    const Instr *i = ir_instr(n->fn, id);
    const Analyses *a = n->a;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (names(n, ir_ops(n->fn, i)[k]))
            check_read(n, i->block, value_of(n->fn, a, id, k), set);
    for (uint32_t k = 0; k < i->ndef; k++) {
        if (!names(n, *ir_def(n->fn, i, k)))
            continue;
        ValueId made = value_of(n->fn, a, id, k);
        CHECK_EQ(value_def(a, made), id);
        if (made >= a->rdefs.first_def)
            check_read(n, i->block, a->rdefs.old[made - a->rdefs.first_def], ir_guarded(i) ? set : 1);
        else
            CHECK(!ir_guarded(i));
    }
}

static void check_uses(Naive *n)
{
    FOR_BLOCKS(n->fn, b) {
        Defs set = at_start(n, b);
        FOR_INSTRS(n->fn, b, id) {
            check_instr(n, id, set);
            set = over_instr(n, id, set);
        }
    }
}

// Checks that the register has exactly the expected phis, and that the input of an edge is the value at its source.
static void check_phis(Naive *n)
{
    const ReachingDefs *rd = &n->a->rdefs;
    const Edges *preds = &n->a->preds;
    bool found[BLOCKS + 1] = {false};
    for (uint32_t k = 0; k < rd->nphis; k++) {
        const ReachingPhi *phi = &rd->phi[k];
        if (phi->reg != n->r)
            continue;
        CHECK(!found[phi->block]);
        found[phi->block] = true;
        for (uint32_t e = preds->first[phi->block], at = phi->inputs; e < preds->first[phi->block + 1]; e++, at++) {
            CHECK(at < rd->ninputs);
            if (is_reachable(n->a, preds->at[e]))
                check_value(n, rd->input[at], n->out[preds->at[e]]);
            else
                CHECK_EQ(rd->input[at], 0);
        }
    }
    CHECK(memcmp(found, n->phi, sizeof found) == 0);
}

// Checks that uses and old values require all phis, directly or through phis.
static void check_pruned(const Fn *fn, const Analyses *a)
{
    const ReachingDefs *rd = &a->rdefs;
    Arena arena;
    arena_init(&arena, fn->arena.heap);
    bool *needed = NEW_ARRAY(&arena, bool, rd->nphis);
    uint32_t n = 0;
    for (uint32_t k = 0; k < rd->noccurrences; k++) {
        ValueId value = rd->at[k].value;
        if (rd->at[k].def)
            value = rd->old[value - rd->first_def];
        if (value_is_phi(a, value))
            needed[value - rd->first_phi] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < rd->nphis; k++) {
            const ReachingPhi *phi = &rd->phi[k];
            uint32_t degree = a->preds.first[phi->block + 1] - a->preds.first[phi->block];
            for (uint32_t e = 0; e < degree && needed[k]; e++) {
                ValueId value = rd->input[phi->inputs + e];
                if (value < rd->first_phi || needed[value - rd->first_phi])
                    continue;
                needed[value - rd->first_phi] = changed = true;
            }
        }
    }
    for (uint32_t k = 0; k < rd->nphis; k++)
        n += needed[k];
    CHECK_EQ(n, rd->nphis);
    arena_free(&arena);
}

// Returns the value that an operand reads.
static ValueId read_by(const Fn *fn, const Analyses *a, const Ref *ref) { return value_of(fn, a, ref->instr, ref->op); }

static void check_others(const Fn *fn, const Analyses *a, RegId r)
{
    FOR_USES(a, r, u)
        CHECK(read_by(fn, a, u) == VALUE_ANY);
    for (uint32_t k = 0; k < a->rdefs.nphis; k++)
        CHECK(a->rdefs.phi[k].reg != r);
    CHECK(!reg_in_ssa(ir_reg(fn, r)));
}

// Reports the operands of an instruction that name the register: a guarded definition also reads.
static void count_operands(PhiCounter *counter, const Naive *n, InstrId id)
{
    const Fn *fn = n->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (names(n, ir_ops(fn, i)[k]))
            phi_counter_read(counter, i->block);
    for (uint32_t k = 0; k < i->ndef; k++) {
        if (!names(n, ir_ops(fn, i)[k]))
            continue;
        if (ir_guarded(i))
            phi_counter_read(counter, i->block);
        phi_counter_write(counter, i->block);
    }
}

// Checks that the counter finds the inputs of the expected phis, and stops above a limit.
static void check_count(PhiCounter *counter, const Naive *n)
{
    uint64_t inputs = 0;
    for (BlockId b = 1; b < n->fn->blocks.n; b++)
        inputs += n->phi[b] ? pred_count(n->a, b) : 0;
    for (uint64_t max = 2 * inputs;; max = inputs - 1) {
        phi_counter_start(counter);
        FOR_BLOCKS(n->fn, b)
            FOR_INSTRS(n->fn, b, id)
                count_operands(counter, n, id);
        uint64_t counted = phi_counter_inputs(counter, max);
        CHECK(max < inputs ? counted > max : counted == inputs);
        if (!inputs || max < inputs)
            return;
    }
}

static void check_function(Fn *fn, const Analyses *a)
{
    Naive n = {.fn = fn, .a = a};
    Arena arena;
    arena_init(&arena, fn->arena.heap);
    PhiCounter *counter = phi_counter(fn, &arena);
    for (n.r = 1; n.r < fn->regs.n; n.r++) {
        if (!reg_in_ssa(ir_reg(fn, n.r))) {
            check_others(fn, a, n.r);
            continue;
        }
        flow(&n);
        find_phis(&n);
        check_uses(&n);
        check_phis(&n);
        check_count(counter, &n);
    }
    phi_counter_free(counter);
    arena_free(&arena);
    check_pruned(fn, a);
}

static void check_random(uint32_t rounds, uint64_t seed, bool nest)
{
    uint64_t phis = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        Program p;
        unit_context("function %u", round);
        build_random(&p, &seed, nest);
        CHECK_VERIFIES(p.fn);
        const Analyses *a = analysis_need(p.fn, AN_RDEFS | AN_DEFUSE);
        CHECK_EQ(a->rdefs.by_heaps, nest);
        phis += a->rdefs.nphis;
        check_function(p.fn, a);
        fixture_close(&p.f);
    }
    CHECK(phis > rounds * 10);
}

TEST(rdefs_random) { check_random(2500, 1991, false); }
TEST(rdefs_random_nests) { check_random(200, 1995, true); }

/* -- Shapes at size ------------------------------------------------------------------------------------- */

enum { CARRIED = 16 };

static void add_one(Fn *fn, BlockId b, RegId r)
{
    ir_insert_before(fn, ir_terminator(fn, b), desc_parse(fn->tables, "add.u32", "%,%,%"), 0,
                     OPS(def(fn, r), use(fn, r), op_const(fn, 1, W32)));
}

static void set(Fn *fn, BlockId b, RegId r)
{
    ir_insert_before(fn, ir_terminator(fn, b), desc_parse(fn->tables, "mov.u32", "%,%"), 0,
                     OPS(def(fn, r), op_const(fn, b, W32)));
}

static RegId add_registers(Fn *fn, uint32_t n)
{
    RegId first = fn->regs.n;
    for (uint32_t k = 0; k < n; k++)
        reg_new(fn, RF_R, W32);
    return first;
}

// Returns the value that the only definition or use of a register in the block reads.
static ValueId value_in(const Fn *fn, const Analyses *a, RegId r, BlockId b)
{
    FOR_USES(a, r, u)
        if (ir_instr(fn, u->instr)->block == b)
            return read_by(fn, a, u);
    return VALUE_ANY;
}

static const ReachingPhi *phi_of(const Analyses *a, ValueId value)
{
    bool is_phi = CHECK(value_is_phi(a, value) && value < value_count(a));
    return is_phi ? value_phi(a, value) : &a->rdefs.phi[0];
}

// Each block defines a register that the next one uses.
TEST(rdefs_long_chain)
{
    Shape s;
    shape_open(&s, MANY);
    RegId first = add_registers(s.fn, CARRIED);
    for (BlockId b = 1; b < MANY; b++)
        emit_bra(s.fn, b, b + 1);
    emit_ret(s.fn, MANY);
    for (BlockId b = 1; b <= MANY; b++)
        add_one(s.fn, b, first + b % CARRIED);
    const Analyses *a = shape_need(&s, AN_RDEFS | AN_DEFUSE);
    bool right = true;
    CHECK_EQ(a->rdefs.nphis, 0);
    for (uint32_t k = 0; k < CARRIED; k++) {
        InstrId last = 0;
        FOR_USES(a, first + k, u) {
            ValueId value = read_by(s.fn, a, u);
            right &= (value ? value_def(a, value) : 0) == last;
            last = u->instr;
        }
    }
    CHECK(right);
    shape_close(&s);
}

// Many blocks define a register that their join uses.
TEST(rdefs_wide_join)
{
    Shape s;
    shape_open(&s, MANY + 2);
    shape_switch(&s, 1, 2, MANY);
    for (BlockId b = 2; b < MANY + 2; b++)
        emit_bra(s.fn, b, MANY + 2);
    emit_ret(s.fn, MANY + 2);
    RegId r = add_registers(s.fn, 1);
    for (BlockId b = 2; b < MANY + 2; b++)
        set(s.fn, b, r);
    add_one(s.fn, MANY + 2, r);
    const Analyses *a = shape_need(&s, AN_RDEFS | AN_DEFUSE);
    const ReachingPhi *phi = phi_of(a, value_in(s.fn, a, r, MANY + 2));
    bool right = true;
    CHECK_EQ(a->rdefs.nphis, 1);
    CHECK_EQ(a->rdefs.ninputs, MANY);
    for (uint32_t k = 0; k < MANY; k++) {
        InstrId id = value_def(a, a->rdefs.input[phi->inputs + k]);
        right &= ir_instr(s.fn, id)->block == a->preds.at[a->preds.first[MANY + 2] + k];
    }
    CHECK(right);
    shape_close(&s);
}

// An interpreter: a switch in a loop, each case changes one of the carried registers.
TEST(rdefs_switch_in_loop)
{
    Shape s;
    shape_open(&s, MANY + 3);
    BlockId latch = MANY + 3;
    emit_bra(s.fn, 1, 2);
    shape_switch(&s, 2, 3, MANY);
    for (BlockId b = 3; b < latch; b++)
        emit_bra(s.fn, b, latch);
    emit_bra(s.fn, latch, 2);
    RegId first = add_registers(s.fn, CARRIED);
    for (BlockId b = 3; b < latch; b++)
        add_one(s.fn, b, first + b % CARRIED);
    for (uint32_t k = 0; k < CARRIED; k++)
        set(s.fn, 1, first + k);
    const Analyses *a = shape_need(&s, AN_RDEFS | AN_DEFUSE);
    bool right = true;
    CHECK_EQ(a->rdefs.nphis, 2 * CARRIED);
    CHECK_EQ(a->rdefs.ninputs, (MANY + 2) * CARRIED);
    for (uint32_t k = 0; k < CARRIED; k++)
        FOR_USES(a, first + k, u)
            right &= read_by(s.fn, a, u) == read_by(s.fn, a, a->uses.at + a->uses.first[first + k]);
    CHECK(right);
    CHECK_EQ(phi_of(a, value_in(s.fn, a, first, 16))->block, 2);
    shape_close(&s);
}

// Nested loops: the frontiers are quadratic, so they are stored as heaps. These registers have too many phis for their
// occurrences, so their phis are placed by search.
TEST(rdefs_nested_loops)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId pred = reg_new(fn, RF_P, W1);
    enum { DEPTH = MANY / 2 };
    add_nest(fn, pred, DEPTH);
    RegId first = add_registers(fn, CARRIED);
    for (uint32_t k = 0; k < CARRIED; k++)
        add_one(fn, DEPTH + 1 + k * (DEPTH / CARRIED), first + k);
    CHECK_VERIFIES(fn);
    const Analyses *a = analysis_need(fn, AN_RDEFS | AN_DEFUSE);
    uint32_t phis = 0;
    CHECK(a->rdefs.by_heaps);
    for (uint32_t k = 0; k < CARRIED; k++) {
        // One phi for each loop around the definition.
        phis += DEPTH - k * (DEPTH / CARRIED);
        const ReachingPhi *phi = phi_of(a, value_in(fn, a, first + k, DEPTH + 1 + k * (DEPTH / CARRIED)));
        CHECK_EQ(phi->block, DEPTH - k * (DEPTH / CARRIED));
    }
    CHECK_EQ(a->rdefs.nphis, phis);
    fixture_close(&f);
}

// Nested loops with a counter each, which the loop around initializes: one phi for each counter.
TEST(rdefs_counters_of_nested_loops)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId pred = reg_new(fn, RF_P, W1);
    enum { DEPTH = MANY / 2 };
    add_nest(fn, pred, DEPTH);
    RegId first = add_registers(fn, DEPTH + 1);
    for (BlockId header = 2; header <= DEPTH; header++) {
        set(fn, header - 1, first + header);
        add_one(fn, 2 * DEPTH + 1 - header, first + header);
    }
    CHECK_VERIFIES(fn);
    const Analyses *a = analysis_need(fn, AN_RDEFS | AN_DEFUSE);
    bool right = true;
    CHECK(a->rdefs.by_heaps);
    CHECK_EQ(a->rdefs.nphis, DEPTH - 1);
    for (BlockId header = 2; header <= DEPTH; header++)
        right &= phi_of(a, value_in(fn, a, first + header, 2 * DEPTH + 1 - header))->block == header;
    CHECK(right);
    fixture_close(&f);
}

// Cases with a register and a diamond each.
TEST(rdefs_diamonds_in_cases)
{
    enum { CASES = MANY / 5 };
    Shape s;
    shape_open(&s, 3 * CASES + 2);
    BlockId join = 3 * CASES + 2;
    shape_switch(&s, 1, 2, CASES);
    for (BlockId b = 2; b < 2 + CASES; b++) {
        shape_branch(&s, b, CASES + b, 2 * CASES + b);
        emit_bra(s.fn, CASES + b, 2 * CASES + b);
        emit_bra(s.fn, 2 * CASES + b, join);
    }
    emit_ret(s.fn, join);
    RegId first = add_registers(s.fn, CASES);
    for (BlockId b = 2; b < 2 + CASES; b++) {
        set(s.fn, b, first + b - 2);
        set(s.fn, CASES + b, first + b - 2);
        add_one(s.fn, 2 * CASES + b, first + b - 2);
    }
    const Analyses *a = shape_need(&s, AN_RDEFS | AN_DEFUSE);
    CHECK_EQ(a->rdefs.nphis, CASES);
    CHECK_EQ(a->rdefs.ninputs, 2 * CASES);
    shape_close(&s);
}

void test_rdefs(void)
{
    RUN(rdefs_random);
    RUN(rdefs_random_nests);
    RUN(rdefs_long_chain);
    RUN(rdefs_wide_join);
    RUN(rdefs_switch_in_loop);
    RUN(rdefs_nested_loops);
    RUN(rdefs_counters_of_nested_loops);
    RUN(rdefs_diamonds_in_cases);
}
