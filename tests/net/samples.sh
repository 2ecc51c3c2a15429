#!/bin/sh
# SPDX-License-Identifier: MIT
#
# samples.sh: checks that the samples run and give the results of an independent computation (samples/host). It runs
# each .run file on the PTX that the file names, and samples/run/NAME.run also on the other forms of NAME in
# samples/ptx. A .run file of a single form is called NAME.FORM.run. Prints each failure; ends in `N passed, N failed`.
#
# Environment: ORIRUN (default build/orirun).
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
needs "$ORIRUN"
make_work
out=$work/out

try() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$out" 2>&1; then ok; else bad "$(grep -m 4 'error:' "$out" || tail -n 2 "$out")"; fi
}

for run in samples/run/handwritten/*.run; do
    try "$run" "$ORIRUN" "$run"
done
for run in samples/run/*.run; do
    sample=$(basename "$run" .run)
    try "$run" "$ORIRUN" "$run"
    for form in sm_90 O0; do
        ptx=samples/ptx/$sample.$form.ptx
        [ -e "$ptx" ] && [ ! -e "samples/run/$sample.$form.run" ] && try "$run $form" "$ORIRUN" "$run" --file "$ptx"
    done
done
# A comment of the .run file has the text that kernels print; the order of its lines does not count.
prints() { # RUN: compares its lines `#     TEXT`, sorted, with the printed lines that are no reports
    sed -n 's/^#     //p' "$1" | sort >"$out.want"
    "$ORIRUN" "$1" | grep -Ev '^(launch [0-9]+ entry |arg[0-9]+ [0-9a-f]{16}$)' | sort >"$out.said"
    cmp "$out.want" "$out.said"
}
for run in $(grep -l '^# Prints$' samples/run/*.run); do
    try "$run prints" prints "$run"
done
finish
