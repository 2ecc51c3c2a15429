/* SPDX-License-Identifier: MIT */
/*
 * Generates programs in SSA form for benchmarks, printed as PTX or, the same program, as LLVM IR.
 *
 *   ssa SHAPE N SEED ptx|ll       about N instructions
 *
 *   straight          one block
 *   branchy           a row of nested if/else with a phi or two at each join; the dominator tree of a million
 *                     instructions is some thousand levels deep
 *   deep              a chain of blocks, each of which may leave the function: a level of the dominator tree every ten
 *                     instructions; sixteen exits join in a phi
 *   switch            a row of loops around a switch of 64 cases, with 16 loop-carried variables, a few of which each
 *                     case changes: phis of 64 inputs, an input every five instructions
 *   branchy-module    branchy, as many functions
 *
 * A register has one definition, except the result of a phi: in PTX each predecessor of the join defines that
 * register, by the operation that computes the value or by a move, as in nvcc's output. In LLVM IR these definitions
 * are %r7.1, %r7.2 and so on, and the phi is %r7. One walk makes both texts and counts PTX instructions; nearly all of
 * them are also one instruction in LLVM IR.
 *
 * Code is dead, redundant or invariant only by chance: an operand is preferably the oldest unused value, unused values
 * are stored at the end of a scope, no two addresses have the same index, and a condition depends on a value loaded
 * just before it. So a tool must analyze all code, and keeps 99 % of it.
 */
#include "gen.h"

typedef enum { INT, FLOAT, POOLS, WIDE = POOLS, PRED, LABEL, TABLE, PARAMETER, NUMBER, KINDS } Kind;

/* A register, label, number and so on. Only LLVM IR distinguishes the versions of a register. */
typedef struct {
    Kind kind;
    int n, version;
} Value;

/* The usable values of a kind, innermost scope last. All before `unread` have uses. */
typedef struct {
    struct {
        Value value;
        bool used, is_index;
    } * v;
    int n, cap, unread;
} Pool;

/* Sizes of the pools at the start of a scope. */
typedef struct {
    int n[POOLS];
} Mark;

/* The current function. */
typedef struct {
    Text *out;
    bool llvm;
    uint64_t rng;
    int index;         /* number of the function */
    int count, budget; /* in PTX instructions */
    int last[KINDS];   /* number of the last register or label of a kind */
    Value block;       /* the label of the current block */
    Pool pool[POOLS];
    Mark floor; /* operands are above it: values that vary in a loop; values that a case has not overwritten */
} Gen;

/* -- Printing --------------------------------------------------------------------------------------------------- */

/* Prefix of the number of a value; # is the function. */
static const struct {
    const char *ptx, *llvm, *type;
} spelling[KINDS] = {
    [INT] = {"%r", "%r", "i32"},
    [FLOAT] = {"%f", "%f", "float"},
    [WIDE] = {"%rd", "%rd", "i64"},
    [PRED] = {"%p", "%p", "i1"},
    [LABEL] = {"$L__BB#_", "L", ""},
    [TABLE] = {"$L_brx_", "", ""},
    [PARAMETER] = {"kernel_#_param_", "", ""},
    [NUMBER] = {"", "", "i32"},
};

static void put_text(Gen *g, const char *s) { put(g->out, s, strlen(s)); }

static void put_value(Gen *g, Value v)
{
    print(g->out, g->llvm ? spelling[v.kind].llvm : spelling[v.kind].ptx, g->index);
    put_number(g->out, v.n);
    if (v.version && g->llvm)
        print(g->out, ".#", v.version);
}

/* Prints an instruction in the output language; $0 to $9 are operands. It may be empty in one language. */
static void emit(Gen *g, const char *ptx, const char *llvm, const Value *operands)
{
    const char *s = g->llvm ? llvm : ptx;
    g->count += *ptx != '\0';
    if (!*s)
        return;
    put_text(g, "\t");
    for (const char *p; (p = strchr(s, '$')); s = p + 2) {
        put(g->out, s, (size_t)(p - s));
        put_value(g, operands[p[1] - '0']);
    }
    put_text(g, s);
    put_text(g, g->llvm ? "\n" : ";\n");
}

static const Value some = {.kind = NUMBER}; /* no particular register */

static Value fresh(Gen *g, Kind kind) { return (Value){kind, ++g->last[kind], 0}; }

