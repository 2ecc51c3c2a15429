// SPDX-License-Identifier: MIT
// Matches rules: finds the rules whose root may match an instruction, binds the letters of their patterns, and builds
// their results.
//
// Rules are found by the form of the root (opcode, comparison, types) and by the forms of the instructions that define
// its operands. The rules that may match are found once in a context for each combination that occurs: the states of a
// tree automaton of depth two, made on demand. Matching follows definitions and ignores positions: in multi form it
// follows only registers with one unguarded definition that dominates their uses.
#include "phases/scalar/fold/fold.h"

/* -- Offsets -------------------------------------------------------------------------------------------- */

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
            const Role *role = fold_role(f, i->desc);
            uint32_t bases = role->offsets && !(i->flags & IF_PINNED) ? role->bases : 0;
            bool sum = role->sums && i->ndef == 1 && !ir_guarded(i) && op_is_reg(ops[0]);
            if (sum && op_index(ops[0]) < f->nregs && !f->kept[op_index(ops[0])])
                continue;
            for (uint32_t k = i->ndef; k < i->nops; k++, bases >>= 1)
                if (op_is_reg(ops[k]) && op_index(ops[k]) < f->nregs && !(bases & 1 && op_kind(ops[k + 1]) == K_IMM))
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

/* -- Sums ----------------------------------------------------------------------------------------------- */

// True if a use is an operand of a sum, is scaled by a constant as an index, or is the base of an address.
static bool is_added(const Fn *fn, const Instr *i, uint32_t use)
{
    const Desc *d = ir_desc(fn, i);
    switch (d->op) {
    case OP_ADD:
    case OP_SUB: return true;
    case OP_SHL:
    case OP_MUL_LO: return use == i->ndef && op_kind(*ir_use(fn, i, 1)) == K_IMM;
    case OP_MAD_LO: return use == i->ndef + 2u || (use == i->ndef && op_kind(*ir_use(fn, i, 1)) == K_IMM);
    default: return operand_is_base(fn, d, use);
    }
}

static bool is_defined_in(const Fold *f, RegId r, BlockId block)
{
    InstrId def = def_of(f->a, r);
    return def && ir_instr(f->fn, def)->block == block;
}

// Finds registers with a use that is neither a sum, an index nor an address of their block, also through moves. In
// another block, ptxas extends the sign where it adds, but keeps a value without a sign in two registers (a kernel of
// bitsandbytes has 417 SASS instructions instead of 412). The walk visits uses before definitions, except inputs of
// phis; a phi is neither.
static void find_not_added(Fold *f)
{
    const Fn *fn = f->fn;
    f->not_added = NEW_ARRAY(&f->scratch, uint8_t, f->nregs);
    for (uint32_t n = f->a->nrpo; n-- > 0;) {
        FOR_INSTRS_BACK(fn, f->a->rpo[n], id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            bool copies = ir_desc(fn, i)->op == OP_MOV && i->ndef == 1 && op_is_reg(ops[0]) &&
                          op_index(ops[0]) < f->nregs && !f->not_added[op_index(ops[0])];
            for (uint32_t k = i->ndef; k < i->nops && !copies; k++)
                if (op_is_reg(ops[k]) && op_index(ops[k]) < f->nregs &&
                    !(is_added(fn, i, k) && is_defined_in(f, op_index(ops[k]), i->block)))
                    f->not_added[op_index(ops[k])] = true;
        }
    }
}

void fold_forget_uses(Fold *f) { f->kept = f->not_added = NULL; }

// A sum is the only use of an extension that a rule has made.
static bool is_only_added(Fold *f, RegId r)
{
    if (r >= f->nregs)
        return true;
    if (!f->not_added)
        find_not_added(f);
    return !f->not_added[r];
}

/* -- Matching ------------------------------------------------------------------------------------------- */

static uint32_t width_index(uint32_t bits) { return bits == 16 ? 0 : bits == 32 ? 1 : 2; }

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

// True if an instruction of a form may match a node at a width.
static bool fits_form(const RuleNode *n, const InstrForm *form, uint32_t bits)
{
    if (form->op != n->op || form->cmp != n->cmp || form->nuse != n->nkids)
        return false;
    for (int k = 0; k < 2; k++)
        if (n->type[k].letter && !fits_type(n->type[k], form->letter[k], form->bits[k], bits))
            return false;
    return true;
}

