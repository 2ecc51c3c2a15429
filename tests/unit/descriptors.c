// SPDX-License-Identifier: MIT
// Tests descriptors: accepted operand syntax of mnemonics, and the resulting operands, traits and widths.
#include "tests/unit/unit.h"

#define REFUSED OPCODE_COUNT

static const struct {
    const char *mnemonic, *shape;
    Opcode op;  // REFUSED: operands that do not fit
    uint32_t ndef, nops;
    uint32_t has, lacks;  // traits
} rows[] = {
    // Moves: the syntax distinguishes the opcodes of one mnemonic.
    {"mov.u32", "%,%", OP_MOV, 1, 2, TR_PURE, TR_COMM | TR_EFFECT},
    {"mov.pred", "%,%", OP_MOV, 1, 2, TR_PURE, 0},
    {"mov.u64", "%,&", OP_ADDR, 1, 3, TR_PURE, 0},
    {"mov.b64", "%,{%,%}", OP_PACK, 1, 3, TR_PURE, 0},
    {"mov.b32", "%,{%,%,%,%}", OP_PACK, 1, 5, TR_PURE, 0},
    {"mov.b64", "{%,%},%", OP_UNPACK, 2, 3, TR_PURE, 0},
    {"mov.b32", "{%,%,%,%},%", OP_UNPACK, 4, 5, TR_PURE, 0},
    {"mov.b64", "%,{%,%,%}", REFUSED, 0, 0, 0, 0},
    {"mov.b16", "%,{%,%,%,%}", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "%,{%,%}", REFUSED, 0, 0, 0, 0},
    {"mov.v2.u32", "{%,%},{%,%}", OP_MOV_VEC, 2, 4, TR_PURE, 0},
    {"mov.v4.u32", "{%,%},{%,%}", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "%", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "%,%,%", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "%,%,", REFUSED, 0, 0, 0, 0},
    {"mov.u32", ",%,%", REFUSED, 0, 0, 0, 0},
    {"mov.u32", "%,[&]", REFUSED, 0, 0, 0, 0},
    {"selp.b32", "%,%,%,%", OP_SELP, 1, 4, TR_PURE, 0},
    {"selp.b32", "%,%,%", REFUSED, 0, 0, 0, 0},
    {"slct.f32.s32", "%,%,%,%", OP_SLCT, 1, 4, TR_PURE, 0},
    {"cvta.to.global.u64", "%,%", OP_CVTA_TO, 1, 2, TR_PURE, 0},
    {"cvta.global.u64", "%,&", OP_CVTA_ADDR, 1, 3, TR_PURE, 0},
    {"cvta.global.u64", "%,%", OP_CVTA, 1, 2, TR_PURE, 0},
    {"isspacep.shared", "%,%", OP_ISSPACEP, 1, 2, TR_PURE, 0},
    {"mapa.shared::cluster.u32", "%,%,%", OP_MAPA, 1, 3, TR_PURE, 0},
    {"mapa.shared::cluster.u64", "%,&,%", OP_MAPA_ADDR, 1, 4, TR_PURE, 0},
    {"mapa.u64", "%,%,%", OP_MAPA, 1, 3, TR_PURE, 0},
    {"mapa.u64", "%,%", REFUSED, 0, 0, 0, 0},
    {"getctarank.u64", "%,%", OP_CTARANK, 1, 2, TR_PURE, 0},
    {"getctarank.shared::cluster.u64", "%,&", OP_CTARANK_ADDR, 1, 3, TR_PURE, 0},
    {"barrier.cluster.arrive.relaxed.aligned", "", OP_CLUSTER_ARRIVE, 0, 0, TR_BARRIER | TR_CONV | TR_WRITE, TR_PURE},
    {"barrier.cluster.wait.acquire", "", OP_CLUSTER_WAIT, 0, 0, TR_BARRIER | TR_CONV | TR_WRITE, TR_PURE},
    // Arithmetic.
    {"add.u32", "%,%,%", OP_ADD, 1, 3, TR_PURE | TR_COMM | TR_ASSOC, TR_NOFOLD},
    {"add.u32", "%,%", REFUSED, 0, 0, 0, 0},
    {"add.u32", "%,%,%,%", REFUSED, 0, 0, 0, 0},
    {"sub.u32", "%,%,%", OP_SUB, 1, 3, TR_PURE, TR_COMM | TR_ASSOC},
    {"mul.wide.s32", "%,%,%", OP_MUL_WIDE, 1, 3, TR_PURE | TR_COMM, TR_ASSOC},
    {"mad.wide.s32", "%,%,%,%", OP_MAD_WIDE, 1, 4, TR_PURE, 0},
    {"add.cc.u32", "%,%,%", OP_ADD_CC, 2, 4, TR_PURE, 0},
    {"addc.u32", "%,%,%", OP_ADDC, 1, 4, TR_PURE, 0},
    {"addc.cc.u32", "%,%,%", OP_ADDC_CC, 2, 5, TR_PURE, 0},
    {"madc.lo.cc.u32", "%,%,%,%", OP_MADC_LO_CC, 2, 6, TR_PURE, 0},
    {"div.approx.f32", "%,%,%", OP_DIV, 1, 3, TR_PURE | TR_NOFOLD, 0},
    {"div.full.f32", "%,%,%", OP_DIV, 1, 3, TR_PURE | TR_NOFOLD, 0},
    {"div.rn.f32", "%,%,%", OP_DIV, 1, 3, TR_PURE, TR_NOFOLD},
    {"rcp.approx.f32", "%,%", OP_RCP, 1, 2, TR_NOFOLD, 0},
    {"min.f32", "%,%,%", OP_MIN, 1, 3, TR_PURE | TR_COMM, 0},
    {"min.f32", "%,%,%,%", OP_MIN3, 1, 4, TR_PURE, 0},
    {"min.s32", "%,%,%,%", REFUSED, 0, 0, 0, 0},
    {"bfe.u32", "%,%,%,%", OP_BFE, 1, 4, TR_PURE, 0},
    {"bfi.b32", "%,%,%,%,%", OP_BFI, 1, 5, TR_PURE, 0},
    {"popc.b64", "%,%", OP_POPC, 1, 2, TR_PURE, 0},
    {"dp4a.u32.s32", "%,%,%,%", OP_DP4A, 1, 4, TR_PURE, 0},
    {"cvt.rn.f32.s32", "%,%", OP_CVT, 1, 2, TR_PURE, 0},
    {"cvt.rn.f16x2.f32", "%,%,%", OP_CVT_PACK2, 1, 3, TR_PURE, 0},
    {"cvt.rn.f32.s32", "%,%,%", REFUSED, 0, 0, 0, 0},
    // Comparison and logic.
    {"setp.lt.s32", "%,%,%", OP_SETP, 1, 3, TR_PURE, 0},
    {"setp.lt.s32", "%|%,%,%", OP_SETP, 2, 4, TR_PURE, 0},
    {"setp.lt.and.s32", "%,%,%,%", OP_SETP, 1, 4, TR_PURE, 0},
    {"setp.lt.and.s32", "%|%,%,%,%", OP_SETP, 2, 5, TR_PURE, 0},
    {"setp.lt.and.s32", "%,%,%", REFUSED, 0, 0, 0, 0},  // the operand of the boolean is missing
    {"setp.lt.s32", "%,%,%,%", REFUSED, 0, 0, 0, 0},
    {"setp.lt.s32", "%|%|%,%,%", REFUSED, 0, 0, 0, 0},
    {"setp.lt.s32", "%|,%,%", REFUSED, 0, 0, 0, 0},
    {"set.lt.u32.f32", "%,%,%", OP_SET, 1, 3, TR_PURE, 0},
    {"lop3.b32", "%,%,%,%,%", OP_LOP3, 1, 5, TR_PURE, 0},
    {"lop3.or.b32", "%|%,%,%,%,%,%", OP_LOP3_BOOL, 2, 7, TR_PURE, 0},
    {"lop3.or.b32", "%,%,%,%,%,%", REFUSED, 0, 0, 0, 0},
    {"shl.b32", "%,%,%", OP_SHL, 1, 3, TR_PURE, TR_COMM},
    {"not.pred", "%,%", OP_NOT, 1, 2, TR_PURE, 0},
    {"and.pred", "%,%,%", OP_AND, 1, 3, TR_PURE, 0},
    {"and.u32", "%,%,%", OP_OPAQUE, 0, 3, TR_EFFECT | TR_READ | TR_WRITE | TR_CONV, TR_PURE},  // no such type
    // Memory.
    {"ld.global.u32", "%,[&]", OP_LD, 1, 3, TR_READ | TR_TRAP, TR_ORDERED | TR_RDONLY | TR_WRITE | TR_EFFECT},
    {"ld.global.u32", "%,&", REFUSED, 0, 0, 0, 0},
    {"ld.global.u32", "%,%", REFUSED, 0, 0, 0, 0},
    {"ld.global.u32", "%", REFUSED, 0, 0, 0, 0},
    {"ld.global.u32", "[&],%", REFUSED, 0, 0, 0, 0},
    {"ld.global.u32", "{%,%},[&]", REFUSED, 0, 0, 0, 0},
    {"ld.global.v2.u32", "{%,%},[&]", OP_LD, 2, 4, TR_READ, 0},
    {"ld.global.v2.u32", "{%,%,%},[&]", REFUSED, 0, 0, 0, 0},
    {"ld.global.v2.u32", "%,[&]", REFUSED, 0, 0, 0, 0},
    {"ld.global.v4.u32", "{%,%,%,%},[&]", OP_LD, 4, 6, TR_READ, 0},
    {"ld.global.v8.f32", "{%,%,%,%,%,%,%,%},[&]", OP_LD, 8, 10, TR_READ, 0},
    {"ld.global.nc.u32", "%,[&]", OP_LD, 1, 3, TR_RDONLY, TR_ORDERED},
    {"ld.const.u32", "%,[&]", OP_LD, 1, 3, TR_RDONLY, TR_ORDERED},
    {"ld.volatile.global.u32", "%,[&]", OP_LD, 1, 3, TR_ORDERED | TR_EFFECT, TR_RDONLY},
    {"ld.weak.global.u32", "%,[&]", OP_LD, 1, 3, TR_READ, TR_ORDERED},
    {"ld.acquire.gpu.global.u32", "%,[&]", OP_LD, 1, 3, TR_ORDERED, 0},
    {"ld.mmio.relaxed.sys.global.u32", "%,[&]", OP_LD, 1, 3, TR_ORDERED | TR_EFFECT, 0},
    {"ld.global.cv.u32", "%,[&]", OP_LD, 1, 3, TR_ORDERED, 0},
    {"ld.global.ca.u32", "%,[&]", OP_LD, 1, 3, TR_READ, TR_ORDERED},
    {"ld.global.L2::cache_hint.u32", "%,[&],%", OP_LD, 1, 4, TR_READ, 0},
    {"ld.global.L2::cache_hint.u32", "%,[&]", REFUSED, 0, 0, 0, 0},
    {"ld.global.L2::128B.u32", "%,[&],%", REFUSED, 0, 0, 0, 0},
    {"st.global.u32", "[&],%", OP_ST, 0, 3, TR_WRITE | TR_TRAP, TR_READ | TR_ORDERED},
    {"st.global.v2.u32", "[&],{%,%}", OP_ST, 0, 4, TR_WRITE, 0},
    {"st.global.v2.u32", "[&],%", REFUSED, 0, 0, 0, 0},
    {"st.global.u32", "%,[&]", REFUSED, 0, 0, 0, 0},
    {"st.release.sys.global.u32", "[&],%", OP_ST, 0, 3, TR_ORDERED, 0},
    {"atom.global.add.u32", "%,[&],%", OP_ATOM, 1, 4, TR_READ | TR_WRITE | TR_EFFECT, TR_PURE},
    {"atom.global.cas.b32", "%,[&],%,%", OP_ATOM, 1, 5, TR_EFFECT, 0},
    {"atom.global.cas.b32", "%,[&],%", REFUSED, 0, 0, 0, 0},
    {"atom.global.add.u32", "%,[&],%,%", REFUSED, 0, 0, 0, 0},
    {"atom.global.add.v2.f32", "{%,%},[&],{%,%}", OP_ATOM, 2, 6, TR_EFFECT, 0},
    {"red.global.add.u32", "[&],%", OP_RED, 0, 3, TR_EFFECT, 0},
    {"prefetch.global.L2", "[&]", OP_PREFETCH, 0, 2, TR_EFFECT, TR_PURE},
    {"cp.async.ca.shared.global", "[&],[&],%", OP_CP_ASYNC_CA, 0, 5, TR_ASYNC | TR_EFFECT, 0},
    {"cp.async.ca.shared.global", "[&],[&],%,%", OP_CP_ASYNC_CA, 0, 6, TR_ASYNC, 0},
    {"cp.async.cg.shared.global.L2::cache_hint", "[&],[&],%,%", OP_CP_ASYNC_CG, 0, 6, TR_ASYNC, 0},
    {"cp.async.cg.shared.global.L2::cache_hint", "[&],[&],%,%,%", OP_CP_ASYNC_CG, 0, 7, TR_ASYNC, 0},
    {"cp.async.wait_all", "", OP_CP_ASYNC_WAIT_ALL, 0, 0, TR_BARRIER, 0},
    // RAW rows.
    {"tex.2d.v4.f32.s32", "{%,%,%,%},[%,{%,%}]", OP_TEX, 4, 7, TR_READ | TR_RDONLY | TR_NOFOLD, TR_EFFECT},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "{%,%,%,%},{%,%,%,%},{%,%},{%,%,%,%}", OP_MMA, 4, 14,
     TR_CONV, 0},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", "{%,%},[&]", OP_LDMATRIX, 2, 4, TR_READ | TR_CONV, 0},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", "[&],%", REFUSED, 0, 0, 0, 0},
    {"vadd.s32.s32.s32", "%,%,%", OP_VADD, 1, 3, TR_PURE, 0},
    {"mbarrier.init.shared.b64", "[&],%", OP_MBAR_INIT, 0, 3, TR_EFFECT | TR_BARRIER, 0},
    // Threads.
    {"bar.sync", "%", OP_BAR_SYNC, 0, 1, TR_BARRIER | TR_CONV, 0},
    {"bar.sync", "%,%", OP_BAR_SYNC, 0, 2, TR_BARRIER, 0},
    {"bar.sync", "", REFUSED, 0, 0, 0, 0},
    {"bar.sync", "%,%,%", REFUSED, 0, 0, 0, 0},
    {"bar.red.popc.u32", "%,%,%", OP_BAR_RED, 1, 3, TR_BARRIER, 0},
    {"bar.red.popc.u32", "%,%,%,%", OP_BAR_RED, 1, 4, TR_BARRIER, 0},
    {"shfl.sync.bfly.b32", "%|%,%,%,%,%", OP_SHFL_SYNC, 2, 6, TR_CONV, TR_EFFECT},
    {"shfl.sync.bfly.b32", "%,%,%,%,%", OP_SHFL_SYNC, 1, 5, TR_CONV, 0},
    {"shfl.sync.bfly.b32", "%,%,%,%", REFUSED, 0, 0, 0, 0},
    {"shfl.bfly.b32", "%,%,%,%", OP_SHFL, 1, 4, TR_CONV, 0},
    {"match.all.sync.b32", "%|%,%,%", OP_MATCH_ALL, 2, 4, TR_CONV, 0},
    {"elect.sync", "%|%,%", OP_ELECT, 2, 3, TR_CONV, 0},
    {"elect.sync", "%,%", REFUSED, 0, 0, 0, 0},
    {"activemask.b32", "%", OP_ACTIVEMASK, 1, 1, TR_CONV, 0},
    {"membar.gl", "", OP_MEMBAR, 0, 0, TR_BARRIER, 0},
    // Control flow: `~` is the successor when the guard is false.
    {"bra", "%", OP_BRA, 0, 1, TR_TERM | TR_EFFECT, 0},
    {"bra", "%~", OP_BRA, 0, 2, TR_TERM, 0},
    {"bra.uni", "%", OP_BRA, 0, 1, TR_TERM, 0},
    {"bra", "", REFUSED, 0, 0, 0, 0},
    {"brx.idx", "%,%", OP_BRX, 0, 2, TR_TERM, 0},
    {"brx.idx", "%,%~", OP_BRX, 0, 3, TR_TERM, 0},
    {"brx.idx", "%", REFUSED, 0, 0, 0, 0},
    {"ret", "", OP_RET, 0, 0, TR_TERM, 0},
    {"ret", "~", OP_RET, 0, 1, TR_TERM, 0},
    {"ret", "%", REFUSED, 0, 0, 0, 0},
    {"exit", "~", OP_EXIT, 0, 1, TR_TERM, 0},
    {"call", "$", OP_CALL, 0, 1, TR_CONV | TR_EFFECT, TR_TERM},
    {"call.uni", "($),$,($,$)", OP_CALL, 0, 4, TR_EFFECT, 0},
    {"call", "(%),$,(%)", OP_CALL, 1, 3, TR_EFFECT, 0},
    {"call", "(%,%),%,(%,$),$", OP_CALL, 2, 6, TR_EFFECT, 0},
    {"trap", "", OP_TRAP, 0, 0, TR_TRAP, TR_TERM},
    {".pragma \"nounroll\"", "", OP_PRAGMA, 0, 0, TR_MARKER | TR_NOGUARD, 0},
    {".pragma \"nounroll\"", "%", REFUSED, 0, 0, 0, 0},
    // Opaque: any operands fit.
    {"wgmma.fence.sync.aligned", "", OP_OPAQUE, 0, 0, TR_CONV | TR_EFFECT, TR_PURE},
    {"frob.u32", "%,{%,%},[&],%", OP_OPAQUE, 0, 6, TR_CONV, 0},
    {"frob.u32", "%|%,[%,{%,&}]", OP_OPAQUE, 0, 6, TR_CONV, 0},
};

