// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "dispatch.cu"

// (x + 5) * x << 3, then >> 1, with a value that is dropped.
static const std::vector<signed char> good = {4, 0, 0, 5, 1, 0, 2, 0, 0, 77, 5, 0, 3, 3, 3, -1};
// Takes values from an empty stack, and pushes too many.
static const std::vector<signed char> bad = {5, 0, 1, 0, 2, 0, 5, 0, 5, 0, 0, 1, 0, 2, 0, 3, 0, -4, 0, 5,
                                             4, 0, 4, 9, 4, 3, 0, 7, 0, 8, 1, 0, 3, 5};
// Empties the stack, and then shifts, copies, adds and multiplies.
static const std::vector<signed char> empty = {5, 0, 3, 2, 5, 0, 3, -2, 5, 0, 4, 0, 5, 0, 4, -1, 5, 0,
                                               1, 0, 2, 0, 5, 0, 2, 0, 0, 6, 2, 0, 1, 0};

int main()
{
    run_file("dispatch", "Sums and products wrap.");
    for (bool table : {true, false})
        for (auto code : {&good, &bad, &empty}) {
            Run r(table ? "by_table" : "by_switch", 2, 8);
            auto at = (Code *)r.values(*code);
            int n = (int)code->size() / 2;
            r.scalar(n);
            auto in = r.iota<int>(16, -7, 100003);
            auto out = r.zero<int>(16);
            auto faults = r.zero<short>(16);
            r.run(table ? by_table : by_switch, at, n, in, out, faults);
        }
    {
        Run r("by_switch", 1, 4, 0, "Operations that there are not.");
        auto at = (Code *)r.values<signed char>({6, 0, 0, 9, 127, 1, -1, 0});
        r.scalar(4);
        auto in = r.iota<int>(4);
        auto out = r.zero<int>(4);
        auto faults = r.zero<short>(4);
        r.run(by_switch, at, 4, in, out, faults);
    }
    for (unsigned char mode : {0, 1, 2}) {
        Run r("mix", 1, 16, 0, mode == 0 ? "Sums that wrap." : mode == 1 ? "Saturated sums." : "Two functions in a warp.");
        auto in = r.rand<signed char>(16 * 9, 11);
        r.scalar(9);
        r.scalar<unsigned char>(mode == 1 ? 255 : 200);
        r.scalar<unsigned char>(mode);
        auto out = r.zero<short>(16);
        r.run(mix, in, 9, (unsigned char)(mode == 1 ? 255 : 200), mode, out);
    }
}
