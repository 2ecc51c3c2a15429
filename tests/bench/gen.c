/* SPDX-License-Identifier: MIT */
/*
 * Generates PTX of any size for benchmarks, in nvcc's spelling and with the opcode mix of real kernels.
 *
 *   gen module N SEED      about N instructions in many functions: log-normal sizes, median 90, at most 8000
 *   gen func N SEED        one function of about N instructions: a long row of loops, diamonds and straight code
 *
 * Each function computes on pools of values (32-bit integers, floats, doubles). An operand is preferably a recent value
 * without a use, so that little code is dead. Its definition dominates the place: a pool is a stack that is cut back at
 * the end of each arm. Values cross a join as a register that both arms define, and loops carry their counter and an
 * accumulator, so that some registers have several definitions, as in nvcc's output. There are about 21 instructions
 * per label. The output depends only on the arguments: integer and IEEE double arithmetic only. ssa.c generates
 * programs in SSA form.
 */
#include "gen.h"

/* -- Functions ----------------------------------------------------------------------------------------------------- */

enum { INT, FLOAT, DOUBLE, POOLS };

typedef struct {
    int reg;
    bool used;
} Value;

typedef struct {
    Value *v;
    int n, cap;
} Pool;

/* The current function. Registers are numbered per class in order of appearance. */
typedef struct {
    Text *out;
    uint64_t rng;
    int index;                 /* number of the function: part of its labels */
    int np, nr, nf, nfd, nrd;  /* registers used so far, per class */
    int labels, count, budget; /* count: instructions so far */
    bool doubles;              /* 14 % of the functions compute in f64 */
    bool calls;                /* 12 % may call a function */
    Pool pool[POOLS];
    int pending, pending_kind; /* result of the current instruction: usable after it (0: none) */
} Gen;

static void label(Gen *g, int l) { print(g->out, "\n$L__BB#_#:\n", g->index, l); }

static int roll(Gen *g, int n) { return below(&g->rng, n); }

/* Makes `reg` usable until the end of the scope. */
static void push(Gen *g, int kind, int reg)
{
    Pool *p = &g->pool[kind];
    if (p->n == p->cap)
        p->v = grow(p->v, (size_t)(p->cap = p->cap * 2 + 64) * sizeof *p->v);
    p->v[p->n++] = (Value){reg, false};
}

/* Writes an instruction; a result announced by `define` becomes usable. */
static void emit(Gen *g, const char *s, ...)
{
    va_list args;
    va_start(args, s);
    put(g->out, "\t", 1);
    vprint(g->out, s, args);
    put(g->out, ";\n", 2);
    va_end(args);
    g->count++;
    if (g->pending)
        push(g, g->pending_kind, g->pending);
    g->pending = 0;
}

static int *counter(Gen *g, int kind) { return kind == INT ? &g->nr : kind == FLOAT ? &g->nf : &g->nfd; }

/* Returns a new register of the class, usable after push(). */
static int fresh(Gen *g, int kind) { return ++*counter(g, kind); }

/* Returns the result register of the next instruction. The order of arguments is unspecified in C: define() draws no
   random number and leaves the pools unchanged, so it may be an argument beside one `pick` or `roll` (never two). */
static int define(Gen *g, int kind)
{
    g->pending_kind = kind;
    return g->pending = fresh(g, kind);
}

/* Returns an operand: mostly the oldest unused of the last ten values, else one of the last ten, seldom any. */
static int pick(Gen *g, int kind)
{
    Pool *p = &g->pool[kind];
    int lo = p->n > 10 ? p->n - 10 : 0, k;
    if (roll(g, 10) < 7)
        for (k = lo; k < p->n; k++)
            if (!p->v[k].used) {
                p->v[k].used = true;
                return p->v[k].reg;
            }
    k = roll(g, 20) ? lo + roll(g, p->n - lo) : roll(g, p->n);
    p->v[k].used = true;
    return p->v[k].reg;
}

static int pick_float(Gen *g) { return g->doubles && roll(g, 2) ? DOUBLE : FLOAT; }

