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

bool settings_bad_value(const char *option, const char *value, const char *expected)
{
    char message[600];
    snprintf(message, sizeof message, "--%s: '%s' is not %s", option, value, expected);
    return settings_usage(message);
}

static bool number(const char *option, const char *text, uint64_t *n)
{
    char *end;
    *n = strtoull(text, &end, 10);
    if (end == text || *text == '-')
        return settings_bad_value(option, text, "a number");
    uint64_t scale = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += scale > 1;
    if (*end || *n > UINT64_MAX / scale)
        return settings_bad_value(option, text, "a number");
    *n *= scale;
    return true;
}

static bool print_mode(const char *option, const char *value, PrintMode *mode)
{
    *mode = value ? PRINT_JSON : PRINT_TEXT;
    return !value || strcmp(value, "json") == 0 || settings_bad_value(option, value, "json");
}

static bool one_of(const char *option, const char *value, const char *const *names, int n, int *which)
{
    for (*which = 0; *which < n; ++*which)
        if (strcmp(value, names[*which]) == 0)
            return true;
    return settings_bad_value(option, value, "one of its values; --help lists them");
}

static bool target(const char *option, const char *value, SmTarget *target)
{
    char why[300], message[340];
    if (sm_find(value, target, why))
        return true;
    snprintf(message, sizeof message, "--%s: %s", option, why);
    return settings_usage(message);
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

static bool bad_counter(const char *value)
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
    return settings_bad_value("debug-counter", value, expected);
}

static bool take_option(Settings *s, int id, const char *value)
{
    static const char *const emits[] = {"none", "ptx", "ori"}, *const verifies[] = {"none", "final", "each"},
                             *const diags[] = {"text", "json"}, *const changes[] = {"quiet", "diff"};
    int which;
    uint64_t n;
    switch (id) {
    case OPT_OUTPUT: s->output = value; return true;
    case OPT_EMIT:
        if (!one_of("emit", value, emits, 3, &which))
            return false;
        s->emit = which > 0;
        s->output_lang = which == 2 ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_INPUT_KIND:
        if (!one_of("x", value, emits + 1, 2, &which))
            return false;
        s->input_lang = which ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_ARCH:
    case OPT_GPU_NAME: return target(opt_options[id].name, value, &s->phases.target);
    case OPT_LEVEL:
        if (value[0] < '0' || value[0] > '4' || value[1])
            return settings_bad_value("O", value, "a level from 0 to 4");
        s->phases.level = value[0] - '0';
        return true;
    case OPT_NAMED: s->phases.named = value; return true;
    case OPT_DISABLE: s->phases.disabled = value; return true;
    case OPT_START: s->phases.start = value; return true;
    case OPT_STOP: s->phases.stop = value; return true;
    case OPT_REPORTS: s->phases.reports = true; return true;
    case OPT_VERIFY:
        if (!one_of("verify", value, verifies, 3, &which))
            return false;
        s->phases.verify = (VerifyMode)which;
        return true;
    case OPT_VERIFY_EACH: s->phases.verify = VM_EACH; return true;
    case OPT_SELF_CHECK:
        return phase_self_checks(&s->phases, value) ||
               settings_bad_value("self-check", value, "a list of clone, roundtrip and contracts");
    case OPT_CHECK_EACH:
        s->check_each = true;
        s->run_file = value;
        return true;
    case OPT_REPRODUCER: s->reproducer = value; return true;
    case OPT_RUN_REPRODUCER: s->run_reproducer = value; return true;
    case OPT_PRINT_BEFORE: s->phases.print_before = value; return true;
    case OPT_PRINT_AFTER: s->phases.print_after = value; return true;
    case OPT_PRINT_BEFORE_ALL: s->phases.print_before_all = true; return true;
    case OPT_PRINT_AFTER_ALL: s->phases.print_after_all = true; return true;
    case OPT_PRINT_CHANGED:
        if (value && !one_of("print-changed", value, changes, 2, &which))
            return false;
        s->phases.print_changed = !value ? PC_ALL : which ? PC_DIFF : PC_QUIET;
        return true;
    case OPT_FILTER_FUNCS: s->phases.filter_funcs = value; return true;
    case OPT_FILTER_PHASES: s->phases.filter_phases = value; return true;
    case OPT_DUMP_DIR: s->phases.dump_dir = value; return true;
    case OPT_ENTRY:
    case OPT_ENTRY_SHORT:
        if (s->nentries == ARRAY_LEN(s->entries))
            return settings_usage("too many --entry options");
        s->entries[s->nentries++] = value;
        return true;
    case OPT_JOBS:
        if (!number("j", value, &n) || n < 1 || n > 1024)
            return settings_bad_value("j", value, "a number of threads from 1 to 1024");
        s->threads = (unsigned)n;
        return true;
    case OPT_PIECE: return number("piece", value, &s->piece);
    case OPT_REMARKS: s->remarks = value; return true;
    case OPT_REMARKS_FILTER: s->remarks_filter = value; return true;
    case OPT_STRIP_DEBUG: s->strip_debug = true; return true;
    case OPT_TIME_PHASES: s->phases.timing = true; return print_mode("time-phases", value, &s->times);
    case OPT_STATS: s->phases.stats = true; return print_mode("stats", value, &s->stats);
    case OPT_LIST_PHASES: return print_mode("list-phases", value, &s->list_phases);
    case OPT_DEBUG_COUNTER:
        if (settings_counter(value, NULL, 0) < 0)
            return bad_counter(value);
        s->counters[MIN(s->nknobs, ARRAY_LEN(s->counters) - 1)] = true;  // fall through
    case OPT_KNOB:
        if (s->nknobs == ARRAY_LEN(s->knobs))
            return settings_usage("too many --knob options; --knobs-file takes any number of settings");
        s->knobs[s->nknobs++] = value;
        return true;
    case OPT_KNOBS_FILE:
        if (s->nknobs_files == ARRAY_LEN(s->knobs_files))
            return settings_usage("too many --knobs-file options");
        s->knobs_files[s->nknobs_files++] = value;
        return true;
    case OPT_LIST_KNOBS: return print_mode("list-knobs", value, &s->list_knobs);
    case OPT_PRINT_KNOBS: s->print_knobs = true; return true;
    case OPT_LIST_SM: return print_mode("list-sm", value, &s->list_sm);
    case OPT_PRINT_PIPELINE: s->print_pipeline = true; return true;
    case OPT_MAX_ERRORS:
        if (!number("max-errors", value, &n))
            return false;
        s->max_errors = (uint32_t)MIN(n, UINT32_MAX);
        return true;
    case OPT_DIAGNOSTICS:
        if (!one_of("diagnostics", value, diags, 2, &which))
            return false;
        s->json_diagnostics = which;
        return true;
    case OPT_MAX_MEMORY: return number("max-memory", value, &s->max_memory);
    case OPT_MAX_TIME: {
        char *end;
        s->phases.max_seconds = strtod(value, &end);
        return (end != value && !*end && s->phases.max_seconds > 0) ||
               settings_bad_value("max-time", value, "a time in seconds");
    }
    case OPT_MAX_INSNS: return number("max-insns", value, &s->max_insns);
    default: return true;
    }
}

