// SPDX-License-Identifier: MIT
// Byte histogram with shared counters; char4 input; barrier reductions count and classify.

extern "C" __global__ void histogram256(const uchar4 *in, int quads, unsigned *bins)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        uchar4 q = in[i];
        atomicAdd(&local[q.x], 1u);
        atomicAdd(&local[q.y], 1u);
        atomicAdd(&local[q.z], 1u);
        atomicAdd(&local[q.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i] != 0)
            atomicAdd(&bins[i], local[i]);
}

// out[4*block + ..] = number of odd values, any negative, all non-zero, largest value.
extern "C" __global__ void classify(const int *in, int *out)
{
    __shared__ int largest;
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0)
        largest = -2147483647 - 1;
    int odd = __syncthreads_count(v & 1);
    int negative = __syncthreads_or(v < 0);
    int nonzero = __syncthreads_and(v != 0);
    atomicMax(&largest, v);
    __syncthreads();
    if (threadIdx.x == 0) {
        int4 r = make_int4(odd, negative != 0, nonzero != 0, largest);
        reinterpret_cast<int4 *>(out)[blockIdx.x] = r;
    }
}

// Saturating 16-bit packed counters: two bins share one word, updated by a CAS loop.
extern "C" __global__ void histogram_packed(const unsigned char *in, int n, unsigned *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned *word = &bins[in[i] >> 1];
    unsigned shift = (in[i] & 1) * 16, old = atomicAdd(word, 0), seen;
    do {
        seen = old;
        unsigned count = seen >> shift & 0xffffu;
        if (count == 0xffffu)
            return;
        old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (count + 1) << shift);
    } while (old != seen);
}
