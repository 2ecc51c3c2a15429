// SPDX-License-Identifier: MIT
// Tests the verifier: each invariant of ir/core/verify.c is broken alone and must be reported; before and after, the
// function verifies.
#include "tests/unit/unit.h"

typedef struct Small {
    Fixture f;
    Fn *fn;
    RegId r1, r2, r3, d, p, cc;
    BlockId b1, b2, b3, b4, unlinked;
    InstrId mov, add_cc, addc, setp, guarded, branch;  // of b1
    InstrId st, call, ld, jump;                        // of b2
    InstrId brx, ret;                                  // of b3, b4
    SymId argument, result, callee;
} Small;

// Builds a function. b1: mov, carry chain, setp, guarded add, branch to b3 or b2; b2: a call sequence; b3: brx to b3 or
// b4; b4: ret.
static void open_small(Small *s)
{
    fixture_open(&s->f);
    Fn *fn = s->fn = s->f.fn;
    Name name = {str_intern_z(&fn->tables->strs, "callee"), NO_NUMBER};
    s->callee = module_sym(s->f.module, name, SYM_FUNC);
    s->argument = fn_sym(fn, name, SYM_CALLPARAM);
    s->result = fn_sym(fn, name, SYM_CALLPARAM);
    s->r1 = reg_new(fn, RF_R, W32);
    s->r2 = reg_new(fn, RF_R, W32);
    s->r3 = reg_new(fn, RF_R, W32);
    s->d = reg_new(fn, RF_R, W64);
    s->p = reg_new(fn, RF_P, W1);
    s->cc = fn->cc = reg_new(fn, RF_CC, W1);
    s->b1 = add_block(fn, 0);
    s->b2 = add_block(fn, 1);
    s->b3 = add_block(fn, 2);
    s->b4 = add_block(fn, 3);
    s->unlinked = block_new(fn);
    Operand r1 = use(fn, s->r1), r2 = use(fn, s->r2), r3 = use(fn, s->r3), p = use(fn, s->p), cc = use(fn, s->cc);
    s->mov = emit(fn, s->b1, "mov.u32", "%,%", 0, OPS(op_def(r1), op_const(fn, 7, W32)));
    s->add_cc = emit(fn, s->b1, "add.cc.u32", "%,%,%", 0, OPS(op_def(r2), op_def(cc), r1, r1));
    s->addc = emit(fn, s->b1, "addc.u32", "%,%,%", 0, OPS(op_def(r3), r1, r2, cc));
    s->setp = emit(fn, s->b1, "setp.eq.u32", "%,%,%", 0, OPS(op_def(p), r1, r2));
    s->guarded = emit(fn, s->b1, "add.u32", "%,%,%", IF_GUARDED, OPS(op_def(r3), r3, r1, p));
    s->branch = emit_branch(fn, s->b1, s->p, s->b3, s->b2);
    Operand offset = op_const(fn, 0, W64);
    s->st = emit(fn, s->b2, "st.param.u32", "[&],%", 0, OPS(op_sym(s->argument), offset, r1));
    s->call =
        emit(fn, s->b2, "call.uni", "($),$,($)", 0, OPS(op_sym(s->result), op_sym(s->callee), op_sym(s->argument)));
    s->ld = emit(fn, s->b2, "ld.param.u32", "%,[&]", 0, OPS(op_def(r2), op_sym(s->result), offset));
    s->jump = emit(fn, s->b2, "bra", "%", IF_IMPLICIT, OPS(op_block(s->b3)));
    fn->callseqs = 1;
    ir_instr(fn, s->st)->callseq = ir_instr(fn, s->call)->callseq = ir_instr(fn, s->ld)->callseq = 1;
    s->brx = emit_brx(fn, s->b3, s->r1, (BlockId[]){s->b3, s->b4}, 2);
    s->ret = emit_ret(fn, s->b4);
    CHECK_VERIFIES(fn);
}

static void check_reported(const Fn *fn, int level, const char *words, const char *file, int line)
{
    InstrId at;
    char why[200];
    bool reported = !ir_verify(fn, level, &at, why);
    unit_context("%s", reported ? why : "it verifies");
    unit_check(reported && strstr(why, words), file, line, words);
    if (level == VERIFY_TYPES)  // only the types are wrong
        unit_check(ir_verify(fn, VERIFY_STRUCTURE, &at, why), file, line, "the structure is right");
    unit_context("%s", "");
}

