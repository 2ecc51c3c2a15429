// SPDX-License-Identifier: MIT
// Prepares launches: finds names, fills buffers, lays out parameters. Reports faults.
#include <inttypes.h>
#include <stdio.h>

#include "tools/orirun/run_launch.h"
#include "tools/orirun/run_npy.h"

// Reports an error of the command line or the .run file. Returns false.
#define WRONG(s, place, ...) run_fail((s)->plan, (place) == NO_PLACE ? ST_USAGE : ST_BAD_INPUT, (place), __VA_ARGS__)

void run_state_init(RunState *s, RunPlan *plan, const Module *module, const char *name, Heap *heap, Arena *arena)
{
    *s = (RunState){.plan = plan, .module = module, .name = name, .heap = heap, .arena = arena};
}

void run_state_end(RunState *s)
{
    if (s->machine)
        machine_free(s->machine);
    s->machine = NULL;
}

/* -- Names ---------------------------------------------------------------------------------------------- */

const char *run_sym_name(const RunState *s, SymId sym)
{
    char buf[4096];  // longer names are cut
    const char *text = name_text(&s->module->tables, s->module->syms.at[sym].name, buf, sizeof buf);
    return arena_text(s->arena, text, strlen(text));
}

static bool is_kernel(const Sym *s) { return s->kind == SYM_FUNC && s->flags & SYM_KERNEL && s->flags & SYM_DEFINED; }
static bool has_storage(const Sym *s)
{
    bool defined = s->kind == SYM_VAR && !(s->flags & SYM_EXTERN) && type_info[s->type].class != TC_O;
    return defined && (s->space == SP_GLOBAL || s->space == SP_CONST) && s->size;
}

static void no_such_sym(RunState *s, RunPlace place, const char *name, bool (*is)(const Sym *), const char *what)
{
    VEC(const char *) names = {0};
    for (SymId k = 1; k < s->module->syms.n; k++)
        if (is(&s->module->syms.at[k]))
            VEC_PUSH(s->arena, &names, run_sym_name(s, k));
    const char *near = name ? run_nearest(name, strlen(name), names.at, names.n) : NULL;
    if (!names.n)
        WRONG(s, place, "'%s' has no %ss", s->name, what);
    else if (!name)
        WRONG(s, place, "'%s' has %u %ss, among them '%s': choose one with `entry`", s->name, names.n, what,
              names.at[0]);
    else if (near)
        WRONG(s, place, "'%s' has no %s '%s'; did you mean '%s'?", s->name, what, name, near);
    else
        WRONG(s, place, "'%s' has no %s '%s'; it has '%s'%s", s->name, what, name, names.at[0],
              names.n > 1 ? " and others" : "");
}

// Returns the symbol that satisfies `is` and has this name; without a name, the only one that satisfies `is`. 0: a
// message was written.
static SymId find_sym(RunState *s, RunPlace place, const char *name, bool (*is)(const Sym *), const char *what)
{
    const Module *m = s->module;
    char buf[4096];
    SymId found = 0;
    uint32_t n = 0;
    for (SymId k = 1; k < m->syms.n; k++) {
        const Sym *sym = &m->syms.at[k];
        if (!is(sym) || (name && strcmp(name, name_text(&m->tables, sym->name, buf, sizeof buf)) != 0))
            continue;
        found = k;
        n++;
    }
    if (n != 1)
        no_such_sym(s, place, name, is, what);
    return n == 1 ? found : 0;
}

SymId run_kernel(RunState *s, const RunLaunch *l)
{
    return find_sym(s, l->entry ? l->entry_place : l->place, l->entry, is_kernel, "kernel");
}

/* -- Regions -------------------------------------------------------------------------------------------- */

static uint8_t *bytes_of(const RunState *s, const RunRegion *r)
{
    uint64_t have;
    return r->size ? machine_bytes(s->machine, r->address, &have) : NULL;
}

static uint32_t add_region(RunState *s, RunRegion r)
{
    const uint8_t *bytes = bytes_of(s, &r);
    VEC_PUSH(s->arena, &s->here, ((RunView){.bytes = bytes, .initial = r.symbol ? bytes_digest(bytes, r.size) : 0}));
    VEC_PUSH(s->arena, &s->regions, r);
    return s->regions.n - 1;
}

