// SPDX-License-Identifier: MIT
// Runs instructions that threads execute together. PTX ISA 9.7.9 (shfl), 9.7.13 (bar, barrier, bar.warp.sync, vote,
// match, activemask, redux, elect).
//
// A group that lacks some of the live lanes of its member mask waits for these lanes. The lanes of a mask meet when all
// are at instructions of the same kind with the same mask. These may be different instructions in different calls. The
// last group to arrive executes the operation for all.
//
// A warp arrives at a barrier of the CTA when all its live lanes are at the barrier, and counts as 32 threads, as in
// the ISA. A barrier without a count requires all warps that have not ended.
//
// Not specified in the ISA: a lane that reads from a lane outside the mask gets its own value; elect.sync elects the
// lowest lane. Faults, since undefined in the ISA: a lane outside its own mask, lanes of a warp at different barriers,
// different counts at one barrier.
#include "ir/machine/machine_internal.h"

static uint32_t first_lane(const Group *g) { return (uint32_t)__builtin_ctz(g->lanes); }

static const Code *code_at(const Group *g) { return &g->frame->func->code[g->pc]; }

static void advance_group(Warp *w, Group *g)
{
    g->state = GROUP_READY;
    group_go(w, g, g->pc + 1);
}

/* -- Collectives -------------------------------------------------------------------------------------- */

// Lanes that execute an operation together, each at the instruction of its group.
typedef struct Collective {
    Run *r;
    Mask lanes;
    Mask defined;               // lanes with defined inputs
    const Group *group[LANES];  // by lane
    const Code *code[LANES];
} Collective;

typedef void CollectiveOp(const Collective *m);

static void add_group(Collective *m, const Group *g, const Code *c)
{
    m->lanes |= g->lanes;
    FOR_LANES(g->lanes, lane) {
        m->group[lane] = g;
        m->code[lane] = c;
    }
}

static uint64_t input(const Collective *m, uint32_t k, uint32_t lane)
{
    return read_lane(m->r, m->group[lane], &m->code[lane]->in[k], lane);
}

// Writes the k-th output of a lane; `defined`: a bit for each defined byte.
static void output_bytes(const Collective *m, uint32_t k, uint32_t lane, uint64_t bits, uint32_t defined)
{
    Run *r = m->r;
    if (k >= m->code[lane]->nout)
        return;
    const OperandRef *o = &m->code[lane]->out[k];
    write_lane(r, m->group[lane], o, lane, (Value){bits, 0});
    set_bytes_defined(r, m->group[lane], o, lane, defined);
}

static void output(const Collective *m, uint32_t k, uint32_t lane, uint64_t bits)
{
    output_bytes(m, k, lane, bits, m->defined == m->lanes ? ALL_BYTES : 0);
}

// Returns the lanes whose k-th input is true.
static Mask ballot(const Collective *m, uint32_t k)
{
    Mask yes = 0;
    FOR_LANES(m->lanes, lane)
        yes |= (Mask)(input(m, k, lane) & 1) << lane;
    return yes;
}

/* -- Operations ----------------------------------------------------------------------------------------- */

static void collective_none(const Collective *m) { (void)m; }

// Returns the lane from which `lane` reads. *in_range is false if this lane is outside the segment; then returns
// `lane`.
static uint32_t source_lane(const Collective *m, uint32_t lane, bool *in_range)
{
    uint32_t b = input(m, 1, lane) & 31, c = (uint32_t)input(m, 2, lane);
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t low = lane & segment, limit = low | (clamp & ~segment);
    uint32_t from;
    switch (m->code[lane]->action) {
    case MOD_UP:
        from = lane - b;
        *in_range = lane >= limit + b;
        break;
    case MOD_DOWN:
        from = lane + b;
        *in_range = from <= limit;
        break;
    case MOD_BFLY:
        from = lane ^ b;
        *in_range = from <= limit;
        break;
    default:
        from = low | (b & ~segment);
        *in_range = from <= limit;
        break;
    }
    return *in_range ? from : lane;
}

