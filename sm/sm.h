// SPDX-License-Identifier: MIT
// SM backends: the properties of a generation of GPUs (profile), and the passes and queries in which generations differ
// (vtable).
//
// The documents describe one polymorphic object of this kind, at ctx+1584. "+N" is a byte offset in this object; a slot
// is an index in its vtable, whose entries have eight bytes. `cse` is the document on copy propagation and CSE,
// `general` that on the GeneralOptimize bundles, `phases` the list of the 159 slots.
#ifndef ORI_SM_H
#define ORI_SM_H

#include "ir/core/ir.h"

/* -- Profile ------------------------------------------------------------------------------------------------ */

// CAP(id, name, byte, bit, document, text): capability bits, with their places in the documents. enhanced_cse is set on
// sm_90, and clear on sm_60 and sm_70, as the documents imply. Inferred: it is clear on all others, which permits fewer
// rewrites; full_scope is set where enhanced_cse is.
// clang-format off
#define SM_CAPS(CAP) \
    CAP(ENHANCED_CSE, enhanced_cse, 1106, 6, "cse",     "MUFU, SHFL, ATOM and REDUX may be value-numbered, modes 5 and 6") \
    CAP(FULL_SCOPE,   full_scope,   1416, 0, "cse",     "c of the context: with enhanced_cse full scope, not extended") \
    CAP(GRACE,        grace,        1417, 7, "general", "Grace, independent of the class") \
    CAP(NVLINK,       nvlink,       1418, 0, "general", "NVLink, independent of the class")
// clang-format on

enum {
#define CAP(id, ...) SM_CAP_BIT_##id,
    SM_CAPS(CAP)
#undef CAP
#define CAP(id, ...) SM_CAP_##id = 1 << SM_CAP_BIT_##id,
        SM_CAPS(CAP)
#undef CAP
};

// Architecture classes, at +12. Inferred: sm_50 is 4, sm_70 and up are 11, all other backends 0; no backend is Grace.
enum { SM_CLASS_OTHER = 0, SM_CLASS_DUAL_ISSUE = 4, SM_CLASS_GRACE = 10, SM_CLASS_NVLINK = 11 };

// Inferred: the registers, 255 R from sm_50 on and 63 on sm_30; 7 P; 63 UR and 7 UP from sm_80 on.
typedef struct SmProfile {
    const char *name;          // as a target: "sm_90"
    uint16_t number;           // 90
    uint16_t encoded;          // generation << 12 | variant, +372
    uint8_t class;             // SM_CLASS_*
    uint8_t caps;              // SM_CAP_*
    uint16_t regs[RF_UP + 1];  // registers of a thread by file; CC has none to allocate
    uint32_t bank_bytes;       // of a constant bank
} SmProfile;

/* -- Passes ------------------------------------------------------------------------------------------------- */

// Returns progress, as phases do.
typedef bool SmPass(Ctx *ctx, Fn *fn);

// PASS(member, slot of the vtable or -1, row of phases.def, common, from, document, text): `common` is the default
// member, no_op (by design) or not_yet. `from` is INFERRED if no document names the backends that have the pass. The
// AdvancedPhase rows and 83 have no slot: in the documents they are separate phases that a backend overrides.
//
// Inferred: all backends have back propagation (82), and 44 and 49, since these preserve the results of programs. The
// documents say only that some backends skip 56: here sm_30 and sm_50 do.
// clang-format off
#define SM_PASSES(PASS) \
    PASS(gvn_cse,                   23,  49, no_op,   KNOWN,    "cse",     "global value numbering; a no-op on sm30 sm50 sm80 sm89") \
    PASS(reassociate_and_common,    44,  50, not_yet, INFERRED, "cse",     "integer chains in a canonical order, then commoning") \
    PASS(general_optimize_mid2,     56,  46, no_op,   INFERRED, "general", "copies, folding, dead code after mid-level expansion; a no-op on sm30 sm50") \
    PASS(general_optimize_late2,    49,  65, not_yet, INFERRED, "general", "the same after predication and late commoning") \
    PASS(before_conv_unsup,         -1,   4, no_op,   INFERRED, "phases",  "before ConvertUnsupportedOps") \
    PASS(after_conv_unsup,          -1,   7, no_op,   INFERRED, "phases",  "after ConvertUnsupportedOps") \
    PASS(early_enforce_args,        -1,  47, no_op,   INFERRED, "phases",  "before EnforceArgumentRestrictions") \
    PASS(late_conv_unsup,           -1,  77, no_op,   INFERRED, "phases",  "before LateExpansionUnsupportedOps") \
    PASS(back_prop_vreg,            -1,  82, no_op,   INFERRED, "cse",     "back copy propagation: its body") \
    PASS(back_prop_done,            -1,  83, no_op,   INFERRED, "cse",     "marks its end in the function: installed with back_prop_vreg") \
    PASS(set_reg_attr,              -1,  89, no_op,   INFERRED, "phases",  "before OriSetRegisterAttr") \
    PASS(after_set_reg_attr,        -1,  92, no_op,   INFERRED, "phases",  "after OriSetRegisterAttr") \
    PASS(pre_sched,                 -1,  97, no_op,   INFERRED, "phases",  "before scheduling") \
    PASS(alloc_reg,                 -1, 101, no_op,   INFERRED, "phases",  "register allocation") \
    PASS(post_expansion,            -1, 104, no_op,   INFERRED, "phases",  "after expansion of allocated registers") \
    PASS(post_sched,                -1, 106, no_op,   INFERRED, "phases",  "after scheduling") \
    PASS(post_fix_up,               -1, 111, no_op,   INFERRED, "phases",  "after the last repairs") \
    PASS(scoreboards_and_opexes,    -1, 115, no_op,   INFERRED, "phases",  "dependence barriers and control fields") \
    PASS(ori_phase_encoding,        -1, 127, no_op,   INFERRED, "phases",  "machine words") \
    PASS(after_mid_expansion,       -1, 134, no_op,   INFERRED, "phases",  "after MidExpansion") \
    PASS(late_expand_sync,          -1, 135, no_op,   INFERRED, "phases",  "after LateExpandSyncInstructions") \
    PASS(ori_phase_encoding_second, -1, 152, no_op,   INFERRED, "phases",  "machine words, the second slot of the name") \
    PASS(form_lop3,                 -1, 168, no_op,   KNOWN,    "ours",    "logic of three inputs as one instruction; a no-op on sm30")
