// SPDX-License-Identifier: MIT
// Between the files of ori-ptxas:
//
//     oriptxas.c  the program, its texts, and the choice between compiling and passing on
//     words.c     words of options files and of ORI_PTXAS_FLAGS
//     command.c   ptxas's command line
//     find.c      ptxas, oriopt and nvcc
//     compile.c   oriopt, then ptxas, and the way back to the original
//     report.c    ORI_PTXAS_LOG and ORI_PTXAS_KEEP
//     nvcc_dir.c  --make-nvcc-dir
#ifndef ORI_ORIPTXAS_H
#define ORI_ORIPTXAS_H

#include "tools/options/option_docs.h"
#include "tools/options/process.h"

enum {
#define OPTION(id, ...) OPT_##id,
#define PTXAS(id, ...) OPT_##id,
#include "tools/oriptxas/oriptxas.def"
#undef OPTION
#undef PTXAS
    OPT_COUNT,
    OWN_OPTIONS = OPT_GENERATE + 1
};
extern const Option ptxas_options[OPT_COUNT];  // by id; the first OWN_OPTIONS are those of ori-ptxas
extern const Program ptxas_program;

// Prints `ori-ptxas: warning: ...` unless ptxas was told not to warn.
void warn(bool silent, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* words.c */
// Appends the words of a text as ptxas takes its options files apart: blanks and ends of lines separate words, `"`
// quotes blanks, and a backslash quotes any character. False: a quotation mark is not closed.
bool words_split(Texts *words, Arena *arena, const char *text, size_t n);

/* command.c */
typedef enum { ROLE_PLAIN, ROLE_INPUT, ROLE_OUTPUT } Role;

typedef struct Word {
    const char *text;
    Role role;  // ROLE_OUTPUT: the option and its value
} Word;

typedef struct Command {
    Texts given;        // the command line, with the words of `@FILE` in its place
    VEC(Word) words;    // the same, with the words of options files in the place of the option
    uint32_t ninputs;   // words of ROLE_INPUT
    const char *as_is;  // the reason why nothing is optimized; NULL: the inputs are
    bool surprising;    // the reason is worth a warning
    bool verbose, silent;
    int level;        // of optimization; -1: that of oriopt
    const char *gpu;  // as --gpu-name has it; NULL: the default of ptxas
} Command;

void command_read(Command *c, Arena *arena, int argc, char **argv);

/* find.c */
// Returns the path of this program, without symbolic links; NULL: it cannot be found.
const char *find_self(Arena *arena, const char *argv0);
// Returns the oriopt beside this program, else that of the PATH; NULL: there is none.
const char *find_oriopt(Arena *arena, const char *self);
// Returns the program that ORI_PTXAS names, else the first ptxas on the PATH, that is neither this program nor one that
// led to it. NULL: there is none, and a message was printed. *inner: this run was started as the ptxas of another one.
const char *find_ptxas(Arena *arena, const char *self, bool *inner);

/* compile.c */
typedef struct Input {
    const char *name;       // on the command line
    const char *path;       // a file with its text, which can be read twice
    const char *optimized;  // what oriopt wrote; NULL: nothing
    const char *kept;       // the reason why the original is compiled; NULL: it is not
    const char *stats;      // JSON of oriopt; NULL: none
} Input;

typedef struct Compile {
    Arena *arena;
    const Command *command;
    const char *ptxas, *oriopt;      // oriopt NULL: there is none
    const char *folder;              // for temporary files
    Input *inputs;                   // command->ninputs
    const char *flags, *log, *keep;  // ORI_PTXAS_FLAGS, ORI_PTXAS_LOG, ORI_PTXAS_KEEP; NULL: not set
    const char *version;             // ORI_PTX_VERSION; NULL: not set
} Compile;

// Optimizes the inputs, runs ptxas, and ends the process as ptxas did. Returns if it could do nothing.
void compile(Compile *c);
// Returns a command line of ptxas. `optimized`: with the optimized inputs where there are such. `measured`: for its
// messages alone; the output is this file.
Texts compile_words(const Compile *c, bool optimized, const char *measured);
// Returns the text of a file; NULL: it cannot be read.
const char *file_text(Arena *arena, const char *path);
// True for a file that can be read twice: not for pipes, nor for `-`, which is standard input.
bool file_is_regular(const char *path);

/* report.c */
// Appends a line for each kernel if ptxas accepted the optimized inputs, and one for each input that is compiled as it
// is. `messages`: a file with those of ptxas -v for the optimized inputs; NULL: they are measured.
void report_log(const Compile *c, bool accepted, const char *messages);
// Appends a line for each input of a command that is passed on.
void report_passed(Arena *arena, const Command *command, const char *log);
// Copies an input and what became of it.
void report_keep(const Compile *c, const Input *input);

/* nvcc_dir.c */
Status nvcc_dir_make(Arena *arena, const char *folder, const char *self);

#endif
