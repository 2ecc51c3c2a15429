// SPDX-License-Identifier: MIT
// Completions for bash, zsh and fish. The word for a value in the table of options determines how the value completes
// (options.h). Names that depend on the installed program come from running it (option_lists.def).
//
// The bash script contains all of its logic: bash splits words at `=`, `:` and `@`, and helpers that join them exist
// only in the bash-completion package. zsh and fish have tables of options themselves, with descriptions.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/options/option_docs.h"

/* -- Values --------------------------------------------------------------------------------------------- */

typedef struct NameList {
    const char *word, *program, *option;
} NameList;

static const NameList lists[] = {
#define LIST(word, program, option) {word, program, option},
#include "tools/options/option_lists.def"
#undef LIST
};

typedef enum { VALUE_TEXT, VALUE_FILE, VALUE_DIR, VALUE_WORDS, VALUE_NAMES } ValueKind;

typedef struct Value {
    ValueKind kind;
    bool several;           // with `,` or `+` between them
    char words[200];        // VALUE_WORDS: separated by blanks; VALUE_FILE: the ending, or empty
    const NameList *names;  // VALUE_NAMES
    const char *suffix;     // of each name: `=` or empty
} Value;

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

// Parses the words of `a|b|c`, `a,b,c` and `0..4`. False: `arg` has another form.
static bool take_words(Value *v, const char *arg)
{
    int least, most, end = 0;
    if (sscanf(arg, "%d..%d%n", &least, &most, &end) == 2 && !arg[end] && most < least + 20) {
        size_t n = 0;
        for (int k = least; k <= most; k++)
            n += (size_t)snprintf(v->words + n, sizeof v->words - n, k > least ? " %d" : "%d", k);
        return true;
    }
    bool letters = false;
    for (const char *c = arg; *c; c++) {
        letters |= islower((unsigned char)*c) != 0;
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("|,-_", *c))
            return false;
    }
    if (!letters || strlen(arg) >= sizeof v->words)
        return false;
    v->several |= strchr(arg, ',') != NULL;
    strcpy(v->words, arg);
    for (char *c = v->words; *c; c++)
        *c = *c == '|' || *c == ',' ? ' ' : *c;
    return true;
}

// Parses a word of option_lists.def.
static bool take_names(Value *v, const char *arg)
{
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t n = strlen(lists[k].word);
        if (strncmp(arg, lists[k].word, n) == 0 && (!arg[n] || arg[n] == '=')) {
            v->names = &lists[k];
            v->suffix = arg[n] ? "=" : "";
            return true;
        }
    }
    return false;
}

static Value value_of(const Option *o)
{
    Value v = {.kind = VALUE_TEXT};
    char arg[200];
    option_word(o, arg);
    if (ends_in(arg, ",...")) {
        v.several = true;
        arg[strlen(arg) - 4] = 0;
    }
    if (ends_in(arg, ":FILE"))  // the last choice, as in `json|json:FILE`
        *(strrchr(arg, '|') ? strrchr(arg, '|') : arg) = 0;
    if (take_names(&v, arg)) {
        v.kind = VALUE_NAMES;
    } else if (strcmp(arg, "DIR") == 0) {
        v.kind = VALUE_DIR;
    } else if (strcmp(arg, "FILE") == 0 || strncmp(arg, "FILE.", 5) == 0) {
        v.kind = VALUE_FILE;
        snprintf(v.words, sizeof v.words, "%.100s", arg + (arg[4] ? 5 : 4));
    } else if (take_words(&v, arg)) {
        v.kind = VALUE_WORDS;
    }
    return v;
}

static bool takes_files(const Program *p) { return strstr(p->operands, "FILE") != NULL; }

static void print_head(const Program *p, const char *shell, Out *out)
{
    out_fmt(out, "# %s completion of %s; `%s --generate=%s` prints it.\n", shell, p->name, p->name, shell);
}

// Writes a text within single quotes of a shell. `quote` and `backslash` replace these characters.
static void quoted(Out *out, const char *text, const char *quote, const char *backslash)
{
    for (; *text; text++) {
        if (*text == '\'')
            out_z(out, quote);
        else if (*text == '\\')
            out_z(out, backslash);
        else
            out_char(out, *text);
    }
}

/* -- bash ----------------------------------------------------------------------------------------------- */

// Writes the names of the options whose value may be the next argument, with `|` between them.
static void names_before_values(const Program *p, Out *out)
{
    size_t n = 0;
    for (size_t k = 0; k < p->noptions; k++)
        if (p->options[k].kind == ARG_VALUE || p->options[k].kind == ARG_EITHER)
            out_fmt(out, "%s%s", n++ ? "|" : "", p->options[k].name);
}

