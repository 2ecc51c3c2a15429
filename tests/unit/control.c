// SPDX-License-Identifier: MIT
// Tests phases that change control flow, on structured random programs (nests of branches, loops of all sorts,
// switches, early exits, dead arms) with some redirected edges and a shuffled layout. Each phase and random lists of
// phases must preserve the trace of effects and termination; dead code removal must find all dead code in one run.
#include <stdio.h>

#include "tests/unit/unit.h"

/* -- Random programs ------------------------------------------------------------------------------------ */

enum { ROUNDS = 1500, POOL = 5, LOCALS = 3, BLOCKS = 45, DEPTH = 4, SALTS = 3 };

// Instructions of blocks. Operands: d p = definition of a value, predicate; u q = use of one; c C = the carry, defined,
// used; a = base of an address, o = offset, unique for each access; x z = local variable; k t m = constants.
static const struct {
    const char *mnemonic, *shape, *ops;
} forms[] = {
    {"mov.b32", "%,%", "du"},
    {"mov.b32", "%,%", "dk"},
    {"mov.pred", "%,%", "pq"},
    {"mov.pred", "%,%", "pt"},
    {"mov.v2.b32", "{%,%},{%,%}", "dduu"},
    {"add.s32", "%,%,%", "duu"},
    {"add.s32", "%,%,%", "duk"},
    {"add.s32", "%,%,%", "duk"},
    {"xor.b32", "%,%,%", "duu"},
    {"setp.lt.s32", "%,%,%", "puu"},
    {"setp.eq.s32", "%,%,%", "puk"},
    {"setp.lt.s32", "%|%,%,%", "ppuk"},
    {"selp.b32", "%,%,%,%", "duuq"},
    {"ld.global.v2.b32", "{%,%},[&]", "ddao"},
    {"ld.global.b32", "%,[&]", "dao"},
    {"add.cc.s32", "%,%,%", "dcuu"},
    {"addc.cc.s32", "%,%,%", "dcuuC"},
    {"addc.s32", "%,%,%", "duuC"},
    {"st.local.b32", "[&],%", "xzu"},
    {"ld.local.b32", "%,[&]", "dxz"},
    {"st.global.b32", "[&],%", "aou"},
    {"st.global.b32", "[&],%", "aou"},
    {"atom.global.add.u32", "%,[&],%", "daou"},
    {"bar.warp.sync", "%", "m"},
};

typedef struct Program {
    Fixture f;
    Fn *fn;
    uint64_t *seed;
    RegId value[POOL], pred[POOL];
    RegId outside, outside_pred;  // defined, outside ssa
    RegId input[2], address;      // never defined: input of the program
    SymId local[LOCALS];
    uint32_t accesses;
    bool converges;            // has convergent instructions
    bool has_carry;            // the current block has a carry
    uint32_t stores;           // stores among a hundred instructions
    BlockId exits[DEPTH + 1];  // exits of the enclosing loops
    uint32_t nexits;
} Program;

static bool chance(Program *p, uint32_t one_in) { return unit_random(p->seed, one_in) == 0; }

static RegId any_value(Program *p)
{
    uint32_t k = unit_random(p->seed, 2 * POOL + 1);
    return k < 2 * POOL ? p->value[k % POOL] : p->outside;
}

static RegId any_pred(Program *p)
{
    uint32_t k = unit_random(p->seed, 2 * POOL + 1);
    return k < 2 * POOL ? p->pred[k % POOL] : p->outside_pred;
}

static Operand read_value(Program *p)
{
    uint32_t k = unit_random(p->seed, 12);
    return use(p->fn, k < 2 ? p->input[k] : any_value(p));
}

static Operand read_pred(Program *p, bool guard)
{
    Operand o = use(p->fn, any_pred(p));
    o.mods = guard && chance(p, 3) ? OPM_NOT : 0;
    return o;
}

