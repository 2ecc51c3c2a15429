// SPDX-License-Identifier: MIT
// Launches before and after phases.
//
// A launch with `keep` uses the memory of the launch before; such chains run as a whole. A chain runs again if one of
// its kernels is the function that changed, or if this function is not a kernel.
#include <inttypes.h>
#include <stdio.h>

#include "phases/module/module.h"
#include "tools/orirun/run_each.h"

// The content of a region after a launch of the original module.
typedef struct SavedRegion {
    const char *name;
    SymId symbol;  // 0: a buffer
    uint64_t size;
    const uint8_t *bytes;
    const uint8_t *defined;  // by byte; NULL: all bytes are
} SavedRegion;

// The results of a launch of the original module.
struct OriginalLaunch {
    const RunLaunch *l;
    SymId entry;
    bool unspecified;  // undefined values decided branches, addresses or barriers
    uint64_t steps;
    TextBuffer printed;
    VEC(SavedRegion) saved_regions;
};

// One chain of launches of a module.
typedef struct Chain {
    RunEach *c;
    RunState state;
    Arena arena;
    RunPlan plan;  // with options of its own
    TextBuffer printed;
    Out print;
    char print_buf[256];
} Chain;

static void chain_start(Chain *chain, RunEach *c, const Module *m)
{
    chain->c = c;
    chain->plan = c->plan;
    arena_init(&chain->arena, &c->ctx->heap);
    chain->printed = (TextBuffer){.arena = &chain->arena};
    chain->print =
        (Out){.write = out_to_text, .user = &chain->printed, .buf = chain->print_buf, .cap = sizeof chain->print_buf};
    chain->plan.options.print = &chain->print;
    run_state_init(&chain->state, &chain->plan, m, c->name, &c->ctx->heap, &chain->arena);
}

static void chain_end(Chain *chain)
{
    run_state_end(&chain->state);
    arena_free(&chain->arena);
}

// Copies the text that the current launch printed.
static TextBuffer collect_printed(Chain *chain)
{
    out_flush(&chain->print);
    TextBuffer printed = chain->printed;
    chain->printed = (TextBuffer){.arena = &chain->arena};
    return printed;
}

static bool is_chain_end(const RunEach *c, uint32_t k)
{
    return k + 1 == c->launches.n || !c->launches.at[k + 1].l->keep;
}

/* -- The original --------------------------------------------------------------------------------------- */

static const char *save_text(RunEach *c, const char *text) { return arena_text(&c->ctx->arena, text, strlen(text)); }

static bool report_fault(RunEach *c, const Chain *chain)
{
    char what[60];
    snprintf(what, sizeof what, "before any phase, launch %u", chain->state.number);
    run_report_fault(&chain->state, &c->ctx->diag, what);
    return false;
}

static void save_regions(RunEach *c, const Chain *chain, OriginalLaunch *launch)
{
    const RunState *s = &chain->state;
    for (uint32_t k = 0; k < s->regions.n; k++) {
        const RunRegion *r = &s->regions.at[k];
        const uint8_t *defined = machine_defined(s->machine, r->address);
        SavedRegion a = {.symbol = r->symbol, .size = r->size};
        if (r->nondet || !r->size)
            continue;
        a.name = save_text(c, r->name);
        a.bytes = arena_copy(&c->ctx->arena, s->here.at[k].bytes, r->size);
        a.defined = defined ? arena_copy(&c->ctx->arena, defined, r->size) : NULL;
        VEC_PUSH(&c->ctx->arena, &launch->saved_regions, a);
    }
}

static bool run_original(RunEach *c, Chain *chain, OriginalLaunch *launch)
{
    Launch l;
    if (!run_prepare(&chain->state, launch->l, &l))
        return false;
    if (!machine_run(chain->state.machine, &l))
        return report_fault(c, chain);
    launch->entry = l.entry;
    launch->steps = machine_steps(chain->state.machine);
    launch->unspecified = machine_unspecified(chain->state.machine);
    TextBuffer printed = collect_printed(chain);
    launch->printed = (TextBuffer){.at = arena_copy(&c->ctx->arena, printed.at, printed.n), .n = printed.n};
    save_regions(c, chain, launch);
    return true;
}

/* -- Differences ---------------------------------------------------------------------------------------- */

static _Noreturn void differ(RunEach *c, const Fn *fn, const char *what)
{
    char where[200] = "the output, read back", function[100];
    if (c->row >= 0) {
        int n = snprintf(where, sizeof where, "%s (phase %d)", phase_info[c->row].name, c->row);
        if (fn)
            snprintf(where + n, sizeof where - (size_t)n, ", function %s",
                     name_text(fn->tables, fn->module->syms.at[fn->sym].name, function, sizeof function));
    }
    heap_fail(&c->ctx->heap, ST_INTERNAL, "%s: %s", where, what);
}

