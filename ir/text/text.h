// SPDX-License-Identifier: MIT
// Reader and writer of Ori text (grammar: ir/text/README.md).
#ifndef ORI_TEXT_H
#define ORI_TEXT_H

#include "ir/core/ir.h"

/* read.c */
// Reads a module piece by piece, with the contracts of ptx_open() to ptx_close(), and verifies its functions.
typedef struct TextReader TextReader;
TextReader *text_open(Heap *heap, const Source *source, Diag *diag);
bool text_more(TextReader *reader, size_t bytes);
// Returns the offset of the text that text_more() has not read yet.
size_t text_offset(const TextReader *reader);
Module *text_module(const TextReader *reader);
void text_close(TextReader *reader);
// Reads a whole module; NULL if there was an error. The source may be closed afterwards.
Module *text_read(Heap *heap, const Source *source, Diag *diag);
// Reads one function definition that refers to the symbols of a frozen module, into new tables. Returns NULL and
// reports to `diag` if there was an error.
Fn *text_read_fn(Module *m, const Source *source, Diag *diag);

/* write.c */
void text_write_header(const Module *m, Out *out);
// Writes one item of the module; the caller calls it in the order of the items.
void text_write_item(const Module *m, const Item *item, Out *out);
void text_write_fn(const Fn *fn, Out *out);
// Writes the blocks of a function, each between two calls of `around`, for formats other than Ori files.
typedef void TextAround(void *user, BlockId b, bool begins);
void text_write_blocks(const Fn *fn, Out *out, TextAround *around, void *user);
// Writes a complete file: the module's target, the symbols to which the function refers, and the function.
void text_write_dump(const Fn *fn, Out *out);

#endif
