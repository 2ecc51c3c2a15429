// SPDX-License-Identifier: MIT
// Runs functions in parallel. Workers take functions in the order of the module. Each has its own context, with memory
// from a common pool. This thread writes the results in order, and then publishes the function as finished. So the
// results that callers use do not depend on the speed of the threads.
//
// A worker with an internal error unwinds to itself and keeps the message. Earlier functions continue, so the reported
// message is that of the first function with an error, as on one thread.
#include "tools/lib/batch.h"
#include "ir/analysis/call_graph.h"
#include "phases/globalopt/gain.h"
#include "phases/manager/remarks.h"

static bool is_wanted(const Batch *b, const Fn *fn)
{
    return fn->flags & FN_DEFINED && (!b->wanted || b->wanted(b->user, fn));
}

static void write_item(const Batch *b, const Item *item, Out *out)
{
    if (item->kind == ITEM_FN && b->lang == LANG_ORI)
        fn_renumber(b->module->fns.at[item->index]);
    lang_write_item(b->module, item, b->lang, out);
}

// The results of a finished function that other functions may use.
static void publish(const Batch *b, uint32_t index)
{
    Fn *fn = b->module->fns.at[index];
    if (is_wanted(b, fn))
        module_note_properties(b->module, fn);
    if (!b->keep)
        module_drop_fn(b->module, index);
}

/* -- On this thread ------------------------------------------------------------------------------------- */

static void run_here(Batch *b)
{
    for (uint32_t k = b->first; k < b->end; k++) {
        const Item *item = &b->module->items.at[k];
        Fn **fn = item->kind == ITEM_FN ? &b->module->fns.at[item->index] : NULL;
        b->ctx->fn_number = fn ? item->index + 1 : 0;
        if (fn && is_wanted(b, *fn))
            phase_run(b->ctx, fn);
        double start = phase_clock();
        if (b->out)
            write_item(b, item, b->out);
        b->write_s += phase_clock() - start;
        if (fn)
            publish(b, item->index);
    }
}

/* -- On several ----------------------------------------------------------------------------------------- */

typedef struct Task {
    uint32_t item;
    bool wanted, done;
    Arena arena;      // of the text
    TextBuffer text;  // as it is written
    Remarks remarks;
    FnStats stats;
} Task;

typedef struct Crew Crew;

typedef struct Worker {
    Crew *crew;
    Ctx ctx;
    double write_s;
    pthread_t thread;
} Worker;

struct Crew {
    Batch *batch;
    Arena arena;
    Task *tasks;
    uint32_t ntasks;
    uint32_t *task_of;  // by SymId: the task of the function that it names, plus 1; 0 = none
    Worker *workers;
    unsigned started;  // number of running workers
    pthread_t beside;
    bool has_beside;  // its thread runs
    pthread_mutex_t lock, pool_lock;
    pthread_cond_t through, done;  // a task was published; the task that was waited for is done
    // Under the lock:
    uint32_t next;       // the first task that no worker has taken
    uint32_t published;  // number of finished tasks, from the first on
    uint32_t failed;     // the first failed task, UINT32_MAX: none
    Status status;
    char message[sizeof((Heap *)0)->message];
};

// The last earlier function that a function names, plus 1; 0 = none.
static uint32_t last_named(const Crew *c, const Fn *fn, uint32_t own)
{
    uint32_t last = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; k < i->nops; k++) {
                Operand o = ir_ops(fn, i)[k];
                bool list = op_kind(o) == K_LIST;
                uint32_t n = list ? ir_list(fn, op_index(o))->n : 1;
                const Operand *at = list ? ir_run(fn, ir_list(fn, op_index(o))->ops) : &o;
                for (uint32_t j = 0; j < n; j++)
                    if (op_kind(at[j]) == K_SYM && !(op_index(at[j]) & SYM_LOCAL) && c->task_of[op_index(at[j])] <= own)
                        last = MAX(last, c->task_of[op_index(at[j])]);
            }
        }
    return last;
}

// Waits until so many tasks are published. False: one of them will never be.
static bool wait_through(Crew *c, uint32_t n)
{
    pthread_mutex_lock(&c->lock);
    while (c->published < n && c->failed >= n)
        pthread_cond_wait(&c->through, &c->lock);
    bool ok = c->published >= n;
    pthread_mutex_unlock(&c->lock);
    return ok;
}

