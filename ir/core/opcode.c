// SPDX-License-Identifier: MIT
// The tables of types, modifiers, special registers and opcodes. Searches by text are linear, since each mnemonic is
// looked up only once.
#include "ir/core/ir.h"

const TypeInfo type_info[TYPE_COUNT] = {
    {"", W_NONE, TC_NONE},
#define TYPE(id, name, width, class) {name, width, TC_##class},
#include "ir/core/types.def"
#undef TYPE
};

static const struct {
    const char *text;
    ModCategory category;
} mod_info[MOD_COUNT] = {
    {"", MC_COUNT},
#define MOD(id, text, category) {text, MC_##category},
#include "ir/core/modifiers.def"
};

enum { PURE_SREG = 0, FRESH_SREG = 1 };
const SregInfo sreg_info[SREG_COUNT] = {
#define PURE PURE_SREG
#define FRESH FRESH_SREG
#define SREG(id, name, width, class) {name, sizeof(name) - 1, width, class, 0, 0},
#define SREG_IN(id, name, width, class, least, most) {name, sizeof(name) - 1, width, class, least, most},
#include "ir/core/sregs.def"
#undef PURE
#undef FRESH
};

const RangeInfo range_info[RANGE_COUNT] = {
    {0},
#define RANGE(id, letter, bits, least, most, step, text, reads, clamp, words) \
    {letter, bits, least, most, step, text, reads, clamp, words},
#include "ir/core/ranges.def"
};

const char *const reg_file_names[REG_FILES] = {"R", "UR", "P", "UP", "CC"};

// The words that opcodes.def uses.
#define T(id) ((uint64_t)1 << TY_##id)
#define B16T T(B16)
#define B32T T(B32)
#define B64T T(B64)
#define B128T T(B128)
#define U16T T(U16)
#define S16T T(S16)
#define U32T T(U32)
#define U64T T(U64)
#define F16T T(F16)
#define F32T T(F32)
#define F64T T(F64)
#define F16X2T T(F16X2)
#define BF16T T(BF16)
#define BF16X2T T(BF16X2)
#define U16X2T T(U16X2)
#define S16X2T T(S16X2)
#define E4M3X2T T(E4M3X2)
#define E5M2X2T T(E5M2X2)
#define PREDT T(PRED)
#define I16 (T(U16) | T(S16))
#define I32 (T(U32) | T(S32))
#define I64 (T(U64) | T(S64))
#define BITS (T(B16) | T(B32) | T(B64))
#define FLOATS (T(F16) | T(F16X2) | T(BF16) | T(BF16X2) | T(F32) | T(F64) | T(F32X2))
#define ARITH (I16 | I32 | I64 | FLOATS | U16X2T | S16X2T)
#define MOVABLE (BITS | B128T | I16 | I32 | I64 | T(F32) | T(F64) | PREDT)
#define MEMORY (T(B8) | T(U8) | T(S8) | BITS | B128T | I16 | I32 | I64 | T(F32) | T(F64))
#define ANY (~(uint64_t)0)
#define M(category) (1u << MC_##category)
#define HINT OP_HINT
#define RAW OP_RAW
#define PURE TR_PURE
#define COMM TR_COMM
#define ASSOC TR_ASSOC
#define READ TR_READ
#define WRITE TR_WRITE
#define BARRIER TR_BARRIER
#define CONV TR_CONV
#define TERM TR_TERM
#define TRAP TR_TRAP
#define NOFOLD TR_NOFOLD
#define EFFECT TR_EFFECT
#define ASYNC TR_ASYNC
#define NOGUARD TR_NOGUARD
#define MARKER TR_MARKER
#define PSEUDO TR_PSEUDO
#define BITWISE TR_BITWISE
#define EXEMPT TR_EXEMPT
#define NOCLOBBER TR_NOCLOBBER

const OpInfo op_info[OPCODE_COUNT] = {
#define OP(id, mnemonic, number, ntypes, types, mods, signature, traits, meaning) \
    {#id, mnemonic, number, ntypes, types, mods, signature, traits, meaning},
#include "ir/core/opcodes.def"
};

typedef struct Words {
    const char *name, *words;  // the words are separated by blanks
} Words;

static const Words known_words[] = {
#define WORDS(name, words) {name, words},
#include "ir/core/words.def"
};

static const char known_first_bytes[ARRAY_LEN(known_words)] = {
#define WORDS(name, words) name[0],
#include "ir/core/words.def"
};

static const Words moves[] = {
#define MOVES(name, words) {name, words},
#include "ir/core/opcodes.def"
};

static const struct {
    const char *text, *mnemonic;
} spellings[] = {
#define SPELLING(text, mnemonic) {text, mnemonic},
#include "ir/core/opcodes.def"
};

// True if the texts are equal; an empty text is in no table. Most entries differ in the first bytes.
static inline bool equals(const char *z, const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && z[n] == text[n])
        n++;
    return n && n == len && !z[n];
}

Type type_find(const char *text, size_t len)
{
    for (Type t = TY_NONE + 1; t < TYPE_COUNT; t++)
        if (equals(type_info[t].name, text, len))
            return t;
    return TY_NONE;
}

