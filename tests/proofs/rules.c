// SPDX-License-Identifier: MIT
// Proves the rules of folding (phases/scalar/fold/fold_rules.def), and that folding applies them.
//
//   rules [-q] [-n] [-p FILE]... [NAMES...]
//
//   -q   quickly, with fewer inputs
//   -p   a list of proven rules, which are tried quickly. The last of these files is rewritten with all rules proven by
//        then; it may be missing
//   -n   omits proven rules
//
// For each rule, pattern and result are computed with instructions narrowed to 8 bits (eval_narrow): for all values of
// all names in the pattern, or for random ones if the pattern has more than three names. At 16, 32 and 64 bits, corners
// and random values are used. If the condition holds, pattern and result must be equal. Value ranges that the condition
// uses are drawn so that they contain the values.
//
// Then the phase runs on a function with the pattern, which it must replace by that rule, and on functions with one
// mistake: another constant, two different values, a use of a guarded definition, or an additional use of an
// instruction that only the pattern may use. There the rule must not be applied. If an inner instruction of the pattern
// has another use, and the rule is applied, the number of instructions must not grow.
//
// A list of proven rules begins with a hash of the sources that define a proof, and is valid only for these: evaluator,
// value ranges, conditions of rules, and this prover. Then it has a hash of the complete text of each rule. A hash
// enters the list only in a run that passed, so a listed rule holds as far as this program can check it. The quick
// proof covers sources outside of the hash (memory, tables of names).
//
// Ends in `N passed, N failed`.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/eval/eval.h"
#include "phases/bodies.h"
#include "phases/scalar/fold/fold_rules.h"
#include "tests/proofs/rules.h"

enum { THINGS = 2 * RULE_VARS };

static unsigned long passed, failed;
static uint64_t state = 88172645463325252u;
static uint64_t samples, most;
static bool quick, only_new;

static void set_effort(bool little)
{
    samples = little ? 5000 : 1000000;
    most = little ? 1 << 16 : 1 << 24;
}

uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

static uint64_t ones(uint32_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }

typedef struct Proof {
    const Rule *rule;
    Arena *arena;
    Tables tables;
    uint32_t bits, width;  // current width of the rule; index of the width that instructions are taken from
    Eval *evals;           // by node
    bool *known;
    uint32_t nthings;
    struct {
        uint8_t var, bits_of;  // bits_of: width, encoded as by times_of_operand()
        bool constant;
    } thing[THINGS];
    uint64_t value[RULE_VARS];
    ValueRange range[RULE_VARS];  // by value
    RuleValues values;
    bool undefined;  // a division by zero
    const char *what;
} Proof;

static const RuleNode *node(uint16_t n) { return &fold_rules.nodes[n]; }

/* -- Values and constants of a pattern ------------------------------------------------------------------ */

// Returns the width of operand k of an instruction: 0 = one bit, 3 = a count of 32 bits, else a multiple of the rule's
// width.
static uint32_t times_of_operand(const RuleNode *n, uint32_t k)
{
    RuleType t = n->op == OP_CVT ? n->type[1] : n->type[0];
    bool shift = n->op == OP_SHL || n->op == OP_SHR;
    if (t.letter == 'p' || (n->op == OP_SELP && k == 2))
        return 0;
    if ((shift && k == 1) || (n->op == OP_BFE && k) || (n->op == OP_BFI && k > 1))
        return 3;
    return n->op == OP_MAD_WIDE && k == 2 ? 2 : 1u << t.times;
}

static uint32_t times_of_result(const RuleNode *n)
{
    if (n->type[0].letter == 'p' || n->op == OP_SETP)
        return 0;
    return n->op == OP_MUL_WIDE || n->op == OP_MAD_WIDE ? 2 : 1u << n->type[0].times;
}

static uint32_t bits_of_times(const Proof *p, uint32_t times)
{
    return times == 0 ? 1 : times == 3 ? MIN(p->bits, 32u) : times * p->bits;
}

static void note_things(Proof *p, uint16_t at, uint32_t times)
{
    const RuleNode *n = node(at);
    if (n->kind == RN_VALUE || n->kind == RN_CONST) {
        for (uint32_t k = 0; k < p->nthings; k++)
            if (p->thing[k].var == n->var && p->thing[k].constant == (n->kind == RN_CONST))
                return;
        p->thing[p->nthings].var = n->var;
        p->thing[p->nthings].constant = n->kind == RN_CONST;
        p->thing[p->nthings++].bits_of = (uint8_t)times;
    }
    for (uint32_t k = 0; k < n->nkids; k++)
        note_things(p, n->kids[k], times_of_operand(n, k));
}

