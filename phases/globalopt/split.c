// SPDX-License-Identifier: MIT
// Splits variables into fields (SRA).
//
// Strategy B of GlobalOpt (row 163), for `.shared` variables of the module and its functions, and for internal
// variables that have no initial value or are larger than GlobalOptMaxBits. A field is a set of consecutive bytes that
// accesses connect: a vector access connects its elements, an unknown index all that it may reach. There must be at
// least two such sets, and at most GlobalOptMaxFields that something reads. Each becomes a variable NAME.f0, NAME.f1,
// ... in the same space, aligned as its offset in NAME. Bytes that nothing reads get no variable: their stores go.
//
//     shared @s align 8 size 16                             shared @s.f0 align 8 size 4
//     st.shared.b32 [@s], R1                                st.shared.b32 [@s.f0], R1
//     st.shared.b32 [@s+4], R2                      ->      (gone: nothing reads these bytes)
//     R3 = ld.shared.b32 [@s]                               R3 = ld.shared.b32 [@s.f0]
//     R4 = mov.b32 @s; R5 = add.s32 R4, R9                  R4 = mov.b32 @s.f1; R5 = add.s32 R4, R9
//     R6 = ld.shared.b32 [R5+8]                             R6 = ld.shared.b32 [R5]
//
// Exact accesses name the field. The other ones of a function keep their base. So their sets are connected, too, each
// instruction that takes the address of the variable takes that of this one field, and the accesses subtract its
// offset. All addresses of the function move alike, so comparisons between them give the same results. None lies below
// the field, where a 32-bit address could wrap around, since .shared begins at 0.
//
// Values are not forwarded: other threads access the same fields, and barriers order them as before.
//
// Must not fire:
//     shared @s visible, extern shared @s[]          other code names it
//     its address is stored or passed                other code accesses it
//     ld.shared.b64 [@s+4], @s aligned to 4          the access may be aligned only by the place of the variable
//
// Documented: the strategy, its limits, names. Inferred: fields, since PTX has no types of structures.
#include "phases/globalopt/globalopt.h"

typedef struct Split {
    Globals *g;
    const Global *v;
    Arena scratch;
    VEC(Field) fields;  // ascending
    uint32_t nread;
} Split;

/* -- Fields --------------------------------------------------------------------------------------------- */

// Returns the alignment that an access needs.
static uint32_t needed_align(const Fn *fn, const Instr *i)
{
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    return width_bits(type_info[m->type[0]].width) / 8u * access_elements(m);
}

// True if an access is aligned wherever the variable lies.
static bool is_aligned(const Sym *s, const GlobalAccess *access, uint32_t align)
{
    return s->align % align == 0 && (!access->exact || access->first % align == 0);
}

