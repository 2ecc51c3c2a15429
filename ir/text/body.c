// SPDX-License-Identifier: MIT
// Reads function bodies of Ori text: declarations, blocks, instructions.
//
// A flat loop reads the operands left of the `=` and right of the mnemonic, and writes their syntax into a shape.
// Mnemonic and shape determine the descriptor, whose slots determine the types of literals. The width of a register may
// be in a later line, so the verifier checks that operands fit their slots.
#include "ir/text/read.h"

/* -- Numbers to ids ------------------------------------------------------------------------------------- */

enum { PAGE_BITS = 10, PAGE = 1 << PAGE_BITS };

static uint32_t *map_slot(Reader *r, IdMap *map, uint32_t number)
{
    uint32_t page = number >> PAGE_BITS;
    if (page >= map->npages) {
        uint32_t n = MAX(page + 1, map->npages * 2);
        uint32_t **pages = NEW_ARRAY(&r->scratch, uint32_t *, n);
        if (map->npages)
            memcpy(pages, map->pages, map->npages * sizeof *pages);
        map->pages = pages;
        map->npages = n;
    }
    if (!map->pages[page])
        map->pages[page] = NEW_ARRAY(&r->scratch, uint32_t, PAGE);
    return &map->pages[page][number & (PAGE - 1)];
}

static void note(Reader *r, Offsets *offsets, uint32_t id, size_t at)
{
    while (offsets->n <= id)
        VEC_PUSH(&r->scratch, offsets, 0);
    offsets->at[id] = at;
}

static Width width_of_bits(uint64_t bits)
{
    for (Width w = W8; w < WIDTH_COUNT; w++)
        if (width_bits(w) == bits)
            return w;
    return W_NONE;
}

// Reads `:32` after a register. Returns W_NONE if there is none. Predicates and the carry have a fixed width.
static Width read_width(Reader *r, RegFile file)
{
    if (r->tok != ':' || file == RF_P || file == RF_UP || file == RF_CC)
        return W_NONE;
    tx_next(r);
    size_t at = tx_at(r);
    Width width = width_of_bits(tx_number(r, 128, "a width"));
    if (!width)
        tx_fail(r, at, "a width must be 8, 16, 32, 64 or 128 bits");
    return width;
}

// Reads a register and the width after it.
static RegId read_register(Reader *r, bool *sized)
{
    size_t at = tx_at(r);
    RegFile file = r->lx.file;
    if (r->lx.ival > INDEX_MAX)
        tx_fail(r, at, "a register number is at most %d", INDEX_MAX);
    uint32_t number = (uint32_t)r->lx.ival, *slot = map_slot(r, &r->regs[file], number);
    bool fixed = file == RF_P || file == RF_UP || file == RF_CC;
    tx_next(r);
    Width width = read_width(r, file);
    *sized = width || fixed;
    if (!*slot && file == RF_CC && r->fn->cc)
        tx_fail(r, at, "a function has only one carry, which is CC%u in this function",
                ir_reg(r->fn, r->fn->cc)->ordinal);
    if (!*slot) {
        uint32_t next = MAX(r->fn->ordinals[file], number + 1);
        *slot = reg_new(r->fn, file, fixed ? W1 : W_NONE);
        ir_reg(r->fn, *slot)->ordinal = number;
        r->fn->ordinals[file] = next;
        note(r, &r->reg_at, *slot, at);
        if (file == RF_CC)
            r->fn->cc = *slot;
    }
    Reg *reg = ir_reg(r->fn, *slot);
    if (width && reg->width && reg->width != width)
        tx_fail(r, at, "%s%u has %u bits in another place", reg_file_names[file], number,
                width_bits((Width)reg->width));
    if (width)
        reg->width = (uint8_t)width;
    return *slot;
}

/* -- Blocks --------------------------------------------------------------------------------------------- */

static BlockId new_block(Reader *r, size_t at)
{
    BlockId b = block_new(r->fn);
    note(r, &r->block_at, b, at);
    VEC_PUSH(&r->scratch, &r->block_seen, false);
    while (r->block_seen.n <= b)
        VEC_PUSH(&r->scratch, &r->block_seen, false);
    return b;
}

static BlockId labelled_block(Reader *r)
{
    size_t at = tx_at(r);
    Name name = tx_quoted_name(r);
    IDSET_EACH(&r->labels, name_hash(name), b) {
        if (name_same(ir_block(r->fn, b)->label, name))
            return b;
    }
    tx_declare_name(r, true, name, at);
    BlockId b = new_block(r, at);
    ir_block(r->fn, b)->label = name;
    ir_block(r->fn, b)->flags |= BLOCK_KEEP_LABEL;
    idset_add(&r->labels, &r->scratch, name_hash(name), b);
    return b;
}

