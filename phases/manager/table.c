// SPDX-License-Identifier: MIT
// Makes the phase table from phases.def: rows, vtables, the factory, look-up by name, the printed list.
#include <stdio.h>
#include <strings.h>

#include "phases/bodies.h"
#include "phases/manager/recipes.h"
#include "phases/redundancy/gvn.h"

#define none NULL
#define BODY_FUNCTION(function) function, NULL
#define BODY_MODULE(function) NULL, function
#define backend NULL  // body_of() finds it
#define ALL UINT32_MAX
#define CFG AN_CFG
#define RPO AN_RPO
#define DOM AN_DOM
#define LOOPS AN_LOOPS
#define PDOM AN_PDOM
#define DEFUSE AN_DEFUSE
#define NUSES AN_NUSES
#define LIVE AN_LIVE
#define DEF AN_DEF
#define RDEFS AN_RDEFS
#define POINTERS AN_POINTERS
#define MEM AN_MEM
#define FLOW AN_FLOW
#define MOVE IC_MOVE
#define COMPARE IC_COMPARE
#define LOGIC IC_LOGIC
#define BRANCH IC_BRANCH
#define CALL IC_CALL
#define CVTA IC_CVTA
#define GENERIC IC_GENERIC
#define LOCAL IC_LOCAL
#define NO_DEAD PROP_NO_DEAD
#define NO_REDUNDANT_MOVE PROP_NO_REDUNDANT_MOVE
#define NO_SELF_MOVE PROP_NO_SELF_MOVE
#define CONVENTIONAL PROP_CONVENTIONAL

const PhaseInfo phase_info[PHASE_ROWS] = {
#define PHASE(index, name, function, kind, gate, scope, form, classes, needs, keeps, summary)                      \
    [index] = {name,   BODY_##scope(function), PK_##kind, PG_##gate, PS_##scope, PF_##form, classes, needs, keeps, \
               summary},
#include "phases/phases.def"
};
#undef backend

/* -- Objects -------------------------------------------------------------------------------------------- */

// Returns the body of a row, from the table or from the backend; NULL = none. Knobs install that of GvnCse on backends
// without one.
static PhaseBody *body_of(const Phase *phase, int row)
{
    if (phase_info[row].body)
        return phase_info[row].body;
    SmPass *pass = sm_pass(phase->ctx->target.backend, row);
    return row == PH_GVN_CSE && pass == sm_no_op_pass && gvn_is_installed(phase->ctx) ? phase_gvn_cse : pass;
}

static bool run_body(Phase *phase, Fn *fn, int row)
{
    PhaseBody *body = body_of(phase, row);
    return body && body(phase->ctx, fn);
}

static bool does_nothing(const Phase *phase, int row)
{
    PhaseBody *body = body_of(phase, row);
    return !phase_info[row].module && (!body || sm_is_sentinel(body));
}

#define PHASE(index, ...)                                                                    \
    static bool execute_##index(Phase *phase, Fn *fn) { return run_body(phase, fn, index); } \
    static int get_index_##index(const Phase *phase) { return (void)phase, index; }          \
    static bool is_noop_##index(const Phase *phase) { return does_nothing(phase, index); }
#include "phases/phases.def"

static const PhaseVtable vtables[PHASE_ROWS] = {
#define PHASE(index, ...) [index] = {execute_##index, get_index_##index, is_noop_##index, {NULL, NULL}},
#include "phases/phases.def"
};

