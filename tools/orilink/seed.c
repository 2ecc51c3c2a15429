// SPDX-License-Identifier: MIT
// Seeds liveness: kernels and variables that the host uses, from lists of the user or from host information.
#include "tools/orilink/link.h"

// Returns the pattern for a name of a list: any name that contains it.
static const char *substring_pattern(Link *link, const char *name)
{
    size_t n = strlen(name);
    bool first = n && name[0] == '*', last = n && name[n - 1] == '*';
    char *pattern = arena_alloc(&link->arena, n + 3), *at = pattern;
    if (!first)
        *at++ = '*';
    memcpy(at, name, n);
    at += n;
    if (!last)
        *at++ = '*';
    *at = 0;
    return pattern;
}

/* -- Roots ----------------------------------------------------------------------------------------------- */

void seed_host_names(Link *link, HostSet set, const uint8_t *names, size_t n)
{
    if (!link->known[set]) {
        link->known[set] = NEW(&link->arena, StrTable);
        str_init(link->known[set], &link->arena, NULL);
    }
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && names[end];)
            end++;
        uint32_t before = link->known[set]->strings.n;
        str_intern(link->known[set], (const char *)names + at, end - at);
        if (end > at && link->known[set]->strings.n > before)
            VEC_PUSH(&link->arena, &link->used,
                     ((HostName){set, arena_text(&link->arena, (const char *)names + at, end - at)}));
    }
}

static void print_host_names(const Link *link)
{
    static const char *const words[HOST_SETS] = {"external kernel",   "internal kernel", "external constant",
                                                 "internal constant", "external global", "internal global"};
    for (uint32_t k = 0; k < link->used.n; k++)
        out_fmt(link->verbose, "add referenced %s: %s\n", words[link->used.at[k].set], link->used.at[k].pattern);
}

// The patterns of kernels and variables that are roots.
typedef struct Roots {
    Patterns kernels, variables;
    bool all_kernels, all_variables;
    const char *function;  // the only function; NULL: kernels
    const char *why_kernel, *why_variable;
} Roots;

// True for tables of virtual functions, type information and strings, which the host cannot name.
static bool is_compiler_data(const char *name)
{
    return name[0] == '$' || (strncmp(name, "_ZT", 3) == 0 && name[3] && strchr("VTIS", name[3]));
}

// Returns the reason why a node is a root; NULL: it is none.
static const char *root_of(const Link *link, const Roots *roots, const Node *node)
{
    enum { OTHER_MANAGED = 4, OTHER_SHARED = 0x40 };
    const Input *in = &link->inputs.at[node->input];
    if (node->kind == NODE_SECTION)
        return node->root;
    const ElfSymbol *s = cubin_symbol(&in->cubin, node->symbol);
    if (link->opaque && symbol_bind(s) != STB_LOCAL)
        return "code that cannot be read may refer to it";
    if (node->kind <= NODE_KERNEL && roots->function)
        return strcmp(node->name, roots->function) == 0 ? "--root names it" : NULL;
    if (node->kind == NODE_KERNEL && (roots->all_kernels || patterns_match(&roots->kernels, node->name)))
        return roots->why_kernel;
    if (node->kind != NODE_VARIABLE)
        return NULL;
    bool hidden = s->other & OTHER_SHARED || is_compiler_data(node->name);
    if (s->other & OTHER_MANAGED)
        return "it is managed memory";
    if ((roots->all_variables && !hidden) || patterns_match(&roots->variables, node->name))
        return roots->why_variable;
    return NULL;
}

// Adds the patterns of host information from a range of sets.
static void add_host(const Link *link, Patterns *to, HostSet first, HostSet last)
{
    for (uint32_t k = 0; k < link->used.n; k++)
        if (link->used.at[k].set >= first && link->used.at[k].set <= last)
            patterns_add(to, link->used.at[k].pattern);
}

// Adds the patterns of a list of the user, each one once.
static void add_list(Link *link, Patterns *to, const Names *list)
{
    StrTable known;
    str_init(&known, &link->arena, NULL);
    for (uint32_t k = 0; k < list->n; k++) {
        const char *pattern = substring_pattern(link, list->at[k]);
        uint32_t before = known.strings.n;
        str_intern_z(&known, pattern);
        if (known.strings.n > before)
            patterns_add(to, pattern);
    }
}

// Appends up to three names, cut to lengths that fit a message, and the number of others.
static void put_names(Out *out, const char *const *names, uint32_t count, const char *quote, const char *last)
{
    enum { LENGTH_MAX = 120 };
    uint32_t n = MIN(count, 3), others = count - n;
    for (uint32_t k = 0; k < n; k++)
        out_fmt(out, "%s%s%.*s%s%s",
                k == 0          ? ""
                : k + 1 < count ? ", "
                                : last,
                quote, LENGTH_MAX, names[k], strlen(names[k]) > LENGTH_MAX ? "..." : "", quote);
    if (others)
        out_fmt(out, "%s%u %s", last, others, others == 1 ? "other" : "others");
}

