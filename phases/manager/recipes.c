// SPDX-License-Identifier: MIT
// Evaluates the conditions of recipes for a function. Slot: 1 ApplyNvOptRecipes.
//
// A recipe is data: a sub-pass, the slot that the sub-pass follows, and a condition. One plan serves all functions. An
// entry that comes from a recipe does nothing for a function that does not meet the condition at phase 1:
//
//     ApplyNvOptRecipes@1
//     ...
//     ReportInitialRepresentation@9
//     OriRemoveRedundantMov@9          ; if the function has a move of a register
//
// Recipes that lose on ptxas are off. The knob NvOptRecipes selects recipes: those that are on (`on`), all, none
// (`off`, only the slots run), or a list. If phase 1 is disabled, the default plan has no recipes. In a named plan
// without phase 1, recipes run for any function.
//
// Does not do: change the function.
// Documented: the phase exists, applies recipes by name, and a knob turns recipes off. Inferred: the conditions.
#include <stdio.h>

#include "phases/bodies.h"
#include "phases/manager/recipes.h"

/* -- Conditions ----------------------------------------------------------------------------------------- */

static bool always(const Fn *fn) { return (void)fn, true; }

static bool has_moves(const Fn *fn)
{
    if (!(fn->classes & IC_MOVE))
        return false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op == OP_MOV && op_is_reg(*ir_use(fn, i, 0)))
                return true;
        }
    return false;
}

/* -- The table ------------------------------------------------------------------------------------------ */

const RecipeInfo recipe_info[RECIPE_COUNT] = {
#define ON true
#define OFF false
#define RECIPE(row, slot, state, condition, reason) {row, slot, state, condition, reason},
#include "phases/phases.def"
};

int recipe_at(int row, int slot)
{
    for (int k = 0; k < RECIPE_COUNT; k++)
        if (recipe_info[k].row == row && recipe_info[k].slot == slot)
            return k;
    return -1;
}

const char *recipes_off(int row)
{
    const char *reason = NULL;
    bool on = row < PHASE_SLOTS && recipe_at(row, row) < 0;
    for (int k = 0; k < RECIPE_COUNT; k++) {
        if (recipe_info[k].row != row)
            continue;
        on |= recipe_info[k].on;
        reason = recipe_info[k].reason;
    }
    return on ? NULL : reason;
}

// Adds the recipes that one entry of the list names.
static bool add_recipes(const char *text, size_t len, uint32_t *recipes, char why[static 500])
{
    char reason[400];
    int slot, row = phase_find_at(text, len, &slot, reason);
    bool found = false;
    for (int k = 0; row >= 0 && k < RECIPE_COUNT; k++)
        if (recipe_info[k].row == row && (slot == row || slot == recipe_info[k].slot)) {
            *recipes |= 1u << k;
            found = true;
        }
    if (row < 0)
        snprintf(why, 500, "NvOptRecipes: %s", reason);
    else if (!found)
        snprintf(why, 500, "NvOptRecipes: '%.*s' is not a recipe; expected on, all, off, or recipes such as %s@%d",
                 (int)MIN(len, 60), text, phase_info[recipe_info[0].row].name, recipe_info[0].slot);
    return found;
}

bool recipes_parse(const char *text, uint32_t *recipes, char why[static 500])
{
    bool on = !text || strcmp(text, "on") == 0, all = !on && strcmp(text, "all") == 0;
    *recipes = 0;
    for (int k = 0; k < RECIPE_COUNT; k++)
        *recipes |= (uint32_t)(all || (on && recipe_info[k].on)) << k;
    if (on || all || strcmp(text, "off") == 0)
        return true;
    for (size_t len; *text; text += len + (text[len] != 0)) {
        len = strcspn(text, ",+ \t");
        if (len && !add_recipes(text, len, recipes, why))
            return false;
    }
    return true;
}

bool phase_apply_recipes(Ctx *ctx, Fn *fn)
{
    ctx->recipes = 0;
    for (int k = 0; k < RECIPE_COUNT; k++)
        if (recipe_info[k].applies(fn))
            ctx->recipes |= 1u << k;
    return false;
}
