// SPDX-License-Identifier: MIT
// Replaces calls by the bodies of the functions, callees first.
//
// Sub-pass: OriInline, before slot 0. The functions are visited in the bottom-up order of the call graph. In a
// function, the calls of functions that were visited before are inlined (ir/rewrite/inline_call.c). If the function has
// callers itself, it is then optimized (prepare.c), so that its size is that of optimized code, and so that callers
// copy little. A large callee that the frontend optimized stays as it is if nothing was inlined into it. Each function
// that remains runs the rest of the plan once.
//
//     R1 = ld.param.b32 [@n]                         R1 = ld.param.b32 [@n]
//     st.param.b32 [@a0], R1          #1             st.local.b32 [@x], R1
//     call (@q0), @square, (@a0)      #1      ->     R3 = ld.local.b32 [@x]
//     R2 = ld.param.b32 [@q0]         #1             R4 = mul.lo.s32 R3, R3
//                                                    st.local.b32 [@r], R4
//                                                    R2 = ld.local.b32 [@r]
//
// A call is inlined if it adds less than InlineThreshold instructions, or if it is the only one of a private function
// with at most InlineSingleMax instructions, or if all other inlined calls of the caller and this one add at most
// InlineBudget instructions, and those of all callers a multiple of the module (inline_cost.c). Frontends that optimize
// inline by themselves, and leave only calls that the author wants to stay (`__noinline__` has no mark in PTX). So in
// optimized code the limits are InlineOptimized, and for the only call InlineThreshold, since a larger function is a
// cold path that was outlined; the budget does not apply. On samples of nvcc -O3 with the limits of unoptimized code,
// in_polygon executes 6 % less and has 17 % more instructions, parse_numbers 25 % less and 82 % more.
//
// A function is unoptimized if it works on variables in local memory, and all functions of a module are if a third of
// its branches lead to the next block. Without the second test, which nvcc -Xcicc -O0 needs where all variables are
// parameters and scalars, the naive samples execute 1.12 times as much as nvcc -O3 makes at ptxas -O3, with it 1.08
// times. With an InlineBudget of 4000 they execute the same, and cuda-samples at -O0 have 1.3 % more instructions than
// with 1000.
//
// Must not fire:
//     callee that calls itself, also through others  the copy would contain the call again
//     .weak callee                                   the linker may choose another definition (InlineWeak)
//     callee with `exit`, or a path without `ret`    threads would no longer reconverge behind the call; allowed behind
//                                                    a trap, since the grid ends
//     ld.param in another block than the call        ptxas miscompiles such sequences; they stay as they are
//     a carry live across the call                   a carry lives in one block
//     callee with shfl.sync, before sm_70            threads that diverge at the call must not execute it; allowed in
//                                                    the entry block
//
// `.shared`, `.global` and `.const` variables of a callee are one object for all calls, so they move to the module
// (statics.c). Then the items are ordered so that declarations precede uses (order_items.c).
//
// Calls through registers become direct where the function is known (devirtualize.c), and are inlined then.
//
// Documented: nothing. Inferred: all.
#include "ir/rewrite/inline_call.h"
#include "ir/rewrite/rewrite.h"
#include "phases/module/module.h"

enum {
    TURNS = 3,
    SEARCHES = 8,
    LARGE = 2,  // times InlineThreshold: an optimized callee of more instructions does not become small
};

// A function as a callee.
typedef struct Callee {
    bool visited;
    bool absorbed;         // its only call is to be inlined before its own calls are
    bool refused;          // some call of it would have added too many instructions
    const char *obstacle;  // to any call of it; NULL = none
    CalleeCost cost;
    const uint32_t *loads;  // by parameter, for what GlobalOpt may gain; NULL: nothing
    uint32_t callers;       // calls of it, copies included
    uint32_t left;          // those that were not inlined
    VEC(uint32_t) calls;    // nodes that it still calls, one for each call
} Callee;

typedef struct Inlining {
    Ctx *ctx;
    Module *m;
    CallGraph *graph;
    Arena scratch;
    int64_t total, most;         // growth of all callers by calls that spend their budgets, and its limit
    ModuleNames names;           // made when the first variable moves to the module
    Callee *callees;             // by node
    bool *naive;                 // by node: it was unoptimized code
    uint32_t symbols, searches;  // of find_tables(): symbols at the last search, and number of searches in this turn
    bool progress;
    bool again;  // another turn may inline more
    // Of the current caller.
    uint32_t node;
    Inliner in;
    RegisterSymbols addresses;  // none: GlobalOpt has nothing to gain
    int64_t growth;
    VEC(InstrId) calls;     // to inline, in layout order
    VEC(BlockId) copies;    // pairs: the first and the last block of a copy whose calls may be inlined
    VEC(uint32_t) refused;  // absorbed callees whose call stays
} Inlining;

