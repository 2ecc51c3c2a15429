/* SPDX-License-Identifier: MIT */
/* ori.h: the optimizer and the interpreter as a library, for C and C++
 *
 *     OriContext *ori = ori_open(NULL);
 *     OriModule *m = ori_parse(ori, "k.ptx", text, size, ORI_ANY);
 *     if (m && ori_optimize(ori, m) == ORI_OK)
 *         ori_print(ori, m, ORI_PTX, write, file);
 *     ori_close(ori);
 *
 * The library reads PTX or Ori text, runs phases over the functions of the module, and writes the module. It also runs
 * kernels, in an interpreter: ori_run(). The language of phases and knobs is that of oriopt(1).
 *
 * Memory and threads: a context owns all memory that its calls allocate: settings, modules, and whatever a call returns
 * a pointer to. One thread at a time may use a context and its modules. Different contexts share nothing, so each
 * thread may have its own. The library has no variables outside of contexts. It prints nothing, reads neither files nor
 * the environment, installs no signal handlers, and never ends the process.
 *
 * Arguments: pointers must not be NULL unless the description permits it. The library copies the texts that it keeps,
 * so they need not live longer than the call. A module belongs to the context that parsed it.
 *
 * Errors: a function that returns a status describes each error in a message (ori_on_message()). Where a description
 * names no errors, the function returns ORI_OK, or ORI_LIMIT if there is no memory.
 *
 * Callbacks run on the thread of the call. They may not call functions on the same context, and must return: an
 * exception or longjmp() out of a callback leaves the context unusable. The arguments of a callback are valid until
 * it returns, unless the description states otherwise.
 *
 * Versions: while the major version is 0, a minor version may change functions and structures. A patch version changes
 * neither. From 1.0 on, minor versions only add functions, and members at the end of structures for callbacks
 * and of OriLaunch and OriFault.
 */
#ifndef ORI_H
#define ORI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define ORI_API __attribute__((visibility("default")))
#else
#define ORI_API
#endif

/* The version that this header belongs to. */
#define ORI_VERSION_MAJOR 0
#define ORI_VERSION_MINOR 1
#define ORI_VERSION_PATCH 0

/* Returns the version of the library that the program runs with, as "MAJOR.MINOR.PATCH". The text is constant. */
ORI_API const char *ori_version(void);

/* The result of a call. The numbers are the exit status of the programs. */
typedef enum {
    ORI_OK,
    ORI_BAD_INPUT, /* the text of a module or of settings has an error */
    ORI_USAGE,     /* an argument is wrong, or the module is broken */
    ORI_INTERNAL,  /* an error of the library: verifier, contract */
    ORI_LIMIT,     /* there is no memory, or a limit was reached */
    ORI_IO         /* an OriWriteFn returned 0 */
} OriStatus;

/* Returns a constant text for a status, such as "bad input". Any number is allowed. */
ORI_API const char *ori_status_text(OriStatus status);

/* -- Contexts ------------------------------------------------------------------------------------------- */

typedef struct OriContext OriContext;

/* A source of memory. alloc() returns memory aligned like that of malloc(), or NULL if there is none. free() gets the
 * requested size. With ori_set_threads(), other threads call both, but never two threads at once. */
typedef struct OriAllocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
    void *user;
} OriAllocator;

/* Returns a new context, which ori_close() frees; NULL if there is no memory. `allocator` is copied; NULL means
 * malloc() and free(). */
ORI_API OriContext *ori_open(const OriAllocator *allocator);

/* Frees a context with its modules. `ori` may be NULL. */
ORI_API void ori_close(OriContext *ori);

/* -- Messages, remarks and reports ---------------------------------------------------------------------- */

typedef enum { ORI_ERROR, ORI_WARNING, ORI_NOTE } OriSeverity;

typedef struct OriMessage {
    OriSeverity severity;
    const char *file;      /* the name given to ori_parse(), or "knobs"; NULL: none */
    unsigned line, column; /* from 1, the column in bytes; 0: no position */
    const char *text;
    const char *rendered; /* with position, source line and caret; ends in a newline */
} OriMessage;

typedef void OriMessageFn(void *user, const OriMessage *message);

