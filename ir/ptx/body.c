// SPDX-License-Identifier: MIT
// Reads function bodies: turns statements into blocks and instructions.
//
// The mnemonic of an instruction is looked up by its text, and parsed only if it is new. Most instructions have the
// latest shape of their mnemonic and are read by it (predict.c). For the others a flat loop reads the operands into a
// list and their syntax into a shape (`%,[&]`). Mnemonic and shape determine the descriptor. Its slots constrain the
// operands and determine the types of literals.
#include <stdio.h>

#include "ir/ptx/read.h"

// cp.async with a predicate that ignores the source.
enum { CP_ASYNC_IGNORES = 75 };

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

void rd_need_block(Reader *r)
{
    if (!r->block)
        start_block(r, block_new(r->fn));
}

// Appends an implicit branch: blocks of the IR end in a terminator.
static void append_branch(Reader *r, BlockId to)
{
    Operand target = op_block(to);
    InstrId id = ir_append(r->fn, r->block, r->desc_bra, IF_IMPLICIT, &target, 1);
    ir_instr(r->fn, id)->line = r->line;
}

// Makes `next` the fall-through successor of the guarded terminator before the open block, and removes the open block.
// False if the open block has code or a label, or is not the successor of a guarded terminator.
static bool take_block_back(Reader *r, BlockId next)
{
    Fn *fn = r->fn;
    const Block *block = ir_block(fn, r->block);
    const Instr *i = block->prev ? ir_instr(fn, ir_terminator(fn, block->prev)) : NULL;
    if (block->first || block->flags & BLOCK_KEEP_LABEL || !i || !ir_guarded(i))
        return false;
    Operand *other_way = ir_ops(fn, i) + ir_desc(fn, i)->nops - 1;
    if (op_index(*other_way) != r->block)
        return false;
    *other_way = op_block(next);
    block_unlink(fn, r->block);
    r->sources--;
    return true;
}

