#!/bin/sh
# SPDX-License-Identifier: MIT
#
# samples.sh: rewrites the samples, and the sources of tests/ptxas/real, as relocatable cubins for sm_75, 80 and 90,
# with all kernels and with each of the first three alone; and host objects of samples/link, each with another kernel
# that the host launches, of which nvcc makes a program. nvlink's result is that of the originals, or lacks functions
# that only dead tables name. Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/link/links.sh"
have readelf || {
    skip "no readelf"
    finish
}

# -- Cubins ----------------------------------------------------------------------------------------------------------

# rewrites FILE KERNEL: rewrites a cubin with a kernel, or `all`, if nvlink can link it alone.
rewrites() {
    name="$1, $2" kernels=--kernels-used=$2
    [ "$2" != all ] || kernels=--ignore-host-info
    if nvlink -arch=sm_$sm "$kernels" -o alone "$1" >log 2>&1; then
        links "$1, $2" "$2" - any "$1"
    else
        skip "nvlink rejects the original: $(head -n 1 log)"
    fi
}

for source in "$root"/samples/*.cu "$root"/tests/ptxas/real/*.cu; do
    flags=$(sed -n 's,^// flags: ,,p' "$source" | head -n 1)
    for sm in 75 80 90; do
        file=$(basename "$source" .cu).$sm.cubin
        # shellcheck disable=SC2086
        nvcc -rdc=true -cubin -arch=sm_$sm -std=c++17 $flags -o "$file" "$source" >log 2>&1 || continue
        rewrites "$file" all
        for kernel in $(readelf -sW "$file" 2>/dev/null | awk '/FUNC.*<other>: 10/ { print $NF }' | head -n 3); do
            rewrites "$file" "$kernel"
        done
    done
done
name='cubins are written as they were read'
if "${ORIOPT%/*}/link-units" ./*.cubin >log; then ok; else bad "$(grep FAIL log | head -n 3)"; fi

# -- Programs --------------------------------------------------------------------------------------------------------

for kernel in k_virt k_tab k_rec k_print k_m k_static k_t1 k_shared; do
    # shellcheck disable=SC2086
    starts object $kernel shapes $targets -no-compress -DLAUNCH=$kernel
done
for kernel in other bk; do
    # shellcheck disable=SC2086
    starts object $kernel host $targets -no-compress -DLAUNCH=$kernel -DTYPE=int
done
for file in copies first second; do
    # shellcheck disable=SC2086
    starts object $file $file $targets -no-compress
done
compiled

tables='_Z3cb1i _Z3cb2i' # functions that only dead tables name
for sm in 75 80 90; do
    for kernel in k_rec k_print k_m k_static k_t1 k_shared; do
        links "the host launches $kernel" host - "$tables _ZN1B1vEi _ZN1D1vEi" $kernel.o copies.o
        builds $kernel.o copies.o
    done
    links 'the host launches k_virt' host - "$tables _ZN1B1vEi" k_virt.o copies.o
    builds k_virt.o copies.o
    links 'the host launches k_tab' host - '_ZN1B1vEi _ZN1D1vEi' k_tab.o copies.o
    builds k_tab.o copies.o
    for kernel in other bk; do
        links "the host launches $kernel" host - '_Z2t1i _Z2t2i' $kernel.o first.o second.o
        builds $kernel.o first.o second.o
    done
done
finish
