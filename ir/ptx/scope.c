// SPDX-License-Identifier: MIT
// Resolves names while PTX is read. Registers, symbols and labels share one name space per scope. A name of an inner
// scope shadows that of an outer scope. The result is flat: registers and labels have ids, and a name that inner scopes
// declare again gets a suffix.
//
// A label may be used before its definition. A use makes a block and an undefined bind in its own scope. When the scope
// closes, a bind that is still undefined is resolved to the innermost label of this name that is already defined. If
// there is none, the bind moves to the outer scope (as in ptxas, tried). If two blocks are found to be the same label,
// they are recorded as aliases, which body_finish() resolves in one sweep.
#include "ir/ptx/read.h"

enum { LABEL_MOVES_MAX = 20000000, NAMES_KEPT = 256 << 10 };

/* -- Name tables ---------------------------------------------------------------------------------------- */

static void table_grow(Reader *r, NameTable *t)
{
    NameTable old = *t;
    uint32_t size = old.slots ? (old.mask + 1) * 4 : 256;
    t->slots = NEW_ARRAY(t == &r->globals ? &r->arena : &r->names, NameSlot, size);
    t->mask = size - 1;
    for (uint32_t s = 0; old.slots && s <= old.mask; s++) {
        if (old.slots[s].epoch != t->epoch)
            continue;
        uint32_t k = name_hash(old.slots[s].name) & t->mask;
        while (t->slots[k].epoch == t->epoch)
            k = (k + 1) & t->mask;
        t->slots[k] = old.slots[s];
    }
}

static void table_clear(NameTable *t)
{
    t->epoch++;
    t->n = 0;
}

static NameSlot *table_find(const NameTable *t, Name name)
{
    for (uint32_t s = name_hash(name) & t->mask; t->slots && t->slots[s].epoch == t->epoch; s = (s + 1) & t->mask)
        if (name_same(t->slots[s].name, name))
            return &t->slots[s];
    return NULL;
}

static NameSlot *table_slot(Reader *r, NameTable *t, Name name)
{
    NameSlot *found = table_find(t, name);
    if (found)
        return found;
    if (t->n * 2 >= t->mask || !t->slots)
        table_grow(r, t);
    uint32_t s = name_hash(name) & t->mask;
    while (t->slots[s].epoch == t->epoch)
        s = (s + 1) & t->mask;
    t->slots[s] = (NameSlot){.name = name, .epoch = t->epoch};
    t->n++;
    return &t->slots[s];
}

static StemInfo *stem_info(Reader *r, StrId stem)
{
    while (stem >= r->stems.n)
        VEC_PUSH(&r->arena, &r->stems, ((StemInfo){0}));
    StemInfo *info = &r->stems.at[stem];
    if (info->epoch != r->locals.epoch)
        *info = (StemInfo){.epoch = r->locals.epoch};
    return info;
}

/* -- Scopes --------------------------------------------------------------------------------------------- */

static uint32_t depth(const Reader *r) { return r->scopes.n; }

// Makes the tables of names in functions.
static void names_init(Reader *r)
{
    arena_init(&r->names, r->arena.heap);
    VEC_PUSH(&r->names, &r->binds, ((Bind){0}));
    VEC_PUSH(&r->names, &r->ranges, ((Range){0}));
}

void scope_init(Reader *r)
{
    r->globals.epoch = r->locals.epoch = r->used.epoch = 1;
    VEC_PUSH(&r->arena, &r->global_binds, ((Bind){0}));
    names_init(r);
}

// Epochs stay, since `stems` has them.
void scope_trim(Reader *r)
{
    if (r->names.size <= NAMES_KEPT)
        return;
    arena_free(&r->names);
    r->locals = (NameTable){.epoch = r->locals.epoch};
    r->used = (NameTable){.epoch = r->used.epoch};
    r->aliases = NULL;
    r->naliases = r->cap_aliases = 0;
    r->binds.n = r->binds.cap = 0;
    r->ranges.n = r->ranges.cap = 0;
    r->scopes.n = r->scopes.cap = 0;
    names_init(r);
}

