// SPDX-License-Identifier: MIT
// Compares two linked files: that of rewritten inputs with that of the originals.
//
// Code is equal but for fields that hold places of constants: nvlink patches them by relocations, which the linked file
// no longer has, so those of the inputs are used. A variable in constant memory may have another place, and a field
// then differs by the same amount. Constants of the compiler are in a bank of each kernel, where each function that the
// kernel reaches has its own; their bytes must be equal in both files. Other relocations stay, and must be equal, but
// for functions that no kernel reaches: nvlink removes what they call.
//
// Several files may have static functions and variables of one name. Each of them in our file must be equal to one of
// that name in the other file. The registers and the stack of a kernel are at least those of what it calls.
//
// If nvlink 13.0 selects kernels, it may write a .nv.constant3 that is too small and has wrong bytes, though its
// symbols are right. Then the values of the inputs are compared.
#include <stdlib.h>

#include "tools/orilink/fields.h"
#include "tools/orilink/nvlink.h"

enum { CONSTANT_BANK = 2, DIFFERENCES_MAX = 10, TEXT_MAX = 300 };

typedef VEC(ElfReloc) Relocs;

// Sections or symbols by name.
typedef struct NameIndex {
    VEC(uint32_t) first;  // by StrId; 0 = none
    uint32_t *next;       // by index: the next one of that name; 0 = none
} NameIndex;

// A linked file.
typedef struct Linked {
    Elf elf;
    StrTable names;
    NameIndex sections, symbols;
    Relocs *relocs;  // by section: those of its content, in the order of offsets
    bool *cut_off;   // by section: a variable lies outside of it
} Linked;

typedef struct Verifier {
    Link *link;
    Arena arena;
    Linked ours, reference;
    StrTable nodes;
    VEC(NodeId) first;  // by StrId of `nodes`: a live function or variable
    NodeId *next;       // by NodeId: the next one of that name
    bool *reached;      // by NodeId: from a kernel
    bool *visited;      // by NodeId
    uint32_t differences;
} Verifier;

