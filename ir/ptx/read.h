// SPDX-License-Identifier: MIT
// Internals of the PTX reader: shared state, scopes, expressions, declarations, bodies.
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
    uint32_t outer;     // the innermost defined label among the shadowed binds; 0 = none
    uint32_t depth;     // depth of the scope; 0 = module
    uint8_t kind;       // BindKind
    uint8_t vec;        // number of elements of a vector register, else 0
    bool defined;       // false for a label before its definition
    uint32_t id;        // RegId, SymId, BlockId
    size_t offset;      // in the source
} Bind;

// A range `.reg .b32 %r<100>`. A register of it is made when it is first named.
typedef struct Range {
    StrId stem;
    uint32_t shadowed, depth, count;
    uint8_t vec, file, width, type;
    RegId **pages;  // of RANGE_PAGE entries, made on first use; an entry of a vector is its first register
} Range;
enum { RANGE_PAGE_BITS = 12, RANGE_PAGE = 1 << RANGE_PAGE_BITS };

typedef struct NameSlot {
    Name name;
    uint32_t bind;   // innermost
    uint32_t epoch;  // the slot is free unless this equals the table's epoch
} NameSlot;

typedef struct NameTable {
    NameSlot *slots;
    uint32_t mask, n, epoch;
} NameTable;

typedef struct StemInfo {
    uint32_t epoch;
    uint32_t range;  // innermost range with this stem
    bool scalars;    // a single name with this stem is also bound
} StemInfo;

typedef struct Scope {
    uint32_t binds, ranges;  // numbers of binds and ranges when the scope was opened
} Scope;

/* -- Reader ------------------------------------------------------------------------------------------------- */

// An operand as written: a literal gets its width from the instruction later.
typedef struct Parsed {
    Operand op;
    const Reg *reg;   // the register of `op`, or NULL
    uint8_t literal;  // LIT_*
    bool sum;         // sum of a register and a constant, which an instruction before this one computes
    uint64_t value;
    size_t offset;
} Parsed;
enum { LIT_NONE, LIT_INT, LIT_F32, LIT_F64 };

// A vector register that is a formal parameter, an argument or a result, and the array that replaces it.
typedef struct Vector {
    SymId sym;
    RegId reg;  // the first of `count`
    uint32_t count;
    bool returns;
    size_t at;
} Vector;

// Value of a constant expression.
typedef struct Value {
    uint8_t kind;  // LIT_*
    bool is_unsigned;
    uint64_t bits;  // integer, float bits or double bits by kind
} Value;

// Entry of the cache of short stems.
typedef struct StemCache {
    uint64_t key;
    StrId id;
} StemCache;

// Entry of the cache of mnemonics of up to 24 bytes.
enum { WORD_MAX = 24 };
typedef struct WordCache {
    uint64_t key[WORD_MAX / 8];
    uint32_t index1;  // in the array of descs, plus one
} WordCache;

// The lines of the function by position, up to the last one with `inlined_at`.
typedef struct LineIndex {
    Arena arena;
    IdSet first;       // LineIds by position
    VEC(LineId) last;  // by id of the first line with a position: the last one
} LineIndex;

typedef struct PtxReader {
    Lexer lx;
    StemCache stem_cache[256];
    WordCache word_cache[1024];
    int tok;
    const Source *source;
    Diag *diag;
    PtxReadOptions options;
    jmp_buf *recover;  // target of a syntax error, which continues at the next statement
    Module *m;
    Tables *t;            // &m->tables
    Arena arena;          // also holds the reader
    bool begun;           // the first token was read
    bool stop;            // too many errors
    VEC(Vector) vectors;  // formals of the function
    VEC(Vector) results;  // results of the current call
    uint32_t brackets;    // number of open brackets of all kinds in the current operands
    uint32_t braces;      // number of open braces in the current statement, for error recovery
    bool saw_version, saw_target;
    bool lowered;           // options.version is lower than the version of the text
    size_t piece;           // offset of the current piece
    const char *statement;  // start of the current statement or item

    VEC(Reg) module_regs;             // PTX 1.x and 2.x: registers at module level
    NameTable globals, locals, used;  // used: printed names of labels and symbols of the function
    Arena names;                      // of `locals`, `used`, `binds`, `ranges`, `scopes` and `aliases`
    VEC(Bind) binds;                  // 0 is none
    VEC(Bind) global_binds;
    VEC(Range) ranges;    // 0 is none
    VEC(StemInfo) stems;  // by StrId
    VEC(Scope) scopes;
    DescCache descs;
    MnemCache *mnem;  // entry of the current token, if it is a mnemonic that was read before; else NULL
    struct {
        BlockId from, to;
    } * aliases;
    uint32_t naliases, cap_aliases;
    uint64_t label_moves;  // number of moves of undefined labels to outer scopes

    // The current function.
    Fn *fn;
    BlockId block;     // open block, 0 = unreachable until a label
    uint32_t sources;  // number of blocks placed so far
    LineId line;
    bool line_used;  // an instruction has this line
    LineIndex lines;
    DescId desc_bra;
    bool carry;  // the carry was written in this block
    VEC(Parsed) ops;
    VEC(char) shape;
    VEC(InstrId) pending;  // st.param of call arguments in this block that belong to no call yet
    uint32_t block_seq;    // number of call sequences before this block
} Reader;

