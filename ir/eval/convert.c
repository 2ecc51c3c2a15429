// SPDX-License-Identifier: MIT
// Conversion: PTX ISA 9.7.9 (cvt, cvt.pack).
//
// The operand is read from the low bits of its register as the second type, converted, and extended as the first type.
// From float to integer, a number that is too large gives the nearest integer in range, with or without `.sat`. A NaN
// gives 0; if one of the types is f64, s64 or u64, it gives the integer with only the highest bit set. `.ftz` applies
// to f32 only, on either side.
//
// The ISA does not specify the following: `.sat` and `.relu` turn -0 into +0; `.ftz` flushes the result after rounding
// it as if there were subnormals. A conversion without the rounding modifier that the ISA requires (cvt.f16.bf16,
// cvt.f32.s32) does not decode: ptxas accepts some of them, but their rounding is not documented.
#include "ir/eval/eval_internal.h"

/* -- Integers ------------------------------------------------------------------------------------------- */

// Returns the integer of `bits` bits nearest to a 64-bit integer.
static uint64_t clamp(uint64_t a, bool from_signed, uint32_t bits, bool is_signed)
{
    uint64_t max = mask_of(bits) >> is_signed, min = is_signed ? ~max : 0;
    if (from_signed && (int64_t)a < 0)
        return !is_signed || (int64_t)a < (int64_t)min ? min : a;
    return MIN(a, max);
}

static uint64_t integer_operand(const Eval *e, Value v)
{
    return e->from_signed ? (uint64_t)sign_extend(v.lo, e->from_bits) : v.lo & mask_of(e->from_bits);
}

static void run_integer(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = integer_operand(e, in[0]);
    out[0] = integer_result(e, e->sat ? clamp(a, e->from_signed, e->bits, e->is_signed) : a);
}

/* -- Floating point ------------------------------------------------------------------------------------- */

static uint64_t float_operand(const Eval *e, uint64_t a)
{
    a &= mask_of(e->from_bits);
    return e->ftz && e->g == &format_f32 ? float_flush(e->g, a) : a;
}

// Applies .ftz, .relu and .sat to a result. The bits of positive numbers are in the order of their values.
static uint64_t finish(const Eval *e, uint64_t a)
{
    bool nan = float_class(e->f, a) == FLOAT_NAN, negative = !nan && a & float_sign(e->f);
    if (e->ftz && e->f == &format_f32)
        a = float_flush(e->f, a);
    if ((e->relu && negative) || (e->sat && (negative || nan)))
        return 0;
    return e->sat ? MIN(a, float_one(e->f)) : a;
}

// Returns the result for a NaN operand. The ISA does not specify it; ptxas 13.0 folds as follows for all targets from
// sm_75 to sm_100 (tests/ptxas/same/nan.ptx):
//
//     f32 to f32, f64 to f64      a move; `.ftz` makes the NaN quiet
//     f64 to f32, f32 to f64      sign and the upper bits of the payload, quiet
//     f32 to f64 with .ftz        7fffffffe0000000: the canonical NaN of f32, widened
//     f16 and bf16 to f64         likewise
//     f32 to tf32 with .rna       the upper 19 bits, which may be infinity
//     others to f16, bf16, f32    canonical
//
// ptxas does not fold `.rz`, `.rm` and `.rp` from f64 to f32, which are like `.rn` here. It does not fold conversions
// to an integral value, f16 to f16, `.relu`, `.satfinite` and `.rz` to f16 either; their NaN is the canonical one here.
static uint64_t convert_nan(const Eval *e, uint64_t a)
{
    const Format *to = e->f, *from = e->g;
    bool wide = to == &format_f64, from_wide = from == &format_f64, single = from == &format_f32;
    if (to == from && (wide || single))
        return e->ftz && single ? float_quiet(to, a) : a;
    if (to == &format_f32 && from_wide)
        return float_quiet(to, (a >> 63) << 31 | float_inf(to, false) | (a >> 29 & mask_of(23)));
    if (wide && (!single || e->ftz))
        return UINT64_C(0x7fffffffe0000000);
    if (wide)
        return float_quiet(to, (a >> 31) << 63 | float_inf(to, false) | (a & mask_of(23)) << 29);
    return to == &format_tf32 && e->round == ROUND_NEAREST_AWAY ? a & ~mask_of(13) : to->nan;
}

