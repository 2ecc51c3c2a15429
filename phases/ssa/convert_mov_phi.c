// SPDX-License-Identifier: MIT
// Takes a function out of SSA form.
//
// Slot: 73 ConvertAllMovPhiToMov. A phi becomes a copy of each input at the end of its predecessor, and a copy of the
// result after the phis. A tied use becomes a copy before its guarded instruction. All copies at one place are
// parallel. Most copies are removed because source and destination share a register (congruence.h).
//
// First, the registers that phis and tied uses connect form sets. If no members of a set interfere, as after phase 23
// split a register, its members share one register. Each member of any other set starts in its own class, and the
// copies of each phi form a class. Then the classes of source and destination of each copy are merged unless members
// would interfere. Copies in deep loops come first; at equal depth copies of tied uses, then copies of phis, in
// dominance order.
//
// The copies that remain are sequenced (parallel_copy.h). A copy of a register that holds a constant copies the
// constant. Undefined inputs need no copy.
//
//     b0: R1 = mov.b32 1; bra b1              b0: R1 = mov.b32 1; bra b1
//     b1: R2 = mov.phi b0: R1, b1: R3    ->   b1: R1 = add.s32 R1, 1
//         R3 = add.s32 R2, 1                      @P0 bra b1 else b2
//         @P0 bra b1 else b2
//
//     b1: R2 = mov.phi b0: R1, b1: R3         b1: R2 = mov.b32 R1
//         R3 = add.s32 R2, 1             ->       R1 = add.s32 R2, 1
//     b2: st.global.b32 [R9], R2              b2: st.global.b32 [R9], R2      ; R2 is live after R3 (lost copy)
//
// Must not fire: on registers that are pinned or named elsewhere. These are in no class.
//
// Does not do: coalescing of moves that neither phis nor tied uses made (OriBackCopyPropagate).
// Documented: slot and name. Inferred: the rest.
#include <stdlib.h>

#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/ssa/congruence.h"
#include "phases/ssa/parallel_copy.h"

// A copy whose source and destination may share one register.
typedef struct Affinity {
    VarId to, from;
    uint32_t depth;  // of the loop that the copy is in
} Affinity;

// A copy of a phi's input, at the end of a block.
typedef struct EndCopy {
    BlockId at;
    RegId to;
    Operand from;
    uint64_t order;
    uint32_t index;  // among the copies of the block
} EndCopy;

typedef struct OrderedPhi {
    InstrId id;
    uint32_t place;       // among the phis of the block
    uint64_t use, input;  // keys of the order
} OrderedPhi;

typedef struct Leaving {
    Fn *fn;
    const Analyses *a;  // NULL: the function is conventional, and the members of each set share a register
    Arena scratch;
    Classes classes;
    VEC(InstrId) joins;  // phis and instructions with tied uses, in layout order
    VarId *copies;       // by VarId of a definition by a phi or under a guard whose set interferes: its first copy
    uint32_t *turn;      // by VarId of a definition by a phi: its place among those of the block, in by_use() order
    VEC(Affinity) affinities;
    VEC(EndCopy) end_copies;
    VEC(VarId) web;
    VEC(OrderedPhi) phis;  // of the current block
    ParallelCopy parallel;
    uint32_t *rank;   // by RegId: order of first appearance, 0 = none yet; NULL if no block has several copies
    uint32_t *named;  // by RegId: the same for the function without copies at the ends of blocks
    uint32_t nranks;
    bool bypassed;  // a constant was copied in place of its register, which may be dead now
} Leaving;

static bool may_run(const Leaving *l, BlockId b) { return !l->a || is_reachable(l->a, b); }

/* -- Sets ----------------------------------------------------------------------------------------------- */

// True if the source needs a copy: it is a register or a constant, and not `undef`.
static bool is_copied(Operand from) { return op_is_reg(from) || op_is_const(from); }

static uint32_t value_of_source(const Leaving *l, Operand from)
{
    return op_is_reg(from) ? l->classes.value[op_index(from)] : value_of_constant(op_index(from));
}

// True if the two registers have the same file and width.
static bool same_shape(const Fn *fn, Operand a, Operand b)
{
    const Reg *x = ir_reg(fn, op_index(a)), *y = ir_reg(fn, op_index(b));
    return x->file == y->file && x->width == y->width;
}

static uint32_t end_of(const Leaving *l, BlockId b) { return position_before(l->a->place[ir_terminator(l->fn, b)]); }

