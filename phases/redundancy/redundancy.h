// SPDX-License-Identifier: MIT
// Redundancy elimination over value numbers (ir/analysis/values.h): what OriCommoning, GvnCse, OriReassociateAndCommon
// and LateOriCommoning share.
#ifndef ORI_REDUNDANCY_H
#define ORI_REDUNDANCY_H

#include "ir/analysis/local_memory.h"
#include "ir/analysis/memory_versions.h"
#include "ir/analysis/values.h"
#include "ir/rewrite/rewrite.h"
#include "phases/phase.h"

typedef struct Redundancy Redundancy;

// Kinds of instructions that are replaced.
enum {
    RD_EXPRESSIONS = 1 << 0,  // pure instructions
    RD_COPIES = 1 << 1,       // moves of registers
    RD_PHIS = 1 << 2,         // phis that equal another phi or their inputs
    RD_LOADS = 1 << 3,        // loads, by an earlier load or store
};

// True if a leader, the instruction that defines the value, may replace the instruction `id`, whose block it dominates.
typedef bool RedundancyTest(Redundancy *r, InstrId leader, InstrId id);

typedef struct RedundancyRules {
    uint32_t kinds;           // RD_*
    int budget;               // knob: maximum number of instructions that are replaced; -1 = none
    RedundancyTest *permits;  // NULL = all
    ValuesVisit *number;      // numbers an instruction; NULL = redundancy_number()
    void *user;               // of both
} RedundancyRules;

// A register with the number of an earlier one that was not replaced.
typedef struct Member {
    RegId reg;
    uint32_t below;  // the member before it, index in `members`, 0 = none
} Member;

// A loaded element that equals the low bytes of an operand, extended. A move can replace it.
typedef struct NarrowCopy {
    InstrId load;
    uint32_t element;
    Operand from;
    uint32_t bytes;
    bool is_signed;
} NarrowCopy;

typedef struct LoadMove {
    InstrId load;
    AccessMove move;
} LoadMove;

struct Redundancy {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    const RedundancyRules *rules;
    Arena scratch;
    Values values;
    ReplaceMap map;
    uint32_t pass;           // of values_solve(), to which `candidates` belongs
    VEC(InstrId) candidates;  // instructions with a result that has the number of another one, in dominance order
    const MemVersions *memory;
    AccessPlaces places;
    VEC(NarrowCopy) narrow;   // in dominance order
    uint32_t next_narrow;     // index in `narrow`
    VEC(LoadMove) moves;      // that replace loads
    VEC(Member) members;      // from 1
    uint32_t *top;            // by representative: the last member whose block may dominate the next blocks
    bool guards;              // a predicate was replaced
    uint32_t replaced;        // number of instructions
};

/* loads.c */
// Requests AN_MEM.
void loads_init(Redundancy *r);
// Numbers a load. *known: a result has the number of another register. False: the instruction is no load whose value can
// be known; then it is not numbered.
bool loads_number(Redundancy *r, InstrId id, bool *known);

/* redundancy.c */
// Numbers an instruction, and notes it as a candidate.
void redundancy_number(void *redundancy, InstrId id);
// Notes an instruction as a candidate, of whose results one was just given the number of another register.
void redundancy_note(Redundancy *r, InstrId id);
// Replaces all redundant instructions that the rules permit. Adds to *replaced and *moves the numbers of instructions
// that were replaced and of moves that remain in their place; NULL = not wanted. Returns progress; AN_FLOW and AN_DEF
// stay valid. Requests AN_RPO, AN_DOM and AN_DEF.
bool redundancy_eliminate(Ctx *ctx, Fn *fn, const RedundancyRules *rules);
// True if ptxas makes many machine instructions of an instruction.
bool is_expensive(const Fn *fn, const Instr *i);

#endif
