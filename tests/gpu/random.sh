#!/bin/sh
# SPDX-License-Identifier: MIT
#
# random.sh: runs random programs (origen) and what oriopt makes of them on a GPU. Compares with the interpreter.
#
#   tests/gpu/random.sh [-l LEVEL] N [SEED]
#
# -l: the optimization level of the driver's compiler, from 0 (default) to 4. The driver's optimizer has mistakes: above 0,
# programs fail before and after oriopt alike. Programs with even numbers run with --internalize of the variables that
# only they access.
#
# Prints the failures, each with the number of the program. The last line is `N passed, N failed` launches. Prints SKIP
# without a GPU. Exit 0 all passed, 1 failed, 2 usage or no build.
# Environment: as for run.sh; JOBS, number of processes (the number of cores); ORIGEN_FLAGS.
set -u

# Runs one process: random.sh --worker DIR LEVEL FIRST STEP LAST
if [ "${1-}" = --worker ]; then
    level=$3 seed=$4 step=$5 last=$6
    mkdir -p "$2/$seed" && cd "$2/$seed" || exit 2
    while [ "$seed" -le "$last" ]; do
        set --
        first=$seed
        while [ $# -lt 24 ] && [ "$seed" -le "$last" ]; do
            internal=
            [ $((seed % 2)) -ne 0 ] || internal='--internalize=gi_*,table*,pointer*'
            # shellcheck disable=SC2086
            "$ORIGEN" --seed "$seed" ${ORIGEN_FLAGS-} -o "before$seed.ptx" || { echo "FAIL programs: origen, $seed" && exit 2; }
            # shellcheck disable=SC2086
            "$ORIOPT" -O3 $internal -o "after$seed.ptx" "before$seed.ptx" 2>err || echo "FAIL oriopt, program $seed: $(head -n 1 err)"
            sed "s/^file .*/file after$seed.ptx/" "before$seed.run" >"after$seed.run"
            set -- "$@" "before$seed.run" "after$seed.run"
            seed=$((seed + step))
        done
        ${LIMIT-} "$GPURUN" --jit-level "$level" "$@" >out 2>&1
        status=$?
        grep -v '^pass \|^gpurun: ' out
        [ $status -le 1 ] || echo "FAIL programs $first to $seed: gpurun ended with status $status"
        rm -f before* after*
    done
    exit 0
fi

[ ! "${B-}" ] || ORIOPT=$B/oriopt
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
B=$(absolute "${ORIOPT%/*}")
level=0
[ "${1-}" != -l ] || { level=${2-} && shift 2; }
[ $# -ge 1 ] || usage "random.sh [-l LEVEL] N [SEED]"
[ -x "$B/origen" ] || { echo "random.sh: run make first" >&2 && exit 2; }
make_work
# CFLAGS are several words
# shellcheck disable=SC2086
$CC -std=c11 ${CFLAGS:--O2 -g} -I. tests/gpu/gpurun.c "$B/programs.a" "$B/ori.a" -ldl -o "$work/gpurun" || exit 2
GPURUN=$work/gpurun ORIOPT=$B/oriopt ORIGEN=$B/origen LIMIT=
! have timeout || LIMIT="timeout ${ORI_TIMEOUT:-300}"
export GPURUN ORIOPT ORIGEN LIMIT
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
first=${2:-1} k=0
while [ "$k" -lt "$jobs" ]; do
    sh tests/gpu/random.sh --worker "$work" "$level" $((first + k)) "$jobs" $((first + $1 - 1)) >"$work/log.$k" &
    k=$((k + 1))
done
wait
cat "$work"/log.* | grep -v '^[0-9]* passed, '
cat "$work"/log.* | awk '
    / passed, / { passed += $1; failed += $3 }
    /^FAIL oriopt|^FAIL programs/ { failed++ }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }'
