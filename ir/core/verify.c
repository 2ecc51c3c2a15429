// SPDX-License-Identifier: MIT
// Verifies functions. Level 1, structure:
//   S1  the layout is a doubly linked list of blocks that ends at fn->last, each block once
//   S2  the instructions of a block are a doubly linked list; Instr.block names the block
//   S3  every block ends in a terminator and has no other
//   S4  operand counts are those of the descriptor, plus one tied use per definition where flagged, plus the guard; a
//       terminator names the successor of a false guard exactly if it is guarded
//   S5  definitions come first, and no operand after them is flagged as one
//   S6  every index refers to an existing register, constant, symbol, block of the layout or list; every list that an
//       instruction uses belongs to a symbol of branch targets, so that any plan can end in PTX
//   S7  the counters of blocks and instructions are right
// Level 2, types:
//   T1  each operand has a kind, register file, width and modifiers that its slot accepts
//   T2  the guard is a predicate register, and the instruction takes one
//   T3  tied uses occur only on guarded instructions in ssa form; they are registers or constants of the width of their
//       definition, without modifiers; a definition that is the sink or never in ssa form has the sink as its tied use
//   T4  a call sequence lies in one block: its st.param before the call, its ld.param after it
//   T5  the carry is defined before it is read, within the block, except in FN_PASSTHROUGH functions
// Level 3, form, as far as single instructions show it (the rest: ir/analysis/verify_form.c):
//   F1  multi form has no pseudo instruction (and no tied use: T3)
//   F2  the registers of an opaque instruction, except its guard, are pinned
#include <stdarg.h>
#include <stdio.h>

#include "ir/core/ir.h"

typedef struct Verifier {
    const Fn *fn;
    int level;
    InstrId at;
    char *why;
    Arena scratch;
    BlockId *called_in;  // by call sequence
    bool *has_table;     // by ListId
    bool sequences;      // the block contains calls or the carry
} Verifier;

__attribute__((cold, format(printf, 2, 3))) static bool fail(Verifier *v, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(v->why, 200, fmt, args);
    va_end(args);
    return false;
}

static const char *width_name(Width w)
{
    static const char *const names[] = {"any", "predicate", "8-bit", "16-bit", "32-bit", "64-bit", "128-bit"};
    return names[w];
}

static const char *check_register(const Slot *slot, const Reg *r, RegFile file, char why[static 200])
{
    bool carry = slot->flags & SL_HIDDEN;
    Width want = (Width)slot->width, has = (Width)r->width;
    bool wider = slot->flags & SL_WIDER;
    if (!(slot->flags & SL_REG))
        snprintf(why, 200, "a register is not allowed here");
    else if (file != (RegFile)r->file)
        snprintf(why, 200, "the register file of the operand is not that of the register");
    else if (carry != (file == RF_CC))
        snprintf(why, 200, carry ? "expected the carry" : "the carry is not allowed here");
    else if (slot->width && has != want && !(wider && has > want && want != W1))
        snprintf(why, 200, "expected a %s register%s, this one is %s", width_name(want), wider ? " or wider" : "",
                 width_name(has));
    else if (!slot->width && slot->rejects && has == W1)
        snprintf(why, 200, "an address cannot be a predicate");
    else if (slot->rejects >> type_info[r->type].class & 1)
        snprintf(why, 200, "a register declared .%s does not fit .%s", type_info[r->type].name,
                 type_info[slot->type].name);
    else
        return NULL;
    return why;
}

const char *slot_check(const Fn *fn, const Slot *slot, Operand o, char why[static 200])
{
    static const struct {
        uint16_t flag;
        const char *name;
    } kinds[] = {
        [K_NONE] = {SL_SINK, "the sink `_`"},       [K_REG] = {SL_REG, "a register"},
        [K_IMM] = {SL_IMM, "an immediate"},         [K_SYM] = {SL_SYM, "a symbol"},
        [K_SREG] = {SL_SREG, "a special register"}, [K_BANK] = {0, "a constant bank"},
        [K_BLOCK] = {SL_BLOCK, "a label"},          [K_LIST] = {SL_LIST, "a branch table"},
    };
    Kind kind = op_kind(o);
    if (kind == K_REG)
        return check_register(slot, ir_reg(fn, op_index(o)), op_file(o), why);
    if (!(slot->flags & kinds[kind].flag)) {
        snprintf(why, 200, "%s is not allowed here", kinds[kind].name);
        return why;
    }
    Width constant = kind == K_IMM ? tab_const(fn->tables, op_index(o)).width : W_NONE;
    if (constant && slot->width && constant != slot->width) {
        snprintf(why, 200, "a %s constant is not allowed here, expected %s", width_name(constant),
                 width_name((Width)slot->width));
        return why;
    }
    uint64_t bits = kind == K_IMM ? tab_const(fn->tables, op_index(o)).bits : 0;
    if (kind == K_IMM && slot->range && !range_takes((RangeId)slot->range, bits)) {
        snprintf(why, 200, "the constant %llu is out of range: %s", (unsigned long long)bits,
                 range_info[slot->range].words);
        return why;
    }
    if (kind == K_SREG && slot->width) {
        Width has = sreg_info[op_index(o)].width;
        bool fits =
            has == slot->width || (has == W32 && slot->width == W16) || (slot->flags & SL_WIDER && has > slot->width);
        if (!fits && op_index(o) != SREG_GRIDID) {
            snprintf(why, 200, "special register %s is %s, expected %s", sreg_info[op_index(o)].name, width_name(has),
                     width_name((Width)slot->width));
            return why;
        }
    }
    return NULL;
}

