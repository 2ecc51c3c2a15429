// SPDX-License-Identifier: MIT
// The hash index of every interning table.
#include "ir/base/base.h"

static void put(IdSet *set, uint32_t hash, uint32_t id1)
{
    uint32_t s = hash & set->mask;
    while (set->slots[s].id1)
        s = (s + 1) & set->mask;
    set->slots[s].hash = hash;
    set->slots[s].id1 = id1;
}

static void grow(IdSet *set, Arena *arena)
{
    IdSet old = *set;
    uint32_t size = old.slots ? (old.mask + 1) * 4 : 16;
    set->slots = arena_zalloc(arena, size * sizeof *set->slots);
    set->mask = size - 1;
    for (uint32_t s = 0; old.slots && s <= old.mask; s++)
        if (old.slots[s].id1)
            put(set, old.slots[s].hash, old.slots[s].id1);
}

void idset_add(IdSet *set, Arena *arena, uint32_t hash, uint32_t id)
{
    if (set->n * 2 >= set->mask)
        grow(set, arena);
    put(set, hash, id + 1);
    set->n++;
}