static const char *name_of(const Fn *fn, char buf[static 200])
{
    return name_text(&fn->module->tables, fn->module->syms.at[fn->sym].name, buf, 200);
}

/* -- Decisions ------------------------------------------------------------------------------------------ */

static bool has_local(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (symbol_classes(ir_sym(fn, k | SYM_LOCAL)) & IC_LOCAL)
            return true;
    return false;
}

// True if a function has variables that all calls share.
static bool has_statics(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_VAR && s->space != SP_LOCAL && !(s->flags & SYM_GONE))
            return true;
    }
    return false;
}

// True if at least a third of the unguarded branches that the frontend wrote lead to the next block, as they do only
// without optimization. Of the samples and 317 files of other projects, these are more than half of the branches in all
// files of nvcc -Xcicc -O0 that have loops, and none in those of nvcc -O3; in libdevice as llc -O2 makes it, 3 of 378.
static bool is_unoptimized(const Module *m)
{
    uint32_t branches = 0, to_next = 0;
    for (uint32_t k = 0; k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        for (BlockId b = fn && fn->flags & FN_DEFINED ? fn->first : 0; b; b = ir_block(fn, b)->next) {
            const Instr *i = ir_instr(fn, ir_terminator(fn, b));
            bool written = !(i->flags & IF_IMPLICIT) && ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i);
            branches += written;
            to_next += written && branches_to_next(fn, b);
        }
    }
    return to_next && 3 * to_next >= branches;
}

// True for unoptimized code: the function has variables in local memory, and an eighth of its instructions at least
// access local memory or generic addresses. Optimized code has arrays there, with fewer accesses.
static bool is_naive(const Fn *fn)
{
    uint32_t accesses = 0;
    if (!has_local(fn))
        return false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Desc *d = ir_desc(fn, ir_instr(fn, id));
            Mod space = (Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE];
            accesses += (d->op == OP_LD || d->op == OP_ST) && (space == MOD_NONE || space == MOD_LOCAL);
        }
    return accesses >= fn->ninstrs / 8;
}

// Returns the number of constants among the arguments of a call.
static uint32_t count_constants(const Inliner *in, const Instr *call)
{
    uint32_t n = 0;
    FOR_SEQUENCE(in, call->callseq, access)
    {
        const Instr *i = ir_instr(in->fn, access->id);
        n += ir_desc(in->fn, i)->op == OP_ST && op_is_const(*ir_use(in->fn, i, 2));
    }
    for (uint32_t k = 0; k < ir_nuse(call); k++)
        n += op_is_const(*ir_use(in->fn, call, k));
    return n;
}

// Returns the number of instructions that GlobalOpt may remove if a call is inlined.
static uint32_t find_gain(Inlining *in, InstrId id, uint32_t node)
{
    char name[200];
    const Fn *callee = in->m->fns.at[node];
    if (!in->callees[node].loads)
        return 0;
    GlobalGain gain = inline_gain(in->ctx, &in->in, &in->addresses, id, in->callees[node].loads);
    if (gain.accesses)
        remark(in->ctx, in->in.fn, id, RM_ANALYSIS, "GlobalOptGain",
               "with the call of {Callee:%s} inlined, {Loads:%u} loads and {Bits:%u} bits of variables may go",
               name_of(callee, name), gain.accesses, (uint32_t)MIN(gain.bits, UINT32_MAX));
    return gain.accesses;
}

static bool is_private(const CallGraph *g, uint32_t node)
{
    uint32_t flags = g->module->syms.at[g->module->fns.at[node]->sym].flags;
    return !(flags & (SYM_VISIBLE | SYM_WEAK | SYM_EXTERN | SYM_COMMON)) && !(g->flags[node] & ADDRESS_TAKEN);
}

