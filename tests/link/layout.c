// SPDX-License-Identifier: MIT
// link-layout [RUNS [SEED]]: tests the documented layout of constants in orilink: the hash table, the validation of
// overlaps, the deduplication and the pre-pass "optimize space", alone and RUNS times (default 100000) against slow
// models. Ends in `N passed, N failed`.
//
// link-layout --dedup=SHAPE N: deduplicates N constants of one section, for make bench. SHAPE is
//   distinct   random constants of 4, 8 and 16 bytes, of which each is distinct
//   class      distinct constants of 16 bytes: one size class
//   doubles    1.0 to N, which have few bits of mantissa: one bucket of the documented hash
//   equal      doubles, of which 1,000 are distinct
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/link/random.h"
#include "tools/orilink/dedup.h"
#include "tools/orilink/space.h"

static int passed, failed;

static void check(bool ok, const char *what, const char *got)
{
    passed += ok;
    failed += !ok;
    if (!ok && failed < 20)
        printf("FAIL layout: %s: %s\n", what, got);
}

/* -- Maps of values -------------------------------------------------------------------------------------- */

static uint32_t chain_length(const ValueMap *map, uint32_t bucket)
{
    uint32_t n = 0;
    while (map->buckets[bucket] && map->buckets[bucket][1 + n] != UINT32_MAX)
        n++;
    return n;
}

static uint32_t double_hash(uint64_t key) { return value_hash_identity(key * 2); }

static void check_value_maps(Arena *arena)
{
    ValueMap map;
    value_map_init(&map, arena, value_hash_identity, value_equal_4, 256);
    check(map.mode == VALUE_MAP_IDENTITY && map.bucket_mask == 255 && map.load_limit == 1024, "map",
          "numbers of hint 256");
    value_map_init(&map, arena, value_hash_shift_xor, value_equal_8, 257);
    check(map.mode == VALUE_MAP_SHIFT_XOR && map.bucket_mask == 511 && map.load_limit == 2048, "map",
          "numbers of hint 257");
    value_map_init(&map, arena, value_hash_shift_xor, value_equal_4, 256);
    check(map.mode == VALUE_MAP_FUNCTIONS, "map", "an unknown pair of functions has a mode");
    check(value_hash_shift_xor(0x3ff0000000000000) == 0 && value_hash_shift_xor(0xfff) == (1 ^ 0xf ^ 0x7f), "map",
          "hash");
    check(value_hash_fold(0x100000003) == 2, "map", "fold");

    // The doubles 1.0 to 1000.0 have one bucket.
    value_map_init(&map, arena, value_hash_shift_xor, value_equal_8, 256);
    for (uint64_t k = 1; k <= 1000; k++) {
        double x = (double)k;
        uint64_t key;
        memcpy(&key, &x, sizeof key);
        check(value_map_insert(&map, key, k) == 0, "map", "a new key has a value");
    }
    check(chain_length(&map, 0) == 1000 && map.entry_count == 1000, "map", "doubles have several buckets");
    check(map.buckets[0][0] == 1534, "map", "capacities of chains: 1, 4, 10, 22, ...");

    // A table doubles its buckets behind its limit, and keeps the entries.
    value_map_init(&map, arena, value_hash_identity, value_equal_4, 256);
    for (uint32_t k = 1; k <= 1024; k++)
        value_map_insert(&map, k, k + 5);
    check(map.bucket_mask == 255, "map", "it grows at its limit");
    check(map.xor_checksum == 1024, "map", "checksum");
    value_map_insert(&map, 1025, 1030);
    check(map.bucket_mask == 511 && map.load_limit == 2048, "map", "it does not grow behind its limit");
    bool ok = true;
    for (uint32_t k = 1; k <= 1025; k++)
        ok &= value_map_find(&map, k) == k + 5;
    check(ok && !value_map_find(&map, 0) && !value_map_find(&map, 1026), "map", "keys after growth");
    check(value_map_insert(&map, 7, 99) == 12 && value_map_find(&map, 7) == 99, "map", "a known key has another value");
    check(map.entry_count == 1025, "map", "a known key is a new entry");

    // Equal hashes of different keys, by functions.
    value_map_init(&map, arena, double_hash, value_equal_8, 4);
    for (uint64_t k = 1; k <= 100; k++)
        value_map_insert(&map, k << 31, k);
    for (uint64_t k = 1; k <= 100; k++)
        ok &= value_map_find(&map, k << 31) == k;
    check(ok, "map", "keys with equal hashes");
}

