// SPDX-License-Identifier: MIT
// Rewrites instructions on which ptxas crashes, or which it compiles wrong, for PTX output. defects.def lists the
// defects.
//
//     @P0 _|P1 = setp.lt.s32 R1, R2        @P0 P2|P1 = setp.lt.s32 R1, R2     ; P2 has no use
//     R4 = lop3.b32 R1, R2, R3, 0x80       ...
//     P1 = setp.eq.b32 R4, 0          ->   P1 = setp.lt.u32 R4, 1
//     @P0 R5 = set.ne.f32.s32 R1, R2       R6 = set.ne.f32.s32 R1, R2; @P0 R5 = mov.b32 R6
//
// Must not fire:
//     _|P1 = setp.lt.s32 R1, R2            there is no guard
//     @P0 R5 = set.ne.u32.s32 R1, R2       the result is no float
//     P1 = setp.eq.s32 R5, 0               R5 does not depend on a lop3
//     P1 = setp.eq.b64 R4, 0; P1 = setp.eq.and.s32 R4, 0, P2; P1 = setp.ne.b32 R4, 0; P1 = setp.eq.s32 R4, 5
#include <stdio.h>

#include "ir/ptx/ptx.h"

enum { FOLLOWED = 4 };  // number of walks that follow results of lop3

// Instructions that a function has.
typedef struct Seen {
    bool guarded_sink, guarded_set, lop3, equality;
} Seen;

/* -- Sinks ---------------------------------------------------------------------------------------------- */

static bool is_guarded_sink(const Fn *fn, const Instr *i, uint32_t k)
{
    return ir_guarded(i) && op_kind(*ir_def(fn, i, k)) == K_NONE && ir_desc(fn, i)->slots[k].flags & SL_BARE;
}

static bool has_guarded_sink(const Fn *fn, const Seen *seen)
{
    (void)fn;
    return seen->guarded_sink;
}

// Replaces all guarded sinks by one register without uses.
static void fill_guarded_sinks(Fn *fn)
{
    RegId unread = reg_new(fn, RF_P, W1);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; k < i->ndef && ir_guarded(i); k++)
                if (is_guarded_sink(fn, i, k))
                    *ir_def(fn, i, k) = op_def(op_reg(fn, unread));
        }
}

/* -- Guarded set ---------------------------------------------------------------------------------------- */

static bool is_guarded_set(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return d->op == OP_SET && ir_guarded(i) && type_info[tab_mnem(fn->tables, d->mnem)->type[0]].class == TC_F &&
           op_is_reg(*ir_def(fn, i, 0));
}

static bool has_guarded_set(const Fn *fn, const Seen *seen)
{
    (void)fn;
    return seen->guarded_set;
}

// Moves the result of a comparison without a guard to the register, under the guard.
static void split_guarded_set(Fn *fn, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    Operand def = *ir_def(fn, i, 0), guard = *ir_guard(fn, i), ops[5] = {op_none()};
    uint32_t n = ir_desc(fn, i)->nops;
    memcpy(ops, ir_ops(fn, i), n * sizeof *ops);
    RegId result = reg_like(fn, op_index(def));
    DescId move = desc_make(fn->tables, OP_MOV, type_make(TC_B, (Width)ir_reg(fn, result)->width));
    ops[0] = op_def(op_reg(fn, result));
    LineId line = ir_instr(fn, id)->line;
    InstrId set = ir_insert_before(fn, id, ir_instr(fn, id)->desc, 0, ops, n);
    InstrId moved = ir_insert_before(fn, id, move, IF_GUARDED, (Operand[]){def, op_reg(fn, result), guard}, 3);
    ir_instr(fn, set)->line = ir_instr(fn, moved)->line = line;
    ir_remove(fn, id);
}

static void split_guarded_sets(Fn *fn)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (is_guarded_set(fn, ir_instr(fn, id)))
                split_guarded_set(fn, id);
}

/* -- Comparisons of lop3 -------------------------------------------------------------------------------- */

typedef struct Values {
    bool *lop3;  // by RegId: may hold the result of a lop3
    bool *zero;  // by RegId: each definition is a move of 0
} Values;

static bool is_lop3(Opcode op) { return op == OP_LOP3 || op == OP_LOP3_BOOL; }

static bool is_number(const Fn *fn, Operand o, uint64_t bits)
{
    return op_is_const(o) && tab_const(fn->tables, op_index(o)).bits == bits;
}

static bool marks_lop3(const Fn *fn, const Instr *i, bool *lop3, bool any)
{
    const Desc *d = ir_desc(fn, i);
    const Operand *ops = ir_ops(fn, i);
    bool from = is_lop3(d->op) || any, more = false;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        from |= op_is_reg(ops[k]) && lop3[op_index(ops[k])];
    for (uint32_t k = 0; k < i->ndef && from; k++)
        if (is_pure_word(fn, d, ops[k]) && !lop3[op_index(ops[k])])
            lop3[op_index(ops[k])] = more = true;
    return more;
}

