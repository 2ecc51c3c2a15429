// SPDX-License-Identifier: MIT
// Finds the variables that GlobalOpt may change, and all accesses to them.
//
// Only code of the module can name such a variable, and all of this code is seen. A variable is open, that is, it stays
// as it is, if
//
//     a host or another module may name it          .visible .extern .weak .common .managed, and .global and .const
//                                                   that the user does not internalize
//     its address escapes                           it is stored, passed, returned, compared with that of another
//                                                   variable, in data, or an operand of an instruction other than ld,
//                                                   st, atom and red
//     a function that may not change names it       debug information, --entry
//     it is .shared, and code depends on the layout an access to or cvta of a constant, %total_smem_size
//
// PTX does not say where `.shared` variables lie, so a number that code computes otherwise, or that an instruction
// outside of the tables uses, is the address of none.
//
// The pointer analysis finds the accesses: if the address of a variable does not escape in a function, each access of
// the function to it has this variable as its underlying object. An access beyond the end of a variable is undefined,
// so an unknown index reaches the whole variable, and no other one.
#include "phases/globalopt/globalopt.h"

#include <stdarg.h>

static void reject(Global *v, Obstacle why)
{
    if (!v->obstacle)
        v->obstacle = why;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

static bool is_variable(const Sym *s)
{
    uint32_t other = SYM_EXTERN | SYM_WEAK | SYM_COMMON | SYM_GONE | SYM_OPEN;
    return s->kind == SYM_VAR && !(s->flags & other) && !s->attribute && type_info[s->type].class != TC_O && s->size &&
           s->size <= INT32_MAX && !(s->init && (s->init->raw || s->init->nrelocs));
}

static GlobalClass class_of(const Globals *g, const Sym *s, SymId module_sym)
{
    if (!is_variable(s) || (module_sym && module_lists(g->ctx->kept, g->m, module_sym)))
        return GV_OPEN;
    if (s->space == SP_SHARED && !(s->flags & SYM_VISIBLE) && !s->init)
        return GV_OWN;
    return module_sym && module_internalizes(g->ctx, g->m, module_sym) ? GV_INTERNAL : GV_OPEN;
}

static bool is_shared(const Sym *s) { return s->kind == SYM_VAR && s->space == SP_SHARED && is_variable(s); }

bool globalopt_has_variables(const Ctx *ctx, const Module *m)
{
    bool any = ctx->internalized;
    for (uint32_t k = 0; k < m->items.n && !any; k++)
        any = m->items.at[k].kind == ITEM_VAR && is_shared(&m->syms.at[m->items.at[k].index]);
    for (uint32_t k = 0; k < m->fns.n && !any; k++)
        for (uint32_t s = 1; m->fns.at[k] && s < m->fns.at[k]->syms.n && !any; s++)
            any = is_shared(ir_sym(m->fns.at[k], s | SYM_LOCAL));
    return any;
}

// Returns the class of a variable, and counts it for the statistics in the first round.
static GlobalClass classify(const Globals *g, const Sym *s, SymId module_sym)
{
    GlobalClass class = class_of(g, s, module_sym);
    ModuleCounters *counters = &g->ctx->module;
    if (g->first && s->kind == SYM_VAR && s->space != SP_LOCAL)
        *(class == GV_OWN        ? &counters->variables_own
          : class == GV_INTERNAL ? &counters->variables_internal
                                 : &counters->variables_open) += 1;
    return class;
}

static uint32_t add_variable(Globals *g, SymId sym, uint32_t owner, GlobalClass class)
{
    VEC_PUSH(&g->scratch, &g->at, ((Global){.sym = sym, .owner = owner, .class = class}));
    return g->at.n - 1;
}

static void add_variables_of(Globals *g, uint32_t index)
{
    const Fn *fn = g->m->fns.at[index];
    for (uint32_t k = 1; k < fn->syms.n && phase_transforms(g->ctx, fn); k++) {
        GlobalClass class = classify(g, ir_sym(fn, k | SYM_LOCAL), 0);
        if (class == GV_OPEN)
            continue;
        if (!g->of_local[index])
            g->of_local[index] = NEW_ARRAY(&g->scratch, uint32_t, fn->syms.n);
        g->of_local[index][k] = add_variable(g, k | SYM_LOCAL, index + 1, class);
    }
}

static void add_variables(Globals *g)
{
    const Module *m = g->m;
    VEC_PUSH(&g->scratch, &g->at, ((Global){0}));
    g->of_module = NEW_ARRAY(&g->scratch, uint32_t, m->syms.n);
    g->of_local = NEW_ARRAY(&g->scratch, uint32_t *, m->fns.n);
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        if (item->kind == ITEM_VAR) {
            GlobalClass class = classify(g, &m->syms.at[item->index], item->index);
            g->of_module[item->index] = class == GV_OPEN ? 0 : add_variable(g, item->index, 0, class);
        } else if (item->kind == ITEM_FN && m->fns.at[item->index]->flags & FN_DEFINED) {
            add_variables_of(g, item->index);
        }
    }
}

