// SPDX-License-Identifier: MIT
// Tests pointer analysis: spaces, symbols, ranges, escaped variables, pointers that grow in loops.
#include "ir/analysis/pointers.h"

#include "ir/text/text.h"
#include "tests/unit/unit.h"

/* -- Results as text ------------------------------------------------------------------------------------ */

typedef struct Found {
    Heap heap;
    Arena arena;
    Module *module;
    Analyses own;  // of pointers_of_single_defs()
    Pointers *pointers;
    char text[1000];
    size_t n;
} Found;

static void say(Found *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(Found *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->n += (size_t)vsnprintf(f->text + f->n, sizeof f->text - f->n, format, args);
    va_end(args);
}

static void say_name(Found *f, SymId sym)
{
    const Fn *fn = f->module->fns.at[0];
    Str stem = str_get(&fn->tables->strs, ir_sym(fn, sym)->name.stem);
    say(f, "%.*s", (int)stem.len, stem.text);
}

// Prints `x+4`, `~x+4` for a generic address, `local+0..8` if only the space is known, `+` for any offset.
static void say_pointer(Found *f, const Pointer *at)
{
    static const char *const spaces[16] = {
        [SP_NONE] = "?", [SP_LOCAL] = "local", [SP_SHARED] = "shared", [SP_CLUSTER] = "cluster"};
    if (at->generic)
        say(f, "~");
    if (at->sym)
        say_name(f, at->sym);
    else
        say(f, "%s", spaces[at->space] ? spaces[at->space] : "space");
    if (at->lo == INT64_MIN && at->hi == INT64_MAX)
        say(f, "+");
    else if (at->lo == INT64_MIN || at->hi == INT64_MAX)
        say(f, at->lo == INT64_MIN ? "..%lld" : "+%lld..", (long long)(at->lo == INT64_MIN ? at->hi : at->lo));
    else if (at->lo == at->hi)
        say(f, "+%lld", (long long)at->lo);
    else
        say(f, "+%lld..%lld", (long long)at->lo, (long long)at->hi);
}

static void say_all(Found *f)
{
    const Fn *fn = f->module->fns.at[0];
    for (uint32_t k = 0; k < f->pointers->accesses.n; k++) {
        say(f, k ? " " : "");
        say_pointer(f, f->pointers->accesses.at[k].at);
    }
    for (uint32_t s = 1; s < fn->syms.n; s++)
        if (f->pointers->escaped[s]) {
            say(f, " !");
            say_name(f, s | SYM_LOCAL);
        }
    if (f->pointers->absolute)
        say(f, " absolute");
}

#define SYMBOLS                      \
    "  local @x align 16 size 64\n"  \
    "  local @y align 8 size 8\n"    \
    "  shared @s align 8 size 64\n"  \
    "b0:\n"                          \
    "  R90:32 = ld.param.b32 [@n]\n" \
    "  R91:64 = ld.param.b64 [@p]\n" \
    "  P9 = setp.eq.s32 R90, 3\n"    \
    "  R92:64 = mov.b64 @x\n"

// `form` is "multi", "ssa", or "single" for multi form without AN_RDEFS.
static const char *find(Found *f, const char *form, const char *body)
{
    Sink messages = {0};
    bool single = strcmp(form, "single") == 0;
    memset(f, 0, sizeof *f);
    unit_heap(&f->heap);
    arena_init(&f->arena, &f->heap);
    TextBuffer text = {.arena = &f->arena};
    const char *const parts[] = {"target sm_80 ptx 8.0 address 64\nkernel @f(@p: 64, @n: 32) form ",
                                 single ? "multi" : form, " {\n" SYMBOLS, body, "  exit\n}\n"};
    for (size_t k = 0; k < ARRAY_LEN(parts); k++)
        out_to_text(&text, parts[k], strlen(parts[k]));
    Source source = text_source(&text, "in");
    Diag diag = {.source = &source, .write = sink_append, .user = &messages};
    f->module = text_read(&f->heap, &source, &diag);
    if (!f->module)
        heap_fail(&f->heap, ST_BAD_INPUT, "%.*s", (int)MIN(messages.n, 200), messages.text);
    sink_free(&messages);
    Fn *fn = f->module->fns.at[0];
    f->pointers = single ? pointers_of_single_defs(fn, &f->own) : pointers_of(fn);
    CHECK_EQ(fn->analyses->valid & AN_RDEFS, single ? 0 : AN_RDEFS);
    // The first addresses are those of the parameter loads.
    say_all(f);
    const char *after = strncmp(f->text, "n+0 p+0", 7) ? f->text : f->text + 7;
    return after + (*after == ' ');
}

static void close_found(Found *f)
{
    analysis_free(&f->own);
    module_free(f->module);
    arena_free(&f->arena);
    heap_release(&f->heap);
}

typedef struct Case {
    const char *body, *expected;
} Case;

static void check_all(const char *form, const Case *cases, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        Found f;
        unit_context("%s: %s", form, cases[k].body);
        CHECK_Z(find(&f, form, cases[k].body), cases[k].expected);
        close_found(&f);
    }
}

