// SPDX-License-Identifier: MIT
// Implements ori.h. Each call that may fail runs under a guard, to which failures unwind.
#include <stdio.h>
#include <stdlib.h>

#include "tools/lib/batch.h"
#include "tools/lib/ori_internal.h"
#include "tools/options/options.h"

_Static_assert(sizeof(void *) == 8, "the library requires 64-bit addresses");
#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the library requires a little-endian machine");
#endif

enum { LEVEL_MAX = 4 };

const char *ori_version(void) { return ORI_VERSION; }

const char *ori_status_text(OriStatus status)
{
    static const char *const texts[] = {"done",           "bad input",           "wrong use",
                                        "internal error", "a limit was reached", "cannot write"};
    return (unsigned)status < ARRAY_LEN(texts) ? texts[status] : "no status";
}

/* -- Contexts ------------------------------------------------------------------------------------------- */

static void *alloc_default(void *user, size_t bytes) { return (void)user, malloc(bytes); }

static void free_default(void *user, void *p, size_t bytes)
{
    (void)user, (void)bytes;
    free(p);
}

static void receive(void *user, const DiagMessage *message)
{
    OriContext *ori = user;
    OriMessage m = {.severity = (OriSeverity)message->severity,
                    .file = message->file,
                    .line = message->line,
                    .column = message->col,
                    .text = message->text,
                    .rendered = message->rendered};
    if (ori->on_message.call)
        ori->on_message.call(ori->on_message.user, &m);
}

OriContext *ori_open(const OriAllocator *given)
{
    Allocator a = {alloc_default, free_default, NULL};
    if (given)
        a = (Allocator){given->alloc, given->free, given->user};
    OriContext *ori = a.alloc(a.user, sizeof *ori);
    if (!ori)
        return NULL;
    *ori = (OriContext){.allocator = a, .threads = 1};
    Ctx *ctx = &ori->ctx;
    ctx->heap.allocator = given ? a : (Allocator){0};
    ctx->options = phase_default_options();
    ctx->options.positions = true;  // for faults of ori_run()
    ctx->diag = (Diag){.report = receive, .user = ori, .program = "ori"};
    ctx_begin(ctx);
    arena_init(&ori->settings, &ctx->heap);
    arena_init(&ori->names, &ctx->heap);
    run_init(ori);
    return ori;
}

void ori_close(OriContext *ori)
{
    if (!ori)
        return;
    Allocator a = ori->allocator;
    for (OriModule *m = ori->modules; m; m = m->next)
        run_end(m);
    heap_release(&ori->ctx.heap);
    a.free(a.user, ori, sizeof *ori);
}

#define ON(what, Type)                                             \
    void ori_on_##what(OriContext *ori, Type *receive, void *user) \
    {                                                              \
        ori->on_##what.call = receive;                             \
        ori->on_##what.user = user;                                \
    }
ON(message, OriMessageFn)
ON(remark, OriRemarkFn)
ON(report, OriReportFn)
ON(function_stats, OriFunctionStatsFn)
ON(phase_stats, OriPhaseStatsFn)
ON(print, OriReportFn)

/* -- Calls ---------------------------------------------------------------------------------------------- */

OriStatus wrong_use(OriContext *ori, const char *what)
{
    diag_plain(&ori->ctx.diag, DIAG_ERROR, "%s", what);
    return ORI_USAGE;
}

static bool pass_report_on(void *user, const char *text, size_t n)
{
    OriContext *ori = user;
    ori->on_report.call(ori->on_report.user, text, n);
    return true;
}

// Ends a call that returned or was unwound: frees its memory and clears the pointers to it.
static void end_call(OriContext *ori)
{
    Ctx *ctx = &ori->ctx;
    if (ctx->report)
        out_flush(ctx->report);
    ctx->report = NULL;
    if (ctx->knobs.store)
        knobs_free(&ctx->knobs);
    arena_free(&ori->remarks.arena);
    arena_free(&ctx->arena);
    ctx_begin(ctx);
}

