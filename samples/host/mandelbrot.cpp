// SPDX-License-Identifier: MIT
// Launches of samples/mandelbrot.cu.
#include "cuda_shim.h"

#include "mandelbrot.cu"

static void fixed(dim3 grid, dim3 block, int w, int h, int limit, const char *comment = "")
{
    Run r("mandel_fixed", grid, block, 0, comment);
    auto out = r.zero<unsigned short>((size_t)w * h);
    r.scalar(w), r.scalar(h), r.scalar(limit);
    r.run(mandel_fixed, out, w, h, limit);
}

template <class T>
static void floating(const char *entry, dim3 grid, dim3 block, int w, int h, T x0, T y0, T step,
                     const char *comment = "")
{
    Run r(entry, grid, block, 0, comment);
    auto out = r.zero<unsigned char>((size_t)w * h);
    r.scalar(w), r.scalar(h), r.scalar(x0), r.scalar(y0), r.scalar(step);
    r.run(mandel<T>, out, w, h, x0, y0, step);
}

int main()
{
    const char *f32 = "_Z6mandelIfEvPhiiT_S1_S1_", *f64 = "_Z6mandelIdEvPhiiT_S1_S1_";
    run_file("mandelbrot", "Loops with two exits, and blocks beyond the edge.");
    fixed({3, 2}, {8, 8}, 20, 15, 50);
    fixed({1}, {8, 4}, 8, 4, 0, "The limit is reached at once.");
    fixed({1, 3}, {32, 1}, 30, 3, 300);
    floating<float>(f32, {3, 2}, {8, 8}, 20, 15, -2.5f, -1.25f, 0.17f);
    floating<float>(f32, {1, 2}, {16, 2}, 16, 4, -0.75f, 0.1f, 0.0037f, "The edge of the set, which is chaotic.");
    floating<float>(f32, 2, 32, 50, 1, -1.5f, NAN, 0.01f, "Not a number escapes at once.");
    floating<double>(f64, {3, 2}, {8, 8}, 20, 15, -2.5, -1.25, 0.17);
    floating<double>(f64, {1, 2}, {16, 2}, 16, 4, -0.75, 0.1, 0.0037);
    floating<double>(f64, 1, 32, 20, 1, 0, -INFINITY, 1);
}
