// SPDX-License-Identifier: MIT
// Removes parameters and results of private functions that nothing needs.
//
// Sub-pass: OriShrinkSignatures, after OriInline. All calls of a private function are known, if its address is not
// taken. A parameter that each call passes as the same constant becomes this constant. A result that is the same
// constant at each return becomes this constant in the callers. A parameter that the function does not name, and a
// result that no call reads, go from the function, from its prototypes and from its calls.
//
//     st.param.b32 [@a0], 4       #1                  st.param.b32 [@a1], R1      #1
//     st.param.b32 [@a1], R1      #1                  call @f, (@a1)              #1
//     call (@q), @f, (@a0, @a1)   #1
//     device @f(@n: 32, @x: 32) -> @r: 32 {    ->     device @f(@x: 32) {
//       R1 = ld.param.b32 [@n]                          R1 = mov.b32 4
//       ...                                             ...
//       st.param.b32 [@r], R9                         }
//     }
//
//     R2 = ld.param.b32 [@q]      #1                  R2 = mov.b32 7
//     device @f() -> @r: 32 {                  ->     device @f() {
//       @P0 st.param.b32 [@r], 7; ret                   ret
//     }
//
// A result is a constant if each store of it, on any path and under any guard, writes this constant to all its bytes.
// A return that no store reaches leaves the result undefined, so a load may return the constant there, too. Where a
// guarded call does not run, its result has no such value.
//
// Must not fire:
//     visible, weak or extern function               another module may call it
//     function whose address is taken                calls through registers pass all parameters
//     a sequence that is not in one block            ptxas miscompiles such sequences; they stay as they are
//     two constants, or a load of a part             the parameter or result has no single value
//     load of the result of a guarded call           the call may not have run
//     result that is never stored                    it has no constant
//
// Does not do: constants that a recursive function passes on to itself, or returns from its own calls; constants that
// the function returns in a register, or in parts.
// Documented: nothing. Inferred: all.
#include "ir/rewrite/inline_call.h"
#include "ir/rewrite/rewrite.h"
#include "phases/module/module.h"

typedef enum { PASSED_NOTHING, PASSED_CONSTANT, PASSED_OTHER } Passed;

// A parameter or result.
typedef struct Formal {
    bool needed;    // the function names the parameter; a call reads the result
    Passed passed;  // a parameter by all calls so far, a result by all stores of the function
    uint64_t bits;  // of the constant
} Formal;

typedef struct Signature {
    bool fixed;  // some call or the function does not permit a change
    Formal *results, *params;
} Signature;

typedef struct Shrinking {
    Ctx *ctx;
    Module *m;
    CallGraph *graph;
    Arena scratch;
    Signature *signatures;  // by node
    // Of the current call.
    Inliner in;
    InstrId call;
    uint32_t node;
    uint32_t index;      // of the next result or argument of the call
    VEC(uint32_t) gone;  // operands of the call
} Shrinking;

static Formal *formal_of(const Signature *s, bool result, uint32_t k)
{
    return result ? &s->results[k] : &s->params[k];
}

static bool is_removed(const Formal *f) { return !f->needed; }

/* -- Functions ------------------------------------------------------------------------------------------ */

static bool is_access_of(const Fn *fn, const Instr *i, SymId sym)
{
    Operand base = ir_nuse(i) ? *ir_use(fn, i, 0) : op_none();
    return op_kind(base) == K_SYM && op_index(base) == sym;
}

// True for an access of all bytes of a parameter or result, for which a move can stand.
static bool is_whole_access(const Fn *fn, const Instr *i, SymId sym)
{
    const Desc *d = ir_desc(fn, i);
    if ((d->op != OP_LD && d->op != OP_ST) || !is_access_of(fn, i, sym) || !access_has_moves(fn, i))
        return false;
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    uint32_t bytes = width_bits(type_info[m->type[0]].width) / 8;
    return access_elements(m) == 1 && tab_const(fn->tables, op_index(*ir_use(fn, i, 1))).bits == 0 &&
           bytes == ir_sym(fn, sym)->size;
}

static bool is_whole_load(const Fn *fn, const Instr *i, SymId sym)
{
    return ir_desc(fn, i)->op == OP_LD && is_whole_access(fn, i, sym);
}