static Operand operand(Program *p, char letter)
{
    switch (letter) {
    case 'd': return def(p->fn, any_value(p));
    case 'p': return def(p->fn, any_pred(p));
    case 'u': return read_value(p);
    case 'q': return read_pred(p, false);
    case 'c': return def(p->fn, p->fn->cc);
    case 'C': return use(p->fn, p->fn->cc);
    case 'a': return use(p->fn, p->address);
    case 'k': return op_const(p->fn, (uint32_t)(unit_random(p->seed, 7) - 3), W32);
    case 't': return op_const(p->fn, unit_random(p->seed, 2), W1);
    case 'm': return op_const(p->fn, UINT32_MAX, W32);
    case 'x': return op_sym(p->local[unit_random(p->seed, LOCALS)]);
    case 'z': return op_const(p->fn, 0, W64);
    default: return op_const(p->fn, 8 * ++p->accesses, W64);
    }
}

static bool fits(Program *p, uint32_t form)
{
    const char *ops = forms[form].ops;
    if (strchr(ops, 'o') && !strchr(ops, 'd'))
        return unit_random(p->seed, 100) < p->stores;
    if (p->has_carry && chance(p, 2))
        return strchr(ops, 'c') || strchr(ops, 'C');
    return (p->converges || !strchr(ops, 'm')) && (p->has_carry || !strchr(ops, 'C'));
}

static void emit_form(Program *p, BlockId b)
{
    uint32_t form, n = 0;
    uint8_t flags = chance(p, 4) ? IF_GUARDED : 0;
    Operand ops[8];
    do
        form = unit_random(p->seed, ARRAY_LEN(forms));
    while (!fits(p, form));
    for (const char *letter = forms[form].ops; *letter; letter++)
        ops[n++] = operand(p, *letter);
    while (op_is_def(ops[1]) && op_same(ops[0], ops[1]) && !chance(p, 4))
        ops[1] = operand(p, forms[form].ops[1]);
    p->has_carry |= strchr(forms[form].ops, 'c') != NULL;
    if (flags)
        ops[n++] = read_pred(p, true);
    emit(p->fn, b, forms[form].mnemonic, forms[form].shape, flags, ops, n);
}

static void emit_some(Program *p, BlockId b, uint32_t max)
{
    p->has_carry = false;
    for (uint32_t k = unit_random(p->seed, max + 1); k; k--)
        emit_form(p, b);
}

/* -- Random control flow -------------------------------------------------------------------------------- */

static BlockId new_block(Program *p)
{
    BlockId b = add_block(p->fn, p->fn->nblocks);
    if (chance(p, 30))
        emit(p->fn, b, ".pragma \"nounroll\"", "", IF_PINNED, NULL, 0);
    return b;
}

static void branch(Program *p, BlockId b, BlockId to, BlockId otherwise)
{
    const char *mnemonic = chance(p, 6) ? "bra.uni" : "bra";
    emit(p->fn, b, mnemonic, "%~", IF_GUARDED, OPS(op_block(to), op_block(otherwise), read_pred(p, true)));
}

static BlockId fill(Program *p, BlockId b, uint32_t depth);

static BlockId fill_if(Program *p, BlockId b, uint32_t depth)
{
    BlockId then = new_block(p), other = chance(p, 2) ? new_block(p) : 0, join = new_block(p);
    branch(p, b, then, other ? other : join);
    emit_bra(p->fn, chance(p, 3) ? then : fill(p, then, depth), join);
    if (other)
        emit_bra(p->fn, chance(p, 3) ? other : fill(p, other, depth), join);
    return join;
}

// Makes a loop with an exit at the start, at the end, at both or without one; a counter may bound it.
static BlockId fill_loop(Program *p, BlockId b, uint32_t depth)
{
    BlockId head = new_block(p), body = head, behind = new_block(p);
    bool counted = chance(p, 2);
    RegId count = reg_new(p->fn, RF_R, W32), more = reg_new(p->fn, RF_P, W1);
    if (counted)
        emit(p->fn, b, "mov.b32", "%,%", 0, OPS(def(p->fn, count), op_const(p->fn, 1 + unit_random(p->seed, 4), W32)));
    emit_bra(p->fn, b, head);
    p->exits[p->nexits++] = behind;
    if (chance(p, 3)) {
        body = new_block(p);
        emit_some(p, head, 3);
        branch(p, head, body, behind);
    }
    BlockId end = fill(p, body, depth);
    if (counted) {
        emit(p->fn, end, "add.s32", "%,%,%", 0,
             OPS(def(p->fn, count), use(p->fn, count), op_const(p->fn, UINT32_MAX, W32)));
        emit(p->fn, end, "setp.lt.s32", "%,%,%", 0, OPS(def(p->fn, more), op_const(p->fn, 0, W32), use(p->fn, count)));
        emit_branch(p->fn, end, more, head, behind);
    } else if (chance(p, 2)) {
        branch(p, end, head, behind);
    } else {
        emit_bra(p->fn, end, head);
    }
    p->nexits--;
    return behind;
}