static bool run_task(Worker *w, uint32_t number)
{
    Crew *c = w->crew;
    Batch *b = c->batch;
    Task *t = &c->tasks[number];
    const Item *item = &b->module->items.at[t->item];
    Fn **fn = &b->module->fns.at[item->index];
    fn_adopt(*fn, &w->ctx.heap);
    if (!wait_through(c, last_named(c, *fn, number)))
        return false;
    if (b->ctx->remarks) {
        remarks_fork(&t->remarks, b->ctx->remarks, &w->ctx.heap);
        w->ctx.remarks = &t->remarks;
    }
    w->ctx.fn_number = item->index + 1;
    if (t->wanted)
        phase_run(&w->ctx, fn);
    if (w->ctx.stats.n)
        t->stats = w->ctx.stats.at[--w->ctx.stats.n];
    double start = phase_clock();
    if (b->out) {
        Out out;
        arena_init(&t->arena, &w->ctx.heap);
        t->text.arena = &t->arena;
        out_init(&out, &t->arena, out_to_text, &t->text);
        write_item(b, item, &out);
        out_flush(&out);
    }
    w->write_s += phase_clock() - start;
    return true;
}

static void *work_beside(void *user)
{
    const Batch *b = user;
    b->beside(b->beside_user);
    return NULL;
}

static void note_done(Crew *c, uint32_t number)
{
    pthread_mutex_lock(&c->lock);
    c->tasks[number].done = true;
    if (c->published == number)
        pthread_cond_signal(&c->done);
    pthread_mutex_unlock(&c->lock);
}

static void note_failed(Crew *c, uint32_t number, const Heap *heap)
{
    pthread_mutex_lock(&c->lock);
    if (number < c->failed) {
        c->failed = number;
        c->status = heap->status;
        memcpy(c->message, heap->message, sizeof c->message);
    }
    pthread_cond_signal(&c->done);
    pthread_cond_broadcast(&c->through);
    pthread_mutex_unlock(&c->lock);
}

static bool take_task(Crew *c, uint32_t *number)
{
    pthread_mutex_lock(&c->lock);
    bool more = c->next < c->ntasks && c->next < c->failed;
    *number = more ? c->next++ : 0;
    pthread_mutex_unlock(&c->lock);
    return more;
}

static void *work(void *user)
{
    Worker *w = user;
    uint32_t number;
    while (take_task(w->crew, &number)) {
        volatile uint32_t at = number;
        jmp_buf unwind;
        w->ctx.heap.unwind = &unwind;
        if (setjmp(unwind)) {
            note_failed(w->crew, at, &w->ctx.heap);
            break;
        }
        if (!run_task(w, at))
            break;
        note_done(w->crew, at);
    }
    return NULL;
}

// Waits for the next task; false: it, or an earlier one, failed.
static bool wait_done(Crew *c, uint32_t number)
{
    pthread_mutex_lock(&c->lock);
    while (!c->tasks[number].done && c->failed > number)
        pthread_cond_wait(&c->done, &c->lock);
    bool done = c->tasks[number].done && c->failed > number;
    pthread_mutex_unlock(&c->lock);
    return done;
}

static void publish_task(Crew *c, uint32_t number)
{
    Batch *b = c->batch;
    Task *t = &c->tasks[number];
    uint32_t index = b->module->items.at[t->item].index;
    if (b->out)
        out_bytes(b->out, t->text.at, t->text.n);
    arena_free(&t->arena);
    if (b->ctx->remarks)
        remarks_take(b->ctx->remarks, &t->remarks);
    if (t->wanted && b->ctx->options.stats)
        VEC_PUSH(&b->ctx->arena, &b->ctx->stats, t->stats);
    fn_adopt(b->module->fns.at[index], &b->ctx->heap);
    publish(b, index);
    pthread_mutex_lock(&c->lock);
    c->published = number + 1;
    pthread_cond_broadcast(&c->through);
    pthread_mutex_unlock(&c->lock);
}

static void publish_all(Crew *c)
{
    Batch *b = c->batch;
    uint32_t number = 0;
    for (uint32_t k = b->first; k < b->end; k++) {
        const Item *item = &b->module->items.at[k];
        if (item->kind != ITEM_FN) {
            if (b->out)
                write_item(b, item, b->out);
            continue;
        }
        if (!wait_done(c, number))
            return;
        publish_task(c, number++);
    }
}

