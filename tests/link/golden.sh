#!/bin/sh
# SPDX-License-Identifier: MIT
#
# golden.sh [--bless | --compile]: rewrites the files of tests/link/cubins with options of a table, for sm_75, 80 and
# 90. The symbols that stay, and checksums of the rewritten files, are those of cubins/expected. Rewriting the results
# once more changes nothing, except for --dce=documented. Needs only programs of POSIX. Ends in `N passed, N failed, N
# skipped`.
#
#   --bless    writes cubins/expected instead
#   --compile  makes the files of tests/link/cubins by nvcc, ptxas and objcopy instead
. "$(dirname "$0")/../lib.sh"
ORILINK=${ORIOPT%/*}/orilink units=${ORIOPT%/*}/link-units damage=${ORIOPT%/*}/damage
files=$root/tests/link/cubins
mode=${1-}
needs "$ORILINK" "$units" "$damage"
make_work
cd "$work" || exit 2

# -- Files -----------------------------------------------------------------------------------------------------------

# device NAME FILE OPTIONS...: makes an object with only a fat binary.
device() {
    object=$1 file=$2
    shift 2
    # shellcheck disable=SC2086
    nvcc -rdc=true -fatbin $targets -o fat "$@" "$root/samples/link/$file.cu" &&
        objcopy -I binary -O elf64-x86-64 --rename-section .data=__nv_relfatbin \
            -N _binary_fat_start -N _binary_fat_end -N _binary_fat_size fat "$files/$object.o"
}
compile() {
    targets=
    for sm in 75 80 90; do
        targets="$targets -gencode arch=compute_$sm,code=sm_$sm"
    done
    rm -f "$files"/*.o "$files"/*.cubin
    for file in first second host overloads; do
        # shellcheck disable=SC2086
        nvcc -rdc=true -c $targets -o "$files/$file.o" "$root/samples/link/$file.cu" || exit 1
    done
    for file in shapes copies constants addresses recursion many shared; do
        device $file $file || exit 1
    done
    device weak1 weak && device weak2 weak -DSECOND && device statics1 statics && device statics2 statics -DSECOND &&
        device caller indirect && device callee indirect -DSECOND || exit 1
    sed 's/_one/_two/; s/ 3/ 5/g' "$root/samples/link/local.ptx" >local2.ptx
    for sm in 75 80 90; do
        ptxas -c -arch=sm_$sm -o "$files/alias.$sm.cubin" "$root/samples/link/alias.ptx" || exit 1
        ptxas -c -arch=sm_$sm -o "$files/local1.$sm.cubin" "$root/samples/link/local.ptx" || exit 1
        ptxas -c -arch=sm_$sm -o "$files/local2.$sm.cubin" local2.ptx || exit 1
    done
}
case $mode in
--compile) compile && exit ;;
--bless) rm -f "$files/expected" ;;
'') ;;
*) usage 'golden.sh [--bless | --compile]' ;;
esac
cp "$files"/*.o "$files"/*.cubin .

# -- Rewriting -------------------------------------------------------------------------------------------------------

# symbols MAP: prints `kept FILE: NAMES` for each file of a map.
symbols() {
    awk '$0 == "kept" { kept = 1; next }
         kept && NF == 4 && $1 ~ /^[0-9]+$/ { if (!($4 in names)) files[n++] = $4; names[$4] = names[$4] " " $3 }
         END { for (k = 0; k < n; k++) print "kept " files[k] ":" names[files[k]] }' "$1"
}
# one SM NAME OPTIONS... -- FILES...: rewrites files for a target, into the texts kept.SM and sums.SM.
one() {
    sm=$1 options=
    name="$2, sm_$1"
    shift 2
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    for file; do
        shift
        [ ! -e "$file.o" ] && set -- "$@" "$file.$sm.cubin" || set -- "$@" "$file.o"
    done
    rm -rf small again
    set -f
    # shellcheck disable=SC2086
    "$ORILINK" -arch sm_$sm -o small -Map map $options "$@" >out 2>err || bad "$(head -n 1 err)"
    # shellcheck disable=SC2086
    (cd small && "$ORILINK" -arch sm_$sm -o ../again $options "$@") >out 2>err || bad "again: $(head -n 1 err)"
    set +f
    case $options in
    *documented*) ;;
    *) if diff -r small again >out 2>&1; then ok; else bad "rewriting the results once more changes them"; fi ;;
    esac
    symbols map | sed "s/\\.$sm\\.cubin:/:/; s/\\.o:/:/" >"kept.$sm"
    (cd small && cksum "$@") | sed "s/\\.$sm\\.cubin$//; s/\\.o$//; s/^/sm_$sm: /" >"sums.$sm"
}
# keeps NAME OPTIONS... -- FILES...: compares what stays with the paragraph of cubins/expected that NAME begins.
keeps() {
    for target in 75 80 90; do
        one $target "$@"
    done
    name=$1
    {
        printf '# %s:' "$1"
        shift
        printf ' %s' "$@"
        echo
        if cmp -s kept.75 kept.80 && cmp -s kept.75 kept.90; then
            cat kept.75
        else
            for target in 75 80 90; do
                sed "s/^/sm_$target: /" kept.$target
            done
        fi
        cat sums.75 sums.80 sums.90
        echo
    } >paragraph
    if [ "$mode" = --bless ]; then
        cat paragraph >>"$files/expected"
    else
        awk -v start="# $name:" 'index($0, start) == 1 { on = 1 }
            on { print }
            on && $0 == "" { exit }' "$files/expected" >expected
        same expected paragraph
    fi
}

keeps 'a chain of calls'                    --kernels-used=main_kernel -- first second
keeps 'host information'                    --use-host-info -- first second host
keeps 'no host information'                 -- first weak1
keeps 'a kernel besides host information'   --kernels-used=other -- first second host
keeps 'a list of variables'                 --kernels-used=main_kernel --variables-used=unused -- first second
keeps 'no kernel, no variable'              --kernels-used=none --variables-used=none -- first second
keeps 'the documented way'                  --dce=documented --kernels-used=main_kernel -- first second
keeps 'the documented way, a root'          --dce=documented --root=_Z2hai -- first second
keeps 'a relocatable link'                  -r --kernels-used=main_kernel -- first second
keeps 'overloads'                           --use-host-info -- overloads
keeps 'an exact name'                       --kernels-used=_Z1kPf -- overloads
keeps 'a wildcard'                          --kernels-used=_Z1k*f -- overloads
keeps 'the first weak copy'                 --kernels-used=k_ -- weak1 weak2
keeps 'the weak copy of fewer registers'    --kernels-used=k_ -- weak2 weak1
keeps 'weak copies and their tables'        --kernels-used=k_copies --variables-used=none -- shapes copies
keeps 'virtual functions'                   --kernels-used=k_virt --variables-used=none -- shapes
keeps 'strings'                             --kernels-used=k_print --variables-used=none -- shapes
keeps 'managed memory'                      --kernels-used=k_shared --variables-used=none -- shapes
keeps 'static functions of one name'        --kernels-used=k_statics_two --variables-used=none -- statics1 statics2
keeps 'local symbols of one name'           --kernels-used=k_local_two --variables-used=none -- local1 local2
keeps 'second names'                        --kernels-used=k_alias -- alias
keeps 'addresses that dead code takes'      --kernels-used=k_code --variables-used=none -- addresses
keeps 'an address in a variable'            --kernels-used=k_variable --variables-used=none -- addresses
keeps 'a table of virtual functions'        --kernels-used=k_vtable --variables-used=none -- addresses
keeps 'tables of dead code'                 --kernels-used=k_dead --variables-used=none -- addresses
keeps 'indirect calls'                      --kernels-used=k_op --variables-used=none -- caller callee
keeps 'an address that code takes'          --kernels-used=k_op,k_choose --variables-used=none -- caller callee
keeps 'a function that calls itself'        --kernels-used=k_self -- recursion
keeps 'functions that call each other'      --kernels-used=k_mutual -- recursion
keeps 'constants move'                      --kernels-used=k_call,k_pointer --variables-used=last -- constants
keeps 'shared memory of kernels'            --kernels-used=k_int,k_double --variables-used=none -- shared
keeps 'unwind data'                         --kernels-used=k2,k5 -- many
keeps 'compressed fat binaries'             --compress --use-host-info -- first second host
keeps 'what the host may use'               --ignore-host-info -- shapes copies
[ "$mode" != --bless ] || exit 0

name='cubins are written as they were read'
if "$units" ./*.o ./*.cubin >log; then ok; else bad "$(grep FAIL log | head -n 3)"; fi
name='damaged inputs'
if "$damage" 2000 1 ./*.o ./*.cubin >log; then ok; else bad "$(tail -n 3 log)"; fi
finish