TEST(descriptor_shapes)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        unit_context("%s %s", rows[k].mnemonic, rows[k].shape);
        MnemId mnem = mnem_intern(t, rows[k].mnemonic, strlen(rows[k].mnemonic));
        const char *why = NULL;
        DescId id = desc_intern(t, mnem, rows[k].shape, strlen(rows[k].shape), &why);
        if (rows[k].op == REFUSED) {
            CHECK_EQ(id, 0);
            CHECK(why != NULL);
            continue;
        }
        if (!CHECK(id != 0))
            continue;
        const Desc *d = tab_desc(t, id);
        CHECK_EQ(d->op, rows[k].op);
        CHECK_EQ(d->ndef, rows[k].ndef);
        CHECK_EQ(d->nops, rows[k].nops);
        CHECK_EQ(d->traits & rows[k].has, rows[k].has);
        CHECK_EQ(d->traits & rows[k].lacks, 0);
        CHECK_EQ(d->mnem, mnem);
        for (uint32_t j = 0; j < d->nops; j++)
            CHECK_EQ((d->slots[j].flags & SL_DEF) != 0, j < d->ndef);
        CHECK_EQ(desc_intern(t, mnem, rows[k].shape, strlen(rows[k].shape), &why), id);
    }
    fixture_close(&f);
}

