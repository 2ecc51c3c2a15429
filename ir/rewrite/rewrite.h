// SPDX-License-Identifier: MIT
// Rewrites functions: replaces values, edits instructions and the flow graph, repairs ssa form, composes truth tables.
// All phases that change code share these functions.
//
// "Returns progress" means: returns true if it changed the function. "Drops the analyses" means analysis_drop(fn, 0).
// Scratch memory comes from the heap of the function, and is freed before return.
#ifndef ORI_REWRITE_H
#define ORI_REWRITE_H

#include "ir/analysis/analysis.h"
#include "ir/core/ir.h"

/* -- Replacing values (replace.c) ------------------------------------------------------------------------- */

// Maps registers of ssa form to the operands that replace them. One sweep at the end applies the map.
typedef struct ReplaceMap {
    Fn *fn;
    Arena scratch;
    Operand *by;      // by RegId; K_NONE = not replaced
    RegId nregs;      // number of registers when the map was made; newer ones are not replaced
    uint32_t n;       // number of replaced registers
    uint32_t moves;   // after replace_apply(): number of moves that it inserted
    bool equal;       // the same: the first two uses of an instruction became equal, or the definition of one reads the
                      // other
    bool conditions;  // the same: operands of comparisons or selects were replaced
    bool phis;        // the same: inputs of phis were replaced
} ReplaceMap;

void replace_begin(ReplaceMap *map, Fn *fn);
// True if the operand may replace the register. It is a register of ssa form with the same file and width, or a
// constant of that width; a predicate may be negated. The caller proves that the operand is available.
bool replace_allowed(const Fn *fn, RegId old, Operand by);
void replace_set(ReplaceMap *map, RegId old, Operand by);
// True if a register is replaced.
static inline bool replace_has(const ReplaceMap *map, RegId r)
{
    return r < map->nregs && op_kind(map->by[r]) != K_NONE;
}
// Returns the replacement of an operand, through chains; the operand itself if its register is not replaced.
Operand replace_find(const ReplaceMap *map, Operand o);
// Rewrites all uses, removes the definitions and frees the map; returns progress. AN_FLOW, AN_DEF and AN_NUSES stay
// valid.
bool replace_apply(ReplaceMap *map);

/* -- Editing instructions (edit.c) ------------------------------------------------------------------------ */

// True if *o may be operand k of an instruction. *o must have the width of the current operand. Replaces a constant *o
// by slot_constant().
bool fit_operand(Fn *fn, const Instr *i, uint32_t k, Operand *o);
// The bases of the addresses that an instruction accesses, in order. The operand behind a base is the offset.
typedef struct Bases {
    const Desc *desc;
    Str shape;
    uint32_t at, operand;  // position in the shape, and the operand there
} Bases;
Bases bases_of(const Fn *fn, const Desc *d);
// Sets *k to the operand that is the next base; false = there is none.
bool next_base(Bases *b, uint32_t *k);
// True if operand k of an instruction with this descriptor is a base.
bool operand_is_base(const Fn *fn, const Desc *d, uint32_t k);
// Replaces an instruction with one definition by another one with these uses. Guard and old value stay.
void instr_replace(Fn *fn, InstrId id, DescId desc, const Operand *uses, uint32_t n);
// Replaces an instruction with one definition by a move of this operand.
void instr_replace_by_move(Fn *fn, InstrId id, Operand from);
// Inserts a move before an instruction and its annotations. The move has the source line of the instruction.
InstrId insert_move(Fn *fn, InstrId before, RegId to, Operand from);
// Adds a guard, a predicate that may be negated, to an instruction that ir_may_guard() permits. In ssa form the old
// values of its definitions are set to `undef`. That is correct if all uses are under the same guard (rule 1);
// otherwise the caller sets the old values by ir_tied(). AN_FLOW and AN_DEF stay valid.
void instr_guard(Fn *fn, InstrId id, Operand guard);
// Returns the first instruction of a block that is no phi.
InstrId first_non_phi(const Fn *fn, BlockId b);
// Returns the index of the use of a phi that is its input value from this predecessor, which must exist.
uint32_t phi_input(const Fn *fn, const Instr *phi, BlockId from);
// Removes the input of a phi from a predecessor. The phi stays, even with one input. AN_FLOW and AN_DEF stay valid.
void phi_remove_input(Fn *fn, InstrId id, BlockId from);

