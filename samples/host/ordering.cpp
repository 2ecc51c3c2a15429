// SPDX-License-Identifier: MIT
// Launches of samples/ordering.cu. Only one thread runs at a time, so memory order needs no work: asm statements are
// loads and stores, and a thread that waits for the flag yields.
#include "cuda_shim.h"

static void memory_asm(const char *text, std::vector<PtxOperand> o)
{
    std::string word(text, strcspn(text, " ;"));
    if (word == "fence.acq_rel.gpu")  // and st.release
        *(int *)o[0].value = 1;
    else if (word == "ld.acquire.gpu.global.u32" || word == "ld.relaxed.sys.global.s32")
        memcpy(o[0].out, (void *)o[1].value, 4);
    else if (word != "prefetch.global.L2")
        host_fail("%s is not known", word.c_str());
    host_yield();
}

#define ptx_asm memory_asm
#include "ordering.cu"
#undef ptx_asm

static void sum(unsigned blocks, uint64_t seed)
{
    Run r("last_block_sum", blocks, 64);
    auto in = r.rand<int>(64 * blocks, seed), partial = r.zero<int>(blocks), total = r.zero<int>(1);
    r.run(last_block_sum, in, partial, total);
}

int main()
{
    run_file("ordering", "Fences, acquire and release, volatile and cached accesses.");
    sum(11, 1);
    sum(4, 2);
    sum(1, 3);
    {
        Run r("message", 1, 64);
        auto in = r.rand<int>(32, 4), out = r.zero<int>(32), flag = r.zero<int>(1);
        r.run(message, in, out, flag);
    }
    {
        Run r("message", 1, 32, 0, "No reader.");
        auto in = r.iota(32, 0), out = r.zero<int>(32), flag = r.zero<int>(1);
        r.run(message, in, out, flag);
    }
    {
        Run r("cache_modes", 2, 40);
        auto a = r.rand<int>(85, 5);
        auto b = r.iota<double>(160, -70, 1.21875);
        auto out = r.zero<int>(160);
        auto v = r.iota<short>(80, -32768, 819);
        r.run(cache_modes, a, (const double2 *)b, out, v);
    }
}
