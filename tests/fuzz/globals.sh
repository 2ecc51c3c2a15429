#!/bin/sh
# SPDX-License-Identifier: MIT
#
# globals.sh: runs GlobalOpt, alone and in the pipeline, on random programs with structures and with pointers to memory
# of malloc (origen). Each output must have the results of the program in the interpreter, and the same bytes on eight
# threads (tests/net/net.c). For a fourth of the programs, the pipeline must write the same bytes also when it reads
# pieces of one function, and orirun must find no race.
#
#   tests/fuzz/globals.sh [-o DIR] N [SEED]
#
# Programs SEED to SEED + N - 1 (default 1). Keeps failing programs in DIR (default: globals beside oriopt). Prints for
# each plan the number of programs in which GlobalOpt changed something, and in which it replaced malloc; ends in
# `N passed, N failed` plans.
#
# Environment: ORIOPT (default build/oriopt; net lies beside it), ORIRUN and ORIGEN (beside it), JOBS (the number of
# cores), ORIGEN_FLAGS.

plans=$(echo 'GlobalOpt GlobalOpt~I GlobalOpt~I~GlobalOptMalloc GlobalOpt~I~GlobalOptFlags -O3 -O3~I -O3~I~GlobalOptMalloc~GlobalOptFlags
    GlobalOpt~I~GlobalOptMalloc~GlobalOptMallocFields~GlobalOptMaxBits=0 -O3~I~GlobalOptMalloc~GlobalOptMallocFields~GlobalOptMaxBits=64' |
    sed 's,~I,~Internalize="gi_*",g' | tr '\n' ' ')

# Runs one process: globals.sh --worker DIR FIRST STEP LAST
if [ "${1-}" = --worker ]; then
    dir=$2 seed=$3 step=$4 last=$5
    log=$dir/log.$seed
    here=$dir/worker.$seed
    mkdir -p "$here" && cd "$here" || exit 2

    # Sets $features to few, to several, or to those that the seed chooses. Warps of one thread have no operations.
    choose_features() {
        few=none,+malloc,+fields,+internal,+if,+loop,+guard,+phi,+multidef,+index,+vector,+wide,+narrow-arg,+call
        case $((seed % 4)) in
        0) features=none,+malloc,+if,+wide ;;
        1) features=$few ;;
        2) features=$few,+generic,+atomic,+reuse,+repeat,+overwrite,+aliasing,+reloads,+exit,+graph,+table,+static ;;
        *) features=+malloc,+fields,+internal,-warp,-lanes,-matrix ;;
        esac
    }
    # Compares the output on one thread with that on eight in pieces.
    pieces() { # OPTIONS
        rm -f one.ptx other.ptx
        "$ORIOPT" "$@" -o one.ptx t.ptx 2>err && "$ORIOPT" "$@" -j8 --piece=1 -o other.ptx t.ptx 2>err
        if cmp -s one.ptx other.ptx; then
            echo "passed pieces"
        else
            echo "failed $*: other bytes in pieces $(tail -n 1 err)"
            return 1
        fi
    }
    # The checks of the slower programs run on every fourth program, with all choices of features.
    try() {
        # shellcheck disable=SC2086
        "${ORIOPT%/*}/net" -t t.run t.ptx $plans 2>err
        status=$?
        [ $status -le 1 ] || echo "failed net: exit status $status: $(tail -n 1 err)"
        [ $((seed / 4 % 4)) -eq 0 ] || return $status
        "$ORIRUN" t.run --check-races --check-uninit >races 2>&1 || {
            echo "failed orirun: $(grep -m 1 error races)"
            return 1
        }
        pieces -O3 && pieces -O3 '--internalize=gi_*' && return $status
    }
    while [ "$seed" -le "$last" ]; do
        echo "seed $seed"
        choose_features
        # shellcheck disable=SC2086
        "$ORIGEN" --seed "$seed" --size 120 --features=$features ${ORIGEN_FLAGS-} -o t.ptx || {
            echo "failed origen" && break
        }
        try || {
            cp t.ptx "$dir/$seed.ptx"
            cp t.run "$dir/$seed.run"
        }
        seed=$((seed + step))
    done >"$log" 2>&1
    cd "$dir" && rm -rf "$here"
    exit 0
fi

. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
dir=${ORIOPT%/*}/globals
[ "${1-}" != -o ] || { dir=${2-} && shift 2; }
[ $# -ge 1 ] || usage "globals.sh [-o DIR] N [SEED]"
needs "$ORIOPT" "$ORIRUN" "$ORIGEN" "${ORIOPT%/*}/net"
export ORIOPT ORIRUN ORIGEN
mkdir -p "$dir" || exit 2
dir=$(absolute "$dir")
rm -rf "$dir"/log.* "$dir"/worker.*
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
first=${2:-1} k=0
while [ "$k" -lt "$jobs" ]; do
    sh "$root/tests/fuzz/globals.sh" --worker "$dir" $((first + k)) "$jobs" $((first + $1 - 1)) &
    k=$((k + 1))
done
wait
awk '$1 == "seed" { seed = $2 } $1 == "failed" { $1 = "failed " seed; print }' "$dir"/log.*
cat "$dir"/log.* | awk -v plans="$plans pieces" '
    $1 == "passed" { passed++; passes[$2]++ }
    $1 == "failed" { failed++ }
    $1 == "changed" && $3 == "GlobalOpt" { changed[$2]++ }
    $1 == "mallocs" { mallocs[$2]++ }
    END {
        n = split(plans, list, " ")
        printf "%-60s %8s %8s %8s\n", "plan", "programs", "changed", "malloc"
        for (k = 1; k <= n; k++)
            printf "%-60s %8d %8d %8d\n", list[k], passes[list[k]], changed[list[k]], mallocs[list[k]]
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
