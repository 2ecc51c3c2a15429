// SPDX-License-Identifier: MIT
// Runs instructions on matrices that a warp holds together: PTX ISA 9.7.14 (ldmatrix, stmatrix, movmatrix, mma, wmma).
//
// All 32 lanes must be in the group; otherwise it is a fault. The mnemonic is decoded once, into these fields of Eval:
//     extra        row of shapes[]
//     select[4]    element types of d, a, b, c; of a load or store, the type of its matrix
//     mode         the matrix that a load or store moves (MatrixRole)
//     is_signed    a, or the matrix in memory, is in column-major order; matrices of halves are transposed
//     from_signed  b is in column-major order
//     parts        number of matrices of ldmatrix and stmatrix
//     nin, nout    numbers of registers of a and b; of wmma.store, nout is that of d
//     combine      MOD_XOR, MOD_AND of single bits
//
// In floating point, d = c + a0 * b0 + a1 * b1 + ... in the order of k, one fma for each k. An fma rounds to nearest
// even (.f64: with the rounding of the instruction), in the type of c and d. If one of c and d is f32 and the other
// f16, the sum is f32, and d is rounded once more. Subnormals are kept. Integers are added exactly. The sum wraps to 32
// bits; with .satfinite it saturates. wmma.mma.satfinite of f16 replaces infinities by the largest numbers, and NaN by
// 0.
//
// The layouts of mma are those of the ISA. Register k of all lanes holds a tile of 8 rows and 4 columns of registers.
// The layout of wmma is unspecified in the ISA; here a fragment of wmma consists of fragments of mma. Fragments of f16
// multiplicands have more registers than the matrix needs, with copies; only the first copy is read.
//
// tf32 is read without its 13 lowest bits. wmma.load and wmma.store require the same address and stride in all lanes.
// Rows (or columns) must be aligned to the number of bytes that a lane holds, at most 16, as in CUDA; the ISA requires
// 32. Not supported: sparse matrices, scales, types below 8 bits that are not integers.
#include "ir/eval/eval_internal.h"
#include "ir/machine/machine_internal.h"

/* -- Types and shapes ----------------------------------------------------------------------------------- */

typedef enum {
    E_NONE,
    E_F16,
    E_BF16,
    E_TF32,
    E_F64,
    E_E4M3,
    E_E5M2,
    E_S8,
    E_U8,
    E_S4,
    E_U4,
    E_B1,
    E_F32,
    E_S32,
    E_B16,
} ElementType;

// Kinds of multiplicands; a and b have the same kind.
typedef enum {
    F16S = 1,
    BF16S = 2,
    TF32S = 4,
    F64S = 8,
    BYTE_FLOATS = 16,
    BYTES = 32,
    NIBBLES = 64,
    BITS1 = 128
} Kinds;

typedef struct Element {
    const char *name;
    uint8_t kind;
    uint8_t bits;
    bool is_signed;
    const Format *format;
} Element;

static const Element elements[] = {
    [E_NONE] = {"", 0, 0, false, NULL},
    [E_F16] = {"f16", F16S, 16, false, &format_f16},
    [E_BF16] = {"bf16", BF16S, 16, false, &format_bf16},
    [E_TF32] = {"tf32", TF32S, 32, false, &format_tf32},
    [E_F64] = {"f64", F64S, 64, false, &format_f64},
    [E_E4M3] = {"e4m3", BYTE_FLOATS, 8, false, &format_e4m3},
    [E_E5M2] = {"e5m2", BYTE_FLOATS, 8, false, &format_e5m2},
    [E_S8] = {"s8", BYTES, 8, true, NULL},
    [E_U8] = {"u8", BYTES, 8, false, NULL},
    [E_S4] = {"s4", NIBBLES, 4, true, NULL},
    [E_U4] = {"u4", NIBBLES, 4, false, NULL},
    [E_B1] = {"b1", BITS1, 1, false, NULL},
    [E_F32] = {"f32", 0, 32, false, &format_f32},
    [E_S32] = {"s32", 0, 32, true, NULL},
    [E_B16] = {"b16", 0, 16, false, NULL},
};

