/* SPDX-License-Identifier: MIT */
/* Shared parts of the generators: a growing text and repeatable random numbers. */
#ifndef BENCH_GEN_H
#define BENCH_GEN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Text ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *data;
    size_t size, cap;
} Text;

static inline void die(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static inline void *grow(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p)
        die("out of memory");
    return p;
}

static inline void put(Text *t, const char *s, size_t n)
{
    if (t->size + n > t->cap)
        t->data = grow(t->data, t->cap = (t->size + n) * 2);
    memcpy(t->data + t->size, s, n);
    t->size += n;
}

static inline void put_number(Text *t, long long v)
{
    char buf[24], *p = buf + sizeof buf;
    unsigned long long u = v < 0 ? 0ull - (unsigned long long)v : (unsigned long long)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    put(t, p, (size_t)(buf + sizeof buf - p));
}

/* Appends a text, with each # replaced by the next int argument. */
static inline void vprint(Text *t, const char *s, va_list args)
{
    for (const char *p; (p = strchr(s, '#')); s = p + 1) {
        put(t, s, (size_t)(p - s));
        put_number(t, va_arg(args, int));
    }
    put(t, s, strlen(s));
}

static inline void print(Text *t, const char *s, ...)
{
    va_list args;
    va_start(args, s);
    vprint(t, s, args);
    va_end(args);
}

static inline void flush(Text *t)
{
    if (fwrite(t->data, 1, t->size, stdout) != t->size)
        die("cannot write");
    t->size = 0;
}

/* -- Random numbers ------------------------------------------------------------------------------------------------ */

static inline uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline int below(uint64_t *state, int n) { return (int)(next(state) >> 33) % n; }

/* Returns 90 * exp(1.55 * normal), without libm, whose last bits differ between machines. */
static inline int function_size(uint64_t *state)
{
    double x = -6, e = 1, term = 1;
    for (int k = 0; k < 12; k++)
        x += (double)(next(state) >> 11) / 9007199254740992.0;
    x *= 1.55 / 8; /* the series converges quickly for an eighth of the exponent */
    for (int k = 1; k < 16; k++)
        e += term *= x / k;
    e = e * e * (e * e);
    e = 90 * e * e;
    return e < 20 ? 20 : e > 8000 ? 8000 : (int)e;
}

#endif
