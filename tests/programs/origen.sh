#!/bin/sh
# SPDX-License-Identifier: MIT
#
# origen.sh: tests the generator of programs: its command line, and programs of many seeds, of each feature alone and of
# several sizes. They must be read, run without a fault, a race or an undefined read, and give the same results in every
# order of threads; ptxas must accept them.
#
#   tests/programs/origen.sh [SEEDS]        default 60, and 15 with a sanitizer
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT (default build/oriopt), ORIRUN and ORIGEN (default beside it).

. "$(dirname "$0")/../lib.sh"
seeds=${1:-60}
[ "${SANITIZE-}" ] && seeds=${1:-15}
[ $# -le 1 ] || usage "origen.sh [SEEDS]"
needs "$ORIOPT" "$ORIRUN" "$ORIGEN"
make_work
cd "$work" || exit 2


# refused MESSAGE ARGS...: checks a usage error with this message.
refused() {
    message=$1
    shift
    exits "$*" 2 "$ORIGEN" "$@"
    says err "origen: $message"
}

# -- Command line ------------------------------------------------------------------------------------------------------

exits help 0 "$ORIGEN" --help
says out 'usage: origen [options]'
says out '--list-features'
exits version 0 "$ORIGEN" --version
says out 'origen 0.'
refused "unknown option '--nope'" --nope
refused "there are no files to read: 'k.ptx'" k.ptx
refused "--seed: '-1' is not a number" --seed=-1
refused "--seed: '7x' is not a number" --seed 7x
refused "--size: '19' is not a number from 20" --size 19
refused "--kernels: '0' is not a number" --kernels 0
refused "--style: 'fast' is not naive, optimized or mixed" --style fast
refused "--target: 'sm_7' is not sm_30 or later" --target sm_7
refused "--target: 'gfx90' is not" --target gfx90
refused "--features: there is no feature 'nope'" --features all,-if,nope
refused "--features: there is no feature ''" --features ''
refused "-o: 'k.txt' does not end in .ptx" -o k.txt
refused "option '--seed' requires a value" --seed
exits unwritable 5 "$ORIGEN" -o no/such/folder/k.ptx
says err "cannot write 'no/such/folder/k.ptx'"

exits list-features 0 "$ORIGEN" --list-features
cut -d' ' -f1 out >features
name=list-features
if [ "$(sort -u features | wc -l)" -gt 40 ]; then ok; else bad "few features: $(wc -l <features)"; fi

# -- The same options, the same bytes ----------------------------------------------------------------------------------

exits 'a file' 0 "$ORIGEN" --seed 5 -o a.ptx
exits 'the same again' 0 "$ORIGEN" -seed=5 -o - && cp out b.ptx
same a.ptx b.ptx
exits 'the options in its first line' 0 "$ORIGEN" $(sed -n '1s,^// origen ,,p' a.ptx) -o c.ptx
same a.ptx c.ptx
sed 's/^file c/file a/' c.run >d.run
same a.run d.run
exits 'another seed' 0 "$ORIGEN" --seed 6 -o c.ptx
if cmp -s a.ptx c.ptx; then bad 'the same program'; else ok; fi

# -- Programs ----------------------------------------------------------------------------------------------------------

# try NAME CHECKS ARGS...: checks that a program with these options is read, and gives the same result in three orders.
try() {
    label=$1
    checks=$2
    shift 2
    exits "$label" 0 "$ORIGEN" "$@" -o k.ptx || return
    exits "$label: read" 0 "$ORIOPT" -O0 k.ptx -o /dev/null
    exits "$label: run" 0 "$ORIRUN" k.run $checks || return
    cp out first
    for order in 1 2; do
        exits "$label: schedule $order" 0 "$ORIRUN" k.run --schedule $order && same out first
    done
}
# judged: checks that ptxas accepts the last program.
judged() {
    if have ptxas; then
        exits "$label: ptxas" 0 ptxas -arch sm_80 -O1 k.ptx -o cubin
    else
        skipped=$((skipped + 1))
    fi
}
have ptxas || echo 'SKIP origen: no ptxas to judge programs'

all='--check-races --check-uninit'
seed=1
while [ $seed -le "$seeds" ]; do
    try "seed $seed" "$all" --seed $seed
    [ $((seed % 5)) -eq 0 ] && judged
    seed=$((seed + 1))
done
while read -r feature; do
    checks=$all
    [ "$feature" = undef ] && checks=--check-races
    try "feature $feature" "$checks" --features none,+"$feature"
done <features
for size in 20 1000 20000; do
    for style in naive optimized mixed; do
        try "$style, size $size" "$all" --seed 3 --size $size --style $style --kernels 1
    done
done
for target in sm_30 sm_60 sm_75 sm_90 sm_100; do
    try "$target" "$all" --seed 4 --target $target --features all
done
for seed in 1 2 3 4 5 6; do
    try "clusters, seed $seed" "$all" --seed $seed --target sm_90 --features +cluster,+shared
done

finish
