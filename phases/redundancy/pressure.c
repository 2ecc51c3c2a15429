// SPDX-License-Identifier: MIT
// Register pressure (phases/redundancy/pressure.h).
//
// If a register is kept for a reader, it becomes live on all paths from its definition to the reader on which it is not
// live yet. The highest pressure of each block on these paths must leave room for it below the highest pressure of the
// function. Blocks are measured when a path reaches them, unless a bound suffices. A query visits at most BLOCKS_MAX
// blocks; longer paths are refused. Kept registers are added to the pressure of the blocks. If all readers of an
// instruction that was replaced are replaced, too, the register in its place is released. Live sets may be as large as
// blocks x registers. Above live_max() they are not computed, and nothing is permitted.
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

// Returns the weight of the live operands of an instruction.
static uint32_t live_operands(const Pressure *p, const Instr *i)
{
    const Operand *ops = ir_ops(p->fn, i);
    uint32_t weight = 0;
    for (uint32_t k = 0; k < i->nops; k++)
        if (op_is_reg(ops[k]) && live_set_has(&p->live, op_index(ops[k])) && !is_repeated(ops, k))
            weight += weight_of(p->fn, op_index(ops[k]));
    return weight;
}

// Moves the set before an instruction. Returns the change of the pressure.
static uint32_t step(Pressure *p, InstrId id)
{
    const Instr *i = ir_instr(p->fn, id);
    uint32_t behind = live_operands(p, i);
    live_set_step(&p->live, p->fn, id);
    return live_operands(p, i) - behind;
}

// Returns the greatest size of the live sets of all blocks, in registers, for which they are computed.
static uint64_t live_max(const Fn *fn) { return 1024 + 8 * (uint64_t)fn->ninstrs; }

static void start(Pressure *p)
{
    p->known = analysis_need_live(p->fn, live_max(p->fn));
    p->a = p->fn->analyses;
    if (!p->known)
        return;
    p->most = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    p->bound = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    p->kept = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    p->visited = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    p->last = NEW_ARRAY(p->arena, uint32_t, p->fn->blocks.n);
    VEC_PUSH(p->arena, &p->kept_in, (KeptIn){0});
    live_set_init(&p->live, p->arena, p->fn);
}

// Returns the highest pressure in a block.
static uint32_t measure_block(Pressure *p, BlockId b)
{
    uint32_t now = 0;
    live_set_at_end(&p->live, p->a, b);
    for (uint32_t k = 0; k < p->live.n; k++)
        now += weight_of(p->fn, p->live.at[k]);
    uint32_t most = now;
    FOR_INSTRS_BACK(p->fn, b, id) {
        now += step(p, id);
        most = MAX(most, now);
    }
    return most;
}

// Returns a bound of it: the registers that are live at the start of the block or defined in it.
static uint32_t bound_in(Pressure *p, BlockId b)
{
    uint32_t n, sum = 0;
    const RegId *in = live_in(p->a, b, &n);
    for (uint32_t k = 0; k < n; k++)
        sum += weight_of(p->fn, in[k]);
    FOR_INSTRS(p->fn, b, id) {
        const Instr *i = ir_instr(p->fn, id);
        const Operand *ops = ir_ops(p->fn, i);
        for (uint32_t k = 0; k < i->ndef; k++)
            sum += op_is_reg(ops[k]) ? weight_of(p->fn, op_index(ops[k])) : 0;
    }
    return sum;
}

// Returns the same, measured once.
static uint32_t pressure_in(Pressure *p, BlockId b)
{
    if (!p->most[b])
        p->most[b] = 1 + measure_block(p, b);
    return p->most[b] - 1;
}

// True if the live sets of the function are known.
static bool is_known(Pressure *p)
{
    if (!p->a)
        start(p);
    return p->known;
}

