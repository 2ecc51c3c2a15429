// SPDX-License-Identifier: MIT
// Pointers that walk over arrays in shared structures: comparisons, differences, ends, both directions.
// The registers of these pointers have several definitions.

struct Book {
    // Diagnostics.
    unsigned magic;
    int probes;
    long long opened;
    char title[12];
    volatile int turn;
    int keys[64];
    int sentinel;  // behind the last key
    unsigned closed;
};

static __device__ int cursor_limit = 48;  // kernels store only this value
static __device__ int2 cursor_step = { 1, 2 };

__device__ void open_book(Book *b, int turn)
{
    b->magic = 0xb00c0001u;
    b->opened = (long long)turn << 33;
    b->title[0] = 'b';
    b->title[5] = (char)turn;
    b->turn = turn;
    b->sentinel = 0x7fffffff;
}

// Smallest key that is not less than each value, or the sentinel: a binary search with two pointers.
extern "C" __global__ void cursor_search(const int *keys, const int *values, int *out)
{
    __shared__ Book book;
    unsigned t = threadIdx.x & 63;
    book.keys[t] = keys[t];
    if (t == 0)
        open_book(&book, keys[0]);
    __syncthreads();
    int v = values[t];
    const int *first = book.keys, *last = book.keys + 64;
#pragma unroll 1
    while (first < last) {
        const int *middle = first + (last - first) / 2;
        if (*middle < v)
            first = middle + 1;
        else
            last = middle;
    }
    out[t] = *first == v ? book.turn : *first;
    if (t == 63)
        book.closed = 1;
}

// Partition of the keys around a pivot, by pointers from both ends; one thread. Then a sum of each step-th key.
extern "C" __global__ void cursor_partition(const int *keys, int *out, int *sums)
{
    __shared__ Book book;
    unsigned t = threadIdx.x & 63;
    book.keys[t] = keys[t];
    if (t == 0)
        open_book(&book, 3);
    __syncthreads();
    if (t == 0) {
        int pivot = book.keys[31], *low = book.keys, *high = &book.keys[63];
        while (low <= high) {
            while (*low < pivot)
                low++;
            while (*high > pivot)
                high--;
            if (low <= high) {
                int x = *low;
                *low++ = *high;
                *high-- = x;
            }
        }
        book.probes = (int)(low - high);
        if (low > &book.keys[4])
            cursor_limit = 48;
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 1
    for (const int *p = book.keys + t, *end = book.keys + cursor_limit; p < end; p += cursor_step.y)
        sum = 3 * sum + (unsigned)*p;
    out[t] = book.keys[t];
    sums[t] = (int)sum + cursor_step.x;
}

// Length of the run of equal keys from each place on, to a sentinel.
extern "C" __global__ void cursor_runs(const int *keys, int *out, int n)
{
    __shared__ Book book;
    unsigned t = threadIdx.x & 63;
    if (t < n)
        book.keys[t] = keys[t];
    if (t == 0)
        open_book(&book, n);
    __syncthreads();
    if (t >= n)
        return;
    const int *p = &book.keys[t], *end = n < 64 ? &book.keys[n] : &book.sentinel;
#pragma unroll 1
    while (p != end && *p == book.keys[t])
        p++;
    out[t] = (int)(p - &book.keys[t]) + (p == end ? 100 : 0) + 1000 * book.turn;
}
