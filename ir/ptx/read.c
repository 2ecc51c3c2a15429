// SPDX-License-Identifier: MIT
// Reads the module level of PTX: directives, variables, function headers. Also has the reader's token handling and
// error recovery. `.section`, `.file`, `.alias`, `.pragma` and `@@DWARF` at module level are kept as text.
#include <ctype.h>
#include <stdio.h>

#include "ir/ptx/read.h"

/* -- Tokens and errors ---------------------------------------------------------------------------------- */

static void report(Reader *r, size_t offset, const char *fmt, va_list args)
{
    diag_vat(r->diag, DIAG_ERROR, offset, fmt, args);
    r->stop |= r->diag->max_errors && r->diag->errors >= r->diag->max_errors;
}

void rd_error(Reader *r, size_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, offset, fmt, args);
    va_end(args);
}

void rd_need(Reader *r, size_t offset, const char *text, size_t len)
{
    unsigned version = r->options.version ? ptx_since(text, len) : 0;
    if (version > r->options.version)
        rd_error(r, offset, "%.*s needs PTX %u.%u", (int)len, text, version / 10, version % 10);
}

void rd_need_token(Reader *r) { rd_need(r, rd_offset(r), r->lx.start, (size_t)(r->lx.end - r->lx.start)); }

void rd_need_pragma(Reader *r)
{
    const char *word = r->lx.start + 1;
    rd_need(r, rd_offset(r) + 1, word, strcspn(word, " \t\""));
}

_Noreturn void rd_fail(Reader *r, size_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, offset, fmt, args);
    va_end(args);
    longjmp(*r->recover, 1);
}

_Noreturn void rd_fail_word(Reader *r, size_t offset, const char *fmt)
{
    const char *text = r->source->text + offset;
    int n = 0;
    while (n < 80 && (isalnum((unsigned char)text[n]) || strchr("_$%.", text[n])) && text[n])
        n++;
    char message[256];
    snprintf(message, sizeof message, fmt, n, text);
    rd_fail(r, offset, "%s", message);
}

// Returns the end of the last token of the statement before an offset.
static const char *end_before(const Reader *r, const char *offset)
{
    const char *end = r->statement;
    Lexer lx = {.cur = r->statement, .limit = r->lx.limit};
    for (int tok = lex_token(&lx); lx.start < offset && tok != T_EOF; tok = lex_token(&lx))
        end = lx.end;
    return end;
}

_Noreturn void rd_fail_end(Reader *r, size_t offset, const char *message)
{
    const char *token = r->source->text + offset, *end = end_before(r, token);
    bool later_line = end < token && memchr(end, '\n', (size_t)(token - end));
    rd_fail(r, later_line ? (size_t)(end - r->source->text) : offset, "%s", message);
}

static void reject_token(Reader *r)
{
    unsigned char c = (unsigned char)*r->lx.start;
    if (r->tok == T_COMMENT)
        rd_fail(r, rd_offset(r), "this comment does not end");
    if (c == 0)
        rd_fail(r, rd_offset(r), "a NUL byte is not allowed here");
    if (c == '"')
        rd_fail(r, rd_offset(r), "this string does not end on its line");
    if (c >= 128)
        rd_fail(r, rd_offset(r), "a non-ASCII byte (0x%02X) is not allowed here", c);
    rd_fail(r, rd_offset(r), "unexpected '%.*s'", (int)MIN(r->lx.end - r->lx.start, 40), r->lx.start);
}

void rd_next(Reader *r)
{
    r->tok = lex_token(&r->lx);
    if (r->tok == T_BAD || r->tok == T_COMMENT)
        reject_token(r);
}

void rd_next_statement(Reader *r)
{
    r->tok = lex_statement(&r->lx);
    if (r->tok == T_BAD || r->tok == T_COMMENT)
        reject_token(r);
}

bool rd_accept(Reader *r, int token)
{
    if (r->tok != token)
        return false;
    rd_next(r);
    return true;
}

void rd_expect(Reader *r, int token, const char *where)
{
    if (r->tok != token) {
        char message[100];
        snprintf(message, sizeof message, "expected '%c' %s", token, where);
        if (token == ';')
            rd_fail_end(r, rd_offset(r), message);
        rd_fail(r, rd_offset(r), "%s", message);
    }
    // After a semicolon the caller reads the next token, since a different lexer reads the first token of a statement.
    if (token != ';')
        rd_next(r);
}

