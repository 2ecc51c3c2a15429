#!/bin/sh
# SPDX-License-Identifier: MIT
#
# threads.sh: checks that the output does not depend on the number of threads, nor on the pieces in which a module is
# read: all samples, some random programs and modules with calls, on one thread, on eight, and on eight in pieces of one
# function each. The same for messages about modules of several pieces. Uses ThreadSanitizer if the compiler supports it.
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
for file in samples/ptx/*.ptx samples/handwritten/*.ptx samples/handwritten/*.ori "$work"/random*.ptx \
    tests/golden/phases/OriInline/*.ptx tests/golden/phases/OriDe*/*.ptx; do
    "$ORIOPT" "$file" -o "$work/one" || bad "$file"
    compare "$file" "$file" "$ORIOPT" -j8
    compare "$file" "$file" "$ORIOPT" -j8 --piece=1
    compare "$file, the printed plan" "$file" "$ORIOPT" --named-phases="$("$ORIOPT" --print-pipeline "$file")"
    [ "$watched" ] && compare "$file under ThreadSanitizer" "$file" "$watched" -j8 --piece=1
done
for file in tests/golden/phases/GlobalOpt/*.ptx; do
    "$ORIOPT" --internalize '*' "$file" -o "$work/one" || bad "$file"
    compare "$file" "$file" "$ORIOPT" --internalize '*' -j8
    compare "$file" "$file" "$ORIOPT" --internalize '*' -j8 --piece=1
done

# pieces NAME FILE OPTIONS...: checks that output, messages and exit status are those of one thread, with pieces of one
# item each.
pieces() {
    name=$1 file=$2
    shift 2
    expected=$name
    rm -f "$work/one"
    "$ORIOPT" "$@" --piece=1 "$file" -o "$work/one" 2>"$work/one.err"
    status=$?
    for program in "$ORIOPT" ${watched:+"$watched"}; do
        for threads in 2 8; do
            name="$expected, $program -j$threads"
            rm -f "$work/other"
            TSAN_OPTIONS=exitcode=66 "$program" -j$threads "$@" --piece=1 "$file" -o "$work/other" 2>"$work/err"
            is $? $status
            same "$work/one.err" "$work/err"
            if [ -e "$work/one" ]; then same "$work/one" "$work/other"; else absent "$work/other"; fi
        done
    done
    name=$expected
}

head=".version 8.0
.target sm_80
.address_size 64"
# definition NAME BODY
definition() {
    printf '.visible .func (.param .b32 r) %s(.param .b32 p)\n{\n\t.reg .b32 %%r<4>;\n%s\tret;\n}\n' "$1" "$2"
}
# Declared before and after it was found pure; the calls of it are dead.
{
    echo "$head"
    echo '.func (.param .b32 r) f(.param .b32 p);'
    definition f '	ld.param.b32 %r1, [p];
	st.param.b32 [r], %r1;
'
    for k in 1 2 3 4; do
        echo ".global .u32 v$k = $k;"
        echo '.func (.param .b32 r) f(.param .b32 p);'
        definition "g$k" "	{
	.param .b32 a, b;
	st.param.b32 [a], $k;
	call (b), f, (a);
	ld.param.b32 %r1, [b];
	}
	st.param.b32 [r], 1$k;
"
    done
} >"$work/pieces.ptx"
pieces "a function that is declared again" "$work/pieces.ptx"
is "$(grep -c call "$work/one")" 0
{
    cat "$work/pieces.ptx"
    definition h '	frob.b32 %r1, %r2;
	mapa.u64 %r1;
'
} >"$work/warned.ptx"
pieces "warnings of a later piece" "$work/warned.ptx"
{
    cat "$work/pieces.ptx"
    definition h '	add.s32 %r1, %r2;
	add.s32 %r9, %r2, 1;
'
    echo '.global .u32 v1;'
    definition i '	add.s32 %r7, %r2, 1;
'
} >"$work/errors.ptx"
pieces "errors of a later piece" "$work/errors.ptx"
pieces "errors up to a limit" "$work/errors.ptx" --max-errors=2
pieces "errors as JSON" "$work/errors.ptx" --diagnostics=json
pieces "too many instructions" "$work/pieces.ptx" --max-insns=20
pieces "a function that is not there" "$work/pieces.ptx" --entry=none
name="a memory limit"
"$ORIOPT" -j2 --piece=1 --max-memory=150000 "$work/pieces.ptx" -o "$work/limited" 2>"$work/err"
is $? 4
is "$(grep -c 'memory limit' "$work/err")" 1
absent "$work/limited"
finish
