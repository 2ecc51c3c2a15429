// SPDX-License-Identifier: MIT
// Implements ptxrun.h on ori.h: one context for the process, under a lock, with a cache of modules by their text. The
// interface has no handle, so the state is global.
#include <stdio.h>
#include <stdlib.h>

#include "tools/lib/ori_internal.h"
#include "tools/ptxrun/process.h"
#include "tools/ptxrun/ptxrun.h"

enum { MODULES = 64, ARGUMENTS = 4096 / 4 };  // the parameters of a kernel have at most 4096 bytes

typedef struct Entry {
    OriModule *module;  // NULL: free
    uint32_t hash;
    uint64_t used;  // number of the last launch
} Entry;

typedef struct State {
    OriContext *ori;  // NULL: not yet
    Entry entries[MODULES];
    uint64_t launches;
    Process process;
    bool printed;  // in this launch
} State;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static State state;
static _Thread_local char error[1024];  // empty: none

/* -- Output --------------------------------------------------------------------------------------------- */

static void hear(void *user, const OriMessage *message)
{
    (void)user;
    if (message->severity == ORI_ERROR && !error[0])
        snprintf(error, sizeof error, "%.*s", (int)strcspn(message->rendered, "\n"), message->rendered);
    fputs(message->rendered, stderr);
}

// Reports an error of the call.
static void fail(const char *text)
{
    snprintf(error, sizeof error, "ptx_run: error: %s", text);
    fprintf(stderr, "%s\n", error);
}

static void print(void *user, const char *text, size_t n)
{
    State *s = user;
    s->printed = true;
    fwrite(text, 1, n, stdout);
}

/* -- Modules -------------------------------------------------------------------------------------------- */

static bool open_context(State *s)
{
    if (s->ori)
        return true;
    s->ori = ori_open(NULL);
    if (!s->ori) {
        fail("out of memory");
        return false;
    }
    ori_on_message(s->ori, hear, NULL);
    ori_on_print(s->ori, print, s);
    run_reach(s->ori, (HostMemory){process_find, &s->process, "mapping of the process"});
    return true;
}

static bool holds(const Entry *e, uint32_t hash, const char *text, size_t n)
{
    return e->module && e->hash == hash && e->module->source.len == n && memcmp(e->module->source.text, text, n) == 0;
}

// Returns the module of a text. If it is not in the cache, it takes the place of the one that ran longest ago. NULL
// after a message.
static OriModule *module_of(State *s, const char *text)
{
    size_t n = strlen(text);
    uint32_t hash = hash_bytes(text, n);
    Entry *oldest = s->entries;
    for (Entry *e = s->entries; e < s->entries + MODULES; e++) {
        if (holds(e, hash, text, n)) {
            e->used = s->launches;
            return e->module;
        }
        if (e->used < oldest->used)
            oldest = e;
    }
    OriModule *module = ori_parse(s->ori, "ptx", text, n, ORI_PTX);
    if (!module)
        return NULL;
    ori_free(s->ori, oldest->module);
    *oldest = (Entry){module, hash, s->launches};
    return module;
}

/* -- Launches ------------------------------------------------------------------------------------------- */

// Describes the arguments, whose sizes are those of the parameters. False after a message.
static bool take_arguments(const OriModule *module, size_t n, void **args, OriArgument *arguments)
{
    char text[120];
    for (size_t k = 0; k < n; k++) {
        arguments[k] = (OriArgument){&args[k], ori_parameter_size(module, NULL, k)};
        if (arguments[k].size <= sizeof args[k])
            continue;
        snprintf(text, sizeof text, "parameter %zu of the kernel has %zu bytes, and a value has at most %zu", k,
                 arguments[k].size, sizeof args[k]);
        fail(text);
        return false;
    }
    return true;
}

static void run(State *s, const char *text, void **args, OriLaunch *launch)
{
    OriArgument arguments[ARGUMENTS];
    s->launches++;
    OriModule *module = open_context(s) ? module_of(s, text) : NULL;
    if (!module || !take_arguments(module, launch->argument_count, args, arguments))
        return;
    launch->arguments = arguments;
    process_forget(&s->process);
    ori_reset(s->ori, module);
    ori_run(s->ori, module, launch);
    if (s->printed)
        fflush(stdout);
    s->printed = false;
}

void ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y, int block_z, int grid_x, int grid_y,
             int grid_z, int shared_bytes)
{
    OriLaunch launch = {.size = sizeof launch,
                        .grid = {(unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z},
                        .block = {(unsigned)block_x, (unsigned)block_y, (unsigned)block_z},
                        .shared_bytes = (unsigned)shared_bytes,
                        .argument_count = (size_t)n_args};
    error[0] = 0;
    if (n_args < 0 || n_args > ARGUMENTS)
        fail("the number of arguments is out of range");
    else if (!ptx || (n_args && !args))
        fail("a null pointer");
    else if ((block_x | block_y | block_z | grid_x | grid_y | grid_z | shared_bytes) < 0)
        fail("a size is negative");
    else {
        pthread_mutex_lock(&lock);
        run(&state, ptx, args, &launch);
        pthread_mutex_unlock(&lock);
    }
}

const char *ptx_run_error(void) { return error[0] ? error : NULL; }
