// SPDX-License-Identifier: MIT
// Writes a module as PTX, item by item. Registers are numbered per class in order of appearance, so reading and writing
// the output again gives the same bytes.
//
// An instruction is printed as its canonical mnemonic, with the types of the input, and its shape filled with operands.
// An implicit branch to the next block is not printed. A block gets a label if the input had one or if a branch needs
// it.
//
// Registers are declared by width (`.b32`). 8-bit registers stay 8-bit: if they are widened, ptxas generates different
// and sometimes longer code (measured). A function of a `debug` target keeps names and types of registers, labels,
// branches to the next block, and written zero offsets (`[%SP+0]`). Without these, ptxas -O0 generates different code
// (measured).
#include "ir/ptx/ptx.h"

typedef enum { CL_P, CL_B, CL_H, CL_R, CL_RD, CL_RQ, CLASS_COUNT } RegClass;

static const struct {
    const char *type, *prefix;
} classes[CLASS_COUNT] = {{"pred", "%p"}, {"b8", "%b"}, {"b16", "%h"}, {"b32", "%r"}, {"b64", "%rd"}, {"b128", "%rq"}};

typedef struct Prefix {
    char text[24];
    uint32_t len;
} Prefix;

// The number of a register and its printed name, set when it is first printed.
typedef struct Printed {
    char text[11];
    uint8_t len;      // of the text; LEN_LONG: the name is longer
    uint32_t number;  // 0 = not printed so far; 1 for a register that keeps its name
} Printed;
enum { LEN_LONG = 255 };

// A line while the function is printed.
typedef struct PrintedLine {
    LineId first;  // the first line with this position
    LineId last;   // of a first line: the last printed one with its position
    LineId same;   // the first line with this position, function and call
    bool done;     // it was printed
} PrintedLine;

typedef struct Writer {
    const Module *m;
    const Fn *fn;
    const Tables *t;
    Out *out;
    Arena scratch;
    Printed *registers;  // by RegId
    uint32_t count[CLASS_COUNT];
    Prefix prefix[CLASS_COUNT], label;  // of registers, and of generated labels
    uint32_t *made;                     // by BlockId: number of the generated label
    const Operand *falls;               // the operand of a terminator that names the next block
    uint8_t *needs_label;               // by BlockId
    SymId *list_sym;                    // by ListId: the branch table with this list
    uint8_t *declared;                  // by local symbol: tables and prototypes that are printed
    VEC(LineId) lines;                  // lines that put_line() will print
    PrintedLine *printed;               // by LineId; NULL if no line is inlined
    IdSet stems;                        // stems of printed input names that a generated name could have
} Writer;

static void put_str(Writer *w, StrId id)
{
    Str s = tab_str(w->t, id);
    out_bytes(w->out, s.text, s.len);
}

static void put_name(Writer *w, Name name) { name_print_ptx(w->out, w->t, name); }

static void put_z(Writer *w, const char *text) { out_z(w->out, text); }

/* -- Registers ------------------------------------------------------------------------------------------ */

static RegClass reg_class(const Reg *r)
{
    static const uint8_t by_width[WIDTH_COUNT] = {
        [W1] = CL_P, [W8] = CL_B, [W16] = CL_H, [W32] = CL_R, [W64] = CL_RD, [W128] = CL_RQ};
    return (RegClass)by_width[r->width];
}

// True if the register is printed with its name in the input.
static bool keeps_name(const Fn *fn, const Reg *r)
{
    return r->flags & REG_NAMED || (fn->flags & FN_DEBUG && r->name.stem);
}

static bool has_stem(const Writer *w, StrId stem)
{
    IDSET_EACH(&w->stems, stem * 0x9E3779B9u, id) {
        if (id == stem)
            return true;
    }
    return false;
}

static void take_stem(Writer *w, StrId stem)
{
    if (stem_could_be_ours(tab_str(w->t, stem)) && !has_stem(w, stem))
        idset_add(&w->stems, &w->scratch, stem * 0x9E3779B9u, stem);
}

