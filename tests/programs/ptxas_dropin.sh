#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ptxas_dropin.sh: tests ori-ptxas in place of ptxas. A stand-in for ptxas records its arguments and copies its inputs.
# Most tests need no tools of NVIDIA. The last parts use ptxas, clang and nvcc if they are installed.
#
#   tests/programs/ptxas_dropin.sh
#
# The last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage. Environment: ORIOPT, and
# ORIPTXAS, which is otherwise beside it.
. "$(dirname "$0")/../lib.sh"
ORIPTXAS=$(absolute "${ORIPTXAS:-${ORIOPT%/*}/ori-ptxas}")
needs "$ORIOPT" "$ORIPTXAS"
real_ptxas=$(command -v ptxas)
real_nvcc=$(command -v nvcc)
unset ORI_PTXAS ORI_PTX_VERSION ORI_PTXAS_FLAGS ORI_PTXAS_LOG ORI_PTXAS_KEEP ORI_PTXAS_SEEN ORI_KNOBS
make_work
cd "$work" || exit 2
ulimit -c 0
mkdir tmp tools system
TMPDIR=$work/tmp
export TMPDIR work
# A PATH without CUDA, but with the tools that scripts need.
for tool in sh cat grep sleep env mkdir rm sed; do ln -s "$(command -v $tool)" system/$tool; done
outer_path=$PATH
PATH=$work/tools:$work/system:$PATH
export PATH
bare_path=$work/system

# An unoptimized input has this comment, which oriopt drops.
ptx() { # KERNEL
    cat <<END_OF_PTX
// original
.version 8.0
.target sm_80
.address_size 64
.visible .entry $1(.param .u64 p)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, 7;
	add.u32 %r2, %r1, 1;
	st.global.u32 [%rd1], %r2;
	ret;
}
END_OF_PTX
}
ptx one >one.ptx
ptx two >two.ptx
printf '// original\n.version 8.0\n.target sm_80\n.entry k() {{\n' >bad.ptx

# -- The stand-in ------------------------------------------------------------------------------------------------------

# Records its arguments, one per line, after the line `run`. Its output is the concatenated inputs, after the names
# of the options that it got. $work/mode selects other behaviour.
cat >tools/ptxas <<'END_OF_SCRIPT'
#!/bin/sh
read -r mode <"$work/mode"
out=elf.o text= verbose=
echo run >>"$work/record"
while [ $# -gt 0 ]; do
    printf '%s\n' "$1" >>"$work/record"
    case $1 in
    -o | --output-file) out=$2 ;;
    -o=* | --output-file=*) out=${1#*=} ;;
    -v | --verbose) verbose=1 ;;
    esac
    case $1 in
    -o | --output-file | -arch | --gpu-name | --opt-level | -m | -e | -fmad | -optf | --options-file | -ias)
        [ $# -gt 1 ] && shift
        printf '%s\n' "$1" >>"$work/record"
        ;;
    -?*) ;;
    *)
        text=$text$(cat "$1") || exit 1
        ;;
    esac
    shift
done
optimized=1
case $text in *'// original'* | '') optimized= ;; esac
case $mode in
answer)
    echo "ptxas: a stand-in"
    exit 3
    ;;
refuse-all) echo "ptxas fatal   : it is no good" >&2 && exit 7 ;;
refuse)
    [ "$optimized" ] && echo "on standard output" && echo "ptxas fatal   : optimized is no good" >&2 && exit 7
    ;;
crash) [ "$optimized" ] && kill -KILL $$ ;;
crash-all) kill -TERM $$ ;;
hang)
    echo $$ >"$work/started"
    exec sleep 60
    ;;
esac
echo "to standard output"
echo "ptxas info    : to standard error" >&2
if [ "$verbose" ]; then
    printf '%s\n' "$text" | sed -n 's/.*entry \([a-z]*\).*/\1/p' | while read -r kernel; do
        echo "ptxas info    : Compiling entry function '$kernel' for 'sm_80'" >&2
        echo "ptxas info    : Function properties for $kernel" >&2
        echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" >&2
        echo "ptxas info    : Used $((12 - ${optimized:-0})) registers, used 0 barriers" >&2
        echo "ptxas info    : Compile time = $((2 - ${optimized:-0})).500 ms" >&2
    done
fi
printf '%s\n' "$text" >"$out"
END_OF_SCRIPT
chmod +x tools/ptxas

# mode NAME: sets the mode of the stand-in, and removes the results of the last run
mode() {
    echo "$1" >mode
    rm -f record out.cubin started elf.o
}
# Prints the arguments of the last run of the stand-in, one per line, and the number of runs.
last_run() { sed -n 'H; /^run$/h; ${g; p;}' record | sed '1d' | tr '\n' ' ' | sed 's/ $//'; }
times_run() { grep -c '^run$' record 2>/dev/null; }
# The same with temporary files replaced by OPT.
last_run_opt() { last_run | sed "s,$work/tmp/ori-ptxas[^ ]*,OPT,g"; }
optimized() { if [ -s "$1" ] && ! grep -q '// original' "$1"; then ok; else bad "$1 is not optimized"; fi; }
original() { if grep -q '// original' "$1" 2>/dev/null; then ok; else bad "$1 is not the original"; fi; }
clean() { is "$(ls tmp)" ""; }

# -- Passed on ---------------------------------------------------------------------------------------------------------

