// SPDX-License-Identifier: MIT
// Folding: evaluates what is constant, and puts something cheaper in the place of what has a pattern.
//
// Sub-pass: OriFold, of the GeneralOptimize bundles. One walk in reverse postorder, so that what an instruction reads
// is folded already. Where each use of a pure instruction is a constant the evaluator says what it computes, and it
// becomes a move of that; what has no result that is the same on all machines is left alone, which the evaluator says,
// too. For all others stand rules in fold_rules.def, found by the form of the root of their pattern, which is opcode,
// comparison and types, and by where its operands come from. Patterns look through moves, and at definitions that are
// the only one of their register, unguarded, and dominate its uses, so that a value that is read there is the same
// here. Sums of a register and a constant become base and offset of an access.
//
//     R1 = mov.b32 3; R2 = shl.b32 R1, 2             R1 = mov.b32 3; R2 = mov.b32 12
//     R1 = cvt.s64.s32 R0; R2 = shl.b64 R1, 2   ->   R1 = cvt.s64.s32 R0; R2 = mul.wide.s32 R0, 4
//     R1 = add.s64 R0, 16; ld.b32 [R1+4]             R1 = add.s64 R0, 16; ld.b32 [R0+20]
//     @P0 R3 = add.s32 R1, 0                         @P0 R3 = mov.b32 R1
//     P1 = mov.pred 0; @P1 st.b32 [R1], R2           P1 = mov.pred 0
//
// What dies by that goes with the next search for dead code. A result that is larger than its root is made only where
// the rest of the pattern dies.
//
// Must not fire:
//     R1 = div.s32 7, 0; R1 = rcp.approx.ftz.f32 0f40000000     nothing says what that is, or each machine has its own
//     @P0 R1 = add.s32 R0, 1; R2 = add.s32 R1, 1                R1 may be something else
//     R1 = add.s32 R0, 1; R0 = mov.b32 5; R2 = add.s32 R1, 1    R0 is another value by now
//     R1 = add.s32 R0, 4; ld.shared.b32 [R1]                    32 bits wrap where an offset does not
//     R1 = shr.u32 R0, 8; R2 = and.b32 R1, 255                  in PTX 1.4, which has no bfe
//     R4 = mul.wide.s32 R1 + 1, 4; st.b64 [R0], R4              the constant would not become an offset of an access
//     R3 = add.s32 R1, 5; b1: R6 = add.s32 R3, R5 (phi of b1)   the loop would add twice where it adds once
//     R1 = add.sat.s32 R0, 0; R1, CC0 = add.cc.u32 R0, 0        rules are about plain instructions
//
// Comparisons with a sum are rewritten only if nothing else reads the sum: ptxas unrolls no loop whose exit compares
// the old value of the counter (tried: up to half of the SASS of a kernel). Signed 64-bit division stays signed unless
// both operands fit 32 bits, since ptxas makes a third more of the unsigned one (tried). bfe is made at byte bounds and
// bfi at 32 bits, where ptxas makes an instruction or two less (sm_75 to sm_90, tried). No offsets of `.local` accesses
// are made: ptxas makes up to a twelfth more of them. The knob limit-fold-fp leaves instructions alone that compute
// with floats, but not selects of floats. Division of f64 by powers of two stays, since its NaN is not specified.
//
// Ends: each rule makes something that is less in an order (fold_rules.def), and AGAIN bounds what happens to one
// instruction in one walk.
//
// Does not do: floating point, but for constants and division by powers of two; branches on constants (15).
// Documented: that GeneralOptimize folds constants and simplifies; the name and the rules are ours.
#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/fold/fold_rules.h"

enum {
    AGAIN = 8,             // how often an instruction is folded in one walk
    OFFSET_MAX = 1 << 23,  // of an access, which ptxas takes without an instruction
    READERS_MANY = UINT8_MAX,
    KNOWN = 32,  // that are at hand, a power of two
    DESCS = 128,
    AHEAD = 4,  // the block whose instructions are asked for
};

// A kind of instruction, as patterns tell them apart, and the rules whose root it may be.
typedef struct RootForm {
    uint16_t op, cmp;
    char letter[2];  // of its types
    uint8_t bits[2];
    uint32_t first, end;  // of the candidates
} RootForm;

// A rule that an instruction may be the root of, and the width that it then has; 0 = a predicate does not say.
typedef struct Candidate {
    uint16_t rule;
    uint8_t bits;
    bool commutes, same;
    uint32_t need[3];  // of its first operands: FROM_*
} Candidate;

// The forms that were met in a context, which are few, so that it is found once which rules are about them.
typedef struct FoldForms {
    IdSet index;
    VEC(RootForm) forms;
    VEC(Candidate) candidates;
} FoldForms;

#define FORMLESS UINT32_MAX

// What is asked of an instruction, by its descriptor.
typedef struct Role {
    bool known;
    uint16_t op;
    bool folds;     // it computes something from operands
    bool accesses;  // memory, whose address may get an offset
    uint32_t from;  // FROM_*, of what it defines
    uint32_t form;  // its place among the forms, FORMLESS
} Role;

// What is known of an operand in a block.
typedef struct Known {
    Operand o;
    BlockId block;
    ValueRange range;
} Known;

// What the letters of a pattern are.
typedef struct Match {
    uint32_t bits;
    uint32_t values, constants;  // which are bound
    Operand value[RULE_VARS];
    uint64_t constant[RULE_VARS];
    InstrId inner[RULE_KIDS];  // the instructions below the root
    uint32_t ninner;
} Match;

