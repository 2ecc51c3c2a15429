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
// A register that several instructions define keeps its value, null or the address: there a load becomes a select by
// the flag, and comparisons stay.
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
//     q = p + 4; q == null; free(q)                 undefined, so not analyzed
//
// Documented: the strategy, names, the limit. Inferred: one thread, the flag as a byte. Does not do: blocks above the
// limit with a pointer and a malloc for each field, which take more calls than before.
#include "ir/rewrite/inline_call.h"
#include "phases/globalopt/globalopt.h"

// A call sequence of a function, with the number of its instructions.
typedef struct Sequence {
    InstrId call, argument, result;  // the last of each
    uint32_t n;
} Sequence;

// The change of an instruction.
typedef enum {
    CH_GONE,
    CH_ADDRESS,  // the address of the body
    CH_SELECT,   // the address of the body, or null if the flag is 0 and null matters
    CH_SET,      // a store of 1 to the flag
    CH_CLEAR,    // a store of 0 to the flag
    CH_STORE,    // a store to the flag, 1 if the pointer is not null
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
    INSIDE = UINT32_MAX,      // an address in the block
    JOINED = UINT32_MAX - 1,  // null or the address of the block
};

typedef struct Pointee {
    RegId reg;
    uint32_t origin;
} Pointee;

typedef struct Allocation {
    Globals *g;
    Global *v;
    Arena scratch;
    uint32_t fn;          // the current function
    const Analyses *a;    // of it
    Sequence *sequences;  // of it, by call sequence
    uint32_t *followed;   // of it, by RegId: definitions that are pointers
    bool *inside;         // of it, by RegId: some definition is INSIDE
    VEC(Pointee) work;    // of it: registers whose uses are to be visited
    VEC(RegId) whole;     // of it: registers that must not be INSIDE
    VEC(RegId) joined;    // of it: registers whose definitions must all be pointers
    VEC(Edit) edits;
    uint32_t mallocs;
    bool null_matters;             // an instruction that stays compares a JOINED pointer
    uint64_t bytes;                // of the block
    const char *missed, *because;  // a remark on why the variable stays
    SymId body, flag;
} Allocation;

/* -- Calls ---------------------------------------------------------------------------------------------- */

static Fn *function(const Allocation *h) { return h->g->m->fns.at[h->fn]; }

// True for a call of a function of the system: one with this name and no body.
static bool calls_system(const Fn *fn, const Instr *i, const char *name)
{
    char text[32];
    SymId callee = ir_desc(fn, i)->op == OP_CALL ? ir_callee(fn, i) : 0;
    if (!callee || callee & SYM_LOCAL || ir_guarded(i))
        return false;
    const Sym *s = &fn->module->syms.at[callee];
    return !(s->fn && s->fn->flags & FN_DEFINED) &&
           strcmp(name_text(&fn->module->tables, s->name, text, sizeof text), name) == 0;
}

// True for an unguarded access to a whole parameter of 8 bytes.
static bool is_param_of_pointer(const Allocation *h, const Instr *i)
{
    const Fn *fn = function(h);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    const Operand *use = ir_use(fn, i, 0);
    if (op_kind(use[0]) != K_SYM || !(op_index(use[0]) & SYM_LOCAL) || ir_guarded(i))
        return false;
    const Sym *s = ir_sym(fn, op_index(use[0]));
    return s->kind == SYM_CALLPARAM && s->size == 8 && const_signed(tab_const(fn->tables, op_index(use[1]))) == 0 &&
           type_info[m->type[0]].width == W64 && access_elements(m) == 1;
}

static void find_sequences(Allocation *h)
{
    const Fn *fn = function(h);
    h->sequences = NEW_ARRAY(&h->scratch, Sequence, fn->callseqs + 1);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Sequence *s = &h->sequences[i->callseq];
            Opcode op = ir_desc(fn, i)->op;
            if (!i->callseq)
                continue;
            *(op == OP_CALL ? &s->call : op == OP_ST ? &s->argument : &s->result) = id;
            s->n++;
        }
}

