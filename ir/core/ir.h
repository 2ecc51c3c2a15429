// SPDX-License-Identifier: MIT
// Ori IR: module, function, block, instruction, operand, register; the opcode table; builder and verifier.
//
// Everything is named by 32-bit ids, 0 = none; records live in segmented arrays of the function's arena and never move.
// An instruction is a record (36 bytes) and a run of operands (8 bytes each) in the order
//     definitions, uses, tied uses (one per definition; guarded instructions in ssa form only), guard.
// Only the accessors below know that order.
#ifndef ORI_IR_H
#define ORI_IR_H

#include "ir/base/base.h"

typedef uint32_t InstrId, BlockId, RegId, SymId, DescId, MnemId, ConstId, ListId, LineId;

typedef struct Module Module;
typedef struct Fn Fn;

/* -- Types, modifiers, opcodes: the tables ------------------------------------------------------------------ */

typedef enum { W_NONE, W1, W8, W16, W32, W64, W128, WIDTH_COUNT } Width;
static inline uint32_t width_bits(Width w) { return w <= W1 ? (uint32_t)w : 4u << (w - W1); }

typedef enum {
    TY_NONE,
#define TYPE(id, name, width, class) TY_##id,
#include "ir/core/types.def"
#undef TYPE
    TYPE_COUNT
} Type;

typedef enum { TC_NONE, TC_P, TC_B, TC_U, TC_S, TC_F, TC_X, TC_O } TypeClass;

typedef struct TypeInfo {
    const char *name;
    Width width;
    TypeClass class;
} TypeInfo;
extern const TypeInfo type_info[TYPE_COUNT];

typedef enum {
#define CATEGORY(id) MC_##id,
#include "ir/core/modifiers.def"
    MC_COUNT
} ModCategory;

typedef enum {
    MOD_NONE,
#define MOD(id, text, category) MOD_##id,
#include "ir/core/modifiers.def"
    MOD_COUNT
} Mod;

typedef enum {
#define OP(id, ...) OP_##id,
#include "ir/core/opcodes.def"
    OPCODE_COUNT
} Opcode;

// State spaces. SP_SHARED is .shared::cta, the memory of the thread's own CTA; SP_CLUSTER is .shared::cluster, that of
// all CTAs of the cluster. SP_GENERIC: what an instruction means that names none.
typedef enum {
    SP_NONE,
    SP_GLOBAL,
    SP_CONST,
    SP_SHARED,
    SP_CLUSTER,
    SP_LOCAL,
    SP_PARAM,
    SP_REG,
    SP_TEX,
    SP_GENERIC
} Space;

// Traits of opcodes; desc->traits refines them by the modifiers.
typedef enum {
    TR_PURE = 1 << 0,      // the value depends on the operands alone
    TR_COMM = 1 << 1,      // the first two uses commute
    TR_ASSOC = 1 << 2,     // associative (integers)
    TR_READ = 1 << 3,      // reads memory
    TR_WRITE = 1 << 4,     // writes memory
    TR_BARRIER = 1 << 5,   // orders memory or threads
    TR_CONV = 1 << 6,      // convergent
    TR_TERM = 1 << 7,      // ends its block
    TR_TRAP = 1 << 8,      // may stop the thread
    TR_NOFOLD = 1 << 9,    // approximate or implementation-defined: never folded
    TR_EFFECT = 1 << 10,   // stays even if its results are unused
    TR_ASYNC = 1 << 11,    // completes later
    TR_NOGUARD = 1 << 12,  // takes no guard
    TR_MARKER = 1 << 13,   // no code
    TR_ORDERED = 1 << 14,  // volatile, relaxed, acquire, ...: never touched
    TR_RDONLY = 1 << 15,   // reads memory that nobody writes while the kernel runs
    TR_PSEUDO = 1 << 16,   // in ssa form only
    TR_OF_NEXT = 1 << 17,  // a marker that is about the next instruction, and goes with it
    TR_BITWISE = 1 << 18,  // a bit of the result depends on the same bit of the operands alone
} Trait;

typedef struct OpInfo {
    const char *id;        // "MUL_WIDE"
    const char *mnemonic;  // "mul.wide"
    uint16_t number;       // in the source documents
    uint8_t ntypes;        // OP_RAW: what follows the mnemonic is kept as text
    uint64_t types;        // bit per Type that the first type may be
    uint32_t mods;         // bit per ModCategory, and OP_HINT
    const char *signature;
    uint32_t traits;
    const char *meaning;
} OpInfo;
enum { OP_RAW = 0xff };
#define OP_HINT (1u << MC_COUNT)
extern const OpInfo op_info[OPCODE_COUNT];

typedef enum {
#define SREG(id, ...) SREG_##id,
#include "ir/core/sregs.def"
    SREG_COUNT
} Sreg;

typedef struct SregInfo {
    const char *name;
    uint32_t len;  // of the name
    Width width;
    bool fresh;            // a new value at each read
    uint32_t least, most;  // most is 0: not known
} SregInfo;
extern const SregInfo sreg_info[SREG_COUNT];

