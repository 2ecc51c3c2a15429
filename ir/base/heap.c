// SPDX-License-Identifier: MIT
// Implements heaps, arenas, vectors and segmented arrays.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ir/base/base.h"

enum { PAGE = 4096, PAGE_MAX = 64 << 10, SLAB_BYTES = 4 << 20, HUGE_PAGE = 2 << 20, ARENA_CHUNK_MAX = 8 << 20 };

struct Slab {
    Slab *next;
};

struct Chunk {
    Chunk *next;  // in the arena, or in a free list of the heap
    Chunk *large_next, *large_prev;
    size_t bytes;
    uint32_t pages;  // 0 = allocated singly by the system
};

_Noreturn void heap_fail(Heap *heap, Status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(heap->message, sizeof heap->message, fmt, args);
    va_end(args);
    heap->status = status;
    longjmp(*heap->unwind, 1);
}

/* -- The system ------------------------------------------------------------------------------------------ */

// True if memory of this size is mapped, so that parts of it can be freed, and freed parts return to the system.
static bool is_mapped(const Heap *heap, size_t bytes)
{
    return bytes >= HUGE_PAGE && !ARENA_EXACT && !heap->allocator.alloc;
}

// Rounds a size up to whole pages of any system.
static size_t mapped_bytes(size_t bytes) { return (bytes + PAGE_MAX - 1) & ~(size_t)(PAGE_MAX - 1); }

