#!/bin/sh
# SPDX-License-Identifier: MIT
#
# threads.sh: checks that the output does not depend on the number of threads, nor on the pieces in which a module is
# read: all samples and some random programs, on one thread, on eight, and on eight in pieces of one function each. Uses
# ThreadSanitizer if the compiler supports it.
#
#   tests/programs/threads.sh [-q]        -q: without ThreadSanitizer
#
# Ends in `N passed, N failed, N skipped`. Environment: ORIOPT (default build/oriopt; origen lies beside it), CC.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
needs "$ORIOPT" "$ORIGEN"
B=${ORIOPT%/*}
make_work
# compare NAME FILE PROGRAM OPTIONS...: compares the program's output with $work/one.
compare() {
    name=$1 file=$2 program=$3
    shift 3
    if ! TSAN_OPTIONS=exitcode=66 "$program" "$@" "$file" -o "$work/other" 2>"$work/err"; then
        bad "$name $*: $(grep -m 1 -E 'WARNING|error' "$work/err")"
    elif cmp -s "$work/one" "$work/other"; then
        ok
    else
        bad "$name $*: other bytes than on one thread"
    fi
}

watched=
if [ "${1-}" != -q ]; then
    echo 'int main(void) { return 0; }' >"$work/try.c"
    if $CC -fsanitize=thread -o "$work/try" "$work/try.c" 2>/dev/null && "$work/try"; then
        watched=$B/tsan/oriopt
        make -s B="$B/tsan" CFLAGS="-O1 -g" SANITIZE=-fsanitize=thread "$watched" || bad "cannot build $watched"
    else
        skip "$CC has no ThreadSanitizer here"
    fi
fi

seed=1
while [ $seed -le 40 ]; do
    "$ORIGEN" --seed $seed -o "$work/random$seed.ptx"
    seed=$((seed + 1))
done
for file in samples/ptx/*.ptx samples/handwritten/*.ptx samples/handwritten/*.ori "$work"/random*.ptx; do
    "$ORIOPT" "$file" -o "$work/one" || bad "$file"
    compare "$file" "$file" "$ORIOPT" -j8
    compare "$file" "$file" "$ORIOPT" -j8 --piece=1
    [ "$watched" ] && compare "$file under ThreadSanitizer" "$file" "$watched" -j8
done
finish
