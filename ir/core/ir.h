// SPDX-License-Identifier: MIT
// Ori IR: module, function, block, instruction, operand, register; the opcode table; builder and verifier.
//
// All records have 32-bit ids, 0 = none. The records of a function are in segmented arrays of its arena and never move.
// An instruction is a record (36 bytes) and a run of operands (8 bytes each) in the order
//     definitions, uses, tied uses (one per definition; guarded instructions in ssa form only), guard.
// Only the accessors below depend on that order.
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

// State spaces. SP_SHARED is .shared::cta, the memory of the thread's own CTA; SP_CLUSTER is .shared::cluster, the
// memory of all CTAs of the cluster. SP_GENERIC is the space of an instruction that names no space.
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

// Traits of an opcode. Desc.traits also depends on the modifiers.
typedef enum {
    TR_PURE = 1 << 0,      // the value depends only on the operands
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
    TR_ORDERED = 1 << 14,  // volatile, relaxed, acquire, ...: left unchanged
    TR_RDONLY = 1 << 15,   // reads memory that is constant while the kernel runs
    TR_PSEUDO = 1 << 16,   // in ssa form only
    TR_OF_NEXT = 1 << 17,  // a marker that annotates the next instruction and moves with it
    TR_BITWISE = 1 << 18,  // each result bit depends only on the same bit of the operands
    TR_EXEMPT = 1 << 19,   // a rewrite has a lower cost in GeneralOptimizeMid
    // neither changes nor orders memory, as later plain loads of the thread see it; pure instructions do not either
    TR_NOCLOBBER = 1 << 20,
} Trait;

typedef struct OpInfo {
    const char *id;        // "MUL_WIDE"
    const char *mnemonic;  // "mul.wide"
    uint16_t number;       // opcode number in the source documents
    uint8_t ntypes;        // OP_RAW: the text after the mnemonic is kept as it is
    uint64_t types;        // allowed first types, a bit per Type
    uint32_t mods;         // allowed categories, a bit per ModCategory, and OP_HINT
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
    bool fresh;            // each read may return another value
    uint32_t least, most;  // bounds of the value; most = 0: unknown
} SregInfo;
extern const SregInfo sreg_info[SREG_COUNT];

/* opcode.c */
Type type_find(const char *text, size_t len);
// Returns the plain type of a class and width (f32, not f16x2); TY_NONE if there is none. TC_B with W1 gives `pred`.
Type type_make(TypeClass class, Width width);
Mod mod_find(const char *text, size_t len, uint32_t categories);
ModCategory mod_category(Mod mod);
const char *mod_text(Mod mod);
Space mod_space(Mod mod);    // the space that the modifier names; SP_GENERIC if none
Mod space_mod(Space space);  // the modifier that names the space; MOD_NONE if none
// True if `outer` contains every address of `inner`.
bool space_contains(Space outer, Space inner);
// Returns the first row with exactly this mnemonic, also through SPELLING; OPCODE_COUNT if none.
Opcode op_find(const char *text, size_t len);
// Returns the length of a name if it is the first words of a mnemonic, else 0.
static inline size_t op_name_length(const char *name, const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && name[n] && name[n] == text[n])
        n++;
    return !name[n] && (n == len || text[n] == '.') ? n : 0;
}
// Returns the first opcode whose mnemonic is the longest run of first words of the text, and its length there.
Opcode op_find_prefix(const char *text, size_t len, size_t *found);
// True if instructions whose first word is this one are known to exist, though no row has them.
bool op_family_known(const char *base, size_t len);
// Returns the first word of a mnemonic that ptxas takes in no instruction with the same first words, or that is no type
// of the rows; empty if there is none. The result points into the text.
Str op_unknown_word(const char *text, size_t len);
// Moves the words that belong to an opcode (MOVES of opcodes.def) to their place: `vote.ballot.sync.b32` becomes
// `vote.sync.ballot.b32`. Writes the mnemonic, of the same length, to `out`.
void op_gather_words(const char *text, size_t len, char *out);
// True if the word may begin an instruction that is not in the tables: mnemonics of ptxas are in lower case.
bool op_name_possible(const char *base, size_t len);
int sreg_find(const char *text, size_t len);  // -1 if none

/* -- Names and constants ------------------------------------------------------------------------------------ */

// An identifier as stem and number: "%r12" is ("%r", 12), "main" is ("main", NO_NUMBER).
typedef struct Name {
    StrId stem;
    uint32_t number;
} Name;
#define NO_NUMBER UINT32_MAX
// Names that phases make for parts of a variable have dots, which PTX does not permit: it has this text instead.
#define PTX_DOT "_$_"
enum { PTX_DOT_LEN = 3 };
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
enum { CONST_UNDEF = 0 };  // the id of `undef`

