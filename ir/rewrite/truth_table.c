// SPDX-License-Identifier: MIT
// Computes bitwise functions of three values. The evaluator runs lop3 on truth tables: their eight bits are the results
// for all combinations of the inputs.
#include "ir/rewrite/rewrite.h"

#include "ir/eval/eval.h"

const uint8_t truth_input[TRUTH_INPUTS] = {0xf0, 0xcc, 0xaa};

uint8_t truth_compose(uint8_t table, const uint8_t of[static TRUTH_INPUTS])
{
    return (uint8_t)eval_look_up(of[0], of[1], of[2], table);
}

static uint64_t complement_of(uint64_t bits) { return ~bits & UINT32_MAX; }

TruthTable truth_of_operand(Fn *fn, Operand o)
{
    if (op_is_reg(o))
        return (TruthTable){.input = {o}, .n = 1, .table = truth_input[0]};
    uint64_t bits = tab_const(fn->tables, op_index(o)).bits, low = MIN(bits, complement_of(bits));
    TruthTable f =
        low ? (TruthTable){.input = {op_const(fn, low, W32)}, .n = 1, .table = truth_input[0]} : (TruthTable){.n = 0};
    return low == bits ? f : truth_complement(f);
}

TruthTable truth_complement(TruthTable f)
{
    f.table = (uint8_t)~f.table;
    return f;
}

bool truth_add_inputs(TruthTable *to, const TruthTable *from)
{
    for (uint32_t k = 0; k < from->n; k++) {
        Operand o = from->input[k];
        uint32_t at = 0;
        while (at < to->n && to->input[at].word < o.word)
            at++;
        if (at < to->n && to->input[at].word == o.word)
            continue;
        if (to->n == TRUTH_INPUTS)
            return false;
        memmove(to->input + at + 1, to->input + at, (to->n - at) * sizeof *to->input);
        to->input[at] = o;
        to->n++;
    }
    return true;
}

uint8_t truth_table_over(const TruthTable *f, const TruthTable *inputs)
{
    uint8_t of[TRUTH_INPUTS] = {0};
    for (uint32_t k = 0; k < f->n; k++)
        for (uint32_t at = 0; at < inputs->n; at++)
            if (op_same(inputs->input[at], f->input[k]))
                of[k] = truth_input[at];
    return truth_compose(f->table, of);
}

static bool depends_on(uint8_t table, uint32_t input)
{
    uint8_t ones = truth_input[input], zeroes = (uint8_t)~ones;
    return (table & ones) >> (4 >> input) != (table & zeroes);
}

void truth_reduce(TruthTable *f)
{
    TruthTable to = {0};
    for (uint32_t k = 0; k < f->n; k++)
        if (depends_on(f->table, k))
            to.input[to.n++] = f->input[k];
    to.table = to.n < f->n ? truth_table_over(f, &to) : f->table;
    *f = to;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

bool truth_is_move(const TruthTable *f) { return !f->n || (f->n == 1 && f->table == truth_input[0]); }

static const struct Plain {
    uint8_t n, table;
    Opcode op;
} plain[] = {
    {1, 0x0f, OP_NOT},
    {2, 0xc0, OP_AND},
    {2, 0xfc, OP_OR},
    {2, 0x3c, OP_XOR},
};

static const struct Plain *find_plain(const TruthTable *f)
{
    for (size_t k = 0; k < ARRAY_LEN(plain); k++)
        if (plain[k].n == f->n && plain[k].table == f->table)
            return &plain[k];
    return NULL;
}

// If the last input is a constant, returns the same function with the complement of the constant as input; else the
// function itself.
static TruthTable with_other_constant(Fn *fn, const TruthTable *f)
{
    TruthTable to = *f;
    uint32_t last = f->n ? f->n - 1u : 0;
    if (!f->n || op_is_reg(f->input[last]))
        return to;
    uint8_t of[TRUTH_INPUTS] = {truth_input[0], truth_input[1], truth_input[2]};
    of[last] = (uint8_t)~of[last];
    to.table = truth_compose(f->table, of);
    to.input[last] = op_const(fn, complement_of(tab_const(fn->tables, op_index(f->input[last])).bits), W32);
    return to;
}

// Returns the key by which operands are sorted in the output: registers by ordinal, then constants by value.
static uint64_t place_of(const Fn *fn, Operand o)
{
    return op_is_reg(o) ? ir_reg(fn, op_index(o))->ordinal
                        : (UINT64_C(1) << 32) + tab_const(fn->tables, op_index(o)).bits;
}

static TruthTable in_order_of_text(const Fn *fn, const TruthTable *f)
{
    TruthTable to = *f;
    for (uint32_t k = 1; k < to.n; k++)
        for (uint32_t n = k; n && place_of(fn, to.input[n]) < place_of(fn, to.input[n - 1]); n--) {
            Operand o = to.input[n];
            to.input[n] = to.input[n - 1];
            to.input[n - 1] = o;
        }
    to.table = truth_table_over(f, &to);
    return to;
}

bool truth_is_plain(Fn *fn, const TruthTable *f)
{
    TruthTable other = with_other_constant(fn, f);
    return truth_is_move(f) || find_plain(f) || find_plain(&other);
}

void truth_replace(Fn *fn, InstrId id, const TruthTable *of)
{
    TruthTable ordered = in_order_of_text(fn, of);
    const TruthTable *f = &ordered;
    TruthTable other = with_other_constant(fn, f);
    const TruthTable *best = find_plain(f) || !find_plain(&other) ? f : &other;
    const struct Plain *instr = find_plain(best);
    if (truth_is_move(f)) {
        instr_replace_by_move(fn, id, f->n ? f->input[0] : op_const(fn, f->table ? UINT32_MAX : 0, W32));
    } else if (instr) {
        instr_replace(fn, id, desc_make(fn->tables, instr->op, TY_B32), best->input, best->n);
    } else {
        Operand uses[TRUTH_INPUTS + 1];
        for (uint32_t k = 0; k < TRUTH_INPUTS; k++)
            uses[k] = k < f->n ? f->input[k] : op_const(fn, 0, W32);
        uses[TRUTH_INPUTS] = op_const(fn, f->table, W32);
        instr_replace(fn, id, desc_make(fn->tables, OP_LOP3, TY_B32), uses, TRUTH_INPUTS + 1);
    }
}
