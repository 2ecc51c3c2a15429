// SPDX-License-Identifier: MIT
// Video instructions: PTX ISA 9.7.18, scalar ones (vadd vsub vabsdiff vmin vmax vshl vshr vmad vset) and those on two
// halves or four bytes (vadd2 ... vset4).
//
// The mnemonic's text contains types and modifiers, the shape contains parts of operands and minus signs. Decoding
// reads both into these fields:
//     is_signed, from_signed   of d (unsigned for vset) and a
//     select[3]                flags: signs of b and c, signs of vmad's terms, .po
//     scalar: select[0] to [2] part of d, a, b; extra: right shift of vmad
//     packed: parts, from_bits; select[0] mask of parts of d; extra: four bits for each part of a and b, lowest first:
//             its index among the 32 / from_bits * 2 parts of b:a, those of b in the upper half
//     combine, cmp, mode       secondary operation, comparison, .clamp or .wrap
//
// The ISA does not specify these cases. They are computed as follows, but not folded:
//     - A primary result that does not fit the type of d, without .sat: .min and .max use its low 32 bits as d's type,
//       the sum of a packed .add uses it unchanged.
//     - vshl.sat saturates the exact result, however long.
//     - vmad saturates the exact result, even if it needs more than 64 bits (unsigned a and b, and a minus). The
//       operands determine the signedness of the range, even if the type of d differs.
//     - vmad of unsigned a and b subtracts an unsigned c (the ISA's table) and not a signed one (its pseudocode); .sat
//       and the shifts show the difference.
// The code that ptxas 13.0 makes for sm_90 differs from the ISA in these cases, at each of its levels (seen on an
// H200). They are computed as in the ISA, but not folded either:
//     - .sat to a part of d takes the low 32 bits of the primary result as unsigned, so -1 becomes the greatest value
//       of the part, and d.h1 becomes 0.
//     - .sat with .min or .max gives other results for some unsigned operands.
//     - vmad of unsigned a and b shifts the low 32 bits of the sum as a signed number.
// Forms outside the ISA's syntax do not decode: an unused c, a minus except in vmad.
#include "ir/eval/eval_internal.h"

__extension__ typedef __int128 Wide;

enum { WHOLE = 0, BYTE = 0x10, HALF = 0x20 };  // a part: one of these, and its index in the lowest bits

enum { B_SIGNED = 1, C_SIGNED = 2, FINAL_SIGNED = 4, MINUS_PRODUCT = 8, MINUS_C = 16, PLUS_ONE = 32 };

/* -- Parts ---------------------------------------------------------------------------------------------- */

static uint32_t part_bits(uint32_t select) { return select & BYTE ? 8 : select & HALF ? 16 : 32; }
static uint32_t part_at(uint32_t select) { return (select & 3) * part_bits(select); }

static int64_t extend(uint64_t a, uint32_t bits, bool is_signed)
{
    return is_signed ? sign_extend(a, bits) : (int64_t)(a & mask_of(bits));
}

static int64_t part_of(uint64_t a, uint32_t select, bool is_signed)
{
    return extend((uint32_t)a >> part_at(select), part_bits(select), is_signed);
}

// Returns `a` with its bits from `at` on replaced by `x`.
static uint64_t insert(uint64_t a, uint64_t x, uint32_t at, uint32_t bits)
{
    uint64_t mask = mask_of(bits) << at;
    return (a & ~mask) | (x << at & mask);
}

/* -- Operations ----------------------------------------------------------------------------------------- */

static bool compare(uint32_t cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case MOD_EQ: return a == b;
    case MOD_NE: return a != b;
    case MOD_LT: return a < b;
    case MOD_LE: return a <= b;
    case MOD_GT: return a > b;
    default: return a >= b;
    }
}

static uint32_t shift_amount(const Eval *e, int64_t b) { return (uint32_t)(e->mode == MOD_WRAP ? b & 31 : MIN(b, 32)); }

// Returns the exact primary result of operands of at most 32 bits.
static Wide primary(const Eval *e, int64_t a, int64_t b)
{
    switch (e->op) {
    case OP_VADD:
    case OP_VADD2:
    case OP_VADD4: return a + b;
    case OP_VSUB:
    case OP_VSUB2:
    case OP_VSUB4: return a - b;
    case OP_VAVRG2:
    case OP_VAVRG4: return (a + b + (a + b >= 0)) >> 1;
    case OP_VABSDIFF:
    case OP_VABSDIFF2:
    case OP_VABSDIFF4: return a < b ? b - a : a - b;
    case OP_VMIN:
    case OP_VMIN2:
    case OP_VMIN4: return MIN(a, b);
    case OP_VMAX:
    case OP_VMAX2:
    case OP_VMAX4: return MAX(a, b);
    case OP_VSHL: return a * ((Wide)1 << shift_amount(e, b));
    case OP_VSHR: return a >> shift_amount(e, b);
    case OP_VMAD: return (Wide)a * b;
    default: return compare(e->cmp, a, b);
    }
}