// Moves values with the states of their bytes. The result of a lane is undefined if another operand of the lane is.
static void collective_shfl(const Collective *m)
{
    uint64_t values[LANES];
    uint32_t defined[LANES];
    FOR_LANES(m->lanes, lane) {
        values[lane] = input(m, 0, lane);
        defined[lane] =
            m->r->machine->tracks ? bytes_defined(m->r, m->group[lane], &m->code[lane]->in[0], lane) : ALL_BYTES;
    }
    FOR_LANES(m->lanes, lane) {
        bool in_range, known = m->defined >> lane & 1;
        uint32_t from = source_lane(m, lane, &in_range), taken = m->lanes >> from & 1 ? from : lane;
        output_bytes(m, 0, lane, values[taken], known ? defined[taken] : 0);
        output_bytes(m, 1, lane, in_range, known ? ALL_BYTES : 0);
    }
}

static void collective_vote(const Collective *m)
{
    Mask yes = ballot(m, 0);
    FOR_LANES(m->lanes, lane) {
        uint64_t result;
        switch (m->code[lane]->action) {
        case MOD_ALL: result = yes == m->lanes; break;
        case MOD_ANY: result = yes != 0; break;
        case MOD_BALLOT: result = yes; break;
        default: result = yes == m->lanes || !yes; break;
        }
        output(m, 0, lane, result);
    }
}

static void collective_match(const Collective *m)
{
    uint64_t values[LANES];
    Mask same[LANES];  // by lane
    FOR_LANES(m->lanes, lane)
        values[lane] = input(m, 0, lane);
    FOR_LANES(m->lanes, lane) {
        same[lane] = 0;
        for (uint32_t k = 0; k < LANES; k++)
            if (m->lanes >> k & 1 && values[k] == values[lane])
                same[lane] |= UINT32_C(1) << k;
    }
    FOR_LANES(m->lanes, lane) {
        bool all = same[lane] == m->lanes;
        output(m, 0, lane, m->code[lane]->op == OP_MATCH_ANY || all ? same[lane] : 0);
        output(m, 1, lane, all);
    }
}

static uint32_t reduce(Mod op, bool is_signed, uint32_t a, uint32_t b)
{
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (op) {
    case MOD_AND: return a & b;
    case MOD_OR: return a | b;
    case MOD_XOR: return a ^ b;
    case MOD_MIN: return less ? a : b;
    case MOD_MAX: return less ? b : a;
    default: return a + b;
    }
}

static void collective_redux(const Collective *m)
{
    uint32_t first = (uint32_t)__builtin_ctz(m->lanes);
    const Code *c = m->code[first];
    uint32_t result = (uint32_t)input(m, 0, first);
    FOR_LANES(m->lanes &(m->lanes - 1), lane)
        result = reduce((Mod)c->action, c->type == TY_S32, result, (uint32_t)input(m, 0, lane));
    FOR_LANES(m->lanes, lane)
        output(m, 0, lane, result);
}

static void collective_elect(const Collective *m)
{
    uint32_t leader = (uint32_t)__builtin_ctz(m->lanes);
    FOR_LANES(m->lanes, lane) {
        output(m, 0, lane, leader);
        output(m, 1, lane, lane == leader);
    }
}

static CollectiveOp *collective_of(Opcode op)
{
    switch (op) {
    case OP_SHFL:
    case OP_SHFL_SYNC: return collective_shfl;
    case OP_VOTE:
    case OP_VOTE_SYNC: return collective_vote;
    case OP_MATCH_ANY:
    case OP_MATCH_ALL: return collective_match;
    case OP_REDUX: return collective_redux;
    case OP_ELECT: return collective_elect;
    default: return collective_none;
    }
}

