// SPDX-License-Identifier: MIT
// libFuzzer target: reads a module in PTX or Ori text, and runs each of its kernels with small limits. Sanitizers
// report accesses of kernels to foreign memory. A hash of the input selects the options of the machine.
#include "ir/machine/machine.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, MEMORY_MAX = 192 << 20, STEPS = 3000, BUFFER = 1024, PARAMS_MAX = 1 << 15 };

static MachineOptions options_of(uint64_t seed, Out *out)
{
    return (MachineOptions){.max_steps = STEPS,
                            .check_uninit = seed % 5 == 1,
                            .follow_undef = seed % 5 == 2,
                            .check_races = seed >> 8 & 1,
                            .record_writers = seed >> 9 & 1,
                            .seed = seed >> 10 & 1 ? seed : 0,
                            .trace = seed % 16 == 5 ? out : NULL,
                            .lane = (uint32_t)(seed >> 12 & 31),
                            .print = out};
}

// Fills the parameters of a kernel: buffers for parameters of a pointer's size, small numbers for others.
static uint8_t *make_params(Fuzz *f, Machine *m, const Module *module, SymId entry, uint64_t *bytes)
{
    uint32_t n = machine_params(module, entry), pointer = module->address_size == 32 ? 4 : 8;
    uint64_t size = 0, at = n ? machine_param(module, entry, n - 1, &size) : 0;
    *bytes = at + size;
    if (at > PARAMS_MAX || size > PARAMS_MAX)
        return NULL;
    uint8_t *params = arena_zalloc(&f->ctx.arena, *bytes + 1);
    for (uint32_t k = 0; k < n; k++) {
        at = machine_param(module, entry, k, &size);
        uint64_t value = size == pointer ? machine_alloc(m, BUFFER, "a buffer") : 17 + k;
        for (uint32_t b = 0; b < MIN(size, 8); b++)
            params[at + b] = (uint8_t)(value >> 8 * b);
    }
    return params;
}

static void run_kernel(Fuzz *f, const Module *module, SymId entry)
{
    FuzzText text = {.arena = &f->ctx.arena};
    Out out = fuzz_out(&text);
    char buf[256];
    out.buf = buf;
    out.cap = sizeof buf;
    Machine *m = machine_new(&f->ctx.heap, module, options_of(f->seed, &out));
    Launch l = {
        .entry = entry, .grid = {1 + f->seed % 2, 1, 1}, .block = {f->seed >> 16 & 1 ? 64 : 33, 1, 1}, .shared = 256};
    l.params = make_params(f, m, module, entry, &l.nparams);
    if (l.params)
        machine_run(m, &l);
    machine_free(m);
}

static void body(Fuzz *f)
{
    f->ctx.diag.source = &f->source;
    Module *m = lang_read(&f->ctx, &f->source, (LangOptions){0});
    for (uint32_t k = 0; m && k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        if (fn && fn->flags & FN_KERNEL && fn->flags & FN_DEFINED)
            run_kernel(f, m, fn->sym);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= INPUT_MAX)
        fuzz_guard(data, size, MEMORY_MAX, body);
    return 0;
}
