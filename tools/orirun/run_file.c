// SPDX-License-Identifier: MIT
// Parser of .run files and of the values of options. A line and an option of the same name have the same meaning: both
// call run_plan_set().
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/options/options.h"
#include "tools/orirun/run_file.h"

typedef struct RunOptionInfo {
    const char *name;
    ArgKind kind;
    RunWhere where;
} RunOptionInfo;

static const RunOptionInfo option_info[RUN_OPTION_COUNT] = {
#define OPTION(id, name, kind, arg, where, help) {name, ARG_##kind, WHERE_##where},
#include "tools/orirun/orirun.def"
#undef OPTION
};

enum { ARGS_MAX = 4096 };

RunWhere run_option_where(RunOption o) { return option_info[o].where; }

/* -- Messages ------------------------------------------------------------------------------------------- */

bool run_fail(RunPlan *p, Status status, RunPlace place, const char *fmt, ...)
{
    char text[1000], line[1500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (p->status == ST_OK)
        p->status = status;
    if (place != NO_PLACE) {
        diag_at(&p->diag, DIAG_ERROR, place, "%s", text);
        return false;
    }
    int n = snprintf(line, sizeof line, "%s: %s%s%s%s%s\n", p->place ? p->place : p->program, p->place ? "error: " : "",
                     p->option ? "--" : "", p->option ? p->option : "", p->option ? ": " : "", text);
    p->diag.write(p->diag.user, line, (size_t)MIN(n, (int)sizeof line - 1));
    return false;
}

// Reports an error of the command line or the .run file. Returns false.
#define WRONG(p, place, ...) run_fail((p), (place) == NO_PLACE ? ST_USAGE : ST_BAD_INPUT, (place), __VA_ARGS__)

const char *run_nearest(const char *text, size_t len, const char *const *names, uint32_t n)
{
    Nearest best = {0};
    for (uint32_t k = 0; k < n; k++)
        nearest_offer(&best, text, len, names[k]);
    return best.n && best.distance[0] <= NEAREST_EDIT * MAX(len / 2, 1) ? best.name[0] : NULL;
}

// Writes "; did you mean 'NAME'?"; NULL: an empty text.
static const char *suggestion(char buf[static 100], const char *name)
{
    buf[0] = 0;
    if (name)
        snprintf(buf, 100, "; did you mean '%s'?", name);
    return buf;
}

/* -- Words and numbers ---------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

static char *copy_text(Arena *a, const char *text, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

// Returns a path, relative to the folder of the .run file if that has it.
static const char *path_of(const RunPlan *p, RunPlace place, const char *path)
{
    size_t n = strlen(path), folder = p->folder ? strlen(p->folder) : 0;
    if (place == NO_PLACE || path[0] == '/' || strcmp(path, "-") == 0)
        return path;
    char *whole = arena_alloc(p->arena, folder + n + 1);
    memcpy(whole, p->folder, folder);
    memcpy(whole + folder, path, n + 1);
    return whole;
}

// Reads the number at the start of a text and returns its end; NULL: there is none, or it is too large.
static const char *leading_number(const char *text, uint64_t *n)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return NULL;
    errno = 0;
    *n = strtoull(text, &end, 10);
    if (errno)
        return NULL;
    uint64_t scale = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    if (*n > UINT64_MAX / scale)
        return NULL;
    *n *= scale;
    return end + (scale > 1);
}

bool run_number(const char *text, uint64_t *n)
{
    const char *end = leading_number(text, n);
    return end && !*end;
}

static bool parse_number(RunPlan *p, RunPlace place, const char *text, uint64_t most, uint64_t *n)
{
    if (run_number(text, n) && *n <= most)
        return true;
    return WRONG(p, place, "'%s' is not a number from 0 to %" PRIu64, text, most);
}

static bool parse_size(RunPlan *p, RunPlace place, const char *text, uint64_t most, uint64_t *n)
{
    if (run_number(text, n) && *n <= most)
        return true;
    return WRONG(p, place, "'%s' is not a number from 0 to %" PRIu64 " (K, M and G may follow)", text, most);
}

static bool wrong_dim(RunPlan *p, RunPlace place, const char *text)
{
    return WRONG(p, place, "'%s' is not X, X,Y or X,Y,Z, numbers from 1 on%s", text,
                 strpbrk(text, " \t") ? " with commas between them" : "");
}

// Reads X, X,Y or X,Y,Z.
static bool parse_dim(RunPlan *p, RunPlace place, const char *text, Dim *d)
{
    uint64_t n[3] = {1, 1, 1};
    const char *at = text;
    for (int k = 0; k < 3; k++) {
        at = leading_number(at, &n[k]);
        if (!at || !n[k] || n[k] > INT32_MAX)
            return wrong_dim(p, place, text);
        if (*at != ',' || k == 2)
            break;
        at++;
    }
    if (*at)
        return wrong_dim(p, place, text);
    *d = (Dim){(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]};
    return true;
}

static bool parse_block(RunPlan *p, RunPlace place, const char *text, Dim *d)
{
    if (!parse_dim(p, place, text, d))
        return false;
    uint64_t threads = (uint64_t)d->x * d->y;
    if (threads > BLOCK_THREADS || threads * d->z > BLOCK_THREADS)
        return WRONG(p, place, "'%s': a block has at most %d threads", text, BLOCK_THREADS);
    return true;
}

static bool parse_grid(RunPlan *p, RunPlace place, const char *text, Dim *d)
{
    if (!parse_dim(p, place, text, d))
        return false;
    if (d->y > GRID_YZ || d->z > GRID_YZ)
        return WRONG(p, place, "'%s': a grid has at most %d blocks in y and in z", text, GRID_YZ);
    return (uint64_t)d->x * d->y <= UINT32_MAX / d->z || WRONG(p, place, "'%s' is a grid of too many blocks", text);
}

static bool parse_cluster(RunPlan *p, RunPlace place, const char *text, Dim *d)
{
    if (!parse_dim(p, place, text, d))
        return false;
    uint64_t most = CLUSTER_MAX;
    return (d->x <= most && d->y <= most / d->x && d->z <= most / d->x / d->y) ||
           WRONG(p, place, "'%s': a cluster has at most %d blocks", text, CLUSTER_MAX);
}

// Returns the type, or another of the `n` names, that a wrong name may mean: that of a type of C, or the nearest one.
static const char *nearest_type(const char *text, size_t len, const char *const *names, uint32_t n)
{
    static const char *const types_of_c[][2] = {
        {"int", "s32"},      {"i32", "s32"},    {"int32", "s32"}, {"int32_t", "s32"}, {"unsigned", "u32"},
        {"uint", "u32"},     {"uint32", "u32"}, {"long", "s64"},  {"i64", "s64"},     {"int64", "s64"},
        {"int64_t", "s64"},  {"uint64", "u64"}, {"ulong", "u64"}, {"size_t", "u64"},  {"uint64_t", "u64"},
        {"uint32_t", "u32"}, {"short", "s16"},  {"i16", "s16"},   {"char", "s8"},     {"i8", "s8"},
        {"bool", "u8"},      {"half", "f16"},   {"float", "f32"}, {"double", "f64"},
    };
    for (size_t k = 0; k < ARRAY_LEN(types_of_c); k++)
        if (is_word(text, len, types_of_c[k][0]))
            return types_of_c[k][1];
    return run_nearest(text, len, names, n);
}

static bool parse_type(RunPlan *p, RunPlace place, const char *text, size_t len, Type *t)
{
    const char *names[TYPE_COUNT];
    char hint[100];
    uint32_t n = 0;
    *t = type_find(text, len);
    if (*t && value_type(*t))
        return true;
    for (Type k = TY_NONE + 1; k < TYPE_COUNT; k++)
        if (value_type(k))
            names[n++] = type_info[k].name;
    return WRONG(p, place, "'%.*s' is not a type of values%s", (int)len, text,
                 suggestion(hint, nearest_type(text, len, names, n)));
}

static bool parse_value(RunPlan *p, RunPlace place, Type t, const char *text, uint64_t *bits)
{
    char why[200];
    return value_parse(t, text, bits, why) || WRONG(p, place, "%s", why);
}

static bool parse_wide(RunPlan *p, RunPlace place, Type t, const char *text, uint64_t *bits)
{
    char why[200];
    return value_parse_wide(t, text, bits, why) || WRONG(p, place, "%s", why);
}

static int hex_digit(char c) { return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10; }

static bool parse_hex(RunPlan *p, RunPlace place, const char *text, const uint8_t **bytes, uint64_t *size)
{
    size_t n = strlen(text);
    if (strspn(text, "0123456789abcdefABCDEF") != n)
        return WRONG(p, place, "'%c' is not a hexadecimal digit", text[strspn(text, "0123456789abcdefABCDEF")]);
    if (n % 2)
        return WRONG(p, place, "%zu hexadecimal digits are not a whole number of bytes", n);
    uint8_t *to = arena_alloc(p->arena, n / 2 + 1);
    for (size_t k = 0; k < n / 2; k++)
        to[k] = (uint8_t)(hex_digit(text[2 * k]) << 4 | hex_digit(text[2 * k + 1]));
    *bytes = to;
    *size = n / 2;
    return true;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

// Splits at colons, in place. Returns the number of parts, `max` + 1 if there are too many.
static uint32_t split(char *text, char **part, uint32_t max)
{
    uint32_t n = 0;
    for (char *at = text; at; n++) {
        if (n == max)
            return max + 1;
        part[n] = at;
        at = strchr(at, ':');
        if (at)
            *at++ = 0;
    }
    return n;
}

static bool parse_range(RunPlan *p, RunPlace place, Fill *f, const char *low, const char *high)
{
    f->ranged = true;
    if (!parse_wide(p, place, f->type, low, &f->low) || !parse_wide(p, place, f->type, high, &f->high))
        return false;
    return value_less_wide(f->type, f->low, f->high) ||
           WRONG(p, place, "the range from %s to %s, without its end, is empty", low, high);
}

// Reads iota[:START[:STEP]], rand:SEED[:LO:HI] or fill:V.
static bool parse_generator(RunPlan *p, RunPlace place, const char *text, Fill *f)
{
    static const char *const names[] = {"iota", "rand", "fill"};
    char *part[4] = {NULL}, hint[100];
    uint32_t n = split(copy_text(p->arena, text, strlen(text)), part, ARRAY_LEN(part));
    if (strcmp(part[0], "iota") == 0) {
        f->kind = FILL_IOTA;
        if (n > 3)
            return WRONG(p, place, "'%s' is not iota[:START[:STEP]]", text);
        return parse_wide(p, place, f->type, n > 1 ? part[1] : "0", &f->start) &&
               parse_wide(p, place, f->type, n > 2 ? part[2] : "1", &f->step);
    }
    if (strcmp(part[0], "rand") == 0) {
        f->kind = FILL_RAND;
        if (n != 2 && n != 4)
            return WRONG(p, place, "'%s' is not rand:SEED or rand:SEED:LO:HI", text);
        return parse_number(p, place, part[1], UINT64_MAX, &f->seed) &&
               (n == 2 || parse_range(p, place, f, part[2], part[3]));
    }
    if (strcmp(part[0], "fill") == 0) {
        f->kind = FILL_SAME;
        return n == 2 ? parse_value(p, place, f->type, part[1], &f->value)
                      : WRONG(p, place, "'%s' is not fill:VALUE", text);
    }
    return WRONG(p, place, "'%s' is not an initial value of a buffer%s (iota, rand or fill)", part[0],
                 suggestion(hint, run_nearest(part[0], strlen(part[0]), names, ARRAY_LEN(names))));
}

// Reads @FILE.
static bool parse_file(RunPlan *p, RunPlace place, const char *text, Fill *f)
{
    f->kind = FILL_FILE;
    f->path = path_of(p, place, text + 1);
    return text[1] || WRONG(p, place, "a file name must follow `@`");
}

// Reads SIZE, @FILE, TYPE:@FILE, hex:DIGITS or COUNTxTYPE[:generator or :@FILE].
static bool parse_buffer(RunPlan *p, RunPlace place, const char *text, RunArg *a)
{
    Fill *f = &a->fill;
    a->kind = RA_BUFFER;
    if (*text == '@')
        return parse_file(p, place, text, f);
    if (strncmp(text, "hex:", 4) == 0) {
        f->kind = FILL_BYTES;
        return parse_hex(p, place, text + 4, &f->bytes, &a->size);
    }
    const char *end = leading_number(text, &f->count), *colon = strchr(text, ':');
    if (!end && colon && colon[1] == '@')
        return parse_type(p, place, text, (size_t)(colon - text), &f->type) && parse_file(p, place, colon + 1, f);
    if (!end || (*end && *end != 'x'))
        return WRONG(p, place,
                     "'buf:%s' is not buf:SIZE, buf:@FILE, buf:hex:DIGITS or buf:COUNTxTYPE:... (K, M and G may follow "
                     "SIZE and COUNT)",
                     text);
    if (!*end) {
        a->size = f->count;
        return true;
    }
    size_t type = strcspn(end + 1, ":");
    if (!parse_type(p, place, end + 1, type, &f->type))
        return false;
    if (f->count > INT64_MAX / value_bytes(f->type))
        return WRONG(p, place, "a buffer of %" PRIu64 " values is too large", f->count);
    a->size = f->count * value_bytes(f->type);
    const char *generator = end + 1 + type;
    if (strncmp(generator, ":@", 2) == 0)
        return parse_file(p, place, generator + 1, f);
    return !*generator || parse_generator(p, place, generator + 1, f);
}

static bool parse_scalar(RunPlan *p, RunPlace place, Type t, const char *text, RunArg *a)
{
    uint64_t bits;
    uint8_t *bytes = NEW_ARRAY(p->arena, uint8_t, 8);
    if (!parse_value(p, place, t, text, &bits))
        return false;
    value_store(bytes, t, bits);
    a->kind = RA_SCALAR;
    a->bytes = bytes;
    a->size = value_bytes(t);
    return true;
}

// Reads the number of an earlier argument that has a buffer.
static bool parse_reference(RunPlan *p, RunPlace place, const RunLaunch *l, const char *text, RunArg *a)
{
    uint64_t n;
    a->kind = RA_REF;
    if (!run_number(text, &n) || n >= l->args.n)
        return WRONG(p, place, "'%s' is not the number of an earlier argument (the first is 0)", text);
    a->of = (uint32_t)n;
    return l->args.at[n].kind >= RA_BUFFER || WRONG(p, place, "argument %s has no buffer", text);
}

static bool unknown_argument(RunPlan *p, RunPlace place, const char *text, size_t len)
{
    const char *names[TYPE_COUNT + 4] = {"buf", "ref", "struct", "keep"};
    char hint[100];
    uint32_t n = 4;
    for (Type t = TY_NONE + 1; t < TYPE_COUNT; t++)
        if (value_type(t))
            names[n++] = type_info[t].name;
    if (!text[len])
        return WRONG(p, place, "'%s' is not KIND:VALUE, as in u32:7 or buf:1024", text);
    return WRONG(p, place, "'%.*s' is not a kind of argument%s", (int)len, text,
                 suggestion(hint, nearest_type(text, len, names, n)));
}

static bool parse_arg(RunPlan *p, RunPlace place, RunLaunch *l, const char *text)
{
    RunArg a = {.place = place, .text = copy_text(p->arena, text, strlen(text))};
    size_t len = strcspn(text, ":");
    const char *rest = text + len + 1;
    Type t = type_find(text, len);
    bool ok;
    uint64_t n;
    if (!text[len]) {
        ok = unknown_argument(p, place, text, len);
    } else if (t && value_type(t)) {
        ok = parse_scalar(p, place, t, rest, &a);
    } else if (is_word(text, len, "buf")) {
        ok = parse_buffer(p, place, rest, &a);
    } else if (is_word(text, len, "ref")) {
        ok = parse_reference(p, place, l, rest, &a);
    } else if (is_word(text, len, "keep")) {
        a.kind = RA_KEPT;
        ok = parse_number(p, place, rest, ARGS_MAX, &n);
        a.of = ok ? (uint32_t)n : 0;
    } else if (is_word(text, len, "struct")) {
        a.kind = RA_STRUCT;
        ok = strncmp(rest, "hex:", 4) == 0 ? parse_hex(p, place, rest + 4, &a.bytes, &a.size)
                                           : WRONG(p, place, "'%s' is not struct:hex:DIGITS", text);
    } else {
        ok = unknown_argument(p, place, text, len);
    }
    if (ok && l->args.n == ARGS_MAX)
        ok = WRONG(p, place, "a kernel has at most %d arguments", ARGS_MAX);
    if (ok)
        VEC_PUSH(p->arena, &l->args, a);
    return ok;
}

/* -- Buffers and variables that are named ---------------------------------------------------------------- */

typedef enum { NAMES_ARG, NAMES_SYMBOL, NAMES_EITHER } Names;

// Reads NAME[:TYPE][[FIRST]]. A number names an argument, any other name a variable of the module.
static bool parse_target(RunPlan *p, RunPlace place, const char *text, size_t len, Names names, RunTarget *t)
{
    size_t open = len && text[len - 1] == ']' ? len : 0;
    uint64_t n;
    *t = (RunTarget){.place = place};
    while (open && text[open - 1] != '[')
        open--;
    if (open) {
        if (!run_number(copy_text(p->arena, text + open, len - open - 1), &t->first))
            return WRONG(p, place, "'%.*s' does not end in [INDEX]", (int)len, text);
        len = open - 1;
    }
    const char *colon = memchr(text, ':', len);
    size_t name = colon ? (size_t)(colon - text) : len;
    if (colon && !parse_type(p, place, colon + 1, len - name - 1, &t->type))
        return false;
    const char *which = copy_text(p->arena, text, name);
    if (!name)
        return WRONG(p, place, "the number of an argument or the name of a variable is missing");
    if (names == NAMES_SYMBOL || (names == NAMES_EITHER && !isdigit((unsigned char)*which))) {
        t->symbol = which;
        return true;
    }
    if (!run_number(which, &n) || n >= ARGS_MAX)
        return WRONG(p, place, "'%s' is not the number of an argument (the first is 0)", which);
    t->arg = (uint32_t)n;
    return true;
}

static bool parse_dump(RunPlan *p, RunPlace place, RunLaunch *l, const char *text, Names names)
{
    RunTarget t;
    if (!parse_target(p, place, text, strlen(text), names, &t))
        return false;
    VEC_PUSH(p->arena, &l->dumps, t);
    return true;
}

static bool parse_dump_file(RunPlan *p, RunPlace place, RunLaunch *l, const char *text)
{
    const char *equals = strchr(text, '=');
    RunTarget t;
    if (!equals || !equals[1])
        return WRONG(p, place, "'%s' is not N=FILE", text);
    if (!parse_target(p, place, text, (size_t)(equals - text), NAMES_EITHER, &t))
        return false;
    t.path = path_of(p, place, copy_text(p->arena, equals + 1, strlen(equals + 1)));
    VEC_PUSH(p->arena, &l->dumps, t);
    return true;
}

static bool parse_digest(RunPlan *p, RunPlace place, const char *text, uint64_t *digest)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16)
        return WRONG(p, place, "'%s' is not a digest, 16 hexadecimal digits", text);
    *digest = strtoull(text, NULL, 16);
    return true;
}

