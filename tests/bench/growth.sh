#!/bin/sh
# SPDX-License-Identifier: MIT
#
# growth.sh: counts the host instructions and the memory that oriopt takes for programs of shapes that are not linear.
#
#   tests/bench/growth.sh [-s SHAPES] [N...]      default: N = 10000 100000
#
# For each shape of shapes.py and each N it generates about N instructions, in one function or in many that call one
# another, and prints for each of them
#   1. the host instructions, and the exponent of their growth between each N and the next one, at most 1.1,
#   2. the peak of memory above that of an empty module. It is above the 250 bytes of bench.sh, since these shapes have a
#      block for each two or three instructions, or get as many phis.
# It does the same for modules with N variables or functions, the input of GlobalOpt. For these shapes it also prints the
# host instructions of GlobalOpt with its analyses and sub-passes, for the first N and for a tenth of it, and their share
# of the run, which is to be at most 10 %. The shape nocandidates has no variables that GlobalOpt may change: it is read in
# pieces, and the phase does not run.
# Counts do not depend on the load of the machine. valgrind counts them: cachegrind without the simulation of caches
# takes 15 times the time of the program, callgrind 50 times. N = 1000000 takes about half a minute for each shape. It
# only measures: the exit status is 0.
#
# Environment: ORIOPT (default build/oriopt).

set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 0
program=${ORIOPT:-$root/build/oriopt}
shapes='loopnest whilenest breaknest irrnest switchvars exitvars exitloopvars ifs ifadds movblock movifs movjoins
    movloops switchjoin testjoin livecalls domchain domstores domnest switchvalues sumtwice chaintwice memclasses
    memloops localslots largelocal mergedvars
    callchain callstar calldag callcycle callstatics
    sharedfields sharedindexed constants fewshared sharedstatics nocandidates'
. "$root/tests/bench/growth_lib.sh"
ptx=$work.ptx

printf '.version 8.0\n.target sm_80\n.address_size 64\n' >"$ptx"
start=$(count "$ptx" -o /dev/null)
empty=$(peak "$ptx" -o /dev/null)
code='' modules=''
for shape in $shapes; do
    case $shape in
    shared* | constants | fewshared | nocandidates) modules="$modules $shape" ;;
    *) code="$code $shape" ;;
    esac
done

# generate SHAPE N: writes the program, and sets `internal` to an option that names the tables of `constants`.
generate() {
    python3 "$root/tests/bench/shapes.py" "$1" "$2" >"$ptx"
    internal=
    [ "$1" = constants ] || return 0
    awk -v n="$2" 'BEGIN { for (k = 0; k < n; k++) print "g" k }' >"$work.names"
    internal=--internalize=$work.names
}

[ -z "$code" ] || for shape in $code; do
    for n; do
        generate "$shape" $((n / 5))
        size=$("$program" --named-phases=NOP --time-phases=json -o /dev/null "$ptx" 2>&1 |
            sed -n 's/.*"instructions":\([0-9]*\).*/\1/p')
        echo "$shape ${size:-0} $(count "$ptx" -o /dev/null) $(peak "$ptx" -o /dev/null)"
    done
done | report instructions "$start" "$empty"

# count_phase ARGS...: prints the host instructions of GlobalOpt.
count_phase() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=phase_global_opt "$program" "$@" \
        >/dev/null 2>"$work.log"
    sed -n 's/.*Collected : *//p' "$work.log"
}

[ -z "$modules" ] || for shape in $modules; do
    for n; do
        generate "$shape" "$n"
        # shellcheck disable=SC2086
        echo "$shape $n $(count $internal "$ptx" -o /dev/null) $(peak $internal "$ptx" -o /dev/null)"
    done
done | report 'vars or fns' "$start" "$empty"

[ -z "$modules" ] || for shape in $modules; do
    [ "$shape" != nocandidates ] || continue
    for n in $(($1 / 10)) "$1"; do
        generate "$shape" "$n"
        # shellcheck disable=SC2086
        echo "$shape $n $(count_phase $internal "$ptx" -o /dev/null) $(count $internal "$ptx" -o /dev/null)"
    done
done | awk '
    NR == 1 {
        printf "\n%-14s %12s %22s %16s %15s\n", "GlobalOpt", "vars or fns", "host instructions each", "exponent <= 1.1",
               "of run <= 10 %"
    }
    !$3 || !$4 { printf "%-14s failed\n", $1; next }
    {
        growth = $1 == shape ? log($3 / before) / log($2 / size) : ""
        share = 100 * $3 / $4
        printf "%-14s %12d %22.0f %16s %15s\n", $1, $2, $3 / $2,
               growth == "" ? "" : sprintf("%.2f %s", growth, growth <= 1.1 ? "met" : "MISSED"),
               sprintf("%.1f %s", share, share <= 10 ? "met" : "MISSED")
        shape = $1; size = $2; before = $3
        fflush()
    }'
rm -f "$work".*
exit 0