static void check_both(const Case *cases, size_t n)
{
    check_all("multi", cases, n);
    check_all("single", cases, n);
    check_all("ssa", cases, n);
}

/* -- Tests ---------------------------------------------------------------------------------------------- */

#define LD(address) "  R80:32 = ld.local.b32 [" address "]\n"
#define ST(address) "  st.local.b32 [" address "], R90\n"

TEST(pointers_symbols_and_spaces)
{
    static const Case cases[] = {
        {LD("@x"), "x+0"},
        {LD("@x+12"), "x+12"},
        {LD("R92-4"), "x+-4"},
        {"  R1:64 = cvta.local.u64 @x+8\n  R2:32 = ld.b32 [R1+4]\n", "~x+12"},
        {"  R1:64 = cvta.local.u64 R92\n  R2:64 = add.s64 R1, 8\n  R3:64 = cvta.to.local.u64 R2\n" ST("R3"), "x+8"},
        {"  R1:64 = cvta.to.local.u64 R91\n" ST("R1"), "local+"},
        {"  R1:64 = cvta.shared.u64 R91\n  st.b32 [R1+4], 5\n", "~shared+"},
        {"  R1:64 = cvta.shared.u64 R92\n  st.b32 [R1+4], 5\n", "~shared+ !x"},
        {"  st.shared.b32 [@s+4], 1\n  R1:32 = atom.shared.add.u32 [@s], 2\n", "s+4 s+0"},
        {"  st.global.b32 [R91], 1\n", ""},
        {ST("R91"), ""},
        {ST("4"), "absolute"},
        {"  R1:32 = mov.b32 4\n" ST("R1+4"), "absolute"},
        {"  R1:32 = and.b32 R90, 4\n" ST("R1"), ""},
    };
    check_both(cases, ARRAY_LEN(cases));
}

// shared::cta is a part of shared::cluster. An address in shared::cluster is in shared::cta only if it is a variable's.
TEST(pointers_in_a_cluster)
{
    static const Case cases[] = {
        {"  R1:64 = cvta.shared::cluster.u64 R91\n  st.b32 [R1+4], 5\n", "~cluster+"},
        {"  R1:64 = cvta.shared::cta.u64 R91\n  st.b32 [R1+4], 5\n", "~shared+"},
        {"  R1:64 = cvta.shared::cluster.u64 @s+8\n  st.b32 [R1+4], 5\n", "~s+12"},
        {"  R1:64 = cvta.shared::cluster.u64 @s+64\n  st.b32 [R1-4], 5\n", "~s+60"},
        {"  R1:64 = cvta.shared::cluster.u64 @s+68\n  st.b32 [R1], 5\n", "~cluster+ !s"},
        {"  R1:64 = mov.b64 @s\n  R2:64 = cvta.shared::cluster.u64 R1\n  st.b32 [R2+4], 5\n", "~s+4"},
        {"  R1:64 = mov.b64 @s\n  R2:64 = add.s64 R1, R91\n  R3:64 = cvta.shared::cluster.u64 R2\n"
         "  st.b32 [R3], 5\n",
         "~cluster+ !s"},
        {"  R1:32 = and.b32 R90, 15\n  R2:64 = cvt.u64.u32 R1\n  R3:64 = mov.b64 @s\n  R4:64 = add.s64 R3, R2\n"
         "  R5:64 = cvta.shared::cluster.u64 R4\n  st.b32 [R5], 5\n",
         "~s+0..15"},
        {"  R1:64 = cvta.to.shared::cta.u64 R91\n  R2:64 = cvta.shared::cluster.u64 R1\n  st.b32 [R2], 5\n",
         "~cluster+"},
        {"  R1:64 = cvta.shared::cluster.u64 R91\n  R2:64 = cvta.to.shared::cluster.u64 R1\n"
         "  st.shared::cluster.b32 [R2], 5\n",
         "cluster+"},
        {"  R1:64 = cvta.shared::cluster.u64 R91\n  R2:64 = cvta.to.shared::cta.u64 R1\n  st.shared.b32 [R2], 5\n",
         "shared+"},
        {"  R1:64 = cvta.shared.u64 @s\n  R2:64 = cvta.to.shared::cluster.u64 R1\n"
         "  R3:64 = cvta.shared::cluster.u64 R2\n  st.b32 [R3], 5\n",
         "~cluster+ !s"},
        {"  R1:64 = cvta.shared.u64 R91\n  R2:64 = cvta.shared::cluster.u64 R91\n  R3:64 = selp.b64 R1, R2, P9\n"
         "  st.b32 [R3], 5\n",
         "?+"},
        {"  R1:64 = cvta.shared::cluster.u64 R92\n  st.b32 [R1+4], 5\n", "~cluster+ !x"},
        {"  R1:64 = mapa.shared::cluster.u64 @s, R90\n  R2:64 = cvta.shared::cluster.u64 R1\n  st.b32 [R2], 5\n",
         "~cluster+ !s"},
        {"  st.shared::cluster.b32 [@s+4], 1\n", "s+4"},
    };
    check_both(cases, ARRAY_LEN(cases));
}

