#!/bin/sh
# SPDX-License-Identifier: MIT
#
# same.sh: checks pairs of kernels that compute the same, in the files of same/. ptxas must make the same code of both,
# which proves how it folds the first one. orirun must leave the same memory after both, for the file and for the output
# of oriopt.
#
#   tests/ptxas/same.sh [FILES...]             default: tests/ptxas/same/*.ptx
#
# In the files, `// same: A B` is such a pair and `// differ: A B` a pair that must differ everywhere. Kernels have one
# parameter, the address of 256 bytes. Prints one line per failure; the last line is `N passed, N failed, N skipped`, a
# test being a pair and its judge (ptxas, orirun, or oriopt and orirun). Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT, ORIRUN, the programs to test (default build/oriopt, and orirun beside it); CC.

. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
[ $# -gt 0 ] || set -- tests/ptxas/same/*.ptx
[ -f "$1" ] || usage "same.sh [FILES...]"
needs "$ORIOPT" "$ORIRUN"
make_work

# pairs FILE: prints "same A B" and "differ A B", one per line.
pairs() { sed -nE 's,^// (same|differ): ,\1 ,p' "$1"; }

# results MODULE PAIRS: prints lines "kernel digest" of orirun.
results() {
    pairs "$2" | awk '{ print $2; print $3 }' | sort -u | while read -r kernel; do
        digest=$("$ORIRUN" -x ptx --entry="$kernel" --arg=buf:256 --digest "$1" 2>&1) || digest="fails: $digest"
        echo "$kernel $digest" | tr '\n' ' '
        echo
    done
}

# judge FILE WHO: compares the pairs of FILE by the values in $work/values.
judge() {
    pairs "$1" >"$work/pairs"
    while read -r relation a b; do
        x=$(sed -n "s/^$a //p" "$work/values") y=$(sed -n "s/^$b //p" "$work/values")
        case $relation,$x,$y in
        *,,* | *, | *fails:*) bad "$1: $2 has no result of $a or $b: $x $y" && continue ;;
        esac
        [ "$x" = "$y" ] && found=same || found=differ
        if [ $found = "$relation" ]; then
            ok
        else
            bad "$1: for $2, $a and $b are: $found"
        fi
    done <"$work/pairs"
}

judges=
if have ptxas; then
    judges=ptxas
    $CC -std=c11 -O1 -o "$work/sasscount" tests/ptxas/sasscount.c || exit 2
else
    skip 'no ptxas on the PATH: what it makes of the pairs is not compared'
fi
for file; do
    if [ "$judges" ]; then
        target=$(sed -n 's/^\.target \([a-z0-9_]*\).*/\1/p' "$file")
        if ptxas -arch "$target" -O3 -o "$work/cubin" "$file" >"$work/said" 2>&1; then
            "$work/sasscount" --digest "$work/cubin" >"$work/values"
            judge "$file" ptxas
        else
            bad "$file: ptxas rejects it: $(head -n 1 "$work/said")"
        fi
    fi
    results "$file" "$file" >"$work/values"
    judge "$file" orirun
    if "$ORIOPT" -O3 -o "$work/out.ptx" "$file" 2>"$work/said"; then
        results "$work/out.ptx" "$file" >"$work/values"
        judge "$file" "oriopt and orirun"
    else
        bad "$file: oriopt fails: $(head -n 1 "$work/said")"
    fi
done
finish
