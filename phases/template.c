// SPDX-License-Identifier: MIT
// Replaces the sum of a value and zero by the value. This file is the template of a phase. No row names it, but it is
// compiled with the other phases, so that it stays correct. README.md describes how to add a phase.
//
// Slot: NN TheName (the documented name). The first paragraphs state the algorithm in prose. One walk finds the
// registers that additions of zero define, and replaces their uses by the other operand. The operand has one
// definition, which dominates the addition (ssa form). replace_apply() removes the additions; a phase that removes
// other instructions calls remove_annotated().
//
//     R2 = add.s32 R1, 0; st.global.b32 [R9], R2       ->   st.global.b32 [R9], R1
//
// Remarks: Passed ZeroAdded of each addition.
//
// Must not fire:
//     @P0 R2 = add.s32 R1, 0 else R7                         R2 is R7 where P0 is false (rule 1)
//     R2 = add.s32 R1, 0 where R1 or R2 is pinned            an opaque instruction may write it later (rule 2)
//     R2 = add.f32 R1, 0                                     -0 + 0 is 0 (rule 11)
//
// Does not do: sums that are zero by value ranges (folding).
// Documented: nothing. Inferred: all.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

// Returns the operand that an addition of zero copies; K_NONE for other instructions.
static Operand copied_value(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_ADD || ir_guarded(i) || i->flags & IF_PINNED)
        return op_none();
    Type type = tab_mnem(fn->tables, d->mnem)->type[0];
    bool integer = type_info[type].class == TC_U || type_info[type].class == TC_S;
    Operand zero = *ir_use(fn, i, 1);
    bool is_zero = op_is_const(zero) && tab_const(fn->tables, op_index(zero)).bits == 0;
    return integer && is_zero ? *ir_use(fn, i, 0) : op_none();
}

// Collects the replacements, then applies them in one sweep. The manager has checked gate and form.
bool phase_template(Ctx *ctx, Fn *fn)
{
    ReplaceMap map;
    replace_begin(&map, fn);
    prepare_costs(ctx, fn);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Operand by = copied_value(fn, i), def = i->ndef == 1 ? *ir_def(fn, i, 0) : op_none();
            if (op_kind(by) == K_NONE || !op_is_reg(def) || !replace_allowed(fn, op_index(def), by))
                continue;
            record_cost(ctx, fn, id);
            remark(ctx, fn, id, RM_PASSED, "ZeroAdded", "the sum of a value and zero is the value");
            replace_set(&map, op_index(def), by);
        }
    }
    return replace_apply(&map);
}
