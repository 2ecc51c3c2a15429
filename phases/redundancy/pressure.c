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

void pressure_init(Pressure *p, Fn *fn, Arena *arena) { *p = (Pressure){.fn = fn, .arena = arena}; }

static uint32_t weight_of(const Fn *fn, RegId r)
{
    Width width = (Width)ir_reg(fn, r)->width;
    return width == W128 ? 4 : width == W64 ? 2 : 1;
}

// Returns the weight of the registers of an instruction that are in the set.
static uint32_t weight_of_operands(const Fn *fn, const Instr *i, const LiveSet *live)
{
    const Operand *ops = ir_ops(fn, i);
    uint32_t sum = 0;
    for (uint32_t k = 0; k < i->nops; k++) {
        uint32_t same = 0;
        while (same < k && !(op_is_reg(ops[same]) && op_index(ops[same]) == op_index(ops[k])))
            same++;
        if (op_is_reg(ops[k]) && same == k && live_set_has(live, op_index(ops[k])))
            sum += weight_of(fn, op_index(ops[k]));
    }
    return sum;
}

// Returns the highest pressure in a block.
static uint32_t measure_block(const Pressure *p, LiveSet *live, BlockId b)
{
    uint32_t now = 0;
    live_set_at_end(live, p->a, b);
    for (uint32_t k = 0; k < live->n; k++)
        now += weight_of(p->fn, live->at[k]);
    uint32_t most = now;
    FOR_INSTRS_BACK(p->fn, b, id) {
        const Instr *i = ir_instr(p->fn, id);
        now -= weight_of_operands(p->fn, i, live);
        live_set_step(live, p->fn, id);
        now += weight_of_operands(p->fn, i, live);
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

// True if the register is live in its block behind the position.
static bool is_live_behind(const Pressure *p, RegId r, InstrId at)
{
    BlockId b = ir_instr(p->fn, at)->block;
    if (is_live_out(p->a, b, r))
        return true;
    FOR_USES(p->a, r, u)
        if (ir_instr(p->fn, u->instr)->block == b && stands_before(p->a, at, u->instr) && !ir_is_phi(p->fn, u->instr))
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
    if (is_live_behind(p, r, at))
        return true;
    BlockId home = ir_instr(p->fn, p->a->defs.at[p->a->defs.first[r]].instr)->block;
    bool room = has_room(p, r, ir_instr(p->fn, at)->block, home, MAX(p->highest, FREE));
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
