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
    callchain callstar calldag callcycle callstatics'
. "$root/tests/bench/growth_lib.sh"
ptx=$work.ptx

printf '.version 8.0\n.target sm_80\n.address_size 64\n' >"$ptx"
start=$(count "$ptx" -o /dev/null)
empty=$(peak "$ptx" -o /dev/null)
for shape in $shapes; do
    for n; do
        python3 "$root/tests/bench/shapes.py" "$shape" $((n / 5)) >"$ptx"
        size=$("$program" --named-phases=NOP --time-phases=json -o /dev/null "$ptx" 2>&1 |
            sed -n 's/.*"instructions":\([0-9]*\).*/\1/p')
        echo "$shape ${size:-0} $(count "$ptx" -o /dev/null) $(peak "$ptx" -o /dev/null)"
    done
done | report instructions "$start" "$empty"
rm -f "$work".*
exit 0
