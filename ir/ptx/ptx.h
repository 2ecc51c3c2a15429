// SPDX-License-Identifier: MIT
// PTX in and out.
#ifndef ORI_PTX_H
#define ORI_PTX_H

#include "ir/core/ir.h"

typedef struct PtxReadOptions {
    bool strip_debug;  // drop .loc, .file, debug sections and the `debug` target option
    bool positions;    // keep where instructions stand: fn_where()
} PtxReadOptions;

/* read.c */
// Reads a module. Errors go to `diag`; NULL if there was one. The source may be closed afterwards.
Module *ptx_read(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options);

/* write.c */
void ptx_write_header(const Module *m, Out *out);
// One item of the module, in order. A function that was changed since it was read must verify.
void ptx_write_item(const Module *m, const Item *item, Out *out);
void ptx_write_fn(const Fn *fn, Out *out);

#endif
