// SPDX-License-Identifier: MIT
// Descriptors: parses a mnemonic once, and matches its operand signature against the operand syntax of an instruction.
//
// Matching visits signature and shape together, element by element (commas outside brackets separate elements), and
// emits one Slot per operand. An instruction with a modifier or type that no row of its mnemonic has is OPAQUE.
// Operands that do not fit are an error.
#include "ir/core/ir.h"

enum { PARTS_MAX = 40, TEXT_MAX = 512 };

/* -- Mnemonics ------------------------------------------------------------------------------------------ */

typedef struct Part {
    const char *text;
    size_t len;
} Part;

typedef struct Text {
    char buf[TEXT_MAX];
    size_t n;
} Text;

static void put(Text *t, const char *text, size_t len)
{
    len = MIN(len, TEXT_MAX - t->n);
    memcpy(t->buf + t->n, text, len);
    t->n += len;
}

static void put_modifier(Text *t, const char *text)
{
    put(t, ".", 1);
    put(t, text, strlen(text));
}

static bool same_mnemonic(Opcode x, Opcode y) { return strcmp(op_info[x].mnemonic, op_info[y].mnemonic) == 0; }

static Opcode first_row(Opcode op)
{
    while (op && same_mnemonic(op - 1, op))
        op--;
    return op;
}

static Opcode next_row(Opcode op)
{
    Opcode next = op + 1;
    return next < OPCODE_COUNT && same_mnemonic(op, next) ? next : OPCODE_COUNT;
}

static bool is_hint(Part p)
{
    return p.len >= 2 && p.text[0] == 'L' && (p.text[1] == '1' || p.text[1] == '2') && (p.len == 2 || p.text[2] == ':');
}

// Sorts the modifiers after the mnemonic into their categories; false if one of them is not modelled.
static bool sort_modifiers(Mnem *m, const Part *parts, size_t n, Text *suffix)
{
    uint32_t allowed = 0;
    for (Opcode op = m->first; op < OPCODE_COUNT; op = next_row(op))
        allowed |= op_info[op].mods;
    for (size_t k = 0; k < n; k++) {
        Type type = type_find(parts[k].text, parts[k].len);
        Mod mod = type == TY_NONE ? mod_find(parts[k].text, parts[k].len, allowed) : MOD_NONE;
        if (type != TY_NONE) {
            if (m->ntypes == ARRAY_LEN(m->type))
                return false;
            m->type[m->ntypes++] = (uint8_t)type;
        } else if (allowed & OP_HINT && is_hint(parts[k])) {
            put(suffix, ".", 1);
            put(suffix, parts[k].text, parts[k].len);
        } else if (mod != MOD_NONE) {
            m->mod[mod_category(mod)] = (uint8_t)mod;
            allowed &= ~(1u << mod_category(mod));
        } else {
            return false;
        }
    }
    return true;
}

static void spell(const Mnem *m, Str suffix, Text *out)
{
    put(out, op_info[m->first].mnemonic, strlen(op_info[m->first].mnemonic));
    for (int c = 0; c < MC_COUNT; c++) {
        if (c == MC_MODE)
            put(out, suffix.text, suffix.len);
        if (c == MC_POST)
            for (int k = 0; k < m->ntypes; k++)
                put_modifier(out, type_info[m->type[k]].name);
        if (m->mod[c])
            put_modifier(out, mod_text((Mod)m->mod[c]));
    }
}

static bool parse(Mnem *m, const char *text, size_t len, Text *suffix, Text *canonical)
{
    Part parts[PARTS_MAX];
    char gathered[TEXT_MAX];
    size_t n = 0;
    op_gather_words(text, len, gathered);
    text = gathered;
    for (const char *p = text, *end = text + len; p <= end;) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        const char *stop = dot ? dot : end;
        if (n == PARTS_MAX)
            return false;
        parts[n++] = (Part){p, (size_t)(stop - p)};
        p = stop + 1;
    }
    size_t used = 0, found;
    m->first = op_find_prefix(text, len, &found);
    if (m->first == OPCODE_COUNT)
        return false;
    while (used < n && parts[used].text < text + found)
        used++;
    if (op_info[m->first].ntypes == OP_RAW) {
        for (size_t k = used; k < n; k++) {
            put(suffix, ".", 1);
            put(suffix, parts[k].text, parts[k].len);
        }
        put(canonical, op_info[m->first].mnemonic, strlen(op_info[m->first].mnemonic));
        put(canonical, suffix->buf, suffix->n);
        return true;
    }
    if (!sort_modifiers(m, parts + used, n - used, suffix))
        return false;
    spell(m, (Str){.text = suffix->buf, .len = (uint32_t)suffix->n}, canonical);
    return true;
}

