// SPDX-License-Identifier: MIT
// Remarks of redundancy elimination (phases/redundancy/redundancy.h).
//
// A walk of the dominator tree explains instructions whose results have no other number. It runs only if remarks are
// collected. Each instruction is compared with the last one of the same key, if that dominates it:
//     a load                   accesses of the same bytes. MayAlias names a store that may have written them since
//     then,
//                              Barrier another instruction that may have written or ordered memory
//     a guarded instruction    the same instruction under another guard, or with other old values: Guard
//     a convergent one         the same instruction in its block, if another convergent one is between, or threads may
//                              execute different sequences of them: Convergent
// Definitions of memory are searched through at most VERSIONS_MAX versions.
#include <stdio.h>

#include "phases/manager/remarks.h"
#include "phases/redundancy/gvn.h"

enum { PLACE_KEY = 1, EXPRESSION_KEY, CONVERGENT_KEY };  // first words of keys
enum { TEXT_MAX = 100, VERSIONS_MAX = 16 };

// An instruction, or an element of an access.
typedef struct Sighting {
    InstrId instr;
    uint32_t below;  // the one before it with its key, 0 = none
} Sighting;

typedef struct Missed {
    Redundancy *r;
    ValueTable table;   // the value of an entry is the index of the last sighting of its key
    VEC(Sighting) all;  // from 1
    uint32_t *order;    // by InstrId: the number of the instruction in the walk; 0 = not visited yet
    uint32_t visited;
} Missed;

/* -- Texts ---------------------------------------------------------------------------------------------- */

// Writes the mnemonic of an instruction, and its source line if that is wanted and known.
static const char *name_of(const Fn *fn, InstrId id, bool line, char text[static TEXT_MAX])
{
    const Instr *i = ir_instr(fn, id);
    Str mnemonic = tab_str(fn->tables, tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->text);
    int n = snprintf(text, TEXT_MAX, "%.*s", (int)MIN(mnemonic.len, 60), mnemonic.text);
    if (line && i->line)
        snprintf(text + n, TEXT_MAX - (size_t)n, " in line %u", ir_line(fn, i->line)->line);
    return text;
}

static void say_guard(Redundancy *r, InstrId id, const char *text)
{
    remark(r->ctx, r->fn, id, RM_MISSED, "Guard",
           "{Instruction:%s} repeats one under another guard, or over another old value", text);
}

void redundancy_remark(Redundancy *r, InstrId id, RegId leader, Verdict verdict)
{
    if (!remarks_wanted(r->ctx))
        return;
    char text[TEXT_MAX];
    bool load = ir_desc(r->fn, ir_instr(r->fn, id))->traits & TR_READ;
    name_of(r->fn, id, false, text);
    if (verdict == RV_REPLACED && load)
        remark(r->ctx, r->fn, id, RM_PASSED, "LoadForwarded", "{Instruction:%s} reads a value that a register has",
               text);
    else if (verdict == RV_REPLACED)
        remark(r->ctx, r->fn, id, RM_PASSED, "Commoned", "{Instruction:%s} computes a value that a register has", text);
    else if (verdict == RV_PRESSURE)
        remark(r->ctx, r->fn, id, RM_MISSED, "Pressure",
               "{Instruction:%s} computes a value again that would raise the register pressure if it were kept", text);
    else if (verdict == RV_GUARD)
        say_guard(r, id, text);
    else if (verdict == RV_NOT_DOMINATED && !leader)
        remark(r->ctx, r->fn, id, RM_MISSED, "NotDominated",
               "{Instruction:%s} computes a value again that not all paths to it have computed", text);
}

/* -- Keys ----------------------------------------------------------------------------------------------- */

// Returns the last instruction with the key of length n that dominates `id`, 0 = none, and puts `id` above it. Blocks
// that do not dominate the current one dominate none of the later ones.
static InstrId take_earlier(Missed *m, uint32_t n, InstrId id)
{
    const Fn *fn = m->r->fn;
    ValueNode *node = value_table_enter(&m->table, n);
    uint32_t top = (uint32_t)node->value;
    while (top && !dominates(m->r->a, ir_instr(fn, m->all.at[top].instr)->block, ir_instr(fn, id)->block))
        top = m->all.at[top].below;
    node->value = m->all.n;
    VEC_PUSH(&m->r->scratch, &m->all, ((Sighting){id, top}));
    return m->all.at[top].instr;
}

