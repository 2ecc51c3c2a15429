// SPDX-License-Identifier: MIT
// Tests level 3 of the verifier: each invariant of ir/analysis/verify_form.c (and those of level 2 about tied uses) is
// broken alone and must be reported in these words; before and after, the function verifies.
#include "tests/unit/unit.h"

enum { REGS = 12 };

typedef struct Ssa {
    Fixture f;
    Fn *fn;
    RegId r[REGS], p[2], cc, named;
    BlockId b[7];
    InstrId setp, guarded, vector, carry, opaque, branch;  // of b0
    InstrId left;                                          // of b1
    InstrId phi, phi2, sum, loop;                          // of b3
    InstrId join;                                          // of b5
    InstrId stray, stray_jump;                             // of b6
} Ssa;

static bool verifies(const Fn *fn, int line)
{
    InstrId at;
    char why[200];
    bool ok = fn_verify(fn, VERIFY_FORM, &at, why);
    unit_context("%s", why);
    unit_check(ok && at == 0 && !why[0], __FILE__, line, "the function verifies");
    unit_context("%s", "");
    return ok;
}

static void check_broken(const Fn *fn, InstrId where, const char *expected, int line)
{
    InstrId at;
    char why[200];
    bool ok = fn_verify(fn, VERIFY_FORM, &at, why);
    unit_check_eq(ok, false, __FILE__, line, "it verifies");
    unit_check_text(why, SIZE_MAX, expected, __FILE__, line);
    unit_check_eq(at, where, __FILE__, line, "the instruction");
}

#define BROKEN(id, expected) check_broken(s.fn, (id), (expected), __LINE__)
#define VERIFIES() verifies(s.fn, __LINE__)
// Changes one field, expects the report at the instruction, restores the field.
#define BREAK(id, expected, place, value)  \
    do {                                   \
        __typeof__(place) kept_ = (place); \
        (place) = (value);                 \
        BROKEN(id, expected);              \
        (place) = kept_;                   \
        VERIFIES();                        \
    } while (0)
#define INSTR(id) (*ir_instr(s.fn, s.id))
#define OPERAND(id, k) (ir_ops(s.fn, ir_instr(s.fn, s.id))[k])
#define USE(reg) use(s.fn, s.reg)
#define DEF(reg) def(s.fn, s.reg)

// Fills b0 with all kinds of straight-line code, then a branch to b1 or b2.
static void emit_entry(Ssa *s)
{
    Fn *fn = s->fn;
    BlockId b = s->b[0];
    Operand r0 = use(fn, s->r[0]), r1 = use(fn, s->r[1]), r2 = use(fn, s->r[2]), r3 = use(fn, s->r[3]);
    Operand r4 = use(fn, s->r[4]), p0 = use(fn, s->p[0]), cc = use(fn, s->cc), _ = op_none(),
            old = op_const(fn, 0, W32);
    Operand zero = op_const(fn, 0, W64), named = use(fn, s->named), inout = r2;
    inout.mods = OPM_INOUT;
    emit(fn, b, "mov.u32", "%,%", 0, OPS(op_def(r0), named));
    emit(fn, b, "mov.u32", "%,%", 0, OPS(op_def(named), r0));
    emit(fn, b, "mov.u64", "%,%", 0, OPS(op_def(r3), zero));
    s->setp = emit(fn, b, "setp.eq.u32", "%,%,%", 0, OPS(op_def(p0), r0, r0));
    s->guarded = emit(fn, b, "add.u32", "%,%,%", IF_GUARDED | IF_TIED, OPS(op_def(r1), r0, r0, r0, p0));
    s->vector = emit(fn, b, "ld.global.v2.u32", "{%,%},[&]", IF_GUARDED | IF_TIED,
                     OPS(op_def(_), op_def(r2), r3, zero, _, _, p0));
    emit(fn, b, "add.cc.u32", "%,%,%", 0, OPS(op_def(r2), op_def(cc), r0, r0));
    s->carry =
        emit(fn, b, "add.cc.u32", "%,%,%", IF_GUARDED | IF_TIED, OPS(op_def(r4), op_def(cc), r0, r0, old, _, p0));
    s->opaque = emit(fn, b, "tcgen05.ld", "%,[&]", IF_GUARDED, OPS(inout, r3, zero, p0));
    s->branch = emit_branch(fn, b, s->p[0], s->b[1], s->b[2]);
}

