// SPDX-License-Identifier: MIT
#include "tools/lib/entries.h"

// Returns the name of a function; a longer one than the buffer is cut.
static const char *name_of(const Fn *fn, char buf[4096])
{
    return name_text(&fn->module->tables, fn->module->syms.at[fn->sym].name, buf, 4096);
}

void entries_clear(Entries *entries)
{
    for (size_t k = 0; k < entries->n; k++)
        entries->seen[k] = false;
}

void entries_note(Entries *entries, const Fn *fn)
{
    char buf[4096];
    const char *name = entries->n ? name_of(fn, buf) : NULL;
    for (size_t k = 0; k < entries->n; k++)
        entries->seen[k] |= strcmp(entries->names[k], name) == 0;
}

const char *entries_missing(const Entries *entries)
{
    for (size_t k = 0; k < entries->n; k++)
        if (!entries->seen[k])
            return entries->names[k];
    return NULL;
}

bool entries_have(void *user, const Fn *fn)
{
    const Entries *entries = user;
    char buf[4096];
    const char *name = entries->n ? name_of(fn, buf) : NULL;
    for (size_t k = 0; k < entries->n; k++)
        if (strcmp(entries->names[k], name) == 0)
            return true;
    return entries->n == 0;
}
