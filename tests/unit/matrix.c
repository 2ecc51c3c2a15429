// SPDX-License-Identifier: MIT
// Tests matrix operations of a warp against sums of products, with the fragment layouts of the ISA's tables, and
// asynchronous copies, in generated kernels on the machine.
#include <stdarg.h>
#include <stdio.h>

#include "ir/eval/softfloat.h"
#include "ir/machine/machine.h"
#include "ir/ptx/ptx.h"
#include "tests/unit/unit.h"

/* -- Kernels -------------------------------------------------------------------------------------------- */

enum { BUFFERS = 4, BUFFER_BYTES = 1 << 15 };

// A kernel whose parameters are the addresses of four buffers. Its registers: %r0 is the thread, %rd0 to %rd3 are the
// buffers; %r, %rd, %f, %fd and %p up to 99 are free.
typedef struct Kernel {
    Heap heap;
    Arena arena;
    TextBuffer text;
    Source source;
    Sink messages;
    Diag diag;
    Module *module;
    Machine *machine;
    uint64_t address[BUFFERS];
    uint8_t *bytes[BUFFERS];
} Kernel;

__attribute__((format(printf, 2, 3))) static void line(Kernel *k, const char *fmt, ...)
{
    char text[1000];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    out_to_text(&k->text, text, (size_t)n);
    out_to_text(&k->text, "\n", 1);
}

