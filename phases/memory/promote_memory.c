// SPDX-License-Identifier: MIT
// Keeps variables of the function in registers that lie in `.local` memory.
//
// Sub-pass: ConvertMemoryToRegisterOrUniform, of phase 37 and behind phase 3. Where an address comes from, and which
// variables are accessed by nothing but what is seen, says ir/analysis/origins.h: through moves of the symbol, sums,
// phis and selects, through cvta and back, as `__local_depot` frames of compilers have it. Variables are taken apart by
// bytes: each aligned group of eight is a tree whose nodes are halves of each other. A node that is whole is a
// register: what accesses a part of it takes a field out, or puts one in. A node that is apart is what its halves are:
// stores split what they write, loads put together what they read. Which costs less is decided for each by counting. In
// front of ssa form a register simply has several definitions, in ssa form ssa_repair() makes them single ones. What
// nobody wrote is undefined.
//
//     st.local.b32 [@x], R1                       R9 = mov.b32 R1
//     R2 = ld.local.b32 [@x]                 ->   R2 = mov.b32 R9
//
//     R1 = mov.b64 @frame                         R8 = mov.b64 R3
//     R2 = cvta.local.u64 R1                 ->   {R6, R7} = mov.b64 R3    ; if halves are read
//     st.b64 [R2+8], R3                           R4 = mov.b32 R7
//     R4 = ld.b32 [R2+12]
//
//     @P0 st.local.u8 [@x+3], R1             ->   @P0 R9 = cvt.u16.u32 R1
//     R2 = ld.local.s8 [@x+3]                     R2 = cvt.s32.s8 R9
//
// Must not fire:
//     R3 = ld.local.b32 [R1], R1 = @x + R2        it may be any element: all that it may reach stays in memory, and
//                                                 all accesses of that stay
//     st.param.b64 [@arg], R1, R1 = @x            the callee may access all of @x
//     ld.volatile.local, atom, prefetch           stay, and with them what they access
//     .local of the module                        other functions see it
//     ld.local.b32 [@x+2]                         not aligned, or outside of the variable: it faults
//     ld.local.b32 [4]                            any variable may lie there: none is promoted
//
// Bytes: a register that holds a byte has anything in its upper half, so stores of bytes are plain moves, and loads
// extend, which they have to do anyway.
//
// Does not do: `.shared` variables, since other threads may see them; elements of 16 bytes; `.param` of calls.
// Documented: the name, that it is part of phase 37, and its knobs. Inferred: the rest.
#include "ir/analysis/local_memory.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

enum {
    GROUP = 8,                   // bytes of a tree
    NODES = 2 * GROUP,           // node 1 is all of a group; the halves of node n are 2n and 2n + 1
    SIZE_MAX_BYTES = 512 << 10,  // of a variable; no thread has more local memory
};

// Eight bytes of a variable.
typedef struct Group {
    uint8_t stays;                        // bit per byte: it stays in memory
    uint8_t split;                        // bit per inner node: its halves are apart
    uint8_t touched;                      // bit per byte: a direct access has to do with it
    uint32_t apart[GROUP], whole[GROUP];  // by inner node: what it costs to have it apart, to have it whole
    uint32_t accesses, moves;             // direct ones; what promotion makes of them, about
    RegId reg[NODES];                     // of nodes that are whole; 0 = none yet
} Group;

typedef struct Variable {
    Group *groups;  // NULL: it is not promoted
    uint64_t size;
    bool limited;  // some of it stays, since there would be too many phis
} Variable;

// The instructions that are made, for a width each.
typedef enum { MK_MOV, MK_SPLIT, MK_JOIN, MK_AND, MK_OR, MK_SHL, MK_SHR, MK_BFE, MK_BFI, MK_CVT, MAKES } Make;

