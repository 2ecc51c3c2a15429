// SPDX-License-Identifier: MIT
// Knobs: named settings of phases. The table says which there are, a store holds what command line, file and
// environment set, and a view shows the values in force in one function and phase. The language is in README.md.
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
    int index;  // in the original, -1 = none or unknown
    const char *name;
    KnobType type;
    const char *value;  // the default as a setting has it, "" = none
    const char *range;  // `lo..hi`, either end open, "" = all values; of ILIST for each number, of IRNG for both ends
    const char *reader, *help;
} KnobInfo;

// Parser, store and views work on any table; names differ in more than case.
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
// The row of that name, letters in both cases being the same; -1 = there is none.
int knob_find(const KnobTable *table, const char *name, size_t len);
// For --list-knobs: a line for each knob with its help below, in 100 columns; or {"schema":1,"knobs":[..]}.
void knob_list(Out *out, const KnobTable *table, bool json);

/* -- Settings ----------------------------------------------------------------------------------------------- */

// Where a setting came from; a later one wins over an earlier one.
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
    uint32_t budget;      // of a BDGT: which of the store's or the function's it is
    const char *written;  // the value as it was written, quotes and all; NULL = there was none
    const char *file;     // the name of the text that it stood in; NULL = the table
    uint32_t line, col;   // where in it, 0 = unknown
} KnobSetting;

// Everything that was set. Filled by one thread, then read by any number of them.
typedef struct KnobStore KnobStore;

// The row of the phase that a text means, or -1 with a message; phase_find() is one.
typedef int KnobFindPhase(const char *text, size_t len, char why[static 400]);
// Whether a text is a value of that row, which is a STR; otherwise `why` says what is wrong; phase_check_knob() is one.
typedef bool KnobCheckText(int row, const char *text, char why[static 500]);

/* store.c */
// A store in the arena. `find` serves PH conditions; NULL = there are no phases.
KnobStore *knob_store_new(Arena *arena, const KnobTable *table, KnobFindPhase *find);
// From here on texts are looked at when they are read, so that what is wrong with one has a place.
void knob_store_check(KnobStore *store, KnobCheckText *check);
// The setting that is in force without conditions; NULL = none, and no default.
const KnobSetting *knob_store_setting(const KnobStore *store, int row);
// The first setting of the row that no view has read, conditional ones too; `read` is what knobs_merge_reads() filled
// in. NULL = there is none: the row was read or never set. What pragmas set is not asked.
const KnobSetting *knob_unread(const KnobStore *store, const bool *read, int row);

/* read.c */
// Reads settings into the store: all of diag->source. A text from KS_FILE counts where `[knobs]` stands above it. Each
// error is reported with its place, and its record dropped. The text need not live on, the source's name neither.
// Returns whether there was no error.
bool knob_read(KnobStore *store, KnobSource from, Diag *diag);
// The same for a text that lies at `offset` of diag->source (KNOB_NO_OFFSET: nowhere, errors have no place); it need
// not be terminated.
enum { KNOB_NO_OFFSET = -1 };
bool knob_read_text(KnobStore *store, KnobSource from, const char *text, size_t len, int64_t offset, Diag *diag);

/* -- Views -------------------------------------------------------------------------------------------------- */

struct KnobLayer;
struct KnobRecord;

// The values in force for one function and phase. A thread has its own; all of them read one store.
typedef struct Knobs {
    const KnobStore *store;
    KnobTable table;
    Heap *heap;
    const KnobSetting *const *now;  // by row; NULL = unset
    int64_t *left;                  // of each budget, in this function
    bool *read;                     // rows that were asked for
    int phase;                      // row of the phase, -1 = none
    bool by_phase;                  // whether values depend on it
    // The rest belongs to view.c.
    Arena arena, fn_arena;             // as long as the view; as long as the function
    int64_t *budgets;                  // room for `left`
    struct KnobLayer *pragmas;         // of the function, NULL = none
    const struct KnobRecord **active;  // records whose conditions on the function hold
    uint32_t nactive;
    const KnobSetting *const *under;     // without records: the store's array or `plain`
    const KnobSetting **plain, **mixed;  // room for what pragmas set, and for all together
} Knobs;

// The text of a pragma behind `knob `, and where it lies in diag->source.
typedef struct KnobPragma {
    const char *text;
    size_t len;
    int64_t offset;  // or KNOB_NO_OFFSET
} KnobPragma;

typedef struct KnobFunction {
    const char *name;  // not terminated
    size_t len;
    uint64_t (*hash)(
        void *user);  // asked once at most, and only where a condition is about it; NULL: those do not hold
    void *user;
    const KnobPragma *pragmas;
    uint32_t npragmas;
} KnobFunction;

/* view.c */
// A view in which no function was entered yet: what is set without conditions. The store must be complete.
void knobs_init(Knobs *k, const KnobStore *store, Heap *heap);
void knobs_free(Knobs *k);
// Failures go to another heap from here on, which has the same memory.
void knobs_adopt(Knobs *k, Heap *heap);
// Shows the values in force in a function, outside of any phase; budgets are full again. Errors in pragmas are
// reported; then it returns false, and the view shows the function without the records that have them. Costs a few
// stores where there are neither conditions nor pragmas.
bool knobs_enter_function(Knobs *k, const KnobFunction *fn, Diag *diag);
void knobs_change_phase(Knobs *k, int row);
// Shows the values in force in a phase, -1 = in none. Budgets go on with what is left of them in the function.
static inline void knobs_enter_phase(Knobs *k, int row)
{
    if (k->by_phase && k->phase != row)
        knobs_change_phase(k, row);
}
// Sets read[row] for each row that this view was asked for.
void knobs_merge_reads(const Knobs *k, bool *read);

// Reading a value. A row that there is not, and one of another type, is an internal error that unwinds.

// Whether the knob has a value, by a setting or by default; of NONE whether it is on.
bool knob_is_set(Knobs *k, int row);
int64_t knob_int(Knobs *k, int row);      // INT; unset: 0
KnobRange knob_range(Knobs *k, int row);  // IRNG; unset: all numbers
KnobInts knob_ints(Knobs *k, int row);    // ILIST; unset: none
double knob_double(Knobs *k, int row);    // FLOAT (a float's value), DBL; unset: 0
const char *knob_str(Knobs *k, int row);  // STR, as long as the function; unset: NULL
KnobPairs knob_pairs(Knobs *k, int row);  // OPCODE_STR_LIST; unset: none
// The number that OPCODE_STR_LIST gives to a name, letters in both cases being the same; the last where it is there
// more than once. False: it is not in the list.
bool knob_pair(Knobs *k, int row, const char *name, int64_t *number);
// Takes one off a budget; false: nothing is left of it. A budget that is unset is unlimited.
bool knob_spend(Knobs *k, int row);
// What is left of a budget; unlimited: INT64_MAX.
int64_t knob_left(Knobs *k, int row);
// The setting in force of any row, for messages; NULL = unset.
const KnobSetting *knob_setting(Knobs *k, int row);

/* print.c */
// Writes where a setting came from: `file.knobs:3:5`, `default`.
void knob_print_origin(Out *out, const KnobSetting *setting);
// For --print-knobs: the values in force and the conditional records, as a file that reads back to the same; with
// `origins` each has a comment that says where it came from. Knobs that nobody set are comments.
void knob_print(const Knobs *k, Out *out, bool origins);

#endif
