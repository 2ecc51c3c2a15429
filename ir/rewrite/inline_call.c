// SPDX-License-Identifier: MIT
// Replaces a call by a copy of the callee's body.
//
// A parameter becomes a `.local` variable of the caller: accesses of `.param` become accesses of this variable with
// the same widths, so promotion of `.local` variables takes it apart. The block is split behind the call, and each `ret`
// of the copy branches there. Thus threads reconverge where they returned.
//
//     st.param.b32 [@a0], R1  #1                st.local.b32 [@a], R1
//     call (@q0), @f, (@a0)   #1          ->    bra b7
//     R2 = ld.param.b32 [@q0] #1                b7: R9 = ld.local.b32 [@a] ...   st.local.b32 [@r], R10; bra b8
//                                               b8: R2 = ld.local.b32 [@r]
//
// A call is inlined only if all accesses of its arguments and results are in its block, stores before it and loads
// behind it. A symbol that several calls share must be stored completely before each of them, since otherwise a callee
// could read what was stored for an earlier call. The result of a guarded call must not be shared, since it keeps its
// old value where the call does not run.
//
// Each path of the callee must reach a `ret`. Otherwise threads that diverge on another path would no longer reconverge
// behind the call. Behind a `trap`, which ends the grid, the copy also branches behind the call.
//
// Local variables of the callee become variables of the caller. A copy that runs again in a loop reads what it wrote
// before, where the callee reads undefined bytes. Two inlined calls never run at the same time unless one contains the
// other, so large variables of calls without inlined calls share storage. Small ones do not, since shared variables are harder to promote.
#include "ir/rewrite/inline_call.h"
#include "ir/analysis/analysis.h"

static uint32_t local_index(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

// True for an access of a parameter of the function or of a call; `.param::entry` is a parameter of the kernel.
static bool is_param_access(const Fn *fn, const Desc *d)
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

// Visits the results and arguments of a call in order; `formal` is the index among the results or parameters.
typedef void PassedVisit(void *user, bool result, uint32_t formal, Operand o);

static void visit_passed(const Fn *fn, const Instr *call, PassedVisit *visit, void *user)
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

// Returns the name if it is free, else `name_1`, `name_2` and so on.
static Name unique_name(Inliner *in, Name name)
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

// Returns the uses of a local symbol.
static SymbolUses *uses_of(Inliner *in, SymId s)
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
    FOR_SEQUENCE(in, sequence, access) {
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

// Judges the arguments and results of the calls in a block, whose instructions are in the tables.
static void judge_calls(Inliner *in, BlockId b)
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

// Enters the instructions of a block into the tables.
static void index_block(Inliner *in, BlockId b)
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

/* -- Obstacles in the callee ---------------------------------------------------------------------------- */

// True if a register is a formal parameter of the function.
static bool is_formal_register(const Fn *fn, const Reg *r)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_FORMAL && s->space == SP_REG && name_same(s->name, r->name))
            return true;
    }
    return false;
}

static const char *register_obstacle(const Fn *fn)
{
    for (RegId k = 1; k < fn->regs.n; k++) {
        const Reg *r = ir_reg(fn, k);
        if (r->flags & (REG_NAMED | REG_PINNED) && !(r->flags & REG_NAMED && is_formal_register(fn, r)))
            return r->flags & REG_NAMED ? "it uses a register of the module"
                                        : "it has instructions that are not modelled";
    }
    return NULL;
}

// True if an instruction stops the grid.
static bool stops_grid(const Fn *fn, const Instr *i)
{
    static const char assertion[] = "__assertfail";
    const Desc *d = ir_desc(fn, i);
    SymId callee = d->op == OP_CALL ? ir_callee(fn, i) : 0;
    if (ir_guarded(i) || (!callee && d->op != OP_TRAP))
        return false;
    char name[sizeof assertion + 12];
    const Sym *s = callee ? ir_sym(fn, callee) : NULL;
    return !s || (!(s->flags & SYM_DEFINED) && strcmp(name_text(&fn->module->tables, s->name, name, sizeof name), assertion) == 0);
}

