// SPDX-License-Identifier: MIT
// Removes stores to local variables whose bytes are overwritten, or die with the function, before any read. Part of
// OriStoreForwarding (store_forwarding.c), in both forms.
//
// A backward walk over each block computes for each byte whether an overwrite or the end of the function comes before
// the next read. A block with a single successor begins with the state at the start of that successor. A block that
// ends with a guarded exit also has a single successor, since variables die at the exit. The state of a byte is the
// times of its last overwrite and its last read in the walk; a scoped table restores the state at the successor. If the
// address of a variable does not escape, stores to its bytes that no load of the function may reach are dead. Every
// instruction that may read memory may read escaped variables.
//
//     st.local.b32 [@x], R1                       (nothing)
//     st.local.b64 [@x], R2                  ->   st.local.b64 [@x], R2
//
//     R1 = ld.local.b32 [R9]                      R1 = ld.local.b32 [R9]   ; R9 = @x + 16 + R8, R8 in [0, 15]
//     st.local.b32 [@x+4], R2                ->   (nothing)                ; no load reaches it
//     st.local.b32 [R9], R3; exit            ->   exit
//
// Must not fire:
//     st.local.b32 [@x], R1; R3 = ld.local.b32 [R9]; st.local.b32 [@x], R2      R9 may be the address of @x
//     st.local.b32 [@x], R1; @P0 st.local.b32 [@x], R2                          the first stays where P0 is false
//     st.local.b64 [@x], R1; st.local.b32 [@x], R2                              the upper half is read
//     st.local.b32 [@x], R1; call @f, ...; exit                                 if the address of @x escapes
//     st.volatile.local.b32 [@x], R1; exit                                      volatile accesses stay
//
// Does not do: stores that are overwritten on all of several paths, or under the same guard; parts of a vector.
#include "phases/memory/dead_stores.h"
#include "ir/analysis/local_memory.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

enum { BYTEWISE = 64 };  // ranges up to this size are tracked byte by byte

// The state of the walk. Times count reads and overwrites since its start; 0 = never.
typedef struct DeadStores {
    Ctx *ctx;
    Fn *fn;
    Arena scratch;
    const Analyses *a;
    LocalMemory memory;
    uint32_t *unread;          // by byte: number of lower bytes that no load of the function may reach
    uint32_t now;              // current time
    uint32_t *over, *read;     // by byte: last overwrite, last read of at most BYTEWISE bytes
    uint32_t *range, *any;     // by piece: last read of more than BYTEWISE bytes, last read
    uint32_t escaped, ending;  // last read of escaped variables by an unknown access; end of the function
    ScopedTable known;         // the changes of over, read, range, any, escaped and ending
    VEC(InstrId) dead;
} DeadStores;

/* -- Bytes that are never read -------------------------------------------------------------------------- */

static void find_unread(DeadStores *d)
{
    const LocalMemory *m = &d->memory;
    uint32_t *nuses = NEW_ARRAY(&d->scratch, uint32_t, m->nbytes + 1);
    d->unread = NEW_ARRAY(&d->scratch, uint32_t, m->nbytes + 1);
    for (uint32_t k = 1; k < m->accesses.n; k++) {
        if (!m->accesses.at[k].reads)
            continue;
        nuses[m->accesses.at[k].first]++;
        nuses[m->accesses.at[k].end]--;
    }
    for (uint32_t k = 0; k < m->nbytes; k++) {
        d->unread[k + 1] = d->unread[k] + !nuses[k];
        nuses[k + 1] += nuses[k];
    }
}

static bool is_never_read(const DeadStores *d, const LocalAccess *access)
{
    return !d->memory.variables[access->variable].escaped &&
           d->unread[access->end] - d->unread[access->first] == access->end - access->first;
}

/* -- Bytes that are dead -------------------------------------------------------------------------------- */

