// SPDX-License-Identifier: MIT
// Scratch memory of malloc whose pointer is in shared memory. One thread runs a block, except in team_sums.

// Evaluates an expression in postfix notation for each block. Codes below 0 are operators.
extern "C" __global__ void __launch_bounds__(1) postfix(const int *codes, int length, int *out)
{
    const int *code = codes + blockIdx.x * length;
    __shared__ int *stack;
    int depth = 0;
    stack = (int *)malloc(40);
    if (!stack) {
        out[blockIdx.x] = -1;
        return;
    }
    for (int i = 0; i < length; i++) {
        if (code[i] >= 0 || depth < 2) {
            if (depth < 10)
                stack[depth++] = code[i] & 0xffff;
            continue;
        }
        int b = stack[--depth], a = stack[--depth], c;
        switch (code[i] & 3) {
        case 0: c = a + b; break;
        case 1: c = a - b; break;
        case 2: c = a * b; break;
        default: c = a < b ? a : b; break;
        }
        stack[depth++] = c;
    }
    int sum = 0;
    while (depth > 0)
        sum = sum * 31 + stack[--depth];
    out[blockIdx.x] = sum;
    free(stack);
}

// Long rows are sorted in scratch memory; of short ones only the sum is computed.
extern "C" __global__ void __launch_bounds__(1) median(const int *rows, const int *lengths, int stride, int *out)
{
    __shared__ int *sorted;
    const int *row = rows + blockIdx.x * stride;
    int n = lengths[blockIdx.x], sum = 0;
    sorted = nullptr;
    if (n > 2)
        sorted = (int *)malloc(16 * sizeof(int));
    for (int i = 0; i < n && i < 16; i++) {
        sum += row[i];
        if (sorted == nullptr)
            continue;
        int k = i;
        for (; k > 0 && sorted[k - 1] > row[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = row[i];
    }
    out[2 * blockIdx.x] = sum;
    out[2 * blockIdx.x + 1] = sorted != nullptr ? sorted[n / 2] : -1;
    free(sorted);
}

// One thread of several calls malloc. This stays, unless the user says so.
extern "C" __global__ void team_sums(const int *in, int *out)
{
    __shared__ int *sums;
    int i = threadIdx.x;
    if (i == 0)
        sums = (int *)malloc(128);
    __syncthreads();
    sums[i & 31] = in[blockIdx.x * blockDim.x + i];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= i; k++)
        sum += sums[k & 31];
    out[blockIdx.x * blockDim.x + i] = sum;
    __syncthreads();
    if (i == 0)
        free(sums);
}
