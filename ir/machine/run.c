// SPDX-License-Identifier: MIT
// Runs launches. The clusters of a grid run one after the other. The warps of a cluster's CTAs run in turn, each until
// it waits, yields or ends. A warp executes one instruction at a time for the lanes of a group. Without clusters, each
// CTA is a cluster. There is one streaming multiprocessor.
#include <stdarg.h>
#include <stdio.h>

#include "ir/machine/machine_internal.h"

enum {
    YIELD_STEPS = 1 << 20,  // number of steps after which a warp yields
    POLL_STEPS = 1 << 14,   // number of steps between polls, less than a millisecond
};

// Returns the next number of splitmix64; 0 in the fixed order.
uint64_t run_draw(Run *r)
{
    uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return r->machine->options.seed ? z ^ (z >> 31) : 0;
}

/* -- Faults --------------------------------------------------------------------------------------------- */

static Dim thread_of(const Run *r, uint32_t lane) { return dim_at(r->launch->block, r->warp->index * LANES + lane); }

void locate(const Run *r, const Group *g, const Code *c, uint32_t lane, RunError *e)
{
    e->block = r->cta->at;
    if (c) {
        e->fn = g->frame->func->fn;
        e->instr = c->id;
    }
    if (r->warp)
        e->thread = thread_of(r, lane);
}

bool fault(Run *r, const Group *g, const Code *c, uint32_t lane, const char *fmt, ...)
{
    RunError *e = &r->machine->error;
    va_list args;
    if (e->status != RUN_DONE)
        return false;
    *e = (RunError){.status = RUN_FAULT};
    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
    locate(r, g, c, lane, e);
    return false;
}

const RunError *machine_error(const Machine *m) { return &m->error; }

void machine_error_text(const Machine *m, char text[static MACHINE_ERROR_TEXT])
{
    const RunError *e = &m->error;
    char source[200] = "";
    if (e->fn)
        fn_source_position(e->fn, ir_instr(e->fn, e->instr)->line, source);
    snprintf(text, MACHINE_ERROR_TEXT, "block %u,%u,%u, thread %u,%u,%u: %s%s%s%s", e->block.x, e->block.y, e->block.z,
             e->thread.x, e->thread.y, e->thread.z, e->text, *source ? " (at " : "", source, *source ? ")" : "");
}

/* -- Special registers ---------------------------------------------------------------------------------- */

bool sreg_is_known(Sreg sreg) { return sreg <= SREG_DYNAMIC_SMEM_SIZE; }

