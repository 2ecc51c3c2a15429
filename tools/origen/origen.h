// SPDX-License-Identifier: MIT
// Types and functions that the parts of origen share.
//
// A program is written from the top down, function by function, and each instruction is final when it is written. A
// place has a pool of values per class (cut back at the end of each scope), memory that may be accessed (objects), and
// a mask of lanes that arrive. All instructions are written as patterns (code.c).
#ifndef ORIGEN_H
#define ORIGEN_H

#include "ir/base/base.h"

typedef enum Feature {
#define FEATURE(id, ...) FT_##id,
#include "tools/origen/features.def"
    FEATURE_COUNT,
    FT_CORE = FEATURE_COUNT,  // not optional
} Feature;

typedef enum Bank {
#define BANK(id, ...) BANK_##id,
#include "tools/origen/classes.def"
    BANK_COUNT
} Bank;

typedef enum Class {
#define CLASS(id, ...) CLASS_##id,
#include "tools/origen/classes.def"
    CLASS_COUNT
} Class;

typedef enum Style { STYLE_BY_SEED, STYLE_NAIVE, STYLE_OPTIMIZED, STYLE_MIXED } Style;

typedef struct Options {
    uint64_t seed;
    uint32_t size, kernels;  // kernels: 0 = the seed decides
    Style style;
    const char *target;
    uint32_t sm;
    bool on[FEATURE_COUNT + 1];
} Options;

/* -- Tables ------------------------------------------------------------------------------------------------ */

typedef enum Literals { LITERALS_NONE, LITERALS_INT, LITERALS_FLOAT } Literals;

typedef struct ClassInfo {
    char letter;
    Bank bank;
    uint32_t bytes;
    const char *bits, *memory;
    Literals literals;
    const char *one, *view, *canonical_nan;
} ClassInfo;
extern const ClassInfo class_info[CLASS_COUNT];

typedef struct BankInfo {
    const char *prefix, *type;
} BankInfo;
extern const BankInfo bank_info[BANK_COUNT];

typedef struct Flavor {
    Style style;
    uint32_t in_frame;
    bool blocks, generic;
    const char *frame_space, *label, *help;
} Flavor;

/* -- Values, memory, scopes -------------------------------------------------------------------------------- */

// A value lives in a register or in the frame.
typedef struct Value {
    Class cls;
    uint32_t reg;       // number in its bank; 0: the value is in the frame
    uint32_t slot;      // offset in the frame
    uint32_t depth;     // of the scope
    bool braced;        // declared in a nested scope
    bool reassignable;  // may be reassigned
    bool pending;       // has not reached the output
    bool uniform;       // equal in all threads of the CTA
} Value;
typedef VEC(Value *) Pool;

// A register that is free at the end of the scope in which it was made.
typedef struct Reg {
    Bank bank;
    uint32_t number;
} Reg;

typedef enum Space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM } Space;

// Memory that this thread may read and, unless it is constant, write. No other thread writes it meanwhile.
typedef struct Object {
    Space space;
    const char *symbol;  // base of the address: a name (or %SP),
    Value *base;         // or a value
    uint32_t start;      // offset of the object from the base
    uint32_t bytes;      // a multiple of 4
    uint32_t align;      // of its first byte
    const char *type;    // type of the elements; NULL: any
    bool constant;       // never written
    bool fixed;          // accessed only at constant offsets
    bool observed;       // its contents at the end of the scope go into the output
    Space actual_space;  // actual space of a generic object; SPACE_GENERIC: unknown
    bool confined;       // its address is in no variable and not an argument
    bool is_pointer;     // for variables of the module: the symbol holds the address
    uint32_t depth;      // of the scope
} Object;

// A place in an object.
typedef struct Place {
    const Object *object;
    Value *base;      // replaces the base of the object: an indexed address
    uint32_t offset;  // from the base
} Place;

// A literal or a value.
typedef struct Operand {
    Value *value;
    int64_t literal;
} Operand;

typedef struct Loop {
    uint32_t next, end;  // labels: of the latch, and after the loop
    uint32_t lanes;      // lanes that run the loop together; 0: unknown
} Loop;

// A condition with a known value in a scope.
typedef struct KnownCondition {
    Value *predicate;  // NULL: none
    bool holds;
} KnownCondition;

// A condition whose operands later conditions test again (retests.c).
typedef struct Tested {
    bool rare;
    uint32_t form;
    Value *operand[2];
} Tested;

#define ALL_LANES 0xFFFFFFFFu
#define LANES_OF_MASK 0x55555555u  // those of a mask that is a parameter