Name rd_token_name(Reader *r)
{
    if (!r->lx.stem_end)
        return rd_split(r, r->lx.start, r->lx.end);
    return (Name){rd_stem(r, r->lx.start, (size_t)(r->lx.stem_end - r->lx.start)), r->lx.number};
}

Name rd_split(Reader *r, const char *text, const char *end)
{
    const char *stem_end;
    uint32_t number = name_number(text, end, &stem_end);
    return (Name){rd_stem(r, text, (size_t)(stem_end - text)), number};
}

Name rd_name(Reader *r)
{
    if (r->tok != T_ID)
        rd_fail(r, rd_offset(r), "expected a name");
    Name name = rd_token_name(r);
    rd_next(r);
    return name;
}

// Recovers from an error in a body: skips past the next semicolon outside braces, or to the brace that closes the
// scope.
void rd_skip_statement(Reader *r)
{
    uint32_t depth = r->braces;
    for (; r->tok != T_EOF; r->tok = lex_token(&r->lx)) {
        depth += r->tok == '{';
        if (depth == 0 && (r->tok == ';' || r->tok == '}'))
            break;
        depth -= r->tok == '}';
    }
    if (r->tok == ';')
        do
            r->tok = lex_statement(&r->lx);
        while (r->tok == T_BAD || r->tok == ';');
}

// True if two adjacent tokens could be lexed as one; `end` is the last character of the first, `begin` of the second.
static bool could_join(char end, char begin)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$%0123456789",
                      sign[] = "<>=!&|/*+-";
    if (begin == '.')
        return end >= '0' && end <= '9';
    return (memchr(word, end, sizeof word - 1) && memchr(word, begin, sizeof word - 1)) ||
           (memchr(sign, end, sizeof sign - 1) && memchr(sign, begin, sizeof sign - 1));
}

StrId rd_balanced(Reader *r, const char *prefix, int open, int close)
{
    VEC(char) text = {0};
    for (const char *p = prefix; *p; p++)
        VEC_PUSH(&r->arena, &text, *p);
    if (r->tok != open)
        rd_fail(r, rd_offset(r), "expected '%c'", open);
    int depth = 0;
    bool first = true;
    do {
        if (r->tok == T_EOF)
            rd_fail(r, rd_offset(r), "expected '%c'", close);
        depth += (r->tok == open) - (r->tok == close);
        if (r->tok == T_DOT)
            rd_need_token(r);
        if (!first && could_join(text.at[text.n - 1], *r->lx.start))
            VEC_PUSH(&r->arena, &text, ' ');
        first = false;
        for (const char *p = r->lx.start; p < r->lx.end; p++)
            VEC_PUSH(&r->arena, &text, *p);
        rd_next(r);
    } while (depth > 0);
    return str_intern(&r->t->strs, text.at, text.n);
}

/* -- Module directives ---------------------------------------------------------------------------------- */

static void check_ascii(Reader *r, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++)
        if ((unsigned char)*p >= 128 || *p == 0)
            rd_fail(r, (size_t)(p - r->source->text), "a non-ASCII or NUL byte is not allowed here");
}

static void raw_item(Reader *r, const char *from, const char *to)
{
    while (to > from && (to[-1] == '\r' || to[-1] == '\n' || to[-1] == ' ' || to[-1] == '\t'))
        to--;
    check_ascii(r, from, to);
    module_add_text(r->m, tab_str(r->t, str_intern(&r->t->strs, from, (size_t)(to - from))));
}

// Stores the text of the directive up to `to` in canonical spelling: one blank between words and after a comma, none
// before a comma.
static void canonical_item(Reader *r, const char *directive, const char *to, const char *end)
{
    VEC(char) text = {0};
    Lexer lx = {.cur = directive, .limit = r->lx.limit};
    check_ascii(r, directive, to);
    for (int tok = lex_token(&lx), before = 0; tok != T_EOF && lx.start < to; before = tok, tok = lex_token(&lx)) {
        if (before && tok != ',')
            VEC_PUSH(&r->arena, &text, ' ');
        for (const char *p = lx.start; p < lx.end; p++)
            VEC_PUSH(&r->arena, &text, *p);
    }
    for (const char *p = end; *p; p++)
        VEC_PUSH(&r->arena, &text, *p);
    module_add_text(r->m, tab_str(r->t, str_intern(&r->t->strs, text.at, text.n)));
}