// Joins a definition with the source that is copied into it at a position of block `at`. A source register of the same
// shape joins the set, since it is live at the position; for any other source a copy joins the set.
static void join_source(Leaving *l, Operand def, Operand from, BlockId at, uint32_t position)
{
    Classes *c = &l->classes;
    VarId v = c->var[op_index(def)];
    if (op_is_reg(from) && same_shape(l->fn, def, from))
        classes_join(c, v, c->var[op_index(from)]);
    else if (is_copied(from) && l->a && may_run(l, at))
        classes_join(c, v, classes_add_copy(c, at, position, value_of_source(l, from)));
}

static void join_operands(Leaving *l, InstrId id)
{
    const Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; ir_desc(fn, i)->op == OP_PHI && k < ir_nuse(i); k += 2) {
        BlockId from = op_index(*ir_use(fn, i, k));
        join_source(l, *ir_def(fn, i, 0), *ir_use(fn, i, k + 1), from, l->a ? end_of(l, from) - 1 : 0);
    }
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        if (op_is_reg(*ir_def(fn, i, k)))
            join_source(l, *ir_def(fn, i, k), *ir_tied(fn, i, k), i->block,
                        l->a ? position_before(l->a->place[id]) : 0);
}

static void mark_sources(Leaving *l, Operand def, Operand from)
{
    classes_mark(&l->classes, op_index(def));
    if (op_is_reg(from) && same_shape(l->fn, def, from))
        classes_mark(&l->classes, op_index(from));
}

// Lists the phis and the instructions with tied uses, and makes variables of the registers that these connect.
static void make_variables(Leaving *l)
{
    const Fn *fn = l->fn;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool phi = ir_desc(fn, i)->op == OP_PHI;
            if (!phi && !ir_ntied(i))
                continue;
            VEC_PUSH(&l->scratch, &l->joins, id);
            if (phi)
                classes_mark(&l->classes, op_index(*ir_def(fn, i, 0)));
            for (uint32_t k = 0; phi && k < ir_nuse(i); k += 2)
                mark_sources(l, *ir_def(fn, i, 0), *ir_use(fn, i, k + 1));
            for (uint32_t k = 0; k < ir_ntied(i); k++)
                if (op_is_reg(*ir_def(fn, i, k)))
                    mark_sources(l, *ir_def(fn, i, k), *ir_tied(fn, i, k));
        }
    }
    classes_make(&l->classes);
}

/* -- Merging -------------------------------------------------------------------------------------------- */

static void add_affinity(Leaving *l, VarId to, Operand def, Operand from, BlockId b)
{
    if (!op_is_reg(from) || !same_shape(l->fn, def, from))
        return;
    Affinity f = {to, l->classes.var[op_index(from)], loop_depth(l->a, b)};
    VEC_PUSH(&l->scratch, &l->affinities, f);
}

// Adds a copy of the old value for each definition whose set interferes, in the class of the definition.
static void add_tied_copies(Leaving *l, InstrId id)
{
    const Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), old = *ir_tied(fn, i, k);
        VarId v = op_is_reg(def) ? l->classes.var[op_index(def)] : 0;
        if (!l->classes.vars.at[v].apart || !is_copied(old))
            continue;
        VarId copy = classes_add_copy(&l->classes, i->block, position_before(l->a->place[id]), value_of_source(l, old));
        classes_join_copies(&l->classes, (VarId[]){copy, v}, 2);
        l->copies[v] = copy;
        add_affinity(l, copy, def, old, i->block);
    }
}

// Adds copies of the result and the inputs of a phi whose set interferes. These copies form one class.
static void add_phi_copies(Leaving *l, InstrId id)
{
    const Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    Classes *c = &l->classes;
    Operand def = *ir_def(fn, i, 0);
    VarId v = c->var[op_index(def)];
    if (!c->vars.at[v].apart)
        return;
    uint32_t value = value_of_register(op_index(def));
    VarId result = classes_add_copy(c, i->block, position_before(c->phi_end[i->block]), value);
    l->copies[v] = result;
    add_affinity(l, result, def, def, i->block);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        BlockId from = op_index(*ir_use(fn, i, k));
        Operand input = *ir_use(fn, i, k + 1);
        if (is_copied(input) && may_run(l, from))
            add_affinity(l, classes_add_copy(c, from, end_of(l, from), value_of_source(l, input)), def, input, from);
    }
    l->web.n = 0;
    for (VarId copy = result; copy < c->vars.n; copy++)
        VEC_PUSH(&l->scratch, &l->web, copy);
    classes_join_copies(c, l->web.at, l->web.n);
}