// The descriptor of a node of a result.
typedef struct Made {
    uint16_t node, width;
    DescId desc;  // 0 = none yet
} Made;

// The operands of a root.
typedef struct Uses {
    uint32_t from[RULE_KIDS];   // FROM_*
    Operand source[RULE_KIDS];  // what they are copies of
    bool same;                  // the first two are copies of the same
} Uses;

typedef struct Fold {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    EvalCache evals;
    const RuleSet *rules;
    bool *off;      // by rule: not to be applied; NULL: none is off
    bool no_float;  // limit-fold-fp
    bool spent;     // FoldBudget
    FoldForms *forms;
    VEC(Role) roles;   // by DescId
    uint8_t *readers;  // by RegId, of those that were there in the beginning
    RegId nregs;
    uint8_t *kept;  // by RegId below nregs: a constant in a sum with it stays a sum somewhere; NULL = not yet looked
    VEC(uint32_t) from;  // by RegId: FROM_*, of registers with one definition that has no guard
    InstrId root;
    bool root_offset;    // constants in sums with what is being matched become offsets
    const Match *match;  // whose condition is looked at
    ValueRanges ranges;
    Known known[KNOWN];  // by the operand
    BlockId block;       // where the walk is
    Made descs[DESCS];   // by node and width
    bool progress;
} Fold;

/* -- Values --------------------------------------------------------------------------------------------- */

static bool is_plain_register(const Fold *f, Operand o)
{
    return op_is_reg(o) && !o.mods && !def_is_outside(f->a, op_index(o));
}

static bool is_constant(Operand o) { return op_kind(o) == K_IMM && op_index(o) != CONST_UNDEF && !o.mods; }

static uint64_t bits_of_constant(const Fn *fn, Operand o) { return tab_const(fn->tables, op_index(o)).bits; }

static InstrId def_of_operand(const Fold *f, Operand o)
{
    return op_is_reg(o) && !o.mods ? def_of(f->a, op_index(o)) : 0;
}

static inline uint32_t from_of(const Fold *f, Operand o)
{
    if (op_is_reg(o) && !o.mods)
        return f->from.at[op_index(o)];
    return !is_constant(o) ? FROM_ANY : bits_of_constant(f->fn, o) ? FROM_CONSTANT : FROM_ZERO;
}

static const Role *role_of(Fold *f, DescId desc);

static void note_definition(Fold *f, InstrId id)
{
    const Instr *i = ir_instr(f->fn, id);
    const Operand *ops = ir_ops(f->fn, i);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(ops[k]) && def_of(f->a, op_index(ops[k])) == id)
            f->from.at[op_index(ops[k])] = ir_guarded(i) ? FROM_ANY : role_of(f, i->desc)->from;
}

// As copy_source(), without a look at definitions that are no moves.
static Operand copied_from(const Fold *f, Operand o)
{
    return from_of(f, o) == FROM_MOVE ? copy_source(f->fn, f->a, o) : o;
}

static void count_reader(Fold *f, Operand o, int more)
{
    if (!op_is_reg(o) || op_index(o) >= f->nregs)
        return;
    uint8_t *n = &f->readers[op_index(o)];
    if (*n != READERS_MANY && (more > 0 || *n))
        *n = (uint8_t)(*n + more);
}

static void count_readers(Fold *f, const Instr *i, int more)
{
    for (uint32_t k = i->ndef; k < i->nops; k++)
        count_reader(f, ir_ops(f->fn, i)[k], more);
}

// What the operands of an instruction are. Whether all are constants.
static bool look_at_uses(const Fold *f, const Instr *i, Uses *uses)
{
    const Fn *fn = f->fn;
    uint32_t n = ir_nuse(i), constants = 0;
    for (uint32_t k = 0; k < n; k++) {
        Operand o = *ir_use(fn, i, k);
        uint32_t from = from_of(f, o);
        if (from == FROM_MOVE) {
            o = copy_source(fn, f->a, o);
            from = from_of(f, o);
        }
        constants += from_constant(from);
        if (k < RULE_KIDS) {
            uses->source[k] = o;
            uses->from[k] = from;
        }
    }
    uses->same = n > 1 && op_same(uses->source[0], uses->source[1]);
    return n && constants == n;
}

/* -- Rules ---------------------------------------------------------------------------------------------- */

static bool may_apply(const Fold *f, uint32_t rule) { return !f->spent && !(f->off && f->off[rule]); }

// Ahead of the change, so that what is told of it is about the instruction as it was.
static void begin_rule(Fold *f, uint32_t rule, InstrId id)
{
    const Rule *r = &f->rules->rules[rule];
    note_cost(f->ctx, f->fn, id);
    knob_spend(&f->ctx->knobs, KNOB_FOLD_BUDGET);
    f->spent = knob_left(&f->ctx->knobs, KNOB_FOLD_BUDGET) <= 0;
    f->ctx->rule_uses[rule]++;
    f->progress = true;
    if (r->rhs)
        remark(f->ctx, f->fn, id, RM_PASSED, "Folded", "{Rule:%s}: {Pattern:%s} is {Result:%s}", r->name, r->lhs,
               r->rhs);
    else
        remark(f->ctx, f->fn, id, RM_PASSED, "Folded", "{Rule:%s}: {What:%s}", r->name, r->lhs);
}

