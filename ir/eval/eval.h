// SPDX-License-Identifier: MIT
// What one instruction computes: the only place that knows it. Folding, the interpreter and the tests ask here. Each
// function stands beside its section of the PTX ISA; what the ISA leaves open, and what is chosen here, stands in
// README.md.
//
//     Eval e;
//     if (eval_decode(fn->tables, desc, &e))  // once for a descriptor
//         eval_run(&e, in, out);              // for each set of operands
//
// Inputs are the instruction's uses in their order, hidden ones (carry) included, old values and guard not; outputs are
// its definitions, the carry included. What is not a function of the operands' values alone does not decode: memory,
// addresses of symbols, other lanes, control.
#ifndef ORI_EVAL_H
#define ORI_EVAL_H

#include "ir/core/ir.h"
#include "ir/eval/softfloat.h"

// The bits of an operand. Of an input those above what the instruction reads do not count. An output is sign-extended
// to 64 bits if the type is signed, otherwise zero-extended: who stores it cuts it to the width of the register.
typedef struct Value {
    uint64_t lo, hi;  // hi: bits 64 to 127
} Value;

enum { EVAL_IN_MAX = 9, EVAL_OUT_MAX = 9 };

typedef struct Eval Eval;
typedef void EvalRun(const Eval *e, const Value *in, Value *out);

// A descriptor, decoded. The fields are for the files of this folder; each kind of instruction uses its own.
struct Eval {
    EvalRun *run;
    EvalRun *part;        // what is done to each part of a packed type
    const Format *f, *g;  // of the first type (of a part), of the second
    uint64_t mask;        // ones where the first type (or a part) has bits
    Opcode op;
    Rounding round;
    uint8_t nin, nout;
    uint8_t bits, from_bits;  // of the first type (or a part), of the second
    uint8_t parts;
    bool is_signed, from_signed;
    bool ftz, sat, satfinite, relu, nan, xorsign, abs;
    bool nofold;                      // approximate, or the machine's own
    bool open_nan;                    // the bits of a NaN result depend on the operand or the machine
    uint8_t rnd, cmp, combine, mode;  // Mod
    uint8_t part_bits;                // of a move that packs or unpacks
    uint8_t select[4];                // parts of operands of video instructions
    uint32_t extra;                   // the kind's own
};

// False: it is no function of operands.
bool eval_decode(const Tables *t, const Desc *d, Eval *e);
// Descriptors that were decoded, for those who ask for many instructions. `rows` are zero in the beginning, one for
// each of the first `n` descriptors.
typedef struct EvalRow {
    bool asked, can;
    Eval eval;
} EvalRow;
typedef struct EvalCache {
    const Tables *tables;
    Arena *arena;
    DescId n;
    EvalRow *rows;
} EvalCache;
// In memory of this arena.
void eval_cache_init(EvalCache *c, const Tables *tables, Arena *arena);
// NULL: it is no function of operands, or never folded.
const Eval *eval_cached(EvalCache *c, DescId desc);
static inline void eval_run(const Eval *e, const Value *in, Value *out) { e->run(e, in, out); }

// What lop3 makes of 64 bits: of each, bit 4 * a + 2 * b + c of the table.
uint64_t eval_look_up(uint64_t a, uint64_t b, uint64_t c, uint64_t table);

// Makes an integer instruction one of `bits` bits (8 to 64), so that a rule can be tried on all operands: what is 32
// bits wide, or 64, has that width then, and what is twice as wide is so still. False: the instruction has a shape of
// its own (bytes, floating point), and is left as it is.
bool eval_narrow(Eval *e, uint32_t bits);

// Whether the result is the same on all machines and may be put in the place of the instruction: not division by zero,
// not approximate forms, not a NaN of f64 (rules 11 and 12 of phases/soundness.md).
bool eval_foldable(const Eval *e, const Value *in, const Value *out);

#endif
