// SPDX-License-Identifier: MIT
// Tests truth tables: functions of three inputs for all tables, lop3 in folding for all tables, and networks of logic
// instructions, which OriFormLop3 maps. The evaluator computes the results of instructions. Inputs of straight-line
// code are moves of a special register; together they take all combinations of values.
#include "ir/eval/eval.h"
#include "ir/rewrite/rewrite.h"
#include "tests/unit/unit.h"

enum { INPUTS = 5, NETWORKS = 3000, NODES = 40, MANY_NODES = 10000, STORED = 256 };

// Inputs of straight-line code: the columns of a truth table.
static const uint32_t columns[INPUTS] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};

typedef struct Code {
    Fixture f;
    BlockId block;
    RegId base, input[INPUTS];
} Code;

static Operand read_of(Sreg sreg) { return op_make(K_SREG, 0, sreg); }

static void open_code(Code *c)
{
    fixture_open(&c->f);
    Module *m = c->f.module;
    Fn *fn = c->f.fn;
    m->version = str_intern_z(&m->tables.strs, "8.0");
    m->sm = str_intern_z(&m->tables.strs, "sm_80");
    c->block = add_block(fn, 0);
    c->base = reg_new(fn, RF_R, W64);
    emit(fn, c->block, "mov.b64", "%,%", 0, OPS(def(fn, c->base), read_of(SREG_CLOCK64)));
    for (int k = 0; k < INPUTS; k++) {
        c->input[k] = reg_new(fn, RF_R, W32);
        emit(fn, c->block, "mov.b32", "%,%", 0, OPS(def(fn, c->input[k]), read_of(SREG_CLOCK)));
    }
}

static void store(Code *c, RegId r)
{
    Fn *fn = c->f.fn;
    emit(fn, c->block, "st.global.b32", "[&],%", 0, OPS(use(fn, c->base), op_const(fn, 0, W64), use(fn, r)));
}

// Runs the code; sets `stored` to the stored values in order, and returns their number.
static uint32_t run_code(const Fn *fn, uint32_t stored[static STORED])
{
    Heap *heap = fn->arena.heap;
    Arena arena;
    EvalCache evals;
    uint32_t n = 0, inputs = 0;
    arena_init(&arena, heap);
    eval_cache_init(&evals, fn->tables, &arena);
    uint64_t *value = NEW_ARRAY(&arena, uint64_t, fn->regs.n);
    FOR_INSTRS(fn, fn->first, id) {
        const Instr *i = ir_instr(fn, id);
        Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX] = {0};
        for (uint32_t k = 0; k < ir_nuse(i) && k < EVAL_IN_MAX; k++) {
            Operand o = *ir_use(fn, i, k);
            if (op_is_reg(o))
                in[k].lo = value[op_index(o)];
            else if (op_kind(o) == K_IMM)
                in[k].lo = tab_const(fn->tables, op_index(o)).bits;
            else if (op_kind(o) == K_SREG && inputs < INPUTS && ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width == W32)
                in[k].lo = columns[inputs++];
        }
        if (ir_desc(fn, i)->op == OP_ST && n < STORED)
            stored[n++] = (uint32_t)in[2].lo;
        const Eval *e = i->ndef ? eval_cached(&evals, i->desc) : NULL;
        if (!e)
            continue;
        eval_run(e, in, out);
        value[op_index(*ir_def(fn, i, 0))] = out[0].lo & UINT32_MAX;
    }
    arena_free(&arena);
    return n;
}

// Returns the number of logic instructions, without moves.
static uint32_t logic_of(const Fn *fn)
{
    uint32_t n = 0;
    FOR_INSTRS(fn, fn->first, id)
        n += (ir_desc(fn, ir_instr(fn, id))->traits & TR_BITWISE) != 0;
    return n;
}

