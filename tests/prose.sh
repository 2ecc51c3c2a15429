#!/bin/sh
# SPDX-License-Identifier: MIT
#
# prose.sh: checks the text of comments and READMEs.
#
#   - no comment begins with What, Whether, Which, Where or How
#   - no line of a Markdown file has more than 100 columns, but for rows of tables and code; README.md has 150 lines at most
#   - links between files of the tree resolve
#   - terms that messages have replaced do not come back
#   - docs/*.svg are the pictures that docs/draw.py makes of the current tables (needs python3)
#
# Prints each failure; ends in `N passed, N failed, N skipped`. Environment: ORIOPT (default build/oriopt).
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 2
[ $# -eq 0 ] || usage prose.sh
needs "$ORIOPT"

# The files of the tree, whether it is a repository or not. Generated lexers have no comments of ours.
files() {
    find README.md *.md docs ir knobs phases sm tools tests samples -type f "$@" | grep -v '/lex\.c$' | sort -u
}

# none NAME PATTERN FILES...: no line of the files matches the extended regular expression.
none() {
    name=$1 pattern=$2
    shift 2
    if found=$(grep -nE -- "$pattern" "$@" /dev/null); then bad "$(printf '%s\n' "$found" | head -n 5)"; else ok; fi
}

# shellcheck disable=SC2046
none 'question words' '(^|[[:space:];{}])(//|/\*+) ?(What|Whether|Which|Where|How)\b' \
    $(files -name '*.[ch]'; files -name '*.def'; files -name '*.re'; files -name '*.tbl'; files -name '*.cpp')
# shellcheck disable=SC2046
none 'question words in scripts' '^[[:space:]]*# ?(What|Whether|Which|Where|How)\b' $(files -name '*.sh'; files -name '*.py'; files -name '*.awk')

# shellcheck disable=SC2046
none 'replaced texts' '"(behind |in front of |[^"]*(may not stand|expected [^"]* behind ))' $(files -name '*.[ch]'; files -name '*.def'; files -name '*.re'; files -name '*.cpp')

for page in $(files -name '*.md'); do
    name=$page
    wide=$(awk '/^```/ { code = !code } !code && !/^\|/ && length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns" }' "$page")
    if [ -z "$wide" ]; then ok; else bad "$wide"; fi
    for link in $(grep -oE '\]\([^)#: ]+' "$page" | cut -c3-); do
        if [ -e "$(dirname "$page")/$link" ]; then ok; else bad "there is no $link"; fi
    done
done
name=README.md
if [ "$(wc -l <README.md)" -le 150 ]; then ok; else bad "more than 150 lines"; fi

name=pictures
if ! have python3; then
    skip "pictures: no python3"
elif said=$(docs/draw.py -n "$ORIOPT" 2>&1); then
    ok
else
    bad "run docs/draw.py $ORIOPT: $said"
fi
finish
