// SPDX-License-Identifier: MIT
// Computes the results of one instruction. No other code defines the meaning of an opcode: folding, the interpreter and
// the tests call this evaluator. Each function names its section of the PTX ISA; README.md lists the cases that the ISA
// leaves open, and the results here.
//
//     Eval e;
//     if (eval_decode(fn->tables, desc, &e))  // once for a descriptor
//         eval_run(&e, in, out);              // for each set of operands
//
// Inputs are the instruction's uses in order, including hidden ones (carry), without old values and guard. Outputs are
// its definitions, including the carry. An instruction decodes only if it is a function of its operands' values:
// memory, addresses of symbols, other lanes and control do not decode.
#ifndef ORI_EVAL_H
#define ORI_EVAL_H

#include "ir/core/ir.h"
#include "ir/eval/softfloat.h"

// The bits of an operand. The evaluator ignores input bits that the instruction does not read. An output is
// sign-extended to 64 bits if the type is signed, else zero-extended. The caller truncates it to the width of the
// register.
typedef struct Value {
    uint64_t lo, hi;  // hi: bits 64 to 127
} Value;

enum { EVAL_IN_MAX = 9, EVAL_OUT_MAX = 9 };

typedef struct Eval Eval;
typedef void EvalRun(const Eval *e, const Value *in, Value *out);

// A decoded descriptor. The fields are for this folder and ir/machine/matrix.c. Some fields have a different meaning
// for each kind of instruction.
struct Eval {
    EvalRun *run;
    EvalRun *part;        // operation on each part of a packed type
    const Format *f, *g;  // of the first type (of a part), of the second
    uint64_t mask;        // ones in the bits of the first type (or of a part)
    Opcode op;
    Rounding round;
    uint8_t nin, nout;
    uint8_t bits, from_bits;  // of the first type (or a part), of the second
    uint8_t parts;
    bool is_signed, from_signed;
    bool ftz, sat, satfinite, relu, nan, xorsign, abs;
    bool nofold;                      // approximate, or implementation-defined
    bool open_nan;                    // the bits of a NaN result depend on the operand or the machine
    uint8_t rnd, cmp, combine, mode;  // Mod
    uint8_t part_bits;                // of a move that packs or unpacks
    uint8_t select[4];                // video: parts of operands; matrix (ir/machine): element types
    uint32_t extra;                   // use depends on the kind
};

// Decodes a descriptor; false if the instruction is not a function of its operands.
bool eval_decode(const Tables *t, const Desc *d, Eval *e);
// Cache of decoded descriptors, for callers that decode many instructions. `rows` has a pointer for each of the first
// `n` descriptors, NULL for those that nobody asked for.
typedef struct EvalRow {
    bool can;
    Eval eval;
} EvalRow;
typedef struct EvalCache {
    const Tables *tables;
    Arena *arena;
    DescId n;
    EvalRow **rows;
} EvalCache;
// Creates the cache in memory of this arena.
void eval_cache_init(EvalCache *c, const Tables *tables, Arena *arena);
// Returns the decoded descriptor; NULL if it is not a function of operands, or never folded.
const Eval *eval_cached(EvalCache *c, DescId desc);
static inline void eval_run(const Eval *e, const Value *in, Value *out) { e->run(e, in, out); }

// Returns the result of lop3 on 64 bits: for each bit position, bit 4 * a + 2 * b + c of the table.
uint64_t eval_look_up(uint64_t a, uint64_t b, uint64_t c, uint64_t table);

// Narrows an integer instruction to `bits` bits (8 to 64), so that a rule can be tried on all operands: operands of the
// first type get this width, and operands twice as wide stay twice as wide. False if the instruction depends on its
// width (bytes, floating point); it then stays unchanged.
bool eval_narrow(Eval *e, uint32_t bits);

// True if the result is the same on all machines and may replace the instruction: no division by zero, no approximate
// forms, no NaN of f64, no 64-bit field from a bit above 255 (rules 11 and 12 of phases/soundness.md).
bool eval_foldable(const Eval *e, const Value *in, const Value *out);

#endif