// True for digits, a dot, and digits.
static bool is_version(const char *p, const char *end)
{
    const char *dot = memchr(p, '.', (size_t)(end - p));
    bool digits = dot && dot > p && dot + 1 < end;
    for (; digits && p < end; p++)
        digits = p == dot || (*p >= '0' && *p <= '9');
    return digits;
}

// Gives the module the version of the options in place of its own.
static void change_version(Reader *r)
{
    unsigned version = r->options.version;
    char text[16];
    if (r->m->isa.version < PTX_OLDEST)
        rd_fail(r, rd_offset(r), "PTX before %u.%u has other rules: its version cannot be changed", PTX_OLDEST / 10,
                PTX_OLDEST % 10);
    r->lowered = version < r->m->isa.version;
    int n = snprintf(text, sizeof text, "%u.%u", version / 10, version % 10);
    r->m->version = str_intern(&r->t->strs, text, (size_t)n);
    module_set_isa(r->m);
}

static void read_version(Reader *r)
{
    r->saw_version = true;
    rd_next(r);
    if (r->tok != T_DEC || !is_version(r->lx.start, r->lx.end))
        rd_fail(r, rd_offset(r), "expected a version such as 9.0");
    r->m->version = str_intern(&r->t->strs, r->lx.start, (size_t)(r->lx.end - r->lx.start));
    module_set_isa(r->m);
    if (r->m->isa.version > PTX_NEWEST)
        diag_at(r->diag, DIAG_WARNING, rd_offset(r), "PTX %.*s is newer than %u.%u, the last version that is known",
                (int)(r->lx.end - r->lx.start), r->lx.start, PTX_NEWEST / 10, PTX_NEWEST % 10);
    if (r->options.version)
        change_version(r);
    rd_next_statement(r);
}

static void read_target(Reader *r)
{
    VEC(char) text = {0};
    bool first = true;
    r->m->debug = false;
    r->saw_target = true;
    do {
        rd_next(r);
        if (r->tok != T_ID)
            rd_fail(r, rd_offset(r), "expected a target such as sm_80");
        StrId word = str_intern(&r->t->strs, r->lx.start, (size_t)(r->lx.end - r->lx.start));
        bool debug = rd_is(r, "debug");
        if (first && (r->lx.end - r->lx.start < 5 || memcmp(r->lx.start, "sm_", 3) != 0))
            rd_fail(r, rd_offset(r), "expected a target such as sm_80");
        if (first) {
            r->m->sm = word;
            r->m->sm_offset = rd_offset(r);
            rd_need_token(r);
        }
        if (!debug || !r->options.strip_debug) {
            if (!first) {
                VEC_PUSH(&r->arena, &text, ',');
                VEC_PUSH(&r->arena, &text, ' ');
            }
            Str s = tab_str(r->t, word);
            for (uint32_t k = 0; k < s.len; k++)
                VEC_PUSH(&r->arena, &text, s.text[k]);
            r->m->debug |= debug;
        }
        first = false;
        rd_next_statement(r);
    } while (r->tok == ',');
    r->m->target = str_intern(&r->t->strs, text.at, text.n);
    module_set_isa(r->m);
    Str sm = tab_str(r->t, r->m->sm);
    enum { SM_OF_PTX_2 = 21 };
    if (r->lowered && r->m->isa.sm > SM_OF_PTX_2 && !ptx_since(sm.text, sm.len))
        rd_error(r, r->m->sm_offset, "the version of PTX that '%.*s' needs is not known", (int)MIN(sm.len, 80),
                 sm.text);
}

static void read_address_size(Reader *r)
{
    rd_next(r);
    if (r->tok != T_INT || (r->lx.ival != 32 && r->lx.ival != 64))
        rd_fail(r, rd_offset(r), "the address size is 32 or 64");
    r->m->address_size = (uint32_t)r->lx.ival;
    rd_next_statement(r);
}

