// SPDX-License-Identifier: MIT
// Trees of OriReassociateAndCommon (reassociate.c): flattening, order of leaves, rebuilding.
//
// Flattening. A tree consists of instructions of one kind and width in one block; each except the root has one use,
// which is in the tree. Trees of sums contain sub and neg, whose leaves are negative, and mad, whose product is a leaf.
// The root is no sub or neg: a difference that no sum uses would cost a negation. All other operands are leaves. A
// tree has at most LEAVES_MAX leaves.
//
// Order. Leaves that do not vary in the innermost loop come first, constants last, others in the order in which the
// function names them; the phases before have given equal values one register. So the order does not depend on the
// numbers of registers, which a second run of the program would change. A pair of leaves whose sum another instruction
// of the block needs comes before all. The result is a chain, (((a + b) + c) + d) + constant.
//
// Reasons. A tree that has none of these reasons stays, since ptxas reorders sums itself, and chooses worse addresses
// and shifted sums for some orders:
//   equal     another tree, in this block or in a dominating one, has the same leaves; the first one counts, too
//   pair      the sum of two leaves is computed in the block anyway, but not in this tree. Pairs of two trees of three
//             leaves are a reason only at 64 bits and for products: at 32 bits ptxas has instructions of three inputs
//   constants two constants, or leaves that cancel
//
// Invariant leaves of a loop that are not added first are no reason: ptxas hoists sums, and loses fused products and
// additions by the new order. With this reason, a kernel of samples/matmul.cu executes 9 % more SASS instructions at
// -O3, others at most 0.4 % fewer (sm_80, tried). Only at 64 bits or only at 32 bits, it loses as well.
#include "phases/scalar/reassociate/reassociate.h"

enum { LEAVES_MAX = 16, PAIRED_MAX = 8, NO_MATE = 0xff };

// A leaf: a register, a constant, or a product x * y.
typedef struct Leaf {
    Operand x, y;  // y is K_NONE unless the leaf is a product
    bool negative, varies;
    uint8_t mate;  // the other leaf of an instruction of two leaves
} Leaf;

typedef struct Tree {
    InstrId root;
    uint32_t first;  // its leaves are leaves.at[first ...]
    uint8_t n, kind, width;
    bool chain;    // each instruction has a leaf; the leaves of the innermost instruction come first
    uint64_t set;  // hash of the leaves, without their order
} Tree;

// The number of trees with a pair or set of leaves, of those whose block the block of the first one dominates.
typedef struct Count {
    uint64_t key;
    uint32_t n;
    BlockId block;
    InstrId last;  // root of the last of them: a tree counts once, however often it has the pair
    bool single;   // a tree of only this pair is among them
} Count;

typedef struct Trees {
    VEC(Tree) at;
    VEC(Leaf) leaves;
    VEC(Count) counts;
    IdSet index;
    VEC(InstrId) pairs;  // roots of trees of two leaves
    uint8_t *inner;      // by InstrId: part of a tree, but not its root
    uint32_t *place;     // by RegId below nplaces: number_registers(), from 1 on
    uint32_t nplaces;
    uint32_t ninstrs;
} Trees;

void trees_start(Reassoc *r)
{
    r->trees = NEW(&r->scratch, Trees);
    r->trees->ninstrs = r->fn->instrs.n;
}

/* -- Flattening ----------------------------------------------------------------------------------------- */

// Returns the kind of the trees that an instruction belongs to: one for sums.
static ReassocKind tree_kind(ReassocKind kind)
{
    return kind == R_SUB || kind == R_NEG || kind == R_MAD ? R_ADD : kind;
}

static Width width_of_def(const Fn *fn, const Instr *i)
{
    return (Width)ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width;
}

// Returns the inner instruction that defines an operand of a tree; 0 if the operand is a leaf. A negative product would
// need a negation.
static InstrId inner_instr(Reassoc *r, const Tree *t, Operand o, bool negative, BlockId block)
{
    const Fn *fn = r->fn;
    InstrId def = reassoc_def(r, o);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || i->block != block || width_of_def(fn, i) != t->width)
        return 0;
    ReassocKind kind = reassoc_kind(r, i);
    bool part = tree_kind(kind) == (ReassocKind)t->kind && !(kind == R_MAD && negative) && reassoc_one_use(r, o);
    return part && reassoc_is_movable(r, i) ? def : 0;
}

