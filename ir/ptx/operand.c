// SPDX-License-Identifier: MIT
// Reads operands in two steps: parses their text into a shape and a list of operands, and fits the list to the slots of
// a descriptor.
#include <ctype.h>

#include "ir/ptx/read.h"

/* -- Reading -------------------------------------------------------------------------------------------- */

static void shape_put(Reader *r, const char *text, size_t n)
{
    while (n--)
        rd_shape(r, *text++);
}

static void push_offset(Reader *r, int64_t bytes, size_t offset)
{
    rd_push_literal(r, (Value){.kind = LIT_INT, .bits = (uint64_t)bytes}, offset);
}

// Returns the index of the element that `.x .y .z .w` or `.r .g .b .a` names, or -1 if the token is none of these.
static int vector_element(const Reader *r)
{
    static const char letters[] = "xyzwrgba";
    if (r->tok != T_DOT || r->lx.end - r->lx.start != 2)
        return -1;
    const char *at = memchr(letters, r->lx.start[1], 8);
    return at ? (int)(at - letters) & 3 : -1;
}

// Reads `+ offset` after an address. A missing offset is 0.
static void read_offset(Reader *r, size_t at)
{
    bool spelled = rd_accept(r, '+');
    push_offset(r, spelled ? expr_integer(r, "an address offset") : 0, at);
    if (spelled)
        r->ops.at[r->ops.n - 1].op.mods = rd_offset_mods(r);
}

// Emits an instruction that computes a part of an operand in a new register.
static RegId emit_step(Reader *r, Width width, DescId desc, Operand a, Operand b, uint32_t n)
{
    RegId to =
        scope_new_reg(r, (Name){str_intern_z(&r->t->strs, "%index"), NO_NUMBER}, RF_R, (uint8_t)width, TY_NONE, 0);
    Operand ops[] = {op_def(op_reg(r->fn, to)), a, b};
    rd_need_block(r);
    InstrId id = ir_append(r->fn, r->block, desc, 0, ops, n);
    ir_instr(r->fn, id)->line = r->line;
    return to;
}

// Reads `+ constant` after a source register. The sum is an integer with the width of the register, for every type of
// the instruction (tried on ptxas).
static void read_sum(Reader *r, RegId reg, size_t at)
{
    const Reg *of = ir_reg(r->fn, reg);
    Width width = (Width)of->width;
    if (width < W16 || width > W64 || type_info[of->type].class == TC_F)
        rd_fail(r, at, "a constant can be added only to an integer register of 16, 32 or 64 bits");
    rd_next(r);
    Operand plus = op_const(r->fn, (uint64_t)expr_integer(r, "a constant to add"), width);
    DescId add = desc_make(r->t, OP_ADD, type_make(TC_U, width));
    RegId sum = emit_step(r, width, add, op_reg(r->fn, reg), plus, 3);
    rd_push_op(r, op_reg(r->fn, sum), at);
    r->ops.at[r->ops.n - 1].sum = true;
    rd_shape(r, '%');
}

// Fails unless the current token is a dot, a letter, and letters or digits, as Ori text requires of a selector.
static void require_selector(Reader *r)
{
    const char *text = r->lx.start;
    int len = (int)(r->lx.end - text), n = 1;
    while (n < len && (n == 1 ? isalpha((unsigned char)text[n]) : isalnum((unsigned char)text[n])))
        n++;
    if (n < len)
        rd_fail(r, rd_offset(r), "'%.*s' is not a selector of a video instruction, such as .b0, .h1 or .b3210", len,
                text);
}

static void read_register(Reader *r, RegId reg, uint32_t vec, uint32_t mods, size_t at, bool address)
{
    int element = vec ? vector_element(r) : -1;
    if (element >= (int)vec)
        rd_fail(r, rd_offset(r), "this vector register has %u elements", vec);
    if (vec && element < 0) {
        for (uint32_t k = 0; k < vec; k++) {
            shape_put(r, k ? ",%" : "{%", 2);
            rd_push_op(r, op_reg(r->fn, reg + k), at);
        }
        rd_shape(r, '}');
        return;
    }
    if (element >= 0) {
        reg += (RegId)element;
        rd_next(r);
    } else if (r->tok == '+' && !r->brackets && !mods) {
        read_sum(r, reg, at);
        return;
    }
    Operand op = op_reg(r->fn, reg);
    op.mods = mods;
    rd_push_op(r, op, at);
    if (address) {
        rd_shape(r, '&');
        read_offset(r, at);
        return;
    }
    rd_shape(r, '%');
    if (r->tok == T_DOT) {  // a selector of a video instruction: `%r1.b3210`
        require_selector(r);
        shape_put(r, r->lx.start, (size_t)(r->lx.end - r->lx.start));
        rd_next(r);
    }
}

