// SPDX-License-Identifier: MIT
// The two languages in which modules come and go, behind one face: PTX and Ori text.
#ifndef ORI_LANG_H
#define ORI_LANG_H

#include "phases/phase.h"

typedef enum { LANG_AUTO, LANG_PTX, LANG_ORI } Lang;

// What a text is, by its file's name or its first words.
Lang lang_of(const Source *source);
// Reads a module; errors go to ctx->diag, NULL if there was one. `strip_debug` is for PTX: drop what a debugger needs.
Module *lang_read(Ctx *ctx, const Source *source, Lang lang, bool strip_debug);
void lang_write_header(const Module *m, Lang lang, Out *out);
void lang_write_item(const Module *m, const Item *item, Lang lang, Out *out);

#endif
