// SPDX-License-Identifier: MIT
// Memory of malloc that is split into fields.
#ifndef ORI_MALLOC_FIELDS_H
#define ORI_MALLOC_FIELDS_H

#include "phases/globalopt/system_calls.h"

// The change of an instruction.
typedef enum {
    FE_MALLOC,   // the result of malloc
    FE_LOAD,     // a load of the variable
    FE_COPY,     // a move or sum of a pointer
    FE_NULL,     // a move of null
    FE_SAVE,     // a store of a pointer to the variable
    FE_CLEAR,    // a store of null
    FE_COMPARE,  // a comparison with null
    FE_ACCESS,   // an access to the block
    FE_FREE,     // the argument of free
} FieldEditKind;

typedef struct FieldEdit {
    uint32_t fn;
    InstrId instr;
    FieldEditKind kind;
    uint32_t pointer;      // the pointer that it defines, or else uses
    uint32_t from;         // FE_COPY: the pointer that it uses
    uint32_t operand;      // FE_COPY, FE_COMPARE, FE_ACCESS, FE_SAVE: which one that is
    const Sequence *s;     // FE_MALLOC, FE_FREE
    const Sequence *free;  // FE_MALLOC: a call of free in the function
    DescId access;         // FE_LOAD, FE_SAVE, FE_CLEAR: the descriptor with a symbol as base
    uint32_t field;        // FE_ACCESS
} FieldEdit;

// A register with a pointer into the block, lo .. hi bytes behind its start. -ANY and ANY are no bounds.
typedef struct BlockPointer {
    uint32_t fn;
    RegId reg;
    int64_t lo, hi;
    uint32_t joins;  // how often the range grew
    bool queued;
} BlockPointer;

typedef struct BlockSplit {
    Globals *g;
    Global *v;
    uint32_t fn;                 // the current function
    struct PointerFacts *facts;  // of it
    uint64_t bytes;              // of the block; 0 = no malloc was found
    VEC(BlockPointer) pointers;
    VEC(FieldEdit) edits;
    VEC(uint32_t) work;            // pointers whose uses are to be visited
    VEC(Field) fields;             // ascending
    const char *missed, *because;  // a remark on why the variable stays
    SymId first;                   // the variable of the first field
    bool *needs;                   // by pointer and field: its address is needed
    RegId *regs;                   // the same: the register with it
} BlockSplit;

#define ANY INT64_MAX

/* malloc_split.c */
// Replaces the variable by one for each field, and changes all instructions.
void malloc_split(BlockSplit *h);

#endif
