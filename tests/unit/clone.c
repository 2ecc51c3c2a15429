// SPDX-License-Identifier: MIT
// Tests fn_clone(), fn_compact(), fn_renumber(), and the printed numbers of registers and blocks.
#include "ir/text/text.h"
#include "tests/unit/unit.h"

static const char *printed(const Fn *fn, char *buf, size_t cap)
{
    Sink sink = {0};
    char chunk[256];
    Out out = {.write = sink_write, .user = &sink, .buf = chunk, .cap = sizeof chunk};
    text_write_fn(fn, &out);
    out_flush(&out);
    size_t n = MIN(sink.n, cap - 1);
    memcpy(buf, sink.text, n);
    buf[n] = 0;
    sink_free(&sink);
    return buf;
}

// Builds a function with all objects that have separate memory: an initialized variable, a table, a prototype, tables.
static void build(Fixture *f)
{
    Fn *fn = f->fn;
    module_freeze(f->module);
    SymId var = fn_sym(fn, (Name){str_intern_z(&fn->tables->strs, "v"), NO_NUMBER}, SYM_VAR);
    Init *init = NEW(&fn->arena, Init);
    *init = (Init){.bytes = arena_zalloc(&fn->arena, 4), .size = 4, .nrelocs = 0};
    init->bytes[0] = 7;
    *ir_sym(fn, var) = (Sym){.name = ir_sym(fn, var)->name,
                             .kind = SYM_VAR,
                             .space = SP_GLOBAL,
                             .type = TY_B32,
                             .align = 4,
                             .count = 1,
                             .size = 4,
                             .init = init};
    SymId proto = fn_sym(fn, (Name){str_intern_z(&fn->tables->strs, "p"), NO_NUMBER}, SYM_PROTO);
    ir_sym(fn, proto)->sig = NEW(&fn->arena, Sig);
    Directive d = {.text = str_intern_z(&fn->tables->strs, ".maxntid"), .n = 1, .value = {32}};
    VEC_PUSH(&fn->arena, &fn->directives, d);
    RegId p = reg_new(fn, RF_P, W1), r = reg_new(fn, RF_R, W32);
    BlockId a = add_block(fn, 0), b = add_block(fn, 1), c = add_block(fn, 2);
    emit(fn, a, "mov.b32", "%,%", 0, OPS(def(fn, r), op_const(fn, 123456, W32)));
    emit(fn, a, "setp.eq.s32", "%,%,%", 0, OPS(def(fn, p), use(fn, r), op_const(fn, 5, W32)));
    emit_branch(fn, a, p, c, b);
    emit_brx(fn, b, r, (BlockId[]){b, c}, 2);
    emit_ret(fn, c);
    CHECK_VERIFIES(fn);
}

TEST(clone_is_equal)
{
    Fixture f;
    char a[2000], b[2000];
    fixture_open(&f);
    build(&f);
    Fn *clone = fn_clone(f.fn);
    CHECK_VERIFIES(clone);
    CHECK(ir_hash(clone) == ir_hash(f.fn));
    CHECK_Z(printed(clone, a, sizeof a), printed(f.fn, b, sizeof b));
    CHECK(clone->arena.chunks != f.fn->arena.chunks);
    fn_free(clone);
    fixture_close(&f);
}

// The clone shares no memory with the original: freeing or changing one does not affect the other.
TEST(clone_shares_nothing)
{
    Fixture f;
    char before[2000], after[2000];
    fixture_open(&f);
    build(&f);
    Fn *clone = fn_clone(f.fn);
    printed(clone, before, sizeof before);
    Fn *fn = f.fn;
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (ir_sym(fn, k | SYM_LOCAL)->init)
            ir_sym(fn, k | SYM_LOCAL)->init->bytes[0] = 99;
    fn->directives.at[0].value[0] = 64;
    ir_run(fn, ir_list(fn, 1)->ops)[0] = op_block(3);
    ir_remove(fn, ir_block(fn, fn->first)->first);
    CHECK_Z(printed(clone, after, sizeof after), before);
    fn_free(fn);
    f.module->fns.at[0] = clone;
    CHECK_Z(printed(clone, after, sizeof after), before);
    // The clone can grow: its tables continue those of the original.
    ConstId id = const_intern(clone->tables, 123456, W32);
    CHECK_EQ(tab_const(clone->tables, id).bits, 123456);
    emit(clone, clone->first, "sub.s32", "%,%,%", 0, OPS(def(clone, 2), use(clone, 2), op_imm(id)));
    fixture_close(&f);
}