// Reads `.file INDEX "NAME" [, TIMESTAMP, SIZE]` (no semicolon).
static void read_file(Reader *r)
{
    const char *from = r->lx.start, *to;
    rd_next(r);
    if (r->tok != T_INT)
        rd_fail(r, rd_offset(r), "expected the file's number");
    rd_next(r);
    if (r->tok != T_STRING)
        rd_fail(r, rd_offset(r), "expected the file's name in quotes");
    to = r->lx.end;
    rd_next_statement(r);
    while (r->tok == ',') {
        static const char time[] = "a time in .file";
        if (!r->options.strip_debug)
            rd_need(r, rd_offset(r), time, sizeof time - 1);
        rd_next(r);
        if (r->tok != T_INT)
            rd_fail(r, rd_offset(r), "expected a number");
        to = r->lx.end;
        rd_next_statement(r);
    }
    if (!r->options.strip_debug)
        canonical_item(r, from, to, "");
}

// Reads `.section NAME { ... }` and keeps its text unchanged.
static void read_section(Reader *r)
{
    const char *from = r->lx.start;
    size_t at = rd_offset(r);
    uint32_t depth = 0;
    static const char label[] = "a label in .section";
    bool labels = false;
    do {
        size_t before = rd_offset(r);
        rd_next(r);
        if (r->tok == ':' && !labels && !r->options.strip_debug)
            rd_need(r, before, label, sizeof label - 1);
        labels |= r->tok == ':';
        if (r->tok == T_EOF)
            rd_fail(r, at, "this section is not closed: expected '}'");
        depth += r->tok == '{';
        depth -= r->tok == '}' && depth > 0;
    } while (r->tok != '}' || depth);
    const char *to = r->lx.end;
    rd_next_statement(r);
    if (!r->options.strip_debug)
        raw_item(r, from, to);
}

// Reads `.pragma "...", "...";`.
static void read_pragma_item(Reader *r)
{
    const char *from = r->lx.start;
    while (r->tok != ';') {
        rd_next(r);
        if (r->tok == T_EOF)
            rd_fail_end(r, rd_offset(r), "expected ';' after the pragma");
        if (r->tok == T_STRING)
            rd_need_pragma(r);
        if (r->tok == T_STRING)
            module_note_knob(r->m, r->lx.start + 1, (size_t)(r->lx.end - r->lx.start) - 2, rd_offset(r) + 1);
    }
    const char *to = r->lx.start;
    rd_next_statement(r);
    canonical_item(r, from, to, ";");
}

// Reads `.alias NAME, FUNCTION;`.
static void read_alias(Reader *r)
{
    const char *from = r->lx.start;
    rd_need_token(r);
    rd_next(r);
    for (int k = 0; k < 2; k++) {
        size_t at = rd_offset(r);
        const Bind *bind = r->tok == T_ID ? scope_find(r, rd_token_name(r)) : NULL;
        if (!bind || bind->kind != BIND_SYM || r->m->syms.at[bind->id].kind != SYM_FUNC)
            rd_fail(r, at, "expected a function that is already declared");
        rd_next(r);
        if (k == 0)
            rd_expect(r, ',', "between the alias and its function");
    }
    const char *to = r->lx.start;
    rd_expect(r, ';', "after the alias");
    rd_next_statement(r);
    canonical_item(r, from, to, ";");
}