TEST(pointers_ranges)
{
    static const Case cases[] = {
        {"  R1:32 = and.b32 R90, 3\n  R2:64 = mad.wide.u32 R1, 4, R92\n" LD("R2+8"), "x+8..20"},
        {"  R1:32 = and.b32 R90, 3\n  R2:32 = sub.s32 R1, 3\n  R3:64 = cvt.s64.s32 R2\n"
         "  R4:64 = add.s64 R3, R92\n" LD("R4"),
         "x+-3..0"},
        {"  R1:32 = shr.u32 R90, 28\n  R2:64 = cvt.u64.u32 R1\n  R3:64 = shl.b64 R2, 2\n"
         "  R4:64 = add.s64 R92, R3\n" LD("R4"),
         "x+0..60"},
        {"  R1:32 = rem.u32 R90, 5\n  R2:64 = mad.wide.u32 R1, 4, R92\n" LD("R2"), "x+0..16"},
        {"  R1:32 = and.b32 R90, 31\n  R2:32 = min.s32 R1, 6\n  R3:32 = max.s32 R2, 2\n"
         "  R4:64 = mad.wide.s32 R3, 4, R92\n" LD("R4"),
         "x+8..24"},
        {"  R1:32 = selp.b32 2, 5, P9\n  R2:64 = mad.wide.s32 R1, 4, R92\n" LD("R2"), "x+8..20"},
        {"  R1:32 = mul.lo.s32 R90, 4\n  R2:64 = cvt.s64.s32 R1\n  R3:64 = add.s64 R92, R2\n" LD("R3"),
         "x+-2147483648..2147483644"},
        {"  R1:32 = ld.global.u8 [R91]\n  R2:64 = mad.wide.u32 R1, 4, R92\n" LD("R2"), "x+0..1020"},
        {"  R1:32 = ld.global.s8 [R91]\n  R2:64 = mad.wide.s32 R1, 4, R92\n" LD("R2"), "x+-512..508"},
        {"  R1:16 = cvt.u16.u32 R90\n  R2:64 = cvt.u64.u16 R1\n  R3:64 = add.s64 R92, R2\n" LD("R3"), "x+0..65535"},
        {"  R1:32 = bfe.u32 0xf0, 4, 3\n  R2:64 = mad.wide.u32 R1, 4, R92\n" LD("R2"), "x+28"},
        {"  R1:64 = add.s64 R92, R91\n" LD("R1"), "x+"},
        {"  R1:64 = or.b64 R92, 12\n" LD("R1"), "x+12"},
        {"  R1:64 = or.b64 R92, 16\n" LD("R1"), "!x"},
        {"  R1:64 = selp.b64 R92, R92, P9\n  R2:64 = add.s64 R92, 8\n  R3:64 = selp.b64 R1, R2, P9\n" LD("R3"),
         "x+0..8"},
    };
    check_both(cases, ARRAY_LEN(cases));
}

