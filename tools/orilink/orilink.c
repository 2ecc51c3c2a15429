// SPDX-License-Identifier: MIT
// Removes dead code and data from relocatable device code before nvlink links it.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/options/option_docs.h"
#include "tools/orilink/banks.h"
#include "tools/orilink/nvlink.h"
#include "tools/orilink/user_constants.h"

enum {
#define OPTION(id, ...) OPT_##id,
#define PASSED OPTION
#define PASSED_SAME OPTION
#define REFUSED OPTION
#define REFUSED_SAME OPTION
#include "tools/orilink/orilink.def"
#undef OPTION
};

static const Option options[] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/orilink/orilink.def"
#undef OPTION
};

// Options of nvlink that orilink does not obey.
static const struct {
    int id;
    const char *refused;  // the reason; NULL: the runs of nvlink get the option
} of_nvlink[] = {
#define OPTION(id, ...)
#define PASSED(id, ...) {OPT_##id, NULL},
#define PASSED_SAME PASSED
#define REFUSED(id, name, kind, arg, brief, reason) {OPT_##id, reason},
#define REFUSED_SAME(id, name, kind, arg, reason) {OPT_##id, reason},
#include "tools/orilink/orilink.def"
#undef OPTION
};

typedef enum { DCE_FULL, DCE_DOCUMENTED } DceMode;
typedef enum { REPORT_TEXT, REPORT_JSON } ReportKind;
typedef enum { OCG_KERNEL, OCG_DOCUMENTED, OCG_OFF } OcgMode;

