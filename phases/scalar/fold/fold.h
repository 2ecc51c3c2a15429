// SPDX-License-Identifier: MIT
// Folding: the state of one run, and the functions that its files share.
#ifndef ORI_FOLD_H
#define ORI_FOLD_H

#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/fold/fold_rules.h"

enum {
    CALL_LOOPS = 32,
    OFFSET_MAX = 1 << 23,  // bound of the offsets that ptxas takes without an instruction
    KNOWN = 32,            // cached value ranges, a power of two
    DESCS = 128,
    FORMS = 1 << 15,  // bound of the forms of a context
    KEYED = 3,        // number of operands of a root whose sources are in its key
};

// The form of an instruction: the properties that patterns distinguish.
typedef struct InstrForm {
    uint16_t op, cmp;
    char letter[2];  // of the types
    uint8_t bits[2], nuse;
} InstrForm;

// A rule that may match a root, at a width.
typedef struct Candidate {
    uint16_t rule;
    uint8_t bits;
    bool in_order, exchanged;  // the root's operands may match in order, or with the first two exchanged
} Candidate;

// The form of a root and the sources of its operands, and the rules that may match it.
typedef struct Root {
    uint64_t key;
    uint32_t first, end;  // candidates
} Root;

// Properties of the instructions of a descriptor.
typedef struct Role {
    bool known;     // the properties are computed
    bool folds;     // it computes values from operands
    bool accesses;  // it accesses memory, and its address may have an offset
    bool offsets;   // its address may get an offset that it did not have
    bool skims;     // folding applies only if the first operand is a constant
    bool sums;      // it is a 64-bit sum, or a move, since rules look through moves
    uint16_t op;
    uint32_t bases;  // bit per use: it is the base of an address with an offset
    uint32_t from;   // source of the operands that it defines
    uint32_t form;   // index of its form, FORMLESS = none
} Role;

#define FORMLESS UINT32_MAX

// The forms and roots that occurred in a context, which are few. The candidates of each root are found once.
typedef struct FoldForms {
    IdSet form_index, root_index;
    VEC(InstrForm) forms;
    VEC(Root) roots;
    VEC(Candidate) candidates;
    // The roles of the descriptors of a module, and behind them those of the last function.
    const Module *module;
    DescId own;       // first descriptor of the last function
    VEC(Role) roles;  // by DescId
} FoldForms;

// A cached value range of an operand in a block.
typedef struct Known {
    Operand o;
    BlockId block;
    ValueRange range;
} Known;

// The bindings of the letters of a pattern.
typedef struct Match {
    RuleValues numbers;          // the width of the rule, constants, ranges
    uint32_t values, constants;  // bit per letter: bound
    Operand value[RULE_VARS];
    InstrId inner[RULE_KIDS];  // the instructions below the root
    uint32_t ninner;
} Match;

// A cached descriptor of a node of a result.
typedef struct Made {
    uint16_t node, width;
    DescId desc;  // 0 = none yet
} Made;

// An operand of a root or of an inner instruction.
typedef struct Use {
    Operand operand, source;  // source: copy_source()
    uint32_t from;            // FROM_* or form
    uint64_t constant;        // of FROM_ZERO and FROM_CONSTANT: its bits
} Use;

// The operands of a root.
typedef struct Uses {
    Use of[RULE_KIDS];
    bool same;  // the first two have one source
} Uses;

typedef struct Fold {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    EvalCache evals;
    bool *off;      // by rule: disabled; NULL = none is
    bool no_float;  // limit-fold-fp
    bool spent;     // FoldBudget is spent
    bool asks;      // sources_agree() may be false for some instruction
    FoldForms *forms;
    RegId nregs;         // registers at the start
    uint8_t *kept;       // by RegId below nregs: it has a use that takes no offset; NULL = not computed yet
    uint8_t *not_added;  // by RegId below nregs: it has a use that is no sum, index or address of its block; NULL = not
                         // computed yet
    VEC(uint32_t) from;  // by RegId: FROM_* or form of registers with one unguarded definition
    VEC(Operand) copied;  // by RegId: copy_source() of FROM_MOVE; K_NONE = not computed yet
    InstrId root;
    uint32_t nested;    // results that are being built
    VEC(InstrId) left;  // definitions whose only use was an operand that a rule replaced
    VEC(InstrId) held;  // roots whose result had a use that is no sum, or takes no offset
    bool calls_found;   // `calls` is computed
    uint32_t ncalls;
    BlockId calls[CALL_LOOPS];  // a block with a call in each of some loops
    const Match *match;         // match whose condition is evaluated
    ValueRanges ranges;
    Known known[KNOWN];  // by a hash of the operand
    BlockId block;       // current block of the walk
    Made descs[DESCS];   // by node and width
    bool progress;
    bool conditions;  // comparisons, selects, predicates or guards were folded
} Fold;

