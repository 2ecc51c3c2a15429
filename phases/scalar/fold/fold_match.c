// SPDX-License-Identifier: MIT
// Matches rules: finds the rules whose root may match an instruction, binds the letters of their patterns, and builds
// their results.
//
// Rules are found by the form of the root (opcode, comparison, types), once in a context, and by the sources of its
// operands. Matching follows definitions and ignores positions: in multi form it follows only registers with one
// unguarded definition that dominates their uses.
#include "phases/scalar/fold/fold.h"

/* -- Offsets -------------------------------------------------------------------------------------------- */

// True for a 64-bit sum, and for a move, since rules look through moves.
static bool is_wide_sum(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    Type type = (Type)tab_mnem(fn->tables, d->mnem)->type[0];
    return (d->op == OP_ADD && (type == TY_S64 || type == TY_U64)) || d->op == OP_MOV;
}

// True if a constant in a sum with the register of operand k becomes an offset in this use.
static bool takes_offset(const Fold *f, const Instr *i, uint32_t k, bool access, bool sum)
{
    const Fn *fn = f->fn;
    const Desc *d = ir_desc(fn, i);
    const Operand *ops = ir_ops(fn, i);
    if (access && k + 1 < MIN(i->nops, d->nops) && operand_is_base(fn, d, k) && op_kind(ops[k + 1]) == K_IMM)
        return true;
    return sum && op_is_reg(ops[0]) && op_index(ops[0]) < f->nregs && !f->kept[op_index(ops[0])];
}

// Finds registers with a use that takes no offset. The walk visits uses before definitions, except inputs of phis; a
// phi takes no offset.
static void find_kept(Fold *f)
{
    const Fn *fn = f->fn;
    f->kept = NEW_ARRAY(&f->scratch, uint8_t, f->nregs);
    for (uint32_t n = f->a->nrpo; n-- > 0;) {
        for (InstrId id = ir_block(fn, f->a->rpo[n])->last; id; id = ir_instr(fn, id)->prev) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            bool access = fold_role(f, i->desc)->accesses && !(i->flags & IF_PINNED);
            bool sum = !access && i->ndef == 1 && !ir_guarded(i) && is_wide_sum(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]) && op_index(ops[k]) < f->nregs && !takes_offset(f, i, k, access, sum))
                    f->kept[op_index(ops[k])] = true;
        }
    }
}

// Sums of 32 bits may wrap, so they are no offsets.
bool fold_becomes_offset(Fold *f, RegId r)
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

