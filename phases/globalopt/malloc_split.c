// SPDX-License-Identifier: MIT
// Changes the code for memory of malloc that is split into fields; malloc_fields.c has the strategy.
#include "phases/globalopt/malloc_fields.h"

/* -- Registers ------------------------------------------------------------------------------------------ */

// Returns the field of an access.
static uint32_t field_of(const BlockSplit *h, const FieldEdit *e)
{
    const Fn *fn = h->g->m->fns.at[e->fn];
    int64_t lo = h->pointers.at[e->pointer].lo;
    Operand offset = ir_ops(fn, ir_instr(fn, e->instr))[e->operand + 1];
    int64_t first = lo == -ANY ? 0 : MAX(lo + const_signed(tab_const(fn->tables, op_index(offset))), 0);
    return (uint32_t)(field_at(h->fields.at, h->fields.n, (uint64_t)first) - h->fields.at);
}

static bool *need(const BlockSplit *h, uint32_t pointer, uint32_t field)
{
    return &h->needs[pointer * h->fields.n + field];
}

// Marks the fields that the uses of pointers need, and then those that copies need.
static void find_needs(BlockSplit *h)
{
    uint32_t n = h->fields.n;
    h->needs = NEW_ARRAY(&h->g->scratch, bool, h->pointers.n *n);
    for (uint32_t k = 0; k < h->edits.n; k++) {
        const FieldEdit *e = &h->edits.at[k];
        bool all = e->kind == FE_MALLOC || e->kind == FE_SAVE || e->kind == FE_FREE;
        for (uint32_t field = 0; field < n; field++)
            *need(h, e->pointer, field) |=
                all || (e->kind == FE_COMPARE && !field) || (e->kind == FE_ACCESS && e->field == field);
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = h->edits.n; k-- > 0;) {
            const FieldEdit *e = &h->edits.at[k];
            for (uint32_t field = 0; field < n && e->kind == FE_COPY; field++) {
                again |= *need(h, e->pointer, field) && !*need(h, e->from, field);
                *need(h, e->from, field) |= *need(h, e->pointer, field);
            }
        }
    }
}

