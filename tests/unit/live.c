// SPDX-License-Identifier: MIT
// Tests liveness against a naive fixed point, rule by rule, and on large functions.
#include <stdio.h>

#include "tests/unit/unit.h"

/* -- Random programs ------------------------------------------------------------------------------------ */

enum { BLOCKS = 14, INSTRS = 6, PHIS = 3, REGS = 256, POOL = 6 };

// Instructions of blocks. Operands: d p c = definition of a value, predicate, carry; u q C = use of one; a 64-bit use;
// k o 32-bit and 64-bit constant; x = register of an opaque instruction; _ = sink, a definition; s = symbol.
static const struct {
    const char *mnemonic, *shape, *ops;
} forms[] = {
    {"mov.u32", "%,%", "dk"},
    {"mov.u32", "%,%", "du"},
    {"add.u32", "%,%,%", "duu"},
    {"selp.u32", "%,%,%,%", "duuq"},
    {"setp.eq.u32", "%,%,%", "puu"},
    {"setp.lt.u32", "%|%,%,%", "ppuk"},
    {"ld.global.v2.u32", "{%,%},[&]", "d_ao"},
    {"st.global.u32", "[&],%", "aou"},
    {"tcgen05.ld", "{%,%},[&]", "xxao"},
    {"call", "$", "s"},
    {"add.cc.u32", "%,%,%", "dcuu"},
    {"addc.u32", "%,%,%", "duuC"},  // the last row needs a carry
};

// In multi form all registers exist from the start and may be used anywhere. In ssa form each definition makes a
// register, and uses take dominating definitions. Pinned and named registers are used arbitrarily in both forms.
typedef struct Program {
    Fixture f;
    Fn *fn;
    uint64_t *seed;
    uint32_t n;            // blocks 1 .. n
    Analyses edges;        // of the blocks with their terminators
    BlockId home[REGS];    // block of the definition, 0 = none or not in ssa
    RegId loose[2][POOL];  // values and predicates outside ssa, or of a function in multi form
    RegId address, cc;
    SymId callee;
    RegId phi[BLOCKS + 1][PHIS];  // definitions of the phis of a block
} Program;

static RegId new_reg(Program *p, Width width, uint8_t flags)
{
    RegId r = reg_new(p->fn, width == W1 ? RF_P : RF_R, width);
    ir_reg(p->fn, r)->flags = flags;
    return r;
}

static void make_registers(Program *p)
{
    uint8_t others = p->fn->form == FORM_SSA ? REG_PINNED : 0;
    for (int k = 0; k < POOL; k++)
        for (int pred = 0; pred < 2; pred++)
            p->loose[pred][k] = new_reg(p, pred ? W1 : W32, k < 2 ? REG_PINNED : k < 3 ? REG_NAMED : others);
    p->address = new_reg(p, W64, REG_PINNED);
    p->cc = p->fn->cc = reg_new(p->fn, RF_CC, W1);
}

static BlockId any_block(Program *p) { return 1 + unit_random(p->seed, p->n); }
static RegId loose(Program *p, bool pred) { return p->loose[pred][unit_random(p->seed, POOL)]; }

// Returns a register that may be used in block b, or at its end.
static RegId readable(Program *p, bool pred, BlockId b)
{
    if (p->fn->form == FORM_MULTI)
        return loose(p, pred);
    for (int tries = 0; tries < 20; tries++) {
        RegId r = 1 + unit_random(p->seed, p->fn->regs.n - 1);
        if (p->home[r] && dominates(&p->edges, p->home[r], b) && (ir_reg(p->fn, r)->file == RF_P) == pred)
            return r;
    }
    return 0;
}

static Operand read(Program *p, bool pred, BlockId b)
{
    RegId r = readable(p, pred, b);
    return use(p->fn, r && unit_random(p->seed, 5) ? r : loose(p, pred));
}

static Operand written(Program *p, bool pred)
{
    if (p->fn->form == FORM_MULTI || !unit_random(p->seed, 5) || p->fn->regs.n == REGS)
        return def(p->fn, loose(p, pred));
    return def(p->fn, new_reg(p, pred ? W1 : W32, 0));
}

static Operand operand(Program *p, char letter, BlockId b)
{
    Operand inout = use(p->fn, p->loose[0][unit_random(p->seed, 2)]);
    inout.mods = OPM_INOUT;
    switch (letter) {
    case 'd': return written(p, false);
    case 'p': return written(p, true);
    case 'c': return def(p->fn, p->cc);
    case 'u': return read(p, false, b);
    case 'q': return read(p, true, b);
    case 'C': return use(p->fn, p->cc);
    case 'a': return use(p->fn, p->address);
    case 'k': return op_const(p->fn, unit_random(p->seed, 1000), W32);
    case 'o': return op_const(p->fn, unit_random(p->seed, 1000), W64);
    case 'x': return inout;
    case 's': return op_sym(p->callee);
    default: return op_def(op_none());
    }
}

