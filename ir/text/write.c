// SPDX-License-Identifier: MIT
// Writes Ori text. Registers and blocks keep their numbers during a run, so the difference of two dumps is the effect
// of a phase.
//
// An instruction prints as its shape filled with operands, as in PTX. The element of the shape with the definitions is
// left of a `=`. Operands that PTX does not show (carry, tied uses, the guard-false successor) are printed.
#include <stdlib.h>

#include "ir/text/text.h"

typedef struct Writer {
    const Module *m;
    const Fn *fn;
    const Tables *t;
    Out *out;
    Arena scratch;
    uint8_t *reg_seen;  // by RegId: SEEN_*
    SymId *table_of;    // by ListId
    BlockId *preds;     // by BlockId: the first PREDS_SHOWN predecessors
    uint32_t *npreds;   // by BlockId: number of predecessors
    BlockId from;       // source of the edges that count_pred() counts
    bool line_table;    // lines are declared, and instructions name them by number
} Writer;

enum { SEEN_USED = 1, SEEN_DEFINED = 2, SEEN_OPAQUE = 4, PREDS_SHOWN = 8, VALUES_PER_LINE = 16 };

static void put_z(Writer *w, const char *text) { out_z(w->out, text); }
static void put_str(Writer *w, StrId id) { out_bytes(w->out, tab_str(w->t, id).text, tab_str(w->t, id).len); }

static void put_symbol(Writer *w, Name name)
{
    put_z(w, "@");
    name_print(w->out, w->t, name);
}

// Prints a text in quotes, each line as a separate string. The reader joins these strings.
static void put_quoted(Writer *w, const char *text, size_t n)
{
    put_z(w, "\"");
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)text[k];
        if (c == '"' || c == '\\')
            out_char(w->out, '\\');
        if (c == '\n')
            put_z(w, k + 1 < n ? "\\n\"\n  \"" : "\\n");
        else if (c == '\t')
            put_z(w, "\\t");
        else if (c < ' ' || c >= 127)
            out_z(w->out, "\\x"), out_hex(w->out, c, 2);
        else
            out_char(w->out, (char)c);
    }
    put_z(w, "\"");
}

// Prints a text that contains strings of PTX. These strings have no escapes.
static void put_with_strings(Writer *w, const char *text, size_t n)
{
    const char *end = text + n, *quote, *close;
    while ((quote = memchr(text, '"', (size_t)(end - text))) &&
           (close = memchr(quote + 1, '"', (size_t)(end - quote) - 1))) {
        out_bytes(w->out, text, (size_t)(quote - text));
        put_quoted(w, quote + 1, (size_t)(close - quote) - 1);
        text = close + 1;
    }
    out_bytes(w->out, text, (size_t)(end - text));
}

static void put_quoted_str(Writer *w, StrId id) { put_quoted(w, tab_str(w->t, id).text, tab_str(w->t, id).len); }

/* -- Operands ------------------------------------------------------------------------------------------- */

static void put_register(Writer *w, RegId id)
{
    const Reg *r = ir_reg(w->fn, id);
    put_z(w, reg_file_names[r->file]);
    out_u64(w->out, r->ordinal);
}

// Prints a register with its width.
static void put_sized_register(Writer *w, RegId id)
{
    put_register(w, id);
    if (ir_reg(w->fn, id)->width != W1)
        out_fmt(w->out, ":%u", width_bits((Width)ir_reg(w->fn, id)->width));
}

static void put_block(Writer *w, BlockId b)
{
    const Block *block = ir_block(w->fn, b);
    if (block->label.stem) {
        put_z(w, "\"");
        name_print(w->out, w->t, block->label);
        put_z(w, "\"");
    } else {
        put_z(w, "b");
        out_u64(w->out, block->ordinal);
    }
}