static void open_kernel(Kernel *k)
{
    memset(k, 0, sizeof *k);
    unit_heap(&k->heap);
    arena_init(&k->arena, &k->heap);
    k->text.arena = &k->arena;
    line(k, ".version 8.4\n.target sm_90\n.address_size 64");
    line(k, ".shared .align 16 .b8 room[4096];");
    line(k, ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{");
    line(k, ".reg .b32 %%r<100>; .reg .b64 %%rd<100>; .reg .f32 %%f<100>; .reg .f64 %%fd<100>; .reg .pred %%p<100>;");
    line(k, "mov.u32 %%r0, %%tid.x;");
    for (int n = 0; n < BUFFERS; n++)
        line(k, "ld.param.u64 %%rd%d, [p%d];", n, n);
}

// Ends the text, and makes the machine.
static void load_kernel(Kernel *k)
{
    line(k, "ret;\n}");
    k->source = text_source(&k->text, "k.ptx");
    k->diag = (Diag){.source = &k->source, .write = sink_append, .user = &k->messages};
    k->module = ptx_read(&k->heap, &k->source, &k->diag, &(PtxReadOptions){.strip_debug = false});
    if (!k->module)
        heap_fail(&k->heap, ST_BAD_INPUT, "%.*s", (int)MIN(k->messages.n, 200), k->messages.text);
    k->machine = machine_new(&k->heap, k->module, (MachineOptions){.max_steps = 1000000});
    for (int n = 0; n < BUFFERS; n++) {
        uint64_t size;
        k->address[n] = machine_alloc(k->machine, BUFFER_BYTES, NULL);
        k->bytes[n] = machine_bytes(k->machine, k->address[n], &size);
    }
}

static bool runs(Kernel *k, uint32_t threads)
{
    uint8_t params[8 * BUFFERS];
    Launch l = {.entry = k->module->fns.at[0]->sym, .grid = {1, 1, 1}, .block = {threads, 1, 1}};
    for (int n = 0; n < 8 * BUFFERS; n++)
        params[n] = (uint8_t)(k->address[n / 8] >> n % 8 * 8);
    l.params = params;
    l.nparams = sizeof params;
    return machine_run(k->machine, &l);
}

static void run_kernel(Kernel *k, uint32_t threads)
{
    if (!CHECK(runs(k, threads)))
        CHECK_Z(machine_error(k->machine)->text, "");
}

static void close_kernel(Kernel *k)
{
    sink_free(&k->messages);
    if (k->machine)
        machine_free(k->machine);
    module_free(k->module);
    arena_free(&k->arena);
    heap_release(&k->heap);
}

static uint64_t get(const uint8_t *from, uint64_t index, uint32_t bits)
{
    uint64_t a = 0, at = index * bits;
    for (uint32_t k = 0; k < MAX(bits / 8, 1); k++)
        a |= (uint64_t)from[at / 8 + k] << 8 * k;
    return bits < 8 ? a >> at % 8 & ((1u << bits) - 1) : a;
}

static void set(uint8_t *to, uint64_t index, uint32_t bits, uint64_t a)
{
    uint64_t at = index * bits;
    if (bits < 8) {
        uint32_t mask = ((1u << bits) - 1) << at % 8;
        to[at / 8] = (uint8_t)((to[at / 8] & ~mask) | (a << at % 8 & mask));
    }
    for (uint32_t k = 0; k < bits / 8; k++)
        to[at / 8 + k] = (uint8_t)(a >> 8 * k);
}

/* -- Elements ------------------------------------------------------------------------------------------- */

typedef struct Element {
    const char *name;
    uint32_t bits;
    bool is_signed;
    const Format *format;
} Element;

static const Element elements[] = {
    {"f16", 16, true, &format_f16},   {"bf16", 16, true, &format_bf16},
    {"tf32", 32, true, &format_tf32}, {"f32", 32, true, &format_f32},
    {"f64", 64, true, &format_f64},   {"e4m3", 8, true, &format_e4m3},
    {"e5m2", 8, true, &format_e5m2},  {"s8", 8, true, NULL},
    {"u8", 8, false, NULL},           {"s4", 4, true, NULL},
    {"u4", 4, false, NULL},           {"b1", 1, false, NULL},
    {"s32", 32, true, NULL},
};

static const Element *element(const char *name)
{
    const Element *e = elements;
    while (strcmp(e->name, name) != 0)
        e++;
    return e;
}

// Returns a number of the type; for floating point a small one, so that all sums are exact.
static int64_t random_value(const Element *e, uint64_t *seed)
{
    if (e->format || e->bits == 32)
        return (int64_t)unit_random(seed, 9) - 4;
    return (int64_t)unit_random(seed, 1u << e->bits) - (e->is_signed ? 1 << (e->bits - 1) : 0);
}

static uint64_t bits_of(const Element *e, int64_t value)
{
    if (e->format)
        return float_from_integer(e->format, (uint64_t)value, 64, true, ROUND_NEAREST_EVEN);
    return (uint64_t)value & (e->bits == 64 ? UINT64_MAX : ((uint64_t)1 << e->bits) - 1);
}

/* -- mma ------------------------------------------------------------------------------------------------ */

enum { M_MAX = 32, N_MAX = 32, K_MAX = 256 };

typedef struct Product {
    int64_t a[M_MAX][K_MAX], b[K_MAX][N_MAX], c[M_MAX][N_MAX], d[M_MAX][N_MAX];
} Product;

static void make_product(Product *p, uint32_t m, uint32_t n, uint32_t k, const Element *const type[static 4],
                         bool is_xor)
{
    static uint64_t seed = 1;
    for (uint32_t y = 0; y < m; y++)
        for (uint32_t x = 0; x < k; x++)
            p->a[y][x] = random_value(type[1], &seed);
    for (uint32_t y = 0; y < k; y++)
        for (uint32_t x = 0; x < n; x++)
            p->b[y][x] = random_value(type[2], &seed);
    for (uint32_t y = 0; y < m; y++)
        for (uint32_t x = 0; x < n; x++) {
            p->d[y][x] = p->c[y][x] = random_value(type[3], &seed);
            for (uint32_t z = 0; z < k; z++)
                p->d[y][x] += is_xor ? p->a[y][z] ^ p->b[z][x] : p->a[y][z] * p->b[z][x];
        }
}

// Rows and columns of the elements of a fragment, from the ISA, with g = lane / 4 and t = lane % 4: elements of a whose
// number has `low8` are 8 rows below g, and each group of `wide` elements, in a and in b, continues in further columns.
typedef struct MmaCase {
    const char *shape;
    uint32_t m, k;
    const char *types[4];  // d, a, b, c
    uint32_t na, nb;       // elements
    uint32_t low8, wide_a;
    const char *after;
} MmaCase;

static const MmaCase mma_cases[] = {
    {"m16n8k8", 16, 8, {"f16", "f16", "f16", "f16"}, 4, 2, 2, 4, ""},
    {"m16n8k8", 16, 8, {"f32", "bf16", "bf16", "f32"}, 4, 2, 2, 4, ""},
    {"m16n8k16", 16, 16, {"f32", "f16", "f16", "f32"}, 8, 4, 2, 4, ""},
    {"m16n8k16", 16, 16, {"f16", "f16", "f16", "f16"}, 8, 4, 2, 4, ""},
    {"m16n8k16", 16, 16, {"f32", "bf16", "bf16", "f32"}, 8, 4, 2, 4, ""},
    {"m16n8k4", 16, 4, {"f32", "tf32", "tf32", "f32"}, 2, 1, 1, 2, ""},
    {"m16n8k8", 16, 8, {"f32", "tf32", "tf32", "f32"}, 4, 2, 1, 2, ""},
    {"m8n8k4", 8, 4, {"f64", "f64", "f64", "f64"}, 1, 1, 0, 1, ""},
    {"m16n8k4", 16, 4, {"f64", "f64", "f64", "f64"}, 2, 1, 1, 2, ""},
    {"m16n8k8", 16, 8, {"f64", "f64", "f64", "f64"}, 4, 2, 1, 2, ""},
    {"m16n8k16", 16, 16, {"f64", "f64", "f64", "f64"}, 8, 4, 1, 2, ""},
    {"m8n8k16", 8, 16, {"s32", "s8", "s8", "s32"}, 4, 4, 0, 4, ""},
    {"m8n8k16", 8, 16, {"s32", "u8", "s8", "s32"}, 4, 4, 0, 4, ""},
    {"m16n8k16", 16, 16, {"s32", "s8", "u8", "s32"}, 8, 4, 4, 8, ""},
    {"m16n8k32", 16, 32, {"s32", "s8", "s8", "s32"}, 16, 8, 4, 8, ""},
    {"m16n8k32", 16, 32, {"s32", "u8", "u8", "s32"}, 16, 8, 4, 8, ""},
    {"m8n8k32", 8, 32, {"s32", "s4", "u4", "s32"}, 8, 8, 0, 8, ""},
    {"m16n8k32", 16, 32, {"s32", "u4", "s4", "s32"}, 16, 8, 8, 16, ""},
    {"m16n8k64", 16, 64, {"s32", "s4", "s4", "s32"}, 32, 16, 8, 16, ""},
    {"m8n8k128", 8, 128, {"s32", "b1", "b1", "s32"}, 32, 32, 0, 32, ".xor.popc"},
    {"m16n8k128", 16, 128, {"s32", "b1", "b1", "s32"}, 64, 32, 32, 64, ".and.popc"},
    {"m16n8k256", 16, 256, {"s32", "b1", "b1", "s32"}, 128, 64, 32, 64, ".xor.popc"},
    {"m16n8k32", 16, 32, {"f32", "e4m3", "e5m2", "f32"}, 16, 8, 4, 8, ""},
    {"m16n8k16", 16, 16, {"f16", "e5m2", "e5m2", "f16"}, 8, 4, 4, 8, ""},
};

static uint32_t register_width(const Element *e) { return e->bits == 64 ? 64 : 32; }

// Returns `{%r10, %r11, ...}`.
static const char *registers(char text[static 400], uint32_t first, uint32_t n, bool wide)
{
    int at = 0;
    for (uint32_t k = 0; k < n; k++)
        at += snprintf(text + at, (size_t)(400 - at), "%s%%%s%u", k ? ", " : "{", wide ? "rd" : "r", first + k);
    snprintf(text + at, (size_t)(400 - at), "}");
    return text;
}

// Loads or stores a lane's registers, which are contiguous in the buffer.
static void move_registers(Kernel *k, bool load, int buffer, uint32_t first, uint32_t n, uint32_t width)
{
    const char *name = width == 64 ? "rd" : "r";
    line(k, "mad.wide.u32 %%rd4, %%r0, %u, %%rd%d;", n * width / 8, buffer);
    for (uint32_t i = 0; i < n; i++)
        if (load)
            line(k, "ld.global.b%u %%%s%u, [%%rd4+%u];", width, name, first + i, i * width / 8);
        else
            line(k, "st.global.b%u [%%rd4+%u], %%%s%u;", width, i * width / 8, name, first + i);
}

static void fill_fragments(Kernel *k, const MmaCase *t, const Element *const type[static 4], const Product *p)
{
    uint32_t nc = t->m / 4, step = register_width(type[1]) / type[1]->bits;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t g = lane / 4, c = lane % 4 * step;
        for (uint32_t i = 0; i < t->na; i++)
            set(k->bytes[0], lane * t->na + i, type[1]->bits,
                bits_of(type[1], p->a[g + (i & t->low8 ? 8 : 0)][c + i % step + i / t->wide_a * 4 * step]));
        for (uint32_t i = 0; i < t->nb; i++)
            set(k->bytes[1], lane * t->nb + i, type[2]->bits,
                bits_of(type[2], p->b[c + i % step + i / step * 4 * step][g]));
        for (uint32_t i = 0; i < nc; i++)
            set(k->bytes[2], lane * nc + i, type[3]->bits,
                bits_of(type[3], p->c[g + (i & 2 ? 8 : 0)][lane % 4 * 2 + (i & 1)]));
    }
}

static void check_fragments(const Kernel *k, const MmaCase *t, const Element *type, const Product *p)
{
    uint32_t n = t->m / 4;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t row = lane / 4 + (i & 2 ? 8 : 0), col = lane % 4 * 2 + (i & 1);
            CHECK_EQ(get(k->bytes[3], lane * n + i, type->bits), bits_of(type, p->d[row][col]));
        }
}