static Operand tied(Program *p, Operand defined, BlockId b)
{
    if (!op_is_reg(defined) || !reg_in_ssa(ir_reg(p->fn, op_index(defined))))
        return op_none();
    RegId r = readable(p, op_file(defined) == RF_P, b);
    return r ? use(p->fn, r) : op_imm(CONST_UNDEF);
}

static void emit_form(Program *p, BlockId b, bool carry)
{
    uint32_t form = unit_random(p->seed, ARRAY_LEN(forms) - !carry), n = 0, ndef = 0;
    uint8_t flags = unit_random(p->seed, 3) ? 0 : IF_GUARDED;
    Operand ops[16];
    // Uses first, so that they exclude the new definitions.
    const char *letters = forms[form].ops;
    for (n = (uint32_t)strlen(letters); n > 0; n--) {
        ops[n - 1] = operand(p, letters[n - 1], b);
        ndef += op_is_def(ops[n - 1]);
    }
    n = (uint32_t)strlen(letters);
    if (flags && ndef && p->fn->form == FORM_SSA) {
        flags |= IF_TIED;
        for (uint32_t k = 0; k < ndef; k++)
            ops[n++] = tied(p, ops[k], b);
    }
    if (flags)
        ops[n++] = operand(p, 'q', b);
    for (uint32_t k = 0; k < ndef; k++)
        if (op_is_reg(ops[k]) && p->fn->form == FORM_SSA && reg_in_ssa(ir_reg(p->fn, op_index(ops[k]))))
            p->home[op_index(ops[k])] = b;
    DescId desc = desc_parse(p->fn->tables, forms[form].mnemonic, forms[form].shape);
    ir_insert_before(p->fn, ir_terminator(p->fn, b), desc, flags, ops, n);
}

static void emit_block(Program *p, BlockId b)
{
    bool carry = false;
    for (int k = 0; k < PHIS && p->phi[b][k]; k++)
        p->home[p->phi[b][k]] = b;
    for (uint32_t k = unit_random(p->seed, INSTRS); k > 0; k--) {
        emit_form(p, b, carry);
        const Instr *last = ir_instr(p->fn, ir_instr(p->fn, ir_terminator(p->fn, b))->prev);
        carry |= ir_desc(p->fn, last)->op == OP_ADD_CC;
    }
    Instr *end = ir_instr(p->fn, ir_terminator(p->fn, b));
    if (ir_guarded(end))
        *ir_guard(p->fn, end) = read(p, true, b);
}

static void emit_terminator(Program *p, BlockId b)
{
    Fn *fn = p->fn;
    BlockId to[] = {any_block(p), any_block(p), any_block(p), b};
    Operand guard = use(fn, p->loose[1][0]);
    switch (unit_random(p->seed, 8)) {
    case 0: emit_ret(fn, b); break;
    case 1: emit(fn, b, "exit", "~", IF_GUARDED, OPS(op_block(to[0]), guard)); break;
    case 2:
    case 3: emit_bra(fn, b, to[0]); break;
    case 4: emit_brx(fn, b, p->loose[0][0], to, 1 + unit_random(p->seed, ARRAY_LEN(to))); break;
    default: emit_branch(fn, b, p->loose[1][0], to[0], to[1]); break;
    }
}

// Adds a phi with one input per predecessor; the entry has no phis.
static void emit_phi(Program *p, BlockId b, RegId r)
{
    Operand ops[1 + 2 * BLOCKS];
    char shape[2 + 4 * BLOCKS] = "%";
    uint32_t n = 0;
    bool seen[BLOCKS + 1] = {false};
    ops[n++] = def(p->fn, r);
    FOR_PREDS(&p->edges, b, from) {
        if (seen[*from])
            continue;
        RegId x = readable(p, ir_reg(p->fn, r)->file == RF_P, *from);
        seen[*from] = true;
        ops[n++] = op_block(*from);
        ops[n++] = x ? use(p->fn, x) : op_imm(CONST_UNDEF);
        strcat(shape, ",%:%");
    }
    ir_insert_before(p->fn, ir_block(p->fn, b)->first, desc_parse(p->fn->tables, "mov.phi", shape), 0, ops, n);
}

static void choose_phis(Program *p)
{
    for (BlockId b = 1; b <= p->n && p->fn->form == FORM_SSA; b++)
        for (uint32_t k = 0, n = unit_random(p->seed, PHIS + 1); k < n && b != p->fn->first; k++)
            if (pred_count(&p->edges, b))
                p->phi[b][k] = new_reg(p, unit_random(p->seed, 3) ? W32 : W1, 0);
}

// Fills the blocks, dominators first; unreachable blocks come last.
static void emit_blocks(Program *p)
{
    for (uint32_t k = 0; k < p->edges.nrpo; k++)
        emit_block(p, p->edges.dom.order[k]);
    for (BlockId b = 1; b <= p->n; b++)
        if (!p->edges.dom.size[b])
            emit_block(p, b);
    for (BlockId b = 1; b <= p->n; b++)
        for (int k = 0; k < PHIS && p->phi[b][k]; k++)
            emit_phi(p, b, p->phi[b][k]);
}

