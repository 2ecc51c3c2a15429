// SPDX-License-Identifier: MIT
// Tests mnemonics: one canonical spelling for all orders of modifiers, OPAQUE for unmodelled ones.
#include <stdio.h>

#include "tests/unit/unit.h"

static const struct {
    const char *text, *canonical;
    Opcode first;
} rows[] = {
    // Canonical spellings.
    {"mov.u32", "mov.u32", OP_MOV},
    {"mov.v2.u32", "mov.v2.u32", OP_MOV},
    {"mov.u32.v2", "mov.v2.u32", OP_MOV},
    {"add.s32", "add.s32", OP_ADD},
    {"add.sat.s32", "add.sat.s32", OP_ADD},
    {"add.s32.sat", "add.sat.s32", OP_ADD},
    {"add.rn.ftz.sat.f32", "add.rn.ftz.sat.f32", OP_ADD},
    {"add.sat.f32.ftz.rn", "add.rn.ftz.sat.f32", OP_ADD},
    {"mul.f32.rn", "mul.rn.f32", OP_MUL},
    {"mul.ftz.rz.f32", "mul.rz.ftz.f32", OP_MUL},
    {"mul.lo.s32", "mul.lo.s32", OP_MUL_LO},
    {"mul.wide.u16", "mul.wide.u16", OP_MUL_WIDE},
    {"mul.hi.u64", "mul.hi.u64", OP_MUL_HI},
    {"mad.lo.s32", "mad.lo.s32", OP_MAD_LO},
    {"mad.hi.sat.s32", "mad.hi.sat.s32", OP_MAD_HI},
    {"fma.rn.f64", "fma.rn.f64", OP_FMA},
    {"fma.f64.rn", "fma.rn.f64", OP_FMA},
    {"fma.rn.relu.f16", "fma.rn.relu.f16", OP_FMA},
    {"div.approx.ftz.f32", "div.approx.ftz.f32", OP_DIV},
    {"div.full.f32", "div.full.f32", OP_DIV},
    {"rcp.f32.approx.ftz", "rcp.approx.ftz.f32", OP_RCP},
    {"ex2.approx.ftz.bf16x2", "ex2.approx.ftz.bf16x2", OP_EX2},
    {"min.xorsign.abs.NaN.f16", "min.NaN.xorsign.abs.f16", OP_MIN},
    {"max.relu.s16x2", "max.relu.s16x2", OP_MAX},
    {"bfind.shiftamt.u32", "bfind.shiftamt.u32", OP_BFIND},
    {"szext.wrap.s32", "szext.wrap.s32", OP_SZEXT},
    {"testp.notanumber.f32", "testp.notanumber.f32", OP_TESTP},
    {"prmt.b32.f4e", "prmt.b32.f4e", OP_PRMT},
    {"prmt.f4e.b32", "prmt.b32.f4e", OP_PRMT},
    {"shf.l.wrap.b32", "shf.l.wrap.b32", OP_SHF_L},
    {"shf.r.clamp.b32", "shf.r.clamp.b32", OP_SHF_R},
    {"dp4a.u32.s32", "dp4a.u32.s32", OP_DP4A},
    // The carry is part of the opcode, at any position.
    {"add.cc.u32", "add.cc.u32", OP_ADD_CC},
    {"add.u32.cc", "add.cc.u32", OP_ADD_CC},
    {"addc.cc.s32", "addc.cc.s32", OP_ADDC_CC},
    {"addc.s32.cc", "addc.cc.s32", OP_ADDC_CC},
    {"sub.u64.cc", "sub.cc.u64", OP_SUB_CC},
    {"mad.lo.u32.cc", "mad.lo.cc.u32", OP_MAD_LO_CC},
    {"madc.hi.cc.u32", "madc.hi.cc.u32", OP_MADC_HI_CC},
    {"madc.hi.u32.cc", "madc.hi.cc.u32", OP_MADC_HI_CC},
    {"mul.lo.cc.u32", "mul.lo.cc.u32", OP_OPAQUE},
    // Comparison and conversion: the order of types matters, that of modifiers does not.
    {"setp.eq.and.u32", "setp.eq.and.u32", OP_SETP},
    {"setp.u32.eq.and", "setp.eq.and.u32", OP_SETP},
    {"setp.and.u32.eq", "setp.eq.and.u32", OP_SETP},
    {"setp.ftz.geu.f32", "setp.geu.ftz.f32", OP_SETP},
    {"setp.nan.f64", "setp.nan.f64", OP_SETP},
    {"set.lt.f32.s32", "set.lt.f32.s32", OP_SET},
    {"set.f32.s32.lt", "set.lt.f32.s32", OP_SET},
    {"slct.ftz.f32.f32", "slct.ftz.f32.f32", OP_SLCT},
    {"cvt.rn.f32.s32", "cvt.rn.f32.s32", OP_CVT},
    {"cvt.f32.rn.s32", "cvt.rn.f32.s32", OP_CVT},
    {"cvt.f32.s32.rn", "cvt.rn.f32.s32", OP_CVT},
    {"cvt.s32.f32.rzi.ftz", "cvt.rzi.ftz.s32.f32", OP_CVT},
    {"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e4m3x2.f32", OP_CVT},
    {"cvt.rna.tf32.f32", "cvt.rna.tf32.f32", OP_CVT},
    {"cvt.pack.sat.u8.s32.b32", "cvt.pack.sat.u8.s32.b32", OP_CVT_PACK},
    {"cvta.to.global.u64", "cvta.to.global.u64", OP_CVTA_TO},
    {"cvta.to.u64.global", "cvta.to.global.u64", OP_CVTA_TO},
    {"cvta.u64.shared", "cvta.shared.u64", OP_CVTA},
    {"isspacep.shared::cluster", "isspacep.shared::cluster", OP_ISSPACEP},
    {"mapa.u64.shared::cluster", "mapa.shared::cluster.u64", OP_MAPA},
    {"getctarank.shared::cluster.u32", "getctarank.shared::cluster.u32", OP_CTARANK},
    {"barrier.cluster.arrive.release.aligned", "barrier.cluster.arrive.release.aligned", OP_CLUSTER_ARRIVE},
    {"barrier.cluster.wait", "barrier.cluster.wait", OP_CLUSTER_WAIT},
    // Memory: semantics, scope, space, cache operator, hints.
    {"ld.global.u32", "ld.global.u32", OP_LD},
    {"ld.u32.global", "ld.global.u32", OP_LD},
    {"ld.global.v4.f32", "ld.global.v4.f32", OP_LD},
    {"ld.v4.global.f32", "ld.global.v4.f32", OP_LD},
    {"ld.f32.v4.nc.global", "ld.global.nc.v4.f32", OP_LD},
    {"ld.volatile.shared.u8", "ld.volatile.shared.u8", OP_LD},
    {"ld.shared.volatile.u8", "ld.volatile.shared.u8", OP_LD},
    {"ld.acquire.gpu.global.b64", "ld.acquire.gpu.global.b64", OP_LD},
    {"ld.global.gpu.acquire.b64", "ld.acquire.gpu.global.b64", OP_LD},
    {"ld.mmio.relaxed.sys.global.u32", "ld.mmio.relaxed.sys.global.u32", OP_LD},
    {"ld.relaxed.mmio.sys.global.u32", "ld.mmio.relaxed.sys.global.u32", OP_LD},
    {"ld.global.nc.L1::no_allocate.v2.u64", "ld.global.nc.L1::no_allocate.v2.u64", OP_LD},
    {"ld.global.L1::evict_last.L2::128B.f32", "ld.global.L1::evict_last.L2::128B.f32", OP_LD},
    {"ld.L2::cache_hint.global.b32", "ld.global.L2::cache_hint.b32", OP_LD},
    {"ld.param::entry.u64", "ld.param::entry.u64", OP_LD},
    {"st.shared::cta.u32", "st.shared::cta.u32", OP_ST},
    {"st.wb.global.v2.f64", "st.global.wb.v2.f64", OP_ST},
    {"ldu.global.v2.f32", "ldu.global.v2.f32", OP_LDU},
    {"atom.add.global.u32", "atom.global.add.u32", OP_ATOM},
    {"atom.u64.cas.global.sys.relaxed", "atom.relaxed.sys.global.cas.u64", OP_ATOM},
    {"atom.global.add.noftz.f16x2", "atom.global.add.noftz.f16x2", OP_ATOM},
    {"red.noftz.add.global.bf16", "red.global.add.noftz.bf16", OP_RED},
    {"prefetch.global.L2", "prefetch.global.L2", OP_PREFETCH},
    {"prefetch.L1.local", "prefetch.local.L1", OP_PREFETCH},
    {"prefetchu.L1", "prefetchu.L1", OP_PREFETCHU},
    {"cp.async.ca.shared.global.L2::128B", "cp.async.ca.shared.global.L2::128B", OP_CP_ASYNC_CA},
    {"cp.async.wait_group", "cp.async.wait_group", OP_CP_ASYNC_WAIT},
    // Threads and control flow.
    {"bar.sync", "bar.sync", OP_BAR_SYNC},
    {"bar.cta.sync", "bar.sync", OP_BAR_SYNC},
    {"bar.cta.red.popc.u32", "bar.red.popc.u32", OP_BAR_RED},
    {"bar.red.u32.popc", "bar.red.popc.u32", OP_BAR_RED},
    {"bar.cta.arrive", "bar.arrive", OP_BAR_ARRIVE},
    {"barrier.cta.sync.aligned", "barrier.sync.aligned", OP_BARRIER_SYNC},
    {"barrier.sync.aligned", "barrier.sync.aligned", OP_BARRIER_SYNC},
    {"membar.gl", "membar.gl", OP_MEMBAR},
    {"fence.gpu.acq_rel", "fence.acq_rel.gpu", OP_FENCE},
    {"shfl.sync.b32.bfly", "shfl.sync.bfly.b32", OP_SHFL_SYNC},
    {"shfl.up.b32", "shfl.up.b32", OP_SHFL},
    {"vote.sync.ballot.b32", "vote.sync.ballot.b32", OP_VOTE_SYNC},
    {"vote.sync.uni.pred", "vote.sync.uni.pred", OP_VOTE_SYNC},
    {"match.any.sync.b64", "match.any.sync.b64", OP_MATCH_ANY},
    {"redux.sync.s32.min", "redux.sync.min.s32", OP_REDUX},
    {"bra.uni", "bra.uni", OP_BRA},
    {"brx.idx.uni", "brx.idx.uni", OP_BRX},
    {"call.uni", "call.uni", OP_CALL},
    {"ret.uni", "ret.uni", OP_RET},
    {"exit", "exit", OP_EXIT},
    // RAW rows keep the rest as written.
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", OP_MMA},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", OP_LDMATRIX},
    {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16", OP_WMMA_LOAD},
    {"tex.2d.v4.f32.s32", "tex.2d.v4.f32.s32", OP_TEX},
    {"vadd.s32.u32.s32.sat", "vadd.s32.u32.s32.sat", OP_VADD},
    {"mbarrier.try_wait.parity.shared::cta.b64", "mbarrier.try_wait.parity.shared::cta.b64", OP_MBAR_TRY},
    {"createpolicy.fractional.L2::evict_last.b64", "createpolicy.fractional.L2::evict_last.b64", OP_CREATEPOLICY},
    {".pragma \"nounroll\"", ".pragma \"nounroll\"", OP_PRAGMA},
    // Unmodelled mnemonics keep their text.
    {"add.frob.u32", "add.frob.u32", OP_OPAQUE},
    {"add.rn.rz.f32", "add.rn.rz.f32", OP_OPAQUE},
    {"ld.global.shared.u32", "ld.global.shared.u32", OP_OPAQUE},
    {"add.L2::128B.u32", "add.L2::128B.u32", OP_OPAQUE},
    {"cvt.u8.u16.u32.u64", "cvt.u8.u16.u32.u64", OP_OPAQUE},
    {"add.", "add.", OP_OPAQUE},
    {"add..u32", "add..u32", OP_OPAQUE},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
     OP_OPAQUE},
    {"tcgen05.alloc.cta_group::1.sync.aligned", "tcgen05.alloc.cta_group::1.sync.aligned", OP_OPAQUE},
    {"frobnicate", "frobnicate", OP_OPAQUE},
    {"fence.proxy.async", "fence.proxy.async", OP_OPAQUE},
    {"addx.u32", "addx.u32", OP_OPAQUE},
};