// Forgets which results have only uses that are sums, or take offsets (fold_match.c).
void fold_forget_uses(Fold *f);
// Drops the roles of the descriptors of other functions (fold_match.c).
void fold_start_roles(Fold *f);
// Computes the properties of the instructions of a descriptor (fold_match.c).
const Role *fold_find_role(Fold *f, DescId desc);

// Returns the properties of the instructions of a descriptor. They move if those of another descriptor are computed.
static inline const Role *fold_role(Fold *f, DescId desc)
{
    const FoldForms *forms = f->forms;
    return desc < forms->roles.n && forms->roles.at[desc].known ? &forms->roles.at[desc] : fold_find_role(f, desc);
}

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

// Returns the source of a copy (fold.c).
Operand fold_find_copied(const Fold *f, Operand o);

// Returns copy_source(), without a call if the definition is no move.
static inline Operand copied_from(const Fold *f, Operand o)
{
    return op_is_reg(o) && !o.mods && f->from.at[op_index(o)] == FROM_MOVE ? fold_find_copied(f, o) : o;
}

// Returns the source of an operand.
static inline Use find_use(const Fold *f, Operand o)
{
    Use use = {.operand = o, .source = o, .from = FROM_ANY};
    if (op_is_reg(o) && !o.mods) {
        use.from = f->from.at[op_index(o)];
        if (use.from != FROM_MOVE)
            return use;
        use.source = o = fold_find_copied(f, o);
        use.from = op_is_reg(o) ? f->from.at[op_index(o)] : FROM_ANY;
    }
    if (is_bare_constant(o)) {
        use.constant = bits_of_constant(f->fn, o);
        use.from = use.constant ? FROM_CONSTANT : FROM_ZERO;
    }
    return use;
}

static inline bool may_apply(const Fold *f, uint32_t rule) { return !f->spent && !(f->off && f->off[rule]); }

/* fold.c */
// Records FROM_* of the registers that an instruction defines.
void fold_note_definition(Fold *f, InstrId id);
// Counts an application of a rule and makes its remark, before the change of the instruction.
void fold_begin_rule(Fold *f, uint32_t rule, InstrId id);
// Folds an instruction until no rule applies (at most AGAIN times); returns progress.
bool fold_instr(Fold *f, InstrId id);

/* fold_match.c */
// True if all constants in sums with the register become offsets of accesses.
bool fold_becomes_offset(Fold *f, RegId r);
// Applies the first rule that matches an instruction of a form; true if there is one.
bool fold_try_rules(Fold *f, InstrId id, uint32_t form, const Uses *uses);

/* fold_coded.c */
// Replaces an instruction of constants by its result.
bool fold_constants(Fold *f, InstrId id);
// Replaces an instruction by its result if all bits of the result are known.
bool fold_known(Fold *f, InstrId id, const Uses *uses);
// Moves the constant of a commutative instruction to the right.
bool fold_order(Fold *f, InstrId id, const Uses *uses);
// Replaces the operand of a conversion by the source of the conversion that defines it.
bool fold_conversion(Fold *f, InstrId id);
// Drops inputs of a lop3 that are constant, equal or have no effect.
bool fold_table(Fold *f, InstrId id, const Uses *uses);
// Replaces a division by a power of two by a multiplication.
bool fold_reciprocal(Fold *f, InstrId id);
// Moves constants of sums into the offset of an access.
bool fold_address(Fold *f, InstrId id);
// Removes a constant guard, or the instruction under it.
bool fold_guard(Fold *f, InstrId id);

/* fold_phi.c */
// Replaces the phis of a block that are minima or maxima.
void fold_phis(Fold *f, BlockId b);

#endif
