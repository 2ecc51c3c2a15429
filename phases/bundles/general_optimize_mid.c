// SPDX-License-Identifier: MIT
// Promotes memory to registers and runs the scalar cleanups, in rounds until the gain of a round is too small.
//
// Slot: 37 GeneralOptimizeMid, the largest of the GeneralOptimize bundles. It runs a worklist of sub-passes in rounds.
// When a sub-pass makes progress, the sub-passes that read its kinds of change are added (table `sub_passes`). The
// bundle does nothing if the function has nothing to promote, propagate or fold. The knob GeneralOptimizeEnable (487)
// turns it off, and so does disabling ConvertMemoryToRegisterOrUniform.
//
// The gain of a round is the total weight of the instructions that its sub-passes simplify. An instruction has weight
// 1; a dead one has weight 0. An exempt instruction (packed compares, lop3, prmt, shf, vector accesses) with at most
// four uses has weight MovWeightForConvertMemToReg (474, 0.25). Another round follows if the gain is at least the value
// of this knob, or a hundredth of ConvertMemoryToRegIndexedSizeLimit (135) if that knob is set.
//
//     st.local.b32 [@i], 3; R1 = ld.local.b32 [@i]; R2 = add.s64 @a, R1 * 4; R3 = ld.local.b32 [R2]
//         first round: @i is promoted, 3 replaces R1, @a+12 replaces R2; second round: @a is promoted
//         (if all stores to @a are in one block, forwarding handles @a in the first round)
//
// Must not fire: if the knob is 0, or GeneralOptimizeMid or ConvertMemoryToRegisterOrUniform is disabled.
//
// Does not do: the documented sets of registers (definitions, registers that stay live, foldable instructions). Here
// `reads` and `leaves` of a sub-pass replace them. The lists of definitions and uses are built in one walk and not
// updated, so each sub-pass that visits uses costs a walk.
// Documented: gates, the order, costs, threshold, the exempt opcodes, the four uses. Inferred: the rewrites whose costs
// count.
#include "phases/bodies.h"

enum { ROUNDS_MAX = 16, USES_MAX = 4 };

/* -- Costs ---------------------------------------------------------------------------------------------- */

static bool is_exempt(const Fn *fn, const Desc *d)
{
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    switch (d->op) {
    case OP_SET: return m->type[0] == TY_F16X2 || m->type[1] == TY_F16X2;
    case OP_LOP3:
    case OP_PRMT:
    case OP_SHF_L:
    case OP_SHF_R: return true;
    case OP_LD:
    case OP_ST: return m->mod[MC_VEC];
    default: return false;
    }
}

void record_cost(Ctx *ctx, Fn *fn, InstrId id)
{
    MidCosts *costs = &ctx->costs;
    if (!costs->counts)
        return;
    const Instr *i = ir_instr(fn, id);
    double weight = 1;
    uint32_t nuses = USES_MAX;
    const Analyses *a = fn->analyses;
    if (i->ndef == 1 && op_is_reg(*ir_def(fn, i, 0)) && a && a->valid & AN_DEFUSE &&
        op_index(*ir_def(fn, i, 0)) < a->nregs)
        nuses = use_count(a, op_index(*ir_def(fn, i, 0)));
    if (is_exempt(fn, ir_desc(fn, i)) && nuses <= USES_MAX)
        weight = knob_double(&ctx->knobs, KNOB_MOV_WEIGHT);
    double live = nuses ? 1 : 0;
    costs->weighted += weight * live;
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

// Kinds of change: new definitions, new uses, new constants, fewer uses.
enum { DEFINITIONS = 1, USES = 2, CONSTANTS = 4, FEWER_USES = 8, EVERYTHING = 15 };

typedef struct SubPass {
    int row;
    uint32_t reads, leaves;  // kinds of change
    bool sees;               // it looks through moves, so copy propagation gives it no work
} SubPass;

static const SubPass sub_passes[] = {
    {PH_INFER_SPACES, DEFINITIONS, DEFINITIONS | USES, true},
    {PH_PROMOTE_MEMORY, DEFINITIONS | CONSTANTS, DEFINITIONS | USES, true},
    {PH_STORE_FORWARDING, DEFINITIONS | CONSTANTS, DEFINITIONS | USES, true},
    {PH_FOLD, DEFINITIONS | CONSTANTS | FEWER_USES, CONSTANTS | USES, true},
    {PH_COPY_PROP, DEFINITIONS | CONSTANTS, DEFINITIONS | USES, false},
    {PH_EQUAL_PHIS, USES, DEFINITIONS, false},
    {PH_COMMONING, DEFINITIONS | CONSTANTS, USES, false},
    {PH_SIMPLE_LIVE_DEAD, USES, FEWER_USES, false},
};

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
    if (!knob_int(&ctx->knobs, KNOB_GENERAL_OPTIMIZE) || off || !has_work(fn))
        return false;
    bool progress = false;
    MidCosts *costs = &ctx->costs;
    double before = 0;
    uint32_t changed[ARRAY_LEN(sub_passes)];
    for (size_t k = 0; k < ARRAY_LEN(sub_passes); k++)
        changed[k] = EVERYTHING;
    *costs = (MidCosts){.counts = true};
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool more = false;
        for (size_t k = 0; k < ARRAY_LEN(sub_passes); k++) {
            bool due = changed[k] & sub_passes[k].reads;
            changed[k] = 0;
            costs->hidden = sub_passes[k].row != PH_COPY_PROP;
            if (!due || !phase_subpass(ctx, fn, sub_passes[k].row))
                continue;
            for (size_t other = 0; other < ARRAY_LEN(sub_passes); other++)
                if (other != k && (costs->hidden || !sub_passes[other].sees))
                    changed[other] |= sub_passes[k].leaves;
            more = true;
        }
        progress |= more;
        if (!more || costs->weighted - before < threshold(ctx))
            break;
        before = costs->weighted;
    }
    costs->counts = false;
    return progress;
}
