// SPDX-License-Identifier: MIT
// Validation of overlaps, as nvlink is documented to do it: records of a section may overlap if their bytes are equal
// where both have them, and one contains the other; then one record is left.
//
// The documented invariants hold also if the documented code is weaker: bytes are equal, one record contains the other,
// and records have an order. So a record that begins before another one and ends inside of it is an error, and a record
// that contains several others is compared with each of them.
#ifndef ORI_OVERLAP_H
#define ORI_OVERLAP_H

#include "tools/orilink/data_section.h"

typedef enum {
    OVERLAP_NONE,     // the record is a new one
    OVERLAP_MERGED,   // another record has its bytes, or it replaced others
    OVERLAP_SPANS,    // overlapping data spans too much: neither record contains the other
    OVERLAP_DIFFERS,  // overlapping non-identical data
    OVERLAP_NO_TAIL,  // tail data node not found: a section of some size has no records to append to
} Overlap;

// Inserts a record. At RECORD_APPEND it gets the next aligned offset. After an error the section is as it was.
// `verbose`: for messages; NULL: none.
Overlap data_insert(DataSection *section, Arena *arena, DataRecord record, Out *verbose);
// Returns the text of an error.
const char *overlap_text(Overlap overlap);
// Fills the bytes of a record up to a multiple of 128 with the documented pattern, for sections of type 0x70000002.
// Real cubins use that type for prototypes, so this is for none of them.
void data_fill(DataRecord *record, Arena *arena);

#endif
