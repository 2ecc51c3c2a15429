// SPDX-License-Identifier: MIT
// Replaces calls through registers by direct calls where the functions are known.
//
// Sub-pass: OriDevirtualize, of OriInline. In ssa form the definition of the register is followed through moves, phis
// and selects, up to addresses of functions, and loads of tables that nothing writes (constant_tables.c). If it is
// always the address of one function, the call becomes direct. If it is one of two to four functions, the block is
// split, and each function gets a direct call under a comparison with its address. Each thread runs one of these calls,
// and threads with the same function run it together, as before.
//
// A call with a list of functions (`.calltargets`) calls one of them, or is undefined. So they are the functions if the
// register is not followed to known ones, and otherwise those of both. In each case the last function needs no
// comparison. The list goes with the last call that names it; its functions would otherwise stay in use.
//
//     R1 = mov.b64 @f                                R1 = mov.b64 @f
//     call (@r), R1, (@a), @proto  #1         ->     call (@r), @f, (@a)  #1
//
//     R3 = selp.b64 R1, R2, P0   ; @f, @g            P1 = setp.eq.b64 R3, R1; @P1 bra b1 else b2
//     st.param.b32 [@a], R4        #1                b1: st.param.b32 [@a], R4 #2; call (@r), @f, (@a) #2;
//     call (@r), R3, (@a), @proto  #1         ->         R6 = ld.param.b32 [@r] #2; bra b3
//     R5 = ld.param.b32 [@r]       #1                b2: the same with @g, #3 and R7
//                                                    b3: R5 = mov.phi b1: R6, b2: R7
//
//     targets @T @f, @g
//     call (@r), R1, (@a), @T      #1         ->     the same with R1, which may come from memory
//
// Must not fire:
//     R1 = ld.global.b64 [@table]                    the host may write the table, unless the user internalizes it
//     prototype or arguments with other sizes        the call is undefined, and stays
//     one of several functions in optimized code      the code would grow (optimized: inline.c)
//     guarded call of one of several functions       its result keeps its old value where the call does not run
//     result in a register of the module, several    a phi cannot define it
//     parameters accessed in other blocks            such sequences stay as they are (ptxas miscompiles them)
//
// Does not do: more than four functions; lists in variables (`call (r), R1, (a), table`), which the reader rejects.
// Documented: the list of `.calltargets` is complete (PTX ISA, call). Inferred: the rest.
#include "ir/rewrite/inline_call.h"
#include "ir/rewrite/rewrite.h"
#include "phases/module/module.h"

enum { TARGETS_MAX = 4, STEPS_MAX = 64 };

// The functions that a register may be the address of.
typedef struct Targets {
    const Fn *fn;
    const List *list;  // the functions that the call may call; NULL: any
    SymId at[TARGETS_MAX];
    uint32_t n;
    RegId seen[STEPS_MAX];  // phis and selects that were visited
    uint32_t nseen;
} Targets;

typedef struct Devirtualization {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    const ConstantTables *tables;  // of the function
    Arena scratch;
    VEC(InstrId) calls;     // through registers
    uint32_t *in_sequence;  // by call sequence: number of its accesses in the function
    uint32_t nsequences;
    bool *loose;            // by local symbol: an instruction outside of call sequences names it
    VEC(InstrId) accesses;  // of the current call's sequence
    bool progress, split;
} Devirtualization;

/* -- Targets -------------------------------------------------------------------------------------------- */

// True if no other such function has the same address, as an alias or another module may have.
static bool is_distinct(const Fn *fn, SymId sym)
{
    const Sym *s = &fn->module->syms.at[sym];
    return s->fn && s->fn->flags & FN_DEFINED && !(s->flags & SYM_WEAK);
}

// True if a function has the address of none in a list.
static bool is_unlisted(const Fn *fn, const List *list, SymId sym)
{
    bool distinct = is_distinct(fn, sym);
    for (uint32_t k = 0; distinct && k < list->n; k++) {
        SymId listed = op_index(ir_run(fn, list->ops)[k]);
        distinct = listed != sym && is_distinct(fn, listed);
    }
    return distinct;
}