static void differ(Verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void differ(Verifier *v, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (v->differences++ < DIFFERENCES_MAX)
        diag_plain(v->link->diag, DIAG_ERROR, "--verify-link: %s", text);
}

/* -- Linked files ---------------------------------------------------------------------------------------- */

static bool is_in_file(const Linked *l, const ElfSymbol *s)
{
    return s->section != SHN_UNDEF && s->section < l->elf.sections.n;
}

// True if a variable lies in its section.
static bool fits(const Linked *l, const ElfSymbol *s)
{
    const ElfSection *section = &l->elf.sections.at[s->section];
    return s->value <= section->size && s->size <= section->size - s->value;
}

static void index_name(Verifier *v, Linked *l, NameIndex *index, const char *name, uint32_t k)
{
    StrId id = str_intern_z(&l->names, name);
    while (index->first.n <= id)
        VEC_PUSH(&v->arena, &index->first, 0);
    index->next[k] = index->first.at[id];
    index->first.at[id] = k;
}

// Returns the first section or symbol of a name; 0 = none.
static uint32_t first_of(const Linked *l, const NameIndex *index, const char *name)
{
    StrId id = str_find(&l->names, name, strlen(name));
    return id != STR_NONE && id < index->first.n ? index->first.at[id] : 0;
}

static int by_offset(const void *a, const void *b)
{
    const ElfReloc *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void read_relocs(Verifier *v, Linked *l)
{
    l->relocs = NEW_ARRAY(&v->arena, Relocs, l->elf.sections.n);
    for (uint32_t k = 1; k < l->elf.sections.n; k++) {
        const ElfSection *s = &l->elf.sections.at[k];
        if (s->type != SHT_REL && s->type != SHT_RELA)
            continue;
        for (uint32_t n = 0; n < reloc_count(s); n++)
            VEC_PUSH(&v->arena, &l->relocs[s->info], reloc_at(s, n));
    }
    for (uint32_t k = 1; k < l->elf.sections.n; k++)
        if (l->relocs[k].n)
            qsort(l->relocs[k].at, l->relocs[k].n, sizeof *l->relocs[k].at, by_offset);
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
    l->sections.next = NEW_ARRAY(&v->arena, uint32_t, l->elf.sections.n);
    l->symbols.next = NEW_ARRAY(&v->arena, uint32_t, l->elf.symbols.n);
    for (uint32_t k = l->elf.sections.n; k-- > 1;)
        index_name(v, l, &l->sections, l->elf.sections.at[k].text, k);
    for (uint32_t k = l->elf.symbols.n; k-- > 1;)
        index_name(v, l, &l->symbols, l->elf.symbols.at[k].text, k);
    read_relocs(v, l);
    l->cut_off = NEW_ARRAY(&v->arena, bool, l->elf.sections.n);
    for (uint32_t k = 1; k < l->elf.symbols.n; k++) {
        const ElfSymbol *s = &l->elf.symbols.at[k];
        if (symbol_type(s) == STT_OBJECT && is_in_file(l, s))
            l->cut_off[s->section] |= !fits(l, s);
    }
    return true;
}

// Returns the section `PREFIX.FUNCTION` of a kernel; 0: there is none.
static uint32_t section_of(Verifier *v, const Linked *l, const char *prefix, const char *function)
{
    char *name = arena_alloc(&v->arena, strlen(prefix) + strlen(function) + 2);
    sprintf(name, "%s.%s", prefix, function);
    return first_of(l, &l->sections, name);
}

/* -- Variables and relocations --------------------------------------------------------------------------- */

// Returns the first live function or variable of a name; 0: there is none.
static NodeId first_node(const Verifier *v, const char *name)
{
    StrId id = str_find(&v->nodes, name, strlen(name));
    return id != STR_NONE ? v->first.at[id] : 0;
}

// True if a variable of our file has the size and initial value of one in a section of another file.
static bool has_value(const Verifier *v, const ElfSymbol *s, const ElfSymbol *t, const ElfSection *other)
{
    const uint8_t *a = v->ours.elf.sections.at[s->section].data, *b = other->data;
    bool inside = t->value <= other->size && t->size <= other->size - t->value;
    return s->size == t->size && inside && !a == !b && (!a || memcmp(a + s->value, b + t->value, s->size) == 0);
}

// True if a variable of our file has the size and initial value of one of the inputs.
static bool has_value_of_inputs(const Verifier *v, const ElfSymbol *s)
{
    for (NodeId n = first_node(v, s->text); n; n = v->next[n]) {
        const Node *node = &v->link->nodes.at[n];
        const Cubin *c = &v->link->inputs.at[node->input].cubin;
        const ElfSymbol *t = cubin_symbol(c, node->symbol);
        if (node->kind == NODE_VARIABLE && has_value(v, s, t, cubin_section(c, t->section)))
            return true;
    }
    return false;
}

// True if variables of the two files have the same size and initial value, apart from relocations.
static bool equal_values(const Verifier *v, const ElfSymbol *s, const ElfSymbol *t)
{
    if (v->reference.cut_off[t->section])
        return s->size == t->size && has_value_of_inputs(v, s);
    return has_value(v, s, t, &v->reference.elf.sections.at[t->section]);
}

// True if relocations name the same: a symbol of the same name, and a variable of the same value.
static bool equal_targets(const Verifier *v, const ElfReloc *p, const ElfReloc *q)
{
    const ElfSymbol *s = &v->ours.elf.symbols.at[p->symbol], *t = &v->reference.elf.symbols.at[q->symbol];
    if (p->type != q->type || p->addend != q->addend || strcmp(s->text, t->text) != 0)
        return false;
    bool values = symbol_type(s) == STT_OBJECT && is_in_file(&v->ours, s) && is_in_file(&v->reference, t);
    return !values || !fits(&v->ours, s) || equal_values(v, s, t);
}

// Returns the number of relocations before an offset.
static uint32_t relocs_before(const Relocs *r, uint64_t offset)
{
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Compares the relocations of parts of two sections.
static bool equal_relocs(const Verifier *v, uint32_t x, uint64_t from_x, uint32_t y, uint64_t from_y, uint64_t size)
{
    const Relocs *a = &v->ours.relocs[x], *b = &v->reference.relocs[y];
    uint32_t k = relocs_before(a, from_x), n = relocs_before(b, from_y);
    for (;; k++, n++) {
        bool more_a = k < a->n && a->at[k].offset - from_x < size, more_b = n < b->n && b->at[n].offset - from_y < size;
        if (!more_a || !more_b)
            return more_a == more_b;
        if (a->at[k].offset - from_x != b->at[n].offset - from_y || !equal_targets(v, &a->at[k], &b->at[n]))
            return false;
    }
}

static void compare_variable(Verifier *v, const ElfSymbol *s)
{
    if (symbol_type(s) != STT_OBJECT || !is_in_file(&v->ours, s))
        return;
    if (!fits(&v->ours, s)) {
        differ(v, "variable '%s' lies outside of its section", s->text);
        return;
    }
    const Linked *l = &v->reference;
    uint32_t k = first_of(l, &l->symbols, s->text);
    if (!k)
        differ(v, "the linked originals have no variable '%s'", s->text);
    for (bool equal = !k; !equal; k = l->symbols.next[k]) {
        if (!k) {
            differ(v, "variable '%s' has another size, initial value or relocation", s->text);
            return;
        }
        const ElfSymbol *t = &l->elf.symbols.at[k];
        equal = is_in_file(l, t) && equal_values(v, s, t) &&
                equal_relocs(v, s->section, s->value, t->section, t->value, s->size);
    }
}

/* -- Fields of constants --------------------------------------------------------------------------------- */

// Calls `use` for each relocation of a function's code that patches a field of linked code of this size.
typedef void UseField(Verifier *v, const Input *in, const ElfReloc *reloc, const Field *f, void *user);

static void each_field(Verifier *v, NodeId n, uint64_t size, UseField *use, void *user)
{
    const Node *node = &v->link->nodes.at[n];
    const Input *in = &v->link->inputs.at[node->input];
    const Cubin *c = &in->cubin;
    uint32_t code = cubin_symbol(c, node->symbol)->section;
    Field f;
    for (uint32_t k = c->owned[code]; k; k = c->next[k]) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type != SHT_REL && s->type != SHT_RELA) || s->info != code)
            continue;
        for (uint32_t r = 0; r < reloc_count(s); r++) {
            ElfReloc reloc = reloc_at(s, r);
            if (field_of(&reloc, &f) && f.at <= size && size - f.at >= FIELD_BYTES)
                use(v, in, &reloc, &f, user);
        }
    }
}

