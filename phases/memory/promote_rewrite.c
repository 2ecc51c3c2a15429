// SPDX-License-Identifier: MIT
// Replaces promoted accesses by moves of the registers that hold parts of variables. A whole node is one register:
// loads extract fields from it, and stores insert fields into it. A split node consists of its halves.
#include "phases/memory/promote_memory.h"

/* -- Making instructions -------------------------------------------------------------------------------- */

// Returns the descriptor of a conversion between two widths, or of another instruction of width `to`.
static DescId desc_of(Promotion *p, Make make, Width to, Width from, bool is_signed)
{
    static const struct {
        Opcode op;
        TypeClass class;
    } rows[MAKES] = {
        [MK_MOV] = {OP_MOV, TC_B}, [MK_SPLIT] = {OP_UNPACK, TC_B}, [MK_JOIN] = {OP_PACK, TC_B},
        [MK_AND] = {OP_AND, TC_B}, [MK_OR] = {OP_OR, TC_B},        [MK_SHL] = {OP_SHL, TC_B},
        [MK_SHR] = {OP_SHR, TC_U}, [MK_BFE] = {OP_BFE, TC_U},      [MK_BFI] = {OP_BFI, TC_B},
        [MK_CVT] = {OP_CVT, TC_U},
    };
    DescId *desc = &p->descs[make][to][from][is_signed];
    if (!*desc) {
        TypeClass class = is_signed ? TC_S : rows[make].class;
        Type second = make == MK_CVT ? type_make(class, from) : TY_NONE;
        *desc = desc_make(p->fn->tables, rows[make].op, type_make(class, to), second);
    }
    return *desc;
}

// True if the module may have such an instruction of 32 bits.
static bool has(Promotion *p, Make make)
{
    return module_takes(p->fn->module, tab_desc(p->fn->tables, desc_of(p, make, W32, W32, false))->needs);
}

static void append_instr(Promotion *p, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = ir_insert_before(p->fn, p->before, desc, flags, ops, n);
    ir_instr(p->fn, id)->line = ir_instr(p->fn, p->before)->line;
}

static Operand new_register(Promotion *p, Width width) { return op_reg(p->fn, reg_new(p->fn, RF_R, width)); }

// Makes an instruction with up to four operands, and returns its result, a new register of this width.
static Operand compute(Promotion *p, Make make, Width width, const Operand *uses, uint32_t n)
{
    Operand ops[5] = {op_def(new_register(p, width))};
    memcpy(ops + 1, uses, n * sizeof *uses);
    append_instr(p, desc_of(p, make, width, width, false), 0, ops, n + 1);
    return op_reg(p->fn, op_index(ops[0]));
}

static Operand register_of(Promotion *p, Group *g, uint32_t node)
{
    if (!g->reg[node])
        g->reg[node] = op_index(new_register(p, width_of_bytes(bytes_of_node(node))));
    return op_reg(p->fn, g->reg[node]);
}

static Operand number(Promotion *p, uint64_t n) { return op_const(p->fn, n, W32); }

// Returns a value in this width; additional bits are arbitrary.
static Operand with_width(Promotion *p, Operand value, Width width)
{
    Width from = width_of_operand(p->fn, value);
    if (op_kind(value) == K_IMM)
        return op_const(p->fn, tab_const(p->fn->tables, op_index(value)).bits, width);
    if (from == width)
        return value;
    Operand to = new_register(p, width);
    append_instr(p, desc_of(p, MK_CVT, width, from, false), 0, (Operand[]){op_def(to), value}, 2);
    return to;
}

/* -- Halves and fields ---------------------------------------------------------------------------------- */

// Splits a value of `bytes` bytes into its halves. If `bytes` is 2, the lower half is the value itself: upper bits are
// arbitrary.
static void split_value(Promotion *p, Operand value, uint32_t bytes, Operand half[2])
{
    Width width = width_of_bytes(bytes), half_width = width_of_bytes(bytes / 2);
    value = with_width(p, value, width);
    if (op_kind(value) == K_IMM) {
        uint64_t bits = tab_const(p->fn->tables, op_index(value)).bits;
        half[0] = op_const(p->fn, bits, half_width);
        half[1] = op_const(p->fn, bits >> (bytes * 4), half_width);
    } else if (bytes == 2) {
        half[0] = value;
        half[1] = compute(p, MK_SHR, W16, (Operand[]){value, number(p, 8)}, 2);
    } else {
        half[0] = new_register(p, half_width);
        half[1] = new_register(p, half_width);
        append_instr(p, desc_of(p, MK_SPLIT, width, width, false), 0,
                     (Operand[]){op_def(half[0]), op_def(half[1]), value}, 3);
    }
}

// Joins two halves to a value of `bytes` bytes.
static Operand join_halves(Promotion *p, Operand low, Operand high, uint32_t bytes)
{
    if (bytes > 2)
        return compute(p, MK_JOIN, width_of_bytes(bytes), (Operand[]){low, high}, 2);
    low = compute(p, MK_AND, W16, (Operand[]){low, op_const(p->fn, 0xff, W16)}, 2);
    high = compute(p, MK_SHL, W16, (Operand[]){high, number(p, 8)}, 2);
    return compute(p, MK_OR, W16, (Operand[]){low, high}, 2);
}

