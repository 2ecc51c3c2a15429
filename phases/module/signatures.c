// SPDX-License-Identifier: MIT
// Removes parameters and results of private functions that nothing needs.
//
// Sub-pass: OriShrinkSignatures, after OriInline. All calls of a private function are known, if its address is not
// taken. A parameter that each call passes as the same constant becomes this constant. A parameter that the function
// does not name, and a result that no call reads, go from the function, from its prototypes and from its calls.
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
// Must not fire:
//     visible, weak or extern function               another module may call it
//     function whose address is taken                calls through registers pass all parameters
//     a sequence that is not in one block            ptxas miscompiles such sequences; they stay as they are
//     two constants, or a load of a part             the parameter has no single value
//
// Does not do: constants that a recursive function passes on to itself.
// Documented: nothing. Inferred: all.
#include "ir/rewrite/inline_call.h"
#include "ir/rewrite/rewrite.h"
#include "phases/module/module.h"

typedef enum { PASSED_NOTHING, PASSED_CONSTANT, PASSED_OTHER } Passed;

// A parameter or result.
typedef struct Formal {
    bool needed;    // the function names the parameter; a call reads the result
    Passed passed;  // of a parameter, by all calls so far
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

// True if the parameter is read only by loads of its whole value, which can become moves of a constant.
static bool is_load_of(const Fn *fn, const Instr *i, SymId sym)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_LD || !access_is_movable(fn, i) || i->ndef != 1)
        return false;
    Operand base = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
    uint32_t bytes = width_bits(type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width) / 8;
    return op_kind(base) == K_SYM && op_index(base) == sym && tab_const(fn->tables, op_index(offset)).bits == 0 &&
           bytes == ir_sym(fn, sym)->size;
}

// Marks the parameters that a function names; those that it uses other than by loads of the whole value get no
// constant.
static void scan_function(const Fn *fn, Signature *s)
{
    for (uint32_t k = 0; k < fn->sig.nparams; k++)
        for (uint32_t p = 0; p < k; p++)
            s->fixed |= fn->sig.params[k] == fn->sig.params[p];
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; k < i->nops; k++) {
                Operand o = ir_ops(fn, i)[k];
                for (uint32_t p = 0; op_kind(o) == K_SYM && p < fn->sig.nparams; p++)
                    if (fn->sig.params[p] == op_index(o)) {
                        s->params[p].needed = true;
                        s->params[p].passed |= is_load_of(fn, i, op_index(o)) ? PASSED_NOTHING : PASSED_OTHER;
                    }
            }
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

static bool is_loaded(const Shrinking *s, SymId sym)
{
    FOR_SEQUENCE(&s->in, ir_instr(s->in.fn, s->call)->callseq, access)
    if (op_index(*ir_use(s->in.fn, ir_instr(s->in.fn, access->id), 0)) == sym)
        return true;
    return false;
}

static void note_argument(const Shrinking *s, Formal *f, Operand o)
{
    const Operand *value = op_kind(o) == K_SYM ? stored_constant(s, op_index(o)) : op_is_const(o) ? &o : NULL;
    uint64_t bits = value ? (uint64_t)const_signed(tab_const(s->in.fn->tables, op_index(*value))) : 0;
    bool same = value && (f->passed == PASSED_NOTHING || (f->passed == PASSED_CONSTANT && f->bits == bits));
    f->passed = same ? PASSED_CONSTANT : PASSED_OTHER;
    f->bits = bits;
}

static void note_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Shrinking *s = user;
    Formal *f = formal_of(&s->signatures[s->node], result, formal);
    if (!result)
        note_argument(s, f, o);
    else
        f->needed |= op_kind(o) == K_SYM ? is_loaded(s, op_index(o)) : op_kind(o) != K_NONE;
}

typedef void CallVisit(Shrinking *s);

// Visits the calls of a function whose callees may change.
static void visit_calls(Shrinking *s, Fn *fn, CallVisit *visit)
{
    inline_begin(&s->in, fn);
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            next = ir_instr(fn, id)->next;
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

// Removes the stores of an argument that goes.
static void remove_stores(Shrinking *s, SymId sym)
{
    Fn *fn = s->in.fn;
    FOR_SEQUENCE(&s->in, ir_instr(fn, s->call)->callseq, access)
    if (op_index(*ir_use(fn, ir_instr(fn, access->id), 0)) == sym)
        ir_remove(fn, access->id);
}

static void drop_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Shrinking *s = user;
    uint32_t k = s->index++;
    if (!is_removed(formal_of(&s->signatures[s->node], result, formal)))
        return;
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
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (!is_load_of(fn, i, param))
                continue;
            Type type = (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
            AccessMove move = {.dst = {ir_def(fn, i, 0)->word & INT32_MAX, 0},
                               .src = op_const(fn, bits, W64),
                               .bytes = (uint32_t)ir_sym(fn, param)->size,
                               .is_signed = type_info[type].class == TC_S,
                               .tail = tail_of(fn, i, 0)};
            instr_replace_by_access_move(fn, id, &move);
        }
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
