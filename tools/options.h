// SPDX-License-Identifier: MIT
// Command lines from a table of options: parser and --help come out of the same rows.
#ifndef ORI_OPTIONS_H
#define ORI_OPTIONS_H

#include "ir/base/base.h"

#define ORI_VERSION "0.1"  // of the programs

typedef enum {
    ARG_NONE,      // --x
    ARG_VALUE,     // --x=V or --x V
    ARG_OPTIONAL,  // --x or --x=V
    ARG_JOINED,    // -xV
} ArgKind;

typedef struct Option {
    int id;
    const char *name;  // without dashes
    ArgKind kind;
    const char *arg;  // how help calls the value
    const char *help;
} Option;

typedef struct OptionParser {
    const Option *table;
    size_t n;
    int argc, at;
    char **argv;
    const char *value;  // of the option that option_next returned; NULL if it has none
    char error[300];
} OptionParser;

enum { OPTION_END = -1, OPTION_ERROR = -2, OPTION_OPERAND = -3 };

// The next option's id; OPTION_OPERAND with the operand in `value`; OPTION_END; OPTION_ERROR with a message.
int option_next(OptionParser *p);
void option_help(Out *out, const Option *table, size_t n);

#endif