static void put_const(Writer *w, ConstId id, Type type, uint32_t mods)
{
    Const c = tab_const(w->t, id);
    if (id == CONST_UNDEF)
        put_z(w, "undef");
    else if (type == TY_F32 || mods & OPM_F32)
        put_z(w, "0f"), out_hex(w->out, c.bits, 8);
    else if (type == TY_F64 || mods & OPM_F64)
        put_z(w, "0d"), out_hex(w->out, c.bits, 16);
    else
        out_i64(w->out, const_signed(c));
}

static void put_operand(Writer *w, Operand o, Type type)
{
    if (o.mods & OPM_INOUT)
        put_z(w, "!");
    if (o.mods & OPM_NOT)
        put_z(w, "!");
    switch (op_kind(o)) {
    case K_NONE: put_z(w, "_"); break;
    case K_REG:
        if (op_is_def(o) || o.mods & OPM_INOUT)
            put_sized_register(w, op_index(o));
        else
            put_register(w, op_index(o));
        break;
    case K_IMM: put_const(w, op_index(o), type, o.mods); break;
    case K_SYM: put_symbol(w, ir_sym(w->fn, op_index(o))->name); break;
    case K_SREG: put_z(w, sreg_info[op_index(o)].name); break;
    case K_BANK: out_fmt(w->out, "c[%u]", op_index(o)); break;
    case K_BLOCK: put_block(w, op_index(o)); break;
    case K_LIST: put_symbol(w, ir_sym(w->fn, w->table_of[op_index(o)])->name); break;
    }
    if (o.mods & OPM_CONSTRAINTS)
        out_fmt(w->out, "{c:%u}", (o.mods & OPM_CONSTRAINTS) >> OPM_CONSTRAINT_SHIFT);
}

static void put_address(Writer *w, Operand base, Operand offset)
{
    int64_t bytes = const_signed(tab_const(w->t, op_index(offset)));
    bool absolute = op_kind(base) == K_NONE;
    if (!absolute)
        put_operand(w, base, TY_NONE);
    if (!absolute && (bytes > 0 || offset.mods & OPM_SPELLED) && bytes >= 0)
        put_z(w, "+");
    if (absolute || bytes || offset.mods & OPM_SPELLED)
        out_i64(w->out, bytes);
}

// Prints the hidden operands from operand k on: the carry. Returns the next operand.
static uint32_t put_hidden(Writer *w, const Desc *d, const Operand *ops, uint32_t k)
{
    for (; k < d->nops && d->slots[k].flags & SL_HIDDEN && d->slots[k].flags & SL_REG; k++) {
        put_z(w, ", ");
        put_register(w, op_index(ops[k]));
    }
    return k;
}