static void add_leaf(Reassoc *r, Tree *t, Operand x, Operand y, bool negative)
{
    Operand source = copy_source(r->fn, r->a, x);
    Leaf leaf = {
        .x = op_kind(y) == K_NONE && op_is_const(source) ? source : x, .y = y, .negative = negative, .mate = NO_MATE};
    VEC_PUSH(&r->scratch, &r->trees->leaves, leaf);
    t->n++;
}

// An operand that is still to be flattened.
typedef struct Part {
    InstrId instr;
    bool negative;
} Part;

// Adds the leaves of one instruction, and pushes its inner operands. Each of them has at most two leaves if its
// operands are not pushed.
static void flatten_instr(Reassoc *r, Tree *t, Part part, Part *stack, uint32_t *depth)
{
    const Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, part.instr);
    ReassocKind kind = reassoc_kind(r, i);
    const Operand *uses = ir_use(fn, i, 0);
    uint32_t leaves = 0, first = t->n, from = kind == R_MAD ? 2 : 0, n = ir_nuse(i);
    if (kind == R_MAD) {
        add_leaf(r, t, uses[0], uses[1], false);
        leaves++;
    }
    for (uint32_t k = from; k < n; k++) {
        bool negative = part.negative != (kind == R_NEG || (kind == R_SUB && k == 1));
        bool room = t->n + 2 * (*depth + 1) + (n - 1 - k) <= LEAVES_MAX;
        InstrId inner = room ? inner_instr(r, t, uses[k], negative, i->block) : 0;
        if (inner) {
            r->trees->inner[inner] = true;
            stack[(*depth)++] = (Part){inner, negative};
        } else {
            add_leaf(r, t, uses[k], op_none(), negative);
            leaves++;
        }
    }
    t->chain &= leaves > 0 || kind == R_NEG;
    if (leaves == 2) {
        Leaf *leaf = &r->trees->leaves.at[t->first];
        leaf[first].mate = (uint8_t)(first + 1);
        leaf[first + 1].mate = (uint8_t)first;
    }
}

// Reverses the leaves, so that those of the innermost instruction come first.
static void reverse_leaves(Leaf *leaf, uint32_t n)
{
    for (uint32_t k = 0; k < n / 2; k++) {
        Leaf other = leaf[k];
        leaf[k] = leaf[n - 1 - k];
        leaf[n - 1 - k] = other;
    }
    for (uint32_t k = 0; k < n; k++)
        if (leaf[k].mate != NO_MATE)
            leaf[k].mate = (uint8_t)(n - 1 - leaf[k].mate);
}

static void flatten(Reassoc *r, Tree *t)
{
    Part stack[LEAVES_MAX + 2];
    uint32_t depth = 0;
    stack[depth++] = (Part){t->root, false};
    while (depth) {
        Part part = stack[--depth];
        flatten_instr(r, t, part, stack, &depth);
    }
    reverse_leaves(&r->trees->leaves.at[t->first], t->n);
}

/* -- Counts --------------------------------------------------------------------------------------------- */

static bool is_bare(const Leaf *l) { return !l->negative && op_kind(l->y) == K_NONE; }

static uint64_t leaf_key(const Leaf *l)
{
    return hash_mix((uint64_t)l->x.word << 1 | l->negative, (uint64_t)l->y.word << 32 | l->x.mods);
}

static uint64_t pair_key(const Tree *t, const Leaf *a, const Leaf *b)
{
    uint64_t low = MIN(a->x.word, b->x.word), high = MAX(a->x.word, b->x.word);
    return hash_mix(low << 32 | high, (uint64_t)t->kind << 8 | t->width);
}

static Count *find_count(Trees *ts, uint64_t key)
{
    IDSET_EACH(&ts->index, (uint32_t)(key ^ key >> 32), k) {
        if (ts->counts.at[k].key == key)
            return &ts->counts.at[k];
    }
    return NULL;
}

