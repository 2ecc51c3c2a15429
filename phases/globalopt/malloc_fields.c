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
//     one field, more than GlobalOptMaxFields
//
// Documented: the strategy, its limit, the chain of checks, the names of registers and blocks. Inferred: fields; .isneg
// looks at the size, since no pointer is negative. Does not do: arrays of structures.
#include <stdlib.h>

#include "ir/analysis/value_ranges.h"
#include "phases/globalopt/system_calls.h"

// The change of an instruction.
typedef enum {
    FE_MALLOC,   // the result of malloc
    FE_LOAD,     // a load of the variable
    FE_COPY,     // a move or sum of a pointer
    FE_NULL,     // a move of null
    FE_SAVE,     // a store of a pointer to the variable
    FE_CLEAR,    // a store of null
    FE_COMPARE,  // a comparison with null
    FE_ACCESS,   // an access to the block
    FE_FREE,     // the argument of free
} FieldEditKind;

typedef struct FieldEdit {
    uint32_t fn;
    InstrId instr;
    FieldEditKind kind;
    uint32_t pointer;   // the pointer that it defines, or else uses
    uint32_t from;      // FE_COPY: the pointer that it uses
    uint32_t operand;   // FE_COPY, FE_COMPARE, FE_ACCESS, FE_SAVE: which one that is
    const Sequence *s;  // FE_MALLOC, FE_FREE
    DescId access;      // FE_LOAD, FE_SAVE, FE_CLEAR: the descriptor with a symbol as base
    uint32_t field;     // FE_ACCESS
} FieldEdit;

// A register with a pointer into the block, lo .. hi bytes behind its start. -ANY and ANY are no bounds.
typedef struct BlockPointer {
    uint32_t fn;
    RegId reg;
    int64_t lo, hi;
    uint32_t joins;  // how often the range grew
    bool queued;
} BlockPointer;

// Facts of a function. The pointers are those of the current variable.
typedef struct PointerFacts {
    const Analyses *a;
    SystemCalls calls;
    ValueRanges ranges;
    EvalCache evals;
    uint32_t *pointer;  // by RegId: number of the pointer in the register, plus 1
    uint32_t *edit;     // by InstrId: number of the edit, plus 1
} PointerFacts;

typedef struct BlockField {
    uint64_t first, end;
    uint32_t align;  // the greatest that an access requires
} BlockField;

typedef struct BlockSplit {
    Globals *g;
    Global *v;
    uint32_t fn;          // the current function
    PointerFacts *facts;  // of it
    uint64_t bytes;       // of the block; 0 = no malloc was found
    VEC(BlockPointer) pointers;
    VEC(FieldEdit) edits;
    VEC(uint32_t) work;            // pointers whose uses are to be visited
    VEC(BlockField) fields;        // ascending
    const char *missed, *because;  // a remark on why the variable stays
    SymId first;                   // the variable of the first field
    bool *needs;                   // by pointer and field: its address is needed
    RegId *regs;                   // the same: the register with it
} BlockSplit;

enum { JOINS = 2, FAR = INT32_MAX };
static const int64_t ANY = INT64_MAX;

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
    const Fn *fn = function(h);
    if (!system_calls(&h->facts->calls, s, "malloc", true))
        return escapes(h);
    Operand size = *ir_use(fn, ir_instr(fn, s->argument), 2);
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
    const Instr *i = ir_instr(fn, access->instr);
    bool whole = access->direct && !access->first && access->end == global_sym(h->g, h->v)->size;
    uint64_t value;
    if (!whole || element_bytes(fn, access) != access->end || i->flags & IF_PINNED)
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

// Looks at a comparison of a pointer with null.
static bool take_comparison(BlockSplit *h, const Ref *use, uint32_t pointer)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, use->instr);
    Type type = (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
    Operand other = use->op == i->ndef ? ir_ops(fn, i)[use->op + 1] : op_none();
    return type_info[type].class != TC_F && op_is_const(other) && !tab_const(fn->tables, op_index(other)).bits &&
           add_use(h, use, FE_COMPARE, pointer);
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
    case OP_SETP: return take_comparison(h, use, pointer);
    default: return false;
    }
}

