// SPDX-License-Identifier: MIT
// Interface of device functions for their callers.
#ifndef ORIGEN_FUNCTION_H
#define ORIGEN_FUNCTION_H

#include "tools/origen/origen.h"

typedef enum Passing { BY_VALUE, BY_STRUCT, BY_POINTER, NOTHING } Passing;
typedef enum Role { ANY_VALUE, COUNTER, MASK } Role;

// A parameter, or a result.
typedef struct Formal {
    Passing passing;
    Role role;
    Class cls;  // of a value
    const char *type,
        *load;  // types of its .param and of loads, if it has fewer bits than the register; NULL: as the class
    uint32_t bytes, align;  // of the structure, or of the memory that the pointer points to
    bool written;           // the function stores through the pointer
} Formal;

enum { FORMALS_MOST = 6, SEQUENCE_MOST = 5 };

// Collective instructions that all lanes execute in this order, in whatever arm.
typedef struct Sequence {
    uint32_t at[SEQUENCE_MOST], n;  // rows of a table of arms.c
    uint32_t trips;                 // number of repetitions of the sequence
} Sequence;

struct Function {
    char name[24];
    Formal formals[FORMALS_MOST], result;
    uint32_t n;
    bool in_registers;  // .reg parameters
    bool pure;          // no effect except its result
    bool called;        // a call exists already
    uint64_t work;
    const Function *twin;     // another function with the same signature; NULL: none
    FunctionTable *table;     // table that has it; NULL: none
    const Function *partner;  // function that it calls recursively; NULL: none
    uint32_t fanout;          // number of calls of the partner
    uint32_t lanes;           // lanes that must arrive at a call together; 0: any
    const Sequence *meets;    // what it executes, wherever the other lanes do; NULL: none
    bool stops;               // never returns
    bool unused;              // never called
    bool declared, behind;    // by a prototype in front; defined behind the kernels
    const char *linkage;      // directive with a blank, or empty
    const char *part;         // shared variable whose address is the result; NULL: none
    const char *constant;     // literal that most returns have as the result; NULL: the result depends on all values
    TextBuffer text;          // the definition, if it is behind the kernels
};

struct FunctionTable {
    const char *name, *list;  // of the variable; of the functions, with commas
    Space space;
    uint32_t n;
    uint64_t work;  // of the function with the most work
};

/* -- functions.c ------------------------------------------------------------------------------------------- */

const char *formal_type(const Formal *f);            // type of the .param of a value
void signature_make(Gen *g, Function *f);            // sets parameters and result
void signature_add(Gen *g, Function *f, Role role);  // adds a parameter at a random place
void function_make(Gen *g, Function *f, uint32_t n);
void function_print_head(Gen *g, const Function *f);

/* -- statics.c --------------------------------------------------------------------------------------------- */

Formal static_result(Gen *g, Function *f);  // a pointer to a variable of the function
void statics_enter(Gen *g, const Function *f);
void static_result_store(Gen *g, const Function *f, Value *total);

/* -- calls.c ----------------------------------------------------------------------------------------------- */

void call_recursively(Gen *g);
bool call_is_affordable(const Gen *g, const Function *f);  // within the limit of work
void call_directly(Gen *g, Function *f);

/* -- arms.c ------------------------------------------------------------------------------------------------ */

Sequence sequence_new(Gen *g);
void sequence_run(Gen *g, const Sequence *s);

#endif
