#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scenarios.sh [RUNS [SEED]]: rewrites cubins, host objects and archives of samples/link for sm_75, 80 and 90, links
# them by nvlink, and compares the result with nvlink's link of the originals with the same roots. Then damages the
# files RUNS times (default 5000). Ends in `N passed, N failed, N skipped`.
#
# Environment: LINK_FILES, a folder for the compiled files; if it exists, they are taken from there.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/link/links.sh"
damage=${ORIOPT%/*}/damage units=${ORIOPT%/*}/link-units
needs "$damage" "$units"
runs=${1:-5000} seed=${2:-1}

# -- Files -----------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
compile() {
    for file in first second host overloads constants shapes copies; do
        starts object $file $file $targets -no-compress
    done
    starts object zstd second $targets
    starts object lz4 second $targets -Xfatbin -compress-mode=speed
    starts object launch launch $targets
    starts object opaque second -gencode arch=compute_80,code=compute_80
    for file in addresses recursion many shared alias_user; do
        starts cubins $file $file
    done
    starts cubins weak1 weak
    starts cubins weak2 weak -DSECOND
    starts cubins statics1 statics
    starts cubins statics2 statics -DSECOND
    starts cubins caller indirect
    starts cubins callee indirect -DSECOND
    starts cubins debug first -G
    starts cubins lines1 first -lineinfo
    starts cubins lines2 second -lineinfo
    sed 's/_one/_two/; s/ 3/ 5/g' "$samples/local.ptx" >local2.ptx
    for sm in 75 80 90; do
        starts ptxas -c -arch=sm_$sm -o alias.$sm.cubin "$samples/alias.ptx"
        starts ptxas -c -arch=sm_$sm -o local1.$sm.cubin "$samples/local.ptx"
        starts ptxas -c -arch=sm_$sm -o local2.$sm.cubin local2.ptx
    done
    compiled
    extract first.o second.o overloads.o constants.o shapes.o copies.o ./*.fatbin
    rm ./*.fatbin log.*
    ar rc library.a second.o copies.o
    objcopy -R .nvHRKE -R .nvHRKI -R .nvHRCE -R .nvHRCI -R .nvHRDE -R .nvHRDI second.o bare.o
    cp bare.o my_cudadevrt.o
    ar rc libmycudadevrt.a bare.o
    devrt=$(dirname "$(command -v nvcc)")/../lib64/libcudadevrt.a
    [ ! -e "$devrt" ] || cp "$devrt" .
}
# Mutants share the files of the first run.
if [ -d "${LINK_FILES-}" ]; then
    cp -R "$LINK_FILES/." .
else
    compile
    [ ! "${LINK_FILES-}" ] || cp -R . "$LINK_FILES"
fi

name='cubins are written as they were read'
if "$units" ./*.cubin >log 2>&1; then ok; else bad "$(grep FAIL log | head -n 3)"; fi

# -- Cubins ----------------------------------------------------------------------------------------------------------

table='_Z2t1i _Z2t2i' # functions that only a dead variable names
dead_vtable='_ZN1D1vEi'
# functions of addresses.cu, in the order of names
variable=_Z11in_variablei dead='_Z12in_dead_codei _Z13in_dead_tablei' callee=_Z13of_dead_tablei code=_Z7in_codei
circle=_ZN10DeadCircle4areaEi square='_ZN5Shape5edgesEi _ZN6Square4areaEi'
cubin_links() {
    links 'a chain of calls'                        main_kernel -       ''  first second
    links 'one input dies'                          other       -       ''  first second
    links 'a table of functions'                    ind         -       ''  first second
    links 'a variable moves'                        main_kernel unused  "$table"  first second
    links 'only variables go'                       _Z,main_kernel none ''  first second
    links 'every kernel'                            _Z          -       ''  first second
    links 'no kernel'                               nothing     -       ''  first second
    links 'the order of inputs'                     main_kernel none    "$table"  second first

    # patterns
    links 'an exact name'                           _Z1kPf      -       ''  overloads
    links 'a name that others contain'              _Z1kPi      -       ''  overloads
    links 'several names'                           _Z2kkPi,_Z2ktIf -   ''  overloads
    links 'a wildcard'                              '_Z1k*f'    -       ''  overloads

    # symbols of one name
    links 'static functions of one name'            k_statics   none    ''  statics1 statics2
    links 'one of two static functions'             k_statics_two none  ''  statics1 statics2
    links 'static kernels of one name'              k_own       none    ''  statics1 statics2
    links 'local symbols of one name'               k_local     none    ''  local1 local2
    links 'one of two local symbols'                k_local_one none    ''  local1 local2
    links 'the other local symbol'                  k_local_two none    ''  local1 local2
    links 'no weak copy'                            k_virt      -       _ZN1B1vEi  shapes copies
    links 'a weak copy of the second file'          k_copies    -       ''  copies shapes
    links 'unwind data of weak copies'              k_copies,k_t1 -     ''  shapes copies
    links 'the first weak copy'                     k_          -       ''  weak1 weak2
    links 'the weak copy of fewer registers'        k_          -       _Z4onlyi  weak2 weak1
    links 'calls of a dead weak copy'               k_,of_only  -       ''  weak2 weak1
    links 'second names'                            k_alias     -       ''  alias alias_user
    links 'a second name in another file'           k_user      -       ''  alias alias_user
    links 'second names, the other order'           k_user,k_dead -     ''  alias_user alias
    links 'dead second names'                       nothing     -       ''  alias alias_user

    # addresses of functions
    links 'addresses that dead code takes'          nothing     none \
        "$variable $dead $code $circle $square" addresses
    links 'an address in code'                      k_code      none \
        "$variable $dead $callee $circle $square" addresses
    links 'an address in a variable'                k_variable  none \
        "$dead $callee $code $circle $square" addresses
    links 'an address in a dead variable'           k_code      - \
        "_Z12in_dead_codei $circle $square" addresses
    links 'a table of virtual functions'            k_vtable    none \
        "$variable $dead $code $circle" addresses
    links 'tables of dead code'                     k_dead      none \
        "$variable _ZN6Square4areaEi" addresses
    links 'virtual functions'                       k_virt      -       ''  shapes

    # indirect calls
    links 'an indirect call'                        k_op        none    '_Z6mix_opfi _Z8other_opi'  caller callee
    links 'a call of another signature'             k_mix       none    '_Z8first_opi _Z8other_opi'  caller callee
    links 'an indirect and a direct call'           k_both      none    _Z6mix_opfi  caller callee
    links 'an address that code takes'              k_op,k_choose none  _Z6mix_opfi  caller callee
    links 'a prototype'                             k_direct    none    '_Z8first_opi _Z8other_opi'  caller callee

    # recursion
    links 'a function that calls itself'            k_self      -       ''  recursion
    links 'functions that call each other'          k_mutual    -       ''  recursion
    links 'dead recursion'                          nothing     -       ''  recursion

    # places
    links 'a constant moves'                        k_fixed     none    ''  constants
    links 'a constant moves, by index'              k_index     none    ''  constants
    links 'a constant of a function moves'          k_call      none    ''  constants
    links 'the address of a constant moves'         k_pointer   none    ''  constants
    links 'constants of a list'                     k_fixed     last,dead_third '' constants
    links 'shared memory of kernels'                k_int,k_double none ''  shared
    links 'unwind data of a function'               k2          -       ''  many
    links 'unwind data of all but one'              k1,k3,k4,k5,k6,k7,k8 - '' many
    for kernel in k_tab k_rec k_print k_m k_static k_t1 k_shared; do
        links "$kernel"                             $kernel     -       $dead_vtable  shapes
        links "$kernel, no variable"                $kernel     none    "$(of_shapes $kernel)"  shapes
    done

    # debug information
    links '-G'                                      main_kernel -       ''  debug second
    links '-G, no variable'                         other       none    "$table"  debug second
    links '-lineinfo'                               main_kernel -       ''  lines1 lines2
    links '-lineinfo, no variable'                  bk          none    "$table"  lines1 lines2
}
# of_shapes KERNEL: prints the functions of shapes.cu that only dead tables name.
of_shapes() { [ "$1" = k_tab ] && echo "$dead_vtable" || echo "_Z3cb1i _Z3cb2i $dead_vtable"; }

# -- Host objects ----------------------------------------------------------------------------------------------------

host_links() {
    links 'host objects'                            host -  "$table"  first.o second.o host.o
    builds first.o second.o host.o
    links 'an archive'                              host -  "$table _ZN1B1vEi $dead_vtable"  first.o library.a host.o
    only_target_changes library.a first.o
    links 'zstd'                                    host -  "$table"  first.o zstd.o host.o
    links 'LZ4'                                     host -  "$table"  first.o lz4.o host.o
    builds first.o lz4.o host.o
    links 'a cubin beside them'                     host -  ''  first.o second host.o
    links 'one object without host information'     host -  ''  first.o bare.o host.o
    links 'a list instead of host information'      main_kernel none "$table" first.o bare.o host.o
    links 'a name like that of the library'         host -  ''  first.o my_cudadevrt.o host.o
    links 'an archive of such a name'               host -  ''  first.o libmycudadevrt.a host.o
    links 'a pattern keeps overloads'               host -  ''  overloads.o
    builds overloads.o
    links 'constants that the host names'           host -  ''  constants.o
    builds constants.o
    links 'a static kernel'                         host -  "_Z3cb1i _Z3cb2i _ZN1B1vEi $dead_vtable"  shapes.o copies.o
    builds shapes.o copies.o
    [ ! -e libcudadevrt.a ] ||
        links 'kernels that launch kernels'         host -  _Z12unused_childPi  launch.o libcudadevrt.a
}
# only_target_changes FILES...: the entries of fat binaries for the target $sm have changed, and no others.
only_target_changes() {
    name="$name: the other targets"
    for file; do
        $python "$root/tests/link/cubin.py" --entries "$file" >before
        $python "$root/tests/link/cubin.py" --entries "small/$file" >after
        changed=$(diff before after | sed -n 's/^[<>] \([0-9]*\) .*/\1/p' | sort -u)
        [ "$changed" = $sm ] && ok || bad "$file: those for '$changed' changed"
    done
}