/* Starts a block that branches may reach. */
static void begin(Gen *g, Value label)
{
    put_text(g, "\n");
    put_value(g, label);
    put_text(g, ":\n");
    g->block = label;
}

/* Starts a block whose only predecessor is the previous one: PTX needs no label. */
static void go_on(Gen *g, Value label)
{
    if (g->llvm)
        begin(g, label);
}

static void jump(Gen *g, Value to) { emit(g, "bra.uni \t$0", "br label %$0", &to); }

/* Ends a block whose successor is printed next. */
static void fall(Gen *g, Value to) { emit(g, "", "br label %$0", &to); }

/* Prints a branch to `to` or `other`; the block `other` must follow. */
static void branch(Gen *g, Value condition, Value to, Value other)
{
    emit(g, "@$0 bra \t$1", "br i1 $0, label %$1, label %$2", (Value[]){condition, to, other});
}

/* Prints a phi: `v` is inputs[k] on the edge from from[k]. In PTX the predecessors have assigned `v`. */
static void phi(Gen *g, Value v, const Value *inputs, const Value *from, int n)
{
    if (!g->llvm)
        return;
    put_text(g, "\t");
    put_value(g, v);
    put_text(g, " = phi ");
    put_text(g, spelling[v.kind].type);
    for (int k = 0; k < n; k++) {
        put_text(g, k ? ", [ " : " [ ");
        put_value(g, inputs[k]);
        put_text(g, ", %");
        put_value(g, from[k]);
        put_text(g, " ]");
    }
    put_text(g, "\n");
}

/* -- Values ----------------------------------------------------------------------------------------------------- */

static int roll(Gen *g, int n) { return below(&g->rng, n); }

/* Makes a value usable until the end of the scope. */
static void push(Gen *g, Value v)
{
    Pool *p = &g->pool[v.kind];
    if (p->n == p->cap)
        p->v = grow(p->v, (size_t)(p->cap = p->cap * 2 + 64) * sizeof *p->v);
    memset(&p->v[p->n], 0, sizeof *p->v);
    p->v[p->n++].value = v;
}

/* Returns the index of the first unused value from `lo` on, or -1. */
static int oldest_unread(Pool *p, int lo)
{
    while (p->unread < p->n && p->v[p->unread].used)
        p->unread++;
    for (int k = p->unread > lo ? p->unread : lo; k < p->n; k++)
        if (!p->v[k].used)
            return k;
    return -1;
}

/* Returns an operand other than `but`: mostly the oldest unused value, else one of the last 12, seldom of the last 200.
 */
static Value pick(Gen *g, Kind kind, Value but)
{
    Pool *p = &g->pool[kind];
    int k = roll(g, 10) < 7 ? oldest_unread(p, g->floor.n[kind]) : -1;
    while (k < 0 || (p->v[k].value.n == but.n && but.kind == kind)) {
        int window = roll(g, 30) ? 12 : 200, all = p->n - g->floor.n[kind];
        k = p->n - 1 - roll(g, all < window ? all : window);
    }
    p->v[k].used = true;
    return p->v[k].value;
}

static Value newest(Gen *g, Kind kind)
{
    Pool *p = &g->pool[kind];
    p->v[p->n - 1].used = true;
    return p->v[p->n - 1].value;
}

/* Returns an integer that is no index yet, so that addresses differ; any integer if there is none nearby. */
static Value pick_index(Gen *g)
{
    Pool *p = &g->pool[INT];
    for (int k = p->n - 1 - roll(g, 4), tries = 12; k >= g->floor.n[INT] && tries; k--, tries--)
        if (!p->v[k].is_index) {
            p->v[k].is_index = p->v[k].used = true;
            return p->v[k].value;
        }
    return pick(g, INT, some);
}

static Mark mark(const Gen *g)
{
    Mark m;
    for (int k = 0; k < POOLS; k++)
        m.n[k] = g->pool[k].n;
    return m;
}

static void release(Gen *g, Mark m)
{
    for (int k = 0; k < POOLS; k++) {
        g->pool[k].n = m.n[k];
        if (g->pool[k].unread > m.n[k])
            g->pool[k].unread = m.n[k];
    }
}

/* -- Instructions ----------------------------------------------------------------------------------------------- */

