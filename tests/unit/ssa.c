// SPDX-License-Identifier: MIT
// Tests conversions into and out of ssa form, and phases on phis between them: a small interpreter runs random programs
// before and after, with the same results. Also with copies and constants propagated into phis and tied uses, and with
// redundant, equal or undefined phis, which phase 23 never makes.
#include "tests/unit/graph.h"

/* -- Random programs ------------------------------------------------------------------------------------ */

enum { POOL = 5, INSTRS = 7, SALTS = 3 };

// Instructions of blocks. Operands: d p = definition of a value, predicate; u q = use of one; a = base of an address; k
// = constant, t = truth value, o = offset, unique for each store.
static const struct {
    const char *mnemonic, *shape, *ops;
} forms[] = {
    {"mov.b32", "%,%", "du"},          {"mov.b32", "%,%", "du"},
    {"mov.b32", "%,%", "du"},          {"mov.b32", "%,%", "dk"},
    {"mov.b32", "%,%", "dk"},          {"mov.pred", "%,%", "pq"},
    {"mov.pred", "%,%", "pt"},         {"mov.v2.b32", "{%,%},{%,%}", "dduu"},
    {"add.s32", "%,%,%", "duu"},       {"add.s32", "%,%,%", "duk"},
    {"sub.s32", "%,%,%", "duu"},       {"mul.lo.s32", "%,%,%", "duk"},
    {"xor.b32", "%,%,%", "duu"},       {"setp.lt.s32", "%,%,%", "puu"},
    {"setp.eq.s32", "%,%,%", "puk"},   {"setp.lt.s32", "%|%,%,%", "ppuk"},
    {"selp.b32", "%,%,%,%", "duuq"},   {"st.global.b32", "[&],%", "aou"},
    {"st.global.b32", "[&],%", "aou"},
};

typedef enum { INIT_IN_FRONT, INIT_IN_ENTRY, INIT_SOME, INITS } InitPlace;

typedef struct Program {
    Fixture f;
    Fn *fn;
    uint64_t *seed;
    RegId value[POOL], pred[POOL];
    RegId outside, outside_pred;  // defined, outside ssa
    RegId input[2], address;      // never defined: input of the program
    uint32_t stores;
} Program;

static RegId new_reg(Program *p, Width width, uint8_t flags)
{
    RegId r = reg_new(p->fn, width == W1 ? RF_P : RF_R, width);
    ir_reg(p->fn, r)->flags = flags;
    return r;
}

static RegId any_value(Program *p)
{
    uint32_t k = unit_random(p->seed, POOL + 1);
    return k < POOL ? p->value[k] : p->outside;
}

static RegId any_pred(Program *p)
{
    uint32_t k = unit_random(p->seed, POOL + 1);
    return k < POOL ? p->pred[k] : p->outside_pred;
}

static Operand read_value(Program *p)
{
    uint32_t k = unit_random(p->seed, 12);
    return use(p->fn, k < 2 ? p->input[k] : any_value(p));
}

static Operand read_pred(Program *p, bool guard)
{
    Operand o = use(p->fn, any_pred(p));
    o.mods = guard && unit_random(p->seed, 3) == 0 ? OPM_NOT : 0;
    return o;
}

static Operand operand(Program *p, char letter)
{
    switch (letter) {
    case 'd': return def(p->fn, any_value(p));
    case 'p': return def(p->fn, any_pred(p));
    case 'u': return read_value(p);
    case 'q': return read_pred(p, false);
    case 'a': return use(p->fn, p->address);
    case 'k': return op_const(p->fn, (uint32_t)(unit_random(p->seed, 9) - 4), W32);
    case 't': return op_const(p->fn, unit_random(p->seed, 2), W1);
    default: return op_const(p->fn, 4 * ++p->stores, W64);
    }
}

static void insert(Program *p, BlockId b, uint32_t form, uint8_t flags, const Operand *ops, uint32_t n)
{
    DescId desc = desc_parse(p->fn->tables, forms[form].mnemonic, forms[form].shape);
    ir_insert_before(p->fn, ir_terminator(p->fn, b), desc, flags, ops, n);
}

static void emit_form(Program *p, BlockId b)
{
    uint32_t form = unit_random(p->seed, ARRAY_LEN(forms)), n = 0;
    uint8_t flags = unit_random(p->seed, 3) ? 0 : IF_GUARDED;
    Operand ops[8];
    for (const char *letter = forms[form].ops; *letter; letter++)
        ops[n++] = operand(p, *letter);
    while (op_is_def(ops[1]) && op_same(ops[0], ops[1]))
        ops[1] = operand(p, forms[form].ops[1]);
    if (flags)
        ops[n++] = read_pred(p, true);
    insert(p, b, form, flags, ops, n);
}

// Initializes registers at the start; the others have an undefined value.
static void initialize(Program *p, BlockId b, bool all)
{
    for (int k = 0; k < POOL; k++) {
        if (!all && unit_random(p->seed, 3) == 0)
            continue;
        Operand from = k ? op_const(p->fn, unit_random(p->seed, 5), W32) : use(p->fn, p->input[0]);
        emit(p->fn, b, "mov.b32", "%,%", 0, OPS(def(p->fn, p->value[k]), from));
        emit(p->fn, b, "setp.lt.s32", "%,%,%", 0,
             OPS(def(p->fn, p->pred[k]), use(p->fn, p->input[k % 2]), op_const(p->fn, unit_random(p->seed, 3), W32)));
    }
    emit(p->fn, b, "mov.b32", "%,%", 0, OPS(def(p->fn, p->outside), use(p->fn, p->input[1])));
    emit(p->fn, b, "setp.lt.s32", "%,%,%", 0,
         OPS(def(p->fn, p->outside_pred), use(p->fn, p->input[0]), use(p->fn, p->input[1])));
}

