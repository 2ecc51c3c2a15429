#!/bin/sh
# SPDX-License-Identifier: MIT
#
# verdicts.sh: checks the .ptx test files with ptxas. It must accept files without expected errors, reject the others,
# and accept the output of oriopt. Skips if there is no ptxas.
#
#   tests/exec/verdicts.sh [FILES|DIRS...]        default: tests/golden/read and tests/golden/phases
#
# In the files, `ptxas: FLAGS` adds flags for ptxas; `ptxas: no` excludes the file, with the reason after it. Prints one
# line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage. Environment:
# ORIOPT, the program to test (default build/oriopt).

. "$(dirname "$0")/../lib.sh"
set -f
tests=$root/tests
export ORIOPT

# -- One file ----------------------------------------------------------------------------------------------------------

# run_ptxas FILE FLAGS: runs ptxas; its exit status is the verdict, and $work/said has its messages.
run_ptxas() {
    sm=$(tr '\r' '\n' <"$1" | sed -n 's/^\([^/]*[[:space:]]\)*\.target[[:space:]]*\(sm_[0-9a-z]*\).*/\2/p' |
        head -n 1)
    case $sm in
    sm_1? | sm_2? | sm_3? | sm_5? | sm_6? | sm_70 | sm_72 | "") sm=sm_75 ;;  # ptxas supports no older target
    esac
    $limit ptxas -arch "$sm" $2 -o "$work/cubin" "$1" >"$work/said" 2>&1
}

# directives FILE: prints the directives as shell assignments: kind, list, options, flags, errors.
directives() {
    awk -v q="'" '
    function say(name, value) { gsub(q, q "\\" q q, value); printf "%s=%s%s%s\n", name, q, value, q }
    NR == 1 { sub(/^\357\273\277/, "") }
    /\/\/[ \t]*error:/ { errors = 1 }
    !sub(/^[ \t]*\/\/[ \t]*/, "") { next }
    { sub(/[ \t\r]+$/, "") }
    kind == "" && /^test[ \t]/ { kind = $2; sub(/^test[ \t]+[^ \t]+[ \t]*/, ""); list = $0; next }
    /^set[ \t]+opt[ \t]/ { sub(/^set[ \t]+opt[ \t]+/, ""); options = options " " $0; next }
    /^set[ \t]+arch[ \t]/ { options = options " -arch " $3; next }
    /^set[ \t]+knob[ \t]+[^ \t]+$/ { options = options " --knob=" $3; next }
    /^set[ \t]+knob[ \t]/ { kind = "skip" }
    /^ptxas:/ { sub(/^ptxas:[ \t]*/, ""); flags = flags " " $0 }
    END { say("kind", kind); say("list", list); say("options", options); say("flags", flags); say("errors", errors) }
    ' "$1"
}

judge() {
    file=$1
    eval "$(directives "$file")"
    case $flags in " no" | " no"[!a-z]*) return ;; esac
    run_ptxas "$file" "$flags" && verdict=accepts || verdict=rejects
    if [ "$errors" ] && [ $verdict = accepts ]; then
        echo "$file: ptxas accepts this input" && return
    elif [ ! "$errors" ] && [ $verdict = rejects ]; then
        echo "$file: ptxas rejects this input: $(grep -v '^Verbose' "$work/said" | head -n 1)" && return
    fi
    case $kind in
    read | roundtrip | verify) plan=--named-phases=NOP ;;
    phase | bundle) plan=--named-phases=$list ;;
    pipeline) plan=$(printf %s "$list" | sed 's/-O  */-O/') ;;
    *) errors=1 ;;
    esac
    if [ "$errors" ]; then
        echo passed && return
    fi
    rm -f "$work/out.ptx"
    if ! $limit "$ORIOPT" $plan $options --emit=ptx -o "$work/out.ptx" "$file" >"$work/said" 2>&1; then
        echo "$file: oriopt fails: $(head -n 1 "$work/said")"
    elif run_ptxas "$work/out.ptx" "$flags"; then
        echo passed
    else
        echo "$file: ptxas rejects the output: $(grep -v '^Verbose' "$work/said" | head -n 1)"
    fi
}

if [ "${1-}" = --judge ]; then
    shift
    make_work
    for file; do
        judge "$file"
    done
    exit 0
fi

# -- All files ---------------------------------------------------------------------------------------------------------

without_ptxas
needs "$ORIOPT"
[ $# -gt 0 ] || set -- "$tests/golden/read" "$tests/golden/phases"
for arg; do
    [ -e "$arg" ] || usage "verdicts.sh [FILES|DIRS...]; there is no '$arg'"
done
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
find "$@" -type f -name '*.ptx' | sort | xargs -P "$jobs" -n 8 sh "$tests/exec/verdicts.sh" --judge |
    sort | awk '$0 == "passed" { p++; next } { f++; print }
    END { printf "%d passed, %d failed, 0 skipped\n", p, f; exit f > 0 }'
