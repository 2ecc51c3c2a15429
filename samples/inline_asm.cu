// SPDX-License-Identifier: MIT
// Inline assembly: guards, scopes with their own registers and labels, vectors, selects, special registers.

// Clamped copy: guarded loads and stores, no branch.
extern "C" __global__ void guarded_copy(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = -1;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.lt.s32 p, %2, %3;\n\t"
                 "@p ld.global.u32 %0, [%1];\n\t"
                 "@!p mov.u32 %0, 77;\n\t"
                 "}" : "+r"(v) : "l"(in + i), "r"(i), "r"(n) : "memory");
    asm volatile("st.global.u32 [%0], %1;" :: "l"(out + i), "r"(v) : "memory");
}

// A loop inside the assembly; the same label names appear in every inlined copy.
__device__ unsigned collatz_steps(unsigned long long v)
{
    unsigned steps;
    asm("{\n\t"
        ".reg .pred odd, done;\n\t"
        ".reg .b64 x, t;\n\t"
        "mov.b64 x, %1;\n\t"
        "mov.u32 %0, 0;\n"
        "again:\n\t"
        "setp.le.u64 done, x, 1;\n\t"
        "@done bra out;\n\t"
        "and.b64 t, x, 1;\n\t"
        "setp.ne.u64 odd, t, 0;\n\t"
        "@odd mad.lo.u64 x, x, 3, 1;\n\t"
        "@!odd shr.u64 x, x, 1;\n\t"
        "add.u32 %0, %0, 1;\n\t"
        "bra again;\n"
        "out:\n\t"
        "}" : "=&r"(steps) : "l"(v));
    return steps;
}

extern "C" __global__ void collatz(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = collatz_steps(in[i]) + (collatz_steps(in[i] + 1ull) << 16);
}

extern "C" __global__ void vector_moves(const uint4 *in, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a, b, c, d, lane, smaller;
    unsigned long long pair;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + i));
    asm("mov.b64 %0, {%1, %2};" : "=l"(pair) : "r"(a), "r"(d));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, %2, 1; selp.u32 %0, %1, %2, p; @q xor.b32 %0, %0, 1; }"
        : "=&r"(smaller) : "r"(b), "r"(c));
    asm("shl.b64 %0, %0, 4;" : "+l"(pair));
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(c) : "r"(c));
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :: "l"(out + i), "r"((unsigned)pair), "r"((unsigned)(pair >> 32)), "r"(smaller), "r"(c + lane) : "memory");
}

// Constraints of every register class and an immediate.
template <int SHIFT>
__global__ void constraints(const short *h, const float *f, const double *d, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    short hs = h[i], hr;
    float fr;
    double dr;
    asm("mul.lo.s16 %0, %1, %2;" : "=h"(hr) : "h"(hs), "h"((short)3));
    asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(fr) : "f"(f[i]), "f"(f[i + 1]));
    asm("add.rz.f64 %0, %1, 0d3FE0000000000000;" : "=d"(dr) : "d"(d[i]));
    int sh;
    asm("shl.b32 %0, %1, %2;" : "=r"(sh) : "r"((int)hr), "n"(SHIFT));
    out[i] = dr + fr + sh;
}
template __global__ void constraints<5>(const short *, const float *, const double *, double *);
