// SPDX-License-Identifier: MIT
// The rules of folding, read from fold_rules.def: what is looked for, under which condition, and what takes its place.
// How rules are written stands there.
#ifndef ORI_FOLD_RULES_H
#define ORI_FOLD_RULES_H

#include "ir/eval/range.h"
#include "phases/phase.h"

enum { RULE_KIDS = 4, RULE_VARS = 11, RULE_WIDTHS = 3 };

// Where an operand comes from: something, a move, 0, another constant, another instruction, which from_op() says.
enum { FROM_ANY, FROM_MOVE, FROM_ZERO, FROM_CONSTANT, FROM_OP };
static inline bool from_constant(uint32_t from) { return from == FROM_ZERO || from == FROM_CONSTANT; }
static inline uint32_t from_op(Opcode op, uint32_t cmp) { return FROM_OP + (uint32_t)op + cmp * OPCODE_COUNT; }

typedef enum { RN_OP, RN_VALUE, RN_CONST, RN_EXPR } RuleNodeKind;

// A type of a pattern: `a` (any integer), `i` (signed or not), `s`, `u`, `b`, `p`; of the rule's width, twice that
// (`s2`) or four times (`s4`).
typedef struct RuleType {
    char letter;    // 0 = there is none
    uint8_t times;  // log2 of that
} RuleType;

typedef struct RuleNode {
    uint8_t kind;   // RuleNodeKind
    uint8_t var;    // RN_VALUE, RN_CONST: its number, letters from p and C on
    bool single;    // `^` or `+`: nothing else reads it
    bool sums;      // `+`: or only sums whose constants become offsets of accesses
    bool commutes;  // the first two kids may stand the other way round
    uint16_t op;    // Opcode
    uint8_t cmp;    // Mod of the comparison, 0 = none
    uint8_t nkids;
    uint16_t kids[RULE_KIDS];
    RuleType type[2];
    uint16_t expr;           // RN_EXPR: where its code begins
    Mnem mnem[RULE_WIDTHS];  // RN_OP: the mnemonic at 16, 32, 64 bits, if there is one
    Isa needs[RULE_WIDTHS];  // of these
    const char *shape;
} RuleNode;

// What is in code, behind the rules.
typedef enum {
#define RULE(...)
#define CODED(id, name, what) CODED_##id,
#include "phases/scalar/fold/fold_rules.def"
    CODED_COUNT
} Coded;

typedef struct Rule {
    const char *name, *lhs, *cond, *rhs;  // as they are written; of what is in code the name, and what it does as lhs
    uint16_t from, to;                    // nodes
    uint16_t when;                        // code of the condition; 0 = always
    bool at[RULE_WIDTHS];                 // whether it is there at 16, 32, 64 bits
    Isa needs[RULE_WIDTHS];               // what a module needs for the instructions of the result
    uint32_t need[RULE_KIDS];             // of the root's operands: FROM_*; FROM_CONSTANT also is 0
    bool same;                            // its first two are the same
    bool offset;                          // the condition depends on offsets
    bool deep;                            // the result does what an inner instruction of the pattern does
    bool widths;                          // there is another type in a pattern of predicates
} Rule;

struct RuleSet {
    Rule *rules;         // 1 .. n
    uint32_t n;          // with those in code, which are the last
    uint32_t npatterns;  // without them
    VEC(RuleNode) nodes;
    VEC(uint64_t) code;
    uint16_t first[OPCODE_COUNT], next[OPCODE_COUNT];  // rules of an opcode are by[first] .. by[next - 1]
    uint16_t *by;
};
typedef struct RuleSet RuleSet;

// What an expression is about. Values are those of `bits` bits, zero-extended.
typedef struct RuleValues {
    uint32_t bits;
    uint64_t constant[RULE_VARS];  // by variable
    bool proving;                  // pays() does not count
    bool offset;                   // constants that are added to the root's result become offsets of accesses
    uint32_t known;                // values whose ranges are there
    ValueRange range[RULE_VARS];   // by variable
    void *user;
    ValueRange (*of)(void *user, uint32_t var);  // gets those that are not
} RuleValues;

// Reads them into memory of this arena. The table must be right: a mistake is an internal error.
RuleSet *rules_read(Arena *arena);
// Those of a context, which are read once.
const RuleSet *rules_of(Ctx *ctx);
static inline uint32_t coded_rule(const RuleSet *set, Coded coded) { return set->npatterns + 1 + coded; }
// Marks the rules that a list of names names, patterns as of glob_match() between `,` or `+`. False: one is of no rule.
// `off` may be NULL, for whoever only asks that.
bool rules_find(const char *names, bool *off, char why[static 500]);
// The value of an expression or a condition.
uint64_t rule_eval(const RuleSet *set, uint16_t code, RuleValues *values);
static inline uint32_t rule_bits(uint32_t width) { return 16u << width; }

#endif
