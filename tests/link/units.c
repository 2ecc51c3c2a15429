// SPDX-License-Identifier: MIT
// link-units [FILES...]: tests the parts of orilink that stand alone: compression, index maps, demangling and
// patterns. Then reads and writes the cubins of the files for sm_75, 80 and 90, which gives the same bytes. Ends in `N
// passed, N failed`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/link/random.h"
#include "tests/link/rewrite.h"
#include "tools/orilink/compact.h"
#include "tools/orilink/demangle.h"
#include "tools/orilink/unpack.h"

static int passed, failed;

static void check(bool ok, const char *what, const char *got)
{
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("FAIL units: %s: %s\n", what, got);
}

/* -- Compression ----------------------------------------------------------------------------------------- */

typedef bool Decode(const uint8_t *from, size_t size, uint8_t *to, size_t n);

// Made by zstd 1.5 -19 and lz4 1.9 -9.
static const uint8_t zstd_repeated[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x2c, 0x8d, 0x00, 0x00, 0x58, 0x61, 0x62, 0x63,
                                        0x2d, 0x74, 0x68, 0x65, 0x20, 0x65, 0x6e, 0x64, 0x01, 0x00, 0x8e, 0x6e, 0x08};
static const uint8_t lz4_repeated[] = {0x3f, 0x61, 0x62, 0x63, 0x03, 0x00, 0x0e, 0x80,
                                       0x2d, 0x74, 0x68, 0x65, 0x20, 0x65, 0x6e, 0x64};
static const uint8_t zstd_prose[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xb2, 0x01, 0x05, 0x04, 0x00, 0xa2, 0x88, 0x18, 0x16, 0xa0, 0xab, 0x31, 0x04,
    0x21, 0x12, 0x2b, 0x34, 0xc5, 0xd9, 0xfe, 0x5b, 0xb3, 0x45, 0xbd, 0x13, 0x77, 0x12, 0x1c, 0x55, 0xa3, 0x06,
    0x81, 0x46, 0xb7, 0x7a, 0x7b, 0xe9, 0xe6, 0x61, 0xca, 0x7b, 0x6b, 0x89, 0x83, 0x06, 0x77, 0x6f, 0xc9, 0xa4,
    0x9c, 0xc3, 0xe0, 0xa9, 0x03, 0x09, 0xd5, 0x79, 0xb3, 0x8d, 0xcd, 0x15, 0x07, 0xb8, 0x76, 0x95, 0x63, 0x4a,
    0x64, 0x5c, 0xbb, 0xe2, 0x72, 0xed, 0x54, 0x8d, 0x19, 0x4b, 0x4f, 0xed, 0x16, 0x06, 0x48, 0x18, 0x9f, 0x5b,
    0x6b, 0x72, 0x8a, 0x5a, 0x97, 0xad, 0x58, 0x73, 0xd4, 0x77, 0xee, 0x9a, 0xb4, 0x54, 0xf0, 0xb8, 0x25, 0x5b,
    0x04, 0x75, 0x22, 0x09, 0x00, 0x5a, 0x73, 0x01, 0x83, 0xf0, 0x81, 0xd9, 0xf3, 0xd3, 0x30, 0x00, 0xbb, 0x1e,
    0x2a, 0x5c, 0x76, 0x33, 0x14, 0xc6, 0x22, 0x68, 0x68, 0x0e, 0x73, 0x0c};
static const uint8_t lz4_prose[] = {
    0xf2, 0x0b, 0x41, 0x20, 0x73, 0x65, 0x63, 0x74, 0x69, 0x6f, 0x6e, 0x20, 0x62, 0x65, 0x6c, 0x6f, 0x6e, 0x67, 0x73,
    0x20, 0x74, 0x6f, 0x20, 0x61, 0x20, 0x66, 0x75, 0x6e, 0x16, 0x00, 0xf1, 0x25, 0x69, 0x66, 0x20, 0x69, 0x74, 0x73,
    0x20, 0x66, 0x6c, 0x61, 0x67, 0x73, 0x20, 0x68, 0x61, 0x76, 0x65, 0x20, 0x30, 0x78, 0x34, 0x30, 0x20, 0x61, 0x6e,
    0x64, 0x20, 0x73, 0x68, 0x5f, 0x69, 0x6e, 0x66, 0x6f, 0x20, 0x6e, 0x61, 0x6d, 0x65, 0x73, 0x20, 0x74, 0x68, 0x65,
    0x20, 0x63, 0x6f, 0x64, 0x65, 0x20, 0x6f, 0x66, 0x0c, 0x00, 0x04, 0x42, 0x00, 0x2f, 0x2e, 0x20, 0x63, 0x00, 0xff,
    0xdd, 0x11, 0x4e, 0x20, 0x00, 0xf3, 0x07, 0x61, 0x72, 0x65, 0x20, 0x6e, 0x6f, 0x74, 0x20, 0x75, 0x73, 0x65, 0x64,
    0x2c, 0x20, 0x73, 0x6f, 0x20, 0x65, 0x71, 0x75, 0x61, 0x6c, 0x3d, 0x00, 0x21, 0x64, 0x6f, 0x1c, 0x00, 0x60, 0x6d,
    0x61, 0x74, 0x74, 0x65, 0x72, 0x95, 0x00, 0x05, 0x80, 0x00, 0x84, 0x74, 0x68, 0x61, 0x74, 0x20, 0x6c, 0x69, 0x76,
    0x5d, 0x00, 0x63, 0x72, 0x20, 0x64, 0x61, 0x74, 0x61, 0x37, 0x00, 0x60, 0x73, 0x74, 0x61, 0x79, 0x73, 0x2e};