static uint64_t convert(const Eval *e, uint64_t a)
{
    a = float_operand(e, a);
    bool nan = float_class(e->g, a) == FLOAT_NAN;
    return finish(e, nan ? convert_nan(e, a) : float_convert(e->g, e->f, a, e->round, e->satfinite));
}

static void run_float(const Eval *e, const Value *in, Value *out) { out[0] = (Value){convert(e, in[0].lo), 0}; }

static void run_integral(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){finish(e, float_integral(e->f, float_operand(e, in[0].lo), e->round)), 0};
}

static void run_to_integer(const Eval *e, const Value *in, Value *out)
{
    bool nan = false, high = e->g == &format_f64 || e->bits == 64;
    uint64_t a = float_to_integer(e->g, float_operand(e, in[0].lo), e->round, e->bits, e->is_signed, &nan);
    if (nan)
        a = high ? (uint64_t)1 << (e->bits - 1) : 0;
    out[0] = integer_result(e, a);
}

static void run_from_integer(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){finish(e, float_from_integer(e->f, in[0].lo, e->from_bits, e->from_signed, e->round)), 0};
}

// Converts two halves of one operand.
static void run_halves(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){convert(e, in[0].lo) | convert(e, in[0].lo >> e->from_bits) << e->bits, 0};
}

// Converts two operands, the first into the upper half.
static void run_pair(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){convert(e, in[1].lo) | convert(e, in[0].lo) << e->bits, 0};
}

/* -- cvt.pack ------------------------------------------------------------------------------------------- */

// Clamps a and b into the low bits, a above b, and puts c above both.
static void run_pack(const Eval *e, const Value *in, Value *out)
{
    uint64_t result = e->nin > 2 ? in[2].lo << 2 * e->bits : 0;
    for (uint32_t k = 0; k < 2; k++) {
        uint64_t a = clamp((uint64_t)sign_extend(in[k].lo, 32), true, e->bits, e->is_signed);
        result |= (a & e->mask) << (k ? 0 : e->bits);
    }
    out[0] = (Value){result & UINT32_MAX, 0};
}

// Reads u2 to u16 or s2 to s16. Some of these are types only here.
static bool read_packed_type(Str text, Eval *e)
{
    static const char *const widths[] = {"2", "4", "8", "16"};
    if (!text.len || (text.text[0] != 'u' && text.text[0] != 's'))
        return false;
    Str width = {.text = text.text + 1, .len = text.len - 1};
    for (uint32_t k = 0; k < ARRAY_LEN(widths); k++)
        if (str_is(width, widths[k]))
            e->bits = (uint8_t)(2u << k);
    e->mask = mask_of(e->bits);
    e->is_signed = text.text[0] == 's';
    return e->bits;
}

