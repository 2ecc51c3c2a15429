// SPDX-License-Identifier: MIT
// Tests replacement of registers, representatives of copy classes, and phases on phis and moves: cases that Ori text
// cannot express, and large functions.
#include "ir/rewrite/rewrite.h"
#include "tests/unit/graph.h"
#include "tests/unit/kernel.h"

/* -- Functions from text -------------------------------------------------------------------------------- */

static RegId reg_named(const Kernel *t, RegFile file, uint32_t ordinal)
{
    for (RegId r = 1; r < t->fn->regs.n; r++)
        if (ir_reg(t->fn, r)->file == file && ir_reg(t->fn, r)->ordinal == ordinal)
            return r;
    CHECK(!"a register of this number");
    return 0;
}

static RegId R(const Kernel *t, uint32_t ordinal) { return reg_named(t, RF_R, ordinal); }
static RegId P(const Kernel *t, uint32_t ordinal) { return reg_named(t, RF_P, ordinal); }

static Operand negated(Operand o)
{
    o.mods ^= OPM_NOT;
    return o;
}

/* -- Replacing ------------------------------------------------------------------------------------------ */

TEST(rep_registers)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 R1\n  P1 = setp.eq.s32 R2, 0\n"
                "  @P1 R3:32 = add.s32 R2, 1 else R2\n  R4:32 = mov.b32 R3\n  @P1 bra b1 else b2\n"
                "b1:\n  R5:32 = mov.phi b0: R2, b1: R4\n  @P1 bra b1 else b2\n"
                "b2:\n  R6:32 = mov.phi b0: R2, b1: R5\n  st.global.v2.b32 [16], {R4, R6}\n  ret\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, R(&t, 2), use(t.fn, R(&t, 1)));
    replace_set(&rep, R(&t, 4), use(t.fn, R(&t, 3)));
    CHECK_EQ(op_index(replace_find(&rep, use(t.fn, R(&t, 2)))), R(&t, 1));
    CHECK_EQ(op_index(replace_find(&rep, use(t.fn, R(&t, 3)))), R(&t, 3));
    CHECK(replace_apply(&rep));
    CHECK_Z(kernel_body(&t), "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 0\n"
                             "  @P1 R3:32 = add.s32 R1, 1 else R1\n  @P1 bra b1 else b2\n"
                             "b1:                                     ; preds b0 b1\n"
                             "  R5:32 = mov.phi b0: R1, b1: R3\n  @P1 bra b1 else b2\n"
                             "b2:                                     ; preds b0 b1\n"
                             "  R6:32 = mov.phi b0: R1, b1: R5\n  st.global.v2.b32 [16], {R3, R6}\n  ret\n}\n");
    kernel_close(&t);
}