static const char repeated[] = "abcabcabcabcabcabcabcabcabcabcabcabc-the end";
#define SENTENCE "A section belongs to a function if its flags have 0x40 and sh_info names the code of the function. "
static const char prose[] = SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE
    "Names are not used, so equal names do not matter. A function that live code or data names stays.";

// Decodes whole input, every start of it, and to a buffer of another size. Buffers have exact sizes, for sanitizers.
static void check_decode(Decode *decode, const uint8_t *bytes, size_t size, const char *text, size_t n,
                         const char *what)
{
    uint8_t *to = malloc(n), *more = malloc(n + 1);
    check(decode(bytes, size, to, n) && memcmp(to, text, n) == 0, what, "other bytes");
    check(!decode(bytes, size, to, n - 1), what, "one byte too many is no error");
    check(!decode(bytes, size, more, n + 1), what, "a missing byte is no error");
    for (size_t k = 0; k < size; k++) {
        uint8_t *part = malloc(k ? k : 1);
        memcpy(part, bytes, k);
        check(!decode(part, k, to, n), what, "a part of the input is no error");
        free(part);
    }
    free(to);
    free(more);
}

// Encodes bytes and decodes them again; `size` limits the block, whose buffer has this size. Returns the size of the
// block; 0: it does not fit. Checks that the same bytes give the same block, and that it fits in its size, but not in
// one byte less.
static size_t check_encode(const uint8_t *bytes, size_t n, size_t size, const char *what)
{
    uint8_t *block = malloc(size ? size : 1), *again = malloc(size ? size : 1), *back = malloc(n ? n : 1);
    size_t packed = lz4_encode(bytes, n, block, size);
    check(packed <= size, what, "the block is larger than its buffer");
    if (packed) {
        check(lz4_decode(block, packed, back, n) && (!n || memcmp(back, bytes, n) == 0), what, "other bytes");
        check(lz4_encode(bytes, n, again, packed) == packed && memcmp(again, block, packed) == 0, what,
              "another block");
        check(!lz4_encode(bytes, n, again, packed - 1), what, "a block fits in less than its size");
    }
    free(block);
    free(again);
    free(back);
    return packed;
}

// Returns the largest size of a block of `n` bytes: literals, and the bytes of their length.
static size_t largest(size_t n) { return n + n / 255 + 2; }

// Encodes bytes of different kinds, of lengths around the limits of the format.
static void check_encoder(void)
{
    enum { N = 200000 };
    static const size_t lengths[] = {0,  1,  4,   5,   11,  12,  13,  14,    15,    16,    17,
                                     18, 19, 254, 255, 269, 270, 271, 65535, 65536, 70000, N};
    uint8_t *random = malloc(N), *zero = calloc(N, 1), *few = malloc(N), *far = malloc(N);
    Random r = {1};
    for (size_t k = 0; k < N; k++) {
        random[k] = (uint8_t)random_next(&r);
        few[k] = (uint8_t)(random_below(&r, 20) ? k % 7 : random_below(&r, 3));
        far[k] = k < 65536 ? random[k] : far[k - 65536];  // one byte too far for an offset
    }
    for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
        size_t n = lengths[k];
        uint8_t *exact = malloc(n ? n : 1);  // for sanitizers
        check(check_encode(memcpy(exact, random, n), n, largest(n), "lz4, random"), "lz4, random", "no block");
        check(!n || !check_encode(exact, n, n, "lz4, random"), "lz4, random", "random bytes get smaller");
        check(check_encode(memcpy(exact, zero, n), n, largest(n), "lz4, zeros"), "lz4, zeros", "no block");
        check(check_encode(memcpy(exact, few, n), n, largest(n), "lz4, few values"), "lz4, few values", "no block");
        free(exact);
    }
    check(check_encode(zero, N, N, "lz4, zeros") < N / 200, "lz4, zeros", "they are not compressed well");
    check(check_encode(few, N, N, "lz4, few values") < N / 2, "lz4, few values", "they are not compressed well");
    check(!check_encode(far, N, N, "lz4, far matches"), "lz4, far matches", "a match is too far");
    for (size_t n = 0; n < 300; n++) {
        for (size_t k = 0; k < n; k++)
            few[k] = (uint8_t)(random_below(&r, 2) ? 'a' : 'b');
        check(check_encode(few, n, largest(n), "lz4, two values"), "lz4, two values", "no block");
    }
    check(!lz4_encode(few, (size_t)LZ4_MAX + 1, far, N), "lz4", "more than LZ4_MAX bytes are encoded");
    // An offset of 65,535 is the largest.
    memcpy(far, random, 65535);
    memcpy(far + 65535, random, N - 65535);
    check(check_encode(far, N, largest(N), "lz4, the largest offset") < N, "lz4, the largest offset", "no match");
    free(random);
    free(zero);
    free(few);
    free(far);
}

