// SPDX-License-Identifier: MIT
// Reads relocatable cubins, and checks the records in their sections.
#include "tools/orilink/cubin.h"

enum { SM_MERCURY = 100 };  // from there on, cubins have a second view that cannot be rewritten
enum { OTHER_COMPILER = 1, OTHER_PINNED = 4, OTHER_KERNEL = 0x10, OTHER_SHARED = 0x40, INFO_SIZED = 4 };

typedef struct CubinReader {
    Cubin *c;
    Arena *arena;
    Diag *diag;
} CubinReader;

/* -- Symbols --------------------------------------------------------------------------------------------- */

bool symbol_is_kernel(const ElfSymbol *s) { return symbol_type(s) == STT_FUNC && s->other & OTHER_KERNEL; }

bool symbol_is_pinned(const ElfSymbol *s)
{
    static const char syscall[] = "__cuda_syscall_", stub[] = "__cuda_uf_stub_";
    return symbol_type(s) == STT_FUNC &&
           (s->other & OTHER_PINNED || strncmp(s->text, syscall, sizeof syscall - 1) == 0 ||
            strncmp(s->text, stub, sizeof stub - 1) == 0);
}

bool symbol_is_variable(const Cubin *c, const ElfSymbol *s)
{
    bool data = symbol_type(s) == STT_CUDA_OBJECT || symbol_type(s) == STT_OBJECT;
    bool here = s->section && s->section < c->elf.sections.n;
    bool other = here && (c->owner[s->section] || section_is_debug(cubin_section(c, s->section)));
    return data && !(s->other & (OTHER_COMPILER | OTHER_SHARED)) && !other;
}

/* -- Sections -------------------------------------------------------------------------------------------- */

static bool is_code(const ElfSection *s)
{
    enum { SHF_EXECINSTR = 4 };
    return s->type == SHT_PROGBITS && s->flags & SHF_EXECINSTR;
}

// True if the indices in a section of this type are known.
static bool is_known(const ElfSection *s)
{
    switch (s->type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_RELA:
    case SHT_REL:
    case SHT_NOTE:
    case SHT_NV_INFO:
    case SHT_NV_CALLGRAPH:
    case SHT_NV_PROTOTYPE:
    case SHT_NV_GLOBAL:
    case SHT_NV_GLOBAL_INIT:
    case SHT_NV_SHARED:
    case SHT_NV_COMPAT: return true;
    case SHT_PROGBITS: return s->flags & SHF_INFO_LINK || is_code(s) || section_is_debug(s);
    case SHT_NOBITS: return strncmp(s->text, ".nv.local.", 10) == 0 || strncmp(s->text, ".nv.shared.", 11) == 0;
    default: return s->type >= SHT_NV_CONSTANT0 && s->type <= SHT_NV_CONSTANT_LAST;
    }
}

// Finds the function of a section of code, whose symbol is in the low 24 bits of sh_info.
static bool find_function(CubinReader *r, uint32_t k)
{
    Cubin *c = r->c;
    const ElfSection *s = cubin_section(c, k);
    uint32_t symbol = s->info & 0xffffff;
    if (symbol >= c->elf.symbols.n || cubin_symbol(c, symbol)->section != k ||
        symbol_type(cubin_symbol(c, symbol)) != STT_FUNC)
        return elf_damaged(&r->c->elf, r->diag, "section %u (%s) has no function: symbol %u is none of it", k, s->text,
                           symbol);
    c->function[k] = symbol;
    c->owner[k] = k;
    return true;
}

// Checks that functions that are defined have sections.
static bool check_functions(CubinReader *r)
{
    const Elf *elf = &r->c->elf;
    for (uint32_t k = 1; k < elf->symbols.n; k++) {
        const ElfSymbol *s = &elf->symbols.at[k];
        if (symbol_type(s) == STT_FUNC && s->section >= SHN_RESERVED)
            return elf_damaged(elf, r->diag, "function %u (%s) is in no section", k, s->text);
    }
    return true;
}

// Finds the code to which a section belongs, also by way of a section: relocations of constants.
static bool find_owner(CubinReader *r, uint32_t k)
{
    Cubin *c = r->c;
    uint32_t at = k;
    for (int depth = 0; depth < 3 && !c->owner[k]; depth++) {
        const ElfSection *s = cubin_section(c, at);
        if (!(s->flags & SHF_INFO_LINK) || s->type == SHT_NOTE || s->type == SHT_NULL)
            break;
        at = s->info;
        c->owner[k] = is_code(cubin_section(c, at)) ? at : 0;
        if (at == k)
            return elf_damaged(&r->c->elf, r->diag, "section %u (%s) belongs to itself", k, s->text);
    }
    return true;
}

