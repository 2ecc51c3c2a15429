// SPDX-License-Identifier: MIT
// Launches of samples/scan.cu.
#include "cuda_shim.h"

#include "scan.cu"
thread_local unsigned long long ping_pong[2048];

static void inclusive(unsigned block, int n, uint64_t seed)
{
    Run r("scan_inclusive", 1, block);
    auto in = r.rand<unsigned>((size_t)n, seed);
    auto out = r.zero<unsigned>((size_t)n);
    r.scalar(n);
    r.run(scan_inclusive, in, out, n);
}

static void exclusive(unsigned n, uint64_t seed)
{
    Run r("scan_exclusive64", 1, n, 16 * n);
    auto in = r.rand<unsigned long long>(n, seed);
    auto out = r.fill<unsigned long long>(n, 6);
    r.run(scan_exclusive64, in, out);
}

static void segmented(std::function<unsigned char *(Run &)> heads, const char *comment)
{
    Run r("scan_segmented", 1, 32, 0, comment);
    auto in = r.rand<int>(32, 9), out = (int *)nullptr;
    auto h = heads(r);
    out = r.zero<int>(32);
    r.run(scan_segmented, in, h, out);
}

int main()
{
    run_file("scan", "Blocks of one warp and of many, fewer elements than threads.");
    inclusive(96, 96, 1);
    inclusive(128, 70, 2);
    inclusive(32, 1, 3);
    inclusive(1024, 1024, 4);
    exclusive(128, 5);
    exclusive(33, 6);
    exclusive(2, 7);
    exclusive(1, 8);
    segmented([](Run &r) { return r.rand<unsigned char>(32, 10, 0, 2); }, "");
    segmented([](Run &r) { return r.rand<unsigned char>(32, 11, 0, 255); }, "Every element is a segment.");
    segmented([](Run &r) { return r.zero<unsigned char>(32); }, "One segment.");
}
