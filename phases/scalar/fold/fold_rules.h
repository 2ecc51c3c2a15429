// SPDX-License-Identifier: MIT
// The rules of folding, as tables that foldgen makes from fold_rules.def when the program is built. That file describes
// the notation of rules: pattern, condition and result.
#ifndef ORI_FOLD_RULES_H
#define ORI_FOLD_RULES_H

#include "ir/eval/range.h"
#include "phases/phase.h"

enum { RULE_KIDS = 4, RULE_VARS = 11, RULE_WIDTHS = 3 };

// The source of an operand: unknown, a move, 0, another constant, or FROM_OP plus the form of another instruction.
enum { FROM_ANY, FROM_MOVE, FROM_ZERO, FROM_CONSTANT, FROM_OP };
static inline bool from_constant(uint32_t from) { return from == FROM_ZERO || from == FROM_CONSTANT; }

typedef enum { RN_OP, RN_VALUE, RN_CONST, RN_EXPR } RuleNodeKind;

// A type of a pattern: `a` (any integer), `i` (signed or unsigned), `s`, `u`, `b`, `p`. Its width is that of the rule,
// twice (`s2`) or four times (`s4`) as much.
typedef struct RuleType {
    char letter;    // 0 = no type
    uint8_t times;  // log2 of the factor of the width
} RuleType;

typedef struct RuleNode {
    uint8_t kind;   // RuleNodeKind
    uint8_t var;    // RN_VALUE, RN_CONST: index of the letter, from p and C on
    bool single;    // `^` or `+`: it has no other use
    bool sums;      // `+`: or only uses by sums whose constants become offsets of accesses
    bool commutes;  // the first two kids match in both orders
    uint16_t op;    // Opcode
    uint8_t cmp;    // Mod of the comparison, 0 = none
    uint8_t nkids;
    uint16_t kids[RULE_KIDS];
    uint8_t from;  // FROM_* of an operand that matches; FROM_CONSTANT includes 0, FROM_OP is any form of this opcode
    RuleType type[2];
    uint16_t expr;               // RN_EXPR: its index
    uint16_t mnem[RULE_WIDTHS];  // RN_OP: index of the mnemonic at 16, 32, 64 bits; 0 = it does not exist
    Isa needs[RULE_WIDTHS];      // of the mnemonics
} RuleNode;

// Coded rules, numbered after the patterns.
typedef enum {
#define RULE(...)
#define CODED(id, name, what) CODED_##id,
#include "phases/scalar/fold/fold_rules.def"
    CODED_COUNT
} Coded;

typedef struct Rule {
    const char *name, *lhs, *cond, *rhs;  // texts of the row; for a coded rule, `what` is lhs
    uint16_t from, to;                    // nodes
    uint16_t when;                        // index of the condition; 0 = always
    bool at[RULE_WIDTHS];                 // it exists at 16, 32, 64 bits
    Isa needs[RULE_WIDTHS];               // of the instructions of the result
    bool same;                            // the root's first two operands are one value
    bool offset, added, past_calls;       // the condition has this term
    bool deep;                            // the result computes what an inner instruction of the pattern computes
    bool widths;                          // the root is a predicate, but an inner instruction has a width
    uint16_t compares;                    // bit per variable: the ranges that the condition compares; 0 = one range
} Rule;

// The values that an expression refers to, of `bits` bits, zero-extended.
typedef struct RuleValues {
    uint32_t bits;
    uint64_t constant[RULE_VARS];    // by variable
    bool proving;                    // pays() is true
    bool offset, added, past_calls;  // values of these terms
    uint32_t known;                  // bit per variable: its range is computed
    ValueRange range[RULE_VARS];     // by variable
    void *user;
    ValueRange (*of)(void *user, uint32_t var);  // computes a missing range
} RuleValues;

// Returns the value of an expression or a condition. Terms that do not determine a condition are not computed.
typedef uint64_t RuleExpr(RuleValues *values);

typedef struct RuleSet {
    const Rule *rules;   // 1 .. n
    uint32_t n;          // with coded rules, which are the last
    uint32_t npatterns;  // without coded rules
    uint32_t nnodes;
    const RuleNode *nodes;
    const Mnem *mnems;                                 // without suffix and text
    RuleExpr *const *exprs;                            // 0 = none
    uint16_t first[OPCODE_COUNT], next[OPCODE_COUNT];  // rules of an opcode are by[first] .. by[next - 1]
    const uint16_t *by;
    uint32_t single_def[OPCODE_COUNT];   // a bit for each opcode that must have one use in a pattern, else 0
    uint32_t single_user[OPCODE_COUNT];  // bits of the opcodes that a pattern with this opcode reads so
} RuleSet;
extern const RuleSet fold_rules;

/* fold_rules.c */
// True if OriFold may match more patterns, because a register of the list has one use now instead of several. A sum all
// of whose uses are bases of accesses now is not noticed: OriFold would find nothing more in the samples (tried).
// Requires AN_DEF and AN_NUSES.
bool rules_match_single(const Fn *fn, const Analyses *a, Arena *scratch, const RegId *regs, uint32_t n);

static inline uint32_t coded_rule(Coded coded) { return fold_rules.npatterns + 1 + coded; }
// Returns the shape of a node's instruction: its result and its operands.
static inline const char *rule_shape(const RuleNode *n)
{
    static const char *const shapes[RULE_KIDS + 1] = {"%", "%,%", "%,%,%", "%,%,%,%", "%,%,%,%,%"};
    return shapes[n->nkids];
}
// Returns the descriptor of a node's instruction at a width that it has.
static inline DescId rule_desc(Tables *t, const RuleNode *n, uint32_t width)
{
    return desc_of_mnem(t, &fold_rules.mnems[n->mnem[width]], rule_shape(n));
}
// Returns the counts of a context by rule: the number of applications.
uint64_t *rule_uses(Ctx *ctx);
// Marks the rules that a list of globs matches; `,` or `+` separates globs. False: a glob matches no rule. If `off` is
// NULL, only checks the list.
bool rules_find(const char *names, bool *off, char why[static 500]);
static inline uint64_t rule_eval(uint16_t expr, RuleValues *values) { return fold_rules.exprs[expr](values); }
static inline uint32_t rule_bits(uint32_t width) { return 16u << width; }

#endif
