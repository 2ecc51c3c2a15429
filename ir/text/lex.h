// SPDX-License-Identifier: MIT
// Tokens of Ori text.
#ifndef ORI_TEXT_LEX_H
#define ORI_TEXT_LEX_H

#include "ir/core/ir.h"

typedef enum {
    T_EOF = 256,
    T_BAD,      // no token of Ori text
    T_NEWLINE,  // ends a statement; begins directly after the last token, as T_EOF does
    T_WORD,     // keyword or mnemonic, `_` too
    T_REG,      // R12: `file` and `ival`
    T_BLOCK,    // b3: `ival`
    T_SYMBOL,   // @name: the token is the name
    T_SREG,     // %tid.x
    T_TYPE,     // .f32
    T_STRING,   // the token is the text between the quotes, with unresolved escapes
    T_INT,      // value in `ival`
    T_BIGINT,   // integer of more than 64 bits
    T_F32,      // 0f........, bits in `ival`
    T_F64,      // 0d................
    T_VERSION,  // 9.0
    T_ARROW,
} Token;  // and every punctuation character as itself

typedef struct Lexer {
    const char *cur;          // next byte
    const char *limit;        // the NUL after the text
    const char *start, *end;  // the token
    uint64_t ival;
    RegFile file;
} Lexer;

int text_token(Lexer *lx);

#endif