// Collects the stems of the names that this function prints as in the input.
static void take_stems(Writer *w)
{
    const Fn *fn = w->fn;
    FOR_BLOCKS(fn, b)
        take_stem(w, ir_block(fn, b)->label.stem);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        take_stem(w, ir_sym(fn, k | SYM_LOCAL)->name.stem);
    for (RegId k = 1; k < fn->regs.n; k++)
        if (keeps_name(fn, ir_reg(fn, k)))
            take_stem(w, ir_reg(fn, k)->name.stem);
}

static bool is_taken(const Writer *w, const Prefix *p)
{
    StrId id = str_find(&w->t->strs, p->text, p->len);
    return id != STR_NONE && (module_is_reserved(w->m, id) || has_stem(w, id));
}

// Appends `_` to a prefix until no symbol, label or kept register has it as its stem. So a generated name cannot shadow
// a name to which the function refers.
static void choose_prefix(Writer *w, Prefix *p, const char *wish)
{
    p->len = (uint32_t)strlen(wish);
    memcpy(p->text, wish, p->len);
    while (is_taken(w, p) && p->len + 1 < sizeof p->text)
        p->text[p->len++] = '_';
    if (is_taken(w, p))
        heap_fail(w->scratch.heap, ST_LIMIT, "symbols or labels use all names like '%s'", wish);
}

static void choose_prefixes(Writer *w)
{
    take_stems(w);
    for (int c = 0; c < CLASS_COUNT; c++)
        choose_prefix(w, &w->prefix[c], classes[c].prefix);
    choose_prefix(w, &w->label, "$L_ori_");
}

// Writes the name of a register that was numbered.
static void put_reg_name(Writer *w, Out *out, RegId id)
{
    const Reg *r = ir_reg(w->fn, id);
    if (keeps_name(w->fn, r)) {
        name_print_ptx(out, w->t, r->name);
        return;
    }
    const Prefix *p = &w->prefix[reg_class(r)];
    out_bytes(out, p->text, p->len);
    out_u64(out, w->registers[id].number);
}

// Numbers a register, and stores its name if that is short.
static void number_register(Writer *w, RegId id)
{
    const Reg *r = ir_reg(w->fn, id);
    Printed *p = &w->registers[id];
    bool keeps = keeps_name(w->fn, r);
    uint32_t len = keeps ? PTX_DOT_LEN * tab_str(w->t, r->name.stem).len : w->prefix[reg_class(r)].len;
    p->number = keeps ? 1 : ++w->count[reg_class(r)];
    char name[64];
    Out text = {.buf = name, .cap = sizeof name};
    if (len + MAX_DIGITS <= sizeof name)
        put_reg_name(w, &text, id);
    bool stored = text.n && text.n <= sizeof p->text;
    p->len = stored ? (uint8_t)text.n : LEN_LONG;
    memcpy(p->text, name, stored ? text.n : 0);
}

static inline void put_register(Writer *w, RegId id)
{
    const Printed *p = &w->registers[id];
    if (!p->number)
        number_register(w, id);
    if (p->len != LEN_LONG)
        out_short(w->out, p->text, p->len);
    else
        put_reg_name(w, w->out, id);
}

static void declare_numbered(Writer *w)
{
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (!w->count[c])
            continue;
        put_z(w, "\t.reg .");
        put_z(w, classes[c].type);
        put_z(w, " \t");
        out_bytes(w->out, w->prefix[c].text, w->prefix[c].len);
        put_z(w, "<");
        out_u64(w->out, w->count[c] + 1);
        put_z(w, ">;\n");
    }
}

// Declares the registers of a debug target with their names in the input.
static void declare_named(Writer *w)
{
    for (RegId k = 1; k < w->fn->regs.n; k++) {
        const Reg *r = ir_reg(w->fn, k);
        if (!w->registers[k].number || r->flags & REG_NAMED || !keeps_name(w->fn, r))
            continue;
        bool declared = r->type && type_info[r->type].width == r->width;
        out_fmt(w->out, "\t.reg .%s \t", declared ? type_info[r->type].name : classes[reg_class(r)].type);
        put_name(w, r->name);
        put_z(w, ";\n");
    }
}

/* -- Constants ------------------------------------------------------------------------------------------ */