typedef struct Promotion {
    Ctx *ctx;
    Fn *fn;
    Arena scratch;
    Origins origins;
    Variable *variables;  // by local symbol
    DescId descs[MAKES][WIDTH_COUNT][WIDTH_COUNT][2];
    InstrId before;  // in front of what instructions are made
    bool progress;
} Promotion;

/* -- Accesses ------------------------------------------------------------------------------------------- */

// A load or store of `n` elements of `bytes` bytes from `offset` on.
typedef struct Direct {
    Variable *variable;
    uint64_t offset;
    uint32_t bytes, n;
    Type type;
    bool store;
} Direct;

// Describes an access; true if moves could replace it: it is exact, aligned and within its variable.
static bool is_promotable(const Promotion *p, const MemAccess *access, Direct *direct)
{
    const Instr *i = ir_instr(p->fn, access->instr);
    const Desc *d = ir_desc(p->fn, i);
    const Mnem *m = tab_mnem(p->fn->tables, d->mnem);
    *direct = (Direct){.variable = &p->variables[local_symbol(access->at->sym)],
                       .offset = (uint64_t)access->at->lo,
                       .bytes = width_bits(type_info[m->type[0]].width) / 8,
                       .n = access_elements(m),
                       .type = (Type)m->type[0],
                       .store = d->op == OP_ST};
    uint64_t size = (uint64_t)direct->bytes * direct->n;
    return access_is_movable(p->fn, i) && origin_is_exact(access->at) && direct->offset % size == 0 &&
           direct->offset < direct->variable->size && size <= direct->variable->size - direct->offset;
}

static Group *group_at(const Direct *d, uint32_t element)
{
    return &d->variable->groups[(d->offset + (uint64_t)element * d->bytes) / GROUP];
}

static uint32_t node_at(const Direct *d, uint32_t element)
{
    uint64_t offset = d->offset + (uint64_t)element * d->bytes;
    return GROUP / d->bytes + (uint32_t)(offset % GROUP) / d->bytes;
}

static uint32_t bytes_of_node(uint32_t node) { return GROUP >> (31 - (uint32_t)__builtin_clz(node)); }

static uint32_t first_byte(uint32_t node) { return node * bytes_of_node(node) - GROUP; }

// The bytes of its group that a node is.
static uint32_t mask_of_node(uint32_t node) { return ((1u << bytes_of_node(node)) - 1) << first_byte(node); }

/* -- What stays in memory ------------------------------------------------------------------------------- */

static void keep_range(Variable *v, int64_t lo, int64_t hi)
{
    uint64_t first = lo < 0 ? 0 : (uint64_t)lo, end = hi < 0 ? 0 : MIN((uint64_t)hi, v->size);
    for (uint64_t at = first; at < end; at++)
        v->groups[at / GROUP].stays |= (uint8_t)(1u << at % GROUP);
}

// The end of all that an access may reach.
static int64_t end_of(const Promotion *p, const MemAccess *access)
{
    const Mnem *m = tab_mnem(p->fn->tables, ir_desc(p->fn, ir_instr(p->fn, access->instr))->mnem);
    int64_t bytes = (int64_t)(width_bits(type_info[m->type[0]].width) / 8) * access_elements(m), end;
    return !bytes || __builtin_add_overflow(access->at->hi, bytes, &end) ? INT64_MAX : end;
}

// Keeps in memory all of an access some byte of which stays there. True: there is more that stays than before.
static bool keep_rest(const Direct *d)
{
    bool stays = false, more = false;
    for (uint32_t k = 0; k < d->n; k++)
        stays |= group_at(d, k)->stays & mask_of_node(node_at(d, k));
    for (uint32_t k = 0; stays && k < d->n; k++) {
        uint8_t *kept = &group_at(d, k)->stays, mask = (uint8_t)mask_of_node(node_at(d, k));
        more |= (*kept & mask) != mask;
        *kept |= mask;
    }
    return more;
}

static bool stays_in_memory(const Direct *d) { return group_at(d, 0)->stays & mask_of_node(node_at(d, 0)); }