static int by_use(const void *x, const void *y)
{
    const OrderedPhi *a = x, *b = y;
    if (a->use != b->use)
        return a->use < b->use ? -1 : 1;
    if (a->input != b->input)
        return a->input < b->input ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

// Returns a key of the first use of a register, in layout order, that is no input of a phi.
static uint64_t first_use(const Leaving *l, RegId r)
{
    FOR_USES(l->a, r, u)
        if (!ir_is_phi(l->fn, u->instr))
            return (uint64_t)l->a->place[u->instr] << 32 | u->op;
    return UINT64_MAX;
}

// Returns a key of the first input of a phi that is a constant or not defined by a phi.
static uint64_t first_input(const Leaving *l, const Instr *i)
{
    const Analyses *a = l->a;
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand o = *ir_use(l->fn, i, k + 1);
        if (op_is_const(o))
            return (uint64_t)k << 32;
        InstrId def = op_is_reg(o) && def_count(a, op_index(o)) ? a->defs.at[a->defs.first[op_index(o)]].instr : 0;
        if (def && !ir_is_phi(l->fn, def))
            return (uint64_t)k << 32 | a->place[def];
    }
    return UINT64_MAX;
}

// Adds the copies of the phis of a block, in an order that does not depend on the numbers of registers.
static void add_copies_of_block(Leaving *l, BlockId b)
{
    const Fn *fn = l->fn;
    l->phis.n = 0;
    for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        OrderedPhi phi = {id, l->phis.n, first_use(l, op_index(*ir_def(fn, i, 0))), first_input(l, i)};
        VEC_PUSH(&l->scratch, &l->phis, phi);
    }
    if (l->phis.n > 1)
        qsort(l->phis.at, l->phis.n, sizeof *l->phis.at, by_use);
    for (uint32_t k = 0; k < l->phis.n; k++) {
        l->turn[l->classes.var[op_index(*ir_def(fn, ir_instr(fn, l->phis.at[k].id), 0))]] = k;
        add_phi_copies(l, l->phis.at[k].id);
    }
}

// Merges the classes of each copy in the deepest loops first; earlier copies first where depths are equal.
static void merge_by_depth(Leaving *l)
{
    uint32_t n = l->affinities.n, deepest = 0;
    for (uint32_t k = 0; k < n; k++)
        deepest = MAX(deepest, l->affinities.at[k].depth);
    uint32_t *first = NEW_ARRAY(&l->scratch, uint32_t, deepest + 2);
    const Affinity **sorted = arena_alloc(&l->scratch, (n + 1) * sizeof *sorted);
    for (uint32_t k = 0; k < n; k++)
        first[deepest - l->affinities.at[k].depth]++;
    rows_start(first, deepest + 1);
    for (uint32_t k = 0; k < n; k++)
        sorted[first[deepest - l->affinities.at[k].depth]++] = &l->affinities.at[k];
    for (uint32_t k = 0; k < n; k++)
        classes_merge(&l->classes, sorted[k]->to, sorted[k]->from);
}

static void merge_classes(Leaving *l)
{
    const Fn *fn = l->fn;
    l->copies = NEW_ARRAY(&l->scratch, VarId, l->classes.vars.n);
    l->turn = NEW_ARRAY(&l->scratch, uint32_t, l->classes.vars.n);
    for (uint32_t k = 0; k < l->a->nrpo; k++)
        FOR_INSTRS(fn, l->a->dom.order[k], id)
            add_tied_copies(l, id);
    for (uint32_t k = 0; k < l->a->nrpo; k++)
        add_copies_of_block(l, l->a->dom.order[k]);
    merge_by_depth(l);
}

/* -- Copies --------------------------------------------------------------------------------------------- */

// Returns the register of a variable; for a class of copies only, a new register like `def`.
static RegId name_of_var(Leaving *l, VarId v, RegId def)
{
    Var *var = &l->classes.vars.at[class_of(&l->classes, v)];
    if (!var->reg)
        var->reg = reg_like(l->fn, def);
    return var->reg;
}

// Returns the register that replaces a register.
static RegId name_of(Leaving *l, RegId r)
{
    VarId v = l->classes.var[r];
    return v ? name_of_var(l, v, r) : r;
}

// Returns the operand to copy into register `to` for the value of `from`: the constant if the value is a constant.
static Operand source_for(Leaving *l, RegId to, Operand from)
{
    if (!op_is_reg(from))
        return from;
    RegId name = name_of(l, op_index(from));
    uint32_t value = l->a ? value_of_source(l, from) : 0;
    if (name == to || value < value_of_constant(0))
        return op_reg(l->fn, name);
    l->bypassed = true;
    return op_imm((ConstId)(value - value_of_constant(0)));
}

