// SPDX-License-Identifier: MIT
// Removes dead code and data from relocatable device code before nvlink links it.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/options/option_docs.h"
#include "tools/orilink/file.h"

enum {
#define OPTION(id, ...) OPT_##id,
#include "tools/orilink/orilink.def"
#undef OPTION
};

static const Option options[] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/orilink/orilink.def"
#undef OPTION
};

typedef struct Driver {
    Heap heap;
    Diag diag;
    Link link;
    VEC(File) files;
    Seeds seeds;
    bool documented;  // --dce=documented
    DocumentedOptions documented_options;
    uint32_t sm;         // 0: that of the first cubin
    const char *output;  // folder; NULL: nothing is written
    Names operands, why_live;
    bool print_gc, verbose, callgraph, mangled, text_report, json_report;
    const char *dot_file;  // NULL: standard output
    const char *map_file;  // NULL: none
    Out out;
    char buf[1 << 14];
} Driver;

/* -- Command line --------------------------------------------------------------------------------------- */

static const DocRow statuses[] = {{"0", "done"},           {"1", "bad input"},           {"2", "usage"},
                                  {"3", "internal error"}, {"4", "a limit was reached"}, {"5", "I/O"}};

static const DocRow examples[] = {
    {"orilink -o small/ a.cubin b.cubin", "remove what no kernel requires"},
    {"orilink --kernels-used=step --why-live=_Z4helpi a.cubin", "explain why a function stays"},
};

static const DocSection last[] = {{"examples", DOC_ROWS(examples), .man_only = true}};

static const Program program = {
    .name = "orilink",
    .purpose = "remove dead code and data of GPU programs before nvlink links them",
    .operands = "FILES...",
    .about = "Reads relocatable cubins, finds what the kernels in use require, and writes the inputs again without the "
             "rest. nvlink links the results as it links the inputs.",
    .options = options,
    .noptions = ARRAY_LEN(options),
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};

// Appends the names of a list to others.
static void add_names(Driver *d, Names *names, const char *list)
{
    for (const char *end; *list; list = end + (*end == ',')) {
        end = list + strcspn(list, ",");
        if (end > list)
            VEC_PUSH(&d->link.arena, names, arena_text(&d->link.arena, list, (size_t)(end - list)));
    }
}

// Returns ST_OK, or another status after an error message. Sets *done if no input is to be read.
static Status parse_command_line(Driver *d, int argc, char **argv, bool *done)
{
    Seeds *seeds = &d->seeds;
    OptionParser p = program_parser(&program, argc, argv, &d->link.arena);
    for (int id; (id = program_next(&program, &p, &d->out)) != OPTION_END && !*done;) {
        switch (id) {
        case OPTION_ERROR: program_fail_at(&program, &p, "%s", p.error); return p.status;
        case OPTION_OPERAND: VEC_PUSH(&d->link.arena, &d->operands, p.value); break;
        case OPT_OUTPUT: d->output = p.value; break;
        case OPT_KERNELS_USED: seeds->by_list = true, add_names(d, &seeds->kernels, p.value); break;
        case OPT_VARIABLES_USED: seeds->by_list = true, add_names(d, &seeds->variables, p.value); break;
        case OPT_ARCH:
            d->sm = (uint32_t)strtoul(strncmp(p.value, "sm_", 3) == 0 ? p.value + 3 : "", NULL, 10);
            if (!d->sm) {
                program_bad_value(&program, &p, "sm_ and a number");
                return ST_USAGE;
            }
            break;
        case OPT_DCE:
            if (option_choice(p.option, p.value) < 0) {
                program_bad_value(&program, &p, NULL);
                return ST_USAGE;
            }
            d->documented = option_choice(p.option, p.value) == 1;
            break;
        case OPT_ROOT: d->documented_options.root = p.value; break;
        case OPT_EXTRA_WARNINGS: d->documented_options.extra_warnings = true; break;
        case OPT_USE_HOST_INFO: seeds->use_host_info = true; break;
        case OPT_IGNORE_HOST_INFO: seeds->ignore_host_info = true; break;
        case OPT_RELOCATABLE:
        case OPT_RELOCATABLE_SHORT: seeds->relocatable = true; break;
        case OPT_LTO: seeds->lto = true; break;
        case OPT_FORCE_PARTIAL_LTO: seeds->force_partial_lto = true; break;
        case OPT_WHY_LIVE: VEC_PUSH(&d->link.arena, &d->why_live, p.value); break;
        case OPT_REPORT:
            if (option_choice(p.option, p.value) < 0) {
                program_bad_value(&program, &p, NULL);
                return ST_USAGE;
            }
            d->json_report = option_choice(p.option, p.value) == 1;
            d->text_report = !d->json_report;
            break;
        case OPT_DUMP_CALLGRAPH:
        case OPT_DUMP_CALLGRAPH_MANGLED:
            d->callgraph = true;
            d->mangled = id == OPT_DUMP_CALLGRAPH_MANGLED;
            break;
        case OPT_DOT_FILE: d->dot_file = p.value; break;
        case OPT_MAP: d->map_file = p.value; break;
        case OPT_PRINT_GC: d->print_gc = true; break;
        case OPT_VERBOSE:
        case OPT_VERBOSE_SHORT: d->verbose = true; break;
        case OPTION_DONE: *done = true; break;
        }
    }
    if (d->verbose)
        d->link.verbose = &d->out;
    if (*done || d->operands.n)
        return ST_OK;
    program_fail(&program, "no inputs; --help explains the use");
    return ST_USAGE;
}

