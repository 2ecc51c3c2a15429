// SPDX-License-Identifier: MIT
// Ampere. It has no phase 49 by design: phases 50 and 64 do that work.
#include "sm/sm_internal.h"

const SmBackend sm_80 = {
    SM_COMMON,
    .profile.name = "sm_80",
    .profile.number = 80,
    .profile.encoded = 0x7001,
    .profile.class = SM_CLASS_NVLINK,
    .profile.regs[RF_R] = 255,
    .profile.regs[RF_UR] = 63,
    .profile.regs[RF_UP] = 7,
    .back_prop_vreg = phase_back_copy_prop,        // phase 82
    .back_prop_done = phase_after_back_copy_prop,  // phase 83
    .form_lop3 = phase_form_lop3,
    .rewrite_chain = sm_rewrites_chains,                     // slot 82
    .general_optimize_mid2 = phase_general_optimize_mid2,    // slot 56
    .reassociate_and_common = phase_reassociate,             // slot 44
    .general_optimize_late2 = phase_general_optimize_late2,  // slot 49
};