// Reads `b3` or `"$L__BB0_3"`.
static BlockId read_block(Reader *r)
{
    if (r->tok == T_STRING)
        return labelled_block(r);
    if (r->tok != T_BLOCK)
        tx_fail(r, tx_at(r), "expected a block: b3, or its label in quotes");
    if (r->lx.ival > INDEX_MAX)
        tx_fail(r, tx_at(r), "a block number is at most %d", INDEX_MAX);
    uint32_t number = (uint32_t)r->lx.ival, *slot = map_slot(r, &r->blocks, number);
    if (!*slot) {
        uint32_t next = MAX(r->fn->block_ordinals, number + 1);
        *slot = new_block(r, tx_at(r));
        ir_block(r->fn, *slot)->ordinal = number;
        r->fn->block_ordinals = next;
    }
    tx_next(r);
    return *slot;
}

// Reads `b3:` or `b3 {source 7}:`.
static void start_block(Reader *r)
{
    size_t at = tx_at(r);
    BlockId b = read_block(r);
    if (r->block_seen.at[b])
        tx_fail(r, at, "this block is already defined");
    if (!r->closed && !r->lost)
        tx_error(r, at, "the previous block has no terminator: end it with a branch, such as `bra b1`");
    Block *block = ir_block(r->fn, b);
    block->source = r->fn->last ? ir_block(r->fn, r->fn->last)->source + 1 : 0;
    if (tx_accept(r, '{')) {
        if (!tx_accept_word(r, "source"))
            tx_fail(r, tx_at(r), "expected `source` and the block's position");
        block->source = (uint32_t)tx_number(r, UINT32_MAX, "the block's position in the source");
        tx_expect(r, '}', "after the position");
    }
    tx_expect(r, ':', "after the block's name");
    tx_end_of_line(r);
    r->block_seen.at[b] = true;
    block_append(r->fn, b);
    r->block = b;
    r->closed = r->lost = false;
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static void shape_put(Reader *r, const char *text, size_t n)
{
    while (n--)
        VEC_PUSH(&r->arena, &r->shape, *text++);
}

static void push_literal(Reader *r, uint8_t literal, uint64_t value, uint32_t mods, size_t at)
{
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.literal = literal, .value = value, .op.mods = mods, .at = at}));
}

// Reads `{c:3}` after an operand.
static uint32_t read_constraints(Reader *r)
{
    if (r->tok != '{')
        return 0;
    Lexer lx = r->lx;
    tx_next(r);
    if (!tx_is(r, "c")) {
        r->lx = lx;
        r->tok = '{';
        return 0;
    }
    tx_next(r);
    tx_expect(r, ':', "after the c of a constraint");
    uint32_t bits = (uint32_t)tx_number(r, OPM_CONSTRAINTS >> OPM_CONSTRAINT_SHIFT, "constraint bits");
    tx_expect(r, '}', "after the constraint bits");
    return bits << OPM_CONSTRAINT_SHIFT;
}

// Adds an operand with the constraints that follow it.
static void push(Reader *r, Operand op, size_t at)
{
    op.mods |= read_constraints(r);
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.op = op, .at = at}));
}

// Reads `+16`, `-4` or nothing after a base. An offset 0 that is written in a debug function is kept.
static void read_offset(Reader *r)
{
    size_t at = tx_at(r);
    bool minus = r->tok == '-', given = minus || r->tok == '+';
    uint64_t n = 0;
    if (given) {
        tx_next(r);
        n = tx_number(r, (uint64_t)INT64_MAX + minus, "an offset");
    }
    push_literal(r, LIT_INT, minus ? 0 - n : n, given && r->fn->flags & FN_DEBUG ? OPM_SPELLED : 0, at);
}

// Moves the carry to the hidden operands: the descriptor gives its position, the shape does not contain it.
static void take_carry(Reader *r, RegId reg, size_t at)
{
    if (!r->shape.n || r->shape.at[r->shape.n - 1] != ',')
        tx_fail(r, at, "the carry must follow another operand");
    r->shape.n--;
    VEC_PUSH(&r->arena, &r->hidden, ((Parsed){.op = op_reg(r->fn, reg), .at = at}));
}

static void read_register_operand(Reader *r, uint32_t mods, bool address)
{
    size_t at = tx_at(r);
    bool sized;
    RegId reg = read_register(r, &sized);
    Operand op = op_reg(r->fn, reg);
    if (op_file(op) == RF_CC) {
        take_carry(r, reg, at);
        return;
    }
    bool states = r->left || mods & OPM_INOUT;
    if (states && !sized)
        tx_fail(r, at, "a definition must have a width, such as R%u:32", ir_reg(r->fn, reg)->ordinal);
    if (!states && sized && op_file(op) != RF_P && op_file(op) != RF_UP)
        tx_fail(r, at, "a use must not have a width");
    op.mods = mods;
    push(r, op, at);
    shape_put(r, address ? "&" : "%", 1);
    if (address)
        read_offset(r);
    else if (r->tok == T_TYPE) {  // a selector of a video instruction: R1.b3210
        shape_put(r, r->lx.start, (size_t)(r->lx.end - r->lx.start));
        tx_next(r);
    }
}

