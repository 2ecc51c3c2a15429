// SPDX-License-Identifier: MIT
// min-arch: sm_80
// quick: no
// cuda::barrier, cuda::pipeline and memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void pipelined(const float4 *in, float4 *out, int tiles)
{
    extern __shared__ float4 stage[];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    size_t n = block.size();
    for (int fetch = 0, t = 0; t < tiles; t++) {
        for (; fetch < tiles && fetch < t + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage + (fetch % 2) * n, in + fetch * n, cuda::aligned_size_t<16>(sizeof(float4) * n), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        float4 v = stage[(t % 2) * n + block.thread_rank()];
        v.x *= v.y;
        out[t * n + block.thread_rank()] = v;
        pipe.consumer_release();
    }
}

extern "C" __global__ void thread_pipeline(const int4 *in, int *out, int n)
{
    __shared__ int4 buf[4][128];
    auto pipe = cuda::make_pipeline();
    int sum = 0;
    for (int t = 0, fetch = 0; t < n; t++) {
        for (; fetch < n && fetch < t + 4; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buf[fetch % 4][threadIdx.x], &in[fetch * 128 + threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<3>(pipe);
        int4 v = buf[t % 4][threadIdx.x];
        sum += v.x ^ v.w;
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void barriers(const char *in, char *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ char buf[4096];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    for (int i = 0; i < n; i++) {
        cuda::memcpy_async(block, buf, in + i * 4096, 4096, bar);
        auto token = bar.arrive();
        bar.wait(std::move(token));
        out[i * blockDim.x + threadIdx.x] = buf[threadIdx.x * 3 & 4095];
        bar.arrive_and_wait();
    }
}