static uint64_t sreg_value(const Run *r, Sreg sreg, uint32_t lane)
{
    const Launch *l = r->launch;
    Dim t = thread_of(r, lane);
    switch (sreg) {
    case SREG_TID_X: return t.x;
    case SREG_TID_Y: return t.y;
    case SREG_TID_Z: return t.z;
    case SREG_NTID_X: return l->block.x;
    case SREG_NTID_Y: return l->block.y;
    case SREG_NTID_Z: return l->block.z;
    case SREG_CTAID_X: return r->cta->at.x;
    case SREG_CTAID_Y: return r->cta->at.y;
    case SREG_CTAID_Z: return r->cta->at.z;
    case SREG_NCTAID_X: return l->grid.x;
    case SREG_NCTAID_Y: return l->grid.y;
    case SREG_NCTAID_Z: return l->grid.z;
    case SREG_LANEID: return lane;
    case SREG_WARPID: return r->warp->index;
    case SREG_NWARPID: return r->nwarps;
    case SREG_NTID_W:
    case SREG_NCTAID_W:
    case SREG_NCLUSTERID_W:
    case SREG_CLUSTER_NCTAID_W:
    case SREG_NSMID:
    case SREG_GRIDID: return 1;
    case SREG_LANEMASK_EQ: return UINT64_C(1) << lane;
    case SREG_LANEMASK_LE: return (UINT64_C(2) << lane) - 1;
    case SREG_LANEMASK_LT: return (UINT64_C(1) << lane) - 1;
    case SREG_LANEMASK_GE: return UINT32_MAX & ~((UINT64_C(1) << lane) - 1);
    case SREG_LANEMASK_GT: return UINT32_MAX & ~((UINT64_C(2) << lane) - 1);
    case SREG_CLOCK:
    case SREG_CLOCK64:
    case SREG_GLOBALTIMER:
    case SREG_GLOBALTIMER_LO: return r->steps;  // of the launch
    case SREG_DYNAMIC_SMEM_SIZE: return l->shared;
    case SREG_TOTAL_SMEM_SIZE:
    case SREG_AGGR_SMEM_SIZE: return r->nshared;
    case SREG_IS_EXPLICIT_CLUSTER: return r->is_explicit;
    case SREG_CLUSTERID_X: return r->cta->at.x / r->cluster.x;
    case SREG_NCLUSTERID_X: return l->grid.x / r->cluster.x;
    case SREG_CLUSTER_CTAID_X: return r->cta->at.x % r->cluster.x;
    case SREG_CLUSTER_NCTAID_X: return r->cluster.x;
    case SREG_CLUSTERID_Y: return r->cta->at.y / r->cluster.y;
    case SREG_NCLUSTERID_Y: return l->grid.y / r->cluster.y;
    case SREG_CLUSTER_CTAID_Y: return r->cta->at.y % r->cluster.y;
    case SREG_CLUSTER_NCTAID_Y: return r->cluster.y;
    case SREG_CLUSTERID_Z: return r->cta->at.z / r->cluster.z;
    case SREG_NCLUSTERID_Z: return l->grid.z / r->cluster.z;
    case SREG_CLUSTER_CTAID_Z: return r->cta->at.z % r->cluster.z;
    case SREG_CLUSTER_NCTAID_Z: return r->cluster.z;
    case SREG_CLUSTER_CTARANK: return r->cta->rank;
    case SREG_CLUSTER_NCTARANK: return r->nctas;
    default: return 0;  // the fourth coordinates, %smid and the upper halves of clocks
    }
}

/* -- Operands ------------------------------------------------------------------------------------------- */

uint64_t read_lane(const Run *r, const Group *g, const OperandRef *o, uint32_t lane)
{
    switch (o->kind) {
    case REF_REG: return g->frame->rows[o->at][lane] ^ o->negated;
    case REF_MODULE: return r->warp->module_rows[o->at][lane] ^ o->negated;
    case REF_CONST:
    case REF_UNDEF: return o->bits;
    case REF_LOCAL: return g->frame->locals + o->bits;
    case REF_SREG: return sreg_value(r, (Sreg)o->at, lane);
    default: return 0;
    }
}

uint64_t read_high(const Run *r, const Group *g, const OperandRef *o, uint32_t lane)
{
    (void)r;
    return o->kind == REF_REG && o->width == W128 ? g->frame->rows[o->at + 1][lane] : 0;
}

void write_lane(Run *r, const Group *g, const OperandRef *o, uint32_t lane, Value v)
{
    uint32_t bits = width_bits((Width)o->width);
    uint64_t low = bits < 64 ? v.lo & ((UINT64_C(1) << bits) - 1) : v.lo;
    if (o->kind == REF_MODULE)
        r->warp->module_rows[o->at][lane] = low;
    if (o->kind != REF_REG)
        return;
    g->frame->rows[o->at][lane] = low;
    if (bits == 128)
        g->frame->rows[o->at + 1][lane] = v.hi;
}

