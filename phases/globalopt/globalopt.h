// SPDX-License-Identifier: MIT
// Variables of the module that GlobalOpt may change, their accesses, and the strategies.
#ifndef ORI_GLOBALOPT_H
#define ORI_GLOBALOPT_H

#include "ir/analysis/local_memory.h"
#include "ir/rewrite/rewrite.h"
#include "phases/manager/remarks.h"
#include "phases/module/module.h"

typedef enum {
    GV_OPEN,      // other code may name it: never changed
    GV_OWN,       // `.shared`, neither `.extern` nor `.visible`: only code of the module names it
    GV_INTERNAL,  // the same for `.global` and `.const`, since the user says so (--internalize)
} GlobalClass;

// Why no strategy may change a variable.
typedef enum {
    OB_NONE,
    OB_ESCAPES,   // its address escapes
    OB_OUTSIDE,   // an access is outside of it, which is undefined
    OB_LAYOUT,    // some code depends on the layout of `.shared`
    OB_FUNCTION,  // a function that may not change names it
} Obstacle;

// An instruction that may access a variable.
typedef struct GlobalAccess {
    uint32_t fn;          // index of the function
    InstrId instr;        // ld, ldu, st, atom or red
    uint64_t first, end;  // the bytes that it may access are first .. end - 1
    bool exact;           // it accesses just these bytes
    bool ordered;         // it is volatile, atomic, acquire or release
    bool reads, writes;   // both: atom or red
    DescId direct;        // its descriptor with a symbol of the variable's space as base; 0 = the base must stay
    uint32_t next;        // the next access to the same variable; 0 = none
} GlobalAccess;

typedef struct Global {
    SymId sym;
    uint32_t owner;  // index of the function that declares it, plus 1; 0 = the module
    GlobalClass class;
    Obstacle obstacle;
    uint32_t access, last;  // its first and last access, in the order of functions and instructions; 0 = none
    uint32_t naccesses;
    bool ordered;  // some access is
    bool masked;   // an `or` depends on its alignment
    SymId part;    // the first of `nparts` variables that replace it
    uint32_t nparts;
    bool gone;                     // it is removed at the end of the round
    uint32_t naming, last_naming;  // the first and last instruction that names it; 0 = none
    const char *missed, *because;  // a remark on why strategy C leaves it; NULL = none
} Global;

// An instruction that names a variable as its first use.
typedef struct Naming {
    uint32_t fn;
    InstrId instr;
    uint32_t next;  // the next one of the variable; 0 = none
} Naming;

typedef struct Globals {
    Ctx *ctx;
    Module *m;
    Knobs *knobs;  // settings of the module
    Arena scratch;
    ModuleNames names;      // of the module and its functions, made at the first use
    ModuleNames own_names;  // of the function with the index names_owner - 1
    uint32_t names_owner;
    VEC(Global) at;              // from 1
    VEC(GlobalAccess) accesses;  // from 1
    VEC(Naming) namings;         // from 1
    uint32_t *of_module;         // by SymId: index in `at`; 0 = none
    uint32_t **of_local;         // by function: the same by local symbol, NULL = it declares none
    bool *changed, *cluttered;   // by function; cluttered: it has unused addresses of variables
    bool first;                  // the first round
    bool again;                  // another round may find more
    bool fields;                 // strategy B made variables in this round
    bool promoted;               // some function lost variables in local memory
    bool shows_layout;           // some code depends on the layout of `.shared`
} Globals;

// Returns the symbol of a variable or of a part of it.
static inline Sym *part_sym(const Globals *g, const Global *v, SymId sym)
{
    return v->owner ? ir_sym(g->m->fns.at[v->owner - 1], sym) : &g->m->syms.at[sym];
}
static inline Sym *global_sym(const Globals *g, const Global *v) { return part_sym(g, v, v->sym); }
static inline Tables *global_tables(const Globals *g, const Global *v)
{
    return v->owner ? g->m->fns.at[v->owner - 1]->tables : &g->m->tables;
}
// Sets the remark on why strategy C leaves a variable. NULL: the remark stays.
static inline void global_stays(Global *v, const char *missed, const char *because)
{
    v->missed = missed ? missed : v->missed;
    v->because = missed ? because : v->because;
}
#define FOR_ACCESSES(g, v, k) for (uint32_t k = (v)->access; k; k = (g)->accesses.at[k].next)
#define FOR_NAMINGS(g, v, k) for (uint32_t k = (v)->naming; k; k = (g)->namings.at[k].next)

