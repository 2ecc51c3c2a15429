// SPDX-License-Identifier: MIT
// Makes and prints a program: head, variables, functions, kernels.
#include <stdio.h>

#include "tools/origen/origen.h"

static const Flavor flavors[] = {
#define FLAVOR(id, style, in_frame, blocks, generic, frame_space, label, help) \
    {STYLE_##style, in_frame, blocks, generic, frame_space, label, help},
#include "tools/origen/flavors.def"
};

// PTX version by target: ptxas requires it, and it has all instructions that origen writes.
static const struct {
    uint32_t sm;
    const char *version;
} versions[] = {{0, "8.4"}, {100, "9.0"}};

/* -- Texts ---------------------------------------------------------------------------------------------- */

static void begin_text(Gen *g, Out *out, TextBuffer *text)
{
    *text = (TextBuffer){.arena = g->arena};
    out_init(out, g->arena, out_to_text, text);
}

static void print_text(Out *out, const TextBuffer *text)
{
    if (text->n)
        out_bytes(out, text->at, text->n);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static const Flavor *flavor(Gen *g)
{
    const Flavor *f;
    do
        f = ANY_OF(g, flavors);
    while (g->options.style != STYLE_MIXED && g->options.style != f->style);
    return f;
}

void fn_begin(Gen *g, const char *name, const Kernel *kernel, uint32_t size)
{
    Fn *fn = &g->fn;
    *fn = (Fn){.number = g->numbers++, .kernel = kernel, .flavor = flavor(g), .frequency = 1};
    snprintf(fn->name, sizeof fn->name, "%s", name);
    fn->work_limit = kernel ? 3000 + 4 * (uint64_t)size : 300 + 2 * (uint64_t)size;
    bool generic = !*fn->flavor->frame_space;
    fn->frame_object = (Object){.space = generic ? SPACE_GENERIC : SPACE_LOCAL, .symbol = generic ? "%SP" : "%SPL"};
    fn->frame_object.actual_space = SPACE_LOCAL;
    fn->exit = label_new(g);
    g->body_text.n = 0;
    begin_text(g, &fn->declarations, &fn->declarations_text);
}

static void print_frame(Gen *g)
{
    const Fn *fn = &g->fn;
    if (!fn->frame)
        return;
    out_fmt(&g->code, "\t.local .align 16 .b8 \t__local_depot%u[%u];\n\t.reg .b64 \t%%SP;\n\t.reg .b64 \t%%SPL;\n",
            fn->number, (fn->frame + 15) & ~15u);
}

static void print_registers(Gen *g)
{
    for (uint32_t b = 0; b < BANK_COUNT; b++)
        if (g->fn.regs[b])
            out_fmt(&g->code, "\t.reg .%s \t%%%s<%u>;\n", bank_info[b].type, bank_info[b].prefix, g->fn.regs[b] + 1);
}

void fn_print(Gen *g)
{
    Fn *fn = &g->fn;
    out_flush(&fn->declarations);
    out_flush(&g->body);
    out_fmt(&g->code, "{ // in the manner of: %s\n", fn->flavor->help);
    print_frame(g);
    print_text(&g->code, &fn->declarations_text);
    print_registers(g);
    out_char(&g->code, '\n');
    if (fn->frame)
        out_fmt(&g->code, "\tmov.u64 \t%%SPL, __local_depot%u;\n\tcvta.local.u64 \t%%SP, %%SPL;\n", fn->number);
    print_text(&g->code, &g->body_text);
    out_z(&g->code, "}\n");
}

/* -- The program ---------------------------------------------------------------------------------------- */

void program_make(Gen *g)
{
    g->rng = random_start(g->options.seed, "program");
    g->bare_add = chance(g, 1, 2);
    begin_text(g, &g->head, &g->head_text);
    begin_text(g, &g->body, &g->body_text);
    begin_text(g, &g->code, &g->code_text);
    operations_init(g);
    variables_make(g);
    functions_make(g);
    kernels_make(g);
    out_flush(&g->head);
    out_flush(&g->code);
}

static const char *version_of(uint32_t sm)
{
    const char *version = versions[0].version;
    for (uint32_t k = 0; k < ARRAY_LEN(versions); k++)
        if (sm >= versions[k].sm)
            version = versions[k].version;
    return version;
}

// Prints the options that reproduce the program.
static void print_options(const Options *o, Out *out)
{
    static const char *const styles[] = {"", "naive", "optimized", "mixed"};
    out_fmt(out, "// origen --seed %llu --size %u --style %s --target %s", (unsigned long long)o->seed, o->size,
            styles[o->style], o->target);
    if (o->kernels)
        out_fmt(out, " --kernels %u", o->kernels);
    out_z(out, " --features ");
    features_print(out, o);
    out_char(out, '\n');
}

void program_print(const Gen *g, Out *out)
{
    print_options(&g->options, out);
    out_fmt(out, ".version %s\n.target %s\n.address_size 64\n\n", version_of(g->options.sm), g->options.target);
    print_text(out, &g->head_text);
    print_text(out, &g->code_text);
}
