// SPDX-License-Identifier: MIT
// Tests canonical descriptors: mnemonics that compute the same, and mnemonics that do not.
#include "tests/unit/unit.h"

typedef struct Pair {
    const char *shape, *first, *second;
    bool equal;
} Pair;

static const Pair pairs[] = {
    // Moves and selections: any type of the width.
    {"%,%", "mov.b32", "mov.f32", true},
    {"%,%", "mov.b32", "mov.u32", true},
    {"%,%", "mov.s64", "mov.f64", true},
    {"%,%", "mov.b32", "mov.b64", false},
    {"%,%", "mov.b16", "mov.pred", false},
    {"{%,%},{%,%}", "mov.v2.u32", "mov.v2.f32", true},
    {"%,%,%,%", "selp.b32", "selp.f32", true},
    {"%,%,%,%", "selp.u16", "selp.u32", false},
    {"%,%,%,%", "slct.u32.s32", "slct.u32.f32", false},
    // Wrapping sums and products.
    {"%,%,%", "add.s32", "add.u32", true},
    {"%,%,%", "add.s16", "add.u16", true},
    {"%,%,%", "add.s64", "add.u64", true},
    {"%,%,%", "add.u32", "add.u64", false},
    {"%,%,%", "add.s32", "add.sat.s32", false},
    {"%,%,%", "add.f32", "add.rn.f32", false},
    {"%,%,%", "add.rn.f32", "add.rz.f32", false},
    {"%,%,%", "add.f32", "add.ftz.f32", false},
    {"%,%,%", "add.f32", "add.sat.f32", false},
    {"%,%,%", "add.f32", "add.u32", false},
    {"%,%,%", "sub.s32", "sub.u32", true},
    {"%,%,%", "sub.s32", "sub.sat.s32", false},
    {"%,%,%", "sub.s32", "add.s32", false},
    {"%,%,%", "mul.lo.s32", "mul.lo.u32", true},
    {"%,%,%", "mul.hi.s32", "mul.hi.u32", false},
    {"%,%,%", "mul.wide.s32", "mul.wide.u32", false},
    {"%,%,%", "mul24.lo.s32", "mul24.lo.u32", false},
    {"%,%,%,%", "mad.lo.s32", "mad.lo.u32", true},
    {"%,%,%,%", "mad.hi.s32", "mad.hi.u32", false},
    {"%,%,%,%", "mad.wide.s32", "mad.wide.u32", false},
    {"%,%,%,%", "mad.hi.s32", "mad.hi.sat.s32", false},
    {"%,%,%,%", "fma.rn.f32", "fma.rz.f32", false},
    // Signs that matter.
    {"%,%,%", "min.s32", "min.u32", false},
    {"%,%,%", "max.s64", "max.u64", false},
    {"%,%,%", "div.s32", "div.u32", false},
    {"%,%,%", "rem.s32", "rem.u32", false},
    {"%,%", "abs.s32", "neg.s32", false},
    {"%,%,%", "shr.b32", "shr.u32", true},
    {"%,%,%", "shr.s32", "shr.u32", false},
    {"%,%,%", "shr.s32", "shr.b32", false},
    {"%,%,%", "shl.b32", "shl.b64", false},
    {"%,%,%,%", "bfe.s32", "bfe.u32", false},
    // Comparisons.
    {"%,%,%", "setp.eq.s32", "setp.eq.u32", true},
    {"%,%,%", "setp.eq.s32", "setp.eq.b32", true},
    {"%,%,%", "setp.ne.u64", "setp.ne.b64", true},
    {"%,%,%", "setp.eq.s32", "setp.ne.s32", false},
    {"%,%,%", "setp.eq.s32", "setp.eq.f32", false},
    {"%,%,%", "setp.eq.s32", "setp.eq.s64", false},
    {"%,%,%", "setp.lt.s32", "setp.lt.u32", false},
    {"%,%,%", "setp.lo.u32", "setp.lt.u32", true},
    {"%,%,%", "setp.ls.u32", "setp.le.u32", true},
    {"%,%,%", "setp.hi.u32", "setp.gt.u32", true},
    {"%,%,%", "setp.hs.u64", "setp.ge.u64", true},
    {"%,%,%", "setp.lo.u32", "setp.ls.u32", false},
    {"%,%,%", "setp.lt.f32", "setp.ltu.f32", false},
    {"%,%,%", "setp.eq.ftz.f32", "setp.eq.f32", false},
    {"%,%,%,%", "setp.eq.and.s32", "setp.eq.and.u32", true},
    {"%,%,%,%", "setp.eq.and.s32", "setp.eq.or.s32", false},
    {"%,%,%", "set.eq.u32.s32", "set.eq.s32.u32", true},
    {"%,%,%", "set.lt.u32.s32", "set.lt.s32.s32", true},
    {"%,%,%", "set.lt.u32.s32", "set.lt.u32.u32", false},
    {"%,%,%", "set.eq.u32.s32", "set.eq.f32.s32", false},
    // Conversions: truncations, and extensions by the source alone.
    {"%,%", "cvt.u16.u32", "cvt.s16.s32", true},
    {"%,%", "cvt.u32.u64", "cvt.s32.u64", true},
    {"%,%", "cvt.u32.s16", "cvt.s32.s16", true},
    {"%,%", "cvt.u32.s16", "cvt.u32.u16", false},
    {"%,%", "cvt.sat.u16.u32", "cvt.sat.s16.u32", false},
    {"%,%", "cvt.sat.u16.u32", "cvt.u16.u32", false},
    {"%,%", "cvt.rn.f32.s32", "cvt.rn.f32.u32", false},
    {"%,%", "cvt.rzi.s32.f32", "cvt.rzi.u32.f32", false},
    // Accesses: the type gives the width and the extension.
    {"%,[&]", "ld.global.b32", "ld.global.u32", true},
    {"%,[&]", "ld.global.b32", "ld.global.f32", true},
    {"%,[&]", "ld.global.b32", "ld.global.s32", true},
    {"%,[&]", "ld.global.b32", "ld.weak.global.b32", true},
    {"%,[&]", "ld.shared.b32", "ld.shared::cta.b32", true},
    {"%,[&]", "ld.global.b32", "ld.shared.b32", false},
    {"%,[&]", "ld.global.b32", "ld.b32", false},
    {"%,[&]", "ld.global.b32", "ld.global.b64", false},
    {"%,[&]", "ld.global.b32", "ld.volatile.global.b32", false},
    {"%,[&]", "ld.global.b32", "ld.global.nc.b32", false},
    {"%,[&]", "ld.global.b32", "ld.relaxed.gpu.global.b32", false},
    {"[&],%", "st.global.b32", "st.global.f32", true},
    {"[&],%", "st.global.b32", "st.release.gpu.global.b32", false},
    {"%,[&],%", "atom.global.add.s32", "atom.global.add.u32", false},
};