// Finds the mnemonic with this canonical spelling. False if there is none.
static bool find_canonical(const Tables *t, const char *text, size_t len, uint32_t hash, MnemId *mnem)
{
    for (const Tables *p = t; p; p = p->parent) {
        IDSET_EACH(&p->mnem_index, hash, k) {
            Str known = tab_str(t, p->mnems.at[k].text);
            *mnem = p->mnem_first + k;
            if (known.len == len && memcmp(known.text, text, len) == 0)
                return true;
        }
    }
    return false;
}

MnemId mnem_add(Tables *t, Mnem m)
{
    idset_add(&t->mnem_index, t->arena, tab_str(t, m.text).hash, t->mnems.n);
    VEC_PUSH(t->arena, &t->mnems, m);
    return t->mnem_first + t->mnems.n - 1;
}

MnemId mnem_intern(Tables *t, const char *text, size_t len)
{
    MnemId known;
    Mnem m = {0};
    // Fast path for phases, which often request the same few mnemonics in the canonical spelling.
    if (find_canonical(t, text, len, hash_bytes(text, len), &known))
        return known;
    Text suffix = {.n = 0}, canonical = {.n = 0};
    if (len > 7 && memcmp(text, ".pragma", 7) == 0) {
        m = (Mnem){.first = OP_PRAGMA, .text = str_intern(&t->strs, text, len)};
    } else if (len < TEXT_MAX - 16 && parse(&m, text, len, &suffix, &canonical)) {
        m.suffix = str_intern(&t->strs, suffix.buf, suffix.n);
        m.text = str_intern(&t->strs, canonical.buf, canonical.n);
    } else {
        m = (Mnem){.first = OP_OPAQUE, .text = str_intern(&t->strs, text, len)};
    }
    Str canon = tab_str(t, m.text);
    if (find_canonical(t, canon.text, canon.len, canon.hash, &known))
        return known;
    return mnem_add(t, m);
}

// Interns the mnemonic with these fields; ignores its text.
static MnemId mnem_of_fields(Tables *t, const Mnem *fields)
{
    MnemId known;
    Text canonical = {.n = 0};
    spell(fields, tab_str(t, fields->suffix), &canonical);
    if (find_canonical(t, canonical.buf, canonical.n, hash_bytes(canonical.buf, canonical.n), &known))
        return known;
    Mnem m = *fields;
    m.text = str_intern(&t->strs, canonical.buf, canonical.n);
    return mnem_add(t, m);
}

/* -- Signatures ----------------------------------------------------------------------------------------- */

typedef struct Match {
    Tables *tables;
    const Mnem *mnem;
    Opcode op;
    VEC(Slot) slots;
} Match;

static Type widened(Type t)
{
    switch (t) {
    case TY_U16: return TY_U32;
    case TY_S16: return TY_S32;
    case TY_U32: return TY_U64;
    case TY_S32: return TY_S64;
    default: return t;
    }
}

static Type bits_type(uint32_t bits)
{
    switch (bits) {
    case 8: return TY_B8;
    case 16: return TY_B16;
    case 32: return TY_B32;
    case 64: return TY_B64;
    default: return TY_NONE;
    }
}

static uint32_t vector_length(const Mnem *m)
{
    switch (m->mod[MC_VEC]) {
    case MOD_V2: return 2;
    case MOD_V4: return 4;
    case MOD_V8: return 8;
    default: return 1;
    }
}

// Returns a slot for a typed value. 16-bit floats and packed formats take no immediates (ptx-facts.md L3).
static Slot typed(Type type, uint32_t flags)
{
    TypeClass class = type_info[type].class;
    bool half = class == TC_X || type == TY_F16 || type == TY_F16X2;
    if (!(flags & SL_DEF) && !half)
        flags |= SL_IMM;
    uint8_t rejects = class == TC_U || class == TC_S ? 1 << TC_F : class == TC_F ? 1 << TC_U | 1 << TC_S : 0;
    if (class == TC_P)
        flags |= SL_NOT;
    return (Slot){.flags = (uint16_t)(flags | SL_REG),
                  .width = (uint8_t)type_info[type].width,
                  .type = (uint8_t)type,
                  .rejects = rejects};
}

