// SPDX-License-Identifier: MIT
// Places of plain accesses (ir/analysis/memory_versions.h): root, constant offset and number of bytes, for proofs that
// two accesses have no byte in common.
//
//     R2 = add.s64 R1, 8; ld.global.b32 [R2+4]         root R1, offset 12, 4 bytes
//     R3 = mov.b32 @x; ld.shared.v2.b32 [R3+16]        root @x, offset 16, 8 bytes
//     R5 = add.s32 R4, 8; ld.shared.b32 [R5]           root R5: the sum may wrap (rule 14)
//
// Offsets are compared modulo 2^32, which is exact for addresses of 32 bits, and proves less than 64 bits would.
#include "ir/analysis/local_memory.h"
#include "ir/analysis/memory_versions.h"

enum { STEPS_MAX = 16, SYMBOL_OFFSET_MAX = 1 << 30 };

/* -- Places --------------------------------------------------------------------------------------------- */

// Adds a constant to the offset, or subtracts it, modulo 2^64.
static void move_by(AccessPlace *p, uint64_t number, bool minus)
{
    p->offset = (int64_t)(minus ? (uint64_t)p->offset - number : (uint64_t)p->offset + number);
}

// Replaces the root, an address of 64 bits that is a sum with a constant, by the other summand.
static bool pass_sum(const Fn *fn, const Instr *i, const Desc *d, AccessPlace *p)
{
    Operand x = *ir_use(fn, i, 0), y = *ir_use(fn, i, 1);
    TypeInfo type = type_info[tab_mnem(fn->tables, d->mnem)->type[0]];
    if (type.width != W64 || (type.class != TC_U && type.class != TC_S))
        return false;
    if (d->op == OP_ADD && op_is_const(x)) {
        Operand swap = x;
        x = y;
        y = swap;
    }
    if (!op_is_const(y) || y.mods || !op_in_ssa(fn, x))
        return false;
    move_by(p, tab_const(fn->tables, op_index(y)).bits, d->op == OP_SUB);
    p->root = x;
    return true;
}

// Replaces the root by the symbol whose address it is. An address of 32 bits does not wrap near its symbol.
static bool pass_address(const Fn *fn, const Instr *i, AccessPlace *p)
{
    Operand sym = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
    if (op_kind(sym) != K_SYM || !op_is_const(offset))
        return false;
    int64_t number = const_signed(tab_const(fn->tables, op_index(offset)));
    if (ir_reg(fn, op_index(p->root))->width != W64 && (number < 0 || number > SYMBOL_OFFSET_MAX))
        return false;
    move_by(p, (uint64_t)number, false);
    p->root = op_sym(op_index(sym));
    return true;
}

// Replaces the root by the operand of its definition. False if the definition is no move, sum or address.
static bool pass_definition(const Fn *fn, const Analyses *a, AccessPlace *p)
{
    InstrId def = op_in_ssa(fn, p->root) ? def_of(a, op_index(p->root)) : 0;
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || ir_guarded(i) || i->ndef != 1)
        return false;
    const Desc *d = ir_desc(fn, i);
    switch (d->op) {
    case OP_MOV: {
        Operand from = copy_of_move(fn, i);
        if (op_kind(from) == K_NONE || from.mods)
            return false;
        p->root = from;
        return true;
    }
    case OP_ADDR: return pass_address(fn, i, p);
    case OP_ADD:
    case OP_SUB: return pass_sum(fn, i, d, p);
    default: return false;
    }
}

static bool lies_inside(const Fn *fn, const AccessPlace *p)
{
    const Sym *s = op_kind(p->root) == K_SYM ? ir_sym(fn, op_index(p->root)) : NULL;
    return s && s->kind == SYM_VAR && !(s->flags & (SYM_EXTERN | SYM_WEAK | SYM_COMMON | SYM_OPEN)) && p->offset >= 0 &&
           s->size >= p->bytes && (uint64_t)p->offset <= s->size - p->bytes;
}

AccessPlace access_place_at(const Fn *fn, const Analyses *a, const AccessPlace *place, Operand root)
{
    AccessPlace p = *place;
    p.root = root;
    for (uint32_t k = 0; k < STEPS_MAX && op_is_reg(p.root) && pass_definition(fn, a, &p); k++)
        ;
    if (op_is_const(p.root)) {
        move_by(&p, tab_const(fn->tables, op_index(p.root)).bits, false);
        p.root = op_none();
    }
    p.inside = lies_inside(fn, &p);
    if (op_is_reg(p.root) && !op_in_ssa(fn, p.root))
        p.bytes = 0;  // the root may be written between two accesses
    return p;
}