static void find_single(Cubin *c, uint32_t k)
{
    const ElfSection *s = cubin_section(c, k);
    uint32_t *place = s->type == SHT_NV_CALLGRAPH                                       ? &c->callgraph
                      : s->type == SHT_NV_PROTOTYPE                                     ? &c->prototype
                      : s->type == SHT_NV_INFO && !(s->flags & SHF_INFO_LINK)           ? &c->info
                      : s->type == SHT_PROGBITS && strcmp(s->text, ".debug_frame") == 0 ? &c->frame
                                                                                        : NULL;
    if (place && *place)
        c->fixed = "it has two sections of a kind";
    if (place)
        *place = k;
}

/* -- Records --------------------------------------------------------------------------------------------- */

static bool read_calls(CubinReader *r)
{
    Cubin *c = r->c;
    const ElfSection *s = cubin_section(c, c->callgraph);
    int32_t group = 0;
    for (uint64_t at = 0; c->callgraph && at < s->size; at += 8) {
        CallRecord call = {.a = load32(s->data + at), .b = load32(s->data + at + 4)};
        if (call_is_marker(call.a, call.b)) {
            group = (int32_t)call.b;
            if (group < TAKES_ADDRESS)
                c->fixed = "its .nv.callgraph has an unknown group of records";
            continue;
        }
        call.group = group;
        if (call.a >= c->elf.symbols.n || (call_names_function(group) && call.b >= c->elf.symbols.n))
            return elf_damaged(&r->c->elf, r->diag, "record %llu of %s names symbol %u, %u of %u",
                               (unsigned long long)at / 8, s->text, call.a, call.b, c->elf.symbols.n);
        VEC_PUSH(r->arena, &c->calls, call);
    }
    return true;
}

static bool check_prototypes(const CubinReader *r)
{
    const Cubin *c = r->c;
    const ElfSection *s = cubin_section(c, c->prototype);
    for (uint64_t at = 0; c->prototype && at < s->size; at += 8)
        if (load32(s->data + at) >= c->elf.symbols.n)
            return elf_damaged(&r->c->elf, r->diag, "record %llu of %s names symbol %u of %u",
                               (unsigned long long)at / 8, s->text, load32(s->data + at), c->elf.symbols.n);
    return true;
}

InfoSymbols info_symbols(const InfoRecord *record)
{
    static const uint8_t symbols[256] = {
#define RECORD(attribute, name, symbols) [attribute] = INFO_##symbols,
#include "tools/orilink/records.def"
    };
    return record->format == INFO_SIZED ? (InfoSymbols)symbols[record->attribute] : INFO_NO_SYMBOL;
}

bool info_next(const ElfSection *s, uint64_t *at, InfoRecord *record)
{
    if (s->size - *at < 4)
        return false;
    const uint8_t *p = s->data + *at;
    uint32_t size = p[0] == INFO_SIZED ? load16(p + 2) : 0;
    if (s->size - *at - 4 < size)
        return false;
    *record = (InfoRecord){p, size + 4, p[0], p[1], p + 4, size};
    *at += record->size;
    return true;
}

static bool check_info(CubinReader *r, uint32_t k)
{
    Cubin *c = r->c;
    const ElfSection *s = cubin_section(c, k);
    uint64_t at = 0;
    for (InfoRecord record; info_next(s, &at, &record);) {
        InfoSymbols symbols = info_symbols(&record);
        if (symbols == INFO_UNKNOWN && !c->fixed) {
            static const char text[] = "it has .nv.info records of the unknown kind 0x%02x, which may name symbols";
            char *why = arena_alloc(r->arena, sizeof text);
            sprintf(why, text, record.attribute);
            c->fixed = why;
        }
        uint32_t n = symbols == INFO_ALL_SYMBOLS ? record.payload_size / 4 : symbols == INFO_FIRST_SYMBOL;
        if (n * 4 > record.payload_size)
            return elf_damaged(&r->c->elf, r->diag, "a record of section %u (%s) is too short", k, s->text);
        for (uint32_t i = 0; i < n; i++)
            if (load32(record.payload + 4 * i) >= c->elf.symbols.n)
                return elf_damaged(&r->c->elf, r->diag, "a record of section %u (%s) names symbol %u of %u", k, s->text,
                                   load32(record.payload + 4 * i), c->elf.symbols.n);
    }
    return at == s->size ||
           elf_damaged(&r->c->elf, r->diag, "the last record of section %u (%s) has not all its bytes", k, s->text);
}

// A file with a variable that is not all in its section stays as it is.
static void check_variables(Cubin *c)
{
    for (uint32_t k = 1; k < c->elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(c, k);
        if (s->section == SHN_UNDEF || s->section >= c->elf.sections.n || !symbol_is_variable(c, s))
            continue;
        uint64_t size = cubin_section(c, s->section)->size;
        if (s->value > size || s->size > size - s->value)
            c->fixed = c->fixed ? c->fixed : "it has a variable outside of its section";
    }
}

