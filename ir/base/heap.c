// SPDX-License-Identifier: MIT
// Heaps, arenas, vectors and segmented arrays.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ir/base/base.h"

enum {
    CHUNK_MIN_BITS = 12,
    CHUNK_MAX_BITS = CHUNK_MIN_BITS + CHUNK_SIZES - 1,
    SLAB_BYTES = 4 << 20,
    HUGE_PAGE = 2 << 20
};

struct Slab {
    Slab *next;
};

struct Chunk {
    Chunk *next;  // in the arena, or in the heap's free list
    Chunk *large_next, *large_prev;
    size_t bytes;
    int size;  // index of its power of two; -1 = large
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

// Memory from the system. Large pages, where there are any, save most of the page faults.
static void *system_alloc(Heap *heap, size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        heap_fail(heap, ST_LIMIT, "out of memory (%zu bytes in use)", heap->used);
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1),
              to = ((uintptr_t)p + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
    return p;
}

// A chunk of 2^bits bytes out of the slabs.
static Chunk *slab_chunk(Heap *heap, int size)
{
    size_t bytes = (size_t)1 << (CHUNK_MIN_BITS + size);
    Chunk *c = heap->free[size];
    if (c) {
        heap->free[size] = c->next;
        return c;
    }
    if ((size_t)(heap->end - heap->cur) < bytes) {
        Slab *slab = system_alloc(heap, SLAB_BYTES);
        slab->next = heap->slabs;
        heap->slabs = slab;
        heap->cur = (char *)slab + 64;
        heap->end = (char *)slab + SLAB_BYTES;
    }
    c = (Chunk *)heap->cur;
    heap->cur += bytes;
    c->size = size;
    c->bytes = bytes;
    return c;
}

static Chunk *large_chunk(Heap *heap, size_t bytes)
{
    Chunk *c = system_alloc(heap, bytes);
    *c = (Chunk){.large_next = heap->large, .bytes = bytes, .size = -1};
    if (c->large_next)
        c->large_next->large_prev = c;
    heap->large = c;
    return c;
}

// At least `bytes`, header included.
static Chunk *chunk_new(Heap *heap, size_t bytes)
{
    int size = ARENA_EXACT ? CHUNK_SIZES : 0;
    while (size < CHUNK_SIZES && (size_t)1 << (CHUNK_MIN_BITS + size) < bytes)
        size++;
    size_t taken = size < CHUNK_SIZES ? (size_t)1 << (CHUNK_MIN_BITS + size) : bytes;
    if (heap->limit && heap->used + taken > heap->limit)
        heap_fail(heap, ST_LIMIT, "memory limit of %zu bytes reached", heap->limit);
    Chunk *c = size < CHUNK_SIZES ? slab_chunk(heap, size) : large_chunk(heap, bytes);
    heap->used += c->bytes;
    heap->peak = MAX(heap->peak, heap->used);
    return c;
}

static void chunk_free(Heap *heap, Chunk *c)
{
    heap->used -= c->bytes;
    if (c->size >= 0) {
        c->next = heap->free[c->size];
        heap->free[c->size] = c;
        return;
    }
    *(c->large_prev ? &c->large_prev->large_next : &heap->large) = c->large_next;
    if (c->large_next)
        c->large_next->large_prev = c->large_prev;
    free(c);
}

void heap_release(Heap *heap)
{
    for (Chunk *c = heap->large, *next; c; c = next) {
        next = c->large_next;
        free(c);
    }
    for (Slab *s = heap->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    *heap = (Heap){.limit = heap->limit, .unwind = heap->unwind};
}

void arena_init(Arena *arena, Heap *heap) { *arena = (Arena){.heap = heap}; }

void arena_free(Arena *arena)
{
    for (Chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        chunk_free(arena->heap, c);
    }
    arena_init(arena, arena->heap);
}

// Slow path of arena_alloc: takes another chunk, whose size grows with the arena. A request that would fill much of one
// gets a chunk of its own, so that the rest of the current chunk stays in use.
void *arena_refill(Arena *arena, size_t bytes)
{
    size_t head = (sizeof(Chunk) + 15) & ~(size_t)15;
    size_t regular = (size_t)1 << CHUNK_MIN_BITS;
    while (regular < arena->size / 2 && regular < (size_t)1 << CHUNK_MAX_BITS)
        regular *= 2;
    bool own = bytes > regular / 4 && arena->cur != arena->end;
    Chunk *c = chunk_new(arena->heap, own || ARENA_EXACT ? head + bytes : MAX(regular, head + bytes));
    c->next = arena->chunks;
    arena->chunks = c;
    arena->size += c->bytes;
    char *p = (char *)c + head, *end = (char *)c + c->bytes;
    // The larger remainder is the one to go on with.
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

// Goes on to the next segments until one holds `count` more; what is left of those before stays unused.
void seg_grow(Seg *seg, Arena *arena, uint32_t count, size_t elem)
{
    while (seg->end - seg->n < count) {
        uint32_t k = seg->end + SEG_FIRST;
        uint32_t s = 31 - SEG_SHIFT - (uint32_t)__builtin_clz(k);
        if (s >= SEG_COUNT)
            heap_fail(arena->heap, ST_LIMIT, "a function is too large");
        seg->n = seg->end;
        seg->end += k;
        // A segment that is too short for the run is skipped without memory.
        if (k >= count)
            seg->base[s] = (uintptr_t)arena_alloc(arena, (size_t)k * elem) - (size_t)k * elem;
    }
}
