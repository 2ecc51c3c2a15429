// SPDX-License-Identifier: MIT
// Reads declarations of Ori text: variables with their initializers, formal parameters, signatures; resolves the names
// of symbols.
#include "ir/text/read.h"

enum { COUNT_MAX_BITS = 40 };

/* -- Names ---------------------------------------------------------------------------------------------- */

SymId tx_find(Reader *r, Name name)
{
    IDSET_EACH(&r->symbols, name_hash(name), id) {
        if (name_same(ir_sym(r->fn, id)->name, name))
            return id;
    }
    return module_find(r->m, name);
}

static bool is_dotted(Str stem)
{
    for (uint32_t k = 0; k < stem.len; k++)
        if (stem.text[k] == '.' || (stem.len - k >= PTX_DOT_LEN && memcmp(stem.text + k, PTX_DOT, PTX_DOT_LEN) == 0))
            return true;
    return false;
}

static uint32_t hash_dotted(uint32_t scope, Str in_ptx)
{
    uint64_t h = hash_mix(hash_bytes(in_ptx.text, in_ptx.len), scope);
    return (uint32_t)(h ^ (h >> 32));
}

// Returns the declared name of a scope that has this text in PTX; NULL = none.
static const DottedName *find_dotted(const Reader *r, uint32_t scope, Str in_ptx)
{
    IDSET_EACH(&r->dotted_index, hash_dotted(scope, in_ptx), k) {
        const DottedName *d = &r->dotted.at[k];
        if (d->scope == scope && d->in_ptx.len == in_ptx.len && memcmp(d->in_ptx.text, in_ptx.text, in_ptx.len) == 0)
            return d;
    }
    return NULL;
}

void tx_declare_name(Reader *r, bool local, Name name, size_t at)
{
    Str stem = tab_str(r->t, name.stem);
    if (r->again || !is_dotted(stem))
        return;
    size_t cap = (size_t)PTX_DOT_LEN * stem.len + MAX_DIGITS;
    Out out = {.buf = arena_alloc(&r->arena, cap), .cap = cap};
    name_print_ptx(&out, r->t, name);
    DottedName d = {name, local ? r->nfns : 0, {.text = out.buf, .len = (uint32_t)out.n}};
    const DottedName *own = find_dotted(r, d.scope, d.in_ptx), *outer = find_dotted(r, 0, d.in_ptx);
    const DottedName *other = own ? own : outer;
    if (other && !name_same(other->name, name)) {
        char text[200];
        tx_fail(r, at, "in PTX, this name and '%s' are the same: '%.*s'",
                name_text(r->t, other->name, text, sizeof text), (int)MIN(out.n, 200), out.buf);
    }
    if (own)
        return;
    idset_add(&r->dotted_index, &r->arena, hash_dotted(d.scope, d.in_ptx), r->dotted.n);
    VEC_PUSH(&r->arena, &r->dotted, d);
}

void tx_enter(Reader *r, Name name, SymId id, size_t at)
{
    tx_declare_name(r, true, name, at);
    uint32_t hash = name_hash(name);
    IDSET_EACH(&r->symbols, hash, other) {
        if (name_same(ir_sym(r->fn, other)->name, name))
            tx_fail(r, at, "this function already has a symbol of this name");
    }
    idset_add(&r->symbols, &r->scratch, hash, id);
}

/* -- Words ---------------------------------------------------------------------------------------------- */

Space tx_space(const Reader *r, Type *handle)
{
    static const struct {
        const char *word;
        Space space;
        Type handle;
    } words[] = {{"global", SP_GLOBAL, TY_NONE},        {"const", SP_CONST, TY_NONE},   {"shared", SP_SHARED, TY_NONE},
                 {"local", SP_LOCAL, TY_NONE},          {"param", SP_PARAM, TY_NONE},   {"tex", SP_GLOBAL, TY_TEXREF},
                 {"sampler", SP_GLOBAL, TY_SAMPLERREF}, {"surf", SP_GLOBAL, TY_SURFREF}};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (tx_is(r, words[k].word)) {
            *handle = words[k].handle;
            return words[k].space;
        }
    return SP_NONE;
}

bool tx_linkage(Reader *r, uint32_t *flags)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } words[] = {
        {"extern", SYM_EXTERN}, {"visible", SYM_VISIBLE}, {"weak", SYM_WEAK}, {"common", SYM_COMMON}, {"internal", 0}};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (tx_accept_word(r, words[k].word)) {
            *flags |= words[k].flag;
            return true;
        }
    return false;
}