// Finds the rules whose root may have a form.
static void find_candidates(Fold *f, RootForm *form)
{
    const RuleSet *set = &fold_rules;
    FoldForms *forms = f->forms;
    form->first = forms->candidates.n;
    for (uint32_t k = set->first[form->op]; k < set->next[form->op]; k++) {
        const Rule *rule = &set->rules[set->by[k]];
        const RuleNode *root = &set->nodes[rule->from];
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

// Returns the index of a form. Finds the candidates of a new form.
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

// Finds the form of a descriptor. False: it has modifiers, or types that no pattern has.
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

// True for an access except to `.local`. There an offset gains nothing, since ptxas folds the sum itself. If one of
// several accesses through a moving pointer is a store with an offset, ptxas makes up to a twelfth more instructions
// (tried).
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

const Role *fold_role(Fold *f, DescId desc)
{
    if (desc >= f->roles.n || !f->roles.at[desc].known)
        find_role(f, desc);
    return &f->roles.at[desc];
}

// Returns the form of a descriptor; NULL = none.
static const RootForm *form_of(Fold *f, DescId desc)
{
    uint32_t form = fold_role(f, desc)->form;
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

// Matches an instruction with a node. `uses` describes the operands of the root; NULL for an inner instruction.
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
    values.past_calls = f->past_calls;
    values.known = 0;
    values.user = f;
    values.of = range_of;
    memcpy(values.constant, m->constant, sizeof values.constant);
    f->match = m;
    return rule_eval(code, &values);
}

// Matches an operand, whose source is `from`, with a node. `inner`: the operand belongs to an inner instruction, so it
// must have one definition, or its value at the root may differ.
static bool match_operand(Fold *f, Match *m, uint16_t node, Operand o, Operand from, bool inner)
{
    const Fn *fn = f->fn;
    const RuleNode *n = &fold_rules.nodes[node];
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE:
        if (!is_bare_constant(from) && !(inner ? def_of_operand(f, from) : is_plain_register(f, from)))
            return false;
        if (m->values >> n->var & 1)
            return op_same(m->value[n->var], from) && (inner || is_bare_constant(from) || def_of(f->a, op_index(from)));
        m->values |= 1u << n->var;
        m->value[n->var] = from;
        return true;
    case RN_CONST:
        if (!is_bare_constant(from) ||
            (m->constants >> n->var & 1 && m->constant[n->var] != bits_of_constant(fn, from)))
            return false;
        m->constants |= 1u << n->var;
        m->constant[n->var] = bits_of_constant(fn, from);
        return true;
    case RN_EXPR: return is_bare_constant(from) && bits_of_constant(fn, from) == compute(f, m, n->expr);
    case RN_OP: break;
    }
    InstrId def = def_of_operand(f, from);
    if (!def || ir_guarded(ir_instr(fn, def)))
        return false;
    bool single = op_index(from) < f->nregs && f->nuses[op_index(from)] == 1 && op_same(from, o);
    if (n->single && !single && !(n->sums && fold_becomes_offset(f, op_index(from))))
        return false;
    if (m->ninner < ARRAY_LEN(m->inner))
        m->inner[m->ninner++] = def;
    return match_instr(f, m, n, def, NULL);
}

/* -- Loops ---------------------------------------------------------------------------------------------- */

// True if an instruction of the pattern is outside of a loop in which a value of the pattern changes: the result would
// then be computed in each iteration.
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

// True if ptxas calls a function for the instruction: a subroutine, or slow paths of 64-bit division.
static bool calls_function(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    bool divides = d->op == OP_DIV || d->op == OP_REM || d->op == OP_RCP || d->op == OP_SQRT;
    return d->op == OP_CALL || (divides && type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width == W64);
}

// Finds a block with a call in each innermost loop that has a call, at most CALL_LOOPS blocks.
static void find_calls(Fold *f, const Analyses *a)
{
    const Fn *fn = f->fn;
    bool *seen = NEW_ARRAY(&f->scratch, bool, a->loops.n + 1);
    f->calls_found = true;
    FOR_BLOCKS(fn, b) {
        uint32_t loop = loop_of(a, b);
        for (InstrId id = ir_block(fn, b)->first; loop && !seen[loop] && f->ncalls < CALL_LOOPS && id;
             id = instr_after(fn, id)) {
            if (!calls_function(fn, ir_instr(fn, id)))
                continue;
            seen[loop] = true;
            f->calls[f->ncalls++] = b;
        }
    }
}

// True if a loop with a call lies between the inner instruction of the pattern and the root.
static bool is_past_calls(Fold *f, const Match *m)
{
    BlockId from = m->ninner ? ir_instr(f->fn, m->inner[0])->block : f->block;
    if (from == f->block)
        return false;
    const Analyses *a = analysis_need(f->fn, AN_LOOPS | AN_DOM | AN_RPO);
    if (!f->calls_found)
        find_calls(f, a);
    for (uint32_t k = 0; k < f->ncalls; k++) {
        BlockId b = f->calls[k];
        if (dominates(a, from, b) && !loop_contains(a, loop_of(a, b), f->block) &&
            a->rpo_index[b] < a->rpo_index[f->block])
            return true;
    }
    return false;
}

/* -- Results -------------------------------------------------------------------------------------------- */

static uint32_t width_index(const Match *m) { return m->bits == 16 ? 0 : m->bits == 32 ? 1 : 2; }

static DescId desc_of_node(Fold *f, const Match *m, uint16_t node)
{
    const RuleNode *n = &fold_rules.nodes[node];
    uint16_t width = (uint16_t)width_index(m);
    Made *d = &f->descs[(node * RULE_WIDTHS + width) % DESCS];
    if (!d->desc || d->node != node || d->width != width)
        *d = (Made){node, width, rule_desc(f->fn->tables, n, width)};
    return d->desc;
}

static Operand build_node(Fold *f, const Match *m, uint16_t node, Width width);

static uint32_t build_uses(Fold *f, const Match *m, uint16_t node, Operand *uses)
{
    const RuleNode *n = &fold_rules.nodes[node];
    const Slot *slots = tab_desc(f->fn->tables, desc_of_node(f, m, node))->slots;
    for (uint32_t k = 0; k < n->nkids; k++)
        uses[k] = slot_constant(f->fn, &slots[1 + k], build_node(f, m, n->kids[k], (Width)slots[1 + k].width));
    return n->nkids;
}

// Returns an operand of this width for a node of the result. Inserts its instructions before the root.
static Operand build_node(Fold *f, const Match *m, uint16_t node, Width width)
{
    Fn *fn = f->fn;
    const RuleNode *n = &fold_rules.nodes[node];
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
    fold_note_definition(f, id);
    fold_count_uses(f, ir_instr(fn, id), 1);
    InstrId root = f->root;
    fold_instr(f, id);
    f->root = root;
    return op_reg(fn, r);
}

static void apply_rule(Fold *f, const Match *m, uint32_t number, InstrId id)
{
    Fn *fn = f->fn;
    const Rule *rule = &fold_rules.rules[number];
    const RuleNode *to = &fold_rules.nodes[rule->to];
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, ir_instr(fn, id), 0)))->width;
    fold_begin_rule(f, number, id);
    fold_count_uses(f, ir_instr(fn, id), -1);
    f->root = id;
    if (to->kind == RN_OP) {
        Operand uses[RULE_KIDS];
        uint32_t n = build_uses(f, m, rule->to, uses);
        instr_replace(fn, id, desc_of_node(f, m, rule->to), uses, n);
    } else {
        instr_replace_by_move(fn, id, build_node(f, m, rule->to, width));
    }
    fold_count_uses(f, ir_instr(fn, id), 1);
}

