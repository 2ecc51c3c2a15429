// SPDX-License-Identifier: MIT
// Rewriting of functions: what phases share when they change code.
//
// Functions that return progress say whether they changed the function. "Drops the analyses" is analysis_drop(fn, 0).
// Scratch memory comes from the heap of the function; nothing here is kept between calls.
#ifndef ORI_REWRITE_H
#define ORI_REWRITE_H

#include "ir/analysis/analysis.h"
#include "ir/core/ir.h"

/* -- Replacing values (replace.c) ------------------------------------------------------------------------- */

// Maps registers in ssa form to the operands that replace them. One sweep at the end applies it.
typedef struct ReplaceMap {
    Fn *fn;
    Arena scratch;
    Operand *by;  // by RegId; none = the register stays
    RegId nregs;  // of the function when the map was made; newer registers are not replaced
    uint32_t n;   // replaced registers
} ReplaceMap;

void replace_begin(ReplaceMap *map, Fn *fn);
// True if the operand may replace the register: registers of ssa form and of one file and width, a constant of the
// width, a negated predicate. Availability is the caller's proof.
bool replace_allowed(const Fn *fn, RegId old, Operand by);
void replace_set(ReplaceMap *map, RegId old, Operand by);
// Returns the replacement of an operand, through chains; the operand itself if its register is not replaced.
Operand replace_find(const ReplaceMap *map, Operand o);
// Rewrites all uses, removes the definitions and frees the map; returns progress. AN_FLOW and AN_DEF stay valid.
bool replace_apply(ReplaceMap *map);

/* -- Editing instructions (edit.c) ------------------------------------------------------------------------ */

// Returns whether operand k of an instruction may be *o, which has the width of the present operand, and makes *o the
// constant that stands for it there (slot_constant).
bool fit_operand(Fn *fn, const Instr *i, uint32_t k, Operand *o);
// True if operand k of such an instruction is the base of an access. The next operand is its offset.
bool operand_is_base(const Fn *fn, const Desc *d, uint32_t k);
// Replaces an instruction with one definition by another one with these uses. Guard and old value stay.
void instr_replace(Fn *fn, InstrId id, DescId desc, const Operand *uses, uint32_t n);
// Replaces it by a move of this operand.
void instr_replace_by_move(Fn *fn, InstrId id, Operand from);
// Inserts a move in front of an instruction and its annotations; it takes the instruction's source line.
InstrId insert_move(Fn *fn, InstrId before, RegId to, Operand from);
// Gives an instruction that ir_may_guard() a guard: a predicate, perhaps negated. In ssa form the old values of its
// definitions become `undef`, which is right if all uses are under the same guard (rule 1); otherwise the caller sets
// them by ir_tied(). AN_FLOW and AN_DEF stay valid.
void instr_guard(Fn *fn, InstrId id, Operand guard);
// Returns the first instruction of a block that is no phi.
InstrId first_non_phi(const Fn *fn, BlockId b);
// Returns the index of the use of a phi that is its value from this predecessor.
uint32_t phi_input(const Fn *fn, const Instr *phi, BlockId from);
// Removes the input of a phi from a predecessor. The phi stays, even with one input. AN_FLOW and AN_DEF stay valid.
void phi_remove_input(Fn *fn, InstrId id, BlockId from);

// Annotations are instructions that describe the next one (TR_OF_NEXT): `.loc`, `.pragma` and the like.
// Returns the first annotation of an instruction, or the instruction itself.
InstrId first_annotation(const Fn *fn, InstrId id);
void remove_annotations(Fn *fn, InstrId id);
// Removes an instruction with its annotations.
void remove_annotated(Fn *fn, InstrId id);
// Makes definition k of an instruction, which nothing reads, the sink `_`.
void remove_definition(Fn *fn, InstrId id, uint32_t k);

// True for a move of a register to itself, which has no effect, guarded or not.
static inline bool is_self_move(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & (IF_PINNED | IF_TIED))
        return false;
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    return op_is_reg(to) && op_is_reg(from) && op_index(to) == op_index(from) && !to.mods && !from.mods &&
           !(ir_reg(fn, op_index(to))->flags & REG_PINNED);
}
// Removes self-moves; returns progress. The analyses stay.
bool remove_self_moves(Fn *fn);

/* -- Accesses as moves (access_moves.c) ------------------------------------------------------------------- */

// The operands behind the uses of an instruction: the old value of one definition, and the guard.
typedef struct Tail {
    uint8_t flags;  // IF_TIED, IF_GUARDED
    Operand old, guard;
} Tail;
Tail tail_of(const Fn *fn, const Instr *i, uint32_t def);
Width width_of_operand(const Fn *fn, Operand o);  // of a register or a constant
Width width_of_bytes(uint32_t bytes);             // of registers for so many bytes, at least 16 bits
// The effect of a store and a load on a value: dst = the low bytes of src, a register or a constant, extended to the
// width of dst or cut to it. Both are operands of an access that access_is_movable().
typedef struct AccessMove {
    Operand dst, src;
    uint32_t bytes;
    bool is_signed;
    Tail tail;
} AccessMove;
void insert_access_move(Fn *fn, InstrId before, const AccessMove *move);
void instr_replace_by_access_move(Fn *fn, InstrId id, const AccessMove *move);

