// SPDX-License-Identifier: MIT
// How a backend is made. This one is compiled with the others, so that it cannot rot, but no target means it.
//
//  1. Copy this file to smNN.c; call the object sm_NN.
//  2. Fill in the profile below. A member of the vtable that nothing is said about is the shared one of SM_COMMON: a
//     no-op by design, a body that is not there yet, or an answer that allows least. Say what is different, with the
//     slot's number behind it.
//  3. A pass is a body out of phases/bodies.h, `bool phase_xxx(Ctx *, Fn *)`, or a static function of this file if no
//     other backend has it. It needs and keeps the analyses that its row of phases.def says. Queries have the types of
//     sm.h and must be sound whatever they are asked.
//  4. Add BACKEND(NN) to SM_BACKENDS in sm.h, in ascending order: from there come the list, the mapping of targets and
//     --list-sm. Targets that are new go to sm/targets.c.
//  5. Write its figures down in tests/unit/sm.c, and its plan in tests/net/diff.sh.
#include "sm/sm_internal.h"

const SmBackend sm_template = {
    SM_COMMON,
    .profile.name = "sm_0",                     // as a target
    .profile.number = 0,                        // the same as a number: the first target that has it
    .profile.encoded = 0x0000,                  // generation << 12 | variant; what the thresholds of sm.h look at
    .profile.class = SM_CLASS_OTHER,            // what the families of sm.h look at
    .profile.caps = 0,                          // SM_CAP_* | ...
    .profile.regs[RF_R] = 255,                  // UR and UP: none, unless it says so
    .gvn_cse = sm_no_op_pass,                   // slot 23: phase_xxx, if it has the phase
    .reassociate_and_common = sm_not_yet_pass,  // slot 44
    .before_conv_unsup = sm_no_op_pass,         // phase 4, a hook: phase_xxx to run something there
    .common_over_barrier = sm_shared_common_over_barrier,  // slot 371
};
