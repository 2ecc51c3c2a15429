#!/bin/sh
# SPDX-License-Identifier: MIT
#
# messages.sh: tests the common behaviour of all programs (help, version, unknown options, response files), and warnings
# and errors about ineffective inputs and options.
#
#   tests/programs/messages.sh
#
# One line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT, the program to test (default build/oriopt); the others are beside it.

. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage messages.sh
needs "$ORIOPT" "$ORIRUN" "$ORICHECK" "$ORIGEN"
make_work
cd "$work" || exit 2

# run NAME EXIT ARGS...: runs oriopt.
run() {
    name=$1 want=$2
    shift 2
    exits "$name" "$want" "$ORIOPT" "$@"
}
# said LINE...: checks that standard error is exactly these lines.
said() {
    printf '%s\n' "$@" >want
    same err want
}
# warned N TEXT: checks that there are N warnings, one of which is this.
warned() {
    is "$(grep -c 'warning: ' err)" "$1"
    says err "$2"
}

cat >k.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<3>;
	.reg .pred %p<2>;
	.loc 1 3 1
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	setp.gt.u32 %p1, %r1, 1;
	.loc 1 4 5
	@%p1 bra $L1;
	.loc 1 5 9
	st.global.u32 [%rd1], %r1;
	bra $L2;
$L1:
	.loc 1 7 9
	st.global.u32 [%rd1+4], %r1;
$L2:
	ret;
}
.file 1 "src/vadd.cu"
END

# -- Help and version ---------------------------------------------------------------------------------------------------