// A register stays if its slot permits no constant: in an address, a vector of 16-bit floats, a wider register, or an
// instruction whose operands are not modelled one by one.
TEST(rep_constants)
{
    Kernel t;
    kernel_open(
        &t, "ssa",
        "b0:\n  R1:32 = add.s32 2, 3\n  R2:64 = add.s64 2, 3\n  R3:32 = add.s32 3, 3\n  R4:32 = add.s32 4, 3\n"
        "  R5:32 = add.s32 5, 3\n  P1 = setp.eq.s32 R1, R4\n  st.global.v2.b32 [R2], {R1, R4}\n"
        "  st.global.b8 [R2], R3\n  R6:32 = vadd.s32.s32.s32 R4, -R5, R5\n  @P1 R7:32 = add.s32 R6, R1 else R4\n"
        "  bra b1\n"
        "b1:\n  R8:32 = mov.phi b0: R4, b1: R7\n  st.global.b32 [16], R8\n  bra b1\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, R(&t, 1), op_const(t.fn, 5, W32));
    replace_set(&rep, R(&t, 2), op_const(t.fn, 5, W64));
    replace_set(&rep, R(&t, 3), op_const(t.fn, 6, W32));
    replace_set(&rep, R(&t, 4), op_const(t.fn, 7, W32));
    replace_set(&rep, R(&t, 5), op_const(t.fn, 8, W32));
    CHECK(replace_apply(&rep));
    CHECK_Z(kernel_body(&t), "b0:\n  R2:64 = mov.b64 5\n  R3:32 = mov.b32 6\n  R4:32 = mov.b32 7\n  R5:32 = mov.b32 8\n"
                             "  P1 = setp.eq.s32 5, 7\n  st.global.v2.b32 [R2], {5, 7}\n  st.global.b8 [R2], R3\n"
                             "  R6:32 = vadd.s32.s32.s32 R4, -R5, R5\n  @P1 R7:32 = add.s32 R6, 5 else 7\n  bra b1\n"
                             "b1:                                     ; preds b0 b1\n"
                             "  R8:32 = mov.phi b0: 7, b1: R7\n  st.global.b32 [16], R8\n  bra b1\n}\n");
    kernel_close(&t);
}

// A `!` is added if the slot permits one, and two cancel; otherwise the register stays.
TEST(rep_negated)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  P1 = setp.eq.s32 1, 0\n  P2 = not.pred P1\n  P3 = not.pred P2\n  P5 = not.pred P2\n"
                "  @!P2 st.global.b32 [16], 1\n  @P3 st.global.b32 [16], 2\n  @P1 P4 = setp.eq.s32 1, 2 else P2\n"
                "  R1:32 = selp.b32 1, 2, P2\n  R2:32 = selp.b32 1, 2, !P2\n  st.global.v2.b32 [16], {R1, R2}\n"
                "  @P5 bra b1 else b2\nb1:\n  bra b2\n"
                "b2:\n  P6 = mov.phi b0: P5, b1: P2\n  @P6 st.global.b32 [16], 3\n  @P4 ret else b1\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, P(&t, 3), negated(use(t.fn, P(&t, 2))));
    replace_set(&rep, P(&t, 5), negated(use(t.fn, P(&t, 2))));
    replace_set(&rep, P(&t, 2), negated(use(t.fn, P(&t, 1))));
    Operand o = replace_find(&rep, negated(use(t.fn, P(&t, 3))));
    CHECK(op_same(o, negated(use(t.fn, P(&t, 1)))));
    CHECK(replace_apply(&rep));
    CHECK_Z(kernel_body(&t),
            "b0:\n  P1 = setp.eq.s32 1, 0\n  P2 = not.pred P1\n"
            "  @P1 st.global.b32 [16], 1\n  @P1 st.global.b32 [16], 2\n  @P1 P4 = setp.eq.s32 1, 2 else P2\n"
            "  R1:32 = selp.b32 1, 2, !P1\n  R2:32 = selp.b32 1, 2, P1\n  st.global.v2.b32 [16], {R1, R2}\n"
            "  @P1 bra b1 else b2\n"
            "b1:                                     ; preds b0 b2\n  bra b2\n"
            "b2:                                     ; preds b0 b1\n"
            "  P6 = mov.phi b0: P1, b1: P2\n  @P6 st.global.b32 [16], 3\n  @P4 ret else b1\n}\n");
    kernel_close(&t);
}

// A guard must be a register; a negated constant is the complement.
TEST(rep_constant_predicates)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  P1 = setp.eq.s32 1, 1\n  @!P1 st.global.b32 [16], 1\n  R1:32 = selp.b32 1, 2, !P1\n"
                "  st.global.b32 [16], R1\n  ret\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, P(&t, 1), op_const(t.fn, 1, W1));
    CHECK(replace_apply(&rep));
    CHECK_Z(kernel_body(&t), "b0:\n  P1 = mov.pred 1\n  @!P1 st.global.b32 [16], 1\n  R1:32 = selp.b32 1, 2, 0\n"
                             "  st.global.b32 [16], R1\n  ret\n}\n");
    kernel_close(&t);
}

// An instruction is removed if all its definitions are replaced; a phi leaves a move after the other phis.
TEST(rep_definitions)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  {R1:32, R2:32} = mov.b64 7\n  {R3:32, _} = mov.b64 8\n  P1|P2 = setp.eq.s32 R1, R2\n"
                "  bra b1\nb1:\n  R4:64 = mov.phi b0: 8, b1: 8\n  R5:64 = mov.phi b0: 7, b1: 7\n"
                "  R6:64 = mov.phi b0: 1, b1: 2\n  @P1 st.global.b64 [R4], R5\n  @P2 st.global.b64 [R5], R6\n"
                "  st.global.v2.b32 [R6], {R1, R3}\n  bra b1\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, R(&t, 1), op_const(t.fn, 1, W32));
    replace_set(&rep, R(&t, 3), op_const(t.fn, 3, W32));
    replace_set(&rep, R(&t, 4), op_const(t.fn, 8, W64));
    replace_set(&rep, R(&t, 5), op_const(t.fn, 7, W64));
    CHECK(replace_apply(&rep));
    CHECK_Z(
        kernel_body(&t),
        "b0:\n  {R1:32, R2:32} = mov.b64 7\n  P1|P2 = setp.eq.s32 1, R2\n  bra b1\n"
        "b1:                                     ; preds b0 b1\n"
        "  R6:64 = mov.phi b0: 1, b1: 2\n  R4:64 = mov.b64 8\n  R5:64 = mov.b64 7\n"
        "  @P1 st.global.b64 [R4], 7\n  @P2 st.global.b64 [R5], R6\n  st.global.v2.b32 [R6], {1, 3}\n  bra b1\n}\n");
    kernel_close(&t);
}

