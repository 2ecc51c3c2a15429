// SPDX-License-Identifier: MIT
// Implements the part of ori.h that runs kernels. Each module has a machine from its first launch on. The machine has a
// heap of its own, so that a launch that fails for lack of memory can release all of it. Machines are numbered in the
// order of their first launches. So variables have different addresses in all modules of a context, and kernels reach
// those of other modules.
#include "tools/lib/ori_internal.h"

/* -- Memory of the host --------------------------------------------------------------------------------- */

// Returns the index of the first range that ends after an address.
static uint32_t range_after(const RunSettings *run, uint64_t address)
{
    uint32_t low = 0, high = run->ranges.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const HostRange *r = &run->ranges.at[mid];
        if (r->base + r->size <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool find_range(void *user, uint64_t address, HostRange *range)
{
    const OriContext *ori = user;
    uint32_t k = range_after(&ori->run, address);
    if (k == ori->run.ranges.n || ori->run.ranges.at[k].base > address)
        return false;
    *range = ori->run.ranges.at[k];
    return true;
}

// Finds memory of the host, or a variable of a module that has run.
static bool find_memory(void *user, uint64_t address, HostRange *range)
{
    const OriContext *ori = user;
    if (ori->run.host.find(ori->run.host.user, address, range))
        return true;
    for (const OriModule *m = ori->modules; m; m = m->next)
        if (m->running.machine && machine_range(m->running.machine, address, range))
            return true;
    return false;
}

void run_init(OriContext *ori)
{
    arena_init(&ori->run.arena, &ori->ctx.heap);
    ori->run.host = (HostMemory){find_range, ori, "registered range"};
}

void run_reach(OriContext *ori, HostMemory host) { ori->run.host = host; }

static OriStatus map(Call *call)
{
    RunSettings *run = &call->ori->run;
    HostRange range = call->range;
    uint32_t k = range_after(run, range.base);
    if (k < run->ranges.n && run->ranges.at[k].base < range.base + range.size)
        return wrong_use(call->ori, "ori_map(): the range overlaps another one");
    VEC_PUSH(&run->arena, &run->ranges, range);
    memmove(&run->ranges.at[k + 1], &run->ranges.at[k], (run->ranges.n - 1 - k) * sizeof range);
    run->ranges.at[k] = range;
    return ORI_OK;
}

OriStatus ori_map(OriContext *ori, void *memory, size_t size, unsigned flags)
{
    Call call = {.ori = ori,
                 .range = {.base = (uintptr_t)memory, .size = size, .read_only = flags & ORI_MAP_READ_ONLY}};
    if (flags & ~(unsigned)ORI_MAP_READ_ONLY)
        return wrong_use(ori, "ori_map() takes 0 or ORI_MAP_READ_ONLY");
    if (!size)
        return wrong_use(ori, "ori_map(): the range has no bytes");
    if (!machine_can_reach(&call.range))
        return wrong_use(ori, "ori_map(): kernels cannot reach these addresses");
    return guarded(&call, map);
}

OriStatus ori_unmap(OriContext *ori, const void *memory)
{
    RunSettings *run = &ori->run;
    uint32_t k = range_after(run, (uintptr_t)memory);
    if (k == run->ranges.n || run->ranges.at[k].base != (uintptr_t)memory)
        return wrong_use(ori, "ori_unmap(): no range begins here");
    run->ranges.n--;
    memmove(&run->ranges.at[k], &run->ranges.at[k + 1], (run->ranges.n - k) * sizeof *run->ranges.at);
    return ORI_OK;
}

/* -- Machines ------------------------------------------------------------------------------------------- */

OriStatus ori_set_run_limits(OriContext *ori, unsigned long long steps, size_t bytes)
{
    ori->run.steps = steps;
    ori->run.bytes = bytes;
    return ORI_OK;
}

void run_end(OriModule *module)
{
    module->running.machine = NULL;
    heap_release(&module->running.heap);
}

OriStatus ori_reset(OriContext *ori, OriModule *module)
{
    (void)ori;
    if (module->running.machine)
        machine_reset(module->running.machine);
    return ORI_OK;
}

static bool pass_print_on(void *user, const char *text, size_t n)
{
    OriContext *ori = user;
    ori->on_print.call(ori->on_print.user, text, n);
    return true;
}

// Makes the machine of a module ready for a launch under the current settings.
static Machine *prepare_machine(OriContext *ori, OriModule *module)
{
    Running *running = &module->running;
    if (!running->number)
        running->number = ++ori->run.machines;
    if (!running->machine)
        running->machine = machine_new(
            &running->heap, module->m,
            (MachineOptions){.host = {find_memory, ori, ori->run.host.name}, .number = running->number - 1});
    running->print = (Out){.write = pass_print_on, .user = ori, .buf = running->print_buf};
    running->print.cap = sizeof running->print_buf;
    MachineOptions *options = machine_options(running->machine);
    options->max_steps = ori->run.steps;
    options->print = ori->on_print.call ? &running->print : NULL;
    return running->machine;
}

/* -- Launches ------------------------------------------------------------------------------------------- */

// Reports a wrong launch.
#define WRONG(ori, ...) (diag_plain(&(ori)->ctx.diag, DIAG_ERROR, __VA_ARGS__), false)

// Copies a launch of any version of the header. False after a message.
static bool take_launch(OriContext *ori, const OriLaunch *from, OriLaunch *to)
{
    const char *extra = (const char *)from + sizeof *to;
    if (from->size < sizeof *to)
        return WRONG(ori, "OriLaunch.size is %zu, but must be sizeof(OriLaunch)", from->size);
    for (size_t k = 0; k < from->size - sizeof *to; k++)
        if (extra[k])
            return WRONG(ori, "OriLaunch has members that this version of the library lacks");
    *to = *from;
    return true;
}

static Dim dim_of(OriDim d) { return (Dim){d.x, d.y, d.z}; }

static bool check_shape(OriContext *ori, const OriLaunch *l)
{
    OriDim g = l->grid, b = l->block;
    if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z)
        return WRONG(ori, "a grid of %u,%u,%u blocks of %u,%u,%u threads: each number is at least 1", g.x, g.y, g.z,
                     b.x, b.y, b.z);
    if ((uint64_t)b.x * b.y > BLOCK_THREADS || (uint64_t)b.x * b.y * b.z > BLOCK_THREADS)
        return WRONG(ori, "a block of %u,%u,%u threads: a block has at most %d", b.x, b.y, b.z, BLOCK_THREADS);
    if (g.y > GRID_YZ || g.z > GRID_YZ)
        return WRONG(ori, "a grid of %u,%u,%u blocks: there are at most %d in y and in z", g.x, g.y, g.z, GRID_YZ);
    return (uint64_t)g.x * g.y <= UINT32_MAX / g.z ||
           WRONG(ori, "a grid of %u,%u,%u blocks: there are at most %u", g.x, g.y, g.z, UINT32_MAX);
}

// Finds a kernel by its name, or the first one; NULL if there is none.
static const Fn *find_kernel(const OriModule *module, const char *name, const char **found)
{
    for (uint32_t k = 0; k < module->count; k++) {
        const Fn *fn = module->m->fns.at[k];
        bool runs = fn && fn->flags & FN_KERNEL && fn->flags & FN_DEFINED;
        *found = module->names[k];
        if (runs && (!name || strcmp(name, *found) == 0))
            return fn;
    }
    return NULL;
}

static OriStatus no_kernel(OriContext *ori, const char *name)
{
    if (!name)
        return wrong_use(ori, "the module has no kernel");
    diag_plain(&ori->ctx.diag, DIAG_ERROR, "the module has no kernel '%s'", name);
    return ORI_USAGE;
}

size_t ori_parameter_size(const OriModule *module, const char *kernel, size_t index)
{
    const char *found;
    uint64_t bytes;
    const Fn *fn = find_kernel(module, kernel, &found);
    if (!fn || index >= machine_params(module->m, fn->sym))
        return 0;
    machine_param(module->m, fn->sym, (uint32_t)index, &bytes);
    return bytes;
}

static bool check_arguments(OriContext *ori, const OriModule *module, SymId entry, const char *kernel,
                            const OriLaunch *l)
{
    uint32_t n = machine_params(module->m, entry);
    uint64_t bytes;
    if (l->argument_count != n)
        return WRONG(ori, "'%s' has %u parameter%s, and there %s %zu argument%s", kernel, n, n == 1 ? "" : "s",
                     l->argument_count == 1 ? "is" : "are", l->argument_count, l->argument_count == 1 ? "" : "s");
    for (uint32_t k = 0; k < n; k++) {
        machine_param(module->m, entry, k, &bytes);
        if (l->arguments[k].size != bytes)
            return WRONG(ori, "argument %u has %zu byte%s, but parameter %u of '%s' has %llu", k, l->arguments[k].size,
                         l->arguments[k].size == 1 ? "" : "s", k, kernel, (unsigned long long)bytes);
    }
    return true;
}

// Places the arguments where the kernel expects them.
static void place_arguments(Launch *launch, const Module *m, const OriLaunch *l, Arena *arena)
{
    size_t n = l->argument_count;
    uint64_t bytes = 0, at = n ? machine_param(m, launch->entry, (uint32_t)n - 1, &bytes) : 0;
    uint8_t *params = arena_zalloc(arena, at + bytes + 1);
    launch->params = params;
    launch->nparams = at + bytes;
    for (uint32_t k = 0; k < n; k++) {
        at = machine_param(m, launch->entry, k, &bytes);
        memcpy(params + at, l->arguments[k].value, bytes);
    }
}

static const char *name_of(const OriModule *module, const Fn *fn)
{
    uint32_t k = 0;
    while (module->m->fns.at[k] != fn)
        k++;
    return module->names[k];
}

// Reports the fault of a launch, and keeps it for ori_fault().
static OriStatus take_fault(OriContext *ori, const OriModule *module, const char *kernel)
{
    const Running *running = &module->running;
    const RunError *e = machine_error(running->machine);
    RunSettings *run = &ori->run;
    Diag *diag = &ori->ctx.diag;
    size_t at = e->fn ? fn_where(e->fn, e->instr) : SIZE_MAX, start;
    char place[MACHINE_ERROR_TEXT], text[MACHINE_ERROR_TEXT + 300];
    memcpy(run->reason, e->text, sizeof run->reason);
    run->faulted = true;
    run->fault = (OriFault){.reason = run->reason,
                            .kernel = kernel,
                            .function = e->fn ? name_of(module, e->fn) : NULL,
                            .file = module->source.name,
                            .block = {e->block.x, e->block.y, e->block.z},
                            .thread = {e->thread.x, e->thread.y, e->thread.z}};
    machine_error_text(running->machine, place);
    snprintf(text, sizeof text, "launch %u, %s, %s", running->launches, kernel, place);
    diag->source = &module->source;
    diag->line = 0;
    if (at != SIZE_MAX) {
        diag_locate(diag, at, &run->fault.line, &run->fault.column, &start);
        diag_at(diag, DIAG_ERROR, at, "%s", text);
    } else {
        diag_plain(diag, DIAG_ERROR, "%s", text);
    }
    diag->source = NULL;
    return e->status == RUN_LIMIT ? ORI_LIMIT : ORI_BAD_INPUT;
}

// Runs a launch that was checked. Failures unwind to the caller.
static OriStatus run_launch(OriContext *ori, OriModule *module, const Fn *fn, const char *kernel, const OriLaunch *l)
{
    Running *running = &module->running;
    Launch launch = {.entry = fn->sym,
                     .grid = dim_of(l->grid),
                     .block = dim_of(l->block),
                     .cluster = dim_of(l->cluster),
                     .shared = l->shared_bytes};
    Arena arena;
    arena_init(&arena, &running->heap);
    Machine *machine = prepare_machine(ori, module);
    place_arguments(&launch, module->m, l, &arena);
    running->launches++;
    bool done = machine_run(machine, &launch);
    out_flush(&running->print);
    arena_free(&arena);
    return done ? ORI_OK : take_fault(ori, module, kernel);
}

// Runs a launch that was checked. A failure of either heap ends the machine: analyses of functions use that of the
// module.
static OriStatus run_guarded(OriContext *ori, OriModule *module, const Fn *fn, const char *kernel, const OriLaunch *l)
{
    Heap *own = &module->running.heap, *shared = &ori->ctx.heap;
    jmp_buf unwind;
    own->unwind = shared->unwind = &unwind;
    own->allocator = ori->allocator;
    own->limit = ori->run.bytes;
    own->status = ST_OK;
    if (!setjmp(unwind))
        return run_launch(ori, module, fn, kernel, l);
    const Heap *failed = own->status != ST_OK ? own : shared;
    OriStatus status = (OriStatus)failed->status;
    if (module->running.machine)
        out_flush(&module->running.print);
    diag_plain(&ori->ctx.diag, DIAG_ERROR, "%s%s", status == ORI_INTERNAL ? "internal error: " : "", failed->message);
    run_end(module);
    return status;
}

OriStatus ori_run(OriContext *ori, OriModule *module, const OriLaunch *launch)
{
    OriLaunch l;
    const char *kernel;
    ori->run.faulted = false;
    if (module->broken)
        return wrong_use(ori, "the module is broken, because an earlier call failed");
    if (!take_launch(ori, launch, &l) || !check_shape(ori, &l))
        return ORI_USAGE;
    const Fn *fn = find_kernel(module, l.kernel, &kernel);
    if (!fn)
        return no_kernel(ori, l.kernel);
    if (!check_arguments(ori, module, fn->sym, kernel, &l))
        return ORI_USAGE;
    return run_guarded(ori, module, fn, kernel, &l);
}

const OriFault *ori_fault(const OriContext *ori) { return ori->run.faulted ? &ori->run.fault : NULL; }
