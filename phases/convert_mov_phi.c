// SPDX-License-Identifier: MIT
// Takes a function out of ssa form.
//
// Slot: 73 ConvertAllMovPhiToMov. Registers that phis and tied uses join are one class, and so come back together what
// 23 took apart. A class whose members are never live at once becomes one register, without a copy: the members are
// looked at in the order of the dominator tree, and each is compared with the nearest that dominates it (Budimlic et
// al., "Fast copy coalescing and live-range identification", 2002). A constant input is written at the end of its
// predecessor and is compared there.
//
// A class with members that are live at once is put together again piece by piece (Boissinot et al., "Revisiting
// out-of-SSA translation for correctness, code quality, and efficiency", 2009): first old values and their definitions,
// then phis and their inputs, as long as the pieces are not live at once. An input that stays apart is written into the
// phi's register at the end of its predecessor, if nothing in there is live then. Otherwise the register of the inputs
// is read where the phi stood, or else one of its own, written at the end of all predecessors; nothing else knows it,
// so lost copies and swaps cannot happen (Sreedhar et al., "Translating out of static single assignment form", 1999).
// A copy of a register that a constant was moved into is one of the constant.
// Copies at the end of one block are made one by one: where a member of a piece is read there, the piece is not
// written. Undefined inputs write nothing. Pieces are compared WORK times their size at most; what is left then stays
// apart.
//
//     b0: R1 = mov.b32 1; bra b1              b0: R1 = mov.b32 1; bra b1
//     b1: R2 = mov.phi b0: R1, b1: R3    ->   b1: R1 = add.s32 R1, 1
//         R3 = add.s32 R2, 1                      @P0 bra b1 else b2
//         @P0 bra b1 else b2
//
//     b1: R2 = mov.phi b0: R1, b1: R3         b1: R2 = mov.b32 R1
//         R3 = add.s32 R2, 1             ->       R1 = add.s32 R2, 1
//     b2: st.global.b32 [R9], R2              b2: st.global.b32 [R9], R2      ; R2 is live behind R3: a lost copy
//
// Must not fire: on registers that are pinned or named elsewhere; they are in no class.
//
// Does not do: coalescing of copies that phis did not make (OriBackCopyPropagate).
// Documented: slot and name. Inferred: the rest.
#include <stdlib.h>

#include "phases/bodies.h"

enum { WORK = 64 };

// A point where a class is written: the definition of a member, or of a constant at the end of a block.
typedef struct Point {
    uint32_t class;  // its leader
    uint32_t block;  // place of the block in the dominator tree
    uint32_t place;  // of the instruction
    RegId reg;       // 0 = a constant
    BlockId at;
} Point;

typedef struct Leaving {
    Fn *fn;
    const Analyses *a;  // if the function may be not conventional
    LiveCheck live;     // the same
    Arena scratch;
    RegId nregs;        // as it was
    RegId *parent;      // by RegId: union-find
    bool *member;       // by RegId: a phi or a tied use has to do with it
    bool *apart;        // by RegId: its class had members that are live at once
    bool *isolated;     // by RegId: the phi that defines it is read out of another register
    RegId *carrier;     // by RegId: the piece of the phi's inputs that is this register, 0 = one of its own
    uint32_t *phi_end;  // by BlockId: place of its last phi, 0 = none
    VEC(Point) points;
    VEC(uint32_t) stack;
    uint32_t *piece;      // by leader of a piece: 1 + its first point, 0 = none
    VEC(uint32_t) next;   // by point: 1 + the next of its piece
    VEC(uint32_t) merge;  // points of two pieces
    uint64_t work;        // comparisons of points that may still be made
    bool bypassed;        // a constant was copied, and who had it may not be needed any more
} Leaving;

/* -- Classes -------------------------------------------------------------------------------------------- */

