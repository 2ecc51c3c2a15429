// SPDX-License-Identifier: MIT
// Writes dumps: --print-before, --print-after, --print-changed, --dump-cfg, --ir-dump-dir.
//
// Every dump is a complete file of Ori text, which can be read back. Banners are those of LLVM after a comment sign, so
// that tools that split LLVM's output into passes can split these dumps. A directory of dumps has a folder per
// function, and an index of all phases that ran. The folder has a file for each phase that changed the function. File
// names begin with the number of phases that ran over the function, so they sort in the order of execution. A function
// counts as changed if its hash differs, whatever progress the phase reports. With --dump-cfg, dumps are digraphs of
// Graphviz, and banners are Graphviz comments; --print-changed=diff stays text. If dumps are enabled, functions stay in
// memory, since dumps of other functions may print their declarations. A phase over the module is dumped as one file of
// the whole module under the name `[module]`; it has no graph.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/text/text.h"
#include "phases/manager/dump.h"

enum { CONTEXT_LINES = 3, FOLDER_MAX = 150 };

/* -- Filters -------------------------------------------------------------------------------------------- */

static bool function_wanted(const Ctx *ctx, const char *name)
{
    const char *glob = ctx->options.filter_funcs;
    return !glob || glob_match(glob, name, strlen(name), false);
}

static bool phase_wanted(const Ctx *ctx, int row)
{
    return !ctx->options.filter_phases || phase_matches(ctx->options.filter_phases, row);
}

/* -- Banners -------------------------------------------------------------------------------------------- */

// Writes `; *** IR Dump After 049.GvnCse (GvnCse) on kern ***`.
static void banner(Ctx *ctx, const char *when, int row, const char *remark)
{
    bool graph = ctx->options.dump_cfg && ctx->options.print_changed != PC_DIFF;
    out_fmt(ctx->report, "%s *** IR Dump %s ", graph ? "//" : ";", when);
    if (row >= 0)
        out_fmt(ctx->report, "%03d.%s (%s) ", row, phase_info[row].name, phase_info[row].name);
    out_z(ctx->report, "on ");
    out_z(ctx->report, ctx->dumps.function);
    out_fmt(ctx->report, "%s ***\n", remark);
}

// Writes a function, or the module of a phase over the module.
static void write_text(const Ctx *ctx, const Fn *fn, Out *out)
{
    const Module *m = ctx->dumps.module;
    if (fn) {
        text_write_dump(fn, out);
        return;
    }
    text_write_header(m, out);
    for (uint32_t k = 0; k < m->items.n; k++)
        text_write_item(m, &m->items.at[k], out);
}

static void write_graph(Ctx *ctx, const Fn *fn, const char *when, int row, Out *out)
{
    char title[1200];
    int n = snprintf(title, sizeof title, "%s %s", ctx->dumps.function, when);
    if (row >= 0)
        snprintf(title + n, sizeof title - (size_t)n, " %03d.%s", row, phase_info[row].name);
    dump_graph(fn, title, out);
}

static void print(Ctx *ctx, const Fn *fn, const char *when, int row, const char *remark)
{
    banner(ctx, when, row, remark);
    if (ctx->options.dump_cfg && fn)
        write_graph(ctx, fn, when, row, ctx->report);
    else
        write_text(ctx, fn, ctx->report);
    out_char(ctx->report, '\n');
    out_flush(ctx->report);
}

/* -- Differences ---------------------------------------------------------------------------------------- */

static bool begins(const TextLine *line, const char *text)
{
    size_t n = strlen(text);
    return line->len > n && memcmp(line->text, text, n) == 0;
}

static void cut_at(TextLine *line, char c)
{
    const char *end = memchr(line->text, c, line->len);
    if (end)
        line->len = (uint32_t)(end - line->text);
}