// Finds the fields. False: an access may be unaligned.
static bool find_fields(Split *s)
{
    const Globals *g = s->g;
    const Sym *sym = global_sym(g, s->v);
    Field moved = {0};
    uint32_t fn = UINT32_MAX;
    FOR_ACCESSES(g, s->v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        const Fn *of = g->m->fns.at[access->fn];
        uint32_t align = needed_align(of, ir_instr(of, access->instr));
        Field field = {access->first, access->end, align, access->reads || access->ordered, 0};
        if (!is_aligned(sym, access, align))
            return false;
        if (!access->direct) {
            if (fn != access->fn && fn != UINT32_MAX)
                VEC_PUSH(&s->scratch, &s->fields, moved);
            if (fn != access->fn)
                moved = field;
            fn = access->fn;
            moved.first = MIN(moved.first, field.first);
            moved.end = MAX(moved.end, field.end);
            moved.align = MAX(moved.align, align);
            moved.read |= field.read;
        }
        VEC_PUSH(&s->scratch, &s->fields, field);
    }
    if (fn != UINT32_MAX)
        VEC_PUSH(&s->scratch, &s->fields, moved);
    s->fields.n = fields_merge(s->fields.at, s->fields.n);
    for (uint32_t k = 0; k < s->fields.n; k++)
        s->nread += s->fields.at[k].read;
    return true;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

// Returns the initial value of a field in memory of the module or function that declares it; NULL = it has none.
static Init *initial_bytes(const Split *s, const Field *f, const Init *from)
{
    if (!from || from->size <= f->first)
        return NULL;
    Arena *arena = s->v->owner ? &s->g->m->fns.at[s->v->owner - 1]->arena : &s->g->m->arena;
    Init *init = arena_copy(arena, from, sizeof *from);
    init->bytes = from->bytes + f->first;
    init->size = MIN(from->size, f->end) - f->first;
    init->braces = true;
    return init;
}

// Makes the variable of a field.
static void make_variable(Split *s, Field *f, uint32_t number)
{
    f->sym = part_new(s->g, s->v, ".f", number);
    Sym *sym = part_sym(s->g, s->v, f->sym);
    uint64_t element = sym->size / sym->count, align = MAX(sym->align, 1u);
    while (f->first % align && !s->v->masked)
        align /= 2;
    sym->size = f->end - f->first;
    if (f->first % element || sym->size % element) {
        sym->type = TY_B8;
        sym->vec = 0;
        element = 1;
    }
    sym->count = sym->size / element;
    sym->align = MAX((uint32_t)align, f->align);
    sym->flags |= SYM_ALIGNED | SYM_ARRAY;
    sym->init = initial_bytes(s, f, sym->init);
}

// Makes the variables of the fields, with consecutive ids; returns the first one.
static SymId make_variables(Split *s)
{
    SymId first = 0;
    uint32_t number = 0;
    for (uint32_t k = 0; k < s->fields.n; k++)
        if (s->fields.at[k].read) {
            make_variable(s, &s->fields.at[k], number++);
            first = first ? first : s->fields.at[k].sym;
        }
    return first;
}

/* -- Code ----------------------------------------------------------------------------------------------- */

// Makes an instruction that names the variable name a field.
static void move_address(const Split *s, const Naming *at, const Field *f)
{
    Fn *fn = s->g->m->fns.at[at->fn];
    Operand *use = ir_use(fn, ir_instr(fn, at->instr), 0);
    if (op_kind(use[0]) != K_SYM || op_index(use[0]) != s->v->sym)
        return;
    use[0] = op_sym(f->sym);
    s->g->changed[at->fn] = true;
}

static void change_access(const Split *s, const GlobalAccess *access)
{
    Fn *fn = s->g->m->fns.at[access->fn];
    Instr *i = ir_instr(fn, access->instr);
    const Field *f = field_at(s->fields.at, s->fields.n, access->first);
    s->g->changed[access->fn] = true;
    if (!f->sym) {
        ir_remove(fn, access->instr);
        return;
    }
    if (!access->direct) {
        uint64_t offset = (uint64_t)const_signed(tab_const(fn->tables, op_index(*ir_use(fn, i, 1))));
        *ir_use(fn, i, 1) = op_const(fn, offset - f->first, W64);
        return;
    }
    instr_set_desc(fn, i, access->direct);
    *ir_use(fn, i, 0) = op_sym(f->sym);
    *ir_use(fn, i, 1) = op_const(fn, access->first - f->first, W64);
}

// Changes all functions. Accesses and namings are in the order of the functions.
static void change_code(const Split *s)
{
    const Globals *g = s->g;
    const Field *any = NULL;
    for (uint32_t k = 0; k < s->fields.n && !any; k++)
        any = s->fields.at[k].sym ? &s->fields.at[k] : NULL;
    for (uint32_t n = s->v->naming, a = s->v->access; n;) {
        uint32_t fn = g->namings.at[n].fn;
        const Field *moved = any;
        for (; a && g->accesses.at[a].fn == fn; a = g->accesses.at[a].next) {
            const Field *f = field_at(s->fields.at, s->fields.n, g->accesses.at[a].first);
            moved = !g->accesses.at[a].direct && f->sym ? f : moved;
            change_access(s, &g->accesses.at[a]);
        }
        for (; n && g->namings.at[n].fn == fn; n = g->namings.at[n].next)
            if (moved)
                move_address(s, &g->namings.at[n], moved);
    }
}

/* -- The strategy --------------------------------------------------------------------------------------- */

static bool is_candidate(Globals *g, const Global *v)
{
    const Sym *s = global_sym(g, v);
    bool large = padded_bits(s) > (uint64_t)knob_int(g->knobs, KNOB_GLOBAL_OPT_BITS);
    return !v->obstacle && v->access && (v->class == GV_OWN || !s->init || large);
}

// True if the fields are worth a variable each.
static bool is_divided(Split *s)
{
    int64_t most = knob_int(s->g->knobs, KNOB_GLOBAL_OPT_FIELDS);
    if (s->nread > most)
        global_remark(s->g, s->v, RM_MISSED, "TooManyFields", "has %u fields, more than GlobalOptMaxFields", s->nread);
    return s->nread <= most && (s->fields.n > 1 || !s->nread);
}

static void report(const Split *s, uint64_t bytes)
{
    if (s->nread)
        global_remark(s->g, s->v, RM_PASSED, "Split", "is split into %u: %llu bytes instead of %llu", s->nread,
                      (unsigned long long)bytes, (unsigned long long)global_sym(s->g, s->v)->size);
    else
        global_remark(s->g, s->v, RM_PASSED, "DeadVariable", "is only written: its stores are removed");
}

static bool split(Globals *g, Global *v)
{
    Split s = {.g = g, .v = v};
    arena_init(&s.scratch, &g->ctx->heap);
    bool progress = find_fields(&s) && is_divided(&s) && knob_spend(g->knobs, KNOB_GLOBAL_OPT_BUDGET);
    if (progress) {
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < s.fields.n; k++)
            bytes += s.fields.at[k].read ? s.fields.at[k].end - s.fields.at[k].first : 0;
        report(&s, bytes);
        v->part = make_variables(&s);
        v->nparts = s.nread;
        v->gone = s.nread;
        change_code(&s);
        if (!s.nread)
            global_lose_accesses(g, v);
        g->again |= global_sym(g, v)->init != NULL;  // a field may keep its value
        g->fields |= s.nread > 0;
        g->ctx->module.variables_split += s.nread > 0;
    }
    arena_free(&s.scratch);
    return progress;
}

bool globals_split(Globals *g)
{
    bool progress = false;
    if (!knob_int(g->knobs, KNOB_GLOBAL_OPT_SRA))
        return false;
    for (uint32_t k = 1; k < g->at.n; k++)
        if (is_candidate(g, &g->at.at[k]))
            progress |= split(g, &g->at.at[k]);
    return progress;
}
