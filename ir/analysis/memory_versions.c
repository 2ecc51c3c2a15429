// SPDX-License-Identifier: MIT
// Versions of memory (AN_MEM): memory in ssa form, split into classes (ir/analysis/memory_versions.h).
//
// A walk finds the events: plain loads and stores, and instructions that may change or order memory in another way
// (TR_NOCLOBBER, SYM_NOCLOBBER). Classes are made for the loads. Phis are placed at the iterated dominance frontiers of
// the events that write (Sreedhar and Gao, "A linear time algorithm for placing phi-nodes", 1995), for all classes at
// once: tables by block have a bit for each class. Then each block, after its immediate dominator, numbers its
// versions.
//
// A store writes the variable of its address only (REACH_SYM) if its offset is within the variable, or if the variable
// is private: the function declares it, and its address does not escape. To reach one variable from the address of
// another one, a program must know their distance, so both addresses escape. Hence a store relative to a variable that
// is not private may reach all variables of the space that are not private (REACH_ESCAPED). Any other store may reach
// the whole space. `.extern .shared` variables overlap; they have no class, and their accesses are REACH_ESCAPED.
// Calls, barriers and generic stores do not reach private variables in `.local`. Variables come from symbol_bases.h:
// pointer analysis costs ten times as much. In multi form only accesses that name a variable have one.
//
//     R1 = ld.shared.b32 [@x]        version 1 of x               st.shared.b32 [R9], R8    writes x, y, rest of shared
//     st.shared.b32 [@y], R2         writes y, rest of shared     st.b32 [R7], R8           writes all classes
//     R3 = ld.shared.b32 [@x]        version 1 of x               bar.sync 0                writes all classes
//     R4 = ld.shared.b32 [R9]        a new version of the rest    st.global.b32 [R7], R8    writes no shared memory
//
// Phis are not pruned: there are at most MEM_CLASSES_MAX in a block. Changes of accesses, of addresses of variables, of
// instructions that clobber and of edges invalidate the result; other changes do not.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"
#include "ir/analysis/local_memory.h"
#include "ir/analysis/memory_versions.h"
#include "ir/analysis/symbol_bases.h"

typedef enum { EV_LOAD, EV_STORE, EV_KILL } EventKind;
typedef enum { REACH_SPACE, REACH_ESCAPED, REACH_SYM } Reach;

typedef struct Event {
    InstrId instr;
    SymId sym;         // the underlying object if reach != REACH_SPACE
    uint32_t classes;  // a bit for each class: read by a load, written by other events
    uint8_t kind, space, reach;
    uint8_t class;  // of an access; MEM_CLASSES_MAX = none
} Event;

typedef struct BlockState {
    uint32_t first;          // index of its first event
    uint32_t writes, phis;   // a bit for each class
    uint32_t seen, pending;  // during the placement of phis: classes whose search has visited it, will begin here
    uint32_t level;          // in the dominator tree
    BlockId next;            // the next pending block of the level
} BlockState;

typedef struct Builder {
    const Fn *fn;
    Analyses *a;
    MemVersions *m;
    Arena scratch;
    SymbolBases bases;                                       // unless no code names a variable
    bool ordered;                                            // there is an ordered access that names .local
    VEC(Event) events;                                       // of reachable blocks
    BlockState *at;                                          // by BlockId
    uint32_t loads[SP_GENERIC + 1], stores[SP_GENERIC + 1];  // by space
    SymId name[SP_GENERIC + 1];                              // by space: the last symbol that code names
    uint32_t several;                                        // a bit for each space of which code names several symbols
    bool declares;                                           // the function declares one of them
    uint32_t nkills;
    // Sets of classes. rest: all memory of a space without a variable; own: private variables in .local.
    uint32_t all, escaped, own, of_space[SP_GENERIC + 1], rest[SP_GENERIC + 1];
    BlockId *bank;  // by level: the first pending block
} Builder;

/* -- Events --------------------------------------------------------------------------------------------- */