typedef struct Shape {
    bool wmma;
    bool quads;  // four products at once, each held by two groups of four lanes
    uint16_t m, n, k;
    uint8_t kinds;
} Shape;

static const Shape shapes[] = {
    {false, true, 8, 8, 4, F16S},
    {false, false, 8, 8, 4, F64S},
    {false, false, 8, 8, 16, BYTES},
    {false, false, 8, 8, 32, NIBBLES},
    {false, false, 8, 8, 128, BITS1},
    {false, false, 16, 8, 4, TF32S | F64S},
    {false, false, 16, 8, 8, F16S | BF16S | TF32S | F64S},
    {false, false, 16, 8, 16, F16S | BF16S | F64S | BYTES | BYTE_FLOATS},
    {false, false, 16, 8, 32, BYTES | NIBBLES | BYTE_FLOATS},
    {false, false, 16, 8, 64, NIBBLES},
    {false, false, 16, 8, 128, BITS1},
    {false, false, 16, 8, 256, BITS1},
    {true, false, 16, 16, 16, F16S | BF16S | BYTES},
    {true, false, 32, 8, 16, F16S | BF16S | BYTES},
    {true, false, 8, 32, 16, F16S | BF16S | BYTES},
    {true, false, 16, 16, 8, TF32S},
    {true, false, 8, 8, 4, F64S},
    {true, false, 8, 8, 32, NIBBLES},
    {true, false, 8, 8, 128, BITS1},
};

enum { A_MAX = 16 * 256, B_MAX = 256 * 8, C_MAX = 16 * 16 };  // numbers of elements
enum { ALIGN_MAX = 16 };                                      // in bytes

typedef enum { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C } MatrixRole;

static uint32_t rows_of(const Shape *s, MatrixRole role) { return role == MATRIX_B ? s->k : s->m; }
static uint32_t cols_of(const Shape *s, MatrixRole role) { return role == MATRIX_A ? s->k : s->n; }

// Returns the number of elements that a lane holds, without copies.
static uint32_t elements_of(const Shape *s, MatrixRole role)
{
    return rows_of(s, role) * cols_of(s, role) * (s->quads ? 4 : 1) / LANES;
}

static uint32_t register_bits(ElementType type) { return type == E_F64 ? 64 : 32; }
static uint32_t per_register(ElementType type) { return register_bits(type) / elements[type].bits; }

static uint32_t registers_of(const Shape *s, MatrixRole role, ElementType type)
{
    bool is_factor = role == MATRIX_A || role == MATRIX_B;
    return s->wmma && is_factor && type == E_F16 ? 8 : elements_of(s, role) / per_register(type);
}

/* -- Layouts -------------------------------------------------------------------------------------------- */

// Position of an element in its matrix.
typedef struct Place {
    uint32_t row, col;
} Place;

// Returns the position of the i-th element of a lane in a. In a tile, four consecutive lanes hold a row.
static Place place_in_a(const Shape *s, uint32_t per, uint32_t lane, uint32_t i)
{
    uint32_t r = i / per, high = MIN(s->m / 8, 2), wide = s->k / (4 * per), deep = MAX(s->m / 16, 1);
    return (Place){.row = lane / 4 + 8 * (r % high) + 16 * (r / (high * wide) % deep),
                   .col = (r / high % wide * 4 + lane % 4) * per + i % per};
}

static Place place_in_b(const Shape *s, uint32_t per, uint32_t lane, uint32_t i)
{
    uint32_t r = i / per, high = s->k / (4 * per), wide = s->n / 8;
    return (Place){.row = (r % high * 4 + lane % 4) * per + i % per, .col = lane / 4 + 8 * (r / high % wide)};
}

static Place place_in_c(const Shape *s, uint32_t lane, uint32_t i)
{
    uint32_t r = i / 2, high = MIN(s->m / 8, 2), wide = s->n / 8;
    return (Place){.row = lane / 4 + 8 * (r % high) + 16 * (r / (high * wide)),
                   .col = lane % 4 * 2 + i % 2 + 8 * (r / high % wide)};
}

