// SPDX-License-Identifier: MIT
// Lists of opcodes in knobs: mnemonics without modifiers, separated by + or , or blanks.
#include <stdio.h>

#include "phases/redundancy/redundancy.h"

// Adds all opcodes with a mnemonic to the set; false if there are none.
static bool add_mnemonic(const char *text, size_t len, bool *set)
{
    bool any = false;
    for (Opcode op = 0; op < OPCODE_COUNT; op++) {
        if (strlen(op_info[op].mnemonic) != len || memcmp(op_info[op].mnemonic, text, len) != 0)
            continue;
        any = true;
        if (set)
            set[op] = true;
    }
    return any;
}

static void suggest(const char *text, size_t len, char why[static 500])
{
    int n = snprintf(why, 500, "unknown instruction '%.*s'", (int)MIN(len, 60), text);
    Nearest best = {0};
    for (Opcode op = 0; op < OPCODE_COUNT; op++)
        nearest_offer(&best, text, len, op_info[op].mnemonic);
    nearest_print(&best, why + n, 500 - (size_t)n);
}

bool opcodes_find(const char *list, bool *set, char why[static 500])
{
    for (size_t len; *list; list += len + (list[len] != 0)) {
        len = strcspn(list, ",+ \t");
        if (len && !add_mnemonic(list, len, set)) {
            suggest(list, len, why);
            return false;
        }
    }
    return true;
}

const bool *opcodes_of_knob(Ctx *ctx, KnobId knob, Arena *arena)
{
    char why[500];
    const char *list = knob_str(&ctx->knobs, knob);
    bool *set = list ? NEW_ARRAY(arena, bool, OPCODE_COUNT) : NULL;
    return set && opcodes_find(list, set, why) ? set : NULL;
}
