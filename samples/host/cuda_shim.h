// SPDX-License-Identifier: MIT
// The subset of CUDA that the samples use, for the host. A program includes this file and a sample's source, describes
// launches, runs them and prints them as a .run file with the results (run.sh makes the files of samples/run).
//
//     #include "cuda_shim.h"
//     #include "bitonic.cu"
//     int main()
//     {
//         run_file("bitonic", "A comment for the reader.");
//         {
//             Run r("bitonic_warp", 2, 64);           // entry, grid, block, bytes of dynamic shared memory
//             auto data = r.rand<unsigned>(128, 7);   // arguments in order; see struct Run
//             r.run(bitonic_warp, data);              // runs one thread after another, switching at waits
//         }                                           // printed at the end of the scope
//     }
//
// Threads are user-level contexts that switch only where they wait (barriers, warp operations, host_yield). Blocks run
// in order. A deadlock stops the program. A warp operation joins the threads that give the same mask.
//
// asm.awk converts asm statements to calls of ptx_asm() (ptx_asm.h executes the instructions). `extern __shared__ T
// name[]` needs a definition `thread_local T name[COUNT];` in the program: __shared__ is thread_local, which is static
// in a function and compatible with extern.
#ifndef CUDA_SHIM_H
#define CUDA_SHIM_H

#include <algorithm>
#include <cfenv>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ucontext.h>

/* -- Words of the language ------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ thread_local
#define __grid_constant__
#define __noinline__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))

/* -- Vector types ---------------------------------------------------------- */

#define HOST_VECTORS(T, name, a2, a4)                                  \
    struct name##1 { T x; };                                           \
    struct alignas(a2) name##2 { T x, y; };                            \
    struct name##3 { T x, y, z; };                                     \
    struct alignas(a4) name##4 { T x, y, z, w; };                      \
    inline name##1 make_##name##1(T x) { return {x}; }                 \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

HOST_VECTORS(signed char, char, 2, 4)
HOST_VECTORS(unsigned char, uchar, 2, 4)
HOST_VECTORS(short, short, 4, 8)
HOST_VECTORS(unsigned short, ushort, 4, 8)
HOST_VECTORS(int, int, 8, 16)
HOST_VECTORS(unsigned, uint, 8, 16)
HOST_VECTORS(long long, longlong, 16, 16)
HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
HOST_VECTORS(float, float, 8, 16)
HOST_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* -- Threads --------------------------------------------------------------- */

struct HostThread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    uint3 index;
    unsigned id;  // index in the block
    bool done;
    const char *waits;  // reason of a wait; NULL = runnable
    int barrier;        // number of the barrier that it waits at
    unsigned mask;      // lanes that it waits for
    uint64_t value;     // value that it gives these lanes
    uint64_t seen[32];  // values of these lanes
    unsigned present;   // lanes among them that were alive
};

struct HostBarrier {
    unsigned waiting, arrived;  // threads that wait, and threads that only arrive
    unsigned expected;          // 0 = all threads of the block that are alive
    unsigned count;             // true predicates of the current round
    unsigned result;            // true predicates of the last round
};

inline std::vector<HostThread> host_threads;  // threads of the current block
inline HostThread *host_self;
inline ucontext_t host_scheduler;
inline HostBarrier host_barriers[16];
inline std::function<void()> host_body;

[[noreturn]] inline void host_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("host: ", stderr);
    vfprintf(stderr, format, ap);
    if (host_self)
        fprintf(stderr, ", block (%u,%u,%u) thread (%u,%u,%u)", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
                threadIdx.y, threadIdx.z);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

// Runs the other threads; for loops that wait for one of them.
inline void host_yield() { swapcontext(&host_self->context, &host_scheduler); }

inline void host_wait(const char *what)
{
    for (host_self->waits = what; host_self->waits;)
        host_yield();
}

inline unsigned host_alive()
{
    unsigned n = 0;
    for (auto &t : host_threads)
        n += !t.done;
    return n;
}

