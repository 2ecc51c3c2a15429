// SPDX-License-Identifier: MIT
// Replaces memory of malloc by a variable.
//
// Strategy C of GlobalOpt (row 163), for a variable that holds the result of one malloc of constant size, or null. The
// memory becomes NAME.body, in the space of the variable, and the variable becomes NAME.init, a byte that is 1 if the
// pointer is not null. Comparisons with null read the flag; if there are none, the next round removes it.
//
//     shared @p: .u64                                       shared @p.body: .b8[32] align 16; shared @p.init: .u8
//     st.param.b64 [@a], 32; call (@r), @malloc, (@a)       (gone)
//     R1 = ld.param.b64 [@r]                         ->     R1 = cvta.shared.u64 @p.body
//     st.shared.u64 [@p], R1                                st.shared.u8 [@p.init], 1
//     R2 = ld.shared.u64 [@p]                               R4 = ld.shared.u8 [@p.init]
//     P0 = setp.eq.s64 R2, 0                                R2 = cvta.shared.u64 @p.body
//     R3 = ld.u32 [R2+4]                                    P0 = setp.eq.b16 R4, 0; R3 = ld.u32 [R2+4]
//     st.param.b64 [@b], R2; call @free, (@b)               (gone)
//
// The variable stays as it is, and only the calls go, if null matters where the flag is not known: a register with
// several definitions, or a copy, is compared with null, or is stored. A select by the flag would take three
// instructions instead of the load (median of the sample scratch: 83 SASS instructions, with selects 91).
//
// This is correct if the call runs once for each NAME.body, and if no address outlives it. So the call is in a kernel
// and in no cycle, and the pointer is used only for accesses and comparisons with null. malloc returns a memory block
// for each thread, and there is one NAME.body for a CTA: the kernels that name the variable must declare CTAs of one
// thread, and the variable must be in `.shared`. GlobalOptMalloc says that one thread calls malloc anyway, and that no
// two CTAs do so for a `.global` variable.
//
// malloc never fails then. The document clears the flag at free, and makes `>=` the flag. In PTX a pointer stays as it
// is after free, and each pointer is `>=` null.
//
// Must not fire:
//     malloc(n), two mallocs, malloc in a loop      the memory has no constant size, or there are several blocks
//     malloc in a kernel of several threads         each thread has a block of its own
//     p stored, passed, converted, selected         the address outlives the kernel, or the use is not analyzed
//     volatile accesses to p                        something else may write it
//     ld.L2::cache_hint, red.v2.f32, ld.mmio        not for `.shared`
//     no room in 48 KB, or extern shared @s[]       a launch might fail
//     setp.equ.f64 p, 0                             no comparison of addresses
//     q = p + 4; q == null; free(q)                 undefined, so not analyzed
//
// Documented: the strategy, names, the limit. Inferred: one thread, the flag as a byte. malloc_fields.c
// splits blocks above the limit.
#include "phases/globalopt/system_calls.h"

// The change of an instruction.
typedef enum {
    CH_GONE,
    CH_ADDRESS,  // the address of the body
    CH_SET,      // a store of 1 to the flag
    CH_CLEAR,    // a store of 0 to the flag
    CH_COMPARE,  // a comparison of the flag
} Change;

typedef struct Edit {
    uint32_t fn;
    InstrId instr;
    Change change;
    bool tested;  // CH_ADDRESS: comparisons read the flag
    RegId flag;   // CH_ADDRESS: register of the flag; 0 = the pointer is not null
    uint32_t of;  // CH_COMPARE: the edit of the pointer
} Edit;

// The pointer in a register: INSIDE, JOINED, or the number of the edit that defines it.
enum {
    INSIDE = INT32_MAX,      // an address in the block
    JOINED = INT32_MAX - 1,  // null or the address of the block
};

typedef struct Pointee {
    RegId reg;
    uint32_t origin;
} Pointee;

// Facts of a function.
typedef struct Facts {
    const Analyses *a;
    SystemCalls calls;
    uint32_t *edit;  // by InstrId: number of the edit of the current variable, plus 1
    bool *pointer;   // by InstrId: its result is a pointer of the current variable
    bool *followed;  // by RegId: some definition is such a result
    bool *inside;    // by RegId: the same, and INSIDE
} Facts;

typedef struct Allocation {
    Globals *g;
    Global *v;
    uint32_t fn;           // the current function
    const Facts *facts;    // of it
    VEC(Pointee) work;     // of it: registers whose uses are to be visited
    VEC(RegId) pointers;   // of it: registers with a followed definition
    VEC(InstrId) results;  // of it: instructions whose results are pointers
    VEC(RegId) joined;     // of it: registers whose definitions must all be pointers
    VEC(Edit) edits;
    uint32_t mallocs;
    bool stays;                    // the variable: null matters where the flag is not known
    uint64_t bytes;                // of the block
    const char *missed, *because;  // a remark on why the variable stays
    SymId body, flag;
} Allocation;

