// SPDX-License-Identifier: MIT
// Makes holders: variables with a pointer to memory of malloc, in .shared, and in .global with names that begin with
// `gi_`, which only the program accesses.
//
// Only the owner calls malloc and writes a holder: the first thread of the CTA for .shared, of the grid for .global.
// The block of a shared holder may be read by all threads after a barrier. In kernels of one thread, no branch is
// needed. Holders of the module have a block in one kernel, from its beginning, and are null in the others; functions
// test them. Holders of a function have one for a statement.
//
// No result depends on an address: pointers are in no pool of values, and holders in .global are null at the end of a
// kernel. Blocks are small, so malloc does not fail.
#include "tools/origen/function.h"
#include "tools/origen/kernel.h"

enum { HOLDERS_MOST = 3, WORD = 8, ALIGN = 16 };

typedef enum Level { FLAG, JOINED, STAYS, OTHER } Level;
enum { W = 1 };

struct Holder {
    const char *name;
    Space space;
    uint32_t at, word;   // offsets of the pointer and of a number; NO_WORD: there is no number
    uint32_t bytes;      // of the block
    uint32_t kernel;     // that calls malloc
    Level level;         // of its uses
    bool fixed;          // accesses are at constant offsets
    bool direct;         // its address is in no register
    bool read_by_all;    // the block is not written after a barrier at the beginning of the kernel
    const char *escape;  // variable with a copy of the pointer; NULL: none
    Value *result;       // what malloc returned, in the current function; NULL: unknown here
};
#define NO_WORD UINT32_MAX

/* -- Declarations --------------------------------------------------------------------------------------- */

static uint32_t bytes_of_block(Gen *g)
{
    static const uint32_t usual[] = {1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 64, 128, 240, 241, 255, 256};
    return chance(g, 1, 2) ? *ANY_OF(g, usual) : roll_between(g, 1, chance(g, 1, 8) ? 300 : 60);
}

static Level any_level(Gen *g)
{
    static const Level levels[] = {FLAG, FLAG, JOINED, JOINED, STAYS, OTHER};
    return *ANY_OF(g, levels);
}

static Holder *holder_make(Gen *g, Out *out, Space space, const char *name)
{
    Holder *h = NEW(g->arena, Holder);
    *h = (Holder){.name = name, .space = space, .bytes = bytes_of_block(g), .word = NO_WORD};
    h->level = any_level(g);
    h->fixed = chance(g, 1, 2);
    h->direct = chance(g, 5, 6);
    if (!chance(g, 1, 4)) {
        out_fmt(out, "%s .align 8 .%s %s", space_name(space), chance(g, 1, 2) ? "u64" : "b64", name);
        out_z(out, space == SPACE_GLOBAL && chance(g, 1, 3) ? " = 0;\n" : ";\n");
    } else {
        h->at = WORD * roll(g, 2);
        h->word = WORD - h->at;
        out_fmt(out, "%s .align 8 .b8 %s[%u];\n", space_name(space), name, 2 * WORD);
    }
    if (h->level == OTHER) {
        h->escape = text(g, "%s_escape", name);
        out_fmt(out, ".shared .align 8 .u64 %s;\n", h->escape);
    }
    return h;
}

// A holder in .global must be null at the end of a kernel, so no thread may exit before.
static Space any_space(Gen *g) { return !has(g, FT_EXIT) && chance(g, 1, 4) ? SPACE_GLOBAL : SPACE_SHARED; }

void mallocs_make(Gen *g)
{
    if (!has(g, FT_MALLOC))
        return;
    out_z(&g->head, ".extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);\n"
                    ".extern .func free (.param .b64 free_param_0);\n");
    for (uint32_t k = roll(g, HOLDERS_MOST + 1); k; k--) {
        Holder *h = holder_make(g, &g->head, any_space(g), text(g, "gi_holder%u", k));
        h->kernel = chance(g, 1, 4);
        h->read_by_all = h->space == SPACE_SHARED && chance(g, 1, 4);
        VEC_PUSH(g->arena, &g->holders, h);
    }
}

/* -- The owner ------------------------------------------------------------------------------------------ */

// The part of a function that the owner of a holder runs.
typedef struct Owned {
    bool branches;
    uint32_t end;
    Scope scope;
} Owned;

// True if no other thread of the current kernel accesses the holder.
static bool is_alone(const Gen *g, const Holder *h)
{
    const Kernel *k = g->fn.kernel;
    return k && k->alone && (h->space == SPACE_SHARED || k->one_block);
}