// The manager clears declared types, so a register may replace one with another declared type, also in slots that
// reject its own type. Named registers keep their types.
TEST(rep_types)
{
    static char why[500];
    Kernel t;
    kernel_open(&t, "ssa",
                "  reg R5:32 \"%g\" named\n"
                "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 R1\n  R3:32 = add.f32 R2, R2\n"
                "  st.global.b32 [16], R3\n  st.global.b32 [16], R5\n  ret\n");
    ir_reg(t.fn, R(&t, 1))->type = TY_U32;
    ir_reg(t.fn, R(&t, 2))->type = TY_F32;
    ir_reg(t.fn, R(&t, 5))->type = TY_F32;
    CHECK_VERIFIES(t.fn);
    t.ctx.options.named = "OriCopyProp";
    t.ctx.options.stay_in_ssa = true;
    CHECK(phase_plan(&t.ctx, NULL, why));
    phase_run(&t.ctx, &t.fn);
    CHECK_EQ(ir_reg(t.fn, R(&t, 1))->type, TY_NONE);
    CHECK_EQ(ir_reg(t.fn, R(&t, 5))->type, TY_F32);
    CHECK_VERIFIES(t.fn);
    kernel_close(&t);
}

// phases/template.c works, although no row names it.
TEST(template_phase)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n  R2:32 = add.s32 R1, 0\n"
                "  @P1 R3:32 = add.s32 R1, 0 else R1\n  R4:32 = add.f32 R1, 0f00000000\n  R5:32 = add.s32 R2, 1\n"
                "  st.global.v4.b32 [16], {R2, R3, R4, R5}\n  ret\n");
    CHECK(phase_template(&t.ctx, t.fn));
    CHECK_VERIFIES(t.fn);
    CHECK_Z(kernel_body(&t),
            "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n"
            "  @P1 R3:32 = add.s32 R1, 0 else R1\n  R4:32 = add.f32 R1, 0f00000000\n  R5:32 = add.s32 R1, 1\n"
            "  st.global.v4.b32 [16], {R1, R3, R4, R5}\n  ret\n}\n");
    CHECK(!phase_template(&t.ctx, t.fn));
    kernel_close(&t);
}

// Instructions that may get a guard.
TEST(may_guard)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "  reg R9:32 pinned\n"
                "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n  @P1 R2:32 = mov.b32 R1 else 5\n"
                "  _|P2 = setp.eq.s32 R1, 3\n  P3|_ = setp.eq.s32 R1, 3\n  st.global.v2.b32 [16], {R1, R2}\n"
                "  @P2 bra b1 else b2\nb1:\n  bra b2\nb2:\n  R3:32 = mov.phi b0: R1, b1: R2\n"
                "  @P3 st.global.b32 [16], R3\n  ret\n");
    static const bool may[] = {true, true, false, false, true, true, false, false, false, false, false};
    uint32_t n = 0;
    FOR_BLOCKS(t.fn, b)
        FOR_INSTRS(t.fn, b, id) {
            unit_context("instruction %u", n);
            CHECK_EQ(ir_may_guard(t.fn, ir_instr(t.fn, id)), may[n++]);
        }
    CHECK_EQ(n, ARRAY_LEN(may));
    kernel_close(&t);
}

// A guard adds tied uses for definitions in ssa form, and for no others.
TEST(guard_instructions)
{
    Kernel t;
    kernel_open(
        &t, "ssa",
        "  reg R9:32 pinned\n"
        "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n"
        "  R2:32 = mov.b32 R1\n  _|P2 = setp.eq.s32 R1, 3\n  R9:32 = mov.b32 R1\n  st.global.b32 [16], R2\n  ret\n");
    Operand guard = use(t.fn, P(&t, 1));
    InstrId id = ir_instr(t.fn, ir_instr(t.fn, ir_block(t.fn, t.fn->first)->first)->next)->next;
    for (uint32_t n = 0; n < 4; n++, id = ir_instr(t.fn, id)->next)
        instr_guard(t.fn, id, n == 3 ? negated(guard) : guard);
    CHECK(strstr(kernel_body(&t), "  @P1 R2:32 = mov.b32 R1 else undef\n  @P1 _|P2 = setp.eq.s32 R1, 3 else _, undef\n"
                                  "  @P1 R9:32 = mov.b32 R1\n  @!P1 st.global.b32 [16], R2\n  ret\n"));
    kernel_close(&t);
}

