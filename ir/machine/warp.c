// SPDX-License-Identifier: MIT
// Tracks the positions of the lanes of a warp. Lanes at one position are a group. A divergent branch splits its group,
// and the parts join at the branch's immediate post-dominator. The lanes of a call join after the call. No join waits
// for lanes that have ended.
//
// Of the groups that can run, the group with the lowest lane runs, taken branch or not. After TURNS backward jumps, a
// group yields to the other groups, since it may wait for one of them.
#include "ir/machine/machine_internal.h"

enum { YIELD_JUMPS = 1024 };  // number of backward jumps after which a group yields

/* -- Frames --------------------------------------------------------------------------------------------- */

bool frame_fits(Run *r, const Group *g, const Code *c, const Func *f)
{
    uint32_t lane = (uint32_t)__builtin_ctz(g->lanes), depth = g->frame ? g->frame->depth : 0;
    uint64_t used = g->frame ? g->frame->param_bytes : 0;
    if (depth >= DEPTH_MAX)
        return fault(r, g, c, lane, "calls are more than %d deep", DEPTH_MAX);
    return f->params <= PARAMS_MAX - used ||
           fault(r, g, c, lane, "more than %u bytes of parameters of functions", PARAMS_MAX);
}

Frame *frame_new(Warp *w, const Func *f, Frame *caller, const Code *call, Mask lanes)
{
    Arena *arena = w->run->arena;
    Frame *frame = w->frames[f->sym];
    if (frame) {
        w->frames[f->sym] = frame->next;
    } else {
        frame = NEW(arena, Frame);
        frame->rows = arena_alloc(arena, MAX(f->nrows, 1) * sizeof *frame->rows);
        frame->params = arena_alloc(arena, MAX((size_t)f->params * LANES, 1));
        if (w->run->machine->tracks) {
            frame->defined = arena_alloc(arena, MAX(f->nrows, 1) * sizeof *frame->defined);
            frame->params_defined = arena_alloc(arena, MAX((size_t)f->params * LANES, 1));
        }
    }
    if (frame->defined) {
        memset(frame->defined, 0, f->nrows * sizeof *frame->defined);
        memset(frame->params_defined, 0, (size_t)f->params * LANES);
    }
    memset(frame->rows, 0, f->nrows * sizeof *frame->rows);
    memset(frame->params, 0, (size_t)f->params * LANES);
    frame->func = f;
    frame->caller = caller;
    frame->call = call;
    frame->locals = caller ? frame_end(caller) : w->run->machine->local.end;
    frame->host = caller ? frame_host_end(caller) : w->run->machine->local.host;
    frame->dynamic = 0;
    frame->param_bytes = (caller ? caller->param_bytes : 0) + f->params;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->lanes = lanes;
    return frame;
}

static void leave_frame(Warp *w, Frame *frame, Mask lanes)
{
    frame->lanes &= ~lanes;
    if (frame->lanes)
        return;
    frame->next = w->frames[frame->func->sym];
    w->frames[frame->func->sym] = frame;
}

/* -- Joins ---------------------------------------------------------------------------------------------- */

static Join *join_new(Warp *w, const Group *g, Frame *frame, uint32_t pc)
{
    Join *j = w->joins;
    if (j)
        w->joins = j->next;
    else
        j = NEW(w->run->arena, Join);
    *j = (Join){.outer = g->join, .frame = frame, .pc = pc, .expected = g->lanes};
    return j;
}

static void join_free(Warp *w, Join *j)
{
    j->next = w->joins;
    w->joins = j;
}

static Group *free_group(Warp *w)
{
    Group *g = w->groups;
    while (g->lanes)
        g++;
    return g;
}

// Merges the lanes that have arrived into one group, which continues.
static void release_join(Warp *w, Join *j)
{
    Group *g = free_group(w);
    *g = (Group){.lanes = j->arrived, .frame = j->frame, .join = j->outer};
    uint32_t pc = j->pc;
    join_free(w, j);
    group_go(w, g, pc);
}

// Removes from a join the lanes that will not arrive.
static void drop_lanes(Warp *w, Join *j, Mask lanes)
{
    j->expected &= ~lanes;
    if (!j->expected)
        join_free(w, j);
    else if (j->arrived == j->expected)
        release_join(w, j);
}

void group_join(Warp *w, Group *g, uint32_t pc)
{
    if (!g->join || g->join->frame != g->frame || g->join->pc != pc)
        g->join = join_new(w, g, g->frame, pc);
}

/* -- Groups --------------------------------------------------------------------------------------------- */

void group_go(Warp *w, Group *g, uint32_t pc)
{
    Join *j = g->join;
    g->jumps_back += pc <= g->pc;
    g->pc = pc;
    if (!j || j->frame != g->frame || j->pc != pc)
        return;
    j->arrived |= g->lanes;
    g->lanes = 0;
    if (j->arrived == j->expected)
        release_join(w, j);
}

Group *group_split(Warp *w, Group *g, Mask lanes)
{
    Group *other = free_group(w);
    *other = *g;
    other->lanes = lanes;
    g->lanes &= ~lanes;
    return other;
}

void group_call(Warp *w, Group *g, const Func *f, const Code *call, uint32_t back)
{
    g->join = join_new(w, g, g->frame, back);
    g->frame = frame_new(w, f, g->frame, call, g->lanes);
    g->pc = 0;
}

void group_return(Warp *w, Group *g)
{
    Frame *frame = g->frame;
    Mask lanes = g->lanes;
    while (g->join->frame == frame) {
        Join *inner = g->join;
        g->join = inner->outer;
        drop_lanes(w, inner, lanes);
    }
    g->frame = frame->caller;
    leave_frame(w, frame, lanes);
    group_go(w, g, g->join->pc);
}

void group_end(Warp *w, Group *g)
{
    Mask lanes = g->lanes;
    Frame *frame = g->frame;
    g->lanes = 0;
    w->live &= ~lanes;
    async_end(w, lanes);
    if (w->run->races)
        race_end(w, lanes);
    for (Join *j = g->join, *outer; j; j = outer) {
        outer = j->outer;
        drop_lanes(w, j, lanes);
    }
    for (Frame *caller; frame; frame = caller) {
        caller = frame->caller;
        leave_frame(w, frame, lanes);
    }
}

Group *warp_next(Warp *w)
{
    Group *best = NULL;
    uint32_t skip = (uint32_t)(run_draw(w->run) % LANES);  // number of ready groups to skip
    for (Group *g = w->groups; g < w->groups + LANES; g++) {
        if (!g->lanes || g->state != GROUP_READY)
            continue;
        if (skip && best) {
            best = g;
            skip--;
            continue;
        }
        uint32_t jumps_back = g->jumps_back / YIELD_JUMPS;
        if (!best || jumps_back < best->jumps_back / YIELD_JUMPS ||
            (jumps_back == best->jumps_back / YIELD_JUMPS && __builtin_ctz(g->lanes) < __builtin_ctz(best->lanes)))
            best = g;
    }
    return best;
}

void warp_start(Warp *w, const Func *f, Mask lanes)
{
    w->live = lanes;
    w->groups[0] = (Group){.lanes = lanes};
    w->groups[0].frame = frame_new(w, f, NULL, NULL, lanes);
}
