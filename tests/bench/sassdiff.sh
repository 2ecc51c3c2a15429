#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sassdiff.sh: compares SASS instructions and registers of each function before and after oriopt, sorted by difference.
#
#   tests/bench/sassdiff.sh [-j N] [-n ROWS] [-o OPTIONS] [-b OPTIONS] [-p FLAGS] [-t FILE] FILES|DIRS...
#
#   -j N         processes (default: one for each processor)
#   -n ROWS      rows of worse functions, and of better functions (default 30)
#   -o OPTIONS   options of oriopt (default -O3)
#   -b OPTIONS   compares with the output of oriopt under these options instead of the input; the program is ORIOPT_BASE
#                (default: ORIOPT), so that two builds can be compared
#   -p FLAGS     flags of ptxas (default -O3)
#   -t FILE      writes the rows of all functions to FILE, as `INSNS REGS INSNS REGS FILE FUNCTION`, unsorted
#
# FILES are .ptx files, or folders of them. A row is a function that has code on both sides. Instruction
# counts at ptxas -O3 include the effect of loop unrolling in ptxas; `-p -O1` excludes it.
#
# Environment: ORIOPT (default build/oriopt), ORIOPT_BASE, PTXAS (default ptxas), ORI_PTX_CACHE (default
# build/ptx-cache: counts by hash of PTX and flags, shared with ptxas.sh, so that a rerun compiles only changed
# outputs). It only measures: exit 0, 1 if a tool failed on a file, 2 for wrong usage.

set -u
LC_ALL=C
export LC_ALL

usage() {
    sed -n 's/^#   \(tests.bench.*\)/usage: \1/p' "$0" >&2
    exit 2
}

# -- The worker: one file ---------------------------------------------------------------------------------------------

# flags_for FILE: prints the flags of ptxas for the file's target, spelled as in ptxas.sh, with which the cache is
# shared.
flags_for() {
    arch=$(sed -n 's/^[[:space:]]*\.target[[:space:]]\{1,\}\([a-z0-9_]*\).*/\1/p' "$1" | head -n 1)
    number=${arch#sm_}
    number=${number%[af]}
    case $number in '' | *[!0-9]*) number=0 ;; esac
    [ "$number" -lt 75 ] && arch=sm_75
    echo "-arch=$arch $SD_FLAGS"
}

# count PTX OUT FLAGS: writes the lines of sasscount to OUT; false with a message in $work.log.
count() {
    key=$( (printf '%s\n' "$3 $SD_VERSION"; cat "$1") | sha256sum | cut -c1-40)
    seen=$ORI_PTX_CACHE/as/$key.ok
    if [ ! -f "$seen" ]; then
        # shellcheck disable=SC2086 # flags are words
        "$PTXAS" $3 -o "$work.cubin" "$1" >"$work.log" 2>&1 && "$SD_COUNT" "$work.cubin" >"$seen.$$" &&
            mv "$seen.$$" "$seen" || return 1
    fi
    cp "$seen" "$2"
}

# optimized PROGRAM OPTIONS FILE OUT: runs oriopt.
optimized() {
    # shellcheck disable=SC2086 # options are words
    "$1" $2 -o "$4" "$3" >"$work.log" 2>&1
}

# measure FILE: prints the rows of its functions; false with a message.
measure() {
    flags=$(flags_for "$1") before=$1
    if [ "$SD_BASE" != - ]; then
        before=$work.base.ptx
        optimized "$ORIOPT_BASE" "$SD_BASE" "$1" "$before" || return 1
    fi
    if ! count "$before" "$work.a" "$flags"; then
        flags="$flags -c" # it may be only a part of a program
        count "$before" "$work.a" "$flags" || return 1
    fi
    optimized "$ORIOPT" "$SD_OPTIONS" "$1" "$work.out.ptx" && count "$work.out.ptx" "$work.b" "$flags" || return 1
    awk -v file="$1" '
        FILENAME ~ /\.a$/ { insns[$1] = $2; regs[$1] = $3; next }
        $1 in insns { print insns[$1], regs[$1], $2, $3, file, $1 }' "$work.a" "$work.b"
}

if [ "${1-}" = --worker ]; then
    work=$SD_TMP/$$
    measure "$2" >"$work.rows" || echo "FAIL $2: $(head -n 1 "$work.log" | cut -c1-200)" >"$work.rows"
    mv "$work.rows" "$SD_TMP/rows/$$"
    rm -f "$work".*
    exit 0
