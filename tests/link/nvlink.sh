#!/bin/sh
# SPDX-License-Identifier: MIT
#
# nvlink.sh: tests the runs of nvlink by orilink: --nvlink, --verify-link, libraries, and files of nvlink -r. A script
# takes the place of nvlink for command lines and failures. Ends in `N passed, N failed, N skipped`.
. "$(dirname "$0")/../lib.sh"
ORILINK=${ORIOPT%/*}/orilink
needs "$ORILINK"
make_work
cd "$work" || exit 2
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR

# no_leftovers: no temporary folder is left.
no_leftovers() {
    name="$name: temporary files"
    [ -z "$(ls "$TMPDIR")" ] && ok || bad "$(ls "$TMPDIR") is left"
}

# -- Command lines, with a script for nvlink -------------------------------------------------------------------------

echo 'int nothing;' | $CC -x c -c -o nothing.o - || exit 2
$CC -std=c11 -o synthetic "$root/tests/link/synthetic.c" || exit 2
./synthetic synthetic.cubin synthetic.o || exit 2
cp synthetic.cubin other.cubin

# The linked file is the first input. The command line goes to a file, with the temporary folder cut out.
cat >stand-in <<'EOF'
#!/bin/sh
printf '%s\n' "$@" | sed "s,^$TMPDIR/orilink\.[^/]*/,," >>args
first=
for word; do
    case $word in *.cubin) first=${first:-$word} ;; esac
done
eval "cp \"\$first\" \"\${$#}\""
exit ${STATUS:-0}
EOF
chmod +x stand-in

exits 'command line' 0 "$ORILINK" --nvlink=./stand-in -arch=sm_80 --kernels-used=' main , , main_kernel' --kernels-used= \
    --variables-used=x,y --keep-system-libraries -Xnvlink=-g,--suppress-debug-info -o linked synthetic.cubin other.cubin
name='command line'
"$ORILINK" -o small --kernels-used=main --variables-used=x,y synthetic.cubin other.cubin 2>err
printf '%s\n' -arch=sm_80 --ignore-host-info --keep-system-libraries -g --suppress-debug-info \
    0-synthetic.cubin 1-other.cubin -o linked >expected
same expected args
same small/synthetic.cubin linked
no_leftovers
rm args linked

name='a linked file to a pipe'
"$ORILINK" --nvlink=./stand-in -arch=sm_80 --kernels-used=main --variables-used=x,y -o /dev/stdout synthetic.cubin 2>err | cat >out
same small/synthetic.cubin out
says err "no variable's name contains 'x' or 'y'; there are no variables"
rm args

exits 'options of nvlink' 0 "$ORILINK" --nvlink=./stand-in --kernels-used=main -preserve-relocs -m64 --Werror -g -w \
    -Xptxas -v,-w -Ofc max --time=- --output-file linked synthetic.cubin
printf '%s\n' -arch=sm_80 --ignore-host-info --preserve-relocs --machine=64 --warning-as-error --debug \
    --disable-warnings --Xptxas=-v,-w --Ofast-compile=max --time=- 0-synthetic.cubin -o linked >expected
same expected args
rm args linked
exits 'options without nvlink' 0 "$ORILINK" -preserve-relocs -w -o small synthetic.cubin
silent err
exits 'another machine' 2 "$ORILINK" -m 32 synthetic.cubin
says err "32"
exits 'a refused option' 2 "$ORILINK" -ghls=lcs-aug synthetic.cubin
says err "of nvlink is not supported: nvlink makes no link then; run it alone"
exits 'an options file' 2 "$ORILINK" --options-file x synthetic.cubin
says err "option '--options-file' of nvlink is not supported: write @FILE instead"