// Annotations are instructions that describe the next one (TR_OF_NEXT): `.loc`, `.pragma` and the like.
// Returns the first annotation of an instruction, or the instruction itself.
InstrId first_annotation(const Fn *fn, InstrId id);
void remove_annotations(Fn *fn, InstrId id);
// Removes an instruction with its annotations.
void remove_annotated(Fn *fn, InstrId id);
// Replaces definition k of an instruction by the sink `_`. The definition must have no uses.
void remove_definition(Fn *fn, InstrId id, uint32_t k);

// True for a move of a register to itself. Such a move has no effect, guarded or not.
static inline bool is_self_move(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & (IF_PINNED | IF_TIED))
        return false;
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    return op_is_reg(to) && op_is_reg(from) && op_index(to) == op_index(from) && !to.mods && !from.mods &&
           !(ir_reg(fn, op_index(to))->flags & REG_PINNED);
}
// Removes self-moves; returns progress. Does not drop analyses.
bool remove_self_moves(Fn *fn);

/* -- Accesses as moves (access_moves.c) ------------------------------------------------------------------- */

// The operands after the uses of an instruction: the old value of one definition, and the guard.
typedef struct Tail {
    uint8_t flags;  // IF_TIED, IF_GUARDED
    Operand old, guard;
} Tail;
Tail tail_of(const Fn *fn, const Instr *i, uint32_t def);
Width width_of_operand(const Fn *fn, Operand o);  // of a register or a constant
Width width_of_bytes(uint32_t bytes);             // of a register for this many bytes; at least 16 bits
// A move that replaces a store and a later load: dst = the low bytes of src, a register or a constant, extended or
// truncated to the width of dst. Both are operands of an access for which access_is_movable() is true.
typedef struct AccessMove {
    Operand dst, src;
    uint32_t bytes;
    bool is_signed;
    Tail tail;
} AccessMove;
// Returns the low bytes of a constant, extended to a width.
Operand extended_constant(Fn *fn, Operand src, uint32_t bytes, bool is_signed, Width to);
void insert_access_move(Fn *fn, InstrId before, const AccessMove *move);
void instr_replace_by_access_move(Fn *fn, InstrId id, const AccessMove *move);

/* -- The flow graph (branches.c, empty_blocks.c, unreachable.c) ------------------------------------------- */

// True if a block ends in an unguarded branch to the next block in the layout.
bool branches_to_next(const Fn *fn, BlockId b);
// Replaces a terminator by an unguarded branch.
void instr_replace_by_branch(Fn *fn, InstrId id, BlockId to);
// Removes the guard of a terminator, and the successor for a false guard.
void terminator_drop_guard(Fn *fn, InstrId id);
// Returns the operand of a guarded terminator that names its successor for a false guard.
Operand *terminator_other_way(const Fn *fn, const Instr *i);
// ptxas predicates an arm of at most this number of instructions (branch_opt.c has the measurements).
enum { PREDICATED = 9 };
// True if ptxas predicates a block: it is the only arm of a branch to `join`, and has at most PREDICATED instructions
// before its own branch to `join`. If this branch led elsewhere, ptxas would keep both branches.
bool is_predicated_arm(const Fn *fn, const Analyses *a, BlockId arm, BlockId join);
// Replaces a guarded terminator by an unguarded one that does the same if the guard is `taken`.
void terminator_decide(Fn *fn, InstrId id, bool taken);
// Inserts a block that is not in the layout, and ends in a jump to `to`, on the edge from `from` to `to`. The
// terminator of `from` names `to` once, not in a table. Drops no analyses, but all are invalid.
void edge_split(Fn *fn, BlockId from, BlockId to, BlockId with);
// Removes the guard of branches with two equal targets; returns progress. Drops the analyses on progress.
bool drop_conditions(Fn *fn);
// Merges each block with its only successor if the block is the only predecessor of that successor, and that successor
// has no phis; returns progress. Other phis then name the merged block. Drops the analyses on progress.
bool merge_blocks(Fn *fn);
// Redirects branches that lead to empty blocks to the targets of these blocks, and removes the blocks; returns
// progress. Drops the analyses on progress.
bool skip_empty_blocks(Fn *fn);
// Removes unreachable blocks, the inputs of phis from them, and tables of branch targets that no branch names; returns
// progress. Drops the analyses if a block was removed.
bool remove_unreachable(Fn *fn);

