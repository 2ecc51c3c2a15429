// SPDX-License-Identifier: MIT
// Makes the remarks of promotion: for each variable the promoted bytes, the bytes that stay in memory, and the reason.
#include "phases/manager/remarks.h"
#include "phases/memory/promote_memory.h"

/* -- Remarks -------------------------------------------------------------------------------------------- */

// The reason why an access stays in memory; WHY_NOT = it is promoted.
typedef enum { WHY_NOT, WHY_ORDERED, WHY_INDEX, WHY_BOUNDS, WHY_MISALIGNED, WHY_KIND, WHY_PARTLY, WHYS } Why;

// The accesses to a variable.
typedef struct Tally {
    uint32_t n[WHYS], all, stores;  // stores: only promoted ones
    InstrId first[WHYS], any;
    int64_t lo, end;  // range of bytes that accesses with unknown indices may reach
} Tally;

static Why why_in_memory(const Promotion *p, uint32_t k)
{
    const MemAccess *access = &p->pointers->accesses.at[k];
    const Direct *direct = &p->direct[k];
    const Desc *d = ir_desc(p->fn, ir_instr(p->fn, access->instr));
    if (direct->promotable)
        return stays_in_memory(direct) ? WHY_PARTLY : WHY_NOT;
    uint64_t size = (uint64_t)direct->bytes * direct->n;
    if (d->traits & TR_ORDERED || d->op == OP_ATOM || d->op == OP_RED)
        return WHY_ORDERED;
    if (!pointer_is_exact(access->at))
        return WHY_INDEX;
    if (access->at->lo < 0 || direct->offset + size > direct->variable->size)
        return WHY_BOUNDS;
    return size && direct->offset % size ? WHY_MISALIGNED : WHY_KIND;
}

static Tally *tally_accesses(Promotion *p)
{
    Tally *tallies = NEW_ARRAY(&p->scratch, Tally, p->fn->syms.n);
    for (uint32_t k = 0; k < p->pointers->accesses.n; k++) {
        const MemAccess *access = &p->pointers->accesses.at[k];
        Tally *t = &tallies[local_symbol(access->at->sym)];
        t->any = t->any ? t->any : access->instr;
        if (!p->variables || !variable_of(p, access))
            continue;
        Why why = why_in_memory(p, k);
        if (why == WHY_INDEX) {
            t->lo = t->n[why] ? MIN(t->lo, access->at->lo) : access->at->lo;
            t->end = MAX(t->end, end_of_access(p, access));
        }
        t->first[why] = t->n[why]++ ? t->first[why] : access->instr;
        t->all++;
        t->stores += why == WHY_NOT && ir_desc(p->fn, ir_instr(p->fn, access->instr))->op == OP_ST;
    }
    return tallies;
}

// Returns a description of the use by which the address of a variable escapes.
static const char *what_becomes(Promotion *p, uint32_t variable)
{
    InstrId id = p->escaped[variable];
    if (id == ESCAPED_BY_DATA)
        return "is in the initial value of a variable";
    const Instr *i = ir_instr(p->fn, id);
    const Desc *d = ir_desc(p->fn, i);
    uint32_t k = i->ndef, end = i->ndef + ir_nuse(i);
    for (; k < end; k++) {
        Operand o = ir_ops(p->fn, i)[k];
        SymId sym = op_kind(o) == K_SYM ? op_index(o) : op_is_reg(o) ? pointer_of(p->pointers, id, k).sym : 0;
        if (local_symbol(sym) == variable)
            break;
    }
    if (k == end || d->op == OP_PHI || d->op == OP_SELP)
        return "is one of several possible addresses of an access";
    if (d->op == OP_CALL)
        return "is passed to a call";
    if (!(d->traits & (TR_READ | TR_WRITE)))
        return d->op == OP_SETP ? "is compared" : "is an operand of arithmetic";
    if (k == i->ndef)
        return "is used in another state space";
    bool param = mod_space((Mod)tab_mnem(p->fn->tables, d->mnem)->mod[MC_SPACE]) == SP_PARAM;
    return param ? "is an argument or a result of a call" : "is stored to memory";
}

