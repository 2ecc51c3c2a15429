// SPDX-License-Identifier: MIT
// Maps addresses of kernels to host memory. Global and constant memory consists of allocations. A gap of GAP bytes
// follows each allocation, so that an access to the first byte beyond it is a fault. Ranges of the host's memory, if
// the machine has any, have the addresses of the host. Shared, local and parameter memory are windows of the generic
// address space. An access that is out of bounds, not aligned, or not in any allocation ends the run.
#include <stdio.h>

#include "ir/machine/machine_internal.h"

enum { GAP = 4096, ALIGN = 256 };
#define GAP_CHECKED (UINT64_C(1) << 36)  // with check_bounds

// More than any space holds. Sums of sizes saturate here, so that none wraps.
#define ROOM_MAX (UINT64_C(1) << 62)

static uint64_t round_up(uint64_t a, uint64_t to) { return (a + to - 1) / to * to; }

uint64_t memory_place(uint64_t *end, uint64_t align, uint64_t size)
{
    uint64_t at = round_up(*end, MAX(align, 1));
    *end = size > ROOM_MAX || at > ROOM_MAX - size ? ROOM_MAX : at + size;
    return at;
}

/* -- Allocations ---------------------------------------------------------------------------------------- */

Allocation *allocate(Machine *m, Arena *arena, uint64_t bytes, const char *name)
{
    Allocation a = {.base = m->next, .size = bytes, .name = name};
    a.bytes = arena_zalloc(arena, MAX(bytes, 1));
    if (m->tracks)
        a.defined = memset(arena_alloc(arena, MAX(bytes, 1)), 1, bytes);
    m->next = round_up(m->next + bytes + (m->options.check_bounds ? GAP_CHECKED : GAP), ALIGN);
    VEC_PUSH(&m->arena, &m->allocations, a);
    return &m->allocations.at[m->allocations.n - 1];
}

