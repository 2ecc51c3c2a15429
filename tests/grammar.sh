#!/bin/sh
# SPDX-License-Identifier: MIT
#
# grammar.sh: checks that each production of the grammar in ir/text/README.md has a test of its name in
# tests/golden/text/grammar, and that each test there has a production. oricheck runs the tests themselves.
#
# Prints one line per failure; the last line is `N passed, N failed`. Exit 0 all passed, 1 failed.

. "$(dirname "$0")/lib.sh"
cd "$root" || exit 2
readme=ir/text/README.md
folder=tests/golden/text/grammar

# Names of productions: left sides of `=` at the start of a line, in the code block of the section `Grammar`.
productions=$(awk '
    /^## / { inside = $0 == "## Grammar" }
    /^```/ { code = !code }
    inside && code && /^[a-z][a-z-]* *= / { print $1 }' "$readme" | sort)

[ -n "$productions" ] || bad "$readme has no grammar"
twice=$(printf '%s\n' "$productions" | uniq -d)
[ -z "$twice" ] || bad "$readme: more than one production is called $twice"
for production in $productions; do
    if [ -f "$folder/$production.ori" ]; then
        ok
    else
        bad "$readme: \`$production\` has no test $folder/$production.ori"
    fi
done
for file in "$folder"/*; do
    name=${file##*/}
    printf '%s\n' "$productions" | sed 's/$/.ori/' | grep -qxF "$name" || bad "$file: the grammar has no such production"
done
finish
