// SPDX-License-Identifier: MIT
// Analyses of a function. They are stored beside the IR, with a mask of those that are valid. Code that changes the
// function drops the analyses that the change invalidates.
//
// An analysis allocates from its own arena and copies the parts of its prerequisites that it uses. So it can be kept
// without its prerequisites. A phase that swaps the targets of a branch changes AN_CFG but may keep AN_DOM; the next
// request for AN_DOM then computes only AN_CFG again. AN_RDEFS reads the table of AN_DEF and is dropped with it.
// AN_POINTERS is dropped with any of its prerequisites.
#ifndef ORI_ANALYSIS_H
#define ORI_ANALYSIS_H

#include "ir/core/ir.h"

// X(id, builder, prerequisites), each after its prerequisites.
#define ANALYSES(X)                                                                                             \
    X(CFG, cfg, 0)                                     /* predecessors, successors */                           \
    X(RPO, rpo, AN_CFG)                                /* reverse postorder */                                  \
    X(DOM, dom, AN_CFG | AN_RPO)                       /* dominators */                                         \
    X(LOOPS, loops, AN_CFG | AN_RPO | AN_DOM)          /* loop nesting forest */                                \
    X(PDOM, pdom, AN_CFG | AN_RPO | AN_LOOPS)          /* post-dominators */                                    \
    X(DEFUSE, defuse, 0)                               /* definitions and uses */                               \
    X(NUSES, nuses, 0)                                 /* number of uses of each register */                    \
    X(LIVE, live, AN_CFG | AN_RPO | AN_DEFUSE)         /* registers that are live across block boundaries */    \
    X(DEF, def, AN_CFG | AN_RPO | AN_DOM)              /* the only definition of a register */                  \
    X(RDEFS, rdefs, AN_CFG | AN_RPO | AN_DOM | AN_DEF) /* in multi form, the definitions that reach a use */    \
    X(POINTERS, pointers, AN_CFG | AN_RPO | AN_DOM | AN_DEF | AN_RDEFS) /* underlying object, offset, escape */ \
    X(MEM, memory_versions, AN_CFG | AN_RPO | AN_DOM)                   /* memory in ssa form */

#define ANALYSIS_NUMBER(id, ...) AX_##id,
#define ANALYSIS_BIT(id, ...) AN_##id = 1 << AX_##id,
enum { ANALYSES(ANALYSIS_NUMBER) ANALYSIS_COUNT };
extern const char *const analysis_names[ANALYSIS_COUNT];
typedef enum { ANALYSES(ANALYSIS_BIT) AN_FLOW = AN_CFG | AN_RPO | AN_DOM | AN_LOOPS | AN_PDOM } AnalysisMask;
#undef ANALYSIS_NUMBER
#undef ANALYSIS_BIT

// Edges as compressed sparse rows: those of block b are at[first[b]] .. at[first[b + 1] - 1].
typedef struct Edges {
    uint32_t *first;  // blocks.n + 1 entries
    BlockId *at;
} Edges;

// A dominator tree. Block b and the blocks that it dominates are order[pre[b]] .. order[pre[b] + size[b] - 1], b first.
// The children of b are in reverse postorder, each followed by its own subtree.
typedef struct DomTree {
    BlockId *idom;  // by BlockId; 0 = none (the entry, unreachable blocks); in a post-dominator tree: the exit
    BlockId *order;
    uint32_t *pre;   // by BlockId: index in `order`
    uint32_t *size;  // by BlockId: blocks of the subtree; 0 = unreachable
} DomTree;

// A strongly connected region. Its header is the block that a depth-first search reaches first. Its inner loops are
// those of the region without the header. The back edges are the edges to the header from inside. If the header is the
// only entry, it dominates the loop, which is then the natural loop of its back edges.
typedef struct Loop {
    BlockId header;
    uint32_t parent;    // the innermost enclosing loop, 0 = none
    uint32_t depth;     // 1 = outermost
    uint32_t first, n;  // its blocks are order[first] .. order[first + n - 1], the header first
    bool reducible;     // the header is the only entry
} Loop;

