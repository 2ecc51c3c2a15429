// SPDX-License-Identifier: MIT
// Lists of symbols in knobs: names or patterns, separated by `+`, `,` or blanks.
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
