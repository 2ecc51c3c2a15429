// SPDX-License-Identifier: MIT
// Finds the bytes of the function's `.local` variables that each access may reach (ir/analysis/local_memory.h).
//
// The bytes of all variables that the function declares and accesses are numbered consecutively. An access may reach
// the bytes of its offset range, or all bytes of the variable if the range is unknown or exceeds the variable. Bytes
// that one access may reach are connected; a piece is a connected component.
#include "ir/analysis/local_memory.h"

enum { BYTES_MAX = 1 << 20, SIZE_MAX_BYTES = 512 << 10 };

static bool operand_is_movable(const Fn *fn, Operand o, Type type)
{
    if (op_kind(o) == K_NONE || op_is_const(o))
        return true;
    if (!op_is_reg(o) || o.mods)
        return false;
    const Reg *r = ir_reg(fn, op_index(o));
    bool floats = type_info[r->type].class == TC_F || type_info[type].class == TC_F;
    return r->file == RF_R && r->width <= W64 && (r->width == type_info[type].width || !floats);
}

bool access_has_moves(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    Type type = (Type)m->type[0];
    uint32_t store = d->op == OP_ST, n = access_elements(m), bits = width_bits(type_info[type].width);
    if ((d->op != OP_LD && !store) || d->traits & (TR_ORDERED | TR_RDONLY) || i->flags & IF_PINNED || bits < 8 ||
        bits > 64 || ir_nuse(i) != (store ? 2 + n : 2))
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!operand_is_movable(fn, store ? *ir_use(fn, i, 2 + k) : *ir_def(fn, i, k), type))
            return false;
    return true;
}

bool access_is_movable(const Fn *fn, const Instr *i) { return !i->callseq && access_has_moves(fn, i); }

/* -- Variables ------------------------------------------------------------------------------------------ */

static bool is_local_variable(const Sym *s)
{
    return s->kind == SYM_VAR && s->space == SP_LOCAL && !s->init && !(s->flags & SYM_GONE) && s->size &&
           s->size <= SIZE_MAX_BYTES;
}

static bool has_variables(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (is_local_variable(ir_sym(fn, k | SYM_LOCAL)))
            return true;
    return false;
}

// Returns the function's variable that an access names; 0 = none.
static uint32_t variable_of(const LocalMemory *m, const MemAccess *access)
{
    uint32_t s = access->at->kind == OR_ADDRESS ? local_symbol(access->at->sym) : 0;
    return s && is_local_variable(ir_sym(m->fn, s | SYM_LOCAL)) ? s : 0;
}

// True if the address is in the space that the instruction names.
static bool names_space_of_address(const MemAccess *access)
{
    return access->at->generic ? access->space == SP_GENERIC : access->space == SP_LOCAL;
}

// Numbers the bytes of the accessed variables, up to BYTES_MAX.
static void lay_out(LocalMemory *m)
{
    m->variables = NEW_ARRAY(m->arena, LocalVariable, m->fn->syms.n);
    for (uint32_t k = 0; k < m->pointers->accesses.n; k++) {
        const MemAccess *access = &m->pointers->accesses.at[k];
        uint32_t s = variable_of(m, access);
        if (!s)
            continue;
        LocalVariable *v = &m->variables[s];
        uint64_t size = ir_sym(m->fn, s | SYM_LOCAL)->size;
        if (!v->size && size <= BYTES_MAX - m->nbytes) {
            *v = (LocalVariable){.first = m->nbytes, .size = (uint32_t)size, .escaped = m->pointers->escaped[s]};
            m->nbytes += v->size;
        }
        v->escaped |= !names_space_of_address(access);
    }
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

static void add_access(LocalMemory *m, const MemAccess *found, uint32_t s)
{
    Fn *fn = m->fn;
    LocalVariable *v = &m->variables[s];
    const Instr *i = ir_instr(fn, found->instr);
    const Desc *d = ir_desc(fn, i);
    const Mnem *mnem = tab_mnem(fn->tables, d->mnem);
    uint32_t bytes = width_bits(type_info[mnem->type[0]].width) / 8, n = access_elements(mnem), size = bytes * n;
    int64_t lo = found->at->lo, hi = found->at->hi;
    v->odd |= (d->op != OP_LD && d->op != OP_ST) || d->traits & (TR_ORDERED | TR_RDONLY) || i->flags & IF_PINNED;
    if (d->op == OP_PREFETCH)
        return;
    bool any = lo == INT64_MIN && hi == INT64_MAX;
    bool inside = size && lo >= 0 && hi <= (int64_t)v->size - (int64_t)size;
    bool aligned = size && !(size & (size - 1)) && ir_sym(fn, s | SYM_LOCAL)->align % size == 0 &&
                   (lo != hi || lo % (int64_t)size == 0);
    v->odd |= !aligned || (!any && !inside);
    LocalAccess access = {.instr = found->instr,
                          .variable = s,
                          .first = v->first + (inside ? (uint32_t)lo : 0),
                          .end = v->first + (inside ? (uint32_t)hi + size : v->size),
                          .bytes = bytes,
                          .n = n,
                          .type = (Type)mnem->type[0],
                          .exact = inside && lo == hi,
                          .reads = d->op != OP_ST,
                          .writes = d->op != OP_LD && d->op != OP_LDU};
    access.movable = access.exact && access_is_movable(fn, i);
    m->access_of[found->instr] = m->accesses.n;
    VEC_PUSH(m->arena, &m->accesses, access);
}

static void find_accesses(LocalMemory *m)
{
    m->access_of = NEW_ARRAY(m->arena, uint32_t, m->fn->instrs.n);
    VEC_PUSH(m->arena, &m->accesses, ((LocalAccess){0}));
    for (uint32_t k = 0; k < m->pointers->accesses.n; k++) {
        const MemAccess *found = &m->pointers->accesses.at[k];
        uint32_t s = variable_of(m, found);
        if (s && m->variables[s].size && names_space_of_address(found))
            add_access(m, found, s);
    }
}

// True for a space that does not contain local memory.
static bool is_elsewhere(Space space) { return space != SP_GENERIC && space != SP_LOCAL && space != SP_NONE; }

bool local_may_reach_escaped(const LocalMemory *m, InstrId id)
{
    const Fn *fn = m->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    if (!(d->traits & (TR_READ | TR_WRITE | TR_BARRIER | TR_ASYNC | TR_ORDERED | TR_CONV)))
        return false;
    bool simple = (d->op == OP_LD || d->op == OP_ST) && !(d->traits & TR_ORDERED);
    return !simple || !is_elsewhere(mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]));
}

