// SPDX-License-Identifier: MIT
// --help and the man page of a program.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "tools/options/option_docs.h"
#include "tools/options/progress.h"

enum { WIDTH = 80, HELP_COLUMN = 34 };

// Pages that each man page refers to.
static const struct {
    const char *name;
    int section;
} pages[] = {{"oriopt", 1},    {"orirun", 1},  {"oricheck", 1}, {"origen", 1},
             {"ori-ptxas", 1}, {"orilink", 1}, {"ori.h", 3}};

static const char usual_spelling[] =
    "`-x` and `--x` are the same, and so are `--x=VALUE` and `--x VALUE`. A value in brackets is optional and requires "
    "the `=`. `--` ends the options. `@FILE` is replaced by the arguments in FILE, which are separated by blanks and "
    "line ends; quotes hold blanks, and a backslash quotes the next character.";

// Returns the text between an option and its value in help: the `=` of `--emit=ptx|ori`.
static const char *value_separator(const Option *o)
{
    return o->kind != ARG_VALUE && o->kind != ARG_EITHER ? "" : strlen(o->name) == 1 ? " " : "=";
}

/* -- Help ----------------------------------------------------------------------------------------------- */

static size_t word_length(const char *text) { return strcspn(text, " \n"); }

// Writes a text in lines that begin at `column`; the first line already has `at` characters.
static void help_text(Out *out, const char *text, size_t at, size_t column)
{
    bool first = true;
    for (const char *word = text; *word; word += word_length(word)) {
        if (word[0] == '\n' && word[1] == '\n') {
            out_z(out, "\n\n");
            at = 0;
        }
        word += strspn(word, " \n");
        size_t n = word_length(word);
        bool full = !first && at + 1 + n > WIDTH;
        if (full)
            out_char(out, '\n');
        if (full || at == 0) {
            out_fmt(out, "%*s", (int)column, "");
            at = column;
        } else if (!first) {
            out_char(out, ' ');
            at++;
        }
        out_bytes(out, word, n);
        at += n;
        first = false;
    }
    out_char(out, '\n');
}

static void help_row(Out *out, const char *term, const char *text)
{
    bool fits = strlen(term) + 3 < HELP_COLUMN;
    out_fmt(out, "  %-*s%s", fits ? HELP_COLUMN - 2 : 0, term, fits ? "" : "\n");
    help_text(out, text, fits ? HELP_COLUMN : 0, HELP_COLUMN);
}

static void help_section(Out *out, const DocSection *s)
{
    if (s->man_only)
        return;
    out_fmt(out, "\n%s:\n", s->title);
    if (s->intro)
        help_text(out, s->intro, 0, 0);
    for (size_t k = 0; k < s->nrows; k++)
        help_row(out, s->rows[k].term, s->rows[k].text);
    if (s->close) {
        out_char(out, '\n');
        help_text(out, s->close, 0, 0);
    }
}

static void help_statuses(const Program *program, Out *out)
{
    char line[1000] = "";
    size_t n = 0;
    for (size_t k = 0; k < program->nstatuses && n < sizeof line; k++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s %s",
                              k ? ", " : "exit status: ", program->statuses[k].term, program->statuses[k].text);
    out_char(out, '\n');
    help_text(out, line, 0, 0);
}

static void program_help(const Program *program, Out *out)
{
    out_fmt(out, "usage: %s [options]%s%s\n\n", program->name, *program->operands ? " " : "", program->operands);
    help_text(out, program->about, 0, 0);
    out_char(out, '\n');
    for (size_t k = 0; k < program->noptions; k++) {
        const Option *o = &program->options[k];
        char term[100];
        snprintf(term, sizeof term, "%s%s%s%s", option_dashes(o), o->name, value_separator(o), o->arg);
        help_row(out, term, o->help);
    }
    if (!program->spelling)
        help_row(out, "@FILE", "the arguments in FILE, separated by blanks and line ends; quotes hold blanks");
    for (size_t k = 0; k < program->nsections; k++)
        help_section(out, &program->sections[k]);
    help_statuses(program, out);
    for (size_t k = 0; k < program->nlast; k++)
        help_section(out, &program->last[k]);
}

