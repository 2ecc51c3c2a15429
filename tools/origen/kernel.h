// SPDX-License-Identifier: MIT
// Kernels: parameters and launches.
#ifndef ORIGEN_KERNEL_H
#define ORIGEN_KERNEL_H

#include "tools/origen/origen.h"

typedef enum ParamKind {
    PARAM_RECORD,  // what a thread leaves in the output
    PARAM_INPUT,   // what nobody writes
    PARAM_SLOTS,   // a part for each thread
    PARAM_COUNTS,  // words for atomic operations of all
    PARAM_SCALAR,
    PARAM_LIMIT,  // how many threads do not end at once
    PARAM_STRUCT
} ParamKind;

typedef struct Param {
    ParamKind kind;
    const char *type;   // of a scalar, or of the elements of a buffer
    const char *range;  // of random elements, as .run files have it
    Class cls;          // of a scalar
    uint32_t bytes;     // of the structure, of the buffer, or of a thread's part of it
    uint32_t of;        // it may be the buffer of this parameter again; its own number: it may not
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
    bool cluster;           // blocks belong together by twos
    uint32_t dynamic;       // bytes of dynamic shared memory for each thread
};
static inline uint32_t dim_size(Dim d) { return d.x * d.y * d.z; }

uint32_t counts_bytes(void);  // atomics.c: of the words for atomic operations

void make_neighbours(Gen *g);  // threads.c: loads from the other block of the cluster

/* -- params.c ---------------------------------------------------------------------------------------------- */

void params_plan(Gen *g, Kernel *k);
void params_load(Gen *g, const Kernel *k, Value *thread);  // thread: its number in the grid
void params_print(Gen *g, const Kernel *k);
// A thread's part of something as an object's base: behind `from`, an address or a symbol, one part behind the other.
Value *part_of_thread(Gen *g, const char *symbol, Value *from, Value *thread, uint32_t bytes);

#endif