for program in "$ORIOPT" "$ORIRUN" "$ORICHECK" "$ORIGEN"; do
    p=${program##*/}
    exits "$p -h" 0 "$program" -h
    silent err
    cp out help
    exits "$p --help" 0 "$program" --help
    same out help
    says out "  -h   "
    says out "  @FILE   "
    exits "$p -v" 0 "$program" -v
    cp out version
    exits "$p --version" 0 "$program" --version
    same out version
    says out "$p "
done

# -- Unknown options ----------------------------------------------------------------------------------------------------

# unknown PROGRAM OPTION END: checks the end of the message.
unknown() {
    exits "${1##*/} $2" 2 "$1" "$2"
    said "${1##*/}: unknown option '$2'$3"
}
unknown "$ORIOPT" --prit-changed "; did you mean --print-changed?"
unknown "$ORIOPT" -verfy-each "; did you mean --verify-each?"
unknown "$ORIOPT" --emits=ptx "; did you mean --emit?"
unknown "$ORIOPT" --strip "; did you mean --strip-debug?"
unknown "$ORIOPT" --frobnicate "; --help lists them all"
unknown "$ORIOPT" -q "; --help lists them all"
unknown "$ORIRUN" --check-race "; did you mean --check-races?"
unknown "$ORICHECK" --bles "; did you mean --bless?"
unknown "$ORIGEN" --kernel=3 "; did you mean --kernels?"
unknown "$ORIGEN" --frobnicate "; --help lists them all"
exits "a value that is none of the choices" 2 "$ORIGEN" --style=baroque
said "origen: --style: 'baroque' is not naive, optimized or mixed"
exits "the same in all programs" 2 "$ORICHECK" --generate=tcsh
said "oricheck: --generate: 'tcsh' is not man, bash, zsh or fish"
exits "oricheck without its file" 5 "$ORICHECK" nofile
said "oricheck: cannot read 'nofile': No such file or directory"
exits "oricheck without one of its files" 5 "$ORICHECK" k.ptx nofile

# -- Response files -----------------------------------------------------------------------------------------------------

"$ORIOPT" --named-phases=107 k.ptx -o direct.ptx
printf -- '--named-phases\n107\t k.ptx\n' >a.args
run "a response file" 0 @a.args -o response.ptx
silent err
same response.ptx direct.ptx
cp k.ptx 'a b.ptx'
printf -- '--named-phases=107 "a b.ptx"' >b.args
printf -- "'--named-phases=107' 'a b.ptx'" >c.args
printf -- '--named-phases=1"07" a\\ b.ptx\n' >d.args
for file in b c d; do
    run "quotes and blanks: $file" 0 @$file.args -o response.ptx
    same response.ptx direct.ptx
done
: >empty.args
printf -- '@empty.args -o response.ptx @a.args\n' >nested.args
rm -f response.ptx
run "response files in response files" 0 @nested.args @empty.args
same response.ptx direct.ptx
cp k.ptx @k.ptx
run "an operand that begins with @" 0 --named-phases=107 -o response.ptx -- @k.ptx
same response.ptx direct.ptx
run "a value that begins with @" 0 --named-phases=107 -o @response.ptx k.ptx
same @response.ptx direct.ptx
echo k.ptx >in.args
exits "orirun takes them" 0 "$ORIRUN" @in.args --block 4 --arg buf:8 --dump 0:u32
is "$(cat out)" "arg0:u32[0] 1 3"
printf '// test read\n' | cat - k.ptx >t.ptx
echo '--verbose t.ptx' >check.args
exits "oricheck takes them" 0 "$ORICHECK" @check.args
says out "PASS t.ptx"
echo '--size 30' >gen.args
exits "origen takes them" 0 "$ORIGEN" @gen.args
cp out sized
exits "origen without" 0 "$ORIGEN" --size=30
same out sized
# Errors have the position of the argument.
printf -- '-O2\n  --verify=some\n' >bad.args
run "a value in a response file" 2 @bad.args k.ptx
said "bad.args:2:3: error: --verify: 'some' is not none, final or each"
printf -- '-O2 --verfy-each' >bad.args
run "an unknown option in a response file" 2 @bad.args k.ptx
said "bad.args:1:5: error: unknown option '--verfy-each'; did you mean --verify-each?"
printf -- '-O2\nk.ptx\n' >bad.args
run "a second input in a response file" 2 k.ptx @bad.args
said "bad.args:2:1: error: more than one input file"
printf -- '-O2\n --knob "a\nb' >bad.args
run "a quote that is not closed" 2 @bad.args k.ptx
said "bad.args:2:9: error: this quote is not closed"
printf 'a\000b' >bad.args
run "a NUL byte in a response file" 2 @bad.args k.ptx
said "bad.args:1:2: error: a NUL byte is not allowed here"
run "a missing response file" 5 @missing.args k.ptx
said "oriopt: cannot read 'missing.args': No such file or directory"
printf 'k.ptx\n @missing.args' >bad.args
run "a missing response file in another" 5 @bad.args
said "bad.args:2:2: error: cannot read 'missing.args': No such file or directory"
echo '@self.args' >self.args
run "a response file that names itself" 2 @self.args
says err "self.args:1:1: error: '@self.args': more than 100 response files; one of them names itself"
printf -- '--block 4\n--grid 0' >bad.args
exits "a value of orirun in a response file" 2 "$ORIRUN" k.ptx @bad.args
said "bad.args:2:1: error: --grid: '0' is not X, X,Y or X,Y,Z, numbers from 1 on"
printf -- '--size 1' >bad.args
exits "a value of origen in a response file" 2 "$ORIGEN" @bad.args
said "bad.args:1:1: error: --size: '1' is not a number from 20 to 1000000"

# -- Files that are no modules ------------------------------------------------------------------------------------------

# foreign NAME POSITION TEXT: checks that all programs that read modules reject the file with exactly this message.
foreign() {
    for program in "$ORIOPT" "$ORIRUN"; do
        exits "${program##*/}: $1" 1 "$program" "$1"
        is "$(head -n 1 err)" "$1:$2: error: $3"
        is "$(grep -c 'error: ' err)" 1
    done
}
cuda="this is CUDA or C++ source, not PTX; compile it with nvcc -ptx first"
llvm="this is LLVM IR, not PTX; compile it with llc -march=nvptx64 first"
bitcode="this is LLVM bitcode, not PTX; compile it with llc -march=nvptx64 first"
neither="this is neither PTX, which begins with .version, nor Ori text, which begins with target"
printf '// adds\n#include <stdio.h>\n__global__ void k() {}\n' >a.cu
foreign a.cu 2:1 "$cuda"
printf '/* adds;\n */\n\n  __global__ void k() {}\n' >b.cu
foreign b.cu 4:3 "$cuda"
printf 'extern "C" __global__ void k() {}\n' >source.ptx
foreign source.ptx 1:1 "$cuda"
printf 'template <class T> struct S {};\n' >source.ori
foreign source.ori 1:1 "$cuda"
printf '# pragma once\n' >h.cuh
foreign h.cuh 1:1 "$cuda"
printf '\177ELF\002\001\001\000\000' >k.cubin
foreign k.cubin 1:1 "this is an ELF file (a cubin or an object file), not PTX; compile its source with nvcc -ptx first"
cp k.cubin k.o.ptx
foreign k.o.ptx 1:1 "this is an ELF file (a cubin or an object file), not PTX; compile its source with nvcc -ptx first"
printf '\120\355\125\272\001\000' >k.fatbin
foreign k.fatbin 1:1 "this is a fatbin, not PTX; extract its PTX with cuobjdump -xptx all first"
printf '!<arch>\nx' >k.a
foreign k.a 1:1 "this is an archive of object files, not PTX; compile its source with nvcc -ptx first"
printf 'BC\300\336\065\024' >k.bc
foreign k.bc 1:1 "$bitcode"
printf '\336\300\027\013\000\000' >wrapped.bc
foreign wrapped.bc 1:1 "$bitcode"
printf '; ModuleID = "k"\ntarget triple = "nvptx64"\n' >k.ll
foreign k.ll 1:1 "$llvm"
printf '; comment\n\ntarget triple = "nvptx64"\n' >triple.ll
foreign triple.ll 3:1 "$llvm"
printf 'source_filename = "k.cu"\n' >name.ll
foreign name.ll 1:1 "$llvm"
printf 'define void @k() {\n}\n' >define.ptx
foreign define.ptx 1:1 "$llvm"
# packed NAME PROGRAM BYTES: a compressed file is recognized.
packed() {
    printf "$3" >"$1"
    foreign "$1" 1:1 "this is a file compressed by $2, not PTX; decompress it first"
}
packed k.ptx.gz gzip '\037\213\010\000'
packed k.ptx.zst zstd '\050\265\057\375\000'
packed k.ptx.xz xz '\3757zXZ\000'
packed k.ptx.bz2 bzip2 'BZh9'
packed zip.ptx zip 'PK\003\004'
printf '\355CN\177\001' >k.ltoir
foreign k.ltoir 1:1 "this is LTO IR, not PTX; compile its source with nvcc -ptx first"
# wide NAME ENCODING FROM BYTES: text with wide characters is recognized.
wide() {
    printf "$4" >"$1"
    foreign "$1" 1:1 "this is text in $2, not PTX; convert it with iconv -f $3 -t UTF-8 first"
}
wide bom16.ptx UTF-16 UTF-16 '\377\376.\000v\000'
wide bom16be.ori UTF-16 UTF-16 '\376\377\000.\000v'
wide bom32 UTF-32 UTF-32 '\377\376\000\000.\000\000\000'
wide little.ptx UTF-16 UTF-16LE '.\000v\000e\000'
wide big UTF-16 UTF-16BE '\000/\000/\000 '
# Each language under the name of the other one, and chosen for the other one.
printf '// c\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n' >ptx.ori
foreign ptx.ori 2:1 "this is PTX, but its name says Ori text; use -x ptx"
printf '; c\ntarget sm_80 ptx 7.0 address 64\n' >ori.ptx
foreign ori.ptx 2:1 "this is Ori text, but its name says PTX; use -x ori"
for program in "$ORIOPT" "$ORIRUN"; do
    exits "PTX, chosen as Ori text" 1 "$program" -x ori k.ptx
    is "$(cat err | grep -c 'error: ')" 1
    says err "k.ptx:1:1: error: this is PTX, not Ori text; use -x ptx"
    exits "Ori text, chosen as PTX" 1 "$program" -x ptx ori.ptx
    says err "ori.ptx:2:1: error: this is Ori text, not PTX; use -x ori"
done
exits "PTX, by choice" 0 "$ORIOPT" -x ptx ptx.ori -o out.ptx
printf 'Hello, world\n' >hello.txt
foreign hello.txt 1:1 "$neither"
printf '\n  {"schema":1}\n' >k.json
foreign k.json 2:3 "$neither"
printf '\000\000\000\000' >zeros
foreign zeros 1:1 "$neither"
exits "no module on standard input" 1 sh -c "\"$ORIOPT\" - <a.cu"
says err "<stdin>:2:1: error: $cuda"
# Valid modules are accepted.
printf '# 1 "k.cu"\n' | cat - k.ptx >marker.txt
run "a line marker" 0 marker.txt -o out.ptx
run "Ori text" 0 --emit=ori --named-phases=NOP k.ptx -o k.ori
cp k.ori ori.txt
run "Ori text by its content" 0 ori.txt -o out.ori
printf '; a comment\n\n' | cat - k.ori >commented.txt
run "Ori text after a comment" 0 commented.txt -o out.ori
printf 'device @f() form multi {\n' >broken.ori
run "an error in Ori text" 1 broken.ori
if grep -q "neither\|not PTX" err; then bad "$(head -n 1 err)"; else ok; fi
run "a language that was chosen" 1 -x ptx hello.txt
says err "hello.txt:1:1: error: expected a directive such as .visible"
name="what nvcc makes"
if have nvcc && printf '__global__ void k(int *p) { *p = 1; }\n' >real.cu && nvcc -arch=sm_80 -cubin real.cu -o real.cubin 2>err &&
    nvcc -arch=sm_80 -fatbin real.cu -o real.fatbin 2>>err; then
    foreign real.cu 1:1 "$cuda"
    foreign real.cubin 1:1 "this is an ELF file (a cubin or an object file), not PTX; compile its source with nvcc -ptx first"
    foreign real.fatbin 1:1 "this is a fatbin, not PTX; extract its PTX with cuobjdump -xptx all first"
else
    skip "no nvcc"
fi

# -- Semicolons ---------------------------------------------------------------------------------------------------------

sed 's/\(mov.u32 %r1, %tid.x\);/\1   \/\/ the thread/' k.ptx >semicolon.ptx
run "a missing semicolon" 1 semicolon.ptx
said "semicolon.ptx:11:21: error: expected ',' or ';'" "	mov.u32 %r1, %tid.x   // the thread" "	                   ^"
sed 's/bra \$L2;/bra $L2/' k.ptx >semicolon.ptx
run "a missing semicolon in front of a label" 1 semicolon.ptx
says err "semicolon.ptx:17:9: error: expected ',' or ';'"
sed 's/ret;/ret/' k.ptx >semicolon.ptx
run "a missing semicolon in front of a brace" 1 semicolon.ptx
says err "semicolon.ptx:22:5: error: expected ';' after the instruction"

# -- Unknown words -------------------------------------------------------------------------------------------------------

sed -e 's/setp.gt.u32 %p1/setp.gt.ballot.u32 %p1/' -e 's/mov.u32 %r1, %tid.x;/&\n\tmbarrier.ival.shared.b64 [%r1];/' \
    -e 's/st.global.u32 \[%rd1\], %r1/st.global.u4 [%rd1], %r1/' k.ptx >words.ptx
run "modifiers and types that ptxas does not take" 0 words.ptx -o out.ptx
warned 3 "words.ptx:12:2: warning: 'mbarrier.ival.shared.b64' has an unknown modifier or type, '.ival'; it is passed through unchanged"
says err "words.ptx:13:2: warning: 'setp.gt.ballot.u32' has an unknown modifier or type, '.ballot'; it is passed through unchanged"
says err "words.ptx:17:2: warning: 'st.global.u4' has an unknown modifier or type, '.u4'; it is passed through unchanged"
run "they stay" 0 words.ptx
says out "mbarrier.ival.shared.b64"
says out "setp.gt.ballot.u32"
says out "st.global.u4"
sed 's/^.version 8.0/.version 99.0/' k.ptx >version.ptx
run "a version after the last one" 0 version.ptx -o out.ptx
said "version.ptx:1:10: warning: PTX 99.0 is newer than 9.0, the last version that is known" ".version 99.0" "         ^"
for version in 9.0 9.1 6554.0 99999999999.0; do
    sed "s/^.version 8.0/.version $version/" k.ptx >version.ptx
    run "version $version" 0 version.ptx -o out.ptx
    if [ $version = 9.0 ]; then is "$(cat err)" ""; else warned 1 "warning: PTX $version is newer than 9.0"; fi
done
sed 's/^{/{\n\t.shared .b8 s[1000], t[24];\n\t.shared .b8 unnamed[4096];/; s/mov.u32 %r1, %tid.x;/mov.u32 %r1, s;\n\tmov.u32 %r1, t;\n\t&/' k.ptx >shared.ptx
exits "all shared memory of sm_90" 0 "$ORIRUN" shared.ptx --arg buf:8 --shared 226K
is "$(cat err)" ""
exits "a byte more" 0 "$ORIRUN" shared.ptx --arg buf:8 --shared 231425
warned 1 "warning: launch 1, k: 1024 bytes of shared variables and --shared=231425, but a block of sm_90 has at most 232448 bytes of shared memory"

# -- Targets ------------------------------------------------------------------------------------------------------------

sed 's/sm_90/sm_83/' k.ptx >target.ptx
run "a target that does not exist" 0 target.ptx -o out.ptx
said "target.ptx:2:9: warning: 'sm_83' is not a target and is optimized as sm_80; did you mean sm_80?" ".target sm_83" "        ^"
run "it is kept" 0 target.ptx
says out ".target sm_83"
exits "the same in orirun" 0 "$ORIRUN" target.ptx --block 4 --arg buf:8
warned 1 "target.ptx:2:9: warning: 'sm_83' is not a target"
run "the same in pieces" 0 --piece=1 target.ptx -o out.ptx
warned 1 "target.ptx:2:9: warning: 'sm_83' is not a target"
printf 'file target.ptx\nblock 4\narg buf:8\n' >target.run
run "once, though the output is read, too" 0 --check-each target.ptx -o out.ptx
warned 1 "target.ptx:2:9: warning: 'sm_83' is not a target"
run "the same as Ori text" 0 --emit=ori --named-phases=NOP target.ptx -o target.ori
run "a target in Ori text that does not exist" 0 target.ori -o out.ori
warned 1 "target.ori:1:8: warning: 'sm_83' is not a target and is optimized as sm_80; did you mean sm_80?"
for sm in sm_90 sm_90a sm_100f sm_10; do
    sed "s/sm_90/$sm/" k.ptx >target.ptx
    run "target $sm" 0 target.ptx -o out.ptx
    silent err
done
sed 's/sm_90/sm_30/; s/mov.u32 %r1, %tid.x;/lop3.b32 %r1, %r1, %r2, %r1, 0x80; lop3.b32 %r1, %r2, %r1, %r1, 0x40; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;/' \
    k.ptx >lacks.ptx
run "instructions that the target lacks" 0 lacks.ptx -o out.ptx
warned 1 "lacks.ptx:11:2: warning: 'lop3.b32' requires .version 4.3 and .target sm_50, or later ones"
run "the same as Ori text" 0 --emit=ori --named-phases=NOP lacks.ptx -o lacks.ori
run "instructions of Ori text that the target lacks" 0 --self-check=roundtrip lacks.ori -o out.ori
warned 1 "'lop3.b32' requires .version 4.3 and .target sm_50, or later ones"

# -- Phases that do nothing ---------------------------------------------------------------------------------------------

# idle OPTION VALUE WARNING...: checks for exactly these warnings.
idle() {
    option=$1 value=$2
    shift 2
    run "$option=$value" 0 $option="$value" k.ptx -o out.ptx
    if [ $# -gt 0 ]; then printf "oriopt: warning: ${option}: %s\n" "$@" >want; else : >want; fi
    grep 'warning: ' err >warnings
    same warnings want
}
for option in --named-phases --disable-phases --no-phase --print-before --print-after; do
    idle $option EnforceArgumentRestrictions "EnforceArgumentRestrictions (phase 48) does nothing: it is not implemented yet"
    idle $option 110,OriFold "PostSchedule (phase 110) does nothing: it is for machine code, which oriopt does not generate"
    idle $option 127 "AdvancedPhaseOriPhaseEncoding (phase 127) does nothing: no backend implements this hook"
    idle $option 2,48,2,48 "PromoteFP16 (phase 2) does nothing: it is not implemented yet" \
        "EnforceArgumentRestrictions (phase 48) does nothing: it is not implemented yet"
    idle $option OriFold,NOP,OriBranchOpt
    idle $option 0..60
done
run "a phase of other backends" 0 -arch sm_30 --named-phases=OriFormLop3 k.ptx -o out.ptx
warned 1 "oriopt: warning: --named-phases: OriFormLop3 (phase 168) does nothing: it is not installed on sm_30"
run "a phase that a knob installs" 0 -arch sm_80 --named-phases=GvnCse k.ptx -o out.ptx
warned 1 "oriopt: warning: --named-phases: GvnCse (phase 49) does nothing: it is not installed on sm_80; --knob EnableGvnCse=1 installs it"
run "a phase that a knob has installed" 0 -arch sm_80 --knob EnableGvnCse=1 --named-phases=GvnCse k.ptx -o out.ptx
silent err
run "a phase for shaders" 0 --named-phases=EmitPSI k.ptx -o out.ptx
warned 1 "oriopt: warning: --named-phases: EmitPSI (phase 36) does nothing: it is for shaders, which PTX does not have"
run "a phase without work" 0 --named-phases=UpdateAfterOptimize k.ptx -o out.ptx
warned 1 "oriopt: warning: --named-phases: UpdateAfterOptimize (phase 76) does nothing: it refreshes data that oriopt drops when code changes"
run "a phase of this backend" 0 -arch sm_80 --named-phases=OriFormLop3 k.ptx -o out.ptx
silent err
for setting in --named-phases= --disable-phases= --no-phase= --print-after= --knob=NamedPhases= --knob=DisablePhases= --knob=DUMPIR=; do
    what=${setting#--knob=}
    what=${what%=}
    for sm in sm_30 sm_50; do
        run "phase 46 of $sm, by $what" 0 -arch $sm ${setting}GeneralOptimizeMid2 k.ptx -o out.ptx
        grep 'warning: ' err >warnings
        is "$(cat warnings)" "oriopt: warning: $what: GeneralOptimizeMid2 (phase 46) does nothing: it is not installed on $sm"
    done
    for sm in sm_60 sm_70 sm_80 sm_89 sm_90; do
        run "phase 46 of $sm, by $what" 0 -arch $sm ${setting}GeneralOptimizeMid2 k.ptx -o out.ptx
        if grep 'warning: ' err; then bad "a warning"; else ok; fi
    done
    run "phase 65 of sm_30, by $what" 0 -arch sm_30 ${setting}GeneralOptimizeLate2 k.ptx -o out.ptx
    if grep 'warning: ' err; then bad "a warning"; else ok; fi
done
run "a knob" 0 --knob DisablePhases=EnforceArgumentRestrictions k.ptx -o out.ptx
warned 1 "oriopt: warning: DisablePhases: EnforceArgumentRestrictions (phase 48) does nothing"
run "a pipeline without a module" 0 --print-pipeline --named-phases=EnforceArgumentRestrictions
warned 1 "EnforceArgumentRestrictions (phase 48) does nothing"
run "what is left out at either end" 0 --start-before=49 --stop-after=110 k.ptx -o out.ptx
silent err
run "the default" 0 k.ptx -o out.ptx
silent err
run "names of phases" 0 --list-phases=names
silent err
cp out names
run "the table of phases" 0 --list-phases
name="names of phases that do something"
awk '$4 == "implemented" || $4 == "off" { n[$2]++; row[NR] = $1; of[NR] = $2 } END { for (k = 1; k <= NR; k++) if (k in of) print of[k] (n[of[k]] > 1 ? "@" row[k] : "") }' out >want
same names want
says names DumpNVuCodeText@155
run "all of them can be named" 0 --named-phases="$(tr '\n' ',' <names)" -O2 k.ptx -o out.ptx
if grep -q 'does nothing' err; then bad "$(grep 'does nothing' err)"; else ok; fi

# -- Globs that match nothing -------------------------------------------------------------------------------------------

run "no such function" 0 --filter-funcs='kk*' --print-after=NOP k.ptx -o out.ptx
said "oriopt: warning: --filter-funcs: 'kk*' matches no function of this module"
run "such a function" 0 --filter-funcs='k*' --ir-dump-dir=d k.ptx -o out.ptx
silent err
run "no such phase" 0 --filter-phases='GvnCsee' --ir-dump-dir=d k.ptx -o out.ptx
said "oriopt: warning: --filter-phases: 'GvnCsee' matches no phase"
run "no such phase of remarks" 0 --remarks=r.yaml --remarks-filter='Gvn?' k.ptx -o out.ptx
said "oriopt: warning: --remarks-filter: 'Gvn?' matches no phase"
run "such phases" 0 --remarks=r.yaml --remarks-filter='gvn*' --filter-phases='107' --ir-dump-dir=d k.ptx -o out.ptx
silent err

# -- Reproducers --------------------------------------------------------------------------------------------------------

run "a reproducer of PTX called .ori" 0 --reproducer rep.ori --named-phases=107 k.ptx -o out.ptx
run "it repeats" 0 --run-reproducer rep.ori -o again.ptx
same again.ptx out.ptx
run "it is a module" 0 --named-phases=107 rep.ori
says out ".entry k("
run "a reproducer of Ori text called .ptx" 0 --reproducer rep.ptx --named-phases=107 k.ori -o out.ori
run "it repeats" 0 --run-reproducer rep.ptx -o again.ori
same again.ori out.ori
name="a reproducer of standard input"
"$ORIOPT" --reproducer rep2.ptx --named-phases=107 - <k.ptx >out 2>err
run "it repeats, too" 0 --run-reproducer rep2.ptx -o again.ptx
same again.ptx out.ptx
cp k.ptx over.ptx
run "a reproducer where the output replaces the input" 0 --reproducer rep3.ptx over.ptx -o over.ptx
if grep -q 'mov.u32 	*%r1, %tid.x' rep3.ptx && grep -q '\.reg \.pred %p<2>' rep3.ptx; then ok; else bad "it has the output"; fi
{ printf '// option: --frobnicate\n'; cat k.ptx; } >comments.ptx
run "a reproducer of an input that begins with comments" 0 --reproducer rep4.ptx --named-phases=107 comments.ptx -o out.ptx
run "it repeats, too" 0 --run-reproducer rep4.ptx -o again.ptx
same again.ptx out.ptx
run "both options" 2 --reproducer rep.ptx --no-reproducer k.ptx
said "oriopt: --reproducer and --no-reproducer exclude each other"

# A phase that removes the second read of the clock makes --check-each fail.
cat >clock.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r2, %clock;
	mov.u32 %r6, 0;
	add.u32 %r6, %r6, 1;
	mul.lo.u32 %r7, %r6, 3;
	mov.u32 %r3, %clock;
	sub.u32 %r4, %r3, %r2;
	st.global.u32 [%rd1], %r4;
	ret;
}
END
printf 'file clock.ptx\narg buf:4\n' >clock.run
run "an internal error with a folder" 3 --check-each --crash-dir=crashes clock.ptx -o out3
name="an internal error with a folder"
set -- crashes/oriopt-crash-*.ori
if [ $# -eq 1 ] && [ -s "$1" ]; then ok; else bad "there is no reproducer in crashes"; fi
says err "oriopt: $1 repeats it: oriopt --run-reproducer $1"
is "$(find . -maxdepth 1 -name 'oriopt-crash-*')" ""
run "it repeats" 3 --run-reproducer "$1"
run "an internal error without a reproducer" 3 --check-each --no-reproducer clock.ptx -o out3
is "$(find . -name 'oriopt-crash-*' | wc -l)" 1
if grep -q "repeats it" err; then bad "it says so"; else ok; fi
run "a folder that cannot be made" 3 --check-each --crash-dir=no/such/folder clock.ptx -o out3
says err "oriopt: cannot write 'no/such/folder/oriopt-crash-"
rm -rf crashes

# -- Fatal signals -----------------------------------------------------------------------------------------------------

# One function is one piece, so all phases have run when the output begins. The text was dropped, so it is read again.
awk 'BEGIN {
    for (k = 0; k < 20000; k++) print "// a comment of about eighty bytes, so that the file is longer than a megabyte"
    print ".version 8.0\n.target sm_80\n.address_size 64\n.func long()\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, 1;"
    for (k = 0; k < 6000; k++) print "\tst.local.u32 [16], %r1;"
    print "\tret;\n}"
}' >long.ptx
mkfifo pipe
# killed SIGNAL ARGS...: sends oriopt the signal while it waits to write to a pipe without a reader.
killed() {
    name="$*" signal=$1
    shift
    exec 3<>pipe
    "$ORIOPT" --named-phases=NOP -O2 "$@" long.ptx -o pipe 2>err &
    pid=$!
    $limit dd bs=1 count=1 of=first <&3 2>dd.err
    kill -s "$signal" $pid
    wait $pid 2>wait.err
    status=$?
    exec 3>&-
    # The handler of a sanitizer ends the process with status 99.
    if [ $status -eq 99 ] || [ "$(kill -l $status 2>wait.err)" = "$signal" ]; then ok; else bad "exit status $status"; fi
}
for signal in SEGV BUS ABRT; do
    killed $signal
    set -- oriopt-crash-*
    case $# in 1) ok ;; *) bad "$# reproducers" ;; esac
    is "$(head -n 2 err)" "oriopt: SIG$signal
oriopt: $1 repeats it: oriopt --run-reproducer $1"
    case $1 in oriopt-crash-????????????????.ptx) ok ;; *) bad "it is called $1" ;; esac
    is "$(sed -n 2,4p "$1")" "// error: SIG$signal