static BlockId fill_switch(Program *p, BlockId b, uint32_t depth)
{
    BlockId targets[5], join = new_block(p);
    uint32_t n = 2 + unit_random(p->seed, 4);
    for (uint32_t k = 0; k < n; k++)
        targets[k] = k && chance(p, 3) ? targets[unit_random(p->seed, k)] : chance(p, 5) ? join : new_block(p);
    emit_brx(p->fn, b, any_value(p), targets, n);
    for (uint32_t k = 0; k < n; k++) {
        bool again = targets[k] == join;
        for (uint32_t j = 0; j < k; j++)
            again |= targets[j] == targets[k];
        if (!again)
            emit_bra(p->fn, chance(p, 3) ? targets[k] : fill(p, targets[k], depth), join);
    }
    return join;
}

static BlockId fill_exit(Program *p, BlockId b)
{
    BlockId next = new_block(p);
    if (p->nexits && chance(p, 2))
        branch(p, b, p->exits[unit_random(p->seed, p->nexits)], next);
    else
        emit(p->fn, b, chance(p, 2) ? "ret" : "exit", "~", IF_GUARDED, OPS(op_block(next), read_pred(p, true)));
    return next;
}

// Adds code from the open block b on; returns the last block, which is open.
static BlockId fill(Program *p, BlockId b, uint32_t depth)
{
    for (uint32_t parts = 1 + unit_random(p->seed, 3); parts; parts--) {
        emit_some(p, b, 4);
        if (p->fn->nblocks > BLOCKS - 12 || depth == DEPTH)
            continue;
        switch (unit_random(p->seed, 6)) {
        case 0:
        case 1: b = fill_if(p, b, depth + 1); break;
        case 2: b = fill_loop(p, b, depth + 1); break;
        case 3: b = fill_switch(p, b, depth + 1); break;
        case 4: b = fill_exit(p, b); break;
        default: break;
        }
    }
    return b;
}

static void bend(void *user, Operand *target)
{
    Program *p = user;
    if (chance(p, 20))
        *target = op_block(chance(p, 4) ? p->fn->first : 1 + unit_random(p->seed, p->fn->blocks.n - 1));
}

// Redirects some edges, shares some tables, and guards some branches.
static void bend_edges(Program *p)
{
    FOR_BLOCKS(p->fn, b)
        ir_successors(p->fn, ir_terminator(p->fn, b), bend, p);
    FOR_BLOCKS(p->fn, b) {
        const Instr *i = ir_instr(p->fn, ir_terminator(p->fn, b));
        if (ir_desc(p->fn, i)->op != OP_BRX || !chance(p, 2))
            continue;
        Operand list = *ir_use(p->fn, i, 1), index = *ir_use(p->fn, i, 0);
        if (chance(p, 2))
            list = op_make(K_LIST, 0, 1 + unit_random(p->seed, p->fn->lists.n - 1));
        BlockId otherwise = 1 + unit_random(p->seed, p->fn->blocks.n - 1);
        ir_remove(p->fn, ir_terminator(p->fn, b));
        if (chance(p, 2))
            emit(p->fn, b, "brx.idx", "%,%", 0, OPS(index, list));
        else
            emit(p->fn, b, "brx.idx", "%,%~", IF_GUARDED, OPS(index, list, op_block(otherwise), read_pred(p, true)));
    }
}

static void shuffle_layout(Program *p)
{
    BlockId n = p->fn->blocks.n - 1;
    for (BlockId b = 1; b <= n; b++) {
        BlockId where = 1 + unit_random(p->seed, n);
        if (b == p->fn->first || b == where)
            continue;
        block_unlink(p->fn, b);
        block_insert_after(p->fn, b, where);
    }
}

