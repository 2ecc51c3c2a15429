// SPDX-License-Identifier: MIT
// Scans a caller whose calls are to be inlined: the accesses of each call sequence, the uses of parameters by calls,
// and the names in use.
#include "ir/rewrite/inline_internal.h"

bool is_param_access(const Fn *fn, const Desc *d)
{
    Mod space = (Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE];
    return (d->op == OP_LD || d->op == OP_ST) && (space == MOD_PARAM || space == MOD_PARAM_FUNC);
}

// Returns the number of bytes that an access reads or writes.
static uint32_t access_bytes(const Fn *fn, const Instr *i)
{
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    return width_bits(type_info[m->type[0]].width) / 8 * access_elements(m);
}

/* -- The operands of a call ----------------------------------------------------------------------------- */

void visit_passed(const Fn *fn, const Instr *call, PassedVisit *visit, void *user)
{
    const Desc *d = ir_desc(fn, call);
    Str shape = tab_str(fn->tables, d->shape);
    const Operand *ops = ir_ops(fn, call);
    uint32_t k = 0, formal = 0;
    bool inside = false, behind = false;  // a list; the callee
    for (const char *p = shape.text, *end = p + shape.len; p < end; p++) {
        inside = *p == '(' || (inside && *p != ')');
        formal = *p == '(' ? 0 : formal;
        if (*p != '%' && *p != '$')
            continue;
        if (inside)
            visit(user, !behind, formal++, ops[k]);
        else
            behind = true;
        k++;
    }
}

SymId formal_at(const Fn *fn, bool result, uint32_t k)
{
    const Sig *sig = &fn->sig;
    return k >= (result ? sig->nrets : sig->nparams) ? 0 : (result ? sig->rets : sig->params)[k];
}

