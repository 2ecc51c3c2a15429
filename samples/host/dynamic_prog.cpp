// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

thread_local int rows[2048];
#include "dynamic_prog.cu"

static void distance(const char *a, const char *b, unsigned threads, const char *comment = "")
{
    Run r("edit_distance", 1, threads, 0, comment);
    auto pa = r.bytes(*a ? a : "?");
    int la = r.scalar((int)strlen(a));
    auto pb = r.bytes(*b ? b : "?");
    int lb = r.scalar((int)strlen(b));
    r.run(edit_distance, pa, la, pb, lb, r.fill<int>(1, -1));
}

static void sack(const std::vector<int> &items, unsigned threads, const char *comment = "")
{
    Run r("knapsack", 1, threads, threads * 8, comment);
    auto item = r.values(items.empty() ? std::vector<int>{0, 0} : items);
    int n = r.scalar((int)items.size() / 2);
    r.run(knapsack, (int2 *)item, n, r.fill<int>(threads, -1));
}

int main()
{
    run_file("dynamic_prog", "Barriers in loops, with idle threads.");
    distance("kitten", "sitting", 32);
    distance("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
             "bcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwx", 64, "Two warps.");
    distance("same", "same", 5, "The minimum number of threads.");
    distance("", "all of it", 32, "Empty text against a nonempty one: insertions only.");
    distance("all of it", "", 1, "Deletions only.");
    distance("", "", 32);
    sack({5, 10, 4, 40, 6, 30, 3, 50}, 11);
    sack({1, 1, 2, 6, 5, 18, 6, 22, 7, 28, 70, 1000, 0, 3}, 100,
         "An item of weight zero, and one that fits few capacities.");
    sack({}, 40, "No items: a row of zeroes.");
    sack({300, 5}, 64, "An item heavier than every capacity.");
    {
        Run r("shortest_paths", 1, dim3(16, 16));
        auto dist = r.rand<unsigned short>(256, 1, 1, 1000);
        r.run(shortest_paths, dist, r.scalar(16));
    }
    {
        Run r("shortest_paths", 1, dim3(8, 8));
        auto dist = r.rand<unsigned short>(49, 2, 1, 1000);
        r.run(shortest_paths, dist, r.scalar(7));
    }
    {
        Run r("shortest_paths", 1, dim3(8, 8), 0, "A ring without its last edge; sums that exceed 16 bits.");
        std::vector<unsigned short> d(25, 0xffff);
        for (int k = 0; k < 5; k++)
            d[(size_t)(k * 6)] = 0;
        for (int k = 0; k < 4; k++)
            d[(size_t)(k * 6 + 1)] = (unsigned short)(k == 2 ? 65000 : 300 * k + 1);
        auto dist = r.values(d);
        r.run(shortest_paths, dist, r.scalar(5));
    }
    {
        Run r("shortest_paths", 1, dim3(4, 2), 0, "No vertex.");
        auto dist = r.fill<unsigned short>(4, 17);
        r.run(shortest_paths, dist, r.scalar(0));
    }
}
