// SPDX-License-Identifier: MIT
// Writes the launches as a .run file for orirun.
#include <inttypes.h>

#include "tools/origen/kernel.h"

static void print_dim(Out *out, const char *name, Dim d) { out_fmt(out, "%s %u,%u,%u\n", name, d.x, d.y, d.z); }

static uint32_t bytes_of(const char *type) { return type[1] == '8' ? 1 : type[1] == '1' ? 2 : type[1] == '3' ? 4 : 8; }

static void print_bits(Gen *g, Out *out, const char *type)
{
    uint32_t bits = bytes_of(type) * 8;
    uint64_t x = chance(g, 1, 2) ? roll(g, 100) : draw(g);
    Literal l = literal(g, bits == 64 ? CLASS_G : CLASS_F);
    if (type[0] == 'f')
        out_fmt(out, "%s:0x%s\n", type, l.text + 2);
    else
        out_fmt(out, "%s:0x%" PRIx64 "\n", type, bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1));
}

static void print_struct(Gen *g, Out *out, uint32_t bytes)
{
    out_z(out, "struct:hex:");
    for (uint32_t k = 0; k < bytes; k++)
        out_hex(out, roll(g, 256), 2);
    out_char(out, '\n');
}

static void print_buffer(Gen *g, Out *out, const Param *p, uint32_t bytes)
{
    out_fmt(out, "buf:%ux%s:rand:%u%s\n", bytes / bytes_of(p->type), p->type, roll(g, 1000), p->range);
}

static void print_arg(Gen *g, Out *out, const Kernel *k, const Launch *l, uint32_t number)
{
    const Param *p = &k->params.at[number];
    uint32_t threads = dim_size(l->grid) * dim_size(l->block);
    bool again = p->of != number && chance(g, 2, 3);
    out_z(out, "arg ");
    switch (p->kind) {
    case PARAM_RECORD: out_fmt(out, "buf:%u\n", threads * p->bytes); return;
    case PARAM_COUNTS: out_fmt(out, "buf:%uxu64:rand:%u\n", p->bytes / 8, roll(g, 1000)); return;
    case PARAM_SCALAR: print_bits(g, out, p->type); return;
    case PARAM_LIMIT: out_fmt(out, "u32:%u\n", threads - roll(g, threads / 2 + 1)); return;
    case PARAM_STRUCT: print_struct(g, out, p->bytes); return;
    case PARAM_INPUT:
    case PARAM_SLOTS:
        if (again)
            out_fmt(out, "ref:%u\n", p->of);
        else
            print_buffer(g, out, p, p->kind == PARAM_SLOTS ? p->bytes * threads : p->bytes);
        return;
    }
}

static void print_launch(Gen *g, Out *out, const Kernel *k, const Launch *l, bool keep)
{
    out_fmt(out, "entry %s\n", k->name);
    if (keep)
        out_z(out, "keep\n");
    print_dim(out, "grid", l->grid);
    print_dim(out, "block", l->block);
    if (k->dynamic)
        out_fmt(out, "shared %u\n", k->dynamic * dim_size(l->block));
    for (uint32_t j = 0; j < k->params.n; j++)
        print_arg(g, out, k, l, j);
}

void launches_print(Gen *g, Out *out, const char *file)
{
    g->rng = random_start(g->options.seed, "launches");
    out_fmt(out, "# The launches of a program that origen made.\nfile %s\n", file);
    for (uint32_t k = 0; k < g->kernels.n; k++)
        for (uint32_t j = 0; j < g->kernels.at[k]->nlaunches; j++) {
            if (k + j)
                out_z(out, "---\n");
            print_launch(g, out, g->kernels.at[k], &g->kernels.at[k]->launches[j],
                         k + j && has(g, FT_INTERNAL) && chance(g, 1, 2));
        }
}