static void add_sums(Fn *fn, BlockId b, RegId r, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        emit(fn, b, "add.s32", "%,%,%", 0, OPS(def(fn, r), use(fn, r), op_const(fn, k, W32)));
}

TEST(clone_of_many)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    BlockId b = add_block(fn, 0);
    RegId r = reg_new(fn, RF_R, W32);
    add_sums(fn, b, r, 5000);
    emit_ret(fn, b);
    Fn *clone = fn_clone(fn);
    CHECK(ir_hash(clone) == ir_hash(fn));
    // The clone grows like the original.
    for (uint32_t k = 0; k < 5000; k++)
        ir_insert_before(clone, clone->first ? ir_block(clone, clone->first)->first : 0,
                         desc_parse(clone->tables, "mov.b32", "%,%"), 0, OPS(def(clone, r), op_const(clone, k, W32)));
    CHECK_VERIFIES(clone);
    CHECK_EQ(clone->ninstrs, 10001);
    CHECK_EQ(fn->ninstrs, 5001);
    fn_free(clone);
    fixture_close(&f);
}

// Checks that the text stays, that ids ascend in layout order without gaps, and that source positions stay.
static void check_compacted(Fn *fn)
{
    char before[2000], after[2000];
    uint64_t hash = ir_hash(fn);
    printed(fn, before, sizeof before);
    fn_compact(fn);
    CHECK_Z(printed(fn, after, sizeof after), before);
    CHECK(ir_hash(fn) == hash);
    CHECK_EQ(fn->instrs.n, fn->ninstrs + 1);
    InstrId n = 0;
    uint32_t run = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            CHECK_EQ(id, ++n);
            CHECK(!ir_instr(fn, id)->nops || ir_instr(fn, id)->ops > run);
            run = MAX(run, ir_instr(fn, id)->ops);
        }
    }
    CHECK_VERIFIES(fn);
}

TEST(compact_keeps_all)
{
    Fixture f;
    fixture_open(&f);
    build(&f);
    Fn *fn = f.fn;
    InstrId first = ir_block(fn, fn->first)->first, second = ir_instr(fn, first)->next;
    InstrId added = ir_insert_before(fn, second, desc_parse(fn->tables, "mov.b32", "%,%"), 0,
                                     OPS(def(fn, 2), op_const(fn, 8, W32)));
    fn_note_where(fn, second, 40);
    fn_note_where(fn, added, 30);
    ir_remove(fn, first);
    check_compacted(fn);
    CHECK_EQ(fn_where(fn, 1), 30);
    CHECK_EQ(fn_where(fn, 2), 40);
    CHECK_EQ(fn_where(fn, 3), SIZE_MAX);
    check_compacted(fn);
    fixture_close(&f);
}

// Tables that shrank by several segments grow again, in the function and in a clone without shared memory.
TEST(compact_of_many)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    BlockId b = add_block(fn, 0);
    RegId r = reg_new(fn, RF_R, W32);
    add_sums(fn, b, r, 5000);
    emit_ret(fn, b);
    for (uint32_t k = 0; k < 4990; k++)
        ir_remove(fn, ir_block(fn, b)->first);
    size_t before = fn->code.size;
    check_compacted(fn);
    CHECK(fn->code.size < before / 4);
    Fn *clone = fn_clone(fn);
    for (uint32_t k = 0; k < 3000; k++) {
        emit(fn, b, "add.s32", "%,%,%", 0, OPS(def(fn, r), use(fn, r), op_const(fn, k, W32)));
        emit(clone, b, "sub.s32", "%,%,%", 0, OPS(def(clone, r), use(clone, r), op_const(clone, 7, W32)));
    }
    uint32_t n = 0, wrong = 0;
    FOR_INSTRS(fn, b, id) {
        Operand o = *ir_use(fn, ir_instr(fn, id), ir_nuse(ir_instr(fn, id)) - 1);
        if (n++ > 10)
            wrong += tab_const(fn->tables, op_index(o)).bits != n - 12;
    }
    CHECK_EQ(n, 11 + 3000);
    CHECK_EQ(wrong, 0);
    fn_free(clone);
    fixture_close(&f);
}

