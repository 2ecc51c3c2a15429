// SPDX-License-Identifier: MIT
// The common initializers of backends.
#ifndef ORI_SM_INTERNAL_H
#define ORI_SM_INTERNAL_H

#include "phases/bodies.h"
#include "sm/sm.h"

// A backend is SM_COMMON, followed by initializers that override those of the macro.
#pragma GCC diagnostic ignored "-Woverride-init"

#define SM_COMMON_PASS(member, slot, row, common, ...) , .member = sm_##common##_pass
#define SM_COMMON_QUERY(member, ...) , .member = sm_shared_##member
// Predicates P0 to P6, a constant bank of 64 KiB, and the shared members.
#define SM_COMMON \
    .profile.bank_bytes = 65536, .profile.regs[RF_P] = 7 SM_PASSES(SM_COMMON_PASS) SM_QUERIES(SM_COMMON_QUERY)

/* shared.c */
// Query 82 of sm_70 and up: a chain is rewritten unless its join is one of the other blocks.
SmChain sm_rewrites_chains;

/* template.c */
extern const SmBackend sm_template;

#endif