// Returns the constant that an instruction stores to a result, or NULL.
static const Operand *returned_constant(const Fn *fn, const Instr *i, SymId sym)
{
    bool store = ir_desc(fn, i)->op == OP_ST && is_whole_access(fn, i, sym);
    return store && op_is_const(*ir_use(fn, i, 2)) ? ir_use(fn, i, 2) : NULL;
}

// Meet of the values of a formal. `value`: a constant of the function, or NULL.
static void note_value(const Fn *fn, Formal *f, const Operand *value)
{
    uint64_t bits = value ? (uint64_t)const_signed(tab_const(fn->tables, op_index(*value))) : 0;
    bool same = value && (f->passed == PASSED_NOTHING || (f->passed == PASSED_CONSTANT && f->bits == bits));
    f->passed = same ? PASSED_CONSTANT : PASSED_OTHER;
    f->bits = bits;
}

// Marks the parameters that a function names; those that it uses other than by loads of the whole value get no
// constant. Collects the values of results.
static void scan_operand(const Fn *fn, const Instr *i, Operand o, Signature *s)
{
    for (uint32_t p = 0; p < fn->sig.nparams; p++)
        if (fn->sig.params[p] == op_index(o)) {
            s->params[p].needed = true;
            s->params[p].passed |= is_whole_load(fn, i, op_index(o)) ? PASSED_NOTHING : PASSED_OTHER;
        }
    for (uint32_t r = 0; r < fn->sig.nrets; r++)
        if (fn->sig.rets[r] == op_index(o))
            note_value(fn, &s->results[r], returned_constant(fn, i, op_index(o)));
}

static void scan_function(const Fn *fn, Signature *s)
{
    for (uint32_t k = 0; k < fn->sig.nparams; k++)
        for (uint32_t p = 0; p < k; p++)
            s->fixed |= fn->sig.params[k] == fn->sig.params[p];
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; k < i->nops; k++)
                if (op_kind(ir_ops(fn, i)[k]) == K_SYM)
                    scan_operand(fn, i, ir_ops(fn, i)[k], s);
        }
}

// True if all calls of a function are known, and its parameters are in `.param`.
static bool is_known(const CallGraph *g, uint32_t node)
{
    const Fn *fn = g->module->fns.at[node];
    uint32_t flags = g->module->syms.at[fn->sym].flags;
    if (flags & (SYM_VISIBLE | SYM_WEAK | SYM_EXTERN | SYM_COMMON) || g->flags[node] & ADDRESS_TAKEN)
        return false;
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_FORMAL && (s->space != SP_PARAM || s->flags & SYM_OPEN))
            return false;
    }
    return true;
}

static void start_signature(Shrinking *s, uint32_t node)
{
    const Fn *fn = s->m->fns.at[node];
    Signature *g = &s->signatures[node];
    g->fixed = true;
    if (!fn || !(fn->flags & FN_DEFINED) || fn->flags & FN_KERNEL || !s->graph->callers[node] ||
        !is_known(s->graph, node) || !phase_transforms(s->ctx, fn))
        return;
    g->fixed = false;
    g->results = NEW_ARRAY(&s->scratch, Formal, fn->sig.nrets);
    g->params = NEW_ARRAY(&s->scratch, Formal, fn->sig.nparams);
    scan_function(fn, g);
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

// Returns the only value that the call's sequence stores to a symbol if it is a constant for all of its bytes, else
// NULL.
static const Operand *stored_constant(const Shrinking *s, SymId sym)
{
    const Fn *fn = s->in.fn;
    const Operand *value = NULL;
    uint32_t stores = 0;
    FOR_SEQUENCE(&s->in, ir_instr(fn, s->call)->callseq, access)
    {
        const Instr *i = ir_instr(fn, access->id);
        if (op_index(*ir_use(fn, i, 0)) != sym)
            continue;
        const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
        bool whole = width_bits(type_info[m->type[0]].width) / 8 == ir_sym(fn, sym)->size && access_elements(m) == 1;
        stores++;
        value = whole && op_is_const(*ir_use(fn, i, 2)) ? ir_use(fn, i, 2) : NULL;
    }
    return stores == 1 ? value : NULL;
}

static void note_argument(const Shrinking *s, Formal *f, Operand o)
{
    note_value(s->in.fn, f, op_kind(o) == K_SYM ? stored_constant(s, op_index(o)) : op_is_const(o) ? &o : NULL);
}

// Marks a result that a call reads; one that no move can replace gets no constant.
static void note_result(const Shrinking *s, Formal *f, Operand o)
{
    const Fn *fn = s->in.fn;
    const Instr *call = ir_instr(fn, s->call);
    f->needed |= op_is_reg(o);
    if (op_kind(o) != K_SYM)
        return;
    FOR_SEQUENCE(&s->in, call->callseq, access)
    {
        const Instr *i = ir_instr(fn, access->id);
        if (!is_access_of(fn, i, op_index(o)))
            continue;
        f->needed = true;
        if (ir_guarded(call) || !is_whole_load(fn, i, op_index(o)))
            f->passed = PASSED_OTHER;
    }
}

static void note_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Shrinking *s = user;
    (result ? note_result : note_argument)(s, formal_of(&s->signatures[s->node], result, formal), o);
}