/* Sets the receiver of messages. NULL drops them, which is the default. */
ORI_API void ori_on_message(OriContext *ori, OriMessageFn *receive, void *user);

typedef enum { ORI_PASSED, ORI_MISSED, ORI_ANALYSIS } OriRemarkKind;

/* A part of a remark. The texts of all parts are a sentence. */
typedef struct OriRemarkPart {
    const char *key; /* "String" for words between values */
    const char *text;
} OriRemarkPart;

/* A transformation that a phase made, or could not make, and the reason. */
typedef struct OriRemark {
    OriRemarkKind kind;
    const char *phase, *name, *function;
    const char *file;      /* from .loc and .file of the module; NULL: unknown */
    unsigned line, column; /* 0 without a file */
    const char *text;      /* the whole sentence */
    const OriRemarkPart *parts;
    size_t part_count;
} OriRemark;

typedef void OriRemarkFn(void *user, const OriRemark *remark);

/* Sets the receiver of remarks. They come in the order of the module after all functions are done, and only if the call
 * succeeds. NULL is the default: phases then make no remarks, which saves time. */
ORI_API void ori_on_remark(OriContext *ori, OriRemarkFn *receive, void *user);

/* Receives `size` bytes of text, which does not end in a NUL. */
typedef void OriReportFn(void *user, const char *text, size_t size);

/* Sets the receiver of reports: the output of report phases and of the knob DUMPIR, in pieces and in the order of the
 * module. NULL drops them, which is the default. */
ORI_API void ori_on_report(OriContext *ori, OriReportFn *receive, void *user);

/* -- Statistics ----------------------------------------------------------------------------------------- */

/* Statistics of a function, those that `oriopt --stats` prints. */
typedef struct OriFunctionStats {
    const char *function;
    unsigned instructions_in, instructions; /* before and after the phases */
    unsigned blocks_in, blocks;
    unsigned reachable_blocks; /* after the phases */
    unsigned registers_in, registers;
    unsigned phases_run, phases_changed; /* runs of phases; runs that changed the function */
    size_t arena_bytes;                  /* memory of the function */
    unsigned long long hash;             /* of the function after the phases */
    unsigned long long text_hash;        /* before the phases: FH of knob settings */
    double seconds;                      /* CPU time */
} OriFunctionStats;

typedef void OriFunctionStatsFn(void *user, const OriFunctionStats *stats);

/* Sets the receiver of statistics of functions. They come in the order of the module after all functions are done, and
 * only if the call succeeds. NULL is the default: the library then measures nothing. */
ORI_API void ori_on_function_stats(OriContext *ori, OriFunctionStatsFn *receive, void *user);

/* All runs of a phase in a call of ori_optimize() or ori_run_phases(), as `oriopt --time-phases` prints them. */
typedef struct OriPhaseStats {
    int index; /* in the table of phases */
    const char *phase;
    unsigned runs, changed; /* runs; runs that changed a function */
    double seconds;         /* CPU time of all threads, without sub-passes */
} OriPhaseStats;

typedef void OriPhaseStatsFn(void *user, const OriPhaseStats *stats);

/* Sets the receiver of statistics of phases. Each phase that ran comes once, by index, and only if the call succeeds.
 * NULL is the default: the library then measures no time. */
ORI_API void ori_on_phase_stats(OriContext *ori, OriPhaseStatsFn *receive, void *user);

/* -- Settings ------------------------------------------------------------------------------------------- */

/* Sets the optimization level, 0 to 4; the default is 3. ORI_USAGE: another number. */
ORI_API OriStatus ori_set_level(OriContext *ori, int level);

/* Sets the backend by its target, such as "sm_90". NULL is the default: the .target of the module. ORI_USAGE: there is
 * no such target. */
ORI_API OriStatus ori_set_target(OriContext *ori, const char *sm);

/* Sets the `.version` of modules that ori_parse() reads from PTX, such as "7.8"; NULL is the default: that of the text.
 * Phases then make only what this version has. What it lacks is spelled as in this version where PTX has two spellings.
 * Otherwise ori_parse() describes each instruction and directive that needs a later version in a message, and returns
 * ORI_BAD_INPUT, as it does for a text of PTX before 3.1 and for Ori text. ORI_USAGE: `version` is no version of PTX
 * from 3.1 to 9.0. */