void move_lanes(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes)
{
    FOR_LANES(lanes, lane)
        write_lane(r, g, to, lane, (Value){read_lane(r, g, from, lane), read_high(r, g, from, lane)});
    if (r->machine->tracks)
        move_defined(r, g, to, from, lanes);
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// The values of an operand in all lanes.
typedef struct Column {
    const uint64_t *low, *high;  // by lane; high: bits 64 to 127, NULL = zeroes
    uint64_t flip;               // inverts the low bits
} Column;

// Finds the column of an operand. `room` receives the values if no row has them.
static Column column_of(const Run *r, const Group *g, const OperandRef *o, uint64_t room[static LANES])
{
    if (o->kind == REF_REG)
        return (Column){g->frame->rows[o->at], o->width == W128 ? g->frame->rows[o->at + 1] : NULL, o->negated};
    if (o->kind == REF_MODULE)
        return (Column){r->warp->module_rows[o->at], NULL, o->negated};
    if (o->kind == REF_SREG)
        FOR_LANES(g->lanes, lane)
            room[lane] = read_lane(r, g, o, lane);
    else
        for (uint64_t lane = 0, bits = read_lane(r, g, o, 0); lane < LANES; lane++)
            room[lane] = bits;
    return (Column){room, NULL, 0};
}

// The row of a result; `mask` has ones in the bits of the register.
typedef struct Target {
    uint64_t *low, *high;  // by lane; NULL: not kept
    uint64_t mask;
} Target;

static Target target_of(const Run *r, const Group *g, const OperandRef *o)
{
    uint32_t bits = width_bits((Width)o->width);
    Target t = {.mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX};
    if (o->kind == REF_MODULE)
        t.low = r->warp->module_rows[o->at];
    if (o->kind == REF_REG)
        t.low = g->frame->rows[o->at];
    if (o->kind == REF_REG && bits == 128)
        t.high = g->frame->rows[o->at + 1];
    return t;
}

// The operands of an instruction, resolved once for all lanes.
typedef struct Columns {
    Column in[EVAL_IN_MAX];
    Target out[EVAL_OUT_MAX];
    uint64_t room[EVAL_IN_MAX][LANES];
} Columns;

enum { SIMPLE_IN = 3 };

// Evaluates an instruction with one result and `nin` operands, all of 64 bits at most.
static inline void eval_simple(const Code *c, const Columns *k, Mask lanes, uint32_t nin)
{
    Value in[SIMPLE_IN] = {{0, 0}, {0, 0}, {0, 0}}, out[EVAL_OUT_MAX];
    FOR_LANES(lanes, lane) {
        for (uint32_t n = 0; n < nin; n++)
            in[n].lo = k->in[n].low[lane] ^ k->in[n].flip;
        eval_run(&c->eval, in, out);
        k->out[0].low[lane] = out[0].lo & k->out[0].mask;
    }
}

static void eval_lanes(const Code *c, const Columns *k, Mask lanes)
{
    Value in[EVAL_IN_MAX], out[EVAL_OUT_MAX];
    FOR_LANES(lanes, lane) {
        for (uint32_t n = 0; n < c->nin; n++)
            in[n] = (Value){k->in[n].low[lane] ^ k->in[n].flip, k->in[n].high ? k->in[n].high[lane] : 0};
        eval_run(&c->eval, in, out);
        for (uint32_t n = 0; n < c->nout; n++) {
            if (k->out[n].low)
                k->out[n].low[lane] = out[n].lo & k->out[n].mask;
            if (k->out[n].high)
                k->out[n].high[lane] = out[n].hi;
        }
    }
}

// Operands are resolved once for all lanes: separately for each lane, this took most of the time of a simple
// instruction.
bool run_eval(Run *r, Group *g, const Code *c)
{
    Columns k;
    bool simple = c->nout == 1;
    for (uint32_t n = 0; n < c->nin; n++) {
        k.in[n] = column_of(r, g, &c->in[n], k.room[n]);
        simple &= !k.in[n].high;
    }
    for (uint32_t n = 0; n < c->nout; n++) {
        k.out[n] = target_of(r, g, &c->out[n]);
        simple &= k.out[n].low && !k.out[n].high;
    }
    switch (simple ? c->nin : 0) {
    case 1: eval_simple(c, &k, g->lanes, 1); break;
    case 2: eval_simple(c, &k, g->lanes, 2); break;
    case 3: eval_simple(c, &k, g->lanes, 3); break;
    default: eval_lanes(c, &k, g->lanes); break;
    }
    return true;
}

bool run_undef(Run *r, Group *g, const Code *c)
{
    move_lanes(r, g, &c->out[0], &c->in[0], g->lanes);
    return true;
}

bool run_addr(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){read_lane(r, g, &c->in[0], lane) + c->in[1].bits, 0});
    return true;
}