// Returns the position of the i-th element of a lane in mma.m8n8k4 of f16. Lanes 4q to 4q + 3, and those 16 above, hold
// the product q. The matrices of all four products are joined into one: one below the other (a, c) or side by side (b).
static Place place_in_quad(const Eval *e, MatrixRole role, uint32_t lane, uint32_t i)
{
    uint32_t q = lane / 4 % 4, upper = lane / 16 * 4, t = lane % 4;
    bool by_columns = role == MATRIX_A ? e->is_signed : e->from_signed;
    Place p;
    if (role == MATRIX_A)
        p = by_columns ? (Place){i % 4 + upper, t} : (Place){t + upper, i};
    else if (role == MATRIX_B)
        p = by_columns ? (Place){i, t + upper} : (Place){t, i + upper};
    else if (e->select[role] == E_F16)
        p = (Place){t + upper, i};
    else
        p = (Place){(t & 1) + (i & 2) + upper, (i & 4) + (t & 2) + (i & 1)};
    return role == MATRIX_B ? (Place){p.row, p.col + 8 * q} : (Place){p.row + 8 * q, p.col};
}

static Place place(const Eval *e, MatrixRole role, uint32_t lane, uint32_t i)
{
    const Shape *s = &shapes[e->extra];
    uint32_t per = per_register(e->select[role]);
    if (s->quads)
        return place_in_quad(e, role, lane, i);
    switch (role) {
    case MATRIX_A: return place_in_a(s, per, lane, i);
    case MATRIX_B: return place_in_b(s, per, lane, i);
    default: return place_in_c(s, lane, i);
    }
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static bool warp_is_whole(Run *r, const Group *g, const Code *c)
{
    return g->lanes == UINT32_MAX || fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes),
                                           "%s requires all lanes of the warp, but only %u execute it",
                                           op_info[c->op].mnemonic, (uint32_t)__builtin_popcount(g->lanes));
}

// Reads a register of a fragment. A floating-point immediate has the width of its spelling and is converted.
static uint64_t read_register(const Run *r, const Group *g, const Code *c, uint32_t k, ElementType type, uint32_t lane)
{
    uint64_t bits = read_lane(r, g, &c->in[k], lane);
    if (c->in[k].kind != REF_CONST || !elements[type].format)
        return bits;
    uint32_t mods = ir_use(g->frame->func->fn, c->instr, k)->mods;
    if (mods & OPM_F64 && type == E_F32)
        return float_convert(&format_f64, &format_f32, bits, ROUND_NEAREST_EVEN, false);
    if (mods & OPM_F32 && type == E_F64)
        return float_convert(&format_f32, &format_f64, bits, ROUND_NEAREST_EVEN, false);
    return bits;
}

// Collects the matrix that the inputs from the k-th on hold, in row-major order.
static void gather(const Run *r, const Group *g, const Code *c, MatrixRole role, uint32_t k, uint64_t *to)
{
    const Eval *e = &c->eval;
    const Shape *s = &shapes[e->extra];
    ElementType type = (ElementType)e->select[role];
    uint32_t per = per_register(type), bits = elements[type].bits;
    uint32_t cols = cols_of(s, role) * (s->quads && role == MATRIX_B ? 4 : 1);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0, n = elements_of(s, role); i < n; i++) {
            Place p = place(e, role, lane, i);
            uint64_t a = read_register(r, g, c, k + i / per, type, lane);
            to[p.row * cols + p.col] = a >> i % per * bits & mask_of(bits);
        }
}

// Writes a matrix to the outputs, with all copies.
static void scatter(Run *r, const Group *g, const Code *c, MatrixRole role, const uint64_t *from)
{
    const Eval *e = &c->eval;
    const Shape *s = &shapes[e->extra];
    ElementType type = (ElementType)e->select[role];
    uint32_t per = per_register(type), cols = cols_of(s, role);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = 0; k < c->nout; k++) {
            uint64_t bits = 0;
            for (uint32_t i = 0; i < per; i++) {
                Place p = place(e, role, lane, k * per + i);
                bits |= from[p.row * cols + p.col] << i * elements[type].bits;
            }
            write_lane(r, g, &c->out[k], lane, (Value){bits, 0});
        }
}