// Releases the threads at barrier b if it is complete.
inline void host_barrier_check(int b)
{
    HostBarrier &bar = host_barriers[b];
    unsigned expected = bar.expected ? bar.expected : host_alive();
    if (bar.waiting == 0 || bar.waiting + bar.arrived < expected)
        return;
    bar.result = bar.count;
    bar.waiting = bar.arrived = bar.count = bar.expected = 0;
    for (auto &t : host_threads)
        if (!t.done && t.waits && t.barrier == b)
            t.waits = nullptr, t.barrier = -1;
}

// Waits at barrier b with n threads, 0 = all. Returns the number of true predicates.
inline unsigned host_barrier(int b, unsigned n = 0, bool predicate = false, bool wait = true)
{
    HostBarrier &bar = host_barriers[b];
    if (bar.waiting + bar.arrived > 0 && bar.expected != n)
        host_fail("barrier %d with %u and with %u threads", b, bar.expected, n);
    bar.expected = n;
    bar.count += predicate;
    if (!wait) {
        bar.arrived++;
        host_barrier_check(b);
        return 0;
    }
    bar.waiting++;
    host_self->barrier = b;
    host_self->waits = "barrier";
    host_barrier_check(b);
    while (host_self->waits)
        host_yield();
    return bar.result;
}

inline unsigned host_lane() { return host_self->id % 32; }

// Releases the threads of a warp that wait for a mask if all live lanes of the mask wait.
inline void host_warp_check(unsigned warp, unsigned mask)
{
    size_t first = warp * 32, last = std::min(first + 32, host_threads.size());
    unsigned present = 0;
    uint64_t seen[32] = {0};
    for (size_t k = first; k < last; k++) {
        HostThread &t = host_threads[k];
        if (!(mask >> (k - first) & 1) || t.done)
            continue;
        if (!t.waits || t.mask != mask)
            return;
        present |= 1u << (k - first);
        seen[k - first] = t.value;
    }
    for (size_t k = first; k < last; k++)
        if (present >> (k - first) & 1) {
            HostThread &t = host_threads[k];
            t.waits = nullptr, t.mask = 0, t.present = present;
            memcpy(t.seen, seen, sizeof seen);
        }
}

// Exchanges a value with the lanes of a mask; host_self->seen gets their values.
inline void host_warp(unsigned mask, uint64_t value = 0)
{
    HostThread *self = host_self;
    if (!(mask >> host_lane() & 1))
        host_fail("lane is not in its own mask %08x", mask);
    self->mask = mask;
    self->value = value;
    self->waits = "lanes";
    host_warp_check(self->id / 32, mask);
    while (self->waits)
        host_yield();
}

inline void host_start()
{
    host_body();
    host_self->done = true;
    swapcontext(&host_self->context, &host_scheduler);
}

inline void host_run_block(dim3 block)
{
    size_t n = (size_t)block.x * block.y * block.z, stack = 256 << 10;
    host_threads.clear();
    host_threads.resize(n);
    memset(host_barriers, 0, sizeof host_barriers);
    for (size_t k = 0; k < n; k++) {
        HostThread &t = host_threads[k];
        t.id = (unsigned)k;
        t.index = {(unsigned)(k % block.x), (unsigned)(k / block.x % block.y), (unsigned)(k / block.x / block.y)};
        t.barrier = -1;
        t.stack.reset(new char[stack]);
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.get();
        t.context.uc_stack.ss_size = stack;
        t.context.uc_link = nullptr;
        makecontext(&t.context, host_start, 0);
    }
    for (size_t left = n, ran = 1; left > 0;) {
        if (ran == 0)
            host_fail("deadlock: %zu threads of block (%u,%u,%u) wait, the first for its %s", left, blockIdx.x,
                      blockIdx.y, blockIdx.z,
                      std::find_if(host_threads.begin(), host_threads.end(), [](auto &t) { return !t.done; })->waits);
        ran = 0;
        for (auto &t : host_threads) {
            if (t.done || t.waits)
                continue;
            host_self = &t;
            threadIdx = t.index;
            swapcontext(&host_scheduler, &t.context);
            host_self = nullptr;
            ran++;
            if (!t.done)
                continue;
            left--;
            for (int b = 0; b < 16; b++)
                host_barrier_check(b);
            for (auto &u : host_threads)
                if (!u.done && u.waits && u.mask)
                    host_warp_check(u.id / 32, u.mask);
        }
    }
}

