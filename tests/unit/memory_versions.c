// SPDX-License-Identifier: MIT
// Tests memory versions: opcodes that clobber, classes, random flow against a search of paths, large functions, places
// of accesses.
#include "ir/analysis/memory_versions.h"

#include <stdio.h>

#include "ir/text/text.h"
#include "tests/unit/graph.h"

/* -- Opcodes -------------------------------------------------------------------------------------------- */

// True if an opcode may change or order memory as later plain loads of the thread see it. A new opcode must be added
// here: the switch has no default.
static bool may_clobber(Opcode op)
{
    switch (op) {
    case OP_OPAQUE:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_CP_ASYNC_CA:
    case OP_CP_ASYNC_CG:
    case OP_CP_ASYNC_COMMIT:
    case OP_CP_ASYNC_WAIT:
    case OP_CP_ASYNC_WAIT_ALL:
    case OP_MBAR_INIT:
    case OP_MBAR_INVAL:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_TEST:
    case OP_MBAR_TRY:
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
    case OP_WMMA_STORE:
    case OP_STMATRIX:
    case OP_BAR_SYNC:
    case OP_BAR_ARRIVE:
    case OP_BAR_RED:
    case OP_BAR_WARP:
    case OP_BARRIER_SYNC:
    case OP_BARRIER_ARRIVE:
    case OP_CLUSTER_ARRIVE:
    case OP_CLUSTER_WAIT:
    case OP_MEMBAR:
    case OP_FENCE:
    case OP_CALL:
    case OP_TRAP:
    case OP_BRKPT:
    case OP_NANOSLEEP: return true;

    // Annotations, branches; instructions that read memory; instructions that exchange registers between threads.
    case OP_PRAGMA:
    case OP_BRA:
    case OP_BRX:
    case OP_RET:
    case OP_EXIT:
    case OP_LD:
    case OP_LDU:
    case OP_PREFETCH:
    case OP_PREFETCHU:
    case OP_TEX:
    case OP_TLD4:
    case OP_TXQ:
    case OP_SUQ:
    case OP_WMMA_LOAD:
    case OP_LDMATRIX:
    case OP_WMMA_MMA:
    case OP_MMA:
    case OP_MOVMATRIX:
    case OP_SHFL_SYNC:
    case OP_SHFL:
    case OP_VOTE_SYNC:
    case OP_VOTE:
    case OP_MATCH_ANY:
    case OP_MATCH_ALL:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_ELECT: return false;

    // Operations on registers.
    case OP_MOV:
    case OP_ADDR:
    case OP_PACK:
    case OP_UNPACK:
    case OP_MOV_VEC:
    case OP_PHI:
    case OP_UNDEF:
    case OP_SELP:
    case OP_SLCT:
    case OP_PRMT:
    case OP_CVTA:
    case OP_CVTA_ADDR:
    case OP_CVTA_TO:
    case OP_ISSPACEP:
    case OP_MAPA:
    case OP_MAPA_ADDR:
    case OP_CTARANK:
    case OP_CTARANK_ADDR:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_MUL_LO:
    case OP_MUL_HI:
    case OP_MUL_WIDE:
    case OP_MUL24_LO:
    case OP_MUL24_HI:
    case OP_MAD:
    case OP_MAD_LO:
    case OP_MAD_HI:
    case OP_MAD_WIDE:
    case OP_MAD24_LO:
    case OP_MAD24_HI:
    case OP_ADD_CC:
    case OP_ADDC:
    case OP_ADDC_CC:
    case OP_SUB_CC:
    case OP_SUBC:
    case OP_SUBC_CC:
    case OP_MAD_LO_CC:
    case OP_MAD_HI_CC:
    case OP_MADC_LO:
    case OP_MADC_HI:
    case OP_MADC_LO_CC:
    case OP_MADC_HI_CC:
    case OP_DIV:
    case OP_REM:
    case OP_SAD:
    case OP_ABS:
    case OP_NEG:
    case OP_MIN:
    case OP_MIN3:
    case OP_MAX:
    case OP_MAX3:
    case OP_POPC:
    case OP_CLZ:
    case OP_BFIND:
    case OP_FNS:
    case OP_BREV:
    case OP_BFE:
    case OP_BFI:
    case OP_SZEXT:
    case OP_BMSK:
    case OP_DP4A:
    case OP_DP2A_LO:
    case OP_DP2A_HI:
    case OP_FMA:
    case OP_RCP:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH:
    case OP_TESTP:
    case OP_COPYSIGN:
    case OP_CVT:
    case OP_CVT_PACK2:
    case OP_CVT_PACK:
    case OP_SETP:
    case OP_SET:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_CNOT:
    case OP_LOP3:
    case OP_LOP3_BOOL:
    case OP_SHL:
    case OP_SHR:
    case OP_SHF_L:
    case OP_SHF_R:
    case OP_VADD:
    case OP_VSUB:
    case OP_VABSDIFF:
    case OP_VMIN:
    case OP_VMAX:
    case OP_VSHL:
    case OP_VSHR:
    case OP_VMAD:
    case OP_VSET:
    case OP_VADD2:
    case OP_VSUB2:
    case OP_VAVRG2:
    case OP_VABSDIFF2:
    case OP_VMIN2:
    case OP_VMAX2:
    case OP_VSET2:
    case OP_VADD4:
    case OP_VSUB4:
    case OP_VAVRG4:
    case OP_VABSDIFF4:
    case OP_VMIN4:
    case OP_VMAX4:
    case OP_VSET4:
    case OP_CREATEPOLICY: return false;
    case OPCODE_COUNT: break;
    }
    return true;
}

TEST(memory_opcodes)
{
    for (Opcode op = 0; op < OPCODE_COUNT; op++) {
        unit_context("%s", op_info[op].id);
        uint32_t traits = op_info[op].traits;
        CHECK_EQ(!(traits & (TR_PURE | TR_NOCLOBBER)), may_clobber(op));
        CHECK(!(traits & TR_NOCLOBBER) || !(traits & (TR_WRITE | TR_BARRIER | TR_ASYNC)));
        CHECK(!(traits & TR_PURE) || !(traits & (TR_READ | TR_WRITE | TR_BARRIER | TR_ASYNC)));
    }
}

