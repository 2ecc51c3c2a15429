// SPDX-License-Identifier: MIT
// What the parts of origen know of one another.
//
// A program is written from the top down, function by function, and each instruction is final when it is written. What
// is known at a place is known by construction: which values there are (a pool per class, cut back at the end of each
// scope), which memory may be touched (objects), and which lanes are there. Everything is said in patterns (code.c).
#ifndef ORIGEN_H
#define ORIGEN_H

#include "ir/base/base.h"

typedef enum Feature {
#define FEATURE(id, ...) FT_##id,
#include "tools/origen/features.def"
    FEATURE_COUNT,
    FT_CORE = FEATURE_COUNT,  // what is always there
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
    const char *one, *view, *one_nan;
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

/* -- What there is at a place ------------------------------------------------------------------------------ */

// A value lives in a register or in the frame.
typedef struct Value {
    Class cls;
    uint32_t reg;    // number in its bank; 0: in the frame
    uint32_t slot;   // offset in the frame
    uint32_t depth;  // of its scope
    bool braced;     // the register is declared in a nested scope
    bool changes;    // may be assigned again
    bool pending;    // nothing on the way to the output has taken it in
    bool uniform;    // the same in all threads of the CTA
} Value;
typedef VEC(Value *) Pool;

// A register whose scope ends with the scope in which it was made.
typedef struct Reg {
    Bank bank;
    uint32_t number;
} Reg;

typedef enum Space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM } Space;

// Memory that this thread may read and, unless it is constant, write: nobody else does meanwhile.
typedef struct Object {
    Space space;
    const char *symbol;  // what the address counts from: a name (or %SP),
    Value *base;         // or a value
    uint32_t start;      // offset of the object from there
    uint32_t bytes;      // a multiple of 4
    uint32_t align;      // of its first byte
    const char *type;    // what it holds, as far as that matters; NULL: anything
    bool constant;       // nobody writes it
    bool fixed;          // only at constant offsets
    bool watched;        // what is in it at the end of its scope goes into the output
    Space home;          // where it lies, if the space is generic and that is known
    bool is_pointer;     // of variables of the module: the symbol holds the address
    uint32_t depth;      // of its scope
} Object;

// A place in an object.
typedef struct Place {
    const Object *object;
    Value *base;      // instead of the object's: an address that an index went into
    uint32_t offset;  // from there
} Place;

// A literal or a value.
typedef struct Operand {
    Value *value;
    int64_t literal;
} Operand;

typedef struct Loop {
    uint32_t next, end;  // labels: of the next turn, behind the loop
    uint32_t lanes;      // that run it together; 0: not known
} Loop;

// A condition that holds, or does not, all through a scope.
typedef struct Fact {
    Value *predicate;  // NULL: none
    bool holds;
} Fact;

#define ALL_LANES 0xFFFFFFFFu

typedef struct Scope {
    struct Scope *outer;
    uint32_t depth;
    uint32_t values[CLASS_COUNT], objects, spent, repeats;  // what there was before
    uint32_t lanes;    // the mask of those that are surely here, the same in each warp of the CTA; 0: not known
    const Loop *loop;  // the innermost
    Fact fact;
} Scope;

/* -- What is written --------------------------------------------------------------------------------------- */

// Shared memory in which each thread of the CTA has a part.
typedef struct Shared {
    const char *symbol;
    uint32_t stride;  // bytes of a part
} Shared;

typedef struct Gen Gen;
typedef struct Function Function;
typedef struct Kernel Kernel;