static void put_first_values(Program *p)
{
    uint32_t init = unit_random(p->seed, INITS);
    BlockId b = block_new(p->fn);
    block_insert_after(p->fn, b, 0);
    initialize(p, b, init != INIT_SOME);
    if (init == INIT_IN_FRONT || unit_random(p->seed, 2)) {
        emit_bra(p->fn, b, 1);
        return;
    }
    // Moves the instructions to the entry, which may have predecessors.
    for (InstrId id = ir_block(p->fn, b)->first, next; id; id = next) {
        Instr i = *ir_instr(p->fn, id);
        next = i.next;
        ir_insert_before(p->fn, ir_block(p->fn, 1)->first, i.desc, i.flags, ir_run(p->fn, i.ops), i.nops);
        ir_remove(p->fn, id);
    }
    block_unlink(p->fn, b);
}

// Replaces the registers that terminators use.
static void reread(Program *p, BlockId b)
{
    Instr *end = ir_instr(p->fn, ir_terminator(p->fn, b));
    for (uint32_t k = 0; k < end->nops; k++) {
        Operand *o = ir_ops(p->fn, end) + k;
        if (op_is_reg(*o))
            *o = op_file(*o) == RF_P ? read_pred(p, true) : use(p->fn, any_value(p));
    }
}

static void build_random(Program *p, uint64_t *seed, bool large)
{
    Graph g;
    *p = (Program){.seed = seed};
    fixture_open(&p->f);
    p->fn = p->f.fn;
    do
        graph_random(&g, seed);
    while (large ? g.n < 25 : g.n < 3 || g.n > 25);
    graph_build(&p->f, &g);
    for (int k = 0; k < POOL; k++) {
        p->value[k] = new_reg(p, W32, 0);
        p->pred[k] = new_reg(p, W1, 0);
    }
    p->outside = new_reg(p, W32, REG_PINNED);
    p->outside_pred = new_reg(p, W1, REG_PINNED);
    p->input[0] = new_reg(p, W32, REG_PINNED);
    p->input[1] = new_reg(p, W32, REG_PINNED);
    p->address = new_reg(p, W64, REG_PINNED);
    for (BlockId b = 1; b <= g.n; b++)
        for (uint32_t k = unit_random(seed, INSTRS + 1); k > 0; k--)
            emit_form(p, b);
    for (BlockId b = 1; b <= g.n; b++)
        reread(p, b);
    put_first_values(p);
    module_freeze(p->f.module);
}

/* -- The interpreter ------------------------------------------------------------------------------------ */

enum { MAX_BLOCKS = 200, MAX_STORES = MAX_BLOCKS * (INSTRS + 1), UNKNOWN = INT32_MAX, FRESH = 1 << 24 };

// A number and its state: 0 = defined, UNKNOWN = computed from an undefined value, else the origin of an undefined
// copy: an undefined register, or FRESH and more for an undefined input of a phi.
typedef struct Value {
    uint32_t bits, undef;
} Value;

typedef struct Store {
    uint32_t address;
    Value value;
} Store;

typedef enum { RAN_OUT, EXITED, LOST } End;  // LOST: control depends on an undefined value

typedef struct Machine {
    const Fn *fn;
    uint32_t salt;   // of the values of undefined registers
    bool stops;      // stops before control depends on an undefined value
    uint32_t fresh;  // undefined inputs so far
    Value *reg;
    bool *written;
    Store store[MAX_STORES];
    uint32_t nstores;
    End end;
} Machine;

static uint32_t noise(uint32_t a, uint32_t b)
{
    uint64_t seed = (uint64_t)a << 32 | b;
    return unit_random(&seed, UINT32_MAX);
}

// Returns the initial value of a register. Registers outside ssa keep their ordinals; their initial values are the
// program's input.
static Value unwritten(const Machine *m, RegId r)
{
    const Reg *reg = ir_reg(m->fn, r);
    Value v = {.undef = r};
    if (!reg_in_ssa(reg))
        return (Value){noise(m->salt, reg->ordinal) % 7 - 2, 0};
    v.bits = noise(m->salt + 1000, r) % 5;
    v.bits &= reg->width == W1 ? 1 : UINT32_MAX;
    return v;
}

static Value get(const Machine *m, Operand o)
{
    if (op_kind(o) == K_IMM && op_index(o) == CONST_UNDEF)
        return (Value){noise(m->salt, m->fresh) & 1, FRESH + m->fresh};
    if (op_kind(o) == K_IMM)
        return (Value){(uint32_t)tab_const(m->fn->tables, op_index(o)).bits, 0};
    Value v = m->written[op_index(o)] ? m->reg[op_index(o)] : unwritten(m, op_index(o));
    if (o.mods & OPM_NOT)
        v = (Value){!v.bits, v.undef ? UNKNOWN : 0};
    return v;
}

static void put(Machine *m, Operand o, Value v)
{
    m->reg[op_index(o)] = v;
    m->written[op_index(o)] = true;
}

static bool copies(Value a, Value b) { return a.undef == b.undef && a.undef != UNKNOWN && a.bits == b.bits; }

static Value compute(Opcode op, Value a, Value b)
{
    uint32_t bits = op == OP_ADD      ? a.bits + b.bits
                    : op == OP_SUB    ? a.bits - b.bits
                    : op == OP_MUL_LO ? a.bits * b.bits
                                      : a.bits ^ b.bits;
    bool cancels = (op == OP_SUB || op == OP_XOR) && copies(a, b);
    return (Value){bits, (a.undef || b.undef) && !cancels ? UNKNOWN : 0};
}