// Modifiers that make an access ordered make it clobber.
TEST(memory_modifiers)
{
    static const struct {
        const char *mnemonic;
        bool clobbers;
    } cases[] = {
        {"ld.global.u32", false},
        {"ld.weak.global.u32", false},
        {"ld.global.nc.u32", false},
        {"ld.global.ca.u32", false},
        {"ld.volatile.global.u32", true},
        {"ld.relaxed.gpu.global.u32", true},
        {"ld.acquire.cta.shared.u32", true},
        {"ld.mmio.relaxed.sys.global.u32", true},
        {"ld.global.cv.u32", true},
        {"ld.const.u32", false},
    };
    Fixture f;
    fixture_open(&f);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        unit_context("%s", cases[k].mnemonic);
        DescId d = desc_parse(f.fn->tables, cases[k].mnemonic, "%,[&]");
        if (CHECK(d))
            CHECK_EQ(!(tab_desc(f.fn->tables, d)->traits & TR_NOCLOBBER), cases[k].clobbers);
    }
    fixture_close(&f);
}

/* -- Functions as text ---------------------------------------------------------------------------------- */

typedef struct Sample {
    Heap heap;
    Arena arena;
    TextBuffer text;
    Module *module;
    Fn *fn;
    const Analyses *a;
    const MemVersions *m;
} Sample;

#define HEAD                                 \
    "target sm_90 ptx 8.0 address 64\n"      \
    "global @g align 8 size 64\n"            \
    "global @h align 8 size 64\n"            \
    "shared @e align 8 size 64 extern\n"     \
    "shared @e2 align 8 size 64 extern\n"    \
    "device @impure(@a: 32)\n"               \
    "kernel @f(@p: 64, @n: 32) form ssa {\n" \
    "  local @l align 8 size 64\n"           \
    "  local @m align 8 size 64\n"           \
    "  shared @x align 8 size 64\n"          \
    "  shared @y align 8 size 64\n"          \
    "  shared @z align 8 size 64\n"          \
    "  param @arg: 32\n"                     \
    "b0:\n"                                  \
    "  R90:32 = ld.param.b32 [@n]\n"         \
    "  R91:64 = ld.param.b64 [@p]\n"         \
    "  P9 = setp.eq.s32 R90, 3\n"            \
    "  R93:32 = ld.global.nc.b32 [R91]\n"    \
    "  R94:64 = cvta.to.local.u64 R91\n"     \
    "  R95:64 = mov.b64 @y\n"                \
    "  R96:64 = mov.b64 @m\n"                \
    "  R97:64 = mul.lo.s64 R95, 3\n"         \
    "  R98:64 = mul.lo.s64 R96, 3\n"         \
    "  R99:32 = mov.b32 @x\n"

static void sample_begin(Sample *s)
{
    memset(s, 0, sizeof *s);
    unit_heap(&s->heap);
    arena_init(&s->arena, &s->heap);
    s->text = (TextBuffer){.arena = &s->arena};
}

static void sample_add(Sample *s, const char *text) { out_to_text(&s->text, text, strlen(text)); }

static void sample_end(Sample *s)
{
    Sink messages = {0};
    Source source = text_source(&s->text, "in");
    Diag diag = {.source = &source, .write = sink_append, .user = &messages};
    s->module = text_read(&s->heap, &source, &diag);
    if (!s->module)
        heap_fail(&s->heap, ST_BAD_INPUT, "%.*s", (int)MIN(messages.n, 200), messages.text);
    sink_free(&messages);
    s->fn = s->module->fns.at[s->module->fns.n - 1];
    s->m = mem_versions_of(s->fn);
    s->a = analysis_need(s->fn, AN_CFG | AN_RPO | AN_DOM | AN_DEF);
}

static void sample_open(Sample *s, const char *body)
{
    sample_begin(s);
    sample_add(s, HEAD);
    sample_add(s, body);
    sample_add(s, "  exit\n}\n");
    sample_end(s);
}

static void sample_close(Sample *s)
{
    analysis_drop(s->fn, 0);
    module_free(s->module);
    arena_free(&s->arena);
    heap_release(&s->heap);
}

// Returns the loads behind those of HEAD: `0` for constant memory, `?` for none, other versions as letters by
// appearance. With places, the versions are those of mem_clobber().
static const char *versions(Sample *s, bool places, char text[static 64])
{
    MemVersionId seen[26] = {0};
    uint32_t nseen = 0, n = 0, skipped = 0;
    AccessPlaces p;
    access_places_init(&p, &s->arena, s->fn, s->a, NULL, NULL);
    FOR_BLOCKS(s->fn, b) {
        FOR_INSTRS(s->fn, b, id) {
            const Desc *d = ir_desc(s->fn, ir_instr(s->fn, id));
            if ((d->op != OP_LD && d->op != OP_LDU) || skipped++ < 3)
                continue;
            MemVersionId v = mem_version_of_load(s->m, id);
            if (places)
                v = mem_clobber(s->m, &p, id, v);
            uint32_t k = 0;
            while (k < nseen && seen[k] != v)
                k++;
            if (v != MEM_CONSTANT && v != MEM_UNKNOWN && k == nseen && nseen < 26)
                seen[nseen++] = v;
            if (n < 63)
                text[n++] = v == MEM_CONSTANT ? '0' : v == MEM_UNKNOWN ? '?' : (char)('a' + k);
        }
    }
    text[n] = 0;
    return text;
}

typedef struct Case {
    const char *body, *expected;
} Case;

static void check_cases(const Case *cases, size_t n, bool places)
{
    for (size_t k = 0; k < n; k++) {
        Sample s;
        char text[64];
        unit_context("%s", cases[k].body);
        sample_open(&s, cases[k].body);
        CHECK_Z(versions(&s, places, text), cases[k].expected);
        sample_close(&s);
    }
}

/* -- Classes -------------------------------------------------------------------------------------------- */

#define LD_G "  R10:32 = ld.global.b32 [R91]\n"
#define LD_G2 "  R11:32 = ld.global.b32 [R91]\n"
#define LD_S "  R12:32 = ld.shared.b32 [R93]\n"
#define LD_S2 "  R13:32 = ld.shared.b32 [R93]\n"
#define LD_X "  R14:32 = ld.shared.b32 [@x]\n"
#define LD_X2 "  R15:32 = ld.shared.b32 [@x]\n"
#define LD_Y "  R16:32 = ld.shared.b32 [@y]\n"
#define LD_Y2 "  R17:32 = ld.shared.b32 [@y]\n"
#define LD_L "  R18:32 = ld.local.b32 [@l]\n"
#define LD_L2 "  R19:32 = ld.local.b32 [@l]\n"
#define LD_ANY "  R20:32 = ld.b32 [R91]\n"
#define LD_ANY2 "  R21:32 = ld.b32 [R91]\n"
#define LD_M "  R22:32 = ld.local.b32 [@m]\n"
#define LD_M2 "  R23:32 = ld.local.b32 [@m]\n"