static void put_const(Writer *w, Const c, Type type, uint32_t mods)
{
    if (type == TY_F32 || mods & OPM_F32) {
        put_z(w, "0f");
        out_hex(w->out, c.bits, 8);
    } else if (type == TY_F64 || mods & OPM_F64) {
        put_z(w, "0d");
        out_hex(w->out, c.bits, 16);
    } else {
        out_i64(w->out, const_signed(c));
    }
}

/* -- Declarations --------------------------------------------------------------------------------------- */

static const char *space_name(uint8_t space)
{
    static const char *const names[] = {[SP_NONE] = "",          [SP_GLOBAL] = ".global", [SP_CONST] = ".const",
                                        [SP_SHARED] = ".shared", [SP_LOCAL] = ".local",   [SP_PARAM] = ".param",
                                        [SP_REG] = ".reg",       [SP_TEX] = ".tex",       [SP_GENERIC] = ""};
    return names[space];
}

static void put_linkage(Writer *w, uint32_t flags)
{
    if (flags & SYM_EXTERN)
        put_z(w, ".extern ");
    if (flags & SYM_VISIBLE)
        put_z(w, ".visible ");
    if (flags & SYM_WEAK)
        put_z(w, ".weak ");
    if (flags & SYM_COMMON)
        put_z(w, ".common ");
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
    put_name(w, target->name);
    put_z(w, reloc->generic ? ")" : "");
    if (reloc->addend) {
        put_z(w, "+");
        out_i64(w->out, reloc->addend);
    }
    put_z(w, reloc->mask ? ")" : "");
}

static void put_init(Writer *w, const Sym *s)
{
    const Init *init = s->init;
    uint32_t bytes = MAX(width_bits(type_info[s->type].width) / 8, 1), next = 0;
    put_z(w, " = ");
    if (init->raw) {
        put_str(w, init->raw);
        return;
    }
    // The elements of a vector have their own braces, and so have those of an .f16x2.
    uint32_t group = !init->braces || !(s->flags & SYM_ARRAY) ? 0 : s->type == TY_F16X2 ? 1 : s->vec;
    put_z(w, init->braces ? "{" : "");
    for (uint64_t at = 0; at < init->size; at += bytes) {
        if (at)
            put_z(w, ", ");
        if (group && at / bytes % group == 0)
            put_z(w, "{");
        if (next < init->nrelocs && init->relocs[next].offset == at) {
            put_reloc(w, &init->relocs[next++]);
        } else {
            uint64_t bits = 0;
            memcpy(&bits, init->bytes + at, MIN(bytes, 8));
            put_const(w, (Const){bits, type_info[s->type].width}, (Type)s->type, 0);
        }
        if (group && (at + bytes == init->size || at / bytes % group == group - 1))
            put_z(w, "}");
    }
    put_z(w, init->braces ? "}" : "");
}

// Prints `.param .align 4 .b8 name[16]`.
static void put_declarator(Writer *w, const Sym *s)
{
    put_z(w, space_name(s->space));
    if (s->attribute) {
        put_z(w, " ");
        put_str(w, s->attribute);
    }
    if (s->flags & SYM_ALIGNED)
        out_fmt(w->out, " .align %u", s->align);
    if (s->vec)
        out_fmt(w->out, " .v%u", s->vec);
    if (s->type) {
        put_z(w, " .");
        put_z(w, type_info[s->type].name);
    }
    if (s->flags & SYM_PTR) {
        put_z(w, " .ptr");
        if (s->ptr_space)
            out_fmt(w->out, " %s", space_name(s->ptr_space));
        if (s->ptr_align)
            out_fmt(w->out, " .align %u", s->ptr_align);
    }
    put_z(w, " ");
    put_name(w, s->name);
    if (s->flags & SYM_OPEN)
        put_z(w, "[]");
    else if (s->flags & SYM_ARRAY)
        out_fmt(w->out, "[%llu]", (unsigned long long)s->count);
}

static void put_variable(Writer *w, const Sym *s)
{
    put_linkage(w, s->flags);
    put_declarator(w, s);
    if (s->init)
        put_init(w, s);
    put_z(w, ";\n");
}

