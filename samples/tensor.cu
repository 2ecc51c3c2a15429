// SPDX-License-Identifier: MIT
// Matrix units: the wmma API on half and int8, mma.sync with ldmatrix by inline assembly. One warp each.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_half(const __half *a, const __half *b, const float *c, float *d, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::load_matrix_sync(acc, c, 16, wmma::mem_row_major);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(d, acc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_int8(const signed char *a, const signed char *b, int *d)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> acc;
    wmma::fill_fragment(acc, 7);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(d, acc, 32, wmma::mem_row_major);
}

// D (16 x 8, float) = A (16 x 16) * B (16 x 8), both staged in shared memory, B column by column.
extern "C" __global__ void mma_ldmatrix(const uint4 *a, const uint4 *b, float2 *d)
{
    __shared__ __align__(16) __half sa[16 * 16], sb[8 * 16];
    int lane = threadIdx.x & 31;
    reinterpret_cast<uint4 *>(sa)[lane] = a[lane];
    if (lane < 16)
        reinterpret_cast<uint4 *>(sb)[lane] = b[lane];
    __syncwarp();
    unsigned pa = (unsigned)__cvta_generic_to_shared(sa + (lane & 15) * 16 + (lane >> 4) * 8);
    unsigned pb = (unsigned)__cvta_generic_to_shared(sb + (lane & 7) * 16 + (lane >> 3 & 1) * 8);
    unsigned ra[4], rb[2];
    float c[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %10, %10, %10};"
                 : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(0.0f));
    int row = lane >> 2, col = lane & 3;
    d[row * 4 + col] = make_float2(c[0], c[1]);
    d[(row + 8) * 4 + col] = make_float2(c[2], c[3]);
}

// Integer tensor product: exact. A 16 x 32 row-major bytes, B 32 x 8 column-major bytes.
extern "C" __global__ void mma_int8(const unsigned *a, const unsigned *b, int2 *d)
{
    int lane = threadIdx.x & 31, row = lane >> 2, col = lane & 3;
    int c[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(a[row * 8 + col]), "r"(a[(row + 8) * 8 + col]), "r"(a[row * 8 + col + 4]), "r"(a[(row + 8) * 8 + col + 4]),
                   "r"(b[row * 8 + col]), "r"(b[row * 8 + col + 4]), "r"(0));
    d[row * 4 + col] = make_int2(c[0], c[1]);
    d[(row + 8) * 4 + col] = make_int2(c[2], c[3]);
}