bool run_fence(Run *r, Group *g, const Code *c)
{
    if (r->races)
        race_fence(r, g, c);
    return true;
}

bool run_nothing(Run *r, Group *g, const Code *c)
{
    (void)r, (void)g, (void)c;
    return true;
}

bool run_unsupported(Run *r, Group *g, const Code *c)
{
    const Tables *t = g->frame->func->fn->tables;
    Str text = tab_str(t, tab_mnem(t, tab_desc(t, c->instr->desc)->mnem)->text);
    return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "'%.*s' is not supported", (int)text.len, text.text);
}

bool run_unknown_sreg(Run *r, Group *g, const Code *c)
{
    const OperandRef *o = c->in;
    while (o->kind != REF_SREG || sreg_is_known((Sreg)o->at))
        o++;
    return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "'%s' is not supported", sreg_info[o->at].name);
}

/* -- Warps ---------------------------------------------------------------------------------------------- */

// Splits a group at a convergent instruction with a guard. Lanes with a false guard continue and join after it.
static void split_by_guard(Run *r, Group *g, Mask lanes)
{
    Warp *w = r->warp;
    uint32_t next = g->pc + 1;
    if (lanes) {
        group_join(w, g, next);
        group_go(w, group_split(w, g, g->lanes & ~lanes), next);
    } else {
        group_go(w, g, next);
    }
}

// Prints the instruction and its results in the traced lane.
static void trace(Run *r, const Group *g, const Frame *frame, const Code *c, Mask lanes)
{
    const MachineOptions *o = &r->machine->options;
    const Fn *fn = frame->func->fn;
    if (o->lane >= LANES || !(lanes >> o->lane & 1))
        return;
    Dim t = thread_of(r, o->lane);
    Str text = tab_str(fn->tables, tab_mnem(fn->tables, tab_desc(fn->tables, c->instr->desc)->mnem)->text);
    out_fmt(o->trace, "block %u,%u,%u thread %u,%u,%u ", r->cta->at.x, r->cta->at.y, r->cta->at.z, t.x, t.y, t.z);
    name_print(o->trace, fn->tables, r->machine->module->syms.at[fn->sym].name);
    out_fmt(o->trace, "+%u %.*s", (uint32_t)(c - frame->func->code), (int)text.len, text.text);
    for (uint32_t k = 0; k < c->nout && g->frame == frame; k++)
        if (c->out[k].kind == REF_REG)
            out_fmt(o->trace, " %#llx", (unsigned long long)frame->rows[c->out[k].at][o->lane]);
    char source[200];
    fn_source_position(fn, c->instr->line, source);
    out_fmt(o->trace, *source ? " (at %s)\n" : "%s\n", source);
}

static bool execute(Run *r, Group *g, const Code *c)
{
    const Machine *m = r->machine;
    if (!m->observes)
        return c->run(r, g, c);
    if (m->tracks && !undef_begin(r, g, c))
        return false;
    Frame *frame = g->frame;
    Mask lanes = g->lanes;
    bool goes_on = c->run(r, g, c);
    // Otherwise another function completes the instruction, now or later, and sets the states of its results.
    if (m->tracks && goes_on)
        undef_end(r, g, c);
    if (m->options.trace)
        trace(r, g, frame, c, lanes);
    return goes_on;
}

// Sets the definitions in lanes where the guard is false: they keep their values, or in ssa form take the tied values.
static void skip_lanes(Run *r, const Group *g, const Code *c, Mask lanes)
{
    for (uint32_t k = 0; c->tied && k < c->nout; k++)
        if (c->tied[k].kind != REF_NONE)
            move_lanes(r, g, &c->out[k], &c->tied[k], lanes);
    if (r->machine->tracks)
        undef_skip(r, g, c, lanes);
}

