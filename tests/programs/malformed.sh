#!/bin/sh
# SPDX-License-Identifier: MIT
#
# malformed.sh [RUNS]: tests damaged and hostile input, PTX and Ori text. oriopt must end with status 0 or 1; with 1 it
# must print an error with a position and leave no output. RUNS (default 50) is the number of seeds per kind of damage.
# Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
needs "$ORIOPT"
runs=${1:-50}
make_work
dir=$work
$CC -O1 -o "$dir/mutate" tests/programs/mutate.c || exit 2

fail() {
    name=$1
    bad "$2 (build/malformed-fail/$((failed + 1)).ptx)"
    mkdir -p build/malformed-fail
    cp "$dir/in" "build/malformed-fail/$failed.ptx" 2>/dev/null
    head -n 5 "$dir/err"
}

# judge NAME WANT: runs oriopt on `in`; WANT is a status or `any` (0 or 1).
judge() {
    rm -f "$dir/out"
    timeout 60 "$ORIOPT" --verify=each "$dir/in" -o "$dir/out" 2>"$dir/err"
    status=$?
    if [ $status -gt 1 ] || { [ "$2" != any ] && [ $status -ne "$2" ]; }; then
        fail "$1" "exit status $status"
    elif [ $status -eq 1 ] && ! grep -q '^[^:]*:[0-9][0-9]*:[0-9][0-9]*: error: ' "$dir/err"; then
        fail "$1" 'no error with a position'
    elif [ $status -eq 1 ] && { [ -e "$dir/out" ] || ls "$dir" | grep -q tmp-; }; then
        fail "$1" 'an output was left'
    elif [ $status -eq 0 ] && [ ! -s "$dir/out" ]; then
        fail "$1" 'no output'
    else
        ok
    fi
}

header='.version 9.0
.target sm_80
.address_size 64
'
body() { printf '%s.visible .entry k()\n{\n\t.reg .b32 %%r<9>;\n\t.reg .pred %%p<3>;\n' "$header"; }

# -- Hostile shapes
{ body; repeat '{' 1000000; repeat '}' 1000000; echo '}'; } >"$dir/in"; judge 'a million scopes' 0
{ body; repeat '{' 1000000; } >"$dir/in"; judge 'a million open scopes' 1
{ body; printf '\tmov.b32 %%r1, '; repeat '(' 1000000; echo '1;}'; } >"$dir/in"; judge 'deep parentheses' 1
{ body; printf '\tmov.b32 %%r1, '; repeat '-' 1000000; echo '1;}'; } >"$dir/in"; judge 'a million signs' 1
{ body; printf '\tmov.b32 %%r1, '; repeat '1+' 1000000; echo '1;}'; } >"$dir/in"; judge 'a million terms' 0
{ body; printf '\tmov.b32 %%r1, '; repeat '1?1:' 1000000; echo '1;}'; } >"$dir/in"; judge 'a million ternaries' 1
{ body; printf '\tmov.b32 %%r1, '; repeat '[' 1000000; echo ';}'; } >"$dir/in"; judge 'deep brackets' 1
{ body; printf '\tmov.b32 '; repeat '%r1,' 100000; echo '%r1;}'; } >"$dir/in"; judge 'a hundred thousand operands' 1
{ body; repeat 'x.' 100000; echo ' %r1;}'; } >"$dir/in"; judge 'a long mnemonic' any
{ printf '%s.global .u32 g[2] = ' "$header"; repeat '{' 1000000; echo ';'; } >"$dir/in"; judge 'deep initializer' 1
{ printf '%s' "$header"; repeat '/*' 500000; } >"$dir/in"; judge 'open comments' 1
{ printf '%s' "$header"; repeat '"' 500001; } >"$dir/in"; judge 'many quotes' 1
{ printf '%s.section .x ' "$header"; repeat '{' 1000000; } >"$dir/in"; judge 'an open section' 1
{ body; repeat 'L: ' 3; echo 'ret;}'; } >"$dir/in"; judge 'a label three times' 1
{ body; awk 'BEGIN { for (k = 0; k < 100000; k++) printf "L%d: ", k }'; echo 'ret;}'; } >"$dir/in"; judge 'many labels' 0
{ body; awk 'BEGIN { for (k = 0; k < 100000; k++) printf "bra L%d;\n", k }'; echo '}'; } >"$dir/in"; judge 'undefined labels' 1
{ body; awk 'BEGIN { for (k = 0; k < 20000; k++) printf "{ .reg .b32 %%x; mov.b32 %%x, %%r1; bra M; M: }\n" }'; echo '}'; } >"$dir/in"
judge 'many scopes with one name' 0
{ body; repeat '{ @%p1 bra L; ' 300000; repeat '}' 300000; echo 'L: ret;}'; } >"$dir/in"; judge 'a label of many scopes' 0
{ printf '%s.visible .entry k()\n{\n.reg .b32 %%r<3000000>;\n.reg .b32 %%x<99999999999>;\n}\n' "$header"; } >"$dir/in"
judge 'too many registers' 1
{ printf '%s.global .b8 g[99999999999999];\n' "$header"; } >"$dir/in"; judge 'a huge array' 1
{ repeat a 3000000; } >"$dir/in"; judge 'a long word' 1
: >"$dir/in"; judge 'an empty file' 1
printf '\0\0\0\0' >"$dir/in"; judge 'NUL bytes' 1
{ body; printf '\tmov.b32 %%r1, \0 2;\n}\n'; } >"$dir/in"; judge 'a NUL in a body' 1
{ body; printf '\tret;\n}\n' ; } | sed 's/$/\r/' >"$dir/in"; judge 'CRLF' 0
{ body; printf '\tret;\n}'; } | tr '\n' '\r' >"$dir/in"; judge 'CR' 0
{ printf '\357\273\277'; body; printf '\tret;\n}'; } >"$dir/in"; judge 'a byte order mark' 0
head -c 4096 /dev/zero | tr '\0' ' ' >"$dir/in"; judge 'a page of blanks' 1
{ body; printf '\tret;\n}\n'; } >"$dir/short"; { cat "$dir/short"; head -c $((4096 - $(wc -c <"$dir/short"))) /dev/zero | tr '\0' ' '; } >"$dir/in"
judge 'a file that ends with its page' 0