static void owned_begin(Gen *g, const Holder *h, Owned *o)
{
    *o = (Owned){.branches = !is_alone(g, h)};
    if (!o->branches)
        return;
    o->end = label_new(g);
    branch(g, owner_make(g, h->space), false, o->end);
    scope_enter(g, &o->scope, 0);
}

static void owned_end(Gen *g, const Owned *o)
{
    if (!o->branches)
        return;
    scope_leave(g);
    label_put(g, o->end);
}

/* -- Pointers ------------------------------------------------------------------------------------------- */

static const char *place_of(Gen *g, const Holder *h, uint32_t offset)
{
    return offset || chance(g, 1, 8) ? text(g, "%s+%u", h->name, offset) : h->name;
}

// Loads the pointer into a register.
static void load_into(Gen *g, const Holder *h, Value *to)
{
    const char *space = space_name(h->space);
    uint32_t way = h->direct ? 2 : roll(g, 3);
    if (way == 0 && has(g, FT_GENERIC))
        code(g, "mov.u64 $d1, $s; cvta$s.u64 $d2, $d1; ld.u64 $w, [$d2+$u];", h->name, space, to, h->at);
    else if (way == 1)
        code(g, "mov.u64 $d1, $s; ld$s.u64 $w, [$d1+$u];", h->name, space, to, h->at);
    else if (h->level == OTHER && chance(g, 1, 8))
        code(g, "ld.volatile$s.u64 $w, [$s];", space, to, place_of(g, h, h->at));
    else
        code(g, "ld$s.<u64|b64|s64> $w, [$s];", space, to, place_of(g, h, h->at));
}

static Value *load_pointer(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D);
    load_into(g, h, p);
    return p;
}

static void store_pointer(Gen *g, const Holder *h, const Value *p)
{
    code(g, "st$s.<u64|b64> [$s], $v;", space_name(h->space), place_of(g, h, h->at), p);
}

static void store_null(Gen *g, const Holder *h)
{
    const char *space = space_name(h->space), *place = place_of(g, h, h->at);
    if (chance(g, 1, 2))
        code(g, "st$s.<u64|b64> [$s], 0;", space, place);
    else
        code(g, "mov.<u64|b64> $d1, 0; st$s.<u64|b64> [$s], $d1;", space, place);
}

// Returns a pointer to the block: what malloc returned, or a load.
static Value *any_pointer(Gen *g, const Holder *h)
{
    return h->result && chance(g, 1, 4) ? h->result : load_pointer(g, h);
}

static Object block_at(const Holder *h, Value *p)
{
    Object o = {.space = SPACE_GENERIC, .base = p, .bytes = h->bytes, .align = ALIGN, .confined = true};
    o.fixed = h->fixed;
    o.constant = h->read_by_all;
    return o;
}

static void access(Gen *g, const Object *o)
{
    if (!o->constant && chance(g, 1, 2))
        store_to(g, o);
    else
        load_from(g, o);
}

static void access_by(Gen *g, const Holder *h, Value *p)
{
    Object o = block_at(h, p);
    for (uint32_t k = roll_between(g, 1, 3); k; k--)
        access(g, &o);
}

static Value *not_null(Gen *g, Value *p)
{
    Value *is = value_scratch(g, CLASS_P);
    code(g, "setp.<ne.s64|ne.u64|ne.b64|gt.u64|hi.u64|gt.s64> $w, $v, 0;", is, p);
    return is;
}

// Accesses the block if a pointer is not null.
static void access_tested(Gen *g, const Holder *h, Value *p)
{
    Scope s;
    uint32_t end = label_new(g);
    branch(g, not_null(g, p), false, end);
    scope_enter(g, &s, 0);
    access_by(g, h, p);
    scope_leave(g);
    label_put(g, end);
}

static void compare(Gen *g, Value *p)
{
    static const char *const patterns[] = {
        "setp.<eq|ne>.<s64|u64|b64> $=p, $v, 0;",
        "setp.<lt|le|gt|ge>.<s64|u64> $=p, $v, 0;",
        "setp.<lo|ls|hi|hs>.u64 $=p, $v, 0;",
        "mov.b64 $d1, 0; setp.<eq|ne|ge|hs>.u64 $=p, $v, $d1;",
        "mov.b64 $d1, 0; setp.<eq|ne|lt|ge>.s64 $=p, $d1, $v;",
    };
    code_with(g, LANE, *ANY_OF(g, patterns), p);
}