// Of an access to a variable that may be promoted; NULL otherwise.
static Variable *variable_of(const Promotion *p, const MemAccess *access)
{
    uint32_t s = access->at->kind == OR_ADDRESS ? local_symbol(access->at->sym) : 0;
    return s && p->variables[s].groups ? &p->variables[s] : NULL;
}

static uint64_t groups_of(const Variable *v) { return v->groups ? (v->size + GROUP - 1) / GROUP : 0; }

// The largest variable that is promoted.
static uint64_t size_limit(Promotion *p)
{
    Knobs *knobs = &p->ctx->knobs;
    uint64_t limit =
        knob_is_set(knobs, KNOB_MEM_TO_REG_SIZE) ? (uint64_t)knob_int(knobs, KNOB_MEM_TO_REG_SIZE) : UINT64_MAX;
    return MIN(limit, SIZE_MAX_BYTES);
}

// Variables that nothing but loads and stores get at whose addresses are known to be theirs.
static bool choose_variables(Promotion *p)
{
    Fn *fn = p->fn;
    bool found = false;
    uint64_t limit = size_limit(p);
    p->variables = NEW_ARRAY(&p->scratch, Variable, fn->syms.n);
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        const MemAccess *access = &p->origins.accesses.at[k];
        uint32_t s = local_symbol(access->at->sym);
        bool wrong = access->at->generic != (access->space == SP_GENERIC) ||
                     (access->space != SP_GENERIC && access->space != SP_LOCAL);
        if (s && wrong && ir_sym(fn, access->at->sym)->space == SP_LOCAL && !p->origins.exposed[s])
            p->origins.exposed[s] = access->instr;
    }
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        uint32_t s = local_symbol(p->origins.accesses.at[k].at->sym);
        const Sym *sym = s ? ir_sym(fn, s | SYM_LOCAL) : NULL;
        bool variable = s && sym->kind == SYM_VAR && sym->space == SP_LOCAL && !sym->init;
        if (!variable || p->origins.exposed[s] || p->variables[s].groups || !sym->size || sym->size > limit)
            continue;
        p->variables[s] =
            (Variable){.groups = NEW_ARRAY(&p->scratch, Group, (sym->size + GROUP - 1) / GROUP), .size = sym->size};
        found = true;
    }
    return found;
}

static void keep_rests(Promotion *p)
{
    Direct direct;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < p->origins.accesses.n; k++)
            if (variable_of(p, &p->origins.accesses.at[k]) && is_promotable(p, &p->origins.accesses.at[k], &direct))
                more |= keep_rest(&direct);
    }
}

static void find_what_stays(Promotion *p)
{
    Direct direct;
    bool stays = false;
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        const MemAccess *access = &p->origins.accesses.at[k];
        Variable *v = variable_of(p, access);
        if (!v || is_promotable(p, access, &direct))
            continue;
        keep_range(v, access->at->lo, end_of(p, access));
        stays = true;
    }
    if (stays)
        keep_rests(p);
}

// Counts for the inner nodes around and at an access what it costs there. Halves of 64 bits are registers of their own
// anyway, so what puts them together or apart costs less than what gets at a byte.
static void count_access(Group *g, uint32_t node, bool store)
{
    g->touched |= (uint8_t)mask_of_node(node);
    g->accesses++;
    g->moves++;
    if (node < GROUP)
        g->apart[node] += bytes_of_node(node) == 2 && !store ? 3 : 1;
    for (uint32_t outer = node / 2; outer; outer /= 2)
        g->whole[outer] += store && outer == 1 ? 2 : 1;
}

// Takes a node apart if that costs less, or if nothing accesses all of it.
static void decide(Group *g, uint32_t node)
{
    if (node >= GROUP || !g->whole[node])
        return;
    bool whole = g->apart[node] && g->whole[node] <= g->apart[node];
    g->moves += whole ? g->whole[node] : g->apart[node];
    if (whole)
        return;
    g->split |= (uint8_t)(1u << node);
    decide(g, 2 * node);
    decide(g, 2 * node + 1);
}