TEST(mnemonic_spellings)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        unit_context("%s", rows[k].text);
        MnemId id = mnem_intern(t, rows[k].text, strlen(rows[k].text));
        const Mnem *m = tab_mnem(t, id);
        Str text = tab_str(t, m->text);
        CHECK_TEXT(text.text, text.len, rows[k].canonical);
        CHECK_EQ(m->first, rows[k].first);
        // The canonical spelling is a fixed point, with the same record.
        CHECK_EQ(mnem_intern(t, rows[k].canonical, strlen(rows[k].canonical)), id);
        CHECK_EQ(mnem_intern(t, rows[k].text, strlen(rows[k].text)), id);
    }
    fixture_close(&f);
}

TEST(mnemonic_fields)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    static const char ld[] = "ld.relaxed.gpu.global.L1::no_allocate.L2::64B.v2.u32";
    const Mnem *m = tab_mnem(t, mnem_intern(t, ld, sizeof ld - 1));
    CHECK_EQ(m->mod[MC_SEM], MOD_RELAXED);
    CHECK_EQ(m->mod[MC_SCOPE], MOD_GPU);
    CHECK_EQ(m->mod[MC_SPACE], MOD_GLOBAL);
    CHECK_EQ(m->mod[MC_VEC], MOD_V2);
    CHECK_EQ(m->mod[MC_COP], MOD_NONE);
    CHECK_EQ(m->ntypes, 1);
    CHECK_EQ(m->type[0], TY_U32);
    Str suffix = tab_str(t, m->suffix);
    CHECK_TEXT(suffix.text, suffix.len, ".L1::no_allocate.L2::64B");
    static const char setp[] = "setp.xor.nan.f32.ftz";
    m = tab_mnem(t, mnem_intern(t, setp, sizeof setp - 1));
    CHECK_EQ(m->mod[MC_CMP], MOD_NAN_CMP);
    CHECK_EQ(m->mod[MC_BOOL], MOD_BOOL_XOR);
    CHECK_EQ(m->mod[MC_FTZ], MOD_FTZ);
    static const char cvt[] = "cvt.rzi.s32.f64";
    m = tab_mnem(t, mnem_intern(t, cvt, sizeof cvt - 1));
    CHECK_EQ(m->ntypes, 2);
    CHECK_EQ(m->type[0], TY_S32);
    CHECK_EQ(m->type[1], TY_F64);
    static const char mma[] = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    m = tab_mnem(t, mnem_intern(t, mma, sizeof mma - 1));
    suffix = tab_str(t, m->suffix);
    CHECK_TEXT(suffix.text, suffix.len, ".aligned.m8n8k4.row.col.f64.f64.f64.f64");
    fixture_close(&f);
}

