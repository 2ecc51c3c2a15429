// SPDX-License-Identifier: MIT
// Runs the launches of .run files on a GPU, and compares the memory with the expectations of the file and with the
// interpreter's. The driver compiles and runs the PTX. It is opened at run time, so gpurun builds on any machine.
//
// Both sides have buffers of their own with equal initial bytes. At the end all buffers and module variables must be
// equal byte for byte, except
//   - data declared `nondet`,
//   - buffers with an expectation `~ULPS`: values may differ by twice the distance, since both sides may be inexact,
//   - addresses: if the interpreter stored the address of a byte, the GPU must have stored its own address of that
//   byte.
//     Addresses in initializers are ignored.
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/gpu/driver.h"
#include "tools/lib/lang.h"
#include "tools/orirun/run_launch.h"

typedef struct Driver {
#define MEMBER(member, symbol, params) CuResult(*member) params;
    DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
    CuDevice device;
    CuContext *context;  // of all files, until a kernel fails
    int sm;              // 90 for 9.0
    int level;           // optimization level of the driver's compiler; -1 = its default
} Driver;

// A region on the GPU. Its view has the bytes after the run.
typedef struct Remote {
    uint64_t address;
    uint8_t *bytes;
} Remote;

typedef enum { PASSED, FAILED, SKIPPED, VERDICTS } Verdict;

// State of one .run file.
typedef struct Job {
    Driver *driver;
    const char *replacement;  // --file
    Ctx ctx;
    RunPlan plan;
    Source run_source, source;
    Module *module;
    RunState state;
    CuModule *there;
    VEC(Remote) remotes;  // remote of each region of the state
    VEC(RunView) views;   // view of each remote
    bool lost;            // the GPU's memory of the previous launch is lost
    uint32_t verdicts[VERDICTS];
} Job;

enum { SHOWN = 4, STACK = 16 << 10 };

/* -- Messages ------------------------------------------------------------------------------------------- */

static void to_stdout(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stdout);
}

// Reports an error of the driver; returns true if there is none.
static bool driver_ok(Job *job, const RunLaunch *l, CuResult r, const char *what)
{
    const char *name = NULL, *text = NULL;
    if (r == CU_SUCCESS)
        return true;
    job->driver->error_name(r, &name);
    job->driver->error_string(r, &text);
    return run_miss(&job->state, l->place, "%s: %s (%d), %s", what, name ? name : "error", r, text ? text : "unknown");
}

/* -- Modules and memory --------------------------------------------------------------------------------- */

static bool download(Job *job, const RunLaunch *l, uint32_t k)
{
    uint64_t size = job->state.regions.at[k].size;
    const Remote *r = &job->remotes.at[k];
    if (job->views.at[k].absent || !size)
        return true;
    return driver_ok(job, l, job->driver->download(r->bytes, r->address, size), "cuMemcpyDtoH");
}

static bool load_module(Job *job, const RunLaunch *l)
{
    char log[4096] = "";
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES, CU_JIT_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)(intptr_t)job->driver->level};
    unsigned n = ARRAY_LEN(options) - (job->driver->level < 0);
    CuResult r = job->driver->module_load(&job->there, job->source.text, n, options, values);
    if (r == CU_SUCCESS)
        return true;
    job->there = NULL;
    if (*log)
        printf("%s\n", log);
    return driver_ok(job, l, r, "cuModuleLoadDataEx");
}

// Finds a module variable on the GPU and checks its size. It may be absent.
static bool find_variable(Job *job, const RunLaunch *l, const RunRegion *region, Remote *r, RunView *view)
{
    size_t have = 0;
    CuResult found = job->driver->module_global(&r->address, &have, job->there, region->name);
    view->absent = found == CU_NOT_FOUND;
    if (!view->absent && !driver_ok(job, l, found, "cuModuleGetGlobal"))
        return false;
    if (!view->absent && have != region->size)
        return run_miss(&job->state, l->place, "%s has %zu bytes on the GPU, expected %" PRIu64, region->name, have,
                        region->size);
    return true;
}

