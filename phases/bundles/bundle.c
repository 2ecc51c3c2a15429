// SPDX-License-Identifier: MIT
// Runs sub-passes of a bundle that have something to do.
//
// A sub-pass that has run is settled (Fn.settled), until another one makes a kind of change that it reads. Bundles
// share this state: a bundle runs no sub-pass that settled in an earlier bundle, unless a phase between them has
// changed the function. A sub-pass does not unsettle itself: each handles what its own changes enable, except that
// folding walks loops only once.
#include "phases/bundles/bundle.h"

enum {
    DEFINITIONS = CHANGE_DEFINITIONS,
    USES = CHANGE_USES | CHANGE_EQUAL_USES | CHANGE_CONDITIONS | CHANGE_PHIS,
    PHIS = CHANGE_PHIS,
    CONDITIONS = CHANGE_CONDITIONS,
    EQUAL_USES = CHANGE_EQUAL_USES,
    CONSTANTS = CHANGE_CONSTANTS,
    FEWER_USES = CHANGE_FEWER_USES,
    COPIES = CHANGE_COPIES,
    FEWER_EDGES = CHANGE_FEWER_EDGES,
    GUARDS = CHANGE_GUARDS,
    CHAINS = CHANGE_CHAINS,
    FEWER_LIVE = CHANGE_FEWER_LIVE,
    ALL = CHANGE_ALL
};

typedef struct SubPass {
    uint8_t row;
    uint16_t reads, leaves;  // CHANGE_*
} SubPass;

// A sub-pass that looks through moves does not read COPIES. Those that read USES find equal operands. Folding reads
// only equal operands of one instruction, and an operand that the definition of the other one reads, as in x + (y - x):
// with the others it folds nothing more in the samples (tried). Equal guards give copies. Without an edge a phi has
// fewer inputs, and a block may have a dominating condition. Late commoning shares more where fewer values are live.
static const SubPass sub_passes[] = {
    {PH_INFER_SPACES, DEFINITIONS | FEWER_EDGES, DEFINITIONS | USES},
    {PH_PROMOTE_MEMORY, DEFINITIONS | CONSTANTS | FEWER_EDGES, DEFINITIONS | USES},
    {PH_STORE_FORWARDING, DEFINITIONS | USES | CONSTANTS | COPIES | FEWER_EDGES, DEFINITIONS | USES},
    {PH_SIMPLIFY_PREDICATES, DEFINITIONS | CONDITIONS | FEWER_EDGES, CONSTANTS | USES},
    {PH_FOLD, DEFINITIONS | EQUAL_USES | CONSTANTS | FEWER_USES | FEWER_EDGES | CHAINS, CONSTANTS | USES},
    {PH_COPY_PROP, DEFINITIONS | CONSTANTS | GUARDS, DEFINITIONS | USES | COPIES},
    {PH_EQUAL_PHIS, PHIS | COPIES | FEWER_EDGES, DEFINITIONS},
    {PH_COMMONING, DEFINITIONS | CONSTANTS | COPIES | FEWER_EDGES | CHAINS, USES | CONSTANTS | GUARDS | FEWER_USES},
    {PH_REASSOCIATE, 0, ALL},
    {PH_LATE_COMMONING, DEFINITIONS | CONSTANTS | COPIES | FEWER_EDGES | CHAINS | FEWER_LIVE,
     DEFINITIONS | USES | CONSTANTS | GUARDS | FEWER_USES},
    {PH_SIMPLE_LIVE_DEAD, USES | COPIES, FEWER_USES | FEWER_EDGES | FEWER_LIVE},
};

static uint32_t find_sub_pass(uint8_t row)
{
    uint32_t k = 0;
    while (sub_passes[k].row != row)
        k++;
    return k;
}

// Returns a bit for each sub-pass, except the k-th, that reads one of the changes.
static uint32_t unsettled_by(uint32_t changes, uint32_t k)
{
    uint32_t found = 0;
    for (uint32_t other = 0; other < ARRAY_LEN(sub_passes); other++)
        if (other != k && sub_passes[other].reads & changes)
            found |= 1u << other;
    return found;
}

void bundle_unsettle(Fn *fn, uint8_t row) { fn->settled &= ~(1u << find_sub_pass(row)); }

bool bundle_is_settled(const Fn *fn, uint8_t row) { return fn->settled >> find_sub_pass(row) & 1; }

void bundle_settle(Ctx *ctx, Fn *fn, uint8_t row, bool progress)
{
    uint32_t k = find_sub_pass(row);
    if (progress)
        fn->settled &= ~unsettled_by(sub_passes[k].leaves & ctx->run.changes, k);
    fn->settled |= 1u << k;
    ctx->run.settles = true;
}

bool bundle_round(Ctx *ctx, Fn *fn, const uint8_t *rows, size_t n)
{
    bool progress = false;
    for (size_t at = 0; at < n; at++) {
        uint32_t k = find_sub_pass(rows[at]), settled = fn->settled | 1u << k;
        if (fn->settled >> k & 1)
            continue;
        if (phase_subpass(ctx, fn, rows[at])) {
            settled &= ~unsettled_by(sub_passes[k].leaves & ctx->changes, k);
            progress = true;
        }
        fn->settled = settled;
    }
    ctx->run.settles = true;
    return progress;
}