// Reads a whole vector of special registers, such as `%tid`, as its four elements. False if the name is no such vector.
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
        rd_push_op(r, op_make(K_SREG, 0, (uint32_t)sreg + k), at);
    }
    if (sreg >= 0)
        rd_shape(r, '}');
    return sreg >= 0;
}

// True if an unknown name at the start of a line is a label or a mnemonic. `lx` has the name; the current token follows
// it.
static bool starts_statement(const Reader *r, const Lexer *lx)
{
    size_t n = (size_t)(lx->end - lx->start);
    const char *line = lx->start;
    while (line > r->source->text && (line[-1] == ' ' || line[-1] == '\t'))
        line--;
    bool first = line == r->source->text || line[-1] == '\n';
    return first && (r->tok == ':' || op_find(lx->start, n) != OPCODE_COUNT || op_family_known(lx->start, n));
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
    if (sreg < 0 && !r->shape.n && starts_statement(r, &lx))
        rd_fail_end(r, at, "expected ';' after the instruction");
    if (sreg < 0)
        rd_fail(r, at, "'%.*s' is not declared", (int)(lx.end - lx.start), lx.start);
    rd_push_op(r, op_make(K_SREG, 0, (uint32_t)sreg), at);
    rd_shape(r, '%');
}

// Converts an element index to 32 bits.
static RegId narrow_index(Reader *r, RegId index, size_t at)
{
    Width width = (Width)ir_reg(r->fn, index)->width;
    if (width == W32)
        return index;
    if (width != W16 && width != W64)
        rd_fail(r, at, "an element index must be a constant or a 16-bit, 32-bit or 64-bit register");
    TypeClass class = ir_reg(r->fn, index)->type == TY_S16 ? TC_S : TC_U;
    DescId cvt = desc_make(r->t, OP_CVT, type_make(class, W32), type_make(class, width));
    return emit_step(r, W32, cvt, op_reg(r->fn, index), op_none(), 2);
}

// Use of an address with an element index.
typedef struct IndexUse {
    bool memory;   // the address of an access, not a value
    bool generic;  // the access names no state space
    Width width;   // width of the value
} IndexUse;

// Computes the address of `sym[reg + plus]` as ptxas does: the index is taken as 32 bits, scaled, then zero-extended.
// For `.shared` all steps have 32 bits (tried).
static RegId index_symbol(Reader *r, SymId sym, RegId index, int64_t plus, uint32_t element, IndexUse use, size_t at)
{
    Fn *fn = r->fn;
    Operand scale = op_const(fn, (uint64_t)__builtin_ctz(element), W32), zero = op_const(fn, 0, W64);
    DescId add = desc_make(r->t, OP_ADD, TY_U32), widen = desc_make(r->t, OP_CVT, TY_U64, TY_U32);
    index = narrow_index(r, index, at);
    if (plus)
        index = emit_step(r, W32, add, op_reg(fn, index), op_const(fn, (uint64_t)plus, W32), 3);
    RegId scaled = emit_step(r, W32, desc_make(r->t, OP_SHL, TY_B32), op_reg(fn, index), scale, 3);
    if (ir_sym(fn, sym)->space == SP_SHARED) {
        RegId base = emit_step(r, W32, desc_make(r->t, OP_ADDR, TY_U32), op_sym(sym), zero, 3);
        RegId sum = emit_step(r, W32, add, op_reg(fn, base), op_reg(fn, scaled), 3);
        if (!use.generic && (use.memory || use.width == W32))
            return sum;
        RegId wide = emit_step(r, W64, widen, op_reg(fn, sum), zero, 2);
        DescId generic = desc_make(r->t, OP_CVTA, TY_U64, .mods = {MOD_SHARED});
        return use.generic ? emit_step(r, W64, generic, op_reg(fn, wide), zero, 2) : wide;
    }
    RegId wide = emit_step(r, W64, widen, op_reg(fn, scaled), zero, 2);
    RegId base = emit_step(r, W64, desc_make(r->t, OP_ADDR, TY_U64), op_sym(sym), zero, 3);
    return emit_step(r, W64, desc_make(r->t, OP_ADD, TY_S64), op_reg(fn, base), op_reg(fn, wide), 3);
}

