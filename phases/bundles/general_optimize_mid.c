// SPDX-License-Identifier: MIT
// Promotes memory to registers and runs the scalar cleanups, in rounds until the gain of a round is too small.
//
// Slot: 37 GeneralOptimizeMid, the largest of the GeneralOptimize bundles. It runs rounds of its sub-passes (bundle.c).
// It does nothing if the function has nothing to promote, propagate or fold. The knob GeneralOptimizeEnable (487) turns
// it off, and so does disabling ConvertMemoryToRegisterOrUniform.
//
// The gain of a round is the total weight of the instructions that its sub-passes simplify. An instruction has weight
// 1; a dead one has weight 0. An exempt instruction (EXEMPT in opcodes.def: packed compares, lop3, prmt, shf, vector
// accesses, local loads) has weight MovWeightForConvertMemToReg (474, 0.25), if its results have at most four uses.
// Another round follows if the gain is at least the value of this knob, or a hundredth of
// ConvertMemoryToRegIndexedSizeLimit (135) if that knob is set. `--stats` shows the rounds and the three sums.
//
//     st.local.b32 [@i], 3; R1 = ld.local.b32 [@i]; R2 = add.s64 @a, R1 * 4; R3 = ld.local.b32 [R2]
//         first round: @i is promoted, 3 replaces R1, @a+12 replaces R2; second round: @a is promoted
//         (if all stores to @a are in one block, forwarding handles @a in the first round)
//
// Must not fire: if the knob is 0, or GeneralOptimizeMid or ConvertMemoryToRegisterOrUniform is disabled.
//
// At most ROUNDS_MAX rounds, so that the time is linear: if each of n variables is indexed by a value in another, there
// are n / 2 rounds. No function of the samples needs more than three.
//
// Does not do: the documented sets of registers (definitions, registers that stay live, foldable instructions). Here
// the kinds of change of bundle.c replace them.
// Documented: gates, the order, costs, threshold, the exempt opcodes, the four uses. Inferred: the rewrites whose costs
// count, and that an instruction with an effect counts as live.
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"
#include "phases/manager/remarks.h"

enum { ROUNDS_MAX = 16, USES_MAX = 4 };

/* -- Costs ---------------------------------------------------------------------------------------------- */

static bool is_dead(const Fn *fn, const Instr *i, uint32_t nuses)
{
    enum { COMPUTES = TR_PURE | TR_READ, STAYS = TR_EFFECT | TR_BARRIER | TR_CONV | TR_WRITE | TR_TERM | TR_ASYNC };
    uint32_t traits = ir_desc(fn, i)->traits;
    if (nuses || !(traits & COMPUTES) || traits & STAYS || i->flags & IF_PINNED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (op_is_reg(def) && !reg_in_ssa(ir_reg(fn, op_index(def))))
            return false;
    }
    return true;
}

void prepare_costs(const Ctx *ctx, Fn *fn)
{
    if (ctx->costs.counts)
        analysis_need(fn, AN_NUSES);
}

void record_cost(Ctx *ctx, const Fn *fn, InstrId id)
{
    MidCosts *costs = &ctx->costs;
    const Instr *i = ir_instr(fn, id);
    uint32_t nuses = 0;
    if (!costs->counts)
        return;
    if (!(fn->analyses->valid & AN_NUSES))
        heap_fail(&ctx->heap, ST_INTERNAL, "%s records a cost without AN_NUSES", phase_info[ctx->run.row].name);
    for (uint32_t k = 0; k < i->ndef; k++)
        nuses += op_is_reg(*ir_def(fn, i, k)) ? nuses_of(fn->analyses, op_index(*ir_def(fn, i, k))) : 0;
    bool exempt = ir_desc(fn, i)->traits & TR_EXEMPT && nuses <= USES_MAX;
    double live = is_dead(fn, i, nuses) ? 0 : 1;
    costs->weighted += live * (exempt ? knob_double(&ctx->knobs, KNOB_MOV_WEIGHT) : 1);
    costs->total += live;
    costs->count++;
}

// Returns the gain of a round that is required for another round.
static double threshold(Ctx *ctx)
{
    if (knob_is_set(&ctx->knobs, KNOB_MEM_TO_REG_SIZE))
        return (double)knob_int(&ctx->knobs, KNOB_MEM_TO_REG_SIZE) / 100;
    return knob_double(&ctx->knobs, KNOB_MOV_WEIGHT);
}

/* -- The bundle ----------------------------------------------------------------------------------------- */

static const uint8_t sub_passes[] = {PH_INFER_SPACES, PH_PROMOTE_MEMORY, PH_STORE_FORWARDING, PH_FOLD,
                                     PH_COPY_PROP,    PH_EQUAL_PHIS,     PH_COMMONING,        PH_SIMPLE_LIVE_DEAD};

// True if some sub-pass may have work.
static bool has_work(const Fn *fn)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            bool fixed = d->traits & TR_PURE && ir_nuse(i);
            for (uint32_t k = 0; fixed && k < ir_nuse(i); k++)
                fixed = op_kind(*ir_use(fn, i, k)) == K_IMM;
            if (fixed || d->op == OP_MOV || d->op == OP_ADDR || d->op == OP_NOT || d->op == OP_UNPACK ||
                d->op == OP_CVT || d->op == OP_CVTA_ADDR || d->op == OP_LD || d->op == OP_ST)
                return true;
        }
    }
    return false;
}

bool phase_general_optimize_mid(Ctx *ctx, Fn *fn)
{
    bool off = ctx->running && ctx->running->off[PH_PROMOTE_MEMORY];
    bool on = gate_is_open(ctx, fn, KNOB_GENERAL_OPTIMIZE, knob_int(&ctx->knobs, KNOB_GENERAL_OPTIMIZE));
    if (!on || off || !has_work(fn))
        return false;
    MidCosts *costs = &ctx->costs;
    bool progress = false, more = true;
    costs->counts = true;
    for (int round = 0; round < ROUNDS_MAX && more; round++) {
        double before = costs->weighted;
        more = bundle_round(ctx, fn, sub_passes, ARRAY_LEN(sub_passes));
        progress |= more;
        costs->rounds += more;
        more = more && costs->weighted - before >= threshold(ctx);
    }
    costs->counts = false;
    return progress;
}