// Initializes registers; the others have an undefined value.
static void initialize(Program *p, BlockId b)
{
    bool all = !chance(p, 3);
    for (int k = 0; k < POOL; k++) {
        if (!all && chance(p, 3))
            continue;
        emit(p->fn, b, "add.s32", "%,%,%", 0,
             OPS(def(p->fn, p->value[k]), use(p->fn, p->input[k % 2]), op_const(p->fn, k / 2, W32)));
        emit(p->fn, b, "setp.lt.s32", "%,%,%", 0,
             OPS(def(p->fn, p->pred[k]), use(p->fn, p->input[k % 2]), op_const(p->fn, unit_random(p->seed, 5), W32)));
    }
}

static RegId new_reg(Program *p, Width width, uint8_t flags)
{
    RegId r = reg_new(p->fn, width == W1 ? RF_P : RF_R, width);
    ir_reg(p->fn, r)->flags = flags;
    return r;
}

static void make_names(Program *p)
{
    for (int k = 0; k < POOL; k++) {
        p->value[k] = new_reg(p, W32, 0);
        p->pred[k] = new_reg(p, W1, 0);
    }
    p->outside = new_reg(p, W32, REG_PINNED);
    p->outside_pred = new_reg(p, W1, REG_PINNED);
    p->input[0] = new_reg(p, W32, REG_PINNED);
    p->input[1] = new_reg(p, W32, REG_PINNED);
    p->address = new_reg(p, W64, REG_PINNED);
    p->fn->cc = reg_new(p->fn, RF_CC, W1);
    for (uint32_t k = 0; k < LOCALS; k++) {
        Name name = {str_intern_z(&p->fn->tables->strs, "x"), k};
        p->local[k] = fn_sym(p->fn, name, SYM_VAR);
        Sym *s = ir_sym(p->fn, p->local[k]);
        s->space = SP_LOCAL;
        s->type = TY_B32;
        s->vec = 0;
        s->align = s->size = 4;
        s->count = 1;
    }
}

static void build_random(Program *p, uint64_t *seed)
{
    *p = (Program){.seed = seed};
    fixture_open(&p->f);
    p->fn = p->f.fn;
    make_names(p);
    p->converges = chance(p, 2);
    p->stores = chance(p, 3) ? 5 : 50;
    BlockId entry = add_block(p->fn, 0), first = chance(p, 2) ? entry : add_block(p->fn, 1);
    initialize(p, entry);
    if (first != entry)
        emit_bra(p->fn, entry, first);
    emit_ret(p->fn, fill(p, first, 0));
    if (chance(p, 2))
        bend_edges(p);
    if (chance(p, 2))
        shuffle_layout(p);
    module_freeze(p->f.module);
}

/* -- The interpreter ------------------------------------------------------------------------------------ */

enum { MAX_STEPS = 250, MAX_EVENTS = 3000 };

// `undef`: depends on an undefined register.
typedef struct Value {
    uint32_t bits;
    bool undef;
} Value;

typedef struct Event {
    uint32_t what;
    Value value;
} Event;

typedef enum { RAN_OUT, EXITED, LOST } End;  // LOST: control or an address depends on an undefined value

typedef struct Machine {
    const Fn *fn;
    uint32_t salt;
    bool stops;  // stops before control depends on an undefined value
    Value *reg, local[LOCALS];
    bool *written;
    Event event[MAX_EVENTS + 50];
    uint32_t n;
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
    uint32_t bits = reg_in_ssa(reg) ? noise(m->salt + 1000, r) % 5 : noise(m->salt, reg->ordinal) % 7 - 2;
    return (Value){reg->width == W1 ? bits & 1 : bits, reg_in_ssa(reg)};
}

static Value get(const Machine *m, Operand o)
{
    if (op_kind(o) == K_IMM)
        return (Value){(uint32_t)tab_const(m->fn->tables, op_index(o)).bits, op_index(o) == CONST_UNDEF};
    Value v = m->written[op_index(o)] ? m->reg[op_index(o)] : unwritten(m, op_index(o));
    return (Value){o.mods & OPM_NOT ? !v.bits : v.bits, v.undef};
}

static void put(Machine *m, Operand o, Value v)
{
    m->reg[op_index(o)] = v;
    m->written[op_index(o)] = true;
}

static void record_event(Machine *m, uint32_t what, Value value) { m->event[m->n++] = (Event){what, value}; }