// Bytes of `.shared` that a CTA can have without asking for more.
enum { ROOM = 48 << 10 };

static Fn *function(const Allocation *h) { return h->g->m->fns.at[h->fn]; }

static Facts *find_facts(Arena *arena, const Fn *fn, const Analyses *a)
{
    Facts *facts = NEW(arena, Facts);
    facts->a = a;
    facts->calls = system_calls_find(arena, fn, a);
    facts->edit = NEW_ARRAY(arena, uint32_t, fn->instrs.n);
    facts->pointer = NEW_ARRAY(arena, bool, fn->instrs.n);
    facts->followed = NEW_ARRAY(arena, bool, fn->regs.n);
    facts->inside = NEW_ARRAY(arena, bool, fn->regs.n);
    return facts;
}
/* -- Conditions ----------------------------------------------------------------------------------------- */

static bool miss(Allocation *h, const char *name, const char *because)
{
    h->missed = name;
    h->because = because;
    return false;
}

static bool escapes(Allocation *h)
{
    return miss(h, "AddressEscapes", "its address is used for more than accesses and comparisons with null");
}

// Adds an edit and returns its number.
static uint32_t add_edit(Allocation *h, InstrId instr, Change change)
{
    VEC_PUSH(&h->g->scratch, &h->edits, ((Edit){.fn = h->fn, .instr = instr, .change = change}));
    h->facts->edit[instr] = h->edits.n;
    return h->edits.n - 1;
}

// Returns the edit of an instruction of the current function; NULL = it has none.
static const Edit *edit_of(const Allocation *h, InstrId id)
{
    uint32_t edit = h->facts->edit[id];
    return edit ? &h->edits.at[edit - 1] : NULL;
}

// Continues with the uses of a result. A register that turns out to be INSIDE is visited again, so no use of it as a
// whole pointer is missed.
static bool follow(Allocation *h, InstrId id, uint32_t origin)
{
    const Fn *fn = function(h);
    const Facts *facts = h->facts;
    const Instr *i = ir_instr(fn, id);
    Operand def = *ir_def(fn, i, 0);
    if (!op_is_reg(def) || def.mods || i->flags & IF_TIED || !reg_in_ssa(ir_reg(fn, op_index(def))) ||
        ir_reg(fn, op_index(def))->width != W64)
        return false;
    RegId r = op_index(def);
    bool joins = def_count(facts->a, r) > 1, more = !facts->followed[r] || (origin == INSIDE && !facts->inside[r]);
    if (!facts->pointer[id])
        VEC_PUSH(&h->g->scratch, &h->results, id);
    if (!facts->followed[r])
        VEC_PUSH(&h->g->scratch, &h->pointers, r);
    if (joins && !facts->followed[r])
        VEC_PUSH(&h->g->scratch, &h->joined, r);
    facts->pointer[id] = facts->followed[r] = true;
    facts->inside[r] |= origin == INSIDE;
    if (more)
        VEC_PUSH(&h->g->scratch, &h->work, ((Pointee){r, joins && origin != INSIDE ? JOINED : origin}));
    return true;
}

// True if the result of an edit is what malloc returned, so it is not null.
static bool is_result(const Allocation *h, uint32_t edit)
{
    return ir_instr(function(h), h->edits.at[edit].instr)->callseq;
}

// Continues with a copy. Loads may repeat before a copy is compared, so the flag of a load is not that of a copy.
static bool follow_copy(Allocation *h, InstrId id, uint32_t origin)
{
    return follow(h, id, origin < h->edits.n && !is_result(h, origin) ? JOINED : origin);
}

