// SPDX-License-Identifier: MIT
// Recognizes formats of files: binary ones by their first bytes, texts by their first word.
#include <ctype.h>

#include "tools/lib/lang.h"

// A format of files.
typedef struct Format {
    const char *message;  // for programs that read modules
    const char *what;
    const char *to_code;  // the way to code for the GPU; NULL: the file may have some
} Format;

#define KIND(what, to_ptx, to_code)                                  \
    {                                                                \
        "this is " what ", not PTX; " to_ptx " first", what, to_code \
    }
#define PACKED(program) KIND("a file compressed by " program, "decompress it", "decompress it")
#define WIDE(name, from) \
    KIND("text in " name, "convert it with iconv -f " from " -t UTF-8", "convert it with iconv -f " from " -t UTF-8")
#define LLVM(what) KIND(what, "compile it with llc -march=nvptx64", "compile it with llc -march=nvptx64 and ptxas -c")
#define WITH_CODE(what, to_ptx) KIND(what, to_ptx, NULL)
#define NVCC_HINT "compile its source with nvcc -ptx"

static const Format cuda_source = KIND("CUDA or C++ source", "compile it with nvcc -ptx", "compile it with nvcc -dc");
static const Format llvm_text = LLVM("LLVM IR");
static const Format utf16_little = WIDE("UTF-16", "UTF-16LE"), utf16_big = WIDE("UTF-16", "UTF-16BE");
static const Format ptx = {NULL, "PTX", "compile it with ptxas -c"};
static const Format ori = {NULL, "Ori text", "convert it with oriopt --emit=ptx and compile it with ptxas -c"};

#define START(bytes) bytes, sizeof(bytes) - 1
static const struct {
    const char *start;
    size_t len;
    Format format;
} formats[] = {
    {START("\x7f"
           "ELF"),
     WITH_CODE("an ELF file (a cubin or an object file)", NVCC_HINT)},
    {START("\x50\xed\x55\xba"), WITH_CODE("a fatbin", "extract its PTX with cuobjdump -xptx all")},
    {START("!<arch>\n"), WITH_CODE("an archive of object files", NVCC_HINT)},
    {START("\xed"
           "CN\x7f"),
     KIND("LTO IR", NVCC_HINT, "compile its source with nvcc -dc")},
    {START("BC\xc0\xde"), LLVM("LLVM bitcode")},
    {START("\xde\xc0\x17\x0b"), LLVM("LLVM bitcode")},
    {START("; ModuleID"), LLVM("LLVM IR")},
    {START("\x1f\x8b"), PACKED("gzip")},
    {START("\x28\xb5\x2f\xfd"), PACKED("zstd")},
    {START("\xfd"
           "7zXZ"),
     PACKED("xz")},
    {START("BZh"), PACKED("bzip2")},
    {START("PK\x03\x04"), PACKED("zip")},
    {START("\xff\xfe\0\0"), WIDE("UTF-32", "UTF-32")},
    {START("\0\0\xfe\xff"), WIDE("UTF-32", "UTF-32")},
    {START("\xff\xfe"), WIDE("UTF-16", "UTF-16")},
    {START("\xfe\xff"), WIDE("UTF-16", "UTF-16")},
};

// First words of texts in other languages; the second word may be any other.
static const struct {
    const char *word, *next;
    const Format *format;
} words[] = {{"target", "datalayout", &llvm_text},
             {"target", "triple", &llvm_text},
             {"source_filename", NULL, &llvm_text},
             {"define", NULL, &llvm_text},
             {"declare", NULL, &llvm_text},
             {"attributes", NULL, &llvm_text},
#define CPP(word) {#word, NULL, &cuda_source},
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

// Returns the format of a text that begins with this word; NULL: it is no word of another language.
static const Format *of_word(const char *p, size_t n, const char *end)
{
    const char *next = skip_comments(p + n, end);
    size_t next_n = word_length(next, end);
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (is(p, n, words[k].word) && (!words[k].next || is(next, next_n, words[k].next)))
            return words[k].format;
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

// Returns the format of text that has a NUL in each ASCII character, of its first two; NULL: it is none.
static const Format *of_wide_text(const char *p, const char *end)
{
    if (end - p < 4)
        return NULL;
    bool odd = !p[1] && !p[3], even = !p[0] && !p[2];
    if (odd == even)
        return NULL;
    return isprint((unsigned char)p[even]) || isspace((unsigned char)p[even]) ? odd ? &utf16_little : &utf16_big : NULL;
}

static const Format *of_bytes(const char *p, const char *end)
{
    for (size_t k = 0; k < ARRAY_LEN(formats); k++)
        if ((size_t)(end - p) >= formats[k].len && memcmp(p, formats[k].start, formats[k].len) == 0)
            return &formats[k].format;
    return of_wide_text(p, end);
}

// Returns the format of a text by its first word or sign, at *first.
static const Format *of_text(const char **first, const char *end)
{
    const char *p = *first + (begins(*first, end, "\xEF\xBB\xBF") ? 3 : 0);
    p = *first = skip_comments(p, end);
    if (p == end)
        return NULL;
    if (is_directive(p, end))
        return &cuda_source;
    if (*p == '.' || *p == '#' || begins(p, end, "@@"))
        return &ptx;
    size_t n = word_length(p, end);
    const Format *format = n ? of_word(p, n, end) : NULL;
    return format ? format : is_ori_word(p, n) ? &ori : NULL;
}

// Returns the format of a source, or NULL; *first = the first character that is no comment.
static const Format *format_of(const Source *source, const char **first)
{
    *first = source->text;
    const Format *format = of_bytes(*first, source->text + source->len);
    return format ? format : of_text(first, source->text + source->len);
}

const char *lang_foreign(const Source *source, Lang lang, LangBy by, size_t *offset)
{
    const char *first;
    const Format *format = format_of(source, &first);
    *offset = (size_t)(first - source->text);
    if (format && format->message)
        return format->message;
    if (format == &ptx && lang == LANG_ORI)
        return by == LANG_BY_NAME ? "this is PTX, but its name says Ori text; use -x ptx"
                                  : "this is PTX, not Ori text; use -x ptx";
    if (format == &ori && lang == LANG_PTX)
        return by == LANG_BY_NAME ? "this is Ori text, but its name says PTX; use -x ori"
                                  : "this is Ori text, not PTX; use -x ori";
    if (format || by != LANG_BY_CONTENT || first == source->text + source->len)
        return NULL;
    return "this is neither PTX, which begins with .version, nor Ori text, which begins with target";
}

const char *lang_without_code(const Source *source, const char **remedy)
{
    const char *first;
    const Format *format = format_of(source, &first);
    if (!format || !format->to_code)
        return NULL;
    *remedy = format->to_code;
    return format->what;
}