/* -- Inputs ---------------------------------------------------------------------------------------------- */

static void print_diag(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stderr);
}

static Status read_inputs(Driver *d)
{
    Link *link = &d->link;
    Status status = ST_OK;
    for (uint32_t k = 0; k < d->operands.n && status == ST_OK; k++) {
        File file;
        status = file_read(&file, d->operands.at[k], link, &d->sm);
        VEC_PUSH(&link->arena, &d->files, file);
    }
    return status;
}

/* -- Reports --------------------------------------------------------------------------------------------- */

// Prints the reasons why functions and variables stay. False: a name is unknown.
static bool explain(Driver *d)
{
    bool known = true;
    for (uint32_t k = 0; k < d->why_live.n; k++) {
        Nearest nearest = {0};
        char hint[200];
        if (report_why_live(&d->link, d->why_live.at[k], &nearest, &d->out))
            continue;
        nearest_print(&nearest, hint, sizeof hint);
        known = program_fail(&program, "no input defines '%s'%s", d->why_live.at[k], hint);
    }
    return known;
}

typedef void Report(Driver *d, Out *out);

static void put_callgraph(Driver *d, Out *out) { report_callgraph(&d->link, !d->mangled, out); }
static void put_map(Driver *d, Out *out) { report_map(&d->link, out); }

// Writes a report to a file, or to standard output if `path` is NULL.
static Status write_report(Driver *d, const char *path, Report *report)
{
    Arena scratch;
    OutFile file;
    Out out;
    char why[200];
    if (!path) {
        report(d, &d->out);
        return ST_OK;
    }
    arena_init(&scratch, &d->heap);
    bool ok = outfile_open(&file, path, &scratch, why);
    if (ok) {
        out_init(&out, &scratch, outfile_write, &file);
        report(d, &out);
        out_flush(&out);
        ok = outfile_commit(&file, why);
    }
    if (!ok)
        program_fail(&program, "cannot write '%s': %s", path, why);
    arena_free(&scratch);
    return ok ? ST_OK : ST_IO;
}

