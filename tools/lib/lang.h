// SPDX-License-Identifier: MIT
// One interface to the two languages of modules, PTX and Ori text.
#ifndef ORI_LANG_H
#define ORI_LANG_H

#include "phases/phase.h"

typedef enum { LANG_AUTO, LANG_PTX, LANG_ORI } Lang;

// Returns the language of a text: by its content for reproducers, else by the name of its file, else by its content.
Lang lang_of(const Source *source);
typedef struct LangOptions {
    Lang lang;         // LANG_AUTO unless the user chose it
    bool strip_debug;  // for PTX: drop debug information
    uint16_t version;  // PtxReadOptions.version
    bool ahead;        // lang_read_ahead() may be called; then ctx->diag has no `report`
} LangOptions;
// A module that is read piece by piece, as ptx_open() and text_open() do.
typedef struct LangReader {
    Module *module;
    Lang lang;
    Diag *diag;
    double read_s;        // CPU seconds of reading
    bool foreign;         // the source is neither PTX nor Ori text; this was reported
    bool target_checked;  // a warning about the module's target was given if needed
    struct PtxReader *ptx;
    struct TextReader *text;
    struct Ahead *ahead;  // NULL: not for lang_read_ahead()
} LangReader;
// Errors go to ctx->diag.
LangReader lang_open(Ctx *ctx, const Source *source, LangOptions options);
// Reads items until more than `bytes` of the source are read. False: that was the end of the module.
bool lang_more(LangReader *reader, size_t bytes);
// Reads the next piece into tables of its own, on any thread, while other threads use the module. The next call of
// lang_more() adds this piece to the module and reports its errors. What was read shares memory with the module, until
// the heap of the context is released.
void lang_read_ahead(LangReader *reader, size_t bytes);
// Drops the text that was read (source_drop()). Has no effect if lang_read_ahead() may be called: other threads may
// read the text for a message.
void lang_drop_text(const LangReader *reader);
void lang_close(LangReader *reader);
// Reads a whole module; NULL if there was an error.
Module *lang_read(Ctx *ctx, const Source *source, LangOptions options);
void lang_write_header(const Module *m, Lang lang, Out *out);
// Fails with ST_BAD_INPUT for a function in ssa form as PTX.
void lang_write_item(const Module *m, const Item *item, Lang lang, Out *out);

// True if the text may have a call of one of its functions, so that phases over the module have something to do: it has
// the word `call`, and a function other than `.extern` ones.
bool lang_may_call(const Source *source, Lang lang);
// True if the text may declare `.shared` variables, which GlobalOpt may change.
bool lang_may_share(const Source *source);

/* foreign.c */
// Returns a message about a source that is no module in this language, and its offset: a binary or compressed file,
// UTF-16, LLVM IR, C++, the other one of the two languages, and with LANG_BY_CONTENT everything else that neither of
// the two can begin with. NULL: the source may be a module.
typedef enum { LANG_CHOSEN, LANG_BY_NAME, LANG_BY_CONTENT } LangBy;
const char *lang_foreign(const Source *source, Lang lang, LangBy by, size_t *offset);
// Returns the format of a source that has no code for the GPU: "PTX", "a file compressed by gzip"; *remedy = the way to
// such code. NULL: the format is unknown, or may have code.
const char *lang_without_code(const Source *source, const char **remedy);

#endif
