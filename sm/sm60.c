// SPDX-License-Identifier: MIT
// Pascal.
#include "sm/sm_internal.h"

const SmBackend sm_60 = {
    SM_COMMON,
    .profile.name = "sm_60",
    .profile.number = 60,
    .profile.encoded = 0x6000,
    .profile.class = SM_CLASS_OTHER,
    .profile.regs[RF_R] = 255,
    .gvn_cse = phase_gvn_cse,  // slot 23
    .form_lop3 = phase_form_lop3,
    .general_optimize_mid2 = phase_general_optimize_mid2,    // slot 56
    .reassociate_and_common = phase_reassociate,             // slot 44
    .general_optimize_late2 = phase_general_optimize_late2,  // slot 49
    .back_prop_vreg = phase_back_copy_prop,                  // phase 82
    .back_prop_done = phase_after_back_copy_prop,            // phase 83
};