/*
 * Operands, the result first, a letter each: i an integer, f a float, I and F the newest of them, p the predicate of a
 * comparison before the instruction, n a small odd number, 1 to 4 the address of an element of that array, - no result.
 * Arrays 1 and 3 have integers, 2 and 4 floats; 1 and 2 are read, 3 and 4 written.
 */
typedef struct {
    int weight;
    const char *operands, *ptx, *llvm;
} Op;

static const Op operations[] = {
    {8, "iii", "add.s32 \t$0, $1, $2", "$0 = add i32 $1, $2"},
    {4, "iii", "sub.s32 \t$0, $1, $2", "$0 = sub i32 $1, $2"},
    {4, "iii", "mul.lo.s32 \t$0, $1, $2", "$0 = mul i32 $1, $2"},
    {4, "iii", "xor.b32 \t$0, $1, $2", "$0 = xor i32 $1, $2"},
    {1, "iii", "and.b32 \t$0, $1, $2", "$0 = and i32 $1, $2"},
    {1, "iii", "or.b32 \t$0, $1, $2", "$0 = or i32 $1, $2"},
    {2, "iii", "min.s32 \t$0, $1, $2", "$0 = call i32 @llvm.smin.i32(i32 $1, i32 $2)"},
    {5, "iin", "add.s32 \t$0, $1, $2", "$0 = add i32 $1, $2"},
    {2, "iin", "mul.lo.s32 \t$0, $1, $2", "$0 = mul i32 $1, $2"},
    {2, "iin", "xor.b32 \t$0, $1, $2", "$0 = xor i32 $1, $2"},
    {6, "fff", "add.f32 \t$0, $1, $2", "$0 = fadd float $1, $2"},
    {3, "fff", "sub.f32 \t$0, $1, $2", "$0 = fsub float $1, $2"},
    {6, "fff", "mul.f32 \t$0, $1, $2", "$0 = fmul float $1, $2"},
    {6, "ffff", "fma.rn.f32 \t$0, $1, $2, $3", "$0 = call float @llvm.fma.f32(float $1, float $2, float $3)"},
};

static const Op others[] = {
    {2, "fi", "cvt.rn.f32.s32 \t$0, $1", "$0 = sitofp i32 $1 to float"},
    {1, "if", "cvt.rzi.s32.f32 \t$0, $1", "$0 = fptosi float $1 to i32"},
    {2, "iiip", "selp.b32 \t$0, $1, $2, $3", "$0 = select i1 $3, i32 $1, i32 $2"},
    {1, "fffp", "selp.f32 \t$0, $1, $2, $3", "$0 = select i1 $3, float $1, float $2"},
};

static const Op loads[POOLS] = {
    [INT] = {1, "i1", "ld.global.b32 \t$0, [$1]", "$0 = load i32, i32 addrspace(1)* $1"},
    [FLOAT] = {1, "f2", "ld.global.b32 \t$0, [$1]", "$0 = load float, float addrspace(1)* $1"},
};

static const Op stores[POOLS] = {
    [INT] = {1, "-3i", "st.global.b32 \t[$1], $2", "store i32 $2, i32 addrspace(1)* $1"},
    [FLOAT] = {1, "-4f", "st.global.b32 \t[$1], $2", "store float $2, float addrspace(1)* $1"},
};

/* Only strict comparisons: a set of false ones never implies a true one, so that no chain of exits can be cut. */
static const Op comparisons[] = {
    {5, "pIi", "setp.lt.s32 \t$0, $1, $2", "$0 = icmp slt i32 $1, $2"},
    {3, "pIi", "setp.gt.s32 \t$0, $1, $2", "$0 = icmp sgt i32 $1, $2"},
    {2, "pIi", "setp.gt.u32 \t$0, $1, $2", "$0 = icmp ugt i32 $1, $2"},
    {2, "pIn", "setp.gt.s32 \t$0, $1, $2", "$0 = icmp sgt i32 $1, $2"},
    {3, "pFf", "setp.lt.f32 \t$0, $1, $2", "$0 = fcmp olt float $1, $2"},
};

/* Returns a row of a table, with a probability by its weight. */
static const Op *choose(Gen *g, const Op *table, size_t bytes)
{
    int total = 0;
    for (size_t k = 0; k < bytes / sizeof *table; k++)
        total += table[k].weight;
    total = roll(g, total);
    while ((total -= table->weight) >= 0)
        table++;
    return table;
}
#define CHOOSE(g, table) choose(g, table, sizeof table)

