// SPDX-License-Identifier: MIT
// Runs clusters of CTAs: their shape, addresses in shared memory of other CTAs, and the cluster's barrier. PTX
// ISA 9.7.9 (mapa, getctarank), 9.7.13 (barrier.cluster).
//
// The CTAs of a cluster run concurrently. An address in shared::cluster has the offset in its low SHARED_BITS bits.
// Above these it has the rank of the CTA plus 1, or 0 for the thread's own CTA. So an address in shared::cta is an
// address in shared::cluster, too. Only the form with 0 is an address in shared::cta: mapa to the thread's own CTA
// returns this form, and `cvta.to.shared::cta` restores it.
//
// A phase of the barrier is complete when all threads of the cluster have arrived or ended. A waiting thread continues
// when the phase in which it arrived is complete.
//
// Faults, since undefined in the ISA: a rank outside of the cluster, an address outside of shared memory, access to a
// CTA that has ended, two arrivals without a wait between them, and a wait without an arrival.
#include "ir/machine/machine_internal.h"

static uint32_t first_lane(const Group *g) { return (uint32_t)__builtin_ctz(g->lanes); }

static uint32_t dim_size(Dim d) { return d.x * d.y * d.z; }

static bool dim_same(Dim a, Dim b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* -- Shape ---------------------------------------------------------------------------------------------- */

// Returns the directive of a kernel, or NULL.
static const Directive *directive_of(const Fn *fn, const char *name)
{
    for (uint32_t k = 0; k < fn->directives.n; k++)
        if (str_is(tab_str(fn->tables, fn->directives.at[k].text), name))
            return &fn->directives.at[k];
    return NULL;
}

static Dim dim_of(const Directive *d)
{
    return (Dim){d->n > 0 ? d->value[0] : 1, d->n > 1 ? d->value[1] : 1, d->n > 2 ? d->value[2] : 1};
}

// Returns a description of the error in the cluster of a launch, or NULL.
static const char *find_fault(const Run *r, const Fn *fn)
{
    const Directive *required = directive_of(fn, ".reqnctapercluster"), *most = directive_of(fn, ".maxclusterrank");
    Dim c = r->cluster, grid = r->launch->grid;
    if (required && !dim_same(c, dim_of(required)))
        return "which is not the size that the kernel requires";
    if (!r->is_explicit && directive_of(fn, ".explicitcluster"))
        return "but the kernel requires a launch with a cluster size";
    if (!c.x || !c.y || !c.z || (uint64_t)c.x * c.y > CLUSTER_MAX || (uint64_t)c.x * c.y * c.z > CLUSTER_MAX)
        return "but a cluster has 1 to 16";
    if (most && most->n && dim_size(c) > most->value[0])
        return "which is more than the kernel allows";
    if (grid.x % c.x || grid.y % c.y || grid.z % c.z)
        return "which do not divide the grid";
    return NULL;
}

bool cluster_shape(Run *r, const Group *g, const Code *c)
{
    const Fn *fn = g->frame->func->fn;
    const Directive *required = directive_of(fn, ".reqnctapercluster");
    Dim given = r->launch->cluster;
    r->is_explicit = given.x || required;
    r->cluster = given.x ? given : required ? dim_of(required) : (Dim){1, 1, 1};
    const char *why = find_fault(r, fn);
    if (why)
        return fault(r, g, c, 0, "a cluster of %u,%u,%u CTAs, %s", r->cluster.x, r->cluster.y, r->cluster.z, why);
    r->nctas = dim_size(r->cluster);
    return true;
}

/* -- Addresses ------------------------------------------------------------------------------------------ */

static uint64_t offset_of(uint64_t address) { return address & (SHARED_MAX - 1); }

CtaState *cluster_cta(Run *r, uint64_t address)
{
    uint64_t rank = address >> SHARED_BITS;
    if (!rank)
        return r->cta;
    return rank <= r->nctas ? &r->ctas[rank - 1] : NULL;
}

uint64_t cluster_own(Run *r, uint64_t address)
{
    return cluster_cta(r, address) == r->cta ? offset_of(address) : address;
}

bool cta_is_live(const Run *r, const CtaState *cta)
{
    for (uint32_t k = 0; k < r->nwarps; k++)
        if (cta->warps[k].live)
            return true;
    return false;
}

// Returns the CTA to whose shared memory the first operand points, and its address in shared::cluster. NULL after a
// fault.
static CtaState *cta_of_operand(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t *address)
{
    bool symbol = c->op == OP_MAPA_ADDR || c->op == OP_CTARANK_ADDR, generic = (Space)c->space == SP_GENERIC;
    uint64_t given = read_lane(r, g, &c->in[0], lane) + (symbol ? c->in[1].bits : 0);
    *address = given - (generic ? SHARED_WINDOW : 0);
    CtaState *cta = *address < WINDOW_BYTES ? cluster_cta(r, *address) : NULL;
    if (!cta)
        fault(r, g, c, lane, "address %#llx, which is not in shared memory of the cluster", (unsigned long long)given);
    return cta;
}

bool run_mapa(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t address;
        uint32_t rank = (uint32_t)read_lane(r, g, &c->in[c->nin - 1], lane);
        if (!cta_of_operand(r, g, c, lane, &address))
            return false;
        if (rank >= r->nctas)
            return fault(r, g, c, lane, "CTA %u, but the cluster has only %u, from 0 on", rank, r->nctas);
        address = cluster_own(r, (uint64_t)(rank + 1) << SHARED_BITS | offset_of(address));
        write_lane(r, g, &c->out[0], lane, (Value){address + ((Space)c->space == SP_GENERIC ? SHARED_WINDOW : 0), 0});
    }
    return true;
}

