// SPDX-License-Identifier: MIT
// Runs the functions without a body that the system provides: vprintf, malloc, free, __assertfail, __assert_fail. Lanes
// call them in ascending order.
//
// Memory of malloc is zeroed and outlives the launch. At most HEAP_BYTES are allocated at one time; then malloc returns
// NULL, as on a device with its default heap. Freed memory is never allocated again, so that an access to it is a
// fault. vprintf returns the number of arguments that the format takes, and -1 if there is no format.
#include <stdio.h>
#include <stdlib.h>

#include "ir/machine/machine_internal.h"

enum { HEAP_BYTES = 8 << 20, TEXT_MAX = 1 << 16, FIELD_MAX = 500 };

/* -- Parameters ----------------------------------------------------------------------------------------- */

// A call in one lane.
typedef struct Call {
    Run *r;
    Group *g;
    const Code *c;
    CallOperands operands;
    uint32_t lane;
} Call;

// Sets *value to argument `n`, or to 0 if the call has fewer arguments. False after a fault.
static bool argument(const Call *k, uint32_t n, uint64_t *value)
{
    const Fn *fn = k->g->frame->func->fn;
    uint32_t at = k->operands.arguments + n;
    *value = 0;
    if (n >= k->operands.narguments)
        return true;
    Operand o = *ir_use(fn, k->c->instr, at);
    if (op_kind(o) != K_SYM) {
        *value = read_lane(k->r, k->g, &k->c->in[at], k->lane);
        return true;
    }
    Span s = parameter_at(k->r, k->g, k->c, k->lane, k->g->frame, op_index(o));
    if (!s.bytes)
        return false;
    if (!span_is_defined(s))
        undef_report_use(k->r, k->g, k->c, UINT32_C(1) << k->lane);
    *value = span_load(s, 0, (uint32_t)MIN(s.size, 8));
    return true;
}

// Sets the result of the call. False after a fault.
static bool give_result(const Call *k, uint64_t bits)
{
    if (k->c->nout) {
        write_lane(k->r, k->g, &k->c->out[0], k->lane, (Value){bits, 0});
        set_bytes_defined(k->r, k->g, &k->c->out[0], k->lane, ALL_BYTES);
    }
    if (!k->operands.results)
        return true;
    SymId id = op_index(*ir_use(k->g->frame->func->fn, k->c->instr, 0));
    Span s = parameter_at(k->r, k->g, k->c, k->lane, k->g->frame, id);
    if (!s.bytes)
        return false;
    span_zero(s, 0, s.size);
    span_store(s, 0, bits, (uint32_t)MIN(s.size, 8));
    if (s.defined)
        memset(s.defined, 1, s.size);
    return true;
}

/* -- Generic memory ------------------------------------------------------------------------------------- */

static bool read_memory(const Call *k, uint64_t address, uint32_t bytes, uint64_t *value)
{
    Span s = memory_in(k->r, k->g, k->c, k->lane, SP_GENERIC, address, bytes, bytes, false);
    if (!s.bytes)
        return false;
    *value = span_load(s, 0, bytes);
    if (!span_is_defined(s))
        undef_report_use(k->r, k->g, k->c, UINT32_C(1) << k->lane);
    return true;
}

typedef VEC(char) Text;

// Appends a terminated string. False after a fault.
static bool read_text(const Call *k, Arena *arena, uint64_t address, Text *text)
{
    uint64_t c = 0;
    for (uint32_t n = 0; n < TEXT_MAX; n++) {
        if (!read_memory(k, address + n, 1, &c))
            return false;
        if (!c)
            return true;
        VEC_PUSH(arena, text, (char)c);
    }
    return fault(k->r, k->g, k->c, k->lane, "a string of more than %d bytes", TEXT_MAX);
}

/* -- vprintf -------------------------------------------------------------------------------------------- */

// A field `%[flags][width][.precision][size]conversion` of a format.
typedef struct Field {
    char flags[6];
    int width, precision;  // precision -1 = none
    uint32_t size;         // number of bytes of an integer
    char conversion;
} Field;

typedef struct Print {
    const Call *call;
    Arena *arena;
    Text text;
    const char *at;   // position in the format
    uint64_t buffer;  // address of the next argument
    uint32_t count;   // number of arguments so far
} Print;

static bool next_argument(Print *p, uint32_t bytes, uint64_t *value)
{
    p->buffer = (p->buffer + bytes - 1) / bytes * bytes;
    p->count++;
    if (!read_memory(p->call, p->buffer, bytes, value))
        return false;
    p->buffer += bytes;
    return true;
}

// Reads a number in the format, or the argument of a `*`. False after a fault.
static bool read_number(Print *p, int *number)
{
    uint64_t value = 0;
    if (*p->at == '*') {
        p->at++;
        if (!next_argument(p, 4, &value))
            return false;
        *number = (int32_t)(uint32_t)value;
        return true;
    }
    *number = 0;
    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        *number = MIN(*number * 10 + (*p->at - '0'), FIELD_MAX);
    return true;
}

