// SPDX-License-Identifier: MIT
// Tests scope trees against a plain bitset: random and adversarial orders, invariants of red-black trees, free list.
#include "tests/unit/unit.h"

enum { MEMBERS = 1 << 16, NODES = MEMBERS / 256 };

typedef struct Sets {
    Heap heap;
    Arena arena;
    ScopeTree t;
    bool *plain;  // by number
} Sets;

static void sets_open(Sets *s)
{
    unit_heap(&s->heap);
    arena_init(&s->arena, &s->heap);
    scope_tree_init(&s->t, &s->arena);
    s->plain = NEW_ARRAY(&s->arena, bool, MEMBERS);
}

static void sets_close(Sets *s)
{
    arena_free(&s->arena);
    heap_release(&s->heap);
}

static bool is_black(const ScopeNode *n) { return !n || n->key >> 31; }

// Returns the number of black nodes on each path down from a node. Checks order, parents and colours.
static uint32_t check_node(const ScopeNode *n, const ScopeNode *parent, uint32_t least, uint32_t most, uint32_t *nodes)
{
    if (!n)
        return 0;
    uint32_t key = n->key & 0x7fffffff;
    CHECK(n->parent == parent && key >= least && key <= most);
    CHECK(is_black(n) || (is_black(n->child[0]) && is_black(n->child[1])));
    CHECK(n->bits[0] | n->bits[1] | n->bits[2] | n->bits[3]);
    ++*nodes;
    uint32_t left = key ? check_node(n->child[0], n, least, key - 1, nodes) : 0;
    uint32_t right = check_node(n->child[1], n, key + 1, most, nodes);
    CHECK(key || !n->child[0]);
    CHECK_EQ(left, right);
    return left + is_black(n);
}

static void check_tree(const ScopeTree *t)
{
    uint32_t nodes = 0;
    CHECK(is_black(t->root));
    check_node(t->root, NULL, 0, 0x7fffffff, &nodes);
    CHECK_EQ(nodes, t->n);
}

static void check_members(const Sets *s)
{
    ScopeCursor c = scope_tree_first(&s->t);
    for (uint32_t k = 0; k < MEMBERS; k++)
        if (s->plain[k])
            CHECK_EQ(scope_tree_next(&c), k);
    CHECK_EQ(scope_tree_next(&c), SCOPE_END);
    CHECK_EQ(scope_tree_next(&c), SCOPE_END);
}

static void add(Sets *s, uint32_t k)
{
    CHECK_EQ(scope_tree_add(&s->t, k), !s->plain[k]);
    s->plain[k] = true;
    CHECK(scope_tree_has(&s->t, k));
}

// Drops all nodes, and checks the tree and its least member after each.
static void drain(Sets *s)
{
    uint32_t least = 0;
    for (uint32_t n = s->t.n; n; n--) {
        while (!s->plain[least])
            least++;
        ScopeCursor c = scope_tree_first(&s->t);
        CHECK_EQ(scope_tree_next(&c), least);
        CHECK_EQ(scope_tree_drop(&s->t), n > 1);
        CHECK(!scope_tree_has(&s->t, least));
        for (uint32_t k = least & ~255u, end = k + 256; k < end; k++)
            s->plain[k] = false;
        check_tree(&s->t);
    }
    CHECK(!s->t.root);
    check_members(s);
}

TEST(scope_tree_random)
{
    uint64_t seed = 3;
    Sets s = {0};
    sets_open(&s);
    for (int round = 0; round < 30; round++) {
        uint32_t n = 1 + unit_random(&seed, 3000), below = 1 + unit_random(&seed, MEMBERS);
        unit_context("round %d", round);
        for (uint32_t k = 0; k < n; k++) {
            add(&s, unit_random(&seed, below));
            if (k % 64 == 0)
                check_tree(&s.t);
        }
        for (uint32_t k = 0; k < 1000; k++) {
            uint32_t at = unit_random(&seed, MEMBERS);
            CHECK_EQ(scope_tree_has(&s.t, at), s.plain[at]);
        }
        check_tree(&s.t);
        check_members(&s);
        drain(&s);
    }
    sets_close(&s);
}

