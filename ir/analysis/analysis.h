// SPDX-License-Identifier: MIT
// Analyses of a function. They live beside the IR under a mask that says which are valid; whoever changes the function
// drops what its change made wrong.
#ifndef ORI_ANALYSIS_H
#define ORI_ANALYSIS_H

#include "ir/core/ir.h"

// X(id, builder, built on), each behind those that it is built on. What is built on another copies what it needs of it,
// so each can be kept without the others; but AN_RDEFS reads the table of AN_DEF and goes with it, and
// AN_POINTERS goes with any of those that it is built on.
#define ANALYSES(X)                                                                                          \
    X(CFG, cfg, 0)                                     /* predecessors, successors */                        \
    X(RPO, rpo, AN_CFG)                                /* reverse postorder */                               \
    X(DOM, dom, AN_CFG | AN_RPO)                       /* dominators */                                      \
    X(LOOPS, loops, AN_CFG | AN_RPO | AN_DOM)          /* loop nesting forest */                             \
    X(PDOM, pdom, AN_CFG | AN_RPO | AN_LOOPS)          /* post-dominators */                                 \
    X(DEFUSE, defuse, 0)                               /* definitions and uses */                            \
    X(LIVE, live, AN_CFG | AN_RPO | AN_DEFUSE)         /* registers that are live across block boundaries */ \
    X(DEF, def, AN_CFG | AN_RPO | AN_DOM)              /* the one definition of a register */                \
    X(RDEFS, rdefs, AN_CFG | AN_RPO | AN_DOM | AN_DEF) /* in multi form, the definitions that a use reads */ \
    X(POINTERS, pointers, AN_CFG | AN_RPO | AN_DOM | AN_DEF | AN_RDEFS) /* addresses: object, offset, escape */

#define ANALYSIS_NUMBER(id, ...) AX_##id,
#define ANALYSIS_BIT(id, ...) AN_##id = 1 << AX_##id,
enum { ANALYSES(ANALYSIS_NUMBER) ANALYSIS_COUNT };
extern const char *const analysis_names[ANALYSIS_COUNT];
typedef enum { ANALYSES(ANALYSIS_BIT) AN_FLOW = AN_CFG | AN_RPO | AN_DOM | AN_LOOPS | AN_PDOM } AnalysisMask;
#undef ANALYSIS_NUMBER
#undef ANALYSIS_BIT

// Edges as compressed sparse rows: those of block b are at[first[b]] .. at[first[b + 1]].
typedef struct Edges {
    uint32_t *first;  // blocks.n + 1 entries
    BlockId *at;
} Edges;

// A tree of dominators. A block and all that it dominates are consecutive in `order`: size[b] blocks from pre[b] on, b
// itself first, its children in reverse postorder with what each dominates.
typedef struct DomTree {
    BlockId *idom;  // by BlockId; 0 = none (the entry, unreachable blocks); of post-dominators: the exit
    BlockId *order;
    uint32_t *pre;   // by BlockId
    uint32_t *size;  // by BlockId; 0 = unreachable
} DomTree;

// A strongly connected region: the header is the block that a depth-first search reaches first, and the loops inside
// are those of the region without it. Edges back are those to the header from inside; if the header is the only entry,
// it dominates the loop, which then is their natural loop.
typedef struct Loop {
    BlockId header;
    uint32_t parent;    // the loop around it, 0 = none
    uint32_t depth;     // 1 = in no other
    uint32_t first, n;  // its blocks: n places of `order`, the header's first
    bool reducible;     // the header is the only entry
} Loop;

// Loops are numbered so that outer ones come before inner ones and all inside one are consecutive. Number 0 is the
// function: all reachable blocks, no header, depth 0.
typedef struct LoopForest {
    Loop *loop;  // 0 .. n
    uint32_t n;
    BlockId *order;  // reachable blocks in reverse postorder, but a loop's blocks are consecutive, header first
    uint32_t *pre;   // by BlockId: place in `order`; UINT32_MAX = unreachable
    uint32_t *of;    // by BlockId: the innermost loop, 0 = none
} LoopForest;

