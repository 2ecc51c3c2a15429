// SPDX-License-Identifier: MIT
// Runs asynchronous copies to and from shared memory, and the mbarriers that count them. PTX ISA 9.7.9.25 (cp.async,
// cp.async.bulk), 9.7.13.15 (mbarrier).
//
// A copy is checked at its issue and made as late as possible, so that a missing wait has an effect. It is made at the
// wait for its group, at a test of the mbarrier to which it reports (mbarrier.test_wait, .try_wait), or at the end of
// its thread. Until then neither source nor destination is accessed. Copies of a thread and its
// cp.async.mbarrier.arrive are made in program order.
//
// A warp yields to the other warps after a test of an mbarrier that fails.
//
// An mbarrier is a word of 64 bits in shared memory, which only these instructions may read. Its bits:
//     0 to 19    pending arrivals of this phase
//     20 to 39   expected arrivals of each later phase
//     40 to 60   pending bytes, a signed number
//     61, 62     number of the phase
//     63         1: initialized and not invalidated
// The state that an arrival returns is this word before the arrival.
//
// Faults, since undefined in the ISA: arrivals beyond the count, a state older than the last phase, and mbarrier
// operations on other memory. Not supported: multicast, tensor maps, reductions, st.async.
#include <stdio.h>

#include "ir/eval/eval_internal.h"
#include "ir/machine/machine_internal.h"

static uint32_t first_lane(const Group *g) { return (uint32_t)__builtin_ctz(g->lanes); }

static uint64_t address_at(const Run *r, const Group *g, const Code *c, uint32_t k, uint32_t lane)
{
    return read_lane(r, g, &c->in[k], lane) + c->in[k + 1].bits;
}

/* -- Barriers in memory --------------------------------------------------------------------------------- */

enum { COUNT_BITS = 20, COUNT_MAX = (1 << COUNT_BITS) - 1, BYTES_AT = 40, BYTES_BITS = 21, PHASES = 4 };

typedef struct Mbarrier {
    uint32_t pending, expected, phase;
    int32_t bytes;
    bool valid;
} Mbarrier;

static Mbarrier unpack(uint64_t word)
{
    return (Mbarrier){.pending = word & COUNT_MAX,
                      .expected = word >> COUNT_BITS & COUNT_MAX,
                      .bytes = (int32_t)sign_extend(word >> BYTES_AT, BYTES_BITS),
                      .phase = word >> 61 & (PHASES - 1),
                      .valid = word >> 63};
}

static uint64_t pack(Mbarrier b)
{
    uint64_t bytes = (uint64_t)(int64_t)b.bytes & mask_of(BYTES_BITS);
    return b.pending | (uint64_t)b.expected << COUNT_BITS | bytes << BYTES_AT | (uint64_t)b.phase << 61 |
           (uint64_t)b.valid << 63;
}

// Adds arrivals and bytes to an mbarrier, and completes its phase. Returns NULL, or a description of the error.
static const char *change(Span at, uint32_t arrivals, int32_t bytes, bool drop)
{
    Mbarrier b = unpack(span_load(at, 0, 8));
    if (!b.valid)
        return "there is no initialized mbarrier here";
    b.bytes += bytes;
    if (arrivals > b.pending)
        return "more arrivals at an mbarrier than its phase expects";
    if (b.bytes < -COUNT_MAX || b.bytes > COUNT_MAX)
        return "more pending bytes than an mbarrier can count";
    b.pending -= arrivals;
    if (drop)
        b.expected -= MIN(arrivals, b.expected);
    if (!b.pending && !b.bytes) {
        b.phase = (b.phase + 1) % PHASES;
        b.pending = b.expected;
    }
    span_store(at, 0, pack(b), 8);
    return NULL;
}

// Does the same as change(), and updates the race check's state of the mbarrier.
static const char *change_checked(Run *r, Sync *s, Span at, uint32_t arrivals, int32_t bytes, bool drop)
{
    uint32_t phase = unpack(span_load(at, 0, 8)).phase;
    const char *why = change(at, arrivals, bytes, drop);
    if (s && unpack(span_load(at, 0, 8)).phase != phase)
        race_mbarrier_phase(r, s);
    return why;
}

