// SPDX-License-Identifier: MIT
// Register pressure (phases/redundancy/pressure.h).
//
// If a register is kept for a reader, it becomes live on all paths from its definition to the reader on which it is not
// live yet. The highest pressure of each block on these paths must leave room for it below the highest pressure of the
// function. A query visits at most BLOCKS_MAX blocks; longer paths are refused. Kept registers are added to the
// pressure of the blocks, but not to the live ranges, so a second reader may count a register twice.
//
// Below FREE registers there is always room: a thread may have 32 registers at full occupancy. With 0, 16, 24 and 32
// the samples that are naive PTX have 17,983, 17,983, 17,952 and 17,948 SASS instructions and 3,405, 3,421, 3,429 and
// 3,441 registers; code of nvcc -O3 is the same with all of them.
//
// The estimate ignores that operands of the replaced instruction may become dead.
#include "phases/redundancy/pressure.h"

enum { BLOCKS_MAX = 64, FREE = 24 };

void pressure_init(Pressure *p, Fn *fn, Arena *arena) { *p = (Pressure){.fn = fn, .arena = arena, .free = FREE}; }

static uint32_t weight_of(const Fn *fn, RegId r)
{
    Width width = (Width)ir_reg(fn, r)->width;
    return width == W128 ? 4 : width == W64 ? 2 : 1;
}

// Returns true if an earlier operand is the same register.
static bool is_repeated(const Operand *ops, uint32_t k)
{
    uint32_t same = 0;
    while (same < k && !(op_is_reg(ops[same]) && op_index(ops[same]) == op_index(ops[k])))
        same++;
    return same < k;
}

// Moves the set before an instruction. Returns the change of the pressure.
static uint32_t step(Pressure *p, LiveSet *live, InstrId id)
{
    const Instr *i = ir_instr(p->fn, id);
    const Operand *ops = ir_ops(p->fn, i);
    uint32_t change = 0;
    p->was.n = 0;
    for (uint32_t k = 0; k < i->nops; k++)
        VEC_PUSH(p->arena, &p->was, op_is_reg(ops[k]) && live_set_has(live, op_index(ops[k])));
    live_set_step(live, p->fn, id);
    for (uint32_t k = 0; k < i->nops; k++) {
        bool is = op_is_reg(ops[k]) && live_set_has(live, op_index(ops[k]));
        if (is != p->was.at[k] && !is_repeated(ops, k))
            change += is ? weight_of(p->fn, op_index(ops[k])) : -weight_of(p->fn, op_index(ops[k]));
    }
    return change;
}

// Returns the highest pressure in a block.
static uint32_t measure_block(Pressure *p, LiveSet *live, BlockId b)
{
    uint32_t now = 0;
    live_set_at_end(live, p->a, b);
    for (uint32_t k = 0; k < live->n; k++)
        now += weight_of(p->fn, live->at[k]);
    uint32_t most = now;
    FOR_INSTRS_BACK(p->fn, b, id) {
        now += step(p, live, id);
        most = MAX(most, now);
    }
    return most;
}

static void measure(Pressure *p)
{
    LiveSet live;
    p->a = analysis_need(p->fn, AN_LIVE);
    p->most = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    p->visited = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    live_set_init(&live, p->arena, p->fn);
    for (uint32_t k = 0; k < p->a->nrpo; k++) {
        BlockId b = p->a->rpo[k];
        p->most[b] = measure_block(p, &live, b);
        p->highest = MAX(p->highest, p->most[b]);
    }
}

// Returns the first use of the register that is not in front of a position, in layout order.
static const Ref *first_use_from(const Pressure *p, RegId r, InstrId at)
{
    const Ref *low = p->a->uses.at + p->a->uses.first[r], *high = p->a->uses.at + p->a->uses.first[r + 1];
    while (low < high) {
        const Ref *middle = low + (high - low) / 2;
        if (stands_before(p->a, middle->instr, at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// True if the register is live at the position, or the instruction there reads it. Then it takes the place of a result.
static bool is_live_at(const Pressure *p, RegId r, InstrId at)
{
    BlockId b = ir_instr(p->fn, at)->block;
    if (is_live_out(p->a, b, r))
        return true;
    const Ref *end = p->a->uses.at + p->a->uses.first[r + 1];
    for (const Ref *u = first_use_from(p, r, at); u < end && ir_instr(p->fn, u->instr)->block == b; u++)
        if (!ir_is_phi(p->fn, u->instr))
            return true;
    return false;
}

// Notes a block through which the register would be live. False: there is no room, or the path is too long.
static bool extend_to(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t limit)
{
    if (p->visited[b] == p->queries)
        return true;
    p->visited[b] = p->queries;
    VEC_PUSH(p->arena, &p->path, b);
    if (b != home && !is_live_in(p->a, b, r))
        VEC_PUSH(p->arena, &p->work, b);
    return p->most[b] + weight_of(p->fn, r) <= limit && p->path.n <= BLOCKS_MAX;
}

// Records the register as live in the blocks of the path.
static void keep(Pressure *p, RegId r)
{
    for (uint32_t k = 0; k < p->path.n; k++)
        p->most[p->path.at[k]] += weight_of(p->fn, r);
}

// True if there is room below the limit on all paths from the definition in `home` to block b, in a part of which the
// register is not live.
static bool has_room(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t limit)
{
    p->queries++;
    p->path.n = p->work.n = 0;
    if (!extend_to(p, r, b, home, limit))
        return false;
    while (p->work.n) {
        BlockId at = p->work.at[--p->work.n];
        FOR_PREDS(p->a, at, pred)
            if (is_reachable(p->a, *pred) && !is_live_out(p->a, *pred, r) && !extend_to(p, r, *pred, home, limit))
                return false;
    }
    return true;
}

bool pressure_permits(Pressure *p, RegId r, InstrId at)
{
    if (!p->a)
        measure(p);
    if (is_live_at(p, r, at))
        return true;
    BlockId home = ir_instr(p->fn, p->a->defs.at[p->a->defs.first[r]].instr)->block;
    bool room = has_room(p, r, ir_instr(p->fn, at)->block, home, MAX(p->highest, p->free));
    if (room)
        keep(p, r);
    return room;
}

bool pressure_permits_at_end(Pressure *p, RegId r, BlockId b, uint32_t free)
{
    if (!p->a)
        measure(p);
    if (is_live_out(p->a, b, r))
        return true;
    BlockId home = ir_instr(p->fn, p->a->defs.at[p->a->defs.first[r]].instr)->block;
    bool room = has_room(p, r, b, home, MAX(p->highest, free));
    if (room)
        keep(p, r);
    return room;
}

bool pressure_permits_new(Pressure *p, RegId like, BlockId from, BlockId to, uint32_t free)
{
    if (!p->a)
        measure(p);
    bool room = has_room(p, like, to, from, MAX(p->highest, free));
    if (room)
        keep(p, like);
    return room;
}