typedef struct Passed {
    uint32_t results, arguments;
    SymId result, argument;  // the last of each
} Passed;

static void note_passed(void *user, bool result, uint32_t formal, Operand o)
{
    Passed *p = user;
    (void)formal;
    *(result ? &p->results : &p->arguments) += 1;
    *(result ? &p->result : &p->argument) = op_kind(o) == K_SYM ? op_index(o) : 0;
}

// True if a sequence only passes an argument to a function of the system, and takes its result if there is one.
static bool is_system_sequence(const Allocation *h, const Sequence *s, const char *name, bool result)
{
    const Fn *fn = function(h);
    Passed passed = {0};
    if (s->n != 2u + result || !s->call || !s->argument || !!s->result != result ||
        !calls_system(fn, ir_instr(fn, s->call), name) || !is_param_of_pointer(h, ir_instr(fn, s->argument)) ||
        (result && !is_param_of_pointer(h, ir_instr(fn, s->result))))
        return false;
    visit_passed(fn, ir_instr(fn, s->call), note_passed, &passed);
    return passed.arguments == 1 && passed.results == (result ? 1 : 0) &&
           op_index(*ir_use(fn, ir_instr(fn, s->argument), 0)) == passed.argument &&
           (!result || op_index(*ir_use(fn, ir_instr(fn, s->result), 0)) == passed.result);
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
    return miss(h, "AddressEscapes", "its memory is not only accessed: the address is used otherwise");
}

// Adds an edit and returns its number.
static uint32_t add_edit(Allocation *h, InstrId instr, Change change)
{
    VEC_PUSH(&h->scratch, &h->edits, ((Edit){.fn = h->fn, .instr = instr, .change = change}));
    return h->edits.n - 1;
}

// Returns the edit of an instruction of the current function; NULL = it has none.
static const Edit *edit_of(const Allocation *h, InstrId id)
{
    for (uint32_t k = 0; k < h->edits.n; k++)
        if (h->edits.at[k].fn == h->fn && h->edits.at[k].instr == id)
            return &h->edits.at[k];
    return NULL;
}

// Continues with the uses of a result.
static bool follow(Allocation *h, const Instr *i, uint32_t origin)
{
    const Fn *fn = function(h);
    Operand def = *ir_def(fn, i, 0);
    if (!op_is_reg(def) || def.mods || i->flags & IF_TIED || !reg_in_ssa(ir_reg(fn, op_index(def))) ||
        ir_reg(fn, op_index(def))->width != W64)
        return false;
    RegId r = op_index(def);
    bool joins = def_count(h->a, r) > 1;
    h->inside[r] |= origin == INSIDE;
    if (joins && origin < h->edits.n && h->edits.at[origin].change == CH_ADDRESS)
        h->edits.at[origin].change = CH_SELECT;
    if (h->followed[r]++)
        return true;
    if (joins)
        VEC_PUSH(&h->scratch, &h->joined, r);
    VEC_PUSH(&h->scratch, &h->work, ((Pointee){r, joins && origin != INSIDE ? JOINED : origin}));
    return true;
}

// True if a path leads from a block back to it.
static bool is_in_cycle(Allocation *h, BlockId from)
{
    bool *reached = NEW_ARRAY(&h->scratch, bool, function(h)->blocks.n);
    VEC(BlockId) work = {0};
    VEC_PUSH(&h->scratch, &work, from);
    while (work.n) {
        BlockId b = work.at[--work.n];
        FOR_SUCCS(h->a, b, s) {
            if (*s == from)
                return true;
            if (reached[*s])
                continue;
            reached[*s] = true;
            VEC_PUSH(&h->scratch, &work, *s);
        }
    }
    return false;
}