// Returns the level of a heading, cut to its name: 1 for functions `kernel @sum`, 2 for blocks `b3`, 0 for other lines.
static int heading(TextLine *line)
{
    if (begins(line, "kernel @") || begins(line, "device @")) {
        cut_at(line, '(');
        return 1;
    }
    if (!begins(line, "\"") && !(begins(line, "b") && line->text[1] >= '0' && line->text[1] <= '9'))
        return 0;
    cut_at(line, ':');
    cut_at(line, '{');
    return 2;
}

static void render(Ctx *ctx, const Fn *fn, Arena *arena, TextBuffer *text)
{
    Out out;
    arena_init(arena, &ctx->heap);
    *text = (TextBuffer){.arena = arena};
    out_init(&out, arena, out_to_text, text);
    write_text(ctx, fn, &out);
    out_flush(&out);
}

// Prints the difference between a function and its last printed text, and replaces that text.
static void print_difference(Ctx *ctx, const Fn *fn, int row)
{
    Dumps *d = &ctx->dumps;
    Arena arena;
    TextBuffer text;
    render(ctx, fn, &arena, &text);
    banner(ctx, "After", row, "");
    DiffOptions options = {.context = CONTEXT_LINES, .heading = heading};
    diff_lines(ctx->report, d->text.at, d->text.n, text.at, text.n, &options, &ctx->heap);
    out_char(ctx->report, '\n');
    out_flush(ctx->report);
    arena_free(&d->arena);
    d->arena = arena;
    d->text = text;
}

/* -- Files ---------------------------------------------------------------------------------------------- */

static void make_folder(Ctx *ctx, const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        heap_fail(&ctx->heap, ST_IO, "cannot create the folder '%.150s': %s", path, strerror(errno));
}

// Makes a folder name of a function's name: replaces `%` and `/` by `_`, and the tail of a long name by a hash.
static void folder_name(const char *function, char folder[static FOLDER_MAX + 10])
{
    size_t n = 0;
    for (; function[n] && n < FOLDER_MAX; n++)
        folder[n] = function[n] == '%' || function[n] == '/' ? '_' : function[n];
    folder[n] = 0;
    if (function[n])
        snprintf(folder + n, 10, "-%08x", hash_bytes(function, strlen(function)));
}

// Writes the function as Ori text, or its graph if the path ends in .dot.
static void write_file(Ctx *ctx, const char *path, const Fn *fn, int row)
{
    size_t len = strlen(path);
    char why[200];
    Arena arena;
    arena_init(&arena, &ctx->heap);
    OutFile file;
    Out out;
    if (!outfile_open(&file, path, &arena, why))
        heap_fail(&ctx->heap, ST_IO, "cannot write '%.100s': %.100s", path, why);
    out_init(&out, &arena, outfile_write, &file);
    if (strcmp(path + len - 4, ".dot") == 0)
        write_graph(ctx, fn, row < 0 ? "At Start" : "After", row, &out);
    else
        write_text(ctx, fn, &out);
    out_flush(&out);
    if (!outfile_commit(&file, why))
        heap_fail(&ctx->heap, ST_IO, "cannot write '%.100s': %.100s", path, why);
    arena_free(&arena);
}

// Writes a file such as DIR/kern/007.049-GvnCse.after.ori, here for the seventh phase that ran.
static void dump_file(Ctx *ctx, const Fn *fn, int row)
{
    Dumps *d = &ctx->dumps;
    char folder[FOLDER_MAX + 10], name[120], path[600];
    folder_name(d->function, folder);
    if (row < 0)
        snprintf(name, sizeof name, "000-Input.ori");
    else
        snprintf(name, sizeof name, "%03u.%03d-%s.after.ori", d->sequence, row, phase_info[row].name);
    int n = snprintf(path, sizeof path, "%s/%s", ctx->options.dump_dir, folder);
    if (n < 0 || (size_t)n + strlen(name) + 2 > sizeof path)
        heap_fail(&ctx->heap, ST_IO, "the name of the folder for dumps is too long");
    make_folder(ctx, ctx->options.dump_dir);
    make_folder(ctx, path);
    snprintf(path + n, sizeof path - (size_t)n, "/%s", name);
    write_file(ctx, path, fn, row);
    if (ctx->options.dump_cfg && fn) {
        memcpy(path + strlen(path) - 3, "dot", 3);
        write_file(ctx, path, fn, row);
        memcpy(path + strlen(path) - 3, "ori", 3);
    }
    d->file = path + strlen(ctx->options.dump_dir) + 1;
    d->file = arena_text(&ctx->arena, d->file, strlen(d->file));
}

