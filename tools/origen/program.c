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

void text_begin(Gen *g, Out *out, TextBuffer *text)
{
    *text = (TextBuffer){.arena = g->arena};
    out_init(out, g->arena, out_to_text, text);
}

void text_print(Out *out, const TextBuffer *text)
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
    if (has(g, FT_CALL) && has(g, FT_GRAPH))
        fn->work_limit *= 2;
    bool generic = !*fn->flavor->frame_space;
    fn->frame_object = (Object){.space = generic ? SPACE_GENERIC : SPACE_LOCAL, .symbol = generic ? "%SP" : "%SPL"};
    fn->frame_object.actual_space = SPACE_LOCAL;
    fn->exit = label_new(g);
    g->body_text.n = 0;
    text_begin(g, &fn->declarations, &fn->declarations_text);
}

static void print_frame(Gen *g)
{
    const Fn *fn = &g->fn;
    if (!fn->frame)
        return;
    out_fmt(g->to, "\t.local .align 16 .b8 \t__local_depot%u[%u];\n\t.reg .b64 \t%%SP;\n\t.reg .b64 \t%%SPL;\n",
            fn->number, (fn->frame + 15) & ~15u);
}

static void print_registers(Gen *g)
{
    for (uint32_t b = 0; b < BANK_COUNT; b++)
        if (g->fn.regs[b])
            out_fmt(g->to, "\t.reg .%s \t%%%s<%u>;\n", bank_info[b].type, bank_info[b].prefix, g->fn.regs[b] + 1);
}

void fn_print(Gen *g)
{
    Fn *fn = &g->fn;
    out_flush(&fn->declarations);
    out_flush(&g->body);
    out_fmt(g->to, "{ // in the manner of: %s\n", fn->flavor->help);
    print_frame(g);
    text_print(g->to, &fn->declarations_text);
    print_registers(g);
    out_char(g->to, '\n');
    if (fn->frame)
        out_fmt(g->to, "\tmov.u64 \t%%SPL, __local_depot%u;\n\tcvta.local.u64 \t%%SP, %%SPL;\n", fn->number);
    text_print(g->to, &g->body_text);
    out_z(g->to, "}\n");
}

/* -- The program ---------------------------------------------------------------------------------------- */

void program_make(Gen *g)
{
    g->rng = random_start(g->options.seed, "program");
    g->bare_add = chance(g, 1, 2);
    text_begin(g, &g->head, &g->head_text);
    text_begin(g, &g->body, &g->body_text);
    text_begin(g, &g->code, &g->code_text);
    text_begin(g, &g->front, &g->front_text);
    g->to = &g->code;
    operations_init(g);
    variables_make(g);
    structures_make(g);
    mallocs_make(g);
    functions_make(g);
    kernels_make(g);
    out_flush(&g->head);
    out_flush(&g->front);
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
    text_print(out, &g->head_text);
    text_print(out, &g->front_text);
    text_print(out, &g->code_text);
    functions_print(g, out);
    if (has(g, FT_LINES))
        out_z(out, "\t.file\t1 \"origen.cu\"\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 102,48,0\n\t}\n");
}