void phase_factory(Ctx *ctx)
{
    if (!ctx->target.backend)
        ctx->target = sm_newest();
    for (int row = 0; row < PHASE_ROWS; row++)
        ctx->phases[row] = (Phase){&vtables[row], ctx};
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static bool installs(const SmBackend *backend, int row)
{
    SmPass *pass = sm_pass(backend, row);
    return pass ? !sm_is_sentinel(pass) : phase_info[row].body || phase_info[row].module;
}

// Returns the number of backends that install a body for a row.
static size_t count_backends(int row)
{
    size_t n = 0;
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
        n += installs(sm_backends[k], row);
    return n;
}

bool phase_is_implemented(int row) { return count_backends(row) > 0; }

const char *phase_status(int row)
{
    const PhaseInfo *p = &phase_info[row];
    bool empty = p->kind == PK_HOOK || p->kind == PK_MACHINE || p->kind == PK_GRAPHICS || p->kind == PK_BOOKKEEPING;
    return phase_is_implemented(row) ? (recipes_off(row) ? "off" : "implemented")
           : empty                   ? phase_kind_name(p->kind)
                                     : "not-yet";
}

const char *phase_kind_name(PhaseKind kind)
{
    static const char *const names[] = {"verify", "report",  "analysis", "transform",   "lower",   "update",
                                        "hook",   "machine", "graphics", "bookkeeping", "sub-pass"};
    return names[kind];
}

const char *phase_form_name(PhaseForm form)
{
    static const char *const names[] = {"any", "multi", "ssa", "to-ssa", "to-multi"};
    return names[form];
}

const char *phase_gate_name(PhaseGate gate)
{
    static const char *const names[] = {"-", ">0", ">1", ">2", "==0"};
    return names[gate];
}

// Compares a name with that of a row, without regard to case.
static int by_name(const char *a, size_t len, int row)
{
    const char *b = phase_info[row].name;
    int order = strncasecmp(a, b, len);
    return order ? order : b[len] ? -1 : 0;
}

static void sort_names(uint8_t sorted[PHASE_ROWS])
{
    for (int n = 0; n < PHASE_ROWS; n++) {
        int k = n;
        for (; k && by_name(phase_info[n].name, strlen(phase_info[n].name), sorted[k - 1]) < 0; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = (uint8_t)n;
    }
}

static void suggest(const char *text, size_t len, char why[static 400])
{
    int n = snprintf(why, 400, "unknown phase '%.*s'", (int)MIN(len, 60), text);
    Nearest best = {0};
    for (int row = 0; row < PHASE_ROWS; row++)
        nearest_offer(&best, text, len, phase_info[row].name);
    nearest_print(&best, why + n, 400 - (size_t)n);
}

static bool parse_number(const char *text, size_t len, int *number)
{
    *number = 0;
    for (size_t k = 0; k < len; k++) {
        if (text[k] < '0' || text[k] > '9' || *number > 1000)
            return false;
        *number = *number * 10 + text[k] - '0';
    }
    return len > 0;
}

int phase_find(const char *text, size_t len, char why[static 400])
{
    int slot;
    return phase_find_at(text, len, &slot, why);
}

int phase_find_at(const char *text, size_t len, int *slot, char why[static 400])
{
    uint8_t sorted[PHASE_ROWS];
    int number;
    if (parse_number(text, len, &number)) {
        *slot = number;
        if (number < PHASE_ROWS)
            return number;
        snprintf(why, 400, "there is no phase %d; the last is %d", number, PHASE_ROWS - 1);
        return -1;
    }
    const char *at = memchr(text, '@', len);
    size_t name_len = at ? (size_t)(at - text) : len;
    if (at && !parse_number(at + 1, len - name_len - 1, &number)) {
        snprintf(why, 400, "'%.*s': expected a phase number after '@'", (int)MIN(len, 60), text);
        return -1;
    }
    sort_names(sorted);
    int low = 0, high = PHASE_ROWS;
    while (low < high) {  // lower bound
        int mid = (low + high) / 2;
        if (by_name(text, name_len, sorted[mid]) > 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == PHASE_ROWS || by_name(text, name_len, sorted[low]) != 0) {
        suggest(text, name_len, why);
        return -1;
    }
    bool twice = low + 1 < PHASE_ROWS && by_name(text, name_len, sorted[low + 1]) == 0;
    if (!at && twice) {
        snprintf(why, 400, "'%.*s' is at two slots: write %s@%d or %s@%d", (int)MIN(len, 60), text,
                 phase_info[sorted[low]].name, sorted[low], phase_info[sorted[low]].name, sorted[low + 1]);
        return -1;
    }
    int row = sorted[low + (at && twice && sorted[low + 1] == number)];
    bool sub_pass = at && ((row >= PHASE_SLOTS && number < PHASE_SLOTS) || recipe_at(row, number) >= 0);
    *slot = sub_pass ? number : row;
    if (!at || row == number || sub_pass)
        return row;
    snprintf(why, 400, "'%.*s' is not at slot %d but at %d", (int)MIN(name_len, 60), text, number, row);
    return -1;
}

/* -- Lists ---------------------------------------------------------------------------------------------- */

static void list_masks(Out *out, uint32_t mask)
{
#define NAME(id, ...) #id,
    static const char *const names[] = {ANALYSES(NAME)};
#undef NAME
    out_char(out, '[');
    for (size_t k = 0, n = 0; k < ARRAY_LEN(names); k++)
        if (mask >> k & 1)
            out_fmt(out, "%s\"%s\"", n++ ? "," : "", names[k]);
    out_char(out, ']');
}

bool phase_matches(const char *glob, int row)
{
    const char *name = phase_info[row].name;
    char text[80];
    int n = snprintf(text, sizeof text, "%03d-%s", row, name);
    return glob_match(glob, name, strlen(name), true) || glob_match(glob, text, (size_t)n, true) ||
           glob_match(glob, text, 3, true);
}

// True if a row is the reader of a knob, or in a reader of the form `phases N, N`.
static bool is_reader(int row, const char *reader)
{
    static const char list[] = "phases ";
    if (strncmp(reader, list, sizeof list - 1) != 0)
        return strcmp(reader, phase_info[row].name) == 0;
    char number[16];
    int len = snprintf(number, sizeof number, " %d", row);
    for (const char *at = reader; (at = strstr(at, number)); at += len)
        if (at[len] == ',' || !at[len])
            return true;
    return false;
}

// Writes the knobs that a row reads, each with the prefix `before`, separated by `between`. Returns their number.
static uint32_t list_knobs(Out *out, int row, const char *before, const char *between)
{
    uint32_t n = 0;
    for (int k = 0; k < knob_table.n; k++)
        if (is_reader(row, knob_table.rows[k].reader))
            out_fmt(out, "%s%s", n++ ? between : before, knob_table.rows[k].name);
    return n;
}

// Writes the backends that install a row: `all`, `-` for none, or their numbers.
static void list_backends(Out *out, int row)
{
    char text[40] = "-";
    size_t n = 0, found = count_backends(row);
    for (size_t k = 0; k < SM_BACKEND_COUNT && found < SM_BACKEND_COUNT; k++)
        if (installs(sm_backends[k], row))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", n ? "," : "", sm_backends[k]->profile.number);
    out_fmt(out, "%-17s", found == SM_BACKEND_COUNT ? "all" : text);
}

static void list_backends_json(Out *out, int row)
{
    out_z(out, ",\"backends\":[");
    for (size_t k = 0, n = 0; k < SM_BACKEND_COUNT; k++)
        if (installs(sm_backends[k], row))
            out_fmt(out, "%s\"%s\"", n++ ? "," : "", sm_backends[k]->profile.name);
    out_char(out, ']');
}

void phase_list(Out *out, bool json)
{
    static const int min_opt[] = {0, 1, 2, 3, 0};
    if (json)
        out_z(out, "{\"schema\":1,\"phases\":[");
    for (int row = 0; row < PHASE_ROWS; row++) {
        const PhaseInfo *p = &phase_info[row];
        if (!json) {
            out_fmt(out, "%3d  %-40s %-11s %-11s %-4s %-8s ", row, p->name, phase_kind_name(p->kind), phase_status(row),
                    phase_gate_name(p->gate), phase_form_name(p->form));
            list_backends(out, row);
            out_fmt(out, " %s", p->summary);
            if (recipes_off(row))
                out_fmt(out, " [off: %s]", recipes_off(row));
            out_z(out, list_knobs(out, row, " [knobs: ", ", ") ? "]\n" : "\n");
            continue;
        }
        out_fmt(out, "%s\n{\"index\":%d,\"name\":\"%s\",\"kind\":\"%s\",\"status\":\"%s\",\"min_opt\":%d,",
                row ? "," : "", row, p->name, phase_kind_name(p->kind), phase_status(row), min_opt[p->gate]);
        if (p->gate == PG_O0_ONLY)
            out_z(out, "\"max_opt\":0,");
        out_fmt(out, "\"scope\":\"%s\",\"form\":\"%s\",\"needs\":", p->scope == PS_MODULE ? "module" : "function",
                phase_form_name(p->form));
        list_masks(out, p->needs);
        out_z(out, ",\"keeps\":");
        list_masks(out, p->keeps);
        list_backends_json(out, row);
        if (recipes_off(row)) {
            out_z(out, ",\"off\":");
            out_json(out, recipes_off(row), strlen(recipes_off(row)));
        }
        out_z(out, ",\"knobs\":[");
        out_z(out, list_knobs(out, row, "\"", "\",\"") ? "\"]" : "]");
        out_z(out, ",\"summary\":");
        out_json(out, p->summary, strlen(p->summary));
        out_char(out, '}');
    }
    if (json)
        out_z(out, "\n]}\n");
}
