// SPDX-License-Identifier: MIT
// GvnCse: the parts of phase 49.
#ifndef ORI_GVN_H
#define ORI_GVN_H

#include "phases/redundancy/pressure.h"
#include "phases/redundancy/redundancy.h"

typedef enum { GVN_NONE, GVN_SIMPLE, GVN_STANDARD, GVN_FULL, GVN_FULL_EXTENDED } GvnBody;

// Classes of instructions for GvnCse. A special one is replaced only in its block, unless the scope is extended. A
// convergent one is replaced only in its block, if no other convergent instruction is between, and if all threads
// execute the same sequence of convergent instructions (ir/analysis/convergence.c).
typedef enum { GC_NONE, GC_PLAIN, GC_SPECIAL, GC_CONVERGENT } GvnClass;

// Marks of blocks by the EBB pre-pass.
enum { EBB_UNKNOWN, EBB_NO_CANDIDATE, EBB_CANDIDATE };

typedef struct Gvn {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    GvnBody body;
    bool enhanced;         // bit 6: special classes are eligible
    const bool *kept;      // by Opcode: left alone (knob 257); NULL = none
    const uint8_t *marks;  // by BlockId: EBB_*; NULL = the pre-pass has not run
    uint32_t *scopes;      // by InstrId: `scope` at the instruction; NULL: not GVN_SIMPLE
    uint32_t scope;        // number of scopes of GVN_SIMPLE so far
    uint32_t context;      // number of blocks so far, and of runs of equal convergent instructions
    BlockId block;         // of the last instruction that was numbered
    bool pre_pass;         // before the first value of another block is reused
    bool pressed;          // a candidate was refused for register pressure
    bool unsettled;        // a class was refused in another block, or a move is new: see phase_gvn_cse()
    ScopeTree *drains;     // of FullGvn: blocks with replacements, by index in reverse postorder
    RegId cached_leader;   // the last query of is_usable(), and its result
    InstrId cached_user;
    bool cached;
    Pressure pressure;
} Gvn;

/* gvn_cse.c */
// Returns the body for a value of EnableGvnCseMode, bit 6 (ENHANCED_CSE), and c (FULL_SCOPE).
GvnBody gvn_body(int64_t mode, bool enhanced, bool full_scope);
// Returns the mode for capabilities (SM_CAP_*) if the knob is not set.
int64_t gvn_default_mode(uint8_t caps);
// Returns the capabilities (SM_CAP_*) that count: those of the backend, or GvnCseBits.
uint8_t gvn_caps(Ctx *ctx);
// True if a knob installs the body on a backend that has none.
bool gvn_is_installed(Ctx *ctx);

/* gvn_eligible.c */
// Returns the class of an instruction. `enhanced` is bit 6.
GvnClass gvn_class(const Fn *fn, const Instr *i, bool enhanced);

/* gvn_ebb.c */
// Runs the EBB pre-pass, and returns the marks of blocks in memory of gvn->scratch.
const uint8_t *gvn_mark_blocks(Gvn *gvn);

#endif