// Looks at a malloc whose result may be stored. False: it stays.
static bool take_malloc(Allocation *h, const Sequence *s)
{
    const Fn *fn = function(h);
    if (!is_system_sequence(h, s, "malloc", true))
        return escapes(h);
    Operand size = *ir_use(fn, ir_instr(fn, s->argument), 2);
    if (!op_is_const(size))
        return miss(h, "IndexUnknown", "malloc has no constant size");
    if (h->mallocs++ || !(fn->flags & FN_KERNEL) || is_in_cycle(h, ir_instr(fn, s->call)->block))
        return miss(h, "SeveralBlocks", "malloc may run several times");
    h->bytes = tab_const(fn->tables, op_index(size)).bits;
    if (!h->bytes)
        return miss(h, "NoMemory", "malloc gets the size 0");
    if ((h->bytes + 15) / 16 * 128 > (uint64_t)knob_int(h->g->knobs, KNOB_GLOBAL_OPT_BITS))
        return miss(h, "TooLarge", "its memory has more bits than GlobalOptMaxBits");
    add_edit(h, s->argument, CH_GONE);
    add_edit(h, s->call, CH_GONE);
    uint32_t edit = add_edit(h, s->result, CH_ADDRESS);
    return follow(h, ir_instr(fn, s->result), edit) || escapes(h);
}

// Looks at the store of a register to the variable: some malloc may define it, and all other definitions are pointers,
// too, if they are followed.
static bool take_store(Allocation *h, InstrId store)
{
    const Fn *fn = function(h);
    Operand o = *ir_use(fn, ir_instr(fn, store), 2);
    if (!op_is_reg(o) || o.mods)
        return escapes(h);
    FOR_DEFS(h->a, op_index(o), def) {
        const Instr *i = ir_instr(fn, def->instr);
        const Sequence *s = &h->sequences[i->callseq];
        if (i->callseq && s->result == def->instr && !edit_of(h, s->call) && !take_malloc(h, s))
            return false;
    }
    bool single = def_count(h->a, op_index(o)) == 1;
    add_edit(h, store, single ? CH_SET : CH_STORE);
    h->null_matters |= !single;
    VEC_PUSH(&h->scratch, &h->joined, op_index(o));
    return true;
}

static bool take_access(Allocation *h, const GlobalAccess *access)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, access->instr);
    bool whole = access->direct && !access->first && access->end == global_sym(h->g, h->v)->size;
    uint64_t value;
    if (!whole || element_bytes(fn, access) != access->end || i->flags & IF_PINNED)
        return miss(h, "AddressEscapes", "an access is not of the whole pointer");
    if (!access->writes) {
        uint32_t edit = add_edit(h, access->instr, CH_ADDRESS);
        return follow(h, i, edit) || escapes(h);
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
    if (operand != i->ndef || !op_is_const(ir_ops(fn, i)[operand + 1]) ||
        tab_const(fn->tables, op_index(ir_ops(fn, i)[operand + 1])).bits)
        return false;
    if (p->origin == JOINED) {
        VEC_PUSH(&h->scratch, &h->whole, p->reg);
        return h->null_matters = true;
    }
    if (i->ndef != 1 || m->mod[MC_BOOL] || ir_guarded(i))
        return false;
    uint32_t edit = add_edit(h, id, CH_COMPARE);
    h->edits.at[edit].of = p->origin;
    h->edits.at[p->origin].tested = true;
    return true;
}

// Looks at the value of a store.
static bool take_stored(Allocation *h, InstrId id, const Pointee *p)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, id);
    const Edit *e = edit_of(h, id);
    VEC_PUSH(&h->scratch, &h->whole, p->reg);
    if (e)
        // A load of the variable has no call sequence.
        return e->change == CH_STORE ||
               (e->change == CH_SET && p->origin < h->edits.n && ir_instr(fn, h->edits.at[p->origin].instr)->callseq);
    if (!i->callseq || !is_system_sequence(h, &h->sequences[i->callseq], "free", false))
        return false;
    add_edit(h, id, CH_GONE);
    add_edit(h, h->sequences[i->callseq].call, CH_GONE);
    return true;
}

