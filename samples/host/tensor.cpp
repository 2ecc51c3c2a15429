// SPDX-License-Identifier: MIT
// Computes the results of ../run/tensor.run: plain products of matrices, without fragments.
#include "cuda_shim.h"
#include "launches.h"

// Returns the value of a finite half.
static double half(uint16_t h)
{
    int exponent = h >> 10 & 31, digits = h & 0x3ff;
    double v = exponent == 0 ? ldexp(digits, -24) : ldexp(digits + 0x400, exponent - 25);
    return h >> 15 ? -v : v;
}

// Computes d (m x n, rows) = a (m x k, rows) * b (k x n, columns) + c, in the first thread for all.
template <class T, class A, class F> void multiply(const A *a, const A *b, T *d, int m, int n, int k, F c)
{
    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = c(i * n + j);
            for (int s = 0; s < k; s++)
                if constexpr (std::is_same_v<A, uint16_t>)
                    sum += half(a[i * k + s]) * half(b[j * k + s]);
                else
                    sum += a[i * k + s] * b[j * k + s];
            d[i * n + j] = (T)sum;
            if (d[i * n + j] != sum)
                host_fail("a sum that is not exact");
        }
}

static void wmma_half(const uint16_t *a, const uint16_t *b, const float *c, float *d, int k)
{
    multiply(a, b, d, 16, 16, k, [=](int at) { return c[at]; });
}
static void wmma_int8(const int8_t *a, const int8_t *b, int *d)
{
    multiply(a, b, d, 8, 32, 16, [](int) { return 7; });
}
static void mma_ldmatrix(const uint16_t *a, const uint16_t *b, float *d)
{
    multiply(a, b, d, 16, 8, 16, [](int) { return 0; });
}
static void mma_int8(const int8_t *a, const int8_t *b, int *d)
{
    multiply(a, b, d, 16, 8, 32, [](int) { return 0; });
}

LAUNCHES("tensor", KERNEL(wmma_half), KERNEL(wmma_int8), KERNEL(mma_ldmatrix), KERNEL(mma_int8))