// Prints a part of the shape filled with operands. Returns the next operand.
static uint32_t put_shape(Writer *w, const char *p, const char *end, const Desc *d, const Operand *ops, uint32_t k)
{
    for (; p < end; p++) {
        switch (*p) {
        case '%':
        case '$':
            put_operand(w, ops[k], (Type)d->slots[k].type);
            k = put_hidden(w, d, ops, k + 1);
            break;
        case '&':
            put_address(w, ops[k], ops[k + 1]);
            k += 2;
            break;
        case ',': put_z(w, ", "); break;
        case ':': put_z(w, ": "); break;
        case '~':
            put_z(w, " else ");
            put_operand(w, ops[k++], TY_NONE);
            break;
        default: out_char(w->out, *p);
        }
    }
    return k;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static void put_mnemonic(Writer *w, const Desc *d)
{
    Str text = tab_str(w->t, tab_mnem(w->t, d->mnem)->text);
    bool pragma = d->op == OP_PRAGMA;
    if (d->op == OP_OPAQUE) {
        put_z(w, "opaque ");
        put_quoted(w, text.text, text.len);
    } else {
        put_with_strings(w, text.text + pragma, text.len - pragma);  // `.pragma "..."`
    }
}

static void put_position(Writer *w, const Line *l)
{
    out_fmt(w->out, l->col ? "%u:%u:%u" : "%u:%u", l->file, l->line, l->col);
}

static void put_annotations(Writer *w, const Instr *i, const Desc *d)
{
    static const char *const marks[] = {" {prop}", " {defer}", " {under}"};
    for (uint32_t k = 0; k < ARRAY_LEN(marks); k++)
        if (i->marks >> k & 1)
            put_z(w, marks[k]);
    if (i->flags & IF_IMPLICIT)
        put_z(w, " {implicit}");
    if (i->flags & IF_PINNED && d->op != OP_PRAGMA)
        put_z(w, " {pinned}");
    if (i->callseq)
        out_fmt(w->out, "  #%u", i->callseq);
    if (i->line && w->line_table) {
        out_fmt(w->out, "  !%u", i->line);
    } else if (i->line) {
        put_z(w, "  !");
        put_position(w, ir_line(w->fn, i->line));
    }
}

static void put_instr(Writer *w, const Instr *i)
{
    const Desc *d = ir_desc(w->fn, i);
    const Operand *ops = ir_ops(w->fn, i);
    Str shape = tab_str(w->t, d->shape);
    const char *right = shape.text, *end = shape.text + shape.len;
    uint32_t k = 0;
    put_z(w, "  ");
    if (ir_guarded(i)) {
        put_z(w, "@");
        put_operand(w, ops[ir_guard_index(i)], TY_NONE);
        put_z(w, " ");
    }
    if (d->ndef) {
        const char *left_end = desc_element_end(shape.text, end);
        k = put_shape(w, shape.text, left_end, d, ops, 0);
        put_z(w, " = ");
        right = left_end < end ? left_end + 1 : end;
    }
    put_mnemonic(w, d);
    if (right < end && *right != '~')
        put_z(w, " ");
    put_shape(w, right, end, d, ops, k);
    for (uint32_t t = 0; t < ir_ntied(i); t++) {
        put_z(w, t ? ", " : " else ");
        put_operand(w, *ir_tied(w->fn, i, t), TY_NONE);
    }
    put_annotations(w, i, d);
    put_z(w, "\n");
}

/* -- Declarations --------------------------------------------------------------------------------------- */

static const char *const space_words[] = {
    [SP_NONE] = "",       [SP_GLOBAL] = "global", [SP_CONST] = "const", [SP_SHARED] = "shared", [SP_LOCAL] = "local",
    [SP_PARAM] = "param", [SP_REG] = "reg",       [SP_TEX] = "tex",     [SP_GENERIC] = ""};

static void put_linkage(Writer *w, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *word;
    } words[] = {{SYM_EXTERN, " extern"}, {SYM_VISIBLE, " visible"}, {SYM_WEAK, " weak"}, {SYM_COMMON, " common"}};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (flags & words[k].flag)
            put_z(w, words[k].word);
}

// Prints the attribute of a symbol, which the IR holds as `.attribute(...)`.
static void put_attribute(Writer *w, StrId id)
{
    static const char managed[] = ".attribute(.managed)";
    Str s = tab_str(w->t, id);
    if (s.len == sizeof managed - 1 && memcmp(s.text, managed, s.len) == 0) {
        put_z(w, " managed");
    } else if (id) {
        put_z(w, " attribute ");
        put_quoted(w, s.text, s.len);
    }
}

// True for an array of bytes, which is printed as `size 16` instead of `.b8[16]`.
static bool is_bytes(const Sym *s)
{
    return s->type == TY_B8 && !s->vec && s->space != SP_TEX && s->flags & SYM_ARRAY && !(s->flags & SYM_OPEN);
}

static void put_type(Writer *w, const Sym *s)
{
    if (type_info[s->type].class == TC_B && !s->vec && !(s->flags & SYM_ARRAY)) {
        out_fmt(w->out, "%u", width_bits(type_info[s->type].width));
        return;
    }
    if (s->vec)
        out_fmt(w->out, ".v%u", s->vec);
    out_fmt(w->out, ".%s", type_info[s->type].name);
    if (s->flags & SYM_OPEN)
        put_z(w, "[]");
    else if (s->flags & SYM_ARRAY)
        out_fmt(w->out, "[%llu]", (unsigned long long)s->count);
}

