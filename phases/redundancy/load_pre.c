// SPDX-License-Identifier: MIT
// Partial redundancy elimination of loads (load_pre.h), for redundancy elimination with RD_PARTIAL_LOADS.
//
// A load reads the bytes of its place in the version of memory at the start of a join: a block with several
// predecessors. If the place and the version have a value in a register at the end of some predecessors, a phi at the
// join replaces the load. At the end of the other one, the load is inserted. So no path executes more loads than
// before, and the paths with a value execute one less.
//
// The join is the block of the memory phi that the load reads, or the block of the load. Along an edge to the join, the
// version is an input of the memory phi, and the root of the place an input of the phi that defines it. The root is
// followed again from there, so [p] in this iteration is [p+4] of the last one if p advances by 4. The value is a
// stored one, or that of a load that dominates the end of the predecessor; the load itself, too, if it is in a loop.
//
//     b0: bra b1                                         b0: R5 = ld.global.b32 [R1]; bra b1
//     b1: R2 = ld.global.b32 [R1]                        b1: R2 = phi b0: R5, b1: R3
//         R3 = add.s32 R2, R4                      ->        R3 = add.s32 R2, R4
//         st.global.b32 [R1], R3; @P0 bra b1                 st.global.b32 [R1], R3; @P0 bra b1
//
//     b1: R2 = phi b0: R1, b1: R3                        b1: R2 = phi b0: R1, b1: R3; R4 = phi b0: R7, b1: R5
//         R4 = ld.global.b32 [R2]                  ->
//         R5 = ld.global.b32 [R2+4]                          R5 = ld.global.b32 [R2+4]
//         R3 = add.s64 R2, 4; @P0 bra b1                     R3 = add.s64 R2, 4; @P0 bra b1   ; b0: R7 = ld [R1]
//
// A load is inserted only where it is anticipated (rule 5): it is in the join, and each instruction before it is pure
// or a plain access. It is inserted at the end of a predecessor that ends in a jump to the join, else in a new block on
// the edge. If an inserted load is partially redundant in turn, a phi takes its place. Without an inserted load, the
// load may be anywhere behind the join. If memory phis follow each other, the input of a phi may be another phi:
//
//     b1: R2 = ld.global.b32 [R1]; @P0 bra b3            b1: R2 = phi b0: R5, b3: R6; @P0 bra b3
//     b2: st.global.b32 [R1], R3                   ->    b2: st.global.b32 [R1], R3
//     b3: @P1 bra b1                                     b3: R6 = phi b1: R2, b2: R3; @P1 bra b1
//
// Must not fire:
//     b1: call f; R2 = ld.local.b32 [@x]                 the call may not return, or write x
//     b1: bar.sync 0; R2 = ld.shared.b32 [R1]            ordered
//     b0: brx.idx R3, {b1, b2}                           an edge to b1 that cannot be split
//     @P0 R2 = ld.global.b32 [R1]                        guarded
//     b1: R1 = mul.wide.s32 ...; R2 = ld.global.b32 [R1] the address is not available in the predecessors
//     loads of .param and .const, which cost nothing
//
// In a loop that does not write the place, the load itself has the value at the end of the loop. The value from outside
// then replaces it.
//
// A phi keeps its inputs in registers up to the join. They must have room below the highest register pressure of the
// function, or below FREE_REGISTERS.
//
// Does not do: more than one insertion, which would add code; insertion at the end of a loop.
// Documented: nothing. Inferred: all.
#include "phases/redundancy/load_pre.h"

#include "phases/redundancy/pressure.h"

enum {
    EDGES_MAX = 16,    // predecessors of a join
    ELEMENTS_MAX = 4,  // of a vector
    DEPTH_MAX = 3,     // joins on the way to a value
    STEPS_MAX = 32,    // edges that are followed for a load
    EQUAL_MAX = 16,    // loads of one value that are tried
    FREE_REGISTERS = 32
};

