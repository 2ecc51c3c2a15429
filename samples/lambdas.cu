// SPDX-License-Identifier: MIT
// Lambdas passed to templates: map, filter, fold, sort, composition; captures by value and by reference.

template <class T, class F> __device__ void map(T *v, int n, F f)
{
    for (int k = 0; k < n; k++)
        v[k] = f(v[k]);
}

template <class T, class F> __device__ int filter(T *v, int n, F keep)
{
    int kept = 0;
    for (int k = 0; k < n; k++)
        if (keep(v[k]))
            v[kept++] = v[k];
    return kept;
}

template <class T, class A, class F> __device__ A fold(const T *v, int n, A start, F f)
{
    for (int k = 0; k < n; k++)
        start = f(start, v[k]);
    return start;
}

template <class T, class F> __device__ void sort(T *v, int n, F before)
{
    for (int k = 1; k < n; k++) {
        T moved = v[k];
        int to = k;
        for (; to > 0 && before(moved, v[to - 1]); to--)
            v[to] = v[to - 1];
        v[to] = moved;
    }
}

template <class F, class G> __device__ auto compose(F f, G g)
{
    return [=](auto x) { return f(g(x)); };
}

enum { PART = 12 };

// Each thread works on its own numbers.
extern "C" __global__ void pipeline(const int *in, int n, int4 *out)
{
    int v[PART], t = blockIdx.x * blockDim.x + threadIdx.x, odd = 0;
    for (int k = 0; k < n; k++)
        v[k] = in[t * PART + k];
    map(v, n, [=](int x) { return x * 3 + t; });
    int kept = filter(v, n, [&](int x) {
        odd += x & 1;
        return x % 5 != 0;
    });
    auto clamp = [](int x) { return min(max(x, -1000), 1000); };
    auto square = [](int x) { return x * x; };
    map(v, kept, compose(square, clamp));
    out[t].x = kept;
    out[t].y = odd;
    out[t].z = fold(v, kept, 0, [](int a, int b) { return a + b; });
    out[t].w = fold(v, kept, 0u, [](unsigned a, int b) { return (a << 5 | a >> 27) ^ (unsigned)b; });
}

// Orders records of bytes and shorts by a key that is chosen at run time.
struct Record {
    unsigned char group;
    signed char weight;
    short value;
};

extern "C" __global__ void order(const Record *in, int n, int key, Record *out, short *spread)
{
    Record v[PART];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++)
        v[k] = in[t * PART + k];
    auto by_value = [](Record a, Record b) { return a.value < b.value; };
    auto by_weight = [](Record a, Record b) { return a.weight > b.weight; };
    if (key == 0)
        sort(v, n, by_value);
    else if (key == 1)
        sort(v, n, by_weight);
    else
        sort(v, n, [=](Record a, Record b) { return a.group != b.group ? a.group < b.group : by_value(a, b); });
    for (int k = 0; k < n; k++)
        out[t * PART + k] = v[k];
    short least = fold(v, n, (short)32767, [](short a, Record b) { return b.value < a ? b.value : a; });
    short most = fold(v, n, (short)-32768, [](short a, Record b) { return b.value > a ? b.value : a; });
    spread[t] = (short)(most - least);
}

// Returns the least x in [low, high) with f(x), which is monotone; `high` if there is none.
template <class F> __device__ __noinline__ unsigned first(unsigned low, unsigned high, F f)
{
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (f(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

extern "C" __global__ void roots(const unsigned *in, uint3 *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = in[t];
    auto at_least = [=](auto f) { return [=](unsigned x) { return f((unsigned long long)x) >= a; }; };
    out[t].x = first(0, 65537, at_least([](unsigned long long x) { return x * x; }));
    out[t].y = first(0, 1626, at_least([](unsigned long long x) { return x * x * x; }));
    out[t].z = first(0, 33, [=](unsigned x) { return a >> x == 0; });
}