bool stops_grid(const Fn *fn, const Instr *i)
{
    static const char assertion[] = "__assertfail";
    const Desc *d = ir_desc(fn, i);
    SymId callee = d->op == OP_CALL ? ir_callee(fn, i) : 0;
    if (ir_guarded(i) || (!callee && d->op != OP_TRAP))
        return false;
    char name[sizeof assertion + 12];
    const Sym *s = callee ? ir_sym(fn, callee) : NULL;
    return !s || (!(s->flags & SYM_DEFINED) &&
                  strcmp(name_text(&fn->module->tables, s->name, name, sizeof name), assertion) == 0);
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static UsedName *find_name(const Inliner *in, Name name)
{
    IDSET_EACH(&in->name_index, name_hash(name), id) {
        if (name_same(in->names.at[id].name, name))
            return &in->names.at[id];
    }
    return NULL;
}

static void use_name(Inliner *in, Name name)
{
    if (!name.stem || find_name(in, name))
        return;
    idset_add(&in->name_index, &in->scratch, name_hash(name), in->names.n);
    VEC_PUSH(&in->scratch, &in->names, ((UsedName){name, 1}));
}

static bool is_free(const Inliner *in, Name name) { return !find_name(in, name) && !module_find(in->fn->module, name); }

Name unique_name(Inliner *in, Name name)
{
    bool free = is_free(in, name);
    use_name(in, name);
    if (free)
        return name;
    char text[600];
    size_t n = strlen(name_text(in->fn->tables, name, text, sizeof text - 1));
    text[n] = '_';
    Name unique = {str_intern(&in->fn->tables->strs, text, n + 1), find_name(in, name)->next};
    while (!is_free(in, unique))
        unique.number++;
    find_name(in, name)->next = unique.number + 1;
    use_name(in, unique);
    return unique;
}

/* -- Scanning the caller -------------------------------------------------------------------------------- */

SymbolUses *uses_of(Inliner *in, SymId s)
{
    while (in->uses.n <= local_index(s))
        VEC_PUSH(&in->scratch, &in->uses, (SymbolUses){0});
    return &in->uses.at[local_index(s)];
}

static void note_passed(void *user, bool result, uint32_t formal, Operand o)
{
    (void)formal;
    if (op_kind(o) != K_SYM || !(op_index(o) & SYM_LOCAL))
        return;
    SymbolUses *uses = uses_of(user, op_index(o));
    *(result ? &uses->results : &uses->arguments) += 1;
}

// True if the stores of a call's sequence cover all bytes of a symbol.
static bool is_stored_whole(const Inliner *in, uint32_t sequence, SymId sym)
{
    enum { BYTES = 64 };
    const Fn *fn = in->fn;
    uint64_t size = ir_sym(fn, sym)->size, covered = 0;
    if (size > BYTES || !sequence)
        return false;
    FOR_SEQUENCE(in, sequence, access)
    {
        const Instr *i = ir_instr(fn, access->id);
        uint32_t bytes = access_bytes(fn, i);
        uint64_t at = tab_const(fn->tables, op_index(*ir_use(fn, i, 1))).bits;
        if (ir_desc(fn, i)->op != OP_ST || op_index(*ir_use(fn, i, 0)) != sym || ir_guarded(i) || at >= size)
            continue;
        covered |= (bytes >= BYTES ? UINT64_MAX : ((uint64_t)1 << bytes) - 1) << at;
    }
    uint64_t all = size == BYTES ? UINT64_MAX : ((uint64_t)1 << size) - 1;
    return (covered & all) == all;
}

typedef struct PassedOf {
    Inliner *in;
    InstrId id;
    const Instr *call;
} PassedOf;

static void judge_passed(void *user, bool result, uint32_t formal, Operand o)
{
    (void)formal;
    const PassedOf *p = user;
    if (op_kind(o) != K_SYM || !(op_index(o) & SYM_LOCAL))
        return;
    SymbolUses *uses = uses_of(p->in, op_index(o));
    uses->maybe |= result && ir_guarded(p->call);
    uses->twice |= uses->call == p->id;
    uses->call = p->id;
    uses->partial |= !result && !is_stored_whole(p->in, p->call->callseq, op_index(o));
}

void judge_calls(Inliner *in, BlockId b)
{
    FOR_INSTRS(in->fn, b, id) {
        const Instr *i = ir_instr(in->fn, id);
        if (ir_desc(in->fn, i)->op == OP_CALL)
            visit_passed(in->fn, i, judge_passed, &(PassedOf){in, id, i});
    }
}

// Marks the parameters of calls that an instruction names, except as the base of an access in a call sequence.
static void note_loose(Inliner *in, const Instr *i)
{
    Fn *fn = in->fn;
    const Desc *d = ir_desc(fn, i);
    if (d->op == OP_CALL)
        return;
    bool access = is_param_access(fn, d) && i->callseq;
    uint32_t base = i->ndef;  // the first use
    for (uint32_t k = 0; k < i->nops; k++) {
        Operand o = ir_ops(fn, i)[k];
        if (op_kind(o) == K_SYM && op_index(o) & SYM_LOCAL && !(access && k == base))
            uses_of(in, op_index(o))->loose = true;
    }
}

static CallSequence *sequence_at(Inliner *in, uint32_t number)
{
    while (in->sequences.n <= number)
        VEC_PUSH(&in->scratch, &in->sequences, (CallSequence){0});
    return &in->sequences.at[number];
}

void index_block(Inliner *in, BlockId b)
{
    Fn *fn = in->fn;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        CallSequence *s = sequence_at(in, i->callseq);
        bool call = ir_desc(fn, i)->op == OP_CALL;
        while (in->place.n <= id)
            VEC_PUSH(&in->scratch, &in->place, 0);
        in->place.at[id] = ++in->places;
        note_loose(in, i);
        s->calls += call;
        if (call)
            visit_passed(fn, i, note_passed, in);
        if (call || !i->callseq || !is_param_access(fn, ir_desc(fn, i)))
            continue;
        VEC_PUSH(&in->scratch, &in->accesses, ((CallAccess){id, s->first}));
        s->first = in->accesses.n - 1;
    }
}

void inline_begin(Inliner *in, Fn *fn)
{
    *in = (Inliner){.fn = fn};
    arena_init(&in->scratch, fn->arena.heap);
    VEC_PUSH(&in->scratch, &in->accesses, (CallAccess){0});
    FOR_BLOCKS(fn, b)
        index_block(in, b);
    FOR_BLOCKS(fn, b)
        judge_calls(in, b);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        use_name(in, ir_sym(fn, k | SYM_LOCAL)->name);
    FOR_BLOCKS(fn, b)
        use_name(in, ir_block(fn, b)->label);
    for (RegId r = 1; r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED)
            use_name(in, ir_reg(fn, r)->name);
}

void inline_end(Inliner *in)
{
    Fn *fn = in->fn;
    uint32_t n = 0;
    if (in->inlined) {
        FOR_BLOCKS(fn, b)
            ir_block(fn, b)->source = n++;
        analysis_drop(fn, 0);
    }
    arena_free(&in->scratch);
}
