#!/bin/sh
# SPDX-License-Identifier: MIT
#
# growth_link.sh: counts the host instructions and the memory that orilink takes for inputs of shapes that may not be
# linear, and measures its time for many files.
#
#   tests/bench/growth_link.sh [-s SHAPES] [N...]      default: N = 10000 100000
#
# For each shape of cubins.py and each N it prints
#   1. the host instructions, and the exponent of their growth between each N and the next one, at most 1.1,
#   2. the peak of memory above that of a small input.
# N is the number of functions, or of what cubins.py says. Half of the input is removed, and the rest is written.
#
# Without SHAPES, it also prints
#   - the time for 2,000 host objects with ten functions each, and the time to read them,
#   - the same as above for 10^6 constants: in the banks of 2,000 kernels with 500 each, in one documented bank, and in
#     one section for the documented algorithm alone, with the shapes of link-layout --dedup. In the first and the last
#     case, a constant is to take at most 200 bytes; in the second one, the files alone have 100 to 155.
# It only measures: the exit status is 0.
#
# Environment: ORILINK, LAYOUT (default build/orilink, build/link-layout).

set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 0
program=${ORILINK:-$root/build/orilink}
all='functions frames calls relocs undefined variables sections wholes chain cycle weak files members patterns statics
    headers lists indirect documented reports reach'
layouts='distinct class doubles equal'
sizes='125000 250000 500000 1000000'
limit=200
shapes=$all
. "$root/tests/bench/growth_lib.sh"

# generate SHAPE N: writes the files of a shape.
generate() {
    rm -rf "$work"
    mkdir "$work" && python3 "$root/tests/bench/cubins.py" "$1" "$2" "$work"
}

# seconds COMMAND...: prints the least wall time of five runs, each of which writes other files: ext4 takes longer to
# create a file if others were just removed.
seconds() {
    rm -f "$work.runs"
    for run in 1 2 3 4 5; do
        "$dir/timed" "$work.runs" "$@" >/dev/null 2>&1 || return 0
        [ ! -d "$work/out" ] || mv "$work/out" "$work/out$run"
    done
    sort -n -k 3 "$work.runs" | awk 'NR == 1 { printf "%.3f", $3 }'
}

if [ "$shapes" = "$all" ]; then
    generate files 20000
    read=$(seconds cat "$work"/*.o)
    analyze=$(seconds "$program" "@$work/args")
    write=$(seconds "$program" -o "$work/out" "@$work/args")
    printf '\n%-14s %12s %10s %12s %10s   %s\n' 'time' 'host objects' 'read, s' 'no output, s' 'output, s' \
        'output <= 2 read + 1 s'
    printf '%-14s %12d %10s %12s %10s   %s\n' files 2000 "$read" "${analyze:-failed}" "${write:-failed}" \
        "$(awk "BEGIN { print ${write:-9} <= 2 * $read + 1 ? \"met\" : \"MISSED\" }")"
fi

generate functions 10 || exit 0
start=$(count -o "$work/out" "@$work/args")
empty=$(peak -o "$work/out" "@$work/args")
# rows SHAPES N...: prints a line for each shape of cubins.py and each N.
rows() {
    list=$1
    shift
    for shape in $list; do
        for n; do
            generate "$shape" "$n"
            echo "$shape $n $(count -o "$work/out" "@$work/args") $(peak -o "$work/out" "@$work/args")"
        done
    done
}

rows "$shapes" "$@" | report units "$start" "$empty"
if [ "$shapes" = "$all" ]; then
    # shellcheck disable=SC2086
    rows banks $sizes | report constants "$start" "$empty" $limit
    # shellcheck disable=SC2086
    rows 'duplicates overflow' $sizes | report constants "$start" "$empty"
    program=${LAYOUT:-$root/build/link-layout}
    start=$(count --dedup=distinct 10)
    empty=$(peak --dedup=distinct 10)
    for shape in $layouts; do
        for n in $sizes; do
            echo "$shape $n $(count "--dedup=$shape" "$n") $(peak "--dedup=$shape" "$n")"
        done
    done | report constants "$start" "$empty" $limit
fi
rm -rf "$work" "$work".*
exit 0