for args in --version -V --help -h --list-version -version-ls '' '-arch sm_80' '--version one.ptx' '-v'; do
    mode answer
    # shellcheck disable=SC2086
    exits "passed on: \`$args\`" 3 "$ORIPTXAS" $args
    is "$(last_run)" "$args"
    is "$(times_run)" 1
    is "$(cat out)" "ptxas: a stand-in"
    silent err
    clean
done

# -- Optimized or not --------------------------------------------------------------------------------------------------

mode accept
exits "a file" 0 "$ORIPTXAS" -arch sm_80 one.ptx -o out.cubin
optimized out.cubin
is "$(last_run_opt)" "-arch sm_80 OPT -o out.cubin"
is "$(times_run)" 1
is "$(cat out)" "to standard output"
is "$(cat err)" "ptxas info    : to standard error"
clean
mode accept
exits "the default output" 0 "$ORIPTXAS" one.ptx
optimized elf.o

# Each row has the arguments that ptxas gets; OPT is a temporary file.
while IFS= read -r args; do
    mode accept
    # shellcheck disable=SC2046
    exits "optimized: \`$args\`" 0 "$ORIPTXAS" $(echo "$args" | sed 's/OPT/one.ptx/')
    is "$(last_run_opt)" "$args"
    clean
done <<'END_OF_LINES'
-arch=sm_80 OPT -o=out.cubin
--gpu-name sm_80 --output-file out.cubin OPT
--gpu-name=sm_80 --output-file=out.cubin OPT
-lineinfo -v --fmad=false --gpu-name=sm_90a OPT -o out.cubin
-m64 -O2 --gpu-name sm_80 --output-file out.cubin OPT
-m 64 -O OPT
-O3 -v -c OPT
-O=1 OPT
--opt-level 4 OPT
--opt-level=0x2 OPT
-O0 -O3 OPT
-O9 OPT
-e one -fmad false OPT
-w -Werror OPT
-o -odd-name OPT
-maxrregcount=32 --suppress-debug-info OPT
-arch compute_80 -arch sm_80 OPT
END_OF_LINES
while IFS= read -r args; do
    mode accept
    # shellcheck disable=SC2086
    exits "as it is: \`$args\`" 0 "$ORIPTXAS" $args -o out.cubin one.ptx
    original out.cubin
    is "$(last_run)" "$args -o out.cubin one.ptx"
    is "$(cat err)" "ptxas info    : to standard error"
    clean
done <<'END_OF_LINES'
-g
--device-debug
-O0
-O=0
-O00
-O=
--opt-level 0
--opt-level=0
--opt-level=x
-O3 -O0
-O3 -g
-astoolspatch
--sanitize=memcheck
--return-at-end
--dont-merge-basicblocks
-arch=compute_80
--gpu-name lto_80
-arch sm_80 -arch compute_80
-ias .version
END_OF_LINES
for args in --new -new --new=1 --out=x --verb -vg; do # ptxas takes no abbreviations
    mode accept
    exits "not known: $args" 0 "$ORIPTXAS" $args one.ptx
    original elf.o
    is "$(head -n 1 err)" "ori-ptxas: warning: nothing is optimized: the option '${args%=*}' is not known"
    mode accept
    exits "not known, silent: $args" 0 "$ORIPTXAS" -w $args one.ptx
    is "$(cat err)" "ptxas info    : to standard error"
done
mode accept
exits "an option without its value" 0 "$ORIPTXAS" one.ptx -arch
original elf.o
mode refuse-all
exits "an input that is not there" 1 "$ORIPTXAS" -arch sm_80 nothing.ptx
is "$(last_run)" "-arch sm_80 nothing.ptx"
clean

# -- Back to the original ----------------------------------------------------------------------------------------------

mode refuse
exits "ptxas refuses the optimized code" 0 "$ORIPTXAS" -arch sm_80 one.ptx -o out.cubin
original out.cubin
is "$(times_run)" 2
is "$(last_run)" "-arch sm_80 one.ptx -o out.cubin"
is "$(cat out)" "to standard output"
is "$(cat err)" "ptxas info    : to standard error
ori-ptxas: warning: 'one.ptx' is compiled as it is: ptxas refused the optimized code: ptxas fatal   : optimized is no good"
clean
mode refuse
exits "the same, silent" 0 "$ORIPTXAS" -w one.ptx
is "$(cat err)" "ptxas info    : to standard error"
mode crash
exits "ptxas crashes on the optimized code" 0 "$ORIPTXAS" one.ptx
original elf.o
says err "ptxas refused the optimized code was ended by signal 9"
clean
mode refuse-all
exits "ptxas refuses both" 7 "$ORIPTXAS" one.ptx
is "$(cat err)" "ptxas fatal   : it is no good"
clean
mode crash-all
name="ptxas ends by a signal on both"
"$ORIPTXAS" one.ptx >out 2>err
is "$(kill -l $?)" TERM
clean
mode accept
exits "oriopt cannot read the input" 0 "$ORIPTXAS" bad.ptx
original elf.o
is "$(times_run)" 1
says err "ori-ptxas: warning: 'bad.ptx' is compiled as it is: oriopt: bad.ptx:5:1: error: "
clean
mode refuse-all
exits "nor can ptxas" 7 "$ORIPTXAS" bad.ptx
is "$(cat err)" "ptxas fatal   : it is no good"
mode accept
exits "oriopt reaches a limit" 0 env ORI_PTXAS_FLAGS=--max-insns=1 "$ORIPTXAS" one.ptx
original elf.o
says err "oriopt: one.ptx: error: the module has 5 instructions"
mode accept
exits "oriopt refuses its options" 0 env ORI_PTXAS_FLAGS='--no-such --flag' "$ORIPTXAS" one.ptx
original elf.o
says err "unknown option '--no-such'"
mode accept
exits "a quotation mark is not closed" 0 env ORI_PTXAS_FLAGS='"-O1' "$ORIPTXAS" one.ptx
original elf.o
says err "ORI_PTXAS_FLAGS: a quotation mark is not closed"
mode accept
exits "oriopt writes nothing" 0 env ORI_PTXAS_FLAGS=--list-sm "$ORIPTXAS" one.ptx
original elf.o
says err "oriopt wrote no output"
is "$(cat out)" "to standard output"
mode accept
exits "there is no place for temporary files" 0 env TMPDIR=$work/nowhere "$ORIPTXAS" one.ptx
original elf.o
says err "no folder for temporary files: No such file or directory"

