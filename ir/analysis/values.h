// SPDX-License-Identifier: MIT
// Value numbering of a function in ssa form: registers with equal numbers have equal values.
//
// The number of a register is the word of the operand that represents its value: a constant, or the first register in
// reverse postorder that is known to have the value. An expression is the canonical descriptor of an instruction with
// the numbers of its uses; a guarded one also has its guard and the old values of its definitions. So numbers are equal
// under all modifiers that do not change the result, for both orders of commutative operands, and through moves.
//
// The result of a guarded instruction with an undefined old value may be that of an equal unguarded instruction, or of
// another one with this guard, but has its own number: all readers of the register must see one value (rule 10 of
// phases/soundness.md).
//
// Equal numbers say nothing about availability: the representative need not dominate another register of its value.
#ifndef ORI_VALUES_H
#define ORI_VALUES_H

#include "ir/analysis/analysis.h"
#include "ir/analysis/value_table.h"

typedef uint32_t ValueNumber;  // word of an operand; 0 = not numbered yet

// True if the first two uses of a commutative instruction, with these numbers, are exchanged in its key (SmSwap of
// sm/sm.h).
typedef bool ValueOrder(const Fn *fn, const Instr *i, uint32_t first, uint32_t second);

typedef struct Values {
    const Fn *fn;
    const Analyses *a;
    ValueOrder *swaps;  // NULL: numbers ascend
    Arena keys;         // of the table, and of numbers of the last pass
    ValueTable table;   // expressions; the value of an entry is the first instruction that computes it
    ValueNumber *of;    // by RegId
    bool pessimistic;   // phis of loops are never equal; set by the caller
    bool optimistic;    // phis ignore inputs without a number
    bool agree;         // two phis of a block differ only in inputs without a number
    InstrId like;       // of the last instruction, if it is guarded and its old values are undefined: an earlier
                        // instruction whose results may replace its results; 0 = none
    uint32_t passes;    // of values_solve()
    void (*found)(void *user, InstrId id);  // see values_solve(); NULL = none
    bool finds_copies;                      // `found` is called for unguarded moves, too
} Values;

/* values.c */
// Starts numbering. `a` has AN_RPO and AN_DOM. swaps: NULL = numbers ascend. The function must not change while the
// numbers are used.
void values_init(Values *v, Arena *arena, const Fn *fn, const Analyses *a, ValueOrder *swaps);
// Frees the table. Numbers stay, but no more instructions can be numbered.
void values_free_table(Values *v);
// True if the first two uses of a commutative instruction, with these numbers, are exchanged in its key.
static inline bool values_swap(const Values *v, const Instr *i, ValueNumber first, ValueNumber second)
{
    return v->swaps ? v->swaps(v->fn, i, first, second) : first > second;
}
// Returns the number of an operand without its modifiers. A register outside of ssa form, `undef` and special registers
// that change have no number (0).
ValueNumber value_number(const Values *v, Operand o);
// True if equal instructions of this kind with equal operands compute equal values, in any block.
bool value_is_expression(const Fn *fn, const Instr *i);
// Numbers the definitions of an instruction: by its expression if value_is_expression(), else each by itself. Its
// operands must have numbers, except inputs of phis from back edges. True if the results have the numbers of others.
bool values_number(Values *v, InstrId id);
// Returns the first instruction with the same expression as a pure instruction that is neither guarded nor pinned,
// whose definitions need not be in ssa form; 0 = none.
InstrId values_find(Values *v, InstrId id);
// Does the same as values_number() for any instruction whose results depend only on its operands and a context, such as
// a position. `context` is not 0. With an undefined old value, each definition is numbered by itself.
bool values_number_in(Values *v, InstrId id, uint32_t context);
// Numbers each definition of an instruction by itself.
void values_number_apart(Values *v, InstrId id);
// Numbers all reachable instructions in an order in which each one follows all definitions that reach it without a back
// edge. Phis of loops are numbered optimistically: they start as equal if all inputs from outside the loop are equal,
// and passes repeat until no number changes (Simpson, "Value-driven redundancy elimination", 1996). `number` numbers
// one instruction, as values_number() does. If Values.found is set, `number` is not called for unguarded pure
// instructions with one result in ssa form, and for instructions without results that are not convergent.
// values_solve() numbers the former itself, and calls `found` for those that have the number of another one; this
// requires AN_DEF.
typedef void ValuesVisit(void *user, InstrId id);
void values_solve(Values *v, ValuesVisit *number, void *user);

#endif
