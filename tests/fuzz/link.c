// SPDX-License-Identifier: MIT
// libFuzzer target: rewrites the input as a file of a link, in the two ways to remove dead code.
#include "tools/orilink/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX ((size_t)256 << 20)

static void no_message(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

static void rewrite(Link *link, const uint8_t *data, size_t size)
{
    DocumentedOptions options = {0};
    Seeds seeds = {.by_list = true};
    TextBuffer text = {.arena = &link->arena};
    File file;
    uint32_t sm = 0;
    bool removes;
    str_init(&link->names, &link->arena, NULL);
    VEC_PUSH(&link->arena, &seeds.kernels, "main");
    if (size & 1)
        VEC_PUSH(&link->arena, &seeds.variables, "none");
    if (file_parse(&file, "input", data, size, link, &sm) != ST_OK)
        return;
    graph_build(link);
    seed_roots(link, &seeds, &removes);
    if (size & 2)
        dce_documented(link, &options);
    else
        dce_full(link);
    file_rewrite(&file, link, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Heap heap = {.limit = MEMORY_MAX};
    Diag diag = {.write = no_message};
    Link link = {.heap = &heap, .diag = &diag};
    jmp_buf unwind;
    heap.unwind = &unwind;
    arena_init(&link.arena, &heap);
    if (setjmp(unwind) == 0)
        rewrite(&link, data, size);
    else if (heap.status == ST_INTERNAL)
        __builtin_trap();
    heap_release(&heap);
    return 0;
}
