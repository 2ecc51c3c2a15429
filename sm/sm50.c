// SPDX-License-Identifier: MIT
// Maxwell.
#include "sm/sm_internal.h"

const SmBackend sm_50 = {
    SM_COMMON,
    .profile.name = "sm_50",
    .profile.number = 50,
    .profile.encoded = 0x4001,
    .profile.class = SM_CLASS_DUAL_ISSUE,
    .profile.regs[RF_R] = 255,
    .form_lop3 = phase_form_lop3,
    .reassociate_and_common = phase_reassociate,             // slot 44
    .general_optimize_late2 = phase_general_optimize_late2,  // slot 49
    .back_prop_vreg = phase_back_copy_prop,                  // phase 82
    .back_prop_done = phase_after_back_copy_prop,            // phase 83
};