static bool make_buffer(Job *job, const RunLaunch *l, uint32_t k, Remote *r)
{
    uint64_t size = job->state.regions.at[k].size;
    if (!driver_ok(job, l, job->driver->alloc(&r->address, MAX(size, 1)), "cuMemAlloc"))
        return false;
    return !size ||
           driver_ok(job, l, job->driver->upload(r->address, job->state.here.at[k].bytes, size), "cuMemcpyHtoD");
}

// Makes the regions that the state has but the GPU lacks.
static bool make_remotes(Job *job, const RunLaunch *l)
{
    for (uint32_t k = job->remotes.n; k < job->state.regions.n; k++) {
        const RunRegion *region = &job->state.regions.at[k];
        Remote r = {.bytes = arena_alloc(&job->ctx.arena, region->size)};
        RunView view = {.bytes = r.bytes};
        if (!(region->symbol ? find_variable(job, l, region, &r, &view) : make_buffer(job, l, k, &r)))
            return false;
        VEC_PUSH(&job->ctx.arena, &job->remotes, r);
        VEC_PUSH(&job->ctx.arena, &job->views, view);
        if (!download(job, l, k))
            return false;
        if (region->symbol && !view.absent)
            job->views.at[k].initial = bytes_digest(r.bytes, region->size);
    }
    return true;
}

// Ends the launches of one machine: frees buffers (unless they went with the context) and unloads the module.
static void end_launches(Job *job)
{
    for (uint32_t k = 0; k < job->remotes.n && job->there; k++)
        if (!job->state.regions.at[k].symbol)
            job->driver->free(job->remotes.at[k].address);
    if (job->there)
        job->driver->module_unload(job->there);
    job->there = NULL;
    job->remotes.n = job->views.n = 0;
    run_state_end(&job->state);
}

// Loads the module in its initial state.
static bool start_launches(Job *job, const RunLaunch *l)
{
    Driver *d = job->driver;
    end_launches(job);
    if (!d->context) {
        if (!driver_ok(job, l, d->context_create(&d->context, 0, d->device), "cuCtxCreate"))
            return false;
        d->context_limit(CU_LIMIT_STACK, STACK);  // for deep recursions; most kernels need less, so it may fail
    }
    return load_module(job, l);
}

// Destroys the context after an error of a kernel, because it then rejects every call.
static void lose_context(Job *job)
{
    end_launches(job);
    job->driver->context_destroy(job->driver->context);
    job->driver->context = NULL;
    job->lost = true;
}

/* -- The interpreter ------------------------------------------------------------------------------------ */

// Returns the loosest inexact expectation for a region; NULL if there is none.
static const RunExpect *loosest(Job *job, const RunLaunch *l, const RunRegion *r)
{
    const RunExpect *found = NULL;
    for (uint32_t k = 0; k < l->expects.n; k++) {
        const RunExpect *e = &l->expects.at[k];
        if (!e->digest && e->near && run_region(&job->state, &e->target) == r && (!found || e->ulps > found->ulps))
            found = e;
    }
    return found;
}

static void compare_values(Job *job, uint32_t region, const RunExpect *e)
{
    RunState *s = &job->state;
    const RunRegion *r = &s->regions.at[region];
    const uint8_t *there = job->views.at[region].bytes, *mine = s->here.at[region].bytes;
    Type t = e->target.type;
    uint32_t size = value_bytes(t), wrong = 0;
    uint64_t ulps = e->ulps > UINT64_MAX / 2 ? UINT64_MAX : 2 * e->ulps, n = r->size / size;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t is = value_load(there + k * size, t), interpreted = value_load(mine + k * size, t);
        if (is != interpreted && !value_near(t, is, interpreted, ulps) && wrong++ < SHOWN)
            run_miss_value(s, e->target.place, r->name, t, k, is, "in the interpreter", interpreted);
    }
    if (wrong > SHOWN)
        run_miss(s, e->target.place, "%u of %" PRIu64 " values differ from the interpreter's", wrong, n);
}

// True if two words are addresses of the same byte, each on its side, or of the end of one region.
static bool same_address(const Job *job, uint64_t is, uint64_t interpreted)
{
    for (uint32_t k = 0; k < job->remotes.n; k++) {
        const RunRegion *r = &job->state.regions.at[k];
        uint64_t offset = interpreted - r->address;
        if (!job->views.at[k].absent && offset <= r->size && is - job->remotes.at[k].address == offset)
            return true;
    }
    return false;
}

