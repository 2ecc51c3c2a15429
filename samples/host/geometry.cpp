// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include <cmath>
// Defined for values out of range, unlike a cast on the host.
static int rounded(float v) { return host_to_integer<int>(rintf(v)); }
#define rintf rounded
#include "geometry.cu"

int main()
{
    const float inf = INFINITY;
    run_file("geometry", "Comparisons with NaN and infinities, loops that are not entered.");
    {
        Run r("nearest_box", 1, 6, 0, "Parallel to axes (0 * inf is NaN), from inside, backwards, and past all boxes.");
        auto rays =
            r.values<float>({0, 0, 0, 1,  1,  1,  -5, 0.5f, 0.5f, 1,   inf, inf, 2.5f, 2.5f, 2.5f, 1,    -inf, inf,
                             9, 9, 9, -1, -1, -1, 0,  5,    0,    inf, -1,  inf, -1,   3,    3,    0.5f, inf,  -2});
        auto boxes = r.values<float>({0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 4, 4, 4, -1, -1, -1, 0, 0, 0});
        auto n = r.scalar(4);
        r.run(nearest_box, (const Ray *)rays, (const float *)boxes, n, r.zero<int>(6));
    }
    {
        Run r("nearest_box", 2, 32);
        auto rays = r.rand<float>(384, 1, -4, 4);
        auto lo = r.rand<float>(138, 2, -5, 5);
        auto n = r.scalar(23);
        r.run(nearest_box, (const Ray *)rays, (const float *)lo, n, r.zero<int>(64));
    }
    {
        Run r("nearest_box", 1, 3, 0, "No boxes.");
        auto rays = r.rand<float>(18, 3, -1, 1);
        auto boxes = r.zero<float>(6);
        auto n = r.scalar(0);
        r.run(nearest_box, (const Ray *)rays, (const float *)boxes, n, r.zero<int>(3));
    }
    {
        Run r("in_polygon", 1, 64, 0, "A grid of points, some of them on the edges.");
        auto polygon = r.values<int>({0, 0, 6, 0, 6, 6, 3, 3, 0, 6});
        auto n = r.scalar(5);
        std::vector<int> p;
        for (int k = 0; k < 64; k++)
            p.insert(p.end(), {k % 8, k / 8 - 1});
        auto points = r.values(p);
        r.run(in_polygon, (const int2 *)polygon, n, (const int2 *)points, r.fill<unsigned char>(64, 9));
    }
    {
        Run r("in_polygon", 3, 30, 0, "Products of more than 32 bits.");
        auto polygon = r.rand<int>(22, 4, -500000000, 500000000);
        auto n = r.scalar(11);
        auto points = r.rand<int>(180, 5, -500000000, 500000000);
        r.run(in_polygon, (const int2 *)polygon, n, (const int2 *)points, r.fill<unsigned char>(92, 9));
    }
    {
        Run r("in_polygon", 1, 4, 0, "No corners.");
        auto polygon = r.zero<int>(2);
        auto n = r.scalar(0);
        auto points = r.iota<int>(8);
        r.run(in_polygon, (const int2 *)polygon, n, (const int2 *)points, r.fill<unsigned char>(4, 9));
    }
    {
        static const float edge[] = {0, -0.0f, 1, -1, 0.5f, 1.5f, -2.5f, 1e-40f, -1e-40f, 3e9f, -3e9f, inf, -inf, NAN};
        std::vector<float> a, b;
        for (float x : edge)
            for (float y : edge)
                a.push_back(x), b.push_back(y);
        Run r("float_order", 4, 49, 0, "Each pair of edge values.");
        auto pa = r.values(a), pb = r.values(b);
        auto out = r.zero<unsigned>(196);
        r.type(2, "b32");
        r.run(float_order, (const float *)pa, (const float *)pb, out);
    }
    {
        Run r("float_order", 1, 64);
        auto pa = r.rand<float>(64, 6, -100, 100), pb = r.rand<float>(64, 7, -100, 100);
        auto out = r.zero<unsigned>(64);
        r.type(2, "b32");
        r.run(float_order, (const float *)pa, (const float *)pb, out);
    }
}
