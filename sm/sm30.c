// SPDX-License-Identifier: MIT
// Kepler and older. Targets from sm_35 on, which have this backend, have more registers.
#include "sm/sm_internal.h"

const SmBackend sm_30 = {
    SM_COMMON,
    .profile.name = "sm_30",
    .profile.number = 30,
    .profile.encoded = 0x3000,
    .profile.class = SM_CLASS_OTHER,
    .profile.regs[RF_R] = 63,
    .reassociate_and_common = phase_reassociate,             // slot 44
    .general_optimize_late2 = phase_general_optimize_late2,  // slot 49
    .back_prop_vreg = phase_back_copy_prop,                  // phase 82
    .back_prop_done = phase_after_back_copy_prop,            // phase 83
};