static bool is_stopped(const Fn *fn, BlockId b)
{
    FOR_INSTRS(fn, b, id)
        if (stops_grid(fn, ir_instr(fn, id)))
            return true;
    return false;
}

// The paths of a callee, by BlockId. Paths end behind an instruction that stops the grid.
typedef struct Paths {
    bool *stopped, *reached, *returns;  // returns: a path leads to `ret`, or is stopped
    BlockId *stack;
    uint32_t n;
} Paths;

static void push_block(Paths *p, bool *set, BlockId b)
{
    if (!set[b])
        p->stack[p->n++] = b;
    set[b] = true;
}

static void find_paths(Fn *fn, Paths *p)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    push_block(p, p->reached, fn->first);
    while (p->n) {
        BlockId b = p->stack[--p->n];
        p->stopped[b] = is_stopped(fn, b);
        if (!p->stopped[b])
            FOR_SUCCS(a, b, s)
                push_block(p, p->reached, *s);
    }
    FOR_BLOCKS(fn, b)
        if (p->reached[b] && (p->stopped[b] || ir_desc(fn, ir_instr(fn, ir_terminator(fn, b)))->op == OP_RET))
            push_block(p, p->returns, b);
    while (p->n) {
        BlockId b = p->stack[--p->n];
        FOR_PREDS(a, b, s)
            if (p->reached[*s] && !p->stopped[*s])
                push_block(p, p->returns, *s);
    }
}

static const char *path_obstacle(Fn *fn)
{
    Arena scratch;
    const char *why = NULL;
    arena_init(&scratch, fn->arena.heap);
    Paths p = {.stopped = NEW_ARRAY(&scratch, bool, fn->blocks.n),
               .reached = NEW_ARRAY(&scratch, bool, fn->blocks.n),
               .returns = NEW_ARRAY(&scratch, bool, fn->blocks.n),
               .stack = NEW_ARRAY(&scratch, BlockId, fn->blocks.n)};
    find_paths(fn, &p);
    FOR_BLOCKS(fn, b) {
        bool ends = p.reached[b] && !p.stopped[b] && ir_desc(fn, ir_instr(fn, ir_terminator(fn, b)))->op == OP_EXIT;
        if (ends)
            why = "it ends the thread";
        else if (p.reached[b] && !p.returns[b] && !why)
            why = "a path of it does not return";
    }
    arena_free(&scratch);
    return why;
}

// True if an instruction takes the address of a formal parameter.
static bool takes_formal_address(const Fn *fn)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Operand first = ir_desc(fn, i)->op == OP_ADDR ? *ir_use(fn, i, 0) : op_none();
            if (op_kind(first) == K_SYM && ir_sym(fn, op_index(first))->kind == SYM_FORMAL)
                return true;
        }
    return false;
}

static const char *instr_obstacle(const Fn *fn, const Instr *i, bool takes_formal)
{
    const Desc *d = ir_desc(fn, i);
    Str text = tab_str(fn->tables, tab_mnem(fn->tables, d->mnem)->text);
    if (d->op == OP_OPAQUE)
        return "it has instructions that are not modelled";
    // In a function, a register that cvta.param converts has the address of a parameter of the kernel.
    bool param = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]) == SP_PARAM;
    if (param && (d->op == OP_ISSPACEP || (d->op == OP_CVTA && takes_formal)))
        return "it tests or converts addresses of parameters";
    if (is_param_access(fn, d) && !desc_with_space(fn->tables, i->desc, SP_LOCAL))
        return "it has an access of a parameter that local memory does not have";
    if (text.len >= 6 && (memcmp(text.text, "alloca", 6) == 0 || memcmp(text.text, "stacks", 6) == 0 ||
                          memcmp(text.text, "stackr", 6) == 0))
        return "it changes the size of its frame";
    return NULL;
}

static const char *symbol_obstacle(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_FORMAL && s->flags & SYM_OPEN)
            return "it has a variable number of arguments";
    }
    return NULL;
}