// Returns the space of an access; shared::cluster counts as shared.
static Space space_of(const Fn *fn, const Desc *d)
{
    Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
    return space == SP_CLUSTER ? SP_SHARED : space;
}

static bool is_variable_space(Space space) { return space == SP_GLOBAL || space == SP_SHARED || space == SP_LOCAL; }

static bool is_reusable(const Instr *i, const Desc *d, Space space)
{
    return (d->op == OP_LD || d->op == OP_LDU) && !(d->traits & TR_RDONLY) && !(i->flags & IF_PINNED) && !i->callseq &&
           (is_variable_space(space) || space == SP_GENERIC);
}

// Notes the symbol that an access or OP_ADDR names.
static void note_name(Builder *s, const Instr *i)
{
    Operand base = *ir_use(s->fn, i, 0);
    if (op_kind(base) != K_SYM)
        return;
    SymId sym = op_index(base), *last = &s->name[ir_sym(s->fn, sym)->space];
    s->several |= *last && *last != sym ? 1u << ir_sym(s->fn, sym)->space : 0;
    s->declares |= (sym & SYM_LOCAL) != 0;
    *last = sym;
}

static void add_access(Builder *s, EventKind kind, InstrId id, const Instr *i, Space space)
{
    note_name(s, i);
    (kind == EV_LOAD ? s->loads : s->stores)[space]++;
    VEC_PUSH(&s->scratch, &s->events, ((Event){.instr = id, .kind = (uint8_t)kind, .space = (uint8_t)space}));
}

static inline void add_event(Builder *s, InstrId id)
{
    const Instr *i = ir_instr(s->fn, id);
    const Desc *d = ir_desc(s->fn, i);
    if (d->traits & (TR_PURE | TR_NOCLOBBER)) {
        Space space;
        if (d->op == OP_ADDR)
            note_name(s, i);
        if (d->traits & TR_READ && is_reusable(i, d, space = space_of(s->fn, d)))
            add_access(s, EV_LOAD, id, i, space);
    } else if (d->op == OP_ST && !(d->traits & TR_ORDERED) && !(i->flags & IF_PINNED)) {
        add_access(s, EV_STORE, id, i, space_of(s->fn, d));
    } else if (!ir_call_has(s->fn, i, SYM_NOCLOBBER)) {
        s->ordered |= d->traits & TR_ORDERED && space_of(s->fn, d) == SP_LOCAL;
        s->nkills++;
        VEC_PUSH(&s->scratch, &s->events, ((Event){.instr = id, .kind = EV_KILL}));
    }
}

static void find_events(Builder *s)
{
    for (uint32_t k = 0; k < s->a->nrpo; k++) {
        BlockId b = s->a->rpo[k];
        s->at[b].first = s->events.n;
        FOR_INSTRS(s->fn, b, id)
            add_event(s, id);
    }
}