// Prints `@name: .f32[4] ptr(global, 16) align 16`, or for bytes `@name align 4 size 16`. The name `_` is omitted.
static void put_declarator(Writer *w, const Sym *s, bool typed)
{
    Str name = tab_str(w->t, s->name.stem);
    bool named = !(name.len == 1 && name.text[0] == '_' && s->name.number == NO_NUMBER);
    const char *gap = "";
    if (named) {
        put_symbol(w, s->name);
        gap = " ";
    }
    if (typed && !is_bytes(s)) {
        put_z(w, named ? ": " : "");
        put_type(w, s);
        gap = " ";
    }
    if (s->flags & SYM_PTR) {
        out_fmt(w->out, "%sptr", gap);
        if (s->ptr_space || s->ptr_align)
            out_fmt(w->out, "(%s", space_words[s->ptr_space]);
        if (s->ptr_align)
            out_fmt(w->out, s->ptr_space ? ", %u" : "%u", s->ptr_align);
        put_z(w, s->ptr_space || s->ptr_align ? ")" : "");
        gap = " ";
    }
    if (s->flags & SYM_ALIGNED) {
        out_fmt(w->out, "%salign %u", gap, s->align);
        gap = " ";
    }
    if (typed && is_bytes(s))
        out_fmt(w->out, "%ssize %llu", gap, (unsigned long long)s->size);
    put_attribute(w, s->attribute);
}

static void put_reloc(Writer *w, const Reloc *reloc)
{
    const Sym *target = reloc->sym & SYM_LOCAL ? ir_sym(w->fn, reloc->sym) : &w->m->syms.at[reloc->sym];
    if (reloc->mask) {
        put_z(w, "0x");
        out_hex(w->out, reloc->mask, 16);
        put_z(w, "(");
    }
    put_z(w, reloc->generic ? "generic(" : "");
    put_symbol(w, target->name);
    put_z(w, reloc->generic ? ")" : "");
    if (reloc->addend) {
        put_z(w, reloc->addend > 0 ? "+" : "");
        out_i64(w->out, reloc->addend);
    }
    put_z(w, reloc->mask ? ")" : "");
}

static void put_init(Writer *w, const Sym *s)
{
    const Init *init = s->init;
    uint32_t bytes = MAX(width_bits(type_info[s->type].width) / 8, 1), next = 0, n = 0;
    put_z(w, " = ");
    if (init->raw) {
        put_z(w, "raw ");
        put_quoted_str(w, init->raw);
        return;
    }
    bool table = init->braces && init->size / bytes > VALUES_PER_LINE;
    put_z(w, init->braces ? "{" : "");
    for (uint64_t at = 0; at < init->size; at += bytes, n++) {
        put_z(w, at ? "," : "");
        put_z(w, table && n % VALUES_PER_LINE == 0 ? "\n  " : at ? " " : "");
        if (next < init->nrelocs && init->relocs[next].offset == at) {
            put_reloc(w, &init->relocs[next++]);
            continue;
        }
        uint64_t bits = 0;
        memcpy(&bits, init->bytes + at, MIN(bytes, 8));
        if (s->type == TY_F32 || s->type == TY_F64)
            put_z(w, s->type == TY_F32 ? "0f" : "0d"), out_hex(w->out, bits, bytes * 2);
        else
            out_i64(w->out, const_signed((Const){bits, type_info[s->type].width}));
    }
    put_z(w, init->braces ? table ? "\n}" : "}" : "");
}

static void put_variable(Writer *w, const Sym *s)
{
    bool handle = type_info[s->type].class == TC_O && s->space == SP_GLOBAL && !s->vec && !(s->flags & SYM_ARRAY);
    const char *word = space_words[s->space];
    if (handle)
        word = s->type == TY_TEXREF ? "tex" : s->type == TY_SURFREF ? "surf" : "sampler";
    put_z(w, word);
    put_z(w, " ");
    put_declarator(w, s, !handle);
    if (s->init)
        put_init(w, s);
    put_linkage(w, s->flags);
    put_z(w, "\n");
}

