// SPDX-License-Identifier: MIT
// Tests the single definitions of registers: the analysis, and their update by insertion and removal.
#include "ir/rewrite/rewrite.h"
#include "tests/unit/unit.h"

enum { MANY = 1000 };

static void check_kept(const Fn *fn, const char *expected, int line)
{
    char why[200];
    analysis_check(fn, AN_DEF, why);
    unit_check_text(why, SIZE_MAX, expected, __FILE__, line);
}
#define KEPT() check_kept(fn, "", __LINE__)
#define STALE(expected) check_kept(fn, (expected), __LINE__)

static RegId new_reg(Fn *fn, uint32_t flags)
{
    RegId r = reg_new(fn, RF_R, W32);
    ir_reg(fn, r)->flags |= flags;
    return r;
}

static Operand one(Fn *fn) { return op_const(fn, 1, W32); }

static InstrId emit_one(Fn *fn, BlockId b, RegId r)
{
    return emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, r), one(fn)));
}

static InstrId insert_one(Fn *fn, InstrId before, RegId r)
{
    Operand ops[] = {def(fn, r), one(fn)};
    return ir_insert_before(fn, before, desc_parse(fn->tables, "mov.b32", "%,%"), 0, ops, 2);
}

TEST(def_multi)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId p = reg_new(fn, RF_P, W1), single = new_reg(fn, 0), twice = new_reg(fn, 0), on_one_way = new_reg(fn, 0);
    RegId guarded = new_reg(fn, 0), pinned = new_reg(fn, REG_PINNED), unwritten = new_reg(fn, 0),
          unused = new_reg(fn, 0);
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1), b3 = add_block(fn, 2);
    InstrId id = emit_one(fn, b1, single);
    emit_one(fn, b1, twice);
    emit_one(fn, b1, twice);
    emit_one(fn, b1, pinned);
    emit(fn, b1, "mov.b32", "%,%", IF_GUARDED, OPS(def(fn, guarded), one(fn), use(fn, p)));
    emit_branch(fn, b1, p, b2, b3);
    emit_one(fn, b2, on_one_way);
    emit_bra(fn, b2, b3);
    emit(fn, b3, "add.s32", "%,%,%", 0, OPS(def(fn, pinned), use(fn, on_one_way), use(fn, single)));
    InstrId ret = emit_ret(fn, b3);
    emit(fn, b3, "add.s32", "%,%,%", 0, OPS(def(fn, pinned), use(fn, unwritten), use(fn, guarded)));
    const Analyses *a = analysis_need(fn, AN_DEF);
    CHECK_EQ(def_of(a, single), id);
    CHECK(!def_is_joined(a, single) && !def_is_outside(a, single));
    const RegId joined[] = {twice, on_one_way, guarded, unwritten};
    for (size_t k = 0; k < ARRAY_LEN(joined); k++)
        CHECK(def_is_joined(a, joined[k]) && !def_of(a, joined[k]));
    CHECK(def_is_outside(a, pinned) && !def_of(a, pinned) && !def_is_joined(a, pinned));
    CHECK(!def_of(a, unused) && !def_is_joined(a, unused) && !def_is_outside(a, unused));
    // New registers have definitions; a register with a second definition has no single one.
    RegId fresh = new_reg(fn, 0);
    InstrId made = insert_one(fn, ret, fresh);
    CHECK_EQ(def_of(a, fresh), made);
    insert_one(fn, ret, single);
    CHECK_EQ(def_of(a, single), 0);
    analysis_drop(fn, AN_FLOW | AN_DEF);
    CHECK(!(fn->analyses->valid & AN_DEF));
    CHECK(!fn->defs);
    fixture_close(&f);
}