// True if some load may read what another access of its space read or wrote. A load in a loop may repeat itself.
static bool may_share(const Builder *s)
{
    bool loads = false;
    for (uint32_t k = 0; k <= SP_GENERIC; k++) {
        if (s->loads[k] > 1 || (s->loads[k] && s->stores[k]))
            return true;
        loads |= s->loads[k] > 0;
    }
    for (uint32_t k = 0; k < s->a->nrpo && loads; k++)
        FOR_SUCCS(s->a, s->a->rpo[k], to)
            if (s->a->rpo_index[*to] <= k)
                return true;
    return false;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

// Returns the memory that an access with a base may reach.
static Reach reach_of(const Builder *s, const Event *e, SymbolBase base)
{
    const Sym *v = ir_sym(s->fn, base.sym);
    const Mnem *m = tab_mnem(s->fn->tables, ir_desc(s->fn, ir_instr(s->fn, e->instr))->mnem);
    uint32_t bytes = width_bits(type_info[m->type[0]].width) / 8 * access_elements(m);
    bool whole = v->size && !(v->flags & (SYM_EXTERN | SYM_WEAK | SYM_COMMON | SYM_OPEN));
    if (base.offset == OFFSET_ANY || !whole)
        return symbol_is_private(&s->bases, base.sym) ? REACH_SYM : REACH_ESCAPED;
    return base.offset >= 0 && v->size >= bytes && (uint64_t)base.offset <= v->size - bytes ? REACH_SYM : REACH_SPACE;
}

// True if variables of a space may matter: some load may survive a store to another variable of the space. A private
// variable in .local also survives what other code may write.
static bool has_variables(const Builder *s, Space space)
{
    bool others = s->several >> space & 1 && s->stores[space];
    bool own = space == SP_LOCAL && s->name[space] && (s->nkills || s->stores[SP_GENERIC]);
    return s->loads[space] && (others || own);
}

// Finds the underlying object of each access, if there are variables.
static void find_variables(Builder *s)
{
    if (!has_variables(s, SP_GLOBAL) && !has_variables(s, SP_SHARED) && !has_variables(s, SP_LOCAL))
        return;
    s->bases.fn = s->fn;
    if (s->declares)
        symbol_bases_find(&s->bases, &s->scratch, s->fn, s->a);
    for (uint32_t k = 0; k < s->events.n; k++) {
        Event *e = &s->events.at[k];
        if (e->kind == EV_KILL || !is_variable_space((Space)e->space))
            continue;
        SymbolBase base = symbol_base_of_access(&s->bases, ir_instr(s->fn, e->instr));
        e->sym = base.sym;
        e->reach = (uint8_t)(base.sym ? reach_of(s, e, base) : REACH_SPACE);
    }
}

/* -- Classes -------------------------------------------------------------------------------------------- */

// Returns the class of these accesses; MEM_CLASSES_MAX = none.
static uint32_t find_class(const MemVersions *m, Space space, SymId sym)
{
    uint32_t k = 0;
    while (k < m->nclasses && !(m->class[k].space == space && m->class[k].sym == sym))
        k++;
    return k < m->nclasses ? k : MEM_CLASSES_MAX;
}

// Returns the class that a load reads, or that a store surely belongs to; MEM_CLASSES_MAX = none.
static uint32_t class_of(const MemVersions *m, const Event *e)
{
    uint32_t class = e->reach == REACH_SYM ? find_class(m, (Space)e->space, e->sym) : MEM_CLASSES_MAX;
    return class < MEM_CLASSES_MAX ? class : find_class(m, (Space)e->space, 0);
}

// Makes a class for each space that is read, and for the first variables of each space.
static void add_classes(Builder *s)
{
    MemVersions *m = s->m;
    uint32_t variables[SP_GENERIC + 1] = {0};
    for (uint32_t k = 0; k < s->events.n; k++) {
        Event *e = &s->events.at[k];
        if (e->kind != EV_LOAD)
            continue;
        bool own = e->reach == REACH_SYM && variables[e->space] < MEM_VARIABLES_MAX;
        uint32_t class = own ? find_class(m, (Space)e->space, e->sym) : class_of(m, e);
        if (class == MEM_CLASSES_MAX) {
            class = m->nclasses++;
            m->class[class] = (MemClass){(Space)e->space, own ? e->sym : 0};
            variables[e->space] += own;
        }
        e->class = (uint8_t) class;
    }
}

// Keeps the classes in which a load may repeat another load or read a stored value.
static void drop_classes(Builder *s)
{
    MemVersions *m = s->m;
    uint32_t loads[MEM_CLASSES_MAX + 1] = {0}, stores[MEM_CLASSES_MAX + 1] = {0}, n = 0;
    uint8_t to[MEM_CLASSES_MAX + 1];
    for (uint32_t k = 0; k < s->events.n; k++) {
        Event *e = &s->events.at[k];
        if (e->kind == EV_STORE)
            e->class = (uint8_t)class_of(m, e);
        if (e->kind != EV_KILL)
            (e->kind == EV_LOAD ? loads : stores)[e->class]++;
    }
    memset(to, MEM_CLASSES_MAX, sizeof to);
    for (uint32_t k = 0; k < m->nclasses; k++)
        if (loads[k] > 1 || stores[k]) {
            to[k] = (uint8_t)n;
            m->class[n++] = m->class[k];
        }
    m->nclasses = n;
    for (uint32_t k = 0; k < s->events.n; k++)
        s->events.at[k].class = to[s->events.at[k].class];
}

static void make_sets(Builder *s)
{
    for (uint32_t k = 0; k < s->m->nclasses; k++) {
        const MemClass *c = &s->m->class[k];
        s->all |= 1u << k;
        s->of_space[c->space] |= 1u << k;
        s->rest[c->space] |= c->sym ? 0 : 1u << k;
        if (!c->sym || !symbol_is_private(&s->bases, c->sym))
            s->escaped |= 1u << k;
        else if (c->space == SP_LOCAL && !s->ordered)
            s->own |= 1u << k;
    }
}

// Returns the classes that a store may write.
static uint32_t written_by(const Builder *s, const Event *e)
{
    uint32_t space = s->of_space[e->space], generic = s->of_space[SP_GENERIC];
    uint32_t sym = e->class < MEM_CLASSES_MAX ? 1u << e->class : 0;
    switch (e->space) {
    case SP_GENERIC: return s->all & ~s->own;
    case SP_PARAM: return generic;
    case SP_GLOBAL:
    case SP_SHARED:
    case SP_LOCAL: break;
    default: return s->all;
    }
    if (e->reach == REACH_SYM)
        return generic | sym | s->rest[e->space];
    return generic | (e->reach == REACH_ESCAPED ? space & s->escaped : space);
}

// Sets the classes of the events, and the classes that each block writes.
static void set_classes(Builder *s)
{
    for (uint32_t k = 0; k < s->events.n; k++) {
        Event *e = &s->events.at[k];
        if (e->kind != EV_LOAD) {
            e->classes = e->kind == EV_STORE ? written_by(s, e) : s->all & ~s->own;
            s->at[ir_instr(s->fn, e->instr)->block].writes |= e->classes;
            continue;
        }
        e->classes = e->class < MEM_CLASSES_MAX ? 1u << e->class : 0;
    }
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

// Adds a block from which the frontier of these classes will be searched.
static void put(Builder *s, BlockId b, uint32_t classes)
{
    BlockState *at = &s->at[b];
    if (!classes)
        return;
    if (!at->pending) {
        at->next = s->bank[at->level];
        s->bank[at->level] = b;
    }
    at->pending |= classes;
}

// Places phis at the targets of edges that leave the subtree of `root` in the dominator tree. A block that a search
// from a deeper root has visited for a class needs no second visit.
static void search_frontier(Builder *s, BlockId root, uint32_t classes)
{
    const DomTree *dom = &s->a->dom;
    uint32_t level = s->at[root].level;
    for (uint32_t k = dom->pre[root], end = k + dom->size[root]; k < end;) {
        BlockId b = dom->order[k];
        uint32_t now = classes & ~s->at[b].seen;
        if (!now) {
            k += dom->size[b];
            continue;
        }
        s->at[b].seen |= now;
        FOR_SUCCS(s->a, b, to) {
            BlockState *join = &s->at[*to];
            uint32_t more = now & ~join->phis;
            if (!more || join->level > level || dom->idom[*to] == b)
                continue;
            join->phis |= more;
            put(s, *to, more & ~join->writes);
        }
        k++;
    }
}

// Visits the blocks that write from the deepest in the dominator tree up.
static void place_phis(Builder *s)
{
    const Analyses *a = s->a;
    uint32_t deepest = 0;
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k], idom = a->dom.idom[b];
        s->at[b].level = idom ? s->at[idom].level + 1 : 0;
        deepest = MAX(deepest, s->at[b].level);
    }
    s->bank = NEW_ARRAY(&s->scratch, BlockId, deepest + 1);
    for (uint32_t k = 0; k < a->nrpo; k++)
        put(s, a->rpo[k], s->at[a->rpo[k]].writes);
    for (uint32_t level = deepest + 1; level--;) {
        for (BlockId b; (b = s->bank[level]);) {
            uint32_t classes = s->at[b].pending;
            s->bank[level] = s->at[b].next;
            s->at[b].pending = 0;
            search_frontier(s, b, classes);
        }
    }
}