// Marks the registers that may hold the result of a lop3. If FOLLOWED walks over the function reach no fixed point,
// each definition counts as a lop3.
static void find_lop3(const Fn *fn, bool *lop3)
{
    bool more = true;
    for (uint32_t walk = 0; more; walk++) {
        more = false;
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id)
                more |= marks_lop3(fn, ir_instr(fn, id), lop3, walk >= FOLLOWED);
    }
}

static void find_zeros(const Fn *fn, Arena *scratch, bool *zero)
{
    bool *other = NEW_ARRAY(scratch, bool, fn->regs.n);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool is = ir_desc(fn, i)->op == OP_MOV && is_number(fn, *ir_use(fn, i, 0), 0);
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(*ir_def(fn, i, k)))
                    (is ? zero : other)[op_index(*ir_def(fn, i, k))] = true;
        }
    for (RegId r = 0; r < fn->regs.n; r++)
        zero[r] &= !other[r] && reg_in_ssa(ir_reg(fn, r));
}

static Values values_of(const Fn *fn, Arena *scratch)
{
    Values v = {NEW_ARRAY(scratch, bool, fn->regs.n), NEW_ARRAY(scratch, bool, fn->regs.n)};
    find_lop3(fn, v.lop3);
    find_zeros(fn, scratch, v.zero);
    return v;
}

// True for a 32-bit comparison for equality without a third operand.
static bool is_equality(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_SETP)
        return false;
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool number = type->class == TC_B || type->class == TC_U || type->class == TC_S;
    return m->mod[MC_CMP] == MOD_EQ && !m->mod[MC_BOOL] && number && type->width == W32;
}

// Returns the operand that an equality compares with 0 if a lop3 may have computed that operand, else K_NONE.
static Operand compared_lop3(const Fn *fn, const Instr *i, const Values *v)
{
    for (uint32_t k = 0; k < 2 && is_equality(fn, i); k++) {
        Operand x = *ir_use(fn, i, k), y = *ir_use(fn, i, 1 - k);
        bool zero = op_is_reg(y) ? v->zero[op_index(y)] : is_number(fn, y, 0);
        if (zero && op_is_reg(x) && v->lop3[op_index(x)])
            return x;
    }
    return op_none();
}

static bool compares_lop3(const Fn *fn, const Seen *seen)
{
    if (!seen->lop3 || !seen->equality)
        return false;
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    Values v = values_of(fn, &scratch);
    bool found = false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            found |= op_is_reg(compared_lop3(fn, ir_instr(fn, id), &v));
    arena_free(&scratch);
    return found;
}

static void compare_below_one(Fn *fn, Instr *i, Operand x)
{
    instr_set_desc(fn, i, desc_with_cmp(fn->tables, i->desc, MOD_LT, TY_U32));
    *ir_use(fn, i, 0) = x;
    *ir_use(fn, i, 1) = op_const(fn, 1, W32);
    ir_reg(fn, op_index(x))->type = TY_NONE;  // a declared type such as .f32 fits `.b32` only
}

static void rewrite_comparisons(Fn *fn)
{
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    Values v = values_of(fn, &scratch);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            Operand x = compared_lop3(fn, ir_instr(fn, id), &v);
            if (op_is_reg(x))
                compare_below_one(fn, ir_instr(fn, id), x);
        }
    arena_free(&scratch);
}

/* -- All ------------------------------------------------------------------------------------------------ */

static const struct Defect {
    bool (*finds)(const Fn *fn, const Seen *seen);
    void (*mends)(Fn *fn);
} defects[] = {
#define DEFECT(id, name, versions, finds, mends, what) {finds, mends},
#include "ir/ptx/defects.def"
};

static Seen look(const Fn *fn)
{
    Seen seen = {0};
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            seen.lop3 |= is_lop3(ir_desc(fn, i)->op);
            seen.equality |= is_equality(fn, i);
            if (!ir_guarded(i))
                continue;
            seen.guarded_set |= is_guarded_set(fn, i);
            for (uint32_t k = 0; k < i->ndef; k++)
                seen.guarded_sink |= is_guarded_sink(fn, i, k);
        }
    return seen;
}

Fn *ptx_legalize(const Fn *fn)
{
    Fn *legal = NULL;
    if (!(fn->flags & FN_DEFINED) || fn->flags & FN_NO_WORKAROUNDS)
        return NULL;
    Seen seen = look(fn);
    for (size_t k = 0; k < ARRAY_LEN(defects); k++) {
        if (!defects[k].finds(fn, &seen))
            continue;
        if (!legal)
            legal = fn_clone(fn);
        defects[k].mends(legal);
    }
    return legal;
}