// Executes one instruction of a group. False if the group must not continue at the next instruction.
static bool step(Run *r, Group *g)
{
    Code *c = &g->frame->func->code[g->pc];
    Mask all = g->lanes;
    r->steps++;
    c->warps++;
    c->threads += (uint64_t)__builtin_popcount(all);
    if (c->guarded && !c->transfers) {
        Mask lanes = lanes_where(r, g, &c->guard);
        if (lanes != all)
            skip_lanes(r, g, c, all & ~lanes);
        if (c->converges && lanes != all) {
            split_by_guard(r, g, lanes);
            return false;
        }
        g->lanes = lanes;
        bool goes_on = !lanes || execute(r, g, c);
        if (!c->converges)
            g->lanes = all;
        if (!goes_on)
            return false;
    } else if (!execute(r, g, c)) {
        return false;
    }
    const Join *j = g->join;
    if (j && j->pc == g->pc + 1 && j->frame == g->frame) {
        group_go(r->warp, g, g->pc + 1);
        return false;
    }
    g->pc++;
    return true;
}

static void set_pause(Run *r)
{
    const MachineOptions *o = &r->machine->options;
    uint64_t limit = o->max_steps ? o->max_steps : UINT64_MAX;
    r->pause = o->poll ? MIN(limit, r->steps + POLL_STEPS) : limit;
}

// True if the poll permits the launch to go on.
static bool goes_on(Run *r)
{
    Machine *m = r->machine;
    const Dim *grid = &r->launch->grid;
    RunProgress p = {r->steps, waits_started(r), (uint64_t)grid->x * grid->y * grid->z};
    m->polled = r;
    bool again = m->options.poll(m->options.poll_user, &p);
    m->polled = NULL;
    m->waits.n = 0;
    return again;
}

static bool end_early(Run *r, RunStatus status, const char *why, uint64_t steps)
{
    fault(r, NULL, NULL, 0, "%s %llu steps", why, (unsigned long long)steps);
    waits_record(r);
    r->machine->error.status = status;
    return true;
}

// True if the launch ends at its limit of steps, or because its poll requests this.
static bool stops(Run *r)
{
    uint64_t max = r->machine->options.max_steps;
    if (r->steps < r->pause)
        return false;
    if (max && r->steps >= max)
        return end_early(r, RUN_LIMIT, "more than", max);
    set_pause(r);
    return !goes_on(r) && end_early(r, RUN_STOPPED, "stopped after", r->steps);
}

// Runs a warp until all its groups wait or have ended, or until it yields to the other warps. True if a group ran.
static bool run_warp(Run *r, Warp *w)
{
    Group *g;
    bool ran = false;
    uint64_t end = r->steps + (r->machine->options.seed ? 1 + run_draw(r) % 64 : YIELD_STEPS);
    select_warp(r, w);
    while (r->steps < end && (g = warp_next(w))) {
        ran = true;
        do {
            if (r->machine->error.status != RUN_DONE || stops(r))
                return true;
        } while (step(r, g));
        if (w->yields) {
            w->yields = false;
            break;
        }
    }
    return ran;
}

/* -- Clusters ------------------------------------------------------------------------------------------- */

static bool is_live(const Run *r)
{
    for (uint32_t k = 0; k < r->nctas; k++)
        if (cta_is_live(r, &r->ctas[k]))
            return true;
    return false;
}

