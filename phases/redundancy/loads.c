// SPDX-License-Identifier: MIT
// Numbers loads by the bytes that they read, for redundancy elimination (phases/redundancy/redundancy.h).
//
// The bytes of an element of a load are determined by its place (root, offset, size) and the newest version of memory
// that may have written them (ir/analysis/memory_versions.h). If that version is a store to this place, the element is
// the stored value; else it is that of the first load of the same bytes. The numbers of roots stand for registers.
//
// A loaded element gets the number of this value if it has all bits of the value. A load that extends some low bytes of
// the value is a copy: equal copies have one number, and a move can replace the load. A guarded load is a copy, too; it
// has the number of guarded loads with the same guard and old value only.
#include "phases/redundancy/redundancy.h"

enum { BYTES_KEY = 1, NARROW_KEY = 2, KEY_MAX = 12 };  // the first two: first words of keys

// The root of a place is represented by the number of its register.
static Operand root_of(const void *values, Operand o)
{
    ValueNumber number = value_number(values, o);
    return number ? (Operand){number, 0} : o;
}

void loads_init(Redundancy *r)
{
    access_places_init(&r->places, &r->scratch, r->fn, r->a, root_of, &r->values);
    value_table_init(&r->bytes, &r->scratch);
}

/* -- Values in memory ----------------------------------------------------------------------------------- */

// Returns the operand whose low bytes a store has written to the bytes of an element; K_NONE = there is none.
static Operand stored_value(Redundancy *r, InstrId store, const AccessPlace *read, const LoadElement *e)
{
    const Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, store);
    AccessPlace written = access_place_of(&r->places, store);
    if (ir_guarded(i) || !access_is_movable(fn, i) || written.space != read->space ||
        !op_same(root_of(&r->values, written.root), root_of(&r->values, read->root)))
        return op_none();
    uint32_t n = access_elements(tab_mnem(fn->tables, ir_desc(fn, i)->mnem)), bytes = written.bytes / n;
    int64_t ahead = (int64_t)((uint64_t)e->offset - (uint64_t)written.offset);
    if (ahead < 0 || ahead >= (int64_t)written.bytes || ahead % bytes || e->bytes > bytes)
        return op_none();
    Operand value = *ir_use(fn, i, 2 + (uint32_t)ahead / bytes);
    return op_is_const(value) || op_in_ssa(fn, value) ? value : op_none();
}

// Makes the key of the bytes of an element. Returns its length.
static uint32_t make_bytes_key(Redundancy *r, const AccessPlace *place, const LoadElement *e, MemVersionId version)
{
    uint32_t *key = value_table_key(&r->bytes, KEY_MAX);
    key[0] = BYTES_KEY;
    key[1] = root_of(&r->values, place->root).word;
    key[2] = (uint32_t)e->offset;
    key[3] = (uint32_t)((uint64_t)e->offset >> 32);
    key[4] = e->bytes << 8 | (uint32_t)place->space;
    key[5] = version;
    return 6;
}

// Appends what makes guarded loads equal. False: something has no number.
static bool add_guard(Redundancy *r, const LoadElement *e, uint32_t *n)
{
    const Instr *i = ir_instr(r->fn, e->load);
    uint32_t *key = value_table_key(&r->bytes, KEY_MAX);
    Operand guard = *ir_guard(r->fn, i), old = *ir_tied(r->fn, i, e->index);
    key[(*n)++] = value_number(&r->values, guard);
    key[(*n)++] = guard.mods;
    key[(*n)++] = op_is_undef(old) ? old.word : value_number(&r->values, old);
    key[(*n)++] = (uint32_t)e->is_signed << 8 | e->width;
    return key[*n - 4] && key[*n - 2];
}

/* -- Elements ------------------------------------------------------------------------------------------- */

// True if the old value of a guarded load is undefined, so that the value where the guard is false may be any.
static bool may_be_any(const Redundancy *r, const LoadElement *e)
{
    const Instr *i = ir_instr(r->fn, e->load);
    return ir_guarded(i) && op_is_undef(*ir_tied(r->fn, i, e->index));
}

