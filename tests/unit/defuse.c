// SPDX-License-Identifier: MIT
// Tests definitions and uses against a naive list, on small examples, and on large functions.
#include <stdio.h>

#include "tests/unit/unit.h"

enum { BLOCKS = 12, INSTRS = 8, VALUES = 6, MANY = 1000000 };

// Instructions of blocks. Operands: d p c = definition of a value, predicate, carry; u q C = use of one; a 64-bit use;
// k o 32-bit and 64-bit constant; x = register of an opaque instruction; _ = sink, a definition.
static const struct {
    const char *mnemonic, *shape, *ops;
} forms[] = {
    {"mov.u32", "%,%", "dk"},          {"add.u32", "%,%,%", "duu"},         {"add.u32", "%,%,%", "duk"},
    {"selp.u32", "%,%,%,%", "duuq"},   {"setp.eq.u32", "%,%,%", "puu"},     {"setp.lt.u32", "%|%,%,%", "ppuk"},
    {"add.cc.u32", "%,%,%", "dcuu"},   {"addc.u32", "%,%,%", "duuC"},       {"ld.global.v2.u32", "{%,%},[&]", "d_ao"},
    {"st.global.u32", "[&],%", "aou"}, {"tcgen05.ld", "{%,%},[&]", "xxao"}, {"bar.sync", "%", "k"},
};

typedef struct Program {
    Fixture f;
    Fn *fn;
    uint64_t *seed;
    uint32_t n;  // blocks 1 .. n
    RegId value[VALUES], pred[VALUES], pinned[VALUES], address, cc;
} Program;

static RegId any(Program *p, const RegId *regs) { return regs[unit_random(p->seed, VALUES)]; }

static Operand inout(Program *p)
{
    Operand o = use(p->fn, any(p, p->pinned));
    o.mods = OPM_INOUT;
    return o;
}

static Operand operand(Program *p, char letter)
{
    switch (letter) {
    case 'd': return def(p->fn, any(p, p->value));
    case 'p': return def(p->fn, any(p, p->pred));
    case 'c': return def(p->fn, p->cc);
    case 'u': return use(p->fn, any(p, p->value));
    case 'q': return use(p->fn, any(p, p->pred));
    case 'C': return use(p->fn, p->cc);
    case 'a': return use(p->fn, p->address);
    case 'k': return op_const(p->fn, unit_random(p->seed, 16), W32);
    case 'o': return op_const(p->fn, unit_random(p->seed, 1000), W64);
    case 'x': return inout(p);
    default: return op_def(op_none());
    }
}

// Returns the tied operand of a guarded definition.
static Operand tied(Program *p, Operand defined)
{
    if (!op_is_reg(defined) || op_file(defined) == RF_CC)
        return op_none();
    return operand(p, op_file(defined) == RF_P ? 'q' : unit_random(p->seed, 4) ? 'u' : 'k');
}

static void emit_form(Program *p, BlockId b)
{
    uint32_t form = unit_random(p->seed, ARRAY_LEN(forms)), n = 0, ndef = 0;
    uint8_t flags = unit_random(p->seed, 3) ? 0 : IF_GUARDED;
    Operand ops[16];
    for (const char *letter = forms[form].ops; *letter; letter++) {
        ops[n++] = operand(p, *letter);
        ndef += op_is_def(ops[n - 1]);
    }
    if (flags && ndef && p->fn->form == FORM_SSA) {
        flags |= IF_TIED;
        for (uint32_t k = 0; k < ndef; k++)
            ops[n++] = tied(p, ops[k]);
    }
    if (flags)
        ops[n++] = operand(p, 'q');
    emit(p->fn, b, forms[form].mnemonic, forms[form].shape, flags, ops, n);
}

// The inputs need not match the predecessors in this test.
static void emit_phi(Program *p, BlockId b)
{
    emit(p->fn, b, "mov.phi", "%,%:%,%:%", 0,
         OPS(operand(p, 'd'), op_block(1 + unit_random(p->seed, p->n)), operand(p, 'u'), op_block(b), operand(p, 'u')));
}