// Texts at and beyond the limits of the parser stay as they are.
TEST(mnemonic_limits)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    for (size_t parts = 1; parts < 200; parts += 3) {
        char text[3000] = "add";
        for (size_t k = 0; k < parts; k++)
            strcat(text, k % 2 ? ".u32" : ".L2::0123456789");
        unit_context("%zu parts", parts);
        const Mnem *m = tab_mnem(t, mnem_intern(t, text, strlen(text)));
        CHECK_EQ(m->first, OP_OPAQUE);
        Str kept = tab_str(t, m->text);
        CHECK_TEXT(kept.text, kept.len, text);
    }
    for (size_t parts = 1; parts < 200; parts += 7) {
        char text[3000] = "tex";
        for (size_t k = 0; k < parts; k++)
            strcat(text, ".012345678");
        unit_context("tex with %zu parts", parts);
        MnemId id = mnem_intern(t, text, strlen(text));
        Str kept = tab_str(t, tab_mnem(t, id)->text);
        CHECK_TEXT(kept.text, kept.len, text);
        CHECK_EQ(mnem_intern(t, text, strlen(text)), id);
    }
    CHECK_EQ(tab_mnem(t, mnem_intern(t, "", 0))->first, OP_OPAQUE);
    CHECK_EQ(tab_mnem(t, mnem_intern(t, ".", 1))->first, OP_OPAQUE);
    fixture_close(&f);
}

