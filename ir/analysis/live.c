// SPDX-License-Identifier: MIT
// Computes sparse liveness: the registers that are live at the start and at the end of each reachable block.
//
// Each register is handled separately. A backward search runs from its upward-exposed uses to the blocks that define
// it. The cost is the size of the result, plus a step for each edge that the search crosses. A register that is used
// only in its block costs one test. No table has the size blocks x registers. Only the result may reach that size, if
// many registers are live through many blocks; beyond 2^32 - 1 entries the analysis fails with ST_LIMIT.
//
// All searches run twice, first to count and then to fill the rows, so that each array is allocated once. The second
// run omits registers that cross no block boundary. LIVE stays valid until blocks are added or liveness changes.
//
// Uses and kills:
//   - A use reads. The inputs of a phi are read at the end of the predecessors; the definition of a phi is not live at
//     the start of its block.
//   - An unguarded definition kills. A guarded definition does not kill, nor does it use the old value, although it
//     keeps that value if the guard is false: the old value is needed only if the register is live after the
//     definition.
//   - A tied use reads the old value, so its definition kills, guarded or not.
//   - An opaque instruction reads all of its registers, so it does not matter that it also defines them.
//   - Registers that are named elsewhere are used after the function, as results or as variables of the module. They
//     are live at the end of blocks that end in RET or EXIT. A call reads all of them and kills none, since it may or
//     may not use the variables of the module. The analysis does not determine which registers are results, nor which
//     variables the callee can name.
//   - The carry is an ordinary register here. It is live across blocks only in functions that pass through (T5).
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// True if a definition of r by this instruction kills the old value, or if a tied use reads the old value.
static bool kills(const Fn *fn, const Instr *i, RegId r)
{
    return !ir_guarded(i) || (i->flags & IF_TIED && reg_in_ssa(ir_reg(fn, r)));
}

static Opcode opcode_of(const Fn *fn, InstrId i) { return ir_desc(fn, ir_instr(fn, i))->op; }

/* -- Search --------------------------------------------------------------------------------------------- */

// State of a block. Each field holds the last register for which it was set.
typedef struct Mark {
    RegId in, out;  // live at its start, its end
    RegId killed;   // a definition in the block kills it
    uint32_t kill;  // place of the first instruction that kills `killed`
} Mark;

typedef struct Search {
    const Fn *fn;
    const Analyses *a;
    Arena scratch;
    RegRows *in, *out;  // first[] counts; while filling, first[] advances
    Edges preds;        // from reachable blocks, without duplicates
    Mark *mark;         // by BlockId
    BlockId *stack;     // worklist: `depth` blocks at whose start the register is live
    uint32_t depth;
    bool knows_exits;
    VEC(BlockId) exits;  // blocks that end in RET or EXIT
    VEC(InstrId) calls;  // first call of each block
    RegId reg;           // the current register
    uint64_t found;      // boundaries at which a register is live, over all registers
} Search;

static void add_row(RegRows *rows, BlockId b, RegId r)
{
    uint32_t k = rows->first[b]++;
    if (rows->at)
        rows->at[k] = r;
}

static void live_at_start(Search *s, BlockId b)
{
    if (s->mark[b].in == s->reg)
        return;
    s->mark[b].in = s->reg;
    add_row(s->in, b, s->reg);
    s->stack[s->depth++] = b;
    s->found++;
}

static void live_at_end(Search *s, BlockId b)
{
    if (s->mark[b].out == s->reg)
        return;
    s->mark[b].out = s->reg;
    add_row(s->out, b, s->reg);
    s->found++;
    if (s->mark[b].killed != s->reg)
        live_at_start(s, b);
}

// Records a use by an instruction other than a phi.
static void read_by(Search *s, InstrId i)
{
    BlockId b = ir_instr(s->fn, i)->block;
    const Mark *mark = &s->mark[b];
    if (is_reachable(s->a, b) && !(mark->killed == s->reg && mark->kill < s->a->place[i]))
        live_at_start(s, b);
}

// Marks the blocks that kill the register. Definitions are visited in layout order, so the first kill found in a block
// is the first one of the block.
static void mark_kills(Search *s)
{
    FOR_DEFS(s->a, s->reg, d) {
        const Instr *i = ir_instr(s->fn, d->instr);
        Mark *mark = &s->mark[i->block];
        if (mark->killed == s->reg || !kills(s->fn, i, s->reg))
            continue;
        mark->killed = s->reg;
        mark->kill = s->a->place[d->instr];
    }
}

