// SPDX-License-Identifier: MIT
// Constants of the compiler in functions that call themselves and each other, in a function whose address the other
// file takes, in a function of two kernels with other constants, and next to the tables of a switch. The second file
// (-DSECOND) has the functions that the first one only declares.
#define CODE extern "C" __device__ __noinline__
typedef double (*Function)(double);
#ifdef SECOND
CODE double taken(double x) { return x * 3.00000001 + 3.00000002; }
CODE double shared(double x) { return x * 4.00000001 + 4.00000002; }
CODE double jumps(double x, double *p, int n)
{
    switch (n) {
#define CASE(k)                          \
    case k:                              \
        p[k] = x * (k + 10.00000001);    \
        if (p[k + 1] > x)                \
            p[3 * k] = k;                \
        break;
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    }
    return x;
}
#else
CODE double taken(double x);
CODE double shared(double x);
CODE double jumps(double x, double *p, int n);
__device__ Function chosen;
CODE double self(double x, int n) { return n ? self(x * 6.00000001, n - 1) + 6.00000002 : x; }
CODE double odd(double x, int n);
CODE double even(double x, int n) { return n ? odd(x * 7.00000001, n - 1) + 7.00000002 : x; }
CODE double odd(double x, int n) { return n ? even(x * 8.00000001, n - 1) + 7.00000002 : x; }
extern "C" __global__ void k_choose(double *p) { chosen = taken; }
extern "C" __global__ void k_call(double *p) { p[0] = chosen(p[1]) * 9.00000001; }
extern "C" __global__ void k_self(double *p, int n) { p[0] = self(p[1], n); }
extern "C" __global__ void k_mutual(double *p, int n) { p[0] = even(p[1], n); }
extern "C" __global__ void k_more(double *p, int n)
{
    p[0] = shared(p[1]) * 5.00000002 + 6.00000001 * jumps(p[1], p + 2, n);
}
extern "C" __global__ void k_less(double *p, int n) { p[0] = shared(p[1]) * 9.00000002; }
#endif