static Value compare(const Machine *m, const Instr *i, Value a, Value b)
{
    bool lt = tab_mnem(m->fn->tables, ir_desc(m->fn, i)->mnem)->mod[MC_CMP] == mod_find("lt", 2, UINT32_MAX);
    bool result = lt ? (int32_t)a.bits < (int32_t)b.bits : a.bits == b.bits;
    return (Value){result, (a.undef || b.undef) && !copies(a, b) ? UNKNOWN : 0};
}

static Value select(Value a, Value b, Value q)
{
    Value v = q.bits ? a : b;
    return q.undef && !copies(a, b) ? (Value){v.bits, UNKNOWN} : v;
}

// Computes the values of the definitions for a true guard.
static void evaluate(Machine *m, const Instr *i, Opcode op, Value result[2])
{
    Value use[4] = {{0}};
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        use[k] = get(m, *ir_use(m->fn, i, k));
    switch (op) {
    case OP_MOV: result[0] = use[0]; return;
    case OP_MOV_VEC: result[0] = use[0], result[1] = use[1]; return;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL_LO:
    case OP_XOR: result[0] = compute(op, use[0], use[1]); return;
    case OP_SETP:
        result[0] = compare(m, i, use[0], use[1]);
        result[1] = (Value){!result[0].bits, result[0].undef};
        return;
    case OP_SELP: result[0] = select(use[0], use[1], use[2]); return;
    default: CHECK(!"an instruction that the interpreter knows");
    }
}

static void define(Machine *m, const Instr *i, Opcode op, bool runs, bool known)
{
    Value result[2] = {{0}}, old[2] = {{0}};
    evaluate(m, i, op, result);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(m->fn, i, k), tied = ir_ntied(i) ? *ir_tied(m->fn, i, k) : op_none();
        m->fresh++;
        old[k] = op_is_reg(def) ? get(m, op_kind(tied) == K_NONE ? (Operand){def.word, 0} : tied) : old[k];
    }
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(m->fn, i, k);
        Value v = runs ? result[k] : old[k];
        if (!known && !copies(result[k], old[k]))
            v.undef = UNKNOWN;
        if (op_is_reg(def))
            put(m, def, v);
    }
}

static void run_phis(Machine *m, BlockId b, BlockId from)
{
    Value in[2 * POOL + 50];
    uint32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        FOR_INSTRS(m->fn, b, id) {
            const Instr *i = ir_instr(m->fn, id);
            if (ir_desc(m->fn, i)->op != OP_PHI)
                break;
            CHECK(n < ARRAY_LEN(in));
            if (pass)
                put(m, *ir_def(m->fn, i, 0), in[n]);
            m->fresh++;
            for (uint32_t k = 0; k < ir_nuse(i) && !pass; k += 2)
                if (op_index(*ir_use(m->fn, i, k)) == from)
                    in[n] = get(m, *ir_use(m->fn, i, k + 1));
            n++;
        }
    }
}

// Returns the next block; 0 = none.
static BlockId leave(Machine *m, const Instr *i, Opcode op, bool runs)
{
    const Fn *fn = m->fn;
    if (op == OP_BRX) {
        const List *list = ir_list(fn, op_index(*ir_use(fn, i, 1)));
        Value index = get(m, *ir_use(fn, i, 0));
        bool lost = index.undef && m->stops;
        m->end = lost ? LOST : m->end;
        return lost ? 0 : op_index(ir_run(fn, list->ops)[index.bits % list->n]);
    }
    bool goes = op == OP_BRA;
    if (runs && !goes)
        m->end = EXITED;
    return runs && !goes ? 0 : op_index(*ir_use(fn, i, goes && !runs));
}

// Runs the instructions of a block; returns the next one.
static BlockId run_block(Machine *m, BlockId b)
{
    const Fn *fn = m->fn;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        const Desc *desc = ir_desc(fn, i);
        Value guard = ir_guarded(i) ? get(m, *ir_guard(fn, i)) : (Value){1, 0};
        if (desc->op == OP_PHI)
            continue;
        if (m->stops && guard.undef && (desc->traits & TR_TERM || desc->op == OP_ST)) {
            m->end = LOST;
            return 0;
        }
        if (desc->traits & TR_TERM)
            return leave(m, i, desc->op, guard.bits);
        if (desc->op == OP_UNDEF)
            put(m, *ir_def(fn, i, 0), unwritten(m, op_index(*ir_def(fn, i, 0))));
        else if (desc->op != OP_ST)
            define(m, i, desc->op, guard.bits, !guard.undef);
        else if (guard.bits)
            m->store[m->nstores++] = (Store){get(m, *ir_use(fn, i, 1)).bits, get(m, *ir_use(fn, i, 2))};
    }
    return 0;
}

static void interpret(Machine *m, const Fn *fn, uint32_t salt, uint32_t max_blocks)
{
    Arena arena;
    arena_init(&arena, fn->arena.heap);
    m->fn = fn;
    m->salt = salt;
    m->nstores = m->fresh = 0;
    m->end = RAN_OUT;
    m->reg = NEW_ARRAY(&arena, Value, fn->regs.n);
    m->written = NEW_ARRAY(&arena, bool, fn->regs.n);
    BlockId from = 0;
    for (BlockId b = fn->first; b && max_blocks && m->nstores + 50 < MAX_STORES; max_blocks--) {
        run_phis(m, b, from);
        from = b;
        b = run_block(m, b);
    }
    arena_free(&arena);
}

static bool same_store(const Store *before, const Store *after)
{
    return before->address == after->address && (before->value.undef || before->value.bits == after->value.bits);
}