/* opcode.c */
Type type_find(const char *text, size_t len);
// Returns the type of a class and width, that of the name without a suffix; TY_NONE if there is none. A predicate is
// untyped bits.
Type type_make(TypeClass class, Width width);
Mod mod_find(const char *text, size_t len, uint32_t categories);
ModCategory mod_category(Mod mod);
const char *mod_text(Mod mod);
Space mod_space(Mod mod);    // that the modifier names; SP_GENERIC if none
Mod space_mod(Space space);  // the modifier that names a space; MOD_NONE if none
// True if each address in `inner` is one in `outer`.
bool space_contains(Space outer, Space inner);
// The first row whose mnemonic is exactly this text, through SPELLING too; OPCODE_COUNT if none.
Opcode op_find(const char *text, size_t len);
bool op_family_known(const char *base, size_t len);
// True if an instruction that the tables lack may begin with this word: ptxas has words in lower case only.
bool op_name_possible(const char *base, size_t len);
int sreg_find(const char *text, size_t len);  // -1 if none

/* -- Names and constants ------------------------------------------------------------------------------------ */

// An identifier as stem and number: "%r12" is ("%r", 12), "main" is ("main", NO_NUMBER).
typedef struct Name {
    StrId stem;
    uint32_t number;
} Name;
#define NO_NUMBER UINT32_MAX
static inline bool name_same(Name a, Name b) { return a.stem == b.stem && a.number == b.number; }
static inline uint32_t name_hash(Name name)
{
    uint64_t h = hash_mix(name.stem, name.number);
    return (uint32_t)(h ^ (h >> 32));
}

typedef struct Const {
    uint64_t bits;  // truncated to the width
    Width width;
} Const;
enum { CONST_UNDEF = 0 };  // the constant of its own

/* -- Descriptors -------------------------------------------------------------------------------------------- */

// A mnemonic with its modifiers and types, parsed once.
typedef struct Mnem {
    Opcode first;  // first row with the mnemonic; OP_OPAQUE when it is not modelled
    uint8_t ntypes;
    uint8_t type[3];
    uint8_t mod[MC_COUNT];
    StrId suffix;  // hints, or all that follows the mnemonic of a RAW row, with the leading dot
    StrId text;    // canonical spelling
} Mnem;

// What an operand position takes.
typedef enum {
    SL_REG = 1 << 0,
    SL_IMM = 1 << 1,
    SL_SYM = 1 << 2,
    SL_SREG = 1 << 3,
    SL_SINK = 1 << 4,
    SL_BLOCK = 1 << 5,
    SL_LIST = 1 << 6,
    SL_DEF = 1 << 7,      // a definition
    SL_WIDER = 1 << 8,    // the register may be wider
    SL_INOUT = 1 << 9,    // opaque: read and written
    SL_HIDDEN = 1 << 10,  // not printed in PTX
    SL_NOT = 1 << 11,     // may be negated with `!`
    SL_AS_DEF = 1 << 12,  // of the width of the (one) definition
    SL_BARE =
        1 << 13,  // with SL_SINK: the sink only where there is no guard, since ptxas 13.0 crashes (ir/ptx/defects.def)
} SlotFlag;

typedef struct Slot {
    uint16_t flags;
    uint8_t width;    // W_NONE = any
    uint8_t type;     // how an immediate is read and printed
    uint8_t rejects;  // bit per TypeClass that a register may not be declared with
    uint8_t range;    // RangeId, of constants
} Slot;

typedef enum {
    RANGE_ALL,
#define RANGE(id, ...) RANGE_##id,
#include "ir/core/ranges.def"
    RANGE_COUNT
} RangeId;

// The constants that a slot takes; ranges.def describes the columns.
typedef struct RangeInfo {
    char letter;
    uint64_t least, most, step, reads;
    const char *words;
} RangeInfo;
extern const RangeInfo range_info[RANGE_COUNT];
static inline bool range_takes(RangeId range, uint64_t bits)
{
    const RangeInfo *r = &range_info[range];
    return range == RANGE_ALL || (bits >= r->least && bits <= r->most && bits % r->step == 0);
}

// A version of PTX, times ten, and the number of a target: what an instruction needs, or what a module has.
typedef struct Isa {
    uint16_t version, sm;
} Isa;

// An instruction without its operands: mnemonic and operand syntax.
typedef struct Desc {
    MnemId mnem;
    StrId shape;  // operand syntax: `%` operand, `$` symbol in a call, `&` base and offset, `~` guard-false successor
    Opcode op;
    uint32_t traits;
    uint32_t ndef, nops;  // guard and tied uses not counted
    const Slot *slots;    // nops of them
    Isa needs;            // features.def
    bool plain;           // a modelled instruction that goes on, with operands of the usual kinds
} Desc;

// The fields of a mnemonic: opcode, types, and modifiers of different categories.
typedef struct MnemFields {
    Opcode op;
    Type type, from;  // `from` is the second type
    Mod mods[3];
} MnemFields;