// Returns the index of a variable that a symbol of a function is; 0 = none.
static uint32_t variable_of(const Globals *g, uint32_t fn, SymId sym)
{
    uint32_t local = local_symbol(sym);
    if (local)
        return g->of_local[fn] ? g->of_local[fn][local] : 0;
    return g->of_module[sym];
}

/* -- References outside of code ------------------------------------------------------------------------- */

static void escape_in_data(void *user, SymId sym)
{
    Globals *g = user;
    if (g->of_module[sym])
        reject(&g->at.at[g->of_module[sym]], OB_ESCAPES);
}

static void visit_data(Globals *g)
{
    const Module *m = g->m;
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        if (item->kind == ITEM_VAR)
            init_symbols(m->syms.at[item->index].init, escape_in_data, g);
        if (item->kind == ITEM_RAW)
            raw_symbols(m, module_item_text(m, item), escape_in_data, g);
    }
}

// Marks the variables that the initial values in a function name.
static void visit_data_of(Globals *g, uint32_t index)
{
    const Fn *fn = g->m->fns.at[index];
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Init *init = ir_sym(fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            reject(&g->at.at[variable_of(g, index, init->relocs[r].sym)], OB_ESCAPES);
    }
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

static void add_access(Globals *g, uint32_t index, const MemAccess *at)
{
    Fn *fn = g->m->fns.at[index];
    Global *v = &g->at.at[variable_of(g, index, at->at->sym)];
    const Sym *s = global_sym(g, v);
    const Instr *i = ir_instr(fn, at->instr);
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    uint64_t bytes = width_bits(type_info[m->type[0]].width) / 8u * access_elements(m), first = 0, end = s->size;
    bool exact = pointer_is_exact(at->at), atomic = d->op == OP_ATOM || d->op == OP_RED;
    if (d->op == OP_PREFETCH || !bytes || i->flags & IF_PINNED || bytes > s->size) {
        reject(v, OB_ESCAPES);
        return;
    }
    if (exact && (at->at->lo < 0 || (uint64_t)at->at->lo > s->size - bytes)) {
        reject(v, OB_OUTSIDE);
        return;
    }
    if (at->at->lo > 0 && (uint64_t)at->at->lo < s->size)
        first = (uint64_t)at->at->lo;
    if (at->at->hi >= 0 && (uint64_t)at->at->hi <= s->size - bytes)
        end = (uint64_t)at->at->hi + bytes;
    GlobalAccess access = {.fn = index,
                           .instr = at->instr,
                           .first = MIN(first, end - bytes),
                           .end = end,
                           .exact = exact,
                           .ordered = d->traits & TR_ORDERED || atomic,
                           .reads = d->op != OP_ST,
                           .writes = d->op == OP_ST || atomic};
    if (exact)
        access.direct = at->space == SP_GENERIC ? desc_with_space(fn->tables, i->desc, (Space)s->space) : i->desc;
    if (access.direct && !module_takes(g->m, tab_desc(fn->tables, access.direct)->needs))
        access.direct = 0;
    v->ordered |= access.ordered;
    v->naccesses++;
    *(v->last ? &g->accesses.at[v->last].next : &v->access) = g->accesses.n;
    v->last = g->accesses.n;
    VEC_PUSH(&g->scratch, &g->accesses, access);
}

// Records the variables that an instruction names; true if there are any. A variable that is not the base of an address
// escapes.
static bool find_named(Globals *g, uint32_t index, InstrId id)
{
    const Fn *fn = g->m->fns.at[index];
    const Instr *i = ir_instr(fn, id);
    const Operand *ops = ir_ops(fn, i);
    bool any = false;
    for (uint32_t k = 0; k < i->nops; k++) {
        uint32_t at = op_kind(ops[k]) == K_SYM ? variable_of(g, index, op_index(ops[k])) : 0;
        if (!at)
            continue;
        Global *v = &g->at.at[at];
        if (k != i->ndef || ir_nuse(i) < 2)
            reject(v, OB_ESCAPES);
        *(v->last_naming ? &g->namings.at[v->last_naming].next : &v->naming) = g->namings.n;
        v->last_naming = g->namings.n;
        VEC_PUSH(&g->scratch, &g->namings, ((Naming){.fn = index, .instr = id}));
        any = true;
    }
    return any;
}

Operand constant_operand(Fn *fn, Operand o)
{
    if (!op_in_ssa(fn, o) || o.mods)
        return o;
    InstrId def = def_of(analysis_need(fn, AN_DEF), op_index(o));
    if (!def || ir_desc(fn, ir_instr(fn, def))->op != OP_MOV || ir_instr(fn, def)->flags & IF_TIED)
        return o;
    Operand from = *ir_use(fn, ir_instr(fn, def), 0);
    return op_kind(from) == K_IMM ? from : o;
}

static bool is_constant(Fn *fn, Operand o) { return op_kind(constant_operand(fn, o)) == K_IMM; }

static bool has_constant_base(Fn *fn, const Instr *i, const Desc *d)
{
    Bases bases = bases_of(fn, d);
    for (uint32_t k; next_base(&bases, &k);)
        if (is_constant(fn, ir_ops(fn, i)[k]))
            return true;
    return false;
}

// True if the result of an instruction depends on where `.shared` variables lie.
static bool shows_layout(Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    Operand first = ir_nuse(i) ? *ir_use(fn, i, 0) : op_none();
    if (op_kind(first) == K_SREG)
        return op_index(first) == SREG_TOTAL_SMEM_SIZE || op_index(first) == SREG_AGGR_SMEM_SIZE;
    bool access = d->traits & (TR_READ | TR_WRITE);
    if (!access && d->op != OP_CVTA && d->op != OP_MAPA)
        return false;
    if (!(op_info[d->op].mods >> MC_SPACE & 1))  // mbarrier, cp.async, ldmatrix, ...
        return has_constant_base(fn, i, d);
    Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
    return (space == SP_SHARED || space == SP_CLUSTER) && is_constant(fn, first);
}

// Rejects the variables that a function names, those from this naming on.
static void reject_named(Globals *g, uint32_t first, Obstacle why)
{
    for (uint32_t k = first; k < g->namings.n; k++) {
        const Fn *fn = g->m->fns.at[g->namings.at[k].fn];
        const Operand *ops = ir_ops(fn, ir_instr(fn, g->namings.at[k].instr));
        for (uint32_t n = ir_instr(fn, g->namings.at[k].instr)->nops; n-- > 0;)
            if (op_kind(ops[n]) == K_SYM)
                reject(&g->at.at[variable_of(g, g->namings.at[k].fn, op_index(ops[n]))], why);
    }
}

// Adds the accesses of a function that names variables only as the base of accesses in their space, from this naming
// on. False: it may have addresses of variables in registers.
static bool add_direct_accesses(Globals *g, uint32_t index, uint32_t first)
{
    const Fn *fn = g->m->fns.at[index];
    for (uint32_t k = first; k < g->namings.n; k++) {
        const Instr *i = ir_instr(fn, g->namings.at[k].instr);
        const Desc *d = ir_desc(fn, i);
        Operand base = ir_nuse(i) > 1 ? *ir_use(fn, i, 0) : op_none();
        bool access = d->op == OP_LD || d->op == OP_ST || d->op == OP_ATOM || d->op == OP_RED;
        if (!access || op_kind(base) != K_SYM || !variable_of(g, index, op_index(base)) ||
            mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]) != ir_sym(fn, op_index(base))->space)
            return false;
    }
    for (uint32_t k = first; k < g->namings.n; k++) {
        InstrId id = g->namings.at[k].instr;
        const Operand *use = ir_use(fn, ir_instr(fn, id), 0);
        int64_t offset = const_signed(tab_const(fn->tables, op_index(use[1])));
        Space space = (Space)ir_sym(fn, op_index(use[0]))->space;
        Pointer at = {.kind = OR_ADDRESS, .space = (uint8_t)space, .sym = op_index(use[0]), .lo = offset, .hi = offset};
        add_access(g, index, &(MemAccess){.instr = id, .space = space, .at = &at});
    }
    return true;
}

