// SPDX-License-Identifier: MIT
// Makes variables of the module: read-only tables in .const and .global, and pointers to them.
#include <inttypes.h>

#include "tools/origen/origen.h"

enum { TABLES_MOST = 4 };

static const struct {
    const char *type;
    Class cls;
} kinds[] = {
    {"b8", CLASS_H},  {"u16", CLASS_H}, {"u32", CLASS_R}, {"s32", CLASS_R}, {"u64", CLASS_D},
    {"f32", CLASS_F}, {"f64", CLASS_G}, {"b32", CLASS_R}, {"s16", CLASS_H},
};

static void element(Gen *g, Out *out, uint32_t kind)
{
    Class c = kinds[kind].cls;
    if (kind == 0) {
        out_u64(out, roll(g, 256));
        return;
    }
    Literal l = literal(g, c);
    bool unsigned_type = kinds[kind].type[0] == 'u' && l.text[0] == '-';
    out_z(out, l.text + unsigned_type);
}

// Elements after the initializer are zero.
Object table_print(Gen *g, Out *out, const char *name, bool of_module)
{
    uint32_t kind = roll(g, ARRAY_LEN(kinds)), size = kind == 0 ? 1 : class_info[kinds[kind].cls].bytes;
    uint32_t bytes = 32u << roll(g, 3), n = bytes / size, given = chance(g, 1, 4) ? roll_between(g, 1, n) : n;
    bool constant = chance(g, 1, 2);
    Object o = {.space = constant ? SPACE_CONST : SPACE_GLOBAL, .bytes = bytes, .align = MAX(size, 4u << roll(g, 3))};
    o.symbol = name;
    o.type = kinds[kind].type;
    o.constant = true;
    out_fmt(out, "%s%s .align %u .%s %s[%u] = {", of_module && chance(g, 1, 3) ? ".visible " : "", space_name(o.space),
            o.align, o.type, o.symbol, n);
    for (uint32_t k = 0; k < given; k++) {
        out_z(out, k ? ", " : "");
        element(g, out, kind);
    }
    out_z(out, "};\n");
    o.actual_space = o.space;
    return o;
}

static void table(Gen *g, uint32_t number)
{
    Object *o = NEW(g->arena, Object);
    *o = table_print(g, &g->head, text(g, "table%u", number), true);
    VEC_PUSH(g->arena, &g->variables, o);
}

// Declares a variable that holds the address of a table, and makes the table accessible through it.
static void pointer(Gen *g, uint32_t number, uint32_t tables)
{
    const Object *to = g->variables.at[roll(g, tables)];
    bool generic = to->space == SPACE_CONST || chance(g, 1, 2);
    uint32_t skip = to->bytes > 16 ? 4 * roll(g, 3) : 0;
    Object *o = NEW(g->arena, Object);
    *o = *to;
    o->symbol = text(g, "pointer%u", number);
    o->is_pointer = true;
    o->space = generic ? SPACE_GENERIC : SPACE_GLOBAL;
    o->bytes -= skip;
    o->align = MIN(o->align, 4);
    out_fmt(&g->head, ".global .align 8 .u64 %s = %s%s%s+%u;\n", o->symbol, generic ? "generic(" : "", to->symbol,
            generic ? ")" : "", skip);
    VEC_PUSH(g->arena, &g->variables, o);
}

void variables_make(Gen *g)
{
    if (!has(g, FT_VARIABLES))
        return;
    uint32_t tables = roll_between(g, 1, TABLES_MOST);
    for (uint32_t k = 0; k < tables; k++)
        table(g, k);
    for (uint32_t k = roll(g, 3); k && has(g, FT_GENERIC); k--)
        pointer(g, k, tables);
    out_char(&g->head, '\n');
}

void variables_enter(Gen *g)
{
    for (uint32_t k = 0; k < g->variables.n; k++) {
        Object o = *g->variables.at[k];
        if (!chance(g, 2, 3))
            continue;
        if (o.is_pointer) {
            o.base = value_make(g, CLASS_D);
            code(g, "ld.global.u64 $w, [$s];", o.base, o.symbol);
        }
        object_push(g, o);
    }
}