# orilink knows each option of the installed nvlink, long and short, and the table has no others.
name='options of nvlink --help'
if have nvlink; then
    nvlink --help | sed -n 's/^--\([A-Za-z-]*\).* \(<[^>]*>[^ ]*\)\{0,1\} *(-\([A-Za-z-]*\)).*/\1 \3/p
        s/^--\(register-link-binaries\) .*/\1 \1/p' >pairs
    tr ' ' '\n' <pairs | sort -u >want
    [ "$(wc -l <pairs)" -gt 40 ] && ok || bad "nvlink --help is not understood"
    is "$(wc -l <pairs | tr -d ' ')" "$(nvlink --help | grep -c '^--')"
    while read -r option; do
        "$ORILINK" "-$option" >out 2>err </dev/null
        ! grep -q 'unknown option' err && ok || bad "unknown: -$option"
    done <want
    sed -n -e 's/^\(PASSED\|REFUSED\)_SAME([A-Z_]*, "\([^"]*\)".*/\2/p' \
        -e 's/^\(PASSED\|REFUSED\)([A-Z_]*, "\([^"]*\)", [A-Z]*, "[^"]*", "\([^"]*\)".*/\2 \3/p' \
        "$root/tools/orilink/orilink.def" | tr ' ' '\n' | sort -u >have
    [ "$(wc -l <have)" -gt 25 ] && ok || bad "orilink.def is not understood"
    is "$(comm -13 want have)" ''
    # Options that take a value there take one here.
    nvlink --help | sed -n 's/^--\([A-Za-z-]*\) <.*/\1/p' | while read -r option; do
        "$ORILINK" "--$option" 2>&1 </dev/null | grep -q "requires a value\|is not supported" || echo "$option"
    done >without
    is "$(cat without)" ''
else
    skip "there is no nvlink: options are not compared with those of nvlink --help"
fi

exits 'lists' 0 "$ORILINK" --nvlink=./stand-in --dce=documented --kernels-used=main --variables-used=x,y -o linked \
    synthetic.cubin
printf '%s\n' -arch=sm_80 --kernels-used main --variables-used x --variables-used y 0-synthetic.cubin -o linked >expected
same expected args
rm args linked

exits 'other options' 0 "$ORILINK" --nvlink=./stand-in -r --lto --ignore-host-info --extra-warnings --variables-used=x \
    -o linked synthetic.cubin
printf '%s\n' -arch=sm_80 --ignore-host-info -r -lto --extra-warnings synthetic.cubin -o linked >expected
same expected args
rm args linked

exits 'no target' 2 "$ORILINK" --verify-link nothing.o
exits 'a bad target' 2 "$ORILINK" -arch=sm_8x synthetic.cubin
exits 'no output file' 2 "$ORILINK" --nvlink=./stand-in synthetic.cubin
STATUS=3
export STATUS
exits 'nvlink fails' 1 "$ORILINK" --nvlink=./stand-in -o linked synthetic.cubin
unset STATUS
absent linked
says err 'nvlink of the rewritten files failed with status 3'
no_leftovers
printf '#!/bin/sh\nkill -SEGV $$\n' >crash
chmod +x crash
exits 'nvlink crashes' 1 "$ORILINK" --nvlink=./crash -o linked synthetic.cubin
says err 'was ended by signal 11'
exits 'no nvlink' 5 "$ORILINK" --nvlink=./nothing -o linked synthetic.cubin
exits 'no nvlink on the PATH' 5 env PATH=/nowhere "$ORILINK" --verify-link synthetic.cubin
exits 'an output that cannot be written' 5 "$ORILINK" --nvlink=./stand-in -o nowhere/linked synthetic.cubin
name='an output that cannot be written'
no_leftovers

# A signal ends nvlink and orilink, and removes the temporary files.
printf '#!/bin/sh\ntouch started\nexec sleep 20\n' >slow
chmod +x slow
name='a signal'
"$ORILINK" --nvlink=./slow -o linked synthetic.cubin 2>err &
until [ -e started ]; do sleep 0.1 2>/dev/null || sleep 1; done
kill -TERM $!
wait $! 2>log
[ $? -eq 143 ] && ok || bad "orilink did not end by the signal"
no_leftovers

# -- Comparison --------------------------------------------------------------------------------------------------------

exits 'equal links' 0 "$ORILINK" --verify-link --nvlink=./stand-in -o linked synthetic.cubin

# The link of the originals has another byte of code.
cat >changes <<'EOF'
#!/bin/sh
./stand-in "$@"
eval "out=\${$#}"
case $out in */originals) printf '\377' | dd of="$out" bs=1 seek="$(cat place)" conv=notrunc 2>dd ;; esac
EOF
chmod +x changes
echo 130 >place
exits 'other code' 3 "$ORILINK" --verify-link --nvlink=./changes -o never --kernels-used=main synthetic.cubin
says err "--verify-link: the code of 'main_kernel' differs at 0x2"
absent never
no_leftovers

# -- Libraries -----------------------------------------------------------------------------------------------------------

mkdir one two
ar rc one/libmath.a synthetic.o 2>log && cp one/libmath.a two/libmath.a && ar rc two/libmore.a synthetic.cubin ||
    skip "no ar"
