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
/* last_in_block.c */
PhaseBody phase_last_in_block;
/* generate_mov_phi.c, convert_mov_phi.c */
PhaseBody phase_generate_mov_phi, phase_convert_mov_phi;
/* live_dead.c */
PhaseBody phase_live_dead;
/* self_moves.c */
bool is_self_move(const Fn *fn, const Instr *i);
// Removes moves of registers to themselves; returns progress.
bool remove_self_moves(Fn *fn);
/* empty_blocks.c */
// Sends branches through empty blocks on and removes these; returns progress, and then drops the analyses.
bool skip_empty_blocks(Ctx *ctx, Fn *fn);
// Puts an unguarded branch in the place of a terminator.
void become_branch(Fn *fn, InstrId id, BlockId to);
/* unreachable.c */
// Removes blocks that nothing reaches, and tables of targets that nothing names; returns progress. Blocks gone, the
// analyses are dropped.
bool remove_unreachable(Ctx *ctx, Fn *fn);
/* branch_opt.c */
PhaseBody phase_branch_opt;
/* remove_nop_code.c */
PhaseBody phase_remove_nop_code;
/* place_blocks.c */
PhaseBody phase_place_blocks;
/* nop.c */
PhaseBody phase_nop;

#endif
