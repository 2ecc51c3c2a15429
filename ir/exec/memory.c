// SPDX-License-Identifier: MIT
// What lies at an address. Global and constant memory is made of allocations, each with nothing around it, so that one
// byte beyond is a fault; shared, local and parameter memory are windows of the generic address space. An access that
// is out of bounds, not aligned, or to an address that is nobody's stops the run.
#include "ir/exec/interp_internal.h"

enum { GAP = 4096, ALIGN = 256, LOCAL_MAX = 1 << 19 };

static uint64_t round_up(uint64_t a, uint64_t to) { return (a + to - 1) / to * to; }

/* -- Allocations ---------------------------------------------------------------------------------------- */

static Allocation *add_allocation(Machine *m, uint64_t bytes, const char *name)
{
    Allocation a = {.base = m->next, .size = bytes, .name = name};
    a.bytes = arena_zalloc(&m->arena, MAX(bytes, 1));
    if (m->tracks)
        a.defined = memset(arena_alloc(&m->arena, MAX(bytes, 1)), 1, bytes);
    m->next = round_up(m->next + bytes + GAP, ALIGN);
    VEC_PUSH(&m->arena, &m->allocations, a);
    return &m->allocations.at[m->allocations.n - 1];
}

static Allocation *find_allocation(Machine *m, uint64_t address, uint32_t *cache)
{
    uint32_t low = 0, high = m->allocations.n;
    if (*cache < high && address - m->allocations.at[*cache].base < m->allocations.at[*cache].size)
        return &m->allocations.at[*cache];
    while (low < high) {  // the first that begins behind it
        uint32_t mid = low + (high - low) / 2;
        if (m->allocations.at[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || address - m->allocations.at[low - 1].base >= MAX(m->allocations.at[low - 1].size + GAP / 2, 1))
        return NULL;
    *cache = low - 1;
    return &m->allocations.at[low - 1];
}

uint64_t machine_alloc(Machine *m, uint64_t bytes, const char *name) { return add_allocation(m, bytes, name)->base; }

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

/* -- Module variables ----------------------------------------------------------------------------------- */

static uint64_t add_variable(Machine *m, const Sym *s)
{
    Allocation *a = add_allocation(m, s->size, NULL);
    a->read_only = s->space == SP_CONST;
    return a->base;
}

static bool is_variable(const Sym *s) { return s->kind == SYM_VAR && (s->space == SP_GLOBAL || s->space == SP_CONST); }

static void write_initial(Machine *m, const Sym *s, uint8_t *to)
{
    const Init *init = s->init;
    if (!init || !init->bytes)
        return;
    memcpy(to, init->bytes, MIN(init->size, s->size));
    for (uint32_t k = 0; k < init->nrelocs; k++) {
        const Reloc *r = &init->relocs[k];
        uint64_t address = machine_symbol(m, r->sym) + (uint64_t)r->addend;
        uint32_t bytes = r->mask ? 1 : m->module->address_size == 32 ? 4 : 8;
        if (r->mask)
            address = (address & r->mask) >> __builtin_ctzll(r->mask);
        for (uint32_t b = 0; b < bytes && r->offset + b < s->size; b++)
            to[r->offset + b] = (uint8_t)(address >> 8 * b);
    }
}

// Shared variables of the module and of functions lie one behind the other in each CTA.
static void lay_out_shared(Machine *m, const Sym *s, SymId id)
{
    uint64_t align = MAX(s->align, 1);
    m->nstatic = (uint32_t)round_up(m->nstatic, align);
    m->symbols[id] = m->nstatic;
    m->nstatic += (uint32_t)s->size;
}

// Local variables of the module come before those of functions.
static void lay_out_local(Machine *m, const Sym *s, SymId id)
{
    m->nlocal = (uint32_t)round_up(m->nlocal, MAX(s->align, 1));
    m->symbols[id] = m->nlocal;
    m->nlocal = (uint32_t)round_up(m->nlocal + s->size, 16);
}

// Of a variable that is declared only, the symbol that defines it; 0 = there is none.
static SymId definition_of(const Module *m, SymId s)
{
    const Sym *sym = &m->syms.at[s];
    if (sym->kind != SYM_VAR || !(sym->flags & SYM_EXTERN) || sym->space == SP_SHARED)
        return 0;
    for (SymId k = 1; k < m->syms.n; k++)
        if (m->syms.at[k].kind == SYM_VAR && !(m->syms.at[k].flags & SYM_EXTERN) &&
            name_same(m->syms.at[k].name, sym->name))
            return k;
    return 0;
}

void memory_lay_out(Machine *m)
{
    const Module *module = m->module;
    m->next = GLOBAL_BASE;
    m->symbols = NEW_ARRAY(&m->arena, uint64_t, module->syms.n);
    for (SymId s = 1; s < module->syms.n; s++) {
        const Sym *sym = &module->syms.at[s];
        if (sym->kind == SYM_FUNC)
            m->symbols[s] = CODE_WINDOW + 16 * (uint64_t)s;
        else if (is_variable(sym) && !definition_of(module, s))
            m->symbols[s] = add_variable(m, sym);
        else if (sym->kind == SYM_VAR && sym->space == SP_LOCAL)
            lay_out_local(m, sym, s);
        else if (sym->kind == SYM_VAR && sym->space == SP_SHARED && !(sym->flags & SYM_OPEN))
            lay_out_shared(m, sym, s);
    }
    for (SymId s = 1; s < module->syms.n; s++)
        if (definition_of(module, s))
            m->symbols[s] = m->symbols[definition_of(module, s)];
    machine_reset(m);
}

void machine_reset(Machine *m)
{
    const Module *module = m->module;
    for (SymId s = 1; s < module->syms.n; s++) {
        const Sym *sym = &module->syms.at[s];
        uint64_t size;
        uint8_t *bytes = is_variable(sym) && sym->size ? machine_bytes(m, m->symbols[s], &size) : NULL;
        if (!bytes)
            continue;
        memset(bytes, 0, sym->size);
        write_initial(m, sym, bytes);
        check_forget(m, m->symbols[s]);
    }
}

uint64_t machine_symbol(const Machine *m, SymId s) { return m->symbols[s]; }

/* -- Accesses ------------------------------------------------------------------------------------------- */

// Memory, and where it is defined.
typedef struct Room {
    uint8_t *bytes;
    uint8_t *defined;  // NULL = everywhere
    uint64_t size;
} Room;

// False: who watches says no, and has reported it.
static bool is_allowed(Run *r, const Access *a) { return !r->machine->watches || check_access(r, a); }

static uint8_t *in_window(Run *r, const Group *g, const Code *c, uint32_t lane, Space space, Room room, uint64_t at,
                          uint32_t size, bool write)
{
    static const char *const names[] = {[SP_SHARED] = "shared", [SP_LOCAL] = "local", [SP_PARAM] = "parameter"};
    if (at > room.size || size > room.size - at) {
        fault(r, g, c, lane, "%s of %u bytes at %#llx of %s memory, which has %llu bytes", write ? "write" : "read",
              size, (unsigned long long)at, names[space], (unsigned long long)room.size);
        return NULL;
    }
    Access a = {g, c, lane, space, NULL, room.defined ? room.defined + at : NULL, at, size, write};
    return is_allowed(r, &a) ? room.bytes + at : NULL;
}

static uint8_t *in_global(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size,
                          bool write)
{
    uint32_t cache = c->cache;
    Allocation *a = find_allocation(r->machine, address, &cache);
    ((Code *)(uintptr_t)c)->cache = cache;
    if (!a) {
        fault(r, g, c, lane, "%s of %u bytes at address %#llx, %s", write ? "write" : "read", size,
              (unsigned long long)address, address < GAP ? "a null pointer" : "where nothing is");
        return NULL;
    }
    uint64_t at = address - a->base;
    if (write && a->read_only) {
        fault(r, g, c, lane, "a write to constant memory");
        return NULL;
    }
    if (at < a->size && size <= a->size - at && !a->freed) {
        Access access = {g, c, lane, SP_GLOBAL, a, a->defined ? a->defined + at : NULL, at, size, write};
        return is_allowed(r, &access) ? a->bytes + at : NULL;
    }
    fault(r, g, c, lane, "%s of %u bytes at %#llx of %s, which %s %llu bytes", write ? "write" : "read", size,
          (unsigned long long)at, a->name ? a->name : "a module variable", a->freed ? "was freed and had" : "has",
          (unsigned long long)a->size);
    return NULL;
}

// The space that an address of the generic one belongs to; *address is what it is there.
static Space space_at(uint64_t *address)
{
    switch (*address / WINDOW_BYTES) {
    case SHARED_WINDOW / WINDOW_BYTES: *address -= SHARED_WINDOW; return SP_SHARED;
    case LOCAL_WINDOW / WINDOW_BYTES: *address -= LOCAL_WINDOW; return SP_LOCAL;
    case PARAM_WINDOW / WINDOW_BYTES: *address -= PARAM_WINDOW; return SP_PARAM;
    default: return SP_GLOBAL;
    }
}

// Parameters that a symbol names lie in the frame, but for those of the kernel, which have generic addresses, too.
static bool are_of_frame(const Group *g, const Code *c)
{
    return (Space)c->space == SP_PARAM && (g->frame->call || c->symbol);
}

static Room room_of(Run *r, const Group *g, const Code *c, uint32_t lane, Space space)
{
    const Frame *f = g->frame;
    size_t params = (size_t)lane * f->func->params;
    if (space == SP_SHARED)
        return (Room){r->shared, r->shared_defined, r->nshared};
    if (space == SP_LOCAL)
        return (Room){r->warp->local[lane], r->warp->local_defined[lane], r->warp->nlocal};
    if (!are_of_frame(g, c))
        return (Room){(uint8_t *)(uintptr_t)r->launch->params, NULL, r->launch->nparams};
    return (Room){f->params + params, f->params_defined ? f->params_defined + params : NULL, f->func->params};
}

static Space space_of(const Code *c, uint64_t *address)
{
    return (Space)c->space == SP_GENERIC ? space_at(address) : (Space)c->space;
}

static bool is_window(Space space) { return space == SP_SHARED || space == SP_LOCAL || space == SP_PARAM; }

uint8_t *memory_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size, bool write)
{
    Space space = space_of(c, &address);
    uint32_t align = space == SP_PARAM ? MIN(size, c->bytes) : size;  // ptxas takes vectors of parameters anywhere
    if (address % align) {
        fault(r, g, c, lane, "%s of %u bytes at address %#llx, which is not aligned", write ? "write" : "read", size,
              (unsigned long long)address);
        return NULL;
    }
    if (!is_window(space))
        return in_global(r, g, c, lane, address, size, write);
    if (write && space == SP_PARAM && !are_of_frame(g, c)) {
        fault(r, g, c, lane, "a write to a parameter of the kernel");
        return NULL;
    }
    return in_window(r, g, c, lane, space, room_of(r, g, c, lane, space), address, size, write);
}

// Only who tracks what is defined wants to know that it is read, too.
uint8_t *memory_changed_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size)
{
    if (r->machine->tracks && !memory_at(r, g, c, lane, address, size, false))
        return NULL;
    return memory_at(r, g, c, lane, address, size, true);
}