// Ends the open block with a branch to `next`, and opens `next`.
static void fall_into(Reader *r, BlockId next)
{
    if (r->block && !take_block_back(r, next))
        append_branch(r, next);
    start_block(r, next);
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// Splits the word before the next blank, control character or semicolon into eight-byte parts, padded with zeros.
// Returns its length; 0 if it is empty or too long. The NUL after the source ends the word, and the slack covers the
// loads.
static inline size_t word_parts(const char *text, uint64_t key[static WORD_MAX / 8])
{
    const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
    for (size_t k = 0; k < WORD_MAX / 8; k++) {
        uint64_t x;
        memcpy(&x, text + 8 * k, 8);
        uint64_t semicolon = x ^ ones * ';';
        // The lowest bit of each term is exact; a borrow affects only the bits above it.
        uint64_t stops = (((x - ones * ('!')) & ~x) | ((semicolon - ones) & ~semicolon)) & high;
        key[k] = x;
        if (stops) {
            key[k] &= (stops & (0 - stops)) / 128 - 1;
            return 8 * k + (size_t)__builtin_ctzll(stops) / 8;
        }
    }
    return 0;
}

static inline WordCache *word_slot(Reader *r, const uint64_t key[static WORD_MAX / 8])
{
    uint64_t h = hash_mix(hash_mix(key[0], key[1]), key[2]);
    return &r->word_cache[h >> 54];
}

// Reads the first token of a statement. Fast path for a word that was read as a mnemonic before.
static void next_statement(Reader *r)
{
    uint64_t key[WORD_MAX / 8] = {0};
    const char *p = r->lx.cur;
    while (*p == ' ' || *p == '\t' || *p == '\n')
        p++;
    size_t len = word_parts(p, key);
    WordCache *word = word_slot(r, key);
    if (len && memcmp(word->key, key, sizeof key) == 0) {
        r->mnem = &r->descs.mnems.at[word->index1 - 1];
        r->tok = T_MNEMONIC;
        r->lx.start = p;
        r->lx.cur = r->lx.end = p + len;
        return;
    }
    rd_next_statement(r);
    size_t n = (size_t)(r->lx.end - r->lx.start);
    r->mnem = r->tok == T_MNEMONIC ? desc_cache_known(&r->descs, r->lx.start, n) : NULL;
    if (r->mnem && !r->mnem->seen)
        r->mnem = NULL;
    if (r->mnem && r->lx.start == p && n == len) {
        memcpy(word->key, key, sizeof key);
        word->index1 = (uint32_t)(r->mnem - r->descs.mnems.at) + 1;
    }
}

// Replaces a mnemonic that options.version does not have by an older spelling, if there is one.
static void spell_older(Reader *r, MnemCache *cache)
{
    static const Str no_shape = {.text = ""};
    char text[256], next[256];
    Str name = tab_str(r->t, tab_mnem(r->t, cache->mnem)->text);
    MnemId mnem = cache->mnem;
    size_t len = name.len;
    if (len > sizeof text)
        return;
    memcpy(text, name.text, len);
    for (uint32_t row = 0; row < MNEM_OLDER_ROWS; row++) {
        const Mnem *m = tab_mnem(r->t, mnem);
        if (isa_version(r->t, m, r->m, isa_of(r->t, m->first, m, no_shape)) <= r->options.version)
            break;
        if (!mnem_older((Str){.text = text, .len = (uint32_t)len}, row, next, &len))
            continue;
        memcpy(text, next, len);
        mnem = mnem_intern(r->t, text, len);
    }
    const Mnem *m = tab_mnem(r->t, mnem);
    if (isa_judged(r->t, m) && isa_version(r->t, m, r->m, isa_of(r->t, m->first, m, no_shape)) <= r->options.version) {
        cache->mnem = mnem;
        cache->first = m->first;
    }
}

static MnemCache *find_mnemonic(Reader *r, const char *text, size_t len, size_t at)
{
    MnemCache *m = desc_cache_mnem(&r->descs, text, len);
    if (m->seen)
        return m;
    m->seen = true;
    if (op_info[m->first].traits & TR_PSEUDO)
        rd_fail(r, at, "'%.*s' is not a PTX instruction", (int)len, text);
    const char *dot = memchr(text, '.', len);
    size_t base = dot ? (size_t)(dot - text) : len;
    if (m->first == OP_OPAQUE && !op_name_possible(text, base)) {
        m->seen = false;
        rd_fail(r, at, "'%.*s' is not an instruction: their names are in lower case", (int)MIN(len, 80), text);
    }
    Str word = op_unknown_word(text, len);
    const char *consequence = m->first == OP_OPAQUE ? "; it is passed through unchanged" : "";
    if (m->first == OP_OPAQUE && op_find(text, base) == OPCODE_COUNT && !op_family_known(text, base))
        diag_at(r->diag, DIAG_WARNING, at, "'%.*s' is not a known instruction%s", (int)len, text, consequence);
    else if (word.len)
        diag_at(r->diag, DIAG_WARNING, at, "'%.*s' has an unknown modifier or type, '.%.*s'%s", (int)MIN(len, 80), text,
                (int)MIN(word.len, 40), word.text, consequence);
    if (r->options.version)
        spell_older(r, m);
    return m;
}

static DescId find_desc(Reader *r, MnemCache *mnem, size_t at)
{
    const char *why;
    DescId desc = desc_cache_find(&r->descs, mnem, r->shape.at, r->shape.n, &why);
    if (desc) {
        // check_version() reports what options.version lacks.
        if (!r->options.version || tab_desc(r->t, desc)->needs.version <= r->options.version)
            desc_cache_warn(mnem, r->m, desc, r->diag, at);
        return desc;
    }
    char words[200];
    desc_expected(why, words);
    rd_fail(r, at, "these operands do not fit '%.*s', which takes: %s", (int)mnem->len, mnem->text, words);
}

// Reads a guard, `@p` or `@!p`.
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
    next_statement(r);
    Operand op = op_reg(r->fn, reg);
    op.mods = negated ? OPM_NOT : 0;
    return op;
}

// Reads a mnemonic as one text, without the blanks that it may contain (`add .u32`).
static MnemCache *read_mnemonic(Reader *r)
{
    const char *text = r->lx.start;
    size_t len = (size_t)(r->lx.end - r->lx.start), at = rd_offset(r);
    rd_next(r);
    if (r->tok != T_DOT)
        return r->mnem ? r->mnem : find_mnemonic(r, text, len, at);
    VEC(char) joined = {0};
    for (size_t k = 0; k < len; k++)
        VEC_PUSH(&r->arena, &joined, text[k]);
    for (; r->tok == T_DOT; rd_next(r))
        for (const char *p = r->lx.start; p < r->lx.end; p++)
            VEC_PUSH(&r->arena, &joined, *p);
    return find_mnemonic(r, joined.at, joined.n, at);
}