TEST(memory_reusable)
{
    static const Case cases[] = {
        {LD_G, "?"},
        {LD_G LD_G2, "aa"},
        {LD_G LD_S, "??"},
        {LD_G "  st.global.b32 [R91], R10\n", "a"},
        {"  st.global.b32 [R91], R90\n" LD_G, "a"},
        {LD_G "  st.shared.b32 [R93], R10\n", "?"},
        {"  bra b1\nb1:\n" LD_G "  @P9 bra b1 else b2\nb2:\n", "?"},
        {"  R1:32 = ld.param.b32 [@n]\n", "0"},
        {"  R1:32 = ld.const.b32 [R91]\n  R2:32 = ld.global.nc.b32 [R91]\n", "00"},
        {"  R1:32 = ld.volatile.const.b32 [R91]\n", "?"},
        {"  R1:32 = ld.volatile.global.b32 [R91]\n" LD_G LD_G2, "?aa"},
        {"  R1:32 = ld.relaxed.gpu.global.b32 [R91]\n" LD_G LD_G2, "?aa"},
        {"  R1:32 = ld.mmio.relaxed.sys.global.b32 [R91]\n" LD_G LD_G2, "?aa"},
        {"  R1:32 = ld.global.cv.b32 [R91]\n" LD_G LD_G2, "?aa"},
        {LD_G "  R1:32 = ldu.global.b32 [R91]\n", "aa"},
        {LD_G LD_G2 LD_X LD_Y LD_L, "aabb?"},
        {LD_G LD_G2 LD_X LD_Y LD_L "  st.shared.b32 [R93], 1\n", "aa???"},
    };
    check_cases(cases, ARRAY_LEN(cases), false);
}

TEST(memory_killed)
{
    static const char *const kills[] = {
        "bar.sync 0",
        "bar.arrive 0, 64",
        "bar.warp.sync -1",
        "barrier.cluster.arrive",
        "barrier.cluster.wait",
        "membar.gl",
        "fence.acq_rel.gpu",
        "R1:32 = ld.acquire.gpu.global.b32 [R91]",
        "R1:32 = ld.volatile.global.b32 [R91]",
        "R1:32 = ld.relaxed.gpu.global.b32 [R91]",
        "st.volatile.global.b32 [R91], R90",
        "st.release.gpu.global.b32 [R91], R90",
        "R1:32 = atom.global.add.u32 [R91], 1",
        "R1:32 = atom.shared.add.u32 [R93], 1",
        "red.global.add.u32 [R91], 1",
        "cp.async.ca.shared.global [R93], [R91], 4",
        "cp.async.commit_group",
        "cp.async.wait_group 0",
        "cp.async.wait_all",
        "opaque \"griddepcontrol.wait\"",
        "opaque \"st.async\" [R91]",
        "call @impure, (@arg)",
        "nanosleep.u32 20",
    };
    for (size_t k = 0; k < ARRAY_LEN(kills); k++) {
        Sample s;
        char body[600], text[64];
        unit_context("%s", kills[k]);
        snprintf(body, sizeof body, LD_G LD_X LD_ANY LD_L LD_M "  %s\n" LD_G2 LD_X2 LD_ANY2 LD_L2 LD_M2, kills[k]);
        sample_open(&s, body);
        const char *found = versions(&s, false, text);
        bool load = strstr(kills[k], "= ld.");
        CHECK_Z(found, load ? "abcde?fghdi" : "abcdefghdi");
        sample_close(&s);
    }
}

TEST(memory_kept)
{
    static const char *const harmless[] = {
        "R1:32 = add.s32 R90, 1",
        "R1:32 = shfl.sync.bfly.b32 R90, 1, 31, -1",
        "R1:32 = vote.sync.ballot.b32 P9, -1",
        "R1:32 = activemask.b32",
        "prefetch.global.L2 [R91]",
        "R1:32 = ld.const.b32 [R91]",
        "{R1:32, R2:32} = ldmatrix.sync.aligned.m8n8.x2.shared.b16 [R93]",
        "st.param.b32 [@arg], R90",
    };
    for (size_t k = 0; k < ARRAY_LEN(harmless); k++) {
        Sample s;
        char body[600], text[64];
        unit_context("%s", harmless[k]);
        snprintf(body, sizeof body, LD_G LD_X "  %s\n" LD_G2 LD_X2, harmless[k]);
        sample_open(&s, body);
        CHECK_Z(versions(&s, false, text), strstr(harmless[k], "= ld.") ? "ab0ab" : "abab");
        sample_close(&s);
    }
}

TEST(memory_variables)
{
    static const Case cases[] = {
        // x and z are private, y escapes; e and e2 overlap.
        {LD_X "  st.shared.b32 [@z], 1\n" LD_X2, "aa"},
        {LD_X "  st.shared.b32 [@x+8], 1\n" LD_X2, "ab"},
        {LD_X "  st.shared.b32 [R93], 1\n" LD_X2, "ab"},
        {LD_X "  st.shared::cluster.b32 [R93], 1\n" LD_X2, "ab"},
        {LD_S "  st.shared.b32 [@x], 1\n" LD_S2, "ab"},
        {"  R1:32 = ld.shared::cluster.b32 [R93]\n  st.shared.b32 [@x], 1\n" LD_S, "ab"},
        {LD_X "  st.global.b32 [R91], 1\n" LD_X2, "aa"},
        {LD_X "  st.local.b32 [R94], 1\n" LD_X2, "aa"},
        {LD_X "  st.b32 [R91], 1\n" LD_X2, "ab"},
        {LD_Y "  st.shared.b32 [@x], 1\n" LD_Y2, "aa"},
        {"  R1:32 = ld.shared.b32 [@e]\n  st.shared.b32 [@e2], 1\n  R2:32 = ld.shared.b32 [@e]\n", "ab"},
        {LD_Y "  st.shared.b32 [@e], 1\n" LD_Y2, "ab"},
        {LD_X "  st.shared.b32 [@e], 1\n" LD_X2, "aa"},
        // Beyond the end of a variable lies another one.
        {LD_X "  st.shared.b32 [@z+64], 1\n" LD_X2, "ab"},
        {LD_X "  st.shared.b32 [@z-4], 1\n" LD_X2, "ab"},
        {LD_X "  st.shared.b64 [@z+60], R91\n" LD_X2, "ab"},
        {"  R1:32 = ld.shared.b32 [@z+64]\n  st.shared.b32 [@x], 1\n  R2:32 = ld.shared.b32 [@z+64]\n", "ab"},
        // At an unknown offset: of a private variable the variable, of another one all that escape.
        {"  R1:32 = add.s32 R99, R90\n" LD_X "  st.shared.b32 [@z], 1\n  R2:32 = ld.shared.b32 [R1]\n", "aa"},
        {"  R1:32 = add.s32 R99, R90\n" LD_X "  st.shared.b32 [R1], 1\n" LD_X2, "ab"},
        {"  R1:64 = add.s64 R95, R91\n" LD_X "  st.shared.b32 [R1], 1\n" LD_X2, "aa"},
        {"  R1:64 = mov.b64 @g\n  R2:64 = add.s64 R1, R91\n  R3:32 = ld.global.b32 [@h]\n"
         "  st.global.b32 [R2], 1\n  R4:32 = ld.global.b32 [@h]\n",
         "ab"},
        {"  R3:32 = ld.global.b32 [@h]\n  st.global.b32 [@g], 1\n  R4:32 = ld.global.b32 [@h]\n", "aa"},
        {"  R3:32 = ld.global.b32 [@h]\n  st.global.b32 [R91], 1\n  R4:32 = ld.global.b32 [@h]\n", "ab"},
        {LD_G "  st.global.b32 [@g], 1\n" LD_G2, "ab"},
        {"  R2:64 = mov.b64 @z\n  R3:64 = add.s64 R2, R97\n" LD_Y "  st.shared.b32 [R3], 1\n" LD_Y2, "aa"},
        {"  R1:64 = mov.b64 @z\n  R2:64 = sub.s64 R95, R1\n  R3:64 = add.s64 R1, R2\n" LD_Y
         "  st.shared.b32 [R3], 1\n" LD_Y2,
         "ab"},
    };
    check_cases(cases, ARRAY_LEN(cases), false);
}