// The function that is being written.
typedef struct Fn {
    char name[24];
    uint32_t number;
    const Flavor *flavor;
    const Kernel *kernel;  // NULL: a device function
    // What there is.
    Scope *scope;
    Pool pool[CLASS_COUNT];
    VEC(Object *) objects;
    VEC(Reg) spent;             // registers that are free at the end of their scope, beside those of values
    VEC(const char *) repeats;  // patterns that may be written again
    // Registers, the frame, names.
    uint32_t regs[BANK_COUNT];       // so many numbers were given away
    VEC(uint32_t) idle[BANK_COUNT];  // those that are free again
    Object frame_object;             // all variables of the frame
    uint32_t frame;                  // bytes
    VEC(uint32_t) idle_slots[4];     // offsets that are free again, by the logarithm of their bytes
    uint32_t labels, symbols;
    Out declarations;
    TextBuffer declarations_text;
    // What is known of the place.
    uint32_t count;            // instructions so far
    uint64_t work, most_work;  // instructions that a thread executes at most; how many it may
    uint64_t times;            // the place is executed at most so often
    const Value *guard;        // of what is written; NULL: none
    bool guard_sense;
    uint32_t dead;  // depth from which on scopes leave nothing behind; 0: there is none
    bool ended;     // control does not come here
    bool gone;      // some threads may have ended
    // What the function leaves behind.
    Value *hash, *wide_hash;  // accumulators; the wide one may be NULL
    uint32_t exit;            // label of the end
    void (*leave)(Gen *);     // writes what is left behind
    // Of kernels.
    Value *thread, *threads;  // number in the CTA; how many there are
    VEC(Shared) shared;
    const Object *counts;  // words that all threads change by atomic operations; NULL: there are none
    const Object *record;  // what a thread leaves in the output
    uint32_t record_used;  // bytes
} Fn;

struct Gen {
    Options options;
    Arena *arena;
    uint64_t rng;
    bool bare_add;  // add and sub of floats have no rounding modifier, mul has; or the other way round
    VEC(Function *) functions;
    VEC(Kernel *) kernels;
    VEC(Object *) variables;   // of the module
    VEC(uint32_t) operations;  // the rows of templates.def that the program has
    uint32_t numbers, calls;   // of functions, of calls so far
    Fn fn;
    Out body, code, head;  // of the function, all functions, what stands before them
    TextBuffer body_text, code_text, head_text;
};

/* -- random.c ---------------------------------------------------------------------------------------------- */

// Where a sequence of numbers of its own begins, for each seed and purpose.
uint64_t random_start(uint64_t seed, const char *purpose);
uint64_t random_next(uint64_t *state);
uint64_t draw(Gen *g);
uint32_t roll(Gen *g, uint32_t n);  // less than n
uint32_t roll_between(Gen *g, uint32_t least, uint32_t most);
bool chance(Gen *g, uint32_t k, uint32_t n);                      // k times in n
#define ANY_OF(g, table) (&(table)[roll((g), ARRAY_LEN(table))])  // a pointer to an element

/* -- features.c -------------------------------------------------------------------------------------------- */

static inline bool has(const Gen *g, Feature f) { return g->options.on[f]; }
void features_by_seed(Options *o);
// Takes a list as --features has it; on failure returns false with the reason in `why`.
bool features_take(Options *o, const char *list, char why[static 200]);
void features_for_target(Options *o);
void features_list(Out *out);                     // names and help
void features_print(Out *out, const Options *o);  // as a list that --features takes

/* -- literal.c --------------------------------------------------------------------------------------------- */

typedef struct Literal {
    char text[32];
} Literal;
Literal literal(Gen *g, Class c);

/* -- values.c: values, registers, scopes -------------------------------------------------------------------- */

Value *value_make(Gen *g, Class c);        // where the flavor puts variables; in no pool
Value *value_scratch(Gen *g, Class c);     // in a register; in no pool
void value_push(Gen *g, Value *v);         // can be used from here to the end of the scope
Value *value_pick(Gen *g, Class c);        // a value to read; makes one if there is none
Value *value_uniform(Gen *g);              // one of class R that is the same in all threads, NULL: there is none
Value *value_assignable(Gen *g, Class c);  // a variable; NULL: there is none
void scope_enter(Gen *g, Scope *s, uint32_t lanes);
void scope_leave(Gen *g);
uint32_t scope_debt(const Gen *g);  // about so many instructions are to come at its end
void scope_flush(Gen *g);           // what is pending in this scope goes into the output
uint32_t lanes_here(const Gen *g);

/* -- code.c: patterns --------------------------------------------------------------------------------------- */

enum {
    EXACT = 1,   // any change of an operand changes the result
    LANE = 2,    // the result differs between threads, though the operands do not
    WARP = 4,    // of lanes that are known
    WHOLE = 8,   // of all lanes
    REPEAT = 16  // may be written again
};
// Writes what the pattern says and returns its last result (NULL: it has none).
Value *code(Gen *g, const char *pattern, ...);
Value *code_with(Gen *g, uint32_t traits, const char *pattern, ...);
bool code_possible(const Gen *g, uint32_t traits);