static Wide clamp(Wide x, uint32_t bits, bool is_signed)
{
    Wide min = is_signed ? -((Wide)1 << (bits - 1)) : 0, max = min + (Wide)mask_of(bits);
    return x < min ? min : x > max ? max : x;
}

static uint64_t secondary(const Eval *e, uint64_t x, uint64_t c)
{
    int64_t a = extend(x, 32, e->is_signed), b = extend(c, 32, e->is_signed);
    switch (e->combine) {
    case MOD_ADD: return x + c;
    case MOD_MIN: return (uint64_t)MIN(a, b);
    case MOD_MAX: return (uint64_t)MAX(a, b);
    default: return x;
    }
}

static Wide primary_of_parts(const Eval *e, const Value *in)
{
    int64_t a = part_of(in[0].lo, e->select[1], e->from_signed);
    return primary(e, a, part_of(in[1].lo, e->select[2], e->select[3] & B_SIGNED));
}

static void run_scalar(const Eval *e, const Value *in, Value *out)
{
    uint32_t bits = part_bits(e->select[0]);
    Wide x = primary_of_parts(e, in);
    uint64_t c = e->nin > 2 ? in[2].lo : 0, result = (uint64_t)(e->sat ? clamp(x, bits, e->is_signed) : x);
    result = insert(c, secondary(e, result, c), part_at(e->select[0]), bits);
    out[0] = integer_result(e, result);
}

static void run_vmad(const Eval *e, const Value *in, Value *out)
{
    uint32_t flags = e->select[3];
    Wide product = primary_of_parts(e, in), c = extend(in[2].lo, 32, flags & C_SIGNED);
    Wide x = (flags & MINUS_PRODUCT ? -product : product) + (flags & MINUS_C ? -c : c) + !!(flags & PLUS_ONE);
    x >>= e->extra;
    out[0] = integer_result(e, (uint64_t)(e->sat ? clamp(x, 32, flags & FINAL_SIGNED) : x));
}

static void run_packed(const Eval *e, const Value *in, Value *out)
{
    uint64_t operands = (uint32_t)in[0].lo | in[1].lo << 32, result = in[2].lo;
    uint32_t bits = e->from_bits;
    for (uint32_t k = 0; k < e->parts; k++) {
        if (!(e->select[0] >> k & 1))
            continue;
        uint32_t from_a = e->extra >> 4 * k & 15, from_b = e->extra >> (16 + 4 * k) & 15;
        int64_t a = extend(operands >> from_a * bits, bits, e->from_signed);
        Wide x = primary(e, a, extend(operands >> from_b * bits, bits, e->select[3] & B_SIGNED));
        if (e->sat)
            x = clamp(x, bits, e->is_signed);
        result = e->combine ? result + (uint64_t)x : insert(result, (uint64_t)x, k * bits, bits);
    }
    out[0] = integer_result(e, result);
}

/* -- Reading the mnemonic ------------------------------------------------------------------------------- */

// Kinds of instructions.
enum { SET = 1, SHIFT = 2, MULTIPLY = 4 };

static uint32_t kind_of(Opcode op)
{
    switch (op) {
    case OP_VSET:
    case OP_VSET2:
    case OP_VSET4: return SET;
    case OP_VSHL:
    case OP_VSHR: return SHIFT;
    case OP_VMAD: return MULTIPLY;
    default: return 0;
    }
}

static uint32_t parts_of(Opcode op)
{
    switch (op) {
    case OP_VADD2:
    case OP_VSUB2:
    case OP_VAVRG2:
    case OP_VABSDIFF2:
    case OP_VMIN2:
    case OP_VMAX2:
    case OP_VSET2: return 2;
    case OP_VADD4:
    case OP_VSUB4:
    case OP_VAVRG4:
    case OP_VABSDIFF4:
    case OP_VMIN4:
    case OP_VMAX4:
    case OP_VSET4: return 4;
    default: return 1;
    }
}