static Value compare(Gen *g);

/* Returns the address of an element of an array, indexed by an integer. */
static Value address(Gen *g, int array)
{
    Value index = pick_index(g), offset = fresh(g, WIDE), sum = fresh(g, WIDE);
    emit(g, "mul.wide.s32 \t$0, $1, 4", "$0 = sext i32 $1 to i64", (Value[]){offset, index});
    emit(g, "add.s64 \t$0, $1, $2",
         array % 2 ? "$0 = getelementptr i32, i32 addrspace(1)* $1, i64 $2"
                   : "$0 = getelementptr float, float addrspace(1)* $1, i64 $2",
         (Value[]){sum, {WIDE, array, 0}, offset});
    return sum;
}

static Value operand(Gen *g, char what, Value but)
{
    switch (what) {
    case 'i': return pick(g, INT, but);
    case 'f': return pick(g, FLOAT, but);
    case 'I': return newest(g, INT);
    case 'F': return newest(g, FLOAT);
    case 'p': return compare(g);
    case 'n': return (Value){NUMBER, 3 + 2 * roll(g, 14), 0};
    default: return address(g, what - '0');
    }
}

/* Prints `op` with operands of its kinds, as a definition of `result` or of a new register. */
static Value perform(Gen *g, const Op *op, Value result)
{
    Value v[4] = {result, result, result, result};
    for (int k = 1; op->operands[k]; k++)
        v[k] = operand(g, op->operands[k], v[k - 1]);
    if (result.kind == some.kind && op->operands[0] != '-')
        v[0] = fresh(g, op->operands[0] == 'i' ? INT : op->operands[0] == 'f' ? FLOAT : PRED);
    emit(g, op->ptx, op->llvm, v);
    return v[0];
}

static Value compare(Gen *g) { return perform(g, CHOOSE(g, comparisons), some); }

/* Returns an unknown condition: it depends on a value loaded just before it. */
static Value condition(Gen *g)
{
    const Op *op = CHOOSE(g, comparisons);
    push(g, perform(g, &loads[op->operands[1] == 'I' ? INT : FLOAT], some));
    return perform(g, op, some);
}

static void statement(Gen *g)
{
    int k = roll(g, 100);
    if (k < 4)
        perform(g, &stores[roll(g, POOLS)], some);
    else
        push(g, perform(g, k < 16 ? &loads[roll(g, POOLS)] : k < 26 ? CHOOSE(g, others) : CHOOSE(g, operations), some));
}

static void statements(Gen *g, int size)
{
    for (int end = g->count + size; g->count < end;)
        statement(g);
}

/* Stores the unused values since the mark. */
static void drain(Gen *g, Mark m)
{
    for (int k = 0; k < POOLS; k++)
        while (oldest_unread(&g->pool[k], m.n[k]) >= 0)
            perform(g, &stores[k], some);
}

/* Assigns `v` at the end of a predecessor of a join. Returns the value for the phi. */
static Value assign(Gen *g, Value v, int version)
{
    if (!roll(g, 3)) {
        Value from = pick(g, v.kind, some);
        emit(g, "mov.b32 \t$0, $1", "", (Value[]){v, from});
        return from;
    }
    const Op *op;
    do
        op = CHOOSE(g, operations);
    while (op->operands[0] != (v.kind == INT ? 'i' : 'f'));
    v.version = version;
    return perform(g, op, v);
}

/* -- Shapes ----------------------------------------------------------------------------------------------------- */

static void straight(Gen *g) { statements(g, g->budget - g->count); }

static void region(Gen *g, int size);

static void diamond(Gen *g, int size)
{
    Value test = condition(g), then = fresh(g, LABEL), other = fresh(g, LABEL), end = fresh(g, LABEL);
    int phis = 1 + roll(g, 2), first = roll(g, POOLS);
    Value v[2], inputs[2][2], from[2];

    for (int k = 0; k < phis; k++)
        v[k] = fresh(g, (first + k) % POOLS);
    branch(g, test, other, then);
    go_on(g, then);
    for (int a = 0; a < 2; a++) {
        Mark m = mark(g);
        region(g, size / 2);
        for (int k = 0; k < phis; k++)
            inputs[k][a] = assign(g, v[k], 1 + a);
        drain(g, m);
        release(g, m);
        from[a] = g->block;
        if (a == 0) {
            jump(g, end);
            begin(g, other);
        }
    }
    fall(g, end);
    begin(g, end);
    for (int k = 0; k < phis; k++) {
        phi(g, v[k], inputs[k], from, 2);
        push(g, v[k]);
    }
}