static Allocation *find_allocation(Machine *m, uint64_t address, uint32_t *cache)
{
    uint32_t low = 0, high = m->allocations.n;
    if (*cache < high && address - m->allocations.at[*cache].base < m->allocations.at[*cache].size)
        return &m->allocations.at[*cache];
    while (low < high) {  // finds the first allocation that begins after the address
        uint32_t mid = low + (high - low) / 2;
        if (m->allocations.at[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    uint64_t gap = m->options.check_bounds ? GAP_CHECKED : GAP;
    if (!low || address - m->allocations.at[low - 1].base >= MAX(m->allocations.at[low - 1].size + gap / 2, 1))
        return NULL;
    *cache = low - 1;
    return &m->allocations.at[low - 1];
}

// Returns the allocation with an address in the gap before it; NULL = there is none.
static Allocation *allocation_after(Machine *m, uint64_t address)
{
    uint32_t k = 0;
    while (k < m->allocations.n && m->allocations.at[k].base <= address)
        k++;
    bool near = k < m->allocations.n && m->allocations.at[k].base - address <= GAP_CHECKED / 2;
    return near && address >= GLOBAL_BASE - GAP_CHECKED / 2 ? &m->allocations.at[k] : NULL;
}

uint64_t machine_alloc(Machine *m, uint64_t bytes, const char *name)
{
    return allocate(m, &m->arena, bytes, name)->base;
}

Allocation *allocation_of(Machine *m, uint64_t address)
{
    uint32_t cache = 0;
    Allocation *a = find_allocation(m, address, &cache);
    return a && address - a->base < a->size ? a : NULL;
}

uint8_t *machine_bytes(Machine *m, uint64_t address, uint64_t *size)
{
    const Allocation *a = allocation_of(m, address);
    if (!a)
        return NULL;
    *size = a->size - (address - a->base);
    return a->bytes + (address - a->base);
}

bool machine_range(Machine *m, uint64_t address, HostRange *range)
{
    const Allocation *a = allocation_of(m, address);
    if (!a || a->freed)
        return false;
    *range = (HostRange){a->base, a->size, a->read_only, .bytes = a->bytes, .name = a->name};
    return true;
}

/* -- Module variables ----------------------------------------------------------------------------------- */

static uint64_t add_variable(Machine *m, const Tables *t, const Sym *s)
{
    char name[100], quoted[sizeof name + 2];
    snprintf(quoted, sizeof quoted, "'%s'", name_text(t, s->name, name, sizeof name));
    Allocation *a = allocate(m, &m->arena, s->size, arena_text(&m->arena, quoted, strlen(quoted)));
    a->read_only = s->space == SP_CONST;
    return a->base;
}

static bool is_module_variable(const Sym *s)
{
    return s->kind == SYM_VAR && (s->space == SP_GLOBAL || s->space == SP_CONST);
}

// Returns the address of a symbol that an initializer names; `f` declares the variable (NULL: the module).
static uint64_t address_in_initializer(const Machine *m, const Func *f, SymId s)
{
    return f && s & SYM_LOCAL ? f->local_at[s & ~(uint32_t)SYM_LOCAL] : machine_symbol(m, s);
}

static void write_initial(Machine *m, const Func *f, const Sym *s, Span to)
{
    const Init *init = s->init;
    if (!init || !init->bytes)
        return;
    uint64_t bytes = MIN(init->size, to.size);
    span_copy(to, (Span){init->bytes, NULL, bytes}, bytes);
    for (uint32_t k = 0; k < init->nrelocs; k++) {
        const Reloc *r = &init->relocs[k];
        uint64_t address = address_in_initializer(m, f, r->sym) + (uint64_t)r->addend;
        uint32_t size = r->mask ? 1 : m->module->address_size == 32 ? 4 : 8;
        if (r->mask)
            address = (address & r->mask) >> __builtin_ctzll(r->mask);
        if (r->offset < to.size)
            span_store(to, r->offset, address, (uint32_t)MIN(size, to.size - r->offset));
    }
}

// Returns the symbol that defines an extern variable, or 0.
static SymId definition_of(const Module *m, SymId s)
{
    const Sym *sym = &m->syms.at[s];
    if (sym->kind != SYM_VAR || !(sym->flags & SYM_EXTERN) || sym->space == SP_SHARED)
        return 0;
    for (SymId k = 1; k < m->syms.n; k++) {
        const Sym *other = &m->syms.at[k];
        if (other->kind == SYM_VAR && !(other->flags & SYM_EXTERN) && name_same(other->name, sym->name) &&
            (other->space == sym->space || (is_module_variable(other) && is_module_variable(sym))))
            return k;
    }
    return 0;
}

SymId function_at(const Machine *m, uint64_t address)
{
    if (address < CODE_WINDOW || address >= CODE_WINDOW + WINDOW_BYTES || address % 16)
        return 0;
    IDSET_EACH(&m->functions, (uint32_t)((address - CODE_WINDOW) / 16), s) {
        if (m->symbols[s] == address)
            return s;
    }
    return 0;
}

// Places a function. Its address depends on its name, and on that of another function only if both have the same hash.
// So a function keeps its address if others are added or removed.
static uint64_t add_function(Machine *m, SymId s)
{
    char name[500];
    name_text(&m->module->tables, m->module->syms.at[s].name, name, sizeof name);
    uint32_t number = hash_bytes(name, strlen(name));
    while (function_at(m, CODE_WINDOW + 16 * (uint64_t)number))
        number++;
    idset_add(&m->functions, &m->arena, number, s);
    return CODE_WINDOW + 16 * (uint64_t)number;
}

void memory_lay_out(Machine *m)
{
    const Module *module = m->module;
    m->next = m->options.host.find ? GLOBAL_BASE_BESIDE_HOST : GLOBAL_BASE;
    m->next += m->options.number % GLOBAL_PLACES * GLOBAL_BYTES;
    m->symbols = NEW_ARRAY(&m->arena, uint64_t, module->syms.n);
    for (SymId s = 1; s < module->syms.n; s++) {
        const Sym *sym = &module->syms.at[s];
        if (sym->kind == SYM_FUNC)
            m->symbols[s] = add_function(m, s);
        else if (is_module_variable(sym) && !definition_of(module, s))
            m->symbols[s] = add_variable(m, &module->tables, sym);
        else if (sym->kind == SYM_VAR && sym->space == SP_LOCAL)
            m->symbols[s] = layout_place(m, &m->local, m->stack_gap, &module->tables, sym);
        else if (sym->kind == SYM_VAR && sym->space == SP_SHARED && !(sym->flags & SYM_OPEN))
            m->symbols[s] = layout_place(m, &m->shared, m->shared_gap, &module->tables, sym);
    }
    layout_close(&m->local, m->stack_gap);
    for (SymId s = 1; s < module->syms.n; s++)
        if (definition_of(module, s))
            m->symbols[s] = m->symbols[definition_of(module, s)];
}

static void reset_variable(Machine *m, const Func *f, const Sym *s, uint64_t address)
{
    const Allocation *a = allocation_of(m, address);
    if (!a)
        return;
    memset(a->bytes, 0, a->size);
    write_initial(m, f, s, (Span){a->bytes, NULL, a->size});
    check_reset_variable(m, address);
}

void machine_reset(Machine *m)
{
    const Module *module = m->module;
    blocks_free(m);
    for (SymId s = 1; s < module->syms.n; s++)
        if (is_module_variable(&module->syms.at[s]) && !definition_of(module, s))
            reset_variable(m, NULL, &module->syms.at[s], m->symbols[s]);
    for (uint32_t k = 0; k < m->statics.n; k++)
        reset_variable(m, m->statics.at[k].func, m->statics.at[k].sym, m->statics.at[k].address);
}

uint64_t memory_add_static(Machine *m, const Func *f, const Sym *s)
{
    Static added = {f, s, add_variable(m, f->fn->tables, s)};
    VEC_PUSH(&m->arena, &m->statics, added);
    return added.address;
}

uint64_t machine_symbol(const Machine *m, SymId s) { return s < m->module->syms.n ? m->symbols[s] : 0; }

/* -- Accesses ------------------------------------------------------------------------------------------- */

// An access that a kernel requests.
typedef struct Request {
    Space space;
    uint64_t address;
    uint32_t size, align;
    bool write;
    bool global;  // the instruction names .global
} Request;

static const char *verb(const Request *q) { return q->write ? "write" : "read"; }

// Returns the accessed part of a window; no bytes after a fault. `of_frame` = the window has parameters of the frame.
static Span in_window(Run *r, const Group *g, const Code *c, uint32_t lane, const Request *q, CtaState *owner,
                      Span window, bool of_frame)
{
    static const char *const names[] = {[SP_SHARED] = "shared", [SP_LOCAL] = "local", [SP_PARAM] = "parameter"};
    uint64_t at = q->address;
    if (r->machine->options.check_bounds) {
        BoundsCheck b = {q->space, at, q->size, q->write, 0};
        if (!bounds_check(r, g, c, lane, &b, of_frame))
            return NO_SPAN;
        at = b.host;
    }
    Span s = span_part(window, at, q->size);
    if (!s.bytes) {
        fault(r, g, c, lane, "%s of %u bytes at %#llx of %s memory, which has %llu bytes", verb(q), q->size,
              (unsigned long long)q->address, names[q->space], (unsigned long long)window.size);
        return s;
    }
    if (!r->machine->watches)
        return s;
    Access a = {g, c, lane, q->space, NULL, owner, s.defined, at, q->size, q->write};
    return check_access(r, &a) ? s : NO_SPAN;
}

bool machine_can_reach(const HostRange *range)
{
    uint64_t end = range->base + range->size;
    bool before = end <= SHARED_WINDOW, after = range->base >= CODE_WINDOW + WINDOW_BYTES;
    return range->base >= GAP && range->base < end && end <= GLOBAL_BASE_BESIDE_HOST && (before || after);
}

// Finds the range of the host's memory in which an access begins, and caches it in the code. False after a fault.
static bool find_host(Run *r, const Group *g, const Code *c, uint32_t lane, const Request *q)
{
    const HostMemory *host = &r->machine->options.host;
    HostRange *range = &((Code *)(uintptr_t)c)->host;
    bool is_null = q->address < GAP;
    if (q->address - range->base < range->size)
        return true;
    if (!is_null && host->find && host->find(host->user, q->address, range))
        return true;
    const char *why = is_null ? "a null pointer" : host->find ? "which is in no " : "which is not mapped";
    const char *name = is_null || !host->find ? "" : host->name;
    return fault(r, g, c, lane, "%s of %u bytes at address %#llx, %s%s", verb(q), q->size,
                 (unsigned long long)q->address, why, name);
}

// Returns the accessed part of the host's memory; no bytes after a fault.
static Span in_host(Run *r, const Group *g, const Code *c, uint32_t lane, const Request *q)
{
    if (!find_host(r, g, c, lane, q))
        return NO_SPAN;
    HostRange range = c->host;
    uint64_t at = q->address - range.base;
    uint8_t *bytes = range.bytes ? range.bytes : (uint8_t *)(uintptr_t)range.base;
    Span s = span_part((Span){bytes, NULL, range.size}, at, q->size);
    if (q->write && range.read_only) {
        fault(r, g, c, lane, "write of %u bytes at address %#llx, which is read-only", q->size,
              (unsigned long long)q->address);
        return NO_SPAN;
    }
    if (!s.bytes) {
        fault(r, g, c, lane, "%s of %u bytes at %#llx of %s%s, which has %llu bytes", verb(q), q->size,
              (unsigned long long)at, range.name ? "" : "a ", range.name ? range.name : r->machine->options.host.name,
              (unsigned long long)range.size);
        return s;
    }
    if (!r->machine->watches)
        return s;
    Access access = {g, c, lane, SP_GLOBAL, NULL, NULL, NULL, at, q->size, q->write};
    return check_access(r, &access) ? s : NO_SPAN;
}

// Returns the space of a generic address, and makes *address relative to the space.
static Space space_at(uint64_t *address)
{
    switch (*address / WINDOW_BYTES) {
    case SHARED_WINDOW / WINDOW_BYTES: *address -= SHARED_WINDOW; return SP_CLUSTER;
    case LOCAL_WINDOW / WINDOW_BYTES: *address -= LOCAL_WINDOW; return SP_LOCAL;
    case PARAM_WINDOW / WINDOW_BYTES: *address -= PARAM_WINDOW; return SP_PARAM;
    default: return SP_GLOBAL;
    }
}

// Faults if the address of an access to .global lies in the window of another memory. Returns true if there was none.
static bool is_outside_windows(Run *r, const Group *g, const Code *c, uint32_t lane, const Request *q)
{
    uint64_t at = q->address;
    Space space = space_at(&at);
    if (space != SP_CLUSTER && space != SP_LOCAL)
        return true;
    return fault(r, g, c, lane, "%s of %u bytes at address %#llx, which is in %s memory, not in .global", verb(q),
                 q->size, (unsigned long long)q->address, space == SP_LOCAL ? "local" : "shared");
}

// Returns the accessed part of an allocation or of the host's memory; no bytes after a fault.
static Span in_global(Run *r, const Group *g, const Code *c, uint32_t lane, const Request *q)
{
    uint32_t cache = c->cache;
    Allocation *a = find_allocation(r->machine, q->address, &cache);
    ((Code *)(uintptr_t)c)->cache = cache;
    if (!a && r->machine->options.check_bounds && (a = allocation_after(r->machine, q->address))) {
        fault(r, g, c, lane, "%s of %u bytes at -%#llx of %s, which has %llu bytes", verb(q), q->size,
              (unsigned long long)(a->base - q->address), a->name, (unsigned long long)a->size);
        return NO_SPAN;
    }
    if (!a)
        return in_host(r, g, c, lane, q);
    uint64_t at = q->address - a->base;
    Span s = a->freed ? NO_SPAN : span_part((Span){a->bytes, a->defined, a->size}, at, q->size);
    if (q->write && a->read_only) {
        fault(r, g, c, lane, "a write to constant memory");
        return NO_SPAN;
    }
    if (q->global && a->read_only) {
        fault(r, g, c, lane, "%s of %u bytes at %#llx of %s, which is in constant memory, not in .global", verb(q),
              q->size, (unsigned long long)at, a->name);
        return NO_SPAN;
    }
    if (!s.bytes) {
        fault(r, g, c, lane, "%s of %u bytes at %#llx of %s, which %s %llu bytes", verb(q), q->size,
              (unsigned long long)at, a->name, a->freed ? "was freed and had" : "has", (unsigned long long)a->size);
        return s;
    }
    if (!r->machine->watches)
        return s;
    Access access = {g, c, lane, SP_GLOBAL, a, NULL, s.defined, at, q->size, q->write};
    return check_access(r, &access) ? s : NO_SPAN;
}

// Returns the parameters of a frame in a lane.
static Span frame_parameters(const Frame *f, uint32_t lane)
{
    uint64_t size = f->func->params, at = lane * size;
    return (Span){f->params + at, f->params_defined ? f->params_defined + at : NULL, size};
}

// Returns the window of a space. Parameters are those of the frame or of the kernel.
static Span window_span(Run *r, const Group *g, uint32_t lane, Space space, const CtaState *owner, bool of_frame)
{
    const Warp *w = r->warp;
    switch (space) {
    case SP_SHARED: return (Span){owner->shared, owner->shared_defined, r->nshared};
    case SP_LOCAL: return (Span){w->local[lane], w->local_defined[lane], w->nlocal};
    default:
        return of_frame ? frame_parameters(g->frame, lane)
                        : (Span){(uint8_t *)(uintptr_t)r->launch->params, NULL, r->launch->nparams};
    }
}

// Returns the CTA that an access to shared::cluster reaches, and makes the access relative to its shared memory. NULL
// after a fault.
static CtaState *owner_of(Run *r, const Group *g, const Code *c, uint32_t lane, Request *q)
{
    CtaState *owner = cluster_cta(r, q->address);
    q->space = SP_SHARED;
    if (!owner && r->nctas == 1)
        return r->cta;  // in_window() reports the address as out of bounds
    if (!owner)
        fault(r, g, c, lane, "%s of %u bytes at %#llx of shared memory of the cluster, which has %u CTAs", verb(q),
              q->size, (unsigned long long)q->address, r->nctas);
    else if (!cta_is_live(r, owner))
        fault(r, g, c, lane, "%s of %u bytes in shared memory of CTA %u of the cluster, which has ended", verb(q),
              q->size, owner->rank);
    q->address &= SHARED_MAX - 1;
    return r->machine->error.status == RUN_DONE ? owner : NULL;
}

// Avoids a division where the alignment is a power of two.
static bool is_aligned(uint64_t address, uint32_t align)
{
    return align & (align - 1) ? address % align == 0 : !align || !(address & (align - 1));
}

// Returns the host memory that an access in a lane reaches; no bytes after a fault. No other function turns an address
// of a kernel into a pointer.
static Span accessed_memory(Run *r, const Group *g, const Code *c, uint32_t lane, Request q)
{
    // Parameters that a symbol names are in the frame, except kernel parameters.
    bool of_frame = q.space == SP_PARAM && (g->frame->call || c->symbol);
    CtaState *owner = r->cta;
    q.global = q.space == SP_GLOBAL;
    if (q.space == SP_GENERIC)
        q.space = space_at(&q.address);
    if (!is_aligned(q.address, q.align)) {
        fault(r, g, c, lane, "%s of %u bytes at address %#llx, which is not aligned", verb(&q), q.size,
              (unsigned long long)q.address);
        return NO_SPAN;
    }
    if (q.global && !is_outside_windows(r, g, c, lane, &q))
        return NO_SPAN;
    if (q.space == SP_CLUSTER && !(owner = owner_of(r, g, c, lane, &q)))
        return NO_SPAN;
    if (q.space != SP_SHARED && q.space != SP_LOCAL && q.space != SP_PARAM)
        return in_global(r, g, c, lane, &q);
    if (q.write && q.space == SP_PARAM && !of_frame) {
        fault(r, g, c, lane, "a write to a parameter of the kernel");
        return NO_SPAN;
    }
    return in_window(r, g, c, lane, &q, owner, window_span(r, g, lane, q.space, owner, of_frame), of_frame);
}

Span memory_in(Run *r, const Group *g, const Code *c, uint32_t lane, Space space, uint64_t address, uint32_t size,
               uint32_t align, bool write)
{
    return accessed_memory(r, g, c, lane, (Request){space, address, size, align, write, false});
}

Span memory_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size, bool write)
{
    // ptxas accepts vectors of parameters with the alignment of their elements.
    uint32_t align = (Space)c->space == SP_PARAM ? MIN(size, c->bytes) : size;
    return accessed_memory(r, g, c, lane, (Request){(Space)c->space, address, size, align, write, false});
}

Span memory_changed_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size)
{
    // The read has an effect only if definedness is tracked.
    if (r->machine->tracks && !memory_at(r, g, c, lane, address, size, false).bytes)
        return NO_SPAN;
    return memory_at(r, g, c, lane, address, size, true);
}

Span parameter_at(Run *r, const Group *g, const Code *c, uint32_t lane, const Frame *f, SymId id)
{
    const Fn *fn = f->func->fn;
    const Sym *s = id & SYM_LOCAL ? ir_sym(fn, id) : NULL;
    if (!s || (s->kind != SYM_CALLPARAM && s->kind != SYM_FORMAL) || is_kernel_parameter(fn, s)) {
        fault(r, g, c, lane, "a call with %s", s ? "a parameter of the kernel" : "a symbol that is not a parameter");
        return NO_SPAN;
    }
    Span part = span_part(frame_parameters(f, lane), f->func->param_at[id & ~(uint32_t)SYM_LOCAL], s->size);
    if (!part.bytes)
        fault(r, g, c, lane, "a call with a parameter of %llu bytes, which has no memory", (unsigned long long)s->size);
    return part;
}

// Returns a copy of `old` bytes, extended by zeroes to `bytes` bytes.
static uint8_t *enlarge(Arena *arena, const uint8_t *from, uint64_t old, uint64_t bytes)
{
    uint8_t *more = arena_zalloc(arena, bytes);
    if (old)
        memcpy(more, from, old);
    return more;
}

static void enlarge_all(Run *r, uint64_t bytes)
{
    Warp *w = r->warp;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        w->local[lane] = enlarge(r->arena, w->local[lane], w->nlocal, bytes);
        if (r->machine->tracks)
            w->local_defined[lane] = enlarge(r->arena, w->local_defined[lane], w->nlocal, bytes);
    }
    w->nlocal = bytes;
}

