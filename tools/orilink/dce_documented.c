// SPDX-License-Identifier: MIT
// Dead code elimination as nvlink is documented to do it (--dce=documented). It does not follow references from roots:
// a function is live if anything calls it, so cycles of dead functions stay, and dead chains but for their heads.
// Variables stay.
//
// Phase 1 applies seven tests to each function in the order of the callgraph; the first that holds decides. A function
// whose symbol names no code is deferred. Phase 2 visits the deferred functions again, the last one first. The sections
// of a function that phase 1 removes go with it, in a fixed order. The numbers of their types decide: the document
// calls type 9 SHT_RELA, and type 4 SHT_NOTE.
//
// Inferred: the tests for system calls compare names. Entries are the roots of liveness seeding: kernels, the forced
// root, or any function if there is code that cannot be read. The constants of the compiler are in
// `.nv.constant2.FUNCTION`, or in `.nv.constant.FUNCTION` as documented. They have multiple instances if the first
// section of that name belongs to another function; the messages then name only the constants, and not once more the
// other sections of the function. The documented scan of all lists of callees in phase 2 is omitted, since the callers
// of phase 1 are those of all lists.
//
// Not documented: what inputs that cannot be rewritten or read refer to stays.
#include "tools/orilink/link.h"

typedef struct Documented {
    Link *link;
    Arena scratch;
    bool warns;
    NodeId *caller;       // by NodeId: the last one that calls it; 0 = none
    bool *address_taken;  // by NodeId
    StrTable constants;   // names of sections of constants
    VEC(NodeId) owner;    // by StrId: the function of the first section of that name; 0 = none
    VEC(NodeId) deferred;
} Documented;

static void find_callers(Documented *d)
{
    const Link *link = d->link;
    d->caller = NEW_ARRAY(&d->scratch, NodeId, link->nodes.n);
    d->address_taken = NEW_ARRAY(&d->scratch, bool, link->nodes.n);
    for (uint32_t k = 0; k < link->edges.n; k++) {
        const Edge *e = &link->edges.at[k];
        if (e->kind == EDGE_CALL || e->kind == EDGE_PART)
            d->caller[e->to] = e->from;
        else if (e->kind == EDGE_ADDRESS || e->kind == EDGE_REFERS)
            d->address_taken[e->to] = true;
    }
    for (uint32_t k = 0; k < link->inputs.n; k++)
        for (uint32_t n = 0; n < link->inputs.at[k].cubin.calls.n; n++) {
            const CallRecord *call = &link->inputs.at[k].cubin.calls.at[n];
            if (call->group == HAS_SIGNATURE)
                d->address_taken[link->inputs.at[k].node[call->a]] = true;
        }
}

// Returns the section of code of a function; 0: its symbol does not resolve.
static uint32_t code_of(const Documented *d, const Node *node)
{
    const Cubin *c = &d->link->inputs.at[node->input].cubin;
    uint32_t section = cubin_symbol(c, node->symbol)->section;
    return section < c->elf.sections.n && c->function[section] == node->symbol ? section : 0;
}

/* -- The cascade ----------------------------------------------------------------------------------------- */

static void remove_section(const Documented *d, const Cubin *c, uint32_t section)
{
    if (section && d->link->verbose)
        out_fmt(d->link->verbose, "removed un-used section %s (%u)\n", cubin_section(c, section)->text,
                section_number(c, section));
}

// Returns the section of a type that belongs to a section of code; 0 = none.
static uint32_t related(const Cubin *c, uint32_t code, uint32_t type)
{
    uint32_t k = c->owned[code];
    while (k && (cubin_section(c, k)->type != type || cubin_section(c, k)->info != code))
        k = c->next[k];
    return k;
}

// Returns the section `PREFIX.FUNCTION` of a function; 0 = none.
static uint32_t named_section(const Cubin *c, const char *prefix, uint32_t code, const char *function)
{
    size_t n = strlen(prefix);
    for (uint32_t k = c->owned[code]; k; k = c->next[k]) {
        const char *name = cubin_section(c, k)->text;
        if (starts_with(name, prefix) && name[n] == '.' && strcmp(name + n + 1, function) == 0)
            return k;
    }
    return 0;
}

