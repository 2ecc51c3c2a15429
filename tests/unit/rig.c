// SPDX-License-Identifier: MIT
// Runs kernels of Ori text on the machine.
#include "tests/unit/rig.h"

#include "ir/text/text.h"

void rig_open(Rig *r, MachineOptions options, const char *text)
{
    uint64_t size;
    memset(r, 0, sizeof *r);
    unit_heap(&r->heap);
    arena_init(&r->arena, &r->heap);
    r->text.arena = &r->arena;
    out_to_text(&r->text, text, strlen(text));
    r->source = text_source(&r->text, "k.ori");
    r->diag = (Diag){.source = &r->source, .write = sink_append, .user = &r->messages};
    r->module = text_read(&r->heap, &r->source, &r->diag);
    if (!r->module)
        heap_fail(&r->heap, ST_BAD_INPUT, "%.*s", (int)MIN(r->messages.n, 200), r->messages.text);
    if (!options.max_steps)
        options.max_steps = 100000;
    r->machine = machine_new(&r->heap, r->module, options);
    for (int k = 0; k < 2; k++)
        r->address[k] = machine_alloc(r->machine, 4 * ROW * ROWS, k ? "in" : "out");
    r->out = machine_bytes(r->machine, r->address[0], &size);
    r->in = machine_bytes(r->machine, r->address[1], &size);
    for (uint32_t t = 0; t < ROW; t++)
        rig_set(r, t, t);
    for (uint32_t k = 0; k < r->module->fns.n; k++)
        if (r->module->fns.at[k]->flags & FN_KERNEL)
            r->entry = r->module->fns.at[k]->sym;
}

bool rig_launch(Rig *r, Dim grid, Dim block)
{
    uint8_t params[16];
    for (int k = 0; k < 16; k++)
        params[k] = (uint8_t)(r->address[k / 8] >> k % 8 * 8);
    Launch l = {.entry = r->entry, .grid = grid, .block = block, .params = params, .nparams = sizeof params};
    return machine_run(r->machine, &l);
}

void rig_run(Rig *r, MachineOptions options, const char *text)
{
    rig_open(r, options, text);
    if (!CHECK(rig_launch(r, (Dim){1, 1, 1}, (Dim){32, 1, 1})))
        CHECK_Z(machine_error(r->machine)->text, "");
}

void rig_close(Rig *r)
{
    sink_free(&r->messages);
    machine_free(r->machine);
    module_free(r->module);
    arena_free(&r->arena);
    heap_release(&r->heap);
}

uint32_t rig_word(const Rig *r, uint32_t k, uint32_t thread)
{
    const uint8_t *from = r->out + 4 * (k * ROW + thread);
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void rig_set(Rig *r, uint32_t thread, uint32_t word)
{
    for (uint32_t b = 0; b < 4; b++)
        r->in[4 * thread + b] = (uint8_t)(word >> 8 * b);
}