# A copy runs the oriopt beside it.
mkdir own
cp "$ORIPTXAS" own/ori-ptxas
# own_oriopt LINE...: writes an oriopt with this behaviour
own_oriopt() {
    printf '%s\n' '#!/bin/sh' 'printf "%s\n" "$@" >"$work/oriopt-args"' "$@" >own/oriopt
    chmod +x own/oriopt
}
mode accept
own_oriopt 'kill -SEGV $$'
exits "oriopt crashes" 0 own/ori-ptxas one.ptx
original elf.o
says err "oriopt was ended by signal 11"
clean
mode accept
own_oriopt 'exit 3'
exits "oriopt fails without a word" 0 own/ori-ptxas one.ptx
says err "oriopt ended with status 3"
mode accept
rm own/oriopt
exits "there is no oriopt" 0 env PATH=$work/tools:$bare_path own/ori-ptxas one.ptx
original elf.o
says err "there is no oriopt beside ori-ptxas or on the PATH"
mkdir with_oriopt && ln -s "$ORIOPT" with_oriopt/oriopt
mode accept
exits "oriopt is on the PATH" 0 env PATH=$work/tools:$bare_path:$work/with_oriopt own/ori-ptxas one.ptx
optimized elf.o

# oriopt gets the level of ptxas, then ORI_PTXAS_FLAGS, then the options of ori-ptxas.
own_oriopt 'echo text >"$out"'
arguments() { # NAME ARGUMENTS WANT
    mode accept
    # shellcheck disable=SC2086
    exits "arguments of oriopt: $1" 0 own/ori-ptxas $2 one.ptx
    is "$(tr '\n' ' ' <oriopt-args | sed "s,$work/tmp/[^ ]*,OPT,")" "$3-x ptx --emit=ptx -o OPT -- one.ptx "
}
arguments "no level" "-arch sm_90" ""
arguments "-O1" "-O1" "-O1 "
arguments "--opt-level=9" "--opt-level=9" "-O4 "
arguments "-O" "-O" ""
export ORI_PTXAS_FLAGS
ORI_PTXAS_FLAGS='-O1 --knob  "OptBudget=9"'
arguments "flags" "-O2" "-O2 -O1 --knob OptBudget=9 "
ORI_PTXAS_FLAGS='--a"b c"d e\ f'
arguments "flags with blanks" "" "--ab cd e f "
is "$(sed -n 2p oriopt-args)" "e f"
unset ORI_PTXAS_FLAGS
export ORI_PTX_VERSION
ORI_PTX_VERSION=7.8
arguments "a version of PTX" "-O2" "-O2 --ptx-version 7.8 "
ORI_PTX_VERSION=
arguments "an empty version of PTX" "-O2" "-O2 "
unset ORI_PTX_VERSION

mode accept
exits "a version of PTX" 0 env ORI_PTX_VERSION=7.0 "$ORIPTXAS" one.ptx -o out.cubin
optimized out.cubin
says out.cubin ".version 7.0"
sed 's/st.global.u32/st.async.u32/' one.ptx >later.ptx
mode accept
exits "a version of PTX that the code does not have" 0 env ORI_PTX_VERSION=7.0 "$ORIPTXAS" later.ptx -o out.cubin
original out.cubin
says err "'later.ptx' is compiled as it is: oriopt: later.ptx:12:2: error: 'st.async.u32' needs PTX 8.1"
mode accept
exits "no version of PTX" 0 env ORI_PTX_VERSION=seven "$ORIPTXAS" one.ptx -o out.cubin
original out.cubin
says err "'seven' is not a version of PTX from 3.1 to 9.0"

mode accept
exits "ORI_PTXAS_FLAGS are those of oriopt" 0 env ORI_PTXAS_FLAGS='--named-phases NOP' "$ORIPTXAS" one.ptx -o out.cubin
if grep -q 'mov' out.cubin; then ok; else bad "NOP alone folds the constant"; fi
mode accept
exits "without them" 0 "$ORIPTXAS" one.ptx -o out.cubin
if grep -q 'mov' out.cubin; then bad "the constant is not folded"; else ok; fi
mode accept
exits "reports of oriopt" 0 env ORI_PTXAS_FLAGS=--stats "$ORIPTXAS" one.ptx
says err "one: 5 -> "
sed 's/mov.u32/new.u32/' one.ptx >new.ptx
mode accept
exits "warnings of oriopt are not shown" 0 "$ORIPTXAS" new.ptx
optimized elf.o
is "$(cat err)" "ptxas info    : to standard error"

