// SPDX-License-Identifier: MIT
// Equal constants in three files (-DSECOND, -DTHIRD). Some can have one place, others only seem so.
struct Four {
    int at[4];
};
struct Many {
    int at[16];
};
struct Twelve {
    int at[3];
};
#define MANY(x) {{x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}

#if !defined SECOND && !defined THIRD

// in one file
__constant__ int one_4 = 0x04040404, two_4 = 0x04040404;
__constant__ double one_8 = 8.125, two_8 = 8.125;
__constant__ Four one_16 = {{16, 1, 2, 3}}, two_16 = {{16, 1, 2, 3}};
__constant__ Many one_64 = MANY(64), two_64 = MANY(64);
// alignments
__constant__ char odd = 1;
__constant__ int loose_4 = 0x14141414;
__constant__ __align__(8) int strict_4 = 0x14141414;
__constant__ Twelve loose_12 = {{12, 12, 12}};
__constant__ __align__(16) Twelve strict_12 = {{12, 12, 12}};
// in two files: static and static, static and global, global and static, global and global
static __constant__ int static_4 = 0x24242424;
static __constant__ double static_8 = 8.25;
__constant__ Four global_16 = {{16, 2, 3, 4}};
__constant__ Many global_64 = MANY(65);
// in three files
static __constant__ double static_three = 3.125;
// The host names one of two.
__constant__ int written = 0x51515151, not_written = 0x51515151;
__constant__ int found = 0x52525252, not_found = 0x52525252;
static __constant__ int static_written = 0x53535353;
__constant__ int not_static_written = 0x53535353;
// Code or data take the address of one of two.
__constant__ int indexed[4] = {7, 7, 7, 8}, not_indexed[4] = {7, 7, 7, 8};
__constant__ int indexed_by_third[4] = {9, 9, 9, 8}, not_indexed_by_third[4] = {9, 9, 9, 8};
__constant__ int in_table = 0x54545454, not_in_table = 0x54545454;
__device__ const int *table = &in_table;
// Relocations write two of three.
__device__ int first_variable, second_variable;
__constant__ int *pointers[2] = {&first_variable}, *more_pointers[2] = {&second_variable};
__constant__ long long no_pointers[2];
// One is not weak.
template <class T> __constant__ int weak = 0x55555555;
__constant__ int not_weak = 0x55555555;
// A third file names one of two.
__constant__ __align__(8) int named_here = 0x61616161, replaces = 0x62626262;
// not equal in size
__constant__ int short_zero = 0;
__constant__ long long long_zero = 0;
// Tests move the second one into the first one.
__constant__ Four overlaps = {{0x71717171, 0x71717171, 0x71717171, 5}};
__constant__ int overlapped = 0x71717171, not_overlapped = 0x71717171;
// Only dead code reads the one with the stricter alignment.
__constant__ int of_live = 0x63636363;
__constant__ __align__(16) int of_dead = 0x63636363;
__global__ void k_dead(int *p) { p[0] = of_dead; }

__device__ __noinline__ double with_constants(int x) { return x * 3.14159265358979 + one_8 * 2.71828182845904; }
__global__ void k_first(int *p, double *q)
{
    p[0] = one_4 * 3 + two_4;
    q[0] = one_8 * 3 + two_8 + with_constants(p[9]) * 1.2345678901234;
    p[1] = one_16.at[0] + two_16.at[3] * 3 + one_16.at[2] + two_16.at[2] * 5;
    p[2] = one_64.at[0] + two_64.at[15] * 3 + one_64.at[7] + two_64.at[7] * 5;
    p[3] = odd + loose_4 * 3 + strict_4 + of_live;
    p[4] = loose_12.at[0] + strict_12.at[2] * 3 + loose_12.at[1];
    q[1] = static_4 + static_8 + static_three;
    p[5] = global_16.at[1] + global_64.at[3];
    p[6] = written + not_written * 3 + found * 5 + not_found * 7 + static_written * 9 + not_static_written * 11;
    p[7] = indexed[p[8]] + not_indexed[2] + indexed[1] + indexed_by_third[2] * 3 + not_indexed_by_third[2];
    p[8] = in_table + not_in_table * 3 + *table;
    *pointers[p[9]] = *more_pointers[0];
    p[10] = no_pointers[1] + weak<int> + weak<float> * 3 + not_weak * 5;
    p[11] = named_here + replaces * 3 + short_zero + long_zero;
    p[12] = overlaps.at[1] + overlapped * 3 + not_overlapped * 5 + overlaps.at[3];
}
int main()
{
    int value = 1, *p;
    void *address;
    cudaMalloc((void **)&p, 800);
    cudaMemcpyToSymbol(written, &value, sizeof value);
    cudaMemcpyToSymbol(static_written, &value, sizeof value);
    cudaGetSymbolAddress(&address, found);
    extern __global__ void k_second(int *, double *), k_third(int *, double *);
    k_first<<<1, 1>>>(p, (double *)p);
    k_second<<<1, 1>>>(p, (double *)p);
    k_third<<<1, 1>>>(p, (double *)p);
    return cudaDeviceSynchronize();
}

#elif defined SECOND

// The last one is in the third file, and has the strictest alignment.
__constant__ int chain_a = 0x0c0c0c0c;
__constant__ __align__(8) int chain_b = 0x0c0c0c0c;
__constant__ char odd_second = 2;
static __constant__ int static_4 = 0x24242424;
__constant__ double global_8 = 8.25;
static __constant__ Four static_16 = {{16, 2, 3, 4}};
__constant__ Many global_64_second = MANY(65);
__constant__ double global_three = 3.125;
__constant__ int named_by_third = 0x61616161, replaced = 0x62626262;
__constant__ Four same_overlaps = {{0x71717171, 0x71717171, 0x71717171, 5}};
static __constant__ int static_twin = 0x72727272; // tests give it the name of that in the third file
__global__ void k_second(int *p, double *q)
{
    p[0] = odd_second + chain_a * 5 + chain_b * 3 + static_4;
    q[0] = global_8 + global_three;
    p[1] = static_16.at[0] + static_16.at[3] * 3;
    p[2] = global_64_second.at[0] + global_64_second.at[15] * 3;
    p[3] = named_by_third + replaced * 3 + static_twin * 5 + same_overlaps.at[3] * 7;
}

#else

extern __constant__ int named_by_third, replaces, indexed_by_third[4];
extern __constant__ Many one_64, two_64;
__constant__ __align__(16) int chain_c = 0x0c0c0c0c;
__constant__ char odd_third = 3;
static __constant__ double static_three = 3.125;
static __constant__ int static_twin = 0x72727272;
__global__ void k_third(int *p, double *q)
{
    p[0] = odd_third + chain_c * 3 + named_by_third * 5 + replaces * 7 + static_twin * 9;
    p[1] = indexed_by_third[p[2]] + one_64.at[1] * 3 + two_64.at[2];
    q[0] = static_three;
}

#endif