static void put_formals(Writer *w, const SymId *syms, uint32_t n, const char *indent)
{
    put_z(w, "(");
    for (uint32_t k = 0; k < n; k++) {
        put_z(w, k ? "," : "");
        put_z(w, indent);
        put_declarator(w, ir_sym(w->fn, syms[k]));
    }
    put_z(w, n && indent[0] == '\n' ? "\n)" : ")");
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static void put_block_name(Writer *w, BlockId b)
{
    const Block *block = ir_block(w->fn, b);
    if (block->label.stem) {
        put_name(w, block->label);
    } else {
        out_bytes(w->out, w->label.text, w->label.len);
        out_u64(w->out, w->made[b]);
    }
}

static void put_operand(Writer *w, Operand o, const Slot *slot)
{
    if (o.mods & OPM_NOT)
        put_z(w, "!");
    switch (op_kind(o)) {
    case K_NONE: put_z(w, "_"); break;
    case K_REG: put_register(w, op_index(o)); break;
    case K_IMM: put_const(w, tab_const(w->t, op_index(o)), (Type)slot->type, o.mods); break;
    case K_SYM: put_name(w, ir_sym(w->fn, op_index(o))->name); break;
    case K_SREG: put_z(w, sreg_info[op_index(o)].name); break;
    case K_BANK: break;  // machine level, never in PTX
    case K_BLOCK: put_block_name(w, op_index(o)); break;
    case K_LIST: put_name(w, ir_sym(w->fn, w->list_sym[op_index(o)])->name); break;
    }
}

static void put_address(Writer *w, Operand base, Operand offset)
{
    int64_t bytes = const_signed(tab_const(w->t, op_index(offset)));
    if (op_kind(base) == K_NONE) {
        out_i64(w->out, bytes);
        return;
    }
    put_operand(w, base, NULL);
    if (bytes || offset.mods & OPM_SPELLED) {
        put_z(w, "+");
        out_i64(w->out, bytes);
    }
}

static void put_shape(Writer *w, const Desc *d, const Operand *ops)
{
    Str shape = tab_str(w->t, d->shape);
    uint32_t k = 0;
    for (const char *p = shape.text, *end = p + shape.len; p < end; p++) {
        switch (*p) {
        case '%':
        case '$':
            while (d->slots[k].flags & SL_HIDDEN)
                k++;
            put_operand(w, ops[k], &d->slots[k]);
            k++;
            break;
        case '&':
            put_address(w, ops[k], ops[k + 1]);
            k += 2;
            break;
        case ',': put_z(w, ", "); break;
        case '~': break;
        default: out_char(w->out, *p);
        }
    }
}

/* -- Lines ---------------------------------------------------------------------------------------------- */

static bool same_inlining(const PrintedLine *lines, const Line *a, const Line *b)
{
    return name_same(a->function, b->function) && a->function_offset == b->function_offset &&
           lines[a->at].same == lines[b->at].same;
}

// Prepares the lines of a function with inlined lines.
static void index_lines(Writer *w)
{
    const Fn *fn = w->fn;
    LineId inlined = 1;
    while (inlined < fn->lines.n && !ir_line(fn, inlined)->at)
        inlined++;
    if (inlined >= fn->lines.n)
        return;
    IdSet positions = {0}, inlinings = {0};
    w->printed = NEW_ARRAY(&w->scratch, PrintedLine, fn->lines.n);
    for (LineId id = 1; id < fn->lines.n; id++) {
        const Line *l = ir_line(fn, id);
        PrintedLine *p = &w->printed[id];
        p->first = line_first(fn, &positions, &w->scratch, id);
        // hash_mix() begins with an XOR, which has few values for the ids of a line and of a line close by.
        uint64_t mixed = hash_mix(hash_mix(name_hash(l->function), p->first), w->printed[l->at].same);
        uint32_t hash = (uint32_t)(mixed ^ (mixed >> 32));
        IDSET_EACH(&inlinings, hash, k) {
            if (!p->same && w->printed[k].first == p->first && same_inlining(w->printed, ir_line(fn, k), l))
                p->same = k;
        }
        if (!p->same)
            idset_add(&inlinings, &w->scratch, hash, p->same = id);
    }
}

static void put_one_line(Writer *w, LineId id)
{
    const Line *line = ir_line(w->fn, id);
    out_fmt(w->out, "\t.loc\t%u %u %u", line->file, line->line, line->col);
    if (line->at) {
        const Line *call = ir_line(w->fn, line->at);
        put_z(w, ", function_name ");
        put_name(w, line->function);
        if (line->function_offset)
            out_fmt(w->out, "+%u", line->function_offset);
        out_fmt(w->out, ", inlined_at %u %u %u", call->file, call->line, call->col);
    }
    put_z(w, "\n");
    if (w->printed) {
        w->printed[id].done = true;
        w->printed[w->printed[id].first].last = id;
    }
}

// True if `inlined_at` with the position of this line means this line. ptxas takes the last .loc with the position.
// Different calls with the same position have a .loc of their own, as in the output of nvcc.
static bool is_call_known(const Writer *w, LineId call)
{
    const PrintedLine *p = &w->printed[call];
    LineId last = w->printed[p->first].last;
    return p->done && w->printed[last].same == p->same;
}

// Prints a .loc after the lines of the calls that inlined it, the outermost one first, as far as they are not known.
static void put_inlined_line(Writer *w, LineId id)
{
    uint32_t n = w->lines.n;
    VEC_PUSH(&w->scratch, &w->lines, id);
    for (LineId at = ir_line(w->fn, id)->at; at && !is_call_known(w, at); at = ir_line(w->fn, at)->at)
        VEC_PUSH(&w->scratch, &w->lines, at);
    while (w->lines.n > n)
        put_one_line(w, w->lines.at[--w->lines.n]);
}

// Prints a .loc after the lines that preceded it in the input.
static void put_line(Writer *w, LineId id)
{
    for (; id; id = ir_line(w->fn, id)->after)
        VEC_PUSH(&w->scratch, &w->lines, id);
    while (w->lines.n)
        put_inlined_line(w, w->lines.at[--w->lines.n]);
}

static void put_list(Writer *w, const List *list)
{
    for (uint32_t k = 0; k < list->n; k++) {
        put_z(w, k ? ", " : "");
        put_operand(w, ir_run(w->fn, list->ops)[k], NULL);
    }
}

static void put_preserve(Writer *w, const char *word, uint32_t number1)
{
    if (!number1)
        return;
    put_z(w, word);
    out_u64(w->out, number1 - 1);
}

// Prints a branch table or a prototype before the first instruction that names it.
static void declare_table(Writer *w, SymId id)
{
    const Sym *s = ir_sym(w->fn, id);
    bool proto = s->kind == SYM_PROTO, branches = s->kind == SYM_BRANCHTARGETS;
    if (!(proto || branches || s->kind == SYM_CALLTARGETS) || w->declared[id & ~(uint32_t)SYM_LOCAL])
        return;
    w->declared[id & ~(uint32_t)SYM_LOCAL] = 1;
    put_z(w, "\t");
    put_name(w, s->name);
    put_z(w, proto ? ": .callprototype " : branches ? ": .branchtargets " : ": .calltargets ");
    if (proto) {
        put_formals(w, s->sig->rets, s->sig->nrets, "");
        put_z(w, " _ ");
        put_formals(w, s->sig->params, s->sig->nparams, "");
        put_z(w, s->sig->noreturn ? " .noreturn" : "");
        put_preserve(w, " .abi_preserve ", s->sig->preserve);
        put_preserve(w, " .abi_preserve_control ", s->sig->preserve_control);
    } else {
        put_list(w, ir_list(w->fn, s->list));
    }
    put_z(w, ";\n");
}

static void declare_tables(Writer *w, const Desc *d, const Operand *ops)
{
    for (uint32_t k = 0; k < d->nops && (d->op == OP_CALL || d->op == OP_BRX); k++) {
        if (op_kind(ops[k]) == K_LIST)
            declare_table(w, w->list_sym[op_index(ops[k])]);
        if (op_kind(ops[k]) == K_SYM)
            declare_table(w, op_index(ops[k]));
    }
}

static void put_instr(Writer *w, const Instr *i)
{
    const Desc *d = ir_desc(w->fn, i);
    const Operand *ops = ir_ops(w->fn, i);
    declare_tables(w, d, ops);
    out_char(w->out, '\t');
    if (ir_guarded(i)) {
        Operand guard = ops[ir_guard_index(i)];
        put_z(w, guard.mods & OPM_NOT ? "@!" : "@");
        put_register(w, op_index(guard));
        out_char(w->out, ' ');
    }
    Str text = tab_str(w->t, tab_mnem(w->t, d->mnem)->text);
    out_bytes(w->out, text.text, text.len);
    if (d->nops && tab_str(w->t, d->shape).text[0] != '~') {
        put_z(w, " \t");
        put_shape(w, d, ops);
    }
    put_z(w, ";\n");
}

/* -- Blocks --------------------------------------------------------------------------------------------- */

static void mark_target(void *user, Operand *target)
{
    Writer *w = user;
    if (target != w->falls)
        w->needs_label[op_index(*target)] = 1;
}

// Returns the fall-through successor of a guarded terminator, or 0.
static BlockId fallthrough(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return d->nops && d->slots[d->nops - 1].flags & SL_BLOCK && d->slots[d->nops - 1].flags & SL_HIDDEN
               ? op_index(ir_ops(fn, i)[d->nops - 1])
               : 0;
}

// True if an implicit terminator is still redundant: a branch to the next block, or a return at the end of the
// function.
static bool is_silent(const Fn *fn, const Instr *i, BlockId next)
{
    if (!(i->flags & IF_IMPLICIT))
        return false;
    return ir_desc(fn, i)->op == OP_BRA ? op_index(*ir_use(fn, i, 0)) == next : !next;
}

// Marks the blocks that need a label: all targets of terminators except a fall-through to the next block.
static void mark_labels(Writer *w)
{
    const Fn *fn = w->fn;
    FOR_BLOCKS(fn, b) {
        const Block *block = ir_block(fn, b);
        const Instr *last = ir_instr(fn, block->last);
        if (is_silent(fn, last, block->next))
            continue;
        BlockId next = fallthrough(fn, last);
        w->falls = next && next == block->next ? ir_ops(fn, last) + ir_desc(fn, last)->nops - 1 : NULL;
        ir_successors(fn, block->last, mark_target, w);
    }
    uint32_t made = 0;
    FOR_BLOCKS(fn, b)
        if (w->needs_label[b] && !ir_block(fn, b)->label.stem)
            w->made[b] = ++made;
}

static void put_block(Writer *w, BlockId b, LineId *line)
{
    const Fn *fn = w->fn;
    const Block *block = ir_block(fn, b);
    if (block->flags & BLOCK_KEEP_LABEL || w->needs_label[b]) {
        put_z(w, "\n");
        put_block_name(w, b);
        put_z(w, ":\n");
    }
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        if (id == block->last && is_silent(fn, i, block->next))
            break;
        if (i->line != *line && i->line) {
            put_line(w, i->line);
            *line = i->line;
        }
        put_instr(w, i);
        BlockId next = id == block->last ? fallthrough(fn, i) : 0;
        if (next && next != block->next) {
            put_z(w, "\tbra \t");
            put_block_name(w, next);
            put_z(w, ";\n");
        }
    }
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void put_local(Writer *w, const Sym *s)
{
    if ((s->kind != SYM_VAR && s->kind != SYM_CALLPARAM) || s->flags & SYM_GONE)
        return;
    put_z(w, "\t");
    put_variable(w, s);
}

static void put_directives(Writer *w)
{
    for (uint32_t k = 0; k < w->fn->directives.n; k++) {
        const Directive *d = &w->fn->directives.at[k];
        put_z(w, "\n");
        put_str(w, d->text);
        for (uint32_t v = 0; v < d->n; v++)
            out_fmt(w->out, v ? ", %u" : " %u", d->value[v]);
    }
}

static void put_header(Writer *w)
{
    const Fn *fn = w->fn;
    const Sym *s = &w->m->syms.at[fn->sym];
    uint32_t linkage = s->flags;
    // Only a declaration can be `.extern`.
    if (fn->flags & FN_DEFINED)
        linkage &= ~(uint32_t)SYM_EXTERN;
    put_z(w, "\n");
    put_linkage(w, linkage);
    put_z(w, fn->flags & FN_KERNEL ? ".entry " : ".func ");
    if (s->attribute) {
        put_str(w, s->attribute);
        put_z(w, " ");
    }
    if (fn->sig.nrets) {
        put_formals(w, fn->sig.rets, fn->sig.nrets, "");
        put_z(w, " ");
    }
    put_name(w, s->name);
    if (fn->sig.has_params)
        put_formals(w, fn->sig.params, fn->sig.nparams, "\n\t");
    put_directives(w);
}

// Returns the text of all blocks. It numbers the registers, which are declared before the blocks.
static TextBuffer put_blocks(Writer *w)
{
    TextBuffer text = {.arena = &w->scratch};
    Out out, *to = w->out;
    LineId line = 0;
    out_init(&out, &w->scratch, out_to_text, &text);
    w->out = &out;
    FOR_BLOCKS(w->fn, b)
        put_block(w, b, &line);
    out_flush(&out);
    w->out = to;
    return text;
}

static void put_body(Writer *w)
{
    const Fn *fn = w->fn;
    w->registers = NEW_ARRAY(&w->scratch, Printed, fn->regs.n);
    w->made = NEW_ARRAY(&w->scratch, uint32_t, fn->blocks.n);
    w->needs_label = NEW_ARRAY(&w->scratch, uint8_t, fn->blocks.n);
    w->list_sym = NEW_ARRAY(&w->scratch, SymId, fn->lists.n);
    w->declared = NEW_ARRAY(&w->scratch, uint8_t, fn->syms.n);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_BRANCHTARGETS)
            w->list_sym[s->list] = k | SYM_LOCAL;
    }
    index_lines(w);
    choose_prefixes(w);
    mark_labels(w);
    TextBuffer code = put_blocks(w);
    put_z(w, "\n{\n");
    if (fn->flags & FN_DEBUG)
        declare_named(w);
    declare_numbered(w);
    for (uint32_t k = 1; k < fn->syms.n; k++)
        put_local(w, ir_sym(fn, k | SYM_LOCAL));
    put_z(w, "\n");
    if (code.n)
        out_bytes(w->out, code.at, code.n);
    put_z(w, "}\n");
}

