// SPDX-License-Identifier: MIT
// The option parser: -x and --x are the same, --x=v and --x v are the same, `--` ends the options.
#include <stdio.h>

#include "tools/options/options.h"

static int fail(OptionParser *p, const char *fmt, const char *what)
{
    snprintf(p->error, sizeof p->error, fmt, what);
    return OPTION_ERROR;
}

static const Option *find(const OptionParser *p, const char *name, size_t len)
{
    for (size_t k = 0; k < p->n; k++)
        if (strlen(p->table[k].name) == len && memcmp(p->table[k].name, name, len) == 0)
            return &p->table[k];
    return NULL;
}

// -xV; for a number also that of an option of one letter that takes its value apart, too.
static const Option *find_joined(const OptionParser *p, const char *name)
{
    bool number = name[0] && name[1] >= '0' && name[1] <= '9';
    for (size_t k = 0; k < p->n; k++) {
        const Option *o = &p->table[k];
        bool joined = o->kind == ARG_JOINED || (o->kind == ARG_VALUE && !o->name[1] && number);
        if (joined && strncmp(o->name, name, strlen(o->name)) == 0)
            return o;
    }
    return NULL;
}

int option_next(OptionParser *p)
{
    p->value = NULL;
    if (p->at >= p->argc)
        return OPTION_END;
    const char *arg = p->argv[p->at++];
    if (arg[0] != '-' || arg[1] == 0) {
        p->value = arg;
        return OPTION_OPERAND;
    }
    const char *name = arg + (arg[1] == '-' ? 2 : 1), *equals = strchr(name, '=');
    if (*name == 0) {  // `--`: only operands follow
        if (p->at >= p->argc)
            return OPTION_END;
        p->value = p->argv[p->at];
        p->argv[p->at] = p->argv[p->at - 1];  // stay behind the `--`
        return OPTION_OPERAND;
    }
    const Option *o = find(p, name, equals ? (size_t)(equals - name) : strlen(name));
    p->option = o;
    if (!o && (p->option = o = find_joined(p, name))) {
        p->value = name + strlen(o->name);
        return o->id;
    }
    if (!o)
        return fail(p, "unknown option '%s'; --help lists them all", arg);
    if (o->kind == ARG_NONE)
        return equals ? fail(p, "option '%s' takes no value", o->name) : o->id;
    if (equals)
        p->value = equals + 1;
    else if (o->kind == ARG_VALUE && p->at < p->argc)
        p->value = p->argv[p->at++];
    else if (o->kind != ARG_OPTIONAL)
        return fail(p, "option '--%s' needs a value", o->name);
    return o->id;
}

const char *option_dashes(const Option *o) { return o->kind == ARG_JOINED || !o->name[1] ? "-" : "--"; }