bool run_ctarank(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t address;
        const CtaState *cta = cta_of_operand(r, g, c, lane, &address);
        if (!cta)
            return false;
        write_lane(r, g, &c->out[0], lane, (Value){cta->rank, 0});
    }
    return true;
}

/* -- Barrier -------------------------------------------------------------------------------------------- */

static bool is_complete(const Run *r)
{
    Mask arrived = 0;
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++) {
        const Warp *w = warp_in_cluster(r, k);
        if (w->live & ~w->arrived)
            return false;
        arrived |= w->arrived;
    }
    return arrived;
}

// Continues the groups of a warp that wait at the cluster's barrier.
static void release_waiting(Warp *w)
{
    Group *leaving[LANES];
    uint32_t n = 0;
    for (Group *g = w->groups; g < w->groups + LANES; g++)
        if (g->lanes && g->state == GROUP_AT_CLUSTER)
            leaving[n++] = g;
    for (uint32_t k = 0; k < n; k++) {
        w->unwaited &= ~leaving[k]->lanes;
        if (w->run->races)
            race_cluster_wait(w->run, leaving[k]->lanes);
        leaving[k]->state = GROUP_READY;
        group_go(w, leaving[k], leaving[k]->pc + 1);
    }
}

void cluster_check(Run *r)
{
    if (!is_complete(r))
        return;
    Warp *at_hand = r->warp;
    if (r->races)
        race_cluster_open(r);
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++)
        warp_in_cluster(r, k)->arrived = 0;
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++) {
        select_warp(r, warp_in_cluster(r, k));
        release_waiting(r->warp);
    }
    select_warp(r, at_hand);
}

static bool diverges(Run *r, const Group *g, const Code *c)
{
    return g->lanes != r->warp->live && code_has_word(g, c, ".aligned");
}

bool run_cluster_arrive(Run *r, Group *g, const Code *c)
{
    Warp *w = r->warp;
    if (diverges(r, g, c))
        return fault(r, g, c, first_lane(g), "divergence at an aligned barrier");
    if (g->lanes & w->unwaited)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes & w->unwaited),
                     "a second arrival at the barrier of the cluster, without a wait after the first");
    w->arrived |= g->lanes;
    w->unwaited |= g->lanes;
    if (r->races)
        race_cluster_arrive(r, g->lanes, code_has_word(g, c, ".relaxed"));
    cluster_check(r);
    return true;
}

bool run_cluster_wait(Run *r, Group *g, const Code *c)
{
    Warp *w = r->warp;
    Mask waiting = g->lanes & w->arrived;
    if (diverges(r, g, c))
        return fault(r, g, c, first_lane(g), "divergence at an aligned barrier");
    if (g->lanes & ~w->unwaited)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes & ~w->unwaited),
                     "a wait at the barrier of the cluster without an arrival");
    if (waiting == g->lanes) {
        g->state = GROUP_AT_CLUSTER;
        return false;
    }
    // Lanes whose phase is not complete run the instruction again, in a separate group.
    if (waiting) {
        group_join(w, g, g->pc + 1);
        group_split(w, g, waiting);
    }
    w->unwaited &= ~g->lanes;
    if (r->races)
        race_cluster_wait(r, g->lanes);
    return true;
}