// clang-format on

/* -- Queries ------------------------------------------------------------------------------------------------ */

// True if the first two uses of an instruction, with these value numbers, are exchanged in its key.
typedef bool SmSwap(const Fn *fn, const Instr *i, uint32_t first, uint32_t second);
// True if a chain of branches that returns to its start through other registers may be rewritten. `entry` has the
// blocks of its three entries, the primary entry first.
typedef bool SmChain(const Fn *fn, const BlockId entry[static 3]);
// Returns the bytes of an element that an instruction works on; 0 = unknown type.
typedef uint32_t SmBytes(const Fn *fn, const Instr *i);
// Returns further conditions on folding an instruction. The bits are not documented; 0 = none.
typedef uint32_t SmFoldInfo(const Fn *fn, const Instr *i);
// True if a function's predicates may be marked as known under their own guard.
typedef bool SmFnTest(const Fn *fn);
// True if an instruction has the property that the query tests.
typedef bool SmTest(const Fn *fn, const Instr *i);
// Returns the classes of an instruction, as bits of a commoning filter, which may only reject.
typedef uint64_t SmClasses(const Fn *fn, const Instr *i);

// QUERY(member, slot, type, shared, from, document, text): `shared` is the status of the implementation that all
// backends share: IMPLEMENTED if its result depends on the arguments, NO_OP if it is constant. The documents do not
// state the results of backends, so the shared results permit the fewest rewrites.
// clang-format off
#define SM_QUERIES(QUERY) \
    QUERY(swap_operands,       79, SmSwap,     IMPLEMENTED, INFERRED, "cse",     "order of a commutative instruction's operands: by value number") \
    QUERY(rewrite_chain,       82, SmChain,    NO_OP,       INFERRED, "general", "chains of tests over renamed registers: unchanged below sm_70") \
    QUERY(operand_bytes,      113, SmBytes,    IMPLEMENTED, INFERRED, "general", "operand size: that of the first type") \
    QUERY(fold_info,          117, SmFoldInfo, NO_OP,       INFERRED, "general", "fold metadata: none") \
    QUERY(marks_predicates,   164, SmFnTest,   NO_OP,       INFERRED, "general", "predicate marking: none") \
    QUERY(refuses_source,     165, SmTest,     NO_OP,       INFERRED, "general", "predicated copies: only the kinds of operands decide") \
    QUERY(class_mask,         182, SmClasses,  NO_OP,       INFERRED, "cse",     "more classes for the commoning filter: none") \
    QUERY(class_mask_more,    227, SmClasses,  NO_OP,       INFERRED, "cse",     "the same, as a second query") \
    QUERY(common_over_barrier, 371, SmTest,    NO_OP,       INFERRED, "cse",     "commoning across a barrier: never")
// clang-format on

/* -- Backends ----------------------------------------------------------------------------------------------- */

typedef struct SmBackend {
    SmProfile profile;
#define PASS(member, ...) SmPass *member;
    SM_PASSES(PASS)
#undef PASS
#define QUERY(member, slot, type, ...) type *member;
    SM_QUERIES(QUERY)
#undef QUERY
} SmBackend;

// BACKEND(number), ascending: the files of this folder.
#define SM_BACKENDS(BACKEND) BACKEND(30) BACKEND(50) BACKEND(60) BACKEND(70) BACKEND(80) BACKEND(89) BACKEND(90)
#define BACKEND(number) extern const SmBackend sm_##number;
SM_BACKENDS(BACKEND)
#undef BACKEND
enum {
#define BACKEND(number) SM_INDEX_##number,
    SM_BACKENDS(BACKEND)
#undef BACKEND
        SM_BACKEND_COUNT
};
extern const SmBackend *const sm_backends[SM_BACKEND_COUNT];

