// SPDX-License-Identifier: MIT
// Makes atomic operations: commutative ones of all threads, and any operation on memory that one thread owns.
#include <stdio.h>

#include "tools/origen/kernel.h"

static const struct {
    const char *op, *type;
    Class cls;
    const char *operand;
} atomics[] = {
#define ATOMIC(op, type, class, operand) {op, type, CLASS_##class, operand},
#include "tools/origen/atomics.def"
};

uint32_t counts_bytes(void) { return 8 * ARRAY_LEN(atomics); }

void make_count(Gen *g, uint32_t n)
{
    const Object *counts = g->fn.counts;
    uint32_t k = roll(g, ARRAY_LEN(atomics));
    if (!counts || !class_on(g, atomics[k].cls)) {
        make_straight(g, n);
        return;
    }
    char pattern[100], letter = class_info[atomics[k].cls].letter;
    const char *scope = has(g, FT_QUALIFIERS) && chance(g, 1, 4) ? ".relaxed.gpu" : "";
    Place p = {counts, NULL, 8 * k};
    if (chance(g, 2, 3))
        snprintf(pattern, sizeof pattern, "red%s$s.$s.$s $o, %s;", scope, atomics[k].operand);
    else  // the result depends on the order, so it stays unused
        snprintf(pattern, sizeof pattern, "atom%s$s.$s.$s $%c1, $o, %s;", scope, letter, atomics[k].operand);
    code(g, pattern, space_name(counts->space), atomics[k].op, atomics[k].type, &p);
}

void make_own_atomic(Gen *g, uint32_t n)
{
    static const char *const patterns[][3] = {
        {"atom$s.<add.u32|exch.b32|min.s32|max.u32|and.b32|or.b32|xor.b32|inc.u32|dec.u32> $=r, $o, $r#;",
         "atom$s.cas.b32 $=r, $o, $r, $r#;", "red$s.<add.s32|min.u32|max.s32|xor.b32|inc.u32> $o, $r#;"},
        {"atom$s.<add.u64|exch.b64|min.s64|max.u64|and.b64|or.b64|xor.b64> $=d, $o, $d#;",
         "atom$s.cas.b64 $=d, $o, $d, $d#;", "red$s.<add.u64|min.u64|max.s64|xor.b64> $o, $d;"},
    };
    const Object *o = object_with_address(g, true, 8);
    bool wide = has(g, FT_WIDE) && o && o->align >= 8 && chance(g, 1, 3);
    if (!o || (o->actual_space != SPACE_GLOBAL && o->actual_space != SPACE_SHARED)) {
        make_straight(g, n);
        return;
    }
    Place p = place_in(g, o, wide ? 8 : 4);
    const char *pattern = patterns[wide][roll(g, 3)];
    code_with(g, LANE, pattern, space_name(o->space), &p);
}
