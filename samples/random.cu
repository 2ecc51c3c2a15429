// SPDX-License-Identifier: MIT
// Generators: Philox 4x32, xorshift128+, a linear congruential jump, and a pi estimate from them.

__device__ uint4 philox(uint4 c, uint2 k)
{
    for (int r = 0; r < 10; r++) {
        unsigned hi0 = __umulhi(0xd2511f53u, c.x), lo0 = 0xd2511f53u * c.x;
        unsigned hi1 = __umulhi(0xcd9e8d57u, c.z), lo1 = 0xcd9e8d57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}

extern "C" __global__ void philox_fill(uint4 *out, uint2 key, int n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = philox(make_uint4(i, 0, 0, 0), key);
}

extern "C" __global__ void xorshift(ulonglong2 *state, unsigned long long *sum, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ulonglong2 s = state[i];
    unsigned long long total = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned long long t = s.x;
        s.x = s.y;
        t ^= t << 23;
        s.y = t ^ s.y ^ (t >> 17) ^ (s.y >> 26);
        total += s.x + s.y;
    }
    state[i] = s;
    sum[i] = total;
}

// State after n steps of x -> a x + c (mod 2^64), by squaring.
extern "C" __global__ void lcg_jump(const unsigned long long *steps, unsigned long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = 6364136223846793005ull, c = 1442695040888963407ull, ta = 1, tc = 0;
    for (unsigned long long n = steps[i]; n != 0; n >>= 1) {
        if (n & 1) {
            ta *= a;
            tc = tc * a + c;
        }
        c *= a + 1;
        a *= a;
    }
    out[i] = ta * 42 + tc;
}

// Points in the quarter circle, in integers, so the count is exact.
extern "C" __global__ void monte_carlo(unsigned *inside, uint2 key, int samples)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, hits = 0;
    for (unsigned k = 0; k < samples; k++) {
        uint4 r = philox(make_uint4(i, k, 0, 0), key);
        unsigned long long x = r.x >> 1, y = r.y >> 1;
        hits += x * x + y * y < 1ull << 62;
    }
    hits = __reduce_add_sync(0xffffffffu, hits);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(inside, hits);
}