TEST(canonical_pairs)
{
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
        const Pair *p = &pairs[k];
        for (int exchanged = 0; exchanged < 2; exchanged++) {
            Fixture f;
            fixture_open(&f);
            unit_context("%s %s", p->first, p->second);
            Tables *t = f.fn->tables;
            DescId first = desc_parse(t, exchanged ? p->second : p->first, p->shape);
            DescId second = desc_parse(t, exchanged ? p->first : p->second, p->shape);
            CHECK(tab_desc(t, first)->op != OP_OPAQUE && tab_desc(t, second)->op != OP_OPAQUE);
            CHECK_EQ(tab_desc(t, first)->canonical, first);
            CHECK_EQ(tab_desc(t, second)->canonical, p->equal ? first : second);
            fixture_close(&f);
        }
    }
    unit_context("%s", "");
}

// Returns the descriptor that stands for the value of an instruction with a result of this width.
static DescId value_of_width(Fixture *f, BlockId b, const char *mnemonic, Width width)
{
    RegId to = reg_new(f->fn, RF_R, width), from = reg_new(f->fn, RF_R, W64);
    bool load = mnemonic[0] == 'l';
    Operand ops[] = {def(f->fn, to), use(f->fn, from), op_const(f->fn, 0, W64)};
    return desc_value(f->fn, ir_instr(f->fn, emit(f->fn, b, mnemonic, load ? "%,[&]" : "%,%", 0, ops, load ? 3 : 2)));
}

// The result register may be wider than the type, and then the sign matters.
TEST(canonical_widths)
{
    static const struct {
        const char *first, *second;
        Width width;
        bool equal;
    } rows[] = {
        {"ld.global.u32", "ld.global.s32", W32, true},  {"ld.global.u32", "ld.global.s32", W64, false},
        {"ld.global.b32", "ld.global.f32", W32, true},  {"ld.global.u8", "ld.global.s8", W16, false},
        {"ld.global.u8", "ld.global.s8", W32, false},   {"ld.global.u16", "ld.global.s16", W16, true},
        {"ld.global.u16", "ld.global.s16", W32, false}, {"cvt.u16.u64", "cvt.s16.u64", W16, true},
        {"cvt.u16.u64", "cvt.s16.u64", W32, false},     {"cvt.u8.u64", "cvt.s8.u64", W32, false},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (int exchanged = 0; exchanged < 2; exchanged++) {
            Fixture f;
            fixture_open(&f);
            BlockId b = add_block(f.fn, 0);
            unit_context("%s %s", rows[k].first, rows[k].second);
            DescId first = value_of_width(&f, b, exchanged ? rows[k].second : rows[k].first, rows[k].width);
            DescId second = value_of_width(&f, b, exchanged ? rows[k].first : rows[k].second, rows[k].width);
            CHECK_EQ(first == second, rows[k].equal);
            fixture_close(&f);
        }
    unit_context("%s", "");
}

// A function's own tables continue those of the module.
TEST(canonical_of_parent)
{
    Fixture f;
    fixture_open(&f);
    DescId add = desc_parse(f.fn->tables, "add.s32", "%,%,%");
    module_freeze(f.module);
    fn_own_tables(f.fn);
    DescId same = desc_parse(f.fn->tables, "add.u32", "%,%,%"), other = desc_parse(f.fn->tables, "sub.s32", "%,%,%");
    CHECK_EQ(tab_desc(f.fn->tables, same)->canonical, add);
    CHECK(same != add);
    CHECK_EQ(tab_desc(f.fn->tables, other)->canonical, other);
    CHECK_EQ(tab_desc(f.fn->tables, desc_parse(f.fn->tables, "sub.u32", "%,%,%"))->canonical, other);
    fixture_close(&f);
}

void test_canonical(void)
{
    RUN(canonical_pairs);
    RUN(canonical_widths);
    RUN(canonical_of_parent);
}