bool tx_attribute(Reader *r, StrId *attribute)
{
    if (tx_accept_word(r, "managed")) {
        *attribute = str_intern_z(&r->t->strs, ".attribute(.managed)");
        return true;
    }
    if (!tx_accept_word(r, "attribute"))
        return false;
    *attribute = tx_string(r, "the attribute");
    return true;
}

/* -- Declarators ---------------------------------------------------------------------------------------- */

static Type bits_type(Reader *r)
{
    size_t at = tx_at(r);
    switch (tx_number(r, 128, "a width")) {
    case 8: return TY_B8;
    case 16: return TY_B16;
    case 32: return TY_B32;
    case 64: return TY_B64;
    case 128: return TY_B128;
    default: tx_fail(r, at, "a width must be 8, 16, 32, 64 or 128 bits");
    }
}

// Reads `[4]` or `[]`.
static void read_dimension(Reader *r, Sym *s)
{
    if (!tx_accept(r, '['))
        return;
    s->flags |= SYM_ARRAY;
    if (r->tok == ']')
        s->flags |= SYM_OPEN;
    else
        s->count = tx_number(r, (uint64_t)1 << COUNT_MAX_BITS, "the number of elements");
    tx_expect(r, ']', "after the number of elements");
}

// Reads `32`, `.f32` or `.v4.f32[16]`.
static void read_type(Reader *r, Sym *s)
{
    s->count = 1;
    s->type = TY_NONE;
    if (r->tok == T_INT) {
        s->type = (uint8_t)bits_type(r);
        return;
    }
    for (; r->tok == T_TYPE && !s->type; tx_next(r)) {
        size_t n = (size_t)(r->lx.end - r->lx.start);
        bool vec = n == 3 && r->lx.start[1] == 'v' && (r->lx.start[2] == '2' || r->lx.start[2] == '4');
        s->type = (uint8_t)type_find(r->lx.start + 1, n - 1);
        if (vec && !s->vec)
            s->vec = (uint8_t)(r->lx.start[2] - '0');
        else if (!s->type)
            tx_fail(r, tx_at(r), "'%.*s' is not a type", (int)n, r->lx.start);
    }
    if (!s->type)
        tx_fail(r, tx_at(r), "expected a type: a width such as 32, or .f32");
    read_dimension(r, s);
}

// Reads the rest of `ptr`, `ptr(global)`, `ptr(16)` or `ptr(global, 16)`.
static void read_pointer(Reader *r, Sym *s)
{
    Type handle;
    s->flags |= SYM_PTR;
    if (!tx_accept(r, '('))
        return;
    Space space = tx_space(r, &handle);
    if (space != SP_NONE) {
        s->ptr_space = (uint8_t)space;
        tx_next(r);
    }
    if (space == SP_NONE || tx_accept(r, ','))
        s->ptr_align = (uint32_t)tx_number(r, 1 << 20, "the alignment of the pointer's target");
    tx_expect(r, ')', "after the pointer");
}

static uint32_t element_bytes(const Sym *s)
{
    return MAX(width_bits(type_info[s->type].width) / 8, 1) * MAX(s->vec, 1u);
}

// Reads `@name: TYPE ptr align N size N managed`. Either type or size is required, all other parts are optional; the
// name is optional if `may_be_anonymous`.
static void read_declarator(Reader *r, Sym *s, bool may_be_anonymous)
{
    size_t at = tx_at(r);
    bool named = r->tok == T_SYMBOL || !may_be_anonymous, sized = false;
    if (r->tok == T_SYMBOL && !may_be_anonymous && r->lx.end - r->lx.start == 1 && *r->lx.start == '_')
        tx_fail(r, at, "`_` is not a name");
    s->name = named ? tx_name(r, "the name of the declaration") : (Name){str_intern_z(&r->t->strs, "_"), NO_NUMBER};
    if (!named ? r->tok == T_INT || r->tok == T_TYPE : tx_accept(r, ':'))
        read_type(r, s);
    while (r->tok == T_WORD) {
        if (tx_accept_word(r, "ptr")) {
            read_pointer(r, s);
        } else if (tx_accept_word(r, "align")) {
            size_t align_at = tx_at(r);
            s->align = (uint32_t)tx_number(r, 1 << 20, "an alignment");
            s->flags |= SYM_ALIGNED;
            if (!s->align || s->align & (s->align - 1))
                tx_fail(r, align_at, "an alignment must be a power of two");
        } else if (!s->type && tx_accept_word(r, "size")) {
            s->type = TY_B8;
            s->flags |= SYM_ARRAY;
            s->count = tx_number(r, (uint64_t)1 << COUNT_MAX_BITS, "a size in bytes");
            sized = true;
        } else if (!tx_attribute(r, &s->attribute)) {
            break;
        }
    }
    if (!s->type)
        tx_fail(r, at, "expected a type, such as `: 32`, or a size, such as `size 16`");
    if (!sized && s->flags & SYM_ARRAY && !(s->flags & SYM_OPEN) && !s->count)
        tx_fail(r, at, "an array must have at least one element");
    if (!s->align)
        s->align = MIN(element_bytes(s), 16);
    s->size = s->flags & SYM_OPEN ? 0 : s->count * element_bytes(s);
}

