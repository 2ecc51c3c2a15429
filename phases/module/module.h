// SPDX-License-Identifier: MIT
// Declarations of phases over the module, and of their parts.
#ifndef ORI_PHASE_MODULE_H
#define ORI_PHASE_MODULE_H

#include "ir/analysis/call_graph.h"
#include "ir/rewrite/inline_call.h"
#include "phases/bodies.h"
#include "phases/globalopt/gain.h"
#include "phases/manager/remarks.h"

/* listed.c */
// A list of names and patterns.
typedef struct SymbolList {
    VEC(Str) names;
    IdSet index;  // of the names, by their hashes
    VEC(const char *) patterns;
} SymbolList;
// Parses the text of a list; returns NULL for NULL.
const SymbolList *symbol_list(Arena *arena, const char *text);
// True if a list has the name of the symbol, or a pattern that matches it; NULL: an empty list.
bool module_lists(const SymbolList *list, const Module *m, SymId sym);
// The same for the text of a short list.
bool module_lists_in_text(const char *list, const Module *m, SymId sym);
// True if only the code of the module reads, writes or calls a symbol, since the user says so (--internalize).
bool module_internalizes(const Ctx *ctx, const Module *m, SymId sym);

/* constant_tables.c */
// Tables of functions that keep their initial values.
typedef struct ConstantTables {
    uint32_t n;
    bool *at;  // by SymId, or by local symbol: it is such a table
} ConstantTables;
// Finds those of the module; symbols that the module gets later are none. NULL: there are none.
const ConstantTables *constant_tables(const Ctx *ctx, const Module *m, Arena *arena);
// Finds those that a function declares.
const ConstantTables *constant_tables_of(const Fn *fn, Arena *arena);
// Calls `take` for each function whose address a load may return, in any order, possibly several times. False: `take`
// returned false, or the load may return something else. The function is in ssa form. NULL = there are no tables.
typedef bool TakeFunction(void *user, SymId function);
bool loaded_functions(const ConstantTables *module, const ConstantTables *own, const Fn *fn, const Analyses *a,
                      const Instr *load, TakeFunction *take, void *user);

/* names.c */
// The names that symbols, labels and registers of a module have.
typedef struct ModuleNames {
    Arena *arena;
    VEC(struct NameUse) at;
    IdSet index;
} ModuleNames;
// Collects the names of a module.
void module_names_init(ModuleNames *names, Arena *arena, const Module *m);
// Adds the symbols of a function from this index on, and with 1 also its labels and registers.
void module_names_add(ModuleNames *names, const Fn *fn, uint32_t first_symbol);
// Returns a name for a variable of the function that becomes one of the module: its own name, or with another number if
// another declaration has it.
Name module_names_take(ModuleNames *names, Module *m, const Fn *fn, Name name);

// Returns a name for a part of a variable: the stem and the number, or another one if one of these names or a symbol of
// the module has it, in Ori text or in PTX. The stem is interned in `t`.
Name module_names_make(ModuleNames *names, const Module *m, Tables *t, const char *stem, uint32_t number);

/* statics.c */
// Moves the `.shared`, `.global` and `.const` variables of a function to the module, where copies of the function name
// the same objects. The caller calls module_order_items() afterwards. Returns progress.
bool module_take_statics(ModuleNames *names, Module *m, Fn *fn);

/* order_items.c */
// Orders the items so that each symbol is declared before the first item that names it: moves variables and prototypes
// forward, and adds missing prototypes and variables. Otherwise the order stays.
void module_order_items(Module *m);

/* prepare.c */
// Optimizes a function before it is inlined, or before its callees are: address spaces, promotion, folding, copies,
// dead code, direct calls, in ssa form. The function is entered (phase_enter). It is in multi form before and
// afterwards. Returns progress; sets *direct if calls became direct.
bool prepare_function(Ctx *ctx, Fn *fn, bool *direct);

/* inline_cost.c */
// The cost of a callee.
typedef struct CalleeCost {
    int64_t size;     // instructions, without markers and accesses of parameters
    uint32_t locals;  // bytes of `.local` variables
    bool collective;  // has instructions that threads of a warp execute together
} CalleeCost;
CalleeCost callee_cost(const Fn *fn);
// Returns the number of instructions that a call is expected to add to the caller if it is inlined: those of the
// callee without those of the call sequence, and without those that `constants` constant arguments make constant.
int64_t inline_growth(const Fn *callee, const CalleeCost *cost, uint32_t constants);
// Returns what GlobalOpt may remove if a call is inlined. `addresses` has the symbols in registers of the caller,
// `loads` the loads of the callee by parameter.
GlobalGain inline_gain(Ctx *ctx, const Inliner *in, const RegisterSymbols *addresses, InstrId call,
                       const uint32_t *loads);

#endif
