// SPDX-License-Identifier: MIT
// What a program says about itself: --help, --version, and by --generate its man page and the completions of shells.
// All of it comes out of one Program, whose options are the table that the parser has.
//
//     OptionParser p = program_parser(&program, argc, argv);
//     for (int id; (id = program_next(&program, &p, &out)) != OPTION_END;)
//         if (id == OPTION_DONE) ...
//
// In texts, `...` are literal words, which the man page prints bold, and an empty line is between paragraphs.
#ifndef ORI_OPTION_DOCS_H
#define ORI_OPTION_DOCS_H

#include "tools/options/options.h"

typedef struct DocRow {
    const char *term, *text;
} DocRow;

typedef struct DocSection {
    const char *title;  // in small letters
    const char *intro;  // before the rows; NULL: nothing
    const DocRow *rows;
    size_t nrows;
    const char *close;  // behind them; NULL: nothing
    bool man_only;
} DocSection;

#define DOC_ROWS(array) .rows = (array), .nrows = ARRAY_LEN(array)

typedef struct Program {
    const char *name;
    const char *purpose;   // a line, for lists of programs
    const char *operands;  // `FILE`, with what else may stand there; empty: it takes none
    const char *about;
    const char *spelling;  // of options, where one dash is not the same as two; NULL: as option_next() takes them
    const Option *options;
    size_t noptions;
    const DocSection *sections;
    size_t nsections;
    const DocRow *statuses;
    size_t nstatuses;
    const DocSection *last;  // behind the exit statuses
    size_t nlast;
} Program;

enum { OPTION_DONE = -4 };  // the program answered, and has nothing else to do

// Prints `NAME: ` and a message to standard error. Returns false.
bool program_fail(const Program *program, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
OptionParser program_parser(const Program *program, int argc, char **argv);
// Like option_next(), but answers `help`, `version` and `generate`, which all programs have. The first two are
// `ori-help` and `ori-version` where the plain names belong to another program.
int program_next(const Program *program, OptionParser *p, Out *out);
// Flushes standard output. False: it could not be written, and a message says so.
bool program_written(const Program *program);

/* option_complete.c */
void complete_bash(const Program *program, Out *out);
void complete_zsh(const Program *program, Out *out);
void complete_fish(const Program *program, Out *out);

#endif
