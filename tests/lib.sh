# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
#
# lib.sh: functions and variables of the test scripts. A script begins with
#
#     . "$(dirname "$0")/../lib.sh"
#
# and ends with `finish`. lib.sh sets
#
#   $root, $script             the tree, and the name of the script
#   $ORIOPT                    from the environment, or in build/; absolute, as are the next three
#   $ORIRUN $ORICHECK $ORIGEN  from the environment, or beside $ORIOPT
#   $CC                        from the environment, or cc
#   $limit                     a command prefix with a time limit, if timeout(1) exists
#
# Messages are `FAIL SCRIPT: NAME: TEXT`, with the $name of the current case, if there is one. A sanitizer's report
# gives exit status 99, which no program uses.

set -u
LC_ALL=C
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99
export LC_ALL ASAN_OPTIONS UBSAN_OPTIONS
script=${0##*/}
root=$(cd "$(dirname "$0")" && until [ -f tests/lib.sh ] || [ "$PWD" = / ]; do cd ..; done && pwd) || exit 2
CC=${CC:-cc}

absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
have() { command -v "$1" >/dev/null 2>&1; }

ORIOPT=$(absolute "${ORIOPT:-$root/build/oriopt}")
ORIRUN=$(absolute "${ORIRUN:-${ORIOPT%/*}/orirun}")
ORICHECK=$(absolute "${ORICHECK:-${ORIOPT%/*}/oricheck}")
ORIGEN=$(absolute "${ORIGEN:-${ORIOPT%/*}/origen}")
limit=
! have timeout || limit='timeout 60'

# usage TEXT: reports a wrong command line.
usage() {
    echo "usage: $1" >&2
    exit 2
}
# needs FILE...: ends the script unless the programs under test exist.
needs() {
    for file; do
        [ -x "$file" ] || usage "$script: there is no '$file' (run make, or set ORIOPT)"
    done
}
# Makes the folder $work, and removes it at the end of the script.
make_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/ori-${script%.sh}.XXXXXX") || exit 2
    trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
    trap 'exit 2' HUP INT TERM
}

# -- Counts ------------------------------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0 name=

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $script: ${name:+$name: }$1"
}
skip() {
    skipped=$((skipped + 1))
    echo "SKIP $script: ${name:+$name: }$1"
}
# finish: prints the closing line; exit status 1 if a check failed.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
# without_ptxas: ends the script if there is no ptxas.
without_ptxas() {
    have ptxas && return
    skip "there is no ptxas on the PATH"
    finish
}

# -- Checks ------------------------------------------------------------------------------------------------------------

# exits NAME STATUS COMMAND...: runs a command, with stdout in `out` and stderr in `err`. A crash or another exit status
# is a failure.
exits() {
    name=$1 want=$2
    shift 2
    $limit "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$want" ]; then ok; else bad "exit $got, expected $want: $(head -n 1 err | cut -c1-150)"; fi
    [ $got -eq "$want" ]
}
is() { if [ "$1" = "$2" ]; then ok; else bad "$(printf '`%s` instead of `%s`' "$1" "$2" | head -n 4 | cut -c1-200)"; fi; }
says() { if grep -qF -e "$2" "$1"; then ok; else bad "std$1 does not say \`$2\`: $(head -n 1 "$1" | cut -c1-150)"; fi; }
silent() { if [ ! -s "$1" ]; then ok; else bad "std$1 should be empty: $(head -n 1 "$1" | cut -c1-150)"; fi; }
same() { if cmp -s "$1" "$2"; then ok; else bad "$1 and $2 differ: $(diff "$1" "$2" | head -n 3 | cut -c1-150)"; fi; }
absent() { if [ ! -e "$1" ]; then ok; else bad "$1 was left"; fi; }
# runs COMMAND...: checks that a command succeeds and prints nothing.
runs() {
    if "$@" >"$work/out" 2>&1 && [ ! -s "$work/out" ]; then ok; else bad "$1: $(head -n 3 "$work/out")"; fi
}
# made TARGETS...: runs make, without the settings of an outer make.
made() {
    (unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR && make -s "$@") >"$work/out" 2>&1 || bad "make $*: $(tail -n 2 "$work/out")"
}
# repeat TEXT N: prints TEXT N times.
repeat() { awk -v s="$1" -v n="$2" 'BEGIN { while (n-- > 0) printf "%s", s }'; }
