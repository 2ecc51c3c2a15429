// SPDX-License-Identifier: MIT
// The phase bodies that rows of phases.def name.
#ifndef ORI_BODIES_H
#define ORI_BODIES_H

#include "phases/phase.h"

/* manager/check_program.c */
PhaseBody phase_check_structure, phase_check_types, phase_check_form;
/* manager/report.c */
PhaseBody phase_report_text, phase_report_memory;
/* flow/control_flow.c */
PhaseBody phase_analyze_control_flow;
/* manager/recipes.c */
PhaseBody phase_apply_recipes;
/* flow/last_in_block.c */
PhaseBody phase_last_in_block;
/* ssa/generate_mov_phi.c, ssa/convert_mov_phi.c */
PhaseBody phase_generate_mov_phi, phase_convert_mov_phi;
/* ssa/redundant_phis.c, ssa/equal_phis.c */
PhaseBody phase_redundant_phis, phase_equal_phis;
/* flow/branch_opt.c, flow/place_blocks.c, flow/remove_nop_code.c */
PhaseBody phase_branch_opt, phase_place_blocks, phase_remove_nop_code;
/* flow/merge_conditional_flow.c */
PhaseBody phase_general_optimize_early, phase_merge_conditional_flow;
/* scalar */
PhaseBody phase_live_dead, phase_redundant_moves, phase_copy_prop, phase_fold, phase_form_lop3;
PhaseBody phase_simplify_predicates, phase_share_moves, phase_reassociate, phase_back_copy_prop;
/* redundancy */
PhaseBody phase_commoning, phase_gvn_cse, phase_late_commoning;
/* bundles */
PhaseBody phase_general_optimize, phase_general_optimize_mid, phase_general_optimize_mid2, phase_general_optimize_late2,
    phase_reoptimize;
/* module */
ModuleBody phase_inline, phase_dead_functions, phase_shrink_signatures;
/* globalopt */
ModuleBody phase_global_opt;
PhaseBody phase_devirtualize;
/* memory */
PhaseBody phase_infer_spaces, phase_promote_memory, phase_store_forwarding, phase_compact_local;
/* template.c, which no row names */
PhaseBody phase_template;
/* manager/nop.c */
PhaseBody phase_nop;
PhaseBody phase_debugger_break;
/* manager/pipeline_counter.c */
PhaseBody phase_after_back_copy_prop, phase_after_legalization;

#endif