/* -- Descriptors -------------------------------------------------------------------------------------------- */

// A mnemonic with its modifiers and types, parsed once.
typedef struct Mnem {
    Opcode first;  // first row with the mnemonic; OP_OPAQUE if not modelled
    uint8_t ntypes;
    uint8_t type[3];
    uint8_t mod[MC_COUNT];
    StrId suffix;  // hints, or the text after the mnemonic of a RAW row, with the leading dot
    StrId text;    // canonical spelling
} Mnem;

// Operands that a slot accepts, and its role.
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
    SL_NOT = 1 << 11,     // `!` may negate the operand
    SL_AS_DEF = 1 << 12,  // has the width of the (one) definition
    SL_BARE = 1 << 13,    // with SL_SINK: no sink under a guard, since ptxas 13.0 crashes (ir/ptx/defects.def)
    SL_LANES = 1 << 14,   // the mask of the lanes that execute a collective together
} SlotFlag;

typedef struct Slot {
    uint16_t flags;
    uint8_t width;    // W_NONE = any
    uint8_t type;     // for reading and printing an immediate
    uint8_t rejects;  // declared types of registers that do not fit, a bit per TypeClass
    uint8_t range;    // RangeId, of constants
} Slot;

typedef enum {
    RANGE_ALL,
#define RANGE(id, ...) RANGE_##id,
#include "ir/core/ranges.def"
    RANGE_COUNT
} RangeId;

// The constants that a slot accepts; ranges.def describes the columns.
typedef struct RangeInfo {
    char letter;
    uint8_t bits;
    uint64_t least, most, step, text, reads, clamp;
    const char *words;
} RangeInfo;
extern const RangeInfo range_info[RANGE_COUNT];
static inline bool range_takes(RangeId range, uint64_t bits)
{
    const RangeInfo *r = &range_info[range];
    return range == RANGE_ALL || (bits >= r->least && bits <= r->most && bits % r->step == 0);
}

// A version of PTX, times ten, and the number of a target: the requirement of an instruction, or the module's own.
typedef struct Isa {
    uint16_t version, sm;
} Isa;

// Classes of instructions.
enum {
#define CLASS(id, what) INSTR_CLASS_##id,
#include "ir/core/classes.def"
    INSTR_CLASSES
};
typedef enum {
#define CLASS(id, what) IC_##id = 1 << INSTR_CLASS_##id,
#include "ir/core/classes.def"
} InstrClass;
typedef struct ClassInfo {
    const char *name, *what;
} ClassInfo;
extern const ClassInfo class_info[INSTR_CLASSES];

// An instruction without its operands: mnemonic and operand syntax.
typedef struct Desc {
    MnemId mnem;
    StrId shape;  // operand syntax: `%` operand, `$` symbol in a call, `&` base and offset, `~` guard-false successor
    DescId canonical;  // the first descriptor that computes the same (canonical.c)
    Opcode op;
    uint32_t traits;
    uint32_t classes;     // IC_*
    uint32_t ndef, nops;  // without guard and tied uses
    const Slot *slots;    // nops slots
    Isa needs;            // features.def
    bool plain;           // modelled, no terminator or pseudo, and no slot is hidden, in-out or as-def
} Desc;

// The fields of a mnemonic: opcode, types, and modifiers of different categories.
typedef struct MnemFields {
    Opcode op;
    Type type, from;  // `from` is the second type
    Mod mods[3];
} MnemFields;

typedef struct Tables Tables;
// Interned strings, mnemonics, descriptors and constants. The tables of a module are frozen after reading. Later
// entries of a function are added to its own tables, whose ids continue the module's.
struct Tables {
    const Tables *parent;
    Arena *arena;
    StrTable strs;
    uint32_t mnem_first, desc_first, const_first;
    VEC(Mnem) mnems;
    VEC(Desc) descs;
    VEC(Const) consts;
    IdSet mnem_index, desc_index, const_index;
    IdSet canonical_index;  // descriptors that are their own canonical one
    struct {
        MnemFields fields;
        DescId desc;  // 0 = none
    } made[16];       // cache of desc_of_fields(), by a hash of the fields
};