// Fills the other blocks: b1 and b2 to b3; b3 to b3 or b4; b4 to b5 (twice) or itself; the unreachable b6 to b5.
static void emit_rest(Ssa *s)
{
    Fn *fn = s->fn;
    BlockId *b = s->b;
    Operand r0 = use(fn, s->r[0]), r1 = use(fn, s->r[1]), r5 = use(fn, s->r[5]), r6 = use(fn, s->r[6]);
    Operand r7 = use(fn, s->r[7]), r8 = use(fn, s->r[8]), r10 = use(fn, s->r[10]), p1 = use(fn, s->p[1]);
    Operand one = op_const(fn, 1, W32), undef = op_imm(CONST_UNDEF);
    s->left = emit(fn, b[1], "add.u32", "%,%,%", 0, OPS(op_def(r5), r1, r0));
    emit_bra(fn, b[1], b[3]);
    emit_bra(fn, b[2], b[3]);
    s->phi = emit(fn, b[3], "mov.phi", "%,%:%,%:%,%:%", 0,
                  OPS(op_def(r6), op_block(b[1]), r5, op_block(b[2]), undef, op_block(b[3]), r7));
    s->phi2 = emit(fn, b[3], "mov.phi", "%,%:%,%:%,%:%", 0,
                   OPS(op_def(r7), op_block(b[3]), r8, op_block(b[2]), r0, op_block(b[1]), r1));
    s->sum = emit(fn, b[3], "add.u32", "%,%,%", 0, OPS(op_def(r8), r6, r7));
    emit(fn, b[3], "setp.ne.u32", "%,%,%", 0, OPS(op_def(p1), r8, one));
    s->loop = emit_branch(fn, b[3], s->p[1], b[3], b[4]);
    emit_brx(fn, b[4], s->r[8], (BlockId[]){b[5], b[4], b[5]}, 3);
    s->join = emit(fn, b[5], "mov.phi", "%,%:%,%:%", 0, OPS(def(fn, s->r[9]), op_block(b[4]), r8, op_block(b[6]), r10));
    emit_ret(fn, b[5]);
    s->stray = emit(fn, b[6], "add.u32", "%,%,%", 0, OPS(op_def(r10), use(fn, s->r[11]), one));
    s->stray_jump = emit_bra(fn, b[6], b[5]);
}

static void open_ssa(Ssa *s)
{
    fixture_open(&s->f);
    Fn *fn = s->fn = s->f.fn;
    fn->form = FORM_SSA;
    for (int k = 0; k < REGS; k++)
        s->r[k] = reg_new(fn, RF_R, k == 3 ? W64 : W32);
    for (int k = 0; k < 2; k++)
        s->p[k] = reg_new(fn, RF_P, W1);
    s->cc = fn->cc = reg_new(fn, RF_CC, W1);
    s->named = reg_new(fn, RF_R, W32);
    ir_reg(fn, s->r[2])->flags = ir_reg(fn, s->r[3])->flags = REG_PINNED;
    ir_reg(fn, s->named)->flags = REG_NAMED;
    for (uint32_t k = 0; k < 7; k++)
        s->b[k] = add_block(fn, k);
    emit_entry(s);
    emit_rest(s);
    verifies(fn, __LINE__);
}