typedef struct Tables Tables;
// Interned strings, mnemonics, descriptors and constants. A module's tables are frozen after reading; what a function
// adds later goes into its own, whose ids continue the parent's.
struct Tables {
    const Tables *parent;
    Arena *arena;
    StrTable strs;
    uint32_t mnem_first, desc_first, const_first;
    VEC(Mnem) mnems;
    VEC(Desc) descs;
    VEC(Const) consts;
    IdSet mnem_index, desc_index, const_index;
    struct {
        MnemFields fields;
        DescId desc;  // 0 = none
    } made[16];       // what desc_of_fields() found last, by a hash of the fields
};

/* tables.c */
void tables_init(Tables *t, Arena *arena, const Tables *parent);
ConstId const_intern(Tables *t, uint64_t bits, Width width);
static inline const Mnem *tab_mnem(const Tables *t, MnemId id)
{
    while (id < t->mnem_first)
        t = t->parent;
    return &t->mnems.at[id - t->mnem_first];
}
static inline const Desc *tab_desc(const Tables *t, DescId id)
{
    while (id < t->desc_first)
        t = t->parent;
    return &t->descs.at[id - t->desc_first];
}
static inline Const tab_const(const Tables *t, ConstId id)
{
    while (id < t->const_first)
        t = t->parent;
    return t->consts.at[id - t->const_first];
}
static inline Str tab_str(const Tables *t, StrId id) { return str_get(&t->strs, id); }
// The sign-extended value of a constant.
int64_t const_signed(Const c);
// Splits an identifier into stem and number: returns the number (or NO_NUMBER) and where the stem ends.
uint32_t name_number(const char *text, const char *end, const char **stem_end);
void name_print(Out *out, const Tables *t, Name name);
// The same as a terminated string; a stem that does not fit is cut.
const char *name_text(const Tables *t, Name name, char *buf, size_t cap);

/* desc.c */
// Parses and interns a mnemonic in any spelling ("mul.f32.rn").
MnemId mnem_intern(Tables *t, const char *text, size_t len);
// The descriptor for a mnemonic with this operand syntax. If its operands do not fit: 0, and *why is the signature that
// they should fit.
DescId desc_intern(Tables *t, MnemId mnem, const char *shape, size_t len, const char **why);
// A signature in words, for messages: "dst, src, src".
void desc_expected(const char *signature, char words[static 200]);
// The end of the shape's (or signature's) element that begins at `p`: the next comma outside brackets, or `end`.
const char *desc_element_end(const char *p, const char *end);
// Builders. An instruction that does not exist is an internal error unless 0 is mentioned.
// Returns the descriptor of an instruction with the operands of its signature, without those that may be missing:
//     desc_make(t, OP_BRA), desc_make(t, OP_CVT, TY_S32, TY_S8), desc_make(t, OP_MUL, TY_F32, .mods = {MOD_RN})
// OP_PACK and OP_UNPACK are of two halves.
#define desc_make(t, ...) desc_of_fields((t), (MnemFields){.op = __VA_ARGS__})
DescId desc_of_fields(Tables *t, MnemFields fields);
// Returns the descriptor for the mnemonic with the fields of `m`, its text aside, and this operand syntax; 0 if its
// operands do not fit. The suffix must be one of these tables.
DescId desc_of_mnem(Tables *t, const Mnem *m, const char *shape);
// Returns the descriptor of the same instruction in a state space; 0 if it names none.
DescId desc_with_space(Tables *t, DescId desc, Space space);
// Returns the descriptor of a comparison of another kind and type with the same operand syntax.
DescId desc_with_cmp(Tables *t, DescId desc, Mod cmp, Type type);
// Returns the descriptor of `.pragma` and this text; 0 if the text is too long.
DescId desc_pragma(Tables *t, const char *text, size_t len);
// Returns the descriptor of a phi with so many inputs.
DescId desc_phi(Tables *t, uint32_t inputs);
// Returns the descriptor for the text of a mnemonic.
DescId desc_parse(Tables *t, const char *mnemonic, const char *shape);

// A mnemonic as it is spelled, and the descriptor for the shape that it had last.
typedef struct MnemCache {
    const char *text;
    uint32_t len;  // of text, which is padded to eight bytes
    MnemId mnem;
    Opcode first;
    uint32_t shape_len;
    char shape[24];  // of desc
    DescId desc;
    bool seen, warned;  // for the reader
} MnemCache;

typedef struct DescCache {
    Tables *tables;
    Arena *arena;
    VEC(MnemCache) mnems;
    IdSet index;
} DescCache;

/* desc_cache.c */
// The mnemonic with this spelling; at least eight bytes must be readable from the start of each eight of `text`. Valid
// until the next call.
MnemCache *desc_cache_mnem(DescCache *c, const char *text, size_t len);
// As desc_intern(). The same holds for `shape`.
DescId desc_cache_find(DescCache *c, MnemCache *mnem, const char *shape, uint32_t n, const char **why);
// Warns once for each mnemonic of an instruction that the version or the target of the module lacks: ptxas rejects it.
void desc_cache_warn(MnemCache *mnem, const Module *m, DescId desc, Diag *diag, size_t offset);