OriStatus guarded(Call *call, OriStatus (*body)(Call *))
{
    Ctx *ctx = &call->ori->ctx;
    jmp_buf unwind;
    volatile OriStatus status;
    ctx->heap.unwind = &unwind;
    ctx->deadline = call->ori->seconds > 0 ? phase_total_clock() + call->ori->seconds : 0;
    if (setjmp(unwind)) {
        ctx->diag.source = NULL;
        diag_plain(&ctx->diag, DIAG_ERROR, "%s%s", ctx->heap.status == ST_INTERNAL ? "internal error: " : "",
                   ctx->heap.message);
        status = (OriStatus)ctx->heap.status;
    } else {
        if (!ctx->settings)
            ctx->settings = phase_knobs(&call->ori->settings);
        status = body(call);
    }
    end_call(call->ori);
    return status;
}

static Lang language_of(OriLanguage language)
{
    return language == ORI_PTX ? LANG_PTX : language == ORI_TEXT ? LANG_ORI : LANG_AUTO;
}

/* -- Settings ------------------------------------------------------------------------------------------- */

OriStatus ori_set_level(OriContext *ori, int level)
{
    if (level < 0 || level > LEVEL_MAX)
        return wrong_use(ori, "the optimization level is a number from 0 to 4");
    ori->ctx.options.level = level;
    return ORI_OK;
}

OriStatus ori_set_target(OriContext *ori, const char *sm)
{
    char why[300];
    SmTarget target = {0};
    if (sm && !sm_find(sm, &target, why))
        return wrong_use(ori, why);
    ori->ctx.options.target = target;
    return ORI_OK;
}

OriStatus ori_set_ptx_version(OriContext *ori, const char *version)
{
    ori->version = version ? ptx_version(version, strlen(version)) : 0;
    if (!version || ori->version)
        return ORI_OK;
    return wrong_use(ori, "ori_set_ptx_version() takes a version of PTX from 3.1 to 9.0, such as \"7.8\"");
}

OriStatus ori_set_threads(OriContext *ori, unsigned threads)
{
    if (threads < 1 || threads > 1024)
        return wrong_use(ori, "the number of threads is one from 1 to 1024");
    ori->threads = threads;
    return ORI_OK;
}

OriStatus ori_set_limits(OriContext *ori, size_t bytes, double seconds)
{
    ori->ctx.heap.limit = bytes;
    ori->seconds = seconds;
    return ORI_OK;
}

OriStatus ori_set_max_instructions(OriContext *ori, unsigned long long instructions)
{
    ori->max_instructions = instructions;
    return ORI_OK;
}

OriStatus ori_set_verify(OriContext *ori, OriVerify when)
{
    static const VerifyMode modes[] = {VM_NONE, VM_FINAL, VM_EACH};
    if ((unsigned)when >= ARRAY_LEN(modes))
        return wrong_use(ori, "ori_set_verify() takes ORI_VERIFY_NEVER, ORI_VERIFY_LAST or ORI_VERIFY_EACH");
    ori->ctx.options.verify = modes[when];
    return ORI_OK;
}

// Reads the earlier texts and a new one into a store of its own. An error leaves the old store in force.
static OriStatus set_knobs(Call *call)
{
    OriContext *ori = call->ori;
    Ctx *ctx = &ori->ctx;
    Arena arena;
    arena_init(&arena, &ctx->heap);
    KnobStore *store = phase_knobs(&arena);
    VEC(char *) texts = {0};
    bool ok = true;
    for (uint32_t k = 0; k <= ori->texts.n; k++) {
        const char *text = k < ori->texts.n ? ori->texts.at[k] : call->text;
        Source source = {.name = "knobs", .text = text, .len = strlen(text)};
        ctx->diag.source = &source;
        ctx->diag.line = 0;
        ok &= knob_read(store, KS_COMMAND_LINE, &ctx->diag);
        VEC_PUSH(&arena, &texts, arena_text(&arena, text, source.len));
    }
    Arena old = ok ? ori->settings : arena;
    if (ok) {
        ori->settings = arena;
        ori->texts.at = texts.at;
        ori->texts.n = texts.n;
        ori->texts.cap = texts.cap;
        ctx->settings = store;
    }
    arena_free(&old);
    return ok ? ORI_OK : ORI_BAD_INPUT;
}