static void build_random(Program *p, Form form, uint64_t *seed)
{
    *p = (Program){.seed = seed};
    fixture_open(&p->f);
    Fn *fn = p->fn = p->f.fn;
    fn->form = form;
    p->callee = module_sym(p->f.module, (Name){str_intern_z(&fn->tables->strs, "callee"), NO_NUMBER}, SYM_FUNC);
    make_registers(p);
    p->n = 1 + unit_random(seed, BLOCKS);
    for (uint32_t k = 0; k < p->n; k++)
        block_new(fn);
    for (BlockId b = 1; b <= p->n; b++)
        block_insert_after(fn, b, unit_random(seed, 3) ? fn->last : 0);
    for (BlockId b = 1; b <= p->n; b++)
        emit_terminator(p, b);
    analysis_init(&p->edges, fn->arena.heap);
    analysis_compute(fn, &p->edges, AN_DOM);
    choose_phis(p);
    emit_blocks(p);
}

/* -- A naive reference ---------------------------------------------------------------------------------- */

typedef struct Truth {
    bool in[BLOCKS + 1][REGS], out[BLOCKS + 1][REGS];
} Truth;

static void read_named(const Fn *fn, bool *live)
{
    for (RegId r = 1; r < fn->regs.n; r++)
        live[r] |= (ir_reg(fn, r)->flags & REG_NAMED) != 0;
}

// Computes the registers live before an instruction from those live after it.
static void step(const Fn *fn, InstrId id, bool *live)
{
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        bool old_value_is_used = ir_ntied(i) && !op_same(*ir_tied(fn, i, k), op_none());
        if (op_is_reg(*ir_def(fn, i, k)) && (!ir_guarded(i) || old_value_is_used))
            live[op_index(*ir_def(fn, i, k))] = false;
    }
    if (ir_desc(fn, i)->op == OP_PHI)
        return;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (op_is_reg(ir_ops(fn, i)[k]))
            live[op_index(ir_ops(fn, i)[k])] = true;
    if (ir_desc(fn, i)->op == OP_CALL)
        read_named(fn, live);
}

// Adds the inputs of the phis of `to` for the edge from `from`.
static void read_by_phis(const Fn *fn, BlockId from, BlockId to, bool *live)
{
    FOR_INSTRS(fn, to, id) {
        const Instr *i = ir_instr(fn, id);
        for (uint32_t k = 0; ir_desc(fn, i)->op == OP_PHI && k < ir_nuse(i); k += 2)
            if (op_index(*ir_use(fn, i, k)) == from && op_is_reg(*ir_use(fn, i, k + 1)))
                live[op_index(*ir_use(fn, i, k + 1))] = true;
    }
}

static void find_naively(const Program *p, Truth *t)
{
    const Fn *fn = p->fn;
    memset(t, 0, sizeof *t);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = p->edges.nrpo; k--;) {
            BlockId b = p->edges.rpo[k];
            bool live[REGS], *out = t->out[b];
            Opcode last = ir_desc(fn, ir_instr(fn, ir_terminator(fn, b)))->op;
            FOR_SUCCS(&p->edges, b, to) {
                for (int r = 0; r < REGS; r++)
                    out[r] |= t->in[*to][r];
                read_by_phis(fn, b, *to, out);
            }
            if (last == OP_RET || last == OP_EXIT)
                read_named(fn, out);
            memcpy(live, out, sizeof live);
            for (InstrId id = ir_terminator(fn, b); id; id = ir_instr(fn, id)->prev)
                step(fn, id, live);
            changed |= memcmp(live, t->in[b], sizeof live) != 0;
            memcpy(t->in[b], live, sizeof live);
        }
    }
}

// Checks that a row has exactly these registers, in ascending order.
static void check_row(const RegId *row, uint32_t n, const bool *live)
{
    uint32_t k = 0;
    for (RegId r = 0; r < REGS; r++)
        if (live[r])
            CHECK(k < n && row[k++] == r);
    CHECK_EQ(k, n);
}

static void check_set(const LiveSet *set, const bool *live, uint32_t regs)
{
    uint32_t n = 0;
    for (RegId r = 1; r < regs; r++) {
        n += live[r];
        CHECK_EQ(live_set_has(set, r), live[r]);
    }
    CHECK_EQ(n, set->n);
}

static void check_walk(const Program *p, const Analyses *a, LiveSet *set, BlockId b, const bool *out)
{
    bool live[REGS];
    memcpy(live, out, sizeof live);
    live_set_at_end(set, a, b);
    check_set(set, live, p->fn->regs.n);
    for (InstrId id = ir_terminator(p->fn, b); id; id = ir_instr(p->fn, id)->prev) {
        step(p->fn, id, live);
        live_set_step(set, p->fn, id);
        check_set(set, live, p->fn->regs.n);
    }
}

