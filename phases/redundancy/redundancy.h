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
    RD_EXPRESSIONS = 1 << 0,     // pure instructions
    RD_COPIES = 1 << 1,          // moves of registers
    RD_PHIS = 1 << 2,            // phis that equal another phi or their inputs
    RD_LOADS = 1 << 3,           // loads, by an earlier load or store
    RD_CONSTANT_LOADS = 1 << 4,  // loads of read-only memory
    RD_PARTIAL_LOADS = 1 << 5,   // with RD_LOADS: also loads that are redundant on some paths (load_pre.h)
    RD_CONVERGENT = 1 << 6,      // shfl, vote, match and redux, by `number`
};

// The result of a test, and of a candidate: replaced, or the reason why not.
typedef enum {
    RV_REPLACED,
    RV_NOT_DOMINATED,  // no definition of the value dominates it
    RV_SCOPE,          // the phase replaces it in a smaller scope only
    RV_PRESSURE,       // the value would be kept in a register for it
    RV_GUARD,          // the guards differ
    RV_OTHER
} Verdict;

// Decides whether a register, whose definition dominates the instruction `id`, may replace a result of it.
typedef Verdict RedundancyTest(Redundancy *r, RegId leader, InstrId id);

typedef struct RedundancyRules {
    uint32_t kinds;           // RD_*
    uint32_t watched;         // RD_*: other kinds, found but not replaced: they only set Redundancy.left
    int budget;               // knob: maximum number of instructions that are replaced; -1 = none
    RedundancyTest *permits;  // NULL = all
    ValuesVisit *number;      // numbers an instruction; NULL = redundancy_number()
    void (*report)(Redundancy *r, InstrId id, RegId leader, Verdict verdict);  // of each candidate; NULL = none
    void (*finish)(Redundancy *r);  // before the function is rewritten; NULL = none
    void *user;                     // of these functions
    bool plain;                     // `number` is not called for instructions that values_solve() numbers
    struct Pressure *pressure;      // for RD_PARTIAL_LOADS
} RedundancyRules;

// Returns the kinds that are found.
static inline uint32_t kinds_found(const RedundancyRules *rules) { return rules->kinds | rules->watched; }

// A register with the number of an earlier one that was not replaced.
typedef struct Member {
    RegId reg;
    uint32_t below;  // the member before it, index in `members`, 0 = none
} Member;

// A result of an instruction that equals the low bytes of an operand, extended. A move can replace the instruction.
typedef struct Copy {
    InstrId instr;
    uint32_t result;
    Operand from;
    uint32_t bytes;  // 0: `from` may replace the register, where that has a defined value
    bool is_signed;
} Copy;

// A move that replaces an instruction.
typedef struct PlannedMove {
    InstrId instr;
    AccessMove move;
} PlannedMove;

// An element of a load.
typedef struct LoadElement {
    InstrId load;
    uint32_t index;
    Operand def;
    int64_t offset;  // that of the place, moved to the element
    uint32_t bytes;
    bool is_signed;
    Width width;  // of the register
} LoadElement;

// A load, and the newest version that may have written its bytes.
typedef struct NumberedLoad {
    InstrId instr;
    MemVersionId version;
} NumberedLoad;

struct Redundancy {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    const RedundancyRules *rules;
    Arena scratch;
    Values values;
    ReplaceMap map;
    uint32_t pass;              // of values_solve(), to which `candidates` belongs
    VEC(InstrId) candidates;    // instructions with a result that has the number of another one, in dominance order
    const MemVersions *memory;  // NULL: not needed yet
    AccessPlaces places;
    ValueTable bytes;         // values of places; the value of an entry is a register
    VEC(NumberedLoad) loads;  // for RD_PARTIAL_LOADS, in dominance order
    bool partial;             // some of them may be redundant on some paths
    bool left;                // an instruction of a watched kind is redundant
    VEC(Copy) copies;         // in dominance order
    uint32_t next_copy;       // index in `copies`
    VEC(PlannedMove) moves;
    VEC(Member) members;    // from 1
    uint32_t *top;          // by representative: the last member whose block may dominate the next blocks
    RegId leader;           // of the current candidate
    Verdict verdict;        // the same
    uint32_t replaced;      // number of instructions
    VEC(InstrId) removed;   // the instructions that are replaced by operands
    VEC(RegId) read;        // their operands
    bool guards;            // a predicate was replaced
    bool constants;         // a register was replaced by a constant
    const uint64_t *masks;  // for LateOriCommoning: classes of instructions by BlockId; NULL = not computed yet
    uint8_t *other_uses;    // by RegId: it has a use that is no 64-bit sum; NULL = not computed yet
    bool splits;            // an edge was split
    bool sequence_known;    // `same_sequence` is computed
    bool same_sequence;     // all_run_same_collectives()
};

