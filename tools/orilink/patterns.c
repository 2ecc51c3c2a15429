// SPDX-License-Identifier: MIT
// Patterns for names, of which host information and lists have thousands: `_Z4stepP*`, `*step*`, and for the static
// kernels of a file `__nv_static_24__c9980dea_4_s_cu__Z2plPi_*4step*`.
//
// A name is compared with few of them. Patterns whose first text, which ends at a wildcard, is the same have a tree. In
// it, a path spells the beginning of the last text between wildcards, and ends as soon as no earlier pattern has it: a
// digital search tree. A name is looked up at the first texts that begin it, and from each of its bytes in their trees.
#include "tools/orilink/link.h"

void patterns_init(Patterns *p, Arena *arena)
{
    *p = (Patterns){.arena = arena};
    str_init(&p->firsts, arena, NULL);
    VEC_PUSH(arena, &p->all, ((Pattern){0}));
    VEC_PUSH(arena, &p->nodes, ((PatternNode){0}));
}

static uint32_t node_hash(uint32_t parent, char byte)
{
    return (uint32_t)hash_mix((uint64_t)parent << 8, (uint8_t)byte);
}

// Returns the node that a byte leads to; 0 = none.
static uint32_t child(const Patterns *p, uint32_t parent, char byte)
{
    uint32_t hash = node_hash(parent, byte);
    IDSET_EACH(&p->index, hash, node)
        if (p->nodes.at[node].parent == parent && p->nodes.at[node].byte == byte)
            return node;
    return 0;
}

static uint32_t add_child(Patterns *p, uint32_t parent, char byte)
{
    VEC_PUSH(p->arena, &p->nodes, ((PatternNode){.parent = parent, .byte = byte}));
    idset_add(&p->index, p->arena, node_hash(parent, byte), p->nodes.n - 1);
    return p->nodes.n - 1;
}

// Returns the root of the tree of a first text.
static uint32_t root_of(Patterns *p, const char *first, size_t n)
{
    StrId id = str_intern(&p->firsts, first, n);
    while (p->roots.n <= id)
        VEC_PUSH(p->arena, &p->roots, 0);
    if (!p->roots.at[id]) {
        p->roots.at[id] = p->nodes.n;
        VEC_PUSH(p->arena, &p->nodes, (PatternNode){0});
    }
    p->lengths[n] = true;
    return p->roots.at[id];
}

// Returns the last text between wildcards, before any class or escape, and its length.
static const char *last_text(const char *pattern, size_t *length)
{
    const char *last = "";
    for (*length = 0; *pattern && *pattern != '[' && *pattern != '\\';) {
        size_t n = strcspn(pattern, "*?[\\");
        if (n) {
            last = pattern;
            *length = n;
        }
        pattern += n ? n : 1;
    }
    return last;
}

void patterns_add(Patterns *p, const char *pattern)
{
    size_t n = MIN(strcspn(pattern, "*?[\\"), ARRAY_LEN(p->lengths) - 1), k = 0;
    Pattern new = {.pattern = pattern};
    new.text = last_text(pattern + n, &new.length);
    uint32_t node = root_of(p, pattern, n);
    for (uint32_t next; k < new.length && (next = child(p, node, new.text[k])); k++)
        node = next;
    if (k < new.length)
        node = add_child(p, node, new.text[k]);
    new.next = p->nodes.at[node].first;
    p->nodes.at[node].first = p->all.n;
    VEC_PUSH(p->arena, &p->all, new);
}

// True if a pattern of a node, whose last text is at a place of the name, matches the name. If `all` is true, marks all
// of these patterns as used instead, and returns false.
static bool node_matches(const Patterns *p, uint32_t node, const char *name, size_t n, size_t at, bool all)
{
    for (uint32_t k = p->nodes.at[node].first; k; k = p->all.at[k].next) {
        Pattern *q = &p->all.at[k];
        if ((all && q->used) || q->length > n - at || memcmp(q->text, name + at, q->length) != 0 ||
            !glob_match(q->pattern, name, n, false))
            continue;
        if (!all)
            return true;
        q->used = true;
    }
    return false;
}

static bool tree_matches(const Patterns *p, uint32_t root, const char *name, size_t n, bool all)
{
    if (node_matches(p, root, name, n, 0, all))
        return true;
    for (size_t at = 0; at < n; at++) {
        uint32_t node = root;
        for (size_t k = at; (node = child(p, node, name[k])); k++)
            if (node_matches(p, node, name, n, at, all))
                return true;
    }
    return false;
}

static bool any_matches(const Patterns *p, const char *name, bool all)
{
    size_t n = strlen(name);
    for (size_t length = 0; length <= MIN(n, ARRAY_LEN(p->lengths) - 1); length++) {
        StrId id = p->lengths[length] ? str_find(&p->firsts, name, length) : STR_NONE;
        if (id < p->roots.n && p->roots.at[id] && tree_matches(p, p->roots.at[id], name, n, all))
            return true;
    }
    return false;
}

bool patterns_match(const Patterns *p, const char *name) { return any_matches(p, name, false); }
void patterns_mark(Patterns *p, const char *name) { any_matches(p, name, true); }
