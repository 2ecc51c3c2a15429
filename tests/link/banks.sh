#!/bin/sh
# SPDX-License-Identifier: MIT
#
# banks.sh: plans the banks of constants that the compiler made, and links with nvlink, also where it rejects the
# originals. Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/link/links.sh"

# -- Links that nvlink rejects -----------------------------------------------------------------------------------------

# constants FUNCTION FIRST COUNT: prints a function that reads that many doubles of a sequence.
constants() {
    awk -v name="$1" -v first="$2" -v n="$3" 'BEGIN {
        printf "extern \"C\" __device__ __noinline__ double %s(double x)\n{\n    double r = x;\n", name
        for (k = first; k < first + n; k++)
            printf "    r = r * x + %.12f;\n", 1 + k * 0.0123456789
        print "    return r;\n}"
    }'
}
# kernel NAME FUNCTIONS...: prints a kernel that calls functions.
kernel() {
    printf 'extern "C" __global__ void %s(double *p)\n{\n' "$1"
    shift
    printf '    p[0] += %s(p[1]);\n' "$@"
    printf '}\n'
}
# Three kernels call functions of both files that read the same 4,500 doubles: 72,000 bytes in the bank of each, and
# 108,000 in a bank of all distinct ones, as nvlink makes it. Two other kernels share functions, with 72,000 bytes and
# 48,000 in their banks, of which 64,000 and 40,000 are distinct.
for k in 0 1 2; do
    constants f$k ${k}0001 4500 >>many1.cu
    constants g$k ${k}0001 4500 >>many2.cu
    printf 'extern "C" __device__ double g%s(double);\n' $k >>many1.cu
    kernel k$k f$k g$k >>many1.cu
done
constants h0 70000 3000 >>many1.cu
constants h1 80000 3000 >>many1.cu
constants h2 72000 3000 >>many1.cu
kernel shares_three h0 h1 h2 >>many1.cu
kernel shares_two h0 h2 >>many1.cu
kernel alone f1 >>many1.cu
calls='k0=f0,g0 k1=f1,g1 k2=f2,g2 shares_three=h0,h1,h2 shares_two=h0,h2 alone=f1'
# Two kernels with constants of their own before those of a function that they share.
{
    constants few 100 3
    constants many 300 9
    printf 'extern "C" __device__ double both(double);\n'
    kernel with_few few both
    kernel with_many many both
} >share1.cu
constants both 200 5 >share2.cu
# A kernel of which all constants are distinct.
printf 'extern "C" __device__ double f0(double), g1(double);\n' >large.cu
kernel large f0 g1 >>large.cu
for sm in 75 80 86; do
    for file in many1 many2 large share1 share2; do
        starts nvcc -rdc=true -cubin -arch=sm_$sm -o $file.$sm.cubin $file.cu
    done
