// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "bitonic.cu"

int main()
{
    run_file("bitonic", "Sorts random values, equal values, sorted values, and values in reverse order.");
    {
        Run r("bitonic_warp", 1, 32);
        auto data = r.rand<unsigned>(32, 1);
        r.run(bitonic_warp, data);
    }
    {
        Run r("bitonic_warp", 3, 64);
        auto data = r.iota<unsigned>(192, 4000000000u, -25000000u);
        r.run(bitonic_warp, data);
    }
    {
        Run r("_Z14bitonic_sharedIiEvPT_", 1, 256);
        auto data = r.rand<int>(256, 2, -50, 50);
        r.run(bitonic_shared<int>, data);
    }
    {
        Run r("_Z14bitonic_sharedIiEvPT_", 1, 256);
        auto data = r.iota<int>(256, 2147483647, -16777216);
        r.run(bitonic_shared<int>, data);
    }
    {
        Run r("_Z14bitonic_sharedIxEvPT_", 1, 256);
        auto data = r.rand<long long>(256, 3);
        r.run(bitonic_shared<long long>, data);
    }
    {
        Run r("_Z14bitonic_sharedIsEvPT_", 1, 256);
        auto data = r.rand<short>(256, 4);
        r.run(bitonic_shared<short>, data);
    }
    {
        Run r("rank_sort", 1, 64);
        auto in = r.values<int2>({{5, 0}, {3, 1}, {5, 2}, {-2147483647, 3}, {3, 4}, {2147483647, 5}, {0, 6}}, "s32");
        auto out = r.zero<int>(14);
        r.run(rank_sort, in, (int2 *)out, r.scalar(7));
    }
    {
        Run r("rank_sort", 3, 64);
        auto in = r.rand<int>(300, 5, -20, 20);
        auto out = r.fill<int>(300, -1);
        r.run(rank_sort, (int2 *)in, (int2 *)out, r.scalar(150));
    }
    {
        Run r("rank_sort", 1, 32, 0, "Nothing to sort.");
        auto in = r.zero<int>(2);
        auto out = r.fill<int>(2, -1);
        r.run(rank_sort, (int2 *)in, (int2 *)out, r.scalar(0));
    }
}
