// SPDX-License-Identifier: MIT
// Replaces phis of one block that are always equal by the first of them.
//
// Slot: 52 OriReplaceEquivMultiDefMov. Phis of one block and width are congruent if they take the same register, the
// same constant, or congruent phis from each predecessor. Phis in loops may be inputs of each other, so the algorithm
// is optimistic. It starts with classes of phis that are equal except for inputs that are phis. Then it splits each
// class by the classes of its members' inputs (Alpern, Wegman and Zadeck, "Detecting equality of variables in
// programs", 1988). When a class is split, only the smaller part must split other classes again (Hopcroft, "An n log n
// algorithm for minimizing states in a finite automaton", 1971). The first phi of a class replaces the others. It is in
// the same block, so it dominates all their uses.
//
//     b1: R2 = mov.phi b0: R1, b2: R4             b1: R2 = mov.phi b0: R1, b2: R4
//         R3 = mov.phi b0: R1, b2: R5        ->
//     b2: R4 = mov.phi b1: R2, b3: 7              b2: R4 = mov.phi b1: R2, b3: 7
//         R5 = mov.phi b1: R3, b3: 7                  ... R4 ... R4 ...
//         ... R4 ... R5 ...
//
// Must not fire:
//     R2 = mov.phi b0: R1, b1: R4; R3 = mov.phi b0: R1, b1: R5      R4 and R5 are two values
//     R2 = mov.phi b0: R1, b1: undef; R3 = mov.phi b0: R1, b1: undef    each `undef` is a different value
//     b1: R2 = mov.phi b0: 1, b1: 2;  b2: R3 = mov.phi b0: 1, b1: 2     the blocks may be reached by different edges
//
// Does not do: phis that equal one of their inputs (OriRemoveRedundantMultiDefMov); inputs that are equal for another
// reason (GvnCse); registers with several equal copies, outside of ssa form (OriRemoveRedundantMov).
// Documented: slot and name. Inferred: the rest.
#include <stdlib.h>

#include "ir/analysis/value_table.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"

typedef struct Phi {
    InstrId instr;
    uint32_t class;
    uint32_t place;  // in `order`
} Phi;

typedef struct Class {
    uint32_t first, n;  // its phis: n places of `order`
    uint32_t marked;    // number of marked phis, which are the first ones
    uint32_t next;      // in the list of classes with marked phis
    bool waits;         // on the worklist, to split other classes
} Class;

// A use of a phi as the input of phi `phi` from predecessor `from`.
typedef struct Use {
    BlockId from;
    uint32_t phi;
} Use;

typedef struct Equal {
    Fn *fn;
    Arena scratch;
    VEC(Phi) phis;        // in layout order, from 1 on
    uint32_t *of_reg;     // by RegId: its phi, 0 = none
    uint32_t *order;      // phis by class
    VEC(Class) classes;   // from 1 on
    ValueTable looks;     // keys of phis; the value is the initial class
    uint32_t *first_use;  // by phi: uses as inputs of phis, first_use[k] .. first_use[k + 1] of `use`
    Use *use;
    VEC(uint32_t) work;  // worklist of classes
    VEC(Use) split;      // uses of phis of the current class
} Equal;

static Instr *instr_of(const Equal *e, uint32_t phi) { return ir_instr(e->fn, e->phis.at[phi].instr); }

// Returns the phi that defines an operand, 0 = none.
static uint32_t phi_of(const Equal *e, Operand o) { return op_is_reg(o) ? e->of_reg[op_index(o)] : 0; }

/* -- Phis ----------------------------------------------------------------------------------------------- */

static bool has_undef(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 1; k < ir_nuse(i); k += 2)
        if (op_is_undef(*ir_use(fn, i, k)))
            return true;
    return false;
}

static bool has_two_phis(const Fn *fn, BlockId b)
{
    InstrId first = ir_block(fn, b)->first;
    return ir_is_phi(fn, first) && ir_is_phi(fn, ir_instr(fn, first)->next);
}

static bool may_have_equals(const Fn *fn)
{
    FOR_BLOCK_ENDS(fn, b)
        if (has_two_phis(fn, b))
            return true;
    return false;
}

// Collects the phis without undefined inputs of blocks that have several phis.
static void collect_phis(Equal *e)
{
    Fn *fn = e->fn;
    VEC_PUSH(&e->scratch, &e->phis, (Phi){0});
    FOR_BLOCK_ENDS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first; has_two_phis(fn, b) && ir_is_phi(fn, id);
             id = ir_instr(fn, id)->next) {
            const Instr *i = ir_instr(fn, id);
            if (has_undef(fn, i))
                continue;
            e->of_reg[op_index(*ir_def(fn, i, 0))] = e->phis.n;
            VEC_PUSH(&e->scratch, &e->phis, (Phi){.instr = id});
        }
    }
}

