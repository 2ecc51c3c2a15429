// SPDX-License-Identifier: MIT
// Plans the banks of kernels: each distinct value gets one place that is free in the banks of all kernels that read it.
// Values that the same kernels read form a class, so that its places are found in one bitmap of what these kernels use.
// Classes are placed in the order of size, the largest first, of the number of kernels, and of the inputs, each value
// at the first place. So the plan depends on the inputs alone, and what many kernels read is in front.
//
// Kernels that share functions with constants form a component. Components in which no kernel overflows stay as they
// are, and nvlink places their constants. It also places those of functions that a plan cannot move, behind the planned
// bank; they take from the limit of a kernel. A kernel with only such functions stays as it is.
//
// Not done: a search for a plan that fits where this one leaves gaps.
#include <stdlib.h>

#include "tools/orilink/banks.h"
#include "tools/orilink/demangle.h"

enum { UNIT = 4, WORDS = BANK_LIMIT / UNIT / 64, CONTRIBUTORS_MAX = 10 };

// Values that the same kernels read: those of another class that one more kernel reads. Class 0 is read by none.
typedef struct Class {
    uint32_t parent, kernel, readers;
    uint32_t inner, by;  // the class of its values that kernel `by` - 1 reads, too
    uint32_t first;      // its first value + 1
} Class;

typedef struct Planner {
    Banks *b;
    Arena scratch;
    uint32_t *parent;  // by kernel: of a forest of components
    uint64_t **used;   // by kernel: a bit for each UNIT of its bank
    uint32_t *seen;    // by value: number of the function or kernel that has it last
    uint32_t *class;   // by value
    VEC(Class) classes;
} Planner;

/* -- Components ------------------------------------------------------------------------------------------ */

static uint32_t component_of(Planner *p, uint32_t k)
{
    while (p->parent[k] != k)
        k = p->parent[k] = p->parent[p->parent[k]];
    return k;
}

static void join_kernels(Planner *p)
{
    Banks *b = p->b;
    uint32_t *first = NEW_ARRAY(&p->scratch, uint32_t, b->functions.n);  // by function: a kernel that reaches it + 1
    for (uint32_t k = 0; k < b->kernels.n; k++)
        p->parent[k] = k;
    for (uint32_t k = 0; k < b->kernels.n; k++)
        for (uint32_t i = 0; i < b->kernels.at[k].functions.n; i++) {
            uint32_t f = b->kernels.at[k].functions.at[i];
            if (first[f])
                p->parent[component_of(p, k)] = component_of(p, first[f] - 1);
            first[f] = k + 1;
        }
    for (uint32_t k = 0; k < b->kernels.n; k++)
        b->kernels.at[k].component = component_of(p, k);
}

// Chooses the components that are planned: those with a kernel that overflows, or all.
static void choose_components(Planner *p, bool all)
{
    Banks *b = p->b;
    bool *chosen = NEW_ARRAY(&p->scratch, bool, b->kernels.n);
    for (uint32_t k = 0; k < b->kernels.n; k++)
        if ((all && b->kernels.at[k].functions.n) || b->kernels.at[k].before > BANK_LIMIT)
            chosen[b->kernels.at[k].component] = true;
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        BankKernel *kernel = &b->kernels.at[k];
        for (uint32_t i = 0; i < kernel->functions.n && chosen[kernel->component]; i++) {
            BankFunction *f = &b->functions.at[kernel->functions.at[i]];
            f->planned = !f->fixed;
            kernel->planned |= f->planned;
        }
    }
}

/* -- Values ---------------------------------------------------------------------------------------------- */

// Adds a kernel to those that read a value.
static void add_reader(Planner *p, ValueId v, uint32_t kernel)
{
    uint32_t class = p->class[v];
    if (p->classes.at[class].by != kernel + 1) {
        p->classes.at[class].by = kernel + 1;
        p->classes.at[class].inner = p->classes.n;
        VEC_PUSH(&p->scratch, &p->classes, ((Class){class, kernel, p->classes.at[class].readers + 1, 0, 0, 0}));
    }
    p->class[v] = p->classes.at[class].inner;
}

// Lists the distinct values of planned functions and kernels, and divides them into classes.
static void list_values(Planner *p)
{
    Banks *b = p->b;
    uint32_t number = 0;
    for (uint32_t i = 0; i < b->functions.n; i++) {
        BankFunction *f = &b->functions.at[i];
        number++;
        for (uint32_t k = 0; k < f->reads.n && f->planned; k++) {
            if (p->seen[f->reads.at[k].value] == number)
                continue;
            p->seen[f->reads.at[k].value] = number;
            VEC_PUSH(&b->arena, &f->values, f->reads.at[k].value);
        }
    }
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        BankKernel *kernel = &b->kernels.at[k];
        number++;
        for (uint32_t i = 0; i < kernel->functions.n; i++) {
            const BankFunction *f = &b->functions.at[kernel->functions.at[i]];
            for (uint32_t n = 0; n < f->values.n; n++) {
                ValueId v = f->values.at[n];
                if (p->seen[v] == number)
                    continue;
                p->seen[v] = number;
                VEC_PUSH(&b->arena, &kernel->values, v);
                add_reader(p, v, k);
            }
        }
    }
}