static bool read_field(Print *p, Field *f)
{
    uint32_t nflags = 0;
    *f = (Field){.precision = -1, .size = 4};
    for (; *p->at && strchr("-+ #0", *p->at); p->at++)
        if (!strchr(f->flags, *p->at))
            f->flags[nflags++] = *p->at;
    if (!read_number(p, &f->width))
        return false;
    if (*p->at == '.') {
        p->at++;
        if (!read_number(p, &f->precision))
            return false;
    }
    for (; *p->at && strchr("hljzt", *p->at); p->at++)
        f->size = *p->at != 'h' ? 8 : f->size == 2 ? 1 : 2;
    f->conversion = *p->at;
    p->at += *p->at != 0;
    f->width = MAX(MIN(f->width, FIELD_MAX), -FIELD_MAX);
    f->precision = MAX(MIN(f->precision, FIELD_MAX), -1);
    return true;
}

static void put(Print *p, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        VEC_PUSH(p->arena, &p->text, text[k]);
}

static void put_padded(Print *p, const Field *f, const char *text, size_t n)
{
    bool left = f->width < 0 || strchr(f->flags, '-');
    size_t width = (size_t)abs(f->width), padding = width > n ? width - n : 0;
    for (size_t k = 0; !left && k < padding; k++)
        put(p, " ", 1);
    put(p, text, n);
    for (size_t k = 0; left && k < padding; k++)
        put(p, " ", 1);
}

// Returns the host's format for the field. Width and precision are arguments.
static const char *host_format(const Field *f, const char *size, char format[static 16])
{
    uint32_t n = 0;
    format[n++] = '%';
    for (const char *flag = f->flags; *flag; flag++)
        if (*flag != '#' || !strchr("diu", f->conversion))
            format[n++] = *flag;
    snprintf(format + n, 16 - n, "*.*%s%c", size, f->conversion);
    return format;
}

static bool put_integer(Print *p, const Field *f)
{
    char format[16], text[2 * FIELD_MAX];
    bool is_signed = f->conversion == 'd' || f->conversion == 'i';
    uint32_t unused = 64 - 8 * f->size;
    uint64_t value = 0;
    int n;
    if (!next_argument(p, MAX(f->size, 4), &value))
        return false;
    value <<= unused;
    host_format(f, "ll", format);
    if (is_signed)
        n = snprintf(text, sizeof text, format, f->width, f->precision, (long long)((int64_t)value >> unused));
    else
        n = snprintf(text, sizeof text, format, f->width, f->precision, (unsigned long long)(value >> unused));
    put(p, text, (size_t)n);
    return true;
}

static bool put_float(Print *p, const Field *f)
{
    char format[16], text[2 * FIELD_MAX];
    uint64_t bits = 0;
    double value;
    if (!next_argument(p, 8, &bits))
        return false;
    memcpy(&value, &bits, sizeof value);
    put(p, text, (size_t)snprintf(text, sizeof text, host_format(f, "", format), f->width, f->precision, value));
    return true;
}

static bool put_pointer(Print *p, const Field *f)
{
    char text[24] = "(nil)";
    uint64_t value = 0;
    if (!next_argument(p, 8, &value))
        return false;
    if (value)
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    put_padded(p, f, text, strlen(text));
    return true;
}

static bool put_char(Print *p, const Field *f)
{
    uint64_t value = 0;
    if (!next_argument(p, 4, &value))
        return false;
    put_padded(p, f, &(char){(char)value}, 1);
    return true;
}

static bool put_string(Print *p, const Field *f)
{
    Text text = {0};
    uint64_t address = 0;
    if (!next_argument(p, 8, &address))
        return false;
    if (!address) {
        put_padded(p, f, "(null)", 6);
        return true;
    }
    if (!read_text(p->call, p->arena, address, &text))
        return false;
    put_padded(p, f, text.at, f->precision >= 0 ? MIN(text.n, (uint32_t)f->precision) : text.n);
    return true;
}

static bool put_field(Print *p)
{
    const char *start = p->at;
    Field f;
    if (!read_field(p, &f))
        return false;
    switch (f.conversion) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': return put_integer(p, &f);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return put_float(p, &f);
    case 'p': return put_pointer(p, &f);
    case 'c': return put_char(p, &f);
    case 's': return put_string(p, &f);
    case '%': put(p, "%", 1); return true;
    default:  // an unknown conversion is printed as written
        put(p, "%", 1);
        put(p, start, (size_t)(p->at - start));
        return true;
    }
}

