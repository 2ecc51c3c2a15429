// SPDX-License-Identifier: MIT
// Reader and writer of PTX.
#ifndef ORI_PTX_H
#define ORI_PTX_H

#include "ir/core/ir.h"

typedef struct PtxReadOptions {
    bool strip_debug;  // drop .loc, .file, debug sections and the `debug` target option
    bool positions;    // record the source positions of instructions, for fn_where()
    // The version that the module shall have, as ptx_version() returns it; 0 = that of its text. The module is read as
    // one of this version: what the version does not have is spelled as it was in this version, or is an error.
    uint16_t version;
} PtxReadOptions;

/* read.c */
// Reads a module piece by piece; the caller may drop functions between two pieces. Errors go to `diag`, and reading
// continues after them. The source must stay open until the reader is closed; the module outlives the reader.
typedef struct PtxReader PtxReader;
PtxReader *ptx_open(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options);
// Reads whole items until more than `bytes` bytes of the source are consumed. False at the end of the module.
bool ptx_more(PtxReader *reader, size_t bytes);
// Returns the offset of the text that ptx_more() has not read yet.
size_t ptx_offset(const PtxReader *reader);
Module *ptx_module(const PtxReader *reader);
void ptx_close(PtxReader *reader);
// Reads a whole module; NULL if there was an error. The source may be closed afterwards.
Module *ptx_read(Heap *heap, const Source *source, Diag *diag, const PtxReadOptions *options);

/* legalize.c */
// Returns a copy of a function in multi form that triggers no known defect of ptxas. The caller frees the copy with
// fn_free(). Returns NULL if the function itself triggers no defect, or has FN_NO_WORKAROUNDS.
Fn *ptx_legalize(const Fn *fn);

/* write.c */
void ptx_write_header(const Module *m, Out *out);
// Writes one item of the module; the caller calls it in the order of the items. A function that was changed after
// reading must verify.
void ptx_write_item(const Module *m, const Item *item, Out *out);
// Writes the function, legalized by ptx_legalize().
void ptx_write_fn(const Fn *fn, Out *out);

#endif
