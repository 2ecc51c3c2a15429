// SPDX-License-Identifier: MIT
// Replaces loads of variables that keep their initial values by constants.
//
// Strategy A of GlobalOpt (row 163), for internal variables with an initial value, of at most GlobalOptMaxBits bits
// with the padding to their alignment. The variable keeps its value if each store to it stores what it holds. Then each
// load from a known offset is a constant, and these stores go. If no other access is left, the variable goes with them.
//
//     const @limits align 4 size 8 = { .b32 10, 20 }
//     R1 = ld.const.b32 [@limits+4]                 ->      R1 = mov.b32 20
//     {R2, R3} = ld.const.v2.b32 [@limits]          ->      R2 = mov.b32 10; R3 = mov.b32 20
//
// Must not fire:
//     global @x = 1, not internalized               the host may write it
//     ld.volatile.global.b32 [@x]                   something else writes it
//     st.global.b32 [@x], R1                        it has no constant value
//     ld.const.b32 [R1], R1 = @limits + R2          the index is unknown: this load stays, and so does the variable
//     global @x, without an initial value           strategy B takes it
//
// Documented: the strategy, its limit, names. Inferred: that stores of the value are permitted, as in LLVM.
#include "phases/globalopt/globalopt.h"

uint64_t initial_value(const Sym *s, uint64_t first, uint32_t bytes)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < bytes && first + k < s->init->size; k++)
        bits |= (uint64_t)s->init->bytes[first + k] << 8 * k;
    return bits;
}

static Type element_type(const Fn *fn, const Instr *i)
{
    return (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
}

uint32_t element_bytes(const Fn *fn, const GlobalAccess *access)
{
    return width_bits(type_info[element_type(fn, ir_instr(fn, access->instr))].width) / 8;
}

bool stored_constant(Fn *fn, const GlobalAccess *access, uint32_t k, uint64_t *value)
{
    const Instr *i = ir_instr(fn, access->instr);
    uint32_t bytes = element_bytes(fn, access);
    if (!access->exact || ir_desc(fn, i)->op != OP_ST || bytes > 8 || 2 + k >= ir_nuse(i))
        return false;
    Operand o = constant_operand(fn, *ir_use(fn, i, 2 + k));
    if (!op_is_const(o) || o.mods)
        return false;
    uint32_t unused = 64 - 8 * bytes;
    *value = tab_const(fn->tables, op_index(o)).bits << unused >> unused;
    return true;
}

// True if a store writes constants that the variable has there anyway.
static bool stores_initial_value(const Globals *g, const Sym *s, const GlobalAccess *access)
{
    Fn *fn = g->m->fns.at[access->fn];
    uint32_t bytes = element_bytes(fn, access), n = (uint32_t)(access->end - access->first) / bytes;
    uint64_t value;
    for (uint32_t k = 0; k < n; k++)
        if (!stored_constant(fn, access, k, &value) || value != initial_value(s, access->first + k * bytes, bytes))
            return false;
    return true;
}

uint64_t padded_bits(const Sym *s)
{
    uint64_t align = MAX(s->align, 1u);
    return (s->size + align - 1) / align * align * 8;
}

static bool keeps_value(Globals *g, const Global *v)
{
    const Sym *s = global_sym(g, v);
    if (v->obstacle || v->class != GV_INTERNAL || !s->init)
        return false;
    if (v->ordered) {
        global_remark(g, v, RM_MISSED, "Ordered", "has a volatile, atomic or ordered access");
        return false;
    }
    if (padded_bits(s) > (uint64_t)knob_int(g->knobs, KNOB_GLOBAL_OPT_BITS)) {
        global_remark(g, v, RM_MISSED, "TooLarge", "has more bits than GlobalOptMaxBits");
        return false;
    }
    FOR_ACCESSES(g, v, k)
    if (g->accesses.at[k].writes && !stores_initial_value(g, s, &g->accesses.at[k]))
        return false;
    return true;
}

bool load_is_replaceable(const Fn *fn, const Instr *i)
{
    Type type = element_type(fn, i);
    uint32_t bits = width_bits(type_info[type].width);
    if ((ir_desc(fn, i)->op != OP_LD && ir_desc(fn, i)->op != OP_LDU) || bits < 8 || bits > 64 || i->flags & IF_PINNED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand o = *ir_def(fn, i, k);
        if (op_kind(o) == K_NONE)
            continue;
        const Reg *r = op_is_reg(o) ? ir_reg(fn, op_index(o)) : NULL;
        if (!r || r->file != RF_R || r->width > W64 || r->width < type_info[type].width || !reg_in_ssa(r))
            return false;
    }
    return i->ndef;
}

static void replace_load(Globals *g, const Sym *s, const GlobalAccess *access)
{
    Fn *fn = g->m->fns.at[access->fn];
    const Instr *i = ir_instr(fn, access->instr);
    Type type = element_type(fn, i);
    uint32_t bytes = element_bytes(fn, access), n = i->ndef;
    for (uint32_t k = 0; k < n; k++) {
        i = ir_instr(fn, access->instr);
        Operand def = *ir_def(fn, i, k);
        if (op_kind(def) == K_NONE)
            continue;
        AccessMove move = {.dst = {def.word & INT32_MAX, 0},
                           .src = op_const(fn, initial_value(s, access->first + k * bytes, bytes), W64),
                           .bytes = bytes,
                           .is_signed = type_info[type].class == TC_S,
                           .tail = tail_of(fn, i, k)};
        insert_access_move(fn, access->instr, &move);
    }
    ir_remove(fn, access->instr);
}

// Counts the loads that constants replace; returns the number of the others.
static uint32_t count_loads(const Globals *g, const Global *v, uint32_t *replaced)
{
    uint32_t left = 0;
    *replaced = 0;
    FOR_ACCESSES(g, v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        const Fn *fn = g->m->fns.at[access->fn];
        if (access->writes)
            continue;
        bool constant = access->exact && load_is_replaceable(fn, ir_instr(fn, access->instr));
        *(constant ? replaced : &left) += 1;
    }
    return left;
}

static void place(Globals *g, const Global *v)
{
    const Sym *s = global_sym(g, v);
    FOR_ACCESSES(g, v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        Fn *fn = g->m->fns.at[access->fn];
        if (access->writes)
            ir_remove(fn, access->instr);
        else if (access->exact && load_is_replaceable(fn, ir_instr(fn, access->instr)))
            replace_load(g, s, access);
        g->changed[access->fn] = true;
    }
}

bool globals_place_constants(Globals *g)
{
    bool progress = false;
    for (uint32_t k = 1; k < g->at.n; k++) {
        Global *v = &g->at.at[k];
        if (!keeps_value(g, v))
            continue;
        uint32_t loads, left = count_loads(g, v, &loads);
        if (left)
            global_remark(g, v, RM_MISSED, "IndexUnknown", "keeps its initial value, but %u loads have no known offset",
                          left);
        if (v->naccesses == left || !knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET))
            continue;
        global_remark(g, v, RM_PASSED, "ConstantPromoted", "keeps its initial value: %u loads become constants", loads);
        place(g, v);
        if (left)
            v->access = v->last = 0;  // the list has removed instructions; the next round finds the others
        else
            global_lose_accesses(g, v);
        g->ctx->module.variables_promoted++;
        progress = true;
    }
    return progress;
}
