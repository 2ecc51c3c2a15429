// SPDX-License-Identifier: MIT
// synthetic FILE.cubin FILE.o [DESCRIPTION]: writes a small object alone, and in the fat binary of a host object. The
// default is the documented example of dead code elimination. nvcc makes no such sections of constants.
//
// A description has lines of the following forms. Functions have the symbols 1, 2, ..., and other sections those from
// 12 on. A name means the last function or section before the line that has it.
//
//   kernel NAME            a function of a kind, and its code .text.NAME; st_other of a kernel is 0x10
//   function NAME, static NAME, undefined NAME
//   reserved NAME          a function in a section of a reserved index
//   other NUMBER           st_other of the function before the line
//   section NAME TYPE OF   a section of a function, or of another section; `-`: of none
//   refers SECTION NAME    a relocation; `-`: of symbol 0
//   registers SECTION NAME a record of .nv.info
//   call A B, address A B, signature A
//                          a record of .nv.callgraph
//   host SET NAME          a name in .nvHRSET; the host object has all six sections, or none
//   beyond NAME TYPE       a last section, 4 bytes below the end of the address space
//   inside OFFSET          place of .nvHRKI, which is in the fat binary of the host object then
//   locals NUMBER          sh_info of .symtab
//   junk SECTION           symbol 0 is a function in a section, without a name
//   abi NUMBER             version of the ABI in the ELF header
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bytes {
    uint8_t at[1 << 16];
    size_t n;
} Bytes;

typedef struct Section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint32_t link, info, align, entsize;
    Bytes *data;
    uint64_t offset;  // 0: the next one that is free
} Section;

static void put(Bytes *b, uint64_t x, int size)
{
    for (int k = 0; k < size; k++)
        b->at[b->n++] = (uint8_t)(x >> 8 * k);
}

static void put_text(Bytes *b, const char *text)
{
    memcpy(b->at + b->n, text, strlen(text) + 1), b->n += strlen(text) + 1;
}

static void put_bytes(Bytes *b, const Bytes *from)
{
    memcpy(b->at + b->n, from->at, from->n);
    b->n += from->n;
}

static Bytes *new_bytes(void) { return calloc(1, sizeof(Bytes)); }

static void put_symbol(Bytes *b, uint32_t name, uint32_t info, uint32_t other, uint32_t section, uint64_t size)
{
    put(b, name, 4);
    put(b, info, 1);
    put(b, other, 1);
    put(b, section, 2);
    put(b, 0, 8);
    put(b, size, 8);
}

// Writes an ELF file. Section `names` receives the names of sections.
static void put_elf(Bytes *out, Section *s, int n, int names, int type, int machine, uint32_t flags, int osabi, int abi)
{
    uint32_t name[32] = {0};
    uint64_t offset[32] = {0};
    put(s[names].data, 0, 1);
    for (int k = 1; k < n; k++) {
        name[k] = (uint32_t)s[names].data->n;
        put_text(s[names].data, s[k].name);
    }
    out->n = 64;
    for (int k = 1; k < n; k++) {
        while (out->n % s[k].align)
            put(out, 0, 1);
        offset[k] = s[k].offset ? s[k].offset : out->n;
        memcpy(out->at + out->n, s[k].data->at, s[k].data->n);
        out->n += s[k].data->n;
    }
    while (out->n % 8)
        put(out, 0, 1);
    Bytes header = {.n = 0};
    memcpy(header.at, "\177ELF\2\1\1", 7);
    header.at[7] = (uint8_t)osabi;
    header.at[8] = (uint8_t)abi;
    header.n = 16;
    put(&header, (uint64_t)type, 2);
    put(&header, (uint64_t)machine, 2);
    put(&header, 1, 4);
    put(&header, 0, 8);
    put(&header, 0, 8);
    put(&header, out->n, 8);
    put(&header, flags, 4);
    put(&header, 64, 2);
    put(&header, 0, 4);
    put(&header, 64, 2);
    put(&header, (uint64_t)n, 2);
    put(&header, (uint64_t)names, 2);
    memcpy(out->at, header.at, 64);
    for (int k = 0; k < n; k++) {
        put(out, name[k], 4);
        put(out, s[k].type, 4);
        put(out, s[k].flags, 8);
        put(out, 0, 8);
        put(out, offset[k], 8);
        put(out, k ? s[k].data->n : 0, 8);
        put(out, s[k].link, 4);
        put(out, s[k].info, 4);
        put(out, s[k].align, 8);
        put(out, s[k].entsize, 8);
    }
}

