// SPDX-License-Identifier: MIT
// Pointers whose state space is known only at run time, alloca, grid constants, union views, goto loops.

struct Params { int stride, rows[6]; const int *base; };

__device__ __noinline__ int sum3(const int *p, int stride)
{
    return p[0] + p[stride] + p[2 * stride];
}

// The same code reads shared, local, constant, parameter and global memory.
__constant__ int fixed[8] = { 4, 8, 15, 16, 23, 42, 108, 256 };

extern "C" __global__ void generic_pointers(const __grid_constant__ Params p, const int *which, int *out)
{
    __shared__ int s[8];
    int l[8], i = threadIdx.x;
    if (i < 8)
        s[i] = i * i;
    for (int k = 0; k < 8; k++)
        l[k] = k + i;
    __syncthreads();
    const int *from;
    switch (which[i]) {
    case 0: from = s; break;
    case 1: from = l; break;
    case 2: from = fixed; break;
    case 3: from = p.rows; break;
    default: from = p.base; break;
    }
    int kind = __isShared(from) | __isLocal(from) << 1 | __isConstant(from) << 2 | __isGlobal(from) << 3;
    out[i] = sum3(from, p.stride) * 16 + kind;
}

// A buffer whose size is known at run time, on the stack: the digits of a number, in any base.
extern "C" __global__ void digits(const unsigned *in, unsigned base, int width, unsigned char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    unsigned char *buf = (unsigned char *)alloca(width);
    unsigned v = in[i];
    do {
        buf[n++] = (unsigned char)(v % base);
        v /= base;
    } while (v != 0 && n < width);
    for (int k = 0; k < width; k++)
        out[i * width + k] = k < n ? buf[n - 1 - k] : 0xff;
}

// A loop with two entries, written with goto.
extern "C" __global__ void two_entries(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], n = 0;
    if (v & 1)
        goto odd;
even:
    if (v <= 1)
        goto done;
    v >>= 1;
    n++;
    if (!(v & 1))
        goto even;
odd:
    if (v <= 1)
        goto done;
    v -= 1;
    n += 100;
    goto even;
done:
    out[i] = n;
}