typedef void CallVisit(Shrinking *s);

// Visits the calls of a function whose callees may change.
static void visit_calls(Shrinking *s, Fn *fn, CallVisit *visit)
{
    inline_begin(&s->in, fn);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            SymId callee = ir_desc(fn, ir_instr(fn, id))->op == OP_CALL ? ir_callee(fn, ir_instr(fn, id)) : 0;
            s->node = callee ? s->graph->node_of[callee] : 0;
            if (!s->node-- || s->signatures[s->node].fixed)
                continue;
            s->call = id;
            visit(s);
        }
    inline_end(&s->in);
}

static void note_call(Shrinking *s)
{
    Fn *fn = s->in.fn;
    if (phase_transforms(s->ctx, fn) && !inline_call_obstacle(&s->in, s->call, s->m->fns.at[s->node]))
        visit_passed(fn, ir_instr(fn, s->call), note_passed, s);
    else
        s->signatures[s->node].fixed = true;
}

/* -- Changes -------------------------------------------------------------------------------------------- */

// Replaces a load of a whole parameter or result by a move of a constant.
static void replace_load(Fn *fn, InstrId id, uint64_t bits)
{
    const Instr *i = ir_instr(fn, id);
    TypeInfo info = type_info[tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0]];
    AccessMove move = {.dst = {ir_def(fn, i, 0)->word & INT32_MAX, 0},
                       .src = op_const(fn, bits, W64),
                       .bytes = width_bits(info.width) / 8,
                       .is_signed = info.class == TC_S,
                       .tail = tail_of(fn, i, 0)};
    instr_replace_by_access_move(fn, id, &move);
    ir_instr(fn, id)->callseq = 0;
}

// Makes the result of a call a constant.
static void place_result(Shrinking *s, Operand o, uint64_t bits)
{
    Fn *fn = s->in.fn;
    const Instr *call = ir_instr(fn, s->call);
    if (op_is_reg(o)) {
        Width width = (Width)ir_reg(fn, op_index(o))->width;
        AccessMove move = {
            .dst = {o.word & INT32_MAX, 0}, .src = op_const(fn, bits, W64), .bytes = width_bits(width) / 8};
        insert_access_move(fn, call->next, &move);
    }
    if (op_kind(o) != K_SYM)
        return;
    FOR_SEQUENCE(&s->in, call->callseq, access)
    if (is_access_of(fn, ir_instr(fn, access->id), op_index(o)))
        replace_load(fn, access->id, bits);
}

// Removes the stores of an argument that goes.
static void remove_stores(Shrinking *s, SymId sym)
{
    Fn *fn = s->in.fn;
    FOR_SEQUENCE(&s->in, ir_instr(fn, s->call)->callseq, access)
    if (is_access_of(fn, ir_instr(fn, access->id), sym))
        ir_remove(fn, access->id);
}

static void drop_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Shrinking *s = user;
    uint32_t k = s->index++;
    const Formal *f = formal_of(&s->signatures[s->node], result, formal);
    if (!is_removed(f))
        return;
    if (result && f->passed == PASSED_CONSTANT)
        place_result(s, o, f->bits);
    VEC_PUSH(&s->scratch, &s->gone, k);
    if (op_kind(o) != K_SYM)
        return;
    if (!result)
        remove_stores(s, op_index(o));
    SymbolUses *uses = &s->in.uses.at[op_index(o) & ~(uint32_t)SYM_LOCAL];
    *(result ? &uses->results : &uses->arguments) -= 1;
    if (!uses->results && !uses->arguments)
        ir_sym(s->in.fn, op_index(o))->flags |= SYM_GONE;
}

