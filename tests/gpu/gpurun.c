// SPDX-License-Identifier: MIT
// gpurun: runs the launches of .run files on a GPU, and compares what they leave in memory with what the file expects,
// and with what the interpreter makes of the same launch. The driver does the compiling and the running; it is opened
// at run time, so that this builds anywhere.
//
// Both sides have buffers of their own with the same bytes at first. Afterwards all buffers and module variables must
// be equal byte for byte, but for
//   - what is declared `nondet`,
//   - buffers with an expectation `~ULPS`: their values may be twice as far apart, since each side may be so far off,
//   - addresses: where the interpreter left the address of a byte of a buffer or a variable, the GPU must have left its
//     own address of that byte. What an initializer says of addresses is left out.
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/gpu/driver.h"
#include "tools/lang.h"
#include "tools/run_file.h"

typedef struct Driver {
#define MEMBER(member, symbol, params) CuResult(*member) params;
    DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
    CuDevice device;
    int sm;  // 90 for 9.0
} Driver;

// A buffer or a module variable, which both sides have.
typedef struct Region {
    const char *name;
    SymId symbol;  // 0: a buffer
    uint64_t size;
    uint64_t here, there;  // address in the interpreter, on the GPU
    uint8_t *bytes;        // those of the GPU, after the run
    uint64_t initial;      // digest of a variable on the GPU before the first launch
    bool absent;           // the driver does not know this variable
    bool nondet;
} Region;

typedef struct Arg {
    const uint8_t *bytes;  // of a value; NULL: an address
    uint64_t size;         // of the value
    uint32_t region;
    bool again;  // another argument's buffer
} Arg;
typedef VEC(Arg) Args;

typedef enum { PASSED, FAILED, SKIPPED, VERDICTS } Verdict;

// The work on one .run file.
typedef struct Job {
    const Driver *driver;
    const char *replacement;  // --file
    Ctx ctx;
    RunPlan plan;
    Source run_source, source;
    Module *module;
    Machine *machine;
    CuContext *context;
    CuModule *there;
    VEC(Region) regions;  // variables, then buffers, since the last launch without `keep`
    Args args;
    uint32_t number;  // of the launch, from 1
    uint32_t misses;  // in it
    bool lost;        // the GPU's memory of the launch before is gone
    uint32_t verdicts[VERDICTS];
} Job;

enum { SHOWN = 4, STACK = 16 << 10 };

/* -- Messages ------------------------------------------------------------------------------------------- */

static void to_stdout(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stdout);
}