/* Returns the %rd register with the address of an element of one of the three global arrays. */
static int address(Gen *g, int scale)
{
    int wide = ++g->nrd, sum, index = pick(g, INT);
    emit(g, roll(g, 3) ? "mul.wide.s32 \t%rd#, %r#, #" : "mul.wide.u32 \t%rd#, %r#, #", wide, index, scale);
    sum = ++g->nrd;
    emit(g, "add.s64 \t%rd#, %rd#, %rd#", sum, 4 + roll(g, 3), wide);
    return sum;
}

/* Returns the %r register with the address of an element of the shared array. */
static int shared_address(Gen *g)
{
    int shifted = fresh(g, INT), base, sum, masked = fresh(g, INT);
    emit(g, "and.b32 \t%r#, %r#, 255", masked, pick(g, INT));
    emit(g, "shl.b32 \t%r#, %r#, 2", shifted, masked);
    base = fresh(g, INT);
    emit(g, "mov.b32 \t%r#, smem", base);
    sum = fresh(g, INT);
    emit(g, "add.s32 \t%r#, %r#, %r#", sum, base, shifted);
    return sum;
}

static void load(Gen *g)
{
    int a, k;
    switch (roll(g, 10)) {
    case 0:
    case 1:
        a = shared_address(g);
        if (roll(g, 2))
            emit(g, "ld.shared.b32 \t%f#, [%r#+#]", define(g, FLOAT), a, 4 * roll(g, 32));
        else
            emit(g, "ld.shared.b32 \t%r#, [%r#]", define(g, INT), a);
        break;
    case 2:
    case 3:
    case 4:
        a = address(g, 4);
        emit(g, "ld.global.b32 \t%r#, [%rd#]", define(g, INT), a);
        if (roll(g, 2))
            emit(g, "ld.global.b32 \t%r#, [%rd#+#]", define(g, INT), a, 4 + 4 * roll(g, 16));
        break;
    case 5:
        a = address(g, 16);
        k = g->nf;
        g->nf += 4;
        emit(g, "ld.global.nc.v4.b32 \t{%f#, %f#, %f#, %f#}, [%rd#]", k + 1, k + 2, k + 3, k + 4, a);
        for (int e = 1; e <= 4; e++)
            push(g, FLOAT, k + e);
        break;
    default:
        if (g->doubles && roll(g, 2)) {
            a = address(g, 8);
            emit(g, "ld.global.b64 \t%fd#, [%rd#+#]", define(g, DOUBLE), a, 8 * roll(g, 8));
            break;
        }
        a = address(g, 4);
        emit(g, "ld.global.b32 \t%f#, [%rd#]", define(g, FLOAT), a);
        for (k = roll(g, 3); k; k--)
            emit(g, "ld.global.b32 \t%f#, [%rd#+#]", define(g, FLOAT), a, 4 * k);
    }
}

static void store(Gen *g)
{
    int a;
    if (!roll(g, 4)) {
        a = shared_address(g);
        emit(g, "st.shared.b32 \t[%r#], %f#", a, pick(g, FLOAT));
    } else if (g->doubles && roll(g, 2)) {
        a = address(g, 8);
        emit(g, "st.global.b64 \t[%rd#], %fd#", a, pick(g, DOUBLE));
    } else if (roll(g, 2)) {
        a = address(g, 4);
        emit(g, "st.global.b32 \t[%rd#], %f#", a, pick(g, FLOAT));
        if (!roll(g, 3)) {
            int offset = 4 + 4 * roll(g, 16);
            emit(g, "st.global.b32 \t[%rd#+#], %f#", a, offset, pick(g, FLOAT));
        }
    } else {
        a = address(g, 4);
        emit(g, "st.global.b32 \t[%rd#], %r#", a, pick(g, INT));
    }
}

