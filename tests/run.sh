#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: runs PTX test files, whose `//` comments say what is expected.
#
#   tests/run.sh [--ptxas] [FILES|DIRS...]        default: tests/read and tests/phases
#
# What runs is said by the first directive:
#   // test read               reads. Each `error:` must be reported and nothing else; exit 1, no output left. Without
#                              any `error:` the file must be accepted.
#   // test roundtrip          reads and prints, without phases; printing what was read back gives the same bytes
#   // test phase NAME[,NAME]  runs these phases, verified after each
#   // test pipeline [-O N]    runs the default pipeline, verified after each phase
# Then, anywhere in the file:
#   // set opt ARGS            more options for oriopt
#   // idempotent              a second run over the output reports no progress and gives the same bytes
#   // label: TEXT             like `check:`; what stands between two labels is looked for between their lines only
#   // check: TEXT             a line of the output behind the last match holds TEXT
#   // next: TEXT              the line behind the last match holds TEXT
#   // not: TEXT               no line between the last match and the next one holds TEXT
#   // count N: TEXT           exactly N lines of the whole output hold TEXT
#   // error: [COL:] TEXT      an error on this line, or on the next when the comment stands alone; COL is its column
#   // ptxas: FLAGS            for --ptxas: more flags; `no` = the verdict of ptxas is not compared (with the reason behind)
# TEXT is literal, with runs of blanks folded; {{...}} in it is a POSIX extended regular expression. Blank lines of the
# output do not count. Report slots write to standard error: their text is looked at in front of the output.
#
# --ptxas also asks ptxas: it must accept input and output of the tests without errors, and reject the others.
#
# One line per failing check; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT, the program to test (default build/oriopt).

set -uf
LC_ALL=C
export LC_ALL
# A sanitizer's report is a failure of its own, not "bad input".
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99
export ASAN_OPTIONS UBSAN_OPTIONS
tests=$(cd "$(dirname "$0")" && pwd) || exit 2
ORIOPT=${ORIOPT:-$(dirname "$tests")/build/oriopt}
tab=$(printf '\t')

usage() {
    echo "run.sh: $1" >&2
    exit 2
}

with_ptxas=
case ${1-} in
--ptxas)
    with_ptxas=1
    shift
    command -v ptxas >/dev/null 2>&1 || usage "there is no ptxas on the PATH"
    ;;
