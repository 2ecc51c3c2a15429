// SPDX-License-Identifier: MIT
// The members that backends share: passes that do nothing, and queries that are sound for all backends. Also the table
// of members.
#include "sm/sm_internal.h"

/* -- Passes --------------------------------------------------------------------------------------------- */

// The two bodies differ, so that a linker that merges equal functions keeps two addresses.
bool sm_no_op_pass(Ctx *ctx, Fn *fn) { return (void)ctx, (void)fn, false; }

bool sm_not_yet_pass(Ctx *ctx, Fn *fn) { return sm_no_op_pass(ctx, fn); }

/* -- Queries -------------------------------------------------------------------------------------------- */

// Orders value numbers ascending, so that `a + b` and `b + a` have the same key.
bool sm_shared_swap_operands(const Fn *fn, const Instr *i, uint32_t first, uint32_t second)
{
    return ir_desc(fn, i)->traits & TR_COMM && first > second;
}

bool sm_shared_rewrite_chain(const Fn *fn, const BlockId entry[static 3]) { return (void)fn, (void)entry, false; }

bool sm_rewrites_chains(const Fn *fn, const BlockId entry[static 3])
{
    return (void)fn, entry[0] != entry[2] && entry[1] != entry[2];
}

// Counts a packed pair as one element, and a predicate as a byte.
uint32_t sm_shared_operand_bytes(const Fn *fn, const Instr *i)
{
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    return m->ntypes ? (width_bits(type_info[m->type[0]].width) + 7) / 8 : 0;
}

uint32_t sm_shared_fold_info(const Fn *fn, const Instr *i) { return (void)fn, (void)i, 0; }

bool sm_shared_marks_predicates(const Fn *fn) { return (void)fn, false; }

// The documented sentinel: the result depends only on the kinds of the operands.
bool sm_shared_refuses_source(const Fn *fn, const Instr *i) { return (void)fn, (void)i, false; }

uint64_t sm_shared_class_mask(const Fn *fn, const Instr *i) { return (void)fn, (void)i, 0; }

uint64_t sm_shared_class_mask_more(const Fn *fn, const Instr *i) { return (void)fn, (void)i, 0; }

bool sm_shared_common_over_barrier(const Fn *fn, const Instr *i) { return (void)fn, (void)i, false; }

/* -- Members -------------------------------------------------------------------------------------------- */

const SmMember sm_members[SM_MEMBER_COUNT] = {
#define KNOWN false
#define INFERRED true
#define PASS(member, slot, row, common, from, document, text) \
    [SM_AT_##member] = {#member, slot, row, from, document, text},
    SM_PASSES(PASS)
#undef PASS
#define QUERY(member, slot, type, shared, from, document, text) \
    [SM_AT_##member] = {#member, slot, -1, from, document, text},
        SM_QUERIES(QUERY)
#undef QUERY
};

// A duplicate row in the table does not compile.
SmPass *sm_pass(const SmBackend *backend, int row)
{
    switch (row) {
#define PASS(member, slot, row, ...) \
    case row: return backend->member;
        SM_PASSES(PASS)
#undef PASS
    default: return NULL;
    }
}

SmStatus sm_status(const SmBackend *backend, int member)
{
    if (member < SM_PASS_COUNT) {
        SmPass *pass = sm_pass(backend, sm_members[member].row);
        return pass == sm_no_op_pass ? SM_NO_OP : pass == sm_not_yet_pass ? SM_NOT_YET : SM_IMPLEMENTED;
    }
    switch (member) {
#define QUERY(member, slot, type, shared, ...) \
    case SM_AT_##member: return backend->member == sm_shared_##member ? SM_##shared : SM_IMPLEMENTED;
        SM_QUERIES(QUERY)
#undef QUERY
    default: return SM_NOT_YET;
    }
}

const char *sm_status_name(SmStatus status)
{
    static const char *const names[] = {"implemented", "no-op", "not-yet"};
    return names[status];
}
