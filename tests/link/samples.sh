#!/bin/sh
# SPDX-License-Identifier: MIT
#
# samples.sh: rewrites the samples, and the sources of tests/ptxas/real, as relocatable cubins for sm_75, 80 and 90, with
# all kernels and with each of the first three alone. nvlink's result has the same code as that of the originals, or
# lacks functions that only dead tables name. Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
ORILINK=${ORIOPT%/*}/orilink
needs "$ORILINK"
have nvcc && have nvlink && have python3 && have readelf || {
    skip "no nvcc, nvlink, python3 or readelf"
    finish
}
make_work
cd "$work" || exit 2

# rewrites FILE SM KERNEL: rewrites a cubin with a kernel, or all, and compares what nvlink makes of it.
rewrites() {
    name="$1${3:+, $3}" option=${3:+--kernels-used=$3}
    if ! "$ORILINK" -o small $option "$1" >out 2>err; then
        bad "$(head -n 1 err)"
    elif grep -q 'stays as it is' err; then
        bad "$(head -n 1 err)"
    elif ! python3 "$root/tests/link/sections.py" "small/$1" >out; then
        bad "$(cat out)"
    elif ! nvlink -arch=sm_"$2" $option -o reference "$1" >log 2>&1; then
        skip "nvlink rejects the original: $(head -n 1 log)"
    elif ! nvlink -arch=sm_"$2" -o linked "small/$1" >log 2>&1; then
        bad "nvlink: $(head -n 1 log)"
    elif ! python3 "$root/tests/link/sections.py" linked reference >out; then
        bad "$(head -n 1 out)"
    else
        ok
    fi
}

for source in "$root"/samples/*.cu "$root"/tests/ptxas/real/*.cu; do
    flags=$(sed -n 's,^// flags: ,,p' "$source" | head -n 1)
    for sm in 75 80 90; do
        file=$(basename "$source" .cu).$sm.cubin
        # shellcheck disable=SC2086
        nvcc -rdc=true -cubin -arch=sm_$sm -std=c++17 $flags -o "$file" "$source" >log 2>&1 || continue
        rewrites "$file" $sm ''
        for kernel in $(readelf -sW "$file" 2>/dev/null | awk '/FUNC.*<other>: 10/ { print $NF }' | head -n 3); do
            rewrites "$file" $sm "$kernel"
        done
    done
done
finish