TEST(form_f1_multi)
{
    Ssa s;
    fixture_open(&s.f);
    Fn *fn = s.fn = s.f.fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    BlockId b0 = add_block(fn, 0), b1 = add_block(fn, 1);
    emit_bra(fn, b0, b1);
    InstrId ret = emit_ret(fn, b1);
    VERIFIES();
    InstrId phi = ir_insert_before(fn, ret, desc_parse(fn->tables, "mov.phi", "%,%:%"), 0,
                                   OPS(def(fn, r), op_block(b0), op_const(fn, 0, W32)));
    BROKEN(phi, "a phi is not allowed outside ssa form");
    fn->form = FORM_SSA;
    VERIFIES();
    ir_remove(fn, phi);
    fn->form = FORM_MULTI;
    Operand ops[] = {def(fn, r), use(fn, r), use(fn, r), use(fn, p)};
    InstrId tied = ir_insert_before(fn, ret, desc_parse(fn->tables, "mov.u32", "%,%"), IF_GUARDED | IF_TIED, ops, 4);
    BROKEN(tied, "tied uses are not allowed outside ssa form");
    CHECK(fn->analyses == NULL);  // multi form needs none
    fixture_close(&s.f);
}

TEST(form_f2_definitions)
{
    Ssa s;
    open_ssa(&s);
    BREAK(s.left, "R1 has a second definition; the first is in b0", OPERAND(left, 0), DEF(r[1]));
    BREAK(s.phi2, "R6 has a second definition; the first is in b3", OPERAND(phi2, 0), DEF(r[6]));
    BREAK(s.stray, "R9 has a second definition; the first is in b5", OPERAND(stray, 0), DEF(r[9]));
    BREAK(s.sum, "R11 is used but has no definition", OPERAND(sum, 1), USE(r[11]));
    BREAK(s.phi, "R11 is used but has no definition", OPERAND(phi, 2), USE(r[11]));
    BREAK(s.guarded, "R11 is used but has no definition", OPERAND(guarded, 3), USE(r[11]));
    // Registers outside ssa may have any number of definitions: R2, the carry and the named one have two or none here.
    BREAK(s.vector, "tied use 1 is neither a register nor a constant", ir_reg(s.fn, s.r[2])->flags, 0);
    OPERAND(sum, 1) = USE(named);
    VERIFIES();
    fixture_close(&s.f);
}

TEST(form_f3_tied)
{
    Ssa s;
    open_ssa(&s);
    Fn *fn = s.fn;
    Operand r0 = USE(r[0]), ops[] = {DEF(r[11]), r0, r0, r0, USE(p[0])};
    Operand plain[] = {DEF(r[11]), r0, r0, USE(p[0])};
    InstrId add = ir_insert_before(fn, s.branch, INSTR(guarded).desc, IF_GUARDED | IF_TIED, ops, 5);
    VERIFIES();
    ir_remove(fn, add);
    add = ir_insert_before(fn, s.branch, INSTR(guarded).desc, IF_GUARDED, plain, 4);
    BROKEN(add, "R11 is defined under a guard without a tied use");
    // A register outside ssa keeps its old value implicitly and needs no tied use.
    *ir_def(fn, ir_instr(fn, add), 0) = DEF(r[2]);
    VERIFIES();
    *ir_def(fn, ir_instr(fn, add), 0) = DEF(named);
    VERIFIES();
    ir_remove(fn, add);
    add = ir_insert_before(fn, s.branch, INSTR(guarded).desc, IF_TIED, ops, 4);
    BROKEN(add, "an instruction without a guard has tied uses");
    fixture_close(&s.f);
}

TEST(form_f3_tied_kinds)
{
    Ssa s;
    open_ssa(&s);
    static const char sink0[] = "tied use 0 must be the sink `_`, as its definition has no old value in ssa";
    static const char sink1[] = "tied use 1 must be the sink `_`, as its definition has no old value in ssa";
    Operand negated = USE(r[0]);
    negated.mods = OPM_NEG;
    BREAK(s.guarded, "tied use 0 is neither a register nor a constant", OPERAND(guarded, 3), op_none());
    BREAK(s.guarded, "tied use 0 has a modifier", OPERAND(guarded, 3), negated);
    BREAK(s.vector, sink0, OPERAND(vector, 4), USE(r[0]));
    BREAK(s.vector, sink1, OPERAND(vector, 5), USE(r[2]));
    BREAK(s.vector, sink1, OPERAND(vector, 5), op_imm(CONST_UNDEF));
    BREAK(s.carry, sink1, OPERAND(carry, 5), USE(cc));
    OPERAND(guarded, 3) = op_imm(CONST_UNDEF);
    VERIFIES();
    fixture_close(&s.f);
}