static const Slot *slot_of(Fixture *f, const char *mnemonic, const char *shape, uint32_t k)
{
    const Desc *d = tab_desc(f->fn->tables, desc_parse(f->fn->tables, mnemonic, shape));
    static const Slot none;
    return CHECK(k < d->nops) ? &d->slots[k] : &none;
}

TEST(descriptor_widths)
{
    static const struct {
        const char *mnemonic, *shape;
        uint8_t width[8];  // W_NONE ends the row
    } widths[] = {
        {"add.u16", "%,%,%", {W16, W16, W16}},
        {"add.f64", "%,%,%", {W64, W64, W64}},
        {"mul.wide.u16", "%,%,%", {W32, W16, W16}},
        {"mul.wide.s32", "%,%,%", {W64, W32, W32}},
        {"mad.wide.u32", "%,%,%,%", {W64, W32, W32, W64}},
        {"popc.b64", "%,%", {W32, W64}},
        {"bfind.s64", "%,%", {W32, W64}},
        {"bfe.u64", "%,%,%,%", {W64, W64, W32, W32}},
        {"shl.b64", "%,%,%", {W64, W64, W32}},
        {"setp.eq.f64", "%|%,%,%", {W1, W1, W64, W64}},
        {"setp.eq.or.s16", "%,%,%,%", {W1, W16, W16, W1}},
        {"selp.b16", "%,%,%,%", {W16, W16, W16, W1}},
        {"slct.f64.s32", "%,%,%,%", {W64, W64, W64, W32}},
        {"set.lt.u32.f64", "%,%,%", {W32, W64, W64}},
        {"cvt.u16.f64", "%,%", {W16, W64}},
        {"cvt.rn.bf16x2.f32", "%,%,%", {W32, W32, W32}},
        {"mov.b64", "%,{%,%}", {W64, W32, W32}},
        {"mov.b64", "{%,%,%,%},%", {W16, W16, W16, W16, W64}},
        {"mov.b32", "{%,%,%,%},%", {W8, W8, W8, W8, W32}},
        {"mov.b128", "%,{%,%}", {W128, W64, W64}},
        {"mov.pred", "%,%", {W1, W1}},
        {"add.cc.u32", "%,%,%", {W32, W1, W32, W32}},
        {"addc.cc.u64", "%,%,%", {W64, W1, W64, W64, W1}},
        {"lop3.and.b32", "%|%,%,%,%,%,%", {W32, W1, W32, W32, W32, W32, W1}},
        {"shfl.sync.idx.b32", "%|%,%,%,%,%", {W32, W1, W32, W32, W32, W32}},
        {"vote.sync.ballot.b32", "%,%,%", {W32, W1, W32}},
        {"match.any.sync.b64", "%,%,%", {W32, W64, W32}},
        {"activemask.b32", "%", {W32}},
        {"bar.red.and.pred", "%,%,%", {W1, W32, W1}},
        {"dp2a.lo.s32.u32", "%,%,%,%", {W32, W32, W32, W32}},
        {"nanosleep.u32", "%", {W32}},
        {"brx.idx", "%,%", {W32}},
    };
    Fixture f;
    fixture_open(&f);
    for (size_t k = 0; k < ARRAY_LEN(widths); k++) {
        unit_context("%s %s", widths[k].mnemonic, widths[k].shape);
        for (uint32_t j = 0; j < 8 && widths[k].width[j]; j++)
            CHECK_EQ(slot_of(&f, widths[k].mnemonic, widths[k].shape, j)->width, widths[k].width[j]);
    }
    // Addresses: any base, a 64-bit offset.
    const Slot *base = slot_of(&f, "ld.global.u8", "%,[&]", 1), *offset = slot_of(&f, "ld.global.u8", "%,[&]", 2);
    CHECK_EQ(base->flags, SL_REG | SL_SYM | SL_SINK);
    CHECK_EQ(offset->flags, SL_IMM);
    CHECK_EQ(offset->width, W64);
    fixture_close(&f);
}