/* -- Copies --------------------------------------------------------------------------------------------- */

typedef struct Copy Copy;
struct Copy {
    Copy *next;
    Span to;  // no bytes: the entry is an arrival
    Span from;
    uint32_t bytes, zeros;  // zeros: number of zero bytes after the copied ones
    uint32_t group;
    Span barrier;  // mbarrier to which the copy reports; no bytes = none
    RaceCopy race;
};

// The copies of a lane in program order.
typedef struct Queue {
    Copy *first, **end;
    uint32_t group;  // the open group
} Queue;

typedef enum { QUEUE_PLAIN, QUEUE_BULK, QUEUES } QueueKind;

struct Copies {
    Queue queues[QUEUES][LANES];
    Copy *free;
};

static Copies *copies_of(Run *r)
{
    Warp *w = r->warp;
    if (w->copies)
        return w->copies;
    w->copies = NEW(r->arena, Copies);
    for (uint32_t k = 0; k < QUEUES; k++)
        for (Queue *q = w->copies->queues[k]; q < w->copies->queues[k] + LANES; q++)
            q->end = &q->first;
    return w->copies;
}

static void push(Run *r, QueueKind kind, uint32_t lane, Copy copy)
{
    Copies *copies = copies_of(r);
    Queue *q = &copies->queues[kind][lane];
    Copy *p = copies->free;
    if (p)
        copies->free = p->next;
    else
        p = NEW(r->arena, Copy);
    *p = copy;
    p->group = q->group;
    *q->end = p;
    q->end = &p->next;
}

// Makes a copy or an arrival, and reports to its mbarrier. Returns NULL, or a description of the error.
static const char *make_copy(Run *r, const Copy *p)
{
    if (p->race.sync)
        race_complete(r, &p->race);
    if (!p->to.bytes)
        return change_checked(r, p->race.sync, p->barrier, 1, 0, false);
    span_copy(p->to, p->from, p->bytes);  // definedness of the zeroes was set at the issue
    span_zero(p->to, p->bytes, p->zeros);
    return p->barrier.bytes ? change_checked(r, p->race.sync, p->barrier, 0, -(int32_t)p->bytes, false) : NULL;
}

// Removes the first copy from a queue and makes it. Returns the result of make_copy().
static const char *make_first(Run *r, Copies *copies, Queue *q)
{
    Copy *p = q->first;
    q->first = p->next;
    if (!q->first)
        q->end = &q->first;
    p->next = copies->free;
    copies->free = p;
    return make_copy(r, p);
}

// Makes the copies of a lane before `end`. False after a fault.
static bool make_until(Run *r, const Group *g, const Code *c, uint32_t lane, QueueKind kind, const Copy *end)
{
    Copies *copies = copies_of(r);
    Queue *q = &copies->queues[kind][lane];
    while (q->first != end) {
        const char *why = make_first(r, copies, q);
        if (why)
            return fault(r, g, c, lane, "an asynchronous copy that completes here: %s", why);
    }
    return true;
}

// Makes copies until at most `open` closed groups are left; with `all`, makes all copies. False after a fault.
static bool wait_groups(Run *r, const Group *g, const Code *c, uint32_t lane, QueueKind kind, uint32_t open, bool all,
                        bool sources_only)
{
    const Queue *q = &copies_of(r)->queues[kind][lane];
    const Copy *p = q->first;
    while (p && (all || q->group - p->group > open))
        p = p->next;
    bool ok = make_until(r, g, c, lane, kind, p);
    if (r->races)
        race_copied(r, lane, sources_only, p ? p->race.time - 1 : UINT64_MAX);
    return ok;
}

