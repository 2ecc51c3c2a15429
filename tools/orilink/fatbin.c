// SPDX-License-Identifier: MIT
// Fat binaries: entries of code for different targets, perhaps compressed. Rewritten cubins are stored
// uncompressed, or with --compress as blocks of LZ4.
#include "tools/orilink/file.h"
#include "tools/orilink/unpack.h"

#define FAT_MAGIC 0xba55ed50u
enum { FAT_HEADER = 16, ENTRY_HEADER = 0x40, FAT_PTX = 1, FAT_CUBIN = 2, FAT_LTO = 8 };
enum { AT_STORED = 8, AT_PACKED = 16, AT_SM = 28, AT_FLAGS = 0x28, AT_SIZE = 0x38 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, SIZE_MAX_UNPACKED = LZ4_MAX, RATIO_MAX = 1 << 15 };

static bool damaged(const Member *m, const Link *link, const char *what)
{
    diag_plain(link->diag, DIAG_ERROR, "'%s' is damaged: its fat binary has %s", m->name, what);
    return false;
}

// Returns the cubin of an entry; NULL after an error message.
static const uint8_t *unpack(const Member *m, const FatEntry *e, Link *link, size_t *size)
{
    const uint8_t *p = m->fat + e->offset, *from = p + e->header;
    uint64_t flags = load64(p + AT_FLAGS), packed = load32(p + AT_PACKED), n = load64(p + AT_SIZE);
    if (!(flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        *size = e->stored;
        return from;
    }
    if (packed > e->stored || n > SIZE_MAX_UNPACKED || n / RATIO_MAX > packed) {
        damaged(m, link, "a compressed entry of an impossible size");
        return NULL;
    }
    uint8_t *to = arena_alloc(&link->arena, n);
    *size = n;
    if (!(flags & FLAG_ZSTD ? zstd_decode(from, packed, to, n) : lz4_decode(from, packed, to, n))) {
        damaged(m, link, "a compressed entry that cannot be decompressed");
        return NULL;
    }
    return to;
}

static bool add_cubin(Member *m, FatEntry *e, Link *link)
{
    size_t size = 0;
    const uint8_t *bytes = unpack(m, e, link, &size);
    Input in = {.is_system = m->is_system};
    if (!bytes)
        return false;
    if (!cubin_is_known(bytes, size)) {
        link->opaque = m->name;
        return true;
    }
    if (!cubin_read(&in.cubin, m->name, bytes, size, &link->arena, link->diag))
        return false;
    VEC_PUSH(&link->arena, &link->inputs, in);
    e->input = link->inputs.n;
    return true;
}

// Reads the entries from `at` to `end`.
static bool read_entries(Member *m, Link *link, uint64_t at, uint64_t end)
{
    while (at < end) {
        const uint8_t *p = m->fat + at;
        if (end - at < ENTRY_HEADER)
            return damaged(m, link, "part of an entry");
        FatEntry e = {.offset = at, .header = load32(p + 4), .stored = load64(p + AT_STORED), .kind = load16(p)};
        e.sm = load32(p + AT_SM);
        if (e.header < ENTRY_HEADER || e.header > end - at || e.stored > end - at - e.header)
            return damaged(m, link, "an entry that is not all in it");
        VEC_PUSH(&link->arena, &m->entries, e);
        at += e.header + e.stored;
    }
    return true;
}

bool fatbin_is(const uint8_t *bytes, uint64_t size) { return size >= FAT_HEADER && load32(bytes) == FAT_MAGIC; }

// Returns the first cubin that nvlink takes, of those for the highest target; NULL: there is none. *several: there are
// others for that target, such as code for sm_90 and sm_90a, and it is not known which one nvlink takes.
static FatEntry *choose_cubin(Member *m, uint32_t sm, bool *several)
{
    FatEntry *best = NULL;
    *several = false;
    for (uint32_t k = 0; k < m->entries.n; k++) {
        FatEntry *e = &m->entries.at[k];
        if (e->kind != FAT_CUBIN || (sm && !sm_is_linked(e->sm, sm)))
            continue;
        sm = sm ? sm : e->sm;
        if (best && best->sm == e->sm)
            *several = true;
        if (best && best->sm >= e->sm)
            continue;
        best = e;
        *several = false;
    }
    return best;
}

// Adds the cubin for the target to the link. An object without one that can be read may refer to anything.
static bool add_code(Member *m, Link *link, uint32_t *sm, bool one_binary)
{
    bool several, ir = false, other = false;
    FatEntry *e = choose_cubin(m, *sm, &several);
    for (uint32_t k = 0; k < m->entries.n; k++) {
        ir |= m->entries.at[k].kind == FAT_LTO;
        other |= m->entries.at[k].kind == FAT_PTX || m->entries.at[k].kind == FAT_LTO;
    }
    link->objects += !m->is_system;
    link->ir_objects += ir && !e && !m->is_system;
    if (e)
        *sm = *sm ? *sm : e->sm;
    if (!e || several) {
        if ((other || several) && !m->is_system)
            link->opaque = m->name;
        return true;
    }
    if (!add_cubin(m, e, link))
        return false;
    if (!one_binary && e->input)  // `ld -r` joins sections, and relocations name places in them
        link->inputs.at[e->input - 1].cubin.fixed = "its object has several fat binaries";
    return true;
}

// As nvlink, this reads only the first fat binary of a section.
bool fatbin_read(Member *m, Link *link, uint32_t *sm)
{
    uint64_t size = load64(m->fat + 8), at = FAT_HEADER + size;
    if (load16(m->fat + 6) != FAT_HEADER || size > m->fat_size - FAT_HEADER)
        return damaged(m, link, "a header that does not fit");
    if (!read_entries(m, link, FAT_HEADER, at))
        return false;
    while (at % 8 && at < m->fat_size)
        at++;
    return add_code(m, link, sm, at >= m->fat_size);
}

// Appends an entry with `n` stored bytes of a cubin. `unpacked`: its size, if they are a block of LZ4; 0: they are not.
static void put_entry(const uint8_t *p, const FatEntry *e, const void *bytes, size_t n, size_t unpacked,
                      TextBuffer *text)
{
    size_t start = text->n, padding = -n & 7;
    text_put(text, p, e->header);
    text_put(text, bytes, n);
    text_put(text, "\0\0\0\0\0\0\0", padding);
    uint8_t *q = (uint8_t *)text->at + start;
    store64(q + AT_STORED, n + padding);
    store32(q + AT_PACKED, unpacked ? (uint32_t)n : 0);
    store64(q + AT_FLAGS, (load64(p + AT_FLAGS) & ~(uint64_t)(FLAG_LZ4 | FLAG_ZSTD)) | (unpacked ? FLAG_LZ4 : 0));
    store64(q + AT_SIZE, unpacked);
}

// Appends an entry with a rewritten cubin. It is compressed if that saves space.
static void put_cubin(Link *link, const uint8_t *p, const FatEntry *e, const TextBuffer *cubin, TextBuffer *text)
{
    bool was_packed = load64(p + AT_FLAGS) & (FLAG_LZ4 | FLAG_ZSTD);
    size_t packed = 0;
    uint8_t *block = NULL;
    if (link->compresses || (link->counts_unpacked && was_packed)) {
        size_t limit = (cubin->n - 1) & ~(size_t)7;  // entries are padded to 8 bytes
        block = arena_alloc(cubin->arena, limit);
        packed = lz4_encode((const uint8_t *)cubin->at, cubin->n, block, limit);
    }
    if (link->compresses && packed) {
        put_entry(p, e, block, packed, cubin->n, text);
        return;
    }
    if (packed) {
        link->unpacked++;
        link->unpacked_cost += ((cubin->n + 7) & ~(size_t)7) - ((packed + 7) & ~(size_t)7);
    }
    put_entry(p, e, cubin->at, cubin->n, 0, text);
}

void fatbin_rewrite(const Member *m, Link *link, TextBuffer *text)
{
    size_t start = text->n;
    text_put(text, m->fat, FAT_HEADER);
    for (uint32_t k = 0; k < m->entries.n; k++) {
        const FatEntry *e = &m->entries.at[k];
        const uint8_t *p = m->fat + e->offset;
        if (e->input && cubin_changes(link, &link->inputs.at[e->input - 1])) {
            Arena scratch;
            arena_init(&scratch, link->heap);
            TextBuffer cubin = {.arena = &scratch};
            cubin_rewrite(link, &link->inputs.at[e->input - 1], &cubin);
            put_cubin(link, p, e, &cubin, text);
            arena_free(&scratch);
        } else {
            text_put(text, p, e->header + e->stored);
        }
    }
    store64((uint8_t *)text->at + start + 8, text->n - start - FAT_HEADER);
}