/* -- Places ---------------------------------------------------------------------------------------------- */

typedef struct Ordered {
    uint32_t size, align;
    uint32_t readers, first, value;  // first: the first value of its class + 1
} Ordered;

static int by_size(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    if (x->readers != y->readers)
        return x->readers < y->readers ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->align != y->align)
        return x->align < y->align ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool is_free(const uint64_t *used, uint32_t unit, uint32_t n)
{
    for (uint32_t k = unit; k < unit + n; k++)
        if (used[k / 64] >> k % 64 & 1)
            return false;
    return true;
}

static void take(uint64_t *used, uint32_t unit, uint32_t n)
{
    for (uint32_t k = unit; k < unit + n; k++)
        used[k / 64] |= (uint64_t)1 << k % 64;
}

// Returns the limit of a kernel's planned bank, in units.
static uint32_t limit_of(const BankKernel *k)
{
    return k->fixed >= BANK_LIMIT ? 0 : (uint32_t)(BANK_LIMIT - k->fixed) / UNIT;
}

// Returns the words of a bitmap for bytes at the start of a bank.
static uint32_t words_of(uint32_t bytes) { return (bytes + 64 * UNIT - 1) / (64 * UNIT); }

// Finds the first place for a value at `unit` or behind it. UINT32_MAX: there is none.
static uint32_t find_place(const uint64_t *used, uint32_t unit, uint32_t limit, const Ordered *value)
{
    uint32_t n = (value->size + UNIT - 1) / UNIT, step = MAX(value->align / UNIT, 1);
    if (!n)
        return 0;
    for (; unit + n <= limit; unit += step) {
        if (used[unit / 64] == UINT64_MAX && unit % 64 + step <= 64)
            unit = (unit / 64 + 1) * 64 - step;  // the next word
        else if (is_free(used, unit, n))
            return unit;
    }
    return UINT32_MAX;
}

// Places values of one size and class. Returns the number of those for which the banks of all readers have a place.
static uint32_t place_run(Planner *p, const Ordered *values, uint32_t n)
{
    Banks *b = p->b;
    uint64_t used[WORDS] = {0}, taken[WORDS] = {0};
    uint32_t limit = BANK_LIMIT / UNIT, unit = 0, end = 0, placed = 0, class = p->class[values->value];
    for (uint32_t c = class; c; c = p->classes.at[c].parent) {
        uint32_t k = p->classes.at[c].kernel;
        limit = MIN(limit, limit_of(&b->kernels.at[k]));
        for (uint32_t w = 0; w < words_of(b->kernels.at[k].size); w++)
            used[w] |= p->used[k][w];
    }
    for (; placed < n; placed++) {
        const Ordered *value = &values[placed];
        uint32_t units = (value->size + UNIT - 1) / UNIT;
        if (placed && value->align != value[-1].align)
            unit = 0;
        unit = find_place(used, unit, limit, value);
        if (unit == UINT32_MAX)
            break;
        take(used, unit, units);
        take(taken, unit, units);
        b->values.at[value->value].place = unit * UNIT;
        end = MAX(end, unit * UNIT + value->size);
    }
    for (uint32_t c = class; c; c = p->classes.at[c].parent) {
        uint32_t k = p->classes.at[c].kernel;
        for (uint32_t w = 0; w < words_of(end); w++)
            p->used[k][w] |= taken[w];
        b->kernels.at[k].size = MAX(b->kernels.at[k].size, end);
    }
    return placed;
}

/* -- Errors ---------------------------------------------------------------------------------------------- */

typedef struct Share {
    uint64_t size;
    NodeId node;
} Share;

