#!/bin/sh
# SPDX-License-Identifier: MIT
#
# growth.sh: counts the host instructions and the memory that oriopt takes for programs of shapes that are not linear.
#
#   tests/bench/growth.sh [-s SHAPES] [N...]      default: N = 10000 100000
#
# For each shape of shapes.py and each N it generates about N instructions in one function, and prints for each of them
#   1. the host instructions, and the exponent of their growth between each N and the next one, at most 1.1,
#   2. the peak of memory above that of an empty module. It is above the 250 bytes of bench.sh, since these shapes have a
#      block for each two or three instructions, or get as many phis.
# Counts do not depend on the load of the machine. valgrind counts them: cachegrind without the simulation of caches
# takes 15 times the time of the program, callgrind 50 times. N = 1000000 takes about half a minute for each shape. It
# only measures: the exit status is 0.
#
# Environment: ORIOPT (default build/oriopt).

set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 0
ORIOPT=${ORIOPT:-$root/build/oriopt}
shapes='loopnest whilenest breaknest irrnest switchvars exitvars exitloopvars ifs ifadds movblock movifs movjoins
    movloops switchjoin testjoin livecalls domchain domstores domnest switchvalues sumtwice chaintwice memclasses'
while getopts s: opt; do
    case $opt in
    s) shapes=$OPTARG ;;
    *)
        echo 'usage: tests/bench/growth.sh [-s SHAPES] [N...]' >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- 10000 100000
for tool in valgrind python3 "$ORIOPT"; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "SKIP growth.sh: no $tool"
        exit 0
    }
done
dir=$root/build/bench
mkdir -p "$dir" || exit 0
ptx=$dir/growth-$$.ptx
[ -x "$dir/timed" ] || ${CC:-cc} -O2 -std=c11 -o "$dir/timed" "$root/tests/bench/timed.c" || exit 0

# Prints the host instructions of oriopt on a file.
count() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$ORIOPT" "$1" -o /dev/null 2>&1 |
        sed -n 's/.*I *refs: *//p' | tr -d ,
}

# Prints the peak of memory of oriopt on a file, in kB.
peak() {
    rm -f "$ptx.peak"
    "$dir/timed" "$ptx.peak" "$ORIOPT" "$1" -o /dev/null 2>/dev/null
    cut -d' ' -f4 "$ptx.peak"
}

printf '.version 8.0\n.target sm_80\n.address_size 64\n' >"$ptx"
start=$(count "$ptx")
empty=$(peak "$ptx")
printf '\n%-14s %12s %22s %16s %15s\n' 'growth' instructions 'host instructions each' 'exponent <= 1.1' 'peak bytes each'
for shape in $shapes; do
    for n; do
        python3 "$root/tests/bench/shapes.py" "$shape" $((n / 5)) >"$ptx"
        size=$("$ORIOPT" --named-phases=NOP --time-phases=json -o /dev/null "$ptx" 2>&1 |
            sed -n 's/.*"instructions":\([0-9]*\).*/\1/p')
        echo "$shape ${size:-0} $(count "$ptx") $(peak "$ptx")"
    done
done | awk -v start="$start" -v empty="$empty" '
    !$2 || !$3 { printf "%-14s failed\n", $1; next }
    {
        cost = $3 - start
        growth = $1 == shape ? log(cost / before) / log($2 / size) : ""
        printf "%-14s %12d %22.0f %16s %15.0f\n", $1, $2, cost / $2,
               growth == "" ? "" : sprintf("%.2f %s", growth, growth <= 1.1 ? "met" : "MISSED"),
               ($4 - empty) * 1024 / $2
        shape = $1; size = $2; before = cost
        fflush()
    }'
rm -f "$ptx" "$ptx.peak"
exit 0