/* -- Products ------------------------------------------------------------------------------------------- */

// Returns the format of the sums; NULL for integers.
static const Format *sum_format(const Eval *e)
{
    return elements[e->select[MATRIX_D] == E_F16 ? e->select[MATRIX_C] : e->select[MATRIX_D]].format;
}

// Converts elements to the type of the sum, which holds all numbers of a, b and c exactly.
static void widen_elements(const Element *from, const Format *to, uint64_t *a, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (from->kind == TF32S)
            a[k] &= ~(uint64_t)0x1fff;
        else if (from->format != to)
            a[k] = float_convert(from->format, to, a[k], ROUND_NEAREST_EVEN, false);
    }
}

static void extend(const Element *from, uint64_t *a, uint32_t n)
{
    for (uint32_t k = 0; from->is_signed && k < n; k++)
        a[k] = (uint64_t)sign_extend(a[k], from->bits);
}

// Converts the sum to an element of d.
static uint64_t finish_float(const Eval *e, const Format *f, uint64_t sum)
{
    const Format *d = elements[e->select[MATRIX_D]].format;
    if (d != f)
        sum = float_convert(f, d, sum, ROUND_NEAREST_EVEN, false);
    if (e->satfinite && float_class(d, sum) == FLOAT_NAN)
        return 0;
    if (e->satfinite && float_class(d, sum) == FLOAT_INF)
        return float_max(d, sum & float_sign(d));
    return sum;
}

static uint64_t product_of_floats(const Eval *e, const Format *f, const uint64_t *a, const uint64_t *b, uint32_t step,
                                  uint64_t sum)
{
    for (uint32_t k = 0; k < shapes[e->extra].k; k++)
        sum = float_fma(f, a[k], b[k * step], sum, e->round);
    return finish_float(e, f, sum);
}

static uint64_t product_of_integers(const Eval *e, const uint64_t *a, const uint64_t *b, uint32_t step, uint64_t c)
{
    int64_t sum = (int64_t)c;
    for (uint32_t k = 0; k < shapes[e->extra].k; k++)
        sum += e->combine == MOD_XOR ? (int64_t)(a[k] ^ b[k * step]) : (int64_t)a[k] * (int64_t)b[k * step];
    if (e->satfinite)
        sum = MAX(MIN(sum, INT32_MAX), INT32_MIN);
    return (uint64_t)sum & UINT32_MAX;
}

// The matrices in row-major order, converted to the type of the sum.
typedef struct Factors {
    uint64_t a[A_MAX], b[B_MAX], c[C_MAX];
} Factors;

static void make_factors(const Run *r, const Group *g, const Code *c, Factors *f)
{
    static const MatrixRole roles[] = {MATRIX_A, MATRIX_B, MATRIX_C};
    uint64_t *const to[] = {f->a, f->b, f->c};
    const Eval *e = &c->eval;
    uint32_t at = 0;
    for (uint32_t k = 0; k < ARRAY_LEN(roles); k++) {
        const Element *type = &elements[e->select[roles[k]]];
        uint32_t n = elements_of(&shapes[e->extra], roles[k]) * LANES;
        gather(r, g, c, roles[k], at, to[k]);
        if (type->format)
            widen_elements(type, sum_format(e), to[k], n);
        else
            extend(type, to[k], n);
        at += roles[k] == MATRIX_A ? e->nin : e->nout;
    }
}

static bool run_mma(Run *r, Group *g, const Code *c)
{
    const Eval *e = &c->eval;
    const Shape *s = &shapes[e->extra];
    uint32_t products = s->quads ? 4 : 1, step = s->n * products;
    const Format *f = sum_format(e);
    Factors x;
    if (!warp_is_whole(r, g, c))
        return false;
    make_factors(r, g, c, &x);
    for (uint32_t row = 0; row < s->m * products; row++)
        for (uint32_t col = 0; col < s->n; col++) {
            uint64_t *sum = &x.c[row * s->n + col], *a = &x.a[row * s->k], *b = &x.b[row / s->m * s->n + col];
            *sum = f ? product_of_floats(e, f, a, b, step, *sum) : product_of_integers(e, a, b, step, *sum);
        }
    scatter(r, g, c, MATRIX_D, x.c);
    return true;
}

