// SPDX-License-Identifier: MIT
// Folding: the state of one run, and what its parts share.
#ifndef ORI_FOLD_H
#define ORI_FOLD_H

#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/fold/fold_rules.h"

enum {
    OFFSET_MAX = 1 << 23,  // of an access, which ptxas takes without an instruction
    READERS_MANY = UINT8_MAX,
    KNOWN = 32,  // that are at hand, a power of two
    DESCS = 128,
};

// A kind of instruction, as patterns tell them apart, and the rules whose root it may be.
typedef struct RootForm {
    uint16_t op, cmp;
    char letter[2];  // of its types
    uint8_t bits[2];
    uint32_t first, end;  // of the candidates
} RootForm;

// A rule that an instruction may be the root of, and the width that it then has; 0 = a predicate does not say.
typedef struct Candidate {
    uint16_t rule;
    uint8_t bits;
    bool commutes, same;
    uint32_t need[3];  // of its first operands: FROM_*
} Candidate;

// The forms that were met in a context, which are few, so that it is found once which rules are about them.
typedef struct FoldForms {
    IdSet index;
    VEC(RootForm) forms;
    VEC(Candidate) candidates;
} FoldForms;

#define FORMLESS UINT32_MAX

// What is asked of an instruction, by its descriptor.
typedef struct Role {
    bool known;
    uint16_t op;
    bool folds;     // it computes something from operands
    bool accesses;  // memory, whose address may get an offset
    uint32_t from;  // FROM_*, of what it defines
    uint32_t form;  // its place among the forms, FORMLESS
} Role;

// What is known of an operand in a block.
typedef struct Known {
    Operand o;
    BlockId block;
    ValueRange range;
} Known;

// What the letters of a pattern are.
typedef struct Match {
    uint32_t bits;
    uint32_t values, constants;  // which are bound
    Operand value[RULE_VARS];
    uint64_t constant[RULE_VARS];
    InstrId inner[RULE_KIDS];  // the instructions below the root
    uint32_t ninner;
} Match;

// The descriptor of a node of a result.
typedef struct Made {
    uint16_t node, width;
    DescId desc;  // 0 = none yet
} Made;

// The operands of a root.
typedef struct Uses {
    uint32_t from[RULE_KIDS];   // FROM_*
    Operand source[RULE_KIDS];  // what they are copies of
    bool same;                  // the first two are copies of the same
} Uses;

typedef struct Fold {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    EvalCache evals;
    const RuleSet *rules;
    bool *off;      // by rule: not to be applied; NULL: none is off
    bool no_float;  // limit-fold-fp
    bool spent;     // FoldBudget
    FoldForms *forms;
    VEC(Role) roles;   // by DescId
    uint8_t *readers;  // by RegId, of those that were there in the beginning
    RegId nregs;
    uint8_t *kept;  // by RegId below nregs: a constant in a sum with it stays a sum somewhere; NULL = not yet looked
    VEC(uint32_t) from;  // by RegId: FROM_*, of registers with one definition that has no guard
    InstrId root;
    bool root_offset;    // constants in sums with what is being matched become offsets
    const Match *match;  // whose condition is looked at
    ValueRanges ranges;
    Known known[KNOWN];  // by the operand
    BlockId block;       // where the walk is
    Made descs[DESCS];   // by node and width
    bool progress;
} Fold;

static inline bool is_plain_register(const Fold *f, Operand o)
{
    return op_is_reg(o) && !o.mods && !def_is_outside(f->a, op_index(o));
}

static inline bool is_bare_constant(Operand o) { return op_is_const(o) && !o.mods; }

static inline uint64_t bits_of_constant(const Fn *fn, Operand o) { return tab_const(fn->tables, op_index(o)).bits; }

static inline InstrId def_of_operand(const Fold *f, Operand o)
{
    return op_is_reg(o) && !o.mods ? def_of(f->a, op_index(o)) : 0;
}

static inline uint32_t from_of(const Fold *f, Operand o)
{
    if (op_is_reg(o) && !o.mods)
        return f->from.at[op_index(o)];
    return !is_bare_constant(o) ? FROM_ANY : bits_of_constant(f->fn, o) ? FROM_CONSTANT : FROM_ZERO;
}

// As copy_source(), without a look at definitions that are no moves.
static inline Operand copied_from(const Fold *f, Operand o)
{
    return from_of(f, o) == FROM_MOVE ? copy_source(f->fn, f->a, o) : o;
}

static inline bool may_apply(const Fold *f, uint32_t rule) { return !f->spent && !(f->off && f->off[rule]); }

/* fold.c */
// Notes where the registers that an instruction defines come from.
void fold_note_definition(Fold *f, InstrId id);
// Adds to the readers of a register, which are counted up to READERS_MANY.
void fold_count_reader(Fold *f, Operand o, int more);
// The same for all that an instruction reads.
void fold_count_readers(Fold *f, const Instr *i, int more);
// Counts and reports that a rule is about to change an instruction.
void fold_begin_rule(Fold *f, uint32_t rule, InstrId id);
// Folds an instruction as often as rules apply; returns progress.
bool fold_instr(Fold *f, InstrId id);

/* fold_match.c */
// True if constants in sums with the register become offsets of accesses, all of them.
bool fold_becomes_offset(Fold *f, RegId r);
// Returns what folding may do with instructions of a descriptor.
const Role *fold_role(Fold *f, DescId desc);
// Applies the first rule that matches an instruction; returns whether there is one.
bool fold_try_rules(Fold *f, InstrId id, const Uses *uses);

/* fold_coded.c */
// Replaces an instruction of constants by its result.
bool fold_constants(Fold *f, InstrId id);
// Puts the constant of a commutative instruction to the right.
bool fold_order(Fold *f, InstrId id, const Uses *uses);
// Lets a conversion read the source of the conversion that it reads.
bool fold_conversion(Fold *f, InstrId id);
// Drops inputs of a lop3 that are constant, equal or have no effect.
bool fold_table(Fold *f, InstrId id, const Uses *uses);
// Replaces a division by a power of two by a multiplication.
bool fold_reciprocal(Fold *f, InstrId id);
// Moves constants of sums into the offset of an access.
bool fold_address(Fold *f, InstrId id);
// Removes a guard that is constant, or the instruction under it.
bool fold_guard(Fold *f, InstrId id);

#endif