// Looks at a malloc whose result may be stored. False: the variable stays.
static bool take_malloc(Allocation *h, const Sequence *s)
{
    Fn *fn = function(h);
    if (!system_calls(&h->facts->calls, s, "malloc", true))
        return escapes(h);
    Operand size = constant_operand(fn, *ir_use(fn, ir_instr(fn, s->argument), 2));
    if (!op_is_const(size))
        return miss(h, "SizeUnknown", "malloc has no constant size");
    if (!(fn->flags & FN_KERNEL))
        return miss(h, "SeveralBlocks", "malloc is not in a kernel, so it may run several times");
    if (h->mallocs++ || h->facts->calls.repeats[ir_instr(fn, s->call)->block])
        return miss(h, "SeveralBlocks", "malloc may run several times");
    uint64_t limit = (uint64_t)knob_int(h->g->knobs, KNOB_GLOBAL_OPT_BITS);
    h->bytes = tab_const(fn->tables, op_index(size)).bits;
    if (!h->bytes)
        return miss(h, "NoMemory", "malloc gets the size 0");
    if (h->bytes > limit / 8 || (h->bytes + MALLOC_ALIGN - 1) / MALLOC_ALIGN * MALLOC_ALIGN * 8 > limit)
        return miss(h, "TooLarge", "its memory has more bits than GlobalOptMaxBits");
    add_edit(h, s->argument, CH_GONE);
    add_edit(h, s->call, CH_GONE);
    uint32_t edit = add_edit(h, s->result, CH_ADDRESS);
    return follow(h, s->result, edit) || escapes(h);
}

// Looks at the store of a register to the variable: some malloc may define it, and all other definitions are pointers,
// too, if they are followed.
static bool take_store(Allocation *h, InstrId store)
{
    const Fn *fn = function(h);
    Operand o = *ir_use(fn, ir_instr(fn, store), 2);
    uint32_t results = 0;
    if (!op_is_reg(o) || o.mods)
        return escapes(h);
    FOR_DEFS(h->facts->a, op_index(o), def) {
        const Sequence *s = sequence_of_result(&h->facts->calls, def->instr);
        results += s != NULL;
        if (s && !edit_of(h, s->call) && !take_malloc(h, s))
            return false;
    }
    h->stays |= results != def_count(h->facts->a, op_index(o));
    add_edit(h, store, CH_SET);
    VEC_PUSH(&h->g->scratch, &h->joined, op_index(o));
    return true;
}

static bool take_access(Allocation *h, const GlobalAccess *access)
{
    Fn *fn = function(h);
    uint64_t value;
    if (!accesses_whole(h->g, h->v, access))
        return miss(h, "PartlyAccessed", "an access is not of the whole pointer");
    if (!access->writes) {
        uint32_t edit = add_edit(h, access->instr, CH_ADDRESS);
        return follow(h, access->instr, edit) || escapes(h);
    }
    if (stored_constant(fn, access, 0, &value) && !value) {
        add_edit(h, access->instr, CH_CLEAR);
        return true;
    }
    return take_store(h, access->instr);
}

// Looks at a comparison of a pointer with null.
static bool take_comparison(Allocation *h, InstrId id, uint32_t operand, const Pointee *p)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, id);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    if (!compares_with_null(fn, i, operand))
        return false;
    if (p->origin == JOINED)
        return h->stays = true;
    if (i->ndef != 1 || m->mod[MC_BOOL] || ir_guarded(i))
        return false;
    uint32_t edit = add_edit(h, id, CH_COMPARE);
    h->edits.at[edit].of = p->origin;
    h->edits.at[p->origin].tested = true;
    return true;
}

// Looks at a store whose value is a pointer.
static bool take_stored(Allocation *h, InstrId id)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, id);
    if (edit_of(h, id))
        return true;
    const Sequence *s = &h->facts->calls.at[i->callseq];
    if (!system_calls(&h->facts->calls, s, "free", false))
        return false;
    add_edit(h, id, CH_GONE);
    add_edit(h, s->call, CH_GONE);
    return true;
}

// True if an instruction may access the body instead of memory of malloc.
static bool may_access(const Allocation *h, const Instr *i)
{
    const Fn *fn = function(h);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    Space space = (Space)global_sym(h->g, h->v)->space;
    if (m->mod[MC_SPACE])
        return false;
    return space != SP_SHARED || (!m->mod[MC_COP] && desc_with_space(fn->tables, i->desc, space));
}

// Looks at a use of a pointer. False: it lets the address escape.
static bool take_use(Allocation *h, const Ref *use, const Pointee *p)
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
            return operand_is_base(fn, d, use->op) && may_access(h, i);
        return d->op == OP_ST && p->origin != INSIDE && take_stored(h, use->instr);
    case OP_MOV: return follow_copy(h, use->instr, p->origin);
    case OP_ADD: return follow(h, use->instr, INSIDE);
    case OP_SUB: return use->op == i->ndef && follow(h, use->instr, INSIDE);
    case OP_SETP: return p->origin != INSIDE && take_comparison(h, use->instr, use->op, p);
    default: return false;
    }
}

// True if all definitions of a register are pointers, or moves of null.
static bool is_pointer(const Allocation *h, RegId r)
{
    const Fn *fn = function(h);
    FOR_DEFS(h->facts->a, r, def) {
        if (!moves_null(fn, ir_instr(fn, def->instr)) && !h->facts->pointer[def->instr])
            return false;
    }
    return true;
}

