// SPDX-License-Identifier: MIT
// Decodes functions for execution. Resolves operands to rows of a frame and constants, branches to positions in the
// code, and symbols to addresses. Selects the function that runs each instruction.
#include "ir/machine/machine_internal.h"

typedef struct FuncBuilder {
    Machine *machine;
    Func *func;
    const Fn *fn;
    uint32_t *row;      // by RegId
    uint32_t *start;    // by BlockId: position of its first instruction that is no phi
    uint32_t nrows;     // number of rows of registers
    uint32_t *written;  // by RegId: the last edge on which a phi wrote the register
    uint32_t nedges;
    Analyses analyses;
} FuncBuilder;

static uint32_t local_of(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

/* -- Symbols of the function ---------------------------------------------------------------------------- */

bool is_kernel_parameter(const Fn *fn, const Sym *s) { return s->kind == SYM_FORMAL && fn->flags & FN_KERNEL; }

// Places a local symbol in its space. Shared, global and constant variables of all functions have disjoint places.
static void place_symbol(Machine *m, Func *f, uint32_t id)
{
    const Sym *s = ir_sym(f->fn, id | SYM_LOCAL);
    const Tables *t = f->fn->tables;
    if (is_kernel_parameter(f->fn, s))
        return;
    if (s->kind == SYM_CALLPARAM || s->kind == SYM_FORMAL) {
        f->local_at[id] = layout_place(m, &f->formals, m->stack_gap, t, s);
        f->param_at[id] = f->formals.variables.at[f->formals.variables.n - 1].host;
    } else if (s->kind == SYM_VAR && s->space == SP_LOCAL) {
        f->local_at[id] = layout_place(m, &f->variables, m->stack_gap, t, s);
    } else if (s->kind == SYM_VAR && s->space == SP_SHARED) {
        f->local_at[id] = layout_place(m, &m->shared, m->shared_gap, t, s);
    } else if (s->kind == SYM_VAR && (s->space == SP_GLOBAL || s->space == SP_CONST)) {
        f->local_at[id] = memory_add_static(m, f, s);
    }
}

static Func *place_symbols(Machine *m, const Fn *fn)
{
    Func *f = NEW(&m->arena, Func);
    uint32_t n = fn->syms.n;
    *f = (Func){.fn = fn, .sym = fn->sym};
    f->param_at = NEW_ARRAY(&m->arena, uint64_t, n);
    f->local_at = NEW_ARRAY(&m->arena, uint64_t, n);
    for (uint32_t id = 1; id < n; id++)
        place_symbol(m, f, id);
    layout_close(&f->formals, m->stack_gap);
    f->params = f->formals.host;
    f->span = layout_close(&f->variables, m->stack_gap);
    f->locals = f->variables.host;
    for (uint32_t p = 0; fn->flags & FN_KERNEL && p < fn->sig.nparams; p++)
        f->local_at[local_of(fn->sig.params[p])] =
            layout_place(m, &f->launched, m->stack_gap, fn->tables, ir_sym(fn, fn->sig.params[p]));
    return f;
}

static const Fn *fn_of(const Module *m, SymId entry) { return m->syms.at[entry].fn; }

uint64_t machine_param(const Module *m, SymId entry, uint32_t k, uint64_t *bytes)
{
    const Fn *fn = fn_of(m, entry);
    uint64_t at = 0, end = 0;
    for (uint32_t p = 0; p <= k; p++) {
        const Sym *s = ir_sym(fn, fn->sig.params[p]);
        *bytes = s->size;
        at = memory_place(&end, s->align, s->size);
    }
    return at;
}

uint32_t machine_params(const Module *m, SymId entry)
{
    const Fn *fn = fn_of(m, entry);
    return fn ? fn->sig.nparams : 0;
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static OperandRef ref_of_symbol(FuncBuilder *k, SymId s)
{
    const Sym *sym = ir_sym(k->fn, s);
    if (!(s & SYM_LOCAL))
        return (OperandRef){.kind = REF_CONST, .bits = k->machine->symbols[s]};
    if (sym->kind == SYM_VAR && sym->space == SP_LOCAL)
        return (OperandRef){.kind = REF_LOCAL, .bits = k->func->local_at[local_of(s)]};
    return (OperandRef){.kind = REF_CONST, .bits = k->func->local_at[local_of(s)]};
}

// True for a parameter in the frame.
static bool is_frame_parameter(const Fn *fn, Operand o)
{
    if (op_kind(o) != K_SYM || !(op_index(o) & SYM_LOCAL))
        return false;
    const Sym *sym = ir_sym(fn, op_index(o));
    return sym->kind != SYM_VAR && !is_kernel_parameter(fn, sym);
}

// True for a register of the module: a named register that is no formal of the function.
static bool is_of_module(const Fn *fn, RegId r)
{
    const Reg *reg = ir_reg(fn, r);
    for (uint32_t id = 1; reg->flags & REG_NAMED && id < fn->syms.n; id++)
        if (ir_sym(fn, id | SYM_LOCAL)->kind == SYM_FORMAL && name_same(ir_sym(fn, id | SYM_LOCAL)->name, reg->name))
            return false;
    return reg->flags & REG_NAMED;
}

static uint32_t module_row(FuncBuilder *k, RegId r)
{
    Machine *m = k->machine;
    Name name = ir_reg(k->fn, r)->name;
    uint32_t row = 0;
    while (row < m->registers.n && !name_same(m->registers.at[row], name))
        row++;
    if (row == m->registers.n)
        VEC_PUSH(&m->arena, &m->registers, name);
    return row;
}

static OperandRef ref_of(FuncBuilder *k, Operand o)
{
    OperandRef ref = {.kind = REF_NONE};
    switch (op_kind(o)) {
    case K_REG:
        ref.kind = is_of_module(k->fn, op_index(o)) ? REF_MODULE : REF_REG;
        ref.at = ref.kind == REF_MODULE ? module_row(k, op_index(o)) : k->row[op_index(o)];
        ref.width = ir_reg(k->fn, op_index(o))->width;
        break;
    case K_IMM:
        ref.kind = op_index(o) == CONST_UNDEF ? REF_UNDEF : REF_CONST;
        ref.bits = op_index(o) == CONST_UNDEF ? UNDEF_BITS : tab_const(k->fn->tables, op_index(o)).bits;
        break;
    case K_SREG:
        ref.kind = REF_SREG;
        ref.at = op_index(o);
        break;
    case K_SYM: ref = ref_of_symbol(k, op_index(o)); break;
    default: break;
    }
    ref.negated = o.mods & OPM_NOT;
    return ref;
}

static OperandRef *refs_of(FuncBuilder *k, const Operand *ops, uint32_t n)
{
    OperandRef *refs = NEW_ARRAY(&k->machine->arena, OperandRef, n);
    for (uint32_t o = 0; o < n; o++)
        refs[o] = ref_of(k, ops[o]);
    return refs;
}

static void make_operands(FuncBuilder *k, Code *c, const Instr *i)
{
    c->nin = ir_nuse(i);
    c->nout = i->ndef;
    c->in = refs_of(k, ir_use(k->fn, i, 0), c->nin);
    c->out = refs_of(k, ir_def(k->fn, i, 0), c->nout);
    if (ir_ntied(i))
        c->tied = refs_of(k, ir_tied(k->fn, i, 0), c->nout);
    c->guarded = ir_guarded(i);
    if (c->guarded)
        c->guard = ref_of(k, *ir_guard(k->fn, i));
    for (uint32_t n = 0; n < c->nin; n++)
        if (is_frame_parameter(k->fn, *ir_use(k->fn, i, n)))
            c->symbol = op_index(*ir_use(k->fn, i, n));
}

// Turns OP_UNDEF into a move of the constant undef.
static void make_undef(FuncBuilder *k, Code *c)
{
    static const Operand undef = {.word = (uint32_t)K_IMM << 28 | CONST_UNDEF};
    c->in = refs_of(k, &undef, 1);
    c->nin = 1;
}

void code_take_result(Code *c)
{
    c->out = c->in++;
    c->nout = 1;
    c->nin--;
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

static uint32_t count_phis(const Fn *fn, BlockId b)
{
    uint32_t n = 0;
    for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next)
        n++;
    return n;
}

// Returns the input of a phi for a predecessor. The search begins at *near, the index of the previous input: the phis
// of a block usually have their inputs in the same order.
static Operand input_from(const Fn *fn, const Instr *phi, BlockId from, uint32_t *near)
{
    if (*near >= ir_nuse(phi) || op_index(*ir_use(fn, phi, *near)) != from)
        for (*near = 0; op_index(*ir_use(fn, phi, *near)) != from;)
            *near += 2;
    return *ir_use(fn, phi, *near + 1);
}

// Returns an edge with the moves of the phis. All phis of a block read before any of them writes. So an
// input that an earlier phi overwrites is first copied to a temporary row.
static CodeEdge edge_to(FuncBuilder *k, BlockId from, BlockId to)
{
    const Fn *fn = k->fn;
    uint32_t n = count_phis(fn, to), naside = 0, near = 0, rows = k->nrows, edge = ++k->nedges;
    Move *moves = NEW_ARRAY(&k->machine->arena, Move, 2 * n);  // temporaries from the middle down
    InstrId id = ir_block(fn, to)->first;
    for (uint32_t p = 0; p < n; p++, id = ir_instr(fn, id)->next) {
        const Instr *phi = ir_instr(fn, id);
        Operand def = *ir_def(fn, phi, 0), input = input_from(fn, phi, from, &near);
        Move *move = &moves[n + p];
        *move = (Move){ref_of(k, def), ref_of(k, input)};
        if (op_is_reg(input) && k->written[op_index(input)] == edge) {
            OperandRef aside = {.kind = REF_REG, .width = move->from.width, .at = rows};
            rows += aside.width == W128 ? 2 : 1;
            moves[n - ++naside] = (Move){aside, move->from};
            move->from = aside;
        }
        if (op_is_reg(def))
            k->written[op_index(def)] = edge;
    }
    k->func->nrows = MAX(k->func->nrows, rows);
    return (CodeEdge){.pc = k->start[to], .nmoves = naside + n, .moves = moves + n - naside};
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static uint32_t elements_of(Mod vec) { return vec == MOD_V2 ? 2 : vec == MOD_V4 ? 4 : vec == MOD_V8 ? 8 : 1; }

// Functions that run the instructions outside the evaluator, with the minimum numbers of their inputs and outputs. A
// load, a store or an atomic operation has one more for each element.
static const struct {
    CodeRun *run;
    uint8_t nin, nout;
} runs[OPCODE_COUNT] = {
    [OP_UNDEF] = {run_undef, 1, 1},
    [OP_ADDR] = {run_addr, 2, 1},
    [OP_LD] = {run_ld, 2, 0},
    [OP_LDU] = {run_ld, 2, 0},
    [OP_ST] = {run_st, 2, 0},
    [OP_CVTA] = {run_cvta, 1, 1},
    [OP_CVTA_ADDR] = {run_cvta, 1, 1},
    [OP_CVTA_TO] = {run_cvta_to, 1, 1},
    [OP_ISSPACEP] = {run_isspacep, 1, 1},
    [OP_MAPA] = {run_mapa, 2, 1},
    [OP_MAPA_ADDR] = {run_mapa, 3, 1},
    [OP_CTARANK] = {run_ctarank, 1, 1},
    [OP_CTARANK_ADDR] = {run_ctarank, 2, 1},
    [OP_CLUSTER_ARRIVE] = {run_cluster_arrive, 0, 0},
    [OP_CLUSTER_WAIT] = {run_cluster_wait, 0, 0},
    [OP_ATOM] = {run_atom, 2, 0},
    [OP_RED] = {run_atom, 2, 0},
    [OP_BRA] = {run_bra, 1, 0},
    [OP_BRX] = {run_brx, 2, 0},
    [OP_CALL] = {run_call, 1, 0},
    [OP_RET] = {run_ret, 0, 0},
    [OP_EXIT] = {run_exit, 0, 0},
    [OP_TRAP] = {run_trap, 0, 0},
    [OP_BAR_SYNC] = {run_bar, 1, 0},
    [OP_BAR_ARRIVE] = {run_bar, 1, 0},
    [OP_BAR_RED] = {run_bar, 2, 1},
    [OP_BARRIER_SYNC] = {run_bar, 1, 0},
    [OP_BARRIER_ARRIVE] = {run_bar, 1, 0},
    [OP_BAR_WARP] = {run_bar_warp, 1, 0},
    [OP_SHFL_SYNC] = {run_shfl, 4, 0},
    [OP_SHFL] = {run_shfl, 3, 0},
    [OP_VOTE_SYNC] = {run_vote, 2, 0},
    [OP_VOTE] = {run_vote, 1, 0},
    [OP_MATCH_ANY] = {run_match, 2, 0},
    [OP_MATCH_ALL] = {run_match, 2, 0},
    [OP_REDUX] = {run_redux, 2, 0},
    [OP_ACTIVEMASK] = {run_activemask, 0, 1},
    [OP_ELECT] = {run_elect, 1, 0},
    [OP_MEMBAR] = {run_fence, 0, 0},
    [OP_FENCE] = {run_fence, 0, 0},
    [OP_NANOSLEEP] = {run_nothing, 0, 0},
    [OP_CREATEPOLICY] = {run_createpolicy, 0, 1},
    [OP_PREFETCH] = {run_nothing, 0, 0},
    [OP_PREFETCHU] = {run_nothing, 0, 0},
};

// Returns the number of inputs of a memory access after its address.
static uint32_t elements_in(const Code *c)
{
    if (c->op == OP_ATOM || c->op == OP_RED)
        return c->vec + (c->action == MOD_CAS);
    return c->op == OP_ST ? c->vec : 0;
}

// True if the instruction has the operands that its function reads. An instruction of the input may have fewer.
static bool has_operands(const Code *c)
{
    bool loads = c->op == OP_LD || c->op == OP_LDU, accesses = loads || c->op == OP_ST || elements_in(c);
    if (accesses && !c->bytes)
        return false;
    return c->nin >= runs[c->op].nin + elements_in(c) && c->nout >= (loads ? c->vec : runs[c->op].nout);
}

static void make_targets(FuncBuilder *k, Code *c, const Instr *i, const Desc *d)
{
    const Fn *fn = k->fn;
    BlockId joins = is_reachable(&k->analyses, i->block) ? k->analyses.pdom.idom[i->block] : 0;
    c->join = joins ? k->start[joins] : NO_PC;
    if (d->op == OP_BRA)
        c->target = edge_to(k, i->block, op_index(*ir_use(fn, i, 0)));
    if (ir_guarded(i))
        c->other = edge_to(k, i->block, op_index(ir_ops(fn, i)[d->nops - 1]));
    if (d->op != OP_BRX)
        return;
    const List *list = ir_list(fn, op_index(*ir_use(fn, i, 1)));
    CodeEdge *targets = NEW_ARRAY(&k->machine->arena, CodeEdge, list->n);
    for (uint32_t t = 0; t < list->n; t++)
        targets[t] = edge_to(k, i->block, op_index(ir_run(fn, list->ops)[t]));
    c->targets = targets;
    c->ntargets = list->n;
}

static bool is_parameter(const Fn *fn, Operand o)
{
    if (op_kind(o) != K_SYM)
        return false;
    uint8_t kind = ir_sym(fn, op_index(o))->kind;
    return kind == SYM_CALLPARAM || kind == SYM_FORMAL;
}

static bool is_argument(const Fn *fn, Operand o)
{
    return is_parameter(fn, o) || op_kind(o) == K_REG || op_kind(o) == K_IMM;
}

CallOperands call_operands(const Fn *fn, const Instr *i)
{
    CallOperands c = {0, 0, 0, 0};
    uint32_t n = ir_nuse(i);
    while (c.results < n && is_parameter(fn, *ir_use(fn, i, c.results)))
        c.results++;
    c.callee = c.results;
    c.arguments = c.callee + 1;
    while (c.arguments + c.narguments < n && is_argument(fn, *ir_use(fn, i, c.arguments + c.narguments)))
        c.narguments++;
    return c;
}

static void make_code(FuncBuilder *k, Code *c, InstrId id)
{
    const Fn *fn = k->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    *c = (Code){.instr = i, .id = id, .op = d->op, .type = (Type)m->type[0]};
    make_operands(k, c, i);
    c->space = (uint8_t)mod_space((Mod)m->mod[MC_SPACE]);
    c->vec = (uint8_t)elements_of((Mod)m->mod[MC_VEC]);
    c->bytes = (uint8_t)(width_bits(type_info[c->type].width) / 8);
    c->extends = type_info[c->type].class == TC_S;
    c->action = m->mod[MC_OP] ? m->mod[MC_OP] : m->mod[MC_MODE] ? m->mod[MC_MODE] : m->mod[MC_UNI];
    c->sem = m->mod[MC_SEM] ? m->mod[MC_SEM] : m->mod[MC_MMIO] ? MOD_RELAXED : MOD_NONE;
    c->scope = m->mod[MC_SCOPE];
    c->transfers = d->traits & TR_TERM;
    c->converges = d->traits & TR_CONV;
    if (d->traits & TR_TERM)
        make_targets(k, c, i, d);
    if (d->op == OP_CALL)
        c->in[0] = ref_of(k, *ir_use(fn, i, call_operands(fn, i).callee));
    if (d->op == OP_UNDEF)
        make_undef(k, c);
    if (!stack_decode(fn->tables, d, c) && !matrix_decode(fn->tables, d, c) && !async_decode(fn->tables, d, c) &&
        !hint_decode(fn->tables, d, c))
        c->run = runs[d->op].run ? runs[d->op].run : eval_decode(fn->tables, d, &c->eval) ? run_eval : run_unsupported;
    if (runs[d->op].run == c->run && !has_operands(c))
        c->run = run_unsupported;
    for (uint32_t n = 0; n < c->nin; n++)
        if (c->in[n].kind == REF_SREG && !sreg_is_known((Sreg)c->in[n].at))
            c->run = run_unknown_sreg;
}

/* -- Functions ------------------------------------------------------------------------------------------ */

// True for instructions that are decoded to code. Phis run on the edges to their block.
static bool is_code(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return !(d->traits & TR_MARKER) && d->op != OP_PHI;
}

static void number_rows(FuncBuilder *k)
{
    const Fn *fn = k->fn;
    k->row = NEW_ARRAY(&k->machine->arena, uint32_t, fn->regs.n);
    for (RegId r = 1; r < fn->regs.n; r++) {
        k->row[r] = k->nrows;
        k->nrows += ir_reg(fn, r)->width == W128 ? 2 : 1;
    }
    k->func->nrows = k->nrows;
}

static void make_func(Machine *m, Func *f)
{
    const Fn *fn = f->fn;
    FuncBuilder k = {.machine = m, .func = f, .fn = fn};
    analysis_init(&k.analyses, m->heap);
    analysis_compute(fn, &k.analyses, AN_CFG | AN_RPO | AN_PDOM);
    k.start = NEW_ARRAY(&m->arena, uint32_t, fn->blocks.n);
    FOR_BLOCKS(fn, b) {
        k.start[b] = f->ncode;
        FOR_INSTRS(fn, b, id)
            f->ncode += is_code(fn, ir_instr(fn, id));
    }
    number_rows(&k);
    k.written = NEW_ARRAY(&m->arena, uint32_t, fn->regs.n);
    f->row = k.row;
    f->first = m->ncode;
    m->ncode += f->ncode;
    f->code = arena_alloc(&m->arena, MAX(f->ncode, 1) * sizeof *f->code);
    uint32_t n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (is_code(fn, ir_instr(fn, id)))
                make_code(&k, &f->code[n++], id);
    analysis_free(&k.analyses);
}

// Returns the function with this name, or 0.
static SymId find_function(const Module *m, const char *text, size_t len)
{
    char name[500];
    for (SymId s = 1; s < m->syms.n; s++)
        if (m->syms.at[s].kind == SYM_FUNC &&
            strlen(name_text(&m->tables, m->syms.at[s].name, name, sizeof name)) == len && memcmp(name, text, len) == 0)
            return s;
    return 0;
}

// Resolves `.alias NAME, FUNCTION`, another name of a function.
static void name_aliases(Machine *m)
{
    const Module *module = m->module;
    for (uint32_t k = 0; k < module->items.n; k++) {
        const Item *item = &module->items.at[k];
        Str text = module_item_text(module, item);
        const char *comma =
            text.len > 7 && memcmp(text.text, ".alias ", 7) == 0 ? memchr(text.text, ',', text.len) : NULL;
        if (!comma)
            continue;
        const char *end = text.text + text.len, *target = comma + 1;
        while (target < end && *target == ' ')
            target++;
        while (end > target && (end[-1] == ';' || end[-1] == ' '))
            end--;
        SymId alias = find_function(module, text.text + 7, (size_t)(comma - text.text) - 7);
        SymId to = find_function(module, target, (size_t)(end - target));
        if (alias && to)
            m->funcs[alias] = m->funcs[to];
    }
}

void program_make(Machine *m)
{
    const Module *module = m->module;
    m->funcs = NEW_ARRAY(&m->arena, Func *, module->syms.n);
    for (uint32_t k = 0; k < module->fns.n; k++) {
        const Fn *fn = module->fns.at[k];
        if (fn && fn->flags & FN_DEFINED)
            m->funcs[fn->sym] = place_symbols(m, fn);
    }
    name_aliases(m);
    // Dynamic shared memory follows the shared variables.
    layout_close(&m->shared, m->shared_gap);
    for (SymId s = 1; s < module->syms.n; s++) {
        const Sym *sym = &module->syms.at[s];
        if (sym->kind != SYM_VAR || sym->space != SP_SHARED || !(sym->flags & SYM_OPEN))
            continue;
        m->symbols[s] = m->shared.end;
        m->names_dynamic = true;
    }
    for (SymId s = 1; s < module->syms.n; s++)
        if (m->funcs[s] && m->funcs[s]->sym == s)
            make_func(m, m->funcs[s]);
}

Func *func_of(Machine *m, SymId sym) { return m->funcs[sym]; }