uint8_t *states_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address)
{
    Space space = space_of(c, &address);
    uint32_t cache = c->cache;
    if (is_window(space)) {
        uint8_t *defined = room_of(r, g, c, lane, space).defined;
        return defined ? defined + address : NULL;
    }
    const Allocation *a = find_allocation(r->machine, address, &cache);
    return a->defined ? a->defined + (address - a->base) : NULL;
}

// `old` bytes of somebody's local memory become `bytes`.
static uint8_t *enlarge(Arena *arena, const uint8_t *from, uint32_t old, uint32_t bytes)
{
    uint8_t *more = arena_zalloc(arena, bytes);
    if (old)
        memcpy(more, from, old);
    return more;
}

static void enlarge_all(Run *r, uint32_t bytes)
{
    Warp *w = r->warp;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        w->local[lane] = enlarge(r->arena, w->local[lane], w->nlocal, bytes);
        if (r->machine->tracks)
            w->local_defined[lane] = enlarge(r->arena, w->local_defined[lane], w->nlocal, bytes);
    }
    w->nlocal = bytes;
}

bool local_grow(Run *r, const Group *g, const Code *c, uint32_t fresh)
{
    Warp *w = r->warp;
    uint32_t needed = g->frame->locals + g->frame->func->locals + g->frame->dynamic;
    if (needed > LOCAL_MAX)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "more than %u bytes of local memory", LOCAL_MAX);
    if (needed > w->nlocal)
        enlarge_all(r, MAX(needed, 2 * w->nlocal));
    FOR_LANES(r->machine->tracks &&needed > fresh ? g->lanes : 0, lane)
        memset(w->local_defined[lane] + fresh, 0, needed - fresh);
    return false;
}