// Loops are numbered in preorder: an outer loop comes before its inner loops, which are consecutive. Number 0 is the
// function: all reachable blocks, no header, depth 0.
typedef struct LoopForest {
    Loop *loop;  // 0 .. n
    uint32_t n;
    BlockId *order;  // reachable blocks in reverse postorder, except that a loop's blocks are consecutive, header first
    uint32_t *pre;   // by BlockId: index in `order`; UINT32_MAX = unreachable
    uint32_t *of;    // by BlockId: the innermost loop that contains it, 0 = none
} LoopForest;

// An operand: the instruction, and the index of the operand in it.
typedef struct Ref {
    InstrId instr;
    uint32_t op;
} Ref;

// Operands that name a register: those of r are at[first[r]] .. at[first[r + 1] - 1], in layout order.
typedef struct Refs {
    uint32_t *first;  // nregs + 1 entries
    Ref *at;
} Refs;

// Registers of blocks: those of b are at[first[b]] .. at[first[b + 1] - 1], ascending.
typedef struct RegRows {
    uint32_t *first;  // blocks.n + 1 entries
    RegId *at;
} RegRows;

typedef struct Live {
    RegRows in, out;  // live at the start and at the end of a block; none for unreachable blocks
} Live;

// Reaching definitions. A ValueId names the value that a use reads. A plain register has one definition (AN_DEF), and
// its only value has the register's number. A joined register has a value for each of its definitions, and for each phi
// at which definitions meet. 0 is the value of a register before any definition. In ssa form no register is joined.
typedef uint32_t ValueId;
#define VALUE_ANY UINT32_MAX  // an unknown value: that of a register outside ssa form

// An operand that names a joined register.
typedef struct Occurrence {
    InstrId instr;
    uint32_t op;    // its index among the function's operands: Instr.ops + its index in the instruction
    ValueId value;  // the value that it reads or defines
    BlockId block : 30;
    bool def : 1, guarded : 1;
} Occurrence;

// A phi: several values of a register meet at the start of a block. The phi has the inputs input[inputs ...], one for
// each edge of the block's row of predecessors; an input from an unreachable block is 0. A phi of the entry also takes
// the value 0 from outside the function, which is not listed.
typedef struct ReachingPhi {
    RegId reg;
    BlockId block;
    uint32_t inputs;
} ReachingPhi;

typedef struct ReachingDefs {
    RegId *joined;       // the joined registers, njoined of them, ascending
    uint32_t *first;     // joined[k] has the occurrences row[first[k]] .. row[first[k + 1] - 1], in layout order
    uint32_t *row;       // indices in `at`
    Occurrence *at;      // from 1, in layout order, uses before the definitions of the same instruction
    uint32_t *first_in;  // by InstrId: index of its first occurrence, if any; NULL if no register is joined
    uint32_t *defs;      // by value - first_def: index of the definition in `at`
    ValueId *old;        // by value - first_def: the value before a guarded definition, otherwise 0
    ValueId first_def;   // the first value that is a definition of a joined register
    ValueId first_phi;   // the value of phi[0]
    ReachingPhi *phi;
    ValueId *input;
    uint32_t njoined, noccurrences;  // noccurrences counts the unused index 0
    uint32_t nphis, ninputs;
    uint32_t nops;     // fn->ops.n when this was built
    uint32_t nbeyond;  // number of registers that are DEF_OUTSIDE because their phis would exceed Fn.phi_limit
    bool by_heaps;     // phis were placed with heaps: the dominance frontiers were too large to store
} ReachingDefs;

