/* SPDX-License-Identifier: MIT */
/* ori.h: the optimizer as a library, for C and C++. Link with -lori -pthread.
 *
 *     OriContext *ori = ori_open(NULL);
 *     OriModule *m = ori_parse(ori, "k.ptx", text, size, ORI_ANY);
 *     if (m && ori_optimize(ori, m) == ORI_OK)
 *         ori_print(ori, m, ORI_PTX, write, file);
 *     ori_close(ori);
 *
 * A context has all the memory, the settings and the modules that were read with it. It belongs to one thread at a
 * time; different contexts share nothing, so each thread may have its own. Nothing here ends the process, prints, reads
 * the environment or keeps anything outside the context. A function that returns a status says with messages what went
 * wrong.
 */
#ifndef ORI_H
#define ORI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to; the numbers are the exit status of the programs. */
typedef enum {
    ORI_OK,
    ORI_BAD_INPUT, /* the text or a setting is wrong */
    ORI_USAGE,     /* the call is wrong: an unknown phase, a target that does not exist, a module that is broken */
    ORI_INTERNAL,  /* an error of the library: verifier, contract */
    ORI_LIMIT,     /* memory or time is at its end */
    ORI_IO         /* a `write` said false */
} OriStatus;

typedef struct OriContext OriContext;
typedef struct OriModule OriModule;

const char *ori_version(void);
const char *ori_status_text(OriStatus status);

/* -- Contexts ------------------------------------------------------------------------------------------- */

/* Where memory comes from: aligned as that of malloc(), NULL when there is none. Where ori_set_threads() asked for more
 * than one, it is called by all of them, but never by two at once. */
typedef struct OriAllocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
    void *user;
} OriAllocator;

/* A new context; NULL: there is no memory. `allocator` NULL: malloc() and free(). */
OriContext *ori_open(const OriAllocator *allocator);
/* Frees all that the context has, modules too. NULL is taken. */
void ori_close(OriContext *ori);

typedef enum { ORI_ERROR, ORI_WARNING, ORI_NOTE } OriSeverity;

/* Valid during the call that gets it. */
typedef struct OriMessage {
    OriSeverity severity;
    const char *file;      /* as it was given to ori_parse(), or where a setting came from; NULL: none */
    unsigned line, column; /* from 1; 0: no position */
    const char *text;
    const char *rendered; /* with position, the line and a caret, ends in a newline */
} OriMessage;

/* Who gets messages; NULL: nobody. */
typedef void OriMessageFn(void *user, const OriMessage *message);
void ori_on_message(OriContext *ori, OriMessageFn *receive, void *user);

typedef enum { ORI_PASSED, ORI_MISSED, ORI_ANALYSIS } OriRemarkKind;

/* A part of a remark; the texts of all of them are a sentence. */
typedef struct OriRemarkPart {
    const char *key; /* "String": words between values */
    const char *text;
} OriRemarkPart;

/* What a phase did, or did not do, and why. Valid during the call that gets it. */
typedef struct OriRemark {
    OriRemarkKind kind;
    const char *phase, *name, *function;
    const char *file;      /* by .loc and .file of the module; NULL: not known */
    unsigned line, column; /* with a file */
    const char *text;      /* the whole sentence */
    const OriRemarkPart *parts;
    size_t part_count;
} OriRemark;

/* Who gets remarks, which come in the order of the module when all phases ran; NULL: nobody, as to begin with, and then
 * they cost nothing. */
typedef void OriRemarkFn(void *user, const OriRemark *remark);
void ori_on_remark(OriContext *ori, OriRemarkFn *receive, void *user);

/* Takes `size` bytes of reports: what report phases and the knob DUMPIR print, in pieces and in the order of the
 * module. NULL, as to begin with: reports are dropped. The text is valid during the call that gets it. */
typedef void OriReportFn(void *user, const char *text, size_t size);
void ori_on_report(OriContext *ori, OriReportFn *receive, void *user);

