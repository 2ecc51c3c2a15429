// SPDX-License-Identifier: MIT
// Reads Ori text: tokens, errors, the module level, function headers.
//
// A statement is a line, so the reader continues at the next line after an error. Two checks run at the end of a
// function: each register has a width, and each named block exists. Then the verifier runs; a violation is reported at
// its instruction.
#include <ctype.h>
#include <stdio.h>

#include "ir/analysis/analysis.h"
#include "ir/text/read.h"

/* -- Tokens and errors ---------------------------------------------------------------------------------- */

static void report(Reader *r, size_t at, const char *fmt, va_list args)
{
    diag_vat(r->diag, DIAG_ERROR, at, fmt, args);
    r->stop |= r->diag->max_errors && r->diag->errors >= r->diag->max_errors;
}

void tx_error(Reader *r, size_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, at, fmt, args);
    va_end(args);
}

_Noreturn void tx_fail(Reader *r, size_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, at, fmt, args);
    va_end(args);
    longjmp(*r->recover, 1);
}

static void reject_token(Reader *r)
{
    unsigned char c = (unsigned char)*r->lx.start;
    size_t at = tx_at(r);
    if (c == 0)
        tx_fail(r, at, "a NUL byte is not allowed here");
    if (c == '"')
        tx_fail(r, at, "this string does not end on its line");
    if (c >= 128)
        tx_fail(r, at, "a non-ASCII byte (0x%02X) is not allowed here", c);
    tx_fail(r, at, "unexpected '%.*s'", (int)MIN(r->lx.end - r->lx.start, 40), r->lx.start);
}

void tx_next(Reader *r)
{
    r->tok = text_token(&r->lx);
    if (r->tok == T_BAD)
        reject_token(r);
}

bool tx_is(const Reader *r, const char *word)
{
    size_t n = strlen(word);
    return r->tok == T_WORD && (size_t)(r->lx.end - r->lx.start) == n && memcmp(r->lx.start, word, n) == 0;
}

bool tx_accept(Reader *r, int token)
{
    if (r->tok != token)
        return false;
    tx_next(r);
    return true;
}

bool tx_accept_word(Reader *r, const char *word)
{
    bool is = tx_is(r, word);
    if (is)
        tx_next(r);
    return is;
}

void tx_expect(Reader *r, int token, const char *where)
{
    if (!tx_accept(r, token))
        tx_fail(r, tx_at(r), "expected '%c' %s", token, where);
}

void tx_end_of_line(Reader *r)
{
    if (r->tok != T_NEWLINE && r->tok != T_EOF)
        tx_fail(r, tx_at(r), "expected the end of the line");
    if (r->tok == T_NEWLINE)
        tx_next(r);
}

void tx_skip_line(Reader *r)
{
    while (r->tok != T_NEWLINE && r->tok != T_EOF)
        r->tok = text_token(&r->lx);
    tx_skip_empty(r);
}

void tx_skip_empty(Reader *r)
{
    while (r->tok == T_NEWLINE && !r->stop)
        tx_next(r);
}

uint64_t tx_number(Reader *r, uint64_t max, const char *what)
{
    if (r->tok != T_INT || r->lx.ival > max)
        tx_fail(r, tx_at(r), "expected %s, a number up to %llu", what, (unsigned long long)max);
    uint64_t n = r->lx.ival;
    tx_next(r);
    return n;
}

static Name split(Reader *r, const char *text, const char *end)
{
    const char *stem_end;
    uint32_t number = name_number(text, end, &stem_end);
    return (Name){str_intern(&r->t->strs, text, (size_t)(stem_end - text)), number};
}

Name tx_name(Reader *r, const char *what)
{
    if (r->tok != T_SYMBOL)
        tx_fail(r, tx_at(r), "expected %s: a name such as @x", what);
    Name name = split(r, r->lx.start, r->lx.end);
    tx_next(r);
    return name;
}

Name tx_quoted_name(Reader *r)
{
    const char *p = r->lx.start, *end = r->lx.end;
    if (r->tok != T_STRING || p == end)
        tx_fail(r, tx_at(r), "expected a name in quotes");
    for (bool in_word = false; p <= end; p++) {
        bool dot = p == end || *p == '.';
        if (dot ? !in_word : !isalnum((unsigned char)*p) && !strchr("_$%", *p))
            tx_fail(r, tx_at(r), "a name must consist of letters, digits, '_', '$' and '%%', and dots between them");
        in_word = !dot;
    }
    Name name = split(r, r->lx.start, end);
    tx_next(r);
    return name;
}

