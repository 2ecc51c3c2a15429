// SPDX-License-Identifier: MIT
// The PTX reader's inside: shared state, scopes, expressions, declarations, bodies.
#ifndef ORI_PTX_READ_H
#define ORI_PTX_READ_H

#include <setjmp.h>

#include "ir/ptx/lex.h"
#include "ir/ptx/ptx.h"

/* -- Scopes ------------------------------------------------------------------------------------------------- */

typedef enum { BIND_NONE, BIND_REG, BIND_SYM, BIND_LABEL } BindKind;

typedef struct Bind {
    Name name;
    uint32_t shadowed;  // the bind of the same name in an outer scope
    uint32_t outer;     // the innermost defined label among those; 0 = none
    uint32_t depth;     // of the scope; 0 = module
    uint8_t kind;       // BindKind
    uint8_t vec;        // register: elements of a vector register, else 0
    bool defined;       // label: has been seen
    uint32_t id;        // RegId, SymId, BlockId
    size_t offset;      // in the source
} Bind;

// `.reg .b32 %r<100>`: registers come into being when they are first named.
typedef struct Range {
    StrId stem;
    uint32_t shadowed, depth, count;
    uint8_t vec, file, width, type;
    RegId **pages;  // of RANGE_PAGE entries, made when first touched; an entry is the first of a vector's registers
} Range;
enum { RANGE_PAGE_BITS = 12, RANGE_PAGE = 1 << RANGE_PAGE_BITS };

typedef struct NameSlot {
    Name name;
    uint32_t bind;   // innermost
    uint32_t epoch;  // the slot is free unless this is the table's
} NameSlot;

typedef struct NameTable {
    NameSlot *slots;
    uint32_t mask, n, epoch;
} NameTable;

typedef struct StemInfo {
    uint32_t epoch;
    uint32_t range;  // innermost range with this stem
    bool scalars;    // a single name with this stem is bound too
} StemInfo;

typedef struct Scope {
    uint32_t binds, ranges;  // how many there were when it opened
} Scope;

/* -- Reader ------------------------------------------------------------------------------------------------- */

// An operand as it was written: literals get their width when the instruction is known.
typedef struct Parsed {
    Operand op;
    const Reg *reg;   // of op, if it is a register
    uint8_t literal;  // LIT_*
    bool sum;         // of a register and a constant, which an instruction in front computes
    uint64_t value;
    size_t offset;
} Parsed;
enum { LIT_NONE, LIT_INT, LIT_F32, LIT_F64 };

// A vector register that is a formal parameter, an argument or a result, and the array that stands for it.
typedef struct Vector {
    SymId sym;
    RegId reg;  // the first of `count`
    uint32_t count;
    bool returns;
    size_t at;
} Vector;

// A constant expression's value.
typedef struct Value {
    uint8_t kind;  // LIT_*
    bool is_unsigned;
    uint64_t bits;  // integer, float bits or double bits by kind
} Value;

// Short stems by their bytes.
typedef struct StemCache {
    uint64_t key;
    StrId id;
} StemCache;

typedef struct PtxReader {
    Lexer lx;
    StemCache stem_cache[256];
    int tok;
    const Source *source;
    Diag *diag;
    PtxReadOptions options;
    jmp_buf *recover;  // where a syntax error goes: to the next statement
    Module *m;
    Tables *t;            // &m->tables
    Arena arena;          // dies with the reader, which lies in it
    bool begun;           // the first token was read
    bool stop;            // too many errors
    VEC(Vector) vectors;  // formals of the function
    VEC(Vector) results;  // of the call that is being read
    uint32_t brackets;    // of any kind that are open in the operands that are being read
    uint32_t braces;      // open in the statement that is being read, for error recovery
    bool saw_version, saw_target;
    size_t piece;           // where the piece begins that is being read
    const char *statement;  // the start of the statement or item that is being read

    VEC(Reg) module_regs;             // PTX 1.x and 2.x: registers at module level
    NameTable globals, locals, used;  // used: label and symbol names of the function, to keep them unique
    VEC(Bind) binds;                  // 0 is none
    VEC(Bind) global_binds;
    VEC(Range) ranges;    // 0 is none
    VEC(StemInfo) stems;  // by StrId
    VEC(Scope) scopes;
    DescCache descs;
    struct {
        BlockId from, to;
    } * aliases;
    uint32_t naliases, cap_aliases;
    uint64_t label_moves;  // of undefined labels from scope to scope

    // The function being read.
    Fn *fn;
    BlockId block;     // open block, 0 = unreachable until a label
    uint32_t sources;  // blocks placed so far
    LineId line;
    bool line_used;  // an instruction has it
    DescId desc_bra;
    bool carry;  // the carry was written in this block
    VEC(Parsed) ops;
    VEC(char) shape;
    VEC(InstrId) pending;  // st.param of call temporaries in this block that no call has taken
    uint32_t block_seq;    // call sequences before this block
} Reader;