/* -- Computing ------------------------------------------------------------------------------------------ */

static ValueRange range_of(void *user, uint32_t var) { return ((Proof *)user)->range[var]; }

// Evaluates the condition. The cached value ranges are invalid, since new ones were drawn.
static bool holds(Proof *p)
{
    p->values.known = 0;
    return !p->rule->when || rule_eval(p->rule->when, &p->values);
}

static uint64_t extend(uint64_t x, uint32_t bits)
{
    uint32_t unused = 64 - MIN(bits, 64u);
    return (uint64_t)((int64_t)(x << unused) >> unused);
}

// Returns the value of a node, of `bits` bits.
static uint64_t compute(Proof *p, uint16_t at, uint32_t bits)
{
    const RuleNode *n = node(at);
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE: return p->value[n->var] & ones(bits);
    case RN_CONST: return p->values.constant[n->var] & ones(bits);
    case RN_EXPR: return rule_eval(n->expr, &p->values) & ones(bits);
    case RN_OP: break;
    }
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX] = {0};
    for (uint32_t k = 0; k < n->nkids; k++)
        in[k].lo = compute(p, n->kids[k], bits_of_times(p, times_of_operand(n, k)));
    uint32_t result = bits_of_times(p, times_of_result(n));
    if (n->op == OP_CVT) {  // from the rule's width to twice that width, or back
        bool extends = n->type[1].letter == 's' && n->type[1].times < n->type[0].times;
        return (extends ? extend(in[0].lo, p->bits) : in[0].lo) & ones(result);
    }
    if (!p->known[at]) {
        DescId id = rule_desc(&p->tables, n, p->width);
        bool decodes = eval_decode(&p->tables, tab_desc(&p->tables, id), &p->evals[at]);
        if (!decodes ||
            (p->bits < 16 && n->type[0].letter != 'p' && !eval_narrow(&p->evals[at], p->bits << n->type[0].times)))
            p->what = "cannot be computed";
        p->known[at] = true;
    }
    eval_run(&p->evals[at], in, out);
    p->undefined |= !eval_foldable(&p->evals[at], in, out);
    return out[0].lo & ones(result);
}

// Compares pattern and result for the current values. Returns true if the condition held.
static bool try_one(Proof *p)
{
    const RuleNode *from = node(p->rule->from);
    uint32_t bits = bits_of_times(p, times_of_result(from));
    p->undefined = false;
    if (!holds(p))
        return false;
    uint64_t was = compute(p, p->rule->from, bits);
    if (p->undefined)
        return false;
    uint64_t is = compute(p, p->rule->to, bits);
    if (p->undefined || was != is)
        p->what = "pattern and result differ";
    return true;
}

static void set_thing(Proof *p, uint32_t k, uint64_t x)
{
    uint32_t bits = bits_of_times(p, p->thing[k].bits_of);
    *(p->thing[k].constant ? &p->values.constant[p->thing[k].var] : &p->value[p->thing[k].var]) = x & ones(bits);
}

// Returns a random value range that contains a value: of known bits at the lower end, at the upper end or anywhere, or
// of an unsigned or signed interval.
static ValueRange draw_range(uint64_t x, uint32_t bits)
{
    uint32_t n = (uint32_t)(draw() % (bits + 1));
    uint64_t masks[] = {ones(n), ~ones(n), ~ones(bits / 2), draw() & draw(), ones(bits)}, mask = masks[draw() % 5];
    uint64_t below = draw() & ones((uint32_t)(draw() % (bits + 1))),
             above = draw() & ones((uint32_t)(draw() % (bits + 1)));
    int64_t number = sign_extended(x, bits), least = -(int64_t)ones(bits - 1) - 1, most = (int64_t)ones(bits - 1);
    switch (draw() % 5) {
    case 0: return range_full(bits);
    case 1: return range_of_bits(~x & mask, 0, bits);
    case 2: return range_of_bits(0, x & mask, bits);
    case 3: return range_unsigned(below > x ? 0 : x - below, above > ones(bits) - x ? ones(bits) : x + above, bits);
    default:
        return range_signed(below > (uint64_t)number - (uint64_t)least ? least : (int64_t)((uint64_t)number - below),
                            above > (uint64_t)most - (uint64_t)number ? most : (int64_t)((uint64_t)number + above),
                            bits);
    }
}

static void draw_all_ranges(Proof *p, bool wanted)
{
    for (uint32_t k = 0; k < p->nthings; k++) {
        uint32_t bits = bits_of_times(p, p->thing[k].bits_of);
        if (!p->thing[k].constant)
            p->range[p->thing[k].var] = wanted ? draw_range(p->value[p->thing[k].var], bits) : range_full(bits);
    }
}

