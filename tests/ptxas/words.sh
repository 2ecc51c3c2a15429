#!/bin/sh
# SPDX-License-Identifier: MIT
#
# words.sh: checks ir/core/words.def with ptxas. A file words/VERSION-TARGET.txt has instructions that ptxas accepts, a
# line each; oriopt must not warn of them. With another modifier or type, oriopt must warn if ptxas does not know it
# there, and must not warn if ptxas accepts the instruction. Skips if there is no ptxas.
#
#   tests/ptxas/words.sh [-q | WORDS...]    default: all words of words.def and some others; -q: a few words
#
# Ends in `N passed, N failed, N skipped`. Environment: ORIOPT, the program to test (default build/oriopt).
. "$(dirname "$0")/../lib.sh"
needs "$ORIOPT"
without_ptxas
make_work
# Words that ptxas ignores in instructions to which they do not belong.
ignored='acc::f16 acc::f32 b8x16.b4x16_p64 box_dim cc element_stride elemtype fill_mode finite global_address global_dim
    global_stride infinite interleave_layout normal notanumber number rank subnormal swizzle_atomicity swizzle_mode b2
    b4x16_p64 b6x16_p32 b8x16 dec inc exch cas m8n8k128 m8n8k32 sp sp::ordered_metadata tex b1024 texref samplerref
    surfref pred'
# Words that some instructions take only next to their name, so not at the end.
placed='base c cvt d expect_tx fractional full grad level mask p parity range red'
others='frob ival no_alloc v1 v3 v16 u3 f8 L1::no_alloc L2::32B m16n8k7 x3 kind::f4'

case ${1-} in
-q) words='frob ballot f16 m16n8k16 ftz u4 L1::no_allocate shared::cluster' ;;
'') words="$others $(sed -n '/^#define [A-Z0-9_]* "/p; /^WORDS/p' "$root/ir/core/words.def" |
    sed 's/^WORDS("[^"]*",//' | grep -o '"[^"]*"' | tr ' "' '\n\n' | grep -v '\*' | sort -u)" ;;
*) words=$* ;;
esac

# write FILE WORD: makes $work/in.ptx of the instructions of FILE, with `.WORD` after the other words if it is not empty.
# A type replaces the last one, if there is one.
write() {
    file=${1##*/} file=${file%.txt}
    {
        echo ".version ${file%-*}"
        echo ".target ${file#*-}"
        echo ".address_size 64"
        echo ".func ff { ret; }"
        echo ".visible .entry k(.param .u64 o) {"
        echo ".reg .pred %p<10>; .reg .b8 %c<5>; .reg .b16 %h<10>; .reg .b32 %r<20>; .reg .b64 %d<20>;"
        case $file in 6*) echo ;; *) echo ".reg .b128 %q<5>;" ;; esac
        echo ".reg .f32 %f<20>; .reg .f64 %e<9>; .shared .align 16 .b8 s[256];"
        echo "ld.param.u64 %d1, [o]; mov.u32 %r9, s; L1: tt: .branchtargets L1;"
        awk -v word="$2" '
            BEGIN { types = "\\.(pred|[busf][0-9]+(x[0-9]+)?|bf16(x2)?|tf32|u?e[0-9]m[0-9](x[0-9])?)" }
            {
                end = match($0, /[ ;]/)
                name = substr($0, 1, end - 1)
                at = 0
                if (("." word) ~ ("^" types "$"))
                    for (rest = name; match(rest, types "(\\.|$)"); rest = substr(rest, RSTART + 1))
                        at = length(name) - length(rest) + RSTART
                if (word != "" && at) {
                    tail = substr(name, at + 1)
                    sub(/^[^.]*/, "", tail)
                    name = substr(name, 1, at) word tail
                } else if (word != "") {
                    name = name "." word
                }
                print name substr($0, end)
            }' "$1"
        echo "ret; }"
    } >"$work/in.ptx"
    case ${file#*-} in sm_60) arch=sm_75 ;; *) arch=${file#*-} ;; esac
    ptxas -arch "$arch" -o /dev/null "$work/in.ptx" >"$work/said" 2>&1
    sed -n 's/.*, line \([0-9]*\); \(error\|fatal\).*/\1/p' "$work/said" | sort -u >"$work/rejected"
    "$ORIOPT" --max-errors=0 --named-phases=NOP --emit=none "$work/in.ptx" 2>"$work/err"
    sed -n 's/^[^:]*:\([0-9]*\):[0-9]*: warning: .* has an unknown modifier.*/\1/p' "$work/err" | sort -u >"$work/warned"
}

# blame FILE TEXT: fails for the first of the lines in FILE, passes if there are none.
blame() {
    if [ -s "$1" ]; then
        bad "$2 '$(sed -n "$(head -n 1 "$1")p" "$work/in.ptx")' ($(wc -l <"$1" | tr -d ' ') such lines)"
    else
        ok
    fi
}
among() { case " $(echo $2) " in *" $1 "*) return 0 ;; esac; return 1; }

for list in "$root"/tests/ptxas/words/*.txt; do
    name=${list##*/}
    write "$list" ""
    blame "$work/rejected" "ptxas rejects"
    blame "$work/warned" "oriopt warns of"
    for word in $words; do
        name="${list##*/} with .$word"
        write "$list" "$word"
        seq 10 $(($(wc -l <"$work/in.ptx") - 1)) | sort >"$work/lines"
        comm -23 "$work/lines" "$work/rejected" | comm -12 - "$work/warned" >"$work/false"
        among "$word" "$ignored" || blame "$work/false" "ptxas accepts, but oriopt warns of"
        sed -n "s/.*, line \([0-9]*\); error *: Unknown modifier '\.$word'.*/\1/p" "$work/said" | sort -u |
            comm -23 - "$work/warned" >"$work/silent"
        among "$word" "$placed" || blame "$work/silent" "ptxas rejects, but oriopt does not warn of"
    done
done
finish
