// SPDX-License-Identifier: MIT
// quick: no
// cuda::std and thrust in device code: containers by value, variants, complex, algorithms, iterators.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float a;
    __device__ Square(float x) : a(x) {}
    __device__ float area() const override { return a * a; }
};
struct Disc : Shape {
    float r;
    __device__ Disc(float x) : r(x) {}
    __device__ float area() const override { return 3.14159265f * r * r; }
};

extern "C" __global__ void variants(const float *in, float *out)
{
    cuda::std::variant<int, float, cuda::std::array<double, 3>> v;
    int i = threadIdx.x;
    if (i % 3 == 0)
        v = i;
    else if (i % 3 == 1)
        v = in[i];
    else
        v = cuda::std::array<double, 3>{1.0, 2.0, in[i]};
    cuda::std::optional<float> o;
    if (in[i] > 0)
        o = in[i];
    struct Visit {
        __device__ float operator()(int x) { return x * 2.0f; }
        __device__ float operator()(float x) { return x + 1.0f; }
        __device__ float operator()(const cuda::std::array<double, 3> &a) { return (float)(a[0] * a[1] - a[2]); }
    };
    out[i] = cuda::std::visit(Visit(), v) + o.value_or(-1.0f);
}

extern "C" __global__ void complexes(const cuda::std::complex<float> *in, cuda::std::complex<float> *out, double *d)
{
    auto z = in[threadIdx.x], w = in[threadIdx.x + 1];
    out[threadIdx.x] = z * w / (z + w) + cuda::std::exp(w) - cuda::std::sqrt(z);
    d[threadIdx.x] = cuda::std::abs(cuda::std::complex<double>(z.real(), w.imag()));
}

extern "C" __global__ void algorithms(int *data, int n, int *where, const float *m, float *o)
{
    int *mine = data + blockIdx.x * n;
    thrust::sort(thrust::seq, mine, mine + n);
    where[0] = (int)(thrust::lower_bound(thrust::seq, mine, mine + n, 42) - mine) + thrust::reduce(thrust::seq, mine, mine + n, 0);
    cuda::std::mdspan<const float, cuda::std::dextents<int, 2>> view(m, n, 16);
    float s = 0;
    for (int i = 0; i < view.extent(0); i++)
        for (int j = 0; j < view.extent(1); j++)
            s += view(i, j);
    *o = s + cuda::std::popcount((unsigned)n) + cuda::std::countl_zero((unsigned)n);
    char text[24];
    int len = 0;
    for (unsigned u = n; u; u /= 10)
        text[len++] = (char)('0' + u % 10);
    where[1] = text[len / 2];
}

extern "C" __global__ void virtual_calls(const float *in, float *out)
{
    Square s(in[0]);
    Disc d(in[1]);
    const Shape *p[4] = {&s, &d, &d, &s};
    float sum = 0;
    for (int i = 0; i < blockDim.x; i++)
        sum += p[(threadIdx.x + i) & 3]->area();
    out[threadIdx.x] = sum;
}