// Looks at a use of a pointer. False: it lets the address escape.
static bool take_use(Allocation *h, const Ref *use, const Pointee *p)
{
    const Fn *fn = function(h);
    const Instr *i = ir_instr(fn, use->instr);
    const Desc *d = ir_desc(fn, i);
    if (i->flags & IF_PINNED)
        return false;
    switch (d->op) {
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
        if (use->op == i->ndef)
            return operand_is_base(fn, d, use->op) && !tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE];
        return d->op == OP_ST && p->origin != INSIDE && take_stored(h, use->instr, p);
    case OP_MOV: return follow(h, i, p->origin);
    case OP_ADD: return follow(h, i, INSIDE);
    case OP_SUB: return use->op == i->ndef && follow(h, i, INSIDE);
    case OP_SETP: return p->origin != INSIDE && take_comparison(h, use->instr, use->op, p);
    default: return false;
    }
}

// True if all definitions of a register are pointers, or moves of null.
static bool is_pointer(const Allocation *h, RegId r)
{
    const Fn *fn = function(h);
    uint32_t pointers = h->followed[r];
    FOR_DEFS(h->a, r, def) {
        const Instr *i = ir_instr(fn, def->instr);
        Operand from = ir_desc(fn, i)->op == OP_MOV ? *ir_use(fn, i, 0) : op_none();
        pointers += op_is_const(from) && !from.mods && !tab_const(fn->tables, op_index(from)).bits;
    }
    return pointers == def_count(h->a, r);
}

static bool take_uses(Allocation *h)
{
    while (h->work.n) {
        Pointee p = h->work.at[--h->work.n];
        FOR_USES(h->a, p.reg, use) {
            if (!take_use(h, use, &p))
                return escapes(h);
        }
    }
    for (uint32_t k = 0; k < h->joined.n; k++)
        if (!is_pointer(h, h->joined.at[k]))
            return escapes(h);
    for (uint32_t k = 0; k < h->whole.n; k++)
        if (h->inside[h->whole.at[k]])
            return escapes(h);
    h->joined.n = h->whole.n = 0;
    return true;
}

// Looks at the accesses of a function to the variable, the first of which is *k; sets *k to that of the next function.
static bool take_function(Allocation *h, uint32_t *k)
{
    Globals *g = h->g;
    h->fn = g->accesses.at[*k].fn;
    Fn *fn = function(h);
    if (!knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC) && (!(fn->flags & FN_KERNEL) || fn_threads(fn) != 1))
        return miss(h, "SeveralThreads", "several threads may run malloc, unless GlobalOptMalloc says otherwise");
    Arena arena;
    phase_enter(g->ctx, fn, &arena);
    h->a = analysis_need(fn, AN_CFG | AN_DEFUSE);
    h->followed = NEW_ARRAY(&h->scratch, uint32_t, fn->regs.n);
    h->inside = NEW_ARRAY(&h->scratch, bool, fn->regs.n);
    find_sequences(h);
    bool good = true;
    for (; *k && g->accesses.at[*k].fn == h->fn; *k = g->accesses.at[*k].next)
        good = good && take_access(h, &g->accesses.at[*k]);
    good = good && take_uses(h);
    global_leave(g, fn, &arena);
    return good;
}

// Returns, by function, which ones call malloc; NULL: none.
static bool *find_mallocs(Globals *g)
{
    bool *calls = NULL;
    for (uint32_t k = 0; k < g->m->fns.n; k++) {
        const Fn *fn = g->m->fns.at[k];
        if (!fn || !(fn->flags & FN_DEFINED) || !fn->callseqs)
            continue;
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id) {
                if (!calls_system(fn, ir_instr(fn, id), "malloc"))
                    continue;
                if (!calls)
                    calls = NEW_ARRAY(&g->scratch, bool, g->m->fns.n);
                calls[k] = true;
            }
    }
    return calls;
}

// True if a function that calls malloc stores a register to the variable.
static bool may_hold_malloc(const Globals *g, const Global *v, const bool *calls)
{
    FOR_ACCESSES(g, v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        const Fn *fn = g->m->fns.at[access->fn];
        if (calls[access->fn] && access->writes && access->direct &&
            op_is_reg(*ir_use(fn, ir_instr(fn, access->instr), 2)))
            return true;
    }
    return false;
}