/* -- Initializers --------------------------------------------------------------------------------------- */

typedef struct InitReader {
    Reader *r;
    const Sym *s;
    uint32_t bytes;  // size of an element
    VEC(uint8_t) data;
    VEC(Reloc) relocs;
} InitReader;

static void put_value(InitReader *in, uint64_t bits)
{
    if (in->s->size && in->data.n + in->bytes > in->s->size)
        tx_fail(in->r, tx_at(in->r), "more initial values than elements");
    for (uint32_t k = 0; k < in->bytes; k++)
        VEC_PUSH(&in->r->arena, &in->data, (uint8_t)(k < 8 ? bits >> (8 * k) : 0));
}

// Reads `@x`, `@x+4` or `generic(@x)-4`.
static void read_address(InitReader *in, uint64_t mask)
{
    Reader *r = in->r;
    Reloc reloc = {.offset = in->data.n, .mask = mask, .generic = tx_accept_word(r, "generic")};
    if (reloc.generic)
        tx_expect(r, '(', "after generic");
    size_t at = tx_at(r);
    reloc.sym = r->fn ? tx_find(r, tx_name(r, "a symbol")) : module_find(r->m, tx_name(r, "a symbol"));
    if (!reloc.sym)
        tx_fail(r, at, "this symbol is not declared yet");
    if (reloc.generic)
        tx_expect(r, ')', "after the symbol");
    bool minus = r->tok == '-';
    if (minus || r->tok == '+') {
        tx_next(r);
        uint64_t n = tx_number(r, (uint64_t)INT64_MAX + minus, "an offset");
        reloc.addend = (int64_t)(minus ? 0 - n : n);
    }
    VEC_PUSH(&r->arena, &in->relocs, reloc);
    put_value(in, 0);
}

static void read_value(InitReader *in)
{
    Reader *r = in->r;
    Width width = type_info[in->s->type].width;
    bool minus = tx_accept(r, '-');
    if (!minus && (r->tok == T_SYMBOL || tx_is(r, "generic"))) {
        read_address(in, 0);
        return;
    }
    size_t at = tx_at(r);
    bool number = r->tok == T_INT;
    bool fits = number || (!minus && ((r->tok == T_F32 && width == W32) || (r->tok == T_F64 && width == W64)));
    if (r->tok == T_BIGINT || (minus && number && r->lx.ival > (uint64_t)INT64_MAX + 1))
        tx_fail(r, at, "this number does not fit 64 bits");
    if (!fits)
        tx_fail(r, at, "expected a number, an address such as @x+4, or 0f... or 0d... of the element's width");
    uint64_t value = r->lx.ival;
    tx_next(r);
    if (number && !minus && tx_accept(r, '(')) {
        if (!value)
            tx_fail(r, at, "a mask must not be 0");
        read_address(in, value);
        tx_expect(r, ')', "after the masked address");
        return;
    }
    put_value(in, minus ? 0 - value : value);
}

