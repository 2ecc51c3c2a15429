// SPDX-License-Identifier: MIT
// Collects the remarks of phases, and writes them as YAML.
#include "phases/manager/remarks.h"

/* -- Collections of remarks ----------------------------------------------------------------------------- */

void remarks_init(Remarks *r, Heap *heap, const char *glob)
{
    *r = (Remarks){0};
    arena_init(&r->arena, heap);
    for (int row = 0; row < PHASE_ROWS; row++)
        r->rows[row] = !glob || phase_matches(glob, row);
}

void remarks_fork(Remarks *own, const Remarks *r, Heap *heap)
{
    *own = (Remarks){0};
    arena_init(&own->arena, heap);
    memcpy(own->rows, r->rows, sizeof own->rows);
}

void remarks_take(Remarks *r, Remarks *own)
{
    const char *function =
        own->at.n ? arena_text(&r->arena, own->at.at[0].function, strlen(own->at.at[0].function)) : NULL;
    for (uint32_t k = 0; k < own->at.n; k++) {
        const Remark *from = &own->at.at[k];
        Remark m = *from;
        m.function = function;
        m.args.at = NULL;
        m.args.n = m.args.cap = 0;
        for (uint32_t a = 0; a < from->args.n; a++) {
            const RemarkArg *arg = &from->args.at[a];
            VEC_PUSH(&r->arena, &m.args,
                     ((RemarkArg){arena_text(&r->arena, arg->key, strlen(arg->key)),
                                  arena_text(&r->arena, arg->text, strlen(arg->text))}));
        }
        VEC_PUSH(&r->arena, &r->at, m);
    }
    arena_free(&own->arena);
}

void remarks_start(Remarks *r) { r->first = r->at.n; }

// Removes remarks from an index on that are not RM_PASSED: those of a row, or those of all other rows.
static void drop(Remarks *r, uint32_t first, int row, bool others)
{
    uint32_t n = first;
    for (uint32_t k = first; k < r->at.n; k++)
        if ((r->at.at[k].row == row) == others || r->at.at[k].kind == RM_PASSED)
            r->at.at[n++] = r->at.at[k];
    r->at.n = n;
}

void remarks_run(Remarks *r, int row) { drop(r, r->first, row, false); }

void remarks_drop_others(Remarks *r, int row) { drop(r, r->first, row, true); }

void remarks_restart(Remarks *r, int row) { drop(r, 0, row, false); }

/* -- Formatting ----------------------------------------------------------------------------------------- */

// Formats one conversion, and leaves `*fmt` at its last character.
static void convert(TextBuffer *text, const char **fmt, va_list *args)
{
    char digits[24];
    const char *s = digits;
    bool is_long = strncmp(*fmt, "ll", 2) == 0;
    *fmt += is_long ? 2 : 0;
    switch (**fmt) {
    case 's': s = va_arg(*args, const char *); break;
    case 'u':
        snprintf(digits, sizeof digits, "%llu", is_long ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned));
        break;
    case 'd': snprintf(digits, sizeof digits, "%lld", is_long ? va_arg(*args, long long) : va_arg(*args, int)); break;
    default: s = "%"; break;
    }
    out_to_text(text, s, strlen(s));
}

static void end_part(Remarks *r, Remark *m, const char *key, TextBuffer *text)
{
    if (!text->n)
        return;
    out_to_text(text, "", 1);
    VEC_PUSH(&r->arena, &m->args, ((RemarkArg){key, text->at}));
    *text = (TextBuffer){.arena = &r->arena};
}

// Returns the key between `{` and the colon, and leaves `*fmt` at the colon.
static const char *key_of_part(Remarks *r, const char **fmt)
{
    size_t n = strcspn(*fmt, ":");
    char *key = arena_alloc(&r->arena, n + 1);
    memcpy(key, *fmt, n);
    key[n] = 0;
    *fmt += n;
    return key;
}

static void say(Remarks *r, Remark *m, const char *fmt, va_list *args)
{
    static const char words[] = "String";
    TextBuffer text = {.arena = &r->arena};
    const char *key = words;
    for (; *fmt; fmt++) {
        if (*fmt == '{' || *fmt == '}')
            end_part(r, m, key, &text);
        if (*fmt == '{') {
            fmt++;
            key = key_of_part(r, &fmt);
        } else if (*fmt == '}') {
            key = words;
        } else if (*fmt == '%') {
            fmt++;
            convert(&text, &fmt, args);
        } else {
            out_to_text(&text, fmt, 1);
        }
    }
    end_part(r, m, key, &text);
}

static const char *function_name(Remarks *r, const Fn *fn)
{
    if (!fn)
        return "";
    if (r->at.n > r->first)
        return r->at.at[r->first].function;
    Name name = fn->module->syms.at[fn->sym].name;
    size_t cap = tab_str(fn->tables, name.stem).len + 13;
    return name_text(fn->tables, name, arena_alloc(&r->arena, cap), cap);
}

