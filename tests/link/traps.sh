#!/bin/sh
# SPDX-License-Identifier: MIT
#
# traps.sh: plans banks of constants at their limits: full ones, recursion, tables of switches, equal names, files of
# nvlink -r, and cubins that ptxas would not make. Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/link/links.sh"

# reads NAME WANT CALLS FILES...: compares the constants that the code of `linked` reads.
reads() {
    name="reads of $1, sm_$sm" want=$2 calls=$3
    shift 3
    is "$($python "$root/tests/link/cubin.py" --reads linked "$calls" "$@" 2>&1 | tail -n 1)" "$want reads, 0 wrong"
}
# plans NAME OPTIONS FILES...: plans all banks, and compares the link with that of the originals.
plans() {
    case="$1, sm_$sm"
    shift
    exits "$case" 0 "$ORILINK" --optimize-data-layout --report=text --verify-link --nvlink -o linked "$@"
}
# edited FILE FUNCTION EDIT N: makes edited.cubin.
edited() { $python "$root/tests/link/edit.py" "$1.$sm.cubin" edited.cubin "$2" "$3" "$4" || bad "edit.py fails"; }
# stays FUNCTION REASON: the report has the reason why nvlink places the constants of a function.
stays() {
    if grep -q "^constants of $1: nvlink places [0-9]* bytes: $2\$" out; then ok; else bad "'$1' does not stay: $2"; fi
}

# -- Compilation -------------------------------------------------------------------------------------------------------

# A full bank of 8,192 doubles: `first` and `second` have half of them each, `again` some of the second ones, and
# `other` one more. In one function, ptxas would move the last ones to code.
awk 'BEGIN {
    split("first 1 4096 second 4097 4096 again 5000 9 other 9000 1", f)
    for (i = 1; i < 12; i += 3) {
        printf "extern \"C\" __device__ __noinline__ double %s(double x)\n{\n    double r = x;\n", f[i]
        for (k = f[i + 1]; k < f[i + 1] + f[i + 2]; k++)
            printf "    r = r * x + %.12f;\n", 3 + k * 0.0123456789
        print "    return r;\n}"
    }
    print "extern \"C\" __global__ void full(double *p) { p[0] = first(p[1]) + second(p[2]) + again(p[3]); }"
    print "extern \"C\" __global__ void one_more(double *p) { p[0] = first(p[1]) + second(p[2]) + other(p[3]); }"
}' >full.cu
cat >kernel.cu <<'EOF'
extern "C" __global__ void k_only(double *p, int n)
{
    p[0] = p[1] * 3.14159265358979 + 2.71828182845904;
    switch (n) {
    case 0: p[3] = 1; break;
    case 1: p[4] = p[0] * p[1]; break;
    case 2: p[5] = p[7] - p[2]; p[11] = 3; break;
    case 3: p[6] = p[2] / p[0]; break;
    case 4: p[7] = p[1] + p[9]; p[12] = p[3]; break;
    case 5: p[8] = p[0]; p[n + 2] = p[1]; break;
    }
}
EOF
# Local functions of one name, with other constants. nvcc would give them other names.
cat >same1.ptx <<'EOF'
.version 7.8
.target sm_75
.address_size 64
.func (.param .f64 r) same(.param .f64 a)
{
    .reg .f64 %d<3>;
    ld.param.f64 %d1, [a];
    fma.rn.f64 %d2, %d1, 0d3FF123456789ABCD, 0d4000123456789ABC;
    st.param.f64 [r], %d2;
    ret;
}
.visible .entry k_one(.param .b64 p)
{
    .reg .b64 %rd<2>;
    .reg .f64 %d<3>;
    ld.param.b64 %rd1, [p];
    ld.global.f64 %d1, [%rd1];
    .param .f64 a;
    .param .f64 r;
    st.param.f64 [a], %d1;
    call (r), same, (a);
    ld.param.f64 %d2, [r];
    st.global.f64 [%rd1], %d2;
    ret;
}
EOF
sed 's/k_one/k_two/; s/3FF1/3FF2/; s/4000/4001/' same1.ptx >same2.ptx
starts cubins first banks
starts cubins second banks -DSECOND
samples=.
starts cubins kernel kernel
for sm in 75 80; do
    starts nvcc -rdc=true -cubin -arch=sm_$sm -Xptxas -O1 -o full.$sm.cubin full.cu
    for file in same1 same2; do
        starts ptxas -c -arch=sm_$sm -o $file.$sm.cubin $file.ptx
    done