static bool has_only_noreturn(const Fn *fn)
{
    for (uint32_t k = 0; k < fn->directives.n; k++) {
        Str text = tab_str(fn->tables, fn->directives.at[k].text);
        if (text.len != 9 || memcmp(text.text, ".noreturn", 9) != 0)
            return false;
    }
    return true;
}

const char *inline_callee_obstacle(Fn *callee)
{
    const char *why;
    if (callee->flags & (FN_KERNEL | FN_PASSTHROUGH | FN_DEBUG))
        return callee->flags & FN_KERNEL ? "it is a kernel" : "it is kept as it is";
    if (callee->form != FORM_MULTI)
        return "it is in ssa form";
    if (callee->module->syms.at[callee->sym].flags & SYM_NORETURN)
        return "it does not return";
    if (!has_only_noreturn(callee) || callee->knobs.n)
        return "it has directives of its own";
    if ((why = register_obstacle(callee)) || (why = symbol_obstacle(callee)))
        return why;
    bool takes_formal = takes_formal_address(callee);
    FOR_BLOCKS(callee, b)
        FOR_INSTRS(callee, b, id)
            if ((why = instr_obstacle(callee, ir_instr(callee, id), takes_formal)))
                return why;
    return path_obstacle(callee);
}

/* -- Obstacles at the call ------------------------------------------------------------------------------ */

typedef struct Check {
    const Inliner *in;
    const Instr *call;
    const Fn *callee;
    InstrId id;
    uint32_t passed;  // results and arguments so far
    const char *why;
} Check;

// Returns the formal parameter or result of a function; 0 if it has no such one.
static SymId formal_at(const Fn *fn, bool result, uint32_t k)
{
    const Sig *sig = &fn->sig;
    return k >= (result ? sig->nrets : sig->nparams) ? 0 : (result ? sig->rets : sig->params)[k];
}

static const char *symbol_obstacle_at(const Check *c, bool result, SymId sym)
{
    const Inliner *in = c->in;
    const SymbolUses *uses = &in->uses.at[local_index(sym)];
    if (ir_sym(in->fn, sym)->kind != SYM_CALLPARAM || uses->loose)
        return "its arguments are accessed outside of the call sequence";
    if (uses->twice || (uses->arguments && uses->results))
        return "a parameter is passed twice";
    if (result && uses->maybe && uses->results > 1)
        return "the result of a guarded call has an earlier value";
    if (!result && uses->partial && uses->arguments > 1)
        return "calls share an argument that is not stored before each of them";
    return NULL;
}

static void check_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Check *c = user;
    SymId f = formal_at(c->callee, result, formal);
    c->passed++;
    if (c->why)
        return;
    if (!f)
        c->why = "it has other parameters";
    else if (op_kind(o) == K_SYM && op_index(o) & SYM_LOCAL)
        c->why = ir_sym(c->callee, f)->space == SP_REG ? "it has other parameters"
                                                       : symbol_obstacle_at(c, result, op_index(o));
    else if (result && op_is_reg(o) && ir_guarded(c->call))
        c->why = "the result of a guarded call has an earlier value";
    else if (!op_is_reg(o) && !op_is_const(o) && op_kind(o) != K_NONE)
        c->why = "an argument is neither a register nor a parameter";
}

// True if the accesses of the call's sequence are in its block, stores before it and loads behind it.
static bool is_in_sequence(const Check *c)
{
    const Inliner *in = c->in;
    if (!c->call->callseq || in->sequences.at[c->call->callseq].calls != 1)
        return false;
    FOR_SEQUENCE(in, c->call->callseq, access) {
        const Instr *i = ir_instr(in->fn, access->id);
        bool store = ir_desc(in->fn, i)->op == OP_ST;
        if (i->block != c->call->block || (in->place.at[access->id] < in->place.at[c->id]) != store ||
            !desc_with_space(in->fn->tables, i->desc, SP_LOCAL))
            return false;
    }
    return true;
}

