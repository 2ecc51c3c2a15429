// SPDX-License-Identifier: MIT
// Reads declarations: registers, variables with their initializers, formal parameters. The dimensions of an array are
// multiplied to one count.
#include "ir/ptx/read.h"

enum { DIMS_MAX = 16, PARAM_ALIGN_MAX = 128 };
// ptxas reports "Constant overflow" for a larger dimension of a parameter.
#define PARAM_BYTES_MAX UINT32_MAX

/* -- Literals ------------------------------------------------------------------------------------------- */

static double bits_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

bool literal_bits(Type type, Value v, uint64_t *bits, const char **why)
{
    Width width = type_info[type].width;
    *bits = v.bits;
    switch (type_info[type].class) {
    case TC_F:
        if (v.kind == LIT_INT) {
            *why = "an integer is not allowed for a floating-point value: write 1.0, 0f3F800000 or 0d...";
            return false;
        }
        if (type == TY_F32 && v.kind == LIT_F64)
            *bits = float_bits((float)bits_double(v.bits));
        return true;  // 0f for an .f64 is not converted: ptxas takes the bits (fact L2 of facts.md)
    case TC_U:
    case TC_S: *why = "a floating-point constant is not allowed for an integer"; return v.kind == LIT_INT;
    case TC_P:
        *why = "a predicate constant must be an integer, zero for false";
        *bits = v.bits != 0;  // as ptxas (tried)
        return v.kind == LIT_INT;
    case TC_B:
        *why = "the width of this floating-point constant does not fit here";
        return v.kind == LIT_INT || (v.kind == LIT_F32 ? W32 : W64) == width;
    default: *why = "a constant is not allowed here"; return false;
    }
}

/* -- Attributes ----------------------------------------------------------------------------------------- */

Space decl_space(const Reader *r)
{
    if (r->tok != T_DOT)
        return SP_NONE;
    return rd_is(r, ".reg")      ? SP_REG
           : rd_is(r, ".param")  ? SP_PARAM
           : rd_is(r, ".global") ? SP_GLOBAL
           : rd_is(r, ".const")  ? SP_CONST
           : rd_is(r, ".shared") ? SP_SHARED
           : rd_is(r, ".local")  ? SP_LOCAL
           : rd_is(r, ".tex")    ? SP_TEX
                                 : SP_NONE;
}

// Attributes of a declaration, between the state space and the name, in any order.
typedef struct Attributes {
    Type type;
    uint8_t vec, ptr_space;
    uint32_t flags, align, ptr_align;
    StrId attribute;
} Attributes;

static uint32_t alignment(Reader *r)
{
    size_t at = rd_offset(r);
    int64_t n = expr_integer(r, "an alignment");
    if (n <= 0 || n > 1 << 20 || (n & (n - 1)))
        rd_fail(r, at, "an alignment must be a power of two");
    return (uint32_t)n;
}

static void read_pointer(Reader *r, Attributes *a)
{
    a->flags |= SYM_PTR;
    Space space = decl_space(r);
    if (space == SP_GLOBAL || space == SP_CONST || space == SP_SHARED || space == SP_LOCAL) {
        a->ptr_space = (uint8_t)space;
        rd_next(r);
    }
    if (r->tok == T_DOT && rd_is(r, ".align")) {
        rd_next(r);
        a->ptr_align = alignment(r);
    }
}