void scope_open(Reader *r) { VEC_PUSH(&r->names, &r->scopes, ((Scope){r->binds.n, r->ranges.n})); }

void scope_function_start(Reader *r)
{
    table_clear(&r->locals);
    table_clear(&r->used);
    r->naliases = 0;
    scope_open(r);
}

static void alias(Reader *r, BlockId from, BlockId to)
{
    if (r->naliases == r->cap_aliases)
        r->aliases = vec_grow(&r->names, r->aliases, r->naliases, &r->cap_aliases, sizeof *r->aliases);
    r->aliases[r->naliases].from = from;
    r->aliases[r->naliases++].to = to;
}

// Returns the innermost defined label among a bind and the binds that it shadows. Only the innermost bind of a name can
// still be defined, so the field `outer` that a bind gets when it is made stays valid.
static uint32_t defined_label(const Reader *r, uint32_t bind)
{
    const Bind *b = &r->binds.at[bind];
    return bind && b->kind == BIND_LABEL && b->defined ? bind : b->outer;
}

// Makes a bind the innermost one of its name.
static void push_bind(Reader *r, NameSlot *slot, Bind bind)
{
    bind.shadowed = slot->bind;
    bind.outer = defined_label(r, slot->bind);
    slot->bind = r->binds.n;
    VEC_PUSH(&r->names, &r->binds, bind);
}

// Moves an undefined label of the closing scope to the scope around it.
static void label_outwards(Reader *r, Bind label)
{
    NameSlot *slot = table_slot(r, &r->locals, label.name);
    uint32_t defined = defined_label(r, slot->bind);
    if (defined) {
        alias(r, label.id, r->binds.at[defined].id);
        return;
    }
    const Bind *outer = &r->binds.at[slot->bind];
    if (slot->bind && outer->depth == depth(r) && outer->kind == BIND_LABEL) {
        alias(r, label.id, outer->id);
        return;
    }
    if (depth(r) == 0) {
        char text[200];
        rd_error(r, label.offset, "label '%s' is not defined in this function",
                 name_text(r->t, label.name, text, sizeof text));
        return;
    }
    if (++r->label_moves > LABEL_MOVES_MAX)
        heap_fail(r->arena.heap, ST_LIMIT, "too many undefined labels in deeply nested scopes");
    label.depth = depth(r);
    push_bind(r, slot, label);
}

void scope_close(Reader *r)
{
    Scope scope = r->scopes.at[--r->scopes.n];
    for (uint32_t k = r->ranges.n; k-- > scope.ranges;)
        stem_info(r, r->ranges.at[k].stem)->range = r->ranges.at[k].shadowed;
    r->ranges.n = scope.ranges;
    uint32_t top = r->binds.n;
    for (uint32_t k = top; k-- > scope.binds;)
        table_slot(r, &r->locals, r->binds.at[k].name)->bind = r->binds.at[k].shadowed;
    // A label that moves outwards overwrites only a slot that the loop has already read: each step pushes at most one
    // label.
    r->binds.n = scope.binds;
    for (uint32_t k = scope.binds; k < top; k++)
        if (r->binds.at[k].kind == BIND_LABEL && !r->binds.at[k].defined)
            label_outwards(r, r->binds.at[k]);
}

const Bind *scope_find_global(const Reader *r, Name name)
{
    NameSlot *slot = table_find(&r->globals, name);
    return slot ? &r->global_binds.at[slot->bind] : NULL;
}

const Bind *scope_find(Reader *r, Name name)
{
    NameSlot *slot = table_find(&r->locals, name);
    if (slot && slot->bind)
        return &r->binds.at[slot->bind];
    const Bind *global = scope_find_global(r, name);
    // Reserves the name: a local symbol that is declared later must not shadow this use of the global one.
    if (global && global->kind == BIND_SYM && r->fn) {
        NameSlot *used = table_slot(r, &r->used, name);
        used->bind = MAX(used->bind, 1);
    }
    return global;
}