bool sink_fits(const Fn *fn, const Instr *i, uint32_t k)
{
    const Desc *d = ir_desc(fn, i);
    uint32_t others = d->op == OP_ATOM;
    for (uint32_t n = 0; n < i->ndef; n++)
        others += n != k && op_is_reg(*ir_def(fn, i, n)) && !(d->slots[n].flags & SL_HIDDEN);
    return others && d->slots[k].flags & SL_SINK && !(d->slots[k].flags & SL_BARE && ir_guarded(i));
}

bool ir_may_guard(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->traits & (TR_NOGUARD | TR_MARKER | TR_PSEUDO | TR_TERM) || i->flags & (IF_GUARDED | IF_PINNED))
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (d->slots[k].flags & SL_BARE && !op_is_reg(*ir_def(fn, i, k)))
            return false;
    return true;
}

Operand slot_constant(Fn *fn, const Slot *slot, Operand o)
{
    const RangeInfo *range = &range_info[slot->range];
    if (!op_is_const(o) || !(range->reads || range->clamp))
        return o;
    Const c = tab_const(fn->tables, op_index(o));
    return range_takes((RangeId)slot->range, c.bits)
               ? o
               : op_const(fn, range->clamp ? range->clamp : c.bits & range->reads, c.width);
}

/* -- Level 1 -------------------------------------------------------------------------------------------- */

static bool reg_exists(const Fn *fn, RegId r) { return r - 1 < fn->regs.n - 1; }

static bool index_exists(Verifier *v, Operand o)
{
    const Fn *fn = v->fn;
    uint32_t k = op_index(o);
    switch (op_kind(o)) {
    case K_NONE:
    case K_BANK: return true;
    case K_REG: return reg_exists(fn, k) || fail(v, "register id %u does not exist", k);
    case K_IMM:
        return k < fn->tables->const_first + fn->tables->consts.n || fail(v, "constant id %u does not exist", k);
    case K_SYM: {
        uint32_t local = k & ~(uint32_t)SYM_LOCAL;
        uint32_t n = k & SYM_LOCAL ? fn->syms.n : fn->module->syms.n;
        return (local > 0 && local < n) || fail(v, "symbol id %u does not exist", k);
    }
    case K_SREG: return k < SREG_COUNT || fail(v, "special register %u does not exist", k);
    case K_BLOCK:
        return (k > 0 && k < fn->blocks.n && (fn->first == k || ir_block(fn, k)->prev)) ||
               fail(v, "block %u is not in the layout", k);
    case K_LIST: return (k > 0 && k < fn->lists.n) || fail(v, "branch table %u does not exist", k);
    }
    return false;
}

static bool check_list(Verifier *v, ListId id)
{
    const List *list = ir_list(v->fn, id);
    if (!v->has_table[id])
        return fail(v, "branch table %u has no symbol", id);
    for (uint32_t t = 0; t < list->n; t++)
        if (!index_exists(v, ir_run(v->fn, list->ops)[t]))
            return false;
    return true;
}

// True if the last operand is the successor of a false guard.
static bool takes_other_way(const Desc *d)
{
    return d->nops && d->slots[d->nops - 1].flags & SL_BLOCK && d->slots[d->nops - 1].flags & SL_HIDDEN;
}

static bool has_desc(Verifier *v, const Instr *i)
{
    const Tables *t = v->fn->tables;
    return (i->desc && i->desc < t->desc_first + t->descs.n) || fail(v, "descriptor %u does not exist", i->desc);
}