bool local_grow(Run *r, const Group *g, const Code *c, uint64_t fresh)
{
    Warp *w = r->warp;
    uint64_t needed = frame_host_end(g->frame);
    if (needed > LOCAL_MAX)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "more than %u bytes of local memory", LOCAL_MAX);
    if (needed > w->nlocal)
        enlarge_all(r, MAX(needed, 2 * w->nlocal));
    FOR_LANES(r->machine->tracks &&needed > fresh ? g->lanes : 0, lane)
        memset(w->local_defined[lane] + fresh, 0, needed - fresh);
    return false;
}

/* -- Loads and stores ----------------------------------------------------------------------------------- */

// Returns the sum of base and offset. A base of 32 bits wraps.
uint64_t address_of(const Run *r, const Group *g, const Code *c, uint32_t lane)
{
    uint64_t address = read_lane(r, g, &c->in[0], lane) + c->in[1].bits;
    return c->in[0].width == W32 ? (uint32_t)address : address;
}

bool run_ld(Run *r, Group *g, const Code *c)
{
    uint32_t size = c->vec * (uint32_t)c->bytes;
    FOR_LANES(g->lanes, lane) {
        const Span from = memory_at(r, g, c, lane, address_of(r, g, c, lane), size, false);
        if (!from.bytes)
            return false;
        for (uint32_t k = 0, at = 0; k < c->vec; k++, at += c->bytes) {
            Value v = {span_load(from, at, MIN(c->bytes, 8)), c->bytes == 16 ? span_load(from, at + 8, 8) : 0};
            if (c->extends && c->bytes < 8)
                v.lo = (uint64_t)((int64_t)(v.lo << (64 - 8 * c->bytes)) >> (64 - 8 * c->bytes));
            write_lane(r, g, &c->out[k], lane, v);
        }
    }
    return true;
}