static void start_machine(RunState *s)
{
    run_state_end(s);
    s->machine = machine_new(s->heap, s->module, s->plan->options);
    s->regions.n = s->here.n = 0;
    for (SymId k = 1; k < s->module->syms.n; k++) {
        RunRegion r = {.name = NULL, .symbol = k, .size = s->module->syms.at[k].size};
        if (!has_storage(&s->module->syms.at[k]))
            continue;
        r.name = run_sym_name(s, k);
        r.address = machine_symbol(s->machine, k);
        add_region(s, r);
    }
}

static const RunRegion *region_of_symbol(const RunState *s, SymId symbol)
{
    uint32_t k = 0;
    while (s->regions.at[k].symbol != symbol)
        k++;
    return &s->regions.at[k];
}

const RunRegion *run_region(RunState *s, const RunTarget *t)
{
    if (t->symbol) {
        SymId symbol = find_sym(s, t->place, t->symbol, has_storage, "variable");
        return symbol ? region_of_symbol(s, symbol) : NULL;
    }
    if (t->arg < s->bounds.n && !s->bounds.at[t->arg].bytes)
        return &s->regions.at[s->bounds.at[t->arg].region];
    WRONG(s, t->place, t->arg < s->bounds.n ? "argument %u has no buffer" : "there is no argument %u", t->arg);
    return NULL;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

static uint32_t address_bytes(const RunState *s) { return s->module->address_size == 32 ? 4 : 8; }

// Opens a file with values of a type (TY_NONE: any). False: a message was written. The caller calls values_close().
static bool open_values(RunState *s, RunPlace place, ValuesFile *file, const char *path, Type t)
{
    char why[VALUES_WHY];
    Status status = values_open(file, path, t, s->arena, why);
    if (status == ST_IO)
        return run_fail(s->plan, status, place, "cannot read '%s': %s", path, why);
    return status == ST_OK || run_fail(s->plan, status, place, "'%s': %s", path, why);
}

static void fill_buffer(const RunArg *a, const ValuesFile *file, uint8_t *bytes, uint64_t size)
{
    if (!bytes)
        return;
    if (a->fill.kind == FILL_FILE)
        memcpy(bytes, file->bytes, size);
    else if (a->fill.kind == FILL_BYTES)
        memcpy(bytes, a->fill.bytes, size);
    else
        fill_write(&a->fill, bytes);
}

// Opens the file of a buffer, whose size may be given. False: a message was written.
static bool open_file(RunState *s, const RunArg *a, ValuesFile *file)
{
    const Fill *f = &a->fill;
    if (!open_values(s, a->place, file, f->path, f->type))
        return false;
    return !f->count || file->size == a->size ||
           run_fail(s->plan, ST_BAD_INPUT, a->place, "'%s' has %" PRIu64 " values of %s, not %" PRIu64, f->path,
                    file->size / value_bytes(f->type), type_info[f->type].name, f->count);
}

static bool new_buffer(RunState *s, const RunArg *a, uint32_t k, RunBound *b)
{
    char *name = arena_alloc(s->arena, 40);
    ValuesFile file = {.size = 0};
    RunRegion r = {.size = a->size};
    if (a->fill.kind == FILL_FILE) {
        if (!open_file(s, a, &file)) {
            values_close(&file);
            return false;
        }
        r.size = file.size;
    }
    snprintf(name, 40, "the buffer of argument %u", k);
    r.address = machine_alloc(s->machine, r.size, name);
    fill_buffer(a, &file, bytes_of(s, &r), r.size);
    values_close(&file);
    b->region = add_region(s, r);
    return true;
}

static bool kept_buffer(RunState *s, const RunLaunch *l, const RunArg *a, const RunBound *before, uint32_t nbefore,
                        RunBound *b)
{
    if (!l->keep)
        return WRONG(s, a->place, "'%s' is only for launches with `keep`", a->text);
    if (a->of >= nbefore || before[a->of].bytes)
        return WRONG(s, a->place, "argument %u of the previous launch has no buffer", a->of);
    *b = before[a->of];
    b->again = false;
    return true;
}

static const char *arg_name(const RunState *s, uint32_t k)
{
    char *name = arena_alloc(s->arena, 16);
    snprintf(name, 16, "arg%u", k);
    return name;
}

const char *run_target_name(const RunState *s, const RunTarget *t)
{
    return t->symbol ? t->symbol : arg_name(s, t->arg);
}

static bool bind(RunState *s, const RunLaunch *l, uint32_t k, const RunBound *before, uint32_t nbefore)
{
    const RunArg *a = &l->args.at[k];
    RunBound b = {0};
    if (a->kind == RA_BUFFER) {
        if (!new_buffer(s, a, k, &b))
            return false;
    } else if (a->kind == RA_KEPT) {
        if (!kept_buffer(s, l, a, before, nbefore, &b))
            return false;
    } else if (a->kind == RA_REF) {
        b = s->bounds.at[a->of];
        b.again = true;
    } else {
        b = (RunBound){.bytes = a->bytes, .size = a->size};
    }
    VEC_PUSH(s->arena, &s->bounds, b);
    if (!b.bytes && !b.again)
        s->regions.at[b.region].name = arg_name(s, k);
    return true;
}

static bool bind_all(RunState *s, const RunLaunch *l)
{
    const RunBound *before = s->bounds.at;
    uint32_t nbefore = s->bounds.n;
    if (l->keep && !l->args.n)
        return true;
    memset(&s->bounds, 0, sizeof s->bounds);
    for (uint32_t k = 0; k < l->args.n; k++)
        if (!bind(s, l, k, before, nbefore))
            return false;
    return true;
}

/* -- Parameters ----------------------------------------------------------------------------------------- */

static bool check_params(RunState *s, const RunLaunch *l, const Launch *launch)
{
    const char *kernel = run_sym_name(s, launch->entry);
    uint32_t n = machine_params(s->module, launch->entry);
    uint64_t bytes;
    if (n != s->bounds.n)
        return WRONG(s, l->place, "'%s' has %u parameter%s, and there %s %u argument%s", kernel, n, n == 1 ? "" : "s",
                     s->bounds.n == 1 ? "is" : "are", s->bounds.n, s->bounds.n == 1 ? "" : "s");
    for (uint32_t k = 0; k < n; k++) {
        const RunBound *b = &s->bounds.at[k];
        uint64_t have = b->bytes ? b->size : address_bytes(s);
        machine_param(s->module, launch->entry, k, &bytes);
        if (have == bytes)
            continue;
        if (k < l->args.n)
            return WRONG(s, l->args.at[k].place, "'%s'%s has %" PRIu64 " byte%s, but parameter %u of '%s' has %" PRIu64,
                         l->args.at[k].text, b->bytes ? "" : ", an address,", have, have == 1 ? "" : "s", k, kernel,
                         bytes);
        return WRONG(s, l->place,
                     "argument %u of the previous launch has %" PRIu64 " bytes, but parameter %u of '%s' has %" PRIu64,
                     k, have, k, kernel, bytes);
    }
    return true;
}

void run_params(const RunState *s, const uint64_t *addresses, Launch *launch)
{
    uint32_t n = s->bounds.n;
    uint64_t bytes = 0, at = n ? machine_param(s->module, launch->entry, n - 1, &bytes) : 0;
    uint8_t *params = arena_zalloc(s->arena, at + bytes + 1);
    launch->params = params;
    launch->nparams = at + bytes;
    for (uint32_t k = 0; k < n; k++) {
        const RunBound *b = &s->bounds.at[k];
        Type address = address_bytes(s) == 4 ? TY_U32 : TY_U64;
        at = machine_param(s->module, launch->entry, k, &bytes);
        if (b->bytes)
            memcpy(params + at, b->bytes, bytes);
        else
            value_store(params + at, address, addresses ? addresses[b->region] : s->regions.at[b->region].address);
    }
}

/* -- Targets in memory ---------------------------------------------------------------------------------- */

// Reads the values of a file, which stay as long as the plan.
static bool read_expected(RunState *s, RunExpect *e)
{
    ValuesFile file;
    bool ok = open_values(s, e->target.place, &file, e->path, e->target.type);
    if (ok) {
        uint8_t *bytes = arena_alloc(s->plan->arena, file.size + 1);
        memcpy(bytes, file.bytes, file.size);
        e->bytes = bytes;
        e->n = file.size / value_bytes(e->target.type);
    }
    values_close(&file);
    return ok;
}

static bool check_expect(RunState *s, RunExpect *e)
{
    const RunRegion *r = e->digest ? NULL : run_region(s, &e->target);
    if (!r)
        return e->digest;
    uint64_t have = r->size / value_bytes(e->target.type);
    if (e->path && !e->bytes && !read_expected(s, e))
        return false;
    uint64_t n = run_expect_count(e);
    if (e->target.first > have || n > have - e->target.first)
        return WRONG(s, e->target.place,
                     "%" PRIu64 " values are expected from index %" PRIu64 " on, but %s has room for %" PRIu64, n,
                     e->target.first, run_target_name(s, &e->target), have);
    return true;
}

// Checks the names in dumps and expectations before the run, so that a wrong one costs no run.
static bool check_targets(RunState *s, const RunLaunch *l)
{
    for (uint32_t k = 0; k < l->dumps.n; k++)
        if (!run_region(s, &l->dumps.at[k]))
            return false;
    for (uint32_t k = 0; k < l->nondet.n; k++) {
        const RunRegion *r = run_region(s, &l->nondet.at[k]);
        if (!r)
            return false;
        s->regions.at[run_region_number(s, r)].nondet = true;
    }
    for (uint32_t k = 0; k < l->expects.n; k++)
        if (!check_expect(s, &l->expects.at[k]))
            return false;
    return true;
}

bool run_prepare(RunState *s, const RunLaunch *l, Launch *launch)
{
    *launch = (Launch){.grid = l->grid, .block = l->block, .cluster = l->cluster, .shared = l->shared};
    launch->entry = run_kernel(s, l);
    s->misses = 0;
    if (!launch->entry)
        return false;
    if (!l->keep)
        start_machine(s);
    for (uint32_t k = 0; k < s->regions.n; k++)
        s->regions.at[k].nondet = false;
    if (!bind_all(s, l) || !check_params(s, l, launch) || !check_targets(s, l))
        return false;
    run_params(s, NULL, launch);
    return true;
}

/* -- Places of instructions ----------------------------------------------------------------------------- */

void run_place(const Source *source, const Fn *fn, InstrId i, char text[static RUN_PLACE])
{
    Diag diag = {.source = source};
    size_t at = source ? fn_where(fn, i) : SIZE_MAX, start;
    uint32_t line, col;
    *text = 0;
    if (at == SIZE_MAX)
        return;
    diag_locate(&diag, at, &line, &col, &start);
    snprintf(text, RUN_PLACE, "%.280s:%u", source->name, line);
}

void run_mnemonic(const Fn *fn, InstrId i, char text[static RUN_MNEMONIC])
{
    Str name = tab_str(fn->tables, tab_mnem(fn->tables, ir_desc(fn, ir_instr(fn, i))->mnem)->text);
    snprintf(text, RUN_MNEMONIC, "%.*s", (int)name.len, name.text);
}

void run_add_source(const Fn *fn, InstrId i, char text[static MACHINE_ERROR_TEXT])
{
    char source[200];
    size_t n = strlen(text);
    fn_source_position(fn, ir_instr(fn, i)->line, source);
    if (*source)
        snprintf(text + n, MACHINE_ERROR_TEXT - n, " (at %s)", source);
}

/* -- Faults --------------------------------------------------------------------------------------------- */

// Reports the other access of a data race.
static void report_other(Diag *diag, const RelatedAccess *o)
{
    size_t at = o->fn ? fn_where(o->fn, o->instr) : SIZE_MAX;
    char text[MACHINE_ERROR_TEXT];
    if (at == SIZE_MAX)
        return;
    snprintf(text, sizeof text, "block %u,%u,%u, thread %u,%u,%u: %s", o->block.x, o->block.y, o->block.z, o->thread.x,
             o->thread.y, o->thread.z, o->text);
    run_add_source(o->fn, o->instr, text);
    diag_at(diag, DIAG_NOTE, at, "%s", text);
}

void run_report_fault(const RunState *s, Diag *diag, const char *what)
{
    const RunError *e = machine_error(s->machine);
    size_t at = e->fn ? fn_where(e->fn, e->instr) : SIZE_MAX;
    char text[MACHINE_ERROR_TEXT];
    machine_error_text(s->machine, text);
    if (at != SIZE_MAX)
        diag_at(diag, DIAG_ERROR, at, "%s, %s", what, text);
    else
        diag_plain(diag, DIAG_ERROR, "%s, %s", what, text);
    report_other(diag, &e->other);
}