static void read_symbol(Reader *r, const MnemCache *mnem, const Bind *bind, size_t at, bool address)
{
    SymId id = bind->id;
    const Sym *s = ir_sym(r->fn, id);
    if (s->kind == SYM_BRANCHTARGETS) {
        rd_push_op(r, op_make(K_LIST, 0, s->list), at);
        rd_shape(r, '%');
        return;
    }
    // An index counts scalars, also of vector variables, and bytes if the array has no size (tried).
    uint32_t element = s->flags & SYM_OPEN ? 1 : MAX(width_bits(type_info[s->type].width) / 8, 1);
    rd_push_op(r, op_sym(id), at);
    if (address || r->tok != '[') {
        rd_shape(r, '&');
        read_offset(r, at);
        return;
    }
    // `sym[4]` without brackets around it is an element index.
    const Mnem *m = tab_mnem(r->t, mnem->mnem);
    IndexUse use = {.memory = op_info[mnem->first].traits & (TR_READ | TR_WRITE), .width = type_info[m->type[0]].width};
    use.generic = use.memory && !m->mod[MC_SPACE];
    rd_next(r);
    uint32_t vec;
    RegId index = r->tok == T_ID ? scope_find_reg(r, rd_token_name(r), &vec) : 0;
    int64_t offset = 0;
    if (index) {
        rd_next(r);
        int64_t plus = rd_accept(r, '+') ? expr_integer(r, "an element index") : 0;
        r->ops.n--;  // replace the symbol by the register
        rd_push_op(r, op_reg(r->fn, index_symbol(r, id, index, plus, element, use, at)), at);
    } else {
        // The offset has 32 bits and is unsigned (tried). In the 32-bit spaces, signed is the same.
        uint32_t bytes = (uint32_t)((uint64_t)expr_integer(r, "an element index") * element);
        bool narrow = s->space == SP_SHARED || s->space == SP_CONST || s->space == SP_LOCAL || s->space == SP_PARAM;
        offset = narrow ? (int64_t)(int32_t)bytes : (int64_t)bytes;
    }
    rd_expect(r, ']', "after the index");
    const char *shape = use.memory ? "[&]" : index ? "%" : "&";
    shape_put(r, shape, strlen(shape));
    if (use.memory || !index)
        push_offset(r, offset, at);
}

static void read_identifier(Reader *r, const MnemCache *mnem, Name name, uint32_t mods, bool address)
{
    size_t at = rd_offset(r);
    const char *text = r->lx.start;
    size_t len = (size_t)(r->lx.end - text);
    if (len == 1 && *text == '_') {
        rd_next(r);
        rd_push_op(r, op_none(), at);
        rd_shape(r, '%');
        return;
    }
    if (mnem->first == OP_BRA) {
        rd_next(r);
        rd_push_op(r, op_block(scope_label_use(r, name, at)), at);
        rd_shape(r, '%');
        return;
    }
    uint32_t vec;
    RegId reg = scope_find_reg(r, name, &vec);
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
    rd_next(r);
    read_symbol(r, mnem, bind, at, address);
}

static void read_literal(Reader *r, bool address)
{
    size_t at = rd_offset(r);
    if (address) {
        rd_shape(r, '&');
        rd_push_op(r, op_none(), at);
        push_offset(r, expr_integer(r, "an address"), at);
        return;
    }
    Value v = expr_parse(r);
    rd_shape(r, '%');
    rd_push_literal(r, v, at);
}

static bool names_register(Reader *r)
{
    uint32_t vec;
    return r->tok == T_ID && !rd_is(r, "WARP_SZ") && scope_find_reg(r, rd_token_name(r), &vec);
}

// Reads `!p`, `-r` of a video instruction, or a constant with a sign.
static void read_signed(Reader *r, const MnemCache *mnem, bool address)
{
    Lexer lx = r->lx;
    int sign = r->tok;
    bool digit = *lx.cur >= '0' && *lx.cur <= '9';
    if (!digit)
        rd_next(r);
    if (!digit && names_register(r)) {
        if (sign == '-')
            rd_shape(r, '-');
        read_identifier(r, mnem, rd_token_name(r), sign == '!' ? OPM_NOT : 0, address);
        return;
    }
    r->lx = lx;
    r->tok = sign;
    read_literal(r, address);
}

