// SPDX-License-Identifier: MIT
// Interface between the files of the evaluator: a decoder for each kind of instruction, which reads the descriptor once
// and selects the function that runs. eval_decode() has already set the fields for modifiers and types that all
// instructions share.
#ifndef ORI_EVAL_INTERNAL_H
#define ORI_EVAL_INTERNAL_H

#include "ir/eval/eval.h"

// Decodes an instruction of one kind; false if it is not a function of its operands.
typedef bool EvalDecode(const Tables *t, const Desc *d, Eval *e);

/* integer.c */
EvalDecode decode_integer;  // arithmetic, carry chains, bit fields, dot products
/* logic.c */
EvalDecode decode_logic;  // and, or, ..., lop3, shifts, prmt
// Returns the number of the byte of two registers that prmt moves to place k; bit 3 replicates the byte's sign bit.
uint32_t eval_chosen_byte(const Eval *e, uint32_t selector, uint32_t k);
/* move.c */
EvalDecode decode_move;  // mov, packing, selp, slct
/* float.c */
EvalDecode decode_float;    // arithmetic, approximate functions, min, max, testp, copysign of floating point
EvalDecode decode_compare;  // setp and set, of integers, too
/* convert.c */
EvalDecode decode_convert;  // all forms of cvt, cvt.pack
/* video.c */
EvalDecode decode_video;

/* eval.c */
// Returns the format of a scalar type, or of the parts of a packed one; NULL if the type is not floating point.
const Format *eval_format(Type t);
// Splits the next modifier, without its dot, from a mnemonic's text; false if there is none.
bool eval_next_part(Str *rest, Str *part);
// Runs e->part on each part of packed operands. All operands have the same number of parts.
EvalRun eval_run_parts;

static inline uint64_t mask_of(uint32_t bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }
static inline int64_t sign_extend(uint64_t a, uint32_t bits)
{
    return bits >= 64 ? (int64_t)a : (int64_t)(a << (64 - bits)) >> (64 - bits);
}
// Returns a result of the first type, extended as Value requires.
static inline Value integer_result(const Eval *e, uint64_t a)
{
    return (Value){e->is_signed ? (uint64_t)sign_extend(a, e->bits) : a & e->mask, 0};
}

#endif