static RegId leader(Leaving *l, RegId r)
{
    while (l->parent[r] != r)
        r = l->parent[r] = l->parent[l->parent[r]];
    return r;
}

// The register that came first leads: it has the number that the class had before ssa form.
static void unite(Leaving *l, RegId a, RegId b)
{
    l->member[a] = l->member[b] = true;
    a = leader(l, a);
    b = leader(l, b);
    l->parent[MAX(a, b)] = MIN(a, b);
}

static bool is_constant(Operand o) { return op_kind(o) == K_IMM && op_index(o) != CONST_UNDEF; }

static void add_point(Leaving *l, RegId class, RegId reg, BlockId b, uint32_t place)
{
    Point p = {.class = class, .block = l->a->dom.pre[b], .place = place, .reg = reg, .at = b};
    VEC_PUSH(&l->scratch, &l->points, p);
}

static void join(Leaving *l, InstrId id)
{
    const Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    bool phi = ir_desc(fn, i)->op == OP_PHI;
    // With a constant alone, too: it is written while the definition may be live.
    for (uint32_t k = 1; phi && k < ir_nuse(i); k += 2) {
        Operand from = *ir_use(fn, i, k);
        unite(l, op_index(*ir_def(fn, i, 0)), op_is_reg(from) ? op_index(from) : op_index(*ir_def(fn, i, 0)));
    }
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), old = *ir_tied(fn, i, k);
        if (op_is_reg(def) && op_kind(old) != K_NONE)
            unite(l, op_index(def), op_is_reg(old) ? op_index(old) : op_index(def));
    }
}

static bool is_reachable(const Leaving *l, BlockId b) { return l->a->rpo_index[b] != UINT32_MAX; }

// Constants among the inputs of a phi, and among old values.
static void add_constants(Leaving *l, InstrId id)
{
    const Fn *fn = l->fn;
    const Instr *i = ir_instr(fn, id);
    bool phi = ir_desc(fn, i)->op == OP_PHI;
    for (uint32_t k = 0; phi && k < ir_nuse(i); k += 2) {
        BlockId from = op_index(*ir_use(fn, i, k));
        if (is_constant(*ir_use(fn, i, k + 1)) && is_reachable(l, from))
            add_point(l, leader(l, op_index(*ir_def(fn, i, 0))), 0, from, l->a->place[ir_terminator(fn, from)] - 1);
    }
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        if (is_constant(*ir_tied(fn, i, k)) && is_reachable(l, i->block))
            add_point(l, leader(l, op_index(*ir_def(fn, i, k))), 0, i->block, l->a->place[id] - 1);
}

/* -- Interference --------------------------------------------------------------------------------------- */

// Whether the register is live behind this place of the block. Phis of the block read at the ends of its predecessors.
static bool is_live_behind(Leaving *l, RegId r, BlockId b, uint32_t place)
{
    const Analyses *a = l->a;
    uint32_t low = a->uses.first[r], high = a->uses.first[r + 1];
    place = MAX(place, l->phi_end[b]);
    while (low < high) {  // the first use behind it
        uint32_t mid = low + (high - low) / 2;
        if (a->place[a->uses.at[mid].instr] <= place)
            low = mid + 1;
        else
            high = mid;
    }
    bool in_block = low < a->uses.first[r + 1] && ir_instr(l->fn, a->uses.at[low].instr)->block == b;
    return in_block || live_check_out(&l->live, r, b);
}

static int by_class_and_dominance(const void *x, const void *y)
{
    const Point *a = x, *b = y;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    // A constant is written behind what is defined there.
    uint32_t x_reg = a->reg - 1, y_reg = b->reg - 1;
    return x_reg < y_reg ? -1 : x_reg > y_reg;
}

// Definitions of one instruction, or phis of one block: two registers, even if one of them is dead.
static bool written_together(const Leaving *l, const Point *a, const Point *b)
{
    return b->reg && a->at == b->at && (a->place == b->place || b->place <= l->phi_end[b->at]);
}