TEST(mma_is_a_sum_of_products)
{
    static Product p;
    for (const MmaCase *t = mma_cases; t < mma_cases + ARRAY_LEN(mma_cases); t++) {
        const Element *type[4];
        Kernel k;
        char text[4][400];
        for (int n = 0; n < 4; n++)
            type[n] = element(t->types[n]);
        unit_context("%s.%s.%s.%s", t->shape, t->types[0], t->types[1], t->types[2]);
        uint32_t width = register_width(type[1]), wide = register_width(type[0]), nc = t->m / 4 * type[0]->bits / wide;
        uint32_t na = t->na * type[1]->bits / width, nb = t->nb * type[2]->bits / width;
        open_kernel(&k);
        move_registers(&k, true, 0, 10, na, width);
        move_registers(&k, true, 1, 30, nb, width);
        move_registers(&k, true, 2, 50, nc, wide);
        line(&k, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s%s %s, %s, %s, %s;", t->shape, t->types[0], t->types[1],
             t->types[2], t->types[3], t->after, registers(text[0], 70, nc, wide == 64),
             registers(text[1], 10, na, width == 64), registers(text[2], 30, nb, width == 64),
             registers(text[3], 50, nc, wide == 64));
        move_registers(&k, false, 3, 70, nc, wide);
        load_kernel(&k);
        make_product(&p, t->m, 8, t->k, type, strstr(t->after, "xor"));
        fill_fragments(&k, t, type, &p);
        run_kernel(&k, 32);
        check_fragments(&k, t, type[0], &p);
        close_kernel(&k);
    }
    unit_context("%s", "");
}

