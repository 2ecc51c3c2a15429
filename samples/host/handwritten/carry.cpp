// SPDX-License-Identifier: MIT
// Computes the results of handwritten/carry.ptx: carries are bits above the words, borrows are signs.
#include "cuda_shim.h"
#include "launches.h"

using u32 = uint32_t;
using u64 = uint64_t;
using u128 = unsigned __int128;

static void carry(u32 *out, u64 a, u64 b, u32 n)
{
    u64 *wide = (u64 *)out;
    u32 al = (u32)a, ah = (u32)(a >> 32), bl = (u32)b, bh = (u32)(b >> 32);
    u64 sum_low = (u64)al + bl, sum_high = (u64)ah + bh + (sum_low >> 32);
    out[0] = (u32)sum_low;
    out[4] = al ^ bh;
    out[5] = (u32)sum_high;
    out[6] = (u32)(sum_high >> 32);

    int64_t low = (int64_t)al - bl, high = (int64_t)ah - bh - (low < 0);
    out[7] = (u32)low;
    out[8] = (u32)high;
    out[9] = high < 0 ? 0xffffffff : 0;

    // -1 + 1 carries; for n > 5, n + 1 sets the carry.
    bool carried = n > 5 ? n == 0xffffffff : true;
    out[10] = n > 5 ? n + 1 : 0;
    out[11] = n + n + carried;

    u64 product = (u64)al * bl, with_n = (u64)(u32)product + n, upper = (product >> 32) + (with_n >> 32);
    out[12] = (u32)with_n;
    out[13] = (u32)upper;
    out[14] = ah * bh + 1 + (u32)(upper >> 32);
    out[15] = 7 + (al >> 31);

    u128 sum = (u128)a + b, less = (u128)a + UINT64_MAX + (u64)(sum >> 64);
    wide[8] = (u64)sum;
    wide[9] = (u64)less;
    wide[10] = (u64)(less >> 64);
    wide[11] = a - b;
    wide[12] = b - (a < b);
    u128 square = (u128)a * b, plus = (u128)(u64)square + (u64)sum;
    wide[13] = (u64)plus;
    wide[14] = (u64)(square >> 64) + (u64)(plus >> 64);
}

LAUNCHES("handwritten/carry", KERNEL(carry))