/* -- text.c: labels, branches, what is no instruction ---------------------------------------------------------- */

uint32_t label_new(Gen *g);
void label_put(Gen *g, uint32_t label);
void jump(Gen *g, uint32_t label);
void branch(Gen *g, const Value *predicate, bool sense, uint32_t label);  // goes on behind when it is not taken
void line(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *text(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));  // in the arena
const char *space_name(Space s);                                                       // with the dot; generic is empty

/* -- observe.c ---------------------------------------------------------------------------------------------- */

void observe(Gen *g, Value *v);
Value *one_nan_of(Gen *g, Value *v);  // v, or a copy whose NaNs are canonical, if its bits must not show otherwise
void hash_begin(Gen *g);

/* -- operations.c ------------------------------------------------------------------------------------------- */

void operations_init(Gen *g);
void operation(Gen *g);
void birth(Gen *g, Class c);
bool class_on(const Gen *g, Class c);
Class any_class(Gen *g);  // of data

/* -- conditions.c ------------------------------------------------------------------------------------------- */

// A predicate that nothing else assigns; uniform: the same in all threads, as long as all lanes are here.
Value *condition(Gen *g, bool uniform);
Value *rare_condition(Gen *g, bool uniform);  // one that few threads fulfil
Operand bound(Gen *g, uint32_t least, uint32_t most, bool uniform, bool literal);

/* -- statements.c ------------------------------------------------------------------------------------------- */

void block(Gen *g, uint32_t n);  // about so many instructions
uint32_t part_of(Gen *g, uint32_t n);
typedef void Statement(Gen *g, uint32_t n);
#define STATEMENT(id, feature, weight, least, needs, make, help) Statement make;
#include "tools/origen/statements.def"

/* -- branches.c --------------------------------------------------------------------------------------------- */

// Registers that every arm of a branch sets.
typedef struct Phis {
    Value *at[3];
    uint32_t n;
    bool twins;  // they get the same
} Phis;
Phis phis_begin(Gen *g);
void phis_end(Gen *g, const Phis *phis);
// A scope under a condition. May_end: it may end in a jump out of the loop, or to its next turn.
void arm(Gen *g, uint32_t n, uint32_t lanes, Fact fact, bool may_end, const Phis *phis);
uint32_t lanes_of_arms(Gen *g);  // those that stay together at a branch, by chance; 0: it depends on the thread

/* -- memory.c ------------------------------------------------------------------------------------------------ */

typedef struct Access {
    const char *type;
    uint32_t bytes;
    Class cls;
} Access;

// An access, and how many of them make a vector.
typedef struct Move {
    const Access *access;
    uint32_t n;
} Move;

Object *object_push(Gen *g, Object o);                                     // there from here to the end of the scope
const Object *object_with_address(Gen *g, bool to_write, uint32_t bytes);  // any; NULL: there is none
Place place_in(Gen *g, const Object *o, uint32_t bytes);                   // somewhere, aligned to so many bytes
Move move_pick(Gen *g, const Object *o, uint32_t most);                    // of no more bytes
static inline uint32_t move_bytes(Move m) { return m.n * m.access->bytes; }
void load_at(Gen *g, Move m, const Place *p);
void store_at(Gen *g, Move m, const Place *p);
void load_from(Gen *g, const Object *o);
void fill(Gen *g, const Object *o);                        // stores to all of it
void drain(Gen *g, const Object *o);                       // loads all of it
void address_of(Gen *g, const Object *o, Value *address);  // in its space
void generic_address_of(Gen *g, const Object *o, Value *address);

/* -- functions.c, kernels.c -------------------------------------------------------------------------------- */

void functions_make(Gen *g);
void call_the_rest(Gen *g);  // calls the functions that nobody has called
void kernels_make(Gen *g);

/* -- variables.c, program.c, launches.c -------------------------------------------------------------------- */

void variables_make(Gen *g);
void variables_enter(Gen *g);  // makes them objects of the function
void fn_begin(Gen *g, const char *name, const Kernel *kernel, uint32_t size);
void fn_print(Gen *g);  // declarations and body, in braces
void program_make(Gen *g);
void program_print(const Gen *g, Out *out);
void launches_print(Gen *g, Out *out, const char *file);  // file: the name of the program

#endif