if [ -e two/libmore.a ]; then
    exits 'libraries' 0 "$ORILINK" -o libs -Lone -L two -lmath -l more --library=none --kernels-used=main other.cubin
    is "$(ls libs | tr '\n' ' ')" 'libmath.a libmore.a other.cubin '
    says err "warning: 'two/libmore.a(synthetic.cubin)' is no host object, so nvlink ignores it in an archive"
    same two/libmore.a libs/libmore.a
    name='an object in an archive'
    "$ORILINK" -o small --kernels-used=main synthetic.o
    (cd libs && ar x libmath.a)
    same small/synthetic.o libs/synthetic.o
    ar rcT thin.a synthetic.o
    exits 'a thin archive' 1 "$ORILINK" thin.a
    says err "'thin.a' is a thin archive; name its members instead"
    exits 'long options of libraries' 0 "$ORILINK" -o long --library-path=one,two --library=math,more other.cubin
    is "$(ls long | tr '\n' ' ')" 'libmath.a libmore.a other.cubin '
fi

# -- nvlink --------------------------------------------------------------------------------------------------------------

have nvcc && have nvlink && have python3 || {
    skip "no nvcc, nvlink or python3: nothing is linked"
    finish
}

# nvlink's file for the rewritten inputs, or for $WHERE, gets a byte of $CHANGE changed: code, the number of a bank in
# code, a bank of constants of the compiler, the initial value or place of a variable in constant memory, the type of a
# relocation, or the size of .nv.constant3.
cat >change.py <<'EOF'
import os, struct, sys
from cubin import Cubin
data = bytearray(open(sys.argv[1], "rb").read())
c = Cubin(bytes(data))
of = {"code": ".text.near", "number": ".text.near", "bank": ".nv.constant2.near", "value": ".nv.constant3", "place": ".symtab"}
relocs = [s for s in c.sections if s.name in (".rel.text.near", ".rela.text.near")]
section = c.section(of[os.environ["CHANGE"]]) if os.environ["CHANGE"] in of else relocs[0]
table = next(k for k, s in enumerate(c.symbols) if s.name == "table")
constants = c.section(".nv.constant3")
if os.environ["CHANGE"] == "size":
    table, = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, table + 64 * c.sections.index(constants) + 32, constants.size - 32)
    data[constants.row[4]:constants.row[4] + constants.size - 32] = bytes(constants.size - 32)
    open(sys.argv[1], "wb").write(data)
    sys.exit()
object = Cubin(open("places.%d.cubin" % c.sm, "rb").read())
field = next(at for at, kind, _, _ in object.section(".text.near").relocs if kind in (0x40, 0x42))
within = {"code": 3, "number": field + 7, "bank": 0, "value": c.symbols[table].value, "place": 24 * table + 8, "relocation": 8}
data[section.row[4] + within[os.environ["CHANGE"]]] ^= 4
open(sys.argv[1], "wb").write(data)
EOF
cat >changing <<'EOF'
#!/bin/sh
nvlink "$@" || exit
eval "out=\${$#}"
case $out in */$WHERE) PYTHONPATH=$TOOLS exec python3 -B change.py "$out" ;; esac
EOF
chmod +x changing
# frames FILE: prints the functions of the unwind data, each behind its common entry.
cat >frames.py <<'EOF'
import sys
from cubin import Cubin
common, names = None, []
for at, _, name, of in Cubin(open(sys.argv[1], "rb").read()).frames():
    if of is None:
        common = at
    else:
        names.append(name if of == common else name + " has another common entry")