// Changes one field, expects the report, restores the field.
#define BREAK(s, level, words, place, value)                          \
    do {                                                              \
        __typeof__(place) kept_ = (place);                            \
        (place) = (value);                                            \
        check_reported((s).fn, (level), (words), __FILE__, __LINE__); \
        (place) = kept_;                                              \
        CHECK_VERIFIES((s).fn);                                       \
    } while (0)
#define STRUCTURE(words, place, value) BREAK(s, VERIFY_STRUCTURE, words, place, value)
#define TYPES(words, place, value) BREAK(s, VERIFY_TYPES, words, place, value)
#define INSTR(id) (*ir_instr(s.fn, s.id))
#define BLOCK(id) (*ir_block(s.fn, s.id))
#define OPERAND(id, k) (ir_ops(s.fn, ir_instr(s.fn, s.id))[k])

TEST(verify_s1_layout)
{
    Small s;
    open_small(&s);
    STRUCTURE("layout is broken", BLOCK(b2).next, s.b4);
    STRUCTURE("layout is broken", BLOCK(b3).prev, s.b1);
    STRUCTURE("layout is broken", BLOCK(b1).prev, s.b4);
    STRUCTURE("layout is broken", BLOCK(b4).next, s.b1);
    STRUCTURE("layout is broken", BLOCK(b3).next, s.b2);
    STRUCTURE("layout is broken", BLOCK(b2).next, s.b2);
    STRUCTURE("layout is broken", s.fn->first, s.b2);
    STRUCTURE("counts", s.fn->last, s.b3);
    fixture_close(&s.f);
}

// The layout ends early, with correct counters.
TEST(verify_s1_last)
{
    Small s;
    open_small(&s);
    BLOCK(b3).next = 0;
    s.fn->nblocks = 3;
    s.fn->ninstrs--;
    OPERAND(branch, 0) = op_block(s.b2);
    ir_run(s.fn, ir_list(s.fn, 1)->ops)[1] = op_block(s.b3);
    check_reported(s.fn, VERIFY_STRUCTURE, "counts", __FILE__, __LINE__);
    s.fn->last = s.b3;
    CHECK_VERIFIES(s.fn);
    fixture_close(&s.f);
}

TEST(verify_s2_instructions)
{
    Small s;
    open_small(&s);
    STRUCTURE("is broken", INSTR(mov).next, s.addc);
    STRUCTURE("is broken", INSTR(addc).prev, s.mov);
    STRUCTURE("is broken", INSTR(mov).prev, s.addc);
    STRUCTURE("is broken", INSTR(addc).block, s.b2);
    STRUCTURE("is broken", INSTR(addc).block, 0);
    STRUCTURE("is broken", INSTR(setp).next, s.add_cc);
    STRUCTURE("is broken", INSTR(setp).next, s.setp);
    STRUCTURE("is broken", BLOCK(b1).first, s.add_cc);
    STRUCTURE("its last instruction is wrong", BLOCK(b1).last, s.setp);
    STRUCTURE("its last instruction is wrong", BLOCK(b1).last, 0);
    STRUCTURE("middle", INSTR(branch).next, s.st);
    fixture_close(&s.f);
}

TEST(verify_s3_terminators)
{
    Small s;
    open_small(&s);
    // A block without a terminator.
    ir_remove(s.fn, s.ret);
    InstrId mov = emit(s.fn, s.b4, "mov.u32", "%,%", 0, OPS(def(s.fn, s.r1), use(s.fn, s.r2)));
    check_reported(s.fn, VERIFY_STRUCTURE, "does not end in a terminator", __FILE__, __LINE__);
    InstrId ret = emit_ret(s.fn, s.b4);
    CHECK_VERIFIES(s.fn);
    // Two terminators.
    InstrId second = emit_ret(s.fn, s.b4);
    check_reported(s.fn, VERIFY_STRUCTURE, "a terminator is in the middle", __FILE__, __LINE__);
    ir_remove(s.fn, second);
    CHECK_VERIFIES(s.fn);
    second = ir_insert_before(s.fn, mov, INSTR(jump).desc, 0, OPS(op_block(s.b4)));
    check_reported(s.fn, VERIFY_STRUCTURE, "a terminator is in the middle", __FILE__, __LINE__);
    ir_remove(s.fn, second);
    CHECK_VERIFIES(s.fn);
    // An empty block.
    ir_remove(s.fn, mov);
    ir_remove(s.fn, ret);
    check_reported(s.fn, VERIFY_STRUCTURE, "has no instructions", __FILE__, __LINE__);
    emit_ret(s.fn, s.b4);
    CHECK_VERIFIES(s.fn);
    fixture_close(&s.f);
}