// A load at a position: one of the function, or one that would be inserted at the end of a block.
typedef struct Partial {
    InstrId load;      // it, or the one that it is like
    BlockId block;     // in which it is
    InstrId position;  // itself, or the terminator of the block
    AccessPlace place;
    MemVersionId version;  // the newest one that may have written the place
    Operand base, offset;  // operands of the address; base none: not available there
    uint32_t depth;
} Partial;

// An edge to a join: what the load is at the end of the predecessor.
typedef struct Incoming {
    Partial at;
    bool missing;                 // no register has its value
    bool is_join;                 // phis at the block of the version can have its value
    Operand value[ELEMENTS_MAX];  // of each element
    bool is_part[ELEMENTS_MAX];   // the element is the low bytes of the value, extended
} Incoming;

typedef struct Join {
    BlockId block;
    const Incoming *missing;  // NULL = none
    uint32_t n;
    Incoming in[EDGES_MAX];
} Join;

// A block that will be on an edge.
typedef struct Split {
    BlockId from, to, block;
    uint32_t below;  // index of another one from the same block, 0 = none
} Split;

typedef struct LoadPre {
    Redundancy *r;
    Fn *fn;
    uint32_t *equal;  // by register that represents a value: index in `members` of the last load with it, 0 = none
    VEC(Member) members;
    BlockId checked[DEPTH_MAX + 1];  // by Partial.depth: a block whose instructions before `next` continue
    InstrId next[DEPTH_MAX + 1];
    RegId nregs;  // registers from here on are new
    uint32_t phi_inputs;
    DescId phi;                    // the descriptor for phi_inputs inputs
    uint32_t steps;                // edges that were followed for the load
    BlockId joins[DEPTH_MAX + 1];  // by Partial.depth: the last join
    VEC(Split) splits;             // from 1
    uint32_t *last_split;          // by BlockId: index in `splits` of the last one from the block, 0 = none
    bool only_tests;               // changes nothing
    bool changed;
} LoadPre;

/* -- Values --------------------------------------------------------------------------------------------- */

// Lists the loads of each value that no other instruction replaces.
static void list_loads(LoadPre *s)
{
    Redundancy *r = s->r;
    s->equal = NEW_ARRAY(&r->scratch, uint32_t, s->nregs);
    VEC_PUSH(&r->scratch, &s->members, (Member){0});
    for (uint32_t k = 0; k < r->loads.n; k++) {
        const Instr *i = ir_instr(s->fn, r->loads.at[k].instr);
        for (uint32_t n = 0; n < i->ndef; n++) {
            Operand def = *ir_def(s->fn, i, n), number = {op_is_reg(def) ? value_number(&r->values, def) : 0, 0};
            if (!op_is_reg(number) || replace_has(&r->map, op_index(def)))
                continue;
            VEC_PUSH(&r->scratch, &s->members, ((Member){op_index(def), s->equal[op_index(number)]}));
            s->equal[op_index(number)] = s->members.n - 1;
        }
    }
}

static bool is_available(const LoadPre *s, RegId reg, BlockId b)
{
    InstrId def = def_of(s->r->a, reg);
    return def && dominates(s->r->a, ir_instr(s->fn, def)->block, b);
}

// Returns an operand with the value of `from` that is available at the end of a block; K_NONE = there is none.
static Operand available_value(LoadPre *s, Operand from, BlockId b)
{
    if (!op_is_reg(from) || is_available(s, op_index(from), b))
        return from;
    Operand number = {value_number(&s->r->values, from), 0};
    if (!op_is_reg(number))
        return op_none();
    if (is_available(s, op_index(number), b))
        return op_reg(s->fn, op_index(number));
    if (!s->equal)
        list_loads(s);
    uint32_t m = s->equal[op_index(number)];
    for (uint32_t k = 0; m && k < EQUAL_MAX; k++, m = s->members.at[m].below)
        if (is_available(s, s->members.at[m].reg, b))
            return op_reg(s->fn, s->members.at[m].reg);
    return op_none();
}

static bool is_jump_to(const LoadPre *s, BlockId from, BlockId to)
{
    const Instr *i = ir_instr(s->fn, ir_terminator(s->fn, from));
    return ir_desc(s->fn, i)->op == OP_BRA && !ir_guarded(i) && only_succ(s->r->a, from) == to;
}