// True if an initializer puts an address, or a byte of one, at an offset.
static bool is_relocated(const Job *job, const RunRegion *r, uint64_t offset)
{
    const Init *init = r->symbol ? job->module->syms.at[r->symbol].init : NULL;
    for (uint32_t k = 0; init && k < init->nrelocs; k++)
        if (offset - init->relocs[k].offset < (init->relocs[k].mask ? 1 : 8))
            return true;
    return false;
}

static void compare_bytes(Job *job, const RunLaunch *l, uint32_t region)
{
    RunState *s = &job->state;
    const RunRegion *r = &s->regions.at[region];
    const uint8_t *there = job->views.at[region].bytes, *mine = s->here.at[region].bytes;
    uint64_t wrong = 0, first = 0;
    if (memcmp(there, mine, r->size) == 0)
        return;
    for (uint64_t k = 0; k < r->size; k++) {
        if (k % 8 == 0 && r->size - k >= 8 &&
            same_address(job, value_load(there + k, TY_U64), value_load(mine + k, TY_U64)))
            k += 7;
        else if (there[k] != mine[k] && !is_relocated(job, r, k) && !wrong++)
            first = k;
    }
    if (!wrong)
        return;
    uint64_t word = first & ~UINT64_C(7), n = MIN(r->size - word, 8);
    char text[2][17];
    for (uint64_t k = 0; k < n; k++) {
        snprintf(text[0] + 2 * k, 3, "%02x", there[word + k]);
        snprintf(text[1] + 2 * k, 3, "%02x", mine[word + k]);
    }
    run_miss(s, l->place,
             "%" PRIu64 " of %" PRIu64 " bytes of %s differ from the interpreter's; from %" PRIu64
             " on %s, interpreted %s",
             wrong, r->size, r->name, word, text[0], text[1]);
}

static void compare(Job *job, const RunLaunch *l)
{
    for (uint32_t k = 0; k < job->remotes.n; k++) {
        const RunRegion *r = &job->state.regions.at[k];
        if (r->nondet || job->views.at[k].absent || !r->size)
            continue;
        const RunExpect *e = loosest(job, l, r);
        if (e)
            compare_values(job, k, e);
        else
            compare_bytes(job, l, k);
    }
}

static bool interpret(Job *job, const RunLaunch *l, const Launch *launch)
{
    if (machine_run(job->state.machine, launch))
        return true;
    const RunError *e = machine_error(job->state.machine);
    size_t at = e->fn ? fn_where(e->fn, e->instr) : SIZE_MAX;
    if (at != SIZE_MAX)
        diag_at(&job->ctx.diag, DIAG_NOTE, at, "the interpreter stopped here");
    return run_miss(&job->state, l->place, "the interpreter stopped: block %u,%u,%u, thread %u,%u,%u: %s", e->block.x,
                    e->block.y, e->block.z, e->thread.x, e->thread.y, e->thread.z, e->text);
}

/* -- Launches ------------------------------------------------------------------------------------------- */

static bool run_there(Job *job, const RunLaunch *l, Launch launch)
{
    const Driver *d = job->driver;
    CuFunction *function;
    uint64_t *addresses = NEW_ARRAY(&job->ctx.arena, uint64_t, job->remotes.n);
    for (uint32_t k = 0; k < job->remotes.n; k++)
        addresses[k] = job->remotes.at[k].address;
    run_params(&job->state, addresses, &launch);
    if (!driver_ok(job, l, d->module_function(&function, job->there, run_sym_name(&job->state, launch.entry)),
                   "cuModuleGetFunction"))
        return false;
    if (l->shared && !driver_ok(job, l, d->function_set(function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)l->shared),
                                "cuFuncSetAttribute"))
        return false;
    size_t bytes = launch.nparams;
    void *extra[] = {CU_PARAMS_BYTES, (void *)(uintptr_t)launch.params, CU_PARAMS_SIZE, &bytes, CU_PARAMS_END};
    fflush(stdout);  // the driver prints the text of kernels
    if (!driver_ok(job, l,
                   d->launch(function, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, l->shared,
                             NULL, NULL, extra),
                   "cuLaunchKernel"))
        return false;
    if (!driver_ok(job, l, d->synchronize(), "cuCtxSynchronize")) {
        lose_context(job);
        return false;
    }
    for (uint32_t k = 0; k < job->remotes.n; k++)
        if (!download(job, l, k))
            return false;
    return true;
}

