// SPDX-License-Identifier: MIT
// Tokens of PTX.
#ifndef ORI_PTX_LEX_H
#define ORI_PTX_LEX_H

#include "ir/base/base.h"

typedef enum {
    T_EOF = 256,
    T_BAD,       // no token of PTX
    T_COMMENT,   // an unterminated comment
    T_ID,        // identifier
    T_MNEMONIC,  // identifier with modifiers, at the start of a statement
    T_DOT,       // .name
    T_INT,       // value in `ival`
    T_BIGINT,    // integer of more than 64 bits
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
    const char *limit;        // the NUL after the text
    const char *start, *end;  // the token
    const char *stem_end;     // start of the digits of an identifier like %r12; NULL for other identifiers
    uint32_t number;          // value of these digits
    uint64_t ival;
    bool is_unsigned;  // integer with the suffix U
} Lexer;

// Reads a token at the start of a statement, which may be a mnemonic.
int lex_statement(Lexer *lx);
// Reads a token at any other position.
int lex_token(Lexer *lx);

#endif