// Finds the first section of constants of each name.
static void find_constants(Documented *d)
{
    const Link *link = d->link;
    str_init(&d->constants, &d->scratch, NULL);
    VEC_PUSH(&d->scratch, &d->owner, 0);  // of the empty name
    for (uint32_t i = 0; i < link->inputs.n; i++) {
        const Input *in = &link->inputs.at[i];
        for (uint32_t k = 1; k < in->cubin.elf.sections.n; k++) {
            const char *name = cubin_section(&in->cubin, k)->text;
            uint32_t code = in->cubin.owner[k];
            if (!starts_with(name, ".nv.constant"))
                continue;
            StrId id = str_intern_z(&d->constants, name);
            if (d->owner.n <= id)
                VEC_PUSH(&d->scratch, &d->owner, code ? in->node[in->cubin.function[code]] : 0);
        }
    }
}

// Removes the constants that the compiler made for a function.
static void remove_constants(Documented *d, NodeId n, const Cubin *c, uint32_t code)
{
    static const char *const prefixes[] = {".nv.constant2", ".nv.constant"};
    const char *function = d->link->nodes.at[n].name;
    for (size_t k = 0; k < ARRAY_LEN(prefixes); k++) {
        char *name = arena_alloc(&d->scratch, strlen(prefixes[k]) + strlen(function) + 2);
        sprintf(name, "%s.%s", prefixes[k], function);
        StrId id = str_find(&d->constants, name, strlen(name));
        if (id == STR_NONE)
            continue;
        if (d->owner.at[id] != n && d->link->verbose)
            out_fmt(d->link->verbose, "dead ocg constant section %s has multiple instances\n", function);
        remove_section(d, c, named_section(c, prefixes[k], code, function));
        return;
    }
}

static void remove_function(Documented *d, NodeId n, uint32_t code)
{
    Node *node = &d->link->nodes.at[n];
    const Cubin *c = &d->link->inputs.at[node->input].cubin;
    node->live = false;
    if (d->link->verbose)
        out_fmt(d->link->verbose, "dead function %u(%s)\n", node->symbol, node->name);
    if (!code)
        return;
    remove_section(d, c, code);
    remove_section(d, c, related(c, code, SHT_NV_INFO));
    remove_section(d, c, related(c, code, SHT_REL));
    remove_section(d, c, related(c, code, SHT_RELA));
    remove_constants(d, n, c, code);
    if (node->kind == NODE_KERNEL) {
        remove_section(d, c, named_section(c, ".nv.constant0", code, node->name));
        remove_section(d, c, named_section(c, ".nv.shared", code, node->name));
        remove_section(d, c, named_section(c, ".nv.local", code, node->name));
    }
}

/* -- The phases ------------------------------------------------------------------------------------------ */

static void visit_function(Documented *d, NodeId n)
{
    Link *link = d->link;
    const Node *node = &link->nodes.at[n];
    const ElfSymbol *s = cubin_symbol(&link->inputs.at[node->input].cubin, node->symbol);
    if (node->root || d->caller[n])
        return;
    if (d->address_taken[n]) {
        if (link->verbose)
            out_fmt(link->verbose, "function %u(%s) has address taken but no call to it\n", node->symbol, node->name);
        if (d->warns)
            diag_plain(link->diag, DIAG_WARNING, "function %u(%s) has address taken but no call to it", node->symbol,
                       node->name);
        return;
    }
    uint32_t code = code_of(d, node);
    if (!code)
        VEC_PUSH(&d->scratch, &d->deferred, n);
    else if (!symbol_is_pinned(s))
        remove_function(d, n, code);
}

static void visit_deferred(Documented *d, NodeId n)
{
    const Node *node = &d->link->nodes.at[n];
    if (node->root || d->caller[n] || code_of(d, node) || strcmp(node->name, "__cuda_syscall_32f3056bbb") == 0)
        return;
    remove_function(d, n, 0);
}

void dce_documented(Link *link, bool warns)
{
    Documented d = {.link = link, .warns = warns};
    arena_init(&d.scratch, link->heap);
    find_callers(&d);
    find_constants(&d);
    for (NodeId n = 1; n < link->nodes.n; n++)
        link->nodes.at[n].live = true;
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (link->nodes.at[n].kind <= NODE_KERNEL)
            visit_function(&d, n);
    while (d.deferred.n)
        visit_deferred(&d, d.deferred.at[--d.deferred.n]);
    arena_free(&d.scratch);
}
