// SPDX-License-Identifier: MIT
// Interface of device functions for their callers.
#ifndef ORIGEN_FUNCTION_H
#define ORIGEN_FUNCTION_H

#include "tools/origen/origen.h"

typedef enum Passing { BY_VALUE, BY_STRUCT, BY_POINTER, NOTHING } Passing;

// A parameter, or a result.
typedef struct Formal {
    Passing passing;
    Class cls;              // of a value
    uint32_t bytes, align;  // of the structure, or of the memory that the pointer points to
    bool written;           // the function stores through the pointer
} Formal;

enum { FORMALS_MOST = 5 };

struct Function {
    char name[24];
    Formal formals[FORMALS_MOST], result;
    uint32_t n;
    bool in_registers;  // .reg parameters
    bool pure;          // no effect except its result
    bool called;        // a call exists already
    uint64_t work;
    const Function *twin;  // another function with the same signature; NULL: none
};
const char *formal_type(const Formal *f);  // type of the .param of a value

#endif