/* -- Objects --------------------------------------------------------------------------------------------- */

enum { GROUPS = 4, SETS = 6, FIRST_SECTION_SYMBOL = 12, MAX_SECTIONS = 28, TABLES = 5 };
enum { LOCAL = 0x02, GLOBAL = 0x12, KERNEL = 0x10 };

typedef struct Function {
    const char *name;
    uint32_t info, other, section;
} Function;

typedef struct Object {
    Function functions[FIRST_SECTION_SYMBOL];  // by symbol
    Section sections[MAX_SECTIONS];
    uint32_t nfunctions, nsections;  // with symbol 0 and section 0
    Bytes *records[GROUPS];          // of .nv.callgraph
    Bytes *host[SETS];
    int has_host;
    Section beyond;  // with the name NULL if there is none
    uint32_t locals, junk, abi, inside;
} Object;

static const char *const host_sections[SETS] = {".nvHRKI", ".nvHRKE", ".nvHRDI", ".nvHRDE", ".nvHRCI", ".nvHRCE"};

static uint32_t number(const char *text) { return (uint32_t)strtoul(text, NULL, 0); }

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static const char *join(const char *a, const char *b)
{
    char *text = malloc(strlen(a) + strlen(b) + 1);
    return strcat(strcpy(text, a), b);
}

static uint32_t function_named(const Object *o, const char *name)
{
    uint32_t k = o->nfunctions - 1;
    while (k && !is(o->functions[k].name, name))
        k--;
    return k;
}

static uint32_t section_named(const Object *o, const char *name)
{
    uint32_t k = o->nsections - 1;
    while (k && !is(o->sections[k].name, name))
        k--;
    return k;
}

static void add_function(Object *o, const char *name, uint32_t info, uint32_t other, uint32_t section)
{
    o->functions[o->nfunctions++] = (Function){join(name, ""), info, other, section};
}

static void add_code(Object *o, const char *name, uint32_t info, uint32_t other)
{
    Section code = {join(".text.", name), 1, 6, 0, o->nfunctions, 128, 0, new_bytes()};
    code.data->n = 128;
    add_function(o, name, info, other, o->nsections);
    o->sections[o->nsections++] = code;
}

// Adds a section with the flags and the entry size of its type. Data has eight bytes.
static void add_section(Object *o, const char *name, uint32_t type, const char *of)
{
    enum { RELA = 4, NOBITS = 8, REL = 9, INFO = 0x70000000, SHARED = 0x7000000a };
    uint32_t function = function_named(o, of), entry = type == REL ? 16 : type == RELA ? 24 : 0;
    uint32_t target = function ? o->functions[function].section : section_named(o, of);
    int data = !entry && type != INFO, loaded = data && strncmp(name, ".debug_", 7) != 0;
    Section s = {join(name, ""), type, (loaded ? 2 : 0) | (target ? 0x40 : 0), 0, target, 8, entry, new_bytes()};
    if (data && type != NOBITS && type != SHARED)
        put(s.data, 0x400921fb54442d18, 8);
    o->sections[o->nsections++] = s;
}

static void add_reloc(Object *o, const char *section, const char *function)
{
    const Section *s = &o->sections[section_named(o, section)];
    put(s->data, 0, 8);
    put(s->data, 1, 4);
    put(s->data, function_named(o, function), 4);
    put(s->data, 0, (int)s->entsize - 16);
}

// Adds a record with the registers of a function.
static void add_registers(Object *o, const char *section, const char *function)
{
    const Section *s = &o->sections[section_named(o, section)];
    put(s->data, 0x00082f04, 4);
    put(s->data, function_named(o, function), 4);
    put(s->data, 24, 4);
}