static void read_by_uses(Search *s)
{
    FOR_USES(s->a, s->reg, u) {
        if (!ir_is_phi(s->fn, u->instr)) {
            read_by(s, u->instr);
            continue;
        }
        BlockId from = op_index(ir_ops(s->fn, ir_instr(s->fn, u->instr))[u->op - 1]);  // `block: value`
        if (is_reachable(s->a, from))
            live_at_end(s, from);
    }
}

// Finds the blocks that leave the function, and the first call of each block. Only registers that are named elsewhere
// require this walk over all instructions.
static void find_exits(Search *s)
{
    const Fn *fn = s->fn;
    for (uint32_t k = 0; k < s->a->nrpo; k++) {
        BlockId b = s->a->rpo[k];
        InstrId id = ir_block(fn, b)->first;
        while (id && opcode_of(fn, id) != OP_CALL)
            id = ir_instr(fn, id)->next;
        if (id)
            VEC_PUSH(&s->scratch, &s->calls, id);
        Opcode last = opcode_of(fn, ir_terminator(fn, b));
        if (last == OP_RET || last == OP_EXIT)
            VEC_PUSH(&s->scratch, &s->exits, b);
    }
    s->knows_exits = true;
}

static void read_by_others(Search *s)
{
    if (!s->knows_exits)
        find_exits(s);
    for (uint32_t k = 0; k < s->calls.n; k++)
        read_by(s, s->calls.at[k]);
    for (uint32_t k = 0; k < s->exits.n; k++)
        live_at_end(s, s->exits.at[k]);
}

// True if all uses follow the first definition, in the same block. Checks only the first and the last use. A use by a
// phi, which reads in a predecessor, would be the first use in its block.
static bool is_local(const Search *s)
{
    const Analyses *a = s->a;
    uint32_t nuses = use_count(a, s->reg);
    if (!nuses || !def_count(a, s->reg))
        return !nuses;
    const Ref *use = a->uses.at + a->uses.first[s->reg];
    InstrId def = a->defs.at[a->defs.first[s->reg]].instr;
    const Instr *i = ir_instr(s->fn, def);
    return kills(s->fn, i, s->reg) && a->place[use[0].instr] > a->place[def] &&
           a->place[use[nuses - 1].instr] <= a->place[ir_terminator(s->fn, i->block)] &&
           !ir_is_phi(s->fn, use[0].instr);
}

// Finds all boundaries at which a register is live; true if there are any.
static bool find_boundaries(Search *s, RegId r)
{
    bool named = ir_reg(s->fn, r)->flags & REG_NAMED;
    uint64_t before = s->found;
    s->reg = r;
    if (!named && is_local(s))
        return false;
    mark_kills(s);
    read_by_uses(s);
    if (named)
        read_by_others(s);
    while (s->depth) {
        BlockId b = s->stack[--s->depth];
        FOR_EDGES(&s->preds, b, p)
            live_at_end(s, *p);
    }
    return s->found > before;
}

/* -- Rows ----------------------------------------------------------------------------------------------- */

// Collects the edges from reachable blocks, without duplicates. Otherwise the search of each register would visit all
// entries of a branch table that name the same block.
static void collect_predecessors(Search *s)
{
    const Edges *all = &s->a->preds;
    uint32_t n = s->fn->blocks.n, count = 0;
    BlockId *seen_for = NEW_ARRAY(&s->scratch, BlockId, n);
    s->preds.first = NEW_ARRAY(&s->scratch, uint32_t, n + 1);
    s->preds.at = arena_alloc(&s->scratch, all->first[n] * sizeof(BlockId));
    for (BlockId b = 1; b < n; b++) {
        s->preds.first[b] = count;
        for (uint32_t e = all->first[b]; e < all->first[b + 1]; e++) {
            BlockId from = all->at[e];
            if (is_reachable(s->a, from) && seen_for[from] != b)
                s->preds.at[count++] = from;
            seen_for[from] = b;
        }
    }
    s->preds.first[n] = count;
}

// Counts the registers of each row, and collects those that cross a block boundary. Returns their number. Stops when
// the rows have more than `max` registers in all.
static uint32_t count_rows(Search *s, RegId *crossing, uint64_t max)
{
    uint32_t n = 0;
    for (RegId r = 1; r < s->fn->regs.n && s->found <= max; r++) {
        bool read = use_count(s->a, r) || ir_reg(s->fn, r)->flags & REG_NAMED;
        if (read && find_boundaries(s, r))
            crossing[n++] = r;
    }
    return n;
}