// Makes the copies that report to an mbarrier, in all threads of the cluster, and all earlier copies of these threads.
// False after a fault.
static bool make_for_barrier(Run *r, const Group *g, const Code *c, const uint8_t *barrier)
{
    Warp *const here = r->warp;
    bool ok = true;
    for (uint32_t k = 0; ok && k < r->nctas * r->nwarps; k++) {
        select_warp(r, warp_in_cluster(r, k));
        for (uint32_t n = 0; ok && r->warp->copies && n < QUEUES * LANES; n++) {
            const Copy *end = NULL, *first = r->warp->copies->queues[n / LANES][n % LANES].first;
            for (const Copy *p = first; p; p = p->next)
                if (p->barrier.bytes == barrier)
                    end = p;
            ok = !end || make_until(r, g, c, n % LANES, (QueueKind)(n / LANES), end->next);
        }
    }
    select_warp(r, here);
    return ok;
}

void async_end(Warp *w, Mask lanes)
{
    FOR_LANES(lanes, lane) {
        for (uint32_t k = 0; w->copies && k < QUEUES; k++)
            while (w->copies->queues[k][lane].first)
                make_first(w->run, w->copies, &w->copies->queues[k][lane]);
    }
}

/* -- Instructions on barriers --------------------------------------------------------------------------- */

// Flags of eval.extra
enum {
    F_PARITY = 1,
    F_DROP = 2,
    F_EXPECT = 4,       // the operand is a number of expected bytes
    F_NO_COMPLETE = 8,  // the arrival must not complete the phase
    F_NOINC = 16,
    F_COMPLETE = 32,  // completes bytes at an mbarrier
    F_ALL = 64,
    F_BULK = 128,
    F_TO_SHARED = 256,
    F_FROM_SHARED = 512,
    F_SOURCES = 2048,     // waits for reads only
    F_TO_CLUSTER = 1024,  // with F_TO_SHARED
};

// Returns the bytes of an mbarrier at an address of a space; no bytes after a fault.
static Span barrier_at(Run *r, const Group *g, const Code *c, Space space, uint32_t k, uint32_t lane, bool reads)
{
    uint64_t address = address_at(r, g, c, k, lane);
    if (space == SP_GENERIC && address / WINDOW_BYTES != SHARED_WINDOW / WINDOW_BYTES) {
        fault(r, g, c, lane, "an mbarrier at %#llx, which is not in shared memory", (unsigned long long)address);
        return NO_SPAN;
    }
    if (reads && r->machine->tracks && !memory_in(r, g, c, lane, space, address, 8, 8, false).bytes)
        return NO_SPAN;
    return memory_in(r, g, c, lane, space, address, 8, 8, true);
}

static Span word_in(Run *r, const Group *g, const Code *c, Space space, uint32_t k, uint32_t lane)
{
    r->access = ACCESS_MBARRIER;
    const Span at = barrier_at(r, g, c, space, k, lane, true);
    r->access = ACCESS_PLAIN;
    if (at.bytes && r->machine->tracks)
        undef_report_use(r, g, c, UINT32_C(1) << lane & ~r->defined[0].byte[0]);
    return at;
}

static Span word_at(Run *r, const Group *g, const Code *c, uint32_t k, uint32_t lane)
{
    return word_in(r, g, c, (Space)c->space, k, lane);
}

static bool changed(Run *r, const Group *g, const Code *c, uint32_t lane, const char *why)
{
    return !why || fault(r, g, c, lane, "%s", why);
}

static bool run_init(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        const Span at = barrier_at(r, g, c, (Space)c->space, 0, lane, false);
        uint32_t count = (uint32_t)read_lane(r, g, &c->in[2], lane);
        if (!at.bytes)
            return false;
        if (!count || count > COUNT_MAX)
            return fault(r, g, c, lane, "an mbarrier cannot expect %u arrivals", count);
        span_store(at, 0, pack((Mbarrier){.pending = count, .expected = count, .valid = true}), 8);
    }
    return true;
}

static bool run_inval(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        const Span at = word_at(r, g, c, 0, lane);
        if (!at.bytes)
            return false;
        if (!unpack(span_load(at, 0, 8)).valid)
            return fault(r, g, c, lane, "there is no initialized mbarrier here");
        span_store(at, 0, 0, 8);
    }
    return true;
}