print(*names)
EOF
frames() { PYTHONPATH=$TOOLS python3 -B frames.py "$1"; }
TOOLS=$root/tests/link
WHERE=linked
export TOOLS CHANGE WHERE
# changes_are_found: --verify-link finds each change of a link of $sm.
changes_are_found() {
    for CHANGE in code number bank value place relocation; do
        [ "$CHANGE$sm" != bank90 ] || continue  # code for sm_90 has no constants of the compiler
        case $CHANGE in
        code | number) text="the code of 'near' differs" ;;
        place) text="the code of 'near' reads 'table' at another place" ;;
        bank) text="'near', called by 'near', reads other constants" ;;
        value) text="variable 'table' has another size, initial value or relocation" ;;
        relocation) text="the code of 'near' has other relocations" ;;
        esac
        rm -rf never
        exits "change of a $CHANGE, sm_$sm" 3 "$ORILINK" --verify-link --nvlink=./changing -o never --kernels-used=near \
            places.$sm.cubin second.$sm.cubin
        says err "$text"
        absent never
    done
    CHANGE=size
    exits "constants are cut off, sm_$sm" 3 "$ORILINK" --verify-link --nvlink=./changing -o never --kernels-used=near \
        places.$sm.cubin second.$sm.cubin
    says err 'lies outside of its section'
    WHERE=originals
    exits "constants of the originals are cut off, sm_$sm" 0 "$ORILINK" --verify-link --nvlink=./changing -o linked \
        --kernels-used=near places.$sm.cubin second.$sm.cubin
    says err "warning: --verify-link: nvlink cut off '.nv.constant3' of the linked originals"
    WHERE=linked
}
for sm in 75 80 90; do
    nvcc -rdc=true -cubin -arch=sm_$sm -o places.$sm.cubin "$root/samples/link/places.cu" &
    nvcc -rdc=true -cubin -arch=sm_$sm -o second.$sm.cubin "$root/samples/link/second.cu"
    wait
    for kernel in near far apart; do
        exits "constants that move, sm_$sm, $kernel" 0 "$ORILINK" --verify-link --nvlink -o linked --kernels-used=$kernel \
            --variables-used=none places.$sm.cubin second.$sm.cubin
    done
    exits "all kernels, sm_$sm" 0 "$ORILINK" --verify-link places.$sm.cubin second.$sm.cubin
    changes_are_found
    nvlink -arch=sm_$sm -r -o joined.cubin places.$sm.cubin second.$sm.cubin
    exits "nvlink -r with constants, sm_$sm" 0 "$ORILINK" -o small --kernels-used=near --variables-used=none joined.cubin
    same joined.cubin small/joined.cubin
    says err "'joined.cubin' stays as it is: nvlink -r wrote it"
    nvlink -arch=sm_$sm -r -o plain.cubin second.$sm.cubin
    exits "nvlink -r without constants, sm_$sm" 0 "$ORILINK" --verify-link -o small --kernels-used=bk plain.cubin
    silent err
    [ "$(wc -c <small/plain.cubin)" -lt "$(wc -c <plain.cubin)" ] && ok || bad "nothing was removed"
    nvcc -rdc=true -cubin -arch=sm_$sm -o weak1.cubin "$root/samples/link/weak.cu" &
    nvcc -rdc=true -cubin -arch=sm_$sm -DSECOND -o weak2.cubin "$root/samples/link/weak.cu"
    wait
    nvlink -arch=sm_$sm -r -o weak.cubin weak1.cubin weak2.cubin
    exits "nvlink -r of weak copies, sm_$sm" 0 "$ORILINK" --verify-link -o small --kernels-used=k_second weak.cubin
    silent err
    is "$(frames small/weak.cubin)" '_Z4weakIiET_S0_ _Z8k_secondPi'
done
nvcc -rdc=true -fatbin -arch=sm_80 -o second.fatbin "$root/samples/link/second.cu"
exits 'a fat binary' 0 "$ORILINK" --verify-link -o small --kernels-used=bk second.fatbin
exits 'a fat binary, rewritten' 2 "$ORILINK" --kernels-used=bk --why-live=_Z6lonelyi small/second.fatbin
says err "no input defines '_Z6lonelyi'"

# Code for sm_100 has a second view, so it is only read.
nvcc -rdc=true -cubin -arch=sm_100 -o second.100.cubin "$root/samples/link/second.cu"
exits 'code for sm_100' 0 "$ORILINK" --verify-link -o small --kernels-used=nothing --report=json second.100.cubin
same second.100.cubin small/second.100.cubin
says err "'second.100.cubin' stays as it is: cubins for sm_100 and later have a second view"
says out '"name":"_Z6lonelyi"'

# Link-time optimization of all objects makes libcudadevrt.a superfluous, as nvlink is documented.
nvcc -dlto -arch=sm_80 -c -o ir.o "$root/samples/link/second.cu"
mkdir system
ar rc system/libcudadevrt.a second.80.cubin
message='LTO on everything so remove libcudadevrt from list'
# with_ir NAME KEPT OPTIONS...: libcudadevrt.a stays if KEPT is 1, else it goes with the message.
with_ir() {
    case=$1 kept=$2
    shift 2
    rm -rf lto
    exits "$case" 0 "$ORILINK" -v --lto -arch=sm_80 -o lto -Lsystem -lcudadevrt "$@"
    if [ "$kept" = 1 ]; then
        is "$(grep -c "$message" err)" 0
        [ -e lto/libcudadevrt.a ] && ok || bad "the library is gone"
    else
        says err "$message"
        absent lto/libcudadevrt.a
    fi
}
with_ir 'all objects have IR' 0 --dce=documented ir.o
with_ir 'libraries are kept' 1 --dce=documented --keep-system-libraries ir.o
with_ir 'an object has code' 1 --dce=documented ir.o second.80.cubin
with_ir 'partial optimization' 1 --dce=documented --force-partial-lto ir.o
with_ir 'what IR requires is unknown' 1 ir.o

