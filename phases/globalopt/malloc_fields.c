// SPDX-License-Identifier: MIT
// Splits memory of malloc into a memory block for each field.
//
// Strategy C of GlobalOpt (row 163), for a variable that holds what malloc of a constant size returns, or null, where
// malloc.c does not replace the memory: it is larger than GlobalOptMaxBits. A field is a set of bytes that accesses
// connect, as in split.c. The variable becomes a pointer NAME.f0, NAME.f1, ... for each field, and each register with
// such a pointer becomes one register for each field. If malloc fails for one field, the other ones are freed, and all
// pointers are null, so a comparison with null looks at NAME.f0.
//
//     shared @p: .u64                               shared @p.f0: .u64; shared @p.f1: .u64
//     R1 = malloc(816)                              R1 = malloc(16); R2 = malloc(800)
//                                                   P0 = setp.lt.s64 816, 0         ; "p.isneg"
//                                                   P1 = setp.eq.s64 R1, 0          ; "p.isnull0"
//                                                   P2 = or.pred P0, P1; ...
//                                                   @P3 bra "malloc_ret_null" else "malloc_cont"
//                                               "malloc_ret_null":
//                                           ->      P4 = setp.ne.s64 R1, 0; @P4 bra "free_it0" else "next0"
//                                               "free_it0":
//                                                   free(R1); bra "next0"
//                                               "next0":
//                                                   R1 = mov.b64 0; ...; bra "malloc_cont"
//                                               "malloc_cont":
//     st.shared.u64 [@p], R1                        st.shared.u64 [@p.f0], R1; st.shared.u64 [@p.f1], R2
//     R3 = ld.shared.u64 [@p]                       R4 = ld.shared.u64 [@p.f1]
//     R5 = ld.u32 [R3+20]                           R5 = ld.u32 [R4+4]
//     free(R3)                                      free(R6); free(R4)
//
// malloc.c looks at each NAME.fN in the next round. A small field becomes a variable in `.shared` then, and its calls
// go, so only those of the fields above the limit are left.
//
// This is correct if all bytes of the block are accessed at known offsets from the same pointer: the registers of the
// fields are defined where the register of the pointer is, under the same guard. As for malloc.c, one thread calls
// malloc, so the pointers are those of one block.
//
// Off by default (GlobalOptMallocFields): each block above the limit takes a call of malloc and one of free, and the
// checks take instructions. The kernel of the test malloc-fields has one field above the limit, so the number of calls
// stays, and has 360 SASS instructions instead of 334. With two such fields it has 381, and twice as many calls.
//
// Must not fire:
//     malloc(n), mallocs of two sizes               the memory has no constant size
//     malloc in a kernel of several threads         threads may store pointers of different blocks
//     [p+i] with an unknown index i                 the access may be to several fields
//     p stored, passed, selected, q = p + 4; free(q)  the address escapes, or the use is undefined
//     no free in the function that calls malloc     there is no declaration to copy a call from
//     malloc between st.param and call of f, a carry  both are in one block, which would be split
//     one field, more than GlobalOptMaxFields
//
// Documented: the strategy, its limit, the chain of checks, the names of registers and blocks. Inferred: fields; .isneg
// looks at the size, since no pointer is negative. Does not do: arrays of structures.
#include "phases/globalopt/malloc_fields.h"

#include "ir/analysis/value_ranges.h"

// Facts of a function. The pointers are those of the current variable.
typedef struct PointerFacts {
    const Analyses *a;
    SystemCalls calls;
    ValueRanges ranges;
    EvalCache evals;
    uint32_t *pointer;  // by RegId: number of the pointer in the register, plus 1
    uint32_t *edit;     // by InstrId: number of the edit, plus 1
    bool *claimed;      // by InstrId: another variable changes it
} PointerFacts;

enum { JOINS = 2, FAR = INT32_MAX };

static Fn *function(const BlockSplit *h) { return h->g->m->fns.at[h->fn]; }

/* -- Pointers and edits --------------------------------------------------------------------------------- */

static bool miss(BlockSplit *h, const char *name, const char *because)
{
    h->missed = name;
    h->because = because;
    return false;
}

static bool escapes(BlockSplit *h)
{
    return miss(h, "AddressEscapes", "its address is used for more than accesses and comparisons with null");
}

