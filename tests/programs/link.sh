#!/bin/sh
# SPDX-License-Identifier: MIT
#
# link.sh [RUNS [SEED]]: tests orilink, and damages its inputs RUNS times (default 5000). Ends in `N passed, N failed, N
# skipped`. Cubins come from samples/link by nvcc; without nvcc only the object of tests/link/synthetic.c is tested.
. "$(dirname "$0")/../lib.sh"
ORILINK=${ORIOPT%/*}/orilink damage=${ORIOPT%/*}/damage
units=${ORIOPT%/*}/link-units
needs "$ORILINK" "$damage" "$units"
runs=${1:-5000} seed=${2:-1}
make_work
cd "$work" || exit 2

# says NAME FILE TEXT: FILE is exactly TEXT.
says() {
    name=$1
    if printf '%s\n' "$3" | cmp -s - "$2"; then
        ok
    else
        bad "unexpected text"
        printf '%s\n' "$3" | diff - "$2" | head -n 10
    fi
}

# -- Parts alone -----------------------------------------------------------------------------------------------------

name='units'
"$units" >log 2>&1 && ok || bad "$(head -n 3 log)"

# -- The documented example ------------------------------------------------------------------------------------------

$CC -std=c11 -o synthetic "$root/tests/link/synthetic.c" || exit 2
./synthetic synthetic.cubin synthetic.o || exit 2

exits 'transcript' 0 "$ORILINK" -v --dce=documented -o documented synthetic.o
says 'transcript' out 'add referenced external kernel: main_kernel
use host info
dead function 4(dead_fn)
removed un-used section .text.dead_fn (4)
removed un-used section .nv.info.dead_fn (17)
removed un-used section .rela.text.dead_fn (16)
removed un-used section .nv.constant.dead_fn (18)'

exits 'all is live' 0 "$ORILINK" -o same --root main_kernel --kernels-used=main_kernel,dead_fn synthetic.o
exits 'no host information' 0 "$ORILINK" -v --dce=documented synthetic.cubin
says 'no host information' out 'incomplete so ignore host info
dead function 4(dead_fn)
removed un-used section .text.dead_fn (4)
removed un-used section .nv.info.dead_fn (17)
removed un-used section .rela.text.dead_fn (16)
removed un-used section .nv.constant.dead_fn (18)'
exits 'relocatable' 0 "$ORILINK" -r -v -o relocatable synthetic.cubin
name='relocatable: nothing is removed'
cmp -s synthetic.cubin relocatable/synthetic.cubin && ok || bad "the file changed"
exits 'relocatable, why live' 0 "$ORILINK" -r --why-live dead_fn synthetic.cubin
says 'relocatable, why live' out 'dead_fn is live:
  dead_fn: nothing is removed from this link'
exits 'lto' 0 "$ORILINK" --lto -o lto synthetic.cubin
name='lto: nothing is removed'
cmp -s synthetic.cubin lto/synthetic.cubin && ok || bad "the file changed"
exits 'partial lto' 0 "$ORILINK" --lto --force-partial-lto -o lto synthetic.cubin
name='partial lto: dead code is removed'
! cmp -s synthetic.cubin lto/synthetic.cubin && ok || bad "the file is the same"

exits 'lists and host information' 0 "$ORILINK" --use-host-info --kernels-used=main synthetic.o
name='lists and host information'
grep -q 'warning: ignore -use-host-info because -kernels-used or -variables-used is specified' err && ok || bad "no warning"
exits 'variables alone' 2 "$ORILINK" --variables-used=x synthetic.cubin
exits 'no input' 2 "$ORILINK"
exits 'a missing file' 5 "$ORILINK" nothing.cubin
echo 'no ELF' >text.cubin
mkdir other
cp synthetic.cubin other
exits 'two files of one name' 2 "$ORILINK" -o never synthetic.cubin other/synthetic.cubin
says 'two files of one name' err "orilink: 'synthetic.cubin' and 'other/synthetic.cubin' would have one name in 'never'"
exits 'a list, verbose' 0 "$ORILINK" -v --kernels-used=main --variables-used='x*' synthetic.o
name='a list, verbose'
head -n 3 out >lines
says 'a list, verbose' lines 'add referenced external kernel: *main*
add referenced internal kernel: *main*
add referenced variable: *x*'
printf '!<arch>\n%-58s`\n01234567890123456789' '#1/20           0           0     0     644     20' >bsd.a
exits 'an archive of BSD' 1 "$ORILINK" bsd.a
says 'an archive of BSD' err "orilink: error: 'bsd.a' is an archive in the format of BSD; GNU ar makes others"
exits 'a text' 1 "$ORILINK" -o never text.cubin
name='a text'
[ ! -e never ] && ok || bad "an output was left"

exits 'why live' 0 "$ORILINK" --kernels-used=main --why-live helper_b synthetic.cubin
says 'why live' out 'helper_b is live:
  main_kernel: --kernels-used names it
  calls helper_a
  calls helper_b'
exits 'why dead' 0 "$ORILINK" --kernels-used=main --why-live dead_fn synthetic.cubin
says 'why dead' out 'dead_fn is dead: nothing that is live refers to it'
exits 'why unknown' 2 "$ORILINK" --why-live helper_c synthetic.cubin
says 'why unknown' err "orilink: no input defines 'helper_c'; did you mean helper_a, helper_b or dead_fn?"
exits 'gc sections' 0 "$ORILINK" --print-gc-sections synthetic.cubin
says 'gc sections' out "removing unused section '.text.dead_fn' in file 'synthetic.cubin'
removing unused section '.rela.text.dead_fn' in file 'synthetic.cubin'
removing unused section '.nv.info.dead_fn' in file 'synthetic.cubin'
removing unused section '.nv.constant.dead_fn' in file 'synthetic.cubin'"

exits 'callgraph' 0 "$ORILINK" --dump-callgraph --dot-file calls.dot synthetic.cubin
says 'callgraph' calls.dot 'digraph callgraph {
    "main_kernel" -> "helper_a";
    "helper_a" -> "helper_b";
}'
exits 'map' 0 "$ORILINK" -Map map synthetic.cubin
says 'map' map 'removed
       128  .text.dead_fn  dead_fn  synthetic.cubin
kept
       128  .text.main_kernel  main_kernel  synthetic.cubin
       128  .text.helper_a  helper_a  synthetic.cubin
       128  .text.helper_b  helper_b  synthetic.cubin
       128 bytes of code and variables removed, 384 kept'
exits 'json' 0 "$ORILINK" --report=json synthetic.cubin
says 'json' out '{"schema":1,"symbols":[
{"name":"main_kernel","kind":"kernel","file":"synthetic.cubin","live":true,"root":"the host may launch any kernel","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"helper_a","kind":"function","file":"synthetic.cubin","live":true,"because":"main_kernel","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"helper_b","kind":"function","file":"synthetic.cubin","live":true,"because":"helper_a","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"dead_fn","kind":"function","file":"synthetic.cubin","live":false}
]}'
exits 'a root of its own' 0 "$ORILINK" -v --dce=documented --root dead_fn synthetic.cubin
says 'a root of its own' out 'incomplete so ignore host info
dead function 1(main_kernel)
removed un-used section .text.main_kernel (1)
removed un-used section .nv.info.main_kernel (12)
removed un-used section .rela.text.main_kernel (13)
removed un-used section .nv.note.main_kernel (14)'

# damaged FILES...: no damage to the files ends in a crash, an internal error, or a run of two seconds.
damaged() {
    name="damaged inputs"
    if "$damage" "$runs" "$seed" "$@" >log 2>&1; then
        ok
    else
        bad "$(tail -n 3 log)"
    fi
}
damaged synthetic.cubin synthetic.o

# -- Real cubins -----------------------------------------------------------------------------------------------------

have nvcc && have nvlink && have python3 || {
    skip "no nvcc, nvlink or python3: nothing is linked"
    finish
}
for sm in 75 80 90; do
    for file in first second shapes copies; do
        nvcc -rdc=true -cubin -arch=sm_$sm -o $file.$sm.cubin "$root/samples/link/$file.cu" >log 2>&1 || {
            name="sm_$sm"
            bad "nvcc: $(head -n 1 log)"
        }
    done
done

for sm in 75 80 90; do
    nvcc -rdc=true -cubin -arch=sm_$sm -o weak1.$sm.cubin "$root/samples/link/weak.cu" >log 2>&1
    nvcc -rdc=true -cubin -arch=sm_$sm -o weak2.$sm.cubin -DSECOND "$root/samples/link/weak.cu" >log 2>&1
done

# links NAME SM ONLY KERNELS FILES...: nvlink's result for the rewritten files has the code of its result for the
# originals with the same kernels, but for the functions ONLY.
# KERNELS `host`: host information decides. $variables has more options of orilink.
links() {
    name="$1, sm_$2" sm=$2 only=$3 kernels=--kernels-used=$4
    [ "$4" != host ] || kernels=--use-host-info
    variables=${variables-}
    shift 4
    rm -rf small
    if ! "$ORILINK" -arch sm_"$sm" -o small "$kernels" $variables "$@" >out 2>err; then
        bad "$(head -n 1 err)"
        return
    fi
    for file in small/*.cubin; do
        [ ! -e "$file" ] || python3 "$root/tests/link/sections.py" "$file" >log || {
            bad "$(cat log)"
            return
        }
    done
    (cd small && nvlink -arch=sm_"$sm" -o linked "$@") >log 2>&1 || {
        bad "$(head -n 1 log)"
        return
    }
    nvlink -arch=sm_"$sm" "$kernels" -o reference "$@" >log 2>&1
    if ! python3 "$root/tests/link/sections.py" small/linked reference >out; then
        bad "$(head -n 1 out)"
    elif [ "$(sed -n 's/^only: //p' out)" != "$only" ]; then
        bad "nvlink keeps '$(sed -n 's/^only: //p' out)', expected '$only'"
    else
        ok
    fi
}

for sm in 75 80 90; do
    links 'a chain of calls' $sm '' main_kernel first.$sm.cubin second.$sm.cubin
    links 'one input dies' $sm '' other first.$sm.cubin second.$sm.cubin
    links 'a table of functions' $sm '' ind first.$sm.cubin second.$sm.cubin
    variables=--variables-used=unused
    links 'a variable moves' $sm '_Z2t1i _Z2t2i' main_kernel first.$sm.cubin second.$sm.cubin
    variables=
    links 'every kernel' $sm '' _Z first.$sm.cubin second.$sm.cubin
    links 'no kernel' $sm '' nothing first.$sm.cubin second.$sm.cubin
    links 'no weak copy' $sm _ZN1B1vEi k_virt shapes.$sm.cubin copies.$sm.cubin
    links 'a weak copy of the second file' $sm '' k_copies copies.$sm.cubin shapes.$sm.cubin
    links 'the first weak copy' $sm '' k_ weak1.$sm.cubin weak2.$sm.cubin
    links 'the weak copy of fewer registers' $sm _Z4onlyi k_ weak2.$sm.cubin weak1.$sm.cubin
    links 'virtual functions' $sm '' k_virt shapes.$sm.cubin
    for kernel in k_tab k_rec k_print k_m k_static k_t1 k_shared; do
        links "$kernel" $sm _ZN1D1vEi $kernel shapes.$sm.cubin
    done
done

# asks NAME OPTIONS TEXT: orilink prints a line TEXT.
asks() {
    name=$1
    "$ORILINK" $2 >out 2>err
    grep -qxF -e "$3" out && ok || bad "there is no '$3'"
}
asks 'managed memory' '--kernels-used=k_static --variables-used=none --why-live=mg shapes.80.cubin' '  mg: it is managed memory'
asks 'a variable of a list' '--kernels-used=k_static --variables-used=rr --why-live=arr shapes.80.cubin' \
    '  arr: --variables-used or the host names it'
asks 'a variable that the host may find' '--kernels-used=k_t1 --why-live=arr shapes.80.cubin' \
    '  arr: the host may access any variable'
asks 'a variable of no list' '--kernels-used=k_t1 --variables-used=none --why-live=arr shapes.80.cubin' \
    'arr is dead: nothing that is live refers to it'

"$ORILINK" -o small --kernels-used=other first.80.cubin second.80.cubin
exits 'an undefined symbol of dead code' 2 "$ORILINK" --why-live _Z2hbi small/first.80.cubin

# recursion and stack
exits 'report' 0 "$ORILINK" --report=text --kernels-used=k_rec shapes.80.cubin
says 'report' out 'recursion: odd(int), even(int)
kernel k_rec(int*): 24 registers, a stack of unknown size'

# -- Host objects ----------------------------------------------------------------------------------------------------

# compiles FILE NAME OPTIONS...: makes an object of a file in samples/link.
compiles() {
    file=$1 object=$2
    shift 2
    nvcc -rdc=true -c -o "$object" "$@" "$root/samples/link/$file.cu" >log 2>&1 && return
    name=$object
    bad "nvcc: $(head -n 1 log)"
}
table='_Z2t1i _Z2t2i'  # functions that only a dead variable names
for sm in 75 80 90; do
    for file in first second host; do
        compiles $file $file.$sm.o -arch=sm_$sm
    done
    links 'host objects' $sm "$table" host first.$sm.o second.$sm.o host.$sm.o
    ar rc library.$sm.a second.$sm.o
    links 'an archive' $sm "$table" host first.$sm.o library.$sm.a host.$sm.o
    compiles second plain.$sm.o -arch=sm_$sm -no-compress
    links 'not compressed' $sm "$table" host first.$sm.o plain.$sm.o host.$sm.o
    compiles second lz4.$sm.o -arch=sm_$sm -Xfatbin -compress-mode=speed
    links 'LZ4' $sm "$table" host first.$sm.o lz4.$sm.o host.$sm.o
    links 'a cubin beside them' $sm '' host first.$sm.o second.$sm.cubin host.$sm.o
    (cp host.$sm.o second.$sm.o small && cd small && nvcc -arch=sm_$sm -o program first.$sm.o second.$sm.o host.$sm.o) >log 2>&1
    name="a program, sm_$sm"
    [ -x small/program ] && ok || bad "$(head -n 1 log)"
done
compiles second several.o -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80
for sm in 75 80; do
    links 'several targets' $sm "$table" host first.$sm.o several.o host.$sm.o
done
toolkit=$(dirname "$(command -v nvcc)")/..
if cp "$toolkit/lib64/libcudadevrt.a" . 2>/dev/null; then
    for sm in 75 80 90; do
        compiles launch launch.$sm.o -arch=sm_$sm
        links 'kernels that launch kernels' $sm _Z12unused_childPi host launch.$sm.o libcudadevrt.a
    done
    name='the library of kernel launches'
    cmp -s libcudadevrt.a small/libcudadevrt.a && ok || bad "it changed"
    rm libcudadevrt.a
else
    skip "there is no libcudadevrt.a"
fi
compiles second opaque.o -gencode arch=compute_80,code=compute_80
asks 'code that cannot be read' "-arch sm_80 --why-live=_Z5dead1i first.80.o opaque.o host.80.o" \
    '  _Z5dead1i: code that cannot be read may refer to it'
asks 'the host uses no variable' '--why-live=table first.80.o second.80.o host.80.o' \
    'table is dead: nothing that is live refers to it'
damaged ./*.cubin ./*.o library.75.a

finish