# -- Choice of code ----------------------------------------------------------------------------------------------------

# nvlink takes code for sm_80 for sm_86. An object with code for sm_90 and sm_90a stays as it is.
exits 'code for a lower target' 0 "$ORILINK" --verify-link -arch=sm_86 -o small --kernels-used=bk second.80.cubin
[ "$(wc -c <small/second.80.cubin)" -lt "$(wc -c <second.80.cubin)" ] && ok || bad "nothing was removed"
exits 'code for a higher target' 1 "$ORILINK" -arch=sm_75 second.80.cubin
says err "'second.80.cubin' is for sm_80, not sm_75"
nvcc -rdc=true -c -gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86 -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_90a,code=sm_90a -o second.o "$root/samples/link/second.cu" &
nvcc -rdc=true -c -arch=sm_86 -o first.o "$root/samples/link/first.cu"
wait
nvcc -rdc=true -c -arch=sm_90 -o first90.o "$root/samples/link/first.cu"
exits 'several targets' 0 "$ORILINK" --verify-link -arch=sm_89 -o small --kernels-used=main_kernel first.o second.o
exits 'two variants of a target' 0 "$ORILINK" --verify-link -arch=sm_90 -o small --kernels-used=main_kernel first90.o second.o
same second.o small/second.o

# -- Compressed fat binaries -------------------------------------------------------------------------------------------

for sm in 75 80 90; do
    nvcc -rdc=true -c -arch=sm_$sm -o host.o "$root/samples/link/host.cu" &
    nvcc -rdc=true -c -arch=sm_$sm -o second.o "$root/samples/link/second.cu"
    nvcc -rdc=true -c -arch=sm_$sm -o first.o "$root/samples/link/first.cu"
    wait
    exits "compressed, sm_$sm" 0 "$ORILINK" --compress --verify-link -arch=sm_$sm -o packed first.o second.o host.o
    exits "uncompressed, sm_$sm" 0 "$ORILINK" -arch=sm_$sm -o plain first.o second.o host.o
    for file in first second; do
        [ "$(wc -c <packed/$file.o)" -lt "$(wc -c <plain/$file.o)" ] && ok || bad "$file.o is not smaller"
    done
    name="nvlink of compressed files, sm_$sm"
    if (cd packed && nvlink -arch=sm_$sm -o ../of_packed first.o second.o host.o) >log 2>&1 &&
        (cd plain && nvlink -arch=sm_$sm -o ../of_plain first.o second.o host.o) >log 2>&1; then
        same of_plain of_packed
    else
        bad "$(head -n 1 log)"
    fi
    name="a program of compressed files, sm_$sm"
    if (cd packed && nvcc -arch=sm_$sm -o program first.o second.o host.o) >log 2>&1; then ok; else bad "$(head -n 1 log)"; fi
    name="cuobjdump of compressed files, sm_$sm"
    if have cuobjdump; then
        mkdir -p x/packed x/plain
        (cd x/packed && cuobjdump -xelf all ../../packed/first.o) >log 2>&1 &&
            (cd x/plain && cuobjdump -xelf all ../../plain/first.o) >log 2>&1 || bad "$(head -n 1 log)"
        [ "$(ls x/packed)" ] && diff -r x/packed x/plain >out && ok || bad "the cubins differ: $(head -n 1 out)"
        rm -r x
    else
        skip "there is no cuobjdump"
    fi
done

# -- Comparison of real code -------------------------------------------------------------------------------------------

# Static functions, strings and tables of several files have the same names.
for sm in 75 80 90; do
    nvcc -rdc=true -cubin -arch=sm_$sm -o same1.cubin "$root/samples/link/same.cu" &
    nvcc -rdc=true -cubin -arch=sm_$sm -DSECOND -o same2.cubin "$root/samples/link/same.cu"
    wait
    exits "equal names, sm_$sm" 0 "$ORILINK" --verify-link same1.cubin same2.cubin
    exits "equal names, one kernel, sm_$sm" 0 "$ORILINK" --verify-link --kernels-used=k_second --variables-used=none \
        same1.cubin same2.cubin
done
finish
