// SPDX-License-Identifier: MIT
// Compares two linked files: that of rewritten inputs with that of the originals.
//
// Code is equal but for fields that hold places of constants: nvlink patches them by relocations, which the linked file
// no longer has, so those of the inputs are used. A variable in constant memory may have another place, and a field
// then differs by the same amount. Constants of the compiler are in a bank of each kernel, where each function that the
// kernel reaches has its own; their bytes must be equal in both files. Other relocations stay, and must be equal.
#include "tools/orilink/nvlink.h"

enum { CONSTANT_BANK = 2, DIFFERENCES_MAX = 10 };

// A linked file.
typedef struct Linked {
    Elf elf;
    StrTable names;           // of sections and symbols
    VEC(uint32_t) section;    // by StrId: an index, 0 = none
    VEC(uint32_t) symbol;     // by StrId: an index, 0 = none, or several have the name
    uint32_t *relocs, *rela;  // by section: its relocations; 0 = none
} Linked;

typedef struct Verifier {
    const Link *link;
    Arena arena;
    Linked ours, reference;
    StrTable functions;
    VEC(NodeId) node;  // by StrId of `functions`; 0: several have the name
    bool *visited;     // by NodeId
    uint32_t differences;
} Verifier;

static void differ(Verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void differ(Verifier *v, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (v->differences++ < DIFFERENCES_MAX)
        diag_plain(v->link->diag, DIAG_ERROR, "--verify-link: %s", text);
}

/* -- Linked files ---------------------------------------------------------------------------------------- */

static StrId name_id(Verifier *v, Linked *l, const char *name)
{
    StrId id = str_intern_z(&l->names, name);
    while (l->section.n <= id) {
        VEC_PUSH(&v->arena, &l->section, 0);
        VEC_PUSH(&v->arena, &l->symbol, 0);
    }
    return id;
}

static bool read_linked(Verifier *v, Linked *l, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &v->arena, why)) {
        differ(v, "cannot read '%s': %s", path, why);
        return false;
    }
    if (!elf_read(&l->elf, path, (const uint8_t *)source.text, source.len, &v->arena, v->link->diag) ||
        !elf_read_symbols(&l->elf, &v->arena, v->link->diag))
        return false;
    str_init(&l->names, &v->arena, NULL);
    l->relocs = NEW_ARRAY(&v->arena, uint32_t, l->elf.sections.n);
    l->rela = NEW_ARRAY(&v->arena, uint32_t, l->elf.sections.n);
    for (uint32_t k = 1; k < l->elf.sections.n; k++) {
        const ElfSection *s = &l->elf.sections.at[k];
        StrId id = name_id(v, l, s->text);
        l->section.at[id] = k;
        if (s->type == SHT_REL)
            l->relocs[s->info] = k;
        if (s->type == SHT_RELA)
            l->rela[s->info] = k;
    }
    for (uint32_t k = 1; k < l->elf.symbols.n; k++) {
        StrId id = name_id(v, l, l->elf.symbols.at[k].text);
        l->symbol.at[id] = l->symbol.at[id] ? UINT32_MAX : k;
    }
    return true;
}

// Returns the section `PREFIX.FUNCTION` of a function; NULL: there is none.
static const ElfSection *section_of(Verifier *v, Linked *l, const char *prefix, const char *function)
{
    char *name = arena_alloc(&v->arena, strlen(prefix) + strlen(function) + 2);
    sprintf(name, "%s.%s", prefix, function);
    StrId id = name_id(v, l, name);
    return l->section.at[id] ? &l->elf.sections.at[l->section.at[id]] : NULL;
}

// Returns the symbol of a name; NULL: there is none, or several.
static const ElfSymbol *linked_symbol(Verifier *v, Linked *l, const char *name)
{
    StrId id = name_id(v, l, name);
    uint32_t k = l->symbol.at[id];
    return k && k != UINT32_MAX ? &l->elf.symbols.at[k] : NULL;
}

