// SPDX-License-Identifier: MIT
// Device functions, as those see them who call.
#ifndef ORIGEN_FUNCTION_H
#define ORIGEN_FUNCTION_H

#include "tools/origen/origen.h"

typedef enum Passing { BY_VALUE, BY_STRUCT, BY_POINTER, NOTHING } Passing;

// A parameter, or a result.
typedef struct Formal {
    Passing passing;
    Class cls;              // of a value
    uint32_t bytes, align;  // of the structure, or of what a pointer leads to
    bool written;           // the function stores there
} Formal;

enum { FORMALS_MOST = 5 };

struct Function {
    char name[24];
    Formal formals[FORMALS_MOST], result;
    uint32_t n;
    bool in_registers;  // .reg parameters
    bool pure;          // no effect beside its result
    bool called;        // by now
    uint64_t work;
    const Function *twin;  // another with the same parameters and result; NULL: none
};
const char *formal_type(const Formal *f);  // of the parameter of a value

#endif
