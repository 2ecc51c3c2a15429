// SPDX-License-Identifier: MIT
// Command lines from a table of options: the parser, --help, the man page and the completions of shells come out of the
// same rows (tools/options/option_docs.h). What `arg` calls the value says how it completes; there is no other table
// for that:
//
//     FILE  FILE.run        a file; one with this ending
//     DIR                   a folder
//     a|b|c  json           one of these: small letters and digits
//     0..4                  a number from 0 to 4
//     PHASE  FEATURE        a name of the program, see option_lists.def; `WORD=...` is a name with `=` behind it
//     a,b,c  PHASE,...      several of them, with `,` or `+` between
//     anything else         free text, which nothing completes
//
// Brackets around the value and the `=` of `[=json]` do not matter.
#ifndef ORI_OPTIONS_H
#define ORI_OPTIONS_H

#include "tools/lib/ori.h"
#include "tools/options/files.h"

// The version of ori.h as text.
#define VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define VERSION_OF(major, minor, patch) VERSION_TEXT(major, minor, patch)
#define ORI_VERSION VERSION_OF(ORI_VERSION_MAJOR, ORI_VERSION_MINOR, ORI_VERSION_PATCH)

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
    const Option *option;  // that option_next returned
    const char *value;     // of this option; NULL if it has none
    char error[300];
} OptionParser;

enum { OPTION_END = -1, OPTION_ERROR = -2, OPTION_OPERAND = -3 };

// The next option's id; OPTION_OPERAND with the operand in `value`; OPTION_END; OPTION_ERROR with a message.
int option_next(OptionParser *p);
// The dashes that an option is shown with.
const char *option_dashes(const Option *o);

#endif