/* -- Operands ----------------------------------------------------------------------------------------------- */

typedef enum { K_NONE, K_REG, K_IMM, K_SYM, K_SREG, K_BANK, K_BLOCK, K_LIST } Kind;
typedef enum { RF_R, RF_UR, RF_P, RF_UP, RF_CC, REG_FILES } RegFile;
extern const char *const reg_file_names[REG_FILES];

typedef struct Operand {
    uint32_t word;  // 31 definition | 30:28 kind | 27:24 register file | 23:0 index
    uint32_t mods;  // OPM_*, constraint bits 0x1C00
} Operand;

enum {
    OPM_NEG = 1 << 0,
    OPM_ABS = 1 << 1,
    OPM_NOT = 1 << 2,
    OPM_INOUT = 1 << 3,    // operand of an opaque instruction: read and written
    OPM_F32 = 1 << 4,      // immediate without a typed slot: written as 0f...
    OPM_F64 = 1 << 5,      // immediate without a typed slot: written as 0d...
    OPM_SPELLED = 1 << 6,  // offset 0 that a debug function spells out, `[%SP+0]`: ptxas -O0 makes other code of it
    OPM_CONSTRAINTS = 0x1C00,
    OPM_CONSTRAINT_SHIFT = 10,
};

enum { INDEX_MAX = (1 << 24) - 1, SYM_LOCAL = 1 << 23 };

static inline Operand op_make(Kind kind, RegFile file, uint32_t index)
{
    return (Operand){(uint32_t)kind << 28 | (uint32_t)file << 24 | index, 0};
}
static inline Kind op_kind(Operand o) { return (Kind)(o.word >> 28 & 7); }
static inline RegFile op_file(Operand o) { return (RegFile)(o.word >> 24 & 15); }
static inline uint32_t op_index(Operand o) { return o.word & INDEX_MAX; }
static inline bool op_is_def(Operand o) { return o.word >> 31; }
static inline bool op_is_reg(Operand o) { return op_kind(o) == K_REG; }
static inline Operand op_def(Operand o) { return (Operand){o.word | 1u << 31, o.mods}; }
static inline Operand op_none(void) { return (Operand){0, 0}; }
static inline Operand op_imm(ConstId id) { return op_make(K_IMM, 0, id); }
static inline Operand op_sym(SymId id) { return op_make(K_SYM, 0, id); }
static inline Operand op_block(BlockId id) { return op_make(K_BLOCK, 0, id); }
static inline bool op_is_undef(Operand o) { return op_kind(o) == K_IMM && op_index(o) == CONST_UNDEF; }
// True for a constant whose bits are known.
static inline bool op_is_const(Operand o) { return op_kind(o) == K_IMM && op_index(o) != CONST_UNDEF; }
static inline bool op_same(Operand a, Operand b) { return a.word == b.word && a.mods == b.mods; }

/* -- Registers, symbols, blocks, instructions --------------------------------------------------------------- */

// PINNED: touched by an instruction that we do not model; NAMED: declared elsewhere (module, formals), so its name
// stays.
enum { REG_PINNED = 1, REG_NAMED = 2 };

typedef struct Reg {
    Name name;         // in the input; stem 0 for a register that a phase made
    uint32_t ordinal;  // its number within its file, stable during a run
    uint8_t file, width;
    uint8_t flags;  // REG_*
    uint8_t type;   // as declared
} Reg;

// Whether the register has but one definition in ssa form. The others have as many as they like in any form, and no
// phi, tied use or copy propagation touches them.
static inline bool reg_in_ssa(const Reg *r) { return !(r->flags & (REG_PINNED | REG_NAMED)) && r->file != RF_CC; }

typedef enum { SYM_VAR, SYM_FUNC, SYM_FORMAL, SYM_CALLPARAM, SYM_PROTO, SYM_CALLTARGETS, SYM_BRANCHTARGETS } SymKind;

enum {
    SYM_VISIBLE = 1 << 0,
    SYM_EXTERN = 1 << 1,
    SYM_WEAK = 1 << 2,
    SYM_COMMON = 1 << 3,
    SYM_ARRAY = 1 << 4,
    SYM_OPEN = 1 << 5,       // array without a size
    SYM_PTR = 1 << 6,        // kernel parameter declared `.ptr`
    SYM_DEFINED = 1 << 7,    // function: has a body
    SYM_KERNEL = 1 << 8,     // function: .entry
    SYM_ALIGNED = 1 << 9,    // alignment was written
    SYM_RETURN = 1 << 10,    // formal: a return value
    SYM_GONE = 1 << 11,      // variable of a function: nothing names it any more, so it is not printed
    SYM_NORETURN = 1 << 12,  // function: a call of it does not come back
    SYM_PURE = 1 << 13,      // function: defined, and a call of it does nothing but to compute its results
};