// Fills the operands of quads: eight lanes share a product of 8 x 8 x 4: 0 to 3 and 16 to 19, ...
static void fill_quads(Kernel *k, bool a_by_columns, bool b_by_columns, const Product *p)
{
    const Element *f16 = element("f16");
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t q = lane / 4 % 4, t = lane % 4, x = lane < 16 ? 0 : 4;
        for (uint32_t i = 0; i < 4; i++) {
            int64_t a = a_by_columns ? p[q].a[i + x][t] : p[q].a[t + x][i];
            int64_t b = b_by_columns ? p[q].b[i][t + x] : p[q].b[t][i + x];
            set(k->bytes[0], lane * 4 + i, 16, bits_of(f16, a));
            set(k->bytes[1], lane * 4 + i, 16, bits_of(f16, b));
        }
        for (uint32_t i = 0; i < 8; i++)
            set(k->bytes[2], lane * 8 + i, 16, bits_of(f16, p[q].c[t + x][i]));
    }
}

TEST(quads_have_products_of_their_own)
{
    static Product p[4];
    const Element *const type[4] = {element("f32"), element("f16"), element("f16"), element("f16")};
    for (uint32_t layouts = 0; layouts < 4; layouts++) {
        Kernel k;
        char text[4][400];
        bool a_by_columns = layouts & 1, b_by_columns = layouts & 2;
        unit_context("%u", layouts);
        open_kernel(&k);
        move_registers(&k, true, 0, 10, 2, 32);
        move_registers(&k, true, 1, 30, 2, 32);
        move_registers(&k, true, 2, 50, 4, 32);
        line(&k, "mma.sync.aligned.m8n8k4.%s.%s.f32.f16.f16.f16 %s, %s, %s, %s;", a_by_columns ? "col" : "row",
             b_by_columns ? "col" : "row", registers(text[0], 70, 8, false), registers(text[1], 10, 2, false),
             registers(text[2], 30, 2, false), registers(text[3], 50, 4, false));
        move_registers(&k, false, 3, 70, 8, 32);
        load_kernel(&k);
        for (uint32_t q = 0; q < 4; q++)
            make_product(&p[q], 8, 8, 4, type, false);
        fill_quads(&k, a_by_columns, b_by_columns, p);
        run_kernel(&k, 32);
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t row = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), col = (i & 4) + (lane & 2) + (i & 1);
                CHECK_EQ(get(k.bytes[3], lane * 8 + i, 32), bits_of(type[0], p[lane / 4 % 4].d[row][col]));
            }
        close_kernel(&k);
    }
    unit_context("%s", "");
}

// Returns element d[0][0] of a product whose operands are equal in all lanes.
static uint64_t first_of(const char *mnemonic, uint64_t c, const uint32_t a[static 4], const uint32_t b[static 2])
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mma.sync.aligned.%s {%%r70, %%r71, %%r72, %%r73}, {%u, %u, %u, %u}, {%u, %u}, {%u, 0, 0, 0};", mnemonic,
         a[0], a[1], a[2], a[3], b[0], b[1], (uint32_t)c);
    line(&k, "setp.eq.u32 %%p0, %%r0, 0;\n@%%p0 st.global.u32 [%%rd3], %%r70;");
    load_kernel(&k);
    run_kernel(&k, 32);
    uint64_t d = get(k.bytes[3], 0, 32);
    close_kernel(&k);
    return d;
}