Type type_make(TypeClass class, Width width)
{
    static const uint8_t types[][WIDTH_COUNT] = {
        [TC_P] = {[W1] = TY_PRED},
        [TC_B] = {[W1] = TY_PRED, [W8] = TY_B8, [W16] = TY_B16, [W32] = TY_B32, [W64] = TY_B64, [W128] = TY_B128},
        [TC_U] = {[W8] = TY_U8, [W16] = TY_U16, [W32] = TY_U32, [W64] = TY_U64},
        [TC_S] = {[W8] = TY_S8, [W16] = TY_S16, [W32] = TY_S32, [W64] = TY_S64},
        [TC_F] = {[W16] = TY_F16, [W32] = TY_F32, [W64] = TY_F64},
    };
    return class < ARRAY_LEN(types) ? (Type)types[class][width] : TY_NONE;
}

Mod mod_find(const char *text, size_t len, uint32_t categories)
{
    for (Mod m = MOD_NONE + 1; m < MOD_COUNT; m++)
        if (categories >> mod_info[m].category & 1 && equals(mod_info[m].text, text, len))
            return m;
    return MOD_NONE;
}

ModCategory mod_category(Mod mod) { return mod_info[mod].category; }

const char *mod_text(Mod mod) { return mod_info[mod].text; }

Mod space_mod(Space space)
{
    switch (space) {
    case SP_GLOBAL: return MOD_GLOBAL;
    case SP_CONST: return MOD_CONST;
    case SP_SHARED: return MOD_SHARED;
    case SP_CLUSTER: return MOD_SHARED_CLUSTER;
    case SP_LOCAL: return MOD_LOCAL;
    case SP_PARAM: return MOD_PARAM;
    default: return MOD_NONE;
    }
}

Space mod_space(Mod mod)
{
    switch (mod) {
    case MOD_GLOBAL: return SP_GLOBAL;
    case MOD_CONST: return SP_CONST;
    case MOD_SHARED:
    case MOD_SHARED_CTA: return SP_SHARED;
    case MOD_SHARED_CLUSTER: return SP_CLUSTER;
    case MOD_LOCAL: return SP_LOCAL;
    case MOD_PARAM:
    case MOD_PARAM_ENTRY:
    case MOD_PARAM_FUNC: return SP_PARAM;
    default: return SP_GENERIC;
    }
}

bool space_contains(Space outer, Space inner) { return outer == inner || (outer == SP_CLUSTER && inner == SP_SHARED); }

// The first bytes of the mnemonics, by opcode.
static const char first_bytes[OPCODE_COUNT] = {
#define OP(id, mnemonic, number, ntypes, types, mods, signature, traits, meaning) mnemonic[0],
#include "ir/core/opcodes.def"
};

// Returns the first index from `k` on with this byte, n if there is none. Most names differ in the first byte.
static size_t next_with_byte(const char *bytes, size_t n, size_t k, char byte)
{
    const char *at = k < n ? memchr(bytes + k, byte, n - k) : NULL;
    return at ? (size_t)(at - bytes) : n;
}

Opcode op_find_prefix(const char *text, size_t len, size_t *found)
{
    Opcode best = OPCODE_COUNT;
    const char *mnemonic = NULL;
    size_t longest = 0, n;
    for (size_t k = 0; k < ARRAY_LEN(spellings); k++) {
        if ((n = op_name_length(spellings[k].text, text, len)) > longest) {
            longest = n;
            mnemonic = spellings[k].mnemonic;
        }
    }
    size_t op = len ? next_with_byte(first_bytes, OPCODE_COUNT, OP_OPAQUE + 1, *text) : OPCODE_COUNT;
    for (; op < OPCODE_COUNT; op = next_with_byte(first_bytes, OPCODE_COUNT, op + 1, *text)) {
        if ((n = op_name_length(op_info[op].mnemonic, text, len)) > longest) {
            longest = n;
            best = (Opcode)op;
        }
    }
    *found = longest;
    return best == OPCODE_COUNT && mnemonic ? op_find(mnemonic, strlen(mnemonic)) : best;
}

Opcode op_find(const char *text, size_t len)
{
    size_t found;
    Opcode op = op_find_prefix(text, len, &found);
    return found == len ? op : OPCODE_COUNT;
}

/* -- Words of a mnemonic -------------------------------------------------------------------------------- */

bool op_family_known(const char *base, size_t len)
{
    for (size_t k = 0; k < ARRAY_LEN(known_words); k++)
        if (len && strncmp(known_words[k].name, base, len) == 0 && memchr(".", known_words[k].name[len], 2))
            return true;
    return false;
}

// Replaces *best, with *longest bytes, if the entry's name is a longer run of first words of a text.
static void take_longer(const Words *entry, const char *text, size_t len, const Words **best, size_t *longest)
{
    size_t found = *entry->name == *text ? op_name_length(entry->name, text, len) : 0;
    if (found > *longest) {
        *longest = found;
        *best = entry;
    }
}