// Returns the register of a field that replaces a pointer.
static RegId reg_of(const BlockSplit *h, uint32_t pointer, uint32_t field)
{
    RegId *r = &h->regs[pointer * h->fields.n + field];
    const BlockPointer *p = &h->pointers.at[pointer];
    Fn *fn = h->g->m->fns.at[p->fn];
    if (!*r) {
        *r = reg_like(fn, p->reg);
        part_show(h->g, h->v, fn, *r, ".f", field);
    }
    return *r;
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

// Inserts a copy of an instruction of a call sequence, with other parameters and another operand k.
static void copy_part(const BlockSplit *h, Fn *fn, InstrId id, InstrId before, const SymId *params, uint32_t k,
                      Operand operand)
{
    const Instr *i = ir_instr(fn, id);
    uint32_t n = i->nops;
    DescId desc = i->desc;
    uint8_t flags = i->flags;
    LineId line = i->line;
    Operand *ops = arena_copy(&h->g->scratch, ir_ops(fn, i), n * sizeof *ops);
    for (uint32_t at = 0; at < n; at++)
        for (const SymId *p = params; *p; p += 2)
            if (op_kind(ops[at]) == K_SYM && op_index(ops[at]) == p[0])
                ops[at] = op_sym(p[1]);
    if (k < n)
        ops[k] = operand;
    InstrId copy = ir_insert_before(fn, before, desc, flags, ops, n);
    ir_instr(fn, copy)->callseq = fn->callseqs;
    ir_instr(fn, copy)->line = line;
}

// Inserts a copy of a call sequence that passes this argument. Its result, if it has one, is in `result`.
static void copy_call(const BlockSplit *h, uint32_t function, const Sequence *s, InstrId before, Operand argument,
                      RegId result)
{
    Fn *fn = h->g->m->fns.at[function];
    SymId params[5] = {op_index(*ir_use(fn, ir_instr(fn, s->argument), 0))};
    if (result)
        params[2] = op_index(*ir_use(fn, ir_instr(fn, s->result), 0));
    for (SymId *p = params; *p; p += 2)
        p[1] = param_new(h->g, function, p[0]);
    fn->callseqs++;
    copy_part(h, fn, s->argument, before, params, 2, argument);
    copy_part(h, fn, s->call, before, params, UINT32_MAX, op_none());
    if (result)
        copy_part(h, fn, s->result, before, params, 0, op_def(op_reg(fn, result)));
}

/* -- Failure of malloc ---------------------------------------------------------------------------------- */

// Appends instructions to a block.
typedef struct Builder {
    Fn *fn;
    BlockId block;
    LineId line;
} Builder;

static void append(const Builder *b, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = ir_append(b->fn, b->block, desc, flags, ops, n);
    ir_instr(b->fn, id)->line = b->line;
}

static RegId append_comparison(const Builder *b, Mod cmp, RegId with_null)
{
    RegId p = reg_new(b->fn, RF_P, W1);
    append(b, desc_make(b->fn->tables, OP_SETP, TY_S64, .mods = {cmp}), 0,
           (Operand[]){op_def(op_reg(b->fn, p)), op_reg(b->fn, with_null), op_const(b->fn, 0, W64)}, 3);
    return p;
}

static void append_move(const Builder *b, RegId to, uint64_t value)
{
    append(b, desc_make(b->fn->tables, OP_MOV, type_make(TC_B, W64)), 0,
           (Operand[]){op_def(op_reg(b->fn, to)), op_const(b->fn, value, W64)}, 2);
}

// Appends a branch to the next block in the layout.
static void append_jump(const Builder *b, BlockId to)
{
    append(b, desc_make(b->fn->tables, OP_BRA), IF_IMPLICIT, (Operand[]){op_block(to)}, 1);
}

static void append_branch(const Builder *b, RegId condition, BlockId to, BlockId otherwise)
{
    append(b, desc_parse(b->fn->tables, "bra", "%~"), IF_GUARDED,
           (Operand[]){op_block(to), op_block(otherwise), op_reg(b->fn, condition)}, 3);
}

// Appends the condition that malloc failed for some field: the size is negative, or a pointer is null.
static RegId append_condition(const BlockSplit *h, const Builder *b, uint32_t pointer)
{
    RegId size = reg_new(b->fn, RF_R, W64);
    append_move(b, size, h->bytes);
    RegId any = append_comparison(b, MOD_LT, size);
    part_show(h->g, h->v, b->fn, any, ".isneg", NO_NUMBER);
    for (uint32_t field = 0; field < h->fields.n; field++) {
        RegId null = append_comparison(b, MOD_EQ, reg_of(h, pointer, field)), sum = reg_new(b->fn, RF_P, W1);
        part_show(h->g, h->v, b->fn, null, ".isnull", field);
        append(b, desc_make(b->fn->tables, OP_OR, TY_PRED), 0,
               (Operand[]){op_def(op_reg(b->fn, sum)), op_reg(b->fn, any), op_reg(b->fn, null)}, 3);
        any = sum;
    }
    return any;
}

static BlockId insert_block(const BlockSplit *h, uint32_t function, BlockId after, const char *name, uint32_t number)
{
    Fn *fn = h->g->m->fns.at[function];
    BlockId b = block_new(fn);
    block_insert_after(fn, b, after);
    ir_block(fn, b)->source = ir_block(fn, after)->source;
    ir_block(fn, b)->label = local_name(h->g, function, name, number);
    return b;
}

// Places a malloc for each field. If some of them fail, the others are freed, and all pointers are null.
static void place_mallocs(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    for (uint32_t k = 0; k < h->fields.n; k++)
        copy_call(h, e->fn, e->s, e->instr, op_const(fn, h->fields.at[k].end - h->fields.at[k].first, W64),
                  reg_of(h, e->pointer, k));
    Builder b = {.fn = fn, .block = ir_instr(fn, e->instr)->block, .line = ir_instr(fn, e->instr)->line};
    BlockId failed = insert_block(h, e->fn, b.block, "malloc_ret_null", NO_NUMBER);
    BlockId behind = insert_block(h, e->fn, failed, "malloc_cont", NO_NUMBER);
    block_take(fn, behind, e->instr);
    append_branch(&b, append_condition(h, &b, e->pointer), failed, behind);
    b.block = failed;
    for (uint32_t k = 0; k < h->fields.n; k++) {
        RegId r = reg_of(h, e->pointer, k);
        BlockId free_it = insert_block(h, e->fn, b.block, "free_it", k);
        BlockId next = insert_block(h, e->fn, free_it, "next", k);
        append_branch(&b, append_comparison(&b, MOD_NE, r), free_it, next);
        b.block = free_it;
        append_jump(&b, next);
        copy_call(h, e->fn, e->free, ir_block(fn, free_it)->first, op_reg(fn, r), 0);
        b.block = next;
        append_move(&b, r, 0);
    }
    append_jump(&b, behind);
    ir_remove(fn, e->s->argument);
    ir_remove(fn, e->s->call);
    ir_remove(fn, e->s->result);
}

/* -- Changes -------------------------------------------------------------------------------------------- */

// Replaces an instruction by one for each field that its pointer needs, with the field's register or variable.
static void place_for_fields(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    const Instr *i = ir_instr(fn, e->instr);
    Operand zero = op_const(fn, 0, W64), ops[6];
    uint32_t n = ir_desc(fn, i)->nops;
    DescId desc = e->access ? e->access : i->desc;
    memcpy(ops, ir_ops(fn, i), n * sizeof *ops);
    bool store = e->kind == FE_SAVE || e->kind == FE_CLEAR;
    uint32_t base = store ? 0 : 1;
    for (uint32_t k = 0; k < h->fields.n; k++) {
        if (!store && !*need(h, e->pointer, k))
            continue;
        if (e->access) {
            ops[base] = op_sym(h->first + k);
            ops[base + 1] = zero;
        }
        if (!store)
            ops[0] = op_def(op_reg(fn, reg_of(h, e->pointer, k)));
        if (e->kind == FE_SAVE)
            ops[e->operand] = op_reg(fn, reg_of(h, e->pointer, k));
        if (e->kind == FE_COPY)
            ops[e->operand] = op_reg(fn, reg_of(h, e->from, k));
        insert_beside(fn, e->instr, desc, ops, n, true);
    }
    ir_remove(fn, e->instr);
}

static void change(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    Operand *op = &ir_ops(fn, ir_instr(fn, e->instr))[e->operand];
    switch (e->kind) {
    case FE_MALLOC: place_mallocs(h, e); break;
    case FE_LOAD:
    case FE_COPY:
    case FE_NULL:
    case FE_SAVE:
    case FE_CLEAR: place_for_fields(h, e); break;
    case FE_COMPARE: *op = op_reg(fn, reg_of(h, e->pointer, 0)); break;
    case FE_ACCESS: {
        uint64_t offset = (uint64_t)const_signed(tab_const(fn->tables, op_index(op[1])));
        op[0] = op_reg(fn, reg_of(h, e->pointer, e->field));
        op[1] = op_const(fn, offset - h->fields.at[e->field].first, W64);
        break;
    }
    case FE_FREE:
        for (uint32_t k = 0; k < h->fields.n; k++) {
            RegId passed = reg_new(fn, RF_R, W64);  // another instruction may redefine the pointer before the call
            insert_move(fn, e->instr, passed, op_reg(fn, reg_of(h, e->pointer, k)));
            copy_call(h, e->fn, e->s, e->s->call, op_reg(fn, passed), 0);
        }
        break;
    }
    h->g->changed[e->fn] = true;
}

static void remove_frees(const BlockSplit *h)
{
    for (uint32_t k = 0; k < h->edits.n; k++) {
        const FieldEdit *e = &h->edits.at[k];
        if (e->kind != FE_FREE)
            continue;
        ir_remove(h->g->m->fns.at[e->fn], e->s->argument);
        ir_remove(h->g->m->fns.at[e->fn], e->s->call);
    }
}

void malloc_split(BlockSplit *h)
{
    Globals *g = h->g;
    global_remark(g, h->v, RM_PASSED, "MallocSplit", "points to memory of malloc: its %u fields get memory each",
                  h->fields.n);
    for (uint32_t k = 0; k < h->fields.n; k++) {
        SymId part = part_new(g, h->v, ".f", k);
        h->first = k ? h->first : part;
    }
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (h->edits.at[k].kind == FE_ACCESS)
            h->edits.at[k].field = field_of(h, &h->edits.at[k]);
    find_needs(h);
    h->regs = NEW_ARRAY(&g->scratch, RegId, h->pointers.n * h->fields.n);
    for (uint32_t k = 0; k < h->edits.n; k++)
        change(h, &h->edits.at[k]);
    remove_frees(h);
    global_lose_accesses(g, h->v);
    h->v->part = h->first;
    h->v->nparts = h->fields.n;
    g->again = true;
    g->ctx->module.mallocs_replaced++;
}
