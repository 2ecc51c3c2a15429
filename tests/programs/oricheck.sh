#!/bin/sh
# SPDX-License-Identifier: MIT
#
# oricheck.sh: tests of the test driver. Each file of tests/golden/oricheck is run on its own: a test file by oricheck, a .cmd
# by the shell, with the program in $oricheck. What it prints, and the exit status, must be what FILE.expected says.
#
#   tests/programs/oricheck.sh [--bless]        --bless: writes the .expected files
#
# One line per failure and a diff; the last line is `N passed, N failed`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORICHECK, the program to test (default build/oricheck).

set -u
LC_ALL=C
export LC_ALL
tests=$(cd "$(dirname "$0")/.." && pwd) || exit 2
oricheck=${ORICHECK:-$(dirname "$tests")/build/oricheck}
case $oricheck in /*) ;; *) oricheck=$PWD/$oricheck ;; esac
export oricheck
bless=
[ "${1-}" = --bless ] && bless=1 && shift
if [ $# -gt 0 ] || [ ! -x "$oricheck" ]; then
    echo "usage: oricheck.sh [--bless] (after make, or with ORICHECK set)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ori-oricheck.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 60"

# Commands leave files: each case has the folder as it is.
fresh_copy() {
    rm -rf "$work/run"
    cp -R "$tests/golden/oricheck" "$work/run"
    rm -f "$work"/run/*.expected
}

passed=0
failed=0
fresh_copy
for file in "$tests"/golden/oricheck/*; do
    name=${file##*/}
    cd "$work/run" || exit 2
    case $name in
    *.expected) continue ;;
    *.cmd)
        $limit sh "$name" >"$work/got" 2>&1 </dev/null
        echo "exit $?" >>"$work/got"
        fresh_copy
        ;;
    *)
        $limit "$oricheck" "$name" >"$work/got" 2>&1 </dev/null
        echo "exit $?" >>"$work/got"
        ;;
    esac
    # the reason is the C library's
    sed 's/\(bad regular expression `[^`]*`\): .*/\1/' "$work/got" >"$work/got.1" && mv "$work/got.1" "$work/got"
    if [ "$bless" ]; then
        cmp -s "$work/got" "$file.expected" || { cp "$work/got" "$file.expected" && echo "blessed $name"; }
    fi
    if [ -f "$file.expected" ] && cmp -s "$work/got" "$file.expected"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "oricheck.sh: $name prints something else:"
        diff -u "$file.expected" "$work/got" | tail -n +3
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
