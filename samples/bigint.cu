// SPDX-License-Identifier: MIT
// Wide integers: 256-bit add and multiply with carry chains, 64-bit division, modular powers, gcd.

// sum = a + b in eight words; the low four words of diff = a - b.
extern "C" __global__ void add256(const unsigned *a, const unsigned *b, unsigned *sum, unsigned *diff)
{
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    unsigned x[8], y[8], s[8], d[8];
    for (int i = 0; i < 8; i++) {
        x[i] = a[base + i];
        y[i] = b[base + i];
    }
    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\t"
        "addc.cc.u32 %3, %11, %19;\n\taddc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]), "=r"(s[4]), "=r"(s[5]), "=r"(s[6]), "=r"(s[7])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]),
          "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
    for (int i = 0; i < 8; i++) {
        sum[base + i] = s[i];
        diff[base + i] = i < 4 ? d[i] : 0;
    }
}

// 64 x 64 -> 128 bits from 32-bit pieces.
extern "C" __global__ void mul128(const uint2 *a, const uint2 *b, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 r;
    asm("{\n\t"
        "mul.lo.u32      %0, %4, %6;\n\t"
        "mul.hi.u32      %1, %4, %6;\n\t"
        "mad.lo.cc.u32   %1, %4, %7, %1;\n\t"
        "madc.hi.u32     %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32   %1, %5, %6, %1;\n\t"
        "madc.hi.cc.u32  %2, %5, %6, %2;\n\t"
        "addc.u32        %3, 0, 0;\n\t"
        "mad.lo.cc.u32   %2, %5, %7, %2;\n\t"
        "madc.hi.u32     %3, %5, %7, %3;\n\t"
        "}"
        : "=&r"(r.x), "=&r"(r.y), "=&r"(r.z), "=&r"(r.w) : "r"(a[i].x), "r"(a[i].y), "r"(b[i].x), "r"(b[i].y));
    out[i] = r;
}

extern "C" __global__ void divmod64(const long long *a, const long long *b, long long *q, unsigned long long *r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[2 * i] = a[i] / b[i];
    q[2 * i + 1] = a[i] % b[i];
    r[2 * i] = (unsigned long long)a[i] / (unsigned long long)b[i] + (unsigned long long)a[i] % 1000000007ull;
    r[2 * i + 1] = __umul64hi(a[i], b[i]) ^ (unsigned long long)__mul64hi(a[i], b[i]);
}

extern "C" __global__ void powmod(const unsigned *base, const unsigned *exponent, unsigned modulus, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long b = base[i] % modulus, r = 1;
    for (unsigned e = exponent[i]; e != 0; e >>= 1) {
        if (e & 1)
            r = r * b % modulus;
        b = b * b % modulus;
    }
    out[i] = (unsigned)r;
}

extern "C" __global__ void wide128(const unsigned long long *a, unsigned long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned __int128 v = (unsigned __int128)a[i] * (a[i] | 1) + a[i + 1];
    v = (v << 13) - (v >> 7);
    out[2 * i] = (unsigned long long)v;
    out[2 * i + 1] = (unsigned long long)(v >> 64);
}