/* -- Man page ------------------------------------------------------------------------------------------- */

typedef struct Man {
    Out *out;
    size_t at;  // column of the source: lines end before WIDTH
    bool bold;
} Man;

// Writes a character and escapes it for troff. `start`: it begins a line, where `.` and `'` begin requests.
static void man_char(Out *out, char c, bool start)
{
    switch (c) {
    case '\\': out_z(out, "\\e"); break;
    case '-': out_z(out, "\\-"); break;
    case '\'': out_z(out, "\\(aq"); break;
    case '`': out_z(out, "\\(ga"); break;
    case '^': out_z(out, "\\(ha"); break;
    case '~': out_z(out, "\\(ti"); break;
    case '.': out_z(out, start ? "\\&." : "."); break;
    default: out_char(out, c); break;
    }
}

static void man_bytes(Out *out, const char *text, size_t n, bool start)
{
    for (size_t k = 0; k < n; k++)
        man_char(out, text[k], start && k == 0);
}

static void man_z(Out *out, const char *text) { man_bytes(out, text, strlen(text), false); }

// Writes a word of running text. A backquote begins or ends literal text.
static void man_word(Man *m, const char *word, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (word[k] == '`') {
            m->bold = !m->bold;
            out_z(m->out, m->bold ? "\\fB" : "\\fR");
        } else {
            man_char(m->out, word[k], m->at == 0 && k == 0);
        }
    }
}

// True if the word ends a sentence; troff sources end lines there.
static bool ends_sentence(const char *word, size_t n)
{
    return n > 1 && strchr(".:?!", word[n - 1]) && !(n == 3 && strncmp(word, "...", 3) == 0);
}

static void man_text(Out *out, const char *text)
{
    Man m = {.out = out};
    bool after_sentence = false;
    for (const char *word = text; *word; word += word_length(word)) {
        if (word[0] == '\n' && word[1] == '\n') {
            out_z(out, "\n.PP\n");
            m.at = 0;
        }
        word += strspn(word, " \n");
        size_t n = word_length(word);
        if (m.at && (after_sentence || m.at + 1 + n > WIDTH - 10)) {
            out_char(out, '\n');
            m.at = 0;
        } else if (m.at) {
            out_char(out, ' ');
            m.at++;
        }
        man_word(&m, word, n);
        m.at += n;
        after_sentence = ends_sentence(word, n);
    }
    out_z(out, m.bold ? "\\fR\n" : "\n");
}

static void man_title(Out *out, const char *title)
{
    out_z(out, ".SH \"");
    for (; *title; title++)
        out_char(out, (char)toupper((unsigned char)*title));
    out_z(out, "\"\n");
}

static void man_row(Out *out, const DocRow *row)
{
    out_z(out, ".TP\n\\fB");
    man_z(out, row->term);
    out_z(out, "\\fR\n");
    man_text(out, row->text);
}

static void man_section(Out *out, const DocSection *s)
{
    man_title(out, s->title);
    if (s->intro)
        man_text(out, s->intro);
    for (size_t k = 0; k < s->nrows; k++)
        man_row(out, &s->rows[k]);
    if (s->close) {
        out_z(out, s->nrows ? ".PP\n" : "");
        man_text(out, s->close);
    }
}

static void man_option(Out *out, const Option *o)
{
    out_z(out, ".TP\n\\fB");
    man_z(out, option_dashes(o));
    man_z(out, o->name);
    out_z(out, "\\fR");
    if (*o->arg) {
        man_z(out, value_separator(o));
        out_z(out, "\\fI");
        man_z(out, o->arg);
        out_z(out, "\\fR");
    }
    out_char(out, '\n');
    man_text(out, o->help);
}

static void man_head(const Program *program, Out *out)
{
    out_fmt(out, ".\\\" Generated by %s --generate=man.\n.TH ", program->name);
    for (const char *c = program->name; *c; c++)
        out_char(out, (char)toupper((unsigned char)*c));
    out_z(out, " 1 \"\" \"ori " ORI_VERSION "\" \"ori\"\n");
    man_title(out, "name");
    out_fmt(out, "%s \\- ", program->name);
    man_z(out, program->purpose);
    out_char(out, '\n');
    man_title(out, "synopsis");
    out_fmt(out, "\\fB%s\\fR [options]", program->name);
    if (*program->operands) {
        out_z(out, " \\fI");
        man_z(out, program->operands);
        out_z(out, "\\fR");
    }
    out_char(out, '\n');
}

