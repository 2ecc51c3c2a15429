// SPDX-License-Identifier: MIT
// Double arithmetic: correctly rounded operations, conversions, and library functions with their slow paths.

// Correctly rounded, so the results are the same everywhere.
extern "C" __global__ void exact(const double *a, const double *b, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = a[i], y = b[i];
    out[8 * i] = x / y;
    out[8 * i + 1] = sqrt(fabs(x));
    out[8 * i + 2] = fma(x, y, 0.1);
    out[8 * i + 3] = __drcp_rn(y);
    out[8 * i + 4] = __dadd_rz(x, y);
    out[8 * i + 5] = __dmul_ru(x, y);
    out[8 * i + 6] = fmin(x, y) - floor(x) + trunc(y);
    out[8 * i + 7] = copysign(rint(x), y);
}

extern "C" __global__ void convert(const double *in, long long *out, float *outf)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[4 * i] = (long long)x;
    out[4 * i + 1] = __double2int_rd(x) + (long long)__double2uint_ru(x);
    out[4 * i + 2] = (long long)__double2ull_rn(x);
    out[4 * i + 3] = __double_as_longlong(__ll2double_rd(out[4 * i])) ^ __double2hiint(x);
    outf[2 * i] = (float)x;
    outf[2 * i + 1] = __double2float_rz(x);
}

extern "C" __global__ void transcendental(const double *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[4 * i] = sin(x);
    out[4 * i + 1] = pow(fabs(x), 1.5);
    out[4 * i + 2] = exp(-x * x);
    out[4 * i + 3] = log1p(fabs(x)) + cbrt(x);
}

// Newton's method with a data-dependent exit; the residual is the test.
extern "C" __global__ void newton_root(const double *in, double *root, int *steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    double a = in[i], x = a > 1.0 ? a : 1.0, next;
#pragma unroll 1
    for (; k < 60; k++) {
        next = __dmul_rn(0.5, __dadd_rn(x, __ddiv_rn(a, x)));
        if (next >= x)
            break;
        x = next;
    }
    root[i] = x;
    steps[i] = k;
}
