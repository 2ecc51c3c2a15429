#!/bin/sh
# SPDX-License-Identifier: MIT
#
# diff.sh: runs phases on random programs (origen), and checks each run in the interpreter (oriopt --check-each).
#
#   tests/fuzz/diff.sh [-a | -s N] [-o DIR] N [SEED]
#
# Programs SEED to SEED + N - 1 (default 1) run through the pipeline at -O3, and through a random plan of single phases,
# which may also use clones and Ori text. -a: they run through each implemented phase alone instead. Programs with even
# numbers run with --internalize of the variables that only they access. -s N: they run through the pipeline only, and the
# digests are also compared under the schedules 1 .. N of the warps. After the pipeline or a single phase, digests
# are compared; if they differ, the run is repeated with --check-each. A plan is checked after each of its phases.
# Failures are kept in DIR (default build/fuzz) with their reproducers; the first ten of each process are reduced
# (reduce.sh). Prints for each phase the number of programs that it changed, and ends in `N passed, N failed` runs.
#
# Environment: ORIOPT (default build/oriopt), ORIRUN and ORIGEN (beside it), JOBS (the number of cores), ORIGEN_FLAGS.
set -u
LC_ALL=C
export LC_ALL

# Runs one process: diff.sh --worker DIR MODE FIRST STEP LAST PHASES SCHEDULES
if [ "${1-}" = --worker ]; then
    dir=$2 mode=$3 seed=$4 step=$5 last=$6 phases=$7 schedules=$8
    here=$dir/worker.$seed
    mkdir -p "$here" && cd "$here" || exit 2
    log=$dir/log.$seed
    kept=0

    keep() { # NAME OPTIONS: reports and keeps the failure of a run
        to=$dir/$seed-$(echo "$1" | tr -c 'A-Za-z0-9\n' '-' | cut -c1-60)
        echo "failed $seed $2: $(grep -m 1 'error' err || tail -n 1 err)"
        cp t.ptx "$to.ptx"
        cp t.run "$to.run"
        for file in oriopt-crash-*; do [ -e "$file" ] && mv "$file" "$to.ori"; done
        kept=$((kept + 1))
        # shellcheck disable=SC2086
        [ $kept -gt 10 ] || ! grep -q 'internal error' err || sh "$FUZZ/reduce.sh" t.ptx t.run "$to.min.ptx" $2 2>&1 | tail -n 1
    }
    try() { # NAME OPTIONS
        # shellcheck disable=SC2086
        if "$ORIOPT" $2 --check-each --time-phases -o /dev/null t.ptx 2>err >/dev/null; then
            echo "passed $1"
            awk -v name="$1" '$1 ~ /^[0-9]+$/ && $6 > 0 { print "changed", name, $2 }' err
        else
            keep "$1" "$2"
        fi
    }
    # True if the output has the digests of the input. Outputs that passed before are not run again.
    same_digests() { # OPTIONS
        # shellcheck disable=SC2086
        "$ORIOPT" $1 --time-phases -o out.ptx t.ptx 2>err >/dev/null || return 1
        for known in good.*; do
            cmp -s out.ptx "$known" && return 0
        done
        run_digests --file out.ptx >got && cmp -s want got || return 1
        goods=$((goods + 1))
        mv out.ptx good.$goods
    }
    # Internalized variables have other contents, or other names.
    run_digests() { # OPTIONS
        schedule=0 rc=0
        while [ $schedule -le "$schedules" ] && [ $rc -eq 0 ]; do
            # shellcheck disable=SC2046
            "$ORIRUN" t.run $([ $schedule -eq 0 ] || echo "--schedule=$schedule") "$@" >digests 2>&1
            rc=$?
            grep -v '^gi_' digests
            schedule=$((schedule + 1))
        done
        return $rc
    }
    # shellcheck disable=SC2086
    try_digests() { # NAME OPTIONS
        if same_digests "$2"; then
            echo "passed $1"
            awk -v name="$1" '$1 ~ /^[0-9]+$/ && $6 > 0 { print "changed", name, $2 }' err
        elif "$ORIOPT" $2 --check-each -o /dev/null t.ptx 2>err >/dev/null; then
            echo 'error: the digests differ, but after no phase' >err
            keep "$1" "$2"
        else
            keep "$1" "$2"
        fi
    }
    # Random numbers that depend on the seed.
    draw() { # N: sets $drawn to one below N
        state=$(((state * 1103515245 + 12345) % 2147483648))
        drawn=$((state / 65536 % $1))
    }
    random_plan() {
        state=$((seed % 2147483648))
        # shellcheck disable=SC2086
        set -- $phases
        draw 6
        left=$((drawn + 1))
        plan=
        while [ $left -gt 0 ]; do
            draw $#
            eval "plan=\$plan,\${$((drawn + 1))}"
            left=$((left - 1))
        done
        draw 4
        case $drawn in
        0) check=--self-check=clone ;;
        1) check='--self-check=roundtrip --emit=ori' ;;
        2) check=--verify-each ;;
        *) check=--self-check=contracts ;;
        esac
        echo "--named-phases=${plan#,} $check"
    }
    while [ "$seed" -le "$last" ]; do
        # shellcheck disable=SC2086
        "$ORIGEN" --seed "$seed" ${ORIGEN_FLAGS-} -o t.ptx || { echo "failed $seed origen" && break; }
        rm -f good.*
        goods=0
        run_digests >want || echo "failed $seed orirun: $(grep -m 1 error want)"
        internal=
        [ $((seed % 2)) -ne 0 ] || internal=' --internalize=gi_*,table*,pointer*'
        if [ "$mode" = alone ]; then
            for phase in $phases; do try_digests "$phase" "--named-phases=$phase$internal"; done
        else
            try_digests -O3 "-O3$internal"
            [ "$mode" = schedules ] || try plan "$(random_plan)$internal"
        fi
        seed=$((seed + step))
    done >"$log" 2>&1
    cd "$dir" && rm -rf "$here"
    exit 0