// Takes groups apart, as far as that pays.
static void find_parts(Promotion *p)
{
    Direct direct;
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        const MemAccess *access = &p->origins.accesses.at[k];
        if (!variable_of(p, access) || !is_promotable(p, access, &direct) || stays_in_memory(&direct))
            continue;
        for (uint32_t e = 0; e < direct.n; e++)
            count_access(group_at(&direct, e), node_at(&direct, e), direct.store);
    }
    for (uint32_t v = 1; v < p->fn->syms.n; v++)
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++)
            decide(&p->variables[v].groups[k], 1);
}

// Where much of a variable stays in memory anyway, only groups are promoted whose moves cost less than their accesses.
// Returns whether any are not.
static bool weigh(Promotion *p, Variable *v)
{
    uint32_t promoted = 0, accessed = 0;
    bool stays = false;
    for (uint64_t k = 0; k < groups_of(v); k++) {
        promoted += (uint32_t)__builtin_popcount(v->groups[k].touched & ~v->groups[k].stays & 0xff);
        accessed += (uint32_t)__builtin_popcount(v->groups[k].touched | v->groups[k].stays);
    }
    if (promoted >= knob_double(&p->ctx->knobs, KNOB_MEM_TO_REG_WHOLE) * accessed)
        return false;
    double weight = knob_double(&p->ctx->knobs, KNOB_MOV_WEIGHT);
    for (uint64_t k = 0; k < groups_of(v); k++) {
        Group *g = &v->groups[k];
        bool dear = g->accesses && g->moves * weight >= g->accesses;
        g->stays |= dear ? 0xff : 0;
        stays |= dear;
    }
    return stays;
}

static void weigh_variables(Promotion *p)
{
    bool stays = false;
    for (uint32_t v = 1; v < p->fn->syms.n; v++)
        stays |= weigh(p, &p->variables[v]);
    if (stays)
        keep_rests(p);
}

// The registers of a group, more or less: the parts that accesses have to do with.
static uint32_t parts_of(const Group *g)
{
    uint32_t parts = 1;
    for (uint32_t node = 1; node < GROUP; node++)
        parts += g->split >> node & 1;
    return parts;
}

// The direct accesses to a group, in layout order: a list through `next`, from `first` on, of indices plus 1.
typedef struct GroupList {
    uint32_t first, last;
} GroupList;

typedef struct Toucher {
    BlockId block;
    bool store;
    uint32_t next;
} Toucher;

// Lists the accesses by group; `base` has the first list of each variable.
static Toucher *list_touchers(Promotion *p, GroupList *lists, const uint64_t *base, uint32_t room)
{
    Fn *fn = p->fn;
    Direct direct;
    Toucher *touchers = NEW_ARRAY(&p->scratch, Toucher, room + 1);
    uint32_t at = 0, n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            if (at == p->origins.accesses.n || p->origins.accesses.at[at].instr != id)
                continue;
            const MemAccess *access = &p->origins.accesses.at[at++];
            if (!variable_of(p, access) || !is_promotable(p, access, &direct) || stays_in_memory(&direct))
                continue;
            for (uint32_t e = 0; e < direct.n; e++) {
                uint64_t group = (direct.offset + (uint64_t)e * direct.bytes) / GROUP;
                GroupList *list = &lists[base[local_symbol(access->at->sym)] + group];
                touchers[++n] = (Toucher){.block = b, .store = direct.store && !ir_guarded(ir_instr(fn, id))};
                *(list->last ? &touchers[list->last].next : &list->first) = n;
                list->last = n;
            }
        }
    return touchers;
}