// Part of an initializer that the linker fills in.
typedef struct Reloc {
    uint64_t offset;  // in the initializer's bytes
    SymId sym;
    int64_t addend;
    uint64_t mask;  // 0xff(sym): which byte; 0 = all of the address
    bool generic;   // generic(sym)
} Reloc;

typedef struct Init {
    uint8_t *bytes;
    uint64_t size;  // bytes that were given
    Reloc *relocs;  // by offset
    uint32_t nrelocs;
    bool braces;
    StrId raw;  // texture references: kept as text
} Init;

// A formal parameter list.
typedef struct Sig {
    SymId *rets, *params;  // symbols of the function (or of the module for declarations)
    uint32_t nrets, nparams;
    bool has_params;  // `()` was written
    bool noreturn;    // of a prototype; functions: SYM_NORETURN
} Sig;

typedef struct Sym {
    Name name;
    uint8_t kind, space, type, vec;
    uint8_t ptr_space;  // .ptr
    uint32_t flags;     // SYM_*
    uint32_t align;     // bytes
    uint32_t ptr_align;
    uint64_t count;   // elements (of vec * type)
    uint64_t size;    // bytes; 0 while open
    StrId attribute;  // `.attribute(...)`, kept as text
    Init *init;
    Fn *fn;            // function: its last declaration or its definition
    Sig *sig;          // prototype
    ListId list;       // branch targets, call targets
    uint32_t callseq;  // while reading: the call that last wrote it
} Sym;

enum { BLOCK_KEEP_LABEL = 1 };

typedef struct Block {
    Name label;  // stem 0 = none
    InstrId first, last;
    BlockId next, prev;  // layout
    uint32_t ordinal;    // its number in Ori text, stable during a run
    uint32_t source;     // position in the source, for PlaceBlocksInSourceOrder
    uint32_t flags;
} Block;

// IMPLICIT: a terminator that the text need not spell out: falling into the next block, or off the function's end.
enum { IF_GUARDED = 1, IF_TIED = 2, IF_PINNED = 4, IF_IMPLICIT = 8 };

typedef struct Instr {
    InstrId next, prev;
    BlockId block;
    DescId desc;
    uint32_t ops;      // first operand
    uint32_t nops;     // all operands, tied uses and guard included
    LineId line;       // source line, 0 = none
    uint32_t callseq;  // call sequence, 0 = none
    uint16_t ndef;
    uint8_t flags;  // IF_*
    uint8_t marks;  // propagation marks (0x100, 0x200, 0x400 of the documents as bits 0 to 2)
} Instr;

typedef struct Line {
    uint32_t file, line, col;
    uint32_t in_file, in_line, in_col;  // inlined_at, in_file 0 = none
    Name function;                      // function_name label
    uint32_t function_offset;
    LineId after;  // a .loc directly before this one, which no instruction has
} Line;

// Of file, line and column, for look-up by position.
static inline uint32_t line_hash(const Line *l)
{
    uint64_t h = hash_mix(hash_mix(l->file, l->line), l->col);
    return (uint32_t)(h ^ (h >> 32));
}
static inline bool line_same(const Line *a, const Line *b)
{
    return a->file == b->file && a->line == b->line && a->col == b->col;
}

// A list operand: branch targets or call targets.
typedef struct List {
    uint32_t ops;
    uint32_t n;
} List;

typedef struct Directive {
    StrId text;  // ".maxntid", or the whole text for .pragma
    uint32_t n;
    uint32_t value[3];
} Directive;

// A setting of knobs in a pragma, which is for us: what stands behind `knob `, and where it does in the source.
typedef struct KnobText {
    StrId text;
    size_t offset;
} KnobText;

typedef enum { FORM_MULTI, FORM_SSA } Form;

enum {
    FN_KERNEL = 1,
    FN_DEFINED = 2,
    FN_PASSTHROUGH = 4,      // something in it is beyond the model: no phase may change it
    FN_DEBUG = 8,            // debug target: register names and labels stay
    FN_NO_WORKAROUNDS = 16,  // PTX output may meet known defects of ptxas
};

struct Analyses;

// Entries of a DefTable that are no instruction: a register with several definitions, or one that does not dominate all
// uses (never in ssa form); a register outside of ssa form.
#define DEF_JOINED (UINT32_MAX - 1)
#define DEF_OUTSIDE UINT32_MAX

// The one definition of each register: AN_DEF.
typedef struct DefTable {
    InstrId *at;  // by RegId; 0 = none
    RegId n;      // registers that it has entries for; newer ones have no definition
    RegId cap;
    Arena *arena;  // of the table alone
} DefTable;
// Returns the length of a table for so many registers and some more.
static inline RegId def_table_cap(RegId n) { return n + n / 8 + 16; }