static Attributes read_attributes(Reader *r)
{
    Attributes a = {0};
    while (r->tok == T_DOT) {
        size_t at = rd_offset(r);
        Type type = type_find(r->lx.start + 1, (size_t)(r->lx.end - r->lx.start) - 1);
        bool v2 = rd_is(r, ".v2"), v4 = rd_is(r, ".v4"), align = rd_is(r, ".align"), ptr = rd_is(r, ".ptr");
        rd_need_token(r);
        if (rd_is(r, ".attribute")) {
            rd_next(r);
            a.attribute = rd_balanced(r, ".attribute", '(', ')');
            continue;
        }
        if (type == TY_NONE && !v2 && !v4 && !align && !ptr)
            rd_fail(r, at, "'%.*s' is not a type, alignment or attribute", (int)(r->lx.end - r->lx.start), r->lx.start);
        rd_next(r);
        if (align) {
            a.align = alignment(r);
            a.flags |= SYM_ALIGNED;
        } else if (ptr) {
            read_pointer(r, &a);
        } else if (v2 || v4) {
            a.vec = v2 ? 2 : 4;
        } else if (a.type != TY_NONE) {
            rd_fail(r, at, "a declaration can have only one type");
        } else {
            a.type = type;
        }
    }
    if (a.type == TY_NONE)
        rd_fail(r, rd_offset(r), "expected a type such as .b32");
    return a;
}

/* -- Registers ------------------------------------------------------------------------------------------ */

static void declare_module_register(Reader *r, Name name, const Attributes *a, size_t at)
{
    if (a->vec)
        rd_fail(r, at, "a module-level register must be a scalar");
    Reg reg = {.name = name,
               .file = a->type == TY_PRED ? RF_P : RF_R,
               .width = (uint8_t)type_info[a->type].width,
               .type = (uint8_t)a->type};
    scope_declare(r, name, BIND_REG, r->module_regs.n, 0, at);
    VEC_PUSH(&r->arena, &r->module_regs, reg);
    module_reserve_stem(r->m, name.stem);
}

static uint32_t range_count(Reader *r)
{
    rd_next(r);
    size_t at = rd_offset(r);
    if (r->tok != T_INT || r->lx.ival > INDEX_MAX)
        rd_fail(r, at, "expected the number of registers, at most %d", INDEX_MAX);
    uint32_t n = (uint32_t)r->lx.ival;
    rd_next(r);
    rd_expect(r, '>', "after the number");
    return n;
}

void decl_registers(Reader *r, bool module_level)
{
    rd_next(r);
    size_t type_at = rd_offset(r);
    Attributes a = read_attributes(r);
    TypeClass class = type_info[a.type].class;
    bool odd = class == TC_X || class == TC_O;
    if (odd || (a.vec && class == TC_P))
        rd_fail(r, type_at, "registers cannot have this type; use .b%u", width_bits(type_info[a.type].width));
    uint8_t file = class == TC_P ? RF_P : RF_R, width = (uint8_t)type_info[a.type].width;
    do {
        size_t at = rd_offset(r);
        Lexer spelled = r->lx;
        Name name = rd_name(r);
        if (r->tok == '<') {
            // The stem of a range is the whole identifier, digits included.
            StrId stem = str_intern(&r->t->strs, spelled.start, (size_t)(spelled.end - spelled.start));
            uint32_t count = range_count(r);
            if (module_level && count > 65536)
                rd_fail(r, at, "too many registers at module level");
            if (module_level)
                for (uint32_t k = 0; k < count; k++)
                    declare_module_register(r, (Name){stem, k}, &a, at);
            else
                scope_declare_range(
                    r, (Name){stem, NO_NUMBER},
                    (Range){.count = count, .vec = a.vec, .file = file, .width = width, .type = (uint8_t)a.type}, at);
        } else if (module_level) {
            declare_module_register(r, name, &a, at);
        } else {
            scope_declare(r, name, BIND_REG, scope_new_reg(r, name, file, width, (uint8_t)a.type, a.vec), a.vec, at);
        }
    } while (rd_accept(r, ','));
    rd_expect(r, ';', "after the registers");
}

/* -- Initializers --------------------------------------------------------------------------------------- */

typedef struct InitReader {
    Reader *r;
    Type type;
    uint32_t bytes;           // size of an element
    uint64_t dims[DIMS_MAX];  // number of elements inside each level of braces; [0] = of the array, 0 = open
    int ndims;
    uint64_t pos;   // number of elements so far
    uint64_t rows;  // number of braces directly inside the outermost brace
    VEC(uint8_t) data;
    VEC(Reloc) relocs;
} InitReader;