// The inputs of phis that there are, or would be in ssa form.
static uint64_t count_inputs(Fn *fn)
{
    uint64_t n = 0;
    if (fn->form == FORM_MULTI)
        return analysis_need(fn, AN_RDEFS)->rdefs.ninputs;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op != OP_PHI)
                break;
            n += ir_nuse(i) / 2;
        }
    return n;
}

// Keeps groups in memory whose registers would have phis out of proportion to the function. Returns whether there are
// any.
static bool limit_groups(Promotion *p)
{
    Fn *fn = p->fn;
    uint64_t limit = p->ctx->phi_limit, taken = count_inputs(fn), left = limit - MIN(limit, taken), lists = 0;
    uint64_t *base = NEW_ARRAY(&p->scratch, uint64_t, fn->syms.n);
    uint32_t room = 0;
    bool any = false;
    for (uint32_t v = 1; v < fn->syms.n; v++) {
        base[v] = lists;
        lists += groups_of(&p->variables[v]);
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++)
            room += p->variables[v].groups[k].accesses;
    }
    GroupList *list = NEW_ARRAY(&p->scratch, GroupList, lists + 1);
    const Toucher *touchers = list_touchers(p, list, base, room);
    PhiCounter *counter = phi_counter(fn, &p->scratch);
    for (uint32_t v = 1; v < fn->syms.n; v++) {
        for (uint64_t k = 0; k < groups_of(&p->variables[v]); k++) {
            Group *g = &p->variables[v].groups[k];
            uint32_t parts = parts_of(g);
            phi_counter_start(counter);
            for (uint32_t t = list[base[v] + k].first; t; t = touchers[t].next)
                (touchers[t].store ? phi_counter_write : phi_counter_read)(counter, touchers[t].block);
            uint64_t inputs = phi_counter_inputs(counter, left / parts) * parts;
            if (inputs > left) {
                g->stays = 0xff;
                p->variables[v].limited = any = true;
            } else {
                left -= inputs;
            }
        }
    }
    phi_counter_free(counter);
    return any;
}

/* -- Making instructions -------------------------------------------------------------------------------- */

// The descriptor of a conversion from one width to another, or of what works on the width `to`.
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

// Returns whether the module has such an instruction of 32 bits.
static bool has(Promotion *p, Make make)
{
    return module_takes(p->fn->module, tab_desc(p->fn->tables, desc_of(p, make, W32, W32, false))->needs);
}

static void emit(Promotion *p, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = ir_insert_before(p->fn, p->before, desc, flags, ops, n);
    ir_instr(p->fn, id)->line = ir_instr(p->fn, p->before)->line;
}

static Operand new_register(Promotion *p, Width width) { return op_reg(p->fn, reg_new(p->fn, RF_R, width)); }

// A new register that gets what an instruction makes of up to four operands of its width.
static Operand compute(Promotion *p, Make make, Width width, const Operand *uses, uint32_t n)
{
    Operand ops[5] = {op_def(new_register(p, width))};
    memcpy(ops + 1, uses, n * sizeof *uses);
    emit(p, desc_of(p, make, width, width, false), 0, ops, n + 1);
    return op_reg(p->fn, op_index(ops[0]));
}

static Operand register_of(Promotion *p, Group *g, uint32_t node)
{
    if (!g->reg[node])
        g->reg[node] = op_index(new_register(p, width_of_bytes(bytes_of_node(node))));
    return op_reg(p->fn, g->reg[node]);
}

static Operand number(Promotion *p, uint64_t n) { return op_const(p->fn, n, W32); }

// A value as one of this width, with anything in the bits that it does not have.
static Operand with_width(Promotion *p, Operand value, Width width)
{
    Width from = width_of_operand(p->fn, value);
    if (op_kind(value) == K_IMM)
        return op_const(p->fn, tab_const(p->fn->tables, op_index(value)).bits, width);
    if (from == width)
        return value;
    Operand to = new_register(p, width);
    emit(p, desc_of(p, MK_CVT, width, from, false), 0, (Operand[]){op_def(to), value}, 2);
    return to;
}

