// SPDX-License-Identifier: MIT
// Demangles names by recursive descent over the grammar of the Itanium C++ ABI. Supported: nested and local names,
// templates, operators, constructors and destructors, lambdas, substitutions, builtin, pointer, reference, array and
// function types, and literals. Other names stay mangled: expressions, packs, and special names but vtables.
#include <stdlib.h>

#include "tools/orilink/demangle.h"

enum { DEPTH_MAX = 64, TEXT_MAX = 4096, SUBSTITUTIONS_MAX = 256 };

typedef struct Demangler {
    const char *at;
    Arena *arena;
    bool failed;
    int depth;
    const char *substitution[SUBSTITUTIONS_MAX];
    int nsubstitutions;
    const char *argument[64];  // template arguments of the outermost template
    int narguments;
    bool is_template, is_special;  // of the last name: the encoding has a result type; it has none
} Demangler;

static const char *fail(Demangler *d)
{
    d->failed = true;
    return "";
}

static const char *join(Demangler *d, const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c);
    if (n > TEXT_MAX)
        return fail(d);
    char *text = arena_alloc(d->arena, n + 1);
    strcpy(text, a);
    strcat(text, b);
    return strcat(text, c);
}

static bool take(Demangler *d, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(d->at, text, n) != 0)
        return false;
    d->at += n;
    return true;
}

static const char *add(Demangler *d, const char *text)
{
    if (d->nsubstitutions < SUBSTITUTIONS_MAX)
        d->substitution[d->nsubstitutions++] = text;
    return text;
}

static const char *type(Demangler *d);
static const char *name(Demangler *d);
static const char *encoding(Demangler *d, bool with_result);

// Reads a number; -1: there is none.
static int number(Demangler *d)
{
    int n = -1;
    for (; *d->at >= '0' && *d->at <= '9' && n < 10000; d->at++)
        n = MAX(n, 0) * 10 + (*d->at - '0');
    return n;
}

static const char *source_name(Demangler *d)
{
    int n = number(d);
    if (n <= 0 || memchr(d->at, 0, (size_t)n))
        return fail(d);
    const char *text = arena_text(d->arena, d->at, (size_t)n);
    d->at += n;
    return strncmp(text, "_GLOBAL__N", 10) == 0 ? "(anonymous namespace)" : text;
}

/* -- Substitutions and templates ------------------------------------------------------------------------- */

// Reads `S_`, `S0_`, ..., or the abbreviation of a name of the standard library; `St` alone is left to the caller.
static const char *substitution(Demangler *d)
{
    static const struct {
        char letter;
        const char *text;
    } names[] = {{'a', "std::allocator"}, {'b', "std::basic_string"}, {'s', "std::string"},
                 {'i', "std::istream"},   {'o', "std::ostream"},      {'d', "std::iostream"}};
    int n = 0;
    d->at++;
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (*d->at == names[k].letter) {
            d->at++;
            return names[k].text;
        }
    if (*d->at != '_') {
        for (; (*d->at >= '0' && *d->at <= '9') || (*d->at >= 'A' && *d->at <= 'Z'); d->at++)
            n = n > 1000 ? n : n * 36 + (*d->at <= '9' ? *d->at - '0' : *d->at - 'A' + 10);
        n++;
    }
    return take(d, "_") && n < d->nsubstitutions ? d->substitution[n] : fail(d);
}

// Reads `T_`, `T0_`, ...
static const char *template_parameter(Demangler *d)
{
    d->at++;
    int n = number(d) + 1;
    return take(d, "_") && n < d->narguments ? d->argument[n] : fail(d);
}