/* late_commoning.c */
// Returns the classes of an instruction, as bits of a mask.
uint64_t late_commoning_classes(const Ctx *ctx, const Fn *fn, const Instr *i);

/* loads.c */
void loads_init(Redundancy *r);
// Numbers a load. *known: a result has the number of another register. False: the instruction is no load whose value
// can be known; then it is not numbered. Requests AN_MEM for loads of memory that may change.
bool loads_number(Redundancy *r, InstrId id, bool *known);
// True if the load reads a version that is a phi, or is in a block with several predecessors.
bool load_may_be_partial(const Redundancy *r, const NumberedLoad *load);
// Returns element k of a load of this place.
LoadElement load_element(const Fn *fn, InstrId id, uint32_t k, const AccessPlace *place);
// Returns an operand whose low bytes equal those of an element of a place, under a version that mem_clobber() returned:
// the stored value, or the first register that was loaded from these bytes. K_NONE = there is none. *whole: the element
// equals the operand.
Operand loads_find(Redundancy *r, const AccessPlace *place, const LoadElement *e, MemVersionId version, bool *whole);

/* missed.c */
// Adds a remark on a candidate, as RedundancyRules.report.
void redundancy_remark(Redundancy *r, InstrId id, RegId leader, Verdict verdict);
// Adds remarks on instructions that repeat an earlier one, but are no candidates: MayAlias, Barrier, Guard, Convergent.
// Called before the function is rewritten, if remarks are wanted.
void redundancy_explain(Redundancy *r);

/* redundancy.c */
// Numbers an instruction, and notes it as a candidate if it is redundant. `redundancy` is a Redundancy.
void redundancy_number(void *redundancy, InstrId id);
// Numbers each result of an instruction by itself, so that it is no candidate.
void redundancy_number_apart(void *redundancy, InstrId id);
// Notes an instruction as a candidate: a result has the number of another register, or there are copies of it.
void redundancy_note(Redundancy *r, InstrId id);
// Notes that an operand can replace a result of an instruction by a move.
void redundancy_note_copy(Redundancy *r, const Copy *copy);
// Replaces all redundant instructions that the rules permit. Returns the number of replaced instructions. *moves = the
// number of moves in their place, *left = a watched kind is redundant; NULL = not wanted. AN_FLOW and AN_DEF stay
// valid, unless load_pre() splits an edge: then all analyses are dropped. Requests AN_RPO, AN_DOM, AN_DEF and, for
// loads, AN_MEM.
uint32_t redundancy_eliminate(Ctx *ctx, Fn *fn, const RedundancyRules *rules, uint32_t *moves, bool *left);
// Returns all_run_same_collectives() of the function, computed once.
bool redundancy_all_run_same(Redundancy *r);
// True for a 64-bit shift by a constant that only 64-bit sums use. ptxas makes one instruction (LEA) of each shift with
// its sum, so two equal ones cost less than a shared one.
bool redundancy_scales_sums(Redundancy *r, const Instr *shl);
static inline bool redundancy_scales(Redundancy *r, const Instr *i)
{
    return ir_desc(r->fn, i)->op == OP_SHL && redundancy_scales_sums(r, i);
}
// True if ptxas makes many machine instructions of an instruction.
bool is_expensive(const Fn *fn, const Instr *i);

/* opcode_list.c */
// Adds the opcodes of a list of mnemonics to a set by Opcode, NULL = only checks the list. False: `why` names the entry
// that is no mnemonic.
bool opcodes_find(const char *list, bool *set, char why[static 500]);
// Returns the set that the value of a knob lists, in memory of the arena; NULL = the knob is not set.
const bool *opcodes_of_knob(Ctx *ctx, KnobId knob, Arena *arena);

#endif
