#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sassdiff.sh: compares SASS instructions, registers and stack of each function before and after oriopt, sorted by
# difference.
#
#   tests/bench/sassdiff.sh [-j N] [-n ROWS] [-o OPTIONS] [-b OPTIONS] [-p FLAGS] [-t FILE] FILES|DIRS...
#
#   -j N         processes (default: one for each processor)
#   -n ROWS      rows of worse functions, and of better functions (default 30)
#   -o OPTIONS   options of oriopt (default -O3)
#   -b OPTIONS   compares with the output of oriopt under these options instead of the input; the program is ORIOPT_BASE
#                (default: ORIOPT), so that two builds can be compared
#   -p FLAGS     flags of ptxas (default -O3)
#   -t FILE      writes the rows of all functions to FILE, as `INSNS REGS FRAME INSNS REGS FRAME FILE FUNCTION`,
#                unsorted
#
# FILES are .ptx files, or folders of them. A row is a function that has code on both sides. Instruction
# counts at ptxas -O3 include the effect of loop unrolling in ptxas; `-p -O1` excludes it.
#
# A function is worse beyond the limits, marked `!`, if it has more than max(1 %, 2) more instructions and no smaller
# frame: without a stack, ptxas unrolls and schedules more. If the files lie in several folders, each folder gets a
# line of totals. Then follow files for which oriopt prints warnings (WARN), and failures (FAIL) with the tool that
# failed.
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

# count PTX OUT FLAGS: writes the lines of sasscount to OUT; false with a message in $work.log. A cached result without
# frames is of an earlier sasscount.
count() {
    key=$( (printf '%s\n' "$3 $SD_VERSION"; cat "$1") | sha256sum | cut -c1-40)
    seen=$ORI_PTX_CACHE/as/$key.ok
    if ! awk 'NF < 4 { exit 1 }' "$seen" 2>/dev/null; then
        # shellcheck disable=SC2086 # flags are words
        "$PTXAS" $3 -o "$work.cubin" "$1" >"$work.log" 2>&1 && "$SD_COUNT" "$work.cubin" >"$seen.$$" &&
            mv "$seen.$$" "$seen" || return 1
    fi
    cp "$seen" "$2"
}

# optimized PROGRAM OPTIONS FILE OUT: runs oriopt; false with a message in $work.log, else $work.warn gets its warnings.
optimized() {
    # shellcheck disable=SC2086 # options are words
    "$1" $2 -o "$4" "$3" >"$work.log" 2>&1 || return 1
    grep 'warning:' "$work.log" >"$work.warn" || :
}

# measure FILE: prints the rows of its functions; false with a message. $step names the tool that fails, and its input.
measure() {
    flags=$(flags_for "$1") before=$1
    if [ "$SD_BASE" != - ]; then
        before=$work.base.ptx step='oriopt (base)'
        optimized "$ORIOPT_BASE" "$SD_BASE" "$1" "$before" || return 1
    fi
    step='ptxas before'
    if ! count "$before" "$work.a" "$flags"; then
        flags="$flags -c" # it may be only a part of a program
        count "$before" "$work.a" "$flags" || return 1
    fi
    step=oriopt
    optimized "$ORIOPT" "$SD_OPTIONS" "$1" "$work.out.ptx" || return 1
    step='ptxas after'
    count "$work.out.ptx" "$work.b" "$flags" || return 1
    [ ! -s "$work.warn" ] || echo "WARN $1: $(wc -l <"$work.warn") warnings, $(head -n 1 "$work.warn" | cut -c1-200)"
    awk -v file="$1" '
        FILENAME ~ /\.a$/ { before[$1] = $2 " " $3 " " $4; next }
        $1 in before { print before[$1], $2, $3, $4, file, $1 }' "$work.a" "$work.b"
}

if [ "${1-}" = --worker ]; then
    work=$SD_TMP/$$
    measure "$2" >"$work.rows" || echo "FAIL $2: $step: $(head -n 1 "$work.log" | cut -c1-200)" >"$work.rows"
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
grep -Ev '^(FAIL|WARN) ' "$SD_TMP/all" | sort -k7,7 -k8,8 >"$SD_TMP/table"
[ -n "$table" ] && cp "$SD_TMP/table" "$table"

# The limits: true in awk for a row that is worse beyond them.
limits='function beyond() { return $4 > $1 + ($1 / 100 > 2 ? $1 / 100 : 2) && $6 >= $3 }'

# show ORDER SIGN: prints rows by difference of instructions, then of registers: worse ones (r, 1), or better ones ('',
# -1).
show() {
    awk "$limits"'$4 != $1 || $5 != $2 {
        n = split($7, path, "/")
        printf "%d %d %s %6d -> %6d %+6d %+7.2f%%   %4d -> %4d %+4d   %5d -> %5d   %s %s\n", $4 - $1, $5 - $2,
               beyond() ? "!" : ".", $1, $4, $4 - $1, $1 ? 100 * ($4 - $1) / $1 : 0, $2, $5, $5 - $2, $3, $6, path[n], $8
    }' "$SD_TMP/table" | sort "-k1,1n$1" "-k2,2n$1" | awk -v sign="$2" '$1 * sign > 0 || $1 == 0 && $2 * sign > 0' |
        head -n "$rows" | cut -d' ' -f3-
}
echo "worse: instructions, registers, frame, file, function (!: beyond the limits)"
show r 1
echo "better:"
show '' -1
awk "$limits"'
    function percent(part, whole) { return whole ? 100 * part / whole : 0 }
    {
        folder = $7
        if (!sub("/[^/]*$", "", folder)) folder = "."
        if (!n[folder]++) order[++folders] = folder
        insns[folder] += $1
        out[folder] += $4
        limit[folder] += beyond()
        all++; i += $1; o += $4; ri += $2; ro += $5; fi += $3; fo += $6; over += beyond()
        worse += $4 > $1; better += $4 < $1; wr += $5 > $2; br += $5 < $2; overr += $5 > $2 + 2
        wf += $6 > $3; bf += $6 < $3
    }
    END {
        for (k = 1; k <= folders && folders > 1; k++) {
            f = order[k]
            printf "%s: %d functions, instructions %d -> %d (%+.2f%%), %d beyond the limits (%.2f%%)\n", f, n[f], insns[f],
                   out[f], percent(out[f] - insns[f], insns[f]), limit[f], percent(limit[f], n[f])
        }
        printf "functions: %d, worse beyond the limits %d (%.2f%%)\n", all, over, percent(over, all)
        printf "instructions: %d -> %d (%+.2f%%), worse %d, better %d\n", i, o, percent(o - i, i), worse, better
        printf "registers: %d -> %d (%+.2f%%), worse %d (by more than 2: %d), better %d\n", ri, ro, percent(ro - ri, ri),
               wr, overr, br
        printf "frames: %d -> %d bytes, larger %d, smaller %d\n", fi, fo, wf, bf
    }' "$SD_TMP/table"
grep '^WARN ' "$SD_TMP/all" | sort
if grep '^FAIL ' "$SD_TMP/all"; then exit 1; fi