static void leave_phi(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    RegId def = op_index(*ir_def(fn, i, 0));
    VarId v = l->classes.var[def], copy = l->copies && l->copies[v] ? l->copies[v] : v;
    RegId to = name_of_var(l, copy, def);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        EndCopy end = {.at = op_index(*ir_use(fn, i, k)), .to = to, .from = *ir_use(fn, i, k + 1)};
        if (is_copied(end.from) && may_run(l, end.at))
            VEC_PUSH(&l->scratch, &l->end_copies, end);
    }
    parallel_copy_add(&l->parallel, name_of(l, def), op_reg(fn, to));
    ir_remove(fn, id);
}

static void leave_tied(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), old = *ir_tied(fn, i, k);
        if (!op_is_reg(def) || !is_copied(old))
            continue;
        RegId to = name_of(l, op_index(def));
        parallel_copy_add(&l->parallel, to, source_for(l, to, old));
    }
    parallel_copy_insert(&l->parallel, id);
    uint32_t ntied = ir_ntied(i);
    Operand *ops = ir_ops(fn, i);
    ops[ir_guard_index(i) - ntied] = ops[ir_guard_index(i)];  // the guard
    i->nops -= ntied;
    i->flags &= (uint8_t)~IF_TIED;
}

static inline void number_operand(Operand o, uint32_t *numbers, RegId nregs, uint32_t *n)
{
    if (op_is_reg(o) && op_index(o) < nregs && !numbers[op_index(o)])
        numbers[op_index(o)] = ++*n;
}

// Numbers the registers below nregs that an instruction names and no earlier one does, in the order of the output,
// which begins with the guard.
static void number_operands(const Fn *fn, const Instr *i, uint32_t *numbers, RegId nregs, uint32_t *n)
{
    const Operand *ops = ir_ops(fn, i);
    if (ir_guarded(i))
        number_operand(ops[ir_guard_index(i)], numbers, nregs, n);
    for (uint32_t k = 0; k < i->nops; k++)
        number_operand(ops[k], numbers, nregs, n);
}

static void rank_operands(Leaving *l, const Instr *i)
{
    if (l->rank)
        number_operands(l->fn, i, l->rank, l->parallel.nregs, &l->nranks);
}

// Numbers all registers, before blocks have copies at their ends.
static void find_named(Leaving *l)
{
    const Fn *fn = l->fn;
    uint32_t n = 0;
    l->named = NEW_ARRAY(&l->scratch, uint32_t, fn->regs.n);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            number_operands(fn, ir_instr(fn, id), l->named, fn->regs.n, &n);
}

// Returns the sort key of a copy at the end of a block: the number that its register will have in the final output, or
// for a register that the copy names first, where the function names it next. So the output depends neither on the
// numbers of registers in the input nor on the order of phis.
static uint64_t order_of_copy(const Leaving *l, RegId to)
{
    uint32_t rank = to < l->parallel.nregs ? l->rank[to] : 0, next = l->named[to] ? l->named[to] : UINT32_MAX;
    return rank ? rank : ((uint64_t)ir_reg(l->fn, to)->width + 1) << 32 | next;
}

static int by_order(const void *x, const void *y)
{
    const EndCopy *a = x, *b = y;
    return a->order != b->order ? (a->order > b->order) - (a->order < b->order)
                                : (a->index > b->index) - (a->index < b->index);
}

static void insert_copies_of_block(Leaving *l, InstrId terminator, EndCopy *copies, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        copies[k].order = l->rank ? order_of_copy(l, copies[k].to) : 0;
        copies[k].index = k;
    }
    qsort(copies, n, sizeof *copies, by_order);
    InstrId before = ir_instr(l->fn, terminator)->prev;
    for (uint32_t k = 0; k < n; k++)
        parallel_copy_add(&l->parallel, copies[k].to, source_for(l, copies[k].to, copies[k].from));
    parallel_copy_insert(&l->parallel, terminator);
    InstrId id = before ? ir_instr(l->fn, before)->next : ir_block(l->fn, ir_instr(l->fn, terminator)->block)->first;
    for (; id != terminator; id = ir_instr(l->fn, id)->next)
        rank_operands(l, ir_instr(l->fn, id));
}