// Constants for phis of several successors, at the end of one block.
static bool both_constant(const Point *a, const Point *b)
{
    return !a->reg && !b->reg && a->at == b->at && a->place == b->place;
}

// Whether registers are live at once that are defined at these points, which are in the order of the dominator tree.
// The nearest member that dominates a point is on top of the stack; one above it that does not is no more of interest.
static bool clash(Leaving *l, const uint32_t *points, uint32_t n)
{
    l->stack.n = 0;
    for (uint32_t k = 0; k < n; k++) {
        const Point *p = &l->points.at[points[k]];
        while (l->stack.n && !dominates(l->a, l->points.at[l->stack.at[l->stack.n - 1]].at, p->at))
            l->stack.n--;
        const Point *above = l->stack.n ? &l->points.at[l->stack.at[l->stack.n - 1]] : NULL;
        if (above && (is_live_behind(l, above->reg, p->at, p->place) || written_together(l, above, p)))
            return true;
        if (k && both_constant(&l->points.at[points[k - 1]], p))
            return true;
        if (p->reg)
            VEC_PUSH(&l->scratch, &l->stack, points[k]);
    }
    return false;
}

// Classes with members that are live at once fall apart into registers; returns whether there are any.
static bool take_apart(Leaving *l)
{
    bool any = false;
    if (l->points.n)
        qsort(l->points.at, l->points.n, sizeof *l->points.at, by_class_and_dominance);
    for (uint32_t first = 0, end; first < l->points.n; first = end) {
        l->merge.n = 0;
        for (end = first; end < l->points.n && l->points.at[end].class == l->points.at[first].class; end++)
            VEC_PUSH(&l->scratch, &l->merge, end);
        if (!clash(l, l->merge.at, l->merge.n))
            continue;
        any = true;
        for (uint32_t k = first; k < end; k++) {
            RegId r = l->points.at[k].reg;
            l->parent[r] = r;
            l->apart[r] = r != 0;
            l->piece[r] = k + 1;
        }
    }
    return any;
}

// Whether phis or tied uses are there to be looked at.
static bool joins(const Fn *fn, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    return ir_ntied(i) || ir_desc(fn, i)->op == OP_PHI;
}

// False: there is nothing that only ssa form has.
static bool join_classes(Leaving *l)
{
    const Fn *fn = l->fn;
    bool any = false;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            any |= joins(fn, id) || ir_desc(fn, ir_instr(fn, id))->op == OP_UNDEF;
            if (joins(fn, id))
                join(l, id);
        }
    }
    return any;
}

static void find_points(Leaving *l)
{
    const Fn *fn = l->fn;
    l->phi_end = NEW_ARRAY(&l->scratch, uint32_t, fn->blocks.n);
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first; ir_desc(fn, ir_instr(fn, id))->op == OP_PHI;
             id = ir_instr(fn, id)->next)
            l->phi_end[b] = l->a->place[id];
    for (RegId r = 1; r < l->nregs; r++) {
        if (!l->member[r] || !def_count(l->a, r))
            continue;
        InstrId def = l->a->defs.at[l->a->defs.first[r]].instr;
        if (is_reachable(l, ir_instr(fn, def)->block))
            add_point(l, leader(l, r), r, ir_instr(fn, def)->block, l->a->place[def]);
    }
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (joins(fn, id))
                add_constants(l, id);
}

/* -- Pieces --------------------------------------------------------------------------------------------- */

static bool stands_first(const Point *a, const Point *b)
{
    // A constant is written behind what is defined there.
    bool same = a->block == b->block && a->place == b->place;
    return same ? a->reg != 0 : a->block < b->block || (a->block == b->block && a->place < b->place);
}