TEST(form_f4_places)
{
    Ssa s;
    open_ssa(&s);
    Fn *fn = s.fn;
    DescId mov = desc_parse(fn->tables, "mov.u32", "%,%");
    InstrId first = ir_insert_before(fn, s.phi, mov, 0, OPS(DEF(r[11]), op_const(fn, 1, W32)));
    BROKEN(s.phi, "a phi follows another instruction");
    ir_remove(fn, first);
    InstrId middle = ir_insert_before(fn, s.phi2, mov, 0, OPS(DEF(r[11]), op_const(fn, 1, W32)));
    BROKEN(s.phi2, "a phi follows another instruction");
    ir_remove(fn, middle);
    VERIFIES();
    InstrId entry = ir_insert_before(fn, ir_block(fn, s.b[0])->first, desc_parse(fn->tables, "mov.phi", "%,%:%"), 0,
                                     OPS(DEF(r[11]), op_block(s.b[2]), op_const(fn, 1, W32)));
    BROKEN(entry, "the entry block has a phi");
    *ir_use(fn, ir_instr(fn, ir_terminator(fn, s.b[2])), 0) = op_block(s.b[0]);
    BROKEN(entry, "the entry block has a phi");
    fixture_close(&s.f);
}

TEST(form_f4_inputs)
{
    Ssa s;
    open_ssa(&s);
    BREAK(s.phi, "a phi has two inputs from b1", OPERAND(phi, 3), op_block(s.b[1]));
    BREAK(s.phi, "a phi of b3 has an input from b4, which is not a predecessor", OPERAND(phi, 3), op_block(s.b[4]));
    BREAK(s.join, "a phi of b5 has no input from its predecessor b3", OPERAND(loop, 1), op_block(s.b[5]));
    BREAK(s.phi, "a phi of b3 has no input from its predecessor b6", OPERAND(stray_jump, 0), op_block(s.b[3]));
    BREAK(s.join, "a phi of b5 has an input from b6, which is not a predecessor", OPERAND(stray_jump, 0),
          op_block(s.b[6]));
    // The same for the second phi of a block.
    BREAK(s.phi2, "a phi has two inputs from b3", OPERAND(phi2, 5), op_block(s.b[3]));
    fixture_close(&s.f);
}

TEST(form_f5_within_a_block)
{
    Ssa s;
    open_ssa(&s);
    BREAK(s.setp, "R1 is used before its definition", OPERAND(setp, 1), USE(r[1]));
    BREAK(s.sum, "R8 is used before its definition", OPERAND(sum, 1), USE(r[8]));
    BREAK(s.guarded, "R1 is used before its definition", OPERAND(guarded, 3), USE(r[1]));
    // After the definition, and in phis of a loop, the use is valid.
    OPERAND(phi, 6) = USE(r[6]);
    OPERAND(carry, 2) = USE(r[1]);
    OPERAND(carry, 4) = USE(r[1]);
    VERIFIES();
    fixture_close(&s.f);
}