static void write_legal(const Fn *fn, Out *out)
{
    Writer w = {.m = fn->module, .fn = fn, .t = fn->tables, .out = out};
    arena_init(&w.scratch, fn->arena.heap);
    put_header(&w);
    if (fn->flags & FN_DEFINED)
        put_body(&w);
    else
        put_z(&w, "\n;\n");
    arena_free(&w.scratch);
}

void ptx_write_fn(const Fn *fn, Out *out)
{
    Fn *legal = ptx_legalize(fn);
    write_legal(legal ? legal : fn, out);
    if (legal)
        fn_free(legal);
}

/* -- Modules -------------------------------------------------------------------------------------------- */

void ptx_write_header(const Module *m, Out *out)
{
    Writer w = {.m = m, .t = &m->tables, .out = out};
    put_z(&w, ".version ");
    put_str(&w, m->version);
    put_z(&w, "\n.target ");
    put_str(&w, m->target);
    if (m->address_size)
        out_fmt(out, "\n.address_size %u", m->address_size);
    put_z(&w, "\n\n");
}

void ptx_write_item(const Module *m, const Item *item, Out *out)
{
    Writer w = {.m = m, .t = &m->tables, .out = out};
    switch (item->kind) {
    case ITEM_VAR: put_variable(&w, &m->syms.at[item->index]); break;
    case ITEM_FN: ptx_write_fn(m->fns.at[item->index], out); break;
    case ITEM_RAW:
        out_bytes(out, m->texts.at[item->index].text, m->texts.at[item->index].len);
        put_z(&w, "\n");
        break;
    }
}