static void bash_case(const Program *p, const Option *o, Out *out)
{
    Value v = value_of(o);
    if (v.kind == VALUE_TEXT)
        return;
    out_fmt(out, "    %s) ", o->name);
    switch (v.kind) {
    case VALUE_FILE: out_fmt(out, "files=%s", *v.words ? v.words : "any"); break;
    case VALUE_DIR: out_z(out, "files=folders"); break;
    case VALUE_WORDS: out_fmt(out, "words='%s'", v.words); break;
    default:
        out_fmt(out, "words=$(%s %s 2>/dev/null | awk '{ print $1 \"%s\" }')",
                strcmp(v.names->program, p->name) == 0 ? "\"$program\"" : v.names->program, v.names->option, v.suffix);
    }
    out_z(out, v.several ? " several=1 ;;\n" : " ;;\n");
}

static void bash_options(const Program *p, Out *out)
{
    out_z(out, "    -)\n        words='");
    for (size_t k = 0; k < p->noptions; k++) {
        const Option *o = &p->options[k];
        const char *dashes = option_dashes(o);
        out_fmt(out, "%s%s%s%s", k ? " " : "", dashes, o->name, o->kind == ARG_VALUE && dashes[1] ? "=" : "");
    }
    out_z(out, "'\n");
    if (!p->spelling)
        out_z(out, "        [[ $whole == -[!-]* ]] && words=${words//--/-}\n");
    out_z(out, "        ;;\n");
}

void complete_bash(const Program *p, Out *out)
{
    print_head(p, "bash", out);
    out_fmt(out, "_%s()\n", p->name);
    out_z(out, "{\n"
               "    local rest=${COMP_LINE:0:COMP_POINT} part= whole= before= ended= k\n"
               "    COMPREPLY=()\n"
               "    # bash splits words at = : and @, which the program does not\n"
               "    for ((k = 0; k <= COMP_CWORD; k++)); do\n"
               "        part=${COMP_WORDS[k]}\n"
               "        if ((k == 0)) || [[ $rest == [[:space:]]* ]]; then\n"
               "            [[ $whole == -- ]] && ended=1\n"
               "            before=$whole whole= rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
               "        fi\n"
               "        [[ $rest == \"$part\"* ]] || part=$rest\n"
               "        rest=${rest#\"$part\"} whole+=$part\n"
               "    done\n"
               "    [[ $part =~ ^[=:@]+$ ]] && part=\n"
               "    # the option whose value this is; - where an option begins, @ in the name of a response file\n"
               "    local option= value=$whole takes='^--?(");
    names_before_values(p, out);
    out_z(out, ")$'\n"
               "    if [[ $ended ]]; then\n"
               "        option=\n"
               "    elif [[ $before =~ $takes ]]; then\n"
               "        option=${BASH_REMATCH[1]}\n"
               "    elif [[ $whole =~ ^--?([^=]+)=(.*)$ ]]; then\n"
               "        option=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}\n");
    for (size_t k = 0; k < p->noptions; k++)
        if (p->options[k].kind >= ARG_JOINED)
            out_fmt(out,
                    "    elif [[ $whole =~ ^-%s(%s)(.*)$ ]]; then\n"
                    "        option=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}\n",
                    p->options[k].kind == ARG_JOINED ? "-?" : "", p->options[k].name);
    if (!p->spelling)
        out_z(out, "    elif [[ $whole == @* ]]; then\n"
                   "        option=@ value=${whole#@}\n");
    out_z(out, "    elif [[ $whole == -* ]]; then\n"
               "        option=-\n"
               "    fi\n"
               "    local words= files= several= program=${COMP_WORDS[0]}\n"
               "    [[ $program == \\~/* ]] && program=$HOME${program:1}\n"
               "    case $option in\n");
    bash_options(p, out);
    out_z(out, takes_files(p) ? "    '' | @) files=any ;;\n" : "    @) files=any ;;\n");
    for (size_t k = 0; k < p->noptions; k++)
        bash_case(p, &p->options[k], out);
    out_z(out, "    esac\n"
               "    local IFS=$' \\t\\n' found=() word\n"
               "    if [[ $files ]]; then\n"
               "        local typed=${value#[\\\"\\']}\n"
               "        typed=${typed//\\\\/}\n"
               "        compopt -o filenames 2>/dev/null\n"
               "        while IFS= read -r word; do\n"
               "            found+=(\"$word\")\n"
               "        done < <(\n"
               "            case $files in\n"
               "            any) compgen -f -- \"$typed\" ;;\n"
               "            folders) compgen -d -- \"$typed\" ;;\n"
               "            *) compgen -f -X \"!*.$files\" -- \"$typed\"; compgen -d -- \"$typed\" ;;\n"
               "            esac\n"
               "        )\n"
               "    else\n"
               "        local head=\n"
               "        [[ $several && $value =~ ^(.*[,+])?-? ]] && head=${BASH_REMATCH[0]}\n"
               "        local tail=${value#\"$head\"}\n"
               "        for word in $words; do\n"
               "            [[ ${word,,} == \"${tail,,}\"* ]] && found+=(\"$head$word\")\n"
               "        done\n"
               "    fi\n"
               "    # readline replaces the part only\n"
               "    local lead=${whole%\"$value\"} keep=${whole%\"$part\"}\n"
               "    for word in \"${found[@]}\"; do\n"
               "        word=$lead$word\n"
               "        [[ ${word:0:${#keep}} == \"$keep\" ]] && COMPREPLY+=(\"${word:${#keep}}\")\n"
               "    done\n"
               "    case $several${COMPREPLY[0]} in\n"
               "    1* | *=");
    for (size_t k = 0; k < p->noptions; k++)
        if (p->options[k].kind == ARG_JOINED)
            out_fmt(out, " | -%s", p->options[k].name);
    out_fmt(out,
            ") compopt -o nospace 2>/dev/null ;;\n"
            "    esac\n"
            "}\n"
            "complete -F _%s %s\n",
            p->name, p->name);
}

