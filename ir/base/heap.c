// SPDX-License-Identifier: MIT
// Heaps, arenas, vectors and segmented arrays.
#include <stdio.h>
#include <stdlib.h>

#include "ir/base/base.h"

enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

struct Chunk {
    Chunk *next_in_arena;
    Chunk *next, *prev;  // in the heap's list
    size_t bytes;
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

static Chunk *chunk_new(Heap *heap, size_t bytes)
{
    if (heap->limit && heap->used + bytes > heap->limit)
        heap_fail(heap, ST_LIMIT, "memory limit of %zu bytes reached", heap->limit);
    Chunk *c = malloc(bytes);
    if (!c)
        heap_fail(heap, ST_LIMIT, "out of memory (%zu bytes in use)", heap->used);
    c->bytes = bytes;
    c->prev = NULL;
    c->next = heap->chunks;
    if (c->next)
        c->next->prev = c;
    heap->chunks = c;
    heap->used += bytes;
    heap->peak = MAX(heap->peak, heap->used);
    return c;
}

static void chunk_free(Heap *heap, Chunk *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        heap->chunks = c->next;
    if (c->next)
        c->next->prev = c->prev;
    heap->used -= c->bytes;
    free(c);
}

void heap_release(Heap *heap)
{
    while (heap->chunks)
        chunk_free(heap, heap->chunks);
}

void arena_init(Arena *arena, Heap *heap) { *arena = (Arena){.heap = heap}; }

void arena_free(Arena *arena)
{
    for (Chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next_in_arena;
        chunk_free(arena->heap, c);
    }
    arena_init(arena, arena->heap);
}

// Slow path of arena_alloc: takes another chunk, whose size grows with the arena. A request that would fill most of
// one gets a chunk of its own, so that the rest of the current chunk stays in use.
void *arena_refill(Arena *arena, size_t bytes)
{
    size_t head = (sizeof(Chunk) + 15) & ~(size_t)15;
    size_t regular = MIN(MAX(arena->size, CHUNK_MIN), CHUNK_MAX);
    bool own = bytes > regular / 4;
    Chunk *c = chunk_new(arena->heap, head + (own ? bytes : regular));
    c->next_in_arena = arena->chunks;
    arena->chunks = c;
    arena->size += c->bytes;
    char *p = (char *)c + head;
    if (!own) {
        arena->cur = p + bytes;
        arena->end = p + regular;
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

uint32_t seg_push(Seg *seg, Arena *arena, uint32_t count, size_t elem)
{
    while (true) {
        if (seg->cap - seg->n >= count) {
            // A run must not straddle two segments: find the end of the one that element n is in.
            uint32_t k = seg->n + SEG_FIRST;
            uint32_t segment_end = (uint32_t)(((uint64_t)2 << (31 - __builtin_clz(k))) - SEG_FIRST);
            if (segment_end - seg->n >= count)
                break;
            seg->n = segment_end;
        } else {
            uint32_t k = seg->cap + SEG_FIRST;
            uint32_t s = 31 - SEG_SHIFT - (uint32_t)__builtin_clz(k);
            if (s >= SEG_COUNT)
                heap_fail(arena->heap, ST_LIMIT, "a function is too large");
            seg->base[s] = (uintptr_t)arena_alloc(arena, (size_t)k * elem) - (size_t)k * elem;
            seg->n = seg->cap;  // what is left of the last segment is too short for the run
            seg->cap += k;
        }
    }
    uint32_t i = seg->n;
    seg->n += count;
    memset(seg_at(seg, i, elem), 0, (size_t)count * elem);
    return i;
}