// An instruction whose operands are in fn->ops.
typedef struct Parts {
    DescId desc;
    uint32_t run, n;  // operands
    BlockId next;     // successor of a guarded terminator, else 0
} Parts;

// Reports an instruction that options.version does not have.
static void check_version(Reader *r, InstrId id, size_t at)
{
    const Instr *i = ir_instr(r->fn, id);
    const Desc *d = tab_desc(r->t, i->desc);
    const Mnem *m = tab_mnem(r->t, d->mnem);
    Str text = tab_str(r->t, m->text);
    unsigned need = isa_version(r->t, m, r->m, d->needs), gone = isa_gone(r->t, m, r->m), most = r->options.version;
    int len = (int)MIN(text.len, 80);
    for (uint32_t k = i->ndef; k < d->nops; k++) {
        Operand o = ir_ops(r->fn, i)[k];
        const char *name = op_kind(o) == K_SREG ? sreg_info[op_index(o)].name : "";
        bool predicate = op_is_reg(o) && ir_reg(r->fn, op_index(o))->width == W1;
        rd_need(r, at, name, strcspn(name, "."));
        if (predicate && (d->op == OP_CP_ASYNC_CA || d->op == OP_CP_ASYNC_CG))
            need = MAX(need, CP_ASYNC_IGNORES);
    }
    if (need > most)
        rd_error(r, at, "'%.*s' needs PTX %u.%u", len, text.text, need / 10, need % 10);
    else if (gone)
        rd_error(r, at, "PTX %u.%u and later versions do not have '%.*s' for .target sm_%u", gone / 10, gone % 10, len,
                 text.text, r->m->isa.sm);
    else if (r->lowered && !isa_judged(r->t, m))
        rd_error(r, at, "the version of PTX that '%.*s' needs is not known, so it cannot become PTX %u.%u", len,
                 text.text, most / 10, most % 10);
}

static void append_instr(Reader *r, Parts parts, bool guarded, size_t at)
{
    Fn *fn = r->fn;
    const Desc *d = tab_desc(r->t, parts.desc);
    InstrId id = ir_append_run(fn, r->block, parts.desc, guarded ? IF_GUARDED : 0, parts.run, parts.n);
    Instr *i = ir_instr(fn, id);
    i->line = r->line;
    r->line_used = true;
    if (r->options.positions)
        fn_note_where(fn, id, at);
    if (r->options.version)
        check_version(r, id, at);
    for (uint32_t k = 0; k < d->ndef && k < 2 && !d->plain; k++)
        if (d->slots[k].flags & SL_HIDDEN) {
            // A guarded definition of the carry may keep the old carry.
            if (guarded && !r->carry)
                fn->flags |= FN_PASSTHROUGH;
            r->carry = true;
        }
    if (d->op == OP_CALL) {
        rd_number_call(r, id);
        vector_load_results(r);
    } else if ((d->op == OP_LD || d->op == OP_ST) && tab_mnem(r->t, d->mnem)->mod[MC_SPACE] >= MOD_PARAM) {
        rd_note_param(r, id, d->op);
    }
    if (d->traits & TR_TERM) {
        r->block = 0;
        if (parts.next)
            start_block(r, parts.next);
    } else if (d->op == OP_TRAP || d->op == OP_BRKPT) {
        fall_into(r, block_new(fn));
    }
}

// Reads an instruction with the latest descriptor of its mnemonic. False if its operands do not have that shape.
static bool read_predicted(Reader *r, const Operand *guard, Parts *parts)
{
    const MnemCache *mnem = r->mnem;
    if (!mnem || !mnem->regular)
        return false;
    const Desc *d = tab_desc(r->t, mnem->desc);
    uint32_t n = d->nops + (guard != NULL), run = ops_new(r->fn, n);
    Operand *ops = ir_run(r->fn, run);
    if (!rd_predict(r, mnem, d, ops)) {
        if (n)
            seg_cut(&r->fn->ops, run);
        return false;
    }
    if (guard)
        ops[d->nops] = *guard;
    rd_need_block(r);
    *parts = (Parts){.desc = mnem->desc, .run = run, .n = n};
    return true;
}

