// SPDX-License-Identifier: MIT
// quick: no
// cuda::atomic in all scopes and orders, cuda::atomic_ref, semaphores and latches.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void atomic_orders(cuda::atomic<int, cuda::thread_scope_device> *a, cuda::atomic<unsigned long long, cuda::thread_scope_system> *b, int *out)
{
    int x = a->load(cuda::std::memory_order_acquire);
    a->store(x + 1, cuda::std::memory_order_release);
    x += a->fetch_add(3, cuda::std::memory_order_acq_rel);
    x ^= a->exchange(7, cuda::std::memory_order_seq_cst);
    int want = 5;
    while (!a->compare_exchange_weak(want, want * 2, cuda::std::memory_order_acq_rel, cuda::std::memory_order_relaxed))
        if (want > 1000)
            break;
    x += (int)b->fetch_max(x, cuda::std::memory_order_relaxed);
    b->fetch_and(~1ull);
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_block);
    out[threadIdx.x] = x;
}

extern "C" __global__ void atomic_refs(float *f, unsigned char *c, double *d, short *s)
{
    cuda::atomic_ref<float, cuda::thread_scope_block> rf(*f);
    cuda::atomic_ref<double, cuda::thread_scope_device> rd(*d);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device> rc(c[threadIdx.x]);
    cuda::atomic_ref<short, cuda::thread_scope_device> rs(s[threadIdx.x]);
    rf.fetch_add(1.5f);
    rd.fetch_sub(rf.load(cuda::std::memory_order_relaxed));
    rc.fetch_or(17);
    rs.fetch_min((short)threadIdx.x);
}

extern "C" __global__ void semaphores(int *out)
{
    __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 4> sem;
    __shared__ __align__(8) char memory[sizeof(cuda::latch<cuda::thread_scope_block>)];
    auto &done = *reinterpret_cast<cuda::latch<cuda::thread_scope_block> *>(memory);
    if (threadIdx.x == 0) {
        new (memory) cuda::latch<cuda::thread_scope_block>(blockDim.x);
        new (&sem) cuda::counting_semaphore<cuda::thread_scope_block, 4>(4);
    }
    __syncthreads();
    sem.acquire();
    out[threadIdx.x]++;
    sem.release();
    done.arrive_and_wait();
}