// Returns the edit of an instruction, or NULL.
static FieldEdit *edit_of(const BlockSplit *h, InstrId id)
{
    uint32_t edit = h->facts->edit[id];
    return edit ? &h->edits.at[edit - 1] : NULL;
}

static FieldEdit *add_edit(BlockSplit *h, InstrId id, FieldEditKind kind)
{
    FieldEdit *e = edit_of(h, id);
    if (e)
        return e;
    VEC_PUSH(&h->g->scratch, &h->edits, ((FieldEdit){.fn = h->fn, .instr = id, .kind = kind}));
    h->facts->edit[id] = h->edits.n;
    return &h->edits.at[h->edits.n - 1];
}

// Adds an edit of an instruction that uses a pointer. False: it has another edit.
static bool add_use(BlockSplit *h, const Ref *use, FieldEditKind kind, uint32_t pointer)
{
    FieldEdit *e = edit_of(h, use->instr);
    if (e)
        return e->kind == kind && e->operand == use->op;
    e = add_edit(h, use->instr, kind);
    e->pointer = pointer;
    e->operand = use->op;
    return true;
}

static void queue(BlockSplit *h, uint32_t pointer)
{
    if (!h->pointers.at[pointer].queued)
        VEC_PUSH(&h->g->scratch, &h->work, pointer);
    h->pointers.at[pointer].queued = true;
}

// Records that an instruction with an edit defines a pointer lo .. hi bytes behind the start. A range that grows often
// loses its bounds. False: the register is not analyzed.
static bool define(BlockSplit *h, InstrId id, int64_t lo, int64_t hi)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, id);
    Operand def = *ir_def(fn, i, 0);
    if (!op_is_reg(def) || def.mods || i->flags & IF_TIED || !reg_in_ssa(ir_reg(fn, op_index(def))) ||
        ir_reg(fn, op_index(def))->width != W64)
        return false;
    uint32_t *at = &h->facts->pointer[op_index(def)];
    if (!*at) {
        VEC_PUSH(&h->g->scratch, &h->pointers, ((BlockPointer){.fn = h->fn, .reg = op_index(def), .lo = lo, .hi = hi}));
        *at = h->pointers.n;
        queue(h, *at - 1);
    }
    BlockPointer *p = &h->pointers.at[*at - 1];
    edit_of(h, id)->pointer = *at - 1;
    if (p->lo <= lo && p->hi >= hi)
        return true;
    bool any = ++p->joins > JOINS;
    p->lo = any ? -ANY : MIN(p->lo, lo);
    p->hi = any ? ANY : MAX(p->hi, hi);
    queue(h, *at - 1);
    return true;
}

/* -- Accesses to the variable --------------------------------------------------------------------------- */

// Looks at a malloc whose result may be stored.
static bool take_malloc(BlockSplit *h, const Sequence *s)
{
    Fn *fn = function(h);
    if (!system_calls(&h->facts->calls, s, "malloc", true))
        return escapes(h);
    if (!s->splits)
        return miss(h, "CallsInterleaved", "malloc is between the parts of another call, or under a carry");
    Operand size = constant_operand(fn, *ir_use(fn, ir_instr(fn, s->argument), 2));
    uint64_t bytes = op_is_const(size) ? tab_const(fn->tables, op_index(size)).bits : 0;
    if (!bytes || bytes > INT32_MAX || (h->bytes && h->bytes != bytes))
        return miss(h, "SizeUnknown", "malloc has no constant size");
    h->bytes = bytes;
    add_edit(h, s->result, FE_MALLOC)->s = s;
    return define(h, s->result, 0, 0) || escapes(h);
}

// Looks at the store of a register to the variable.
static bool take_store(BlockSplit *h, const GlobalAccess *access)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, access->instr);
    Operand o = *ir_use(fn, i, 2);
    if (!op_is_reg(o) || o.mods)
        return escapes(h);
    FOR_DEFS(h->facts->a, op_index(o), def) {
        const Sequence *s = sequence_of_result(&h->facts->calls, def->instr);
        if (s && !edit_of(h, s->result) && !take_malloc(h, s))
            return false;
    }
    FieldEdit *e = add_edit(h, access->instr, FE_SAVE);
    e->access = access->direct;
    e->operand = i->ndef + 2u;
    return true;
}