// Runs mbarrier.expect_tx and mbarrier.complete_tx.
static bool run_expect(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        const Span at = word_at(r, g, c, 0, lane);
        int32_t bytes = (int32_t)MIN((uint32_t)read_lane(r, g, &c->in[2], lane), COUNT_MAX + 1);
        if (!at.bytes ||
            !changed(r, g, c, lane,
                     change_checked(r, race_sync(r), at, 0, c->eval.extra & F_COMPLETE ? -bytes : bytes, false)))
            return false;
    }
    return true;
}

static bool run_arrive(Run *r, Group *g, const Code *c)
{
    uint32_t flags = c->eval.extra;
    FOR_LANES(g->lanes, lane) {
        uint32_t number = c->nin > 2 ? (uint32_t)read_lane(r, g, &c->in[2], lane) : 1;
        uint32_t arrivals = flags & F_EXPECT ? 1 : number;
        int32_t bytes = flags & F_EXPECT ? (int32_t)MIN(number, COUNT_MAX + 1) : 0;
        const Span at = word_at(r, g, c, 0, lane);
        if (!at.bytes)
            return false;
        uint64_t before = span_load(at, 0, 8);
        if (!arrivals)
            return fault(r, g, c, lane, "an arrival at an mbarrier with a count of 0");
        if (flags & F_NO_COMPLETE && arrivals >= unpack(before).pending)
            return fault(r, g, c, lane, "%s completes the phase", "mbarrier.arrive.noComplete");
        Sync *sync = race_sync(r);
        if (sync)
            race_mbarrier_arrive(r, g, c, lane, sync);
        if (!changed(r, g, c, lane, change_checked(r, sync, at, arrivals, bytes, flags & F_DROP)))
            return false;
        write_lane(r, g, &c->out[0], lane, (Value){before, 0});
    }
    return true;
}

// Records the result of a test. While a test of a lane fails, its warp yields to other warps.
static void record_test(Run *r, uint32_t lane, Span at, bool done)
{
    Warp *w = r->warp;
    Mask bit = UINT32_C(1) << lane;
    w->failed_tests = done ? w->failed_tests & ~bit : w->failed_tests | bit;
    w->tested_mbarrier[lane] = (uint32_t)(at.bytes - w->cta->shared);
    w->yields |= !done;
}

void async_describe(Run *r, CtaState *cta, uint32_t offset, size_t cap, char *text)
{
    char place[160];
    const Span shared = {cta->shared, NULL, r->nshared};
    const Mbarrier b = unpack(span_load(shared, offset, 8));
    const Access a = {.space = SP_SHARED, .owner = cta, .at = offset};
    variable_place(r, &a, place);
    snprintf(text, cap, "the mbarrier at %s: %u of %u arrivals and %d bytes are pending", place, b.pending, b.expected,
             b.bytes);
}

// Runs mbarrier.test_wait and mbarrier.try_wait; both test once.
static bool run_test(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        const Span at = word_at(r, g, c, 0, lane);
        uint64_t state = read_lane(r, g, &c->in[2], lane);
        const Sync *sync = race_sync(r);
        if (!at.bytes || !make_for_barrier(r, g, c, at.bytes))
            return false;
        Mbarrier now = unpack(span_load(at, 0, 8)), then = unpack(state);
        if (!now.valid)
            return fault(r, g, c, lane, "there is no initialized mbarrier here");
        bool done = c->eval.extra & F_PARITY ? (now.phase & 1) != (uint32_t)state : now.phase != then.phase;
        if (!(c->eval.extra & F_PARITY) && (!then.valid || (now.phase - then.phase) % PHASES > 1))
            return fault(r, g, c, lane, "the state is not from the mbarrier's current or previous phase");
        record_test(r, lane, at, done);
        if (done && sync)
            race_mbarrier_wait(r, g, c, lane, sync);
        write_lane(r, g, &c->out[0], lane, (Value){done, 0});
    }
    return true;
}