// In multi form a register keeps its old value implicitly.
TEST(guard_in_multi_form)
{
    Kernel t;
    kernel_open(&t, "multi",
                "b0:\n  R1:32 = mov.b32 1\n  P1 = setp.eq.s32 R1, 3\n  R1:32 = mov.b32 2\n"
                "  st.global.b32 [16], R1\n  ret\n");
    InstrId id = ir_instr(t.fn, ir_instr(t.fn, ir_block(t.fn, t.fn->first)->first)->next)->next;
    instr_guard(t.fn, id, use(t.fn, P(&t, 1)));
    CHECK(strstr(kernel_body(&t), "  @P1 R1:32 = mov.b32 2\n  st"));
    kernel_close(&t);
}

TEST(phi_inputs)
{
    static const char *const left[] = {"b1: 6, b2: 7", "b0: 5, b2: 7", "b0: 5, b1: 6"};
    for (BlockId k = 0; k < 3; k++) {
        Kernel t;
        kernel_open(&t, "ssa",
                    "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n  @P1 bra b1 else b3\n"
                    "b1:\n  @P1 bra b2 else b3\nb2:\n  bra b3\n"
                    "b3:\n  R2:32 = mov.phi b0: 5, b1: 6, b2: 7\n  st.global.b32 [16], R2\n  ret\n");
        Fn *fn = t.fn;
        BlockId from = fn->first;
        for (BlockId n = 0; n < k; n++)
            from = ir_block(fn, from)->next;
        InstrId phi = ir_block(fn, fn->last)->first;
        CHECK_EQ(tab_const(fn->tables, op_index(*ir_use(fn, ir_instr(fn, phi), phi_input(fn, ir_instr(fn, phi), from))))
                     .bits,
                 5 + k);
        phi_remove_input(fn, phi, from);
        unit_context("input %u", k);
        CHECK(strstr(kernel_body(&t), left[k]));
        CHECK_EQ(ir_nuse(ir_instr(fn, phi)), 4);
        // Also removes the edge.
        instr_replace_by_branch(fn, ir_terminator(fn, from), k < 2 ? ir_block(fn, from)->next : from);
        kernel_close(&t);
    }
}

static void find_input(void *user)
{
    const Fn *fn = user;
    phi_input(fn, ir_instr(fn, ir_block(fn, fn->last)->first), fn->last);
}

TEST(phi_input_of_no_predecessor)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.eq.s32 R1, 3\n  @P1 bra b1 else b2\nb1:\n  bra b2\n"
                "b2:\n  R2:32 = mov.phi b0: 5, b1: 6\n  st.global.b32 [16], R2\n  ret\n");
    CHECK_FAILS(&t.ctx.heap, ST_INTERNAL, find_input, t.fn);
    kernel_close(&t);
}

TEST(rep_may_or_not)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "  reg R4:32 pinned\n  reg R5:32 \"%g\" named\n"
                "b0:\n  R1:32 = mov.b32 R4\n  R2:32 = mov.b32 R5\n  R3:64 = mov.b64 %clock64\n  P1 = mov.pred 1\n"
                "  st.global.v2.b32 [R3], {R1, R2}\n  @P1 st.global.b32 [R3], 1\n  ret\n");
    Fn *fn = t.fn;
    RegId uniform = reg_new(fn, RF_UR, W32);
    CHECK(replace_allowed(fn, R(&t, 1), use(fn, R(&t, 2))));
    CHECK(!replace_allowed(fn, R(&t, 1), negated(use(fn, R(&t, 2)))));
    CHECK(!replace_allowed(fn, R(&t, 1), use(fn, R(&t, 3))));
    CHECK(!replace_allowed(fn, R(&t, 1), use(fn, R(&t, 4))));
    CHECK(!replace_allowed(fn, R(&t, 1), use(fn, R(&t, 5))));
    CHECK(!replace_allowed(fn, R(&t, 4), use(fn, R(&t, 1))));
    CHECK(!replace_allowed(fn, R(&t, 5), use(fn, R(&t, 1))));
    CHECK(!replace_allowed(fn, R(&t, 1), use(fn, uniform)));
    CHECK(replace_allowed(fn, R(&t, 1), op_const(fn, 1, W32)));
    CHECK(!replace_allowed(fn, R(&t, 1), op_const(fn, 1, W64)));
    CHECK(!replace_allowed(fn, R(&t, 1), op_imm(CONST_UNDEF)));
    CHECK(!replace_allowed(fn, R(&t, 1), op_none()));
    CHECK(replace_allowed(fn, P(&t, 1), op_const(fn, 1, W1)));
    kernel_close(&t);
}