static void build_random(Program *p)
{
    fixture_open(&p->f);
    Fn *fn = p->fn = p->f.fn;
    fn->form = unit_random(p->seed, 2) ? FORM_SSA : FORM_MULTI;
    for (int k = 0; k < VALUES; k++) {
        p->value[k] = reg_new(fn, RF_R, W32);
        p->pred[k] = reg_new(fn, RF_P, W1);
        p->pinned[k] = reg_new(fn, RF_R, W32);
        ir_reg(fn, p->pinned[k])->flags = REG_PINNED;
    }
    p->address = reg_new(fn, RF_R, W64);
    p->cc = fn->cc = reg_new(fn, RF_CC, W1);
    fn->flags |= FN_PASSTHROUGH;  // the carry may be used anywhere
    p->n = 1 + unit_random(p->seed, BLOCKS);
    for (uint32_t k = 0; k < p->n; k++)
        block_new(fn);
    for (BlockId b = 1; b <= p->n; b++)
        block_insert_after(fn, b, unit_random(p->seed, 2) ? fn->last : 0);
    for (BlockId b = 1; b <= p->n; b++) {
        if (fn->form == FORM_SSA && unit_random(p->seed, 2))
            emit_phi(p, b);
        for (uint32_t k = unit_random(p->seed, INSTRS); k > 0; k--)
            emit_form(p, b);
        BlockId to = 1 + unit_random(p->seed, p->n);
        if (unit_random(p->seed, 2))
            emit_branch(fn, b, any(p, p->pred), to, 1 + unit_random(p->seed, p->n));
        else
            emit_bra(fn, b, to);
    }
}

// Checks the next reference in the row of a register.
static bool is_next(const Refs *refs, uint32_t *at, RegId r, InstrId i, uint32_t op)
{
    const Ref *ref = &refs->at[*at];
    return (*at)++ < refs->first[r + 1] && ref->instr == i && ref->op == op;
}

// Checks that the rows have exactly the operands that the accessors return, in layout order.
static void check_register(const Fn *fn, const Analyses *a, RegId r)
{
    uint32_t d = a->defs.first[r], u = a->uses.first[r];
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->nops; k++) {
                if (!op_is_reg(ops[k]) || op_index(ops[k]) != r)
                    continue;
                bool both = ops[k].mods & OPM_INOUT;
                if (k < i->ndef || both)
                    CHECK(is_next(&a->defs, &d, r, id, k));
                if (k >= i->ndef)
                    CHECK(is_next(&a->uses, &u, r, id, k));
            }
        }
    }
    CHECK_EQ(d, a->defs.first[r + 1]);
    CHECK_EQ(u, a->uses.first[r + 1]);
}

static void check_places(const Fn *fn, const Analyses *a)
{
    InstrId last = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            CHECK(a->place[id] > 0 && (!last || stands_before(a, last, id)));
            last = id;
        }
    }
}

TEST(defuse_random)
{
    uint64_t seed = 1993;
    for (uint32_t round = 0; round < 4000; round++) {
        Program p = {.seed = &seed};
        char why[200];
        unit_context("program %u", round);
        build_random(&p);
        CHECK_VERIFIES(p.fn);
        const Analyses *a = analysis_need(p.fn, AN_DEFUSE);
        CHECK_EQ(a->valid, AN_DEFUSE);  // it needs no other analysis
        for (RegId r = 1; r < p.fn->regs.n; r++)
            check_register(p.fn, a, r);
        check_places(p.fn, a);
        analysis_need(p.fn, AN_NUSES);
        for (RegId r = 1; r < p.fn->regs.n; r++)
            CHECK_EQ(nuses_of(a, r), use_count(a, r));
        CHECK(analysis_check(p.fn, AN_DEFUSE | AN_NUSES, why));
        fixture_close(&p.f);
    }
}

// Checks a row as text, "i3.0 i4.2".
static void check_row(const Analyses *a, bool uses, RegId r, const char *expected, int line)
{
    char text[200] = "";
    size_t n = 0;
    FOR_REFS(uses ? &a->uses : &a->defs, r, ref) {
        n += (size_t)snprintf(text + n, sizeof text - n, n ? " i%u.%u" : "i%u.%u", ref->instr, ref->op);
    }
    unit_check_text(text, SIZE_MAX, expected, __FILE__, line);
}
#define DEFS(r, expected) check_row(a, false, (r), (expected), __LINE__)
#define USES(r, expected) check_row(a, true, (r), (expected), __LINE__)

