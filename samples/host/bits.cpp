// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "bits.cu"

int main()
{
    run_file("bits", "Positions and lengths up to and beyond the width, and random words.");
    {
        Run r("bit_fields", 1, 20, 0, "Edges.");
        std::vector<unsigned> v;
        for (unsigned k = 0; k < 20; k++) {
            static const unsigned word[] = {0, 0xffffffff, 0x80000000, 1, 0x7fffffff, 0x89abcdef, 0x00ff00ff};
            static const unsigned pick[] = {0x3210, 31, 32, 33, 0x7654, 0xffff, 0x1f << 5 | 4, 0x10 << 5 | 16, 63};
            v.insert(v.end(), {word[k % 7], k < 9 ? k * 4 : word[(k + 3) % 7], pick[k % 9]});
        }
        auto in = r.values(v, "b32");
        auto out = r.zero<unsigned>(240);
        r.type(1, "b32");
        r.run(bit_fields, (const unsigned *)in, out);
    }
    {
        Run r("bit_fields", 3, 40);
        auto in = r.rand<unsigned>(360, 1);
        r.run(bit_fields, (const unsigned *)in, r.zero<unsigned>(1440));
    }
    {
        Run r("simd_in_word", 1, 16, 0, "Edges.");
        auto in = r.values<unsigned>(
            {0,          0,          0xffffffff, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80007fff, 0x7fff8000,
             0xff00ff00, 0x00ff00ff, 0x01020304, 0x04030201, 0xfffeffff, 0x00020001, 0x7f,       0x80,
             0,          0x80000000, 0xff00,     0x7fff0000, 0,          0xffff0000, 1,          0,
             0x12345678, 0x9abcdef0, 0xdeadbeef, 0xcafebabe, 0xffff0000, 0x0000ffff, 0x55555555, 0xaaaaaaaa},
            "b32");
        auto out = r.zero<unsigned>(128);
        r.type(1, "b32");
        r.run(simd_in_word, (const unsigned *)in, out);
    }
    {
        Run r("simd_in_word", 2, 33);
        auto in = r.rand<unsigned>(132, 2);
        r.run(simd_in_word, (const unsigned *)in, r.zero<unsigned>(528));
    }
    {
        Run r("bit_tricks", 1, 8, 0, "Equal, one, and powers of two.");
        auto in = r.values<unsigned long long>({0, 0, 12, 18, 1ull << 63, 1, ~0ull, ~0ull, 0x5555555555555555,
                                                0xaaaaaaaaaaaaaaaa, 105, 1155, 0xffffffff, 63, 2, 1ull << 32},
                                               "b64");
        r.run(bit_tricks, (const unsigned long long *)in, r.zero<unsigned long long>(24));
    }
    {
        Run r("bit_tricks", 2, 32);
        auto in = r.rand<unsigned long long>(128, 3);
        r.run(bit_tricks, (const unsigned long long *)in, r.zero<unsigned long long>(192));
    }
}
