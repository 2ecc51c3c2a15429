// SPDX-License-Identifier: MIT
// Function bodies: statements to blocks and instructions.
//
// The path of an instruction: its mnemonic is looked up by its text (parsed only when it is new); its operands are
// read in one flat loop, which writes down their syntax as a shape (`%,[&]`) and the operands beside it; mnemonic and
// shape give the descriptor, whose slots say what each operand has to be and how literals are to be read.
#include <stdio.h>

#include "ir/ptx/read.h"

enum { SHAPE_CACHED = sizeof((MnemCache *)0)->shape, PENDING_MAX = 4096 };

/* -- Blocks --------------------------------------------------------------------------------------------- */

static void start_block(Reader *r, BlockId b)
{
    block_append(r->fn, b);
    ir_block(r->fn, b)->source = r->sources++;
    r->block = b;
    r->carry = false;
    r->pending.n = 0;
    r->block_seq = r->fn->callseqs;
}

static void need_block(Reader *r)
{
    if (!r->block)
        start_block(r, block_new(r->fn));
}

// Falling into the next block is a branch of its own in the IR.
static void append_branch(Reader *r, BlockId to)
{
    Operand target = op_block(to);
    InstrId id = ir_append(r->fn, r->block, r->desc_bra, IF_IMPLICIT, &target, 1);
    ir_instr(r->fn, id)->line = r->line;
}

// Ends the open block so that `next` follows it.
static void fall_into(Reader *r, BlockId next)
{
    if (r->block)
        append_branch(r, next);
    start_block(r, next);
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static void shape_put(Reader *r, const char *text, size_t n)
{
    while (n--)
        VEC_PUSH(&r->arena, &r->shape, *text++);
}

static void shape_char(Reader *r, char c) { VEC_PUSH(&r->arena, &r->shape, c); }

static void push_op(Reader *r, Operand op, size_t offset)
{
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.op = op, .offset = offset}));
}

static void push_literal(Reader *r, Value v, size_t offset)
{
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.literal = v.kind, .value = v.bits, .offset = offset}));
}

static void push_offset(Reader *r, int64_t bytes, size_t offset)
{
    push_literal(r, (Value){.kind = LIT_INT, .bits = (uint64_t)bytes}, offset);
}

// `.x .y .z .w` or `.r .g .b .a`; -1 if the token is none.
static int vector_element(const Reader *r)
{
    static const char letters[] = "xyzwrgba";
    if (r->tok != T_DOT || r->lx.end - r->lx.start != 2)
        return -1;
    const char *at = memchr(letters, r->lx.start[1], 8);
    return at ? (int)(at - letters) & 3 : -1;
}

// `+ offset` behind an address, which may be missing.
static void read_offset(Reader *r, size_t at)
{
    bool spelled = rd_accept(r, '+');
    push_offset(r, spelled ? expr_integer(r, "an address offset") : 0, at);
    if (spelled && r->fn->flags & FN_DEBUG)
        r->ops.at[r->ops.n - 1].op.mods = OPM_SPELLED;
}

static void read_register(Reader *r, RegId reg, uint32_t vec, uint32_t mods, size_t at, bool address)
{
    int element = vec ? vector_element(r) : -1;
    if (element >= (int)vec)
        rd_fail(r, rd_offset(r), "this vector register has %u elements", vec);
    if (vec && element < 0) {
        for (uint32_t k = 0; k < vec; k++) {
            shape_put(r, k ? ",%" : "{%", 2);
            push_op(r, op_reg(r->fn, reg + k), at);
        }
        shape_char(r, '}');
        return;
    }
    if (element >= 0) {
        reg += (RegId)element;
        rd_next(r);
    }
    Operand op = op_reg(r->fn, reg);
    op.mods = mods;
    push_op(r, op, at);
    if (address) {
        shape_char(r, '&');
        read_offset(r, at);
        return;
    }
    shape_char(r, '%');
    if (r->tok == T_DOT) {  // a selector of a video instruction: `%r1.b3210`
        shape_put(r, r->lx.start, (size_t)(r->lx.end - r->lx.start));
        rd_next(r);
    }
}

// `%tid` and its like as a whole: the four elements.
static bool read_special_vector(Reader *r, Lexer lx, size_t at)
{
    char text[24];
    size_t n = (size_t)(lx.end - lx.start);
    if (n + 2 > sizeof text)
        return false;
    memcpy(text, lx.start, n);
    memcpy(text + n, ".x", 2);
    int sreg = sreg_find(text, n + 2);
    for (uint32_t k = 0; sreg >= 0 && k < 4; k++) {
        shape_put(r, k ? ",%" : "{%", 2);
        push_op(r, op_make(K_SREG, 0, (uint32_t)sreg + k), at);
    }
    if (sreg >= 0)
        shape_char(r, '}');
    return sreg >= 0;
}

