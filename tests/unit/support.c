// SPDX-License-Identifier: MIT
// Implements helpers of the unit tests: numbers, sinks, small functions.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

uint32_t unit_random(uint64_t *state, uint32_t n)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

/* -- Sinks ---------------------------------------------------------------------------------------------- */

bool sink_write(void *user, const char *text, size_t n)
{
    Sink *s = user;
    if (++s->calls == s->fail_at)
        return false;
    if (s->n + n > s->cap) {
        s->cap = (s->n + n) * 2;
        s->text = realloc(s->text, s->cap);
        if (!s->text)
            abort();
    }
    memcpy(s->text + s->n, text, n);
    s->n += n;
    return true;
}

void sink_append(void *user, const char *text, size_t n) { sink_write(user, text, n); }

void sink_free(Sink *s)
{
    free(s->text);
    *s = (Sink){0};
}

/* -- Functions ------------------------------------------------------------------------------------------ */

void fixture_open(Fixture *f)
{
    memset(f, 0, sizeof *f);
    unit_heap(&f->ctx.heap);
    arena_init(&f->ctx.arena, &f->ctx.heap);
    phase_factory(&f->ctx);
    f->module = module_new(&f->ctx.heap);
    Name name = {str_intern_z(&f->module->tables.strs, "f"), NO_NUMBER};
    f->fn = fn_new(f->module, module_sym(f->module, name, SYM_FUNC));
    module_add_fn(f->module, f->fn);
    f->fn->flags = FN_KERNEL | FN_DEFINED;
}

void fixture_close(Fixture *f)
{
    module_free(f->module);
    arena_free(&f->ctx.arena);
    heap_release(&f->ctx.heap);
}

Operand use(const Fn *fn, RegId r) { return op_reg(fn, r); }

Operand def(const Fn *fn, RegId r) { return op_def(op_reg(fn, r)); }

BlockId add_block(Fn *fn, uint32_t source)
{
    BlockId b = block_new(fn);
    ir_block(fn, b)->source = source;
    block_append(fn, b);
    return b;
}

InstrId emit(Fn *fn, BlockId b, const char *mnemonic, const char *shape, uint8_t flags, const Operand *ops, uint32_t n)
{
    return ir_append(fn, b, desc_parse(fn->tables, mnemonic, shape), flags, ops, n);
}

InstrId emit_ret(Fn *fn, BlockId b) { return emit(fn, b, "ret", "", 0, NULL, 0); }

InstrId emit_bra(Fn *fn, BlockId b, BlockId to) { return emit(fn, b, "bra", "%", 0, OPS(op_block(to))); }

InstrId emit_branch(Fn *fn, BlockId b, RegId pred, BlockId to, BlockId otherwise)
{
    return emit(fn, b, "bra", "%~", IF_GUARDED, OPS(op_block(to), op_block(otherwise), use(fn, pred)));
}

InstrId emit_brx(Fn *fn, BlockId b, RegId index, const BlockId *to, uint32_t n)
{
    Operand *targets = NEW_ARRAY(&fn->arena, Operand, n);
    for (uint32_t k = 0; k < n; k++)
        targets[k] = op_block(to[k]);
    Name name = {str_intern_z(&fn->tables->strs, "table"), fn->lists.n};
    ListId list = ir_sym(fn, fn_table(fn, name, SYM_BRANCHTARGETS, targets, n))->list;
    return emit(fn, b, "brx.idx", "%,%", 0, OPS(use(fn, index), op_make(K_LIST, 0, list)));
}

const char *layout(const Fn *fn, char *text, size_t cap)
{
    size_t n = 0;
    text[0] = 0;
    FOR_BLOCKS(fn, b) {
        n += (size_t)snprintf(text + n, cap - n, n ? " %u" : "%u", b);
        if (n >= cap)
            break;
    }
    return text;
}