// Sets a register to a pointer in each arm of a branch.
static void join(Gen *g, const Holder *h, Value *to)
{
    Value *other = load_pointer(g, h);
    uint32_t second = label_new(g), end = label_new(g);
    branch(g, condition(g, false), false, second);
    code(g, "mov.b64 $w, $v;", to, other);
    jump(g, end);
    label_put(g, second);
    if (chance(g, 1, 2))
        load_into(g, h, to);
    else
        code(g, "mov.u64 $w, $v;", to, other);
    label_put(g, end);
}

// Compares the pointer with null. It may be null, so there is no access.
static void compare_loaded(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D);
    uint32_t way = h->level == FLAG ? 0 : roll(g, 3);
    if (way == 0)
        load_into(g, h, p);
    else if (way == 1)
        code(g, "mov.<b64|u64> $w, $v;", p, load_pointer(g, h));
    else
        join(g, h, p);
    compare(g, p);
}

// Makes a loop that compares the pointer of the iteration before.
static void compare_carried(Gen *g, const Holder *h)
{
    Fn *fn = &g->fn;
    Scope s;
    enum { ITERATIONS = 3 };
    Value *now = value_scratch(g, CLASS_D), *before = value_scratch(g, CLASS_D);
    Value *n = value_scratch(g, CLASS_R), *again = value_scratch(g, CLASS_P);
    uint32_t next = label_new(g);
    code(g, "mov.b64 $w, 0; mov.u32 $w, 0;", before, n);
    label_put(g, next);
    fn->frequency *= ITERATIONS;
    scope_enter(g, &s, 0);
    load_into(g, h, now);
    compare(g, before);
    code(g, "mov.<b64|u64> $w, $v;", before, now);
    if (chance(g, 2, 3))
        store_null(g, h);
    scope_leave(g);
    code(g, "add.u32 $w, $v, 1; setp.lt.<u32|s32> $w, $v, $u;", n, n, again, n, ITERATIONS);
    branch(g, again, true, next);
    fn->frequency /= ITERATIONS;
}

/* -- Uses ----------------------------------------------------------------------------------------------- */

static void use_accesses(Gen *g, const Holder *h) { access_by(g, h, any_pointer(g, h)); }
static void use_comparison(Gen *g, const Holder *h) { compare(g, any_pointer(g, h)); }
static void use_tested(Gen *g, const Holder *h) { access_tested(g, h, any_pointer(g, h)); }

static void use_inside(Gen *g, const Holder *h)
{
    Object o = block_at(h, value_scratch(g, CLASS_D));
    Value *p = any_pointer(g, h);
    uint32_t skip = roll(g, h->bytes);
    o.bytes -= skip;
    if (chance(g, 1, 4))
        code(g, "mov.s64 $d1, $u; sub.s64 $d2, $d1, $u; sub.s64 $w, $v, $d2;", 2 * skip, 3 * skip, o.base, p);
    else
        code(g, "<add.s64|add.u64> $w, $v, $u;", o.base, p, skip);
    while (skip % o.align)
        o.align /= 2;
    access(g, &o);
}

static void use_neighbour(Gen *g, const Holder *h)
{
    if (h->word == NO_WORD)
        return;
    Object o = {.space = h->space, .symbol = h->name, .start = h->word, .bytes = WORD, .align = WORD};
    o.confined = o.fixed = true;
    access(g, &o);
}

static void use_atomic(Gen *g, const Holder *h)
{
    Object o = block_at(h, any_pointer(g, h));
    if (h->bytes < 4 || h->read_by_all)
        return;
    Place p = {&o, NULL, 4 * roll(g, h->bytes / 4)};
    if (chance(g, 1, 2))
        code_with(g, LANE, "atom.<add.u32|exch.b32|min.s32|or.b32> $=r, $o, $r#;", &p);
    else
        code(g, "red.<add.u32|max.u32|xor.b32> $o, $r#;", &p);
}

static void use_copy(Gen *g, const Holder *h)
{
    Value *copy = value_scratch(g, CLASS_D);
    code(g, "mov.<b64|u64> $w, $v;", copy, any_pointer(g, h));
    if (chance(g, 1, 2))
        compare(g, copy);
    if (chance(g, 1, 3))
        access_tested(g, h, copy);
    access_by(g, h, copy);
}

static void use_joined(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D);
    join(g, h, p);
    if (chance(g, 1, 2))
        compare(g, p);
    access_by(g, h, p);
}