typedef struct Setting {
    ReplaceMap *rep;
    RegId old;
    Operand by;
} Setting;

static void set(void *user)
{
    const Setting *s = user;
    replace_set(s->rep, s->old, s->by);
}

TEST(rep_cycle)
{
    Kernel t;
    kernel_open(&t, "ssa", "b0:\n  R1:32 = mov.b32 1\n  R2:32 = mov.b32 1\n  R3:32 = mov.b32 1\n  ret\n");
    ReplaceMap rep;
    replace_begin(&rep, t.fn);
    replace_set(&rep, R(&t, 1), use(t.fn, R(&t, 2)));
    replace_set(&rep, R(&t, 2), use(t.fn, R(&t, 3)));
    CHECK_FAILS(&t.ctx.heap, ST_INTERNAL, set, (&(Setting){&rep, R(&t, 3), use(t.fn, R(&t, 1))}));
    CHECK_FAILS(&t.ctx.heap, ST_INTERNAL, set, (&(Setting){&rep, R(&t, 3), use(t.fn, R(&t, 3))}));
    CHECK_FAILS(&t.ctx.heap, ST_INTERNAL, set, (&(Setting){&rep, R(&t, 1), use(t.fn, R(&t, 3))}));
    CHECK(replace_apply(&rep));
    CHECK_Z(kernel_body(&t), "b0:\n  R3:32 = mov.b32 1\n  ret\n}\n");
    replace_begin(&rep, t.fn);
    CHECK(!replace_apply(&rep));
    kernel_close(&t);
}

// Checks chains of replacements, set in either order.
static void check_chain(bool upward)
{
    Kernel t;
    kernel_open(&t, "ssa", "b0:\n  R1:32 = mov.b32 1\n  ret\n");
    Fn *fn = t.fn;
    RegId first = fn->regs.n, n = MANY;
    for (uint32_t k = 0; k <= n; k++) {
        reg_new(fn, RF_R, W32);
        Operand ops[] = {def(fn, first + k), op_const(fn, 7, W32)};
        ir_insert_before(fn, ir_terminator(fn, fn->first), desc_parse(fn->tables, "mov.b32", "%,%"), 0, ops, 2);
    }
    ReplaceMap rep;
    replace_begin(&rep, fn);
    for (uint32_t k = 1; k <= n; k++)
        replace_set(&rep, first + (upward ? k : n - k), use(fn, first + (upward ? k : n - k + 1) - upward));
    for (uint32_t k = 0; k <= n; k++)
        CHECK_EQ(op_index(replace_find(&rep, use(fn, first + k))), first + (upward ? 0 : n));
    CHECK(replace_apply(&rep));
    CHECK_EQ(fn->ninstrs, 3);
    kernel_close(&t);
}

TEST(rep_chain_up) { check_chain(true); }
TEST(rep_chain_down) { check_chain(false); }

/* -- Representatives ------------------------------------------------------------------------------------ */

enum { VALUES = 24, INPUTS = 4 };

// True if a path copies a value into `to` without passing through `by`; the number 0 is the source of all operands that
// are no value.
static bool reaches_without(const uint32_t *first, const uint32_t *input, uint32_t n, uint32_t by, uint32_t to)
{
    bool from[VALUES] = {true};
    for (uint32_t rounds = 0; rounds < n; rounds++)
        for (uint32_t v = 1; v < n; v++)
            for (uint32_t e = first[v]; e < first[v + 1] && v != by; e++)
                from[v] |= from[input[e]];
    return from[to];
}

// Returns the representative by definition.
static uint32_t naive_leader(const uint32_t *first, const uint32_t *input, uint32_t n, uint32_t v)
{
    if (!reaches_without(first, input, n, 0, v))
        return 0;
    for (uint32_t by = 1; by < n; by++) {
        bool top = true;  // no other value represents it
        for (uint32_t above = 1; above < n; above++)
            top &= above == by || reaches_without(first, input, n, above, by);
        if (top && (by == v || !reaches_without(first, input, n, by, v)) && reaches_without(first, input, n, 0, by))
            return by;
    }
    return UINT32_MAX;
}

