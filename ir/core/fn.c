// SPDX-License-Identifier: MIT
// Functions and the builder: registers, symbols, blocks, instructions.
#include "ir/core/ir.h"

// Adds an uninitialized record to a table of the function and returns its index.
static uint32_t push(Fn *fn, Seg *seg, size_t elem, const char *what)
{
    if (seg->n > INDEX_MAX)
        heap_fail(fn->arena.heap, ST_LIMIT, "more than %d %s in a function", INDEX_MAX, what);
    return seg_push(seg, &fn->arena, 1, elem);
}

void code_init(Fn *fn)
{
    arena_init(&fn->code, fn->arena.heap);
    fn->instrs = fn->ops = (Seg){0};
    fn->where.n = fn->where.cap = 0;
    *ir_instr(fn, seg_push(&fn->instrs, &fn->code, 1, sizeof(Instr))) = (Instr){0};
    *ir_run(fn, seg_push(&fn->ops, &fn->code, 1, sizeof(Operand))) = op_none();
}

Fn *fn_new(Module *m, SymId sym)
{
    Arena arena;
    arena_init(&arena, m->arena.heap);
    Fn *fn = NEW(&arena, Fn);
    fn->arena = arena;
    fn->module = m;
    fn->tables = &m->tables;
    fn->sym = sym;
    fn->version = 1;
    fn->phi_limit = UINT64_MAX;
    for (uint32_t k = 0; k < m->knobs.n; k++)
        VEC_PUSH(&fn->arena, &fn->knobs, m->knobs.at[k]);
    // Index 0 of every table is "none".
    code_init(fn);
    *ir_reg(fn, push(fn, &fn->regs, sizeof(Reg), "registers")) = (Reg){0};
    *ir_block(fn, push(fn, &fn->blocks, sizeof(Block), "blocks")) = (Block){0};
    push(fn, &fn->syms, sizeof(Sym), "symbols");
    *ir_sym(fn, SYM_LOCAL) = (Sym){0};
    return fn;
}

uint32_t fn_threads(const Fn *fn)
{
    uint32_t threads = 0;
    for (uint32_t n = 0; n < fn->directives.n && fn->flags & FN_KERNEL; n++) {
        const Directive *d = &fn->directives.at[n];
        Str text = tab_str(fn->tables, d->text);
        if (!d->n || (!str_is(text, ".reqntid") && !str_is(text, ".maxntid")))
            continue;
        uint64_t product = 1;
        for (uint32_t v = 0; v < d->n; v++)
            product = MIN(product * d->value[v], 1024u);
        if (product && (!threads || product < threads))
            threads = (uint32_t)product;
    }
    return threads;
}

void fn_free(Fn *fn)
{
    Arena arena = fn->arena;  // the function itself lies in it
    arena_free(&fn->code);
    arena_free(&arena);
}

void fn_own_tables(Fn *fn)
{
    Tables *own = arena_alloc(&fn->arena, sizeof *own);
    tables_init(own, &fn->arena, &fn->module->tables);
    fn->tables = own;
}

// True if the pragma is a knob setting, which is then returned in *knob.
static bool knob_text(Tables *tables, const char *text, size_t len, size_t offset, KnobText *knob)
{
    static const char start[] = "knob";
    size_t n = sizeof start - 1;
    if (len <= n || memcmp(text, start, n) != 0 || (text[n] != ' ' && text[n] != '\t'))
        return false;
    *knob = (KnobText){str_intern(&tables->strs, text + n + 1, len - n - 1), offset + n + 1};
    return true;
}

void module_note_knob(Module *m, const char *text, size_t len, size_t offset)
{
    KnobText knob;
    if (knob_text(&m->tables, text, len, offset, &knob))
        VEC_PUSH(&m->arena, &m->knobs, knob);
}