// True if an operand from this source may match a node.
static bool fits_source(const FoldForms *forms, const RuleNode *n, uint32_t from, uint32_t bits)
{
    switch (n->from) {
    case FROM_ANY: return true;
    case FROM_OP: return from >= FROM_OP && fits_form(n, &forms->forms.at[from - FROM_OP], bits);
    default: return from == n->from || (n->from == FROM_CONSTANT && from == FROM_ZERO);
    }
}

// Adds the candidate of a rule at a width, if the root may match. Another root of the same key may have a fourth
// operand from another source.
static void find_candidate(Fold *f, uint16_t number, uint32_t form, const Uses *uses, uint32_t bits)
{
    FoldForms *forms = f->forms;
    const Rule *rule = &fold_rules.rules[number];
    const RuleNode *root = &fold_rules.nodes[rule->from];
    if (!rule->at[width_index(bits)] || !fits_form(root, &forms->forms.at[form], bits) || (rule->same && !uses->same))
        return;
    Candidate c = {number, (uint8_t)bits, true, root->commutes};
    for (uint32_t k = 0; k < MIN(root->nkids, KEYED); k++) {
        const RuleNode *kid = &fold_rules.nodes[root->kids[k]];
        c.in_order &= fits_source(forms, kid, uses->of[k].from, bits);
        c.exchanged &= fits_source(forms, kid, uses->of[k < 2 ? 1 - k : k].from, bits);
    }
    if (c.in_order || c.exchanged)
        VEC_PUSH(&f->ctx->arena, &forms->candidates, c);
}

// Finds the rules that may match a root. A root that is a predicate determines no width.
static void find_candidates(Fold *f, uint32_t form, const Uses *uses, Root *root)
{
    FoldForms *forms = f->forms;
    Opcode op = (Opcode)forms->forms.at[form].op;
    root->first = forms->candidates.n;
    for (uint32_t k = fold_rules.first[op]; k < fold_rules.next[op]; k++) {
        const Rule *rule = &fold_rules.rules[fold_rules.by[k]];
        bool any = fold_rules.nodes[rule->from].type[0].letter == 'p' && !rule->widths;
        for (uint32_t bits = 16; bits <= (any ? 16 : 64); bits *= 2)
            find_candidate(f, fold_rules.by[k], form, uses, bits);
    }
    root->end = forms->candidates.n;
}

// Returns the rules that may match an instruction of a form.
static Root find_root(Fold *f, uint32_t form, const Uses *uses)
{
    FoldForms *forms = f->forms;
    Root root = {.key = (uint64_t)form << 49 | (uint64_t)uses->same << 48 | (uint64_t)uses->of[0].from << 32 |
                        (uint64_t)uses->of[1].from << 16 | uses->of[2].from};
    uint32_t h = (uint32_t)hash_mix(root.key, 0);
    IDSET_EACH(&forms->root_index, h, place) {
        if (forms->roots.at[place].key == root.key)
            return forms->roots.at[place];
    }
    find_candidates(f, form, uses, &root);
    VEC_PUSH(&f->ctx->arena, &forms->roots, root);
    idset_add(&forms->root_index, &f->ctx->arena, h, forms->roots.n - 1);
    return root;
}

// Returns the index of a form, FORMLESS if there are too many.
static uint32_t form_place(Fold *f, const InstrForm *form)
{
    FoldForms *forms = f->forms;
    uint64_t h = hash_mix((uint32_t)form->op << 16 | form->cmp, (uint32_t)form->letter[0] << 8 | form->letter[1]);
    h = hash_mix(h, (uint32_t)form->nuse << 16 | (uint32_t)form->bits[0] << 8 | form->bits[1]);
    IDSET_EACH(&forms->form_index, (uint32_t)h, place) {
        const InstrForm *other = &forms->forms.at[place];
        if (other->op == form->op && other->cmp == form->cmp && !memcmp(other->letter, form->letter, 2) &&
            !memcmp(other->bits, form->bits, 2) && other->nuse == form->nuse)
            return place;
    }
    if (forms->forms.n == FORMS)
        return FORMLESS;
    VEC_PUSH(&f->ctx->arena, &forms->forms, *form);
    idset_add(&forms->form_index, &f->ctx->arena, (uint32_t)h, forms->forms.n - 1);
    return forms->forms.n - 1;
}