// Returns the reason not to inline a call, or NULL.
static const char *find_obstacle(Inlining *in, InstrId id, uint32_t node)
{
    Ctx *ctx = in->ctx;
    const Fn *fn = in->in.fn, *callee = in->m->fns.at[node];
    const Instr *call = ir_instr(fn, id);
    const Callee *c = &in->callees[node];
    if (in->graph->flags[node] & CALLS_ITSELF)
        return "it is recursive";
    if (!c->visited) {
        in->again = true;
        return "its address was not known before";
    }
    if (in->m->syms.at[callee->sym].flags & SYM_WEAK && !knob_is_set(&ctx->knobs, KNOB_INLINE_WEAK))
        return "it is .weak, so another module may replace it";
    if (module_lists_in_text(knob_str(&ctx->knobs, KNOB_INLINE_OFF), in->m, callee->sym))
        return "InlineOff lists it";
    if (c->obstacle)
        return c->obstacle;
    if (has_statics(callee) && !phase_transforms(ctx, callee))
        return "it has variables that all calls share, and is kept as it is";
    if (c->cost.collective && in->m->isa.sm < 70 && (call->block != fn->first || ir_guarded(call)))
        return "its threads may diverge at the call, which has instructions of a whole warp";
    return inline_call_obstacle(&in->in, id, callee);
}

// True if the call is worth its growth, which is then added to that of the caller.
static bool is_worth(Inlining *in, InstrId id, uint32_t node)
{
    Ctx *ctx = in->ctx;
    const Callee *c = &in->callees[node];
    const Fn *callee = in->m->fns.at[node];
    int64_t growth =
        inline_growth(callee, &c->cost, count_constants(&in->in, ir_instr(in->in.fn, id))) - find_gain(in, id, node);
    int64_t threshold = knob_int(&ctx->knobs, KNOB_INLINE_THRESHOLD),
            optimized = knob_int(&ctx->knobs, KNOB_INLINE_OPTIMIZED);
    bool naive = in->naive[in->node] || in->naive[node];
    bool single = c->callers == 1 && is_private(in->graph, node);
    int64_t largest = naive ? knob_int(&ctx->knobs, KNOB_INLINE_SINGLE) : threshold;
    if (growth < (naive ? threshold : optimized) || (single && c->cost.size <= largest))
        return true;
    if (!naive || in->growth + growth > knob_int(&ctx->knobs, KNOB_INLINE_GROWTH) || in->total + growth > in->most)
        return false;
    in->growth += growth;
    in->total += growth;
    return true;
}

// Adds a call to those to inline, or reports why it stays.
static void consider(Inlining *in, InstrId id)
{
    Ctx *ctx = in->ctx;
    Fn *fn = in->in.fn;
    char name[200];
    SymId sym = ir_callee(fn, ir_instr(fn, id));
    uint32_t node = sym ? in->graph->node_of[sym] : 0;
    if (!node--)
        return;
    const Callee *c = &in->callees[node];
    const Fn *callee = in->m->fns.at[node];
    const char *why = find_obstacle(in, id, node);
    if (!why && !is_worth(in, id, node)) {
        why = "it would add too many instructions";
        in->callees[node].refused = true;
    }
    if (!why && !knob_spend(&ctx->knobs, KNOB_INLINE_CALLS))
        why = "the budget InlineCalls is spent";
    if (why && c->absorbed)
        VEC_PUSH(&in->scratch, &in->refused, node);
    if (why) {
        remark(ctx, fn, id, RM_MISSED, "NotInlined",
               "the call of {Callee:%s}, which has {Instructions:%u} instructions, stays: {Reason:%s}",
               name_of(callee, name), (uint32_t)c->cost.size, why);
        return;
    }
    remark(ctx, fn, id, RM_PASSED, "Inlined", "the call of {Callee:%s} is replaced by {Instructions:%u} instructions",
           name_of(callee, name), (uint32_t)c->cost.size);
    VEC_PUSH(&in->scratch, &in->calls, id);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void take_statics(Inlining *in, Fn *callee)
{
    if (!in->names.at.n)
        module_names_init(&in->names, &in->scratch, in->m);
    module_take_statics(&in->names, in->m, callee);
}

// Inlines a call whose callee has no obstacle.
static void inline_one(Inlining *in, InstrId id)
{
    Fn *fn = in->in.fn;
    uint32_t node = in->graph->node_of[ir_callee(fn, ir_instr(fn, id))] - 1;
    Fn *callee = in->m->fns.at[node];
    Callee *c = &in->callees[node];
    if (has_statics(callee))
        take_statics(in, callee);
    BlockId before = ir_instr(fn, id)->block, last = inline_call(&in->in, id, callee, !c->absorbed);
    if (c->absorbed) {
        VEC_PUSH(&in->scratch, &in->copies, ir_block(fn, before)->next);
        VEC_PUSH(&in->scratch, &in->copies, last);
    }
    in->ctx->module.calls_inlined++;
    c->left -= c->left > 0;
    for (uint32_t k = 0; !c->absorbed && k < c->calls.n; k++) {
        in->callees[c->calls.at[k]].callers++;
        in->callees[c->calls.at[k]].left++;
    }
}

// Inlines calls in a range of blocks. The last call comes first, since a call moves what is behind it in its block.
static void inline_calls_of(Inlining *in, BlockId first, BlockId last)
{
    const Fn *fn = in->in.fn;
    BlockId end = ir_block(fn, last)->next;
    in->calls.n = 0;
    for (BlockId b = first; b != end; b = ir_block(fn, b)->next)
        FOR_INSTRS(fn, b, id)
            if (ir_desc(fn, ir_instr(fn, id))->op == OP_CALL)
                consider(in, id);
    for (uint32_t k = in->calls.n; k-- > 0;)
        inline_one(in, in->calls.at[k]);
}

// Inlines calls of a function, and then those in the copies; returns progress.
static bool inline_calls(Inlining *in, Fn *fn)
{
    in->growth = 0;
    if (in->ctx->remarks)
        remarks_run(in->ctx->remarks, PH_INLINE);
    in->copies.n = 0;
    uint32_t first_symbol = fn->syms.n;
    inline_begin(&in->in, fn);
    in->addresses = symbols_in_registers(in->ctx, fn, &in->scratch);
    inline_calls_of(in, fn->first, fn->last);
    for (uint32_t k = 0; k < in->copies.n; k += 2)
        inline_calls_of(in, in->copies.at[k], in->copies.at[k + 1]);
    bool progress = in->in.inlined;
    inline_end(&in->in);
    if (in->names.at.n)
        module_names_add(&in->names, fn, first_symbol);
    if (progress)
        merge_blocks(fn);
    return progress;
}

// Records what a function is as a callee.
static void measure(Inlining *in, uint32_t node)
{
    Fn *fn = in->m->fns.at[node];
    Callee *c = &in->callees[node];
    c->calls.n = 0;
    c->obstacle = inline_callee_obstacle(fn);
    c->cost = callee_cost(fn);
    c->loads = loads_through_parameters(in->ctx, fn, &in->scratch);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            SymId callee = ir_desc(fn, i)->op == OP_CALL ? ir_callee(fn, i) : 0;
            if (callee && in->graph->node_of[callee])
                VEC_PUSH(&in->scratch, &c->calls, in->graph->node_of[callee] - 1);
        }
}

