// SPDX-License-Identifier: MIT
// Launches of samples/matmul.cu.
#include "cuda_shim.h"

#include "matmul.cu"

// Returns random values; doubles are exact, but their products and sums are inexact.
template <class T> T *matrix(Run &r, int n, uint64_t seed)
{
    if constexpr (std::is_same_v<T, int>)
        return r.rand<int>((size_t)n * n, seed);
    else if constexpr (std::is_same_v<T, float>)
        return r.rand<float>((size_t)n * n, seed, -3, 5);
    else
        return r.iota<double>((size_t)n * n, seed * -123456789.0009765625, 1234567.0000152587890625);
}

template <class T, int TILE> static void product(const char *entry, int n, uint64_t seed)
{
    Run r(entry, {(unsigned)n / TILE, (unsigned)n / TILE}, {TILE, TILE});
    auto a = matrix<T>(r, n, seed), b = matrix<T>(r, n, seed + 1), c = r.zero<T>((size_t)n * n);
    r.scalar(n);
    r.run(matmul<T, TILE>, a, b, c, n);
}

// Runs one row of threads, for one row of results.
template <class T, int TILE> static void empty(const char *entry)
{
    Run r(entry, 1, TILE, 0, "Sums of nothing.");
    auto a = r.zero<T>(1), b = r.zero<T>(1), c = r.fill<T>(TILE, 1);
    int n = r.scalar(0);
    r.run(matmul<T, TILE>, a, b, c, n);
}

static void registers(dim3 grid, dim3 block, int n, uint64_t seed)
{
    Run r("matmul_reg4", grid, block);
    auto a = matrix<float>(r, n, seed), b = matrix<float>(r, n, seed + 1), c = r.zero<float>((size_t)n * n);
    r.scalar(n);
    r.run(matmul_reg4, (const float4 *)a, (const float4 *)b, (float4 *)c, n);
}

int main()
{
    const char *s32 = "_Z6matmulIiLi8EEvPKT_S2_PS0_i", *f32 = "_Z6matmulIfLi16EEvPKT_S2_PS0_i",
               *f64 = "_Z6matmulIdLi4EEvPKT_S2_PS0_i";
    run_file("matmul", "One tile and many, unrolled loops with and without a remainder, threads beyond the edge.");
    product<int, 8>(s32, 8, 1);
    product<int, 8>(s32, 16, 3);
    product<int, 8>(s32, 40, 5);
    empty<int, 8>(s32);
    product<float, 16>(f32, 16, 7);
    product<float, 16>(f32, 48, 9);
    empty<float, 16>(f32);
    product<double, 4>(f64, 4, 1);
    product<double, 4>(f64, 16, 2);
    product<double, 4>(f64, 44, 3);
    empty<double, 4>(f64);
    registers(1, {8, 8}, 12, 11);
    registers({2, 2}, {4, 3}, 20, 13);
    registers(1, 1, 4, 15);
}
