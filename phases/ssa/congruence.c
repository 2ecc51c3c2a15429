// SPDX-License-Identifier: MIT
// Computes congruence classes for leaving SSA form (Boissinot et al., "Revisiting out-of-SSA translation for
// correctness, code quality, and efficiency", 2009).
//
// Two variables interfere if one is live at the definition of the other and their values may differ. The value of a
// variable is the register or constant at the start of the chain of moves that defines it. So a register and a copy of
// it may share a register while both are live, and so may two copies of one register.
//
// A class is checked in one walk over its members in dominance order. `above` links each member to the nearest member
// that dominates it. If no two members interfere, all members that are live at a definition have the value of the
// member above it. `ancestor` links each member to the nearest dominating member of equal value that is live at its
// definition, so the check only follows this chain. If two classes are merged, the members before the first one of the
// later class keep their links, and the walk starts there. It ends as soon as no later link can change: behind the last
// member of one class, at a member with the same ancestors as before that dominates the rest, or where no member that
// is new or has other ancestors dominates the rest. So a long class, as that of a variable that many branches in
// sequence assign, is not walked again for each merge.
//
// A copy is live only at its own position. The copy of a phi's input is at the end of the predecessor, and is live
// along the edge, on which nothing is defined. The copy of a phi's result is directly after the phis, the copy of an
// old value directly before the guarded instruction. All copies at one position read before any of them writes.
//
// Documented: nothing. Inferred: all.
#include "phases/ssa/congruence.h"

#include <stdlib.h>

enum { WORK = 256, FEW = 16 };

typedef struct Member {
    VarId class, var;
    uint64_t order;  // dominance order
} Member;

static Var *var_of(const Classes *c, VarId v) { return &c->vars.at[v]; }

/* -- Interference --------------------------------------------------------------------------------------- */

// True if the register is live after a position of block b. Phis use their inputs at the ends of the predecessors,
// before the terminators.
static bool is_live_after(Classes *c, RegId r, BlockId b, uint32_t position)
{
    const Analyses *a = c->a;
    uint32_t low = a->uses.first[r], high = a->uses.first[r + 1];
    uint32_t from = MAX(position, position_of(c->phi_end[b]));
    while (low < high) {  // first use after the position
        uint32_t mid = low + (high - low) / 2;
        if (position_of(a->place[a->uses.at[mid].instr]) <= from)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < a->uses.first[r + 1] && ir_instr(c->fn, a->uses.at[low].instr)->block == b)
        return true;
    bool at_end = position >= position_before(a->place[ir_terminator(c->fn, b)]);
    return at_end ? live_check_successors(&c->live, r, b) : live_check_out(&c->live, r, b);
}

// True if `above`, whose definition dominates that of v, is live at the definition of v. Variables that are defined at
// one position are live at each other's definitions.
static bool is_live_at(Classes *c, VarId above, VarId v)
{
    const Var *x = var_of(c, above), *y = var_of(c, v);
    if (x->at == y->at && x->position == y->position)
        return true;
    return x->reg && is_live_after(c, x->reg, y->at, y->position);
}

// Returns the first variable on the chain of ancestors from `above` on that is live at the definition of v; 0 = none.
static VarId live_ancestor(Classes *c, VarId above, VarId v)
{
    while (above && !is_live_at(c, above, v))
        above = var_of(c, above)->ancestor;
    return above;
}

static uint64_t order_of(const Classes *c, VarId v)
{
    const Var *var = var_of(c, v);
    return (uint64_t)c->a->dom.pre[var->at] << 32 | var->position;
}

static bool stands_first(const Classes *c, VarId a, VarId b)
{
    uint64_t x = order_of(c, a), y = order_of(c, b);
    return x != y ? x < y : a < b;
}

// Restores the links of c->members.
static void restore_links(Classes *c)
{
    for (uint32_t k = 0; k < c->members.n; k++) {
        var_of(c, c->members.at[k])->above = c->saved.at[k].above;
        var_of(c, c->members.at[k])->ancestor = c->saved.at[k].ancestor;
    }
}

// A walk over the members of two lists from a and b on, in dominance order.
typedef struct Walk {
    VarId list[2];           // the next members, 0 = none
    VarId tail[2];           // the last members of the lists
    VarId before;            // the member of list 0 before them, 0 = none
    VarId last;              // the last member that was visited
    uint32_t side;           // its list
    uint32_t reach[2];       // by list: end of the subtrees of its visited members in preorder
    uint32_t reach_changed;  // end of the subtrees of visited members with other links or ancestors
} Walk;