// Runs a launch on both sides and compares them. Returns false if it failed and a `keep` of the next launch is
// impossible.
static bool run_launch(Job *job, const RunLaunch *l)
{
    RunState *s = &job->state;
    Launch launch;
    if (l->keep && job->lost)
        return run_miss(s, l->place, "the memory of the launch before is lost");
    if (l->cluster.x)
        return run_miss(s, l->place, "cuLaunchKernel takes no cluster: only those that the kernel requires run here");
    if ((!l->keep && !start_launches(job, l)) || !run_prepare(s, l, &launch) || !make_remotes(job, l) ||
        !run_there(job, l, launch))
        return false;
    run_check(s, l, job->views.at);
    if (!interpret(job, l, &launch))
        return false;
    compare(job, l);
    return true;
}

static void say(Job *job, const RunLaunch *l, Verdict v, SymId entry)
{
    static const char *const words[] = {"pass", "FAIL", "skip"};
    uint32_t absent = 0;
    for (uint32_t k = 0; k < job->views.n; k++)
        absent += job->views.at[k].absent;
    printf("%s %s launch %u %s", words[v], job->run_source.name, job->state.number,
           entry      ? run_sym_name(&job->state, entry)
           : l->entry ? l->entry
                      : "?");
    if (absent)
        printf(" (%u variables that the driver does not know are left out)", absent);
    putchar('\n');
    job->verdicts[v]++;
}

// Returns the reason why this GPU cannot run the module; NULL if it can.
static const char *unfit(const Job *job)
{
    const Module *m = job->module;
    Str sm = str_get(&m->tables.strs, m->sm);
    int number = 0;
    char text[20], suffix = 0;
    snprintf(text, sizeof text, "%.*s", (int)MIN(sm.len, 19), sm.text);
    if (m->address_size == 32)
        return "its addresses have 32 bits";
    if (sscanf(text, "sm_%d%c", &number, &suffix) >= 1 && number > job->driver->sm)
        return "its target is newer than the GPU";
    if (suffix == 'a' && number != job->driver->sm)
        return "its target is of another architecture";
    if (suffix == 'f' && number / 10 != job->driver->sm / 10)
        return "its target is of another family";
    return NULL;
}

static bool open_files(Job *job, const char *path)
{
    char why[200];
    if (!source_open(&job->run_source, path, &job->ctx.arena, why))
        return run_fail(&job->plan, ST_IO, NO_PLACE, "cannot read '%s': %s", path, why);
    if (!run_plan_read(&job->plan, &job->run_source))
        return false;
    const char *module = job->replacement ? job->replacement : job->plan.module;
    if (!source_open(&job->source, module, &job->ctx.arena, why))
        return run_fail(&job->plan, ST_IO, job->plan.module_place, "cannot read '%s': %s", module, why);
    if (lang_of(&job->source) != LANG_PTX)
        return run_fail(&job->plan, ST_BAD_INPUT, job->plan.module_place, "'%s' is not PTX", module);
    job->module = lang_read(&job->ctx, &job->source, (LangOptions){.lang = LANG_PTX});
    if (job->module)
        module_freeze(job->module);
    return job->module;
}

static void run_file(Job *job, const char *path)
{
    if (!open_files(job, path)) {
        job->verdicts[FAILED]++;
        return;
    }
    run_state_init(&job->state, &job->plan, job->module, job->source.name, &job->ctx.heap, &job->ctx.arena);
    const char *why = unfit(job);
    if (why)
        printf("SKIP %s: %s: %s\n", path, job->source.name, why);
    for (uint32_t k = 0; k < job->plan.launches.n; k++) {
        const RunLaunch *l = &job->plan.launches.at[k];
        job->state.number = k + 1;
        job->state.misses = 0;
        SymId entry = why ? 0 : run_kernel(&job->state, l);
        if (!why)
            job->lost = !entry || !run_launch(job, l);
        say(job, l, why ? SKIPPED : job->lost || job->state.misses ? FAILED : PASSED, entry);
    }
}