static void count_key(Reassoc *r, uint64_t key, InstrId root, bool single)
{
    Trees *ts = r->trees;
    Count *c = find_count(ts, key);
    BlockId block = ir_instr(r->fn, root)->block;
    if (!c) {
        VEC_PUSH(&r->scratch, &ts->counts, ((Count){key, 1, block, root, single}));
        idset_add(&ts->index, &r->scratch, (uint32_t)(key ^ key >> 32), ts->counts.n - 1);
    } else if (!dominates(r->a, c->block, block)) {
        *c = (Count){key, 1, block, root, single};
    } else if (c->last != root) {
        c->n++;
        c->last = root;
        c->single |= single && c->block == block;
    }
}

// Counts the pairs and the set of a tree.
static void count_tree(Reassoc *r, const Tree *t)
{
    const Leaf *leaf = &r->trees->leaves.at[t->first];
    if (t->n > 2)
        count_key(r, t->set, t->root, false);
    for (uint32_t a = 0; a < t->n && t->n <= PAIRED_MAX; a++)
        for (uint32_t b = a + 1; b < t->n; b++)
            if (is_bare(&leaf[a]) && is_bare(&leaf[b]) && op_is_reg(leaf[a].x) && op_is_reg(leaf[b].x))
                count_key(r, pair_key(t, &leaf[a], &leaf[b]), t->root, t->n == 2);
}

static inline Tree tree_of(Reassoc *r, InstrId root)
{
    const Instr *i = ir_instr(r->fn, root);
    return (Tree){.root = root,
                  .first = r->trees->leaves.n,
                  .kind = (uint8_t)tree_kind(reassoc_kind(r, i)),
                  .width = (uint8_t)width_of_def(r->fn, i),
                  .chain = true};
}

// Counts a tree of two leaves.
static void count_pair(Reassoc *r, InstrId root)
{
    const Instr *i = ir_instr(r->fn, root);
    if (!i->block || reassoc_kind(r, i) == R_MAD)
        return;
    Tree t = tree_of(r, root);
    Leaf a = {.x = *ir_use(r->fn, i, 0)}, b = {.x = *ir_use(r->fn, i, 1)};
    if (op_is_reg(a.x) && op_is_reg(b.x))
        count_key(r, pair_key(&t, &a, &b), root, true);
}

// True if an instruction was removed, or its block comes before another one in preorder.
static bool is_before(const Reassoc *r, InstrId id, BlockId block)
{
    BlockId b = ir_instr(r->fn, id)->block;
    return !b || r->a->dom.pre[b] < r->a->dom.pre[block];
}

// Counts all trees. Distribution in later blocks may have removed some. Blocks come in preorder of the dominator tree,
// as they were collected.
static void count_all(Reassoc *r)
{
    const Trees *ts = r->trees;
    uint32_t pair = 0;
    for (uint32_t k = 0; k < ts->at.n; k++) {
        const Instr *root = ir_instr(r->fn, ts->at.at[k].root);
        if (!root->block)
            continue;
        while (pair < ts->pairs.n && is_before(r, ts->pairs.at[pair], root->block))
            count_pair(r, ts->pairs.at[pair++]);
        count_tree(r, &ts->at.at[k]);
    }
    while (pair < ts->pairs.n)
        count_pair(r, ts->pairs.at[pair++]);
}

/* -- Collecting ----------------------------------------------------------------------------------------- */

static bool may_be_root(ReassocKind kind) { return kind && kind != R_SUB && kind != R_NEG && kind != R_WIDE; }

// True if an instruction has an inner operand.
static bool has_inner(Reassoc *r, const Tree *t)
{
    const Instr *i = ir_instr(r->fn, t->root);
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        if (inner_instr(r, t, *ir_use(r->fn, i, k), false, i->block))
            return true;
    return false;
}

