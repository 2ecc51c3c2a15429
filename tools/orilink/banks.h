// SPDX-License-Identifier: MIT
// Constants that the compiler made for functions: a function has them in its section .nv.constant2, and the linked file
// has a bank for each kernel, with the constants of all functions that the kernel reaches. Code has the places of its
// constants in fields, so a function has the same places in the banks of all kernels that reach it.
//
// A plan gives each distinct value one place that is free in the banks of all kernels that read it. Then the fields are
// written, relocations, banks of other functions and symbols go, and each kernel has its whole bank: nvlink keeps what
// a kernel has, and has nothing left to place.
#ifndef ORI_BANKS_H
#define ORI_BANKS_H

#include "tools/orilink/fields.h"
#include "tools/orilink/link.h"

enum { BANK = 2, BANK_LIMIT = 1 << 16, BANK_ALIGN = 8 };

typedef uint32_t ValueId;

typedef struct BankValue {
    const uint8_t *bytes;
    uint32_t size, align;
    uint32_t place;  // in the banks; UINT32_MAX: none yet
} BankValue;

// A relocation that names a constant.
typedef struct BankRead {
    uint32_t section, reloc;  // of relocations, and the index in it
    ValueId value;
    uint32_t place;  // of the constant in the banks, by a plan
    Field field;
    int64_t addend;
} BankRead;

// A live function with constants.
typedef struct BankFunction {
    NodeId node;
    uint32_t input, code, bank;  // sections of its file
    uint64_t size;               // of its section of constants, aligned
    const char *fixed;           // the reason why nvlink places its constants; NULL: a plan can
    VEC(BankRead) reads;
    VEC(ValueId) values;  // distinct
    bool planned;
} BankFunction;

typedef struct BankKernel {
    NodeId node;
    VEC(uint32_t) functions;  // that it reaches, with constants: indices of BankFunction
    VEC(ValueId) values;      // distinct, of functions that a plan places
    uint64_t before;          // bytes of the constants of all functions that it reaches
    uint64_t fixed;           // of these, what nvlink places
    uint32_t size;            // of its planned bank
    uint32_t places, shared;  // in it: distinct values, and how many more its functions have
    uint8_t *bank;            // its content
    uint32_t added;           // index of its AddedBank + 1; 0 = it has a section of constants, or no bank yet
    uint32_t component;       // kernels that share functions with constants have the same
    bool planned;
} BankKernel;

typedef struct Banks {
    Link *link;
    Arena arena;
    VEC(BankFunction) functions;
    VEC(BankKernel) kernels;
    VEC(BankValue) values;
    uint32_t patched;   // fields
    uint64_t verified;  // reads, in all kernels
} Banks;

/* banks.c */
// Finds the constants of live functions, and the kernels that read them; no kernels, unless `all`, if the constants of
// all functions fit in a bank. Nothing, if there is code that cannot be read.
void banks_read(Banks *banks, Link *link, bool all);

/* bank_reach.c */
// Adds the live kernels, with the functions of `banks` that each reaches.
void banks_reach(Banks *banks);

/* bank_dedup.c */
// Makes one bank for all kernels, without duplicates, as nvlink is documented to do it if a bank overflows, or if
// `forced`. Plans nothing if that does not fit. `verbose`: for messages; NULL: none.
void banks_dedup(Banks *banks, bool forced, Out *verbose);

/* bank_plan.c */
// Plans the banks of kernels that overflow, and of those that share functions with them; `all`: of all kernels. False,
// after an error message, if the constants of a kernel do not fit.
bool banks_plan(Banks *banks, bool all);

/* bank_apply.c */
// Edits the inputs as planned.
void banks_apply(Banks *banks);

/* bank_check.c */
// Reads each planned constant in the bank of each kernel that reaches it, as the edited code does, and compares it with
// the original. False after an error message.
bool banks_check(Banks *banks);

/* bank_report.c */
// Prints the planned banks of kernels, with their sizes before and after, and why nvlink places other constants.
void banks_report(const Banks *banks, Out *out);
// The same as members of a JSON object, each after a comma; nothing if no bank is planned.
void banks_report_json(const Banks *banks, Out *out);

#endif