static void read_symbol(Reader *r)
{
    size_t at = tx_at(r);
    int len = (int)(r->lx.end - r->lx.start);
    const char *text = r->lx.start;
    SymId id = tx_find(r, tx_name(r, "a symbol"));
    if (!id)
        tx_fail(r, at, "'@%.*s' is not declared", len, text);
    const Sym *s = ir_sym(r->fn, id);
    if (r->in_call) {
        push(r, op_sym(id), at);
        shape_put(r, "$", 1);
    } else if (s->kind == SYM_BRANCHTARGETS) {
        push(r, op_make(K_LIST, 0, s->list), at);
        shape_put(r, "%", 1);
    } else {
        push(r, op_sym(id), at);
        shape_put(r, "&", 1);
        read_offset(r);
    }
}

static void read_word(Reader *r)
{
    size_t at = tx_at(r);
    if (tx_accept_word(r, "_")) {
        push(r, op_none(), at);
    } else if (tx_accept_word(r, "undef")) {
        push(r, op_imm(CONST_UNDEF), at);
    } else if (tx_accept_word(r, "c")) {
        tx_expect(r, '[', "after the constant bank's c");
        uint32_t bank = (uint32_t)tx_number(r, INDEX_MAX, "a constant bank");
        tx_expect(r, ']', "after the constant bank");
        push(r, op_make(K_BANK, 0, bank), at);
    } else {
        tx_fail(r, at, "expected an operand");
    }
    shape_put(r, "%", 1);
}

static void read_literal(Reader *r, bool address)
{
    size_t at = tx_at(r);
    bool minus = tx_accept(r, '-');
    if (r->tok == T_BIGINT || (minus && r->tok == T_INT && r->lx.ival > (uint64_t)INT64_MAX + 1))
        tx_fail(r, at, "this number does not fit 64 bits");
    if (r->tok != T_INT && (minus || address || (r->tok != T_F32 && r->tok != T_F64)))
        tx_fail(r, tx_at(r), minus ? "expected a number" : address ? "expected an address" : "expected an operand");
    uint8_t literal = r->tok == T_INT ? LIT_INT : r->tok == T_F32 ? LIT_F32 : LIT_F64;
    uint64_t value = minus ? 0 - r->lx.ival : r->lx.ival;
    tx_next(r);
    if (address)
        VEC_PUSH(&r->arena, &r->ops, ((Parsed){.op = op_none(), .at = at}));
    push_literal(r, literal, value, address ? 0 : read_constraints(r), at);
    shape_put(r, address ? "&" : "%", 1);
}

static void read_special(Reader *r)
{
    int sreg = sreg_find(r->lx.start, (size_t)(r->lx.end - r->lx.start));
    size_t at = tx_at(r);
    if (sreg < 0)
        tx_fail(r, at, "'%.*s' is not a special register", (int)(r->lx.end - r->lx.start), r->lx.start);
    tx_next(r);
    push(r, op_make(K_SREG, 0, (uint32_t)sreg), at);
    shape_put(r, "%", 1);
}

// Reads `!`. In an opaque instruction outside brackets, the first `!` marks a register that is read and written. Any
// other `!` negates a predicate.
static uint32_t read_bangs(Reader *r, bool opaque, bool in_brackets)
{
    uint32_t mods = 0;
    if (opaque && !in_brackets && tx_accept(r, '!'))
        mods |= OPM_INOUT;
    if (tx_accept(r, '!'))
        mods |= OPM_NOT;
    if (mods && r->tok != T_REG)
        tx_fail(r, tx_at(r), "expected a register after '!'");
    return mods;
}

static void read_operand(Reader *r, bool address, bool opaque, bool in_brackets)
{
    if (r->tok == '-') {
        Lexer lx = r->lx;
        tx_next(r);
        if (r->tok == T_REG || r->tok == '!') {  // operand of a video or an opaque instruction
            shape_put(r, "-", 1);
        } else {
            r->lx = lx;
            r->tok = '-';
        }
    }
    uint32_t mods = r->tok == '!' ? read_bangs(r, opaque, in_brackets) : 0;
    switch (r->tok) {
    case T_REG: read_register_operand(r, mods, address); break;
    case T_SYMBOL: read_symbol(r); break;
    case T_WORD: read_word(r); break;
    case T_SREG: read_special(r); break;
    case T_BLOCK:
    case T_STRING: {
        size_t at = tx_at(r);
        push(r, op_block(read_block(r)), at);
        shape_put(r, "%", 1);
        break;
    }
    default: read_literal(r, address);
    }
}

static bool is_mark(Reader *r)
{
    static const char *const marks[] = {"prop", "defer", "under", "implicit", "pinned"};
    Lexer lx = r->lx;
    bool found = false;
    if (r->tok != '{')
        return false;
    tx_next(r);
    for (size_t k = 0; k < ARRAY_LEN(marks); k++)
        found |= tx_is(r, marks[k]);
    r->lx = lx;
    r->tok = '{';
    return found;
}

