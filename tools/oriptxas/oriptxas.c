// SPDX-License-Identifier: MIT
// ori-ptxas: a drop-in for ptxas that runs oriopt on its inputs.
//
// The first word decides: an option of ori-ptxas is answered here, all else is a command line of ptxas. If nothing is
// to be optimized, ptxas takes the place of this process.
#include <errno.h>
#include <stdlib.h>

#include "tools/oriptxas/oriptxas.h"

const Option ptxas_options[OPT_COUNT] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#define PTXAS(id, name, kind, arg, brief, effect, help) {OPT_##id, name, ARG_##kind, arg, help " (-" brief ")"},
#define PTXAS_SAME(id, name, kind, arg, effect, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/oriptxas/oriptxas.def"
#undef OPTION
#undef PTXAS
};

/* -- Texts -------------------------------------------------------------------------------------------- */

static const DocRow statuses[] = {
    {"N", "that of ptxas"},
    {"2", "usage of an option of ori-ptxas"},
    {"5", "there is no ptxas, or I/O"},
};

static const DocRow environment[] = {
    {"ORI_PTXAS", "the ptxas to run; without it, the first one on the PATH that is not ori-ptxas"},
    {"ORI_PTXAS_FLAGS",
     "options for oriopt, such as `-O1 --knob OptBudget=9`, after the optimization level of ptxas. Blanks separate "
     "them; `\"` and a backslash quote. Messages of a successful oriopt are printed only if this is set."},
    {"ORI_PTX_VERSION",
     "the .version of what ptxas reads, such as `7.8`, as with --ptx-version of oriopt: for a ptxas that is older than "
     "the toolkit that made the PTX. An input that needs a later version goes to ptxas as it is, with a warning."},
    {"ORI_PTXAS_LOG",
     "a file with a JSON object on a line for each kernel, with instructions of PTX, registers, and milliseconds of "
     "ptxas before (`..._in`) and after, and those of oriopt; or for each input that was not optimized, with the "
     "reason. For these figures ptxas runs a second time on the original, and a third time unless -v is given."},
    {"ORI_PTXAS_KEEP", "a folder that keeps each input as NAME-HASH.ptx and its optimized PTX as NAME-HASH.opt.ptx"},
    {"ORI_KNOBS", "settings of knobs, as for oriopt"},
    {"ORI_PTXAS_SEEN", "set for ptxas, so that ori-ptxas does not run itself recursively"},
    {"TMPDIR", "the folder for temporary files (default: /tmp)"},
};

static const DocRow examples[] = {
    {"ori-ptxas -arch=sm_90 -O3 k.ptx -o k.cubin", "optimize and compile"},
    {"clang --ptxas-path=$(command -v ori-ptxas) ...", "for clang"},
    {"TRITON_PTXAS_PATH=$(command -v ori-ptxas) python3 train.py", "for Triton"},
    {"ori-ptxas --make-nvcc-dir ~/ori-nvcc && ~/ori-nvcc/nvcc k.cu", "for nvcc"},
    {"ORI_PTXAS_LOG=build.log make", "log the result for each kernel of a build"},
};

static const DocSection sections[] = {
    {.title = "optimizing",
     .intro =
         "ptxas compiles the optimized PTX in place of the inputs; messages and exit status are those of ptxas. Where "
         "oriopt fails or ptxas refuses its output, ptxas compiles the original, and a warning gives the reason. "
         "oriopt is the one beside ori-ptxas, or on the PATH.\n\n"
         "Nothing is optimized with the options marked so above, at -O0, with options that are not listed (which a "
         "warning names), for compute_NN and lto_NN, and where ptxas compiles nothing. The code of functions with "
         "debug information stays as it is in any case.",
     .man_only = true},
};

static const DocSection last[] = {
    {"environment", DOC_ROWS(environment), .man_only = true},
    {"examples", DOC_ROWS(examples), .man_only = true},
};

const Program ptxas_program = {
    .name = "ori-ptxas",
    .purpose = "a drop-in for ptxas that optimizes its input",
    .operands = "FILE...",
    .about =
        "Runs oriopt on PTX, then ptxas on the output of oriopt, or on the original if that fails. Takes the options "
        "of ptxas; --help and --version are those of ptxas, too.",
    .spelling = "An option of ori-ptxas is the first word. All others are those of ptxas, as `--name`, or as the "
                "`-short` in parentheses, which is `-name` where none is given. A value is the next word or follows a "
                "`=`. `-` is standard input. `@FILE` is replaced by the words of FILE, as --options-file reads them.",
    .options = ptxas_options,
    .noptions = OPT_COUNT,
    .sections = sections,
    .nsections = ARRAY_LEN(sections),
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};

