// SPDX-License-Identifier: MIT
// Moves of bits: PTX ISA 9.7.9 (mov, packing and unpacking) and 9.7.6 (selp, slct).
#include "ir/eval/eval_internal.h"

static Value cut(Value v, uint32_t bits)
{
    return (Value){v.lo & mask_of(bits), bits > 64 ? v.hi & mask_of(bits - 64) : 0};
}

static void run_mov(const Eval *e, const Value *in, Value *out)
{
    for (uint32_t k = 0; k < e->nout; k++)
        out[k] = cut(in[k], e->bits);
}

// Packs from the lowest part up.
static void run_pack(const Eval *e, const Value *in, Value *out)
{
    Value all = {0, 0};
    for (uint32_t k = 0, bits = e->part_bits; k < e->nin; k++) {
        uint32_t at = k * bits;
        *(at < 64 ? &all.lo : &all.hi) |= (in[k].lo & mask_of(bits)) << at % 64;
    }
    out[0] = all;
}

static void run_unpack(const Eval *e, const Value *in, Value *out)
{
    for (uint32_t k = 0, bits = e->part_bits; k < e->nout; k++) {
        uint32_t at = k * bits;
        out[k] = (Value){(at < 64 ? in[0].lo : in[0].hi) >> at % 64 & mask_of(bits), 0};
    }
}

static void run_selp(const Eval *e, const Value *in, Value *out) { out[0] = cut(in[in[2].lo & 1 ? 0 : 1], e->bits); }

static void run_slct_integer(const Eval *e, const Value *in, Value *out)
{
    out[0] = cut(in[sign_extend(in[2].lo, e->from_bits) >= 0 ? 0 : 1], e->bits);
}

// -0 counts as not negative, NaN as negative.
static void run_slct_float(const Eval *e, const Value *in, Value *out)
{
    uint64_t c = e->ftz ? float_flush(e->g, in[2].lo & UINT32_MAX) : in[2].lo & UINT32_MAX;
    FloatOrder order = float_compare(e->g, c, 0);
    out[0] = cut(in[order == FLOAT_EQUAL || order == FLOAT_GREATER ? 0 : 1], e->bits);
}

bool decode_move(const Tables *t, const Desc *d, Eval *e)
{
    (void)t;
    switch (d->op) {
    case OP_PACK: e->run = run_pack; break;
    case OP_UNPACK: e->run = run_unpack; break;
    case OP_SELP: e->run = run_selp; break;
    case OP_SLCT: e->run = e->g ? run_slct_float : run_slct_integer; break;
    default: e->run = run_mov;
    }
    e->bits = (uint8_t)(e->bits * e->parts);
    e->part_bits = (uint8_t)(e->bits / MAX(e->nin, e->nout));
    e->f = NULL;  // these instructions treat numbers as bits
    return true;
}
