// SPDX-License-Identifier: MIT
// Makes variables of device functions: read-only tables, and shared memory with a part for each thread. They are one
// object for all calls, which a caller sees through a pointer that the function returns.
#include "tools/origen/function.h"
#include "tools/origen/kernel.h"

enum { MOST_THREADS = 128, MOST_WORDS = 4 };

Formal static_result(Gen *g, Function *f)
{
    uint32_t bytes = 4 * roll_between(g, 1, MOST_WORDS);
    f->part = text(g, "%s_part", f->name);
    f->pure = false;
    return (Formal){.passing = BY_POINTER, .bytes = bytes, .align = bytes & (0 - bytes), .written = true};
}

static void add_part(Gen *g, const char *name, uint32_t bytes)
{
    Fn *fn = &g->fn;
    out_fmt(&fn->declarations, "\t.shared .align 16 .b8 \t%s[%u];\n", name, bytes * MOST_THREADS);
    fn->thread = number_make(g, true, THREAD);
    fn->threads = number_make(g, true, THREADS);
    shared_add(g, name, bytes);
}

static void add_table(Gen *g)
{
    Fn *fn = &g->fn;
    out_char(&fn->declarations, '\t');
    object_push(g, table_print(g, &fn->declarations, text(g, "%s_table", fn->name), false));
}

void statics_enter(Gen *g, const Function *f)
{
    if (f->part)
        add_part(g, f->part, f->result.bytes);
    if (!has(g, FT_STATIC))
        return;
    if (!f->part && chance(g, 1, 4))
        add_part(g, text(g, "%s_shared", f->name), 4 * roll_between(g, 2, MOST_WORDS));
    if (chance(g, 1, 3))
        add_table(g);
}

void static_result_store(Gen *g, const Function *f, Value *total)
{
    Object o = {.space = SPACE_SHARED, .bytes = f->result.bytes, .align = f->result.align};
    Place p = {&o, NULL, 0};
    Value *generic = value_scratch(g, CLASS_D);
    o.base = part_of_thread(g, f->part, NULL, g->fn.thread, o.bytes);
    code(g, "st.shared.u32 $o, $v;", &p, total);
    code(g, "cvta.shared.u64 $w, $v; st.param.b64 [func_retval0+0], $v;", generic, o.base, generic);
}
