// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "lambdas.cu"

static std::vector<short> records(int n)
{
    std::vector<short> v;
    for (int k = 0; k < n; k++) {
        uint64_t x = host_random(9, (uint64_t)k);
        v.push_back((short)(x % 3 | (x >> 8 & 0xff00)));
        v.push_back((short)(x >> 32));
    }
    return v;
}

int main()
{
    run_file("lambdas", "Each thread has its own numbers.");
    for (int n : {0, 1, 12}) {
        Run r("pipeline", 2, 8);
        auto in = r.rand<int>(16 * PART, 4, -3000, 3000);
        r.scalar(n);
        auto out = (int4 *)r.zero<int>(64);
        r.run(pipeline, in, n, out);
    }
    for (int key : {0, 1, 2}) {
        Run r("order", 1, 8, 0, key == 0 ? "By value." : key == 1 ? "By weight." : "By group and value.");
        auto in = (Record *)r.values(records(8 * PART));
        int n = key == 1 ? 11 : 12;
        r.scalar(n);
        r.scalar(key);
        auto out = (Record *)r.zero<short>(16 * PART);
        auto spread = r.zero<short>(8);
        r.run(order, in, n, key, out, spread);
    }
    {
        Run r("roots", 1, 12, 0, "Square and cube roots, rounded up; numbers of bits.");
        auto in = r.values<unsigned>({0, 1, 2, 8, 9, 1000, 1001, 65536, 999999999, 2147483648, 4294836225, 4294967295});
        auto out = (uint3 *)r.zero<unsigned>(36);
        r.run(roots, in, out);
    }
}