TEST(memory_spaces)
{
    static const Case cases[] = {
        {LD_ANY "  st.global.b32 [R91], 1\n" LD_ANY2, "ab"},
        {LD_ANY "  st.shared.b32 [@x], 1\n" LD_ANY2, "ab"},
        {LD_ANY "  st.local.b32 [R94], 1\n" LD_ANY2, "ab"},
        {LD_ANY "  st.param.b32 [@arg], 1\n" LD_ANY2, "ab"},
        {LD_G "  st.b32 [R91], 1\n" LD_G2, "ab"},
        {LD_L "  st.b32 [R91], 1\n" LD_L2, "aa"},
        {LD_M "  st.b32 [R91], 1\n" LD_M2, "ab"},
        {LD_L "  st.local.b32 [R94], 1\n" LD_L2, "ab"},
        {LD_L "  st.local.b32 [@m], 1\n" LD_L2, "aa"},
        {LD_L "  st.local.b32 [@l+4], 1\n" LD_L2, "ab"},
        // A generic access to the variable, without escape; an access at a number.
        {"  R1:64 = cvta.local.u64 @l\n" LD_L "  st.b32 [R1], 1\n" LD_L2, "ab"},
        {LD_L "  st.local.b32 [16], 1\n" LD_L2, "ab"},
        {LD_L "  st.volatile.local.b32 [R94], 1\n" LD_L2, "ab"},
        {LD_L "  R1:32 = ld.volatile.local.b32 [@l]\n" LD_L2, "a?b"},
    };
    check_cases(cases, ARRAY_LEN(cases), false);
}

// Bases of addresses: x is private as long as only accesses and sums use its address. The store reaches y and whatever
// else escapes.
#define ST_ESCAPED "  R80:64 = add.s64 R95, R91\n  st.shared.b32 [R80], 1\n"

TEST(memory_bases)
{
    static const char *const kept[] = {
        "  R1:32 = mad.lo.s32 R90, 4, R99\n  R2:32 = add.s32 R1, R90\n  R3:32 = sub.s32 R2, R90\n"
        "  R4:64 = cvt.u64.u32 R3\n  R5:32 = cvt.u32.u64 R4\n  R6:32 = mov.b32 R5\n  st.shared.b32 [R6], 1\n",
        "  R1:32 = add.s32 R99, 8\n  R2:32 = selp.b32 R1, R99, P9\n  st.shared.b32 [R2], 1\n",
        "  P1 = setp.eq.s32 R99, 0\n",
        "  R1:32 = add.s32 R99, 8\n  P1 = setp.lt.u32 R1, R99\n",
        "  bra b1\nb1:\n  R1:32 = mov.phi b0: R99, b1: R2\n  st.shared.b32 [R1], 1\n  R2:32 = add.s32 R1, 4\n"
        "  @P9 bra b1 else b2\nb2:\n",
        "  @P9 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R1:32 = mov.phi b0: R99, b1: undef\n  st.shared.b32 [R1], 1\n",
        "  R1:32 = atom.shared.add.u32 [R99], 1\n",
    };
    static const char *const escaping[] = {
        "  st.global.b32 [R91], R99\n",
        "  st.shared.b32 [R99], R99\n",
        "  R1:32 = sub.s32 R90, R99\n",
        "  R1:32 = mul.lo.s32 R99, 3\n",
        "  R1:32 = mad.lo.s32 R99, 4, R90\n",
        "  R1:32 = mad.lo.s32 R99, 4, R99\n",
        "  R1:32 = add.s32 R99, R99\n",
        "  R1:16 = cvt.u16.u32 R99\n",
        "  @P9 R1:32 = add.s32 R99, 8 else R90\n",
        "  @P9 R1:32 = ld.global.b32 [R91] else R99\n",
        "  P1 = setp.eq.s32 R99, R90\n",
        "  R1:32 = mov.b32 @z\n  R2:32 = selp.b32 R99, R1, P9\n",
        "  R1:32 = selp.b32 R99, 16, P9\n",
        "  R1:64 = cvta.shared.u64 @x\n",
        "  opaque \"foo.bar\" [R99]\n",
        "  @P9 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R1:32 = mov.phi b0: R99, b1: 16\n",
        "  @P9 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R1:32 = mov.phi b0: R90, b1: R99\n",
        "  bra b1\nb1:\n  R1:32 = mov.phi b0: R90, b1: R2\n  R2:32 = add.s32 R99, 4\n  @P9 bra b1 else b2\nb2:\n",
        ("  R3:32 = mov.b32 @z\n  bra b1\nb1:\n  R1:32 = mov.phi b0: R99, b1: R2\n  R2:32 = add.s32 R3, 4\n"
         "  @P9 bra b1 else b2\nb2:\n"),
    };
    for (size_t k = 0; k < ARRAY_LEN(kept) + ARRAY_LEN(escaping); k++) {
        bool keeps = k < ARRAY_LEN(kept);
        char body[900], text[64];
        Sample s;
        snprintf(body, sizeof body, "%s" LD_X ST_ESCAPED LD_X2, keeps ? kept[k] : escaping[k - ARRAY_LEN(kept)]);
        unit_context("%s", body);
        sample_open(&s, body);
        versions(&s, false, text);
        CHECK_Z(text + strlen(text) - 2, keeps ? "aa" : "ab");
        sample_close(&s);
    }
}

