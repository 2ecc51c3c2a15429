// SPDX-License-Identifier: MIT
// Congruence classes: registers and copies of a function in SSA form that can share one register outside of it.
#ifndef ORI_CONGRUENCE_H
#define ORI_CONGRUENCE_H

#include "phases/phase.h"

// A variable: a register that a phi or a tied use connects with others, or a copy that leaving SSA form may have to
// insert. Registers come first, in the order of their ids. 0 = none.
typedef uint32_t VarId;

// Positions in a block: instructions are four apart, so that copies fit between them.
static inline uint32_t position_of(uint32_t place) { return 4 * place; }
static inline uint32_t position_before(uint32_t place) { return 4 * place - 1; }
static inline uint32_t position_after(uint32_t place) { return 4 * place + 1; }

typedef struct Var {
    BlockId at;          // the block of the definition, 0 = unreachable or none
    uint32_t position;   // of the definition in the block
    uint32_t value;      // variables of equal value hold the same bits wherever both are live
    VarId parent;        // union-find
    VarId first;         // of a representative: the first member of its class in dominance order
    VarId next;          // the next member in dominance order, 0 = none
    VarId prev;          // the previous member; of the first member: the last one
    VarId above;         // the nearest member whose block dominates this definition, 0 = none
    VarId ancestor;      // the nearest member of equal value that is live at this definition, 0 = none
    uint32_t changed;    // the last walk that changed the links of it or of an ancestor
    uint32_t reg : 31;   // the register; of a copy 0, or the register of its class
    uint32_t apart : 1;  // was in a set whose members interfere
} Var;

// The links of a member before a check.
typedef struct Links {
    VarId above, ancestor;
} Links;

typedef struct Classes {
    const Fn *fn;
    const Analyses *a;
    Arena *arena;
    RegId nregs;  // registers of the function when the classes were made
    LiveCheck live;
    uint32_t *phi_end;  // by BlockId: the place of its last phi, 0 = none
    uint32_t *value;    // by RegId: the value of the register
    VarId *var;         // by RegId, 0 = the register is no variable
    VEC(Var) vars;      // by VarId
    VEC(VarId) members;
    VEC(Links) saved;  // of `members`
    uint32_t walks;    // so far
    uint64_t work;     // members that classes_merge() may still visit
} Classes;

static inline uint32_t value_of_register(RegId r) { return r; }
static inline uint32_t value_of_constant(ConstId id) { return (INDEX_MAX + 1) | id; }

// Makes no classes yet. `a` has AN_DOM, AN_LOOPS and AN_DEFUSE. If `a` is NULL, sets are joined without a test, and
// neither classes_split() nor classes_merge() may be called. Memory comes from the arena.
void classes_init(Classes *c, Fn *fn, const Analyses *a, Arena *arena);
// Marks a register that will be a variable.
static inline void classes_mark(Classes *c, RegId r) { c->var[r] = 1; }
// Puts each marked register into a separate class.
void classes_make(Classes *c);
// Adds a variable that is defined and used at this position, in a new class.
VarId classes_add_copy(Classes *c, BlockId at, uint32_t position, uint32_t value);
// Returns the representative of a class: the register with the least number if the class has a register.
VarId class_of(Classes *c, VarId v);
// Joins the sets of two variables, without a test.
void classes_join(Classes *c, VarId a, VarId b);
// Turns the joined sets into classes. If members of a set interfere, each member gets a separate class. True if this
// happened to any set.
bool classes_split(Classes *c);
// Makes one class of variables that cannot interfere. Each must be the only member of its class.
void classes_join_copies(Classes *c, const VarId *copies, uint32_t n);
// Merges the classes of two variables if no members interfere; true if both variables are then in one class.
bool classes_merge(Classes *c, VarId a, VarId b);

#endif
