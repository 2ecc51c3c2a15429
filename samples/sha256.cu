// SPDX-License-Identifier: MIT
// SHA-256 of one 64-byte message per thread (already padded), and FNV-1a over bytes.

__constant__ unsigned round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

__device__ unsigned ror(unsigned x, int n) { return __funnelshift_r(x, x, n); }

extern "C" __global__ void sha256_block(const uint4 *message, uint4 *digest)
{
    const unsigned init[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w[16], h[8];
    for (int i = 0; i < 4; i++) {
        uint4 q = message[id * 4 + i];
        w[4 * i] = __byte_perm(q.x, 0, 0x0123);
        w[4 * i + 1] = __byte_perm(q.y, 0, 0x0123);
        w[4 * i + 2] = __byte_perm(q.z, 0, 0x0123);
        w[4 * i + 3] = __byte_perm(q.w, 0, 0x0123);
    }
    for (int i = 0; i < 8; i++)
        h[i] = init[i];
#pragma unroll 1
    for (int base = 0; base < 64; base += 16) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            unsigned s1 = ror(h[4], 6) ^ ror(h[4], 11) ^ ror(h[4], 25);
            unsigned t1 = h[7] + s1 + (h[4] & h[5] ^ ~h[4] & h[6]) + round_constant[base + i] + w[i];
            unsigned s0 = ror(h[0], 2) ^ ror(h[0], 13) ^ ror(h[0], 22);
            unsigned t2 = s0 + (h[0] & h[1] ^ h[0] & h[2] ^ h[1] & h[2]);
            h[7] = h[6]; h[6] = h[5]; h[5] = h[4]; h[4] = h[3] + t1;
            h[3] = h[2]; h[2] = h[1]; h[1] = h[0]; h[0] = t1 + t2;
        }
#pragma unroll
        for (int i = 0; i < 16; i++) {
            unsigned a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i] += (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[(i + 9) & 15] + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
        }
    }
    for (int i = 0; i < 8; i++)
        h[i] += init[i];
    digest[id * 2] = make_uint4(h[0], h[1], h[2], h[3]);
    digest[id * 2 + 1] = make_uint4(h[4], h[5], h[6], h[7]);
}

extern "C" __global__ void fnv1a(const unsigned char *text, const int *offset, unsigned long long *hash, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long h = 0xcbf29ce484222325ull;
#pragma unroll 1
    for (int p = offset[i]; p < offset[i + 1]; p++)
        h = (h ^ text[p]) * 0x100000001b3ull;
    hash[i] = h;
}