// True if the condition uses value ranges.
static bool uses_ranges(const Proof *p)
{
    static const char *const asks[] = {"zeros(", "set(", "umin(", "umax(", "smin(", "smax("};
    bool found = false;
    for (size_t k = 0; k < ARRAY_LEN(asks); k++)
        found |= strstr(p->rule->cond, asks[k]) != NULL;
    return found;
}

static uint64_t draw_corner(uint32_t bits)
{
    switch (draw() % 7) {
    case 0: return draw() % 70;
    case 5: return ~(ones((uint32_t)(draw() % 20)) << draw() % MAX(bits, 1u));
    case 1: return (uint64_t)1 << draw() % MAX(bits, 1u);
    case 2: return ones((uint32_t)(draw() % (bits + 1)));
    case 3: return 0 - draw() % 70;
    case 4: return ((uint64_t)1 << (MAX(bits, 1u) - 1)) + draw() % 5 - 2;
    default: return draw();
    }
}

static void report(const Proof *p, const char *what)
{
    failed++;
    printf("%s: %s at %u bits", p->rule->name, what, p->bits);
    for (uint32_t k = 0; k < p->nthings; k++) {
        uint8_t v = p->thing[k].var;
        const ValueRange *f = &p->range[v];
        printf(", %c = 0x%llx", (p->thing[k].constant ? 'C' : 'p') + v,
               (unsigned long long)(p->thing[k].constant ? p->values.constant[v] : p->value[v]));
        if (!p->thing[k].constant && f->bits)
            printf(" (zeros 0x%llx, ones 0x%llx, %llu..%llu, %lld..%lld)", (unsigned long long)f->zeros,
                   (unsigned long long)f->ones, (unsigned long long)f->umin, (unsigned long long)f->umax,
                   (long long)f->smin, (long long)f->smax);
    }
    printf("\n");
}

// Tries all values at 8 bits.
static uint64_t try_all(Proof *p, bool ranges)
{
    uint64_t held = 0, n = 1;
    uint32_t things = p->nthings;
    for (uint32_t k = 0; k < things; k++)
        n <<= bits_of_times(p, p->thing[k].bits_of);
    for (uint64_t x = 0; x < n && !p->what; x++) {
        uint64_t rest = x;
        for (uint32_t k = 0; k < things; k++) {
            set_thing(p, k, rest);
            rest >>= bits_of_times(p, p->thing[k].bits_of);
        }
        draw_all_ranges(p, ranges);
        held += try_one(p);
    }
    return held;
}

// Returns a constant related to another one: the same, its lowest bit, its complement, the position of its lowest zero,
// or the bits from there.
static uint64_t draw_alike(uint64_t x)
{
    uint32_t hole = ~x ? (uint32_t)__builtin_ctzll(~x) : 0;
    uint64_t kinds[] = {x, x & (0 - x), ~x, hole, ~x >> hole & ones(16), ~x >> hole & ones(32)};
    return kinds[draw() % ARRAY_LEN(kinds)];
}

static uint64_t try_some(Proof *p, bool ranges, uint64_t n)
{
    uint64_t held = 0;
    for (uint64_t x = 0; x < n && !p->what; x++) {
        uint64_t first = 0;
        for (uint32_t k = 0; k < p->nthings; k++) {
            uint32_t bits = bits_of_times(p, p->thing[k].bits_of);
            uint64_t to = draw() % 2 ? draw_corner(bits) : draw();
            if (p->thing[k].bits_of == 3 && draw() % 4)
                to = draw() % (2 * p->bits);
            if (p->thing[k].constant && first && draw() % 2)
                to = draw_alike(first);
            set_thing(p, k, to);
            first = p->thing[k].constant && !first ? to & ones(bits) : first;
        }
        draw_all_ranges(p, ranges);
        held += try_one(p);
    }
    return held;
}