static uint32_t subtree_end(const Classes *c, VarId v)
{
    BlockId b = var_of(c, v)->at;
    return c->a->dom.pre[b] + c->a->dom.size[b];
}

// True if only one list has members left, and their links stay.
static bool is_settled(const Classes *c, const Walk *w)
{
    if (w->list[0] && w->list[1])
        return false;
    uint32_t side = !w->list[0], end = MAX(w->reach_changed, w->reach[!side]);
    const Var *rest = var_of(c, w->list[side]), *last = var_of(c, w->last);
    // The members up to `before` are new to list 1.
    if (side == 0 && c->a->dom.pre[rest->at] >= end)
        return true;
    return w->last && w->side == side && last->changed != c->walks &&
           dominates(c->a, last->at, var_of(c, w->tail[side])->at);
}

// Moves to the next member, and saves its links.
static Var *take_member(Classes *c, Walk *w)
{
    VarId a = w->list[0], b = w->list[1];
    w->side = !(a && (!b || stands_first(c, a, b)));
    w->last = w->list[w->side];
    Var *var = var_of(c, w->last);
    w->list[w->side] = var->next;
    VEC_PUSH(c->arena, &c->members, w->last);
    VEC_PUSH(c->arena, &c->saved, ((Links){var->above, var->ancestor}));
    return var;
}

static void note_changes(Classes *c, Walk *w, Var *var, Links links)
{
    uint32_t end = subtree_end(c, w->last);
    bool changed = var->above != links.above || var->ancestor != links.ancestor ||
                   (var->ancestor && var_of(c, var->ancestor)->changed == c->walks);
    var->changed = changed ? c->walks : 0;
    w->reach[w->side] = MAX(w->reach[w->side], end);
    w->reach_changed = MAX(w->reach_changed, changed ? end : 0);
}

// Puts the members of the lists into c->members in dominance order, and sets their links; `whole`: all of them, else up
// to the first one whose links stay. Stops with true, and restores the links, if a member interferes with another one
// or with one up to `before`.
static bool interfere(Classes *c, Walk *w, bool whole)
{
    VarId top = w->before;
    c->members.n = c->saved.n = 0;
    c->walks++;
    while ((w->list[0] || w->list[1]) && (whole || !is_settled(c, w))) {
        Var *var = take_member(c, w);
        Links links = c->saved.at[c->saved.n - 1];
        while (top && !dominates(c->a, var_of(c, top)->at, var->at))
            top = var_of(c, top)->above;
        var->above = top;
        var->ancestor = live_ancestor(c, top, w->last);
        if (var->ancestor && var_of(c, var->ancestor)->value != var->value) {
            restore_links(c);
            return true;
        }
        note_changes(c, w, var, links);
        top = w->last;
    }
    return false;
}

/* -- Classes -------------------------------------------------------------------------------------------- */

VarId class_of(Classes *c, VarId v)
{
    Var *vars = c->vars.at;
    while (vars[v].parent != v)
        v = vars[v].parent = vars[vars[v].parent].parent;
    return v;
}

void classes_join(Classes *c, VarId a, VarId b)
{
    a = class_of(c, a);
    b = class_of(c, b);
    var_of(c, MAX(a, b))->parent = MIN(a, b);
}

// Links c->members after `before` to the list of their class, which starts with `first`, and the rest of a list after
// them: from `rest` to `tail`, 0 = none.
static void link_members(Classes *c, VarId first, VarId before, VarId rest, VarId tail)
{
    for (uint32_t k = 0; k < c->members.n; k++) {
        VarId v = c->members.at[k];
        if (before)
            var_of(c, before)->next = v;
        var_of(c, v)->prev = before;
        before = v;
    }
    var_of(c, before)->next = rest;
    if (rest)
        var_of(c, rest)->prev = before;
    var_of(c, first)->prev = rest ? tail : before;
    var_of(c, class_of(c, first))->first = first;
}

static int by_class_and_order(const void *x, const void *y)
{
    const Member *a = x, *b = y;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->var > b->var) - (a->var < b->var);
}

