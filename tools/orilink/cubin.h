// SPDX-License-Identifier: MIT
// A relocatable cubin: code, data and the records of them. A section of code belongs to one function. Other sections
// belong to a section of code if their flags have SHF_INFO_LINK: records, relocations, constants, shared and local
// memory of the function.
#ifndef ORI_CUBIN_H
#define ORI_CUBIN_H

#include "tools/orilink/elf.h"

// Groups of records of .nv.callgraph.
typedef enum {
    CALLS = -1,            // function `a` calls function `b`
    HAS_SIGNATURE = -2,    // the address of function `a` is taken; `b` is the signature of the function
    CALLS_SIGNATURE = -3,  // function `a` calls a function of signature `b` indirectly
    TAKES_ADDRESS = -4,    // code or data of function `a` contains the address of function `b`
} CallGroup;

// Functions are symbol indices; signatures are offsets in the string table.
typedef struct CallRecord {
    int32_t group;
    uint32_t a, b;
} CallRecord;

// True for the number that begins a group of records.
static inline bool call_is_marker(uint32_t a, uint32_t b) { return !a && (int32_t)b < 0; }
// True if the second number of the records in a group is a function.
static inline bool call_names_function(int32_t group) { return group == CALLS || group == TAKES_ADDRESS; }

// A record of .nv.info or .nv.info.FUNCTION.
typedef struct InfoRecord {
    const uint8_t *at;  // with the header
    uint32_t size;      // with the header
    uint8_t format, attribute;
    const uint8_t *payload;
    uint32_t payload_size;
} InfoRecord;

// The symbol indices that a payload has.
typedef enum { INFO_UNKNOWN, INFO_NO_SYMBOL, INFO_FIRST_SYMBOL, INFO_ALL_SYMBOLS } InfoSymbols;

// An entry of .debug_frame: a common one (CIE), or the one of a function.
typedef struct FrameEntry {
    uint64_t offset, size;
    bool is_common;
    uint32_t function;  // symbol; 0: it is a common entry, or that of a copy that nvlink -r removed
    uint32_t common;    // index of the common entry that the function's entry uses
    bool in_place;      // the entry has the offset of the common one itself, not a relocation
} FrameEntry;

typedef struct Cubin {
    Elf elf;
    uint32_t sm;        // 75, 80, ...
    const char *fixed;  // the reason why nothing can be removed from it; NULL: it can be rewritten
    uint32_t callgraph, prototype, info, frame;  // section indices; 0 = none
    VEC(CallRecord) calls;
    VEC(FrameEntry) frames;  // in the order of offsets
    uint32_t *owner;         // by section: the section of code to which it belongs, or itself; 0 = none
    uint32_t *function;      // by section: the symbol of the function whose code it is; 0 = none
    uint32_t *symbol;        // by section: its own symbol; 0 = none
    uint32_t *owned;         // by section of code: the first section that belongs to it; 0 = none
    uint32_t *next;          // by section: the next one that belongs to the same code; 0 = none
} Cubin;

// True if nvlink links code for one target into a program for another.
bool sm_is_linked(uint32_t sm, uint32_t target);
// True if a cubin is of a toolkit whose formats are known: CUDA 13. Others may refer to anything.
bool cubin_is_known(const uint8_t *bytes, size_t size);
// Reads a relocatable cubin; false after an error message. `file` stays in use, and so do the bytes.
bool cubin_read(Cubin *cubin, const char *file, const uint8_t *bytes, size_t size, Arena *arena, Diag *diag);
// True for a function that the host may launch.
bool symbol_is_kernel(const ElfSymbol *s);
// True for a function that nvlink is documented never to remove: system calls, stubs of unified functions, and pinned
// ones.
bool symbol_is_pinned(const ElfSymbol *s);
// True for a variable of a program in global or constant memory, static ones and strings included; false for constants
// of the compiler.
bool symbol_is_variable(const Cubin *cubin, const ElfSymbol *s);
InfoSymbols info_symbols(const InfoRecord *record);
// Reads the record at *at and advances; false at the end.
bool info_next(const ElfSection *s, uint64_t *at, InfoRecord *record);

/* frames.c */
enum { FRAME_COMMON = 12 };  // the offset in an entry of that of its common entry
// Reads .debug_frame. Sets c->fixed if its form is unknown.
void frames_read(Cubin *cubin, Arena *arena);
// Returns the entry that contains an offset of .debug_frame; NULL = none does.
const FrameEntry *frame_at(const Cubin *cubin, uint64_t offset);

static inline bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }
static inline ElfSection *cubin_section(const Cubin *c, uint32_t k) { return &c->elf.sections.at[k]; }
static inline ElfSymbol *cubin_symbol(const Cubin *c, uint32_t k) { return &c->elf.symbols.at[k]; }
// True for a section that debuggers read.
static inline bool section_is_debug(const ElfSection *s)
{
    return strncmp(s->text, ".debug_", 7) == 0 || strncmp(s->text, ".nv_debug_", 10) == 0;
}
// Returns the number of a section in messages: the symbol of its function, its own symbol, or its index.
static inline uint32_t section_number(const Cubin *c, uint32_t k)
{
    return c->function[k] ? c->function[k] : c->symbol[k] ? c->symbol[k] : k;
}

#endif