// Extracts `size` bytes of a value of `bytes` bytes; the bits above them are arbitrary.
static Operand field_of(Promotion *p, Operand value, uint32_t bytes, uint32_t first, uint32_t size)
{
    Operand half[2];
    if (bytes == 8 && size < 8) {
        split_value(p, value, bytes, half);
        return field_of(p, half[first / 4], 4, first % 4, size);
    }
    if (!first)
        return value;
    if (bytes == 4 && !has(p, MK_BFE))
        return compute(p, MK_SHR, W32, (Operand[]){value, number(p, first * 8)}, 2);
    if (bytes == 4)
        return compute(p, MK_BFE, W32, (Operand[]){value, number(p, first * 8), number(p, size * 8)}, 3);
    return compute(p, MK_SHR, W16, (Operand[]){value, number(p, first * 8)}, 2);
}

// Inserts a field as bfi does, for modules whose PTX has no bfi.
static Operand insert_by_masks(Promotion *p, Operand field, Operand all, uint32_t first, uint32_t size)
{
    uint64_t mask = (UINT64_C(1) << size * 8) - 1;
    Operand low = compute(p, MK_AND, W32, (Operand[]){field, number(p, mask)}, 2);
    Operand moved = first ? compute(p, MK_SHL, W32, (Operand[]){low, number(p, first * 8)}, 2) : low;
    Operand rest = compute(p, MK_AND, W32, (Operand[]){all, number(p, ~(mask << first * 8))}, 2);
    return compute(p, MK_OR, W32, (Operand[]){rest, moved}, 2);
}

// Returns a value of `bytes` bytes with `size` of them replaced by a field.
static Operand with_field(Promotion *p, Operand all, uint32_t bytes, uint32_t first, uint32_t size, Operand field)
{
    Operand half[2];
    if (bytes == 8) {
        split_value(p, all, bytes, half);
        half[first / 4] =
            size == 4 ? with_width(p, field, W32) : with_field(p, half[first / 4], 4, first % 4, size, field);
        return join_halves(p, half[0], half[1], bytes);
    }
    Operand uses[] = {with_width(p, field, W32), with_width(p, all, W32), number(p, first * 8), number(p, size * 8)};
    Operand merged =
        has(p, MK_BFI) ? compute(p, MK_BFI, W32, uses, 4) : insert_by_masks(p, uses[0], uses[1], first, size);
    return with_width(p, merged, width_of_bytes(bytes));
}

/* -- Nodes ---------------------------------------------------------------------------------------------- */

static bool is_apart(const Group *g, uint32_t node) { return node < GROUP && g->split >> node & 1; }

// Returns the whole node that contains a node, which may be the node itself; 0 = none.
static uint32_t whole_around(const Group *g, uint32_t node)
{
    uint32_t whole = 0;
    for (uint32_t outer = node; outer; outer /= 2)
        if (!is_apart(g, outer))
            whole = outer;
    return whole;
}

// Makes a move of an access. The last move replaces the access; the others are inserted before it.
static void move(Promotion *p, Operand dst, Operand src, uint32_t bytes, bool is_signed, const Tail *tail, bool last)
{
    AccessMove move = {dst, src, bytes, is_signed, *tail};
    (last ? instr_replace_by_access_move : insert_access_move)(p->fn, p->before, &move);
}

static void store_node(Promotion *p, Group *g, uint32_t node, Operand value, const Tail *tail, bool last)
{
    uint32_t bytes = bytes_of_node(node), whole = whole_around(g, node), around;
    Operand half[2];
    if (!whole) {
        split_value(p, value, bytes, half);
        store_node(p, g, 2 * node, half[0], tail, false);
        store_node(p, g, 2 * node + 1, half[1], tail, last);
        return;
    }
    Operand reg = register_of(p, g, whole);
    around = bytes_of_node(whole);
    if (around != bytes)
        value = with_field(p, reg, around, first_byte(node) - first_byte(whole), bytes, value);
    value = with_width(p, value, width_of_operand(p->fn, reg));
    move(p, reg, value, MAX(around, 2u), false, tail, last);
}

// Returns a register with the value of a node; the bits above it are arbitrary.
static Operand load_node(Promotion *p, Group *g, uint32_t node)
{
    uint32_t whole = whole_around(g, node);
    if (!whole) {
        Operand low = load_node(p, g, 2 * node), high = load_node(p, g, 2 * node + 1);
        return join_halves(p, low, high, bytes_of_node(node));
    }
    return field_of(p, register_of(p, g, whole), bytes_of_node(whole), first_byte(node) - first_byte(whole),
                    bytes_of_node(node));
}

/* -- The rewriting -------------------------------------------------------------------------------------- */

static void rewrite(Promotion *p, InstrId id, const Direct *d)
{
    Fn *fn = p->fn;
    record_cost(p->ctx, fn, id);
    remove_annotations(fn, id);
    p->before = id;
    bool done = false;
    for (uint32_t k = 0; k < d->n; k++) {
        const Instr *i = ir_instr(fn, id);
        bool last = k + 1 == d->n;
        Operand value = d->store ? *ir_use(fn, i, 2 + k) : *ir_def(fn, i, k);
        Tail tail = tail_of(fn, i, k);
        if (d->store) {
            tail.flags &= (uint8_t)~IF_TIED;
            store_node(p, group_at(d, k), node_at(d, k), value, &tail, last);
            done = last;
        } else if (op_is_reg(value)) {
            Operand dst = op_reg(fn, op_index(value));
            Operand from = load_node(p, group_at(d, k), node_at(d, k));
            move(p, dst, from, d->bytes, type_info[d->type].class == TC_S, &tail, last);
            done = last;
        }
    }
    if (!done)  // the last element has no register
        ir_remove(fn, id);
    p->progress = true;
}

void promote_accesses(Promotion *p)
{
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        const Direct *direct = promotable_access(p, k);
        if (direct && !stays_in_memory(direct))
            rewrite(p, p->pointers->accesses.at[k].instr, direct);
    }
}
