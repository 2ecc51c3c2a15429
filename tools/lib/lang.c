// SPDX-License-Identifier: MIT
// The language of a module: PTX or Ori text, by choice, by name or by content.
#include <ctype.h>

#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "tools/lib/lang.h"

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

// True if the first line is that of a reproducer (tools/oriopt/reproducer.h), after the sign of a comment.
static bool is_reproducer(const Source *source, const char *comment)
{
    static const char last[] = "--run-reproducer";
    const char *end = memchr(source->text, '\n', source->len);
    size_t n = end ? (size_t)(end - source->text) : source->len, begin = strlen(comment);
    return n > begin + sizeof last && memcmp(source->text, comment, begin) == 0 &&
           memcmp(source->text + n - sizeof last + 1, last, sizeof last - 1) == 0;
}

static bool is_named(const Source *source) { return ends_in(source->name, ".ptx") || ends_in(source->name, ".ori"); }

// Without a name, the first words decide: Ori text begins with a word or a `;` comment, PTX with a directive, `//`,
// `/*` or `#`.
Lang lang_of(const Source *source)
{
    const char *p = source->text, *end = p + source->len;
    if (is_reproducer(source, "; oriopt ") || is_reproducer(source, "// oriopt "))
        return *p == ';' ? LANG_ORI : LANG_PTX;
    if (is_named(source))
        return ends_in(source->name, ".ori") ? LANG_ORI : LANG_PTX;
    while (p < end && isspace((unsigned char)*p))
        p++;
    while (end - p > 1 && p[0] == '/' && p[1] == '/') {
        while (p < end && *p != '\n')
            p++;
        while (p < end && isspace((unsigned char)*p))
            p++;
    }
    return p < end && (*p == ';' || isalpha((unsigned char)*p)) ? LANG_ORI : LANG_PTX;
}

// A reader with a module, a heap and diagnostics of its own, and what it read since the last lang_more().
struct Ahead {
    Module *module;
    Heap heap;  // its pool is the heap of the context
    Diag diag;
    TextBuffer messages;  // of `diag`
    Arena text;           // of `messages`
    uint32_t errors;      // of `diag` that the context has
    bool read, more;      // a piece was read; it is not the last one
    Status status;        // why reading failed; the message is in `heap`
};

static void keep_message(void *user, const char *text, size_t n) { out_to_text(user, text, n); }

static struct Ahead *ahead_new(Ctx *ctx)
{
    struct Ahead *a = NEW(&ctx->arena, struct Ahead);
    a->heap = (Heap){.pool = &ctx->heap, .unwind = ctx->heap.unwind};
    a->diag = ctx->diag;
    a->diag.write = keep_message;
    a->diag.user = &a->messages;
    a->errors = a->diag.errors;
    arena_init(&a->text, &a->heap);
    a->messages.arena = &a->text;
    return a;
}

LangReader lang_open(Ctx *ctx, const Source *source, LangOptions options)
{
    LangReader r = {.lang = options.lang == LANG_AUTO ? lang_of(source) : options.lang, .diag = &ctx->diag};
    size_t offset;
    ctx->diag.source = source;
    ctx->diag.line = 0;
    r.ahead = options.ahead ? ahead_new(ctx) : NULL;
    Heap *heap = r.ahead ? &r.ahead->heap : &ctx->heap;
    Diag *diag = r.ahead ? &r.ahead->diag : &ctx->diag;
    if (r.lang == LANG_ORI)
        r.text = text_open(heap, source, diag);
    else
        r.ptx = ptx_open(heap, source, diag,
                         &(PtxReadOptions){options.strip_debug, ctx->options.positions, options.version});
    r.module = r.text ? text_module(r.text) : ptx_module(r.ptx);
    if (r.ahead) {
        r.ahead->module = r.module;
        r.module = module_new(&ctx->heap);
    }
    LangBy by = options.lang != LANG_AUTO ? LANG_CHOSEN : is_named(source) ? LANG_BY_NAME : LANG_BY_CONTENT;
    const char *foreign = lang_foreign(source, r.lang, by, &offset);
    if (foreign)
        diag_at(&ctx->diag, DIAG_ERROR, offset, "%s", foreign);
    else if (options.version && r.lang == LANG_ORI)
        diag_at(&ctx->diag, DIAG_ERROR, 0, "the version of a module can be changed in PTX only, not in Ori text");
    r.foreign = foreign;
    return r;
}

// Warns once if the module's target does not exist.
static void check_target(LangReader *r, const Module *m, Diag *diag)
{
    char why[300];
    if (r->target_checked || !m->sm)
        return;
    r->target_checked = true;
    if (!sm_check_module(m, why))
        diag_at(diag, DIAG_WARNING, m->sm_offset, "%s", why);
}

static bool read_piece(LangReader *r, size_t bytes)
{
    double start = phase_clock();
    bool more = r->text ? text_more(r->text, bytes) : ptx_more(r->ptx, bytes);
    check_target(r, r->ahead ? r->ahead->module : r->module, r->ahead ? &r->ahead->diag : r->diag);
    r->read_s += phase_clock() - start;
    return more;
}

