#!/bin/sh
# SPDX-License-Identifier: MIT
#
# features.sh: checks ir/core/features.def with ptxas. The instructions of features/instructions.ptx are put under pairs
# of .version and .target: oriopt must warn of exactly the instructions for which ptxas requires a later one. The
# kernels of features/old-*.ptx have a pattern for each instruction that phases make, and pass through oriopt under the
# same pairs: if ptxas accepts the input, it must accept the output. Skips if there is no ptxas. Ends in `N passed, N
# failed, N skipped`. Environment: ORIOPT, the program to test (default build/oriopt).
. "$(dirname "$0")/../lib.sh"
tests=$root/tests
needs "$ORIOPT"
without_ptxas
make_work
# retarget FILE VERSION TARGET: writes FILE with another header to $work/in.ptx. Its line numbers are those of FILE + 2.
retarget() {
    {
        echo ".version $2"
        echo ".target $3"
        cat "$1"
    } >"$work/in.ptx"
}

# run_ptxas FILE TARGET: runs ptxas, with its messages in $work/said.
run_ptxas() {
    case $2 in sm_9* | sm_8* | sm_75 | sm_1[0-9][0-9]*) arch=$2 ;; *) arch=sm_75 ;; esac
    ptxas -arch "$arch" -o "$work/cubin" "$1" >"$work/said" 2>&1
}

for pair in 1.4,sm_10 1.4,sm_13 2.0,sm_10 1.4,sm_20 2.0,sm_20 3.0,sm_30 3.1,sm_30 3.1,sm_32 4.2,sm_50 4.3,sm_35 4.3,sm_50 \
    5.0,sm_60 6.0,sm_60 6.0,sm_70 6.3,sm_75 7.0,sm_80 7.6,sm_75 7.8,sm_80 8.0,sm_90 8.8,sm_100; do
    version=${pair%,*} target=${pair#*,}
    retarget "$tests/ptxas/features/instructions.ptx" "$version" "$target"
    run_ptxas "$work/in.ptx" "$target"
    # ptxas also reports `requires` for a missing rounding modifier.
    sed -n 's/.*, line \([0-9]*\); error.* requires \(PTX ISA\|\.target\).*/\1/p' "$work/said" | sort -u >"$work/ptxas"
    "$ORIOPT" --max-errors=0 --named-phases=NOP --emit=none "$work/in.ptx" 2>&1 |
        sed -n 's/^[^:]*:\([0-9]*\):[0-9]*: warning: .* requires \.version .*/\1/p' | sort -u >"$work/oriopt"
    if diff "$work/ptxas" "$work/oriopt" >"$work/diff"; then
        ok
        continue
    fi
    line=$(sed -n 's/^[<>] //p' "$work/diff" | head -n 1)
    bad "$version, $target: $(sed -n 's/^< .*/only ptxas/p; s/^> .*/only oriopt/p' "$work/diff" | head -n 1) \
says that '$(sed -n "${line}p" "$work/in.ptx" | tr -d '\t')' needs more"
done

for file in "$tests"/ptxas/features/old-*.ptx; do
    for pair in 1.4,sm_10 1.4,sm_13 2.0,sm_10 1.4,sm_20 2.0,sm_20 3.0,sm_30 3.1,sm_32 4.2,sm_50 4.3,sm_50 7.0,sm_80; do
        version=${pair%,*} target=${pair#*,} name=${file##*/}
        retarget "$file" "$version" "$target"
        run_ptxas "$work/in.ptx" "$target" || continue
        for arch in "" "-arch=sm_90" "-arch=sm_30"; do
            if ! "$ORIOPT" $arch -o "$work/out.ptx" "$work/in.ptx" 2>"$work/said"; then
                bad "$name at $version, $target: oriopt fails: $(head -n 1 "$work/said")"
            elif run_ptxas "$work/out.ptx" "$target"; then
                ok
            else
                bad "$name at $version, $target $arch: ptxas rejects the output: $(head -n 1 "$work/said")"
            fi
        done
    done
done
finish