typedef struct Analyses {
    Arena arena[ANALYSIS_COUNT];      // one for each analysis, freed when it is dropped
    uint32_t blocks[ANALYSIS_COUNT];  // fn->blocks.n when each was built
    uint32_t valid;                   // AnalysisMask
    uint32_t requested;               // AnalysisMask: arguments of analysis_need() since the last analysis_requested()
    Edges succs, preds;               // one edge for each time that a terminator names the target
    BlockId *rpo;                     // reachable blocks in reverse postorder, nrpo of them
    uint32_t nrpo;
    uint32_t *rpo_index;  // by BlockId; UINT32_MAX = unreachable
    DomTree dom;
    LoopForest loops;
    DomTree pdom;
    Refs defs, uses;          // unreachable blocks included
    uint32_t *place;          // by InstrId: position, ascending in layout order; 0 = not in the layout
    uint32_t nregs, ninstrs;  // fn->regs.n and fn->instrs.n when AN_DEFUSE was built
    VEC(uint32_t) nuses;      // by RegId
    Live live;
    DefTable def;
    ReachingDefs rdefs;
    struct Pointers *pointers;  // ir/analysis/pointers.h
    struct MemVersions *mem;    // ir/analysis/memory_versions.h
} Analyses;

/* analysis.c */
// Makes the analyses of the mask and their prerequisites valid.
const Analyses *analysis_need(Fn *fn, uint32_t mask);
// Computes AN_LIVE, which may be as large as blocks x registers; false if its rows would have more than `max` registers
// in all. Its prerequisites are valid in both cases.
bool analysis_need_live(Fn *fn, uint64_t max);
// Returns the mask with the prerequisites of its analyses.
uint32_t analysis_closure(uint32_t mask);
// Returns Analyses.requested, and sets it to `mask`.
uint32_t analysis_requested(Fn *fn, uint32_t mask);
// Invalidates and frees all analyses except those of the mask. Callers pass 0 before they free a function. An analysis
// may be kept without its prerequisites if its own result is still correct, as AN_DOM is after swapping branch targets.
// After adding blocks no analysis may be kept: tables by BlockId are too short. In multi form AN_DEF depends on the
// positions of uses, and is kept only with AN_RDEFS.
void analysis_drop(Fn *fn, uint32_t keep);
// Drops all analyses and makes `heap` the heap of the function, for another thread. The old and the new heap must share
// a page pool.
void fn_adopt(Fn *fn, Heap *heap);
// True if the valid analyses of the mask equal newly computed ones; otherwise `why` has the reason. Successors, order
// and dominators must be equal. Predecessors may be permuted, since they follow the layout.
bool analysis_check(const Fn *fn, uint32_t mask, char why[static 200]);
// Analyses that are not stored with the function. analysis_compute() is analysis_need() for them.
void analysis_init(Analyses *a, Heap *heap);
void analysis_compute(const Fn *fn, Analyses *a, uint32_t mask);
void analysis_free(Analyses *a);

