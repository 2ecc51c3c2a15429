#!/bin/sh
# SPDX-License-Identifier: MIT
#
# oricheck.sh: tests the test driver. It runs each file of tests/golden/oricheck alone: a test file by oricheck, a .cmd
# by the shell, with the program in $oricheck. Output and exit status must equal FILE.expected.
#
#   tests/programs/oricheck.sh [--bless]        --bless: writes the .expected files
#
# Prints one line per failure and a diff; the last line is `N passed, N failed`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORICHECK, the program to test (default build/oricheck).

. "$(dirname "$0")/../lib.sh"
bless=
[ "${1-}" = --bless ] && bless=1 && shift
[ $# -eq 0 ] || usage "oricheck.sh [--bless]"
needs "$ORICHECK"
tests=$root/tests
oricheck=$ORICHECK
export oricheck
make_work

# Copies the folder: commands leave files, and each case needs the original one.
fresh_copy() {
    rm -rf "$work/run"
    cp -R "$tests/golden/oricheck" "$work/run"
    rm -f "$work"/run/*.expected
}

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
    # the reason depends on the C library
    sed 's/\(bad regular expression `[^`]*`\): .*/\1/' "$work/got" >"$work/got.1" && mv "$work/got.1" "$work/got"
    if [ "$bless" ]; then
        cmp -s "$work/got" "$file.expected" || { cp "$work/got" "$file.expected" && echo "blessed $name"; }
    fi
    if [ -f "$file.expected" ] && cmp -s "$work/got" "$file.expected"; then
        ok
    else
        bad "it prints something else:"
        diff -u "$file.expected" "$work/got" | tail -n +3
    fi
done
finish