inline void host_launch(dim3 grid, dim3 block, std::function<void()> body)
{
    gridDim = grid;
    blockDim = block;
    host_body = body;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                host_run_block(block);
            }
}

// A 32-bit address of shared memory is the distance from this variable, since all shared memory is thread_local.
inline thread_local char host_shared_origin;
inline size_t __cvta_generic_to_shared(const void *p)
{
    return (uint32_t)((intptr_t)p - (intptr_t)&host_shared_origin);
}
inline void *host_shared(uint32_t address) { return (void *)((intptr_t)&host_shared_origin + (int32_t)address); }

/* -- Barriers, warp operations, fences ------------------------------------- */

inline void __syncthreads() { host_barrier(0); }
inline int __syncthreads_count(int p) { return (int)host_barrier(0, 0, p != 0); }
inline int __syncthreads_or(int p) { return host_barrier(0, 0, p != 0) != 0; }
inline int __syncthreads_and(int p) { return host_barrier(0, 0, p == 0) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu) { host_warp(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
[[noreturn]] inline void __trap() { host_fail("trap"); }

// Returns the live lanes of the warp, which is correct only without divergence.
inline unsigned __activemask()
{
    unsigned mask = 0;
    for (auto &t : host_threads)
        if (t.id / 32 == host_self->id / 32 && !t.done)
            mask |= 1u << t.id % 32;
    return mask;
}

template <class T> uint64_t host_to_bits(T v)
{
    static_assert(sizeof(T) <= 8, "a value of a warp operation has up to 64 bits");
    uint64_t u = 0;
    memcpy(&u, &v, sizeof v);
    return u;
}
template <class T> T host_from_bits(uint64_t u)
{
    T v;
    memcpy(&v, &u, sizeof v);
    return v;
}

// A lane outside its segment gets its own value. The value of an inactive lane is undefined, here zero.
template <class T> T host_shuffle(unsigned mask, T v, int from, bool inside)
{
    host_warp(mask, host_to_bits(v));
    return inside ? host_from_bits<T>(host_self->seen[from & 31]) : v;
}
template <class T> T __shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
    int me = (int)host_lane();
    return host_shuffle(mask, v, (me & ~(width - 1)) | (lane & (width - 1)), true);
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32)
{
    int me = (int)host_lane(), from = me - (int)by;
    return host_shuffle(mask, v, from, from >= (me & ~(width - 1)));
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32)
{
    int me = (int)host_lane(), from = me + (int)by;
    return host_shuffle(mask, v, from, from <= (me | (width - 1)));
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int by, int width = 32)
{
    int me = (int)host_lane(), from = me ^ by;
    return host_shuffle(mask, v, from, from <= (me | (width - 1)));
}

inline unsigned __ballot_sync(unsigned mask, int p)
{
    host_warp(mask, p != 0);
    unsigned r = 0;
    for (int k = 0; k < 32; k++)
        if (host_self->present >> k & 1 && host_self->seen[k])
            r |= 1u << k;
    return r;
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p)
{
    unsigned yes = __ballot_sync(mask, p);
    return yes == host_self->present;
}
template <class T> unsigned __match_any_sync(unsigned mask, T v)
{
    host_warp(mask, host_to_bits(v));
    unsigned r = 0;
    for (int k = 0; k < 32; k++)
        if (host_self->present >> k & 1 && host_self->seen[k] == host_to_bits(v))
            r |= 1u << k;
    return r;
}
template <class T> unsigned __match_all_sync(unsigned mask, T v, int *all)
{
    *all = __match_any_sync(mask, v) == host_self->present;
    return *all ? host_self->present : 0;
}
template <class T, class F> T host_reduce(unsigned mask, T v, F f)
{
    host_warp(mask, host_to_bits(v));
    bool first = true;
    T r = v;
    for (int k = 0; k < 32; k++)
        if (host_self->present >> k & 1) {
            T w = host_from_bits<T>(host_self->seen[k]);
            r = first ? w : f(r, w);
            first = false;
        }
    return r;
}
template <class T> T __reduce_add_sync(unsigned mask, T v)
{
    return (T)host_reduce(mask, (unsigned)v, [](unsigned a, unsigned b) { return a + b; });
}
template <class T> T __reduce_min_sync(unsigned mask, T v)
{
    return host_reduce(mask, v, [](T a, T b) { return a < b ? a : b; });
}
template <class T> T __reduce_max_sync(unsigned mask, T v)
{
    return host_reduce(mask, v, [](T a, T b) { return a > b ? a : b; });
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v)
{
    return host_reduce(mask, v, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v)
{
    return host_reduce(mask, v, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v)
{
    return host_reduce(mask, v, [](unsigned a, unsigned b) { return a ^ b; });
}

/* -- Atomics: one thread runs at a time ------------------------------------ */

template <class T> struct HostSame {
    using type = T;
};
template <class T> using Same = typename HostSame<T>::type;  // excluded from deduction of T

template <class T, class F> T host_atomic(T *p, F f)
{
    T old = *p;
    *p = f(old);
    return old;
}
template <class T> T host_wrap_add(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return a + b;
    else
        return (T)((unsigned long long)a + (unsigned long long)b);
}
template <class T> T atomicAdd(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return host_wrap_add(o, v); });
}
template <class T> T atomicSub(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return (T)((unsigned long long)o - (unsigned long long)v); });
}
template <class T> T atomicMin(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return v < o ? v : o; });
}
template <class T> T atomicMax(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return v > o ? v : o; });
}
template <class T> T atomicAnd(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return (T)(o & v); });
}
template <class T> T atomicOr(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return (T)(o | v); });
}
template <class T> T atomicXor(T *p, Same<T> v)
{
    return host_atomic(p, [=](T o) { return (T)(o ^ v); });
}
template <class T> T atomicExch(T *p, Same<T> v)
{
    return host_atomic(p, [=](T) { return v; });
}
template <class T> T atomicCAS(T *p, Same<T> c, Same<T> v)
{
    return host_atomic(p, [=](T o) { return o == c ? v : o; });
}
inline unsigned atomicInc(unsigned *p, unsigned v)
{
    return host_atomic(p, [=](unsigned o) { return o >= v ? 0 : o + 1; });
}
inline unsigned atomicDec(unsigned *p, unsigned v)
{
    return host_atomic(p, [=](unsigned o) { return o == 0 || o > v ? v : o - 1; });
}
template <class T> T atomicAdd_block(T *p, Same<T> v) { return atomicAdd(p, v); }
template <class T> T atomicAdd_system(T *p, Same<T> v) { return atomicAdd(p, v); }