TEST(verify_s4_counts)
{
    Small s;
    open_small(&s);
    STRUCTURE("operands and", INSTR(addc).nops, 5);
    STRUCTURE("operands and", INSTR(addc).nops, 3);
    STRUCTURE("operands and", INSTR(addc).nops, 0);
    STRUCTURE("operands and", INSTR(addc).ndef, 0);
    STRUCTURE("operands and", INSTR(addc).ndef, 2);
    STRUCTURE("operands and", INSTR(addc).flags, IF_GUARDED);
    STRUCTURE("operands and", INSTR(guarded).flags, 0);
    STRUCTURE("operands and", INSTR(guarded).flags, IF_GUARDED | IF_TIED);
    STRUCTURE("operands and", INSTR(addc).desc, INSTR(mov).desc);
    STRUCTURE("does not exist", INSTR(addc).desc, 0);
    STRUCTURE("does not exist", INSTR(addc).desc, s.fn->tables->descs.n);
    fixture_close(&s.f);
}

TEST(verify_s5_definitions)
{
    Small s;
    open_small(&s);
    STRUCTURE("a definition among the uses", OPERAND(addc, 1), def(s.fn, s.r1));
    STRUCTURE("a definition among the uses", OPERAND(addc, 3), def(s.fn, s.cc));
    STRUCTURE("a definition among the uses", OPERAND(addc, 0), use(s.fn, s.r3));
    STRUCTURE("a definition among the uses", OPERAND(add_cc, 1), use(s.fn, s.cc));
    STRUCTURE("a definition among the uses", OPERAND(guarded, 3), def(s.fn, s.p));
    fixture_close(&s.f);
}

TEST(verify_s6_indices)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    STRUCTURE("register id", OPERAND(addc, 1), op_make(K_REG, RF_R, 0));
    STRUCTURE("register id", OPERAND(addc, 1), op_make(K_REG, RF_R, fn->regs.n));
    STRUCTURE("register id", OPERAND(addc, 0), op_def(op_make(K_REG, RF_R, fn->regs.n)));
    STRUCTURE("register id", OPERAND(guarded, 3), op_make(K_REG, RF_P, INDEX_MAX));
    STRUCTURE("constant id", OPERAND(mov, 1), op_imm(fn->tables->consts.n));
    STRUCTURE("symbol id", OPERAND(st, 0), op_sym(0));
    STRUCTURE("symbol id", OPERAND(st, 0), op_sym(s.f.module->syms.n));
    STRUCTURE("symbol id", OPERAND(st, 0), op_sym(SYM_LOCAL));
    STRUCTURE("symbol id", OPERAND(st, 0), op_sym(SYM_LOCAL | fn->syms.n));
    STRUCTURE("special register", OPERAND(mov, 1), op_make(K_SREG, 0, SREG_COUNT));
    STRUCTURE("layout", OPERAND(branch, 0), op_block(0));
    STRUCTURE("layout", OPERAND(branch, 0), op_block(fn->blocks.n));
    STRUCTURE("layout", OPERAND(branch, 0), op_block(s.unlinked));
    STRUCTURE("layout", OPERAND(branch, 1), op_block(s.unlinked));
    STRUCTURE("branch table", OPERAND(brx, 1), op_make(K_LIST, 0, 0));
    STRUCTURE("branch table", OPERAND(brx, 1), op_make(K_LIST, 0, fn->lists.n));
    Operand *target = ir_run(fn, ir_list(fn, 1)->ops);
    STRUCTURE("layout", target[0], op_block(s.unlinked));
    STRUCTURE("layout", target[1], op_block(fn->blocks.n));
    STRUCTURE("layout", target[1], op_block(0));
    // A list belongs to a table symbol; otherwise PTX could not name it.
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (ir_sym(fn, k | SYM_LOCAL)->kind == SYM_BRANCHTARGETS)
            STRUCTURE("branch table 1 has no symbol", ir_sym(fn, k | SYM_LOCAL)->kind, SYM_CALLTARGETS);
    // The entry is a valid target, although no block precedes it.
    OPERAND(branch, 1) = op_block(s.b1);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

TEST(verify_s7_counters)
{
    Small s;
    open_small(&s);
    STRUCTURE("counts", s.fn->nblocks, s.fn->nblocks + 1);
    STRUCTURE("layout", s.fn->nblocks, s.fn->nblocks - 1);
    STRUCTURE("counts", s.fn->ninstrs, s.fn->ninstrs + 1);
    STRUCTURE("broken", s.fn->ninstrs, s.fn->ninstrs - 1);
    fixture_close(&s.f);
}