TEST(descriptor_flags)
{
    Fixture f;
    fixture_open(&f);
    // Memory accesses permit wider registers, arithmetic does not.
    CHECK(slot_of(&f, "ld.global.u8", "%,[&]", 0)->flags & SL_WIDER);
    CHECK(slot_of(&f, "st.global.u8", "[&],%", 2)->flags & SL_WIDER);
    CHECK(!(slot_of(&f, "add.u32", "%,%,%", 0)->flags & SL_WIDER));
    CHECK(!(slot_of(&f, "mov.v2.u32", "{%,%},{%,%}", 0)->flags & SL_WIDER));
    // Immediates: uses only, no 16-bit floats.
    CHECK(slot_of(&f, "add.u32", "%,%,%", 1)->flags & SL_IMM);
    CHECK(!(slot_of(&f, "add.u32", "%,%,%", 0)->flags & SL_IMM));
    CHECK(!(slot_of(&f, "add.f16", "%,%,%", 1)->flags & SL_IMM));
    CHECK(!(slot_of(&f, "add.bf16x2", "%,%,%", 1)->flags & SL_IMM));
    CHECK_EQ(slot_of(&f, "lop3.b32", "%,%,%,%,%", 4)->flags, SL_IMM);
    // Special registers in moves and conversions only.
    CHECK(slot_of(&f, "mov.u32", "%,%", 1)->flags & SL_SREG);
    CHECK(slot_of(&f, "cvt.u64.u32", "%,%", 1)->flags & SL_SREG);
    CHECK(!(slot_of(&f, "add.u32", "%,%,%", 1)->flags & SL_SREG));
    // Sinks: halves of a pair, parts of a vector.
    CHECK(slot_of(&f, "setp.eq.u32", "%|%,%,%", 0)->flags & SL_SINK);
    CHECK(slot_of(&f, "setp.eq.u32", "%|%,%,%", 1)->flags & SL_SINK);
    CHECK(!(slot_of(&f, "setp.eq.u32", "%,%,%", 0)->flags & SL_SINK));
    CHECK(slot_of(&f, "ld.global.v2.u32", "{%,%},[&]", 1)->flags & SL_SINK);
    CHECK(!(slot_of(&f, "ld.global.u32", "%,[&]", 0)->flags & SL_SINK));
    CHECK(!(slot_of(&f, "st.global.v2.u32", "[&],{%,%}", 3)->flags & SL_SINK));
    CHECK(slot_of(&f, "mov.b64", "{%,%},%", 0)->flags & SL_SINK);
    // Predicates may be negated, other values not.
    CHECK(slot_of(&f, "selp.b32", "%,%,%,%", 3)->flags & SL_NOT);
    CHECK(!(slot_of(&f, "selp.b32", "%,%,%,%", 1)->flags & SL_NOT));
    // Hidden operands.
    CHECK(slot_of(&f, "add.cc.u32", "%,%,%", 1)->flags & SL_HIDDEN);
    CHECK(slot_of(&f, "addc.u32", "%,%,%", 3)->flags & SL_HIDDEN);
    CHECK_EQ(slot_of(&f, "bra", "%~", 1)->flags, SL_BLOCK | SL_HIDDEN);
    CHECK_EQ(slot_of(&f, "bra", "%~", 0)->flags, SL_BLOCK);
    CHECK_EQ(slot_of(&f, "brx.idx", "%,%", 1)->flags, SL_LIST);
    // Opaque: read and written outside brackets, read inside.
    CHECK(slot_of(&f, "frob.u32", "%,[&],[%]", 0)->flags & SL_INOUT);
    CHECK(!(slot_of(&f, "frob.u32", "%,[&],[%]", 3)->flags & SL_INOUT));
    // Declared classes: integers reject floats and the reverse, bits take all.
    CHECK_EQ(slot_of(&f, "add.u32", "%,%,%", 1)->rejects, 1 << TC_F);
    CHECK_EQ(slot_of(&f, "add.f32", "%,%,%", 1)->rejects, 1 << TC_U | 1 << TC_S);
    CHECK_EQ(slot_of(&f, "mov.b32", "%,%", 1)->rejects, 0);
    CHECK_EQ(slot_of(&f, "ld.global.f32", "%,[&]", 0)->rejects, 0);
    fixture_close(&f);
}