/* Returns a new predicate register defined by a comparison. */
static int compare(Gen *g)
{
    static const char *const by_int[] = {
        "setp.lt.s32 \t%p#, %r#, %r#", "setp.ge.s32 \t%p#, %r#, %r#", "setp.eq.b32 \t%p#, %r#, %r#",
        "setp.ne.b32 \t%p#, %r#, %r#", "setp.gt.u32 \t%p#, %r#, %r#",
    };
    int a;
    if (roll(g, 4) == 0) {
        a = pick(g, FLOAT);
        emit(g, "setp.lt.f32 \t%p#, %f#, %f#", ++g->np, a, pick(g, FLOAT));
    } else if (roll(g, 2)) {
        a = pick(g, INT);
        emit(g, "setp.gt.s32 \t%p#, %r#, #", ++g->np, a, roll(g, 1000) - 1);
    } else {
        int b;
        a = pick(g, INT);
        b = pick(g, INT);
        emit(g, by_int[roll(g, 5)], ++g->np, a, b);
    }
    return g->np;
}

/* Writes d = a op b of 32-bit integers; the second operand is often a constant. */
static void integer(Gen *g)
{
    static const char *const rrr[] = {
        "add.s32 \t%r#, %r#, %r#",    "add.s32 \t%r#, %r#, %r#", "add.s32 \t%r#, %r#, %r#", "sub.s32 \t%r#, %r#, %r#",
        "mul.lo.s32 \t%r#, %r#, %r#", "and.b32 \t%r#, %r#, %r#", "or.b32 \t%r#, %r#, %r#",  "xor.b32 \t%r#, %r#, %r#",
        "min.s32 \t%r#, %r#, %r#",    "max.u32 \t%r#, %r#, %r#", "shr.u32 \t%r#, %r#, %r#",
    };
    int a = pick(g, INT), b;
    switch (roll(g, 12)) {
    case 0:
    case 1:
    case 2:
        b = roll(g, 4) ? 1 + roll(g, 128) : -1 - roll(g, 32);
        emit(g, "add.s32 \t%r#, %r#, #", define(g, INT), a, b);
        break;
    case 3:
    case 4: emit(g, "shl.b32 \t%r#, %r#, #", define(g, INT), a, 1 + roll(g, 8)); break;
    case 5:
        b = 1 + roll(g, 31);
        emit(g, roll(g, 2) ? "shr.u32 \t%r#, %r#, #" : "shr.s32 \t%r#, %r#, #", define(g, INT), a, b);
        break;
    case 6: emit(g, "and.b32 \t%r#, %r#, #", define(g, INT), a, (2 << roll(g, 12)) - 1); break;
    case 7:
        b = pick(g, INT);
        emit(g, "mad.lo.s32 \t%r#, %r#, %r#, %r#", define(g, INT), a, b, pick(g, INT));
        break;
    default: b = pick(g, INT); emit(g, rrr[roll(g, 11)], define(g, INT), a, b);
    }
}

static void floating(Gen *g)
{
    int a, b, kind = pick_float(g);
    a = pick(g, kind);
    b = pick(g, kind);
    if (kind == DOUBLE) {
        switch (roll(g, 3)) {
        case 0: emit(g, "add.f64 \t%fd#, %fd#, %fd#", define(g, kind), a, b); break;
        case 1: emit(g, "mul.f64 \t%fd#, %fd#, %fd#", define(g, kind), a, b); break;
        default: emit(g, "fma.rn.f64 \t%fd#, %fd#, %fd#, %fd#", define(g, kind), a, b, a);
        }
        return;
    }
    switch (roll(g, 12)) {
    case 0:
    case 1:
    case 2: emit(g, "add.f32 \t%f#, %f#, %f#", define(g, kind), a, b); break;
    case 3:
    case 4:
    case 5: emit(g, "mul.f32 \t%f#, %f#, %f#", define(g, kind), a, b); break;
    case 6: emit(g, "sub.f32 \t%f#, %f#, %f#", define(g, kind), a, b); break;
    case 7:
        emit(g, roll(g, 2) ? "mul.f32 \t%f#, %f#, 0f3F000000" : "add.f32 \t%f#, %f#, 0fBF800000", define(g, kind), a);
        break;
    default: emit(g, "fma.rn.f32 \t%f#, %f#, %f#, %f#", define(g, kind), a, b, pick(g, kind));
    }
}

