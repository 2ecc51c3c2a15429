// SPDX-License-Identifier: MIT
// Functions that PTX computes approximately. They return the correctly rounded value (to nearest, ties to even) in the
// format of the operand, in integer arithmetic. Special values are those of the PTX ISA's tables. No function flushes
// subnormals: the caller does that for `.ftz`.
#ifndef ORI_APPROX_H
#define ORI_APPROX_H

#include "ir/eval/softfloat.h"

uint64_t approx_rsqrt(const Format *f, uint64_t a);  // 1 / sqrt(a): f32, f64
uint64_t approx_sin(const Format *f, uint64_t a);    // radians, any argument: f32
uint64_t approx_cos(const Format *f, uint64_t a);
uint64_t approx_lg2(const Format *f, uint64_t a);   // f32
uint64_t approx_ex2(const Format *f, uint64_t a);   // f16, bf16, f32
uint64_t approx_tanh(const Format *f, uint64_t a);  // f16, bf16, f32

#endif