static bool is_line(Reader *r)
{
    Lexer lx = r->lx;
    if (r->tok != '!')
        return false;
    tx_next(r);
    bool found = r->tok == T_INT;
    r->lx = lx;
    r->tok = '!';
    return found;
}

// True at the end of the operands: at `=`, `else`, annotations, or the end of the line.
static bool at_end(Reader *r)
{
    switch (r->tok) {
    case T_NEWLINE:
    case T_EOF:
    case '=':
    case '#': return true;
    case T_WORD: return tx_is(r, "else");
    case '!': return is_line(r);
    case '{': return is_mark(r);
    default: return false;
    }
}

static int closing(int open) { return open == '{' ? '}' : open == '[' ? ']' : ')'; }

// Reads the operands of one side of an instruction into r->shape, r->ops and r->hidden.
static void read_operands(Reader *r, bool opaque)
{
    const char *more = r->left ? "expected ',' or '='" : "expected ',' or the end of the line";
    char open[32];
    uint32_t depth = 0;
    bool want = true;      // an operand is allowed here
    bool address = false;  // the operand is the first one in a bracket
    while (!at_end(r)) {
        size_t at = tx_at(r);
        int tok = r->tok;
        if (tok == '{' || tok == '[' || tok == '(') {
            if (!want || depth == sizeof open)
                tx_fail(r, at, "%s", !want ? more : "brackets are nested too deeply");
            open[depth++] = (char)closing(tok);
            shape_put(r, (char[]){(char)tok}, 1);
            address = tok == '[';
            want = true;
            tx_next(r);
        } else if (tok == '}' || tok == ']' || tok == ')') {
            if (!depth || open[depth - 1] != tok)
                tx_fail(r, at, "this bracket does not match");
            depth--;
            shape_put(r, (char[]){(char)tok}, 1);
            want = false;
            tx_next(r);
        } else if (tok == ',' || tok == '|' || tok == ':') {
            shape_put(r, (char[]){(char)tok}, 1);
            want = true;
            address = false;
            tx_next(r);
        } else if (!want) {
            tx_fail(r, at, "%s", more);
        } else {
            bool in_brackets = false;
            for (uint32_t k = 0; k < depth; k++)
                in_brackets |= open[k] == ']';
            read_operand(r, address, opaque, in_brackets);
            want = address = false;
        }
    }
    if (depth)
        tx_fail(r, tx_at(r), "expected '%c'", open[depth - 1]);
}

/* -- Fitting -------------------------------------------------------------------------------------------- */

// Returns the constant for a literal in a slot of this type and width (W_NONE = any).
static Operand literal_operand(Reader *r, const Parsed *p, Type type, Width width)
{
    Operand op;
    TypeClass class = type_info[type].class;
    if (p->literal == LIT_INT) {
        if (class == TC_F || class == TC_X)
            tx_fail(r, p->at, "an integer is not allowed for a floating-point value: write 0f3F800000 or 0d...");
        op = op_const(r->fn, class == TC_P ? p->value != 0 : p->value, width ? width : W64);
    } else {
        Width has = p->literal == LIT_F32 ? W32 : W64;
        if (type == TY_NONE && width && width != has)
            tx_fail(r, p->at, "the width of this floating-point constant is not that of the definition");
        if ((width && width != has) || class == TC_U || class == TC_S || class == TC_P)
            tx_fail(r, p->at, "this floating-point constant does not fit .%s", type_info[type].name);
        op = op_const(r->fn, p->value, has);
        op.mods = type != TY_NONE ? 0 : p->literal == LIT_F32 ? OPM_F32 : OPM_F64;
    }
    op.mods |= p->op.mods;
    return op;
}

static Operand fit_operand(Reader *r, const Desc *d, const Slot *slot, const Parsed *p, const Operand *defs)
{
    Operand op = p->op;
    if (p->literal && slot->flags & SL_AS_DEF)
        return literal_operand(r, p, TY_NONE, (Width)ir_reg(r->fn, op_index(defs[0]))->width);
    if (p->literal) {
        if (!(slot->flags & SL_IMM))
            tx_fail(r, p->at, "an immediate is not allowed here");
        return literal_operand(r, p, (Type)slot->type, slot->width ? (Width)slot->width : type_info[slot->type].width);
    }
    if (d->op == OP_OPAQUE && op_is_reg(op))
        ir_reg(r->fn, op_index(op))->flags |= REG_PINNED;
    if (slot->flags & SL_INOUT && op_is_reg(op) && !(op.mods & OPM_INOUT))
        tx_fail(r, p->at, "a register of an opaque instruction must be read and written: write !%s%u and its width",
                reg_file_names[op_file(op)], ir_reg(r->fn, op_index(op))->ordinal);
    return slot->flags & SL_DEF ? op_def(op) : op;
}