for sm in 75 80 90; do
    cubin_links
    host_links
done
name='the library of kernel launches'
if [ -e libcudadevrt.a ]; then
    cmp -s libcudadevrt.a small/libcudadevrt.a && ok || bad "it changed"
else
    skip "there is no libcudadevrt.a"
fi

# -- What the files have ---------------------------------------------------------------------------------------------

# has FILE TEXT: a cubin has the property that scenarios are about.
has() {
    name="$1: $2"
    $python "$root/tests/link/cubin.py" --traps "$1" >out
    grep -qxF -e "$2" out && ok || bad "not found"
}
has first.80.cubin 'relocations of both types: _Z2hai'
has caller.80.cubin 'string of callgraph and prototype: #ii'
has callee.90.cubin 'string of callgraph and prototype: #iii'
has alias.90.cubin 'second name: other'
has constants.80.cubin 'constant by 0x40: table'
has constants.80.cubin 'constant by 0x3b: last'
has constants.90.cubin 'constant by 0x42: factor'
has many.90.cubin 'wrong common entry, of another function: _Z2k2Pi'

# -- Reasons ---------------------------------------------------------------------------------------------------------

# tells NAME TEXT OPTIONS...: orilink prints a line TEXT.
tells() {
    name=$1 text=$2
    shift 2
    "$ORILINK" "$@" >out 2>err
    grep -qxF -e "$text" out && ok || bad "there is no '$text'"
}
tells 'managed memory' '  mg: it is managed memory' \
    --kernels-used=k_static --variables-used=none --why-live=mg shapes.80.cubin
