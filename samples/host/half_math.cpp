// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "half_math.cu"

// Zero, smallest and largest subnormal, smallest normal, 1 and its neighbour, largest, infinity, NaN, of both signs.
static const unsigned short edge[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
                                      0x3c01, 0xbc01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x4248, 0xc49a};

int main()
{
    run_file("half_math", "All results are rounded once, as on the device. NaN is 0x7fff.");
    {
        Run r("axpy_half2", 2, 16, 0, "Sums that cancel, overflow, and are subnormal; the last threads are idle.");
        std::vector<unsigned short> x(edge, edge + 20), y;
        for (size_t k = 0; k < 20; k++)
            x.push_back((unsigned short)(0x3000 + 0x123 * k));
        for (size_t k = 0; k < 40; k++)
            y.push_back(edge[(k * 7 + 3) % 14]);
        auto a = r.aggregate(__half2{{0x3e01}, {0xbc01}});
        auto px = r.values(x, "b16"), py = r.values(y, "b16");
        r.run(axpy_half2, a, (const __half2 *)px, (__half2 *)py, r.scalar(20));
    }
    {
        Run r("axpy_half2", 3, 32);
        auto a = r.aggregate(__half2{{0x2e66}, {0x4d5a}});
        auto px = r.rand<unsigned short>(160, 1), py = r.rand<unsigned short>(160, 2);
        r.type(2, "b16");
        r.run(axpy_half2, a, (const __half2 *)px, (__half2 *)py, r.scalar(80));
    }
    {
        Run r("half_scalar", 4, 100, 0, "Each pair of edge values.");
        std::vector<unsigned short> a, b;
        for (unsigned short v : edge)
            for (unsigned short w : edge)
                a.push_back(v), b.push_back(w);
        auto pa = r.values(a, "b16"), pb = r.values(b, "b16");
        auto out = r.zero<unsigned short>(1600);
        r.run(half_scalar, (const __half *)pa, (const __half *)pb, (__half *)out, r.zero<int>(400));
    }
    {
        Run r("half_scalar", 1, 40);
        auto pa = r.rand<unsigned short>(40, 3), pb = r.rand<unsigned short>(40, 4);
        auto out = r.zero<unsigned short>(160);
        r.type(2, "b16");
        r.run(half_scalar, (const __half *)pa, (const __half *)pb, (__half *)out, r.zero<int>(40));
    }
    {
        Run r("half2_compare", 5, 40, 0, "Each pair of edge values.");
        std::vector<unsigned short> a, b;
        for (unsigned short v : edge)
            for (unsigned short w : edge)
                a.push_back(v), b.push_back(w);
        auto pa = r.values(a, "b16"), pb = r.values(b, "b16");
        auto out = r.zero<unsigned short>(400), mask = r.zero<unsigned short>(400);
        r.type(2, "b16");
        r.type(3, "b32");
        r.run(half2_compare, (const __half2 *)pa, (const __half2 *)pb, (__half2 *)out, (unsigned *)mask);
    }
    {
        Run r("bf16_dot", 1, 16, 0, "Rows of 7: once through the unrolled loop, and its remainder.");
        auto pa = r.rand<unsigned short>(224, 5, 0x3d00, 0x4200), pb = r.rand<unsigned short>(224, 6, 0xbe00, 0xc180);
        auto out = r.zero<float>(32);
        r.run(bf16_dot, (const __nv_bfloat162 *)pa, (const __nv_bfloat162 *)pb, out, r.scalar(7));
    }
    {
        Run r("bf16_dot", 2, 4, 0, "Rows of 12 numbers, without NaN and overflow.");
        std::vector<unsigned short> a, b;
        for (unsigned k = 0; k < 192; k++) {
            a.push_back((unsigned short)((host_random(7, k) & 0x8000) | (0x2000 + host_random(8, k) % 0x3e00)));
            b.push_back((unsigned short)((host_random(9, k) & 0x8000) | (0x2000 + host_random(10, k) % 0x3e00)));
        }
        auto pa = r.values(a, "b16"), pb = r.values(b, "b16");
        auto out = r.zero<float>(16);
        r.run(bf16_dot, (const __nv_bfloat162 *)pa, (const __nv_bfloat162 *)pb, out, r.scalar(12));
    }
    {
        Run r("bf16_dot", 1, 2, 0, "Empty rows.");
        auto pa = r.zero<unsigned short>(2), pb = r.zero<unsigned short>(2);
        auto out = r.fill<float>(4, 9);
        r.run(bf16_dot, (const __nv_bfloat162 *)pa, (const __nv_bfloat162 *)pb, out, r.scalar(0));
    }
}
