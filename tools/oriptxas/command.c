// SPDX-License-Identifier: MIT
// The command line of ptxas: its inputs, its output, and the reason for no optimization.
//
// ptxas 13.0 takes `--name` and `-short`, with `=VALUE` or the next word as the value, and no abbreviations. -O and -m
// also take a number directly after the letter; `-O` alone has no value. Options files are read in the place of the
// option, and the last value of an option counts. `-` is standard input. ptxas has no `@FILE`; here it is replaced by
// the words of the file, unless there is a file of that very name.
//
// An option that is not in the table leaves the code unoptimized: it may take the next word, and it may be about
// debugging. A command line that ptxas will refuse is passed on for the message.
#include <stdlib.h>
#include <unistd.h>

#include "tools/oriptxas/oriptxas.h"

enum { NESTED_MOST = 16 };  // options files in options files

typedef enum { PLAIN, AS_IS, ANSWER } Effect;

static const struct {
    const char *brief;
    Effect effect;
} spellings[OPT_COUNT] = {
#define OPTION(...)
#define PTXAS(id, name, kind, arg, brief, effect, help) [OPT_##id] = {brief, effect},
#include "tools/oriptxas/oriptxas.def"
#undef OPTION
#undef PTXAS
};

// Keeps the first reason.
static void leave_as_is(Command *c, const char *reason, bool surprising)
{
    if (!c->as_is) {
        c->as_is = reason;
        c->surprising = surprising;
    }
}

// Returns the id of the option that a word names, -1 if there is none.
static int find_option(const char *word)
{
    bool full = word[1] == '-';
    const char *name = word + (full ? 2 : 1);
    size_t len = strcspn(name, "=");
    for (int id = OWN_OPTIONS; id < OPT_COUNT; id++) {
        const char *spelled = full ? ptxas_options[id].name : spellings[id].brief;
        if (strlen(spelled) == len && memcmp(spelled, name, len) == 0)
            return id;
    }
    return full ? -1 : name[0] == 'O' ? OPT_LEVEL : name[0] == 'm' ? OPT_MACHINE : -1;
}

// True for -O and -m, which may have a number directly after the letter.
static bool is_letter_of_number(int id, const char *word)
{
    return (id == OPT_LEVEL || id == OPT_MACHINE) && word[1] != '-';
}

// Returns the value within a word, as in `-o=x` and `-O3`; NULL: there is none.
static const char *value_within(int id, const char *word)
{
    const char *equals = strchr(word, '=');
    return equals ? equals + 1 : is_letter_of_number(id, word) && word[2] ? word + 2 : NULL;
}

// True if the value of the option is the next word.
static bool takes_next(int id, const char *word)
{
    bool alone = id == OPT_LEVEL && is_letter_of_number(id, word);
    return ptxas_options[id].kind == ARG_VALUE && !value_within(id, word) && !alone;
}

static void take_level(Command *c, const char *value)
{
    char *end;
    long level = *value ? strtol(value, &end, 0) : 0;
    c->level = level > 4 ? 4 : level < 1 ? 0 : (int)level;
    if (*value && *end)
        leave_as_is(c, "the optimization level is not a number", false);
}

static void read_list(Command *c, Arena *arena, const Texts *list, int depth);

// Reads only regular files: ptxas has to read the file again.
static void read_options_file(Command *c, Arena *arena, const char *path, int depth)
{
    Source source;
    char why[200];
    Texts words = {0};
    if (c->as_is)
        return;
    bool ok = depth < NESTED_MOST && file_is_regular(path) && source_open(&source, path, arena, why);
    if (ok) {
        ok = words_split(&words, arena, source.text, source.len);
        source_close(&source);
    }
    if (ok)
        read_list(c, arena, &words, depth + 1);
    else
        leave_as_is(c, "an options file cannot be read", false);
}

static void read_options_files(Command *c, Arena *arena, const char *paths, int depth)
{
    for (size_t len; *paths; paths += len + (paths[len] == ',')) {
        len = strcspn(paths, ",");
        read_options_file(c, arena, arena_text(arena, paths, len), depth);
    }
}

static const char *with_dashes(Arena *arena, int id)
{
    size_t n = strlen(ptxas_options[id].name);
    char *text = arena_alloc(arena, n + 3);
    memcpy(text, "--", 2);
    memcpy(text + 2, ptxas_options[id].name, n + 1);
    return text;
}

static void parse_option(Command *c, Arena *arena, int id, const char *value)
{
    if (spellings[id].effect != PLAIN)
        leave_as_is(c, with_dashes(arena, id), false);
    c->verbose |= id == OPT_VERBOSE;
    c->silent |= id == OPT_NO_WARNINGS;
    if (id == OPT_GPU)
        c->gpu = value;
    if (id == OPT_LEVEL && value)
        take_level(c, value);
}

// Takes the option that the k-th word of a list names. Returns the index of the word after it.
static uint32_t read_option(Command *c, Arena *arena, const Texts *list, uint32_t k, int depth)
{
    const char *word = list->at[k];
    int id = find_option(word);
    if (id < 0) {
        leave_as_is(c, arena_text(arena, word, strcspn(word, "=")), true);
        return k + 1;
    }
    bool two = takes_next(id, word);
    if (two && k + 1 == list->n) {
        leave_as_is(c, "an option has no value", false);
        return k + 1;
    }
    const char *value = two ? list->at[k + 1] : value_within(id, word);
    if (id == OPT_OPTIONS_FILE) {
        read_options_files(c, arena, value, depth);
    } else {
        Role role = id == OPT_OUTPUT ? ROLE_OUTPUT : ROLE_PLAIN;
        parse_option(c, arena, id, value);
        VEC_PUSH(arena, &c->words, ((Word){word, role}));
        if (two)
            VEC_PUSH(arena, &c->words, ((Word){value, role}));
    }
    return k + 1 + two;
}

static void read_list(Command *c, Arena *arena, const Texts *list, int depth)
{
    for (uint32_t k = 0; k < list->n;) {
        const char *word = list->at[k];
        if (word[0] == '-' && word[1]) {
            k = read_option(c, arena, list, k, depth);
        } else {
            VEC_PUSH(arena, &c->words, ((Word){word, ROLE_INPUT}));
            c->ninputs++;
            k++;
        }
    }
}

// Appends the words of FILE for `@FILE`. False: the word stays as it is.
static bool expand(Texts *given, Arena *arena, const char *word)
{
    Source source;
    Texts words = {0};
    char why[200];
    if (word[0] != '@' || strcmp(word, "@-") == 0 || access(word, F_OK) == 0 ||
        !source_open(&source, word + 1, arena, why))
        return false;
    bool ok = words_split(&words, arena, source.text, source.len);
    source_close(&source);
    for (uint32_t k = 0; ok && k < words.n; k++)
        VEC_PUSH(arena, given, words.at[k]);
    return ok;
}

void command_read(Command *c, Arena *arena, int argc, char **argv)
{
    *c = (Command){.level = -1};
    for (int k = 1; k < argc; k++)
        if (!expand(&c->given, arena, argv[k]))
            VEC_PUSH(arena, &c->given, argv[k]);
    read_list(c, arena, &c->given, 0);
    if (c->level == 0)
        leave_as_is(c, "--opt-level=0", false);
    if (c->gpu && strncmp(c->gpu, "sm_", 3) != 0)
        leave_as_is(c, "--gpu-name is not sm_NN", false);
    if (!c->ninputs)
        leave_as_is(c, "there is no input", false);
}