/* -- Versions ------------------------------------------------------------------------------------------- */

#define FOR_CLASSES(set, c) \
    for (uint32_t c##_set = (set), c; c##_set && ((c = (uint32_t)__builtin_ctz(c##_set)), true); c##_set &= c##_set - 1)

static uint32_t count_versions(const Builder *s)
{
    uint32_t n = 1 + s->m->nclasses;
    for (uint32_t k = 0; k < s->events.n; k++)
        if (s->events.at[k].kind != EV_LOAD)
            n += (uint32_t)__builtin_popcount(s->events.at[k].classes);
    for (uint32_t k = 0; k < s->a->nrpo; k++)
        n += (uint32_t)__builtin_popcount(s->at[s->a->rpo[k]].phis);
    return n;
}

static inline MemVersionId add_version(Builder *s, MemVersion v)
{
    s->m->version[s->m->nversions] = v;
    return s->m->nversions++;
}

// Numbers the versions of a block, whose immediate dominator has been visited. `now` is the row of the block in at_end.
static void visit_block(Builder *s, BlockId b, uint32_t end, MemVersionId *now)
{
    MemVersions *m = s->m;
    BlockId idom = s->a->dom.idom[b];
    for (uint32_t c = 0; c < m->nclasses; c++)
        now[c] = idom ? mem_version_at_end(m, c, idom) : c + 1;
    if (s->at[b].phis)
        m->first_phi[b] = m->nversions;
    FOR_CLASSES(s->at[b].phis, c)
    {
        MemVersionId prev = idom ? MEM_UNKNOWN : now[c];
        uint32_t n = pred_count(s->a, b);
        now[c] = add_version(s, (MemVersion){MV_PHI, (uint16_t)c, b, 0, prev, m->ninputs, n});
        m->ninputs += n;
    }
    for (uint32_t k = s->at[b].first; k < end; k++) {
        const Event *e = &s->events.at[k];
        FOR_CLASSES(e->classes, c)
        {
            if (e->kind == EV_LOAD) {
                m->of_load[e->instr] = now[c];
                continue;
            }
            uint16_t kind = e->kind == EV_STORE ? MV_STORE : MV_KILL;
            now[c] = add_version(s, (MemVersion){kind, (uint16_t)c, b, e->instr, now[c], 0, 0});
        }
    }
}

static void fill_inputs(Builder *s)
{
    MemVersions *m = s->m;
    m->input = arena_alloc(&s->a->arena[AX_MEM], m->ninputs * sizeof *m->input);
    for (uint32_t k = 1; k < m->nversions; k++) {
        const MemVersion *v = &m->version[k];
        uint32_t n = v->inputs;
        if (v->kind == MV_PHI)
            FOR_PREDS(s->a, v->block, p)
                m->input[n++] = mem_version_at_end(m, v->class, *p);
    }
}

static void number_versions(Builder *s)
{
    MemVersions *m = s->m;
    const Analyses *a = s->a;
    Arena *arena = &s->a->arena[AX_MEM];
    size_t rows = (size_t)s->fn->blocks.n * m->nclasses;
    m->of_load = arena_alloc(arena, m->ninstrs * sizeof *m->of_load);
    memset(m->of_load, 0xff, m->ninstrs * sizeof *m->of_load);
    m->at_end = arena_alloc(arena, rows * sizeof *m->at_end);
    memset(m->at_end, 0xff, rows * sizeof *m->at_end);
    m->first_phi = NEW_ARRAY(arena, MemVersionId, s->fn->blocks.n);
    m->version = arena_alloc(arena, count_versions(s) * sizeof *m->version);
    add_version(s, (MemVersion){0});
    for (uint32_t c = 0; c < m->nclasses; c++)
        add_version(s, (MemVersion){MV_ENTRY, (uint16_t)c, s->fn->first, 0, MEM_UNKNOWN, 0, 0});
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k];
        uint32_t end = k + 1 < a->nrpo ? s->at[a->rpo[k + 1]].first : s->events.n;
        visit_block(s, b, end, &m->at_end[(size_t)b * m->nclasses]);
    }
    fill_inputs(s);
}