// An operand: the instruction, and the index in its run.
typedef struct Ref {
    InstrId instr;
    uint32_t op;
} Ref;

// Operands that name a register: those of r are at[first[r]] .. at[first[r + 1]], in layout order.
typedef struct Refs {
    uint32_t *first;  // nregs + 1 entries
    Ref *at;
} Refs;

// Registers of blocks: those of b are at[first[b]] .. at[first[b + 1]], ascending.
typedef struct RegRows {
    uint32_t *first;  // blocks.n + 1 entries
    RegId *at;
} RegRows;

typedef struct Live {
    RegRows in, out;  // live at the start, at the end; none for unreachable blocks
} Live;

// Reaching definitions. A value is what a use reads. Most registers are plain: they have one definition (AN_DEF), and
// their only value has the register's number. The others are joined, and each of their definitions is a value, and so
// are phis where several of them meet. 0 is the value of what nothing wrote. In ssa form no register is joined.
typedef uint32_t ValueId;
#define VALUE_ANY UINT32_MAX  // registers outside ssa: one definition or another

// An operand that names a joined register.
typedef struct Occurrence {
    InstrId instr;
    uint32_t op;    // its index among the function's operands: Instr.ops and its place there
    ValueId value;  // what is read, or made
    BlockId block : 30;
    bool def : 1, guarded : 1;
} Occurrence;

// Where several values of a register meet. Its inputs are input[inputs ...], one for each edge of the block's row of
// predecessors, 0 for unreachable ones; in the entry also what comes in from outside, which is nothing.
typedef struct ReachingPhi {
    RegId reg;
    BlockId block;
    uint32_t inputs;
} ReachingPhi;

typedef struct ReachingDefs {
    RegId *joined;       // njoined of them, ascending
    uint32_t *first;     // the occurrences of joined[k] are row[first[k]] .. row[first[k + 1]], in layout order
    uint32_t *row;       // indices in `at`
    Occurrence *at;      // from 1, in layout order, uses before the definitions of the same instruction
    uint32_t *first_in;  // by InstrId: its first occurrence, if it has any; NULL if no register is joined
    uint32_t *defs;      // by value - first_def: the definition's index in `at`
    ValueId *old;        // by value - first_def: the value before a guarded definition, otherwise 0
    ValueId first_def;   // the first value that is a definition of a joined register
    ValueId first_phi;   // of phi[0]
    ReachingPhi *phi;
    ValueId *input;
    uint32_t njoined, noccurrences;  // with the one that is none
    uint32_t nphis, ninputs;
    uint32_t nops;  // fn->ops.n when it was made
    bool searched;  // how phis were placed: by search, since there are too many dominance frontiers to keep
} ReachingDefs;

typedef struct Analyses {
    Arena arena[ANALYSIS_COUNT];      // one each, so that what is dropped is freed
    uint32_t blocks[ANALYSIS_COUNT];  // fn->blocks.n when it was made
    uint32_t valid;                   // AnalysisMask
    uint32_t requested;               // AnalysisMask: those of analysis_need() since the manager cleared it
    Edges succs, preds;               // an edge for each time that a terminator names the target
    BlockId *rpo;                     // reachable blocks in reverse postorder, nrpo of them
    uint32_t nrpo;
    uint32_t *rpo_index;  // by BlockId; UINT32_MAX = unreachable
    DomTree dom;
    LoopForest loops;
    DomTree pdom;
    Refs defs, uses;          // unreachable blocks count, too
    uint32_t *place;          // by InstrId: ascends in layout order; 0 = not in the layout
    uint32_t nregs, ninstrs;  // fn->regs.n, fn->instrs.n when those were made
    Live live;
    DefTable def;
    ReachingDefs rdefs;
    struct Origins *pointers;  // ir/analysis/origins.h
} Analyses;

