// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "team.cu"

int main()
{
    run_file("team", "Whole warps, and blocks whose last warp is not full.");
    for (unsigned n : {128u, 50u, 1u}) {
        Run r("statistics", 2, n);
        auto in = r.rand<short>(2 * n, 2);
        auto sums = r.zero<int>(4);
        auto squares = r.zero<long long>(2);
        r.run(statistics, in, sums, squares);
    }
    for (unsigned n : {64u, 33u}) {
        Run r("compact", 3, n);
        auto in = r.rand<unsigned char>(3 * n, 8);
        r.scalar<unsigned char>(120);
        auto out = r.zero<unsigned char>(3 * n);
        auto kept = r.zero<unsigned>(3);
        r.run(compact, in, (unsigned char)120, out, kept);
    }
    for (unsigned n : {40u, 35u, 2u}) {
        Run r("rank", 2, n, 0, n == 2 ? "" : "Some keys are equal.");
        auto in = r.rand<unsigned char>(2 * n, 1, 190, 250);
        auto up = r.zero<unsigned char>(2 * n);
        auto down = r.zero<short>(2 * n);
        auto found = r.zero<int>(2 * n);
        r.run(rank, in, up, down, found);
    }
}