/* -- Halves and fields ---------------------------------------------------------------------------------- */

// The halves of a value of so many bytes. The lower one of two bytes is the value itself.
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
        emit(p, desc_of(p, MK_SPLIT, width, width, false), 0, (Operand[]){op_def(half[0]), op_def(half[1]), value}, 3);
    }
}

// The value whose halves these are.
static Operand join_halves(Promotion *p, Operand low, Operand high, uint32_t bytes)
{
    if (bytes > 2)
        return compute(p, MK_JOIN, width_of_bytes(bytes), (Operand[]){low, high}, 2);
    low = compute(p, MK_AND, W16, (Operand[]){low, op_const(p->fn, 0xff, W16)}, 2);
    high = compute(p, MK_SHL, W16, (Operand[]){high, number(p, 8)}, 2);
    return compute(p, MK_OR, W16, (Operand[]){low, high}, 2);
}

// `size` bytes of a value of `bytes` bytes, with anything above them.
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

// The same as bfi, for modules whose PTX has none.
static Operand insert_by_masks(Promotion *p, Operand field, Operand all, uint32_t first, uint32_t size)
{
    uint64_t mask = (UINT64_C(1) << size * 8) - 1;
    Operand low = compute(p, MK_AND, W32, (Operand[]){field, number(p, mask)}, 2);
    Operand moved = first ? compute(p, MK_SHL, W32, (Operand[]){low, number(p, first * 8)}, 2) : low;
    Operand rest = compute(p, MK_AND, W32, (Operand[]){all, number(p, ~(mask << first * 8))}, 2);
    return compute(p, MK_OR, W32, (Operand[]){rest, moved}, 2);
}

// A value of `bytes` bytes with `size` of them replaced.
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

// The whole node that a node is, or is a part of; 0 = it is apart itself.
static uint32_t whole_around(const Group *g, uint32_t node)
{
    uint32_t whole = 0;
    for (uint32_t outer = node; outer; outer /= 2)
        if (!is_apart(g, outer))
            whole = outer;
    return whole;
}

// The last one of an access takes its place.
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

// A register with what a node holds, and anything above it.
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
    note_cost(p->ctx, fn, id);
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
    if (!done)  // the last element is read by nobody
        ir_remove(fn, id);
    p->progress = true;
}

static void rewrite_accesses(Promotion *p)
{
    Direct direct;
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        const MemAccess *access = &p->origins.accesses.at[k];
        if (variable_of(p, access) && is_promotable(p, access, &direct) && !stays_in_memory(&direct))
            rewrite(p, access->instr, &direct);
    }
}

/* -- Remarks -------------------------------------------------------------------------------------------- */

// Why an access stays in memory; WHY_NOT: it does not.
typedef enum { WHY_NOT, WHY_ORDERED, WHY_INDEX, WHY_BOUNDS, WHY_MISALIGNED, WHY_KIND, WHY_PARTLY, WHYS } Why;

// The accesses to a variable.
typedef struct Tally {
    uint32_t n[WHYS], all, stores;  // stores: of those that are promoted
    InstrId first[WHYS], any;
    int64_t lo, end;  // of what those with unknown indices may reach
} Tally;

static Why why_in_memory(const Promotion *p, const MemAccess *access)
{
    const Desc *d = ir_desc(p->fn, ir_instr(p->fn, access->instr));
    Direct direct;
    if (is_promotable(p, access, &direct))
        return stays_in_memory(&direct) ? WHY_PARTLY : WHY_NOT;
    uint64_t size = (uint64_t)direct.bytes * direct.n;
    if (d->traits & TR_ORDERED || d->op == OP_ATOM || d->op == OP_RED)
        return WHY_ORDERED;
    if (!origin_is_exact(access->at))
        return WHY_INDEX;
    if (access->at->lo < 0 || direct.offset + size > direct.variable->size)
        return WHY_BOUNDS;
    return size && direct.offset % size ? WHY_MISALIGNED : WHY_KIND;
}