// Adds a function, unless the list of the call lacks it. False: there are too many.
static bool add_target(void *user, SymId sym)
{
    Targets *t = user;
    if (t->list && is_unlisted(t->fn, t->list, sym))
        return true;
    for (uint32_t k = 0; k < t->n; k++)
        if (t->at[k] == sym)
            return true;
    if (t->n == TARGETS_MAX)
        return false;
    t->at[t->n++] = sym;
    return true;
}

// Adds the functions whose addresses an operand may be. False: it may be anything else, too.
static bool find_targets(const Devirtualization *d, Operand o, Targets *t)
{
    const Fn *fn = d->fn;
    if (!op_in_ssa(fn, o))
        return false;
    InstrId def = def_of(d->a, op_index(o));
    if (!def)
        return false;
    for (uint32_t k = 0; k < t->nseen; k++)
        if (t->seen[k] == op_index(o))
            return true;
    if (t->nseen == STEPS_MAX)
        return false;
    t->seen[t->nseen++] = op_index(o);
    const Instr *i = ir_instr(fn, def);
    Opcode op = ir_desc(fn, i)->op;
    Operand first = *ir_use(fn, i, 0);
    if (ir_guarded(i))
        return false;
    if (op == OP_ADDR)
        return op_kind(first) == K_SYM && ir_sym(fn, op_index(first))->kind == SYM_FUNC &&
               const_signed(tab_const(fn->tables, op_index(*ir_use(fn, i, 1)))) == 0 && add_target(t, op_index(first));
    if (op == OP_MOV)
        return find_targets(d, first, t);
    if (op == OP_LD)
        return loaded_functions(d->ctx->tables, d->tables, fn, d->a, i, add_target, t);
    if (op == OP_SELP)
        return find_targets(d, first, t) && find_targets(d, *ir_use(fn, i, 1), t);
    for (uint32_t k = 1; op == OP_PHI && k < ir_nuse(i); k += 2)
        if (!find_targets(d, *ir_use(fn, i, k), t))
            return false;
    return op == OP_PHI;
}

// Finds the functions of a call: those of the register that its list has, or those of the list. False: they are
// unknown, too many or none.
static bool find_functions(const Devirtualization *d, Operand callee, const List *list, Targets *t)
{
    *t = (Targets){.fn = d->fn, .list = list};
    bool found = find_targets(d, callee, t);
    if (!found && list) {
        t->n = 0;
        found = true;
        for (uint32_t k = 0; found && k < list->n; k++)
            found = add_target(t, op_index(ir_run(d->fn, list->ops)[k]));
    }
    return found && t->n;
}

static bool same_kind(const Sym *x, const Sym *y)
{
    return x->size == y->size && x->align == y->align && x->space == y->space && !((x->flags ^ y->flags) & SYM_ARRAY);
}

static bool same_formals(const Fn *fn, const SymId *a, const Fn *callee, const SymId *b, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (!same_kind(ir_sym(fn, a[k]), ir_sym(callee, b[k])))
            return false;
    return true;
}

// True if the prototype of a call fits the function.
static bool prototype_fits(const Fn *fn, const Sig *sig, const Fn *callee)
{
    return callee->sig.nrets == sig->nrets && callee->sig.nparams == sig->nparams &&
           same_formals(fn, sig->rets, callee, callee->sig.rets, sig->nrets) &&
           same_formals(fn, sig->params, callee, callee->sig.params, sig->nparams);
}

typedef struct Passing {
    const Fn *fn, *callee;
    uint32_t n;  // results and arguments so far
    bool fits;
} Passing;