// Marks the variables whose alignment an instruction depends on: an `or` of an offset is a sum.
static void find_masked(Globals *g, uint32_t index, const Pointers *p, InstrId id)
{
    const Instr *i = ir_instr(g->m->fns.at[index], id);
    for (uint32_t k = i->ndef; k < i->nops && ir_desc(g->m->fns.at[index], i)->op == OP_OR; k++) {
        SymId sym = pointer_object(p, id, k);
        g->at.at[sym ? variable_of(g, index, sym) : 0].masked = true;
    }
}

// Returns the number of symbols that may escape in a function, those of the module first.
static uint32_t count_escaped(const Globals *g, uint32_t index, const Pointers *p)
{
    return p->module_escaped.n + (g->of_local[index] ? g->m->fns.at[index]->syms.n : 0);
}

// Returns the variable that the kth of these symbols is if it escapes; 0 = none.
static uint32_t escaped_variable(const Globals *g, uint32_t index, const Pointers *p, uint32_t k)
{
    if (k < p->module_escaped.n)
        return g->of_module[p->module_escaped.at[k]];
    uint32_t local = k - p->module_escaped.n;
    return local && p->escaped[local] ? g->of_local[index][local] : 0;
}

// True if a variable escapes in a function, or some access to one has no known offset.
static bool is_unclear(const Globals *g, uint32_t index, const Pointers *p)
{
    for (uint32_t k = 0; k < p->accesses.n; k++) {
        const Pointer *at = p->accesses.at[k].at;
        if (at->sym && !pointer_is_exact(at) && variable_of(g, index, at->sym))
            return true;
    }
    for (uint32_t k = 0; k < count_escaped(g, index, p); k++)
        if (escaped_variable(g, index, p, k))
            return true;
    return false;
}

