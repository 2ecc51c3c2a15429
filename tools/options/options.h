// SPDX-License-Identifier: MIT
// Command lines from a table of options. The parser, --help, the man page and the completions of shells use the same
// rows (tools/options/option_docs.h). The word for the value determines its completion; no other table exists for that:
//
//     FILE  FILE.run        a file; one with this ending
//     DIR                   a folder
//     a|b|c  json           one of these: small letters and digits
//     0..4                  a number from 0 to 4
//     PHASE  FEATURE        a name that the program lists, see option_lists.def; `WORD=...` is a name followed by `=`
//     a,b,c  PHASE,...      several of them, with `,` or `+` between
//     anything else         free text, which is not completed
//
// Brackets around the value and the `=` of `[=json]` are ignored.
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
    ARG_EITHER,    // -xV or -x V
} ArgKind;

typedef struct Option {
    int id;
    const char *name;  // without dashes
    ArgKind kind;
    const char *arg;  // the word for the value in help
    const char *help;
} Option;

typedef struct OptionParser {
    const Option *table;
    size_t n;
    int argc, at;
    char **argv;
    Arena *arena;         // holds arguments of response files; NULL: `@FILE` is an operand
    const char **places;  // of the arguments, by index; NULL: no response file was read
    uint32_t responses;   // response files read so far
    bool operands_only;   // after `--`
    // Of the result of option_next():
    const Option *option;
    const char *value;  // of the option, NULL if it has none; the operand
    const char *typed;  // the argument that holds the option
    const char *place;  // FILE:LINE:COL of this argument in a response file; NULL: the command line
    Status status;      // of OPTION_ERROR: ST_USAGE, or ST_IO
    char error[300];
} OptionParser;

enum { OPTION_END = -1, OPTION_ERROR = -2, OPTION_OPERAND = -3 };

/* options.c */
// Returns the id of the next option; OPTION_OPERAND with the operand in `value`; OPTION_END; OPTION_ERROR with a
// message in `error`.
int option_next(OptionParser *p);
// Returns the dashes that messages and help show before the name.
const char *option_dashes(const Option *o);
// Writes the word for the value without brackets and the `=` of `[=json]`.
void option_word(const Option *o, char word[static 200]);
// Writes the values that `a|b|c` allows as "a, b or c".
void option_choices(const Option *o, char text[static 200]);
// Returns the index of a value among those of `a|b|c`; -1: it is none of them.
int option_choice(const Option *o, const char *value);

/* response.c */
// Replaces the argument `@FILE` at p->at by the arguments in FILE, which are separated by blanks and line ends. Quotes
// ('...', "...") hold blanks; a backslash outside of '...' takes the next character as it is. False: p->error has the
// reason.
bool response_expand(OptionParser *p);

#endif