static void emit(Match *m, Slot slot) { VEC_PUSH(m->tables->arena, &m->slots, slot); }

static void emit_address(Match *m)
{
    emit(m, (Slot){.flags = SL_REG | SL_SYM | SL_SINK, .type = TY_B64, .rejects = 1 << TC_F | 1 << TC_P});
    emit(m, (Slot){.flags = SL_IMM, .width = W64, .type = TY_S64});
}

static void emit_any(Match *m, uint32_t flags)
{
    emit(m, (Slot){.flags = (uint16_t)(flags | SL_REG | SL_IMM | SL_SYM | SL_SREG | SL_SINK | SL_NOT)});
}

const char *desc_element_end(const char *p, const char *end)
{
    int depth = 0;
    for (; p < end; p++) {
        if (*p == '{' || *p == '[' || *p == '(')
            depth++;
        if (*p == '}' || *p == ']' || *p == ')')
            depth--;
        if (*p == ',' && depth == 0)
            break;
    }
    return p;
}

// Matches all remaining operands: uses, or registers of an opaque instruction, which are read and written.
static void match_rest(Match *m, const char *shape, const char *end, bool opaque)
{
    int brackets = 0;
    for (; shape < end; shape++) {
        if (*shape == '[')
            brackets++;
        if (*shape == ']')
            brackets--;
        if (*shape == '%')
            emit_any(m, opaque && brackets == 0 ? SL_INOUT : 0);
        if (*shape == '$')
            emit(m, (Slot){.flags = SL_SYM});
        if (*shape == '&')
            emit_address(m);
    }
}

// Matches the inputs of a phi: `%:%,%:%,...`, a block and a value each. There is one shape for each number of inputs,
// so the number of edges bounds the total length of the shapes.
static bool match_phi(Match *m, const char *shape, const char *end)
{
    for (; end - shape >= 3 && memcmp(shape, "%:%", 3) == 0; shape += 4) {
        emit(m, (Slot){.flags = SL_BLOCK});
        emit(m, (Slot){.flags = SL_REG | SL_IMM | SL_AS_DEF});
        if (end - shape == 3)
            return true;
    }
    return false;
}

// True if the element is `{%,%,...}` with n operands (0 = any number); sets *count.
static bool is_group(const char *shape, const char *end, uint32_t n, uint32_t *count)
{
    if (end - shape < 3 || shape[0] != '{' || end[-1] != '}')
        return false;
    uint32_t k = 0;
    for (const char *p = shape + 1; p < end - 1; p++) {
        if ((p - shape) % 2 == 1 ? *p != '%' : *p != ',')
            return false;
        k += *p == '%';
    }
    *count = k;
    return n == 0 || k == n;
}

// Matches one vector or scalar operand of a typed slot.
static bool match_vector(Match *m, Slot slot, const char *shape, const char *end)
{
    uint32_t n = vector_length(m->mnem), count = 1;
    bool scalar = end - shape == 1 && *shape == '%';
    if (scalar && n > 1 && m->op == OP_ATOM && slot.flags & SL_DEF) {
        emit(m, (Slot){.flags = SL_DEF | SL_SINK});  // `_` instead of the whole vector
        return true;
    }
    if (n == 1 ? !scalar : !is_group(shape, end, n, &count))
        return false;
    bool sink = slot.flags & SL_DEF && (n > 1 || m->op == OP_ATOM);
    slot.flags |= sink ? SL_SINK : 0;
    while (count--)
        emit(m, slot);
    return true;
}

// Returns the range of a letter for instructions of this type.
static RangeId range_of_letter(char letter, Type type)
{
    RangeId range = RANGE_COUNT - 1;
    while (range != RANGE_ALL &&
           (range_info[range].letter != letter ||
            (range_info[range].bits && range_info[range].bits != width_bits(type_info[type].width))))
        range--;
    return range;
}