/* -- Index maps ------------------------------------------------------------------------------------------ */

// True if a map replaces an index by another one, with this result.
static bool replaces(const IndexMap *map, uint32_t index, IndexState state, uint32_t expected)
{
    return index_map_replace(map, &index) == state && (state != INDEX_OK || index == expected);
}

static void check_index_maps(Arena *arena)
{
    enum { N = 6, ADDED = 2 };
    static const bool gone[N] = {[2] = true, [3] = true, [5] = true};
    IndexMap map;
    index_map_init(&map, arena, N, gone, ADDED);
    check(replaces(&map, 0, INDEX_OK, 0), "index map", "index 0 moves");
    check(replaces(&map, 1, INDEX_OK, 1), "index map", "an index before removed ones moves");
    check(replaces(&map, 4, INDEX_OK, 2), "index map", "an index behind removed ones does not move");
    check(replaces(&map, 2, INDEX_DELETED, 0), "index map", "a removed index is no error");
    check(replaces(&map, 5, INDEX_DELETED, 0), "index map", "the last index, removed, is no error");
    check(replaces(&map, added_index(0), INDEX_OK, 3), "index map", "an added index is not behind the others");
    check(replaces(&map, added_index(1), INDEX_OK, 4), "index map", "the second added index is not the last");
    check(replaces(&map, N, INDEX_NOT_VIRTUAL, 0), "index map", "an index behind the last one is no error");
    check(replaces(&map, added_index(ADDED), INDEX_NOT_VIRTUAL, 0), "index map",
          "a negative index too low is no error");
    map.back[2] = 3;
    check(replaces(&map, 4, INDEX_NOT_VIRTUAL, 0), "index map", "an index that does not map back is no error");
}

/* -- Demangling ------------------------------------------------------------------------------------------ */

static const char *const names[][2] = {
    {"_Z3indPii", "ind(int*, int)"},
    {"_Z6matmulIdLi4EEvPKT_S2_PS0_i", "void matmul<double, 4>(double const*, double const*, double*, int)"},
    {"_Z3mixILj4660EEjj", "unsigned int mix<4660u>(unsigned int)"},
    {"_ZN14__nv_bfloat162aSEOS_", "__nv_bfloat162::operator=(__nv_bfloat162&&)"},
    {"_ZTV1D", "vtable for D"},
    {"_Z4foldIZ5foldsPKiiPiEUliiE_EiT_S1_ii", "int fold<folds(int const*, int, int*)::{lambda(int, int)#1}>(folds(int "
                                              "const*, int, int*)::{lambda(int, int)#1}, int const*, int, int)"},
    {"_Z4foldIPFiiiEEiT_PKiii", "int fold<int (*)(int, int)>(int (*)(int, int), int const*, int, int)"},
    {"_ZN7__half2C1EOKS_", "__half2::__half2(__half2 const&&)"},
    {"_ZZ14bitonic_sharedIiEvPT_E1s", "bitonic_shared<int>(int*)::s"},
    {"_ZNK13__nv_bfloat16cv17__nv_bfloat16_rawEv", "__nv_bfloat16::operator __nv_bfloat16_raw() const"},
    {"_ZSt4moveIRKjEONSt16remove_referenceIT_E4typeEOS3_",
     "std::remove_reference<unsigned int const&>::type&& std::move<unsigned int const&>(unsigned int const&)"},
    {"_Z2hai.const_opt.0.8", "ha(int) [clone .const_opt.0.8]"},
    {"_ZN4RectD0Ev", "Rect::~Rect()"},
    {"_ZN36_INTERNAL_00000000_7_warp_cu_compact10__all_syncEji",
     "_INTERNAL_00000000_7_warp_cu_compact::__all_sync(unsigned int, int)"},
    {"main_kernel", "main_kernel"},
    {"_Z", "_Z"},
    {"_Z3ab", "_Z3ab"},
    {"_ZN1A1BE", "A::B"},
    {"_Z1fI1AEvT_", "void f<A>(A)"},
    {"_Z1fPFivE", "f(int (*)())"},
    {"_Z1fRA4_Ki", "f(int const (&) [4])"},
    {"_Z1fS_", "_Z1fS_"},
};

