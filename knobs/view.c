// SPDX-License-Identifier: MIT
// Computes the current values for a function and a phase. Without conditions and pragmas a view uses the array of the
// store. Otherwise the array is built for each function, and also for each phase if an active record has a PH
// condition.
#include <strings.h>

#include "knobs/knobs_internal.h"

/* -- Conditions ----------------------------------------------------------------------------------------- */

// The function that is entered. Its hash is computed for the first FH condition.
typedef struct Entered {
    const KnobFunction *fn;
    bool hashed;
    uint64_t hash;
} Entered;

bool knob_has_hashes(const KnobStore *store)
{
    for (uint32_t k = 0; k < store->layer.records.n; k++)
        for (uint32_t c = 0; c < store->layer.records.at[k]->conditions.n; c++)
            if (store->layer.records.at[k]->conditions.at[c].kind == KC_FH)
                return true;
    return false;
}

static bool hash_in(Entered *e, uint64_t lo, uint64_t hi)
{
    if (!e->fn->hash)
        return false;
    if (!e->hashed)
        e->hash = e->fn->hash(e->fn->user);
    e->hashed = true;
    return lo <= e->hash && e->hash <= hi;
}

// True if all FN and FH conditions of a record hold.
static bool holds_in_function(const KnobRecord *record, Entered *e)
{
    for (uint32_t k = 0; k < record->conditions.n; k++) {
        const KnobCondition *c = &record->conditions.at[k];
        if (c->kind == KC_FN && !glob_match(c->glob, e->fn->name, e->fn->len, false))
            return false;
        if (c->kind == KC_FH && !hash_in(e, c->lo, c->hi))
            return false;
    }
    return true;
}

static bool holds_in_phase(const KnobRecord *record, int phase)
{
    for (uint32_t k = 0; k < record->conditions.n; k++) {
        const KnobCondition *c = &record->conditions.at[k];
        if (c->kind == KC_PH && (phase < 0 || (uint64_t)phase < c->lo || (uint64_t)phase > c->hi))
            return false;
    }
    return true;
}

/* -- Entering ------------------------------------------------------------------------------------------- */

// Activates the unconditional settings of the store, with full budgets.
static void show_plain(Knobs *k)
{
    const KnobLayer *layer = &k->store->layer;
    k->under = k->now = k->store->base;
    k->left = k->budgets;
    k->phase = -1;
    k->by_phase = false;
    k->nactive = 0;
    k->pragmas = NULL;
    if (layer->budgets.n)
        memcpy(k->left, layer->budgets.at, layer->budgets.n * sizeof *k->left);
}

void knobs_init(Knobs *k, const KnobStore *store, Heap *heap)
{
    *k = (Knobs){.store = store, .table = store->table, .heap = heap};
    arena_init(&k->arena, heap);
    arena_init(&k->fn_arena, heap);
    k->read = NEW_ARRAY(&k->arena, bool, k->table.n);
    k->plain = NEW_ARRAY(&k->arena, const KnobSetting *, k->table.n);
    k->mixed = NEW_ARRAY(&k->arena, const KnobSetting *, k->table.n);
    k->budgets = NEW_ARRAY(&k->arena, int64_t, store->layer.budgets.n);
    show_plain(k);
}

void knobs_free(Knobs *k)
{
    arena_free(&k->fn_arena);
    arena_free(&k->arena);
}

void knobs_adopt(Knobs *k, Heap *heap) { k->heap = k->arena.heap = k->fn_arena.heap = heap; }

// Activates the settings of a function's pragmas, which override those of the store.
static bool read_pragmas(Knobs *k, const KnobFunction *fn, Diag *diag)
{
    bool ok = true;
    const KnobLayer *all = &k->store->layer;
    KnobLayer *layer = NEW(&k->fn_arena, KnobLayer);
    layer->arena = &k->fn_arena;
    layer->first_budget = all->budgets.n;
    for (uint32_t n = 0; n < fn->npragmas; n++) {
        const KnobPragma *p = &fn->pragmas[n];
        ok &= knob_read_layer(k->store, layer, KS_PRAGMA, p->text, p->len, p->offset, diag);
    }
    memcpy(k->plain, k->store->base, (size_t)k->table.n * sizeof *k->plain);
    for (uint32_t n = 0; n < layer->settings.n; n++)
        k->plain[layer->settings.at[n]->row] = layer->settings.at[n];
    if (layer->budgets.n) {
        k->left = NEW_ARRAY(&k->fn_arena, int64_t, layer->first_budget + layer->budgets.n);
        if (all->budgets.n)
            memcpy(k->left, all->budgets.at, all->budgets.n * sizeof *k->left);
        memcpy(k->left + layer->first_budget, layer->budgets.at, layer->budgets.n * sizeof *k->left);
    }
    k->under = k->now = k->plain;
    k->pragmas = layer;
    return ok;
}