static bool number_as_register(Redundancy *r, const LoadElement *e, RegId reg)
{
    r->values.of[op_index(e->def)] = r->values.of[reg];
    return r->values.of[reg] != op_reg(r->fn, op_index(e->def)).word;
}

// Returns the first register with the current key of length n, that of the element if there is none.
static RegId first_of_key(Redundancy *r, const LoadElement *e, uint32_t n)
{
    ValueSlot slot = value_table_insert(&r->bytes, n);
    if (slot.is_new)
        slot.node->value = op_index(e->def);
    return (RegId)slot.node->value;
}

// Numbers an element by its key of length n, and by its guard. If its old value is undefined, an equal load may replace
// it, but it has another number.
static bool number_guarded(Redundancy *r, const LoadElement *e, uint32_t n)
{
    bool guarded = ir_guarded(ir_instr(r->fn, e->load)), any = may_be_any(r, e);
    RegId reg = op_index(e->def), first = !guarded || add_guard(r, e, &n) ? first_of_key(r, e, n) : reg;
    if (any && first != reg)
        redundancy_note_copy(r, &(Copy){e->load, e->index, op_reg(r->fn, first), 0, false});
    return !any && first != reg && number_as_register(r, e, first);
}

// True if a register of the element's width with these bytes is the element.
static bool is_whole(const Redundancy *r, const LoadElement *e, Operand from)
{
    return (!op_is_reg(from) || op_file(from) == op_file(e->def)) && 8 * e->bytes == width_bits(e->width) &&
           width_of_operand(r->fn, from) == e->width;
}

// Numbers an element whose bytes are the low bytes of `from`. `whole`: the element equals `from`.
static bool number_copy(Redundancy *r, const LoadElement *e, Operand from, bool whole)
{
    const Instr *i = ir_instr(r->fn, e->load);
    ValueNumber number = value_number(&r->values, from);
    if (number && whole && !ir_guarded(i)) {
        r->values.of[op_index(e->def)] = number;
        return true;
    }
    if (number && (whole && may_be_any(r, e) ? true : access_is_movable(r->fn, i)))
        redundancy_note_copy(r,
                             &(Copy){e->load, e->index, from, whole && may_be_any(r, e) ? 0 : e->bytes, e->is_signed});
    uint32_t *key = value_table_key(&r->bytes, KEY_MAX), n = 4;
    key[0] = NARROW_KEY;
    key[1] = number;
    key[2] = e->bytes << 16 | (uint32_t)e->is_signed << 8 | e->width;
    key[3] = op_is_reg(from) ? op_file(from) : 0;
    return number && number_guarded(r, e, n);
}

// Returns the register that was loaded from the bytes of the current key first; 0 = none.
static RegId loaded_before(const Redundancy *r, uint32_t n)
{
    const ValueNode *node = value_table_find(&r->bytes, n);
    return node ? (RegId)node->value : 0;
}

static bool is_extension(const Redundancy *r, RegId reg, const LoadElement *e)
{
    const Instr *i = ir_instr(r->fn, def_of(r->a, reg));
    Type type = (Type)tab_mnem(r->fn->tables, ir_desc(r->fn, i)->mnem)->type[0];
    return ir_reg(r->fn, reg)->width == e->width &&
           (8 * e->bytes == width_bits(e->width) || (type_info[type].class == TC_S) == e->is_signed);
}

Operand loads_find(Redundancy *r, const AccessPlace *place, const LoadElement *e, MemVersionId version, bool *whole)
{
    if (version != MEM_CONSTANT && mem_version(r->memory, version)->kind == MV_STORE) {
        Operand from = stored_value(r, mem_version(r->memory, version)->def, place, e);
        *whole = op_kind(from) != K_NONE && is_whole(r, e, from);
        if (op_kind(from) != K_NONE)
            return from;
    }
    RegId before = loaded_before(r, make_bytes_key(r, place, e, version));
    *whole = before && is_extension(r, before, e);
    return before ? op_reg(r->fn, before) : op_none();
}

