// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "atomics.cu"

static void ops(unsigned grid, unsigned block, uint64_t seed, std::vector<int> first)
{
    Run r("atomic_ops", grid, block);
    auto in = r.rand<int>(grid * block, seed);
    auto word = r.values(first);
    r.run(atomic_ops, (const int *)in, word, r.fill<unsigned long long>(4, seed == 1 ? 0 : 0xfedcba9876543210));
}

int main()
{
    run_file("atomics", "Results that do not depend on the order of execution.");
    ops(1, 1, 1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    ops(3, 40, 2, {1, 2, 2147483647, -2147483647 - 1, -1, 0, 0, 12, 100, -1, 0, 0});
    ops(2, 64, 3, {-5, -5, 7, 7, 0x7fffff00, 0x10000, 0x5a5a5a5a, 9, 5, 1 << 30, -100, -1});
    {
        Run r("atomic_float", 4, 64);
        auto in = r.rand<int>(256, 4);
        auto sum = r.zero<float>(1);
        auto dsum = r.fill<double>(1, 0.5);
        r.run(atomic_float, (const int *)in, sum, dsum, r.zero<float>(1));
    }
    {
        Run r("atomic_float", 1, 32, 0, "No value exceeds the stored one.");
        auto in = r.fill<int>(32, 7);
        auto sum = r.fill<float>(1, -100);
        auto dsum = r.fill<double>(1, -1e10);
        r.run(atomic_float, (const int *)in, sum, dsum, r.fill<float>(1, 1024));
    }
    {
        Run r("atomic_cas_double", 2, 64);
        auto twos = r.rand<unsigned char>(128, 5, 0, 3);
        r.run(atomic_cas_double, (const unsigned char *)twos, r.fill<double>(1, 1.5));
    }
    {
        Run r("atomic_cas_double", 1, 32, 0, "No thread multiplies.");
        auto twos = r.zero<unsigned char>(32);
        r.run(atomic_cas_double, (const unsigned char *)twos, r.fill<double>(1, 3));
    }
    {
        Run r("spin_lock", 3, 128);
        auto lock = r.zero<int>(1), counter = r.fill<int>(1, 40);
        r.run(spin_lock, lock, counter, r.zero<unsigned short>(2));
    }
    {
        Run r("spin_lock", 1, 33, 0, "A warp of one thread.");
        auto lock = r.zero<int>(1), counter = r.zero<int>(1);
        r.run(spin_lock, lock, counter, r.fill<unsigned short>(2, 65530));
    }
    {
        Run r("shared_atomics", 3, 100);
        auto in = r.rand<int>(300, 6);
        r.run(shared_atomics, (const int *)in, r.zero<int>(9));
    }
    {
        Run r("shared_atomics", 2, 1);
        auto in = r.values<int>({2147483647, -2147483647 - 1});
        r.run(shared_atomics, (const int *)in, r.zero<int>(6));
    }
}
