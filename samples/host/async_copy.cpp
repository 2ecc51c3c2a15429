// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "async_copy.cu"

static void sum(int tiles, unsigned grid, uint64_t seed)
{
    Run r("pipelined_sum", grid, 128);
    auto in = r.rand<int>((size_t)std::max(tiles, 1) * 512, seed);
    r.scalar(tiles);
    r.run(pipelined_sum, (const int4 *)in, tiles, r.fill<int>(grid * 128, -1));
}

static void produce(int rounds, uint64_t seed)
{
    Run r("producer_consumer", 1, 128);
    auto in = r.rand<int>((size_t)std::max(rounds, 1) * 64, seed);
    auto out = r.fill<int>(64, -1);
    r.run(producer_consumer, (const int *)in, out, r.scalar(rounds));
}

int main()
{
    run_file("async_copy", "Loops of zero, one, and several iterations.");
    sum(0, 1, 1);
    sum(1, 1, 2);
    sum(2, 1, 3);
    sum(5, 2, 4);
    produce(0, 5);
    produce(1, 6);
    produce(4, 7);
    {
        Run r("mbarrier_rotate", 1, 64);
        auto in = r.rand<int>(64, 8);
        r.run(mbarrier_rotate, (const int *)in, r.zero<int>(64));
    }
    {
        Run r("mbarrier_rotate", 3, 64, 0, "Blocks with equal work.");
        auto in = r.iota<int>(64, 5, 7);
        r.run(mbarrier_rotate, (const int *)in, r.zero<int>(64));
    }
    {
        Run r("pair_barriers", 1, 256);
        auto data = r.rand<int>(256, 9);
        r.run(pair_barriers, data, r.zero<unsigned>(256));
    }
    {
        Run r("pair_barriers", 1, 64, 0, "One pair; no vote for zero.");
        auto data = r.iota<int>(64, -20, 1);
        r.run(pair_barriers, data, r.zero<unsigned>(64));
    }
}