# -- Which ptxas -------------------------------------------------------------------------------------------------------

mode accept
exits "there is no ptxas" 5 env PATH=$bare_path "$ORIPTXAS" one.ptx
is "$(cat err)" "ori-ptxas: there is no ptxas on the PATH but ori-ptxas itself; set ORI_PTXAS to the ptxas of the CUDA toolkit"
silent out
exits "ORI_PTXAS names nothing" 5 env ORI_PTXAS=$work/none "$ORIPTXAS" one.ptx
is "$(cat err)" "ori-ptxas: ORI_PTXAS: '$work/none' cannot be run: No such file or directory"
exits "ORI_PTXAS names no program" 5 env ORI_PTXAS=$work/one.ptx "$ORIPTXAS" one.ptx
is "$(cat err)" "ori-ptxas: ORI_PTXAS: '$work/one.ptx' cannot be run: Permission denied"
exits "ORI_PTXAS names a folder" 5 env ORI_PTXAS=$work "$ORIPTXAS" one.ptx
exits "ORI_PTXAS names nothing on the PATH" 5 env ORI_PTXAS=nowhere "$ORIPTXAS" one.ptx
is "$(cat err)" "ori-ptxas: ORI_PTXAS: 'nowhere' cannot be run: No such file or directory"
mkdir 'a folder' && cp tools/ptxas 'a folder/other ptxas'
mode accept
exits "ORI_PTXAS with blanks" 0 env PATH=$bare_path ORI_PTXAS="$work/a folder/other ptxas" "$ORIPTXAS" one.ptx
optimized elf.o
mode accept
exits "ORI_PTXAS without a folder" 0 env PATH="$bare_path:$work/a folder" ORI_PTXAS='other ptxas' "$ORIPTXAS" one.ptx
optimized elf.o

# ori-ptxas as the ptxas of the PATH: each of these is found first, and the stand-in runs once.
mkdir link copy hard script both
ln -s "$ORIPTXAS" link/ptxas
cp "$ORIPTXAS" copy/ptxas && ln -s "$ORIOPT" copy/oriopt
ln copy/ptxas hard/ptxas && ln -s "$ORIOPT" hard/oriopt
printf '#!/bin/sh\nexec "%s" "$@"\n' "$ORIPTXAS" >script/ptxas
printf '#!/bin/sh\nORI_PTXAS="$0" exec "%s" "$@"\n' "$ORIPTXAS" >both/ptxas
chmod +x script/ptxas both/ptxas
for kind in link copy hard script both copy:link script:copy:link both:script:link:copy:hard; do
    path=$(echo "$kind" | sed "s,[a-z]*,$work/&,g")
    for program in ptxas "$ORIPTXAS"; do
        mode accept
        exits "${program##*/}, after $kind" 0 env PATH=$path:$PATH $program -arch sm_80 one.ptx -o out.cubin
        optimized out.cubin
        is "$(times_run)" 1
        is "$(last_run_opt)" "-arch sm_80 OPT -o out.cubin"
        clean
        mode answer
        exits "${program##*/} --version, after $kind" 3 env PATH=$path:$PATH $program --version
        is "$(times_run)" 1
        exits "${program##*/}, after $kind alone" 5 env PATH=$path:$bare_path $program --version
        says err "there is no ptxas on the PATH but ori-ptxas itself"
    done
done
mode accept
exits "ORI_PTXAS names ori-ptxas" 0 env ORI_PTXAS=$ORIPTXAS "$ORIPTXAS" one.ptx
optimized elf.o
exits "the same, without another one" 5 env ORI_PTXAS=$work/link/ptxas PATH=$bare_path "$ORIPTXAS" one.ptx
says err "there is no ptxas on the PATH but ori-ptxas itself"

# -- Files -------------------------------------------------------------------------------------------------------------

mkdir 'tmp dir' && cp one.ptx 'a folder/the one.ptx'
mode accept
exits "names with blanks" 0 env TMPDIR="$work/tmp dir" "$ORIPTXAS" -arch sm_80 'a folder/the one.ptx' -o 'a folder/the out'
optimized 'a folder/the out'
is "$(ls 'tmp dir')" ""
mode refuse
exits "names with blanks, original" 0 env TMPDIR="$work/tmp dir" "$ORIPTXAS" 'a folder/the one.ptx' -o 'a folder/the out'
original 'a folder/the out'
mode accept
exits "several inputs" 0 "$ORIPTXAS" -arch sm_80 one.ptx -v two.ptx -o out.cubin
optimized out.cubin
is "$(grep -c entry out.cubin)" 2
is "$(last_run_opt)" "-arch sm_80 OPT -v OPT -o out.cubin"
mode accept
mkdir sub && cp two.ptx sub/one.ptx
exits "inputs with one name" 0 "$ORIPTXAS" one.ptx sub/one.ptx -o out.cubin
is "$(grep -c 'entry [ot][nw][eo]' out.cubin)" 2
mode accept
exits "several inputs, one of them bad" 0 "$ORIPTXAS" one.ptx bad.ptx -o out.cubin
is "$(grep -c '// original' out.cubin)" 1
is "$(grep -c warning err)" 1
says err "'bad.ptx' is compiled as it is"
mode refuse
exits "several inputs are refused" 0 "$ORIPTXAS" one.ptx two.ptx -o out.cubin
is "$(grep -c '// original' out.cubin)" 2
is "$(grep -c warning err)" 2
for how in accept refuse; do
    mode $how
    name="standard input, $how"
    $limit "$ORIPTXAS" -arch sm_80 - -o out.cubin <one.ptx >out 2>err
    is $? 0
    if [ $how = accept ]; then optimized out.cubin; else original out.cubin; fi
    is "$(last_run_opt)" "-arch sm_80 OPT -o out.cubin"
    clean
    mode $how
    name="a pipe, $how"
    mkfifo pipe
    cat one.ptx >pipe &
    $limit "$ORIPTXAS" -arch sm_80 pipe -o out.cubin >out 2>err </dev/null
    is $? 0
    if [ $how = accept ]; then optimized out.cubin; else original out.cubin; fi
    clean
    rm pipe