/* -- Registers ------------------------------------------------------------------------------------------ */

static inline RegId new_scalar(Reader *r, Name name, uint8_t file, uint8_t width, uint8_t type)
{
    RegId id = reg_new(r->fn, (RegFile)file, (Width)width);
    Reg *reg = ir_reg(r->fn, id);
    // A debug target prints registers under their names in one flat scope, so each name must be unique.
    reg->name = r->fn->flags & FN_DEBUG ? scope_unique(r, name) : name;
    reg->type = type;
    return id;
}

RegId scope_new_reg(Reader *r, Name name, uint8_t file, uint8_t width, uint8_t type, uint32_t vec)
{
    RegId first = new_scalar(r, name, file, width, type);
    for (uint32_t k = 1; k < vec; k++)
        new_scalar(r, name, file, width, type);
    return first;
}

RegId scope_range_reg(Reader *r, const Range *range, Name name)
{
    RegId **page = &range->pages[name.number >> RANGE_PAGE_BITS];
    if (!*page)
        *page = NEW_ARRAY(&r->names, RegId, MIN(range->count, RANGE_PAGE));
    RegId *id = &(*page)[name.number & (RANGE_PAGE - 1)];
    if (!*id)
        *id = range->vec ? scope_new_reg(r, name, range->file, range->width, range->type, range->vec)
                         : new_scalar(r, name, range->file, range->width, range->type);
    return *id;
}

RegId scope_find_reg(Reader *r, Name name, uint32_t *vec)
{
    *vec = 0;
    StemInfo *info = stem_info(r, name.stem);
    Range *range = info->range ? &r->ranges.at[info->range] : NULL;
    while (range && name.number >= range->count)  // NO_NUMBER is larger than any count
        range = range->shadowed ? &r->ranges.at[range->shadowed] : NULL;
    const Bind *bind = NULL;
    if (!range || info->scalars) {
        NameSlot *slot = table_find(&r->locals, name);
        bind = slot && slot->bind ? &r->binds.at[slot->bind] : NULL;
        if (!bind && !range) {
            slot = table_find(&r->globals, name);
            bind = slot ? &r->global_binds.at[slot->bind] : NULL;
        }
    }
    if (bind && (!range || bind->depth >= range->depth)) {
        if (bind->kind != BIND_REG)
            return 0;
        *vec = bind->vec;
        if (bind->depth > 0)
            return bind->id;
        // For a register at module level (PTX 1.x, 2.x) the function gets a register that keeps the name.
        Reg global = r->module_regs.at[bind->id];
        RegId id = scope_new_reg(r, name, global.file, global.width, global.type, 0);
        ir_reg(r->fn, id)->flags |= REG_NAMED | REG_PINNED;
        scope_declare(r, name, BIND_REG, id, 0, 0);
        return id;
    }
    if (!range)
        return 0;
    *vec = range->vec;
    return scope_range_reg(r, range, name);
}

/* -- Declarations --------------------------------------------------------------------------------------- */

void scope_declare_global(Reader *r, Name name, BindKind kind, uint32_t id, size_t offset)
{
    Bind bind = {.name = name, .kind = (uint8_t)kind, .defined = true, .id = id, .offset = offset};
    table_slot(r, &r->globals, name)->bind = r->global_binds.n;
    VEC_PUSH(&r->arena, &r->global_binds, bind);
}

void scope_declare(Reader *r, Name name, BindKind kind, uint32_t id, uint8_t vec, size_t offset)
{
    Bind bind = {.name = name,
                 .depth = depth(r),
                 .kind = (uint8_t)kind,
                 .vec = vec,
                 .defined = true,
                 .id = id,
                 .offset = offset};
    if (depth(r) == 0) {
        scope_declare_global(r, name, kind, id, offset);
        return;
    }
    NameSlot *slot = table_slot(r, &r->locals, name);
    StemInfo *info = stem_info(r, name.stem);
    const Bind *old = slot->bind ? &r->binds.at[slot->bind] : NULL;
    const Range *range = info->range ? &r->ranges.at[info->range] : NULL;
    bool taken = old && old->depth == depth(r) && old->defined;
    if (taken || (range && range->depth == depth(r) && name.number < range->count))
        rd_fail_word(r, offset, "duplicate definition of '%.*s'");
    info->scalars = true;
    push_bind(r, slot, bind);
}