/* -- Matrices in memory --------------------------------------------------------------------------------- */

// Returns the index of an element in memory.
static uint64_t index_of(const Code *c, Place p, uint32_t stride)
{
    return c->eval.is_signed ? (uint64_t)p.col * stride + p.row : (uint64_t)p.row * stride + p.col;
}

// Returns the bytes that hold an element, or part of one; no bytes after a fault.
static Span element_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t index, bool write)
{
    uint32_t bits = elements[c->eval.select[c->eval.mode]].bits;
    return memory_at(r, g, c, lane, address_of(r, g, c, lane) + index * bits / 8, MAX(bits / 8, 1), write);
}

// Returns the number of elements from one row (or column) to the next; UINT32_MAX after a fault. `k`: index of the
// optional operand with this number.
static uint32_t stride_of(Run *r, const Group *g, const Code *c, uint32_t k)
{
    const Shape *s = &shapes[c->eval.extra];
    MatrixRole role = (MatrixRole)c->eval.mode;
    ElementType type = (ElementType)c->eval.select[role];
    const char *name = op_info[c->op].mnemonic;
    uint32_t stride = c->nin > k ? (uint32_t)read_lane(r, g, &c->in[k], 0)
                                 : (c->eval.is_signed ? rows_of(s, role) : cols_of(s, role));
    uint64_t address = address_of(r, g, c, 0), bytes = (uint64_t)stride * elements[type].bits / 8;
    uint32_t align = MIN(registers_of(s, role, type) * register_bits(type) / 8, ALIGN_MAX);
    if (!warp_is_whole(r, g, c))
        return UINT32_MAX;
    for (uint32_t lane = 1; lane < LANES; lane++)
        if (address_of(r, g, c, lane) != address ||
            (c->nin > k && (uint32_t)read_lane(r, g, &c->in[k], lane) != stride)) {
            fault(r, g, c, lane, "%s: the lanes have different addresses or strides", name);
            return UINT32_MAX;
        }
    if (address % align || bytes % align) {
        fault(r, g, c, 0, "%s at address %#llx with a stride of %u, one of which is not aligned to %u bytes", name,
              (unsigned long long)address, stride, align);
        return UINT32_MAX;
    }
    return stride;
}

static bool run_wmma_load(Run *r, Group *g, const Code *c)
{
    const Eval *e = &c->eval;
    MatrixRole role = (MatrixRole)e->mode;
    const Shape *s = &shapes[e->extra];
    uint32_t stride = stride_of(r, g, c, 2), bits = elements[e->select[role]].bits, cols = cols_of(s, role);
    uint64_t matrix[A_MAX];
    if (stride == UINT32_MAX)
        return false;
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0, n = elements_of(s, role); i < n; i++) {
            Place p = place(e, role, lane, i);
            uint64_t index = index_of(c, p, stride);
            const Span from = element_at(r, g, c, lane, index, false);
            if (!from.bytes)
                return false;
            uint64_t a = span_load(from, 0, MAX(bits / 8, 1));
            matrix[p.row * cols + p.col] = bits < 8 ? a >> index * bits % 8 & mask_of(bits) : a;
        }
    scatter(r, g, c, role, matrix);
    return true;
}

static bool run_wmma_store(Run *r, Group *g, const Code *c)
{
    const Eval *e = &c->eval;
    ElementType type = (ElementType)e->select[MATRIX_D];
    const Shape *s = &shapes[e->extra];
    uint32_t stride = stride_of(r, g, c, 2u + e->nout), per = per_register(type), bits = elements[type].bits;
    if (stride == UINT32_MAX)
        return false;
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0, n = elements_of(s, MATRIX_D); i < n; i++) {
            uint64_t a = read_register(r, g, c, 2 + i / per, type, lane) >> i % per * bits;
            const Span to = element_at(r, g, c, lane, index_of(c, place(e, MATRIX_D, lane, i), stride), true);
            if (!to.bytes)
                return false;
            span_store(to, 0, a, bits / 8);
        }
    return true;
}