/* -- Loads and stores with cache operators --------------------------------- */

#define HOST_LOAD(name) \
    template <class T> T name(const T *p) { return *p; }
HOST_LOAD(__ldg)
HOST_LOAD(__ldca)
HOST_LOAD(__ldcg)
HOST_LOAD(__ldcs)
HOST_LOAD(__ldcv)
HOST_LOAD(__ldlu)
#define HOST_STORE(name) \
    template <class T> void name(T *p, Same<T> v) { *p = v; }
HOST_STORE(__stwb)
HOST_STORE(__stwt)
HOST_STORE(__stcg)
HOST_STORE(__stcs)

/* -- Integers and bits ----------------------------------------------------- */

inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline float min(float a, float b) { return fminf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned long long __brevll(unsigned long long v)
{
    unsigned long long r = 0;
    for (int k = 0; k < 64; k++)
        r |= (v >> k & 1) << (63 - k);
    return r;
}
inline unsigned __brev(unsigned v) { return (unsigned)(__brevll(v) >> 32); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned select)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int k = 0; k < 4; k++)
        r |= (unsigned)(bytes >> (select >> 4 * k & 7) * 8 & 0xff) << 8 * k;
    return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)((((uint64_t)hi << 32 | lo) << (n & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (n & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((int64_t)a + b + 1) >> 1); }
inline int __dp4a(int a, int b, int c)
{
    unsigned r = (unsigned)c;
    for (int k = 0; k < 4; k++)
        r += (unsigned)((int8_t)(a >> 8 * k) * (int8_t)(b >> 8 * k));
    return (int)r;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int k = 0; k < 4; k++)
        c += (a >> 8 * k & 0xff) * (b >> 8 * k & 0xff);
    return c;
}
// Multiplies the two halves of a by bytes 0 and 1 of b (lo), or 2 and 3 (hi).
inline int host_dp2a(int a, int b, int c)
{
    return (int)((unsigned)c + (unsigned)((int16_t)a * (int8_t)b) + (unsigned)((int16_t)(a >> 16) * (int8_t)(b >> 8)));
}
inline unsigned host_dp2a(unsigned a, unsigned b, unsigned c)
{
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
inline int __dp2a_lo(int a, int b, int c) { return host_dp2a(a, b, c); }
inline int __dp2a_hi(int a, int b, int c) { return host_dp2a(a, b >> 16, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return host_dp2a(a, b, c); }
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return host_dp2a(a, b >> 16, c); }

// Applies f to each lane of n bits, sign-extended or not.
template <class F> unsigned host_lanes(unsigned a, unsigned b, int n, bool sign, F f)
{
    unsigned r = 0, mask = (1u << n) - 1;
    for (int k = 0; k < 32; k += n) {
        int x = (int)(a >> k & mask), y = (int)(b >> k & mask);
        if (sign)
            x = (x ^ 1 << (n - 1)) - (1 << (n - 1)), y = (y ^ 1 << (n - 1)) - (1 << (n - 1));
        r |= ((unsigned)f(x, y) & mask) << k;
    }
    return r;
}
inline unsigned __vadd4(unsigned a, unsigned b)
{
    return host_lanes(a, b, 8, false, [](int x, int y) { return x + y; });
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b)
{
    return host_lanes(a, b, 8, false, [](int x, int y) { return abs(x - y); });
}
inline unsigned __vcmpgtu4(unsigned a, unsigned b)
{
    return host_lanes(a, b, 8, false, [](int x, int y) { return x > y ? 255 : 0; });
}
inline unsigned __vmaxs2(unsigned a, unsigned b)
{
    return host_lanes(a, b, 16, true, [](int x, int y) { return x > y ? x : y; });
}
inline unsigned __vavgu4(unsigned a, unsigned b)
{
    return host_lanes(a, b, 8, false, [](int x, int y) { return (x + y + 1) / 2; });
}
inline unsigned __vaddus2(unsigned a, unsigned b)
{
    return host_lanes(a, b, 16, false, [](int x, int y) { return x + y > 65535 ? 65535 : x + y; });
}

/* -- Floating point -------------------------------------------------------- */

inline float __int_as_float(int v) { return host_from_bits<float>((uint32_t)v); }
inline float __uint_as_float(unsigned v) { return host_from_bits<float>(v); }
inline int __float_as_int(float v) { return (int)host_to_bits(v); }
inline unsigned __float_as_uint(float v) { return (unsigned)host_to_bits(v); }
inline double __longlong_as_double(long long v) { return host_from_bits<double>((uint64_t)v); }
inline long long __double_as_longlong(double v) { return (long long)host_to_bits(v); }
inline int __double2hiint(double v) { return (int)(host_to_bits(v) >> 32); }
inline int __double2loint(double v) { return (int)host_to_bits(v); }

// Computes f in a rounding mode. Its operands and result are volatile, so that nothing moves across the mode change.
template <class F> auto host_rounded(int mode, F f)
{
    int old = fegetround();
    fesetround(mode);
    auto r = f();
    fesetround(old);
    return r;
}
#define HOST_BINARY(name, T, mode, op)                     \
    inline T name(T a, T b)                                \
    {                                                      \
        volatile T x = a, y = b, r;                        \
        host_rounded(mode, [&] { return r = x op y, 0; }); \
        return r;                                          \
    }
#define HOST_ROUNDINGS(letter, T, word, op)                  \
    HOST_BINARY(__##letter##word##_rn, T, FE_TONEAREST, op)  \
    HOST_BINARY(__##letter##word##_rz, T, FE_TOWARDZERO, op) \
    HOST_BINARY(__##letter##word##_rd, T, FE_DOWNWARD, op)   \
    HOST_BINARY(__##letter##word##_ru, T, FE_UPWARD, op)
HOST_ROUNDINGS(f, float, add, +)
HOST_ROUNDINGS(f, float, sub, -)
HOST_ROUNDINGS(f, float, mul, *)
HOST_ROUNDINGS(f, float, div, /)
HOST_ROUNDINGS(d, double, add, +)
HOST_ROUNDINGS(d, double, sub, -)
HOST_ROUNDINGS(d, double, mul, *)
HOST_ROUNDINGS(d, double, div, /)
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __drcp_rn(double a) { return 1.0 / a; }

// Converts to an integer type as the device does: values out of range give the nearest value. NaN gives 0, or the top
// bit alone if one of the two types has 64 bits.
template <class I, class F> I host_to_integer(F v)
{
    if (v != v)
        return sizeof(I) == 8 || sizeof(F) == 8 ? (I)(1ull << (8 * sizeof(I) - 1)) : 0;
    F lowest = (F)std::numeric_limits<I>::min(), beyond = std::ldexp((F)1, std::numeric_limits<I>::digits);
    return v < lowest ? std::numeric_limits<I>::min() : v >= beyond ? std::numeric_limits<I>::max() : (I)v;
}
inline int __double2int_rd(double v) { return host_to_integer<int>(floor(v)); }
inline unsigned __double2uint_ru(double v) { return host_to_integer<unsigned>(ceil(v)); }
inline unsigned long long __double2ull_rn(double v) { return host_to_integer<unsigned long long>(nearbyint(v)); }
inline double __ll2double_rd(long long v)
{
    volatile long long x = v;
    volatile double r;
    host_rounded(FE_DOWNWARD, [&] { return r = (double)x, 0; });
    return r;
}
inline float __double2float_rz(double v)
{
    volatile double x = v;
    volatile float r;
    host_rounded(FE_TOWARDZERO, [&] { return r = (float)x, 0; });
    return r;
}

/* -- Generated data: as `orirun` makes it ---------------------------------- */

// Returns value k (from 0) of splitmix64 with a seed.
inline uint64_t host_random(uint64_t seed, uint64_t k)
{
    uint64_t z = seed + (k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

template <class T> const char *host_type()
{
    constexpr bool sign = std::is_signed_v<T>;
    if constexpr (std::is_same_v<T, float>)
        return "f32";
    else if constexpr (std::is_same_v<T, double>)
        return "f64";
    else {
        static_assert(std::is_integral_v<T>, "give the name of the type");
        return sizeof(T) == 1   ? sign ? "s8" : "u8"
               : sizeof(T) == 2 ? sign ? "s16" : "u16"
               : sizeof(T) == 4 ? sign ? "s32" : "u32"
               : sign           ? "s64"
                                : "u64";
    }
}

// Returns a value as text: hexadecimal for b8 to b64, f16, bf16; PTX's spelling for infinities and NaN.
inline std::string host_text(const std::string &type, const void *p)
{
    int n = atoi(type.c_str() + type.find_first_of("0123456789")) / 8;
    uint64_t u = 0;
    char s[40];
    memcpy(&u, p, (size_t)n);
    if (type == "f32" || type == "f64") {
        double v = n == 4 ? host_from_bits<float>(u) : host_from_bits<double>(u);
        if (std::isfinite(v))
            snprintf(s, sizeof s, n == 4 ? "%.9g" : "%.17g", v);
        else
            snprintf(s, sizeof s, n == 4 ? "0f%08llX" : "0d%016llX", (unsigned long long)u);
    } else if (type[0] == 's') {
        snprintf(s, sizeof s, "%lld", (long long)(u << (64 - 8 * n)) >> (64 - 8 * n));
    } else if (type[0] == 'u') {
        snprintf(s, sizeof s, "%llu", (unsigned long long)u);
    } else {
        snprintf(s, sizeof s, "0x%0*llx", 2 * n, (unsigned long long)u);
    }
    return s;
}
template <class T> std::string host_text(T v) { return host_text(host_type<T>(), &v); }

/* -- A launch of a .run file ----------------------------------------------- */

// Prints the head of the file; the comment may have several lines.
inline bool host_first_launch = true;
inline void run_file(const char *sample, const char *comment, const char *variant = "sm_80")
{
    printf(
        "# SPDX-License-Identifier: MIT\n# Printed by samples/host/%s.cpp, which runs the same source on the host.\n",
        sample);
    for (const char *s = comment; *s;) {
        size_t n = strcspn(s, "\n");
        printf("# %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
    printf("file ../ptx/%s.%s.ptx\n", sample, variant);
}

// A launch. Functions that make an argument return the value for the kernel.
struct Run {
    struct Argument {
        std::string text;         // text after `arg`
        std::string type;         // type of a buffer's values
        std::vector<char> bytes;  // current bytes of a buffer
        std::vector<char> first;  // bytes before the launch
        size_t width = 0;         // bytes of a value; 0 = no buffer
        bool nondet = false;
        int ulp = 0;
    };
    std::string entry, comment, variables;
    dim3 grid, block;
    unsigned shared;
    bool digests = true;
    size_t limit = 300;  // length of the longest list of values
    std::vector<std::unique_ptr<Argument>> args;

    Run(std::string entry, dim3 grid, dim3 block, unsigned shared = 0, std::string comment = "")
        : entry(entry), comment(comment), grid(grid), block(block), shared(shared)
    {
    }

    Argument &add(std::string text)
    {
        args.push_back(std::make_unique<Argument>());
        args.back()->text = text;
        return *args.back();
    }
    // Adds a scalar of type T.
    template <class T> T scalar(T v)
    {
        add(std::string(host_type<T>()) + ":" + host_text(v));
        return v;
    }
    template <class T> T *buffer(std::string text, const std::vector<T> &values, const char *type)
    {
        Argument &a = add(text);
        a.type = type;
        a.width = (size_t)atoi(a.type.c_str() + a.type.find_first_of("0123456789")) / 8;
        a.bytes.resize(values.size() * sizeof(T));
        memcpy(a.bytes.data(), values.data(), a.bytes.size());
        a.first = a.bytes;
        return (T *)a.bytes.data();
    }
    // Adds a buffer of `count` values, from start in steps.
    template <class T> T *iota(size_t count, T start = 0, T step = 1)
    {
        std::vector<T> v(count);
        for (size_t k = 0; k < count; k++)
            v[k] = std::is_integral_v<T> ? (T)((uint64_t)start + k * (uint64_t)step) : (T)(start + (T)k * step);
        return buffer("buf:" + std::to_string(count) + "x" + host_type<T>() + ":iota:" + host_text(start) + ":" +
                          host_text(step),
                      v, host_type<T>());
    }
    template <class T> T *fill(size_t count, T value)
    {
        return buffer("buf:" + std::to_string(count) + "x" + host_type<T>() + ":fill:" + host_text(value),
                      std::vector<T>(count, value), host_type<T>());
    }
    // Adds a buffer of `count` zeros.
    template <class T> T *zero(size_t count)
    {
        return buffer("buf:" + std::to_string(count * sizeof(T)), std::vector<T>(count), host_type<T>());
    }
    // Adds a buffer of integers: the low bits of random values.
    template <class T> T *rand(size_t count, uint64_t seed)
    {
        static_assert(std::is_integral_v<T>, "floats need bounds");
        std::vector<T> v(count);
        for (size_t k = 0; k < count; k++)
            v[k] = (T)host_random(seed, k);
        return buffer("buf:" + std::to_string(count) + "x" + host_type<T>() + ":rand:" + std::to_string(seed), v,
                      host_type<T>());
    }
    // Adds a buffer of random values in [lo, hi); f32 and integers.
    template <class T> T *rand(size_t count, uint64_t seed, T lo, T hi)
    {
        static_assert(!std::is_same_v<T, double>, "not defined");
        std::vector<T> v(count);
        for (size_t k = 0; k < count; k++) {
            uint64_t x = host_random(seed, k);
            if constexpr (std::is_floating_point_v<T>)
                v[k] = (T)(lo + (double)(x >> 40) * 0x1p-24 * ((double)hi - lo));
            else
                v[k] = (T)((uint64_t)lo + x % ((uint64_t)hi - (uint64_t)lo));
        }
        return buffer("buf:" + std::to_string(count) + "x" + host_type<T>() + ":rand:" + std::to_string(seed) + ":" +
                          host_text(lo) + ":" + host_text(hi),
                      v, host_type<T>());
    }
    // Adds a buffer of these values, written as bytes. `type` is the type of `expect`.
    template <class T> T *values(const std::vector<T> &v, const char *type)
    {
        std::string text = "buf:hex:";
        char hex[3];
        for (size_t k = 0; k < v.size() * sizeof(T); k++) {
            snprintf(hex, sizeof hex, "%02x", ((const unsigned char *)v.data())[k]);
            text += hex;
        }
        return buffer(text, v, type);
    }
    template <class T> T *values(const std::vector<T> &v) { return values(v, host_type<T>()); }
    // Adds a buffer of the bytes of a text, without a final zero.
    char *bytes(const std::string &s) { return values(std::vector<char>(s.begin(), s.end()), "b8"); }
    // Adds the address of argument n's buffer.
    template <class T> T *ref(size_t n)
    {
        add("ref:" + std::to_string(n));
        return (T *)args.at(n)->bytes.data();
    }
    // Adds an aggregate by value.
    template <class T> T aggregate(const T &v)
    {
        std::string text = "struct:hex:";
        char hex[3];
        for (size_t k = 0; k < sizeof v; k++) {
            snprintf(hex, sizeof hex, "%02x", ((const unsigned char *)&v)[k]);
            text += hex;
        }
        add(text);
        return v;
    }
    // Sets the type of argument n's values, if it is not the type of the pointer.
    void type(size_t n, const char *name)
    {
        args.at(n)->type = name;
        args.at(n)->width = (size_t)atoi(strpbrk(name, "0123456789")) / 8;
    }
    void nondet(size_t n) { args.at(n)->nondet = true; }
    // Compares argument n within `ulp` units in the last place, and disables digests.
    void approximate(size_t n, int ulp)
    {
        args.at(n)->ulp = ulp;
        digests = false;
    }

    // Expects these values of a module variable. Disables digests, which would need all variables that change.
    template <class T> void variable(std::string name, const T *v, size_t count = 1)
    {
        variables += "expect " + name + ":" + host_type<T>();
        for (size_t k = 0; k < count; k++)
            variables += " " + host_text(v[k]);
        variables += "\n";
        digests = false;
    }

    template <class... P, class... A> void run(void (*kernel)(P...), A... a)
    {
        host_launch(grid, block, [=] { kernel(a...); });
    }

    static std::string dim(dim3 d)
    {
        std::string s = std::to_string(d.x);
        if (d.y > 1 || d.z > 1)
            s += "," + std::to_string(d.y);
        return d.z > 1 ? s + "," + std::to_string(d.z) : s;
    }

    // Prints the launch: values of changed buffers that are short, and digests of all buffers.
    ~Run()
    {
        if (!host_first_launch)
            printf("---\n");
        host_first_launch = false;
        if (!comment.empty())
            printf("# %s\n", comment.c_str());
        printf("entry %s\ngrid %s\nblock %s\n", entry.c_str(), dim(grid).c_str(), dim(block).c_str());
        if (shared)
            printf("shared %u\n", shared);
        for (auto &a : args)
            printf("arg %s\n", a->text.c_str());
        for (size_t n = 0; n < args.size(); n++)
            if (args[n]->nondet)
                printf("nondet %zu\n", n);
        std::string digest;
        for (size_t n = 0; n < args.size(); n++) {
            Argument &a = *args[n];
            if (a.width == 0 || a.nondet)
                continue;
            uint64_t h = 0xcbf29ce484222325ull;
            for (char c : a.bytes)
                h = (h ^ (unsigned char)c) * 0x100000001b3ull;
            char hex[20];
            snprintf(hex, sizeof hex, " %016llx", (unsigned long long)h);
            digest += hex;
            if (a.ulp == 0 && (a.bytes == a.first || a.bytes.size() / a.width > limit))
                continue;
            printf("expect %zu:%s", n, a.type.c_str());
            if (a.ulp)
                printf(" ~%d", a.ulp);
            for (size_t k = 0; k < a.bytes.size() / a.width; k++)
                printf(" %s", host_text(a.type, a.bytes.data() + k * a.width).c_str());
            printf("\n");
        }
        fputs(variables.c_str(), stdout);
        if (digests && !digest.empty())
            printf("expect digest%s\n", digest.c_str());
    }
};

#include "ptx_asm.h"

#endif