// Members of the vtable.
enum {
#define PASS(member, ...) SM_AT_##member,
    SM_PASSES(PASS)
#undef PASS
        SM_PASS_COUNT,
    SM_LAST_PASS = SM_PASS_COUNT - 1,  // queries follow
#define QUERY(member, ...) SM_AT_##member,
    SM_QUERIES(QUERY)
#undef QUERY
        SM_MEMBER_COUNT
};

typedef struct SmMember {
    const char *name;
    int slot;  // of the vtable, -1 = none
    int row;   // of phases.def, -1 = a query
    bool inferred;
    const char *document, *text;
} SmMember;
extern const SmMember sm_members[SM_MEMBER_COUNT];

typedef enum { SM_IMPLEMENTED, SM_NO_OP, SM_NOT_YET } SmStatus;

/* shared.c */
// The sentinels, which do nothing and are distinguished by address: no-op by design, and no body yet.
SmPass sm_no_op_pass, sm_not_yet_pass;
#define QUERY(member, slot, type, ...) type sm_shared_##member;
SM_QUERIES(QUERY)
#undef QUERY
static inline bool sm_is_sentinel(SmPass *pass) { return pass == sm_no_op_pass || pass == sm_not_yet_pass; }
// Returns the pass of a backend for a row of phases.def; NULL = that row is not for backends.
SmPass *sm_pass(const SmBackend *backend, int row);
SmStatus sm_status(const SmBackend *backend, int member);  // SM_AT_*
const char *sm_status_name(SmStatus status);

/* -- Targets ------------------------------------------------------------------------------------------------ */

// A target: its backend and version.
typedef struct SmTarget {
    const SmBackend *backend;
    uint16_t encoded;  // version of the target itself: sm_100 has the backend of sm_90, but another version
} SmTarget;

/* targets.c */
// Returns the default target: that of the newest backend.
SmTarget sm_newest(void);
// Finds the target `sm_NN`, `sm_NNa` or `sm_NNf`. False: there is no such target, and `why` suggests others.
bool sm_find(const char *text, SmTarget *target, char why[static 300]);
// Returns the target of the first word of a module's `.target`; an unknown number has the nearest backend not above it.
SmTarget sm_of_module(const Module *m);
// Returns the bytes of shared memory that a block may have on the target of a module (CUDA C++ Programming Guide,
// technical specifications per compute capability); 0 = unknown.
uint32_t sm_shared_bytes(const Module *m);
// Checks the target of a module. False: it does not exist; `why` names the backend that is used and suggests a target.
bool sm_check_module(const Module *m, char why[static 300]);
// Returns the k-th target that exists, from 0, and its name. False: there are no more.
bool sm_nth_target(size_t k, SmTarget *target, char name[static 12]);

/* list.c */
// Prints all backends, with the targets that have them.
void sm_list(Out *out, bool json);

/* -- Tests of versions and classes -------------------------------------------------------------------------- */

// THRESHOLD(name, limit, document, text): true for encoded versions up to the limit.
// clang-format off
#define SM_THRESHOLDS(THRESHOLD) \
    THRESHOLD(selects_fold_freely, 20479, "general", "constants fold into selects regardless of the constraint bits 0x1C00") \
    THRESHOLD(sorts_commutative,   28671, "cse",     "operands of commutative instructions are sorted in dominated blocks") \
    THRESHOLD(always_marks_ebb,    32767, "cse",     "the EBB pre-pass runs before GVN regardless of knob 210")
// clang-format on
#define THRESHOLD(name, limit, ...) \
    static inline bool sm_##name(SmTarget target) { return target.encoded <= limit; }
SM_THRESHOLDS(THRESHOLD)
#undef THRESHOLD

// FAMILY(name, class, capability, text): true for backends of that class or with that capability.
// clang-format off
#define SM_FAMILIES(FAMILY) \
    FAMILY(dual_issue, SM_CLASS_DUAL_ISSUE, 0,             "issues two instructions at once (Maxwell)") \
    FAMILY(nvlink,     SM_CLASS_NVLINK,     SM_CAP_NVLINK, "has NVLink (Volta and up)") \
    FAMILY(grace,      SM_CLASS_GRACE,      SM_CAP_GRACE,  "Grace")
// clang-format on
#define FAMILY(name, id, cap, ...) \
    static inline bool sm_is_##name(const SmProfile *p) { return p->class == id || p->caps & (cap); }
SM_FAMILIES(FAMILY)
#undef FAMILY

// True for backends of one of these families: phase 29 may mark a select without the two-pass simplifier.
static inline bool sm_marks_directly(const SmProfile *p)
{
    return sm_is_dual_issue(p) || sm_is_nvlink(p) || sm_is_grace(p);
}

#endif