/* -- Overlaps -------------------------------------------------------------------------------------------- */

// Inserts bytes of a text at an offset.
static Overlap insert(DataSection *s, Arena *arena, const char *text, uint64_t offset, uint32_t symbol)
{
    return data_insert(s, arena, (DataRecord){(const uint8_t *)text, offset, 1, strlen(text), symbol}, NULL);
}

static void check_overlaps(Arena *arena)
{
    DataSection s = {.index = 7};
    char log[400] = "", buf[400];
    TextBuffer text = {.arena = arena};
    Out out = {.write = out_to_text, .user = &text, .buf = buf, .cap = sizeof buf};
    check(insert(&s, arena, "abcdef", 10, 1) == OVERLAP_NONE && s.size == 16, "overlap", "a first record");
    check(insert(&s, arena, "cd", 12, 2) == OVERLAP_MERGED && s.records.n == 1, "overlap", "case 1: inside");
    check(insert(&s, arena, "cx", 12, 3) == OVERLAP_DIFFERS, "overlap", "case 1: other bytes");
    check(insert(&s, arena, "efg", 14, 3) == OVERLAP_SPANS && s.size == 16, "overlap", "case 1: past the end");
    check(insert(&s, arena, "abc", 10, 4) == OVERLAP_MERGED, "overlap", "case 2a: a prefix");
    check(insert(&s, arena, "abx", 10, 4) == OVERLAP_DIFFERS, "overlap", "case 2a: another prefix");
    check(insert(&s, arena, "xyz", 20, 5) == OVERLAP_NONE && s.size == 23, "overlap", "a second record");
    check(insert(&s, arena, "abcdef....xyz", 10, 6) == OVERLAP_MERGED && s.records.n == 1, "overlap", "case 2b: both");
    check(s.merged.n == 4 && s.merged.at[3].symbol == 5 && s.merged.at[3].into == 6, "overlap", "merged symbols");
    check(insert(&s, arena, "ab", 9, 7) == OVERLAP_SPANS, "overlap", "from the front into a record");
    check(insert(&s, arena, "zzabcdef....xyz", 8, 8) == OVERLAP_MERGED && s.records.n == 1, "overlap",
          "case 3: a suffix");
    check(insert(&s, arena, "1", RECORD_APPEND, 9) == OVERLAP_NONE && s.records.at[1].offset == 23, "overlap",
          "append");
    check(insert(&s, arena, "", 12, 10) == OVERLAP_NONE || s.records.n == 2, "overlap", "an empty record");
    s = (DataSection){.index = 7};
    insert(&s, arena, "ab", 0, 1);
    insert(&s, arena, "cd", 4, 2);
    check(insert(&s, arena, "abxxcdxxef", 0, 3) == OVERLAP_MERGED, "overlap", "two records and more behind");
    data_insert(&s, arena, (DataRecord){(const uint8_t *)"xxefgh", 6, 1, 6, 4}, &out);
    data_insert(&s, arena, (DataRecord){(const uint8_t *)"ab", 0, 1, 2, 5}, &out);
    out_flush(&out);
    snprintf(log, sizeof log, "%.*s", (int)text.n, text.at);
    check(strcmp(log, "offset 6 (sym 4) overlaps in section 7\noffset 0 (sym 5) overlaps in section 7\n") == 0,
          "overlap", log);
    DataRecord fill = {(const uint8_t *)"a", 0, 1, 1, 0};
    data_fill(&fill, arena);
    check(fill.size == 128 && memcmp(fill.bytes, "a\1\x2d\0\4\xf8\0\0\0\1\x2d", 11) == 0, "overlap",
          "the fill pattern");
}