TEST(leaders_random)
{
    Fixture f;
    uint64_t seed = 1979;
    fixture_open(&f);
    for (uint32_t round = 0; round < 500; round++) {
        uint32_t first[VALUES + 1] = {0}, input[VALUES * INPUTS], edges = 0;
        uint32_t n = 2 + unit_random(&seed, VALUES - 1), sources = 1 + unit_random(&seed, 4);
        uint32_t near = 1 + unit_random(&seed, n);
        for (uint32_t v = 1; v < n; v++) {
            uint32_t count = v <= sources ? 0 : unit_random(&seed, INPUTS);
            first[v] = edges;
            for (uint32_t k = 0; k < count; k++)
                input[edges++] = 1 + (v + n - unit_random(&seed, near)) % (n - 1);
            if (v <= sources || (!count && unit_random(&seed, 4)))
                input[edges++] = 0;
        }
        first[n] = edges;
        uint32_t *representative = copy_representatives(&(Edges){first, input}, n, &f.ctx.arena);
        for (uint32_t v = 1; v < n; v++) {
            unit_context("round %u, value %u", round, v);
            CHECK_EQ(representative[v], naive_leader(first, input, n, v));
        }
    }
    fixture_close(&f);
}

/* -- Properties of functions ---------------------------------------------------------------------------- */

// Two counters that start from one phi: while they are two, neither needs a copy. Once they are one, the values that
// they join interfere.
TEST(equal_phis_meet)
{
    Kernel t;
    kernel_open(&t, "ssa",
                "b0:\n  P1 = setp.eq.s32 1, 0\n  @P1 bra b1 else b2\nb1:\n  bra b2\n"
                "b2:\n  R1:32 = mov.phi b0: 1, b1: 2\n  R2:32 = mov.phi b0: 1, b1: 2\n  bra b3\n"
                "b3:\n  R3:32 = mov.phi b2: R1, b3: R5\n  R4:32 = mov.phi b2: R2, b3: R6\n  R5:32 = add.s32 R3, 1\n"
                "  R6:32 = add.s32 R4, 2\n  P2 = setp.lt.s32 R5, R6\n  @P2 bra b3 else b4\nb4:\n  ret\n");
    Fn *fn = t.fn;
    fn->properties = PROP_CONVENTIONAL | PROP_NO_DEAD;
    CHECK(phase_equal_phis(&t.ctx, fn));
    fn->properties &= phase_info[PH_EQUAL_PHIS].keeps | t.ctx.run.keeps;
    CHECK_EQ(fn->properties, PROP_NO_DEAD);
    CHECK(phase_convert_mov_phi(&t.ctx, fn));
    CHECK_Z(kernel_body(&t) + strlen(kernel_body(&t)) - 6, "ret\n}\n");
    uint32_t copies = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            copies += ir_desc(fn, ir_instr(fn, id))->op == OP_MOV && op_is_reg(*ir_use(fn, ir_instr(fn, id), 0));
    CHECK(copies > 0);
    kernel_close(&t);
}

/* -- Size ----------------------------------------------------------------------------------------------- */

typedef struct Big {
    Shape s;
    Fn *fn;
    RegId source[2], address, phi;  // phi + k is the phi of block k; with `twice`, a second one follows it
    bool twice;
    DescId desc[3];
} Big;

static void open_big(Big *g, uint32_t blocks, bool twice)
{
    memset(g, 0, sizeof *g);
    shape_open(&g->s, blocks);
    Fn *fn = g->fn = g->s.fn;
    fn->form = FORM_SSA;
    ir_reg(fn, g->s.p)->flags = ir_reg(fn, g->s.r)->flags = REG_PINNED;
    g->twice = twice;
    for (int k = 0; k < 2; k++) {
        g->source[k] = reg_new(fn, RF_R, W32);
        emit(fn, 1, "mov.b32", "%,%", 0, OPS(def(fn, g->source[k]), op_const(fn, (uint32_t)k, W32)));
    }
    g->address = reg_new(fn, RF_R, W64);
    ir_reg(fn, g->address)->flags = REG_PINNED;
    g->phi = fn->regs.n;
    for (uint32_t k = 0; k < 2 * (blocks + 1); k++)
        reg_new(fn, RF_R, W32);
    for (uint32_t k = 1; k < 3; k++)
        g->desc[k] = desc_phi(fn->tables, k);
}

static RegId phi_reg(const Big *g, BlockId b, int which) { return g->phi + 2 * b + (uint32_t)which; }

