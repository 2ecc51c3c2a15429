// SPDX-License-Identifier: MIT
// Open addressing: insert by CAS, look up by probing; CRC-32 and a templated mixer as hash functions.

#define EMPTY 0xffffffffu

__device__ unsigned crc32(unsigned v)
{
    unsigned crc = ~0u;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        unsigned bit = (crc ^ v) & 1;
        crc = crc >> 1 ^ (bit ? 0xedb88320u : 0);
        v >>= 1;
    }
    return ~crc;
}

template <unsigned SEED>
__device__ unsigned mix(unsigned h)
{
    h ^= SEED;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

// Keys may repeat; values of equal keys are added. mask = table size - 1, a power of two less one.
extern "C" __global__ void table_insert(const uint2 *pairs, int n, unsigned *keys, unsigned *values, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint2 p = pairs[i];
    for (unsigned slot = mix<0x1234u>(p.x) & mask;; slot = (slot + 1) & mask) {
        unsigned old = atomicCAS(&keys[slot], EMPTY, p.x);
        if (old == EMPTY || old == p.x) {
            atomicAdd(&values[slot], p.y);
            return;
        }
    }
}

extern "C" __global__ void table_find(const unsigned *wanted, int n, const unsigned *keys, const unsigned *values, unsigned mask, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned slot = mix<0x1234u>(wanted[i]) & mask;
    int answer = -1;
    while (keys[slot] != EMPTY) {
        if (keys[slot] == wanted[i]) {
            answer = (int)values[slot];
            break;
        }
        slot = (slot + 1) & mask;
    }
    out[i] = answer;
}

// Bloom filter: two hashes set two bits by atomicOr; bloom_test reads a filter that an earlier launch filled.
extern "C" __global__ void bloom_add(const unsigned *in, int n, unsigned *filter, unsigned bits)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned h1 = crc32(in[i]) % bits, h2 = mix<77u>(in[i]) % bits;
        atomicOr(&filter[h1 >> 5], 1u << (h1 & 31));
        atomicOr(&filter[h2 >> 5], 1u << (h2 & 31));
    }
}

extern "C" __global__ void bloom_test(const unsigned *in, int n, const unsigned *filter, unsigned bits, unsigned char *hit)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned h1 = crc32(in[i]) % bits, h2 = mix<77u>(in[i]) % bits;
        hit[i] = filter[h1 >> 5] >> (h1 & 31) & filter[h2 >> 5] >> (h2 & 31) & 1;
    }
}
