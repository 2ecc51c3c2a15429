#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh: runs the tests, in three layers (tests/README.md lists the parts and their times).
#
#   tests/check.sh [quick | check | all]        default: check
#
# The parts run in two lanes, the longest first. After each part check.sh prints its messages, and a line with its
# counts and CPU seconds. The last line is `N passed, N failed, N skipped` for all. Exit 0 all passed, 1 failed.
#
# Run by `make check-quick`, `make check` and `make check-all`. Environment: B, folder of the programs (build); P=Name,
# only the tests of that phase; SANITIZE, the sanitizer options of the build; CC, RE2C, MAKE.
layer=${1:-check}
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 2
B=${B:-build}
programs=$(absolute "$B")
ORIOPT=$programs/oriopt
ORIRUN=$programs/orirun
ORICHECK=$programs/oricheck
ORIGEN=$programs/origen
export ORIOPT ORICHECK ORIRUN ORIGEN CC
results=$programs/check

# oricheck is one process for many files. A sanitizer must abort it, so that it prints the name of the failing file.
oricheck() {
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}abort_on_error=1 \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:abort_on_error=1 "$ORICHECK" "$@"
}

# Prints the folder of tests with the nearest name.
nearest() {
    ls tests/golden/phases | awk -v want="$1" '
    function distance(a, b,    i, j, row, diagonal, above, best) {
        for (j = 0; j <= length(b); j++) row[j] = j
        for (i = 1; i <= length(a); i++) {
            diagonal = row[0]
            row[0] = i
            for (j = 1; j <= length(b); j++) {
                above = row[j]
                best = diagonal + (substr(a, i, 1) != substr(b, j, 1))
                if (above + 1 < best) best = above + 1
                if (row[j-1] + 1 < best) best = row[j-1] + 1
                row[j] = best
                diagonal = above
            }
        }
        return row[length(b)]
    }
    { d = distance(tolower(want), tolower($0)); if (NR == 1 || d < least) { least = d; name = $0 } }
    END { print name }'
}

if [ "${P-}" ]; then
    if [ ! -d "tests/golden/phases/$P" ]; then
        echo "check.sh: there are no tests in tests/golden/phases/$P; the nearest name is $(nearest "$P")" >&2
        exit 2
    fi
    oricheck "tests/golden/phases/$P"
    exit
fi

# -- Parts -------------------------------------------------------------------------------------------------------------

# Compares each generated lexer with the output of re2c, if the version of re2c is the one that made the lexer.
lexers() {
    for re in $(find ir knobs -name '*.re'); do
        c=${re%.re}.c
        here=$(re2c --version 2>/dev/null)
        want=$(sed -n '1s/.*by \(re2c [0-9.]*\).*/\1/p' "$c")
        if [ "$here" != "$want" ]; then
            skip "$re: made by $want, ${here:-no re2c} is here"
        elif ${RE2C:-re2c} "$re" | cmp -s - "$c"; then
            ok
        else
            bad "$re: $c is not what re2c makes of it; run make lexers"
        fi
    done
    finish
}

# Compiles the sources with clang, without warnings.
warnings() {
    have clang || {
        skip "no clang"
        finish
    }
    for file in ir/*/*.c knobs/*.c phases/*/*.c phases/*/*/*.c sm/*.c tools/*/*.c tests/unit/*.c tests/proofs/*.c tests/net/*.c; do
        if clang -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only "$file"; then ok; else bad "$file"; fi
    done
    finish
}

format() {
    said=$(${MAKE:-make} -s format-check 2>&1)
    status=$?
    printf '%s\n' "$said"
    case $status,$said in
    0,SKIP*) skipped=1 ;;
    0,*) ok ;;
    *) bad "clang-format" ;;
    esac
    finish
}

# Runs the unit tests, except those that take seconds.
quick_units() {
    # shellcheck disable=SC2046
    "$B/unit" $(sed -n 's/^ *X(\([a-z_]*\)).*/\1/p' tests/unit/main.c |
        grep -vxE 'ssa|softfloat|control|phis|rdefs|recovery|ori|eval|live|logic|batch|diff')
}