fi

# -- Arguments and tools ----------------------------------------------------------------------------------------------

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) rows=30 table=''
SD_OPTIONS=-O3 SD_BASE=- SD_FLAGS=
while getopts j:n:o:b:p:t: opt; do
    case $opt in
    j) jobs=$OPTARG ;;
    n) rows=$OPTARG ;;
    o) SD_OPTIONS=$OPTARG ;;
    b) SD_BASE=$OPTARG ;;
    p) SD_FLAGS=$OPTARG ;;
    t) table=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
case $jobs$rows in *[!0-9]*) usage ;; esac
[ $# -gt 0 ] || usage
ORIOPT=${ORIOPT:-$root/build/oriopt}
ORIOPT_BASE=${ORIOPT_BASE:-$ORIOPT}
PTXAS=${PTXAS:-ptxas}
ORI_PTX_CACHE=${ORI_PTX_CACHE:-$root/build/ptx-cache}
for tool in "$ORIOPT" "$ORIOPT_BASE"; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "sassdiff.sh: no '$tool' (run make, or set ORIOPT)" >&2
        exit 1
    }
done
command -v "$PTXAS" >/dev/null 2>&1 || {
    echo "SKIP sassdiff.sh: no '$PTXAS' (set PTXAS)"
    exit 0
}
SD_VERSION=$("$PTXAS" --version | sed -n 's/.*, V//p')
SD_TMP=$(mktemp -d "${TMPDIR:-/tmp}/sassdiff.XXXXXX") || exit 1
trap 'rm -rf "$SD_TMP"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
SD_COUNT=$SD_TMP/sasscount
mkdir -p "$SD_TMP/rows" "$ORI_PTX_CACHE/as" || exit 1
${CC:-cc} -O1 -std=c11 -o "$SD_COUNT" "$root/tests/ptxas/sasscount.c" || exit 1
export ORIOPT ORIOPT_BASE PTXAS ORI_PTX_CACHE SD_OPTIONS SD_BASE SD_FLAGS SD_VERSION SD_TMP SD_COUNT

# -- Run and report ---------------------------------------------------------------------------------------------------

for f; do
    if [ -d "$f" ]; then find "$f" -maxdepth 1 -name '*.ptx' | sort; else echo "$f"; fi
done | xargs -n 1 -P "$jobs" sh "$0" --worker
find "$SD_TMP/rows" -type f -exec cat {} + >"$SD_TMP/all"
grep -v '^FAIL ' "$SD_TMP/all" | sort -k5 >"$SD_TMP/table"
[ -n "$table" ] && cp "$SD_TMP/table" "$table"

# show ORDER SIGN: prints rows by difference of instructions, then of registers: worse ones (r, 1), or better ones ('',
# -1).
show() {
    awk '$3 != $1 || $4 != $2 {
        n = split($5, path, "/")
        printf "%d %d %6d -> %6d %+6d %+7.2f%%   %4d -> %4d %+4d   %s %s\n", $3 - $1, $4 - $2, $1, $3, $3 - $1,
               $1 ? 100 * ($3 - $1) / $1 : 0, $2, $4, $4 - $2, path[n], $6
    }' "$SD_TMP/table" | sort "-k1,1n$1" "-k2,2n$1" | awk -v sign="$2" '$1 * sign > 0 || $1 == 0 && $2 * sign > 0' |
        head -n "$rows" | cut -d' ' -f3-
}
echo "worse: instructions, registers, file, function"
show r 1
echo "better:"
show '' -1
awk '
    { n++; i += $1; o += $3; ri += $2; ro += $4; worse += $3 > $1; better += $3 < $1; wr += $4 > $2; br += $4 < $2
      slack = $1 / 100 > 2 ? $1 / 100 : 2
      over += $3 > $1 + slack; overr += $4 > $2 + 2 }
    END {
        printf "functions: %d\ninstructions: %d -> %d (%+.2f%%), worse %d (by more than max(1%%, 2): %d), better %d\n", n, i,
               o, i ? 100 * (o - i) / i : 0, worse, over, better
        printf "registers: %d -> %d (%+.2f%%), worse %d (by more than 2: %d), better %d\n", ri, ro,
               ri ? 100 * (ro - ri) / ri : 0, wr, overr, br
    }' "$SD_TMP/table"
if grep '^FAIL ' "$SD_TMP/all"; then exit 1; fi