// Walks up, so that a root is visited before its inner instructions.
void trees_collect(Reassoc *r)
{
    Trees *ts = r->trees;
    const Fn *fn = r->fn;
    if (!ts->inner)
        ts->inner = NEW_ARRAY(&r->scratch, uint8_t, ts->ninstrs);
    for (uint32_t k = r->sums.n; k-- > 0;) {
        InstrId id = r->sums.at[k];
        const Instr *i = ir_instr(fn, id);
        ReassocKind kind = i->block && id < ts->ninstrs && !ts->inner[id] ? reassoc_kind(r, i) : R_NONE;
        if (!may_be_root(kind))
            continue;
        Tree t = tree_of(r, id);
        if (!has_inner(r, &t)) {
            VEC_PUSH(&r->scratch, &ts->pairs, id);
            continue;
        }
        flatten(r, &t);
        t.set = hash_mix(t.kind, t.width);
        for (uint32_t n = 0; n < t.n; n++)
            t.set += leaf_key(&ts->leaves.at[t.first + n]);
        VEC_PUSH(&r->scratch, &ts->at, t);
    }
}

/* -- Order ---------------------------------------------------------------------------------------------- */

// The new order of the leaves of a tree, and the reasons for it.
typedef struct Order {
    Leaf leaf[LEAVES_MAX];
    uint32_t n, constants;
    uint64_t constant;  // merged
    bool reason;
} Order;

// Numbers the registers by their first operand in dominance order. Phis do not count: those of a block have no order.
static void number_registers(Reassoc *r)
{
    Trees *ts = r->trees;
    const Fn *fn = r->fn;
    uint32_t n = 0;
    ts->nplaces = fn->regs.n;
    ts->place = NEW_ARRAY(&r->scratch, uint32_t, ts->nplaces);
    for (uint32_t b = 0; b < r->a->nrpo; b++)
        FOR_INSTRS(fn, r->a->dom.order[b], id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->nops && ir_desc(fn, i)->op != OP_PHI; k++)
                if (op_is_reg(ops[k]) && !ts->place[op_index(ops[k])])
                    ts->place[op_index(ops[k])] = ++n;
        }
}

// Returns the key of an operand in the order; new registers come last.
static uint64_t place_of(const Trees *ts, Operand o)
{
    uint64_t place = op_is_reg(o) && op_index(o) < ts->nplaces ? ts->place[op_index(o)] : UINT32_MAX;
    return place << 32 | o.word;
}

static int rank(const Leaf *l) { return op_is_const(l->x) && op_kind(l->y) == K_NONE ? 2 : l->varies; }

static bool comes_before(const Trees *ts, const Leaf *a, const Leaf *b)
{
    if (rank(a) != rank(b))
        return rank(a) < rank(b);
    if (a->x.word != b->x.word)
        return place_of(ts, a->x) < place_of(ts, b->x);
    return a->y.word != b->y.word ? place_of(ts, a->y) < place_of(ts, b->y) : a->negative < b->negative;
}

static void sort_leaves(const Trees *ts, Order *o)
{
    for (uint32_t k = 1; k < o->n; k++) {
        Leaf l = o->leaf[k];
        uint32_t at = k;
        for (; at && comes_before(ts, &l, &o->leaf[at - 1]); at--)
            o->leaf[at] = o->leaf[at - 1];
        o->leaf[at] = l;
    }
}

static uint64_t merged(ReassocKind kind, uint64_t a, uint64_t b)
{
    switch (kind) {
    case R_MUL: return a * b;
    case R_AND: return a & b;
    case R_OR: return a | b;
    case R_XOR: return a ^ b;
    default: return a + b;
    }
}

// Moves constants out of the leaves, into o->constant.
static void merge_constants(const Reassoc *r, const Tree *t, Order *o)
{
    uint32_t n = 0;
    o->constant = t->kind == R_MUL ? 1 : t->kind == R_AND ? UINT64_MAX : 0;
    for (uint32_t k = 0; k < o->n; k++) {
        const Leaf *l = &o->leaf[k];
        if (rank(l) < 2) {
            o->leaf[n++] = *l;
            continue;
        }
        uint64_t bits = constant_bits(r->fn, l->x);
        o->constant = merged((ReassocKind)t->kind, o->constant, l->negative ? -bits : bits);
        o->constants++;
    }
    o->n = n;
    o->constant &= low_ones(width_bits((Width)t->width));
    o->reason |= o->constants > 1;
}