static uint32_t local_of(const Machine *m, Operand o) { return ir_sym(m->fn, op_index(o))->name.number; }

static bool less(const Machine *m, const Instr *i)
{
    return tab_mnem(m->fn->tables, ir_desc(m->fn, i)->mnem)->mod[MC_CMP] == mod_find("lt", 2, UINT32_MAX);
}

static Value add(Value a, Value b, Value carry, Value *out)
{
    uint64_t sum = (uint64_t)a.bits + b.bits + carry.bits;
    bool undef = a.undef || b.undef || carry.undef;
    *out = (Value){sum >> 32, undef};
    return (Value){(uint32_t)sum, undef};
}

// Computes the values of the definitions for a true guard, and records effects.
static void evaluate(Machine *m, const Instr *i, Opcode op, Value r[2])
{
    Value u[4] = {{0}}, zero = {0};
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        u[k] = op_kind(*ir_use(m->fn, i, k)) == K_SYM ? zero : get(m, *ir_use(m->fn, i, k));
    switch (op) {
    case OP_MOV: r[0] = u[0]; return;
    case OP_MOV_VEC: r[0] = u[0], r[1] = u[1]; return;
    case OP_ADD:
    case OP_ADD_CC: r[0] = add(u[0], u[1], zero, &r[1]); return;
    case OP_ADDC:
    case OP_ADDC_CC: r[0] = add(u[0], u[1], u[2], &r[1]); return;
    case OP_XOR: r[0] = (Value){u[0].bits ^ u[1].bits, u[0].undef || u[1].undef}; return;
    case OP_SETP:
        r[0].bits = less(m, i) ? (int32_t)u[0].bits < (int32_t)u[1].bits : u[0].bits == u[1].bits;
        r[1].bits = !r[0].bits;
        r[0].undef = r[1].undef = u[0].undef || u[1].undef;
        return;
    case OP_SELP: r[0] = (Value){u[2].bits ? u[0].bits : u[1].bits, u[0].undef || u[1].undef || u[2].undef}; return;
    case OP_ATOM:
    case OP_LD:
        if (op_kind(*ir_use(m->fn, i, 0)) == K_SYM)
            r[0] = m->local[local_of(m, *ir_use(m->fn, i, 0))];
        else
            r[0].bits = noise(m->salt + 7, u[1].bits) % 4, r[1].bits = noise(m->salt + 8, u[1].bits) % 4;
        return;
    default: CHECK(!"an instruction that the interpreter knows");
    }
}

static void define(Machine *m, const Instr *i, Opcode op, Value guard)
{
    Value r[2] = {{0}}, old[2] = {{0}};
    evaluate(m, i, op, r);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(m->fn, i, k), tied = ir_ntied(i) ? *ir_tied(m->fn, i, k) : op_none();
        if (op_is_reg(def))
            old[k] = get(m, op_kind(tied) == K_NONE ? (Operand){def.word, 0} : tied);
    }
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(m->fn, i, k);
        Value v = guard.bits ? r[k] : old[k];
        v.undef |= guard.undef;
        if (op_is_reg(def))
            put(m, def, v);
    }
}

static void run_phis(Machine *m, BlockId b, BlockId from)
{
    Value in[100];
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;
        FOR_INSTRS(m->fn, b, id) {
            const Instr *i = ir_instr(m->fn, id);
            if (ir_desc(m->fn, i)->op != OP_PHI)
                break;
            CHECK(n < ARRAY_LEN(in));
            bool found = false;
            for (uint32_t k = 0; k < ir_nuse(i) && !pass; k += 2)
                if (op_index(*ir_use(m->fn, i, k)) == from)
                    in[n] = get(m, *ir_use(m->fn, i, k + 1)), found = true;
            CHECK(found || pass);
            if (pass)
                put(m, *ir_def(m->fn, i, 0), in[n]);
            n++;
        }
    }
}

// Returns the next block; 0 = none.
static BlockId next_block(Machine *m, const Instr *i, Opcode op, bool runs)
{
    const Fn *fn = m->fn;
    if (!runs)
        return op_index(*ir_use(fn, i, ir_nuse(i) - 1));
    if (op == OP_BRA)
        return op_index(*ir_use(fn, i, 0));
    if (op == OP_BRX) {
        const List *list = ir_list(fn, op_index(*ir_use(fn, i, 1)));
        Value index = get(m, *ir_use(fn, i, 0));
        if (!index.undef || !m->stops)
            return op_index(ir_run(fn, list->ops)[index.bits % list->n]);
        m->end = LOST;
        return 0;
    }
    m->end = EXITED;
    return 0;
}

