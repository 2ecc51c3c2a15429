// SPDX-License-Identifier: MIT
// Between the files of oriopt: oriopt.c is the program and its job, opt_settings.c the command line, opt_reproduce.c
// what repeats a run that went wrong.
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

typedef enum { PRINT_NO, PRINT_TEXT, PRINT_JSON } PrintMode;

// An option as it was given.
typedef struct Given {
    int id;
    const char *value;
} Given;

typedef struct Settings {
    const char *input, *output;
    const char *entries[64];
    size_t nentries;
    Lang input_lang, output_lang;  // LANG_AUTO: by content; what came in
    bool emit, print_pipeline, json_diagnostics, strip_debug;
    PrintMode list_phases, list_knobs, list_sm, times, stats;
    const char *knobs[128], *knobs_files[16];
    bool counters[128];  // by knob: it is of --debug-counter
    size_t nknobs, nknobs_files;
    bool print_knobs, ignore_environment;
    PhaseOptions phases;
    uint32_t max_errors;
    unsigned threads;
    uint64_t piece;  // bytes of text that are read before the functions in it run
    uint64_t max_memory, max_insns;
    const char *remarks, *remarks_filter;
    bool check_each;
    const char *run_file;  // of check_each; NULL: beside the input
    const char *reproducer, *run_reproducer;
    const Source *text, *run_text;  // a reproducer: the input, and the .run file of check_each
    Given given[128];               // but for knobs, which the store has
    size_t ngiven;
} Settings;

typedef struct Job {
    const Settings *settings;
    Ctx ctx;
    Source source, run_source;
    KnobStore *knobs;
    Lang lang, output_lang;
    Module *module;
    bool whole;  // read before the first function runs
    bool alone;  // on this thread
    Entries entries;
    bool entry_seen[64];  // of `entries`
    uint64_t instrs;      // read so far
    double read_s, write_s;
    TextBuffer text;  // of check_each: what is to be written
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
// Takes a command line; several may follow one another. False: a message was printed. *done: nothing is left to do.
bool settings_take(Settings *s, int argc, char **argv, bool *done);
// Whether tables are asked for, which go to standard output.
bool settings_tables(const Settings *s);
// Prints a message and returns false.
bool settings_usage(const char *message);
// The knob of `NAME:N`, a counter of --debug-counter, and a setting of it as text; -1: there is none.
int settings_counter(const char *value, char *text, size_t cap);
bool settings_bad_value(const char *option, const char *value, const char *expected);

/* oriopt.c */
// quiet: somebody only wants to know how it ends.
Status run_job(const Settings *s, bool quiet);

/* opt_reproduce.c */
// Writes what repeats the job, which ended with this error (NULL: with none), to a file, and says so.
void write_reproducer(Job *job, const char *error);
// Repeats a run, with a command line that goes on behind what the reproducer says.
Status run_reproducer(const Settings *given, int argc, char **argv);

#endif
