#!/bin/sh
# SPDX-License-Identifier: MIT
#
# second.sh: lists the files that oriopt changes again in a second run, on its own output.
#
#   tests/bench/second.sh [-j N] [-n LINES] [-o OPTIONS] [-k DIR] FILES|DIRS...
#
#   -j N         processes (default: one for each processor)
#   -n LINES     differing lines to print for each file (default 6)
#   -o OPTIONS   options of both runs (default -O3)
#   -k DIR       keeps the outputs of the files that change: DIR/NAME.1.ptx and DIR/NAME.2.ptx
#
# FILES are .ptx files, or folders of them. A row has the PTX instructions after the first run and after the second one,
# and the file; the first lines of the difference follow, `<` after the first run and `>` after the second one. Rows are
# sorted by growth. The last lines have the files, those that change and those that grow.
#
# Environment: ORIOPT (default build/oriopt). It only measures: exit 0, 1 if oriopt failed on a file, 2 for wrong usage.

set -u
LC_ALL=C
export LC_ALL

usage() {
    sed -n 's/^#   \(tests.bench.*\)/usage: \1/p' "$0" >&2
    exit 2
}

# instructions PTX: prints the number of instructions of its functions.
instructions() { awk -f "$S2_ROOT/tests/bench/ptx.awk" "$1" | awk '{ sum += $3 } END { print sum + 0 }'; }

# measure FILE: prints `GROWTH BEFORE AFTER FILE` and the difference, or `FAIL FILE`; nothing without a change.
measure() {
    # shellcheck disable=SC2086 # options are words
    "$ORIOPT" $S2_OPTIONS -o "$work.1.ptx" "$1" >"$work.log" 2>&1 &&
        "$ORIOPT" $S2_OPTIONS -o "$work.2.ptx" "$work.1.ptx" >"$work.log" 2>&1 || {
        echo "FAIL $1: $(head -n 1 "$work.log" | cut -c1-200)"
        return
    }
    cmp -s "$work.1.ptx" "$work.2.ptx" && return
    one=$(instructions "$work.1.ptx") two=$(instructions "$work.2.ptx")
    echo "$((two - one)) $one $two $1"
    diff "$work.1.ptx" "$work.2.ptx" | grep '^[<>]' | grep -v '\.reg ' | head -n "$S2_LINES" | sed 's/^/    /'
    [ -z "$S2_KEEP" ] && return
    base=$S2_KEEP/$(basename "$1" .ptx)
    cp "$work.1.ptx" "$base.1.ptx" && cp "$work.2.ptx" "$base.2.ptx"
}

if [ "${1-}" = --worker ]; then
    work=$S2_TMP/$$
    measure "$2" >"$work.row"
    mv "$work.row" "$S2_TMP/rows/$$"
    rm -f "$work".*
    exit 0
fi

S2_ROOT=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
S2_OPTIONS=-O3 S2_LINES=6 S2_KEEP=
while getopts j:n:o:k: opt; do
    case $opt in
    j) jobs=$OPTARG ;;
    n) S2_LINES=$OPTARG ;;
    o) S2_OPTIONS=$OPTARG ;;
    k) S2_KEEP=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
case $jobs$S2_LINES in *[!0-9]*) usage ;; esac
[ $# -gt 0 ] || usage
ORIOPT=${ORIOPT:-$S2_ROOT/build/oriopt}
command -v "$ORIOPT" >/dev/null 2>&1 || {
    echo "second.sh: no '$ORIOPT' (run make, or set ORIOPT)" >&2
    exit 1
}
[ -z "$S2_KEEP" ] || mkdir -p "$S2_KEEP" || exit 1
S2_TMP=$(mktemp -d "${TMPDIR:-/tmp}/second.XXXXXX") || exit 1
trap 'rm -rf "$S2_TMP"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$S2_TMP/rows" || exit 1
export ORIOPT S2_ROOT S2_OPTIONS S2_LINES S2_KEEP S2_TMP

for f; do
    if [ -d "$f" ]; then find "$f" -maxdepth 1 -name '*.ptx' | sort; else echo "$f"; fi
done >"$S2_TMP/files"
xargs -r -n 1 -P "$jobs" sh "$0" --worker <"$S2_TMP/files"
# The rows of the largest growth come first, each with its difference.
find "$S2_TMP/rows" -type f -size +0 | while read -r row; do
    echo "$(head -n 1 "$row" | cut -d" " -f1) $row"
done | sort -k1,1nr | cut -d' ' -f2 | xargs -r cat | tee "$S2_TMP/all"
awk -v files="$(wc -l <"$S2_TMP/files")" '
    /^-?[0-9]/ { changed++; grown += $1 > 0; growth += $1 }
    END { printf "files: %d, changed %d (%.2f%%), grown %d; instructions %+d\n", files, changed,
                 files ? 100 * changed / files : 0, grown, growth }' "$S2_TMP/all"
if grep -q '^FAIL ' "$S2_TMP/all"; then exit 1; fi