TEST(verify_t1_kinds)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    Operand block = op_block(s.b3), list = op_make(K_LIST, 0, 1), sreg = op_make(K_SREG, 0, 0);
    TYPES("sink", OPERAND(addc, 1), op_none());
    TYPES("symbol", OPERAND(addc, 1), op_sym(s.callee));
    TYPES("special register", OPERAND(addc, 1), sreg);
    TYPES("constant bank", OPERAND(addc, 1), op_make(K_BANK, 0, 0));
    TYPES("label", OPERAND(addc, 1), block);
    TYPES("branch table", OPERAND(addc, 1), list);
    TYPES("immediate", OPERAND(addc, 0), op_def(op_const(fn, 1, W32)));
    TYPES("sink", OPERAND(addc, 0), op_def(op_none()));
    TYPES("immediate", OPERAND(addc, 3), op_const(fn, 1, W1));
    TYPES("register", OPERAND(branch, 0), use(fn, s.r1));
    TYPES("branch table", OPERAND(branch, 0), list);
    TYPES("label", OPERAND(brx, 1), block);
    TYPES("register", OPERAND(brx, 1), use(fn, s.r1));
    TYPES("register", OPERAND(ld, 2), use(fn, s.d));
    TYPES("immediate", OPERAND(ld, 1), op_const(fn, 1, W64));
    TYPES("register", OPERAND(call, 1), use(fn, s.r1));
    fixture_close(&s.f);
}

TEST(verify_t1_widths)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    TYPES("expected a 32-bit", OPERAND(addc, 1), use(fn, s.d));
    TYPES("expected a 32-bit", OPERAND(addc, 0), def(fn, s.d));
    TYPES("expected a 32-bit", OPERAND(addc, 1), use(fn, s.p));
    TYPES("expected a predicate", OPERAND(setp, 0), def(fn, s.r1));
    TYPES("expected a 32-bit", OPERAND(brx, 0), use(fn, s.d));
    TYPES("predicate", OPERAND(ld, 1), use(fn, s.p));
    TYPES("expected", OPERAND(mov, 1), op_make(K_SREG, 0, SREG_CLOCK64));
    // Memory accesses permit wider registers, not narrower ones.
    OPERAND(ld, 0) = def(fn, s.d);
    CHECK_VERIFIES(fn);
    OPERAND(ld, 0) = def(fn, s.r2);
    TYPES("or wider", OPERAND(ld, 0), def(fn, s.p));
    RegId h = reg_new(fn, RF_R, W16);
    TYPES("or wider", OPERAND(ld, 0), def(fn, h));
    TYPES("or wider", OPERAND(st, 2), use(fn, h));
    // The declared class of a register.
    TYPES("declared .f32", ir_reg(fn, s.r1)->type, TY_F32);
    ir_reg(fn, s.r1)->type = TY_S32;
    CHECK_VERIFIES(fn);
    ir_reg(fn, s.r1)->type = TY_B32;
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

// An immediate has the width of its slot.
TEST(verify_t1_modifiers)
{
    Small s;
    open_small(&s);
    TYPES("'!' is not allowed here", OPERAND(addc, 1).mods, OPM_NOT);
    TYPES("negated or absolute", OPERAND(addc, 1).mods, OPM_NEG);
    TYPES("negated or absolute", OPERAND(setp, 0).mods, OPM_ABS);
    TYPES("only registers of opaque instructions", OPERAND(addc, 1).mods, OPM_INOUT);
    BlockId b = add_block(s.fn, 9);
    InstrId id = emit(s.fn, b, "foo.bar", "%", 0, OPS(use(s.fn, s.r1)));
    emit_ret(s.fn, b);
    ir_ops(s.fn, ir_instr(s.fn, id))[0].mods = OPM_INOUT;
    TYPES("must be read and written", ir_ops(s.fn, ir_instr(s.fn, id))[0].mods, 0);
    fixture_close(&s.f);
}

TEST(verify_t1_phi_width)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    BlockId b = add_block(fn, 9);
    Operand inputs[] = {def(fn, s.r1), op_block(s.b1), use(fn, s.r2), op_block(s.b2), op_const(fn, 5, W32)};
    InstrId id = emit(fn, b, "mov.phi", "%,%:%,%:%", 0, inputs, 5);
    emit_ret(fn, b);
    CHECK_VERIFIES(fn);
    TYPES("the value is 64-bit, the definition 32-bit", ir_ops(fn, ir_instr(fn, id))[2], use(fn, s.d));
    TYPES("the value is 16-bit, the definition 32-bit", ir_ops(fn, ir_instr(fn, id))[4], op_const(fn, 5, W16));
    ir_ops(fn, ir_instr(fn, id))[4] = op_imm(CONST_UNDEF);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