// Removes leaves that cancel, and equal leaves of and, or. Equal leaves are neighbours.
static void cancel(const Tree *t, Order *o)
{
    uint32_t n = 0;
    bool idempotent = t->kind == R_AND || t->kind == R_OR;
    for (uint32_t k = 0; k < o->n; k++) {
        Leaf *last = n ? &o->leaf[n - 1] : NULL, *l = &o->leaf[k];
        bool same = last && op_same(last->x, l->x) && op_same(last->y, l->y) && op_is_reg(l->x);
        if (same && (t->kind == R_XOR || (t->kind == R_ADD && last->negative != l->negative))) {
            n--;
            o->reason = true;
        } else if (same && idempotent) {
            o->reason = true;
        } else {
            o->leaf[n++] = *l;
        }
    }
    o->n = n;
}

static void move_to(Order *o, uint32_t from, uint32_t to)
{
    Leaf l = o->leaf[from];
    for (; from > to; from--)
        o->leaf[from] = o->leaf[from - 1];
    o->leaf[to] = l;
}

// Finds the pair that most trees share. Of equal ones, the first in the order.
static bool find_pair(Reassoc *r, const Tree *t, const Order *o, uint32_t pair[static 2], bool *paid)
{
    BlockId block = ir_instr(r->fn, t->root)->block;
    const Count *best = NULL;
    bool three = t->width == W32 && t->kind != R_MUL;  // ptxas has an instruction of three inputs
    for (uint32_t a = 0; a < o->n && t->n <= PAIRED_MAX; a++)
        for (uint32_t b = a + 1; b < o->n; b++) {
            if (!is_bare(&o->leaf[a]) || !is_bare(&o->leaf[b]))
                continue;
            const Count *c = find_count(r->trees, pair_key(t, &o->leaf[a], &o->leaf[b]));
            if (!c || c->n < 2 || (c->block != block && !dominates(r->a, c->block, block)) || (best && c->n <= best->n))
                continue;
            best = c;
            pair[0] = a;
            pair[1] = b;
        }
    *paid = best && best->block == block && (best->single || !three);
    return best;
}

// Moves the most common pair to the front.
static void order_pair(Reassoc *r, const Tree *t, Order *o)
{
    uint32_t pair[2];
    bool paid;
    if (o->n < 2 || !find_pair(r, t, o, pair, &paid))
        return;
    const Leaf *a = &o->leaf[pair[0]], *b = &o->leaf[pair[1]];
    bool together = a->mate != NO_MATE && op_same(r->trees->leaves.at[t->first + a->mate].x, b->x);
    o->reason |= paid && !together;
    move_to(o, pair[0], 0);
    move_to(o, pair[1], 1);
}

// True if the tree is the chain of this order already.
static bool is_in_order(const Reassoc *r, const Tree *t, const Order *o)
{
    const Leaf *leaf = &r->trees->leaves.at[t->first];
    if (!t->chain || o->n + o->constants != t->n || o->constants > 1)
        return false;
    for (uint32_t k = 0; k < o->n; k++) {
        const Leaf *l = &leaf[k < 2 && !op_same(o->leaf[0].x, leaf[0].x) ? 1 - k : k];
        if (!op_same(l->x, o->leaf[k].x) || !op_same(l->y, o->leaf[k].y) || l->negative != o->leaf[k].negative)
            return false;
    }
    return true;
}

// Moves a leaf to the front with which a chain may begin: a positive register. False: there is none.
static bool order_first(Order *o)
{
    uint32_t k = 0;
    while (k < o->n && !is_bare(&o->leaf[k]))
        k++;
    if (k == o->n)
        return false;
    move_to(o, k, 0);
    return true;
}

static void find_varying(Reassoc *r, const Tree *t)
{
    BlockId block = ir_instr(r->fn, t->root)->block;
    for (uint32_t k = 0; k < t->n; k++) {
        Leaf *l = &r->trees->leaves.at[t->first + k];
        l->varies = reassoc_varies(r, l->x, block) || (op_kind(l->y) != K_NONE && reassoc_varies(r, l->y, block));
    }
}

static void order_leaves(Reassoc *r, const Tree *t, Order *o)
{
    *o = (Order){.n = t->n};
    memcpy(o->leaf, &r->trees->leaves.at[t->first], t->n * sizeof *o->leaf);
    merge_constants(r, t, o);
    sort_leaves(r->trees, o);
    cancel(t, o);
    const Count *set = find_count(r->trees, t->set);
    o->reason |= set && set->n > 1;
    order_pair(r, t, o);
}