typedef struct Driver {
    Heap heap;
    Diag diag;
    Link link;
    VEC(File) files;
    Seeds seeds;
    int dce, report, ocg;  // DceMode, ReportKind (-1: no report), OcgMode
    bool optimizes_data_layout, no_opt, verbose_layout, print_merged;
    Banks banks;
    UserConstants user;
    bool extra_warnings;
    uint32_t sm;         // 0: that of the first cubin
    const char *arch;    // as --arch has it; NULL: it is not given
    const char *output;  // a folder, or the linked file; NULL: nothing is written
    bool links;          // --nvlink
    Nvlink nvlink;
    Names operands, folders, libraries, why_live;
    bool print_gc, callgraph, mangled, quiet;
    const char *dot_file;  // NULL: standard output
    const char *map_file;  // NULL: none
    Out out, notes;        // notes: messages of -v, on standard error
    char buf[1 << 14], notes_buf[1 << 12];
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

// Appends the names of a list to others, without blanks around them. True if there are any.
static bool add_names(Driver *d, Names *names, const char *list)
{
    uint32_t before = names->n;
    for (const char *end; *list; list = end + (*end == ',')) {
        list += strspn(list, " \t");
        end = list + strcspn(list, ",");
        size_t n = (size_t)(end - list);
        while (n && (list[n - 1] == ' ' || list[n - 1] == '\t'))
            n--;
        if (n)
            VEC_PUSH(&d->link.arena, names, arena_text(&d->link.arena, list, n));
    }
    return names->n > before;
}

// Reads `sm_NN`, perhaps with the letter of a variant. False: it is something else.
static bool read_target(Driver *d, const char *value)
{
    char *end = NULL;
    bool ok = strncmp(value, "sm_", 3) == 0 && value[3] >= '1' && value[3] <= '9';
    unsigned long sm = ok ? strtoul(value + 3, &end, 10) : 0;
    ok = ok && sm <= 255 && (!*end || ((*end == 'a' || *end == 'f') && !end[1]));
    d->arch = value;
    d->sm = (uint32_t)sm;
    return ok;
}

// Takes an option about files and programs. False: it is another one.
static bool take_file_option(Driver *d, int id, const char *value)
{
    switch (id) {
    case OPT_OUTPUT:
    case OPT_OUTPUT_LONG: d->output = value; break;
    case OPT_NVLINK: d->links = true, d->nvlink.program = value; break;
    case OPT_XNVLINK: add_names(d, &d->nvlink.options, value); break;
    case OPT_COMPRESS: d->link.compresses = true; break;
    case OPT_VERIFY_LINK: d->nvlink.verify = true; break;
    case OPT_LIBRARY_PATH: VEC_PUSH(&d->link.arena, &d->folders, value); break;
    case OPT_LIBRARY_PATH_LONG: add_names(d, &d->folders, value); break;
    case OPT_LIBRARY:
    case OPT_LIBRARY_LONG: add_names(d, &d->libraries, value); break;
    case OPT_KEEP_SYSTEM_LIBRARIES: d->nvlink.keeps_system_libraries = true; break;
    case OPTION_OPERAND: VEC_PUSH(&d->link.arena, &d->operands, value); break;
    default: return false;
    }
    return true;
}

// Takes an option about what stays. False: it is another one.
static bool take_seed(Driver *d, int id, const char *value)
{
    Seeds *seeds = &d->seeds;
    switch (id) {
    case OPT_KERNELS_USED: seeds->by_list |= add_names(d, &seeds->kernels, value); break;
    case OPT_VARIABLES_USED: seeds->by_list |= add_names(d, &seeds->variables, value); break;
    case OPT_USE_HOST_INFO: seeds->use_host_info = true; break;
    case OPT_IGNORE_HOST_INFO: seeds->ignore_host_info = true; break;
    case OPT_RELOCATABLE:
    case OPT_RELOCATABLE_SHORT: seeds->relocatable = true; break;
    case OPT_LTO:
    case OPT_LTO_LONG:
    case OPT_DLTO: seeds->lto = true; break;
    case OPT_FORCE_PARTIAL_LTO: seeds->force_partial_lto = true; break;
    case OPT_ROOT: seeds->root = value; break;
    case OPT_EXTRA_WARNINGS:
    case OPT_EXTRA_WARNINGS_SHORT: d->extra_warnings = true; break;
    case OPT_OPTIMIZE: d->optimizes_data_layout = true; break;
    case OPT_NO_OPT: d->no_opt = true; break;
    case OPT_VERBOSE_LAYOUT: d->verbose_layout = true; break;
    default: return false;
    }
    return true;
}

// Takes an option about what is printed.
static void take_report(Driver *d, int id, const char *value)
{
    switch (id) {
    case OPT_WHY_LIVE: VEC_PUSH(&d->link.arena, &d->why_live, value); break;
    case OPT_DUMP_CALLGRAPH:
    case OPT_DUMP_CALLGRAPH_MANGLED:
        d->callgraph = true;
        d->mangled = id == OPT_DUMP_CALLGRAPH_MANGLED;
        break;
    case OPT_DOT_FILE: d->dot_file = value; break;
    case OPT_MAP: d->map_file = value; break;
    case OPT_PRINT_GC: d->print_gc = true; break;
    case OPT_QUIET: d->quiet = true; break;
    case OPT_PRINT_MERGED: d->print_merged = true; break;
    case OPT_VERBOSE:
    case OPT_VERBOSE_SHORT: d->link.verbose = &d->notes; break;
    }
}

// Takes an option with a limited set of values. False after an error message.
static bool take_choice(Driver *d, int id, const OptionParser *p)
{
    if (id == OPT_ARCH)
        return read_target(d, p->value) || program_bad_value(&program, p, "sm_ and a number");
    int choice = option_choice(p->option, p->value);
    switch (id) {
    case OPT_DCE: d->dce = choice; break;
    case OPT_OCG: d->ocg = choice; break;
    case OPT_MERGE: d->user.mode = choice < 0 ? MERGE_NONE : MERGE_DOCUMENTED + (MergeMode)choice; break;
    default: d->report = choice;
    }
    return choice >= 0 || program_bad_value(&program, p, NULL);
}

// Adds an option to those of the runs of nvlink, with its long name, which is the first one of the table.
static void pass_on(Driver *d, int id, const char *value)
{
    const Option *o = options;
    while (o->id != id)
        o++;
    char *text = arena_alloc(&d->link.arena, strlen(o->name) + (value ? strlen(value) : 0) + sizeof "--=");
    sprintf(text, value ? "--%s=%s" : "--%s", o->name, value);
    VEC_PUSH(&d->link.arena, &d->nvlink.options, text);
}

// Takes an option of nvlink that has no effect here. Sets *ok to false after an error message. False: it is another
// option.
static bool take_of_nvlink(Driver *d, int id, const OptionParser *p, bool *ok)
{
    const Option *o = p->option;
    for (size_t k = 0; k < ARRAY_LEN(of_nvlink); k++) {
        if (of_nvlink[k].id != id)
            continue;
        if (of_nvlink[k].refused)
            *ok = program_fail_at(&program, p, "option '%s%s' of nvlink is not supported: %s", option_dashes(o),
                                  o->name, of_nvlink[k].refused);
        else if (id == OPT_MACHINE && option_choice(o, p->value) < 0)
            *ok = program_bad_value(&program, p, NULL);
        else
            pass_on(d, id, p->value);
        return true;
    }
    return false;
}

static Status check_command_line(const Driver *d)
{
    if (!d->operands.n) {
        program_fail(&program, "no inputs; --help explains the use");
        return ST_USAGE;
    }
    if (d->no_opt && d->optimizes_data_layout) {
        program_fail(&program, "-no-opt and -optimize-data-layout exclude each other");
        return ST_USAGE;
    }
    if (d->no_opt && d->user.mode != MERGE_NONE) {
        program_fail(&program, "--no-opt and --merge-constants exclude each other");
        return ST_USAGE;
    }
    if (d->links && !d->output) {
        program_fail(&program, "--nvlink requires -o FILE, the linked cubin");
        return ST_USAGE;
    }
    return ST_OK;
}

// Returns ST_OK, or another status after an error message. Sets *done if no input is to be read.
static Status parse_command_line(Driver *d, int argc, char **argv, bool *done)
{
    OptionParser p = program_parser(&program, argc, argv, &d->link.arena);
    for (int id; (id = program_next(&program, &p, &d->out)) != OPTION_END;) {
        if (id == OPTION_ERROR) {
            program_fail_at(&program, &p, "%s", p.error);
            return p.status;
        }
        if (id == OPTION_DONE) {
            *done = true;
            return ST_OK;
        }
        bool ok = true;
        if (take_of_nvlink(d, id, &p, &ok)) {
            if (!ok)
                return ST_USAGE;
        } else if (id == OPT_ARCH || id == OPT_DCE || id == OPT_OCG || id == OPT_MERGE || id == OPT_REPORT) {
            if (!take_choice(d, id, &p))
                return ST_USAGE;
        } else if (!take_file_option(d, id, p.value) && !take_seed(d, id, p.value)) {
            take_report(d, id, p.value);
        }
    }
    return check_command_line(d);
}

/* -- Inputs ---------------------------------------------------------------------------------------------- */

static void print_diag(void *driver, const char *text, size_t n)
{
    Driver *d = driver;
    out_flush(&d->notes);
    fwrite(text, 1, n, stderr);
}

// Adds the archives of libraries to the inputs.
static void find_libraries(Driver *d)
{
    Arena *arena = &d->link.arena;
    for (uint32_t k = 0; k < d->libraries.n; k++) {
        char *file = arena_alloc(arena, strlen(d->libraries.at[k]) + sizeof "lib.a");
        sprintf(file, "lib%s.a", d->libraries.at[k]);
        for (uint32_t n = 0; n < d->folders.n; n++) {
            const char *path = path_join(arena, d->folders.at[n], file);
            struct stat st;
            if (stat(path, &st) != 0)
                continue;
            VEC_PUSH(arena, &d->operands, path);
            break;
        }
    }
}

static Status read_inputs(Driver *d)
{
    Link *link = &d->link;
    Status status = ST_OK;
    find_libraries(d);
    for (uint32_t k = 0; k < d->operands.n && status == ST_OK; k++) {
        File file;
        status = file_read(&file, d->operands.at[k], link, &d->sm);
        VEC_PUSH(&link->arena, &d->files, file);
    }
    return status;
}

// Removes libcudadevrt.a from the inputs where nvlink is documented to do it: link-time optimization compiles all
// objects. IR cannot be read, so this does not depend on what it requires.
static void drop_system_libraries(Driver *d)
{
    uint32_t n = 0;
    bool all_ir = d->link.objects && d->link.ir_objects == d->link.objects;
    if (d->dce != DCE_DOCUMENTED || !d->seeds.lto || d->seeds.force_partial_lto || d->nvlink.keeps_system_libraries ||
        !all_ir)
        return;
    for (uint32_t k = 0; k < d->files.n; k++) {
        if (!d->files.at[k].is_system)
            d->files.at[n++] = d->files.at[k];
        else if (d->link.verbose)
            out_z(&d->notes, "LTO on everything so remove libcudadevrt from list\n");
    }
    d->files.n = n;
}

/* -- Reports --------------------------------------------------------------------------------------------- */

// Reports a name that no input defines. Returns false.
static bool fail_unknown(const char *name, const Nearest *nearest)
{
    char hint[200];
    nearest_print(nearest, hint, sizeof hint);
    return program_fail(&program, "no input defines '%s'%s", name, hint);
}

static bool knows_root(const Driver *d)
{
    const char *root = d->seeds.root;
    Nearest nearest = {0};
    for (NodeId n = 1; root && n < d->link.nodes.n; n++) {
        const Node *node = &d->link.nodes.at[n];
        if (node->kind > NODE_KERNEL)
            continue;
        if (strcmp(node->name, root) == 0)
            return true;
        nearest_offer(&nearest, root, strlen(root), node->name);
    }
    return !root || fail_unknown(root, &nearest);
}

// Prints the reasons why functions and variables stay. False: a name is unknown.
static bool explain(Driver *d)
{
    bool known = true;
    for (uint32_t k = 0; k < d->why_live.n; k++) {
        Nearest nearest = {0};
        if (!report_why_live(&d->link, d->why_live.at[k], &nearest, &d->out))
            known = fail_unknown(d->why_live.at[k], &nearest);
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
    out_flush(&d->out);
    fflush(stdout);  // the file may be standard output
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

static Status write_folder(Driver *d, const TextBuffer *texts)
{
    if (mkdir(d->output, 0777) != 0 && errno != EEXIST) {
        program_fail(&program, "cannot make the folder '%s': %s", d->output, strerror(errno));
        return ST_IO;
    }
    for (uint32_t k = 0; k < d->files.n; k++) {
        const File *in = &d->files.at[k];
        const char *path = path_join(&d->link.arena, d->output, base_name(in->path));
        bool changed = texts[k].n;
        if (!file_write(&d->link, path, changed ? (const void *)texts[k].at : in->bytes,
                        changed ? texts[k].n : in->size))
            return ST_IO;
    }
    return ST_OK;
}

static Status run_nvlink(Driver *d, const TextBuffer *texts)
{
    Nvlink *run = &d->nvlink;
    char target[20];
    if (!d->arch && !d->sm) {
        program_fail(&program, "no input has code that can be read; --arch names the target");
        return ST_USAGE;
    }
    snprintf(target, sizeof target, "sm_%u", d->sm);
    run->target = d->arch ? d->arch : target;
    run->seeds = &d->seeds;
    run->extra_warnings = d->extra_warnings;
    run->full = d->dce == DCE_FULL;
    run->output = d->links ? d->output : NULL;
    out_flush(&d->out);
    out_flush(&d->notes);
    return nvlink_run(run, &d->link, d->files.at, texts, d->files.n);
}

// Rewrites all files before it writes or links the first one. The text of a file that does not change is empty.
static Status write_all(Driver *d)
{
    Status status = ST_OK;
    if (!d->links && d->output && !names_are_distinct(d))
        return ST_USAGE;
    TextBuffer *texts = NEW_ARRAY(&d->link.arena, TextBuffer, d->files.n);
    for (uint32_t k = 0; k < d->files.n; k++) {
        texts[k].arena = &d->link.arena;
        if (file_changes(&d->files.at[k], &d->link))
            file_rewrite(&d->files.at[k], &d->link, &texts[k]);
    }
    if (!d->link.keeps_all)
        warn_of_fixed(d);
    if (d->links || d->nvlink.verify)
        status = run_nvlink(d, texts);
    return status == ST_OK && d->output && !d->links ? write_folder(d, texts) : status;
}

// Lays out constants of the user again.
static void edit_user_constants(Driver *d)
{
    if (d->link.keeps_all || d->no_opt)
        return;
    d->user.link = &d->link;
    d->user.forced = d->optimizes_data_layout;
    d->user.verbose = d->verbose_layout ? &d->notes : NULL;
    user_constants_edit(&d->user);
    if (d->print_merged)
        user_constants_print(&d->user, &d->out);
}

// Plans the banks of constants, and edits the inputs. Returns ST_OK, or another status after an error message.
static Status plan_banks(Driver *d)
{
    if (d->link.keeps_all || d->no_opt || d->ocg == OCG_OFF)
        return ST_OK;
    banks_read(&d->banks, &d->link, d->optimizes_data_layout);
    if (d->ocg == OCG_DOCUMENTED)
        banks_dedup(&d->banks, d->optimizes_data_layout, d->verbose_layout ? &d->notes : NULL);
    else if (!banks_plan(&d->banks, d->optimizes_data_layout))
        return ST_BAD_INPUT;
    banks_apply(&d->banks);
    return banks_check(&d->banks) ? ST_OK : ST_INTERNAL;
}

// True if a summary is printed: people read standard error, or asked for messages. Logs of builds stay empty.
static bool has_summary(const Driver *d) { return !d->quiet && (d->link.verbose || isatty(STDERR_FILENO)); }

static void print_summary(Driver *d)
{
    out_fmt(&d->notes, "%s: ", program.name);
    report_summary(&d->link, &d->notes);
    out_z(&d->notes, d->output ? "\n" : "; nothing is written without -o\n");
}

static Status run(Driver *d, int argc, char **argv)
{
    bool done = false;
    Status status = parse_command_line(d, argc, argv, &done);
    if (status != ST_OK || done)
        return status;
    d->link.counts_unpacked = has_summary(d) && !d->links;
    status = read_inputs(d);
    if (status != ST_OK)
        return status;
    drop_system_libraries(d);
    d->seeds.documented = d->dce == DCE_DOCUMENTED;
    d->link.keeps_all = seeds_keep_all(&d->seeds);
    graph_build(&d->link);
    if (!knows_root(d) || !seed_roots(&d->link, &d->seeds))
        return ST_USAGE;
    if (d->dce == DCE_DOCUMENTED && !d->link.keeps_all)
        dce_documented(&d->link, d->extra_warnings);
    else
        dce_full(&d->link);
    if (!d->link.keeps_all && (d->print_gc || (d->link.verbose && d->dce == DCE_FULL)))
        report_removed(&d->link, d->print_gc ? &d->out : NULL);
    edit_user_constants(d);
    status = plan_banks(d);
    out_flush(&d->notes);
    if (status != ST_OK)
        return status;
    bool known = explain(d);
    if (d->report == REPORT_TEXT) {
        report_functions(&d->link, &d->out);
        banks_report(&d->banks, &d->out);
        user_constants_report(&d->user, &d->out);
    }
    if (d->report == REPORT_JSON)
        report_json(&d->link, &d->banks, &d->user, &d->out);
    if (d->callgraph)
        status = write_report(d, d->dot_file, put_callgraph);
    if (d->map_file && status == ST_OK)
        status = write_report(d, d->map_file, put_map);
    if (status != ST_OK)
        return status;
    if (d->output || d->nvlink.verify)
        status = write_all(d);
    if (status == ST_OK && !known)
        status = ST_USAGE;
    if (status == ST_OK && has_summary(d))
        print_summary(d);
    return status;
}

int main(int argc, char **argv)
{
    static Driver driver;
    Driver *d = &driver;
    jmp_buf unwind;
    volatile Status status = ST_INTERNAL;
    d->heap = (Heap){.files = &program_files, .unwind = &unwind};
    d->out = (Out){.write = out_to_stdio, .user = stdout, .buf = d->buf, .cap = sizeof d->buf};
    d->report = -1;
    d->notes = (Out){.write = out_to_stdio, .user = stderr, .buf = d->notes_buf, .cap = sizeof d->notes_buf};
    d->diag = (Diag){.write = print_diag, .user = d, .program = "orilink"};
    d->link = (Link){.heap = &d->heap, .diag = &d->diag};
    arena_init(&d->link.arena, &d->heap);
    files_watch_signals();
    if (setjmp(unwind)) {
        program_fail(&program, "%s", d->heap.message);
        status = d->heap.status;
        nvlink_end(&d->nvlink);
    } else {
        str_init(&d->link.names, &d->link.arena, NULL);
        status = run(d, argc, argv);
        out_flush(&d->out);
        out_flush(&d->notes);
    }
    heap_release(&d->heap);
    return program_written(&program) ? (int)status : ST_IO;
}