// True if a carry is read behind the call before it is written.
static bool carry_is_live(const Fn *fn, const Instr *call)
{
    for (InstrId id = call->next; id && fn->cc; id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        for (uint32_t k = i->ndef; k < i->nops; k++)
            if (op_is_reg(ir_ops(fn, i)[k]) && op_index(ir_ops(fn, i)[k]) == fn->cc)
                return true;
        for (uint32_t k = 0; k < i->ndef; k++)
            if (op_is_reg(*ir_def(fn, i, k)) && op_index(*ir_def(fn, i, k)) == fn->cc && !ir_guarded(i))
                return false;
    }
    return false;
}

const char *inline_call_obstacle(const Inliner *in, InstrId call, const Fn *callee)
{
    Check c = {.in = in, .call = ir_instr(in->fn, call), .callee = callee, .id = call};
    if (in->fn->flags & (FN_PASSTHROUGH | FN_DEBUG))
        return "the caller is kept as it is";
    if (!is_in_sequence(&c))
        return "its arguments are accessed outside of the call sequence";
    visit_passed(in->fn, c.call, check_passed, &c);
    if (c.why)
        return c.why;
    if (c.passed != callee->sig.nrets + callee->sig.nparams)
        return "it has other parameters";
    return carry_is_live(in->fn, c.call) ? "a carry is live across the call" : NULL;
}

/* -- Copying -------------------------------------------------------------------------------------------- */

// A copy of a callee in a caller. The maps are by the callee's ids; 0 = not copied yet.
typedef struct Copy {
    Inliner *in;
    Arena arena;  // of the maps
    Fn *fn;
    const Fn *from;
    RegId *reg;
    BlockId *block;
    SymId *sym;  // by local symbol
    ListId *list;
    LineId *line;
    DescId *desc;   // by index in the callee's own tables
    ConstId *consts;  // the same
    bool leaf;         // no calls in the copy will be inlined
    uint32_t number;   // of inlined calls, this one included
    uint32_t callseq;  // is added to those of the callee
    BlockId exit;      // the block behind the call
    bool stopped;      // an instruction of the current block stops the grid
    VEC(Operand) ops;
} Copy;

static SymId new_variable(Copy *c, const Sym *like)
{
    Fn *fn = c->fn;
    Name name = unique_name(c->in, name_import(fn->tables, c->from->tables, like->name));
    SymId id = fn_sym(fn, name, SYM_VAR);
    Sym *s = ir_sym(fn, id);
    s->space = SP_LOCAL;
    s->type = TY_B8;
    s->flags = SYM_ARRAY | SYM_ALIGNED;
    s->align = MAX(like->align, 1);
    s->count = s->size = like->size;
    fn->classes |= symbol_classes(s);
    return id;
}

// Returns the smallest slot that this copy does not use and that is large enough, else the largest one; NULL: none.
static SharedSlot *find_slot(const Copy *c, uint64_t size)
{
    SharedSlot *best = NULL;
    for (uint32_t k = 0; k < c->in->slots.n; k++) {
        SharedSlot *slot = &c->in->slots.at[k];
        uint64_t has = ir_sym(c->fn, slot->sym)->size, found = best ? ir_sym(c->fn, best->sym)->size : 0;
        bool better = !best || (has >= size ? found < size || has < found : found < size && has > found);
        if (slot->copy != c->number && better)
            best = slot;
    }
    return best;
}

// Returns the variable of the caller for a `.local` variable of the callee.
static SymId copy_variable(Copy *c, const Sym *from)
{
    enum { SHARED_FROM = 32 };  // bytes
    bool shared = c->leaf && from->size >= SHARED_FROM;
    SharedSlot *slot = shared ? find_slot(c, from->size) : NULL;
    if (slot) {
        Sym *s = ir_sym(c->fn, slot->sym);
        s->count = s->size = MAX(s->size, from->size);
        s->align = MAX(s->align, from->align);
        slot->copy = c->number;
        return slot->sym;
    }
    SymId id = new_variable(c, from);
    if (shared)
        VEC_PUSH(&c->in->scratch, &c->in->slots, ((SharedSlot){id, c->number}));
    return id;
}