/* -- Pieces --------------------------------------------------------------------------------------------- */

// Counts, for each byte, the accesses that may reach it, and those that may also reach the byte before it.
static void count_reach(LocalMemory *m, uint32_t *reached, uint32_t *joined)
{
    for (uint32_t k = 1; k < m->accesses.n; k++) {
        const LocalAccess *access = &m->accesses.at[k];
        const LocalVariable *v = &m->variables[access->variable];
        uint32_t first = v->escaped ? v->first : access->first, end = v->escaped ? v->first + v->size : access->end;
        reached[first]++;
        reached[end]--;
        joined[first + 1]++;
        joined[end]--;
    }
    for (uint32_t k = 0; k < m->nbytes; k++) {
        reached[k + 1] += reached[k];
        joined[k + 1] += joined[k];
    }
}

static void find_pieces(LocalMemory *m)
{
    uint32_t *reached = NEW_ARRAY(m->arena, uint32_t, m->nbytes + 2);
    uint32_t *joined = NEW_ARRAY(m->arena, uint32_t, m->nbytes + 2);
    m->piece = NEW_ARRAY(m->arena, uint32_t, m->nbytes);
    count_reach(m, reached, joined);
    VEC_PUSH(m->arena, &m->pieces, ((LocalPiece){0}));
    for (uint32_t k = 0; k < m->nbytes; k++) {
        if (!reached[k])
            continue;
        if (!joined[k])
            VEC_PUSH(m->arena, &m->pieces, ((LocalPiece){.first = k, .align = 1}));
        m->piece[k] = m->pieces.n - 1;
        m->pieces.at[m->piece[k]].end = k + 1;
    }
    for (uint32_t k = 1; k < m->accesses.n; k++) {
        const LocalAccess *access = &m->accesses.at[k];
        LocalVariable *v = &m->variables[access->variable];
        uint32_t p = m->piece[access->first];
        m->pieces.at[p].align = MAX(m->pieces.at[p].align, access->bytes * access->n);
        v->first_piece = v->first_piece ? MIN(v->first_piece, p) : p;
        v->npieces = MAX(v->npieces, p + 1);
    }
    for (uint32_t s = 1; s < m->fn->syms.n; s++)
        if (m->variables[s].npieces)
            m->variables[s].npieces -= m->variables[s].first_piece;
}

bool local_memory_find(LocalMemory *m, Fn *fn, Arena *arena)
{
    *m = (LocalMemory){.fn = fn, .arena = arena};
    if (!has_variables(fn))
        return false;
    m->pointers = pointers_of(fn);
    if (m->pointers->absolute)
        return false;
    lay_out(m);
    if (!m->nbytes)
        return false;
    find_accesses(m);
    find_pieces(m);
    return m->accesses.n > 1;
}