/* -- Fields of constants --------------------------------------------------------------------------------- */

// A field of an instruction that holds the place of a constant.
typedef struct Field {
    uint64_t at;                // of the instruction
    uint8_t first, bits, unit;  // bits of the instruction; unit: bytes per unit of the field
    bool has_bank;              // the 5 bits behind it hold the bank
} Field;

// Returns the field that a relocation patches; false: it patches none.
static bool field_of(const ElfReloc *reloc, Field *f)
{
    static const struct {
        uint8_t type;
        Field field;
    } fields[] = {{0x40, {0, 40, 14, 4, true}}, {0x42, {0, 38, 16, 1, false}}, {0x3b, {0, 32, 32, 1, false}}};
    for (size_t k = 0; k < ARRAY_LEN(fields); k++)
        if (fields[k].type == reloc->type) {
            *f = fields[k].field;
            f->at = reloc->offset;
            return true;
        }
    return false;
}

static uint64_t field_mask(const Field *f)
{
    return (((uint64_t)1 << (f->bits + (f->has_bank ? 5 : 0))) - 1) << f->first;
}

// Returns the place that a field holds.
static uint64_t field_value(const ElfSection *code, const Field *f)
{
    return (load64(code->data + f->at) >> f->first & (((uint64_t)1 << f->bits) - 1)) * f->unit;
}

// Calls `use` for each relocation of a function's code that patches a field.
typedef void UseField(Verifier *v, const Cubin *c, const ElfReloc *reloc, const Field *f, void *user);

static void each_field(Verifier *v, NodeId n, UseField *use, void *user)
{
    const Node *node = &v->link->nodes.at[n];
    const Cubin *c = &v->link->inputs.at[node->input].cubin;
    uint32_t code = cubin_symbol(c, node->symbol)->section;
    Field f;
    for (uint32_t k = c->owned[code]; k; k = c->next[k]) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type != SHT_REL && s->type != SHT_RELA) || s->info != code)
            continue;
        for (uint32_t r = 0; r < reloc_count(s); r++) {
            ElfReloc reloc = reloc_at(s, r);
            if (field_of(&reloc, &f) && f.at + 8 <= cubin_section(c, code)->size)
                use(v, c, &reloc, &f, user);
        }
    }
}

/* -- Code ------------------------------------------------------------------------------------------------ */

typedef struct Code {
    const char *function;
    const ElfSection *ours, *reference;
    uint8_t *mask;  // 1: bits that may differ
} Code;

// Checks that a field holds the same part of a variable in both files, and then allows it to differ.
static void check_field(Verifier *v, const Cubin *c, const ElfReloc *reloc, const Field *f, void *user)
{
    const Code *code = user;
    const ElfSymbol *s = cubin_symbol(c, reloc->symbol);
    bool compiler = s->section && c->owner[s->section];
    const ElfSymbol *a = linked_symbol(v, &v->ours, s->text), *b = linked_symbol(v, &v->reference, s->text);
    uint64_t x = field_value(code->ours, f), y = field_value(code->reference, f);
    bool same = a && b && x - a->value == y - b->value;
    if (a && b && !same && !compiler)
        differ(v, "the code of '%s' reads '%s' at another place", code->function, s->text);
    if (compiler || same)
        store64(code->mask + f->at, load64(code->mask + f->at) | field_mask(f));
}

static void compare_code(Verifier *v, const char *name, const ElfSection *ours, const ElfSection *reference)
{
    Code code = {name, ours, reference, NEW_ARRAY(&v->arena, uint8_t, ours->size)};
    StrId id = str_find(&v->functions, name, strlen(name));
    if (ours->size != reference->size) {
        differ(v, "the code of '%s' has %llu bytes, not %llu", name, (unsigned long long)ours->size,
               (unsigned long long)reference->size);
        return;
    }
    if (id != STR_NONE && v->node.at[id])
        each_field(v, v->node.at[id], check_field, &code);
    for (uint64_t k = 0; k < ours->size; k++)
        if ((ours->data[k] ^ reference->data[k]) & ~code.mask[k]) {
            differ(v, "the code of '%s' differs at 0x%llx", name, (unsigned long long)k);
            return;
        }
}