/* read.c */
// Reports at the offset and unwinds to the next statement.
_Noreturn void rd_fail(Reader *r, size_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// The same with the word at the offset for the `%.*s` of the format.
_Noreturn void rd_fail_word(Reader *r, size_t offset, const char *fmt);
// Reports a missing semicolon before the token at the offset: at the end of the token before it, if that stands on an
// earlier line. Unwinds to the next statement.
_Noreturn void rd_fail_end(Reader *r, size_t offset, const char *message);
// Reports and goes on.
void rd_error(Reader *r, size_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void rd_next(Reader *r);            // operand token
void rd_next_statement(Reader *r);  // token at the start of a statement
static inline size_t rd_offset(const Reader *r)
{
    return (size_t)(r->lx.start - r->source->text);
}  // of the current token
bool rd_accept(Reader *r, int token);
void rd_expect(Reader *r, int token, const char *where);
static inline bool rd_is_text(const Reader *r, const char *text, size_t len)
{
    return (size_t)(r->lx.end - r->lx.start) == len && memcmp(r->lx.start, text, len) == 0;
}
#define rd_is(r, literal) rd_is_text((r), literal, sizeof(literal) - 1)  // the current token is this text
Name rd_split(Reader *r, const char *text, const char *end);             // source text to a name
Name rd_token_name(Reader *r);                                           // the current identifier
Name rd_name(Reader *r);                                                 // takes an identifier
// The text of the tokens up to and with `close`, which matches the bracket that is the current token.
StrId rd_balanced(Reader *r, const char *prefix, int open, int close);
void rd_skip_statement(Reader *r);

/* scope.c */
void scope_init(Reader *r);
void scope_function_start(Reader *r);
void scope_open(Reader *r);
void scope_close(Reader *r);
const Bind *scope_find(Reader *r, Name name);
const Bind *scope_find_global(const Reader *r, Name name);
void scope_declare_global(Reader *r, Name name, BindKind kind, uint32_t id, size_t offset);
RegId scope_find_reg(Reader *r, Name name, uint32_t *vec);  // 0 if it is no register
// The common case of scope_find_reg: a scalar register of a range that was named before. 0 = look properly.
static inline RegId scope_known_reg(const Reader *r, Name name)
{
    const StemInfo *info = name.stem < r->stems.n ? &r->stems.at[name.stem] : NULL;
    if (!info || info->epoch != r->locals.epoch || info->scalars || !info->range)
        return 0;
    const Range *range = &r->ranges.at[info->range];
    const RegId *page = name.number < range->count && !range->vec ? range->pages[name.number >> RANGE_PAGE_BITS] : NULL;
    return page ? page[name.number & (RANGE_PAGE - 1)] : 0;
}
void scope_declare(Reader *r, Name name, BindKind kind, uint32_t id, uint8_t vec, size_t offset);
void scope_declare_range(Reader *r, Name name, Range range, size_t offset);
RegId scope_new_reg(Reader *r, Name name, uint8_t file, uint8_t width, uint8_t type, uint32_t vec);
BlockId scope_label_use(Reader *r, Name name, size_t offset);
BlockId scope_label_define(Reader *r, Name name, size_t offset);
// The name itself, or the name with a suffix if the function has that already.
Name scope_unique(Reader *r, Name name);

/* expr.c */
// A constant expression; unwinds on error.
Value expr_parse(Reader *r);
int64_t expr_integer(Reader *r, const char *what);
bool expr_starts(const Reader *r);

/* decl.c */
// The bits of a literal in a place of this type; false (and *why) if it may not stand there.
bool literal_bits(Type type, Value v, uint64_t *bits, const char **why);
void decl_registers(Reader *r, bool module_level);
void decl_variable(Reader *r, Space space, uint32_t linkage);
// `(formals)`; `declare` enters them into the scope.
void decl_formals(Reader *r, Sig *sig, bool returns, bool declare);
// `.reg .global ...`: the space that a directive opens; SP_NONE if it is none.
Space decl_space(const Reader *r);

/* operand.c */
static inline void rd_shape(Reader *r, char c) { VEC_PUSH(&r->arena, &r->shape, c); }
static inline void rd_push_op(Reader *r, Operand op, size_t offset)
{
    const Reg *reg = op_is_reg(op) ? ir_reg(r->fn, op_index(op)) : NULL;
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.op = op, .reg = reg, .offset = offset}));
}
static inline void rd_push_literal(Reader *r, Value v, size_t offset)
{
    VEC_PUSH(&r->arena, &r->ops, ((Parsed){.literal = v.kind, .value = v.bits, .offset = offset}));
}
// Everything up to the semicolon, into r->shape and r->ops.
void rd_operands(Reader *r, const MnemCache *mnem);
// r->ops against the slots, in canonical order, the guard last. Returns the run in fn->ops and its length.
uint32_t rd_fit_operands(Reader *r, const MnemCache *mnem, DescId desc, const Operand *guard, BlockId next,
                         uint32_t *n);

/* call.c */
// The operands of a call up to the semicolon, into r->shape and r->ops.
void rd_call(Reader *r);
// Numbers the call's sequence: the stores into its arguments before it and, as they come, the loads of its results.
void rd_number_call(Reader *r, InstrId call);
// Notes an ld.param or st.param that may belong to a call sequence.
void rd_note_param(Reader *r, InstrId id, Opcode op);

/* vector.c */
// Makes the formal with the vector's type an array; reg: the first of its registers, 0 in a prototype.
void vector_formal(Reader *r, SymId sym, RegId reg, bool returns, size_t at);
void vector_check_linkage(Reader *r, uint32_t flags);  // once the function's SYM_* flags are known
void vector_load_formals(Reader *r);                   // where the body begins
void vector_store_results(Reader *r);                  // in front of a return
// Returns the array for an argument of a call, which is stored, or for a result, which vector_load_results() loads.
SymId vector_argument(Reader *r, RegId reg, uint32_t count, bool result);
void vector_load_results(Reader *r);  // behind the call

/* body.c */
void rd_need_block(Reader *r);  // opens a block if none is open
// The statements up to the closing brace, which stays the current token.
void body_read(Reader *r);
// After the function's scope is closed: what could not be settled earlier.
void body_finish(Reader *r);

#endif