ORI_API OriStatus ori_set_ptx_version(OriContext *ori, const char *version);

/* Sets how many threads process the functions of a module, 1 to 1024; the default is 1. The result does not depend on
 * it. ORI_USAGE: another number. */
ORI_API OriStatus ori_set_threads(OriContext *ori, unsigned threads);

/* Limits the memory of the context, in bytes, and the CPU time of each later call, in seconds; 0, the default, is no
 * limit. Time is checked between phases; it is that of the process and includes what other threads do. A call that
 * reaches a limit returns ORI_LIMIT; some of its memory may stay allocated until ori_close(). */
ORI_API OriStatus ori_set_limits(OriContext *ori, size_t bytes, double seconds);

/* Limits the instructions of a module that ori_parse() accepts; 0, the default, is no limit. */
ORI_API OriStatus ori_set_max_instructions(OriContext *ori, unsigned long long instructions);

typedef enum { ORI_VERIFY_NEVER, ORI_VERIFY_LAST, ORI_VERIFY_EACH } OriVerify;

/* Sets when functions are verified: after the last phase, which is the default, or after each. A function that does not
 * verify is an internal error. ORI_USAGE: `when` is none of the constants. */
ORI_API OriStatus ori_set_verify(OriContext *ori, OriVerify when);

/* Adds settings of knobs: records `NAME=VALUE`, as --knob of oriopt(1) takes them, with newlines or `~` between them.
 * They come after earlier settings, and a later one wins. "KernelParamsGlobal" is --assume=cuda. ORI_BAD_INPUT: a
 * record has an error; the call then changes nothing. */
ORI_API OriStatus ori_set_knobs(OriContext *ori, const char *settings);

/* Copies the value of a knob, as ori_set_knobs() takes it after `NAME=`, into `value`, which has room for `size` bytes.
 * A longer value is cut; a knob without a value gives "". Conditional settings and pragmas do not count. ORI_USAGE:
 * there is no such knob. */
ORI_API OriStatus ori_get_knob(OriContext *ori, const char *name, char *value, size_t size);

/* Limits phases to the functions of these names. Other functions stay as they are, and ori_print() writes them, too. A
 * `count` of 0, the default, means all functions; `names` may then be NULL. ori_optimize() and ori_run_phases() return
 * ORI_USAGE if the module has no function of one of the names. */
ORI_API OriStatus ori_set_entries(OriContext *ori, const char *const *names, size_t count);

/* Limits plans to a part of the pipeline: no phase before `start_before`, and none after `stop_after`, each a name,
 * `Name@index` or index. NULL, the default of both, is no limit. ORI_USAGE: there is no such phase; the call then
 * changes nothing. */
ORI_API OriStatus ori_set_range(OriContext *ori, const char *start_before, const char *stop_after);

/* -- Modules -------------------------------------------------------------------------------------------- */

typedef struct OriModule OriModule;

/* ORI_ANY chooses by the end of the name, .ptx or .ori, or else by the first words of the text. */
typedef enum { ORI_ANY, ORI_PTX, ORI_TEXT } OriLanguage;

/* Reads `size` bytes of PTX or Ori text, which need not end in a NUL. Messages call the text `name`; NULL means
 * "<text>". Returns a module, which ori_free() or ori_close() frees; NULL after an error, for which ori_parse_status()
 * gives the status. */
ORI_API OriModule *ori_parse(OriContext *ori, const char *name, const char *text, size_t size, OriLanguage language);

/* Returns the status of the last ori_parse(): ORI_OK, ORI_BAD_INPUT, ORI_USAGE (settings that do not fit together),
 * ORI_LIMIT or ORI_INTERNAL. */
ORI_API OriStatus ori_parse_status(const OriContext *ori);

/* Runs the default pipeline of the level over all functions. They come out in multi form, which PTX needs.
 *
 * ORI_USAGE before anything changes: settings do not fit together, or the module is broken. Any other error breaks the
 * module: it can only be freed. ORI_BAD_INPUT: a pragma has an error, or a phase needs another form. */
