// SPDX-License-Identifier: MIT
// Tests the builder: positions of instructions and blocks, lists, and counters.
#include <stdio.h>

#include "tests/unit/unit.h"

// Returns the instructions of a block as text, "3 1 2".
static const char *order(const Fn *fn, BlockId b, char text[static 200])
{
    size_t n = 0;
    text[0] = 0;
    FOR_INSTRS(fn, b, id)
        n += (size_t)snprintf(text + n, 200 - n, n ? " %u" : "%u", id);
    return text;
}

static InstrId emit_mov(Fn *fn, BlockId b, RegId to, RegId from)
{
    return emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, to), use(fn, from)));
}

TEST(build_append)
{
    Fixture f;
    char text[200];
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    BlockId b = add_block(fn, 0);
    CHECK_EQ(ir_terminator(fn, b), 0);
    CHECK_EQ(emit_mov(fn, b, r, r), 1);
    InstrId add =
        emit(fn, b, "add.u32", "%,%,%", IF_GUARDED, OPS(def(fn, r), use(fn, r), op_const(fn, 5, W32), use(fn, p)));
    InstrId ret = emit_ret(fn, b);
    CHECK_Z(order(fn, b, text), "1 2 3");
    CHECK_EQ(ir_terminator(fn, b), ret);
    CHECK_EQ(fn->ninstrs, 3);
    const Instr *i = ir_instr(fn, add);
    CHECK_EQ(i->block, b);
    CHECK_EQ(i->ndef, 1);
    CHECK_EQ(i->nops, 4);
    CHECK_EQ(ir_nuse(i), 2);
    CHECK_EQ(ir_ntied(i), 0);
    CHECK(ir_guarded(i));
    CHECK(op_same(*ir_def(fn, i, 0), def(fn, r)));
    CHECK(op_same(*ir_use(fn, i, 0), use(fn, r)));
    CHECK(op_same(*ir_use(fn, i, 1), op_const(fn, 5, W32)));
    CHECK(op_same(*ir_guard(fn, i), use(fn, p)));
    CHECK_EQ(ir_instr(fn, ret)->nops, 0);
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

// Operands may lie in the function's own run.
TEST(build_append_run)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId b = add_block(fn, 0);
    CHECK_EQ(ops_new(fn, 0), 0);
    for (uint32_t k = 0; k < 100; k++) {
        uint32_t run = ops_new(fn, 3);
        Operand *ops = ir_run(fn, run);
        ops[0] = def(fn, r);
        ops[1] = use(fn, r);
        ops[2] = op_const(fn, k, W32);
        const Instr *i = ir_instr(fn, ir_append_run(fn, b, desc_parse(fn->tables, "add.u32", "%,%,%"), 0, run, 3));
        CHECK(i->ndef == 1 && i->nops == 3 && ir_ops(fn, i) == ops);
    }
    emit_ret(fn, b);
    CHECK_EQ(fn->ninstrs, 101);
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

TEST(build_insert_and_remove)
{
    Fixture f;
    char text[200];
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId b = add_block(fn, 0);
    InstrId ret = emit_ret(fn, b);
    DescId mov = desc_parse(fn->tables, "mov.b32", "%,%");
    Operand ops[] = {def(fn, r), use(fn, r)};
    InstrId i2 = ir_insert_before(fn, ret, mov, 0, ops, 2);
    InstrId i3 = ir_insert_before(fn, i2, mov, 0, ops, 2);
    InstrId i4 = ir_insert_before(fn, ret, mov, 0, ops, 2);
    CHECK_Z(order(fn, b, text), "3 2 4 1");
    CHECK_EQ(ir_block(fn, b)->first, i3);
    CHECK_EQ(ir_block(fn, b)->last, ret);
    CHECK_EQ(fn->ninstrs, 4);
    CHECK_VERIFIES(fn);
    ir_remove(fn, i2);  // in the middle
    CHECK_Z(order(fn, b, text), "3 4 1");
    CHECK_VERIFIES(fn);
    ir_remove(fn, i3);  // the first
    CHECK_Z(order(fn, b, text), "4 1");
    CHECK_VERIFIES(fn);
    ir_remove(fn, ret);  // the last
    CHECK_Z(order(fn, b, text), "4");
    CHECK_EQ(ir_block(fn, b)->last, i4);
    emit_ret(fn, b);
    CHECK_VERIFIES(fn);
    ir_remove(fn, i4);
    ir_remove(fn, ir_terminator(fn, b));  // the only one
    CHECK_EQ(ir_block(fn, b)->first, 0);
    CHECK_EQ(ir_block(fn, b)->last, 0);
    CHECK_EQ(fn->ninstrs, 0);
    CHECK_EQ(ir_instr(fn, i4)->block, 0);
    emit_ret(fn, b);
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

TEST(build_tied_operands)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    fn->form = FORM_SSA;
    RegId a = reg_new(fn, RF_R, W32), c = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1), q = reg_new(fn, RF_P, W1);
    BlockId b = add_block(fn, 0);
    Operand ops[] = {def(fn, p), def(fn, q), use(fn, a), use(fn, c), use(fn, q), use(fn, p), use(fn, p)};
    InstrId id = emit(fn, b, "setp.lt.s32", "%|%,%,%", IF_GUARDED | IF_TIED, ops, 7);
    emit_ret(fn, b);
    const Instr *i = ir_instr(fn, id);
    CHECK_EQ(i->ndef, 2);
    CHECK_EQ(ir_ntied(i), 2);
    CHECK_EQ(ir_nuse(i), 2);
    CHECK(op_same(*ir_use(fn, i, 1), use(fn, c)));
    CHECK(op_same(*ir_tied(fn, i, 0), use(fn, q)));
    CHECK(op_same(*ir_tied(fn, i, 1), use(fn, p)));
    CHECK(op_same(*ir_guard(fn, i), use(fn, p)));
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

TEST(build_blocks)
{
    Fixture f;
    char text[200];
    fixture_open(&f);
    Fn *fn = f.fn;
    BlockId b1 = block_new(fn), b2 = block_new(fn), b3 = block_new(fn), b4 = block_new(fn);
    CHECK_EQ(fn->nblocks, 0);
    block_append(fn, b2);
    block_insert_after(fn, b1, 0);   // before all others
    block_insert_after(fn, b4, b2);  // at the end
    block_insert_after(fn, b3, b2);  // between
    CHECK_Z(layout(fn, text, sizeof text), "1 2 3 4");
    CHECK_EQ(fn->nblocks, 4);
    CHECK_EQ(fn->first, b1);
    CHECK_EQ(fn->last, b4);
    FOR_BLOCKS(fn, b)
        emit_ret(fn, b);
    CHECK_VERIFIES(fn);
    block_unlink(fn, b2);
    CHECK_Z(layout(fn, text, sizeof text), "1 3 4");
    CHECK_EQ(ir_block(fn, b2)->next | ir_block(fn, b2)->prev, 0);
    block_unlink(fn, b1);
    CHECK_EQ(fn->first, b3);
    block_unlink(fn, b4);
    CHECK_EQ(fn->last, b3);
    CHECK_Z(layout(fn, text, sizeof text), "3");
    block_append(fn, b1);  // appended again, at another place
    block_insert_after(fn, b4, b3);
    block_insert_after(fn, b2, 0);
    CHECK_Z(layout(fn, text, sizeof text), "2 3 4 1");
    CHECK_VERIFIES(fn);
    for (BlockId b; (b = fn->first);)
        block_unlink(fn, b);
    CHECK_EQ(fn->nblocks, 0);
    CHECK_EQ(fn->last, 0);
    fixture_close(&f);
}

typedef struct Visit {
    uint32_t n;
    BlockId at[20];
    BlockId from, to;  // replaces `from` by `to`
} Visit;

static void record_target(void *user, Operand *target)
{
    Visit *v = user;
    if (v->from && op_index(*target) == v->from)
        *target = op_block(v->to);
    if (v->n < ARRAY_LEN(v->at))
        v->at[v->n] = op_index(*target);
    v->n++;
}

TEST(build_successors)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    BlockId b[7];
    for (uint32_t k = 1; k < 7; k++)
        b[k] = add_block(fn, k);
    InstrId jump = emit_bra(fn, b[1], b[2]), branch = emit_branch(fn, b[2], p, b[3], b[4]);
    InstrId brx = emit_brx(fn, b[3], r, (BlockId[]){b[1], b[5], b[1], b[6]}, 4);
    InstrId ret = emit_ret(fn, b[4]);
    InstrId guarded_ret = emit(fn, b[5], "ret", "~", IF_GUARDED, OPS(op_block(b[6]), use(fn, p)));
    InstrId same = emit_branch(fn, b[6], p, b[4], b[4]);
    CHECK_VERIFIES(fn);
    Visit v = {0};
    ir_successors(fn, jump, record_target, &v);
    CHECK(v.n == 1 && v.at[0] == b[2]);
    v = (Visit){0};
    ir_successors(fn, branch, record_target, &v);
    CHECK(v.n == 2 && v.at[0] == b[3] && v.at[1] == b[4]);
    v = (Visit){0};
    ir_successors(fn, brx, record_target, &v);
    CHECK(v.n == 4 && v.at[0] == b[1] && v.at[1] == b[5] && v.at[2] == b[1] && v.at[3] == b[6]);
    v = (Visit){0};
    ir_successors(fn, ret, record_target, &v);
    CHECK_EQ(v.n, 0);
    ir_successors(fn, guarded_ret, record_target, &v);
    CHECK(v.n == 1 && v.at[0] == b[6]);
    v = (Visit){0};
    ir_successors(fn, same, record_target, &v);
    CHECK(v.n == 2 && v.at[0] == b[4] && v.at[1] == b[4]);
    // The visitor may change the targets.
    v = (Visit){.from = b[1], .to = b[2]};
    ir_successors(fn, brx, record_target, &v);
    v = (Visit){0};
    ir_successors(fn, brx, record_target, &v);
    CHECK(v.n == 4 && v.at[0] == b[2] && v.at[2] == b[2]);
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

TEST(build_lists)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    static Operand targets[5010];
    for (uint32_t k = 0; k < ARRAY_LEN(targets); k++)
        targets[k] = op_block(k + 1);
    uint32_t sizes[] = {1, 3, 5000, 17, 64};
    ListId lists[ARRAY_LEN(sizes)];
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        lists[k] = list_new(fn, targets + k, sizes[k]);
        CHECK_EQ(lists[k], k + 1);  // 0 is no list
    }
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        const List *l = ir_list(fn, lists[k]);
        CHECK_EQ(l->n, sizes[k]);
        CHECK(memcmp(ir_run(fn, l->ops), targets + k, sizes[k] * sizeof *targets) == 0);
    }
    fixture_close(&f);
}

