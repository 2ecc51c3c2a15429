// SPDX-License-Identifier: MIT
// Functions of three values, bit by bit. What lop3 computes the evaluator knows; here it is asked about tables, whose
// eight bits are all that its inputs can be.
#include "phases/logic.h"

#include "ir/exec/eval.h"
#include "phases/bodies.h"

const uint8_t logic_input[LOGIC_INPUTS] = {0xf0, 0xcc, 0xaa};

uint8_t logic_compose(uint8_t table, const uint8_t of[static LOGIC_INPUTS])
{
    return (uint8_t)eval_look_up(of[0], of[1], of[2], table);
}

static uint64_t complement_of(uint64_t bits) { return ~bits & UINT32_MAX; }

Logic logic_of_operand(Fn *fn, Operand o)
{
    if (op_is_reg(o))
        return (Logic){.input = {o}, .n = 1, .table = logic_input[0]};
    uint64_t bits = tab_const(fn->tables, op_index(o)).bits, low = MIN(bits, complement_of(bits));
    Logic f = low ? (Logic){.input = {op_const(fn, low, W32)}, .n = 1, .table = logic_input[0]} : (Logic){.n = 0};
    return low == bits ? f : logic_complement(f);
}

Logic logic_complement(Logic f)
{
    f.table = (uint8_t)~f.table;
    return f;
}

bool logic_add_inputs(Logic *to, const Logic *from)
{
    for (uint32_t k = 0; k < from->n; k++) {
        Operand o = from->input[k];
        uint32_t at = 0;
        while (at < to->n && to->input[at].word < o.word)
            at++;
        if (at < to->n && to->input[at].word == o.word)
            continue;
        if (to->n == LOGIC_INPUTS)
            return false;
        memmove(to->input + at + 1, to->input + at, (to->n - at) * sizeof *to->input);
        to->input[at] = o;
        to->n++;
    }
    return true;
}

uint8_t logic_table_over(const Logic *f, const Logic *inputs)
{
    uint8_t of[LOGIC_INPUTS] = {0};
    for (uint32_t k = 0; k < f->n; k++)
        for (uint32_t at = 0; at < inputs->n; at++)
            if (op_same(inputs->input[at], f->input[k]))
                of[k] = logic_input[at];
    return logic_compose(f->table, of);
}

static bool depends_on(uint8_t table, uint32_t input)
{
    uint8_t ones = logic_input[input], zeroes = (uint8_t)~ones;
    return (table & ones) >> (4 >> input) != (table & zeroes);
}

void logic_reduce(Logic *f)
{
    Logic to = {0};
    for (uint32_t k = 0; k < f->n; k++)
        if (depends_on(f->table, k))
            to.input[to.n++] = f->input[k];
    to.table = to.n < f->n ? logic_table_over(f, &to) : f->table;
    *f = to;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

bool logic_is_move(const Logic *f) { return !f->n || (f->n == 1 && f->table == logic_input[0]); }

static const struct Plain {
    uint8_t n, table;
    const char *mnemonic, *shape;
} plain[] = {
    {1, 0x0f, "not.b32", "%,%"},
    {2, 0xc0, "and.b32", "%,%,%"},
    {2, 0xfc, "or.b32", "%,%,%"},
    {2, 0x3c, "xor.b32", "%,%,%"},
};

static const struct Plain *find_plain(const Logic *f)
{
    for (size_t k = 0; k < ARRAY_LEN(plain); k++)
        if (plain[k].n == f->n && plain[k].table == f->table)
            return &plain[k];
    return NULL;
}

// The same function of the complement of its last input, a constant; itself if that is none.
static Logic with_other_constant(Fn *fn, const Logic *f)
{
    Logic to = *f;
    uint32_t last = f->n ? f->n - 1u : 0;
    if (!f->n || op_is_reg(f->input[last]))
        return to;
    uint8_t of[LOGIC_INPUTS] = {logic_input[0], logic_input[1], logic_input[2]};
    of[last] = (uint8_t)~of[last];
    to.table = logic_compose(f->table, of);
    to.input[last] = op_const(fn, complement_of(tab_const(fn->tables, op_index(f->input[last])).bits), W32);
    return to;
}

// What decides the order of operands that are written, whatever numbers the inputs have in the function.
static uint64_t place_of(const Fn *fn, Operand o)
{
    return op_is_reg(o) ? ir_reg(fn, op_index(o))->ordinal
                        : (UINT64_C(1) << 32) + tab_const(fn->tables, op_index(o)).bits;
}

static Logic in_order_of_text(const Fn *fn, const Logic *f)
{
    Logic to = *f;
    for (uint32_t k = 1; k < to.n; k++)
        for (uint32_t n = k; n && place_of(fn, to.input[n]) < place_of(fn, to.input[n - 1]); n--) {
            Operand o = to.input[n];
            to.input[n] = to.input[n - 1];
            to.input[n - 1] = o;
        }
    to.table = logic_table_over(f, &to);
    return to;
}

bool logic_is_plain(Fn *fn, const Logic *f)
{
    Logic other = with_other_constant(fn, f);
    return logic_is_move(f) || find_plain(f) || find_plain(&other);
}

void logic_become(Fn *fn, InstrId id, const Logic *of)
{
    Logic ordered = in_order_of_text(fn, of);
    const Logic *f = &ordered;
    Logic other = with_other_constant(fn, f);
    const Logic *best = find_plain(f) || !find_plain(&other) ? f : &other;
    const struct Plain *instr = find_plain(best);
    if (logic_is_move(f)) {
        become_move(fn, id, f->n ? f->input[0] : op_const(fn, f->table ? UINT32_MAX : 0, W32));
    } else if (instr) {
        become(fn, id, desc_make(fn->tables, instr->mnemonic, instr->shape), best->input, best->n);
    } else {
        Operand uses[LOGIC_INPUTS + 1];
        for (uint32_t k = 0; k < LOGIC_INPUTS; k++)
            uses[k] = k < f->n ? f->input[k] : op_const(fn, 0, W32);
        uses[LOGIC_INPUTS] = op_const(fn, f->table, W32);
        become(fn, id, desc_make(fn->tables, "lop3.b32", "%,%,%,%,%"), uses, LOGIC_INPUTS + 1);
    }
}