// Checks liveness queries for single registers; each has a new work limit.
static void check_single(const Program *p, const Truth *t)
{
    const Analyses *a = analysis_need(p->fn, AN_RPO | AN_DOM | AN_LOOPS | AN_DEFUSE);
    for (RegId r = 1; r < p->fn->regs.n; r++) {
        if (p->fn->form != FORM_SSA || !reg_in_ssa(ir_reg(p->fn, r)) || def_count(a, r) != 1)
            continue;
        LiveCheck check;
        live_check_init(&check, &p->fn->arena, p->fn, a);
        for (BlockId b = 1; b <= p->n; b++)
            if (p->edges.dom.size[b])
                CHECK(live_check_out(&check, r, b) == t->out[b][r]);
        CHECK(check.work > 0);
    }
}

static void check_program(const Program *p)
{
    Truth t;
    LiveSet set;
    InstrId at;
    char why[200];
    bool verifies = fn_verify(p->fn, VERIFY_FORM, &at, why);
    CHECK_Z(why, "");
    CHECK(verifies);
    const Analyses *a = analysis_need(p->fn, AN_LIVE);
    find_naively(p, &t);
    live_set_init(&set, &p->fn->arena, p->fn);
    for (BlockId b = 1; b <= p->n; b++) {
        uint32_t nin, nout;
        const RegId *in = live_in(a, b, &nin), *out = live_out(a, b, &nout);
        check_row(in, nin, t.in[b]);
        check_row(out, nout, t.out[b]);
        for (RegId r = 1; r < p->fn->regs.n; r++)
            CHECK(is_live_in(a, b, r) == t.in[b][r] && is_live_out(a, b, r) == t.out[b][r]);
        if (p->edges.dom.size[b])
            check_walk(p, a, &set, b, t.out[b]);
    }
    check_single(p, &t);
    CHECK(analysis_check(p->fn, UINT32_MAX, why));
}

static void check_random(Form form, uint32_t rounds)
{
    uint64_t seed = 1989 + form;
    for (uint32_t round = 0; round < rounds; round++) {
        Program p;
        unit_context("program %u", round);
        build_random(&p, form, &seed);
        check_program(&p);
        analysis_free(&p.edges);
        fixture_close(&p.f);
    }
}

TEST(live_random_multi) { check_random(FORM_MULTI, 4000); }
TEST(live_random_ssa) { check_random(FORM_SSA, 4000); }

/* -- Rule by rule --------------------------------------------------------------------------------------- */

// A small function: b0 to b1 or b2, both to b3; b3 back to itself or to b4, which returns.
typedef struct Small {
    Fixture f;
    Fn *fn;
    RegId r[4], p, pinned, named;
    BlockId b[5];
} Small;

static void open_small(Small *s, Form form)
{
    fixture_open(&s->f);
    Fn *fn = s->fn = s->f.fn;
    fn->form = form;
    for (int k = 0; k < 4; k++)
        s->r[k] = reg_new(fn, RF_R, W32);
    s->p = reg_new(fn, RF_P, W1);
    s->pinned = reg_new(fn, RF_R, W32);  // R4
    s->named = reg_new(fn, RF_R, W32);   // R5
    ir_reg(fn, s->pinned)->flags = REG_PINNED;
    for (uint32_t k = 0; k < 5; k++)
        s->b[k] = add_block(fn, k);
    emit_branch(fn, s->b[0], s->p, s->b[1], s->b[2]);
    emit_bra(fn, s->b[1], s->b[3]);
    emit_bra(fn, s->b[2], s->b[3]);
    emit_branch(fn, s->b[3], s->p, s->b[3], s->b[4]);
    emit_ret(fn, s->b[4]);
}

static InstrId put(Small *s, int block, const char *mnemonic, const char *shape, uint8_t flags, const Operand *ops,
                   uint32_t n)
{
    InstrId end = ir_terminator(s->fn, s->b[block]);
    return ir_insert_before(s->fn, end, desc_parse(s->fn->tables, mnemonic, shape), flags, ops, n);
}
#define USE(reg) use(s.fn, s.reg)
#define DEF(reg) def(s.fn, s.reg)
#define MOV(block, to, from) put(&s, (block), "mov.u32", "%,%", 0, OPS(to, from))
#define MOV_IF(block, to, from) put(&s, (block), "mov.u32", "%,%", IF_GUARDED, OPS(to, from, USE(p)))

// Checks the registers at the starts and ends of all blocks except P0: "R0 | R0 R1; ...".
static void check_all(Small *s, const char *expected, int line)
{
    char text[400] = "";
    size_t n = 0;
    analysis_drop(s->fn, 0);
    const Analyses *a = analysis_need(s->fn, AN_LIVE);
    for (int half = 0; half < 10; half++) {
        uint32_t count;
        const RegId *row = half % 2 ? live_out(a, s->b[half / 2], &count) : live_in(a, s->b[half / 2], &count);
        for (uint32_t k = 0; k < count; k++)
            if (row[k] != s->p)
                n += (size_t)snprintf(text + n, sizeof text - n, "R%u ", ir_reg(s->fn, row[k])->ordinal);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", half == 9 ? "" : half % 2 ? "; " : "| ");
    }
    unit_check_text(text, SIZE_MAX, expected, __FILE__, line);
}
#define LIVE(expected) check_all(&s, (expected), __LINE__)