AccessPlace access_place(const Fn *fn, const Analyses *a, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    AccessPlace p = {0};
    if ((d->op != OP_LD && d->op != OP_LDU && d->op != OP_ST) || d->traits & TR_ORDERED || i->flags & IF_PINNED ||
        i->callseq)
        return p;
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    Operand base = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
    if (!op_is_const(offset) || base.mods)
        return p;
    p.offset = const_signed(tab_const(fn->tables, op_index(offset)));
    p.bytes = width_bits(type_info[m->type[0]].width) / 8 * access_elements(m);
    p.space = mod_space((Mod)m->mod[MC_SPACE]);
    return access_place_at(fn, a, &p, base);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

static bool same_root(Operand x, Operand y, OperandKey *representative, const void *user)
{
    if (op_kind(x) != op_kind(y))
        return false;
    if (op_is_reg(x) && representative)
        return op_same(representative(user, x), representative(user, y));
    return op_same(x, y);
}

// Returns a number for the memory that contains a space; 0 = the space overlaps others.
static uint32_t memory_of(Space space)
{
    switch (space) {
    case SP_GLOBAL: return 1;
    case SP_SHARED:
    case SP_CLUSTER: return 2;
    case SP_LOCAL: return 3;
    default: return 0;
    }
}

bool places_disjoint(const AccessPlace *x, const AccessPlace *y, OperandKey *representative, const void *user)
{
    uint32_t mx = memory_of(x->space), my = memory_of(y->space);
    if (!x->bytes || !y->bytes)
        return false;
    if (mx && my && mx != my)
        return true;
    if (x->space != y->space)
        return false;
    if (op_kind(x->root) == K_SYM && op_kind(y->root) == K_SYM && !op_same(x->root, y->root))
        return x->inside && y->inside;
    uint32_t ahead = (uint32_t)y->offset - (uint32_t)x->offset;
    return same_root(x->root, y->root, representative, user) && ahead >= x->bytes && 0 - ahead >= y->bytes;
}

bool places_equal(const AccessPlace *x, const AccessPlace *y, OperandKey *representative, const void *user)
{
    return x->bytes && x->bytes == y->bytes && x->space == y->space && x->offset == y->offset &&
           same_root(x->root, y->root, representative, user);
}

/* -- Queries -------------------------------------------------------------------------------------------- */

void access_places_init(AccessPlaces *p, Arena *arena, const Fn *fn, const Analyses *a, OperandKey *representative,
                        const void *user)
{
    *p = (AccessPlaces){.fn = fn, .a = a, .arena = arena, .representative = representative, .user = user};
    p->ninstrs = fn->instrs.n;
    p->index = NEW_ARRAY(arena, uint32_t, fn->instrs.n);
    seg_push(&p->known, arena, 1, sizeof(AccessPlace));
}

AccessPlace access_place_of(AccessPlaces *p, InstrId id)
{
    if (id >= p->ninstrs)
        return access_place(p->fn, p->a, id);
    if (!p->index[id]) {
        p->index[id] = seg_push(&p->known, p->arena, 1, sizeof(AccessPlace));
        *(AccessPlace *)seg_at(&p->known, p->index[id], sizeof(AccessPlace)) = access_place(p->fn, p->a, id);
    }
    return *(const AccessPlace *)seg_at(&p->known, p->index[id], sizeof(AccessPlace));
}

MemVersionId mem_clobber(const MemVersions *m, AccessPlaces *p, InstrId load, MemVersionId v)
{
    if (v == MEM_CONSTANT || v == MEM_UNKNOWN)
        return v;
    AccessPlace read = access_place_of(p, load);
    return mem_clobber_of_place(m, p, &read, v);
}

MemVersionId mem_clobber_of_place(const MemVersions *m, AccessPlaces *p, const AccessPlace *read, MemVersionId v)
{
    if (v == MEM_CONSTANT || v == MEM_UNKNOWN)
        return v;
    for (uint32_t k = 0; k < CLOBBER_STEPS && mem_version(m, v)->kind == MV_STORE; k++) {
        AccessPlace written = access_place_of(p, mem_version(m, v)->def);
        if (!places_disjoint(read, &written, p->representative, p->user))
            break;
        v = mem_version(m, v)->prev;
    }
    return v;
}
