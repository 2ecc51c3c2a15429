// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "operators.cu"

int main()
{
    run_file("operators", "Sums and products wrap.");
    {
        Run r("fibonacci", 2, 16, 0, "Numbers 0 to 31.");
        auto n = r.iota<unsigned>(32, 0, 1);
        auto out = r.zero<unsigned>(32);
        r.run(fibonacci, n, out);
    }
    {
        Run r("fibonacci", 1, 8, 0, "Large numbers, modulo a prime.");
        auto n = r.values<unsigned>({100, 1000, 65535, 65536, 1000000, 998244353, 4294967294, 4294967295});
        auto out = r.zero<unsigned>(8);
        r.run(fibonacci, n, out);
    }
    for (unsigned n : {0u, 1u, 11u}) {
        Run r("gauss", 1, 16);
        auto z = (uint2 *)r.rand<unsigned>(32, n + 5);
        r.scalar(n);
        auto out = (uint2 *)r.zero<unsigned>(32);
        auto norms = r.zero<unsigned>(16);
        r.run(gauss, z, n, out, norms);
    }
    {
        Run r("julia", 2, 32, 0, "Points inside and outside of the set.");
        auto start = (short2 *)r.values<short>([] {
            std::vector<short> v;
            for (int k = 0; k < 64; k++) {
                v.push_back((short)((k % 8 - 4) * 1400));
                v.push_back((short)((k / 8 - 4) * 1100));
            }
            return v;
        }());
        short2 c = {-3031, 614};
        r.aggregate(c);
        auto steps = r.zero<unsigned char>(64);
        r.scalar<unsigned char>(100);
        r.run(julia, start, c, steps, (unsigned char)100);
    }
    for (int walls : {0, 1, 7}) {
        Run r("bounce", 1, 16);
        auto in = r.rand<float>(48, 3, -10, 10);
        r.scalar(walls);
        auto out = r.zero<float>(64);
        r.run(bounce, in, walls, out);
    }
}
