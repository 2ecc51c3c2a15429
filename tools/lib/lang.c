// SPDX-License-Identifier: MIT
// PTX or Ori text, by choice or by content.
#include <ctype.h>

#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "tools/lib/lang.h"

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

// By the file's name, or else by its first words: Ori text begins with a word or a `;` comment, PTX with a directive,
// `//`, `/*` or `#`.
Lang lang_of(const Source *source)
{
    const char *p = source->text, *end = p + source->len;
    if (ends_in(source->name, ".ptx") || ends_in(source->name, ".ori"))
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
    LangReader r = {.lang = lang == LANG_AUTO ? lang_of(source) : lang};
    ctx->diag.source = source;
    if (r.lang == LANG_ORI)
        r.text = text_open(&ctx->heap, source, &ctx->diag);
    else
        r.ptx = ptx_open(&ctx->heap, source, &ctx->diag, &(PtxReadOptions){strip_debug, ctx->options.positions});
    r.module = r.text ? text_module(r.text) : ptx_module(r.ptx);
    return r;
}

bool lang_more(LangReader *r, size_t bytes) { return r->text ? text_more(r->text, bytes) : ptx_more(r->ptx, bytes); }

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
