// SPDX-License-Identifier: MIT
// Finds the reasons why a call cannot be inlined.
//
// A call is inlined only if all accesses of its arguments and results are in its block, stores before it and loads
// behind it. A symbol that several calls share must be stored completely before each of them, since otherwise a callee
// could read what was stored for an earlier call. The result of a guarded call must not be shared, since it keeps its
// old value where the call does not run.
//
// Each path of the callee must reach a `ret`. Otherwise threads that diverge on another path would no longer reconverge
// behind the call. Behind a `trap`, which ends the grid, the copy also branches behind the call.
#include "ir/rewrite/inline_internal.h"

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
    FOR_SEQUENCE(in, c->call->callseq, access)
    {
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
