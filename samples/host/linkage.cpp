// SPDX-License-Identifier: MIT
// Launches of samples/linkage.cu.
#include "cuda_shim.h"

#include "linkage.cu"

static void run_linked(Run &r, int *in, size_t n)
{
    public_total = 0;
    counted<int> = 10;
    auto out = r.zero<int>(n);
    r.run(linked, in, out);
    r.variable("public_total", &public_total);
    r.variable("_Z7countedIiE", &counted<int>);
}

int main()
{
    run_file("linkage", "Calls between functions of every linkage, and their variables.");
    {
        Run r("linked", 2, 32);
        run_linked(r, r.iota(64, -20, 3), 64);
    }
    {
        Run r("linked", 1, 7);
        run_linked(r, r.rand<int>(7, 1), 7);
    }
    {
        Run r("_Z8unrolledILi3EEvPKiPi", 1, 33);
        auto in = r.rand<int>(99, 2);
        auto out = r.zero<int>(33);
        r.run(unrolled<3>, in, out);
    }
}
