// SPDX-License-Identifier: MIT
// Knobs: named settings of phases. The table lists the knobs. A store has the settings of command line, files and
// environment. A view has the current values for one function and phase. README.md describes the language.
#ifndef ORI_KNOBS_H
#define ORI_KNOBS_H

#include "ir/base/base.h"

/* -- The table ---------------------------------------------------------------------------------------------- */

#define KNOB_TYPES(X) X(NONE) X(INT) X(BDGT) X(IRNG) X(ILIST) X(FLOAT) X(DBL) X(STR) X(WHEN) X(OPCODE_STR_LIST)

typedef enum {
#define KNOB_TYPE(name) KT_##name,
    KNOB_TYPES(KNOB_TYPE)
#undef KNOB_TYPE
} KnobType;

typedef struct KnobInfo {
    int index;  // in ptxas, -1 = none or unknown
    const char *name;
    KnobType type;
    const char *value;  // the default as a setting has it, "" = none
    const char *range;  // `lo..hi`, either end open, "" = all values; of ILIST for each number, of IRNG for both ends
    const char *reader, *help;
} KnobInfo;

// A table of knobs, for parser, store and views. Names must not differ only in case.
typedef struct KnobTable {
    const KnobInfo *rows;
    int n;
} KnobTable;

typedef enum {
#define KNOB(id, ...) KNOB_##id,
#include "knobs/knobs.def"
    KNOB_COUNT
} KnobId;
extern const KnobTable knob_table;

/* table.c */
const char *knob_type_name(KnobType type);
// Returns the row of a name, without regard to case, or of a number of the documents; -1 = none.
int knob_find(const KnobTable *table, const char *name, size_t len);
// Prints --list-knobs: a line for each knob with its help below, in 100 columns. If `json`, prints
// {"schema":1,"knobs":[..]}.
void knob_list(Out *out, const KnobTable *table, bool json);

/* -- Settings ----------------------------------------------------------------------------------------------- */

// The source of a setting; a later one overrides an earlier one.
typedef enum { KS_DEFAULT, KS_ENVIRONMENT, KS_FILE, KS_COMMAND_LINE, KS_PRAGMA } KnobSource;

typedef struct KnobRange {
    int64_t lo, hi;  // inclusive; an open end is INT64_MIN or INT64_MAX
} KnobRange;

typedef struct KnobInts {
    const int64_t *at;
    uint32_t n;
} KnobInts;

typedef struct KnobPair {
    const char *name;
    int64_t number;
} KnobPair;

typedef struct KnobPairs {
    const KnobPair *at;
    uint32_t n;
} KnobPairs;

typedef union KnobValue {
    int64_t number;    // NONE (0 or 1), INT, BDGT
    double real;       // FLOAT, DBL
    const char *text;  // STR
    KnobRange range;
    KnobInts ints;
    KnobPairs pairs;
} KnobValue;

typedef struct KnobSetting {
    int row;
    KnobSource from;
    KnobValue value;
    uint32_t budget;      // of a BDGT: index among the budgets of store and function
    const char *written;  // the value as it was written, with quotes; NULL = none
    const char *file;     // name of its text; NULL = the table
    uint32_t line, col;   // position in the text, 0 = unknown
} KnobSetting;

// All settings. One thread fills the store; then any number of threads read it.
typedef struct KnobStore KnobStore;

// Returns the row of the phase that a text names, or -1 with a message. The callback is phase_find(): phases are on a
// higher level.
typedef int KnobFindPhase(const char *text, size_t len, char why[static 400]);
// True if a text is a valid value of row `row`, of type STR; otherwise `why` has the error. The callback is
// phase_check_knob().
typedef bool KnobCheckText(int row, const char *text, char why[static 500]);

/* store.c */
// Makes a store in the arena. `find` serves PH conditions; NULL = there are no phases.
KnobStore *knob_store_new(Arena *arena, const KnobTable *table, KnobFindPhase *find);
// Sets the check of STR values (lists of phases and the like). It runs when a setting is read, so that errors have a
// position.
void knob_store_check(KnobStore *store, KnobCheckText *check);
// Returns the effective setting without conditions, or the default; NULL = unset.
const KnobSetting *knob_store_setting(const KnobStore *store, int row);
// Returns the first setting of a row that no view has read, conditional or not; NULL = the row was read or never set.
// knobs_merge_reads() fills `read`. Settings of pragmas do not count, since they are freed with their function.
const KnobSetting *knob_unread(const KnobStore *store, const bool *read, int row);

/* read.c */
// Reads all of diag->source into the store; true if there was no error. Of a text from KS_FILE, only the parts below
// `[knobs]` count. Each error is reported with its position, and its record dropped. The store copies the text and the
// name of the source.
bool knob_read(KnobStore *store, KnobSource from, Diag *diag);
// Does the same for a text at `offset` of diag->source; the text need not be terminated. KNOB_NO_OFFSET: the text is
// not in the source, and errors have no position.
enum { KNOB_NO_OFFSET = -1 };
bool knob_read_text(KnobStore *store, KnobSource from, const char *text, size_t len, int64_t offset, Diag *diag);