static bool is_back_edge(const LoadPre *s, BlockId from, BlockId to)
{
    return s->r->a->rpo_index[from] >= s->r->a->rpo_index[to];
}

// Finds the values of the elements of a load at the end of a block; false = some have none.
static bool find_values(LoadPre *s, Incoming *in, bool may_extend)
{
    Redundancy *r = s->r;
    const Instr *i = ir_instr(s->fn, in->at.load);
    bool movable = may_extend && access_is_movable(s->fn, i);
    for (uint32_t k = 0; k < i->ndef; k++) {
        bool whole;
        LoadElement e = load_element(s->fn, in->at.load, k, &in->at.place);
        Operand from = loads_find(r, &in->at.place, &e, in->at.version, &whole), def = *ir_def(s->fn, i, k);
        in->value[k] = op_kind(from) == K_NONE ? from : available_value(s, from, in->at.block);
        in->is_part[k] = !whole;
        bool same_file = !op_is_reg(in->value[k]) || op_file(in->value[k]) == op_file(def);
        if (op_kind(in->value[k]) == K_NONE || (whole ? !same_file : !movable))
            return false;
    }
    return true;
}

// True if the load may be inserted on an edge: at the end of its source, or in a new block.
static bool may_split(const LoadPre *s, BlockId from, BlockId to)
{
    const Instr *i = ir_instr(s->fn, ir_terminator(s->fn, from));
    uint32_t edges = 0;
    FOR_SUCCS(s->r->a, from, succ)
        edges += *succ == to;
    return edges == 1 && ir_desc(s->fn, i)->op == OP_BRA && !is_back_edge(s, from, to);
}

/* -- Along an edge -------------------------------------------------------------------------------------- */

// Returns the operand that is `o` at the start of a join, at the end of a predecessor; K_NONE = there is none.
static Operand along_edge(const LoadPre *s, Operand o, BlockId join, BlockId from)
{
    if (!op_is_reg(o))
        return o;
    InstrId def = op_in_ssa(s->fn, o) ? def_of(s->r->a, op_index(o)) : 0;
    const Instr *i = def ? ir_instr(s->fn, def) : NULL;
    if (i && i->block != join && dominates(s->r->a, i->block, join))
        return o;
    if (!i || i->block != join || !ir_is_phi(s->fn, def))
        return op_none();
    Operand input = *ir_use(s->fn, i, phi_input(s->fn, i, from));
    return op_is_reg(input) && op_in_ssa(s->fn, input) && !input.mods ? input : op_none();
}

// Sets the address operands of the load at the end of a predecessor: those of the load, or root and offset.
static void set_address(LoadPre *s, const Partial *x, BlockId join, Partial *at)
{
    Operand base = op_kind(x->base) == K_NONE ? x->base : along_edge(s, x->base, join, at->block),
            root = at->place.root;
    at->offset = x->offset;
    at->base = base;
    if (op_kind(base) != K_NONE || !op_is_reg(root) || ir_reg(s->fn, op_index(root))->width != W64 ||
        at->place.offset != (int32_t)at->place.offset)
        return;
    at->base = op_reg(s->fn, op_index(root));
    at->offset = op_const(s->fn, (uint64_t)at->place.offset, W64);
}

// Computes the load at the end of a predecessor; false if its place is unknown. `version`: at the end of the
// predecessor.
static bool follow_edge(LoadPre *s, const Partial *x, BlockId join, BlockId from, MemVersionId version, Partial *at)
{
    Redundancy *r = s->r;
    *at = (Partial){.load = x->load, .block = from, .position = ir_terminator(s->fn, from), .depth = x->depth + 1};
    at->place = x->place;
    if (op_is_reg(x->place.root)) {
        Operand root = along_edge(s, x->place.root, join, from);
        if (op_kind(root) == K_NONE)
            return false;
        at->place = access_place_at(s->fn, r->a, &x->place, root);
    }
    at->version = mem_clobber_of_place(r->memory, &r->places, &at->place, version);
    set_address(s, x, join, at);
    return true;
}