/* -- Relocatable links ----------------------------------------------------------------------------------- */

// Returns the name of the program that wrote a file, from its note; NULL: it has none.
static const char *writer(const Cubin *c)
{
    enum { NAME_SIZE = 12, HEADER = 12 + NAME_SIZE, AT_NAME = 8, STRINGS = 24 };
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if (s->type != SHT_NOTE || strcmp(s->text, ".note.nv.tkinfo") != 0 || s->size < HEADER + STRINGS)
            continue;
        uint64_t at = HEADER + STRINGS + (uint64_t)load32(s->data + HEADER + AT_NAME);
        if (load32(s->data) == NAME_SIZE && at < s->size && memchr(s->data + at, 0, s->size - at))
            return (const char *)s->data + at;
    }
    return NULL;
}

// A file that nvlink -r wrote stays as it is if code reads constants: their places are fixed in it, without
// relocations.
static void check_constants(Cubin *c)
{
    const char *program = writer(c);
    if (c->fixed || !program || strcmp(program, "nvlink") != 0)
        return;
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        uint32_t type = cubin_section(c, k)->type, code = c->owner[k];
        if (type == SHT_NV_CONSTANT0 + 3)
            c->fixed = "nvlink -r wrote it, and its code has fixed places of constants";
        if (type == SHT_NV_CONSTANT0 + 2 && code && !symbol_is_kernel(cubin_symbol(c, c->function[code]))) {
            c->fixed = "nvlink -r wrote it, and fixed places of constants of device functions, which differ in the "
                       "linked file; link the original objects instead";
            return;
        }
    }
}

/* -- The file -------------------------------------------------------------------------------------------- */

bool sm_is_linked(uint32_t sm, uint32_t target)
{
    return sm == target || (sm < target && (sm == 80 || sm == 86) && (target == 86 || target == 89));
}

bool cubin_is_known(const uint8_t *bytes, size_t size)
{
    enum { OSABI_CUDA = 0x41, ABI_VERSION = 8 };
    return size > 8 && bytes[7] == OSABI_CUDA && bytes[8] == ABI_VERSION;
}

bool cubin_read(Cubin *c, const char *file, const uint8_t *bytes, size_t size, Arena *arena, Diag *diag)
{
    CubinReader r = {.c = c, .arena = arena, .diag = diag};
    *c = (Cubin){0};
    Elf *elf = &c->elf;
    if (!elf_read(elf, file, bytes, size, arena, diag))
        return false;
    if (elf->machine != EM_CUDA || elf->type != ET_REL) {
        diag_plain(diag, DIAG_ERROR, "'%s' is no relocatable cubin; nvcc makes them with -rdc=true", file);
        return false;
    }
    if (elf->sections.n >= SHN_RESERVED) {
        diag_plain(diag, DIAG_ERROR, "'%s' has %u sections; at most %u are supported", file, elf->sections.n,
                   SHN_RESERVED - 1);
        return false;
    }
    if (!elf_read_symbols(elf, arena, diag) || !check_functions(&r))
        return false;
    c->sm = elf->flags >> 8 & 0xff;
    c->owner = NEW_ARRAY(arena, uint32_t, elf->sections.n);
    c->function = NEW_ARRAY(arena, uint32_t, elf->sections.n);
    c->symbol = NEW_ARRAY(arena, uint32_t, elf->sections.n);
    c->owned = NEW_ARRAY(arena, uint32_t, elf->sections.n);
    c->next = NEW_ARRAY(arena, uint32_t, elf->sections.n);
    if (c->sm >= SM_MERCURY)
        c->fixed = "cubins for sm_100 and later have a second view of their code that cannot be rewritten";
    else
        elf_layout(elf, &c->fixed);
    for (uint32_t k = 1; k < elf->sections.n; k++) {
        find_single(c, k);
        if (is_code(cubin_section(c, k)) && !find_function(&r, k))
            return false;
        if (!is_known(cubin_section(c, k)) && !c->fixed)
            c->fixed = "it has a section of an unknown type, which may name what would be removed";
    }
    for (uint32_t k = 1; k < elf->sections.n; k++)
        if (!find_owner(&r, k) || (cubin_section(c, k)->type == SHT_NV_INFO && !check_info(&r, k)))
            return false;
    for (uint32_t k = elf->sections.n; k-- > 1;) {
        uint32_t code = c->owner[k];
        if (code && code != k) {
            c->next[k] = c->owned[code];
            c->owned[code] = k;
        }
    }
    for (uint32_t k = elf->symbols.n; k-- > 1;)
        if (symbol_type(cubin_symbol(c, k)) == STT_SECTION && cubin_symbol(c, k)->section < elf->sections.n)
            c->symbol[cubin_symbol(c, k)->section] = k;
    check_variables(c);
    check_constants(c);
    frames_read(c, arena);
    return read_calls(&r) && check_prototypes(&r);
}