// Reads a debug line of PTX 1.x, `@@DWARF ...`, to the end of the line.
static void read_dwarf_line(Reader *r)
{
    const char *from = r->lx.start;
    const char *end = memchr(from, '\n', (size_t)(r->lx.limit - from));
    r->lx.cur = end ? end : r->lx.limit;
    rd_next_statement(r);
    if (!r->options.strip_debug)
        raw_item(r, from, end ? end : r->lx.limit);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

// True at a directive that occurs only at the start of an item.
static bool starts_item(const Reader *r)
{
    static const char *const directives[] = {".version", ".target",  ".address_size", ".file", ".section",
                                             ".alias",   ".visible", ".extern",       ".weak", ".common"};
    for (size_t k = 0; r->tok == T_DOT && k < ARRAY_LEN(directives); k++)
        if (rd_is_text(r, directives[k], strlen(directives[k])))
            return true;
    return false;
}

// True if the current token follows a prototype without a semicolon. nvopencc wrote these, and ptxas accepts them.
static bool ends_prototype(const Reader *r)
{
    Space space = decl_space(r);
    bool variable = space != SP_NONE && space != SP_PARAM;
    return r->tok == T_EOF || starts_item(r) || variable ||
           (r->tok == T_DOT && (rd_is(r, ".func") || rd_is(r, ".entry")));
}

static void read_function_directives(Reader *r, Sym *sym)
{
    Fn *fn = r->fn;
    while (r->tok == T_DOT && !ends_prototype(r)) {
        Directive d = {.text = str_intern(&r->t->strs, r->lx.start, (size_t)(r->lx.end - r->lx.start))};
        bool pragma = rd_is(r, ".pragma"), attribute = rd_is(r, ".attribute");
        sym->flags |= rd_is(r, ".noreturn") ? SYM_NORETURN : 0;
        rd_need_token(r);
        rd_next(r);
        if (attribute) {
            sym->attribute = rd_balanced(r, ".attribute", '(', ')');
            continue;
        }
        if (pragma) {
            VEC(char) text = {0};
            for (const char *p = ".pragma "; *p; p++)
                VEC_PUSH(&r->arena, &text, *p);
            for (; r->tok == T_STRING || r->tok == ','; rd_next(r)) {
                if (r->tok == T_STRING)
                    rd_need_pragma(r);
                if (r->tok == T_STRING)
                    fn_note_knob(fn, r->lx.start + 1, (size_t)(r->lx.end - r->lx.start) - 2, rd_offset(r) + 1);
                for (const char *p = r->lx.start; p < r->lx.end; p++)
                    VEC_PUSH(&r->arena, &text, *p);
            }
            if (r->tok != ';')
                rd_fail_end(r, rd_offset(r), "expected ';' after the pragma");
            VEC_PUSH(&r->arena, &text, ';');
            rd_next(r);
            d.text = str_intern(&r->t->strs, text.at, text.n);
        }
        while (expr_starts(r) && d.n < ARRAY_LEN(d.value)) {
            d.value[d.n++] = (uint32_t)expr_integer(r, "the value of a directive");
            if (!rd_accept(r, ','))
                break;
        }
        VEC_PUSH(&fn->arena, &fn->directives, d);
    }
}

// Returns the symbol of a function that is declared or defined here. Makes the symbol of a new name.
static SymId function_symbol(Reader *r, Name name, size_t at, bool kernel, uint32_t linkage)
{
    const Bind *old = scope_find_global(r, name);
    if (old && (old->kind != BIND_SYM || r->m->syms.at[old->id].kind != SYM_FUNC))
        rd_fail(r, at, "this name is already declared, but not as a function");
    SymId id = old ? old->id : module_sym(r->m, name, SYM_FUNC);
    if (!old)
        scope_declare_global(r, name, BIND_SYM, id, at);
    r->m->syms.at[id].flags |= linkage | (kernel ? SYM_KERNEL : 0);
    return id;
}

static void discard_function(Reader *r)
{
    while (r->scopes.n)
        scope_close(r);
    if (r->fn) {
        // Later calls must not find the dropped header.
        Sym *sym = &r->m->syms.at[r->fn->sym];
        if (sym->fn == r->fn)
            sym->fn = NULL;
        fn_free(r->fn);
    }
    r->fn = NULL;
}

static void read_body(Reader *r, Sym *sym, size_t at)
{
    if (sym->flags & SYM_DEFINED)
        rd_error(r, at, "this function is already defined");
    sym->flags |= SYM_DEFINED;
    r->fn->flags |= FN_DEFINED;
    body_read(r);
    scope_close(r);
    body_finish(r);
}

// Reports a kernel with more bytes of parameters than a launch can pass (ptxas: "uses too much parameter space").
static void check_kernel_parameters(Reader *r, const Fn *fn, size_t at)
{
    enum { BYTES_MAX = 4352, BYTES_MAX_SINCE_8_1 = 32764 };
    Str version = tab_str(r->t, r->m->version);
    bool early = version.len == 3 && memcmp(version.text, "8.1", 3) < 0;
    uint64_t most = early ? BYTES_MAX : BYTES_MAX_SINCE_8_1, end = 0;
    for (uint32_t k = 0; k < fn->sig.nparams; k++) {
        const Sym *s = ir_sym(fn, fn->sig.params[k]);
        end = (end + s->align - 1) / s->align * s->align + s->size;
    }
    if (end > most)
        rd_fail_word(r, at,
                     early ? "the parameters of kernel '%.*s' have more than 4352 bytes; PTX 8.1 allows 32764"
                           : "the parameters of kernel '%.*s' have more than 32764 bytes");
}

// Drops the pragmas of a declaration without a body: pragmas apply to a body, and ptxas rejects them before a
// semicolon.
static void drop_pragmas(Reader *r, Fn *fn)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < fn->directives.n; k++) {
        Str text = tab_str(r->t, fn->directives.at[k].text);
        if (text.len < 7 || memcmp(text.text, ".pragma", 7) != 0)
            fn->directives.at[kept++] = fn->directives.at[k];
    }
    fn->directives.n = kept;
}