static bool calls_registers(const Fn *fn)
{
    if (!(fn->classes & IC_CALL))
        return false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (ir_desc(fn, ir_instr(fn, id))->op == OP_CALL && !ir_callee(fn, ir_instr(fn, id)))
                return true;
    return false;
}

// Finds constant tables again if variables became those of the module. The bound keeps the time linear.
static void find_tables(Inlining *in)
{
    if (in->symbols != in->m->syms.n && in->searches++ < SEARCHES)
        in->ctx->tables = constant_tables(in->ctx, in->m, &in->scratch);
    in->symbols = in->m->syms.n;
}

// False for a large callee that the frontend optimized.
static bool may_become_small(const Inlining *in, const Fn *fn)
{
    int64_t threshold = knob_int(&in->ctx->knobs, KNOB_INLINE_THRESHOLD);
    return in->naive[in->node] || callee_cost(fn).size <= LARGE * threshold;
}

// Inlines calls of a function, and optimizes it if it is a callee or has calls through registers. If such calls become
// direct, starts again.
static bool inline_and_prepare(Inlining *in, Fn *fn, bool callee)
{
    bool changed = false, direct = fn->classes & IC_CALL;
    for (int turn = 0; turn < TURNS && direct; turn++) {
        changed |= inline_calls(in, fn);
        direct = false;
        if (!calls_registers(fn))
            break;
        find_tables(in);
        changed |= prepare_function(in->ctx, fn, &direct);
    }
    if (callee && (changed || may_become_small(in, fn)) && !inline_callee_obstacle(fn))
        changed |= prepare_function(in->ctx, fn, &direct);
    return changed;
}

// True if the only call of a private function is inlined whatever its optimized size. So its own calls wait until it is
// inlined: in a chain of such functions each body is copied once.
static bool is_absorbed(Inlining *in, uint32_t node)
{
    const CallGraph *g = in->graph;
    Fn *fn = in->m->fns.at[node];
    bool once = g->callers[node] == 1 && is_private(g, node) && !(g->flags[node] & CALLS_ITSELF);
    return once && fn->classes & IC_CALL && !inline_callee_obstacle(fn) &&
           callee_cost(fn).size <= knob_int(&in->ctx->knobs, KNOB_INLINE_SINGLE);
}