static void read_special(Reader *r, size_t at)
{
    Lexer lx = r->lx;
    int sreg = sreg_find(lx.start, (size_t)(lx.end - lx.start));
    rd_next(r);
    if (sreg < 0 && r->tok != T_DOT && read_special_vector(r, lx, at))
        return;
    if (sreg < 0 && r->tok == T_DOT && r->lx.start == lx.end) {
        sreg = sreg_find(lx.start, (size_t)(r->lx.end - lx.start));
        if (sreg >= 0)
            rd_next(r);
    }
    if (sreg < 0)
        rd_fail(r, at, "'%.*s' is not declared", (int)(lx.end - lx.start), lx.start);
    push_op(r, op_make(K_SREG, 0, (uint32_t)sreg), at);
    shape_char(r, '%');
}

static RegId emit_index_step(Reader *r, Width width, const char *mnemonic, const char *shape, Operand a, Operand b,
                             uint32_t n)
{
    RegId to =
        scope_new_reg(r, (Name){str_intern_z(&r->t->strs, "%index"), NO_NUMBER}, RF_R, (uint8_t)width, TY_NONE, 0);
    Operand ops[] = {op_def(op_reg(r->fn, to)), a, b};
    need_block(r);
    ir_append(r->fn, r->block, desc_make(r->t, mnemonic, shape), 0, ops, n);
    return to;
}

// The address of `sym[reg + plus]`, as ptxas computes it: the index as 32 bits, scaled, then zero-extended; for
// `.shared` all of it in 32 bits (tried).
static RegId index_symbol(Reader *r, SymId sym, RegId index, int64_t plus, uint32_t element, size_t at)
{
    Fn *fn = r->fn;
    Width width = (Width)ir_reg(fn, index)->width;
    if (width != W32 && width != W64)
        rd_fail(r, at, "an element index must be a constant or a 32-bit or 64-bit register");
    Operand scale = op_const(fn, (uint64_t)__builtin_ctz(element), W32), zero = op_const(fn, 0, W64);
    if (width == W64)
        index = emit_index_step(r, W32, "cvt.u32.u64", "%,%", op_reg(fn, index), zero, 2);
    if (plus)
        index = emit_index_step(r, W32, "add.u32", "%,%,%", op_reg(fn, index), op_const(fn, (uint64_t)plus, W32), 3);
    RegId scaled = emit_index_step(r, W32, "shl.b32", "%,%,%", op_reg(fn, index), scale, 3);
    if (ir_sym(fn, sym)->space == SP_SHARED) {
        RegId base = emit_index_step(r, W32, "mov.u32", "%,&", op_sym(sym), zero, 3);
        return emit_index_step(r, W32, "add.u32", "%,%,%", op_reg(fn, base), op_reg(fn, scaled), 3);
    }
    RegId wide = emit_index_step(r, W64, "cvt.u64.u32", "%,%", op_reg(fn, scaled), zero, 2);
    RegId base = emit_index_step(r, W64, "mov.u64", "%,&", op_sym(sym), zero, 3);
    return emit_index_step(r, W64, "add.s64", "%,%,%", op_reg(fn, base), op_reg(fn, wide), 3);
}

static void read_symbol(Reader *r, const Bind *bind, size_t at, bool address, bool memory)
{
    SymId id = bind->id;
    const Sym *s = ir_sym(r->fn, id);
    if (s->kind == SYM_BRANCHTARGETS) {
        push_op(r, op_make(K_LIST, 0, s->list), at);
        shape_char(r, '%');
        return;
    }
    // Vectors count by their scalars, arrays without a size by bytes (tried).
    uint32_t element = s->flags & SYM_OPEN ? 1 : MAX(width_bits(type_info[s->type].width) / 8, 1);
    push_op(r, op_sym(id), at);
    if (address || r->tok != '[') {
        shape_char(r, '&');
        read_offset(r, at);
        return;
    }
    // `sym[4]` without brackets around it counts elements.
    rd_next(r);
    uint32_t vec;
    RegId index_reg = r->tok == T_ID ? scope_find_reg(r, rd_token_name(r), &vec) : 0;
    int64_t index = 0;
    if (index_reg && memory) {
        rd_next(r);
        int64_t plus = rd_accept(r, '+') ? expr_integer(r, "an element index") : 0;
        r->ops.at[r->ops.n - 1].op = op_reg(r->fn, index_symbol(r, id, index_reg, plus, element, at));
    } else {
        index = expr_integer(r, "an element index");
    }
    rd_expect(r, ']', "behind the index");
    shape_put(r, memory ? "[&]" : "&", memory ? 3 : 1);
    push_offset(r, index * (int64_t)element, at);
}

static void read_identifier(Reader *r, const MnemCache *mnem, Name name, uint32_t mods, bool address)
{
    size_t at = rd_offset(r);
    const char *text = r->lx.start;
    size_t len = (size_t)(r->lx.end - text);
    if (len == 1 && *text == '_') {
        rd_next(r);
        push_op(r, op_none(), at);
        shape_char(r, '%');
        return;
    }
    if (mnem->first == OP_BRA) {
        rd_next(r);
        push_op(r, op_block(scope_label_use(r, name, at)), at);
        shape_char(r, '%');
        return;
    }
    uint32_t vec = 0;
    RegId reg = scope_known_reg(r, name);
    if (!reg)
        reg = scope_find_reg(r, name, &vec);
    if (reg) {
        rd_next(r);
        read_register(r, reg, vec, mods, at, address);
        return;
    }
    const Bind *bind = scope_find(r, name);
    if (!bind || bind->kind != BIND_SYM) {
        read_special(r, at);
        return;
    }
    bool memory = op_info[mnem->first].traits & (TR_READ | TR_WRITE);
    rd_next(r);
    read_symbol(r, bind, at, address, memory);
}