static Mask inputs_defined(const Collective *m)
{
    Mask defined = 0;
    FOR_LANES(m->r->machine->tracks ? m->lanes : 0, lane)
        defined |= undef_inputs(m->r, m->group[lane], m->code[lane]) & UINT32_C(1) << lane;
    return defined;
}

static void apply(Collective *m, Opcode op)
{
    m->defined = inputs_defined(m);
    collective_of(op)(m);
}

/* -- Synchronization ------------------------------------------------------------------------------------ */

static bool is_same_operation(const Code *a, const Code *b)
{
    return a->op == b->op && a->action == b->action && a->type == b->type;
}

// Collects the group and all groups that wait for the same lanes. Returns their number.
static uint32_t matching_groups(Warp *w, Group *g, Group **groups)
{
    const Code *c = code_at(g);
    uint32_t n = 0;
    groups[n++] = g;
    for (Group *other = w->groups; other < w->groups + LANES; other++)
        if (other != g && other->lanes && other->state == GROUP_AT_SYNC && other->members == g->members &&
            is_same_operation(c, code_at(other)))
            groups[n++] = other;
    return n;
}

// Executes the operation if all lanes of the group's mask have arrived, and continues the other groups. False if lanes
// are missing.
static bool execute_if_complete(Run *r, Group *g)
{
    Warp *w = r->warp;
    Group *groups[LANES];
    uint32_t n = matching_groups(w, g, groups);
    Collective m = {.r = r};
    for (uint32_t k = 0; k < n; k++)
        add_group(&m, groups[k], code_at(groups[k]));
    if (m.lanes != (g->members & w->live))
        return false;
    apply(&m, code_at(g)->op);
    if (r->races)
        race_collective(r, m.lanes, code_at(g)->op == OP_BAR_WARP);
    for (uint32_t k = 1; k < n; k++) {
        Group *other = groups[k];
        if (other->frame == g->frame && other->pc == g->pc && other->join == g->join) {
            g->lanes |= other->lanes;
            other->lanes = 0;
            other->state = GROUP_READY;
        } else {
            advance_group(w, other);
        }
    }
    return true;
}

// Splits off the lanes whose mask differs from that of the lowest lane. These lanes run the instruction later, and join
// the group after the instruction.
static void split_other_masks(Run *r, Group *g, const OperandRef *mask)
{
    Mask same = 0;
    FOR_LANES(g->lanes, lane)
        same |= (Mask)((Mask)read_lane(r, g, mask, lane) == g->members) << lane;
    if (same == g->lanes)
        return;
    group_join(r->warp, g, g->pc + 1);
    group_split(r->warp, g, g->lanes & ~same);
}

static bool synchronize_lanes(Run *r, Group *g, const Code *c, const OperandRef *mask)
{
    g->members = (Mask)read_lane(r, g, mask, first_lane(g));
    split_other_masks(r, g, mask);
    if (g->lanes & ~g->members)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes & ~g->members),
                     "the lane is not in its own member mask %#x", g->members);
    if (execute_if_complete(r, g))
        return true;
    g->state = GROUP_AT_SYNC;
    return false;
}

static bool execute_alone(Run *r, Group *g, const Code *c)
{
    Collective m = {.r = r};
    add_group(&m, g, c);
    apply(&m, c->op);
    return true;
}

// Returns the member mask, which is the last input.
static const OperandRef *mask_of_members(const Code *c) { return &c->in[c->nin - 1]; }

bool run_bar_warp(Run *r, Group *g, const Code *c) { return synchronize_lanes(r, g, c, mask_of_members(c)); }
bool run_match(Run *r, Group *g, const Code *c) { return synchronize_lanes(r, g, c, mask_of_members(c)); }
bool run_redux(Run *r, Group *g, const Code *c) { return synchronize_lanes(r, g, c, mask_of_members(c)); }
bool run_elect(Run *r, Group *g, const Code *c) { return synchronize_lanes(r, g, c, mask_of_members(c)); }