// Reads an instruction of any shape; `start` is the offset of its guard or mnemonic.
static Parts read_parts(Reader *r, const Operand *guard, size_t start)
{
    size_t at = rd_offset(r);
    MnemCache *mnem = read_mnemonic(r);
    if (mnem->first == OP_CALL)
        rd_call(r);
    else
        rd_operands(r, mnem);
    if (guard && mnem->first == OP_CALL && r->results.n)
        rd_fail(r, at, "a guarded call with a vector result is not supported; branch around the call");
    if (mnem->first == OP_RET)
        vector_store_results(r);
    bool terminator = op_info[mnem->first].traits & TR_TERM;
    if (guard && terminator)
        rd_shape(r, '~');
    Parts parts = {.desc = find_desc(r, mnem, start)};
    rd_need_block(r);
    parts.next = guard && terminator ? block_new(r->fn) : 0;
    parts.run = rd_fit_operands(r, mnem, parts.desc, guard, parts.next, &parts.n);
    return parts;
}

static void read_instruction(Reader *r)
{
    size_t start = rd_offset(r);
    bool guarded = r->tok == '@';
    Operand guard = guarded ? read_guard(r) : op_none();
    if (r->tok != T_MNEMONIC && r->tok != T_ID)
        rd_fail(r, rd_offset(r), "expected an instruction");
    Parts parts;
    if (!read_predicted(r, guarded ? &guard : NULL, &parts))
        parts = read_parts(r, guarded ? &guard : NULL, start);
    append_instr(r, parts, guarded, start);
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

// Returns the last line with this position, to which `inlined_at` refers. ptxas rejects a position without a line.
static LineId last_line(Reader *r, const Line *position)
{
    Fn *fn = r->fn;
    for (LineId id = r->lines.last.n; id < fn->lines.n; id++) {
        VEC_PUSH(&r->lines.arena, &r->lines.last, id);
        if (id)
            r->lines.last.at[line_first(fn, &r->lines.first, &r->lines.arena, id)] = id;
    }
    LineId first = line_find(fn, &r->lines.first, position);
    return first ? r->lines.last.at[first] : line_new(fn, *position);
}

// Reads `.loc FILE LINE COLUMN [, function_name LABEL [+ OFFSET], inlined_at FILE LINE COLUMN]` (no semicolon).
static void read_loc(Reader *r)
{
    Line line = {0}, call = {0};
    bool inlined = false;
    rd_next(r);
    line.file = line_number(r);
    line.line = line_number(r);
    if (r->tok == T_INT)
        line.col = line_number(r);
    // A comma continues the directive. Any other token begins a statement, and is lexed again by the lexer of
    // statements.
    if (r->tok == ',') {
        static const char inlined_at[] = "inlined_at";
        if (!r->options.strip_debug)
            rd_need(r, rd_offset(r), inlined_at, sizeof inlined_at - 1);
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
        call.file = line_number(r);
        call.line = line_number(r);
        call.col = line_number(r);
        inlined = true;
    }
    r->lx.cur = r->lx.start;
    if (r->options.strip_debug)
        return;
    line.at = inlined ? last_line(r, &call) : 0;
    line.after = r->line_used ? 0 : r->line;
    r->line = line_new(r->fn, line);
    r->line_used = false;
}

static void read_pragma(Reader *r)
{
    rd_next(r);
    do {
        if (r->tok != T_STRING)
            rd_fail(r, rd_offset(r), "expected a string");
        rd_need_pragma(r);
        DescId pragma = desc_pragma(r->t, r->lx.start, (size_t)(r->lx.end - r->lx.start));
        if (!pragma)
            rd_fail(r, rd_offset(r), "this pragma is too long");
        fn_note_knob(r->fn, r->lx.start + 1, (size_t)(r->lx.end - r->lx.start) - 2, rd_offset(r) + 1);
        rd_next(r);
        rd_need_block(r);
        InstrId id = ir_append(r->fn, r->block, pragma, IF_PINNED, NULL, 0);
        ir_instr(r->fn, id)->line = r->line;
        r->line_used = true;
    } while (rd_accept(r, ','));
    rd_expect(r, ';', "after the pragma");
}

// Reads `.branchtargets A, B, C<2>;` or `.calltargets f, g;` after `NAME:`.
static void read_targets(Reader *r, Name name, size_t at, bool calls)
{
    VEC(Operand) list = {0};
    rd_need_token(r);
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
            rd_expect(r, '>', "after the number");
            for (uint32_t k = 0; k < n; k++)
                VEC_PUSH(&r->arena, &list, op_block(scope_label_use(r, (Name){stem, k}, target_at)));
        } else {
            VEC_PUSH(&r->arena, &list, op_block(scope_label_use(r, target, target_at)));
        }
    } while (rd_accept(r, ','));
    rd_expect(r, ';', "after the targets");
    SymKind kind = calls ? SYM_CALLTARGETS : SYM_BRANCHTARGETS;
    SymId s = fn_table(r->fn, scope_unique(r, name), kind, list.at, list.n);
    scope_declare(r, name, BIND_SYM, s, 0, at);
}