/* -- Constants ------------------------------------------------------------------------------------------ */

// Whether it computes with floating-point numbers; selp only passes them on.
static bool is_float(const Fn *fn, const Desc *d)
{
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    bool found = false;
    for (uint32_t k = 0; k < m->ntypes; k++)
        found |= type_info[m->type[k]].class == TC_F ||
                 (type_info[m->type[k]].class == TC_X && m->type[k] != TY_U16X2 && m->type[k] != TY_S16X2);
    return found && d->op != OP_SELP;
}

static bool evaluate(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX];
    uint32_t rule = coded_rule(f->rules, CODED_CONSTANT);
    bool may = !(d->traits & TR_NOFOLD) && ir_nuse(i) <= EVAL_IN_MAX && may_apply(f, rule) &&
               !(f->no_float && is_float(fn, d));
    const Eval *e = may ? eval_cached(&f->evals, i->desc) : NULL;
    if (!e || e->nin != ir_nuse(i) || e->nout != 1)
        return false;
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        in[k].lo = bits_of_constant(fn, copied_from(f, *ir_use(fn, i, k)));
    eval_run(e, in, out);
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width;
    if (width > W64 || width == W8 || !eval_foldable(e, in, out))
        return false;
    begin_rule(f, rule, id);
    count_readers(f, i, -1);
    instr_replace_by_move(fn, id, op_const(fn, out[0].lo, width));
    return true;
}

/* -- Offsets -------------------------------------------------------------------------------------------- */

// Moves count as sums, since rules look through moves.
static bool is_wide_sum(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    Type type = (Type)tab_mnem(fn->tables, d->mnem)->type[0];
    return (d->op == OP_ADD && (type == TY_S64 || type == TY_U64)) || d->op == OP_MOV;
}

// True if a constant in a sum with the register of use k becomes an offset, as far as this reader is concerned.
static bool takes_offset(const Fold *f, const Instr *i, uint32_t k, bool access, bool sum)
{
    const Fn *fn = f->fn;
    const Desc *d = ir_desc(fn, i);
    const Operand *ops = ir_ops(fn, i);
    if (access && k + 1 < MIN(i->nops, d->nops) && operand_is_base(fn, d, k) && op_kind(ops[k + 1]) == K_IMM)
        return true;
    return sum && op_is_reg(ops[0]) && op_index(ops[0]) < f->nregs && !f->kept[op_index(ops[0])];
}

// Readers are met before definitions, but for those by way of phis, which take no offset.
static void find_kept(Fold *f)
{
    const Fn *fn = f->fn;
    f->kept = NEW_ARRAY(&f->scratch, uint8_t, f->nregs);
    for (uint32_t n = f->a->nrpo; n-- > 0;) {
        for (InstrId id = ir_block(fn, f->a->rpo[n])->last; id; id = ir_instr(fn, id)->prev) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            bool access = role_of(f, i->desc)->accesses && !(i->flags & IF_PINNED);
            bool sum = !access && i->ndef == 1 && !ir_guarded(i) && is_wide_sum(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]) && op_index(ops[k]) < f->nregs && !takes_offset(f, i, k, access, sum))
                    f->kept[op_index(ops[k])] = true;
        }
    }
}

// True if constants in sums with the register become offsets of accesses, all of them. Sums of 32 bits may wrap.
static bool becomes_offset(Fold *f, RegId r)
{
    if (r >= f->nregs || ir_reg(f->fn, r)->width != W64)
        return false;
    if (!f->kept)
        find_kept(f);
    return !f->kept[r];
}

/* -- Matching ------------------------------------------------------------------------------------------- */

static char letter_of(const TypeInfo *t)
{
    return t->class == TC_U ? 'u' : t->class == TC_S ? 's' : t->class == TC_B ? 'b' : t->class == TC_P ? 'p' : 0;
}

static bool fits_type(RuleType t, char letter, uint32_t bits, uint32_t width)
{
    bool number = letter == 's' || letter == 'u';
    bool same = t.letter == 'a' ? number || letter == 'b' : t.letter == 'i' ? number : t.letter == letter;
    return same && (t.letter == 'p' || bits == width << t.times);
}

// Rules whose root an instruction may be, as far as its form says.
static void find_candidates(Fold *f, RootForm *form)
{
    const RuleSet *set = f->rules;
    FoldForms *forms = f->forms;
    form->first = forms->candidates.n;
    for (uint32_t k = set->first[form->op]; k < set->next[form->op]; k++) {
        const Rule *rule = &set->rules[set->by[k]];
        const RuleNode *root = &set->nodes.at[rule->from];
        if (form->cmp != root->cmp)
            continue;
        bool any = root->type[0].letter == 'p';
        uint32_t bits = any ? 0 : form->bits[0] >> root->type[0].times, width = bits == 16 ? 0 : bits == 32 ? 1 : 2;
        bool fits = any || (bits >= 16 && rule->at[width]);
        for (int t = 0; t < 2; t++)
            fits &= !root->type[t].letter || fits_type(root->type[t], form->letter[t], form->bits[t], bits);
        if (fits)
            VEC_PUSH(&f->ctx->arena, &forms->candidates,
                     ((Candidate){.rule = set->by[k],
                                  .bits = (uint8_t)bits,
                                  .commutes = root->commutes,
                                  .same = rule->same,
                                  .need = {rule->need[0], rule->need[1], rule->need[2]}}));
    }
    form->end = forms->candidates.n;
}