static void activate(Knobs *k, const KnobLayer *layer, Entered *e)
{
    for (uint32_t n = 0; n < layer->records.n; n++) {
        const KnobRecord *record = layer->records.at[n];
        if (!holds_in_function(record, e))
            continue;
        k->active[k->nactive++] = record;
        k->by_phase |= record->by_phase;
    }
}

// Activates the settings of records whose conditions hold, which override the others. A later record overrides an
// earlier one.
static void mix(Knobs *k)
{
    memcpy(k->mixed, k->under, (size_t)k->table.n * sizeof *k->mixed);
    for (uint32_t n = 0; n < k->nactive; n++) {
        const KnobRecord *record = k->active[n];
        if (!holds_in_phase(record, k->phase))
            continue;
        for (uint32_t j = 0; j < record->settings.n; j++)
            k->mixed[record->settings.at[j]->row] = record->settings.at[j];
    }
    k->now = k->mixed;
}

bool knobs_enter_function(Knobs *k, const KnobFunction *fn, Diag *diag)
{
    bool ok = true;
    Entered e = {.fn = fn};
    show_plain(k);
    if (!fn->npragmas && !k->store->layer.records.n)
        return true;
    arena_free(&k->fn_arena);
    if (fn->npragmas)
        ok = read_pragmas(k, fn, diag);
    uint32_t n = k->store->layer.records.n + (k->pragmas ? k->pragmas->records.n : 0);
    k->active = NEW_ARRAY(&k->fn_arena, const KnobRecord *, n);
    activate(k, &k->store->layer, &e);
    if (k->pragmas)
        activate(k, k->pragmas, &e);
    if (k->nactive)
        mix(k);
    return ok;
}

void knobs_change_phase(Knobs *k, int row)
{
    k->phase = row;
    mix(k);
}

void knobs_merge_reads(const Knobs *k, bool *read)
{
    for (int row = 0; row < k->table.n; row++)
        read[row] |= k->read[row];
}

/* -- Reading -------------------------------------------------------------------------------------------- */

#define TYPE(name) (1u << KT_##name)

// Returns the current setting of a row, whose type must be one of `types`.
static const KnobSetting *setting_of(Knobs *k, int row, uint32_t types)
{
    if (row < 0 || row >= k->table.n)
        heap_fail(k->heap, ST_INTERNAL, "there is no knob %d", row);
    const KnobInfo *info = &k->table.rows[row];
    if (!(types >> info->type & 1))
        heap_fail(k->heap, ST_INTERNAL, "knob %s is of type %s and was read as another type", info->name,
                  knob_type_name(info->type));
    k->read[row] = true;
    return k->now[row];
}

bool knob_is_set(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, ~TYPE(WHEN));
    return s && (k->table.rows[row].type != KT_NONE || s->value.number);
}

int64_t knob_int(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(INT));
    return s ? s->value.number : 0;
}

KnobRange knob_range(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(IRNG));
    return s ? s->value.range : (KnobRange){INT64_MIN, INT64_MAX};
}

KnobInts knob_ints(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(ILIST));
    return s ? s->value.ints : (KnobInts){0};
}

double knob_double(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(FLOAT) | TYPE(DBL));
    return s ? s->value.real : 0;
}

const char *knob_str(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(STR));
    return s ? s->value.text : NULL;
}

KnobPairs knob_pairs(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(OPCODE_STR_LIST));
    return s ? s->value.pairs : (KnobPairs){0};
}

bool knob_pair(Knobs *k, int row, const char *name, int64_t *number)
{
    KnobPairs pairs = knob_pairs(k, row);
    for (uint32_t n = pairs.n; n--;) {
        if (strcasecmp(pairs.at[n].name, name) != 0)
            continue;
        *number = pairs.at[n].number;
        return true;
    }
    return false;
}

bool knob_spend(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(BDGT));
    if (!s)
        return true;
    if (!k->left[s->budget])
        return false;
    k->left[s->budget]--;
    return true;
}

uint32_t knobs_budgets(const Knobs *k)
{
    return k->pragmas ? k->pragmas->first_budget + k->pragmas->budgets.n : k->store->layer.budgets.n;
}

int64_t knob_left(Knobs *k, int row)
{
    const KnobSetting *s = setting_of(k, row, TYPE(BDGT));
    return s ? k->left[s->budget] : INT64_MAX;
}

const KnobSetting *knob_setting(Knobs *k, int row) { return setting_of(k, row, ~TYPE(WHEN)); }
