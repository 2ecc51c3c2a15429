#!/bin/sh
# SPDX-License-Identifier: MIT
#
# grammar.sh: each production of the grammar in ir/text/README.md has a test of its name in tests/golden/text/grammar, and each
# test there has a production. The tests themselves are run by oricheck.
#
# One line per failure; the last line is `N passed, N failed`. Exit 0 all passed, 1 failed.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2
readme=ir/text/README.md
folder=tests/golden/text/grammar

# What stands left of a `=` at the start of a line, in the code block of the section `Grammar`.
productions=$(awk '
    /^## / { inside = $0 == "## Grammar" }
    /^```/ { code = !code }
    inside && code && /^[a-z][a-z-]* *= / { print $1 }' "$readme" | sort)
passed=0
failed=0

fail() {
    echo "FAIL $1"
    failed=$((failed + 1))
}

[ -n "$productions" ] || fail "$readme has no grammar"
twice=$(printf '%s\n' "$productions" | uniq -d)
[ -z "$twice" ] || fail "$readme: more than one production is called $twice"
for production in $productions; do
    if [ -f "$folder/$production.ori" ]; then
        passed=$((passed + 1))
    else
        fail "$readme: \`$production\` has no test $folder/$production.ori"
    fi
done
for file in "$folder"/*; do
    name=${file##*/}
    printf '%s\n' "$productions" | sed 's/$/.ori/' | grep -qxF "$name" || fail "$file: the grammar has no such production"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
