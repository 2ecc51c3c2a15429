// SPDX-License-Identifier: MIT
// Bit work: permute, extract, insert, count, reverse, funnel shifts, three-input logic, dot products, video.

__device__ unsigned bfe(unsigned v, unsigned pos, unsigned len)
{
    unsigned r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(pos), "r"(len));
    return r;
}
__device__ unsigned bfi(unsigned field, unsigned v, unsigned pos, unsigned len)
{
    unsigned r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(field), "r"(v), "r"(pos), "r"(len));
    return r;
}
template <int LUT>
__device__ unsigned lop3(unsigned a, unsigned b, unsigned c)
{
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(LUT));
    return r;
}

extern "C" __global__ void bit_fields(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], *o = out + 12 * i;
    o[0] = __byte_perm(a, b, c);
    o[1] = bfe(a, b & 63, c & 63);
    o[2] = bfi(a, b, c & 31, (c >> 5) & 31);
    o[3] = __popc(a) | __clz(b) << 8 | __ffs(c) << 16;
    o[4] = __brev(a) ^ __brev(b >> 3);
    o[5] = __funnelshift_l(a, b, c) + __funnelshift_rc(a, b, c);
    o[6] = lop3<0xe8>(a, b, c);
    o[7] = lop3<0x96>(a, b, c);
    o[8] = __dp4a((int)a, (int)b, (int)c);
    o[9] = __dp2a_lo((int)a, (int)b, (int)c) + __dp2a_hi(a, b, c);
    o[10] = __umulhi(a, b) + __umul24(a, c) + __mulhi((int)b, (int)c);
    o[11] = __usad(a, b, c) + __uhadd(a, b) + __rhadd((int)b, (int)c);
}

extern "C" __global__ void simd_in_word(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[2 * i], b = in[2 * i + 1], *o = out + 8 * i, v;
    o[0] = __vadd4(a, b);
    o[1] = __vabsdiffu4(a, b);
    o[2] = __vcmpgtu4(a, b);
    o[3] = __vmaxs2(a, b);
    o[4] = __vavgu4(a, b);
    o[5] = __vaddus2(a, b);
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(a ^ b));
    o[6] = v;
    asm("vadd.s32.u32.s32.sat.max %0, %1.b1, %2.h1, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(7));
    o[7] = v;
}

// Greatest common divisor by shifts, a Morton code, and a 64-bit population rank.
extern "C" __global__ void bit_tricks(const unsigned long long *in, unsigned long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = in[2 * i] | 1, b = in[2 * i + 1] | 1, m = (unsigned)a;
    out[3 * i + 2] = __brevll(a) + __popcll(a & (1ull << (b & 63)) - 1) + __clzll(b) * 100 + __ffsll(a ^ b);
    while (a != b) {
        if (a < b) { unsigned long long t = a; a = b; b = t; }
        a -= b;
        a >>= __ffsll(a) - 1;
    }
    out[3 * i] = a;
    m = (m | m << 16) & 0x0000ffff0000ffffull;
    m = (m | m << 8) & 0x00ff00ff00ff00ffull;
    m = (m | m << 4) & 0x0f0f0f0f0f0f0f0full;
    m = (m | m << 2) & 0x3333333333333333ull;
    out[3 * i + 1] = (m | m << 1) & 0x5555555555555555ull;
}