// Warns of names of a list of the user that no kernel or variable has, and suggests names. A file that cannot be read
// may have them.
static void warn_of_list(Link *link, Patterns *list, NodeKind kind, const char *option)
{
    const char *what = kind == NODE_KERNEL ? "kernel" : "variable";
    Names unused = {0};
    Nearest nearest = {0};
    StrTable names;  // those that are suggested, each one once
    uint32_t count = 0;
    char buf[256];
    TextBuffer text = {.arena = &link->arena};
    Out out = {.write = out_to_text, .user = &text, .buf = buf, .cap = sizeof buf};
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (link->nodes.at[n].kind == kind)
            patterns_mark(list, link->nodes.at[n].name);
    for (uint32_t k = 1; k < list->all.n; k++) {
        const char *name = list->all.at[k].pattern + strspn(list->all.at[k].pattern, "*");
        size_t n = strlen(name);
        while (n && name[n - 1] == '*')
            n--;
        if (!list->all.at[k].used)
            VEC_PUSH(&link->arena, &unused, arena_text(&link->arena, name, n));
    }
    if (!unused.n || link->opaque)
        return;
    str_init(&names, &link->arena, NULL);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        const Node *node = &link->nodes.at[n];
        if (node->kind != kind || link->inputs.at[node->input].is_system || is_compiler_data(node->name))
            continue;
        uint32_t before = names.strings.n;
        str_intern_z(&names, node->name);
        count += names.strings.n > before;
        nearest_offer(&nearest, unused.at[0], strlen(unused.at[0]), node->name);
    }
    out_fmt(&out, "%s: no %s's name contains ", option, what);
    put_names(&out, unused.at, unused.n, "'", " or ");
    out_fmt(&out, count == 0 ? "; there are no %ss" : count == 1 ? "; the only %s is " : "; the %ss are ", what);
    put_names(&out, nearest.name, count, "", " and ");
    out_char(&out, 0);
    out_flush(&out);
    diag_plain(link->diag, DIAG_WARNING, "%s", text.at);
}

// Prints the patterns of a list of the user for a set that receives them.
static void print_list(const Link *link, const Patterns *list, const char *set)
{
    for (uint32_t k = 1; k < list->all.n && link->verbose; k++)
        out_fmt(link->verbose, "add referenced %s: %s\n", set, list->all.at[k].pattern);
}

// Chooses between host information and lists. False: there is neither.
static bool choose_roots(Link *link, const Seeds *seeds, Roots *roots)
{
    bool complete = !link->lacks_host_info && !seeds->ignore_host_info;
    roots->why_kernel = "the host may launch any kernel";
    roots->why_variable = "the host may access any variable";
    if (complete && !seeds->by_list && link->verbose) {
        print_host_names(link);
        out_z(link->verbose, "use host info\n");
    }
    if (link->lacks_host_info && !seeds->ignore_host_info && !seeds->by_list && link->verbose)
        out_z(link->verbose, "incomplete so ignore host info\n");
    roots->function = seeds->root;
    if (seeds->kernels.n) {
        add_list(link, &roots->kernels, &seeds->kernels);
        warn_of_list(link, &roots->kernels, NODE_KERNEL, "--kernels-used");
        print_list(link, &roots->kernels, "external kernel");
        print_list(link, &roots->kernels, "internal kernel");
        roots->why_kernel = "--kernels-used names it";
    } else if (seeds->documented && seeds->by_list) {
        roots->all_kernels = false;  // documented: a list of variables replaces host information, also of kernels
    } else if (complete) {
        add_host(link, &roots->kernels, HOST_KE, HOST_KI);
        roots->why_kernel = "the host launches it";
    } else if (seeds->by_list && !seeds->root) {
        return false;
    } else {
        roots->all_kernels = true;
    }
    if (seeds->variables.n) {
        add_list(link, &roots->variables, &seeds->variables);
        warn_of_list(link, &roots->variables, NODE_VARIABLE, "--variables-used");
        print_list(link, &roots->variables, "variable");
        roots->why_variable = "--variables-used or the host names it";
    } else {
        roots->all_variables = !complete;
    }
    add_host(link, &roots->variables, HOST_CE, HOST_DI);
    if (complete && !seeds->variables.n)
        roots->why_variable = "the host accesses it";
    return true;
}

bool seeds_keep_all(const Seeds *seeds)
{
    return seeds->relocatable || (seeds->lto && !seeds->force_partial_lto) ||
           (seeds->documented && seeds->ignore_host_info && !seeds->by_list);
}

bool seed_roots(Link *link, const Seeds *seeds)
{
    Roots roots = {0};
    patterns_init(&roots.kernels, &link->arena);
    patterns_init(&roots.variables, &link->arena);
    if (seeds->by_list && seeds->use_host_info)
        diag_plain(link->diag, DIAG_WARNING,
                   "ignore -use-host-info because -kernels-used or -variables-used is specified");
    if (!link->keeps_all && !choose_roots(link, seeds, &roots)) {
        diag_plain(link->diag, DIAG_ERROR,
                   "--variables-used alone requires host information about kernels; add --kernels-used");
        return false;
    }
    for (NodeId n = 1; n < link->nodes.n; n++)
        link->nodes.at[n].root =
            link->keeps_all ? "nothing is removed from this link" : root_of(link, &roots, &link->nodes.at[n]);
    return true;
}
