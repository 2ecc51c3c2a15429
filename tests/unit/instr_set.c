// SPDX-License-Identifier: MIT
// Tests instruction sets: equality, representatives, replaced members, large sets.
#include "ir/analysis/instr_set.h"
#include "tests/unit/unit.h"

typedef struct Sets {
    Fixture f;
    Fn *fn;
    BlockId b;
    Arena arena;
    InstrSet set;
    RegId r[4], p, q;            // 32 bits; predicates
    Operand representative[64];  // by RegId; none = itself
} Sets;

static Operand representative_of(const void *user, Operand o)
{
    const Sets *s = user;
    bool replaced = op_is_reg(o) && op_index(o) < 64 && op_kind(s->representative[op_index(o)]) != K_NONE;
    return replaced ? s->representative[op_index(o)] : o;
}

static void sets_open(Sets *s)
{
    *s = (Sets){0};
    fixture_open(&s->f);
    s->fn = s->f.fn;
    s->b = add_block(s->fn, 0);
    for (int k = 0; k < 4; k++)
        s->r[k] = reg_new(s->fn, RF_R, W32);
    s->p = reg_new(s->fn, RF_P, W1);
    s->q = reg_new(s->fn, RF_P, W1);
    arena_init(&s->arena, s->fn->arena.heap);
    instr_set_init(&s->set, &s->arena, s->fn, representative_of, s);
}

static void sets_close(Sets *s)
{
    arena_free(&s->arena);
    fixture_close(&s->f);
}

// Adds an instruction that defines a new register.
static InstrId make2(Sets *s, const char *mnemonic, Operand x, Operand y)
{
    return emit(s->fn, s->b, mnemonic, "%,%,%", 0, OPS(def(s->fn, reg_new(s->fn, RF_R, W32)), x, y));
}

// Adds an instruction to the set, or returns the equal member.
static InstrId enter(Sets *s, InstrId id)
{
    InstrId *member = instr_set_at(&s->set, id);
    if (!*member)
        *member = id;
    return *member;
}

TEST(instr_set_operands)
{
    Sets s;
    sets_open(&s);
    Operand a = use(s.fn, s.r[0]), b = use(s.fn, s.r[1]), one = op_const(s.fn, 1, W32), two = op_const(s.fn, 2, W32);
    InstrId sum = make2(&s, "add.s32", a, b);
    CHECK_EQ(enter(&s, sum), sum);
    CHECK_EQ(enter(&s, sum), sum);
    CHECK_EQ(enter(&s, make2(&s, "add.s32", a, b)), sum);
    CHECK_EQ(enter(&s, make2(&s, "add.s32", b, a)), sum);
    InstrId other[] = {
        make2(&s, "add.u32", a, b), make2(&s, "add.s32", a, a),   make2(&s, "add.s32", a, one),
        make2(&s, "sub.s32", a, b), make2(&s, "add.s32", a, two),
    };
    for (size_t k = 0; k < ARRAY_LEN(other); k++)
        CHECK_EQ(enter(&s, other[k]), other[k]);
    InstrId back = make2(&s, "sub.s32", b, a);
    CHECK_EQ(enter(&s, back), back);
    CHECK_EQ(enter(&s, make2(&s, "sub.s32", b, a)), back);
    CHECK_EQ(enter(&s, make2(&s, "add.s32", one, a)), other[2]);
    sets_close(&s);
}

