// SPDX-License-Identifier: MIT
// Liveness queries for single registers of a function in ssa form. They avoid AN_LIVE, which is as large as all live
// ranges together (cf. Boissinot et al., "Fast liveness checking for SSA-form programs", 2008).
//
// A register is live at the end of a block if a path leads from there to a use over blocks that the definition strictly
// dominates. A path that leaves these blocks reaches the definition before a use. The search for the path runs forward.
// Two tests of constant time end the search, nearly always in its first steps:
//   - True: the current block dominates a use. Then a path leads from the block to the use and avoids the definition,
//     which is above the block.
//   - False: from block b a path leads up, in reverse postorder, only to the headers of the loops around b and to
//     blocks after these headers. No use is reached if all uses are above the outermost header that the definition
//     strictly dominates, or above b if there is none. That holds in irreducible loops, too. On a path that leads up,
//     the block that is first in reverse postorder is an ancestor of b in the depth-first tree. b reaches this block
//     over blocks after it, so it is the header of a loop that contains b. The outermost header is found in logarithmic
//     time by links that skip levels of the loop forest (Myers, "An applicative random-access stack", 1983).
//
// Most searches end early: the last use of most registers is in a block that a join on the path dominates, or above the
// queried block. After all searches together have taken WORK steps for each unit of size of the function, further
// searches return true.
#include "ir/analysis/analysis.h"

enum { WORK = 16, LAST_USES = 8 };

#define UNKNOWN 0
#define NOWHERE 1  // no reachable use; other values are 2 + an index in `rpo`

// Finds the link of each loop to an ancestor: the parent, or two links of the parent if these skip equally many levels.
static void find_skips(LiveCheck *c, Arena *arena)
{
    const LoopForest *f = &c->a->loops;
    c->skip = NEW_ARRAY(arena, uint32_t, f->n + 1);
    for (uint32_t k = 1; k <= f->n; k++) {
        uint32_t parent = f->loop[k].parent, once = c->skip[parent], twice = c->skip[once];
        bool equal = f->loop[parent].depth - f->loop[once].depth == f->loop[once].depth - f->loop[twice].depth;
        c->skip[k] = equal ? twice : parent;
    }
}

void live_check_init(LiveCheck *c, Arena *arena, const Fn *fn, const Analyses *a)
{
    uint32_t n = fn->blocks.n;
    *c = (LiveCheck){.fn = fn, .a = a, .work = WORK * ((uint64_t)n + a->uses.first[a->nregs])};
    c->last_read = NEW_ARRAY(arena, uint32_t, a->nregs);
    c->read_for = NEW_ARRAY(arena, uint32_t, n);
    c->seen_for = NEW_ARRAY(arena, uint32_t, n);
    c->stack = arena_alloc(arena, n * sizeof(BlockId));
    find_skips(c, arena);
}

// Returns the block in which a use reads, 0 if it is unreachable. A phi reads at the end of the predecessor.
static BlockId read_in(const LiveCheck *c, const Ref *use, bool *at_end)
{
    const Instr *i = ir_instr(c->fn, use->instr);
    *at_end = ir_desc(c->fn, i)->op == OP_PHI;
    BlockId b = *at_end ? op_index(ir_ops(c->fn, i)[use->op - 1]) : i->block;  // `block: value`
    return is_reachable(c->a, b) ? b : 0;
}

// Returns 2 + the index in `rpo` of the last block that reads the register, or NOWHERE.
static uint32_t last_read(LiveCheck *c, RegId r)
{
    if (c->last_read[r] != UNKNOWN)
        return c->last_read[r];
    uint32_t last = NOWHERE;
    FOR_USES(c->a, r, u) {
        bool at_end;
        BlockId b = read_in(c, u, &at_end);
        last = b ? MAX(last, 2 + c->a->rpo_index[b]) : last;
    }
    return c->last_read[r] = last;
}

// True if the definition strictly dominates the header of a loop; false for loop 0.
static bool is_above(const Analyses *a, BlockId def, uint32_t loop)
{
    BlockId header = a->loops.loop[loop].header;
    return loop && header != def && dominates(a, def, header);
}

// False if no path leads from the end of b to a use. The definition dominates b.
static bool may_lead_to_use(LiveCheck *c, RegId r, BlockId def, BlockId b)
{
    const Analyses *a = c->a;
    uint32_t last = last_read(c, r);
    BlockId first = b;
    if (last >= 2 + a->rpo_index[b])
        return true;
    for (uint32_t k = loop_of(a, b); is_above(a, def, k);) {
        first = a->loops.loop[k].header;
        k = is_above(a, def, c->skip[k]) ? c->skip[k] : a->loops.loop[k].parent;
    }
    return last >= 2 + a->rpo_index[first];
}

// True if the block strictly dominates one of the last uses. If `at_end_counts`, a use at the end of the block itself
// counts, too.
static bool leads_to_use(const LiveCheck *c, RegId r, BlockId b, bool at_end_counts)
{
    const Analyses *a = c->a;
    uint32_t end = a->uses.first[r + 1], first = a->uses.first[r];
    for (uint32_t k = end; k-- > first && end - k <= LAST_USES;) {
        bool at_end;
        BlockId in = read_in(c, &a->uses.at[k], &at_end);
        if (in && (in != b || (at_end && at_end_counts)) && dominates(a, b, in))
            return true;
    }
    return false;
}

static bool spend(LiveCheck *c, uint32_t work)
{
    bool enough = c->work >= work;
    c->work = enough ? c->work - work : 0;
    return enough;
}

// Marks the blocks that read the register, for the current search. True if a phi reads it at the end of b.
static bool mark_reads(LiveCheck *c, RegId r, BlockId b)
{
    bool at_its_end = false;
    FOR_USES(c->a, r, u) {
        bool at_end;
        BlockId in = read_in(c, u, &at_end);
        at_its_end |= in == b && at_end;
        c->read_for[in] = c->searches;
    }
    return at_its_end;
}

// True if a path leads from the end of b to a marked block over blocks strictly dominated by the definition. Also true
// if the work limit is reached.
static bool reaches_marked(LiveCheck *c, RegId r, BlockId def, BlockId b)
{
    const Analyses *a = c->a;
    uint32_t depth = 0;
    c->stack[depth++] = b;
    while (depth) {
        BlockId from = c->stack[--depth];
        FOR_SUCCS(a, from, s) {
            BlockId to = *s;
            if (to == def || !dominates(a, def, to) || c->seen_for[to] == c->searches)
                continue;
            if (c->read_for[to] == c->searches || leads_to_use(c, r, to, true) || !spend(c, 1))
                return true;
            c->seen_for[to] = c->searches;
            if (may_lead_to_use(c, r, def, to))
                c->stack[depth++] = to;
        }
    }
    return false;
}

static bool is_read_after(LiveCheck *c, RegId r, BlockId b, bool at_end_counts)
{
    const Analyses *a = c->a;
    BlockId def = ir_instr(c->fn, a->defs.at[a->defs.first[r]].instr)->block;
    if (!dominates(a, def, b) || !may_lead_to_use(c, r, def, b))
        return false;
    if (leads_to_use(c, r, b, at_end_counts) || !spend(c, use_count(a, r)))
        return true;
    c->searches++;
    return (mark_reads(c, r, b) && at_end_counts) || reaches_marked(c, r, def, b);
}

bool live_check_out(LiveCheck *c, RegId r, BlockId b) { return is_read_after(c, r, b, true); }

bool live_check_successors(LiveCheck *c, RegId r, BlockId b) { return is_read_after(c, r, b, false); }
