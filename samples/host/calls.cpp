// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "calls.cu"

int main()
{
    run_file("calls", "Sums and products wrap.");
    {
        Run r("apply_table", 1, 32, 0, "Each function of the table, with arguments that recur to different depths.");
        auto op = r.iota<int>(32, 0, 1);
        std::vector<int2> v;
        for (int k = 0; k < 32; k++)
            v.push_back(k % 4 == 3 ? int2{k / 4 % 3, k / 12} : int2{k * 6 + 1, 91 - k * 7});
        auto arg = r.values(v, "s32");
        auto out = r.zero<int>(32);
        r.run(apply_table, op, arg, out);
    }
    {
        Run r("apply_table", 2, 16, 0, "One function for all lanes: no divergence.");
        auto op = r.fill<int>(32, 6);
        std::vector<int2> v;
        for (int k = 0; k < 32; k++)
            v.push_back({(int)(host_random(1, (uint64_t)k) % 100000), (int)(host_random(2, (uint64_t)k) % 3000)});
        auto arg = r.values(v, "s32");
        auto out = r.zero<int>(32);
        r.run(apply_table, op, arg, out);
    }
    {
        Run r("apply_table", 1, 14, 0, "Ackermann's function for all lanes.");
        auto op = r.fill<int>(14, 3);
        auto arg = r.values<int>({0, 7, 1, 0, 1, 9, 2, 0, 2, 5, 3, 0, 3, 1, 3, 2, 3, 3, 4, 0, 2, 9, 0, 0, 1, 1, 2, 2});
        auto out = r.zero<int>(14);
        r.run(apply_table, (const int *)op, (const int2 *)arg, out);
    }
    {
        Run r("recursive", 1, 32);
        auto out = r.zero<unsigned>(96);
        r.run(recursive, out);
    }
    {
        Run r("recursive", 3, 5);
        auto out = r.zero<unsigned>(45);
        r.run(recursive, out);
    }
    {
        Run r("folds", 1, 32);
        auto v = r.iota<int>(9, 3, 5);
        r.scalar(9);
        auto out = r.zero<int>(32);
        r.run(folds, v, 9, out);
    }
    {
        Run r("folds", 1, 32, 0, "No values: the result is the seed.");
        auto v = r.iota<int>(1);
        r.scalar(0);
        auto out = r.zero<int>(32);
        r.run(folds, v, 0, out);
    }
}
