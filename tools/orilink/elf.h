// SPDX-License-Identifier: MIT
// ELF files of 64 bits, little-endian: sections, the symbol table and relocations.
//
// elf_read() and elf_read_symbols() check every offset, size, index, name and alignment against the file before use.
// Later code may follow them without a check. elf_write() lays sections out in the order of their indices; a file that
// was not changed is written with the same bytes.
#ifndef ORI_ELF_H
#define ORI_ELF_H

#include "ir/base/base.h"
#include "tools/orilink/bytes.h"

enum { ELF_EHDR = 64, ELF_SHDR = 64, ELF_SYM = 24, ELF_REL = 16, ELF_RELA = 24 };
enum { ET_REL = 1, EM_CUDA = 190 };
enum { SHN_UNDEF = 0, SHN_RESERVED = 0xff00 };
enum { STB_LOCAL, STB_GLOBAL, STB_WEAK };
enum { STT_OBJECT = 1, STT_FUNC, STT_SECTION, STT_CUDA_OBJECT = 13 };
enum { SHF_INFO_LINK = 0x40 };  // sh_info is the index of a section

// Types of sections. Those from 0x70000000 on are of device code; the linked file has SHT_PROGBITS or SHT_NOBITS.
enum {
    SHT_NULL = 0,
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_RELA = 4,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
    SHT_REL = 9,
    SHT_NV_INFO = 0x70000000,
    SHT_NV_CALLGRAPH = 0x70000001,
    SHT_NV_PROTOTYPE = 0x70000002,
    SHT_NV_GLOBAL = 0x70000007,  // no bits
    SHT_NV_GLOBAL_INIT = 0x70000008,
    SHT_NV_SHARED = 0x7000000a,     // no bits
    SHT_NV_CONSTANT0 = 0x70000064,  // bank N has the type SHT_NV_CONSTANT0 + N
    SHT_NV_CONSTANT_LAST = 0x70000064 + 17,
    SHT_NV_COMPAT = 0x70000086,
};

typedef struct ElfSection {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t align, entsize;
    const char *text;     // its name
    const uint8_t *data;  // NULL: no bits in the file
    uint64_t gap;         // bytes before it that its alignment does not require
} ElfSection;

typedef struct ElfSymbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
    const char *text;  // its name
} ElfSymbol;

static inline unsigned symbol_bind(const ElfSymbol *s) { return s->info >> 4; }
static inline unsigned symbol_type(const ElfSymbol *s) { return s->info & 15; }

typedef struct ElfReloc {
    uint64_t offset;
    uint32_t type, symbol;
    int64_t addend;
} ElfReloc;

typedef struct Elf {
    const char *file;      // for messages
    const uint8_t *bytes;  // the file as it was read
    size_t size;
    uint16_t type, machine;
    uint32_t flags;
    uint32_t shstrndx, symtab;  // section indices; symtab 0: no symbols
    uint64_t gap;               // bytes before the section headers that their alignment does not require
    VEC(ElfSection) sections;
    VEC(ElfSymbol) symbols;
} Elf;

// True for a section without bytes in the file.
bool section_has_no_bits(const ElfSection *s);

// Returns the alignment of an offset in a section, at most that of the section.
static inline uint64_t alignment_at(const ElfSection *s, uint64_t offset)
{
    uint64_t low = offset & -offset, align = offset && low < s->align ? low : s->align;
    return align ? align : 1;
}

// Reads the sections of a file; false after an error message. They point into `bytes`; arrays lie in the arena.
bool elf_read(Elf *elf, const char *file, const uint8_t *bytes, size_t size, Arena *arena, Diag *diag);
// Reads the symbols, and checks relocations and what sections say of others; false after an error message. Symbol 0 is
// empty, whatever the file has there.
bool elf_read_symbols(Elf *elf, Arena *arena, Diag *diag);
// Reports damage to a file. Returns false.
bool elf_damaged(const Elf *elf, Diag *diag, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static inline uint32_t reloc_count(const ElfSection *s)
{
    return (uint32_t)(s->size / (s->type == SHT_RELA ? ELF_RELA : ELF_REL));
}
// Returns a relocation of a section of type SHT_REL or SHT_RELA; the addend of the former is 0.
ElfReloc reloc_at(const ElfSection *s, uint32_t k);
// True if the sections have the order of their indices and do not overlap, and the section headers are last, as
// elf_write() lays them out. Else `why` has the reason.
bool elf_layout(Elf *elf, const char **why);
// Appends the file to a text, and sets the offsets of its sections. The symbol table is made from elf->symbols;
// its section must have the size for them. Requires elf_layout().
void elf_write(Elf *elf, TextBuffer *text);
static inline void text_put(TextBuffer *text, const void *bytes, size_t n)
{
    if (n)
        out_to_text(text, bytes, n);
}

#endif
