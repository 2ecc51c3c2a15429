// SPDX-License-Identifier: MIT
// Replaces a call by a copy of the callee's body.
//
// A parameter becomes a `.local` variable of the caller: accesses of `.param` become accesses of this variable with
// the same widths, so promotion of `.local` variables takes it apart. The block is split behind the call, and each
// `ret` of the copy branches there. Thus threads reconverge where they returned.
//
//     st.param.b32 [@a0], R1  #1                st.local.b32 [@a], R1
//     call (@q0), @f, (@a0)   #1          ->    bra b7
//     R2 = ld.param.b32 [@q0] #1                b7: R9 = ld.local.b32 [@a] ...   st.local.b32 [@r], R10; bra b8
//                                               b8: R2 = ld.local.b32 [@r]
//
// inline_check.c has the conditions, inline_lines.c copies source lines. Behind a `trap`, which ends the grid, the copy
// branches behind the call.
//
// Local variables of the callee become variables of the caller. A copy that runs again in a loop reads what it wrote
// before, where the callee reads undefined bytes. Two inlined calls never run at the same time unless one contains the
// other, so large variables of calls without inlined calls share storage. Small ones do not, since shared variables are
// harder to promote.
#include "ir/rewrite/inline_internal.h"

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
    LineCopy lines;
    DescId *desc;       // by index in the callee's own tables
    ConstId *consts;    // the same
    bool leaf;          // no calls in the copy will be inlined
    uint32_t number;    // of inlined calls, this one included
    uint32_t *callseq;  // by call sequence
    BlockId exit;       // the block behind the call
    bool stopped;       // an instruction of the current block stops the grid
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

// Returns the number of the copy of a call sequence. Sequences of inlined calls are gone, so numbers stay few.
static uint32_t copy_sequence(Copy *c, uint32_t number)
{
    if (number && !c->callseq[number])
        c->callseq[number] = ++c->fn->callseqs;
    return number ? c->callseq[number] : 0;
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
    copy->line = line_copy(&c->lines, i->line);
    copy->callseq = copy_sequence(c, i->callseq);
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
    FOR_SEQUENCE(c->in, sequence, access)
    {
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
    Copy c = {.in = in, .fn = fn, .from = callee, .leaf = leaf, .number = in->inlined + 1};
    BlockId b = ir_instr(fn, id)->block;
    InstrId behind = ir_instr(fn, id)->next;
    arena_init(&c.arena, fn->arena.heap);
    c.reg = NEW_ARRAY(&c.arena, RegId, callee->regs.n);
    c.block = NEW_ARRAY(&c.arena, BlockId, callee->blocks.n);
    c.sym = NEW_ARRAY(&c.arena, SymId, callee->syms.n);
    c.list = NEW_ARRAY(&c.arena, ListId, callee->lists.n);
    c.lines = line_copy_begin(&c.arena, fn, callee, ir_instr(fn, id)->line);
    c.desc = NEW_ARRAY(&c.arena, DescId, callee->tables->descs.n);
    c.consts = NEW_ARRAY(&c.arena, ConstId, callee->tables->consts.n);
    c.callseq = NEW_ARRAY(&c.arena, uint32_t, callee->callseqs + 1);
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
