// SPDX-License-Identifier: MIT
// Makes kernels: launches, thread index, shared memory, body, result.
#include <stdio.h>

#include "tools/origen/kernel.h"

/* -- Launches ------------------------------------------------------------------------------------------- */

static const Dim flat_blocks[] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1}};
static const Dim odd_blocks[] = {{1, 1, 1}, {7, 1, 1}, {33, 1, 1}, {48, 1, 1}, {100, 1, 1}};
static const Dim cube_blocks[] = {{8, 4, 1}, {16, 4, 1}, {4, 4, 4}, {8, 4, 3}, {32, 2, 1}, {2, 16, 2}};
static const Dim odd_cubes[] = {{3, 3, 3}, {5, 7, 1}, {1, 1, 40}, {10, 3, 2}};
static const Dim flat_grids[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}};
static const Dim cube_grids[] = {{1, 1, 1}, {1, 2, 1}, {2, 1, 1}, {2, 1, 2}};

enum { MOST_THREADS = 256, MOST_THREADS_OF_LARGE = 64, LARGE = 3000 };

static Dim block_of(Gen *g, const Kernel *k)
{
    bool whole = has(g, FT_WARP) || has(g, FT_LANES) || has(g, FT_MATRIX), odd = !whole && chance(g, 1, 3);
    if (g->options.size >= LARGE)
        return odd ? odd_blocks[2] : flat_blocks[0];
    if (k->cube)
        return odd ? *ANY_OF(g, odd_cubes) : *ANY_OF(g, cube_blocks);
    return odd ? *ANY_OF(g, odd_blocks) : *ANY_OF(g, flat_blocks);
}

// Makes a kernel one of blocks of one thread.
static void leave_alone(Kernel *k)
{
    k->alone = k->same_block = k->one_block = true;
    for (uint32_t j = 0; j < k->nlaunches; j++) {
        k->launches[j].block = (Dim){1, 1, 1};
        k->one_block &= dim_size(k->launches[j].grid) == 1;
    }
}

static void launches(Gen *g, Kernel *k)
{
    uint32_t most = g->options.size >= LARGE ? MOST_THREADS_OF_LARGE : MOST_THREADS;
    k->cube = has(g, FT_CUBE) && chance(g, 1, 2);
    k->same_block = has(g, FT_PRAGMA) && chance(g, 1, 3);
    k->nlaunches = g->options.size >= LARGE ? 1 : roll_between(g, 1, LAUNCHES_MOST);
    for (uint32_t j = 0; j < k->nlaunches; j++) {
        Launch *l = &k->launches[j];
        l->block = j && k->same_block ? k->launches[0].block : block_of(g, k);
        l->grid = k->cube ? *ANY_OF(g, cube_grids) : *ANY_OF(g, flat_grids);
        if (dim_size(l->block) * dim_size(l->grid) > most)
            l->grid = (Dim){1, 1, 1};
    }
    k->cluster = has(g, FT_CLUSTER) && (has(g, FT_SHARED) || has(g, FT_DYNAMIC)) && chance(g, 3, 4);
    for (uint32_t j = 0; j < k->nlaunches && k->cluster; j++)
        k->launches[j].grid.x = 2;
    if (has(g, FT_MALLOC) && chance(g, 2, 3))
        leave_alone(k);
}

static uint32_t most_threads(const Kernel *k, bool of_grid)
{
    uint32_t most = 0;
    for (uint32_t j = 0; j < k->nlaunches; j++) {
        const Launch *l = &k->launches[j];
        most = MAX(most, dim_size(l->block) * (of_grid ? dim_size(l->grid) : 1));
    }
    return most;
}

/* -- The beginning -------------------------------------------------------------------------------------- */

// Patterns of an index in grids and blocks with one dimension, and with three.
static const char *const numbers[][2] = {
    [THREAD] = {"mov.u32 $w, %tid.x;",
                "mov.u32 $r1, %tid.z; mov.u32 $r2, %ntid.y; mov.u32 $r3, %tid.y; mad.lo.s32 $r4, $r1, $r2, $r3; "
                "mov.u32 $r5, %ntid.x; mov.u32 $r6, %tid.x; mad.lo.s32 $w, $r4, $r5, $r6;"},
    [THREADS] = {"mov.u32 $w, %ntid.x;",
                 "mov.u32 $r1, %ntid.x; mov.u32 $r2, %ntid.y; mul.lo.u32 $r3, $r1, $r2; mov.u32 $r4, %ntid.z; "
                 "mul.lo.u32 $w, $r3, $r4;"},
    [CTA] = {"mov.u32 $w, %ctaid.x;",
             "mov.u32 $r1, %ctaid.z; mov.u32 $r2, %nctaid.y; mov.u32 $r3, %ctaid.y; mad.lo.u32 $r4, $r1, $r2, $r3; "
             "mov.u32 $r5, %nctaid.x; mov.u32 $r6, %ctaid.x; mad.lo.u32 $w, $r4, $r5, $r6;"},
};

static Value *fixed_value(Gen *g, Value *v, bool uniform)
{
    v->uniform = uniform;
    value_push(g, v);
    v->pending = false;  // each thread's stores depend on it already
    return v;
}

Value *number_make(Gen *g, bool cube, Number which)
{
    Value *v = value_make(g, CLASS_R);
    code(g, numbers[which][cube], v);
    return v;
}

static Value *number(Gen *g, bool cube, Number which, bool uniform)
{
    return fixed_value(g, number_make(g, cube, which), uniform);
}