// Checks that `after` has all certain effects of `before`; effects that depend on undefined values may differ.
static void check_same(const Fn *before, const Fn *after)
{
    static Machine a = {.stops = true}, b;
    for (uint32_t salt = 0; salt < SALTS; salt++) {
        interpret(&a, before, salt, MAX_BLOCKS);
        interpret(&b, after, salt, MAX_BLOCKS + 1);  // an empty block may come first
        uint32_t k = 0;
        while (k < a.nstores && k < b.nstores && same_store(&a.store[k], &b.store[k]))
            k++;
        CHECK_EQ(k, a.nstores);
        CHECK(a.end != EXITED || (b.end == EXITED && b.nstores == a.nstores));
    }
}

/* -- Running phases ------------------------------------------------------------------------------------- */

static uint32_t count_moves(const Fn *fn)
{
    uint32_t n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            n += ir_desc(fn, ir_instr(fn, id))->op == OP_MOV;
    return n;
}

static Fn **place(Program *p) { return &p->f.module->fns.at[0]; }

static void set_options(Program *p, uint32_t round)
{
    p->f.ctx.options = (PhaseOptions){.level = 3, .verify = VM_EACH};
    p->f.ctx.options.contracts = round % 2;
    p->f.ctx.options.self_clone = round % 4 >= 2;
    p->f.ctx.options.self_roundtrip = round % 16 >= 13;
}

static void run_phases(Program *p, const char *named, Form result)
{
    static char why[500];
    Ctx *ctx = &p->f.ctx;
    ctx->options.named = named;
    ctx->options.stay_in_ssa = result == FORM_SSA;
    ctx->plan.at.n = 0;
    CHECK(phase_plan(ctx, NULL, why));
    phase_run(ctx, place(p));
    CHECK_EQ((*place(p))->form, result);
}

// Starts a copy, which replaces the program in the module.
static void start_copy(Program *p)
{
    *place(p) = fn_clone(p->fn);
    p->f.module->syms.at[p->fn->sym].fn = *place(p);
}

static void drop_copy(Program *p)
{
    analysis_drop(*place(p), 0);
    fn_free(*place(p));
    *place(p) = p->fn;
    p->f.module->syms.at[p->fn->sym].fn = p->fn;
}

static void check_plans(Program *p)
{
    static const struct {
        const char *phases;
        Form result;
    } plans[] = {
        {"23", FORM_SSA},         {"23,73", FORM_MULTI},
        {"10", FORM_MULTI},       {"23,33", FORM_SSA},
        {"23,33,73", FORM_MULTI}, {"23,33,73,84", FORM_MULTI},
        {"15", FORM_MULTI},       {"10,15,16,23,33,61,73,84,107", FORM_MULTI},
        {"164", FORM_MULTI},      {"23,52,62,73,164,84", FORM_MULTI},
    };
    for (size_t k = 0; k < ARRAY_LEN(plans); k++) {
        start_copy(p);
        run_phases(p, plans[k].phases, plans[k].result);
        check_same(p->fn, *place(p));
        if (plans[k].result == FORM_MULTI)
            CHECK(count_moves(*place(p)) <= count_moves(p->fn));
        drop_copy(p);
    }
}

static void check_random(uint32_t rounds, uint64_t seed, bool large)
{
    for (uint32_t round = 0; round < rounds; round++) {
        Program p;
        unit_context("program %u", round);
        build_random(&p, &seed, large);
        CHECK_VERIFIES(p.fn);
        set_options(&p, round);
        check_plans(&p);
        fixture_close(&p.f);
    }
}

TEST(ssa_random) { check_random(400, 1988, false); }
TEST(ssa_random_large) { check_random(40, 2002, true); }

/* -- Ssa form that 23 does not make --------------------------------------------------------------------- */

static bool is_phi_input(const Fn *fn, const Instr *i, uint32_t k)
{
    return ir_desc(fn, i)->op == OP_PHI && k >= i->ndef && (k - i->ndef) % 2;
}

static bool is_tied(const Instr *i, uint32_t k)
{
    uint32_t first = i->ndef + ir_nuse(i);
    return k >= first && k < first + ir_ntied(i);
}

// Replaces all uses of a register, or about half of them; constants only replace inputs of phis and old values.
static void propagate(Fn *fn, RegId r, Operand by, bool all, uint64_t *seed)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            Instr *i = ir_instr(fn, id);
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                Operand *o = ir_ops(fn, i) + k;
                if (!op_is_reg(*o) || op_index(*o) != r || (!all && unit_random(seed, 2)))
                    continue;
                if (op_is_reg(by) || is_phi_input(fn, i, k) || is_tied(i, k))
                    *o = (Operand){by.word, o->mods};
            }
        }
    }
}

static bool is_copy(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || ir_guarded(i) || !reg_in_ssa(ir_reg(fn, op_index(*ir_def(fn, i, 0)))))
        return false;
    Operand from = *ir_use(fn, i, 0);
    return !op_is_reg(from) || reg_in_ssa(ir_reg(fn, op_index(from)));
}

static void propagate_copies(Fn *fn, bool registers, bool constants, bool all, uint64_t *seed)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (is_copy(fn, i) && (op_is_reg(*ir_use(fn, i, 0)) ? registers : constants) &&
                (all || unit_random(seed, 8)))
                propagate(fn, op_index(*ir_def(fn, i, 0)), *ir_use(fn, i, 0), all, seed);
        }
    }
    fn->version++;
    fn->properties = 0;
}

