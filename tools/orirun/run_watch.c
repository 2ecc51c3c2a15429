// SPDX-License-Identifier: MIT
// Handlers of signals only set flags, which the poll of the machine tests.
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "tools/options/progress.h"
#include "tools/orirun/run_watch.h"

/* -- The table of threads ------------------------------------------------------------------------------- */

// A row of the table of threads as text.
typedef struct WaitRow {
    char block[40], warp[12], lanes[12], place[RUN_PLACE], instruction[RUN_MNEMONIC];
    const char *waits;
} WaitRow;

enum { WAIT_COLUMNS = 5 };

static const char *cell(const WaitRow *r, int column)
{
    const char *const cells[WAIT_COLUMNS] = {r->block, r->warp, r->lanes, r->place, r->instruction};
    return cells[column];
}

static void make_row(const RunWatch *o, const RunWait *w, WaitRow *row)
{
    snprintf(row->block, sizeof row->block, "%u,%u,%u", w->block.x, w->block.y, w->block.z);
    snprintf(row->warp, sizeof row->warp, "%u", w->warp);
    snprintf(row->lanes, sizeof row->lanes, "%08x", w->lanes);
    run_mnemonic(w->fn, w->instr, row->instruction);
    run_place(o->source, w->fn, w->instr, row->place);
    row->waits = w->text;
}

void run_print_waits(const RunWatch *o)
{
    enum { SHOWN = 64 };
    uint32_t n;
    uint64_t unstarted;
    int wide[WAIT_COLUMNS] = {0};
    const RunWait *waits = machine_waits(o->state->machine, &n, &unstarted);
    uint32_t shown = MIN(n, SHOWN) + (n > 0);
    WaitRow *rows = NEW_ARRAY(o->state->arena, WaitRow, shown);
    for (uint32_t k = 0; k < shown; k++) {
        if (k)
            make_row(o, &waits[k - 1], &rows[k]);
        else
            rows[k] = (WaitRow){"block", "warp", "lanes", "at", "instruction", "waits for"};
        for (int c = 0; c < WAIT_COLUMNS; c++)
            wide[c] = MAX(wide[c], (int)strlen(cell(&rows[k], c)));
    }
    for (uint32_t k = 0; k < shown; k++) {
        for (int c = 0; c < WAIT_COLUMNS; c++)
            out_fmt(o->err, "%-*s  ", wide[c], cell(&rows[k], c));
        out_fmt(o->err, "%s\n", rows[k].waits);
    }
    if (n > SHOWN)
        out_fmt(o->err, "and %u more rows\n", n - SHOWN);
    if (n && unstarted)
        out_fmt(o->err, "blocks that had not started: %" PRIu64 "\n", unstarted);
}

/* -- Signals and progress ------------------------------------------------------------------------------- */

// A signal handler has no other access to these.
static volatile sig_atomic_t interrupted, requested;

static void note_interrupt(int signal_number) { (void)signal_number, interrupted = true; }

static void note_request(int signal_number) { (void)signal_number, requested = true; }

static bool is_ignored(int signal_number)
{
    struct sigaction now;
    return sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void print_request(const RunWatch *o, const RunProgress *p)
{
    out_flush(o->out);  // keeps output and messages in order
    fflush(stdout);
    out_fmt(o->err,
            "orirun: launch %u of %u, %s, after %" PRIu64 " steps: %" PRIu64 " of %" PRIu64 " blocks have started\n",
            o->state->number, o->launches, o->kernel, p->steps, p->started, p->blocks);
    run_print_waits(o);
    out_flush(o->err);
}

static void show_progress(const RunWatch *o, uint64_t started, uint64_t blocks)
{
    if (progress_due())
        progress_show("orirun: launch %u of %u, %s: block %" PRIu64 " of %" PRIu64, o->state->number, o->launches,
                      o->kernel, started, blocks);
}

static bool poll(void *user, const RunProgress *p)
{
    const RunWatch *o = user;
    if (requested) {
        requested = false;
        print_request(o, p);
    }
    show_progress(o, p->started, p->blocks);
    return !interrupted;
}

void run_watch_start(RunWatch *o, MachineOptions *options)
{
    struct sigaction request = {.sa_handler = note_request, .sa_flags = SA_RESTART};
    sigemptyset(&request.sa_mask);
    if (!is_ignored(SIGUSR1))
        sigaction(SIGUSR1, &request, NULL);
    options->poll = poll;
    options->poll_user = o;
}

bool run_watched(RunWatch *o, const Launch *launch)
{
    // A second INT ends the process, in case the machine does not poll.
    struct sigaction before, interrupt = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    bool caught = !is_ignored(SIGINT);
    sigemptyset(&interrupt.sa_mask);
    o->kernel = run_sym_name(o->state, launch->entry);
    show_progress(o, 0,
                  (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z);  // launches may be too short to poll
    if (caught)
        sigaction(SIGINT, &interrupt, &before);
    bool done = machine_run(o->state->machine, launch);
    if (caught)
        sigaction(SIGINT, &before, NULL);
    if (done && interrupted)
        raise(SIGINT);  // it came after the last poll
    return done;
}