/* -- 8 x 8 halves --------------------------------------------------------------------------------------- */

typedef uint16_t Halves[8][8];

// Reads or writes the k-th matrix in memory. Lanes 8k to 8k + 7 have the addresses of its rows. False after a fault.
static bool move_rows(Run *r, const Group *g, const Code *c, uint32_t k, Halves rows, bool write)
{
    for (uint32_t row = 0; row < 8; row++) {
        uint32_t lane = 8 * k + row;
        const Span s = memory_at(r, g, c, lane, address_of(r, g, c, lane), 16, write);
        if (!s.bytes)
            return false;
        for (uint32_t col = 0; col < 8; col++) {
            if (write)
                span_store(s, 2 * col, rows[row][col], 2);
            else
                rows[row][col] = (uint16_t)span_load(s, 2 * col, 2);
        }
    }
    return true;
}

// Returns the element of the matrix in a lane's lower (i = 0) or upper half.
static uint16_t *half_of(Halves rows, bool transposed, uint32_t lane, uint32_t i)
{
    uint32_t a = lane / 4, b = lane % 4 * 2 + i;
    return transposed ? &rows[b][a] : &rows[a][b];
}

static void halves_to(Run *r, const Group *g, const OperandRef *o, Halves rows, bool transposed)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t low = *half_of(rows, transposed, lane, 0), high = *half_of(rows, transposed, lane, 1);
        write_lane(r, g, o, lane, (Value){low | high << 16, 0});
    }
}

static void halves_from(const Run *r, const Group *g, const OperandRef *o, Halves rows, bool transposed)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t a = read_lane(r, g, o, lane);
        *half_of(rows, transposed, lane, 0) = (uint16_t)a;
        *half_of(rows, transposed, lane, 1) = (uint16_t)(a >> 16);
    }
}

static bool run_ldmatrix(Run *r, Group *g, const Code *c)
{
    Halves rows[4];
    if (!warp_is_whole(r, g, c))
        return false;
    for (uint32_t k = 0; k < c->eval.parts; k++)
        if (!move_rows(r, g, c, k, rows[k], false))
            return false;
    for (uint32_t k = 0; k < c->eval.parts; k++)
        halves_to(r, g, &c->out[k], rows[k], c->eval.is_signed);
    return true;
}

static bool run_stmatrix(Run *r, Group *g, const Code *c)
{
    Halves rows;
    if (!warp_is_whole(r, g, c))
        return false;
    for (uint32_t k = 0; k < c->eval.parts; k++) {
        halves_from(r, g, &c->in[2 + k], rows, c->eval.is_signed);
        if (!move_rows(r, g, c, k, rows, true))
            return false;
    }
    return true;
}