/* -- Joins ---------------------------------------------------------------------------------------------- */

// True if control surely reaches the next instruction, and the order of the instruction and a load does not matter.
static bool continues(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->traits & (TR_CONV | TR_ORDERED | TR_TERM) || i->flags & IF_PINNED || i->callseq)
        return false;
    return d->traits & (TR_PURE | TR_MARKER | TR_PSEUDO) || d->op == OP_LD || d->op == OP_LDU || d->op == OP_ST;
}

// True if control that enters the block of a load surely reaches the load.
static bool is_anticipated(LoadPre *s, const Partial *x)
{
    BlockId *checked = &s->checked[x->depth];
    InstrId id = *checked == x->block ? s->next[x->depth] : ir_block(s->fn, x->block)->first;
    while (id && id != x->position && continues(s->fn, ir_instr(s->fn, id)))
        id = ir_instr(s->fn, id)->next;
    *checked = x->block;
    s->next[x->depth] = id;
    return id == x->position;
}

// True if the load may be inserted on an edge to the join where its value is missing.
static bool may_insert(LoadPre *s, const Partial *x, const Partial *at, BlockId join)
{
    return x->block == join && op_kind(at->base) != K_NONE && may_split(s, at->block, join) && is_anticipated(s, x);
}

static bool has_edge_from(const Join *join, BlockId from)
{
    for (uint32_t k = 0; k < join->n; k++)
        if (join->in[k].at.block == from)
            return true;
    return false;
}

static bool find_edges(LoadPre *s, const Partial *x, Join *join, BlockId block, bool is_complete);

// Returns the block of the memory phi that a load reads if phis there may replace the load; 0 = none.
static BlockId block_of_version(const LoadPre *s, const Partial *x)
{
    const MemVersion *v = x->version == MEM_CONSTANT ? NULL : mem_version(s->r->memory, x->version);
    if (!v || v->kind != MV_PHI || !s->r->a->dom.idom[v->block] || pred_count(s->r->a, v->block) > EDGES_MAX)
        return 0;
    return v->block;
}

// True if registers have the value of a load on all edges to the block of its version.
static bool can_join(LoadPre *s, const Partial *x)
{
    BlockId block = block_of_version(s, x);
    for (uint32_t k = 0; k < x->depth; k++)
        if (!block || x->depth >= DEPTH_MAX || s->joins[k] == block)
            return false;
    Join join;
    return find_edges(s, x, &join, block, true);
}

// Finds what the load is on all edges to a join, the last ones first, since a loop needs a value at its end. False: it
// is unknown on an edge, or its value is missing on more than one edge, or where the load may not be inserted.
// `is_complete`: no value may be missing.
static bool find_edges(LoadPre *s, const Partial *x, Join *join, BlockId block, bool is_complete)
{
    Redundancy *r = s->r;
    const MemVersion *start = NULL;
    MemVersionId version = MEM_CONSTANT;
    join->block = s->joins[x->depth] = block;
    join->missing = NULL;
    join->n = 0;
    if (x->version != MEM_CONSTANT) {
        version = mem_version_at_start(r->memory, r->a, mem_version(r->memory, x->version)->class, join->block);
        start = mem_version(r->memory, version);
    }
    bool is_phi = start && start->kind == MV_PHI && start->block == join->block;
    for (uint32_t edge = pred_count(r->a, block); edge--;) {
        const BlockId *from = &r->a->preds.at[r->a->preds.first[block] + edge];
        MemVersionId now = is_phi ? r->memory->input[start->inputs + edge] : version;
        Incoming *in = &join->in[join->n];
        if (!is_reachable(r->a, *from) || s->steps++ >= STEPS_MAX)
            return false;
        if (has_edge_from(join, *from))
            continue;
        if (!follow_edge(s, x, join->block, *from, now, &in->at))
            return false;
        bool may_extend = is_jump_to(s, *from, join->block) || is_back_edge(s, *from, join->block);
        in->is_join = false;
        in->missing = !find_values(s, in, may_extend) && !(in->is_join = can_join(s, &in->at));
        if (in->missing && (join->missing || is_complete || !may_insert(s, x, &in->at, block)))
            return false;
        join->missing = in->missing ? in : join->missing;
        join->n++;
    }
    return join->n > 1;
}