static void check_passed(void *user, bool result, uint32_t k, Operand o)
{
    Passing *p = user;
    const Sig *sig = &p->callee->sig;
    const Sym *formal =
        k < (result ? sig->nrets : sig->nparams) ? ir_sym(p->callee, (result ? sig->rets : sig->params)[k]) : NULL;
    p->n++;
    if (!formal || formal->flags & SYM_OPEN)
        p->fits = false;
    else if (op_kind(o) == K_SYM)
        p->fits &= same_kind(ir_sym(p->fn, op_index(o)), formal);
    else if (op_is_reg(o))
        p->fits &= width_bits((Width)ir_reg(p->fn, op_index(o))->width) == 8 * formal->size;
    else
        p->fits &= !(formal->flags & SYM_ARRAY);
}

// True if the results and arguments of a call fit the function.
static bool operands_fit(const Fn *fn, const Instr *call, const Fn *callee)
{
    Passing p = {.fn = fn, .callee = callee, .fits = true};
    visit_passed(fn, call, check_passed, &p);
    return p.fits && p.n == callee->sig.nrets + callee->sig.nparams;
}

// True if a call with a prototype, NULL: with a list, may call the function directly.
static bool fits(const Fn *fn, const Instr *call, const Sig *sig, SymId target)
{
    const Fn *callee = fn->module->syms.at[target].fn;
    return callee && (sig ? prototype_fits(fn, sig, callee) : operands_fit(fn, call, callee));
}

/* -- One target ----------------------------------------------------------------------------------------- */

// Returns the index of the operand of a call through a register that is the callee; the prototype or the list is the
// last symbol.
static uint32_t callee_index(const Fn *fn, const Instr *call)
{
    Str shape = tab_str(fn->tables, ir_desc(fn, call)->shape);
    uint32_t k = 0;
    bool inside = false;
    for (const char *p = shape.text, *end = p + shape.len; p < end; p++) {
        inside = *p == '(' || (inside && *p != ')');
        if ((*p == '%' || *p == '$') && !inside)
            return k;
        k += *p == '%' || *p == '$';
    }
    return k;
}

// Appends a direct call with the operands of a call through a register. The results are other registers if `results`
// has any.
static InstrId append_direct(Devirtualization *d, BlockId b, InstrId id, SymId target)
{
    Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *desc = ir_desc(fn, i);
    Str shape = tab_str(fn->tables, desc->shape);
    uint32_t at = callee_index(fn, i), n = i->nops, k = 0, kept = 0;
    char *text = arena_copy(&d->scratch, shape.text, shape.len);
    Operand *ops = NEW_ARRAY(&d->scratch, Operand, n);
    size_t len = shape.len - 2;  // without `,$` of the prototype or the list
    for (char *p = text, *end = text + len; p < end; p++)
        if ((*p == '%' || *p == '$') && k++ == at)
            *p = '$';
    for (k = 0; k < n; k++)
        if (k != desc->nops - 1)
            ops[kept++] = k == at ? op_sym(target) : ir_ops(fn, i)[k];
    const char *why;
    DescId direct = desc_intern(fn->tables, desc->mnem, text, len, &why);
    if (!direct)
        heap_fail(fn->arena.heap, ST_INTERNAL, "a call has no direct form");
    InstrId to =
        b ? ir_append(fn, b, direct, i->flags, ops, kept) : ir_insert_before(fn, id, direct, i->flags, ops, kept);
    ir_instr(fn, to)->line = ir_instr(fn, id)->line;
    ir_instr(fn, to)->callseq = ir_instr(fn, id)->callseq;
    return to;
}

/* -- Several targets ------------------------------------------------------------------------------------ */

static uint32_t local_index(Operand o)
{
    return op_kind(o) == K_SYM && op_index(o) & SYM_LOCAL ? op_index(o) & ~(uint32_t)SYM_LOCAL : 0;
}

// Marks the symbols that an instruction outside of call sequences names.
static void note_loose(Devirtualization *d, const Instr *i)
{
    for (uint32_t k = 0; !i->callseq && k < i->nops; k++)
        d->loose[local_index(ir_ops(d->fn, i)[k])] = true;
}