// What is wrong with a launch; false.
static bool miss(Job *job, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool miss(Job *job, RunPlace place, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    job->misses++;
    return run_fail(&job->plan, ST_BAD_INPUT, place, "launch %u: %s", job->number, text);
}

// False: the driver refused, and a message was written.
static bool driver_ok(Job *job, const RunLaunch *l, CuResult r, const char *what)
{
    const char *name = NULL, *text = NULL;
    if (r == CU_SUCCESS)
        return true;
    job->driver->error_name(r, &name);
    job->driver->error_string(r, &text);
    return miss(job, l->place, "%s: %s (%d), %s", what, name ? name : "error", r, text ? text : "unknown");
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static bool is_kernel(const Sym *s) { return s->kind == SYM_FUNC && s->flags & SYM_KERNEL && s->flags & SYM_DEFINED; }
static bool is_variable(const Sym *s)
{
    return s->kind == SYM_VAR && (s->space == SP_GLOBAL || s->space == SP_CONST) && s->size &&
           type_info[s->type].class != TC_O;
}

static const char *sym_name(Job *job, SymId s)
{
    char buf[4096];  // longer names are cut
    const char *text = name_text(&job->module->tables, job->module->syms.at[s].name, buf, sizeof buf);
    size_t n = strlen(text) + 1;
    return memcpy(arena_alloc(&job->ctx.arena, n), text, n);
}

static SymId find_kernel(Job *job, const RunLaunch *l)
{
    SymId found = 0;
    uint32_t n = 0;
    for (SymId s = 1; s < job->module->syms.n; s++)
        if (is_kernel(&job->module->syms.at[s]) && (!l->entry || strcmp(l->entry, sym_name(job, s)) == 0)) {
            found = s;
            n++;
        }
    if (n != 1)
        miss(job, l->entry ? l->entry_place : l->place, "'%s' has %s kernel%s%s", job->source.name,
             n ? "several" : "no", l->entry ? " " : "s", l->entry ? l->entry : "");
    return n == 1 ? found : 0;
}

/* -- Modules and memory --------------------------------------------------------------------------------- */

static uint8_t *here(Job *job, const Region *r)
{
    uint64_t have;
    return r->size ? machine_bytes(job->machine, r->here, &have) : NULL;
}

static bool download(Job *job, const RunLaunch *l, Region *r)
{
    if (r->absent || !r->size)
        return true;
    return driver_ok(job, l, job->driver->download(r->bytes, r->there, r->size), "cuMemcpyDtoH");
}

static bool load_module(Job *job, const RunLaunch *l)
{
    char log[4096] = "";
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    CuResult r = job->driver->module_load(&job->there, job->source.text, ARRAY_LEN(options), options, values);
    if (r == CU_SUCCESS)
        return true;
    job->there = NULL;
    if (*log)
        printf("%s\n", log);
    return driver_ok(job, l, r, "cuModuleLoadDataEx");
}

static bool add_variable(Job *job, const RunLaunch *l, SymId s)
{
    uint64_t size = job->module->syms.at[s].size;
    Region r = {.name = sym_name(job, s), .symbol = s, .size = size, .here = machine_symbol(job->machine, s)};
    size_t have = 0;
    CuResult found = job->driver->module_global(&r.there, &have, job->there, r.name);
    if (found != CU_NOT_FOUND && !driver_ok(job, l, found, "cuModuleGetGlobal"))
        return false;
    r.absent = found == CU_NOT_FOUND;
    if (!r.absent && have != size)
        return miss(job, l->place, "%s has %zu bytes on the GPU, expected %" PRIu64, r.name, have, size);
    r.bytes = arena_alloc(&job->ctx.arena, size);
    if (!download(job, l, &r))
        return false;
    r.initial = r.absent ? 0 : bytes_digest(r.bytes, size);
    VEC_PUSH(&job->ctx.arena, &job->regions, r);
    return true;
}

// Buffers go with the context, or here.
static void end_launches(Job *job)
{
    for (uint32_t k = 0; k < job->regions.n && job->there; k++)
        if (!job->regions.at[k].symbol)
            job->driver->free(job->regions.at[k].there);
    if (job->there)
        job->driver->module_unload(job->there);
    job->there = NULL;
    job->regions.n = 0;
    if (job->machine)
        machine_free(job->machine);
    job->machine = NULL;
}

// Memory as it is before the first launch, on both sides.
static bool start_launches(Job *job, const RunLaunch *l)
{
    end_launches(job);
    if (!job->context &&
        !driver_ok(job, l, job->driver->context_create(&job->context, 0, job->driver->device), "cuCtxCreate"))
        return false;
    job->driver->context_limit(CU_LIMIT_STACK, STACK);  // deep recursions; where it cannot be had, it may do without
    if (!load_module(job, l))
        return false;
    job->lost = false;
    job->machine = machine_new(&job->ctx.heap, job->module, job->plan.options);
    for (SymId s = 1; s < job->module->syms.n; s++)
        if (is_variable(&job->module->syms.at[s]) && !add_variable(job, l, s))
            return false;
    return true;
}

// After an error of a kernel the context refuses everything.
static void lose_context(Job *job)
{
    end_launches(job);
    job->driver->context_destroy(job->context);
    job->context = NULL;
    job->lost = true;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

static const char *arg_name(Job *job, uint32_t k)
{
    char *name = arena_alloc(&job->ctx.arena, 16);
    snprintf(name, 16, "arg%u", k);
    return name;
}

static bool new_buffer(Job *job, const RunLaunch *l, const RunArg *a, Arg *to)
{
    char why[200];
    Source file = {0};
    Region r = {.size = a->size};
    if (a->fill.kind == FILL_FILE) {
        if (!source_open(&file, a->fill.path, &job->ctx.arena, why))
            return miss(job, a->place, "cannot read '%s': %s", a->fill.path, why);
        r.size = file.len;
    }
    r.here = machine_alloc(job->machine, r.size, "a buffer");
    uint8_t *bytes = here(job, &r);
    if (bytes && a->fill.kind == FILL_FILE)
        memcpy(bytes, file.text, r.size);
    else if (bytes && a->fill.kind == FILL_BYTES)
        memcpy(bytes, a->fill.bytes, r.size);
    else if (bytes)
        fill_write(&a->fill, bytes);
    source_close(&file);
    if (!driver_ok(job, l, job->driver->alloc(&r.there, MAX(r.size, 1)), "cuMemAlloc"))
        return false;
    r.bytes = arena_alloc(&job->ctx.arena, r.size);
    to->region = job->regions.n;
    VEC_PUSH(&job->ctx.arena, &job->regions, r);
    return !bytes || driver_ok(job, l, job->driver->upload(r.there, bytes, r.size), "cuMemcpyHtoD");
}

static bool bind(Job *job, const RunLaunch *l, const RunArg *a, const Args *before, Arg *to)
{
    switch (a->kind) {
    case RA_BUFFER: return new_buffer(job, l, a, to);
    case RA_REF:
        *to = job->args.at[a->of];
        to->again = true;
        return true;
    case RA_KEPT:
        if (!l->keep || a->of >= before->n || before->at[a->of].bytes)
            return miss(job, a->place, "there is no buffer to keep");
        *to = before->at[a->of];
        to->again = false;
        return true;
    default: *to = (Arg){.bytes = a->bytes, .size = a->size}; return true;
    }
}

static bool bind_all(Job *job, const RunLaunch *l)
{
    Args before = job->args;
    for (uint32_t k = 0; k < job->regions.n; k++)
        job->regions.at[k].nondet = false;
    if (l->keep && !l->args.n)
        return true;
    job->args = (Args){0};
    for (uint32_t k = 0; k < l->args.n; k++) {
        Arg a = {0};
        if (!bind(job, l, &l->args.at[k], &before, &a))
            return false;
        if (!a.bytes && !a.again)
            job->regions.at[a.region].name = arg_name(job, k);
        VEC_PUSH(&job->ctx.arena, &job->args, a);
    }
    return true;
}

// The bytes of all parameters, with the addresses of the one side or the other.
static bool place_params(Job *job, const RunLaunch *l, Launch *launch, bool on_gpu)
{
    const Module *m = job->module;
    uint32_t n = machine_params(m, launch->entry), bytes = 0, at = 0;
    if (n != job->args.n)
        return miss(job, l->place, "the kernel has %u parameters, and there are %u arguments", n, job->args.n);
    if (n)
        at = machine_param(m, launch->entry, n - 1, &bytes);
    uint8_t *params = arena_zalloc(&job->ctx.arena, (size_t)at + bytes + 1);
    launch->params = params;
    launch->nparams = at + bytes;
    for (uint32_t k = 0; k < n; k++) {
        const Arg *a = &job->args.at[k];
        at = machine_param(m, launch->entry, k, &bytes);
        if (bytes != (a->bytes ? a->size : 8))
            return miss(job, l->place, "argument %u does not have the %u bytes of its parameter", k, bytes);
        const Region *r = &job->regions.at[a->region];
        if (a->bytes)
            memcpy(params + at, a->bytes, bytes);
        else
            value_store(params + at, TY_U64, on_gpu ? r->there : r->here);
    }
    return true;
}

/* -- What the file expects ------------------------------------------------------------------------------ */

// NULL: there is none.
static Region *region_of(const Job *job, const RunTarget *t)
{
    if (!t->symbol && t->arg < job->args.n && !job->args.at[t->arg].bytes)
        return &job->regions.at[job->args.at[t->arg].region];
    for (uint32_t k = 0; k < job->regions.n && t->symbol; k++)
        if (job->regions.at[k].symbol && strcmp(job->regions.at[k].name, t->symbol) == 0)
            return &job->regions.at[k];
    return NULL;
}

// NULL: a message was written.
static Region *find_region(Job *job, const RunTarget *t)
{
    Region *r = region_of(job, t);
    if (!r)
        miss(job, t->place, "there is no such %s", t->symbol ? "variable" : "buffer");
    else if (r->absent)
        miss(job, t->place, "the driver does not know the variable '%s'", r->name);
    return r && !r->absent ? r : NULL;
}

// Of the buffers in the order of the arguments, then of the variables that are not what they were at first.
static void check_digests(Job *job, const RunExpect *e)
{
    VEC(const Region *) of = {0};
    for (uint32_t k = 0; k < job->args.n; k++) {
        const Arg *a = &job->args.at[k];
        if (!a->bytes && !a->again && !job->regions.at[a->region].nondet)
            VEC_PUSH(&job->ctx.arena, &of, &job->regions.at[a->region]);
    }
    uint32_t nbuffers = of.n;
    for (uint32_t k = 0; k < job->regions.n; k++) {
        const Region *r = &job->regions.at[k];
        if (r->symbol && !r->absent && !r->nondet && bytes_digest(r->bytes, r->size) != r->initial)
            VEC_PUSH(&job->ctx.arena, &of, r);
    }
    if (e->values.n < nbuffers || e->values.n > of.n)
        miss(job, e->target.place, "%u digests are expected, but there are %u", e->values.n, of.n);
    for (uint32_t k = 0; k < MIN(e->values.n, of.n); k++) {
        uint64_t is = bytes_digest(of.at[k]->bytes, of.at[k]->size);
        if (is != e->values.at[k])
            miss(job, e->target.place, "the digest of %s is %016" PRIx64 ", expected %016" PRIx64, of.at[k]->name, is,
                 e->values.at[k]);
    }
}

// `NAME:TYPE[INDEX] is A, expected B`.
static void miss_value(Job *job, RunPlace place, const char *name, Type t, uint64_t index, uint64_t is,
                       const char *other, uint64_t value)
{
    char text[300];
    Out out = {.write = out_to_stdio, .user = stdout, .buf = text, .cap = sizeof text};
    out_fmt(&out, "%.120s:%s[%" PRIu64 "] is ", name, type_info[t].name, index);
    value_print(&out, t, is);
    out_fmt(&out, ", %s ", other);
    value_print(&out, t, value);
    miss(job, place, "%.*s", (int)out.n, text);
}

static void check_values(Job *job, const RunExpect *e)
{
    Type t = e->target.type;
    const Region *r = find_region(job, &e->target);
    uint32_t wrong = 0;
    if (!r)
        return;
    uint64_t have = r->size / value_bytes(t);
    if (e->target.first > have || e->values.n > have - e->target.first) {
        miss(job, e->target.place, "%s has fewer values than are expected", r->name);
        return;
    }
    for (uint32_t k = 0; k < e->values.n; k++) {
        uint64_t is = value_load(r->bytes + (e->target.first + k) * value_bytes(t), t);
        if (is == e->values.at[k] || (e->near && value_near(t, is, e->values.at[k], e->ulps)))
            continue;
        if (wrong++ < SHOWN)
            miss_value(job, e->target.place, r->name, t, e->target.first + k, is, "expected", e->values.at[k]);
    }
    if (wrong > SHOWN)
        miss(job, e->target.place, "%u of %u values differ", wrong, e->values.n);
}

static void check_expectations(Job *job, const RunLaunch *l)
{
    for (uint32_t k = 0; k < l->expects.n; k++) {
        if (l->expects.at[k].digest)
            check_digests(job, &l->expects.at[k]);
        else
            check_values(job, &l->expects.at[k]);
    }
}

/* -- What the interpreter makes of it ------------------------------------------------------------------- */

// The loosest of the expectations about a region that are not exact; NULL if there is none.
static const RunExpect *loosest(const Job *job, const RunLaunch *l, const Region *r)
{
    const RunExpect *found = NULL;
    for (uint32_t k = 0; k < l->expects.n; k++) {
        const RunExpect *e = &l->expects.at[k];
        if (!e->digest && e->near && region_of(job, &e->target) == r && (!found || e->ulps > found->ulps))
            found = e;
    }
    return found;
}

static void compare_values(Job *job, const Region *r, const uint8_t *mine, const RunExpect *e)
{
    Type t = e->target.type;
    uint32_t size = value_bytes(t), wrong = 0;
    uint64_t ulps = e->ulps > UINT64_MAX / 2 ? UINT64_MAX : 2 * e->ulps, n = r->size / size;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t is = value_load(r->bytes + k * size, t), interpreted = value_load(mine + k * size, t);
        if (is != interpreted && !value_near(t, is, interpreted, ulps) && wrong++ < SHOWN)
            miss_value(job, e->target.place, r->name, t, k, is, "in the interpreter", interpreted);
    }
    if (wrong > SHOWN)
        miss(job, e->target.place, "%u of %" PRIu64 " values differ from the interpreter's", wrong, n);
}

// Whether two words are addresses of the same byte, each on its side. One past the end is somewhere, too.
static bool same_address(const Job *job, uint64_t is, uint64_t interpreted)
{
    for (uint32_t k = 0; k < job->regions.n; k++) {
        const Region *r = &job->regions.at[k];
        if (!r->absent && interpreted - r->here <= r->size && is - r->there == interpreted - r->here)
            return true;
    }
    return false;
}

// Whether an initializer makes an address, or a byte of one, of the byte at an offset.
static bool is_relocated(const Job *job, const Region *r, uint64_t offset)
{
    const Init *init = r->symbol ? job->module->syms.at[r->symbol].init : NULL;
    for (uint32_t k = 0; init && k < init->nrelocs; k++)
        if (offset - init->relocs[k].offset < (init->relocs[k].mask ? 1 : 8))
            return true;
    return false;
}

static void compare_bytes(Job *job, const RunLaunch *l, const Region *r, const uint8_t *mine)
{
    uint64_t wrong = 0, first = 0;
    if (memcmp(r->bytes, mine, r->size) == 0)
        return;
    for (uint64_t k = 0; k < r->size; k++) {
        if (k % 8 == 0 && r->size - k >= 8 &&
            same_address(job, value_load(r->bytes + k, TY_U64), value_load(mine + k, TY_U64)))
            k += 7;
        else if (r->bytes[k] != mine[k] && !is_relocated(job, r, k) && !wrong++)
            first = k;
    }
    if (!wrong)
        return;
    uint64_t word = first & ~UINT64_C(7), n = MIN(r->size - word, 8);
    char text[2][17];
    for (uint64_t k = 0; k < n; k++) {
        snprintf(text[0] + 2 * k, 3, "%02x", r->bytes[word + k]);
        snprintf(text[1] + 2 * k, 3, "%02x", mine[word + k]);
    }
    miss(job, l->place,
         "%" PRIu64 " of %" PRIu64 " bytes of %s differ from the interpreter's; from %" PRIu64 " on %s, interpreted %s",
         wrong, r->size, r->name, word, text[0], text[1]);
}

static void compare(Job *job, const RunLaunch *l)
{
    for (uint32_t k = 0; k < job->regions.n; k++) {
        const Region *r = &job->regions.at[k];
        if (r->nondet || r->absent || !r->size)
            continue;
        const RunExpect *e = loosest(job, l, r);
        if (e)
            compare_values(job, r, here(job, r), e);
        else
            compare_bytes(job, l, r, here(job, r));
    }
}

static bool interpret(Job *job, const RunLaunch *l, const Launch *launch)
{
    if (machine_run(job->machine, launch))
        return true;
    const RunError *e = machine_error(job->machine);
    size_t at = e->fn ? fn_where(e->fn, e->instr) : SIZE_MAX;
    if (at != SIZE_MAX)
        diag_at(&job->ctx.diag, DIAG_NOTE, at, "the interpreter stopped here");
    return miss(job, l->place, "the interpreter stopped: block %u,%u,%u, thread %u,%u,%u: %s", e->block.x, e->block.y,
                e->block.z, e->thread.x, e->thread.y, e->thread.z, e->text);
}

/* -- Launches ------------------------------------------------------------------------------------------- */

static bool run_there(Job *job, const RunLaunch *l, Launch launch)
{
    const Driver *d = job->driver;
    CuFunction *function;
    if (!place_params(job, l, &launch, true) ||
        !driver_ok(job, l, d->module_function(&function, job->there, sym_name(job, launch.entry)),
                   "cuModuleGetFunction"))
        return false;
    if (l->shared && !driver_ok(job, l, d->function_set(function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)l->shared),
                                "cuFuncSetAttribute"))
        return false;
    size_t bytes = launch.nparams;
    void *extra[] = {CU_PARAMS_BYTES, (void *)(uintptr_t)launch.params, CU_PARAMS_SIZE, &bytes, CU_PARAMS_END};
    fflush(stdout);  // what kernels print comes from the driver
    if (!driver_ok(job, l,
                   d->launch(function, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, l->shared,
                             NULL, NULL, extra),
                   "cuLaunchKernel"))
        return false;
    if (!driver_ok(job, l, d->synchronize(), "cuCtxSynchronize")) {
        lose_context(job);
        return false;
    }
    for (uint32_t k = 0; k < job->regions.n; k++)
        if (!download(job, l, &job->regions.at[k]))
            return false;
    return true;
}

static void run_launch(Job *job, const RunLaunch *l, SymId entry)
{
    Launch launch = {.entry = entry, .grid = l->grid, .block = l->block, .shared = l->shared};
    if (l->keep && job->lost) {
        miss(job, l->place, "the memory of the launch before is lost");
        return;
    }
    if ((!l->keep && !start_launches(job, l)) || !bind_all(job, l)) {
        job->lost = true;
        return;
    }
    for (uint32_t k = 0; k < l->nondet.n; k++) {
        Region *r = region_of(job, &l->nondet.at[k]);
        if (r)
            r->nondet = true;
        else
            miss(job, l->nondet.at[k].place, "there is nothing of the kind");
    }
    if (!run_there(job, l, launch)) {
        job->lost = true;
        return;
    }
    check_expectations(job, l);
    if (place_params(job, l, &launch, false) && interpret(job, l, &launch))
        compare(job, l);
    else
        job->lost = true;
}

static void say(Job *job, const RunLaunch *l, Verdict v, SymId entry)
{
    static const char *const words[] = {"pass", "FAIL", "skip"};
    uint32_t absent = 0;
    for (uint32_t k = 0; k < job->regions.n; k++)
        absent += job->regions.at[k].absent;
    printf("%s %s launch %u %s", words[v], job->run_source.name, job->number,
           entry      ? sym_name(job, entry)
           : l->entry ? l->entry
                      : "?");
    if (absent)
        printf(" (%u variables that the driver does not know are left out)", absent);
    putchar('\n');
    job->verdicts[v]++;
}

// Why this GPU has nothing to say about the module; NULL if it has.
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
    job->module = lang_read(&job->ctx, &job->source, LANG_PTX, false);
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
    const char *why = unfit(job);
    if (why)
        printf("SKIP %s: %s: %s\n", path, job->source.name, why);
    for (uint32_t k = 0; k < job->plan.launches.n; k++) {
        const RunLaunch *l = &job->plan.launches.at[k];
        job->number = k + 1;
        job->misses = 0;
        SymId entry = why ? 0 : find_kernel(job, l);
        if (entry)
            run_launch(job, l, entry);
        say(job, l, why ? SKIPPED : job->misses ? FAILED : PASSED, entry);
    }
}