OriStatus ori_set_knobs(OriContext *ori, const char *settings)
{
    Call call = {.ori = ori, .text = settings};
    return guarded(&call, set_knobs);
}

static OriStatus get_knob(Call *call)
{
    Ctx *ctx = &call->ori->ctx;
    int row = knob_find(&knob_table, call->text, strlen(call->text));
    if (row < 0)
        return wrong_use(call->ori, "there is no knob of this name");
    const KnobSetting *s = knob_store_setting(ctx->settings, row);
    call->value = s && s->written ? s->written : s ? "1" : "";
    return ORI_OK;
}

OriStatus ori_get_knob(OriContext *ori, const char *name, char *value, size_t size)
{
    Call call = {.ori = ori, .text = name};
    OriStatus status = guarded(&call, get_knob);
    if (status == ORI_OK && size)
        snprintf(value, size, "%s", call.value);
    return status;
}

static OriStatus set_entries(Call *call)
{
    OriContext *ori = call->ori;
    Arena arena;
    arena_init(&arena, &ori->ctx.heap);
    const char **names = NEW_ARRAY(&arena, const char *, call->count);
    for (size_t k = 0; k < call->count; k++)
        names[k] = arena_text(&arena, call->names[k], strlen(call->names[k]));
    ori->entries = (Entries){.names = names, .seen = NEW_ARRAY(&arena, bool, call->count), .n = call->count};
    arena_free(&ori->names);
    ori->names = arena;
    return ORI_OK;
}

OriStatus ori_set_entries(OriContext *ori, const char *const *names, size_t count)
{
    Call call = {.ori = ori, .names = names, .count = count};
    return guarded(&call, set_entries);
}

// Finds the row of a phase, -1 without a text. False: there is no such phase.
static bool find_row(OriContext *ori, const char *text, int *row)
{
    char why[400];
    *row = text ? phase_find(text, strlen(text), why) : -1;
    if (text && *row < 0)
        wrong_use(ori, why);
    return !text || *row >= 0;
}

OriStatus ori_set_range(OriContext *ori, const char *start_before, const char *stop_after)
{
    PhaseOptions *o = &ori->ctx.options;
    int start, stop;
    if (!find_row(ori, start_before, &start) || !find_row(ori, stop_after, &stop))
        return ORI_USAGE;
    snprintf(ori->start, sizeof ori->start, "%d", start);
    snprintf(ori->stop, sizeof ori->stop, "%d", stop);
    o->start = start_before ? ori->start : NULL;
    o->stop = stop_after ? ori->stop : NULL;
    return ORI_OK;
}

/* -- Modules -------------------------------------------------------------------------------------------- */

static const char *text_of(const Module *m, Name name, Arena *arena)
{
    size_t cap = tab_str(&m->tables, name.stem).len + 13;
    return name_text(&m->tables, name, arena_alloc(arena, cap), cap);
}

static void check_instructions(const OriContext *ori, const Module *m)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->fns.n; k++)
        n += m->fns.at[k]->ninstrs;
    if (ori->max_instructions && n > ori->max_instructions)
        heap_fail(m->arena.heap, ST_LIMIT, "the module has %llu instructions, more than the limit allows",
                  (unsigned long long)n);
}