done
compiled
extract ./*.fatbin
for sm in 75 80 90; do
    name="edit.py, sm_$sm"
    edited second jumps none 0
    [ $sm = 90 ] || same second.$sm.cubin edited.cubin
done

for sm in 75 80; do
    # -- Limits --------------------------------------------------------------------------------------------------------

    exits "a full bank, sm_$sm" 0 "$ORILINK" --report=text --nvlink -o linked --kernels-used=full full.$sm.cubin
    says out 'constants of kernel full: 65608 bytes, planned in 65536'
    reads 'a full bank' 8201 full=first,second,again full.$sm.cubin
    for option in --ocg=kernel --optimize-data-layout; do
        exits "one more, $option, sm_$sm" 1 "$ORILINK" $option -o never full.$sm.cubin
        says err "error: kernel 'one_more' requires 65544 bytes of constants that the compiler made, of which 65536 fit"
        says err "note: 'first' has 32768 bytes"
        absent never
    done

    edited full other field 8
    exits "one more that stays, sm_$sm" 1 "$ORILINK" -o never edited.cubin
    says err "error: kernel 'one_more' requires 65544 bytes of constants that the compiler made, of which 65536 fit"

    # -- Functions -----------------------------------------------------------------------------------------------------

    plans 'functions' first.$sm.cubin second.$sm.cubin
    says out 'constants of kernel k_call: 16 bytes, planned in 16'
    says out 'constants of kernel k_more: 128 bytes, planned in 128'
    reads 'functions that call themselves' 6 'k_self=self k_mutual=even,odd' first.$sm.cubin second.$sm.cubin
    reads 'an address that another file takes' 2 'k_call=taken' first.$sm.cubin second.$sm.cubin
    reads 'a function of two kernels' 16 'k_more=shared,jumps k_less=shared' first.$sm.cubin second.$sm.cubin
    plans 'functions, documented' --ocg=documented first.$sm.cubin second.$sm.cubin
    reads 'functions, documented' 16 'k_more=shared,jumps k_less=shared' first.$sm.cubin second.$sm.cubin
    plans 'another order' second.$sm.cubin first.$sm.cubin
    reads 'another order' 16 'k_more=shared,jumps k_less=shared' first.$sm.cubin second.$sm.cubin
    plans 'equal names' same1.$sm.cubin same2.$sm.cubin
    reads 'equal names' 2 'k_one=same k_two=same#2' same1.$sm.cubin same2.$sm.cubin

    # -- Cubins that ptxas does not make -------------------------------------------------------------------------------

    for edit in 'field 8' 'bank 2' 'bank 3'; do
        # shellcheck disable=SC2086
        edited second shared $edit
        plans "a field that is not empty, $edit" first.$sm.cubin edited.cubin
        stays shared 'a field of its code is not empty'
        reads "functions next to it, $edit" 13 k_more=jumps first.$sm.cubin edited.cubin
    done
    edited second shared addend 4
    plans 'an addend' first.$sm.cubin edited.cubin
    reads 'an addend' 16 'k_more=shared,jumps k_less=shared' first.$sm.cubin edited.cubin
    edited second jumps table 8
    plans 'an addend of a table' first.$sm.cubin edited.cubin
    reads 'an addend of a table' 13 k_more=jumps first.$sm.cubin edited.cubin
    for n in 8 16 -4 6; do
        edited second shared addend $n
        plans "addend $n" first.$sm.cubin edited.cubin
        stays shared 'its code reads beside a constant'
    done
    for n in 16 -4; do
        edited second jumps table $n
        plans "addend $n of a table" first.$sm.cubin edited.cubin
        stays jumps 'its code reads beside a constant'
    done
    edited second shared moves 8
    exits "a constant outside, sm_$sm" 0 "$ORILINK" --optimize-data-layout --report=text first.$sm.cubin edited.cubin
    stays shared 'a constant is outside of its section'
    edited second jumps drops 0
    plans 'a constant without a relocation' first.$sm.cubin edited.cubin
    stays jumps 'no relocation of its code names a constant'
    edited second shared names taken
    plans 'the constants of another function' first.$sm.cubin edited.cubin
    stays taken 'its constants have relocations, or other code or data refers to them'
    edited first k_more field 8
    plans 'the constants of a kernel stay, documented' --ocg=documented edited.cubin second.$sm.cubin
    plans 'the constants of a kernel stay' edited.cubin second.$sm.cubin
    stays k_more 'a field of its code is not empty'
    stays jumps 'a kernel reaches it whose own constants cannot move'
    stays shared 'a kernel reaches it whose own constants cannot move'
    reads 'the constants of another kernel stay' 6 'k_self=self k_mutual=even,odd' edited.cubin
done

# -- Tables of sm_90 ---------------------------------------------------------------------------------------------------

# constants FILE: prints the constants of `jumps`, with the relocations in them.
constants() {
    PYTHONPATH=$root/tests/link python3 -B -S -c 'import sys
from cubin import Cubin
c = Cubin(open(sys.argv[1], "rb").read())
s = c.section(".nv.constant2.jumps")
print(s.bytes.hex(), [(at, kind, c.symbols[symbol].name, addend) for at, kind, symbol, addend in s.relocs])' "$1"
}
sm=90
plans 'tables' first.90.cubin second.90.cubin
reads 'tables' 3 'k_more=jumps' first.90.cubin second.90.cubin
edited second jumps data 4
constants edited.cubin >expected
for mode in kernel documented; do
    plans "relocations of a table, $mode" --ocg=$mode first.90.cubin edited.cubin
    stays jumps 'its constants have relocations, or other code or data refers to them'
    "$ORILINK" --optimize-data-layout --ocg=$mode -o small first.90.cubin edited.cubin >out 2>&1
    constants small/edited.cubin >left
    same expected left
done

# -- nvlink -r ---------------------------------------------------------------------------------------------------------

for sm in 75 80 90; do
    nvlink -arch=sm_$sm -r -o joined.cubin first.$sm.cubin second.$sm.cubin 2>log
    for mode in kernel documented; do
        plans "nvlink -r, $mode" --ocg=$mode joined.cubin
        says err "'joined.cubin' stays as it is: nvlink -r wrote it, and fixed places of constants of device functions"
        exits "nvlink -r of a callee, $mode, sm_$sm" 0 "$ORILINK" --ocg=$mode --optimize-data-layout -o small joined.cubin
        same joined.cubin small/joined.cubin
        nvlink -arch=sm_$sm -r -o alone.cubin kernel.$sm.cubin
        plans "nvlink -r of a kernel, $mode" --ocg=$mode alone.cubin
        stays k_only 'no relocation of its code names a constant'
        exits "nvlink -r of a kernel, $mode, sm_$sm" 0 "$ORILINK" --ocg=$mode --optimize-data-layout -o small alone.cubin
        same alone.cubin small/alone.cubin
    done
    [ $sm = 90 ] || {
        nvlink -arch=sm_$sm -r -o joined.cubin full.$sm.cubin
        exits "nvlink -r, one more, sm_$sm" 1 "$ORILINK" --nvlink -o never joined.cubin
        says err "'joined.cubin' stays as it is: nvlink -r wrote it, and fixed places of constants of device functions"
        says err 'uses too much data for compiler-generated constants'
        absent never
    }
done
finish
