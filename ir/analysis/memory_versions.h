// SPDX-License-Identifier: MIT
// Memory versions, AN_MEM: memory as variables of ssa form (MemorySSA), and places that accesses reach.
//
// Memory is split into classes. A class is a variable of a state space whose accesses are known, or all other memory of
// a state space (shared::cluster belongs to shared), or memory that generic loads read. Each class is one variable in
// ssa form: instructions that may write it define a new version, and versions meet at phis.
//
// Two plain loads of one class that read the same version at equal addresses read the same bytes if one of them
// dominates the other. Guards and the extension of narrow loads are the caller's concern.
#ifndef ORI_MEMORY_VERSIONS_H
#define ORI_MEMORY_VERSIONS_H

#include "ir/analysis/analysis.h"

// The number of a version, unique over all classes. MEM_CONSTANT is the only version of read-only memory.
typedef uint32_t MemVersionId;
#define MEM_CONSTANT 0
#define MEM_UNKNOWN UINT32_MAX

enum { MEM_CLASSES_MAX = 32, MEM_VARIABLES_MAX = 8 };  // variables: in each state space; others have no class

typedef enum {
    MV_ENTRY,  // the version at the start of the function
    MV_PHI,    // versions meet at the start of `block`
    MV_STORE,  // `def` is a plain store, which may write the class
    MV_KILL    // `def` may write the class in another way, or orders memory
} MemVersionKind;

typedef struct MemVersion {
    uint16_t kind;       // MemVersionKind
    uint16_t class;      // index of its class
    BlockId block;       // that of `def` or of the phi
    InstrId def;         // 0: an entry or a phi
    MemVersionId prev;   // the version before `def`; of a phi of the entry block: the entry version; else MEM_UNKNOWN
    uint32_t inputs, n;  // of a phi: input[inputs ...] of MemVersions, one for each edge in the block's row of AN_CFG
} MemVersion;

// A class of memory. A load of the class reads no other memory.
typedef struct MemClass {
    Space space;  // SP_GENERIC: what generic loads read
    SymId sym;    // 0 = all memory of the space without a class of its own
} MemClass;

typedef struct MemVersions {
    const Fn *fn;
    MemClass class[MEM_CLASSES_MAX];
    uint32_t nclasses;        // 0: no load reads a version, and the tables below are NULL
    MemVersionId *of_load;    // by InstrId, for the first ninstrs instructions
    MemVersionId *at_end;     // by BlockId * nclasses + class; MEM_UNKNOWN for unreachable blocks
    MemVersionId *first_phi;  // by BlockId: the first phi of the block, the others follow; 0 = none
    MemVersion *version;      // from 1; the entry version of class k is k + 1
    MemVersionId *input;      // of phis; MEM_UNKNOWN from an unreachable predecessor
    uint32_t nversions, ninputs, ninstrs;
} MemVersions;

/* memory_versions.c */
// Makes AN_MEM of a function valid and returns its result.
const MemVersions *mem_versions_of(Fn *fn);
// True for a load of memory that no thread writes while the kernel runs. Such a load has the version MEM_CONSTANT.
bool mem_reads_constant(const Fn *fn, const Instr *i);
// Returns the version that an instruction reads: MEM_CONSTANT for read-only memory (TR_RDONLY, and parameters of
// kernels by name). MEM_UNKNOWN: it is no load, or its result may not be reused, or no other access shares its class.
MemVersionId mem_version_of_load(const MemVersions *m, InstrId id);
static inline const MemVersion *mem_version(const MemVersions *m, MemVersionId v) { return &m->version[v]; }
// Return the version of a class at the start of a reachable block (with AN_DOM), and at the end of any block.
MemVersionId mem_version_at_start(const MemVersions *m, const Analyses *a, uint32_t class, BlockId b);
static inline MemVersionId mem_version_at_end(const MemVersions *m, uint32_t class, BlockId b)
{
    return m->at_end[(size_t)b * m->nclasses + class];
}

/* -- Places of accesses ------------------------------------------------------------------------------------- */

// The bytes that a plain ld, ldu or st accesses: [root + offset, root + offset + bytes) in a state space.
typedef struct AccessPlace {
    Operand root;    // a register, a symbol, or none: `offset` is the address
    int64_t offset;  // modulo 2^64; of a root of 32 bits: added to its value as the instruction does
    uint32_t bytes;  // 0: no plain access
    Space space;
    bool inside;  // the root is a symbol, and the bytes lie within it
} AccessPlace;

/* access_place.c */
// Returns the place of a plain access, with bytes = 0 for other instructions. Follows moves, addresses of symbols, and
// 64-bit sums with constants from the address to the root, through the single definitions of AN_DEF. Sums of 32 bits
// may wrap, so they are roots.
AccessPlace access_place(const Fn *fn, const Analyses *a, InstrId id);
// Returns the place at the same distance from another operand, and follows its definitions as access_place() does.
AccessPlace access_place_at(const Fn *fn, const Analyses *a, const AccessPlace *place, Operand root);
// Returns the representative of a root.
typedef Operand OperandKey(const void *user, Operand o);
// True if the places have no byte in common. `representative` maps roots; NULL = each register represents itself.
// Registers with one representative must have equal values wherever both are available.
bool places_disjoint(const AccessPlace *x, const AccessPlace *y, OperandKey *representative, const void *user);
// True if the places are the same bytes.
bool places_equal(const AccessPlace *x, const AccessPlace *y, OperandKey *representative, const void *user);

// Places that have been computed, for repeated queries. Valid as long as no address changes.
typedef struct AccessPlaces {
    const Fn *fn;
    const Analyses *a;  // with AN_DEF
    Arena *arena;
    OperandKey *representative;  // as in places_disjoint()
    const void *user;
    uint32_t *index;  // by InstrId: index in `known`, 0 = not computed
    uint32_t ninstrs;
    Seg known;  // of AccessPlace, from 1
} AccessPlaces;
void access_places_init(AccessPlaces *p, Arena *arena, const Fn *fn, const Analyses *a, OperandKey *representative,
                        const void *user);
AccessPlace access_place_of(AccessPlaces *p, InstrId id);

enum { CLOBBER_STEPS = 32 };  // limit of mem_clobber()
// Returns the newest version, from `v` back, whose definition may have written the bytes of a load that reads `v`.
// Passes stores to disjoint places, at most CLOBBER_STEPS. Two loads of equal places with the same result read the same
// bytes. If the result is a store to an equal place, the load reads the stored value.
MemVersionId mem_clobber(const MemVersions *m, AccessPlaces *p, InstrId load, MemVersionId v);
// The same for a load of a place that is read where `v` is the version of its class.
MemVersionId mem_clobber_of_place(const MemVersions *m, AccessPlaces *p, const AccessPlace *read, MemVersionId v);

#endif