bool run_st(Run *r, Group *g, const Code *c)
{
    uint32_t size = c->vec * (uint32_t)c->bytes;
    FOR_LANES(g->lanes, lane) {
        const Span to = memory_at(r, g, c, lane, address_of(r, g, c, lane), size, true);
        if (!to.bytes)
            return false;
        for (uint32_t k = 0, at = 0; k < c->vec; k++, at += c->bytes) {
            span_store(to, at, read_lane(r, g, &c->in[2 + k], lane), MIN(c->bytes, 8));
            if (c->bytes == 16)
                span_store(to, at + 8, read_high(r, g, &c->in[2 + k], lane), 8);
        }
    }
    return true;
}

/* -- The stack ------------------------------------------------------------------------------------------ */

// Runs alloca: extends the frame in all lanes by the largest size that a lane requests.
static bool run_alloca(Run *r, Group *g, const Code *c)
{
    Frame *f = g->frame;
    uint64_t bytes = 0, align = c->nin > 1 ? MAX(c->in[1].bits, 1) : 16, at = frame_end(f);
    FOR_LANES(g->lanes, lane)
        bytes = MAX(bytes, read_lane(r, g, &c->in[0], lane));
    uint64_t gaps = frame_end(f) - frame_host_end(f);
    at = round_up(at, MIN(align, LOCAL_MAX));
    if (align > LOCAL_MAX || bytes > LOCAL_MAX || at - gaps + bytes > LOCAL_MAX)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes),
                     "alloca of %llu bytes, with more than %u bytes of local memory", (unsigned long long)bytes,
                     LOCAL_MAX);
    f->dynamic = at + bytes - f->locals - f->func->span;
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){at, 0});
    local_grow(r, g, c, frame_host_end(f) - bytes);
    return r->machine->error.status == RUN_DONE;
}