void lang_read_ahead(LangReader *r, size_t bytes)
{
    struct Ahead *a = r->ahead;
    jmp_buf unwind;
    a->heap.unwind = &unwind;
    if (setjmp(unwind))
        a->status = a->heap.status;
    else
        a->more = read_piece(r, bytes);
    a->read = true;
}

// Adds the piece that was read to the module. False: it is the last one.
static bool take_piece(LangReader *r)
{
    struct Ahead *a = r->ahead;
    Module *m = r->module;
    uint32_t first = m->fns.n;
    a->read = false;
    if (a->messages.n)
        r->diag->write(r->diag->user, a->messages.at, a->messages.n);
    r->diag->errors += a->diag.errors - a->errors;
    a->errors = a->diag.errors;
    arena_free(&a->text);
    a->messages = (TextBuffer){.arena = &a->text};
    if (a->status != ST_OK)
        heap_fail(m->arena.heap, a->status, "%s", a->heap.message);
    module_take(m, a->module);
    for (uint32_t k = first; k < m->fns.n; k++)
        fn_adopt(m->fns.at[k], m->arena.heap);
    return a->more;
}

bool lang_more(LangReader *r, size_t bytes)
{
    if (r->foreign)
        return false;
    if (!r->ahead)
        return read_piece(r, bytes);
    if (!r->ahead->read)
        lang_read_ahead(r, bytes);
    return take_piece(r);
}

void lang_drop_text(const LangReader *r)
{
    if (!r->foreign && !r->ahead)
        source_drop(r->diag->source, r->text ? text_offset(r->text) : ptx_offset(r->ptx));
}

void lang_close(LangReader *r)
{
    if (r->text)
        text_close(r->text);
    else
        ptx_close(r->ptx);
}

Module *lang_read(Ctx *ctx, const Source *source, LangOptions options)
{
    uint32_t errors = ctx->diag.errors;
    LangReader r = lang_open(ctx, source, options);
    lang_more(&r, SIZE_MAX);
    lang_close(&r);
    if (ctx->diag.errors == errors)
        return r.module;
    module_free(r.module);
    return NULL;
}

void lang_write_header(const Module *m, Lang lang, Out *out)
{
    if (lang == LANG_ORI)
        text_write_header(m, out);
    else
        ptx_write_header(m, out);
}

void lang_write_item(const Module *m, const Item *item, Lang lang, Out *out)
{
    const Fn *fn = item->kind == ITEM_FN ? m->fns.at[item->index] : NULL;
    if (fn && fn->form == FORM_SSA && lang == LANG_PTX)
        heap_fail(fn->arena.heap, ST_BAD_INPUT,
                  "function %u of the module is in ssa form, which PTX does not have; Ori text has it",
                  item->index + 1);
    if (lang == LANG_ORI)
        text_write_item(m, item, out);
    else
        ptx_write_item(m, item, out);
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

static bool has_call(const Source *source)
{
    static const char word[] = "call";
    const char *end = source->text + source->len;
    size_t n = sizeof word - 1;
    for (const char *p = source->text; (p = memchr(p, 'c', (size_t)(end - p))); p++)
        if ((size_t)(end - p) > n && memcmp(p, word, n) == 0 && !is_word_char(p[n]) &&
            (p == source->text || !is_word_char(p[-1])))
            return true;
    return false;
}

// True if a word precedes a position, with blanks between.
static bool follows(const Source *source, const char *at, const char *word)
{
    size_t n = strlen(word);
    while (at > source->text && isspace((unsigned char)at[-1]))
        at--;
    return (size_t)(at - source->text) >= n && memcmp(at - n, word, n) == 0;
}

// In a declaration the word begins a line, or follows a blank or punctuation, with or without a dot. In an instruction
// a name precedes the dot.
bool lang_may_share(const Source *source)
{
    static const char word[] = "shared";
    const char *begin = source->text, *end = begin + source->len;
    size_t n = sizeof word - 1;
    for (const char *p = begin; (p = memchr(p, word[1], (size_t)(end - p))); p++) {
        if (p == begin || (size_t)(end - p) < n || memcmp(p - 1, word, n) != 0)
            continue;
        const char *before = p - 1 > begin && p[-2] == '.' ? p - 2 : p - 1;
        if (before == begin || !is_word_char(before[-1]))
            return true;
    }
    return false;
}

bool lang_may_call(const Source *source, Lang lang)
{
    const char *word = lang == LANG_ORI ? "device" : ".func", *end = source->text + source->len;
    size_t n = strlen(word);
    if (!has_call(source))
        return false;
    for (const char *p = source->text; (p = memchr(p, *word, (size_t)(end - p))); p++)
        if ((size_t)(end - p) > n && memcmp(p, word, n) == 0 && !follows(source, p, ".extern"))
            return true;
    return false;
}
