// SPDX-License-Identifier: MIT
// Lists the definitions and uses of each register, and the position of each instruction. Two walks over the function:
// the first counts, the second fills the rows, which are therefore in layout order. Linear; 36 bytes an instruction.
//
// New registers or instructions invalidate the tables. Removing an instruction without registers does not: positions
// may have gaps.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// A register of an opaque instruction is a definition and a use.
static bool is_def(Operand o) { return op_is_def(o) || o.mods & OPM_INOUT; }
static bool is_use(Operand o) { return !op_is_def(o); }

static void count_refs(const Fn *fn, Analyses *a)
{
    uint32_t place = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            a->place[id] = ++place;
            for (uint32_t k = 0; k < i->nops; k++) {
                if (!op_is_reg(ops[k]))
                    continue;
                a->defs.first[op_index(ops[k])] += is_def(ops[k]);
                a->uses.first[op_index(ops[k])] += is_use(ops[k]);
            }
        }
    }
}

static void fill_refs(const Fn *fn, Analyses *a)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->nops; k++) {
                RegId r = op_index(ops[k]);
                if (!op_is_reg(ops[k]))
                    continue;
                if (is_def(ops[k]))
                    a->defs.at[a->defs.first[r]++] = (Ref){id, k};
                if (is_use(ops[k]))
                    a->uses.at[a->uses.first[r]++] = (Ref){id, k};
            }
        }
    }
}

void defuse_build(const Fn *fn, Analyses *a)
{
    Arena *arena = &a->arena[AX_DEFUSE];
    uint32_t n = fn->regs.n;
    a->nregs = n;
    a->ninstrs = fn->instrs.n;
    a->place = NEW_ARRAY(arena, uint32_t, a->ninstrs);
    a->defs.first = NEW_ARRAY(arena, uint32_t, n + 1);
    a->uses.first = NEW_ARRAY(arena, uint32_t, n + 1);
    count_refs(fn, a);
    a->defs.at = arena_alloc(arena, rows_start(a->defs.first, n) * sizeof(Ref));
    a->uses.at = arena_alloc(arena, rows_start(a->uses.first, n) * sizeof(Ref));
    fill_refs(fn, a);
    rows_restore(a->defs.first, n);
    rows_restore(a->uses.first, n);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

static bool same_row(const Refs *kept, const Refs *now, RegId r)
{
    uint32_t n = now->first[r + 1] - now->first[r];
    return kept->first[r + 1] - kept->first[r] == n &&
           memcmp(kept->at + kept->first[r], now->at + now->first[r], n * sizeof(Ref)) == 0;
}

static bool same_rows(const Fn *fn, const Refs *kept, const Refs *now, const char *what, char why[static 150])
{
    RegId r = 1;
    while (r < fn->regs.n && same_row(kept, now, r))
        r++;
    if (r == fn->regs.n)
        return true;
    const Reg *reg = ir_reg(fn, r);
    snprintf(why, 150, "%s%u has different %s", reg_file_names[reg->file], reg->ordinal, what);
    return false;
}

// True if places ascend in layout order. They may have gaps where instructions were removed.
static bool same_places(const Fn *fn, const uint32_t *kept, char why[static 150])
{
    uint32_t last = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            if (kept[id] <= last) {
                snprintf(why, 150, "an instruction of b%u has moved", ir_block(fn, b)->ordinal);
                return false;
            }
            last = kept[id];
        }
    }
    return true;
}

bool defuse_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    if (kept->nregs == now->nregs && kept->ninstrs == now->ninstrs)
        return same_rows(fn, &kept->defs, &now->defs, "definitions", why) &&
               same_rows(fn, &kept->uses, &now->uses, "uses", why) && same_places(fn, kept->place, why);
    // The tables are too short for new registers and instructions.
    snprintf(why, 150, "there are new %s", kept->nregs != now->nregs ? "registers" : "instructions");
    return false;
}
