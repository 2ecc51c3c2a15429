// SPDX-License-Identifier: MIT
// Equal constants, of which code reads some, and the host none.
struct Twelve {
    int at[3];
};
struct Twenty {
    int at[5];
};
struct Letters {
    char at[5];
};
__constant__ int read_4 = 0x41414141, also_read_4 = 0x41414141, unread_4 = 0x41414141, more_4 = 0x41414141;
__constant__ double read_8 = 8.5, unread_8 = 8.5, more_8 = 8.5;
__constant__ __align__(16) Twelve strict_12 = {{12, 1, 2}};
__constant__ Twelve a_12 = {{12, 1, 2}}, b_12 = {{12, 1, 2}}, c_12 = {{12, 1, 2}};
__constant__ Twenty a_20 = {{20, 1, 2, 3, 4}}, b_20 = {{20, 1, 2, 3, 4}};
__constant__ Letters a_5 = {{'h', 'e', 'l', 'l', 'o'}}, b_5 = {{'h', 'e', 'l', 'l', 'o'}};
__constant__ int zero_4, more_zero_4;
__constant__ long long zero_8, more_zero_8;
__device__ int variable, other_variable;
__constant__ int *pointers[2] = {&variable, 0}, *more_pointers[2] = {&other_variable, 0};
__constant__ long long no_pointers[2];

extern "C" __global__ void k_merged(int *p, double *q)
{
    p[0] = read_4 + also_read_4 * 3;
    q[0] = read_8;
}
