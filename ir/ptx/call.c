// SPDX-License-Identifier: MIT
// Reads calls, checks their arguments against the callee's formals, and numbers call sequences.
#include "ir/ptx/read.h"

enum { PENDING_MAX = 4096 };

// Reports a symbol that may not be an argument or a result of a call.
static void check_call_symbol(Reader *r, SymId id, size_t at)
{
    uint8_t kind = ir_sym(r->fn, id)->kind;
    if (kind == SYM_FORMAL)
        rd_fail_word(r, at, "'%.*s' is a parameter of this function: copy it to a .param variable for the call");
    if (kind != SYM_CALLPARAM)
        rd_fail_word(r, at, "'%.*s' is not a variable of the .param space");
}

static void read_call_argument(Reader *r, bool result)
{
    size_t at = rd_offset(r);
    if (expr_starts(r)) {
        rd_push_literal(r, expr_parse(r), at);
        rd_shape(r, '%');
        return;
    }
    if (r->tok != T_ID)
        rd_fail(r, at, "expected a register, a .param variable or a constant");
    Name name = rd_token_name(r);
    bool sink = rd_is(r, "_");
    uint32_t vec = 0;
    RegId reg = sink ? 0 : scope_find_reg(r, name, &vec);
    const Bind *bind = reg || sink ? NULL : scope_find(r, name);
    if (!sink && !reg && (!bind || bind->kind != BIND_SYM))
        rd_fail(r, at, "'%.*s' is not declared", (int)(r->lx.end - r->lx.start), r->lx.start);
    if (bind)
        check_call_symbol(r, bind->id, at);
    rd_next(r);
    SymId sym = vec ? vector_argument(r, reg, vec, result) : bind ? bind->id : 0;
    rd_push_op(r, sink ? op_none() : sym ? op_sym(sym) : op_reg(r->fn, reg), at);
    rd_shape(r, sym ? '$' : '%');
}

// A range of r->ops.
typedef struct OpRange {
    uint32_t from, n;
} OpRange;

static OpRange read_call_list(Reader *r, bool results)
{
    OpRange range = {.from = r->ops.n};
    rd_shape(r, '(');
    rd_expect(r, '(', "to open the list");
    while (r->tok != ')') {
        read_call_argument(r, results);
        if (r->tok != ')') {
            rd_expect(r, ',', "between arguments");
            rd_shape(r, ',');
        }
    }
    rd_next(r);
    rd_shape(r, ')');
    range.n = r->ops.n - range.from;
    return range;
}

// Checks the arguments or results of a call against the callee's formals: count, size, scalar or array.
static void check_formals(Reader *r, const Fn *of, const SymId *formals, uint32_t n, OpRange given, const char *what,
                          size_t at)
{
    bool open = n && ir_sym(of, formals[n - 1])->flags & SYM_OPEN;
    if (open ? given.n < n - 1 : given.n != n)
        rd_fail(r, at, "this call has %u %s, the callee has %u", given.n, what, n);
    for (uint32_t k = 0; k < n && !(open && k == n - 1); k++) {
        const Sym *formal = ir_sym(of, formals[k]);
        const Parsed *p = &r->ops.at[given.from + k];
        if (!p->literal && op_kind(p->op) == K_NONE)
            continue;  // the sink `_`
        uint64_t bytes = op_is_reg(p->op) ? MAX(width_bits((Width)ir_reg(r->fn, op_index(p->op))->width) / 8, 1)
                         : op_kind(p->op) == K_SYM   ? ir_sym(r->fn, op_index(p->op))->size
                         : formal->flags & SYM_ARRAY ? 0
                                                     : formal->size;
        bool array = op_kind(p->op) == K_SYM && ir_sym(r->fn, op_index(p->op))->flags & SYM_ARRAY;
        if (array && !(formal->flags & SYM_ARRAY) && formal->size)
            rd_fail(r, p->offset, "the callee's parameter is a scalar, not an array or a vector");
        if (bytes != formal->size)
            rd_fail(r, p->offset, "the callee's parameter has %llu bytes, not %llu", (unsigned long long)formal->size,
                    (unsigned long long)bytes);
    }
}