TEST(verify_t1_immediate_width)
{
    Small s;
    open_small(&s);
    TYPES("", OPERAND(mov, 1), op_const(s.fn, 7, W64));
    TYPES("", OPERAND(mov, 1), op_const(s.fn, 7, W16));
    TYPES("", OPERAND(ld, 2), op_const(s.fn, 0, W32));
    fixture_close(&s.f);
}

// The carry is no predicate, a predicate no carry, and the file in the operand is that of the register.
TEST(verify_t1_files)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    TYPES("", OPERAND(setp, 0), def(fn, s.cc));
    TYPES("", OPERAND(add_cc, 1), def(fn, s.p));
    TYPES("", OPERAND(addc, 3), use(fn, s.p));
    TYPES("", OPERAND(addc, 1), op_make(K_REG, RF_P, s.r1));
    TYPES("", OPERAND(setp, 0), op_def(op_make(K_REG, RF_R, s.p)));
    fixture_close(&s.f);
}

TEST(verify_t2_guards)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    TYPES("guard", OPERAND(guarded, 3), use(fn, s.r1));
    TYPES("guard", OPERAND(guarded, 3), use(fn, s.cc));
    TYPES("guard", OPERAND(guarded, 3), op_const(fn, 1, W1));
    TYPES("guard", OPERAND(guarded, 3), op_none());
    TYPES("guard", OPERAND(branch, 2), use(fn, s.d));
    OPERAND(guarded, 3).mods = OPM_NOT;
    CHECK_VERIFIES(fn);
    // An annotation has no guard.
    InstrId note = ir_insert_before(fn, s.mov, desc_parse(fn->tables, ".pragma \"nounroll\"", ""), 0, NULL, 0);
    CHECK_VERIFIES(fn);
    ir_remove(fn, note);
    note =
        ir_insert_before(fn, s.mov, desc_parse(fn->tables, ".pragma \"nounroll\"", ""), IF_GUARDED, OPS(use(fn, s.p)));
    check_reported(fn, VERIFY_TYPES, "takes no guard", __FILE__, __LINE__);
    ir_remove(fn, note);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

TEST(verify_t3_tied)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    fn->form = FORM_SSA;
    RegId old = reg_new(fn, RF_R, W32);
    Operand ops[] = {def(fn, s.r3), use(fn, s.r1), use(fn, s.r2), use(fn, old), use(fn, s.p)};
    s.guarded = ir_insert_before(fn, s.branch, INSTR(guarded).desc, IF_GUARDED | IF_TIED, ops, 5);
    CHECK_VERIFIES(fn);
    TYPES("outside ssa", fn->form, FORM_MULTI);
    TYPES("is not that of its definition", OPERAND(guarded, 3), use(fn, s.d));
    TYPES("is not that of its definition", OPERAND(guarded, 3), use(fn, s.p));
    fixture_close(&s.f);
}

// Tied uses are registers.
TEST(verify_t3_tied_kind)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    fn->form = FORM_SSA;
    Operand ops[] = {def(fn, s.r3), use(fn, s.r1), use(fn, s.r2), use(fn, s.r3), use(fn, s.p)};
    s.guarded = ir_insert_before(fn, s.branch, INSTR(guarded).desc, IF_GUARDED | IF_TIED, ops, 5);
    CHECK_VERIFIES(fn);
    TYPES("", OPERAND(guarded, 3), op_sym(s.callee));
    TYPES("", OPERAND(guarded, 3), op_block(s.b1));
    TYPES("", OPERAND(guarded, 3), op_const(fn, 1, W64));
    fixture_close(&s.f);
}

TEST(verify_t4_call_order)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    Operand st[3], ld[3];
    memcpy(st, ir_ops(fn, &INSTR(st)), sizeof st);
    memcpy(ld, ir_ops(fn, &INSTR(ld)), sizeof ld);
    // An argument is stored after the call.
    InstrId late = ir_insert_before(fn, s.jump, INSTR(st).desc, 0, st, 3);
    CHECK_VERIFIES(fn);
    ir_instr(fn, late)->callseq = 1;
    check_reported(fn, VERIFY_TYPES, "after its call", __FILE__, __LINE__);
    ir_remove(fn, late);
    CHECK_VERIFIES(fn);
    // A result is read before the call.
    InstrId early = ir_insert_before(fn, s.call, INSTR(ld).desc, 0, ld, 3);
    CHECK_VERIFIES(fn);
    ir_instr(fn, early)->callseq = 1;
    check_reported(fn, VERIFY_TYPES, "before its call", __FILE__, __LINE__);
    ir_remove(fn, early);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

