// SPDX-License-Identifier: MIT
// Builds the call graph of a module, with Tarjan's algorithm for its strongly connected components.
//
// Text that is kept verbatim (`.alias`, debug sections) may name functions. Each word of such a text that is the name
// of a symbol counts as a reference.
#include "ir/analysis/call_graph.h"

#include <ctype.h>

/* -- References ----------------------------------------------------------------------------------------- */

void init_symbols(const Init *init, SymVisit *visit, void *user)
{
    for (uint32_t k = 0; init && k < init->nrelocs; k++)
        if (!(init->relocs[k].sym & SYM_LOCAL))
            visit(user, init->relocs[k].sym);
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

// Returns the symbol of the module with this name; 0 if there is none.
static SymId find_symbol(const Module *m, const char *text, const char *end)
{
    const char *stem_end;
    uint32_t number = name_number(text, end, &stem_end);
    StrId stem = str_find(&m->tables.strs, text, (size_t)(stem_end - text));
    return stem == STR_NONE ? 0 : module_find(m, (Name){stem, number});
}

void raw_symbols(const Module *m, Str text, SymVisit *visit, void *user)
{
    for (const char *p = text.text, *end = p + text.len, *next; p < end; p = next) {
        for (next = p; next < end && is_name_char(*next);)
            next++;
        SymId sym = next > p ? find_symbol(m, p, next) : 0;
        if (sym)
            visit(user, sym);
        next += next == p;
    }
}

static void visit_operand(const Fn *fn, Operand o, SymVisit *visit, void *user)
{
    if (op_kind(o) == K_SYM && !(op_index(o) & SYM_LOCAL))
        visit(user, op_index(o));
    const List *list = op_kind(o) == K_LIST ? ir_list(fn, op_index(o)) : NULL;
    for (uint32_t k = 0; list && k < list->n; k++)
        visit_operand(fn, ir_run(fn, list->ops)[k], visit, user);
}

// Visits the symbols in the tables and variables of a function.
static void visit_locals(const Fn *fn, SymVisit *visit, void *user)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->flags & SYM_GONE)
            continue;
        init_symbols(s->init, visit, user);
        const List *list = s->kind == SYM_CALLTARGETS ? ir_list(fn, s->list) : NULL;
        for (uint32_t t = 0; list && t < list->n; t++)
            visit_operand(fn, ir_run(fn, list->ops)[t], visit, user);
    }
}

void fn_symbols(const Fn *fn, SymVisit *visit, void *user)
{
    visit_locals(fn, visit, user);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->nops; k++)
                visit_operand(fn, ops[k], visit, user);
        }
}

/* -- Edges ---------------------------------------------------------------------------------------------- */

typedef struct Builder {
    CallGraph *g;
    VEC(uint32_t) edges;
} Builder;

static void take_address(void *user, SymId sym)
{
    CallGraph *g = ((Builder *)user)->g;
    if (sym < g->module->syms.n && g->node_of[sym])
        g->flags[g->node_of[sym] - 1] |= ADDRESS_TAKEN;
}

const List *call_targets(const Fn *fn, const Instr *call)
{
    Operand o = ir_callee(fn, call) ? op_none() : *ir_use(fn, call, ir_nuse(call) - 1);
    const Sym *s = op_kind(o) == K_SYM ? ir_sym(fn, op_index(o)) : NULL;
    return s && s->kind == SYM_CALLTARGETS ? ir_list(fn, s->list) : NULL;
}

static void add_edge(Builder *b, uint32_t node, SymId callee)
{
    CallGraph *g = b->g;
    uint32_t to = callee ? g->node_of[callee] : 0;
    if (!to) {
        g->flags[node] |= CALLS_UNKNOWN;
        return;
    }
    VEC_PUSH(g->arena, &b->edges, to - 1);
    g->flags[node] |= to - 1 == node ? CALLS_ITSELF : 0;
}

static void add_call(Builder *b, uint32_t node, const Fn *fn, const Instr *i)
{
    CallGraph *g = b->g;
    SymId callee = ir_callee(fn, i);
    const List *list = call_targets(fn, i);
    if (!list)
        add_edge(b, node, callee);
    if (callee && g->node_of[callee])
        g->callers[g->node_of[callee] - 1]++;
    for (uint32_t k = 0; list && k < list->n; k++)
        add_edge(b, node, op_index(ir_run(fn, list->ops)[k]));
}

static void add_function(Builder *b, uint32_t node)
{
    const Fn *fn = b->g->module->fns.at[node];
    b->g->first[node] = b->edges.n;
    if (!fn || !(fn->flags & FN_DEFINED))
        return;
    visit_locals(fn, take_address, b);
    FOR_BLOCKS(fn, block)
        FOR_INSTRS(fn, block, id) {
            const Instr *i = ir_instr(fn, id);
            bool call = ir_desc(fn, i)->op == OP_CALL;
            if (call)
                add_call(b, node, fn, i);
            const Operand *ops = ir_ops(fn, i);
            SymId callee = call ? ir_callee(fn, i) : 0;
            for (uint32_t k = 0; k < i->nops; k++)
                if (op_kind(ops[k]) == K_SYM && op_index(ops[k]) != callee)
                    visit_operand(fn, ops[k], take_address, b);
        }
}