/* Writes an arm: straight code, and diamonds while there is room. */
static void region(Gen *g, int size)
{
    int end = g->count + size, left;
    statements(g, size < 16 ? size : 8 + roll(g, 8));
    while ((left = end - g->count) >= 40)
        diamond(g, 32 + roll(g, left - 32));
    statements(g, left);
}

static void branchy(Gen *g)
{
    int left;
    while ((left = g->budget - g->count) >= 40) {
        statements(g, 6 + roll(g, 10));
        diamond(g, left < 1000 ? left : 100 + roll(g, 900));
    }
}

/* Writes a chain of sixteen blocks, each with a branch to a returning block after the last one. */
static void early_exits(Gen *g)
{
    enum { BLOCKS = 16 };
    Value result = fresh(g, INT), leave = fresh(g, LABEL), inputs[BLOCKS], from[BLOCKS], next = leave;
    for (int k = 0; k < BLOCKS; k++) {
        statements(g, 2 + roll(g, 3));
        inputs[k] = assign(g, result, 1 + k);
        from[k] = g->block;
        Value test = condition(g);
        next = fresh(g, LABEL);
        if (k < BLOCKS - 1) {
            branch(g, test, leave, next);
            go_on(g, next);
        } else {
            emit(g, "@!$0 bra \t$1", "br i1 $0, label %$2, label %$1", (Value[]){test, next, leave});
        }
    }
    begin(g, leave);
    phi(g, result, inputs, from, BLOCKS);
    emit(g, stores[INT].ptx, stores[INT].llvm, (Value[]){some, {WIDE, 3, 0}, result});
    emit(g, "ret", "ret void", NULL);
    begin(g, next);
}

static void deep(Gen *g)
{
    while (g->count < g->budget)
        early_exits(g);
}

enum { CASES = 64, VARIABLES = 16, CHANGES = 4 };

/* The versions of a variable: in the header, before the loop, before the back edge, in the first case. */
enum { HEADER, START, NEXT, CASE };

static Value version(Value v, int n) { return (Value){v.kind, v.n, n}; }

static void switch_to(Gen *g, Value selector, const Value *label)
{
    Value table = {TABLE, label[0].n, 0};
    if (!g->llvm) {
        put_value(g, table);
        put_text(g, ": .branchtargets\n\t");
        for (int c = 0; c < CASES; c++) {
            put_value(g, label[c]);
            put_text(g, c < CASES - 1 ? ",\n\t" : ";\n");
        }
    }
    emit(g, "brx.idx \t$0, $1", "switch i32 $0, label %$2 [", (Value[]){selector, table, label[0]});
    for (int c = 1; c < CASES; c++)
        emit(g, "", "\ti32 $0, label %$1", (Value[]){{NUMBER, c, 0}, label[c]});
    emit(g, "", "]", NULL);
}

/* Writes case `c`, which changes some variables. result[k] is the value of v[k] at its end. */
static void switch_case(Gen *g, int size, const Value *v, Value *result, int c)
{
    Mark outside = mark(g), floor = g->floor;
    statements(g, size);
    drain(g, outside);
    memcpy(result, v, VARIABLES * sizeof *v);
    g->floor = outside;
    for (int n = 0, k = roll(g, VARIABLES); n < CHANGES; n++, k = (k + 5) % VARIABLES)
        if (g->pool[v[k].kind].n - outside.n[v[k].kind] >= 2)
            result[k] = assign(g, v[k], CASE + c);
    g->floor = floor;
    release(g, outside);
}

/* Writes the body of a loop: a switch over a loaded value, and the join before the back edge, where v[k] gets its next
   version. Its operands are only the variables, so it has no invariant code. */