static void start_warps(Run *r, const Func *f)
{
    r->cta->warps = NEW_ARRAY(r->arena, Warp, r->nwarps);
    for (uint32_t k = 0; k < r->nwarps; k++) {
        Warp *w = &r->cta->warps[k];
        uint32_t left = r->nthreads - k * LANES;
        w->run = r;
        w->cta = r->cta;
        w->index = k;
        w->frames = NEW_ARRAY(r->arena, Frame *, r->machine->module->syms.n);
        w->module_rows = arena_zalloc(r->arena, MAX(r->machine->registers.n, 1) * sizeof *w->module_rows);
        if (r->machine->tracks)
            w->module_defined = NEW_ARRAY(r->arena, RowStates, MAX(r->machine->registers.n, 1));
        warp_start(w, f, left >= LANES ? UINT32_MAX : (UINT32_C(1) << left) - 1);
        r->warp = w;
        local_grow(r, &w->groups[0], NULL, w->groups[0].frame->host);
    }
}

// Starts the CTAs of a cluster; `first`: position of the CTA of rank 0 in the grid.
static void start_ctas(Run *r, const Func *f, Dim first)
{
    r->first_of_cluster = r->machine->nctas + 1;
    for (uint32_t k = 0; k < r->nctas; k++) {
        Dim at = dim_at(r->cluster, k);
        r->cta = &r->ctas[k];
        *r->cta = (CtaState){.at = {first.x + at.x, first.y + at.y, first.z + at.z}, .rank = k};
        r->cta->number = ++r->machine->nctas;
        r->cta->shared = arena_zalloc(r->arena, MAX(r->nshared, 1));
        check_start_cta(r);
        start_warps(r, f);
    }
}

// Returns the order in which the clusters of the grid run; NULL = ascending.
static uint64_t *order_clusters(Run *r, uint64_t n)
{
    if (!r->machine->options.seed)
        return NULL;
    uint64_t *order = arena_alloc(r->arena, n * sizeof *order);
    for (uint64_t k = 0; k < n; k++)
        order[k] = k;
    for (uint64_t k = n; k > 1; k--) {
        uint64_t other = run_draw(r) % k, moved = order[k - 1];
        order[k - 1] = order[other];
        order[other] = moved;
    }
    return order;
}

static const char *place_of_wait(GroupState state)
{
    switch (state) {
    case GROUP_AT_BARRIER: return "at a barrier";
    case GROUP_AT_CLUSTER: return "at the barrier of the cluster";
    default: return "for lanes of its warp";
    }
}

static void report_deadlock(Run *r)
{
    waits_record(r);
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++) {
        select_warp(r, warp_in_cluster(r, k));
        for (Group *g = r->warp->groups; g < r->warp->groups + LANES; g++) {
            if (!g->lanes)
                continue;
            fault(r, g, &g->frame->func->code[g->pc], (uint32_t)__builtin_ctz(g->lanes),
                  "deadlock: all threads that have not ended wait, this one %s", place_of_wait(g->state));
            return;
        }
    }
}

static void run_cluster(Run *r)
{
    RunError *e = &r->machine->error;
    uint32_t n = r->nctas * r->nwarps;
    while (is_live(r) && e->status == RUN_DONE) {
        bool ran = false;
        uint32_t first = (uint32_t)run_draw(r) % n;
        for (uint32_t k = 0; k < n && e->status == RUN_DONE; k++)
            ran |= run_warp(r, warp_in_cluster(r, (first + k) % n));
        if (!ran)
            report_deadlock(r);
    }
}

static void clear_code(Code *c)
{
    c->warps = c->threads = c->outcomes[0] = c->outcomes[1] = 0;
    c->host.size = 0;
}

// Clears the state of a launch in the code.
static void clear_launch(Machine *m)
{
    for (uint32_t k = 0; k < m->module->fns.n; k++) {
        const Fn *fn = m->module->fns.at[k];
        const Func *f = fn && fn->flags & FN_DEFINED ? m->funcs[fn->sym] : NULL;
        for (Code *c = f ? f->code : NULL; f && c < f->code + f->ncode; c++)
            clear_code(c);
    }
}

