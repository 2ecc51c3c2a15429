// SPDX-License-Identifier: MIT
// The command line of oriopt.
#include <stdio.h>
#include <stdlib.h>

#include "tools/oriopt/oriopt.h"

const Option opt_options[OPT_COUNT] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/oriopt/oriopt.def"
#undef OPTION
};

bool settings_usage(const char *message) { return program_fail(&opt_program, "%s", message); }

// Prints that the value of the current option is not `expected`; NULL: not one of its choices. Returns false.
static bool bad_value(const OptionParser *p, const char *expected)
{
    return program_bad_value(&opt_program, p, expected);
}

static bool usage_at(const OptionParser *p, const char *message)
{
    return program_fail_at(&opt_program, p, "%s", message);
}

static bool version(Settings *s, const OptionParser *p)
{
    s->ptx_version = ptx_version(p->value, strlen(p->value));
    return s->ptx_version || bad_value(p, "a version of PTX from 3.1 to 9.0, such as 7.8");
}

static bool number(const OptionParser *p, uint64_t *n)
{
    char *end;
    *n = strtoull(p->value, &end, 10);
    if (end == p->value || *p->value == '-')
        return bad_value(p, "a number (K, M and G may follow)");
    uint64_t scale = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += scale > 1;
    if (*end || *n > UINT64_MAX / scale)
        return bad_value(p, "a number (K, M and G may follow)");
    *n *= scale;
    return true;
}

// Sets the index of the value among the choices of the option.
static bool choice(const OptionParser *p, int *which)
{
    *which = option_choice(p->option, p->value);
    return *which >= 0 || bad_value(p, NULL);
}

static bool print_mode(const OptionParser *p, PrintMode *mode)
{
    int which = -1;
    if (p->value && !choice(p, &which))
        return false;
    *mode = (PrintMode)(PRINT_JSON + which);
    return true;
}

// Reads `json`, `json:FILE` or, where `all` is set, `all`; without a value PRINT_TEXT.
static bool report_mode(const OptionParser *p, PrintMode *mode, const char **file, bool all)
{
    const char *v = p->value;
    *mode = !v ? PRINT_TEXT : all && strcmp(v, "all") == 0 ? PRINT_ALL : PRINT_JSON;
    *file = v && strncmp(v, "json:", 5) == 0 && v[5] ? v + 5 : NULL;
    return *mode != PRINT_JSON || *file || strcmp(v, "json") == 0 || bad_value(p, NULL);
}

static bool target(const OptionParser *p, SmTarget *target)
{
    char why[300];
    return sm_find(p->value, target, why) ||
           program_fail_at(&opt_program, p, "%s%s: %s", option_dashes(p->option), p->option->name, why);
}

int settings_counter(const char *value, char *text, size_t cap)
{
    char name[64];
    int len = (int)strcspn(value, ":");
    snprintf(name, sizeof name, "%.*sBudget", MIN(len, 40), value);
    int row = knob_find(&knob_table, name, strlen(name));
    const char *count = value[len] ? value + len + 1 : "";
    bool number = *count && strlen(count) < 20 && strspn(count, "0123456789") == strlen(count);
    if (row < 0 || knob_table.rows[row].type != KT_BDGT || !number)
        return -1;
    if (text)
        snprintf(text, cap, "%s=%s", knob_table.rows[row].name, count);
    return row;
}

static bool bad_counter(const OptionParser *p)
{
    static const char suffix[] = "Budget";
    char expected[400];
    int n = snprintf(expected, sizeof expected, "NAME:N, with a number of changes and one of");
    for (int row = 0; row < knob_table.n; row++) {
        const KnobInfo *knob = &knob_table.rows[row];
        int len = (int)(strlen(knob->name) - (sizeof suffix - 1));
        if (knob->type == KT_BDGT && len > 0 && n + len + 2 < (int)sizeof expected &&
            strcmp(knob->name + len, suffix) == 0)
            n += snprintf(expected + n, sizeof expected - (size_t)n, " %.*s", len, knob->name);
    }
    return bad_value(p, expected);
}

static bool add_entry(Settings *s, const OptionParser *p)
{
    if (s->nentries == ARRAY_LEN(s->entries))
        return usage_at(p, "too many --entry options");
    s->entries[s->nentries++] = p->value;
    return true;
}

