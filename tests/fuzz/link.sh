#!/bin/sh
# SPDX-License-Identifier: MIT
#
# link.sh [N [SEED]]: damages inputs of orilink N times (default 100000), and rewrites them: bytes, headers, tables, words
# and sizes of cubins, fat binaries, host objects and archives. Fails if a run crashes, takes two seconds, or ends in an
# internal error. Ends in `N passed, N failed`. Use a build with sanitizers: ORIOPT=build-asan/oriopt.
. "$(dirname "$0")/../lib.sh"
damage=${ORIOPT%/*}/damage
needs "$damage"
make_work
cubins=$root/tests/link/cubins
$CC -std=c11 -o "$work/synthetic" "$root/tests/link/synthetic.c" || exit 2
"$work/synthetic" "$work/a.cubin" "$work/a.o" || exit 2
! have ar || (cd "$work" && ar rc cubins.a a.cubin "$cubins"/alias.*.cubin && ar rc objects.a a.o "$cubins"/first.o)
if have nvlink; then
    nvlink -arch=sm_80 -r -o "$work/joined.cubin" "$cubins/weak1.o"
fi
name='damaged inputs'
if "$damage" "${1:-100000}" "${2:-1}" "$work"/*.[ao] "$work"/*.cubin "$cubins"/*.o "$cubins"/*.cubin; then
    ok
else
    bad "a run failed"
fi
finish
