// SPDX-License-Identifier: MIT
// Common parts of the libFuzzer targets: inputs, failures, outputs in memory.
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static void drop(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < size; k++)
        h = (h ^ data[k]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

void fuzz_guard(const uint8_t *data, size_t size, size_t limit, FuzzBody *body)
{
    static Fuzz f;
    jmp_buf unwind;
    memset(&f, 0, sizeof f);
    f.ctx.heap = (Heap){.unwind = &unwind, .limit = limit};
    f.ctx.diag = (Diag){.write = drop, .max_errors = 20};
    f.ctx.options.positions = true;
    f.seed = hash_of(data, size);
    if (!setjmp(unwind)) {
        arena_init(&f.ctx.arena, &f.ctx.heap);
        f.source = fuzz_source(&f.ctx.arena, "input", data, size);
        body(&f);
    } else if (f.ctx.heap.status == ST_INTERNAL) {
        fuzz_found("internal error: ", f.ctx.heap.message, strlen(f.ctx.heap.message));
    }
    heap_release(&f.ctx.heap);
}

void fuzz_found(const char *what, const char *text, size_t n)
{
    fprintf(stderr, "FUZZ: %s%.*s\n", what, (int)MIN(n, 100000), text);
    abort();
}

static bool keep(void *user, const char *text, size_t n)
{
    FuzzText *t = user;
    for (size_t k = 0; k < n; k++)
        VEC_PUSH(t->arena, &t->at, text[k]);
    return true;
}

Out fuzz_out(FuzzText *text) { return (Out){.write = keep, .user = text}; }

Source fuzz_source(Arena *arena, const char *name, const void *text, size_t n)
{
    char *copy = arena_zalloc(arena, n + SOURCE_SLACK);
    if (n)
        memcpy(copy, text, n);
    return (Source){.name = name, .text = copy, .len = n};
}