static bool take_access(BlockSplit *h, const GlobalAccess *access)
{
    Fn *fn = function(h);
    uint64_t value;
    if (!accesses_whole(h->g, h->v, access))
        return miss(h, "PartlyAccessed", "an access is not of the whole pointer");
    if (!access->writes) {
        add_edit(h, access->instr, FE_LOAD)->access = access->direct;
        return define(h, access->instr, 0, 0) || escapes(h);
    }
    if (!stored_constant(fn, access, 0, &value) || value)
        return take_store(h, access);
    add_edit(h, access->instr, FE_CLEAR)->access = access->direct;
    return true;
}

/* -- Uses of pointers ----------------------------------------------------------------------------------- */

// Returns a bound of a sum; one that is far away is none, so that no later sum comes back from it.
static int64_t add_bounds(int64_t a, int64_t b)
{
    bool far = a == ANY || a == -ANY || b > FAR || b < -FAR || a + b > FAR || a + b < -FAR;
    return far ? ANY : a + b;
}

// Looks at a sum of a pointer and a number.
static bool take_sum(BlockSplit *h, const Ref *use, uint32_t pointer)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, use->instr);
    const BlockPointer *p = &h->pointers.at[pointer];
    bool sub = ir_desc(fn, i)->op == OP_SUB;
    uint32_t number = use->op == i->ndef ? i->ndef + 1u : i->ndef;
    Type type = (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
    if ((sub && number == i->ndef) || i->ndef != 1 || !(type == TY_U64 || type == TY_S64) ||
        !add_use(h, use, FE_COPY, 0))
        return false;
    edit_of(h, use->instr)->from = pointer;
    ValueRange r = value_range_of_use(&h->facts->ranges, use->instr, number);
    int64_t least = MAX(r.smin, -ANY), most = MAX(r.smax, -ANY);
    bool far = least < -FAR || most > FAR;
    if (far && (p->lo == -ANY || p->hi == ANY))  // two sums without bounds may wrap around
        return define(h, use->instr, -ANY, ANY);
    int64_t lo = add_bounds(p->lo, sub ? -most : least), hi = add_bounds(p->hi, sub ? -least : most);
    return define(h, use->instr, lo == ANY ? -ANY : lo, hi);
}

static bool take_copy(BlockSplit *h, const Ref *use, uint32_t pointer)
{
    if (!add_use(h, use, FE_COPY, 0))
        return false;
    edit_of(h, use->instr)->from = pointer;
    return define(h, use->instr, h->pointers.at[pointer].lo, h->pointers.at[pointer].hi);
}

// Looks at a store whose value is a pointer: to the variable, or as the argument of free.
static bool take_stored(BlockSplit *h, const Ref *use, uint32_t pointer)
{
    const Sequence *s = &h->facts->calls.at[ir_instr(function(h), use->instr)->callseq];
    FieldEdit *e = edit_of(h, use->instr);
    if (e && e->kind == FE_SAVE && e->operand == use->op) {
        e->pointer = pointer;
        return true;
    }
    if (!system_calls(&h->facts->calls, s, "free", false) || !add_use(h, use, FE_FREE, pointer))
        return false;
    edit_of(h, use->instr)->s = s;
    return true;
}

// Looks at a use of a pointer. False: it lets the address escape.
static bool take_use(BlockSplit *h, const Ref *use, uint32_t pointer)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, use->instr);
    const Desc *d = ir_desc(fn, i);
    if (i->flags & IF_PINNED || use->op >= d->nops || ir_ops(fn, i)[use->op].mods)
        return false;
    switch (d->op) {
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
        if (use->op == i->ndef)
            return operand_is_base(fn, d, use->op) && add_use(h, use, FE_ACCESS, pointer);
        return d->op == OP_ST && take_stored(h, use, pointer);
    case OP_MOV: return take_copy(h, use, pointer);
    case OP_ADD:
    case OP_SUB: return take_sum(h, use, pointer);
    case OP_SETP: return compares_with_null(fn, i, use->op) && add_use(h, use, FE_COMPARE, pointer);
    default: return false;
    }
}