// Makes the key of element k of an access. Returns its length.
static uint32_t make_place_key(Missed *m, const AccessPlace *place, uint32_t k, uint32_t bytes)
{
    const AccessPlaces *p = &m->r->places;
    uint32_t n = 0, *key = value_table_key(&m->table, 6);
    uint64_t offset = (uint64_t)place->offset + (uint64_t)k * bytes;
    key[n++] = PLACE_KEY;
    key[n++] = p->representative(p->user, place->root).word;
    key[n++] = (uint32_t)offset;
    key[n++] = (uint32_t)(offset >> 32);
    key[n++] = bytes;
    key[n++] = place->space;
    return n;
}

// Makes the key of an instruction without its guard and old values. Returns its length; 0 = an operand has no number.
static uint32_t make_key(Missed *m, const Instr *i, uint32_t kind)
{
    const Redundancy *r = m->r;
    uint32_t n = 0, *key = value_table_key(&m->table, 2 * i->nops + 3);
    key[n++] = kind;
    key[n++] = desc_value(r->fn, i);
    key[n++] = kind == CONVERGENT_KEY ? i->block : 0;
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        Operand o = *ir_use(r->fn, i, k);
        key[n++] = value_number(&r->values, o);
        key[n++] = o.mods;
        if (!key[n - 2])
            return 0;
    }
    return n;
}

/* -- Loads ---------------------------------------------------------------------------------------------- */

// True if an instruction is `other`, or runs before it on all paths.
static bool runs_before(const Missed *m, InstrId id, InstrId other)
{
    const Fn *fn = m->r->fn;
    return m->order[id] && m->order[id] <= m->order[other] &&
           dominates(m->r->a, ir_instr(fn, id)->block, ir_instr(fn, other)->block);
}

// Adds the inputs of a phi to n versions that will be visited. Returns their number.
static uint32_t add_inputs(const MemVersions *memory, const MemVersion *phi, MemVersionId *work, uint32_t n)
{
    for (uint32_t k = 0; k < phi->n && n < VERSIONS_MAX; k++) {
        MemVersionId input = memory->input[phi->inputs + k];
        uint32_t same = 0;
        while (same < n && work[same] != input)
            same++;
        if (input != MEM_UNKNOWN && same == n)
            work[n++] = input;
    }
    return n;
}

// Returns the definition of memory that may have changed the bytes of a load since `earlier`; 0 = none is found.
static InstrId find_clobber(Missed *m, InstrId load, InstrId earlier, MemVersionKind *kind)
{
    Redundancy *r = m->r;
    MemVersionId work[VERSIONS_MAX] = {mem_version_of_load(r->memory, load)};
    for (uint32_t k = 0, n = 1; k < n; k++) {
        MemVersionId v = mem_clobber(r->memory, &r->places, load, work[k]);
        if (v == MEM_CONSTANT || v == MEM_UNKNOWN)
            continue;
        const MemVersion *version = mem_version(r->memory, v);
        *kind = (MemVersionKind)version->kind;
        if (version->def && !runs_before(m, version->def, earlier))
            return version->def;
        if (*kind == MV_PHI)
            n = add_inputs(r->memory, version, work, n);
    }
    return 0;
}

static void explain_load(Missed *m, InstrId id, InstrId earlier)
{
    Redundancy *r = m->r;
    char text[TEXT_MAX], between[TEXT_MAX];
    MemVersionKind kind;
    InstrId def = find_clobber(m, id, earlier, &kind);
    name_of(r->fn, id, false, text);
    if (def && kind == MV_STORE)
        remark(r->ctx, r->fn, id, RM_MISSED, "MayAlias",
               "{Instruction:%s} reads memory again that {Store:%s} may write", text,
               name_of(r->fn, def, true, between));
    else if (def)
        remark(r->ctx, r->fn, id, RM_MISSED, "Barrier",
               "{Instruction:%s} reads memory again that {Between:%s} may write or order", text,
               name_of(r->fn, def, true, between));
    else if (ir_guarded(ir_instr(r->fn, id)) || ir_guarded(ir_instr(r->fn, earlier)))
        say_guard(r, id, text);
}