void fn_note_knob(Fn *fn, const char *text, size_t len, size_t offset)
{
    KnobText knob;
    if (knob_text(fn->tables, text, len, offset, &knob))
        VEC_PUSH(&fn->arena, &fn->knobs, knob);
}

// Numbers the register of an operand at its first appearance.
static void number_operand(Fn *fn, Operand o, uint8_t *seen, uint32_t *next)
{
    if (!op_is_reg(o) || seen[op_index(o)])
        return;
    Reg *r = ir_reg(fn, op_index(o));
    seen[op_index(o)] = 1;
    r->ordinal = next[r->file]++;
}

// Makes the source positions of blocks equal to their layout positions if both have the same order.
static void renumber_sources(Fn *fn)
{
    uint32_t n = 0;
    BlockId prev = 0;
    FOR_BLOCKS(fn, b) {
        if (prev && ir_block(fn, b)->source <= ir_block(fn, prev)->source)
            return;
        prev = b;
    }
    FOR_BLOCKS(fn, b)
        ir_block(fn, b)->source = n++;
}

void fn_renumber(Fn *fn)
{
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    uint8_t *seen = NEW_ARRAY(&scratch, uint8_t, fn->regs.n);
    uint32_t next[REG_FILES] = {0};
    fn->block_ordinals = 0;
    renumber_sources(fn);
    FOR_BLOCKS(fn, b) {
        ir_block(fn, b)->ordinal = fn->block_ordinals++;
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            if (ir_guarded(i))
                number_operand(fn, ops[ir_guard_index(i)], seen, next);
            for (uint32_t k = 0; k + ir_guarded(i) < i->nops; k++)
                number_operand(fn, ops[k], seen, next);
        }
    }
    // Registers that do not appear come last, so that numbers stay unique.
    for (RegId k = 1; k < fn->regs.n; k++)
        number_operand(fn, op_reg(fn, k), seen, next);
    memcpy(fn->ordinals, next, sizeof next);
    arena_free(&scratch);
}

/* -- Registers, constants, symbols, lists --------------------------------------------------------------- */

RegId reg_new(Fn *fn, RegFile file, Width width)
{
    RegId r = push(fn, &fn->regs, sizeof(Reg), "registers");
    *ir_reg(fn, r) = (Reg){.ordinal = fn->ordinals[file]++, .file = (uint8_t)file, .width = (uint8_t)width};
    return r;
}

RegId reg_like(Fn *fn, RegId r)
{
    Reg like = *ir_reg(fn, r);
    RegId id = reg_new(fn, (RegFile)like.file, (Width)like.width);
    ir_reg(fn, id)->name = like.name;
    ir_reg(fn, id)->type = like.type;
    return id;
}

Operand op_const(Fn *fn, uint64_t bits, Width width) { return op_imm(const_intern(fn->tables, bits, width)); }

SymId fn_sym(Fn *fn, Name name, SymKind kind)
{
    uint32_t k = push(fn, &fn->syms, sizeof(Sym), "symbols");
    if (k >= SYM_LOCAL)
        heap_fail(fn->arena.heap, ST_LIMIT, "more than %d symbols in a function", SYM_LOCAL);
    *ir_sym(fn, k | SYM_LOCAL) = (Sym){.name = name, .kind = (uint8_t)kind};
    return k | SYM_LOCAL;
}

uint32_t ops_new(Fn *fn, uint32_t n) { return n ? seg_push(&fn->ops, &fn->code, n, sizeof(Operand)) : 0; }

static uint32_t copy_operands(Fn *fn, const Operand *ops, uint32_t n)
{
    uint32_t run = ops_new(fn, n);
    if (n)
        memcpy(ir_run(fn, run), ops, n * sizeof *ops);
    return run;
}

ListId list_new(Fn *fn, const Operand *targets, uint32_t n)
{
    if (fn->lists.n == 0)
        *ir_list(fn, push(fn, &fn->lists, sizeof(List), "branch tables")) = (List){0};
    ListId l = push(fn, &fn->lists, sizeof(List), "branch tables");
    *ir_list(fn, l) = (List){copy_operands(fn, targets, n), n};
    return l;
}