// A phi of two variables may be either one.
TEST(memory_mixed)
{
    static const Case cases[] = {
        {LD_X "  R3:32 = mov.b32 @z\n  bra b1\nb1:\n  R1:32 = mov.phi b0: R99, b1: R2\n  R4:32 = ld.shared.b32 [@z]\n"
              "  st.shared.b32 [R1], 1\n  R5:32 = ld.shared.b32 [@z]\n  R2:32 = add.s32 R3, 4\n"
              "  @P9 bra b1 else b2\nb2:\n" LD_X2,
         "abcd"},
        {LD_X "  R3:32 = mov.b32 @z\n  bra b1\nb1:\n  R1:32 = mov.phi b0: R3, b1: R2\n" LD_X2
              "  st.shared.b32 [R1+4], 1\n  R5:32 = ld.shared.b32 [@x]\n  R2:32 = add.s32 R99, 4\n"
              "  @P9 bra b1 else b2\nb2:\n",
         "abc"},
    };
    check_cases(cases, ARRAY_LEN(cases), false);
}

// In multi form only accesses that name a variable have one.
TEST(memory_multi_form)
{
    static const char *const stores[] = {"[@z]", "[R98]", "[R99]"};
    for (size_t k = 0; k < ARRAY_LEN(stores); k++) {
        Sample s;
        char text[64];
        sample_begin(&s);
        sample_add(&s, "target sm_80 ptx 8.0 address 64\nkernel @f(@n: 32) form multi {\n"
                       "  shared @x align 8 size 64\n  shared @z align 8 size 64\nb0:\n  R90:32 = ld.param.b32 [@n]\n"
                       "  R98:32 = mov.b32 @z\n  R90:32 = ld.param.b32 [@n]\n  R99:32 = mov.b32 @x\n"
                       "  R90:32 = ld.param.b32 [@n]\n" LD_X "  st.shared.b32 ");
        sample_add(&s, stores[k]);
        sample_add(&s, ", 1\n" LD_X2 "  exit\n}\n");
        sample_end(&s);
        CHECK_Z(versions(&s, false, text), k ? "ab" : "aa");
        sample_close(&s);
    }
}

// A call of a function that writes no memory keeps memory. What a call returns, and parameters of device functions, are
// not modelled.
TEST(memory_calls)
{
    Sample s;
    char text[64];
    sample_begin(&s);
    sample_add(&s, HEAD LD_G LD_X "  call @impure, (@arg)\n" LD_G2 LD_X2 "  R1:32 = ld.param.b32 [@arg]\n  exit\n}\n");
    sample_end(&s);
    CHECK_Z(versions(&s, false, text), "abcd?");
    analysis_drop(s.fn, 0);
    FOR_INSTRS(s.fn, s.fn->last, id)
        if (ir_desc(s.fn, ir_instr(s.fn, id))->op == OP_CALL)
            ir_sym(s.fn, ir_callee(s.fn, ir_instr(s.fn, id)))->flags |= SYM_NOCLOBBER;
    s.m = mem_versions_of(s.fn);
    s.a = analysis_need(s.fn, AN_CFG | AN_RPO | AN_DOM | AN_DEF);
    CHECK_Z(versions(&s, false, text), "abab?");
    sample_close(&s);
    sample_begin(&s);
    sample_add(&s, "target sm_80 ptx 8.0 address 64\ndevice @f(@n: 32) form ssa {\nb0:\n  R1:32 = ld.param.b32 [@n]\n"
                   "  R2:32 = ld.param.b32 [@n]\n  R3:32 = ld.param.b32 [@n]\n  R4:32 = ld.param.b32 [@n]\n  ret\n}\n");
    sample_end(&s);
    CHECK_Z(versions(&s, false, text), "?");
    sample_close(&s);
}

// Variables beyond the limit share the class of unknown variables.
TEST(memory_many_variables)
{
    Sample s;
    char line[200], text[64];
    sample_begin(&s);
    sample_add(&s, "target sm_80 ptx 8.0 address 64\nkernel @f(@p: 64, @n: 32) form ssa {\n");
    for (int k = 0; k < 10; k++) {
        snprintf(line, sizeof line, "  shared @v%d align 4 size 4\n", k);
        sample_add(&s, line);
    }
    sample_add(&s, "b0:\n  R90:32 = ld.param.b32 [@n]\n  R91:64 = ld.param.b64 [@p]\n"
                   "  R92:32 = ld.global.nc.b32 [R91]\n");
    for (int k = 0; k < 40; k++) {
        int v = k % 10;
        if (k == 10)
            sample_add(&s, "  st.shared.b32 [@v9], 1\n");
        if (k == 20)
            sample_add(&s, "  st.shared.b32 [@v3], 1\n");
        if (k == 30)
            sample_add(&s, "  st.shared.b32 [R90], 1\n");
        snprintf(line, sizeof line, "  R%d:32 = ld.shared.b32 [@v%d]\n", k, v);
        sample_add(&s, line);
    }
    sample_add(&s, "  exit\n}\n");
    sample_end(&s);
    CHECK_EQ(s.m->nclasses, MEM_VARIABLES_MAX + 1);
    CHECK_Z(versions(&s, false, text), "abcdefghiiabcdefghjjabckefghllmnopqrstuu");
    sample_close(&s);
}

/* -- Flow ----------------------------------------------------------------------------------------------- */

TEST(memory_phis)
{
    static const Case cases[] = {
        {LD_G "  @P9 bra b1 else b2\nb1:\n  st.global.b32 [R91], 1\n  bra b2\nb2:\n" LD_G2, "ab"},
        {LD_G "  @P9 bra b1 else b2\nb1:\n  st.shared.b32 [@x], 1\n  bra b2\nb2:\n" LD_G2, "aa"},
        {"  bra b1\nb1:\n" LD_G "  @P9 bra b1 else b2\nb2:\n" LD_G2, "aa"},
        {LD_G "  bra b1\nb1:\n" LD_G2 "  st.global.b32 [R91], 1\n  @P9 bra b1 else b2\nb2:\n", "ab"},
        {LD_G "  @P9 st.global.b32 [R91], 1\n" LD_G2, "ab"},
        {LD_G "  bra b2\nb1:\n  st.global.b32 [R91], 1\n  bra b2\nb2:\n" LD_G2, "aa"},
    };
    check_cases(cases, ARRAY_LEN(cases), false);
}

enum { G, GV, X, Y, S, E, L, M, LU, ANY, LOADS };  // kinds of loads
#define BIT(k) (1u << (k))
enum {
    GLOBAL = BIT(G) | BIT(GV),
    SHARED = BIT(X) | BIT(Y) | BIT(S) | BIT(E),
    LOCAL = BIT(L) | BIT(M) | BIT(LU),
    ALL = (1u << LOADS) - 1,
    OTHERS = ALL & ~BIT(L),  // what other code reaches
};