// Reads `WORD N` if it is next. Returns N plus one, else 0.
static uint32_t read_preserve(Reader *r, const char *word)
{
    if (r->tok != T_DOT || !rd_is_text(r, word, strlen(word)))
        return 0;
    rd_need_token(r);
    rd_next(r);
    size_t at = rd_offset(r);
    uint32_t n = line_number(r);
    if (n >= INT32_MAX)
        rd_fail(r, at, "too many registers");
    return n + 1;
}

// Reads `.callprototype (results) _ (parameters) [.noreturn] [.abi_preserve N] [.abi_preserve_control N];` after
// `NAME:`. The last two have any order.
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
        rd_need_token(r);
        rd_next(r);
    }
    sig->preserve = read_preserve(r, ".abi_preserve");
    sig->preserve_control = read_preserve(r, ".abi_preserve_control");
    if (!sig->preserve)
        sig->preserve = read_preserve(r, ".abi_preserve");
    rd_expect(r, ';', "after the prototype");
    SymId s = fn_sym(r->fn, scope_unique(r, name), SYM_PROTO);
    ir_sym(r->fn, s)->sig = sig;
    scope_declare(r, name, BIND_SYM, s, 0, at);
}

// Reads a table or a prototype after `NAME:`, or defines the label. Leaves the next statement's first token.
static void read_labelled(Reader *r, Name name, size_t at, Lexer spelled)
{
    next_statement(r);
    bool dot = r->tok == T_DOT;
    if (dot && (rd_is(r, ".branchtargets") || rd_is(r, ".calltargets"))) {
        read_targets(r, name, at, rd_is(r, ".calltargets"));
        next_statement(r);
    } else if (dot && rd_is(r, ".callprototype")) {
        read_prototype(r, name, at);
        next_statement(r);
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
        rd_fail(r, rd_offset(r), "'%.*s' is not allowed inside a function", (int)(r->lx.end - r->lx.start),
                r->lx.start);
}

/* -- Bodies --------------------------------------------------------------------------------------------- */

// Reads one statement from its first token, and leaves the first token of the next one. False at the end of the body.
static bool read_statement(Reader *r)
{
    r->braces = 0;
    r->statement = r->lx.start;
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
    next_statement(r);
    return true;
}

static BlockId resolve(BlockId *to, BlockId b)
{
    while (to[b] != b)
        b = to[b] = to[to[b]];
    return b;
}

static void retarget(void *user, Operand *target) { *target = op_block(resolve(user, op_index(*target))); }

void body_read(Reader *r)
{
    r->block = 0;
    r->sources = 0;
    r->line = 0;
    r->line_used = true;
    r->lines = (LineIndex){0};
    arena_init(&r->lines.arena, r->arena.heap);
    r->pending.n = 0;
    vector_load_formals(r);
    jmp_buf recover, *outer = r->recover;
    r->recover = &recover;
    if (setjmp(recover)) {
        r->mnem = NULL;
        rd_skip_statement(r);
    } else {
        next_statement(r);
    }
    while (!r->stop && read_statement(r))
        ;
    r->recover = outer;
    arena_free(&r->lines.arena);
    while (r->scopes.n > 1)
        scope_close(r);
    if (r->block || !r->fn->first) {
        rd_need_block(r);
        vector_store_results(r);
        InstrId id = ir_append(r->fn, r->block, desc_make(r->t, OP_RET), IF_IMPLICIT, NULL, 0);
        ir_instr(r->fn, id)->line = r->line;
    }
}

void body_finish(Reader *r)
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