// Notes the bytes of an access. Returns the last access of some of these bytes, by an element of this size. A guarded
// store may leave the bytes as they are.
static InstrId note_access(Missed *m, InstrId id)
{
    Redundancy *r = m->r;
    AccessPlace place = access_place_of(&r->places, id);
    InstrId earlier = 0;
    const Instr *i = ir_instr(r->fn, id);
    if (!place.bytes || (!i->ndef && ir_guarded(i)))
        return 0;
    uint32_t elements = access_elements(tab_mnem(r->fn->tables, ir_desc(r->fn, i)->mnem));
    for (uint32_t k = 0; k < elements; k++) {
        InstrId found = take_earlier(m, make_place_key(m, &place, k, place.bytes / elements), id);
        earlier = earlier ? earlier : found;
    }
    return earlier;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static void visit_access(Missed *m, InstrId id, bool candidate)
{
    InstrId earlier = note_access(m, id);
    const MemVersions *memory = m->r->memory;  // NULL: no load was numbered
    MemVersionId version = memory ? mem_version_of_load(memory, id) : MEM_UNKNOWN;
    if (earlier && !candidate && version != MEM_CONSTANT && version != MEM_UNKNOWN)
        explain_load(m, id, earlier);
}

static void visit_convergent(Missed *m, InstrId id, bool candidate)
{
    Redundancy *r = m->r;
    char text[TEXT_MAX];
    uint32_t n = make_key(m, ir_instr(r->fn, id), CONVERGENT_KEY);
    if (!n || !take_earlier(m, n, id) || candidate)
        return;
    const char *name = name_of(r->fn, id, false, text);
    if (redundancy_all_run_same(r))
        remark(r->ctx, r->fn, id, RM_MISSED, "Convergent",
               "{Instruction:%s} repeats an earlier one, and another convergent instruction is between", name);
    else
        remark(r->ctx, r->fn, id, RM_MISSED, "Convergent",
               "{Instruction:%s} repeats an earlier one, but other lanes may pair it with one in another place", name);
}

static void visit_expression(Missed *m, InstrId id, bool candidate)
{
    const Fn *fn = m->r->fn;
    char text[TEXT_MAX];
    const Instr *i = ir_instr(fn, id);
    uint32_t n = make_key(m, i, EXPRESSION_KEY);
    InstrId earlier = n ? take_earlier(m, n, id) : 0;
    if (earlier && !candidate && (ir_guarded(i) || ir_guarded(ir_instr(fn, earlier))))
        say_guard(m->r, id, name_of(fn, id, false, text));
}

static void visit(Missed *m, InstrId id, bool candidate)
{
    const Redundancy *r = m->r;
    const Instr *i = ir_instr(r->fn, id);
    const Desc *d = ir_desc(r->fn, i);
    bool enhanced = gvn_caps(r->ctx) & SM_CAP_ENHANCED_CSE;
    if (d->traits & (TR_READ | TR_WRITE) && r->rules->kinds & RD_LOADS)
        visit_access(m, id, candidate);
    else if (d->traits & TR_CONV && r->rules->kinds & RD_CONVERGENT && gvn_class(r->fn, i, enhanced) == GC_CONVERGENT)
        visit_convergent(m, id, candidate);
    else if (d->op != OP_PHI && value_is_expression(r->fn, i))
        visit_expression(m, id, candidate);
}

void redundancy_explain(Redundancy *r)
{
    Missed m = {.r = r, .order = NEW_ARRAY(&r->scratch, uint32_t, r->fn->instrs.n)};
    uint32_t next = 0;
    value_table_init(&m.table, &r->scratch);
    VEC_PUSH(&r->scratch, &m.all, (Sighting){0});
    for (uint32_t k = 0; k < r->a->nrpo; k++)
        FOR_INSTRS(r->fn, r->a->dom.order[k], id) {
            bool candidate = next < r->candidates.n && r->candidates.at[next] == id;
            next += candidate;
            m.order[id] = ++m.visited;
            visit(&m, id, candidate);
        }
}
