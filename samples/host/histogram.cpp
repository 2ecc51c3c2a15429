// SPDX-License-Identifier: MIT
// Launches of samples/histogram.cu.
#include "cuda_shim.h"

#include "histogram.cu"

int main()
{
    run_file("histogram",
             "Grid strides, empty bins, more threads than bins; reductions at barriers; saturating counters.");
    {
        Run r("histogram256", 2, 128);
        auto in = r.rand<unsigned char>(4000, 1);
        int quads = r.scalar(1000);
        auto bins = r.iota<unsigned>(256, 5);
        r.run(histogram256, (const uchar4 *)in, quads, bins);
    }
    {
        Run r("histogram256", 1, 300, 0, "More threads than bins, and most bins are empty.");
        auto in = r.iota<unsigned char>(20, 250);
        int quads = r.scalar(5);
        auto bins = r.zero<unsigned>(256);
        r.run(histogram256, (const uchar4 *)in, quads, bins);
    }
    {
        Run r("histogram256", 3, 32, 0, "No input.");
        auto in = r.zero<unsigned char>(4);
        int quads = r.scalar(0);
        auto bins = r.fill<unsigned>(256, 9);
        r.run(histogram256, (const uchar4 *)in, quads, bins);
    }
    {
        Run r("classify", 4, 64, 0, "Blocks of negative values only, with a zero, and of positive values only.");
        auto in = r.iota(256, -100);
        auto out = r.zero<int>(16);
        r.run(classify, in, out);
    }
    {
        Run r("classify", 3, 45, 0, "Block sizes that are no multiple of a warp.");
        auto in = r.rand(135, 2, -4, 300);
        auto out = r.zero<int>(12);
        r.run(classify, in, out);
    }
    {
        Run r("classify", 2, 1, 0, "One thread; the smallest value.");
        auto in = r.values<int>({INT_MIN, INT_MIN + 1});
        auto out = r.zero<int>(8);
        r.run(classify, in, out);
    }
    {
        Run r("histogram_packed", 5, 64, 0, "Many threads update the same words; some counters saturate.");
        auto in = r.rand<unsigned char>(300, 3, 0, 12);
        int n = r.scalar(300);
        auto bins = r.fill<unsigned>(128, 0xfff0fff8);
        r.run(histogram_packed, in, n, bins);
    }
    {
        Run r("histogram_packed", 2, 32);
        auto in = r.iota<unsigned char>(64, 200);
        int n = r.scalar(33);
        auto bins = r.zero<unsigned>(128);
        r.run(histogram_packed, in, n, bins);
    }
}