-*) usage "unknown option '$1'; usage: run.sh [--ptxas] [FILES|DIRS...]" ;;
esac
[ -x "$ORIOPT" ] || usage "there is no program '$ORIOPT'; run make, or set ORIOPT"
[ $# -gt 0 ] || set -- "$tests/read" "$tests/phases"

work=$(mktemp -d "${TMPDIR:-/tmp}/ori-run.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

for arg; do
    if [ -d "$arg" ]; then
        find "$arg" -type f -name '*.ptx' | sort
    elif [ -f "$arg" ]; then
        printf '%s\n' "$arg"
    else
        usage "there is no file '$arg'"
    fi
done >"$work/files" || exit 2
[ -s "$work/files" ] || usage "no test files"

# -- The plan: number, mode, argument, options, flags for ptxas; one line per file --------------------------------------

awk '
function field(s) { return s == "" ? "-" : s }
{
    file = $0
    n++
    mode = arg = opts = ptxas = twice = errors = ""
    line = 0
    while ((getline text < file) > 0) {
        if (++line == 1)
            sub(/^\357\273\277/, "", text)
        sub(/\r$/, "", text)
        if (text !~ /\/\//)
            continue
        if (text ~ /\/\/[ \t]*error:/)
            errors = 1
        if (!sub(/^[ \t]*\/\/[ \t]*/, "", text))
            continue
        sub(/[ \t]+$/, "", text)
        if (mode == "" && text ~ /^test[ \t]/) {
            sub(/^test[ \t]+/, "", text)
            mode = arg = text
            sub(/[ \t].*/, "", mode)
            sub(/^[^ \t]+[ \t]*/, "", arg)
        } else if (text ~ /^set[ \t]+opt[ \t]/) {
            sub(/^set[ \t]+opt[ \t]+/, "", text)
            opts = opts " " text
        } else if (text ~ /^set[ \t]/) {
            mode = "set"
            arg = text
        } else if (text ~ /^ptxas:/) {
            sub(/^ptxas:[ \t]*/, "", text)
            ptxas = ptxas " " text
        } else if (text == "idempotent") {
            twice = 1
        }
    }
    close(file)
    printf "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", n, field(mode), field(arg), field(opts), field(twice), field(errors), field(ptxas), file
}' "$work/files" >"$work/plan" || exit 2

# -- Runs ---------------------------------------------------------------------------------------------------------------

limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 60"

# ptxas_verdict FILE FLAGS: rc and messages of ptxas in $work/N.px*
ptxas_verdict() {
    sm=$(tr '\r' '\n' <"$1" | sed -n 's/^\([^/]*[[:space:]]\)*\.target[[:space:]]*\(sm_[0-9a-z]*\).*/\2/p' | head -n 1)
    case $sm in
    sm_1? | sm_2? | sm_3? | sm_5? | sm_6? | sm_70 | sm_72 | "") sm=sm_75 ;;  # nothing older is supported any more
    esac
    $limit ptxas -arch "$sm" $2 -o "$work/cubin" "$1" 2>&1
}

while IFS=$tab read -r n mode arg opts twice errors px file; do
    [ "$opts" = - ] && opts=
    [ "$px" = - ] && px=
    out=$work/$n.out
    case $mode in
    read | roundtrip) plan="--named-phases=NOP --verify-each" ;;
    phase) plan="--named-phases=$arg --verify-each" ;;
    pipeline)
        [ "$arg" = - ] && arg=
        plan="$(printf %s "$arg" | sed 's/-O  */-O/') --verify-each"
        ;;
    *) continue ;;
    esac
    $limit "$ORIOPT" $plan $opts --max-errors=0 -o "$out" "$file" >"$work/$n.stdout" 2>"$work/$n.err" </dev/null
    echo "$?" >"$work/$n.rc"
    [ -f "$out" ] || continue
    if [ "$mode" = roundtrip ] || [ "$twice" = 1 ]; then
        $limit "$ORIOPT" $plan $opts -o "$out.2" "$out" >/dev/null 2>"$work/$n.err2" </dev/null
        echo "$?" >"$work/$n.rc2"
        cmp -s "$out" "$out.2" && : >"$work/$n.same"
    fi
    if [ "$mode" = phase ] && [ "$twice" = 1 ]; then
        # Once and twice in one plan: `changed` of each phase must be the same.
        for list in "$arg" "$arg,$arg"; do
            $limit "$ORIOPT" --named-phases="$list" $opts --time-phases=json -o "$out.3" "$file" 2>&1 </dev/null
        done >"$work/$n.progress"
    fi
done <"$work/plan"

if [ -n "$with_ptxas" ]; then
    while IFS=$tab read -r n mode arg opts twice errors px file; do
        case $px in
        " no" | " no"[!a-z]*) continue ;;
        -) px= ;;
        esac
        ptxas_verdict "$file" "$px" >"$work/msg" && verdict=accepts || verdict=rejects
        if [ "$errors" = 1 ] && [ $verdict = accepts ]; then
            echo "ptxas accepts this input" >"$work/$n.px"
        elif [ "$errors" = - ] && [ $verdict = rejects ]; then
            echo "ptxas rejects this input: $(grep -v '^Verbose' "$work/msg" | head -n 1)" >"$work/$n.px"
        elif [ "$errors" = - ] && [ -f "$work/$n.out" ]; then
            ptxas_verdict "$work/$n.out" "$px" >"$work/msg" ||
                echo "ptxas rejects the output: $(head -n 1 "$work/msg")" >"$work/$n.px"
        fi
    done <"$work/plan"
fi

# -- Judgement ----------------------------------------------------------------------------------------------------------