done
mode accept
name="standard input twice"
$limit "$ORIPTXAS" one.ptx - -o out.cubin <two.ptx >out 2>err
is "$(grep -c entry out.cubin)" 2
mkdir closed && cp one.ptx closed/one.ptx && chmod a-w closed closed/one.ptx
mode accept
exits "a read-only input in a read-only folder" 0 "$ORIPTXAS" closed/one.ptx -o out.cubin
optimized out.cubin
chmod u+w closed
mode accept
cp one.ptx same.ptx
exits "the output is the input" 0 "$ORIPTXAS" same.ptx -o same.ptx
optimized same.ptx
mode accept
ln -s one.ptx linked.ptx
exits "the input is a link" 0 "$ORIPTXAS" linked.ptx
optimized elf.o

# -- Options files -----------------------------------------------------------------------------------------------------

# options TEXT ARGUMENTS WANT: f.opt has the text. Checks the arguments that ptxas gets, separated by |
options() {
    printf '%s' "$1" >f.opt
    mode accept
    # shellcheck disable=SC2086
    exits "options \`$1\`" 0 "$ORIPTXAS" $2
    is "$(sed 1d record | tr '\n' '|' | sed "s,$work/tmp/ori-ptxas[^|]*,OPT,g")" "$3|"
    clean
}
options '-arch sm_80 -o out.cubin one.ptx' @f.opt '-arch|sm_80|-o|out.cubin|OPT'
optimized out.cubin
options '-arch sm_80' '@f.opt one.ptx -o out.cubin' '-arch|sm_80|OPT|-o|out.cubin'
options '-arch sm_80 one.ptx' '--options-file f.opt' '-arch|sm_80|OPT'
options '-arch sm_80 one.ptx' '-optf=f.opt' '-arch|sm_80|OPT'
options '-arch sm_80' '-optf f.opt,f.opt one.ptx' '-arch|sm_80|-arch|sm_80|OPT'
options '-o "a folder/x"
	one.ptx' '@f.opt' '-o|a folder/x|OPT'
optimized 'a folder/x'
options '-o a\ folder/x one.ptx' '--options-file=f.opt' '-o|a folder/x|OPT'
options '"-o=a folder/x" "a folder/the one.ptx"' '@f.opt' '-o=a folder/x|OPT'
options '-o b\\c one.ptx' '@f.opt' '-o|b\c|OPT'
options "-o b'c one.ptx" '@f.opt' "-o|b'c|OPT"
options '-O0 one.ptx' '@f.opt' '-O0|one.ptx'
options '-O0 one.ptx' '-optf f.opt' '-optf|f.opt'
options '-o "x one.ptx' '-optf f.opt' '-optf|f.opt'
options '' '-optf nothing.opt one.ptx' '-optf|nothing.opt|one.ptx'
options '-arch sm_80' '-optf g.opt one.ptx' '-optf|g.opt|one.ptx'
echo '-optf f.opt -v' >g.opt
options '-optf f.opt,f.opt,f.opt,f.opt,f.opt,f.opt one.ptx' '-optf f.opt' '-optf|f.opt' # without end
options '-arch sm_80' '-optf g.opt one.ptx' '-arch|sm_80|-v|OPT'
options '-optf f.opt one.ptx' '@f.opt' '-optf|f.opt|one.ptx'
mode accept
name="an options file that is a pipe"
mkfifo pipe
echo '-arch sm_80' >pipe &
exits "an options file that is a pipe" 0 "$ORIPTXAS" --options-file pipe one.ptx
is "$(last_run)" "--options-file pipe one.ptx"
cat pipe >/dev/null & # the stand-in does not read it
wait
rm pipe
mode refuse
echo '-arch sm_80 one.ptx' >f.opt
exits "an options file, original" 0 "$ORIPTXAS" --options-file f.opt -o out.cubin
is "$(last_run)" "--options-file f.opt -o out.cubin"
mode accept
cp two.ptx @f.opt
exits "a file whose name begins with @" 0 "$ORIPTXAS" @f.opt -o out.cubin
is "$(grep -c 'entry two' out.cubin)" 1
rm @f.opt
mode refuse-all
exits "@ and no file" 1 "$ORIPTXAS" @nothing
is "$(last_run)" "@nothing"

# -- Signals -----------------------------------------------------------------------------------------------------------