# -- Hostile Ori text
ori() { printf 'target sm_80 ptx 9.0 address 64\n'; }
okern() { ori; printf 'kernel @k(@p: 64) visible form multi {\nb0:\n'; }
{ okern; repeat '{' 1000000; echo; echo '}'; } >"$dir/in"; judge 'Ori: deep brackets' 1
{ okern; printf '  R1:32 = mov.b32 '; repeat '-' 1000000; printf '1\n}\n'; } >"$dir/in"; judge 'Ori: a million signs' 1
{ okern; printf '  '; repeat 'R1:32, ' 100000; printf 'R2:32 = mov.b32 1\n}\n'; } >"$dir/in"; judge 'Ori: many definitions' 1
{ okern; repeat 'x.' 100000; printf ' R1\n}\n'; } >"$dir/in"; judge 'Ori: a long mnemonic' 1
{ okern; printf '  R16777215:32 = mov.b32 1\n  P16777215 = setp.eq.s32 R16777215, 1\n  exit\n}\n'; } >"$dir/in"; judge 'Ori: the last register' 0
{ okern; printf '  R16777216:32 = mov.b32 1\n  exit\n}\n'; } >"$dir/in"; judge 'Ori: beyond the last register' 1
{ okern; printf '  R99999999999999999999999:32 = mov.b32 1\n  exit\n}\n'; } >"$dir/in"; judge 'Ori: a register of many digits' 1
{ okern; printf '  bra b16777215\nb16777215:\n  exit\n}\n'; } >"$dir/in"; judge 'Ori: the last block' 0
{ okern; awk 'BEGIN { for (k = 1; k <= 100000; k++) printf "  bra b%d\nb%d:\n", k, k }'; printf '  exit\n}\n'; } >"$dir/in"; judge 'Ori: many blocks' 0
{ okern; awk 'BEGIN { for (k = 1; k <= 100000; k++) printf "  bra b%d\n", k }'; printf '}\n'; } >"$dir/in"; judge 'Ori: undefined blocks' 1
{ okern; awk 'BEGIN { for (k = 1; k <= 100000; k++) printf "  R%d:32 = add.s32 R%d, 1\n", k, k + 200000 }'; printf '  exit\n}\n'; } >"$dir/in"; judge 'Ori: undefined registers' 1
{ okern; printf '  exit\n'; } >"$dir/in"; judge 'Ori: an open function' 1
{ okern; printf '  ret  !'; repeat '9' 100000; printf '\n}\n'; } >"$dir/in"; judge 'Ori: a long line number' 1
{ okern; printf '  opaque "'; repeat 'a' 1000000; printf '"\n}\n'; } >"$dir/in"; judge 'Ori: a long name' any
{ okern; printf '  opaque "\\\n'; } >"$dir/in"; judge 'Ori: a backslash at the end of a line' 1
{ ori; printf 'global @g: .u32[4] = {'; repeat '{' 100000; printf '\n'; } >"$dir/in"; judge 'Ori: deep initializer' 1
{ ori; printf 'global @g: .u32[2] = {1, 2, 3}\n'; } >"$dir/in"; judge 'Ori: too many values' 1
{ ori; printf 'global @g size 9999999999999999\n'; } >"$dir/in"; judge 'Ori: a huge array' 1
{ ori; printf 'raw "'; repeat '\\x' 100000; printf '"\n'; } >"$dir/in"; judge 'Ori: bad escapes' 1
{ ori; repeat '(' 1000000; } >"$dir/in"; judge 'Ori: parentheses' 1
{ okern; printf '  R1:32 = mov.b32 \0 2\n}\n'; } >"$dir/in"; judge 'Ori: a NUL in a body' 1
printf '; nothing' >"$dir/in"; judge 'Ori: a comment only' 1
{ okern; printf '  ret\n}\n'; } | sed 's/$/\r/' >"$dir/in"; judge 'Ori: CRLF' 0
{ okern; awk 'BEGIN { printf "  R1:32 = mov.phi"; for (k = 0; k < 100000; k++) printf "%s b%d: R1", k ? "," : "", k; print "" }'; printf '}\n'; } >"$dir/in"
judge 'Ori: a long phi' 1

# -- Damage
mkdir "$dir/ori" && for file in samples/ptx/reduce.sm_80.ptx samples/ptx/calls.O0.ptx samples/ptx/linkage.sm_90.ptx samples/handwritten/*.ptx; do
    "$ORIOPT" --named-phases=NOP --emit=ori "$file" -o "$dir/ori/$(basename "$file" .ptx).ori" || exit 2
done
set -- samples/ptx/reduce.sm_80.ptx samples/ptx/calls.O0.ptx samples/ptx/linkage.sm_90.ptx samples/handwritten/*.ptx
set -- "$@" "$dir"/ori/*.ori
seed=0
while [ $seed -lt "$runs" ]; do
    for mode in truncate flip insert drop swap splice noise tokens; do
        file=$(printf '%s\n' "$@" | sed -n "$((seed % $# + 1))p")
        "$dir/mutate" $mode $seed "$file" >"$dir/in"
        judge "$mode of $file, seed $seed" any
    done
    seed=$((seed + 1))
done
finish