// Reads a modifier of the mnemonic; false if it is unknown or repeated.
static bool read_modifier(Str part, Eval *e)
{
    Mod mod = mod_find(part.text, part.len, 1u << MC_OP | 1u << MC_CMP | 1u << MC_MODE | 1u << MC_SAT);
    bool again = false;
    if (mod == MOD_ADD || mod == MOD_MIN || mod == MOD_MAX) {
        again = e->combine;
        e->combine = (uint8_t)mod;
    } else if (mod == MOD_CLAMP || mod == MOD_WRAP) {
        again = e->mode;
        e->mode = (uint8_t)mod;
    } else if (mod >= MOD_EQ && mod <= MOD_GE) {
        again = e->cmp;
        e->cmp = (uint8_t)mod;
    } else if (mod == MOD_SAT) {
        again = e->sat;
        e->sat = true;
    } else if (str_is(part, "po")) {
        again = e->select[3] & PLUS_ONE;
        e->select[3] |= PLUS_ONE;
    } else if (str_is(part, "shr7") || str_is(part, "shr15")) {
        again = e->extra;
        e->extra = part.len == 4 ? 7 : 15;
    } else {
        return false;
    }
    return !again;
}

// Reads the types of d, a and b, and the modifiers; vset has no type for d, which is unsigned.
static bool read_mnemonic(Str suffix, Eval *e)
{
    uint32_t kind = kind_of(e->op), n = kind & SET ? 1 : 0;
    bool is_signed[3] = {false, false, false};
    for (Str part; eval_next_part(&suffix, &part);) {
        Type type = type_find(part.text, part.len);
        if (type == TY_NONE ? !read_modifier(part, e) : n == 3 || (type != TY_U32 && type != TY_S32))
            return false;
        if (type != TY_NONE)
            is_signed[n++] = type == TY_S32;
    }
    e->is_signed = is_signed[0];
    e->from_signed = is_signed[1];
    e->select[3] |= is_signed[2] ? B_SIGNED : 0;
    if (n < 3 || !!(kind & SET) != !!e->cmp || !!(kind & SHIFT) != !!e->mode || (kind & SET && e->sat) ||
        (kind & SHIFT && is_signed[2]))
        return false;
    if (e->parts > 1 && e->combine && (e->combine != MOD_ADD || e->sat))
        return false;
    return kind & MULTIPLY ? !e->combine : !e->extra && !(e->select[3] & PLUS_ONE);
}

/* -- Reading the shape ---------------------------------------------------------------------------------- */

typedef struct Place {
    bool minus;
    Str select;  // after the dot; empty = none
} Place;

// Reads an operand: `%`, `%.b0`, `-%.h1`.
static bool read_place(const char *p, const char *end, Place *place)
{
    *place = (Place){.minus = p < end && *p == '-'};
    p += place->minus;
    if (p == end || *p++ != '%')
        return false;
    if (p == end)
        return true;
    place->select = (Str){.text = p + 1, .len = (uint32_t)(end - p) - 1};
    return *p == '.' && place->select.len;
}

static bool read_places(Str shape, Place *places, uint32_t n)
{
    const char *p = shape.text, *end = p + shape.len;
    for (uint32_t k = 0; k < n; k++) {
        const char *stop = desc_element_end(p, end);
        if (!read_place(p, stop, &places[k]) || (k + 1 < n) != (stop < end))
            return false;
        p = stop + 1;
    }
    return true;
}

// Reads a part: b0 to b3, h0, h1.
static bool read_part(Str s, uint8_t *select)
{
    *select = WHOLE;
    if (!s.len)
        return true;
    if (s.len != 2 || (s.text[0] != 'b' && s.text[0] != 'h') || s.text[1] < '0')
        return false;
    uint32_t which = (uint32_t)(s.text[1] - '0'), n = s.text[0] == 'b' ? 4 : 2;
    *select = (uint8_t)((n == 4 ? BYTE : HALF) | which);
    return which < n;
}

// Reads the digits of parts, highest first, into four bits each, lowest first. Each digit is less than `limit`.
static bool read_digits(Str s, uint32_t parts, uint32_t limit, uint32_t *digits)
{
    *digits = 0;
    if (s.len < 2 || s.text[0] != (parts == 4 ? 'b' : 'h'))
        return false;
    for (uint32_t k = 1; k < s.len; k++) {
        if (s.text[k] < '0' || (uint32_t)(s.text[k] - '0') >= limit)
            return false;
        *digits = *digits << 4 | (uint32_t)(s.text[k] - '0');
    }
    return s.len <= parts + 1;
}

