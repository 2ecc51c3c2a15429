// SPDX-License-Identifier: MIT
// Computes the PTX version and the target that an instruction requires, and the version and target of a module.
#include "ir/core/ir.h"

static bool has_type(const Mnem *m, Type type)
{
    bool has = false;
    for (uint32_t k = 0; k < m->ntypes; k++)
        has |= m->type[k] == type;
    return has;
}

static bool has_mod(const Mnem *m, Mod mod) { return m->mod[mod_category(mod)] == mod; }

// True if a mnemonic begins with the words of a row; a row without a name is for all.
#define IS_NAMED(text_, name) (!*(name) || op_name_length((name), (text_).text, (text_).len))

// Returns the first place of a part of a text, NULL: none. With `whole`, the part ends at a dot or at the end.
static const char *find_part(Str text, const char *part, bool whole)
{
    size_t n = strlen(part);
    const char *end = text.text + text.len;
    for (const char *p = text.text; (size_t)(end - p) >= n; p++)
        if (memcmp(p, part, n) == 0 && (!whole || p + n == end || p[n] == '.'))
            return p;
    return NULL;
}

#define TYPE(t) has_type(m, TY_##t)
#define BITS(n) (width_bits(type_info[m->type[0]].width) == (n))
#define MOD(c) (m->mod[MC_##c] != 0)
#define IS(id) has_mod(m, MOD_##id)
#define WORD(w) (find_part(text, "." w, true) != NULL)
#define PART(s) (find_part(text, s, false) != NULL)
#define SHAPE(s) (find_part(shape, s, false) != NULL)

Isa isa_of(const Tables *t, Opcode op, const Mnem *m, Str shape)
{
    Str text = tab_str(t, m->text);
    Isa need = {0, 0};
    size_t len;
    op = op == OP_OPAQUE ? op_find_prefix(text.text, text.len, &len) : op;
    op = op == OPCODE_COUNT ? OP_OPAQUE : op;
#define NEED(id, when, lowest, first)                         \
    if ((op == OP_##id || OP_##id == OP_OPAQUE) && (when)) {  \
        need.version = MAX(need.version, (uint16_t)(lowest)); \
        need.sm = MAX(need.sm, (uint16_t)(first));            \
    }
#define NAMED(name, when, lowest)       \
    if (IS_NAMED(text, name) && (when)) \
        need.version = MAX(need.version, (uint16_t)(lowest));
#include "ir/core/features.def"
    return need;
}

// True if a word, and no type or shape, is in a mnemonic twice. ptxas accepts this for some words.
static bool has_repeated_word(Str text)
{
    const char *end = text.text + text.len;
    size_t len;
    Opcode op = op_find_prefix(text.text, text.len, &len);
    if (op == OPCODE_COUNT || op_info[op].ntypes == OP_RAW)  // `.row.row`
        return false;
    for (const char *p = memchr(text.text, '.', text.len), *next; p; p = next) {
        next = memchr(p + 1, '.', (size_t)(end - p) - 1);
        size_t n = (size_t)((next ? next : end) - p);
        for (const char *q = next; q; q = memchr(q + 1, '.', (size_t)(end - q) - 1))
            if ((size_t)(end - q) >= n && memcmp(p, q, n) == 0 && (q + n == end || q[n] == '.') &&
                !(p[n - 1] >= '0' && p[n - 1] <= '9'))
                return true;
    }
    return false;
}

bool isa_judged(const Tables *t, const Mnem *m)
{
    Str text = tab_str(t, m->text);
    bool known = m->first != OP_OPAQUE;
#define NAMED(name, when, lowest) known |= name[0] && IS_NAMED(text, name);
#include "ir/core/features.def"
    return known && !op_unknown_word(text.text, text.len).len && !has_repeated_word(text);
}

uint16_t isa_version(const Tables *t, const Mnem *m, const Module *module, Isa needs)
{
    Str text = tab_str(t, m->text);
    uint16_t version = needs.version;
#define BELOW(name, when, target, lowest)                            \
    if (IS_NAMED(text, name) && (when) && module->isa.sm < (target)) \
        version = MAX(version, (uint16_t)(lowest));
#include "ir/core/features.def"
    return version;
}

uint16_t isa_gone(const Tables *t, const Mnem *m, const Module *module)
{
    Str text = tab_str(t, m->text);
#define GONE(name, when, version_, target)                                                                 \
    if (IS_NAMED(text, name) && (when) && module->isa.version >= (version_) && module->isa.sm >= (target)) \
        return version_;
#include "ir/core/features.def"
    return 0;
}

bool mnem_older(Str text, uint32_t which, char *out, size_t *len)
{
    static const struct {
        const char *name, *newer, *older;
    } rows[] = {
#define OLDER(name, newer, older) {name, newer, older},
#include "ir/core/features.def"
    };
    _Static_assert(ARRAY_LEN(rows) == MNEM_OLDER_ROWS, "the number of rows");
    const char *at = IS_NAMED(text, rows[which].name) ? find_part(text, rows[which].newer, true) : NULL;
    if (at) {
        size_t before = (size_t)(at - text.text), n = strlen(rows[which].newer), m = strlen(rows[which].older);
        memcpy(out, text.text, before);
        memcpy(out + before, rows[which].older, m);
        memcpy(out + before + m, at + n, text.len - before - n);
        *len = text.len - n + m;
    }
    return at != NULL;
}

uint16_t ptx_since(const char *text, size_t len)
{
    static const struct {
        const char *text;
        uint16_t version;
    } rows[] = {
#define SINCE(text, version) {text, version},
#include "ir/core/features.def"
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (strlen(rows[k].text) == len && memcmp(rows[k].text, text, len) == 0)
            return rows[k].version;
    return 0;
}

uint16_t ptx_version(const char *text, size_t len)
{
    static const uint16_t last[] = {32, 43, 51, 65, 78, 88, PTX_NEWEST};  // of each major version, from 3 on
    if (len != 3 || text[1] != '.' || text[0] < '3' || text[2] < '0' || text[2] > '9')
        return 0;
    size_t major = (size_t)(text[0] - '3');
    uint16_t version = (uint16_t)((text[0] - '0') * 10 + text[2] - '0');
    return version >= PTX_OLDEST && major < ARRAY_LEN(last) && version <= last[major] ? version : 0;
}

// Reads the decimal number at `*p` and advances past it.
static uint32_t number(const char **p, const char *end)
{
    uint32_t n = 0;
    for (; *p < end && **p >= '0' && **p <= '9' && n < 1000; (*p)++)
        n = n * 10 + (uint32_t)(**p - '0');
    return n;
}

void module_set_isa(Module *m)
{
    Str version = tab_str(&m->tables, m->version), sm = tab_str(&m->tables, m->sm);
    const char *p = version.text, *end = p + version.len;
    if (version.len) {
        uint32_t major = number(&p, end);
        p += p < end;
        uint32_t minor = number(&p, end);
        m->isa.version = (uint16_t)MIN(major * 10 + MIN(minor, 9), UINT16_MAX);
    }
    p = sm.text, end = p + sm.len;
    if (sm.len > 3 && memcmp(p, "sm_", 3) == 0) {
        p += 3;
        m->isa.sm = (uint16_t)number(&p, end);
    }
}