static void program_man(const Program *program, Out *out)
{
    man_head(program, out);
    man_title(out, "description");
    man_text(out, program->about);
    man_title(out, "options");
    man_text(out, program->spelling ? program->spelling : usual_spelling);
    for (size_t k = 0; k < program->noptions; k++)
        man_option(out, &program->options[k]);
    for (size_t k = 0; k < program->nsections; k++)
        man_section(out, &program->sections[k]);
    man_section(out, &(DocSection){"exit status", .rows = program->statuses, .nrows = program->nstatuses});
    for (size_t k = 0; k < program->nlast; k++)
        man_section(out, &program->last[k]);
    man_title(out, "see also");
    bool any = false;
    for (size_t k = 0; k < ARRAY_LEN(pages); k++) {
        if (strcmp(pages[k].name, program->name) == 0)
            continue;
        out_fmt(out, "%s\\fB%s\\fR(%d)", any ? ",\n" : "", pages[k].name, pages[k].section);
        any = true;
    }
    out_char(out, '\n');
}

/* -- Command lines -------------------------------------------------------------------------------------- */

bool program_fail(const Program *program, const char *fmt, ...)
{
    va_list args;
    progress_clear();
    va_start(args, fmt);
    fprintf(stderr, "%s: ", program->name);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool program_fail_at(const Program *program, const OptionParser *p, const char *fmt, ...)
{
    va_list args;
    progress_clear();
    va_start(args, fmt);
    fprintf(stderr, "%s: %s", p->place ? p->place : program->name, p->place ? "error: " : "");
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool program_bad_value(const Program *program, const OptionParser *p, const char *expected)
{
    const Option *o = p->option;
    char choices[200];
    option_choices(o, choices);
    if (o->kind == ARG_JOINED)
        return program_fail_at(program, p, "'%s' is not %s", p->typed, expected ? expected : choices);
    return program_fail_at(program, p, "%s%s: '%s' is not %s", option_dashes(o), o->name, p->value,
                           expected ? expected : choices);
}

OptionParser program_parser(const Program *program, int argc, char **argv, Arena *arena)
{
    return (OptionParser){
        .table = program->options, .n = program->noptions, .argc = argc, .at = 1, .argv = argv, .arena = arena};
}

// Prints the man page or completions. False: `kind` is neither.
static bool generate(const Program *program, const char *kind, Out *out)
{
    static const struct {
        const char *name;
        void (*print)(const Program *, Out *);
    } kinds[] = {{"man", program_man}, {"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (strcmp(kind, kinds[k].name) == 0) {
            kinds[k].print(program, out);
            return true;
        }
    return false;
}

int program_next(const Program *program, OptionParser *p, Out *out)
{
    int id = option_next(p);
    if (id < 0)
        return id;
    const char *name = p->option->name;
    name += strncmp(name, "ori-", 4) == 0 ? 4 : 0;
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) {
        program_help(program, out);
    } else if (strcmp(name, "version") == 0 ||
               ((strcmp(name, "v") == 0 || strcmp(name, "V") == 0) && strstr(p->option->help, "--version"))) {
        out_fmt(out, "%s " ORI_VERSION "\n", program->name);
    } else if (strcmp(name, "generate") != 0) {
        return id;
    } else if (!generate(program, p->value, out)) {
        char choices[200];
        option_choices(p->option, choices);
        snprintf(p->error, sizeof p->error, "--generate: '%s' is not %s", p->value, choices);
        p->status = ST_USAGE;
        return OPTION_ERROR;
    }
    out_flush(out);
    return OPTION_DONE;
}

bool program_written(const Program *program)
{
    bool failed = ferror(stdout), ok = fflush(stdout) == 0 && !failed;
    if (!ok)
        fprintf(stderr, "%s: cannot write to standard output: %s\n", program->name, strerror(errno ? errno : EIO));
    return ok;
}