// Addresses of 32 bits wrap; a conversion keeps an address only if it did not wrap.
TEST(pointers_of_32_bits)
{
    static const Case cases[] = {
        {"  R1:32 = mov.b32 @x\n  R2:32 = add.s32 R1, 8\n" LD("R2+4"), "x+12"},
        {"  R1:32 = mov.b32 @x\n  R2:32 = add.s32 R1, 0x7fffffff\n  R3:32 = add.s32 R2, 1\n" LD("R3"), "x+"},
        {"  R1:32 = mov.b32 @x\n  R2:32 = add.s32 R1, 0x7fffffff\n" LD("R2+1"), "x+"},
        {"  R1:32 = cvt.u32.u64 R92\n" LD("R1+4"), "x+4"},
        {"  R1:64 = add.s64 R92, 0x100000000\n  R2:32 = cvt.u32.u64 R1\n" LD("R2"), "x+"},
        {"  R1:32 = mov.b32 @x+4\n  R2:64 = cvt.u64.u32 R1\n" LD("R2"), "x+4"},
        {"  R1:32 = mov.b32 @x-4\n  R2:64 = cvt.u64.u32 R1\n" LD("R2"), "x+"},
        {"  R1:32 = mov.b32 @x\n  R2:32 = cvt.u32.u16 R1\n" LD("R2"), "!x"},
        {"  R1:64 = cvta.local.u64 R92\n  R2:32 = cvt.u32.u64 R1\n  R3:64 = cvt.u64.u32 R2\n  st.b32 [R3], 1\n", "!x"},
    };
    check_both(cases, ARRAY_LEN(cases));
}

TEST(pointers_escaped)
{
    static const Case cases[] = {
        {"  st.global.b64 [R91], R92\n", "!x"},
        {"  st.local.b64 [R92], R92\n", "x+0 !x"},
        {"  R1:64 = mul.lo.s64 R92, 2\n", "!x"},
        {"  R1:64 = sub.s64 R91, R92\n", "!x"},
        {"  R1:64 = mov.b64 @y\n  R2:64 = sub.s64 R92, R1\n", "!x !y"},
        {"  R1:64 = mov.b64 @y\n  R2:64 = selp.b64 R92, R1, P9\n" LD("R2"), "local+ !x !y"},
        {"  R1:64 = selp.b64 R92, 0, P9\n" LD("R1"), "?+ !x"},
        {"  {R1:32, R2:32} = mov.b64 R92\n", "!x"},
        {"  P1 = setp.eq.s64 R92, 0\n", ""},
        {"  P1 = setp.eq.s64 R92, R91\n", "!x"},
        {"  R1:64 = add.s64 R92, 4\n  P1 = setp.lt.u64 R92, R1\n", ""},
        {"  R1:64 = mov.b64 @y\n  P1 = setp.lt.u64 R92, R1\n", "!x !y"},
        {"  R1:64 = cvta.local.u64 R92\n  P1 = isspacep.local R1\n", ""},
        {"  opaque \"foo.bar\" [R92]\n", "!x"},
        {"  opaque \"foo.bar\" [@y]\n", "!y"},
        {"  st.shared.b32 [@y], 1\n", "y+0 !y"},
        {"  R1:64 = mov.b64 R92\n  opaque \"foo.bar\" {!R1:64}\n", "!x"},
    };
    check_both(cases, ARRAY_LEN(cases));
}