static void build(Builder *s)
{
    s->at = NEW_ARRAY(&s->scratch, BlockState, s->fn->blocks.n);
    find_events(s);
    if (!may_share(s))
        return;
    find_variables(s);
    add_classes(s);
    drop_classes(s);
    if (!s->m->nclasses)
        return;
    make_sets(s);
    set_classes(s);
    place_phis(s);
    number_versions(s);
}

void memory_versions_build(const Fn *fn, Analyses *a)
{
    Builder s = {.fn = fn, .a = a, .m = a->mem = NEW(&a->arena[AX_MEM], MemVersions)};
    s.m->fn = fn;
    s.m->ninstrs = fn->instrs.n;
    arena_init(&s.scratch, fn->arena.heap);
    build(&s);
    arena_free(&s.scratch);
}

/* -- Queries -------------------------------------------------------------------------------------------- */

const MemVersions *mem_versions_of(Fn *fn) { return analysis_need(fn, AN_MEM)->mem; }

bool mem_reads_constant(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->traits & TR_ORDERED || i->flags & IF_PINNED || i->callseq)
        return false;
    if (d->traits & TR_RDONLY)
        return true;
    return d->op == OP_LD && fn->flags & FN_KERNEL && space_of(fn, d) == SP_PARAM &&
           op_kind(*ir_use(fn, i, 0)) == K_SYM && ir_sym(fn, op_index(*ir_use(fn, i, 0)))->kind == SYM_FORMAL;
}