static bool is_candidate(const Globals *g, const Global *v, const bool *calls)
{
    const Sym *s = global_sym(g, v);
    bool allowed = v->class == GV_OWN || (s->space == SP_GLOBAL && knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC));
    return allowed && !v->obstacle && !v->gone && !v->nparts && v->access && !v->ordered && s->size == 8 &&
           (!s->init || !initial_value(s, 0, 8)) && may_hold_malloc(g, v, calls);
}

/* -- Changes -------------------------------------------------------------------------------------------- */

static SymId make_part(const Allocation *h, const char *suffix, Type type, uint64_t bytes, uint32_t align)
{
    SymId id = part_new(h->g, h->v, suffix, NO_NUMBER);
    Sym *s = part_sym(h->g, h->v, id);
    s->type = (uint8_t)type;
    s->vec = 0;
    s->flags = (s->flags & ~(uint32_t)SYM_ARRAY) | SYM_ALIGNED | (bytes > 1 ? SYM_ARRAY : 0);
    s->align = align;
    s->count = s->size = bytes;
    s->init = NULL;
    return id;
}

static InstrId insert(Fn *fn, InstrId before, DescId desc, uint32_t flags, const Operand *ops, uint32_t n)
{
    InstrId id = ir_insert_before(fn, before, desc, (uint8_t)flags, ops, n);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
    return id;
}

static DescId flag_access(const Allocation *h, Fn *fn, Opcode op)
{
    return desc_with_space(fn->tables, desc_make(fn->tables, op, TY_U8), (Space)global_sym(h->g, h->v)->space);
}

// Returns a new register that is 1 if a pointer is not null, else 0.
static RegId place_test(Fn *fn, InstrId before, Operand pointer)
{
    RegId test = reg_new(fn, RF_P, W1), flag = reg_new(fn, RF_R, W16);
    insert(fn, before, desc_make(fn->tables, OP_SETP, TY_B64, .mods = {MOD_NE}), 0,
           (Operand[]){op_def(op_reg(fn, test)), pointer, op_const(fn, 0, W64)}, 3);
    insert(fn, before, desc_make(fn->tables, OP_SELP, TY_B16), 0,
           (Operand[]){op_def(op_reg(fn, flag)), op_const(fn, 1, W16), op_const(fn, 0, W16), op_reg(fn, test)}, 4);
    return flag;
}

static void store_flag(const Allocation *h, Fn *fn, const Edit *e)
{
    Operand value = op_const(fn, e->change == CH_SET, W8);
    if (e->change == CH_STORE)
        value = op_reg(fn, place_test(fn, e->instr, *ir_use(fn, ir_instr(fn, e->instr), 2)));
    const Instr *i = ir_instr(fn, e->instr);
    Operand ops[4] = {op_sym(h->flag), op_const(fn, 0, W64), value};
    uint32_t n = 3;
    if (ir_guarded(i))
        ops[n++] = *ir_guard(fn, i);
    insert(fn, e->instr, flag_access(h, fn, OP_ST), i->flags & IF_GUARDED, ops, n);
}

static RegId load_flag(const Allocation *h, Fn *fn, const Edit *e)
{
    RegId flag = reg_new(fn, RF_R, W16);
    insert(fn, e->instr, flag_access(h, fn, OP_LD), 0,
           (Operand[]){op_def(op_reg(fn, flag)), op_sym(h->flag), op_const(fn, 0, W64)}, 3);
    return flag;
}