static void switch_body(Gen *g, int size, const Value *v, Value join)
{
    Value result[CASES][VARIABLES], label[CASES], from[CASES], inputs[CASES];
    Value opcode = perform(g, &loads[INT], some), selector = fresh(g, INT);

    emit(g, "and.b32 \t$0, $1, $2", "$0 = and i32 $1, $2", (Value[]){selector, opcode, {NUMBER, CASES - 1, 0}});
    for (int c = 0; c < CASES; c++)
        label[c] = fresh(g, LABEL);
    switch_to(g, selector, label);
    for (int c = 0; c < CASES; c++) {
        begin(g, label[c]);
        switch_case(g, size / CASES / 2 + roll(g, size / CASES / 2 + 1), v, result[c], c);
        from[c] = g->block;
        if (c < CASES - 1)
            jump(g, join);
    }
    fall(g, join);
    begin(g, join);
    for (int k = 0; k < VARIABLES; k++) {
        for (int c = 0; c < CASES; c++)
            inputs[c] = result[c][k];
        phi(g, version(v[k], NEXT), inputs, from, CASES);
    }
}

/* Writes a loop around a switch. Variables start with values from before the loop, and are usable after it. */
static void switch_loop(Gen *g, int size)
{
    Value counter = fresh(g, INT), again = fresh(g, PRED), v[VARIABLES], start[VARIABLES];
    Value top = fresh(g, LABEL), join = fresh(g, LABEL), after = fresh(g, LABEL);

    for (int k = 0; k < VARIABLES; k++) {
        v[k] = fresh(g, k < 10 ? INT : FLOAT);
        start[k] = assign(g, v[k], START);
    }
    emit(g, "mov.b32 \t$0, 0", "", &counter);
    fall(g, top);

    Value from[2] = {g->block, join}, next = version(counter, NEXT);
    Mark outside = mark(g);
    begin(g, top);
    g->floor = outside;
    phi(g, counter, (Value[]){{NUMBER, 0, 0}, next}, from, 2);
    for (int k = 0; k < VARIABLES; k++) {
        phi(g, v[k], (Value[]){start[k], version(v[k], NEXT)}, from, 2);
        push(g, v[k]);
    }
    switch_body(g, size, v, join);
    emit(g, "add.s32 \t$0, $1, 1", "$0 = add i32 $1, 1", (Value[]){next, counter});
    emit(g, "setp.lt.s32 \t$0, $1, $2", "$0 = icmp slt i32 $1, $2", (Value[]){again, next, {INT, 1, 0}});
    branch(g, again, top, after);
    go_on(g, after);
    release(g, outside);
    g->floor = (Mark){{0}};
    for (int k = 0; k < VARIABLES; k++)
        push(g, version(v[k], NEXT));
}

static void switches(Gen *g)
{
    int loops = g->budget / 5000 + 1;
    for (int k = 0; k < loops; k++)
        switch_loop(g, g->budget / loops);
}

/* -- Functions -------------------------------------------------------------------------------------------------- */

static const struct {
    Value value;
    const char *ptx, *llvm;
} parameters[] = {
    {{WIDE, 1, 0}, "u64", "i32 addrspace(1)* "},
    {{WIDE, 2, 0}, "u64", "float addrspace(1)* "},
    {{WIDE, 3, 0}, "u64", "i32 addrspace(1)* "},
    {{WIDE, 4, 0}, "u64", "float addrspace(1)* "},
    {{INT, 1, 0}, "u32", "i32 "},
    {{INT, 2, 0}, "u32", "i32 "},
    {{FLOAT, 1, 0}, "f32", "float "},
    {{FLOAT, 2, 0}, "f32", "float "},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters, ARRAYS = 4 };

/* Prints the start of the body; in LLVM IR, parameters are values already. */
static void prologue(Gen *g)
{
    memcpy(g->last, (int[KINDS]){[INT] = 2, [FLOAT] = 2, [WIDE] = 2 * ARRAYS}, sizeof g->last);
    for (int k = 0; k < PARAMETERS; k++) {
        Value v = parameters[k].value, generic = {WIDE, v.n + ARRAYS, 0}, from = {PARAMETER, k, 0};
        if (k < ARRAYS) {
            emit(g, "ld.param.b64 \t$0, [$1]", "", (Value[]){generic, from});
            emit(g, "cvta.to.global.u64 \t$0, $1", "", (Value[]){v, generic});
        } else {
            emit(g, "ld.param.b32 \t$0, [$1]", "", (Value[]){v, from});
            push(g, v);
        }
    }
    Value ctaid = fresh(g, INT), ntid = fresh(g, INT), tid = fresh(g, INT), index = fresh(g, INT);
    emit(g, "mov.u32 \t$0, %ctaid.x", "$0 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()", &ctaid);
    emit(g, "mov.u32 \t$0, %ntid.x", "$0 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()", &ntid);
    emit(g, "mov.u32 \t$0, %tid.x", "$0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", &tid);
    emit(g, "mad.lo.s32 \t$0, $1, $2, $3", "%base = mul i32 $1, $2\n\t$0 = add i32 %base, $3",
         (Value[]){index, ctaid, ntid, tid});
    push(g, index);
}

