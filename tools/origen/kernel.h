// SPDX-License-Identifier: MIT
// Kernels: parameters and launches.
#ifndef ORIGEN_KERNEL_H
#define ORIGEN_KERNEL_H

#include "tools/origen/origen.h"

typedef enum ParamKind {
    PARAM_RECORD,  // part of the output for each thread
    PARAM_INPUT,   // read-only
    PARAM_SLOTS,   // read-write, one part for each thread
    PARAM_COUNTS,  // words for atomic operations of all threads
    PARAM_SCALAR,
    PARAM_LIMIT,  // number of threads that do not exit at the start
    PARAM_STRUCT
} ParamKind;

typedef struct Param {
    ParamKind kind;
    const char *type;   // of a scalar, or of the elements of a buffer
    const char *range;  // of random elements, in the syntax of .run files
    Class cls;          // of a scalar
    uint32_t bytes;     // of the structure, of the buffer, or of one thread's part of it
    uint32_t of;        // parameter whose buffer it may alias; its own number: no alias
} Param;

typedef struct Dim {
    uint32_t x, y, z;
} Dim;

typedef struct Launch {
    Dim grid, block;
} Launch;

enum { LAUNCHES_MOST = 3 };

struct Kernel {
    char name[24];
    VEC(Param) params;
    Launch launches[LAUNCHES_MOST];
    uint32_t nlaunches;
    bool cube, same_block;  // more than one dimension; all launches have the same block
    bool cluster;           // clusters of two blocks
    bool alone;             // blocks of one thread, as the kernel declares
    bool one_block;         // grids of one block
    uint32_t dynamic;       // bytes of dynamic shared memory for each thread
};
static inline uint32_t dim_size(Dim d) { return d.x * d.y * d.z; }

uint32_t counts_bytes(void);  // size of the words for atomic operations (atomics.c)

void make_neighbours(Gen *g);  // loads from the other block of the cluster (threads.c)

/* -- params.c ---------------------------------------------------------------------------------------------- */

void params_plan(Gen *g, Kernel *k);
void params_load(Gen *g, const Kernel *k, Value *thread);  // thread: its index in the grid
void params_print(Gen *g, const Kernel *k);
// Returns the address of a thread's part of an array at `from` or `symbol`, with parts of `bytes`.
Value *part_of_thread(Gen *g, const char *symbol, Value *from, Value *thread, uint32_t bytes);

#endif
