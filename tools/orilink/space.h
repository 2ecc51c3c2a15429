// SPDX-License-Identifier: MIT
// The pre-pass "optimize space", which nvlink is documented to run if the constants of the user overflow their bank:
// constants that nothing uses go, and the others are laid out again.
//
// Unlike the documented code, a relocation in the middle of a constant moves with it, and a section with a relocation
// that no constant covers stays as it is. A default alignment is a power of 2. Constants are sorted by alignment only
// if that saves space.
#ifndef ORI_SPACE_H
#define ORI_SPACE_H

#include "tools/orilink/overlap.h"

// Returns the record that contains an offset; NULL: none does. Requires records in the order of offsets.
const DataRecord *data_record_at(const DataSection *section, uint64_t offset);
// Gives the records of a section new offsets: by falling alignment, or in their order if `no_opt`. Only then a record
// may have no alignment.
void data_layout(DataSection *section, Arena *arena, bool no_opt);

// Keeps the records of a section that have reached symbols, and sets the places of all symbols and relocations; the
// symbols of the others become hidden. False, and all is as it was, if a relocation has no symbol. `name`: of the
// section. `verbose`: for messages; NULL: none.
bool data_optimize_space(DataSection *section, Arena *arena, const char *name, DataSymbol *symbols, DataReloc *relocs,
                         uint32_t nrelocs, Out *verbose);

#endif
