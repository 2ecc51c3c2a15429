// SPDX-License-Identifier: MIT
// Shared variables of different alignment, and a dead kernel that has some, too.
__device__ char text[5] = "abcd";
template <class T> __device__ __noinline__ void turn(T *s, T *p)
{
    s[threadIdx.x & 7] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[7 - (threadIdx.x & 7)];
}
__global__ void k_int(int *p)
{
    __shared__ int s[9];
    turn(s, p);
    p[40] = text[p[41] & 3];
}
__global__ void k_wide(float4 *p)
{
    __shared__ float4 s[8];
    turn(s, p);
}
__global__ void k_dead(char *p)
{
    __shared__ char s[11];
    turn(s, p);
}
__global__ void k_double(double *p)
{
    __shared__ double s[8];
    turn(s, p);
}