static void put_element(InitReader *in, uint64_t bits)
{
    Reader *r = in->r;
    if (in->dims[0] && in->pos >= in->dims[0])
        rd_fail(r, rd_offset(r), "more initial values than elements");
    for (uint32_t k = 0; k < in->bytes; k++)
        VEC_PUSH(&r->arena, &in->data, (uint8_t)(k < 8 ? bits >> (8 * k) : 0));
    in->pos++;
}

static SymId init_symbol(Reader *r)
{
    size_t at = rd_offset(r);
    int len = (int)(r->lx.end - r->lx.start);
    const char *text = r->lx.start;
    const Bind *bind = scope_find(r, rd_name(r));
    if (!bind || bind->kind != BIND_SYM)
        rd_fail(r, at, "'%.*s' is not declared before this initializer", len, text);
    return bind->id;
}

// Reads the address of a symbol: `g`, `g+4`, `generic(g)`, `generic(g)+4`, and these inside `mask(...)`.
static void init_address(InitReader *in, uint64_t mask)
{
    Reader *r = in->r;
    Reloc reloc = {.offset = in->pos * in->bytes, .mask = mask};
    if (type_info[in->type].class != TC_U && type_info[in->type].class != TC_S)
        rd_fail(r, rd_offset(r), "an address can initialize integers only (.u64, .u32, .u8 with a mask), not .%s",
                type_info[in->type].name);
    if (rd_is(r, "generic")) {
        Lexer lx = r->lx;
        rd_next(r);
        if (r->tok == '(') {
            rd_next(r);
            reloc.generic = true;
            reloc.sym = init_symbol(r);
            rd_expect(r, ')', "after the symbol");
        } else {
            r->lx = lx;
            r->tok = T_ID;
        }
    }
    if (!reloc.sym)
        reloc.sym = init_symbol(r);
    if (rd_accept(r, '+'))
        reloc.addend = expr_integer(r, "an offset");
    VEC_PUSH(&r->arena, &in->relocs, reloc);
    put_element(in, 0);
}

static void init_element(InitReader *in)
{
    Reader *r = in->r;
    size_t at = rd_offset(r);
    if (r->tok == T_ID && !rd_is(r, "WARP_SZ")) {
        init_address(in, 0);
        return;
    }
    if (r->tok == T_INT) {
        Lexer lx = r->lx;
        uint64_t mask = r->lx.ival;
        rd_next(r);
        if (r->tok == '(') {
            static const char form[] = "a mask in an initializer";
            rd_need(r, rd_offset(r), form, sizeof form - 1);
            rd_next(r);
            init_address(in, mask);
            rd_expect(r, ')', "after the masked address");
            return;
        }
        r->lx = lx;
        r->tok = T_INT;
    }
    Value v = expr_parse(r);
    uint64_t bits;
    const char *why;
    // In .b32 and .f16x2, a double is rounded to a float. Other bit types take the low bits of a double. A float gives
    // its bits to any bit type (all tried).
    bool bits32 = in->type == TY_B32 || in->type == TY_F16X2;
    Type type = bits32 && v.kind == LIT_F64 ? TY_F32 : bits32 ? TY_B32 : in->type;
    if (type_info[type].class == TC_B && v.kind != LIT_INT)
        v.kind = LIT_INT;
    if (type == TY_F16)  // so ptxas (tried)
        rd_fail(r, at, "no initial value is allowed for .f16: declare the variable as .b16");
    if (!literal_bits(type, v, &bits, &why))
        rd_fail(r, at, "%s", why);
    put_element(in, bits);
}