TEST(form_f5_dominance)
{
    Ssa s;
    open_ssa(&s);
    Fn *fn = s.fn;
    BREAK(s.sum, "R5 is used in b3, which its definition in b1 does not dominate", OPERAND(sum, 1), USE(r[5]));
    BREAK(s.sum, "R10 is used in b3, which its definition in b6 does not dominate", OPERAND(sum, 1), USE(r[10]));
    BREAK(s.phi, "a phi uses R5 from b2, which its definition in b1 does not dominate", OPERAND(phi, 4), USE(r[5]));
    BREAK(s.phi, "a phi uses R8 from b1, which its definition in b3 does not dominate", OPERAND(phi, 2), USE(r[8]));
    BREAK(s.branch, "P1 is used in b0, which its definition in b3 does not dominate", OPERAND(branch, 2), USE(p[1]));
    BREAK(s.guarded, "P1 is used in b0, which its definition in b3 does not dominate", OPERAND(guarded, 4), USE(p[1]));
    BREAK(s.guarded, "R8 is used in b0, which its definition in b3 does not dominate", OPERAND(guarded, 3), USE(r[8]));
    // An unreachable block may contain any use, and a phi may take any input from it.
    OPERAND(stray, 1) = USE(r[10]);
    VERIFIES();
    OPERAND(stray, 1) = USE(r[5]);
    OPERAND(join, 4) = USE(r[11]);
    VERIFIES();
    *ir_use(fn, ir_instr(fn, ir_terminator(fn, s.b[4])), 0) = USE(r[8]);
    ir_run(fn, ir_list(fn, 1)->ops)[1] = op_block(s.b[6]);
    BROKEN(s.join, "R11 is used but has no definition");
    OPERAND(join, 4) = USE(r[10]);
    BROKEN(s.stray, "R5 is used in b6, which its definition in b1 does not dominate");
    fixture_close(&s.f);
}

TEST(form_f6_pinned)
{
    Ssa s;
    open_ssa(&s);
    Fn *fn = s.fn;
    BREAK(s.opaque, "R3 is used by an opaque instruction but not pinned", ir_reg(fn, s.r[3])->flags, 0);
    BREAK(s.phi, "a phi defines R2, which is not in ssa form", OPERAND(phi, 0), DEF(r[2]));
    BREAK(s.phi, "a phi uses R2, which is not in ssa form", OPERAND(phi, 2), USE(r[2]));
    BREAK(s.phi2, "a phi uses R12, which is not in ssa form", OPERAND(phi2, 2), USE(named));
    BREAK(s.join, "a phi uses R2, which is not in ssa form", OPERAND(join, 4), USE(r[2]));  // unreachable or not
    BREAK(s.guarded, "a tied use names R2, which is not in ssa form", OPERAND(guarded, 3), USE(r[2]));
    BREAK(s.guarded, "a tied use names R12, which is not in ssa form", OPERAND(guarded, 3), USE(named));
    fixture_close(&s.f);
}

TEST(form_f6_multi)
{
    Ssa s;
    fixture_open(&s.f);
    Fn *fn = s.fn = s.f.fn;
    RegId r = reg_new(fn, RF_UR, W32), p = reg_new(fn, RF_P, W1);
    BlockId b = add_block(fn, 0);
    Operand inout = use(fn, r);
    inout.mods = OPM_INOUT;
    InstrId opaque = emit(fn, b, "tcgen05.ld", "%", IF_GUARDED, OPS(inout, use(fn, p)));
    emit_ret(fn, b);
    BROKEN(opaque, "UR0 is used by an opaque instruction but not pinned");
    ir_reg(fn, r)->flags = REG_NAMED;
    BROKEN(opaque, "UR0 is used by an opaque instruction but not pinned");
    ir_reg(fn, r)->flags = REG_PINNED;
    VERIFIES();
    fixture_close(&s.f);
}

TEST(form_f7_analyses)
{
    Ssa s;
    open_ssa(&s);
    Fn *fn = s.fn;
    CHECK(fn->analyses == NULL);  // the verifier computes its own analyses
    analysis_need(fn, AN_DOM);
    VERIFIES();
    OPERAND(stray_jump, 0) = op_block(s.b[6]);
    OPERAND(join, 3) = op_block(s.b[4]);
    OPERAND(join, 1) = op_block(s.b[6]);
    BROKEN(s.join, "a phi of b5 has an input from b6, which is not a predecessor");
    InstrId ret = ir_terminator(fn, s.b[5]);
    ir_remove(fn, s.join);
    BROKEN(0, "CFG was kept but is out of date: b5 has different predecessors");
    CHECK_EQ(fn->analyses->valid, AN_CFG | AN_RPO | AN_DOM);
    analysis_drop(fn, AN_DOM);
    VERIFIES();
    ir_insert_before(fn, ret, desc_parse(fn->tables, "mov.u32", "%,%"), 0, OPS(DEF(r[9]), USE(r[8])));
    VERIFIES();
    fixture_close(&s.f);
}

