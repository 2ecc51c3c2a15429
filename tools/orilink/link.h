// SPDX-License-Identifier: MIT
// The inputs of a link, and the graph of what they define. A node is a function or a variable; an edge says that the
// code or data of one requires the other. Definitions of one name are one node: a strong one replaces weak ones. Of
// weak ones, the first one with the fewest registers replaces the others, as in nvlink.
#ifndef ORI_LINK_H
#define ORI_LINK_H

#include "tools/orilink/cubin.h"

typedef uint32_t NodeId;  // 0 = none

// Reasons of an edge, from the strongest.
typedef enum {
    EDGE_ROOT,      // none: the node is a root
    EDGE_CALL,      // code calls a function
    EDGE_ADDRESS,   // code or its data contain the address of a function
    EDGE_REFERS,    // code or data refer to a variable or function by a relocation
    EDGE_INDIRECT,  // code calls functions of this signature, and nothing tells who takes the address
    EDGE_PART,      // a part of a section that is named as a whole
} EdgeKind;

typedef struct Edge {
    NodeId from, to;
    EdgeKind kind;
} Edge;

typedef enum { NODE_FUNCTION, NODE_KERNEL, NODE_VARIABLE, NODE_SECTION } NodeKind;

typedef struct Node {
    const char *name;
    NodeKind kind;
    uint32_t input, symbol;  // its prevailing definition; symbol is a section index for NODE_SECTION
    uint32_t first;          // of its edges
    bool live;
    NodeId by;  // the node that made it live; 0 = it is a root
    EdgeKind why;
    const char *root;  // the reason why it is a root; NULL: it is none
} Node;

// The part of a section that a variable has.
typedef struct Place {
    uint32_t section, symbol;
    uint64_t offset, size;
} Place;

// A symbol of a file.
typedef struct SymbolRef {
    uint32_t input, symbol;  // symbol 0 = none
} SymbolRef;

// A part of a section that stays, and its new place.
typedef struct Part {
    uint32_t section;
    uint64_t offset, size, to;
} Part;

// A section of constants for a kernel that has none.
typedef struct AddedBank {
    uint32_t code;  // section
    const uint8_t *bytes;
    uint32_t size;
} AddedBank;

// Changes to a file besides removal.
typedef struct Edits {
    uint8_t **content;   // by section: new content; NULL: it does not change
    uint64_t *size;      // by section: of the new content
    bool *moved;         // by section: it has only `parts`
    VEC(Part) parts;     // in the order of sections and offsets
    SymbolRef *alias;    // by symbol: the variable of another file that replaces it
    bool *exported;      // by symbol: another file refers to it
    bool *section_gone;  // by section
    bool *symbol_gone;   // by symbol
    bool **reloc_gone;   // by section of relocations, and index; NULL: all stay
    VEC(AddedBank) banks;
} Edits;

typedef struct Input {
    Cubin cubin;
    NodeId *node;          // by symbol: the node that it names; 0 = none, or it is not defined in the link
    NodeId *section;       // by section: its node as a whole; 0 = none
    uint32_t *registers;   // by symbol: of functions
    VEC(Place) variables;  // in the order of sections and offsets
    bool is_system;        // of libcudadevrt.a, which stays as it is
    Edits *edits;          // NULL: none
} Input;

// The sets of names that host code uses, by the sections that hold them: external and internal kernels, constants and
// variables.
typedef enum { HOST_KE, HOST_KI, HOST_CE, HOST_CI, HOST_DE, HOST_DI, HOST_SETS } HostSet;

typedef VEC(const char *) Names;

// Returns the part of a path behind its folder.
static inline const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// A pattern of host information.
typedef struct HostName {
    HostSet set;
    const char *pattern;
} HostName;

typedef struct Link {
    Heap *heap;
    Arena arena;
    Diag *diag;
    VEC(Input) inputs;
    StrTable names;              // of global symbols
    VEC(NodeId) named;           // by StrId
    VEC(Node) nodes;             // nodes.at[0] is unused
    VEC(Edge) edges;             // in the order of `from` after graph_build()
    VEC(HostName) used;          // patterns of host information, in the order of files and sets
    StrTable *known[HOST_SETS];  // the same, to find a pattern
    bool keeps_all;              // a relocatable link, or --lto: nothing is removed
    bool lacks_host_info;        // an object with device code has none
    uint32_t objects;            // with device code, except those of libcudadevrt.a
    uint32_t ir_objects;         // of these, with IR of link-time optimization and no code for the target
    const char *opaque;          // an object whose code for the target cannot be read; NULL: none
    bool compresses;             // --compress: rewritten entries of fat binaries are blocks of LZ4
    bool counts_unpacked;        // for report_summary(): fill the next two
    uint32_t unpacked;           // rewritten entries of fat binaries that are no longer compressed
    uint64_t unpacked_cost;      // bytes that --compress would save there
    Out *verbose;                // NULL: no messages about what is used and removed
} Link;