static bool add_knob(Settings *s, const OptionParser *p)
{
    if (p->option->id == OPT_DEBUG_COUNTER && settings_counter(p->value, NULL, 0) < 0)
        return bad_counter(p);
    if (s->nknobs == ARRAY_LEN(s->knobs))
        return usage_at(p, "too many --knob options; --knobs-file takes any number of settings");
    s->knob_options[s->nknobs] = p->option->id;
    s->knobs[s->nknobs++] = p->option->id == OPT_ASSUME ? "KernelParamsGlobal" : p->value;
    return true;
}

static bool add_knobs_file(Settings *s, const OptionParser *p)
{
    if (s->nknobs_files == ARRAY_LEN(s->knobs_files))
        return usage_at(p, "too many --knobs-file options");
    s->knobs_files[s->nknobs_files++] = p->value;
    return true;
}

static bool level(Settings *s, const OptionParser *p)
{
    if (p->value[0] < '0' || p->value[0] > '4' || p->value[1])
        return bad_value(p, "a level from -O0 to -O4");
    s->phases.level = p->value[0] - '0';
    return true;
}

static bool threads(Settings *s, const OptionParser *p)
{
    char *end;
    unsigned long n = strtoul(p->value, &end, 10);
    if (end == p->value || *end || n < 1 || n > 1024)
        return bad_value(p, "a number of threads from 1 to 1024");
    s->threads = (unsigned)n;
    return true;
}

static bool seconds(const OptionParser *p, double *to)
{
    char *end;
    *to = strtod(p->value, &end);
    return (end != p->value && !*end && *to > 0) || bad_value(p, "a time in seconds");
}

static bool parse_option(Settings *s, const OptionParser *p)
{
    const char *value = p->value;
    int which = -1;
    uint64_t n;
    switch (p->option->id) {
    case OPT_OUTPUT: s->output = value; return true;
    case OPT_EMIT:
        if (!choice(p, &which))
            return false;
        s->emit = which < 2;
        s->output_lang = which == 1 ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_INPUT_KIND:
        if (!choice(p, &which))
            return false;
        s->input_lang = which ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_PTX_VERSION: return version(s, p);
    case OPT_ARCH:
    case OPT_GPU_NAME: return target(p, &s->phases.target);
    case OPT_ASSUME: return choice(p, &which) && add_knob(s, p);
    case OPT_LEVEL: return level(s, p);
    case OPT_NAMED: s->phases.named = value; return true;
    case OPT_DISABLE:
    case OPT_NO_PHASE:
        s->phases.disabled = value;
        s->phases.disable_option = p->option->id == OPT_DISABLE ? "--disable-phases" : "--no-phase";
        return true;
    case OPT_START: s->phases.start = value; return true;
    case OPT_STOP: s->phases.stop = value; return true;
    case OPT_REPORTS: s->phases.reports = true; return true;
    case OPT_VERIFY:
        if (!choice(p, &which))
            return false;
        s->phases.verify = (VerifyMode)which;
        return true;
    case OPT_VERIFY_EACH: s->phases.verify = VM_EACH; return true;
    case OPT_SELF_CHECK:
        return phase_self_checks(&s->phases, value) || bad_value(p, "a list of clone, roundtrip and contracts");
    case OPT_CHECK_EACH:
        s->check_each = true;
        s->run_file = value;
        return true;
    case OPT_REPRODUCER: s->reproducer = value; return true;
    case OPT_RUN_REPRODUCER: s->run_reproducer = value; return true;
    case OPT_CRASH_DIR: s->crash_dir = value; return true;
    case OPT_NO_REPRODUCER: s->no_reproducer = true; return true;
    case OPT_PRINT_BEFORE: s->phases.print_before = value; return true;
    case OPT_PRINT_AFTER: s->phases.print_after = value; return true;
    case OPT_PRINT_BEFORE_ALL: s->phases.print_before_all = true; return true;
    case OPT_PRINT_AFTER_ALL: s->phases.print_after_all = true; return true;
    case OPT_PRINT_CHANGED:
        if (value && !choice(p, &which))
            return false;
        s->phases.print_changed = (PrintChanged)(PC_QUIET + which);
        return true;
    case OPT_DUMP_CFG: s->phases.dump_cfg = true; return !value || choice(p, &which);
    case OPT_DUMP_CALLGRAPH: s->dump_callgraph = true; return !value || choice(p, &which);
    case OPT_FILTER_FUNCS: s->phases.filter_funcs = value; return true;
    case OPT_FILTER_PHASES: s->phases.filter_phases = value; return true;
    case OPT_DUMP_DIR: s->phases.dump_dir = value; return true;
    case OPT_ENTRY:
    case OPT_ENTRY_SHORT: return add_entry(s, p);
    case OPT_JOBS: return threads(s, p);
    case OPT_PIECE: return number(p, &s->piece);
    case OPT_REMARKS: s->remarks = value; return true;
    case OPT_REMARKS_FILTER: s->remarks_filter = value; return true;
    case OPT_STRIP_DEBUG: s->strip_debug = true; return true;
    case OPT_TIME_PHASES: s->phases.timing = true; return report_mode(p, &s->times, &s->times_file, false);
    case OPT_STATS: s->phases.stats = true; return report_mode(p, &s->stats, &s->stats_file, true);
    case OPT_LIST_PHASES: return print_mode(p, &s->list_phases);
    case OPT_DEBUG_COUNTER:
    case OPT_KEEP:
    case OPT_INTERNALIZE:
    case OPT_KNOB: return add_knob(s, p);
    case OPT_KNOBS_FILE: return add_knobs_file(s, p);
    case OPT_LIST_KNOBS: return print_mode(p, &s->list_knobs);
    case OPT_PRINT_KNOBS: s->print_knobs = true; return true;
    case OPT_LIST_SM: return print_mode(p, &s->list_sm);
    case OPT_PRINT_PIPELINE: s->print_pipeline = true; return true;
    case OPT_MAX_ERRORS:
        if (!number(p, &n))
            return false;
        s->max_errors = (uint32_t)MIN(n, UINT32_MAX);
        return true;
    case OPT_DIAGNOSTICS:
        if (!choice(p, &which))
            return false;
        s->json_diagnostics = which;
        return true;
    case OPT_MAX_MEMORY: return number(p, &s->max_memory);
    case OPT_MAX_TIME: return seconds(p, &s->phases.max_seconds);
    case OPT_MAX_INSNS: return number(p, &s->max_insns);
    default: return true;
    }
}