typedef struct Scope {
    struct Scope *outer;
    uint32_t depth;
    uint32_t values[CLASS_COUNT], objects, spent, repeats;  // sizes at the entry
    uint32_t lanes;    // mask of lanes that arrive, equal in all warps of the CTA; 0: unknown
    const Loop *loop;  // innermost loop
    KnownCondition known;
} Scope;

/* -- The program ------------------------------------------------------------------------------------------- */

// Shared memory with one part for each thread of the CTA.
typedef struct Shared {
    const char *symbol;
    uint32_t stride;  // bytes of one part
    uint32_t start;   // offset of the first one
} Shared;

// A .param variable for arguments or results.
typedef struct Passed {
    const char *name, *declaration;
    bool result;
    uint32_t call;  // the last call that used it
} Passed;

typedef struct Gen Gen;
typedef struct Function Function;
typedef struct FunctionTable FunctionTable;
typedef struct Kernel Kernel;
typedef struct Structure Structure;
typedef struct Holder Holder;

// The current function.
typedef struct Fn {
    char name[24];
    uint32_t number;
    const Flavor *flavor;
    const Kernel *kernel;      // NULL: a device function
    const Function *function;  // NULL: a kernel
    // Values and memory in scope.
    Scope *scope;
    Pool pool[CLASS_COUNT];
    VEC(Object *) objects;
    VEC(Reg) spent;             // registers without values that are free at the end of their scope
    VEC(const char *) repeats;  // patterns that may be repeated
    VEC(Tested) tested;         // conditions, the last one at the end
    // Registers, the frame, names.
    uint32_t regs[BANK_COUNT];                 // registers used so far, by bank
    VEC(uint32_t) free_registers[BANK_COUNT];  // registers that are free again
    Object frame_object;                       // all variables of the frame
    uint32_t frame;                            // bytes
    VEC(uint32_t) free_slots[4];               // free offsets, by the logarithm of their bytes
    uint32_t labels, symbols;
    uint32_t line, column;  // of the last source line; 0: none
    Out declarations;
    TextBuffer declarations_text;
    // State of the place.
    uint32_t count;             // instructions so far
    uint64_t work, work_limit;  // bound of the instructions that a thread executes; its limit
    uint64_t frequency;         // bound of the executions of this place
    const Value *guard;         // guard of the instructions; NULL: none
    bool guard_sense;
    uint32_t dead;        // depth from which scopes are dead code; 0: none
    bool unreachable;     // the place is unreachable
    bool divergent_exit;  // some threads may have ended
    // Results of the function.
    Value *hash, *wide_hash;      // accumulators; the wide one may be NULL
    uint32_t exit;                // label of the end
    void (*store_result)(Gen *);  // stores the results
    Value *thread, *threads;      // index in the CTA; size of the CTA
    VEC(Shared) shared;
    VEC(Structure *) structures;
    Value *first, *index;  // index in the CTA and in the grid, for owner_make(); NULL: unused
    // Device functions only.
    Value *counter;      // of recursive calls that may follow
    Value *mask, *lane;  // parameter that has the lanes that arrive, and one of them; NULL: `lanes` of the scope
    // Calls.
    VEC(Passed) passed;  // variables that several calls share
    // Kernels only.
    const Object *counts;  // words for atomic operations of all threads; NULL: none
    const Object *record;  // part of the output that the thread owns
    uint32_t record_used;  // bytes
} Fn;

struct Gen {
    Options options;
    Arena *arena;
    uint64_t rng;
    bool bare_add;  // float add and sub have no rounding modifier but mul has, or the reverse
    VEC(Function *) functions;
    VEC(Kernel *) kernels;
    VEC(Object *) variables;      // of the module
    VEC(Structure *) structures;  // of the module
    VEC(Holder *) holders;        // of the module: pointers to memory of malloc
    VEC(FunctionTable *) tables;
    VEC(uint32_t) operations;  // usable rows of templates.def
    uint32_t numbers, calls;   // functions and calls so far, with kernels
    uint32_t nfunctions;       // device functions so far
    Fn fn;
    Out body, code, head, front;  // of this function, of all functions, of the module, of prototypes and tables
    Out *to;                      // gets the function
    TextBuffer body_text, code_text, head_text, front_text;
};

/* -- random.c ---------------------------------------------------------------------------------------------- */