// Finds the form of a descriptor. False: it has modifiers, types that no pattern has, or several results.
static bool find_form(const Tables *t, const Desc *d, const Mnem *m, InstrForm *form)
{
    if (!d->plain || !(d->traits & TR_PURE) || m->ntypes > 2 || d->ndef != 1 || d->nops > 1 + RULE_KIDS)
        return false;
    bool may = !tab_str(t, m->suffix).len;
    *form = (InstrForm){.op = (uint16_t)d->op, .cmp = m->mod[MC_CMP], .nuse = (uint8_t)(d->nops - 1)};
    for (int k = 0; k < MC_COUNT; k++)
        may &= k == MC_CMP || !m->mod[k];
    for (int k = 0; k < m->ntypes && may; k++) {
        form->letter[k] = letter_of(&type_info[m->type[k]]);
        form->bits[k] = (uint8_t)width_bits(type_info[m->type[k]].width);
        may = form->letter[k] != 0;
    }
    return may;
}

// False for accesses to `.local`. There an offset gains nothing, since ptxas folds the sum itself. If one of several
// accesses through a moving pointer is a store with an offset, ptxas makes up to a twelfth more instructions (tried).
static bool takes_offsets(const Mnem *m) { return mod_space((Mod)m->mod[MC_SPACE]) != SP_LOCAL; }

// Returns a bit for each use that is the base of an address with an offset.
static uint32_t find_bases(const Fn *fn, const Desc *d)
{
    uint32_t bases = 0;
    for (uint32_t k = d->ndef; k + 1 < d->nops && k - d->ndef < 32; k++)
        bases |= (uint32_t)operand_is_base(fn, d, k) << (k - d->ndef);
    return bases;
}

void fold_start_roles(Fold *f)
{
    FoldForms *forms = f->forms;
    DescId own = f->fn->tables->desc_first;
    forms->roles.n = forms->module == f->fn->module ? MIN(forms->roles.n, MIN(own, forms->own)) : 0;
    forms->module = f->fn->module;
    forms->own = own;
}

const Role *fold_find_role(Fold *f, DescId desc)
{
    InstrForm form;
    const Desc *d = tab_desc(f->fn->tables, desc);
    const Mnem *m = tab_mnem(f->fn->tables, d->mnem);
    uint32_t place = find_form(f->fn->tables, d, m, &form) ? form_place(f, &form) : FORMLESS;
    bool accesses = d->traits & (TR_READ | TR_WRITE) && op_info[d->op].ntypes != OP_RAW;
    while (f->forms->roles.n <= desc)
        VEC_PUSH(&f->ctx->arena, &f->forms->roles, (Role){0});
    Role *role = &f->forms->roles.at[desc];
    *role = (Role){
        .known = true,
        .folds = d->traits & TR_PURE && !(d->traits & TR_PSEUDO) && d->op != OP_MOV,
        .accesses = accesses,
        .offsets = accesses && takes_offsets(m),
        .skims = place == FORMLESS && d->op != OP_CVT && d->op != OP_DIV && d->op != OP_LOP3,
        .sums = d->op == OP_MOV || (d->op == OP_ADD && (m->type[0] == TY_S64 || m->type[0] == TY_U64)),
        .op = (uint16_t)d->op,
        .bases = accesses ? find_bases(f->fn, d) : 0,
        .from = d->op == OP_MOV     ? FROM_MOVE
                : place == FORMLESS ? FROM_ANY
                                    : FROM_OP + place,
        .form = place,
    };
    return role;
}

static bool match_operand(Fold *f, Match *m, uint16_t node, const Use *use, bool inner);

// Matches the operands of an instruction with the kids of a node. `uses` describes the operands of the root; NULL for
// an inner instruction.
static bool match_kids(Fold *f, Match *m, const RuleNode *n, const Instr *i, bool exchanged, const Uses *uses)
{
    const Operand *ops = ir_use(f->fn, i, 0);
    for (uint32_t k = 0; k < n->nkids; k++) {
        uint32_t at = exchanged && k < 2 ? 1 - k : k;
        Use found;
        if (!uses)
            found = find_use(f, ops[at]);
        if (!match_operand(f, m, n->kids[k], uses ? &uses->of[at] : &found, !uses))
            return false;
    }
    return true;
}