// Adds edits of the definitions of a pointer that are null. False: some other definition is not of the block.
static bool take_definitions(BlockSplit *h, uint32_t pointer)
{
    const Fn *fn = function(h);
    FOR_DEFS(h->facts->a, h->pointers.at[pointer].reg, def) {
        const FieldEdit *e = edit_of(h, def->instr);
        if (e && e->kind == FE_ACCESS)
            return false;
        if (e)
            continue;
        if (!moves_null(fn, ir_instr(fn, def->instr)))
            return false;
        add_edit(h, def->instr, FE_NULL)->pointer = pointer;
    }
    return true;
}

// True if all values of a pointer are the start of the block.
static bool is_start(const BlockPointer *p) { return !p->lo && !p->hi; }

// True if an edit is possible now that the range of its pointer is known: null, free and the variable are about the
// start of the block.
static bool is_possible(const BlockSplit *h, const FieldEdit *e)
{
    const Fn *fn = function(h);
    switch (e->kind) {
    case FE_SAVE: {
        Operand o = ir_ops(fn, ir_instr(fn, e->instr))[e->operand];
        uint32_t at = h->facts->pointer[op_index(o)];
        return at && is_start(&h->pointers.at[at - 1]);
    }
    case FE_COMPARE:
    case FE_FREE: return is_start(&h->pointers.at[e->pointer]);
    case FE_COPY:
    case FE_MALLOC:
    case FE_LOAD:
    case FE_NULL:
    case FE_CLEAR:  // has no pointer
    case FE_ACCESS: return true;
    }
    return true;
}

// Adds the bytes of an access to the fields. An access outside of the block is undefined. False: this one always is.
static bool take_bytes(BlockSplit *h, const FieldEdit *e)
{
    const Fn *fn = h->g->m->fns.at[e->fn];
    const BlockPointer *p = &h->pointers.at[e->pointer];
    const Instr *i = ir_instr(fn, e->instr);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    int64_t offset = const_signed(tab_const(fn->tables, op_index(ir_ops(fn, i)[e->operand + 1])));
    int64_t bytes = width_bits(type_info[m->type[0]].width) / 8u * access_elements(m), most = (int64_t)h->bytes;
    if (offset < -FAR || offset > FAR || !bytes)
        return false;
    int64_t first = p->lo == -ANY ? 0 : MAX(p->lo + offset, 0);
    int64_t end = p->hi == ANY ? most : MIN(p->hi + offset + bytes, most);
    if (first + bytes > end)
        return false;
    VEC_PUSH(&h->g->scratch, &h->fields,
             ((Field){.first = (uint64_t)first, .end = (uint64_t)end, .align = (uint32_t)bytes, .read = true}));
    return true;
}

// Gives each malloc of a function a call of free to copy, from the edits of the function. False: there is none.
static bool find_free(BlockSplit *h, uint32_t first)
{
    const Sequence *free = NULL;
    for (uint32_t k = first; k < h->edits.n; k++)
        if (h->edits.at[k].kind == FE_FREE)
            free = h->edits.at[k].s;
    for (uint32_t k = first; k < h->edits.n; k++) {
        h->edits.at[k].free = free;
        if (h->edits.at[k].kind == FE_MALLOC && !free)
            return miss(h, "NotFreed", "the function that calls malloc does not call free");
    }
    return true;
}

// Looks at the accesses of a function to the variable, the first of which is *k; sets *k to that of the next function.
static bool take_uses(BlockSplit *h, uint32_t *k)
{
    const Globals *g = h->g;
    uint32_t pointers = h->pointers.n, edits = h->edits.n;
    bool good = true;
    for (; *k && g->accesses.at[*k].fn == h->fn; *k = g->accesses.at[*k].next)
        good = good && take_access(h, &g->accesses.at[*k]);
    while (good && h->work.n) {
        uint32_t p = h->work.at[--h->work.n];
        h->pointers.at[p].queued = false;
        FOR_USES(h->facts->a, h->pointers.at[p].reg, use) {
            if (good && !take_use(h, use, p))
                good = escapes(h);
        }
    }
    for (uint32_t p = pointers; p < h->pointers.n && good; p++)
        good = take_definitions(h, p) || escapes(h);
    for (uint32_t e = edits; e < h->edits.n && good; e++)
        good = is_possible(h, &h->edits.at[e]) || escapes(h);
    good = good && find_free(h, edits);
    for (uint32_t p = pointers; p < h->pointers.n; p++)
        h->facts->pointer[h->pointers.at[p].reg] = 0;
    for (uint32_t e = edits; e < h->edits.n; e++)
        h->facts->edit[h->edits.at[e].instr] = 0;
    h->work.n = 0;
    return good;
}