static void check_propagated(uint32_t rounds, uint64_t seed, bool large)
{
    uint32_t more = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        Program p;
        unit_context("program %u", round);
        build_random(&p, &seed, large);
        set_options(&p, round);
        for (int variant = 0; variant < 5; variant++) {
            static const char *const plans[] = {"73", "33,73", "33,73,84", "52,62,73,164", "62,73,164,84"};
            start_copy(&p);
            run_phases(&p, "23", FORM_SSA);
            bool all = unit_random(&seed, 2), constants = unit_random(&seed, 3), registers = unit_random(&seed, 4);
            propagate_copies(*place(&p), registers, constants, all, &seed);
            check_same(p.fn, *place(&p));
            uint32_t moves = count_moves(*place(&p));
            run_phases(&p, plans[variant], FORM_MULTI);
            check_same(p.fn, *place(&p));
            more += count_moves(*place(&p)) > moves;
            drop_copy(&p);
        }
        fixture_close(&p.f);
    }
    CHECK(more > rounds / 4);  // copies are needed
}

TEST(ssa_propagated) { check_propagated(800, 1994, false); }
TEST(ssa_propagated_large) { check_propagated(60, 2009, true); }

/* -- Phis of every kind --------------------------------------------------------------------------------- */

typedef struct Scramble {
    Fn *fn;
    const Analyses *a;
    uint64_t *seed;
    RegId nregs;  // registers when the analyses were computed
} Scramble;

static BlockId home_of(const Scramble *s, RegId r)
{
    return def_count(s->a, r) ? ir_instr(s->fn, s->a->defs.at[s->a->defs.first[r]].instr)->block : 0;
}

// True if a phi may take the operand from this block.
static bool may_take(const Scramble *s, Operand o, BlockId from)
{
    return !op_is_reg(o) || s->a->rpo_index[from] == UINT32_MAX || dominates(s->a, home_of(s, op_index(o)), from);
}

static Operand any_input(const Scramble *s, Width width)
{
    for (int k = 0; k < 20 && unit_random(s->seed, 6); k++) {
        RegId r = 1 + unit_random(s->seed, s->nregs - 1);
        if (ir_reg(s->fn, r)->width == width && reg_in_ssa(ir_reg(s->fn, r)) && home_of(s, r))
            return op_reg(s->fn, r);
    }
    if (unit_random(s->seed, 3) == 0)
        return op_const(s->fn, unit_random(s->seed, 2), width);
    return op_imm(CONST_UNDEF);
}

// Gives a phi few different inputs.
static void scramble_inputs(const Scramble *s, const Instr *phi)
{
    Operand pool[2], def = *ir_def(s->fn, phi, 0);
    Width width = (Width)ir_reg(s->fn, op_index(def))->width;
    if (op_index(def) >= s->nregs)
        return;
    for (uint32_t k = 0; k < 2; k++)
        pool[k] = unit_random(s->seed, 4) ? any_input(s, width) : op_reg(s->fn, op_index(def));
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2) {
        Operand o = pool[unit_random(s->seed, 8) == 0];
        if (unit_random(s->seed, 8) == 0)
            o = op_imm(CONST_UNDEF);
        if (may_take(s, o, op_index(*ir_use(s->fn, phi, k))))
            *ir_use(s->fn, phi, k + 1) = o;
    }
}

// Replaces some uses of a register by an equal register.
static void share_uses(const Scramble *s, RegId r, RegId other)
{
    FOR_BLOCKS(s->fn, b) {
        FOR_INSTRS(s->fn, b, id) {
            const Instr *i = ir_instr(s->fn, id);
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                Operand *o = ir_ops(s->fn, i) + k;
                if (op_is_reg(*o) && op_index(*o) == r && unit_random(s->seed, 2))
                    o->word = op_reg(s->fn, other).word;
            }
        }
    }
}

static void double_phi(const Scramble *s, InstrId id)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    Operand ops[2 * MAX_BLOCKS + 1];
    RegId r = op_index(*ir_def(fn, i, 0)), other = reg_like(fn, r);
    memcpy(ops, ir_ops(fn, i), i->nops * sizeof *ops);
    ops[0] = op_def(op_reg(fn, other));
    ir_insert_before(fn, id, i->desc, 0, ops, i->nops);
    share_uses(s, r, other);
}

// True if the start of block b dominates a use.
static bool is_behind(const Scramble *s, BlockId b, const Instr *i, uint32_t k)
{
    bool input = is_phi_input(s->fn, i, k);
    return (input || i->block != b || ir_desc(s->fn, i)->op != OP_PHI) &&
           dominates(s->a, b, input ? op_index(ir_ops(s->fn, i)[k - 1]) : i->block);
}

// Inserts a redundant phi of an available register at the start of a block, and replaces the register's uses after it.
static void insert_redundant_phi(const Scramble *s, BlockId b, RegId r)
{
    Fn *fn = s->fn;
    RegId phi = reg_like(fn, r);
    Operand ops[2 * MAX_BLOCKS + 1] = {op_def(op_reg(fn, phi))};
    uint32_t n = 1;
    FOR_PREDS(s->a, b, from) {
        bool again = false;
        for (uint32_t k = 1; k < n; k += 2)
            again |= op_index(ops[k]) == *from;
        if (again)
            continue;
        ops[n++] = op_block(*from);
        ops[n++] = unit_random(s->seed, 20) ? op_reg(fn, r) : op_imm(CONST_UNDEF);
    }
    ir_insert_before(fn, ir_block(fn, b)->first, desc_phi(fn->tables, n / 2), 0, ops, n);
    FOR_BLOCKS(fn, c) {
        FOR_INSTRS(fn, c, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                Operand *o = ir_ops(fn, i) + k;
                if (op_is_reg(*o) && op_index(*o) == r && is_behind(s, b, i, k))
                    o->word = op_reg(fn, phi).word;
            }
        }
    }
}

static void insert_redundant_phis(const Scramble *s, uint32_t tries)
{
    for (; tries; tries--) {
        BlockId b = 1 + unit_random(s->seed, s->fn->blocks.n - 1);
        RegId r = 1 + unit_random(s->seed, s->nregs - 1);
        BlockId home = reg_in_ssa(ir_reg(s->fn, r)) ? home_of(s, r) : 0;
        if (s->a->rpo_index[b] != UINT32_MAX && home && home != b && dominates(s->a, home, b) && use_count(s->a, r))
            insert_redundant_phi(s, b, r);
    }
}