void remark(Ctx *ctx, const Fn *fn, InstrId i, RemarkKind kind, const char *name, const char *fmt, ...)
{
    if (!remarks_wanted(ctx))
        return;
    Remarks *r = ctx->remarks;
    if (ctx->run.repeats && kind != RM_PASSED)
        return;
    Remark m = {.kind = kind, .row = ctx->run.row, .name = name, .function = function_name(r, fn)};
    if (i && ir_instr(fn, i)->line) {
        const Line *l = ir_line(fn, ir_instr(fn, i)->line);
        m.file = l->file;
        m.line = l->line;
        m.col = l->col;
    }
    va_list args;
    va_start(args, fmt);
    say(r, &m, fmt, &args);
    va_end(args);
    VEC_PUSH(&r->arena, &r->at, m);
}

bool gate_is_open(Ctx *ctx, const Fn *fn, KnobId knob, bool open)
{
    if (!open)
        remark(ctx, fn, 0, RM_ANALYSIS, "NotRun", "the knob {Knob:%s} turns the phase off", knob_table.rows[knob].name);
    return open;
}

/* -- Files ---------------------------------------------------------------------------------------------- */

void remarks_name_files(Remarks *r, const Module *m)
{
    VEC(const char *) names = {0};
    IdSet index = {0};
    for (uint32_t k = 0; k < m->items.n && r->at.n; k++) {
        uint32_t number;
        Str name;
        if (!module_file(m, k, &number, &name))
            continue;
        idset_add(&index, &r->arena, number, names.n);
        VEC_PUSH(&r->arena, &names, arena_text(&r->arena, name.text, name.len));
    }
    for (uint32_t k = 0; k < r->at.n; k++)
        IDSET_EACH(&index, r->at.at[k].file, id)
            r->at.at[k].path = names.at[id];
}

/* -- YAML ----------------------------------------------------------------------------------------------- */

const char *remark_kind_name(RemarkKind kind)
{
    static const char *const names[] = {"Passed", "Missed", "Analysis"};
    return names[kind];
}

const char *remark_text(const Remark *m, Arena *arena)
{
    TextBuffer text = {.arena = arena};
    for (uint32_t k = 0; k < m->args.n; k++)
        out_to_text(&text, m->args.at[k].text, strlen(m->args.at[k].text));
    out_to_text(&text, "", 1);
    return text.at;
}

// True if YAML reads the unquoted text as a string: a word that is not null or a boolean.
static bool is_plain(const char *text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
    bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (glob_match(words[k], text, strlen(text), true))
            return false;
    return letter && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == 0;
}

// Returns the length of the first character if YAML permits it unescaped; 0 = it must be escaped. Unescaped are
// printable ASCII, and UTF-8 except controls, line breaks and noncharacters.
static size_t printable(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    uint32_t c = p[0];
    if (c < 0x80)
        return c >= 0x20 && c < 0x7f;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    c &= 0x7fu >> n;
    for (size_t k = 1; k < n; k++) {
        if ((p[k] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[k] & 0x3f);
    }
    bool shortest = c >= (n == 4 ? 0x10000u : n == 3 ? 0x800u : 0xa0u);  // 0x80 to 0x9f are controls
    bool surrogate = c >= 0xd800 && c < 0xe000, breaks = c == 0x2028 || c == 0x2029;
    return shortest && !surrogate && !breaks && c != 0xfeff && c != 0xfffe && c != 0xffff && c < 0x110000 ? n : 0;
}

// Writes a text in double quotes, with YAML escapes. Bytes that are not UTF-8 are taken as Latin-1.
static void put_escaped(Out *out, const char *text)
{
    out_char(out, '"');
    for (size_t n; *text; text += n ? n : 1) {
        n = printable(text);
        if (*text == '"' || *text == '\\')
            out_char(out, '\\');
        if (n)
            out_bytes(out, text, n);
        else
            out_fmt(out, "\\x%02X", (unsigned char)*text);
    }
    out_char(out, '"');
}

static void put_quoted(Out *out, const char *text)
{
    const char *p = text;
    for (size_t n; *p && (n = printable(p)); p += n)
        ;
    if (*p) {
        put_escaped(out, text);
        return;
    }
    out_char(out, '\'');
    for (p = text; *p; p++) {
        if (*p == '\'')
            out_char(out, '\'');
        out_char(out, *p);
    }
    out_char(out, '\'');
}

static void put_pair(Out *out, const char *indent, const char *key, const char *value)
{
    out_fmt(out, "%s%s:%*s", indent, key, (int)MAX(16 - (int)strlen(key), 1), "");
    if (is_plain(value))
        out_z(out, value);
    else
        put_quoted(out, value);
    out_char(out, '\n');
}

static void put_remark(Out *out, const Remark *m)
{
    out_fmt(out, "--- !%s\n", remark_kind_name(m->kind));
    put_pair(out, "", "Pass", phase_info[m->row].name);
    put_pair(out, "", "Name", m->name);
    if (m->path) {
        out_z(out, "DebugLoc:        { File: ");
        put_quoted(out, m->path);
        out_fmt(out, ", Line: %u, Column: %u }\n", m->line, m->col);
    }
    put_pair(out, "", "Function", m->function);
    out_z(out, m->args.n ? "Args:\n" : "Args:            []\n");
    for (uint32_t k = 0; k < m->args.n; k++)
        put_pair(out, "  - ", m->args.at[k].key, m->args.at[k].text);
    out_z(out, "...\n");
}

void remarks_write(const Remarks *r, Out *out)
{
    for (uint32_t k = 0; k < r->at.n; k++)
        put_remark(out, &r->at.at[k]);
}
