// SPDX-License-Identifier: MIT
// Promotes the function's `.local` variables to registers (SROA and mem2reg).
//
// Sub-pass: ConvertMemoryToRegisterOrUniform, of phase 37 and after phase 3. Pointer analysis (ir/analysis/pointers.h)
// finds the underlying object of each address and the variables whose address does not escape: through moves of the
// symbol, sums, phis, selects, and cvta in both directions, as for the `__local_depot` frames of compilers. Each
// aligned group of eight bytes of a variable is a binary tree, whose inner nodes have two halves. A node is whole or
// split. A whole node is one register: an access to a part of it extracts or inserts a field. A split node consists of
// its halves: stores split their value, loads join the halves. For each node the cheaper choice is found by counting
// accesses. In multi form a register may have several definitions; in ssa form ssa_repair() gives each value its own
// register. Bytes that were never written are undefined.
//
//     st.local.b32 [@x], R1                       R9 = mov.b32 R1
//     R2 = ld.local.b32 [@x]                 ->   R2 = mov.b32 R9
//
//     R1 = mov.b64 @frame                         R8 = mov.b64 R3
//     R2 = cvta.local.u64 R1                 ->   {R6, R7} = mov.b64 R3    ; if halves are read
//     st.b64 [R2+8], R3                           R4 = mov.b32 R7
//     R4 = ld.b32 [R2+12]
//
//     @P0 st.local.u8 [@x+3], R1             ->   @P0 R9 = cvt.u16.u32 R1
//     R2 = ld.local.s8 [@x+3]                     R2 = cvt.s32.s8 R9
//
// Must not fire:
//     R3 = ld.local.b32 [R1], R1 = @x + R2        all bytes that the load may reach stay in memory, and all accesses to
//                                                 these bytes
//     st.param.b64 [@arg], R1, R1 = @x            the callee may access all of @x
//     ld.volatile.local, atom, prefetch           stay, and so do the bytes that they access
//     .local of the module                        other functions access it
//     ld.local.b32 [R1], R1 = @x or R1 = @x+8     in multi form: ssa form has a phi for R1
//     ld.local.b32 [@x+2]                         unaligned, or outside of the variable: the access faults
//     ld.local.b32 [4]                            any variable may lie there: none is promoted
//
// Bytes: the upper half of a 16-bit register for a byte is arbitrary, so stores of bytes are plain moves. Loads extend
// the byte in any case.
//
// A variable is a symbol, and `__local_depot` is one variable. In PTX an untracked address of a variable may reach all
// of it. So one escaped address, or one index of unknown range, keeps a whole frame in memory; a masked index keeps the
// bytes that it may reach. Knob 136 has no documented name (ConvertMemoryToRegWhole here). If a smaller share of the
// accessed bytes than its value can be promoted, the cost of each group of eight bytes is compared separately: a move
// costs MovWeightForConvertMemToReg of an access.
//
// Does not do: `.shared` variables, since other threads may access them; elements of 16 bytes; `.param` of calls.
// Documented: the name, its place in phase 37, and its knobs. Inferred: the rest.
#include "phases/memory/promote_memory.h"

/* -- Accesses ------------------------------------------------------------------------------------------- */

static Direct describe(const Promotion *p, const MemAccess *access)
{
    const Instr *i = ir_instr(p->fn, access->instr);
    const Desc *d = ir_desc(p->fn, i);
    const Mnem *m = tab_mnem(p->fn->tables, d->mnem);
    Direct direct = {.variable = &p->variables[local_symbol(access->at->sym)],
                     .offset = (uint64_t)access->at->lo,
                     .bytes = width_bits(type_info[m->type[0]].width) / 8,
                     .n = access_elements(m),
                     .type = (Type)m->type[0],
                     .store = d->op == OP_ST};
    uint64_t size = (uint64_t)direct.bytes * direct.n;
    direct.promotable = pointer_is_exact(access->at) && direct.offset < direct.variable->size &&
                        size <= direct.variable->size - direct.offset && access_is_movable(p->fn, i) &&
                        direct.offset % size == 0;
    return direct;
}

static void describe_accesses(Promotion *p)
{
    p->direct = arena_alloc(&p->scratch, p->pointers->accesses.n * sizeof *p->direct);
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++)
        if (variable_of(p, &p->pointers->accesses.at[k]))
            p->direct[k] = describe(p, &p->pointers->accesses.at[k]);
}

/* -- Bytes that stay in memory -------------------------------------------------------------------------- */

static uint64_t groups_of(const Variable *v) { return v->groups ? (v->size + GROUP - 1) / GROUP : 0; }

// Returns the mask of the bytes of a group from `first` to before `end`.
static uint8_t mask_of_bytes(uint64_t first, uint64_t end) { return (uint8_t)((1u << end) - (1u << first)); }