// Returns the entry of words.def whose name is the longest run of first words of a text, and its length; NULL if there
// is none.
static const Words *find_known_words(const char *text, size_t len, size_t *longest)
{
    enum { N = ARRAY_LEN(known_words) };
    const Words *best = NULL;
    *longest = 0;
    size_t k = len ? next_with_byte(known_first_bytes, N, 0, *text) : N;
    for (; k < N; k = next_with_byte(known_first_bytes, N, k + 1, *text))
        take_longer(&known_words[k], text, len, &best, longest);
    return best;
}

// Advances *words past the next word of a list. Returns the word, empty at the end.
static Str next_word(const char **words)
{
    Str word = {.text = *words += strspn(*words, " ")};
    word.len = (uint32_t)strcspn(*words, " ");
    *words += word.len;
    return word;
}

// Returns the part of a mnemonic after the dot at `at`.
static Str part_at(const char *text, size_t len, size_t at)
{
    const char *part = text + at + 1, *dot = memchr(part, '.', len - at - 1);
    return (Str){.text = part, .len = (uint32_t)((dot ? dot : text + len) - part)};
}

// Returns the offset of the dot before the part that is this word, from `at` on; `len` if there is none.
static size_t find_part(const char *text, size_t len, size_t at, Str word)
{
    while (at < len) {
        Str part = part_at(text, len, at);
        if (part.len == word.len && memcmp(part.text, word.text, word.len) == 0)
            break;
        at += 1 + part.len;
    }
    return at;
}

void op_gather_words(const char *text, size_t len, char *out)
{
    size_t place = 0;
    const Words *row = NULL;
    for (size_t k = 0; k < ARRAY_LEN(moves); k++)
        take_longer(&moves[k], text, len, &row, &place);
    memcpy(out, text, len);
    if (!row)
        return;
    const char *words = row->words;
    for (Str word; (word = next_word(&words)).len;) {
        size_t at = find_part(out, len, place, word);
        if (at == len)
            continue;
        memmove(out + place + 1 + word.len, out + place, at - place);
        out[place] = '.';
        memcpy(out + place + 1, word.text, word.len);
        place += 1 + word.len;
    }
}

// True if the part is in a list of words. A word that ends in `*` stands for all with this beginning.
static bool has_word(const char *words, Str part)
{
    for (const char *word = words; *word;) {
        size_t n = 0;
        while (n < part.len && word[n] == part.text[n])
            n++;
        if (word[n] == '*' || (n && n == part.len && (word[n] == ' ' || !word[n])))
            return true;
        for (word += n; *word && *word != ' ';)
            word++;
        word += *word == ' ';
    }
    return false;
}

// Returns the length of the first words that a text has in common with a name.
static size_t common_length(const char *text, size_t len, const char *name)
{
    size_t common = 0;
    for (size_t n = 0; n <= len; n++) {
        bool end = n == len || text[n] == '.', name_end = !name[n] || name[n] == '.';
        if (end && name_end)
            common = n;
        if (n == len || !name[n] || text[n] != name[n])
            break;
    }
    return common;
}

// Returns the offset after the name of the instruction in a mnemonic whose words are gathered, and the words that may
// follow. *words is NULL if no name is known; the result is then the length of the first words that a name has.
static size_t name_end(const char *text, size_t len, const char **words)
{
    size_t found, row_end, again, common = 0;
    const Words *row = find_known_words(text, len, &found);
    Opcode op = op_find_prefix(text, len, &row_end);
    if (op < OPCODE_COUNT && row_end > found) {  // a spelling, or an opcode with a word more
        const char *name = op_info[op].mnemonic;
        const Words *of_opcode = find_known_words(name, strlen(name), &again);
        if (of_opcode && again == strlen(name)) {
            row = of_opcode;
            found = row_end;
        }
    }
    *words = row ? row->words : NULL;
    for (size_t k = 0; !row && k < ARRAY_LEN(known_words); k++)
        common = MAX(common, common_length(text, len, known_words[k].name));
    return row ? found : common;
}

Str op_unknown_word(const char *text, size_t len)
{
    enum { LONGEST = 512 };
    char gathered[LONGEST];
    const char *words;
    if (len > LONGEST)
        return (Str){.text = text, .len = (uint32_t)len};
    op_gather_words(text, len, gathered);
    size_t at = name_end(gathered, len, &words);
    while (at < len) {
        Str part = part_at(gathered, len, at);
        if (!words || !has_word(words, part)) {
            size_t dot = find_part(text, len, strcspn(text, "."), part);
            return (Str){.text = text + dot + 1, .len = part.len};
        }
        at += 1 + part.len;
    }
    return (Str){.text = text, .len = words ? 0 : (uint32_t)len};
}

bool op_name_possible(const char *base, size_t len)
{
    for (size_t k = 0; k < len; k++) {
        bool digit = base[k] >= '0' && base[k] <= '9';
        if (!(base[k] >= 'a' && base[k] <= 'z') && base[k] != '_' && !(digit && k))
            return false;
    }
    return true;
}

int sreg_find(const char *text, size_t len)
{
    for (uint32_t k = 0; k < SREG_COUNT; k++)
        if (sreg_info[k].len == len && memcmp(sreg_info[k].name, text, len) == 0)
            return (int)k;
    return -1;
}