static void prove(Proof *p, uint32_t bits, uint32_t width)
{
    bool ranges = uses_ranges(p);
    p->bits = bits;
    p->width = width;
    p->values = (RuleValues){.bits = bits, .proving = true, .user = p, .of = range_of};
    p->what = NULL;
    memset(p->range, 0, sizeof p->range);
    memset(p->known, 0, fold_rules.nnodes * sizeof *p->known);
    uint32_t all = 0;
    for (uint32_t k = 0; k < p->nthings; k++)
        all += bits_of_times(p, p->thing[k].bits_of);
    bool few = bits == 8 && all < 64 && (uint64_t)1 << all <= most;
    uint64_t held = few ? try_all(p, ranges) : try_some(p, ranges, bits == 8 ? 4 * samples : samples);
    if (p->what)
        report(p, p->what);
    else if (!held)
        report(p, "never holds");
    else
        passed++;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// Mistakes in a pattern.
typedef enum { NOTHING, CONDITION, LITERAL, VARIABLE, VALUES, GUARD, READER, MISTAKES } Mistake;
static const char *const mistakes[MISTAKES] = {"nothing",    "the condition", "another number", "no constant",
                                               "two values", "a guard",       "another reader"};

typedef struct Build {
    Ctx ctx;
    Fn *fn;
    BlockId block;
    Proof *p;
    uint32_t width;
    Mistake mistake;
    bool made;        // the mistake was made
    uint32_t reader;  // number from 1 of the inner instruction with another use; 0 = none
    uint32_t inner;   // inner instructions so far
    RegId reg[RULE_VARS];
    RegId guard, address;
} Build;

// The outcome of folding a function with a pattern.
typedef struct Outcome {
    bool applied, made;  // applied: the rule; made: the mistake
    bool read;           // the function has an inner instruction with this number
    uint32_t before, after;
} Outcome;

static Width width_of(const Build *b, uint32_t times)
{
    return times == 0 ? W1 : times == 3 ? W32 : (Width)(W16 + b->width + times / 2);
}

static RegId load(Build *b, Width width)
{
    RegId r = reg_new(b->fn, width == W1 ? RF_P : RF_R, width);
    Operand ops[] = {op_def(op_reg(b->fn, r)), op_reg(b->fn, b->address), op_const(b->fn, 0, W64)};
    char text[32];
    if (width == W1) {
        RegId n = load(b, W32);
        Operand set[] = {ops[0], op_reg(b->fn, n), op_const(b->fn, 77, W32)};
        ir_append(b->fn, b->block, desc_parse(b->fn->tables, "setp.lt.s32", "%,%,%"), 0, set, 3);
        return r;
    }
    snprintf(text, sizeof text, "ld.volatile.global.b%u", width_bits(width));
    ir_append(b->fn, b->block, desc_parse(b->fn->tables, text, "%,[&]"), 0, ops, 3);
    return r;
}

// Stores a register, so that it is live.
static void store(Build *b, RegId r, Width width)
{
    char text[32];
    if (width == W1) {
        RegId n = reg_new(b->fn, RF_R, W32);
        Operand select[] = {op_def(op_reg(b->fn, n)), op_const(b->fn, 1, W32), op_const(b->fn, 0, W32),
                            op_reg(b->fn, r)};
        ir_append(b->fn, b->block, desc_parse(b->fn->tables, "selp.b32", "%,%,%,%"), 0, select, 4);
        r = n;
        width = W32;
    }
    Operand ops[] = {op_reg(b->fn, b->address), op_const(b->fn, 8, W64), op_reg(b->fn, r)};
    snprintf(text, sizeof text, "st.volatile.global.b%u", width_bits(width));
    ir_append(b->fn, b->block, desc_parse(b->fn->tables, text, "[&],%"), 0, ops, 3);
}

static RegId limit(Build *b, const char *name, RegId r, uint64_t by, Width width)
{
    RegId to = reg_new(b->fn, RF_R, width);
    char text[16];
    snprintf(text, sizeof text, "%s%u", name, width_bits(width));
    Operand ops[] = {op_def(op_reg(b->fn, to)), op_reg(b->fn, r), op_const(b->fn, by, width)};
    ir_append(b->fn, b->block, desc_parse(b->fn->tables, text, "%,%,%"), 0, ops, 3);
    return to;
}

// Returns a register with the value range that the rule requires, by instructions that limit its value.
static RegId value(Build *b, const RuleNode *n, Width width)
{
    const ValueRange *f = &b->p->range[n->var];
    if (!b->reg[n->var]) {
        RegId r = load(b, width);
        ValueRange any = range_full(width_bits(width)), bits = range_of_bits(f->zeros, f->ones, width_bits(width));
        bool asks = width > W1 && f->bits;
        if (asks && bits.umin == f->umin && bits.umax == f->umax && bits.smin == f->smin && bits.smax == f->smax) {
            r = f->zeros ? limit(b, "and.b", r, ~f->zeros, width) : r;
            r = f->ones ? limit(b, "or.b", r, f->ones, width) : r;
        } else if (asks && (f->umin != any.umin || f->umax != any.umax)) {
            r = f->umin != any.umin ? limit(b, "max.u", r, f->umin, width) : r;
            r = f->umax != any.umax ? limit(b, "min.u", r, f->umax, width) : r;
        } else if (asks) {
            r = f->smin != any.smin ? limit(b, "max.s", r, (uint64_t)f->smin, width) : r;
            r = f->smax != any.smax ? limit(b, "min.s", r, (uint64_t)f->smax, width) : r;
        }
        b->reg[n->var] = r;
    } else if (b->mistake == VALUES) {
        b->made = true;
        return load(b, width);
    }
    return b->reg[n->var];
}

static Operand build(Build *b, uint16_t at, Width width, bool root)
{
    const RuleNode *n = node(at);
    uint64_t bits;
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE: return op_reg(b->fn, value(b, n, width));
    case RN_CONST:
        b->made |= b->mistake == VARIABLE;
        return b->mistake == VARIABLE ? op_reg(b->fn, load(b, width))
                                      : op_const(b->fn, b->p->values.constant[n->var], width);
    case RN_EXPR:
        bits = rule_eval(n->expr, &b->p->values);
        b->made |= b->mistake == LITERAL;
        return op_const(b->fn, b->mistake == LITERAL ? bits + 11 : bits, width);
    case RN_OP: break;
    }
    Operand ops[2 + RULE_KIDS];
    uint32_t nops = 1;
    for (uint32_t k = 0; k < n->nkids; k++)
        ops[nops++] = build(b, n->kids[k], width_of(b, times_of_operand(n, k)), false);
    RegId r = reg_new(b->fn, width == W1 ? RF_P : RF_R, width);
    ops[0] = op_def(op_reg(b->fn, r));
    bool guarded = b->mistake == GUARD && !root;
    if (guarded) {
        char text[16];
        snprintf(text, sizeof text, width == W1 ? "mov.pred" : "mov.b%u", width_bits(width));
        Operand before[] = {ops[0], width == W1 ? op_reg(b->fn, b->guard) : op_reg(b->fn, load(b, width))};
        ir_append(b->fn, b->block, desc_parse(b->fn->tables, text, "%,%"), 0, before, 2);
        ops[nops++] = op_reg(b->fn, b->guard);
        b->made = true;
    }
    DescId desc = rule_desc(b->fn->tables, n, b->width);
    ir_append(b->fn, b->block, desc, guarded ? IF_GUARDED : 0, ops, nops);
    if (n->single && b->mistake == READER) {
        RegId other = reg_new(b->fn, RF_R, width);
        char text[16];
        snprintf(text, sizeof text, "not.b%u", width_bits(width));
        Operand uses[] = {op_def(op_reg(b->fn, other)), op_reg(b->fn, r)};
        ir_append(b->fn, b->block, desc_parse(b->fn->tables, text, "%,%"), 0, uses, 2);
        b->made = true;
    }
    b->inner += !root;
    if (b->reader && (root || b->inner == b->reader))
        store(b, r, width);
    return op_reg(b->fn, r);
}