// Adds edits of the definitions of a pointer that are null. False: some other definition is not of the block.
static bool take_definitions(BlockSplit *h, uint32_t pointer)
{
    const Fn *fn = function(h);
    FOR_DEFS(h->facts->a, h->pointers.at[pointer].reg, def) {
        const Instr *i = ir_instr(fn, def->instr);
        if (edit_of(h, def->instr))
            continue;
        Operand from = ir_desc(fn, i)->op == OP_MOV ? *ir_use(fn, i, 0) : op_none();
        if (!op_is_const(from) || from.mods || tab_const(fn->tables, op_index(from)).bits || i->flags & IF_PINNED)
            return false;
        add_edit(h, def->instr, FE_NULL)->pointer = pointer;
    }
    return true;
}

// True if an edit is possible now that the range of its pointer is known: null, free and the variable are about the
// start of the block. Sums have one pointer.
static bool is_possible(const BlockSplit *h, const FieldEdit *e)
{
    const Fn *fn = function(h);
    const BlockPointer *p = &h->pointers.at[e->pointer];
    const Instr *i = ir_instr(fn, e->instr);
    uint32_t pointers = 0;
    switch (e->kind) {
    case FE_SAVE: {
        Operand o = ir_ops(fn, i)[e->operand];
        uint32_t at = h->facts->pointer[op_index(o)];
        return at && !h->pointers.at[at - 1].lo && !h->pointers.at[at - 1].hi;
    }
    case FE_COMPARE:
    case FE_FREE: return !p->lo && !p->hi;
    case FE_COPY:
        for (uint32_t k = i->ndef; k < ir_desc(fn, i)->nops; k++)
            pointers += op_is_reg(ir_ops(fn, i)[k]) && h->facts->pointer[op_index(ir_ops(fn, i)[k])];
        return pointers == 1;
    case FE_MALLOC:
    case FE_LOAD:
    case FE_NULL:
    case FE_CLEAR:
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
    VEC_PUSH(&h->g->scratch, &h->fields, ((BlockField){(uint64_t)first, (uint64_t)end, (uint32_t)bytes}));
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
    return facts;
}

/* -- Fields --------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const BlockField *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->end < y->end ? -1 : x->end > y->end;
}

// Merges fields that overlap, and extends those that are less aligned than their accesses.
static void merge_fields(BlockSplit *h)
{
    bool again = true;
    while (again) {
        uint32_t n = 0;
        qsort(h->fields.at, h->fields.n, sizeof *h->fields.at, by_place);
        for (uint32_t k = 0; k < h->fields.n; k++) {
            const BlockField *f = &h->fields.at[k];
            BlockField *last = n ? &h->fields.at[n - 1] : NULL;
            if (!last || f->first >= last->end) {
                h->fields.at[n++] = *f;
                continue;
            }
            last->end = MAX(last->end, f->end);
            last->align = MAX(last->align, f->align);
        }
        h->fields.n = n;
        again = false;
        for (uint32_t k = 0; k < n; k++) {
            again |= h->fields.at[k].first % h->fields.at[k].align != 0;
            h->fields.at[k].first -= h->fields.at[k].first % h->fields.at[k].align;
        }
    }
}

// Finds the fields. False: there are too few or too many.
static bool find_fields(BlockSplit *h)
{
    const Globals *g = h->g;
    for (uint32_t e = 0; e < h->edits.n; e++)
        if (h->edits.at[e].kind == FE_ACCESS && !take_bytes(h, &h->edits.at[e]))
            return miss(h, "IndexUnknown", "an access is outside of its memory");
    merge_fields(h);
    if (h->fields.n < 2)
        return false;
    if (h->fields.n > knob_int(g->knobs, KNOB_GLOBAL_OPT_FIELDS))
        return miss(h, "TooManyFields", "its memory has more fields than GlobalOptMaxFields");
    return true;
}

// Returns the field of an access.
static uint32_t field_of(const BlockSplit *h, const FieldEdit *e)
{
    const Fn *fn = h->g->m->fns.at[e->fn];
    int64_t lo = h->pointers.at[e->pointer].lo;
    Operand offset = ir_ops(fn, ir_instr(fn, e->instr))[e->operand + 1];
    int64_t first = lo == -ANY ? 0 : MAX(lo + const_signed(tab_const(fn->tables, op_index(offset))), 0);
    uint32_t field = 0;
    while ((int64_t)h->fields.at[field].end <= first)
        field++;
    return field;
}

/* -- Registers ------------------------------------------------------------------------------------------ */

static bool *need(const BlockSplit *h, uint32_t pointer, uint32_t field)
{
    return &h->needs[pointer * h->fields.n + field];
}

// Marks the fields that the uses of pointers need, and then those that copies need.
static void find_needs(BlockSplit *h)
{
    uint32_t n = h->fields.n;
    h->needs = NEW_ARRAY(&h->g->scratch, bool, h->pointers.n *n);
    for (uint32_t k = 0; k < h->edits.n; k++) {
        const FieldEdit *e = &h->edits.at[k];
        bool all = e->kind == FE_MALLOC || e->kind == FE_SAVE || e->kind == FE_FREE;
        for (uint32_t field = 0; field < n; field++)
            *need(h, e->pointer, field) |=
                all || (e->kind == FE_COMPARE && !field) || (e->kind == FE_ACCESS && e->field == field);
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = h->edits.n; k-- > 0;) {
            const FieldEdit *e = &h->edits.at[k];
            for (uint32_t field = 0; field < n && e->kind == FE_COPY; field++) {
                again |= *need(h, e->pointer, field) && !*need(h, e->from, field);
                *need(h, e->from, field) |= *need(h, e->pointer, field);
            }
        }
    }
}