/* tables.c */
void tables_init(Tables *t, Arena *arena, const Tables *parent);
// Appends the entries of `from` that `t`, a copy of its first ones, lacks. Both share texts and slots.
void tables_copy_new(Tables *t, const Tables *from);
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
// Returns the sign-extended value of a constant; a predicate is 0 or 1.
int64_t const_signed(Const c);
// Splits an identifier into stem and number: returns the number (or NO_NUMBER) and sets *stem_end.
uint32_t name_number(const char *text, const char *end, const char **stem_end);
void name_print(Out *out, const Tables *t, Name name);
// Prints a stem or name with PTX_DOT for each dot.
void stem_print_ptx(Out *out, Str stem);
void name_print_ptx(Out *out, const Tables *t, Name name);
// Returns the name as a terminated string in `buf`; truncates a stem that does not fit.
const char *name_text(const Tables *t, Name name, char *buf, size_t cap);

/* canonical.c */
// Sets Desc.canonical of a descriptor that gets this id: the first descriptor of the tables that computes the same from
// the same operands, with the same operand syntax.
void desc_set_canonical(Tables *t, Desc *d, DescId id);

/* desc.c */
// Parses and interns a mnemonic in any spelling ("mul.f32.rn").
MnemId mnem_intern(Tables *t, const char *text, size_t len);
// Returns the descriptor for a mnemonic with this operand syntax. If its operands do not fit, returns 0 and sets *why
// to the expected signature.
DescId desc_intern(Tables *t, MnemId mnem, const char *shape, size_t len, const char **why);
// Enter one that the tables do not have.
MnemId mnem_add(Tables *t, Mnem m);
DescId desc_add(Tables *t, Desc d);
// Writes a signature in words, for messages: "dst, src, src".
void desc_expected(const char *signature, char words[static 200]);
// Returns the end of the element of a shape or signature that begins at `p`: the next comma outside brackets, or `end`.
const char *desc_element_end(const char *p, const char *end);
// Builders. A nonexistent instruction is an internal error unless the comment states that the result is then 0.
// Returns the descriptor of an instruction with the operands of its signature except the optional ones:
//     desc_make(t, OP_BRA), desc_make(t, OP_CVT, TY_S32, TY_S8), desc_make(t, OP_MUL, TY_F32, .mods = {MOD_RN})
// OP_PACK and OP_UNPACK have two parts.
#define desc_make(t, ...) desc_of_fields((t), (MnemFields){.op = __VA_ARGS__})
DescId desc_of_fields(Tables *t, MnemFields fields);
// Returns the descriptor for the mnemonic with the fields of `m`, except its text, and this operand syntax; 0 if its
// operands do not fit. The suffix must be a string of these tables.
DescId desc_of_mnem(Tables *t, const Mnem *m, const char *shape);
// Returns the number of elements of a vector access; 1 for other accesses.
uint32_t access_elements(const Mnem *m);
// Returns the descriptor of the same instruction in another state space; 0 if there is none.
DescId desc_with_space(Tables *t, DescId desc, Space space);
// Returns the descriptor of a comparison with another comparison operator and type and the same operand syntax.
DescId desc_with_cmp(Tables *t, DescId desc, Mod cmp, Type type);
// Returns the descriptor of `.pragma` with this text; 0 if the text is too long.
DescId desc_pragma(Tables *t, const char *text, size_t len);
// Returns the descriptor of a phi with this number of inputs.
DescId desc_phi(Tables *t, uint32_t inputs);
// Returns the descriptor for the text of a mnemonic.
DescId desc_parse(Tables *t, const char *mnemonic, const char *shape);

// A mnemonic in the spelling of the input, and the descriptor of its latest shape.
typedef struct MnemCache {
    const char *text;
    uint32_t len;  // of text, which is padded to eight bytes
    MnemId mnem;
    Opcode first;
    uint32_t shape_len;
    char shape[24];  // of desc
    DescId desc;
    bool regular;       // the shape consists of the operands of a plain descriptor and punctuation
    bool seen, warned;  // for the reader
} MnemCache;

typedef struct DescCache {
    Tables *tables;
    Arena *arena;
    VEC(MnemCache) mnems;
    IdSet index;
} DescCache;

/* desc_cache.c */
// Returns the entry of a mnemonic in this spelling, valid until the next call. `text` must be readable up to the next
// multiple of eight bytes from its start.
MnemCache *desc_cache_mnem(DescCache *c, const char *text, size_t len);
// The same without adding an entry; NULL if there is none.
MnemCache *desc_cache_known(const DescCache *c, const char *text, size_t len);
// Does the same as desc_intern(). `shape` must be readable up to the next multiple of eight bytes from its start.
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
    OPM_F32 = 1 << 4,      // immediate without a typed slot: printed as 0f...
    OPM_F64 = 1 << 5,      // immediate without a typed slot: printed as 0d...
    OPM_SPELLED = 1 << 6,  // offset 0 that a debug function prints, `[%SP+0]`: ptxas -O0 generates other code for it
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