TEST(each_step_rounds)
{
    static const char f16[] = "m16n8k16.row.col.f32.f16.f16.f32", s8[] = "m16n8k32.row.col.s32.s8.s8.s32";
    const uint32_t ones[] = {0x3c003c00, 0, 0, 0}, bytes[] = {0x7f7f7f7f, 0, 0, 0};
    // Adds 1 to 2^24 eight times, each a tie that rounds to even, although the exact sum is 2^24 + 8. Then the same
    // from 2^24 + 2.
    CHECK_EQ(first_of(f16, 0x4b800000, ones, ones), 0x4b800000);
    CHECK_EQ(first_of(f16, 0x4b800001, ones, ones), 0x4b800002);
    // The least subnormal halves: four products of 2^-48.
    CHECK_EQ(first_of(f16, 0, (uint32_t[]){1, 0, 0, 0}, (uint32_t[]){1, 0}), 0x28800000);
    CHECK_EQ(first_of(s8, 0x7fffffff, bytes, bytes), (0x7fffffff + 16u * 127 * 127) & UINT32_MAX);
    CHECK_EQ(first_of("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 0x7fffffff, bytes, bytes), 0x7fffffff);
    CHECK_EQ(first_of("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 0x80000001, bytes, (uint32_t[]){0x80808080, 0}),
             0x80000000);
}

TEST(numbers_are_read_as_they_are_spelled)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%%f0, %%f1, %%f2, %%f3}, {%%r1, %%r1, %%r1, %%r1}, "
             "{%%r1, %%r1}, {0.5, 0f3F800000, 0d4000000000000000, %%f4};");
    line(&k, "mad.wide.u32 %%rd4, %%r0, 16, %%rd3;\nst.global.v4.f32 [%%rd4], {%%f0, %%f1, %%f2, %%f3};");
    load_kernel(&k);
    run_kernel(&k, 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        CHECK_EQ(get(k.bytes[3], 4 * lane, 32), 0x3f000000);
        CHECK_EQ(get(k.bytes[3], 4 * lane + 1, 32), 0x3f800000);
        CHECK_EQ(get(k.bytes[3], 4 * lane + 2, 32), 0x40000000);
    }
    close_kernel(&k);
}

TEST(all_lanes_must_be_there)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "setp.lt.u32 %%p0, %%r0, 20;");
    line(&k, "@%%p0 movmatrix.sync.aligned.m8n8.trans.b16 %%r1, %%r0;");
    load_kernel(&k);
    CHECK(!runs(&k, 32));
    CHECK_Z(machine_error(k.machine)->text, "movmatrix.sync requires all lanes of the warp, but only 20 execute it");
    close_kernel(&k);
    open_kernel(&k);
    line(&k, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f0, %%f1, %%f2, %%f3}, {%%r1, %%r2}, "
             "{%%r3, %%r4}, {%%f0, %%f1, %%f2, %%f3}, %%r5, 0;");
    load_kernel(&k);
    CHECK(!runs(&k, 32));
    CHECK_Z(machine_error(k.machine)->text, "'mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' is not supported");
    close_kernel(&k);
}

/* -- wmma ----------------------------------------------------------------------------------------------- */

typedef struct WmmaCase {
    const char *shape;
    uint32_t m, n, k;
    const char *types[4];
    uint32_t na, nb, nc;  // registers
    bool fixed;           // rows of a and columns of b only
} WmmaCase;

static const WmmaCase wmma_cases[] = {
    {"m16n16k16", 16, 16, 16, {"f32", "f16", "f16", "f32"}, 8, 8, 8, false},
    {"m16n16k16", 16, 16, 16, {"f16", "f16", "f16", "f16"}, 8, 8, 4, false},
    {"m32n8k16", 32, 8, 16, {"f32", "f16", "f16", "f32"}, 8, 8, 8, false},
    {"m8n32k16", 8, 32, 16, {"f16", "f16", "f16", "f16"}, 8, 8, 4, false},
    {"m16n16k16", 16, 16, 16, {"f32", "bf16", "bf16", "f32"}, 4, 4, 8, false},
    {"m32n8k16", 32, 8, 16, {"f32", "bf16", "bf16", "f32"}, 8, 2, 8, false},
    {"m8n32k16", 8, 32, 16, {"f32", "bf16", "bf16", "f32"}, 2, 8, 8, false},
    {"m16n16k16", 16, 16, 16, {"s32", "s8", "s8", "s32"}, 2, 2, 8, false},
    {"m32n8k16", 32, 8, 16, {"s32", "u8", "u8", "s32"}, 4, 1, 8, false},
    {"m8n32k16", 8, 32, 16, {"s32", "s8", "s8", "s32"}, 1, 4, 8, false},
    {"m16n16k8", 16, 16, 8, {"f32", "tf32", "tf32", "f32"}, 4, 4, 8, false},
    {"m8n8k4", 8, 8, 4, {"f64", "f64", "f64", "f64"}, 1, 1, 2, false},
    {"m8n8k32", 8, 8, 32, {"s32", "s4", "s4", "s32"}, 1, 1, 2, true},
    {"m8n8k128", 8, 8, 128, {"s32", "b1", "b1", "s32"}, 1, 1, 2, true},
};

// Returns the index of an element of a matrix in memory.
static uint32_t at_in(uint32_t row, uint32_t col, bool by_columns, uint32_t stride)
{
    return by_columns ? col * stride + row : row * stride + col;
}