SymId fn_table(Fn *fn, Name name, SymKind kind, const Operand *targets, uint32_t n)
{
    SymId s = fn_sym(fn, name, kind);
    ir_sym(fn, s)->list = list_new(fn, targets, n);
    return s;
}

/* -- Blocks --------------------------------------------------------------------------------------------- */

BlockId block_new(Fn *fn)
{
    BlockId b = push(fn, &fn->blocks, sizeof(Block), "blocks");
    *ir_block(fn, b) = (Block){.ordinal = fn->block_ordinals++};
    return b;
}

void block_insert_after(Fn *fn, BlockId b, BlockId where)
{
    Block *block = ir_block(fn, b);
    BlockId next = where ? ir_block(fn, where)->next : fn->first;
    block->prev = where;
    block->next = next;
    *(where ? &ir_block(fn, where)->next : &fn->first) = b;
    *(next ? &ir_block(fn, next)->prev : &fn->last) = b;
    fn->nblocks++;
}

void block_append(Fn *fn, BlockId b) { block_insert_after(fn, b, fn->last); }

void block_unlink(Fn *fn, BlockId b)
{
    Block *block = ir_block(fn, b);
    *(block->prev ? &ir_block(fn, block->prev)->next : &fn->first) = block->next;
    *(block->next ? &ir_block(fn, block->next)->prev : &fn->last) = block->prev;
    block->next = block->prev = 0;
    fn->nblocks--;
}