// The place of a form, whose candidates are not there yet.
static uint32_t form_place(Fold *f, RootForm *form)
{
    FoldForms *forms = f->forms;
    uint64_t h = hash_mix((uint32_t)form->op << 16 | form->cmp, (uint32_t)form->letter[0] << 8 | form->letter[1]);
    h = hash_mix(h, (uint32_t)form->bits[0] << 8 | form->bits[1]);
    IDSET_EACH(&forms->index, (uint32_t)h, place) {
        const RootForm *other = &forms->forms.at[place];
        if (other->op == form->op && other->cmp == form->cmp && !memcmp(other->letter, form->letter, 2) &&
            !memcmp(other->bits, form->bits, 2))
            return place;
    }
    find_candidates(f, form);
    VEC_PUSH(&f->ctx->arena, &forms->forms, *form);
    idset_add(&forms->index, &f->ctx->arena, (uint32_t)h, forms->forms.n - 1);
    return forms->forms.n - 1;
}

// False: it has modifiers, or types that rules know nothing of.
static bool find_form(const Tables *t, const Desc *d, const Mnem *m, RootForm *form)
{
    if (!d->plain || !(d->traits & TR_PURE) || m->ntypes > 2)
        return false;
    bool may = !tab_str(t, m->suffix).len;
    *form = (RootForm){.op = (uint16_t)d->op, .cmp = m->mod[MC_CMP]};
    for (int k = 0; k < MC_COUNT; k++)
        may &= k == MC_CMP || !m->mod[k];
    for (int k = 0; k < m->ntypes && may; k++) {
        form->letter[k] = letter_of(&type_info[m->type[k]]);
        form->bits[k] = (uint8_t)width_bits(type_info[m->type[k]].width);
        may = form->letter[k] != 0;
    }
    return may;
}

// Not accesses of `.local`: an offset gains nothing there, since ptxas does it anyway, and where it sees the offset of
// a store among accesses that walk it makes up to a twelfth more of the function (tried).
static bool takes_offsets(const Desc *d, const Mnem *m)
{
    return d->traits & (TR_READ | TR_WRITE) && op_info[d->op].ntypes != OP_RAW &&
           mod_space((Mod)m->mod[MC_SPACE]) != SP_LOCAL;
}

static void find_role(Fold *f, DescId desc)
{
    RootForm form;
    const Desc *d = tab_desc(f->fn->tables, desc);
    const Mnem *m = tab_mnem(f->fn->tables, d->mnem);
    while (f->roles.n <= desc)
        VEC_PUSH(&f->scratch, &f->roles, ((Role){0}));
    f->roles.at[desc] = (Role){
        .known = true,
        .op = (uint16_t)d->op,
        .folds = d->traits & TR_PURE && !(d->traits & TR_PSEUDO) && d->op != OP_MOV,
        .accesses = takes_offsets(d, m),
        .from = d->op == OP_MOV ? FROM_MOVE : from_op(d->op, d->op == OP_SETP ? m->mod[MC_CMP] : 0),
        .form = find_form(f->fn->tables, d, m, &form) ? form_place(f, &form) : FORMLESS,
    };
}

static const Role *role_of(Fold *f, DescId desc)
{
    if (desc >= f->roles.n || !f->roles.at[desc].known)
        find_role(f, desc);
    return &f->roles.at[desc];
}

// NULL: it has none.
static const RootForm *form_of(Fold *f, DescId desc)
{
    uint32_t form = role_of(f, desc)->form;
    return form == FORMLESS ? NULL : &f->forms->forms.at[form];
}

static bool match_operand(Fold *f, Match *m, uint16_t node, Operand o, Operand source, bool inner);

static bool match_kids(Fold *f, Match *m, const RuleNode *n, const Instr *i, bool swapped, const Uses *uses)
{
    for (uint32_t k = 0; k < n->nkids; k++) {
        uint32_t at = swapped && k < 2 ? 1 - k : k;
        Operand o = *ir_use(f->fn, i, at);
        if (!match_operand(f, m, n->kids[k], o, uses ? uses->source[at] : copied_from(f, o), !uses))
            return false;
    }
    return true;
}

// `uses`: of the root; NULL for other instructions.
static bool match_instr(Fold *f, Match *m, const RuleNode *n, InstrId id, const Uses *uses)
{
    const Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const RootForm *form = form_of(f, i->desc);
    if (!form || form->op != n->op || form->cmp != n->cmp || i->ndef != 1 || ir_nuse(i) != n->nkids)
        return false;
    for (int k = 0; k < 2; k++)
        if (n->type[k].letter && !fits_type(n->type[k], form->letter[k], form->bits[k], m->bits))
            return false;
    // Registers of conversions may be wider than their types.
    if (form->op == OP_CVT &&
        (!op_is_reg(*ir_use(fn, i, 0)) || form->bits[0] != width_bits(ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width) ||
         form->bits[1] != width_bits(ir_reg(fn, op_index(*ir_use(fn, i, 0)))->width)))
        return false;
    uint32_t values = m->values, constants = m->constants, ninner = m->ninner;
    if (match_kids(f, m, n, i, false, uses))
        return true;
    m->values = values;
    m->constants = constants;
    m->ninner = ninner;
    return n->commutes && match_kids(f, m, n, i, true, uses);
}