static void scramble_phis(Fn *fn, uint64_t *seed)
{
    Scramble s = {.fn = fn, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEFUSE), .seed = seed, .nregs = fn->regs.n};
    uint32_t kinds = unit_random(seed, 8), added = 0;
    if (kinds >= 4)
        insert_redundant_phis(&s, 1 + unit_random(seed, kinds >= 6 ? 8 : 60));
    for (BlockId b = kinds >= 5 ? 0 : fn->first; b; b = ir_block(fn, b)->next) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op != OP_PHI)
                break;
            if (kinds != 1 && unit_random(seed, 2))
                scramble_inputs(&s, i);
            if (kinds != 2 && unit_random(seed, 3) == 0 && added++ < 30)
                double_phi(&s, id);
        }
    }
    analysis_drop(fn, AN_FLOW);
    fn->version++;
    fn->properties = 0;
}

// Removes all dead code, regardless of the function's properties; returns true if there was any.
static bool had_dead_code(Program *p)
{
    uint32_t *progress = &p->f.ctx.progress[61];
    bool found = false;
    do {
        (*place(p))->properties &= ~(uint32_t)PROP_NO_DEAD;
        *progress = 0;
        run_phases(p, "61", FORM_SSA);
        found |= *progress;
    } while (*progress);
    return found;
}

// Checks that a function without dead code has none after the phases, if they keep the property.
static void check_without_dead(Program *p, const char *phases, uint32_t *said)
{
    start_copy(p);
    had_dead_code(p);
    run_phases(p, phases, FORM_SSA);
    Fn *fn = *place(p);
    bool says = fn->properties & PROP_NO_DEAD;
    *said += says;
    CHECK(!had_dead_code(p) || !says);
    drop_copy(p);
}

// Copy classes of registers joined by phis and old values.
typedef struct Classes {
    const Fn *fn;
    const Analyses *a;
    Arena arena;
    RegId *parent;
    LiveSet live;
} Classes;

static RegId class_of(const Classes *c, RegId r)
{
    while (c->parent[r] != r)
        r = c->parent[r];
    return r;
}

static void join_operands(Classes *c, Operand a, Operand b)
{
    if (op_is_reg(a) && op_is_reg(b))
        c->parent[class_of(c, op_index(a))] = class_of(c, op_index(b));
}

static void join_all(Classes *c)
{
    FOR_BLOCKS(c->fn, b) {
        FOR_INSTRS(c->fn, b, id) {
            const Instr *i = ir_instr(c->fn, id);
            for (uint32_t k = 1; ir_desc(c->fn, i)->op == OP_PHI && k < ir_nuse(i); k += 2)
                join_operands(c, *ir_def(c->fn, i, 0), *ir_use(c->fn, i, k));
            for (uint32_t k = 0; k < ir_ntied(i); k++)
                join_operands(c, *ir_def(c->fn, i, k), *ir_tied(c->fn, i, k));
        }
    }
}

// True if another live register is of the operand's class.
static bool meets_live(const Classes *c, Operand o)
{
    for (uint32_t k = 0; op_is_reg(o) && k < c->live.n; k++)
        if (c->live.at[k] != op_index(o) && class_of(c, c->live.at[k]) == class_of(c, op_index(o)))
            return true;
    return false;
}

static bool defs_meet(const Classes *c, const Instr *a, const Instr *b)
{
    for (uint32_t k = 0; k < a->ndef; k++)
        for (uint32_t n = 0; n < b->ndef; n++) {
            Operand x = *ir_def(c->fn, a, k), y = *ir_def(c->fn, b, n);
            if ((a != b || k != n) && op_is_reg(x) && op_is_reg(y) &&
                class_of(c, op_index(x)) == class_of(c, op_index(y)))
                return true;
        }
    return false;
}

// True if a phi interferes with a register of its class; the phis of a block are parallel.
static bool phi_meets(Classes *c, BlockId b, const Instr *phi)
{
    FOR_INSTRS(c->fn, b, id) {
        const Instr *other = ir_instr(c->fn, id);
        if (ir_desc(c->fn, other)->op != OP_PHI)
            break;
        if (other != phi && defs_meet(c, phi, other))
            return true;
    }
    return false;
}

// True if a constant for a phi, written at the end of block b, interferes with a live or written register of its class.
static bool constants_meet(Classes *c, BlockId b)
{
    VEC(RegId) written = {0};
    FOR_SUCCS(c->a, b, to) {
        FOR_INSTRS(c->fn, *to, id) {
            const Instr *i = ir_instr(c->fn, id);
            for (uint32_t k = 0; ir_desc(c->fn, i)->op == OP_PHI && k < ir_nuse(i); k += 2) {
                Operand o = *ir_use(c->fn, i, k + 1);
                if (op_index(*ir_use(c->fn, i, k)) == b && op_is_const(o))
                    VEC_PUSH(&c->arena, &written, op_index(*ir_def(c->fn, i, 0)));
            }
        }
    }
    for (uint32_t k = 0; k < written.n; k++) {
        for (uint32_t n = 0; n < k; n++)
            if (class_of(c, written.at[n]) == class_of(c, written.at[k]))
                return true;
        if (live_set_has(&c->live, written.at[k]) || meets_live(c, op_reg(c->fn, written.at[k])))
            return true;
    }
    return false;
}

