#!/bin/sh
# SPDX-License-Identifier: MIT
#
# origen.sh: the generator of programs: its command line; programs of many seeds, of each feature alone and of several
# sizes are read, run without a fault, a race or a read of what nothing wrote, and give the same in every order of
# threads; ptxas takes them.
#
#   tests/programs/origen.sh [SEEDS]        default 60, and 15 with a sanitizer
#
# One line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT (default build/oriopt), ORIRUN and ORIGEN (default beside it).

set -u
LC_ALL=C
export LC_ALL
# A sanitizer's report is a failure of its own, not "bad input".
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99
export ASAN_OPTIONS UBSAN_OPTIONS
root=$(cd "$(dirname "$0")/../.." && pwd)
ORIOPT=${ORIOPT:-$root/build/oriopt}
programs=$(cd "$(dirname "$ORIOPT")" && pwd) || exit 2
ORIOPT=$programs/oriopt
ORIRUN=${ORIRUN:-$programs/orirun}
ORIGEN=${ORIGEN:-$programs/origen}
seeds=${1:-60}
[ "${SANITIZE-}" ] && seeds=${1:-15}
case $ORIRUN in /*) ;; *) ORIRUN=$PWD/$ORIRUN ;; esac
case $ORIGEN in /*) ;; *) ORIGEN=$PWD/$ORIGEN ;; esac
if [ $# -gt 1 ] || [ ! -x "$ORIGEN" ] || [ ! -x "$ORIRUN" ]; then
    echo "usage: origen.sh [SEEDS] (after make, or with ORIOPT set)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ori-origen.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
cd "$work" || exit 2
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 60"

passed=0
failed=0
skipped=0
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "origen.sh: $name: failed: $1"
}

# run NAME EXIT COMMAND...: stdout in out, stderr in err. A crash or another exit code is a failure.
run() {
    name=$1
    want=$2
    shift 2
    $limit "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$want" ]; then ok; else bad "exit $got, expected $want: $(head -n 1 err | cut -c1-150)"; fi
    [ $got -eq "$want" ]
}
holds() { if grep -qF -e "$2" "$1"; then ok; else bad "std$1 does not hold \`$2\`: $(head -n 1 "$1" | cut -c1-150)"; fi; }
same() { if cmp -s "$1" "$2"; then ok; else bad "$1 and $2 differ"; fi; }
# refused MESSAGE ARGS...: a usage error with this message.
refused() {
    message=$1
    shift
    run "$*" 2 "$ORIGEN" "$@"
    holds err "origen: $message"
}

# -- Command line ------------------------------------------------------------------------------------------------------

run help 0 "$ORIGEN" --help
holds out 'usage: origen [options]'
holds out '--list-features'
run version 0 "$ORIGEN" --version
holds out 'origen 0.'
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
refused "option '--seed' needs a value" --seed
run unwritable 5 "$ORIGEN" -o no/such/folder/k.ptx
holds err "cannot write 'no/such/folder/k.ptx'"

run list-features 0 "$ORIGEN" --list-features
cut -d' ' -f1 out >features
name=list-features
if [ "$(sort -u features | wc -l)" -gt 40 ]; then ok; else bad "few features: $(wc -l <features)"; fi

# -- The same options, the same bytes ----------------------------------------------------------------------------------

run 'a file' 0 "$ORIGEN" --seed 5 -o a.ptx
run 'the same again' 0 "$ORIGEN" -seed=5 -o - && cp out b.ptx
same a.ptx b.ptx
run 'the options in its first line' 0 "$ORIGEN" $(sed -n '1s,^// origen ,,p' a.ptx) -o c.ptx
same a.ptx c.ptx
sed 's/^file c/file a/' c.run >d.run
same a.run d.run
run 'another seed' 0 "$ORIGEN" --seed 6 -o c.ptx
if cmp -s a.ptx c.ptx; then bad 'the same program'; else ok; fi

# -- Programs ----------------------------------------------------------------------------------------------------------

# try NAME CHECKS ARGS...: a program with these options is read, and runs in three orders with the same result.
try() {
    label=$1
    checks=$2
    shift 2
    run "$label" 0 "$ORIGEN" "$@" -o k.ptx || return
    run "$label: read" 0 "$ORIOPT" -O0 k.ptx -o /dev/null
    run "$label: run" 0 "$ORIRUN" k.run $checks || return
    cp out first
    for order in 1 2; do
        run "$label: schedule $order" 0 "$ORIRUN" k.run --schedule $order && same out first
    done
}
# judged: ptxas takes the last program.
judged() {
    if command -v ptxas >/dev/null 2>&1; then
        run "$label: ptxas" 0 ptxas -arch sm_80 -O1 k.ptx -o cubin
    else
        skipped=$((skipped + 1))
    fi
}
command -v ptxas >/dev/null 2>&1 || echo 'SKIP origen: no ptxas to judge programs'

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

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
