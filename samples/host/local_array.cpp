// SPDX-License-Identifier: MIT
// Launches of samples/local_array.cu.
#include "cuda_shim.h"

#include "local_array.cu"

static void key_stream(unsigned grid, unsigned block, int key_len, int len, uint64_t seed, const char *comment = "")
{
    Run r("rc4", grid, block, 0, comment);
    auto key = r.rand<unsigned char>(grid * block * (size_t)key_len, seed);
    r.scalar(key_len);
    auto stream = r.zero<unsigned char>(grid * block * (size_t)std::max(len, 1));
    r.scalar(len);
    r.run(rc4, key, key_len, stream, len);
}

int main()
{
    run_file("local_array", "Local arrays with dynamic indices, and one whose address escapes.");
    {
        Run r("insertion_sort", 2, 8);
        auto in = r.rand<short>(256, 1);
        auto out = r.zero<short>(256);
        r.run(insertion_sort, in, out);
    }
    {
        Run r("insertion_sort", 1, 1, 0, "In order.");
        auto in = r.iota<short>(16, -8);
        auto out = r.zero<short>(16);
        r.run(insertion_sort, in, out);
    }
    {
        Run r("insertion_sort", 1, 2, 0, "In reverse order.");
        auto in = r.iota<short>(32, 1000, -3);
        auto out = r.zero<short>(32);
        r.run(insertion_sort, in, out);
    }
    key_stream(1, 3, 5, 5, 2, "Once through the unrolled loop, and once through the remainder.");
    key_stream(2, 4, 16, 32, 3);
    key_stream(1, 2, 1, 3, 4);
    key_stream(1, 1, 3, 0, 5, "No bytes are requested.");
    {
        Run r("poly_derivative", 1, 7, 0, "From no derivative up to the sixth, which is zero.");
        auto coeff = r.iota(6, 3, 5);
        auto order = r.iota(7, 0);
        int x = r.scalar(3);
        auto out = r.zero<long long>(14);
        r.run(poly_derivative, coeff, order, x, out);
    }
    {
        Run r("poly_derivative", 2, 5);
        auto coeff = r.rand<int>(6, 6);
        auto order = r.rand(10, 7, 0, 7);
        int x = r.scalar(-7);
        auto out = r.zero<long long>(20);
        r.run(poly_derivative, coeff, order, x, out);
    }
}