tells 'a variable of a list' '  arr: --variables-used or the host names it' \
    --kernels-used=k_static --variables-used=rr --why-live=arr shapes.80.cubin
tells 'a variable that the host may find' '  arr: the host may access any variable' \
    --kernels-used=k_t1 --why-live=arr shapes.80.cubin
tells 'a variable of no list' 'arr is dead: nothing that is live refers to it' \
    --kernels-used=k_t1 --variables-used=none --why-live=arr shapes.80.cubin
tells 'dead recursion' '_Z9dead_pongi is dead: nothing that is live refers to it' \
    --why-live=_Z9dead_pongi recursion.90.cubin
tells 'code that cannot be read' '  _Z5dead1i: code that cannot be read may refer to it' \
    -arch sm_80 --why-live=_Z5dead1i first.o opaque.o host.o
tells 'the host uses no variable' 'table is dead: nothing that is live refers to it' \
    -arch sm_80 --why-live=table first.o second.o host.o
tells 'the host names a constant' '  of_host: the host accesses it' -arch sm_80 --why-live=of_host constants.o

"$ORILINK" -o small --kernels-used=other first.80.cubin second.80.cubin
exits 'an undefined symbol of dead code' 2 "$ORILINK" --why-live _Z2hbi small/first.80.cubin

# recursion and stack
exits 'report' 0 "$ORILINK" --report=text --kernels-used=k_rec shapes.80.cubin
printf '%s\n' 'recursion: odd(int), even(int)' 'kernel k_rec(int*): 24 registers, a stack of unknown size' >expected
same expected out

# -- Damage ----------------------------------------------------------------------------------------------------------

name='damaged inputs'
"$damage" "$runs" "$seed" ./*.cubin ./*.o library.a >log 2>&1 && ok || bad "$(tail -n 3 log)"

finish