// Returns the index of the thread in the grid.
static Value *load_thread_index(Gen *g, const Kernel *k)
{
    Fn *fn = &g->fn;
    fn->thread = number(g, k->cube, THREAD, false);
    fn->threads = number(g, k->cube, THREADS, true);
    Value *cta = number(g, k->cube, CTA, true), *thread = value_make(g, CLASS_R);
    code(g, "mad.lo.<s32|u32> $w, $v, $v, $v;", thread, cta, fn->threads, fn->thread);
    return fixed_value(g, thread, false);
}

void shared_add(Gen *g, const char *symbol, uint32_t stride)
{
    Fn *fn = &g->fn;
    Object o = {.space = SPACE_SHARED, .bytes = stride, .align = stride & (0 - stride), .observed = true};
    VEC_PUSH(g->arena, &fn->shared, ((Shared){symbol, stride, 0}));
    if (chance(g, 1, 2)) {
        o.base = value_make(g, CLASS_R);
        code(g, "mov.u32 $r1, $s; mad.lo.u32 $w, $v, $u, $r1;", symbol, o.base, fn->thread, stride);
    } else {
        o.base = part_of_thread(g, symbol, NULL, fn->thread, stride);
    }
    store_all(g, object_push(g, o));
}

static void memory(Gen *g, Kernel *k, Value *thread)
{
    Fn *fn = &g->fn;
    uint32_t stride = (chance(g, 1, 3) ? 16 : 4) * roll_between(g, 2, 5);
    if (has(g, FT_SHARED)) {
        const char *name = text(g, "%s_shared", k->name);
        out_fmt(&fn->declarations, "\t.shared .align 16 .b8 \t%s[%u];\n", name, stride * most_threads(k, false));
        shared_add(g, name, stride);
    }
    k->dynamic = has(g, FT_DYNAMIC) && chance(g, 1, 2) ? 4 * roll_between(g, 2, 4) : 0;
    if (k->dynamic)
        shared_add(g, "dynamic_shared", k->dynamic);
    if (has(g, FT_VARIABLES) && has(g, FT_SLOTS) && chance(g, 1, 2)) {
        const char *name = text(g, "%s_slots", k->name);
        Object o = {.space = SPACE_GLOBAL, .bytes = 16, .align = 16};
        out_fmt(&g->head, ".global .align 16 .b8 %s[%u];\n", name, 16 * most_threads(k, true));
        o.base = part_of_thread(g, name, NULL, thread, o.bytes);
        object_push(g, o);
    }
    if (k->cluster && fn->shared.n && active_lanes(g) == ALL_LANES)
        make_neighbours(g);
    variables_enter(g);
    structures_enter(g);
    mallocs_enter(g);
}

static void store_result(Gen *g)
{
    const Object *record = g->fn.record;
    Place first = {record, NULL, 0}, wide = {record, NULL, 8};
    code(g, "st$s.u32 $o, $a;", space_name(record->space), &first);
    if (g->fn.wide_hash)
        code(g, "st$s.u64 $o, $c;", space_name(record->space), &wide);
}

/* -- The kernel ----------------------------------------------------------------------------------------- */

static void print_head(Gen *g, const Kernel *k)
{
    Dim d = k->launches[0].block;
    uint32_t most = most_threads(k, false);
    out_fmt(g->to, "\n.visible .entry %s(", k->name);
    params_print(g, k);
    out_z(g->to, "\n)\n");
    if (k->cluster)
        out_z(g->to, ".reqnctapercluster 2, 1, 1\n");
    if (k->same_block)
        out_fmt(g->to, ".%s %u, %u, %u\n", chance(g, 1, 2) ? "reqntid" : "maxntid", d.x, d.y, d.z);
    else if (has(g, FT_PRAGMA) && !k->cube)
        out_fmt(g->to, ".maxntid %u, 1, 1\n.minnctapersm 1\n", most);
}

static void make(Gen *g, Kernel *k, bool last)
{
    Scope root, middle, inner;
    uint32_t size = g->options.size, debt, lanes = k->alone ? 0 : ALL_LANES;
    fn_begin(g, k->name, k, size);
    g->fn.store_result = store_result;
    scope_enter(g, &root, lanes);
    hash_begin(g);
    Value *thread = load_thread_index(g, k);
    structures_begin(g);
    mallocs_begin(g);
    params_load(g, k, thread);
    scope_enter(g, &middle, lanes);
    memory(g, k, thread);
    debt = scope_debt(g);
    scope_enter(g, &inner, lanes);
    block(g, g->fn.count + debt + 8 < size ? size - g->fn.count - debt - 4 : 4);
    if (last)
        call_remaining(g);
    mallocs_end(g);
    scope_leave(g);
    scope_leave(g);
    scope_flush(g);
    label_put(g, g->fn.exit);
    store_result(g);
    code(g, "ret;");
    g->fn.unreachable = true;
    scope_leave(g);
    print_head(g, k);
    fn_print(g);
}

void kernels_make(Gen *g)
{
    uint64_t state = random_start(g->options.seed, "kernels");
    uint32_t n = g->options.kernels ? g->options.kernels : 1 + (uint32_t)(random_next(&state) % 3);
    if (has(g, FT_DYNAMIC))
        out_z(&g->head, ".extern .shared .align 16 .b8 dynamic_shared[];\n");
    for (uint32_t j = 0; j < n; j++) {
        Kernel *k = NEW(g->arena, Kernel);
        snprintf(k->name, sizeof k->name, "kernel%u", j);
        launches(g, k);
        params_plan(g, k);
        make(g, k, j + 1 == n);
        VEC_PUSH(g->arena, &g->kernels, k);
    }
}