/* -- Overlaps against a model ---------------------------------------------------------------------------- */

enum { SPACE = 24 };

// Inserts by the three invariants, byte by byte. Sets the owner of each byte to the symbol.
static Overlap model_insert(uint8_t *bytes, uint32_t *owner, const uint8_t *data, uint32_t offset, uint32_t n,
                            uint32_t symbol)
{
    bool differs = false, spans = false, inside = false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t other = owner[offset + k], first = offset + k, end = first;
        if (!other)
            continue;
        while (first > 0 && owner[first - 1] == other)
            first--;
        while (end < SPACE && owner[end] == other)
            end++;
        inside |= first <= offset && end >= offset + n;
        spans |= !(first <= offset && end >= offset + n) && !(first >= offset && end <= offset + n);
        differs |= bytes[offset + k] != data[k];
    }
    if (spans || differs)
        return spans ? OVERLAP_SPANS : OVERLAP_DIFFERS;
    bool merged = false;
    for (uint32_t k = 0; k < n; k++) {
        merged |= owner[offset + k] != 0;
        bytes[offset + k] = data[k];
        if (!inside)
            owner[offset + k] = symbol;
    }
    return merged ? OVERLAP_MERGED : OVERLAP_NONE;
}

// The results of random runs, and the cases of overlaps among them.
static struct {
    uint32_t results[OVERLAP_NO_TAIL];
    uint32_t inside, prefix, larger, suffix;
} seen;

static void count_overlap(const DataSection *s, uint32_t offset, uint32_t n, Overlap got)
{
    seen.results[got]++;
    for (uint32_t k = 0; k < s->records.n && got == OVERLAP_MERGED; k++) {
        const DataRecord *d = &s->records.at[k];
        seen.inside += d->offset < offset && offset + n < d->offset + d->size;
        seen.prefix += d->offset == offset && n < d->size;
        seen.larger += d->offset == offset && n > d->size;
        seen.suffix += d->offset > offset && offset + n == d->offset + d->size;
    }
}

static void check_seen(void)
{
    for (uint32_t k = 0; k < ARRAY_LEN(seen.results); k++)
        check(seen.results[k], "overlap", "a result does not occur in random runs");
    check(seen.inside && seen.prefix && seen.larger && seen.suffix, "overlap", "a case does not occur in random runs");
}

static void check_random_overlap(Random *r, Arena *arena)
{
    static const uint8_t text[SPACE + 1] = "abababababababababababab";
    DataSection s = {.index = 1};
    uint8_t bytes[SPACE] = {0};
    uint32_t owner[SPACE] = {0};
    bool ok = true;
    for (uint32_t symbol = 1; symbol < 12; symbol++) {
        uint32_t offset = random_below(r, SPACE - 1), n = 1 + random_below(r, MIN(SPACE - offset, 9));
        uint8_t *data = arena_alloc(arena, n);
        memcpy(data, text + offset, n);
        if (!random_below(r, 6))
            data[random_below(r, n)] = 'c';
        Overlap expected = model_insert(bytes, owner, data, offset, n, symbol);
        DataSection before = {.size = s.size};
        for (uint32_t k = 0; k < s.records.n; k++)
            VEC_PUSH(arena, &before.records, s.records.at[k]);
        Overlap got = data_insert(&s, arena, (DataRecord){data, offset, 1, n, symbol}, NULL);
        count_overlap(&before, offset, n, got);
        bool both_errors = got >= OVERLAP_SPANS && expected >= OVERLAP_SPANS;  // the first one found
        ok &= got == expected || both_errors;
    }
    for (uint32_t k = 0; k < s.records.n; k++) {
        const DataRecord *d = &s.records.at[k];
        ok &= !k || s.records.at[k - 1].offset + s.records.at[k - 1].size <= d->offset;
        for (uint64_t i = 0; i < d->size; i++)
            ok &= owner[d->offset + i] == d->symbol && bytes[d->offset + i] == d->bytes[i];
    }
    check(ok, "overlap", "another result than the model");
}