// Returns the cost of all instructions except moves; a second immediate takes a register of its own.
static uint32_t cost_of(const Fn *fn, BlockId b)
{
    uint32_t cost = 0;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        uint32_t constants = 0;
        if (ir_desc(fn, i)->op == OP_MOV)
            continue;
        for (uint32_t k = 0; k < ir_nuse(i); k++)
            constants += op_kind(*ir_use(fn, i, k)) == K_IMM;
        cost += ir_desc(fn, i)->op == OP_SELP && constants > 1 ? constants : 1;
    }
    return cost;
}

// Runs folding, with this rule alone, on a function with its pattern.
static Outcome fold_pattern(Proof *p, uint32_t width, Mistake mistake, uint32_t reader)
{
    Build b = {.p = p, .width = width, .mistake = mistake, .made = mistake == CONDITION, .reader = reader};
    jmp_buf unwind;
    if (setjmp(unwind)) {
        printf("%s: %s\n", p->rule->name, b.ctx.heap.message);
        exit(1);
    }
    b.ctx.heap.unwind = &unwind;
    arena_init(&b.ctx.arena, &b.ctx.heap);
    phase_factory(&b.ctx);
    b.ctx.settings = phase_knobs(&b.ctx.arena);
    knobs_init(&b.ctx.knobs, b.ctx.settings, &b.ctx.heap);
    b.ctx.rules_off = NEW_ARRAY(&b.ctx.arena, bool, fold_rules.n + 1);
    for (uint32_t k = 1; k <= fold_rules.n; k++)
        b.ctx.rules_off[k] = &fold_rules.rules[k] != p->rule;
    Module *m = module_new(&b.ctx.heap);
    Name name = {str_intern_z(&m->tables.strs, "f"), NO_NUMBER};
    b.fn = fn_new(m, module_sym(m, name, SYM_FUNC));
    module_add_fn(m, b.fn);
    b.fn->flags = FN_KERNEL | FN_DEFINED;
    b.block = block_new(b.fn);
    block_append(b.fn, b.block);
    b.address = reg_new(b.fn, RF_R, W64);
    Operand address[] = {op_def(op_reg(b.fn, b.address)), op_const(b.fn, 4096, W64)};
    ir_append(b.fn, b.block, desc_parse(b.fn->tables, "mov.b64", "%,%"), 0, address, 2);
    b.guard = load(&b, W1);
    Operand root = build(&b, p->rule->from, width_of(&b, times_of_result(node(p->rule->from))), true);
    if (p->rule->offset || (p->rule->added && width == 1))
        b.address = op_index(root), load(&b, W32);
    ir_append(b.fn, b.block, desc_parse(b.fn->tables, "ret", ""), 0, NULL, 0);
    if (reader)
        phase_live_dead(&b.ctx, b.fn);
    Outcome outcome = {.before = cost_of(b.fn, b.block), .read = b.inner >= reader};
    phase_fold(&b.ctx, b.fn);
    if (reader)
        phase_live_dead(&b.ctx, b.fn);
    outcome.after = cost_of(b.fn, b.block);
    outcome.applied = rule_uses(&b.ctx)[p->rule - fold_rules.rules] > 0;
    outcome.made = b.made;
    analysis_drop(b.fn, 0);
    module_free(m);
    knobs_free(&b.ctx.knobs);
    arena_free(&b.ctx.arena);
    heap_release(&b.ctx.heap);
    return outcome;
}