// Keeps a range of bytes in memory. The groups between its first and its last one are kept by keep_ranges(), once for
// all ranges: an access with an unknown index may reach all of a large variable.
static void keep_range(Variable *v, int64_t lo, int64_t hi)
{
    uint64_t first = lo < 0 ? 0 : (uint64_t)lo, end = hi < 0 ? 0 : MIN((uint64_t)hi, v->size);
    if (first >= end)
        return;
    Group *from = &v->groups[first / GROUP], *to = &v->groups[(end - 1) / GROUP];
    from->stays |= mask_of_bytes(first % GROUP, from == to ? (end - 1) % GROUP + 1 : GROUP);
    if (from == to)
        return;
    to->stays |= mask_of_bytes(0, (end - 1) % GROUP + 1);
    from[1].kept++;
    to->kept--;
}

static void keep_ranges(Variable *v)
{
    int32_t ranges = 0;
    for (uint64_t k = 0; k < groups_of(v); k++) {
        ranges += v->groups[k].kept;
        v->groups[k].stays |= ranges ? 0xff : 0;
    }
}

int64_t end_of_access(const Promotion *p, const MemAccess *access)
{
    const Mnem *m = tab_mnem(p->fn->tables, ir_desc(p->fn, ir_instr(p->fn, access->instr))->mnem);
    int64_t bytes = (int64_t)(width_bits(type_info[m->type[0]].width) / 8) * access_elements(m), end;
    return !bytes || __builtin_add_overflow(access->at->hi, bytes, &end) ? INT64_MAX : end;
}

// Keeps all bytes of an access in memory if one of them stays there. True if this keeps more bytes.
static bool keep_rest(const Direct *d)
{
    bool stays = false, more = false;
    for (uint32_t k = 0; k < d->n; k++)
        stays |= group_at(d, k)->stays & mask_of_node(node_at(d, k));
    for (uint32_t k = 0; stays && k < d->n; k++) {
        uint8_t *kept = &group_at(d, k)->stays, mask = (uint8_t)mask_of_node(node_at(d, k));
        more |= (*kept & mask) != mask;
        *kept |= mask;
    }
    return more;
}

uint64_t promotion_limit(Promotion *p)
{
    Knobs *knobs = &p->ctx->knobs;
    uint64_t limit =
        knob_is_set(knobs, KNOB_MEM_TO_REG_SIZE) ? (uint64_t)knob_int(knobs, KNOB_MEM_TO_REG_SIZE) : UINT64_MAX;
    return MIN(limit, SIZE_MAX_BYTES);
}

// Selects the variables that only known accesses in a matching space reach. False: there are none.
static bool choose_variables(Promotion *p)
{
    Fn *fn = p->fn;
    bool found = false;
    uint64_t limit = promotion_limit(p);
    p->variables = NEW_ARRAY(&p->scratch, Variable, fn->syms.n);
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        const MemAccess *access = &p->pointers->accesses.at[k];
        uint32_t s = local_symbol(access->at->sym);
        bool wrong = access->at->generic != (access->space == SP_GENERIC) ||
                     (access->space != SP_GENERIC && access->space != SP_LOCAL);
        if (s && wrong && ir_sym(fn, access->at->sym)->space == SP_LOCAL && !p->escaped[s])
            p->escaped[s] = access->instr;
    }
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        uint32_t s = local_symbol(p->pointers->accesses.at[k].at->sym);
        const Sym *sym = s ? ir_sym(fn, s | SYM_LOCAL) : NULL;
        bool variable = s && sym->kind == SYM_VAR && sym->space == SP_LOCAL && !sym->init;
        if (!variable || p->escaped[s] || p->variables[s].groups || !sym->size || sym->size > limit)
            continue;
        p->variables[s] =
            (Variable){.groups = NEW_ARRAY(&p->scratch, Group, (sym->size + GROUP - 1) / GROUP), .size = sym->size};
        found = true;
    }
    return found;
}

static void keep_rests(Promotion *p)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < p->pointers->accesses.n; k++)
            if (promotable_access(p, k))
                more |= keep_rest(promotable_access(p, k));
    }
}

static void find_what_stays(Promotion *p)
{
    bool stays = false;
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        const MemAccess *access = &p->pointers->accesses.at[k];
        Variable *v = variable_of(p, access);
        if (!v || p->direct[k].promotable)
            continue;
        keep_range(v, access->at->lo, end_of_access(p, access));
        stays = true;
    }
    if (!stays)
        return;
    for (uint32_t v = 1; v < p->fn->syms.n; v++)
        keep_ranges(&p->variables[v]);
    keep_rests(p);
}

