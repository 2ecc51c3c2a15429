#!/bin/sh
# SPDX-License-Identifier: MIT
#
# diff.sh: checks that phases preserve the results of kernels. It runs the launches of the samples in the interpreter
# before the phases, after each phase that made progress, and on the output, read back. Plans are the whole pipeline at
# each level, on each backend, through Ori text and with internalized variables, and each implemented phase alone. One
# process runs all plans of a module (net.c); plans that produce equal code share one run.
#
#   tests/net/diff.sh [-c | -q] [RUN...]      default: all of samples/run, with all plans, on all forms of the sample
#
#   -c   as in `make check`: backends only on hand-written samples, and samples with long runs only by the pipeline, in
#        one form
#   -q   only -O3, with internalized variables and without, and the phases alone, one form per sample
#
# Prints each difference and its reproducer (in diff/ beside oriopt). Then prints for each phase the number of programs
# that it changed, alone and in the pipeline. A phase that changes none is not tested here. Ends in `N passed, N
# failed`, a test being a module and a plan.
#
# Environment: ORIOPT (default build/oriopt; net lies beside it), JOBS (default: the number of cores).
. "$(dirname "$0")/../lib.sh"

# Prints the options of oriopt for a plan.
options() {
    case $1 in
    -O*) echo "$1" ;;
    internal:*) echo "-O3 --internalize=${1#internal:}" ;;
    arch:*) echo "-O3 -arch ${1#arch:}" ;;
    text) echo "-O3 --self-check=roundtrip --emit=ori" ;;
    *) echo "--named-phases=$1" ;;
    esac
}

# Runs one module: diff.sh --module WORK RUN PTX PLANS. Prints one line per plan, and the reproducers of failures.
if [ "${1-}" = --module ]; then
    work=$2 run=$3 ptx=$4
    shift 4
    here=$work/module.$$
    what="$(basename "$run") $(basename "$ptx")"
    mkdir -p "$here" && cd "$here" || exit 2
    "${ORIOPT%/*}/net" "$run" "$ptx" "$@" >out 2>err
    status=$?
    grep '^changed\|^passed' out
    grep '^failed' out | while read -r _ plan message; do
        echo "failed ${plan%:} $what: $message"
        # shellcheck disable=SC2046
        "$ORIOPT" $(options "${plan%:}") --check-each="$run" -o /dev/null "$ptx" >log 2>&1
        for file in oriopt-crash-*; do
            [ -e "$file" ] && mv "$file" "$work/" && echo "reproducer $work/$file"
        done
    done
    if [ $status -gt 2 ] || { [ $status -eq 2 ] && [ ! -s out ]; }; then
        echo "failed $(sed -n 's/^plan //p' out | tail -n 1) $what: exit status $status: $(tail -n 1 err)"
    fi
    cd "$work" && rm -rf "$here"
    exit 0
fi

cd "$root" || exit 2
needs "$ORIOPT" "${ORIOPT%/*}/net"
export ORIOPT
layer=all
case ${1-} in
-c) layer=check && shift ;;
-q) layer=quick && shift ;;
-*) usage "diff.sh [-c | -q] [RUN...]" ;;
esac
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
work=${ORIOPT%/*}/diff
rm -rf "$work"
mkdir -p "$work" || exit 2

# Implemented phases that may change a function.
phases=$("$ORIOPT" --list-phases | awk '/ implemented / && $3 != "verify" && $3 != "report" && $3 != "analysis" { print $2 "@" $1 }')
backends="arch:sm_30 arch:sm_50 arch:sm_60 arch:sm_70 arch:sm_80 arch:sm_89 arch:sm_90"

# Prints the plan that internalizes all variables, unless the .run file names one.
internal() {
    grep -q '^\(expect\|nondet\) [A-Za-z_][A-Za-z0-9_]*:' "$1" || echo 'internal:*'
}

# plans RUN PTX: prints the plans of a module in this layer.
plans() {
    case $layer,$1,$2 in
    quick,*) echo -O3 "$(internal "$1")" "$phases" ;;
    all,*) echo -O1 -O2 -O3 -O4 text "$(internal "$1")" "$backends" "$phases" ;;
    *,*/matmul.run,* | *,*/dmath.run,* | *,*/atomics.run,*) echo -O3 text ;;
    *,*/handwritten/*) echo -O1 -O2 -O3 -O4 text "$(internal "$1")" "$backends" "$phases" ;;
    *.sm_90.ptx) echo -O3 ;;
    *) echo -O1 -O2 -O3 text "$(internal "$1")" "$phases" ;;
    esac
}

# Prints the module of a .run file, and the other forms of the same sample.
forms() {
    folder=$(dirname "$1")
    sample=$(basename "$1" .run)
    echo "$folder/$(sed -n 's/^file *//p' "$1")"
    [ $layer != quick ] || return
    case $folder in */handwritten) return ;; esac
    for form in sm_90 O0; do
        ptx=samples/ptx/$sample.$form.ptx
        [ -e "$ptx" ] && [ ! -e "$folder/$sample.$form.run" ] && echo "$ptx"
    done
}

[ $# -gt 0 ] || set -- samples/run/*.run samples/run/handwritten/*.run
for run; do
    forms "$run" | while read -r ptx; do
        # shellcheck disable=SC2046
        echo "$work $(realpath "$run") $(realpath "$ptx")" $(plans "$run" "$ptx")
    done
done | xargs -P "$jobs" -L 1 sh "$root/tests/net/diff.sh" --module >"$work/out"

grep '^failed\|^reproducer' "$work/out"
awk -v phases="$phases" '
    $1 == "passed" { passed++; if ($2 == "-O3") programs++ }
    $1 == "failed" { failed++ }
    $1 == "changed" { name = $2; sub(/@.*/, "", name); if ($2 == "-O3") in_plan[$3]++; else if (name == $3) alone[$3]++ }
    END {
        n = split(phases, list, "\n")
        printf "%-34s %14s %14s   of %d programs\n", "changed by", "itself", "in -O3", programs
        for (k = 1; k <= n; k++) {
            name = list[k]
            sub(/@.*/, "", name)
            printf "%-34s %14d %14d\n", list[k], alone[name], in_plan[name]
        }
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }' "$work/out"