static void add_record(Object *o, int group, const char *a, const char *b)
{
    put(o->records[group - 1], function_named(o, a), 4);
    put(o->records[group - 1], function_named(o, b), 4);
}

static void add_host_name(Object *o, const char *set, const char *name)
{
    for (int k = 0; k < SETS; k++)
        if (is(host_sections[k] + strlen(".nvHR"), set))
            put_text(o->host[k], name);
    o->has_host = 1;
}

// False if the form is unknown, or if there is no place.
static int add_line(Object *o, const char *form, const char *a, const char *b, const char *c)
{
    if (o->nfunctions == FIRST_SECTION_SYMBOL || o->nsections == MAX_SECTIONS - TABLES)
        return 0;
    if (is(form, "kernel"))
        add_code(o, a, GLOBAL, KERNEL);
    else if (is(form, "function"))
        add_code(o, a, GLOBAL, 0);
    else if (is(form, "static"))
        add_code(o, a, LOCAL, 0);
    else if (is(form, "undefined"))
        add_function(o, a, GLOBAL, 0, 0);
    else if (is(form, "reserved"))
        add_function(o, a, GLOBAL, 0, 0xfff1);
    else if (is(form, "other"))
        o->functions[o->nfunctions - 1].other = number(a);
    else if (is(form, "section"))
        add_section(o, a, number(b), c);
    else if (is(form, "refers"))
        add_reloc(o, a, b);
    else if (is(form, "registers"))
        add_registers(o, a, b);
    else if (is(form, "call"))
        add_record(o, 1, a, b);
    else if (is(form, "signature"))
        add_record(o, 2, a, "");
    else if (is(form, "address"))
        add_record(o, 4, a, b);
    else if (is(form, "host"))
        add_host_name(o, a, b);
    else if (is(form, "beyond"))
        o->beyond = (Section){join(a, ""), number(b), 3, 0, 0, 8, 0, new_bytes(), -(uint64_t)4};
    else if (is(form, "inside"))
        o->inside = number(a);
    else if (is(form, "locals"))
        o->locals = number(a);
    else if (is(form, "junk"))
        o->junk = number(a);
    else if (is(form, "abi"))
        o->abi = number(a);
    else
        return 0;
    return 1;
}

// Reads a description; false after a message.
static int read_description(Object *o, const char *text)
{
    *o = (Object){.functions = {{.name = ""}}, .nfunctions = 1, .nsections = 1, .locals = 1, .abi = 8};
    o->sections[0].name = "";
    for (int k = 0; k < GROUPS; k++)
        o->records[k] = new_bytes();
    for (int k = 0; k < SETS; k++)
        o->host[k] = new_bytes();
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        char form[80] = "", a[80] = "", b[80] = "", c[80] = "", line[400];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        if (sscanf(line, "%79s %79s %79s %79s", form, a, b, c) > 0 && !add_line(o, form, a, b, c)) {
            fprintf(stderr, "synthetic: bad line '%s'\n", line);
            return 0;
        }
    }
    return 1;
}

/* -- Files ----------------------------------------------------------------------------------------------- */

static void put_symbols(const Object *o, Bytes *symbols, Bytes *strings)
{
    put(strings, 0, 1);
    if (o->junk)
        put_symbol(symbols, UINT32_MAX, GLOBAL, 0xff, o->junk, 999);
    else
        put_symbol(symbols, 0, 0, 0, 0, 0);
    for (uint32_t k = 1; k < FIRST_SECTION_SYMBOL; k++) {
        const Function *f = &o->functions[k];
        put_symbol(symbols, f->name ? (uint32_t)strings->n : 0, f->info, f->other, f->section, f->section ? 128 : 0);
        if (f->name)
            put_text(strings, f->name);
    }
    for (uint32_t k = 1; k < o->nsections; k++)
        if (strncmp(o->sections[k].name, ".text.", 6) != 0)
            put_symbol(symbols, 0, 3, 0, k, 0);
}