static bool equal_relocs(const Linked *a, uint32_t x, const Linked *b, uint32_t y)
{
    const ElfSection *s = &a->elf.sections.at[x], *t = &b->elf.sections.at[y];
    if (!x || !y || reloc_count(s) != reloc_count(t))
        return x == y || (!x && !reloc_count(t)) || (!y && !reloc_count(s));
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        ElfReloc p = reloc_at(s, k), q = reloc_at(t, k);
        if (p.offset != q.offset || p.type != q.type || p.addend != q.addend ||
            strcmp(a->elf.symbols.at[p.symbol].text, b->elf.symbols.at[q.symbol].text) != 0)
            return false;
    }
    return true;
}

/* -- Constants of the compiler --------------------------------------------------------------------------- */

typedef struct Banks {
    const char *kernel;
    const ElfSection *ours, *reference;
    const ElfSection *code, *reference_code;  // of the function
    const char *function;
} Banks;

static void compare_constant(Verifier *v, const Cubin *c, const ElfReloc *reloc, const Field *f, void *user)
{
    const Banks *b = user;
    const ElfSymbol *s = cubin_symbol(c, reloc->symbol);
    if (!s->section || s->section >= c->elf.sections.n || !c->owner[s->section] ||
        cubin_section(c, s->section)->type != SHT_NV_CONSTANT0 + CONSTANT_BANK)
        return;
    uint64_t x = field_value(b->code, f) - (uint64_t)reloc->addend;
    uint64_t y = field_value(b->reference_code, f) - (uint64_t)reloc->addend, n = s->size;
    bool here = b->ours && x <= b->ours->size && n <= b->ours->size - x;
    bool there = b->reference && y <= b->reference->size && n <= b->reference->size - y;
    if (!here || !there || memcmp(b->ours->data + x, b->reference->data + y, n) != 0)
        differ(v, "'%s', called by '%s', reads another constant at 0x%llx", b->function, b->kernel,
               (unsigned long long)reloc->offset);
}

// Compares the constants that the functions which a kernel reaches read from its bank.
static void compare_bank(Verifier *v, NodeId kernel)
{
    const Node *nodes = v->link->nodes.at;
    VEC(NodeId) work = {0};
    Banks b = {.kernel = nodes[kernel].name};
    b.ours = section_of(v, &v->ours, ".nv.constant2", b.kernel);
    b.reference = section_of(v, &v->reference, ".nv.constant2", b.kernel);
    if (!b.ours && !b.reference)
        return;
    memset(v->visited, 0, v->link->nodes.n);
    v->visited[kernel] = true;
    VEC_PUSH(&v->arena, &work, kernel);
    for (uint32_t at = 0; at < work.n; at++) {
        uint32_t count;
        const Edge *edges = node_edges(v->link, work.at[at], &count);
        for (uint32_t k = 0; k < count; k++)
            if (!v->visited[edges[k].to]) {
                v->visited[edges[k].to] = true;
                VEC_PUSH(&v->arena, &work, edges[k].to);
            }
        b.function = nodes[work.at[at]].name;
        b.code = section_of(v, &v->ours, ".text", b.function);
        b.reference_code = section_of(v, &v->reference, ".text", b.function);
        StrId id = str_find(&v->functions, b.function, strlen(b.function));
        if (b.code && b.reference_code && b.code->size == b.reference_code->size && id != STR_NONE &&
            v->node.at[id] == work.at[at])
            each_field(v, work.at[at], compare_constant, &b);
    }
}