// Reads a module from its text.
static OriStatus read_module(Call *call, const Source *source, Module **module)
{
    Ctx *ctx = &call->ori->ctx;
    char why[500];
    Lang lang = language_of(call->language);
    ctx->diag.line = 0;
    Module *m = *module = lang_read(ctx, source, (LangOptions){.lang = lang, .version = call->ori->version});
    if (!m)
        return ORI_BAD_INPUT;
    call->lang = lang == LANG_AUTO ? lang_of(source) : lang;
    OriStatus status = !phase_plan(ctx, m, why)          ? wrong_use(call->ori, why)
                       : !phase_check_pragmas(ctx, m, 0) ? ORI_BAD_INPUT
                                                         : ORI_OK;
    if (status != ORI_OK)
        module_free(m);
    return status;
}

// Copies the text, since readers need slack after its end, and faults of ori_run() name lines of it.
static OriStatus parse(Call *call)
{
    OriContext *ori = call->ori;
    Arena arena;
    arena_init(&arena, &ori->ctx.heap);
    TextBuffer text = {.arena = &arena};
    out_to_text(&text, call->source->text, call->source->len);
    const char *name = arena_text(&arena, call->source->name, strlen(call->source->name));
    Source source = text_source(&text, name);
    Module *m;
    OriStatus status = read_module(call, &source, &m);
    if (status != ORI_OK) {
        arena_free(&arena);
        return status;
    }
    check_instructions(ori, m);
    module_freeze(m);
    OriModule *module = call->module = NEW(&m->arena, OriModule);
    *module = (OriModule){.next = ori->modules,
                          .m = m,
                          .lang = call->lang,
                          .count = m->fns.n,
                          .names = NEW_ARRAY(&m->arena, const char *, m->fns.n),
                          .text = arena,
                          .source = source};
    for (uint32_t k = 0; k < m->fns.n; k++)
        module->names[k] = text_of(m, m->syms.at[m->fns.at[k]->sym].name, &m->arena);
    ori->modules = module;
    return ORI_OK;
}

OriModule *ori_parse(OriContext *ori, const char *name, const char *text, size_t size, OriLanguage language)
{
    Source source = {.name = name ? name : "<text>", .text = text, .len = size};
    Call call = {.ori = ori, .source = &source, .language = language};
    ori->parse_status = guarded(&call, parse);
    return ori->parse_status == ORI_OK ? call.module : NULL;
}

OriStatus ori_parse_status(const OriContext *ori) { return ori->parse_status; }

/* -- Running phases ------------------------------------------------------------------------------------- */

static void pass_remark(OriContext *ori, const Remark *m)
{
    Arena *arena = &ori->ctx.arena;
    OriRemarkPart *parts = NEW_ARRAY(arena, OriRemarkPart, m->args.n);
    for (uint32_t k = 0; k < m->args.n; k++)
        parts[k] = (OriRemarkPart){m->args.at[k].key, m->args.at[k].text};
    OriRemark remark = {.kind = (OriRemarkKind)m->kind,
                        .phase = phase_info[m->row].name,
                        .name = m->name,
                        .function = m->function,
                        .file = m->path,
                        .line = m->path ? m->line : 0,
                        .column = m->path ? m->col : 0,
                        .text = remark_text(m, arena),
                        .parts = parts,
                        .part_count = m->args.n};
    ori->on_remark.call(ori->on_remark.user, &remark);
}

static void pass_function_stats(OriContext *ori, const Module *m, const FnStats *s)
{
    OriFunctionStats stats = {.function = text_of(m, s->name, &ori->ctx.arena),
                              .instructions_in = s->instrs_in,
                              .instructions = s->instrs_out,
                              .blocks_in = s->blocks_in,
                              .blocks = s->blocks_out,
                              .reachable_blocks = s->reachable_out,
                              .registers_in = s->regs_in,
                              .registers = s->regs_out,
                              .phases_run = s->ran,
                              .phases_changed = s->changed,
                              .arena_bytes = s->arena_bytes,
                              .hash = s->hash,
                              .text_hash = s->text_hash,
                              .seconds = s->seconds};
    ori->on_function_stats.call(ori->on_function_stats.user, &stats);
}

