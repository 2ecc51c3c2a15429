#!/bin/sh
# SPDX-License-Identifier: MIT
#
# vectors.sh: runs the evaluator's tables (tests/exec) in orirun, as kernels of one instruction that cover all cases.
# unit/eval.c runs the same cases; here the reader, memory and registers take part. A kernel is a test. If ptxas is on
# the PATH, it must assemble each module, which is also a test. Failing modules stay in build/vectors-fail/.
#
#   tests/exec/vectors.sh [TABLES...]             default: tests/exec/*.vec, and then at least 600 kernels must have run
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIRUN, the program to test (default: beside ORIOPT, or build/orirun); CC.

. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
least=0
if [ $# -eq 0 ]; then
    least=600
    set -- tests/exec/*.vec
fi
[ -f "$1" ] || usage "vectors.sh [TABLES...]"
needs "$ORIRUN"
make_work
mkdir -p build || exit 2
$CC -std=c11 -O1 -o build/veckernels tests/exec/veckernels.c || exit 2

kernels=0 cases=0 left_out=0
# wrong N TEXT: counts N failed kernels.
wrong() {
    bad "$2"
    failed=$((failed + $1 - 1))
}

# missed LAUNCHES MESSAGES: prints the numbers of launches that ran and of launches with errors.
missed() {
    awk 'FILENAME == ARGV[1] { ran += /^launch [0-9]+ entry /; next }
         match($0, /: error: launch [0-9]+/) && !seen[substr($0, RSTART + 16, RLENGTH - 16)]++ { n++ }
         END { print ran + 0, n + 0 }' "$1" "$2"
}

# differences RUN MESSAGES: prints the messages with the kernels' names, which end in the line of the table.
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

# run_module RUN N: runs a module of N kernels while ptxas assembles it. After a fault of a kernel, the remaining
# launches do not run and count as failed.
run_module() {
    run=$1 module=${1%.run}
    assembler=
    if [ "$ptxas" ]; then
        $limit ptxas -arch "${module##*.}" -o "$module.cubin" "$module.ptx" >"$module.ptxas" 2>&1 &
        assembler=$!
    fi
    $limit "$ORIRUN" "$run" >"$module.out" 2>"$module.err" </dev/null
    status=$?
    # missed prints two numbers.
    set -- "$2" $(missed "$module.out" "$module.err")
    if [ $status -eq 0 ] && [ "$2" -eq "$1" ] && [ "$3" -eq 0 ]; then
        passed=$((passed + $1))
    else
        n=$(($1 - $2 + $3))
        [ "$n" -gt 0 ] || n=1
        passed=$((passed + $1 - n))
        differences "$run" "$module.err" | head -n 20
        keep "$module"
        wrong $n "${module##*/}: exit status $status, $2 of $1 kernels ran, $3 of them wrong (build/vectors-fail)"
    fi
    kernels=$((kernels + $2))
    [ "$assembler" ] || return
    if wait "$assembler"; then
        ok
    else
        head -n 5 "$module.ptxas"
        keep "$module"
        bad "${module##*/}: ptxas rejects the module (build/vectors-fail)"
    fi
}

ptxas=$(command -v ptxas)
[ "$ptxas" ] || skip 'no ptxas on the PATH: the modules are not assembled'
for table; do
    if ! build/veckernels "$table" "$work" >"$work/modules"; then
        bad "$table: no kernels were made of it"
        continue
    fi
    while read -r run n c left; do
        cases=$((cases + c))
        left_out=$((left_out + left))
        run_module "$run" "$n"
    done <"$work/modules"
done
[ "$kernels" -ge $least ] || bad "only $kernels kernels ran"
echo "$kernels kernels ran on $cases cases; $left_out more have a result that the ISA leaves open"
finish