// True if there is room for the value of element k on an edge.
static bool keeps_room(const LoadPre *s, Pressure *p, const Incoming *in, uint32_t k)
{
    RegId def = op_index(*ir_def(s->fn, ir_instr(s->fn, in->at.load), k));
    if (in->is_join)
        return pressure_permits_new(p, def, block_of_version(s, &in->at), in->at.block, FREE_REGISTERS);
    Operand by = in->missing ? op_none() : replace_find(&s->r->map, in->value[k]);
    bool is_new = !op_is_reg(by) || op_index(by) >= s->nregs;
    return is_new || pressure_permits_at_end(p, op_index(by), in->at.block, FREE_REGISTERS);
}

// True if there is room for the inputs of the phis up to the join, and for the phis up to the load.
static bool has_room(LoadPre *s, const Partial *x, const Join *join)
{
    Pressure *p = s->r->rules->pressure;
    const Instr *i = ir_instr(s->fn, x->load);
    for (uint32_t k = 0; p && k < i->ndef; k++) {
        for (uint32_t n = 0; n < join->n; n++)
            if (!keeps_room(s, p, &join->in[n], k))
                return false;
        if (!pressure_permits_new(p, op_index(*ir_def(s->fn, i, k)), join->block, x->block, FREE_REGISTERS))
            return false;
    }
    return true;
}

/* -- Changes -------------------------------------------------------------------------------------------- */

// Returns the terminator before which to insert instructions on an edge: that of its source, or that of a new block.
static InstrId end_of_edge(LoadPre *s, BlockId from, BlockId to)
{
    if (is_jump_to(s, from, to))
        return ir_terminator(s->fn, from);
    if (!s->last_split) {
        s->last_split = NEW_ARRAY(&s->r->scratch, uint32_t, s->fn->blocks.n);
        VEC_PUSH(&s->r->scratch, &s->splits, (Split){0});
    }
    for (uint32_t k = s->last_split[from]; k; k = s->splits.at[k].below)
        if (s->splits.at[k].to == to)
            return ir_terminator(s->fn, s->splits.at[k].block);
    Operand target = op_block(to);
    BlockId b = block_new(s->fn);
    ir_block(s->fn, b)->source = ir_block(s->fn, to)->source;
    VEC_PUSH(&s->r->scratch, &s->splits, ((Split){from, to, b, s->last_split[from]}));
    s->last_split[from] = s->splits.n - 1;
    return ir_append(s->fn, b, desc_make(s->fn->tables, OP_BRA), IF_IMPLICIT, &target, 1);
}

// Inserts the load before a terminator, and sets the values of its elements.
static void insert_load(LoadPre *s, const Partial *at, InstrId before, Operand value[static ELEMENTS_MAX])
{
    Instr *like = ir_instr(s->fn, at->load);
    DescId desc = like->desc;
    uint32_t line = like->line, n = like->ndef;
    Operand ops[ELEMENTS_MAX + 2];
    for (uint32_t k = 0; k < n; k++) {
        value[k] = op_reg(s->fn, reg_like(s->fn, op_index(*ir_def(s->fn, ir_instr(s->fn, at->load), k))));
        ops[k] = op_def(value[k]);
    }
    ops[n] = at->base;
    ops[n + 1] = at->offset;
    InstrId id = ir_insert_before(s->fn, first_annotation(s->fn, before), desc, 0, ops, n + 2);
    ir_instr(s->fn, id)->line = line;
}

// Inserts the moves that extend the parts of a value at the end of a predecessor.
static void extend_parts(LoadPre *s, Incoming *in, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (!in->is_part[k])
            continue;
        LoadElement e = load_element(s->fn, in->at.load, k, &in->at.place);
        Operand dst = op_reg(s->fn, reg_like(s->fn, op_index(e.def)));
        AccessMove move = {dst, in->value[k], e.bytes, e.is_signed, {0}};
        insert_access_move(s->fn, in->at.position, &move);
        in->value[k] = dst;
    }
}