static bool check_structure(Verifier *v, const Instr *i, const Desc *d)
{
    if (i->ndef != d->ndef || i->nops != d->nops + ir_ntied(i) + ir_guarded(i))
        return fail(v, "%u operands and %u definitions, but the descriptor has %u and %u", i->nops, i->ndef, d->nops,
                    d->ndef);
    if (d->traits & TR_TERM && takes_other_way(d) != ir_guarded(i))
        return fail(v, takes_other_way(d) ? "an unguarded terminator has a successor for a false guard"
                                          : "a guarded terminator has no successor for a false guard");
    return true;
}

static inline bool check_place(Verifier *v, const Instr *i, uint32_t k, Operand o)
{
    if (op_is_def(o) != (k < i->ndef))
        return fail(v, "operand %u is a definition among the uses, or a use among the definitions", k);
    if (op_is_reg(o) && reg_exists(v->fn, op_index(o)))
        return true;
    return index_exists(v, o) && (op_kind(o) != K_LIST || check_list(v, op_index(o)));
}

/* -- Level 2 -------------------------------------------------------------------------------------------- */

// A sink has no old value, and a register outside ssa form keeps its old value without a tied use.
static bool has_old_value(const Fn *fn, Operand def) { return op_is_reg(def) && reg_in_ssa(ir_reg(fn, op_index(def))); }

static bool check_tied(Verifier *v, const Instr *i)
{
    const Fn *fn = v->fn;
    if (i->flags & IF_TIED && fn->form != FORM_SSA)
        return fail(v, "tied uses are not allowed outside ssa form");
    if (i->flags & IF_TIED && !ir_guarded(i))
        return fail(v, "an instruction without a guard has tied uses");
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), tied = *ir_tied(fn, i, k);
        if (!has_old_value(fn, def)) {
            if (!op_same(tied, op_none()))
                return fail(v, "tied use %u must be the sink `_`, as its definition has no old value in ssa", k);
            continue;
        }
        bool constant = op_kind(tied) == K_IMM;
        if (!constant && !op_is_reg(tied))
            return fail(v, "tied use %u is neither a register nor a constant", k);
        if (tied.mods & (OPM_NEG | OPM_ABS | OPM_NOT | OPM_INOUT))
            return fail(v, "tied use %u has a modifier", k);
        Width width = constant ? tab_const(fn->tables, op_index(tied)).width : (Width)ir_reg(fn, op_index(tied))->width;
        if (width && width != (Width)ir_reg(fn, op_index(def))->width)
            return fail(v, "the width of tied use %u is not that of its definition", k);
    }
    return true;
}

// No PTX instruction takes a negated or absolute register (the minus of vmad is part of its shape). The slot states if
// a predicate may be negated.
static const char *check_modifiers(const Slot *slot, Operand o, char why[static 200])
{
    bool inout = slot->flags & SL_INOUT && op_is_reg(o);
    if (o.mods & (OPM_NEG | OPM_ABS))
        snprintf(why, 200, "a negated or absolute operand is not allowed here");
    else if (o.mods & OPM_NOT && !(slot->flags & SL_NOT))
        snprintf(why, 200, "'!' is not allowed here");
    else if (!(o.mods & OPM_INOUT) != !inout)
        snprintf(why, 200,
                 inout ? "a register of an opaque instruction must be read and written"
                       : "only registers of opaque instructions are read and written");
    else
        return NULL;
    return why;
}

// Checks that the value of a phi is as wide as its definition.
static const char *check_as_def(const Fn *fn, Operand def, Operand o, char why[static 200])
{
    Width has = op_is_reg(o) ? (Width)ir_reg(fn, op_index(o))->width : tab_const(fn->tables, op_index(o)).width;
    Width want = (Width)ir_reg(fn, op_index(def))->width;
    if (!has || has == want)
        return NULL;
    snprintf(why, 200, "the value is %s, the definition %s", width_name(has), width_name(want));
    return why;
}

static bool check_operand(Verifier *v, const Instr *i, const Slot *slot, uint32_t k)
{
    const Fn *fn = v->fn;
    Operand o = ir_ops(fn, i)[k];
    char why[200];
    v->sequences |= op_is_reg(o) && op_file(o) == RF_CC;
    if (slot_check(fn, slot, o, why) || check_modifiers(slot, o, why) ||
        (slot->flags & SL_AS_DEF && check_as_def(fn, *ir_def(fn, i, 0), o, why)))
        return fail(v, "operand %u: %.150s", k + 1, why);
    return true;
}