// Matches the operands of an instruction of a form that fits the node: in order, with the first two exchanged, or
// both. `uses` describes the operands of the root; NULL for an inner instruction.
static bool match_instr(Fold *f, Match *m, const RuleNode *n, const Instr *i, bool in_order, bool exchanged,
                        const Uses *uses)
{
    const Fn *fn = f->fn;
    // Registers of conversions may be wider than their types.
    if (n->op == OP_CVT) {
        const Mnem *mnem = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
        if (!op_is_reg(*ir_use(fn, i, 0)) ||
            type_info[mnem->type[0]].width != ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width ||
            type_info[mnem->type[1]].width != ir_reg(fn, op_index(*ir_use(fn, i, 0)))->width)
            return false;
    }
    uint32_t values = m->values, constants = m->constants, ninner = m->ninner;
    if (in_order && match_kids(f, m, n, i, false, uses))
        return true;
    m->values = values;
    m->constants = constants;
    m->ninner = ninner;
    return exchanged && match_kids(f, m, n, i, true, uses);
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

static uint64_t compute(Fold *f, Match *m, uint16_t expr)
{
    f->match = m;
    return rule_eval(expr, &m->numbers);
}

// Matches an operand with a node. `inner`: the operand belongs to an inner instruction, so it must have one definition,
// or its value at the root may differ.
static bool match_operand(Fold *f, Match *m, uint16_t node, const Use *use, bool inner)
{
    const RuleNode *n = &fold_rules.nodes[node];
    Operand from = use->source;
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE:
        if (!from_constant(use->from) && !(inner ? def_of_operand(f, from) : is_plain_register(f, from)))
            return false;
        if (m->values >> n->var & 1)
            return op_same(m->value[n->var], from) && (inner || is_bare_constant(from) || def_of(f->a, op_index(from)));
        m->values |= 1u << n->var;
        m->value[n->var] = from;
        return true;
    case RN_CONST:
        if (!from_constant(use->from) || (m->constants >> n->var & 1 && m->numbers.constant[n->var] != use->constant))
            return false;
        m->constants |= 1u << n->var;
        m->numbers.constant[n->var] = use->constant;
        return true;
    case RN_EXPR:
        return from_constant(use->from) &&
               (n->from == FROM_ZERO ? use->from == FROM_ZERO : use->constant == compute(f, m, n->expr));
    case RN_OP: break;
    }
    InstrId def = def_of_operand(f, from);
    if (!def || !fits_source(f->forms, n, use->from, m->numbers.bits))
        return false;
    bool single = op_index(from) < f->nregs && nuses_of(f->a, op_index(from)) == 1 && op_same(from, use->operand);
    if (n->single && !single && !(n->sums && fold_becomes_offset(f, op_index(from))))
        return false;
    if (m->ninner < ARRAY_LEN(m->inner))
        m->inner[m->ninner++] = def;
    return match_instr(f, m, n, ir_instr(f->fn, def), true, n->commutes, NULL);
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

static DescId desc_of_node(Fold *f, const Match *m, uint16_t node)
{
    const RuleNode *n = &fold_rules.nodes[node];
    uint16_t width = (uint16_t)width_index(m->numbers.bits);
    Made *d = &f->descs[(node * RULE_WIDTHS + width) % DESCS];
    if (!d->desc || d->node != node || d->width != width)
        *d = (Made){node, width, rule_desc(f->fn->tables, n, width)};
    return d->desc;
}

static Operand build_node(Fold *f, Match *m, uint16_t node, Width width);

static uint32_t build_uses(Fold *f, Match *m, uint16_t node, Operand *uses)
{
    const RuleNode *n = &fold_rules.nodes[node];
    const Slot *slots = tab_desc(f->fn->tables, desc_of_node(f, m, node))->slots;
    for (uint32_t k = 0; k < n->nkids; k++)
        uses[k] = slot_constant(f->fn, &slots[1 + k], build_node(f, m, n->kids[k], (Width)slots[1 + k].width));
    return n->nkids;
}

// Returns an operand of this width for a node of the result. Inserts its instructions before the root.
static Operand build_node(Fold *f, Match *m, uint16_t node, Width width)
{
    Fn *fn = f->fn;
    const RuleNode *n = &fold_rules.nodes[node];
    switch ((RuleNodeKind)n->kind) {
    case RN_VALUE: return m->value[n->var];
    case RN_CONST: return op_const(fn, m->numbers.constant[n->var], width);
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
    VEC_PUSH(&f->scratch, &f->copied, op_none());
    fold_note_definition(f, id);
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    InstrId root = f->root;
    f->nested++;
    fold_instr(f, id);
    f->nested--;
    f->root = root;
    return op_reg(fn, r);
}

static void apply_rule(Fold *f, Match *m, uint32_t number, InstrId id)
{
    Fn *fn = f->fn;
    const Rule *rule = &fold_rules.rules[number];
    const RuleNode *to = &fold_rules.nodes[rule->to];
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, ir_instr(fn, id), 0)))->width;
    fold_begin_rule(f, number, id);
    nuses_count_instr(fn, ir_instr(fn, id), -1);
    f->root = id;
    if (to->kind == RN_OP) {
        Operand uses[RULE_KIDS];
        uint32_t n = build_uses(f, m, rule->to, uses);
        instr_replace(fn, id, desc_of_node(f, m, rule->to), uses, n);
    } else {
        instr_replace_by_move(fn, id, build_node(f, m, rule->to, width));
    }
    nuses_count_instr(fn, ir_instr(fn, id), 1);
}

