// SPDX-License-Identifier: MIT
// Packs the function's variables in `.local` memory.
//
// Slot: 32 CompactLocalMemory. Frames of compilers (`__local_depot0[112]`) keep their size when promotion moves most of
// their variables to registers. Variables that no instruction names are removed. If all accesses to a variable are
// known, its accessed bytes form pieces (ir/analysis/local_memory.h), and the gaps between pieces are removed. The new
// layout has the pieces with the greatest alignment first, then the largest. A piece keeps its inner layout, and moves
// by a multiple of its alignment. Only the offsets of accesses change, by the distance of the move. Registers keep
// their addresses, so comparisons and further sums do not change.
//
//     local @frame align 16 size 112              local @frame align 4 size 68
//     R1 = mov.b64 @frame+48                      R1 = mov.b64 @frame+48
//     R2 = and.b32 R9, 15; R3 = mad.wide.u32 R2, 4, R1; ...
//     st.local.b32 [R3], R4                  ->   st.local.b32 [R3-48], R4
//     R5 = ld.local.b32 [@frame+8]                R5 = ld.local.b32 [@frame+64]
//
//     local @x size 16, which is never named      (nothing)
//
// Must not fire:
//     st.global.b64 [R9], R1, R1 = @x             the address of @x escapes: its layout stays
//     ld.local.b32 [R1], R1 = @x + R2             R2 may be any number: the access reaches all bytes
//     ld.local.b32 [@x+2]; beyond the end         these may fault, and must still fault
//     ld.volatile.local, atom, prefetch of @x     stay as they are
//     [R1+8], R1 is a sum of 32 bits below @x     another offset could wrap where this one does not
//     .local of the module                        other functions access it
//
// An `or` that computes an address is a sum only if the variable is aligned, so the alignment of the variable stays.
//
// Does not do: sharing of bytes by variables or pieces that are never live at the same time, which the slot in ptxas
// does; splitting of pieces that dynamic indices connect.
// Documented: slot and name, removal of unused variables, packing. Inferred: the algorithm.
#include <stdlib.h>

#include "ir/analysis/local_memory.h"
#include "phases/bodies.h"

enum { OFFSET_MAX = 1 << 22 };

typedef struct Compaction {
    Fn *fn;
    Arena scratch;
    LocalMemory memory;
    bool *keeps;         // by local symbol: the offset of some access must not change
    bool *keeps_align;   // by local symbol: an `or` computes an address in it
    uint32_t *new_size;  // by local symbol; 0 = its layout stays
    int64_t *shift;      // by piece: distance of the move
} Compaction;

/* -- Unused variables ----------------------------------------------------------------------------------- */

static void note_symbol(bool *named, SymId s)
{
    if (local_symbol(s))
        named[local_symbol(s)] = true;
}

static void record_named(const Fn *fn, bool *named)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Init *init = ir_sym(fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            note_symbol(named, init->relocs[r].sym);
    }
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_kind(ir_ops(fn, i)[k]) == K_SYM)
                    note_symbol(named, op_index(ir_ops(fn, i)[k]));
        }
    }
}

static bool is_there(const Sym *s) { return s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE); }

static bool has_variables(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (is_there(ir_sym(fn, k | SYM_LOCAL)))
            return true;
    return false;
}

static bool drop_unnamed(Compaction *c)
{
    Fn *fn = c->fn;
    bool progress = false, *named = NEW_ARRAY(&c->scratch, bool, fn->syms.n);
    record_named(fn, named);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (!is_there(s) || named[k])
            continue;
        s->flags |= SYM_GONE;
        progress = true;
    }
    return progress;
}

/* -- Movable variables ---------------------------------------------------------------------------------- */

// True if a change of the offset changes the address by the same distance, without wrapping.
static bool may_shift(Compaction *c, const LocalAccess *access)
{
    const Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, access->instr);
    Operand base = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
    if (!op_is_const(offset))
        return false;
    int64_t number = const_signed(tab_const(fn->tables, op_index(offset)));
    if (number < -OFFSET_MAX || number > OFFSET_MAX)
        return false;
    if (!op_is_reg(base) || ir_reg(fn, op_index(base))->width == W64)
        return true;
    Pointer from = pointer_of(c->memory.pointers, access->instr, i->ndef);
    return from.kind == OR_ADDRESS && from.lo >= 0;
}