/* -- Rules --------------------------------------------------------------------------------------------- */

static bool comes_from(uint32_t need, uint32_t from)
{
    return need == FROM_ANY || need == from || (need == FROM_CONSTANT && from == FROM_ZERO);
}

// True if the sources of the root's first operands permit a match.
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
        f->root_offset = fold_becomes_offset(f, op_index(*ir_def(f->fn, ir_instr(f->fn, id), 0)));
    if (rule->past_calls)
        f->past_calls = is_past_calls(f, m);
    return compute(f, m, rule->when) != 0;
}

bool fold_try_rules(Fold *f, InstrId id, const Uses *uses)
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
        const Rule *rule = &fold_rules.rules[c.rule];
        const RuleNode *root = &fold_rules.nodes[rule->from];
        if (!may_apply(f, c.rule))
            continue;
        for (m.bits = c.bits ? c.bits : 16; m.bits <= 64; m.bits *= 2) {
            m.values = m.constants = m.ninner = 0;
            uint32_t w = width_index(&m);
            if (rule->at[w] && module_takes(fn->module, rule->needs[w]) && match_instr(f, &m, root, id, uses) &&
                !(rule->deep && goes_into_loop(f, &m)) && (!rule->when || holds(f, &m, rule, id))) {
                apply_rule(f, &m, c.rule, id);
                return true;
            }
            if (c.bits || !rule->widths)
                break;
        }
    }
    return false;
}