static Tally *tally_accesses(Promotion *p)
{
    Tally *tallies = NEW_ARRAY(&p->scratch, Tally, p->fn->syms.n);
    for (uint32_t k = 0; k < p->origins.accesses.n; k++) {
        const MemAccess *access = &p->origins.accesses.at[k];
        Tally *t = &tallies[local_symbol(access->at->sym)];
        t->any = t->any ? t->any : access->instr;
        if (!p->variables || !variable_of(p, access))
            continue;
        Why why = why_in_memory(p, access);
        if (why == WHY_INDEX) {
            t->lo = t->n[why] ? MIN(t->lo, access->at->lo) : access->at->lo;
            t->end = MAX(t->end, end_of(p, access));
        }
        t->first[why] = t->n[why]++ ? t->first[why] : access->instr;
        t->all++;
        t->stores += why == WHY_NOT && ir_desc(p->fn, ir_instr(p->fn, access->instr))->op == OP_ST;
    }
    return tallies;
}

// What becomes of the address of a variable where it goes out of sight.
static const char *what_becomes(Promotion *p, uint32_t variable)
{
    InstrId id = p->origins.exposed[variable];
    if (id == EXPOSED_BY_DATA)
        return "is in the initial value of a variable";
    const Instr *i = ir_instr(p->fn, id);
    const Desc *d = ir_desc(p->fn, i);
    uint32_t k = i->ndef, end = i->ndef + ir_nuse(i);
    for (; k < end; k++) {
        Operand o = ir_ops(p->fn, i)[k];
        SymId sym = op_kind(o) == K_SYM ? op_index(o) : op_is_reg(o) ? origin_of(&p->origins, id, k).sym : 0;
        if (local_symbol(sym) == variable)
            break;
    }
    if (k == end || d->op == OP_PHI || d->op == OP_SELP)
        return "is one of several that may be meant";
    if (d->op == OP_CALL)
        return "goes to a call";
    if (!(d->traits & (TR_READ | TR_WRITE)))
        return d->op == OP_SETP ? "is compared" : "is computed with";
    if (k == i->ndef)
        return "is taken for one in another state space";
    bool param = mod_space((Mod)tab_mnem(p->fn->tables, d->mnem)->mod[MC_SPACE]) == SP_PARAM;
    return param ? "is an argument of a call or a result" : "is stored to memory";
}

// About a variable that stays in memory as a whole. False: it does not.
static bool say_whole(Ctx *ctx, Promotion *p, uint32_t variable, InstrId access, const char *name)
{
    const Sym *sym = ir_sym(p->fn, variable | SYM_LOCAL);
    InstrId exposed = p->origins.exposed[variable];
    if (sym->init)
        remark(ctx, p->fn, access, RM_MISSED, "InitializedData", "{Variable:%s} stays in memory: it is initialized",
               name);
    else if (sym->size > size_limit(p))
        remark(ctx, p->fn, access, RM_MISSED, "TooLarge",
               "{Variable:%s} stays in memory: its {Bytes:%llu} bytes are too many", name,
               (unsigned long long)sym->size);
    else if (exposed)
        remark(ctx, p->fn, exposed == EXPOSED_BY_DATA ? 0 : exposed, RM_MISSED, "AddressEscapes",
               "{Variable:%s} stays in memory: its address {How:%s}", name, what_becomes(p, variable));
    else if (p->origins.absolute)
        remark(ctx, p->fn, p->origins.absolute, RM_MISSED, "AbsoluteAddress",
               "{Variable:%s} stays in memory: the address of an access is a number", name);
    else
        return false;
    return true;
}

