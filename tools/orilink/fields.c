// SPDX-License-Identifier: MIT
// Fields of instructions that hold the place of a constant.
#include "tools/orilink/fields.h"

bool field_of(const ElfReloc *reloc, Field *f)
{
    static const struct {
        uint8_t type;
        Field field;
    } fields[] = {
        {0x40, {0, 40, 14, 4, true, false}}, {0x42, {0, 38, 16, 1, true, true}}, {0x3b, {0, 32, 32, 1, false, false}}};
    for (size_t k = 0; k < ARRAY_LEN(fields); k++)
        if (fields[k].type == reloc->type) {
            *f = fields[k].field;
            f->at = reloc->offset;
            return true;
        }
    return false;
}

static uint64_t low_bits(unsigned n) { return ((uint64_t)1 << n) - 1; }

uint64_t field_wrap(const Field *f, uint64_t place) { return place & (f->unit * low_bits(f->bits) | (f->unit - 1u)); }

uint64_t field_mask(const Field *f) { return low_bits(f->bits) << f->first; }

uint64_t field_value(const uint8_t *code, const Field *f)
{
    return (load64(code + f->at) >> f->first & low_bits(f->bits)) * f->unit;
}

uint32_t field_bank(const uint8_t *code, const Field *f)
{
    return (uint32_t)(load64(code + f->at) >> (f->first + f->bits) & low_bits(BANK_BITS));
}

void field_store(uint8_t *code, const Field *f, uint64_t place, uint32_t bank)
{
    uint64_t bits = (place / f->unit & low_bits(f->bits)) << f->first, mask = field_mask(f);
    if (f->has_bank) {
        bits |= (uint64_t)bank << (f->first + f->bits);
        mask |= low_bits(BANK_BITS) << (f->first + f->bits);
    }
    store64(code + f->at, (load64(code + f->at) & ~mask) | bits);
}