uint32_t pressure_highest(Pressure *p)
{
    for (uint32_t k = 0; is_known(p) && !p->measured && k < p->a->nrpo; k++)
        p->highest = MAX(p->highest, pressure_in(p, p->a->rpo[k]));
    p->measured = true;
    return p->highest;
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

/* -- Kept registers ------------------------------------------------------------------------------------- */

static uint32_t hash_of(uint32_t x, uint32_t y)
{
    uint64_t h = hash_mix(x, y);
    return (uint32_t)(h ^ h >> 32);
}

// Returns the entry of a register that is kept in a block; 0 = there is none. Most often it is the last one.
static uint32_t find_kept(Pressure *p, RegId r, BlockId b)
{
    if (p->kept_in.at[p->last[b]].reg == r)
        return p->last[b];
    IDSET_EACH(&p->in_index, hash_of(r, b), k) {
        if (p->kept_in.at[k].reg == r && p->kept_in.at[k].block == b)
            return p->last[b] = k;
    }
    return 0;
}

static uint32_t add_kept(Pressure *p, RegId r, BlockId b)
{
    idset_add(&p->in_index, p->arena, hash_of(r, b), p->kept_in.n);
    VEC_PUSH(p->arena, &p->kept_in, ((KeptIn){.reg = r, .block = b}));
    return p->last[b] = p->kept_in.n - 1;
}

static KeptFor *find_reader(const Pressure *p, InstrId id)
{
    IDSET_EACH(&p->for_index, hash_of(id, 0), k) {
        if (p->kept_for.at[k].instr == id)
            return &p->kept_for.at[k];
    }
    return NULL;
}

// Adds `more` readers, 1 or -1, to a register in a block.
static void count_kept(Pressure *p, KeptIn *kept, int more)
{
    uint32_t weight = weight_of(p->fn, kept->reg);
    if (more > 0 && !kept->readers++)
        p->kept[kept->block] += weight;
    if (more < 0 && !--kept->readers)
        p->kept[kept->block] -= weight;
}

// Records that a register is kept on the path for an instruction that it replaces.
static void record_kept(Pressure *p, RegId r, InstrId at)
{
    const Instr *i = ir_instr(p->fn, at);
    KeptFor entry = {.instr = at, .first = p->places.n, .n = p->path.n};
    for (uint32_t k = 0; k < i->ndef; k++)
        entry.left += op_is_reg(*ir_def(p->fn, i, k)) ? use_count(p->a, op_index(*ir_def(p->fn, i, k))) : 0;
    for (uint32_t k = 0; k < p->path.n; k++) {
        uint32_t kept = find_kept(p, r, p->path.at[k]);
        if (!kept)
            kept = add_kept(p, r, p->path.at[k]);
        count_kept(p, &p->kept_in.at[kept], 1);
        VEC_PUSH(p->arena, &p->places, kept);
    }
    idset_add(&p->for_index, p->arena, hash_of(at, 0), p->kept_for.n);
    VEC_PUSH(p->arena, &p->kept_for, entry);
}

static void count_path(Pressure *p, const KeptFor *entry, int more)
{
    for (uint32_t n = 0; n < entry->n; n++)
        count_kept(p, &p->kept_in.at[p->places.at[entry->first + n]], more);
}

// Counts the operands of an instruction as read once less. Releases the registers in place of those without readers.
static void release_operands(Pressure *p, InstrId id)
{
    const Instr *i = ir_instr(p->fn, id);
    p->counted.n = 0;
    for (uint32_t k = i->ndef; k < i->nops && p->kept_for.n; k++) {
        Operand o = ir_ops(p->fn, i)[k];
        KeptFor *entry = op_is_reg(o) && def_count(p->a, op_index(o))
                             ? find_reader(p, p->a->defs.at[p->a->defs.first[op_index(o)]].instr)
                             : NULL;
        if (!entry || !entry->left)
            continue;
        VEC_PUSH(p->arena, &p->counted, (uint32_t)(entry - p->kept_for.at));
        if (!--entry->left)
            count_path(p, entry, -1);
    }
}

// Undoes release_operands(), since the instruction stays.
static void keep_operands(Pressure *p)
{
    for (uint32_t k = 0; k < p->counted.n; k++) {
        KeptFor *entry = &p->kept_for.at[p->counted.at[k]];
        if (!entry->left++)
            count_path(p, entry, 1);
    }
}

/* -- Room ----------------------------------------------------------------------------------------------- */

// True if there is room for a weight in a block. The block is measured if the bound does not decide that.
static bool has_room(Pressure *p, BlockId b, uint32_t weight, uint32_t limit)
{
    if (!p->most[b] && !p->bound[b])
        p->bound[b] = 1 + bound_in(p, b);
    return (!p->most[b] && p->bound[b] - 1 + weight <= limit) || pressure_in(p, b) + weight <= limit;
}

// The same for a register, which may be kept there already.
static bool fits(Pressure *p, RegId r, BlockId b, uint32_t limit)
{
    if (has_room(p, b, p->kept[b] + weight_of(p->fn, r), limit))
        return true;
    uint32_t kept = find_kept(p, r, b);
    return kept && p->kept_in.at[kept].readers && has_room(p, b, p->kept[b], limit);
}

// Notes a block through which the register would be live. False: there is no room, or the path is too long.
static bool extend_to(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t limit)
{
    if (p->visited[b] == p->searches)
        return true;
    p->visited[b] = p->searches;
    VEC_PUSH(p->arena, &p->path, b);
    if (b != home && !is_live_in(p->a, b, r))
        VEC_PUSH(p->arena, &p->work, b);
    return p->path.n <= BLOCKS_MAX && fits(p, r, b, limit);
}

// Finds the blocks on all paths from the definition in `home` to block b, in a part of which the register is not live.
// True if there is room below the limit in all of them.
static bool find_path(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t limit)
{
    p->searches++;
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

// Finds a path for the register from its definition in `home` to block b that has room. The other blocks are measured
// if there is none below `free`.
static bool find_room(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t free)
{
    bool room = find_path(p, r, b, home, free);
    if (!room && p->path.n <= BLOCKS_MAX && pressure_highest(p) > free)
        room = find_path(p, r, b, home, p->highest);
    return room;
}

// Keeps the register on such a path.
static bool keep(Pressure *p, RegId r, BlockId b, BlockId home, uint32_t free)
{
    bool room = find_room(p, r, b, home, free);
    for (uint32_t k = 0; room && k < p->path.n; k++)
        p->kept[p->path.at[k]] += weight_of(p->fn, r);
    return room;
}

static BlockId home_of(const Pressure *p, RegId r)
{
    return ir_instr(p->fn, p->a->defs.at[p->a->defs.first[r]].instr)->block;
}

bool pressure_permits(Pressure *p, RegId r, InstrId at)
{
    if (!is_known(p))
        return false;
    release_operands(p, at);
    if (is_live_at(p, r, at))
        return true;
    bool room = find_room(p, r, ir_instr(p->fn, at)->block, home_of(p, r), p->free);
    if (room)
        record_kept(p, r, at);
    else
        keep_operands(p);
    return room;
}

bool pressure_permits_at_end(Pressure *p, RegId r, BlockId b, uint32_t free)
{
    pressure_highest(p);  // the caller may change the blocks
    return p->known && (is_live_out(p->a, b, r) || keep(p, r, b, home_of(p, r), free));
}

bool pressure_permits_new(Pressure *p, RegId like, BlockId from, BlockId to, uint32_t free)
{
    pressure_highest(p);  // the caller may change the blocks
    return p->known && keep(p, like, to, from, free);
}