/* -- Code ------------------------------------------------------------------------------------------------ */

typedef struct Code {
    const ElfSection *ours, *reference;
    uint8_t *mask;       // 1: bits that may differ
    char why[TEXT_MAX];  // the difference; empty: there is none
} Code;

// True if two fields hold the same part of a variable, or of one with that name and value. In our file another variable
// may replace it.
static bool hold_equal(const Verifier *v, const char *name, const char *alias, const Field *f, uint64_t x, uint64_t y)
{
    const Linked *l = &v->ours, *m = &v->reference;
    for (uint32_t i = first_of(l, &l->symbols, alias ? alias : name); i; i = l->symbols.next[i])
        for (uint32_t k = first_of(m, &m->symbols, name); k; k = m->symbols.next[k]) {
            const ElfSymbol *s = &l->elf.symbols.at[i], *t = &m->elf.symbols.at[k];
            bool inside = is_in_file(l, s) && is_in_file(m, t) && fits(l, s);
            if (inside && field_wrap(f, x - s->value) == field_wrap(f, y - t->value) && equal_values(v, s, t))
                return true;
        }
    return false;
}

// Checks that a field holds the same part of a variable in both files, and then allows it to differ.
static void check_field(Verifier *v, const Input *in, const ElfReloc *reloc, const Field *f, void *user)
{
    Code *code = user;
    const Cubin *c = &in->cubin;
    const char *alias = alias_name(v->link, in, reloc->symbol);
    const ElfSymbol *s = cubin_symbol(c, reloc->symbol);
    bool compiler = s->section && s->section < c->elf.sections.n && c->owner[s->section];
    if (!compiler &&
        !hold_equal(v, s->text, alias, f, field_value(code->ours->data, f), field_value(code->reference->data, f))) {
        snprintf(code->why, sizeof code->why, "reads '%.200s' at another place", s->text);
        return;
    }
    store64(code->mask + f->at, load64(code->mask + f->at) | field_mask(f));
}

