// SPDX-License-Identifier: MIT
// Finds the call sequences of malloc and free.
#include "phases/globalopt/system_calls.h"

#include "ir/rewrite/inline_call.h"

// True for a call of a function of the system: one with this name that is `.extern`.
static bool calls_system(const Fn *fn, const Instr *i, const char *name)
{
    char text[32];
    SymId callee = ir_desc(fn, i)->op == OP_CALL ? ir_callee(fn, i) : 0;
    if (!callee || callee & SYM_LOCAL || ir_guarded(i))
        return false;
    const Sym *s = &fn->module->syms.at[callee];
    return s->flags & SYM_EXTERN && !(s->fn && s->fn->flags & FN_DEFINED) &&
           strcmp(name_text(&fn->module->tables, s->name, text, sizeof text), name) == 0;
}

// True for an unguarded access to a whole parameter of 8 bytes.
static bool is_param_of_pointer(const Fn *fn, const Instr *i)
{
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    const Operand *use = ir_use(fn, i, 0);
    if (op_kind(use[0]) != K_SYM || !(op_index(use[0]) & SYM_LOCAL) || ir_guarded(i))
        return false;
    const Sym *s = ir_sym(fn, op_index(use[0]));
    return s->kind == SYM_CALLPARAM && s->size == 8 && const_signed(tab_const(fn->tables, op_index(use[1]))) == 0 &&
           type_info[m->type[0]].width == W64 && access_elements(m) == 1;
}

// Finds the blocks that may be in a cycle: those between the ends of an edge that leads back in the layout.
static void find_cycles(SystemCalls *calls, Arena *arena, const Fn *fn, const Analyses *a)
{
    uint32_t *place = NEW_ARRAY(arena, uint32_t, fn->blocks.n), n = 0;
    int32_t *edges = NEW_ARRAY(arena, int32_t, fn->blocks.n + 1);  // by place: how many begin, less how many ended
    int32_t open = 0;
    FOR_BLOCKS(fn, b)
        place[b] = n++;
    FOR_BLOCKS(fn, b)
        FOR_SUCCS(a, b, s) {
            if (place[*s] > place[b])
                continue;
            edges[place[*s]]++;
            edges[place[b] + 1]--;
        }
    FOR_BLOCKS(fn, b) {
        open += edges[place[b]];
        calls->repeats[b] = open > 0;
    }
}

static bool has_carry(const Fn *fn, BlockId b)
{
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        for (uint32_t k = 0; k < i->nops; k++)
            if (op_is_reg(ir_ops(fn, i)[k]) && op_file(ir_ops(fn, i)[k]) == RF_CC)
                return true;
    }
    return false;
}

// Finds the results at which blocks may be split.
static void find_splits(SystemCalls *calls, Arena *arena, const Fn *fn)
{
    uint32_t *seen = NEW_ARRAY(arena, uint32_t, fn->callseqs + 1), open = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            uint32_t number = ir_instr(fn, id)->callseq;
            Sequence *s = &calls->at[number];
            if (!number)
                continue;
            open += !seen[number];
            open -= ++seen[number] == s->n;
            if (s->result == id)
                s->splits = !open && s->call && ir_instr(fn, s->call)->block == b && !calls->carries[b];
        }
}

SystemCalls system_calls_find(Arena *arena, const Fn *fn, const Analyses *a)
{
    SystemCalls calls = {.fn = fn,
                         .at = NEW_ARRAY(arena, Sequence, fn->callseqs + 1),
                         .calls = NEW_ARRAY(arena, uint32_t, fn->syms.n),
                         .repeats = NEW_ARRAY(arena, bool, fn->blocks.n),
                         .carries = NEW_ARRAY(arena, bool, fn->blocks.n)};
    find_cycles(&calls, arena, fn, a);
    FOR_BLOCKS(fn, b) {
        calls.carries[b] = has_carry(fn, b);
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Sequence *s = &calls.at[i->callseq];
            Opcode op = ir_desc(fn, i)->op;
            for (uint32_t k = 0; k < i->nops && op == OP_CALL; k++)
                if (op_kind(ir_ops(fn, i)[k]) == K_SYM && op_index(ir_ops(fn, i)[k]) & SYM_LOCAL)
                    calls.calls[local_symbol(op_index(ir_ops(fn, i)[k]))]++;
            if (!i->callseq)
                continue;
            *(op == OP_CALL ? &s->call : op == OP_ST ? &s->argument : &s->result) = id;
            s->n++;
        }
    }
    find_splits(&calls, arena, fn);
    return calls;
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

