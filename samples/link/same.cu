// SPDX-License-Identifier: MIT
// Functions, strings and tables that have the same names in the code of both files, made with and without -DSECOND: of
// the mathematical library, of printf and of a switch. A second string differs.
#include <cstdio>
#ifdef SECOND
#define KERNEL k_second
#define TEXT "of the second\n"
#else
#define KERNEL k_first
#define TEXT "of the first\n"
#endif
static __device__ __noinline__ int chosen(int x, int y)
{
    switch (x) {
    case 0: return y * 3;
    case 1: return y ^ 77;
    case 2: return y - 1234;
    case 3: return y / 7;
    case 4: return y << 3;
    case 5: return y * y;
    case 6: return ~y;
    case 7: return y % 11;
    default: return 0;
    }
}

__global__ void KERNEL(int *p, double *q)
{
    p[0] = chosen(p[1], p[2]);
    q[0] = pow(q[1], q[2]) + sin(q[3]);
    printf("%d\n", p[0]);
    printf(TEXT);
}
