// SPDX-License-Identifier: MIT
// The phase bodies that rows of phases.def name.
#ifndef ORI_BODIES_H
#define ORI_BODIES_H

#include "phases/phase.h"

/* check_program.c */
PhaseBody phase_check_structure, phase_check_types, phase_check_form;
/* report.c */
PhaseBody phase_report_text, phase_report_memory;
/* remove_nop_code.c */
PhaseBody phase_remove_nop_code;
/* place_blocks.c */
PhaseBody phase_place_blocks;
/* nop.c */
PhaseBody phase_nop;

#endif
