#!/bin/sh
# SPDX-License-Identifier: MIT
#
# reduce.sh: reduces a program on which --check-each finds a difference, line by line, while the same phase fails in the
# same way (a difference, a fault, another error).
#
#   tests/fuzz/reduce.sh FILE.ptx FILE.run OUT.ptx [OPTIONS of oriopt...]
#
# Removes chunks of lines, large ones first, until no single line can be removed (delta debugging). Removing a line that
# the run requires changes the failure, so such lines stay. Exit 1: the input does not fail.
#
# Environment: ORIOPT (default build/oriopt), TRIES (limit of attempts, default 4000).
set -u
LC_ALL=C
export LC_ALL
[ $# -ge 3 ] || { echo 'usage: reduce.sh FILE.ptx FILE.run OUT.ptx [OPTIONS...]' >&2 && exit 2; }
input=$1 run=$(realpath "$2") output=$3
shift 3
ORIOPT=$(realpath "${ORIOPT:-build/oriopt}")
tries=${TRIES:-4000}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
extension=${input##*.}

# Prints the phase and the kind of the failure of a candidate.
failure() {
    (cd "$dir" && timeout 20 "$ORIOPT" "$@" --check-each="$run" --no-reproducer -o /dev/null "try.$extension" 2>&1 >/dev/null |
        sed -n '/internal error: /{
            s/.*internal error: //
            s/, function [^:]*: launch [0-9]*: block.*/: stops/
            s/, function [^:]*: launch [0-9]*:.*/: differs/
            s/: launch [0-9]*: block.*/: stops/
            s/: launch [0-9]*:.*/: differs/
            p
            q
        }')
}

cp "$input" "$dir/try.$extension"
want=$(failure "$@")
[ "$want" ] || { echo "reduce.sh: nothing goes wrong with '$input'" >&2 && exit 1; }
cp "$input" "$dir/best"
lines=$(wc -l <"$dir/best")
size=$((lines / 2))
n=0
while [ "$size" -gt 0 ] && [ $n -lt "$tries" ]; do
    at=1
    shrunk=
    while [ "$at" -le "$lines" ] && [ $n -lt "$tries" ]; do
        sed "${at},$((at + size - 1))d" "$dir/best" >"$dir/try.$extension"
        n=$((n + 1))
        if [ "$(failure "$@")" = "$want" ]; then
            cp "$dir/try.$extension" "$dir/best"
            lines=$(wc -l <"$dir/best")
            shrunk=1
        else
            at=$((at + size))
        fi
    done
    # Repeats single lines as long as one can be removed.
    [ "$size" -eq 1 ] && [ "$shrunk" ] || size=$((size / 2))
done
cp "$dir/best" "$output"
echo "$output: $lines lines of $(wc -l <"$input"), after $n tries: $want"