// Matches one letter of the signature with one operand.
static bool match_letter(Match *m, char letter, const char *shape, const char *end)
{
    const uint8_t *type = m->mnem->type;
    Type t0 = (Type)type[0], t1 = (Type)type[1];
    uint32_t sreg = m->op == OP_MOV || m->op == OP_CVT ? SL_SREG : 0;
    bool plain = end - shape == 1 && *shape == '%';
    uint32_t count;
    switch (letter) {
    case 'V':
    case 'v': {
        Slot slot = typed(t0, letter == 'V' ? SL_DEF | SL_WIDER : SL_WIDER);
        slot.rejects = 0;  // memory operations accept any declared type
        if (m->op == OP_MOV_VEC)
            slot.flags = (uint16_t)((slot.flags & ~SL_WIDER) | (letter == 'v' ? SL_SREG : 0));
        return match_vector(m, slot, shape, end);
    }
    case 'U':
    case 'u': {
        if (!is_group(shape, end, 0, &count))
            return false;
        Type part = bits_type(width_bits(type_info[t0].width) / count);
        if (part == TY_NONE || width_bits(type_info[t0].width) % count)
            return false;
        Slot slot = typed(part, letter == 'U' ? SL_DEF | SL_SINK : 0);
        while (count--)
            emit(m, slot);
        return true;
    }
    case 'g':
        for (; shape < end; shape++) {
            if (*shape == '[' || *shape == '&')
                return false;
            if (*shape == '%')
                emit(m, (Slot){.flags = SL_DEF | SL_REG | SL_SINK});
        }
        return true;
    case '&':
        if (end - shape != 1 || *shape != '&')
            return false;
        emit_address(m);
        return true;
    }
    if (!plain)
        return false;
    switch (letter) {
    case 'R': emit(m, (Slot){.flags = SL_REG | SL_DEF}); return true;
    case 'd': emit(m, typed(t0, SL_DEF)); return true;
    case 'D': emit(m, typed(t0, SL_DEF | SL_WIDER)); return true;
    case 'W': emit(m, typed(widened(t0), SL_DEF)); return true;
    case 'e': emit(m, typed(TY_S32, SL_DEF)); return true;
    case 'p': emit(m, typed(TY_PRED, SL_DEF)); return true;
    case 'a': emit(m, typed(t0, sreg)); return true;
    case 'A': emit(m, typed(t0, sreg | SL_WIDER)); return true;
    case 'b': emit(m, typed(t1, 0)); return true;
    case 'B': emit(m, typed(t1, sreg | SL_WIDER)); return true;
    case 'w': emit(m, typed(widened(t0), 0)); return true;
    case 'i':
    case 'm':
    case 'n':
    case 'o':
    case 't':
    case 'T': {
        Slot slot = typed(TY_S32, 0);
        slot.range = (uint8_t)range_of_letter(letter, t0);
        emit(m, slot);
        return true;
    }
    case 's': emit(m, (Slot){.flags = SL_REG, .type = TY_S64, .rejects = 1 << TC_F | 1 << TC_P}); return true;
    case 'M': emit(m, typed(TY_S32, SL_LANES)); return true;
    case 'x': emit(m, typed(TY_B64, 0)); return true;
    case 'y': emit(m, (Slot){.flags = SL_REG | SL_IMM | SL_NOT, .type = TY_S32}); return true;
    case 'q': emit(m, typed(TY_PRED, 0)); return true;
    case 'k': emit(m, (Slot){.flags = SL_IMM, .width = W32, .type = TY_U32}); return true;
    case 'L': emit(m, (Slot){.flags = SL_BLOCK}); return true;
    case 'l': emit(m, (Slot){.flags = SL_LIST}); return true;
    default: return false;
    }
}

// Returns the plain letter of a conditional one; 0 if the operand must be absent.
static char resolve_conditional(const Mnem *m, char letter, Str suffix)
{
    switch (letter) {
    case 'Q': return m->mod[MC_BOOL] ? 'q' : 0;
    case 'K': return m->mod[MC_OP] == MOD_CAS ? 'v' : 0;
    case 'H':
        for (size_t k = 0; k + 10 <= suffix.len; k++)
            if (memcmp(suffix.text + k, "cache_hint", 10) == 0)
                return 'x';
        return 0;
    default: return letter;
    }
}

// Matches one of a pair of definitions; the mark after its letter restricts the sink (tried on ptxas).
static bool match_half(Match *m, const char *sig, const char *shape, const char *end)
{
    if (!match_letter(m, sig[0], shape, end))
        return false;
    m->slots.at[m->slots.n - 1].flags |= sig[1] == '!' ? 0 : sig[1] == '@' ? SL_SINK | SL_BARE : SL_SINK;
    return true;
}