// Returns the initial state of a sequence for a seed and purpose.
uint64_t random_start(uint64_t seed, const char *purpose);
uint64_t random_next(uint64_t *state);
uint64_t draw(Gen *g);
uint32_t roll(Gen *g, uint32_t n);  // less than n
uint32_t roll_between(Gen *g, uint32_t least, uint32_t most);
bool chance(Gen *g, uint32_t k, uint32_t n);                      // true k times in n
#define ANY_OF(g, table) (&(table)[roll((g), ARRAY_LEN(table))])  // a pointer to a random element

/* -- features.c -------------------------------------------------------------------------------------------- */

static inline bool has(const Gen *g, Feature f) { return g->options.on[f]; }
void features_by_seed(Options *o);
// Applies a list as --features takes it. On failure returns false, with the reason in `why`.
bool features_apply(Options *o, const char *list, char why[static 200]);
void features_for_target(Options *o);
void features_list(Out *out);                     // prints names and help
void features_print(Out *out, const Options *o);  // prints a list that --features takes

/* -- literal.c --------------------------------------------------------------------------------------------- */

typedef struct Literal {
    char text[32];
} Literal;
Literal literal(Gen *g, Class c);

/* -- values.c: values, registers, scopes ------------------------------------------------------------------- */

Value *value_make(Gen *g, Class c);                     // in a register or the frame, by the flavor; in no pool
Value *value_scratch(Gen *g, Class c);                  // in a register; in no pool
void value_push(Gen *g, Value *v);                      // makes it available until the end of the scope
Value *value_pick(Gen *g, Class c);                     // a value to use; makes one if the pool is empty
bool value_is_available(const Gen *g, const Value *v);  // it is in a pool
Value *value_uniform(Gen *g);                           // one of class R that is equal in all threads; NULL: none
Value *value_assignable(Gen *g, Class c);               // a variable; NULL: none
void scope_enter(Gen *g, Scope *s, uint32_t lanes);
void scope_leave(Gen *g);
uint32_t scope_debt(const Gen *g);  // estimated instructions at the end of the scope
void scope_flush(Gen *g);           // observes all pending values of the scope
uint32_t active_lanes(const Gen *g);

/* -- code.c: patterns -------------------------------------------------------------------------------------- */

enum {
    EXACT = 1,   // any change of an operand changes the result
    LANE = 2,    // the result differs between threads even for equal operands
    WARP = 4,    // requires a known mask of lanes
    WHOLE = 8,   // requires all lanes
    REPEAT = 16  // may be repeated
};
// Writes a pattern and returns its last result (NULL: it has none).
Value *code(Gen *g, const char *pattern, ...);
Value *code_with(Gen *g, uint32_t traits, const char *pattern, ...);
bool code_possible(const Gen *g, uint32_t traits);

/* -- text.c: labels, branches, what is no instruction ------------------------------------------------------ */

uint32_t label_new(Gen *g);
void label_put(Gen *g, uint32_t label);
void jump(Gen *g, uint32_t label);
void branch(Gen *g, const Value *predicate, bool sense, uint32_t label);  // falls through if it is not taken
void source_line(Gen *g);  // writes the source line of the next instructions, by chance
void line(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *text(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));  // in the arena
const char *space_name(Space s);  // with the dot; empty for generic

/* -- observe.c --------------------------------------------------------------------------------------------- */

void observe(Gen *g, Value *v);
Value *canonical_nan_of(Gen *g, Value *v);  // v, or a copy with canonical NaNs if the bits of v must not show
void hash_begin(Gen *g);

/* -- operations.c ------------------------------------------------------------------------------------------ */

void operations_init(Gen *g);
void operation(Gen *g);
void collective_operation(Gen *g);  // one of all lanes that arrive, if the program has any
void make_first_value(Gen *g, Class c);
bool class_on(const Gen *g, Class c);
Class any_class(Gen *g);  // a random class of data

/* -- conditions.c ------------------------------------------------------------------------------------------ */

// Returns a predicate with one definition. Uniform: equal in all threads, as long as all lanes are here.
Value *condition(Gen *g, bool uniform);
Value *rare_condition(Gen *g, bool uniform);  // true for few threads
Value *never_condition(Gen *g);
Operand bound(Gen *g, uint32_t least, uint32_t most, bool uniform, bool literal);

/* -- retests.c --------------------------------------------------------------------------------------------- */

// Return a predicate like condition() and rare_condition(), of operands that an earlier condition had.
Value *retest(Gen *g);
Value *rare_retest(Gen *g);

/* -- statements.c ------------------------------------------------------------------------------------------ */

void block(Gen *g, uint32_t n);  // writes about n instructions
uint32_t part_of(Gen *g, uint32_t n);
typedef void Statement(Gen *g, uint32_t n);
#define STATEMENT(id, feature, weight, least, needs, make, help) Statement make;
#include "tools/origen/statements.def"

