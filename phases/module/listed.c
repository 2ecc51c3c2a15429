// SPDX-License-Identifier: MIT
// Lists of symbols in the knobs KeepSymbols, Internalize and InlineOff: names or patterns, separated by `+`, `,` or
// blanks. Internalize may name each variable of a large module, so an index finds names.
#include "phases/module/module.h"

// Returns the next word of a list, and advances past it; an empty one at the end.
static Str next_word(const char **list)
{
    const char *word = *list + strspn(*list, "+, ");
    size_t n = strcspn(word, "+, ");
    *list = word + n;
    return (Str){.text = word, .len = (uint32_t)n};
}

static bool is_pattern(Str word)
{
    for (uint32_t k = 0; k < word.len; k++)
        if (strchr("*?[\\", word.text[k]))
            return true;
    return false;
}

const SymbolList *symbol_list(Arena *arena, const char *text)
{
    SymbolList *list = text ? NEW(arena, SymbolList) : NULL;
    text = text ? arena_text(arena, text, strlen(text)) : NULL;
    for (Str word; list && (word = next_word(&text)).len;) {
        if (is_pattern(word)) {
            VEC_PUSH(arena, &list->patterns, arena_text(arena, word.text, word.len));
            continue;
        }
        idset_add(&list->index, arena, hash_bytes(word.text, word.len), list->names.n);
        VEC_PUSH(arena, &list->names, word);
    }
    return list;
}

enum { LONGEST = 4096 };  // longer names are cut

static size_t symbol_name(const Module *m, SymId sym, char name[static LONGEST])
{
    return strlen(name_text(&m->tables, m->syms.at[sym].name, name, LONGEST));
}

bool module_lists(const SymbolList *list, const Module *m, SymId sym)
{
    char name[LONGEST];
    if (!list || !(list->names.n + list->patterns.n))
        return false;
    size_t n = symbol_name(m, sym, name);
    IDSET_EACH(&list->index, hash_bytes(name, n), id)
        if (list->names.at[id].len == n && memcmp(list->names.at[id].text, name, n) == 0)
            return true;
    for (uint32_t k = 0; k < list->patterns.n; k++)
        if (glob_match(list->patterns.at[k], name, n, false))
            return true;
    return false;
}

bool module_lists_in_text(const char *list, const Module *m, SymId sym)
{
    char name[LONGEST], pattern[LONGEST];
    size_t n = list && *list ? symbol_name(m, sym, name) : 0;
    for (Str word; n && (word = next_word(&list)).len;) {
        if (word.len >= sizeof pattern)
            continue;
        memcpy(pattern, word.text, word.len);
        pattern[word.len] = 0;
        if (glob_match(pattern, name, n, false))
            return true;
    }
    return false;
}

bool module_internalizes(const Ctx *ctx, const Module *m, SymId sym)
{
    const Sym *s = &m->syms.at[sym];
    bool variable = s->kind == SYM_VAR, memory = s->space == SP_GLOBAL || s->space == SP_CONST;
    if (!ctx->internalized || s->flags & (SYM_EXTERN | SYM_WEAK | SYM_COMMON | SYM_KERNEL))
        return false;
    if (variable && (!memory || s->attribute || type_info[s->type].class == TC_O))
        return false;  // another object than a variable of the program, or one that the host reads by its purpose
    return s->flags & SYM_INTERNAL || module_lists(ctx->internalized, m, sym);
}
