// SPDX-License-Identifier: MIT
// The files of oriopt: oriopt.c is the program and its job, opt_settings.c the command line, opt_reproduce.c writes and
// repeats reproducers, opt_crash.c writes them when a signal ends the program.
#ifndef ORI_ORIOPT_H
#define ORI_ORIOPT_H

#include "phases/manager/remarks.h"
#include "tools/lib/entries.h"
#include "tools/options/option_docs.h"
#include "tools/orirun/run_each.h"

enum {
#define OPTION(id, ...) OPT_##id,
#include "tools/oriopt/oriopt.def"
#undef OPTION
    OPT_COUNT
};
extern const Option opt_options[OPT_COUNT];

typedef enum { PRINT_NO, PRINT_TEXT, PRINT_JSON, PRINT_NAMES, PRINT_ALL } PrintMode;

// An option of the command line.
typedef struct Given {
    int id;
    const char *value;
} Given;

typedef struct Settings {
    const char *input, *output;
    const char *entries[64];
    size_t nentries;
    Lang input_lang, output_lang;  // LANG_AUTO: by name or content; that of the input
    uint16_t ptx_version;          // 0: that of the input
    bool emit, print_pipeline, dump_callgraph, json_diagnostics, strip_debug;
    PrintMode list_phases, list_knobs, list_sm, times, stats;
    const char *times_file, *stats_file;  // of their JSON; NULL: standard error
    const char *knobs[128], *knobs_files[16];
    int knob_options[128];  // by knob: the option that gave it, such as OPT_KNOB or OPT_DEBUG_COUNTER
    size_t nknobs, nknobs_files;
    bool print_knobs, ignore_environment;
    PhaseOptions phases;
    uint32_t max_errors;
    unsigned threads;
    uint64_t piece;  // bytes of text that are read before its functions are optimized; 0: PIECE_BYTES a thread
    uint64_t max_memory, max_insns;
    const char *remarks, *remarks_filter;
    bool check_each;
    const char *run_file;  // of check_each; NULL: beside the input
    const char *reproducer, *run_reproducer;
    const char *crash_dir;  // NULL: the current folder
    bool no_reproducer;
    const Source *text, *run_text;  // of a reproducer: the input, and the .run file of check_each
    Given given[128];               // without knobs, which the store has
    size_t ngiven;
} Settings;

enum { PIECE_BYTES = 512 << 10 };

typedef struct Job {
    const Settings *settings;
    Ctx ctx;
    Source source, run_source;
    KnobStore *knobs;
    Lang lang, output_lang;
    Module *module;
    bool whole;  // the module is read before the first function is optimized
    bool alone;  // phases run on this thread
    bool more;   // functions are read after the current piece
    Entries entries;
    bool entry_seen[64];  // of `entries`
    bool filter_seen;     // a function matches --filter-funcs
    uint64_t instrs;      // read so far
    double read_s, write_s;
    TextBuffer text;  // the output, with check_each
    RunEach check;
    Remarks remarks;
    OutFile file, remarks_file;
    bool file_open, remarks_open;
    Out err;
    char err_buf[4096];
} Job;

/* opt_docs.c */
extern const Program opt_program;

/* opt_settings.c */
Settings settings_default(void);
// Parses a command line; several may follow one another. The arena holds the arguments of response files; NULL: `@FILE`
// is an operand. Other results than ST_OK: a message was printed. *done: help or the like was printed.
Status settings_parse(Settings *s, int argc, char **argv, Arena *responses, bool *done);
// True if the options print tables, or graphs of the input, which go to standard output.
bool settings_tables(const Settings *s);
// Prints a message and returns false.
bool settings_usage(const char *message);
// Returns the knob of `NAME:N`, a value of --debug-counter, and writes its setting as text; -1: no such counter exists.
int settings_counter(const char *value, char *text, size_t cap);

/* oriopt.c */
// `quiet`: prints nothing; the caller uses the status only.
Status run_job(const Settings *s, bool quiet);

/* opt_reproduce.c */
// True if internal errors and crashes of this job leave reproducers; the runs of reproducers leave none.
bool wants_reproducer(const Settings *s);
// Writes the lines of the header for the input with all options: those after reproducer_start().
void reproducer_header(Job *job, Out *out);
// Writes a reproducer of the job to a file and prints its name. `error`: the job failed with it; NULL: it succeeded.
void write_reproducer(Job *job, const char *error);
// Repeats a run. The options of this command line follow those of the reproducer.
Status run_reproducer(const Settings *given, int argc, char **argv, Arena *responses);

/* opt_crash.c */
// After this call, the signals of a crash print a line, and write a reproducer of the job of crash_prepare().
void crash_start(void);
// Prepares the texts of a reproducer of the job if it requires one. They and the input must last until crash_clear().
void crash_prepare(Job *job);
void crash_clear(const Job *job);

#endif