static void write_kernel(Kernel *k, const WmmaCase *t, const bool by_columns[static 4], uint32_t stride)
{
    static const char *const layouts[] = {"row", "col"};
    const char *const *types = t->types;
    char text[4][400], kind[100];
    bool wide = strcmp(types[1], "f64") == 0, bits = strcmp(types[1], "b1") == 0;
    registers(text[0], 70, t->nc, wide);
    registers(text[1], 10, t->na, wide);
    registers(text[2], 30, t->nb, wide);
    registers(text[3], 50, t->nc, wide);
    line(k, "wmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%rd0], %u;", layouts[by_columns[1]], t->shape, types[1],
         text[1], stride);
    line(k, "wmma.load.b.sync.aligned.%s.%s.%s %s, [%%rd1], %u;", layouts[by_columns[2]], t->shape, types[2], text[2],
         stride);
    line(k, "wmma.load.c.sync.aligned.%s.%s.%s %s, [%%rd2], %u;", layouts[by_columns[3]], t->shape, types[3], text[3],
         stride);
    if (strcmp(types[1], "f16") == 0)
        snprintf(kind, sizeof kind, "%s.%s", types[0], types[3]);
    else
        snprintf(kind, sizeof kind, "%s.%s.%s.%s", types[0], types[1], types[2], types[3]);
    line(k, "wmma.mma%s.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;", bits ? ".xor.popc" : "", layouts[by_columns[1]],
         layouts[by_columns[2]], t->shape, kind, text[0], text[1], text[2], text[3]);
    line(k, "wmma.store.d.sync.aligned.%s.%s.global.%s [%%rd3], %s, %u;", layouts[by_columns[0]], t->shape, types[0],
         text[0], stride);
}

static void test_wmma(const WmmaCase *t, const bool by_columns[static 4], uint32_t stride)
{
    static Product p;
    const Element *type[4];
    Kernel k;
    for (int n = 0; n < 4; n++)
        type[n] = element(t->types[n]);
    open_kernel(&k);
    write_kernel(&k, t, by_columns, stride);
    load_kernel(&k);
    make_product(&p, t->m, t->n, t->k, type, type[1]->bits == 1);
    for (uint32_t y = 0; y < t->m; y++)
        for (uint32_t x = 0; x < t->k; x++)
            set(k.bytes[0], at_in(y, x, by_columns[1], stride), type[1]->bits, bits_of(type[1], p.a[y][x]));
    for (uint32_t y = 0; y < t->k; y++)
        for (uint32_t x = 0; x < t->n; x++)
            set(k.bytes[1], at_in(y, x, by_columns[2], stride), type[2]->bits, bits_of(type[2], p.b[y][x]));
    for (uint32_t y = 0; y < t->m; y++)
        for (uint32_t x = 0; x < t->n; x++)
            set(k.bytes[2], at_in(y, x, by_columns[3], stride), type[3]->bits, bits_of(type[3], p.c[y][x]));
    run_kernel(&k, 32);
    for (uint32_t y = 0; y < t->m; y++)
        for (uint32_t x = 0; x < t->n; x++)
            CHECK_EQ(get(k.bytes[3], at_in(y, x, by_columns[0], stride), type[0]->bits), bits_of(type[0], p.d[y][x]));
    CHECK_EQ(get(k.bytes[3], at_in(t->m - 1, t->n - 1, by_columns[0], stride) + 1, type[0]->bits), 0);
    close_kernel(&k);
}

TEST(wmma_is_a_sum_of_products)
{
    for (const WmmaCase *t = wmma_cases; t < wmma_cases + ARRAY_LEN(wmma_cases); t++)
        for (uint32_t layouts = 0; layouts < 16; layouts++) {
            bool by_columns[4] = {layouts & 1, layouts & 2, layouts & 4, layouts & 8};
            if (t->fixed && (by_columns[1] || !by_columns[2]))
                continue;
            unit_context("%s.%s.%s, layouts %u", t->shape, t->types[0], t->types[1], layouts);
            test_wmma(t, by_columns, t->fixed ? 160 : 48);
        }
    unit_context("%s", "");
}

/* -- 8 x 8 halves --------------------------------------------------------------------------------------- */

// Tests ldmatrix: a lane stores its row of 16 bytes in shared memory, and loads its parts of four matrices.
static void test_ldmatrix(bool trans)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mad.wide.u32 %%rd4, %%r0, 16, %%rd0;\nld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%rd4];");
    line(&k, "mov.u32 %%r5, room;\nmad.lo.u32 %%r6, %%r0, 16, %%r5;");
    line(&k, "st.shared.v4.b32 [%%r6], {%%r1, %%r2, %%r3, %%r4};");
    line(&k, "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r10, %%r11, %%r12, %%r13}, [%%r6];", trans ? ".trans" : "");
    line(&k, "movmatrix.sync.aligned.m8n8.trans.b16 %%r14, %%r10;");
    line(&k, "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%%r6+512], {%%r10, %%r11, %%r12, %%r13};");
    line(&k, "ld.shared.v4.b32 {%%r15, %%r16, %%r17, %%r18}, [%%r6+512];");
    move_registers(&k, false, 1, 10, 5, 32);
    move_registers(&k, false, 2, 15, 4, 32);
    load_kernel(&k);
    for (uint32_t i = 0; i < 256; i++)  // 64 in each of four matrices
        set(k.bytes[0], i, 16, 1000 + i);
    run_kernel(&k, 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t row = lane / 4, col = lane % 4 * 2 + i % 2, matrix = i / 2;
            bool turned = matrix == 4 ? !trans : trans;
            uint32_t expected = 1000 + 64 * (matrix % 4) + (turned ? 8 * col + row : 8 * row + col);
            CHECK_EQ(get(k.bytes[1], lane * 10 + i, 16), expected);
        }
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t row = i / 8 % 8, col = i % 8;
        CHECK_EQ(get(k.bytes[2], i, 16), 1000 + i / 64 * 64 + (trans ? 8 * row + col : 8 * col + row));
    }
    close_kernel(&k);
}