static bool check_guard_and_old_values(Verifier *v, const Instr *i, const Desc *d)
{
    const Fn *fn = v->fn;
    if (ir_guarded(i)) {
        Operand guard = *ir_guard(fn, i);
        if (!op_is_reg(guard) || ir_reg(fn, op_index(guard))->width != W1 || op_file(guard) == RF_CC)
            return fail(v, "the guard is not a predicate register");
        if (d->traits & TR_NOGUARD)
            return fail(v, "this instruction takes no guard");
    }
    return !(i->flags & IF_TIED) || check_tied(v, i);
}

static bool reads_carry(const Fn *fn, const Instr *i, const Desc *d)
{
    for (uint32_t k = i->ndef; k < d->nops; k++)
        if (op_is_reg(ir_ops(fn, i)[k]) && op_file(ir_ops(fn, i)[k]) == RF_CC)
            return true;
    return false;
}

static bool writes_carry(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(ir_ops(fn, i)[k]) && op_file(ir_ops(fn, i)[k]) == RF_CC)
            return true;
    return false;
}

// Checks call sequences and carry chains of a block.
static bool check_sequences(Verifier *v, BlockId b)
{
    const Fn *fn = v->fn;
    bool carry = fn->flags & FN_PASSTHROUGH, stores = false;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        const Desc *d = ir_desc(fn, i);
        v->at = id;
        if (!carry && reads_carry(fn, i, d))
            return fail(v, "the carry is read before it is written in this block");
        carry |= writes_carry(fn, i);
        if (!i->callseq)
            continue;
        if (i->callseq > fn->callseqs)
            return fail(v, "call sequence %u does not exist", i->callseq);
        bool called = v->called_in[i->callseq] == b;
        if (d->op == OP_CALL)
            v->called_in[i->callseq] = b;
        else if (d->op == OP_LD && !called)
            return fail(v, "a result of call sequence %u is read before its call, or in another block", i->callseq);
        else if (d->op == OP_ST && called)
            return fail(v, "an argument of call sequence %u is stored after its call", i->callseq);
        stores |= d->op == OP_ST;
    }
    for (InstrId id = stores ? ir_block(fn, b)->first : 0; id; id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        v->at = id;
        if (i->callseq && v->called_in[i->callseq] != b)
            return fail(v, "an argument of call sequence %u is stored in another block than its call", i->callseq);
    }
    v->at = 0;
    return true;
}

/* -- Level 3 -------------------------------------------------------------------------------------------- */

static bool check_form(Verifier *v, const Instr *i, const Desc *d)
{
    const Fn *fn = v->fn;
    const Operand *ops = ir_ops(fn, i);
    if (d->traits & TR_PSEUDO && fn->form == FORM_MULTI)
        return fail(v, d->op == OP_PHI ? "a phi is not allowed outside ssa form"
                                       : "an undefined value is not allowed outside ssa form");
    for (uint32_t k = 0; d->op == OP_OPAQUE && k + ir_guarded(i) < i->nops; k++)
        if (op_is_reg(ops[k]) && !(ir_reg(fn, op_index(ops[k]))->flags & REG_PINNED))
            return fail(v, "%s%u is used by an opaque instruction but not pinned", reg_file_names[op_file(ops[k])],
                        ir_reg(fn, op_index(ops[k]))->ordinal);
    return true;
}

/* -- All levels ----------------------------------------------------------------------------------------- */

static bool check_operands(Verifier *v, const Instr *i, const Desc *d)
{
    const Operand *ops = ir_ops(v->fn, i);
    uint32_t typed = v->level >= VERIFY_TYPES ? d->nops : 0;
    for (uint32_t k = 0; k < i->nops; k++)
        if (!check_place(v, i, k, ops[k]) || (k < typed && !check_operand(v, i, &d->slots[k], k)))
            return false;
    return true;
}

// Checks the operands of a call: they are variables of the .param space, not formals of the caller.
static bool check_call(Verifier *v, const Instr *i, const Desc *d)
{
    const Fn *fn = v->fn;
    for (uint32_t k = 0; k < d->nops; k++) {
        Operand o = ir_ops(fn, i)[k];
        uint8_t kind = op_kind(o) == K_SYM ? ir_sym(fn, op_index(o))->kind : SYM_CALLPARAM;
        if (kind == SYM_FORMAL)
            return fail(v, "operand %u: a parameter of the caller is not allowed here", k + 1);
        if (kind == SYM_VAR)
            return fail(v, "operand %u: a variable that is not in the .param space is not allowed here", k + 1);
    }
    return true;
}

