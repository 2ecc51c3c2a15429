/* SPDX-License-Identifier: MIT */
/*
 * Counts SASS instructions, registers and bytes of stack of every function of a cubin, without a disassembler.
 *
 *   sasscount FILE.cubin...            prints a line "name insts regs frame" for each .text section
 *   sasscount --digest FILE.cubin...   prints a line "name digest" with the 64-bit FNV-1a of its bytes instead
 *
 * A cubin is an ELF64 file; each section .text.NAME holds one function (and, in whole-program mode, the device
 * functions that were placed after an entry). Since sm_70 an instruction has 16 bytes, and the opcode is in the low
 * 12 bits. ptxas ends each section with a branch to itself and NOPs up to a 128 byte boundary; neither is counted.
 * Registers come from .nv.info (EIATTR_REGCOUNT, by symbol), else from the top byte of the section's sh_info. The frame
 * is EIATTR_FRAME_SIZE: variables of the function in .local and spills, in bytes.
 *
 * Every offset that the file states is checked against the file's size: a malformed file gets a message and exit 1.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EHDR_SIZE = 64,
    SHDR_SIZE = 64,
    SYM_SIZE = 24,
    INSN_SIZE = 16,
    SHT_SYMTAB = 2,
    SHT_NOBITS = 8,
    OP_NOP = 0x918,
    OP_BRA = 0x947,
    INFO_FORMAT_SIZED = 4,
    INFO_FRAME_SIZE = 0x11,
    INFO_REGCOUNT = 0x2f
};

/* The file in memory. */
typedef struct {
    const uint8_t *data;
    uint64_t size;
} File;

/* A view of a section: name (NUL-terminated inside the file), type, bytes (NULL if not in the file), and the two link
 * words. */
typedef struct {
    const char *name;
    uint32_t type, link, info;
    const uint8_t *data;
    uint64_t size;
} Section;

typedef struct {
    Section *section;
    uint32_t n, symtab; /* symtab: index of the symbol table, n if there is none */
} Elf;

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const uint8_t *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

/* True if [off, off+len) lies in the file. */
static bool inside(const File *f, uint64_t off, uint64_t len) { return off <= f->size && len <= f->size - off; }

/* Returns the string at offset `off` of a string table, or NULL if it is not terminated inside the table. */
static const char *string_at(const uint8_t *table, uint64_t size, uint64_t off)
{
    if (!table || off >= size || !memchr(table + off, 0, size - off))
        return NULL;
    return (const char *)table + off;
}

/* Reads the whole file; the caller frees f->data. Returns an error text or NULL. */
static const char *read_file(const char *path, File *f)
{
    FILE *in = fopen(path, "rb");
    uint8_t *buf = NULL;
    size_t size = 0, cap = 0, got;

    if (!in)
        return "cannot open";
    do {
        if (size == cap) {
            uint8_t *more = realloc(buf, cap = cap ? cap * 2 : 1 << 16);
            if (!more) {
                free(buf);
                fclose(in);
                return "out of memory";
            }
            buf = more;
        }
        got = fread(buf + size, 1, cap - size, in);
        size += got;
    } while (got);
    bool bad = ferror(in);
    fclose(in);
    f->data = buf;
    f->size = size;
    return bad ? "cannot read" : NULL;
}

/* Fills elf->section from the section headers. Returns an error text or NULL. */
static const char *read_sections(const File *f, Elf *elf)
{
    if (f->size < EHDR_SIZE || memcmp(f->data, "\177ELF", 4))
        return "not an ELF file";
    if (f->data[4] != 2 || f->data[5] != 1)
        return "not a little-endian ELF64 file";
    uint64_t shoff = get64(f->data + 40);
    uint32_t entsize = get16(f->data + 58), n = get16(f->data + 60), strndx = get16(f->data + 62);
    if (n && entsize < SHDR_SIZE)
        return "section headers too small";
    if (!inside(f, shoff, (uint64_t)n * entsize))
        return "section headers outside the file";
    if (n && strndx >= n)
        return "no section names";
    elf->section = calloc(n ? n : 1, sizeof *elf->section);
    if (!elf->section)
        return "out of memory";
    elf->n = elf->symtab = n;
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *h = f->data + shoff + (uint64_t)k * entsize;
        Section *s = &elf->section[k];
        uint64_t off = get64(h + 24);
        s->type = get32(h + 4);
        s->size = get64(h + 32);
        s->link = get32(h + 40);
        s->info = get32(h + 44);
        if (s->type == SHT_NOBITS || s->type == 0)
            s->size = off = 0;
        if (inside(f, off, s->size))
            s->data =
                f->data +
                off; /* NULL otherwise: sections of shared memory have a size but no bytes, and types of their own */
        if (s->type == SHT_SYMTAB && elf->symtab == n)
            elf->symtab = k;
    }
    for (uint32_t k = 0; k < n; k++) { /* names last: their table must be checked first */
        const uint8_t *h = f->data + shoff + (uint64_t)k * entsize;
        elf->section[k].name = string_at(elf->section[strndx].data, elf->section[strndx].size, get32(h));
        if (!elf->section[k].name)
            return "bad section name";
    }
    return NULL;
}