TEST(matrices_move)
{
    test_ldmatrix(false);
    test_ldmatrix(true);
}

/* -- Copies --------------------------------------------------------------------------------------------- */

// Makes four copies of 16 bytes, in two groups and an open one; then waits by `wait`, and stores shared memory to
// buffer 3.
static void test_copies(const char *wait, uint32_t visible)
{
    Kernel k;
    unit_context("%s", wait);
    open_kernel(&k);
    line(&k, "mov.u32 %%r5, room;");
    for (int i = 0; i < 3; i++) {
        line(&k, "cp.async.cg.shared.global [%%r5+%d], [%%rd0+%d], 16;", 16 * i, 16 * i);
        line(&k, i < 2 ? "cp.async.commit_group;" : "");
    }
    line(&k, "%s", wait);
    for (int i = 0; i < 3; i++)
        line(&k, "ld.shared.u32 %%r6, [%%r5+%d];\nst.global.u32 [%%rd3+%d], %%r6;", 16 * i, 4 * i);
    load_kernel(&k);
    for (uint32_t i = 0; i < 12; i++)
        set(k.bytes[0], i, 32, 7);
    run_kernel(&k, 1);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ(get(k.bytes[3], i, 32), i < visible ? 7 : 0);
    close_kernel(&k);
    unit_context("%s", "");
}

TEST(copies_are_seen_after_the_wait)
{
    test_copies("", 0);
    test_copies("cp.async.wait_group 2;", 0);
    test_copies("cp.async.wait_group 1;", 1);
    test_copies("cp.async.wait_group 0;", 2);
    test_copies("cp.async.wait_all;", 3);
}

TEST(copies_fill_with_zeroes)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mov.u32 %%r5, room;\nmov.u32 %%r6, 6;\nsetp.eq.u32 %%p0, %%r0, 0;\nmov.b32 %%r7, -1;\nmov.u64 %%rd9, 0;");
    for (int i = 0; i < 8; i++)
        line(&k, "st.shared.u32 [%%r5+%d], %%r7;", 4 * i);
    line(&k, "cp.async.ca.shared.global [%%r5], [%%rd0], 8, %%r6;");
    line(&k, "cp.async.ca.shared.global [%%r5+8], [%%rd0], 4, %%p0;");
    line(&k, "cp.async.cg.shared.global [%%r5+16], [%%rd9], 16, 0;");
    line(&k, "cp.async.wait_all;");
    for (int i = 0; i < 8; i++)
        line(&k, "ld.shared.u32 %%r8, [%%r5+%d];\nst.global.u32 [%%rd3+%d], %%r8;", 4 * i, 4 * i);
    load_kernel(&k);
    set(k.bytes[0], 0, 64, UINT64_C(0x0807060504030201));
    run_kernel(&k, 1);
    CHECK_EQ(get(k.bytes[3], 0, 64), UINT64_C(0x060504030201));
    CHECK_EQ(get(k.bytes[3], 2, 32), 0);
    CHECK_EQ(get(k.bytes[3], 3, 32), UINT32_MAX);
    CHECK_EQ(get(k.bytes[3], 2, 64), 0);
    CHECK_EQ(get(k.bytes[3], 3, 64), 0);
    close_kernel(&k);
}

/* -- Barriers in memory --------------------------------------------------------------------------------- */

static const char set_up[] = "mov.u32 %r5, room;\nmov.u32 %r20, 0;\n"
                             "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [%r5], 64;\nbar.sync 0;";

// Lanes of the first warp copy and arrive at the barrier; the second warp waits for them, and loads.
TEST(arrivals_bring_their_copies)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "%s", set_up);
    line(&k,
         "mad.lo.u32 %%r6, %%r0, 4, %%r5;\nmad.wide.u32 %%rd4, %%r0, 4, %%rd0;\nmad.wide.u32 %%rd5, %%r0, 4, %%rd3;");
    line(&k, "setp.ge.u32 %%p1, %%r0, 32;\n@%%p1 bra READ;");
    line(&k, "cp.async.ca.shared.global [%%r6+64], [%%rd4], 4;");
    line(&k, "cp.async.mbarrier.arrive.noinc.shared.b64 [%%r5];\nbra END;");
    line(&k, "READ: mbarrier.arrive.shared.b64 %%rd6, [%%r5];");
    line(&k, "WAIT: mbarrier.test_wait.shared.b64 %%p2, [%%r5], %%rd6;\n@!%%p2 bra WAIT;");
    line(&k, "ld.shared.u32 %%r7, [%%r6+-64];\nst.global.u32 [%%rd5], %%r7;\nEND:");
    load_kernel(&k);
    for (uint32_t i = 0; i < 32; i++)
        set(k.bytes[0], i, 32, 100 + i);
    run_kernel(&k, 64);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(get(k.bytes[3], 32 + i, 32), 100 + i);
    close_kernel(&k);
}