static RegId copy_reg(Copy *c, RegId r)
{
    const Reg *from = ir_reg(c->from, r);
    if (r == c->from->cc) {
        if (!c->fn->cc)
            c->fn->cc = reg_new(c->fn, RF_CC, W1);
        return c->fn->cc;
    }
    if (!c->reg[r])
        c->reg[r] = reg_new(c->fn, (RegFile)from->file, (Width)from->width);
    return c->reg[r];
}

static DescId copy_desc(Copy *c, DescId id)
{
    uint32_t first = c->from->tables->desc_first;
    if (id < first)
        return id;
    if (!c->desc[id - first])
        c->desc[id - first] = desc_import(c->fn->tables, c->from->tables, id);
    return c->desc[id - first];
}

static ConstId copy_const(Copy *c, ConstId id)
{
    uint32_t first = c->from->tables->const_first;
    if (id < first)
        return id;
    if (!c->consts[id - first])
        c->consts[id - first] = const_import(c->fn->tables, c->from->tables, id);
    return c->consts[id - first];
}

static ListId copy_list(Copy *c, ListId id);

static Sig *copy_sig(Copy *c, const Sig *from);

// Copies a symbol of the callee other than a formal of the callee itself, which has an entry already.
static SymId copy_sym(Copy *c, SymId id)
{
    uint32_t at = local_index(id);
    if (!(id & SYM_LOCAL) || c->sym[at])
        return id & SYM_LOCAL ? c->sym[at] : id;
    const Sym *from = ir_sym(c->from, id);
    if (from->kind == SYM_VAR)
        return c->sym[at] = copy_variable(c, from);
    Name name = name_import(c->fn->tables, c->from->tables, from->name);
    // Parameters of prototypes have a scope of their own.
    if (from->kind != SYM_FORMAL)
        name = unique_name(c->in, name);
    SymId to = c->sym[at] = fn_sym(c->fn, name, (SymKind)from->kind);
    Sym s = *from;
    s.name = name;
    s.callseq = 0;
    s.attribute = s.attribute ? str_import(c->fn->tables, c->from->tables, s.attribute) : 0;
    s.list = from->kind == SYM_BRANCHTARGETS || from->kind == SYM_CALLTARGETS ? copy_list(c, from->list) : 0;
    s.sig = from->sig ? copy_sig(c, from->sig) : NULL;
    *ir_sym(c->fn, to) = s;
    return to;
}

static SymId *copy_formals(Copy *c, const SymId *from, uint32_t n)
{
    SymId *to = NEW_ARRAY(&c->fn->arena, SymId, n);
    for (uint32_t k = 0; k < n; k++)
        to[k] = copy_sym(c, from[k]);
    return to;
}

static Sig *copy_sig(Copy *c, const Sig *from)
{
    Sig *to = arena_copy(&c->fn->arena, from, sizeof *from);
    to->rets = copy_formals(c, from->rets, from->nrets);
    to->params = copy_formals(c, from->params, from->nparams);
    return to;
}

static Operand copy_operand(Copy *c, Operand o)
{
    Operand to = o;
    switch (op_kind(o)) {
    case K_REG: to = op_reg(c->fn, copy_reg(c, op_index(o))); break;
    case K_IMM: to = op_imm(copy_const(c, op_index(o))); break;
    case K_SYM: to = op_sym(copy_sym(c, op_index(o))); break;
    case K_BLOCK: to = op_block(c->block[op_index(o)]); break;
    case K_LIST: to = op_make(K_LIST, 0, copy_list(c, op_index(o))); break;
    case K_NONE:
    case K_SREG:
    case K_BANK: break;
    }
    to.mods = o.mods;
    return op_is_def(o) ? op_def(to) : to;
}

static ListId copy_list(Copy *c, ListId id)
{
    if (c->list[id])
        return c->list[id];
    const List *from = ir_list(c->from, id);
    Operand *ops = NEW_ARRAY(&c->arena, Operand, from->n);
    for (uint32_t k = 0; k < from->n; k++)
        ops[k] = copy_operand(c, ir_run(c->from, from->ops)[k]);
    return c->list[id] = list_new(c->fn, ops, from->n);
}

