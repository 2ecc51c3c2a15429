// SPDX-License-Identifier: MIT
// Plans the call graph: the functions of a program, their kinds, linkage, order, and tables of functions. A function
// calls functions made before it, and its partner of a recursion.
#include <stdio.h>

#include "tools/origen/function.h"

enum { GRAPH_LEAST = 3, GRAPH_MOST = 10, TABLE_MOST = 4 };

// Activations by one call of a recursive function, by the number of calls in its body. Counters are less than 4.
static const uint32_t activations[] = {1, 4, 15};

/* -- Placement ------------------------------------------------------------------------------------------ */

static Function *function_new(Gen *g)
{
    Function *f = NEW(g->arena, Function);
    snprintf(f->name, sizeof f->name, "f%u", g->nfunctions++);
    f->linkage = "";
    return f;
}

static void declare(Gen *g, Function *f)
{
    f->declared = true;
    g->to = &g->front;
    function_print_head(g, f);
    out_z(g->to, ";\n");
    g->to = &g->code;
}

// Chooses linkage and place of a function. `named`: something names it before its definition.
static void place(Gen *g, Function *f, bool named)
{
    if (has(g, FT_LINKAGE) && chance(g, 1, 2))
        f->linkage = chance(g, 1, 3) ? ".weak " : ".visible ";
    if (named || (has(g, FT_GRAPH) && chance(g, 1, 2)))
        declare(g, f);
    f->behind = f->declared && has(g, FT_GRAPH) && chance(g, 2, 3);
}

// Makes the definition; other functions may call it then.
static void define(Gen *g, Function *f, uint32_t n)
{
    Out behind;
    text_begin(g, &behind, &f->text);
    g->to = f->behind ? &behind : &g->code;
    function_make(g, f, n);
    out_flush(&behind);
    g->to = &g->code;
    VEC_PUSH(g->arena, &g->functions, f);
}

static uint32_t size_of_function(Gen *g)
{
    uint32_t size = g->options.size;
    return roll_between(g, 6, has(g, FT_GRAPH) ? MAX(MIN(size / 8, 60), 7) : MAX(MIN(size / 3, 150), 7));
}

/* -- Kinds ---------------------------------------------------------------------------------------------- */

// Takes the signature of another function.
static void take_signature(Function *f, const Function *from)
{
    memcpy(f->formals, from->formals, sizeof f->formals);
    f->result = from->result;
    f->n = from->n;
    f->in_registers = from->in_registers;
    f->pure = from->pure;
    f->twin = from;
}

static bool may_have_twin(const Function *f) { return !f->partner && !f->lanes && !f->part && !f->stops; }

static void make_plain(Gen *g)
{
    Function *f = function_new(g), *last = g->functions.n ? g->functions.at[g->functions.n - 1] : NULL;
    if (last && has(g, FT_INDIRECT) && chance(g, 1, 2) && may_have_twin(last))
        take_signature(f, last);
    else
        signature_make(g, f);
    f->unused = has(g, FT_LINKAGE) && chance(g, 1, 6);
    place(g, f, false);
    define(g, f, size_of_function(g));
}

static void make_table(Gen *g, uint32_t most)
{
    FunctionTable *t = NEW(g->arena, FunctionTable);
    Function *all[TABLE_MOST];
    uint32_t n = roll_between(g, 2, MIN(most, TABLE_MOST));
    *t = (FunctionTable){.name = text(g, "functions%u", g->tables.n), .n = n};
    t->space = chance(g, 1, 3) ? SPACE_CONST : SPACE_GLOBAL;
    for (uint32_t k = 0; k < n; k++) {
        all[k] = function_new(g);
        if (k)
            take_signature(all[k], all[k - 1]);
        while (!k && (!all[k]->n || all[k]->in_registers || all[k]->part)) {
            all[k]->part = NULL;
            signature_make(g, all[k]);
        }
        place(g, all[k], true);
        define(g, all[k], size_of_function(g));
        t->work = MAX(t->work, all[k]->work);
    }
    out_fmt(&g->front, "\n%s .align 8 .u64 %s[%u] = {", space_name(t->space), t->name, n);
    for (uint32_t k = 0; k < n; k++) {
        out_fmt(&g->front, "%s%s", k ? ", " : "", all[k]->name);
        t->list = k ? text(g, "%s, %s", t->list, all[k]->name) : all[k]->name;
        all[k]->table = t;
    }
    out_z(&g->front, "};\n");
    VEC_PUSH(g->arena, &g->tables, t);
}