static bool names_loose(const Devirtualization *d, const Instr *call)
{
    for (uint32_t k = 0; k < ir_nuse(call); k++) {
        uint32_t s = local_index(*ir_use(d->fn, call, k));
        if (s && d->loose[s])
            return true;
    }
    return false;
}

// True if phis can define the results of an instruction, which registers of the module cannot be.
static bool joins(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && !op_in_ssa(fn, *ir_def(fn, i, k)))
            return false;
    return true;
}

static void add_access(Devirtualization *d, InstrId id, uint32_t seq)
{
    const Instr *i = ir_instr(d->fn, id);
    if (i->callseq == seq && !ir_guarded(i) && joins(d->fn, i) && ir_desc(d->fn, i)->op != OP_CALL)
        VEC_PUSH(&d->scratch, &d->accesses, id);
}

// Lists the accesses of a call's sequence. False: one of them has a guard or a result that is not in ssa form, or is
// not in the block of the call.
static bool list_accesses(Devirtualization *d, InstrId call)
{
    Fn *fn = d->fn;
    uint32_t seq = ir_instr(fn, call)->callseq;
    if (!seq || seq >= d->nsequences || names_loose(d, ir_instr(fn, call)))
        return false;
    d->accesses.n = 0;
    for (InstrId id = ir_instr(fn, call)->next; id && d->accesses.n < d->in_sequence[seq]; id = ir_instr(fn, id)->next)
        add_access(d, id, seq);
    for (InstrId id = ir_instr(fn, call)->prev; id && d->accesses.n < d->in_sequence[seq]; id = ir_instr(fn, id)->prev)
        add_access(d, id, seq);
    return d->accesses.n == d->in_sequence[seq];
}

// Copies an access into the block of one target. The results of a load are new registers.
static InstrId copy_access(Devirtualization *d, BlockId b, InstrId id, uint32_t seq)
{
    Fn *fn = d->fn;
    uint32_t n = ir_instr(fn, id)->nops;
    Operand *ops = arena_copy(&d->scratch, ir_ops(fn, ir_instr(fn, id)), n * sizeof *ops);
    for (uint32_t k = 0; k < ir_instr(fn, id)->ndef; k++)
        if (op_is_reg(ops[k]))
            ops[k] = op_def(op_reg(fn, reg_like(fn, op_index(ops[k]))));
    InstrId copy = ir_append(fn, b, ir_instr(fn, id)->desc, 0, ops, n);
    ir_instr(fn, copy)->callseq = seq;
    ir_instr(fn, copy)->line = ir_instr(fn, id)->line;
    return copy;
}

// The call of one target: its block, and the copies of the accesses.
typedef struct Arm {
    BlockId block;
    InstrId *copies;  // by index of the access; 0 = none
    InstrId call;
} Arm;

static void fill_arm(Devirtualization *d, Arm *arm, InstrId call, SymId target)
{
    Fn *fn = d->fn;
    uint32_t seq = ++fn->callseqs;
    arm->copies = NEW_ARRAY(&d->scratch, InstrId, d->accesses.n);
    for (int loads = 0; loads < 2; loads++) {
        for (uint32_t k = 0; k < d->accesses.n; k++)
            if ((ir_desc(fn, ir_instr(fn, d->accesses.at[k]))->op == OP_LD) == loads)
                arm->copies[k] = copy_access(d, arm->block, d->accesses.at[k], seq);
        if (loads)
            continue;
        arm->call = append_direct(d, arm->block, call, target);
        Instr *i = ir_instr(fn, arm->call);
        i->callseq = seq;
        for (uint32_t k = 0; k < i->ndef; k++)
            if (op_is_reg(*ir_def(fn, i, k)))
                *ir_def(fn, i, k) = op_def(op_reg(fn, reg_like(fn, op_index(*ir_def(fn, i, k)))));
    }
}