static void list_tasks(Crew *c)
{
    Batch *b = c->batch;
    const Module *m = b->module;
    c->tasks = NEW_ARRAY(&c->arena, Task, b->end - b->first);
    c->task_of = NEW_ARRAY(&c->arena, uint32_t, m->syms.n);
    for (uint32_t k = b->first; k < b->end; k++) {
        if (m->items.at[k].kind != ITEM_FN)
            continue;
        const Fn *fn = m->fns.at[m->items.at[k].index];
        c->tasks[c->ntasks++] = (Task){.item = k, .wanted = is_wanted(b, fn)};
        c->task_of[fn->sym] = c->ntasks;
    }
}

// The pool's heap is locked from the first thread on.
static void start(Crew *c, unsigned threads)
{
    Batch *b = c->batch;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->pool_lock, NULL);
    pthread_cond_init(&c->through, NULL);
    pthread_cond_init(&c->done, NULL);
    b->ctx->heap.lock = &c->pool_lock;
    c->has_beside = b->beside && pthread_create(&c->beside, NULL, work_beside, b) == 0;
    for (; c->started < threads; c->started++) {
        Worker *w = &c->workers[c->started];
        w->crew = c;
        ctx_fork(&w->ctx, b->ctx);
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            ctx_join(b->ctx, &w->ctx);
            break;
        }
    }
}

static void stop(Crew *c)
{
    Batch *b = c->batch;
    for (unsigned k = 0; k < c->started; k++) {
        pthread_join(c->workers[k].thread, NULL);
        ctx_join(b->ctx, &c->workers[k].ctx);
        b->write_s += c->workers[k].write_s;
    }
    if (c->has_beside)
        pthread_join(c->beside, NULL);
    b->ctx->heap.lock = NULL;
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->through);
    pthread_mutex_destroy(&c->pool_lock);
    pthread_mutex_destroy(&c->lock);
}

// Returns the results of the functions to the context, whatever their status, and frees their texts.
static void take_back(Crew *c)
{
    Batch *b = c->batch;
    for (uint32_t k = 0; k < c->ntasks; k++) {
        Fn *fn = b->module->fns.at[b->module->items.at[c->tasks[k].item].index];
        if (fn)
            fn_adopt(fn, &b->ctx->heap);
        arena_free(&c->tasks[k].arena);
        arena_free(&c->tasks[k].remarks.arena);
    }
}

static void run_side_by_side(Batch *b)
{
    Ctx *ctx = b->ctx;
    Arena arena;
    arena_init(&arena, &ctx->heap);
    Crew *c = NEW(&arena, Crew);
    *c = (Crew){.batch = b, .arena = arena, .failed = UINT32_MAX};
    list_tasks(c);
    unsigned threads = MIN(b->threads, c->ntasks);
    c->workers = NEW_ARRAY(&c->arena, Worker, threads);
    // After a failure of this thread, the other threads must not wait for it.
    jmp_buf unwind, *outer = ctx->heap.unwind;
    ctx->heap.unwind = &unwind;
    if (setjmp(unwind) == 0) {
        start(c, threads);
        if (c->started)
            publish_all(c);
    } else {
        note_failed(c, 0, &ctx->heap);
    }
    stop(c);
    take_back(c);
    ctx->heap.unwind = outer;
    Status status = c->status;
    unsigned started = c->started;
    char message[sizeof c->message];
    memcpy(message, c->message, sizeof message);
    arena = c->arena;
    arena_free(&arena);
    if (status != ST_OK)
        heap_fail(&ctx->heap, status, "%s", message);
    if (!started)
        run_here(b);
}

// Runs the current stage over the functions.
static void run_functions(Batch *b)
{
    if (b->threads > 1 && (b->end - b->first > 1 || b->beside))
        run_side_by_side(b);
    else
        run_here(b);
}

void batch_run(Batch *b)
{
    Ctx *ctx = b->ctx;
    Batch stage = *b;
    ctx->wanted = b->wanted;
    ctx->wanted_user = b->user;
    ctx->has_calls = b->whole && module_has_calls(b->module);
    ctx->has_variables = b->whole && globalopt_has_variables(ctx, b->module);
    ctx->reads_counted = false;
    if (b->whole)
        phase_note_input(ctx, b->module);
    for (ctx->staged = false; phase_next_stage(ctx);) {
        bool last = ctx->stage.end == ctx->plan.at.n;
        if (phase_stage_row(ctx) >= 0) {
            if (b->whole)
                phase_run_module(ctx, b->module);
            stage.end = b->whole ? b->module->items.n : b->end;
            continue;
        }
        stage.out = last ? b->out : NULL;
        stage.keep = b->keep || !last;
        stage.beside = last ? b->beside : NULL;
        run_functions(&stage);
    }
    b->write_s = stage.write_s;
}
