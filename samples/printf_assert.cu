// SPDX-License-Identifier: MIT
// Diagnostics on the device: printf with every kind of argument, assert, trap, and a malloc'ed scratch area.
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void hello(const int *in, int n)
{
    int i = threadIdx.x;
    if (i < n)
        printf("%d: %c %5.2f %llx %s%%\n", i, 'a' + in[i] % 26, in[i] * 0.5, (unsigned long long)in[i] << 33, in[i] < 0 ? "neg" : "pos");
    if (i == 0)
        printf("done\n");
}

extern "C" __global__ void checked_divide(const int *a, const int *b, int *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(b[i] != 0 && "divisor");
    q[i] = a[i] / b[i];
}

extern "C" __global__ void guarded(const int *in, int *out, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    if (v > limit)
        __trap();
    int *scratch = (int *)malloc((v & 3) * sizeof(int) + sizeof(int));
    if (scratch == nullptr) {
        printf("out of memory in block %d\n", blockIdx.x);
        return;
    }
    for (int k = 0; k <= (v & 3); k++)
        scratch[k] = v + k;
    out[i] = scratch[v & 3];
    free(scratch);
}
