#!/bin/sh
# SPDX-License-Identifier: MIT
#
# meaning.sh: compares the constants that ptxas folds with the evaluator, and constants in registers with immediates, for
# each operand of each instruction (meaning.py). ranges.def states the slots in which they differ.
#
#   tests/ptxas/meaning.sh [-q]
#
# -q: only a sample of the slots, and all slots of shifts and bit fields. Skips if there is no ptxas or python3. Ends in
# `N passed, N failed, N skipped`; a test is a result. Environment: ORIOPT, ORIRUN, the programs to test (default
# build/oriopt, and orirun beside it).
. "$(dirname "$0")/../lib.sh"
case "${1-}" in
'') sample=1 ;;
-q) sample='150 shl.b16 shr.s16 bfe bfi' ;;
*) usage "meaning.sh [-q]" ;;
esac
needs "$ORIOPT" "$ORIRUN"
without_ptxas
if ! have python3; then
    skip "there is no python3 on the PATH"
    finish
fi
make_work
export ORIOPT ORIRUN
# shellcheck disable=SC2086
python3 "$root/tests/ptxas/meaning.py" "$work" $sample
