// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "recursion.cu"

// Nodes of a balanced search tree with the keys [low, high), in order of their keys. Returns the root.
static short balanced(std::vector<Node> &tree, int low, int high)
{
    if (low >= high)
        return -1;
    int middle = (low + high) / 2;
    size_t at = tree.size();
    tree.push_back({middle * 7, -1, -1});
    short left = balanced(tree, low, middle), right = balanced(tree, middle + 1, high);
    tree[at].left = left;
    tree[at].right = right;
    return (short)at;
}

int main()
{
    run_file("recursion", "Threads recur to different depths.");
    {
        Run r("sort_parts", 2, 4, 0, "Random values, many of them equal.");
        auto v = r.rand<int>(8 * 20, 6, -9, 30);
        r.scalar(20);
        r.run(sort_parts, v, 20);
    }
    {
        Run r("sort_parts", 1, 2, 0, "Values in order, in which the pivot is the middle one.");
        auto v = r.iota<int>(2 * 31, 5, 3);
        r.scalar(31);
        r.run(sort_parts, v, 31);
    }
    {
        Run r("walk", 1, 6, 0, "A balanced tree, its subtrees, a list, a leaf, no tree.");
        std::vector<Node> tree;
        short root = balanced(tree, 0, 25), list = (short)tree.size();
        for (short k = 0; k < 9; k++)
            tree.push_back({k * 5, -1, k == 8 ? (short)-1 : (short)(list + k + 1)});
        std::vector<short> roots = {root, tree[root].left, tree[root].right, list, (short)(list + 8), -1};
        auto nodes = (Node *)r.values(std::vector<short>((short *)tree.data(), (short *)(tree.data() + tree.size())));
        auto at = r.values(roots);
        auto out = r.zero<int>(24);
        r.run(walk, nodes, at, out);
    }
    for (int n : {1, 4, 6}) {
        Run r("queens", 1, n);
        r.scalar(n);
        auto out = r.zero<unsigned>(n);
        r.run(queens, n, out);
    }
    {
        Run r("parse", 1, 8, 0, "Four expressions, and four errors.");
        const char *const texts[] = {"7;", "1+2*3;", "(1+2)*3+4*(5+(6*2));", "((((9))));", "1+;", "(2*3;", "2 3;", ")"};
        std::string all;
        std::vector<int> starts;
        for (auto text : texts) {
            starts.push_back((int)all.size());
            all += text;
        }
        auto text = r.bytes(all);
        auto at = r.values(starts);
        auto out = r.zero<int>(8);
        r.run(parse, text, at, out);
    }
}