// False, after a fault at the kernel's first instruction, if the kernel requires too much memory or another cluster.
static bool launch_fits(Run *r, const Func *f)
{
    Frame start = {.func = f};
    const Group g = {.lanes = 1, .frame = &start};
    if (r->nshared > SHARED_MAX || r->machine->shared.end + r->launch->shared > SHARED_MAX)
        return fault(r, &g, f->code, 0, "%llu bytes of shared memory, which is more than the limit of %u",
                     (unsigned long long)r->nshared, SHARED_MAX);
    if (f->locals + r->machine->local.host > LOCAL_MAX)
        return fault(r, &g, f->code, 0, "more than %u bytes of local memory", LOCAL_MAX);
    return frame_fits(r, &g, f->code, f) && cluster_shape(r, &g, f->code);
}

static void run_grid(Run *r, const Func *f)
{
    Dim grid = r->launch->grid, size = r->cluster;
    uint64_t nx = grid.x / size.x, ny = grid.y / size.y, n = nx * ny * (grid.z / size.z);
    uint64_t *order = order_clusters(r, n);
    for (uint64_t k = 0; k < n && r->machine->error.status == RUN_DONE; k++) {
        uint64_t at = order ? order[k] : k, row = at / nx;
        Dim first = {(uint32_t)(at % nx) * size.x, (uint32_t)(row % ny) * size.y, (uint32_t)(row / ny) * size.z};
        Arena arena;
        arena_init(&arena, r->machine->heap);
        r->arena = &arena;
        start_ctas(r, f, first);
        if (r->races)
            race_start_cluster(r);
        run_cluster(r);
        if (r->races)
            race_end_cluster(r);
        arena_free(&arena);
    }
}

bool machine_run(Machine *m, const Launch *l)
{
    const Func *f = func_of(m, l->entry);
    Run r = {.machine = m, .launch = l, .nthreads = l->block.x * l->block.y * l->block.z};
    m->error = m->unspecified = (RunError){.status = RUN_DONE};
    m->waits.n = 0;
    clear_launch(m);
    r.nwarps = (r.nthreads + LANES - 1) / LANES;
    r.nshared = m->shared.host + l->shared;
    r.first_cta = m->nctas + 1;
    Arena launch;
    arena_init(&launch, m->heap);
    r.arena = &launch;
    r.random = m->options.seed;
    set_pause(&r);
    r.cta = &r.ctas[0];
    if (m->options.check_races)
        race_start(&r, &launch);
    if (launch_fits(&r, f))
        run_grid(&r, f);
    arena_free(&launch);
    m->steps = r.steps;
    return m->error.status == RUN_DONE;
}

/* -- Counts --------------------------------------------------------------------------------------------- */

uint64_t machine_steps(const Machine *m) { return m->steps; }

void machine_executed(const Machine *m, ExecutedVisit *visit, void *user)
{
    const Module *module = m->module;
    for (uint32_t k = 0; k < module->fns.n; k++) {
        const Fn *fn = module->fns.at[k];
        const Func *f = fn && fn->flags & FN_DEFINED ? m->funcs[fn->sym] : NULL;
        for (const Code *c = f ? f->code : NULL; f && c < f->code + f->ncode; c++)
            visit(user, &(Executed){fn, c->id, c->warps, c->threads, c->outcomes[0], c->outcomes[1]});
    }
}

/* -- Machines ------------------------------------------------------------------------------------------- */

Machine *machine_new(Heap *heap, const Module *module, MachineOptions options)
{
    Arena arena;
    arena_init(&arena, heap);
    Machine *m = NEW(&arena, Machine);
    *m = (Machine){.heap = heap, .arena = arena, .module = module, .options = options};
    arena_init(&m->blocks, heap);
    m->options.check_uninit &= !options.follow_undef;
    m->tracks = options.check_uninit || options.follow_undef;
    m->observes = m->tracks || options.trace;
    m->watches = m->tracks || options.check_races || options.record_writers;
    layout_init(m);
    memory_lay_out(m);
    program_make(m);
    machine_reset(m);
    return m;
}

void machine_free(Machine *m)
{
    Arena arena = m->arena;
    arena_free(&m->blocks);
    arena_free(&arena);
}

MachineOptions *machine_options(Machine *m) { return &m->options; }