static bool put_format(Print *p, uint64_t format)
{
    Text text = {0};
    if (!read_text(p->call, p->arena, format, &text))
        return false;
    VEC_PUSH(p->arena, &text, '\0');
    for (p->at = text.at; *p->at;) {
        if (*p->at++ != '%')
            put(p, p->at - 1, 1);
        else if (!put_field(p))
            return false;
    }
    return true;
}

static bool call_vprintf(const Call *k)
{
    Machine *m = k->r->machine;
    Arena arena;
    uint64_t format, buffer;
    if (!argument(k, 0, &format) || !argument(k, 1, &buffer))
        return false;
    if (!format)
        return give_result(k, UINT64_MAX);
    arena_init(&arena, m->heap);
    Print p = {.call = k, .arena = &arena, .buffer = buffer};
    bool done = put_format(&p, format);
    if (done && m->options.print && p.text.n)
        out_bytes(m->options.print, p.text.at, p.text.n);
    arena_free(&arena);
    return done && give_result(k, p.count);
}

/* -- malloc and free ------------------------------------------------------------------------------------ */

static const char heap_name[] = "memory of malloc";

static bool call_malloc(const Call *k)
{
    Machine *m = k->r->machine;
    uint64_t bytes;
    if (!argument(k, 0, &bytes))
        return false;
    bool fits = bytes <= HEAP_BYTES - m->heap_used;
    uint64_t address = fits ? allocate(m, &m->blocks, bytes, heap_name)->base : 0;
    Allocation *a = m->tracks ? allocation_of(m, address) : NULL;
    if (a)
        memset(a->defined, 0, bytes);
    m->heap_used += fits ? bytes : 0;
    return give_result(k, address);
}

void blocks_free(Machine *m)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->allocations.n; k++)
        if (m->allocations.at[k].name != heap_name)
            m->allocations.at[n++] = m->allocations.at[k];
    m->allocations.n = n;
    m->heap_used = 0;
    arena_free(&m->blocks);
}

static Allocation *allocation_at(Machine *m, uint64_t base)
{
    uint32_t low = 0, high = m->allocations.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->allocations.at[mid].base < base)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->allocations.n && m->allocations.at[low].base == base ? &m->allocations.at[low] : NULL;
}

static bool call_free(const Call *k)
{
    Machine *m = k->r->machine;
    uint64_t address;
    if (!argument(k, 0, &address))
        return false;
    if (!address)
        return true;
    Allocation *a = allocation_at(m, address);
    if (!a || a->name != heap_name || a->freed)
        return fault(k->r, k->g, k->c, k->lane, "free of %#llx, which %s", (unsigned long long)address,
                     a && a->freed ? "was freed before" : "does not come from malloc");
    a->freed = true;
    m->heap_used -= a->size;
    return true;
}

/* -- Assertions ----------------------------------------------------------------------------------------- */

// Reads the text to which argument `n` points. False after a fault.
static bool text_argument(const Call *k, Arena *arena, uint32_t n, Text *text)
{
    uint64_t address;
    if (!argument(k, n, &address) || (address && !read_text(k, arena, address, text)))
        return false;
    VEC_PUSH(arena, text, '\0');
    return true;
}

static bool call_assert_fail(const Call *k)
{
    Arena arena;
    Text message = {0}, file = {0}, function = {0};
    uint64_t line;
    arena_init(&arena, k->r->machine->heap);
    if (text_argument(k, &arena, 0, &message) && text_argument(k, &arena, 1, &file) && argument(k, 2, &line) &&
        text_argument(k, &arena, 3, &function))
        fault(k->r, k->g, k->c, k->lane, "%.80s:%u: %.80s: assertion '%.100s' failed", file.at, (uint32_t)line,
              function.at, message.at);
    arena_free(&arena);
    return false;
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

typedef bool Builtin(const Call *k);

static const struct {
    const char *name;
    Builtin *call;
} builtins[] = {
    {"vprintf", call_vprintf},
    {"malloc", call_malloc},
    {"free", call_free},
    {"__assertfail", call_assert_fail},
    {"__assert_fail", call_assert_fail},
};

static Builtin *find(const char *name)
{
    for (uint32_t k = 0; k < ARRAY_LEN(builtins); k++)
        if (strcmp(builtins[k].name, name) == 0)
            return builtins[k].call;
    return NULL;
}

bool run_builtin(Run *r, Group *g, const Code *c, SymId s)
{
    const Module *m = r->machine->module;
    char buf[200];
    const char *name = name_text(&m->tables, m->syms.at[s].name, buf, sizeof buf);
    Builtin *call = find(name);
    if (!call)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "a call of '%s', which has no body", name);
    Call k = {.r = r, .g = g, .c = c, .operands = call_operands(g->frame->func->fn, c->instr)};
    FOR_LANES(g->lanes, lane) {
        k.lane = lane;
        if (!call(&k))
            return false;
    }
    group_go(r->warp, g, g->pc + 1);
    return false;
}
