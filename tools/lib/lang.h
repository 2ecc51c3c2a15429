// SPDX-License-Identifier: MIT
// The two languages in which modules come and go, behind one face: PTX and Ori text.
#ifndef ORI_LANG_H
#define ORI_LANG_H

#include "phases/phase.h"

typedef enum { LANG_AUTO, LANG_PTX, LANG_ORI } Lang;

// What a text is, by its file's name or its first words.
Lang lang_of(const Source *source);
// A module that is read piece by piece, as ir/ptx/ptx.h says.
typedef struct LangReader {
    Module *module;
    Lang lang;
    struct PtxReader *ptx;
    struct TextReader *text;
} LangReader;
// Errors go to ctx->diag. `strip_debug` is for PTX: drop what a debugger needs.
LangReader lang_open(Ctx *ctx, const Source *source, Lang lang, bool strip_debug);
// Reads items until more than so many bytes of the source are through. False: that was the end of the module.
bool lang_more(LangReader *reader, size_t bytes);
void lang_close(LangReader *reader);
// Reads a whole module; NULL if there was an error.
Module *lang_read(Ctx *ctx, const Source *source, Lang lang, bool strip_debug);
void lang_write_header(const Module *m, Lang lang, Out *out);
// Bad input: a function in ssa form as PTX.
void lang_write_item(const Module *m, const Item *item, Lang lang, Out *out);

#endif