static Function *recursive_new(Gen *g)
{
    Function *f = function_new(g);
    do
        signature_make(g, f);
    while (f->in_registers);
    signature_add(g, f, COUNTER);
    f->fanout = chance(g, 1, 4) ? 2 : 1;
    return f;
}

static void make_recursive(Gen *g)
{
    Function *f = recursive_new(g);
    f->partner = f;
    place(g, f, false);
    define(g, f, 6);
    f->work *= activations[f->fanout];
}

// Makes two functions that call each other.
static void make_pair(Gen *g)
{
    Function *f = recursive_new(g), *other = recursive_new(g);
    f->partner = other;
    other->partner = f;
    place(g, f, true);
    place(g, other, true);
    define(g, f, 6);
    define(g, other, 6);
    f->work = other->work = (f->work + other->work) * activations[MAX(f->fanout, other->fanout)];
}

static void make_collective(Gen *g)
{
    Function *f = function_new(g);
    signature_make(g, f);
    f->pure = false;
    f->lanes = chance(g, 1, 2) ? ALL_LANES : LANES_OF_MASK;
    if (f->lanes == LANES_OF_MASK)
        signature_add(g, f, MASK);
    place(g, f, false);
    define(g, f, size_of_function(g));
}

static void make_meeting(Gen *g)
{
    Function *f = function_new(g);
    Sequence *s = NEW(g->arena, Sequence);
    *s = sequence_new(g);
    signature_make(g, f);
    f->pure = false;
    f->lanes = ALL_LANES;
    f->meets = s;
    place(g, f, false);
    define(g, f, size_of_function(g));
}

static void make_stopping(Gen *g)
{
    Function *f = function_new(g);
    f->stops = true;
    f->result.passing = NOTHING;
    for (f->n = 0; f->n < 2; f->n++)
        f->formals[f->n] = (Formal){.passing = BY_VALUE, .cls = CLASS_R};
    place(g, f, false);
    define(g, f, 6);
}

/* -- The graph ------------------------------------------------------------------------------------------ */

static void make_some(Gen *g, uint32_t most)
{
    if (has(g, FT_RECURSION) && chance(g, 1, 5))
        make_recursive(g);
    else if (has(g, FT_RECURSION) && most > 1 && chance(g, 1, 6))
        make_pair(g);
    else if (has(g, FT_TABLE) && most > 1 && chance(g, 1, 4))
        make_table(g, most);
    else if (has(g, FT_COLLECTIVE) && chance(g, 1, 3))
        make_collective(g);
    else if (has(g, FT_ARMS) && chance(g, 1, 2))
        make_meeting(g);
    else
        make_plain(g);
}

// Declares what nothing names.
static void declare_unused(Gen *g)
{
    if (chance(g, 1, 2))
        out_z(&g->front, "\n.extern .func  (.param .b32 func_retval0) unused_function(.param .b64 unused_param_0);\n");
    if (chance(g, 1, 2))
        out_z(&g->front, "\n.shared .align 8 .b8 unused_shared[64];\n");
}

void functions_make(Gen *g)
{
    uint32_t n = 0;
    if (has(g, FT_CALL))
        n = has(g, FT_GRAPH) ? roll_between(g, GRAPH_LEAST, GRAPH_MOST)
                             : roll_between(g, 1, g->options.size < 100 ? 2 : 4);
    if (n && has(g, FT_LINKAGE))
        declare_unused(g);
    if (n && has(g, FT_STOP) && chance(g, 1, 2))
        make_stopping(g);
    while (g->nfunctions < n)
        make_some(g, n - g->nfunctions);
}

void functions_print(const Gen *g, Out *out)
{
    for (uint32_t k = g->functions.n; k-- > 0;)
        text_print(out, &g->functions.at[k]->text);
}
