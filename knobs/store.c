// SPDX-License-Identifier: MIT
// Stores defaults and the settings of all sources.
#include "knobs/knobs_internal.h"

static void drop(void *user, const char *text, size_t n)
{
    (void)user;
    (void)text;
    (void)n;
}

// Reads a default like a setting, so that start-up reports a wrong value in the table.
static void set_default(KnobStore *store, int row)
{
    const char *value = store->table.rows[row].value;
    Source nowhere = {.name = "", .text = "", .len = 0};
    Diag diag = {.source = &nowhere, .write = drop};
    KnobReader r = {
        .table = store->table, .into = &store->layer, .diag = &diag, .text = value, .offset = KNOB_NO_OFFSET};
    KnobSetting *s = NEW(store->layer.arena, KnobSetting);
    s->row = row;
    s->written = value;
    if (!knob_parse_value(&r, row, TK_TEXT, value, value + strlen(value), &s->value))
        heap_fail(store->layer.arena->heap, ST_INTERNAL, "knob %s: '%s' is not a valid default",
                  store->table.rows[row].name, value);
    if (store->table.rows[row].type == KT_BDGT) {
        s->budget = store->layer.budgets.n;
        VEC_PUSH(store->layer.arena, &store->layer.budgets, s->value.number);
    }
    store->base[row] = s;
}

KnobStore *knob_store_new(Arena *arena, const KnobTable *table, KnobFindPhase *find)
{
    KnobStore *store = NEW(arena, KnobStore);
    store->table = *table;
    store->find = find;
    store->layer.arena = arena;
    store->base = NEW_ARRAY(arena, const KnobSetting *, table->n);
    for (int row = 0; row < table->n; row++)
        if (table->rows[row].value[0])
            set_default(store, row);
    return store;
}

void knob_store_check(KnobStore *store, KnobCheckText *check) { store->check = check; }

bool knob_read_text(KnobStore *store, KnobSource from, const char *text, size_t len, int64_t offset, Diag *diag)
{
    uint32_t first = store->layer.settings.n;
    bool ok = knob_read_layer(store, &store->layer, from, text, len, offset, diag);
    for (uint32_t k = first; k < store->layer.settings.n; k++) {
        const KnobSetting *s = store->layer.settings.at[k], *old = store->base[s->row];
        if (!old || s->from >= old->from)
            store->base[s->row] = s;
    }
    return ok;
}

bool knob_read(KnobStore *store, KnobSource from, Diag *diag)
{
    return knob_read_text(store, from, diag->source->text, diag->source->len, 0, diag);
}

const KnobSetting *knob_store_setting(const KnobStore *store, int row) { return store->base[row]; }

const KnobSetting *knob_unread(const KnobStore *store, const bool *read, int row)
{
    const KnobLayer *layer = &store->layer;
    if (read[row])
        return NULL;
    for (uint32_t k = 0; k < layer->settings.n; k++)
        if (layer->settings.at[k]->row == row)
            return layer->settings.at[k];
    for (uint32_t k = 0; k < layer->records.n; k++)
        for (uint32_t j = 0; j < layer->records.at[k]->settings.n; j++)
            if (layer->records.at[k]->settings.at[j]->row == row)
                return layer->records.at[k]->settings.at[j];
    return NULL;
}
