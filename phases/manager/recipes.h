// SPDX-License-Identifier: MIT
// Recipes: sub-passes that the default plan runs after a slot, for functions that meet a condition.
#ifndef ORI_RECIPES_H
#define ORI_RECIPES_H

#include "phases/phase.h"

typedef struct RecipeInfo {
    int row, slot;                  // the sub-pass, and the slot that it follows
    bool on;                        // it is in the default plan
    bool (*applies)(const Fn *fn);  // condition, evaluated by phase 1
    const char *reason;
} RecipeInfo;

enum {
#define RECIPE(row, slot, state, condition, reason) +1
    RECIPE_COUNT = 0
#include "phases/phases.def"
};
extern const RecipeInfo recipe_info[RECIPE_COUNT];

/* recipes.c */
// Returns the recipe that runs this row after this slot; -1 if there is none.
int recipe_at(int row, int slot);
// Returns the reason why a row is in no default plan: all of its recipes are off, and it is a sub-pass or a recipe of
// its own slot. NULL: it is not off.
const char *recipes_off(int row);
// Parses a value of NvOptRecipes into a bit per recipe: `on` (also NULL: those that are on), `all`, `off`, or a list of
// `Name@slot` or `Name` (for all of its slots), with the separators of lists of phases. False: `why` names the wrong
// entry.
bool recipes_parse(const char *text, uint32_t *recipes, char why[static 500]);

#endif