// Matches an element: letters joined by `|`, or `[&]`, and the hidden operands after it.
static bool match_element(Match *m, const char *sig, const char *sig_end, const char *shape, const char *end)
{
    bool bracket = *sig == '[';
    if (bracket) {
        if (end - shape != 3 || memcmp(shape, "[&]", 3) != 0)
            return false;
        emit_address(m);
        return true;
    }
    const char *bar = memchr(shape, '|', (size_t)(end - shape)), *second = memchr(sig, '|', (size_t)(sig_end - sig));
    if (second && (bar || sig_end[-1] != '?')) {
        second++;
        return bar && match_half(m, sig, shape, bar) && match_half(m, second, bar + 1, end);
    }
    char letter = resolve_conditional(m->mnem, *sig, str_get(&m->tables->strs, m->mnem->suffix));
    if (!match_letter(m, letter, shape, end))
        return false;
    for (sig++; sig < sig_end; sig++) {
        if (*sig == 'c')
            emit(m, (Slot){.flags = SL_DEF | SL_REG | SL_HIDDEN, .width = W1});
        if (*sig == 'C')
            emit(m, (Slot){.flags = SL_REG | SL_HIDDEN, .width = W1});
    }
    return true;
}

static bool match(Match *m, const char *sig, const char *shape, const char *end)
{
    if (*sig == '*') {
        match_rest(m, shape, end, false);
        return true;
    }
    if (*sig == 'f')
        return match_phi(m, shape, end);
    const char *sig_stop = desc_element_end(sig, sig + strlen(sig));
    if (*sig == 0 || *sig == 'F')
        return shape == end;
    const char *next_sig = *sig_stop ? sig_stop + 1 : sig_stop;
    bool whole_optional = sig_stop[-1] == '?' && sig_stop - sig == 2;
    bool absent = resolve_conditional(m->mnem, *sig, str_get(&m->tables->strs, m->mnem->suffix)) == 0;
    uint32_t before = m->slots.n;
    if (shape < end && !absent) {
        const char *stop = desc_element_end(shape, end);
        const char *next = stop < end ? stop + 1 : stop;
        // A trailing comma would leave an empty element.
        if (!(stop < end && next == end) && match_element(m, sig, sig_stop, shape, stop) &&
            match(m, next_sig, next, end))
            return true;
        m->slots.n = before;
    }
    return (whole_optional || absent) && match(m, next_sig, shape, end);
}

// Fills a descriptor's slots from a row. The shape of a guarded terminator ends in `~`, its other successor.
static bool match_row(Match *m, Opcode op, const char *shape, size_t len)
{
    const char *end = shape + len;
    m->op = op;
    m->slots.n = 0;
    bool falls_through = len && end[-1] == '~';
    if (op == OP_OPAQUE)
        match_rest(m, shape, end, true);
    else if (!match(m, op_info[op].signature, shape, falls_through ? end - 1 : end))
        return false;
    if (falls_through)
        emit(m, (Slot){.flags = SL_BLOCK | SL_HIDDEN});
    return true;
}

static bool row_takes(Opcode op, const Mnem *m)
{
    const OpInfo *row = &op_info[op];
    if (row->ntypes == OP_RAW)
        return true;
    if (row->ntypes != m->ntypes || (m->ntypes && !(row->types >> m->type[0] & 1)))
        return false;
    for (int c = 0; c < MC_COUNT; c++)
        if (m->mod[c] && !(row->mods >> c & 1))
            return false;
    return true;
}

// True for an annotation of the next instruction; other pragmas annotate their block and stay in it.
static bool is_about_next(const Tables *t, const Mnem *pragma)
{
    static const char key[] = "used_bytes_mask";
    Str text = tab_str(t, pragma->text);
    for (size_t k = 0; k + sizeof key - 1 <= text.len; k++)
        if (memcmp(text.text + k, key, sizeof key - 1) == 0)
            return true;
    return false;
}

// True for the instructions of an opcode with TR_EXEMPT that have the trait.
static bool is_exempt(Opcode op, const Mnem *m)
{
    switch (op) {
    case OP_SET: return m->type[0] == TY_F16X2 || m->type[1] == TY_F16X2;
    case OP_LD: return m->mod[MC_VEC] || m->mod[MC_SPACE] == MOD_LOCAL;
    case OP_ST: return m->mod[MC_VEC];
    default: return true;
    }
}