ORI_API OriStatus ori_optimize(OriContext *ori, OriModule *module);

/* Runs these phases in this order: names, `Name@index`, indices or ranges `A..B`, with `,` between them. Functions may
 * come out in ssa form. Errors are those of ori_optimize(), and ORI_USAGE: there is no such phase. */
ORI_API OriStatus ori_run_phases(OriContext *ori, OriModule *module, const char *phases);

/* Takes `size` bytes of text, which does not end in a NUL. Returns 1, or 0 if it cannot take them. */
typedef int OriWriteFn(void *user, const char *text, size_t size);

/* Writes a module in pieces. ORI_ANY writes the language that was read. ORI_BAD_INPUT: a function is in ssa form, which
 * PTX does not have (ConvertAllMovPhiToMov converts it). ORI_USAGE: the module is broken. ORI_IO: write() returned 0.
 */
ORI_API OriStatus ori_print(OriContext *ori, OriModule *module, OriLanguage language, OriWriteFn *write, void *user);

/* Frees a module before its context. `module` may be NULL. */
ORI_API void ori_free(OriContext *ori, OriModule *module);

/* Returns how many functions the module has, with and without a body. */
ORI_API size_t ori_function_count(const OriModule *module);

/* Returns the name of a function, counted from 0 in the order of the module; NULL beyond the last. The name is valid as
 * long as the module. */
ORI_API const char *ori_function_name(const OriModule *module, size_t index);

/* -- Running kernels ------------------------------------------------------------------------------------ */

typedef enum { ORI_MAP_READ_ONLY = 1 } OriMapFlags;

/* Lets kernels reach the `size` bytes at `memory`. The address of a byte in a kernel is its address in the program, and
 * kernels read and write the bytes themselves, so the memory must stay valid until ori_unmap() or ori_close(). Kernels
 * reach no other memory of the program: any other access is a fault. `flags` is 0 or ORI_MAP_READ_ONLY, with which a
 * write is a fault. Two contexts may have the same range; launches on two threads then access it without any order.
 * ORI_USAGE: the range is empty, overlaps another one, or has addresses with another meaning for
 * kernels (the first 4096, and those from 1 << 40 to 5 << 40). */
ORI_API OriStatus ori_map(OriContext *ori, void *memory, size_t size, unsigned flags);

/* Ends the access to the range that begins at `memory`. ORI_USAGE: no range begins there. */
ORI_API OriStatus ori_unmap(OriContext *ori, const void *memory);

typedef struct OriDim {
    unsigned x, y, z;
} OriDim;

/* The bytes of an argument as the kernel reads them: of an integer, of an address, or of a structure. */
typedef struct OriArgument {
    const void *value;
    size_t size;
} OriArgument;

/* Returns the size of a kernel's parameter in bytes, counted from 0; 0 if the kernel or the parameter does not exist.
 * A `kernel` of NULL is the first of the module. */
ORI_API size_t ori_parameter_size(const OriModule *module, const char *kernel, size_t index);

/* A launch of a kernel. Unused members must be 0. */
typedef struct OriLaunch {
    size_t size;           /* sizeof(OriLaunch): later versions may add members at the end */
    const char *kernel;    /* NULL: the first of the module */
    OriDim grid, block;    /* number of blocks, and of the threads of a block; each at least 1 */
    OriDim cluster;        /* blocks of a cluster; 0, 0, 0: as the kernel requires, or else 1, 1, 1 */
    unsigned shared_bytes; /* dynamic shared memory of a block */
    const OriArgument *arguments;
    size_t argument_count; /* that of the kernel's parameters */
} OriLaunch;

