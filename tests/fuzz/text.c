// SPDX-License-Identifier: MIT
// libFuzzer target: reads a module in PTX or Ori text, and writes it as Ori text, and also as PTX if it was PTX. The
// written text must read back, and be written again with the same bytes.
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, MEMORY_MAX = 192 << 20 };

static Source write(Fuzz *f, const Module *m, Lang lang)
{
    FuzzText text = {.arena = &f->ctx.arena};
    Out out = fuzz_out(&text);
    char buf[4096];
    out.buf = buf;
    out.cap = sizeof buf;
    lang_write_header(m, lang, &out);
    for (uint32_t k = 0; k < m->items.n; k++)
        lang_write_item(m, &m->items.at[k], lang, &out);
    out_flush(&out);
    return fuzz_source(&f->ctx.arena, lang == LANG_PTX ? "again.ptx" : "again.ori", text.at.at, text.at.n);
}

// Fails unless the printed text is a fixed point of reading and writing.
static void round_trip(Fuzz *f, const Module *m, Lang lang)
{
    Source first = write(f, m, lang);
    f->ctx.diag.source = &first;
    Module *again = lang_read(&f->ctx, &first, (LangOptions){.lang = lang});
    if (!again)
        fuzz_found("what was written does not read back:\n", first.text, first.len);
    Source second = write(f, again, lang);
    if (second.len != first.len || memcmp(second.text, first.text, first.len) != 0)
        fuzz_found("what was written and read is written in another way:\n", first.text, first.len);
}

static void body(Fuzz *f)
{
    f->ctx.diag.source = &f->source;
    Module *m = lang_read(&f->ctx, &f->source, (LangOptions){.strip_debug = f->seed % 8 == 0});
    if (!m)
        return;
    round_trip(f, m, LANG_ORI);
    if (lang_of(&f->source) == LANG_PTX)  // Ori text has constructs that PTX lacks
        round_trip(f, m, LANG_PTX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= INPUT_MAX)
        fuzz_guard(data, size, MEMORY_MAX, body);
    return 0;
}