static LineId copy_line(Copy *c, LineId id)
{
    if (!id || c->line[id])
        return id ? c->line[id] : 0;
    if (c->fn->lines.n == 0)
        *ir_line(c->fn, seg_push(&c->fn->lines, &c->fn->arena, 1, sizeof(Line))) = (Line){0};
    LineId to = c->line[id] = seg_push(&c->fn->lines, &c->fn->arena, 1, sizeof(Line));
    Line line = *ir_line(c->from, id);
    line.function = name_import(c->fn->tables, c->from->tables, line.function);
    line.after = copy_line(c, line.after);
    *ir_line(c->fn, to) = line;
    return to;
}

// Returns the descriptor of the copy of an instruction: accesses of formals, also by their addresses, are those of
// variables, and so are conversions of their addresses.
static DescId desc_of_copy(Copy *c, const Instr *i)
{
    const Desc *d = ir_desc(c->from, i);
    DescId desc = copy_desc(c, i->desc);
    Operand base = ir_nuse(i) ? *ir_use(c->from, i, 0) : op_none();
    bool local = op_kind(base) == K_SYM && op_index(base) & SYM_LOCAL;
    SymKind kind = local ? (SymKind)ir_sym(c->from, op_index(base))->kind : SYM_VAR;
    bool access = is_param_access(c->from, d) && kind != SYM_CALLPARAM;
    if (!access && !(d->op == OP_CVTA_ADDR && kind == SYM_FORMAL))
        return desc;
    return desc_with_space(c->fn->tables, desc, SP_LOCAL);
}

// Appends the copy of a `ret`: a branch to the block behind the call.
static InstrId append_return(Copy *c, const Instr *i, BlockId to)
{
    Tables *t = c->fn->tables;
    bool guarded = ir_guarded(i);
    const Operand *ops = ir_ops(c->from, i);
    Operand branch[3] = {op_block(c->exit)};
    if (guarded) {
        branch[1] = copy_operand(c, ops[0]);
        branch[2] = copy_operand(c, ops[ir_guard_index(i)]);
    }
    DescId desc = guarded ? desc_parse(t, "bra", "%~") : desc_make(t, OP_BRA);
    bool next = !guarded && ir_block(c->fn, to)->next == c->exit;
    return ir_append(c->fn, to, desc, guarded ? IF_GUARDED : next ? IF_IMPLICIT : 0, branch, guarded ? 3 : 1);
}

static void copy_instr(Copy *c, InstrId from_id, BlockId to)
{
    const Instr *i = ir_instr(c->from, from_id);
    const Desc *d = ir_desc(c->from, i);
    InstrId id;
    c->stopped |= stops_grid(c->from, i);
    if (c->stopped && d->traits & TR_TERM) {
        Operand behind = op_block(c->exit);
        id = ir_append(c->fn, to, desc_make(c->fn->tables, OP_BRA), 0, &behind, 1);
    } else if (d->op == OP_RET) {
        id = append_return(c, i, to);
    } else {
        c->ops.n = 0;
        for (uint32_t k = 0; k < i->nops; k++)
            VEC_PUSH(&c->arena, &c->ops, copy_operand(c, ir_ops(c->from, i)[k]));
        id = ir_append(c->fn, to, desc_of_copy(c, i), i->flags, c->ops.at, i->nops);
    }
    Instr *copy = ir_instr(c->fn, id);
    copy->line = copy_line(c, i->line);
    copy->callseq = i->callseq ? i->callseq + c->callseq : 0;
    if (c->from->where.n)
        fn_note_where(c->fn, id, fn_where(c->from, from_id));
}

// Makes the blocks of the copy behind `last`, then their instructions.
static void copy_blocks(Copy *c, BlockId last)
{
    FOR_BLOCKS(c->from, b) {
        c->block[b] = block_new(c->fn);
        block_insert_after(c->fn, c->block[b], last);
        last = c->block[b];
    }
    FOR_BLOCKS(c->from, b) {
        c->stopped = false;
        FOR_INSTRS(c->from, b, id)
            copy_instr(c, id, c->block[b]);
    }
    // Instructions name a branch table by its list only.
    for (uint32_t k = 1; k < c->from->syms.n; k++) {
        const Sym *s = ir_sym(c->from, k | SYM_LOCAL);
        if (s->kind == SYM_BRANCHTARGETS && !(s->flags & SYM_GONE) && c->list[s->list])
            copy_sym(c, k | SYM_LOCAL);
    }
}