static bool run_pending_count(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){unpack(read_lane(r, g, &c->in[0], lane)).pending, 0});
    return true;
}

/* -- Instructions that copy ----------------------------------------------------------------------------- */

// Returns the host memory of the source or the destination of a copy; no bytes after a fault.
static Span end_at(Run *r, const Group *g, const Code *c, Space space, uint32_t k, uint32_t lane, uint32_t bytes,
                   uint32_t align, bool write)
{
    bool bulk = c->eval.extra & F_BULK;
    r->access = c->eval.extra & F_COMPLETE ? ACCESS_COPY_BARRIER : bulk && !write ? ACCESS_COPY_SOURCE : ACCESS_COPY;
    const Span at = memory_in(r, g, c, lane, space, address_at(r, g, c, k, lane), bytes, align, write);
    r->access = ACCESS_PLAIN;
    return at;
}

// Returns the number of bytes that cp.async reads; it fills the rest with zeros. The operand after the size is this
// number, or a predicate that is true if the source is ignored.
static uint32_t source_bytes(const Run *r, const Group *g, const Code *c, uint32_t lane)
{
    if (c->eval.nin == 5)
        return c->bytes;
    uint32_t n = (uint32_t)read_lane(r, g, &c->in[5], lane);
    bool ignores = c->in[5].kind != REF_CONST && c->in[5].width == W1;
    return !ignores ? n : n & 1 ? 0 : c->bytes;
}

// Returns the source of cp.async, `n` bytes with the alignment of the whole copy; no bytes after a fault.
static Span source_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint32_t n)
{
    uint64_t address = address_at(r, g, c, 2, lane);
    if (address % c->bytes) {
        fault(r, g, c, lane, "cp.async of %u bytes from address %#llx, which is not aligned", c->bytes,
              (unsigned long long)address);
        return NO_SPAN;
    }
    return end_at(r, g, c, SP_GLOBAL, 2, lane, n, 1, false);
}

static bool run_cp_async(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint32_t n = source_bytes(r, g, c, lane);
        Copy copy = {.to = end_at(r, g, c, SP_SHARED, 0, lane, c->bytes, c->bytes, true)};
        if (!copy.to.bytes)
            return false;
        if (n > c->bytes)
            return fault(r, g, c, lane, "cp.async of %u bytes with a source of %u", c->bytes, n);
        copy.from = n ? source_at(r, g, c, lane, n) : copy.to;
        if (!copy.from.bytes)
            return false;
        copy.bytes = n;
        copy.zeros = c->bytes - n;
        copy.race = race_copy(r, lane, NULL, false);
        push(r, QUEUE_PLAIN, lane, copy);
    }
    return true;
}

static QueueKind queue_of(const Code *c) { return c->eval.extra & F_BULK ? QUEUE_BULK : QUEUE_PLAIN; }

static bool run_commit(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        copies_of(r)->queues[queue_of(c)][lane].group++;
    if (r->races)
        race_commit(r);
    return true;
}

static bool run_wait(Run *r, Group *g, const Code *c)
{
    bool all = c->eval.extra & F_ALL;
    uint32_t open = all ? 0 : (uint32_t)read_lane(r, g, &c->in[0], first_lane(g));
    FOR_LANES(g->lanes, lane)
        if (!wait_groups(r, g, c, lane, queue_of(c), open, all, c->eval.extra & F_SOURCES))
            return false;
    return true;
}

// Runs cp.async.mbarrier.arrive. Without .noinc, the pending count is incremented for this arrival.
static bool run_cp_async_arrive(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        const Span at = word_at(r, g, c, 0, lane);
        if (!at.bytes)
            return false;
        Mbarrier b = unpack(span_load(at, 0, 8));
        if (!b.valid)
            return fault(r, g, c, lane, "there is no initialized mbarrier here");
        if (!(c->eval.extra & F_NOINC)) {
            if (b.pending++ == COUNT_MAX)
                return fault(r, g, c, lane, "more arrivals than an mbarrier can count");
            span_store(at, 0, pack(b), 8);
        }
        push(r, QUEUE_PLAIN, lane, (Copy){.barrier = at, .race = race_copy(r, lane, race_sync(r), true)});
    }
    return true;
}

