#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fuzz.sh: runs a libFuzzer target (run, text, knobs, link) on a corpus that begins with the samples and the tests.
#
#   tests/fuzz/fuzz.sh [-s SECONDS] [-o DIR] TARGET [OPTIONS OF LIBFUZZER...]
#
# SECONDS is 600. DIR (default build-fuzz/work/TARGET) has the corpus, findings (crash-*, timeout-*, oom-*) and the
# dictionary; a second run continues with the corpus. `make fuzz` builds the targets. Exit status 1: there is a finding.
#
# Environment: FUZZ (the folder of the targets, default build-fuzz).
set -u
cd "$(dirname "$0")/../.." || exit 2
LC_ALL=C
export LC_ALL
FUZZ=${FUZZ:-build-fuzz}
seconds=600
dir=
while getopts s:o: option; do
    case $option in
    s) seconds=$OPTARG ;;
    o) dir=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
target=${1-}
case $target in
run | text | knobs | link) shift ;;
*) echo "usage: fuzz.sh [-s SECONDS] [-o DIR] run|text|knobs|link [OPTIONS OF LIBFUZZER...]" >&2 && exit 2 ;;
esac
program=$FUZZ/fuzz-$target
if [ ! -x "$program" ]; then
    echo "SKIP fuzz.sh: there is no '$program' (make fuzz needs clang and its runtime library, libclang-rt-dev)"
    exit 0
fi
dir=${dir:-$FUZZ/work/$target}
mkdir -p "$dir/corpus" || exit 2

# Prints the seeds: small files of the tests and samples. Their copies get unique names.
seeds() {
    case $target in
    link) ;;
    knobs)
        find tests samples knobs -name '*.knobs' -size -8k
        ;;
    run) find tests/golden/phases tests/golden/text tests/golden/read tests/programs/faults samples \( -name '*.ptx' -o -name '*.ori' \) -size -6k ;;
    *) find tests/golden/phases tests/golden/text tests/golden/read tests/programs/faults samples \( -name '*.ptx' -o -name '*.ori' \) -size -12k ;;
    esac
}
seeds | while read -r file; do
    cp "$file" "$dir/corpus/$(echo "$file" | tr '/' '_')"
done
if [ "$target" = link ]; then
    printf '"%s"\n' .nv.info. .nv.callgraph .debug_frame .nv.constant2. __nv_relfatbin .nvHRKE >"$dir/dictionary"
    ${CC:-cc} -std=c11 -o "$dir/synthetic" tests/link/synthetic.c && "$dir/synthetic" "$dir/corpus/a.cubin" "$dir/corpus/a.o"
    cp tests/link/cubins/*.o tests/link/cubins/*.cubin "$dir/corpus"
elif [ "$target" = knobs ]; then
    # Settings of directives in tests, one file each.
    grep -rhoE 'set knob .*' tests/golden/phases tests/golden/oricheck | sed 's/^set knob //' | sort -u | awk -v d="$dir/corpus" '
        { f = d "/knob" NR; print > f; close(f) }'
    sed -n 's/^KNOB([^"]*"\([A-Za-z0-9_]*\)".*/\1/p' knobs/knobs.def | sed 's/.*/"&"/' >"$dir/dictionary"
else
    seeds | xargs cat | tr -cs 'A-Za-z0-9_.%@:$' '\n' | sort | uniq -c | sort -rn | awk '$1 > 4 && length($2) > 1 && length($2) < 30 && n++ < 3000 { print "\"" $2 "\"" }' >"$dir/dictionary"
fi
exec "$program" -max_total_time="$seconds" -dict="$dir/dictionary" -artifact_prefix="$dir/" -timeout=20 -rss_limit_mb=2500 \
    -max_len=32768 -print_final_stats=1 "$@" "$dir/corpus"