static void read_call_symbol(Reader *r, bool callee)
{
    size_t at = rd_offset(r);
    if (r->tok != T_ID)
        rd_fail(r, at, callee ? "expected the function to call" : "expected a prototype");
    Name name = rd_token_name(r);
    uint32_t vec;
    RegId reg = callee ? scope_find_reg(r, name, &vec) : 0;
    const Bind *bind = reg ? NULL : scope_find(r, name);
    SymKind kind = bind && bind->kind == BIND_SYM ? (SymKind)ir_sym(r->fn, bind->id)->kind : SYM_VAR;
    bool fits = reg || (callee ? kind == SYM_FUNC : kind == SYM_PROTO || kind == SYM_CALLTARGETS);
    if (!fits)
        rd_fail(r, at,
                callee ? "call to '%.*s', which is not declared as a function" : "'%.*s' is not a call prototype",
                (int)(r->lx.end - r->lx.start), r->lx.start);
    rd_next(r);
    rd_push_op(r, reg ? op_reg(r->fn, reg) : op_sym(bind->id), at);
    rd_shape(r, reg ? '%' : '$');
}

// Syntax: `call (results), callee, (arguments), prototype;`. Only the callee is required.
void rd_call(Reader *r)
{
    OpRange results = {0}, arguments = {0};
    SymId prototype = 0;
    r->ops.n = r->shape.n = r->results.n = 0;
    if (r->tok == '(') {
        results = read_call_list(r, true);
        rd_expect(r, ',', "after the results");
        rd_shape(r, ',');
    }
    size_t at = rd_offset(r);
    read_call_symbol(r, true);
    Operand callee = r->ops.at[r->ops.n - 1].op;
    if (rd_accept(r, ',')) {
        rd_shape(r, ',');
        bool list = r->tok == '(';
        if (list)
            arguments = read_call_list(r, false);
        if (!list || rd_accept(r, ',')) {
            if (list)
                rd_shape(r, ',');
            read_call_symbol(r, false);
            prototype = op_index(r->ops.at[r->ops.n - 1].op);
        }
    }
    if (r->tok != ';')
        rd_fail_end(r, rd_offset(r), "expected ';' after the call");
    bool indirect = op_is_reg(callee);
    if (indirect != (prototype != 0))
        rd_fail(r, at,
                indirect ? "an indirect call requires a prototype or a list of targets"
                         : "a direct call takes no prototype");
    const Fn *of = indirect ? r->fn : ir_sym(r->fn, op_index(callee))->fn;
    const Sig *sig = indirect ? ir_sym(r->fn, prototype)->sig : of ? &of->sig : NULL;
    if (!sig)
        return;
    check_formals(r, of, sig->rets, sig->nrets, results, "results", at);
    check_formals(r, of, sig->params, sig->nparams, arguments, "arguments", at);
}

void rd_number_call(Reader *r, InstrId call)
{
    Fn *fn = r->fn;
    Instr *i = ir_instr(fn, call);
    uint32_t seq = ++fn->callseqs, kept = 0;
    i->callseq = seq;
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        Operand use = *ir_use(fn, i, k);
        if (op_kind(use) == K_SYM && ir_sym(fn, op_index(use))->kind == SYM_CALLPARAM)
            ir_sym(fn, op_index(use))->callseq = seq;
    }
    for (uint32_t k = 0; k < r->pending.n; k++) {
        Instr *st = ir_instr(fn, r->pending.at[k]);
        if (ir_sym(fn, op_index(*ir_use(fn, st, 0)))->callseq == seq)
            st->callseq = seq;
        else
            r->pending.at[kept++] = r->pending.at[k];
    }
    r->pending.n = kept;
}

void rd_note_param(Reader *r, InstrId id, Opcode op)
{
    Instr *i = ir_instr(r->fn, id);
    Operand base = *ir_use(r->fn, i, 0);
    if (op_kind(base) != K_SYM || ir_sym(r->fn, op_index(base))->kind != SYM_CALLPARAM)
        return;
    const Sym *s = ir_sym(r->fn, op_index(base));
    if (op == OP_LD && s->callseq > r->block_seq)
        i->callseq = s->callseq;
    if (op == OP_ST && r->pending.n < PENDING_MAX)
        VEC_PUSH(&r->arena, &r->pending, id);
}
