// SPDX-License-Identifier: MIT
// The call graph of a module: calls between its functions, and the functions that other code may call.
#ifndef ORI_CALL_GRAPH_H
#define ORI_CALL_GRAPH_H

#include "ir/core/ir.h"

enum {
    CALLS_UNKNOWN = 1 << 0,  // calls functions that the module does not define, or any whose address is taken: through
                             // a register, without a list of targets
    CALLS_ITSELF = 1 << 1,   // directly, or through other functions of its component
    ADDRESS_TAKEN =
        1 << 2,  // an operand other than the callee of a call, an initializer, or text that is kept verbatim
};

// The nodes are the indices of the module's functions. A function without a body has no calls; it is not the callee of
// any edge if the module defines the function elsewhere.
typedef struct CallGraph {
    const Module *module;
    Arena *arena;
    uint32_t n;
    uint32_t *node_of;     // by SymId of a function: its definition plus 1, 0 = none
    uint32_t *first, *at;  // the callees of node k are at[first[k]] .. at[first[k + 1] - 1], one for each direct call,
                           // and for each function in the list of a call through a register
    uint32_t *callers;     // by node: number of direct calls of it
    uint8_t *flags;        // by node
    uint32_t *component;   // by node: strongly connected component; callees have lower ones
    uint32_t *order;       // all nodes, callees first; the nodes of a component are adjacent
} CallGraph;

/* call_graph.c */
// Builds the graph in an arena. Time is linear in the size of the module.
CallGraph *call_graph(const Module *m, Arena *arena);
// Returns the functions that a call through a register may call, by its `.calltargets`; NULL: it has a prototype.
const List *call_targets(const Fn *fn, const Instr *call);
// True if some function may call a function of the module.
bool module_has_calls(const Module *m);
// Calls `visit` for each symbol of the module that a text names.
typedef void SymVisit(void *user, SymId sym);
void raw_symbols(const Module *m, Str text, SymVisit *visit, void *user);
// Calls `visit` for each symbol of the module that a function names: in operands, in tables, and in initial values of
// its variables.
void fn_symbols(const Fn *fn, SymVisit *visit, void *user);
// Calls `visit` for each symbol of the module that an initializer names; NULL: none.
void init_symbols(const Init *init, SymVisit *visit, void *user);

/* call_graph_dot.c */
// Writes the graph for Graphviz, with calls of functions that the module does not define, calls through registers, and
// aliases.
void call_graph_dot(const CallGraph *g, Out *out);

#endif