static uint32_t refine_traits(const Tables *t, Opcode op, const Mnem *m)
{
    uint32_t traits = op_info[op].traits;
    bool memory = traits & (TR_READ | TR_WRITE) && op_info[op].ntypes != OP_RAW;
    if (memory && (m->mod[MC_MMIO] || m->mod[MC_COP] == MOD_CV || (m->mod[MC_SEM] && m->mod[MC_SEM] != MOD_WEAK)))
        traits = (traits & ~(uint32_t)TR_NOCLOBBER) | TR_ORDERED | TR_EFFECT;
    if (op == OP_PRAGMA && is_about_next(t, m))
        traits = (traits & ~(uint32_t)TR_EFFECT) | TR_OF_NEXT;
    if (op == OP_LD && (m->mod[MC_NC] || m->mod[MC_SPACE] == MOD_CONST))
        traits |= TR_RDONLY;
    if (op == OP_TEX || op == OP_TLD4 || op == OP_TXQ || op == OP_SUQ)
        traits |= TR_RDONLY;
    if (m->mod[MC_RND] == MOD_APPROX || m->mod[MC_RND] == MOD_FULL)
        traits |= TR_NOFOLD;
    if (!is_exempt(op, m))
        traits &= ~(uint32_t)TR_EXEMPT;
    return traits;
}

// Marks the registers in a call's leading `(...)` as definitions; false if there are symbols among them.
static bool mark_call_results(Match *m, const char *shape, size_t len)
{
    if (!len || shape[0] != '(' || shape[1] != '%')
        return true;
    const char *close = memchr(shape, ')', len);
    if (memchr(shape, '$', (size_t)(close - shape)))
        return false;
    for (uint32_t k = 0; k < (uint32_t)(close - shape) / 2; k++)
        m->slots.at[k].flags = SL_REG | SL_DEF | SL_SINK;
    return true;
}

static uint32_t desc_hash(MnemId mnem, StrId shape)
{
    uint64_t h = hash_mix(mnem, shape);
    return (uint32_t)(h ^ (h >> 32));
}

DescId desc_add(Tables *t, Desc d)
{
    desc_set_canonical(t, &d, t->desc_first + t->descs.n);
    idset_add(&t->desc_index, t->arena, desc_hash(d.mnem, d.shape), t->descs.n);
    VEC_PUSH(t->arena, &t->descs, d);
    return t->desc_first + t->descs.n - 1;
}

DescId desc_intern(Tables *t, MnemId mnem, const char *shape, size_t len, const char **why)
{
    StrId shape_id = str_intern(&t->strs, shape, len);
    uint32_t hash = desc_hash(mnem, shape_id);
    for (const Tables *p = t; p; p = p->parent) {
        IDSET_EACH(&p->desc_index, hash, k) {
            if (p->descs.at[k].mnem == mnem && p->descs.at[k].shape == shape_id)
                return p->desc_first + k;
        }
    }
    const Mnem *m = tab_mnem(t, mnem);
    Match match = {.tables = t, .mnem = m};
    bool known = false;
    Opcode op = m->first;
    for (; op < OPCODE_COUNT; op = next_row(op)) {
        if (!row_takes(op, m))
            continue;
        known = true;
        if (match_row(&match, op, shape, len))
            break;
    }
    if (op == OPCODE_COUNT && known) {
        *why = op_info[m->first].signature;
        return 0;
    }
    if (op == OPCODE_COUNT) {
        op = OP_OPAQUE;
        match_row(&match, op, shape, len);
    }
    if (op == OP_CALL && !mark_call_results(&match, shape, len)) {
        *why = op_info[OP_CALL].signature;
        return 0;
    }
    Desc d = {.mnem = mnem, .shape = shape_id, .op = op, .traits = refine_traits(t, op, m), .nops = match.slots.n};
    d.slots = match.slots.at;
    d.needs = isa_of(t, op, m, tab_str(t, shape_id));
    while (d.ndef < d.nops && d.slots[d.ndef].flags & SL_DEF)
        d.ndef++;
    d.plain = op != OP_OPAQUE && !(d.traits & (TR_TERM | TR_PSEUDO));
    for (uint32_t k = 0; k < d.nops; k++)
        d.plain &= !(d.slots[k].flags & (SL_HIDDEN | SL_INOUT | SL_AS_DEF));
    d.classes = desc_classes(t, &d);
    return desc_add(t, d);
}