/* -- Strings -------------------------------------------------------------------------------------------- */

static void text_put(Reader *r, const char *from, const char *to)
{
    for (; from < to; from++)
        VEC_PUSH(&r->arena, &r->text, *from);
}

static void text_put_z(Reader *r, const char *z) { text_put(r, z, z + strlen(z)); }

static char hex_digit(Reader *r, const char *p)
{
    if (p >= r->lx.end || !isxdigit((unsigned char)*p))
        tx_fail(r, (size_t)(p - r->source->text), "expected two hexadecimal digits after \\x");
    return (char)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
}

// Appends the characters of the current string to r->text.
static void text_put_string(Reader *r)
{
    for (const char *p = r->lx.start; p < r->lx.end; p++) {
        char c = *p;
        if (c == '\\') {
            c = *++p;
            if (c == 'x') {
                c = (char)(hex_digit(r, p + 1) << 4 | hex_digit(r, p + 2));
                p += 2;
            } else if (c == 'n' || c == 't') {
                c = c == 'n' ? '\n' : '\t';
            } else if (c != '"' && c != '\\') {
                tx_fail(r, (size_t)(p - r->source->text),
                        "unknown escape; the known ones are \\\" \\\\ \\n \\t and \\xNN");
            }
        }
        VEC_PUSH(&r->arena, &r->text, c);
    }
}

// True if the current string is the label of a block.
static bool starts_block(Reader *r)
{
    Lexer lx = r->lx;
    int next = text_token(&r->lx);
    r->lx = lx;
    return r->fn && (next == ':' || next == '{');
}

StrId tx_string(Reader *r, const char *what)
{
    if (r->tok != T_STRING)
        tx_fail(r, tx_at(r), "expected %s in quotes", what);
    r->text.n = 0;
    // A newline is permitted between the parts: a statement that begins with a string can only be the label of a block.
    while (r->tok == T_STRING) {
        text_put_string(r);
        tx_next(r);
        Lexer lx = r->lx;
        bool newline = r->tok == T_NEWLINE;
        tx_skip_empty(r);
        if (newline && (r->tok != T_STRING || starts_block(r))) {
            r->lx = lx;
            r->tok = T_NEWLINE;
        }
    }
    return tx_intern(r);
}

Str tx_put_ptx_string(Reader *r)
{
    uint32_t n = r->text.n + 1;
    text_put_z(r, "\"");
    text_put_string(r);
    for (uint32_t k = n; k < r->text.n; k++)
        if (r->text.at[k] == '"' || r->text.at[k] == '\n')
            tx_fail(r, tx_at(r), "a quote or a newline is not allowed in this string: PTX has no escapes");
    text_put_z(r, "\"");
    return (Str){.text = r->text.at + n, .len = r->text.n - n - 1};
}

// Puts `first` and the tokens up to the end of the line into r->text, with single blanks.
static void put_canonical(Reader *r, const char *first)
{
    bool pragma = strcmp(first, ".pragma") == 0;
    r->text.n = 0;
    text_put_z(r, first);
    for (; r->tok != T_NEWLINE && r->tok != T_EOF; tx_next(r)) {
        if (r->tok != ',')
            text_put_z(r, " ");
        if (r->tok != T_STRING) {
            text_put(r, r->lx.start, r->lx.end);
            continue;
        }
        Str string = tx_put_ptx_string(r);
        if (pragma)
            module_note_knob(r->m, string.text, string.len, tx_at(r) + 1);
    }
}

/* -- Module directives ---------------------------------------------------------------------------------- */