/* -- Loads and stores ----------------------------------------------------------------------------------- */

// The operands of an address are a base and an offset. In a window a base of 32 bits wraps.
uint64_t address_of(const Run *r, const Group *g, const Code *c, uint32_t lane)
{
    uint64_t address = read_lane(r, g, &c->in[0], lane) + c->in[1].bits;
    return c->in[0].width == W32 ? (uint32_t)address : address;
}

bool run_ld(Run *r, Group *g, const Code *c)
{
    uint32_t size = c->vec * (uint32_t)c->bytes;
    FOR_LANES(g->lanes, lane) {
        const uint8_t *from = memory_at(r, g, c, lane, address_of(r, g, c, lane), size, false);
        if (!from)
            return false;
        for (uint32_t k = 0; k < c->vec; k++, from += c->bytes) {
            Value v = {load_bytes(from, MIN(c->bytes, 8)), c->bytes == 16 ? load_bytes(from + 8, 8) : 0};
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
        uint8_t *to = memory_at(r, g, c, lane, address_of(r, g, c, lane), size, true);
        if (!to)
            return false;
        for (uint32_t k = 0; k < c->vec; k++, to += c->bytes) {
            store_bytes(to, read_lane(r, g, &c->in[2 + k], lane), MIN(c->bytes, 8));
            if (c->bytes == 16)
                store_bytes(to + 8, read_high(r, g, &c->in[2 + k], lane), 8);
        }
    }
    return true;
}

/* -- The stack ------------------------------------------------------------------------------------------ */

// alloca: room behind the frame's variables until it is left, as much as the lane that wants most.
static bool run_alloca(Run *r, Group *g, const Code *c)
{
    Frame *f = g->frame;
    uint64_t bytes = 0, align = c->nin > 1 ? c->in[1].bits : 16, at;
    FOR_LANES(g->lanes, lane)
        bytes = MAX(bytes, read_lane(r, g, &c->in[0], lane));
    at = round_up((uint64_t)f->locals + f->func->locals + f->dynamic, MAX(align, 1));
    if (bytes > LOCAL_MAX)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "alloca of %llu bytes", (unsigned long long)bytes);
    f->dynamic = (uint32_t)(at + bytes - f->locals - f->func->locals);
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){at, 0});
    local_grow(r, g, c, (uint32_t)at);
    return r->machine->error.status == RUN_DONE;
}