// Returns the type in which values of a region are shown: that of the generator, or else that of an expectation.
static Type type_of(const OriginalLaunch *launch, const RunState *s, uint32_t region)
{
    const RunLaunch *l = launch->l;
    for (uint32_t k = 0; k < MIN(l->args.n, s->bounds.n); k++)
        if (!s->bounds.at[k].bytes && s->bounds.at[k].region == region && l->args.at[k].fill.type != TY_NONE)
            return l->args.at[k].fill.type;
    for (uint32_t k = 0; k < l->expects.n; k++) {
        const RunTarget *t = &l->expects.at[k].target;
        bool is = !t->symbol && t->arg < s->bounds.n && s->bounds.at[t->arg].region == region;
        if (is && t->type != TY_NONE)
            return t->type;
    }
    return s->regions.at[region].size % 4 ? TY_B8 : TY_B32;
}

// Appends ` at k.ptx:131 (at k.cu:15)`, the known ones of the two places of an instruction.
static void print_place(const RunEach *c, const Fn *fn, InstrId i, Out *out)
{
    char place[RUN_PLACE], source[MACHINE_ERROR_TEXT] = "";
    run_place(c->source, fn, i, place);
    run_add_source(fn, i, source);
    out_fmt(out, "%s%s%s", *place ? " at " : "", place, source);
}

static void print_writer(const RunEach *c, const RunState *s, Dim size, uint64_t address, Out *out)
{
    Dim block, thread;
    const Fn *fn;
    char mnemonic[RUN_MNEMONIC];
    if (!machine_writer(s->machine, address, &block, &thread))
        return;
    InstrId store = machine_store(s->machine, address, &fn);
    run_mnemonic(fn, store, mnemonic);
    out_fmt(out, "; block %u,%u,%u, thread %u,%u,%u (lane %u) wrote it, by %s", block.x, block.y, block.z, thread.x,
            thread.y, thread.z, ((thread.z * size.y + thread.y) * size.x + thread.x) % 32, mnemonic);
    print_place(c, fn, store, out);
}

// Fails because of a different byte at an offset of a region.
static _Noreturn void differ_at(RunEach *c, const Fn *fn, const Chain *chain, const OriginalLaunch *launch,
                                uint32_t region, const SavedRegion *a, uint64_t offset)
{
    const RunState *s = &chain->state;
    Type t = type_of(launch, s, region);
    uint64_t size = value_bytes(t), index = offset / size;
    char text[1200];
    Out out = {.buf = text, .cap = sizeof text - 1};
    if ((index + 1) * size > a->size) {
        t = TY_B8;
        size = 1;
        index = offset;
    }
    out_fmt(&out, "launch %u: %.60s:%s[%" PRIu64 "] is ", s->number, a->name, type_info[t].name, index);
    value_print(&out, t, value_load(s->here.at[region].bytes + index * size, t));
    out_z(&out, ", it was ");
    value_print(&out, t, value_load(a->bytes + index * size, t));
    print_writer(c, s, launch->l->block, s->regions.at[region].address + offset, &out);
    text[out.n] = 0;
    differ(c, fn, text);
}

// Returns the region of a saved one, from `from` on and then from the start. Variables may have other numbers in a
// module that was read back, or be gone. A chain of launches has several buffers with one name, in their order; those
// that were found are `used`.
static uint32_t find_region(const RunState *s, const SavedRegion *a, uint32_t from, bool *used)
{
    for (uint32_t k = 0; k < s->regions.n; k++) {
        uint32_t at = (from + k) % s->regions.n;
        const RunRegion *r = &s->regions.at[at];
        if (used[at] || r->nondet || !r->symbol != !a->symbol || r->size != a->size || strcmp(r->name, a->name) != 0)
            continue;
        used[at] = true;
        return at;
    }
    return UINT32_MAX;
}

// Returns the offset of the first defined byte that differs; the size if no byte does.
static uint64_t first_difference(const SavedRegion *a, const uint8_t *bytes)
{
    if (memcmp(a->bytes, bytes, a->size) == 0)
        return a->size;
    uint64_t k = 0;
    while (k < a->size && (a->bytes[k] == bytes[k] || (a->defined && !a->defined[k])))
        k++;
    return k;
}