// Makes the list of one set; returns the index after the set.
static uint32_t next_set(Classes *c, const Member *all, uint32_t first, uint32_t n)
{
    uint32_t end = first;
    c->members.n = 0;
    for (; end < n && all[end].class == all[first].class; end++)
        VEC_PUSH(c->arena, &c->members, all[end].var);
    link_members(c, all[first].var, 0, 0, 0);
    return end;
}

static void sort_members(Member *all, uint32_t n)
{
    if (n > FEW) {
        qsort(all, n, sizeof *all, by_class_and_order);
        return;
    }
    for (uint32_t k = 1; k < n; k++) {
        Member m = all[k];
        uint32_t to = k;
        for (; to && by_class_and_order(&all[to - 1], &m) > 0; to--)
            all[to] = all[to - 1];
        all[to] = m;
    }
}

static uint32_t block_of(const Member *m) { return (uint32_t)(m->order >> 32); }

// Returns the members in rows: by class, or by block in dominance order. Each row keeps their order.
static Member *put_in_rows(Classes *c, const Member *all, uint32_t n, uint32_t rows, bool by_class)
{
    uint32_t *first = NEW_ARRAY(c->arena, uint32_t, rows + 1);
    Member *to = arena_alloc(c->arena, n * sizeof *to);
    for (uint32_t k = 0; k < n; k++)
        first[by_class ? all[k].class : block_of(&all[k])]++;
    rows_start(first, rows);
    for (uint32_t k = 0; k < n; k++)
        to[first[by_class ? all[k].class : block_of(&all[k])]++] = all[k];
    return to;
}

static bool in_one_place(const Member *x, const Member *y)
{
    return x->class == y->class && block_of(x) == block_of(y);
}

// Lists the variables by class, and by dominance order within a class. Only members in one block are compared.
static Member *list_members(Classes *c, uint32_t *n)
{
    VEC(Member) all = {0};
    VEC_RESERVE(c->arena, &all, c->vars.n);
    for (VarId v = 1; v < c->vars.n; v++) {
        if (!var_of(c, v)->at)
            continue;
        Member m = {class_of(c, v), v, order_of(c, v)};
        VEC_PUSH(c->arena, &all, m);
    }
    Member *sorted = put_in_rows(c, all.at, all.n, c->fn->blocks.n + 1, false);
    sorted = put_in_rows(c, sorted, all.n, c->vars.n, true);
    for (uint32_t k = 0, end; k < all.n; k = end) {
        for (end = k + 1; end < all.n && in_one_place(&sorted[k], &sorted[end]);)
            end++;
        sort_members(sorted + k, end - k);
    }
    *n = all.n;
    return sorted;
}

bool classes_split(Classes *c)
{
    uint32_t n;
    const Member *all = list_members(c, &n);
    bool any = false;
    for (uint32_t first = 0, end; first < n; first = end) {
        end = next_set(c, all, first, n);
        if (!interfere(c, &(Walk){.list = {all[first].var}}, true))
            continue;
        any = true;
        for (uint32_t k = first; k < end; k++) {
            Var *var = var_of(c, all[k].var);
            var->parent = var->first = var->prev = all[k].var;
            var->next = 0;
            var->apart = true;
        }
    }
    return any;
}

void classes_join_copies(Classes *c, const VarId *copies, uint32_t n)
{
    Member *all = arena_alloc(c->arena, n * sizeof *all);
    for (uint32_t k = 0; k < n; k++) {
        classes_join(c, copies[0], copies[k]);
        all[k] = (Member){0, copies[k], order_of(c, copies[k])};
    }
    sort_members(all, n);
    next_set(c, all, 0, n);
    interfere(c, &(Walk){.list = {all[0].var}}, true);
}

// Returns the last member of the list of a that stands before b, as a does. The search runs from both ends, and from
// member `near`.
static VarId last_before(Classes *c, VarId a, VarId near, VarId b)
{
    VarId low = a, high = var_of(c, a)->prev;
    bool ahead = stands_first(c, near, b);
    for (; !stands_first(c, high, b); high = var_of(c, high)->prev) {
        VarId next = var_of(c, low)->next, other = ahead ? var_of(c, near)->next : var_of(c, near)->prev;
        if (!stands_first(c, next, b))
            return low;
        if (stands_first(c, other, b) != ahead)
            return ahead ? near : other;
        low = next;
        near = other;
        c->work -= MIN(c->work, 1);
    }
    return high;
}

