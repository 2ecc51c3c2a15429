// SPDX-License-Identifier: MIT
// Volta and Turing. The profile is that of Volta, without the uniform registers of sm_75: unused registers are sound.
#include "sm/sm_internal.h"

const SmBackend sm_70 = {
    SM_COMMON,
    .profile.name = "sm_70",
    .profile.number = 70,
    .profile.encoded = 0x7000,
    .profile.class = SM_CLASS_NVLINK,
    .profile.regs[RF_R] = 255,
    .gvn_cse = phase_gvn_cse,                      // slot 23
    .back_prop_vreg = phase_back_copy_prop,        // phase 82
    .back_prop_done = phase_after_back_copy_prop,  // phase 83
    .form_lop3 = phase_form_lop3,
    .rewrite_chain = sm_rewrites_chains,                     // slot 82
    .general_optimize_mid2 = phase_general_optimize_mid2,    // slot 56
    .reassociate_and_common = phase_reassociate,             // slot 44
    .general_optimize_late2 = phase_general_optimize_late2,  // slot 49
};