static bool run_movmatrix(Run *r, Group *g, const Code *c)
{
    Halves rows;
    if (!warp_is_whole(r, g, c))
        return false;
    halves_from(r, g, &c->in[0], rows, false);
    halves_to(r, g, &c->out[0], rows, true);
    return true;
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

// The modifiers of a mnemonic.
typedef struct Words {
    uint32_t m, n, k;
    uint32_t ntypes, nlayouts, count;
    uint8_t type[4];
    bool by_columns[2];
    bool trans, satfinite;
    MatrixRole role;
    Space space;
    Mod bits;
    Rounding round;
} Words;

static bool read_number(Str *s, char before, uint32_t *n)
{
    uint32_t k = 1;
    if (!s->len || s->text[0] != before)
        return false;
    for (*n = 0; k < s->len && s->text[k] >= '0' && s->text[k] <= '9' && *n < 1000; k++)
        *n = 10 * *n + (uint32_t)(s->text[k] - '0');
    s->text += k;
    s->len -= k;
    return k > 1;
}

static bool read_shape(Words *w, Str s)
{
    return read_number(&s, 'm', &w->m) && read_number(&s, 'n', &w->n) && (!s.len || read_number(&s, 'k', &w->k)) &&
           !s.len;
}

static bool read_type(Words *w, Str s)
{
    for (uint32_t k = 1; k < ARRAY_LEN(elements); k++)
        if (str_is(s, elements[k].name)) {
            if (w->ntypes == ARRAY_LEN(w->type))
                return false;
            w->type[w->ntypes++] = (uint8_t)k;
            return true;
        }
    return false;
}

static bool read_word(Words *w, Str s)
{
    static const struct {
        const char *text;
        uint8_t space, rounding, count, role;
        Mod bits;
    } words[] = {
        {"sync", 0, 0, 0, 0, MOD_NONE},
        {"aligned", 0, 0, 0, 0, MOD_NONE},
        {"popc", 0, 0, 0, 0, MOD_NONE},
        {"global", SP_GLOBAL, 0, 0, 0, MOD_NONE},
        {"shared", SP_SHARED, 0, 0, 0, MOD_NONE},
        {"shared::cta", SP_SHARED, 0, 0, 0, MOD_NONE},
        {"rn", 0, ROUND_NEAREST_EVEN, 0, 0, MOD_NONE},
        {"rz", 0, ROUND_ZERO, 0, 0, MOD_NONE},
        {"rm", 0, ROUND_DOWN, 0, 0, MOD_NONE},
        {"rp", 0, ROUND_UP, 0, 0, MOD_NONE},
        {"x1", 0, 0, 1, 0, MOD_NONE},
        {"x2", 0, 0, 2, 0, MOD_NONE},
        {"x4", 0, 0, 4, 0, MOD_NONE},
        {"a", 0, 0, 0, MATRIX_A, MOD_NONE},
        {"b", 0, 0, 0, MATRIX_B, MOD_NONE},
        {"c", 0, 0, 0, MATRIX_C, MOD_NONE},
        {"d", 0, 0, 0, MATRIX_D, MOD_NONE},
        {"xor", 0, 0, 0, 0, MOD_XOR},
        {"and", 0, 0, 0, 0, MOD_AND},
    };
    for (uint32_t k = 0; k < ARRAY_LEN(words); k++)
        if (str_is(s, words[k].text)) {
            w->space = words[k].space ? (Space)words[k].space : w->space;
            w->round = words[k].rounding ? (Rounding)words[k].rounding : w->round;
            w->count = words[k].count ? words[k].count : w->count;
            w->role = words[k].role ? (MatrixRole)words[k].role : w->role;
            w->bits = words[k].bits ? words[k].bits : w->bits;
            return true;
        }
    if (str_is(s, "trans"))
        w->trans = true;
    else if (str_is(s, "satfinite"))
        w->satfinite = true;
    else if ((str_is(s, "row") || str_is(s, "col")) && w->nlayouts < ARRAY_LEN(w->by_columns))
        w->by_columns[w->nlayouts++] = s.text[0] == 'c';
    else
        return read_type(w, s) || read_shape(w, s);
    return true;
}

// Finds the row of shapes[] for these multiplicands. False if there is none.
static bool find_shape(const Words *w, bool wmma, uint32_t kinds, Eval *e)
{
    for (uint32_t k = 0; k < ARRAY_LEN(shapes); k++) {
        const Shape *s = &shapes[k];
        if (s->wmma == wmma && s->m == w->m && s->n == w->n && s->k == w->k && s->kinds & kinds) {
            e->extra = k;
            return true;
        }
    }
    return false;
}

static bool is_sum_type(uint32_t factor_kind, ElementType type)
{
    switch (factor_kind) {
    case F16S:
    case BYTE_FLOATS: return type == E_F16 || type == E_F32;
    case BF16S:
    case TF32S: return type == E_F32;
    case F64S: return type == E_F64;
    default: return type == E_S32;
    }
}

static bool decode_mma(const Words *w, Code *c, bool wmma)
{
    Eval *e = &c->eval;
    const Shape *s;
    const uint8_t *type = w->type;
    if (w->ntypes == 4)
        memcpy(e->select, type, 4);
    else if (w->ntypes == 2 && wmma)  // f16 multiplicands
        memcpy(e->select, (uint8_t[]){type[0], E_F16, E_F16, type[1]}, 4);
    else
        return false;
    uint32_t kind = elements[e->select[MATRIX_A]].kind;
    if (!kind || elements[e->select[MATRIX_B]].kind != kind || !find_shape(w, wmma, kind, e) || w->nlayouts != 2)
        return false;
    if (!is_sum_type(kind, e->select[MATRIX_C]) || !is_sum_type(kind, e->select[MATRIX_D]))
        return false;
    s = &shapes[e->extra];
    if ((!wmma && !s->quads && (w->by_columns[0] || !w->by_columns[1])) || (kind == BITS1) != (w->bits != MOD_NONE))
        return false;
    e->is_signed = w->by_columns[0];
    e->from_signed = w->by_columns[1];
    e->satfinite = w->satfinite;
    e->round = w->round;
    e->combine = (uint8_t)w->bits;
    e->nin = (uint8_t)registers_of(s, MATRIX_A, e->select[MATRIX_A]);
    e->nout = (uint8_t)registers_of(s, MATRIX_B, e->select[MATRIX_B]);
    c->run = run_mma;
    return c->nout == registers_of(s, MATRIX_D, e->select[MATRIX_D]) &&
           c->nin == e->nin + e->nout + registers_of(s, MATRIX_C, e->select[MATRIX_C]);
}

// Decodes wmma.load and wmma.store. Finds a shape that has such a matrix with these elements.
static bool decode_move_matrix(const Words *w, Code *c, bool load)
{
    Eval *e = &c->eval;
    uint32_t kinds = 0;
    ElementType type = (ElementType)w->type[0];
    bool is_sum = w->role == MATRIX_C || w->role == MATRIX_D;
    if (w->ntypes != 1 || w->nlayouts != 1)
        return false;
    for (uint32_t kind = F16S; kind <= BITS1; kind *= 2)
        if (is_sum ? is_sum_type(kind, type) : elements[type].kind == kind)
            kinds |= kind;
    if (!find_shape(w, true, kinds, e))
        return false;
    e->mode = (uint8_t)w->role;
    e->select[w->role] = (uint8_t)type;
    e->is_signed = w->by_columns[0];
    e->nout = (uint8_t)registers_of(&shapes[e->extra], w->role, type);
    c->run = load ? run_wmma_load : run_wmma_store;
    if (load)
        return w->role != MATRIX_D && c->nout == e->nout && (c->nin == 2 || c->nin == 3);
    return w->role == MATRIX_D && (c->nin == 2u + e->nout || c->nin == 3u + e->nout);
}

static bool decode_halves(const Words *w, Code *c)
{
    bool is_8x8 = w->m == 8 && w->n == 8 && !w->k && w->ntypes == 1 && w->type[0] == E_B16;
    c->eval.parts = (uint8_t)w->count;
    c->eval.is_signed = w->trans;
    switch (c->op) {
    case OP_LDMATRIX: c->run = run_ldmatrix; return is_8x8 && w->count && c->nout == w->count && c->nin == 2;
    case OP_STMATRIX: c->run = run_stmatrix; return is_8x8 && w->count && c->nin == 2 + w->count;
    default: c->run = run_movmatrix; return is_8x8 && w->trans && !w->count && c->nin == 1 && c->nout == 1;
    }
}

bool matrix_decode(const Tables *t, const Desc *d, Code *c)
{
    Words w = {.role = MATRIX_D, .space = SP_GENERIC, .round = ROUND_NEAREST_EVEN};
    Str rest = tab_str(t, tab_mnem(t, d->mnem)->suffix), part;
    c->eval = (Eval){.op = d->op};
    if (d->op < OP_WMMA_LOAD || d->op > OP_MOVMATRIX)
        return false;
    while (eval_next_part(&rest, &part))
        if (!read_word(&w, part))
            return false;
    c->space = (uint8_t)w.space;
    switch (d->op) {
    case OP_MMA: return decode_mma(&w, c, false);
    case OP_WMMA_MMA: return decode_mma(&w, c, true);
    case OP_WMMA_LOAD: return decode_move_matrix(&w, c, true);
    case OP_WMMA_STORE: return decode_move_matrix(&w, c, false);
    default: return decode_halves(&w, c);
    }
}