static bool block_meets(Classes *c, BlockId b)
{
    live_set_at_end(&c->live, c->a, b);
    if (constants_meet(c, b))
        return true;
    for (InstrId id = ir_block(c->fn, b)->last; id; id = ir_instr(c->fn, id)->prev) {
        const Instr *i = ir_instr(c->fn, id);
        if (defs_meet(c, i, i) || (ir_desc(c->fn, i)->op == OP_PHI && phi_meets(c, b, i)))
            return true;
        for (uint32_t k = 0; k < i->ndef; k++)
            if (meets_live(c, *ir_def(c->fn, i, k)))
                return true;
        live_set_step(&c->live, c->fn, id);
    }
    return false;
}

// True if no two registers of a class are live at the same time.
static bool is_conventional(Fn *fn)
{
    bool meet = false;
    Classes c = {.fn = fn, .a = analysis_need(fn, AN_LIVE | AN_RPO)};
    arena_init(&c.arena, fn->arena.heap);
    c.parent = NEW_ARRAY(&c.arena, RegId, fn->regs.n);
    for (RegId r = 0; r < fn->regs.n; r++)
        c.parent[r] = r;
    join_all(&c);
    live_set_init(&c.live, &c.arena, fn);
    FOR_BLOCKS(fn, b)
        meet = meet || (c.a->rpo_index[b] != UINT32_MAX && block_meets(&c, b));
    arena_free(&c.arena);
    analysis_drop(fn, AN_FLOW);
    return !meet;
}

static void check_conventional(Program *p, const char *phases, uint32_t *said)
{
    start_copy(p);
    Fn *fn = *place(p);
    if (is_conventional(fn)) {
        uint32_t before = fn->version;
        fn->properties |= PROP_CONVENTIONAL;
        run_phases(p, phases, FORM_SSA);
        fn = *place(p);
        bool says = fn->properties & PROP_CONVENTIONAL;
        *said += says && fn->version > before;
        CHECK(!says || is_conventional(fn));
    }
    drop_copy(p);
}

static void check_plan(Program *p, const char *phases, Form result, uint32_t *fired)
{
    start_copy(p);
    memset(p->f.ctx.progress, 0, sizeof p->f.ctx.progress);
    run_phases(p, phases, result);
    check_same(p->fn, *place(p));
    for (int row = 0; row < PHASE_ROWS; row++)
        fired[row] += p->f.ctx.progress[row];
    drop_copy(p);
}

// Starts a copy in ssa form, with scrambled phis.
static void start_scrambled(Program *p, uint64_t *seed)
{
    InstrId at;
    char why[200];
    start_copy(p);
    run_phases(p, "23", FORM_SSA);
    scramble_phis(*place(p), seed);
    CHECK(fn_verify(*place(p), VERIFY_FORM, &at, why));
    p->fn = *place(p);
}

static void check_phis(uint32_t rounds, uint64_t seed, bool large)
{
    static const struct {
        const char *phases;
        Form result;
    } plans[] = {
        {"52", FORM_SSA},
        {"62", FORM_SSA},
        {"52,62,52", FORM_SSA},
        {"62,73", FORM_MULTI},
        {"52,73", FORM_MULTI},
        {"61,52,62,33,73", FORM_MULTI},
        {"73,164", FORM_MULTI},
        {"33,62,73,84", FORM_MULTI},
        {"52,62,73,164,84", FORM_MULTI},
    };
    uint32_t fired[PHASE_ROWS] = {0}, without_dead = 0, conventional = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        Program p;
        build_random(&p, &seed, large);
        Fn *start = p.fn;
        unit_context("program %u", round);
        set_options(&p, round);
        start_scrambled(&p, &seed);
        for (size_t k = 0; k < ARRAY_LEN(plans); k++) {
            unit_context("program %u, phases %s", round, plans[k].phases);
            check_plan(&p, plans[k].phases, plans[k].result, fired);
            if (plans[k].result != FORM_SSA)
                continue;
            check_without_dead(&p, plans[k].phases, &without_dead);
            check_conventional(&p, plans[k].phases, &conventional);
        }
        p.fn = start;
        drop_copy(&p);
        fixture_close(&p.f);
    }
    unit_context("52 %u, 62 %u, 164 %u, no dead code %u, conventional %u", fired[52], fired[62], fired[164],
                 without_dead, conventional);
    CHECK(fired[52] > rounds && fired[62] > rounds && fired[164] > rounds / 4);
    CHECK(without_dead > rounds / 4 && (conventional > rounds / 20 || large));
}

TEST(ssa_phis) { check_phis(400, 5, false); }
TEST(ssa_phis_large) { check_phis(40, 2013, true); }

/* -- By hand -------------------------------------------------------------------------------------------- */

static void open_empty(Program *p, uint32_t blocks)
{
    *p = (Program){0};
    fixture_open(&p->f);
    p->fn = p->f.fn;
    p->value[0] = new_reg(p, W32, 0);
    p->value[1] = new_reg(p, W32, 0);
    p->value[2] = new_reg(p, W32, 0);
    p->pred[0] = new_reg(p, W1, 0);
    p->input[0] = new_reg(p, W32, REG_PINNED);
    p->address = new_reg(p, W64, REG_PINNED);
    for (uint32_t k = 0; k < blocks; k++)
        add_block(p->fn, k);
}

static void emit_move(Program *p, BlockId b, RegId to, Operand from)
{
    emit(p->fn, b, "mov.b32", "%,%", 0, OPS(def(p->fn, to), from));
}

static void emit_store(Program *p, BlockId b, RegId r)
{
    emit(p->fn, b, "st.global.b32", "[&],%", 0, OPS(use(p->fn, p->address), op_const(p->fn, 4, W64), use(p->fn, r)));
}

