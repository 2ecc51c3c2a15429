// SPDX-License-Identifier: MIT
// Documentation of a program: --help, --version, and with --generate its man page and the completions of shells. A
// Program has all texts; its options are the table of the parser.
//
//     OptionParser p = program_parser(&program, argc, argv, &arena);
//     for (int id; (id = program_next(&program, &p, &out)) != OPTION_END;)
//         if (id == OPTION_DONE) ...
//
// In texts, `...` are literal words, which the man page prints bold, and an empty line separates paragraphs.
#ifndef ORI_OPTION_DOCS_H
#define ORI_OPTION_DOCS_H

#include "tools/options/options.h"

typedef struct DocRow {
    const char *term, *text;
} DocRow;

typedef struct DocSection {
    const char *title;  // in small letters
    const char *intro;  // before the rows; NULL: none
    const DocRow *rows;
    size_t nrows;
    const char *close;  // after them; NULL: none
    bool man_only;
} DocSection;

#define DOC_ROWS(array) .rows = (array), .nrows = ARRAY_LEN(array)

typedef struct Program {
    const char *name;
    const char *purpose;   // a line, for lists of programs
    const char *operands;  // for the synopsis: `FILE`, `FILES|DIRS...`; empty: the program takes none
    const char *about;
    const char *spelling;  // of options, where one dash is not the same as two; NULL: as option_next() takes them
    const Option *options;
    size_t noptions;
    const DocSection *sections;
    size_t nsections;
    const DocRow *statuses;
    size_t nstatuses;
    const DocSection *last;  // after the exit statuses
    size_t nlast;
} Program;

enum { OPTION_DONE = -4 };  // help, version or a generated text was printed; the program ends

// Prints `NAME: ` and a message to standard error. Returns false.
bool program_fail(const Program *program, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Prints a message about the current argument: after `FILE:LINE:COL: error: ` if a response file has it. Returns false.
bool program_fail_at(const Program *program, const OptionParser *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// Prints that the value of the current option is not `expected`; NULL: not one of its choices. Returns false.
bool program_bad_value(const Program *program, const OptionParser *p, const char *expected);
// `arena` holds the arguments of response files and must live as long as the values of options; NULL: `@FILE` is an
// operand.
OptionParser program_parser(const Program *program, int argc, char **argv, Arena *arena);
// As option_next(), but prints the texts of `help`, `version` and `generate`, which all programs have. The first two
// are `ori-help` and `ori-version` if the plain names belong to another program.
int program_next(const Program *program, OptionParser *p, Out *out);
// Flushes standard output. False: this failed, and a message was printed.
bool program_written(const Program *program);

/* option_complete.c */
void complete_bash(const Program *program, Out *out);
void complete_zsh(const Program *program, Out *out);
void complete_fish(const Program *program, Out *out);

#endif