/* -- branches.c -------------------------------------------------------------------------------------------- */

// Registers that every arm of a branch defines.
typedef struct Phis {
    Value *at[3];
    uint32_t n;
    bool twins;  // they get equal values
} Phis;
Phis phis_begin(Gen *g);
void phis_set(Gen *g, const Phis *phis);  // at the end of an arm
void phis_end(Gen *g, const Phis *phis);
// Writes a scope under a condition. May_end: it may end in a break or continue.
void arm(Gen *g, uint32_t n, uint32_t lanes, KnownCondition known, bool may_end, const Phis *phis);
uint32_t lanes_of_arms(Gen *g);  // lanes that take the branch together, by chance; 0: it depends on the thread

/* -- memory.c ---------------------------------------------------------------------------------------------- */

typedef struct Access {
    const char *type;
    uint32_t bytes;
    Class cls;
} Access;

// An access, and the number of elements of its vector.
typedef struct Move {
    const Access *access;
    uint32_t n;
} Move;

Object *object_push(Gen *g, Object o);                                     // adds it until the end of the scope
const Object *object_with_address(Gen *g, bool to_write, uint32_t bytes);  // any; NULL: none
Place place_in(Gen *g, const Object *o, uint32_t bytes);                   // a random place, aligned to `bytes`
Move move_pick(Gen *g, const Object *o, uint32_t most);                    // of at most `most` bytes
static inline uint32_t move_bytes(Move m) { return m.n * m.access->bytes; }
void load_at(Gen *g, Move m, const Place *p);
void store_at(Gen *g, Move m, const Place *p);
void load_from(Gen *g, const Object *o);
void store_to(Gen *g, const Object *o);
void store_all(Gen *g, const Object *o);                   // stores to all bytes
void load_all(Gen *g, const Object *o);                    // loads all bytes
void address_of(Gen *g, const Object *o, Value *address);  // address in its own space
void generic_address_of(Gen *g, const Object *o, Value *address);

/* -- pointers.c -------------------------------------------------------------------------------------------- */

// Makes an object of the bytes of `o` from `skip` on, a multiple of 4. A register has its address.
const Object *object_from(Gen *g, const Object *o, uint32_t skip);

/* -- graph.c, calls.c, kernels.c --------------------------------------------------------------------------- */

void functions_make(Gen *g);
void functions_print(const Gen *g, Out *out);  // prints those that are defined behind the kernels
void call_remaining(Gen *g);                   // calls the functions without a call so far
void kernels_make(Gen *g);
typedef enum Number { THREAD, THREADS, CTA } Number;
// Returns an index in grids and blocks: of the thread in its CTA, of the CTA; or the number of threads of a CTA.
Value *number_make(Gen *g, bool cube, Number which);
// Adds a part of a shared variable for each thread, and stores to this thread's part.
void shared_add(Gen *g, const char *symbol, uint32_t stride);

/* -- fields.c ---------------------------------------------------------------------------------------------- */

void structures_make(Gen *g);   // declares those of the module
void structures_begin(Gen *g);  // initializes those in .shared, at the beginning of a kernel
void structures_enter(Gen *g);  // makes them accessible in the function, and declares one of its own

// Makes the index that owner_make() tests.
void owner_index_make(Gen *g, Space space);
// Returns a predicate that holds in the first thread of the CTA for .shared, of the grid for others.
Value *owner_make(Gen *g, Space space);

/* -- mallocs.c --------------------------------------------------------------------------------------------- */

void mallocs_make(Gen *g);   // declares holders of the module
void mallocs_begin(Gen *g);  // calls malloc, at the beginning of a kernel
void mallocs_enter(Gen *g);  // makes the holders accessible in the function
void mallocs_end(Gen *g);    // calls free, at the end of a kernel

/* -- variables.c, program.c, launches.c -------------------------------------------------------------------- */

void variables_make(Gen *g);
// Declares a read-only table with initial values.
Object table_print(Gen *g, Out *out, const char *name, bool of_module);
void variables_enter(Gen *g);  // makes the variables objects of the function
void fn_begin(Gen *g, const char *name, const Kernel *kernel, uint32_t size);
void fn_print(Gen *g);  // prints declarations and body, in braces
void text_begin(Gen *g, Out *out, TextBuffer *text);
void text_print(Out *out, const TextBuffer *text);
void program_make(Gen *g);
void program_print(const Gen *g, Out *out);
void launches_print(Gen *g, Out *out, const char *file);  // file: the name of the program

#endif