TEST(live_definitions_kill)
{
    Small s;
    open_small(&s, FORM_MULTI);
    LIVE("| ; | ; | ; | ; | ");
    MOV(4, DEF(r[1]), USE(r[0]));
    LIVE("R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | ");
    InstrId left = MOV(1, DEF(r[0]), op_const(s.fn, 1, W32));
    LIVE("R0 | R0 ; | R0 ; R0 | R0 ; R0 | R0 ; R0 | ");
    InstrId right = MOV(2, DEF(r[0]), op_const(s.fn, 2, W32));
    LIVE("| ; | R0 ; | R0 ; R0 | R0 ; R0 | ");
    // A use before the definition, or without one.
    *ir_use(s.fn, ir_instr(s.fn, right), 0) = USE(r[0]);
    LIVE("R0 | R0 ; | R0 ; R0 | R0 ; R0 | R0 ; R0 | ");
    ir_remove(s.fn, left);
    ir_remove(s.fn, right);
    MOV(3, DEF(r[0]), USE(r[0]));
    MOV(3, DEF(r[0]), USE(r[0]));
    LIVE("R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | ");
    fixture_close(&s.f);
}

TEST(live_guarded_definitions)
{
    Small s;
    open_small(&s, FORM_MULTI);
    MOV(4, DEF(r[1]), USE(r[0]));
    InstrId mov = MOV_IF(3, DEF(r[0]), op_const(s.fn, 1, W32));
    LIVE("R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | R0 ; R0 | ");
    // The unguarded definition after it kills, and so does one before it.
    InstrId after = MOV(3, DEF(r[0]), op_const(s.fn, 1, W32));
    LIVE("| ; | ; | ; | R0 ; R0 | ");
    ir_remove(s.fn, after);
    ir_insert_before(s.fn, mov, desc_parse(s.fn->tables, "mov.u32", "%,%"), 0, OPS(DEF(r[0]), op_const(s.fn, 1, W32)));
    LIVE("| ; | ; | ; | R0 ; R0 | ");
    fixture_close(&s.f);
}

TEST(live_tied_uses)
{
    Small s;
    open_small(&s, FORM_SSA);
    MOV(0, DEF(r[1]), op_const(s.fn, 1, W32));
    put(&s, 3, "mov.u32", "%,%", IF_GUARDED | IF_TIED, OPS(DEF(r[0]), op_const(s.fn, 1, W32), USE(r[1]), USE(p)));
    MOV(4, DEF(r[2]), USE(r[0]));
    LIVE("| R1 ; R1 | R1 ; R1 | R1 ; R1 | R0 R1 ; R0 | ");
    // A guarded definition outside ssa keeps its old value implicitly.
    put(&s, 3, "mov.u32", "%,%", IF_GUARDED | IF_TIED, OPS(DEF(pinned), op_const(s.fn, 1, W32), op_none(), USE(p)));
    MOV(4, DEF(r[3]), USE(pinned));
    LIVE("R4 | R1 R4 ; R1 R4 | R1 R4 ; R1 R4 | R1 R4 ; R1 R4 | R0 R1 R4 ; R0 R4 | ");
    fixture_close(&s.f);
}

// Two phis swap values in each iteration.
TEST(live_phis)
{
    Small s;
    open_small(&s, FORM_SSA);
    BlockId *b = s.b;
    MOV(0, DEF(r[2]), op_const(s.fn, 1, W32));
    MOV(1, DEF(r[3]), op_const(s.fn, 1, W32));
    for (int k = 0; k < 2; k++)
        put(&s, 3, "mov.phi", "%,%:%,%:%,%:%", 0,
            OPS(DEF(r[k]), op_block(b[1]), USE(r[3]), op_block(b[2]), USE(r[2]), op_block(b[3]), USE(r[1 - k])));
    LIVE("| R2 ; | R3 ; R2 | R2 ; | R0 R1 ; | ");
    MOV(4, DEF(pinned), USE(r[1]));
    LIVE("| R2 ; | R3 ; R2 | R2 ; | R0 R1 ; R1 | ");
    // An input that is live after the phi.
    MOV(4, DEF(pinned), USE(r[2]));
    LIVE("| R2 ; R2 | R2 R3 ; R2 | R2 ; R2 | R0 R1 R2 ; R1 R2 | ");
    fixture_close(&s.f);
}