static void compare(RunEach *c, const Fn *fn, Chain *chain, const OriginalLaunch *launch)
{
    const RunState *s = &chain->state;
    TextBuffer printed = collect_printed(chain);
    uint32_t next = 0;
    Arena scratch;
    arena_init(&scratch, &c->ctx->heap);
    bool *used = NEW_ARRAY(&scratch, bool, s->regions.n);
    for (uint32_t k = 0; k < launch->saved_regions.n; k++) {
        const SavedRegion *a = &launch->saved_regions.at[k];
        uint32_t region = find_region(s, a, next, used);
        next = region == UINT32_MAX ? next : region + 1;
        if (region == UINT32_MAX || (a->symbol && module_internalizes(c->ctx, c->module, a->symbol)))
            continue;  // the module no longer uses the variable, or nothing else may read it
        uint64_t offset = first_difference(a, s->here.at[region].bytes);
        if (offset < a->size)
            differ_at(c, fn, chain, launch, region, a, offset);
    }
    arena_free(&scratch);
    if (printed.n != launch->printed.n || (printed.n && memcmp(printed.at, launch->printed.at, printed.n) != 0)) {
        char text[100];
        snprintf(text, sizeof text, "launch %u prints different text", s->number);
        differ(c, fn, text);
    }
}

/* -- Running again -------------------------------------------------------------------------------------- */

static _Noreturn void differ_in_fault(RunEach *c, const Fn *fn, const Chain *chain)
{
    const RunError *e = machine_error(chain->state.machine);
    char text[MACHINE_ERROR_TEXT + RUN_PLACE + 100], fault[MACHINE_ERROR_TEXT], place[RUN_PLACE] = "";
    machine_error_text(chain->state.machine, fault);
    if (e->fn)
        run_place(c->source, e->fn, e->instr, place);
    snprintf(text, sizeof text, "launch %u: %s%s%s", chain->state.number, place, *place ? ": " : "", fault);
    differ(c, fn, text);
}

static void run_again(RunEach *c, const Fn *fn, const Module *m, uint32_t first, uint32_t end)
{
    Chain chain;
    Launch l;
    uint64_t steps = 0;
    chain_start(&chain, c, m);
    chain.plan.options.record_writers = true;
    for (uint32_t k = first; k < end; k++)  // one limit, since the machine is made for the first launch
        steps = MAX(steps, c->launches.at[k].steps);
    chain.plan.options.max_steps = 4 * steps + 10000;
    for (uint32_t k = first; k < end; k++) {
        const OriginalLaunch *launch = &c->launches.at[k];
        if (launch->unspecified)
            break;  // later results are undefined
        chain.state.number = k + 1;
        c->runs++;
        if (!run_prepare(&chain.state, launch->l, &l))
            differ(c, fn, "a launch does not fit the module any more");
        if (!machine_run(chain.state.machine, &l))
            differ_in_fault(c, fn, &chain);
        compare(c, fn, &chain, launch);
    }
    chain_end(&chain);
}

// True if a launch of the chain may reach the function.
static bool runs_function(const RunEach *c, uint32_t first, uint32_t end, const Fn *fn)
{
    bool any = !fn || !(fn->module->syms.at[fn->sym].flags & SYM_KERNEL);
    for (uint32_t k = first; k < end; k++)
        any |= fn && c->launches.at[k].entry == fn->sym;
    return any;
}

// Returns a hash of the functions that a chain may reach: its kernels, and all functions that are not kernels.
static uint64_t reachable_hash(const RunEach *c, const Module *m, uint32_t first, uint32_t end)
{
    uint64_t hash = first;
    for (uint32_t f = 0; f < m->fns.n; f++) {
        const Fn *fn = m->fns.at[f];
        if (fn && fn->flags & FN_DEFINED && runs_function(c, first, end, fn))
            hash = hash_mix(hash, phase_text_hash(fn));
    }
    return hash;
}

static bool has_passed(const RunEach *c, uint64_t hash)
{
    for (uint32_t k = 0; k < c->passed.n; k++)
        if (c->passed.at[k] == hash)
            return true;
    return false;
}

// Runs the chains that may reach `fn`, which changed; NULL: any function may have changed. `text` is a hash of the text
// that the module was read from; 0 = the original.
static void check_module(RunEach *c, const Fn *fn, const Module *m, uint64_t text)
{
    for (uint32_t first = 0, k = 0; k < c->launches.n; k++) {
        if (!is_chain_end(c, k))
            continue;
        uint64_t hash = runs_function(c, first, k + 1, fn) ? hash_mix(text, reachable_hash(c, m, first, k + 1)) : 0;
        if (hash && !has_passed(c, hash)) {
            run_again(c, fn, m, first, k + 1);
            VEC_PUSH(c->plan.arena, &c->passed, hash);
        }
        first = k + 1;
    }
}

static void free_before(RunEach *c)
{
    if (c->before)
        fn_free(c->before);
    c->before = NULL;
}

static void watch_before(void *user, Fn *fn, int row)
{
    RunEach *c = user;
    free_before(c);
    c->before = fn ? fn_clone(fn) : NULL;
    c->row = row;
}

static void watch_after(void *user, Fn *fn, int row, bool progress)
{
    RunEach *c = user;
    c->row = row;
    if (progress)
        check_module(c, fn, c->module, 0);
    free_before(c);
}

