#!/bin/sh
# SPDX-License-Identifier: MIT
#
# defects.sh: checks the rows of ir/ptx/defects.def. Each row has a file of its name in tests/ptxas/defects. ptxas must
# accept the output for this file, with and without phases. If the ptxas on the PATH has a version that the row names,
# it must crash on the output without the workaround: otherwise the row is obsolete. Rows without versions are about
# wrong code, which only a GPU shows (tests/gpu). Skips if there is no ptxas. Ends in
# `N passed, N failed, N skipped`. Environment: ORIOPT, the program to test (default build/oriopt).
. "$(dirname "$0")/../lib.sh"
tests=$root/tests
needs "$ORIOPT"
without_ptxas
rows=$(sed -n 's/^DEFECT([A-Z0-9_]*, "\([a-z0-9-]*\)", "\([0-9. ]*\)".*/\1:\2/p' "$root/ir/ptx/defects.def" | tr ' ' ,)
version=$(ptxas --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
make_work
# assemble FILE: returns the exit status of ptxas; above 128 a signal ended it.
assemble() { (ptxas -arch sm_86 -O3 -o "$work/cubin" "$1"; exit $?) >"$work/said" 2>&1; }

for row in $rows; do
    name=${row%%:*} versions=${row#*:}
    for plan in "" -O0 --named-phases=NOP; do
        if ! "$ORIOPT" $plan -o "$work/out.ptx" "$tests/ptxas/defects/$name.ptx" 2>"$work/said"; then
            bad "${plan:+$plan: }oriopt fails: $(head -n 1 "$work/said")"
        elif ! assemble "$work/out.ptx"; then
            bad "${plan:+$plan: }ptxas does not take the output: $(head -n 1 "$work/said")"
        else
            ok
        fi
    done
    "$ORIOPT" --named-phases=NOP --knob PtxasWorkarounds=0 -o "$work/out.ptx" "$tests/ptxas/defects/$name.ptx"
    [ "$versions" ] || continue
    case ,$versions, in
    *",$version,"*) ;;
    *)
        skip "of ptxas $versions, here is $version"
        continue
        ;;
    esac
    assemble "$work/out.ptx"
    status=$?
    if [ $status -gt 128 ]; then
        ok
    else
        bad "without the workaround ptxas $version ends with status $status, no crash"
    fi
done
[ "$rows" ] || bad "there are no rows in defects.def"
finish