static Operand phi_of(const Big *g, BlockId b, int which) { return use(g->fn, phi_reg(g, b, which)); }

// Adds a phi of block b with one input or two.
static void put_phi(Big *g, BlockId b, int which, BlockId x, Operand from_x, BlockId y, Operand from_y)
{
    Operand ops[] = {def(g->fn, phi_reg(g, b, which)), op_block(x), from_x, op_block(y), from_y};
    ir_append(g->fn, b, g->desc[y ? 2 : 1], 0, ops, y ? 5 : 3);
}

static void put_store(Big *g, BlockId b, Operand o)
{
    emit(g->fn, b, "st.global.b32", "[&],%", 0, OPS(use(g->fn, g->address), op_const(g->fn, 4, W64), o));
}

static uint32_t count_phis(const Fn *fn)
{
    uint32_t n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            n += ir_desc(fn, ir_instr(fn, id))->op == OP_PHI;
    return n;
}

static void reverse_layout(Fn *fn)
{
    for (BlockId b = fn->blocks.n - 1; b > 1; b--) {
        block_unlink(fn, b);
        block_append(fn, b);
    }
}

// Runs a phase and checks the number of phis left; a second run makes no progress.
static void expect_phis(Big *g, PhaseBody *phase, uint32_t n)
{
    InstrId at;
    char why[200];
    CHECK(fn_verify(g->fn, VERIFY_FORM, &at, why));
    bool progress = count_phis(g->fn) != n;
    CHECK_EQ(phase(&g->s.f.ctx, g->fn), progress);
    analysis_drop(g->fn, AN_FLOW);
    CHECK_EQ(count_phis(g->fn), n);
    CHECK(fn_verify(g->fn, VERIFY_FORM, &at, why));
    CHECK(!phase(&g->s.f.ctx, g->fn));
}

// Makes a chain of blocks, each with a phi of the previous one; `round` adds a back edge from the last.
static void big_row(Big *g, bool round)
{
    BlockId n = g->s.n;
    emit_bra(g->fn, 1, 2);
    for (BlockId b = 2; b < n; b++) {
        Operand before = b == 2 ? use(g->fn, g->source[0]) : phi_of(g, b - 1, 0);
        put_phi(g, b, 0, b - 1, before, round && b == 2 ? n - 1 : 0, phi_of(g, n - 1, 0));
        if (b == n - 1 && round)
            emit_branch(g->fn, b, g->s.p, 2, n);
        else
            emit_bra(g->fn, b, b + 1);
    }
    put_store(g, n, phi_of(g, n - 1, 0));
    emit_ret(g->fn, n);
}

// Makes a chain with edges to both neighbours, entered at both ends. Each phi gets `right` at the end.
static void big_ladder(Big *g, const int right[2])
{
    BlockId n = g->s.n;
    emit_branch(g->fn, 1, g->s.p, 2, n - 1);
    for (BlockId b = 2; b < n; b++) {
        for (int k = 0; k <= g->twice; k++) {
            Operand before = b == 2 ? use(g->fn, g->source[0]) : phi_of(g, b - 1, k);
            Operand after = b == n - 1 ? use(g->fn, g->source[right[k]]) : phi_of(g, b + 1, k);
            put_phi(g, b, k, b - 1, before, b == n - 1 ? 1 : b + 1, after);
        }
        for (int k = 0; k <= g->twice; k++)
            put_store(g, b, phi_of(g, b, k));
        emit_branch(g->fn, b, g->s.p, b == 2 ? n : b - 1, b + 1);
    }
    emit_ret(g->fn, n);
}

TEST(phis_in_a_row)
{
    for (int way = 0; way < 4; way++) {
        Big g;
        open_big(&g, MANY, false);
        big_row(&g, way & 1);
        if (way & 2)
            reverse_layout(g.fn);
        expect_phis(&g, phase_redundant_phis, 0);
        shape_close(&g.s);
    }
}

TEST(phis_both_ways)
{
    for (int way = 0; way < 4; way++) {
        Big g;
        open_big(&g, MANY, false);
        big_ladder(&g, (int[]){way & 1, 0});
        if (way & 2)
            reverse_layout(g.fn);
        expect_phis(&g, phase_redundant_phis, way & 1 ? MANY - 2 : 0);
        shape_close(&g.s);
    }
}

// Only the last block shows that they differ, then the one before it, and so on.
TEST(equal_phis_both_ways)
{
    for (int way = 0; way < 4; way++) {
        Big g;
        open_big(&g, MANY, true);
        big_ladder(&g, (int[]){1, way & 1});
        if (way & 2)
            reverse_layout(g.fn);
        expect_phis(&g, phase_equal_phis, way & 1 ? MANY - 2 : 2 * (MANY - 2));
        shape_close(&g.s);
    }
}