static bool take_uses(Allocation *h)
{
    while (h->work.n) {
        Pointee p = h->work.at[--h->work.n];
        FOR_USES(h->facts->a, p.reg, use) {
            if (!take_use(h, use, &p))
                return escapes(h);
        }
    }
    for (uint32_t k = 0; k < h->joined.n; k++)
        if (!is_pointer(h, h->joined.at[k]))
            return escapes(h);
    return true;
}

// Resets the facts of the current variable, and ends the current function.
static void forget(Allocation *h)
{
    for (uint32_t k = 0; k < h->pointers.n; k++) {
        h->facts->followed[h->pointers.at[k]] = false;
        h->facts->inside[h->pointers.at[k]] = false;
    }
    for (uint32_t k = 0; k < h->results.n; k++)
        h->facts->pointer[h->results.at[k]] = false;
    for (uint32_t k = h->edits.n; k-- > 0 && h->edits.at[k].fn == h->fn;)
        h->facts->edit[h->edits.at[k].instr] = 0;
    h->work.n = h->pointers.n = h->results.n = h->joined.n = 0;
}

// Looks at the accesses of a function to the variable, the first of which is *k; sets *k to that of the next function.
static bool take_function(Allocation *h, Facts **facts, uint32_t *k)
{
    Globals *g = h->g;
    h->fn = g->accesses.at[*k].fn;
    Fn *fn = function(h);
    if (!one_thread_allocates(g, fn))
        return miss(h, "SeveralThreads", "several threads may run malloc, unless GlobalOptMalloc says otherwise");
    if (!facts[h->fn])
        facts[h->fn] = find_facts(&g->scratch, fn, analysis_need(fn, AN_CFG | AN_DEFUSE));
    h->facts = facts[h->fn];
    bool good = true;
    for (; *k && g->accesses.at[*k].fn == h->fn; *k = g->accesses.at[*k].next)
        good = good && take_access(h, &g->accesses.at[*k]);
    good = good && take_uses(h);
    forget(h);
    return good;
}

/* -- Changes -------------------------------------------------------------------------------------------- */

static SymId make_body(const Allocation *h)
{
    SymId id = part_new(h->g, h->v, ".body", NO_NUMBER);
    Sym *s = part_sym(h->g, h->v, id);
    s->type = TY_B8;
    s->vec = 0;
    s->flags |= SYM_ALIGNED | SYM_ARRAY;
    s->align = MALLOC_ALIGN;
    s->count = s->size = h->bytes;
    s->init = NULL;
    return id;
}

static void store_flag(const Allocation *h, Fn *fn, const Edit *e)
{
    Operand value = op_const(fn, e->change == CH_SET, W8);
    insert_beside(fn, e->instr, flag_access(h->g, h->v, fn, OP_ST),
                  (Operand[]){op_sym(h->flag), op_const(fn, 0, W64), value}, 3, true);
}

// Places the address of the body. A guard is also that of the load of the flag, so the flag in the register stays the
// one of the pointer.
static void place_address(const Allocation *h, Fn *fn, Edit *e)
{
    Space space = (Space)global_sym(h->g, h->v)->space;
    Operand def = *ir_def(fn, ir_instr(fn, e->instr), 0), zero = op_const(fn, 0, W64);
    if (e->tested && !ir_instr(fn, e->instr)->callseq) {
        e->flag = reg_new(fn, RF_R, W16);
        part_show(h->g, h->v, fn, e->flag, ".val", NO_NUMBER);
        insert_beside(fn, e->instr, flag_access(h->g, h->v, fn, OP_LD),
                      (Operand[]){op_def(op_reg(fn, e->flag)), op_sym(h->flag), zero}, 3, true);
    }
    insert_beside(fn, e->instr, desc_with_space(fn->tables, desc_make(fn->tables, OP_CVTA_ADDR, TY_U64), space),
                  (Operand[]){def, op_sym(h->body), zero}, 3, true);
}