static void convert(Gen *g)
{
    switch (roll(g, g->doubles ? 6 : 4)) {
    case 0: emit(g, "cvt.rn.f32.s32 \t%f#, %r#", define(g, FLOAT), pick(g, INT)); break;
    case 1: emit(g, "cvt.rzi.s32.f32 \t%r#, %f#", define(g, INT), pick(g, FLOAT)); break;
    case 2:
        emit(g, "cvt.s64.s32 \t%rd#, %r#", g->nrd + 1, pick(g, INT));
        emit(g, "shr.u64 \t%rd#, %rd#, #", g->nrd + 2, g->nrd + 1, 1 + roll(g, 30));
        g->nrd += 2;
        emit(g, "cvt.u32.u64 \t%r#, %rd#", define(g, INT), g->nrd);
        break;
    case 3: emit(g, "cvt.rn.f32.u32 \t%f#, %r#", define(g, FLOAT), pick(g, INT)); break;
    case 4: emit(g, "cvt.f64.f32 \t%fd#, %f#", define(g, DOUBLE), pick(g, FLOAT)); break;
    default: emit(g, "cvt.rn.f32.f64 \t%f#, %fd#", define(g, FLOAT), pick(g, DOUBLE));
    }
}

static void move(Gen *g)
{
    switch (roll(g, 6)) {
    case 0: emit(g, "mov.b32 \t%r#, #", define(g, INT), roll(g, 65536)); break;
    case 1: emit(g, "mov.b32 \t%f#, 0f3F#00000", define(g, FLOAT), roll(g, 10)); break;
    case 2: emit(g, "mov.u32 \t%r#, %tid.x", define(g, INT)); break;
    case 3: emit(g, "mov.u32 \t%r#, %ctaid.x", define(g, INT)); break;
    case 4: emit(g, "mov.b32 \t%r#, %f#", define(g, INT), pick(g, FLOAT)); break;
    default: emit(g, "mov.b32 \t%f#, %r#", define(g, FLOAT), pick(g, INT));
    }
}