TEST(def_edits)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    fn->form = FORM_SSA;
    RegId r = new_reg(fn, 0), s = new_reg(fn, 0), pinned = new_reg(fn, REG_PINNED);
    BlockId b = add_block(fn, 0);
    InstrId first = emit_one(fn, b, r);
    emit(fn, b, "ld.global.v2.u32", "{%,%},[&]", 0,
         OPS(def(fn, s), def(fn, pinned), op_const(fn, 0, W64), op_const(fn, 0, W64)));
    InstrId load = ir_instr(fn, first)->next, ret = emit_ret(fn, b);
    const Analyses *a = analysis_need(fn, AN_DEF);
    CHECK_EQ(def_of(a, s), load);
    for (uint32_t k = 0; k < MANY; k++) {
        RegId fresh = new_reg(fn, k % 7 ? 0 : REG_PINNED);
        InstrId id = insert_one(fn, ret, fresh);
        CHECK_EQ(def_of(a, fresh), k % 7 ? id : 0);
        if (k % 5 == 0)
            ir_remove(fn, id);
        CHECK(def_of(a, fresh) == (k % 7 && k % 5 ? id : 0));
    }
    KEPT();
    // The order of insertion and removal is irrelevant when a definition replaces another one.
    InstrId second = insert_one(fn, first, r);
    ir_remove(fn, first);
    CHECK_EQ(def_of(a, r), second);
    instr_replace_by_access_move(fn, load, &(AccessMove){.dst = use(fn, s), .src = use(fn, r), .bytes = 4});
    CHECK_EQ(def_of(a, s), load);
    KEPT();
    analysis_drop(fn, AN_FLOW | AN_DEF);
    CHECK(fn->analyses->valid & AN_DEF);
    *ir_def(fn, ir_instr(fn, second), 0) = op_def(op_none());
    STALE("DEF was kept but is out of date: R0 has a different definition");
    def_table_forget(fn, second, def(fn, r));
    KEPT();
    fixture_close(&f);
}

TEST(def_sink)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    fn->form = FORM_SSA;
    RegId r = new_reg(fn, 0), s = new_reg(fn, 0), p = reg_new(fn, RF_P, W1);
    BlockId b = add_block(fn, 0);
    InstrId load =
        emit(fn, b, "ld.global.v2.u32", "{%,%},[&]", IF_GUARDED | IF_TIED,
             OPS(def(fn, r), def(fn, s), op_const(fn, 0, W64), op_const(fn, 0, W64), one(fn), one(fn), use(fn, p)));
    emit_ret(fn, b);
    const Analyses *a = analysis_need(fn, AN_DEF);
    remove_definition(fn, load, 0);
    CHECK(!def_of(a, r) && def_of(a, s) == load);
    CHECK_EQ(op_kind(*ir_tied(fn, ir_instr(fn, load), 0)), K_NONE);
    KEPT();
    fixture_close(&f);
}

// A register with two definitions that reach a join, one with one definition, and one that stays unchanged.
TEST(def_ssa_repair)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    fn->form = FORM_SSA;
    RegId old = new_reg(fn, 0), sum = new_reg(fn, 0), p = reg_new(fn, RF_P, W1);
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1), b3 = add_block(fn, 2);
    InstrId id = emit_one(fn, b1, old);
    emit(fn, b1, "setp.eq.u32", "%,%,%", 0, OPS(def(fn, p), use(fn, old), one(fn)));
    emit_branch(fn, b1, p, b2, b3);
    emit_bra(fn, b2, b3);
    InstrId add = emit(fn, b3, "add.s32", "%,%,%", 0, OPS(def(fn, sum), use(fn, old), one(fn)));
    emit_ret(fn, b3);
    const Analyses *a = analysis_need(fn, AN_DEF);
    RegId joined = new_reg(fn, 0), single = new_reg(fn, 0);
    insert_one(fn, id, joined);
    insert_one(fn, ir_terminator(fn, b2), joined);
    InstrId other = insert_one(fn, id, single);
    ir_remove(fn, insert_one(fn, id, single));
    *ir_use(fn, ir_instr(fn, add), 0) = use(fn, joined);
    ssa_repair(fn, joined);
    CHECK(a->valid & AN_DEF);
    KEPT();
    CHECK_VERIFIES(fn);
    CHECK_EQ(def_of(a, old), id);
    CHECK_EQ(def_of(a, single), other);
    InstrId phi = def_of(a, op_index(*ir_use(fn, ir_instr(fn, add), 0)));
    CHECK_EQ(ir_desc(fn, ir_instr(fn, phi))->op, OP_PHI);
    fixture_close(&f);
}

void test_def(void)
{
    RUN(def_multi);
    RUN(def_edits);
    RUN(def_sink);
    RUN(def_ssa_repair);
}