TEST(build_registers_and_symbols)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId a = reg_new(fn, RF_R, W32), b = reg_new(fn, RF_R, W64), p = reg_new(fn, RF_P, W1),
          u = reg_new(fn, RF_UR, W32);
    CHECK_EQ(a, 1);
    CHECK_EQ(ir_reg(fn, b)->ordinal, 1);
    CHECK_EQ(ir_reg(fn, p)->ordinal, 0);
    CHECK_EQ(ir_reg(fn, b)->width, W64);
    CHECK_EQ(op_file(use(fn, u)), RF_UR);
    CHECK_EQ(op_index(def(fn, p)), p);
    CHECK(op_is_def(def(fn, p)) && !op_is_def(use(fn, p)));
    Name name = {str_intern_z(&fn->tables->strs, "x"), 3};
    SymId local = fn_sym(fn, name, SYM_VAR), global = module_sym(f.module, name, SYM_FUNC);
    CHECK(local & SYM_LOCAL);
    CHECK(!(global & SYM_LOCAL));
    CHECK_EQ(ir_sym(fn, local)->kind, SYM_VAR);
    CHECK_EQ(ir_sym(fn, global)->kind, SYM_FUNC);
    CHECK_EQ(op_index(op_sym(local)), local);
    fixture_close(&f);
}