static void rare(Gen *g)
{
    static const char *const unary[] = {
        "neg.f32 \t%f#, %f#",    "abs.f32 \t%f#, %f#",        "sqrt.rn.f32 \t%f#, %f#",
        "rcp.rn.f32 \t%f#, %f#", "ex2.approx.f32 \t%f#, %f#", "rsqrt.approx.f32 \t%f#, %f#",
    };
    int a, b;
    switch (roll(g, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        a = pick(g, INT);
        emit(g, "shfl.sync.down.b32\t%r#|%p#, %r#, #, 31, -1", define(g, INT), ++g->np, a, 1 << roll(g, 5));
        break;
    case 5:
    case 6:
    case 7:
        if (g->calls)
            goto call;
        emit(g, "bar.sync \t0");
        break;
    case 8:
        a = compare(g);
        emit(g, "vote.sync.ballot.b32 \t%r#, %p#, -1", define(g, INT), a);
        break;
    case 9: emit(g, "not.b32 \t%r#, %r#", define(g, INT), pick(g, INT)); break;
    case 10:
        a = address(g, 4);
        b = pick(g, INT);
        emit(g, "atom.global.add.u32 \t%r#, [%rd#], %r#", define(g, INT), a, b);
        break;
    case 11:
        a = pick(g, INT);
        emit(g, "div.s32 \t%r#, %r#, %r#", define(g, INT), a, pick(g, INT));
        break;
    case 12:
        a = pick(g, FLOAT);
        emit(g, "div.rn.f32 \t%f#, %f#, %f#", define(g, FLOAT), a, pick(g, FLOAT));
        break;
    case 13:
        a = compare(g);
        b = 4 * roll(g, 256);
        emit(g, "@%p# st.shared.b32 \t[smem+#], %r#", a, b, pick(g, INT));
        break;
    case 14:
        a = compare(g);
        b = compare(g);
        emit(g, roll(g, 2) ? "and.pred \t%p#, %p#, %p#" : "or.pred \t%p#, %p#, %p#", ++g->np, a, b);
        a = pick(g, INT);
        emit(g, "selp.b32 \t%r#, %r#, #, %p#", define(g, INT), a, roll(g, 100), g->np);
        break;
    default: a = pick(g, FLOAT); emit(g, unary[roll(g, 6)], define(g, FLOAT), a);
    }
    return;
call:
    a = pick(g, FLOAT);
    print(g->out, "\t{ // callseq #, 0\n\t.param .b32 param0;\n\t.param .b32 param1;\n\t.param .b32 retval0;\n",
          g->count);
    emit(g, "st.param.b32 \t[param0], %f#", a);
    emit(g, "st.param.b32 \t[param1], %r#", pick(g, INT));
    emit(g, "call.uni (retval0), \n\tdevice_function, \n\t(\n\tparam0, \n\tparam1\n\t)");
    emit(g, "ld.param.b32 \t%f#, [retval0]", define(g, FLOAT));
    print(g->out, "\t} // callseq #\n", g->count);
}

static void select_value(Gen *g)
{
    int p = compare(g), a, b;
    if (roll(g, 3)) {
        a = pick(g, INT);
        b = pick(g, INT);
        emit(g, "selp.b32 \t%r#, %r#, %r#, %p#", define(g, INT), a, b, p);
    } else {
        a = pick(g, FLOAT);
        b = pick(g, FLOAT);
        emit(g, "selp.f32 \t%f#, %f#, %f#, %p#", define(g, FLOAT), a, b, p);
    }
}

static void simple(Gen *g)
{
    int k = roll(g, 100);
    if (k < 20)
        load(g);
    else if (k < 27)
        store(g);
    else if (k < 55)
        integer(g);
    else if (k < 75)
        floating(g);
    else if (k < 81)
        convert(g);
    else if (k < 87)
        move(g);
    else if (k < 94)
        select_value(g);
    else
        rare(g);
}

static void statement(Gen *g, int depth);

typedef struct {
    int n[POOLS];
} Mark;

static Mark mark(const Gen *g)
{
    Mark m;
    for (int k = 0; k < POOLS; k++)
        m.n[k] = g->pool[k].n;
    return m;
}

/* Cuts the pools back to the mark; half of the unused values of the scope are stored first. */
static void release(Gen *g, Mark m)
{
    static const char *const text[] = {"st.global.b32 \t[%rd#+#], %r#", "st.global.b32 \t[%rd#+#], %f#",
                                       "st.global.b64 \t[%rd#+#], %fd#"};
    for (int k = 0; k < POOLS; k++) {
        for (int v = m.n[k]; v < g->pool[k].n; v++)
            if (!g->pool[k].v[v].used && roll(g, 2)) {
                int array = 4 + roll(g, 3);
                emit(g, text[k], array, 8 * roll(g, 256), g->pool[k].v[v].reg);
            }
        g->pool[k].n = m.n[k];
    }
}

/* Writes a few statements. */
static void arm(Gen *g, int depth)
{
    for (int k = 4 + roll(g, 7); k > 0; k--)
        statement(g, depth + 1);
}

/* Writes an if without else, whose arm reassigns a register: two definitions reach the join. */
static void if_then(Gen *g, int depth)
{
    int over = fresh(g, INT), end = ++g->labels, p;
    emit(g, "mov.b32 \t%r#, %r#", over, pick(g, INT));
    p = compare(g);
    emit(g, roll(g, 2) ? "@%p# bra \t$L__BB#_#" : "@!%p# bra \t$L__BB#_#", p, g->index, end);
    Mark m = mark(g);
    arm(g, depth);
    emit(g, "mov.b32 \t%r#, %r#", over, pick(g, INT));
    release(g, m);
    label(g, end);
    push(g, INT, over);
}

static void diamond(Gen *g, int depth)
{
    int phi = fresh(g, FLOAT), other = ++g->labels, end = ++g->labels, p = compare(g);
    emit(g, "@%p# bra \t$L__BB#_#", p, g->index, other);
    Mark m = mark(g);
    arm(g, depth);
    emit(g, "mov.b32 \t%f#, %f#", phi, pick(g, FLOAT));
    release(g, m);
    emit(g, "bra.uni \t$L__BB#_#", g->index, end);
    label(g, other);
    arm(g, depth);
    emit(g, "mov.b32 \t%f#, %f#", phi, pick(g, FLOAT));
    release(g, m);
    label(g, end);
    push(g, FLOAT, phi);
}

/* Writes a counted loop with an accumulator; its bound is a parameter or a constant. */
static void loop(Gen *g, int depth)
{
    int i = fresh(g, INT), sum = fresh(g, FLOAT), head = ++g->labels;
    emit(g, "mov.b32 \t%r#, 0", i);
    emit(g, "mov.b32 \t%f#, 0f00000000", sum);
    label(g, head);
    Mark m = mark(g);
    push(g, INT, i);
    push(g, FLOAT, sum);
    arm(g, depth);
    int a = pick(g, FLOAT), b = pick(g, FLOAT);
    emit(g, "fma.rn.f32 \t%f#, %f#, %f#, %f#", sum, a, b, sum);
    release(g, m);
    emit(g, "add.s32 \t%r#, %r#, 1", i, i);
    if (roll(g, 2))
        emit(g, "setp.lt.s32 \t%p#, %r#, %r#", ++g->np, i, 1 + roll(g, 2));
    else
        emit(g, "setp.ne.b32 \t%p#, %r#, #", ++g->np, i, 16 + roll(g, 64));
    emit(g, "@%p# bra \t$L__BB#_#", g->np, g->index, head);
    push(g, FLOAT, sum);
}

static void statement(Gen *g, int depth)
{
    int k = roll(g, 100);
    if (depth >= 4 || g->count > g->budget || k >= 11)
        simple(g);
    else if (k < 5)
        if_then(g, depth);
    else if (k < 9)
        diamond(g, depth);
    else
        loop(g, depth);
}

static void declare(Text *t, const char *s, int n)
{
    if (n)
        print(t, s, n + 1);
}

/* Writes a kernel of about `size` instructions to `out`, with `body` as a buffer. */
static int kernel(Text *out, Text *body, Pool *pools, uint64_t *rng, int index, int size)
{
    Gen g = {.out = body, .rng = next(rng), .index = index, .budget = size - 6};
    g.doubles = roll(&g, 100) < 14;
    g.calls = roll(&g, 100) < 12;
    for (int k = 0; k < POOLS; k++) {
        g.pool[k] = pools[k];
        g.pool[k].n = 0;
    }

    print(out, "\t// .globl\tkernel_#\n.visible .entry kernel_#(\n", index, index);
    for (int k = 0; k < 6; k++)
        print(out,
              k < 3   ? "\t.param .u64 .ptr .align 1 kernel_#_param_#,\n"
              : k < 5 ? "\t.param .u32 kernel_#_param_#,\n"
                      : "\t.param .f32 kernel_#_param_#\n",
              index, k);
    print(out, ")\n{\n");

    for (int k = 0; k < 3; k++)
        emit(&g, "ld.param.b64 \t%rd#, [kernel_#_param_#]", k + 1, index, k);
    for (int k = 0; k < 2; k++)
        emit(&g, "ld.param.b32 \t%r#, [kernel_#_param_#]", define(&g, INT), index, k + 3);
    emit(&g, "ld.param.b32 \t%f#, [kernel_#_param_5]", define(&g, FLOAT), index);
    for (int k = 0; k < 3; k++)
        emit(&g, "cvta.to.global.u64 \t%rd#, %rd#", k + 4, k + 1);
    g.nrd = 6;
    int ctaid = fresh(&g, INT), ntid = fresh(&g, INT), tid = fresh(&g, INT);
    emit(&g, "mov.u32 \t%r#, %ctaid.x", ctaid);
    emit(&g, "mov.u32 \t%r#, %ntid.x", ntid);
    emit(&g, "mov.u32 \t%r#, %tid.x", tid);
    int gid = define(&g, INT);
    emit(&g, "mad.lo.s32 \t%r#, %r#, %r#, %r#", gid, ctaid, ntid, tid);
    emit(&g, "cvt.rn.f32.s32 \t%f#, %r#", define(&g, FLOAT), pick(&g, INT));
    if (g.doubles)
        emit(&g, "cvt.f64.f32 \t%fd#, %f#", define(&g, DOUBLE), pick(&g, FLOAT));
    int ret = ++g.labels;
    emit(&g, "setp.ge.s32 \t%p#, %r#, %r#", ++g.np, gid, 2);
    emit(&g, "@%p# bra \t$L__BB#_#", g.np, index, ret);
    while (g.count < g.budget)
        statement(&g, 0);
    Mark none = {{0}};
    for (int k = 0; k < POOLS; k++) /* in a long function only the latest values: the others are far away */
        none.n[k] = g.pool[k].n > 16 ? g.pool[k].n - 16 : 0;
    release(&g, none);
    label(&g, ret);
    emit(&g, "ret");

    declare(out, "\t.reg .pred \t%p<#>;\n", g.np);
    declare(out, "\t.reg .b32 \t%r<#>;\n", g.nr);
    declare(out, "\t.reg .b32 \t%f<#>;\n", g.nf);
    declare(out, "\t.reg .b64 \t%rd<#>;\n", g.nrd);
    declare(out, "\t.reg .b64 \t%fd<#>;\n", g.nfd);
    print(out, "\t// demoted variable\n\t.shared .align 4 .b8 smem[2048];\n\n");
    flush(out);
    flush(body);
    print(out, "\n}\n");
    for (int k = 0; k < POOLS; k++)
        pools[k] = g.pool[k];
    return g.count;
}

static void header(Text *out)
{
    print(out, "//\n// Generated by gen for benchmarks\n//\n\n.version 8.0\n.target sm_80\n.address_size 64\n\n"
               ".visible .func  (.param .b32 func_retval0) device_function(\n\t.param .b32 "
               "device_function_param_0,\n\t.param .b32 device_function_param_1\n)\n"
               "{\n\t.reg .b32 \t%r<3>;\n\t.reg .b32 \t%f<4>;\n\n"
               "\tld.param.b32 \t%f1, [device_function_param_0];\n\tld.param.b32 \t%r1, [device_function_param_1];\n"
               "\tcvt.rn.f32.s32 \t%f2, %r1;\n\tmul.f32 \t%f3, %f1, %f2;\n\tst.param.b32 \t[func_retval0], "
               "%f3;\n\tret;\n\n}\n");
}

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[1], "module") && strcmp(argv[1], "func"))) {
        fprintf(stderr, "usage: gen module|func N SEED\n");
        return 2;
    }
    long n = strtol(argv[2], NULL, 10);
    uint64_t rng = strtoull(argv[3], NULL, 10) * 0x2545f4914f6cdd1du;
    Text out = {NULL, 0, 0}, body = {NULL, 0, 0};
    Pool pools[POOLS] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};

    if (n < 1 || n > 100000000)
        die("N is out of range (1..100000000)");
    header(&out);
    if (!strcmp(argv[1], "func")) {
        kernel(&out, &body, pools, &rng, 0, (int)n);
    } else {
        int index = 0;
        for (long left = n - 6; left > 0; index++) {
            int size = function_size(&rng);
            left -= kernel(&out, &body, pools, &rng, index, size < left ? size : (int)left);
        }
    }
    flush(&out);
    for (int k = 0; k < POOLS; k++)
        free(pools[k].v);
    free(out.data);
    free(body.data);
    return fflush(stdout) ? 1 : 0;
}
