// SPDX-License-Identifier: MIT
// Names of functions in the section `.debug_str`, to which the lines of inlined code refer by label.
//
//     .section .debug_str
//     {
//     $L__info_string0:
//     .b8 95,90,49,102,105,0          // _Z1fi
//     }
//
// A frontend that inlines makes the section. Missing names are appended to it, with labels like those of the frontend.
// ptxas does not confuse these labels with symbols and labels of functions, but the numbers are unique all the same.
#include "ir/core/ir.h"

#include <stdlib.h>

typedef struct DebugName {
    Str label, name;
} DebugName;

typedef struct DebugNames {
    VEC(DebugName) at;
    IdSet index;         // by name
    uint32_t text;       // the section's text in Module.texts; their number if there is no section
    VEC(char) contents;  // the section without its end, once a name was appended
    uint32_t next;       // number of the next label
} DebugNames;

static const char prefix[] = "$L__info_string";

/* -- The section of the input ------------------------------------------------------------------------------- */

// Returns the end of blanks and comments.
static const char *skip_blanks(const char *p, const char *end)
{
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
            p++;
        if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*'))
            return p;
        bool line = p[1] == '/';
        for (p += 2; p < end && (line ? *p != '\n' : p[-1] != '*' || p[0] != '/');)
            p++;
        p += p < end;
    }
}

static bool is_label_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%';
}

// Returns the contents of a text that is the section; NULL if it is another one.
static const char *section_contents(Str text)
{
    static const char *const words[] = {".section", ".debug_str", "{"};
    const char *p = text.text, *end = p + text.len;
    if (!text.len || end[-1] != '}')
        return NULL;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t n = strlen(words[k]);
        p = skip_blanks(p, end);
        if ((size_t)(end - p) < n || memcmp(p, words[k], n) != 0)
            return NULL;
        p += n;
    }
    return p;
}

static void add_name(Module *m, Str label, Str name)
{
    DebugNames *d = m->debug_names;
    idset_add(&d->index, &m->arena, hash_bytes(name.text, name.len), d->at.n);
    VEC_PUSH(&m->arena, &d->at, ((DebugName){label, name}));
}

// Adds the names of the section: `.b8` lists up to a zero after a label. Ends at a token that is not known.
static void read_names(Module *m, const char *p, const char *end)
{
    TextBuffer name = {.arena = &m->arena};
    Str label = {0};
    for (p = skip_blanks(p, end); p < end; p = skip_blanks(p, end)) {
        const char *word = p;
        p += *p == '.';
        while (p < end && is_label_char(*p))
            p++;
        if (*word == ',') {
            p++;
        } else if (*word >= '0' && *word <= '9') {
            char byte = (char)strtoul(word, NULL, 0);  // the brace at the end of the section ends the number
            if (label.len && byte) {
                out_to_text(&name, &byte, 1);
            } else if (label.len) {
                add_name(m, label, (Str){arena_copy(&m->arena, name.at, name.n), (uint32_t)name.n, 0});
                label.len = 0;
            }
        } else if (*word == '.') {
            if (p - word != 3 || memcmp(word, ".b8", 3) != 0)
                label.len = 0;
        } else if (p > word && p < end && *p == ':') {
            label = (Str){word, (uint32_t)(p - word), 0};
            name.n = 0;
            p++;
        } else {
            return;
        }
    }
}

/* -- Numbers of labels -------------------------------------------------------------------------------------- */

static void use_number(DebugNames *d, uint32_t number)
{
    if (number != NO_NUMBER)
        d->next = MAX(d->next, number + 1);
}

static void use_numbers_of_text(DebugNames *d, Str text)
{
    const size_t n = sizeof prefix - 1;
    const char *end = text.text + text.len;
    for (const char *p = text.text; p && (p = memchr(p, '$', (size_t)(end - p))); p++) {
        if ((size_t)(end - p) < n || memcmp(p, prefix, n) != 0)
            continue;
        const char *label_end = p + n, *stem_end;
        while (label_end < end && is_label_char(*label_end))
            label_end++;
        uint32_t number = name_number(p, label_end, &stem_end);
        if (stem_end == p + n)
            use_number(d, number);
    }
}