// Places the result of a comparison with null.
static void place_comparison(const Allocation *h, Fn *fn, const Edit *e)
{
    const Edit *pointer = &h->edits.at[e->of];
    const Instr *i = ir_instr(fn, e->instr);
    Mod cmp = (Mod)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->mod[MC_CMP];
    Operand def = *ir_def(fn, i, 0);
    bool null = cmp == MOD_EQ || cmp == MOD_LE || cmp == MOD_LS;
    bool known = cmp == MOD_LT || cmp == MOD_LO || cmp == MOD_GE || cmp == MOD_HS;
    if (!known && pointer->flag) {
        if (null)
            part_show(h->g, h->v, fn, op_index(def), ".notinit", NO_NUMBER);
        DescId desc = desc_make(fn->tables, OP_SETP, type_make(TC_B, W16), .mods = {null ? MOD_EQ : MOD_NE});
        insert_beside(fn, e->instr, desc, (Operand[]){def, op_reg(fn, pointer->flag), op_const(fn, 0, W16)}, 3, false);
        return;
    }
    bool is = known ? cmp == MOD_GE || cmp == MOD_HS : !null;
    insert_move(fn, e->instr, op_index(def), op_const(fn, is, W1));
}

// Changes the instructions; if the variable stays, only those of the calls.
static void change(Allocation *h)
{
    Globals *g = h->g;
    for (uint32_t k = 0; k < h->edits.n; k++) {
        Edit *e = &h->edits.at[k];
        Fn *fn = g->m->fns.at[e->fn];
        if (h->stays && !ir_instr(fn, e->instr)->callseq)
            continue;
        switch (e->change) {
        case CH_GONE: break;
        case CH_ADDRESS: place_address(h, fn, e); break;
        case CH_SET:
        case CH_CLEAR: store_flag(h, fn, e); break;
        case CH_COMPARE: place_comparison(h, fn, e); break;
        }
        ir_remove(fn, e->instr);
        g->changed[e->fn] = true;
    }
}

static void replace(Allocation *h)
{
    Globals *g = h->g;
    global_remark(g, h->v, RM_PASSED, "MallocReplaced",
                  "points to memory of malloc: a variable of %llu bytes replaces it", (unsigned long long)h->bytes);
    h->body = make_body(h);
    h->flag = h->stays ? 0 : flag_new(g, h->v);
    change(h);
    if (!h->stays)
        global_lose_accesses(g, h->v);
    h->v->part = h->body;
    h->v->nparts = h->stays ? 1 : 2;
    g->again = true;
    g->ctx->module.mallocs_replaced++;
}

// Adds the size of a `.shared` variable; false if a launch sets it.
static bool add_shared(const Sym *s, uint64_t *used)
{
    if (s->kind != SYM_VAR || s->space != SP_SHARED || s->flags & SYM_GONE)
        return true;
    *used += s->size + s->align;
    return !(s->flags & SYM_EXTERN);
}

// Returns the free bytes of `.shared` in a CTA that uses all variables of the module; 0 if a launch sets a size.
static uint64_t free_room(const Globals *g)
{
    const Module *m = g->m;
    uint64_t used = 0;
    bool known = true;
    for (uint32_t k = 1; k < m->syms.n; k++)
        known &= add_shared(&m->syms.at[k], &used);
    for (uint32_t k = 0; k < m->fns.n; k++)
        for (uint32_t local = 1; m->fns.at[k] && local < m->fns.at[k]->syms.n; local++)
            known &= add_shared(ir_sym(m->fns.at[k], local | SYM_LOCAL), &used);
    return known && used < ROOM ? ROOM - used : 0;
}

// Takes the room of a block; false: there is too little.
static bool take_room(Allocation *h, uint64_t *room)
{
    uint64_t bytes = h->bytes + MALLOC_ALIGN + 1;
    if (global_sym(h->g, h->v)->space != SP_SHARED)
        return true;
    if (bytes > *room)
        return miss(h, "NoRoom", "a CTA may need all of .shared");
    *room -= bytes;
    return true;
}

bool globals_replace_malloc(Globals *g)
{
    const bool *calls = callers_of_malloc(g);
    if (!calls)
        return false;
    g->again |= g->fields;  // a field may hold what malloc returns
    VEC(Allocation) found = {0};
    Facts **facts = NEW_ARRAY(&g->scratch, Facts *, g->m->fns.n);
    uint64_t room = free_room(g);
    for (uint32_t k = 1; k < g->at.n; k++) {
        Allocation h = {.g = g, .v = &g->at.at[k]};
        if (!may_hold_malloc(g, h.v, calls))
            continue;
        bool good = true;
        for (uint32_t access = h.v->access; access && good;)
            good = take_function(&h, facts, &access);
        good = good && (h.mallocs || miss(&h, "AddressEscapes", "its malloc is not analyzed")) && take_room(&h, &room);
        if (!good)
            global_stays(h.v, h.missed, h.because);
        else if (knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET))
            VEC_PUSH(&g->scratch, &found, h);
    }
    for (uint32_t k = 0; k < found.n; k++)
        replace(&found.at[k]);
    return found.n;
}