void warn(bool silent, const char *fmt, ...)
{
    va_list args;
    if (silent)
        return;
    va_start(args, fmt);
    fputs("ori-ptxas: warning: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

/* -- Options of its own ------------------------------------------------------------------------------- */

// True if the first word is an option of ori-ptxas.
static bool is_own(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] != '-')
        return false;
    const char *name = argv[1] + (argv[1][1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");
    for (int id = 0; id < OWN_OPTIONS; id++)
        if (strlen(ptxas_options[id].name) == len && strncmp(name, ptxas_options[id].name, len) == 0)
            return true;
    return false;
}

static Status answer(Arena *arena, int argc, char **argv)
{
    char buffer[4096];
    Out out = {.write = out_to_stdio, .user = stdout, .buf = buffer, .cap = sizeof buffer};
    OptionParser p = program_parser(&ptxas_program, argc, argv, NULL);
    Status status = ST_OK;
    p.n = OWN_OPTIONS;
    int id = program_next(&ptxas_program, &p, &out);
    const char *value = p.value;
    if (id != OPTION_ERROR && p.at < argc)
        id = OPTION_ERROR, snprintf(p.error, sizeof p.error, "'%s' is one too many", argv[p.at]);
    if (id == OPTION_ERROR)
        return program_fail(&ptxas_program, "%s", p.error), ST_USAGE;
    if (id == OPT_MAKE_NVCC_DIR)
        status = nvcc_dir_make(arena, value, find_self(arena, argv[0]));
    return status == ST_OK && !program_written(&ptxas_program) ? ST_IO : status;
}

/* -- In place of ptxas -------------------------------------------------------------------------------- */

static const char *environment_text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

// Lets ptxas take the place of this process. Returns only if that is impossible.
static Status pass_on(Arena *arena, const char *ptxas, const Texts *given)
{
    Texts argv = {0};
    VEC_PUSH(arena, &argv, ptxas);
    for (uint32_t k = 0; k < given->n; k++)
        VEC_PUSH(arena, &argv, given->at[k]);
    process_replace(arena, &argv);
    program_fail(&ptxas_program, "cannot run '%s': %s", ptxas, strerror(errno));
    return ST_IO;
}

static Status drop_in(Compile *c, int argc, char **argv)
{
    Command command;
    bool inner;
    const char *self = find_self(c->arena, argv[0]);
    c->ptxas = find_ptxas(c->arena, self, &inner);
    if (!c->ptxas)
        return ST_IO;
    command_read(&command, c->arena, argc, argv);
    if (inner)
        return pass_on(c->arena, c->ptxas, &command.given);
    c->command = &command;
    c->oriopt = find_oriopt(c->arena, self);
    c->flags = environment_text("ORI_PTXAS_FLAGS");
    c->version = environment_text("ORI_PTX_VERSION");
    c->log = environment_text("ORI_PTXAS_LOG");
    c->keep = environment_text("ORI_PTXAS_KEEP");
    if (command.as_is) {
        if (command.surprising)
            warn(command.silent, "nothing is optimized: the option '%s' is not known", command.as_is);
        if (c->log)
            report_passed(c->arena, &command, c->log);
        return pass_on(c->arena, c->ptxas, &command.given);
    }
    processes_begin();
    c->folder = folder_make(c->arena, "ori-ptxas");
    if (c->folder) {
        compile(c);
        folder_remove(c->folder);
    } else {
        warn(command.silent, "nothing is optimized: no folder for temporary files: %s", strerror(errno));
    }
    return pass_on(c->arena, c->ptxas, &command.given);
}

int main(int argc, char **argv)
{
    static Heap heap;
    static Arena arena;
    static Compile job;
    jmp_buf unwind;
    volatile Status status;
    heap = (Heap){.unwind = &unwind};
    if (setjmp(unwind)) {
        status = heap.status;
        program_fail(&ptxas_program, "%s%s", status == ST_INTERNAL ? "internal error: " : "", heap.message);
        if (job.folder)
            folder_remove(job.folder);
    } else {
        arena_init(&arena, &heap);
        job.arena = &arena;
        status = is_own(argc, argv) ? answer(&arena, argc, argv) : drop_in(&job, argc, argv);
    }
    heap_release(&heap);
    return status;
}
