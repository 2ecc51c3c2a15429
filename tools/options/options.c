// SPDX-License-Identifier: MIT
// The option parser: -x and --x are the same, --x=v and --x v are the same, `--` ends the options. `@FILE` where an
// option is allowed is replaced by the arguments in FILE.
#include <stdio.h>

#include "tools/options/options.h"

const char *option_dashes(const Option *o) { return o->kind == ARG_JOINED || !o->name[1] ? "-" : "--"; }

/* -- Words for values ----------------------------------------------------------------------------------- */

void option_word(const Option *o, char word[static 200])
{
    bool brackets = *o->arg == '[';
    snprintf(word, 200, "%s", brackets ? o->arg + 1 + (o->arg[1] == '=') : o->arg);
    size_t n = strlen(word);
    if (brackets && n && word[n - 1] == ']')
        word[n - 1] = 0;
}

void option_choices(const Option *o, char text[static 200])
{
    char word[200];
    size_t n = 0;
    option_word(o, word);
    const char *last = strrchr(word, '|');
    for (const char *p = word; *p && n < 190; p++) {
        const char *between = p == last ? " or " : *p == '|' ? ", " : (char[]){*p, 0};
        n += (size_t)snprintf(text + n, 200 - n, "%s", between);
    }
    text[n] = 0;
}

int option_choice(const Option *o, const char *value)
{
    char word[200];
    option_word(o, word);
    int index = 0;
    for (const char *p = word; p; p = strchr(p, '|'), index++) {
        p += *p == '|';
        if (strcspn(p, "|") == strlen(value) && strncmp(p, value, strlen(value)) == 0)
            return index;
    }
    return -1;
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static const Option *find(const OptionParser *p, const char *name, size_t len)
{
    for (size_t k = 0; k < p->n; k++)
        if (strlen(p->table[k].name) == len && memcmp(p->table[k].name, name, len) == 0)
            return &p->table[k];
    return NULL;
}

// Finds -xV; V may also be the number of a one-letter option that parses its value itself.
static const Option *find_joined(const OptionParser *p, const char *name)
{
    bool number = name[0] && name[1] >= '0' && name[1] <= '9';
    for (size_t k = 0; k < p->n; k++) {
        const Option *o = &p->table[k];
        bool joined = o->kind == ARG_JOINED || o->kind == ARG_EITHER || (o->kind == ARG_VALUE && !o->name[1] && number);
        if (joined && strncmp(o->name, name, strlen(o->name)) == 0)
            return o;
    }
    return NULL;
}

// Returns the option with the most similar name: one with few edits between the names, or else the first that begins
// with `name`. NULL: no name is similar.
static const Option *find_similar(const OptionParser *p, const char *name, size_t len)
{
    Nearest best = {0};
    for (size_t k = 0; k < p->n; k++)
        if (p->table[k].name[1])
            nearest_offer(&best, name, len, p->table[k].name);
    if (best.n && best.distance[0] <= NEAREST_EDIT * MAX(len / 3, 1))
        return find(p, best.name[0], strlen(best.name[0]));
    for (size_t k = 0; k < p->n && len > 1; k++)
        if (strncmp(p->table[k].name, name, len) == 0)
            return &p->table[k];
    return NULL;
}

// Reports an option that is used in a wrong way.
static int fail(OptionParser *p, const char *what)
{
    p->status = ST_USAGE;
    snprintf(p->error, sizeof p->error, "option '%s%s' %s", option_dashes(p->option), p->option->name, what);
    return OPTION_ERROR;
}

static int fail_unknown(OptionParser *p, const char *name, size_t len)
{
    char hint[100] = "";
    const Option *similar = find_similar(p, name, len);
    if (similar)
        snprintf(hint, sizeof hint, "; did you mean %s%s?", option_dashes(similar), similar->name);
    p->status = ST_USAGE;
    snprintf(p->error, sizeof p->error, "unknown option '%.150s'%s", p->typed,
             similar ? hint : "; --help lists them all");
    return OPTION_ERROR;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

// Consumes the argument at p->at.
static const char *take(OptionParser *p)
{
    p->place = p->places ? p->places[p->at] : NULL;
    return p->argv[p->at++];
}

static int take_operand(OptionParser *p)
{
    if (p->at >= p->argc)
        return OPTION_END;
    p->value = take(p);
    return OPTION_OPERAND;
}

int option_next(OptionParser *p)
{
    p->value = p->place = NULL;
    if (p->operands_only)
        return take_operand(p);
    while (p->arena && p->at < p->argc && p->argv[p->at][0] == '@')
        if (!response_expand(p))
            return OPTION_ERROR;
    if (p->at >= p->argc)
        return OPTION_END;
    if (p->argv[p->at][0] != '-' || p->argv[p->at][1] == 0)
        return take_operand(p);
    const char *arg = p->typed = take(p), *name = arg + (arg[1] == '-' ? 2 : 1), *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    if (*name == 0) {
        p->operands_only = true;
        return take_operand(p);
    }
    const Option *o = p->option = find(p, name, len);
    if (!o && (p->option = o = find_joined(p, name))) {
        p->value = name + strlen(o->name);
        return o->id;
    }
    if (!o)
        return fail_unknown(p, name, len);
    if (o->kind == ARG_NONE)
        return equals ? fail(p, "takes no value") : o->id;
    if (equals)
        p->value = equals + 1;
    else if ((o->kind == ARG_VALUE || o->kind == ARG_EITHER) && p->at < p->argc)
        p->value = p->argv[p->at++];
    else if (o->kind != ARG_OPTIONAL)
        return fail(p, "requires a value");
    return o->id;
}