/* Runs a kernel in an interpreter, on the thread of the call, and returns when all its threads have ended. They run in
 * a fixed order, so equal launches give equal bytes. Atomic operations are atomic among the threads of a launch only.
 *
 * The module owns its variables, and memory that kernels allocate. Both keep their values from launch to launch, also
 * after a fault. They end with ori_reset(), with a call that runs phases over the module, and with a launch for which
 * there is no memory; the next launch begins with initial values. Kernels of other modules of the context reach both by
 * address. Each module has a range of addresses for them, which depends on the order in which modules ran first.
 *
 * ORI_USAGE: the launch does not fit the kernel, or the module is broken. ORI_BAD_INPUT: a fault, such as an access out
 * of bounds, a misaligned one, a trap, a deadlock, or an unsupported instruction. ORI_LIMIT: a limit of
 * ori_set_run_limits() was reached, or there is no memory. The message of a fault is that of orirun(1); memory
 * written before it stays written. */
ORI_API OriStatus ori_run(OriContext *ori, OriModule *module, const OriLaunch *launch);

/* The reason for which a launch ended early. */
typedef struct OriFault {
    const char *reason;
    const char *kernel, *function; /* function: that of the instruction; NULL: it is about no instruction */
    const char *file;              /* the name given to ori_parse() */
    unsigned line, column;         /* of the instruction; 0: unknown */
    OriDim block, thread;
} OriFault;

/* Returns the fault of the last ori_run(); NULL if it had none. It is valid until the next ori_run(), and as long as
 * the module. */
ORI_API const OriFault *ori_fault(const OriContext *ori);

/* Ends the variables of a module and the memory that its kernels allocated. */
ORI_API OriStatus ori_reset(OriContext *ori, OriModule *module);

/* Limits each later launch: the `steps` that warps execute, an instruction each, and the `bytes` of the module's
 * variables, of memory that kernels allocate, and of threads. 0, the default of both, is no limit. These bytes do not
 * count for ori_set_limits(). */
ORI_API OriStatus ori_set_run_limits(OriContext *ori, unsigned long long steps, size_t bytes);

/* Sets the receiver of the text that kernels print with vprintf(). It comes in pieces, in the order of execution,
 * before ori_run() returns. NULL drops it, which is the default. */
ORI_API void ori_on_print(OriContext *ori, OriReportFn *receive, void *user);

/* -- Tables --------------------------------------------------------------------------------------------- */

/* A phase. Slots of the pipeline come first, in their order, then sub-passes. Texts are constant. */
typedef struct OriPhase {
    int index;
    const char *name;
    const char *kind;         /* verify, report, analysis, transform, lower, update, ... */
    const char *status;       /* implemented, off, hook, machine, graphics, bookkeeping, not-yet */
    const char *form;         /* any, multi, ssa, to-ssa, to-multi */
    int min_level, max_level; /* optimization levels that run it */
    const char *summary;
} OriPhase;

typedef void OriPhaseFn(void *user, const OriPhase *phase);

/* Passes each phase to receive(), by index. Needs no context; any thread may call it. */
ORI_API void ori_list_phases(OriPhaseFn *receive, void *user);

/* A knob. Texts are constant. */
typedef struct OriKnob {
    int index; /* in ptxas; -1: none or unknown */
    const char *name;
    const char *type;   /* INT, BDGT (a budget), STR, ... */
    const char *value;  /* the default; "": none, of a budget: unlimited */
    const char *range;  /* `LO..HI`; "": all values of the type */
    const char *reader; /* the phase that uses it */
    const char *help;
} OriKnob;

typedef void OriKnobFn(void *user, const OriKnob *knob);

/* Passes each knob to receive(), in the order of the table. Needs no context; any thread may call it. */
ORI_API void ori_list_knobs(OriKnobFn *receive, void *user);

typedef enum { ORI_PHASES, ORI_KNOBS, ORI_BACKENDS, ORI_PIPELINE } OriTable;

/* Writes a table: the JSON of --list-phases, --list-knobs or --list-sm of oriopt(1), or with ORI_PIPELINE the phases of
 * the level, one on a line, as ori_run_phases() takes them. ORI_USAGE: `table` is none of the constants, or settings do
 * not fit together. ORI_IO: write() returned 0. */
ORI_API OriStatus ori_print_table(OriContext *ori, OriTable table, OriWriteFn *write, void *user);

/* An empty function for breakpoints: phases 131 and 157, DebuggerBreak, call it for each function that is optimized. */
ORI_API void ori_debugger_break(void);

#ifdef __cplusplus
}
#endif

#endif