static void read_function(Reader *r, uint32_t linkage, StrId attribute)
{
    bool kernel = rd_is(r, ".entry");
    rd_next(r);
    // Results are before the name, so they are read into a function without a symbol.
    r->fn = fn_new(r->m, 0);
    scope_function_start(r);
    r->vectors.n = 0;
    Fn *fn = r->fn;
    fn->flags = (kernel ? FN_KERNEL : 0) | (r->m->debug ? FN_DEBUG : 0);
    if (r->tok == T_DOT && rd_is(r, ".attribute")) {
        rd_need_token(r);
        rd_next(r);
        attribute = rd_balanced(r, ".attribute", '(', ')');
    }
    if (r->tok == '(')
        decl_formals(r, &fn->sig, true, true);
    size_t at = fn->offset = rd_offset(r);
    Name name = rd_name(r);
    fn->sym = function_symbol(r, name, at, kernel, linkage);
    if (r->tok == '(')
        decl_formals(r, &fn->sig, false, true);
    if (kernel)
        check_kernel_parameters(r, fn, at);
    Sym *sym = &r->m->syms.at[fn->sym];
    if (attribute)
        sym->attribute = attribute;
    read_function_directives(r, sym);
    vector_check_linkage(r, sym->flags);
    sym->fn = fn;
    bool unended = !kernel && ends_prototype(r);
    if (r->tok == ';' || unended) {
        drop_pragmas(r, fn);
        scope_close(r);
    } else if (r->tok == '{') {
        read_body(r, sym, at);
    } else {
        rd_fail(r, rd_offset(r), "expected '{' or ';' after the function's header");
    }
    module_add_fn(r->m, fn);
    module_item(r->m, ITEM_FN, r->m->fns.n - 1);
    r->fn = NULL;
    if (!r->stop && !unended)
        rd_next_statement(r);
}

/* -- Module --------------------------------------------------------------------------------------------- */

static uint32_t linkage_flag(const Reader *r)
{
    return r->tok != T_DOT        ? 0
           : rd_is(r, ".visible") ? SYM_VISIBLE
           : rd_is(r, ".extern")  ? SYM_EXTERN
           : rd_is(r, ".weak")    ? SYM_WEAK
           : rd_is(r, ".common")  ? SYM_COMMON
                                  : 0;
}

static void read_linked(Reader *r)
{
    uint32_t linkage = 0, flag;
    StrId attribute = 0;
    while ((flag = linkage_flag(r)) || rd_is(r, ".attribute")) {
        linkage |= flag;
        rd_need_token(r);
        rd_next(r);
        if (!flag)
            attribute = rd_balanced(r, ".attribute", '(', ')');
    }
    Space space = decl_space(r);
    if (rd_is(r, ".entry") || rd_is(r, ".func")) {
        read_function(r, linkage, attribute);
    } else if (space == SP_REG) {
        const char *from = r->lx.start;
        decl_registers(r, true);
        raw_item(r, from, r->lx.end);
        rd_next_statement(r);
    } else if (space == SP_PARAM || space == SP_NONE) {
        rd_fail(r, rd_offset(r), "'%.*s' is not allowed at module level", (int)(r->lx.end - r->lx.start), r->lx.start);
    } else {
        uint32_t first = r->m->syms.n;
        decl_variable(r, space, linkage);
        for (uint32_t k = first; attribute && k < r->m->syms.n; k++)
            r->m->syms.at[k].attribute = attribute;
        rd_next_statement(r);
    }
}

