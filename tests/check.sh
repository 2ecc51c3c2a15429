#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh: all tests, one closing line `N passed, N failed, N skipped` for them together. Run by `make check`, which
# says in B where the programs are.
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
ORIOPT=$PWD/$B/oriopt
export ORIOPT
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
run read tests/run.sh tests/read
run phases tests/run.sh tests/phases
run cli tests/cli.sh
run malformed tests/malformed.sh
run ptxas tests/ptxas.sh --quick --compare

awk '{ for (k = 2; k <= NF; k++) { if ($k ~ /^passed/) p += $(k-1); if ($k ~ /^failed/) f += $(k-1); if ($k ~ /^skipped/) s += $(k-1) } }
     END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$B/counts"