// Reads ~N, ~abs:X or ~rel:X.
static bool parse_tolerance(RunPlan *p, RunPlace at, const char *word, RunExpect *e)
{
    char why[200];
    Type t = e->target.type;
    uint64_t *bound = strncmp(word, "~abs:", 5) == 0   ? &e->absolute
                      : strncmp(word, "~rel:", 5) == 0 ? &e->relative
                                                       : NULL;
    if (bound) {
        e->within = true;
        if (!value_parse(TY_F64, word + 5, bound, why) || *bound >= UINT64_C(0x7ff) << 52)
            return WRONG(p, at, "'%s' is not %.5sX, where X is a number from 0 on", word, word);
        return value_is_number(t) || WRONG(p, at, "values of %s have no distance", type_info[t].name);
    }
    e->near = true;
    if (!run_number(word + 1, &e->ulps))
        return WRONG(p, at, "'%s' is not ~N (units in the last place), ~abs:X or ~rel:X", word);
    return value_has_ulps(t) || WRONG(p, at, "%s has no units in the last place", type_info[t].name);
}

// Reads digest HEX..., or N:TYPE [~ULPS] [~abs:X] [~rel:X] VALUE... or @FILE.
static bool parse_expect(RunPlan *p, RunPlace place, RunLaunch *l, const char *text)
{
    RunExpect e = {.target = {.place = place}};
    char *words = copy_text(p->arena, text, strlen(text)), *rest, *word = strtok_r(words, " \t", &rest);
    if (!word)
        return WRONG(p, place, "no expectation follows: write `digest HEX...` or `N:TYPE VALUE...`");
    e.digest = strcmp(word, "digest") == 0;
    if (!e.digest && !parse_target(p, place, word, strlen(word), NAMES_EITHER, &e.target))
        return false;
    if (!e.digest && !e.target.type)
        return WRONG(p, place, "'%s' requires a type, as in %s:u32", word, word);
    const char *last = word;
    for (word = strtok_r(NULL, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        RunPlace at = place == NO_PLACE ? place : place + (size_t)(word - words);
        uint64_t value;
        if (*word == '~' && !e.digest && !e.values.n) {
            if (!parse_tolerance(p, at, word, &e))
                return false;
            continue;
        }
        if (*word == '@' && !e.digest && !e.values.n) {
            // The path is all that follows; it may have blanks.
            const char *path = text + (word - words) + 1;
            e.path = path_of(p, place, copy_text(p->arena, path, strlen(path)));
            if (!*path)
                return WRONG(p, at, "a file name must follow `@`");
            break;
        }
        if (!(e.digest ? parse_digest(p, at, word, &value) : parse_value(p, at, e.target.type, word, &value)))
            return false;
        VEC_PUSH(p->arena, &e.values, value);
    }
    if (!e.values.n && !e.path)
        return WRONG(p, place, "no values follow '%s'", last);
    VEC_PUSH(p->arena, &l->expects, e);
    return true;
}

/* -- Options and lines ---------------------------------------------------------------------------------- */

void run_plan_init(RunPlan *p, const char *program, Arena *arena, void (*write)(void *user, const char *text, size_t n),
                   void *user)
{
    *p = (RunPlan){.program = program, .arena = arena, .module_place = NO_PLACE};
    p->diag = (Diag){.write = write, .user = user};
    RunLaunch first = {.place = NO_PLACE, .entry_place = NO_PLACE, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    VEC_PUSH(arena, &p->launches, first);
}

static bool set(RunPlan *p, RunOption o, const char *value, RunPlace place)
{
    RunLaunch *l = &p->launches.at[p->launches.n - 1];
    uint64_t n;
    switch (o) {
    case RO_ENTRY:
        l->entry = copy_text(p->arena, value, strlen(value));
        l->entry_place = place;
        return true;
    case RO_GRID: return parse_grid(p, place, value, &l->grid);
    case RO_BLOCK: return parse_block(p, place, value, &l->block);
    case RO_CLUSTER: return parse_cluster(p, place, value, &l->cluster);
    case RO_SHARED:
        if (!parse_size(p, place, value, UINT32_MAX / 2, &n))
            return false;
        l->shared = (uint32_t)n;
        return true;
    case RO_ARG: return parse_arg(p, place, l, value);
    case RO_DUMP: return parse_dump(p, place, l, value, NAMES_ARG);
    case RO_DUMP_FILE: return parse_dump_file(p, place, l, value);
    case RO_DUMP_SYMBOL: return parse_dump(p, place, l, value, NAMES_SYMBOL);
    case RO_EXPECT: return parse_expect(p, place, l, value);
    case RO_NONDET: {
        RunTarget t;
        if (!parse_target(p, place, value, strlen(value), NAMES_EITHER, &t))
            return false;
        VEC_PUSH(p->arena, &l->nondet, t);
        return true;
    }
    case RO_KEEP:
        if (p->launches.n == 1)
            return WRONG(p, place, "there is no earlier launch whose memory can be kept");
        l->keep = true;
        return true;
    case RO_MODULE:
        p->module = path_of(p, place, copy_text(p->arena, value, strlen(value)));
        p->module_place = place;
        return true;
    case RO_MAX_STEPS: return parse_size(p, place, value, UINT64_MAX, &p->options.max_steps);
    case RO_SCHEDULE: return parse_number(p, place, value, UINT64_MAX, &p->options.seed);
    case RO_CHECK_RACES:
        p->options.check_races = value ? RACES_LANES : RACES_WARPS;
        return !value || strcmp(value, "warp") == 0 || WRONG(p, place, "'%s' is not warp", value);
    case RO_RACE_MEMORY: return parse_size(p, place, value, UINT64_MAX, &p->options.race_memory);
    case RO_CHECK_BOUNDS: p->options.check_bounds = true; return true;
    case RO_CHECK_UNINIT: p->options.check_uninit = true; return true;
    default: return true;
    }
}

bool run_plan_set(RunPlan *p, RunOption o, const char *value, RunPlace place)
{
    p->option = option_info[o].name;
    bool ok = set(p, o, value, place);
    p->option = NULL;
    return ok;
}

/* -- .run files ----------------------------------------------------------------------------------------- */

// A line without its comment: a name, and its value without quotes, or NULL.
typedef struct RunLine {
    const char *name;
    size_t len;
    RunPlace name_at, value_at;
    char *value;
    bool several;  // the value has blanks outside of quotes
} RunLine;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool split_line(RunPlan *p, const char *text, size_t from, size_t to, RunLine *line)
{
    size_t at = from, n = 0, kept = 0, open = 0;
    while (at < to && is_blank(text[at]))
        at++;
    *line = (RunLine){.name = text + at, .name_at = at};
    while (at < to && !is_blank(text[at]) && text[at] != '=' && text[at] != '#')
        at++;
    line->len = at - line->name_at;
    while (at < to && is_blank(text[at]))
        at++;
    if (at < to && text[at] == '=')
        at++;
    while (at < to && is_blank(text[at]))
        at++;
    line->value_at = at;
    char *value = arena_alloc(p->arena, to - at + 1);
    for (bool quoted = false; at < to; at++) {
        char c = text[at];
        if (c == '"') {
            line->several |= !quoted && n > kept;
            quoted = !quoted;
            open = quoted ? at + 1 : 0;
            line->value = value;  // "" is a value, too
            kept = n;
        } else if (c == '#' && !quoted && (n == 0 || is_blank(text[at - 1]))) {
            break;
        } else {
            line->several |= !quoted && !is_blank(c) && n > kept;
            value[n++] = c;
            if (quoted || !is_blank(c))
                kept = n;
        }
    }
    if (open)
        return WRONG(p, open - 1, "the quote is not closed on this line");
    value[kept] = 0;
    if (kept)
        line->value = value;
    return true;
}

static bool unknown_line(RunPlan *p, const RunLine *line)
{
    const char *names[RUN_OPTION_COUNT];
    char hint[100];
    uint32_t n = 0;
    size_t dashes = 0;
    while (dashes < line->len && line->name[dashes] == '-')
        dashes++;
    for (RunOption o = 0; o < RUN_OPTION_COUNT; o++) {
        if (option_info[o].where != WHERE_COMMAND)
            names[n++] = option_info[o].name;
        else if (is_word(line->name + dashes, line->len - dashes, option_info[o].name))
            return WRONG(p, line->name_at, "'%s' is for the command line only", option_info[o].name);
    }
    const char *near = run_nearest(line->name + dashes, line->len - dashes, names, n);
    if (dashes && near && is_word(line->name + dashes, line->len - dashes, near))
        return WRONG(p, line->name_at, "write '%s' without dashes", near);
    return WRONG(p, line->name_at, "'%.*s' is not an option of .run files%s", (int)MIN(line->len, 60), line->name,
                 suggestion(hint, near));
}

static RunOption find_line(const RunLine *line)
{
    for (RunOption o = 0; o < RUN_OPTION_COUNT; o++)
        if (option_info[o].where != WHERE_COMMAND && is_word(line->name, line->len, option_info[o].name))
            return o;
    return RUN_OPTION_COUNT;
}

static bool parse_line(RunPlan *p, const RunLine *line)
{
    RunOption o = find_line(line);
    if (o == RUN_OPTION_COUNT)
        return unknown_line(p, line);
    if ((o == RO_MODULE) != !p->module)
        return p->module ? WRONG(p, line->name_at, "there is one `file` line in a .run file")
                         : WRONG(p, line->name_at, "the first line must be `file FILE`, the module");
    const char *name = option_info[o].name;
    if (option_info[o].kind == ARG_NONE && line->value)
        return WRONG(p, line->value_at, "nothing may follow '%s'", name);
    if (option_info[o].kind == ARG_VALUE && !line->value)
        return WRONG(p, line->name_at, "a value must follow '%s'", name);
    if (line->several && (o == RO_GRID || o == RO_BLOCK || o == RO_CLUSTER))
        return WRONG(p, line->value_at, "commas separate the numbers of '%s', as in 4,2", name);
    if (line->several && o != RO_EXPECT)
        return WRONG(p, line->value_at, "one value follows '%s'; if it holds blanks, put it in quotes", name);
    return run_plan_set(p, o, line->value, line->value ? line->value_at : line->name_at);
}

static void new_launch(RunPlan *p)
{
    RunLaunch l = {.place = NO_PLACE, .entry_place = NO_PLACE, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    VEC_PUSH(p->arena, &p->launches, l);
}

static void record_folder(RunPlan *p, const char *path)
{
    const char *slash = strrchr(path, '/');
    p->folder = slash ? copy_text(p->arena, path, (size_t)(slash - path) + 1) : "";
}

bool run_plan_read(RunPlan *p, const Source *source)
{
    size_t separator = NO_PLACE;
    p->diag.source = source;
    record_folder(p, source->name);
    for (size_t at = 0; at < source->len;) {
        const char *nl = memchr(source->text + at, '\n', source->len - at);
        size_t end = nl ? (size_t)(nl - source->text) : source->len;
        RunLine line;
        if (!split_line(p, source->text, at, end, &line))
            return false;
        at = end + 1;
        if (!line.len && !line.value)
            continue;
        RunLaunch *l = &p->launches.at[p->launches.n - 1];
        if (is_word(line.name, line.len, "---")) {
            if (!p->module)
                return WRONG(p, line.name_at, "the first line must be `file FILE`, the module");
            if (l->place == NO_PLACE)
                return WRONG(p, line.name_at, "there is no launch before this line");
            separator = line.name_at;
            new_launch(p);
            continue;
        }
        if (!parse_line(p, &line))
            return false;
        if (l->place == NO_PLACE && !is_word(line.name, line.len, "file"))
            l->place = line.name_at;
    }
    if (!p->module)
        return WRONG(p, 0, "the first line must be `file FILE`, the module");
    if (separator != NO_PLACE && p->launches.at[p->launches.n - 1].place == NO_PLACE)
        return WRONG(p, separator, "there is no launch after this line");
    if (p->launches.at[0].place == NO_PLACE)
        p->launches.at[0].place = 0;
    return true;
}