/* -- Settings: for all calls that follow ---------------------------------------------------------------- */

/* The optimization level, 0 to 4; 3 to begin with. */
OriStatus ori_set_level(OriContext *ori, int level);
/* The backend, as "sm_90"; NULL: that of the module's .target, as to begin with. */
OriStatus ori_set_target(OriContext *ori, const char *sm);
/* Threads over the functions of a module; 1 to begin with. The result does not depend on it. */
OriStatus ori_set_threads(OriContext *ori, unsigned threads);
/* Bytes that the context may have, and seconds of CPU time that a call may take; 0: no limit, as to begin with. The
 * time is that of the process: what other threads do meanwhile counts, too. What a call that ran into a limit had in
 * use comes back with ori_close(). */
OriStatus ori_set_limits(OriContext *ori, size_t bytes, double seconds);

/* The most instructions that a module may have which ori_parse() reads; 0: no limit, as to begin with. */
OriStatus ori_set_max_instructions(OriContext *ori, unsigned long long instructions);

typedef enum { ORI_VERIFY_NEVER, ORI_VERIFY_LAST, ORI_VERIFY_EACH } OriVerify;

/* When functions are verified: behind the last phase, as to begin with, or behind each. */
OriStatus ori_set_verify(OriContext *ori, OriVerify when);
/* Knob settings, in the language of --knob (knobs/README.md), several in lines; they go behind those that were set
 * before. All or none of a text count. */
OriStatus ori_set_knobs(OriContext *ori, const char *settings);
/* What a knob is set to where no WHEN record and no pragma says otherwise, as text that ori_set_knobs() takes behind
 * `Name=`. `value` has room for `size` bytes; what does not fit is cut. */
OriStatus ori_get_knob(OriContext *ori, const char *name, char *value, size_t size);

/* -- Modules -------------------------------------------------------------------------------------------- */

typedef enum { ORI_ANY, ORI_PTX, ORI_TEXT } OriLanguage; /* ORI_ANY: by the name's end, or else by the first words */

/* Takes PTX or Ori text in; messages call it `name`. The text may go afterwards. NULL: messages say why. */
OriModule *ori_parse(OriContext *ori, const char *name, const char *text, size_t size, OriLanguage language);
/* Runs the default plan of the level over all functions, which are in multi form afterwards. Behind a failure the
 * module is broken: it can only be freed. */
OriStatus ori_optimize(OriContext *ori, OriModule *module);
/* Runs just these phases, in this order: names, `Name@index`, indices, ranges, with `,` between. */
OriStatus ori_run_phases(OriContext *ori, OriModule *module, const char *phases);

/* Takes `size` bytes of a text; returns whether it could. */
typedef int OriWriteFn(void *user, const char *text, size_t size);

/* Writes the module as PTX or Ori text; ORI_ANY: what it came in. PTX has no ssa form: where a plan ended in it, that
 * takes ConvertAllMovPhiToMov first. */
OriStatus ori_print(OriContext *ori, OriModule *module, OriLanguage language, OriWriteFn *write, void *user);
/* Frees a module before its context. NULL is taken. */
void ori_free(OriContext *ori, OriModule *module);

/* Functions of the module, with a body or without, in its order. The name is valid as long as the module. */
size_t ori_function_count(const OriModule *module);
const char *ori_function_name(const OriModule *module, size_t index); /* NULL: there is none */

/* -- Tables --------------------------------------------------------------------------------------------- */

typedef enum { ORI_PHASES, ORI_KNOBS, ORI_BACKENDS, ORI_PIPELINE } OriTable;

/* Writes a table: as JSON what --list-phases, --list-knobs and --list-sm print; ORI_PIPELINE is the plan of the level,
 * one phase a line, as ori_run_phases() takes it. */
OriStatus ori_print_table(OriContext *ori, OriTable table, OriWriteFn *write, void *user);

#ifdef __cplusplus
}
#endif

#endif