struct Fn {
    Module *module;
    Arena arena;
    Tables *tables;  // the module's while reading, then its own
    SymId sym;
    uint32_t flags;  // FN_*
    Form form;
    Sig sig;
    VEC(Directive) directives;
    VEC(KnobText) knobs;  // those of the module above it first
    Seg instrs, ops, regs, blocks, syms, lines, lists;
    BlockId first, last;  // layout
    uint32_t ninstrs, nblocks;
    uint32_t callseqs;                             // call sequences so far
    uint32_t ordinals[REG_FILES], block_ordinals;  // next numbers in Ori text
    RegId cc;                                      // the carry register
    struct Analyses *analyses;
    DefTable *defs;        // that of AN_DEF while it is valid, which insertion and removal keep so; else NULL
    uint32_t version;      // counts the phases that changed it
    uint32_t properties;   // PROP_*: those that hold
    uint32_t verified[4];  // by level: the version that was verified
    VEC(size_t) where;     // by InstrId: offset in the source, if the reader was asked for it
    size_t offset;         // in the source, for messages
};

// Properties that phases establish. The manager clears those that a phase with progress does not keep.
enum {
    PROP_NO_DEAD = 1 << 16,            // there is no dead code
    PROP_NO_REDUNDANT_MOVE = 1 << 17,  // there is no redundant move
    PROP_NO_SELF_MOVE = 1 << 18,       // there is no move of a register to itself
    PROP_CONVENTIONAL = 1 << 19,       // in ssa form: no members of a phi's congruence class are live at once
    PROP_BRANCH_DECIDED = 1 << 20,     // OriBranchOpt has just decided a branch
};

typedef enum { ITEM_VAR, ITEM_FN, ITEM_RAW } ItemKind;

// One thing at module level, in the order of the input.
typedef struct Item {
    ItemKind kind;
    uint32_t index;  // SymId; index of a function; StrId of text that is printed as it stands
} Item;

struct Module {
    Arena arena;
    Tables tables;
    StrId version, target;  // texts behind `.version` and `.target`
    StrId sm;               // first entry of the target, "sm_90"
    size_t sm_offset;       // in the source, of this entry
    Isa isa;                // both as numbers; UINT16_MAX: not known
    uint32_t address_size;  // 0 = not written
    bool debug;
    VEC(Item) items;
    VEC(Sym) syms;        // 0 is no symbol
    VEC(Fn *) fns;        // NULL: it was dropped
    uint32_t frozen;      // functions that have tables of their own
    VEC(KnobText) knobs;  // for functions that are yet to come
    IdSet index;          // SymIds by name
    VEC(bool) reserved;   // by StrId: stem of a module symbol that could be taken for a name of ours
};

/* -- Accessors ---------------------------------------------------------------------------------------------- */

static inline Instr *ir_instr(const Fn *fn, InstrId i) { return seg_at(&fn->instrs, i, sizeof(Instr)); }
static inline Block *ir_block(const Fn *fn, BlockId b) { return seg_at(&fn->blocks, b, sizeof(Block)); }
static inline Reg *ir_reg(const Fn *fn, RegId r) { return seg_at(&fn->regs, r, sizeof(Reg)); }
static inline Line *ir_line(const Fn *fn, LineId l) { return seg_at(&fn->lines, l, sizeof(Line)); }
static inline List *ir_list(const Fn *fn, ListId l) { return seg_at(&fn->lists, l, sizeof(List)); }
static inline Operand *ir_run(const Fn *fn, uint32_t ops) { return seg_at(&fn->ops, ops, sizeof(Operand)); }
static inline Operand *ir_ops(const Fn *fn, const Instr *i) { return ir_run(fn, i->ops); }
static inline Sym *ir_sym(const Fn *fn, SymId s)
{
    return s & SYM_LOCAL ? (Sym *)seg_at(&fn->syms, s & ~(uint32_t)SYM_LOCAL, sizeof(Sym)) : &fn->module->syms.at[s];
}
static inline const Desc *ir_desc(const Fn *fn, const Instr *i) { return tab_desc(fn->tables, i->desc); }
static inline bool ir_is_phi(const Fn *fn, InstrId i) { return ir_desc(fn, ir_instr(fn, i))->op == OP_PHI; }

static inline Operand op_reg(const Fn *fn, RegId r) { return op_make(K_REG, (RegFile)ir_reg(fn, r)->file, r); }

// True for a register that enters ssa form, without modifiers.
static inline bool op_in_ssa(const Fn *fn, Operand o)
{
    return op_is_reg(o) && !o.mods && reg_in_ssa(ir_reg(fn, op_index(o)));
}

// True if `def`, a definition of an instruction of this descriptor, is a 32-bit register that its operands alone
// decide.
static inline bool is_pure_word(const Fn *fn, const Desc *d, Operand def)
{
    return d->traits & TR_PURE && op_is_reg(def) && ir_reg(fn, op_index(def))->width == W32;
}