static void say_accesses(Ctx *ctx, const Promotion *p, const Variable *v, const Tally *t, const char *name)
{
    static const struct {
        const char *name, *text;
    } whys[WHYS] = {
        [WHY_ORDERED] = {"VolatileOrOrdered", "volatile, ordered or atomic"},
        [WHY_INDEX] = {"IndexUnknown", ""},
        [WHY_BOUNDS] = {"OutOfBounds", "out of its bounds"},
        [WHY_MISALIGNED] = {"Misaligned", "not aligned"},
        [WHY_KIND] = {"KindOfAccess", "no move does what the instruction does"},
        [WHY_PARTLY] = {"PartlyInMemory", "other accesses keep the same bytes there"},
    };
    unsigned long long kept = 0, size = v->size;
    for (uint64_t at = 0; at < v->size; at++)
        kept += v->groups[at / GROUP].stays >> at % GROUP & 1;
    if (t->n[WHY_NOT])
        remark(ctx, p->fn, t->first[WHY_NOT], RM_PASSED, "Promoted",
               "{Promoted:%llu} of {Bytes:%llu} bytes of {Variable:%s} go to registers; loads: {Loads:%u}, "
               "stores: {Stores:%u}",
               size - kept, size, name, t->n[WHY_NOT] - t->stores, t->stores);
    if (v->limited)
        remark(ctx, p->fn, t->any, RM_MISSED, "TooManyPhis",
               "parts of {Variable:%s} stay in memory: the inputs of all phis would be more than {Limit:%llu}", name,
               (unsigned long long)ctx->phi_limit);
    for (int why = WHY_NOT + 1; why < WHYS; why++) {
        if (t->n[why] && why == WHY_INDEX)
            remark(ctx, p->fn, t->first[why], RM_MISSED, whys[why].name,
                   "{Accesses:%u} of {All:%u} accesses to {Variable:%s} stay in memory: somewhere from byte "
                   "{From:%lld} to {To:%lld}",
                   t->n[why], t->all, name, (long long)MAX(t->lo, 0), (long long)MIN(t->end, (int64_t)v->size) - 1);
        else if (t->n[why])
            remark(ctx, p->fn, t->first[why], RM_MISSED, whys[why].name,
                   "{Accesses:%u} of {All:%u} accesses to {Variable:%s} stay in memory: %s", t->n[why], t->all, name,
                   whys[why].text);
    }
}

static void say_all(Ctx *ctx, Promotion *p)
{
    char name[300];  // longer ones are cut
    const Tally *tallies = tally_accesses(p);
    for (uint32_t k = 1; k < p->fn->syms.n; k++) {
        const Sym *s = ir_sym(p->fn, k | SYM_LOCAL);
        bool used = tallies[k].any || p->origins.exposed[k];
        if (s->kind != SYM_VAR || s->space != SP_LOCAL || !used)
            continue;
        name_text(p->fn->tables, s->name, name, sizeof name);
        if (!say_whole(ctx, p, k, tallies[k].any, name) && p->variables[k].groups)
            say_accesses(ctx, p, &p->variables[k], &tallies[k], name);
    }
}

bool has_local_variables(const Fn *fn)
{
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE))
            return true;
    }
    return false;
}

bool phase_promote_memory(Ctx *ctx, Fn *fn)
{
    if (!has_local_variables(fn))
        return false;
    Promotion p = {.ctx = ctx, .fn = fn};
    RegId first = fn->regs.n;
    arena_init(&p.scratch, &ctx->heap);
    origins_find(&p.origins, fn, &p.scratch);
    bool chosen = !p.origins.absolute && choose_variables(&p);
    if (chosen) {
        find_what_stays(&p);
        find_parts(&p);
        weigh_variables(&p);
        if (limit_groups(&p))
            keep_rests(&p);
    }
    if (remarks_wanted(ctx))
        say_all(ctx, &p);
    if (chosen)
        rewrite_accesses(&p);
    arena_free(&p.scratch);
    if (p.progress)
        ssa_repair(fn, first);
    return p.progress;
}