// Runs a phase and checks that the code stores the same values. Returns the number of logic instructions left.
static uint32_t run_phase(Code *c, const char *phase)
{
    static char why[500];
    uint32_t before[STORED], after[STORED];
    emit_ret(c->f.fn, c->block);
    uint32_t n = run_code(c->f.fn, before);
    module_freeze(c->f.module);
    c->f.ctx.options = (PhaseOptions){.level = 3, .named = phase, .contracts = true, .verify = VM_EACH};
    CHECK(phase_plan(&c->f.ctx, c->f.module, why));
    phase_run(&c->f.ctx, &c->f.module->fns.at[0]);
    const Fn *fn = c->f.module->fns.at[0];
    CHECK_EQ(run_code(fn, after), n);
    CHECK(memcmp(before, after, n * sizeof *before) == 0);
    return logic_of(fn);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

// Returns the function's value for three inputs: bit k of a table is the value for the inputs in the bits of k.
static bool at(uint32_t table, uint32_t a, uint32_t b, uint32_t c) { return table >> (4 * a + 2 * b + c) & 1; }

TEST(logic_reduces)
{
    Code c;
    open_code(&c);
    for (uint32_t table = 0; table < 256; table++) {
        unit_context("table %u", table);
        TruthTable f = {.n = 3, .table = (uint8_t)table};
        for (uint32_t k = 0; k < 3; k++)
            f.input[k] = use(c.f.fn, c.input[k]);
        TruthTable less = f;
        truth_reduce(&less);
        bool marked[3] = {false, false, false};
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t x = k >> 1, y = k & 1;
            marked[0] |= at(table, 0, x, y) != at(table, 1, x, y);
            marked[1] |= at(table, x, 0, y) != at(table, x, 1, y);
            marked[2] |= at(table, x, y, 0) != at(table, x, y, 1);
        }
        CHECK_EQ(less.n, marked[0] + marked[1] + marked[2]);
        CHECK_EQ(truth_table_over(&less, &f), table);
        TruthTable other = truth_complement(f);
        CHECK_EQ(other.table, table ^ 0xff);
        for (uint32_t k = 0, at_input = 0; k < 3; k++)
            if (marked[k])
                CHECK(op_same(less.input[at_input++], f.input[k]));
    }
    fixture_close(&c.f);
}

TEST(logic_inputs)
{
    Code c;
    open_code(&c);
    Fn *fn = c.f.fn;
    TruthTable mask = truth_of_operand(fn, op_const(fn, 0xff, W32)),
               rest = truth_of_operand(fn, op_const(fn, 0xffffff00, W32));
    CHECK(mask.n == 1 && rest.n == 1 && op_same(mask.input[0], rest.input[0]));
    CHECK(mask.table == 0xf0 && rest.table == 0x0f);
    TruthTable zero = truth_of_operand(fn, op_const(fn, 0, W32)),
               ones = truth_of_operand(fn, op_const(fn, UINT32_MAX, W32));
    CHECK(zero.n == 0 && zero.table == 0 && ones.n == 0 && ones.table == 0xff);
    TruthTable sum = mask;
    for (int k = 2; k >= 0; k--) {
        TruthTable one = truth_of_operand(fn, use(fn, c.input[k]));
        CHECK_EQ(truth_add_inputs(&sum, &one), k > 0);  // three and the constant are too many
        CHECK(truth_add_inputs(&sum, &rest));
    }
    CHECK(sum.n == 3 && op_index(sum.input[0]) == c.input[1] && op_index(sum.input[1]) == c.input[2]);
    CHECK(op_same(sum.input[2], mask.input[0]));
    fixture_close(&c.f);
}

// All tables of one to three inputs, the last of which may be a constant.
TEST(logic_becomes)
{
    for (uint32_t table = 0; table < 256; table++)
        for (uint32_t n = 0; n <= 3; n++)
            for (int constant = 0; constant < 2; constant++) {
                unit_context("table %u of %u inputs%s", table, n, constant ? ", a constant" : "");
                Code c;
                open_code(&c);
                Fn *fn = c.f.fn;
                TruthTable f = {.n = (uint8_t)n, .table = (uint8_t)table};
                for (uint32_t k = 0; k < n; k++)
                    f.input[k] = use(fn, c.input[k]);
                if (constant && n)
                    f.input[n - 1] = op_const(fn, 0x0f0ff055, W32);
                TruthTable less = f;
                truth_reduce(&less);
                bool depends = false;
                for (uint32_t k = n; k < 3; k++)  // depends on an input that it lacks
                    depends |= (table & truth_input[k]) >> (4 >> k) != (table & ~(uint32_t)truth_input[k] & 0xff);
                if (!depends && less.n == f.n) {
                    RegId r = reg_new(fn, RF_R, W32);
                    InstrId id = emit(fn, c.block, "mov.b32", "%,%", 0, OPS(def(fn, r), op_const(fn, 0, W32)));
                    store(&c, r);
                    truth_replace(fn, id, &f);
                    Opcode op = ir_desc(fn, ir_instr(fn, id))->op;
                    CHECK_EQ(op != OP_LOP3, truth_is_plain(fn, &f));
                    CHECK_EQ(op == OP_MOV, truth_is_move(&f));
                    emit_ret(fn, c.block);
                    CHECK_VERIFIES(fn);
                    uint32_t stored[STORED];
                    Value in[4] = {{0, 0}, {0, 0}, {0, 0}, {table, 0}};
                    for (uint32_t k = 0; k < n; k++)
                        in[k].lo = constant && k + 1 == n ? 0x0f0ff055 : columns[k];
                    CHECK_EQ(run_code(fn, stored), 1);
                    CHECK_EQ(stored[0], (uint32_t)eval_look_up(in[0].lo, in[1].lo, in[2].lo, (uint8_t)table));
                }
                fixture_close(&c.f);
            }
}