static ValueRange range_of(void *user, uint32_t var)
{
    Fold *f = user;
    Operand o = f->match->value[var];
    Known *known = &f->known[(o.word ^ o.word >> 6) % KNOWN];
    if (known->block != f->block || !op_same(known->o, o))
        *known = (Known){o, f->block, value_range(&f->ranges, o, f->block)};
    return known->range;
}

static uint64_t compute(Fold *f, const Match *m, uint16_t code)
{
    RuleValues values;
    values.bits = m->bits;
    values.proving = false;
    values.offset = f->root_offset;
    values.known = 0;
    values.user = f;
    values.of = range_of;
    memcpy(values.constant, m->constant, sizeof values.constant);
    f->match = m;
    return rule_eval(f->rules, code, &values);
}

// `from`: what the operand is a copy of. `inner`: it stands in a definition that the root reads, where only what has
// one value is the same.
static bool match_operand(Fold *f, Match *m, uint16_t node, Operand o, Operand from, bool inner)
{
    const Fn *fn = f->fn;
    const RuleNode *n = &f->rules->nodes.at[node];
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE:
        if (!is_constant(from) && !(inner ? def_of_operand(f, from) : is_plain_register(f, from)))
            return false;
        if (m->values >> n->var & 1)
            return op_same(m->value[n->var], from) && (inner || is_constant(from) || def_of(f->a, op_index(from)));
        m->values |= 1u << n->var;
        m->value[n->var] = from;
        return true;
    case RN_CONST:
        if (!is_constant(from) || (m->constants >> n->var & 1 && m->constant[n->var] != bits_of_constant(fn, from)))
            return false;
        m->constants |= 1u << n->var;
        m->constant[n->var] = bits_of_constant(fn, from);
        return true;
    case RN_EXPR: return is_constant(from) && bits_of_constant(fn, from) == compute(f, m, n->expr);
    case RN_OP: break;
    }
    InstrId def = def_of_operand(f, from);
    if (!def || ir_guarded(ir_instr(fn, def)))
        return false;
    bool single = op_index(from) < f->nregs && f->readers[op_index(from)] == 1 && op_same(from, o);
    if (n->single && !single && !(n->sums && becomes_offset(f, op_index(from))))
        return false;
    if (m->ninner < ARRAY_LEN(m->inner))
        m->inner[m->ninner++] = def;
    return match_instr(f, m, n, def, NULL);
}

/* -- Loops ---------------------------------------------------------------------------------------------- */

// True if an instruction of the pattern is outside of a loop in which a value of the pattern changes: the result would
// compute in the loop what the pattern computes once.
static bool goes_into_loop(Fold *f, const Match *m)
{
    const Fn *fn = f->fn;
    const Analyses *a = NULL;
    for (uint32_t k = 0; k < m->ninner; k++) {
        for (uint32_t var = 0; var < RULE_VARS; var++) {
            if (!(m->values >> var & 1) || !op_is_reg(m->value[var]))
                continue;
            InstrId def = def_of_operand(f, m->value[var]);
            BlockId inner = ir_instr(fn, m->inner[k])->block, b = def ? ir_instr(fn, def)->block : f->block;
            if (b == inner)
                continue;
            if (!a)
                a = analysis_need(f->fn, AN_LOOPS);
            if (!loop_contains(a, loop_of(a, b), inner))
                return true;
        }
    }
    return false;
}

/* -- Results -------------------------------------------------------------------------------------------- */

static uint32_t width_index(const Match *m) { return m->bits == 16 ? 0 : m->bits == 32 ? 1 : 2; }

static DescId desc_of_node(Fold *f, const Match *m, uint16_t node)
{
    const RuleNode *n = &f->rules->nodes.at[node];
    uint16_t width = (uint16_t)width_index(m);
    Made *d = &f->descs[(node * RULE_WIDTHS + width) % DESCS];
    if (!d->desc || d->node != node || d->width != width)
        *d = (Made){node, width, desc_of_mnem(f->fn->tables, &n->mnem[width], n->shape)};
    return d->desc;
}

static Operand build(Fold *f, const Match *m, uint16_t node, Width width);

static uint32_t build_uses(Fold *f, const Match *m, uint16_t node, Operand *uses)
{
    const RuleNode *n = &f->rules->nodes.at[node];
    const Slot *slots = tab_desc(f->fn->tables, desc_of_node(f, m, node))->slots;
    for (uint32_t k = 0; k < n->nkids; k++)
        uses[k] = slot_constant(f->fn, &slots[1 + k], build(f, m, n->kids[k], (Width)slots[1 + k].width));
    return n->nkids;
}

static bool fold_instr(Fold *f, InstrId id);

// An operand for a node: of this width, in front of the root.
static Operand build(Fold *f, const Match *m, uint16_t node, Width width)
{
    Fn *fn = f->fn;
    const RuleNode *n = &f->rules->nodes.at[node];
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE: return m->value[n->var];
    case RN_CONST: return op_const(fn, m->constant[n->var], width);
    case RN_EXPR: return op_const(fn, compute(f, m, n->expr), width);
    case RN_OP: break;
    }
    Operand ops[1 + RULE_KIDS];
    uint32_t nuse = build_uses(f, m, node, ops + 1);
    RegId r = reg_new(fn, width == W1 ? RF_P : RF_R, width);
    ops[0] = op_def(op_reg(fn, r));
    InstrId id = ir_insert_before(fn, first_annotation(fn, f->root), desc_of_node(f, m, node), 0, ops, 1 + nuse);
    ir_instr(fn, id)->line = ir_instr(fn, f->root)->line;
    VEC_PUSH(&f->scratch, &f->from, FROM_ANY);
    note_definition(f, id);
    count_readers(f, ir_instr(fn, id), 1);
    InstrId root = f->root;
    fold_instr(f, id);
    f->root = root;
    return op_reg(fn, r);
}

