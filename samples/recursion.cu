// SPDX-License-Identifier: MIT
// Recursive functions: quicksort, walks of a tree, backtracking, a parser of two mutually recursive functions.

__device__ __noinline__ void quicksort(int *v, int low, int high)
{
    if (low >= high)
        return;
    int pivot = v[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (v[i] < pivot)
            i++;
        while (v[j] > pivot)
            j--;
        if (i <= j) {
            int swapped = v[i];
            v[i++] = v[j];
            v[j--] = swapped;
        }
    }
    quicksort(v, low, j);
    quicksort(v, i, high);
}

extern "C" __global__ void sort_parts(int *v, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    quicksort(v + t * n, 0, n - 1);
}

struct Node {
    int key;
    short left, right;  // -1: none
};

struct Summary {
    int depth;
    long long sum;
    unsigned char leaves;
};

__device__ __noinline__ Summary summarize(const Node *tree, short at)
{
    if (at < 0)
        return {0, 0, 0};
    Node node = tree[at];
    Summary left = summarize(tree, node.left), right = summarize(tree, node.right);
    bool leaf = node.left < 0 && node.right < 0;
    return {1 + max(left.depth, right.depth), left.sum + right.sum + node.key,
            (unsigned char)(left.leaves + right.leaves + leaf)};
}

// Returns the number of keys below the limit in a search tree.
__device__ __noinline__ int rank_of(const Node *tree, short at, int limit)
{
    if (at < 0)
        return 0;
    int left = rank_of(tree, tree[at].left, limit);
    return tree[at].key < limit ? left + 1 + rank_of(tree, tree[at].right, limit) : left;
}

extern "C" __global__ void walk(const Node *tree, const short *roots, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Summary s = summarize(tree, roots[t]);
    out[4 * t] = s.depth;
    out[4 * t + 1] = (int)s.sum;
    out[4 * t + 2] = s.leaves;
    out[4 * t + 3] = rank_of(tree, roots[t], 10 * t);
}

__device__ __noinline__ unsigned place_queens(unsigned all, unsigned columns, unsigned up, unsigned down)
{
    unsigned n = 0;
    if (columns == all)
        return 1;
    for (unsigned free = all & ~(columns | up | down); free; free &= free - 1) {
        unsigned queen = free & -free;
        n += place_queens(all, columns | queen, (up | queen) << 1, (down | queen) >> 1);
    }
    return n;
}

// Each thread begins with a queen in its own column of the first row.
extern "C" __global__ void queens(int n, unsigned *out)
{
    unsigned queen = 1u << threadIdx.x;
    out[threadIdx.x] = place_queens((1u << n) - 1, queen, queen << 1, queen >> 1);
}

// sum = product { '+' product }; product = factor { '*' factor }; factor = digit | '(' sum ')'.
struct Cursor {
    const char *at;
    bool error;
};

__device__ int parse_sum(Cursor &c);

__device__ __noinline__ int parse_factor(Cursor &c)
{
    char first = *c.at;
    if (first >= '0' && first <= '9') {
        c.at++;
        return first - '0';
    }
    if (first != '(') {
        c.error = true;
        return 0;
    }
    c.at++;
    int v = parse_sum(c);
    if (*c.at == ')')
        c.at++;
    else
        c.error = true;
    return v;
}

__device__ __noinline__ int parse_product(Cursor &c)
{
    int v = parse_factor(c);
    while (!c.error && *c.at == '*') {
        c.at++;
        v *= parse_factor(c);
    }
    return v;
}

__device__ __noinline__ int parse_sum(Cursor &c)
{
    int v = parse_product(c);
    while (!c.error && *c.at == '+') {
        c.at++;
        v += parse_product(c);
    }
    return v;
}

extern "C" __global__ void parse(const char *text, const int *starts, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Cursor c = {text + starts[t], false};
    int v = parse_sum(c);
    out[t] = c.error || *c.at != ';' ? -1 : v;
}