/* -- zsh ------------------------------------------------------------------------------------------------ */

// Writes a part of a specification for _arguments, within single quotes. Brackets and colons are escaped.
static void zsh_text(Out *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            out_char(out, '\\');
        quoted(out, (char[]){*text, 0}, "'\\''", "\\");
    }
}

static void zsh_option(const Program *p, const Option *o, Out *out)
{
    static const char *const forms[] = {
        [ARG_NONE] = "", [ARG_VALUE] = "=", [ARG_OPTIONAL] = "=-", [ARG_JOINED] = "-", [ARG_EITHER] = "+"};
    Value v = value_of(o);
    bool letter = !o->name[1] && o->kind == ARG_VALUE;
    out_fmt(out, "        '*%s%s%s[", option_dashes(o), o->name, letter ? "" : forms[o->kind]);
    zsh_text(out, o->help);
    out_char(out, ']');
    if (o->kind != ARG_NONE) {
        char arg[200];
        option_word(o, arg);
        out_z(out, o->kind == ARG_OPTIONAL ? "::" : ":");
        zsh_text(out, arg);
        out_char(out, ':');
        const char *amount = v.several ? "several" : "one";
        switch (v.kind) {
        case VALUE_TEXT: out_char(out, ' '); break;
        case VALUE_FILE: out_fmt(out, *v.words ? "_files -g \"*.%s\"" : "_files", v.words); break;
        case VALUE_DIR: out_z(out, "_files -/"); break;
        case VALUE_WORDS: out_fmt(out, " _%s_words %s \"\" %s", p->name, amount, v.words); break;
        case VALUE_NAMES:
            out_fmt(out, " _%s_names %s \"%s\" %s %s", p->name, amount, v.suffix, v.names->program, v.names->option);
        }
    }
    out_z(out, "'\n");
}

void complete_zsh(const Program *p, Out *out)
{
    const char *name = p->name;
    out_fmt(out, "#compdef %s\n", name);
    print_head(p, "zsh", out);
    out_fmt(out,
            "\n# one or several, the suffix of each, and the words\n"
            "_%s_words()\n"
            "{\n"
            "    local -a end=(-S \"$2\")\n"
            "    if [[ $1 == several ]]; then\n"
            "        end=(-q -S ,)\n"
            "        compset -P '*[,+]'\n"
            "        compset -P '-'\n"
            "        compset -S '[,+]*' && end=(-S '')\n"
            "    elif [[ ! $2 ]]; then\n"
            "        end=()\n"
            "    fi\n"
            "    shift 2\n"
            "    compadd $end -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -- $@\n"
            "}\n\n",
            name);
    out_fmt(out,
            "# the same, with words that a program prints\n"
            "_%s_names()\n"
            "{\n"
            "    local program=$3\n"
            "    [[ $program == %s ]] && program=$words[1]\n"
            "    _%s_words $1 \"$2\" ${(f)\"$(_call_program names $program $4 2>/dev/null | awk '{ print $1 }')\"}\n"
            "}\n\n",
            name, name, name);
    out_fmt(out,
            "# a file, or a response file\n"
            "_%s_files()\n"
            "{\n"
            "%s"
            "    _files\n"
            "}\n\n",
            name,
            p->spelling      ? ""
            : takes_files(p) ? "    compset -P '@'\n"
                             : "    compset -P '@' || return 1\n");
    out_fmt(out, "_%s()\n{\n    local -a options=(\n", name);
    for (size_t k = 0; k < p->noptions; k++)
        zsh_option(p, &p->options[k], out);
    out_z(out, "    )\n"
               "    # one dash works, too, but is not offered\n"
               "    options+=(${options/#\\*--/!*-})\n");
    out_fmt(out, "    _arguments -S : $options '*:file:_%s_files'\n}\n\n", name);
    out_fmt(out, "if [[ $funcstack[1] == _%s ]]; then\n    _%s \"$@\"\nelse\n    compdef _%s %s\nfi\n", name, name,
            name, name);
}

