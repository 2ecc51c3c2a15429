// SPDX-License-Identifier: MIT
// Functions of three values of 32 bits, bit by bit, as lop3 has them.
#ifndef ORI_LOGIC_H
#define ORI_LOGIC_H

#include "ir/core/ir.h"

enum { LOGIC_INPUTS = 3 };

// Bit 4 * a + 2 * b + c of the table is what the function is where its inputs are a, b and c. It does not depend on
// inputs that it does not have. Inputs are registers and, behind them, constants, ascending, each once.
typedef struct Logic {
    Operand input[LOGIC_INPUTS];
    uint8_t n, table;
} Logic;

// The tables of the inputs themselves.
extern const uint8_t logic_input[LOGIC_INPUTS];

/* logic.c */
// The function that an operand is, a register or a constant that is not `undef`. A constant and its complement have one
// input, so that a mask and what it leaves out are one; zeroes and ones have none.
Logic logic_of_operand(Fn *fn, Operand o);
Logic logic_complement(Logic f);
// Gives `to` the inputs of another function, too. False: they are too many.
bool logic_add_inputs(Logic *to, const Logic *from);
// The table of a function of some of these inputs. On those that are not among them it must not depend.
uint8_t logic_table_over(const Logic *f, const Logic *inputs);
// The table of lop3 with this table, operands being given as tables over the same inputs.
uint8_t logic_compose(uint8_t table, const uint8_t of[static LOGIC_INPUTS]);
// Drops the inputs that a function does not depend on.
void logic_reduce(Logic *f);
// Whether it is one of its inputs, or a constant.
bool logic_is_move(const Logic *f);
// Whether a move, not, and, or or xor computes it.
bool logic_is_plain(Fn *fn, const Logic *f);
// Makes an instruction what computes the function, one of these if there is one, else a lop3.
void logic_become(Fn *fn, InstrId id, const Logic *of);

#endif