// Writes the old values of n definitions, `else R7, 0`, to `out`.
static void fit_tied(Reader *r, Operand *out, const Operand *defs, uint32_t n, size_t at)
{
    if (r->tied.n != n)
        tx_fail(r, at, "old values after `else`: %u, expected %u", r->tied.n, n);
    for (uint32_t k = 0; k < n; k++) {
        const Parsed *p = &r->tied.at[k];
        Width width = op_is_reg(defs[k]) ? (Width)ir_reg(r->fn, op_index(defs[k]))->width : W_NONE;
        out[k] = p->literal ? literal_operand(r, p, TY_NONE, width) : p->op;
    }
}

typedef struct Statement {
    size_t at;
    bool guarded;
    Operand guard;
    bool opaque, pragma;
    MnemCache *mnem;
    uint32_t nleft, hidden_left;  // number of operands of the left side
    size_t else_at;               // 0 = none
} Statement;

// Puts the operands into canonical order. Returns the run and its length.
static uint32_t fit_operands(Reader *r, const Statement *s, const Desc *d, uint8_t *flags, uint32_t *n)
{
    uint32_t ntied = r->tied.n ? d->ndef : 0, used = 0, hidden = 0;
    *n = d->nops + ntied + s->guarded;
    uint32_t run = ops_new(r->fn, *n);
    Operand *out = ir_run(r->fn, run);
    for (uint32_t k = 0; k < d->nops; k++) {
        const Slot *slot = &d->slots[k];
        if (!(slot->flags & SL_HIDDEN)) {
            out[k] = fit_operand(r, d, slot, &r->ops.at[used++], out);
        } else if (hidden < r->hidden.n) {
            Operand op = r->hidden.at[hidden++].op;
            out[k] = slot->flags & SL_DEF ? op_def(op) : op;
        } else {
            tx_fail(r, s->at, "this instruction reads or writes the carry: write CC0 after its operands");
        }
    }
    if (hidden < r->hidden.n)
        tx_fail(r, r->hidden.at[hidden].at, "this instruction has no carry operand here");
    if (r->tied.n) {
        fit_tied(r, out + d->nops, out, d->ndef, s->else_at);
        *flags |= IF_TIED;
    }
    if (s->guarded)
        out[*n - 1] = s->guard;
    return run;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static const char *const declaration_words[] = {"reg", "line", "table", "targets", "proto"};

static bool is_declaration(const Reader *r)
{
    Type handle;
    bool found = tx_space(r, &handle) != SP_NONE;
    for (size_t k = 0; k < ARRAY_LEN(declaration_words); k++)
        found |= tx_is(r, declaration_words[k]);
    return found;
}

// Reads `@P0` or `@!P0`.
static void read_guard(Reader *r, Statement *s)
{
    bool negated = false;
    s->guarded = true;
    if (r->tok == '@') {
        tx_next(r);
        negated = tx_accept(r, '!');
    } else {
        // The lexer has read `@P0` as a symbol: lex the name again.
        r->lx.cur = r->lx.start;
        tx_next(r);
    }
    bool sized;
    if (r->tok != T_REG)
        tx_fail(r, tx_at(r), "expected a predicate register, such as P0, after '@'");
    s->guard = op_reg(r->fn, read_register(r, &sized));
    s->guard.mods = (negated ? OPM_NOT : 0) | read_constraints(r);
}

// True if the current token is a string that would be a mnemonic without its quotes.
static bool is_quoted_mnemonic(const Reader *r)
{
    Lexer lx = {.cur = r->lx.start, .limit = r->lx.limit};
    if (r->tok != T_STRING)
        return false;
    int tok = text_token(&lx);
    const char *dot = memchr(lx.start, '.', (size_t)(lx.end - lx.start));
    bool word = (tok == T_WORD || tok == T_BLOCK) && lx.start == r->lx.start && lx.end == r->lx.end;
    return word && op_name_possible(lx.start, (size_t)((dot ? dot : lx.end) - lx.start));
}

static void reject_mnemonic(Reader *r, size_t at, const char *text, size_t len)
{
    r->lx.cur = text;  // lex the word again
    tx_next(r);
    if (is_declaration(r))
        tx_fail(r, at, "declarations must come before the first block");
    tx_fail(r, at, "'%.*s' is not a known instruction; write `opaque \"%.*s\"` if ptxas accepts it", (int)MIN(len, 60),
            text, (int)MIN(len, 60), text);
}

static void read_mnemonic(Reader *r, Statement *s)
{
    size_t at = tx_at(r);
    if (r->tok != T_WORD)
        tx_fail(r, at, s->nleft ? "expected an instruction after '='" : "expected an instruction");
    s->opaque = tx_accept_word(r, "opaque");
    s->pragma = !s->opaque && tx_is(r, "pragma");
    const char *text = r->lx.start;
    size_t len = (size_t)(r->lx.end - text);
    if (s->pragma) {
        tx_next(r);
        at = tx_at(r);
        if (r->tok != T_STRING)
            tx_fail(r, at, "expected the pragma in quotes");
        r->text.n = 0;
        for (const char *p = ".pragma "; *p; p++)
            VEC_PUSH(&r->arena, &r->text, *p);
        Str string = tx_put_ptx_string(r);
        fn_note_knob(r->fn, string.text, string.len, at + 1);
        text = r->text.at;
        len = r->text.n;
    } else if (s->opaque && !is_quoted_mnemonic(r)) {
        tx_fail(r, tx_at(r), "expected the instruction in quotes, such as \"wgmma.fence.sync.aligned\"");
    }
    tx_next(r);
    s->mnem = desc_cache_mnem(&r->descs, text, len);
    r->in_call = s->mnem->first == OP_CALL;
    if (s->mnem->first == OP_OPAQUE && !s->opaque)
        reject_mnemonic(r, at, text, len);
}

static void read_else(Reader *r, Statement *s)
{
    s->else_at = tx_at(r);
    tx_next(r);
    if (op_info[s->mnem->first].traits & TR_TERM) {
        Parsed p = {.at = tx_at(r), .op = op_block(read_block(r))};
        p.op.mods = read_constraints(r);
        VEC_PUSH(&r->arena, &r->hidden, p);
        shape_put(r, "~", 1);
        return;
    }
    if (!s->guarded)
        tx_fail(r, s->else_at, "`else` without a guard");
    // Old values are read like operands, and then removed from operands and shape.
    uint32_t ops = r->ops.n, shape = r->shape.n;
    r->left = false;
    do {
        if (at_end(r))
            tx_fail(r, tx_at(r), "expected an old value");
        size_t at = tx_at(r);
        read_operand(r, false, false, false);
        if (r->ops.n == ops)
            tx_fail(r, at, "the carry has no old value");
        VEC_PUSH(&r->arena, &r->tied, r->ops.at[ops]);
        r->ops.n = ops;
    } while (tx_accept(r, ','));
    r->shape.n = shape;
}

static void read_position(Reader *r, Line *l)
{
    l->file = (uint32_t)tx_number(r, UINT32_MAX, "a file number");
    tx_expect(r, ':', "after the file");
    l->line = (uint32_t)tx_number(r, UINT32_MAX, "a line");
    if (tx_accept(r, ':'))
        l->col = (uint32_t)tx_number(r, UINT32_MAX, "a column");
}

// Reads `!1:20:3`, or `!4` for a declared line.
static LineId read_line(Reader *r)
{
    tx_next(r);
    Lexer lx = r->lx;
    uint32_t number = (uint32_t)tx_number(r, UINT32_MAX, "a line");
    if (r->tok != ':') {
        if (!number || number >= r->fn->lines.n)
            tx_fail(r, (size_t)(lx.start - r->source->text), "line !%u is not declared", number);
        return number;
    }
    r->lx = lx;
    r->tok = T_INT;
    Line line = {0};
    read_position(r, &line);
    LineId id = line_find(r->fn, &r->lines, &line);
    return id ? id : line_first(r->fn, &r->lines, &r->scratch, line_new(r->fn, line));
}

// Reads the annotations `{prop}`, `#7`, `!1:20` after an instruction.
static void read_annotations(Reader *r, Instr *i)
{
    static const char *const marks[] = {"prop", "defer", "under"};
    for (;;) {
        if (tx_accept(r, '{')) {
            uint8_t mark = 0, flag = tx_is(r, "implicit") ? IF_IMPLICIT : tx_is(r, "pinned") ? IF_PINNED : 0;
            for (uint32_t k = 0; k < ARRAY_LEN(marks); k++)
                mark |= (uint8_t)(tx_is(r, marks[k]) << k);
            if (!mark && !flag)
                tx_fail(r, tx_at(r), "expected a mark: prop, defer, under, implicit or pinned");
            i->marks |= mark;
            i->flags |= flag;
            tx_next(r);
            tx_expect(r, '}', "after the mark");
        } else if (tx_accept(r, '#')) {
            i->callseq = (uint32_t)tx_number(r, 1 << 20, "a call sequence");
        } else if (is_line(r)) {
            i->line = read_line(r);
        } else {
            return;
        }
    }
}

static DescId find_desc(Reader *r, const Statement *s)
{
    const char *why;
    DescId desc = desc_cache_find(&r->descs, s->mnem, r->shape.at, r->shape.n, &why);
    if (!desc) {
        char words[200];
        desc_expected(why, words);
        tx_fail(r, s->at, "these operands do not fit '%.*s', which takes: %s", (int)s->mnem->len, s->mnem->text,
                *words ? words : "nothing");
    }
    const Desc *d = tab_desc(r->t, desc);
    bool opaque = d->op == OP_OPAQUE;
    if (s->opaque != opaque)
        tx_fail(r, s->at,
                opaque ? "'%.*s' is not modelled with these types and operands: write `opaque` and its name in quotes"
                       : "'%.*s' is modelled: write it without `opaque` and the quotes",
                (int)s->mnem->len, s->mnem->text);
    if (!r->again)
        desc_cache_warn(s->mnem, r->m, desc, r->diag, s->at);
    if (s->nleft != d->ndef - (r->hidden.n && s->hidden_left ? s->hidden_left : 0))
        tx_fail(r, s->at, "definitions left of the `=` of '%.*s': %u, expected %u", (int)s->mnem->len, s->mnem->text,
                s->nleft + s->hidden_left, d->ndef);
    return desc;
}

static void read_instruction(Reader *r)
{
    Fn *fn = r->fn;
    Statement s = {.at = tx_at(r)};
    r->ops.n = r->hidden.n = r->tied.n = r->shape.n = 0;
    r->left = true;
    r->in_call = r->tok == '(';
    if (r->tok == T_SYMBOL || r->tok == '@')
        read_guard(r, &s);
    if (r->tok != T_WORD || tx_is(r, "_")) {
        read_operands(r, false);
        if (!r->ops.n)
            tx_fail(r, tx_at(r), r->shape.n ? "expected a definition" : "expected an instruction");
        s.nleft = r->ops.n;
        s.hidden_left = r->hidden.n;
        tx_expect(r, '=', "after the definitions");
    }
    r->left = false;
    read_mnemonic(r, &s);
    if (s.nleft && !at_end(r))
        shape_put(r, ",", 1);
    if (!s.pragma)
        read_operands(r, s.opaque);
    if (tx_is(r, "else"))
        read_else(r, &s);
    if ((!r->block || r->closed) && r->lost) {
        tx_skip_line(r);
        return;
    }
    if (!r->block || r->closed)
        tx_fail(r, s.at,
                r->block ? "this block already has a terminator; begin a new block with a label such as `b1:`"
                         : "a function must begin with the label of its first block, such as `b0:`");
    DescId desc = find_desc(r, &s);
    const Desc *d = tab_desc(r->t, desc);
    uint8_t flags = (s.guarded ? IF_GUARDED : 0) | (d->op == OP_PRAGMA ? IF_PINNED : 0);
    uint32_t n, run = fit_operands(r, &s, d, &flags, &n);
    InstrId id = ir_append_run(fn, r->block, desc, flags, run, n);
    Instr *i = ir_instr(fn, id);
    note(r, &r->instr_at, id, s.at);
    fn_note_where(fn, id, s.at);
    r->closed = d->traits & TR_TERM;
    read_annotations(r, i);
    fn->callseqs = MAX(fn->callseqs, i->callseq);
    tx_end_of_line(r);
}

/* -- Declarations --------------------------------------------------------------------------------------- */

// Reads `reg R5:32 "%r1" .u32 named pinned`.
static void read_reg(Reader *r)
{
    bool sized;
    tx_next(r);
    size_t at = tx_at(r);
    if (r->tok != T_REG)
        tx_fail(r, at, "expected a register");
    RegId id = read_register(r, &sized);
    if (!sized)
        tx_fail(r, at, "a declaration must have the register's width, such as R1:32");
    Reg *reg = ir_reg(r->fn, id);
    if (r->tok == T_STRING)
        reg->name = tx_quoted_name(r);
    if (r->tok == T_TYPE) {
        reg->type = (uint8_t)type_find(r->lx.start + 1, (size_t)(r->lx.end - r->lx.start) - 1);
        if (!reg->type || type_info[reg->type].width != (Width)reg->width)
            tx_fail(r, tx_at(r), "the type does not have the register's width");
        tx_next(r);
    }
    bool named = tx_accept_word(r, "named"), pinned = tx_accept_word(r, "pinned");
    if (named && !reg->name.stem)
        tx_fail(r, at, "expected the register's name in quotes");
    if (named)
        tx_declare_name(r, true, reg->name, at);
    reg->flags |= (named ? REG_NAMED : reg->name.stem ? REG_SHOWN : 0) | (pinned ? REG_PINNED : 0);
    tx_end_of_line(r);
}

// Reads a reference to a line before the one with this number.
static LineId read_earlier_line(Reader *r, uint32_t number)
{
    tx_expect(r, '!', "before the line's number");
    size_t at = tx_at(r);
    LineId id = (LineId)tx_number(r, number - 1, "a line before this one");
    if (!id)
        tx_fail(r, at, "lines are numbered from 1 on");
    return id;
}

// Reads `line !3 1:12:5 inlined "$L__info_string3"+16 at !1 after !2`.
static void read_line_declaration(Reader *r)
{
    Line line = {0};
    tx_next(r);
    tx_expect(r, '!', "before the line's number");
    size_t at = tx_at(r);
    uint32_t number = (uint32_t)tx_number(r, UINT32_MAX, "the line's number");
    read_position(r, &line);
    if (tx_accept_word(r, "inlined")) {
        line.function = tx_quoted_name(r);
        if (tx_accept(r, '+'))
            line.function_offset = (uint32_t)tx_number(r, UINT32_MAX, "an offset");
        if (!tx_accept_word(r, "at"))
            tx_fail(r, tx_at(r), "expected `at` and the line of the call");
        line.at = read_earlier_line(r, number);
    }
    if (tx_accept_word(r, "after"))
        line.after = read_earlier_line(r, number);
    if (line_new(r->fn, line) != number)
        tx_fail(r, at, "lines must be numbered from 1 on, in order");
    tx_end_of_line(r);
}

// Reads `table @t b1, b2` or `targets @t @f, @g`.
static void read_table(Reader *r)
{
    VEC(Operand) list = {0};
    bool calls = tx_is(r, "targets");
    tx_next(r);
    size_t at = tx_at(r);
    Name name = tx_name(r, "the table");
    do {
        if (calls) {
            size_t target_at = tx_at(r);
            SymId id = module_find(r->m, tx_name(r, "a function"));
            if (!id || r->m->syms.at[id].kind != SYM_FUNC)
                tx_fail(r, target_at, "this is not declared as a function");
            VEC_PUSH(&r->arena, &list, op_sym(id));
        } else {
            VEC_PUSH(&r->arena, &list, op_block(read_block(r)));
        }
    } while (tx_accept(r, ','));
    SymId id = fn_table(r->fn, name, calls ? SYM_CALLTARGETS : SYM_BRANCHTARGETS, list.at, list.n);
    tx_enter(r, name, id, at);
    tx_end_of_line(r);
}

// Reads `WORD N` if it is next. Returns N plus one, else 0.
static uint32_t read_preserve(Reader *r, const char *word)
{
    return tx_accept_word(r, word) ? (uint32_t)tx_number(r, INT32_MAX - 1, "the number of registers") + 1 : 0;
}

// Reads `proto @p (32, 64) -> 32 noreturn abi_preserve 8 abi_preserve_control 2`; the last three are optional.
static void read_proto(Reader *r)
{
    tx_next(r);
    size_t at = tx_at(r);
    Name name = tx_name(r, "the prototype");
    Sig *sig = NEW(&r->fn->arena, Sig);
    tx_signature(r, sig, false);
    sig->noreturn = tx_accept_word(r, "noreturn");
    sig->preserve = read_preserve(r, "abi_preserve");
    sig->preserve_control = read_preserve(r, "abi_preserve_control");
    SymId id = fn_sym(r->fn, name, SYM_PROTO);
    ir_sym(r->fn, id)->sig = sig;
    tx_enter(r, name, id, at);
    tx_end_of_line(r);
}

// Reads a declaration before the first block. False if the current line is not a declaration.
static bool read_declaration(Reader *r)
{
    static void (*const nuses[])(Reader *) = {read_reg, read_line_declaration, read_table, read_table, read_proto};
    Type handle;
    Space space = tx_space(r, &handle);
    if (space != SP_NONE) {
        tx_next(r);
        tx_variable(r, space, handle);
        return true;
    }
    for (size_t k = 0; k < ARRAY_LEN(nuses); k++)
        if (tx_is(r, declaration_words[k])) {
            nuses[k](r);
            return true;
        }
    return false;
}

/* -- Bodies --------------------------------------------------------------------------------------------- */

static bool is_label(const Reader *r)
{
    if (r->tok == T_STRING)
        return true;
    return r->tok == T_BLOCK;
}

static void read_statement(Reader *r)
{
    if (is_label(r))
        start_block(r);
    else if (r->block || !read_declaration(r))
        read_instruction(r);
}

// Checks that the function has a block, that its registers have widths, and that its blocks exist. An error is reported
// at the first mention of the register or block.
static void check_whole(Reader *r)
{
    const Fn *fn = r->fn;
    if (!r->block)
        tx_error(r, fn->offset, "this function has no block");
    else if (!r->closed)
        tx_error(r, tx_at(r), "the last block has no terminator: end it with a branch, `ret` or `exit`");
    for (RegId k = 1; k < fn->regs.n && !r->stop; k++)
        if (!ir_reg(fn, k)->width)
            tx_error(r, r->reg_at.at[k],
                     "%s%u has no definition; declare it before the first block, such as `reg %s%u:32`",
                     reg_file_names[ir_reg(fn, k)->file], ir_reg(fn, k)->ordinal, reg_file_names[ir_reg(fn, k)->file],
                     ir_reg(fn, k)->ordinal);
    for (BlockId b = 1; b < fn->blocks.n && !r->stop; b++)
        if (!r->block_seen.at[b])
            tx_error(r, r->block_at.at[b], "this function has no such block");
}

void tx_body(Reader *r)
{
    jmp_buf recover, *outer = r->recover;
    r->recover = &recover;
    if (setjmp(recover)) {
        r->lost = true;
        tx_skip_line(r);
    }
    tx_skip_empty(r);
    while (!r->stop && r->tok != '}' && r->tok != T_EOF) {
        read_statement(r);
        tx_skip_empty(r);
    }
    r->recover = outer;
    if (r->stop)
        return;
    if (r->tok == T_EOF)
        tx_fail(r, tx_at(r), "the function is not closed: expected '}'");
    if (r->diag->errors == r->errors)
        check_whole(r);
    tx_next(r);
}
