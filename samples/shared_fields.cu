// SPDX-License-Identifier: MIT
// Structures in shared memory: in templates, in functions that are called twice, before dynamic shared memory, reached
// through pointers; 64-bit, 8-bit and vector fields.

// Results of a block, with diagnostics of its first thread.
template <class T> struct Tile {
    T first, last, sum;
    unsigned char flag, state;
    unsigned short rounds;
    long long stamp;
    T trace[8];    // only written, at known offsets
    T values[64];  // at computed offsets
};

// Sums a tile of 64 values by halves, and returns (sum - first) ^ last. Called with several types.
template <class T, int ID> __device__ T fold_tile(T v)
{
    __shared__ Tile<T> tile;
    unsigned t = threadIdx.x & 63;
    tile.values[t] = v;
    if (t == 0) {
        tile.first = v;
        tile.stamp = ID;
        tile.state = 1;
    }
    if (t == 63) {
        tile.last = v;
        tile.flag = (unsigned char)(v & 7);
    }
    __syncthreads();
    for (unsigned step = 32; step > 0; step /= 2) {
        if (t < step)
            tile.values[t] = (T)(tile.values[t] + tile.values[(t + step) & 63]);
        __syncthreads();
    }
    if (t == 0) {
        tile.sum = tile.values[0];
        tile.trace[0] = v;
        tile.trace[1] = (T)(v * 2);
        tile.trace[6] = (T)~v;
        tile.state = 2;
        tile.rounds = 6;
    }
    __syncthreads();
    T result = (T)(((tile.sum - tile.first) ^ tile.last) + tile.flag);
    __syncthreads();
    return result;
}

extern "C" __global__ void fields_fold(const int *in, int *out32, long long *out64, unsigned char *out8)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int v = in[i];
    int a = fold_tile<int, 1>(v);
    out64[i] = fold_tile<long long, 2>((long long)v * v);
    out8[i] = fold_tile<unsigned char, 3>((unsigned char)v);
    out32[i] = fold_tile<int, 1>(a + v);
}

// State of exchange(), which has one copy in all kernels.
struct Exchange {
    float4 front, back;
    long long key;
    int turn, calls;
    float4 previous, corner;
    double weight;
};
struct Pair { float4 front; long long key; };

__device__ __noinline__ Pair exchange(float4 v, long long key, int turn)
{
    __shared__ Exchange x;
    unsigned t = threadIdx.x, last = blockDim.x - 1;
    __syncthreads();
    if (t == 0) {
        x.front = v;
        x.turn = turn;
        x.calls = turn + 1;
        x.corner.x = v.w;
        x.weight = 0.5 * turn;
    }
    if (t == last) {
        x.back = v;
        x.key = key;
        x.previous = make_float4(v.x, v.x, v.y, v.y);
    }
    __syncthreads();
    Pair p = { x.front, x.key + x.turn };
    if (t & 1)
        p.front = x.back;
    return p;
}

extern "C" __global__ void fields_exchange(const float4 *in, const long long *keys, float4 *out, long long *sums)
{
    extern __shared__ long long fields_dynamic[];
    __shared__ struct { unsigned long long total; int odd, even; unsigned char marks[4]; float4 spare; } head;
    unsigned t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    if (t == 0) {
        head.total = 0;
        head.odd = head.even = 0;
        head.marks[0] = head.marks[3] = 1;
        head.spare = in[i];
    }
    fields_dynamic[t] = keys[i];
    Pair p = exchange(in[i], keys[i], 1);
    Pair q = exchange(p.front, p.key ^ t, 2);
    atomicAdd(&head.total, (unsigned long long)q.key);
    atomicAdd(t & 1 ? &head.odd : &head.even, (int)p.key & 15);
    __syncthreads();
    out[i] = make_float4(p.front.x, q.front.y, p.front.z, q.front.w);
    sums[i] = (long long)head.total + head.odd * 3 + head.even + fields_dynamic[n - 1 - t] + head.marks[0];
}

__device__ __noinline__ void raise(int *p, int by) { *p = *p < by ? by : *p; }
__device__ __noinline__ void append(char *text, int at, int digit) { text[at & 15] = (char)('0' + digit % 10); }

// Addresses of fields are arguments, so this structure stays; the other one has no such fields.
extern "C" __global__ void fields_pointers(const int *in, int *out, char *text)
{
    __shared__ struct { int best, worst; char digits[16]; int unused; } open;
    __shared__ struct { int best, count; long long unused[8]; char first, second; short half; } closed;
    unsigned t = threadIdx.x;
    if (t < 16)
        open.digits[t] = '.';
    if (t == 0) {
        open.best = open.worst = in[0];
        open.unused = 1;
        closed.best = closed.count = 0;
        closed.unused[2] = in[0];
        closed.unused[5] = in[1];
        closed.first = (char)in[2];
        closed.second = (char)in[3];
        closed.half = (short)(in[2] * 3);
    }
    __syncthreads();
    if (t == 0)
        for (int k = 1; k < (int)blockDim.x; k++) {
            raise(&open.best, in[k]);
            raise(in[k] & 1 ? &open.best : &open.worst, in[k] >> 1);
            append(open.digits, k, in[k] & 127);
        }
    atomicMax(&closed.best, in[t] & 1023);
    atomicAdd(&closed.count, 1);
    __syncthreads();
    out[t] = open.best + 5 * open.worst + 7 * closed.best + closed.count + closed.first * closed.half;
    if (t < 16)
        text[t] = open.digits[t];
}
