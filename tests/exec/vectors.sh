#!/bin/sh
# SPDX-License-Identifier: MIT
#
# vectors.sh: the evaluator's tables (tests/exec) as kernels of one instruction, which orirun runs on all cases.
# unit/eval.c runs the same cases; here they pass through the reader, memory and registers. A kernel is a test. With
# ptxas on the PATH it must assemble each module, which is a test, too. What fails is kept in build/vectors-fail/.
#
#   tests/exec/vectors.sh [TABLES...]             default: tests/exec/*.vec, and then at least 600 kernels must have run
#
# One line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIRUN, the program to test (default: beside ORIOPT, or build/orirun); CC.

set -u
LC_ALL=C
export LC_ALL
# A sanitizer's report is a failure of its own, not a difference.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99
export ASAN_OPTIONS UBSAN_OPTIONS
cd "$(dirname "$0")/../.." || exit 2
[ "${ORIRUN-}" ] || ORIRUN=${ORIOPT:+$(dirname "$ORIOPT")/orirun}
ORIRUN=${ORIRUN:-build/orirun}
least=0
if [ $# -eq 0 ]; then
    least=600
    set -- tests/exec/*.vec
fi
if [ ! -x "$ORIRUN" ] || [ ! -f "$1" ]; then
    echo "usage: vectors.sh [TABLES...] (after make, or with ORIRUN set)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ori-vectors.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 60"
mkdir -p build || exit 2
${CC:-cc} -std=c11 -O1 -o build/veckernels tests/exec/veckernels.c || exit 2

passed=0 failed=0 skipped=0 kernels=0 cases=0 left_out=0
bad() {
    failed=$((failed + $1))
    echo "FAIL vectors.sh: $2"
}

# missed LAUNCHES MESSAGES: of the launches that ran, those that orirun complains of
missed() {
    awk 'FILENAME == ARGV[1] { ran += /^launch [0-9]+ entry /; next }
         match($0, /: error: launch [0-9]+/) && !seen[substr($0, RSTART + 16, RLENGTH - 16)]++ { n++ }
         END { print ran + 0, n + 0 }' "$1" "$2"
}

# differences RUN MESSAGES: these with the instructions, which end in the line of the table
differences() {
    awk 'FILENAME == ARGV[1] { if (/^entry /) entry[++n] = $2; next }
         !/error: |ERROR: / { next }
         match($0, /launch [0-9]+: /) {
             $0 = entry[substr($0, RSTART + 7, RLENGTH - 9)] ": " substr($0, RSTART + RLENGTH)
         }
         { print }' "$1" "$2"
}
keep() {
    mkdir -p build/vectors-fail
    cp "$1.ptx" "$1.run" build/vectors-fail
}

# A module that is being assembled while orirun runs it. After a fault of a kernel the launches behind it do not run:
# they count as failed.
run_module() {
    run=$1 module=${1%.run}
    assembler=
    if [ "$ptxas" ]; then
        $limit ptxas -arch "${module##*.}" -o "$module.cubin" "$module.ptx" >"$module.ptxas" 2>&1 &
        assembler=$!
    fi
    $limit "$ORIRUN" "$run" >"$module.out" 2>"$module.err" </dev/null
    status=$?
    # Two numbers.
    set -- "$2" $(missed "$module.out" "$module.err")
    if [ $status -eq 0 ] && [ "$2" -eq "$1" ] && [ "$3" -eq 0 ]; then
        passed=$((passed + $1))
    else
        wrong=$(($1 - $2 + $3))
        [ "$wrong" -gt 0 ] || wrong=1
        passed=$((passed + $1 - wrong))
        differences "$run" "$module.err" | head -n 20
        keep "$module"
        bad $wrong "${module##*/}: exit status $status, $2 of $1 kernels ran, $3 of them wrong (build/vectors-fail)"
    fi
    kernels=$((kernels + $2))
    [ "$assembler" ] || return
    if wait "$assembler"; then
        passed=$((passed + 1))
    else
        head -n 5 "$module.ptxas"
        keep "$module"
        bad 1 "${module##*/}: ptxas rejects the module (build/vectors-fail)"
    fi
}

ptxas=$(command -v ptxas)
if [ ! "$ptxas" ]; then
    skipped=1
    echo 'SKIP vectors.sh: no ptxas on the PATH: the modules are not assembled'
fi
for table; do
    if ! build/veckernels "$table" "$work" >"$work/modules"; then
        bad 1 "$table: no kernels were made of it"
        continue
    fi
    while read -r run n c left; do
        cases=$((cases + c))
        left_out=$((left_out + left))
        run_module "$run" "$n"
    done <"$work/modules"
done
[ "$kernels" -ge $least ] || bad 1 "only $kernels kernels ran"
echo "$kernels kernels ran on $cases cases; $left_out more have a result that the ISA leaves open"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