/* -- Views -------------------------------------------------------------------------------------------------- */

struct KnobLayer;
struct KnobRecord;

// The current values for one function and phase. Each thread has its own view; all views read one store.
typedef struct Knobs {
    const KnobStore *store;
    KnobTable table;
    Heap *heap;
    const KnobSetting *const *now;  // by row; NULL = unset
    int64_t *left;                  // by budget: the rest in this function
    bool *read;                     // by row: some code read it
    int phase;                      // row of the phase, -1 = none
    bool by_phase;                  // values depend on the phase
    // The other fields are private to view.c.
    Arena arena, fn_arena;             // for the view; for the function
    int64_t *budgets;                  // room for `left`
    struct KnobLayer *pragmas;         // of the function, NULL = none
    const struct KnobRecord **active;  // records whose conditions on the function hold
    uint32_t nactive;
    const KnobSetting *const *under;     // by row, without records: the store's array or `plain`
    const KnobSetting **plain, **mixed;  // room for settings with pragmas, and with pragmas and records
} Knobs;

// The text of a pragma after `knob `, and its offset in diag->source. In a string of Ori text, a position after
// backslashes is off by their number.
typedef struct KnobPragma {
    const char *text;
    size_t len;
    int64_t offset;  // or KNOB_NO_OFFSET
} KnobPragma;

typedef struct KnobFunction {
    const char *name;  // not terminated
    size_t len;
    uint64_t (*hash)(void *user);  // called at most once, for FH conditions; NULL: these do not hold
    void *user;
    const KnobPragma *pragmas;
    uint32_t npragmas;
} KnobFunction;

/* view.c */
// True if a condition of some setting is a hash of the function.
bool knob_has_hashes(const KnobStore *store);
// Makes a view outside of functions, with the unconditional settings. The store must be complete.
void knobs_init(Knobs *k, const KnobStore *store, Heap *heap);
void knobs_free(Knobs *k);
// Sets the heap of the view, which unwinds on failures, to another heap with the same memory.
void knobs_adopt(Knobs *k, Heap *heap);
// Activates the values for a function, outside of any phase, and refills budgets. False: pragmas have errors, which are
// reported, and records with errors are ignored. Without conditions and pragmas this costs a few stores.
bool knobs_enter_function(Knobs *k, const KnobFunction *fn, Diag *diag);
void knobs_change_phase(Knobs *k, int row);
// Activates the values for a phase, -1 = none. Budgets are not refilled.
static inline void knobs_enter_phase(Knobs *k, int row)
{
    if (k->by_phase && k->phase != row)
        knobs_change_phase(k, row);
}
// Sets read[row] for each row that code read from this view.
void knobs_merge_reads(const Knobs *k, bool *read);

// Readers of values. A row that does not exist, or is of another type, is an internal error that unwinds.

// True if the knob has a value, by a setting or by default. A knob of type NONE is set if it is on, so `=0` unsets it.
bool knob_is_set(Knobs *k, int row);
int64_t knob_int(Knobs *k, int row);      // INT; unset: 0
KnobRange knob_range(Knobs *k, int row);  // IRNG; unset: all numbers
KnobInts knob_ints(Knobs *k, int row);    // ILIST; unset: none
double knob_double(Knobs *k, int row);    // FLOAT (a float's value), DBL; unset: 0
const char *knob_str(Knobs *k, int row);  // STR, as long as the function; unset: NULL
KnobPairs knob_pairs(Knobs *k, int row);  // OPCODE_STR_LIST; unset: none
// Finds the number of a name in an OPCODE_STR_LIST, without regard to case; of equal names the last. False: the list
// lacks the name.
bool knob_pair(Knobs *k, int row, const char *name, int64_t *number);
// Spends one unit of a budget. False: the budget is used up. An unset budget is unlimited. Each setting has its own
// budget; a budget under WHEN=PH continues when its phase runs again. The next function refills all budgets.
bool knob_spend(Knobs *k, int row);
// Returns the remaining units of a budget; unlimited: INT64_MAX.
int64_t knob_left(Knobs *k, int row);
// Returns the number of budgets of the current function.
uint32_t knobs_budgets(const Knobs *k);
// Returns the remaining units of these budgets, which the caller may change.
static inline int64_t *knobs_left(const Knobs *k) { return k->left; }
// Returns the current setting of any row, for messages; NULL = unset.
const KnobSetting *knob_setting(Knobs *k, int row);

/* print.c */
// Writes the origin of a setting: `file.knobs:3:5`, `default`.
void knob_print_origin(Out *out, const KnobSetting *setting);
// Prints --print-knobs: the current values and the conditional records, in order of precedence, as a file that reads
// back to the same settings. If `origins`, each has a comment with its origin. Defaults and unset knobs are comments.
void knob_print(const Knobs *k, Out *out, bool origins);

#endif
