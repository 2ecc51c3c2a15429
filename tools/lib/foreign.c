// SPDX-License-Identifier: MIT
// Recognizes sources that are neither PTX nor Ori text: binary files by their first bytes, texts by their first word.
#include <ctype.h>

#include "tools/lib/lang.h"

typedef struct Format {
    const char *start;
    size_t len;
    const char *text;
} Format;

#define NOT_PTX(what, hint) "this is " what ", not PTX; " hint " first"
#define LLVM_HINT "compile it with llc -march=nvptx64"
#define NVCC_HINT "compile its source with nvcc -ptx"
#define SOURCE_TEXT NOT_PTX("CUDA or C++ source", "compile it with nvcc -ptx")
#define LLVM_TEXT NOT_PTX("LLVM IR", LLVM_HINT)
#define START(bytes) bytes, sizeof(bytes) - 1

static const Format formats[] = {
    {START("\x7f"
           "ELF"),
     NOT_PTX("an ELF file (a cubin or an object file)", NVCC_HINT)},
    {START("\x50\xed\x55\xba"), NOT_PTX("a fatbin", "extract its PTX with cuobjdump -xptx all")},
    {START("BC\xc0\xde"), NOT_PTX("LLVM bitcode", LLVM_HINT)},
    {START("\xde\xc0\x17\x0b"), NOT_PTX("LLVM bitcode", LLVM_HINT)},
    {START("!<arch>\n"), NOT_PTX("an archive of object files", NVCC_HINT)},
    {START("; ModuleID"), LLVM_TEXT},
};

// First words of texts in other languages; the second word may be any other.
static const struct {
    const char *word, *next, *text;
} words[] = {{"target", "datalayout", LLVM_TEXT},
             {"target", "triple", LLVM_TEXT},
             {"source_filename", NULL, LLVM_TEXT},
             {"define", NULL, LLVM_TEXT},
             {"declare", NULL, LLVM_TEXT},
             {"attributes", NULL, LLVM_TEXT},
#define CPP(word) {#word, NULL, SOURCE_TEXT},
             CPP(__global__) CPP(__device__) CPP(__host__) CPP(__constant__) CPP(__shared__) CPP(__managed__)
                 CPP(extern) CPP(template) CPP(namespace) CPP(using) CPP(typedef) CPP(struct) CPP(class) CPP(enum)
                     CPP(union) CPP(static) CPP(inline) CPP(constexpr) CPP(void) CPP(bool) CPP(char) CPP(short) CPP(int)
                         CPP(long) CPP(signed) CPP(unsigned) CPP(float) CPP(double) CPP(auto)
#undef CPP
};

// First words of Ori text (ir/text/README.md).
static const char *const ori_words[] = {"target", "test", "set",     "idempotent", "precise", "file",  "pragma",
                                        "alias",  "raw",  "global",  "const",      "shared",  "local", "param",
                                        "tex",    "surf", "sampler", "kernel",     "device"};

static bool begins(const char *p, const char *end, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(end - p) >= n && memcmp(p, text, n) == 0;
}

static const char *skip_to(const char *p, const char *end, const char *stop)
{
    size_t n = strlen(stop);
    while (p < end && !begins(p, end, stop))
        p++;
    return (size_t)(end - p) >= n ? p + n : end;
}

// Skips blanks, and the comments of PTX, Ori text and LLVM IR.
static const char *skip_comments(const char *p, const char *end)
{
    while (p < end)
        if (isspace((unsigned char)*p))
            p++;
        else if (*p == ';' || begins(p, end, "//"))
            p = skip_to(p, end, "\n");
        else if (begins(p, end, "/*"))
            p = skip_to(p + 2, end, "*/");
        else
            break;
    return p;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t word_length(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && is_word(p[n]))
        n++;
    return n;
}

static bool is(const char *p, size_t n, const char *word) { return strlen(word) == n && memcmp(p, word, n) == 0; }

// Returns the message for a text that begins with this word; NULL: it is no word of another language.
static const char *of_word(const char *p, size_t n, const char *end)
{
    const char *next = skip_comments(p + n, end);
    size_t next_n = word_length(next, end);
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (is(p, n, words[k].word) && (!words[k].next || is(next, next_n, words[k].next)))
            return words[k].text;
    return NULL;
}

static bool is_ori_word(const char *p, size_t n)
{
    for (size_t k = 0; k < ARRAY_LEN(ori_words); k++)
        if (is(p, n, ori_words[k]))
            return true;
    return false;
}

// True for `#include`; `# 1 "file"` is a line marker of PTX.
static bool is_directive(const char *p, const char *end)
{
    if (*p != '#')
        return false;
    do
        p++;
    while (p < end && (*p == ' ' || *p == '\t'));
    return p < end && isalpha((unsigned char)*p);
}

const char *lang_foreign(const Source *source, bool any, size_t *offset)
{
    const char *p = source->text, *end = p + source->len;
    *offset = 0;
    for (size_t k = 0; k < ARRAY_LEN(formats); k++)
        if (source->len >= formats[k].len && memcmp(p, formats[k].start, formats[k].len) == 0)
            return formats[k].text;
    if (begins(p, end, "\xEF\xBB\xBF"))
        p += 3;
    p = skip_comments(p, end);
    if (p == end)
        return NULL;
    *offset = (size_t)(p - source->text);
    size_t n = word_length(p, end);
    const char *text = is_directive(p, end) ? SOURCE_TEXT : n ? of_word(p, n, end) : NULL;
    if (text || !any || *p == '.' || *p == '#' || begins(p, end, "@@") || is_ori_word(p, n))
        return text;
    return "this is neither PTX, which begins with .version, nor Ori text, which begins with target";
}