static void use_nullable(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D), *from = any_pointer(g, h), *when = condition(g, false);
    code(g, "mov.<b64|u64> $w, 0;", p);
    if (chance(g, 1, 2)) {
        code(g, "@$v mov.b64 $w, $v;", when, p, from);
    } else {
        uint32_t end = label_new(g);
        branch(g, when, false, end);
        load_into(g, h, p);
        label_put(g, end);
    }
    if (chance(g, 1, 2))
        compare(g, p);
    access_tested(g, h, p);
}

static void use_guarded(Gen *g, const Holder *h)
{
    Value *p = load_pointer(g, h), *when = condition(g, false);
    if (chance(g, 1, 2))
        compare(g, p);
    code(g, "@$v ld$s.<u64|b64> $w, [$s];", when, space_name(h->space), p, place_of(g, h, h->at));
    if (chance(g, 1, 2))
        compare(g, p);
    access_by(g, h, p);
}

static void use_clear(Gen *g, const Holder *h)
{
    Value *p = load_pointer(g, h);
    store_null(g, h);
    for (uint32_t k = roll_between(g, 1, 2); k; k--)
        compare_loaded(g, h);
    if (chance(g, 1, 2))
        access_by(g, h, p);
    store_pointer(g, h, p);
}

static void use_carried(Gen *g, const Holder *h)
{
    Value *p = load_pointer(g, h);
    compare_carried(g, h);
    store_pointer(g, h, p);
}

static void use_again(Gen *g, const Holder *h) { store_pointer(g, h, any_pointer(g, h)); }

static void use_select(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D), *when = condition(g, false), *from = any_pointer(g, h);
    if (chance(g, 1, 2)) {
        code(g, "selp.<b64|u64> $w, $v, 0, $v;", p, from, when);
        access_tested(g, h, p);
    } else {
        code(g, "selp.<b64|u64> $w, $v, $v, $v;", p, from, any_pointer(g, h), when);
        access_by(g, h, p);
    }
}

static void use_converted(Gen *g, const Holder *h)
{
    Object o = block_at(h, value_scratch(g, CLASS_D));
    code(g, "cvta.to.global.u64 $w, $v;", o.base, any_pointer(g, h));
    o.space = SPACE_GLOBAL;
    access(g, &o);
}

static void use_difference(Gen *g, const Holder *h)
{
    Value *p = any_pointer(g, h);
    if (chance(g, 1, 3))
        code_with(g, LANE, "and.b64 $=d, $v, <7|15|1>;", p);
    else
        code_with(g, LANE, "add.s64 $d1, $v, <4|8|32>; sub.s64 $=d, $d1, $v;", p, load_pointer(g, h));
}

static void use_combined(Gen *g, const Holder *h)
{
    static const char *const patterns[] = {
        "setp.<eq|ne|gt>.<and|or|xor>.s64 $=p, $v, 0, $p;",
        "setp.<eq|ne|ge>.<s64|u64> $=p|$p1, $v, 0;",
        "set.<eq|ne>.u32.<s64|u64> $=r, $v, 0;",
        "mov.b64 $d1, -1; setp.eq.s64 $=p, $v, $d1;",
    };
    Value *p = any_pointer(g, h);
    code_with(g, LANE, *ANY_OF(g, patterns), p);
}

static void use_escape(Gen *g, const Holder *h)
{
    Value *p = value_scratch(g, CLASS_D);
    code(g, "st.shared.u64 [$s], $v; ld.shared.u64 $w, [$s];", h->escape, any_pointer(g, h), p, h->escape);
    access_by(g, h, p);
}

static const struct {
    uint32_t weight;
    Level level;
    uint32_t needs;
    void (*make)(Gen *, const Holder *);
} uses[] = {
#define HOLDER_USE(id, weight, level, needs, make, help) {weight, level, needs, make},
#include "tools/origen/mallocs.def"
};

static bool use_fits(const Holder *h, uint32_t row)
{
    return uses[row].level <= h->level && !(uses[row].needs & W && h->read_by_all);
}

static void use(Gen *g, const Holder *h)
{
    uint32_t sum = 0, k = 0;
    for (uint32_t row = 0; row < ARRAY_LEN(uses); row++)
        sum += use_fits(h, row) ? uses[row].weight : 0;
    for (uint32_t at = roll(g, sum);; k++) {
        uint32_t weight = use_fits(h, k) ? uses[k].weight : 0;
        if (at < weight)
            break;
        at -= weight;
    }
    uses[k].make(g, h);
}