/* -- Passing -------------------------------------------------------------------------------------------- */

typedef struct Passing {
    Copy *copy;
    InstrId call;
    InstrId first;  // the instruction behind the call
} Passing;

// Renames a symbol of the call's sequence to a variable: accesses of .param become accesses of .local.
static void rename_accesses(Copy *c, uint32_t sequence, SymId from, SymId to)
{
    Fn *fn = c->fn;
    FOR_SEQUENCE(c->in, sequence, access) {
        Instr *i = ir_instr(fn, access->id);
        Operand *base = ir_use(fn, i, 0);
        if (op_index(*base) != from)
            continue;
        instr_set_desc(fn, i, desc_with_space(fn->tables, i->desc, SP_LOCAL));
        *base = op_sym(to);
        i->callseq = 0;
    }
}

// Returns an argument as an operand of an instruction of this width.
static Operand argument_value(Fn *fn, Operand o, Width width)
{
    o.mods &= ~(uint32_t)(OPM_F32 | OPM_F64);
    return op_is_const(o) ? op_const(fn, (uint64_t)const_signed(tab_const(fn->tables, op_index(o))), width) : o;
}

// Stores an argument that the call has as a register or constant.
static void store_argument(Passing *p, SymId variable, Operand value)
{
    Fn *fn = p->copy->fn;
    uint64_t bytes = ir_sym(fn, variable)->size;
    Width width = bytes == 1 ? W8 : bytes == 2 ? W16 : bytes == 4 ? W32 : bytes == 8 ? W64 : W128;
    Operand ops[] = {op_sym(variable), op_const(fn, 0, W64), argument_value(fn, value, width)};
    DescId desc = desc_with_space(fn->tables, desc_make(fn->tables, OP_ST, type_make(TC_B, width)), SP_LOCAL);
    InstrId id = ir_insert_before(fn, p->call, desc, 0, ops, ARRAY_LEN(ops));
    ir_instr(fn, id)->line = ir_instr(fn, p->call)->line;
}

static void load_result(Passing *p, SymId variable, Operand to)
{
    Fn *fn = p->copy->fn;
    Width width = (Width)ir_reg(fn, op_index(to))->width;
    Operand ops[] = {to, op_sym(variable), op_const(fn, 0, W64)};
    DescId desc = desc_with_space(fn->tables, desc_make(fn->tables, OP_LD, type_make(TC_B, width)), SP_LOCAL);
    InstrId id = ir_insert_before(fn, p->first, desc, 0, ops, ARRAY_LEN(ops));
    ir_instr(fn, id)->line = ir_instr(fn, p->call)->line;
}

// Moves between an operand of the call and the register of a formal.
static void move_register(Passing *p, bool result, SymId formal, Operand o)
{
    Copy *c = p->copy;
    const Sym *s = ir_sym(c->from, formal);
    RegId r = 0;
    for (RegId k = 1; k < c->from->regs.n && !r; k++)
        if (ir_reg(c->from, k)->flags & REG_NAMED && name_same(ir_reg(c->from, k)->name, s->name))
            r = k;
    if (!r || op_kind(o) == K_NONE)
        return;
    Operand own = op_reg(c->fn, copy_reg(c, r));
    Width width = (Width)ir_reg(c->fn, op_index(own))->width;
    Operand value = result ? own : argument_value(c->fn, o, width);
    Operand ops[] = {op_def(result ? op_reg(c->fn, op_index(o)) : own), value};
    DescId desc = desc_make(c->fn->tables, OP_MOV, type_make(TC_B, width));
    InstrId id = ir_insert_before(c->fn, result ? p->first : p->call, desc, 0, ops, 2);
    ir_instr(c->fn, id)->line = ir_instr(c->fn, p->call)->line;
}