/* Returns the name of symbol `index`, or NULL. */
static const char *symbol_name(const Elf *elf, uint32_t index)
{
    if (elf->symtab == elf->n)
        return NULL;
    const Section *t = &elf->section[elf->symtab];
    if (!t->data || index >= t->size / SYM_SIZE || t->link >= elf->n)
        return NULL;
    const Section *s = &elf->section[t->link];
    return string_at(s->data, s->size, get32(t->data + (uint64_t)index * SYM_SIZE));
}

/* Returns the last value of an attribute of the function `name` in .nv.info; `otherwise` if there is none. */
static uint32_t info_of(const Elf *elf, uint8_t attribute, const char *name, uint32_t otherwise)
{
    for (uint32_t k = 0; k < elf->n; k++) {
        const Section *s = &elf->section[k];
        if (!s->data || strcmp(s->name, ".nv.info"))
            continue;
        /* attributes: format byte, attribute byte, 16 bits of size (or of value); only the sized form has data */
        for (uint64_t o = 0; s->size >= 4 && o <= s->size - 4;) {
            const uint8_t *p = s->data + o;
            uint32_t size = p[0] == INFO_FORMAT_SIZED ? get16(p + 2) : 0;
            o += 4;
            if (size > s->size - o)
                break;
            if (p[1] == attribute && size == 8) {
                const char *sym = symbol_name(elf, get32(p + 4));
                if (sym && !strcmp(sym, name))
                    otherwise = get32(p + 8);
            }
            o += size;
        }
    }
    return otherwise;
}

static uint32_t opcode(const Section *s, uint64_t k) { return get16(s->data + k * INSN_SIZE) & 0xfff; }

/* Returns the number of instructions without the final NOPs and the branch to itself before them. */
static uint64_t insn_count(const Section *s)
{
    uint64_t k = s->size / INSN_SIZE;
    while (k && opcode(s, k - 1) == OP_NOP)
        k--;
    return k >= 2 && opcode(s, k - 1) == OP_BRA ? k - 1 : k;
}

static uint64_t digest(const Section *s)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint64_t k = 0; k < s->size; k++)
        hash = (hash ^ s->data[k]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Prints the lines of one file; returns false after a message. */
static bool count_file(const char *path, bool digests)
{
    File f = {NULL, 0};
    Elf elf = {NULL, 0, 0};
    const char *error = read_file(path, &f);

    if (!error)
        error = read_sections(&f, &elf);
    for (uint32_t k = 0; !error && k < elf.n; k++) {
        const Section *s = &elf.section[k];
        if (strncmp(s->name, ".text", 5) || (!s->name[5] && !s->size))
            continue; /* relocatable files have an empty .text beside the functions' sections */
        if (!s->data) {
            error = "code outside the file";
            break;
        }
        const char *name = s->name[5] == '.' && s->name[6] ? s->name + 6 : "-";
        if (digests)
            printf("%s %016llx\n", name, (unsigned long long)digest(s));
        else
            printf("%s %llu %lu %lu\n", name, (unsigned long long)insn_count(s),
                   (unsigned long)info_of(&elf, INFO_REGCOUNT, name, s->info >> 24),
                   (unsigned long)info_of(&elf, INFO_FRAME_SIZE, name, 0));
    }
    if (error)
        fprintf(stderr, "sasscount: %s: %s\n", path, error);
    free(elf.section);
    free((void *)f.data);
    return !error;
}

int main(int argc, char **argv)
{
    bool ok = true, digests = argc > 1 && !strcmp(argv[1], "--digest");

    if (argc < 2 + digests) {
        fprintf(stderr, "usage: sasscount [--digest] FILE.cubin...\n");
        return 2;
    }
    for (int k = 1 + digests; k < argc; k++)
        ok &= count_file(argv[k], digests);
    return ok && !fflush(stdout) ? 0 : 1;
}