// Unoptimized code keeps addresses and indices in `.local` variables, and so do the parameters of inlined calls. These
// variables are promoted first if that may help.
static const Pointers *find_pointers(Globals *g, uint32_t index)
{
    Fn *fn = g->m->fns.at[index];
    const Pointers *p = pointers_of(fn);
    if (!(fn->classes & IC_LOCAL) || !is_unclear(g, index, p) || !phase_subpass(g->ctx, fn, PH_PROMOTE_MEMORY))
        return p;
    g->promoted = true;
    return pointers_of(fn);
}

static void analyze(Globals *g, uint32_t index)
{
    Fn *fn = g->m->fns.at[index];
    Arena arena;
    phase_enter(g->ctx, fn, &arena);
    const Pointers *p = find_pointers(g, index);
    for (uint32_t k = 0; k < count_escaped(g, index, p); k++)
        reject(&g->at.at[escaped_variable(g, index, p, k)], OB_ESCAPES);
    for (uint32_t k = 0; k < p->accesses.n; k++)
        if (p->accesses.at[k].at->sym && variable_of(g, index, p->accesses.at[k].at->sym))
            add_access(g, index, &p->accesses.at[k]);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            find_masked(g, index, p, id);
    global_leave(g, fn, &arena);
}

void global_leave(Globals *g, Fn *fn, Arena *arena)
{
    if (g->ctx->remarks)
        remarks_drop_others(g->ctx->remarks, PH_GLOBAL_OPT);
    phase_leave(g->ctx, fn, arena);
}

static void visit_function(Globals *g, uint32_t index)
{
    Fn *fn = g->m->fns.at[index];
    uint32_t first = g->namings.n;
    bool any = false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            any |= find_named(g, index, id);
            g->shows_layout = g->shows_layout || shows_layout(fn, i);
        }
    visit_data_of(g, index);
    if (!any)
        return;
    if (!phase_transforms(g->ctx, fn))
        reject_named(g, first, OB_FUNCTION);
    else if (!add_direct_accesses(g, index, first))
        analyze(g, index);
}