// Records an absorbed callee. It stays as it is until its call is inlined or refused.
static bool absorb(Inlining *in, uint32_t node)
{
    Arena arena;
    Callee *c = &in->callees[node];
    Fn *fn = in->m->fns.at[node];
    phase_enter(in->ctx, fn, &arena);
    knobs_enter_phase(&in->ctx->knobs, PH_INLINE);
    c->absorbed = is_absorbed(in, node);
    phase_leave(in->ctx, fn, &arena);
    if (c->absorbed)
        measure(in, node);
    return c->absorbed;
}

static void visit(Inlining *in, uint32_t node, bool may_absorb)
{
    Ctx *ctx = in->ctx;
    Fn *fn = in->m->fns.at[node];
    Callee *c = &in->callees[node];
    bool callee = in->graph->callers[node] || in->graph->flags[node] & ADDRESS_TAKEN;
    if (!fn || !(fn->flags & FN_DEFINED) || !(callee || fn->classes & IC_CALL))
        return;
    c->visited = true;
    c->absorbed = false;
    if (may_absorb && callee && phase_transforms(ctx, fn) && absorb(in, node))
        return;
    in->node = node;
    if (phase_transforms(ctx, fn)) {
        Arena arena;
        const Plan *plan = phase_enter(ctx, fn, &arena);
        knobs_enter_phase(&ctx->knobs, PH_INLINE);
        in->naive[node] |= knob_int(&ctx->knobs, KNOB_INLINE_OPTIMIZED) >= knob_int(&ctx->knobs, KNOB_INLINE_THRESHOLD);
        ctx->optimized = !in->naive[node];
        bool changed = phase_plan_has(plan, PH_INLINE) && knob_spend(&ctx->knobs, KNOB_OPT_BUDGET) &&
                       inline_and_prepare(in, fn, callee);
        if (changed)
            phase_changed(fn);
        in->progress |= changed;
        if (ctx->remarks)
            remarks_drop_others(ctx->remarks, PH_INLINE);
        phase_leave(ctx, fn, &arena);
        module_note_properties(in->m, fn);
    }
    if (callee)
        measure(in, node);
}

// Returns the limit of the growth of all callers, so that time and output are linear in the size of the module.
static int64_t growth_limit(const Module *m)
{
    enum { SMALL = 20000, TIMES = 4 };
    int64_t instrs = 0;
    for (uint32_t k = 0; k < m->fns.n; k++)
        instrs += m->fns.at[k] ? m->fns.at[k]->ninstrs : 0;
    return SMALL + TIMES * instrs;
}

// Visits all functions, callees first. True if another turn may inline more.
static bool run_turn(Inlining *in)
{
    CallGraph *g = in->graph = call_graph(in->m, &in->scratch);
    in->symbols = in->searches = 0;
    find_tables(in);
    in->again = false;
    if (in->ctx->remarks)
        remarks_restart(in->ctx->remarks, PH_INLINE);
    in->callees = NEW_ARRAY(&in->scratch, Callee, g->n);
    for (uint32_t k = 0; k < g->n; k++)
        in->callees[k].callers = in->callees[k].left = g->callers[k];
    for (uint32_t k = 0; k < g->n; k++) {
        visit(in, g->order[k], true);
        while (in->refused.n)
            visit(in, in->refused.at[--in->refused.n], false);
    }
    // The last call that is left of a function in optimized code may be its only one now.
    for (uint32_t k = 0; k < g->n; k++)
        in->again |= in->callees[k].refused && !in->naive[k] && in->callees[k].left == 1 && g->callers[k] > 1 &&
                     is_private(g, k);
    in->ctx->optimized = false;
    return in->again;
}

bool phase_inline(Ctx *ctx, Module *m)
{
    if (!ctx->has_calls)
        return false;
    Inlining *in;
    Arena arena;
    arena_init(&arena, &ctx->heap);
    in = NEW(&arena, Inlining);
    *in = (Inlining){.ctx = ctx, .m = m, .scratch = arena, .most = growth_limit(m)};
    in->naive = NEW_ARRAY(&in->scratch, bool, m->fns.n);
    bool unoptimized = is_unoptimized(m);
    for (uint32_t k = 0; k < m->fns.n; k++)
        in->naive[k] = m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED && (unoptimized || is_naive(m->fns.at[k]));
    for (int turn = 0; turn < TURNS && run_turn(in);)
        turn++;
    ctx->tables = NULL;
    if (in->progress)
        module_order_items(m);
    bool progress = in->progress;
    arena = in->scratch;
    arena_free(&arena);
    return progress;
}