// Runs the instructions of a block; returns the next one.
static BlockId run_block(Machine *m, BlockId b)
{
    const Fn *fn = m->fn;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        const Desc *desc = ir_desc(fn, i);
        Value guard = ir_guarded(i) ? get(m, *ir_guard(fn, i)) : (Value){1, false};
        bool acts = desc->traits & (TR_TERM | TR_WRITE | TR_CONV) && desc->op != OP_PHI;
        if (desc->op == OP_PHI || desc->op == OP_PRAGMA)
            continue;
        if (m->stops && guard.undef && acts) {
            m->end = LOST;
            return 0;
        }
        if (desc->traits & TR_TERM)
            return next_block(m, i, desc->op, guard.bits);
        bool is_local = desc->op == OP_ST && op_kind(*ir_use(fn, i, 0)) == K_SYM;
        if (is_local && guard.bits)
            m->local[local_of(m, *ir_use(fn, i, 0))] = get(m, *ir_use(fn, i, 2));
        else if (acts && guard.bits && !is_local)
            record_event(m, desc->op == OP_BAR_WARP ? 1 : get(m, *ir_use(fn, i, 1)).bits,
                         desc->op == OP_BAR_WARP ? (Value){0} : get(m, *ir_use(fn, i, 2)));
        if (desc->op == OP_UNDEF)
            put(m, *ir_def(fn, i, 0), unwritten(m, op_index(*ir_def(fn, i, 0))));
        else if (i->ndef)
            define(m, i, desc->op, guard);
    }
    return 0;
}

static void interpret(Machine *m, const Fn *fn, uint32_t salt, uint32_t steps)
{
    Arena arena;
    arena_init(&arena, fn->arena.heap);
    m->fn = fn;
    m->salt = salt;
    m->n = 0;
    m->end = RAN_OUT;
    m->reg = NEW_ARRAY(&arena, Value, fn->regs.n);
    m->written = NEW_ARRAY(&arena, bool, fn->regs.n);
    for (uint32_t k = 0; k < LOCALS; k++)
        m->local[k] = (Value){k, true};
    BlockId from = 0;
    for (BlockId b = fn->first; b && steps && m->n < MAX_EVENTS; steps--) {
        run_phis(m, b, from);
        from = b;
        b = run_block(m, b);
    }
    arena_free(&arena);
}

static bool same_event(const Event *before, const Event *after)
{
    return before->what == after->what && (before->value.undef || before->value.bits == after->value.bits);
}

// Checks that `after` has all certain effects of `before`, and ends if and only if `before` does. A step of `after`
// corresponds to at least one step of `before`, and at most to one pass over all blocks.
static void check_same(const Fn *before, const Fn *after)
{
    static Machine a = {.stops = true}, b;
    for (uint32_t salt = 0; salt < SALTS; salt++) {
        uint32_t k = 0;
        interpret(&a, before, salt, MAX_STEPS);
        interpret(&b, after, salt,
                  MAX_STEPS + 1);  // an empty block may come first
        while (k < a.n && k < b.n && same_event(&a.event[k], &b.event[k]))
            k++;
        CHECK_EQ(k, a.n);
        CHECK(a.end != EXITED || (b.end == EXITED && b.n == a.n));
        if (a.end == RAN_OUT && b.end == EXITED) {
            interpret(&a, before, salt, MAX_STEPS * before->nblocks);
            CHECK(a.end != RAN_OUT || a.n >= MAX_EVENTS);
        }
    }
}

/* -- Running phases ------------------------------------------------------------------------------------- */

static Fn **current_fn(Program *p) { return &p->f.module->fns.at[0]; }

static void run_phases(Program *p, const char *named, bool ssa)
{
    static char why[500];
    Ctx *ctx = &p->f.ctx;
    ctx->options.named = named;
    ctx->options.stay_in_ssa = ssa;
    ctx->plan.at.n = 0;
    CHECK(phase_plan(ctx, NULL, why));
    phase_run(ctx, current_fn(p));
}