// Inserts the phi of element k. Returns its register.
static Operand insert_phi(LoadPre *s, const Join *join, Operand def, uint32_t k)
{
    Operand ops[1 + 2 * EDGES_MAX], phi = op_reg(s->fn, reg_like(s->fn, op_index(def)));
    uint32_t n = 0;
    ops[n++] = op_def(phi);
    for (uint32_t e = join->n; e--;) {
        ops[n++] = op_block(join->in[e].at.block);
        ops[n++] = join->in[e].value[k];
    }
    if (s->phi_inputs != join->n)
        s->phi = desc_phi(s->fn->tables, join->n);
    s->phi_inputs = join->n;
    ir_insert_before(s->fn, ir_block(s->fn, join->block)->first, s->phi, 0, ops, n);
    return phi;
}

// Returns the value of element k of a load that is not its own result, if there is only one such value; else K_NONE.
static Operand other_value(const LoadPre *s, const Partial *x, const Join *join, uint32_t k)
{
    Operand def = *ir_def(s->fn, ir_instr(s->fn, x->load), k), other = op_none();
    for (uint32_t e = 0; e < join->n; e++) {
        Operand value = join->in[e].value[k];
        if (op_is_reg(value) && op_index(value) == op_index(def))
            continue;
        if (op_kind(other) != K_NONE && !op_same(other, value))
            return op_none();
        other = value;
    }
    bool is_load = x->position == x->load, fits = is_load && replace_allowed(s->fn, op_index(def), other);
    return fits ? other : op_none();
}

static bool replace_at(LoadPre *s, const Partial *x, BlockId block, Operand value[static ELEMENTS_MAX]);

// Replaces a load that is partially redundant by phis, which are in `value` then. False: it is not, or must stay.
static bool replace_partial(LoadPre *s, const Partial *x, Operand value[static ELEMENTS_MAX])
{
    BlockId join = block_of_version(s, x);
    if (join && replace_at(s, x, join, value))
        return true;
    bool is_own = x->version != MEM_CONSTANT && mem_version(s->r->memory, x->version)->block == x->block;
    return !is_own && replace_at(s, x, x->block, value);
}

static void insert_phis(LoadPre *s, const Partial *x, Join *join, Operand value[static ELEMENTS_MAX]);

// Inserts the phis at the block of the version of a load for which can_join() holds.
static void join_value(LoadPre *s, Incoming *in)
{
    Join join;
    s->steps = 0;
    // can_join() found the same edges in fewer steps, and no change since then affects them.
    if (!find_edges(s, &in->at, &join, block_of_version(s, &in->at), true))
        heap_fail(s->r->scratch.heap, ST_INTERNAL, "a load has lost its value on an edge to a join");
    insert_phis(s, &in->at, &join, in->value);
}

// Sets the values of a load on the edges to a join, and inserts the phis, which are in `value` then.
static void insert_phis(LoadPre *s, const Partial *x, Join *join, Operand value[static ELEMENTS_MAX])
{
    uint32_t n = ir_instr(s->fn, x->load)->ndef;
    for (uint32_t k = 0; k < join->n; k++) {
        Incoming *in = &join->in[k];
        bool jump = is_jump_to(s, in->at.block, join->block);
        if (in->is_join)
            join_value(s, in);
        else if (!in->missing)
            extend_parts(s, in, n);
        else if (!jump || in->at.depth >= DEPTH_MAX || !replace_partial(s, &in->at, in->value))
            insert_load(s, &in->at, end_of_edge(s, in->at.block, join->block), in->value);
    }
    for (uint32_t k = 0; k < n; k++) {
        value[k] = other_value(s, x, join, k);
        if (op_kind(value[k]) == K_NONE)
            value[k] = insert_phi(s, join, *ir_def(s->fn, ir_instr(s->fn, x->load), k), k);
    }
    s->changed = true;
}