static void add_module(Builder *b)
{
    const Module *m = b->g->module;
    for (uint32_t k = 0; k < m->items.n; k++) {
        if (m->items.at[k].kind == ITEM_VAR)
            init_symbols(m->syms.at[m->items.at[k].index].init, take_address, b);
        if (m->items.at[k].kind == ITEM_RAW)
            raw_symbols(m, module_item_text(m, &m->items.at[k]), take_address, b);
    }
}

/* -- Components ----------------------------------------------------------------------------------------- */

// Tarjan's algorithm with an explicit stack.
typedef struct Tarjan {
    CallGraph *g;
    uint32_t *number, *low;  // by node; number 0 = not visited
    uint32_t *next;          // by node: the next edge
    uint32_t *path;          // nodes whose edges are being visited
    uint32_t *stack;         // visited nodes without a component
    uint32_t depth, height, visited, components, placed;
} Tarjan;

static void enter_node(Tarjan *t, uint32_t node)
{
    t->number[node] = t->low[node] = ++t->visited;
    t->next[node] = t->g->first[node];
    t->path[t->depth++] = node;
    t->stack[t->height++] = node;
}

static void close_component(Tarjan *t, uint32_t node)
{
    CallGraph *g = t->g;
    uint32_t top, size = 0;
    do {
        top = t->stack[--t->height];
        g->component[top] = t->components;
        g->order[t->placed++] = top;
        size++;
    } while (top != node);
    for (uint32_t k = 0; size > 1 && k < size; k++)
        g->flags[g->order[t->placed - 1 - k]] |= CALLS_ITSELF;
    t->components++;
}

static void leave_node(Tarjan *t)
{
    uint32_t node = t->path[--t->depth];
    if (t->low[node] == t->number[node])
        close_component(t, node);
    if (t->depth)
        t->low[t->path[t->depth - 1]] = MIN(t->low[t->path[t->depth - 1]], t->low[node]);
}

static void visit_node(Tarjan *t, uint32_t root)
{
    CallGraph *g = t->g;
    enter_node(t, root);
    while (t->depth) {
        uint32_t node = t->path[t->depth - 1];
        if (t->next[node] == g->first[node + 1]) {
            leave_node(t);
            continue;
        }
        uint32_t to = g->at[t->next[node]++];
        if (!t->number[to])
            enter_node(t, to);
        else if (g->component[to] == UINT32_MAX)
            t->low[node] = MIN(t->low[node], t->number[to]);
    }
}

static void find_components(CallGraph *g)
{
    uint32_t *words = NEW_ARRAY(g->arena, uint32_t, 5 * (size_t)g->n);
    Tarjan t = {.g = g,
                .number = words,
                .low = words + g->n,
                .next = words + 2 * (size_t)g->n,
                .path = words + 3 * (size_t)g->n,
                .stack = words + 4 * (size_t)g->n};
    for (uint32_t k = 0; k < g->n; k++)
        g->component[k] = UINT32_MAX;
    for (uint32_t k = 0; k < g->n; k++)
        if (!t.number[k])
            visit_node(&t, k);
}

CallGraph *call_graph(const Module *m, Arena *arena)
{
    CallGraph *g = NEW(arena, CallGraph);
    *g = (CallGraph){.module = m, .arena = arena, .n = m->fns.n};
    g->node_of = NEW_ARRAY(arena, uint32_t, m->syms.n);
    g->first = NEW_ARRAY(arena, uint32_t, g->n + 1);
    g->callers = NEW_ARRAY(arena, uint32_t, g->n);
    g->flags = NEW_ARRAY(arena, uint8_t, g->n);
    g->component = NEW_ARRAY(arena, uint32_t, g->n);
    g->order = NEW_ARRAY(arena, uint32_t, g->n);
    for (uint32_t k = 0; k < g->n; k++)
        if (m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED)
            g->node_of[m->fns.at[k]->sym] = k + 1;
    Builder b = {.g = g};
    for (uint32_t k = 0; k < g->n; k++)
        add_function(&b, k);
    g->first[g->n] = b.edges.n;
    g->at = b.edges.at;
    add_module(&b);
    find_components(g);
    return g;
}

bool module_has_calls(const Module *m)
{
    bool calls = false, callee = false;
    for (uint32_t k = 0; k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        calls |= fn && fn->flags & FN_DEFINED && fn->classes & IC_CALL;
        callee |= fn && (fn->flags & (FN_DEFINED | FN_KERNEL)) == FN_DEFINED;
    }
    return calls && callee;
}