// True if the options are compatible; otherwise a message was printed.
static bool options_agree(const Settings *s)
{
    if (s->run_reproducer && s->input && !s->text)
        return settings_usage("--run-reproducer takes no other input");
    if (s->reproducer && s->no_reproducer)
        return settings_usage("--reproducer and --no-reproducer exclude each other");
    if (s->remarks && s->emit && strcmp(s->remarks, s->output) == 0)
        return settings_usage("--remarks and -o name the same file; --emit=none writes no module");
    if (s->remarks_filter && !s->remarks)
        return settings_usage("--remarks-filter requires --remarks");
    return s->input || s->run_reproducer || (settings_tables(s) && !s->dump_callgraph) ||
           settings_usage("no input file; --help explains the use");
}

bool settings_tables(const Settings *s)
{
    return s->list_phases || s->list_knobs || s->list_sm || s->print_knobs || s->print_pipeline || s->dump_callgraph;
}

Settings settings_default(void)
{
    return (Settings){.output = "-", .emit = true, .max_errors = 20, .threads = 1, .phases = phase_default_options()};
}

// True for options that are knobs in a reproducer.
static bool sets_knobs(int id)
{
    return id == OPT_KNOB || id == OPT_KNOBS_FILE || id == OPT_KEEP || id == OPT_INTERNALIZE;
}

Status settings_parse(Settings *s, int argc, char **argv, Arena *responses, bool *done)
{
    char buf[4096];
    Out out = {.write = out_to_stdio, .user = stdout, .buf = buf, .cap = sizeof buf};
    OptionParser p = program_parser(&opt_program, argc, argv, responses);
    for (int id; (id = program_next(&opt_program, &p, &out)) != OPTION_END;) {
        if (id == OPTION_ERROR) {
            usage_at(&p, p.error);
            return p.status;
        }
        if (id == OPTION_DONE) {
            *done = true;
            return ST_OK;
        }
        if (id == OPTION_OPERAND && s->input) {
            usage_at(&p, "more than one input file");
            return ST_USAGE;
        }
        if (id == OPTION_OPERAND)
            s->input = p.value;
        else if (!parse_option(s, &p))
            return ST_USAGE;
        else if (!sets_knobs(id) && s->ngiven < ARRAY_LEN(s->given))
            s->given[s->ngiven++] = (Given){id, p.value};
    }
    return options_agree(s) ? ST_OK : ST_USAGE;
}