static void put_formals(Writer *w, const SymId *syms, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const Sym *s = ir_sym(w->fn, syms[k]);
        put_z(w, k ? ", " : "");
        put_z(w, s->space == SP_REG ? "reg " : "");
        put_declarator(w, s, true);
    }
}

// Prints `(parameters) -> results`. If `lone`, a single result has no parentheses: no attributes or directives follow
// that the reader could take as those of the result.
static void put_signature(Writer *w, const Sig *sig, bool lone)
{
    const char *open = lone && sig->nrets == 1 ? "" : "(";
    if (sig->has_params) {
        put_z(w, "(");
        put_formals(w, sig->params, sig->nparams);
        put_z(w, ")");
    }
    if (!sig->nrets)
        return;
    put_z(w, " -> ");
    put_z(w, open);
    put_formals(w, sig->rets, sig->nrets);
    put_z(w, *open ? ")" : "");
}

static void put_targets(Writer *w, const List *list)
{
    for (uint32_t k = 0; k < list->n; k++) {
        put_z(w, k ? ", " : " ");
        put_operand(w, ir_run(w->fn, list->ops)[k], TY_NONE);
    }
}

static void put_preserve(Writer *w, const char *word, uint32_t number1)
{
    if (!number1)
        return;
    put_z(w, word);
    out_u64(w->out, number1 - 1);
}

// Prints a local symbol: a variable, a prototype, or a table.
static void put_local(Writer *w, const Sym *s)
{
    if (s->flags & SYM_GONE)
        return;
    switch ((SymKind)s->kind) {
    case SYM_VAR:
    case SYM_CALLPARAM:
        put_z(w, "  ");
        put_variable(w, s);
        break;
    case SYM_PROTO:
        put_z(w, "  proto ");
        put_symbol(w, s->name);
        put_signature(w, s->sig, true);
        put_z(w, s->sig->noreturn ? " noreturn" : "");
        put_preserve(w, " abi_preserve ", s->sig->preserve);
        put_preserve(w, " abi_preserve_control ", s->sig->preserve_control);
        put_z(w, "\n");
        break;
    case SYM_CALLTARGETS:
    case SYM_BRANCHTARGETS:
        put_z(w, s->kind == SYM_CALLTARGETS ? "  targets " : "  table ");
        put_symbol(w, s->name);
        put_targets(w, ir_list(w->fn, s->list));
        put_z(w, "\n");
        break;
    case SYM_FUNC:
    case SYM_FORMAL: break;
    }
}

/* -- Registers and lines -------------------------------------------------------------------------------- */

static void visit_registers(Writer *w)
{
    const Fn *fn = w->fn;
    w->reg_seen = NEW_ARRAY(&w->scratch, uint8_t, fn->regs.n);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            uint8_t opaque = ir_desc(fn, i)->op == OP_OPAQUE ? SEEN_OPAQUE : 0;
            for (uint32_t k = 0; k < i->nops; k++) {
                if (!op_is_reg(ops[k]))
                    continue;
                bool guard = ir_guarded(i) && k + 1 == i->nops;
                w->reg_seen[op_index(ops[k])] |= SEEN_USED | (guard ? 0 : opaque);
                if (op_is_def(ops[k]) || ops[k].mods & OPM_INOUT)
                    w->reg_seen[op_index(ops[k])] |= SEEN_DEFINED;
            }
        }
    }
}