// Inserts phis for the results of an instruction of which each arm has a copy, and removes it.
static void join_results(Devirtualization *d, InstrId id, const Arm *arms, const InstrId *copies, uint32_t n)
{
    Fn *fn = d->fn;
    BlockId b = ir_instr(fn, id)->block;
    for (uint32_t r = 0; r < ir_instr(fn, id)->ndef; r++) {
        Operand ops[1 + 2 * TARGETS_MAX] = {*ir_def(fn, ir_instr(fn, id), r)};
        if (!op_is_reg(ops[0]))
            continue;
        for (uint32_t k = 0; k < n; k++) {
            Operand result = *ir_def(fn, ir_instr(fn, copies[k]), r);
            ops[1 + 2 * k] = op_block(arms[k].block);
            ops[2 + 2 * k] = op_reg(fn, op_index(result));
        }
        ir_insert_before(fn, ir_block(fn, b)->first, desc_phi(fn->tables, n), 0, ops, 1 + 2 * n);
    }
    ir_remove(fn, id);
}

// Ends a block with a comparison of a function's address: the arm if it is equal, else the next block.
static void compare(Devirtualization *d, BlockId b, Operand callee, SymId target, BlockId arm, BlockId next)
{
    Fn *fn = d->fn;
    Tables *t = fn->tables;
    Width width = (Width)ir_reg(fn, op_index(callee))->width;
    RegId address = reg_new(fn, RF_R, width), equal = reg_new(fn, RF_P, W1);
    Operand of[] = {op_def(op_reg(fn, address)), op_sym(target), op_const(fn, 0, W64)};
    Operand test[] = {op_def(op_reg(fn, equal)), callee, op_reg(fn, address)};
    Operand branch[] = {op_block(arm), op_block(next), op_reg(fn, equal)};
    ir_append(fn, b, desc_make(t, OP_ADDR, type_make(TC_U, width)), 0, of, ARRAY_LEN(of));
    ir_append(fn, b, desc_make(t, OP_SETP, type_make(TC_B, width), .mods = {MOD_EQ}), 0, test, ARRAY_LEN(test));
    ir_append(fn, b, desc_parse(t, "bra", "%~"), IF_GUARDED, branch, ARRAY_LEN(branch));
}

typedef struct Renaming {
    const Fn *fn;
    BlockId from, to;
} Renaming;

// Makes the phis of a successor name the block that has the terminator now.
static void rename_in_phis(void *user, Operand *successor)
{
    const Renaming *r = user;
    const Fn *fn = r->fn;
    for (InstrId id = ir_block(fn, op_index(*successor))->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next) {
        const Instr *phi = ir_instr(fn, id);
        for (uint32_t k = 0; k < ir_nuse(phi); k += 2)
            if (op_index(*ir_use(fn, phi, k)) == r->from)
                *ir_use(fn, phi, k) = op_block(r->to);
    }
}