// Reads `target sm_90, debug ptx 9.0 address 64`.
static void read_target(Reader *r)
{
    if (r->saw_target)
        tx_fail(r, tx_at(r), "the target is given twice");
    r->saw_target = true;
    tx_next(r);
    r->text.n = 0;
    do {
        if (r->tok != T_WORD)
            tx_fail(r, tx_at(r), "expected a target such as sm_80");
        if (!r->text.n && (r->lx.end - r->lx.start < 5 || memcmp(r->lx.start, "sm_", 3) != 0))
            tx_fail(r, tx_at(r), "expected a target such as sm_80");
        if (!r->text.n) {
            r->m->sm = str_intern(&r->t->strs, r->lx.start, (size_t)(r->lx.end - r->lx.start));
            r->m->sm_offset = tx_at(r);
        }
        text_put_z(r, r->text.n ? ", " : "");
        text_put(r, r->lx.start, r->lx.end);
        r->m->debug |= tx_is(r, "debug");
        tx_next(r);
    } while (tx_accept(r, ','));
    r->m->target = tx_intern(r);
    if (!tx_accept_word(r, "ptx") || r->tok != T_VERSION)
        tx_fail(r, tx_at(r), "expected the PTX version, such as `ptx 9.0`");
    r->m->version = str_intern(&r->t->strs, r->lx.start, (size_t)(r->lx.end - r->lx.start));
    module_set_isa(r->m);
    tx_next(r);
    if (tx_accept_word(r, "address")) {
        size_t at = tx_at(r);
        r->m->address_size = (uint32_t)tx_number(r, UINT32_MAX, "the address size");
        if (r->m->address_size != 32 && r->m->address_size != 64)
            tx_fail(r, at, "the address size is 32 or 64");
    }
    tx_end_of_line(r);
}

static const char *const canonical[][2] = {{"file", ".file"}, {"pragma", ".pragma"}, {"alias", ".alias"}};

// Reads `file 1 "a.cu"`, `pragma "x"` or `alias a, b`.
static void read_canonical(Reader *r)
{
    size_t k = 0;
    while (!tx_is(r, canonical[k][0]))
        k++;
    tx_next(r);
    if (r->tok == T_NEWLINE || r->tok == T_EOF)
        tx_fail(r, tx_at(r), "expected the rest of the %s", canonical[k][0]);
    put_canonical(r, canonical[k][1]);
    if (k > 0)
        text_put_z(r, ";");
    module_add_text(r->m, tab_str(r->t, tx_intern(r)));
    tx_end_of_line(r);
}

