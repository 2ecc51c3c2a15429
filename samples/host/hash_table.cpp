// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "hash_table.cu"

int main()
{
    run_file(
        "hash_table",
        "After an insertion with collisions, the position of a key and the contents of a table depend on the order of\n"
        "execution. Keys are compared if none collide, and all values if there is only one key.");
    {
        Run r("table_insert", 1, 32, 0, "One key, whose values are added.");
        auto pairs = r.values<unsigned>({9, 1, 9, 10, 9, 100, 9, 1000, 9, 10000, 9, 100000, 9, 1000000});
        auto n = r.scalar(7);
        auto keys = r.fill<unsigned>(16, EMPTY), values = r.zero<unsigned>(16);
        r.run(table_insert, (uint2 *)pairs, n, keys, values, r.scalar(15u));
    }
    {
        Run r("table_insert", 2, 32, 0, "Keys that do not collide, some twice.");
        std::vector<unsigned> v;
        unsigned used[2] = {0, 0}, count = 0;
        for (unsigned key = 0; count < 20; key++) {
            unsigned slot = mix<0x1234u>(key) & 63;
            if (used[slot >> 5] >> (slot & 31) & 1)
                continue;
            used[slot >> 5] |= 1u << (slot & 31);
            for (unsigned k = 0; k < 1 + count % 3; k++)
                v.insert(v.end(), {key, 100 * count + k});
            count++;
        }
        auto pairs = r.values(v);
        auto n = r.scalar((int)v.size() / 2);
        auto keys = r.fill<unsigned>(64, EMPTY), values = r.zero<unsigned>(64);
        r.run(table_insert, (uint2 *)pairs, n, keys, values, r.scalar(63u));
    }
    {
        Run r("table_insert", 4, 16, 0, "With collisions: the kernel ends, and the input is unchanged.");
        auto pairs = r.rand<unsigned>(100, 1, 0, 40);
        auto n = r.scalar(50);
        auto keys = r.fill<unsigned>(64, EMPTY), values = r.zero<unsigned>(64);
        r.nondet(2);
        r.nondet(3);
        r.run(table_insert, (uint2 *)pairs, n, keys, values, r.scalar(63u));
    }
    {
        // A hand-made table with collisions.
        std::vector<unsigned> table(32, EMPTY), value(32), wanted;
        for (unsigned k = 0; k < 20; k++) {
            unsigned key = k * 7 + 1, slot = mix<0x1234u>(key) & 31;
            while (table[slot] != EMPTY)
                slot = (slot + 1) & 31;
            table[slot] = key, value[slot] = 1000 + k;
        }
        for (unsigned k = 0; k < 70; k++)
            wanted.push_back(k * 2);
        Run r("table_find", 3, 32, 0, "Found at once, after some steps, and not at all.");
        auto w = r.values(wanted);
        auto n = r.scalar(70);
        auto keys = r.values(table), values = r.values(value);
        auto mask = r.scalar(31u);
        r.run(table_find, w, n, keys, values, mask, r.fill<int>(72, 77));
    }
    {
        Run r("table_find", 1, 8, 0, "An empty table.");
        auto w = r.iota<unsigned>(8);
        auto n = r.scalar(8);
        auto keys = r.fill<unsigned>(4, EMPTY), values = r.zero<unsigned>(4);
        auto mask = r.scalar(3u);
        r.run(table_find, w, n, keys, values, mask, r.zero<int>(8));
    }
    {
        Run r("bloom_add", 2, 32, 0, "A stride and a half.");
        auto in = r.rand<unsigned>(100, 2);
        auto n = r.scalar(100);
        auto filter = r.zero<unsigned>(32);
        r.run(bloom_add, in, n, filter, r.scalar(1000u));
    }
    {
        Run r("bloom_add", 1, 64, 0, "Fewer values than threads, and a filter of one bit.");
        auto in = r.iota<unsigned>(5);
        auto n = r.scalar(5);
        auto filter = r.zero<unsigned>(1);
        r.run(bloom_add, in, n, filter, r.scalar(1u));
    }
    {
        std::vector<unsigned> bits(32);
        for (unsigned k = 0; k < 60; k++) {
            unsigned h1 = crc32(k * 5) % 1024, h2 = mix<77u>(k * 5) % 1024;
            bits[h1 >> 5] |= 1u << (h1 & 31);
            bits[h2 >> 5] |= 1u << (h2 & 31);
        }
        Run r("bloom_test", 2, 32);
        auto in = r.iota<unsigned>(200);
        auto n = r.scalar(200);
        auto filter = r.values(bits);
        auto size = r.scalar(1024u);
        r.run(bloom_test, in, n, (const unsigned *)filter, size, r.fill<unsigned char>(204, 9));
    }
}
