// SPDX-License-Identifier: MIT
// Arrays in local memory: dynamic indices, 8/16/64-bit elements, an escaping address, memset/memcpy.

// Sorts 16 shorts per thread by insertion.
extern "C" __global__ void insertion_sort(const short *in, short *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x, base = id * 16;
    short a[16];
    for (int i = 0; i < 16; i++)
        a[i] = in[base + i];
#pragma unroll 1
    for (int i = 1; i < 16; i++) {
        short v = a[i];
        int j = i;
#pragma unroll 1
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
    for (int i = 0; i < 16; i++)
        out[base + i] = a[i];
}

// RC4 key stream: a 256-byte permutation per thread.
extern "C" __global__ void rc4(const unsigned char *key, int key_len, unsigned char *stream, int len)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char s[256];
    for (int i = 0; i < 256; i++)
        s[i] = (unsigned char)i;
    for (int i = 0, j = 0; i < 256; i++) {
        j = (j + s[i] + key[id * key_len + i % key_len]) & 255;
        unsigned char t = s[i]; s[i] = s[j]; s[j] = t;
    }
    for (int n = 0, i = 0, j = 0; n < len; n++) {
        i = (i + 1) & 255;
        j = (j + s[i]) & 255;
        unsigned char t = s[i]; s[i] = s[j]; s[j] = t;
        stream[id * len + n] = s[(s[i] + s[j]) & 255];
    }
}

struct Poly { long long c[6]; int degree; };

__device__ __noinline__ void derive(Poly *p)
{
    for (int i = 0; i < p->degree; i++)
        p->c[i] = p->c[i + 1] * (i + 1);
    p->c[p->degree--] = 0;
}

// k-th derivative of a degree 5 polynomial at x; the polynomial's address escapes into derive().
extern "C" __global__ void poly_derivative(const int *coeff, const int *order, int x, long long *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    Poly p, copy;
    p.degree = 5;
    for (int i = 0; i < 6; i++)
        p.c[i] = coeff[i];
    __builtin_memcpy(&copy, &p, sizeof p);
    for (int k = 0; k < order[id]; k++)
        derive(&p);
    long long v = 0;
    for (int i = p.degree; i >= 0; i--)
        v = v * x + p.c[i];
    out[2 * id] = v;
    out[2 * id + 1] = copy.c[order[id] % 6];
}
