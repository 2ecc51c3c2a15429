#!/bin/sh
# SPDX-License-Identifier: MIT
#
# link.sh [RUNS [SEED]]: tests orilink, and damages its inputs RUNS times (default 5000). Ends in `N passed, N failed, N
# skipped`. The input is the object of tests/link/synthetic.c; those of tests/link have real cubins.
. "$(dirname "$0")/../lib.sh"
ORILINK=${ORIOPT%/*}/orilink damage=${ORIOPT%/*}/damage
units=${ORIOPT%/*}/link-units layout=${ORIOPT%/*}/link-layout
needs "$ORILINK" "$damage" "$units" "$layout"
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

name='layout'
"$layout" >log 2>&1 && ok || bad "$(head -n 3 log)"
name='units'
"$units" >log 2>&1 && ok || bad "$(head -n 3 log)"

# -- The documented example ------------------------------------------------------------------------------------------

$CC -std=c11 -o synthetic "$root/tests/link/synthetic.c" || exit 2
./synthetic synthetic.cubin synthetic.o || exit 2

exits 'transcript' 0 "$ORILINK" -v --quiet --dce=documented -o documented synthetic.o
says 'transcript' err 'add referenced external kernel: main_kernel
use host info
dead function 4(dead_fn)
removed un-used section .text.dead_fn (4)
removed un-used section .nv.info.dead_fn (17)
removed un-used section .rela.text.dead_fn (16)
removed un-used section .nv.constant.dead_fn (18)'

exits 'all is live' 0 "$ORILINK" -o same --root main_kernel --kernels-used=main_kernel,dead_fn synthetic.o
exits 'no host information' 0 "$ORILINK" -v --quiet --dce=documented synthetic.cubin
says 'no host information' err 'incomplete so ignore host info
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
exits 'a list, verbose' 0 "$ORILINK" -v --kernels-used='main,dead*,*main' --variables-used='x*' synthetic.o
grep -v '^orilink: ' err | head -n 5 >lines
says 'a list, verbose' lines 'add referenced external kernel: *main*
add referenced external kernel: *dead*
add referenced internal kernel: *main*
add referenced internal kernel: *dead*
add referenced variable: *x*'
printf '!<arch>\n%-58s`\n01234567890123456789' '#1/20           0           0     0     644     20' >bsd.a
exits 'an archive of BSD' 1 "$ORILINK" bsd.a
says 'an archive of BSD' err "orilink: error: 'bsd.a' is an archive in the format of BSD; GNU ar makes others"
exits 'a text' 1 "$ORILINK" -o never text.cubin
name='a text'
[ ! -e never ] && ok || bad "an output was left"

# rejected FILE TEXT: orilink rejects a file with one message.
rejected() {
    exits "$1" 1 "$ORILINK" -o never "$1"
    says "$1" err "orilink: error: '$1' is $2"
}
inputs='cubin, fat binary, host object or archive'
rejected text.cubin "no $inputs"
printf '// c\n.version 7.0\n.target sm_80\n' >ptx.cubin
rejected ptx.cubin "PTX, not a $inputs; compile it with ptxas -c first"
printf 'target sm_80 ptx 7.0 address 64\n' >k.ori
rejected k.ori "Ori text, not a $inputs; convert it with oriopt --emit=ptx and compile it with ptxas -c first"
printf '__global__ void k() {}\n' >k.cu
rejected k.cu "CUDA or C++ source, not a $inputs; compile it with nvcc -dc first"
printf 'define void @k() {\n' >k.ll
rejected k.ll "LLVM IR, not a $inputs; compile it with llc -march=nvptx64 and ptxas -c first"
printf '\355CN\177\001' >k.ltoir
rejected k.ltoir "LTO IR, not a $inputs; compile its source with nvcc -dc first"
printf '\037\213\010\000' >a.o.gz
rejected a.o.gz "a file compressed by gzip, not a $inputs; decompress it first"
printf '\177ELF\002\001' >short.o
rejected short.o "no $inputs"

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
exits 'a map on a full device' 5 "$ORILINK" -Map=/dev/full synthetic.cubin
says 'a map on a full device' err "orilink: cannot write '/dev/full': No space left on device"
exits 'a map behind another report' 0 "$ORILINK" -Map=- --why-live dead_fn synthetic.cubin
{ echo 'dead_fn is dead: nothing that is live refers to it' && cat map; } >expected
same expected out
name='a map to a pipe'
"$ORILINK" -Map=/dev/stdout synthetic.cubin 2>err | cat >out
same map out
silent err
exits 'json' 0 "$ORILINK" --report=json synthetic.cubin
says 'json' out '{"schema":1,"symbols":[
{"name":"main_kernel","kind":"kernel","file":"synthetic.cubin","live":true,"root":"the host may launch any kernel","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"helper_a","kind":"function","file":"synthetic.cubin","live":true,"because":"main_kernel","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"helper_b","kind":"function","file":"synthetic.cubin","live":true,"because":"helper_a","registers":0,"stack":0,"recursive":false,"total":{"registers":0,"stack":0}},
{"name":"dead_fn","kind":"function","file":"synthetic.cubin","live":false}
]}'
exits 'a root of its own' 0 "$ORILINK" -v --quiet --dce=documented --root dead_fn synthetic.cubin
says 'a root of its own' err 'incomplete so ignore host info
dead function 1(main_kernel)
removed un-used section .text.main_kernel (1)
removed un-used section .nv.info.main_kernel (12)
removed un-used section .rela.text.main_kernel (13)
removed un-used section .nv.note.main_kernel (14)'

# -- The documented elimination --------------------------------------------------------------------------------------

# object NAME DESCRIPTION: makes NAME.cubin and NAME.o.
object() { ./synthetic "$1.cubin" "$1.o" "$2" || exit 2; }

# functions FILE: prints the functions that a file names, undefined ones last.
functions() { "$ORILINK" -r --report=json "$1" | sed -n 's/^{"name":"\([^"]*\)".*/\1/p' | paste -sd ' ' -; }

# documented NAME OPTIONS FILE TEXT FUNCTIONS: --dce=documented -v prints TEXT, apart from warnings, and the rewritten file has FUNCTIONS.
documented() {
    exits "$1" 0 "$ORILINK" -v --quiet --dce=documented -o documented $2 "$3"
    grep -v '^orilink: warning: ' err >lines
    says "$1" lines "$4"
    name="$1, rewritten"
    is "$(functions "documented/$3")" "$5"
}

object callers 'kernel main
function self
function head
function middle
function tail
function one
function two
call self self
call head middle
call middle tail
call one two
call two one'
documented 'callers' '' callers.cubin 'incomplete so ignore host info
dead function 3(head)
removed un-used section .text.head (3)' 'main self middle tail one two'
documented 'a root without callers' '--root head' callers.cubin 'incomplete so ignore host info
dead function 1(main)
removed un-used section .text.main (1)' 'self head middle tail one two'
exits 'callers, by reachability' 0 "$ORILINK" -o full callers.cubin
is "$(functions full/callers.cubin)" main

object address 'kernel main
function taken
function referenced
function in_data
function signed
function dead
section .rel.text.main 9 main
section .nv.global.init 0x70000008 -
section .rel.nv.global.init 9 .nv.global.init
address main taken
refers .rel.text.main referenced
refers .rel.nv.global.init in_data
signature signed'
documented 'address taken' --extra-warnings address.cubin 'incomplete so ignore host info
function 2(taken) has address taken but no call to it
function 3(referenced) has address taken but no call to it
function 4(in_data) has address taken but no call to it
function 5(signed) has address taken but no call to it
dead function 6(dead)
removed un-used section .text.dead (6)' 'main taken referenced in_data signed'
grep '^orilink: warning: ' err >lines
says 'address taken, warnings' lines 'orilink: warning: function 2(taken) has address taken but no call to it
orilink: warning: function 3(referenced) has address taken but no call to it
orilink: warning: function 4(in_data) has address taken but no call to it
orilink: warning: function 5(signed) has address taken but no call to it'
exits 'address taken, no warnings' 0 "$ORILINK" --dce=documented address.cubin
silent err
silent out

object kept 'kernel main
function __cuda_syscall_one
function pinned
other 4
function __cuda_uf_stub_main
function cuda_uf_stub_main
function not_pinned
other 0xeb'
documented 'names and flags' '' kept.cubin 'incomplete so ignore host info
dead function 5(cuda_uf_stub_main)
removed un-used section .text.cuda_uf_stub_main (5)
dead function 6(not_pinned)
removed un-used section .text.not_pinned (6)' 'main __cuda_syscall_one pinned __cuda_uf_stub_main'

object deferred 'kernel main
undefined first
undefined called
undefined taken
undefined __cuda_syscall_32f3056bbb
undefined __cuda_syscall_other
undefined of_dead
function dead
section .nv.info 0x70000000 -
section .debug_info 1 -
section .rel.debug_info 9 .debug_info
registers .nv.info first
refers .rel.debug_info first
address main taken
call main called
call dead of_dead'
documented 'deferred' '' deferred.cubin 'incomplete so ignore host info
dead function 8(dead)
removed un-used section .text.dead (8)
function 4(taken) has address taken but no call to it
dead function 6(__cuda_syscall_other)
dead function 2(first)' 'main called taken'
documented 'a deferred root' '--root first' deferred.cubin 'incomplete so ignore host info
dead function 1(main)
removed un-used section .text.main (1)
dead function 8(dead)
removed un-used section .text.dead (8)
function 4(taken) has address taken but no call to it
dead function 6(__cuda_syscall_other)' ''

object cascade 'kernel main
section .nv.info.main 0x70000000 main
section .nv.constant0.main 0x70000064 main
kernel dead_kernel
section .nv.local.dead_kernel 8 dead_kernel
section .nv.shared.dead_kernel 0x7000000a dead_kernel
section .nv.constant0.dead_kernel 0x70000064 dead_kernel
section .nv.constant2.dead_kernel 0x70000066 dead_kernel
section .rel.nv.constant2.dead_kernel 9 .nv.constant2.dead_kernel
section .nv.note.dead_kernel 4 dead_kernel
section .rela.text.dead_kernel 9 dead_kernel
section .nv.info.dead_kernel 0x70000000 dead_kernel
function dead_fn
section .nv.local.dead_fn 8 dead_fn
section .nv.constant.dead_fn 1 dead_fn
section .nv.info.dead_fn 0x70000000 dead_fn
refers .rel.nv.constant2.dead_kernel dead_kernel
refers .nv.note.dead_kernel dead_kernel'
documented 'the cascade' --kernels-used=main cascade.cubin 'add referenced external kernel: *main*
add referenced internal kernel: *main*
dead function 2(dead_kernel)
removed un-used section .text.dead_kernel (2)
removed un-used section .nv.info.dead_kernel (21)
removed un-used section .rela.text.dead_kernel (20)
removed un-used section .nv.note.dead_kernel (19)
removed un-used section .nv.constant2.dead_kernel (17)
removed un-used section .nv.constant0.dead_kernel (16)
removed un-used section .nv.shared.dead_kernel (15)
removed un-used section .nv.local.dead_kernel (14)
dead function 3(dead_fn)
removed un-used section .text.dead_fn (3)
removed un-used section .nv.info.dead_fn (24)
removed un-used section .nv.constant.dead_fn (23)' main

object twins 'kernel main
static twin
section .nv.constant2.twin 0x70000066 twin
static twin
section .nv.constant2.twin 0x70000066 twin'
object third 'static twin'
documented 'constants of one name' twins.cubin third.cubin 'incomplete so ignore host info
dead function 2(twin)
removed un-used section .text.twin (2)
removed un-used section .nv.constant2.twin (12)
dead function 3(twin)
removed un-used section .text.twin (3)
dead ocg constant section twin has multiple instances
removed un-used section .nv.constant2.twin (13)
dead function 1(twin)
removed un-used section .text.twin (1)
dead ocg constant section twin has multiple instances' ''

# Inputs that stay as they are, or that cannot be read, require what they may refer to.
object unknown_section 'undefined needed
function unused
section .nv.unknown 0x70000099 -'
object unknown_abi 'undefined needed
abi 7'
object needed 'kernel main
function needed
function other
static dead'
documented 'a file that stays' unknown_section.cubin needed.cubin 'incomplete so ignore host info
dead function 3(other)
removed un-used section .text.other (3)
dead function 4(dead)
removed un-used section .text.dead (4)' 'main needed'
documented 'a file of another ABI' unknown_abi.cubin needed.cubin 'incomplete so ignore host info
dead function 4(dead)
removed un-used section .text.dead (4)' 'main needed other'

# -- Host information ------------------------------------------------------------------------------------------------

object sets 'kernel external
kernel internal
kernel unused
host DI inner_global
host DE outer_global
host CI inner_constant
host CE outer_constant
host KI internal
host KE external
host KE external'
object second 'kernel second
host KE second
host DE outer_global'
object without 'kernel without
function helper'
documented 'all sets' sets.o second.o 'add referenced external kernel: external
add referenced internal kernel: internal
add referenced external constant: outer_constant
add referenced internal constant: inner_constant
add referenced external global: outer_global
add referenced internal global: inner_global
add referenced external kernel: second
use host info
dead function 3(unused)
removed un-used section .text.unused (3)' second
name='all sets, rewritten'
is "$(functions documented/sets.o)" 'external internal'
documented 'an object without host information' sets.o without.o 'incomplete so ignore host info
dead function 2(helper)
removed un-used section .text.helper (2)' without
documented 'a cubin of another ABI' unknown_abi.cubin second.o 'incomplete so ignore host info' second
exits 'ignored host information' 0 "$ORILINK" -v --quiet --dce=documented -o ignored --ignore-host-info sets.o without.o
silent err
same without.o ignored/without.o
ar rc libcudadevrt.a without.o
documented 'the library of kernel launches' 'libcudadevrt.a' second.o 'add referenced external kernel: second
add referenced external global: outer_global
use host info' second
rm libcudadevrt.a

# -- Names of lists that match nothing ---------------------------------------------------------------------------------

# warns TEXT OPTIONS...: the only message is a warning.
warns() {
    text=$1
    shift
    exits "warning: $*" 0 "$ORILINK" "$@"
    says "warning: $*" err "orilink: warning: $text"
}
object five 'kernel step
kernel stop
kernel one
kernel main
kernel two'
object none 'function helper'
warns "--kernels-used: no kernel's name contains 'zzz'; the only kernel is main_kernel" --kernels-used=zzz synthetic.cubin
warns "--kernels-used: no kernel's name contains 'sten'; the kernels are step, stop, one and 2 others" \
    --kernels-used='sten,step,*sto*' five.cubin
warns "--kernels-used: no kernel's name contains 'dead_fn' or 'x*y'; the kernels are main and dead_kernel" \
    --kernels-used='dead_fn,*dead_fn*,dead,x*y' --kernels-used='main,dead_fn' cascade.cubin
warns "--kernels-used: no kernel's name contains 'a1', 'a2', 'a3' or 1 other; the kernels are one, main, two and 2 others" \
    --kernels-used=a1,a2,a3,main,a4 five.cubin
warns "--kernels-used: no kernel's name contains 'zzz'; there are no kernels" --kernels-used=zzz none.cubin
exits 'names that match' 0 "$ORILINK" --kernels-used='s*o,step,*ne*,_' five.cubin synthetic.cubin
silent err
exits 'names that a file may have that cannot be read' 0 "$ORILINK" --kernels-used=zzz five.cubin unknown_abi.cubin
silent err
exits 'names of a link that removes nothing' 0 "$ORILINK" -r --kernels-used=zzz five.cubin
silent err
warns "--kernels-used: no kernel's name contains '$(repeat z 120)...'; the only kernel is main_kernel" \
    --kernels-used="$(repeat z 300)" synthetic.cubin
warns "--variables-used: no variable's name contains 'q'; the variables are ca, da, table and 1 other" \
    --kernels-used=main --variables-used=q,d -arch=sm_80 "$root/tests/link/cubins/first.o"

# -- Summary -----------------------------------------------------------------------------------------------------------

# summary TEXT OPTIONS...: the last line of -v.
summary() {
    text=$1
    shift
    exits "summary: $*" 0 "$ORILINK" -v "$@"
    tail -n 1 err >lines
    says "summary: $*" lines "orilink: device code $text"
}
summary '512 -> 384 bytes, 1 function removed' -o small synthetic.o
summary '512 -> 384 bytes, 1 function removed; nothing is written without -o' synthetic.o
summary '512 -> 512 bytes, nothing removed' -r -o small synthetic.o
exits 'no summary' 0 "$ORILINK" -o small synthetic.o
silent err
exits 'no summary of a failure' 2 "$ORILINK" -v --why-live helper_c -o small synthetic.o
is "$(grep -c 'device code' err)" 0
name='summary on a terminal'
if [ "$(script -qec 'echo yes' /dev/null 2>/dev/null | tr -d '\r')" = yes ]; then
    script -qec "'$ORILINK' -o small synthetic.o" /dev/null </dev/null | tr -d '\r' >lines
    says "$name" lines 'orilink: device code 512 -> 384 bytes, 1 function removed'
    script -qec "'$ORILINK' --quiet -o small synthetic.o" /dev/null </dev/null | tr -d '\r' >lines
    name='--quiet on a terminal'
    silent lines
else
    skip "there is no script(1) that makes a terminal"
fi

# -- Compression -----------------------------------------------------------------------------------------------------

# entry FILE AT SIZE: prints a number of the first entry of the first fat binary of a file.
fat_at() { grep -abo "$(printf 'P\355U\272')" "$1" | head -n 1 | cut -d : -f 1; }
entry() { od -An -t "u$3" -j $(($(fat_at "$1") + 16 + $2)) -N "$3" "$1" | tr -d ' '; }
flags=40 packed=16 unpacked=56 LZ4=8192

object three 'kernel one
kernel two
kernel three
host KE three'
exits 'uncompressed' 0 "$ORILINK" -o plain --kernels-used=one,two three.o
exits 'compressed' 0 "$ORILINK" --compress -o packed --kernels-used=one,two three.o
silent err
cp packed/three.o packed.o
[ "$(wc -c <packed/three.o)" -lt "$(wc -c <plain/three.o)" ] && ok || bad "it is not smaller"
is "$(functions packed/three.o)" 'one two'
exits 'rewritten, compressed' 0 "$ORILINK" --compress -o again --kernels-used=one,two packed/three.o
same packed/three.o again/three.o
exits 'a file that does not change' 0 "$ORILINK" --compress -o again three.cubin plain/three.o
same plain/three.o again/three.o
same three.cubin again/three.cubin
exits 'compressed files, rewritten' 0 "$ORILINK" -o again --kernels-used=one packed/three.o
exits 'uncompressed files, rewritten' 0 "$ORILINK" -o once --kernels-used=one plain/three.o
same once/three.o again/three.o
set -- -arch=sm_80 --kernels-used=main_kernel --variables-used=none "$root/tests/link/cubins/first.o" \
    "$root/tests/link/cubins/second.o"
removed='4,960 -> 1,360 bytes, 10 functions and 2 variables removed'
summary "$removed; 2 fat binaries are stored uncompressed, 5,784 bytes larger than with --compress" -o real "$@"
summary "$removed" --compress -o real "$@"
summary "$removed; nothing is written without -o" --compress "$@"
name='entries of fat binaries'
if [ "$(echo x | grep -abo x)" = 0:x ]; then
    is "$(($(entry packed/three.o $flags 8) & LZ4)) $(entry packed/three.o $unpacked 8)" "$LZ4 $(entry plain/three.o 8 8)"
    is "$(entry again/three.o $flags 8) $(entry again/three.o $packed 4) $(entry again/three.o $unpacked 8)" '17 0 0'
    # A frame of the old format of lz4 is a magic number, and the size and the bytes of each block.
    if have lz4; then
        tail -c +$(($(fat_at packed/three.o) + 16 + 64 + 1)) packed/three.o | head -c "$(entry packed/three.o $packed 4)" >block
        tail -c +$(($(fat_at plain/three.o) + 16 + 64 + 1)) plain/three.o | head -c "$(entry plain/three.o 8 8)" >cubin
        tail -c +$(($(fat_at packed/three.o) + 16 + packed + 1)) packed/three.o | head -c 4 >size
        { printf '\002\041\114\030' && cat size block; } | lz4 -dc >unpacked 2>log || bad "lz4: $(cat log)"
        same cubin unpacked
    else
        skip "there is no lz4 that reads the block"
    fi

    name='the bytes that --compress saves'
    for file in first second; do
        rm -rf plain packed
        set -- -v -arch=sm_80 --kernels-used=main_kernel --variables-used=none "$root/tests/link/cubins/$file.o"
        "$ORILINK" -o plain "$@" 2>err && "$ORILINK" --compress -o packed "$@" 2>log || bad "exit $?"
        saved=$(($(od -An -tu8 -j $(($(fat_at plain/$file.o) + 8)) -N 8 plain/$file.o) - \
            $(od -An -tu8 -j $(($(fat_at packed/$file.o) + 8)) -N 8 packed/$file.o)))
        is "$(tail -n 1 err | tr -d , | sed 's/.*uncompressed \([0-9]*\) bytes.*/\1/')" "$saved"
        is "$(grep -c uncompressed log)" 0
    done
else
    skip "grep finds no offsets of bytes"
fi

# -- Activation --------------------------------------------------------------------------------------------------------

# activation DOCUMENTED FULL OPTIONS...: the functions that stay of an object whose host information names `first`.
object activation 'kernel first
kernel second
function called
function dead
call second called
host KE first'
activation() {
    documented=$1 full=$2
    shift 2
    for mode in documented full; do
        exits "activation: $mode, $*" 0 "$ORILINK" --dce=$mode -o active "$@" activation.o
        [ $mode = full ] && documented=$full
        is "$(functions active/activation.o)" "$documented"
    done
}
all='first second called dead'
activation 'first called' first
activation 'first called' first --use-host-info
activation 'second called' 'second called' --kernels-used=second
activation 'second called' 'second called' --kernels-used=second --use-host-info
says 'lists replace host information' err \
    'orilink: warning: ignore -use-host-info because -kernels-used or -variables-used is specified'
activation 'second called' 'second called' --kernels-used=second --variables-used=x
activation called first --variables-used=x
activation "$all" 'first second called' --ignore-host-info
activation 'second called' 'second called' --ignore-host-info --kernels-used=second
activation "$all" "$all" -r
activation "$all" "$all" -r --kernels-used=second
activation "$all" "$all" --lto
activation "$all" "$all" --lto --kernels-used=second
activation 'first called' first --lto --force-partial-lto
activation 'second called' 'second called' --lto --force-partial-lto --kernels-used=second

# -- Odd symbol tables -----------------------------------------------------------------------------------------------

plain='kernel main
section .rel.text.main 9 main
function dead
function live
call main live
refers .rel.text.main -'
for odd in '' 'junk 3' 'junk 999' 'locals 0' 'locals 0xffffffff'; do
    object odd "$plain
$odd"
    documented "a symbol table with '$odd'" '' odd.cubin 'incomplete so ignore host info
dead function 2(dead)
removed un-used section .text.dead (2)' 'main live'
    case $odd in
    '') mv documented/odd.cubin usual.cubin ;;
    junk*) same documented/odd.cubin usual.cubin ;;
    esac