// Maps memory from a boundary of large pages on. Large pages avoid most page faults of big inputs. A tail that fills
// less than three quarters of a large page stays in small pages.
static void *map_pages(size_t bytes)
{
    size_t wanted = mapped_bytes(bytes);
    char *p = mmap(NULL, wanted + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before)
        munmap(p, before);
    munmap(p + before + wanted, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(p + before, (bytes + HUGE_PAGE / 4) & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return p + before;
}

static void *raw_alloc(const Heap *heap, size_t bytes)
{
    if (heap->allocator.alloc)
        return heap->allocator.alloc(heap->allocator.user, bytes);
    return is_mapped(heap, bytes) ? map_pages(bytes) : malloc(bytes);
}

static void raw_free(const Heap *heap, void *p, size_t bytes)
{
    if (heap->allocator.alloc)
        heap->allocator.free(heap->allocator.user, p, bytes);
    else if (is_mapped(heap, bytes))
        munmap(p, mapped_bytes(bytes));
    else
        free(p);
}

static void free_spares(Heap *heap)
{
    for (Chunk *c = heap->spare, *next; c; c = next) {
        next = c->next;
        raw_free(heap, c, c->bytes);
    }
    heap->spare = NULL;
    heap->spared = 0;
}

// Returns memory from the system, NULL if there is none.
static void *system_alloc(Heap *heap, size_t bytes)
{
    void *p = raw_alloc(heap, bytes);
    if (!p && heap->spare) {
        free_spares(heap);
        p = raw_alloc(heap, bytes);
    }
    return p;
}

/* -- Chunks ---------------------------------------------------------------------------------------------- */

// Returns a chunk of whole pages of a slab; a reused chunk may be a quarter larger than requested.
static Chunk *slab_chunk(Heap *heap, uint32_t pages)
{
    for (uint32_t k = pages; k <= MIN(pages + pages / 4, CHUNK_PAGES); k++) {
        Chunk *c = heap->free[k];
        if (c) {
            heap->free[k] = c->next;
            return c;
        }
    }
    size_t bytes = (size_t)pages * PAGE;
    if ((size_t)(heap->end - heap->cur) < bytes) {
        Slab *slab = system_alloc(heap, SLAB_BYTES);
        if (!slab)
            return NULL;
        slab->next = heap->slabs;
        heap->slabs = slab;
        heap->cur = (char *)slab + 64;
        heap->end = (char *)slab + SLAB_BYTES;
    }
    Chunk *c = (Chunk *)heap->cur;
    heap->cur += bytes;
    c->pages = pages;
    c->bytes = bytes;
    return c;
}

// Splits the large pages that a request for `bytes` does not need off a mapped chunk; they become a spare chunk.
static void split_chunk(Heap *heap, Chunk *c, size_t bytes)
{
    size_t kept = (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    if (!is_mapped(heap, c->bytes) || c->bytes < kept + HUGE_PAGE)
        return;
    Chunk *rest = (Chunk *)((char *)c + kept);
    *rest = (Chunk){.next = heap->spare, .bytes = c->bytes - kept};
    heap->spare = rest;
    heap->spared += rest->bytes;
    c->bytes = kept;
}

// Returns the smallest spare chunk of at least `bytes`; NULL if there is none. A chunk that cannot be split has at most
// about four times `bytes`.
static Chunk *spare_chunk(Heap *heap, size_t bytes)
{
    Chunk **best = NULL;
    for (Chunk **at = &heap->spare; *at; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (is_mapped(heap, (*at)->bytes) || (*at)->bytes / 4 <= bytes) &&
            (!best || (*at)->bytes < (*best)->bytes))
            best = at;
    Chunk *c = best ? *best : NULL;
    if (c) {
        *best = c->next;
        heap->spared -= c->bytes;
        split_chunk(heap, c, bytes);
    }
    return c;
}

static Chunk *large_chunk(Heap *heap, size_t bytes)
{
    Chunk *c = spare_chunk(heap, bytes);
    if (!c) {
        // Used and spare chunks together never take more memory than the maximum of used chunks.
        size_t held = heap->used + heap->spared + bytes;
        if (held > heap->high || (heap->limit && held > heap->limit))
            free_spares(heap);
        c = system_alloc(heap, bytes);
        if (!c)
            return NULL;
        c->bytes = bytes;
    }
    *c = (Chunk){.large_next = heap->large, .bytes = c->bytes};
    if (c->large_next)
        c->large_next->large_prev = c;
    heap->large = c;
    return c;
}

static size_t pages_of(size_t bytes) { return (bytes + PAGE - 1) / PAGE; }

static bool is_large(size_t bytes) { return pages_of(bytes) > CHUNK_PAGES || ARENA_EXACT; }

static bool over_limit(const Heap *heap, size_t bytes)
{
    return heap->limit && heap->used + (is_large(bytes) ? bytes : pages_of(bytes) * PAGE) > heap->limit;
}

// Returns a chunk of at least `bytes`, header included; NULL if there is no memory.
static Chunk *take_chunk(Heap *heap, size_t bytes)
{
    Chunk *c = is_large(bytes) ? large_chunk(heap, bytes) : slab_chunk(heap, (uint32_t)pages_of(bytes));
    if (!c)
        return NULL;
    heap->used += c->bytes;
    heap->high = MAX(heap->high, heap->used);
    heap->peak = MAX(heap->peak, heap->used);
    return c;
}

static void give_chunk(Heap *heap, Chunk *c)
{
    heap->used -= c->bytes;
    if (c->pages) {
        c->next = heap->free[c->pages];
        heap->free[c->pages] = c;
        return;
    }
    *(c->large_prev ? &c->large_prev->large_next : &heap->large) = c->large_next;
    if (c->large_next)
        c->large_next->large_prev = c->large_prev;
    c->next = heap->spare;
    heap->spare = c;
    heap->spared += c->bytes;
    if (ARENA_EXACT)
        free_spares(heap);
}

// Returns the heap that owns the memory, locked.
static Heap *pool_enter(Heap *heap)
{
    Heap *pool = heap->pool ? heap->pool : heap;
    if (pool->lock)
        pthread_mutex_lock(pool->lock);
    return pool;
}

static void pool_leave(Heap *pool)
{
    if (pool->lock)
        pthread_mutex_unlock(pool->lock);
}

static Chunk *chunk_new(Heap *heap, size_t bytes)
{
    Heap *pool = pool_enter(heap);
    bool over = over_limit(pool, bytes);
    Chunk *c = over ? NULL : take_chunk(pool, bytes);
    size_t used = pool->used;
    pool_leave(pool);
    if (over)
        heap_fail(heap, ST_LIMIT, "memory limit of %zu bytes reached", pool->limit);
    if (!c)
        heap_fail(heap, ST_LIMIT, "out of memory (%zu bytes in use)", used);
    return c;
}

size_t heap_used(const Heap *heap) { return heap->pool ? heap->pool->used : heap->used; }

size_t heap_peak(const Heap *heap) { return heap->pool ? heap->pool->peak : heap->peak; }

void heap_trim(Heap *heap)
{
    Heap *pool = pool_enter(heap);
    free_spares(pool);
    pool->high = pool->used;
    pool_leave(pool);
}

void heap_release(Heap *heap)
{
    for (Chunk *c = heap->large, *next; c; c = next) {
        next = c->large_next;
        raw_free(heap, c, c->bytes);
    }
    free_spares(heap);
    for (Slab *s = heap->slabs, *next; s; s = next) {
        next = s->next;
        raw_free(heap, s, SLAB_BYTES);
    }
    *heap = (Heap){.allocator = heap->allocator, .limit = heap->limit, .files = heap->files, .unwind = heap->unwind};
}

/* -- Arenas ---------------------------------------------------------------------------------------------- */

void arena_init(Arena *arena, Heap *heap) { *arena = (Arena){.heap = heap}; }

void arena_free(Arena *arena)
{
    if (arena->chunks) {
        Heap *pool = pool_enter(arena->heap);
        for (Chunk *c = arena->chunks, *next; c; c = next) {
            next = c->next;
            give_chunk(pool, c);
        }
        pool_leave(pool);
    }
    arena_init(arena, arena->heap);
}

// Slow path of arena_alloc: takes another chunk, whose size grows with the arena. A request that would fill much of a
// chunk gets a separate chunk, so that the rest of the current chunk stays in use.
void *arena_refill(Arena *arena, size_t bytes)
{
    size_t head = (sizeof(Chunk) + 15) & ~(size_t)15;
    if (bytes > SIZE_MAX / 4)
        heap_fail(arena->heap, ST_LIMIT, "out of memory (%zu bytes requested)", bytes);
    size_t regular = MIN(MAX(arena->size / 4, PAGE), ARENA_CHUNK_MAX);
    bool own = ARENA_EXACT || bytes > regular / 2;
    Chunk *c = chunk_new(arena->heap, own ? head + bytes : regular);
    c->next = arena->chunks;
    arena->chunks = c;
    arena->size += c->bytes;
    char *p = (char *)c + head, *end = (char *)c + c->bytes;
    // Continues with the chunk that has more free space.
    if (end - (p + bytes) > arena->end - arena->cur) {
        arena->cur = p + bytes;
        arena->end = end;
    }
    return p;
}

void *vec_grow(Arena *arena, void *old, uint32_t n, uint32_t *cap, size_t elem)
{
    if (*cap > UINT32_MAX / 2)
        heap_fail(arena->heap, ST_LIMIT, "a table has more than %u entries", UINT32_MAX / 2);
    uint32_t bigger = *cap ? *cap * 2 : 8;
    size_t old_bytes = ((size_t)*cap * elem + 7) & ~(size_t)7, new_bytes = ((size_t)bigger * elem + 7) & ~(size_t)7;
    // The newest allocation of the arena grows in place.
    if (*cap && (char *)old + old_bytes == arena->cur && (size_t)(arena->end - (char *)old) >= new_bytes) {
        arena->cur = (char *)old + new_bytes;
        *cap = bigger;
        return old;
    }
    void *p = arena_alloc(arena, new_bytes);
    if (n)
        memcpy(p, old, n * elem);
    *cap = bigger;
    return p;
}

// Advances through the segments until one has room for `count` more elements; the rest of earlier segments stays
// unused.
void seg_grow(Seg *seg, Arena *arena, uint32_t count, size_t elem)
{
    while (seg->end - seg->n < count) {
        uint32_t k = seg->end + SEG_FIRST;
        uint32_t s = 31 - SEG_SHIFT - (uint32_t)__builtin_clz(k);
        if (s >= SEG_COUNT)
            heap_fail(arena->heap, ST_LIMIT, "a function is too large");
        seg->n = seg->end;
        seg->end += k;
        // A segment that is too short for the elements gets no memory.
        if (k >= count && !seg->base[s])
            seg->base[s] = (uintptr_t)arena_alloc(arena, (size_t)k * elem) - (size_t)k * elem;
    }
}

void seg_cut(Seg *seg, uint32_t n)
{
    seg->n = n;
    seg->end = (2u * SEG_FIRST << (31 - SEG_SHIFT - (uint32_t)__builtin_clz(n - 1 + SEG_FIRST))) - SEG_FIRST;
}

void seg_copy(Seg *seg, Arena *arena, size_t elem)
{
    for (uint32_t s = 0, first = 0, n = SEG_FIRST; s < SEG_COUNT && seg->end; first += n, n *= 2, s++) {
        if (first >= seg->n)
            seg->base[s] = 0;  // allocated, but without elements
        if (!seg->base[s])
            continue;
        char *to = arena_alloc(arena, n * elem);
        memcpy(to, (const char *)seg->base[s] + n * elem, MIN(n, seg->n - first) * elem);
        seg->base[s] = (uintptr_t)to - n * elem;
    }
}