static Init *read_init(Reader *r, const Sym *s)
{
    Arena *arena = r->fn ? &r->fn->arena : &r->m->arena;
    Init *init = NEW(arena, Init);
    InitReader in = {.r = r, .s = s, .bytes = MAX(width_bits(type_info[s->type].width) / 8, 1)};
    if (tx_accept_word(r, "raw")) {
        size_t at = tx_at(r);
        init->raw = tx_string(r, "the initial value");
        if (!init->raw)
            tx_fail(r, at, "this initial value is empty");
        return init;
    }
    init->braces = tx_accept(r, '{');
    for (bool more = true; more;) {
        if (init->braces)
            tx_skip_empty(r);
        if (init->braces && r->tok == '}' && !in.data.n)
            break;
        read_value(&in);
        if (init->braces)
            tx_skip_empty(r);
        more = init->braces && tx_accept(r, ',');
    }
    if (init->braces)
        tx_expect(r, '}', "after the initial values");
    init->size = in.data.n;
    init->bytes = arena_alloc(arena, in.data.n);
    init->nrelocs = in.relocs.n;
    init->relocs = NEW_ARRAY(arena, Reloc, in.relocs.n);
    if (in.data.n)
        memcpy(init->bytes, in.data.at, in.data.n);
    if (in.relocs.n)
        memcpy(init->relocs, in.relocs.at, in.relocs.n * sizeof(Reloc));
    return init;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

static SymId new_variable(Reader *r, const Sym *s, size_t at)
{
    if (r->fn) {
        SymId id = fn_sym(r->fn, s->name, s->space == SP_PARAM ? SYM_CALLPARAM : SYM_VAR);
        tx_enter(r, s->name, id, at);
        return id;
    }
    tx_declare_name(r, false, s->name, at);
    // Operands refer to the first symbol with a name. The symbol of a later declaration is only printed.
    SymId old = module_find(r->m, s->name);
    bool again = old && r->m->syms.at[old].kind == SYM_VAR && (r->m->syms.at[old].flags | s->flags) & SYM_EXTERN;
    if (old && !again)
        tx_fail(r, at, "the module already has a symbol of this name");
    const Sym *first = old ? &r->m->syms.at[old] : s;
    if (first->type != s->type || first->vec != s->vec || (first->flags ^ s->flags) & SYM_ARRAY ||
        (first->count != s->count && !((first->flags | s->flags) & SYM_OPEN)))
        tx_fail(r, at, "this name was declared before with another type or size");
    return module_sym(r->m, s->name, SYM_VAR);
}

void tx_variable(Reader *r, Space space, Type handle)
{
    size_t at = tx_at(r);
    Sym s = {.space = (uint8_t)space, .type = (uint8_t)handle, .count = 1};
    read_declarator(r, &s, false);
    // `tex @t: .u32` is a texture variable of PTX 1.x, `tex @t` a reference.
    if (handle == TY_TEXREF && s.type != TY_TEXREF)
        s.space = SP_TEX;
    if (handle != TY_NONE && handle != TY_TEXREF && s.type != handle)
        tx_fail(r, at, "samplers and surfaces cannot have a type");
    if (tx_accept(r, '='))
        s.init = read_init(r, &s);
    while (tx_linkage(r, &s.flags) || tx_attribute(r, &s.attribute))
        ;
    SymId id = new_variable(r, &s, at);
    Sym *to = r->fn ? ir_sym(r->fn, id) : &r->m->syms.at[id];
    s.kind = to->kind;
    *to = s;
    if (r->fn)
        r->fn->classes |= symbol_classes(to);
    else
        module_item(r->m, ITEM_VAR, id);
    tx_end_of_line(r);
}

/* -- Signatures ----------------------------------------------------------------------------------------- */

static SymId read_formal(Reader *r, bool declare, uint32_t flags)
{
    size_t at = tx_at(r);
    Sym s = {.kind = SYM_FORMAL, .space = SP_PARAM, .flags = flags, .count = 1};
    if (tx_accept_word(r, "reg"))
        s.space = SP_REG;
    read_declarator(r, &s, true);
    SymId id = fn_sym(r->fn, s.name, SYM_FORMAL);
    *ir_sym(r->fn, id) = s;
    Str name = tab_str(r->t, s.name.stem);
    bool anonymous = name.len == 1 && name.text[0] == '_' && s.name.number == NO_NUMBER;
    if (declare && !anonymous)
        tx_enter(r, s.name, id, at);
    return id;
}

static SymId *read_formals(Reader *r, bool declare, uint32_t flags, int close, uint32_t *n)
{
    VEC(SymId) list = {0};
    if (r->tok != close)
        do
            VEC_PUSH(&r->fn->arena, &list, read_formal(r, declare, flags));
        while (close == ')' && tx_accept(r, ','));
    *n = list.n;
    return list.at;
}

void tx_signature(Reader *r, Sig *sig, bool declare)
{
    if (tx_accept(r, '(')) {
        sig->has_params = true;
        sig->params = read_formals(r, declare, 0, ')', &sig->nparams);
        tx_expect(r, ')', "after the parameters");
    }
    if (!tx_accept(r, T_ARROW))
        return;
    bool many = tx_accept(r, '(');
    sig->rets = read_formals(r, declare, SYM_RETURN, many ? ')' : T_NEWLINE, &sig->nrets);
    if (many)
        tx_expect(r, ')', "after the results");
    if (!sig->nrets)
        tx_fail(r, tx_at(r), "expected the result of the function");
}
