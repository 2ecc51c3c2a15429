// SPDX-License-Identifier: MIT
// The content of a section as a list of records, as nvlink is documented to keep it: each has bytes at an offset, and
// the symbol that they came from.
#ifndef ORI_DATA_SECTION_H
#define ORI_DATA_SECTION_H

#include "ir/base/base.h"

#define RECORD_APPEND UINT64_MAX  // as an offset: behind the last record

typedef struct DataRecord {
    const uint8_t *bytes;  // NULL: zeros
    uint64_t offset, align, size;
    uint32_t symbol;  // 0 = none
} DataRecord;

typedef struct DataSymbol {
    const char *name;
    const char *entry;  // the entry function whose constant it is
    uint64_t place;     // in its section; later in the section to which it was copied
    bool is_reached;    // code names it
    bool is_local;      // it has local binding
    bool is_hidden;     // it was removed
} DataSymbol;

// A relocation that names or patches a place in a section.
typedef struct DataReloc {
    uint64_t place;  // in the section, then in the one to which the place was copied
    bool moved;
} DataReloc;

// Symbols of records that others replaced.
typedef struct MergedSymbol {
    uint32_t symbol, into;
} MergedSymbol;

typedef struct DataSection {
    uint32_t index;  // for messages
    uint64_t size, align;
    VEC(DataRecord) records;  // in the order of offsets
    VEC(MergedSymbol) merged;
} DataSection;

#endif