/* -- The driver ----------------------------------------------------------------------------------------- */

// Finds the functions of the driver; the name of one that is not there, or NULL.
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

static void run_job(const Driver *driver, const char *replacement, const char *path, uint32_t *verdicts)
{
    static Job job;  // large
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
    if (job.context)
        driver->context_destroy(job.context);
    source_close(&job.source);
    source_close(&job.run_source);
    heap_release(&job.ctx.heap);
    for (int v = 0; v < VERDICTS; v++)
        verdicts[v] += job.verdicts[v];
}

static int usage(void)
{
    fputs("usage: gpurun [--file PTX] FILE.run...\n", stderr);
    return ST_USAGE;
}

int main(int argc, char **argv)
{
    Driver driver = {0};
    const char *replacement = NULL;
    uint32_t verdicts[VERDICTS] = {0};
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "--file") == 0) {
        replacement = argv[2];
        at = 3;
    }
    if (at == argc || argv[at][0] == '-' || (replacement && argc > at + 1))
        return usage();
    if (!open_driver(&driver))
        return ST_OK;
    for (; at < argc; at++)
        run_job(&driver, replacement, argv[at], verdicts);
    printf("%u passed, %u failed", verdicts[PASSED], verdicts[FAILED]);
    if (verdicts[SKIPPED])
        printf(", %u skipped", verdicts[SKIPPED]);
    putchar('\n');
    return verdicts[FAILED] ? ST_BAD_INPUT : ST_OK;
}