/* -- The driver ----------------------------------------------------------------------------------------- */

// Finds the functions of the driver. Returns the name of a missing one, or NULL.
static const char *find_functions(Driver *d, void *library)
{
    void *at;
#define FIND(member, symbol, params) \
    at = dlsym(library, #symbol);    \
    if (!at)                         \
        return #symbol;              \
    memcpy((void *)&d->member, (void *)&at, sizeof at);
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

static bool skip(const char *what, const char *why)
{
    printf("SKIP gpurun: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return false;
}

static bool open_driver(Driver *d)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return skip("there is no CUDA driver", dlerror());
    const char *missing = find_functions(d, library), *text = NULL;
    int n = 0, major = 0, minor = 0;
    char name[200] = "?";
    if (missing)
        return skip("the CUDA driver is too old, it lacks", missing);
    CuResult r = d->init(0);
    if (r == CU_SUCCESS)
        r = d->device_count(&n);
    if (r == CU_SUCCESS && n > 0)
        r = d->device_get(&d->device, 0);
    if (r != CU_SUCCESS || n == 0) {
        if (r != CU_SUCCESS)
            d->error_string(r, &text);
        return skip("there is no GPU", text);
    }
    d->device_name(name, sizeof name, d->device);
    d->device_attribute(&major, CU_DEVICE_MAJOR, d->device);
    d->device_attribute(&minor, CU_DEVICE_MINOR, d->device);
    d->sm = major * 10 + minor;
    printf("gpurun: %s, sm_%d\n", name, d->sm);
    return true;
}

/* -- The program ---------------------------------------------------------------------------------------- */

static void run_job(Driver *driver, const char *replacement, const char *path, uint32_t *verdicts)
{
    static Job job;  // too large for the stack
    jmp_buf unwind;
    memset(&job, 0, sizeof job);
    job.driver = driver;
    job.replacement = replacement;
    if (setjmp(unwind)) {
        printf("FAIL %s: %s\n", path, job.ctx.heap.message);
        job.verdicts[FAILED]++;
    } else {
        job.ctx.heap = (Heap){.unwind = &unwind};
        job.ctx.diag = (Diag){.write = to_stdout, .max_errors = 20};
        job.ctx.options.positions = true;
        arena_init(&job.ctx.arena, &job.ctx.heap);
        run_plan_init(&job.plan, "gpurun", &job.ctx.arena, to_stdout, NULL);
        run_file(&job, path);
        end_launches(&job);
    }
    source_close(&job.source);
    source_close(&job.run_source);
    heap_release(&job.ctx.heap);
    for (int v = 0; v < VERDICTS; v++)
        verdicts[v] += job.verdicts[v];
}

static int usage(void)
{
    fputs("usage: gpurun [--jit-level 0|1|2|3|4] [--file PTX] FILE.run...\n", stderr);
    return ST_USAGE;
}

// Returns the argument of an option at argv[*at], which is passed; NULL if the option is not there.
static const char *option(char **argv, int argc, int *at, const char *name)
{
    if (*at + 1 >= argc || strcmp(argv[*at], name) != 0)
        return NULL;
    *at += 2;
    return argv[*at - 1];
}

int main(int argc, char **argv)
{
    Driver driver = {.level = -1};
    uint32_t verdicts[VERDICTS] = {0};
    int at = 1;
    const char *level = option(argv, argc, &at, "--jit-level");
    const char *replacement = option(argv, argc, &at, "--file");
    if (level) {
        driver.level = level[0] - '0';
        if (driver.level < 0 || driver.level > 4 || level[1])
            return usage();
    }
    if (at == argc || argv[at][0] == '-' || (replacement && argc > at + 1))
        return usage();
    if (!open_driver(&driver))
        return ST_OK;
    for (; at < argc; at++)
        run_job(&driver, replacement, argv[at], verdicts);
    if (driver.context)
        driver.context_destroy(driver.context);
    printf("%u passed, %u failed", verdicts[PASSED], verdicts[FAILED]);
    if (verdicts[SKIPPED])
        printf(", %u skipped", verdicts[SKIPPED]);
    putchar('\n');
    return verdicts[FAILED] ? ST_BAD_INPUT : ST_OK;
}