// Removes the braces around one operand, as in `ld.u64 {%rd1}, [%rd2]`. ptxas takes them in loads and stores without a
// vector length only (N16). So each access has one shape.
static void drop_lone_braces(Reader *r, const MnemCache *mnem)
{
    bool access = mnem->first == OP_LD || mnem->first == OP_LDU || mnem->first == OP_ST;
    if (!access || tab_mnem(r->t, mnem->mnem)->mod[MC_VEC])
        return;
    for (uint32_t k = 0; k + 2 < r->shape.n; k++) {
        char *at = r->shape.at + k;
        if (memcmp(at, "{%}", 3) != 0)
            continue;
        at[0] = '%';
        memmove(at + 1, at + 3, r->shape.n - k - 3);
        r->shape.n -= 2;
    }
}

void rd_operands(Reader *r, const MnemCache *mnem)
{
    char open[32];
    bool want = true;      // an operand is allowed here
    bool address = false;  // the operand is the first one in a bracket
    r->ops.n = r->shape.n = r->braces = r->brackets = 0;
    while (r->tok != ';') {
        size_t at = rd_offset(r);
        int tok = r->tok;
        if (tok == T_EOF)
            rd_fail_end(r, at, "expected ';' after the instruction");
        if (tok == '{' || tok == '[') {
            if (!want)
                rd_fail_end(r, at, "expected ',' or ';'");
            if (r->brackets == sizeof open)
                rd_fail(r, at, "brackets are nested too deeply");
            open[r->brackets++] = tok == '{' ? '}' : ']';
            rd_shape(r, (char)tok);
            address = tok == '[';
            r->braces += tok == '{';
            rd_next(r);
        } else if (tok == '}' || tok == ']') {
            if (!r->brackets)
                rd_fail_end(r, at, "expected ';' after the instruction");
            if (open[r->brackets - 1] != tok)
                rd_fail(r, at, "this bracket does not match");
            r->brackets--;
            rd_shape(r, (char)tok);
            want = false;
            r->braces -= tok == '}';
            rd_next(r);
        } else if (tok == ',' || tok == '|') {
            rd_shape(r, (char)tok);
            want = true;
            address = false;
            rd_next(r);
        } else if (!want) {
            rd_fail_end(r, at, "expected ',' or ';'");
        } else {
            if (tok == T_ID && !rd_is(r, "WARP_SZ"))
                read_identifier(r, mnem, rd_token_name(r), 0, address);
            else if (tok == '!' || tok == '-')
                read_signed(r, mnem, address);
            else if (expr_starts(r))
                read_literal(r, address);
            else if (tok == '@' && !r->shape.n)
                rd_fail_end(r, at, "expected ';' after the instruction");
            else
                rd_fail(r, at, "expected an operand");
            want = false;
            address = false;
        }
    }
    if (r->brackets)
        rd_fail(r, rd_offset(r), "expected '%c'", open[r->brackets - 1]);
    drop_lone_braces(r, mnem);
}

/* -- Fitting -------------------------------------------------------------------------------------------- */

// Computes the bits of a floating-point constant that is an element of a vector or of a packing move. ptxas does not
// round such a constant (all tried). A 64-bit element has the bits as written, a 32-bit element the low bits, a
// narrower element 0. A signed 64-bit element is 0 for a double. An .f32 element is rounded, as elsewhere, except in
// atom, red and st.v8. False for any other constant.
static bool element_bits(const Reader *r, const Desc *d, const Slot *slot, Value v, uint64_t *bits)
{
    if (v.kind == LIT_INT)
        return false;
    uint8_t vec = tab_mnem(r->t, d->mnem)->mod[MC_VEC];
    bool raw_floats = d->op == OP_ATOM || d->op == OP_RED || (vec == MOD_V8 && d->op == OP_ST);
    TypeClass class = type_info[slot->type].class;
    bool integer = class == TC_B || class == TC_U || class == TC_S;
    if (!(vec || d->op == OP_PACK))
        return false;
    if (slot->type == TY_F32 && raw_floats && v.kind == LIT_F64) {
        *bits = (uint32_t)v.bits;
        return true;
    }
    if (!integer || (slot->type == TY_S64 && v.kind == LIT_F32))
        return false;
    *bits = slot->width < W32 || slot->type == TY_S64 ? 0 : slot->width == W32 ? (uint32_t)v.bits : v.bits;
    return true;
}