static void index_entry(Ctx *ctx, const Fn *fn, int row, bool changed)
{
    Dumps *d = &ctx->dumps;
    DumpEntry e = {.function = d->index_name,
                   .file = d->file,
                   .sequence = d->sequence,
                   .row = row,
                   .changed = changed,
                   .hash = fn ? ir_hash(fn) : 0};
    VEC_PUSH(&ctx->arena, &d->index, e);
    d->file = NULL;
}

bool phase_write_index(Ctx *ctx, char why[static 200])
{
    char path[600];
    OutFile file;
    Out out;
    if (!ctx->options.dump_dir)
        return true;
    make_folder(ctx, ctx->options.dump_dir);
    snprintf(path, sizeof path, "%.580s/index.json", ctx->options.dump_dir);
    if (!outfile_open(&file, path, &ctx->arena, why))
        return false;
    out_init(&out, &ctx->arena, outfile_write, &file);
    out_z(&out, "{\"schema\":1,\"dumps\":[");
    for (uint32_t k = 0; k < ctx->dumps.index.n; k++) {
        const DumpEntry *e = &ctx->dumps.index.at[k];
        out_z(&out, k ? ",\n{\"function\":" : "\n{\"function\":");
        out_json(&out, e->function, strlen(e->function));
        out_fmt(&out, ",\"sequence\":%u,\"index\":%d,\"name\":\"%s\",\"changed\":%s,\"hash\":\"%016llx\",\"file\":",
                e->sequence, e->row, e->row < 0 ? "Input" : phase_info[e->row].name, e->changed ? "true" : "false",
                (unsigned long long)e->hash);
        if (e->file)
            out_json(&out, e->file, strlen(e->file));
        else
            out_z(&out, "null");
        out_char(&out, '}');
    }
    out_z(&out, "\n]}\n");
    out_flush(&out);
    return outfile_commit(&file, why);
}

/* -- Around phases -------------------------------------------------------------------------------------- */

void dump_start(Ctx *ctx, const Fn *fn)
{
    Dumps *d = &ctx->dumps;
    name_text(fn->tables, fn->module->syms.at[fn->sym].name, d->function, sizeof d->function);
    d->wanted = d->any && (ctx->report || ctx->options.dump_dir) && function_wanted(ctx, d->function);
    if (!d->wanted)
        return;
    d->sequence = fn->dumped;
    if (ctx->options.print_changed == PC_ALL || ctx->options.print_changed == PC_QUIET)
        print(ctx, fn, "At Start", -1, "");
    if (ctx->options.print_changed == PC_DIFF)
        render(ctx, fn, &d->arena, &d->text);
    if (!ctx->options.dump_dir)
        return;
    d->index_name = arena_text(&ctx->arena, d->function, strlen(d->function));
    if (fn->dumped)
        return;
    dump_file(ctx, fn, -1);
    index_entry(ctx, fn, -1, true);
}

// True if no option chooses phases for dumps: then --dump-cfg prints the last state.
static bool prints_last(const Ctx *ctx)
{
    const PhaseOptions *o = &ctx->options;
    return o->dump_cfg && !ctx->dumps.dumped && o->print_changed == PC_OFF && !o->dump_dir && !o->print_before &&
           !o->print_after && !o->print_before_all && !o->print_after_all;
}