// Adds the cost of an access to its node, in case it is split, and to the enclosing nodes, in case they are whole. The
// machine has two registers for 64 bits, so splitting and joining these costs less than extracting a byte.
static void count_access(Group *g, uint32_t node, bool store)
{
    g->touched |= (uint8_t)mask_of_node(node);
    g->accesses++;
    g->moves++;
    if (node < GROUP)
        g->apart[node] += bytes_of_node(node) == 2 && !store ? 3 : 1;
    for (uint32_t outer = node / 2; outer; outer /= 2)
        g->whole[outer] += store && outer == 1 ? 2 : 1;
}

// Splits a node if split costs less than whole, or if no access covers all of it.
static void decide(Group *g, uint32_t node)
{
    if (node >= GROUP || !g->whole[node])
        return;
    bool whole = g->apart[node] && g->whole[node] <= g->apart[node];
    g->moves += whole ? g->whole[node] : g->apart[node];
    if (whole)
        return;
    g->split |= (uint8_t)(1u << node);
    decide(g, 2 * node);
    decide(g, 2 * node + 1);
}

// Splits the nodes of groups for which split costs less.
static void find_parts(Promotion *p)
{
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        const Direct *direct = promotable_access(p, k);
        if (!direct || stays_in_memory(direct))
            continue;
        for (uint32_t e = 0; e < direct->n; e++)
            count_access(group_at(direct, e), node_at(direct, e), direct->store);
    }
    for (uint32_t v = 1; v < p->fn->syms.n; v++)
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++)
            decide(&p->variables[v].groups[k], 1);
}

// If much of a variable stays in memory in any case, keeps all groups in memory whose moves cost at least as much as
// their accesses. True if there are any.
static bool keep_costly_groups(Promotion *p, Variable *v)
{
    uint32_t promoted = 0, accessed = 0;
    bool stays = false;
    for (uint64_t k = 0; k < groups_of(v); k++) {
        promoted += (uint32_t)__builtin_popcount(v->groups[k].touched & ~v->groups[k].stays & 0xff);
        accessed += (uint32_t)__builtin_popcount(v->groups[k].touched | v->groups[k].stays);
    }
    if (promoted >= knob_double(&p->ctx->knobs, KNOB_MEM_TO_REG_WHOLE) * accessed)
        return false;
    double weight = knob_double(&p->ctx->knobs, KNOB_MOV_WEIGHT);
    for (uint64_t k = 0; k < groups_of(v); k++) {
        Group *g = &v->groups[k];
        bool dear = g->accesses && g->moves * weight >= g->accesses;
        g->stays |= dear ? 0xff : 0;
        stays |= dear;
    }
    return stays;
}

static void weigh_variables(Promotion *p)
{
    bool stays = false;
    for (uint32_t v = 1; v < p->fn->syms.n; v++)
        stays |= keep_costly_groups(p, &p->variables[v]);
    if (stays)
        keep_rests(p);
}

// Returns the approximate number of registers of a group: its parts.
static uint32_t parts_of(const Group *g)
{
    uint32_t parts = 1;
    for (uint32_t node = 1; node < GROUP; node++)
        parts += g->split >> node & 1;
    return parts;
}

// The list of direct accesses to a group, in layout order, linked through `next`; 0 = end.
typedef struct GroupList {
    uint32_t first, last;
} GroupList;

typedef struct Toucher {
    BlockId block;
    bool store;
    uint32_t next;
} Toucher;

// Lists the accesses by group; `base` has the index of the first list of each variable.
static Toucher *list_touchers(Promotion *p, GroupList *lists, const uint64_t *base, uint32_t room)
{
    Fn *fn = p->fn;
    Toucher *touchers = NEW_ARRAY(&p->scratch, Toucher, room + 1);
    uint32_t at = 0, n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            if (at == p->pointers->accesses.n || p->pointers->accesses.at[at].instr != id)
                continue;
            const MemAccess *access = &p->pointers->accesses.at[at++];
            const Direct *direct = promotable_access(p, at - 1);
            if (!direct || stays_in_memory(direct))
                continue;
            for (uint32_t e = 0; e < direct->n; e++) {
                uint64_t group = (direct->offset + (uint64_t)e * direct->bytes) / GROUP;
                GroupList *list = &lists[base[local_symbol(access->at->sym)] + group];
                touchers[++n] = (Toucher){.block = b, .store = direct->store && !ir_guarded(ir_instr(fn, id))};
                *(list->last ? &touchers[list->last].next : &list->first) = n;
                list->last = n;
            }
        }
    return touchers;
}

// Returns the number of edges to blocks that may have phis: the most inputs of the phis of one register.
static uint64_t edges_to_joins(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    uint64_t edges = 0;
    FOR_BLOCKS(fn, b) {
        uint32_t n = pred_count(a, b);
        edges += n > 1 || b == fn->first ? n : 0;
    }
    return edges;
}