// Compares sections of code, where fields are those of a function (0: of none).
static void compare_bytes(Verifier *v, Code *code, uint32_t x, uint32_t y, NodeId n)
{
    const ElfSection *a = code->ours = &v->ours.elf.sections.at[x];
    const ElfSection *b = code->reference = &v->reference.elf.sections.at[y];
    code->why[0] = 0;
    if (a->size != b->size) {
        snprintf(code->why, sizeof code->why, "has %llu bytes, not %llu", (unsigned long long)a->size,
                 (unsigned long long)b->size);
        return;
    }
    memset(code->mask, 0, a->size);
    if (v->link->nodes.at[n].kind <= NODE_KERNEL && n)
        each_field(v, n, a->size, check_field, code);
    for (uint64_t k = 0; k < a->size && !code->why[0]; k++)
        if ((a->data[k] ^ b->data[k]) & ~code->mask[k])
            snprintf(code->why, sizeof code->why, "differs at 0x%llx", (unsigned long long)k);
    bool reached = !n || v->reached[n];
    if (!code->why[0] && reached && !equal_relocs(v, x, 0, y, 0, a->size))
        snprintf(code->why, sizeof code->why, "has other relocations");
}

// Compares the code of a function with that of each function of its name.
static void compare_code(Verifier *v, uint32_t x)
{
    const char *section = v->ours.elf.sections.at[x].text, *name = section + strlen(".text.");
    uint32_t y = first_of(&v->reference, &v->reference.sections, section);
    Code code = {.mask = NEW_ARRAY(&v->arena, uint8_t, v->ours.elf.sections.at[x].size)};
    if (!y)
        differ(v, "the linked originals have no section '%s'", section);
    for (; y; y = v->reference.sections.next[y]) {
        NodeId n = first_node(v, name);
        do {
            compare_bytes(v, &code, x, y, n);
            if (!code.why[0])
                return;
            n = v->next[n];
        } while (n);
    }
    if (code.why[0])
        differ(v, "the code of '%s' %s", name, code.why);
}

/* -- Constants of the compiler --------------------------------------------------------------------------- */

typedef struct Banks {
    uint32_t ours, reference;                 // sections of the constants of a kernel; 0 = none
    const ElfSection *code, *reference_code;  // of a function
    bool differ;
} Banks;

static bool in_section(const ElfSection *s, uint64_t offset, uint64_t size)
{
    return s->data && offset <= s->size && size <= s->size - offset;
}

static void compare_constant(Verifier *v, const Input *in, const ElfReloc *reloc, const Field *f, void *user)
{
    Banks *b = user;
    const Cubin *c = &in->cubin;
    const ElfSymbol *s = cubin_symbol(c, reloc->symbol);
    if (!s->section || s->section >= c->elf.sections.n || !c->owner[s->section] ||
        cubin_section(c, s->section)->type != SHT_NV_CONSTANT0 + CONSTANT_BANK)
        return;
    const ElfSection *ours = &v->ours.elf.sections.at[b->ours];
    const ElfSection *reference = &v->reference.elf.sections.at[b->reference];
    uint64_t x = field_wrap(f, field_value(b->code->data, f) - (uint64_t)reloc->addend), n = s->size;
    uint64_t y = field_wrap(f, field_value(b->reference_code->data, f) - (uint64_t)reloc->addend);
    const ElfSection *original = cubin_section(c, s->section);
    // nvlink does not place the constants of a function of which a kernel only takes the address.
    if (in_section(original, s->value, n) &&
        (!in_section(reference, y, n) || memcmp(reference->data + y, original->data + s->value, n) != 0))
        return;
    b->differ |= !in_section(ours, x, n) || !in_section(reference, y, n) ||
                 memcmp(ours->data + x, reference->data + y, n) != 0 ||
                 !equal_relocs(v, b->ours, x, b->reference, y, n);
}