/* -- fish ----------------------------------------------------------------------------------------------- */

// `form`: l for two dashes, o for a name after one dash, s for a letter. Names after one dash are offered only where a
// word begins with a single dash and a letter.
static void fish_option(const Program *p, const Option *o, char form, Out *out)
{
    Value v = value_of(o);
    const char *amount = v.several ? "several" : "one";
    bool optional = o->kind == ARG_OPTIONAL, needs = o->kind == ARG_VALUE || o->kind >= ARG_JOINED;
    out_fmt(out, "complete -c %s%s -%c %s", p->name, form == 'o' ? " -n __ori_one_dash" : "", form, o->name);
    if (v.kind == VALUE_FILE && !*v.words)
        out_z(out, optional ? " -F" : " -r -F");
    else if (needs || optional)
        out_z(out, needs ? " -x" : " -f");
    switch (v.kind) {
    case VALUE_TEXT: break;
    case VALUE_FILE:
        if (*v.words)
            out_fmt(out, " -a '(__fish_complete_suffix .%s)'", v.words);
        break;
    case VALUE_DIR: out_z(out, " -a '(__fish_complete_directories)'"); break;
    case VALUE_WORDS: out_fmt(out, " -a '(__%s_words %s %s)'", p->name, amount, v.words); break;
    case VALUE_NAMES:
        out_fmt(out, " -a '(__%s_words %s (__%s_names %s %s)%s)'", p->name, amount, p->name, v.names->program,
                v.names->option, v.suffix);
    }
    out_z(out, " -d '");
    quoted(out, o->help, "\\'", "\\\\");
    out_z(out, "'\n");
}

static void fish_responses(const char *name, Out *out)
{
    out_fmt(out,
            "# response files\n"
            "function __%s_responses\n"
            "    set -l token (commandline -ct)\n"
            "    string match -q -- '@*' \"$token\"; or return\n"
            "    string replace -r -- '^' '@' (__fish_complete_path (string sub -s 2 -- \"$token\"))\n"
            "end\n"
            "complete -c %s -a '(__%s_responses)'\n",
            name, name, name);
}

void complete_fish(const Program *p, Out *out)
{
    const char *name = p->name;
    print_head(p, "fish", out);
    out_fmt(out,
            "\n# one or several, and the words\n"
            "function __%s_words\n"
            "    set -l token (commandline -ct)\n"
            "    set -l value (string replace -r -- '^--?[^=]*=' '' \"$token\")\n"
            "    set -l head ''\n"
            "    if test $argv[1] = several\n"
            "        set head (string match -r -- '^(?:.*[,+])?-?' \"$value\")\n"
            "    end\n"
            "    set -l words \"$head\"$argv[2..-1]\n"
            "    # fish drops the text before a = where the text after it differs in case\n"
            "    if test \"$token\" != \"$value\"\n"
            "        set words (string match -r -- '^'(string escape --style=regex -- \"$value\")'.*' $words)\n"
            "    end\n"
            "    string join \\n -- $words\n"
            "end\n\n"
            "function __ori_one_dash\n"
            "    not string match -qr -- '^(-$|--)' (commandline -ct)\n"
            "end\n\n"
            "# names that a program prints\n"
            "function __%s_names\n"
            "    set -l program $argv[1]\n"
            "    if test $program = %s\n"
            "        set program (commandline -poc)[1]\n"
            "        set program (string replace -r '^~/' \"$HOME/\" -- $program)\n"
            "    end\n"
            "    $program $argv[2] 2>/dev/null | awk '{ print $1 }'\n"
            "end\n\n",
            name, name, name);
    if (!takes_files(p))
        out_fmt(out, "complete -c %s -f\n", name);
    if (!p->spelling)
        fish_responses(name, out);
    for (size_t k = 0; k < p->noptions; k++)
        fish_option(p, &p->options[k], p->options[k].name[1] ? 'l' : 's', out);
    for (size_t k = 0; k < p->noptions; k++)
        if (p->options[k].name[1] && !p->spelling)
            fish_option(p, &p->options[k], 'o', out);
}