done

# -- Damage ----------------------------------------------------------------------------------------------------------

object reserved 'kernel main
reserved absolute
call main absolute'
exits 'a function in a reserved section' 1 "$ORILINK" --optimize-data-layout -o never reserved.cubin
says 'a function in a reserved section' err \
    "orilink: error: 'reserved.cubin' is damaged: function 2 (absolute) is in no section"
for type in 8 0x70000007 0x7000000a; do
    object beyond "kernel main
function dead
beyond .nv.global $type"
    exits "a section of type $type without bits, beyond the file" 1 "$ORILINK" -o never beyond.cubin
    says "a section of type $type without bits, beyond the file" err \
        "orilink: error: 'beyond.cubin' is damaged: section 7, 0x0 bytes at 0xfffffffffffffffc, is not in the file"
done
object inside 'kernel main
function dead
host KE main
inside 512'
exits 'a section in the fat binary' 1 "$ORILINK" -o never inside.o
says 'a section in the fat binary' err \
    "orilink: error: 'inside.o' is damaged: section 3 lies in section 2, the fat binary"

# -- Roots -------------------------------------------------------------------------------------------------------------

exits 'the only root' 0 "$ORILINK" --root helper_a -Map map synthetic.cubin
name='the only root'
is "$(sed -n '/^kept/,$s/.* .text\.\([a-z_]*\) .*/\1/p' map | paste -sd ' ' -)" 'helper_a helper_b'
exits 'an unknown root' 2 "$ORILINK" --root helper_c synthetic.cubin
says 'an unknown root' err "orilink: no input defines 'helper_c'; did you mean helper_a, helper_b or dead_fn?"
exits 'functions that nvlink never removes' 0 "$ORILINK" -o full kept.cubin
name='functions that nvlink never removes'
is "$(functions full/kept.cubin)" "$(functions documented/kept.cubin)"

# damaged FILES...: no damage to the files ends in a crash, an internal error, or a run of two seconds.
damaged() {
    name="damaged inputs"
    if "$damage" "$runs" "$seed" "$@" >log 2>&1; then
        ok
    else
        bad "$(tail -n 3 log)"
    fi
}
damaged synthetic.cubin synthetic.o deferred.cubin cascade.cubin sets.o packed.o

finish