// option: --named-phases=NOP
// option: -O2"
    tail -n +6 "$1" >rest
    same rest long.ptx
    run "it repeats" 0 --run-reproducer "$1" -o again.ptx
    silent err
    rm -f "$1"
done
"$ORIOPT" --named-phases=NOP long.ptx -o out.ptx
same again.ptx out.ptx
killed SEGV --crash-dir=crashes
set -- crashes/oriopt-crash-*.ptx
if [ -s "$1" ]; then ok; else bad "there is no $1"; fi
says err "oriopt: $1 repeats it: oriopt --run-reproducer $1"
killed SEGV --reproducer=mine.ptx
if [ -s mine.ptx ]; then ok; else bad "there is no mine.ptx"; fi
says err "oriopt: mine.ptx repeats it: oriopt --run-reproducer mine.ptx"
killed SEGV --no-reproducer
is "$(head -n 1 err)" "oriopt: SIGSEGV"
killed SEGV --crash-dir=no/such/folder
says err "oriopt: cannot write 'no/such/folder/oriopt-crash-"
is "$(find . -maxdepth 1 -name 'oriopt-crash-*' -o -name '*.tmp*')" ""
# The stack may overflow. The size that causes this in a phase depends on the build.
name="a stack that overflows"
rm -rf crashes
: >err
for kilobytes in $(awk 'BEGIN { for (k = 16; k < 800; k += k < 100 ? 2 : 32) print k }'); do
    rm -f out4.ptx  # a smaller stack may have sufficed, since its start is random
    sh -c "ulimit -s $kilobytes
        exec \"\$0\" --crash-dir=crashes \"\$1\" -o out4.ptx 2>err" "$ORIOPT" "$root/samples/ptx/fsm.O0.ptx" 2>wait.err
    if grep -q '^oriopt: SIG[A-Z]* in phase [A-Za-z0-9]* ([0-9]*)$' err; then break; fi