// True if this scope binds a single name that consists of the stem and a number below `count`. Searches the binds or
// the numbers, whichever are fewer.
static bool names_again(const Reader *r, StrId stem, uint32_t count)
{
    uint32_t first = r->scopes.at[depth(r) - 1].binds;
    for (uint32_t k = first; count > r->binds.n - first && k < r->binds.n; k++) {
        const Bind *b = &r->binds.at[k];
        if (b->name.stem == stem && b->name.number < count && b->defined)
            return true;
    }
    for (uint32_t k = 0; count <= r->binds.n - first && k < count; k++) {
        const NameSlot *slot = table_find(&r->locals, (Name){stem, k});
        const Bind *b = slot ? &r->binds.at[slot->bind] : NULL;
        if (b && slot->bind && b->depth == depth(r) && b->defined)
            return true;
    }
    return false;
}

void scope_declare_range(Reader *r, Name name, Range range, size_t offset)
{
    StemInfo *info = stem_info(r, name.stem);
    const Range *old = info->range ? &r->ranges.at[info->range] : NULL;
    if (old && old->depth == depth(r))
        rd_fail(r, offset, "these registers are already declared in this scope");
    if (info->scalars && names_again(r, name.stem, range.count))
        rd_fail_word(r, offset, "'%.*s' declares a name again that this scope already has");
    range.stem = name.stem;
    range.depth = depth(r);
    range.shadowed = info->range;
    range.pages = NEW_ARRAY(&r->names, RegId *, range.count / RANGE_PAGE + 1);
    info->range = r->ranges.n;
    VEC_PUSH(&r->names, &r->ranges, range);
}

/* -- Labels --------------------------------------------------------------------------------------------- */

// Returns the label's bind in the current scope. Makes an undefined bind if there is none.
static Bind *label_bind(Reader *r, Name name, size_t offset)
{
    NameSlot *slot = table_slot(r, &r->locals, name);
    if (slot->bind && r->binds.at[slot->bind].depth == depth(r))
        return &r->binds.at[slot->bind];
    stem_info(r, name.stem)->scalars = true;
    Bind bind = {.name = name, .depth = depth(r), .kind = BIND_LABEL, .id = block_new(r->fn), .offset = offset};
    push_bind(r, slot, bind);
    return &r->binds.at[slot->bind];
}

BlockId scope_label_use(Reader *r, Name name, size_t offset)
{
    Bind *bind = label_bind(r, name, offset);
    if (bind->kind != BIND_LABEL)
        rd_fail(r, offset, "this is not a label");
    return bind->id;
}

BlockId scope_label_define(Reader *r, Name name, size_t offset)
{
    Bind *bind = label_bind(r, name, offset);
    if (bind->defined || bind->kind != BIND_LABEL)
        rd_fail_word(r, offset, "duplicate definition of '%.*s'");
    bind->defined = true;
    return bind->id;
}

Name scope_unique(Reader *r, Name name)
{
    Name unique = name;
    bool hoisted = depth(r) > 1;
    for (uint32_t k = 1;; k++) {
        NameSlot *slot = table_slot(r, &r->used, unique);
        bool module_has_it = hoisted && table_find(&r->globals, unique);
        if (!slot->bind && !module_has_it) {
            slot->bind = 1;
            return unique;
        }
        // Tries `name_1`, `name_2`, ...; the slot of the plain name holds the next number.
        if (k == 1 && slot->bind > 1)
            k = slot->bind;
        table_slot(r, &r->used, name)->bind = k + 1;
        char text[600];
        size_t n = strlen(name_text(r->t, name, text, sizeof text - 1));
        text[n] = '_';
        unique = (Name){str_intern(&r->t->strs, text, n + 1), k};
    }
}
