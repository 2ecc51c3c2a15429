// SPDX-License-Identifier: MIT
// Fields of instructions that hold the place of a constant: nvlink patches them by relocations.
#ifndef ORI_FIELDS_H
#define ORI_FIELDS_H

#include "tools/orilink/elf.h"

typedef struct Field {
    uint64_t at;                // of the instruction, in its section
    uint8_t first, bits, unit;  // bits of the instruction; unit: bytes per unit of the field
    bool has_bank;              // it holds a place, and the 5 bits behind it the bank; else the address of a place
    bool is_signed;             // it may be added to an index
} Field;

enum { FIELD_BYTES = 8, BANK_BITS = 5 };

// Returns the field that a relocation patches; false: it patches none.
bool field_of(const ElfReloc *reloc, Field *f);
// Returns a place as a field can hold it: without the bits above.
uint64_t field_wrap(const Field *f, uint64_t place);
// Returns the bits that hold the place, of the 8 bytes at f->at.
uint64_t field_mask(const Field *f);
// Returns the place that a field of code holds, and its bank.
uint64_t field_value(const uint8_t *code, const Field *f);
uint32_t field_bank(const uint8_t *code, const Field *f);
// Writes a place and a bank to a field of code.
void field_store(uint8_t *code, const Field *f, uint64_t place, uint32_t bank);

#endif
