// SPDX-License-Identifier: MIT
// Reports of constants of the user: those that others replace, and the sizes of sections that were laid out again.
#include "tools/orilink/user_constants.h"

static const Cubin *file_of(const UserConstants *u, const UserConstant *x)
{
    return &u->link->inputs.at[u->sections.at[x->section].input].cubin;
}

static const char *name_of(const UserConstants *u, const UserConstant *x)
{
    return cubin_symbol(file_of(u, x), x->symbol)->text;
}

void user_constants_print(const UserConstants *u, Out *out)
{
    for (uint32_t k = 1; k < u->constants.n; k++) {
        const UserConstant *x = &u->constants.at[k], *y = &u->constants.at[x->alias];
        if (x->alias)
            out_fmt(out, "constant '%s' in file '%s' is replaced by '%s' in file '%s'\n", name_of(u, x),
                    file_of(u, x)->elf.file, name_of(u, y), file_of(u, y)->elf.file);
    }
}

// Adds the sizes of a section that was laid out again. False: it was not.
static bool add_sizes(const UserConstants *u, const UserSection *s, uint64_t *before, uint64_t *after)
{
    if (!s->edited)
        return false;
    *before += cubin_section(&u->link->inputs.at[s->input].cubin, s->section)->size;
    *after += s->data.size;
    return true;
}

void user_constants_report(const UserConstants *u, Out *out)
{
    uint64_t before = 0, after = 0;
    uint32_t files = 0;
    for (uint32_t k = 0; k < u->sections.n; k++)
        files += add_sizes(u, &u->sections.at[k], &before, &after);
    if (files)
        out_fmt(out, "constants of the user: %llu bytes in %u files, laid out in %llu\n", (unsigned long long)before,
                files, (unsigned long long)after);
}

static void put_text(Out *out, const char *member, const char *text)
{
    out_fmt(out, "\"%s\":", member);
    out_json(out, text, strlen(text));
}

void user_constants_report_json(const UserConstants *u, Out *out)
{
    bool any = false, first = true;
    for (uint32_t k = 0; k < u->sections.n; k++) {
        uint64_t before = 0, after = 0;
        if (!add_sizes(u, &u->sections.at[k], &before, &after))
            continue;
        out_z(out, any ? ",\n{" : ",\"constants\":[\n{");
        put_text(out, "file", u->link->inputs.at[u->sections.at[k].input].cubin.elf.file);
        out_fmt(out, ",\"before\":%llu,\"after\":%llu}", (unsigned long long)before, (unsigned long long)after);
        any = true;
    }
    if (!any)
        return;
    out_z(out, "\n],\"replaced\":[");
    for (uint32_t k = 1; k < u->constants.n; k++) {
        const UserConstant *x = &u->constants.at[k], *y = &u->constants.at[x->alias];
        if (!x->alias)
            continue;
        out_z(out, first ? "\n{" : ",\n{");
        put_text(out, "constant", name_of(u, x));
        out_char(out, ',');
        put_text(out, "file", file_of(u, x)->elf.file);
        out_char(out, ',');
        put_text(out, "by", name_of(u, y));
        out_char(out, ',');
        put_text(out, "of", file_of(u, y)->elf.file);
        out_char(out, '}');
        first = false;
    }
    out_z(out, "\n]");
}