TEST(live_opaque)
{
    Small s;
    open_small(&s, FORM_MULTI);
    Operand inout = USE(pinned);
    inout.mods = OPM_INOUT;
    put(&s, 1, "tcgen05.ld", "%", 0, OPS(inout));
    LIVE("R4 | R4 ; R4 | ; | ; | ; | ");
    put(&s, 4, "tcgen05.ld", "%", 0, OPS(inout));
    LIVE("R4 | R4 ; R4 | R4 ; R4 | R4 ; R4 | R4 ; R4 | ");
    MOV(2, DEF(pinned), op_const(s.fn, 1, W32));
    LIVE("R4 | R4 ; R4 | R4 ; | R4 ; R4 | R4 ; R4 | ");
    fixture_close(&s.f);
}

TEST(live_named)
{
    Small s;
    LiveSet set;
    open_small(&s, FORM_MULTI);
    Fn *fn = s.fn;
    ir_reg(fn, s.named)->flags = REG_NAMED;
    LIVE("R5 | R5 ; R5 | R5 ; R5 | R5 ; R5 | R5 ; R5 | R5 ");
    MOV(3, DEF(named), op_const(fn, 1, W32));
    LIVE("| ; | ; | ; | R5 ; R5 | R5 ");
    // A call uses the register if no definition precedes it, and does not kill it.
    MOV(1, DEF(named), op_const(fn, 1, W32));
    Operand callee = op_sym(module_sym(s.f.module, (Name){0, 1}, SYM_FUNC));
    put(&s, 1, "call", "$", 0, OPS(callee));
    LIVE("| ; | ; | ; | R5 ; R5 | R5 ");
    InstrId call = put(&s, 2, "call", "$", 0, OPS(callee));
    LIVE("R5 | R5 ; | ; R5 | ; | R5 ; R5 | R5 ");
    MOV(2, DEF(named), op_const(fn, 1, W32));
    put(&s, 2, "call", "$", 0, OPS(callee));
    LIVE("R5 | R5 ; | ; R5 | ; | R5 ; R5 | R5 ");
    live_set_init(&set, &s.f.ctx.arena, fn);
    live_set_at_end(&set, fn->analyses, s.b[2]);
    for (InstrId i = ir_terminator(fn, s.b[2]); i != call; i = ir_instr(fn, i)->prev)
        live_set_step(&set, fn, i);
    CHECK(!live_set_has(&set, s.named));
    live_set_step(&set, fn, call);
    CHECK(live_set_has(&set, s.named));
    fixture_close(&s.f);
}

// No register is live in unreachable blocks, and their uses make no register live elsewhere.
TEST(live_unreachable)
{
    Small s;
    open_small(&s, FORM_MULTI);
    *ir_use(s.fn, ir_instr(s.fn, ir_terminator(s.fn, s.b[0])), 0) = op_block(s.b[2]);
    MOV(1, DEF(r[1]), USE(r[0]));
    MOV(4, DEF(r[3]), USE(r[2]));
    LIVE("R2 | R2 ; | ; R2 | R2 ; R2 | R2 ; R2 | ");
    fixture_close(&s.f);
}

TEST(live_stale)
{
    Small s;
    char why[200];
    open_small(&s, FORM_MULTI);
    Fn *fn = s.fn;
    InstrId mov = MOV(4, DEF(r[1]), USE(r[0]));
    analysis_need(fn, AN_LIVE);
    CHECK_EQ(fn->analyses->valid, AN_CFG | AN_RPO | AN_DEFUSE | AN_LIVE);
    CHECK(analysis_check(fn, AN_LIVE, why));
    *ir_use(fn, ir_instr(fn, mov), 0) = USE(r[1]);
    CHECK(!analysis_check(fn, AN_LIVE, why));
    CHECK_Z(why, "LIVE was kept but is out of date: R0 is not live at the start of b0");
    *ir_use(fn, ir_instr(fn, mov), 0) = USE(r[0]);
    CHECK(analysis_check(fn, AN_LIVE, why));
    InstrId top = MOV(0, DEF(r[3]), USE(r[2]));
    CHECK(!analysis_check(fn, AN_LIVE, why));
    CHECK_Z(why, "LIVE was kept but is out of date: R2 is live at the start of b0");
    *ir_def(fn, ir_instr(fn, top), 0) = DEF(r[0]);
    *ir_use(fn, ir_instr(fn, top), 0) = USE(r[0]);
    CHECK(analysis_check(fn, AN_LIVE, why));  // it is live across no other boundary
    *ir_guard(fn, ir_instr(fn, ir_terminator(fn, s.b[3]))) = use(fn, reg_new(fn, RF_P, W1));
    CHECK(!analysis_check(fn, AN_LIVE, why));
    CHECK_Z(why, "LIVE was kept but is out of date: P1 is live at the start of b0");
    analysis_drop(fn, 0);
    analysis_need(fn, AN_LIVE);
    CHECK(analysis_check(fn, AN_LIVE, why));
    block_new(fn);
    CHECK(!analysis_check(fn, AN_LIVE, why));
    CHECK_Z(why, "LIVE was kept but is out of date: there are new blocks");
    fixture_close(&s.f);
}

/* -- At size -------------------------------------------------------------------------------------------- */

enum { MANY = 100000, CARRIED = 16 };