static void use_some(Gen *g, const Holder *h)
{
    for (uint32_t k = roll_between(g, 1, 4); k; k--)
        use(g, h);
}

/* -- malloc and free ------------------------------------------------------------------------------------ */

static void call_malloc(Gen *g, const Holder *h, Value *result)
{
    line(g, "{\n\t.param .b64 param0;\n\t.param .b64 retval0;");
    if (chance(g, 1, 16))
        code(g,
             "mov.u64 $d1, $u; st.param.b64 [param0], $d1; call<.uni|> (retval0), malloc, (param0); ld.param.b64 $w, "
             "[retval0];",
             h->bytes, result);
    else
        code(g,
             "st.param.<b64|u64> [param0<|+0>], $u; call<.uni|> (retval0), malloc, (param0); ld.param.<b64|u64> $w, "
             "[retval0<|+0>];",
             h->bytes, result);
    line(g, "}");
}

static void call_free(Gen *g, const Value *p)
{
    line(g, "{\n\t.param .b64 param0;");
    code(g, "st.param.<b64|u64> [param0<|+0>], $v; call<.uni|> free, (param0);", p);
    line(g, "}");
}

// Stores to all bytes of the block, so that they can be loaded.
static void fill(Gen *g, const Holder *h)
{
    Object o = block_at(h, any_pointer(g, h));
    store_all(g, &o);
}

static void fill_neighbour(Gen *g, const Holder *h)
{
    if (h->word == NO_WORD)
        return;
    code(g, "st$s.<u64|b64> [$s], $#100;", space_name(h->space), place_of(g, h, h->word));
}

static void allocate(Gen *g, Holder *h)
{
    Value *result = value_scratch(g, CLASS_D);
    call_malloc(g, h, result);
    store_pointer(g, h, result);
    h->result = result;
    fill(g, h);
}

// Frees the block; afterwards only its pointer may be used.
static void release(Gen *g, const Holder *h)
{
    if (chance(g, 1, 3)) {
        Object o = block_at(h, any_pointer(g, h));
        load_all(g, &o);
    }
    if (chance(g, 2, 3))
        call_free(g, any_pointer(g, h));
    if (chance(g, 1, 2))
        store_null(g, h);
    if (chance(g, 1, 2))
        compare_loaded(g, h);
    if (h->level != FLAG && chance(g, 1, 4))
        compare_carried(g, h);
}

/* -- Lives ---------------------------------------------------------------------------------------------- */

static void live(Gen *g, Holder *h)
{
    if (chance(g, 1, 4)) {
        store_null(g, h);
        compare_loaded(g, h);
    }
    allocate(g, h);
    use_some(g, h);
    release(g, h);
}

static void live_conditionally(Gen *g, Holder *h)
{
    Scope s;
    uint32_t none = label_new(g), end = label_new(g);
    store_null(g, h);
    branch(g, condition(g, false), false, none);
    scope_enter(g, &s, 0);
    allocate(g, h);
    scope_leave(g);
    h->result = NULL;
    label_put(g, none);
    Value *p = load_pointer(g, h);
    if (chance(g, 1, 2))
        compare_loaded(g, h);
    branch(g, not_null(g, p), false, end);
    scope_enter(g, &s, 0);
    use_some(g, h);
    scope_leave(g);
    label_put(g, end);
    if (chance(g, 1, 2))
        call_free(g, load_pointer(g, h));
    if (chance(g, 1, 2))
        compare_loaded(g, h);
}

static void live_twice(Gen *g, Holder *h)
{
    live(g, h);
    live(g, h);
}

// Makes a holder that is null if malloc is not called.
static void live_or_null(Gen *g, Holder *h)
{
    Value *result = value_scratch(g, CLASS_D);
    uint32_t end = label_new(g);
    code(g, "mov.<b64|u64> $w, 0;", result);
    branch(g, condition(g, false), false, end);
    call_malloc(g, h, result);
    label_put(g, end);
    store_pointer(g, h, result);
    for (uint32_t k = roll_between(g, 1, 2); k; k--)
        compare_loaded(g, h);
    if (chance(g, 1, 2))
        call_free(g, result);
}