static bool run_stacksave(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){frame_end(g->frame), 0});
    return true;
}

static bool run_stackrestore(Run *r, Group *g, const Code *c)
{
    Frame *f = g->frame;
    uint32_t lane = (uint32_t)__builtin_ctz(g->lanes);
    uint64_t end = read_lane(r, g, &c->in[0], lane), fixed = f->locals + f->func->span;
    if (end < fixed || end > frame_end(f))
        return fault(r, g, c, lane, "stackrestore of %#llx, which no stacksave of this call returned",
                     (unsigned long long)end);
    f->dynamic = end - fixed;
    return true;
}

bool stack_decode(const Tables *t, const Desc *d, Code *c)
{
    static const struct {
        const char *text;
        CodeRun *run;
        uint8_t least;  // minimum number of inputs
        bool has_result;
    } rows[] = {
        {"alloca.u64", run_alloca, 2, true},
        {"stacksave.u64", run_stacksave, 1, true},
        {"stackrestore.u64", run_stackrestore, 1, false},
    };
    Str text = tab_str(t, tab_mnem(t, d->mnem)->text);
    for (uint32_t k = 0; d->op == OP_OPAQUE && k < ARRAY_LEN(rows); k++) {
        if (!str_is(text, rows[k].text) || c->nin < rows[k].least)
            continue;
        c->run = rows[k].run;
        if (rows[k].has_result)
            code_take_result(c);
        return true;
    }
    return false;
}

