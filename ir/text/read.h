// SPDX-License-Identifier: MIT
// The inside of the reader of Ori text: shared state, tokens, declarations, bodies.
#ifndef ORI_TEXT_READ_H
#define ORI_TEXT_READ_H

#include <setjmp.h>

#include "ir/text/lex.h"
#include "ir/text/text.h"

// Numbers of the text (R7, b3) to ids, in pages that are made when first touched.
typedef struct IdMap {
    uint32_t **pages;
    uint32_t npages;
} IdMap;

// An operand as it was written: literals get their width when the instruction is known.
typedef struct Parsed {
    Operand op;
    uint8_t literal;  // LIT_*
    uint64_t value;
    size_t at;
} Parsed;
enum { LIT_NONE, LIT_INT, LIT_F32, LIT_F64 };

typedef VEC(size_t) Offsets;
typedef VEC(bool) Flags;

typedef struct TextReader {
    Lexer lx;
    int tok;
    const Source *source;
    Diag *diag;
    jmp_buf *recover;  // where a syntax error goes: to the next line
    Module *m;
    Tables *t;          // new strings, mnemonics, constants
    Arena self, arena;  // die with the reader, which lies in the first
    DescCache descs;
    bool again;  // one function of a module that is there already
    bool begun;  // the first token was read
    bool stop;   // too many errors
    bool saw_target;
    size_t piece;    // where the piece begins that is being read
    VEC(char) text;  // of strings

    // The function being read.
    Fn *fn;
    Arena scratch;    // dies with the function
    uint32_t errors;  // before it; before the first function: before all
    IdMap regs[REG_FILES], blocks;
    IdSet labels, symbols, lines;   // by name: BlockIds and SymIds; by position: LineIds
    Offsets reg_at, block_at;       // by id: where it is named first
    Flags block_seen;               // by BlockId: stands in the layout
    Offsets instr_at;               // by InstrId
    BlockId block;                  // open block, 0 = none
    bool closed;                    // the open block has its terminator
    bool lost;                      // behind an error, up to the next label: nothing is said about blocks
    bool in_call, left;             // of the instruction being read: symbols are `$`; the side of the `=`
    VEC(Parsed) ops, hidden, tied;  // hidden: what the shape does not show
    VEC(char) shape;
} Reader;

/* read.c */
// Reports at the offset and unwinds to the next line.
_Noreturn void tx_fail(Reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Reports and goes on.
void tx_error(Reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void tx_next(Reader *r);
// Where the current token begins; that of a symbol or a string is behind its `@` or quote.
static inline size_t tx_at(const Reader *r)
{
    return (size_t)(r->lx.start - r->source->text) - (r->tok == T_SYMBOL || r->tok == T_STRING);
}
bool tx_is(const Reader *r, const char *word);  // the current token is this word
bool tx_accept(Reader *r, int token);
bool tx_accept_word(Reader *r, const char *word);
void tx_expect(Reader *r, int token, const char *where);
void tx_end_of_line(Reader *r);
void tx_skip_line(Reader *r);   // to the start of the next line
void tx_skip_empty(Reader *r);  // newlines
uint64_t tx_number(Reader *r, uint64_t max, const char *what);
Name tx_name(Reader *r, const char *what);     // takes a symbol's name
Name tx_quoted_name(Reader *r);                // takes a name in quotes
StrId tx_string(Reader *r, const char *what);  // takes strings, joined, escapes resolved
// Puts the current string with its quotes behind r->text, for PTX: its strings know neither quotes nor newlines.
// Returns what stands there, without the quotes, until more is put.
Str tx_put_ptx_string(Reader *r);
static inline StrId tx_intern(Reader *r) { return str_intern(&r->t->strs, r->text.at ? r->text.at : "", r->text.n); }

/* decl.c */
// A variable behind its keyword, which was `word`; up to the end of the line.
void tx_variable(Reader *r, Space space, Type handle);
// `global`, `const`, ...: what the current word declares. SP_NONE: nothing.
Space tx_space(const Reader *r, Type *handle);
// `(parameters) -> results`, which may both be missing.
void tx_signature(Reader *r, Sig *sig, bool declare);
// `extern`, `visible`, ...: takes the word and sets its flag. `internal` has none.
bool tx_linkage(Reader *r, uint32_t *flags);
// `managed` or `attribute "..."`.
bool tx_attribute(Reader *r, StrId *attribute);
SymId tx_find(Reader *r, Name name);  // a symbol of the function or the module, 0 if there is none
void tx_enter(Reader *r, Name name, SymId id, size_t at);

/* body.c */
// Lines from behind the `{` to the closing brace; then what can only be said of the whole function.
void tx_body(Reader *r);

#endif