# interrupted NAME PROGRAM SIGNAL: sends the program the signal after a child has written `started`
interrupted() {
    name=$1
    rm -f started
    "$2" one.ptx -o out.cubin >out 2>err &
    pid=$!
    while [ ! -s started ] && kill -0 $pid 2>/dev/null; do :; done
    kill -s "$3" $pid
    wait $pid 2>/dev/null
    is "$(kill -l $?)" "$3"
    if kill -0 "$(cat started)" 2>/dev/null; then bad "the child runs on"; else ok; fi
    clean
    absent out.cubin
}
for signal in TERM HUP; do
    name="$signal"
    if [ "$(sh -c "kill -$signal \$\$; echo ignored")" ]; then # by nohup, for one
        skip "the signal is ignored here"
        continue
    fi
    mode hang
    interrupted "$signal while ptxas runs" "$ORIPTXAS" $signal
    mode accept
    own_oriopt 'echo $$ >"$work/started"' 'exec sleep 60'
    interrupted "$signal while oriopt runs" own/ori-ptxas $signal
    is "$(times_run)" ""
done
name="INT, not ignored"
if have python3; then
    mode hang
    $limit python3 -c '
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen([sys.argv[1], "one.ptx"])
while not os.path.exists("started") and p.poll() is None: pass
p.send_signal(signal.SIGINT)
sys.exit(p.wait() != -signal.SIGINT)' "$ORIPTXAS" >out 2>err
    is $? 0
    clean
else
    skip "no python3"
fi
name="a parent that ignores the end of children"
mode accept
if have python3; then
    $limit python3 -c '
import signal, subprocess, sys
ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
sys.exit(subprocess.call([sys.argv[1], "one.ptx", "-o", "out.cubin"], preexec_fn=ignore))' "$ORIPTXAS" >out 2>err
    is $? 0
    optimized out.cubin
else
    skip "no python3"
fi

# -- ORI_PTXAS_LOG and ORI_PTXAS_KEEP ----------------------------------------------------------------------------------

# Times of oriopt differ between runs.
log_lines() { sed 's/"oriopt_ms":[0-9.]*}/"oriopt_ms":N}/' log; }
line() { # INPUT KERNEL
    printf '{"schema":1,"input":"%s","kernel":"%s","gpu":"sm_80","instructions_in":5,"instructions":3,"registers_in":12,"registers":11,"ptxas_ms_in":2.500,"ptxas_ms":1.500,"oriopt_ms":N}' "$1" "$2"
}
mode accept
exits "the log" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" -arch sm_80 one.ptx -o out.cubin
is "$(log_lines)" "$(line one.ptx one)"
is "$(times_run)" 3
optimized out.cubin
is "$(cat out)" "to standard output"
is "$(cat err)" "ptxas info    : to standard error"
absent elf.o
clean
mode accept
exits "the log, with -v" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" -v two.ptx -o out.cubin
is "$(log_lines)" "$(line one.ptx one)
$(line two.ptx two)"
is "$(times_run)" 2
is "$(grep -c 'Used 11 registers' err)" 1
is "$(grep -c 'Used 12 registers' err)" 0
rm log
mode accept
exits "the log of two inputs" 0 env ORI_PTXAS_FLAGS=--stats ORI_PTXAS_LOG=log "$ORIPTXAS" one.ptx 'a folder/../two.ptx'
is "$(log_lines)" "$(line one.ptx one)
$(line 'a folder/../two.ptx' two)"
is "$(cat err)" "ptxas info    : to standard error"
rm log
mode accept
exits "the log of what is kept" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" bad.ptx
exits "the log of -g" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" -g one.ptx two.ptx
exits "the log of --version" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" --version
mode refuse
exits "the log of what is refused" 0 env ORI_PTXAS_LOG=log "$ORIPTXAS" one.ptx
is "$(sed 's/:5:.*"/:5:"/' log)" '{"schema":1,"input":"bad.ptx","kept":"oriopt: bad.ptx:5:"}
{"schema":1,"input":"one.ptx","kept":"--device-debug"}
{"schema":1,"input":"two.ptx","kept":"--device-debug"}
{"schema":1,"input":"one.ptx","kept":"ptxas refused the optimized code: ptxas fatal   : optimized is no good"}'
rm log
mode refuse-all
exits "the log of what is an error" 7 env ORI_PTXAS_LOG=log "$ORIPTXAS" one.ptx
absent log
mode accept
exits "a log that cannot be written" 0 env ORI_PTXAS_LOG=no/such/log "$ORIPTXAS" one.ptx
optimized elf.o
says err "warning: ORI_PTXAS_LOG: cannot write 'no/such/log': No such file or directory"
name="logs of parallel runs"
mode accept
pids=
for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
    ORI_PTXAS_LOG=log "$ORIPTXAS" one.ptx two.ptx -o out.$k >/dev/null 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || bad "a run failed"; done
is "$(wc -l <log | tr -d ' ')" 24
is "$(log_lines | sort -u)" "$(line one.ptx one)
$(line two.ptx two)"
# The two lines of a run are adjacent.
is "$(log_lines | awk 'NR % 2 && !/"one"/')" ""