/* -- Rules --------------------------------------------------------------------------------------------- */

// False if a value without a range is compared with a value that is no constant. Conditions on two ranges do not hold
// then, except if the other value has the least or the greatest number as its only value.
static bool may_compare(Fold *f, const Match *m, uint32_t compares)
{
    uint32_t constants = 0, unknown = 0;
    for (; compares; compares &= compares - 1) {
        Operand o = m->value[__builtin_ctz(compares)];
        constants += is_bare_constant(o);
        unknown += value_is_unknown(&f->ranges, o, f->block);
    }
    return !unknown || constants;
}

// True if the condition of a rule holds for the match. How the result is used is computed only where it decides: no
// condition holds because of a use that does not pay.
static bool holds(Fold *f, Match *m, const Rule *rule, InstrId id)
{
    if (rule->compares && !may_compare(f, m, rule->compares))
        return false;
    if (rule->past_calls)
        m->numbers.past_calls = is_past_calls(f, m);
    m->numbers.offset = m->numbers.added = true;
    if (!compute(f, m, rule->when))
        return false;
    if (!rule->offset && !rule->added)
        return true;
    RegId r = op_index(*ir_def(f->fn, ir_instr(f->fn, id), 0));
    m->numbers.offset = !rule->offset || fold_becomes_offset(f, r);
    m->numbers.added = !rule->added || is_only_added(f, r);
    bool applies = compute(f, m, rule->when);
    if (!applies)
        VEC_PUSH(&f->scratch, &f->held, id);
    return applies;
}

bool fold_try_rules(Fold *f, InstrId id, uint32_t form, const Uses *uses)
{
    const Fn *fn = f->fn;
    Match m;
    m.numbers.user = f;
    m.numbers.of = range_of;
    m.numbers.proving = m.numbers.past_calls = false;
    Root root = find_root(f, form, uses);
    for (uint32_t k = root.first; k < root.end; k++) {
        Candidate c = f->forms->candidates.at[k];
        const Rule *rule = &fold_rules.rules[c.rule];
        m.numbers.bits = c.bits;
        m.numbers.known = m.values = m.constants = m.ninner = 0;
        if (may_apply(f, c.rule) && module_takes(fn->module, rule->needs[width_index(c.bits)]) &&
            match_instr(f, &m, &fold_rules.nodes[rule->from], ir_instr(fn, id), c.in_order, c.exchanged, uses) &&
            !(rule->deep && goes_into_loop(f, &m)) && (!rule->when || holds(f, &m, rule, id))) {
            apply_rule(f, &m, c.rule, id);
            return true;
        }
    }
    return false;
}