// Copies the shape of a call without the n-th elements of its lists that go, and without an empty list of results.
static size_t shape_without(const Shrinking *s, Str shape, char *to)
{
    uint32_t element = 0, gone = 0;
    bool inside = false;
    size_t n = 0;
    for (const char *p = shape.text, *end = p + shape.len; p < end; p++) {
        inside = *p == '(' || (inside && *p != ')');
        bool is_element = inside && (*p == '%' || *p == '$');
        if (is_element && gone < s->gone.n && s->gone.at[gone] == element) {
            gone++;
            element++;
            n -= n && to[n - 1] == ',';
            continue;
        }
        element += is_element;
        if (*p == ',' && inside && to[n - 1] == '(')
            continue;
        to[n++] = *p;
    }
    bool no_results = n > 2 && memcmp(to, "(),", 3) == 0;
    memmove(to, to + (no_results ? 3 : 0), n - (no_results ? 3 : 0));
    return n - (no_results ? 3 : 0);
}

// Replaces the call by one without the results and arguments that go.
static void change_call(Shrinking *s)
{
    Fn *fn = s->in.fn;
    Instr *i = ir_instr(fn, s->call);
    const Desc *d = ir_desc(fn, i);
    Str shape = tab_str(fn->tables, d->shape);
    s->gone.n = s->index = 0;
    visit_passed(fn, i, drop_passed, s);
    if (!s->gone.n)
        return;
    char *text = arena_alloc(&s->scratch, shape.len + 1);
    size_t len = shape_without(s, shape, text);
    uint32_t kept = 0, element = 0, gone = 0, ndef = 0;
    Operand *ops = ir_ops(fn, i);
    bool inside = false;
    uint32_t k = 0;
    for (const char *p = shape.text, *end = p + shape.len; p < end; p++) {
        inside = *p == '(' || (inside && *p != ')');
        if (*p != '%' && *p != '$')
            continue;
        bool goes = inside && gone < s->gone.n && s->gone.at[gone] == element;
        gone += goes;
        element += inside;
        if (!goes) {
            ndef += op_is_def(ops[k]);
            ops[kept++] = ops[k];
        }
        k++;
    }
    for (; k < i->nops; k++)
        ops[kept++] = ops[k];
    const char *why;
    DescId desc = desc_intern(fn->tables, d->mnem, text, len, &why);
    if (!desc)
        heap_fail(fn->arena.heap, ST_INTERNAL, "a call has no form without a parameter");
    i->nops = kept;
    i->ndef = (uint16_t)ndef;
    instr_set_desc(fn, i, desc);
}

// Replaces the loads of a parameter by moves of a constant.
static void place_constant(Fn *fn, SymId param, uint64_t bits)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (is_whole_load(fn, ir_instr(fn, id), param))
                replace_load(fn, id, bits);
}

// Removes the stores of a result that goes.
static void remove_result(Fn *fn, SymId result)
{
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            const Instr *i = ir_instr(fn, id);
            next = i->next;
            if (ir_desc(fn, i)->op == OP_ST && op_kind(*ir_use(fn, i, 0)) == K_SYM &&
                op_index(*ir_use(fn, i, 0)) == result)
                remove_annotated(fn, id);
        }
}

// Removes formals from a list; returns the number of those that are left.
static uint32_t shrink_list(Fn *fn, SymId *syms, uint32_t n, const Formal *formals)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++)
        if (is_removed(&formals[k]))
            ir_sym(fn, syms[k])->flags |= SYM_GONE;
        else
            syms[kept++] = syms[k];
    return kept;
}

static void shrink_sig(Fn *fn, const Signature *s)
{
    fn->sig.nrets = shrink_list(fn, fn->sig.rets, fn->sig.nrets, s->results);
    fn->sig.nparams = shrink_list(fn, fn->sig.params, fn->sig.nparams, s->params);
}

