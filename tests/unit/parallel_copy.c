// SPDX-License-Identifier: MIT
// Tests parallel copies: the moves of random sets, executed in order, have the effect of simultaneous copies.
#include "phases/ssa/parallel_copy.h"

#include "tests/unit/unit.h"

enum { REGS = 9, ROUNDS = 3000 };

typedef struct Copies {
    Fixture f;
    BlockId block;
    RegId reg[REGS];
    RegId source[REGS];  // by index of the destination: the index of the register it takes, or REGS + a constant
    bool written[REGS];
} Copies;

static Operand source_of(const Copies *c, uint32_t k)
{
    return c->source[k] < REGS ? op_reg(c->f.fn, c->reg[c->source[k]]) : op_const(c->f.fn, 1000 + c->source[k], W32);
}

// Executes the moves of the block; each register starts with its own number.
static void execute(const Copies *c, uint64_t *value, uint32_t n)
{
    const Fn *fn = c->f.fn;
    for (uint32_t r = 0; r < n; r++)
        value[r] = r;
    FOR_INSTRS(fn, c->block, id) {
        const Instr *i = ir_instr(fn, id);
        if (ir_desc(fn, i)->op != OP_MOV)
            continue;
        Operand from = *ir_use(fn, i, 0);
        value[op_index(*ir_def(fn, i, 0))] =
            op_is_reg(from) ? value[op_index(from)] : tab_const(fn->tables, op_index(from)).bits;
    }
}

// Inserts the set of copies; returns the number of moves.
static uint32_t insert(Copies *c, ParallelCopy *p, InstrId before)
{
    uint32_t had = c->f.fn->ninstrs;
    for (uint32_t k = 0; k < REGS; k++)
        if (c->written[k])
            parallel_copy_add(p, c->reg[k], source_of(c, k));
    parallel_copy_insert(p, before);
    return c->f.fn->ninstrs - had;
}

static void check(Copies *c, uint32_t moves, uint32_t most)
{
    uint64_t value[REGS + 16];
    execute(c, value, REGS + 16);
    for (uint32_t k = 0; k < REGS; k++) {
        uint64_t expected = !c->written[k]        ? c->reg[k]
                            : c->source[k] < REGS ? c->reg[c->source[k]]
                                                  : 1000 + c->source[k];
        CHECK_EQ(value[c->reg[k]], expected);
    }
    CHECK(moves <= most);
}

static InstrId open_copies(Copies *c)
{
    *c = (Copies){0};
    fixture_open(&c->f);
    c->block = add_block(c->f.fn, 0);
    emit_ret(c->f.fn, c->block);
    for (uint32_t k = 0; k < REGS; k++)
        c->reg[k] = reg_new(c->f.fn, RF_R, W32);
    return ir_block(c->f.fn, c->block)->first;
}

static void check_random(uint64_t *seed)
{
    Copies c;
    InstrId ret = open_copies(&c);
    ParallelCopy p;
    parallel_copy_init(&p, c.f.fn, &c.f.ctx.arena);
    uint32_t copies = 0, share = 1 + unit_random(seed, 4);
    for (uint32_t k = 0; k < REGS; k++) {
        c.written[k] = unit_random(seed, 4) < share;
        c.source[k] = unit_random(seed, REGS + 1);
        copies += c.written[k] && c.source[k] != k;
    }
    // A cycle has at least two copies, and needs one additional move.
    uint32_t moves = insert(&c, &p, ret);
    check(&c, moves, copies + copies / 2);
    fixture_close(&c.f);
}

TEST(parallel_copies_random)
{
    uint64_t seed = 2009;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        unit_context("set %u", round);
        check_random(&seed);
    }
}

// A set leaves no state for the next one, which is its inverse.
TEST(parallel_copies_again)
{
    Copies c;
    InstrId ret = open_copies(&c);
    ParallelCopy p;
    parallel_copy_init(&p, c.f.fn, &c.f.ctx.arena);
    static const RegId forth[REGS] = {1, 2, 0, 4, 3, 5, 7, 8, 6}, back[REGS] = {2, 0, 1, 4, 3, 5, 8, 6, 7};
    for (uint32_t k = 0; k < REGS; k++) {
        c.written[k] = true;
        c.source[k] = forth[k];
    }
    CHECK_EQ(insert(&c, &p, ret), 11);  // 8 copies to other registers, 3 cycles
    for (uint32_t k = 0; k < REGS; k++)
        c.source[k] = back[k];
    insert(&c, &p, ret);
    for (uint32_t k = 0; k < REGS; k++)
        c.source[k] = k;
    check(&c, 0, 0);
    fixture_close(&c.f);
}

void test_parallel_copy(void)
{
    RUN(parallel_copies_random);
    RUN(parallel_copies_again);
}
