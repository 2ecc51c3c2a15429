// SPDX-License-Identifier: MIT
// Reads and writes .npy files, versions 1 to 3 (NumPy Enhancement Proposal 1): eight bytes of magic and version, the
// length of the header, the header, which is a Python dictionary of `descr`, `fortran_order` and `shape`, and the
// values.
//
// Integers, floating point, bool and complex numbers of the host's byte order are accepted, and `V2`, which is
// bfloat16. Refused: Fortran order, big endian, Python objects, structures, and text.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/orirun/run_npy.h"

#define MAGIC "\x93NUMPY"
enum { MAGIC_BYTES = 6, DTYPE = 16 };

typedef struct Npy {
    char dtype[DTYPE];  // as written
    char kind;
    uint32_t bytes;  // of a value
    bool fortran;
    bool seen[3];  // descr, fortran_order, shape
    uint64_t count;
} Npy;

// A position in the header, and the reason of a failure.
typedef struct Reader {
    const char *at, *end;
    char *why;
} Reader;

__attribute__((format(printf, 2, 3))) static bool refuse(Reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, VALUES_WHY, fmt, args);
    va_end(args);
    return false;
}

static bool malformed(Reader *r) { return refuse(r, "the header of the .npy file is malformed"); }

/* -- Header --------------------------------------------------------------------------------------------- */