static void pass_phase_stats(OriContext *ori, int row)
{
    const Ctx *ctx = &ori->ctx;
    OriPhaseStats stats = {.index = row,
                           .phase = phase_info[row].name,
                           .runs = ctx->runs[row],
                           .changed = ctx->progress[row],
                           .seconds = ctx->seconds[row]};
    ori->on_phase_stats.call(ori->on_phase_stats.user, &stats);
}

// Prepares the context for the receivers that are set.
static void start_collecting(OriContext *ori)
{
    Ctx *ctx = &ori->ctx;
    ctx->options.stats = ori->on_function_stats.call;
    ctx->options.timing = ori->on_phase_stats.call;
    if (ori->on_remark.call) {
        remarks_init(&ori->remarks, &ctx->heap, NULL);
        ctx->remarks = &ori->remarks;
    }
    if (ori->on_report.call) {
        out_init(&ori->report, &ctx->arena, pass_report_on, ori);
        ctx->report = &ori->report;
    }
}

// Passes the results of the phases on the module to the receivers.
static void pass_collected(OriContext *ori, const Module *m)
{
    Ctx *ctx = &ori->ctx;
    if (ctx->remarks)
        remarks_name_files(ctx->remarks, m);
    for (uint32_t k = 0; ctx->remarks && k < ctx->remarks->at.n; k++)
        pass_remark(ori, &ctx->remarks->at.at[k]);
    for (uint32_t k = 0; ori->on_function_stats.call && k < ctx->stats.n; k++)
        pass_function_stats(ori, m, &ctx->stats.at[k]);
    for (int row = 0; ori->on_phase_stats.call && row < PHASE_ROWS; row++)
        if (ctx->runs[row])
            pass_phase_stats(ori, row);
}

static OriStatus check_entries(OriContext *ori, const Module *m)
{
    Entries *entries = &ori->entries;
    entries_clear(entries);
    for (uint32_t k = 0; k < m->fns.n; k++)
        if (m->fns.at[k])
            entries_note(entries, m->fns.at[k]);
    const char *missing = entries_missing(entries);
    if (missing)
        diag_plain(&ori->ctx.diag, DIAG_ERROR, "the module has no function '%s', which ori_set_entries() names",
                   missing);
    return missing ? ORI_USAGE : ORI_OK;
}

static OriStatus run_plan(Call *call)
{
    Ctx *ctx = &call->ori->ctx;
    char why[500];
    OriContext *ori = call->ori;
    Module *m = call->module->m;
    if (!phase_plan(ctx, m, why))
        return wrong_use(ori, why);
    if (check_entries(ori, m) != ORI_OK)
        return ORI_USAGE;
    start_collecting(ori);
    run_end(call->module);
    call->module->broken = true;  // until the phases have run
    batch_run(&(Batch){.ctx = ctx,
                       .module = m,
                       .end = m->items.n,
                       .whole = true,
                       .wanted = entries_have,
                       .user = &ori->entries,
                       .threads = phase_may_report(ctx, m) ? 1 : ori->threads,
                       .keep = true});
    call->module->broken = false;
    pass_collected(ori, m);
    return ORI_OK;
}

static OriStatus run(OriContext *ori, OriModule *module, const char *phases)
{
    Call call = {.ori = ori, .module = module};
    if (module->broken)
        return wrong_use(ori, "the module is broken, because an earlier call failed");
    ori->ctx.options.named = phases;
    ori->ctx.options.stay_in_ssa = phases;
    OriStatus status = guarded(&call, run_plan);
    ori->ctx.options.named = NULL;
    return status;
}

OriStatus ori_optimize(OriContext *ori, OriModule *module) { return run(ori, module, NULL); }

OriStatus ori_run_phases(OriContext *ori, OriModule *module, const char *phases) { return run(ori, module, phases); }

/* -- Writing -------------------------------------------------------------------------------------------- */