static bool check_instr(Verifier *v, const Instr *i, const Desc *d)
{
    if (!check_structure(v, i, d) || !check_operands(v, i, d))
        return false;
    if (v->level < VERIFY_TYPES)
        return true;
    v->sequences |= i->callseq != 0;
    if (d->op == OP_CALL && !check_call(v, i, d))
        return false;
    if (i->flags & (IF_GUARDED | IF_TIED) && !check_guard_and_old_values(v, i, d))
        return false;
    return v->level < VERIFY_FORM || check_form(v, i, d);
}

// True for a register except the carry, or a constant; if `typed`, with exactly the slot's width.
static inline bool is_plain_operand(const Fn *fn, const Slot *slot, Operand o, bool def, bool typed)
{
    enum { FILES_BUT_CARRY = 3 };
    uint32_t id = op_index(o), files = (uint32_t)FILES_BUT_CARRY << 24, head = o.word & ~(uint32_t)INDEX_MAX;
    if ((head & ~files) == ((uint32_t)def << 31 | (uint32_t)K_REG << 28) && id - 1 < fn->regs.n - 1) {
        const Reg *r = typed ? ir_reg(fn, id) : NULL;
        return !typed || (r->file == op_file(o) && slot_takes_reg(slot, r) && !o.mods);
    }
    if (head != (uint32_t)K_IMM << 28 || id >= fn->tables->const_first + fn->tables->consts.n)
        return false;
    return !typed ||
           (slot->flags & SL_IMM && !slot->range && tab_const(fn->tables, id).width == slot->width && !o.mods);
}

// Fast path: true for common instructions without a violation.
static inline bool is_plain(const Fn *fn, const Instr *i, const Desc *d, bool typed)
{
    if (!d->plain || i->ndef != d->ndef || i->nops != d->nops || i->flags || (typed && i->callseq))
        return false;
    const Operand *o = ir_ops(fn, i), *defs = o + i->ndef, *end = o + i->nops;
    const Slot *slot = d->slots;
    for (; o < defs; o++, slot++)
        if (!is_plain_operand(fn, slot, *o, true, typed))
            return false;
    for (; o < end; o++, slot++)
        if (!is_plain_operand(fn, slot, *o, false, typed))
            return false;
    return true;
}

static bool check_block(Verifier *v, BlockId b, uint32_t *count)
{
    const Fn *fn = v->fn;
    const Block *block = ir_block(fn, b);
    InstrId prev = 0;
    bool typed = v->level >= VERIFY_TYPES;
    v->sequences = false;
    for (InstrId id = block->first; id; prev = id, id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        v->at = id;
        if (i->prev != prev || i->block != b || ++*count > fn->ninstrs)
            return fail(v, "the instruction list of block %u is broken", b);
        if (!has_desc(v, i))
            return false;
        const Desc *d = ir_desc(fn, i);
        if (!(typed ? is_plain(fn, i, d, true) : is_plain(fn, i, d, false)) && !check_instr(v, i, d))
            return false;
        bool last = i->next == 0, terminator = d->traits & TR_TERM;
        if (last != terminator)
            return fail(v,
                        last ? "the block does not end in a terminator" : "a terminator is in the middle of a block");
    }
    v->at = 0;
    if (prev == 0 || prev != block->last)
        return fail(v, "block %u has no instructions, or its last instruction is wrong", b);
    return !v->sequences || check_sequences(v, b);
}

static bool check_blocks(Verifier *v)
{
    const Fn *fn = v->fn;
    uint32_t blocks = 0, instrs = 0;
    BlockId prev = 0;
    for (BlockId b = fn->first; b; prev = b, b = ir_block(fn, b)->next) {
        if (ir_block(fn, b)->prev != prev || ++blocks > fn->nblocks)
            return fail(v, "the block layout is broken at block %u", b);
        if (!check_block(v, b, &instrs))
            return false;
    }
    if (prev != fn->last || blocks != fn->nblocks || instrs != fn->ninstrs)
        return fail(v, "the counts of the function are %u blocks and %u instructions, but its lists have %u and %u",
                    fn->nblocks, fn->ninstrs, blocks, instrs);
    return true;
}

bool ir_verify(const Fn *fn, int level, InstrId *instr, char why[static 200])
{
    Verifier v = {.fn = fn, .level = level, .why = why};
    why[0] = 0;
    arena_init(&v.scratch, fn->arena.heap);
    v.called_in = NEW_ARRAY(&v.scratch, BlockId, fn->callseqs + 1);
    v.has_table = NEW_ARRAY(&v.scratch, bool, fn->lists.n + 1);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_BRANCHTARGETS && s->list < fn->lists.n)
            v.has_table[s->list] = true;
    }
    bool ok = check_blocks(&v);
    arena_free(&v.scratch);
    *instr = v.at;
    return ok;
}
