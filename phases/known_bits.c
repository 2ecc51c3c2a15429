// SPDX-License-Identifier: MIT
// Known bits: a look at the instructions behind a value, some DEPTH of them deep. Nothing is kept, so it costs little
// where few ask.
#include "phases/known_bits.h"

enum { DEPTH = 4 };

typedef struct Look {
    const Fn *fn;
    DefinitionOf *definition;
    const void *user;
} Look;

static uint64_t ones(uint32_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }

static uint32_t bits_of(const Fn *fn, Operand o)
{
    if (op_is_reg(o))
        return width_bits((Width)ir_reg(fn, op_index(o))->width);
    return op_kind(o) == K_IMM ? width_bits(tab_const(fn->tables, op_index(o)).width) : 0;
}

// How many of the lowest bits are known to be 0.
static uint32_t trailing(uint64_t zeros) { return ~zeros ? (uint32_t)__builtin_ctzll(~zeros) : 64; }

static bool is_constant(const Fn *fn, Operand o, uint64_t *bits)
{
    if (op_kind(o) != K_IMM || op_index(o) == CONST_UNDEF || o.mods)
        return false;
    *bits = tab_const(fn->tables, op_index(o)).bits;
    return true;
}

static uint64_t look(const Look *l, Operand o, int depth);

// Of the result of a shift by a constant, `bits` bits wide.
static uint64_t look_at_shift(const Look *l, const Instr *i, Opcode op, uint32_t bits, bool is_signed, int depth)
{
    uint64_t zeros = look(l, *ir_use(l->fn, i, 0), depth), n;
    if (!is_constant(l->fn, *ir_use(l->fn, i, 1), &n))
        return op == OP_SHL ? ones(trailing(zeros)) : 0;
    if (n >= bits)
        return is_signed ? 0 : UINT64_MAX;
    if (op == OP_SHL)
        return zeros << n | ones((uint32_t)n);
    bool positive = !is_signed || zeros >> (bits - 1) & 1;
    uint64_t high = ones(bits) & ~ones(bits - (uint32_t)n);
    return (zeros & ones(bits)) >> n | (positive ? high : 0);
}

static uint64_t look_at_conversion(const Look *l, const Instr *i, const Mnem *m, int depth)
{
    const TypeInfo *to = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    bool integers = (to->class == TC_U || to->class == TC_S) && (from->class == TC_U || from->class == TC_S);
    for (int k = 0; k < MC_COUNT; k++)
        integers &= !m->mod[k];
    uint32_t bits = width_bits(from->width), wide = width_bits(to->width);
    if (!integers || wide < bits || bits_of(l->fn, *ir_def(l->fn, i, 0)) != wide)
        return 0;
    uint64_t zeros = look(l, *ir_use(l->fn, i, 0), depth) & ones(bits);
    bool positive = from->class == TC_U || zeros >> (bits - 1) & 1;
    return zeros | (positive ? ~ones(bits) : 0);
}

static uint64_t look_at_definition(const Look *l, const Instr *i, int depth)
{
    const Fn *fn = l->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    uint32_t bits = width_bits(type->width);
    uint64_t n;
    // A guarded definition leaves what was there before, or makes that.
    if (i->ndef != 1 || ir_guarded(i))
        return 0;
#define KID(k) look(l, *ir_use(fn, i, k), depth)
    switch (d->op) {
    case OP_MOV: return KID(0);
    case OP_AND: return KID(0) | KID(1);
    case OP_OR:
    case OP_XOR: return KID(0) & KID(1);
    case OP_SELP: return KID(0) & KID(1);
    case OP_SHL:
    case OP_SHR: return look_at_shift(l, i, d->op, bits, type->class == TC_S, depth);
    case OP_ADD:
    case OP_SUB: {
        bool plain = (type->class == TC_U || type->class == TC_S) && !m->mod[MC_SAT];
        uint32_t a = trailing(KID(0)), b = trailing(KID(1));
        return plain ? ones(MIN(a, b)) : 0;
    }
    case OP_MUL_LO:
    case OP_MUL_WIDE: {
        uint32_t a = trailing(KID(0)), b = trailing(KID(1));
        return ones(MIN(a + b, 64));
    }
    case OP_REM: {
        // Less than a power of two.
        bool less = type->class == TC_U && is_constant(fn, *ir_use(fn, i, 1), &n) && n;
        return less ? ~ones(n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0) : 0;
    }
    case OP_CVT: return look_at_conversion(l, i, m, depth);
    case OP_POPC:
    case OP_CLZ: return ~(uint64_t)127;
    case OP_LD: {
        bool extends = type->class == TC_U || type->class == TC_B;
        return extends && !m->mod[MC_VEC] ? ~ones(bits) : 0;
    }
    default: return 0;
    }
#undef KID
}

static uint64_t look(const Look *l, Operand o, int depth)
{
    uint64_t n;
    uint32_t bits = bits_of(l->fn, o);
    if (is_constant(l->fn, o, &n))
        return ~n;
    if (!op_is_reg(o) || o.mods || bits > 64 || bits < 8)
        return 0;
    InstrId def = depth ? l->definition(l->user, op_index(o)) : 0;
    return (def ? look_at_definition(l, ir_instr(l->fn, def), depth - 1) : 0) | ~ones(bits);
}

uint64_t known_zeros(const Fn *fn, DefinitionOf *definition, const void *user, Operand o)
{
    return look(&(Look){fn, definition, user}, o, DEPTH) & ones(bits_of(fn, o));
}