static bool pass_on(void *user, const char *text, size_t n)
{
    Call *call = user;
    return call->write(call->user, text, n);
}

static OriStatus print(Call *call)
{
    Ctx *ctx = &call->ori->ctx;
    Module *m = call->module->m;
    Lang lang = language_of(call->language);
    Out out;
    out_init(&out, &ctx->arena, pass_on, call);
    lang = lang == LANG_AUTO ? call->module->lang : lang;
    for (uint32_t k = 0; k < m->fns.n && lang == LANG_ORI; k++)
        if (m->fns.at[k])
            fn_renumber(m->fns.at[k]);
    lang_write_header(m, lang, &out);
    for (uint32_t k = 0; k < m->items.n; k++)
        lang_write_item(m, &m->items.at[k], lang, &out);
    out_flush(&out);
    return out.failed ? ORI_IO : ORI_OK;
}

OriStatus ori_print(OriContext *ori, OriModule *module, OriLanguage language, OriWriteFn *write, void *user)
{
    Call call = {.ori = ori, .module = module, .language = language, .write = write, .user = user};
    return module->broken ? wrong_use(ori, "the module is broken, because an earlier call failed")
                          : guarded(&call, print);
}

void ori_free(OriContext *ori, OriModule *module)
{
    if (!module)
        return;
    OriModule **at = &ori->modules;
    while (*at != module)
        at = &(*at)->next;
    *at = module->next;
    run_end(module);
    Arena text = module->text;
    module_free(module->m);
    arena_free(&text);
}

size_t ori_function_count(const OriModule *module) { return module->count; }

const char *ori_function_name(const OriModule *module, size_t index)
{
    return index < module->count ? module->names[index] : NULL;
}

/* -- Tables --------------------------------------------------------------------------------------------- */

void ori_list_phases(OriPhaseFn *receive, void *user)
{
    for (int row = 0; row < PHASE_ROWS; row++) {
        const PhaseInfo *p = &phase_info[row];
        bool only_0 = p->gate == PG_O0_ONLY;
        OriPhase phase = {.index = row,
                          .name = p->name,
                          .kind = phase_kind_name(p->kind),
                          .status = phase_status(row),
                          .form = phase_form_name(p->form),
                          .min_level = only_0 ? 0 : (int)p->gate,
                          .max_level = only_0 ? 0 : LEVEL_MAX,
                          .summary = p->summary};
        receive(user, &phase);
    }
}

void ori_list_knobs(OriKnobFn *receive, void *user)
{
    for (int row = 0; row < knob_table.n; row++) {
        const KnobInfo *info = &knob_table.rows[row];
        OriKnob knob = {.index = info->index,
                        .name = info->name,
                        .type = knob_type_name(info->type),
                        .value = info->value,
                        .range = info->range,
                        .reader = info->reader,
                        .help = info->help};
        receive(user, &knob);
    }
}

static OriStatus print_table(Call *call)
{
    Ctx *ctx = &call->ori->ctx;
    Out out;
    char why[500];
    out_init(&out, &ctx->arena, pass_on, call);
    switch (call->table) {
    case ORI_PHASES: phase_list(&out, true); break;
    case ORI_KNOBS: knob_list(&out, &knob_table, true); break;
    case ORI_BACKENDS: sm_list(&out, true); break;
    case ORI_PIPELINE:
        if (!phase_plan(ctx, NULL, why))
            return wrong_use(call->ori, why);
        phase_print_plan(ctx, &out);
        break;
    default: return wrong_use(call->ori, "ori_print_table() takes one of the constants of OriTable");
    }
    out_flush(&out);
    return out.failed ? ORI_IO : ORI_OK;
}

OriStatus ori_print_table(OriContext *ori, OriTable table, OriWriteFn *write, void *user)
{
    Call call = {.ori = ori, .table = table, .write = write, .user = user};
    return guarded(&call, print_table);
}