// Returns the register of a field that replaces a pointer.
static RegId reg_of(const BlockSplit *h, uint32_t pointer, uint32_t field)
{
    RegId *r = &h->regs[pointer * h->fields.n + field];
    const BlockPointer *p = &h->pointers.at[pointer];
    Fn *fn = h->g->m->fns.at[p->fn];
    if (!*r) {
        *r = reg_like(fn, p->reg);
        part_show(h->g, h->v, fn, *r, ".f", field);
    }
    return *r;
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

// Inserts a copy of an instruction of a call sequence, with other parameters and another operand k.
static void copy_part(const BlockSplit *h, Fn *fn, InstrId id, InstrId before, const SymId *params, uint32_t k,
                      Operand operand)
{
    const Instr *i = ir_instr(fn, id);
    uint32_t n = i->nops;
    DescId desc = i->desc;
    uint8_t flags = i->flags;
    LineId line = i->line;
    Operand *ops = arena_copy(&h->g->scratch, ir_ops(fn, i), n * sizeof *ops);
    for (uint32_t at = 0; at < n; at++)
        for (const SymId *p = params; *p; p += 2)
            if (op_kind(ops[at]) == K_SYM && op_index(ops[at]) == p[0])
                ops[at] = op_sym(p[1]);
    if (k < n)
        ops[k] = operand;
    InstrId copy = ir_insert_before(fn, before, desc, flags, ops, n);
    ir_instr(fn, copy)->callseq = fn->callseqs;
    ir_instr(fn, copy)->line = line;
}

// Inserts a copy of a call sequence that passes this argument. Its result, if it has one, is in `result`.
static void copy_call(const BlockSplit *h, uint32_t function, const Sequence *s, InstrId before, Operand argument,
                      RegId result)
{
    Fn *fn = h->g->m->fns.at[function];
    SymId params[5] = {op_index(*ir_use(fn, ir_instr(fn, s->argument), 0))};
    if (result)
        params[2] = op_index(*ir_use(fn, ir_instr(fn, s->result), 0));
    for (SymId *p = params; *p; p += 2)
        p[1] = param_new(h->g, function, p[0]);
    fn->callseqs++;
    copy_part(h, fn, s->argument, before, params, 2, argument);
    copy_part(h, fn, s->call, before, params, UINT32_MAX, op_none());
    if (result)
        copy_part(h, fn, s->result, before, params, 0, op_def(op_reg(fn, result)));
}

// Returns the call of free in a function, or NULL.
static const Sequence *find_free(const BlockSplit *h, uint32_t function)
{
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (h->edits.at[k].fn == function && h->edits.at[k].kind == FE_FREE)
            return h->edits.at[k].s;
    return NULL;
}

// True if each function with malloc has a call of free.
static bool has_free(BlockSplit *h)
{
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (h->edits.at[k].kind == FE_MALLOC && !find_free(h, h->edits.at[k].fn))
            return miss(h, "NotFreed", "the function that calls malloc does not call free");
    return true;
}

/* -- Failure of malloc ---------------------------------------------------------------------------------- */

// Appends instructions to a block.
typedef struct Builder {
    Fn *fn;
    BlockId block;
    LineId line;
} Builder;

static void append(const Builder *b, DescId desc, uint8_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = ir_append(b->fn, b->block, desc, flags, ops, n);
    ir_instr(b->fn, id)->line = b->line;
}

static RegId append_comparison(const Builder *b, Mod cmp, RegId with_null)
{
    RegId p = reg_new(b->fn, RF_P, W1);
    append(b, desc_make(b->fn->tables, OP_SETP, TY_S64, .mods = {cmp}), 0,
           (Operand[]){op_def(op_reg(b->fn, p)), op_reg(b->fn, with_null), op_const(b->fn, 0, W64)}, 3);
    return p;
}

static void append_move(const Builder *b, RegId to, uint64_t value)
{
    append(b, desc_make(b->fn->tables, OP_MOV, type_make(TC_B, W64)), 0,
           (Operand[]){op_def(op_reg(b->fn, to)), op_const(b->fn, value, W64)}, 2);
}

// Appends a branch to the next block in the layout.
static void append_jump(const Builder *b, BlockId to)
{
    append(b, desc_make(b->fn->tables, OP_BRA), IF_IMPLICIT, (Operand[]){op_block(to)}, 1);
}

static void append_branch(const Builder *b, RegId condition, BlockId to, BlockId otherwise)
{
    append(b, desc_parse(b->fn->tables, "bra", "%~"), IF_GUARDED,
           (Operand[]){op_block(to), op_block(otherwise), op_reg(b->fn, condition)}, 3);
}

// Appends the condition that malloc failed for some field: the size is negative, or a pointer is null.
static RegId append_condition(const BlockSplit *h, const Builder *b, uint32_t pointer)
{
    RegId size = reg_new(b->fn, RF_R, W64);
    append_move(b, size, h->bytes);
    RegId any = append_comparison(b, MOD_LT, size);
    part_show(h->g, h->v, b->fn, any, ".isneg", NO_NUMBER);
    for (uint32_t field = 0; field < h->fields.n; field++) {
        RegId null = append_comparison(b, MOD_EQ, reg_of(h, pointer, field)), sum = reg_new(b->fn, RF_P, W1);
        part_show(h->g, h->v, b->fn, null, ".isnull", field);
        append(b, desc_make(b->fn->tables, OP_OR, TY_PRED), 0,
               (Operand[]){op_def(op_reg(b->fn, sum)), op_reg(b->fn, any), op_reg(b->fn, null)}, 3);
        any = sum;
    }
    return any;
}

static BlockId insert_block(const BlockSplit *h, uint32_t function, BlockId after, const char *name, uint32_t number)
{
    Fn *fn = h->g->m->fns.at[function];
    BlockId b = block_new(fn);
    block_insert_after(fn, b, after);
    ir_block(fn, b)->source = ir_block(fn, after)->source;
    ir_block(fn, b)->label = local_name(h->g, function, name, number);
    return b;
}

// Places a malloc for each field. If some of them fail, the others are freed, and all pointers are null.
static void place_mallocs(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    for (uint32_t k = 0; k < h->fields.n; k++)
        copy_call(h, e->fn, e->s, e->instr, op_const(fn, h->fields.at[k].end - h->fields.at[k].first, W64),
                  reg_of(h, e->pointer, k));
    Builder b = {.fn = fn, .block = ir_instr(fn, e->instr)->block, .line = ir_instr(fn, e->instr)->line};
    BlockId failed = insert_block(h, e->fn, b.block, "malloc_ret_null", NO_NUMBER);
    BlockId behind = insert_block(h, e->fn, failed, "malloc_cont", NO_NUMBER);
    block_take(fn, behind, e->instr);
    append_branch(&b, append_condition(h, &b, e->pointer), failed, behind);
    b.block = failed;
    for (uint32_t k = 0; k < h->fields.n; k++) {
        RegId r = reg_of(h, e->pointer, k);
        BlockId free_it = insert_block(h, e->fn, b.block, "free_it", k);
        BlockId next = insert_block(h, e->fn, free_it, "next", k);
        append_branch(&b, append_comparison(&b, MOD_NE, r), free_it, next);
        b.block = free_it;
        append_jump(&b, next);
        copy_call(h, e->fn, find_free(h, e->fn), ir_block(fn, free_it)->first, op_reg(fn, r), 0);
        b.block = next;
        append_move(&b, r, 0);
    }
    append_jump(&b, behind);
    ir_remove(fn, e->s->argument);
    ir_remove(fn, e->s->call);
    ir_remove(fn, e->s->result);
}

/* -- Changes -------------------------------------------------------------------------------------------- */

// Replaces an instruction by one for each field that its pointer needs, with the field's register or variable.
static void place_for_fields(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    const Instr *i = ir_instr(fn, e->instr);
    Operand zero = op_const(fn, 0, W64), ops[6];
    uint32_t n = ir_desc(fn, i)->nops;
    DescId desc = e->access ? e->access : i->desc;
    memcpy(ops, ir_ops(fn, i), n * sizeof *ops);
    for (uint32_t k = 0; k < h->fields.n; k++) {
        bool all = e->kind == FE_SAVE || e->kind == FE_CLEAR;
        if (!all && !*need(h, e->pointer, k))
            continue;
        uint32_t base = e->kind == FE_LOAD ? 1 : 0;
        if (e->access) {
            ops[base] = op_sym(h->first + k);
            ops[base + 1] = zero;
        }
        if (!all)
            ops[0] = op_def(op_reg(fn, reg_of(h, e->pointer, k)));
        if (e->kind == FE_SAVE)
            ops[e->operand] = op_reg(fn, reg_of(h, e->pointer, k));
        if (e->kind == FE_COPY)
            ops[e->operand] = op_reg(fn, reg_of(h, e->from, k));
        insert_beside(fn, e->instr, desc, ops, n, true);
    }
    ir_remove(fn, e->instr);
}

static void change(const BlockSplit *h, const FieldEdit *e)
{
    Fn *fn = h->g->m->fns.at[e->fn];
    Operand *op = &ir_ops(fn, ir_instr(fn, e->instr))[e->operand];
    switch (e->kind) {
    case FE_MALLOC: place_mallocs(h, e); break;
    case FE_LOAD:
    case FE_COPY:
    case FE_NULL:
    case FE_SAVE:
    case FE_CLEAR: place_for_fields(h, e); break;
    case FE_COMPARE: *op = op_reg(fn, reg_of(h, e->pointer, 0)); break;
    case FE_ACCESS: {
        uint64_t offset = (uint64_t)const_signed(tab_const(fn->tables, op_index(op[1])));
        op[0] = op_reg(fn, reg_of(h, e->pointer, e->field));
        op[1] = op_const(fn, offset - h->fields.at[e->field].first, W64);
        break;
    }
    case FE_FREE:
        for (uint32_t k = 0; k < h->fields.n; k++)
            copy_call(h, e->fn, e->s, e->s->call, op_reg(fn, reg_of(h, e->pointer, k)), 0);
        break;
    }
    h->g->changed[e->fn] = true;
}

static void remove_frees(const BlockSplit *h)
{
    for (uint32_t k = 0; k < h->edits.n; k++) {
        const FieldEdit *e = &h->edits.at[k];
        if (e->kind != FE_FREE)
            continue;
        ir_remove(h->g->m->fns.at[e->fn], e->s->argument);
        ir_remove(h->g->m->fns.at[e->fn], e->s->call);
    }
}

static void split(BlockSplit *h)
{
    Globals *g = h->g;
    global_remark(g, h->v, RM_PASSED, "MallocSplit", "points to memory of malloc: its %u fields get memory each",
                  h->fields.n);
    for (uint32_t k = 0; k < h->fields.n; k++) {
        SymId part = part_new(g, h->v, ".f", k);
        h->first = k ? h->first : part;
    }
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (h->edits.at[k].kind == FE_ACCESS)
            h->edits.at[k].field = field_of(h, &h->edits.at[k]);
    find_needs(h);
    h->regs = NEW_ARRAY(&g->scratch, RegId, h->pointers.n * h->fields.n);
    for (uint32_t k = 0; k < h->edits.n; k++)
        change(h, &h->edits.at[k]);
    remove_frees(h);
    global_lose_accesses(g, h->v);
    h->v->part = h->first;
    h->v->nparts = h->fields.n;
    g->again = true;
    g->ctx->module.mallocs_replaced++;
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
    return (h->bytes || miss(h, "AddressEscapes", "its malloc is not analyzed")) && find_fields(h) && has_free(h);
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
        else if (knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET))
            VEC_PUSH(&g->scratch, &found, h);
    }
    for (uint32_t k = 0; k < found.n; k++)
        split(&found.at[k]);
    return found.n;
}