// Declares the registers with names, and with properties that their definitions do not state.
static void put_register_declarations(Writer *w)
{
    const Fn *fn = w->fn;
    for (RegId k = 1; k < fn->regs.n; k++) {
        const Reg *r = ir_reg(fn, k);
        bool named = r->flags & (REG_NAMED | REG_SHOWN) || (fn->flags & FN_DEBUG && r->name.stem);
        bool pinned = r->flags & REG_PINNED && !(w->reg_seen[k] & SEEN_OPAQUE);
        bool defined = w->reg_seen[k] & SEEN_DEFINED || r->file == RF_CC;
        if (!(w->reg_seen[k] & SEEN_USED) || (defined && !named && !pinned))
            continue;
        put_z(w, "  reg ");
        put_sized_register(w, k);
        if (named) {
            put_z(w, " \"");
            name_print(w->out, w->t, r->name);
            put_z(w, "\"");
            if (r->type)
                out_fmt(w->out, " .%s", type_info[r->type].name);
        }
        put_z(w, r->flags & REG_NAMED ? " named" : "");
        put_z(w, pinned ? " pinned\n" : "\n");
    }
}

// True if all lines are plain positions without duplicates, so that each instruction can have its position.
static bool lines_are_positions(Writer *w)
{
    const Fn *fn = w->fn;
    IdSet seen = {0};
    for (LineId k = 1; k < fn->lines.n; k++) {
        const Line *l = ir_line(fn, k);
        if (l->at || l->after || line_first(fn, &seen, &w->scratch, k) != k)
            return false;
    }
    return true;
}