// PINNED: an operand of an instruction that the IR does not model, or a register with too many phis. NAMED: declared
// outside the body (module, formals), so its name stays. SHOWN: a phase gave it its name, which Ori text shows.
enum { REG_PINNED = 1, REG_NAMED = 2, REG_SHOWN = 4 };

typedef struct Reg {
    Name name;         // in the input, or given by a phase; stem 0 = none
    uint32_t ordinal;  // number within its file, stable during a run
    uint8_t file, width;
    uint8_t flags;  // REG_*
    uint8_t type;   // as declared
} Reg;

// True if the register has a single definition in ssa form. Other registers may have several definitions in every form,
// and no phi, tied use or copy propagation touches them (copy propagation does with the knob CopyPropPreAllocReg).
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
    SYM_ALIGNED = 1 << 9,    // alignment is in the text
    SYM_RETURN = 1 << 10,    // formal: a return value
    SYM_GONE = 1 << 11,      // symbol of a function: unused, so it is not printed
    SYM_NORETURN = 1 << 12,  // function: its calls do not return
    SYM_PURE = 1 << 13,      // function: defined, and a call of it only computes its results
    SYM_STATIC = 1 << 14,    // variable of the module that a function declared
    // function: defined, and a call of it has the trait TR_NOCLOBBER, or lacks TR_CONV (callee_properties.c)
    SYM_NOCLOBBER = 1 << 15,
    SYM_NOCONV = 1 << 16,
    SYM_INTERNAL = 1 << 17,  // variable of the module: a part of one that the user internalizes (--internalize)
    SYM_PROPERTIES = SYM_PURE | SYM_NOCLOBBER | SYM_NOCONV,
};

// A part of an initializer that the linker sets.
typedef struct Reloc {
    uint64_t offset;  // in the initializer's bytes
    SymId sym;
    int64_t addend;
    uint64_t mask;  // of 0xff(sym): the mask of the byte; 0 = the whole address
    bool generic;   // generic(sym)
} Reloc;

typedef struct Init {
    uint8_t *bytes;
    uint64_t size;  // bytes given in the text
    Reloc *relocs;  // by offset
    uint32_t nrelocs;
    bool braces;
    StrId raw;  // texture references: kept as text
} Init;

// A formal parameter list.
typedef struct Sig {
    SymId *rets, *params;  // symbols of the function (or of the module for declarations)
    uint32_t nrets, nparams;
    bool has_params;  // `()` is in the text
    bool noreturn;    // of a prototype; functions: SYM_NORETURN
    // Of a prototype: the numbers of `.abi_preserve` and `.abi_preserve_control`, plus one; 0 = not in the text.
    uint32_t preserve, preserve_control;
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
    uint32_t callseq;  // during reading: the call that last wrote the symbol
} Sym;

enum { BLOCK_KEEP_LABEL = 1 };

typedef struct Block {
    Name label;  // stem 0 = none
    InstrId first, last;
    BlockId next, prev;  // layout
    uint32_t ordinal;    // number in Ori text, stable during a run
    uint32_t source;     // position in the source, for PlaceBlocksInSourceOrder
    uint32_t flags;
} Block;

// IMPLICIT: PTX output omits the terminator as long as it is a branch to the next block or a return at the end.
enum { IF_GUARDED = 1, IF_TIED = 2, IF_PINNED = 4, IF_IMPLICIT = 8 };

// Propagation marks: the bits 0x100, 0x200 and 0x400 of the documents. No phase leaves any (simplify_predicates.c).
enum { MARK_PROP = 1, MARK_DEFER = 2, MARK_UNDER = 4 };

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
    uint8_t marks;  // MARK_*
} Instr;

typedef struct Line {
    uint32_t file, line, col;
    LineId at;                 // the line of the call if the code was inlined, an earlier one, else 0
    Name function;             // label of the inlined function's name in .debug_str
    uint32_t function_offset;  // is added to the label
    LineId after;              // the preceding .loc if no instruction has it, else 0
} Line;

// Hashes file, line and column, for look-up by position.
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

// A knob setting of a pragma: the text after `knob `, and its offset in the source.
typedef struct KnobText {
    StrId text;
    size_t offset;
} KnobText;

typedef enum { FORM_MULTI, FORM_SSA } Form;