static const char *literal(Demangler *d)
{
    const char *of = type(d), *start = d->at;
    while (*d->at && *d->at != 'E')
        d->at++;
    const char *digits = arena_text(d->arena, start, (size_t)(d->at - start));
    if (!take(d, "E"))
        return fail(d);
    if (*digits == 'n')
        digits = join(d, "-", digits + 1, "");
    if (strcmp(of, "bool") == 0)
        return strcmp(digits, "1") == 0 ? "true" : "false";
    static const char *const suffixes[][2] = {{"int", ""},         {"unsigned int", "u"},
                                              {"long", "l"},       {"unsigned long", "ul"},
                                              {"long long", "ll"}, {"unsigned long long", "ull"}};
    for (size_t k = 0; k < ARRAY_LEN(suffixes); k++)
        if (strcmp(of, suffixes[k][0]) == 0)
            return join(d, digits, suffixes[k][1], "");
    return join(d, "(", of, join(d, ")", digits, ""));
}

// Reads a template argument: a type, a literal, or a template parameter as an expression.
static const char *template_argument(Demangler *d)
{
    if (take(d, "L"))
        return literal(d);
    if (take(d, "X")) {
        const char *text = *d->at == 'T' ? template_parameter(d) : fail(d);
        return take(d, "E") ? text : fail(d);
    }
    return type(d);
}

static const char *template_arguments(Demangler *d, bool outermost)
{
    const char *text = "<";
    int n = 0;
    const char *found[64];
    d->at++;
    while (!d->failed && !take(d, "E")) {
        const char *one = template_argument(d);
        text = join(d, text, n ? ", " : "", one);
        if (n == 64)
            return fail(d);
        found[n++] = one;
    }
    if (outermost) {
        memcpy(d->argument, found, (size_t)n * sizeof *found);
        d->narguments = n;
    }
    return join(d, text, ">", "");
}

/* -- Names ----------------------------------------------------------------------------------------------- */

static const char *operator_name(Demangler *d)
{
    static const char *const names[][2] = {
        {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"ps", "+"},   {"ng", "-"},
        {"ad", "&"},    {"de", "*"},      {"co", "~"},       {"pl", "+"},         {"mi", "-"},   {"ml", "*"},
        {"dv", "/"},    {"rm", "%"},      {"an", "&"},       {"or", "|"},         {"eo", "^"},   {"aS", "="},
        {"pL", "+="},   {"mI", "-="},     {"mL", "*="},      {"dV", "/="},        {"rM", "%="},  {"aN", "&="},
        {"oR", "|="},   {"eO", "^="},     {"ls", "<<"},      {"rs", ">>"},        {"lS", "<<="}, {"rS", ">>="},
        {"eq", "=="},   {"ne", "!="},     {"lt", "<"},       {"gt", ">"},         {"le", "<="},  {"ge", ">="},
        {"nt", "!"},    {"aa", "&&"},     {"oo", "||"},      {"pp", "++"},        {"mm", "--"},  {"cm", ","},
        {"pm", "->*"},  {"pt", "->"},     {"cl", "()"},      {"ix", "[]"},        {"qu", "?"}};
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (take(d, names[k][0]))
            return join(d, "operator", names[k][1], "");
    if (take(d, "cv"))
        return join(d, "operator ", type(d), "");
    return fail(d);
}

static const char *parameters(Demangler *d);

// Reads a name that is not nested. `scope`: the class, for constructors and destructors.
static const char *unqualified(Demangler *d, const char *scope)
{
    if (*d->at >= '0' && *d->at <= '9')
        return source_name(d);
    if ((d->at[0] == 'C' || d->at[0] == 'D') && d->at[1] >= '0' && d->at[1] <= '5') {
        const char *colon = scope, *end = strchr(scope, '<');
        size_t n = end ? (size_t)(end - scope) : strlen(scope);
        for (size_t k = 0; k < n; k++)
            if (scope[k] == ':')
                colon = scope + k + 1;
        const char *text = arena_text(d->arena, colon, n - (size_t)(colon - scope));
        bool destructor = *d->at == 'D';
        d->at += 2;
        d->is_special = true;
        return destructor ? join(d, "~", text, "") : text;
    }
    if (take(d, "Ul")) {
        const char *of = parameters(d);
        if (!take(d, "E"))
            return fail(d);
        int n = number(d) + 2;
        char index[24];
        snprintf(index, sizeof index, "#%d}", n);
        return take(d, "_") ? join(d, "{lambda", of, index) : fail(d);
    }
    if (take(d, "Ut")) {
        int n = number(d) + 2;
        char text[40];
        snprintf(text, sizeof text, "{unnamed type#%d}", n);
        return take(d, "_") ? arena_text(d->arena, text, strlen(text)) : fail(d);
    }
    return operator_name(d);
}

