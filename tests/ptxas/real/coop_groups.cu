// SPDX-License-Identifier: MIT
// quick: no
// Cooperative groups: tiles, coalesced and labelled groups, reduce, scan, grid barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const float *in, float *out, int n)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    float x = 0;
    for (int i = block.thread_rank() + block.group_index().x * block.size(); i < n; i += block.size() * gridDim.x)
        x += in[i];
    float q = cg::reduce(quad, x, cg::plus<float>());
    int m = cg::reduce(warp, (int)q, cg::greater<int>());
    unsigned s = cg::exclusive_scan(warp, (unsigned)m & 15u);
    auto odd = cg::labeled_partition(warp, s % 3);
    float r = cg::reduce(odd, q, cg::less<float>());
    if (s & 1) {
        auto active = cg::coalesced_threads();
        r += active.shfl(q, 0) + active.size() * active.any(q > 3.0f);
        if (active.thread_rank() == 0)
            atomicAdd(out, r);
    }
    out[block.thread_rank() + 1] = warp.shfl_xor(r, 3) + quad.shfl_down(q, 1) + warp.match_any(m) + warp.ballot(q > 1.0f);
}

extern "C" __global__ void grid_barrier(int *data, int rounds)
{
    auto grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        data[grid.thread_rank()] += data[(grid.thread_rank() + 1) % grid.size()];
        grid.sync();
    }
}
