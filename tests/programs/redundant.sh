#!/bin/sh
# SPDX-License-Identifier: MIT
#
# redundant.sh: checks that no planted redundancy is left in samples/handwritten/redundant_*.ptx, and that all loads of
# necessary_loads.ptx are left, on three backends:
#   1. orirun counts the executions of instructions of the output (table below);
#   2. tests/bench/redundant.py, which shares nothing with oriopt, finds no redundant instruction behind slot 65.
#
#   tests/programs/redundant.sh [-l]       -l: lists all counts
#
# Environment: ORIOPT (default build/oriopt), ORIRUN (default beside it).
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2154 # root and work are set by lib.sh
list=0
[ "${1-}" != -l ] || list=1
needs "$ORIOPT" "$ORIRUN"
make_work

# Rows: KERNEL COMPARISON THREADS PATTERN. The instructions of the kernel's output that match the pattern (ERE) run in
# at most (`<=`) or exactly (`==`) this number of threads. Each kernel runs in 32 threads, and its loops run six times.
table() {
    cat <<'END'
same_block             <=  32  mul\.lo
same_block             <=  32  (add\.[su]32|mad\.lo)
dominated              <=  32  mul\.lo
arms                   <=  32  mul\.lo
same_old_value         <=  32  mul\.lo
readers_under_guard    <=  32  mul\.lo
guarded_loads          <=  96  ld\.global
invariant              <=  32  mul\.lo
loads_across_loop      <=  32  ld\.global
stores_beside          <=  32  ld\.global
stores_beside          <=   0  ld\.shared
global_disjoint        <=  96  ld\.global
shared_disjoint        <=  64  ld\.global
shared_disjoint        <=   0  ld\.shared
other_space            <=  64  ld\.global
other_space            <=   0  ld\.shared
parts_of_vectors       <=  32  ld\.global
over_blocks            <=  96  ld\.global
widths                 <=   0  ld\.global
vectors                <=   0  ld\.global
generic_addresses      <=   0  ld\.(global\.)?u32
shared_slots           <=   0  ld\.shared
one_arm                <=  32  ld\.global
store_in_one_arm       <=  16  ld\.global
stored_in_loop         <=  32  ld\.global
same_test              <=  32  setp
same_test              <=   0  selp
exchanged              <=  32  setp
exchanged              <=   0  selp
implied                <=  32  setp
implied                <=   0  selp
integers               <=  32  div\.u32
integers               <=  32  rem\.u32
integers               <=  32  mul\.hi\.u64
floats                 <=  32  div\.rn\.f32
floats                 <=  32  sqrt\.rn\.f32
floats                 <=  32  rcp\.rn\.f64
orders                 <=  64  add\.[su]32
orders                 <=  64  (xor\.b32|lop3)
orders                 <=  64  mul\.lo
differences            <=  64  (add|sub)\.[su]32
distributed            <=  32  (mul|mad)\.lo
addresses              <= 256  (mul|mad)\.wide
bounded_by_exit        <= 256  (mul|mad)\.wide
ends_at_bound          <= 256  (mul|mad)\.wide
chain_in_loop          <=   0  mov\.[bsu]32 %r[0-9]+, %r
behind_loop            <=   0  mov\.[bsu]32 %r[0-9]+, %r
barrier_between        ==  64  ld\.shared
aliasing_store         ==  64  ld\.global
volatile_loads         ==  64  ld\.volatile
volatile_loads         ==  64  ld\.relaxed
atomic_between         ==  96  ld\.global
other_guards           == 192  ld\.global
END
}

