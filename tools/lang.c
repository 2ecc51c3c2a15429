// SPDX-License-Identifier: MIT
// PTX or Ori text, by choice or by content.
#include <ctype.h>

#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "tools/lang.h"

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

Module *lang_read(Ctx *ctx, const Source *source, Lang lang, bool strip_debug)
{
    if (lang == LANG_AUTO)
        lang = lang_of(source);
    ctx->diag.source = source;
    return lang == LANG_ORI
               ? text_read(&ctx->heap, source, &ctx->diag)
               : ptx_read(&ctx->heap, source, &ctx->diag, &(PtxReadOptions){strip_debug, ctx->options.positions});
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
    if (lang == LANG_ORI)
        text_write_item(m, item, out);
    else
        ptx_write_item(m, item, out);
}