/* cfg.c: queries on AN_CFG */
// Iterate over the edges into or out of a block: FOR_PREDS(an, b, p) visit(*p). A block appears once for each time that
// a terminator names the target. Control also enters the entry from outside, for which there is no edge.
#define FOR_PREDS(an, b, p) FOR_EDGES(&(an)->preds, b, p)
#define FOR_SUCCS(an, b, s) FOR_EDGES(&(an)->succs, b, s)
#define FOR_EDGES(edges, b, e)                                                                                 \
    for (const BlockId *e = (edges)->at + (edges)->first[b], *e##_end = (edges)->at + (edges)->first[(b) + 1]; \
         e < e##_end; e++)
static inline uint32_t edge_count(const Edges *edges, BlockId b) { return edges->first[b + 1] - edges->first[b]; }
static inline uint32_t pred_count(const Analyses *an, BlockId b) { return edge_count(&an->preds, b); }
static inline uint32_t succ_count(const Analyses *an, BlockId b) { return edge_count(&an->succs, b); }
// True if a path leads from the entry to the block.
static inline bool is_reachable(const Analyses *an, BlockId b) { return an->rpo_index[b] != UINT32_MAX; }
// Return the only predecessor or successor; 0 if there are several edges, or none.
static inline BlockId only_pred(const Analyses *an, BlockId b)
{
    return pred_count(an, b) == 1 ? an->preds.at[an->preds.first[b]] : 0;
}
static inline BlockId only_succ(const Analyses *an, BlockId b)
{
    return succ_count(an, b) == 1 ? an->succs.at[an->succs.first[b]] : 0;
}

/* dom.c: queries on AN_DOM */
// True if every path from the entry to b contains a, in constant time. A block dominates itself. Every block dominates
// an unreachable b; an unreachable a dominates only unreachable blocks.
static inline bool dominates(const Analyses *an, BlockId a, BlockId b)
{
    const DomTree *d = &an->dom;
    return !d->size[b] || d->pre[b] - d->pre[a] < d->size[a];
}
// Return the first child of a block in the dominator tree and the next sibling of a child; 0 = none:
//     for (BlockId c = dom_child(an, b); c; c = dom_sibling(an, c))
static inline BlockId dom_child(const Analyses *an, BlockId b)
{
    const DomTree *d = &an->dom;
    return d->size[b] > 1 ? d->order[d->pre[b] + 1] : 0;
}
static inline BlockId dom_sibling(const Analyses *an, BlockId c)
{
    const DomTree *d = &an->dom;
    uint32_t after = d->pre[c] + d->size[c], end = d->idom[c] ? d->pre[d->idom[c]] + d->size[d->idom[c]] : 0;
    return after < end ? d->order[after] : 0;
}

/* defuse.c: queries on AN_DEFUSE */
// The uses include guards, tied uses and hidden uses of the carry. A register of an opaque instruction (OPM_INOUT) is a
// definition and a use. Implicit accesses by calls and returns to registers that are named elsewhere are not listed.
// The tables do not cover registers and instructions that are newer than the analysis.
static inline uint32_t def_count(const Analyses *an, RegId r) { return an->defs.first[r + 1] - an->defs.first[r]; }
static inline uint32_t use_count(const Analyses *an, RegId r) { return an->uses.first[r + 1] - an->uses.first[r]; }
// Iterate over the definitions or uses of a register: FOR_USES(an, r, u) visit(u->instr, u->op). They come in layout
// order; those of one instruction in the order of its operands.
#define FOR_DEFS(an, r, d) FOR_REFS(&(an)->defs, r, d)
#define FOR_USES(an, r, u) FOR_REFS(&(an)->uses, r, u)
#define FOR_REFS(refs, r, ref)                                                                             \
    for (const Ref *ref = (refs)->at + (refs)->first[r], *ref##_end = (refs)->at + (refs)->first[(r) + 1]; \
         ref < ref##_end; ref++)
// True if instruction i comes before j in the layout. Within a block that is the order of execution.
static inline bool stands_before(const Analyses *an, InstrId i, InstrId j) { return an->place[i] < an->place[j]; }

/* nuses.c: AN_NUSES */
// The uses are those of AN_DEFUSE. A phase that keeps AN_NUSES counts each use that it adds (`more` is 1) or removes
// (-1). The functions on Fn do nothing while AN_NUSES is invalid. nuses_add_new() is for registers that are newer than
// the counts.
void nuses_add_new(Analyses *an, RegId r, int more);
static inline void nuses_add(Analyses *an, RegId r, int more)
{
    if (r < an->nuses.n)
        an->nuses.at[r] += (uint32_t)more;
    else
        nuses_add_new(an, r, more);
}
static inline void nuses_count(Fn *fn, Operand o, int more)
{
    if (op_is_reg(o) && fn->analyses && fn->analyses->valid & AN_NUSES)
        nuses_add(fn->analyses, op_index(o), more);
}
// Counts all uses of an instruction.
void nuses_count_instr(Fn *fn, const Instr *i, int more);
// Returns the number of uses of a register.
static inline uint32_t nuses_of(const Analyses *an, RegId r) { return r < an->nuses.n ? an->nuses.at[r] : 0; }

/* def.c: queries on AN_DEF */
// Returns the defining instruction, DEF_JOINED, DEF_OUTSIDE, or 0 (no definition, or the register is newer than the
// table). Insertion and removal of instructions update the table (ir/core/def_table.c).
static inline InstrId def_entry(const Analyses *an, RegId r) { return r < an->def.n ? an->def.at[r] : 0; }
// Returns the only definition of a register; 0 if it has none, has several, or is outside ssa form. In multi form the
// definition is unguarded and dominates all uses.
static inline InstrId def_of(const Analyses *an, RegId r)
{
    InstrId def = def_entry(an, r);
    return def < DEF_JOINED ? def : 0;
}
// True if a register is outside ssa form, so that its definitions are not tracked.
static inline bool def_is_outside(const Analyses *an, RegId r) { return def_entry(an, r) == DEF_OUTSIDE; }
// True if a register is used or defined, but has no single definition of the kind that def_of() returns.
static inline bool def_is_joined(const Analyses *an, RegId r) { return def_entry(an, r) == DEF_JOINED; }

/* copies.c: queries on AN_DEF */
enum { COPY_CHAIN = 16 };  // limit of the length of a chain of copies
// Returns the operand that an unguarded move copies to its definition, else K_NONE. The operand is a constant or a
// register of ssa form, and has the width of the definition. A predicate may be negated.
Operand copy_of_move(const Fn *fn, const Instr *i);
// True if copy_of_any() may return an operand for instructions of this opcode. Most instructions are none of these.
static inline bool may_copy(Opcode op) { return op == OP_MOV || op == OP_CVT || op == OP_NOT || op == OP_UNPACK; }
// Returns the operand that an instruction, guarded or not, copies to register r, by a move or in another way, else
// K_NONE. The operand may replace r: if it is a register, it has the same file.
Operand copy_of_any(const Fn *fn, const Analyses *a, InstrId id, RegId r);
// Returns the register that a move, guarded or not, copies to a register of the same file and width, else K_NONE. Both
// may be outside ssa form: the caller knows that neither is written between the move and the use.
Operand copy_of_register(const Fn *fn, const Instr *i);
// Returns the source of the chain of unguarded moves that defines an operand: a constant, or a register with one
// definition that is available wherever the operand is. Follows at most COPY_CHAIN moves. Returns the operand itself if
// no move defines it.
Operand copy_source(const Fn *fn, const Analyses *a, Operand o);

/* rdefs.c: queries on AN_RDEFS */
// Iterates over the occurrences of joined[k] in layout order: FOR_OCCURRENCES(rd, k, n) visit(&rd->at[*n]);
#define FOR_OCCURRENCES(rd, k, n) \
    for (const uint32_t *n = (rd)->row + (rd)->first[k], *n##_end = (rd)->row + (rd)->first[(k) + 1]; n < n##_end; n++)
// Returns the occurrence of operand k of an instruction. The operand's register must be joined.
static inline Occurrence *occurrence_of(const Fn *fn, const Analyses *an, InstrId i, uint32_t k)
{
    const ReachingDefs *rd = &an->rdefs;
    Occurrence *o = rd->at + rd->first_in[i];
    while (o->op != ir_instr(fn, i)->ops + k)
        o++;
    return o;
}
// Returns the value that operand k of an instruction, a register, reads or defines.
static inline ValueId value_of(const Fn *fn, const Analyses *an, InstrId i, uint32_t k)
{
    RegId r = op_index(ir_ops(fn, ir_instr(fn, i))[k]);
    InstrId def = def_entry(an, r);
    return def == DEF_JOINED ? occurrence_of(fn, an, i, k)->value : def == DEF_OUTSIDE ? VALUE_ANY : def ? r : 0;
}
// Return the values that an instruction reads, one for each register operand after the definitions, in order:
//     const Occurrence *at = reads_begin(an, i);  // then for each: reads_next(an, its register, &at)
static inline const Occurrence *reads_begin(const Analyses *an, InstrId i)
{
    return an->rdefs.first_in ? an->rdefs.at + an->rdefs.first_in[i] : NULL;
}
static inline ValueId reads_next(const Analyses *an, RegId r, const Occurrence **at)
{
    InstrId def = def_entry(an, r);
    return def == DEF_JOINED ? (*at)++->value : def == DEF_OUTSIDE ? VALUE_ANY : def ? r : 0;
}
static inline uint32_t value_count(const Analyses *an) { return an->rdefs.first_phi + an->rdefs.nphis; }
static inline bool value_is_phi(const Analyses *an, ValueId v) { return v >= an->rdefs.first_phi && v != VALUE_ANY; }
// Returns the instruction that defines a value. The value must not be 0, VALUE_ANY or a phi.
static inline InstrId value_def(const Analyses *an, ValueId v)
{
    const ReachingDefs *rd = &an->rdefs;
    return v < rd->first_def ? an->def.at[v] : rd->at[rd->defs[v - rd->first_def]].instr;
}
static inline const ReachingPhi *value_phi(const Analyses *an, ValueId v)
{
    return &an->rdefs.phi[v - an->rdefs.first_phi];
}

// Returns AN_CFG, AN_RPO and AN_DOM of a function, and AN_DEF and AN_RDEFS as in multi form for some registers. These
// are the registers of `files` (a bit for each RegFile) for which about[RegId] is true, or all registers of `files` if
// `about` is NULL. In ssa form they are registers that temporarily have several definitions. Operands of other
// registers may have the value VALUE_ANY. Unless AN_RDEFS is valid, allocates from `own`, which analysis_free() frees.
const Analyses *rdefs_of_part(Fn *fn, Analyses *own, uint32_t files, const bool *about);

// Counts the inputs of the phis that a variable would have as a register. Between phi_counter_start() and
// phi_counter_inputs() the caller reports the accesses to the variable in layout order, including those of unreachable
// blocks. The function must not change between these calls. Counting stops above `max`.
typedef struct PhiCounter PhiCounter;
PhiCounter *phi_counter(Fn *fn, Arena *arena);
void phi_counter_start(PhiCounter *c);
void phi_counter_read(PhiCounter *c, BlockId b);
void phi_counter_write(PhiCounter *c, BlockId b);
uint64_t phi_counter_inputs(PhiCounter *c, uint64_t max);
void phi_counter_free(PhiCounter *c);

/* live.c: queries on AN_LIVE */
// live.c defines uses and kills. Registers that may be read before they are written are live at the start of the entry.
// Dead code elimination must keep definitions of pinned registers: an asynchronous instruction writes such a register
// after its position in the layout.
//
// Return the registers that are live at the start or at the end of a block, ascending, and their number in *n.
static inline const RegId *live_in(const Analyses *an, BlockId b, uint32_t *n)
{
    const RegRows *rows = &an->live.in;
    *n = rows->first[b + 1] - rows->first[b];
    return rows->at + rows->first[b];
}
static inline const RegId *live_out(const Analyses *an, BlockId b, uint32_t *n)
{
    const RegRows *rows = &an->live.out;
    *n = rows->first[b + 1] - rows->first[b];
    return rows->at + rows->first[b];
}
static inline bool reg_rows_have(const RegRows *rows, BlockId b, RegId r)
{
    uint32_t low = rows->first[b], high = rows->first[b + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->at[middle] < r)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->first[b + 1] && rows->at[low] == r;
}
static inline bool is_live_in(const Analyses *an, BlockId b, RegId r) { return reg_rows_have(&an->live.in, b, r); }
static inline bool is_live_out(const Analyses *an, BlockId b, RegId r) { return reg_rows_have(&an->live.out, b, r); }

// The registers that are live at one position of a block. The position moves up the block:
//     live_set_at_end(&set, an, b);
//     for (InstrId i = ir_block(fn, b)->last; i; i = ir_instr(fn, i)->prev)
//         live_set_step(&set, fn, i);  // before the call: live after i; after the call: live before i
// A sparse set (Briggs and Torczon, "An efficient representation for sparse sets", 1993): each operation on a member
// takes constant time.
typedef struct LiveSet {
    RegId *at;  // the live registers in no order, n of them
    uint32_t n;
    uint32_t *index;   // by RegId: index in `at`, if it is live
    VEC(RegId) named;  // registers that are named elsewhere
} LiveSet;

static inline bool live_set_has(const LiveSet *set, RegId r)
{
    return set->index[r] < set->n && set->at[set->index[r]] == r;
}
static inline void live_set_add(LiveSet *set, RegId r)
{
    if (live_set_has(set, r))
        return;
    set->index[r] = set->n;
    set->at[set->n++] = r;
}
static inline void live_set_remove(LiveSet *set, RegId r)
{
    if (!live_set_has(set, r))
        return;
    RegId last = set->at[--set->n];
    set->at[set->index[r]] = last;
    set->index[last] = set->index[r];
}
// Makes an empty set for the current registers of the function, in memory of the arena. The set may be used for any
// number of blocks.
void live_set_init(LiveSet *set, Arena *arena, const Fn *fn);
// Sets the set to the registers that are live at the end of a block, after the terminator.
void live_set_at_end(LiveSet *set, const Analyses *an, BlockId b);
// Moves up over an instruction: removes the registers that it kills and adds the registers that it reads. A phi reads
// at the end of the predecessors, so its uses are not added.
void live_set_step(LiveSet *set, const Fn *fn, InstrId i);

/* live_check.c: queries on AN_LOOPS and AN_DEFUSE (and AN_CFG, AN_RPO, AN_DOM) */
// Liveness queries for single registers of a function in ssa form, for callers with few queries.
typedef struct LiveCheck {
    const Fn *fn;
    const Analyses *a;
    uint64_t work;        // steps that searches may still take
    uint32_t searches;    // number of searches so far
    uint32_t *skip;       // by loop: an ancestor in the forest, 0 = none
    uint32_t *last_read;  // by RegId: 2 + index in `rpo` of the last block that reads it, or a code of live_check.c
    uint32_t *read_for;   // by BlockId: the last search whose register the block reads
    uint32_t *seen_for;   // by BlockId: the last search that visited it
    BlockId *stack;
} LiveCheck;
void live_check_init(LiveCheck *c, Arena *arena, const Fn *fn, const Analyses *a);
// True if a register is live at the end of a reachable block. The register has one definition and is not named
// elsewhere. A true result is conservative once the queries have exceeded the work limit; a false one is exact.
bool live_check_out(LiveCheck *c, RegId r, BlockId b);
// True if a register is live at the end of b without the uses by phis in the successors of b, as after copies at the
// end of b.
bool live_check_successors(LiveCheck *c, RegId r, BlockId b);

/* loops.c: queries on AN_LOOPS */
// Returns the innermost loop that contains the block; 0 = none. A header is in its own loop.
static inline uint32_t loop_of(const Analyses *an, BlockId b) { return an->loops.of[b]; }
// Returns the number of loops that contain the block.
static inline uint32_t loop_depth(const Analyses *an, BlockId b) { return an->loops.loop[an->loops.of[b]].depth; }
// True if the loop or one of its inner loops contains the block, in constant time. A loop contains another one if it
// contains the header.
static inline bool loop_contains(const Analyses *an, uint32_t loop, BlockId b)
{
    const Loop *l = &an->loops.loop[loop];
    return an->loops.pre[b] - l->first < l->n;
}

/* pdom.c: queries on AN_PDOM */
// True if every path from b to the exit contains a, in constant time. The virtual exit has number 0, also as an
// argument here. Returns, guarded returns and one block of each endless loop lead to the exit (pdom.c). A block
// post-dominates itself. Every block post-dominates an unreachable b; an unreachable a post-dominates only unreachable
// blocks.
static inline bool post_dominates(const Analyses *an, BlockId a, BlockId b)
{
    const DomTree *d = &an->pdom;
    return !d->size[b] || d->pre[b] - d->pre[a] < d->size[a];
}

/* rows.c: compressed sparse rows */
// Turns the counts of n rows into their starts, sets first[n] to the sum, and returns the sum.
uint32_t rows_start(uint32_t *first, uint32_t n);
// Restores the row starts after filling, which moves the start of each row to the start of the next one.
void rows_restore(uint32_t *first, uint32_t n);

/* dom_tree.c: dominators of other graphs */
// A graph with a root. The root may be block 0.
typedef struct RootedGraph {
    Edges succs, preds;  // by BlockId; predecessors that the root does not reach are ignored
    BlockId root;
    uint32_t ids;  // number of rows of edges
    uint32_t n;    // number of blocks that the root reaches, itself included
} RootedGraph;
// Computes the dominators from the root, in memory of the arena. Siblings are in reverse postorder; block 0 is not in
// `order`.
void dom_tree_build(const RootedGraph *g, DomTree *d, Arena *arena);

/* conditions.c: queries on AN_CFG */
// True if the instruction is a split: a guarded branch with two different targets. Use 0 is the target under the guard,
// use 1 the other one.
bool branch_is_split(const Fn *fn, const Instr *i);
// Returns the branch at the end of block `from` if it is a split; 0 = the edge to `to` has no condition. *holds
// receives the value of the guard's register on that edge.
InstrId edge_condition(const Fn *fn, BlockId from, BlockId to, bool *holds);
// Returns the split at the end of the only predecessor of a block; 0 = none. This is a dominating condition: b and all
// blocks that it dominates run only if the guard's register was *holds there.
InstrId dominating_condition(const Fn *fn, const Analyses *an, BlockId b, bool *holds);

/* convergence.c */
// True if an instruction is convergent: it has the trait TR_CONV, and is no call of a SYM_NOCONV function.
bool instr_is_convergent(const Fn *fn, const Instr *i);
// True if a branch redirected past a join may change where threads reconverge in a way that the function can observe:
// it has a convergent instruction and a branch that is not `.uni`. The threads at a join may have diverged at any of
// the branches before it, so a uniform branch at the join or at the redirected edge is not sufficient.
bool fn_is_convergent(const Fn *fn);
// True if the function is a kernel and all its threads provably execute the same sequence of convergent instructions.
// Requests AN_LOOPS and AN_PDOM.
bool all_run_same_collectives(Fn *fn);

/* copy_classes.c */
// Returns the representatives of values 1 .. n-1 in their copy classes, in memory of the arena. Row v of `inputs` has
// the values of which v copies one; a 0 in the row means that v is no copy. A value without another representative
// represents itself. Copies whose inputs are only each other have representative 0.
uint32_t *copy_representatives(const Edges *inputs, uint32_t n, Arena *arena);

/* control_deps.c: queries on AN_PDOM (and AN_CFG, AN_RPO) */
// Enumerates the branches on which blocks are control dependent, once for each edge out of a branch.
typedef struct ControlDeps {
    const Analyses *a;
    uint32_t *first;  // by place in the post-dominator tree: first of the edges to that block
    BlockId *from;    // by edge: its source
    uint32_t *least;  // a tree of minima over the edges: place of the immediate post-dominator of `from`
    uint32_t leaves;
} ControlDeps;
void control_deps_init(ControlDeps *c, Arena *arena, const Analyses *a);
// Returns a block on whose terminator b is control dependent, and removes the edge from further results. 0 = none is
// left.
BlockId control_deps_take(ControlDeps *c, BlockId b);

/* verify_form.c */
// Runs ir_verify(), and at level VERIFY_FORM checks the invariants of the function's form (verify_form.c). It neither
// relies on nor changes the analyses that the function keeps.
bool fn_verify(const Fn *fn, int level, InstrId *instr, char why[static 200]);

#endif
