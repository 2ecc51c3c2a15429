// SPDX-License-Identifier: MIT
// Bitonic sorting networks: in shared memory, inside a warp by shuffles, and by index with a payload.

template <class T>
__global__ void bitonic_shared(T *data)
{
    __shared__ T s[256];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
#pragma unroll 1
    for (int size = 2; size <= 256; size <<= 1)
#pragma unroll 1
        for (int step = size >> 1; step > 0; step >>= 1) {
            int peer = t ^ step;
            if (peer > t) {
                bool up = (t & size) == 0;
                T a = s[t], b = s[peer];
                if ((a > b) == up) {
                    s[t] = b;
                    s[peer] = a;
                }
            }
            __syncthreads();
        }
    data[t] = s[t];
}

template __global__ void bitonic_shared<int>(int *);
template __global__ void bitonic_shared<long long>(long long *);
template __global__ void bitonic_shared<short>(short *);

extern "C" __global__ void bitonic_warp(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned v = data[i];
    for (int size = 2; size <= 32; size <<= 1)
        for (int step = size >> 1; step > 0; step >>= 1) {
            unsigned w = __shfl_xor_sync(0xffffffffu, v, step);
            bool low = (lane & step) == 0, up = (lane & size) == 0;
            v = low == up ? min(v, w) : max(v, w);
        }
    data[i] = v;
}

// Stable rank of each key by counting, then a scatter of key and payload.
extern "C" __global__ void rank_sort(const int2 *in, int2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int2 me = in[i];
    int rank = 0;
    for (int j = 0; j < n; j++) {
        int key = in[j].x;
        rank += key < me.x || (key == me.x && j < i);
    }
    out[rank] = me;
}