// Returns the number of operands that name variables.
static uint32_t count_namings(const Globals *g)
{
    const Module *m = g->m;
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        if (!fn || !(fn->flags & FN_DEFINED))
            continue;
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id) {
                const Instr *i = ir_instr(fn, id);
                const Operand *ops = ir_ops(fn, i);
                for (uint32_t o = 0; o < i->nops; o++)
                    n += op_kind(ops[o]) == K_SYM && variable_of(g, k, op_index(ops[o]));
            }
    }
    return n;
}

void globals_find(Globals *g)
{
    const Module *m = g->m;
    add_variables(g);
    visit_data(g);
    if (g->at.n > 1) {
        uint32_t n = count_namings(g) + 1;
        VEC_RESERVE(&g->scratch, &g->accesses, n);
        VEC_RESERVE(&g->scratch, &g->namings, n);
    }
    VEC_PUSH(&g->scratch, &g->accesses, ((GlobalAccess){0}));
    VEC_PUSH(&g->scratch, &g->namings, ((Naming){0}));
    for (uint32_t k = 0; k < m->fns.n && g->at.n > 1; k++)
        if (m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED)
            visit_function(g, k);
    for (uint32_t k = 1; k < g->at.n && g->shows_layout; k++)
        if (global_sym(g, &g->at.at[k])->space == SP_SHARED)
            reject(&g->at.at[k], OB_LAYOUT);
}

void global_lose_accesses(Globals *g, Global *v)
{
    v->gone = true;
    v->access = v->last = 0;
    FOR_NAMINGS(g, v, k)
    {
        const Fn *fn = g->m->fns.at[g->namings.at[k].fn];
        Opcode op = ir_desc(fn, ir_instr(fn, g->namings.at[k].instr))->op;
        if (op != OP_ADDR && op != OP_CVTA_ADDR)
            continue;
        v->gone = false;
        g->again = g->cluttered[g->namings.at[k].fn] = true;
    }
}

/* -- Remarks -------------------------------------------------------------------------------------------- */

static void report(Globals *g, SymId sym, uint32_t owner, RemarkKind kind, const char *name, const char *text)
{
    char variable[200];
    const Global v = {.sym = sym, .owner = owner};
    remarks_start(g->ctx->remarks);
    remark(g->ctx, NULL, 0, kind, name, "{Variable:%s} %s",
           name_text(global_tables(g, &v), global_sym(g, &v)->name, variable, sizeof variable), text);
}

void global_remark(Globals *g, const Global *v, RemarkKind kind, const char *name, const char *fmt, ...)
{
    char text[400];
    if (!remarks_wanted(g->ctx))
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    report(g, v->sym, v->owner, kind, name, text);
}

void globals_report(Globals *g)
{
    static const struct {
        const char *name, *text;
    } texts[] = {
        [OB_ESCAPES] = {"AddressEscapes", "stays as it is: code that is not analyzed has its address"},
        [OB_OUTSIDE] = {"IndexUnknown", "stays as it is: an access is outside of it"},
        [OB_LAYOUT] = {"LayoutMatters", "stays as it is: some code depends on the layout of .shared"},
        [OB_FUNCTION] = {"FunctionStays", "stays as it is: a function that is kept as it is names it"},
    };
    const Module *m = g->m;
    if (!remarks_wanted(g->ctx))
        return;
    for (uint32_t k = 1; k < g->at.n; k++) {
        const Global *v = &g->at.at[k];
        if (v->obstacle)
            global_remark(g, v, RM_MISSED, texts[v->obstacle].name, "%s", texts[v->obstacle].text);
        if (v->missed)
            global_remark(g, v, RM_MISSED, v->missed, "stays as it is: %s", v->because);
    }
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        const Sym *s = item->kind == ITEM_VAR ? &m->syms.at[item->index] : NULL;
        if (s && is_variable(s) && class_of(g, s, item->index) == GV_OPEN && s->space != SP_SHARED)
            report(g, item->index, 0, RM_MISSED, "HostMayWrite",
                   "stays as it is: a host may access it, unless --internalize names it");
    }
}