/* -- Deduplication --------------------------------------------------------------------------------------- */

// Adds a constant to a section, behind the others.
static void add(DataSection *s, Arena *arena, DataSymbol *symbols, uint32_t symbol, const char *name, const void *bytes,
                uint32_t size, uint32_t align)
{
    data_insert(s, arena, (DataRecord){bytes, RECORD_APPEND, align, size, symbol}, NULL);
    symbols[symbol] = (DataSymbol){.name = name, .entry = "kernel", .place = s->records.at[s->records.n - 1].offset};
}

static void check_dedup(Arena *arena)
{
    static const uint8_t c1[] = {0xc3, 0xf5, 0x48, 0x40}, c2[] = {0xa4, 0x70, 0x2d, 0x40}, zero[64];
    static const uint8_t c4[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, twelve[] = "twelve bytes",
                         pair[] = {0xc3, 0xf5, 0x48, 0x40, 0xc3, 0xf5, 0x48, 0x40};
    DataSymbol symbols[20];
    DataSection a = {.index = 1}, b = {.index = 2}, c = {.index = 3};
    Dedup d;
    char buf[400], log[600];
    TextBuffer text = {.arena = arena};
    Out out = {.write = out_to_text, .user = &text, .buf = buf, .cap = sizeof buf};
    add(&a, arena, symbols, 1, "c1", c1, 4, 4);
    add(&a, arena, symbols, 2, "c2", c2, 4, 4);
    add(&b, arena, symbols, 3, "c3", c1, 4, 4);
    add(&b, arena, symbols, 4, "c4", c4, 8, 8);
    DataReloc relocs[] = {{10, false}, {0, false}, {16, false}};
    dedup_init(&d, arena, symbols, false, &out);
    dedup_section(&d, &a, NULL, 0);
    dedup_section(&d, &b, relocs, 3);
    check(symbols[1].place == 0 && symbols[2].place == 4 && symbols[3].place == 0 && symbols[4].place == 8 &&
              d.target.size == 16,
          "dedup", "the worked example");
    check(relocs[0].place == 10 && relocs[0].moved && relocs[1].place == 0 && relocs[1].moved, "dedup", "relocations");
    check(!relocs[2].moved, "dedup", "a relocation behind the last constant moved");
    out_flush(&out);
    snprintf(log, sizeof log, "%.*s", (int)text.n, text.at);
    check(strcmp(log, "found duplicate value 0x4048f5c3, alias c3 to c1\n"
                      "optimize ocg constant reloc offset from 0 to 0\n"
                      "optimize ocg constant reloc offset from 10 to 10\n") == 0,
          "dedup", log);
    // Equal bytes of other sizes and alignments, and zeros.
    add(&c, arena, symbols, 5, "pair", pair, 8, 8);
    add(&c, arena, symbols, 6, "t1", twelve, 12, 4);
    add(&c, arena, symbols, 7, "t2", twelve, 12, 16);
    add(&c, arena, symbols, 8, "t3", twelve, 12, 4);
    add(&c, arena, symbols, 9, "z1", zero, 4, 4);
    add(&c, arena, symbols, 10, "z2", zero, 4, 4);
    add(&c, arena, symbols, 11, "z3", zero, 8, 8);
    add(&c, arena, symbols, 12, "z4", zero, 16, 4);
    add(&c, arena, symbols, 13, "z5", zero, 16, 4);
    add(&c, arena, symbols, 14, "strict", c2, 4, 8);
    add(&c, arena, symbols, 15, "odd", twelve, 7, 1);
    add(&c, arena, symbols, 16, "odd again", twelve, 7, 1);
    d.verbose = NULL;
    dedup_section(&d, &c, NULL, 0);
    check(symbols[5].place != symbols[1].place, "dedup", "8 bytes are a duplicate of 4");
    check(symbols[6].place == symbols[8].place && symbols[6].place != symbols[7].place, "dedup",
          "alignments of 12 bytes");
    check(symbols[9].place == symbols[10].place && symbols[9].place != symbols[11].place, "dedup", "zeros of an entry");
    check(symbols[12].place == symbols[13].place, "dedup", "zeros of 16 bytes");
    check(symbols[14].place % 8 == 0 && symbols[14].place != symbols[2].place, "dedup", "a stricter alignment");
    check(symbols[15].place != symbols[16].place, "dedup", "7 bytes have a class");
    // Merge mode: zeros and constants that code reaches have places of their own.
    DataSection m = {.index = 4};
    add(&m, arena, symbols, 1, "a", c1, 4, 4);
    add(&m, arena, symbols, 2, "b", c1, 4, 4);
    add(&m, arena, symbols, 3, "c", c1, 4, 4);
    add(&m, arena, symbols, 4, "z1", zero, 4, 4);
    add(&m, arena, symbols, 5, "z2", zero, 4, 4);
    symbols[3].is_reached = true;
    dedup_init(&d, arena, symbols, true, NULL);
    dedup_section(&d, &m, NULL, 0);
    check(symbols[1].place == symbols[2].place && symbols[3].place != symbols[1].place, "dedup", "merge mode: reached");
    check(symbols[4].place != symbols[5].place, "dedup", "merge mode: zeros");
}

/* -- Deduplication against a model ----------------------------------------------------------------------- */

static bool is_class(uint32_t size) { return size && strchr("\4\10\14\20\24\30\40\60\100", (int)size); }

// Deduplicates random constants. Each place has the constant's bytes, aligned; a constant has the place of an earlier
// one exactly if the rules say so.
static void check_random_dedup(Random *r, Arena *arena)
{
    enum { COUNT = 24 };
    static const uint8_t sizes[] = {4, 4, 8, 8, 12, 16, 20, 24, 32, 48, 64, 5, 40};
    DataSymbol symbols[COUNT + 1];
    DataSection s = {.index = 1};
    Dedup d;
    bool merges = random_below(r, 2), ok = true;
    for (uint32_t k = 1; k <= COUNT; k++) {
        uint32_t size = sizes[random_below(r, sizeof sizes)], align = 1u << random_below(r, 5);
        uint8_t *bytes = arena_alloc(arena, size);
        memset(bytes, (int)random_below(r, 3), size);
        add(&s, arena, symbols, k, "c", bytes, size, align);
        symbols[k].entry = random_below(r, 2) ? "one" : "two";
        symbols[k].is_reached = random_below(r, 3) == 0;
    }
    DataReloc relocs[COUNT];
    uint32_t of[COUNT];
    uint64_t within[COUNT];
    for (uint32_t k = 0; k < COUNT; k++) {
        of[k] = random_below(r, COUNT);
        within[k] = random_below(r, (uint32_t)s.records.at[of[k]].size);
        relocs[k] = (DataReloc){s.records.at[of[k]].offset + within[k], false};
    }
    dedup_init(&d, arena, symbols, merges, NULL);
    dedup_section(&d, &s, relocs, COUNT);
    for (uint32_t k = 0; k < COUNT; k++)
        ok &= relocs[k].moved && relocs[k].place == symbols[of[k] + 1].place + within[k];
    uint8_t *out = arena_alloc(arena, d.target.size + 1);
    memset(out, 0xee, d.target.size + 1);
    for (uint32_t k = 0; k < d.target.records.n; k++)
        memcpy(out + d.target.records.at[k].offset, d.target.records.at[k].bytes, d.target.records.at[k].size);
    for (uint32_t k = 0; k < COUNT; k++) {
        const DataRecord *x = &s.records.at[k];
        bool zero = !x->bytes[0], shares = false,
             own = !is_class((uint32_t)x->size) || (merges && symbols[k + 1].is_reached);
        ok &= symbols[k + 1].place % x->align == 0 && memcmp(out + symbols[k + 1].place, x->bytes, x->size) == 0;
        for (uint32_t i = 0; i < k; i++)
            shares |= symbols[i + 1].place == symbols[k + 1].place;
        ok &= !shares || !(own || (merges && zero && x->size <= 8));
        for (uint32_t i = 0; i < k && !own; i++) {
            const DataRecord *y = &s.records.at[i];
            bool other_own = merges && symbols[i + 1].is_reached;
            bool equal = x->size == y->size && x->align == y->align && x->bytes[0] == y->bytes[0] && !other_own;
            bool may = x->size > 8 || !zero || (!merges && strcmp(symbols[i + 1].entry, symbols[k + 1].entry) == 0);
            ok &= !(equal && may) || shares;
        }
    }
    check(ok, "dedup", "another result than the rules");
}

/* -- The pre-pass ---------------------------------------------------------------------------------------- */

// True if laying out a record without alignment is an internal error with the documented text.
static bool needs_alignment(DataSection *s, Arena *arena)
{
    jmp_buf *old = arena->heap->unwind, unwind;
    arena->heap->unwind = &unwind;
    volatile bool failed = true;
    if (!setjmp(unwind)) {
        data_layout(s, arena, false);
        failed = false;
    }
    arena->heap->unwind = old;
    return failed && arena->heap->status == ST_INTERNAL &&
           strcmp(arena->heap->message, "should only reach here with no opt") == 0;
}

static void check_space(Arena *arena)
{
    DataSymbol symbols[9];
    DataSection s = {.index = 7};
    char buf[400], log[900];
    TextBuffer text = {.arena = arena};
    Out out = {.write = out_to_text, .user = &text, .buf = buf, .cap = sizeof buf};
    add(&s, arena, symbols, 1, "one", "1", 1, 1);
    add(&s, arena, symbols, 2, "unused", "2222", 4, 4);
    add(&s, arena, symbols, 3, "eight", "33333333", 8, 8);
    add(&s, arena, symbols, 4, "local", "4444", 4, 4);
    add(&s, arena, symbols, 5, "no_alignment", "555555", 6, 0);
    for (uint32_t k = 1; k <= 5; k++)
        symbols[k].is_reached = k != 2;
    symbols[4].is_local = true;
    // A relocation of each constant, and one behind all.
    DataReloc relocs[] = {{0, false}, {6, false}, {12, false}, {16, false}, {22, false}, {26, false}};
    check(!data_optimize_space(&s, arena, ".nv.constant3", symbols, relocs, 6, &out), "space", "an anonymous place");
    check(s.records.n == 5 && s.size == 26 && !relocs[2].moved && !symbols[2].is_hidden, "space", "it stays");
    check(data_optimize_space(&s, arena, ".nv.constant3", symbols, relocs, 5, &out), "space", "the pre-pass");
    check(symbols[3].place == 0 && symbols[4].place == 8 && symbols[5].place == 12 && symbols[1].place == 18 &&
              s.size == 19 && s.records.n == 4,
          "space", "places");
    check(relocs[2].place == 4 && relocs[2].moved && !relocs[1].moved && relocs[3].place == 8, "space", "relocations");
    check(symbols[2].is_hidden && !symbols[1].is_hidden, "space", "hidden symbols");
    out_flush(&out);
    snprintf(log, sizeof log, "%.*s", (int)text.n, text.at);
    check(strcmp(log, "optimize space in .nv.constant3 (7)\n"
                      "no symbol for reloc section 7 at offset 26?\n"
                      "optimize space in .nv.constant3 (7)\n"
                      "local constant local at offset 16\n"
                      "constant one at offset 0\n"
                      "remove unused constant unused\n"
                      "constant eight at offset 8\n"
                      "constant no_alignment at offset 20\n"
                      "change reloc in section 7, offset from 0 to 18\n"
                      "no symbol for reloc section 7 at offset 6?\n"
                      "change reloc in section 7, offset from 12 to 4\n"
                      "change reloc in section 7, offset from 16 to 8\n"
                      "change reloc in section 7, offset from 22 to 14\n") == 0,
          "space", log);
    // Only without optimization may a record have no alignment; the order stays then.
    DataSection m = {.index = 8};
    add(&m, arena, symbols, 1, "one", "1", 1, 1);
    add(&m, arena, symbols, 2, "eight", "22222222", 8, 8);
    add(&m, arena, symbols, 3, "none", "333", 3, 0);
    data_layout(&m, arena, true);
    check(m.records.at[1].offset == 8 && m.records.at[2].offset == 16 && m.size == 19, "space", "no opt: the order");
    check(needs_alignment(&m, arena), "space", "a record has no alignment");
    // By falling alignment, these would take 28 bytes.
    DataSection t = {.index = 10};
    add(&t, arena, symbols, 1, "twelve", "111122223333", 12, 8);
    add(&t, arena, symbols, 2, "four", "4444", 4, 4);
    add(&t, arena, symbols, 3, "eight", "55555555", 8, 8);
    for (uint32_t k = 1; k <= 3; k++)
        symbols[k].is_reached = true;
    check(data_optimize_space(&t, arena, "", symbols, NULL, 0, NULL) && t.size == 24 && symbols[3].place == 16, "space",
          "the old order is smaller");
    // An append requires the last record.
    m = (DataSection){.index = 9, .size = 8};
    Overlap tail = insert(&m, arena, "x", RECORD_APPEND, 1);
    check(tail == OVERLAP_NO_TAIL && strcmp(overlap_text(tail), "tail data node not found") == 0, "space",
          "an append without a last record");
}

// Runs the pre-pass on random constants: what is reached has its bytes at an aligned place, places are disjoint, and
// relocations have moved with their bytes.
static void check_random_space(Random *r, Arena *arena)
{
    enum { COUNT = 12 };
    DataSymbol symbols[COUNT + 1];
    DataReloc relocs[COUNT];
    uint64_t from[COUNT], old[COUNT + 1];
    uint32_t of[COUNT], sizes[COUNT + 1], aligns[COUNT + 1];
    DataSection s = {.index = 1};
    bool used[600] = {false}, ok = true;
    for (uint32_t k = 1; k <= COUNT; k++) {
        sizes[k] = 1 + random_below(r, 20);
        aligns[k] = random_below(r, 5) ? 1u << random_below(r, 5) : 0;
        add(&s, arena, symbols, k, "c", arena_alloc(arena, sizes[k]), sizes[k], aligns[k]);
        old[k] = symbols[k].place;
        symbols[k].is_reached = random_below(r, 3);
        symbols[k].is_local = random_below(r, 2);
    }
    for (uint32_t k = 0; k < COUNT; k++) {
        of[k] = 1 + random_below(r, COUNT);
        from[k] = old[of[k]] + random_below(r, sizes[of[k]]);
        relocs[k] = (DataReloc){from[k], false};
    }
    ok &= data_optimize_space(&s, arena, "", symbols, relocs, COUNT, NULL);
    for (uint32_t k = 1; k <= COUNT; k++) {
        ok &= symbols[k].is_hidden != symbols[k].is_reached;
        ok &= symbols[k].is_hidden ||
              (symbols[k].place + sizes[k] <= s.size && symbols[k].place % MAX(aligns[k], 1) == 0);
        for (uint32_t i = 0; i < sizes[k] && ok && symbols[k].is_reached; i++) {
            ok &= !used[symbols[k].place + i];
            used[symbols[k].place + i] = true;
        }
    }
    for (uint32_t k = 0; k < COUNT; k++)
        ok &= relocs[k].moved == symbols[of[k]].is_reached &&
              (!relocs[k].moved || relocs[k].place - symbols[of[k]].place == from[k] - old[of[k]]);
    check(ok, "space", "another result than the rules");
}

/* -- Cost ------------------------------------------------------------------------------------------------ */

// Makes constant `k` of a shape. Returns its size; 0: the shape is unknown.
static uint32_t make_constant(const char *shape, uint32_t k, Random *r, uint8_t bytes[static 16])
{
    uint64_t low = (uint64_t)random_next(r) << 32 | (k + 1), high = random_next(r);
    double x = strcmp(shape, "equal") == 0 ? k % 1000 + 1.0 : k + 1.0;
    memcpy(bytes, &low, 8);
    memcpy(bytes + 8, &high, 8);
    if (strcmp(shape, "distinct") == 0)
        return k % 3 == 0 ? 4 : k % 3 == 1 ? 8 : 16;
    if (strcmp(shape, "class") == 0)
        return 16;
    memcpy(bytes, &x, 8);
    return strcmp(shape, "doubles") == 0 || strcmp(shape, "equal") == 0 ? 8 : 0;
}

// Deduplicates constants, and prints the number of those that are left. Returns the exit status.
static int run_shape(const char *shape, uint32_t n, Arena *arena)
{
    enum { ROOM = 16 };
    Random random = {1};
    Dedup d;
    DataSection s = {.index = 1};
    DataSymbol *symbols = NEW_ARRAY(arena, DataSymbol, n);
    uint8_t *at = arena_alloc(arena, (size_t)n * ROOM);
    VEC_RESERVE(arena, &s.records, n);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t size = make_constant(shape, k, &random, at);
        if (!size) {
            fprintf(stderr, "usage: link-layout --dedup=distinct|class|doubles|equal N\n");
            return 2;
        }
        data_insert(&s, arena, (DataRecord){at, RECORD_APPEND, MIN(size, 8), size, k}, NULL);
        symbols[k] = (DataSymbol){.name = "constant", .entry = "kernel", .place = s.records.at[k].offset};
        at += size;
    }
    dedup_init(&d, arena, symbols, false, NULL);
    dedup_section(&d, &s, NULL, 0);
    printf("%u constants, %u distinct, %llu bytes\n", n, d.target.records.n, (unsigned long long)d.target.size);
    return 0;
}

int main(int argc, char **argv)
{
    const char option[] = "--dedup=";
    uint32_t runs = argc > 1 ? (uint32_t)atoi(argv[1]) : 100000, seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    Heap heap = {0};
    jmp_buf unwind;
    Arena arena;
    heap.unwind = &unwind;
    arena_init(&arena, &heap);
    if (setjmp(unwind))
        return 3;
    if (argc == 3 && strncmp(argv[1], option, strlen(option)) == 0) {
        int status = run_shape(argv[1] + strlen(option), (uint32_t)atoi(argv[2]), &arena);
        heap_release(&heap);
        return status;
    }
    check_value_maps(&arena);
    check_overlaps(&arena);
    check_dedup(&arena);
    check_space(&arena);
    for (uint32_t k = 0; k < runs; k++) {
        Random r = {(uint64_t)seed << 32 | k};
        Arena scratch;
        arena_init(&scratch, &heap);
        check_random_overlap(&r, &scratch);
        check_random_dedup(&r, &scratch);
        check_random_space(&r, &scratch);
        arena_free(&scratch);
    }
    if (runs >= 1000)
        check_seen();
    heap_release(&heap);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