// A function of many blocks, with descriptors and registers.
typedef struct Shape {
    Fixture f;
    Fn *fn;
    DescId mov, add;
    RegId p, r[CARRIED];
    BlockId *targets;  // room for MANY
} Shape;

static void open_shape(Shape *s, uint32_t blocks)
{
    fixture_open(&s->f);
    Fn *fn = s->fn = s->f.fn;
    s->mov = desc_parse(fn->tables, "mov.u32", "%,%");
    s->add = desc_parse(fn->tables, "add.u32", "%,%,%");
    s->p = reg_new(fn, RF_P, W1);
    for (int k = 0; k < CARRIED; k++)
        s->r[k] = reg_new(fn, RF_R, W32);
    s->targets = NEW_ARRAY(&s->f.ctx.arena, BlockId, MANY);
    for (uint32_t k = 0; k < blocks; k++)
        add_block(fn, k);
}

static void append_mov(Shape *s, BlockId b, RegId to, RegId from)
{
    ir_append(s->fn, b, s->mov, 0, OPS(def(s->fn, to), from ? use(s->fn, from) : op_const(s->fn, 0, W32)));
}

static uint32_t count_in(const Analyses *a, BlockId b)
{
    uint32_t n;
    live_in(a, b, &n);
    return n;
}

static uint32_t count_out(const Analyses *a, BlockId b)
{
    uint32_t n;
    live_out(a, b, &n);
    return n;
}

// A million instructions in one block.
TEST(live_one_block)
{
    enum { N = 1000000 };
    Shape s;
    open_shape(&s, 1);
    RegId last = s.r[0];
    for (uint32_t k = 0; k < N; k++) {
        RegId r = reg_new(s.fn, RF_R, W32);
        ir_append(s.fn, 1, s.add, 0, OPS(def(s.fn, r), use(s.fn, last), use(s.fn, s.r[1])));
        last = r;
    }
    append_mov(&s, 1, s.r[2], s.r[3]);
    emit_ret(s.fn, 1);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    CHECK(count_in(a, 1) == 3 && count_out(a, 1) == 0);
    CHECK(is_live_in(a, 1, s.r[0]) && is_live_in(a, 1, s.r[1]) && is_live_in(a, 1, s.r[3]));
    LiveSet set;
    uint32_t most = 0;
    live_set_init(&set, &s.f.ctx.arena, s.fn);
    live_set_at_end(&set, a, 1);
    for (InstrId i = ir_terminator(s.fn, 1); i; i = ir_instr(s.fn, i)->prev) {
        live_set_step(&set, s.fn, i);
        most = MAX(most, set.n);
    }
    CHECK(most == 3 && set.n == 3 && live_set_has(&set, s.r[3]));
    fixture_close(&s.f);
}

// A register that is live through all blocks, and one from each block to the next.
TEST(live_long_chain)
{
    Shape s;
    open_shape(&s, MANY);
    RegId last = 0;
    append_mov(&s, 1, s.r[0], 0);
    for (BlockId b = 1; b <= MANY; b++) {
        RegId next = reg_new(s.fn, RF_R, W32);
        append_mov(&s, b, next, last);
        last = next;
        if (b < MANY)
            emit_bra(s.fn, b, b + 1);
    }
    append_mov(&s, MANY, s.r[1], s.r[0]);
    emit_ret(s.fn, MANY);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    bool right = count_in(a, 1) == 0 && count_out(a, MANY) == 0;
    for (BlockId b = 2; b <= MANY; b++)
        right &= count_in(a, b) == 2 && count_out(a, b - 1) == 2 && is_live_in(a, b, s.r[0]);
    CHECK(right);
    fixture_close(&s.f);
}

// A switch to many blocks with one join, which uses registers of the entry and of each block.
TEST(live_wide_switch_and_join)
{
    Shape s;
    BlockId end = MANY + 2;
    open_shape(&s, end);
    for (int k = 0; k < CARRIED; k++)
        append_mov(&s, 1, s.r[k], 0);
    for (uint32_t k = 0; k < MANY; k++)
        s.targets[k] = 2 + k;
    emit_brx(s.fn, 1, s.r[0], s.targets, MANY);
    for (BlockId b = 2; b < end; b++) {
        append_mov(&s, b, s.r[1], s.r[2]);
        emit_bra(s.fn, b, end);
    }
    for (int k = 3; k < CARRIED; k++)
        append_mov(&s, end, s.r[0], s.r[k]);
    append_mov(&s, end, s.r[0], s.r[1]);
    emit_ret(s.fn, end);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    CHECK(count_in(a, 1) == 0 && count_out(a, 1) == CARRIED - 2 && count_in(a, end) == CARRIED - 2);
    bool right = !is_live_out(a, 1, s.r[1]);
    for (BlockId b = 2; b < end; b++)
        right &= count_in(a, b) == CARRIED - 2 && count_out(a, b) == CARRIED - 2 && is_live_in(a, b, s.r[2]) &&
                 is_live_out(a, b, s.r[1]) && !is_live_out(a, b, s.r[2]);
    CHECK(right);
    fixture_close(&s.f);
}