/* -- Folding -------------------------------------------------------------------------------------------- */

// All tables of these operands: letters are inputs, digits constants.
TEST(logic_folds)
{
    static const char *const operands[] = {"abc", "aab", "aba", "baa", "aaa", "0ab", "a0b", "ab0", "1ab", "a1b", "ab1",
                                           "ab2", "a2b", "2ab", "a23", "2a3", "32a", "a22", "a2a", "a01", "012", "232"};
    static const uint32_t constants[] = {0, UINT32_MAX, 0x00ffff0f, 0xff0000f0};
    for (size_t k = 0; k < ARRAY_LEN(operands); k++) {
        unit_context("lop3 of %s", operands[k]);
        Code c;
        open_code(&c);
        Fn *fn = c.f.fn;
        Operand in[3];
        for (int o = 0; o < 3; o++) {
            char letter = operands[k][o];
            in[o] = letter >= 'a' ? use(fn, c.input[letter - 'a']) : op_const(fn, constants[letter - '0'], W32);
        }
        for (uint32_t table = 0; table < 256; table++) {
            RegId r = reg_new(fn, RF_R, W32);
            emit(fn, c.block, "lop3.b32", "%,%,%,%,%", 0,
                 OPS(def(fn, r), in[0], in[1], in[2], op_const(fn, table, W32)));
            store(&c, r);
        }
        run_phase(&c, "OriFold");
        fixture_close(&c.f);
    }
}

/* -- Networks ------------------------------------------------------------------------------------------- */

// Maps random logic: operands are mostly recent values, and some results are stored. Five inputs take all combinations
// of values. Returns the number of logic instructions after the phase; `before` gets the number before it.
static uint32_t map_network(uint64_t *seed, uint32_t nodes, uint32_t near, uint32_t *before)
{
    static const char *const plain[] = {"and.b32", "or.b32", "xor.b32"};
    static RegId reg[INPUTS + MANY_NODES];
    Code c;
    open_code(&c);
    Fn *fn = c.f.fn;
    uint32_t n = INPUTS, stored = MAX(8, nodes / 100);
    memcpy(reg, c.input, sizeof c.input);
    for (uint32_t k = 0; k < nodes; k++, n++) {
        Operand in[3];
        for (int o = 0; o < 3; o++) {
            bool constant = unit_random(seed, 12) == 0, late = unit_random(seed, 3) > 0;
            uint32_t which = late ? n - 1 - unit_random(seed, MIN(n, near)) : unit_random(seed, n);
            uint32_t bits = unit_random(seed, 4) == 0 ? 0 - unit_random(seed, 2) : 0xff00u << unit_random(seed, 9);
            in[o] = constant ? op_const(fn, bits, W32) : use(fn, reg[which]);
        }
        uint32_t kind = unit_random(seed, 6);
        reg[n] = reg_new(fn, RF_R, W32);
        if (kind < 4)
            emit(fn, c.block, plain[kind % 3], "%,%,%", 0, OPS(def(fn, reg[n]), in[0], in[1]));
        else if (kind == 4)
            emit(fn, c.block, "not.b32", "%,%", 0, OPS(def(fn, reg[n]), in[0]));
        else
            emit(fn, c.block, "lop3.b32", "%,%,%,%,%", 0,
                 OPS(def(fn, reg[n]), in[0], in[1], in[2], op_const(fn, unit_random(seed, 256), W32)));
        if (k + 1 == nodes || unit_random(seed, stored) == 0)
            store(&c, reg[n]);
    }
    *before = logic_of(fn);
    uint32_t after = run_phase(&c, "OriFormLop3");
    fixture_close(&c.f);
    return after;
}

TEST(logic_maps_networks)
{
    uint64_t seed = 17;
    uint32_t saved = 0;
    for (int network = 0; network < NETWORKS; network++) {
        unit_context("network %d", network);
        uint32_t nodes = 1 + unit_random(&seed, NODES), near = 1 + unit_random(&seed, 12), before;
        uint32_t after = map_network(&seed, nodes, near, &before);
        CHECK(after <= before);
        saved += before - after;
    }
    unit_context("all");
    CHECK(saved > 5 * NETWORKS);
}

// A block that the phase processes in parts.
TEST(logic_maps_long_blocks)
{
    uint64_t seed = 18;
    uint32_t before, after = map_network(&seed, MANY_NODES, 12, &before);
    CHECK_EQ(before, MANY_NODES);
    CHECK(after < MANY_NODES / 2);
}

void test_logic(void)
{
    RUN(logic_reduces);
    RUN(logic_inputs);
    RUN(logic_becomes);
    RUN(logic_folds);
    RUN(logic_maps_networks);
    RUN(logic_maps_long_blocks);
}