done >wait.out 2>&1
if grep -q ' in phase ' err; then
    crashed=$(sed -n 's/^oriopt: \(crashes.*\) repeats it: .*/\1/p' err)
    run "it runs with a larger stack" 0 --run-reproducer "$crashed"
    is "$(find . -name 'out4.ptx*')" ""
else
    skip "no size of the stack does it"
fi

# -- Positions in PTX sources ------------------------------------------------------------------------------------------

exits "a fault" 1 "$ORIRUN" k.ptx --arg buf:2
is "$(head -n 1 err)" "k.ptx:16:2: error: launch 1, k, block 0,0,0, thread 0,0,0: write of 4 bytes at 0 of the buffer of argument 0, which has 2 bytes (at src/vadd.cu:5)"
sed '/\.file/d' k.ptx >nofile.ptx
exits "a fault without .file" 1 "$ORIRUN" nofile.ptx --arg buf:2
is "$(head -n 1 err)" "nofile.ptx:16:2: error: launch 1, k, block 0,0,0, thread 0,0,0: write of 4 bytes at 0 of the buffer of argument 0, which has 2 bytes"
printf 'file k.ptx\narg buf:2\n' >k.run
run "a fault before any phase" 1 --check-each k.ptx -o out5
says err "k.ptx:16:2: error: before any phase, launch 1, block 0,0,0, thread 0,0,0: write of 4 bytes at 0 of the buffer of argument 0, which has 2 bytes (at src/vadd.cu:5)"
exits "coverage" 0 "$ORIRUN" k.ptx --arg buf:8 --coverage
says err 'k.ptx:14: k: the branch was never taken (at src/vadd.cu:4)'
says err 'k.ptx:20: k: block $L1 never ran (at src/vadd.cu:7)'
exits "a trace" 0 "$ORIRUN" k.ptx --arg buf:8 --trace
says err 'block 0,0,0 thread 0,0,0 k+1 mov.u32 0 (at src/vadd.cu:3)'
says err 'st.global.u32 (at src/vadd.cu:5)'
exits "a trace without .file" 0 "$ORIRUN" nofile.ptx --arg buf:8 --trace
if grep -q ' (at' err; then bad "$(grep ' (at' err | head -n 1)"; else ok; fi

# -- Names of rules ----------------------------------------------------------------------------------------------------

rules=${ORIOPT%/*}/rules
if [ -x "$rules" ]; then
    exits "a rule that does not exist" 2 "$rules" div-unsinged
    is "$(head -n 1 err)" "rules: there is no rule 'div-unsinged' with a pattern; did you mean div-unsigned, div-signed or rem-unsigned?"
    silent out
else
    skip "there is no $rules"
fi

finish