void dump_end(Ctx *ctx, Fn *fn)
{
    fn->dumped = ctx->dumps.wanted ? ctx->dumps.sequence : 0;
    if (ctx->dumps.wanted && prints_last(ctx))
        print(ctx, fn, "At End", -1, "");
    if (ctx->dumps.wanted && ctx->options.print_changed == PC_DIFF)
        arena_free(&ctx->dumps.arena);
}

void dump_before(Ctx *ctx, const Fn *fn, int row)
{
    if (ctx->dumps.wanted && ctx->dumps.before[row] && phase_wanted(ctx, row))
        print(ctx, fn, "Before", row, "");
}

void dump_skipped(Ctx *ctx, const Fn *fn, int row, uint32_t classes)
{
    char remark[100];
    if (!phase_wanted(ctx, row))
        return;
    dump_before(ctx, fn, row);
    snprintf(remark, sizeof remark, " skipped because there are no %s", class_info[__builtin_ctz(classes)].what);
    if (ctx->dumps.after[row])
        print(ctx, fn, "After", row, remark);
    else if (ctx->options.print_changed == PC_ALL)
        banner(ctx, "After", row, remark);
}

static void print_changed(Ctx *ctx, const Fn *fn, int row, bool changed)
{
    switch (ctx->options.print_changed) {
    case PC_OFF: break;
    case PC_ALL:
    case PC_QUIET:
        if (changed)
            print(ctx, fn, "After", row, "");
        else if (ctx->options.print_changed == PC_ALL)
            banner(ctx, "After", row, " omitted because no change");
        break;
    case PC_DIFF:
        if (changed)
            print_difference(ctx, fn, row);
        break;
    }
}

void dump_after(Ctx *ctx, const Fn *fn, int row, bool changed)
{
    Dumps *d = &ctx->dumps;
    if (!d->wanted)
        return;
    d->sequence++;
    if (!phase_wanted(ctx, row))
        return;
    if (d->after[row])
        print(ctx, fn, "After", row, "");
    print_changed(ctx, fn, row, changed);
    if (ctx->options.dump_dir && changed)
        dump_file(ctx, fn, row);
    if (ctx->options.dump_dir)
        index_entry(ctx, fn, row, changed);
}

/* -- Around phases over the module ---------------------------------------------------------------------- */

// Selects the module for the dumps that follow.
static void select_module(Ctx *ctx, const Module *m, int row)
{
    Dumps *d = &ctx->dumps;
    snprintf(d->function, sizeof d->function, "[module]");
    d->index_name = "[module]";
    d->module = m;
    d->sequence = d->module_phases;
    d->wanted =
        d->any && (ctx->report || ctx->options.dump_dir) && phase_wanted(ctx, row) && function_wanted(ctx, d->function);
}

void dump_module_before(Ctx *ctx, const Module *m, int row)
{
    Dumps *d = &ctx->dumps;
    select_module(ctx, m, row);
    if (d->wanted && d->before[row])
        print(ctx, NULL, "Before", row, "");
    if (d->wanted && ctx->options.print_changed == PC_DIFF)
        render(ctx, NULL, &d->module_arena, &d->module_text);
}

void dump_module_after(Ctx *ctx, const Module *m, int row, bool changed)
{
    Dumps *d = &ctx->dumps;
    select_module(ctx, m, row);
    d->sequence = ++d->module_phases;
    if (!d->wanted)
        return;
    d->arena = d->module_arena;
    d->text = d->module_text;
    if (d->after[row])
        print(ctx, NULL, "After", row, "");
    print_changed(ctx, NULL, row, changed);
    if (ctx->options.print_changed == PC_DIFF)
        arena_free(&d->arena);
    if (ctx->options.dump_dir && changed)
        dump_file(ctx, NULL, row);
    if (ctx->options.dump_dir)
        index_entry(ctx, NULL, row, changed);
}