TEST(defuse_by_hand)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    fn->form = FORM_SSA;
    RegId r = reg_new(fn, RF_R, W32), s = reg_new(fn, RF_R, W32), x = reg_new(fn, RF_R, W32);
    RegId p = reg_new(fn, RF_P, W1), cc = fn->cc = reg_new(fn, RF_CC, W1), unused = reg_new(fn, RF_R, W32);
    ir_reg(fn, x)->flags = REG_PINNED;
    Operand both = use(fn, x);
    both.mods = OPM_INOUT;
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1), b3 = add_block(fn, 2);
    emit(fn, b1, "mov.u32", "%,%", 0, OPS(def(fn, r), op_const(fn, r, W32)));  // 1; constants are no registers
    emit(fn, b1, "add.cc.u32", "%,%,%", 0, OPS(def(fn, x), def(fn, cc), use(fn, r), use(fn, r)));  // 2
    emit(fn, b1, "addc.u32", "%,%,%", IF_GUARDED | IF_TIED,
         OPS(def(fn, s), use(fn, r), use(fn, x), use(fn, cc), use(fn, r), use(fn, p)));  // 3
    emit(fn, b1, "tcgen05.ld", "{%,%}", IF_GUARDED, OPS(both, both, use(fn, p)));        // 4
    emit_ret(fn, b1);                                                                    // 5
    emit(fn, b3, "mov.phi", "%,%:%", 0, OPS(def(fn, p), op_block(b2), use(fn, p)));      // 6, unreachable
    emit_branch(fn, b3, p, b2, b3);                                                      // 7
    emit_bra(fn, b2, b3);                                                                // 8
    const Analyses *a = analysis_need(fn, AN_DEFUSE);
    DEFS(r, "i1.0");
    USES(r, "i2.2 i2.3 i3.1 i3.4");
    DEFS(s, "i3.0");
    USES(s, "");
    DEFS(x, "i2.0 i4.0 i4.1");
    USES(x, "i3.2 i4.0 i4.1");
    DEFS(cc, "i2.1");
    USES(cc, "i3.3");
    DEFS(p, "i6.0");
    USES(p, "i3.5 i4.2 i6.2 i7.2");
    DEFS(unused, "");
    USES(unused, "");
    CHECK(def_count(a, x) == 3 && use_count(a, x) == 3 && def_count(a, p) == 1 && use_count(a, p) == 4);
    CHECK(def_count(a, unused) == 0 && use_count(a, unused) == 0);
    CHECK(stands_before(a, 5, 8) && stands_before(a, 8, 6) && !stands_before(a, 6, 6));
    uint32_t defs = 0, uses = 0;
    FOR_DEFS(a, x, d) {
        defs += d->op + 1;
    }
    FOR_USES(a, unused, u) {
        uses += u->op + 1;
    }
    CHECK(defs == 4 && uses == 0);
    fixture_close(&f);
}

TEST(defuse_empty)
{
    Fixture f;
    fixture_open(&f);
    const Analyses *a = analysis_need(f.fn, AN_DEFUSE | AN_LIVE);
    CHECK(a->nregs == 1 && a->ninstrs == 1);
    analysis_drop(f.fn, 0);
    emit_ret(f.fn, add_block(f.fn, 0));
    analysis_need(f.fn, AN_DEFUSE | AN_LIVE);
    CHECK(a->place[1] > 0);
    fixture_close(&f);
}

/* -- Validity ------------------------------------------------------------------------------------------- */

static void check_stale(const Fn *fn, const char *expected, int line)
{
    char why[200];
    analysis_check(fn, AN_DEFUSE, why);
    unit_check_text(why, SIZE_MAX, expected, __FILE__, line);
}
#define STALE(expected) check_stale(fn, (expected), __LINE__)

