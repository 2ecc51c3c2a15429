// SPDX-License-Identifier: MIT
// Takes a function out of ssa form.
//
// Slot: 73 ConvertAllMovPhiToMov. Registers that phis and tied uses join are one class, and so come back together what
// 23 took apart. A class whose members are never live at once becomes one register, without a copy: the members are
// looked at in the order of the dominator tree, and each is compared with the nearest that dominates it (Budimlic et
// al., "Fast copy coalescing and live-range identification", 2002). A constant input is written at the end of its
// predecessor and is compared there. A class with members that are live at once keeps its registers, and each of its
// phis gets a register of its own, written at the end of the predecessors and read where the phi stood; nothing else
// knows it, so lost copies and swaps cannot happen (Sreedhar et al., "Translating out of static single assignment
// form", 1999). Undefined inputs write nothing.
//
//     b0: R1 = mov.b32 1; bra b1              b0: R1 = mov.b32 1; bra b1
//     b1: R2 = mov.phi b0: R1, b1: R3    ->   b1: R1 = add.s32 R1, 1
//         R3 = add.s32 R2, 1                      @P0 bra b1 else b2
//         @P0 bra b1 else b2
//
//     b1: R2 = mov.phi b0: R1, b1: R3         b1: R2 = mov.b32 R4
//         R3 = add.s32 R2, 1             ->       R3 = add.s32 R2, 1; R4 = mov.b32 R3
//     b2: st.global.b32 [R9], R2              b2: st.global.b32 [R9], R2      ; R2 is live behind R3: a lost copy
//
// Must not fire: on registers that are pinned or named elsewhere; they are in no class.
//
// Does not do: coalescing of copies that phis did not make (OriBackCopyPropagate).
// Documented: slot and name. Inferred: the rest.
#include <stdlib.h>

#include "phases/bodies.h"

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
    Arena scratch;
    RegId nregs;        // as it was
    RegId *parent;      // by RegId: union-find
    bool *member;       // by RegId: a phi or a tied use has to do with it
    bool *clash;        // by leader: members are live at once
    uint32_t *phi_end;  // by BlockId: place of its last phi, 0 = none
    VEC(Point) points;
    VEC(uint32_t) stack;
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
static bool is_live_behind(const Leaving *l, RegId r, BlockId b, uint32_t place)
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
    return in_block || is_live_out(a, b, r);
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
    return !a->reg && !b->reg && a->class == b->class && a->at == b->at && a->place == b->place;
}

// The nearest member that dominates a point is on top of the stack; one above it that does not is no more of interest.
static void find_clashes(Leaving *l)
{
    if (l->points.n)
        qsort(l->points.at, l->points.n, sizeof *l->points.at, by_class_and_dominance);
    uint32_t class = 0;
    for (uint32_t k = 0; k < l->points.n; k++) {
        const Point *p = &l->points.at[k];
        if (p->class != class)
            l->stack.n = 0;
        class = p->class;
        while (l->stack.n && !dominates(l->a, l->points.at[l->stack.at[l->stack.n - 1]].at, p->at))
            l->stack.n--;
        const Point *above = l->stack.n ? &l->points.at[l->stack.at[l->stack.n - 1]] : NULL;
        if (above && (is_live_behind(l, above->reg, p->at, p->place) || written_together(l, above, p)))
            l->clash[class] = true;
        if (k && both_constant(p - 1, p))
            l->clash[class] = true;
        if (p->reg)
            VEC_PUSH(&l->scratch, &l->stack, k);
    }
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

/* -- Copies --------------------------------------------------------------------------------------------- */

static DescId copy_desc(Fn *fn, Width width)
{
    static const char *const mnemonics[WIDTH_COUNT] = {[W1] = "mov.pred", [W8] = "cvt.u8.u8", [W16] = "mov.b16",
                                                       [W32] = "mov.b32", [W64] = "mov.b64",  [W128] = "mov.b128"};
    return desc_make(fn->tables, mnemonics[width], "%,%");
}

static void insert_copy(Fn *fn, InstrId before, RegId to, Operand from)
{
    Operand ops[] = {op_def(op_reg(fn, to)), from};
    if (op_is_reg(from) && op_index(from) == to)
        return;
    InstrId id = ir_insert_before(fn, before, copy_desc(fn, (Width)ir_reg(fn, to)->width), 0, ops, 2);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
}

// What a register is called from now on: its class, or itself where that has members that are live at once.
static RegId final_name(Leaving *l, RegId r)
{
    RegId class = r < l->nregs ? leader(l, r) : r;
    return class < l->nregs && l->clash[class] ? r : class;
}

static Operand renamed(Leaving *l, Operand o) { return op_is_reg(o) ? op_reg(l->fn, final_name(l, op_index(o))) : o; }

// It is read where the phi stands, so in front of what is written at the end of this block for others.
static void leave_phi(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    Instr *i = ir_instr(fn, id);
    RegId def = op_index(*ir_def(fn, i, 0));
    bool clash = l->clash[leader(l, def)];
    RegId to = clash ? reg_like(fn, def) : leader(l, def);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand from = *ir_use(fn, i, k + 1);
        if ((clash && op_is_reg(from)) || is_constant(from))
            insert_copy(fn, ir_terminator(fn, op_index(*ir_use(fn, i, k))), to, renamed(l, from));
    }
    if (clash)
        insert_copy(fn, id, def, op_reg(fn, to));
    ir_remove(fn, id);
}

// Old values: of the same class, or written in front of the instruction.
static void leave_tied(Leaving *l, InstrId id)
{
    Fn *fn = l->fn;
    Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), old = *ir_tied(fn, i, k);
        if (is_constant(old) || (op_is_reg(old) && l->clash[leader(l, op_index(old))]))
            insert_copy(fn, id, final_name(l, op_index(def)), renamed(l, old));
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
        next = i->next;
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

static void leave(Leaving *l, bool conventional)
{
    Fn *fn = l->fn;
    if (!conventional) {
        l->a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEFUSE | AN_LIVE);
        find_points(l);
        find_clashes(l);
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
    l.clash = NEW_ARRAY(&l.scratch, bool, l.nregs);
    if (join_classes(&l))
        leave(&l, fn->conventional == fn->version && !ctx->options.contracts);
    arena_free(&l.scratch);
    fn->form = FORM_MULTI;
    // What was needed is needed still, and nothing was added that is not.
    if (fn->without_dead == fn->version)
        fn->without_dead++;
    return true;
}