// Draws constants for which the condition holds, or for which it does not.
static bool draw_constants(Proof *p, bool wanted)
{
    for (uint32_t n = 0; n < 200000; n++) {
        for (uint32_t k = 0; k < p->nthings; k++)
            set_thing(p, k, draw_corner(bits_of_times(p, p->thing[k].bits_of)));
        draw_all_ranges(p, uses_ranges(p));
        if (holds(p) == wanted)
            return true;
    }
    return false;
}

static void check(bool ok, const Proof *p, const char *what, Mistake mistake)
{
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("%s: %s (%s) at %u bits\n", p->rule->name, what, mistakes[mistake], p->bits);
}

// Checks that the rule makes no more instructions than before if an inner instruction has another use.
static void check_readers(Proof *p, uint32_t width)
{
    Outcome o = fold_pattern(p, width, NOTHING, 1);
    for (uint32_t reader = 1; o.read; o = fold_pattern(p, width, NOTHING, ++reader))
        check(!o.applied || o.after <= o.before, p, "makes more instructions", READER);
}

static void apply(Proof *p, uint32_t width)
{
    bool any = false;
    p->bits = rule_bits(width);
    p->values = (RuleValues){.bits = p->bits, .offset = true, .added = true, .user = p, .of = range_of};
    // Some constants fold the whole pattern to a constant.
    bool applied = false;
    for (int n = 0; n < 50 && !applied; n++)
        applied = draw_constants(p, true) && fold_pattern(p, width, NOTHING, 0).applied;
    check(applied, p, "is not applied", NOTHING);
    check_readers(p, width);
    for (Mistake mistake = LITERAL; mistake < MISTAKES; mistake++) {
        Outcome o = fold_pattern(p, width, mistake, 0);
        any |= o.made;
        if (o.made)
            check(!o.applied, p, "is applied", mistake);
    }
    if (p->rule->when && draw_constants(p, false)) {
        any = true;
        check(!fold_pattern(p, width, CONDITION, 0).applied, p, "is applied", CONDITION);
    }
    if (!any)
        check(false, p, "nothing can be wrong with it", NOTHING);
}

// True if a pattern has an operation on bytes, which cannot be narrowed.
static bool has_bytes(const Proof *p, uint16_t at)
{
    const RuleNode *n = node(at);
    bool has = n->kind == RN_OP && n->op == OP_PRMT;
    for (uint32_t k = 0; k < n->nkids; k++)
        has |= has_bytes(p, n->kids[k]);
    return has;
}

