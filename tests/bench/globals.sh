#!/bin/sh
# SPDX-License-Identifier: MIT
#
# globals.sh: counts the variables and functions of the module that GlobalOpt removes, and the bytes of variables.
#
#   tests/bench/globals.sh [-f FORMS] [-x OPTIONS] [-v] [FILE.ptx...]
#
#   -f FORMS      forms of the samples (default "sm_80 sm_90 O0")
#   -x OPTIONS    options of oriopt (default: --internalize=* for a sample whose .run file names no variable)
#   -v            prints a line for each module, not only those that GlobalOpt changes
#
# It runs oriopt -O3 on each sample in samples/ptx, or on the files, with GlobalOpt and without, and prints
#   functions     functions that oriopt removes, and those of them that it removes only with GlobalOpt
#   removed       the same for variables
#   constants     variables that became constants
#   split         variables that were split into fields
#   malloc        calls of malloc that a variable replaced
#   .shared       declared bytes of .shared before and after
#   tables        declared bytes of .const and .global before and after
# The last lines have the sums for each form. It only measures: the exit status is 0.
#
# Environment: ORIOPT (default build/oriopt).

set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 0
ORIOPT=${ORIOPT:-$root/build/oriopt}
forms='sm_80 sm_90 O0' options='' own=0 all=0
while getopts f:x:v opt; do
    case $opt in
    f) forms=$OPTARG ;;
    x) options=$OPTARG own=1 ;;
    v) all=1 ;;
    *)
        echo 'usage: tests/bench/globals.sh [-f FORMS] [-x OPTIONS] [-v] [FILE.ptx...]' >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
command -v "$ORIOPT" >/dev/null 2>&1 || {
    echo 'SKIP globals.sh: no oriopt (run make, or set ORIOPT)'
    exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/globals.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Prints the options for a sample.
options_of() {
    run=$root/samples/run/$1.run
    if [ $own = 1 ]; then
        echo "$options"
    elif ! grep -q '^\(expect\|nondet\) [A-Za-z_][A-Za-z0-9_]*:' "$run" 2>/dev/null; then
        echo '--internalize=*'
    fi
}

# counters OPTIONS...: prints functions_removed, variables_removed, variables_promoted, variables_split and
# mallocs_replaced.
counters() {
    "$ORIOPT" --stats=json "$@" 2>"$work/stats" >"$work/log" || return 1
    tr ',{}' '[\n*]' <"$work/stats" | awk -F: '
        /"(functions_removed|variables_|mallocs_replaced)/ { gsub(/"/, "", $1); n[$1] = $2 }
        END { print n["functions_removed"] + 0, n["variables_removed"] + 0, n["variables_promoted"] + 0,
                    n["variables_split"] + 0, n["mallocs_replaced"] + 0 }'
}

bytes() { awk -f "$root/tests/bench/globals.awk" "$1"; }

# module NAME FORM FILE: prints a line of figures.
module() {
    set -f # an option may have a pattern
    # shellcheck disable=SC2046
    with=$(counters $(options_of "$1") -o "$work/out.ptx" "$3") &&
        without=$(counters $(options_of "$1") --knob=GlobalOptDisable -o "$work/off.ptx" "$3") ||
        with='' without=''
    set +f
    if [ -n "$without" ]; then
        echo "$1 $2 $with $without $(bytes "$3") $(bytes "$work/out.ptx")"
    else
        echo "$1 $2 failed"
    fi
}

modules() {
    if [ $# -gt 0 ]; then
        for file; do
            module "$(basename "$file" .ptx)" file "$file"
        done
        return
    fi
    for form in $forms; do
        for file in "$root"/samples/ptx/*."$form".ptx; do
            module "$(basename "$file" ".$form.ptx")" "$form" "$file"
        done
    done
}

modules "$@" | awk -v all=$all '
    # name form, functions, removed, constants, split, mallocs, the same without, .shared and tables before, after
    function line(name, form, v) {
        printf "%-15s %-6s %5d %5d %7d %5d %10d %6d %7d %9d %6d %9d %6d\n", name, form, v[1], v[1] - v[6], v[2],
               v[2] - v[7], v[3], v[4], v[5], v[11], v[13], v[12], v[14]
    }
    BEGIN {
        printf "%-15s %-6s %11s %13s %10s %6s %7s %16s %16s\n", "", "", "functions", "removed", "constants", "split",
               "malloc", ".shared", "tables"
    }
    $3 == "failed" { print; next }
    {
        for (k = 1; k <= 14; k++) sum[$2, k] += v[k] = $(k + 2)
        if (!($2 in modules)) forms[++n] = $2
        modules[$2]++
        changed = v[1] != v[6] || v[2] != v[7] || v[3] || v[4] || v[5]
        some[$2] += changed
        if (changed || all) line($1, $2, v)
    }
    END {
        for (f = 1; f <= n; f++) {
            for (k = 1; k <= 14; k++) v[k] = sum[forms[f], k]
            line(some[forms[f]] " of " modules[forms[f]], forms[f], v)
        }
    }'
exit 0