// Places the address of the body, or null if the flag is 0.
static void place_address(const Allocation *h, Fn *fn, Edit *e)
{
    Space space = (Space)global_sym(h->g, h->v)->space;
    DescId desc = desc_with_space(fn->tables, desc_make(fn->tables, OP_CVTA_ADDR, TY_U64), space);
    bool loaded = !ir_instr(fn, e->instr)->callseq, selects = e->change == CH_SELECT && loaded && h->null_matters;
    Operand def = *ir_def(fn, ir_instr(fn, e->instr), 0), address = selects ? op_reg(fn, reg_new(fn, RF_R, W64)) : def;
    if ((e->tested || selects) && loaded)
        e->flag = load_flag(h, fn, e);
    const Instr *i = ir_instr(fn, e->instr);
    Operand ops[5] = {op_def(address), op_sym(h->body), op_const(fn, 0, W64)};
    uint32_t n = 3, flags = i->flags & IF_GUARDED;
    if (flags)
        ops[n++] = *ir_guard(fn, i);
    insert(fn, e->instr, desc, flags, ops, n);
    if (!selects)
        return;
    RegId test = reg_new(fn, RF_P, W1);
    insert(fn, e->instr, desc_make(fn->tables, OP_SETP, TY_B16, .mods = {MOD_NE}), 0,
           (Operand[]){op_def(op_reg(fn, test)), op_reg(fn, e->flag), op_const(fn, 0, W16)}, 3);
    i = ir_instr(fn, e->instr);
    Operand chosen[5] = {def, op_reg(fn, op_index(address)), op_const(fn, 0, W64), op_reg(fn, test)};
    n = 4;
    if (flags)
        chosen[n++] = *ir_guard(fn, i);
    insert(fn, e->instr, desc_make(fn->tables, OP_SELP, TY_B64), flags, chosen, n);
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
        DescId desc = desc_make(fn->tables, OP_SETP, type_make(TC_B, W16), .mods = {null ? MOD_EQ : MOD_NE});
        insert(fn, e->instr, desc, 0, (Operand[]){def, op_reg(fn, pointer->flag), op_const(fn, 0, W16)}, 3);
        return;
    }
    bool is = known ? cmp == MOD_GE || cmp == MOD_HS : !null;
    insert_move(fn, e->instr, op_index(def), op_const(fn, is, W1));
}

static void change(Allocation *h)
{
    Globals *g = h->g;
    for (uint32_t k = 0; k < h->edits.n; k++) {
        Edit *e = &h->edits.at[k];
        Fn *fn = g->m->fns.at[e->fn];
        switch (e->change) {
        case CH_GONE: break;
        case CH_ADDRESS:
        case CH_SELECT: place_address(h, fn, e); break;
        case CH_SET:
        case CH_CLEAR:
        case CH_STORE: store_flag(h, fn, e); break;
        case CH_COMPARE: place_comparison(h, fn, e); break;
        }
        g->changed[e->fn] = true;
    }
    for (uint32_t k = 0; k < h->edits.n; k++)
        ir_remove(g->m->fns.at[h->edits.at[k].fn], h->edits.at[k].instr);
}

static void replace(Allocation *h)
{
    Globals *g = h->g;
    global_remark(g, h->v, RM_PASSED, "MallocReplaced",
                  "points to memory of malloc: a variable of %llu bytes replaces it", (unsigned long long)h->bytes);
    h->body = make_part(h, ".body", TY_B8, h->bytes, 16);
    h->flag = make_part(h, ".init", TY_U8, 1, 1);
    change(h);
    global_lose_accesses(g, h->v);
    h->v->part = h->body;
    h->v->nparts = 2;
    g->again = true;
    g->ctx->module.mallocs_replaced++;
}

bool globals_replace_malloc(Globals *g)
{
    bool progress = false;
    const bool *calls = find_mallocs(g);
    for (uint32_t k = 1; k < g->at.n && calls; k++) {
        Allocation h = {.g = g, .v = &g->at.at[k]};
        if (!is_candidate(g, h.v, calls))
            continue;
        arena_init(&h.scratch, &g->ctx->heap);
        bool good = true;
        for (uint32_t access = h.v->access; access && good;)
            good = take_function(&h, &access);
        good = good && (h.mallocs || miss(&h, "AddressEscapes", "its malloc is not analyzed"));
        if (!good)
            global_remark(g, h.v, RM_MISSED, h.missed, "stays as it is: %s", h.because);
        else if (knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET)) {
            replace(&h);
            progress = true;
        }
        arena_free(&h.scratch);
    }
    return progress;
}