bool run_shfl(Run *r, Group *g, const Code *c)
{
    return c->op == OP_SHFL ? execute_alone(r, g, c) : synchronize_lanes(r, g, c, mask_of_members(c));
}

bool run_vote(Run *r, Group *g, const Code *c)
{
    return c->op == OP_VOTE ? execute_alone(r, g, c) : synchronize_lanes(r, g, c, mask_of_members(c));
}

bool run_activemask(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){g->lanes, 0});
    return true;
}

/* -- Barriers of the CTA -------------------------------------------------------------------------------- */

static bool is_arrive(const Code *c) { return c->op == OP_BAR_ARRIVE || c->op == OP_BARRIER_ARRIVE; }

static bool waits_at(const Group *g, uint32_t n) { return g->lanes && g->state == GROUP_AT_BARRIER && g->barrier == n; }

// True if all live lanes of the warp wait at barrier `n`.
static bool warp_waits_at(const Warp *w, uint32_t n)
{
    Mask lanes = 0;
    for (const Group *g = w->groups; g < w->groups + LANES; g++)
        if (waits_at(g, n))
            lanes |= g->lanes;
    return lanes && lanes == w->live;
}

static void leave_barrier(Run *r, Group *g, const Barrier *b)
{
    const Code *c = code_at(g);
    if (c->op == OP_BAR_RED) {
        uint32_t result = c->action == MOD_POPC ? b->trues : c->action == MOD_AND ? !b->falses : b->trues != 0;
        FOR_LANES(g->lanes, lane)
            write_lane(r, g, &c->out[0], lane, (Value){result, 0});
        set_defined(r, g, &c->out[0], g->lanes, b->undefined ? 0 : UINT32_MAX);
    }
    if (r->races && !is_arrive(c))
        race_bar_leave(r, g->barrier, g->lanes);
    advance_group(r->warp, g);
}

// Continues the groups of the current warp at barrier `n`; if `only_arrive`, those that need not wait for other warps.
static void leave_barriers(Run *r, uint32_t n, const Barrier *b, bool only_arrive)
{
    Group *leaving[LANES];
    uint32_t count = 0;
    for (Group *g = r->warp->groups; g < r->warp->groups + LANES; g++)
        if (waits_at(g, n) && (!only_arrive || is_arrive(code_at(g))))
            leaving[count++] = g;
    for (uint32_t k = 0; k < count; k++)
        leave_barrier(r, leaving[k], b);
}

static void release_barrier(Run *r, uint32_t n)
{
    Barrier b = r->cta->barriers[n];
    Warp *at_hand = r->warp;
    r->cta->barriers[n] = (Barrier){0};
    if (r->races)
        race_bar_open(r, n, b.all_warps);
    for (uint32_t k = 0; k < r->nwarps; k++) {
        r->warp = &r->cta->warps[k];
        if (warp_waits_at(r->warp, n))
            leave_barriers(r, n, &b, false);
    }
    if (r->races)
        race_bar_close(r, n);
    r->warp = at_hand;
}

static bool is_complete(const Run *r, const Barrier *b)
{
    uint32_t expected = b->expected;
    for (uint32_t k = 0; b->all_warps && k < r->nwarps; k++)
        if (!r->cta->warps[k].live)
            expected -= LANES;
    return b->arrived && b->arrived >= expected;
}

// Records the thread count and the predicates of a group at a barrier. False after a fault.
static bool record_arrival(Run *r, const Group *g, Barrier *b)
{
    const Code *c = code_at(g);
    bool reduces = c->op == OP_BAR_RED;
    uint32_t count = c->nin - reduces > 1 ? (uint32_t)read_lane(r, g, &c->in[1], first_lane(g)) : 0;
    uint32_t expected = count ? count : r->nwarps * LANES;
    if (b->expected && b->expected != expected)
        return fault(r, g, c, first_lane(g), "a barrier for %u threads, but other threads wait at it for %u", expected,
                     b->expected);
    b->all_warps = !count && (b->all_warps || !b->expected);
    b->expected = expected;
    if (!reduces)
        return true;
    b->undefined |= g->lanes & ~lanes_defined(r, g, &c->in[c->nin - 1]);
    FOR_LANES(g->lanes, lane) {
        bool yes = read_lane(r, g, &c->in[c->nin - 1], lane) & 1;
        b->trues += yes;
        b->falses += !yes;
    }
    return true;
}