MemVersionId mem_version_of_load(const MemVersions *m, InstrId id)
{
    if (m->nclasses && id < m->ninstrs && m->of_load[id] != MEM_UNKNOWN)
        return m->of_load[id];
    return mem_reads_constant(m->fn, ir_instr(m->fn, id)) ? MEM_CONSTANT : MEM_UNKNOWN;
}

MemVersionId mem_version_at_start(const MemVersions *m, const Analyses *a, uint32_t class, BlockId b)
{
    for (MemVersionId v = m->first_phi[b]; v && v < m->nversions; v++) {
        const MemVersion *phi = &m->version[v];
        if (phi->kind != MV_PHI || phi->block != b)
            break;
        if (phi->class == class)
            return v;
    }
    return a->dom.idom[b] ? mem_version_at_end(m, class, a->dom.idom[b]) : class + 1;
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

static bool same_tables(const Fn *fn, const MemVersions *x, const MemVersions *y)
{
    size_t rows = (size_t)fn->blocks.n * x->nclasses;
    if (x->nclasses != y->nclasses || x->nversions != y->nversions || x->ninputs != y->ninputs ||
        memcmp(x->class, y->class, x->nclasses * sizeof *x->class) != 0)
        return false;
    return !x->nclasses || (memcmp(x->version + 1, y->version + 1, (x->nversions - 1) * sizeof *x->version) == 0 &&
                            memcmp(x->input, y->input, x->ninputs * sizeof *x->input) == 0 &&
                            memcmp(x->at_end, y->at_end, rows * sizeof *x->at_end) == 0);
}

bool memory_versions_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    bool same = same_tables(fn, kept->mem, now->mem);
    for (InstrId id = 1; same && id < fn->instrs.n; id++)
        same = mem_version_of_load(kept->mem, id) == mem_version_of_load(now->mem, id);
    if (!same)
        snprintf(why, 150, "memory has different versions");
    return same;
}