static const char *letter_words(char letter)
{
    switch (letter) {
    case 'd':
    case 'D':
    case 'W':
    case 'R':
    case 'e': return "dst";
    case 'p': return "dst predicate";
    case 'V': return "dst or {dst, ...}";
    case 'U':
    case 'g': return "{dst, ...}";
    case 'a':
    case 'A':
    case 'b':
    case 'B':
    case 'w':
    case 'y':
    case 's': return "src";
    case 'v': return "src or {src, ...}";
    case 'u': return "{src, ...}";
    case 'i':
    case 'n':
    case 'o':
    case 't':
    case 'T':
    case 'M': return "32-bit src";
    case 'q': return "predicate";
    case 'Q': return "[predicate if .and .or .xor]";
    case 'K': return "[src if .cas]";
    case 'H': return "[policy if cache_hint]";
    case 'k': return "constant";
    case '&': return "symbol";
    case 'L': return "label";
    case 'l': return "branch table";
    case 'f': return "block: value, ...";
    case '*': return "...";
    default: return "";
    }
}

void desc_expected(const char *sig, char words[static 200])
{
    Out out = {.buf = words, .cap = 199};
    for (const char *p = sig; *p && out.n < 150; p++) {
        if (*p == '[' && p[1] == '&') {
            out_z(&out, "[address]");
            p += 2;
        } else if (*p == ',') {
            out_z(&out, ", ");
        } else if (*p == '|') {
            out_z(&out, p[2] == '?' ? " [| " : " | ");
        } else if (*p == '?') {
            out_z(&out, "]");
        } else {
            if (p[1] == '?' && (p == sig || p[-1] != '|'))
                out_z(&out, "[");
            out_z(&out, letter_words(*p));
        }
    }
    words[out.n] = 0;
}

/* -- Builders ------------------------------------------------------------------------------------------- */

static void put_group(Text *shape, uint32_t n)
{
    put(shape, "{", 1);
    for (uint32_t k = 0; k < n; k++)
        put(shape, k ? ",%" : "%", 1 + (k > 0));
    put(shape, "}", 1);
}

// Appends the operand of an element of a signature; nothing for an optional operand.
static void put_operand(Text *shape, const Mnem *m, const char *sig, const char *end)
{
    const char *second = memchr(sig, '|', (size_t)(end - sig));
    bool optional = end[-1] == '?', hidden = *sig == 'F' || !resolve_conditional(m, *sig, (Str){.text = ""});
    if (hidden || (optional && !second))
        return;
    if (shape->n)
        put(shape, ",", 1);
    if (*sig == 'U' || *sig == 'u')
        put_group(shape, 2);
    else if ((*sig == 'V' || *sig == 'v') && vector_length(m) > 1)
        put_group(shape, vector_length(m));
    else if (*sig == '[')
        put(shape, "[&]", 3);
    else
        put(shape, *sig == '&' ? "&" : "%", 1);
    if (second && !optional)
        put(shape, "|%", 2);
}

static DescId require(Tables *t, MnemId mnem, const char *shape, size_t len)
{
    const char *why;
    DescId id = desc_intern(t, mnem, shape, len, &why);
    if (!id)
        heap_fail(t->arena->heap, ST_INTERNAL, "no instruction '%.*s' with operands '%.*s'",
                  (int)tab_str(t, tab_mnem(t, mnem)->text).len, tab_str(t, tab_mnem(t, mnem)->text).text, (int)len,
                  shape);
    return id;
}

static bool same_fields(const MnemFields *a, const MnemFields *b)
{
    return a->op == b->op && a->type == b->type && a->from == b->from && a->mods[0] == b->mods[0] &&
           a->mods[1] == b->mods[1] && a->mods[2] == b->mods[2];
}

static DescId find_by_fields(Tables *t, MnemFields fields)
{
    Mnem m = {.first = first_row(fields.op), .type = {(uint8_t)fields.type, (uint8_t)fields.from}};
    m.ntypes = (fields.type != TY_NONE) + (fields.from != TY_NONE);
    for (size_t k = 0; k < ARRAY_LEN(fields.mods) && fields.mods[k]; k++)
        m.mod[mod_category(fields.mods[k])] = (uint8_t)fields.mods[k];
    Text shape = {.n = 0};
    const char *sig = op_info[fields.op].signature, *end = sig + strlen(sig);
    for (const char *stop; sig < end; sig = stop + 1) {
        stop = desc_element_end(sig, end);
        put_operand(&shape, &m, sig, stop);
    }
    DescId id = require(t, mnem_of_fields(t, &m), shape.buf, shape.n);
    if (tab_desc(t, id)->op != fields.op)
        heap_fail(t->arena->heap, ST_INTERNAL, "no instruction %s of these types", op_info[fields.op].id);
    return id;
}

