// SPDX-License-Identifier: MIT
// Runs atomic operations on memory, PTX ISA 9.7.13 (atom, red). Lanes run in ascending order, so that a run gives the
// same bytes on every machine. The elements of a vector and the halves of a packed type are processed one by one.
//
// Floating-point additions round to nearest even. Additions of f32 flush subnormal operands and results in global
// memory, but not in shared memory (PTX ISA). A generic address counts as the space to which it points. Other types
// flush nothing. The ISA does not specify min and max of f16 and bf16 for NaN and zeros; here they have the results of
// the instructions min and max.
#include "ir/machine/machine_internal.h"

static uint64_t cut(uint64_t a, uint32_t bits) { return bits < 64 ? a & ((UINT64_C(1) << bits) - 1) : a; }

static int64_t as_signed(uint64_t a, uint32_t bits) { return (int64_t)(a << (64 - bits)) >> (64 - bits); }

/* -- Operations ----------------------------------------------------------------------------------------- */

static uint64_t combine_integers(const Code *c, uint64_t a, uint64_t b)
{
    uint32_t bits = 8u * c->bytes;
    bool less = c->extends ? as_signed(a, bits) < as_signed(b, bits) : a < b;
    switch (c->action) {
    case MOD_ADD: return cut(a + b, bits);
    case MOD_MIN: return less ? a : b;
    case MOD_MAX: return less ? b : a;
    case MOD_INC: return a >= b ? 0 : a + 1;
    case MOD_DEC: return !a || a > b ? b : a - 1;
    case MOD_AND: return a & b;
    case MOD_OR: return a | b;
    case MOD_XOR: return a ^ b;
    default: return b;
    }
}

static bool is_nan(const Format *f, uint64_t a) { return float_class(f, a) == FLOAT_NAN; }

// -0 is less than +0.
static bool is_less(const Format *f, uint64_t a, uint64_t b)
{
    FloatOrder order = float_compare(f, a, b);
    return order == FLOAT_LESS || (order == FLOAT_EQUAL && a & float_sign(f));
}

static uint64_t combine_floats(const Format *f, Mod action, bool flush, uint64_t a, uint64_t b)
{
    uint64_t sum;
    switch (action) {
    case MOD_ADD:
        sum = float_add(f, flush ? float_flush(f, a) : a, flush ? float_flush(f, b) : b, ROUND_NEAREST_EVEN);
        return flush ? float_flush(f, sum) : sum;
    case MOD_MIN:
    case MOD_MAX:
        if (is_nan(f, a) || is_nan(f, b))
            return is_nan(f, a) ? is_nan(f, b) ? f->nan : b : a;
        return is_less(f, a, b) == (action == MOD_MIN) ? a : b;
    default: return b;
    }
}

// Returns the format of a floating-point type or of its halves. NULL if the type is not floating point, or the
// operation is on bits.
static const Format *format_of(const Code *c)
{
    if (c->action != MOD_ADD && c->action != MOD_MIN && c->action != MOD_MAX)
        return NULL;
    switch (c->type) {
    case TY_F16:
    case TY_F16X2: return &format_f16;
    case TY_BF16:
    case TY_BF16X2: return &format_bf16;
    case TY_F32: return &format_f32;
    case TY_F64: return &format_f64;
    default: return NULL;
    }
}

static uint64_t combine(const Code *c, bool flush, uint64_t a, uint64_t b)
{
    const Format *f = format_of(c);
    Mod action = (Mod)c->action;
    if (!f)
        return combine_integers(c, a, b);
    if (c->type == TY_F16X2 || c->type == TY_BF16X2)
        return combine_floats(f, action, flush, a & 0xffff, b & 0xffff) |
               combine_floats(f, action, flush, a >> 16, b >> 16) << 16;
    return combine_floats(f, action, flush, a, b);
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

static bool is_shared(const Code *c, uint64_t address)
{
    return c->space == SP_SHARED || c->space == SP_CLUSTER ||
           (c->space == SP_GENERIC && address / WINDOW_BYTES == SHARED_WINDOW / WINDOW_BYTES);
}

static void old_value(Run *r, const Group *g, const Code *c, uint32_t k, uint32_t lane, Value old)
{
    if (k >= c->nout)
        return;
    if (c->extends)
        old.lo = (uint64_t)as_signed(old.lo, 8u * c->bytes);
    write_lane(r, g, &c->out[k], lane, old);
}

// Returns the k-th operand after the address: an element, or the new value of compare-and-swap.
static const OperandRef *source(const Code *c, uint32_t k) { return &c->in[2 + k]; }

static Value read_source(const Run *r, const Group *g, const Code *c, uint32_t k, uint32_t lane)
{
    uint64_t lo = read_lane(r, g, source(c, k), lane);
    return (Value){cut(lo, 8u * MIN(c->bytes, 8u)), c->bytes == 16 ? read_high(r, g, source(c, k), lane) : 0};
}

// Runs exch and cas. No other operation has 128 bits.
static bool swap(Run *r, const Group *g, const Code *c, uint32_t lane, Span at)
{
    uint32_t low = MIN(c->bytes, 8u), high = c->bytes - low;
    Value old = {span_load(at, 0, low), span_load(at, low, high)};
    Value b = read_source(r, g, c, 0, lane), written = b;
    if (c->action == MOD_CAS)
        written = old.lo == b.lo && old.hi == b.hi ? read_source(r, g, c, 1, lane) : old;
    span_store(at, 0, written.lo, low);
    span_store(at, low, written.hi, high);
    old_value(r, g, c, 0, lane, old);
    return c->action != MOD_CAS || (old.lo == b.lo && old.hi == b.hi);
}

static void operate(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, Span s)
{
    bool flush = c->type == TY_F32 && !is_shared(c, address);
    uint32_t at = 0;
    uint64_t sources[8];  // read before the results are written, since both may be in the same registers
    for (uint32_t k = 0; k < c->vec; k++)
        sources[k] = read_source(r, g, c, k, lane).lo;
    for (uint32_t k = 0; k < c->vec; k++, at += c->bytes) {
        uint64_t old = span_load(s, at, c->bytes);
        span_store(s, at, combine(c, flush, old, sources[k]), c->bytes);
        old_value(r, g, c, k, lane, (Value){old, 0});
    }
}

bool run_atom(Run *r, Group *g, const Code *c)
{
    uint32_t size = (uint32_t)c->vec * c->bytes;
    bool swaps = c->vec == 1 && (c->action == MOD_EXCH || c->action == MOD_CAS);
    FOR_LANES(g->lanes, lane) {
        uint64_t address = address_of(r, g, c, lane);
        const Span at = memory_changed_at(r, g, c, lane, address, size);
        if (!at.bytes)
            return false;
        bool wrote = !swaps || swap(r, g, c, lane, at);
        if (!swaps)
            operate(r, g, c, lane, address, at);
        if (r->races && !race_atomic(r, wrote))
            return false;
    }
    return true;
}