/* -- The flow graph (branches.c, empty_blocks.c, unreachable.c) ------------------------------------------- */

// Replaces a terminator by an unguarded branch.
void instr_replace_by_branch(Fn *fn, InstrId id, BlockId to);
// Removes the guard of a terminator, and the successor for a false one.
void terminator_drop_guard(Fn *fn, InstrId id);
// Makes branches with two equal targets unguarded; returns progress, and then drops the analyses.
bool drop_conditions(Fn *fn);
// Merges each block with its only successor if it is the only predecessor of that; returns progress, and then drops the
// analyses.
bool merge_blocks(Fn *fn);
// Redirects branches through empty blocks, and removes the blocks; returns progress, and then drops the analyses.
bool skip_empty_blocks(Fn *fn);
// Removes unreachable blocks, the inputs of phis from them, and tables of branch targets that no branch names; returns
// progress, and drops the analyses if a block went.
bool remove_unreachable(Fn *fn);

/* -- SSA (ssa_repair.c) ----------------------------------------------------------------------------------- */

// Puts an empty block in front of an entry block that has predecessors; returns progress, and then drops the analyses.
bool ssa_split_entry(Fn *fn);
// Gives each value of the joined registers a register of its own, with AN_CFG and AN_RDEFS of `a` and an entry without
// predecessors. AN_DEF of the function becomes that of ssa form if it is valid.
void ssa_name_values(Fn *fn, const Analyses *a);
// Restores ssa form for registers from `first` on, which have several definitions; AN_FLOW and AN_DEF stay valid. Does
// nothing in multi form.
void ssa_repair(Fn *fn, RegId first);

/* -- Scoped facts (scoped_table.c) ------------------------------------------------------------------------ */

// Words that hold facts, and a log of their changes. Each change is undone when the scope is left in which it was made.
typedef struct ScopedChange {
    uint32_t *word, old;
} ScopedChange;

typedef struct Scope {
    BlockId block;
    uint32_t changes;  // in the log when it was opened
    bool open;         // otherwise the block waits to be visited
} Scope;

typedef struct ScopedTable {
    Arena *arena;
    VEC(ScopedChange) changes;
    VEC(Scope) scopes;  // innermost last
} ScopedTable;

void scoped_init(ScopedTable *t, Arena *arena);
// Changes a word, which must stay where it is, in the innermost scope.
void scoped_set(ScopedTable *t, uint32_t *word, uint32_t value);
// A walk over trees of blocks. The blocks that are pushed before scoped_next() are visited inside the scope that is
// innermost then, the last one first.
void scoped_push(ScopedTable *t, BlockId b);
// Leaves the scopes in which no block waits, opens that of the next block, and returns the block. 0: none waits, and
// all changes are undone.
BlockId scoped_next(ScopedTable *t);
// Opens the scope of the next block of a walk in preorder of the dominator tree: leaves those of blocks that do not
// dominate it.
void scoped_enter(ScopedTable *t, const Analyses *a, BlockId b);

/* -- Truth tables (truth_table.c) ------------------------------------------------------------------------- */

enum { TRUTH_INPUTS = 3 };

// A bitwise function of up to three 32-bit values, as lop3 computes it. Bit 4 * a + 2 * b + c of the table is the
// result for inputs a, b and c. It does not depend on inputs that it does not have. Inputs are registers and, behind
// them, constants, ascending, each once.
typedef struct TruthTable {
    Operand input[TRUTH_INPUTS];
    uint8_t n, table;
} TruthTable;
// The tables of the inputs themselves.
extern const uint8_t truth_input[TRUTH_INPUTS];
// Returns the function that is an operand, a register or a constant that is not `undef`. A constant and its complement
// have one input, so that a mask and its complement are one; zeroes and ones have none.
TruthTable truth_of_operand(Fn *fn, Operand o);
TruthTable truth_complement(TruthTable f);
// Adds the inputs of another function. False: they are too many.
bool truth_add_inputs(TruthTable *to, const TruthTable *from);
// Returns the table of a function over these inputs. It must not depend on inputs that are not among them.
uint8_t truth_table_over(const TruthTable *f, const TruthTable *inputs);
// Returns the table of lop3 with this table, its operands being given as tables over the same inputs.
uint8_t truth_compose(uint8_t table, const uint8_t of[static TRUTH_INPUTS]);
// Drops the inputs that a function does not depend on.
void truth_reduce(TruthTable *f);
// True if it is one of its inputs, or a constant.
bool truth_is_move(const TruthTable *f);
// True if a move, not, and, or or xor computes it.
bool truth_is_plain(Fn *fn, const TruthTable *f);
// Replaces an instruction by one that computes the function: one of the above if there is one, else lop3.
void truth_replace(Fn *fn, InstrId id, const TruthTable *of);

#endif
