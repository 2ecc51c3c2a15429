// SPDX-License-Identifier: MIT
// Kernels in Ori text.
#include "tests/unit/kernel.h"

void kernel_open(Kernel *k, const char *form, const char *body)
{
    Sink messages = {0};
    memset(k, 0, sizeof *k);
    unit_heap(&k->ctx.heap);
    arena_init(&k->ctx.arena, &k->ctx.heap);
    phase_factory(&k->ctx);
    TextBuffer text = {.arena = &k->ctx.arena};
    const char *const parts[] = {"target sm_80 ptx 8.0 address 64\nkernel @f form ", form, " {\n", body, "}\n"};
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        out_to_text(&text, parts[p], strlen(parts[p]));
    Source source = text_source(&text, "in");
    Diag diag = {.source = &source, .write = sink_append, .user = &messages};
    k->module = text_read(&k->ctx.heap, &source, &diag);
    if (!k->module)
        heap_fail(&k->ctx.heap, ST_BAD_INPUT, "%.*s", (int)MIN(messages.n, 200), messages.text);
    sink_free(&messages);
    module_freeze(k->module);
    k->fn = k->module->fns.at[0];
    fn_own_tables(k->fn);
}

void kernel_close(Kernel *k)
{
    InstrId at;
    char why[200];
    analysis_drop(k->fn, 0);
    if (!CHECK(fn_verify(k->fn, VERIFY_FORM, &at, why)))
        CHECK_Z(why, "");
    module_free(k->module);
    arena_free(&k->ctx.arena);
    heap_release(&k->ctx.heap);
}

const char *kernel_body(Kernel *k)
{
    Out out;
    k->printed = (TextBuffer){.arena = &k->ctx.arena};
    out_init(&out, &k->ctx.arena, out_to_text, &k->printed);
    text_write_fn(k->fn, &out);
    out_char(&out, 0);
    out_flush(&out);
    const char *start = strstr(k->printed.at, "b0:");
    return start ? start : "";
}