// Finds the new order of a tree. False: the tree stays.
static bool find_order(Reassoc *r, const Tree *t, Order *o)
{
    order_leaves(r, t, o);
    bool reason = o->reason;
    if (!reason && !remarks_wanted(r->ctx))
        return false;
    find_varying(r, t);
    order_leaves(r, t, o);
    bool differs = order_first(o) && !is_in_order(r, t, o);
    if (differs && !reason)
        remark(r->ctx, r->fn, t->root, RM_MISSED, "LoneTree",
               "{Operands:%u} operands keep their order: no other computation has the same operands or two of them, "
               "and at "
               "most one is a constant; ptxas orders such trees itself",
               t->n);
    return differs && reason;
}

/* -- Rebuilding ----------------------------------------------------------------------------------------- */

static Opcode opcode_of(ReassocKind kind)
{
    switch (kind) {
    case R_MUL: return OP_MUL_LO;
    case R_AND: return OP_AND;
    case R_OR: return OP_OR;
    case R_XOR: return OP_XOR;
    default: return OP_ADD;
    }
}

// True if the merged constant is the identity of the operation.
static bool is_identity(const Tree *t, uint64_t constant)
{
    return constant == (t->kind == R_MUL ? 1 : t->kind == R_AND ? low_ones(width_bits((Width)t->width)) : 0);
}

// Returns the operands of the instruction that combines the chain so far with a leaf.
static Opcode combine(const Tree *t, Operand chain, const Leaf *l, Operand uses[static 3], uint32_t *n)
{
    *n = 2;
    uses[0] = chain;
    uses[1] = l->x;
    if (op_kind(l->y) == K_NONE)
        return l->negative ? OP_SUB : opcode_of((ReassocKind)t->kind);
    *n = 3;
    uses[0] = l->x;
    uses[1] = l->y;
    uses[2] = chain;
    return OP_MAD_LO;
}

static void rebuild(Reassoc *r, const Tree *t, Order *o)
{
    Operand chain = o->leaf[0].x, uses[3];
    uint32_t n;
    if (o->constants && !is_identity(t, o->constant))
        o->leaf[o->n++] = (Leaf){.x = op_const(r->fn, o->constant, (Width)t->width)};
    for (uint32_t k = 1; k + 1 < o->n; k++) {
        Opcode op = combine(t, chain, &o->leaf[k], uses, &n);
        chain = reassoc_insert(r, t->root, op, (Width)t->width, uses, n);
    }
    if (o->n == 1) {
        reassoc_replace(r, t->root, OP_MOV, (Width)t->width, &chain, 1);
        return;
    }
    Opcode op = combine(t, chain, &o->leaf[o->n - 1], uses, &n);
    reassoc_replace(r, t->root, op, (Width)t->width, uses, n);
}

// True if the knob forbids to merge the constants of a tree: their sum has more than 32 bits.
static bool is_large_sum(const Reassoc *r, const Tree *t, const Order *o)
{
    int64_t sum = (int64_t)o->constant;
    return t->kind == R_ADD && t->width == W64 && o->constants > 1 && sum != (int32_t)sum &&
           !knob_is_set(&r->ctx->knobs, KNOB_REASSOCIATE_LARGE_IMM);
}

bool trees_rewrite(Reassoc *r)
{
    Trees *ts = r->trees;
    bool progress = false;
    if (!ts->at.n)
        return false;
    count_all(r);
    number_registers(r);
    for (uint32_t k = 0; k < ts->at.n; k++) {
        const Tree *t = &ts->at.at[k];
        Order o;
        if (t->n < 3 || !ir_instr(r->fn, t->root)->block || !find_order(r, t, &o) || is_large_sum(r, t, &o) ||
            !reassoc_may(r, KNOB_REASSOCIATE_BUDGET))
            continue;
        remark(r->ctx, r->fn, t->root, RM_PASSED, "Reassociated", "{Operands:%u} operands in another order", t->n);
        rebuild(r, t, &o);
        progress = true;
    }
    return progress;
}
