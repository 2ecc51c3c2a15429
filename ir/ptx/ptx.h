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
// Reads a module piece by piece: functions that are done with may be dropped between two pieces. Errors go to `diag`;
// what is behind them is read on for more of them. The source stays open until the reader is closed; the module stays.
typedef struct PtxReader PtxReader;
PtxReader *ptx_open(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options);
// Reads whole items until more than so many bytes of the source are through. False: that was the end of the module.
bool ptx_more(PtxReader *reader, size_t bytes);
Module *ptx_module(const PtxReader *reader);
void ptx_close(PtxReader *reader);
// Reads a whole module; NULL if there was an error. The source may be closed afterwards.
Module *ptx_read(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options);

/* legalize.c */
// Returns a copy of a function in multi form that meets no known defect of ptxas, or NULL if the function meets none,
// or its flags say that it may. The caller frees it with fn_free().
Fn *ptx_legalize(const Fn *fn);

/* write.c */
void ptx_write_header(const Module *m, Out *out);
// One item of the module, in order. A function that was changed since it was read must verify.
void ptx_write_item(const Module *m, const Item *item, Out *out);
// Writes what ptx_legalize() makes of the function.
void ptx_write_fn(const Fn *fn, Out *out);

#endif