mode accept
exits "a folder for the PTX" 0 env ORI_PTXAS_KEEP=kept "$ORIPTXAS" 'a folder/the one.ptx' two.ptx
is "$(ls kept | sed 's/-[0-9a-f]\{16\}/-HASH/' | tr '\n' ',')" "the one-HASH.opt.ptx,the one-HASH.ptx,two-HASH.opt.ptx,two-HASH.ptx,"
same kept/two-*[0-9a-f].ptx two.ptx
"$ORIOPT" two.ptx >want.ptx
same kept/two-*.opt.ptx want.ptx
ls kept >files
exits "the same again" 0 env ORI_PTXAS_KEEP=kept "$ORIPTXAS" 'a folder/the one.ptx' two.ptx
is "$(ls kept)" "$(cat files)"
mode accept
exits "the PTX of what failed" 0 env ORI_PTXAS_KEEP=bad-kept "$ORIPTXAS" bad.ptx
is "$(ls bad-kept | sed 's/-[0-9a-f]\{16\}/-HASH/')" "bad-HASH.ptx"
mode accept
exits "a folder that cannot be made" 0 env ORI_PTXAS_KEEP=no/such/folder "$ORIPTXAS" one.ptx
optimized elf.o
says err "warning: ORI_PTXAS_KEEP: cannot write 'no/such/folder/one-"

# -- Options of its own ------------------------------------------------------------------------------------------------

exits "the version of ori-ptxas" 0 env PATH=$bare_path "$ORIPTXAS" --ori-version
is "$(cat out)" "ori-ptxas $("$ORIOPT" --version | sed 's/.* //')"
exits "the help of ori-ptxas" 0 env PATH=$bare_path "$ORIPTXAS" --ori-help
says out "usage: ori-ptxas"
exits "one word too many" 2 "$ORIPTXAS" --ori-version one.ptx
is "$(cat err)" "ori-ptxas: 'one.ptx' is one too many"
exits "no folder" 2 "$ORIPTXAS" --make-nvcc-dir
mode answer
exits "an option of ori-ptxas after others" 3 "$ORIPTXAS" -v --ori-version
is "$(last_run)" "-v --ori-version"