const char *rd_literal(Reader *r, const Parsed *p, const Desc *d, const Slot *slot, Operand *op, char words[static 200])
{
    Value v = {.kind = p->literal, .bits = p->value};
    if (!(slot->flags & SL_IMM))
        return "an immediate is not allowed here; move it into a register first";
    if (slot->type == TY_NONE) {
        *op = op_const(r->fn, v.bits, v.kind == LIT_F32 ? W32 : W64);
        op->mods |= v.kind == LIT_F32 ? OPM_F32 : v.kind == LIT_F64 ? OPM_F64 : 0;
        return NULL;
    }
    uint64_t bits = v.bits;
    const char *why;
    if (!element_bits(r, d, slot, v, &bits) && !literal_bits((Type)slot->type, v, &bits, &why))
        return why;
    if (range_info[slot->range].text)
        bits &= range_info[slot->range].text;
    // In a slot of any width, a constant has the width of the slot's type.
    *op = op_const(r->fn, bits, slot->width ? (Width)slot->width : type_info[slot->type].width);
    op->mods = p->op.mods;
    return slot->range ? slot_check(r->fn, slot, *op, words) : NULL;
}

static Operand carry_register(Reader *r, bool definition)
{
    Fn *fn = r->fn;
    if (!fn->cc)
        fn->cc = reg_new(fn, RF_CC, W1);
    // A carry from another block is not modelled (rule 8 of phases/soundness.md).
    if (!definition && !r->carry)
        fn->flags |= FN_PASSTHROUGH;
    Operand op = op_reg(fn, fn->cc);
    return definition ? op_def(op) : op;
}

static void check_space(Reader *r, const Desc *d, const Parsed *base)
{
    Space want = mod_space((Mod)tab_mnem(r->t, d->mnem)->mod[MC_SPACE]);
    const Sym *s = ir_sym(r->fn, op_index(base->op));
    if (want != SP_GENERIC && !space_contains(want, (Space)s->space) && s->kind != SYM_FUNC && d->op != OP_OPAQUE)
        rd_fail(r, base->offset, "state space mismatch: the variable is not in the state space of the instruction");
}

// Checks an operand against its slot, turns a literal into a constant and sets flags.
static Operand fit_operand(Reader *r, const MnemCache *mnem, const Desc *d, uint32_t k, const Parsed *p)
{
    const Slot *slot = &d->slots[k];
    Operand op = p->op;
    char why[200];
    if (p->literal) {
        const char *rejected = rd_literal(r, p, d, slot, &op, why);
        if (rejected)
            rd_fail(r, p->offset, "%s", rejected);
        return op;
    }
    if (slot_check(r->fn, slot, op, why))
        rd_fail(r, p->offset, "operand of '%.*s': %s", (int)mnem->len, mnem->text, why);
    if (op_kind(op) == K_SYM)
        check_space(r, d, p);
    bool base = op_kind(op) == K_NONE && slot->flags & SL_SYM && d->op != OP_OPAQUE && op_info[d->op].ntypes != OP_RAW;
    if (base && tab_mnem(r->t, d->mnem)->mod[MC_SPACE] != MOD_LOCAL)
        rd_fail(r, p->offset, "an immediate address is allowed only in .local");
    if (p->sum && slot->flags & (SL_DEF | SL_INOUT))
        rd_fail(r, p->offset, "a sum cannot be written");
    if (op.mods & OPM_NOT && !(slot->flags & SL_NOT))
        rd_fail(r, p->offset, "'!' is not allowed here");
    if (op_is_reg(op)) {
        Reg *reg = ir_reg(r->fn, op_index(op));
        if (d->op == OP_OPAQUE)
            reg->flags |= REG_PINNED;
        if (slot->flags & SL_INOUT)
            op.mods |= OPM_INOUT;
    }
    return rd_in_slot(slot, op);
}

uint32_t rd_fit_operands(Reader *r, const MnemCache *mnem, DescId desc, const Operand *guard, BlockId next, uint32_t *n)
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
        bool simple = plain && p->reg && !p->op.mods && !p->sum && slot_takes_reg(slot, p->reg);
        out[k] = simple ? rd_in_slot(slot, p->op) : fit_operand(r, mnem, d, k, p);
    }
    if (guard)
        out[d->nops] = *guard;
    bool empty = d->ndef && d->op != OP_ATOM && d->op != OP_CALL && op_info[d->op].ntypes != OP_RAW;
    for (uint32_t k = 0; k < d->ndef; k++)
        empty &= op_kind(out[k]) == K_NONE;
    if (empty)
        rd_fail(r, r->ops.at[0].offset, "at least one destination must be a register");
    return run;
}