// The points of two pieces in the order of the dominator tree.
static void merge_points(Leaving *l, uint32_t a, uint32_t b)
{
    l->merge.n = 0;
    while (a || b) {
        bool first = a && (!b || stands_first(&l->points.at[a - 1], &l->points.at[b - 1]));
        uint32_t k = first ? a : b;
        VEC_PUSH(&l->scratch, &l->merge, k - 1);
        *(first ? &a : &b) = l->next.at[k - 1];
    }
}

// Makes the points one piece, if nothing in it is live at once.
static bool put_together(Leaving *l, RegId piece, uint32_t points)
{
    if (!l->work)
        return false;
    merge_points(l, l->piece[piece], points);
    l->work -= MIN(l->work, l->merge.n);
    if (clash(l, l->merge.at, l->merge.n))
        return false;
    l->piece[piece] = l->merge.at[0] + 1;
    for (uint32_t k = 0; k < l->merge.n; k++)
        l->next.at[l->merge.at[k]] = k + 1 < l->merge.n ? l->merge.at[k + 1] + 1 : 0;
    return true;
}

static bool unite_pieces(Leaving *l, RegId a, RegId b)
{
    a = leader(l, a);
    b = leader(l, b);
    if (a == b)
        return true;
    RegId first = MIN(a, b), other = MAX(a, b);
    if (!put_together(l, first, l->piece[other]))
        return false;
    l->parent[other] = first;
    return true;
}

// Says that the register is written there, too.
static bool write_at(Leaving *l, RegId r, BlockId b, uint32_t place)
{
    add_point(l, 0, 0, b, place);
    VEC_PUSH(&l->scratch, &l->next, 0);
    if (put_together(l, leader(l, r), l->points.n))
        return true;
    l->points.n--;
    l->next.n--;
    return false;
}

// A definition and its old value, or a copy in front of it. Nothing was united with a definition yet.
static void put_tied_together(Leaving *l, InstrId id)
{
    const Instr *i = ir_instr(l->fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(l->fn, i, k), old = *ir_tied(l->fn, i, k);
        bool done = !op_is_reg(def) || !l->apart[op_index(def)] || !(op_is_reg(old) || is_constant(old));
        if (!done && !(op_is_reg(old) && unite_pieces(l, op_index(def), op_index(old))))
            write_at(l, op_index(def), i->block, l->a->place[id] - 1);
    }
}

// An input that a phi gets from this predecessor, and has to be written somewhere.
static bool is_input(const Leaving *l, BlockId from, Operand input)
{
    return is_reachable(l, from) && (op_is_reg(input) || is_constant(input));
}

static uint32_t end_of(const Leaving *l, BlockId b) { return l->a->place[ir_terminator(l->fn, b)] - 1; }

// Whether the phi's value is still read at the end of a predecessor, where it cannot be written then.
static bool is_read_at_an_end(Leaving *l, const Instr *phi)
{
    const Fn *fn = l->fn;
    RegId def = op_index(*ir_def(fn, phi, 0));
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2) {
        BlockId from = op_index(*ir_use(fn, phi, k));
        Operand input = *ir_use(fn, phi, k + 1);
        bool itself = op_is_reg(input) && op_index(input) == def;
        if (is_input(l, from, input) && !itself && is_live_behind(l, def, from, end_of(l, from)))
            return true;
    }
    return false;
}

// Makes the inputs one piece with this register, or has them written into it; false: not all of them.
static bool put_inputs_together(Leaving *l, const Instr *phi, RegId with)
{
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2) {
        BlockId from = op_index(*ir_use(l->fn, phi, k));
        Operand input = *ir_use(l->fn, phi, k + 1);
        if (is_input(l, from, input) && !(op_is_reg(input) && unite_pieces(l, with, op_index(input))) &&
            !write_at(l, with, from, end_of(l, from)))
            return false;
    }
    return true;
}

static RegId first_input(const Leaving *l, const Instr *phi)
{
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2) {
        Operand input = *ir_use(l->fn, phi, k + 1);
        if (is_input(l, op_index(*ir_use(l->fn, phi, k)), input) && op_is_reg(input) && l->apart[op_index(input)])
            return op_index(input);
    }
    return 0;
}