/* analysis.c */
// Makes the analyses of the mask valid, and those that they are built on.
const Analyses *analysis_need(Fn *fn, uint32_t mask);
// Returns the mask with the analyses that those of the mask are built on.
uint32_t analysis_closure(uint32_t mask);
// Returns what was requested of the function's analyses since it was asked last, and makes it `mask`.
uint32_t analysis_requested(Fn *fn, uint32_t mask);
// Invalidates all but those of the mask. An analysis may be kept without what it is built on: that says that its own
// result is still right, as that of AN_DOM is when the targets of a branch change places. In multi form AN_DEF depends
// on where registers are read, and is kept only with AN_RDEFS.
void analysis_drop(Fn *fn, uint32_t keep);
// Drops all, and has the function take its memory from this heap from now on: one with the same pool as its own, so
// that another thread can take it over.
void fn_adopt(Fn *fn, Heap *heap);
// Whether those of the mask that are marked valid are what would be computed now; otherwise why not. Successors, order
// and dominators must be the same; predecessors may stand in another order, as they do when the layout changes.
bool analysis_check(const Fn *fn, uint32_t mask, char why[static 200]);
// Analyses apart from those that the function keeps: analysis_compute() is analysis_need() for them.
void analysis_init(Analyses *a, Heap *heap);
void analysis_compute(const Fn *fn, Analyses *a, uint32_t mask);
void analysis_free(Analyses *a);

/* cfg.c: questions to AN_CFG */
// Run their body for each edge into, out of a block: FOR_PREDS(an, b, p) visit(*p). A block stands there as often as
// its terminator names the other one. Only the edges are counted: the entry is also entered from outside.
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
// Returns the block at the other end of the only edge; 0 if there are several edges, or none.
static inline BlockId only_pred(const Analyses *an, BlockId b)
{
    return pred_count(an, b) == 1 ? an->preds.at[an->preds.first[b]] : 0;
}
static inline BlockId only_succ(const Analyses *an, BlockId b)
{
    return succ_count(an, b) == 1 ? an->succs.at[an->succs.first[b]] : 0;
}

/* dom.c: questions to AN_DOM */
// Whether every path from the entry to b leads through a, in constant time. A block dominates itself. No path leads to
// an unreachable b, so everything dominates it; an unreachable a dominates nothing else.
static inline bool dominates(const Analyses *an, BlockId a, BlockId b)
{
    const DomTree *d = &an->dom;
    return !d->size[b] || d->pre[b] - d->pre[a] < d->size[a];
}
// The children of a block: for (c = dom_child(an, b); c; c = dom_sibling(an, c)); 0 = no (more) children.
static inline BlockId dom_child(const Analyses *an, BlockId b)
{
    const DomTree *d = &an->dom;
    return d->size[b] > 1 ? d->order[d->pre[b] + 1] : 0;
}
static inline BlockId dom_sibling(const Analyses *an, BlockId c)
{
    const DomTree *d = &an->dom;
    uint32_t behind = d->pre[c] + d->size[c], end = d->idom[c] ? d->pre[d->idom[c]] + d->size[d->idom[c]] : 0;
    return behind < end ? d->order[behind] : 0;
}

