// SPDX-License-Identifier: MIT
// Chooses the features of a program; parses and prints lists of features.
#include <stdio.h>

#include "tools/origen/origen.h"

static const struct {
    const char *name;
    uint32_t chance, sm;
    const char *help;
} rows[FEATURE_COUNT] = {
#define FEATURE(id, name, chance, sm, help) {name, chance, sm, help},
#include "tools/origen/features.def"
};

void features_by_seed(Options *o)
{
    uint64_t state = random_start(o->seed, "features");
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        o->on[f] = random_next(&state) >> 61 < rows[f].chance;
    o->on[FT_CORE] = true;
}

static bool set(Options *o, const char *name, size_t len, bool on)
{
    bool found = false, all = len == 3 && memcmp(name, "all", 3) == 0;
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        if (all ? rows[f].chance > 0 || !on : strlen(rows[f].name) == len && memcmp(rows[f].name, name, len) == 0) {
            o->on[f] = on;
            found = true;
        }
    return found;
}

static bool apply_name(Options *o, const char *name, size_t len)
{
    if (len == 4 && memcmp(name, "none", 4) == 0)
        return set(o, "all", 3, false);
    if (len && (*name == '+' || *name == '-'))
        return set(o, name + 1, len - 1, *name == '+');
    return set(o, name, len, true);
}

bool features_apply(Options *o, const char *list, char why[static 200])
{
    for (const char *at = list;;) {
        size_t len = strcspn(at, ",");
        if (!apply_name(o, at, len)) {
            snprintf(why, 200, "there is no feature '%.*s'; --list-features lists them", (int)MIN(len, 60), at);
            return false;
        }
        if (!at[len])
            return true;
        at += len + 1;
    }
}

void features_for_target(Options *o)
{
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        o->on[f] = o->on[f] && o->sm >= rows[f].sm;
}

void features_list(Out *out)
{
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        out_fmt(out, "%-12s  %s%s\n", rows[f].name, rows[f].help, rows[f].chance ? "" : " (only by name)");
}

void features_print(Out *out, const Options *o)
{
    out_z(out, "none");
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        if (o->on[f])
            out_fmt(out, ",%s", rows[f].name);
}