static void skip_blanks(Reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

// Skips a character. False if another one follows.
static bool skip(Reader *r, char c)
{
    skip_blanks(r);
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

// Reads a string in quotes, cut to the room.
static bool read_string(Reader *r, char *text, size_t cap)
{
    size_t n = 0;
    char quote = skip(r, '\'') ? '\'' : skip(r, '"') ? '"' : 0;
    if (!quote)
        return malformed(r);
    for (; r->at < r->end && *r->at != quote; r->at++)
        if (n + 1 < cap)
            text[n++] = *r->at;
    text[n] = 0;
    return skip(r, quote) || malformed(r);
}

static bool read_word(Reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    bool there = (size_t)(r->end - r->at) >= n && memcmp(r->at, word, n) == 0;
    r->at += there ? n : 0;
    return there;
}

static bool read_dtype(Reader *r, Npy *a)
{
    char *end;
    skip_blanks(r);
    if (r->at < r->end && *r->at == '[')
        return refuse(r, "a .npy file of structures is not supported");
    if (!read_string(r, a->dtype, sizeof a->dtype))
        return false;
    const char *text = a->dtype + (strchr("<>|=", a->dtype[0]) && a->dtype[0] ? 1 : 0);
    a->kind = *text;
    a->bytes = isdigit((unsigned char)text[*text != 0]) ? (uint32_t)strtoul(text + 1, &end, 10) : 0;
    if (a->kind == 'O')
        return refuse(r, "dtype '%s': Python objects are not supported", a->dtype);
    if (!a->bytes || *end || !strchr("biufcV", a->kind) || a->bytes > 16)
        return refuse(r, "dtype '%s' is not a number", a->dtype);
    return (a->dtype[0] != '>' || a->bytes == 1) || refuse(r, "dtype '%s' is big endian", a->dtype);
}

static bool read_shape(Reader *r, Npy *a)
{
    a->count = 1;
    if (!skip(r, '('))
        return malformed(r);
    while (!skip(r, ')')) {
        char *end;
        skip_blanks(r);
        if (r->at == r->end || !isdigit((unsigned char)*r->at))
            return malformed(r);
        uint64_t n = strtoull(r->at, &end, 10);
        r->at = end;
        if (n && a->count > INT64_MAX / n)
            return refuse(r, "the shape of the .npy file has too many values");
        a->count *= n;
        if (!skip(r, ',') && (r->at == r->end || *r->at != ')'))
            return malformed(r);
    }
    return true;
}

static bool read_entry(Reader *r, Npy *a)
{
    char key[20];
    if (!read_string(r, key, sizeof key) || !skip(r, ':'))
        return malformed(r);
    if (strcmp(key, "descr") == 0) {
        a->seen[0] = true;
        return read_dtype(r, a);
    }
    if (strcmp(key, "shape") == 0) {
        a->seen[2] = true;
        return read_shape(r, a);
    }
    a->seen[1] = strcmp(key, "fortran_order") == 0;
    a->fortran = read_word(r, "True");
    return (a->seen[1] && (a->fortran || read_word(r, "False"))) || malformed(r);
}

static bool read_header(Reader *r, Npy *a)
{
    if (!skip(r, '{'))
        return malformed(r);
    while (!skip(r, '}')) {
        if (!read_entry(r, a))
            return false;
        if (!skip(r, ',') && (r->at == r->end || *r->at != '}'))
            return malformed(r);
    }
    if (!a->seen[0] || !a->seen[1] || !a->seen[2])
        return malformed(r);
    return !a->fortran || refuse(r, "the .npy file is in Fortran order; write it with order='C'");
}

/* -- Types ---------------------------------------------------------------------------------------------- */

// Returns the kind of dtype that has the values of a type.
static char kind_of(Type t)
{
    if (t == TY_BF16)
        return 'V';
    if (t == TY_F16 || t == TY_TF32 || t == TY_F32 || t == TY_F64)
        return 'f';
    return type_info[t].class == TC_S ? 'i' : 'u';
}

static void dtype_of(Type t, char text[static DTYPE])
{
    uint32_t bytes = t ? value_bytes(t) : 1;
    char kind = t ? kind_of(t) : 'u';
    snprintf(text, DTYPE, "%c%c%u", bytes == 1 || kind == 'V' ? '|' : '<', kind, bytes);
}

// True if values of the dtype are values of a type. Types of bits take any dtype of their size.
static bool fits(const Npy *a, Type t)
{
    bool any = type_info[t].class != TC_U && kind_of(t) == 'u';
    bool truth = a->kind == 'b' && type_info[t].class == TC_U;
    return a->bytes == value_bytes(t) && (any || truth || a->kind == kind_of(t));
}

/* -- Files ---------------------------------------------------------------------------------------------- */

// Returns the header, and leaves the values in *v. False: the file is too short.
static bool split_header(ValuesFile *v, Reader *r)
{
    const uint8_t *bytes = (const uint8_t *)v->source.text;
    uint64_t size = v->source.len, start = bytes[MAGIC_BYTES] == 1 ? 10 : 12, n = 0;
    if (!bytes[MAGIC_BYTES] || bytes[MAGIC_BYTES] > 3)
        return refuse(r, "version %u of .npy is not supported", bytes[MAGIC_BYTES]);
    for (uint64_t k = start; k-- > 8 && start <= size;)
        n = n << 8 | bytes[k];
    if (start > size || n > size - start)
        return malformed(r);
    r->at = v->source.text + start;
    r->end = r->at + n;
    v->bytes = bytes + start + n;
    v->size = size - start - n;
    return true;
}

static bool open_npy(ValuesFile *v, Type t, char why[static VALUES_WHY])
{
    char dtype[DTYPE];
    Npy a = {.kind = 0};
    Reader r = {.why = why};
    if (!split_header(v, &r) || !read_header(&r, &a))
        return false;
    if (v->size != a.count * a.bytes)
        return refuse(&r, "the .npy file has %" PRIu64 " bytes of values, but its shape %" PRIu64, v->size,
                      a.count * a.bytes);
    if (!t || fits(&a, t))
        return true;
    dtype_of(t, dtype);
    return refuse(&r, "dtype '%s' does not have the values of %s, which is '%s'", a.dtype, type_info[t].name, dtype);
}

Status values_open(ValuesFile *v, const char *path, Type t, Arena *arena, char why[static VALUES_WHY])
{
    char reason[200];
    Reader r = {.why = why};
    *v = (ValuesFile){.size = 0};
    if (!source_open(&v->source, path, arena, reason)) {
        refuse(&r, "%s", reason);
        return ST_IO;
    }
    v->bytes = (const uint8_t *)v->source.text;
    v->size = v->source.len;
    if (v->size > MAGIC_BYTES + 2 && memcmp(v->bytes, MAGIC, MAGIC_BYTES) == 0) {
        if (!open_npy(v, t, why))
            return ST_BAD_INPUT;
    } else if (t && v->size % value_bytes(t)) {
        refuse(&r, "%" PRIu64 " bytes are not a whole number of %s values", v->size, type_info[t].name);
        return ST_BAD_INPUT;
    }
    return ST_OK;
}

void values_close(ValuesFile *v) { source_close(&v->source); }

bool npy_is_name(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".npy") == 0;
}

void npy_header(char header[static NPY_HEADER], Type t, uint64_t count)
{
    char dtype[DTYPE], text[NPY_HEADER - 10 + 1];
    dtype_of(t, dtype);
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", dtype, count);
    memcpy(header, MAGIC "\x01\x00\x76\x00", 10);  // version 1.0, 118 bytes of header
    memset(header + 10, ' ', NPY_HEADER - 10);
    memcpy(header + 10, text, strlen(text));
    header[NPY_HEADER - 1] = '\n';
}