// Returns a bound of the number of inputs of phis that a function in multi form would have in ssa form: each joined
// register may have a phi in each block with several predecessors.
static uint64_t bound_of_inputs(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG | AN_DEF);
    uint64_t joined = 0;
    for (RegId r = 1; r < fn->regs.n; r++)
        joined += def_is_joined(a, r);
    return edges_to_joins(fn) * joined;
}

// Returns the number of inputs of phis that the function has, or would have in ssa form.
static uint64_t count_inputs(Fn *fn)
{
    uint64_t n = 0;
    if (fn->form == FORM_MULTI)
        return analysis_need(fn, AN_RDEFS)->rdefs.ninputs;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op != OP_PHI)
                break;
            n += ir_nuse(i) / 2;
        }
    return n;
}

// Finds groups whose registers would have more than `left` inputs of phis. Keeps them in memory if `keep`. True if
// there are any. Counts no phis if even a phi of each register at each join stays below `left`.
static bool find_limited(Promotion *p, uint64_t left, bool keep)
{
    Fn *fn = p->fn;
    uint64_t lists = 0, parts_of_all = 0;
    uint64_t *base = NEW_ARRAY(&p->scratch, uint64_t, fn->syms.n);
    uint32_t room = 0;
    bool any = false;
    for (uint32_t v = 1; v < fn->syms.n; v++) {
        base[v] = lists;
        lists += groups_of(&p->variables[v]);
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++) {
            const Group *g = &p->variables[v].groups[k];
            room += g->accesses;
            parts_of_all += g->accesses ? parts_of(g) : 0;
        }
    }
    if (parts_of_all * edges_to_joins(fn) <= left)
        return false;
    GroupList *list = NEW_ARRAY(&p->scratch, GroupList, lists + 1);
    const Toucher *touchers = list_touchers(p, list, base, room);
    PhiCounter *counter = phi_counter(fn, &p->scratch);
    for (uint32_t v = 1; v < fn->syms.n; v++) {
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++) {
            Group *g = &p->variables[v].groups[k];
            if (!g->accesses)
                continue;
            uint32_t parts = parts_of(g);
            phi_counter_start(counter);
            for (uint32_t t = list[base[v] + k].first; t; t = touchers[t].next)
                (touchers[t].store ? phi_counter_write : phi_counter_read)(counter, touchers[t].block);
            uint64_t inputs = phi_counter_inputs(counter, left / parts) * parts;
            any |= inputs > left;
            if (inputs > left && keep) {
                g->stays = 0xff;
                p->variables[v].limited = true;
            } else if (inputs <= left) {
                left -= inputs;
            }
        }
    }
    phi_counter_free(counter);
    return any;
}

static uint64_t less(uint64_t limit, uint64_t taken) { return limit - MIN(limit, taken); }

// Keeps groups in memory whose registers would have too many phis for the size of the function. True if there are any.
static bool limit_groups(Promotion *p)
{
    Fn *fn = p->fn;
    bool bounded = fn->form == FORM_MULTI && !(fn->analyses->valid & AN_RDEFS);
    if (bounded && !find_limited(p, less(fn->phi_limit, bound_of_inputs(fn)), false))
        return false;
    return find_limited(p, less(fn->phi_limit, count_inputs(fn)), true);
}

/* -- The phase ----------------------------------------------------------------------------------------- */

static bool has_local_variables(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE))
            return true;
    }
    return false;
}

bool phase_promote_memory(Ctx *ctx, Fn *fn)
{
    if (!has_local_variables(fn))
        return false;
    Promotion p = {.ctx = ctx, .fn = fn};
    RegId first = fn->regs.n;
    Analyses own = {0};
    arena_init(&p.scratch, &ctx->heap);
    // In multi form AN_RDEFS would be built for this analysis alone: promotion invalidates it. In naive code each
    // address is in a register with one definition. Phase 37 promotes the other variables in ssa form.
    p.pointers = fn->form == FORM_MULTI ? pointers_of_single_defs(fn, &own) : pointers_of(fn);
    p.escaped = arena_copy(&p.scratch, p.pointers->escaped, fn->syms.n * sizeof *p.escaped);
    bool chosen = !p.pointers->absolute && choose_variables(&p);
    if (chosen) {
        describe_accesses(&p);
        find_what_stays(&p);
        find_parts(&p);
        weigh_variables(&p);
        if (limit_groups(&p))
            keep_rests(&p);
    }
    if (remarks_wanted(ctx))
        promote_report(ctx, &p);
    if (chosen) {
        prepare_costs(ctx, fn);
        promote_accesses(&p);
    }
    analysis_free(&own);
    arena_free(&p.scratch);
    if (p.progress)
        ssa_repair(fn, first);
    return p.progress;
}