static bool run_cp_async_bulk(Run *r, Group *g, const Code *c)
{
    uint32_t flags = c->eval.extra;
    Space shared = flags & F_TO_CLUSTER ? SP_CLUSTER : SP_SHARED;
    FOR_LANES(g->lanes, lane) {
        uint32_t n = (uint32_t)read_lane(r, g, &c->in[4], lane);
        Copy copy = {.bytes = n};
        if (n % 16)
            return fault(r, g, c, lane, "a bulk copy of %u bytes, which is not a multiple of 16", n);
        if (flags & F_COMPLETE) {
            copy.barrier = word_in(r, g, c, shared, 5, lane);
            if (!copy.barrier.bytes)
                return false;
        }
        if (!n)
            continue;
        copy.to = end_at(r, g, c, flags & F_TO_SHARED ? shared : SP_GLOBAL, 0, lane, n, 16, true);
        copy.from = end_at(r, g, c, flags & F_FROM_SHARED ? SP_SHARED : SP_GLOBAL, 2, lane, n, 16, false);
        if (!copy.to.bytes || !copy.from.bytes)
            return false;
        copy.race = race_copy(r, lane, flags & F_COMPLETE ? race_sync(r) : NULL, false);
        push(r, QUEUE_BULK, lane, copy);
    }
    return true;
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

// Removes a prefix from a text. False if the text does not begin with the prefix.
static bool skip_prefix(Str *s, const char *start)
{
    uint32_t n = (uint32_t)strlen(start);
    if (s->len < n || memcmp(s->text, start, n) != 0)
        return false;
    s->text += n;
    s->len -= n;
    return true;
}

// Reads the modifiers of an mbarrier instruction. False if one of them is not supported.
static bool read_words(Code *c, Str rest)
{
    static const struct {
        const char *text;
        uint16_t flag;
        uint8_t space;
    } words[] = {
        {"parity", F_PARITY, 0},
        {"expect_tx", F_EXPECT, 0},
        {"noComplete", F_NO_COMPLETE, 0},
        {"noinc", F_NOINC, 0},
        {"shared", 0, SP_SHARED},
        {"shared::cta", 0, SP_SHARED},
        {"shared::cluster", 0, SP_CLUSTER},
        {"b64", 0, 0},
        {"release", 0, 0},
        {"acquire", 0, 0},
        {"relaxed", 0, 0},
        {"cta", 0, 0},
        {"cluster", 0, 0},
    };
    Str part;
    while (eval_next_part(&rest, &part)) {
        uint32_t k = 0;
        while (k < ARRAY_LEN(words) && !str_is(part, words[k].text))
            k++;
        if (k == ARRAY_LEN(words))
            return false;
        c->eval.extra |= words[k].flag;
        c->space = words[k].space ? words[k].space : c->space;
    }
    return true;
}

static bool decode_mbarrier(Code *c, Str rest)
{
    static const struct {
        const char *text;  // longer texts first
        CodeRun *run;
        uint16_t flags;
        bool has_result;
        uint8_t least, most;  // bounds of the number of inputs; an address counts as two
    } rows[] = {
        {".arrive_drop", run_arrive, F_DROP, true, 2, 3},
        {".arrive", run_arrive, 0, true, 2, 3},
        {".init", run_init, 0, false, 3, 3},
        {".inval", run_inval, 0, false, 2, 2},
        {".expect_tx", run_expect, F_EXPECT, false, 3, 3},
        {".complete_tx", run_expect, F_COMPLETE, false, 3, 3},
        {".test_wait", run_test, 0, true, 3, 3},
        {".try_wait", run_test, 0, true, 3, 4},
        {".pending_count", run_pending_count, 0, true, 1, 1},
    };
    uint32_t k = 0;
    while (k < ARRAY_LEN(rows) && !skip_prefix(&rest, rows[k].text))
        k++;
    if (k == ARRAY_LEN(rows))
        return false;
    if (rows[k].has_result && !c->nout && c->nin)
        code_take_result(c);
    c->run = rows[k].run;
    c->eval.extra = rows[k].flags;
    return c->nout == rows[k].has_result && c->nin >= rows[k].least && c->nin <= rows[k].most && read_words(c, rest);
}

// Decodes a bulk copy: the destination space, the source space, and the completion mechanism.
static bool decode_bulk(Code *c, Str rest)
{
    uint32_t *flags = &c->eval.extra;
    *flags = F_BULK;
    if (skip_prefix(&rest, ".commit_group")) {
        c->run = run_commit;
        return !rest.len;
    }
    if (skip_prefix(&rest, ".wait_group")) {
        c->run = run_wait;
        *flags |= rest.len ? F_SOURCES : 0;
        return c->nin == 1 && (!rest.len || str_is(rest, ".read"));
    }
    c->run = run_cp_async_bulk;
    if (skip_prefix(&rest, ".shared::cluster"))
        *flags |= F_TO_SHARED | F_TO_CLUSTER;
    else if (skip_prefix(&rest, ".shared::cta"))
        *flags |= F_TO_SHARED;
    if (!(*flags & F_TO_SHARED) && !skip_prefix(&rest, ".global"))
        return false;
    if (skip_prefix(&rest, ".shared::cta"))
        *flags |= F_FROM_SHARED;
    else if (!skip_prefix(&rest, ".global"))
        return false;
    bool completes_bytes = skip_prefix(&rest, ".mbarrier::complete_tx::bytes");
    *flags |= completes_bytes ? F_COMPLETE : 0;
    bool hint = (completes_bytes || skip_prefix(&rest, ".bulk_group")) && skip_prefix(&rest, ".L2::cache_hint");
    return !rest.len && completes_bytes == !!(*flags & F_TO_SHARED) && c->nin == 5u + 2u * completes_bytes + hint;
}

static bool has_part(Str parts, const char *text)
{
    bool found = false;
    for (Str part; eval_next_part(&parts, &part);)
        found |= str_is(part, text);
    return found;
}

static bool decode_cp_async(Code *c, Str suffix)
{
    uint64_t size = c->nin > 4 ? c->in[4].bits : 0;
    c->run = run_cp_async;
    c->bytes = (uint8_t)size;
    c->eval.nin = (uint8_t)(c->nin - has_part(suffix, "L2::cache_hint"));
    if (c->eval.nin != 5 && c->eval.nin != 6)
        return false;
    return size == 16 || (c->op == OP_CP_ASYNC_CA && (size == 4 || size == 8));
}

bool async_decode(const Tables *t, const Desc *d, Code *c)
{
    const Mnem *m = tab_mnem(t, d->mnem);
    Str text = tab_str(t, m->text);
    c->eval = (Eval){.op = d->op};
    switch (d->op) {
    case OP_CP_ASYNC_CA:
    case OP_CP_ASYNC_CG: return decode_cp_async(c, tab_str(t, m->suffix));
    case OP_CP_ASYNC_COMMIT: c->run = run_commit; return true;
    case OP_CP_ASYNC_WAIT_ALL:
        c->eval.extra = F_ALL;
        c->run = run_wait;
        return true;
    case OP_CP_ASYNC_WAIT: c->run = run_wait; return c->nin == 1;
    case OP_MBAR_INIT:
    case OP_MBAR_INVAL:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_TEST:
    case OP_MBAR_TRY:
    case OP_OPAQUE: break;
    default: return false;
    }
    c->space = SP_GENERIC;
    if (skip_prefix(&text, "mbarrier"))
        return decode_mbarrier(c, text);
    if (skip_prefix(&text, "cp.async.mbarrier.arrive")) {
        c->run = run_cp_async_arrive;
        return c->nin == 2 && read_words(c, text);
    }
    return skip_prefix(&text, "cp.async.bulk") && decode_bulk(c, text);
}