/* -- Patterns -------------------------------------------------------------------------------------------- */

// Makes a text of up to 7 of these bytes from a number.
static const char *small_text(const char *bytes, uint32_t x, Arena *arena)
{
    char *text = arena_alloc(arena, 8);
    size_t n = x % 8, count = strlen(bytes);
    for (size_t k = 0; k < n; k++) {
        x = x * 1664525 + 1013904223;
        text[k] = bytes[(x >> 16) % count];
    }
    text[n] = 0;
    return text;
}

// Compares sets of patterns with each pattern alone, for short texts of few letters.
static void check_patterns(Arena *arena)
{
    const char *patterns[8];
    for (uint32_t set = 0; set < 2000; set++) {
        Patterns p;
        patterns_init(&p, arena);
        for (uint32_t k = 0; k <= set % 8; k++) {
            patterns[k] = small_text("aabb**?[]\\", (set * 8 + k) * 2654435761u, arena);
            patterns_add(&p, patterns[k]);
        }
        const char *used = small_text("aab", set * 2246822519u >> 3, arena);
        patterns_mark(&p, used);
        for (uint32_t k = 0; k <= set % 8; k++)
            check(p.all.at[k + 1].used == glob_match(patterns[k], used, strlen(used), false), "used patterns",
                  patterns[k]);
        for (uint32_t n = 0; n < 50; n++) {
            const char *name = small_text("aab", (set * 50 + n) * 2246822519u >> 3, arena);
            bool expected = false;
            for (uint32_t k = 0; k <= set % 8; k++)
                expected |= glob_match(patterns[k], name, strlen(name), false);
            check(patterns_match(&p, name) == expected, "patterns", name);
        }
    }
}

/* -- Cubins ---------------------------------------------------------------------------------------------- */

// Writes the cubins of a file for a target as they were read. Returns their number.
static uint32_t check_identity(const char *path, const Source *source, uint32_t sm, Heap *heap)
{
    Diag diag = {.write = no_message};
    Link link = {.heap = heap, .diag = &diag};
    File file;
    arena_init(&link.arena, heap);
    str_init(&link.names, &link.arena, NULL);
    if (file_parse(&file, path, (const uint8_t *)source->text, source->len, &link, &sm) != ST_OK)
        link.inputs.n = 0;  // a cubin for another target
    for (uint32_t k = 0; k < link.inputs.n; k++) {
        Elf *elf = &link.inputs.at[k].cubin.elf;
        TextBuffer text = {.arena = &link.arena};
        const char *why = "other bytes are written";
        bool ok = elf_layout(elf, &why);
        if (ok)
            elf_write(elf, &text);
        check(ok && text.n == elf->size && memcmp(text.at, elf->bytes, text.n) == 0, path, why);
    }
    uint32_t count = link.inputs.n;
    arena_free(&link.arena);
    return count;
}

static void check_file(const char *path, Heap *heap, Arena *arena)
{
    char why[200] = "it has no cubin that can be read";
    Source source;
    uint32_t n = 0;
    if (source_open(&source, path, arena, why))
        for (uint32_t sm = 75; sm <= 90; sm += 5)
            n += check_identity(path, &source, sm, heap);
    if (!n)
        check(false, path, why);
}

int main(int argc, char **argv)
{
    Heap heap = {0};
    jmp_buf unwind;
    Arena arena;
    heap.unwind = &unwind;
    arena_init(&arena, &heap);
    if (setjmp(unwind))
        return 3;
    check_decode(zstd_decode, zstd_repeated, sizeof zstd_repeated, repeated, sizeof repeated - 1, "zstd, repeated");
    check_decode(zstd_decode, zstd_prose, sizeof zstd_prose, prose, sizeof prose - 1, "zstd, prose");
    check_decode(lz4_decode, lz4_repeated, sizeof lz4_repeated, repeated, sizeof repeated - 1, "lz4, repeated");
    check_decode(lz4_decode, lz4_prose, sizeof lz4_prose, prose, sizeof prose - 1, "lz4, prose");
    check_encoder();
    check_index_maps(&arena);
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        const char *got = demangle(names[k][0], &arena);
        check(strcmp(got, names[k][1]) == 0, names[k][0], got);
    }
    check_patterns(&arena);
    for (int k = 1; k < argc; k++)
        check_file(argv[k], &heap, &arena);
    heap_release(&heap);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