static uint32_t fixed_end(const Frame *f) { return f->locals + f->func->locals; }

static bool run_stacksave(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){fixed_end(g->frame) + g->frame->dynamic, 0});
    return true;
}

static bool run_stackrestore(Run *r, Group *g, const Code *c)
{
    uint32_t end = (uint32_t)read_lane(r, g, &c->in[0], (uint32_t)__builtin_ctz(g->lanes));
    g->frame->dynamic = end - fixed_end(g->frame);
    return true;
}

bool stack_decode(const Tables *t, const Desc *d, Code *c)
{
    static const struct {
        const char *text;
        CodeRun *run;
        uint8_t least;  // operands
        bool gives;     // a result
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
        if (rows[k].gives)
            code_take_result(c);
        return true;
    }
    return false;
}

/* -- Address arithmetic between spaces -------------------------------------------------------------------- */

static uint64_t window_of(Space space)
{
    switch (space) {
    case SP_SHARED: return SHARED_WINDOW;
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
        uint64_t a = read_lane(r, g, &c->in[0], lane);
        write_lane(r, g, &c->out[0], lane, (Value){a - window_of((Space)c->space), 0});
    }
    return true;
}

// What is in no other window is global, and so are the parameters of the kernel.
static bool lies_in(Machine *m, uint64_t address, Space space)
{
    uint32_t cache = 0;
    const Allocation *a = find_allocation(m, address, &cache);
    bool constant = a && a->read_only;
    Space at = space_at(&address);
    if (space == SP_CONST)
        return constant;
    return space == SP_GLOBAL ? !constant && at != SP_SHARED && at != SP_LOCAL : at == space;
}

bool run_isspacep(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t a = read_lane(r, g, &c->in[0], lane);
        write_lane(r, g, &c->out[0], lane, (Value){lies_in(r->machine, a, (Space)c->space), 0});
    }
    return true;
}