// The same for phis at a given join.
static bool replace_at(LoadPre *s, const Partial *x, BlockId block, Operand value[static ELEMENTS_MAX])
{
    const Analyses *a = s->r->a;
    uint32_t edges = pred_count(a, block);
    if (edges < 2 || edges > EDGES_MAX || !a->dom.idom[block])
        return false;
    Join join;
    if (!find_edges(s, x, &join, block, false))
        return false;
    if (s->only_tests)
        return true;
    if (!has_room(s, x, &join))
        return false;
    insert_phis(s, x, &join, value);
    return true;
}

/* -- Loads ---------------------------------------------------------------------------------------------- */

static bool is_costly_space(Space space)
{
    return space == SP_GLOBAL || space == SP_SHARED || space == SP_CLUSTER || space == SP_LOCAL || space == SP_GENERIC;
}

// True if a load is unguarded and has a plain address, and phis may replace all its results.
static bool is_wanted(const LoadPre *s, const NumberedLoad *load)
{
    const Instr *i = ir_instr(s->fn, load->instr);
    bool plain = ir_desc(s->fn, i)->op == OP_LD || ir_desc(s->fn, i)->op == OP_LDU;  // a move may have replaced it
    if (!load_may_be_partial(s->r, load) || !plain || ir_guarded(i) || ir_nuse(i) != 2 || i->ndef > ELEMENTS_MAX)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(s->fn, i, k);
        if (!op_is_reg(def) || replace_has(&s->r->map, op_index(def)) || !replace_allowed(s->fn, op_index(def), def))
            return false;
    }
    return true;
}

// Finds values for the elements of a load, by new phis; false if there are none.
static bool find_partial(LoadPre *s, const NumberedLoad *load, Operand value[static ELEMENTS_MAX])
{
    InstrId id = load->instr;
    Partial x = {.load = id, .block = ir_instr(s->fn, id)->block, .position = id, .version = load->version};
    s->steps = 0;
    x.place = access_place_of(&s->r->places, id);
    x.base = *ir_use(s->fn, ir_instr(s->fn, id), 0);
    x.offset = *ir_use(s->fn, ir_instr(s->fn, id), 1);
    return is_costly_space(x.place.space) && replace_partial(s, &x, value);
}

static void visit(LoadPre *s, const NumberedLoad *load)
{
    Redundancy *r = s->r;
    InstrId id = load->instr;
    Operand value[ELEMENTS_MAX];
    if (!find_partial(s, load, value))
        return;
    for (uint32_t k = 0; k < ir_instr(s->fn, id)->ndef; k++)
        replace_set(&r->map, op_index(*ir_def(s->fn, ir_instr(s->fn, id), k)), value[k]);
    remove_annotations(s->fn, id);
    redundancy_remark(r, id, 0, RV_REPLACED);
    r->replaced++;
    if (r->rules->budget >= 0)
        knob_spend(&r->ctx->knobs, r->rules->budget);
}

bool load_pre_applies(Redundancy *r)
{
    LoadPre s = {.r = r, .fn = r->fn, .nregs = r->fn->regs.n, .only_tests = true};
    Operand value[ELEMENTS_MAX];
    bool applies = false;
    for (uint32_t k = 0; k < r->loads.n && !applies; k++)
        applies = is_wanted(&s, &r->loads.at[k]) && find_partial(&s, &r->loads.at[k], value);
    return applies;
}

bool load_pre(Redundancy *r)
{
    LoadPre s = {.r = r, .fn = r->fn, .nregs = r->fn->regs.n};
    for (uint32_t k = 0; k < r->loads.n; k++) {
        const NumberedLoad *load = &r->loads.at[k];
        if (!is_wanted(&s, load))
            continue;
        if (r->rules->budget >= 0 && knob_left(&r->ctx->knobs, r->rules->budget) <= 0)
            break;
        visit(&s, load);
    }
    for (uint32_t k = 1; k < s.splits.n; k++)
        edge_split(s.fn, s.splits.at[k].from, s.splits.at[k].to, s.splits.at[k].block);
    r->splits = s.splits.n > 1;
    return s.changed;
}