static void put_cubin(Bytes *out, Object *o)
{
    uint32_t n = o->nsections, strings = n, names = n + 1, symbols = n + 2, calls = n + 3;
    Section *s = o->sections;
    s[strings] = (Section){".strtab", 3, 0, 0, 0, 1, 0, new_bytes()};
    s[names] = (Section){".shstrtab", 3, 0, 0, 0, 1, 0, new_bytes()};
    s[symbols] = (Section){".symtab", 2, 0, strings, o->locals, 8, 24, new_bytes()};
    s[calls] = (Section){".nv.callgraph", 0x70000001, 0, symbols, 0, 4, 8, new_bytes()};
    put_symbols(o, s[symbols].data, s[strings].data);
    for (uint32_t k = 1; k < n; k++)
        s[k].link = symbols;
    for (uint32_t k = 0; k < GROUPS; k++) {
        put(s[calls].data, 0, 4);
        put(s[calls].data, -(uint64_t)(k + 1), 4);
        put_bytes(s[calls].data, o->records[k]);
    }
    if (o->beyond.name)
        s[calls + 1] = o->beyond;
    put_elf(out, s, (int)calls + (o->beyond.name ? 2 : 1), (int)names, 1, 190, 0x6005004, 0x41, (int)o->abi);
}

static void put_host(Bytes *out, const Object *o, const Bytes *cubin)
{
    Section s[3 + SETS] = {
        {.name = "", .align = 0},
        {".shstrtab", 3, 0, 0, 0, 1, 0, new_bytes()},
        {"__nv_relfatbin", 1, 2, 0, 0, 8, 0, new_bytes()},
    };
    Bytes *fat = s[2].data;
    put(fat, 0xba55ed50, 4);
    put(fat, 1, 2);
    put(fat, 16, 2);
    put(fat, 0x40 + cubin->n, 8);
    put(fat, 2, 2);
    put(fat, 0x101, 2);
    put(fat, 0x40, 4);
    put(fat, cubin->n, 8);
    put(fat, 0, 8);
    put(fat, 0x10008, 4);
    put(fat, 80, 4);
    put(fat, 0, 8);
    put(fat, 0x11, 8);
    put(fat, 0, 8);
    put(fat, 0, 8);
    put_bytes(fat, cubin);
    for (int k = 0; k < SETS; k++) {
        s[3 + k] = (Section){host_sections[k], 1, 2, 0, 0, 1, 0, o->host[k], k ? 0 : o->inside};
        if (!o->host[k]->n)
            put(o->host[k], 0, 1);
    }
    put_elf(out, s, o->has_host ? 3 + SETS : 3, 1, 1, 62, 0, 0, 0);
}

static int save(const Bytes *b, const char *path)
{
    FILE *f = fopen(path, "wb");
    return f && fwrite(b->at, 1, b->n, f) == b->n && fclose(f) == 0 ? 0 : 1;
}

static const char example[] = "kernel main_kernel\n"
                              "section .nv.info.main_kernel 0x70000000 main_kernel\n"
                              "section .rela.text.main_kernel 9 main_kernel\n"
                              "section .nv.note.main_kernel 4 main_kernel\n"
                              "function helper_a\n"
                              "section .rela.text.helper_a 9 helper_a\n"
                              "function helper_b\n"
                              "function dead_fn\n"
                              "section .rela.text.dead_fn 9 dead_fn\n"
                              "section .nv.info.dead_fn 0x70000000 dead_fn\n"
                              "section .nv.constant.dead_fn 1 dead_fn\n"
                              "call main_kernel helper_a\n"
                              "call helper_a helper_b\n"
                              "host KE main_kernel\n";

int main(int argc, char **argv)
{
    Bytes *cubin = new_bytes(), *host = new_bytes();
    static Object object;
    if (argc < 3 || !read_description(&object, argc > 3 ? argv[3] : example))
        return 1;
    put_cubin(cubin, &object);
    put_host(host, &object, cubin);
    return save(cubin, argv[1]) || save(host, argv[2]);
}