static bool decode_pack(const Tables *t, const Desc *d, Eval *e)
{
    static const char *const sources[] = {NULL, "s32", "b32"};
    Str rest = tab_str(t, tab_mnem(t, d->mnem)->suffix), part, shape = tab_str(t, d->shape);
    uint32_t ntypes = 0;
    while (eval_next_part(&rest, &part)) {
        if (str_is(part, "sat"))
            e->sat = true;
        else if (ntypes == ARRAY_LEN(sources) || (ntypes ? !str_is(part, sources[ntypes]) : !read_packed_type(part, e)))
            return false;
        else
            ntypes++;
    }
    e->run = run_pack;
    // With 16-bit parts there is no operand c.
    uint32_t nin = e->bits == 16 ? 2 : 3;
    return e->sat && ntypes == nin && e->nin == nin && str_is(shape, nin == 2 ? "%,%,%" : "%,%,%,%");
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

static bool is_integer(Type t) { return type_info[t].class == TC_U || type_info[t].class == TC_S; }
static bool is_scalar(Type t) { return t == TY_F16 || t == TY_BF16 || t == TY_F32 || t == TY_F64; }
static bool is_halves(Type t) { return t == TY_F16X2 || t == TY_BF16X2; }
static bool is_bytes(Type t) { return t == TY_E4M3X2 || t == TY_E5M2X2; }

static bool is_nearest_or_zero(const Eval *e) { return e->rnd == MOD_RN || e->rnd == MOD_RZ; }
static bool is_directed(const Eval *e) { return is_nearest_or_zero(e) || e->rnd == MOD_RM || e->rnd == MOD_RP; }
static bool is_to_integral(const Eval *e)
{
    return e->rnd == MOD_RNI || e->rnd == MOD_RZI || e->rnd == MOD_RMI || e->rnd == MOD_RPI;
}

// True if all numbers of the second format are numbers of the first.
static bool is_wider(const Eval *e) { return e->f->exp_bits >= e->g->exp_bits && e->f->frac_bits >= e->g->frac_bits; }

static EvalRun *run_of(const Eval *e, Type to, Type from)
{
    if (is_integer(to) && is_integer(from))
        return e->rnd ? NULL : run_integer;
    if (is_integer(to))
        return is_scalar(from) && is_to_integral(e) ? run_to_integer : NULL;
    if (is_integer(from))
        return is_scalar(to) && is_directed(e) ? run_from_integer : NULL;
    if (to == TY_TF32)
        return from == TY_F32 && (is_nearest_or_zero(e) || e->rnd == MOD_RNA) ? run_float : NULL;
    if (is_bytes(to))
        return is_halves(from) && e->rnd == MOD_RN && e->satfinite ? run_halves : NULL;
    if (to == TY_F16X2)
        return is_bytes(from) && e->rnd == MOD_RN ? run_halves : NULL;
    if (!is_scalar(to) || !is_scalar(from))
        return NULL;
    if (is_to_integral(e))
        return to == from ? run_integral : NULL;
    return (e->rnd ? is_directed(e) : is_wider(e)) ? run_float : NULL;
}

// True if the ISA has these modifiers for these types.
static bool modifiers_fit(const Eval *e, Type to, Type from)
{
    bool limits = from == TY_F32 && (to == TY_F16 || to == TY_BF16 || to == TY_TF32);
    if (e->ftz && to != TY_F32 && from != TY_F32)
        return false;
    if (e->sat && !is_integer(to) && to != TY_F16 && to != TY_F32 && to != TY_F64)
        return false;
    if (e->satfinite && !limits && !is_bytes(to))
        return false;
    return !e->relu || limits || is_bytes(to) || to == TY_F16X2;
}

// True if ptxas itself folds each NaN to the canonical one of f32 or f16.
static bool has_certain_nan(const Eval *e, Type to, Type from)
{
    if (to == TY_F32)
        return !e->rnd && (from == TY_F16 || from == TY_BF16);
    return to == TY_F16 && (from == TY_F32 || from == TY_F64) && e->rnd == MOD_RN && !e->relu && !e->satfinite;
}

// Decodes the form with two operands; its modifiers are .rn, .rz, .relu and .satfinite only.
static bool decode_pair(Eval *e, Type to, Type from)
{
    e->run = run_pair;
    e->open_nan = true;
    if (from != TY_F32 || e->sat)
        return false;
    return is_bytes(to) ? e->rnd == MOD_RN && e->satfinite : is_halves(to) && is_nearest_or_zero(e);
}

bool decode_convert(const Tables *t, const Desc *d, Eval *e)
{
    const Mnem *m = tab_mnem(t, d->mnem);
    Type to = (Type)m->type[0], from = (Type)m->type[1];
    if (d->op == OP_CVT_PACK)
        return decode_pack(t, d, e);
    if (d->op == OP_CVT_PACK2)
        return decode_pair(e, to, from);
    e->run = run_of(e, to, from);
    e->open_nan = !has_certain_nan(e, to, from);
    return e->run && modifiers_fit(e, to, from);
}