// Declares all lines of the function unless they are plain positions.
static void put_lines(Writer *w)
{
    const Fn *fn = w->fn;
    w->line_table = !lines_are_positions(w);
    for (LineId k = 1; k < fn->lines.n && w->line_table; k++) {
        const Line *l = ir_line(fn, k);
        out_fmt(w->out, "  line !%u ", k);
        put_position(w, l);
        if (l->at) {
            put_z(w, " inlined \"");
            name_print(w->out, w->t, l->function);
            out_fmt(w->out, l->function_offset ? "\"+%u" : "\"", l->function_offset);
            out_fmt(w->out, " at !%u", l->at);
        }
        if (l->after)
            out_fmt(w->out, " after !%u", l->after);
        put_z(w, "\n");
    }
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void count_pred(void *user, Operand *target)
{
    Writer *w = user;
    BlockId b = op_index(*target);
    BlockId *shown = w->preds + (size_t)b * PREDS_SHOWN;
    uint32_t n = w->npreds[b];
    if (n && shown[MIN(n, PREDS_SHOWN) - 1] == w->from)
        return;  // a terminator that names the block twice
    if (n < PREDS_SHOWN)
        shown[n] = w->from;
    w->npreds[b]++;
}

static void find_preds(Writer *w)
{
    const Fn *fn = w->fn;
    w->preds = arena_alloc(&w->scratch, (size_t)fn->blocks.n * PREDS_SHOWN * sizeof(BlockId));
    w->npreds = NEW_ARRAY(&w->scratch, uint32_t, fn->blocks.n);
    FOR_BLOCKS(fn, b) {
        const Block *block = ir_block(fn, b);
        w->from = b;
        if (block->last && ir_desc(fn, ir_instr(fn, block->last))->traits & TR_TERM)
            ir_successors(fn, block->last, count_pred, w);
    }
}

static void put_block_head(Writer *w, BlockId b, uint32_t expected)
{
    enum { COMMENT_COLUMN = 40 };
    static const char blanks[] = "                                        ";
    const Block *block = ir_block(w->fn, b);
    uint64_t start = w->out->total + w->out->n;
    put_block(w, b);
    if (block->source != expected)
        out_fmt(w->out, " {source %u}", block->source);
    put_z(w, ":");
    uint64_t width = w->out->total + w->out->n - start;
    uint32_t n = w->npreds[b];
    if (n) {
        out_bytes(w->out, blanks, width < COMMENT_COLUMN ? COMMENT_COLUMN - width : 1);
        put_z(w, "; preds");
    }
    for (uint32_t k = 0; k < MIN(n, PREDS_SHOWN); k++) {
        put_z(w, " ");
        put_block(w, w->preds[(size_t)b * PREDS_SHOWN + k]);
    }
    if (n > PREDS_SHOWN)
        out_fmt(w->out, " and %u more", n - PREDS_SHOWN);
    put_z(w, "\n");
}

static void put_directives(Writer *w)
{
    for (uint32_t k = 0; k < w->fn->directives.n; k++) {
        const Directive *d = &w->fn->directives.at[k];
        Str text = tab_str(w->t, d->text);  // `.maxntid`, `.pragma "...";`
        bool semicolon = text.len && text.text[text.len - 1] == ';';
        put_z(w, " ");
        put_with_strings(w, text.text + 1, text.len - 1 - semicolon);
        for (uint32_t v = 0; v < d->n; v++)
            out_fmt(w->out, v ? ", %u" : " %u", d->value[v]);
    }
}

static void put_header(Writer *w, bool body)
{
    const Fn *fn = w->fn;
    const Sym *s = &w->m->syms.at[fn->sym];
    put_z(w, fn->flags & FN_KERNEL ? "kernel " : "device ");
    put_symbol(w, s->name);
    put_signature(w, &fn->sig, !s->attribute && !fn->directives.n);
    put_linkage(w, s->flags);
    put_attribute(w, s->attribute);
    put_directives(w);
    if (fn->flags & FN_DEBUG)
        put_z(w, " debug");
    if (body && fn->flags & FN_PASSTHROUGH)
        put_z(w, " passthrough");
    if (body && fn->pipeline_counter)
        out_fmt(w->out, " pipeline %u", fn->pipeline_counter);
    if (body)
        put_z(w, fn->form == FORM_SSA ? " form ssa {" : " form multi {");
    put_z(w, "\n");
}

static void put_blocks(Writer *w, TextAround *around, void *user)
{
    const Fn *fn = w->fn;
    uint32_t source = 0;  // default source position of the next block
    FOR_BLOCKS(fn, b) {
        if (around)
            around(user, b, true);
        put_block_head(w, b, source);
        source = ir_block(fn, b)->source + 1;
        FOR_INSTRS(fn, b, id)
            put_instr(w, ir_instr(fn, id));
        if (around)
            around(user, b, false);
    }
}

static void find_tables(Writer *w)
{
    const Fn *fn = w->fn;
    w->table_of = NEW_ARRAY(&w->scratch, SymId, fn->lists.n);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        if (ir_sym(fn, k | SYM_LOCAL)->kind == SYM_BRANCHTARGETS)
            w->table_of[ir_sym(fn, k | SYM_LOCAL)->list] = k | SYM_LOCAL;
}

static void put_body(Writer *w)
{
    const Fn *fn = w->fn;
    find_tables(w);
    visit_registers(w);
    find_preds(w);
    put_register_declarations(w);
    put_lines(w);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        put_local(w, ir_sym(fn, k | SYM_LOCAL));
    put_blocks(w, NULL, NULL);
    put_z(w, "}\n");
}

static void put_fn(Writer *w, const Fn *fn, bool body)
{
    w->fn = fn;
    w->t = fn->tables;
    arena_init(&w->scratch, fn->arena.heap);
    put_header(w, body);
    if (body)
        put_body(w);
    arena_free(&w->scratch);
}

void text_write_fn(const Fn *fn, Out *out)
{
    put_fn(&(Writer){.m = fn->module, .out = out}, fn, fn->flags & FN_DEFINED);
}

void text_write_blocks(const Fn *fn, Out *out, TextAround *around, void *user)
{
    Writer w = {.m = fn->module, .fn = fn, .t = fn->tables, .out = out};
    arena_init(&w.scratch, fn->arena.heap);
    find_tables(&w);
    find_preds(&w);
    w.line_table = !lines_are_positions(&w);
    put_blocks(&w, around, user);
    arena_free(&w.scratch);
}

/* -- Modules -------------------------------------------------------------------------------------------- */

void text_write_header(const Module *m, Out *out)
{
    Writer w = {.m = m, .t = &m->tables, .out = out};
    put_z(&w, "target ");
    put_str(&w, m->target);
    put_z(&w, " ptx ");
    put_str(&w, m->version);
    if (m->address_size)
        out_fmt(out, " address %u", m->address_size);
    put_z(&w, "\n");
}

// Prints module-level text: `.file 1 "a.cu"`, `.pragma "x";` and `.alias a, b;` without dot and semicolon, any other
// text in quotes.
static void put_raw(Writer *w, Str s)
{
    static const char *const words[] = {".file ", ".pragma ", ".alias "};
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t n = strlen(words[k]);
        if (s.len < n || memcmp(s.text, words[k], n) != 0)
            continue;
        put_with_strings(w, s.text + 1, s.len - 1 - (s.text[s.len - 1] == ';'));
        put_z(w, "\n");
        return;
    }
    put_z(w, "raw ");
    put_quoted(w, s.text, s.len);
    put_z(w, "\n");
}