static PointerFacts *find_facts(Globals *g, Fn *fn)
{
    PointerFacts *facts = NEW(&g->scratch, PointerFacts);
    facts->a = analysis_need(fn, AN_CFG | AN_RPO | AN_DOM | AN_DEF | AN_DEFUSE | AN_RDEFS);
    facts->calls = system_calls_find(&g->scratch, fn, facts->a);
    eval_cache_init(&facts->evals, fn->tables, &g->scratch);
    value_ranges_init(&facts->ranges, fn, facts->a, true, &facts->evals, &g->scratch);
    facts->pointer = NEW_ARRAY(&g->scratch, uint32_t, fn->regs.n);
    facts->edit = NEW_ARRAY(&g->scratch, uint32_t, fn->instrs.n);
    facts->claimed = NEW_ARRAY(&g->scratch, bool, fn->instrs.n);
    return facts;
}

/* -- Fields --------------------------------------------------------------------------------------------- */

// Finds the fields. False: there are too few or too many.
static bool find_fields(BlockSplit *h)
{
    const Globals *g = h->g;
    for (uint32_t e = 0; e < h->edits.n; e++)
        if (h->edits.at[e].kind == FE_ACCESS && !take_bytes(h, &h->edits.at[e]))
            return miss(h, "IndexUnknown", "an access is outside of its memory");
    h->fields.n = fields_merge(h->fields.at, h->fields.n);
    if (h->fields.n < 2)
        return false;
    if (h->fields.n > knob_int(g->knobs, KNOB_GLOBAL_OPT_FIELDS))
        return miss(h, "TooManyFields", "its memory has more fields than GlobalOptMaxFields");
    return true;
}

/* -- The strategy --------------------------------------------------------------------------------------- */

static bool is_split(BlockSplit *h, PointerFacts **facts)
{
    Globals *g = h->g;
    for (uint32_t access = h->v->access; access;) {
        h->fn = g->accesses.at[access].fn;
        if (!one_thread_allocates(g, function(h)))
            return miss(h, "SeveralThreads", "several threads may run malloc, unless GlobalOptMalloc says otherwise");
        if (!facts[h->fn])
            facts[h->fn] = find_facts(g, function(h));
        h->facts = facts[h->fn];
        if (!take_uses(h, &access))
            return false;
    }
    return (h->bytes || miss(h, "AddressEscapes", "its malloc is not analyzed")) && find_fields(h);
}

// Claims the instructions that a variable changes. False: another variable changes one, such as the sum of pointers of
// both, so the next round looks at this one again.
static bool claim(const BlockSplit *h, PointerFacts **facts)
{
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (facts[h->edits.at[k].fn]->claimed[h->edits.at[k].instr])
            return false;
    for (uint32_t k = 0; k < h->edits.n; k++)
        facts[h->edits.at[k].fn]->claimed[h->edits.at[k].instr] = true;
    return true;
}

bool globals_split_malloc(Globals *g)
{
    const bool *callers = knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC_FIELDS) ? callers_of_malloc(g) : NULL;
    if (!callers)
        return false;
    VEC(BlockSplit) found = {0};
    PointerFacts **facts = NEW_ARRAY(&g->scratch, PointerFacts *, g->m->fns.n);
    for (uint32_t k = 1; k < g->at.n; k++) {
        BlockSplit h = {.g = g, .v = &g->at.at[k]};
        if (!may_hold_malloc(g, h.v, callers))
            continue;
        if (!is_split(&h, facts))
            global_stays(h.v, h.missed, h.because);
        else if (claim(&h, facts) && knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET))
            VEC_PUSH(&g->scratch, &found, h);
    }
    for (uint32_t k = 0; k < found.n; k++)
        malloc_split(&found.at[k]);
    return found.n;
}
