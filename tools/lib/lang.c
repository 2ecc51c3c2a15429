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

LangReader lang_open(Ctx *ctx, const Source *source, Lang lang, bool strip_debug)
{
    LangReader r = {.lang = lang == LANG_AUTO ? lang_of(source) : lang, .diag = &ctx->diag};
    size_t offset;
    ctx->diag.source = source;
    ctx->diag.line = 0;
    if (r.lang == LANG_ORI)
        r.text = text_open(&ctx->heap, source, &ctx->diag);
    else
        r.ptx = ptx_open(&ctx->heap, source, &ctx->diag, &(PtxReadOptions){strip_debug, ctx->options.positions});
    r.module = r.text ? text_module(r.text) : ptx_module(r.ptx);
    const char *foreign = lang_foreign(source, lang == LANG_AUTO && !is_named(source), &offset);
    if (foreign)
        diag_at(&ctx->diag, DIAG_ERROR, offset, "%s", foreign);
    r.foreign = foreign;
    return r;
}

// Warns once if the module's target does not exist.
static void check_target(LangReader *r)
{
    char why[300];
    if (r->target_checked || !r->module->sm)
        return;
    r->target_checked = true;
    if (!sm_check_module(r->module, why))
        diag_at(r->diag, DIAG_WARNING, r->module->sm_offset, "%s", why);
}

bool lang_more(LangReader *r, size_t bytes)
{
    if (r->foreign)
        return false;
    bool more = r->text ? text_more(r->text, bytes) : ptx_more(r->ptx, bytes);
    check_target(r);
    return more;
}

void lang_close(LangReader *r)
{
    if (r->text)
        text_close(r->text);
    else
        ptx_close(r->ptx);
}

Module *lang_read(Ctx *ctx, const Source *source, Lang lang, bool strip_debug)
{
    uint32_t errors = ctx->diag.errors;
    LangReader r = lang_open(ctx, source, lang, strip_debug);
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