static void apply(Fold *f, const Match *m, uint32_t number, InstrId id)
{
    Fn *fn = f->fn;
    const Rule *rule = &f->rules->rules[number];
    const RuleNode *to = &f->rules->nodes.at[rule->to];
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, ir_instr(fn, id), 0)))->width;
    begin_rule(f, number, id);
    count_readers(f, ir_instr(fn, id), -1);
    f->root = id;
    if (to->kind == RN_OP) {
        Operand uses[RULE_KIDS];
        uint32_t n = build_uses(f, m, rule->to, uses);
        instr_replace(fn, id, desc_of_node(f, m, rule->to), uses, n);
    } else {
        instr_replace_by_move(fn, id, build(f, m, rule->to, width));
    }
    count_readers(f, ir_instr(fn, id), 1);
}

/* -- Order ---------------------------------------------------------------------------------------------- */

// Of integers: which NaN comes of two may depend on their order.
static bool put_constant_right(Fold *f, InstrId id, const Uses *uses)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    uint32_t rule = coded_rule(f->rules, CODED_ORDER);
    if (!from_constant(uses->from[0]) || from_constant(uses->from[1]) || !(d->traits & TR_COMM) || ir_nuse(i) < 2 ||
        is_float(fn, d) || !may_apply(f, rule))
        return false;
    begin_rule(f, rule, id);
    Operand first = *ir_use(fn, i, 0);
    *ir_use(fn, i, 0) = *ir_use(fn, i, 1);
    *ir_use(fn, i, 1) = first;
    return true;
}

/* -- Conversions ---------------------------------------------------------------------------------------- */

// How many bits an integer conversion takes, and makes; 0 = it is none, or does more than cut and extend.
static uint32_t bits_taken(const Fn *fn, const Instr *i, uint32_t *made)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    if (d->op != OP_CVT || ir_guarded(i) || tab_str(fn->tables, m->suffix).len)
        return 0;
    for (int k = 0; k < MC_COUNT; k++)
        if (m->mod[k])
            return 0;
    const TypeInfo *to = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    bool integers = (to->class == TC_U || to->class == TC_S) && (from->class == TC_U || from->class == TC_S);
    *made = width_bits(to->width);
    return integers ? width_bits(from->width) : 0;
}

// Low bits pass through conversions that have at least as many on both sides.
static bool convert_low_bits(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(f->rules, CODED_CVT_LOW), made, inner_made = 0, taken;
    taken = bits_taken(fn, i, &made);
    if (!taken)
        return false;
    Operand from = copied_from(f, *ir_use(fn, i, 0));
    InstrId def = def_of_operand(f, from);
    uint32_t inner = def ? bits_taken(fn, ir_instr(fn, def), &inner_made) : 0;
    Operand low = inner ? copied_from(f, *ir_use(fn, ir_instr(fn, def), 0)) : op_none();
    if (inner < taken || inner_made < taken || !def_of_operand(f, low) || !may_apply(f, rule))
        return false;
    begin_rule(f, rule, id);
    count_readers(f, i, -1);
    *ir_use(fn, i, 0) = low;
    count_readers(f, i, 1);
    return true;
}

/* -- Tables --------------------------------------------------------------------------------------------- */

// A lop3 that depends on two of its operands at most, which may be so because some are equal or constants.
static bool simplify_table(Fold *f, InstrId id, const Uses *uses)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(f->rules, CODED_TABLE);
    uint8_t of[TRUTH_INPUTS];
    TruthTable result = {0}, source[TRUTH_INPUTS];
    if (!is_constant(*ir_use(fn, i, TRUTH_INPUTS)))
        return false;
    for (uint32_t k = 0; k < TRUTH_INPUTS; k++) {
        if (!op_is_reg(uses->source[k]) && !is_constant(uses->source[k]))
            return false;
        source[k] = truth_of_operand(fn, uses->source[k]);
        truth_add_inputs(&result, &source[k]);
    }
    for (uint32_t k = 0; k < TRUTH_INPUTS; k++)
        of[k] = truth_table_over(&source[k], &result);
    result.table = truth_compose((uint8_t)bits_of_constant(fn, *ir_use(fn, i, TRUTH_INPUTS)), of);
    truth_reduce(&result);
    if (!truth_is_plain(fn, &result) || !may_apply(f, rule))
        return false;
    begin_rule(f, rule, id);
    count_readers(f, i, -1);
    truth_replace(fn, id, &result);
    count_readers(f, ir_instr(fn, id), 1);
    return true;
}

/* -- Floats --------------------------------------------------------------------------------------------- */