void text_write_item(const Module *m, const Item *item, Out *out)
{
    Writer w = {.m = m, .t = &m->tables, .out = out};
    switch (item->kind) {
    case ITEM_VAR: put_variable(&w, &m->syms.at[item->index]); break;
    case ITEM_FN: text_write_fn(m->fns.at[item->index], out); break;
    case ITEM_RAW: put_raw(&w, m->texts.at[item->index]); break;
    }
}

/* -- Dumps ---------------------------------------------------------------------------------------------- */

typedef struct References {
    Arena scratch;
    VEC(SymId) at;
    IdSet seen;
    bool initial;  // the initial value of a variable contains the function's own address
} References;

static void refer(References *refs, SymId id)
{
    uint32_t hash = id * 0x9E3779B1u;
    if (id & SYM_LOCAL)
        return;
    IDSET_EACH(&refs->seen, hash, k) {
        if (k == id)
            return;
    }
    idset_add(&refs->seen, &refs->scratch, hash, id);
    VEC_PUSH(&refs->scratch, &refs->at, id);
}

static void refer_init(References *refs, const Init *init)
{
    for (uint32_t k = 0; init && k < init->nrelocs; k++)
        refer(refs, init->relocs[k].sym);
}

static void refer_operands(References *refs, const Operand *ops, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (op_kind(ops[k]) == K_SYM)
            refer(refs, op_index(ops[k]));
}

// Collects the module's symbols that a function names, and the symbols that their initializers name.
static void find_references(References *refs, const Fn *fn)
{
    refer(refs, fn->sym);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            refer_operands(refs, ir_ops(fn, ir_instr(fn, id)), ir_instr(fn, id)->nops);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        refer_init(refs, s->init);
        if (s->kind == SYM_CALLTARGETS)
            refer_operands(refs, ir_run(fn, ir_list(fn, s->list)->ops), ir_list(fn, s->list)->n);
    }
    for (uint32_t k = 0; k < refs->at.n; k++) {
        const Init *init = fn->module->syms.at[refs->at.at[k]].init;
        refer_init(refs, init);
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            refs->initial |= init->relocs[r].sym == fn->sym;
    }
}

static int by_id(const void *a, const void *b)
{
    SymId x = *(const SymId *)a, y = *(const SymId *)b;
    return (x > y) - (x < y);
}

void text_write_dump(const Fn *fn, Out *out)
{
    const Module *m = fn->module;
    References refs = {.at = {0}};
    Writer w = {.m = m, .t = &m->tables, .out = out};
    arena_init(&refs.scratch, fn->arena.heap);
    find_references(&refs, fn);
    // In the order of the module, each symbol is before its first mention.
    qsort(refs.at.at, refs.at.n, sizeof *refs.at.at, by_id);
    text_write_header(m, out);
    for (uint32_t k = 0; k < refs.at.n; k++) {
        const Sym *s = &m->syms.at[refs.at.at[k]];
        const Fn *declared = refs.at.at[k] != fn->sym ? s->fn : refs.initial ? fn : NULL;
        if (s->kind == SYM_VAR)
            put_variable(&w, s);
        else if (declared)
            put_fn(&(Writer){.m = m, .out = out}, declared, false);
    }
    text_write_fn(fn, out);
    arena_free(&refs.scratch);
}