bool live_build_within(const Fn *fn, Analyses *a, uint64_t max)
{
    Arena *arena = &a->arena[AX_LIVE];
    uint32_t n = fn->blocks.n;
    a->live.in = (RegRows){.first = NEW_ARRAY(arena, uint32_t, n + 1)};
    a->live.out = (RegRows){.first = NEW_ARRAY(arena, uint32_t, n + 1)};
    Search s = {.fn = fn, .a = a, .in = &a->live.in, .out = &a->live.out};
    arena_init(&s.scratch, fn->arena.heap);
    s.mark = NEW_ARRAY(&s.scratch, Mark, n);
    s.stack = NEW_ARRAY(&s.scratch, BlockId, a->nrpo);
    RegId *crossing = arena_alloc(&s.scratch, fn->regs.n * sizeof *crossing);
    collect_predecessors(&s);
    uint32_t ncrossing = count_rows(&s, crossing, max);
    bool fits = s.found <= max;
    if (fits) {
        s.in->at = arena_alloc(arena, rows_start(s.in->first, n) * sizeof(RegId));
        s.out->at = arena_alloc(arena, rows_start(s.out->first, n) * sizeof(RegId));
        memset(s.mark, 0, n * sizeof *s.mark);
        for (uint32_t k = 0; k < ncrossing; k++)
            find_boundaries(&s, crossing[k]);
        rows_restore(s.in->first, n);
        rows_restore(s.out->first, n);
    } else {
        arena_free(arena);
    }
    arena_free(&s.scratch);
    return fits;
}

void live_build(const Fn *fn, Analyses *a)
{
    if (!live_build_within(fn, a, UINT32_MAX))
        heap_fail(fn->arena.heap, ST_LIMIT, "the live sets of the blocks have more than %u registers in all",
                  UINT32_MAX);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

static bool same_rows(const Fn *fn, const RegRows *kept, const RegRows *now, const char *where, char why[static 150])
{
    for (BlockId b = 1; b < fn->blocks.n; b++) {
        uint32_t k = kept->first[b], kept_end = kept->first[b + 1], n = now->first[b], now_end = now->first[b + 1];
        while (k < kept_end && n < now_end && kept->at[k] == now->at[n])
            k++, n++;
        if (k == kept_end && n == now_end)
            continue;
        RegId was = k < kept_end ? kept->at[k] : UINT32_MAX, is = n < now_end ? now->at[n] : UINT32_MAX;
        const Reg *r = ir_reg(fn, MIN(was, is));
        snprintf(why, 150, "%s%u is %slive at the %s of b%u", reg_file_names[r->file], r->ordinal,
                 is < was ? "" : "not ", where, ir_block(fn, b)->ordinal);
        return false;
    }
    return true;
}

bool live_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    return same_rows(fn, &kept->live.in, &now->live.in, "start", why) &&
           same_rows(fn, &kept->live.out, &now->live.out, "end", why);
}

/* -- Within a block ------------------------------------------------------------------------------------- */

void live_set_init(LiveSet *set, Arena *arena, const Fn *fn)
{
    uint32_t n = fn->regs.n;
    *set = (LiveSet){.at = arena_alloc(arena, n * sizeof(RegId)), .index = NEW_ARRAY(arena, uint32_t, n)};
    for (RegId r = 1; r < n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED)
            VEC_PUSH(arena, &set->named, r);
}

void live_set_at_end(LiveSet *set, const Analyses *an, BlockId b)
{
    uint32_t n;
    const RegId *row = live_out(an, b, &n);
    set->n = 0;
    for (uint32_t k = 0; k < n; k++)
        live_set_add(set, row[k]);
}

void live_set_step(LiveSet *set, const Fn *fn, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    const Operand *ops = ir_ops(fn, i);
    Opcode op = ir_desc(fn, i)->op;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(ops[k]) && kills(fn, i, op_index(ops[k])))
            live_set_remove(set, op_index(ops[k]));
    if (op == OP_PHI)  // reads at the end of the predecessors
        return;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (op_is_reg(ops[k]))
            live_set_add(set, op_index(ops[k]));
    if (op == OP_CALL || op == OP_RET || op == OP_EXIT)
        for (uint32_t k = 0; k < set->named.n; k++)
            live_set_add(set, set->named.at[k]);
}