// Reads the written parts of d: their numbers, descending.
static bool read_mask(Str s, uint32_t parts, uint8_t *mask)
{
    uint32_t digits, last = parts;
    *mask = (uint8_t)mask_of(s.len ? 0 : parts);
    if (!s.len)
        return true;
    if (!read_digits(s, parts, parts, &digits))
        return false;
    for (uint32_t k = s.len - 1; k-- > 0;) {
        uint32_t which = digits >> 4 * k & 15;
        if (which >= last)
            return false;
        *mask |= (uint8_t)(1u << which);
        last = which;
    }
    return true;
}

static bool read_selected(Str s, uint32_t parts, uint32_t otherwise, uint32_t *digits)
{
    *digits = otherwise;
    return !s.len || (s.len == parts + 1 && read_digits(s, parts, 2 * parts, digits));
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

// True if the primary result always fits d's type, with at most as many bits as the operands.
static bool always_fits(const Eval *e)
{
    bool alike = e->from_signed == !!(e->select[3] & B_SIGNED);
    switch (e->op) {
    case OP_VSET:
    case OP_VSET2:
    case OP_VSET4: return true;
    case OP_VABSDIFF:
    case OP_VABSDIFF2:
    case OP_VABSDIFF4: return alike && !e->is_signed;
    case OP_VMIN:
    case OP_VMIN2:
    case OP_VMIN4:
    case OP_VMAX:
    case OP_VMAX2:
    case OP_VMAX4:
    case OP_VAVRG2:
    case OP_VAVRG4: return alike && e->is_signed == e->from_signed;
    default: return false;
    }
}

static bool decode_scalar(Eval *e, const Place *places)
{
    for (uint32_t k = 0; k < 3; k++)
        if (!read_part(places[k].select, &e->select[k]))
            return false;
    bool merge = e->select[0] != WHOLE;
    e->run = run_scalar;
    e->nofold |= e->combine && e->combine != MOD_ADD && !e->sat && !always_fits(e);
    e->nofold |= e->op == OP_VSHL && e->sat;
    e->nofold |= e->sat && (merge || (e->combine && e->combine != MOD_ADD));
    if (places[1].minus || places[2].minus || places[3].minus || (merge && e->combine))
        return false;
    return e->nin == 2 + (merge || e->combine);
}

static bool decode_vmad(Eval *e, const Place *places)
{
    bool minus_product = places[1].minus != places[2].minus, minus_c = e->nin == 3 && places[3].minus;
    bool factors = e->from_signed || e->select[3] & B_SIGNED;  // a factor is signed
    bool product = factors || minus_product, final = product || minus_c;
    if (e->nin != 3 || places[0].select.len || !read_part(places[1].select, &e->select[1]) ||
        !read_part(places[2].select, &e->select[2]))
        return false;
    if (e->select[3] & PLUS_ONE ? places[1].minus || places[2].minus || minus_c : minus_product && minus_c)
        return false;
    e->select[3] |= (uint8_t)((product ? C_SIGNED : 0) | (final ? FINAL_SIGNED : 0));
    e->select[3] |= (uint8_t)((minus_product ? MINUS_PRODUCT : 0) | (minus_c ? MINUS_C : 0));
    e->run = run_vmad;
    e->nofold |= e->sat && (e->is_signed != final || factors != final);
    e->nofold |= e->extra && (product != final || !factors);
    return true;
}

static bool decode_packed(Eval *e, const Place *places)
{
    uint32_t a, b;
    bool wide = e->parts == 2;
    if (e->nin != 3 || places[1].minus || places[2].minus || places[3].minus ||
        !read_mask(places[0].select, e->parts, &e->select[0]) ||
        !read_selected(places[1].select, e->parts, wide ? 0x10 : 0x3210, &a) ||
        !read_selected(places[2].select, e->parts, wide ? 0x32 : 0x7654, &b))
        return false;
    e->extra = a | b << 16;
    e->from_bits = (uint8_t)(32 / e->parts);
    e->run = run_packed;
    e->nofold |= e->combine && !always_fits(e);
    return true;
}

bool decode_video(const Tables *t, const Desc *d, Eval *e)
{
    Place places[4] = {{false, {0}}};
    e->bits = 32;
    e->mask = UINT32_MAX;
    e->parts = (uint8_t)parts_of(d->op);
    if (d->ndef != 1 || d->nops < 3 || d->nops > 4 || !read_mnemonic(tab_str(t, tab_mnem(t, d->mnem)->suffix), e) ||
        !read_places(tab_str(t, d->shape), places, d->nops) || places[0].minus || places[3].select.len)
        return false;
    if (e->parts > 1)
        return decode_packed(e, places);
    return d->op == OP_VMAD ? decode_vmad(e, places) : decode_scalar(e, places);
}