static const char *nested_name(Demangler *d)
{
    const char *text = "", *qualifiers = "";
    d->at++;
    for (;; d->at++) {
        if (*d->at == 'K')
            qualifiers = " const";
        else if (*d->at != 'V' && *d->at != 'r')
            break;
    }
    while (!d->failed && !take(d, "E")) {
        if (d->at[0] == 'S' && d->at[1] == 't') {
            d->at += 2;
            text = "std";
            continue;
        }
        if (*d->at == 'S') {
            text = substitution(d);
            continue;
        }
        if (*d->at == 'I') {
            text = join(d, text, template_arguments(d, true), "");
            d->is_template = true;
        } else if (*d->at == 'T') {
            text = template_parameter(d);
        } else {
            d->is_template = d->is_special = false;
            const char *part = unqualified(d, text);
            text = *text ? join(d, text, "::", part) : part;
        }
        if (*d->at != 'E')
            add(d, text);
    }
    return join(d, text, qualifiers, "");
}

static const char *local_name(Demangler *d)
{
    d->at++;
    const char *function = encoding(d, false);
    if (!take(d, "E"))
        return fail(d);
    if (take(d, "s"))
        return join(d, function, "::string literal", "");
    const char *inner = name(d);
    if (take(d, "_"))
        number(d);
    return join(d, function, "::", inner);
}

static const char *name(Demangler *d)
{
    const char *text;
    bool substituted = false;
    d->is_template = d->is_special = false;
    if (*d->at == 'N')
        return nested_name(d);
    if (*d->at == 'Z')
        return local_name(d);
    if (d->at[0] == 'S' && d->at[1] != 't') {
        text = substitution(d);
        substituted = true;
    } else {
        const char *scope = take(d, "St") ? "std::" : "";
        take(d, "L");
        text = join(d, scope, unqualified(d, ""), "");
    }
    if (*d->at == 'I') {
        if (!substituted)
            add(d, text);
        text = join(d, text, template_arguments(d, true), "");
        d->is_template = true;
    }
    return text;
}

/* -- Types ----------------------------------------------------------------------------------------------- */