// Division by a power of two whose reciprocal is no subnormal, either: the quotient and the product are the same number
// in front of the one rounding. A product that is rounded by name is never contracted. NaN of f32 is canonical.
static bool multiply_by_reciprocal(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    uint32_t rule = coded_rule(f->rules, CODED_RECIPROCAL);
    if (m->type[0] != TY_F32 || m->mod[MC_RND] != MOD_RN || f->no_float || !may_apply(f, rule))
        return false;
    Operand uses[2] = {*ir_use(fn, i, 0), copied_from(f, *ir_use(fn, i, 1))};
    uint64_t bits = is_constant(uses[1]) ? bits_of_constant(fn, uses[1]) : 0;
    uint32_t exponent = bits >> 23 & 0xff;
    if (bits & 0x7fffff || exponent < 1 || exponent > 253)
        return false;
    begin_rule(f, rule, id);
    count_readers(f, i, -1);
    uses[1] = op_const(fn, (bits & 0x80000000) | (uint64_t)(254 - exponent) << 23, W32);
    Mod ftz = m->mod[MC_FTZ] ? MOD_FTZ : MOD_NONE;
    instr_replace(fn, id, desc_make(fn->tables, OP_MUL, TY_F32, .mods = {MOD_RN, ftz}), uses, 2);
    count_readers(f, ir_instr(fn, id), 1);
    return true;
}

/* -- Addresses ------------------------------------------------------------------------------------------ */

// The base and the constant that the only definition of an address adds to it.
static bool is_sum(const Fold *f, Operand o, Operand *base, int64_t *more)
{
    const Fn *fn = f->fn;
    Operand from = copied_from(f, o);
    InstrId def = def_of_operand(f, from);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    const Mnem *m = i ? tab_mnem(fn->tables, ir_desc(fn, i)->mnem) : NULL;
    if (!i || ir_desc(fn, i)->op != OP_ADD || ir_guarded(i) || ir_reg(fn, op_index(from))->width != W64 ||
        (m->type[0] != TY_S64 && m->type[0] != TY_U64))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        Operand a = copied_from(f, *ir_use(fn, i, k)), b = copied_from(f, *ir_use(fn, i, 1 - k));
        if (is_constant(b) && def_of_operand(f, a)) {
            *base = a;
            *more = (int64_t)bits_of_constant(fn, b);
            return true;
        }
    }
    return false;
}

static bool fold_address(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    uint32_t rule = coded_rule(f->rules, CODED_ADDRESS);
    bool progress = false;
    if (i->flags & IF_PINNED)
        return false;
    for (uint32_t k = i->ndef; k + 1 < MIN(i->nops, d->nops); k++) {
        Operand *base = ir_ops(fn, i) + k, *offset = base + 1, from;
        int64_t more, sum;
        if (!is_plain_register(f, *base) || op_kind(*offset) != K_IMM || !operand_is_base(fn, d, k) ||
            !is_sum(f, *base, &from, &more))
            continue;
        if (__builtin_add_overflow(const_signed(tab_const(fn->tables, op_index(*offset))), more, &sum) ||
            sum >= OFFSET_MAX || sum <= -OFFSET_MAX || !may_apply(f, rule))
            continue;
        begin_rule(f, rule, id);
        count_reader(f, *base, -1);
        *base = from;
        *offset = op_const(fn, (uint64_t)sum, W64);
        count_reader(f, *base, 1);
        progress = true;
    }
    return progress;
}

/* -- Guards --------------------------------------------------------------------------------------------- */

// Whether an instruction may lose its guard, or go for good. Terminators are for branch_opt.c; in ssa form old values
// would have to be passed on; and a note in front would be about what comes next.
static bool may_lose_guard(const Fn *fn, InstrId id, bool goes)
{
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    if (d->traits & TR_TERM || d->op == OP_OPAQUE || i->flags & (IF_PINNED | IF_TIED))
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && op_file(*ir_def(fn, i, k)) == RF_CC)
            return false;
    return !goes || (d->op != OP_CALL && first_annotation(fn, id) == id);
}

// What stands behind the instruction is the next to be looked at, whatever becomes of it.
static bool fold_guard(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(f->rules, CODED_GUARD);
    Operand guard = *ir_guard(fn, i), known = copied_from(f, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT});
    if (!is_constant(known))
        return false;
    bool runs = (bits_of_constant(fn, known) != 0) != ((guard.mods & OPM_NOT) != 0);
    if (!may_lose_guard(fn, id, !runs) || !may_apply(f, rule))
        return false;
    begin_rule(f, rule, id);
    count_readers(f, i, -1);
    if (!runs) {
        ir_remove(fn, id);
        return true;
    }
    i->nops--;
    i->flags &= (uint8_t)~IF_GUARDED;
    count_readers(f, i, 1);
    note_definition(f, id);
    return true;
}

/* -- The walk ------------------------------------------------------------------------------------------- */

static bool comes_from(uint32_t need, uint32_t from)
{
    return need == FROM_ANY || need == from || (need == FROM_CONSTANT && from == FROM_ZERO);
}

// Whether the first operands of the root may be what the rule wants them to be.
static inline bool may_match(const Candidate *c, const Uses *uses)
{
    const uint32_t *from = uses->from;
    bool fits = (comes_from(c->need[0], from[0]) && comes_from(c->need[1], from[1])) ||
                (c->commutes && comes_from(c->need[0], from[1]) && comes_from(c->need[1], from[0]));
    return fits && comes_from(c->need[2], from[2]) && (!c->same || uses->same);
}

// True if the condition of a rule holds for the match.
static bool holds(Fold *f, const Match *m, const Rule *rule, InstrId id)
{
    if (rule->offset)
        f->root_offset = becomes_offset(f, op_index(*ir_def(f->fn, ir_instr(f->fn, id), 0)));
    return compute(f, m, rule->when) != 0;
}