// True if a function names a result other than by stores of it.
static bool result_is_only_stored(const Fn *fn, SymId result)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool store = ir_desc(fn, i)->op == OP_ST;
            for (uint32_t k = 0; k < i->nops; k++) {
                Operand o = ir_ops(fn, i)[k];
                if (op_kind(o) == K_SYM && op_index(o) == result && !(store && k == 0))
                    return false;
            }
        }
    return true;
}

// Decides on the formals of a function; returns true if some go.
static bool decide(Fn *fn, Signature *s)
{
    bool any = false;
    for (uint32_t k = 0; k < fn->sig.nrets; k++) {
        s->results[k].needed |= !result_is_only_stored(fn, fn->sig.rets[k]);
        s->results[k].needed &= s->results[k].passed != PASSED_CONSTANT;
        any |= is_removed(&s->results[k]);
    }
    for (uint32_t k = 0; k < fn->sig.nparams; k++) {
        bool constant = s->params[k].needed && s->params[k].passed == PASSED_CONSTANT;
        if (constant)
            place_constant(fn, fn->sig.params[k], s->params[k].bits);
        s->params[k].needed &= !constant;
        any |= is_removed(&s->params[k]);
    }
    return any;
}

static void report(Shrinking *s, Fn *fn, const Signature *g)
{
    uint32_t params = 0, results = 0;
    char name[200];
    for (uint32_t k = 0; k < fn->sig.nparams; k++)
        params += is_removed(&g->params[k]);
    for (uint32_t k = 0; k < fn->sig.nrets; k++)
        results += is_removed(&g->results[k]);
    if (s->ctx->remarks)
        remarks_start(s->ctx->remarks);
    remark(s->ctx, fn, 0, RM_PASSED, "SignatureShrunk",
           "{Function:%s} has {Parameters:%u} parameters and {Results:%u} results less",
           name_text(&s->m->tables, s->m->syms.at[fn->sym].name, name, sizeof name), params, results);
}

static void change_function(Shrinking *s, uint32_t node)
{
    Fn *fn = s->m->fns.at[node];
    Signature *g = &s->signatures[node];
    report(s, fn, g);
    for (uint32_t k = 0; k < fn->sig.nrets; k++)
        if (is_removed(&g->results[k]))
            remove_result(fn, fn->sig.rets[k]);
    phase_changed(fn);
}

// Removes the formals from functions and prototypes.
static void shrink_sigs(Shrinking *s)
{
    for (uint32_t k = 0; k < s->m->fns.n; k++) {
        Fn *fn = s->m->fns.at[k];
        uint32_t node = fn ? s->graph->node_of[fn->sym] : 0;
        if (node && !s->signatures[node - 1].fixed)
            shrink_sig(fn, &s->signatures[node - 1]);
    }
}

bool phase_shrink_signatures(Ctx *ctx, Module *m)
{
    bool progress = false;
    if (!ctx->has_calls)
        return false;
    Shrinking *s;
    Arena arena;
    arena_init(&arena, &ctx->heap);
    s = NEW(&arena, Shrinking);
    *s = (Shrinking){.ctx = ctx, .m = m, .scratch = arena};
    s->graph = call_graph(m, &s->scratch);
    s->signatures = NEW_ARRAY(&s->scratch, Signature, s->graph->n);
    for (uint32_t k = 0; k < s->graph->n; k++)
        start_signature(s, k);
    for (uint32_t k = 0; k < s->graph->n; k++)
        if (s->graph->first[k] < s->graph->first[k + 1])
            visit_calls(s, m->fns.at[k], note_call);
    for (uint32_t k = 0; k < s->graph->n; k++) {
        Signature *g = &s->signatures[k];
        g->fixed = g->fixed || !decide(m->fns.at[k], g);
        progress |= !g->fixed;
    }
    for (uint32_t k = 0; progress && k < s->graph->n; k++)
        if (s->graph->first[k] < s->graph->first[k + 1]) {
            visit_calls(s, m->fns.at[k], change_call);
            phase_changed(m->fns.at[k]);
        }
    for (uint32_t k = 0; progress && k < s->graph->n; k++)
        if (!s->signatures[k].fixed)
            change_function(s, k);
    if (progress)
        shrink_sigs(s);
    arena = s->scratch;
    arena_free(&arena);
    return progress;
}