enum {
    FN_KERNEL = 1,
    FN_DEFINED = 2,
    FN_PASSTHROUGH = 4,      // contains code that the IR does not model: no phase may change it
    FN_DEBUG = 8,            // debug target: register names and labels stay
    FN_NO_WORKAROUNDS = 16,  // PTX output works around no defects of ptxas
};

struct Analyses;

// Entries of a DefTable other than instructions. JOINED: several definitions, or one that does not dominate all uses
// (multi form only). OUTSIDE: outside ssa form, or treated as outside.
#define DEF_JOINED (UINT32_MAX - 1)
#define DEF_OUTSIDE UINT32_MAX

// AN_DEF: the only definition of each register.
typedef struct DefTable {
    InstrId *at;  // by RegId; 0 = none
    RegId n;      // registers with entries; newer ones have no definition
    RegId cap;
    Arena *arena;  // has only the table
} DefTable;
// Returns the capacity for a table of n registers that may grow.
static inline RegId def_table_cap(RegId n) { return n + n / 8 + 16; }

// A function as it was read, before phases over the module changed it.
typedef struct FnInput {
    uint32_t instrs, blocks, regs;
    uint64_t local_bytes;  // of its variables in .local
    uint64_t text_hash;
} FnInput;

struct Fn {
    Module *module;
    Arena arena, code;  // code: of `instrs`, `ops` and `where`
    Tables *tables;     // the module's while reading, then its own
    SymId sym;
    uint32_t flags;  // FN_*
    Form form;
    Sig sig;
    VEC(Directive) directives;
    VEC(KnobText) knobs;  // those of the module before the function come first
    Seg instrs, ops, regs, blocks, syms, lines, lists;
    BlockId first, last;  // layout
    uint32_t ninstrs, nblocks;
    uint32_t pipeline_counter;  // progress of the pipeline, ctx+1552 of the documents; slots 83 and 95 set it
    uint32_t callseqs;          // call sequences so far
    uint32_t ordinals[REG_FILES], block_ordinals;  // next numbers in Ori text
    RegId cc;                                      // the carry register
    struct Analyses *analyses;
    DefTable *defs;        // the table of AN_DEF while it is valid, kept up to date by insertion and removal; else NULL
    uint32_t version;      // incremented by each phase that changes the function
    uint32_t properties;   // PROP_* that hold
    uint32_t settled;      // bit per sub-pass of bundles: it has nothing to do (phases/bundles/bundle.c)
    uint32_t classes;      // IC_* of all descriptors of its instructions and symbols since the last compaction
    uint32_t verified[4];  // by level: the version verified last
    uint64_t phi_limit;    // of the inputs of all phis of AN_RDEFS in multi form (ir/analysis/rdefs.c)
    FnInput *input;        // NULL: no phase over the module has run, or nothing asks for it
    void *paused;          // state of its plan while a phase over the module runs (phases/manager/manager.c); or NULL
    uint32_t npaused;      // bytes of this state
    uint32_t dumped;       // number of phases after which the function was dumped (phases/manager/dump.c)
    VEC(size_t) where;     // by InstrId: offset in the source, if the reader records positions
    size_t offset;         // in the source, for messages
};

// Properties that phases establish. After progress the manager clears those that the phase does not keep.
enum {
    PROP_NO_DEAD = 1 << 16,            // no dead code, except registers that only their own next values use
    PROP_NO_REDUNDANT_MOVE = 1 << 17,  // no redundant moves
    PROP_NO_SELF_MOVE = 1 << 18,       // no moves of a register to itself
    PROP_CONVENTIONAL = 1 << 19,       // in ssa form: no two members of a phi's congruence class are live at once
    PROP_REOPTIMIZE = 1 << 20,         // OriBranchOpt has just decided a branch, or GlobalOpt has changed code
    PROP_FLOW_MERGED = 1 << 21,        // no test repeats another one, as far as GeneralOptimizeEarly can tell
};

typedef enum { ITEM_VAR, ITEM_FN, ITEM_RAW } ItemKind;

// An item at module level, in the order of the input.
typedef struct Item {
    ItemKind kind;
    uint32_t index;  // SymId; index of a function; index of a text that is printed verbatim
} Item;