/* -- Initial classes ------------------------------------------------------------------------------------ */

// An input of a phi in its key. All phis of one block are one value.
typedef struct KeyInput {
    uint32_t from, word, mods;
} KeyInput;

static KeyInput key_input(const Equal *e, const Instr *i, uint32_t k)
{
    Operand o = *ir_use(e->fn, i, k + 1);
    uint32_t phi = phi_of(e, o), from = op_index(*ir_use(e->fn, i, k));
    return phi ? (KeyInput){from, op_block(instr_of(e, phi)->block).word, 0} : (KeyInput){from, o.word, o.mods};
}

static int by_block(const void *x, const void *y)
{
    const KeyInput *a = x, *b = y;
    return a->from < b->from ? -1 : a->from > b->from;
}

// Makes the key of a phi: block, file and width, and the inputs by predecessor. Most are sorted already.
static uint32_t make_key(Equal *e, const Instr *i)
{
    enum { FIXED = 2 };
    uint32_t n = ir_nuse(i) / 2, *key = value_table_key(&e->looks, FIXED + n * (sizeof(KeyInput) / sizeof *key));
    const Reg *def = ir_reg(e->fn, op_index(*ir_def(e->fn, i, 0)));
    KeyInput *inputs = (KeyInput *)(key + FIXED);
    bool sorted = true;
    key[0] = i->block;
    key[1] = (uint32_t)def->file << 8 | def->width;
    for (uint32_t k = 0; k < n; k++) {
        inputs[k] = key_input(e, i, 2 * k);
        sorted &= !k || inputs[k - 1].from <= inputs[k].from;
    }
    if (!sorted)
        qsort(inputs, n, sizeof *inputs, by_block);
    return FIXED + n * (sizeof(KeyInput) / sizeof *key);
}

static uint32_t class_of_look(Equal *e, uint32_t phi)
{
    ValueNode *node = value_table_enter(&e->looks, make_key(e, instr_of(e, phi)));
    if (!node->value) {
        node->value = e->classes.n;
        VEC_PUSH(&e->scratch, &e->classes, ((Class){.waits = true}));
    }
    return (uint32_t)node->value;
}

// Makes the initial classes, and sorts phis by class. False: no two phis share a class.
static bool find_classes(Equal *e)
{
    VEC_PUSH(&e->scratch, &e->classes, (Class){0});
    for (uint32_t k = 1; k < e->phis.n; k++) {
        e->phis.at[k].class = class_of_look(e, k);
        e->classes.at[e->phis.at[k].class].n++;
    }
    for (uint32_t c = 1, sum = 0; c < e->classes.n; c++) {
        e->classes.at[c].first = sum;
        sum += e->classes.at[c].n;
    }
    e->order = arena_alloc(&e->scratch, e->phis.n * sizeof *e->order);
    for (uint32_t k = 1; k < e->phis.n; k++) {
        Class *c = &e->classes.at[e->phis.at[k].class];
        e->phis.at[k].place = c->first + c->marked++;
        e->order[e->phis.at[k].place] = k;
    }
    for (uint32_t c = 1; c < e->classes.n; c++)
        e->classes.at[c].marked = 0;
    return e->classes.n < e->phis.n;
}

/* -- Splitting classes ---------------------------------------------------------------------------------- */

static bool is_alone(const Equal *e, uint32_t phi) { return e->classes.at[e->phis.at[phi].class].n == 1; }

// Collects the uses of each phi as an input of phis in classes with several members. The first round counts, the second
// fills.
static void find_uses(Equal *e)
{
    e->first_use = NEW_ARRAY(&e->scratch, uint32_t, e->phis.n + 2);
    for (int round = 0; round < 2; round++) {
        for (uint32_t k = 1; k < e->phis.n; k++) {
            const Instr *i = instr_of(e, k);
            for (uint32_t n = is_alone(e, k) ? ir_nuse(i) : 0; n < ir_nuse(i); n += 2) {
                uint32_t phi = phi_of(e, *ir_use(e->fn, i, n + 1)), *at = &e->first_use[phi + 1];
                if (phi && round)
                    e->use[*at] = (Use){op_index(*ir_use(e->fn, i, n)), k};
                *at += phi != 0;
            }
        }
        uint32_t sum = 0;
        for (uint32_t k = 1; k < e->phis.n && !round; k++) {
            uint32_t n = e->first_use[k + 1];
            e->first_use[k + 1] = sum;  // start of the row; the second round moves it to the end
            sum += n;
        }
        if (!round)
            e->use = arena_alloc(&e->scratch, MAX(sum, 1) * sizeof *e->use);
    }
}

