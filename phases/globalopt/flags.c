// SPDX-License-Identifier: MIT
// Replaces a variable that holds one of two constants by a flag.
//
// Strategy A of GlobalOpt (row 163), for internal variables with an initial value that are stored one other constant
// besides. The variable becomes NAME.body, which keeps the initial value, and NAME.init, a byte that is 1 after a store
// of the other value, and 0 after a store of the initial one. A load selects by the flag; its result has the name
// NAME.val. In the next round the load of NAME.body becomes a constant (constants.c).
//
//     global @mode: .u32 = 3                         global @mode.body: .u32 = 3; global @mode.init: .u8
//     st.global.u32 [@mode], 7                       st.global.u8 [@mode.init], 1
//     R1 = ld.global.u32 [@mode]             ->      R2 = ld.global.u8 [@mode.init]
//                                                    R3 = ld.global.u32 [@mode.body]
//                                                    P0 = setp.ne.b16 R2, 0
//                                                    R1 = selp.b32 7, R3, P0
//
// Threads may race: a load sees the flag of some store, as it saw the value of this store before.
//
// Off by default (GlobalOptFlags): the load of a byte, a comparison and a select take more instructions than the load
// of the value, and no memory is saved where it counts.
//
// Must not fire:
//     stores of two other values, or of a register    there is no flag for them
//     ld.global.u8 [@mode+1], a vector, a structure   no access of the whole value
//     volatile and atomic accesses                    something else accesses the variable
//
// Documented: the strategy, names, the limit. Inferred: the flag as a byte. Does not do: comparisons of the loaded
// value without a select.
#include "phases/globalopt/globalopt.h"

// A variable with two values.
typedef struct Flag {
    Globals *g;
    Global *v;
    uint32_t bytes;
    uint64_t initial, other;
    VEC(bool) sets;  // by store, in the order of accesses: it writes the other value
    SymId body, flag;
} Flag;

/* -- Conditions ----------------------------------------------------------------------------------------- */

// Finds the two values. False: there are more, or an access is of another kind.
static bool find_values(Flag *f)
{
    const Globals *g = f->g;
    const Sym *s = global_sym(g, f->v);
    bool stored = false, loaded = false;
    f->bytes = (uint32_t)s->size;
    f->initial = initial_value(s, 0, f->bytes);
    FOR_ACCESSES(g, f->v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        Fn *fn = g->m->fns.at[access->fn];
        uint64_t value;
        if (!access->direct || access->first || access->end != s->size || element_bytes(fn, access) != f->bytes)
            return false;
        if (!access->writes) {
            const Instr *i = ir_instr(fn, access->instr);
            Operand def = i->ndef ? *ir_def(fn, i, 0) : op_none();
            bool narrow = op_is_reg(def) && ir_reg(fn, op_index(def))->width == W8;  // there is no selp.b8
            loaded = true;
            if (!load_is_replaceable(fn, i) || narrow)
                return false;
            continue;
        }
        if (!stored_constant(fn, access, 0, &value))
            return false;
        if (value != f->initial && stored && value != f->other)
            return false;
        if (value != f->initial) {
            f->other = value;
            stored = true;
        }
        VEC_PUSH(&f->g->scratch, &f->sets, value != f->initial);
    }
    return stored && loaded;
}

static bool is_candidate(const Globals *g, const Global *v)
{
    const Sym *s = global_sym(g, v);
    return !v->obstacle && v->class == GV_INTERNAL && !v->owner && !v->gone && s->init && !v->ordered && v->access &&
           s->size <= 8 && padded_bits(s) <= (uint64_t)knob_int(g->knobs, KNOB_GLOBAL_OPT_BITS);
}

/* -- Changes -------------------------------------------------------------------------------------------- */

static void change_store(const Flag *f, const GlobalAccess *access, bool sets)
{
    Fn *fn = f->g->m->fns.at[access->fn];
    insert_beside(fn, access->instr, flag_access(f->g, f->v, fn, OP_ST),
                  (Operand[]){op_sym(f->flag), op_const(fn, 0, W64), op_const(fn, sets, W8)}, 3, true);
    ir_remove(fn, access->instr);
}

static void change_load(const Flag *f, const GlobalAccess *access)
{
    Fn *fn = f->g->m->fns.at[access->fn];
    InstrId at = access->instr;
    Operand def = *ir_def(fn, ir_instr(fn, at), 0);
    if (op_kind(def) == K_NONE) {
        ir_remove(fn, at);
        return;
    }
    RegId flag = reg_new(fn, RF_R, W16), body = reg_like(fn, op_index(def)), test = reg_new(fn, RF_P, W1);
    part_show(f->g, f->v, fn, op_index(def), ".val", NO_NUMBER);
    Width width = (Width)ir_reg(fn, op_index(def))->width;
    const Instr *i = ir_instr(fn, at);
    Type type = (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
    Tail tail = tail_of(fn, i, 0);
    Operand zero = op_const(fn, 0, W64);
    insert_beside(fn, at, flag_access(f->g, f->v, fn, OP_LD),
                  (Operand[]){op_def(op_reg(fn, flag)), op_sym(f->flag), zero}, 3, false);
    insert_beside(fn, at, access->direct, (Operand[]){op_def(op_reg(fn, body)), op_sym(f->body), zero}, 3, false);
    insert_beside(fn, at, desc_make(fn->tables, OP_SETP, type_make(TC_B, W16), .mods = {MOD_NE}),
                  (Operand[]){op_def(op_reg(fn, test)), op_reg(fn, flag), op_const(fn, 0, W16)}, 3, false);
    Operand other = extended_constant(fn, op_const(fn, f->other, W64), f->bytes, type_info[type].class == TC_S, width);
    Operand ops[6] = {def, other, op_reg(fn, body), op_reg(fn, test)};
    uint32_t n = 4;
    if (tail.flags & IF_TIED)
        ops[n++] = tail.old;
    if (tail.flags & IF_GUARDED)
        ops[n++] = tail.guard;
    InstrId id = ir_insert_before(fn, at, desc_make(fn->tables, OP_SELP, type_make(TC_B, width)), tail.flags, ops, n);
    ir_instr(fn, id)->line = ir_instr(fn, at)->line;
    ir_remove(fn, at);
}

static void replace(Flag *f)
{
    Globals *g = f->g;
    global_remark(g, f->v, RM_PASSED, "ConstantPromoted", "holds one of two values: a flag replaces it");
    f->body = part_new(g, f->v, ".body", NO_NUMBER);
    f->flag = flag_new(g, f->v);
    uint32_t store = 0;
    FOR_ACCESSES(g, f->v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        if (access->writes)
            change_store(f, access, f->sets.at[store++]);
        else
            change_load(f, access);
        g->changed[access->fn] = true;
    }
    global_lose_accesses(g, f->v);
    f->v->part = f->body;
    f->v->nparts = 2;
    g->again = true;
    g->ctx->module.variables_promoted++;
}

bool globals_make_flags(Globals *g)
{
    bool progress = false;
    if (!knob_is_set(g->knobs, KNOB_GLOBAL_OPT_FLAGS))
        return false;
    for (uint32_t k = 1; k < g->at.n; k++) {
        Flag f = {.g = g, .v = &g->at.at[k]};
        if (!is_candidate(g, f.v) || !find_values(&f) || !knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET))
            continue;
        replace(&f);
        progress = true;
    }
    return progress;
}