// Many phis in one block: of one constant, of a few pairs of constants.
TEST(phis_in_one_block)
{
    for (uint32_t kinds = 1; kinds <= 1000; kinds *= 1000) {
        Big g;
        open_big(&g, 3, false);
        Fn *fn = g.fn;
        emit_branch(fn, 1, g.s.p, 2, 3);
        emit_bra(fn, 2, 3);
        Operand ops[] = {op_none(), op_block(1), op_none(), op_block(2), op_none()};
        RegId first = fn->regs.n;
        for (uint32_t k = 0; k < MANY; k++) {
            ops[0] = def(fn, reg_new(fn, RF_R, W32));
            ops[2] = op_const(fn, k % kinds, W32);
            ops[4] = op_const(fn, kinds > 1 ? 5000 : 0, W32);
            ir_append(fn, 3, g.desc[2], 0, ops, 5);
        }
        for (uint32_t k = 0; k < MANY; k++)
            put_store(&g, 3, use(fn, first + k));
        emit_ret(fn, 3);
        expect_phis(&g, phase_equal_phis, kinds);
        expect_phis(&g, phase_redundant_phis, kinds > 1 ? kinds : 0);
        shape_close(&g.s);
    }
}

// A block with many predecessors.
TEST(phis_with_many_inputs)
{
    Big g;
    BlockId n = MANY;
    open_big(&g, n, false);
    Fn *fn = g.fn;
    shape_switch(&g.s, 1, 2, n - 2);
    for (BlockId b = 2; b < n; b++)
        emit_bra(fn, b, n);
    uint32_t run = ops_new(fn, 2 * (n - 2) + 1);
    for (int k = 0; k < 2; k++) {
        Operand *ops = ir_run(fn, run);
        ops[0] = def(fn, phi_reg(&g, n, k));
        for (BlockId b = 2; b < n; b++) {
            ops[2 * b - 3] = op_block(b);
            ops[2 * b - 2] = use(fn, g.source[0]);
        }
        ir_append(fn, n, desc_phi(fn->tables, n - 2), 0, ops, 2 * (n - 2) + 1);
    }
    for (int k = 0; k < 2; k++)
        put_store(&g, n, phi_of(&g, n, k));
    emit_ret(fn, n);
    expect_phis(&g, phase_equal_phis, 1);
    expect_phis(&g, phase_redundant_phis, 0);
    shape_close(&g.s);
}

// One register that each block redefines after a use; and a chain of registers, each a move of the previous one.
TEST(moves_in_a_row)
{
    Shape s;
    shape_open(&s, MANY);
    Fn *fn = s.fn;
    RegId r = reg_new(fn, RF_R, W32), first = fn->regs.n;
    for (BlockId b = 1; b <= MANY; b++)
        reg_new(fn, RF_R, W32);
    for (BlockId b = 1; b <= MANY; b++) {
        RegId from = b == 1 ? s.r : first + b - 2;
        emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, first + b - 1), use(fn, from)));
        emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, r), use(fn, first + b - 1)));
        if (b < MANY)
            emit_branch(fn, b, s.p, b + 1, b);
        else
            emit_ret(fn, b);
    }
    CHECK_VERIFIES(fn);
    CHECK(phase_redundant_moves(&s.f.ctx, fn));
    analysis_drop(fn, AN_FLOW);
    CHECK(!phase_redundant_moves(&s.f.ctx, fn));
    shape_close(&s);
}

void test_phis(void)
{
    RUN(rep_registers);
    RUN(rep_constants);
    RUN(rep_negated);
    RUN(rep_constant_predicates);
    RUN(rep_definitions);
    RUN(rep_types);
    RUN(template_phase);
    RUN(may_guard);
    RUN(guard_instructions);
    RUN(guard_in_multi_form);
    RUN(phi_inputs);
    RUN(phi_input_of_no_predecessor);
    RUN(rep_may_or_not);
    RUN(rep_cycle);
    RUN(rep_chain_up);
    RUN(rep_chain_down);
    RUN(leaders_random);
    RUN(equal_phis_meet);
    RUN(phis_in_a_row);
    RUN(phis_both_ways);
    RUN(equal_phis_both_ways);
    RUN(phis_in_one_block);
    RUN(phis_with_many_inputs);
    RUN(moves_in_a_row);
}