// Proves one rule at all its widths, and checks that folding applies it.
static void try_rule(const Rule *rule, Arena *arena)
{
    Proof p = {.rule = rule, .arena = arena};
    tables_init(&p.tables, arena, NULL);
    p.evals = NEW_ARRAY(arena, Eval, fold_rules.nnodes);
    p.known = NEW_ARRAY(arena, bool, fold_rules.nnodes);
    note_things(&p, rule->from, times_of_result(node(rule->from)));
    if (!has_bytes(&p, rule->from))
        prove(&p, 8, 1);
    for (uint32_t w = 0; w < RULE_WIDTHS; w++) {
        if (!rule->at[w] || (w == 0 && strstr(rule->cond, "w != 16")) || (w == 2 && strstr(rule->cond, "w != 64")))
            continue;
        prove(&p, rule_bits(w), w);
        bool pays =
            (w == 2 || !strstr(rule->cond, "pays(w == 64)")) && (w == 1 || !strstr(rule->cond, "pays(w == 32)"));
        pays &= w == 1 || !rule->offset;  // the result, of twice the width, is an address
        if (pays)
            apply(&p, w);
    }
}

/* -- List of proven rules ------------------------------------------------------------------------------- */

enum { PROVEN_MAX = 480 };

// Hashes of proven rules. A pipe transfers those of a share in one write.
typedef struct Proven {
    unsigned long passed, failed;
    uint32_t n;
    uint64_t at[PROVEN_MAX];
} Proven;

static const char *const proof_sources[] = {
    "ir/eval/approx.c",
    "ir/eval/convert.c",
    "ir/eval/eval.c",
    "ir/eval/eval.h",
    "ir/eval/eval_internal.h",
    "ir/eval/float.c",
    "ir/eval/integer.c",
    "ir/eval/logic.c",
    "ir/eval/move.c",
    "ir/eval/softfloat.c",
    "ir/eval/video.c",
    "ir/eval/range.c",
    "ir/eval/range.h",
    "ir/eval/transfer.c",
    "ir/analysis/conditions.c",
    "ir/analysis/value_ranges.c",
    "ir/analysis/value_ranges.h",
    "phases/scalar/fold/fold.h",
    "phases/scalar/fold/fold_expr.h",
    "phases/scalar/fold/fold_match.c",
    "phases/scalar/fold/fold_rules.c",
    "phases/scalar/fold/fold_rules.h",
    "tools/foldgen/read_rules.c",
    "tests/proofs/ranges.c",
    "tests/proofs/floats.c",
    "tests/proofs/rules.c",
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash * 0x100000001b3u;
}

// Returns a hash of the proof sources, without comment lines and empty lines.
static uint64_t hash_sources(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < ARRAY_LEN(proof_sources); k++) {
        char line[1000];
        FILE *f = fopen(proof_sources[k], "r");
        if (!f) {
            fprintf(stderr, "rules: there is no '%s', of which proofs depend\n", proof_sources[k]);
            exit(2);
        }
        hash = hash_text(hash, proof_sources[k]);
        while (fgets(line, sizeof line, f)) {
            const char *text = line + strspn(line, " \n");
            if (*text && strncmp(text, "//", 2) != 0)
                hash = hash_text(hash, text);
        }
        fclose(f);
    }
    return hash;
}

static uint64_t hash_rule(const Rule *r)
{
    uint64_t hash = hash_text(0xcbf29ce484222325u, r->name);
    return hash_text(hash_text(hash_text(hash, r->lhs), r->cond), r->rhs);
}

static bool is_proven(const Proven *p, uint64_t hash)
{
    for (uint32_t k = 0; k < p->n; k++)
        if (p->at[k] == hash)
            return true;
    return false;
}

static void add_proven(Proven *p, uint64_t hash)
{
    if (p->n < PROVEN_MAX && !is_proven(p, hash))
        p->at[p->n++] = hash;
}

static void read_proven(Proven *p, const char *path, uint64_t sources)
{
    unsigned long long hash;
    FILE *f = fopen(path, "r");
    if (!f)
        return;
    if (fscanf(f, "sources %llx", &hash) == 1 && hash == sources)
        while (fscanf(f, "%llx", &hash) == 1)
            add_proven(p, hash);
    fclose(f);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool write_proven(Proven *p, const char *path, uint64_t sources)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    qsort(p->at, p->n, sizeof *p->at, compare_hashes);
    fprintf(f, "sources %016llx\n", (unsigned long long)sources);
    for (uint32_t k = 0; k < p->n; k++)
        fprintf(f, "%016llx\n", (unsigned long long)p->at[k]);
    return fclose(f) == 0;
}

/* -- The whole ------------------------------------------------------------------------------------------ */

// Rules to prove.
typedef struct Task {
    int nnames;
    char **names;
    const Proven *old;
    long share, shares;
    Proven new;
} Task;

static bool is_wanted(const Task *t, const char *name)
{
    bool wanted = t->nnames == 0;
    for (int k = 0; k < t->nnames; k++)
        wanted |= strcmp(t->names[k], name) == 0;
    return wanted;
}