// Skips the numbers of labels in all texts, and of symbols and blocks with such names.
static void use_numbers(const Module *m)
{
    StrId stem = str_find(&m->tables.strs, prefix, sizeof prefix - 1);
    for (uint32_t k = 0; k < m->texts.n; k++)
        use_numbers_of_text(m->debug_names, m->texts.at[k]);
    for (uint32_t k = 0; k < m->syms.n && stem != STR_NONE; k++)
        if (m->syms.at[k].name.stem == stem)
            use_number(m->debug_names, m->syms.at[k].name.number);
    for (uint32_t k = 0; k < m->fns.n && stem != STR_NONE; k++)
        for (BlockId b = m->fns.at[k] ? m->fns.at[k]->first : 0; b; b = ir_block(m->fns.at[k], b)->next)
            if (ir_block(m->fns.at[k], b)->label.stem == stem)
                use_number(m->debug_names, ir_block(m->fns.at[k], b)->label.number);
}

/* -- Labels ------------------------------------------------------------------------------------------------- */

static void find_names(Module *m)
{
    DebugNames *d = m->debug_names = NEW(&m->arena, DebugNames);
    d->text = m->texts.n;
    for (uint32_t k = 0; k < m->texts.n; k++) {
        Str text = m->texts.at[k];
        const char *contents = section_contents(text);
        if (!contents)
            continue;
        read_names(m, contents, text.text + text.len - 1);
        d->text = k;
    }
    use_numbers(m);
}

static void append(Module *m, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        VEC_PUSH(&m->arena, &m->debug_names->contents, text[k]);
}

// Begins to change the section, or a new one at the end of the module.
static void open_section(Module *m)
{
    static const char start[] = ".section\t.debug_str\n\t{";
    DebugNames *d = m->debug_names;
    if (d->text == m->texts.n)
        module_add_text(m, (Str){start, sizeof start - 1, 0});
    else
        m->texts.at[d->text].len--;
    Str text = m->texts.at[d->text];
    append(m, text.text, text.len);
    while (strchr(" \t\r\n", d->contents.at[d->contents.n - 1]))
        d->contents.n--;
}

static Str append_name(Module *m, Str name)
{
    static const char end[] = "\n\n\t}";
    DebugNames *d = m->debug_names;
    if (!d->contents.n)
        open_section(m);
    char text[sizeof prefix + MAX_DIGITS];
    int n = snprintf(text, sizeof text, "%s%u", prefix, d->next++);
    Str label = {arena_copy(&m->arena, text, (size_t)n), (uint32_t)n, 0};
    append(m, "\n", 1);
    append(m, text, (size_t)n);
    append(m, ":\n.b8 ", 6);
    for (uint32_t k = 0; k < name.len; k++)
        append(m, text, (size_t)snprintf(text, sizeof text, "%u,", (unsigned)(unsigned char)name.text[k]));
    append(m, "0", 1);
    // The section's end is not part of the contents, and the next name replaces it.
    uint32_t length = d->contents.n;
    append(m, end, sizeof end - 1);
    m->texts.at[d->text] = (Str){d->contents.at, d->contents.n, 0};
    d->contents.n = length;
    add_name(m, label, (Str){arena_copy(&m->arena, name.text, name.len), name.len, 0});
    return label;
}

Str module_debug_label(Module *m, SymId function)
{
    Arena scratch;
    TextBuffer text = {.arena = &scratch};
    Out out;
    if (!m->debug_names)
        find_names(m);
    arena_init(&scratch, m->arena.heap);
    out_init(&out, &scratch, out_to_text, &text);
    name_print(&out, &m->tables, m->syms.at[function].name);
    out_flush(&out);
    Str name = {text.at, (uint32_t)text.n, 0}, label = {0};
    IDSET_EACH(&m->debug_names->index, hash_bytes(name.text, name.len), k) {
        const DebugName *known = &m->debug_names->at.at[k];
        if (!label.len && known->name.len == name.len && memcmp(known->name.text, name.text, name.len) == 0)
            label = known->label;
    }
    if (!label.len)
        label = append_name(m, name);
    arena_free(&scratch);
    return label;
}
