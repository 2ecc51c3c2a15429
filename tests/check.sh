#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh: all tests, one closing line `N passed, N failed, N skipped` for them together. Run by `make check`, which
# says in B where the programs are. With P=Name only the tests of that phase.
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
case $B in /*) programs=$B ;; *) programs=$PWD/$B ;; esac
ORIOPT=$programs/oriopt
ORIRUN=$programs/orirun
ORICHECK=$programs/oricheck
export ORIOPT ORICHECK ORIRUN
# oricheck is one process for many files: let it say in which of them a sanitizer found something.
oricheck() {
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}abort_on_error=1 \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:abort_on_error=1 "$ORICHECK" "$@"
}

# The folder of tests whose name is most like this one.
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
log=$B/check.log
: >"$B/counts"

# run NAME COMMAND...: shows what the part prints, keeps its closing line
run() {
    name=$1
    shift
    "$@" >"$log" 2>&1
    status=$?
    last=$(tail -n 1 "$log")
    case $last in
    *passed,*failed*) ;;
    *)
        echo "$name: no closing line (exit status $status)" >>"$log"
        last='0 passed, 1 failed'
        ;;
    esac
    case $status,$last in
    0,*) ;;
    *', 0 failed'*) last='0 passed, 1 failed' && echo "$name: exit status $status" >>"$log" ;;
    esac
    grep -E '^SKIP|^FAIL|: error|fail' "$log" | grep -v '^[0-9]* passed' | head -n 40
    case $last in
    *', 0 failed'*) ;;
    *) tail -n 40 "$log" ;;
    esac
    echo "$name: $last"
    echo "$last" >>"$B/counts"
}

# The generated lexer is what re2c makes of its source, if this is the re2c that made it.
lexers() {
    passed=0 failed=0 skipped=0
    for re in $(find ir knobs -name '*.re'); do
        c=${re%.re}.c
        have=$(re2c --version 2>/dev/null)
        want=$(sed -n '1s/.*by \(re2c [0-9.]*\).*/\1/p' "$c")
        if [ "$have" != "$want" ]; then
            echo "SKIP $re: made by $want, ${have:-no re2c} is here"
            skipped=$((skipped + 1))
        elif ${RE2C:-re2c} "$re" | cmp -s - "$c"; then
            passed=$((passed + 1))
        else
            echo "FAIL $re: $c is not what re2c makes of it; run make lexers"
            failed=$((failed + 1))
        fi
    done
    echo "$passed passed, $failed failed, $skipped skipped"
}

run lexers lexers
run layers tests/layers.sh
run unit "$B/unit"
run rules "$B/rules" ${SANITIZE:+-q}
run read oricheck tests/golden/read
run phases oricheck tests/golden/phases
run text oricheck tests/golden/text
run grammar tests/grammar.sh
run oricheck tests/programs/oricheck.sh
run cli tests/programs/cli.sh
run files tests/programs/files.sh
run knobs tests/programs/knobs.sh
run orirun tests/programs/orirun.sh
run install env B="$programs" tests/programs/install.sh
run faults tests/programs/faults.sh
run samples tests/net/samples.sh
run vectors tests/exec/vectors.sh
run same tests/ptxas/same.sh
run origen tests/programs/origen.sh
run threads tests/programs/threads.sh ${SANITIZE:+-q}
run embed env B="$programs" tests/programs/embed.sh ${SANITIZE:+-q}
run diff tests/net/diff.sh ${SANITIZE:+-q}
# The program that stands between a GPU's driver and ours is not built with sanitizers.
[ "${SANITIZE-}" ] || run gpurun tests/gpu/run.sh --self-test
[ "${SANITIZE-}" ] || run gpu tests/gpu/run.sh
run malformed tests/programs/malformed.sh
run verdicts tests/exec/verdicts.sh
run features tests/ptxas/features.sh
run defects tests/ptxas/defects.sh
run ptxas tests/ptxas/ptxas.sh --quick --compare

awk '{ for (k = 2; k <= NF; k++) { if ($k ~ /^passed/) p += $(k-1); if ($k ~ /^failed/) f += $(k-1); if ($k ~ /^skipped/) s += $(k-1) } }
     END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$B/counts"