// Compares the constants that a function reads from a bank. Its code may be that of any function of its name.
static bool reads_equal(Verifier *v, NodeId n, Banks *b)
{
    const Linked *l = &v->ours, *m = &v->reference;
    uint32_t first = section_of(v, l, ".text", v->link->nodes.at[n].name);
    for (uint32_t x = first; x; x = l->sections.next[x])
        for (uint32_t y = first_of(m, &m->sections, l->elf.sections.at[x].text); y; y = m->sections.next[y]) {
            b->code = &l->elf.sections.at[x];
            b->reference_code = &m->elf.sections.at[y];
            b->differ = b->code->size != b->reference_code->size;
            if (!b->differ)
                each_field(v, n, b->code->size, compare_constant, b);
            if (!b->differ)
                return true;
        }
    return !first;
}

typedef VEC(NodeId) Reached;

// Adds what the functions of a list reach to it.
static void reach_all(Verifier *v, bool *visited, Reached *list)
{
    for (uint32_t at = 0; at < list->n; at++) {
        uint32_t count;
        const Edge *edges = node_edges(v->link, list->at[at], &count);
        for (uint32_t k = 0; k < count; k++) {
            if (!visited[edges[k].to])
                VEC_PUSH(&v->arena, list, edges[k].to);
            visited[edges[k].to] = true;
        }
    }
}

// Compares the constants that the functions which a kernel reaches read from its bank.
static void compare_bank(Verifier *v, NodeId kernel)
{
    const Node *nodes = v->link->nodes.at;
    Reached list = {0};
    Banks b = {.ours = section_of(v, &v->ours, ".nv.constant2", nodes[kernel].name),
               .reference = section_of(v, &v->reference, ".nv.constant2", nodes[kernel].name)};
    if (!b.ours && !b.reference)
        return;
    memset(v->visited, 0, v->link->nodes.n);
    v->visited[kernel] = true;
    VEC_PUSH(&v->arena, &list, kernel);
    reach_all(v, v->visited, &list);
    for (uint32_t k = 0; k < list.n; k++)
        if (nodes[list.at[k]].kind <= NODE_KERNEL && !reads_equal(v, list.at[k], &b))
            differ(v, "'%s', called by '%s', reads other constants", nodes[list.at[k]].name, nodes[kernel].name);
}

/* -- Kernels --------------------------------------------------------------------------------------------- */

// Checks that each kernel has the registers and the stack of what it calls.
static void check_needs(Verifier *v)
{
    enum { REGCOUNT = 0x2f, MIN_STACK_SIZE = 0x12 };
    const FunctionFacts *facts = function_facts(v->link, &v->arena, NULL);
    for (uint32_t k = 1; k < v->ours.elf.sections.n; k++) {
        const ElfSection *s = &v->ours.elf.sections.at[k];
        uint64_t at = 0;
        if (s->type != SHT_NV_INFO || strcmp(s->text, ".nv.info") != 0)
            continue;
        for (InfoRecord r; info_next(s, &at, &r);) {
            if (info_symbols(&r) != INFO_FIRST_SYMBOL || r.payload_size < 8 ||
                load32(r.payload) >= v->ours.elf.symbols.n)
                continue;
            const char *name = v->ours.elf.symbols.at[load32(r.payload)].text;
            NodeId n = first_node(v, name);
            if (!n || v->link->nodes.at[n].kind != NODE_KERNEL)
                continue;
            if (r.attribute == REGCOUNT && load32(r.payload + 4) < facts[n].all_registers)
                differ(v, "kernel '%s' has %u registers, but calls require %u", name, load32(r.payload + 4),
                       facts[n].all_registers);
            if (r.attribute == MIN_STACK_SIZE && !facts[n].unbounded && load32(r.payload + 4) < facts[n].all_stack)
                differ(v, "kernel '%s' has %u bytes of stack, but calls require %u", name, load32(r.payload + 4),
                       facts[n].all_stack);
        }
    }
}