bool system_calls(const SystemCalls *calls, const Sequence *s, const char *name, bool result)
{
    const Fn *fn = calls->fn;
    Passed passed = {0};
    if (s->n != 2u + result || !s->call || !s->argument || !!s->result != result ||
        !calls_system(fn, ir_instr(fn, s->call), name) || !is_param_of_pointer(fn, ir_instr(fn, s->argument)) ||
        (result && !is_param_of_pointer(fn, ir_instr(fn, s->result))))
        return false;
    visit_passed(fn, ir_instr(fn, s->call), note_passed, &passed);
    return passed.arguments == 1 && calls->calls[local_symbol(passed.argument)] == 1 &&
           passed.results == (result ? 1 : 0) &&
           op_index(*ir_use(fn, ir_instr(fn, s->argument), 0)) == passed.argument &&
           (!result || op_index(*ir_use(fn, ir_instr(fn, s->result), 0)) == passed.result);
}

const Sequence *sequence_of_result(const SystemCalls *calls, InstrId id)
{
    uint32_t number = ir_instr(calls->fn, id)->callseq;
    return number && calls->at[number].result == id ? &calls->at[number] : NULL;
}

bool accesses_whole(const Globals *g, const Global *v, const GlobalAccess *access)
{
    const Fn *fn = g->m->fns.at[access->fn];
    return access->direct && !access->first && access->end == global_sym(g, v)->size &&
           element_bytes(fn, access) == access->end && !(ir_instr(fn, access->instr)->flags & IF_PINNED);
}

static bool is_null(const Fn *fn, Operand o)
{
    return op_is_const(o) && !o.mods && !tab_const(fn->tables, op_index(o)).bits;
}

bool compares_with_null(const Fn *fn, const Instr *i, uint32_t k)
{
    const Desc *d = ir_desc(fn, i);
    return d->op == OP_SETP && k == i->ndef && type_info[tab_mnem(fn->tables, d->mnem)->type[0]].class != TC_F &&
           is_null(fn, ir_ops(fn, i)[k + 1]);
}

bool moves_null(const Fn *fn, const Instr *i)
{
    return ir_desc(fn, i)->op == OP_MOV && !(i->flags & IF_PINNED) && is_null(fn, *ir_use(fn, i, 0));
}

const bool *callers_of_malloc(Globals *g)
{
    bool *calls = NULL;
    if (str_find(&g->m->tables.strs, "malloc", strlen("malloc")) == STR_NONE)
        return NULL;
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
static bool stores_register(const Globals *g, const Global *v, const bool *callers)
{
    FOR_ACCESSES(g, v, k)
    {
        const GlobalAccess *access = &g->accesses.at[k];
        const Fn *fn = g->m->fns.at[access->fn];
        if (callers[access->fn] && access->writes && access->direct &&
            op_is_reg(*ir_use(fn, ir_instr(fn, access->instr), 2)))
            return true;
    }
    return false;
}

bool may_hold_malloc(const Globals *g, const Global *v, const bool *callers)
{
    const Sym *s = global_sym(g, v);
    bool allowed = v->class == GV_OWN || (s->space == SP_GLOBAL && knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC));
    return allowed && !v->obstacle && !v->gone && !v->nparts && v->access && !v->ordered && s->size == 8 &&
           (!s->init || !initial_value(s, 0, 8)) && stores_register(g, v, callers);
}

bool one_thread_allocates(const Globals *g, const Fn *fn)
{
    return knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC) || (fn->flags & FN_KERNEL && fn_threads(fn) == 1);
}