// Reports a variable that stays in memory as a whole. False: parts of it are promoted.
static bool say_whole(Ctx *ctx, Promotion *p, uint32_t variable, InstrId access, const char *name)
{
    const Sym *sym = ir_sym(p->fn, variable | SYM_LOCAL);
    InstrId escaped = p->escaped[variable];
    if (sym->init)
        remark(ctx, p->fn, access, RM_MISSED, "InitializedData", "{Variable:%s} stays in memory: it is initialized",
               name);
    else if (sym->size > promotion_limit(p))
        remark(ctx, p->fn, access, RM_MISSED, "TooLarge",
               "{Variable:%s} stays in memory: its {Bytes:%llu} bytes exceed the limit", name,
               (unsigned long long)sym->size);
    else if (escaped)
        remark(ctx, p->fn, escaped == ESCAPED_BY_DATA ? 0 : escaped, RM_MISSED, "AddressEscapes",
               "{Variable:%s} stays in memory: its address {How:%s}", name, what_becomes(p, variable));
    else if (p->pointers->absolute)
        remark(ctx, p->fn, p->pointers->absolute, RM_MISSED, "AbsoluteAddress",
               "{Variable:%s} stays in memory: an access has an absolute address", name);
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
        [WHY_KIND] = {"KindOfAccess", "a move cannot replace the instruction"},
        [WHY_PARTLY] = {"PartlyInMemory", "other accesses keep the same bytes in memory"},
    };
    unsigned long long kept = 0, size = v->size;
    for (uint64_t at = 0; at < v->size; at++)
        kept += v->groups[at / GROUP].stays >> at % GROUP & 1;
    if (t->n[WHY_NOT])
        remark(ctx, p->fn, t->first[WHY_NOT], RM_PASSED, "Promoted",
               "{Promoted:%llu} of {Bytes:%llu} bytes of {Variable:%s} are promoted to registers; loads: {Loads:%u}, "
               "stores: {Stores:%u}",
               size - kept, size, name, t->n[WHY_NOT] - t->stores, t->stores);
    if (v->limited)
        remark(ctx, p->fn, t->any, RM_MISSED, "TooManyPhis",
               "parts of {Variable:%s} stay in memory: the phis would have more than {Limit:%llu} inputs", name,
               (unsigned long long)p->fn->phi_limit);
    for (int why = WHY_NOT + 1; why < WHYS; why++) {
        if (t->n[why] && why == WHY_INDEX)
            remark(
                ctx, p->fn, t->first[why], RM_MISSED, whys[why].name,
                "{Accesses:%u} of {All:%u} accesses to {Variable:%s} stay in memory: the offset is unknown, from byte "
                "{From:%lld} to {To:%lld}",
                t->n[why], t->all, name, (long long)MAX(t->lo, 0), (long long)MIN(t->end, (int64_t)v->size) - 1);
        else if (t->n[why])
            remark(ctx, p->fn, t->first[why], RM_MISSED, whys[why].name,
                   "{Accesses:%u} of {All:%u} accesses to {Variable:%s} stay in memory: %s", t->n[why], t->all, name,
                   whys[why].text);
    }
}

void promote_report(Ctx *ctx, Promotion *p)
{
    char name[300];  // longer ones are cut
    const Tally *tallies = tally_accesses(p);
    for (uint32_t k = 1; k < p->fn->syms.n; k++) {
        const Sym *s = ir_sym(p->fn, k | SYM_LOCAL);
        bool used = tallies[k].any || p->escaped[k];
        if (s->kind != SYM_VAR || s->space != SP_LOCAL || !used)
            continue;
        name_text(p->fn->tables, s->name, name, sizeof name);
        if (!say_whole(ctx, p, k, tallies[k].any, name) && p->variables[k].groups)
            say_accesses(ctx, p, &p->variables[k], &tallies[k], name);
    }
}