// Where the phi's own register cannot be written, that of its inputs may carry them to where the phi stands, if nothing
// in it is live behind that place: neither the phi's value, nor that of another one of this block.
static void put_phi_together(Leaving *l, InstrId id)
{
    const Instr *i = ir_instr(l->fn, id);
    RegId def = op_index(*ir_def(l->fn, i, 0)), input;
    if (!l->apart[def])
        return;
    bool dead = !is_live_behind(l, def, i->block, l->phi_end[i->block]);
    if (!dead && !is_read_at_an_end(l, i)) {
        l->isolated[def] = !put_inputs_together(l, i, def);
        return;
    }
    // One that is dead is in nobody's way.
    l->isolated[def] = true;
    input = dead ? 0 : first_input(l, i);
    if (input && put_inputs_together(l, i, input) && write_at(l, input, i->block, l->phi_end[i->block]))
        l->carrier[def] = input;
}

static void put_pieces_together(Leaving *l)
{
    const Fn *fn = l->fn;
    for (uint32_t k = 0; k < l->points.n; k++)
        VEC_PUSH(&l->scratch, &l->next, 0);
    l->work = WORK * (uint64_t)l->points.n;
    for (uint32_t k = 0; k < l->a->nrpo; k++)
        FOR_INSTRS(fn, l->a->dom.order[k], id)
            put_tied_together(l, id);
    for (uint32_t k = 0; k < l->a->nrpo; k++)
        for (InstrId id = ir_block(fn, l->a->dom.order[k])->first; ir_desc(fn, ir_instr(fn, id))->op == OP_PHI;
             id = ir_instr(fn, id)->next)
            put_phi_together(l, id);
}

/* -- Copies --------------------------------------------------------------------------------------------- */

// The constant that a register is a copy of; otherwise the register.
static Operand source_of(const Leaving *l, Operand from)
{
    if (!op_is_reg(from) || !l->a || op_index(from) >= l->nregs || !def_count(l->a, op_index(from)))
        return from;
    const Instr *i = ir_instr(l->fn, l->a->defs.at[l->a->defs.first[op_index(from)]].instr);
    bool copies = i->block && ir_desc(l->fn, i)->op == OP_MOV && !ir_guarded(i) && !(i->flags & IF_PINNED);
    return copies && is_constant(*ir_use(l->fn, i, 0)) ? *ir_use(l->fn, i, 0) : from;
}

// What a register is called from now on.
static RegId final_name(Leaving *l, RegId r) { return r < l->nregs ? leader(l, r) : r; }

static Operand renamed(Leaving *l, Operand o) { return op_is_reg(o) ? op_reg(l->fn, final_name(l, op_index(o))) : o; }

static void insert_copy(Leaving *l, InstrId before, RegId to, Operand from)
{
    Operand now = renamed(l, from);
    if (op_is_reg(now) && op_index(now) == to)
        return;
    from = source_of(l, from);
    l->bypassed |= op_kind(from) == K_IMM;
    insert_move(l->fn, before, to, op_is_reg(from) ? now : from);
}

// A register of its own is read where the phi stands, so in front of what is written at the end of this block.
static void leave_phi(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    Instr *i = ir_instr(fn, id);
    RegId def = op_index(*ir_def(fn, i, 0));
    RegId to = leader(l, l->carrier[def] ? l->carrier[def] : def);
    if (l->isolated[def] && !l->carrier[def])
        to = reg_like(fn, def);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand from = *ir_use(fn, i, k + 1);
        if (op_is_reg(from) || is_constant(from))
            insert_copy(l, ir_terminator(fn, op_index(*ir_use(fn, i, k))), to, from);
    }
    if (to != leader(l, def))
        insert_move(fn, id, leader(l, def), op_reg(fn, to));
    ir_remove(fn, id);
}