// Converts to ssa form, propagates copies and constants, removes dead code, and converts back; for the first inputs.
static void check_by_hand(Program *p)
{
    uint64_t seed = 0;
    CHECK_VERIFIES(p->fn);
    module_freeze(p->f.module);
    set_options(p, 1);
    start_copy(p);
    run_phases(p, "23", FORM_SSA);
    propagate_copies(*place(p), true, true, true, &seed);
    run_phases(p, "33,73", FORM_MULTI);
    check_same(p->fn, *place(p));
    drop_copy(p);
    fixture_close(&p->f);
}

// Block 1 ends in constants for the phis of 4 and of 5, which are in one class with the phi of 6, and never live at the
// same time.
TEST(ssa_two_constants)
{
    Program p;
    open_empty(&p, 7);
    Fn *fn = p.fn;
    RegId x = p.value[0], y = p.value[1], z = p.value[2];
    BlockId first = 7, cases[] = {1, 2, 3};
    block_unlink(fn, first);
    block_insert_after(fn, first, 0);
    emit_brx(fn, first, p.input[0], cases, 3);
    emit_move(&p, 1, x, op_const(fn, 1, W32));
    emit_move(&p, 1, y, op_const(fn, 2, W32));
    emit(fn, 1, "setp.lt.s32", "%,%,%", 0, OPS(def(fn, p.pred[0]), use(fn, p.input[0]), op_const(fn, 2, W32)));
    emit_branch(fn, 1, p.pred[0], 4, 5);
    emit_move(&p, 2, x, use(fn, p.input[0]));
    emit_bra(fn, 2, 4);
    emit_move(&p, 3, y, use(fn, p.input[0]));
    emit_bra(fn, 3, 5);
    emit_move(&p, 4, z, use(fn, x));
    emit_bra(fn, 4, 6);
    emit_move(&p, 5, z, use(fn, y));
    emit_bra(fn, 5, 6);
    emit_store(&p, 6, z);
    emit_ret(fn, 6);
    check_by_hand(&p);
}

// A loop of only two phis that swap: their inputs at the end of the block are their values at its start.
TEST(ssa_swap_in_empty_loop)
{
    Program p;
    open_empty(&p, 3);
    Fn *fn = p.fn;
    RegId x = p.value[0], y = p.value[1], z = p.value[2];
    BlockId cases[] = {2, 3};
    emit(fn, 1, "xor.b32", "%,%,%", 0, OPS(def(fn, x), use(fn, p.input[0]), use(fn, p.input[0])));
    emit(fn, 1, "add.s32", "%,%,%", 0, OPS(def(fn, y), use(fn, x), op_const(fn, 1, W32)));
    emit_bra(fn, 1, 2);
    emit_move(&p, 2, z, use(fn, x));
    emit_move(&p, 2, x, use(fn, y));
    emit_move(&p, 2, y, use(fn, z));
    emit_brx(fn, 2, y, cases, 2);
    emit_store(&p, 3, x);
    emit_store(&p, 3, y);
    emit_ret(fn, 3);
    check_by_hand(&p);
}

// An instruction that defines a register twice keeps its last value, or the old one under a false guard.
TEST(ssa_twice_the_same)
{
    Program p;
    open_empty(&p, 1);
    Fn *fn = p.fn;
    RegId x = p.value[0];
    emit_move(&p, 1, x, op_const(fn, 7, W32));
    emit(fn, 1, "setp.lt.s32", "%,%,%", 0, OPS(def(fn, p.pred[0]), use(fn, p.input[0]), op_const(fn, 1, W32)));
    emit(fn, 1, "mov.v2.b32", "{%,%},{%,%}", IF_GUARDED,
         OPS(def(fn, x), def(fn, x), use(fn, p.input[0]), op_const(fn, 9, W32), use(fn, p.pred[0])));
    emit_store(&p, 1, x);
    emit_ret(fn, 1);
    check_by_hand(&p);
}

// A constant old value is written between the instruction and the previous one, whose result it reads.
TEST(ssa_constant_behind_definition)
{
    Program p;
    open_empty(&p, 4);
    Fn *fn = p.fn;
    RegId x = p.value[0], y = p.value[1], z = p.value[2], w = new_reg(&p, W32, 0), q = p.pred[0];
    BlockId cases[] = {2, 3};
    emit(fn, 1, "setp.lt.s32", "%,%,%", 0, OPS(def(fn, q), use(fn, p.input[0]), op_const(fn, 2, W32)));
    emit(fn, 1, "add.s32", "%,%,%", 0, OPS(def(fn, w), use(fn, p.input[0]), op_const(fn, 4, W32)));
    emit_brx(fn, 1, p.input[0], cases, 2);
    emit_move(&p, 2, z, use(fn, w));
    emit_bra(fn, 2, 4);
    emit_move(&p, 3, x, use(fn, w));
    emit(fn, 3, "add.s32", "%,%,%", IF_GUARDED, OPS(def(fn, x), use(fn, p.input[0]), op_const(fn, 1, W32), use(fn, q)));
    emit_move(&p, 3, y, op_const(fn, 7, W32));
    emit(fn, 3, "add.s32", "%,%,%", IF_GUARDED, OPS(def(fn, y), use(fn, x), op_const(fn, 1, W32), use(fn, q)));
    emit_move(&p, 3, z, use(fn, y));
    emit_bra(fn, 3, 4);
    emit_store(&p, 4, z);
    emit_ret(fn, 4);
    check_by_hand(&p);
}

void test_ssa(void)
{
    RUN(ssa_random);
    RUN(ssa_random_large);
    RUN(ssa_propagated);
    RUN(ssa_propagated_large);
    RUN(ssa_phis);
    RUN(ssa_phis_large);
    RUN(ssa_two_constants);
    RUN(ssa_swap_in_empty_loop);
    RUN(ssa_twice_the_same);
    RUN(ssa_constant_behind_definition);
}