/* read.c */
// Reports at the offset and unwinds to the next statement.
_Noreturn void rd_fail(Reader *r, size_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Does the same as rd_fail(), with the word at the offset for the `%.*s` of the format.
_Noreturn void rd_fail_word(Reader *r, size_t offset, const char *fmt);
// Reports a semicolon that is missing before the token at the offset: at the end of the previous token if that is on an
// earlier line. Unwinds to the next statement.
_Noreturn void rd_fail_end(Reader *r, size_t offset, const char *message);
// Reports at the offset and returns.
void rd_error(Reader *r, size_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Reports a directive, or another text with a row of SINCE, that options.version does not have. `offset` is its place.
void rd_need(Reader *r, size_t offset, const char *text, size_t len);
void rd_need_token(Reader *r);      // the same for the current token
void rd_need_pragma(Reader *r);     // for the current token, the string of a pragma
void rd_next(Reader *r);            // reads the next token within a statement
void rd_next_statement(Reader *r);  // reads the first token of a statement
// Returns the offset of the current token.
static inline size_t rd_offset(const Reader *r) { return (size_t)(r->lx.start - r->source->text); }
bool rd_accept(Reader *r, int token);
void rd_expect(Reader *r, int token, const char *where);
static inline bool rd_is_text(const Reader *r, const char *text, size_t len)
{
    return (size_t)(r->lx.end - r->lx.start) == len && memcmp(r->lx.start, text, len) == 0;
}
#define rd_is(r, literal) rd_is_text((r), literal, sizeof(literal) - 1)  // true if the current token is this text
// Interns a stem, through a direct-mapped cache keyed by the bytes of short stems: a source may have millions of
// register names. The slack after the source covers the read of eight bytes.
static inline StrId rd_stem(Reader *r, const char *text, size_t len)
{
    if (len > 8 || len == 0)
        return str_intern(&r->t->strs, text, len);
    uint64_t key;
    memcpy(&key, text, 8);
    key &= ~(uint64_t)0 >> (64 - 8 * len);
    StemCache *c = &r->stem_cache[(key * 0x9E3779B97F4A7C15u) >> 56];
    if (c->key != key) {
        c->id = str_intern(&r->t->strs, text, len);
        c->key = key;
    }
    return c->id;
}
Name rd_split(Reader *r, const char *text, const char *end);  // splits a name of the source into a Name
Name rd_token_name(Reader *r);                                // the current identifier
Name rd_name(Reader *r);                                      // reads an identifier
// Returns `prefix` and the text of the tokens from the current one, `open`, to the matching `close`.
StrId rd_balanced(Reader *r, const char *prefix, int open, int close);
void rd_skip_statement(Reader *r);

/* scope.c */
void scope_init(Reader *r);
// Frees the tables of names in functions if they are large. For calls between functions.
void scope_trim(Reader *r);
void scope_function_start(Reader *r);
void scope_open(Reader *r);
void scope_close(Reader *r);
const Bind *scope_find(Reader *r, Name name);
const Bind *scope_find_global(const Reader *r, Name name);
void scope_declare_global(Reader *r, Name name, BindKind kind, uint32_t id, size_t offset);
RegId scope_find_reg(Reader *r, Name name, uint32_t *vec);        // 0 if the name is no register
RegId scope_range_reg(Reader *r, const Range *range, Name name);  // the register of a range, made on first use
// Fast path of scope_find_reg() for a scalar register of the innermost range. 0 = call scope_find_reg().
static inline RegId scope_scalar_reg(Reader *r, Name name)
{
    const StemInfo *info = name.stem < r->stems.n ? &r->stems.at[name.stem] : NULL;
    if (!info || info->epoch != r->locals.epoch || info->scalars || !info->range)
        return 0;
    const Range *range = &r->ranges.at[info->range];
    if (name.number >= range->count || range->vec)
        return 0;
    const RegId *page = range->pages[name.number >> RANGE_PAGE_BITS];
    RegId reg = page ? page[name.number & (RANGE_PAGE - 1)] : 0;
    return reg ? reg : scope_range_reg(r, range, name);
}
void scope_declare(Reader *r, Name name, BindKind kind, uint32_t id, uint8_t vec, size_t offset);
void scope_declare_range(Reader *r, Name name, Range range, size_t offset);
RegId scope_new_reg(Reader *r, Name name, uint8_t file, uint8_t width, uint8_t type, uint32_t vec);
BlockId scope_label_use(Reader *r, Name name, size_t offset);
BlockId scope_label_define(Reader *r, Name name, size_t offset);
// Returns the name, with a suffix if the function has the name already.
Name scope_unique(Reader *r, Name name);

/* expr.c */
// Reads a constant expression; unwinds on error.
Value expr_parse(Reader *r);
int64_t expr_integer(Reader *r, const char *what);
bool expr_starts(const Reader *r);

/* decl.c */
// Computes the bits of a literal for a slot of this type. False, with the reason in *why, if the type takes no such
// literal.
bool literal_bits(Type type, Value v, uint64_t *bits, const char **why);
void decl_registers(Reader *r, bool module_level);
void decl_variable(Reader *r, Space space, uint32_t linkage);
// Reads `(formals)`; `declare` enters them into the scope.
void decl_formals(Reader *r, Sig *sig, bool returns, bool declare);
// Returns the state space that a directive names (`.reg`, `.global`), or SP_NONE.
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
// Reads the operands up to the semicolon into r->shape and r->ops.
void rd_operands(Reader *r, const MnemCache *mnem);
// Checks r->ops against the slots and puts them into canonical order, the guard last. Returns the run in fn->ops and
// its length.
uint32_t rd_fit_operands(Reader *r, const MnemCache *mnem, DescId desc, const Operand *guard, BlockId next,
                         uint32_t *n);
// Turns a literal into a constant for its slot. Returns NULL, or the reason why the slot rejects the literal, which may
// be in `words`.
const char *rd_literal(Reader *r, const Parsed *p, const Desc *d, const Slot *slot, Operand *op,
                       char words[static 200]);
// Returns the modifiers of an offset that is in the text.
static inline uint32_t rd_offset_mods(const Reader *r) { return r->fn->flags & FN_DEBUG ? OPM_SPELLED : 0; }
// Returns an operand that its slot accepts as a definition or as a use.
static inline Operand rd_in_slot(const Slot *slot, Operand op) { return slot->flags & SL_DEF ? op_def(op) : op; }

/* predict.c */
// Reads the operands up to the semicolon if they have the latest shape of their mnemonic, which must be regular, and
// stores them in canonical order; `d` is the descriptor. If the result is false, the token is still the mnemonic.
bool rd_predict(Reader *r, const MnemCache *mnem, const Desc *d, Operand *ops);

/* call.c */
// Reads the operands of a call up to the semicolon into r->shape and r->ops.
void rd_call(Reader *r);
// Numbers the call's sequence: the call and the earlier stores to its arguments. Loads of results follow in
// rd_note_param().
void rd_number_call(Reader *r, InstrId call);
// Records an ld.param or st.param that may belong to a call sequence.
void rd_note_param(Reader *r, InstrId id, Opcode op);

/* vector.c */
// Replaces a formal of a vector type by an array. `reg` is the first register of the vector, 0 in a prototype.
void vector_formal(Reader *r, SymId sym, RegId reg, bool returns, size_t at);
void vector_check_linkage(Reader *r, uint32_t flags);  // once the function's SYM_* flags are known
void vector_load_formals(Reader *r);                   // at the start of the body
void vector_store_results(Reader *r);                  // before a return
// Returns a new array for an argument of a call, and stores the argument. vector_load_results() loads a result.
SymId vector_argument(Reader *r, RegId reg, uint32_t count, bool result);
void vector_load_results(Reader *r);  // after the call

/* body.c */
void rd_need_block(Reader *r);  // opens a block if none is open
// Reads the statements up to the closing brace, which stays the current token.
void body_read(Reader *r);
// Resolves the aliases of labels, after the function's scope is closed.
void body_finish(Reader *r);

#endif