static const char *const load_texts[LOADS] = {
    [G] = "global.b32 [R91]", [GV] = "global.b32 [@g]", [X] = "shared.b32 [@x]", [Y] = "shared.b32 [@y]",
    [S] = "shared.b32 [R93]", [E] = "shared.b32 [@e]",  [L] = "local.b32 [@l]",  [M] = "local.b32 [@m]",
    [LU] = "local.b32 [R94]", [ANY] = "b32 [R91]",
};

// Loads of one class.
static uint32_t class_of_kind(uint32_t kind) { return kind == E ? S : kind; }

static const struct {
    const char *text;
    uint32_t kills;  // a bit for each kind of load
} writers[] = {
    {"st.global.b32 [R91], 1", GLOBAL | BIT(ANY)},
    {"st.global.b32 [@g], 1", GLOBAL | BIT(ANY)},
    {"st.shared.b32 [@x+4], 1", BIT(X) | BIT(S) | BIT(E) | BIT(ANY)},
    {"st.shared.b32 [@y], 1", BIT(Y) | BIT(S) | BIT(E) | BIT(ANY)},
    {"st.shared.b32 [@e2], 1", BIT(Y) | BIT(S) | BIT(E) | BIT(ANY)},
    {"st.shared.b32 [R93], 1", SHARED | BIT(ANY)},
    {"st.local.b32 [@l], 1", BIT(L) | BIT(LU) | BIT(ANY)},
    {"st.local.b32 [@m], 1", BIT(M) | BIT(LU) | BIT(ANY)},
    {"st.local.b32 [R94], 1", LOCAL | BIT(ANY)},
    {"st.b32 [R91], 1", OTHERS},
    {"@P9 st.b32 [R91], 1", OTHERS},
    {"bar.sync 0", OTHERS},
    {"red.global.add.u32 [R91], 1", OTHERS},
};

enum { STEPS_MAX = 400 };

// An instruction of a random function.
typedef struct Step {
    InstrId instr;
    BlockId block;
    int load;        // kind, -1 = none
    uint32_t kills;  // as in `writers`
} Step;

typedef struct Walk {
    Graph g;
    Sample s;
    Step step[STEPS_MAX];
    uint32_t nsteps;
    uint32_t first[GRAPH_BLOCKS + 2];  // by block: its first step
    BlockId block[GRAPH_BLOCKS + 1];   // by block of the graph
} Walk;

static void add_line(Walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(Walk *w, const char *format, ...)
{
    char line[200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sample_add(&w->s, line);
}

static void add_step(Walk *w, BlockId b, uint64_t *seed)
{
    Step *step = &w->step[w->nsteps++];
    *step = (Step){.block = b, .load = -1};
    if (unit_random(seed, 3)) {
        step->load = (int)unit_random(seed, LOADS);
        add_line(w, "  R%u:32 = ld.%s\n", 100 + w->nsteps, load_texts[step->load]);
    } else {
        uint32_t k = unit_random(seed, ARRAY_LEN(writers));
        step->kills = writers[k].kills;
        add_line(w, "  %s\n", writers[k].text);
    }
}

// Makes a function with the flow of a random graph. Block b0 of HEAD leads to the first block of the graph.
static void make_walk(Walk *w, uint64_t *seed)
{
    memset(w, 0, sizeof *w);
    graph_random(&w->g, seed);
    sample_begin(&w->s);
    sample_add(&w->s, HEAD "  bra b1\n");
    for (BlockId b = 1; b <= w->g.n; b++) {
        const BlockId *to = w->g.succ[b];
        add_line(w, "b%u:\n", b);
        w->first[b] = w->nsteps;
        for (uint32_t n = unit_random(seed, 5); n && w->nsteps < STEPS_MAX; n--)
            add_step(w, b, seed);
        w->g.nsucc[b] = MIN(w->g.nsucc[b], 2);
        if (w->g.nsucc[b] == 0)
            add_line(w, "  ret\n");
        else if (w->g.nsucc[b] == 1)
            add_line(w, w->g.guarded[b] ? "  @P9 ret else b%u\n" : "  bra b%u\n", to[0]);
        else
            add_line(w, "  @P9 bra b%u else b%u\n", to[0], to[1]);
    }
    w->first[w->g.n + 1] = w->nsteps;
    sample_add(&w->s, "}\n");
    sample_end(&w->s);
    uint32_t n = 0;
    FOR_BLOCKS(w->s.fn, b) {
        uint32_t ordinal = ir_block(w->s.fn, b)->ordinal;
        w->block[ordinal] = b;
        FOR_INSTRS(w->s.fn, b, id)
            if (ordinal && id != ir_terminator(w->s.fn, b))
                w->step[n++].instr = id;
    }
    CHECK_EQ(n, w->nsteps);
}

// Visits the steps after step `from` up to the end of its block, then the following blocks, without passing step `stop`
// or step `to`. Returns true if some path to step `to` executes a step that kills loads of `kind`.
typedef struct Path {
    bool seen[GRAPH_BLOCKS + 1][2];  // by block and by whether a killing step was passed
} Path;

static bool search(const Walk *w, Path *p, BlockId b, uint32_t from, bool killed, uint32_t stop, uint32_t to, int kind)
{
    for (uint32_t k = from; k < w->first[b + 1]; k++) {
        if (k == to && killed)
            return true;
        if (k == stop)
            return false;
        killed |= w->step[k].kills >> kind & 1;
    }
    for (uint32_t k = 0; k < w->g.nsucc[b]; k++) {
        BlockId next = w->g.succ[b][k];
        if (p->seen[next][killed])
            continue;
        p->seen[next][killed] = true;
        if (search(w, p, next, w->first[next], killed, stop, to, kind))
            return true;
    }
    return false;
}

static bool step_dominates(const Walk *w, uint32_t x, uint32_t y)
{
    BlockId a = w->step[x].block, b = w->step[y].block;
    return a == b ? x < y : dominates(w->s.a, w->block[a], w->block[b]);
}

// Two loads of one class, of which the first dominates the second, read the same version if and only if no path between
// them kills.
static uint32_t check_walk(Walk *w)
{
    uint32_t pairs = 0;
    for (uint32_t x = 0; x < w->nsteps; x++) {
        for (uint32_t y = 0; y < w->nsteps; y++) {
            int kx = w->step[x].load, ky = w->step[y].load;
            if (x == y || kx < 0 || ky < 0 || class_of_kind((uint32_t)kx) != class_of_kind((uint32_t)ky) ||
                !is_reachable(w->s.a, w->block[w->step[y].block]) || !step_dominates(w, x, y))
                continue;
            Path p = {0};
            bool killed = search(w, &p, w->step[x].block, x + 1, false, x, y, kx);
            MemVersionId vx = mem_version_of_load(w->s.m, w->step[x].instr);
            MemVersionId vy = mem_version_of_load(w->s.m, w->step[y].instr);
            CHECK(vx != MEM_UNKNOWN && vy != MEM_UNKNOWN);
            CHECK_EQ(vx == vy, !killed);
            pairs++;
        }
    }
    return pairs;
}

// The versions of a block agree at its start and its end; the inputs of phis are the versions of the predecessors.
static void check_records(const Walk *w)
{
    const MemVersions *m = w->s.m;
    for (MemVersionId v = 1; v < m->nversions; v++) {
        const MemVersion *r = mem_version(m, v);
        uint32_t n = r->inputs;
        if (r->kind == MV_STORE || r->kind == MV_KILL)
            CHECK_EQ(mem_version(m, r->prev)->class, r->class);
        if (r->kind != MV_PHI)
            continue;
        CHECK_EQ(mem_version_at_start(m, w->s.a, r->class, r->block), v);
        CHECK_EQ(r->n, pred_count(w->s.a, r->block));
        FOR_PREDS(w->s.a, r->block, p)
            CHECK_EQ(m->input[n++], mem_version_at_end(m, r->class, *p));
    }
    for (uint32_t c = 0; c < m->nclasses; c++)
        FOR_BLOCKS(w->s.fn, b) {
            MemVersionId end = mem_version_at_end(m, c, b);
            CHECK_EQ(end == MEM_UNKNOWN, !is_reachable(w->s.a, b));
            if (end == MEM_UNKNOWN)
                continue;
            const MemVersion *last = mem_version(m, end);
            if (last->block != b || last->kind == MV_PHI || last->kind == MV_ENTRY)
                CHECK_EQ(end, mem_version_at_start(m, w->s.a, c, b));
        }
}

TEST(memory_random_flow)
{
    uint64_t seed = 5;
    uint32_t pairs = 0;
    Walk walk, *w = &walk;
    for (uint32_t round = 0; round < 600; round++) {
        unit_context("graph %u", round);
        make_walk(w, &seed);
        if (w->s.m->nclasses) {
            pairs += check_walk(w);
            check_records(w);
        }
        char why[200];
        CHECK(analysis_check(w->s.fn, AN_MEM, why));
        sample_close(&w->s);
    }
    CHECK(pairs > 5000);
}

/* -- Large functions ------------------------------------------------------------------------------------ */

static InstrId emit_load(Shape *s, BlockId b)
{
    RegId to = reg_new(s->fn, RF_R, W32);
    return emit(s->fn, b, "ld.shared.b32", "%,[&]", 0, OPS(def(s->fn, to), use(s->fn, s->r), op_const(s->fn, 0, W64)));
}

static void emit_store(Shape *s, BlockId b)
{
    emit(s->fn, b, "st.shared.b32", "[&],%", 0, OPS(use(s->fn, s->r), op_const(s->fn, 0, W64), use(s->fn, s->r)));
}

// A chain of blocks that store, as deep as the dominator tree, with edges back to the first.
TEST(memory_deep)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b < MANY; b++) {
        emit_load(&s, b);
        emit_store(&s, b);
        shape_branch(&s, b, b + 1, b % 2 ? 1 : b);
    }
    emit_load(&s, MANY);
    emit_ret(s.fn, MANY);
    const MemVersions *m = mem_versions_of(s.fn);
    CHECK_EQ(m->nclasses, 1);
    CHECK_EQ(m->ninputs, MANY - 1 + MANY / 2 - 1);
    shape_close(&s);
}