bool classes_merge(Classes *c, VarId x, VarId y)
{
    VarId a = class_of(c, x), b = class_of(c, y), near = x;
    if (a == b)
        return true;
    if (!c->work)
        return false;
    VarId first = var_of(c, a)->first, second = var_of(c, b)->first;
    if (stands_first(c, second, first)) {
        VarId other = first;
        first = second;
        second = other;
        near = y;
    }
    Walk w = {.tail = {var_of(c, first)->prev, var_of(c, second)->prev}, .before = last_before(c, first, near, second)};
    w.list[0] = var_of(c, w.before)->next;
    w.list[1] = second;
    bool apart = interfere(c, &w, false);
    c->work -= MIN(c->work, c->members.n);
    if (apart)
        return false;
    classes_join(c, a, b);
    VarId rest = w.list[0] ? w.list[0] : w.list[1];
    link_members(c, first, w.before, rest, w.list[0] ? w.tail[0] : w.tail[1]);
    return true;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

VarId classes_add_copy(Classes *c, BlockId at, uint32_t position, uint32_t value)
{
    VarId v = c->vars.n;
    Var var = {.at = at, .position = position, .value = value, .parent = v, .first = v, .prev = v};
    VEC_PUSH(c->arena, &c->vars, var);
    c->work += WORK;
    return v;
}

// Returns the value of a register that an instruction defines; for a move, the value of the source.
static uint32_t value_defined(const Classes *c, const Instr *i, RegId r)
{
    const Fn *fn = c->fn;
    Operand from = copy_of_move(fn, i);
    if (op_kind(from) == K_IMM)
        return value_of_constant(op_index(from));
    return op_is_reg(from) && !from.mods ? c->value[op_index(from)] : value_of_register(r);
}

// Records the values of the registers that an instruction defines.
static void record_values(Classes *c, InstrId id)
{
    const Instr *i = ir_instr(c->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(c->fn, i, k);
        if (op_is_reg(def) && reg_in_ssa(ir_reg(c->fn, op_index(def))))
            c->value[op_index(def)] = value_defined(c, i, op_index(def));
    }
}

void classes_init(Classes *c, Fn *fn, const Analyses *a, Arena *arena)
{
    *c = (Classes){.fn = fn, .a = a, .arena = arena, .nregs = fn->regs.n, .work = (uint64_t)WORK * fn->regs.n};
    c->var = NEW_ARRAY(arena, VarId, c->nregs);
    if (!a)
        return;
    live_check_init(&c->live, arena, fn, a);
    c->phi_end = NEW_ARRAY(arena, uint32_t, fn->blocks.n);
    c->value = arena_alloc(arena, c->nregs * sizeof *c->value);
    for (RegId r = 0; r < c->nregs; r++)
        c->value[r] = value_of_register(r);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->dom.order[k];
        for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next)
            c->phi_end[b] = a->place[id];
        FOR_INSTRS(fn, b, id)
            record_values(c, id);
    }
}

// Sets block and position of a variable to those of its register's definition, if that is reachable.
static void place_variable(const Classes *c, Var *var)
{
    const Analyses *a = c->a;
    if (!reg_in_ssa(ir_reg(c->fn, var->reg)) || !def_count(a, var->reg))
        return;
    InstrId id = a->defs.at[a->defs.first[var->reg]].instr;
    BlockId b = ir_instr(c->fn, id)->block;
    if (!is_reachable(a, b))
        return;
    var->at = b;
    var->position = ir_is_phi(c->fn, id) ? position_after(c->phi_end[b]) : position_of(a->place[id]);
}

void classes_make(Classes *c)
{
    uint32_t n = 1;
    for (RegId r = 1; r < c->nregs; r++)
        n += c->var[r];
    VEC_RESERVE(c->arena, &c->vars, 2 * n);  // with copies
    c->vars.at[c->vars.n++] = (Var){0};
    for (RegId r = 1; r < c->nregs; r++) {
        if (!c->var[r])
            continue;
        VarId v = c->var[r] = c->vars.n++;
        c->vars.at[v] = (Var){.parent = v, .first = v, .prev = v, .reg = r};
        if (c->a) {
            c->vars.at[v].value = c->value[r];
            place_variable(c, &c->vars.at[v]);
        }
    }
}