/* -- Interface ------------------------------------------------------------------------------------------ */

Status run_each_read(RunEach *c, Ctx *ctx, const Source *source)
{
    *c = (RunEach){.ctx = ctx};
    run_plan_init(&c->plan, "oriopt", &ctx->arena, ctx->diag.write, ctx->diag.user);
    run_plan_read(&c->plan, source);
    return c->plan.status;
}

bool run_each_start(RunEach *c, Module *m, const char *name)
{
    Chain chain;
    bool ok = true;
    c->module = m;
    c->name = name;
    c->source = c->ctx->diag.source;
    for (uint32_t k = 0; k < c->plan.launches.n; k++)
        VEC_PUSH(&c->ctx->arena, &c->launches, ((OriginalLaunch){.l = &c->plan.launches.at[k]}));
    for (uint32_t k = 0; k < c->launches.n && ok; k++) {
        OriginalLaunch *launch = &c->launches.at[k];
        if (!launch->l->keep) {
            chain_start(&chain, c, m);
            chain.plan.options.follow_undef = true;
        }
        chain.state.number = k + 1;
        ok = run_original(c, &chain, launch);
        if (is_chain_end(c, k) || !ok)
            chain_end(&chain);
    }
    c->ctx->watch = (PhaseWatch){c, watch_before, watch_after};
    return ok;
}

void run_each_again(RunEach *c, Ctx *ctx, Module *m)
{
    run_each_close(c);
    c->ctx = ctx;
    c->module = m;
    c->ctx->watch = (PhaseWatch){c, watch_before, watch_after};
}

void run_each_output(RunEach *c, TextBuffer *text, Lang lang)
{
    Source source = text_source(text, "output");
    const Source *input = c->ctx->diag.source, *positions = c->source;
    c->row = -1;
    c->ctx->diag.errors_only = true;  // the input had the same warnings
    Module *again = lang_read(c->ctx, &source, (LangOptions){.lang = lang});
    c->ctx->diag.errors_only = false;
    c->ctx->diag.source = input;
    c->ctx->diag.line = 0;
    if (!again)
        differ(c, NULL, "the output cannot be read");
    module_freeze(again);
    c->source = &source;
    check_module(c, NULL, again, hash_mix(source.len, hash_bytes(source.text, source.len)));
    c->source = positions;
    module_free(again);
}

void run_each_close(RunEach *c)
{
    if (c->ctx) {
        free_before(c);
        c->ctx->watch = (PhaseWatch){0};
    }
}

/* -- For reproducers ------------------------------------------------------------------------------------ */

static void print_dim(Out *out, const char *prefix, const char *name, Dim d)
{
    out_fmt(out, "%s%s %u,%u,%u\n", prefix, name, d.x, d.y, d.z);
}

// Prints an argument; the bytes of files are included.
static void print_arg(RunEach *c, const RunArg *a, const char *prefix, Out *out)
{
    char why[200];
    Source file;
    if (a->kind != RA_BUFFER || a->fill.kind != FILL_FILE) {
        out_fmt(out, "%sarg \"%s\"\n", prefix, a->text);
        return;
    }
    if (!source_open(&file, a->fill.path, &c->ctx->arena, why))
        return;
    out_fmt(out, "%sarg buf:hex:", prefix);
    for (size_t k = 0; k < file.len; k++)
        out_fmt(out, "%02x", (uint8_t)file.text[k]);
    out_char(out, '\n');
    source_close(&file);
}

void run_each_print(RunEach *c, const char *prefix, Out *out)
{
    out_fmt(out, "%sfile -\n", prefix);
    for (uint32_t k = 0; k < c->plan.launches.n; k++) {
        const RunLaunch *l = &c->plan.launches.at[k];
        if (k)
            out_fmt(out, "%s---\n", prefix);
        if (l->entry)
            out_fmt(out, "%sentry \"%s\"\n", prefix, l->entry);
        print_dim(out, prefix, "grid", l->grid);
        print_dim(out, prefix, "block", l->block);
        if (l->cluster.x)
            print_dim(out, prefix, "cluster", l->cluster);
        if (l->shared)
            out_fmt(out, "%sshared %u\n", prefix, l->shared);
        if (l->keep)
            out_fmt(out, "%skeep\n", prefix);
        for (uint32_t n = 0; n < l->args.n; n++)
            print_arg(c, &l->args.at[n], prefix, out);
        for (uint32_t n = 0; n < l->nondet.n; n++) {
            const RunTarget *t = &l->nondet.at[n];
            if (t->symbol)
                out_fmt(out, "%snondet \"%s\"\n", prefix, t->symbol);
            else
                out_fmt(out, "%snondet %u\n", prefix, t->arg);
        }
    }
}
