// SPDX-License-Identifier: MIT
// Common parts of the libFuzzer targets.
#ifndef ORI_FUZZ_H
#define ORI_FUZZ_H

#include "tools/lib/lang.h"

// An input, and the context in which it is used.
typedef struct Fuzz {
    Ctx ctx;
    Source source;  // the input, with SOURCE_SLACK readable bytes after it
    uint64_t seed;  // a hash of the input, for choices
} Fuzz;

typedef void FuzzBody(Fuzz *f);

// Runs a body on an input with a heap of its own of at most `limit` bytes. A failure of the heap (a limit) ends the
// body; an internal error ends the program.
void fuzz_guard(const uint8_t *data, size_t size, size_t limit, FuzzBody *body);

// Ends the program, because the input shows a defect. `text` follows the message.
_Noreturn void fuzz_found(const char *what, const char *text, size_t n);

// Text written to an Out, in an arena.
typedef struct FuzzText {
    Arena *arena;
    VEC(char) at;
} FuzzText;
Out fuzz_out(FuzzText *text);

// Makes a source of a text, with the slack that readers require.
Source fuzz_source(Arena *arena, const char *name, const void *text, size_t n);

#endif