// Reads nested braces without recursion. A brace at depth k holds at most dims[k] elements. Unlike C, ptxas does not
// pad an inner brace that holds fewer: `{{1},{4,5}}` is 1, 4, 5, 0, ... (tried).
static void init_braces(InitReader *in)
{
    Reader *r = in->r;
    uint64_t start[DIMS_MAX + 1];
    int depth = 0;
    bool want_value = true;
    do {
        if (r->tok == '{' && want_value) {
            if (depth > in->ndims || depth > DIMS_MAX - 1)
                rd_fail(r, rd_offset(r), "more braces than dimensions");
            in->rows += depth == 1;
            start[depth++] = in->pos;
            r->braces++;
            rd_next(r);
        } else if (r->tok == '}' && depth && (!want_value || in->pos == start[depth - 1])) {
            depth--;
            if (depth && depth <= in->ndims && in->dims[depth] && in->pos > start[depth] + in->dims[depth])
                rd_fail(r, rd_offset(r), "more initial values than this dimension has");
            want_value = false;
            r->braces--;
            rd_next(r);
        } else if (want_value) {
            init_element(in);
            want_value = false;
        } else {
            rd_expect(r, ',', "between initial values");
            want_value = true;
        }
    } while (depth);
}

static Init *read_initializer(Reader *r, Type type, const uint64_t *dims, int ndims, Arena *arena, uint64_t *rows)
{
    Init *init = NEW(arena, Init);
    if (type_info[type].class == TC_O) {
        init->raw = rd_balanced(r, "", '{', '}');
        return init;
    }
    InitReader in = {.r = r, .type = type, .bytes = MAX(width_bits(type_info[type].width) / 8, 1), .ndims = ndims};
    memcpy(in.dims, dims, sizeof in.dims);
    init->braces = r->tok == '{';
    if (init->braces) {
        init_braces(&in);
    } else {
        init_element(&in);
    }
    *rows = in.rows;
    init->size = in.pos * in.bytes;
    init->bytes = arena_alloc(arena, init->size);
    if (init->size)
        memcpy(init->bytes, in.data.at, init->size);
    init->nrelocs = in.relocs.n;
    init->relocs = NEW_ARRAY(arena, Reloc, in.relocs.n);
    if (in.relocs.n)
        memcpy(init->relocs, in.relocs.at, in.relocs.n * sizeof(Reloc));
    return init;
}

/* -- Variables ------------------------------------------------------------------------------------------ */

// Reads `[d0][d1]...` after a name. products[k] = number of elements (of the vector type) inside level k of braces.
static int read_dims(Reader *r, uint64_t products[DIMS_MAX], uint32_t *flags, uint64_t *count)
{
    uint64_t dims[DIMS_MAX] = {0};
    int n = 0;
    while (r->tok == '[') {
        size_t at = rd_offset(r);
        rd_next(r);
        if (n == DIMS_MAX - 1)
            rd_fail(r, at, "more than %d dimensions", DIMS_MAX - 1);
        if (r->tok == ']' && n > 0)
            rd_fail(r, at, "only the first dimension may be empty");
        if (r->tok == ']') {
            *flags |= SYM_OPEN;
        } else {
            int64_t d = expr_integer(r, "a dimension");
            if (d <= 0 || d > (int64_t)1 << 40)
                rd_fail(r, at, "a dimension must be a positive number");
            dims[n] = (uint64_t)d;
        }
        n++;
        rd_expect(r, ']', "after the dimension");
        *flags |= SYM_ARRAY;
    }
    uint64_t product = 1;
    for (int k = n; k-- > 0;) {
        if (dims[k] && product > ((uint64_t)1 << 40) / dims[k])
            rd_fail(r, rd_offset(r), "the array is too large");
        product *= dims[k];
        products[k] = product;
    }
    products[n] = 1;
    *count = n ? product : 1;
    return n;
}

static uint32_t element_bytes(Type type, uint8_t vec)
{
    return MAX(width_bits(type_info[type].width) / 8, 1) * MAX(vec, 1);
}

static void set_attributes(Sym *s, Space space, const Attributes *a)
{
    s->space = (uint8_t)space;
    s->type = (uint8_t)a->type;
    s->vec = a->vec;
    s->ptr_space = a->ptr_space;
    s->flags |= a->flags;
    s->align = a->align ? a->align : MIN(element_bytes(a->type, a->vec), 16);
    s->ptr_align = a->ptr_align;
    s->attribute = a->attribute;
}