static inline bool ir_guarded(const Instr *i) { return i->flags & IF_GUARDED; }
static inline uint32_t ir_ntied(const Instr *i) { return i->flags & IF_TIED ? i->ndef : 0; }
static inline uint32_t ir_nuse(const Instr *i) { return i->nops - i->ndef - ir_ntied(i) - ir_guarded(i); }
static inline Operand *ir_def(const Fn *fn, const Instr *i, uint32_t k) { return ir_ops(fn, i) + k; }
static inline Operand *ir_use(const Fn *fn, const Instr *i, uint32_t k) { return ir_ops(fn, i) + i->ndef + k; }
static inline Operand *ir_tied(const Fn *fn, const Instr *i, uint32_t k) { return ir_use(fn, i, ir_nuse(i) + k); }
// Of a guarded instruction: the place of its guard among the operands, and the guard.
static inline uint32_t ir_guard_index(const Instr *i) { return i->nops - 1; }
static inline Operand *ir_guard(const Fn *fn, const Instr *i) { return ir_ops(fn, i) + ir_guard_index(i); }
// The guard, or none.
static inline Operand ir_condition(const Fn *fn, const Instr *i)
{
    return ir_guarded(i) ? *ir_guard(fn, i) : op_none();
}

#define FOR_BLOCKS(fn, b) for (BlockId b = (fn)->first; b; b = ir_block((fn), b)->next)
// The same for walks that look at the first or last instruction of each block alone. These lie far apart in memory, so
// those of a block that is likely to come soon are asked for.
#define FOR_BLOCK_ENDS(fn, b) \
    for (BlockId b = block_ahead((fn), (fn)->first); b; b = block_ahead((fn), ir_block((fn), b)->next))
static inline BlockId block_ahead(const Fn *fn, BlockId b)
{
    BlockId ahead = b + 6;
    if (ahead < fn->blocks.n) {
        __builtin_prefetch(ir_instr(fn, ir_block(fn, ahead)->first));
        __builtin_prefetch(ir_instr(fn, ir_block(fn, ahead)->last));
    }
    return b;
}
#define FOR_INSTRS(fn, b, i) for (InstrId i = ir_block((fn), (b))->first; i; i = instr_behind((fn), i))
// Most are numbered in layout order. Where that is guessed, the next one is at hand before `next` has come from memory;
// the empty statement keeps the compiler from seeing that both ways lead to the same number.
static inline InstrId instr_behind(const Fn *fn, InstrId i)
{
    InstrId next = ir_instr(fn, i)->next, guess = i + 1;
    if (next != guess)
        return next;
    __asm__("" : "+r"(guess));
    return guess;
}
#define FOR_INSTRS_BACK(fn, b, i) for (InstrId i = ir_block((fn), (b))->last; i; i = instr_before((fn), i))
static inline InstrId instr_before(const Fn *fn, InstrId i)
{
    InstrId prev = ir_instr(fn, i)->prev, guess = i - 1;
    if (prev != guess)
        return prev;
    __asm__("" : "+r"(guess));
    return guess;
}

/* -- Construction ------------------------------------------------------------------------------------------- */

/* module.c */
Module *module_new(Heap *heap);
void module_free(Module *m);
SymId module_sym(Module *m, Name name, SymKind kind);
// The first symbol of this name; 0 if there is none. The name's stem may come from a function's tables.
SymId module_find(const Module *m, Name name);
void module_item(Module *m, ItemKind kind, uint32_t index);
// Returns whether an item is `.file NUMBER "NAME"`, with these.
bool module_file(const Module *m, uint32_t item, uint32_t *number, Str *name);
// Writes the position in the source that .loc and .file give, "a.cu:3"; empty: they give none.
void fn_source_position(const Fn *fn, LineId line, char text[static 200]);
void module_add_fn(Module *m, Fn *fn);
// Says of a function that is done with that it is pure, if it is, for those that are looked at later.
void module_note_pure(Module *m, const Fn *fn);
// Frees a function that is done with: its symbol stays, without a declaration.
void module_drop_fn(Module *m, uint32_t index);
// Ends reading, for now: the module's tables are read-only from here on. Functions that were read since the last time
// get tables of their own. Before more is read, functions must have been dropped, since ids of theirs go on from these.
void module_freeze(Module *m);
// Says that a symbol of the module has this stem, so that the writer does not use it for names of its own.
void module_reserve_stem(Module *m, StrId stem);
bool module_is_reserved(const Module *m, StrId stem);
bool stem_could_be_ours(Str stem);  // begins like a name that the writer makes

/* features.c */
// Returns what the text of a module needs to name an instruction of this opcode and mnemonic.
Isa isa_of(Opcode op, const Mnem *m);
// Sets `isa` from the texts of version and target.
void module_set_isa(Module *m);
// Returns whether the text of the module may name an instruction. The backend has no part in it.
static inline bool module_takes(const Module *m, Isa needs)
{
    return m->isa.version >= needs.version && m->isa.sm >= needs.sm;
}