/* defuse.c: questions to AN_DEFUSE */
// Guards, tied uses and the carry are definitions and uses like others; a register of an opaque instruction (OPM_INOUT)
// is both. What calls and returns do with registers that are named elsewhere does not show here. Registers and
// instructions that are newer than the analysis are not in its tables.
static inline uint32_t def_count(const Analyses *an, RegId r) { return an->defs.first[r + 1] - an->defs.first[r]; }
static inline uint32_t use_count(const Analyses *an, RegId r) { return an->uses.first[r + 1] - an->uses.first[r]; }
// Run their body for each definition, each use: FOR_USES(an, r, u) visit(u->instr, u->op); in layout order, within an
// instruction by operand.
#define FOR_DEFS(an, r, d) FOR_REFS(&(an)->defs, r, d)
#define FOR_USES(an, r, u) FOR_REFS(&(an)->uses, r, u)
#define FOR_REFS(refs, r, ref)                                                                             \
    for (const Ref *ref = (refs)->at + (refs)->first[r], *ref##_end = (refs)->at + (refs)->first[(r) + 1]; \
         ref < ref##_end; ref++)
// True if instruction i stands before j in the layout. Within a block that is the order of execution.
static inline bool stands_before(const Analyses *an, InstrId i, InstrId j) { return an->place[i] < an->place[j]; }

/* def.c: questions to AN_DEF */
// Insertion and removal of instructions keep the table; registers without an entry have no definition.
// Returns an instruction, 0 (no definition), DEF_JOINED or DEF_OUTSIDE.
static inline InstrId def_entry(const Analyses *an, RegId r) { return r < an->def.n ? an->def.at[r] : 0; }
// Returns the one definition of a register; 0 if it has none or several, or is outside of ssa form. In multi form the
// definition is unguarded and dominates all that reads the register.
static inline InstrId def_of(const Analyses *an, RegId r)
{
    InstrId def = def_entry(an, r);
    return def < DEF_JOINED ? def : 0;
}
// True for a register that stays outside of ssa form: definitions that are not shown may write it.
static inline bool def_is_outside(const Analyses *an, RegId r) { return def_entry(an, r) == DEF_OUTSIDE; }
// True for a register with several definitions, or with one that does not dominate all that reads it.
static inline bool def_is_joined(const Analyses *an, RegId r) { return def_entry(an, r) == DEF_JOINED; }

/* copies.c: questions to AN_DEF */
enum { COPY_CHAIN = 16 };  // the steps that are followed through copies of copies
// Returns the operand that an unguarded move copies to its definition: a register of ssa form (of a predicate, perhaps
// negated) or a constant, of the width of the definition. none = the instruction is no such move.
Operand copy_of_move(const Fn *fn, const Instr *i);
// Returns the operand that an instruction, guarded or not, copies to the register r, by a move or in another way, if it
// may stand in the place of r: a register is of the same file. none = it copies nothing.
Operand copy_of_any(const Fn *fn, const Analyses *a, InstrId id, RegId r);
// Returns the operand that an operand is a copy of through unguarded moves, at most COPY_CHAIN of them: a constant, or
// a register with one definition that is available wherever the operand is. The operand itself if it is no such copy.
Operand copy_source(const Fn *fn, const Analyses *a, Operand o);

/* rdefs.c: questions to AN_RDEFS */
// Runs its body for each occurrence of joined[k], in layout order: FOR_OCCURRENCES(rd, k, n) visit(&rd->at[*n]);
#define FOR_OCCURRENCES(rd, k, n) \
    for (const uint32_t *n = (rd)->row + (rd)->first[k], *n##_end = (rd)->row + (rd)->first[(k) + 1]; n < n##_end; n++)
// The occurrence of operand k of the instruction, whose register is joined.
static inline Occurrence *occurrence_of(const Fn *fn, const Analyses *an, InstrId i, uint32_t k)
{
    const ReachingDefs *rd = &an->rdefs;
    Occurrence *o = rd->at + rd->first_in[i];
    while (o->op != ir_instr(fn, i)->ops + k)
        o++;
    return o;
}
// The value that operand k of an instruction, a register, reads or makes.
static inline ValueId value_of(const Fn *fn, const Analyses *an, InstrId i, uint32_t k)
{
    RegId r = op_index(ir_ops(fn, ir_instr(fn, i))[k]);
    InstrId def = def_entry(an, r);
    return def == DEF_JOINED ? occurrence_of(fn, an, i, k)->value : def == DEF_OUTSIDE ? VALUE_ANY : def ? r : 0;
}
// The values that an instruction reads, one register operand behind its definitions after the other:
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
// The definition that a value is, which is neither 0 nor VALUE_ANY nor a phi.
static inline InstrId value_def(const Analyses *an, ValueId v)
{
    const ReachingDefs *rd = &an->rdefs;
    return v < rd->first_def ? an->def.at[v] : rd->at[rd->defs[v - rd->first_def]].instr;
}
static inline const ReachingPhi *value_phi(const Analyses *an, ValueId v)
{
    return &an->rdefs.phi[v - an->rdefs.first_phi];
}

// AN_CFG, AN_RPO and AN_DOM of a function, and as much of AN_DEF and AN_RDEFS in multi form as is about these
// registers: a bit per RegFile, and of those the ones that are true by RegId, or all if that is NULL. In ssa form these
// are registers that have several definitions for the time being. What reads or makes another may be VALUE_ANY. Where
// AN_RDEFS is not valid, memory of `own` is taken, for analysis_free().
const Analyses *rdefs_of_part(Fn *fn, Analyses *own, uint32_t files, const bool *about);

// Makes AN_RDEFS of a function in multi form valid if its phis have at most so many inputs together. Otherwise pins
// registers until that holds, and returns how many.
uint32_t rdefs_limit_phis(Fn *fn, uint64_t limit);

// Counts the inputs of the phis that a variable would need as a register. Between phi_counter_start() and
// phi_counter_inputs() the accesses to the variable are told in layout order, those of unreachable blocks, too. The
// function must not change meanwhile. Counting stops behind `max`.
typedef struct PhiCounter PhiCounter;
PhiCounter *phi_counter(Fn *fn, Arena *arena);
void phi_counter_start(PhiCounter *c);
void phi_counter_read(PhiCounter *c, BlockId b);
void phi_counter_write(PhiCounter *c, BlockId b);
uint64_t phi_counter_inputs(PhiCounter *c, uint64_t max);
void phi_counter_free(PhiCounter *c);

/* live.c: questions to AN_LIVE */
// What is live where, and why, stands at the top of the file. Registers that may be read before they are written are
// live at the start of the entry. Whoever removes what is dead asks about pinned registers elsewhere: instructions that
// complete later write them behind the place where they stand.
//
// The registers that are live at the start (the end) of a block, ascending; their number is put into *n.
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

// The registers that are live at one place of a block, while that goes up the block:
//     live_set_at_end(&set, an, b);
//     for (InstrId i = ir_block(fn, b)->last; i; i = ir_instr(fn, i)->prev)
//         live_set_step(&set, fn, i);  // before: what is live behind i; after: what is live in front of it
// A sparse set (Briggs and Torczon, "An efficient representation for sparse sets", 1993): all but the making takes
// constant time.
typedef struct LiveSet {
    RegId *at;  // the live registers in no order, n of them
    uint32_t n;
    uint32_t *index;   // by RegId: where it stands in `at`, if it does
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
// An empty set for the registers that the function has now, in this arena; once for as many blocks as one likes.
void live_set_init(LiveSet *set, Arena *arena, const Fn *fn);
// Makes it what is live at the end of a block, behind its terminator.
void live_set_at_end(LiveSet *set, const Analyses *an, BlockId b);
// Goes up over an instruction: takes out what it defines, puts in what it reads. A phi reads nothing here.
void live_set_step(LiveSet *set, const Fn *fn, InstrId i);

/* live_check.c: questions to AN_LOOPS and AN_DEFUSE (and AN_CFG, AN_RPO, AN_DOM) */
// Liveness of single registers of a function in ssa form, for those who ask about few.
typedef struct LiveCheck {
    const Fn *fn;
    const Analyses *a;
    uint64_t work;        // that searches may still do
    uint32_t searches;    // so far
    uint32_t *last_read;  // by RegId: where the last block in reverse postorder stands that reads it, once asked
    uint32_t *read_for;   // by BlockId: the last search for a register that is read in it
    uint32_t *seen_for;   // by BlockId: the last search that came by
    BlockId *stack;
} LiveCheck;
void live_check_init(LiveCheck *c, Arena *arena, const Fn *fn, const Analyses *a);
// Whether a register that has one definition, and is not named elsewhere, is live at the end of a reachable block. True
// may be wrong where answers became expensive; false never is.
bool live_check_out(LiveCheck *c, RegId r, BlockId b);
// The same without the reads of phis that block b leads to, for what is behind the copies at its end.
bool live_check_successors(LiveCheck *c, RegId r, BlockId b);

/* loops.c: questions to AN_LOOPS */
// The innermost loop that the block is in, which is its own if it is a header; 0 = none.
static inline uint32_t loop_of(const Analyses *an, BlockId b) { return an->loops.of[b]; }
// How many loops the block is in.
static inline uint32_t loop_depth(const Analyses *an, BlockId b) { return an->loops.loop[an->loops.of[b]].depth; }
// Whether the block is in the loop or in one inside, in constant time. A loop is in another if its header is.
static inline bool loop_contains(const Analyses *an, uint32_t loop, BlockId b)
{
    const Loop *l = &an->loops.loop[loop];
    return an->loops.pre[b] - l->first < l->n;
}

/* pdom.c: questions to AN_PDOM */
// Whether every path from b to the exit leads through a, in constant time. The exit is virtual: 0 as an immediate
// post-dominator, and as an argument here. Returns and guarded returns lead there, and one block of each endless loop;
// pdom.c says which, and why. A block post-dominates itself. From an unreachable b everything does; an unreachable a
// post-dominates nothing else.
static inline bool post_dominates(const Analyses *an, BlockId a, BlockId b)
{
    const DomTree *d = &an->pdom;
    return !d->size[b] || d->pre[b] - d->pre[a] < d->size[a];
}

/* rows.c: compressed sparse rows */
// Turns the counts of n rows into their starts, first[n] into the sum, which is returned.
uint32_t rows_start(uint32_t *first, uint32_t n);
// Filling a row moves its start to its end, which is the next one's start: puts the starts back.
void rows_restore(uint32_t *first, uint32_t n);

/* dom_tree.c: dominators of other graphs */
// A graph with a root. Block 0 may be in it, as the root.
typedef struct RootedGraph {
    Edges succs, preds;  // by BlockId; predecessors that the root does not reach do not matter
    BlockId root;
    uint32_t ids;  // rows of edges
    uint32_t n;    // blocks that the root reaches, with itself
} RootedGraph;
// The dominators from the root, in memory of this arena. Siblings are in reverse postorder; block 0 has no place.
void dom_tree_build(const RootedGraph *g, DomTree *d, Arena *arena);

/* conditions.c: questions to AN_CFG */
// True if the instruction is a guarded branch with two different targets. Use 0 is the target under the guard, use 1
// the other one.
bool branch_is_split(const Fn *fn, const Instr *i);
// Returns the branch at the end of block `from` if it is a split, of which the edge to `to` is one side; *holds becomes
// the value of the guard's register on that edge. 0 = the edge has no condition.
InstrId edge_condition(const Fn *fn, BlockId from, BlockId to, bool *holds);
// Returns the branch whose outcome decides that a block runs: the split at the end of the only predecessor. The block
// and all that it dominates run only if the guard's register was *holds there. 0 = there is none.
InstrId dominating_condition(const Fn *fn, const Analyses *an, BlockId b, bool *holds);

/* copy_classes.c */
// Of values 1 .. n-1, each a copy of one of those in its row, or no copy if 0 is among them: returns the value that
// each always equals, itself if there is none, 0 if it is a copy of nothing but such copies. In memory of this arena.
uint32_t *copy_representatives(const Edges *inputs, uint32_t n, Arena *arena);

/* control_deps.c: questions to AN_PDOM (and AN_CFG, AN_RPO) */
// Gives out the branches that decide whether blocks run, each block at the end of a branch as often as it has edges.
typedef struct ControlDeps {
    const Analyses *a;
    uint32_t *first;  // by place in the post-dominator tree: edges that lead there
    BlockId *from;    // by edge
    uint32_t *least;  // a tree of minima over the edges: the place of what post-dominates `from`
    uint32_t leaves;
} ControlDeps;
void control_deps_init(ControlDeps *c, Arena *arena, const Analyses *a);
// A block on whose terminator it depends whether b runs; what was given out for an edge is not again. 0 = no (more).
BlockId control_deps_take(ControlDeps *c, BlockId b);

/* verify_form.c */
// ir_verify(), and at level VERIFY_FORM what the form of the function promises. Neither trusts nor changes the analyses
// that the function keeps.
bool fn_verify(const Fn *fn, int level, InstrId *instr, char why[static 200]);

#endif