done
compiled
for sm in 75 80 86; do
    name="nvlink rejects the originals, sm_$sm"
    ! nvlink -arch=sm_$sm -o never many1.$sm.cubin many2.$sm.cubin >log 2>&1 && ok || bad "it links them"
    exits "a plan, sm_$sm" 0 "$ORILINK" --nvlink -o linked --report=json many1.$sm.cubin many2.$sm.cubin
    says out '{"kernel":"k0","before":72000,"after":36000,"values":4500,"shared":4500}'
    says out '{"kernel":"shares_three","before":72000,"after":64000,"values":8000,"shared":1000}'
    name="reads, sm_$sm"
    is "$($python "$root/tests/link/cubin.py" --reads linked "$calls" many1.$sm.cubin many2.$sm.cubin)" '46500 reads, 0 wrong'
    exits "no plan, sm_$sm" 1 "$ORILINK" --nvlink --no-opt -o never many1.$sm.cubin many2.$sm.cubin
    says err 'uses too much data for compiler-generated constants'
    absent never
    exits "a bank of all, sm_$sm" 0 "$ORILINK" --ocg=documented --verbose-layout -o small many1.$sm.cubin many2.$sm.cubin
    grep -v '^found duplicate\|^optimize ocg' err | sort >lines
    is "$(tail -n 1 lines)" "optimize OCG constants for .nv.constant2.h2, old size = 24000"
    is "$(head -n 1 lines)" "ocg const optimization didn't help so give up"
    same many1.$sm.cubin small/many1.$sm.cubin
    exits "a place that is free in all banks, sm_$sm" 0 "$ORILINK" --optimize-data-layout --verify-link share1.$sm.cubin \
        share2.$sm.cubin
    exits "constants that do not fit, sm_$sm" 1 "$ORILINK" -o never many1.$sm.cubin many2.$sm.cubin large.$sm.cubin
    says err "error: kernel 'large' requires 72000 bytes of constants that the compiler made, of which 65536 fit"
    says err "note: 'f0' has 36000 bytes"
    says err 'note: --ocg=off leaves these constants to nvlink'
    absent never
    exits "the large kernel is dead, sm_$sm" 0 "$ORILINK" --nvlink -o linked --kernels-used=k,shares many1.$sm.cubin \
        many2.$sm.cubin large.$sm.cubin
    name="reads without the large kernel, sm_$sm"
    is "$($python "$root/tests/link/cubin.py" --reads linked "${calls% alone=*}" many1.$sm.cubin many2.$sm.cubin)" \
        '42000 reads, 0 wrong'
    name="nvlink rejects what is left without the large kernel, sm_$sm"
    ! nvlink -arch=sm_$sm --kernels-used=k,shares -o never many1.$sm.cubin many2.$sm.cubin large.$sm.cubin >log 2>&1 &&
        ok || bad "it links them"
    exits "no kernel overflows, sm_$sm" 0 "$ORILINK" --ocg=off -o small --kernels-used=shares_two,alone many1.$sm.cubin
    "$ORILINK" -o again --kernels-used=shares_two,alone many1.$sm.cubin
    same small/many1.$sm.cubin again/many1.$sm.cubin
done
exits 'options that exclude each other' 2 "$ORILINK" --no-opt --optimize-data-layout many1.80.cubin
says err '-no-opt and -optimize-data-layout exclude each other'

# -- Samples -----------------------------------------------------------------------------------------------------------

sources='places same constants shapes copies recursion addresses many shared pointer'
for file in $sources; do
    [ ! -e "$samples/$file.cu" ] || starts cubins $file $file
done
starts cubins caller indirect
starts cubins callee indirect -DSECOND
compiled
extract ./*.fatbin
for sm in 75 80 90; do
    exits "an indirect call, sm_$sm" 0 "$ORILINK" --optimize-data-layout --verify-link caller.$sm.cubin callee.$sm.cubin
    for file in $sources; do
        [ -e $file.$sm.cubin ] || continue
        exits "$file, sm_$sm" 0 "$ORILINK" --optimize-data-layout --verify-link -o small $file.$sm.cubin
        exits "$file, sm_$sm, documented" 0 "$ORILINK" --ocg=documented --optimize-data-layout --verify-link $file.$sm.cubin
    done
    # sm_90 has such constants in code
    [ $sm = 90 ] || for kernel in k_call k_choose,k_call; do
        exits "a call by address, $kernel, sm_$sm" 0 "$ORILINK" --optimize-data-layout --nvlink -o linked \
            --kernels-used=$kernel pointer.$sm.cubin
        case $kernel in *,*) ;; *) continue ;; esac
        name="reads by address, sm_$sm"
        is "$($python "$root/tests/link/cubin.py" --reads linked 'k_choose=with_constants k_call=with_constants' \
            pointer.$sm.cubin)" '4 reads, 0 wrong'
    done
    # A component without an overflow stays as it is.
    exits "no overflow, sm_$sm" 0 "$ORILINK" -o small places.$sm.cubin
    same places.$sm.cubin small/places.$sm.cubin
done
exits 'messages' 0 "$ORILINK" --ocg=documented --optimize-data-layout --verbose-layout --report=json --nvlink -o linked places.80.cubin
grep -i ocg err >ocg
printf '%s\n' 'optimize OCG constants for .nv.constant2._Z6of_onei, old size = 8' \
    'optimize ocg constant reloc offset from 0 to 0' 'optimize OCG constants for .nv.constant2.far, old size = 8' \
    'optimize ocg constant reloc offset from 0 to 8' 'optimize OCG constants for .nv.constant2.near, old size = 8' \
    'optimize ocg constant reloc offset from 0 to 16' 'new OCG constant size = 24' >expected
same expected ocg
says out '{"kernel":"far","before":16,"after":24,"values":3,"shared":0}'
finish