/* -- Hash ----------------------------------------------------------------------------------------------- */

typedef struct Shape {
    Fixture f;
    Fn *fn;
    RegId r1, r2, p;
    BlockId b1, b2, b3;
    InstrId mov, add, branch, brx;
} Shape;

static void open_shape(Shape *s)
{
    fixture_open(&s->f);
    Fn *fn = s->fn = s->f.fn;
    s->r1 = reg_new(fn, RF_R, W32);
    s->r2 = reg_new(fn, RF_R, W32);
    s->p = reg_new(fn, RF_P, W1);
    s->b1 = add_block(fn, 0);
    s->b2 = add_block(fn, 1);
    s->b3 = add_block(fn, 2);
    s->mov = emit_mov(fn, s->b1, s->r1, s->r2);
    s->add = emit(fn, s->b1, "add.u32", "%,%,%", IF_GUARDED,
                  OPS(def(fn, s->r2), use(fn, s->r1), op_const(fn, 1, W32), use(fn, s->p)));
    s->branch = emit_branch(fn, s->b1, s->p, s->b2, s->b3);
    s->brx = emit_brx(fn, s->b2, s->r1, (BlockId[]){s->b1, s->b3}, 2);
    emit_ret(fn, s->b3);
}

TEST(hash_equal_for_equal)
{
    Shape a, b;
    open_shape(&a);
    open_shape(&b);
    CHECK(ir_hash(a.fn) == ir_hash(b.fn));
    uint64_t before = ir_hash(a.fn);
    ir_instr(a.fn, a.mov)->marks = 7;  // the hash ignores marks
    CHECK(ir_hash(a.fn) == before);
    InstrId extra =
        ir_insert_before(a.fn, a.add, ir_instr(a.fn, a.mov)->desc, 0, ir_ops(a.fn, ir_instr(a.fn, a.mov)), 2);
    CHECK(ir_hash(a.fn) != before);
    ir_remove(a.fn, extra);
    CHECK(ir_hash(a.fn) == before);
    fixture_close(&b.f);
    fixture_close(&a.f);
}

