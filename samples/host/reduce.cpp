// SPDX-License-Identifier: MIT
// Launches of samples/reduce.cu.
#include "cuda_shim.h"

extern "C" {
thread_local int tree[1024];
}
#include "reduce.cu"

template <class T, class Op>
static void blocks(const char *entry, unsigned grid, unsigned block, int n, T neutral, uint64_t seed,
                   const char *comment = "")
{
    Run r(entry, grid, block, 0, comment);
    auto in = r.rand<T>((size_t)std::max(n, 1), seed);
    r.scalar(n);
    auto out = r.zero<T>(grid);
    r.scalar(neutral);
    r.run(reduce<T, Op>, in, n, out, neutral);
}

static void total(unsigned grid, unsigned block, int n, uint64_t seed)
{
    Run r("reduce_tree", grid, block, 4 * block);
    auto in = r.rand<int>((size_t)n, seed);
    r.scalar(n);
    auto sum = r.fill(1, -1);
    r.run(reduce_tree, in, n, sum);
}

int main()
{
    const char *sum = "_Z6reduceIi3SumEvPKT_iPS1_S1_", *max = "_Z6reduceIi3MaxEvPKT_iPS1_S1_",
               *bits = "_Z6reduceIy3XorEvPKT_iPS1_S1_";
    run_file("reduce", "Grid strides of zero, one and several steps; blocks from one thread or warp to the largest.");
    blocks<int, Sum>(sum, 3, 64, 1000, 0, 1);
    blocks<int, Sum>(sum, 1, 1024, 1500, 0, 2);
    blocks<int, Sum>(sum, 2, 32, 0, 3, 3, "Empty input: the neutral element is missing.");
    blocks<int, Max>(max, 4, 96, 300, INT_MIN, 4);
    blocks<int, Max>(max, 1, 32, 0, -5, 5);
    {
        Run r(max, 2, 32, 0, "The largest of negative values.");
        auto in = r.iota(200, -1000);
        int n = r.scalar(200);
        auto out = r.zero<int>(2);
        int neutral = r.scalar(INT_MIN);
        r.run(reduce<int, Max>, in, n, out, neutral);
    }
    blocks<unsigned long long, Xor>(bits, 2, 128, 777, 0, 6);
    blocks<unsigned long long, Xor>(bits, 3, 32, 40, 0x123456789abcdef0, 7);
    blocks<unsigned long long, Xor>(bits, 1, 1024, 5000, 0, 8);
    total(3, 64, 150, 9);
    total(5, 1, 5, 10);
    total(2, 256, 300, 11);
}
