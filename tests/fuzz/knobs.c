// SPDX-License-Identifier: MIT
// libFuzzer target: reads a text of knob settings as a file and as an option, enters a function with the text as a
// pragma, and reads the printed settings back.
#include "phases/phase.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 13, MEMORY_MAX = 64 << 20 };

static uint64_t hash(void *user) { return ((const Fuzz *)user)->seed; }

static void print_and_read_back(Fuzz *f, const Knobs *k)
{
    FuzzText text = {.arena = &f->ctx.arena};
    Out out = fuzz_out(&text);
    char buf[4096];
    out.buf = buf;
    out.cap = sizeof buf;
    knob_print(k, &out, f->seed & 1);
    out_flush(&out);
    Source printed = fuzz_source(&f->ctx.arena, "printed.knobs", text.at.at, text.at.n);
    f->ctx.diag.source = &printed;
    if (!knob_read(phase_knobs(&f->ctx.arena), KS_FILE, &f->ctx.diag))
        fuzz_found("what was printed does not read back:\n", printed.text, printed.len);
}

static void use(Fuzz *f, KnobStore *store)
{
    Knobs k;
    KnobPragma pragma = {f->source.text, f->source.len, 0};
    KnobFunction fn = {"kernel", 6, hash, f, &pragma, 1};
    knobs_init(&k, store, &f->ctx.heap);
    f->ctx.diag.source = &f->source;
    knobs_enter_function(&k, &fn, &f->ctx.diag);
    for (int row = -1; row < 8; row++)
        knobs_enter_phase(&k, row);
    knobs_enter_phase(&k, -1);
    print_and_read_back(f, &k);
    knobs_free(&k);
}

static void body(Fuzz *f)
{
    static const KnobSource sources[] = {KS_FILE, KS_COMMAND_LINE};
    for (uint32_t s = 0; s < ARRAY_LEN(sources); s++) {
        KnobStore *store = phase_knobs(&f->ctx.arena);
        f->ctx.diag.source = &f->source;
        knob_read(store, sources[s], &f->ctx.diag);
        use(f, store);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= INPUT_MAX)
        fuzz_guard(data, size, MEMORY_MAX, body);
    return 0;
}