struct Module {
    Arena arena;
    Tables tables;
    StrId version, target;  // texts after `.version` and `.target`
    StrId sm;               // first entry of the target, "sm_90"
    size_t sm_offset;       // source offset of this entry
    Isa isa;                // both as numbers; UINT16_MAX: unknown
    uint32_t address_size;  // 0 = not in the text
    bool debug;
    VEC(Item) items;
    VEC(Sym) syms;                   // 0 is no symbol
    VEC(Fn *) fns;                   // NULL = dropped
    VEC(Str) texts;                  // of items; their hashes are unused
    uint32_t frozen;                 // number of functions with their own tables
    VEC(KnobText) knobs;             // for functions created later
    IdSet index;                     // SymIds by name
    struct DebugNames *debug_names;  // NULL until the first use
    VEC(bool) reserved;              // by StrId: stem of a module symbol that looks like a generated name
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

// True for a register in ssa form, without modifiers.
static inline bool op_in_ssa(const Fn *fn, Operand o)
{
    return op_is_reg(o) && !o.mods && reg_in_ssa(ir_reg(fn, op_index(o)));
}

// True if `def`, a definition of an instruction with this descriptor, is a 32-bit register whose value depends only on
// the operands.
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
// For a guarded instruction: the index of its guard among the operands, and the guard.
static inline uint32_t ir_guard_index(const Instr *i) { return i->nops - 1; }
static inline Operand *ir_guard(const Fn *fn, const Instr *i) { return ir_ops(fn, i) + ir_guard_index(i); }
// Returns the guard, or op_none().
static inline Operand ir_condition(const Fn *fn, const Instr *i)
{
    return ir_guarded(i) ? *ir_guard(fn, i) : op_none();
}

#define FOR_BLOCKS(fn, b) for (BlockId b = (fn)->first; b; b = ir_block((fn), b)->next)
// The same for walks that read only the first or last instruction of each block. These are far apart in memory, so
// block_ahead() prefetches the instructions of a block that the walk probably reaches soon.
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
#define FOR_INSTRS(fn, b, i) for (InstrId i = ir_block((fn), (b))->first; i; i = instr_after((fn), i))
// Most instructions are numbered in layout order. If the guess i + 1 is right, the next id is available before `next`
// has been loaded. The empty asm statement prevents the compiler from using `next` for the guess.
static inline InstrId instr_after(const Fn *fn, InstrId i)
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
// Returns the first symbol of this name; 0 if there is none. The name's stem may come from a function's tables.
SymId module_find(const Module *m, Name name);
void module_item(Module *m, ItemKind kind, uint32_t index);
// Appends an item that is printed verbatim. The text is not copied, and must live as long as the module.
void module_add_text(Module *m, Str text);
// Returns the text of an item that is printed verbatim; an empty text for another item.
Str module_item_text(const Module *m, const Item *item);
// True if an item is `.file NUMBER "NAME"`, which are then returned in *number and *name.
bool module_file(const Module *m, uint32_t item, uint32_t *number, Str *name);
void module_add_fn(Module *m, Fn *fn);
// Sets the properties of a function (SYM_PROPERTIES) for later functions of the module. Called after the function's
// plan.
void module_note_properties(Module *m, const Fn *fn);
// Frees a finished function. Its symbol stays, without a declaration.
void module_drop_fn(Module *m, uint32_t index);
// Ends reading: makes the module's tables read-only and gives each new function its own tables. Before reading resumes,
// functions with their own tables must be dropped, since the ids of these tables continue the module's.
void module_freeze(Module *m);
// For a module that threads use while another thread reads `from`. Moves the new functions of `from` to `m`, and copies
// its new items, symbols and table entries: those since the last call. Ids stay the same. Both modules share texts and
// initial values, so `from` must live as long as `m`. The functions keep their heap.
void module_take(Module *m, Module *from);
// Records the stem of a module symbol, so that the writer does not use it in generated names.
void module_reserve_stem(Module *m, StrId stem);
bool module_is_reserved(const Module *m, StrId stem);
bool stem_could_be_ours(Str stem);  // true if it begins like a generated name

/* lines.c */
LineId line_new(Fn *fn, Line line);
// Returns the line of the set with this position; 0 if there is none.
LineId line_find(const Fn *fn, const IdSet *set, const Line *line);
// Returns the line of the set with the position of the given one, which is added if there is none.
LineId line_first(const Fn *fn, IdSet *set, Arena *arena, LineId id);
// Writes the source position that .loc and .file give, such as "a.cu:3"; an empty text if they give none.
void fn_source_position(const Fn *fn, LineId line, char text[static 200]);

/* debug_names.c */
// Returns the label of a function's name in `.debug_str`. A missing name is added to the texts of the module. While
// other threads use the module, this must not be called.
Str module_debug_label(Module *m, SymId function);

/* features.c */
// Returns the version and target that a module must have for an instruction of this opcode, mnemonic and shape.
Isa isa_of(const Tables *t, Opcode op, const Mnem *m, Str shape);
// True if the version that isa_of() returns is known: the instruction is modelled, or a row names it, and `words.def`
// has all of its words.
bool isa_judged(const Tables *t, const Mnem *m);
// Returns the version that an instruction with these needs requires on the target of a module.
uint16_t isa_version(const Tables *t, const Mnem *m, const Module *module, Isa needs);
// Returns the version, at most that of the module, from which on its target does not have the instruction; 0 = none.
uint16_t isa_gone(const Tables *t, const Mnem *m, const Module *module);
enum { MNEM_OLDER_ROWS = 10 };
// Respells a mnemonic by a row of OLDER. Writes the text, at most `text.len` bytes, to `out`. False: the row does not
// apply, and nothing is written.
bool mnem_older(Str text, uint32_t row, char *out, size_t *len);
// Returns the least version, times ten, of a directive, pragma, target or special register; 0 = any, or unknown.
uint16_t ptx_since(const char *text, size_t len);
// Sets `isa` from the texts of version and target.
void module_set_isa(Module *m);
// The first .version for which features.def is complete, and the last one of ptxas 13.0.
enum { PTX_OLDEST = 31, PTX_NEWEST = 90 };
// Returns the number of a version of PTX that exists, from PTX_OLDEST to PTX_NEWEST; 0 for another text.
uint16_t ptx_version(const char *text, size_t len);
// True if the text of the module may name an instruction. The backend has no influence.
static inline bool module_takes(const Module *m, Isa needs)
{
    return m->isa.version >= needs.version && m->isa.sm >= needs.sm;
}

/* fn.c */
// Returns a new function without a place in the module.
Fn *fn_new(Module *m, SymId sym);
// Returns the greatest number of threads in a CTA of a kernel that .reqntid and .maxntid permit; 0 = not declared.
uint32_t fn_threads(const Fn *fn);
void fn_free(Fn *fn);
// Gives the function empty tables of instructions and operands in new memory.
void code_init(Fn *fn);
// Records the source offset of an instruction; fn_where() returns SIZE_MAX if it is unknown.
void fn_note_where(Fn *fn, InstrId i, size_t offset);
size_t fn_where(const Fn *fn, InstrId i);
// Numbers registers by appearance and blocks by layout, for final output. All other code, including clones and
// rereading, keeps the numbers.
void fn_renumber(Fn *fn);
// Gives the function its own tables (after module_freeze, before the first phase).
void fn_own_tables(Fn *fn);
// Record the text of a pragma if it is a knob setting, `knob NAME=VALUE`; the offset is that of its `k`. Settings of a
// module apply to functions that are created later.
void module_note_knob(Module *m, const char *text, size_t len, size_t offset);
void fn_note_knob(Fn *fn, const char *text, size_t len, size_t offset);
RegId reg_new(Fn *fn, RegFile file, Width width);
RegId reg_like(Fn *fn, RegId r);  // of the same file, width, name and declared type
Operand op_const(Fn *fn, uint64_t bits, Width width);
SymId fn_sym(Fn *fn, Name name, SymKind kind);
ListId list_new(Fn *fn, const Operand *targets, uint32_t n);
// Returns a new symbol for a table of branch or call targets; instructions name its `list`.
SymId fn_table(Fn *fn, Name name, SymKind kind, const Operand *targets, uint32_t n);
BlockId block_new(Fn *fn);             // not yet in the layout
void block_append(Fn *fn, BlockId b);  // at the end of the layout
void block_insert_after(Fn *fn, BlockId b, BlockId where);
void block_unlink(Fn *fn, BlockId b);
// Moves an instruction of another block and all instructions after it to the end of `b`.
void block_take(Fn *fn, BlockId b, InstrId first);
// Appends a new instruction to a block. `ops` are in canonical order, the guard last.
InstrId ir_append(Fn *fn, BlockId b, DescId desc, uint8_t flags, const Operand *ops, uint32_t n);
// The same for operands that are already in `run` = ops_new(fn, n).
uint32_t ops_new(Fn *fn, uint32_t n);
InstrId ir_append_run(Fn *fn, BlockId b, DescId desc, uint8_t flags, uint32_t run, uint32_t n);
InstrId ir_insert_before(Fn *fn, InstrId where, DescId desc, uint8_t flags, const Operand *ops, uint32_t n);
void ir_remove(Fn *fn, InstrId i);
InstrId ir_terminator(const Fn *fn, BlockId b);
// Changes the descriptor of an instruction.
static inline void instr_set_desc(Fn *fn, Instr *i, DescId desc)
{
    i->desc = desc;
    fn->classes |= tab_desc(fn->tables, desc)->classes;
}
// Calls `visit` for each block operand of a terminator, including the guard-false successor; `visit` may change it. A
// target that occurs twice is visited twice.
typedef void SuccVisit(void *user, Operand *target);
void ir_successors(const Fn *fn, InstrId terminator, SuccVisit *visit, void *user);
// Returns a hash of the code and symbols of a function, without propagation marks and labels. Ids of strings and
// descriptors differ between runs, so hashes of different runs are not comparable.
uint64_t ir_hash(const Fn *fn);

/* def_table.c */
// Insertion and removal of instructions call these functions. Code that changes a definition in place must call them,
// too.
// Enters the definitions of an instruction into fn->defs.
void def_table_define(Fn *fn, InstrId id);
// Sets the only definition of a renamed register (0 = none).
void def_table_set(Fn *fn, RegId r, InstrId id);
// Removes `def` from fn->defs if it is entered as a definition of this instruction.
void def_table_forget(Fn *fn, InstrId id, Operand def);

/* classes.c */
// Return the IC_* of a descriptor (Desc.classes) and of a symbol.
uint32_t desc_classes(const Tables *t, const Desc *d);
uint32_t symbol_classes(const Sym *s);
// Sets Fn.classes from the instructions and symbols of the function.
void fn_set_classes(Fn *fn);

/* import.c */
// Return the id in `to` of what has this id in `from`. Both are tables of functions of one frozen module.
StrId str_import(Tables *to, const Tables *from, StrId id);
Name name_import(Tables *to, const Tables *from, Name name);
ConstId const_import(Tables *to, const Tables *from, ConstId id);
DescId desc_import(Tables *to, const Tables *from, DescId id);

/* clone.c */
// Returns a copy with the same ids, in a new arena. Analyses are not copied.
Fn *fn_clone(const Fn *fn);

/* canonical.c */
// Returns a descriptor that equals that of each instruction that computes the same from the same operands: the
// canonical one, unless the width of a result register makes a difference between signed and unsigned types.
DescId desc_value(const Fn *fn, const Instr *i);
// True if desc_value() is the canonical descriptor for all instructions with this descriptor.
static inline bool desc_has_value(const Desc *d) { return d->op != OP_LD && d->op != OP_CVT; }

/* compact.c */
// Puts instructions and operands into layout order and drops removed ones. InstrIds and the numbers of operand runs
// change.
void fn_compact(Fn *fn);

/* callee_properties.c */
// Returns those of SYM_PROPERTIES that calls of the function have.
uint32_t fn_properties(const Fn *fn);
// Returns the function that a call names; 0 if the call is indirect.
SymId ir_callee(const Fn *fn, const Instr *call);
// True for a call of a function with one of SYM_PROPERTIES.
bool ir_call_has(const Fn *fn, const Instr *i, uint32_t property);

/* verify.c */
enum { VERIFY_STRUCTURE = 1, VERIFY_TYPES = 2, VERIFY_FORM = 3 };  // fn_verify() checks all of level 3
// Returns false at the first violation, with a message in `why` and the instruction, 0 = none, in *instr.
bool ir_verify(const Fn *fn, int level, InstrId *instr, char why[static 200]);
// Returns NULL if a slot accepts an operand, else the reason, in `why`.
const char *slot_check(const Fn *fn, const Slot *slot, Operand o, char why[static 200]);
// True if ptxas accepts the instruction with the sink `_` as definition k. Another definition must stay a register,
// unless the instruction is an atomic operation.
bool sink_fits(const Fn *fn, const Instr *i, uint32_t k);
// True if an instruction without a guard may get a guard: PTX permits it, and no result is a sink that ptxas accepts
// only in unguarded instructions. False for pinned instructions. The caller checks convergence, order and traps.
bool ir_may_guard(const Fn *fn, const Instr *i);
// Returns the constant for the slot, with the value that `o` has in a register. If the instruction reads only the low
// bits of `o`, or clamps `o`, that is the equivalent constant within the slot's range, else `o`.
Operand slot_constant(Fn *fn, const Slot *slot, Operand o);
// The common case of slot_check(): a register of exactly the slot's width, or a slot of any width and no predicate.
static inline bool slot_takes_reg(const Slot *slot, const Reg *r)
{
    return slot->flags & SL_REG && (slot->width ? slot->width == r->width : r->width > W1) &&
           !(slot->rejects >> type_info[r->type].class & 1);
}

#endif