static void split_call(Devirtualization *d, InstrId call, const Targets *t)
{
    Fn *fn = d->fn;
    BlockId b = ir_instr(fn, call)->block, join = block_new(fn), at = b;
    Operand callee = ir_ops(fn, ir_instr(fn, call))[callee_index(fn, ir_instr(fn, call))];
    Arm arms[TARGETS_MAX] = {{0}};
    block_insert_after(fn, join, b);
    block_take(fn, join, call);
    Renaming renaming = {fn, b, join};
    ir_successors(fn, ir_terminator(fn, join), rename_in_phis, &renaming);
    for (uint32_t k = t->n; k-- > 0;) {
        arms[k].block = block_new(fn);
        block_insert_after(fn, arms[k].block, b);
        fill_arm(d, &arms[k], call, t->at[k]);
        Operand to = op_block(join);
        ir_append(fn, arms[k].block, desc_make(fn->tables, OP_BRA), 0, &to, 1);
    }
    for (uint32_t k = 0; k + 1 < t->n; k++) {
        BlockId next = k + 2 < t->n ? block_new(fn) : arms[k + 1].block;
        if (k + 2 < t->n)
            block_insert_after(fn, next, at);
        compare(d, at, callee, t->at[k], arms[k].block, next);
        at = next;
    }
    for (uint32_t k = 0; k < d->accesses.n; k++) {
        InstrId copies[TARGETS_MAX];
        for (uint32_t arm = 0; arm < t->n; arm++)
            copies[arm] = arms[arm].copies[k];
        join_results(d, d->accesses.at[k], arms, copies, t->n);
    }
    InstrId calls[TARGETS_MAX];
    for (uint32_t arm = 0; arm < t->n; arm++)
        calls[arm] = arms[arm].call;
    join_results(d, call, arms, calls, t->n);
    d->split = true;
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

static void report(Devirtualization *d, InstrId call, const Targets *t)
{
    const Module *m = d->fn->module;
    char name[200];
    name_text(&m->tables, m->syms.at[t->at[0]].name, name, sizeof name);
    if (t->n == 1)
        remark(d->ctx, d->fn, call, RM_PASSED, "Devirtualized", "the call through a register is a call of {Callee:%s}",
               name);
    else
        remark(d->ctx, d->fn, call, RM_PASSED, "Devirtualized",
               "the call through a register is a call of one of {Functions:%u} functions, as of {Callee:%s}", t->n,
               name);
}

static void devirtualize(Devirtualization *d, InstrId call)
{
    Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, call);
    Operand proto = *ir_use(fn, i, ir_nuse(i) - 1);
    const Sym *s = op_kind(proto) == K_SYM ? ir_sym(fn, op_index(proto)) : NULL;
    const List *list = call_targets(fn, i);
    Targets t;
    if (!s || (!list && s->kind != SYM_PROTO) || !find_functions(d, ir_ops(fn, i)[callee_index(fn, i)], list, &t))
        return;
    for (uint32_t k = 0; k < t.n; k++)
        if (!fits(fn, i, list ? NULL : s->sig, t.at[k]))
            return;
    if (t.n > 1 && (d->ctx->optimized || ir_guarded(i) || !joins(fn, i) || !list_accesses(d, call)))
        return;
    report(d, call, &t);
    d->ctx->module.calls_devirtualized++;
    d->progress = true;
    if (t.n > 1) {
        split_call(d, call, &t);
        return;
    }
    append_direct(d, 0, call, t.at[0]);
    ir_remove(fn, call);
}

// Removes the lists that no call names.
static void drop_lists(Devirtualization *d)
{
    Fn *fn = d->fn;
    bool *used = NEW_ARRAY(&d->scratch, bool, fn->syms.n + 1);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op == OP_CALL && call_targets(fn, i))
                used[local_index(*ir_use(fn, i, ir_nuse(i) - 1))] = true;
        }
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (ir_sym(fn, k | SYM_LOCAL)->kind == SYM_CALLTARGETS && !used[k])
            ir_sym(fn, k | SYM_LOCAL)->flags |= SYM_GONE;
}

bool phase_devirtualize(Ctx *ctx, Fn *fn)
{
    Devirtualization d = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_DEF)};
    arena_init(&d.scratch, fn->arena.heap);
    d.nsequences = fn->callseqs + 1;
    d.in_sequence = NEW_ARRAY(&d.scratch, uint32_t, d.nsequences);
    d.loose = NEW_ARRAY(&d.scratch, bool, fn->syms.n + 1);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool call = ir_desc(fn, i)->op == OP_CALL;
            d.in_sequence[i->callseq] += !call;
            note_loose(&d, i);
            if (call && !ir_callee(fn, i))
                VEC_PUSH(&d.scratch, &d.calls, id);
        }
    d.tables = d.calls.n ? constant_tables_of(fn, &d.scratch) : NULL;
    // A split moves what is behind the call, so the last call of a block is first.
    for (uint32_t k = d.calls.n; k-- > 0;)
        devirtualize(&d, d.calls.at[k]);
    if (d.progress)
        drop_lists(&d);
    uint32_t place = 0;
    for (BlockId b = d.split ? fn->first : 0; b; b = ir_block(fn, b)->next)
        ir_block(fn, b)->source = place++;
    arena_free(&d.scratch);
    return d.progress;
}
