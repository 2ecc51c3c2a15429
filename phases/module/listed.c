// SPDX-License-Identifier: MIT
// Lists of symbols in the knobs KeepSymbols, Internalize and InlineOff: names or patterns, separated by `+`, `,` or
// blanks.
#include "phases/module/module.h"

bool module_lists(const char *list, const Module *m, SymId sym)
{
    char name[4096];  // longer names are cut
    if (!list)
        return false;
    name_text(&m->tables, m->syms.at[sym].name, name, sizeof name);
    for (size_t len, n = strlen(name); *list; list += len + (list[len] != 0)) {
        char pattern[4096];
        len = strcspn(list, "+, ");
        if (!len || len >= sizeof pattern)
            continue;
        memcpy(pattern, list, len);
        pattern[len] = 0;
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