/* variables.c */
// Finds the variables, and the accesses of those that strategies may change.
void globals_find(Globals *g);
// Returns the constant that a register always holds: only a move of it defines the register. Otherwise returns the
// operand itself.
Operand constant_operand(Fn *fn, Operand o);
// Reports a rewrite of a variable, or why there is none.
void global_remark(Globals *g, const Global *v, RemarkKind kind, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

// Reports why variables stay.
void globals_report(Globals *g);

// Removes a variable whose accesses were removed, at once or, if some code still has its address, in the next round.
// Clears its list of accesses, so that no later strategy of the round changes them again.
void global_lose_accesses(Globals *g, Global *v);

// Ends what phase_enter() began, without remarks of sub-passes that the plan runs again.
void global_leave(Globals *g, Fn *fn, Arena *arena);

/* parts.c */
// Makes a variable of the same kind, at the same place and with the same initial value, that is not visible. Its name
// is NAME with the suffix and the number, or a similar one that is not taken.
SymId part_new(Globals *g, const Global *v, const char *suffix, uint32_t number);
// Returns a name for a symbol or label of a function: the stem and the number, or a similar one that is not taken.
Name local_name(Globals *g, uint32_t fn, const char *stem, uint32_t number);
// Makes a parameter of calls like another one of the function.
SymId param_new(Globals *g, uint32_t fn, SymId like);
// Gives a register of a function the name NAME with the suffix and the number, which Ori text shows. A register of the
// module or of a formal keeps its name.
void part_show(const Globals *g, const Global *v, Fn *fn, RegId r, const char *suffix, uint32_t number);
// Makes the flag NAME.init of a variable: a byte in the same space, without an initial value.
SymId flag_new(Globals *g, const Global *v);
// Returns the descriptor of a load or store of this flag.
DescId flag_access(const Globals *g, const Global *v, Fn *fn, Opcode op);
// Inserts an instruction with at most five operands before another one, with its line, and with its guard if `guarded`.
void insert_beside(Fn *fn, InstrId at, DescId desc, const Operand *ops, uint32_t n, bool guarded);

/* constants.c */
// Returns the initial value of at most 8 bytes of a variable.
uint64_t initial_value(const Sym *s, uint64_t first, uint32_t bytes);
// Returns the size of an access, or of an element of a vector.
uint32_t element_bytes(const Fn *fn, const GlobalAccess *access);
// True if an exact store writes a constant as element k, which is then returned in *value.
bool stored_constant(Fn *fn, const GlobalAccess *access, uint32_t k, uint64_t *value);
// True if moves can define all results of a load.
bool load_is_replaceable(const Fn *fn, const Instr *i);
// Returns the size of a variable with the padding to its alignment, in bits.
uint64_t padded_bits(const Sym *s);
// Replaces loads of variables that keep their initial values; returns progress.
bool globals_place_constants(Globals *g);

/* flags.c */
// Replaces variables that hold one of two values by a flag; returns progress.
bool globals_make_flags(Globals *g);

/* fields.c */
// Consecutive bytes that accesses connect.
typedef struct Field {
    uint64_t first, end;
    uint32_t align;  // the greatest that an access requires
    bool read;
    SymId sym;  // the new variable; 0 = none
} Field;
// Merges fields that overlap, and aligns them for their accesses. Returns the number of fields, which are ascending.
uint32_t fields_merge(Field *at, uint32_t n);
// Returns the field of a byte.
Field *field_at(Field *at, uint32_t n, uint64_t byte);

/* split.c */
// Splits variables into fields; returns progress.
bool globals_split(Globals *g);

/* malloc.c */
// Replaces memory of malloc by variables; returns progress.
bool globals_replace_malloc(Globals *g);

/* malloc_fields.c */
// Splits memory of malloc into memory for each field, if no other strategy made progress in the round; returns
// progress.
bool globals_split_malloc(Globals *g);

#endif