static const char *builtin(Demangler *d)
{
    static const char *const names[26] = {['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
                                          ['c' - 'a'] = "char",        ['d' - 'a'] = "double",
                                          ['e' - 'a'] = "long double", ['f' - 'a'] = "float",
                                          ['g' - 'a'] = "__float128",  ['h' - 'a'] = "unsigned char",
                                          ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
                                          ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
                                          ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
                                          ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
                                          ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
                                          ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
                                          ['z' - 'a'] = "..."};
    const char *text = *d->at >= 'a' && *d->at <= 'z' ? names[*d->at - 'a'] : NULL;
    d->at += text != NULL;
    return text;
}

// Returns a type with a suffix: behind `(*` of a function or array, if it has that form.
static const char *with_suffix(Demangler *d, const char *text, const char *suffix)
{
    const char *hole = strstr(text, "(*");
    if (!hole)
        hole = strstr(text, " (");
    if (!hole || (hole[0] == ' ' && hole[2] != ')' && hole[2] != '\0' && hole[1] != '('))
        return join(d, text, suffix, "");
    if (hole[0] == ' ')
        return join(d, arena_text(d->arena, text, (size_t)(hole + 2 - text)), suffix, hole + 2);
    return join(d, arena_text(d->arena, text, (size_t)(hole + 2 - text)), suffix, hole + 2);
}

// Returns a reference to a type. A reference to a reference is one reference: `&` if one of them is.
static const char *reference(Demangler *d, const char *text, const char *suffix)
{
    size_t n = strlen(text);
    bool lvalue = n && text[n - 1] == '&' && (n < 2 || text[n - 2] != '&'), rvalue = n && text[n - 1] == '&' && !lvalue;
    if (lvalue)
        return text;
    return with_suffix(d, rvalue ? arena_text(d->arena, text, n - 2) : text, suffix);
}

static const char *function_type(Demangler *d)
{
    d->at++;
    take(d, "Y");
    const char *result = type(d), *of = parameters(d);
    return take(d, "E") ? join(d, result, " ()", of) : fail(d);
}

static const char *array_type(Demangler *d)
{
    d->at++;
    const char *start = d->at;
    number(d);
    const char *count = arena_text(d->arena, start, (size_t)(d->at - start));
    if (!take(d, "_"))
        return fail(d);
    return join(d, type(d), " () [", join(d, count, "]", ""));
}

static const char *type(Demangler *d)
{
    if (++d->depth > DEPTH_MAX || d->failed)
        return fail(d);
    const char *text = builtin(d);
    if (text) {
        d->depth--;
        return text;
    }
    switch (*d->at) {
    case 'P': d->at++, text = with_suffix(d, type(d), "*"); break;
    case 'R': d->at++, text = reference(d, type(d), "&"); break;
    case 'O': d->at++, text = reference(d, type(d), "&&"); break;
    case 'K': d->at++, text = with_suffix(d, type(d), " const"); break;
    case 'V': d->at++, text = with_suffix(d, type(d), " volatile"); break;
    case 'F': text = function_type(d); break;
    case 'A': text = array_type(d); break;
    case 'T':
        text = template_parameter(d);
        if (*d->at == 'I') {
            add(d, text);
            text = join(d, text, template_arguments(d, false), "");
        }
        break;
    case 'S':
        if (d->at[1] != 't') {
            text = substitution(d);
            if (*d->at == 'I')
                text = add(d, join(d, text, template_arguments(d, false), ""));
            d->depth--;
            return text;
        }
        text = name(d);
        break;
    case 'D':
        if (d->at[1] == 'h' || d->at[1] == 'n') {
            text = d->at[1] == 'h' ? "__half" : "decltype(nullptr)";
            d->at += 2;
            d->depth--;
            return text;
        }
        return fail(d);
    default: {
        bool is_template = d->is_template, is_special = d->is_special;
        const char *arguments[64];
        int n = d->narguments;
        memcpy(arguments, d->argument, sizeof arguments);
        text = name(d);
        memcpy(d->argument, arguments, sizeof arguments);
        d->narguments = n;
        d->is_template = is_template;
        d->is_special = is_special;
    }
    }
    d->depth--;
    return add(d, text);
}

static const char *parameters(Demangler *d)
{
    const char *text = "(";
    int n = 0;
    if (take(d, "v"))
        return "()";
    while (!d->failed && *d->at && *d->at != 'E' && *d->at != '.' && *d->at != '$') {
        text = join(d, text, n ? ", " : "", type(d));
        n++;
    }
    return join(d, text, ")", "");
}

static const char *encoding(Demangler *d, bool with_result)
{
    if (++d->depth > DEPTH_MAX)
        return fail(d);
    if (take(d, "TV"))
        return join(d, "vtable for ", type(d), "");
    const char *text = name(d);
    bool result = d->is_template && !d->is_special;
    if (*d->at && *d->at != 'E') {
        const char *of = result ? type(d) : "", *qualifiers = "";
        of = with_result ? of : "";
        size_t n = strlen(text);
        if (n > 6 && strcmp(text + n - 6, " const") == 0) {
            qualifiers = " const";
            text = arena_text(d->arena, text, n - 6);
        }
        const char *list = parameters(d);
        text = join(d, join(d, of, *of ? " " : "", text), list, qualifiers);
    }
    d->depth--;
    return text;
}

const char *demangle(const char *mangled, Arena *arena)
{
    Demangler d = {.arena = arena};
    if (strncmp(mangled, "_Z", 2) != 0)
        return mangled;
    d.at = mangled + 2;
    const char *text = encoding(&d, true);
    if (*d.at == '.')
        text = join(&d, text, " [clone ", join(&d, d.at, "]", ""));
    return d.failed || (*d.at && *d.at != '.') ? mangled : text;
}
