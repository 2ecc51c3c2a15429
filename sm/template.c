// SPDX-License-Identifier: MIT
// Template of a backend. It is compiled with the other backends, so that it stays correct, but no target has it. To add
// a backend:
//
//  1. Copy this file to smNN.c; call the object sm_NN.
//  2. Fill in the profile below. A member of the vtable that is not set is the shared member of SM_COMMON: a no-op by
//     design, a body that does not exist yet, or a result that permits the fewest rewrites. Set the members that
//     differ, each with the number of its slot in a comment.
//  3. A pass is a body of phases/bodies.h, `bool phase_xxx(Ctx *, Fn *)`, or a static function of this file if no
//     other backend has it. Its row of phases.def states the analyses that it needs and keeps. Queries have the types
//     of sm.h and must be sound for all arguments.
//  4. Add BACKEND(NN) to SM_BACKENDS in sm.h, in ascending order; the list, the mapping of targets and --list-sm are
//     made from it. Add new targets to sm/targets.c.
//  5. Add its figures to tests/unit/sm.c, and its plan to tests/net/diff.sh.
#include "sm/sm_internal.h"

const SmBackend sm_template = {
    SM_COMMON,
    .profile.name = "sm_0",                                // as a target
    .profile.number = 0,                                   // as a number: the first target that has the backend
    .profile.encoded = 0x0000,                             // generation << 12 | variant, for the thresholds of sm.h
    .profile.class = SM_CLASS_OTHER,                       // for the families of sm.h
    .profile.caps = 0,                                     // SM_CAP_* | ...
    .profile.regs[RF_R] = 255,                             // UR and UP: none by default
    .gvn_cse = sm_no_op_pass,                              // slot 23: phase_xxx, if it has the phase
    .reassociate_and_common = sm_not_yet_pass,             // slot 44
    .before_conv_unsup = sm_no_op_pass,                    // phase 4, a hook: phase_xxx to run something there
    .common_over_barrier = sm_shared_common_over_barrier,  // slot 371
};
