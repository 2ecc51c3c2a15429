// SPDX-License-Identifier: MIT
// Makes communication of threads: reads of another thread's shared memory (also in another CTA of the cluster), and
// divergent warps.
#include "tools/origen/kernel.h"

/* -- Exchange ------------------------------------------------------------------------------------------- */

static void barrier(Gen *g) { code(g, "<bar.sync|bar.sync|barrier.sync> 0;"); }

// Returns the index of another thread of the CTA.
static Value *peer(Gen *g)
{
    Fn *fn = &g->fn;
    Value *p = value_scratch(g, CLASS_R);
    if (chance(g, 1, 2))
        code(g, "add.u32 $r1, $v, $u; rem.u32 $w, $r1, $v;", fn->thread, roll_between(g, 1, 40), p, fn->threads);
    else
        code(g, "sub.u32 $r1, $v, $v; add.s32 $w, $r1, -1;", fn->threads, fn->thread, p);
    return p;
}

static const Object *slot_of(Gen *g, const Shared *s, Value *thread)
{
    Object o = {.space = SPACE_SHARED, .bytes = s->stride, .align = s->stride & (0 - s->stride), .constant = true};
    bool narrow = chance(g, 1, 2);
    o.start = s->start;
    o.base = value_scratch(g, narrow ? CLASS_R : CLASS_D);
    code(g, narrow ? "mov.u32 $r1, $s; mad.lo.u32 $w, $v, $u, $r1;" : "mov.u64 $d1, $s; mad.wide.u32 $w, $v, $u, $d1;",
         s->symbol, o.base, thread, s->stride);
    return object_push(g, o);
}

// Loads matrices; each thread gives the address of a row of its peer.
static void load_matrices(Gen *g, const Object *o)
{
    static const char *const patterns[] = {
        "ldmatrix.sync.aligned.m8n8.x1<|.trans>.shared.b16 {$=r}, $o;",
        "ldmatrix.sync.aligned.m8n8.x2<|.trans>.shared.b16 {$=r, $=r}, $o;",
        "ldmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 {$=r, $=r, $=r, $=r}, $o;",
    };
    Place p = {o, NULL, 16 * roll(g, o->bytes / 16)};
    code_with(g, LANE, *ANY_OF(g, patterns), &p);
}

void make_exchange(Gen *g, uint32_t n)
{
    Fn *fn = &g->fn;
    if (!fn->shared.n) {
        make_straight(g, n);
        return;
    }
    Scope s;
    scope_enter(g, &s, active_lanes(g));
    const Shared *shared = &fn->shared.at[roll(g, fn->shared.n)];
    const Object *o = slot_of(g, shared, peer(g));
    barrier(g);
    for (uint32_t k = roll_between(g, 1, 4); k; k--) {
        if (has(g, FT_MATRIX) && o->align >= 16 && chance(g, 1, 2))
            load_matrices(g, o);
        else
            load_from(g, o);
        if (chance(g, 1, 2))
            operation(g);
    }
    barrier(g);
    scope_leave(g);
}

/* -- Clusters ------------------------------------------------------------------------------------------- */

static void cluster_barrier(Gen *g)
{
    code(g, "barrier.cluster.arrive<|.release|.aligned>; barrier.cluster.wait<|.acquire>;");
}

// Returns an object for a thread's slot in the other CTA of the cluster, addressed generically.
static const Object *slot_of_neighbour(Gen *g, const Shared *s, Value *thread)
{
    static const char *const maps[] = {
        "mapa.shared::cluster.u64 $d3, $v, $v; cvta.shared::cluster.u64 $w, $d3;",
        "cvta.shared<|::cta|::cluster>.u64 $d3, $v; mapa.u64 $w, $d3, $v;",
    };
    Object o = {.space = SPACE_GENERIC, .bytes = s->stride, .align = s->stride & (0 - s->stride), .constant = true};
    o.start = s->start;
    Value *here = value_scratch(g, CLASS_D), *rank = value_scratch(g, CLASS_R);
    code(g, "mov.u64 $d1, $s; mad.wide.u32 $w, $v, $u, $d1;", s->symbol, here, thread, s->stride);
    code(g, "mov.u32 $r1, %cluster_ctarank; xor.b32 $w, $r1, 1;", rank);
    o.base = value_scratch(g, CLASS_D);
    uint32_t k = roll(g, ARRAY_LEN(maps));
    if (k == 0)
        code(g, maps[0], here, rank, o.base);
    else
        code(g, maps[1], here, o.base, rank);
    return object_push(g, o);
}

void make_neighbours(Gen *g)
{
    Fn *fn = &g->fn;
    Scope s;
    scope_enter(g, &s, active_lanes(g));
    const Shared *shared = &fn->shared.at[roll(g, fn->shared.n)];
    const Object *o = slot_of_neighbour(g, shared, peer(g));
    cluster_barrier(g);
    for (uint32_t k = roll_between(g, 1, 4); k; k--)
        load_from(g, o);
    cluster_barrier(g);
    scope_leave(g);
}

/* -- Lanes ---------------------------------------------------------------------------------------------- */

void make_lanes(Gen *g, uint32_t n)
{
    uint32_t part = part_of(g, n), k = roll_between(g, 1, 31), low = (1u << k) - 1;
    uint32_t other = label_new(g), end = label_new(g);
    Value *p = value_scratch(g, CLASS_P);
    Phis phis = phis_begin(g);
    code(g, "mov.u32 $r1, %laneid; setp.lt.u32 $w, $r1, $u;", p, k);
    branch(g, p, false, other);
    arm(g, part / 2, low, (KnownCondition){p, true}, false, &phis);
    jump(g, end);
    label_put(g, other);
    arm(g, part / 2, ~low, (KnownCondition){p, false}, false, &phis);
    label_put(g, end);
    phis_end(g, &phis);
}