TEST(phases_of_barriers)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mov.u32 %%r5, room;\nmbarrier.init.shared.b64 [%%r5], 3;");
    line(&k, "mbarrier.arrive.noComplete.shared.b64 %%rd4, [%%r5], 2;");
    line(&k, "mbarrier.pending_count.b64 %%r10, %%rd4;");
    line(&k, "mbarrier.test_wait.parity.shared.b64 %%p0, [%%r5], 0;\nselp.u32 %%r11, 1, 0, %%p0;");
    line(&k, "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %%rd5, [%%r5], 16;");
    line(&k, "mbarrier.pending_count.b64 %%r12, %%rd5;");
    line(&k, "mbarrier.try_wait.shared.b64 %%p0, [%%r5], %%rd5;\nselp.u32 %%r13, 1, 0, %%p0;");
    line(&k, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r5+16], [%%rd0], 16, [%%r5];");
    line(&k, "ld.shared.u32 %%r14, [%%r5+16];");
    line(&k, "mbarrier.try_wait.shared.b64 %%p0, [%%r5], %%rd5, 100;\nselp.u32 %%r15, 1, 0, %%p0;");
    line(&k, "ld.shared.u32 %%r16, [%%r5+16];");
    line(&k, "mbarrier.arrive_drop.shared.b64 %%rd6, [%%r5], 3;\nmbarrier.pending_count.b64 %%r17, %%rd6;");
    line(&k, "mbarrier.test_wait.parity.shared.b64 %%p0, [%%r5], 1;\nselp.u32 %%r18, 1, 0, %%p0;");
    line(&k, "mbarrier.inval.shared.b64 [%%r5];");
    move_registers(&k, false, 3, 10, 9, 32);
    load_kernel(&k);
    set(k.bytes[0], 0, 32, 77);
    run_kernel(&k, 1);
    static const uint32_t expected[] = {3, 0, 1, 0, 0, 1, 77, 3, 1};
    for (uint32_t i = 0; i < ARRAY_LEN(expected); i++)
        CHECK_EQ(get(k.bytes[3], i, 32), expected[i]);
    close_kernel(&k);
}

static void test_fault(const char *body, const char *expected)
{
    Kernel k;
    open_kernel(&k);
    line(&k, "mov.u32 %%r5, room;\n%s", body);
    load_kernel(&k);
    CHECK(!runs(&k, 1));
    CHECK_Z(machine_error(k.machine)->text, expected);
    close_kernel(&k);
}

TEST(misuse_stops_the_run)
{
    test_fault("mbarrier.arrive.shared.b64 %rd4, [%r5];", "there is no initialized mbarrier here");
    test_fault("mbarrier.init.shared.b64 [%r5], 0;", "an mbarrier cannot expect 0 arrivals");
    test_fault("mbarrier.init.shared.b64 [%r5], 2;\nmbarrier.arrive.shared.b64 %rd4, [%r5], 3;",
               "more arrivals at an mbarrier than its phase expects");
    test_fault("mbarrier.init.shared.b64 [%r5], 2;\nmbarrier.arrive.noComplete.shared.b64 %rd4, [%r5], 2;",
               "mbarrier.arrive.noComplete completes the phase");
    test_fault("mbarrier.init.shared.b64 [%r5], 2;\nmov.u64 %rd4, 5;\n"
               "mbarrier.test_wait.shared.b64 %p0, [%r5], %rd4;",
               "the state is not from the mbarrier's current or previous phase");
    test_fault("cp.async.ca.shared.global [%r5], [%rd0], 4, 5;", "cp.async of 4 bytes with a source of 5");
    test_fault("cp.async.cg.shared.global [%r5+8], [%rd0], 16;",
               "write of 16 bytes at address 0x8, which is not aligned");
}

void test_matrix(void)
{
    RUN(mma_is_a_sum_of_products);
    RUN(quads_have_products_of_their_own);
    RUN(each_step_rounds);
    RUN(numbers_are_read_as_they_are_spelled);
    RUN(all_lanes_must_be_there);
    RUN(wmma_is_a_sum_of_products);
    RUN(matrices_move);
    RUN(copies_are_seen_after_the_wait);
    RUN(copies_fill_with_zeroes);
    RUN(arrivals_bring_their_copies);
    RUN(phases_of_barriers);
    RUN(misuse_stops_the_run);
}