static int by_share(const void *a, const void *b)
{
    const Share *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

// Returns the bytes that a kernel's bank has at least.
static uint64_t least_size(const Banks *b, const BankKernel *k)
{
    uint64_t size = k->fixed;
    for (uint32_t i = 0; i < k->values.n; i++)
        size += b->values.at[k->values.at[i]].size;
    return size;
}

// Reports a kernel whose constants do not fit, with the functions that have most of them. Returns false.
static bool fail_kernel(Planner *p, const BankKernel *k, uint64_t size)
{
    Banks *b = p->b;
    VEC(Share) shares = {0};
    for (uint32_t i = 0; i < k->functions.n; i++) {
        const BankFunction *f = &b->functions.at[k->functions.at[i]];
        VEC_PUSH(&p->scratch, &shares, ((Share){f->size, f->node}));
    }
    diag_plain(b->link->diag, DIAG_ERROR,
               "kernel '%s' requires %llu bytes of constants that the compiler made, of which %d fit",
               demangle(b->link->nodes.at[k->node].name, &p->scratch), (unsigned long long)size, BANK_LIMIT);
    qsort(shares.at, shares.n, sizeof *shares.at, by_share);
    for (uint32_t i = 0; i < MIN(shares.n, CONTRIBUTORS_MAX); i++)
        diag_plain(b->link->diag, DIAG_NOTE, "'%s' has %llu bytes",
                   demangle(b->link->nodes.at[shares.at[i].node].name, &p->scratch),
                   (unsigned long long)shares.at[i].size);
    diag_plain(b->link->diag, DIAG_NOTE, "--ocg=off leaves these constants to nvlink");
    return false;
}

// Reports a value for which the banks of its kernels have no common place. Returns false.
static bool fail_value(const Planner *p, ValueId v)
{
    const Banks *b = p->b;
    uint32_t n = 0, kernel = 0;
    for (uint32_t c = p->class[v]; c; c = p->classes.at[c].parent, n++)
        kernel = p->classes.at[c].kernel;
    diag_plain(b->link->diag, DIAG_ERROR,
               "the banks of %u kernels, such as '%s', have no common place for a constant of %u bytes", n,
               b->link->nodes.at[b->kernels.at[kernel].node].name, b->values.at[v].size);
    return false;
}

/* -- The plan -------------------------------------------------------------------------------------------- */

// False, after an error message, if the constants of a kernel do not fit in any order.
static bool check_sizes(Planner *p)
{
    for (uint32_t k = 0; k < p->b->kernels.n; k++) {
        const BankKernel *kernel = &p->b->kernels.at[k];
        uint64_t size = kernel->planned ? least_size(p->b, kernel) : 0;
        if (size > BANK_LIMIT)
            return fail_kernel(p, kernel, size);
    }
    return true;
}

static bool place_values(Planner *p)
{
    Banks *b = p->b;
    VEC(Ordered) order = {0};
    for (ValueId v = 0; v < b->values.n; v++) {
        const BankValue *value = &b->values.at[v];
        Class *class = &p->classes.at[p->class[v]];
        if (!p->class[v])
            continue;
        if (!class->first)
            class->first = v + 1;
        VEC_PUSH(&p->scratch, &order, ((Ordered){value->size, value->align, class->readers, class->first, v}));
    }
    if (order.n)
        qsort(order.at, order.n, sizeof *order.at, by_size);
    for (uint32_t i = 0, n; i < order.n; i += n) {
        const Ordered *run = &order.at[i];
        for (n = 1; i + n < order.n && run[n].size == run->size && run[n].first == run->first; n++)
            continue;
        uint32_t placed = place_run(p, run, n);
        if (placed < n)
            return fail_value(p, run[placed].value);
    }
    return true;
}

// Writes the places to the functions, and the values to the banks.
static void fill_banks(Banks *b)
{
    for (uint32_t i = 0; i < b->functions.n; i++) {
        BankFunction *f = &b->functions.at[i];
        for (uint32_t k = 0; k < f->reads.n && f->planned; k++)
            f->reads.at[k].place = b->values.at[f->reads.at[k].value].place;
    }
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        BankKernel *kernel = &b->kernels.at[k];
        if (!kernel->planned)
            continue;
        kernel->bank = arena_alloc(&b->link->arena, kernel->size);
        memset(kernel->bank, 0, kernel->size);
        kernel->places = kernel->values.n;
        for (uint32_t i = 0; i < kernel->functions.n; i++)
            kernel->shared += b->functions.at[kernel->functions.at[i]].values.n;
        kernel->shared -= kernel->places;
        for (uint32_t i = 0; i < kernel->values.n; i++) {
            const BankValue *value = &b->values.at[kernel->values.at[i]];
            memcpy(kernel->bank + value->place, value->bytes, value->size);
        }
    }
}

bool banks_plan(Banks *b, bool all)
{
    Planner p = {.b = b};
    arena_init(&p.scratch, b->link->heap);
    p.parent = NEW_ARRAY(&p.scratch, uint32_t, b->kernels.n);
    p.seen = NEW_ARRAY(&p.scratch, uint32_t, b->values.n);
    p.class = NEW_ARRAY(&p.scratch, uint32_t, b->values.n);
    VEC_PUSH(&p.scratch, &p.classes, (Class){0});
    p.used = NEW_ARRAY(&p.scratch, uint64_t *, b->kernels.n);
    join_kernels(&p);
    choose_components(&p, all);
    list_values(&p);
    for (uint32_t k = 0; k < b->kernels.n; k++)
        p.used[k] = b->kernels.at[k].planned ? NEW_ARRAY(&p.scratch, uint64_t, WORDS) : NULL;
    bool ok = check_sizes(&p) && place_values(&p);
    if (ok)
        fill_banks(b);
    arena_free(&p.scratch);
    return ok;
}
