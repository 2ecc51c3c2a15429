// SPDX-License-Identifier: MIT
// Launches of samples/random.cu.
#include "cuda_shim.h"

#include "random.cu"

static void fill(unsigned grid, unsigned block, uint2 key, int n)
{
    Run r("philox_fill", grid, block);
    auto out = r.fill<unsigned>(4 * (size_t)std::max(n, 1), 3);
    r.aggregate(key);
    r.scalar(n);
    r.run(philox_fill, (uint4 *)out, key, n);
}

static void shift(unsigned grid, unsigned block, int rounds)
{
    Run r("xorshift", grid, block);
    auto state = r.rand<unsigned long long>(2 * grid * block, rounds);
    auto sum = r.fill<unsigned long long>(grid * block, 5);
    r.scalar(rounds);
    r.run(xorshift, (ulonglong2 *)state, sum, rounds);
}

static void circle(unsigned grid, unsigned block, uint2 key, int samples)
{
    Run r("monte_carlo", grid, block);
    auto inside = r.fill<unsigned>(1, 11);
    r.aggregate(key);
    r.scalar(samples);
    r.run(monte_carlo, inside, key, samples);
}

int main()
{
    run_file("random", "Integers of 32 and 64 bits; loops with zero iterations, with and without a remainder.");
    fill(2, 32, {0x67452301, 0xefcdab89}, 70);
    fill(2, 16, {0xffffffff, 0xffffffff}, 4);
    fill(1, 3, {0, 0}, 0);
    shift(2, 10, 100);
    shift(1, 4, 1);
    shift(1, 2, 0);
    {
        Run r("lcg_jump", 1, 40);
        auto steps = r.iota<unsigned long long>(40);
        auto out = r.zero<unsigned long long>(40);
        r.run(lcg_jump, steps, out);
    }
    {
        Run r("lcg_jump", 2, 16);
        auto steps = r.rand<unsigned long long>(32, 3);
        auto out = r.zero<unsigned long long>(32);
        r.run(lcg_jump, steps, out);
    }
    circle(2, 64, {0xdeadbeef, 0xcafebabe}, 7);
    circle(1, 32, {1, 2}, 1);
    circle(3, 32, {0, 0}, 8);
    circle(1, 32, {0, 0}, 0);
}