/* -- Address arithmetic between spaces -------------------------------------------------------------------- */

static uint64_t window_of(Space space)
{
    switch (space) {
    case SP_SHARED:
    case SP_CLUSTER: return SHARED_WINDOW;
    case SP_LOCAL: return LOCAL_WINDOW;
    case SP_PARAM: return PARAM_WINDOW;
    default: return 0;
    }
}

bool run_cvta(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t a = read_lane(r, g, &c->in[0], lane) + (c->nin > 1 ? c->in[1].bits : 0);
        write_lane(r, g, &c->out[0], lane, (Value){a + window_of((Space)c->space), 0});
    }
    return true;
}

bool run_cvta_to(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t a = read_lane(r, g, &c->in[0], lane) - window_of((Space)c->space);
        write_lane(r, g, &c->out[0], lane, (Value){(Space)c->space == SP_SHARED ? cluster_own(r, a) : a, 0});
    }
    return true;
}

// True if a generic address is in a space. An address outside all windows is global, and so are the parameters of the
// kernel (PTX ISA, Generic Addressing).
static bool is_in_space(Run *r, uint64_t address, Space space)
{
    uint32_t cache = 0;
    const Allocation *a = find_allocation(r->machine, address, &cache);
    bool constant = a && a->read_only;
    Space at = space_at(&address);
    if (space == SP_CONST)
        return constant;
    if (space == SP_SHARED)
        return at == SP_CLUSTER && cluster_cta(r, address) == r->cta;
    return space == SP_GLOBAL ? !constant && at != SP_CLUSTER && at != SP_LOCAL : at == space;
}

bool run_isspacep(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t a = read_lane(r, g, &c->in[0], lane);
        write_lane(r, g, &c->out[0], lane, (Value){is_in_space(r, a, (Space)c->space), 0});
    }
    return true;
}