/* fn.c */
// A function without a place in the module yet.
Fn *fn_new(Module *m, SymId sym);
void fn_free(Fn *fn);
// Keeps where in the source an instruction stands; fn_where() = SIZE_MAX: that is not known.
void fn_note_where(Fn *fn, InstrId i, size_t offset);
size_t fn_where(const Fn *fn, InstrId i);
// Numbers registers by appearance and blocks by layout, as they are printed in final output.
void fn_renumber(Fn *fn);
// Gives the function tables of its own (after module_freeze, before the first phase).
void fn_own_tables(Fn *fn);
// Notes what a pragma says if it is a setting of knobs, `knob NAME=VALUE`; the offset is that of its `k`. What a module
// says holds for functions that are made later.
void module_note_knob(Module *m, const char *text, size_t len, size_t offset);
void fn_note_knob(Fn *fn, const char *text, size_t len, size_t offset);
RegId reg_new(Fn *fn, RegFile file, Width width);
RegId reg_like(Fn *fn, RegId r);  // one of the same file, width, name and declared type
Operand op_const(Fn *fn, uint64_t bits, Width width);
SymId fn_sym(Fn *fn, Name name, SymKind kind);
ListId list_new(Fn *fn, const Operand *targets, uint32_t n);
// A symbol for a table of branch or call targets; its `list` is what instructions name.
SymId fn_table(Fn *fn, Name name, SymKind kind, const Operand *targets, uint32_t n);
BlockId block_new(Fn *fn);             // not yet in the layout
void block_append(Fn *fn, BlockId b);  // at the end of the layout
void block_insert_after(Fn *fn, BlockId b, BlockId where);
void block_unlink(Fn *fn, BlockId b);
// Moves an instruction of another block and all behind it to the end of `b`.
void block_take(Fn *fn, BlockId b, InstrId first);
// A new instruction at the end of a block. `ops` in the canonical order; guard last.
InstrId ir_append(Fn *fn, BlockId b, DescId desc, uint8_t flags, const Operand *ops, uint32_t n);
// The same for operands that were put into `run` = ops_new(fn, n) already.
uint32_t ops_new(Fn *fn, uint32_t n);
InstrId ir_append_run(Fn *fn, BlockId b, DescId desc, uint8_t flags, uint32_t run, uint32_t n);
InstrId ir_insert_before(Fn *fn, InstrId where, DescId desc, uint8_t flags, const Operand *ops, uint32_t n);
void ir_remove(Fn *fn, InstrId i);
InstrId ir_terminator(const Fn *fn, BlockId b);
// Calls `visit` for each block operand of a terminator (guard-false successor included); it may change it. The same
// target is visited as often as it is named.
typedef void SuccVisit(void *user, Operand *target);
void ir_successors(const Fn *fn, InstrId terminator, SuccVisit *visit, void *user);
// A hash of everything that printing shows. Ids of strings and descriptors are those of one run, so it compares states
// of one run only.
uint64_t ir_hash(const Fn *fn);

/* def_table.c */
// The insertion and removal of instructions call these. Whoever changes a definition in place calls them, too.
// Enters the definitions of an instruction into fn->defs.
void def_table_define(Fn *fn, InstrId id);
// Makes an instruction (0 = none) the one definition of a register that is renamed.
void def_table_set(Fn *fn, RegId r, InstrId id);
// Removes `def`, which is no definition of the instruction any more, from fn->defs.
void def_table_forget(Fn *fn, InstrId id, Operand def);

/* clone.c */
// A copy with the same ids, in an arena of its own. Analyses are not copied.
Fn *fn_clone(const Fn *fn);

/* compact.c */
// Puts instructions and operands into layout order, without those that are no more in the layout. InstrIds and the
// numbers of runs are new ones.
void fn_compact(Fn *fn);

/* pure.c */
// Whether a call of the function does nothing but to compute its results.
bool fn_is_pure(const Fn *fn);
// The function that a call names; 0 = it is indirect.
SymId ir_callee(const Fn *fn, const Instr *call);
// Whether the instruction is a call of a function known to be pure, with its results in parameters.
bool ir_calls_pure(const Fn *fn, const Instr *i);

/* verify.c */
enum { VERIFY_STRUCTURE = 1, VERIFY_TYPES = 2, VERIFY_FORM = 3 };  // the whole of level 3: fn_verify()
// The first violation as text in `why` (empty = none); *instr is where, if it is an instruction.
bool ir_verify(const Fn *fn, int level, InstrId *instr, char why[static 200]);
// Whether an operand may stand in a slot; otherwise what is wrong with it.
const char *slot_check(const Fn *fn, const Slot *slot, Operand o, char why[static 200]);
// Returns whether definition k may become the sink `_`, so that ptxas takes the instruction: another one stays a
// register, unless it is an atomic operation.
bool sink_fits(const Fn *fn, const Instr *i, uint32_t k);
// True if an instruction without a guard may get one: PTX takes a guard there, it has no old values, and no result is a
// sink that ptxas takes only without. Convergence, order and traps are the caller's to check.
bool ir_may_guard(const Fn *fn, const Instr *i);
// Returns the constant that PTX names in the slot in place of `o`: the equal one within the slot's range if the
// instruction reads only the low bits of it, else `o`.
Operand slot_constant(Fn *fn, const Slot *slot, Operand o);
// The common case of slot_check: a register of just the slot's width.
static inline bool slot_takes_reg(const Slot *slot, const Reg *r)
{
    return slot->flags & SL_REG && slot->width == r->width && !(slot->rejects >> type_info[r->type].class & 1);
}

#endif