/* -- Output ---------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static Status write_file(Driver *d, const File *in, const TextBuffer *text)
{
    Arena scratch;
    arena_init(&scratch, &d->heap);
    const char *base = base_name(in->path);
    char *path = arena_alloc(&scratch, strlen(d->output) + strlen(base) + 2);
    sprintf(path, "%s/%s", d->output, base);
    OutFile file;
    char why[200];
    bool ok = outfile_open(&file, path, &scratch, why);
    if (ok) {
        outfile_write(&file, text->at, text->n);
        ok = outfile_commit(&file, why);
    }
    if (!ok)
        program_fail(&program, "cannot write '%s': %s", path, why);
    arena_free(&scratch);
    return ok ? ST_OK : ST_IO;
}

static void warn_of_fixed(Driver *d)
{
    for (uint32_t k = 0; k < d->link.inputs.n; k++) {
        const Cubin *c = &d->link.inputs.at[k].cubin;
        if (c->fixed && !d->link.inputs.at[k].is_system)
            diag_plain(&d->diag, DIAG_WARNING, "'%s' stays as it is: %s", c->elf.file, c->fixed);
    }
}

// False, after an error message, if two files would be written under one name. The same file may be named twice.
static bool names_are_distinct(Driver *d)
{
    StrTable names;
    VEC(const char *) paths = {0};  // by StrId
    str_init(&names, &d->link.arena, NULL);
    for (uint32_t k = 0; k < d->files.n; k++) {
        const char *path = d->files.at[k].path;
        StrId id = str_intern_z(&names, base_name(path));
        while (paths.n <= id)
            VEC_PUSH(&d->link.arena, &paths, NULL);
        if (paths.at[id] && strcmp(paths.at[id], path) != 0)
            return program_fail(&program, "'%s' and '%s' would have one name in '%s'", paths.at[id], path, d->output);
        paths.at[id] = path;
    }
    return true;
}

// Rewrites all files before it writes the first one.
static Status write_all(Driver *d)
{
    Status status = ST_OK;
    if (!names_are_distinct(d))
        return ST_USAGE;
    TextBuffer *texts = NEW_ARRAY(&d->link.arena, TextBuffer, d->files.n);
    for (uint32_t k = 0; k < d->files.n; k++) {
        texts[k].arena = &d->link.arena;
        file_rewrite(&d->files.at[k], &d->link, &texts[k]);
    }
    if (!d->link.keeps_all)
        warn_of_fixed(d);
    if (mkdir(d->output, 0777) != 0 && errno != EEXIST) {
        program_fail(&program, "cannot make the folder '%s': %s", d->output, strerror(errno));
        return ST_IO;
    }
    for (uint32_t k = 0; k < d->files.n && status == ST_OK; k++)
        status = write_file(d, &d->files.at[k], &texts[k]);
    return status;
}

static Status run(Driver *d, int argc, char **argv)
{
    bool done = false;
    Status status = parse_command_line(d, argc, argv, &done);
    if (status != ST_OK || done)
        return status;
    status = read_inputs(d);
    if (status != ST_OK)
        return status;
    d->link.keeps_all = seeds_keep_all(&d->seeds);
    graph_build(&d->link);
    if (!seed_roots(&d->link, &d->seeds))
        return ST_USAGE;
    if (d->documented && !d->link.keeps_all)
        dce_documented(&d->link, &d->documented_options);
    else
        dce_full(&d->link);
    if (!d->link.keeps_all && (d->print_gc || (d->verbose && !d->documented)))
        report_removed(&d->link, d->print_gc ? &d->out : NULL);
    bool known = explain(d);
    if (d->text_report)
        report_functions(&d->link, &d->out);
    if (d->json_report)
        report_json(&d->link, &d->out);
    if (d->callgraph)
        status = write_report(d, d->dot_file, put_callgraph);
    if (d->map_file && status == ST_OK)
        status = write_report(d, d->map_file, put_map);
    if (status != ST_OK)
        return status;
    if (d->output)
        status = write_all(d);
    out_flush(&d->out);
    return status != ST_OK ? status : known ? ST_OK : ST_USAGE;
}

int main(int argc, char **argv)
{
    static Driver driver;
    Driver *d = &driver;
    jmp_buf unwind;
    volatile Status status = ST_INTERNAL;
    d->heap = (Heap){.files = &program_files, .unwind = &unwind};
    d->out = (Out){.write = out_to_stdio, .user = stdout, .buf = d->buf, .cap = sizeof d->buf};
    d->diag = (Diag){.write = print_diag, .program = "orilink"};
    d->link = (Link){.heap = &d->heap, .diag = &d->diag};
    arena_init(&d->link.arena, &d->heap);
    files_watch_signals();
    if (setjmp(unwind)) {
        program_fail(&program, "%s", d->heap.message);
        status = d->heap.status;
    } else {
        str_init(&d->link.names, &d->link.arena, NULL);
        status = run(d, argc, argv);
    }
    heap_release(&d->heap);
    return program_written(&program) ? (int)status : ST_IO;
}