# Runs samples that exercise many phases: memory, loops, calls, logic, divergence.
quick_net() {
    tests/net/diff.sh -q samples/run/structs.run samples/run/local_array.run samples/run/fsm.run samples/run/linkage.run \
        samples/run/handwritten/flow.run samples/run/handwritten/phis.run
}

# Fails unless all mutants are caught.
mutants() {
    tests/mutants/mutants.sh
    status=$?
    [ $status -eq 0 ] && ok || bad "exit status $status"
    finish
}

# Runs each fuzzer for two minutes.
fuzzers() {
    ${MAKE:-make} -s fuzz || bad "make fuzz"
    for target in run text knobs link; do
        if [ ! -x "build-fuzz/fuzz-$target" ]; then
            skip "$target: no libFuzzer"
        elif tests/fuzz/fuzz.sh -s 120 $target; then
            ok
        else
            bad "$target"
        fi
    done
    finish
}

# Fails if a phase takes more host instructions than its cap.
counts() {
    (unset B P SANITIZE MAKEFLAGS MFLAGS MAKELEVEL ORIOPT && ${MAKE:-make} --no-print-directory bench-count)
}

# Runs all of `check` under sanitizers, with the compiler CC.
asan() { # CC FOLDER
    have "$1" || {
        skip "no $1"
        finish
    }
    (unset B P SANITIZE MAKEFLAGS MFLAGS MAKELEVEL ORIOPT && ${MAKE:-make} --no-print-directory CC="$1" ASAN="$2" asan)
}

# Runs a part. Some parts do less under sanitizers.
part() { # NAME
    case $1 in
    lexers | warnings | format) $1 ;;
    layers | prose | claims) "tests/$1.sh" ;;
    read | phases | text) oricheck "tests/golden/$1" ;;
    grammar) tests/grammar.sh ;;
    oricheck | cli | link | messages | files | knobs | orirun | progress | install | package | ptxrun | readme | faults | races | origen | malformed | ptxas_dropin | redundant) B=$programs "tests/programs/$1.sh" ;;
    all-link) B=$programs tests/link/samples.sh ;;
    link-scenarios | link-golden | link-nvlink | link-banks | link-traps | link-constants) B=$programs "tests/link/${1#link-}.sh" ;;
    samples) tests/net/samples.sh ;;
    vectors | verdicts) "tests/exec/$1.sh" ;;
    same | features | defects) "tests/ptxas/$1.sh" ;;
    words) tests/ptxas/words.sh -q ;;
    versions) tests/ptxas/versions.sh -q ;;
    all-versions) tests/ptxas/versions.sh ;;
    all-words) tests/ptxas/words.sh ;;
    meaning) tests/ptxas/meaning.sh -q ;;
    all-meaning) tests/ptxas/meaning.sh ;;
    gpurun) B=$programs tests/gpu/run.sh --self-test ;;
    gpu) B=$programs tests/gpu/run.sh ;;
    quick-unit) quick_units ;;
    unit) "$B/unit" ;;
    quick-rules) "$B/rules" -q -n -p tests/proofs/proven ;;
    rules) "$B/rules" ${SANITIZE:+-q} -p tests/proofs/proven -p "$B/proven" ;;
    all-rules) "$B/rules" ;;
    quick-net) quick_net ;;
    net) if [ "${SANITIZE-}" ]; then tests/net/diff.sh -q; else tests/net/diff.sh -c; fi ;;
    all-net) tests/net/diff.sh ;;
    threads | embed) B=$programs "tests/programs/$1.sh" -q ;;
    all-threads | all-embed) B=$programs "tests/programs/${1#all-}.sh" ;;
    ptxas) tests/ptxas/ptxas.sh --tree --compare ;;
    all-ptxas) tests/ptxas/ptxas.sh --compare ;;
    random) tests/fuzz/diff.sh 5000 ;;
    globals) if [ "${SANITIZE-}" ]; then tests/fuzz/globals.sh 12; else tests/fuzz/globals.sh 48; fi ;;
    all-globals) tests/fuzz/globals.sh 3000 ;;
    mutants) mutants ;;
    counts) counts ;;
    asan) asan "$CC" build-asan ;;
    asan-clang) asan clang build-asan-clang ;;
    fuzzers) fuzzers ;;
    esac
}