// A switch whose cases store, load, and meet in one block.
TEST(memory_switch)
{
    Shape s;
    shape_open(&s, MANY);
    InstrId before = emit_load(&s, 1);
    shape_switch(&s, 1, 2, MANY - 2);
    for (BlockId b = 2; b < MANY; b++) {
        InstrId in = emit_load(&s, b);
        if (b % 2)
            emit_store(&s, b);
        emit_bra(s.fn, b, MANY);
        if (b == 2 || b == MANY - 1)
            CHECK(in);
    }
    InstrId after = emit_load(&s, MANY);
    emit_ret(s.fn, MANY);
    const MemVersions *m = mem_versions_of(s.fn);
    MemVersionId v = mem_version_of_load(m, before), end = mem_version_of_load(m, after);
    CHECK_EQ(mem_version(m, v)->kind, MV_ENTRY);
    CHECK_EQ(mem_version(m, end)->kind, MV_PHI);
    CHECK_EQ(mem_version(m, end)->n, MANY - 2);
    CHECK_EQ(m->nversions, 3 + (MANY - 2) / 2);
    CHECK_EQ(m->input[mem_version(m, end)->inputs], v);
    shape_close(&s);
}

// Loops within loops that all end in one block: the dominance frontiers have quadratic size.
TEST(memory_nest)
{
    Shape s;
    uint32_t depth = MANY / 2;
    shape_open(&s, 2 * depth + 1);
    for (BlockId b = 1; b <= depth; b++)
        emit_bra(s.fn, b, b + 1);
    emit_load(&s, depth + 1);
    for (uint32_t k = 0; k < depth; k++) {
        BlockId b = depth + 1 + k;
        emit_store(&s, b);
        shape_branch(&s, b, depth - k, b + 1);
    }
    emit_load(&s, 2 * depth + 1);
    emit_ret(s.fn, 2 * depth + 1);
    const MemVersions *m = mem_versions_of(s.fn);
    CHECK_EQ(m->ninputs, 2 * depth - 1);
    shape_close(&s);
}

/* -- Places --------------------------------------------------------------------------------------------- */