// Every row's mnemonic finds the first row that has it.
TEST(mnemonic_rows)
{
    for (Opcode op = OP_OPAQUE + 1; op < OPCODE_COUNT; op++) {
        unit_context("%s", op_info[op].id);
        Opcode first = op_find(op_info[op].mnemonic, strlen(op_info[op].mnemonic));
        if (!CHECK(first <= op))
            continue;
        // Rows of one mnemonic are contiguous.
        for (Opcode k = first; k <= op; k++)
            CHECK(strcmp(op_info[k].mnemonic, op_info[op].mnemonic) == 0);
    }
    CHECK_EQ(op_find("", 0), OPCODE_COUNT);
    CHECK_EQ(op_find("ad", 2), OPCODE_COUNT);
    CHECK_EQ(op_find("add.u32", 7), OPCODE_COUNT);
    CHECK(op_family_known("wgmma", 5));
    CHECK(!op_family_known("wgmm", 4));
    CHECK(!op_family_known("frob", 4));
}

// Moves the words of an opcode to their place, and keeps the order of the others.
TEST(mnemonic_moves)
{
    static const char *const moved[][2] = {
        {"vote.ballot.sync.b32", "vote.sync.ballot.b32"},
        {"vote.sync.ballot.b32", "vote.sync.ballot.b32"},
        {"vote.ballot.b32", "vote.ballot.b32"},
        {"match.sync.any.b32", "match.any.sync.b32"},
        {"match.b32.sync.all", "match.all.sync.b32"},
        {"mad.lo.u32.cc", "mad.lo.cc.u32"},
        {"mul.u32.wide", "mul.u32.wide"},
        {"barrier.aligned.sync", "barrier.sync.aligned"},
        {"barrier.cluster.aligned.arrive", "barrier.cluster.aligned.arrive"},
        {"mma.sp.sync.aligned", "mma.sp.sync.aligned"},
        {"cp.async.shared.global.ca", "cp.async.ca.shared.global"},
        {"cp.async.cap.ca", "cp.async.ca.cap"},
        {"shfl.synchro.up", "shfl.synchro.up"},
        {"shfl.sync.up.sync", "shfl.sync.up.sync"},
        {"shfl..sync", "shfl.sync."},
        {"shfl.", "shfl."},
        {"vot.sync", "vot.sync"},
        {"", ""},
    };
    for (size_t k = 0; k < ARRAY_LEN(moved); k++) {
        char out[64];
        unit_context("%s", moved[k][0]);
        op_gather_words(moved[k][0], strlen(moved[k][0]), out);
        CHECK_TEXT(out, strlen(moved[k][0]), moved[k][1]);
    }
}