// Inserts the copies of inputs of phis at the ends of blocks.
static void insert_end_copies(Leaving *l)
{
    Fn *fn = l->fn;
    uint32_t *first = NEW_ARRAY(&l->scratch, uint32_t, fn->blocks.n + 1);
    EndCopy *sorted = arena_alloc(&l->scratch, (l->end_copies.n + 1) * sizeof *sorted);
    bool ordered = false;  // some block has several copies
    for (uint32_t k = 0; k < l->end_copies.n; k++)
        ordered |= first[l->end_copies.at[k].at]++ > 0;
    if (ordered) {
        l->rank = NEW_ARRAY(&l->scratch, uint32_t, l->parallel.nregs);
        find_named(l);
    }
    rows_start(first, fn->blocks.n);
    for (uint32_t k = 0; k < l->end_copies.n; k++)
        sorted[first[l->end_copies.at[k].at]++] = l->end_copies.at[k];
    rows_restore(first, fn->blocks.n);
    FOR_BLOCKS(fn, b) {
        InstrId end = first[b] < first[b + 1] ? ir_terminator(fn, b) : 0;
        FOR_INSTRS(fn, b, id) {
            if (id == end)
                insert_copies_of_block(l, end, sorted + first[b], first[b + 1] - first[b]);
            rank_operands(l, ir_instr(fn, id));
        }
    }
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static void rename_operands(Leaving *l, const Instr *i)
{
    Operand *ops = ir_ops(l->fn, i);
    for (uint32_t k = 0; k < i->nops; k++)
        if (op_is_reg(ops[k]) && op_index(ops[k]) < l->classes.nregs)
            ops[k].word = (ops[k].word & ~(uint32_t)INDEX_MAX) | name_of(l, op_index(ops[k]));
}

// Replaces phis and tied uses by copies, and renames operands. Removes `mov.undef`, which needs no instruction, and
// moves within a class.
static void leave_block(Leaving *l, BlockId b)
{
    Fn *fn = l->fn;
    InstrId id = ir_block(fn, b)->first;
    l->phis.n = 0;
    for (; ir_is_phi(fn, id); id = ir_instr(fn, id)->next) {
        VarId v = l->classes.var[op_index(*ir_def(fn, ir_instr(fn, id), 0))];
        VEC_PUSH(&l->scratch, &l->phis, ((OrderedPhi){id, l->phis.n, l->turn ? l->turn[v] : 0, 0}));
    }
    if (l->turn && l->phis.n > 1)
        qsort(l->phis.at, l->phis.n, sizeof *l->phis.at, by_use);
    for (uint32_t k = 0; k < l->phis.n; k++)
        leave_phi(l, l->phis.at[k].id);
    parallel_copy_insert(&l->parallel, id);
    for (InstrId next; id; id = next) {
        Instr *i = ir_instr(fn, id);
        next = instr_after(fn, id);
        if (ir_ntied(i))
            leave_tied(l, id);
        rename_operands(l, i);
        if (ir_desc(fn, i)->op == OP_UNDEF || is_self_move(fn, i))
            ir_remove(fn, id);
    }
}

// True if the function has phis, tied uses or `mov.undef`.
static bool has_ssa(const Fn *fn)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_ntied(i) || ir_desc(fn, i)->op == OP_PHI || ir_desc(fn, i)->op == OP_UNDEF)
                return true;
        }
    }
    return false;
}

static void leave_ssa(Leaving *l, bool conventional)
{
    Fn *fn = l->fn;
    analysis_drop(fn, ~(uint32_t)AN_DEF);  // not read here, and dropped afterwards
    if (!conventional)
        l->a = analysis_need(fn, AN_RPO | AN_DOM | AN_LOOPS | AN_DEFUSE);
    classes_init(&l->classes, fn, l->a, &l->scratch);
    make_variables(l);
    for (uint32_t k = 0; k < l->joins.n; k++)
        join_operands(l, l->joins.at[k]);
    if (!conventional && classes_split(&l->classes))
        merge_classes(l);
    analysis_drop(fn, ~(uint32_t)AN_DEFUSE);
    parallel_copy_init(&l->parallel, fn, &l->scratch);
    FOR_BLOCKS(fn, b)
        leave_block(l, b);
    if (l->end_copies.n)
        insert_end_copies(l);
}

bool phase_convert_mov_phi(Ctx *ctx, Fn *fn)
{
    if (fn->form != FORM_SSA)
        return false;
    Leaving l = {.fn = fn};
    bool conventional = fn->properties & PROP_CONVENTIONAL;
    arena_init(&l.scratch, &ctx->heap);
    if (has_ssa(fn)) {
        leave_ssa(&l, conventional && !ctx->options.contracts);
        phase_gains(ctx, PROP_NO_SELF_MOVE);
    }
    bool bypassed = l.bypassed;
    arena_free(&l.scratch);
    fn->form = FORM_MULTI;
    if (!bypassed)
        phase_keeps(ctx, PROP_NO_DEAD);
    // In a conventional function each set shares one register, so no moves are added.
    if (conventional)
        phase_keeps(ctx, PROP_NO_REDUNDANT_MOVE);
    return true;
}