static int by_predecessor(const void *x, const void *y)
{
    const Use *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->phi < b->phi ? -1 : a->phi > b->phi;
}

// Marks a phi: moves it to the front of its class. Returns the class if the phi is its first marked one, else 0.
static uint32_t mark(Equal *e, uint32_t phi)
{
    uint32_t class = e->phis.at[phi].class;
    Class *c = &e->classes.at[class];
    uint32_t to = c->first + c->marked, from = e->phis.at[phi].place, other = e->order[to];
    e->order[from] = other;
    e->phis.at[other].place = from;
    e->order[to] = phi;
    e->phis.at[phi].place = to;
    return c->marked++ ? 0 : class;
}

static void make_wait(Equal *e, uint32_t class)
{
    e->classes.at[class].waits = true;
    VEC_PUSH(&e->scratch, &e->work, class);
}

// Moves the marked phis of a class to a new class, unless all are marked.
static void split_class(Equal *e, uint32_t class)
{
    Class *c = &e->classes.at[class];
    uint32_t n = c->marked, new = e->classes.n;
    c->marked = 0;
    if (n == c->n)
        return;
    Class part = {.first = c->first, .n = n};
    c->first += n;
    c->n -= n;
    bool smaller = n <= c->n;
    for (uint32_t k = part.first; k < part.first + n; k++)
        e->phis.at[e->order[k]].class = new;
    bool waits = c->waits;
    VEC_PUSH(&e->scratch, &e->classes, part);
    make_wait(e, waits || smaller ? new : class);
}

// Splits each class, for each predecessor, into phis whose input from there is a phi of this class, and other phis.
static void split_by(Equal *e, uint32_t class)
{
    Class c = e->classes.at[class];
    e->classes.at[class].waits = false;
    e->split.n = 0;
    for (uint32_t k = c.first; k < c.first + c.n; k++)
        for (uint32_t u = e->first_use[e->order[k]]; u < e->first_use[e->order[k] + 1]; u++)
            if (!is_alone(e, e->use[u].phi))
                VEC_PUSH(&e->scratch, &e->split, e->use[u]);
    if (e->split.n)
        qsort(e->split.at, e->split.n, sizeof *e->split.at, by_predecessor);
    for (uint32_t k = 0, end; k < e->split.n; k = end) {
        uint32_t touched = 0;
        for (end = k; end < e->split.n && e->split.at[end].from == e->split.at[k].from; end++) {
            uint32_t first = mark(e, e->split.at[end].phi);
            if (first) {
                e->classes.at[first].next = touched;
                touched = first;
            }
        }
        for (uint32_t next; touched; touched = next) {
            next = e->classes.at[touched].next;
            split_class(e, touched);
        }
    }
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static bool replace_equals(Equal *e)
{
    ReplaceMap map;
    uint32_t *representative = NEW_ARRAY(&e->scratch, uint32_t, e->classes.n);
    replace_begin(&map, e->fn);
    for (uint32_t k = 1; k < e->phis.n; k++) {
        Operand def = *ir_def(e->fn, instr_of(e, k), 0);
        uint32_t *first = &representative[e->phis.at[k].class];
        if (*first)
            replace_set(&map, op_index(def), op_reg(e->fn, *first));
        else
            *first = op_index(def);
    }
    return replace_apply(&map);
}

bool phase_equal_phis(Ctx *ctx, Fn *fn)
{
    if (bundle_is_settled(fn, PH_EQUAL_PHIS) || !may_have_equals(fn))
        return false;
    Equal e = {.fn = fn};
    arena_init(&e.scratch, &ctx->heap);
    e.of_reg = NEW_ARRAY(&e.scratch, uint32_t, fn->regs.n);
    value_table_init(&e.looks, &e.scratch);
    collect_phis(&e);
    bool progress = false;
    if (find_classes(&e)) {
        find_uses(&e);
        for (uint32_t c = 1; c < e.classes.n; c++)
            VEC_PUSH(&e.scratch, &e.work, c);
        while (e.work.n)
            split_by(&e, e.work.at[--e.work.n]);
        progress = replace_equals(&e);
    }
    arena_free(&e.scratch);
    return progress;
}