static void read_literal(Reader *r, bool address)
{
    size_t at = rd_offset(r);
    if (address) {
        shape_char(r, '&');
        push_op(r, op_none(), at);
        push_offset(r, expr_integer(r, "an address"), at);
        return;
    }
    Value v = expr_parse(r);
    shape_char(r, '%');
    push_literal(r, v, at);
}

static bool names_register(Reader *r)
{
    uint32_t vec;
    return r->tok == T_ID && !rd_is(r, "WARP_SZ") && scope_find_reg(r, rd_token_name(r), &vec);
}

// `!p` and, in video instructions, `-r`; otherwise the sign belongs to a constant.
static void read_signed(Reader *r, const MnemCache *mnem, bool address)
{
    Lexer lx = r->lx;
    int sign = r->tok;
    bool digit = *lx.cur >= '0' && *lx.cur <= '9';
    if (!digit)
        rd_next(r);
    if (!digit && names_register(r)) {
        if (sign == '-')
            shape_char(r, '-');
        read_identifier(r, mnem, rd_token_name(r), sign == '!' ? OPM_NOT : 0, address);
        return;
    }
    r->lx = lx;
    r->tok = sign;
    read_literal(r, address);
}

// A register that is followed by a comma or the semicolon: most operands are that. Takes the comma as well. False:
// none.
static bool read_plain_register(Reader *r, Name name)
{
    char next = *r->lx.cur;
    if (next != ',' && next != ';')
        return false;
    RegId reg = scope_known_reg(r, name);
    if (!reg)
        return false;
    push_op(r, op_reg(r->fn, reg), rd_offset(r));
    shape_char(r, '%');
    if (next == ',') {
        shape_char(r, ',');
        r->lx.cur++;
    }
    rd_next(r);
    return true;
}