static bool number_element(Redundancy *r, const AccessPlace *place, const LoadElement *e, MemVersionId version)
{
    bool whole;
    Operand from = loads_find(r, place, e, version, &whole);
    if (op_kind(from) != K_NONE)
        return number_copy(r, e, from, whole);
    return number_guarded(r, e, make_bytes_key(r, place, e, version));
}

/* -- Loads ---------------------------------------------------------------------------------------------- */

static bool is_load(const Desc *d) { return d->op == OP_LD || d->op == OP_LDU; }

static bool defines_ssa(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && !op_in_ssa(fn, *ir_def(fn, i, k)))
            return false;
    return !(i->flags & IF_PINNED) && (!ir_guarded(i) || i->flags & IF_TIED);
}

LoadElement load_element(const Fn *fn, InstrId id, uint32_t k, const AccessPlace *place)
{
    const Instr *i = ir_instr(fn, id);
    TypeInfo type = type_info[tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0]];
    Operand def = *ir_def(fn, i, k);
    uint32_t bytes = place->bytes / i->ndef;
    LoadElement e = {.load = id, .index = k, .def = def, .bytes = bytes, .is_signed = type.class == TC_S};
    e.offset = (int64_t)((uint64_t)place->offset + (uint64_t)k * bytes);
    e.width = op_is_reg(def) ? (Width)ir_reg(fn, op_index(def))->width : W1;
    return e;
}

bool load_may_be_partial(const Redundancy *r, const NumberedLoad *load)
{
    bool phi = load->version != MEM_CONSTANT && mem_version(r->memory, load->version)->kind == MV_PHI;
    return phi || pred_count(r->a, ir_instr(r->fn, load->instr)->block) > 1;
}

static bool number_elements(Redundancy *r, InstrId id, const AccessPlace *place, MemVersionId version)
{
    const Instr *i = ir_instr(r->fn, id);
    uint32_t found = r->copies.n, wanted = r->rules->kinds | (version == MEM_CONSTANT ? RD_LOADS : 0);
    bool known = false;
    version = mem_clobber(r->memory, &r->places, id, version);
    values_number_apart(&r->values, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        if (!op_is_reg(*ir_def(r->fn, i, k)))
            continue;
        LoadElement e = load_element(r->fn, id, k, place);
        known |= number_element(r, place, &e, version);
    }
    if (kinds_found(r->rules) & RD_PARTIAL_LOADS) {
        NumberedLoad load = {id, version};
        VEC_PUSH(&r->scratch, &r->loads, load);
        r->partial |= load_may_be_partial(r, &load);
    }
    if (wanted & RD_LOADS)
        return known;
    r->left |= known || r->copies.n > found;
    r->copies.n = found;
    values_number_apart(&r->values, id);
    return false;
}

// Returns the version of memory that a load reads; MEM_UNKNOWN if the rules do not want it.
static MemVersionId version_of(Redundancy *r, InstrId id, const Instr *i, const Desc *d)
{
    if (mem_reads_constant(r->fn, i))
        return MEM_CONSTANT;
    if (!(kinds_found(r->rules) & RD_LOADS) || !is_load(d))
        return MEM_UNKNOWN;
    if (!r->memory)
        r->memory = mem_versions_of(r->fn);
    return mem_version_of_load(r->memory, id);
}

bool loads_number(Redundancy *r, InstrId id, bool *known)
{
    const Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    if (!(d->traits & TR_READ) || !i->ndef || !defines_ssa(fn, i))
        return false;
    MemVersionId version = version_of(r, id, i, d);
    if (version == MEM_UNKNOWN)
        return false;
    AccessPlace place = is_load(d) ? access_place_of(&r->places, id) : (AccessPlace){0};
    if (place.bytes)
        *known = number_elements(r, id, &place, version);
    else if (version == MEM_CONSTANT)
        *known = values_number_in(&r->values, id, 1);
    else
        return false;
    return true;
}