static void read_raw(Reader *r)
{
    tx_next(r);
    size_t at = tx_at(r);
    StrId text = tx_string(r, "the text");
    Str s = tab_str(r->t, text);
    for (size_t k = 0; k < ARRAY_LEN(canonical); k++) {
        size_t n = strlen(canonical[k][1]);
        if (s.len > n && memcmp(s.text, canonical[k][1], n) == 0 && s.text[n] == ' ')
            tx_fail(r, at, "write this as `%s`, without `raw`", canonical[k][0]);
    }
    module_add_text(r->m, s);
    tx_end_of_line(r);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void read_directive(Reader *r)
{
    Directive d = {0};
    bool pragma = tx_is(r, "pragma");
    r->text.n = 0;
    text_put_z(r, ".");
    text_put(r, r->lx.start, r->lx.end);
    r->m->syms.at[r->fn->sym].flags |= tx_is(r, "noreturn") ? SYM_NORETURN : 0;
    tx_next(r);
    for (const char *before = " "; pragma; before = ",") {
        if (r->tok != T_STRING)
            tx_fail(r, tx_at(r), "expected a pragma in quotes");
        text_put_z(r, before);
        Str string = tx_put_ptx_string(r);
        fn_note_knob(r->fn, string.text, string.len, tx_at(r) + 1);
        tx_next(r);
        pragma = tx_accept(r, ',');
    }
    if (r->text.at[r->text.n - 1] == '"')
        text_put_z(r, ";");
    d.text = tx_intern(r);
    if (r->tok == T_INT)
        do
            d.value[d.n++] = (uint32_t)tx_number(r, UINT32_MAX, "a value");
        while (d.n < ARRAY_LEN(d.value) && tx_accept(r, ','));
    VEC_PUSH(&r->fn->arena, &r->fn->directives, d);
}

// Reads the words between the signature and the brace or the end of the line.
static void read_header_words(Reader *r, Sym *s)
{
    Fn *fn = r->fn;
    uint32_t linkage = 0;
    StrId attribute = 0;
    while (r->tok == T_WORD) {
        if (tx_linkage(r, &linkage) || tx_attribute(r, &attribute))
            continue;
        if (tx_accept_word(r, "debug")) {
            fn->flags |= FN_DEBUG;
        } else if (tx_accept_word(r, "passthrough")) {
            fn->flags |= FN_PASSTHROUGH;
        } else if (tx_accept_word(r, "pipeline")) {
            fn->pipeline_counter = (uint32_t)tx_number(r, UINT32_MAX, "the pipeline counter");
        } else if (tx_accept_word(r, "form")) {
            if (!tx_is(r, "ssa") && !tx_is(r, "multi"))
                tx_fail(r, tx_at(r), "the form must be ssa or multi");
            fn->form = tx_is(r, "ssa") ? FORM_SSA : FORM_MULTI;
            tx_next(r);
        } else {
            read_directive(r);
        }
    }
    if (r->again)
        return;
    s->flags |= linkage;
    s->attribute = attribute ? attribute : s->attribute;
}

static SymId function_symbol(Reader *r, Name name, size_t at)
{
    SymId id = module_find(r->m, name);
    tx_declare_name(r, false, name, at);
    if (id && r->m->syms.at[id].kind != SYM_FUNC)
        tx_fail(r, at, "this name is already declared, but not as a function");
    if (!id && r->again)
        tx_fail(r, at, "the module has no such function");
    return id ? id : module_sym(r->m, name, SYM_FUNC);
}

static void end_function(Reader *r)
{
    arena_free(&r->scratch);
    r->fn = NULL;
}

static void start_function(Reader *r)
{
    r->fn = fn_new(r->m, 0);
    r->nfns++;
    if (r->again) {
        fn_own_tables(r->fn);
        r->t = r->fn->tables;
        r->descs.tables = r->t;
    }
    memset(r->regs, 0, sizeof r->regs);
    r->blocks = (IdMap){0};
    r->labels = r->symbols = r->lines = (IdSet){0};
    r->reg_at = r->block_at = r->instr_at = (Offsets){0};
    r->block_seen = (Flags){0};
    r->block = 0;
    r->closed = true;
    r->lost = false;
    r->errors = r->diag->errors;
}

// Runs the verifier unless the function has errors, and reports its message at the instruction.
static void verify(Reader *r)
{
    InstrId at;
    char why[200];
    if (r->diag->errors > r->errors || fn_verify(r->fn, VERIFY_FORM, &at, why))
        return;
    bool known = at && at < r->instr_at.n && r->instr_at.at[at];
    tx_error(r, known ? r->instr_at.at[at] : r->fn->offset, "%s", why);
}

static void read_function(Reader *r)
{
    bool kernel = tx_is(r, "kernel");
    tx_next(r);
    start_function(r);
    Fn *fn = r->fn;
    size_t at = fn->offset = tx_at(r);
    fn->sym = function_symbol(r, tx_name(r, "the function"), at);
    fn->flags = kernel ? FN_KERNEL : 0;
    tx_signature(r, &fn->sig, true);
    Sym *s = &r->m->syms.at[fn->sym];
    read_header_words(r, s);
    if (kernel && !r->again)
        s->flags |= SYM_KERNEL;
    if (tx_accept(r, '{')) {
        if (s->flags & SYM_DEFINED && !r->again)
            tx_error(r, at, "this function is already defined");
        if (!r->again)
            s->flags |= SYM_DEFINED;
        fn->flags |= FN_DEFINED;
        tx_end_of_line(r);
        tx_body(r);
        verify(r);
    } else if (r->tok != T_NEWLINE && r->tok != T_EOF) {
        tx_fail(r, tx_at(r), "expected '{' or the end of the line after the function's header");
    }
    if (!r->stop)
        tx_end_of_line(r);
    if (r->again)
        return;
    r->m->syms.at[fn->sym].fn = fn;
    module_add_fn(r->m, fn);
    module_item(r->m, ITEM_FN, r->m->fns.n - 1);
    end_function(r);
}

/* -- Module --------------------------------------------------------------------------------------------- */

// True at a line for the test driver, which this reader skips.
static bool is_test_line(const Reader *r)
{
    return tx_is(r, "test") || tx_is(r, "set") || tx_is(r, "idempotent") || tx_is(r, "precise");
}

// True if the current line begins an item. A word that does not start its line is in the body of a skipped function.
static bool starts_item(const Reader *r)
{
    Type handle;
    if (r->lx.start > r->source->text && r->lx.start[-1] != '\n')
        return false;
    return tx_is(r, "kernel") || tx_is(r, "device") || tx_is(r, "target") || tx_is(r, "file") || tx_is(r, "alias") ||
           tx_is(r, "raw") || tx_space(r, &handle) != SP_NONE;
}

static void read_item(Reader *r)
{
    Type handle;
    Space space = tx_space(r, &handle);
    if (is_test_line(r)) {
        tx_skip_line(r);
        return;
    }
    if (tx_is(r, "target")) {
        read_target(r);
        return;
    }
    if (!r->saw_target)
        tx_fail(r, tx_at(r), "Ori text must begin with its target, such as `target sm_80 ptx 8.0`");
    if (tx_is(r, "kernel") || tx_is(r, "device")) {
        read_function(r);
    } else if (tx_is(r, "file") || tx_is(r, "pragma") || tx_is(r, "alias")) {
        read_canonical(r);
    } else if (tx_is(r, "raw")) {
        read_raw(r);
    } else if (space != SP_NONE && space != SP_PARAM) {
        tx_next(r);
        tx_variable(r, space, handle);
    } else {
        tx_fail(r, tx_at(r), "expected kernel, device, global, const, shared, local or another item of a module");
    }
}

// Recovers from an error: drops the function and skips to the next line that begins an item.
static void skip_to_item(Reader *r)
{
    if (r->fn) {
        Sym *s = &r->m->syms.at[r->fn->sym];
        if (s->fn == r->fn)
            s->fn = NULL;
        fn_free(r->fn);
        end_function(r);
    }
    do
        tx_skip_line(r);
    while (!r->stop && r->tok != T_EOF && !starts_item(r));
}

bool text_more(TextReader *r, size_t bytes)
{
    jmp_buf recover;
    r->piece = r->begun ? tx_at(r) : 0;
    r->recover = &recover;
    if (setjmp(recover)) {
        skip_to_item(r);
    } else if (!r->begun) {
        r->begun = true;
        tx_next(r);
    }
    tx_skip_empty(r);
    while (r->tok != T_EOF && !r->stop) {
        if (tx_at(r) - r->piece > bytes)
            return true;
        read_item(r);
        tx_skip_empty(r);
    }
    if (!r->saw_target && r->diag->errors == r->errors)
        tx_error(r, r->source->len, "the file has no Ori text: Ori text begins with `target`");
    return false;
}

static Reader *reader_new(Arena *arena, const Source *source, Diag *diag)
{
    Reader *r = NEW(arena, Reader);
    arena_init(&r->arena, arena->heap);
    arena_init(&r->scratch, arena->heap);
    r->source = source;
    r->diag = diag;
    r->lx = (Lexer){.cur = source->text, .start = source->text, .limit = source->text + source->len};
    r->descs.arena = &r->arena;
    r->errors = diag->errors;
    return r;
}

TextReader *text_open(Heap *heap, const Source *source, Diag *diag)
{
    Arena arena;
    arena_init(&arena, heap);
    Reader *r = reader_new(&arena, source, diag);
    r->self = arena;
    r->m = module_new(heap);
    r->t = r->descs.tables = &r->m->tables;
    return r;
}

size_t text_offset(const TextReader *r) { return (size_t)(r->lx.start - r->source->text); }

Module *text_module(const TextReader *r) { return r->m; }

void text_close(TextReader *r)
{
    Arena arena = r->self;  // the reader is allocated in this arena
    arena_free(&r->scratch);
    arena_free(&r->arena);
    arena_free(&arena);
}

Module *text_read(Heap *heap, const Source *source, Diag *diag)
{
    uint32_t errors = diag->errors;
    TextReader *r = text_open(heap, source, diag);
    text_more(r, SIZE_MAX);
    Module *m = text_module(r);
    text_close(r);
    if (diag->errors == errors)
        return m;
    module_free(m);
    return NULL;
}

Fn *text_read_fn(Module *m, const Source *source, Diag *diag)
{
    Arena arena;
    arena_init(&arena, m->arena.heap);
    Reader *r = reader_new(&arena, source, diag);
    r->m = m;
    r->again = r->saw_target = true;
    uint32_t errors = diag->errors;
    jmp_buf recover;
    r->recover = &recover;
    if (setjmp(recover) == 0) {
        tx_next(r);
        tx_skip_empty(r);
        if (!tx_is(r, "kernel") && !tx_is(r, "device"))
            tx_fail(r, tx_at(r), "expected a function");
        read_function(r);
    }
    Fn *fn = r->fn;
    arena_free(&r->scratch);
    arena_free(&r->arena);
    arena_free(&arena);
    if (diag->errors == errors)
        return fn;
    if (fn)
        fn_free(fn);
    return NULL;
}