/* Prints the head of the function, after its body is known. */
static void opening(Gen *g)
{
    static const char *const classes[] = {
        [INT] = "\t.reg .b32 \t%r<#>;\n",
        [FLOAT] = "\t.reg .b32 \t%f<#>;\n",
        [WIDE] = "\t.reg .b64 \t%rd<#>;\n",
        [PRED] = "\t.reg .pred \t%p<#>;\n",
    };

    print(g->out, g->llvm ? "\ndefine void @kernel_#(" : "\n.visible .entry kernel_#(", g->index);
    for (int k = 0; k < PARAMETERS; k++) {
        put_text(g, k ? ", " : "");
        print(g->out, g->llvm ? "" : "\n\t.param .");
        put_text(g, g->llvm ? parameters[k].llvm : parameters[k].ptx);
        put_text(g, g->llvm ? "" : " ");
        put_value(g, g->llvm ? parameters[k].value : (Value){PARAMETER, k, 0});
    }
    put_text(g, g->llvm ? ") {\nL0:\n" : "\n)\n{\n");
    for (int k = 0; k < LABEL && !g->llvm; k++)
        print(g->out, classes[k], g->last[k] + 1);
}

/* Writes a kernel of about `size` instructions. */
static int kernel(Gen *g, Text *body, int size, void (*shape)(Gen *))
{
    Text top = {NULL, 0, 0};
    Mark all = {{0}};
    release(g, all);
    g->out = body;
    g->count = 0;
    g->budget = size;
    g->block = (Value){LABEL, 0, 0};
    prologue(g);
    shape(g);
    drain(g, all);
    emit(g, "ret", "ret void", NULL);
    put_text(g, "}\n");
    g->out = &top;
    opening(g);
    flush(&top);
    flush(body);
    free(top.data);
    return g->count;
}

static const char ptx_header[] = "//\n// Generated by gen for benchmarks\n//\n\n"
                                 ".version 8.0\n.target sm_80\n.address_size 64\n";
static const char llvm_header[] = "; Generated by gen for benchmarks\n\n"
                                  "declare i32 @llvm.smin.i32(i32, i32)\n"
                                  "declare float @llvm.fma.f32(float, float, float)\n"
                                  "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                                  "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
                                  "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*shape)(Gen *);
        bool module;
    } shapes[] = {
        {"straight", straight, false}, {"branchy", branchy, false},       {"deep", deep, false},
        {"switch", switches, false},   {"branchy-module", branchy, true},
    };
    if (argc != 5) {
        fprintf(stderr, "usage: ssa SHAPE N SEED ptx|ll\n");
        return 2;
    }
    size_t row = 0;
    while (row < sizeof shapes / sizeof *shapes && strcmp(argv[1], shapes[row].name))
        row++;
    long left = strtol(argv[2], NULL, 10);
    bool llvm = !strcmp(argv[4], "ll");
    if (row == sizeof shapes / sizeof *shapes)
        die("there is no such shape");
    if (left < 1 || left > 100000000)
        die("N is out of range (1..100000000)");
    if (!llvm && strcmp(argv[4], "ptx"))
        die("the language is ptx or ll");

    Text body = {NULL, 0, 0};
    Gen g = {.out = &body, .llvm = llvm, .rng = strtoull(argv[3], NULL, 10) * 0x2545f4914f6cdd1du};
    put_text(&g, llvm ? llvm_header : ptx_header);
    flush(&body);
    for (; left > 0; g.index++) {
        int size = shapes[row].module ? function_size(&g.rng) : (int)left;
        left -= kernel(&g, &body, size < left ? size : (int)left, shapes[row].shape);
        if (!shapes[row].module)
            break;
    }
    for (int k = 0; k < POOLS; k++)
        free(g.pool[k].v);
    free(body.data);
    return fflush(stdout) ? 1 : 0;
}
