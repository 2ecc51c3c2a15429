// SPDX-License-Identifier: MIT
// Atomics: every integer operation, 64-bit, float, shared memory, and CAS loops around them.

extern "C" __global__ void atomic_ops(const int *in, int *word, unsigned long long *wide)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&word[0], v);
    atomicSub(&word[1], v);
    atomicMin(&word[2], v);
    atomicMax(&word[3], v);
    atomicAnd(&word[4], v | 0xff);
    atomicOr(&word[5], v);
    atomicXor(&word[6], v);
    atomicInc((unsigned *)&word[7], 9);
    atomicDec((unsigned *)&word[8], 5);
    atomicMin((unsigned *)&word[9], (unsigned)v);
    atomicAdd_block(&word[10], 2);
    atomicAdd_system(&word[11], 3);
    atomicAdd(&wide[0], (unsigned long long)v << 16);
    atomicMax((long long *)&wide[1], (long long)v * 1000003);
    atomicMin(&wide[2], (unsigned long long)(unsigned)v);
    atomicXor(&wide[3], 1ull << (v & 63));
}

// Sums of small integers are exact in float and double, so the order does not matter.
extern "C" __global__ void atomic_float(const int *in, float *sum, double *dsum, float *largest)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x] & 1023;
    atomicAdd(sum, (float)v);
    atomicAdd(dsum, (double)v);
    int *bits = (int *)largest, seen = atomicAdd(bits, 0);
    while (__int_as_float(seen) < (float)v) {
        int old = atomicCAS(bits, seen, __float_as_int((float)v));
        if (old == seen)
            break;
        seen = old;
    }
}

__device__ double atomic_mul(double *p, double by)
{
    unsigned long long *bits = (unsigned long long *)p, seen, old = atomicAdd(bits, 0ull);
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(__dmul_rn(by, __longlong_as_double(seen))));
    } while (old != seen);
    return __longlong_as_double(old);
}

extern "C" __global__ void atomic_cas_double(const unsigned char *twos, double *product)
{
    if (twos[blockIdx.x * blockDim.x + threadIdx.x])
        atomic_mul(product, 2.0);
}

// A lock taken by one thread of each warp protects a plain counter and a 16-bit CAS.
extern "C" __global__ void spin_lock(int *lock, int *counter, unsigned short *half)
{
    if ((threadIdx.x & 31) == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        *(volatile int *)counter = *(volatile int *)counter + 1;
        __threadfence();
        atomicExch(lock, 0);
        unsigned short seen = 0, old;
        while ((old = atomicCAS(half, seen, (unsigned short)(seen + 7))) != seen)
            seen = old;
    }
}

extern "C" __global__ void shared_atomics(const int *in, int *out)
{
    __shared__ int lo, hi;
    __shared__ unsigned long long sum;
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0) {
        lo = 0x7fffffff;
        hi = -lo - 1;
        sum = 0;
    }
    __syncthreads();
    atomicMin(&lo, v);
    atomicMax(&hi, v);
    atomicAdd(&sum, (unsigned long long)(long long)v);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x * 3] = lo;
        out[blockIdx.x * 3 + 1] = hi;
        out[blockIdx.x * 3 + 2] = (int)(sum >> 3);
    }
}
