// SPDX-License-Identifier: MIT
// Tokens of PTX.
#ifndef ORI_PTX_LEX_H
#define ORI_PTX_LEX_H

#include "ir/base/base.h"

typedef enum {
    T_EOF = 256,
    T_BAD,       // nothing in PTX begins like this
    T_COMMENT,   // a comment that does not end
    T_ID,        // identifier
    T_MNEMONIC,  // identifier with modifiers, at the start of a statement
    T_DOT,       // .name
    T_INT,       // value in `ival`
    T_BIGINT,    // does not fit 64 bits
    T_F32,       // 0f........, bits in `ival`
    T_F64,       // 0d................, bits in `ival`
    T_DEC,       // decimal floating point, bits of the double in `ival`
    T_STRING,
    T_SHL,
    T_SHR,
    T_EQ,
    T_NE,
    T_LE,
    T_GE,
    T_ANDAND,
    T_OROR,
} Token;  // and every punctuation character as itself

typedef struct Lexer {
    const char *cur;          // next byte
    const char *limit;        // the NUL behind the text
    const char *start, *end;  // the token
    const char *stem_end;     // identifier like %r12: where the digits begin; NULL for others
    uint32_t number;          // and their value
    uint64_t ival;
    bool is_unsigned;  // integer with the suffix U
} Lexer;

// A token at the start of a statement, where mnemonics stand.
int lex_statement(Lexer *lx);
// A token anywhere else.
int lex_token(Lexer *lx);

#endif