// Records the arrival of the current warp, whose live lanes all wait at barrier `n`.
static void warp_arrives(Run *r, uint32_t n)
{
    Barrier *b = &r->cta->barriers[n];
    for (const Group *g = r->warp->groups; g < r->warp->groups + LANES; g++)
        if (waits_at(g, n) && !record_arrival(r, g, b))
            return;
    for (const Group *g = r->warp->groups; r->races && g < r->warp->groups + LANES; g++)
        if (waits_at(g, n))
            race_bar_arrive(r, n, g->lanes, !is_arrive(code_at(g)));
    b->arrived += LANES;
    if (is_complete(r, b))
        release_barrier(r, n);
    else
        leave_barriers(r, n, b, true);
}

// Reads an input that must be the same in all lanes of the group. False after a fault.
static bool read_uniform(Run *r, const Group *g, const Code *c, uint32_t k, uint32_t *value)
{
    *value = (uint32_t)read_lane(r, g, &c->in[k], first_lane(g));
    FOR_LANES(g->lanes, lane)
        if ((uint32_t)read_lane(r, g, &c->in[k], lane) != *value)
            return fault(r, g, c, lane, "threads of a warp have different barriers or counts");
    return true;
}

bool code_has_word(const Group *g, const Code *c, const char *word)
{
    const Tables *t = g->frame->func->fn->tables;
    Str suffix = tab_str(t, tab_mnem(t, tab_desc(t, c->instr->desc)->mnem)->suffix);
    size_t n = strlen(word);
    for (size_t k = 0; k + n <= suffix.len; k++)
        if (memcmp(suffix.text + k, word, n) == 0)
            return true;
    return false;
}

static bool is_aligned(const Group *g, const Code *c)
{
    return (c->op != OP_BARRIER_SYNC && c->op != OP_BARRIER_ARRIVE) || code_has_word(g, c, ".aligned");
}

bool run_bar(Run *r, Group *g, const Code *c)
{
    uint32_t n, count = 0;
    bool counted = c->nin - (c->op == OP_BAR_RED) > 1;
    if (g->lanes != r->warp->live && is_aligned(g, c))
        return fault(r, g, c, first_lane(g), "divergence at an aligned barrier");
    if (!read_uniform(r, g, c, 0, &n) || (counted && !read_uniform(r, g, c, 1, &count)))
        return false;
    if (n >= BARRIERS)
        return fault(r, g, c, first_lane(g), "barrier %u, but there are only %d, from 0 on", n, BARRIERS);
    if (count % LANES || (is_arrive(c) && !count))
        return fault(r, g, c, first_lane(g), "a barrier for %u threads, which is not a multiple of the warp size",
                     count);
    g->state = GROUP_AT_BARRIER;
    g->barrier = n;
    if (warp_waits_at(r->warp, n))
        warp_arrives(r, n);
    return false;
}

void barriers_check(Run *r)
{
    Warp *w = r->warp;
    for (Group *g = w->groups; g < w->groups + LANES; g++)
        if (g->lanes && g->state == GROUP_AT_SYNC && execute_if_complete(r, g))
            advance_group(w, g);
    for (uint32_t n = 0; n < BARRIERS; n++) {
        if (warp_waits_at(w, n))
            warp_arrives(r, n);
        else if (is_complete(r, &r->cta->barriers[n]))
            release_barrier(r, n);
    }
    cluster_check(r);
}