// Returns the n-th key in an order that is bad for search trees without balance.
static uint32_t key_in_order(int order, uint32_t n)
{
    switch (order) {
    case 0: return n;
    case 1: return NODES - 1 - n;
    case 2: return n % 2 ? NODES - 1 - n / 2 : n / 2;                  // from both ends
    case 3: return n % 2 ? NODES / 2 + n / 2 : NODES / 2 - 1 - n / 2;  // from the middle
    default: return n * 37 % NODES;
    }
}

TEST(scope_tree_orders)
{
    Sets s = {0};
    sets_open(&s);
    for (int order = 0; order < 5; order++) {
        unit_context("order %d", order);
        for (uint32_t n = 0; n < NODES; n++) {
            add(&s, key_in_order(order, n) << 8 | (n & 255));
            check_tree(&s.t);
        }
        uint32_t depth = 0;
        for (const ScopeNode *at = s.t.root; at; at = at->child[0])
            depth++;
        CHECK(depth <= 16);
        check_members(&s);
        drain(&s);
    }
    sets_close(&s);
}

// The first and the last bit of each word; numbers beyond those of the bitset.
TEST(scope_tree_ends_of_words)
{
    static const uint32_t members[] = {
        0, 63, 64, 127, 128, 191, 192, 255, 256, 319, 511, 1023, 1u << 24, (1u << 30) + 63, 0x7fffffc0, 0x7fffffff};
    Sets s = {0};
    sets_open(&s);
    for (size_t k = ARRAY_LEN(members); k--;)
        CHECK(scope_tree_add(&s.t, members[k]));
    ScopeCursor c = scope_tree_first(&s.t);
    for (size_t k = 0; k < ARRAY_LEN(members); k++) {
        CHECK_EQ(scope_tree_next(&c), members[k]);
        CHECK(!scope_tree_add(&s.t, members[k]));
        CHECK(!scope_tree_has(&s.t, members[k] ^ 2));
    }
    CHECK_EQ(scope_tree_next(&c), SCOPE_END);
    check_tree(&s.t);
    sets_close(&s);
}

// A full word; members that are added during iteration.
TEST(scope_tree_additions)
{
    Sets s = {0};
    sets_open(&s);
    for (uint32_t k = 0; k < 64; k++)
        add(&s, 64 + k);
    ScopeCursor c = scope_tree_first(&s.t);
    for (uint32_t k = 0; k < 64; k++)
        CHECK_EQ(scope_tree_next(&c), 64 + k);
    scope_tree_add(&s.t, 3);
    for (uint32_t k = 20; k; k--)
        scope_tree_add(&s.t, k << 8);
    for (uint32_t k = 1; k <= 20; k++)
        CHECK_EQ(scope_tree_next(&c), k << 8);
    CHECK_EQ(scope_tree_next(&c), SCOPE_END);
    sets_close(&s);
}

// Removed nodes are used again, and are empty.
TEST(scope_tree_memory)
{
    Sets s = {0};
    sets_open(&s);
    CHECK(!scope_tree_drop(&s.t));
    for (uint32_t k = 0; k < NODES; k++)
        add(&s, k << 8 | 77);
    drain(&s);
    size_t before = s.heap.used;
    char *at = s.arena.cur;
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t k = 0; k < NODES; k++)
            add(&s, k << 8 | round);
        check_members(&s);
        drain(&s);
    }
    CHECK_EQ(s.heap.used, before);
    CHECK(ARENA_EXACT || s.arena.cur == at);
    sets_close(&s);
}

void test_scope_tree(void)
{
    RUN(scope_tree_random);
    RUN(scope_tree_orders);
    RUN(scope_tree_ends_of_words);
    RUN(scope_tree_additions);
    RUN(scope_tree_memory);
}