static void read_item(Reader *r)
{
    r->braces = 0;
    r->statement = r->lx.start;
    static const struct {
        const char *text;
        void (*read)(Reader *);
    } directives[] = {
        {".version", read_version},    {".target", read_target},   {".address_size", read_address_size},
        {".file", read_file},          {".section", read_section}, {".alias", read_alias},
        {".pragma", read_pragma_item},
    };
    if (r->tok == '@') {
        read_dwarf_line(r);
        return;
    }
    if (r->tok != T_DOT)
        rd_fail(r, rd_offset(r), "expected a directive such as .visible, .global or .func");
    bool header = rd_is(r, ".version") || rd_is(r, ".target");
    if (!header && (!r->saw_version || !r->saw_target))
        rd_fail(r, rd_offset(r), "a PTX module must begin with .version and .target");
    for (size_t k = 0; k < ARRAY_LEN(directives); k++)
        if (rd_is_text(r, directives[k].text, strlen(directives[k].text))) {
            directives[k].read(r);
            return;
        }
    read_linked(r);
}

// Recovers from an error at module level: skips to the next item, past a semicolon outside braces, or past a body.
static void skip_item(Reader *r)
{
    uint32_t depth = r->braces;
    const char *failed_at = r->lx.start;
    for (; r->tok != T_EOF; r->tok = lex_token(&r->lx)) {
        depth += r->tok == '{';
        if (depth == 0 && starts_item(r) && r->lx.start != failed_at)
            return;
        if (r->tok == ';' && depth == 0)
            break;
        if (r->tok == '}' && depth && --depth == 0)
            break;
    }
    do
        r->tok = lex_statement(&r->lx);
    while (r->tok == T_BAD || r->tok == ';');
}

// Reports a missing .version or .target at the end of the module.
static void check_header(Reader *r)
{
    if (!r->saw_version)
        rd_error(r, r->source->len, "the file has no PTX: a PTX module begins with .version");
    else if (!r->saw_target)
        rd_error(r, r->source->len, ".target is missing");
}

bool ptx_more(PtxReader *r, size_t bytes)
{
    jmp_buf recover;
    r->piece = r->begun ? rd_offset(r) : 0;
    r->recover = &recover;
    if (setjmp(recover)) {
        discard_function(r);
        skip_item(r);
    } else if (!r->begun) {
        r->begun = true;
        rd_next_statement(r);
    }
    bool more;
    while ((more = r->tok != T_EOF && !r->stop) && rd_offset(r) - r->piece <= bytes)
        read_item(r);
    if (!more && !r->stop)
        check_header(r);
    scope_trim(r);
    return more;
}

PtxReader *ptx_open(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options)
{
    Arena arena;
    arena_init(&arena, heap);
    Reader *r = NEW(&arena, Reader);
    r->arena = arena;
    r->source = source;
    r->diag = diag;
    r->options = *options;
    r->m = module_new(heap);
    r->t = &r->m->tables;
    r->descs = (DescCache){.tables = r->t, .arena = &r->arena};
    r->desc_bra = desc_make(r->t, OP_BRA);
    const char *start = source->text;
    if (source->len >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0)
        start += 3;
    r->lx = (Lexer){.cur = start, .start = start, .end = start, .limit = source->text + source->len};
    scope_init(r);
    return r;
}

size_t ptx_offset(const PtxReader *r) { return rd_offset(r); }

Module *ptx_module(const PtxReader *r) { return r->m; }

void ptx_close(PtxReader *r)
{
    Arena arena = r->arena;  // the reader is allocated in its own arena
    arena_free(&r->names);
    arena_free(&arena);
}

Module *ptx_read(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options)
{
    uint32_t errors = diag->errors;
    PtxReader *r = ptx_open(heap, source, diag, options);
    ptx_more(r, SIZE_MAX);
    Module *m = ptx_module(r);
    ptx_close(r);
    if (diag->errors == errors)
        return m;
    module_free(m);
    return NULL;
}