// The same in ssa form: a phi with as many inputs, each live only at the end of its block.
TEST(live_wide_phi)
{
    Shape s;
    BlockId end = MANY + 2;
    open_shape(&s, end);
    s.fn->form = FORM_SSA;
    Operand *ops = NEW_ARRAY(&s.f.ctx.arena, Operand, 2 * MANY + 1);
    char *shape = NEW_ARRAY(&s.f.ctx.arena, char, 4 * MANY + 2);
    shape[0] = '%';
    ops[0] = def(s.fn, s.r[1]);
    append_mov(&s, 1, s.r[0], 0);
    for (uint32_t k = 0; k < MANY; k++) {
        RegId r = reg_new(s.fn, RF_R, W32);
        s.targets[k] = 2 + k;
        append_mov(&s, 2 + k, r, 0);
        emit_bra(s.fn, 2 + k, end);
        ops[1 + 2 * k] = op_block(2 + k);
        ops[2 + 2 * k] = use(s.fn, r);
        memcpy(shape + 1 + 4 * k, ",%:%", 4);
    }
    emit_brx(s.fn, 1, s.r[0], s.targets, MANY);
    emit(s.fn, end, "mov.phi", shape, 0, ops, 2 * MANY + 1);
    append_mov(&s, end, s.r[2], s.r[1]);
    emit_ret(s.fn, end);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    bool right = count_in(a, end) == 0 && count_out(a, 1) == 0;
    for (BlockId b = 2; b < end; b++)
        right &= count_in(a, b) == 0 && count_out(a, b) == 1;
    CHECK(right);
    fixture_close(&s.f);
}

// All entries of a large branch table name one block: for each register they are one edge.
TEST(live_table_of_one_target)
{
    enum { N = 10000 };
    Shape s;
    open_shape(&s, 2);
    for (uint32_t k = 0; k < MANY; k++)
        s.targets[k] = 2;
    emit_brx(s.fn, 1, s.r[0], s.targets, MANY);
    for (uint32_t k = 0; k < N; k++)
        append_mov(&s, 2, s.r[0], reg_new(s.fn, RF_R, W32));
    emit_ret(s.fn, 2);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    CHECK(count_in(a, 2) == N && count_out(a, 1) == N && count_in(a, 1) == N + 1);
    fixture_close(&s.f);
}

// Loop-carried registers of a long loop; each block uses one, the last one redefines all.
TEST(live_carried)
{
    Shape s;
    open_shape(&s, MANY + 2);
    for (int k = 0; k < CARRIED; k++)
        append_mov(&s, 1, s.r[k], 0);
    emit_bra(s.fn, 1, 2);
    for (BlockId b = 2; b <= MANY; b++) {
        append_mov(&s, b, reg_new(s.fn, RF_R, W32), s.r[b % CARRIED]);
        emit_branch(s.fn, b, s.p, b + 1, MANY + 1);
    }
    emit_bra(s.fn, MANY + 1, MANY + 2);
    for (int k = 0; k < CARRIED; k++)
        ir_append(s.fn, MANY + 2, s.add, 0,
                  OPS(def(s.fn, s.r[k]), use(s.fn, s.r[k]), use(s.fn, s.r[(k + 1) % CARRIED])));
    emit_bra(s.fn, MANY + 2, 2);
    const Analyses *a = analysis_need(s.fn, AN_LIVE);
    bool right = count_in(a, 1) == 1 && is_live_in(a, 1, s.p);
    for (BlockId b = 2; b <= MANY + 2; b++)
        right &= count_in(a, b) == CARRIED + 1 && count_out(a, b) == CARRIED + 1;
    CHECK(right);
    fixture_close(&s.f);
}

// Dropping and computing again needs no additional memory.
TEST(live_memory)
{
    Small s;
    open_small(&s, FORM_MULTI);
    MOV(4, DEF(r[1]), USE(r[0]));
    analysis_need(s.fn, AN_LIVE);
    size_t before = s.f.ctx.heap.used;
    for (int k = 0; k < 100; k++) {
        analysis_drop(s.fn, k % 2 ? AN_DEFUSE : 0);
        analysis_need(s.fn, AN_LIVE);
    }
    CHECK_EQ(s.f.ctx.heap.used, before);
    fixture_close(&s.f);
}

void test_live(void)
{
    RUN(live_random_multi);
    RUN(live_random_ssa);
    RUN(live_definitions_kill);
    RUN(live_guarded_definitions);
    RUN(live_tied_uses);
    RUN(live_phis);
    RUN(live_opaque);
    RUN(live_named);
    RUN(live_unreachable);
    RUN(live_stale);
    RUN(live_one_block);
    RUN(live_long_chain);
    RUN(live_wide_switch_and_join);
    RUN(live_wide_phi);
    RUN(live_table_of_one_target);
    RUN(live_carried);
    RUN(live_memory);
}