# A text in which redundant.py finds 3 pure instructions (R5, R6, R8) and 4 loads (R21, R24, R26, R30).
counter_input() {
    cat <<'END'
target sm_80 ptx 7.0 address 64
shared @s: .b8[16] align 4
shared @t: .b8[16] align 4
kernel @k(@a: 64, @n: 32) form ssa {
b0:
  R0:64 = ld.param.u64 [@a]
  R1:32 = ld.param.u32 [@n]
  R2:64 = cvta.to.global.u64 R0
  P0 = setp.lt.s32 R1, 7
  R4:32 = add.s32 R1, 5
  R5:32 = add.u32 R1, 5
  R20:32 = ld.global.u32 [R2]
  @P0 bra b2 else b1
b1:
  R6:32 = mul.lo.s32 R4, R5
  R7:32 = mul.lo.s32 R5, R4
  R9:32 = mul.hi.s32 R5, R4
  R10:32 = mul.hi.u32 R5, R4
  st.global.u32 [R2+4], R9
  R21:32 = ld.global.u32 [R2]
  st.global.u32 [R2+8], R21
  bra b3
b2:
  R11:32 = mul.lo.s32 R4, R5
  @P0 R12:32 = add.s32 R1, 9 else R1
  @!P0 R13:32 = add.s32 R1, 9 else R1
  @P0 R14:32 = add.s32 R1, 9 else R4
  st.shared.u32 [@s], R12
  st.shared.u32 [@t], R13
  R24:32 = ld.shared.u32 [@s]
  bar.sync 0
  R25:32 = ld.shared.u32 [@s]
  R26:32 = ld.shared.u32 [@s]
  R27:32 = ld.volatile.shared.u32 [@s]
  st.global.u32 [R2+12], R14
  R28:32 = ld.global.u32 [R2]
  bra b3
b3:
  R8:32 = add.s32 5, R1
  R30:32 = ld.global.u32 [R2]
  R31:16 = ld.global.u16 [R2]
  R32:32 = ld.global.u32 [R2+4]
  st.global.u32 [R2], R8
  ret
}
END
}

# counted PTX RUN: prints the kernel, the threads and the text of each instruction that ran.
counted() {
    "$ORIRUN" "$2" --file "$1" --count=lines 2>&1 >"$work/said" | awk '
        FILENAME != "-" { text[FNR] = $0; next }
        $1 == "LINE" { line = text[$3]; gsub(/[ \t]+/, " ", line); sub(/^ /, "", line); print $9, $5, line }' "$1" - || return 1
    ! grep error "$work/said"
}

if have python3; then
    name='redundant.py counts'
    counter_input >"$work/counter.ori"
    python3 "$root/tests/bench/redundant.py" --oriopt "$ORIOPT" "$work/counter.ori" -- --named-phases=NOP >"$work/out" 2>&1
    is "$(awk 'NR == 2 { print $3, $6 }' "$work/out")" '3 4'
fi

for arch in sm_70 sm_80 sm_90; do
    : >"$work/counts"
    for run in "$root"/samples/run/handwritten/redundant_*.run "$root/samples/run/handwritten/necessary_loads.run"; do
        sample=$(basename "$run" .run)
        name="$arch $sample"
        ptx=$work/$sample.ptx
        "$ORIOPT" --arch=$arch -o "$ptx" "$root/samples/handwritten/$sample.ptx" && "$ORIRUN" "$run" --file "$ptx" >"$work/out" 2>&1 ||
            bad "the results differ: $(grep -m 1 error "$work/out")"
        counted "$ptx" "$run" >>"$work/counts" || bad 'no counts'
    done
    table >"$work/table"
    name=$arch
    while read -r kernel comparison most pattern; do
        got=$(awk -v kernel="$kernel" -v pattern="(^| )$(echo "$pattern" | sed 's/\\/\\\\/g')" '
            $1 == kernel { n = $2; sub(/^[^ ]+ [^ ]+ /, ""); if ($0 ~ pattern) sum += n } END { print sum + 0 }' "$work/counts")
        [ $list = 0 ] || printf '%-6s %-20s %5d %s %-4d %s\n' "$arch" "$kernel" "$got" "$comparison" "$most" "$pattern"
        case $comparison in
        '<=') [ "$got" -le "$most" ] ;;
        *) [ "$got" -eq "$most" ] ;;
        esac && ok || bad "$kernel: $pattern runs in $got threads, expected $comparison $most"
    done <"$work/table"
    if have python3; then
        name="$arch redundant.py"
        if python3 "$root/tests/bench/redundant.py" --oriopt "$ORIOPT" --list --most 0 --most-loads 0 --total \
            "$root"/samples/handwritten/redundant_*.ptx -- "--arch=$arch" >"$work/out" 2>&1; then
            ok
        else
            bad "$(grep -c ': ' "$work/out") redundant instructions: $(head -n 1 "$work/out")"
        fi
    else
        skip 'no python3'
    fi
done
finish
