// SPDX-License-Identifier: MIT
// The phase bodies that rows of phases.def name.
#ifndef ORI_BODIES_H
#define ORI_BODIES_H

#include "phases/phase.h"

/* check_program.c */
PhaseBody phase_check_structure, phase_check_types, phase_check_form;
/* report.c */
PhaseBody phase_report_text, phase_report_memory;
/* control_flow.c */
PhaseBody phase_analyze_control_flow;
/* recipes.c */
PhaseBody phase_apply_recipes;
/* last_in_block.c */
PhaseBody phase_last_in_block;
/* generate_mov_phi.c, convert_mov_phi.c */
PhaseBody phase_generate_mov_phi, phase_convert_mov_phi;
// Gives each value of a register of its own, for a phase that made registers from `first` on as if the function was in
// multi form; drops analyses. In multi form there is nothing to do.
void ssa_repair(Ctx *ctx, Fn *fn, RegId first);
/* live_dead.c */
PhaseBody phase_live_dead;
/* self_moves.c */
static inline bool is_self_move(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & (IF_PINNED | IF_TIED))
        return false;
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    return op_is_reg(to) && op_is_reg(from) && op_index(to) == op_index(from) && !to.mods && !from.mods &&
           !(ir_reg(fn, op_index(to))->flags & REG_PINNED);
}
// Removes moves of registers to themselves; returns progress.
bool remove_self_moves(Fn *fn);
/* empty_blocks.c */
// Sends branches through empty blocks on and removes these; returns progress, and then drops the analyses.
bool skip_empty_blocks(Ctx *ctx, Fn *fn);
// Makes branches whose two targets are one unguarded; returns progress, and then drops the analyses.
bool drop_conditions(Fn *fn);
// Puts an unguarded branch in the place of a terminator.
void become_branch(Fn *fn, InstrId id, BlockId to);
/* unreachable.c */
// Removes blocks that nothing reaches, and tables of targets that nothing names; returns progress. Blocks gone, the
// analyses are dropped.
bool remove_unreachable(Ctx *ctx, Fn *fn);
/* branch_opt.c */
PhaseBody phase_branch_opt;
// Appends to each block what only it leads to; returns progress, and then drops the analyses.
bool merge_blocks(Fn *fn);
/* remove_nop_code.c */
PhaseBody phase_remove_nop_code;
/* redundant_phis.c, equal_phis.c, redundant_moves.c */
PhaseBody phase_redundant_phis, phase_equal_phis, phase_redundant_moves;
/* replace.c */
// What replaces registers of ssa form: rep[old] = new, and one sweep at the end; the file says what for and how.
typedef struct Rep {
    Fn *fn;
    Arena scratch;
    Operand *by;  // by RegId; none = the register stays
    RegId nregs;  // that there were in the beginning; newer ones are not replaced
    uint32_t n;   // registers that are replaced
    bool retypes;
} Rep;
void rep_open(Rep *rep, Ctx *ctx, Fn *fn);
// Whether a register may be replaced by this operand, as far as the two by themselves go: registers of ssa form and of
// one file and width, a constant of the width, a negated predicate.
bool rep_may(const Fn *fn, RegId old, Operand by);
void rep_set(Rep *rep, RegId old, Operand by);
// What an operand is by now; itself, if its register is not replaced.
Operand rep_find(const Rep *rep, Operand o);
// Rewrites all uses, and removes the definitions. Returns whether anything was replaced. AN_FLOW stays right, and where
// no move had to be inserted AN_RDEFS does, too.
bool rep_close(Rep *rep);
// Returns whether operand k of an instruction may be *o, which has the width of the present operand, and makes *o the
// constant that stands for it there (slot_constant).
bool fit_operand(Fn *fn, const Instr *i, uint32_t k, Operand *o);
// Whether operand k of such an instruction is the base of an access, whose offset is the next.
bool operand_is_base(const Fn *fn, const Desc *d, uint32_t k);
// The first of the notes that are about an instruction, or itself: where others go in front of it.
InstrId in_front_of_notes(const Fn *fn, InstrId id);
// A move in front of an instruction and of notes about it, whose source line it takes.
InstrId insert_move(Fn *fn, InstrId before, RegId to, Operand from);
// Makes an instruction with one definition another one with these uses, which keeps its guard and old value.
void become(Fn *fn, InstrId id, DescId desc, const Operand *uses, uint32_t n);
// The same for a move of this operand.
void become_move(Fn *fn, InstrId id, Operand from);
// The first instruction of a block that is no phi.
InstrId behind_phis(const Fn *fn, BlockId b);
/* access_moves.c */
// What an instruction has behind its uses: for definition `def`, its old value, and its guard.
typedef struct Tail {
    uint8_t flags;  // IF_TIED, IF_GUARDED
    Operand old, guard;
} Tail;
Tail tail_of(const Fn *fn, const Instr *i, uint32_t def);
Width width_of_operand(const Fn *fn, Operand o);  // of a register or a constant
Width width_of_bytes(uint32_t bytes);             // of registers for so many bytes, at least 16 bits
// dst = the low bytes of src, a register or a constant, extended to the width of dst or cut to it. Both are as
// access_is_movable() wants them.
typedef struct AccessMove {
    Operand dst, src;
    uint32_t bytes;
    bool is_signed;
    Tail tail;
} AccessMove;
void insert_access_move(Fn *fn, InstrId before, const AccessMove *move);
// Makes a load or store that move.
void become_access_move(Fn *fn, InstrId id, const AccessMove *move);
// Removes the notes about an instruction: before anything is put in front of it, which they would then be about.
void remove_notes(Fn *fn, InstrId id);
// Removes an instruction and the notes about it.
void remove_with_notes(Fn *fn, InstrId id);
/* leaders.c */
// Of values 1 .. n-1, each a copy of one of those in its row, or something else if 0 is among them: the value that each
// always equals, itself if there is none, 0 if it is a copy of nothing but such copies. In memory of this arena.
uint32_t *find_leaders(const Edges *inputs, uint32_t n, Arena *arena);
/* commoning.c */
PhaseBody phase_commoning;
/* copy_prop.c */
PhaseBody phase_copy_prop;
/* fold.c */
PhaseBody phase_fold;
/* form_lop3.c */
PhaseBody phase_form_lop3;
/* general_optimize_mid.c */
PhaseBody phase_general_optimize_mid;
// Notes in ctx->costs, if there are any, that a sub-pass is about to simplify an instruction.
void note_cost(Ctx *ctx, Fn *fn, InstrId id);
/* reoptimize.c */
PhaseBody phase_reoptimize;
/* infer_spaces.c */
PhaseBody phase_infer_spaces;
// Whether the function makes generic addresses and accesses memory by some.
bool has_generic_accesses(const Fn *fn);
/* promote_memory.c */
PhaseBody phase_promote_memory;
// Whether the function has variables of its own in `.local` memory.
bool has_local_variables(const Fn *fn);
/* store_forwarding.c, dead_stores.c */
PhaseBody phase_store_forwarding;
// Removes stores to local variables that nothing reads before they are overwritten or end; returns progress.
bool remove_dead_stores(Ctx *ctx, Fn *fn);
/* compact_local.c */
PhaseBody phase_compact_local;
/* place_blocks.c */
PhaseBody phase_place_blocks;
/* nop.c */
PhaseBody phase_nop;

#endif