// True if two declarations of a variable agree in type, vector and dimensions. The first dimension may be open, and the
// alignment may differ.
static bool is_consistent(const Sym *a, const Sym *b)
{
    bool open = (a->flags | b->flags) & SYM_OPEN;
    return a->type == b->type && a->vec == b->vec && !((a->flags ^ b->flags) & SYM_ARRAY) &&
           (open || a->count == b->count);
}

// Makes the symbol of a variable. A name that is declared again at module level stays bound to its first symbol. The
// later symbol is only printed.
static SymId new_variable(Reader *r, Name name, uint32_t linkage, size_t at)
{
    if (r->fn) {
        SymId s = fn_sym(r->fn, scope_unique(r, name), SYM_VAR);
        scope_declare(r, name, BIND_SYM, s, 0, at);
        return s;
    }
    const Bind *old = scope_find(r, name);
    bool redeclared = old && old->kind == BIND_SYM && r->m->syms.at[old->id].kind == SYM_VAR &&
                      (r->m->syms.at[old->id].flags & SYM_EXTERN || linkage & SYM_EXTERN);
    if (old && !redeclared)
        rd_fail_word(r, at, "duplicate definition of '%.*s'");
    SymId s = module_sym(r->m, name, SYM_VAR);
    if (!old)
        scope_declare(r, name, BIND_SYM, s, 0, at);
    return s;
}

// Adds a variable to the module's items, and reports one that differs from the first declaration of its name.
static void add_module_variable(Reader *r, SymId id, size_t at)
{
    const Sym *s = &r->m->syms.at[id];
    const Bind *first = scope_find(r, s->name);
    if (first && first->kind == BIND_SYM && !is_consistent(&r->m->syms.at[first->id], s))
        rd_fail_word(r, at, "'%.*s' was declared before with another type or size");
    module_item(r->m, ITEM_VAR, id);
}

static void read_variable(Reader *r, Space space, uint32_t linkage, const Attributes *a)
{
    size_t at = rd_offset(r);
    Lexer spelled = r->lx;
    Name name = rd_name(r);
    uint32_t copies = 1;
    StrId stem = 0;
    if (r->tok == '<') {
        stem = str_intern(&r->t->strs, spelled.start, (size_t)(spelled.end - spelled.start));
        copies = range_count(r);
        if (copies > 100000)
            rd_fail(r, at, "too many variables");
    }
    uint64_t dims[DIMS_MAX] = {0}, count;
    uint32_t flags = linkage;
    int ndims = read_dims(r, dims, &flags, &count);
    Arena *arena = r->fn ? &r->fn->arena : &r->m->arena;
    // The name is declared after the initializer, which cannot refer to its own variable (fact D2 of facts.md).
    Init *init = NULL;
    if (rd_accept(r, '=')) {
        if (space == SP_SHARED || space == SP_LOCAL || space == SP_PARAM)
            rd_fail(r, at, "a variable in this state space cannot have an initial value");
        if (linkage & SYM_EXTERN)
            rd_fail(r, at, "an .extern variable cannot have an initial value: its definition has it");
        uint64_t row = MAX(dims[1], 1), rows = 0, vec = MAX(a->vec, 1);
        // The elements of a vector have their own braces, and so have those of an .f16x2.
        if (a->vec || a->type == TY_F16X2) {
            for (int k = 0; k <= ndims; k++)
                dims[k] *= vec;
            dims[++ndims] = 1;
        }
        init = read_initializer(r, a->type, dims, ndims, arena, &rows);
        // An open dimension has one row per inner brace; without inner braces, as many rows as the values fill (tried).
        if (flags & SYM_OPEN) {
            uint64_t given = init->size / element_bytes(a->type, 0);
            count = rows ? rows * row : (given + row * vec - 1) / (row * vec) * row;
            flags &= count ? ~(uint32_t)SYM_OPEN : ~(uint32_t)0;
        }
    } else if (flags & SYM_OPEN && !(linkage & SYM_EXTERN)) {
        rd_fail(r, at, "an array without a size must be .extern or have initial values");
    }
    for (uint32_t k = 0; k < copies; k++) {
        SymId id = new_variable(r, stem ? (Name){stem, k} : name, linkage, at);
        Sym *s = r->fn ? ir_sym(r->fn, id) : &r->m->syms.at[id];
        s->flags = flags;
        set_attributes(s, space, a);
        s->count = count;
        s->size = flags & SYM_OPEN ? 0 : count * element_bytes(a->type, a->vec);
        s->init = init;
        if (r->fn && space == SP_PARAM)
            s->kind = SYM_CALLPARAM;
        if (s->kind == SYM_CALLPARAM && s->align > PARAM_ALIGN_MAX)
            rd_fail(r, at, "the alignment of a call's parameter is at most %d bytes", PARAM_ALIGN_MAX);
        if (r->fn)
            r->fn->classes |= symbol_classes(s);
        else
            add_module_variable(r, id, at);
    }
}

