// SPDX-License-Identifier: MIT
// Between the files of the evaluator: a decoder for each kind of instruction, which looks at the descriptor once and
// chooses the function that runs. eval_decode() has filled in what the modifiers and types of any instruction say.
#ifndef ORI_EVAL_INTERNAL_H
#define ORI_EVAL_INTERNAL_H

#include "ir/eval/eval.h"

// False: this form is no function of its operands.
typedef bool EvalDecode(const Tables *t, const Desc *d, Eval *e);

/* integer.c */
EvalDecode decode_integer;  // arithmetic, carry chains, bit fields, dot products
/* logic.c */
EvalDecode decode_logic;  // and, or, ..., lop3, shifts, prmt
// Returns the number of the byte of two registers that prmt moves to place k; bit 3: its sign eight times over.
uint32_t eval_chosen_byte(const Eval *e, uint32_t selector, uint32_t k);
/* move.c */
EvalDecode decode_move;  // mov, packing, selp, slct
/* float.c */
EvalDecode decode_float;    // arithmetic, approximate functions, min, max, testp, copysign of floating point
EvalDecode decode_compare;  // setp, set, of integers too
/* convert.c */
EvalDecode decode_convert;  // cvt in all forms, cvt.pack too
/* video.c */
EvalDecode decode_video;

/* eval.c */
// The format of a scalar type, or of the parts of a packed one; NULL = it is not floating point.
const Format *eval_format(Type t);
// The next of the modifiers in a mnemonic's text, without its dot. False: there is none.
bool eval_next_part(Str *rest, Str *part);
// Runs e->part on each part of packed operands, all of them packed alike.
EvalRun eval_run_parts;

static inline uint64_t mask_of(uint32_t bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }
static inline int64_t sign_extend(uint64_t a, uint32_t bits)
{
    return bits >= 64 ? (int64_t)a : (int64_t)(a << (64 - bits)) >> (64 - bits);
}
// A result of the first type, as Value wants it.
static inline Value integer_result(const Eval *e, uint64_t a)
{
    return (Value){e->is_signed ? (uint64_t)sign_extend(a, e->bits) : a & e->mask, 0};
}

#endif