static bool try_rules(Fold *f, InstrId id, const Uses *uses)
{
    const Fn *fn = f->fn;
    const RootForm *form = form_of(f, ir_instr(fn, id)->desc);
    if (!form)
        return false;
    Match m;
    for (uint32_t k = form->first, end = form->end; k < end; k++) {
        if (!may_match(&f->forms->candidates.at[k], uses))
            continue;
        Candidate c = f->forms->candidates.at[k];
        const Rule *rule = &f->rules->rules[c.rule];
        const RuleNode *root = &f->rules->nodes.at[rule->from];
        if (!may_apply(f, c.rule))
            continue;
        for (m.bits = c.bits ? c.bits : 16; m.bits <= 64; m.bits *= 2) {
            m.values = m.constants = m.ninner = 0;
            uint32_t w = width_index(&m);
            if (rule->at[w] && module_takes(fn->module, rule->needs[w]) && match_instr(f, &m, root, id, uses) &&
                !(rule->deep && goes_into_loop(f, &m)) && (!rule->when || holds(f, &m, rule, id))) {
                apply(f, &m, c.rule, id);
                return true;
            }
            if (c.bits || !rule->widths)
                break;
        }
    }
    return false;
}

// Whether an instruction is what rules are about: it computes one register from operands.
static bool may_fold(Fold *f, const Instr *i)
{
    return role_of(f, i->desc)->folds && i->ndef == 1 && !(i->flags & IF_PINNED) &&
           is_plain_register(f, *ir_def(f->fn, i, 0));
}

static bool fold_instr(Fold *f, InstrId id)
{
    bool progress = false;
    Uses uses = {0};
    for (int k = 0; k < AGAIN && may_fold(f, ir_instr(f->fn, id)); k++) {
        Opcode op = role_of(f, ir_instr(f->fn, id)->desc)->op;
        bool constant = look_at_uses(f, ir_instr(f->fn, id), &uses);
        if (!(constant && evaluate(f, id)) && !try_rules(f, id, &uses) && !put_constant_right(f, id, &uses) &&
            !(op == OP_CVT && convert_low_bits(f, id)) && !(op == OP_DIV && multiply_by_reciprocal(f, id)) &&
            !(op == OP_LOP3 && simplify_table(f, id, &uses)))
            break;
        note_definition(f, id);
        progress = true;
    }
    return progress;
}

// The rules that are off in this function; NULL: none is.
static bool *find_off(Fold *f)
{
    char why[500];
    const char *names = knob_str(&f->ctx->knobs, KNOB_FOLD_RULES_OFF);
    if (!names)
        return f->ctx->rules_off;
    bool *off = NEW_ARRAY(&f->scratch, bool, f->rules->n + 1);
    rules_find(names, off, why);  // it was looked at when it was read
    for (uint32_t k = 1; k <= f->rules->n && f->ctx->rules_off; k++)
        off[k] |= f->ctx->rules_off[k];
    return off;
}

// Readers and definitions of what is reachable, in layout order.
static void note_all(Fold *f)
{
    const Fn *fn = f->fn;
    FOR_BLOCKS(fn, b) {
        InstrId first = f->a->rpo_index[b] != UINT32_MAX ? ir_block(fn, b)->first : 0;
        for (InstrId id = first; id; id = instr_behind(fn, id)) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            uint32_t from = ir_guarded(i) ? FROM_ANY : role_of(f, i->desc)->from;
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(ops[k]) && def_of(f->a, op_index(ops[k])) == id)
                    f->from.at[op_index(ops[k])] = from;
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]))
                    f->readers[op_index(ops[k])] += f->readers[op_index(ops[k])] != READERS_MANY;
        }
    }
}

bool phase_fold(Ctx *ctx, Fn *fn)
{
    Fold f = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF), .nregs = fn->regs.n};
    arena_init(&f.scratch, &ctx->heap);
    eval_cache_init(&f.evals, fn->tables, &f.scratch);
    f.rules = rules_of(ctx);
    f.off = find_off(&f);
    f.spent = knob_left(&ctx->knobs, KNOB_FOLD_BUDGET) <= 0;
    f.no_float = knob_is_set(&ctx->knobs, KNOB_LIMIT_FOLD_FP);
    if (!ctx->fold_forms)
        ctx->fold_forms = NEW(&ctx->arena, FoldForms);
    f.forms = ctx->fold_forms;
    f.readers = NEW_ARRAY(&f.scratch, uint8_t, f.nregs);
    f.from.at = NEW_ARRAY(&f.scratch, uint32_t, f.nregs);
    f.from.n = f.from.cap = f.nregs;
    note_all(&f);
    value_ranges_init(&f.ranges, fn, f.a, false, &f.evals, &f.scratch);
    for (uint32_t k = 0; k < f.a->nrpo; k++) {
        f.block = f.a->rpo[k];
        BlockId ahead = f.a->rpo[MIN(k + AHEAD, f.a->nrpo - 1)];
        __builtin_prefetch(ir_instr(fn, ir_block(fn, ahead)->first));
        for (InstrId id = ir_block(fn, f.block)->first, next; id; id = next) {
            next = instr_behind(fn, id);
            const Instr *i = ir_instr(fn, id);
            if (ir_guarded(i) && fold_guard(&f, id) && !i->block)
                continue;
            const Role role = *role_of(&f, i->desc);
            if (role.folds)
                f.progress |= fold_instr(&f, id);
            if (role.accesses)
                f.progress |= fold_address(&f, id);
        }
    }
    arena_free(&f.scratch);
    return f.progress;
}