void decl_variable(Reader *r, Space space, uint32_t linkage)
{
    rd_next(r);
    Attributes a = read_attributes(r);
    do
        read_variable(r, space, linkage, &a);
    while (rd_accept(r, ','));
    rd_expect(r, ';', "after the declaration");
}

/* -- Formal parameters ---------------------------------------------------------------------------------- */

static SymId read_formal(Reader *r, bool declare, bool returns)
{
    size_t at = rd_offset(r);
    Space space = decl_space(r);
    if (space != SP_PARAM && space != SP_REG)
        rd_fail(r, at, "a formal parameter must begin with .param or .reg");
    rd_next(r);
    Attributes a = read_attributes(r);
    at = rd_offset(r);
    Name name = rd_name(r);
    uint32_t flags = returns ? SYM_RETURN : 0;
    uint64_t dims[DIMS_MAX] = {0}, count;
    bool anonymous =
        tab_str(r->t, name.stem).len == 1 && tab_str(r->t, name.stem).text[0] == '_' && name.number == NO_NUMBER;
    RegId reg = 0;
    SymId id = fn_sym(r->fn, declare && !anonymous ? scope_unique(r, name) : name, SYM_FORMAL);
    if (declare && !anonymous && space == SP_REG) {
        reg = scope_new_reg(r, name, a.type == TY_PRED ? RF_P : RF_R, (uint8_t)type_info[a.type].width, (uint8_t)a.type,
                            a.vec);
        if (!a.vec)
            ir_reg(r->fn, reg)->flags |= REG_NAMED | REG_PINNED;
        scope_declare(r, name, BIND_REG, reg, a.vec, at);
    } else if (declare && !anonymous) {
        scope_declare(r, name, BIND_SYM, id, 0, at);
    }
    read_dims(r, dims, &flags, &count);
    Sym *s = ir_sym(r->fn, id);
    s->flags = flags;
    set_attributes(s, space, &a);
    s->count = count;
    s->size = count * element_bytes(a.type, a.vec);
    if (s->size > PARAM_BYTES_MAX)
        rd_fail(r, at, "a parameter has at most %u bytes", PARAM_BYTES_MAX);
    if (a.vec && space == SP_REG)
        vector_formal(r, id, reg, returns, at);
    return id;
}

void decl_formals(Reader *r, Sig *sig, bool returns, bool declare)
{
    VEC(SymId) list = {0};
    rd_expect(r, '(', "to open the parameters");
    if (r->tok != ')') {
        do
            VEC_PUSH(&r->fn->arena, &list, read_formal(r, declare, returns));
        while (rd_accept(r, ','));
    }
    rd_expect(r, ')', "after the parameters");
    if (returns) {
        sig->rets = list.at;
        sig->nrets = list.n;
    } else {
        sig->params = list.at;
        sig->nparams = list.n;
        sig->has_params = true;
    }
}