TEST(form_levels)
{
    Ssa s;
    InstrId at;
    char why[200];
    open_ssa(&s);
    OPERAND(sum, 1) = USE(r[8]);
    CHECK(fn_verify(s.fn, VERIFY_TYPES, &at, why) && at == 0);
    CHECK(!fn_verify(s.fn, VERIFY_FORM, &at, why) && at == s.sum);
    OPERAND(sum, 1) = USE(r[3]);
    CHECK(fn_verify(s.fn, VERIFY_STRUCTURE, &at, why) && at == 0);
    CHECK(!fn_verify(s.fn, VERIFY_TYPES, &at, why) && at == s.sum);
    OPERAND(sum, 1) = op_none();
    INSTR(sum).nops++;
    CHECK(!fn_verify(s.fn, VERIFY_STRUCTURE, &at, why) && at == s.sum);
    CHECK(!fn_verify(s.fn, VERIFY_FORM, &at, why) && at == s.sum);
    fixture_close(&s.f);
}

// A switch to many blocks that join in phis, then an equally long chain that uses values of its start.
TEST(form_large)
{
    enum { N = 100000, PHIS = 4 };
    Ssa s;
    fixture_open(&s.f);
    Fn *fn = s.fn = s.f.fn;
    Arena *arena = &s.f.ctx.arena;
    fn->form = FORM_SSA;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId *b = NEW_ARRAY(arena, BlockId, 2 * N + 2);
    for (uint32_t k = 0; k < 2 * N + 2; k++)
        b[k] = add_block(fn, k);
    emit(fn, b[0], "mov.u32", "%,%", 0, OPS(def(fn, r), op_const(fn, 1, W32)));
    emit_brx(fn, b[0], r, b + 1, N);
    char *shape = NEW_ARRAY(arena, char, 4 * N + 2);
    Operand *ops = NEW_ARRAY(arena, Operand, 2 * N + 1);
    shape[0] = '%';
    for (uint32_t k = 0; k < N; k++) {
        RegId x = reg_new(fn, RF_R, W32);
        emit(fn, b[k + 1], "add.u32", "%,%,%", 0, OPS(def(fn, x), use(fn, r), use(fn, r)));
        emit_bra(fn, b[k + 1], b[N + 1]);
        memcpy(shape + 1 + 4 * k, ",%:%", 4);
        ops[1 + 2 * k] = op_block(b[k + 1]);
        ops[2 + 2 * k] = use(fn, x);
    }
    DescId phi = desc_parse(fn->tables, "mov.phi", shape);
    for (int k = 0; k < PHIS; k++) {
        ops[0] = def(fn, reg_new(fn, RF_R, W32));
        ir_append(fn, b[N + 1], phi, 0, ops, 2 * N + 1);
    }
    for (uint32_t k = N + 1; k < 2 * N + 1; k++) {
        emit(fn, b[k], "add.u32", "%,%,%", 0, OPS(def(fn, reg_new(fn, RF_R, W32)), use(fn, r), use(fn, r)));
        emit_bra(fn, b[k], b[k + 1]);
    }
    emit_ret(fn, b[2 * N + 1]);
    VERIFIES();
    fixture_close(&s.f);
}

void test_verify_form(void)
{
    RUN(form_f1_multi);
    RUN(form_f2_definitions);
    RUN(form_f3_tied);
    RUN(form_f3_tied_kinds);
    RUN(form_f4_places);
    RUN(form_f4_inputs);
    RUN(form_f5_within_a_block);
    RUN(form_f5_dominance);
    RUN(form_f6_pinned);
    RUN(form_f6_multi);
    RUN(form_f7_analyses);
    RUN(form_levels);
    RUN(form_large);
}