// True if each name is that of a rule with a pattern; otherwise messages were printed.
static bool names_exist(const Task *t)
{
    bool all = true;
    for (int n = 0; n < t->nnames; n++) {
        bool known = false;
        Nearest best = {0};
        char nearest[200];
        for (uint32_t k = 1; k <= fold_rules.npatterns; k++) {
            known |= strcmp(t->names[n], fold_rules.rules[k].name) == 0;
            nearest_offer(&best, t->names[n], strlen(t->names[n]), fold_rules.rules[k].name);
        }
        nearest_print(&best, nearest, sizeof nearest);
        if (!known)
            fprintf(stderr, "rules: there is no rule '%s' with a pattern%s\n", t->names[n], nearest);
        all &= known;
    }
    return all;
}

// Sets the effort for a rule with this hash. Returns false if the rule is to be skipped.
static bool begin_proof(const Task *t, uint64_t hash)
{
    bool old = is_proven(t->old, hash);
    set_effort(quick || old);
    return !old || !only_new;
}

static void end_proof(Task *t, uint64_t hash, unsigned long failures)
{
    if (!quick && failed == failures)
        add_proven(&t->new, hash);
}

static void prove_rule(Task *t, const Rule *rule, Arena *arena)
{
    uint64_t hash = hash_rule(rule);
    unsigned long failures = failed;
    state = 88172645463325252u + hash_bytes(rule->name, strlen(rule->name));
    if (!begin_proof(t, hash))
        return;
    try_rule(rule, arena);
    end_proof(t, hash, failures);
}

typedef void Prover(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed);

static void prove_law(Task *t, const char *name, Prover *prove_it, Heap *heap)
{
    uint64_t hash = hash_text(0, name);
    unsigned long failures = failed;
    if (!begin_proof(t, hash))
        return;
    prove_it(heap, quick || is_proven(t->old, hash), &passed, &failed);
    end_proof(t, hash, failures);
}

// Proves a share of the rules. The numbers that a rule draws do not depend on the share.
static void prove_share(Task *t)
{
    Ctx ctx = {0};
    jmp_buf unwind;
    Arena arena;
    ctx.heap.unwind = &unwind;
    if (setjmp(unwind)) {
        printf("%s\n", ctx.heap.message);
        failed++;
        return;
    }
    arena_init(&arena, &ctx.heap);
    if (t->nnames == 0 && t->share == 0)
        prove_law(t, "ranges", prove_ranges, &ctx.heap);
    if (t->nnames == 0 && t->share == t->shares - 1)
        prove_law(t, "floats", prove_floats, &ctx.heap);
    for (uint32_t k = 1; k <= fold_rules.npatterns; k++)
        if (k % t->shares == (unsigned long)t->share && is_wanted(t, fold_rules.rules[k].name))
            prove_rule(t, &fold_rules.rules[k], &arena);
    arena_free(&arena);
    heap_release(&ctx.heap);
}

// Starts a process for each share, which sends its results to the pipe.
static void start_shares(Task *t, int to)
{
    for (t->share = 0; t->share < t->shares; t->share++) {
        if (fork())
            continue;
        prove_share(t);
        fflush(stdout);
        t->new.passed = passed;
        t->new.failed = failed;
        _exit(write(to, &t->new, sizeof t->new) != sizeof t->new);
    }
    close(to);
}

int main(int argc, char **argv)
{
    static Proven old, share;
    static Task task;
    const char *record = NULL;
    uint64_t sources = 0;
    int pipes[2], option;
    while ((option = getopt(argc, argv, "qnp:")) != -1) {
        if (option == '?')
            return 2;
        quick |= option == 'q';
        only_new |= option == 'n';
        if (option != 'p')
            continue;
        sources = record ? sources : hash_sources();
        record = optarg;
        read_proven(&old, record, sources);
    }
    task = (Task){.nnames = argc - optind,
                  .names = argv + optind,
                  .old = &old,
                  .shares = MIN(MAX(sysconf(_SC_NPROCESSORS_ONLN), 1), 16)};
    if (!names_exist(&task) || pipe(pipes))
        return 2;
    start_shares(&task, pipes[1]);
    long answers = 0;
    for (; read(pipes[0], &share, sizeof share) == sizeof share; answers++) {
        passed += share.passed;
        failed += share.failed;
        for (uint32_t k = 0; k < share.n; k++)
            add_proven(&old, share.at[k]);
    }
    while (wait(NULL) > 0)
        ;
    failed += answers != task.shares;
    if (record && !quick)
        failed += !write_proven(&old, record, sources);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed > 0;
}