TEST(instr_set_behind_two_uses)
{
    Sets s;
    sets_open(&s);
    InstrId id[4];
    static const uint8_t order[4][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    for (int k = 0; k < 4; k++)
        id[k] = emit(s.fn, s.b, "mad.lo.s32", "%,%,%,%", 0,
                     OPS(def(s.fn, reg_new(s.fn, RF_R, W32)), use(s.fn, s.r[order[k][0]]), use(s.fn, s.r[order[k][1]]),
                         use(s.fn, s.r[order[k][2]])));
    CHECK_EQ(enter(&s, id[0]), id[0]);
    CHECK_EQ(enter(&s, id[1]), id[0]);
    CHECK_EQ(enter(&s, id[2]), id[2]);
    CHECK_EQ(enter(&s, id[3]), id[3]);
    sets_close(&s);
}

static Operand negated(const Fn *fn, RegId p)
{
    Operand o = use(fn, p);
    o.mods = OPM_NOT;
    return o;
}

TEST(instr_set_guards)
{
    Sets s;
    sets_open(&s);
    Operand to = def(s.fn, s.r[2]), from = use(s.fn, s.r[0]), p = use(s.fn, s.p), not_p = negated(s.fn, s.p);
    InstrId plain = emit(s.fn, s.b, "not.b32", "%,%", 0, OPS(to, from));
    InstrId under_p = emit(s.fn, s.b, "not.b32", "%,%", IF_GUARDED, OPS(to, from, p));
    InstrId under_not_p = emit(s.fn, s.b, "not.b32", "%,%", IF_GUARDED, OPS(to, from, not_p));
    InstrId tied = emit(s.fn, s.b, "not.b32", "%,%", IF_GUARDED | IF_TIED, OPS(to, from, use(s.fn, s.r[1]), p));
    InstrId again = emit(s.fn, s.b, "not.b32", "%,%", IF_GUARDED, OPS(to, from, p));
    CHECK_EQ(enter(&s, plain), plain);
    CHECK_EQ(enter(&s, under_p), under_p);
    CHECK_EQ(enter(&s, under_not_p), under_not_p);
    CHECK_EQ(enter(&s, tied), tied);
    CHECK_EQ(enter(&s, again), under_p);
    sets_close(&s);
}

TEST(instr_set_representatives)
{
    Sets s;
    sets_open(&s);
    Operand a = use(s.fn, s.r[0]), b = use(s.fn, s.r[1]), c = use(s.fn, s.r[2]), one = op_const(s.fn, 1, W32);
    InstrId sum = make2(&s, "add.s32", a, b), ones = make2(&s, "add.s32", a, one);
    CHECK_EQ(enter(&s, sum), sum);
    CHECK_EQ(enter(&s, ones), ones);
    s.representative[s.r[2]] = a;
    CHECK_EQ(enter(&s, make2(&s, "add.s32", b, c)), sum);
    s.representative[s.r[3]] = one;
    CHECK_EQ(enter(&s, make2(&s, "add.s32", use(s.fn, s.r[3]), c)), ones);
    s.representative[s.r[0]] = b;  // keys stay unchanged
    CHECK_EQ(enter(&s, make2(&s, "add.s32", b, c)), sum);
    sets_close(&s);
}

TEST(instr_set_members)
{
    Sets s;
    sets_open(&s);
    InstrId id[3];
    for (int k = 0; k < 3; k++)
        id[k] = make2(&s, "add.s32", use(s.fn, s.r[0]), use(s.fn, s.r[1]));
    CHECK_EQ(*instr_set_at(&s.set, id[0]), 0);
    CHECK_EQ(*instr_set_at(&s.set, id[1]), 0);
    *instr_set_at(&s.set, id[1]) = id[1];
    CHECK_EQ(*instr_set_at(&s.set, id[0]), id[1]);
    *instr_set_at(&s.set, id[2]) = id[2];
    CHECK_EQ(*instr_set_at(&s.set, id[1]), id[2]);
    sets_close(&s);
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

static InstrId make_phi(Sets *s, BlockId b, RegId to, const Operand *inputs, const BlockId *from, uint32_t n)
{
    Operand ops[9] = {def(s->fn, to)};
    for (uint32_t k = 0; k < n; k++) {
        ops[1 + 2 * k] = op_block(from[k]);
        ops[2 + 2 * k] = inputs[k];
    }
    return ir_append(s->fn, b, desc_phi(s->fn->tables, n), 0, ops, 1 + 2 * n);
}

TEST(instr_set_phis)
{
    Sets s;
    sets_open(&s);
    Fn *fn = s.fn;
    BlockId joins[2] = {add_block(fn, 0), add_block(fn, 0)};
    Operand in[3] = {use(fn, s.r[0]), use(fn, s.r[1]), use(fn, s.r[2])}, back[3] = {in[2], in[1], in[0]};
    BlockId from[3] = {7, 8, 9}, from_back[3] = {9, 8, 7};
    RegId wide = reg_new(fn, RF_R, W64);
    InstrId phi = make_phi(&s, joins[0], s.r[3], in, from, 3);
    CHECK_EQ(enter(&s, phi), phi);
    CHECK_EQ(enter(&s, make_phi(&s, joins[0], s.r[3], back, from_back, 3)), phi);
    InstrId other[] = {
        make_phi(&s, joins[1], s.r[3], in, from, 3), make_phi(&s, joins[0], wide, in, from, 3),
        make_phi(&s, joins[0], s.p, in, from, 3),    make_phi(&s, joins[0], s.r[3], back, from, 3),
        make_phi(&s, joins[0], s.r[3], in, from, 2),
    };
    for (size_t k = 0; k < ARRAY_LEN(other); k++)
        CHECK_EQ(enter(&s, other[k]), other[k]);
    CHECK_EQ(enter(&s, make_phi(&s, joins[0], s.r[3], in, from_back, 3)), other[3]);
    sets_close(&s);
}

TEST(instr_set_many)
{
    enum { MANY_KEYS = 20000 };
    Sets s;
    sets_open(&s);
    InstrId *id = NEW_ARRAY(&s.arena, InstrId, MANY_KEYS);
    for (uint32_t k = 0; k < MANY_KEYS; k++)
        id[k] = make2(&s, "xor.b32", use(s.fn, s.r[0]), op_const(s.fn, k, W32));
    for (uint32_t k = 0; k < MANY_KEYS; k++)
        CHECK_EQ(enter(&s, id[k]), id[k]);
    for (uint32_t k = 0; k < MANY_KEYS; k++)
        CHECK_EQ(enter(&s, make2(&s, "xor.b32", op_const(s.fn, k, W32), use(s.fn, s.r[0]))), id[k]);
    sets_close(&s);
}

void test_instr_set(void)
{
    RUN(instr_set_operands);
    RUN(instr_set_behind_two_uses);
    RUN(instr_set_guards);
    RUN(instr_set_representatives);
    RUN(instr_set_members);
    RUN(instr_set_phis);
    RUN(instr_set_many);
}
