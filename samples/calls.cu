// SPDX-License-Identifier: MIT
// Device calls: noinline functions, recursion, mutual recursion, function pointers and tables of them.

typedef int (*Binary)(int, int);

__device__ __noinline__ int op_add(int a, int b) { return a + b; }
__device__ __noinline__ int op_mul(int a, int b) { return a * b; }
__device__ __noinline__ int op_gcd(int a, int b) { return b == 0 ? a : op_gcd(b, a % b); }
__device__ __noinline__ int op_ack(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? op_ack(m - 1, 1) : op_ack(m - 1, op_ack(m, n - 1));
}

__device__ Binary table[4] = { op_add, op_mul, op_gcd, op_ack };
__constant__ Binary const_table[2] = { op_mul, op_add };

extern "C" __global__ void apply_table(const int *op, const int2 *arg, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[op[i] & 3](arg[i].x, arg[i].y) + const_table[i & 1](i, 3);
}

__device__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// Moves of the towers of Hanoi as a checksum; five arguments and a reference.
__device__ __noinline__ void hanoi(int n, char from, char to, char via, unsigned *sum)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, via, to, sum);
    *sum = *sum * 31 + n * 9 + from * 3 + to;
    hanoi(n - 1, via, to, from, sum);
}

extern "C" __global__ void recursive(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    hanoi(i & 7, 0, 2, 1, &sum);
    out[i * 3] = fib(i & 15);
    out[i * 3 + 1] = is_even(i);
    out[i * 3 + 2] = sum;
}

// A pointer chosen at run time, given on to a higher-order function.
template <class F>
__device__ __noinline__ int fold(F f, const int *v, int n, int acc)
{
    for (int i = 0; i < n; i++)
        acc = f(acc, v[i]);
    return acc;
}

extern "C" __global__ void folds(const int *v, int n, int *out)
{
    int t = threadIdx.x;
    Binary f = t & 1 ? op_add : op_mul;
    out[t] = t < 16 ? fold(f, v, n, t) : fold([=](int a, int b) { return (a ^ b) + t; }, v, n, t);
}