/* graph.c */
void graph_build(Link *link);
// Returns the variable of a section that contains an offset; NULL = none does.
const Place *variable_at(const Input *input, uint32_t section, uint64_t offset);
// True for a weak definition of a name that another one replaces, in this file or another.
bool is_replaced(const Link *link, const Input *input, uint32_t symbol);
// Returns the edges of a node.
static inline const Edge *node_edges(const Link *link, NodeId n, uint32_t *count)
{
    uint32_t first = link->nodes.at[n].first;
    *count = (n + 1 < link->nodes.n ? link->nodes.at[n + 1].first : link->edges.n) - first;
    return link->edges.at + first;
}

/* patterns.c */
typedef struct Pattern {
    const char *pattern, *text;  // text: the last one between wildcards, of `length` bytes
    size_t length;
    uint32_t next;  // the next pattern of its node; 0 = none
    bool used;      // patterns_mark() had a name that it matches
} Pattern;

typedef struct PatternNode {
    uint32_t parent, first;  // first: a pattern; 0 = none
    char byte;               // it leads from the parent to this node
} PatternNode;

typedef struct Patterns {
    Arena *arena;
    VEC(Pattern) all;  // all.at[0] and nodes.at[0] are unused
    VEC(PatternNode) nodes;
    IdSet index;           // of nodes, by parent and byte
    StrTable firsts;       // first texts of patterns
    VEC(uint32_t) roots;   // by StrId of a first text: the root of its tree; 0 = none
    bool lengths[1 << 9];  // of first texts; longer ones are cut
} Patterns;

void patterns_init(Patterns *patterns, Arena *arena);
// Adds a pattern, which stays in use.
void patterns_add(Patterns *patterns, const char *pattern);
bool patterns_match(const Patterns *patterns, const char *name);
// Marks all patterns that match a name as used.
void patterns_mark(Patterns *patterns, const char *name);

/* seed.c */
// Patterns of names that are used: --kernels-used and --variables-used, or host information.
typedef struct Seeds {
    bool by_list;        // --kernels-used or --variables-used was given
    bool use_host_info;  // --use-host-info was given
    bool ignore_host_info, relocatable, lto, force_partial_lto;
    Names kernels, variables;
    const char *root;  // the only function that is a root; NULL: kernels are
    bool documented;   // --dce=documented
} Seeds;
// Adds the names of a section of host information to a set.
void seed_host_names(Link *link, HostSet set, const uint8_t *names, size_t n);
// True if nothing is removed: in a relocatable link, with --lto, and as documented with --ignore-host-info.
bool seeds_keep_all(const Seeds *seeds);
// Sets the roots of all nodes. Warns of names of lists that match nothing. False after an error message.
bool seed_roots(Link *link, const Seeds *seeds);

/* dce_full.c */
// Marks the nodes that roots reach as live.
void dce_full(Link *link);

/* dce_documented.c */
// Marks as live what nvlink is documented to keep. `warns`: of functions whose address is taken and that nothing calls.
void dce_documented(Link *link, bool warns);

struct Banks;          // tools/orilink/banks.h
struct UserConstants;  // tools/orilink/user_constants.h

/* report.c */
// Prints what is removed: to link->verbose as nvlink is documented to do, and to `gc` (NULL: not) with the files.
void report_removed(const Link *link, Out *gc);
// Prints the code and variables that are removed and kept, with size, section, name and file.
void report_map(const Link *link, Out *out);
// Prints in one line, without its end, what was removed, and the space that uncompressed fat binaries take.
void report_summary(const Link *link, Out *out);
// Prints why a function or variable is live, or that it is dead. False: no input defines it; `nearest` has names like
// it.
bool report_why_live(const Link *link, const char *name, Nearest *nearest, Out *out);
// Prints direct calls as a graph of Graphviz.
void report_callgraph(const Link *link, bool demangled, Out *out);
// Prints each function and variable, and why it is live, as JSON.
void report_json(Link *link, const struct Banks *banks, const struct UserConstants *user, Out *out);
// Prints registers and stack of the live kernels, with all that they call, and recursion.
void report_functions(Link *link, Out *out);

/* functions.c */
typedef struct FunctionFacts {
    uint32_t registers, stack;          // of the function alone; stack in bytes
    uint32_t all_registers, all_stack;  // with all functions that it calls
    bool recursive, unbounded;          // unbounded: it calls a recursive function, so that all_stack is no bound
} FunctionFacts;
// Returns the facts of live functions by NodeId, in an arena. Prints the cycles of calls to `cycles`, if it is not
// NULL.
FunctionFacts *function_facts(Link *link, Arena *arena, Out *cycles);

/* remove.c */
// Returns the edits of a file. They have none at first.
Edits *input_edits(Link *link, Input *input);
// Returns the name of the variable of another file that replaces one; NULL: none does.
const char *alias_name(const Link *link, const Input *input, uint32_t symbol);
// True if something is removed from a cubin.
bool cubin_changes(const Link *link, const Input *input);
// Removes what is not live from a cubin, and appends the rewritten file to a text.
void cubin_rewrite(Link *link, Input *input, TextBuffer *text);

#endif