// Everything up to the semicolon.
static void read_operands(Reader *r, const MnemCache *mnem)
{
    char open[32];
    uint32_t depth = 0;
    bool want = true;      // an operand may stand here
    bool address = false;  // the first in a bracket
    r->ops.n = r->shape.n = r->braces = 0;
    bool labels = mnem->first == OP_BRA;
    while (r->tok != ';') {
        size_t at = rd_offset(r);
        int tok = r->tok;
        Name name = tok == T_ID ? rd_token_name(r) : (Name){0, NO_NUMBER};
        if (tok == T_ID && want && !address && !labels && read_plain_register(r, name)) {
            want = r->shape.at[r->shape.n - 1] == ',';
            continue;
        }
        if (tok == T_EOF)
            rd_fail(r, at, "expected ';' behind the instruction");
        if (tok == '{' || tok == '[') {
            if (!want || depth == sizeof open)
                rd_fail(r, at, !want ? "expected ',' or ';'" : "brackets are nested too deeply");
            open[depth++] = tok == '{' ? '}' : ']';
            shape_char(r, (char)tok);
            address = tok == '[';
            r->braces += tok == '{';
            rd_next(r);
        } else if (tok == '}' || tok == ']') {
            if (!depth || open[depth - 1] != tok)
                rd_fail(r, at, depth ? "this bracket does not match" : "expected ';' behind the instruction");
            depth--;
            shape_char(r, (char)tok);
            want = false;
            r->braces -= tok == '}';
            rd_next(r);
        } else if (tok == ',' || tok == '|') {
            shape_char(r, (char)tok);
            want = true;
            address = false;
            rd_next(r);
        } else if (!want) {
            rd_fail(r, at, "expected ',' or ';'");
        } else {
            if (tok == T_ID && !rd_is(r, "WARP_SZ"))
                read_identifier(r, mnem, name, 0, address);
            else if (tok == '!' || tok == '-')
                read_signed(r, mnem, address);
            else if (expr_starts(r))
                read_literal(r, address);
            else
                rd_fail(r, at, "expected an operand");
            want = false;
            address = false;
        }
    }
    if (depth)
        rd_fail(r, rd_offset(r), "expected '%c'", open[depth - 1]);
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

static void read_call_argument(Reader *r)
{
    size_t at = rd_offset(r);
    if (expr_starts(r)) {
        push_literal(r, expr_parse(r), at);
        shape_char(r, '%');
        return;
    }
    if (r->tok != T_ID)
        rd_fail(r, at, "expected a register, a .param variable or a constant");
    Name name = rd_token_name(r);
    bool sink = rd_is(r, "_");
    uint32_t vec;
    RegId reg = sink ? 0 : scope_find_reg(r, name, &vec);
    const Bind *bind = reg || sink ? NULL : scope_find(r, name);
    if (!sink && !reg && (!bind || bind->kind != BIND_SYM))
        rd_fail(r, at, "'%.*s' is not declared", (int)(r->lx.end - r->lx.start), r->lx.start);
    rd_next(r);
    push_op(r, sink ? op_none() : reg ? op_reg(r->fn, reg) : op_sym(bind->id), at);
    shape_char(r, bind ? '$' : '%');
}

// A part of r->ops.
typedef struct OpRange {
    uint32_t from, n;
    bool written;
} OpRange;

static OpRange read_call_list(Reader *r)
{
    OpRange range = {.from = r->ops.n, .written = true};
    shape_char(r, '(');
    rd_expect(r, '(', "to open the list");
    while (r->tok != ')') {
        read_call_argument(r);
        if (r->tok != ')') {
            rd_expect(r, ',', "between arguments");
            shape_char(r, ',');
        }
    }
    rd_next(r);
    shape_char(r, ')');
    range.n = r->ops.n - range.from;
    return range;
}

// The arguments or results of a call against the formals of the callee.
static void check_formals(Reader *r, const Fn *of, const SymId *formals, uint32_t n, OpRange given, const char *what,
                          size_t at)
{
    bool open = n && ir_sym(of, formals[n - 1])->flags & SYM_OPEN;
    if (open ? given.n < n - 1 : given.n != n)
        rd_fail(r, at, "this call has %u %s, the callee has %u", given.n, what, n);
    for (uint32_t k = 0; k < n && !(open && k == n - 1); k++) {
        const Sym *formal = ir_sym(of, formals[k]);
        const Parsed *p = &r->ops.at[given.from + k];
        uint64_t bytes = op_is_reg(p->op) ? MAX(width_bits((Width)ir_reg(r->fn, op_index(p->op))->width) / 8, 1)
                         : op_kind(p->op) == K_SYM   ? ir_sym(r->fn, op_index(p->op))->size
                         : formal->flags & SYM_ARRAY ? 0
                                                     : formal->size;
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
        rd_fail(r, at, callee ? "call to '%.*s', which is not declared as a function" : "'%.*s' is no call prototype",
                (int)(r->lx.end - r->lx.start), r->lx.start);
    rd_next(r);
    push_op(r, reg ? op_reg(r->fn, reg) : op_sym(bind->id), at);
    shape_char(r, reg ? '%' : '$');
}

// call (results), callee, (arguments), prototype;  all but the callee may be missing.
static void read_call(Reader *r)
{
    OpRange results = {0}, arguments = {0};
    SymId prototype = 0;
    r->ops.n = r->shape.n = 0;
    if (r->tok == '(') {
        results = read_call_list(r);
        rd_expect(r, ',', "behind the results");
        shape_char(r, ',');
    }
    size_t at = rd_offset(r);
    read_call_symbol(r, true);
    Operand callee = r->ops.at[r->ops.n - 1].op;
    if (rd_accept(r, ',')) {
        shape_char(r, ',');
        bool list = r->tok == '(';
        if (list)
            arguments = read_call_list(r);
        if (!list || rd_accept(r, ',')) {
            if (list)
                shape_char(r, ',');
            read_call_symbol(r, false);
            prototype = op_index(r->ops.at[r->ops.n - 1].op);
        }
    }
    if (r->tok != ';')
        rd_fail(r, rd_offset(r), "expected ';' behind the call");
    bool indirect = op_is_reg(callee);
    if (indirect != (prototype != 0))
        rd_fail(r, at,
                indirect ? "an indirect call needs a prototype or a list of targets"
                         : "a direct call takes no prototype");
    const Fn *of = indirect ? r->fn : ir_sym(r->fn, op_index(callee))->fn;
    const Sig *sig = indirect ? ir_sym(r->fn, prototype)->sig : of ? &of->sig : NULL;
    if (!sig)
        return;
    check_formals(r, of, sig->rets, sig->nrets, results, "results", at);
    check_formals(r, of, sig->params, sig->nparams, arguments, "arguments", at);
}

// Numbers the call's sequence: the stores into its arguments before it and, as they come, the loads of its results.
static void number_call(Reader *r, InstrId call)
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

static void note_param_access(Reader *r, InstrId id, Opcode op)
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

/* -- Instructions --------------------------------------------------------------------------------------- */

// Equality of short texts that may both be read to the next multiple of eight bytes.
static inline bool same_padded(const char *a, const char *b, size_t n)
{
    uint64_t x, y;
    for (; n >= 8; a += 8, b += 8, n -= 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            return false;
    }
    if (!n)
        return true;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return (x ^ y) << (64 - 8 * n) == 0;
}

static MnemCache *find_mnemonic(Reader *r, const char *text, size_t len, size_t at)
{
    uint32_t hash = hash_bytes(text, len);
    IDSET_EACH(&r->mnem_index, hash, k) {
        if (r->mnems.at[k].len == len && same_padded(r->mnems.at[k].text, text, len))
            return &r->mnems.at[k];
    }
    MnemId id = mnem_intern(r->t, text, len);
    const Mnem *m = tab_mnem(r->t, id);
    const char *dot = memchr(text, '.', len);
    size_t base = dot ? (size_t)(dot - text) : len;
    if (m->first == OP_OPAQUE && op_find(text, base) == OPCODE_COUNT && !op_family_known(text, base))
        diag_at(r->diag, DIAG_WARNING, at, "'%.*s' is not a known instruction; it passes through untouched", (int)len,
                text);
    char *copy = arena_alloc(&r->arena, len);
    memcpy(copy, text, len);
    idset_add(&r->mnem_index, &r->arena, hash, r->mnems.n);
    VEC_PUSH(&r->arena, &r->mnems, ((MnemCache){.text = copy, .len = (uint32_t)len, .mnem = id, .first = m->first}));
    return &r->mnems.at[r->mnems.n - 1];
}

static DescId find_desc(Reader *r, MnemCache *mnem, size_t at)
{
    uint32_t n = r->shape.n;
    if (mnem->desc && mnem->shape_len == n && same_padded(mnem->shape, r->shape.at, n))
        return mnem->desc;
    const char *why;
    DescId desc = desc_intern(r->t, mnem->mnem, r->shape.at ? r->shape.at : "", n, &why);
    if (!desc) {
        char words[200];
        desc_expected(why, words);
        rd_fail(r, at, "these operands do not fit '%.*s', which takes: %s", (int)mnem->len, mnem->text, words);
    }
    if (n <= SHAPE_CACHED) {
        memcpy(mnem->shape, r->shape.at ? r->shape.at : "", n);
        mnem->shape_len = n;
        mnem->desc = desc;
    }
    return desc;
}

// Places where ptxas takes the low bits of a double instead of rounding it: bits in a vector or a packing move, and the
// vectors of atom, red and st.v8 (tried).
static bool truncates_doubles(const Reader *r, const Desc *d, const Slot *slot)
{
    uint8_t vec = tab_mnem(r->t, d->mnem)->mod[MC_VEC];
    TypeClass class = type_info[slot->type].class;
    if (class == TC_B || class == TC_U || class == TC_S)
        return slot->width < W64 && (vec || d->op == OP_PACK);
    return slot->type == TY_F32 &&
           ((vec && (d->op == OP_ATOM || d->op == OP_RED)) || (vec == MOD_V8 && d->op == OP_ST));
}

static Operand literal_operand(Reader *r, const Parsed *p, const Desc *d, const Slot *slot)
{
    Value v = {.kind = p->literal, .bits = p->value};
    if (!(slot->flags & SL_IMM))
        rd_fail(r, p->offset, "an immediate may not stand here; move it into a register first");
    if (slot->type == TY_NONE) {
        Operand op = op_const(r->fn, v.bits, v.kind == LIT_F32 ? W32 : W64);
        op.mods |= v.kind == LIT_F32 ? OPM_F32 : v.kind == LIT_F64 ? OPM_F64 : 0;
        return op;
    }
    uint64_t bits = v.bits;
    const char *why;
    bool truncated = v.kind == LIT_F64 && truncates_doubles(r, d, slot);
    if (!truncated && !literal_bits((Type)slot->type, v, &bits, &why))
        rd_fail(r, p->offset, "%s", why);
    // A slot of any width reads its constants by its type.
    Operand op = op_const(r->fn, bits, slot->width ? (Width)slot->width : type_info[slot->type].width);
    op.mods = p->op.mods;
    return op;
}

static Operand carry_register(Reader *r, bool definition)
{
    Fn *fn = r->fn;
    if (!fn->cc)
        fn->cc = reg_new(fn, RF_CC, W1);
    // A carry that comes from another block is beyond the model (design/decisions.md, soundness 8).
    if (!definition && !r->carry)
        fn->flags |= FN_PASSTHROUGH;
    Operand op = op_reg(fn, fn->cc);
    return definition ? op_def(op) : op;
}

static void check_space(Reader *r, const Desc *d, const Parsed *base)
{
    static const uint8_t spaces[MOD_COUNT] = {
        [MOD_GLOBAL] = SP_GLOBAL, [MOD_SHARED] = SP_SHARED,     [MOD_SHARED_CTA] = SP_SHARED, [MOD_LOCAL] = SP_LOCAL,
        [MOD_PARAM] = SP_PARAM,   [MOD_PARAM_ENTRY] = SP_PARAM, [MOD_PARAM_FUNC] = SP_PARAM,  [MOD_CONST] = SP_CONST};
    uint8_t want = spaces[tab_mnem(r->t, d->mnem)->mod[MC_SPACE]];
    const Sym *s = ir_sym(r->fn, op_index(base->op));
    if (want && s->space != want && s->kind != SYM_FUNC && d->op != OP_OPAQUE)
        rd_fail(r, base->offset,
                "state space mismatch: the variable lies in another state space than the instruction says");
}

// A written operand against its slot: checked, literals made constants, flags set.
static Operand fit_operand(Reader *r, const MnemCache *mnem, const Desc *d, uint32_t k, const Parsed *p)
{
    const Slot *slot = &d->slots[k];
    Operand op = p->op;
    char why[200];
    if (p->literal)
        return literal_operand(r, p, d, slot);
    if (slot_check(r->fn, slot, op, why))
        rd_fail(r, p->offset, "operand of '%.*s': %s", (int)mnem->len, mnem->text, why);
    if (op_kind(op) == K_SYM)
        check_space(r, d, p);
    bool base = op_kind(op) == K_NONE && slot->flags & SL_SYM && d->op != OP_OPAQUE && op_info[d->op].ntypes != OP_RAW;
    if (base && tab_mnem(r->t, d->mnem)->mod[MC_SPACE] != MOD_LOCAL)
        rd_fail(r, p->offset, "an immediate address may stand in .local only");
    if (op.mods & OPM_NOT && !(slot->flags & SL_NOT))
        rd_fail(r, p->offset, "'!' may not stand here");
    if (op_is_reg(op)) {
        Reg *reg = ir_reg(r->fn, op_index(op));
        if (d->op == OP_OPAQUE)
            reg->flags |= REG_PINNED;
        if (slot->flags & SL_INOUT)
            op.mods |= OPM_INOUT;
    }
    return slot->flags & SL_DEF ? op_def(op) : op;
}

// Puts the operands into canonical order, the guard last. Returns the run and its length.
static uint32_t fit_operands(Reader *r, const MnemCache *mnem, DescId desc, const Operand *guard, BlockId next,
                             uint32_t *n)
{
    const Desc *d = tab_desc(r->t, desc);
    const Parsed *given = r->ops.at;
    bool plain = d->op != OP_OPAQUE;
    *n = d->nops + (guard != NULL);
    uint32_t run = ops_new(r->fn, *n);
    Operand *out = ir_run(r->fn, run);
    for (uint32_t k = 0; k < d->nops; k++) {
        const Slot *slot = &d->slots[k];
        if (slot->flags & SL_HIDDEN) {
            out[k] = slot->flags & SL_BLOCK ? op_block(next) : carry_register(r, slot->flags & SL_DEF);
            continue;
        }
        const Parsed *p = given++;
        const Reg *reg = ir_reg(r->fn, op_is_reg(p->op) ? op_index(p->op) : 0);
        bool simple = plain && !p->literal && op_is_reg(p->op) && !p->op.mods && slot_takes_reg(slot, reg);
        out[k] = !simple ? fit_operand(r, mnem, d, k, p) : slot->flags & SL_DEF ? op_def(p->op) : p->op;
    }
    if (guard)
        out[d->nops] = *guard;
    bool empty = d->op == OP_UNPACK;
    for (uint32_t k = 0; k < d->ndef; k++)
        empty &= op_kind(out[k]) == K_NONE;
    if (empty)
        rd_fail(r, r->ops.at[0].offset, "at least one part must go into a register");
    return run;
}

// The predicate in front of an instruction: `@p` or `@!p`.
static Operand read_guard(Reader *r)
{
    rd_next(r);
    bool negated = rd_accept(r, '!');
    size_t at = rd_offset(r);
    uint32_t vec;
    if (r->tok != T_ID)
        rd_fail(r, at, "expected a predicate register");
    RegId reg = scope_find_reg(r, rd_token_name(r), &vec);
    if (!reg || ir_reg(r->fn, reg)->width != W1)
        rd_fail(r, at, "'%.*s' is not a predicate register", (int)(r->lx.end - r->lx.start), r->lx.start);
    rd_next_statement(r);
    Operand op = op_reg(r->fn, reg);
    op.mods = negated ? OPM_NOT : 0;
    return op;
}

// The mnemonic as one text, also when blanks stand in it (`add .u32`).
static void read_mnemonic(Reader *r, const char **text, size_t *len)
{
    *text = r->lx.start;
    *len = (size_t)(r->lx.end - r->lx.start);
    rd_next(r);
    if (r->tok != T_DOT)
        return;
    VEC(char) joined = {0};
    for (size_t k = 0; k < *len; k++)
        VEC_PUSH(&r->arena, &joined, (*text)[k]);
    for (; r->tok == T_DOT; rd_next(r))
        for (const char *p = r->lx.start; p < r->lx.end; p++)
            VEC_PUSH(&r->arena, &joined, *p);
    *text = joined.at;
    *len = joined.n;
}

static void append_instr(Reader *r, DescId desc, bool guarded, uint32_t run, uint32_t n, BlockId next)
{
    Fn *fn = r->fn;
    const Desc *d = tab_desc(r->t, desc);
    InstrId id = ir_append_run(fn, r->block, desc, guarded ? IF_GUARDED : 0, run, n);
    Instr *i = ir_instr(fn, id);
    i->line = r->line;
    for (uint32_t k = 0; k < d->ndef && k < 2; k++)
        if (d->slots[k].flags & SL_HIDDEN) {
            // A guarded carry may keep the old one.
            if (guarded && !r->carry)
                fn->flags |= FN_PASSTHROUGH;
            r->carry = true;
        }
    if (d->op == OP_CALL)
        number_call(r, id);
    else if ((d->op == OP_LD || d->op == OP_ST) && tab_mnem(r->t, d->mnem)->mod[MC_SPACE] >= MOD_PARAM)
        note_param_access(r, id, d->op);
    if (d->traits & TR_TERM) {
        r->block = 0;
        if (next)
            start_block(r, next);
    } else if (d->op == OP_TRAP || d->op == OP_BRKPT) {
        fall_into(r, block_new(fn));
    }
}

static void read_instruction(Reader *r)
{
    size_t start = rd_offset(r);
    bool guarded = r->tok == '@';
    Operand guard = guarded ? read_guard(r) : op_none();
    size_t at = rd_offset(r);
    if (r->tok != T_MNEMONIC && r->tok != T_ID)
        rd_fail(r, at, "expected an instruction");
    const char *text;
    size_t len;
    read_mnemonic(r, &text, &len);
    MnemCache *mnem = find_mnemonic(r, text, len, at);
    if (mnem->first == OP_CALL)
        read_call(r);
    else
        read_operands(r, mnem);
    bool terminator = op_info[mnem->first].traits & TR_TERM;
    if (guarded && terminator)
        shape_char(r, '~');
    DescId desc = find_desc(r, mnem, start);
    need_block(r);
    BlockId next = guarded && terminator ? block_new(r->fn) : 0;
    uint32_t n, run = fit_operands(r, mnem, desc, guarded ? &guard : NULL, next, &n);
    append_instr(r, desc, guarded, run, n, next);
}

/* -- Directives inside a function ----------------------------------------------------------------------- */

static uint32_t line_number(Reader *r)
{
    if (r->tok != T_INT || r->lx.ival > UINT32_MAX)
        rd_fail(r, rd_offset(r), "expected a number");
    uint32_t n = (uint32_t)r->lx.ival;
    rd_next(r);
    return n;
}

// .loc FILE LINE COLUMN [, function_name LABEL [+ OFFSET], inlined_at FILE LINE COLUMN]   (no semicolon)
static void read_loc(Reader *r)
{
    Line line = {0};
    rd_next(r);
    line.file = line_number(r);
    line.line = line_number(r);
    if (r->tok == T_INT)
        line.col = line_number(r);
    // What follows is a statement unless it is a comma; a statement's first token is lexed differently.
    if (r->tok == ',') {
        rd_next(r);
        if (!rd_is(r, "function_name"))
            rd_fail(r, rd_offset(r), "expected function_name");
        rd_next(r);
        line.function = rd_name(r);
        if (rd_accept(r, '+'))
            line.function_offset = line_number(r);
        rd_expect(r, ',', "before inlined_at");
        if (!rd_is(r, "inlined_at"))
            rd_fail(r, rd_offset(r), "expected inlined_at");
        rd_next(r);
        line.in_file = line_number(r);
        line.in_line = line_number(r);
        line.in_col = line_number(r);
    }
    r->lx.cur = r->lx.start;  // the token behind is the next statement's
    if (r->options->strip_debug)
        return;
    Fn *fn = r->fn;
    if (fn->lines.n == 0)
        *ir_line(fn, seg_push(&fn->lines, &fn->arena, 1, sizeof(Line))) = (Line){0};
    r->line = seg_push(&fn->lines, &fn->arena, 1, sizeof(Line));
    *ir_line(fn, r->line) = line;
}

static void read_pragma(Reader *r)
{
    rd_next(r);
    do {
        if (r->tok != T_STRING)
            rd_fail(r, rd_offset(r), "expected a string");
        char text[512];
        int n = snprintf(text, sizeof text, ".pragma %.*s", (int)(r->lx.end - r->lx.start), r->lx.start);
        if (n >= (int)sizeof text)
            rd_fail(r, rd_offset(r), "this pragma is too long");
        rd_next(r);
        need_block(r);
        InstrId id = ir_append(r->fn, r->block, desc_make(r->t, text, ""), IF_PINNED, NULL, 0);
        ir_instr(r->fn, id)->line = r->line;
    } while (rd_accept(r, ','));
    rd_expect(r, ';', "behind the pragma");
}

// NAME: .branchtargets A, B, C<2>;   or .calltargets f, g;
static void read_targets(Reader *r, Name name, size_t at, bool calls)
{
    VEC(Operand) list = {0};
    rd_next(r);
    do {
        size_t target_at = rd_offset(r);
        Lexer spelled = r->lx;
        Name target = rd_name(r);
        if (calls) {
            const Bind *bind = scope_find(r, target);
            if (!bind || bind->kind != BIND_SYM)
                rd_fail(r, target_at, "'%.*s' is not declared", (int)(spelled.end - spelled.start), spelled.start);
            VEC_PUSH(&r->arena, &list, op_sym(bind->id));
        } else if (rd_accept(r, '<')) {
            StrId stem = str_intern(&r->t->strs, spelled.start, (size_t)(spelled.end - spelled.start));
            uint32_t n = line_number(r);
            if (n > 100000)
                rd_fail(r, target_at, "too many targets");
            rd_expect(r, '>', "behind the number");
            for (uint32_t k = 0; k < n; k++)
                VEC_PUSH(&r->arena, &list, op_block(scope_label_use(r, (Name){stem, k}, target_at)));
        } else {
            VEC_PUSH(&r->arena, &list, op_block(scope_label_use(r, target, target_at)));
        }
    } while (rd_accept(r, ','));
    rd_expect(r, ';', "behind the targets");
    SymId s = fn_sym(r->fn, scope_unique(r, name), calls ? SYM_CALLTARGETS : SYM_BRANCHTARGETS);
    ir_sym(r->fn, s)->list = list_new(r->fn, list.at, list.n);
    scope_declare(r, name, BIND_SYM, s, 0, at);
}

// NAME: .callprototype (results) _ (parameters) [.noreturn];
static void read_prototype(Reader *r, Name name, size_t at)
{
    Sig *sig = NEW(&r->fn->arena, Sig);
    rd_next(r);
    if (r->tok == '(')
        decl_formals(r, sig, true, false);
    if (!rd_is(r, "_"))
        rd_fail(r, rd_offset(r), "expected `_` in place of the function's name");
    rd_next(r);
    if (r->tok == '(')
        decl_formals(r, sig, false, false);
    if (r->tok == T_DOT && rd_is(r, ".noreturn")) {
        sig->noreturn = true;
        rd_next(r);
    }
    rd_expect(r, ';', "behind the prototype");
    SymId s = fn_sym(r->fn, scope_unique(r, name), SYM_PROTO);
    ir_sym(r->fn, s)->sig = sig;
    scope_declare(r, name, BIND_SYM, s, 0, at);
}

// Behind `NAME :` -- a table or prototype of that name, or a label. Leaves the next statement's first token.
static void read_labelled(Reader *r, Name name, size_t at, Lexer spelled)
{
    rd_next_statement(r);
    bool dot = r->tok == T_DOT;
    if (dot && (rd_is(r, ".branchtargets") || rd_is(r, ".calltargets"))) {
        read_targets(r, name, at, rd_is(r, ".calltargets"));
        rd_next_statement(r);
    } else if (dot && rd_is(r, ".callprototype")) {
        read_prototype(r, name, at);
        rd_next_statement(r);
    } else {
        Lexer lx = r->lx;
        r->lx.start = spelled.start;  // for the message
        r->lx.end = spelled.end;
        BlockId b = scope_label_define(r, name, at);
        r->lx = lx;
        fall_into(r, b);
        Block *block = ir_block(r->fn, b);
        block->label = scope_unique(r, name);
        block->flags |= BLOCK_KEEP_LABEL;
    }
}

static void read_directive(Reader *r)
{
    Space space = decl_space(r);
    if (space == SP_REG)
        decl_registers(r, false);
    else if (space != SP_NONE)
        decl_variable(r, space, 0);
    else if (rd_is(r, ".loc"))
        read_loc(r);
    else if (rd_is(r, ".pragma"))
        read_pragma(r);
    else
        rd_fail(r, rd_offset(r), "'%.*s' may not stand inside a function", (int)(r->lx.end - r->lx.start), r->lx.start);
}

/* -- Bodies --------------------------------------------------------------------------------------------- */

// One statement, whose first token is current. Leaves the next one's. False at the end of the body.
static bool read_statement(Reader *r)
{
    r->braces = 0;
    switch (r->tok) {
    case '{': scope_open(r); break;
    case '}':
        if (r->scopes.n == 1)
            return false;
        scope_close(r);
        break;
    case T_DOT: read_directive(r); break;
    case T_ID: {
        Lexer lx = r->lx;
        rd_next(r);
        if (r->tok == ':') {
            Name name = rd_split(r, lx.start, lx.end);
            read_labelled(r, name, (size_t)(lx.start - r->source->text), lx);
            return true;
        }
        r->lx = lx;
        r->tok = T_ID;
        read_instruction(r);
        break;
    }
    case T_MNEMONIC:
    case '@': read_instruction(r); break;
    case T_EOF:
        rd_error(r, rd_offset(r), "the function body is not closed: expected '}'");
        r->stop = true;
        return false;
    default: rd_fail(r, rd_offset(r), "expected an instruction, a label or a declaration");
    }
    rd_next_statement(r);
    return true;
}

static BlockId resolve(BlockId *to, BlockId b)
{
    while (to[b] != b)
        b = to[b] = to[to[b]];
    return b;
}

static void retarget(void *user, Operand *target) { *target = op_block(resolve(user, op_index(*target))); }

// Labels that turned out to be one after their uses were read.
static void resolve_aliases(Reader *r)
{
    Fn *fn = r->fn;
    if (!r->naliases)
        return;
    BlockId *to = NEW_ARRAY(&r->arena, BlockId, fn->blocks.n);
    for (BlockId b = 0; b < fn->blocks.n; b++)
        to[b] = b;
    for (uint32_t k = 0; k < r->naliases; k++)
        to[resolve(to, r->aliases[k].from)] = resolve(to, r->aliases[k].to);
    FOR_BLOCKS(fn, b)
        ir_successors(fn, ir_terminator(fn, b), retarget, to);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind != SYM_BRANCHTARGETS)
            continue;
        const List *list = ir_list(fn, s->list);
        for (uint32_t t = 0; t < list->n; t++)
            retarget(to, ir_run(fn, list->ops) + t);
    }
}

void body_read(Reader *r)
{
    r->block = 0;
    r->sources = 0;
    r->line = 0;
    r->pending.n = 0;
    jmp_buf recover, *outer = r->recover;
    r->recover = &recover;
    if (setjmp(recover))
        rd_skip_statement(r);
    else
        rd_next_statement(r);
    while (!r->stop && read_statement(r))
        ;
    r->recover = outer;
    while (r->scopes.n > 1)
        scope_close(r);
    if (r->block || !r->fn->first) {
        need_block(r);
        InstrId id = ir_append(r->fn, r->block, desc_make(r->t, "ret", ""), IF_IMPLICIT, NULL, 0);
        ir_instr(r->fn, id)->line = r->line;
    }
}

void body_finish(Reader *r) { resolve_aliases(r); }