// Changes a field, expects another hash, restores the field and expects the first hash.
#define CHANGES_HASH(fn, place, value)     \
    do {                                   \
        uint64_t before_ = ir_hash(fn);    \
        __typeof__(place) kept_ = (place); \
        (place) = (value);                 \
        CHECK(ir_hash(fn) != before_);     \
        (place) = kept_;                   \
        CHECK(ir_hash(fn) == before_);     \
    } while (0)

TEST(hash_different_after_change)
{
    Shape s;
    open_shape(&s);
    Fn *fn = s.fn;
    Instr *mov = ir_instr(fn, s.mov), *add = ir_instr(fn, s.add), *branch = ir_instr(fn, s.branch);
    CHANGES_HASH(fn, ir_ops(fn, mov)[0], def(fn, s.r2));
    CHANGES_HASH(fn, ir_ops(fn, mov)[1], use(fn, s.r1));
    CHANGES_HASH(fn, ir_ops(fn, mov)[1].mods, OPM_NEG);
    CHANGES_HASH(fn, ir_ops(fn, add)[2], op_const(fn, 2, W32));
    CHANGES_HASH(fn, ir_ops(fn, add)[3].mods, OPM_NOT);
    CHANGES_HASH(fn, mov->desc, desc_parse(fn->tables, "mov.u32", "%,%"));
    CHANGES_HASH(fn, mov->line, 4);
    CHANGES_HASH(fn, mov->callseq, 1);
    CHANGES_HASH(fn, mov->flags, IF_PINNED);
    CHANGES_HASH(fn, ir_ops(fn, branch)[0], op_block(s.b3));
    CHANGES_HASH(fn, fn->form, FORM_SSA);
    // Order of instructions and of blocks.
    uint64_t before = ir_hash(fn);
    block_unlink(fn, s.b2);
    CHECK(ir_hash(fn) != before);
    block_append(fn, s.b2);
    CHECK(ir_hash(fn) != before);
    block_unlink(fn, s.b2);
    block_insert_after(fn, s.b2, s.b1);
    CHECK(ir_hash(fn) == before);
    ir_remove(fn, s.mov);
    CHECK(ir_hash(fn) != before);
    fixture_close(&s.f);
}

// The hash covers the targets of branch tables.
TEST(hash_covers_branch_tables)
{
    Shape s;
    open_shape(&s);
    Operand *targets = ir_run(s.fn, ir_list(s.fn, 1)->ops);
    CHANGES_HASH(s.fn, targets[0], op_block(s.b2));
    CHANGES_HASH(s.fn, targets[1], op_block(s.b1));
    fixture_close(&s.f);
}

void test_builder(void)
{
    RUN(build_append);
    RUN(build_append_run);
    RUN(build_insert_and_remove);
    RUN(build_tied_operands);
    RUN(build_blocks);
    RUN(build_successors);
    RUN(build_lists);
    RUN(build_registers_and_symbols);
    RUN(hash_equal_for_equal);
    RUN(hash_different_after_change);
    RUN(hash_covers_branch_tables);
}