# Parts of each layer, the longest first.
small='read phases text samples faults races orirun oricheck layers prose claims grammar lexers'
quick="quick-net quick-unit quick-rules files $small"
judges='same features defects'
check="net ptxas rules meaning link-scenarios unit verdicts vectors malformed knobs origen globals embed messages ptxas_dropin cli link-nvlink link-banks link-traps link-constants ptxrun install package link link-golden readme threads files redundant words versions $judges $small"
# Excluded under sanitizers: gpurun, which is not built with sanitizers, and checks of sources, which do not change.
[ "${SANITIZE-}" ] || check="$check gpurun gpu warnings format"
all="asan asan-clang all-ptxas all-link all-words all-versions all-meaning mutants counts random all-globals all-net fuzzers all-rules unit all-threads all-embed link-scenarios verdicts vectors
    malformed knobs progress warnings format origen messages ptxas_dropin cli link-nvlink link-banks link-traps link-constants ptxrun install package link link-golden readme files redundant $judges $small gpurun gpu"

# -- One part ----------------------------------------------------------------------------------------------------------

# Runs a part, with its output in NAME.log; NAME.shown has the shown lines and the summary. Prints the name at the end.
run_part() { # NAME
    log=$results/$1.log
    (part "$1") >"$log" 2>&1
    status=$?
    times >"$log.times" # the second line has the times of the child processes
    seconds=$(sed -n 2p "$log.times" | tr 'ms' '  ' | awk '{ printf "%.1f", 60 * $1 + $2 + 60 * $3 + $4 }')
    last=$(tail -n 1 "$log")
    case $last in
    *passed,*failed*) ;;
    *)
        echo "$1: no closing line (exit status $status)" >>"$log"
        last='0 passed, 1 failed'
        ;;
    esac
    case $status,$last in
    0,*) ;;
    *', 0 failed'*) last='0 passed, 1 failed' && echo "$1: exit status $status" >>"$log" ;;
    esac
    {
        grep -E '^SKIP|^FAIL|: error|fail' "$log" | grep -v '^[0-9]* passed' | head -n 40
        case $last in
        *', 0 failed'*) ;;
        *) tail -n 40 "$log" ;;
        esac
        echo "$1: $last ($seconds s)"
    } >"$results/$1.shown"
    echo "$last" >"$results/$1.counts"
    echo "$1"
}

if [ "$layer" = --part ]; then
    run_part "$2"
    exit 0
fi

# -- All parts ---------------------------------------------------------------------------------------------------------

case $layer in
quick) parts=$quick ;;
check) parts=$check ;;
all) parts=$all ;;
*) usage "check.sh [quick | check | all]" ;;
esac
needs "$ORIOPT" "$ORIRUN" "$ORICHECK" "$ORIGEN"
lanes=2
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
JOBS=${JOBS:-$(((cores + 1) / lanes))}
export JOBS B
rm -rf "$results"
mkdir -p "$results" || exit 2
started=$(date +%s)
# shellcheck disable=SC2086
printf '%s\n' $parts | xargs -P $lanes -n 1 sh "$root/tests/check.sh" --part | {
    n=0
    total=$(echo $parts | wc -w)
    while read -r name; do
        n=$((n + 1))
        sed "\$s,^,[$n/$total] ," "$results/$name.shown"
    done
}
# shellcheck disable=SC2086
for name in $parts; do
    cat "$results/$name.counts" 2>/dev/null || echo "0 passed, 1 failed"
done >"$results/counts"
# shellcheck disable=SC2086
printf '%s\n' $parts | sed "s,.*,$results/&.shown," | xargs tail -qn 1 | sed -n 's/.*(\([0-9.]*\) s)$/\1/p' |
    awk -v wall=$(($(date +%s) - started)) '{ s += $1 } END { printf "%.0f CPU seconds, %d seconds\n", s, wall }'
awk '{ for (k = 2; k <= NF; k++) { if ($k ~ /^passed/) p += $(k-1); if ($k ~ /^failed/) f += $(k-1); if ($k ~ /^skipped/) s += $(k-1) } }
     END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$results/counts"