// The versions after passing stores to disjoint places.
TEST(memory_clobbers)
{
    static const Case cases[] = {
        {LD_G "  st.global.b32 [R91+4], 1\n" LD_G2, "aa"},
        {LD_G "  st.global.b32 [R91-4], 1\n" LD_G2, "aa"},
        {LD_G "  st.global.b32 [R91+3], 1\n" LD_G2, "ab"},
        {LD_G "  st.global.b32 [R91-3], 1\n" LD_G2, "ab"},
        {LD_G "  st.global.b64 [R91-4], R91\n" LD_G2, "ab"},
        {LD_G "  st.global.v2.b32 [R91-4], {R90, R90}\n" LD_G2, "ab"},
        {LD_G "  st.global.v2.b32 [R91-8], {R90, R90}\n" LD_G2, "aa"},
        {LD_G "  st.global.b8 [R91+3], R90\n" LD_G2, "ab"},
        {LD_G "  st.global.b32 [R94], 1\n" LD_G2, "ab"},
        {"  R1:64 = add.s64 R91, 8\n" LD_G "  st.global.b32 [R1], 1\n" LD_G2, "aa"},
        {"  R1:64 = add.s64 R91, 8\n" LD_G "  st.global.b32 [R1-8], 1\n" LD_G2, "ab"},
        {"  R1:64 = sub.s64 R91, 8\n" LD_G "  st.global.b32 [R1+8], 1\n" LD_G2, "ab"},
        {"  R1:64 = add.s64 8, R91\n  R2:64 = mov.b64 R1\n" LD_G "  st.global.b32 [R2-4], 1\n" LD_G2, "aa"},
        {"  R1:64 = sub.s64 8, R91\n" LD_G "  st.global.b32 [R1], 1\n" LD_G2, "ab"},
        {"  R1:64 = add.s64 R91, R94\n" LD_G "  st.global.b32 [R1], 1\n" LD_G2, "ab"},
        {"  @P9 R1:64 = add.s64 R91, 8 else R91\n" LD_G "  st.global.b32 [R1], 1\n" LD_G2, "ab"},
        {LD_G "  bar.sync 0\n" LD_G2, "ab"},
        {LD_G "  st.volatile.global.b32 [R91+4], 1\n" LD_G2, "ab"},
        {LD_ANY "  st.shared.b32 [@x], 1\n" LD_ANY2, "ab"},
        {LD_ANY "  st.b32 [R91+4], 1\n" LD_ANY2, "aa"},
        {LD_ANY "  st.global.b32 [R91+4], 1\n" LD_ANY2, "ab"},
        // Addresses of 32 bits: sums with constants may wrap, so they are roots; offsets of one root do not meet.
        {LD_S "  st.shared.b32 [R93+4], 1\n" LD_S2, "aa"},
        {LD_S "  st.shared.b32 [R93+4294967296], 1\n" LD_S2, "ab"},
        {"  R1:32 = add.s32 R93, 4\n" LD_S "  st.shared.b32 [R1], 1\n" LD_S2, "ab"},
        {"  R1:32 = mov.b32 R93\n" LD_S "  st.shared.b32 [R1+4], 1\n" LD_S2, "aa"},
        {LD_S "  st.shared::cluster.b32 [R93+4], 1\n" LD_S2, "ab"},
        // Variables: within their bounds they are apart.
        {LD_X "  st.shared.b32 [@x+4], 1\n" LD_X2, "aa"},
        {LD_X "  st.shared.b32 [R99+4], 1\n" LD_X2, "aa"},
        {LD_X "  st.shared.b32 [R99], 1\n" LD_X2, "ab"},
        {LD_X "  st.shared.b32 [@z+60], 1\n" LD_X2, "aa"},
        {LD_X "  st.shared.b32 [@z+64], 1\n" LD_X2, "ab"},
        {"  R1:32 = ld.shared.b32 [@e]\n  st.shared.b32 [@e2+4], 1\n  R2:32 = ld.shared.b32 [@e]\n", "ab"},
        {"  R1:32 = ld.shared.b32 [@e]\n  st.shared.b32 [@e+4], 1\n  R2:32 = ld.shared.b32 [@e]\n", "aa"},
        {"  R1:32 = ld.shared.b32 [16]\n  st.shared.b32 [20], 1\n  R2:32 = ld.shared.b32 [16]\n", "aa"},
        {"  R1:32 = ld.shared.b32 [16]\n  st.shared.b32 [18], 1\n  R2:32 = ld.shared.b32 [16]\n", "ab"},
    };
    check_cases(cases, ARRAY_LEN(cases), true);
}

TEST(memory_steps)
{
    for (int n = CLOBBER_STEPS; n <= CLOBBER_STEPS + 1; n++) {
        Sample s;
        char text[64];
        sample_begin(&s);
        sample_add(&s, HEAD LD_G);
        for (int k = 0; k < n; k++)
            sample_add(&s, "  st.global.b32 [R91+8], 1\n");
        sample_add(&s, LD_G2 "  exit\n}\n");
        sample_end(&s);
        CHECK_Z(versions(&s, true, text), n == CLOBBER_STEPS ? "aa" : "ab");
        sample_close(&s);
    }
}

static Operand all_equal(const void *user, Operand o)
{
    (void)user;
    (void)o;
    return op_imm(1);
}

TEST(memory_places)
{
    Sample s;
    sample_open(&s, "  R1:64 = add.s64 R91, 8\n  st.global.b32 [R1+4], R90\n  R2:32 = ld.global.b32 [R91+12]\n"
                    "  R3:32 = ld.global.b32 [R94+12]\n  R4:16 = ld.global.b16 [R91+12]\n"
                    "  R5:32 = ld.volatile.global.b32 [R91+12]\n  st.shared.b32 [@x+4], R90\n");
    AccessPlace p[6];
    uint32_t n = 0;
    FOR_INSTRS(s.fn, s.fn->last, id) {
        const Desc *d = ir_desc(s.fn, ir_instr(s.fn, id));
        bool head = d->traits & TR_RDONLY || mem_version_of_load(s.m, id) == MEM_CONSTANT;
        if (!head && (d->op == OP_LD || d->op == OP_ST) && n < 6)
            p[n++] = access_place(s.fn, s.a, id);
    }
    CHECK_EQ(n, 6);
    CHECK(p[0].offset == 12 && p[0].bytes == 4 && p[0].space == SP_GLOBAL && op_is_reg(p[0].root) && !p[0].inside);
    CHECK(places_equal(&p[0], &p[1], NULL, NULL) && !places_disjoint(&p[0], &p[1], NULL, NULL));
    CHECK(!places_equal(&p[0], &p[2], NULL, NULL) && places_equal(&p[0], &p[2], all_equal, NULL));
    CHECK(!places_equal(&p[0], &p[3], NULL, NULL));
    CHECK_EQ(p[4].bytes, 0);
    CHECK(!places_equal(&p[4], &p[4], NULL, NULL) && !places_disjoint(&p[4], &p[0], NULL, NULL));
    CHECK(op_kind(p[5].root) == K_SYM && p[5].inside && places_disjoint(&p[5], &p[0], NULL, NULL));
    sample_close(&s);
}

void test_memory_versions(void)
{
    RUN(memory_opcodes);
    RUN(memory_modifiers);
    RUN(memory_reusable);
    RUN(memory_killed);
    RUN(memory_kept);
    RUN(memory_variables);
    RUN(memory_spaces);
    RUN(memory_bases);
    RUN(memory_mixed);
    RUN(memory_multi_form);
    RUN(memory_calls);
    RUN(memory_many_variables);
    RUN(memory_phis);
    RUN(memory_random_flow);
    RUN(memory_deep);
    RUN(memory_switch);
    RUN(memory_nest);
    RUN(memory_clobbers);
    RUN(memory_steps);
    RUN(memory_places);
}
