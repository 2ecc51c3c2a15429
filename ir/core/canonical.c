// SPDX-License-Identifier: MIT
// Finds mnemonics that compute the same: `add.s32` and `add.u32`, `mov.f32` and `mov.b32`, `ld.f32` and `ld.u32`.
//
// Equal mnemonics have equal canonical fields: opcode, types, modifiers and suffix. Signed and unsigned types are equal
// where all bits of the result depend only on bits of the same width: wrapping sums and products, tests for equality,
// truncations. The canonical fields need not be those of an instruction that exists.
//
// The result register of a load or conversion may be wider than its type, and is then extended by the type. There the
// descriptors of signed and unsigned types are not interchangeable: desc_value() checks it.
#include "ir/core/ir.h"

static Type in_class(Type t, TypeClass class)
{
    const TypeInfo *info = &type_info[t];
    bool plain = info->class == TC_B || info->class == TC_U || info->class == TC_S || info->class == TC_F;
    Type same = plain ? type_make(class, info->width) : TY_NONE;
    return same == TY_NONE ? t : same;
}

static bool is_integer(Type t)
{
    TypeClass class = type_info[t].class;
    return class == TC_B || class == TC_U || class == TC_S;
}

static Type unsigned_type(Type t) { return is_integer(t) ? in_class(t, TC_U) : t; }

// Returns a comparison operator under which unsigned comparisons have one spelling.
static Mod plain_compare(Mod cmp, Type t)
{
    if (type_info[t].class != TC_U)
        return cmp;
    switch (cmp) {
    case MOD_LO: return MOD_LT;
    case MOD_LS: return MOD_LE;
    case MOD_HI: return MOD_GT;
    case MOD_HS: return MOD_GE;
    default: return cmp;
    }
}

static void compare_fields(Mnem *m, int source)
{
    Type t = (Type)m->type[source];
    Mod cmp = (Mod)m->mod[MC_CMP];
    m->mod[MC_CMP] = (uint8_t)plain_compare(cmp, t);
    if (cmp == MOD_EQ || cmp == MOD_NE)
        m->type[source] = (uint8_t)unsigned_type(t);
}

static void memory_fields(Mnem *m)
{
    m->type[0] = (uint8_t)in_class((Type)m->type[0], TC_U);
    if (m->mod[MC_SEM] == MOD_WEAK)
        m->mod[MC_SEM] = MOD_NONE;
    if (m->mod[MC_SPACE] == MOD_SHARED_CTA)
        m->mod[MC_SPACE] = MOD_SHARED;
    if (m->mod[MC_SPACE] == MOD_PARAM_ENTRY)
        m->mod[MC_SPACE] = MOD_PARAM;
}

static void convert_fields(Mnem *m)
{
    Type to = (Type)m->type[0], from = (Type)m->type[1];
    if (!is_integer(to) || !is_integer(from) || m->mod[MC_SAT])
        return;
    m->type[0] = (uint8_t)unsigned_type(to);
    if (type_info[to].width <= type_info[from].width)
        m->type[1] = (uint8_t)unsigned_type(from);
}

// Returns the fields of a mnemonic, without its text, that equal those of all mnemonics that compute the same.
static Mnem canonical_fields(Opcode op, const Mnem *of)
{
    Mnem m = *of;
    m.text = 0;
    switch (op) {
    case OP_MOV:
    case OP_MOV_VEC:
    case OP_SELP: m.type[0] = (uint8_t)in_class((Type)m.type[0], TC_B); break;
    case OP_ADD:
    case OP_SUB:
        if (!m.mod[MC_SAT])
            m.type[0] = (uint8_t)unsigned_type((Type)m.type[0]);
        break;
    case OP_MUL_LO:
    case OP_MAD_LO: m.type[0] = (uint8_t)unsigned_type((Type)m.type[0]); break;
    case OP_SHR:
        if (type_info[m.type[0]].class == TC_B)
            m.type[0] = (uint8_t)unsigned_type((Type)m.type[0]);
        break;
    case OP_SETP: compare_fields(&m, 0); break;
    case OP_SET:
        m.type[0] = (uint8_t)unsigned_type((Type)m.type[0]);
        compare_fields(&m, 1);
        break;
    case OP_CVT: convert_fields(&m); break;
    case OP_LD:
    case OP_ST: memory_fields(&m); break;
    default: break;
    }
    return m;
}

static uint32_t hash_fields(Opcode op, StrId shape, const Mnem *m)
{
    uint64_t h = hash_mix((uint64_t)op << 32 | m->suffix, shape);
    h = hash_mix(h, (uint64_t)m->type[0] << 16 | (uint64_t)m->type[1] << 8 | m->type[2]);
    for (int c = 0; c < MC_COUNT; c++)
        if (m->mod[c])
            h = hash_mix(h, (uint64_t)c << 8 | m->mod[c]);
    return (uint32_t)(h ^ h >> 32);
}

static bool same_fields(const Mnem *a, const Mnem *b)
{
    return a->ntypes == b->ntypes && a->suffix == b->suffix && memcmp(a->type, b->type, sizeof a->type) == 0 &&
           memcmp(a->mod, b->mod, sizeof a->mod) == 0;
}

void desc_set_canonical(Tables *t, Desc *d, DescId id)
{
    Mnem m = canonical_fields(d->op, tab_mnem(t, d->mnem));
    uint32_t hash = hash_fields(d->op, d->shape, &m);
    for (const Tables *p = t; p; p = p->parent) {
        IDSET_EACH(&p->canonical_index, hash, k) {
            const Desc *other = &p->descs.at[k];
            Mnem fields = canonical_fields(other->op, tab_mnem(t, other->mnem));
            if (other->op == d->op && other->shape == d->shape && same_fields(&fields, &m)) {
                d->canonical = p->desc_first + k;
                return;
            }
        }
    }
    d->canonical = id;
    idset_add(&t->canonical_index, t->arena, hash, id - t->desc_first);
}

DescId desc_value(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->canonical == i->desc || desc_has_value(d))
        return d->canonical;
    Width width = type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (op_is_reg(def) && ir_reg(fn, op_index(def))->width != width)
            return i->desc;
    }
    return d->canonical;
}
