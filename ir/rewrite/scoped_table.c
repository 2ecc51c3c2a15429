// SPDX-License-Identifier: MIT
// Tables with scopes: words with an undo log (ir/rewrite/rewrite.h).
//
// A scope is a block and all blocks that are visited inside it. A stack has the open scopes and, between them, the
// blocks that are not visited yet. Each open scope records the length of the log at its start. The total time is linear
// in the number of blocks and changes.
#include "ir/rewrite/rewrite.h"

void scoped_init(ScopedTable *t, Arena *arena) { *t = (ScopedTable){.arena = arena}; }

void scoped_set(ScopedTable *t, uint32_t *word, uint32_t value)
{
    if (*word == value)
        return;
    VEC_PUSH(t->arena, &t->changes, ((ScopedChange){word, *word}));
    *word = value;
}

static void open_scope(ScopedTable *t, BlockId b)
{
    VEC_PUSH(t->arena, &t->scopes, ((Scope){.block = b, .changes = t->changes.n, .open = true}));
}

static void close_scope(ScopedTable *t)
{
    const Scope *scope = &t->scopes.at[--t->scopes.n];
    for (; t->changes.n > scope->changes; t->changes.n--)
        *t->changes.at[t->changes.n - 1].word = t->changes.at[t->changes.n - 1].old;
}

void scoped_push(ScopedTable *t, BlockId b) { VEC_PUSH(t->arena, &t->scopes, ((Scope){.block = b})); }

BlockId scoped_next(ScopedTable *t)
{
    while (t->scopes.n && t->scopes.at[t->scopes.n - 1].open)
        close_scope(t);
    if (!t->scopes.n)
        return 0;
    BlockId b = t->scopes.at[--t->scopes.n].block;
    open_scope(t, b);
    return b;
}

void scoped_enter(ScopedTable *t, const Analyses *a, BlockId b)
{
    while (t->scopes.n && !dominates(a, t->scopes.at[t->scopes.n - 1].block, b))
        close_scope(t);
    open_scope(t, b);
}