// Makes a holder of one of two blocks, or of the address of a variable.
static void live_in_arms(Gen *g, Holder *h)
{
    Value *result = value_scratch(g, CLASS_D);
    uint32_t other = label_new(g), end = label_new(g);
    bool variable = h->level != OTHER && chance(g, 1, 2);  // not in .global
    branch(g, condition(g, false), false, other);
    call_malloc(g, h, result);
    jump(g, end);
    label_put(g, other);
    if (variable) {
        out_fmt(&g->fn.declarations, "\t.shared .align 16 .b8 %s_block[%u];\n", h->name, h->bytes);
        code(g, "mov.u64 $d1, $s_block; cvta.shared.u64 $w, $d1;", h->name, result);
    } else {
        call_malloc(g, h, result);
    }
    label_put(g, end);
    store_pointer(g, h, result);
    h->result = result;
    fill(g, h);
    use_some(g, h);
    if (!variable)
        release(g, h);
}

static const struct {
    uint32_t weight;
    void (*make)(Gen *, Holder *);
} lives[] = {
#define HOLDER_LIFE(id, weight, make, help) {weight, make},
#include "tools/origen/mallocs.def"
};

// Makes a holder for this statement only.
static void make_life(Gen *g)
{
    Fn *fn = &g->fn;
    Scope s;
    Owned owned;
    uint32_t sum = 0, row = 0;
    Space space = chance(g, 1, 6) ? SPACE_GLOBAL : SPACE_SHARED;
    out_char(&fn->declarations, '\t');
    Holder *h = holder_make(g, &fn->declarations, space, text(g, "gi_%s_holder%u", fn->name, fn->symbols++));
    if (fn->frequency > 1)
        h->bytes = MIN(h->bytes, 32);
    for (uint32_t k = 0; k < ARRAY_LEN(lives); k++)
        sum += lives[k].weight;
    for (uint32_t at = roll(g, sum); at >= lives[row].weight; row++)
        at -= lives[row].weight;
    owned_begin(g, h, &owned);
    scope_enter(g, &s, 0);  // loads of the block are not repeated after it
    fill_neighbour(g, h);
    lives[row].make(g, h);
    if (space == SPACE_GLOBAL)
        store_null(g, h);
    scope_leave(g);
    owned_end(g, &owned);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

// True if the holder has a block in the current kernel.
static bool has_block(const Gen *g, const Holder *h) { return g->fn.kernel && g->kernels.n == h->kernel; }

void mallocs_begin(Gen *g)
{
    bool any = false;
    for (uint32_t k = 0; k < g->holders.n; k++) {
        Holder *h = g->holders.at[k];
        Owned owned;
        h->result = NULL;
        owner_index_make(g, h->space);
        owned_begin(g, h, &owned);
        fill_neighbour(g, h);
        if (!has_block(g, h) || chance(g, 1, 4))
            store_null(g, h);
        if (has_block(g, h))
            allocate(g, h);
        owned_end(g, &owned);
        if (owned.branches)
            h->result = NULL;
        any |= h->read_by_all && owned.branches;
    }
    if (any)
        code(g, "<bar|barrier>.sync 0;");
}

void mallocs_enter(Gen *g)
{
    if (!has(g, FT_MALLOC))
        return;
    for (Space s = SPACE_GLOBAL; s <= SPACE_SHARED; s++)
        owner_index_make(g, s);
    for (uint32_t k = 0; k < g->holders.n && g->fn.function; k++)
        g->holders.at[k]->result = NULL;
}

void mallocs_end(Gen *g)
{
    for (uint32_t k = 0; k < g->holders.n && !g->fn.unreachable; k++) {
        Holder *h = g->holders.at[k];
        Owned owned;
        bool ends = has_block(g, h) && chance(g, 1, 2) && (!h->read_by_all || is_alone(g, h));
        if (!ends && h->space == SPACE_SHARED)
            continue;
        owned_begin(g, h, &owned);
        if (ends)
            release(g, h);
        if (h->space == SPACE_GLOBAL)
            store_null(g, h);
        owned_end(g, &owned);
    }
}

// Uses a holder of the module.
static void make_uses(Gen *g, const Holder *h)
{
    Owned owned = {0};
    Scope s;
    if (!h->read_by_all)
        owned_begin(g, h, &owned);
    if (has_block(g, h)) {
        use_some(g, h);
    } else {
        uint32_t end = label_new(g);
        branch(g, not_null(g, load_pointer(g, h)), false, end);
        scope_enter(g, &s, 0);
        use_some(g, h);
        scope_leave(g);
        label_put(g, end);
    }
    owned_end(g, &owned);
}

void make_mallocs(Gen *g, uint32_t n)
{
    if (g->holders.n && chance(g, 2, 3))
        make_uses(g, g->holders.at[roll(g, g->holders.n)]);
    else if (n >= 30)
        make_life(g);
    else
        make_straight(g, n);
}