// Finds live kernels that only the originals have.
static void compare_kernels(Verifier *v)
{
    for (uint32_t k = 1; k < v->reference.elf.symbols.n; k++) {
        const ElfSymbol *s = &v->reference.elf.symbols.at[k];
        if (symbol_is_kernel(s) && s->section && first_node(v, s->text) &&
            !first_of(&v->ours, &v->ours.symbols, s->text))
            differ(v, "kernel '%s' is missing", s->text);
    }
}

/* -- The comparison -------------------------------------------------------------------------------------- */

static void compare_section(Verifier *v, uint32_t k)
{
    const ElfSection *s = &v->ours.elf.sections.at[k];
    if (starts_with(s->text, ".text.")) {
        compare_code(v, k);
        return;
    }
    if (!starts_with(s->text, ".nv.constant0.") && !starts_with(s->text, ".nv.shared."))
        return;
    for (uint32_t y = first_of(&v->reference, &v->reference.sections, s->text); y; y = v->reference.sections.next[y]) {
        const ElfSection *t = &v->reference.elf.sections.at[y];
        if (s->size == t->size && !s->data == !t->data && (!s->data || memcmp(s->data, t->data, s->size) == 0))
            return;
    }
    differ(v, "the linked originals have no equal section '%s'", s->text);
}

// Lists live functions and variables by name, and finds those that kernels reach.
static void list_nodes(Verifier *v)
{
    Reached list = {0};
    str_init(&v->nodes, &v->arena, NULL);
    for (NodeId n = v->link->nodes.n; n-- > 1;) {
        const Node *node = &v->link->nodes.at[n];
        const Cubin *c = &v->link->inputs.at[node->input].cubin;
        if (node->kind == NODE_SECTION || !node->live || cubin_symbol(c, node->symbol)->section == SHN_UNDEF)
            continue;
        StrId id = str_intern_z(&v->nodes, node->name);
        while (v->first.n <= id)
            VEC_PUSH(&v->arena, &v->first, 0);
        v->next[n] = v->first.at[id];
        v->first.at[id] = n;
        v->reached[n] = node->kind == NODE_KERNEL;
        if (v->reached[n])
            VEC_PUSH(&v->arena, &list, n);
    }
    reach_all(v, v->reached, &list);
}

bool verify_links(Link *link, const char *ours, const char *originals)
{
    Verifier v = {.link = link};
    arena_init(&v.arena, link->heap);
    if (!read_linked(&v, &v.ours, ours) || !read_linked(&v, &v.reference, originals))
        return false;
    v.next = NEW_ARRAY(&v.arena, NodeId, link->nodes.n);
    v.reached = NEW_ARRAY(&v.arena, bool, link->nodes.n);
    v.visited = NEW_ARRAY(&v.arena, bool, link->nodes.n);
    list_nodes(&v);
    for (uint32_t k = 1; k < v.ours.elf.sections.n; k++)
        compare_section(&v, k);
    for (uint32_t k = 1; k < v.ours.elf.symbols.n; k++)
        compare_variable(&v, &v.ours.elf.symbols.at[k]);
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (link->nodes.at[n].kind == NODE_KERNEL && link->nodes.at[n].live)
            compare_bank(&v, n);
    compare_kernels(&v);
    check_needs(&v);
    for (uint32_t k = 1; k < v.reference.elf.sections.n; k++)
        if (v.reference.cut_off[k])
            diag_plain(link->diag, DIAG_WARNING, "--verify-link: nvlink cut off '%s' of the linked originals",
                       v.reference.elf.sections.at[k].text);
    if (v.differences > DIFFERENCES_MAX)
        diag_plain(link->diag, DIAG_ERROR, "--verify-link: %u more differences", v.differences - DIFFERENCES_MAX);
    arena_free(&v.arena);
    return !v.differences;
}