TEST(pointers_of_several_definitions)
{
    static const Case multi[] = {
        {"  @P9 R92:64 = add.s64 R92, 4\n" LD("R92"), "x+0..4"},
        {"  @P9 R92:64 = mov.b64 @y\n" LD("R92"), "local+ !x !y"},
        {"  @P9 R92:64 = mov.b64 R91\n" LD("R92"), "?+ !x"},
        {"  R92:64 = mov.b64 @y\n" LD("R92"), "y+0"},
        {"  R1:64 = mov.b64 @y\n  @P9 {R1:64, R92:64} = ld.global.v2.b64 [R91]\n" LD("R92"), "!x !y"},
        {"  @P9 R92:64 = ld.global.b64 [R91]\n", "!x"},
        {"  @P9 R1:64 = mov.b64 @y\n" LD("R1"), "y+0"},
        {"  @P9 bra b1 else b2\nb1:\n  R92:64 = add.s64 R92, 8\n  bra b2\nb2:\n" LD("R92"), "x+0..8"},
        {"  @P9 bra b1 else b2\nb1:\n  R92:64 = mov.b64 @y\n  bra b2\nb2:\n" LD("R92"), "local+ !x !y"},
        {"  bra b2\nb1:\n  R92:64 = mov.b64 @y\n  st.global.b64 [R91], R92\n  bra b2\nb2:\n" LD("R92"), "x+0 !y"},
    };
    static const Case ssa[] = {
        {"  @P9 R1:64 = add.s64 R92, 4 else R92\n" LD("R1"), "x+0..4"},
        {"  @P9 R1:64 = mov.b64 @y else R92\n" LD("R1"), "local+ !x !y"},
        {"  @P9 R1:64 = ld.global.b64 [R91] else R92\n", "!x"},
        {"  @P9 R1:64 = mov.b64 @y else undef\n" LD("R1"), "y+0"},
        {"  @P9 bra b1 else b2\nb1:\n  R1:64 = add.s64 R92, 8\n  bra b2\nb2:\n"
         "  R2:64 = mov.phi b0: R92, b1: R1\n" LD("R2"),
         "x+0..8"},
        {"  @P9 bra b1 else b2\nb1:\n  R1:64 = mov.b64 @y\n  bra b2\nb2:\n"
         "  R2:64 = mov.phi b0: R92, b1: R1\n" LD("R2"),
         "local+ !x !y"},
        {"  @P9 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R2:64 = mov.phi b0: R92, b1: 0\n" LD("R2"), "?+ !x"},
        {"  @P9 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R2:64 = mov.phi b0: R92, b1: undef\n" LD("R2"), "x+0"},
    };
    static const Case single[] = {
        {"  @P9 R92:64 = add.s64 R92, 4\n" LD("R92"), "!x"},
        {"  R92:64 = mov.b64 @y\n" LD("R92"), "!x !y"},
        {"  R1:64 = add.s64 R92, 8\n" LD("R1") "  @P9 R2:64 = add.s64 R1, 8\n" LD("R2"), "x+8 !x"},
        {"  R1:64 = add.s64 R92, 8\n  @P9 R2:64 = mov.b64 @y\n" LD("R1") LD("R2"), "x+8 !y"},
        {"  @P9 R1:32 = mov.b32 4\n  R2:64 = cvt.s64.s32 R1\n  R3:64 = add.s64 R92, R2\n" LD("R3"),
         "x+-2147483648..2147483647"},
        {"  @P9 bra b1 else b2\nb1:\n  R92:64 = add.s64 R92, 8\n  bra b2\nb2:\n" LD("R92"), "!x"},
    };
    check_all("multi", multi, ARRAY_LEN(multi));
    check_all("single", single, ARRAY_LEN(single));
    check_all("ssa", ssa, ARRAY_LEN(ssa));
}

// Numbers in loops have a full range, unless a later instruction bounds them. A pointer that advances in a loop may
// have any offset from its variable, but addresses no other variable.
TEST(pointers_in_loops)
{
    static const Case multi[] = {
        {"  R1:32 = mov.b32 0\n  bra b1\nb1:\n  R2:32 = and.b32 R1, 7\n  R3:64 = mad.wide.u32 R2, 4, R92\n" LD(
             "R3") "  R1:32 = add.s32 R1, 1\n  P1 = setp.lt.s32 R80, R90\n  @P1 bra b1 else b2\nb2:\n",
         "x+0..28"},
        {"  R2:32 = mov.b32 0\n  bra b1\nb1:\n  R3:64 = mad.wide.s32 R2, 4, R92\n" LD(
             "R3") "  R2:32 = add.s32 R2, 1\n  P1 = setp.lt.s32 R2, R90\n  @P1 bra b1 else b2\nb2:\n",
         "x+-8589934592..8589934588"},
    };
    check_all("multi", multi, ARRAY_LEN(multi));
    static const char *const walks[][2] = {
        {"multi", "  bra b1\nb1:\n" LD("R92") "  R92:64 = add.s64 R92, 4\n  P1 = setp.lt.s32 R80, R90\n"
                                              "  @P1 bra b1 else b2\nb2:\n"},
        {"multi", "  bra b1\nb1:\n" LD("R92") "  @P9 R92:64 = sub.s64 R92, 4\n  P1 = setp.lt.s32 R80, R90\n"
                                              "  @P1 bra b1 else b2\nb2:\n"},
        {"ssa", "  bra b1\nb1:\n  R2:64 = mov.phi b0: R92, b1: R3\n" LD(
                    "R2") "  R3:64 = add.s64 R2, 4\n  P1 = setp.lt.s32 R80, R90\n  @P1 bra b1 else b2\nb2:\n"},
    };
    for (size_t k = 0; k < ARRAY_LEN(walks); k++) {
        Found f;
        unit_context("%s: %s", walks[k][0], walks[k][1]);
        const char *walked = find(&f, walks[k][0], walks[k][1]);
        CHECK_Z(walked, "x+");
        close_found(&f);
    }
}

void test_pointers(void)
{
    RUN(pointers_symbols_and_spaces);
    RUN(pointers_in_a_cluster);
    RUN(pointers_ranges);
    RUN(pointers_of_32_bits);
    RUN(pointers_escaped);
    RUN(pointers_of_several_definitions);
    RUN(pointers_in_loops);
}