// Finds the first word that ptxas does not take.
TEST(mnemonic_words)
{
    static const char *const unknown[][2] = {
        {"add.u32", ""},
        {"add.cc.u32", ""},
        {"add.u32.cc", ""},
        {"add.frob.u32", "frob"},
        {"add.u4", "u4"},
        {"ld.v2.u4", "u4"},
        {"ld.global.L1::no_allocate.L2::64B.b32", ""},
        {"ld.global.L1::no_alloc.b32", "L1::no_alloc"},
        {"mul.u32.wide", "u32"},
        {"mbarrier.ival.shared.b64", "ival"},
        {"mbarrier.inval.shared.b64", ""},
        {"mbarrier", "mbarrier"},
        {"match.b32.sync.any", ""},
        {"match.sync.any.b16", "b16"},
        {"bar.cta.sync", ""},
        {"bar.cta.sync.frob", "frob"},
        {"bar.cta.red.popc.u32", ""},
        {"cp.async.frob", "frob"},
        {"cp.async.bulk.frob", "frob"},
        {"cp.frob", "frob"},
        {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", ""},
        {"wgmma.mma_async.sync.aligned.m65n256k16.f32.f16.f16", "m65n256k16"},
        {"bfind.ballot.u32", "ballot"},
        {"cvt.rn.satfinite.e2m1x2.f32", ""},
    };
    for (size_t k = 0; k < ARRAY_LEN(unknown); k++) {
        unit_context("%s", unknown[k][0]);
        Str word = op_unknown_word(unknown[k][0], strlen(unknown[k][0]));
        CHECK_TEXT(word.text, word.len, unknown[k][1]);
    }
    // Each row that PTX can name has its words.
    for (Opcode op = OP_OPAQUE + 1; op < OPCODE_COUNT; op++) {
        const char *name = op_info[op].mnemonic;
        unit_context("%s", name);
        if (op != OP_PRAGMA && !(op_info[op].traits & TR_PSEUDO))
            CHECK_EQ(op_unknown_word(name, strlen(name)).len, 0);
    }
    static char longest[600];
    memset(longest, 'a', sizeof longest);
    CHECK_EQ(op_unknown_word(longest, sizeof longest).len, sizeof longest);
}

TEST(tables_lookup)
{
    for (Type t = TY_NONE + 1; t < TYPE_COUNT; t++)
        CHECK_EQ(type_find(type_info[t].name, strlen(type_info[t].name)), t);
    CHECK_EQ(type_find("u3", 2), TY_NONE);
    CHECK_EQ(type_find("", 0), TY_NONE);
    for (Mod m = MOD_NONE + 1; m < MOD_COUNT; m++)
        CHECK_EQ(mod_find(mod_text(m), strlen(mod_text(m)), 1u << mod_category(m)), m);
    CHECK_EQ(mod_find("and", 3, 1u << MC_OP), MOD_AND);
    CHECK_EQ(mod_find("and", 3, 1u << MC_BOOL), MOD_BOOL_AND);
    CHECK_EQ(mod_find("and", 3, 1u << MC_CMP), MOD_NONE);
    for (uint32_t k = 0; k < SREG_COUNT; k++)
        CHECK_EQ(sreg_find(sreg_info[k].name, strlen(sreg_info[k].name)), k);
    CHECK_EQ(sreg_find("%tid", 4), -1);
}

TEST(mnemonic_overlay)
{
    Fixture f;
    fixture_open(&f);
    MnemId add = mnem_intern(&f.module->tables, "add.u32", 7);
    module_freeze(f.module);
    uint32_t frozen = f.module->tables.mnems.n;
    CHECK_EQ(mnem_intern(f.fn->tables, "add.u32", 7), add);
    MnemId sub = mnem_intern(f.fn->tables, "sub.u32", 7);
    CHECK_EQ(sub, frozen);
    CHECK_EQ(mnem_intern(f.fn->tables, "sub.u32", 7), sub);
    CHECK_EQ(tab_mnem(f.fn->tables, sub)->first, OP_SUB);
    CHECK_EQ(tab_mnem(f.fn->tables, add)->first, OP_ADD);
    CHECK_EQ(f.module->tables.mnems.n, frozen);
    fixture_close(&f);
}

void test_mnemonics(void)
{
    RUN(mnemonic_spellings);
    RUN(mnemonic_fields);
    RUN(mnemonic_limits);
    RUN(mnemonic_rows);
    RUN(mnemonic_moves);
    RUN(mnemonic_words);
    RUN(tables_lookup);
    RUN(mnemonic_overlay);
}