// Old values: of the same register, or written in front of the instruction.
static void leave_tied(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), old = *ir_tied(fn, i, k);
        if (op_is_reg(old) || is_constant(old))
            insert_copy(l, id, final_name(l, op_index(def)), old);
    }
    uint32_t ntied = ir_ntied(i);
    Operand *ops = ir_ops(fn, i);
    ops[i->nops - 1 - ntied] = ops[i->nops - 1];  // the guard
    i->nops -= ntied;
    i->flags &= (uint8_t)~IF_TIED;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static void rename_operands(Leaving *l, const Instr *i)
{
    Operand *ops = ir_ops(l->fn, i);
    for (uint32_t k = 0; k < i->nops; k++)
        if (op_is_reg(ops[k]))
            ops[k].word = (ops[k].word & ~(uint32_t)INDEX_MAX) | final_name(l, op_index(ops[k]));
}

// Undefined values need no instruction; moves within a class do nothing.
static void leave_block(Leaving *l, BlockId b)
{
    Fn *fn = l->fn;
    for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
        Instr *i = ir_instr(fn, id);
        Opcode op = ir_desc(fn, i)->op;
        next = instr_behind(fn, id);
        if (op == OP_PHI) {
            leave_phi(l, id);
            continue;
        }
        if (ir_ntied(i))
            leave_tied(l, id);
        rename_operands(l, i);
        if (op == OP_UNDEF || is_self_move(fn, i))
            ir_remove(fn, id);
    }
}

// What was declared with several types has none: any is in order where the others stood.
static void forget_types(Leaving *l)
{
    for (RegId r = 1; r < l->nregs; r++)
        if (ir_reg(l->fn, leader(l, r))->type != ir_reg(l->fn, r)->type)
            ir_reg(l->fn, leader(l, r))->type = TY_NONE;
}

static void leave(Leaving *l, bool conventional)
{
    Fn *fn = l->fn;
    if (!conventional) {
        l->a = analysis_need(fn, AN_RPO | AN_DOM | AN_LOOPS | AN_DEFUSE);
        live_check_init(&l->live, &l->scratch, fn, l->a);
        find_points(l);
        if (take_apart(l))
            put_pieces_together(l);
        forget_types(l);
    }
    FOR_BLOCKS(fn, b)
        leave_block(l, b);
}

bool phase_convert_mov_phi(Ctx *ctx, Fn *fn)
{
    if (fn->form != FORM_SSA)
        return false;
    Leaving l = {.fn = fn, .nregs = fn->regs.n};
    arena_init(&l.scratch, &ctx->heap);
    l.parent = arena_alloc(&l.scratch, l.nregs * sizeof *l.parent);
    for (RegId r = 0; r < l.nregs; r++)
        l.parent[r] = r;
    l.member = NEW_ARRAY(&l.scratch, bool, l.nregs);
    l.apart = NEW_ARRAY(&l.scratch, bool, l.nregs);
    l.isolated = NEW_ARRAY(&l.scratch, bool, l.nregs);
    l.carrier = NEW_ARRAY(&l.scratch, RegId, l.nregs);
    l.piece = NEW_ARRAY(&l.scratch, uint32_t, l.nregs);
    bool conventional = fn->conventional == fn->version;
    if (join_classes(&l)) {
        leave(&l, conventional && !ctx->options.contracts);
        fn->without_self_moves = fn->version + 1;
    }
    bool bypassed = l.bypassed;
    arena_free(&l.scratch);
    fn->form = FORM_MULTI;
    // What was needed is needed still, and nothing was added that is not.
    if (fn->without_dead == fn->version && !bypassed)
        fn->without_dead++;
    // What was one register is one again, without a move.
    if (fn->without_redundant == fn->version && conventional)
        fn->without_redundant++;
    return true;
}