// True if all bytes of a store are overwritten, or die with the function, before they are read.
static bool is_overwritten(const DeadStores *d, const LocalAccess *access)
{
    uint32_t piece = d->memory.piece[access->first];
    uint32_t unknown = d->memory.variables[access->variable].escaped ? d->escaped : 0;
    if (d->ending > MAX(d->any[piece], unknown))
        return true;
    if (access->end - access->first > BYTEWISE)
        return false;
    for (uint32_t k = access->first; k < access->end; k++)
        if (MAX(d->over[k], d->ending) <= MAX(MAX(d->read[k], d->range[piece]), unknown))
            return false;
    return true;
}

static void visit_read(DeadStores *d, const LocalAccess *access)
{
    uint32_t piece = d->memory.piece[access->first];
    scoped_set(&d->known, &d->any[piece], ++d->now);
    if (access->end - access->first > BYTEWISE)
        scoped_set(&d->known, &d->range[piece], d->now);
    else
        for (uint32_t k = access->first; k < access->end; k++)
            scoped_set(&d->known, &d->read[k], d->now);
}

static void visit_store(DeadStores *d, const LocalAccess *access)
{
    const Instr *i = ir_instr(d->fn, access->instr);
    bool ordered = ir_desc(d->fn, i)->traits & TR_ORDERED || i->flags & IF_PINNED || i->callseq;
    if (ordered)
        return;
    if ((is_never_read(d, access) || is_overwritten(d, access)) &&
        knob_spend(&d->ctx->knobs, KNOB_STORE_FORWARDING_BUDGET)) {
        VEC_PUSH(&d->scratch, &d->dead, access->instr);
        return;
    }
    d->now++;
    if (access->exact && !ir_guarded(i))
        for (uint32_t k = access->first; k < access->end; k++)
            scoped_set(&d->known, &d->over[k], d->now);
}

/* -- The walk ------------------------------------------------------------------------------------------- */

static void visit_block(DeadStores *d, BlockId b)
{
    FOR_INSTRS_BACK(d->fn, b, id) {
        const LocalAccess *access = local_access(&d->memory, id);
        const Desc *desc = ir_desc(d->fn, ir_instr(d->fn, id));
        bool only_writes = desc->op == OP_ST && !(desc->traits & TR_ORDERED);
        if (access && access->reads)
            visit_read(d, access);
        else if (access)
            visit_store(d, access);
        else if (!only_writes && local_may_reach_escaped(&d->memory, id))
            scoped_set(&d->known, &d->escaped, ++d->now);
    }
}

static void visit_from(DeadStores *d, BlockId root)
{
    scoped_push(&d->known, root);
    for (BlockId b; (b = scoped_next(&d->known));) {
        Opcode last = ir_desc(d->fn, ir_instr(d->fn, ir_terminator(d->fn, b)))->op;
        if (!succ_count(d->a, b) && (last == OP_RET || last == OP_EXIT))
            scoped_set(&d->known, &d->ending, ++d->now);
        visit_block(d, b);
        FOR_PREDS(d->a, b, p)
            if (succ_count(d->a, *p) == 1 && is_reachable(d->a, *p))
                scoped_push(&d->known, *p);
    }
}

bool remove_dead_stores(Ctx *ctx, Fn *fn)
{
    DeadStores d = {.ctx = ctx, .fn = fn};
    arena_init(&d.scratch, &ctx->heap);
    if (local_memory_find(&d.memory, fn, &d.scratch)) {
        d.a = analysis_need(fn, AN_CFG | AN_RPO);
        scoped_init(&d.known, &d.scratch);
        find_unread(&d);
        d.over = NEW_ARRAY(&d.scratch, uint32_t, d.memory.nbytes);
        d.read = NEW_ARRAY(&d.scratch, uint32_t, d.memory.nbytes);
        d.range = NEW_ARRAY(&d.scratch, uint32_t, d.memory.pieces.n);
        d.any = NEW_ARRAY(&d.scratch, uint32_t, d.memory.pieces.n);
        for (uint32_t k = 0; k < d.a->nrpo; k++)
            if (succ_count(d.a, d.a->rpo[k]) != 1)
                visit_from(&d, d.a->rpo[k]);
    }
    for (uint32_t k = 0; k < d.dead.n; k++)
        remove_annotated(fn, d.dead.at[k]);
    bool progress = d.dead.n > 0;
    arena_free(&d.scratch);
    return progress;
}