awk -F '\t' -v work="$work" '
function fold(s) {
    gsub(/[ \t\r]+/, " ", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    return s
}

function fail(line, message) {
    printf "%s:%s %s\n", file, line ? line ":" : "", message
    bad = 1
}

# A text with {{regex}} as one regular expression.
function to_regex(s,    r, at, end, k, c) {
    r = ""
    while ((at = index(s, "{{")) > 0) {
        r = r quote(substr(s, 1, at - 1))
        s = substr(s, at + 2)
        end = index(s, "}}")
        if (!end)
            return r quote("{{" s)
        while (substr(s, end + 2, 1) == "}")
            end++
        r = r "(" substr(s, 1, end - 1) ")"
        s = substr(s, end + 2)
    }
    return r quote(s)
}

function quote(s,    r, k, c) {
    r = ""
    for (k = 1; k <= length(s); k++) {
        c = substr(s, k, 1)
        if (c == "\\" || c == "^")
            r = r "\\" c
        else if (index("$.[]|()*+?{}", c))
            r = r "[" c "]"
        else
            r = r c
    }
    return r
}

function holds(line, text) { return index(text, "{{") ? line ~ to_regex(text) : index(line, text) > 0 }

function read_lines(name, to,    n, text) {
    n = to
    while ((getline text < name) > 0) {
        text = fold(text)
        if (text != "")
            result[++n] = text
    }
    close(name)
    return n
}

# One line of a file, "" if there is none.
function first_line(name,    text) {
    text = ""
    if ((getline text < name) <= 0)
        text = ""
    close(name)
    return text
}

# The first message of a run that failed: warnings come after all else.
function first_error(name,    text, first) {
    first = ""
    while ((getline text < name) > 0) {
        if (first == "")
            first = text
        if (text ~ /error: /) {
            first = text
            break
        }
    }
    close(name)
    return first
}

function exists(name,    text, got) {
    got = (getline text < name)
    close(name)
    return got >= 0
}

# The directives of the file: kind[1..nd], text_of[], line_of[]; errors in want_*[1..ne].
function read_directives(    text, line, word, alone, at, k, open) {
    nd = ne = line = open = 0
    while ((getline text < file) > 0) {
        line++
        sub(/\r$/, "", text)
        at = match(text, /\/\/[ \t]*error:/)
        alone = text ~ /^[ \t]*\/\//
        if (!at) {
            for (; open > 0; open--)
                want_line[ne - open + 1] = line
            if (!match(text, /^[ \t]*\/\/[ \t]*/))
                continue
            text = substr(text, RLENGTH + 1)
            if (match(text, /^count[ \t]+[0-9]+:/)) {
                word = "count"
            } else if (match(text, /^[a-z]+:/)) {
                word = substr(text, 1, RLENGTH - 1)
            } else {
                continue
            }
            if (word == "ptxas")
                continue
            if (word !~ /^(label|check|next|not|count)$/) {
                fail(line, "unknown directive `" word ":`")
                continue
            }
            kind[++nd] = word
            line_of[nd] = line
            if (word == "count") {
                k = substr(text, 6, RLENGTH - 6)
                number[nd] = k + 0
            }
            text_of[nd] = fold(substr(text, RLENGTH + 1))
            if (text_of[nd] == "")
                fail(line, "this directive has no text")
        } else {
            text = fold(substr(text, at + RLENGTH))
            want_col[++ne] = 0
            if (match(text, /^[0-9]+:/)) {
                want_col[ne] = substr(text, 1, RLENGTH - 1) + 0
                text = fold(substr(text, RLENGTH + 1))
            }
            if (text == "")
                fail(line, "this directive has no text")
            want_text[ne] = text
            want_at[ne] = line
            want_line[ne] = line
            seen[ne] = 0
            if (alone)
                open++
        }
    }
    for (; open > 0; open--)
        want_line[ne - open + 1] = line + 1
    close(file)
}

# file:line:col: error: message
function check_errors(    text, rest, k, found, line, col, name) {
    name = work "/" n ".err"
    while ((getline text < name) > 0) {
        if (index(text, file ":") != 1)
            continue
        rest = substr(text, length(file) + 2)
        if (!match(rest, /^[0-9]+:[0-9]+: error: /)) {
            if (rest ~ /^ error: /)
                fail(0, "an error without a position:" rest)
            continue
        }
        line = rest + 0
        col = substr(rest, index(rest, ":") + 1) + 0
        rest = fold(substr(rest, RLENGTH + 1))
        found = 0
        for (k = 1; k <= ne && !found; k++)
            if (!seen[k] && want_line[k] == line && holds(rest, want_text[k])) {
                seen[k] = found = 1
                if (want_col[k] && want_col[k] != col)
                    fail(want_at[k], "the error is in column " col ", expected in column " want_col[k])
            }
        if (!found)
            fail(line, "unexpected error in column " col ": " rest)
    }
    close(name)
    for (k = 1; k <= ne; k++)
        if (!seen[k])
            fail(want_at[k], "no such error in line " want_line[k] ": " want_text[k])
}

# The first line of result[from..to] that holds the text, 0 if none does.
function search(text, from, to,    k) {
    for (k = from; k <= to; k++)
        if (holds(result[k], text))
            return k
    return 0
}

function check_nots(first, last, from, to,    d, k) {
    for (d = first; d <= last; d++)
        if (kind[d] == "not" && (k = search(text_of[d], from, to)))
            fail(line_of[d], "not: found in: " result[k])
}

# Directives first..last against result[from..to]; `at` = the last match.
function check_region(first, last, at, to,    d, k, pending) {
    pending = first
    for (d = first; d <= last; d++) {
        if (kind[d] == "count" || kind[d] == "not")
            continue
        if (kind[d] == "next") {
            if (at + 1 > to || !holds(result[at + 1], text_of[d])) {
                fail(line_of[d], "next: " text_of[d] "; the next line is: " (at + 1 <= to ? result[at + 1] : "(the end)"))
                return
            }
            k = at + 1
        } else {
            k = search(text_of[d], at + 1, to)
            if (!k) {
                fail(line_of[d], kind[d] ": not found" (at ? " behind `" result[at] "`" : "") ": " text_of[d])
                return
            }
        }
        check_nots(pending, d, at + 1, k - 1)
        pending = d
        at = k
    }
    check_nots(pending, last, at + 1, to)
}

function check_output(    lines, d, k, c, first, start, mark) {
    lines = 0
    if (mode == "phase" && arg ~ /[Rr]eport|[Dd]ump/)
        lines = read_lines(work "/" n ".err", 0)
    lines = read_lines(work "/" n ".out", lines)
    for (d = 1; d <= nd; d++) {
        if (kind[d] != "count")
            continue
        c = 0
        for (k = 1; k <= lines; k++)
            c += holds(result[k], text_of[d])
        if (c != number[d])
            fail(line_of[d], "count " number[d] ": found " c " times: " text_of[d])
    }
    first = 1
    start = 0
    for (d = 1; d <= nd; d++) {
        if (kind[d] != "label")
            continue
        mark = search(text_of[d], start + 1, lines)
        if (!mark) {
            fail(line_of[d], "label: not found: " text_of[d])
            return
        }
        check_region(first, d - 1, start, mark - 1)
        first = d + 1
        start = mark
    }
    check_region(first, nd, start, lines)
    for (k = 1; k <= lines; k++)
        delete result[k]
}

function judge(    rc, text) {
    rc = first_line(work "/" n ".rc") + 0
    read_directives()
    if (rc == 124) {
        fail(0, "oriopt did not end")
        return
    }
    if (rc > 1 || (rc == 1 && !ne)) {
        text = first_error(work "/" n ".err")
        fail(0, "oriopt exits with " rc (text == "" ? "" : ": " text))
        return
    }
    if (first_line(work "/" n ".stdout") != "")
        fail(0, "something was written to standard output")
    if (ne) {
        check_errors()
        if (rc != 1)
            fail(0, "oriopt exits with " rc ", expected 1")
        if (exists(work "/" n ".out"))
            fail(0, "an output file was left in spite of errors")
        return
    }
    check_output()
    if (mode != "roundtrip" && twice != "1")
        return
    rc = first_line(work "/" n ".rc2") + 0
    if (rc) {
        fail(0, "oriopt exits with " rc " on its own output: " first_line(work "/" n ".err2"))
    } else {
        if (!exists(work "/" n ".same"))
            fail(0, "a second run gives other bytes")
    }
    check_progress()
}

# Two lines of --time-phases=json, of the phases once and twice.
function check_progress(    name, text, run, row, changed) {
    name = work "/" n ".progress"
    run = 0
    while ((getline text < name) > 0) {
        if (text !~ /"phases":/)
            continue
        run++
        while (match(text, /"index":[0-9]+/)) {
            row = substr(text, RSTART + 8, RLENGTH - 8)
            text = substr(text, RSTART + RLENGTH)
            match(text, /"changed":[0-9]+/)
            changed = substr(text, RSTART + 10, RLENGTH - 10)
            if (run == 1)
                progress[row] = changed
            else if (changed != progress[row])
                fail(0, "a second run reports progress, phase " row)
        }
    }
    close(name)
}

{
    n = $1
    mode = $2
    arg = $3
    twice = $5
    file = $8
    bad = 0
    if (mode == "-") {
        fail(0, "there is no `// test` directive")
    } else if (mode == "set") {
        printf "%s: skipped: `%s` is not supported yet\n", file, arg
        skipped++
        next
    } else if (mode ~ /^(bundle|verify|run)$/) {
        printf "%s: skipped: `test %s` is not supported yet\n", file, mode
        skipped++
        next
    } else if (mode !~ /^(read|roundtrip|phase|pipeline)$/) {
        fail(0, "unknown kind of test `" mode "`")
    } else {
        judge()
    }
    if ((text = first_line(work "/" n ".px")) != "")
        fail(0, text)
    if (bad)
        failed++
    else
        passed++
}

END {
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}' "$work/plan"
