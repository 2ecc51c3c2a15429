#!/bin/sh
# SPDX-License-Identifier: MIT
#
# claims.sh: checks docs/claims.md against the tree.
#
#   - each text in backquotes of a row is a file of the tree, a text of a file, a unit test or a knob
#   - each row has a state of the table of states; a row that is `tested` names a source and a test, others a reason
#   - no row occurs twice in a section
#   - the table of totals has the numbers of the rows
#
# Prints each failure; ends in `N passed, N failed, N skipped`. Environment: ORIOPT (default build/oriopt; without it,
# names of knobs are not checked).
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 2
[ $# -eq 0 ] || usage claims.sh
page=docs/claims.md
make_work

# -- Rows --------------------------------------------------------------------------------------------------------------

# Prints `LINE<tab>DOCUMENT<tab>STATE<tab>CLAIM<tab>WHERE` for each row of a claim, `BAD<tab>LINE<tab>TEXT` for others.
awk -F ' [|] ' -v OFS='\t' '
    /^## / { document = substr($0, 4) }
    /^#/ { inside = 0; split("", seen) }
    $0 == "| claim | state | where, test or reason |" { inside = 1; next }
    !inside || /^[|]---/ || !/^[|]/ { next }
    {
        sub(/^[|] /, "", $1)
        where = $3
        if (sub(/ [|]$/, "", where) != 1 || NF != 3 || $1 == "" || where == "") { print "BAD", FNR, "a row has three columns"; next }
        if ($1 in seen) { print "BAD", FNR, "the claim occurs twice: " $1; next }
        seen[$1] = 1
        print FNR, document, $2, $1, where
    }' "$page" >"$work/rows"
while IFS='	' read -r mark line text; do
    [ "$mark" != BAD ] || bad "$page:$line: $text"
done <"$work/rows"
grep -v '^BAD' "$work/rows" >"$work/claims"
if [ -s "$work/claims" ]; then ok; else bad "$page has no claims"; fi

# -- States and totals -------------------------------------------------------------------------------------------------

states='tested decided shape missing out untested'
for state in $states; do
    name=$state
    if grep -q "^| $state | [a-z]" "$page"; then ok; else bad "the state has no meaning in $page"; fi
done
name=totals
awk -F '\t' -v states="$states" '
    BEGIN { n = split(states, state, " ") }
    { if (!($2 in count)) order[++documents] = $2; count[$2]++; of[$2, $3]++ }
    function row(name) {
        line = "| " name " | " count[name]
        for (k = 1; k <= n; k++) line = line " | " of[name, state[k]] + 0
        print line " |"
    }
    END {
        for (d = 1; d <= documents; d++) {
            row(order[d])
            count["all"] += count[order[d]]
            for (k = 1; k <= n; k++) of["all", state[k]] += of[order[d], state[k]]
        }
        row("all")
    }' "$work/claims" >"$work/counted"
awk '/^## Totals$/ { on = 1; next } /^## / { on = 0 } on && /^[|]/ && !/^[|](---| document )/' "$page" >"$work/stated"
if cmp -s "$work/counted" "$work/stated"; then
    ok
else
    bad "the table is not that of the rows: $(diff "$work/stated" "$work/counted" | grep '^[<>]' | head -n 4)"
fi

name=

# -- References --------------------------------------------------------------------------------------------------------

sed -n 's/^ *X(\([a-z_]*\)).*/\1/p' tests/unit/main.c >"$work/units"
: >"$work/knobs"
[ ! -x "$ORIOPT" ] || "$ORIOPT" --list-knobs=names >"$work/knobs" || bad "oriopt --list-knobs=names: exit status $?"
[ -s "$work/knobs" ] || skip "knobs: there is no '$ORIOPT'"

# is_unit TEXT: TEXT is FILE or FILE TEST.
is_unit() {
    file=${1%% *} test=${1#"${1%% *}"}
    grep -qxF -e "$file" "$work/units" && { [ -z "$test" ] || grep -qxF -e "TEST(${test# })" "tests/unit/$file.c"; }
}
# is_file TEXT: TEXT is PATH or `PATH: WORDS`, and the file has the words.
is_file() {
    file=${1%%: *} words=${1#*: }
    [ -f "$file" ] && { [ "$file" = "$1" ] || grep -qF -e "$words" "$file"; }
}

# Prints `LINE<tab>REFERENCE` for each text in backquotes, once.
awk -F '\t' -v OFS='\t' '{ n = split($5, part, "`"); for (k = 2; k <= n; k += 2) if (!seen[part[k]]++) print $1, part[k] }' \
    "$work/claims" >"$work/references"
while IFS='	' read -r line text; do
    case $text in
    'unit: '*) is_unit "${text#unit: }" ;;
    'knob: '*) [ ! -s "$work/knobs" ] || grep -qxF -e "${text#knob: }" "$work/knobs" ;;
    *) is_file "$text" ;;
    esac
    # shellcheck disable=SC2181
    if [ $? -eq 0 ]; then ok; else bad "$page:$line: there is no '$text'"; fi
done <"$work/references"

# -- What rows need ----------------------------------------------------------------------------------------------------

# Prints the lines of rows with an unknown state, or without the references that their state needs.
awk -F '\t' -v states="$states" '
    BEGIN { n = split(states, state, " "); for (k = 1; k <= n; k++) known[state[k]] = 1 }
    {
        tests = sources = 0
        m = split($5, part, "`")
        for (k = 2; k <= m; k += 2) {
            if (part[k] ~ /^(unit: |tests\/)/) tests++
            else if (part[k] !~ /^knob: /) sources++
        }
        why = ""
        if (m % 2 == 0) why = "a backquote is not closed"
        else if (!($3 in known)) why = "\047" $3 "\047 is no state"
        else if ($3 == "tested" && !tests) why = "no test is named"
        else if ($3 == "tested" && !sources) why = "no source is named"
        else if ($3 != "tested" && $5 !~ /[a-z][a-z]* [a-z]/) why = "no reason is given"
        print (why == "" ? "ok" : "bad") "\t" $1 "\t" why
    }' "$work/claims" >"$work/needs"
while IFS='	' read -r mark line why; do
    if [ "$mark" = ok ]; then ok; else bad "$page:$line: $why"; fi
done <"$work/needs"
finish