/* -- SSA (ssa_repair.c) ----------------------------------------------------------------------------------- */

// Inserts an empty block before an entry block that has predecessors; returns progress. Drops the analyses on progress.
bool ssa_split_entry(Fn *fn);
// Assigns a separate register to each value of the joined registers. Requires AN_CFG and AN_RDEFS in `a`, and an entry
// without predecessors. If AN_DEF of the function is valid, it is updated for ssa form.
void ssa_name_values(Fn *fn, const Analyses *a);
// Restores ssa form for registers from `first` on, which may have several definitions. AN_FLOW and AN_DEF stay valid,
// unless ssa_split_entry() changes the entry. Has no effect in multi form.
void ssa_repair(Fn *fn, RegId first);

/* -- Scoped tables (scoped_table.c) ----------------------------------------------------------------------- */

// A log of changes of words. The end of a scope undoes the changes that were made in the scope.
typedef struct ScopedChange {
    uint32_t *word, old;
} ScopedChange;

typedef struct Scope {
    BlockId block;
    uint32_t changes;  // length of the log when the scope was opened
    bool open;         // false: the block is not visited yet
} Scope;

typedef struct ScopedTable {
    Arena *arena;
    VEC(ScopedChange) changes;
    VEC(Scope) scopes;  // innermost last
} ScopedTable;

void scoped_init(ScopedTable *t, Arena *arena);
// Changes a word in the innermost scope. The word must not move in memory.
void scoped_set(ScopedTable *t, uint32_t *word, uint32_t value);
// Adds a block to a walk over trees of blocks. The block is visited inside the scope that is innermost at the time of
// the push. Of several blocks, the last one is visited first.
void scoped_push(ScopedTable *t, BlockId b);
// Closes the scopes without unvisited blocks, opens the scope of the next block, and returns the block. 0: all blocks
// were visited, and all changes are undone.
BlockId scoped_next(ScopedTable *t);
// Opens the scope of the next block of a walk of the dominator tree in preorder. First closes the scopes of blocks that
// do not dominate it.
void scoped_enter(ScopedTable *t, const Analyses *a, BlockId b);

/* -- Truth tables (truth_table.c) ------------------------------------------------------------------------- */

enum { TRUTH_INPUTS = 3 };

// A bitwise function of up to three 32-bit values, as lop3 computes it. Bit 4 * a + 2 * b + c of the table is the
// result for inputs a, b and c. The table does not depend on missing inputs. Inputs are ascending without duplicates,
// registers before constants.
typedef struct TruthTable {
    Operand input[TRUTH_INPUTS];
    uint8_t n, table;
} TruthTable;
// The tables of the inputs themselves.
extern const uint8_t truth_input[TRUTH_INPUTS];
// Returns the function whose result is an operand: a register, or a constant other than `undef`. A constant and its
// complement have one input in common, so a mask and its complement count once. All zeros and all ones have no input.
TruthTable truth_of_operand(Fn *fn, Operand o);
TruthTable truth_complement(TruthTable f);
// Adds the inputs of another function. False if there would be more than TRUTH_INPUTS.
bool truth_add_inputs(TruthTable *to, const TruthTable *from);
// Returns the table of a function over these inputs. The function must not depend on other inputs.
uint8_t truth_table_over(const TruthTable *f, const TruthTable *inputs);
// Returns the table of a lop3 over the inputs of its operands. `table` is its table over the operands, which have the
// tables `of`.
uint8_t truth_compose(uint8_t table, const uint8_t of[static TRUTH_INPUTS]);
// Removes the inputs on which a function does not depend.
void truth_reduce(TruthTable *f);
// True if the function is one of its inputs, or a constant.
bool truth_is_move(const TruthTable *f);
// True if a move, not, and, or, or xor computes the function.
bool truth_is_plain(Fn *fn, const TruthTable *f);
// Replaces an instruction by a plain instruction that computes the function if truth_is_plain(), else by lop3.
void truth_replace(Fn *fn, InstrId id, const TruthTable *of);

#endif