void block_take(Fn *fn, BlockId b, InstrId first)
{
    Block *to = ir_block(fn, b), *from = ir_block(fn, ir_instr(fn, first)->block);
    InstrId before = ir_instr(fn, first)->prev, last = from->last;
    *(before ? &ir_instr(fn, before)->next : &from->first) = 0;
    from->last = before;
    ir_instr(fn, first)->prev = to->last;
    *(to->last ? &ir_instr(fn, to->last)->next : &to->first) = first;
    to->last = last;
    for (InstrId i = first; i; i = ir_instr(fn, i)->next)
        ir_instr(fn, i)->block = b;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// Makes a record for operands that are already in fn->ops.
static inline InstrId instr_new(Fn *fn, DescId desc, uint8_t flags, uint32_t run, uint32_t n)
{
    const Operand *ops = ir_run(fn, run);
    uint32_t ndef = 0;
    while (ndef < n && op_is_def(ops[ndef]))
        ndef++;
    if (ndef > UINT16_MAX)
        heap_fail(fn->arena.heap, ST_LIMIT, "an instruction has more than %d definitions", UINT16_MAX);
    InstrId id = seg_push(&fn->instrs, &fn->code, 1, sizeof(Instr));
    *ir_instr(fn, id) = (Instr){.desc = desc, .ops = run, .nops = n, .ndef = (uint16_t)ndef, .flags = flags};
    fn->ninstrs++;
    fn->classes |= tab_desc(fn->tables, desc)->classes;
    return id;
}

InstrId ir_append_run(Fn *fn, BlockId b, DescId desc, uint8_t flags, uint32_t run, uint32_t n)
{
    InstrId id = instr_new(fn, desc, flags, run, n);
    Instr *i = ir_instr(fn, id);
    Block *block = ir_block(fn, b);
    i->block = b;
    i->prev = block->last;
    *(block->last ? &ir_instr(fn, block->last)->next : &block->first) = id;
    block->last = id;
    if (fn->defs)
        def_table_define(fn, id);
    return id;
}

InstrId ir_append(Fn *fn, BlockId b, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    return ir_append_run(fn, b, desc, flags, copy_operands(fn, ops, n), n);
}

InstrId ir_insert_before(Fn *fn, InstrId where, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = instr_new(fn, desc, flags, copy_operands(fn, ops, n), n);
    Instr *i = ir_instr(fn, id), *w = ir_instr(fn, where);
    i->block = w->block;
    i->next = where;
    i->prev = w->prev;
    *(w->prev ? &ir_instr(fn, w->prev)->next : &ir_block(fn, w->block)->first) = id;
    w->prev = id;
    if (fn->defs)
        def_table_define(fn, id);
    return id;
}

void ir_remove(Fn *fn, InstrId id)
{
    Instr *i = ir_instr(fn, id);
    Block *b = ir_block(fn, i->block);
    *(i->prev ? &ir_instr(fn, i->prev)->next : &b->first) = i->next;
    *(i->next ? &ir_instr(fn, i->next)->prev : &b->last) = i->prev;
    i->block = 0;
    fn->ninstrs--;
    for (uint32_t k = 0; fn->defs && k < i->ndef; k++)
        def_table_forget(fn, id, *ir_def(fn, i, k));
}

void fn_note_where(Fn *fn, InstrId i, size_t offset)
{
    while (fn->where.n <= i)
        VEC_PUSH(&fn->code, &fn->where, SIZE_MAX);
    fn->where.at[i] = offset;
}

size_t fn_where(const Fn *fn, InstrId i) { return i < fn->where.n ? fn->where.at[i] : SIZE_MAX; }

InstrId ir_terminator(const Fn *fn, BlockId b) { return ir_block(fn, b)->last; }

void ir_successors(const Fn *fn, InstrId terminator, SuccVisit *visit, void *user)
{
    const Instr *i = ir_instr(fn, terminator);
    Operand *use = ir_use(fn, i, 0);
    for (uint32_t k = 0, n = ir_nuse(i); k < n; k++) {
        if (op_kind(use[k]) == K_BLOCK)
            visit(user, &use[k]);
        if (op_kind(use[k]) == K_LIST) {
            const List *list = ir_list(fn, op_index(use[k]));
            for (uint32_t t = 0; t < list->n; t++)
                visit(user, ir_run(fn, list->ops) + t);
        }
    }
}

static uint64_t hash_symbol(uint64_t h, const Sym *s)
{
    h = hash_mix(h, (uint64_t)s->name.stem << 32 | s->name.number);
    h = hash_mix(h, (uint64_t)s->kind << 48 | (uint64_t)s->space << 40 | (uint64_t)s->type << 32 | s->flags);
    h = hash_mix(h, (uint64_t)s->align << 32 | s->list);
    h = hash_mix(h, s->size);
    return s->init && s->init->bytes ? hash_mix(h, hash_bytes(s->init->bytes, s->init->size)) : h;
}

uint64_t ir_hash(const Fn *fn)
{
    uint64_t h = hash_mix(fn->form, fn->flags);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        h = hash_symbol(h, ir_sym(fn, k | SYM_LOCAL));
    for (RegId k = 1; k < fn->regs.n; k++)
        if (ir_reg(fn, k)->flags)
            h = hash_mix(h, (uint64_t)k << 8 | ir_reg(fn, k)->flags);
    FOR_BLOCKS(fn, b) {
        h = hash_mix(h, (uint64_t)b << 32 | ir_block(fn, b)->source);
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            h = hash_mix(h, (uint64_t)i->desc << 32 | i->flags);
            h = hash_mix(h, (uint64_t)i->line << 32 | i->callseq);
            for (uint32_t k = 0; k < i->nops; k++) {
                h = hash_mix(h, (uint64_t)ops[k].word << 32 | ops[k].mods);
                const List *list = op_kind(ops[k]) == K_LIST ? ir_list(fn, op_index(ops[k])) : NULL;
                for (uint32_t t = 0; list && t < list->n; t++)
                    h = hash_mix(h, ir_run(fn, list->ops)[t].word);
            }
        }
    }
    return h;
}