TEST(verify_t4_one_block)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    Operand st[3], ld[3];
    memcpy(st, ir_ops(fn, &INSTR(st)), sizeof st);
    memcpy(ld, ir_ops(fn, &INSTR(ld)), sizeof ld);
    // A result is read in another block.
    InstrId other = ir_insert_before(fn, s.brx, INSTR(ld).desc, 0, ld, 3);
    ir_instr(fn, other)->callseq = 1;
    check_reported(fn, VERIFY_TYPES, "another block", __FILE__, __LINE__);
    ir_remove(fn, other);
    CHECK_VERIFIES(fn);
    // An argument is stored in another block.
    other = ir_insert_before(fn, s.branch, INSTR(st).desc, 0, st, 3);
    ir_instr(fn, other)->callseq = 1;
    check_reported(fn, VERIFY_TYPES, "", __FILE__, __LINE__);
    ir_remove(fn, other);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

TEST(verify_t5_carry)
{
    Small s;
    open_small(&s);
    Fn *fn = s.fn;
    Operand add[4], addc[4];
    memcpy(add, ir_ops(fn, &INSTR(add_cc)), sizeof add);
    memcpy(addc, ir_ops(fn, &INSTR(addc)), sizeof addc);
    // Read before it is written.
    InstrId early = ir_insert_before(fn, s.add_cc, INSTR(addc).desc, 0, addc, 4);
    check_reported(fn, VERIFY_TYPES, "carry", __FILE__, __LINE__);
    ir_remove(fn, early);
    CHECK_VERIFIES(fn);
    // Written in another block.
    InstrId other = ir_insert_before(fn, s.st, INSTR(addc).desc, 0, addc, 4);
    check_reported(fn, VERIFY_TYPES, "carry", __FILE__, __LINE__);
    InstrId definition = ir_insert_before(fn, other, INSTR(add_cc).desc, 0, add, 4);
    CHECK_VERIFIES(fn);
    ir_remove(fn, definition);
    // A pass-through function may do so.
    fn->flags |= FN_PASSTHROUGH;
    CHECK_VERIFIES(fn);
    fn->flags &= ~(uint32_t)FN_PASSTHROUGH;
    ir_remove(fn, other);
    CHECK_VERIFIES(fn);
    fixture_close(&s.f);
}

// Messages and places of reports.
TEST(verify_reports_place)
{
    Small s;
    open_small(&s);
    InstrId at;
    char why[200];
    CHECK(ir_verify(s.fn, VERIFY_TYPES, &at, why));
    CHECK_EQ(why[0], 0);
    CHECK_EQ(at, 0);
    OPERAND(addc, 1) = use(s.fn, s.d);
    CHECK(!ir_verify(s.fn, VERIFY_TYPES, &at, why));
    CHECK_EQ(at, s.addc);
    CHECK(strstr(why, "operand 2") != NULL);
    OPERAND(addc, 1) = use(s.fn, s.r1);
    INSTR(guarded).nops++;
    CHECK(!ir_verify(s.fn, VERIFY_STRUCTURE, &at, why));
    CHECK_EQ(at, s.guarded);
    fixture_close(&s.f);
}

void test_verifier(void)
{
    RUN(verify_s1_layout);
    RUN(verify_s1_last);
    RUN(verify_s2_instructions);
    RUN(verify_s3_terminators);
    RUN(verify_s4_counts);
    RUN(verify_s5_definitions);
    RUN(verify_s6_indices);
    RUN(verify_s7_counters);
    RUN(verify_t1_kinds);
    RUN(verify_t1_widths);
    RUN(verify_t1_modifiers);
    RUN(verify_t1_phi_width);
    RUN(verify_t1_immediate_width);
    RUN(verify_t1_files);
    RUN(verify_t2_guards);
    RUN(verify_t3_tied);
    RUN(verify_t3_tied_kind);
    RUN(verify_t4_call_order);
    RUN(verify_t4_one_block);
    RUN(verify_t5_carry);
    RUN(verify_reports_place);
}
