// SPDX-License-Identifier: MIT
// Reads and writes ELF files.
#include "tools/orilink/elf.h"

bool section_has_no_bits(const ElfSection *s)
{
    return s->type == SHT_NOBITS || s->type == SHT_NV_GLOBAL || s->type == SHT_NV_SHARED || s->type == SHT_NULL;
}

bool elf_damaged(const Elf *elf, Diag *diag, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    diag_plain(diag, DIAG_ERROR, "'%s' is damaged: %s", elf->file, text);
    return false;
}

/* -- Reading --------------------------------------------------------------------------------------------- */

// True if a part of the file lies within it.
static bool fits(const Elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

static bool read_header(Elf *elf, Diag *diag, uint64_t *shoff, uint64_t *n)
{
    const uint8_t *p = elf->bytes;
    if (elf->size < ELF_EHDR || memcmp(p, "\177ELF", 4) != 0)
        return elf_damaged(elf, diag, "it is no ELF file");
    if (p[4] != 2 || p[5] != 1 || p[6] != 1)
        return elf_damaged(elf, diag, "it is no little-endian ELF file of 64 bits");
    elf->type = load16(p + 16);
    elf->machine = load16(p + 18);
    *shoff = load64(p + 40);
    elf->flags = load32(p + 48);
    *n = load16(p + 60);
    elf->shstrndx = load16(p + 62);
    if (load16(p + 52) != ELF_EHDR || (load16(p + 58) != ELF_SHDR && *shoff))
        return elf_damaged(elf, diag, "its headers have other sizes than those of ELF");
    if (!*shoff || !fits(elf, *shoff, ELF_SHDR))
        return elf_damaged(elf, diag, "its section headers, at 0x%llx, are not in the file",
                           (unsigned long long)*shoff);
    if (!*n)
        *n = load64(p + *shoff + 32);  // more than 0xff00 sections
    if (elf->shstrndx == 0xffff)
        elf->shstrndx = load32(p + *shoff + 40);
    if (*n > elf->size / ELF_SHDR || !fits(elf, *shoff, *n * ELF_SHDR))
        return elf_damaged(elf, diag, "its %llu section headers are not all in the file", (unsigned long long)*n);
    if (elf->shstrndx >= *n)
        return elf_damaged(elf, diag, "it has no section %u with the names of sections", elf->shstrndx);
    return true;
}

// Returns a name in a section of strings, of which the last one must end; NULL if it is not there.
static const char *name_at(const ElfSection *strings, uint32_t offset)
{
    bool ends = strings->type == SHT_STRTAB && strings->size && !strings->data[strings->size - 1];
    return ends && offset < strings->size ? (const char *)strings->data + offset : NULL;
}

// Returns the size of the entries that a section of this type has; 0: the type does not determine it.
static uint64_t entry_size(uint32_t type)
{
    switch (type) {
    case SHT_SYMTAB: return ELF_SYM;
    case SHT_RELA: return ELF_RELA;
    case SHT_REL: return ELF_REL;
    case SHT_NV_CALLGRAPH:
    case SHT_NV_PROTOTYPE: return 8;
    default: return 0;
    }
}

static bool read_section(Elf *elf, uint32_t k, const uint8_t *p, Arena *arena, Diag *diag)
{
    ElfSection s = {.name = load32(p),
                    .type = load32(p + 4),
                    .flags = load64(p + 8),
                    .addr = load64(p + 16),
                    .offset = load64(p + 24),
                    .size = load64(p + 32),
                    .link = load32(p + 40),
                    .info = load32(p + 44),
                    .align = load64(p + 48),
                    .entsize = load64(p + 56),
                    .text = ""};
    uint64_t each = entry_size(s.type);
    if (!k && s.type != SHT_NULL)
        return elf_damaged(elf, diag, "section 0 is not empty");
    if (k && s.type != SHT_NULL) {
        if (s.align & (s.align - 1))
            return elf_damaged(elf, diag, "section %u has the alignment %llu", k, (unsigned long long)s.align);
        if (!fits(elf, s.offset, section_has_no_bits(&s) ? 0 : s.size))
            return elf_damaged(elf, diag, "section %u, 0x%llx bytes at 0x%llx, is not in the file", k,
                               (unsigned long long)s.size, (unsigned long long)s.offset);
        if (section_has_no_bits(&s) && s.size > UINT32_MAX)
            return elf_damaged(elf, diag, "section %u has the size 0x%llx", k, (unsigned long long)s.size);
        if (each && (s.entsize != each || s.size % each))
            return elf_damaged(elf, diag, "section %u has entries of %llu bytes, not %llu, or part of one", k,
                               (unsigned long long)s.entsize, (unsigned long long)each);
        if (!section_has_no_bits(&s))
            s.data = elf->bytes + s.offset;
    }
    VEC_PUSH(arena, &elf->sections, s);
    return true;
}

// Checks what section headers say of other sections.
static bool check_section(const Elf *elf, uint32_t k, Diag *diag)
{
    const ElfSection *s = &elf->sections.at[k];
    bool is_reloc = s->type == SHT_REL || s->type == SHT_RELA;
    if (s->type == SHT_NULL)
        return true;
    if (s->link >= elf->sections.n)
        return elf_damaged(elf, diag, "section %u (%s) links to section %u of %u", k, s->text, s->link,
                           elf->sections.n);
    if ((is_reloc || s->flags & SHF_INFO_LINK) && (s->info >= elf->sections.n || s->info == k))
        return elf_damaged(elf, diag, "section %u (%s) names section %u of %u", k, s->text, s->info, elf->sections.n);
    if (is_reloc && (!elf->symtab || s->link != elf->symtab))
        return elf_damaged(elf, diag, "the relocations of section %u (%s) use section %u as symbol table", k, s->text,
                           s->link);
    return true;
}

static bool read_symbols(Elf *elf, Arena *arena, Diag *diag)
{
    const ElfSection *table = &elf->sections.at[elf->symtab];
    if (!elf->symtab)
        return true;
    if (table->size / ELF_SYM > INT32_MAX)
        return elf_damaged(elf, diag, "it has too many symbols");
    const ElfSection *strings = table->link < elf->sections.n ? &elf->sections.at[table->link] : elf->sections.at;
    VEC_RESERVE(arena, &elf->symbols, (uint32_t)(table->size / ELF_SYM));
    if (table->size)
        VEC_PUSH(arena, &elf->symbols, ((ElfSymbol){.text = ""}));
    for (uint32_t k = 1; k < table->size / ELF_SYM; k++) {
        const uint8_t *p = table->data + (size_t)k * ELF_SYM;
        ElfSymbol s = {.name = load32(p),
                       .info = p[4],
                       .other = p[5],
                       .section = load16(p + 6),
                       .value = load64(p + 8),
                       .size = load64(p + 16)};
        if (!(s.text = name_at(strings, s.name)))
            return elf_damaged(elf, diag, "symbol %u has no name in section %u", k, table->link);
        if (s.section >= elf->sections.n && s.section < SHN_RESERVED)
            return elf_damaged(elf, diag, "symbol %u (%s) is in section %u of %u", k, s.text, s.section,
                               elf->sections.n);
        VEC_PUSH(arena, &elf->symbols, s);
    }
    return true;
}

// Checks the relocations of a section.
static bool check_relocs(const Elf *elf, uint32_t k, Diag *diag)
{
    const ElfSection *s = &elf->sections.at[k];
    if (s->type != SHT_REL && s->type != SHT_RELA)
        return true;
    const ElfSection *target = &elf->sections.at[s->info];
    for (uint32_t n = 0; n < reloc_count(s); n++) {
        ElfReloc reloc = reloc_at(s, n);
        if (reloc.symbol >= elf->symbols.n)
            return elf_damaged(elf, diag, "relocation %u of section %u (%s) names symbol %u of %u", n, k, s->text,
                               reloc.symbol, elf->symbols.n);
        if (reloc.offset >= target->size)
            return elf_damaged(elf, diag,
                               "relocation %u of section %u (%s) is at 0x%llx of section %u, which has 0x%llx bytes", n,
                               k, s->text, (unsigned long long)reloc.offset, s->info, (unsigned long long)target->size);
    }
    return true;
}

ElfReloc reloc_at(const ElfSection *s, uint32_t k)
{
    const uint8_t *p = s->data + (size_t)k * (s->type == SHT_RELA ? ELF_RELA : ELF_REL);
    return (ElfReloc){.offset = load64(p),
                      .type = load32(p + 8),
                      .symbol = load32(p + 12),
                      .addend = s->type == SHT_RELA ? (int64_t)load64(p + 16) : 0};
}

bool elf_read(Elf *elf, const char *file, const uint8_t *bytes, size_t size, Arena *arena, Diag *diag)
{
    uint64_t shoff = 0, n = 0;
    *elf = (Elf){.file = file, .bytes = bytes, .size = size};
    if (!read_header(elf, diag, &shoff, &n))
        return false;
    VEC_RESERVE(arena, &elf->sections, (uint32_t)n);
    for (uint32_t k = 0; k < n; k++)
        if (!read_section(elf, k, bytes + shoff + (size_t)k * ELF_SHDR, arena, diag))
            return false;
    const ElfSection *names = &elf->sections.at[elf->shstrndx];
    for (uint32_t k = 1; k < n; k++) {
        ElfSection *s = &elf->sections.at[k];
        if (s->type != SHT_NULL && !(s->text = name_at(names, s->name)))
            return elf_damaged(elf, diag, "section %u has no name in the table of names", k);
    }
    return true;
}

bool elf_read_symbols(Elf *elf, Arena *arena, Diag *diag)
{
    for (uint32_t k = 1; k < elf->sections.n; k++) {
        if (elf->sections.at[k].type != SHT_SYMTAB)
            continue;
        if (elf->symtab)
            return elf_damaged(elf, diag, "sections %u and %u are both symbol tables", elf->symtab, k);
        elf->symtab = k;
    }
    for (uint32_t k = 1; k < elf->sections.n; k++)
        if (!check_section(elf, k, diag))
            return false;
    if (!read_symbols(elf, arena, diag))
        return false;
    for (uint32_t k = 1; k < elf->sections.n; k++)
        if (!check_relocs(elf, k, diag))
            return false;
    return true;
}

/* -- Layout ---------------------------------------------------------------------------------------------- */

static uint64_t align_up(uint64_t x, uint64_t align) { return align > 1 ? (x + align - 1) & ~(align - 1) : x; }

// Returns the least offset for a section behind `end`.
static uint64_t earliest(const ElfSection *s, uint64_t end) { return align_up(end, s->align); }

bool elf_layout(Elf *elf, const char **why)
{
    uint64_t end = ELF_EHDR;
    for (uint32_t k = 1; k < elf->sections.n; k++) {
        ElfSection *s = &elf->sections.at[k];
        uint64_t least = earliest(s, end);
        if (s->type == SHT_NULL)
            continue;
        if (least < end || s->offset < least)
            return *why = "its sections overlap, or are not in the order of their indices", false;
        s->gap = s->offset - least;
        end = s->offset + (section_has_no_bits(s) ? 0 : s->size);
    }
    uint64_t shoff = load64(elf->bytes + 40);
    if (load16(elf->bytes + 56) || shoff < align_up(end, 8) ||
        shoff + (uint64_t)elf->sections.n * ELF_SHDR != elf->size)
        return *why = "it has segments, or its section headers are not at its end", false;
    elf->gap = shoff - align_up(end, 8);
    return true;
}

/* -- Writing --------------------------------------------------------------------------------------------- */

static void put_zeros(TextBuffer *text, uint64_t n)
{
    static const uint8_t zeros[256];
    for (uint64_t part; n; n -= part)
        text_put(text, zeros, part = MIN(n, sizeof zeros));
}

// Appends zeros up to the gap before an offset, and the gap, which was at another offset. The file has `n` bytes so
// far.
static void put_gap(const Elf *elf, TextBuffer *text, uint64_t n, uint64_t to, uint64_t gap, uint64_t original)
{
    put_zeros(text, to - gap - n);
    if (gap)
        text_put(text, elf->bytes + original - gap, gap);
}

static void put_symbols(const Elf *elf, TextBuffer *text)
{
    for (uint32_t k = 0; k < elf->symbols.n; k++) {
        const ElfSymbol *s = &elf->symbols.at[k];
        uint8_t p[ELF_SYM];
        store32(p, s->name);
        p[4] = s->info;
        p[5] = s->other;
        store16(p + 6, s->section);
        store64(p + 8, s->value);
        store64(p + 16, s->size);
        text_put(text, p, sizeof p);
    }
}

// Writes the header at the start of the file.
static void put_header(const Elf *elf, char *file, uint64_t shoff)
{
    uint8_t p[ELF_EHDR];
    memcpy(p, elf->bytes, sizeof p);
    store64(p + 40, shoff);
    store16(p + 60, (uint16_t)(elf->sections.n < SHN_RESERVED ? elf->sections.n : 0));
    store16(p + 62, (uint16_t)(elf->shstrndx < SHN_RESERVED ? elf->shstrndx : 0xffff));
    memcpy(file, p, sizeof p);
}

static void put_section_header(TextBuffer *text, const ElfSection *s)
{
    uint8_t p[ELF_SHDR];
    store32(p, s->name);
    store32(p + 4, s->type);
    store64(p + 8, s->flags);
    store64(p + 16, s->addr);
    store64(p + 24, s->offset);
    store64(p + 32, s->size);
    store32(p + 40, s->link);
    store32(p + 44, s->info);
    store64(p + 48, s->align);
    store64(p + 56, s->entsize);
    text_put(text, p, sizeof p);
}

// Returns the size of the file that elf_write() makes.
static uint64_t written_size(const Elf *elf)
{
    uint64_t end = ELF_EHDR;
    for (uint32_t k = 1; k < elf->sections.n; k++) {
        const ElfSection *s = &elf->sections.at[k];
        if (s->type != SHT_NULL)
            end = earliest(s, end) + s->gap + (section_has_no_bits(s) ? 0 : s->size);
    }
    return align_up(end, 8) + elf->gap + (uint64_t)elf->sections.n * ELF_SHDR;
}

void elf_write(Elf *elf, TextBuffer *text)
{
    size_t start = text->n;
    if (!text->cap)
        text->at = arena_alloc(text->arena, text->cap = written_size(elf));
    put_zeros(text, ELF_EHDR);
    for (uint32_t k = 1; k < elf->sections.n; k++) {
        ElfSection *s = &elf->sections.at[k];
        if (s->type == SHT_NULL)
            continue;
        uint64_t original = s->offset;
        s->offset = earliest(s, text->n - start) + s->gap;
        put_gap(elf, text, text->n - start, s->offset, s->gap, original);
        if (section_has_no_bits(s))
            continue;
        if (k == elf->symtab)
            put_symbols(elf, text);
        else
            text_put(text, s->data, s->size);
    }
    uint64_t shoff = align_up(text->n - start, 8) + elf->gap;
    put_gap(elf, text, text->n - start, shoff, elf->gap, load64(elf->bytes + 40));
    for (uint32_t k = 0; k < elf->sections.n; k++)
        put_section_header(text, &elf->sections.at[k]);
    put_header(elf, text->at + start, shoff);
}
