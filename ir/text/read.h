// SPDX-License-Identifier: MIT
// Internals of the reader of Ori text: shared state, tokens, declarations, bodies.
#ifndef ORI_TEXT_READ_H
#define ORI_TEXT_READ_H

#include <setjmp.h>

#include "ir/text/lex.h"
#include "ir/text/text.h"

// Map from numbers of the text (R7, b3) to ids, in pages that are made on first use.
typedef struct IdMap {
    uint32_t **pages;
    uint32_t npages;
} IdMap;

// An operand as written: a literal gets its width from the instruction later.
typedef struct Parsed {
    Operand op;
    uint8_t literal;  // LIT_*
    uint64_t value;
    size_t at;
} Parsed;
enum { LIT_NONE, LIT_INT, LIT_F32, LIT_F64 };

// A declared name whose text in PTX may be that of another name, since it has dots or the text for them.
typedef struct DottedName {
    Name name;
    uint32_t scope;  // 0 = the module, otherwise the number of the function in the text, from 1
    Str in_ptx;
} DottedName;

typedef VEC(size_t) Offsets;
typedef VEC(bool) Flags;

typedef struct TextReader {
    Lexer lx;
    int tok;
    const Source *source;
    Diag *diag;
    jmp_buf *recover;  // target of a syntax error, which continues at the next line
    Module *m;
    Tables *t;          // new strings, mnemonics, constants
    Arena self, arena;  // memory of the reader; `self` holds the reader itself
    DescCache descs;
    bool again;  // the reader reads one function of an existing module
    bool begun;  // the first token was read
    bool stop;   // too many errors
    bool saw_target;
    size_t piece;    // offset of the current piece
    VEC(char) text;  // text of the current strings
    uint32_t nfns;   // functions up to here
    VEC(DottedName) dotted;
    IdSet dotted_index;  // by hash of the scope and of the text in PTX

    // The current function.
    Fn *fn;
    Arena scratch;    // freed at the end of the function
    uint32_t errors;  // number of errors before the function; before the first function: before the text
    IdMap regs[REG_FILES], blocks;
    IdSet labels, symbols, lines;   // by name: BlockIds and SymIds; by position: LineIds
    Offsets reg_at, block_at;       // by id: offset of the first mention
    Flags block_seen;               // by BlockId: the block is in the layout
    Offsets instr_at;               // by InstrId
    BlockId block;                  // open block, 0 = none
    bool closed;                    // the open block has its terminator
    bool lost;                      // set by an error up to the next label: suppresses errors about blocks
    bool in_call, left;             // in a call, symbols are `$` in the shape; left of the `=`
    VEC(Parsed) ops, hidden, tied;  // hidden: operands that are not in the shape
    VEC(char) shape;
} Reader;

/* read.c */
// Reports at the offset and unwinds to the next line.
_Noreturn void tx_fail(Reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Reports at the offset and returns.
void tx_error(Reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void tx_next(Reader *r);
// Returns the offset of the current token, with the `@` of a symbol or the quote of a string.
static inline size_t tx_at(const Reader *r)
{
    return (size_t)(r->lx.start - r->source->text) - (r->tok == T_SYMBOL || r->tok == T_STRING);
}
bool tx_is(const Reader *r, const char *word);  // true if the current token is this word
bool tx_accept(Reader *r, int token);
bool tx_accept_word(Reader *r, const char *word);
void tx_expect(Reader *r, int token, const char *where);
void tx_end_of_line(Reader *r);
void tx_skip_line(Reader *r);   // to the start of the next line
void tx_skip_empty(Reader *r);  // newlines
uint64_t tx_number(Reader *r, uint64_t max, const char *what);
Name tx_name(Reader *r, const char *what);     // takes a symbol's name
Name tx_quoted_name(Reader *r);                // takes a name in quotes
StrId tx_string(Reader *r, const char *what);  // takes strings, joins them and resolves escapes
// Appends the current string with its quotes to r->text, for PTX, whose strings hold neither quotes nor newlines.
// Returns the string without the quotes; the result is valid until r->text grows.
Str tx_put_ptx_string(Reader *r);
static inline StrId tx_intern(Reader *r) { return str_intern(&r->t->strs, r->text.at ? r->text.at : "", r->text.n); }

/* decl.c */
// Reads a variable after its keyword, up to the end of the line.
void tx_variable(Reader *r, Space space, Type handle);
// Returns the state space that the current word declares (`global`, `const`, ...), or SP_NONE.
Space tx_space(const Reader *r, Type *handle);
// Reads `(parameters) -> results`; both are optional.
void tx_signature(Reader *r, Sig *sig, bool declare);
// Takes `extern`, `visible`, ..., and sets its flag. `internal` has none. False if the word is none of these.
bool tx_linkage(Reader *r, uint32_t *flags);
// Reads `managed` or `attribute "..."`. False if there is none.
bool tx_attribute(Reader *r, StrId *attribute);
SymId tx_find(Reader *r, Name name);  // returns a symbol of the function or the module, or 0
// Declares a symbol of the function. Fails if the function already has one of this name.
void tx_enter(Reader *r, Name name, SymId id, size_t at);
// Declares a name of the function or the module. Fails if it has the same text in PTX as another one of them.
void tx_declare_name(Reader *r, bool local, Name name, size_t at);

/* body.c */
// Reads the lines after `{` up to the closing brace, and checks the whole function.
void tx_body(Reader *r);

#endif