DescId desc_of_fields(Tables *t, MnemFields fields)
{
    uint32_t at = ((uint32_t)fields.op * 5 + (uint32_t)fields.type * 3 + (uint32_t)fields.from) % ARRAY_LEN(t->made);
    if (!t->made[at].desc || !same_fields(&t->made[at].fields, &fields)) {
        t->made[at].desc = find_by_fields(t, fields);
        t->made[at].fields = fields;
    }
    return t->made[at].desc;
}

DescId desc_of_mnem(Tables *t, const Mnem *m, const char *shape)
{
    const char *why;
    return desc_intern(t, mnem_of_fields(t, m), shape, strlen(shape), &why);
}

uint32_t access_elements(const Mnem *m)
{
    Mod vec = (Mod)m->mod[MC_VEC];
    return vec == MOD_V2 ? 2 : vec == MOD_V4 ? 4 : vec == MOD_V8 ? 8 : 1;
}

// True if a space has this access (tried). Only global memory has hints, .mmio, .nc, ldu, vectors of atomics, and
// accesses of 256 bits. Constant and local memory have no volatile, atomic and ordered accesses.
static bool space_has(const Tables *t, Opcode op, const Mnem *m, Space space)
{
    bool atomic = op == OP_ATOM || op == OP_RED, weak = !m->mod[MC_SEM] || m->mod[MC_SEM] == MOD_WEAK;
    uint32_t n = access_elements(m), bits = width_bits(type_info[m->type[0]].width) * n;
    if (space != SP_SHARED && space != SP_CLUSTER && space != SP_LOCAL && space != SP_CONST)
        return true;
    if (op == OP_LDU || m->mod[MC_MMIO] || m->mod[MC_NC] || tab_str(t, m->suffix).len || bits > 128 ||
        (atomic && n > 1))
        return false;
    if (space == SP_SHARED || space == SP_CLUSTER)
        return true;
    return weak && (op == OP_LD || (op == OP_ST && space == SP_LOCAL));
}

static bool is_access(Opcode op) { return op == OP_LD || op == OP_LDU || op == OP_ST || op == OP_ATOM || op == OP_RED; }

DescId desc_with_space(Tables *t, DescId desc, Space space)
{
    const char *why;
    const Desc *d = tab_desc(t, desc);
    Opcode op = d->op;
    StrId shape = d->shape;
    Mnem m = *tab_mnem(t, d->mnem);
    if (op_info[op].ntypes == OP_RAW || !(op_info[op].mods >> MC_SPACE & 1) ||
        (is_access(op) && !space_has(t, op, &m, space)))
        return 0;
    m.mod[MC_SPACE] = (uint8_t)space_mod(space);
    DescId id = desc_intern(t, mnem_of_fields(t, &m), tab_str(t, shape).text, tab_str(t, shape).len, &why);
    return id && tab_desc(t, id)->op == op ? id : 0;
}

DescId desc_with_cmp(Tables *t, DescId desc, Mod cmp, Type type)
{
    StrId shape = tab_desc(t, desc)->shape;
    Mnem m = *tab_mnem(t, tab_desc(t, desc)->mnem);
    m.mod[MC_CMP] = (uint8_t)cmp;
    m.type[0] = (uint8_t)type;
    return require(t, mnem_of_fields(t, &m), tab_str(t, shape).text, tab_str(t, shape).len);
}

DescId desc_pragma(Tables *t, const char *text, size_t len)
{
    Text pragma = {.n = 0};
    put(&pragma, ".pragma ", 8);
    if (len >= TEXT_MAX - pragma.n)
        return 0;
    put(&pragma, text, len);
    return require(t, mnem_intern(t, pragma.buf, pragma.n), "", 0);
}

DescId desc_parse(Tables *t, const char *mnemonic, const char *shape)
{
    return require(t, mnem_intern(t, mnemonic, strlen(mnemonic)), shape, strlen(shape));
}

DescId desc_phi(Tables *t, uint32_t inputs)
{
    static const char input[] = {',', '%', ':', '%'};
    Arena scratch;
    arena_init(&scratch, t->arena->heap);
    size_t len = 1 + inputs * sizeof input;
    char *shape = arena_alloc(&scratch, len);
    shape[0] = '%';
    for (uint32_t k = 0; k < inputs; k++)
        memcpy(shape + 1 + k * sizeof input, input, sizeof input);
    const char *why;
    DescId id = desc_intern(t, mnem_intern(t, "mov.phi", 7), shape, len, &why);
    arena_free(&scratch);
    return id;
}