// Starts a copy, which replaces the program in the module.
static void start_copy(Program *p)
{
    *current_fn(p) = fn_clone(p->fn);
    p->f.module->syms.at[p->fn->sym].fn = *current_fn(p);
}

static void drop_copy(Program *p)
{
    analysis_drop(*current_fn(p), 0);
    fn_free(*current_fn(p));
    *current_fn(p) = p->fn;
    p->f.module->syms.at[p->fn->sym].fn = p->fn;
}

static void set_options(Program *p, uint32_t round)
{
    p->f.ctx.options = (PhaseOptions){.level = 3, .verify = VM_EACH};
    p->f.ctx.options.contracts = round % 2;
    p->f.ctx.options.self_clone = round % 4 >= 2;
    p->f.ctx.options.self_roundtrip = round % 16 >= 13;
}

// Makes code that phase 23 never makes: constants as inputs of phis and as old values, without moves.
static void propagate_constants(Fn *fn, const Analyses *a)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool phi = ir_desc(fn, i)->op == OP_PHI;
            uint32_t first = i->ndef + (phi ? 1 : ir_nuse(i)), end = phi ? i->nops : first + ir_ntied(i);
            for (uint32_t k = first; k < end; k += 1 + phi) {
                Operand *o = ir_ops(fn, i) + k;
                if (!op_is_reg(*o) || !def_count(a, op_index(*o)))
                    continue;
                const Instr *from = ir_instr(fn, a->defs.at[a->defs.first[op_index(*o)]].instr);
                if (ir_desc(fn, from)->op == OP_MOV && !ir_guarded(from) && op_kind(*ir_use(fn, from, 0)) == K_IMM)
                    *o = *ir_use(fn, from, 0);
            }
        }
    }
    fn->version++;
    analysis_drop(fn, AN_FLOW);
}

// Runs phases on a copy; with `constants`, after propagate_constants().
static void check_list(Program *p, const char *phases, bool ssa, bool constants)
{
    start_copy(p);
    if (constants) {
        run_phases(p, "23", true);
        propagate_constants(*current_fn(p), analysis_need(*current_fn(p), AN_DEFUSE));
    }
    run_phases(p, phases, ssa);
    check_same(p->fn, *current_fn(p));
    drop_copy(p);
}

static void check_random_list(Program *p)
{
    static const char *const phases[] = {"10", "15", "16", "23", "33", "61", "73", "84", "107"};
    char list[100] = "", context[150];
    uint32_t n = 2 + unit_random(p->seed, 7);
    for (uint32_t k = 0; k < n; k++)
        snprintf(list + strlen(list), 8, k ? ",%s" : "%s", phases[unit_random(p->seed, ARRAY_LEN(phases))]);
    snprintf(context, sizeof context, "%s", list);
    check_list(p, context, chance(p, 2), chance(p, 2));
}

// Checks that dead code removal finds all dead code in one run, if no code is unreachable: unreachable code may have
// uses until its removal.
static void check_idempotent(Program *p, const char *phases, const char *again, bool ssa)
{
    start_copy(p);
    run_phases(p, phases, ssa);
    (*current_fn(p))->properties = 0;  // no property is established
    uint64_t before = ir_hash(*current_fn(p));
    run_phases(p, again, ssa);
    CHECK(ir_hash(*current_fn(p)) == before);
    drop_copy(p);
}

TEST(control_random)
{
    static const char *const alone[] = {"10", "15", "16", "107", "23,73", "23,33,73"};
    uint64_t seed = 2024;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Program p;
        unit_context("program %u", round);
        build_random(&p, &seed);
        CHECK_VERIFIES(p.fn);
        set_options(&p, round);
        for (size_t k = 0; k < ARRAY_LEN(alone); k++)
            check_list(&p, alone[k], false, false);
        check_list(&p, "23,33", true, false);
        check_list(&p, "33", true, true);
        check_random_list(&p);
        check_random_list(&p);
        check_idempotent(&p, "15,10", "10", false);
        check_idempotent(&p, "15,16", "16", false);
        check_idempotent(&p, "15,23,33", "16", true);
        fixture_close(&p.f);
    }
}

void test_control(void) { RUN(control_random); }