fi

cd "$(dirname "$0")/../.." || exit 2
root=$PWD
mode=pipeline
schedules=0
dir=$root/build/fuzz
while getopts as:o: option; do
    case $option in
    a) mode=alone ;;
    s) mode=schedules schedules=$OPTARG ;;
    o) mkdir -p "$OPTARG" && dir=$(realpath "$OPTARG") ;;
    *) set -- ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { echo 'usage: tests/fuzz/diff.sh [-a | -s N] [-o DIR] N [SEED]' >&2 && exit 2; }
n=$1
first=${2:-1}
ORIOPT=$(realpath "${ORIOPT:-build/oriopt}")
ORIGEN=$(realpath "${ORIGEN:-$(dirname "$ORIOPT")/origen}")
ORIRUN=$(realpath "${ORIRUN:-$(dirname "$ORIOPT")/orirun}")
FUZZ=$root/tests/fuzz
export ORIOPT ORIRUN ORIGEN FUZZ
if [ ! -x "$ORIOPT" ] || [ ! -x "$ORIGEN" ]; then
    echo 'diff.sh: run make first' >&2
    exit 2
fi
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
mkdir -p "$dir" || exit 2
rm -rf "$dir"/log.* "$dir"/worker.*

phases=$("$ORIOPT" --list-phases | awk '/ implemented / && $3 != "verify" && $3 != "report" && $3 != "analysis" { print $2 "@" $1 }')
k=0
while [ "$k" -lt "$jobs" ]; do
    sh tests/fuzz/diff.sh --worker "$dir" $mode $((first + k)) "$jobs" $((first + n - 1)) "$phases" "$schedules" &
    k=$((k + 1))
done
wait

cat "$dir"/log.* | grep -v '^passed \|^changed '
cat "$dir"/log.* | awk -v phases="$phases" -v programs="$n" '
    $1 == "passed" { passed++ }
    $1 == "failed" { failed++ }
    $1 == "changed" && ($2 == "-O3" || $2 ~ "^" $3 "@") { changed[$3]++ }
    END {
        n = split(phases, list, "\n")
        printf "%-34s %s\n", "changed", "of " programs " programs"
        for (k = 1; k <= n; k++) {
            name = list[k]
            sub(/@.*/, "", name)
            printf "%-34s %8d  %5.1f %%\n", list[k], changed[name], 100 * changed[name] / programs
        }
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