bool settings_tables(const Settings *s)
{
    return s->list_phases || s->list_knobs || s->list_sm || s->print_knobs || s->print_pipeline;
}

Settings settings_default(void)
{
    return (Settings){
        .output = "-", .emit = true, .max_errors = 20, .piece = 8 << 20, .phases = phase_default_options()};
}

bool settings_take(Settings *s, int argc, char **argv, bool *done)
{
    char buf[4096];
    Out out = {.write = out_to_stdio, .user = stdout, .buf = buf, .cap = sizeof buf};
    OptionParser p = program_parser(&opt_program, argc, argv);
    for (int id; (id = program_next(&opt_program, &p, &out)) != OPTION_END;) {
        if (id == OPTION_ERROR)
            return settings_usage(p.error);
        if (id == OPTION_DONE)
            return *done = true;
        if (id == OPTION_OPERAND && s->input)
            return settings_usage("more than one input file");
        if (id == OPTION_OPERAND)
            s->input = p.value;
        else if (!take_option(s, id, p.value))
            return false;
        else if (id != OPT_KNOB && id != OPT_KNOBS_FILE && s->ngiven < ARRAY_LEN(s->given))
            s->given[s->ngiven++] = (Given){id, p.value};
    }
    if (s->run_reproducer && s->input && !s->text)
        return settings_usage("--run-reproducer takes no other input");
    if (s->remarks && s->emit && strcmp(s->remarks, s->output) == 0)
        return settings_usage("--remarks and -o name the same file; --emit=none writes no module");
    if (s->remarks_filter && !s->remarks)
        return settings_usage("--remarks-filter goes with --remarks");
    return s->input || s->run_reproducer || settings_tables(s) ||
           settings_usage("no input file; --help explains the use");
}