/* -- Sections and variables ------------------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static void compare_section(Verifier *v, uint32_t k)
{
    const ElfSection *s = &v->ours.elf.sections.at[k];
    bool code = begins_with(s->text, ".text.");
    bool data = begins_with(s->text, ".nv.constant0.") || begins_with(s->text, ".nv.shared.");
    if (!code && !data)
        return;
    StrId id = name_id(v, &v->reference, s->text);
    uint32_t other = v->reference.section.at[id];
    const ElfSection *t = &v->reference.elf.sections.at[other];
    if (!other) {
        differ(v, "the linked originals have no section '%s'", s->text);
    } else if (code) {
        compare_code(v, s->text + strlen(".text."), s, t);
        if (!equal_relocs(&v->ours, v->ours.relocs[k], &v->reference, v->reference.relocs[other]) ||
            !equal_relocs(&v->ours, v->ours.rela[k], &v->reference, v->reference.rela[other]))
            differ(v, "the relocations of '%s' differ", s->text);
    } else if (s->size != t->size || !s->data != !t->data || (s->data && memcmp(s->data, t->data, s->size) != 0)) {
        differ(v, "section '%s' differs", s->text);
    }
}

// Returns the initial value of a variable; NULL: it is zero, or not in the file.
static const uint8_t *initial_value(const Linked *l, const ElfSymbol *s)
{
    if (s->section == SHN_UNDEF || s->section >= l->elf.sections.n)
        return NULL;
    const ElfSection *section = &l->elf.sections.at[s->section];
    bool fits = s->value <= section->size && s->size <= section->size - s->value;
    return section->data && fits ? section->data + s->value : NULL;
}

static void compare_variable(Verifier *v, const ElfSymbol *s)
{
    if (symbol_type(s) != STT_OBJECT || linked_symbol(v, &v->ours, s->text) != s)
        return;
    const ElfSymbol *t = linked_symbol(v, &v->reference, s->text);
    if (!t) {
        differ(v, "the linked originals have no variable '%s'", s->text);
        return;
    }
    const uint8_t *a = initial_value(&v->ours, s), *b = initial_value(&v->reference, t);
    if (s->size != t->size || !a != !b || (a && memcmp(a, b, s->size) != 0))
        differ(v, "variable '%s' has another size or initial value", s->text);
}

/* -- The comparison -------------------------------------------------------------------------------------- */

// Lists live functions by name.
static void list_functions(Verifier *v)
{
    str_init(&v->functions, &v->arena, NULL);
    for (NodeId n = 1; n < v->link->nodes.n; n++) {
        const Node *node = &v->link->nodes.at[n];
        const Cubin *c = &v->link->inputs.at[node->input].cubin;
        if (node->kind > NODE_KERNEL || !node->live || cubin_symbol(c, node->symbol)->section == SHN_UNDEF)
            continue;
        StrId id = str_intern_z(&v->functions, node->name);
        bool first = v->node.n <= id;
        while (v->node.n <= id)
            VEC_PUSH(&v->arena, &v->node, 0);
        v->node.at[id] = first ? n : 0;
    }
}

bool verify_links(const Link *link, const char *ours, const char *originals)
{
    Verifier v = {.link = link};
    arena_init(&v.arena, link->heap);
    if (!read_linked(&v, &v.ours, ours) || !read_linked(&v, &v.reference, originals))
        return false;
    list_functions(&v);
    v.visited = NEW_ARRAY(&v.arena, bool, link->nodes.n);
    for (uint32_t k = 1; k < v.ours.elf.sections.n; k++)
        compare_section(&v, k);
    for (uint32_t k = 1; k < v.ours.elf.symbols.n; k++)
        compare_variable(&v, &v.ours.elf.symbols.at[k]);
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (link->nodes.at[n].kind == NODE_KERNEL && link->nodes.at[n].live)
            compare_bank(&v, n);
    if (v.differences > DIFFERENCES_MAX)
        diag_plain(link->diag, DIAG_ERROR, "--verify-link: %u more differences", v.differences - DIFFERENCES_MAX);
    arena_free(&v.arena);
    return !v.differences;
}