static void make_wrong(void *user) { desc_parse(user, "add.u32", "%,%"); }

TEST(descriptor_make)
{
    Fixture f;
    fixture_open(&f);
    CHECK_FAILS(&f.ctx.heap, ST_INTERNAL, make_wrong, f.fn->tables);
    CHECK(strstr(f.ctx.heap.message, "add.u32") != NULL);
    // The order of modifiers is irrelevant, the shape is not.
    Tables *t = f.fn->tables;
    CHECK_EQ(desc_parse(t, "mul.f32.rn", "%,%,%"), desc_parse(t, "mul.rn.f32", "%,%,%"));
    CHECK(desc_parse(t, "bra", "%") != desc_parse(t, "bra", "%~"));
    fixture_close(&f);
}

// Builders make the same descriptors from fields as the parser from text.
TEST(descriptor_fields)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    struct {
        DescId made;
        const char *mnemonic, *shape;
    } cases[] = {
        {desc_make(t, OP_BRA), "bra", "%"},
        {desc_make(t, OP_EXIT), "exit", ""},
        {desc_make(t, OP_UNDEF), "mov.undef", "%"},
        {desc_make(t, OP_CVT, TY_S32, TY_S8), "cvt.s32.s8", "%,%"},
        {desc_make(t, OP_MUL, TY_F32, .mods = {MOD_FTZ, MOD_RN}), "mul.rn.ftz.f32", "%,%,%"},
        {desc_make(t, OP_MUL_WIDE, TY_U32), "mul.wide.u32", "%,%,%"},
        {desc_make(t, OP_ADDR, TY_U64), "mov.u64", "%,&"},
        {desc_make(t, OP_CVTA, TY_U64, .mods = {MOD_SHARED}), "cvta.shared.u64", "%,%"},
        {desc_make(t, OP_UNPACK, TY_B64), "mov.b64", "{%,%},%"},
        {desc_make(t, OP_PACK, TY_B32), "mov.b32", "%,{%,%}"},
        {desc_make(t, OP_SETP, TY_U32, .mods = {MOD_LT}), "setp.lt.u32", "%,%,%"},
        {desc_make(t, OP_SETP, TY_U32, .mods = {MOD_LT, MOD_BOOL_AND}), "setp.lt.and.u32", "%,%,%,%"},
        {desc_make(t, OP_LD, TY_B32, .mods = {MOD_V4, MOD_PARAM}), "ld.param.v4.b32", "{%,%,%,%},[&]"},
        {desc_make(t, OP_ST, TY_B8, .mods = {MOD_LOCAL}), "st.local.b8", "[&],%"},
        {desc_make(t, OP_LOP3, TY_B32), "lop3.b32", "%,%,%,%,%"},
        {desc_with_space(t, desc_parse(t, "ld.L1::evict_first.v2.b32", "{%,%},[&]"), SP_GLOBAL),
         "ld.global.L1::evict_first.v2.b32", "{%,%},[&]"},
        {desc_with_space(t, desc_parse(t, "atom.add.u32", "%,[&],%"), SP_SHARED), "atom.shared.add.u32", "%,[&],%"},
        {desc_with_cmp(t, desc_parse(t, "setp.eq.b32", "%|%,%,%"), MOD_LT, TY_U32), "setp.lt.u32", "%|%,%,%"},
        {desc_pragma(t, "\"nounroll\"", 10), ".pragma \"nounroll\"", ""},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        unit_context("%s", cases[k].mnemonic);
        CHECK_EQ(cases[k].made, desc_parse(t, cases[k].mnemonic, cases[k].shape));
    }
    CHECK_EQ(desc_with_space(t, desc_make(t, OP_ADD, TY_U32), SP_GLOBAL), 0);
    CHECK_EQ(desc_of_mnem(t, tab_mnem(t, tab_desc(t, desc_make(t, OP_ADD, TY_U32))->mnem), "%,%"), 0);
    static const char many[600];
    CHECK_EQ(desc_pragma(t, many, sizeof many), 0);
    fixture_close(&f);
}