static void find_kept(Compaction *c)
{
    const LocalMemory *m = &c->memory;
    c->keeps = NEW_ARRAY(&c->scratch, bool, c->fn->syms.n);
    for (uint32_t k = 1; k < m->accesses.n; k++)
        c->keeps[m->accesses.at[k].variable] |= !may_shift(c, &m->accesses.at[k]);
}

static void find_kept_alignment(Compaction *c)
{
    Fn *fn = c->fn;
    c->keeps_align = NEW_ARRAY(&c->scratch, bool, fn->syms.n);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op != OP_OR)
                continue;
            for (uint32_t k = 0; k < 2; k++) {
                Pointer from = pointer_of(c->memory.pointers, id, i->ndef + k);
                if (from.kind == OR_ADDRESS)
                    note_symbol(c->keeps_align, from.sym);
            }
        }
    }
}

/* -- The layout ----------------------------------------------------------------------------------------- */

static int compare_pieces(const void *a, const void *b)
{
    const LocalPiece *x = a, *y = b;
    uint32_t size_x = x->end - x->first, size_y = y->end - y->first;
    if (x->align != y->align)
        return x->align > y->align ? -1 : 1;
    if (size_x != size_y)
        return size_x > size_y ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

// Computes the new places of the pieces of a variable.
static void lay_out(Compaction *c, uint32_t s)
{
    const LocalVariable *v = &c->memory.variables[s];
    const LocalPiece *pieces = &c->memory.pieces.at[v->first_piece];
    LocalPiece *sorted = NEW_ARRAY(&c->scratch, LocalPiece, v->npieces);
    uint32_t end = 0;
    memcpy(sorted, pieces, v->npieces * sizeof *pieces);
    qsort(sorted, v->npieces, sizeof *sorted, compare_pieces);
    for (uint32_t k = 0; k < v->npieces; k++) {
        const LocalPiece *p = &sorted[k];
        uint32_t old = p->first - v->first, rest = (old - end) & (p->align - 1), at = end + rest;
        c->shift[c->memory.piece[p->first]] = (int64_t)at - old;
        end = at + (p->end - p->first);
    }
    if (end < v->size)
        c->new_size[s] = end;
}

static void shrink(Compaction *c, uint32_t s)
{
    const LocalVariable *v = &c->memory.variables[s];
    Sym *sym = ir_sym(c->fn, s | SYM_LOCAL);
    uint32_t align = c->keeps_align[s] ? sym->align : 1;
    for (uint32_t k = 0; k < v->npieces; k++)
        align = MAX(align, c->memory.pieces.at[v->first_piece + k].align);
    sym->align = align;
    sym->size = sym->count = c->new_size[s];
    sym->type = TY_B8;
    sym->vec = 0;
    sym->flags |= SYM_ARRAY | SYM_ALIGNED;
}

static void shift_access(Compaction *c, const LocalAccess *access)
{
    Fn *fn = c->fn;
    Operand *offset = ir_use(fn, ir_instr(fn, access->instr), 1);
    int64_t by = c->shift[c->memory.piece[access->first]];
    if (by)
        *offset = op_const(fn, (uint64_t)(const_signed(tab_const(fn->tables, op_index(*offset))) + by), W64);
}

static bool compact(Compaction *c)
{
    const LocalMemory *m = &c->memory;
    bool progress = false;
    find_kept(c);
    find_kept_alignment(c);
    c->new_size = NEW_ARRAY(&c->scratch, uint32_t, c->fn->syms.n);
    c->shift = NEW_ARRAY(&c->scratch, int64_t, m->pieces.n);
    for (uint32_t s = 1; s < c->fn->syms.n; s++)
        if (m->variables[s].npieces && !m->variables[s].escaped && !m->variables[s].odd && !c->keeps[s])
            lay_out(c, s);
    for (uint32_t k = 1; k < m->accesses.n; k++)
        if (c->new_size[m->accesses.at[k].variable])
            shift_access(c, &m->accesses.at[k]);
    for (uint32_t s = 1; s < c->fn->syms.n; s++)
        if (c->new_size[s]) {
            shrink(c, s);
            progress = true;
        }
    return progress;
}

bool phase_compact_local(Ctx *ctx, Fn *fn)
{
    if (!has_variables(fn))
        return false;
    Compaction c = {.fn = fn};
    arena_init(&c.scratch, &ctx->heap);
    bool progress = drop_unnamed(&c);
    if (local_memory_find(&c.memory, fn, &c.scratch))
        progress |= compact(&c);
    arena_free(&c.scratch);
    return progress;
}