# A toolkit with a stand-in for nvcc, which takes its tools from the folder by which it was called, and a script on the
# PATH that runs it.
mkdir -p "tool kit/bin/crt" "tool kit/include" path
cat >"tool kit/bin/nvcc" <<'END_OF_SCRIPT'
#!/bin/sh
here=${0%/*}
case $1 in
--dryrun) echo "#\$ _HERE_=$here" >&2 ;;
*) "$here/ptxas" "$@" ;;
esac
END_OF_SCRIPT
cp tools/ptxas "tool kit/bin/ptxas"
chmod +x "tool kit/bin/nvcc"
printf 'TOP = $(_HERE_)/..\nPATH += $(TOP)/x:$(_HERE_):\nPATHS = $(_HERE_)$(_HERE_)\n' >"tool kit/bin/nvcc.profile"
printf '#!/bin/sh\nexec "%s/tool kit/bin/nvcc" "$@"\n' "$work" >path/nvcc
chmod +x path/nvcc
exits "a folder for nvcc" 0 env PATH=$work/path:$bare_path "$ORIPTXAS" --make-nvcc-dir 'nvcc dir'
says out "'$work/nvcc dir/nvcc' -O3"
silent err
is "$(ls 'nvcc dir' | tr '\n' ' ')" "crt nvcc nvcc.profile ptxas "
is "$(cat 'nvcc dir/nvcc.profile')" "TOP = $work/tool kit/bin/..
PATH += \$(TOP)/x:\$(_HERE_):
PATHS = $work/tool kit/bin$work/tool kit/bin"
mode accept
exits "nvcc of that folder" 0 env PATH=$bare_path "$work/nvcc dir/nvcc" one.ptx -o out.cubin
optimized out.cubin
is "$(times_run)" 1
mode accept
exits "ORI_PTXAS wins" 0 env PATH=$bare_path ORI_PTXAS="$work/a folder/other ptxas" "$work/nvcc dir/nvcc" one.ptx
optimized elf.o
exits "the folder again, from itself" 0 env PATH="$work/nvcc dir:$bare_path" "$ORIPTXAS" --make-nvcc-dir 'nvcc dir'
is "$(ls 'nvcc dir' | tr '\n' ' ')" "crt nvcc nvcc.profile ptxas "
mode accept
exits "ori-ptxas beside that folder" 0 env PATH="$work/nvcc dir:$bare_path" "$ORIPTXAS" one.ptx
optimized elf.o
is "$(times_run)" 1
exits "a folder with other files" 2 env PATH=$work/path:$bare_path "$ORIPTXAS" --make-nvcc-dir tools
is "$(cat err)" "ori-ptxas: --make-nvcc-dir: 'tools' is not an empty folder"
exits "a folder that cannot be made for nvcc" 5 env PATH=$work/path:$bare_path "$ORIPTXAS" --make-nvcc-dir no/such/folder
says err "cannot make 'no/such/folder': No such file or directory"
exits "there is no nvcc" 5 env PATH=$bare_path "$ORIPTXAS" --make-nvcc-dir other
says err "there is no nvcc with a ptxas on the PATH"
absent other
is "$(ls tmp)" ""

# -- With NVIDIA's tools -----------------------------------------------------------------------------------------------

PATH=$outer_path
ptx one | sed 's/sm_80/sm_90a/; s/8\.0/8.4/' >triton.ptx
mode accept
exits "as Triton calls it" 0 env ORI_PTXAS=$work/tools/ptxas "$ORIPTXAS" -lineinfo -v --fmad=false --gpu-name=sm_90a triton.ptx -o out.cubin
is "$(last_run_opt)" "-lineinfo -v --fmad=false --gpu-name=sm_90a OPT -o out.cubin"
optimized out.cubin
name="the real ptxas"
if [ "$real_ptxas" ]; then
    # registers FILE: prints the output of ptxas -v
    registers() { sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$1"; }
    ORI_PTXAS=$real_ptxas
    export ORI_PTXAS
    "$real_ptxas" --version >want
    exits "--version, as Triton calls it" 0 "$ORIPTXAS" --version
    same out want
    exits "as Triton calls the real one" 0 env ORI_PTXAS_LOG=log2 "$ORIPTXAS" -lineinfo -v --fmad=false --gpu-name=sm_90a triton.ptx -o out.cubin
    if [ -s out.cubin ]; then ok; else bad "no output"; fi
    is "$(grep -c '"kernel":"one","gpu":"sm_90a","instructions_in":5,"instructions":3,"registers_in":[0-9]*,"registers":'"$(registers err)"',' log2)" 1
    "$ORIOPT" triton.ptx -o want.ptx
    "$real_ptxas" -lineinfo -v --fmad=false --gpu-name=sm_90a want.ptx -o want.cubin 2>want
    is "$(grep -v 'Compile time' err)" "$(grep -v 'Compile time' want)"
    same out.cubin want.cubin
    exits "an error of the real one" 255 "$ORIPTXAS" -arch sm_80 bad.ptx
    cp err out2
    "$real_ptxas" -arch sm_80 bad.ptx 2>want
    same out2 want
    name="the options of the table are those of the real one"
    "$real_ptxas" --help | sed -n 's/^--\([A-Za-z-]*\) .*(-\([A-Za-z-]*\)).*/\1 \2/p' | sort >want
    sed -n -e 's/^PTXAS([A-Z_]*, "\([^"]*\)", [A-Z]*, "[^"]*", "\([^"]*\)".*/\1 \2/p' \
        -e 's/^PTXAS_SAME([A-Z_]*, "\([^"]*\)".*/\1 \1/p' "$root/tools/oriptxas/oriptxas.def" | sort >have
    if [ "$(wc -l <want)" -gt 30 ]; then ok; else bad "ptxas --help is not understood"; fi
    is "$(comm -23 want have)" ""
    unset ORI_PTXAS
else
    skip "there is no ptxas on the PATH"
fi

name=clang
if ! have clang || [ ! "$real_ptxas" ]; then
    skip "no clang with a ptxas"
else
    cat >kernel.cu <<'END_OF_CUDA'
__attribute__((global)) void kernel(int *p, int n) { for (int i = 0; i < 3; i++) p[i * n] = i * n + 1; }
END_OF_CUDA
    # clang LEVEL
    by_clang() {
        ORI_PTXAS=$real_ptxas ORI_PTXAS_LOG=$1.log clang --ptxas-path="$ORIPTXAS" -x cuda --cuda-device-only -nocudainc \
            -nocudalib --cuda-gpu-arch=sm_80 -O$1 -c kernel.cu -o $1.cubin >out 2>err
    }
    if clang --ptxas-path="$real_ptxas" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -O2 -c kernel.cu \
        -o want.cubin >out 2>err; then
        by_clang 2
        is $? 0
        is "$(grep -c '"kernel":"_Z6kernelPii","gpu":"sm_80","instructions_in"' 2.log)" 1
        if [ -s 2.cubin ]; then ok; else bad "no output"; fi
        by_clang 0
        is "$(grep -c '"kept":"--opt-level=0"' 0.log)" 1
        if [ -s 0.cubin ]; then ok; else bad "no output"; fi
        is "$(grep -c ori-ptxas err)" 0
    else
        skip "clang cannot compile for the GPU: $(head -n 1 err)"
    fi
fi

name=nvcc
if [ "$real_nvcc" ] && [ "$real_ptxas" ]; then
    exits "a folder for the real nvcc" 0 "$ORIPTXAS" --make-nvcc-dir 'real nvcc'
    exits "nvcc -cubin" 0 env ORI_PTXAS_LOG=$work/nvcc.log "$work/real nvcc/nvcc" -arch=sm_80 -cubin one.ptx -o out.cubin
    is "$(grep -c '"kernel":"one","gpu":"sm_80","instructions_in":5,"instructions":3,' nvcc.log)" 1
    echo '__global__ void kernel(int *p, int n) { for (int i = 0; i < 3; i++) p[i * n] = threadIdx.x; }' >kernel.cu
    if "$real_nvcc" -arch=sm_80 -c kernel.cu -o want.o >out 2>err; then
        exits "nvcc -c, by name" 0 env ORI_PTXAS_LOG=$work/by_name.log PATH="$work/real nvcc:$PATH" nvcc -arch=sm_80 -c kernel.cu -o out.o
        is "$(grep -c '"kernel":"_Z6kernelPii","gpu":"sm_80","instructions_in"' by_name.log)" 1
        exits "nvcc -G" 0 env ORI_PTXAS_LOG=$work/g.log "$work/real nvcc/nvcc" -arch=sm_80 -G -c kernel.cu -o out.o
        is "$(grep -c '"kept":"--device-debug"' g.log)" 1
    else
        skip "nvcc cannot compile CUDA here: $(head -n 1 err)"
    fi
else
    skip "there is no nvcc with a ptxas on the PATH"
fi

finish