static void make_of_other_type(void *user) { desc_make(user, OP_LOP3, TY_F32); }

TEST(descriptor_no_such_fields)
{
    Fixture f;
    fixture_open(&f);
    CHECK_FAILS(&f.ctx.heap, ST_INTERNAL, make_of_other_type, f.fn->tables);
    fixture_close(&f);
}

// Signatures in words, for messages.
TEST(descriptor_expected)
{
    char words[200];
    desc_expected("d,a,a", words);
    CHECK_Z(words, "dst, src, src");
    desc_expected("V,[&],v,K,H", words);
    CHECK_Z(words, "dst or {dst, ...}, [address], src or {src, ...}, [src if .cas], [policy if cache_hint]");
    for (Opcode op = OP_OPAQUE; op < OPCODE_COUNT; op++) {
        memset(words, 'x', sizeof words);
        desc_expected(op_info[op].signature, words);
        CHECK(memchr(words, 0, sizeof words) != NULL);
    }
}

TEST(descriptor_overlay)
{
    Fixture f;
    fixture_open(&f);
    DescId add = desc_parse(&f.module->tables, "add.u32", "%,%,%");
    module_freeze(f.module);
    uint32_t frozen = f.module->tables.descs.n;
    CHECK_EQ(desc_parse(f.fn->tables, "add.u32", "%,%,%"), add);
    DescId sub = desc_parse(f.fn->tables, "sub.u32", "%,%,%");
    CHECK_EQ(sub, frozen);
    CHECK_EQ(desc_parse(f.fn->tables, "sub.u32", "%,%,%"), sub);
    CHECK_EQ(tab_desc(f.fn->tables, sub)->op, OP_SUB);
    CHECK_EQ(tab_desc(f.fn->tables, add)->op, OP_ADD);
    CHECK_EQ(f.module->tables.descs.n, frozen);
    fixture_close(&f);
}

void test_descriptors(void)
{
    RUN(descriptor_shapes);
    RUN(descriptor_widths);
    RUN(descriptor_flags);
    RUN(descriptor_make);
    RUN(descriptor_fields);
    RUN(descriptor_no_such_fields);
    RUN(descriptor_expected);
    RUN(descriptor_overlay);
}