TEST(defuse_stale)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32), s = reg_new(fn, RF_R, W32);
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1);
    InstrId mov = emit(fn, b1, "mov.u32", "%,%", 0, OPS(def(fn, r), use(fn, r)));
    InstrId bar = emit(fn, b1, "bar.sync", "%", 0, OPS(op_const(fn, 0, W32)));
    emit_bra(fn, b1, b2);
    emit_ret(fn, b2);
    analysis_need(fn, AN_DEFUSE);
    STALE("");
    *ir_def(fn, ir_instr(fn, mov), 0) = def(fn, s);
    STALE("DEFUSE was kept but is out of date: R0 has different definitions");
    *ir_def(fn, ir_instr(fn, mov), 0) = def(fn, r);
    *ir_use(fn, ir_instr(fn, mov), 0) = use(fn, s);
    STALE("DEFUSE was kept but is out of date: R0 has different uses");
    *ir_use(fn, ir_instr(fn, mov), 0) = use(fn, r);
    STALE("");
    // Another layout order, with the same rows.
    block_unlink(fn, b2);
    block_insert_after(fn, b2, 0);
    STALE("DEFUSE was kept but is out of date: an instruction of b0 has moved");
    block_unlink(fn, b2);
    block_append(fn, b2);
    // A removed instruction without registers leaves a gap.
    ir_remove(fn, bar);
    STALE("");
    ir_remove(fn, mov);
    STALE("DEFUSE was kept but is out of date: R0 has different definitions");
    emit(fn, b2, "bar.sync", "%", 0, OPS(op_const(fn, 0, W32)));
    STALE("DEFUSE was kept but is out of date: there are new instructions");
    reg_new(fn, RF_R, W32);
    STALE("DEFUSE was kept but is out of date: there are new registers");
    analysis_drop(fn, 0);
    analysis_need(fn, AN_DEFUSE);
    STALE("");
    fixture_close(&f);
}

/* -- At size -------------------------------------------------------------------------------------------- */

// One block; each instruction uses the previous result and one register that all use.
TEST(defuse_one_block)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId all = reg_new(fn, RF_R, W32), last = all;
    BlockId b = add_block(fn, 0);
    DescId add = desc_parse(fn->tables, "add.u32", "%,%,%");
    for (uint32_t k = 0; k < MANY; k++) {
        RegId r = reg_new(fn, RF_R, W32);
        ir_append(fn, b, add, 0, OPS(def(fn, r), use(fn, last), use(fn, all)));
        last = r;
    }
    emit_ret(fn, b);
    const Analyses *a = analysis_need(fn, AN_DEFUSE);
    CHECK_EQ(use_count(a, all), MANY + 1);
    CHECK_EQ(def_count(a, all), 0);
    bool right = true;
    for (RegId r = all + 1; r < last; r++)
        right &= def_count(a, r) == 1 && use_count(a, r) == 1 && a->uses.at[a->uses.first[r]].instr == r;
    for (InstrId i = 1; i <= MANY + 1; i++)
        right &= a->place[i] == i;
    CHECK(right);
    fixture_close(&f);
}

// A switch to many blocks, each of which defines the register that the join uses.
TEST(defuse_wide_join)
{
    enum { N = 100000 };
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId *to = NEW_ARRAY(&f.ctx.arena, BlockId, N), entry = add_block(fn, 0);
    for (uint32_t k = 0; k < N; k++)
        to[k] = add_block(fn, k + 1);
    BlockId end = add_block(fn, N + 1);
    emit_brx(fn, entry, r, to, N);
    for (uint32_t k = 0; k < N; k++) {
        emit(fn, to[k], "mov.u32", "%,%", 0, OPS(def(fn, r), op_const(fn, k, W32)));
        emit_bra(fn, to[k], end);
    }
    InstrId sum = emit(fn, end, "add.u32", "%,%,%", 0, OPS(def(fn, r), use(fn, r), use(fn, r)));
    emit_ret(fn, end);
    const Analyses *a = analysis_need(fn, AN_DEFUSE);
    CHECK_EQ(def_count(a, r), N + 1);
    CHECK_EQ(use_count(a, r), 3);
    CHECK_EQ(a->defs.at[a->defs.first[r] + N].instr, sum);
    CHECK_EQ(a->uses.at[a->uses.first[r] + 2].op, 2);
    fixture_close(&f);
}

void test_defuse(void)
{
    RUN(defuse_random);
    RUN(defuse_by_hand);
    RUN(defuse_empty);
    RUN(defuse_stale);
    RUN(defuse_one_block);
    RUN(defuse_wide_join);
}