TEST(renumber_by_appearance)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId unused = reg_new(fn, RF_R, W32), a = reg_new(fn, RF_R, W32), b = reg_new(fn, RF_R, W64);
    RegId p = reg_new(fn, RF_P, W1), q = reg_new(fn, RF_P, W1);
    BlockId first = add_block(fn, 0), second = add_block(fn, 5);
    block_unlink(fn, first);
    block_append(fn, first);
    ir_block(fn, first)->source = 9;
    emit(fn, second, "mov.b64", "%,%", 0, OPS(def(fn, b), op_const(fn, 1, W64)));
    emit(fn, second, "mov.b32", "%,%", IF_GUARDED, OPS(def(fn, a), op_const(fn, 1, W32), use(fn, q)));
    emit_bra(fn, second, first);
    emit(fn, first, "setp.eq.s32", "%,%,%", 0, OPS(def(fn, p), use(fn, a), op_const(fn, 5, W32)));
    emit_ret(fn, first);
    fn_renumber(fn);
    CHECK_EQ(ir_reg(fn, b)->ordinal, 0);
    CHECK_EQ(ir_reg(fn, a)->ordinal, 1);
    CHECK_EQ(ir_reg(fn, unused)->ordinal, 2);
    CHECK_EQ(ir_reg(fn, q)->ordinal, 0);  // the guard is printed first
    CHECK_EQ(ir_reg(fn, p)->ordinal, 1);
    CHECK_EQ(ir_block(fn, second)->ordinal, 0);
    CHECK_EQ(ir_block(fn, first)->ordinal, 1);
    CHECK_EQ(ir_block(fn, second)->source, 0);
    CHECK_EQ(ir_block(fn, first)->source, 1);
    CHECK_EQ(ir_reg(fn, reg_new(fn, RF_R, W32))->ordinal, 3);
    CHECK_EQ(ir_block(fn, block_new(fn))->ordinal, 2);
    fixture_close(&f);
}

// Source positions stay if the layout order differs from the source order.
TEST(renumber_keeps_source)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    BlockId a = add_block(fn, 3), b = add_block(fn, 1);
    emit_bra(fn, a, b);
    emit_ret(fn, b);
    fn_renumber(fn);
    CHECK_EQ(ir_block(fn, a)->source, 3);
    CHECK_EQ(ir_block(fn, b)->source, 1);
    fixture_close(&f);
}

TEST(hash_sees_what_prints)
{
    Fixture f;
    fixture_open(&f);
    build(&f);
    Fn *fn = f.fn;
    uint64_t h = ir_hash(fn);
    InstrId first = ir_block(fn, fn->first)->first;
#define CHANGES(place, value)    \
    do {                         \
        uint32_t old_ = (place); \
        (place) = (value);       \
        CHECK(ir_hash(fn) != h); \
        (place) = old_;          \
        CHECK(ir_hash(fn) == h); \
    } while (0)
    CHANGES(ir_instr(fn, first)->line, 1);
    CHANGES(ir_instr(fn, first)->callseq, 3);
    CHANGES(ir_ops(fn, ir_instr(fn, first))[1].mods, OPM_F32);
    CHANGES(ir_block(fn, fn->last)->source, 77);
    CHANGES(ir_reg(fn, 1)->flags, REG_PINNED);
    CHANGES(ir_sym(fn, SYM_LOCAL | 1)->align, 16);
    CHANGES(ir_sym(fn, SYM_LOCAL | 1)->init->bytes[3], 1);
    CHANGES(ir_run(fn, ir_list(fn, 1)->ops)[1].word, op_block(1).word);
    CHANGES(fn->form, FORM_SSA);
#undef CHANGES
    ir_instr(fn, first)->marks = 1;  // marks do not affect the computation
    CHECK(ir_hash(fn) == h);
    reg_new(fn, RF_R, W32);  // nor does an unused register
    CHECK(ir_hash(fn) == h);
    fixture_close(&f);
}

void test_clone(void)
{
    RUN(clone_is_equal);
    RUN(clone_shares_nothing);
    RUN(clone_of_many);
    RUN(compact_keeps_all);
    RUN(compact_of_many);
    RUN(renumber_by_appearance);
    RUN(renumber_keeps_source);
    RUN(hash_sees_what_prints);
}