static void pass(void *user, bool result, uint32_t formal, Operand o)
{
    Passing *p = user;
    Copy *c = p->copy;
    SymId f = formal_at(c->from, result, formal);
    if (ir_sym(c->from, f)->space == SP_REG) {
        move_register(p, result, f, o);
        return;
    }
    SymId v = c->sym[local_index(f)] = new_variable(c, ir_sym(c->from, f));
    if (op_kind(o) == K_SYM) {
        ir_sym(c->fn, v)->align = MAX(ir_sym(c->fn, v)->align, ir_sym(c->fn, op_index(o))->align);
        rename_accesses(c, ir_instr(c->fn, p->call)->callseq, op_index(o), v);
    } else if (op_kind(o) != K_NONE) {
        (result ? load_result : store_argument)(p, v, o);
    }
}

/* -- The call ------------------------------------------------------------------------------------------- */

// Ends a block with a branch into the copy; a guarded call is skipped where its guard is false.
static void enter_copy(Copy *c, BlockId b, const Instr *call)
{
    Fn *fn = c->fn;
    BlockId entry = c->block[c->from->first];
    if (!ir_guarded(call)) {
        Operand to = op_block(entry);
        ir_append(fn, b, desc_make(fn->tables, OP_BRA), IF_IMPLICIT, &to, 1);
        return;
    }
    Operand guard = *ir_guard(fn, call);
    guard.mods ^= OPM_NOT;
    Operand ops[] = {op_block(c->exit), op_block(entry), guard};
    InstrId id = ir_append(fn, b, desc_parse(fn->tables, "bra", "%~"), IF_GUARDED, ops, ARRAY_LEN(ops));
    ir_instr(fn, id)->line = call->line;
}

// Marks the symbols that only this call named.
static void drop_symbol(void *user, bool result, uint32_t formal, Operand o)
{
    (void)formal;
    Inliner *in = user;
    if (op_kind(o) != K_SYM)
        return;
    SymbolUses *uses = uses_of(in, op_index(o));
    *(result ? &uses->results : &uses->arguments) -= 1;
    if (!uses->results && !uses->arguments)
        ir_sym(in->fn, op_index(o))->flags |= SYM_GONE;
}

BlockId inline_call(Inliner *in, InstrId id, const Fn *callee, bool leaf)
{
    Fn *fn = in->fn;
    Copy c = {.in = in, .fn = fn, .from = callee, .leaf = leaf, .number = in->inlined + 1, .callseq = fn->callseqs};
    BlockId b = ir_instr(fn, id)->block;
    InstrId behind = ir_instr(fn, id)->next;
    arena_init(&c.arena, fn->arena.heap);
    c.reg = NEW_ARRAY(&c.arena, RegId, callee->regs.n);
    c.block = NEW_ARRAY(&c.arena, BlockId, callee->blocks.n);
    c.sym = NEW_ARRAY(&c.arena, SymId, callee->syms.n);
    c.list = NEW_ARRAY(&c.arena, ListId, callee->lists.n);
    c.line = NEW_ARRAY(&c.arena, LineId, callee->lines.n);
    c.desc = NEW_ARRAY(&c.arena, DescId, callee->tables->descs.n);
    c.consts = NEW_ARRAY(&c.arena, ConstId, callee->tables->consts.n);
    fn->callseqs += callee->callseqs;
    c.exit = block_new(fn);
    block_insert_after(fn, c.exit, b);
    block_take(fn, c.exit, behind);
    Passing p = {.copy = &c, .call = id, .first = behind};
    visit_passed(fn, ir_instr(fn, id), pass, &p);
    copy_blocks(&c, b);
    enter_copy(&c, b, ir_instr(fn, id));
    visit_passed(fn, ir_instr(fn, id), drop_symbol, in);
    ir_remove(fn, id);
    BlockId last = c.block[callee->last];
    for (BlockId from = leaf ? 0 : callee->first; from; from = ir_block(callee, from)->next)
        index_block(in, c.block[from]);
    for (BlockId from = leaf ? 0 : callee->first; from; from = ir_block(callee, from)->next)
        judge_calls(in, c.block[from]);
    arena_free(&c.arena);
    in->inlined++;
    return last;
}
