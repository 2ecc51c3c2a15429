#!/bin/sh
# SPDX-License-Identifier: MIT
#
# knobs.sh: tests knobs in oriopt: sources of settings and their precedence, conditions, plans, the printed tables, all
# messages with their positions, reproducers, threads.
#
#   tests/programs/knobs.sh
#
# Fails if a knob has no test of its effect, here or in a golden file.
#
# Ends in `N passed, N failed, N skipped`. Environment: ORIOPT (default build/oriopt).
. "$(dirname "$0")/../lib.sh"
unset ORI_KNOBS
[ $# -eq 0 ] || usage knobs.sh
needs "$ORIOPT" "$ORICHECK" "$ORIRUN"
make_work
cd "$work" || exit 2
tab=$(printf '\t')

# run NAME EXIT ARGS...: runs oriopt.
run() {
    name=$1 want=$2
    shift 2
    exits "$name" "$want" "$ORIOPT" "$@"
}
# with SETTINGS NAME EXIT ARGS...: runs oriopt with ORI_KNOBS.
with() {
    ORI_KNOBS=$1
    export ORI_KNOBS
    shift
    run "$@"
    unset ORI_KNOBS
}
differ() { if cmp -s "$1" "$2"; then bad "$1 and $2 are the same"; else ok; fi; }
lacks() { if grep -qF -e "$2" "$1"; then bad "std$1 says \`$2\`"; else ok; fi; }
# Prints the dumps of functions: `012 k, 012 other`.
dumps() { sed -n 's/^; \*\*\* IR Dump After \([0-9]*\)\..* on \(.*\) \*\*\*$/\1 \2/p' err | paste -s -d, - | sed 's/,/, /g'; }
dumped() { is "$(dumps)" "$1"; }

# kernel NAME [PRAGMA-LINES]: prints a kernel.
kernel() {
    printf '.visible .entry %s(.param .u64 p)\n{\n%s' "$1" "${2-}"
    cat <<'END'
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	mov.b64 %rd1, %rd1;
	ld.global.u32 %r1, [%rd1];
	mov.b32 %r2, %r1;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra END;
	add.u32 %r2, %r2, 1;
END:
	mov.b64 %rd2, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
}
END
}
head=".version 8.0
.target sm_90
.address_size 64"
{
    echo "$head"
    kernel k
} >one.ptx
{
    echo "$head"
    kernel k
    kernel other
} >two.ptx

# -- Sources ------------------------------------------------------------------------------------------------------------

# Each source selects a dump after a phase of its own; the later source in this order must win. `when-x` is the same
# source under a true condition.
sources="environment file command module function when-environment when-file when-command when-module when-function"
set -- 000 003 033 012 010 016 094 107 112 158
for source in $sources; do
    eval "$(echo "$source" | tr - _)=$1"
    shift
done

# set_source NAME: adds a source to the next run of try_sources.
set_source() {
    eval "phase=\$$(echo "$1" | tr - _)"
    setting=DUMPIR=$phase
    case $1 in when-*) setting="WHEN=FN=k;$setting" ;; esac
    case $1 in
    *environment) in_env="$in_env$setting~" ;;
    *file) in_file="$in_file$setting
" ;;
    *command) in_command="$in_command --knob=$setting" ;;
    *module) in_module="$in_module.pragma \"knob $setting\";
" ;;
    *function) in_function="$in_function	.pragma \"knob $setting\";
" ;;
    esac
}
# try_sources WINNER SOURCES...: sets the sources in this order, and checks the winner.
try_sources() {
    eval "expect=\$$(echo "$1" | tr - _)"
    title="sources:"
    shift
    in_env='' in_file='' in_command='' in_module='' in_function=''
    for which; do
        title="$title $which"
        set_source "$which"
    done
    {
        echo "$head"
        printf '%s' "$in_module"
        kernel k "$in_function"
    } >source.ptx
    printf '[knobs]\n%s' "$in_file" >source.knobs
    # shellcheck disable=SC2086
    with "$in_env" "$title" 0 $in_command --knobs-file source.knobs source.ptx -o /dev/null
    dumped "$expect k"
    case $#$in_module$in_function in
    1?*)
        run "$title, as Ori text" 0 -O0 --emit=ori source.ptx -o source.ori
        # shellcheck disable=SC2086
        with "$in_env" "$title, from Ori text" 0 $in_command --knobs-file source.knobs source.ori --emit=ptx -o /dev/null
        dumped "$expect k"
        ;;
    esac
}
before=
for source in $sources; do
    try_sources "$source" "$source"
    for other in $before; do
        try_sources "$source" "$other" "$source"
        try_sources "$source" "$source" "$other"
    done
    before="$before $source"
done
# shellcheck disable=SC2086
try_sources when-function $sources

# Within a source the later setting wins.
printf '[knobs]\nDUMPIR=3\nDUMPIR=12\n' >a.knobs
printf '[knobs]\nDUMPIR=94 ~ dumpir=10\n' >b.knobs
with 'DUMPIR=3~DUMPIR=12' "twice in the environment" 0 one.ptx -o /dev/null
dumped "012 k"
with 'DUMPIR=3
DUMPIR=94' "lines of the environment" 0 one.ptx -o /dev/null
dumped "094 k"
run "twice in a file" 0 --knobs-file a.knobs one.ptx -o /dev/null
dumped "012 k"
run "two files" 0 --knobs-file a.knobs --knobs-file b.knobs one.ptx -o /dev/null
dumped "010 k"
run "two files, the other way" 0 --knobs-file b.knobs --knobs-file a.knobs one.ptx -o /dev/null
dumped "012 k"
run "twice on the command line" 0 --knob DUMPIR=3 --knob DUMPIR=12 one.ptx -o /dev/null
dumped "012 k"
run "a file after --knob" 0 --knob DUMPIR=3 --knobs-file a.knobs one.ptx -o /dev/null
dumped "003 k"
run "two settings in one --knob" 0 --knob 'DUMPIR=3~OptBudget=1~DUMPIR=94' one.ptx -o /dev/null
dumped "094 k"
run "two records that hold" 0 --knob 'WHEN=FN=*;DUMPIR=3' --knob 'WHEN=FN=k;DUMPIR=12' two.ptx -o /dev/null
dumped "012 k, 003 other"
run "two records that hold, the other way" 0 --knob 'WHEN=FN=k;DUMPIR=12' --knob 'WHEN=FN=*;DUMPIR=3' two.ptx -o /dev/null
dumped "003 k, 003 other"
{
    echo "$head"
    kernel k "	.pragma \"knob DUMPIR=3\", \"nounroll\";
	.pragma \"knob	DUMPIR=12\";
"
} >pragmas.ptx
run "two pragmas" 0 pragmas.ptx -o /dev/null
dumped "012 k"
{
    echo "$head"
    kernel early
    echo '.pragma "knob DUMPIR=3";'
    kernel k
    echo '.pragma "nounroll", "knob DUMPIR=12";'
    kernel late
    kernel own '	.pragma "knob DUMPIR=10";
'
} >modules.ptx
run "a module's pragma counts below it" 0 modules.ptx -o /dev/null
dumped "003 k, 012 late, 010 own"
run "a module's pragma counts below it, in pieces" 0 --piece=1 modules.ptx -o /dev/null
dumped "003 k, 012 late, 010 own"
run "pragmas are written again" 0 modules.ptx -o written.ptx
run "pragmas are read again" 0 written.ptx -o /dev/null
dumped "003 k, 012 late, 010 own"
printf '%s\n.visible .entry k()\n.pragma "knob DUMPIR=12";\n{\n\tret;\n}\n' "$head" >directive.ptx
run "a pragma of an entry" 0 directive.ptx -o /dev/null
dumped "012 k"
sed 's/knob /knobs /; s/"knob\t/"Knob /' pragmas.ptx >foreign.ptx
run "pragmas of others" 0 foreign.ptx -o /dev/null
silent err

# -- Conditions ---------------------------------------------------------------------------------------------------------

for row in 'k:k' 'other:other' '*:k other' '?:k' 'o*r:other' '*k*:k' 'K:' 'kk:' '"k":k' ' k:k' '*e?:other' '??*:other'; do
    pattern=${row%:*} expect=
    for fn in ${row#*:}; do expect="$expect${expect:+, }012 $fn"; done
    run "FN=$pattern" 0 --knob "WHEN=FN=$pattern;DUMPIR=12" two.ptx -o /dev/null
    dumped "$expect"
done
run "stats" 0 --stats=json two.ptx -o /dev/null
hash_k=$(sed -n 's/.*"name":"k".*"fh":"\(0x[0-9a-f]*\)".*/\1/p' err)
hash_other=$(sed -n 's/.*"name":"other".*"fh":"\(0x[0-9a-f]*\)".*/\1/p' err)
if [ "$hash_k" != "$hash_other" ]; then ok; else bad "two functions have the hash $hash_k"; fi
low=$hash_k high=$hash_other low_fn=k high_fn=other
if [ "$(printf '%s\n' "$hash_k" "$hash_other" | sort | head -n 1)" = "$hash_other" ]; then
    low=$hash_other high=$hash_k low_fn=other high_fn=k
fi
for row in "$hash_k:k" "$hash_other:other" "0..:k other" "..0xffffffffffffffff:k other" "$low..$high:k other" "$low..$low:$low_fn" \
    "$high..:$high_fn" "..$low:$low_fn" "0:" "1..2:"; do
    expect=
    for fn in ${row#*:}; do expect="$expect${expect:+, }012 $fn"; done
    run "FH=${row%:*}" 0 --knob "WHEN=FH=${row%:*};DUMPIR=12" two.ptx -o /dev/null
    dumped "$expect"
done
run "FH is of the function as it came" 0 -O0 --stats=json two.ptx -o /dev/null
says err "\"fh\":\"$hash_k\""
run "FH holds at -O0" 0 -O0 --knob "WHEN=FH=$hash_k;DUMPIR=12" two.ptx -o /dev/null
dumped "012 k"
run "FH with -j" 0 -j4 --knob "WHEN=FH=$hash_k;DUMPIR=12" two.ptx -o /dev/null
dumped "012 k"
run "all conditions of a record" 0 --knob "WHEN=FN=*;WHEN=FH=$hash_k;DUMPIR=12;OptBudget=0" two.ptx -o /dev/null
dumped "012 k"
run "one condition of a record does not hold" 0 --knob "WHEN=FN=other;WHEN=FH=$hash_k;DUMPIR=12" two.ptx -o /dev/null
dumped ""
for phase in 49 GvnCse gvncse GvnCse@49 13..64 'GvnCse .. NOP' '"1..158"'; do
    run "PH=$phase" 0 --knob "WHEN=PH=$phase;OptBudget=0" two.ptx -o /dev/null
    silent err
done
run "plans are made outside of phases" 0 --knob "WHEN=PH=0..164;DUMPIR=12" two.ptx -o /dev/null
dumped ""
run "outside of functions FN does not hold" 0 --print-pipeline
cp out plan
run "outside of functions FN does not hold" 0 --print-pipeline --knob 'WHEN=FN=*;NamedPhases=12' two.ptx
same out plan

# -- The manager --------------------------------------------------------------------------------------------------------

for list in 12 OriSanitize 9..16 'OriRemoveRedundantMov@9' 164 107+112,158 '0 158' 10..10; do
    for level in 0 3; do
        run "--print-after=$list -O$level" 0 -O$level --print-after="$list" two.ptx -o plain.ptx
        cp err printed
        run "DUMPIR=$list -O$level" 0 -O$level --knob "DUMPIR=$list" two.ptx -o knob.ptx
        same err printed
        same plain.ptx knob.ptx
        run "DUMPIR=$list -O$level in the environment" 0 -O$level --print-after="$list" two.ptx -o /dev/null
        with "DUMPIR=\"$list\"" "DUMPIR=\"$list\" in the environment" 0 -O$level two.ptx -o /dev/null
        same err printed
        run "DUMPIR=$list with a filter" 0 -O$level --filter-funcs=k --knob "DUMPIR=$list" two.ptx -o /dev/null
        lacks err " on other "
    done
done
run "DUMPIR and --print-after add up" 0 --knob DUMPIR=12 --print-after=94 one.ptx -o /dev/null
dumped "012 k, 094 k"
run "DUMPIR of nothing" 0 --knob 'DUMPIR=""' one.ptx -o /dev/null
silent err
run "DUMPIR of a phase that does not run" 0 --knob DUMPIR=21 one.ptx -o /dev/null
is "$(cat err)" "oriopt: warning: DUMPIR: OriStrengthReduce (phase 21) does nothing: it is not implemented yet"

names() { awk '{ print $1 }' "$1" | paste -s -d' ' -; }
recipes() { grep -o 'OriRemoveRedundantMov@[0-9]*' out | paste -s -d' ' -; }
for row in 'on:9 73' 'off:' 'OriRemoveRedundantMov:9 73' 'OriRemoveRedundantMov@9:9' 'oriremoveredundantmov@73:73' '164:9 73' \
    'OriRemoveRedundantMov@73,OriRemoveRedundantMov@9:9 73' '"off":' '"":' '"OriRemoveRedundantMov@9 + OriRemoveRedundantMov@73":9 73'; do
    expect=
    for slot in ${row#*:}; do expect="$expect${expect:+ }OriRemoveRedundantMov@$slot"; done
    run "NvOptRecipes=${row%:*}" 0 --print-pipeline --knob "NvOptRecipes=${row%:*}"
    is "$(recipes)" "$expect"
    cp out plan
    run "NvOptRecipes=${row%:*}, run" 0 --knob "NvOptRecipes=${row%:*}" --print-after=164 two.ptx -o direct.ptx
    # shellcheck disable=SC2086
    set -- ${row#*:}
    is "$(grep -c 'IR Dump After 164' err)" "$((2 * $#))"
    run "NvOptRecipes=${row%:*}, printed and run" 0 --named-phases="$(cat plan)" two.ptx -o named.ptx
    same direct.ptx named.ptx
done
run "no recipes without phase 1" 0 --print-pipeline --disable-phases=1
is "$(recipes)" ""
run "no recipes without phase 1, by a knob" 0 --print-pipeline --knob DisablePhases=ApplyNvOptRecipes
is "$(recipes)" ""
run "a slot keeps its recipes" 0 --print-pipeline --knob DisablePhases=9
is "$(recipes)" "OriRemoveRedundantMov@9 OriRemoveRedundantMov@73"
is "$(cat err)" "oriopt: warning: DisablePhases: the recipes after phase 9 still run; name them to disable them: OriRemoveRedundantMov@9"
run "a recipe by its name" 0 --print-pipeline --disable-phases=OriRemoveRedundantMov@9
is "$(recipes)" "OriRemoveRedundantMov@73"
silent err
run "the recipes of a range" 0 --print-pipeline --disable-phases=9..12
is "$(recipes)" "OriRemoveRedundantMov@73"
silent err
run "lop3 after a disabled slot without a body" 0 --print-pipeline --knob NvOptRecipes=all --disable-phases=72
grep -q '^OriFormLop3@72' out && ok || bad "OriFormLop3@72 goes with its slot"
is "$(cat err)" "oriopt: warning: --disable-phases: LateExpandSyncInstructions (phase 72) does nothing: it is for machine code, which oriopt does not generate
oriopt: warning: --disable-phases: the recipes after phase 72 still run; name them to disable them: OriFormLop3@72"
run "73 disabled" 0 --disable-phases=73 --verify=each two.ptx -o /dev/null
run "a knob by its number" 0 --print-knobs --knob 402=3
grep -q '^EnableGvnCseMode=3 ' out && ok || bad "no EnableGvnCseMode=3"
run "a number that no knob has" 2 --print-knobs --knob 9999=3
run "no recipes at -O0" 0 --print-pipeline -O0 --knob NvOptRecipes=on
is "$(recipes)" ""
printf '%s\n.visible .entry k()\n{\n\tret;\n}\n' "$head" >nothing.ptx
run "a recipe's condition does not hold" 0 --print-after=164 nothing.ptx -o /dev/null
dumped "164 k skipped because there are no moves"
cat >remainder.ptx <<END
$head
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	rem.u32 %r2, %r1, 8;
	st.global.u32 [%rd1], %r2;
	ret;
}
END
run "a recipe that is off" 0 --print-after=168 remainder.ptx -o /dev/null
dumped ""
run "a recipe may look for instructions that phases make" 0 --knob NvOptRecipes=all --print-after=168 remainder.ptx -o /dev/null
dumped "168 k"
run "a plan that names the row asks no condition" 0 --print-after=164 --named-phases=OriRemoveRedundantMov@9 nothing.ptx -o /dev/null
dumped "164 k skipped because there are no moves"
run "recipes for one function" 0 --knob 'WHEN=FN=k;NvOptRecipes=off' --print-after=164 two.ptx -o /dev/null
dumped "164 other, 164 other"

for list in 107 OriRemoveNopCode+112 10..16 '0,12 158' 23+73 OriPerformLiveDeadFourth@84 164 ''; do
    run "--named-phases=$list" 0 --named-phases="$list" two.ptx -o option.ptx
    run "--named-phases=$list, printed" 0 --print-pipeline --named-phases="$list"
    cp out plan
    run "NamedPhases=$list" 0 --knob "NamedPhases=\"$list\"" two.ptx -o knob.ptx
    same option.ptx knob.ptx
    run "NamedPhases=$list, printed" 0 --print-pipeline --knob "NamedPhases=\"$list\""
    same out plan
    run "NamedPhases=$list with --named-phases=158" 0 --print-pipeline --named-phases=158 --knob "NamedPhases=\"$list\""
    is "$(names out)" NOP@158
done
run "--named-phases wins over a pragma, too" 0 --named-phases=158 source.ptx -o option.ptx
sed 's/DUMPIR=/NamedPhases=/' source.ptx >named.ptx
run "--named-phases wins over a pragma, too" 0 --named-phases=158 named.ptx -o knob.ptx
sed 's/NamedPhases=/DUMPIR=/' knob.ptx >knob2.ptx
same option.ptx knob2.ptx
run "NamedPhases of a function" 0 --knob 'WHEN=FN=k;NamedPhases=158' --print-after-all two.ptx -o /dev/null
is "$(dumps | tr ',' '\n' | grep -c ' k$')" 1

run "DisablePhases" 0 --print-pipeline --knob DisablePhases=107
lacks out "@107"
says out "@112"
run "DisablePhases and --disable-phases add up" 0 --print-pipeline --knob DisablePhases=107 --disable-phases=112
lacks out "@107"
lacks out "@112"
says out "@94"
run "DisablePhases of two sources do not" 0 --print-pipeline --knob DisablePhases=107 --knob DisablePhases=112
says out "@107"
lacks out "@112"
run "both disabled" 0 --disable-phases=107,84,10 two.ptx -o option.ptx
run "both disabled" 0 --disable-phases=84 --knob DisablePhases=107+10 two.ptx -o knob.ptx
same option.ptx knob.ptx
run "all disabled" 0 --knob 'DisablePhases=0..164' two.ptx -o knob.ptx
run "NamedPhases and DisablePhases" 0 --print-pipeline --knob 'NamedPhases=107,112,158' --knob DisablePhases=112
is "$(names out)" "OriRemoveNopCode@107 NOP@158"
run "DisablePhases of a function" 0 --knob 'WHEN=FN=k;DisablePhases=12..164' --print-after=94 two.ptx -o /dev/null
dumped "094 other"

for level in 0 1 2 3 4; do
    for knobs in '' NvOptRecipes=off DisablePhases=9+23 'DisablePhases=73' 'NamedPhases=0..158' OptBudget=0; do
        run "-O$level $knobs, printed" 0 -O$level --print-pipeline --knob "$knobs"
        cp out plan
        list=$(names plan | tr ' ' +)
        budget= # a knob that printed plans omit
        [ "$knobs" != OptBudget=0 ] || budget=OptBudget=0
        run "-O$level $knobs" 0 -O$level --knob "$knobs" two.ptx -o direct.ptx
        run "-O$level $knobs, printed and given to --named-phases" 0 -O$level --named-phases="$(cat plan)" --knob "$budget" two.ptx -o named.ptx
        same direct.ptx named.ptx
        run "-O$level $knobs, printed and printed" 0 -O$level --print-pipeline --named-phases="$(cat plan)"
        is "$(names out)" "$(names plan)"
        run "-O$level $knobs, printed and given to NamedPhases" 0 -O$level --knob "NamedPhases=\"$list\"" --knob "$budget" two.ptx -o named.ptx
        same direct.ptx named.ptx
        run "-O$level $knobs, printed by NamedPhases" 0 -O$level --print-pipeline --knob "NamedPhases=\"$list\""
        is "$(names out)" "$(names plan)"
    done
done

run "OptBudget" 0 -O1 two.ptx -o o1.ptx
for budget in 0 1 0x10 017 +3 9223372036854775807; do
    run "OptBudget=$budget" 0 --knob "OptBudget=$budget" two.ptx -o budget.ptx
    silent err
    [ $budget = 0 ] && same o1.ptx budget.ptx
done
run "OptBudget changes no plan" 0 --print-pipeline
cp out plan
run "OptBudget changes no plan" 0 --print-pipeline --knob OptBudget=0
same out plan

# -- Phases --------------------------------------------------------------------------------------------------------------

# lines FILE PHASES TEXT ROWS...: checks rows `SETTINGS: N`: with these settings N lines of the output contain TEXT. A
# single setting that changes the number shows the effect of its knob.
: >shown
lines() {
    file=$1 phases=$2 text=$3
    shift 3
    run "no settings of $phases" 0 ${phases:+--named-phases=$phases} $file -o lines.ptx
    plain=$(grep -c "$text" lines.ptx)
    for row; do
        run "${row%:*} of $phases" 0 ${phases:+--named-phases=$phases} --knob "${row%:*}" $file -o lines.ptx
        is "$(grep -c "$text" lines.ptx)" "${row#*:}"
        case $row in *~*) continue ;; esac
        [ "${row#*:}" = "$plain" ] || echo "${row%:*}" >>shown
    done
}

# Eight bytes with constant indices, and thirty-two of which a third of the accessed bytes have constant indices.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.local .align 8 .b8 small[8];
	.local .align 8 .b8 large[32];
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	ld.global.u32 %r2, [%rd1+4];
	setp.lt.s32 %p1, %r1, %r2;
	st.local.u32 [small+4], %r1;
	st.local.u32 [large+8], %r1;
	st.local.u32 [large+16], %r2;
	@%p1 bra END;
	st.local.u32 [small+4], %r2;
	st.local.u32 [large+8], %r2;
	st.local.u32 [large+16], %r1;
END:
	ld.local.u32 %r3, [small+4];
	ld.local.u32 %r4, [large+8];
	and.b32 %r5, %r1, 1;
	mul.wide.u32 %rd2, %r5, 4;
	mov.u64 %rd3, large;
	add.s64 %rd4, %rd3, %rd2;
	ld.local.u32 %r6, [%rd4+16];
	add.s32 %r3, %r3, %r4;
	add.s32 %r3, %r3, %r6;
	st.global.u32 [%rd1], %r3;
	ret;
}
END
} >memory.ptx
promote=ConvertMemoryToRegisterOrUniform
size=ConvertMemoryToRegIndexedSizeLimit whole=ConvertMemoryToRegWhole weight=MovWeightForConvertMemToReg
lines memory.ptx $promote local.u32 :3 $size=32:3 $size=31:6 $size=8:6 $size=7:9 $size=0:9
lines memory.ptx $promote local.u32 $weight=0:3 $weight=100:6 $whole=0:3 $whole=1:3 \
    $whole=0~$weight=100:3 $whole=0.33~$weight=100:3 $whole=0.34~$weight=100:6 $whole=1~$weight=100:6
lines memory.ptx GeneralOptimizeMid local.u32 GeneralOptimizeEnable=1:3 GeneralOptimizeEnable=0:9
lines memory.ptx '' local.u32 :3 'GeneralOptimizeEnable=0~NvOptRecipes=off~DisablePhases=49+50+64:9' "DisablePhases=$promote+49+50+64:9"

# Four uses of a copy, two of them in other blocks.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	mov.b32 %r2, %r1;
	add.u32 %r3, %r2, 1;
	add.u32 %r4, %r2, 2;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra END;
	add.u32 %r3, %r2, %r3;
END:
	add.u32 %r4, %r2, %r4;
	st.global.v2.u32 [%rd1], {%r3, %r4};
	ret;
}
END
} >copies.ptx
all=CopyPropBudget global=CopyPropGlobalBudget
lines copies.ptx OriCopyProp 'add.*%r2,' :0 $all=0:4 $all=1:3 $all=3:1 $all=4:0 $all=5:0 $global=0:2 $global=1:1 $global=2:0 \
    $all=3~$global=1:1 $all=1~$global=1:3 $global=0~CopyPropForceGlobal:0 $global=0~CopyPropForceGlobal=0:2

# The second result of a comparison as a guard.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	setp.eq.u32 %p1|%p2, %r1, 0;
	@%p2 st.global.u32 [%rd1], 1;
	ret;
}
END
} >pair.ptx
lines pair.ptx 23,65,73 '@!%p' :1 LateCopyPropComplPred=0:0 LateCopyPropComplPred=1:1

# Two loads of stored values; after forwarding the stores are dead.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.local .align 8 .b8 x[8];
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	st.local.u32 [x], %r1;
	st.local.u32 [x+4], %r1;
	ld.local.u32 %r2, [x];
	ld.local.u32 %r3, [x+4];
	st.global.v2.u32 [%rd1], {%r2, %r3};
	ret;
}
END
} >forward.ptx
budget=StoreForwardingBudget
lines forward.ptx 23,167,73 local.u32 :0 $budget=0:4 $budget=1:3 $budget=2:2 $budget=3:1 $budget=4:0

# Four instructions to fold.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	mul.lo.s32 %r2, %r1, 8;
	mul.lo.s32 %r3, %r1, 16;
	div.u32 %r4, %r1, 4;
	div.rn.f32 %r5, %r1, 0f40000000;
	st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
	ret;
}
END
} >fold.ptx
lines fold.ptx OriFold 'mul.lo\|div' :0 FoldBudget=0:4 FoldBudget=1:3 FoldBudget=3:1 FoldBudget=4:0 FoldRulesOff=mul-power:2 \
    'FoldRulesOff=mul-*,div-power:3' 'FoldRulesOff=*:4' FoldRulesOff=add-zero+DIV-POWER:1 FoldRulesOff=div-reciprocal:1 \
    limit-fold-fp:1 limit-fold-fp=0:0
run "--debug-counter" 0 --named-phases=OriFold --debug-counter fold:2 fold.ptx -o lines.ptx
is "$(grep -c 'mul.lo\|div' lines.ptx)" 2
run "--debug-counter and a later --knob" 0 --named-phases=OriFold --debug-counter fold:2 --knob FoldBudget=3 fold.ptx -o lines.ptx
is "$(grep -c 'mul.lo\|div' lines.ptx)" 1
counters=$(sed -n 's/^KNOB(.*"\([A-Za-z0-9]*\)Budget", *BDGT,.*/\1/p' "$root/knobs/knobs.def" | paste -s -d' ' -)
for bad in fold fold: :3 fold:x nothing:1 FoldBudget:1; do
    run "--debug-counter $bad" 2 --debug-counter $bad fold.ptx
    is "$(cat err)" "oriopt: --debug-counter: '$bad' is not NAME:N, with a number of changes and one of $counters"
done
name="list of counters"
for counter in Opt MergeEquivalentConditionalFlow CopyProp Fold; do says err " $counter"; done
{
    echo "$head"
    for f in one two three called; do printf '.func %s()\n{\n\tret;\n}\n' $f; done
    echo '.visible .entry k() { call called; ret; }'
} >functions.ptx
# kept FUNCTIONS ARGS...: checks the names of the functions in the output.
kept() {
    functions=$1
    shift
    run "$*" 0 "$@" functions.ptx
    is "$(sed -n 's/^.*\.func \([a-z]*\).*/\1/p' out | paste -s -d' ' -)" "$functions"
}
kept ''
kept 'one two' --keep one,two
kept 'one two' --keep 't?o' --keep=one -j4 --piece=1
silent err
kept 'two three' --knob KeepSymbols=one --keep 't*' --reproducer r.ptx
cp out direct
run "--keep, again" 0 --run-reproducer r.ptx --emit=ptx -o again
same direct again
kept 'one' --keep 't*' --knob KeepSymbols=one
kept 'one two three called' --keep '*' --disable-phases=OriInline
run "--keep without calls" 0 --keep one one.ptx -o /dev/null
silent err
run "--keep without OriDeadFunctions" 0 --keep one --named-phases=OriInline,NOP functions.ptx -o /dev/null
run "--keep without phases over the module" 0 --keep one --named-phases=NOP functions.ptx -o /dev/null
says err "warning: --keep:1:1: knob KeepSymbols was set, but nothing that ran reads it"
run "--keep with a line end" 2 --keep "one
" functions.ptx
says err "--keep:1:13: error: this quote is not closed"

# Variables and functions that only the module names.
{
    echo "$head"
    for v in one two three; do echo ".visible .global .u32 $v;"; done
    printf '.visible .func outer()\n{\n\tret;\n}\n'
    echo '.visible .entry k() { ret; }'
} >visible.ptx
printf '# names\n  one\t# the first\r\n\nt?o\nouter' >names
# internal SYMBOLS ARGS...: checks the names of variables and functions in the output.
internal() {
    symbols=$1
    shift
    run "$*" 0 "$@" visible.ptx
    is "$(sed -n 's/^\.visible \.\(global.* \|func \)\([a-z]*\).*/\2/p' out | paste -s -d' ' -)" "$symbols"
}
internal 'one two three outer'
internal 'one three outer' --internalize two
internal 'three' --internalize names
cp out direct
internal 'three' --internalize ./names -j4 --piece=1
internal '' --internalize 't*,o*'
internal 'outer' --internalize 't*' --internalize=one
internal 'one outer' --internalize '*' --keep 'o*'
internal 'one two three outer' --internalize '*' --named-phases=NOP
says err 'warning: --internalize:1:1: knob Internalize was set, but nothing that ran reads it'
run "--internalize of a file, to repeat" 0 --internalize names --reproducer r.ptx visible.ptx
mv names moved
run "--internalize of a file, again" 0 --run-reproducer r.ptx -o again
same direct again
run "--internalize of no file" 5 --internalize ./names visible.ptx
is "$(cat err)" "oriopt: error: --internalize: cannot read './names': No such file or directory"
run "--internalize and counters" 0 --internalize '*' --stats=all visible.ptx
says err 'module: calls inlined 0, calls devirtualized 0, functions removed 1, variables removed 3'
run "no rule" 2 --knob FoldRulesOff=mul-power,mul-pwer fold.ptx
says err "'mul-pwer' is not a folding rule; did you mean mul-power,"

# Two networks of logic instructions.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	xor.b32 %r5, %r1, %r2;
	xor.b32 %r5, %r5, %r3;
	xor.b32 %r6, %r2, %r3;
	xor.b32 %r6, %r6, %r4;
	st.global.v2.u32 [%rd1], {%r5, %r6};
	ret;
}
END
} >lop3.ptx
budget=FormLop3Budget
lines lop3.ptx 23,168,73 xor :0 $budget=0:4 $budget=1:2 $budget=2:0

# Three copies of results.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	add.u32 %r2, %r1, 1;
	mov.b32 %r3, %r2;
	mov.b32 %r4, %r3;
	add.u32 %r5, %r1, 2;
	mov.b32 %r6, %r5;
	st.global.v2.u32 [%rd1], {%r4, %r6};
	ret;
}
END
} >results.ptx
budget=BackCopyPropBudget
lines results.ptx AdvancedPhaseBackPropVReg mov.b32 :0 $budget=0:3 $budget=1:2 $budget=2:1 $budget=3:0 "WHEN=FN=other;$budget=0:0"

# Two chains with a sum in common with another sum, and two products of sums, for OriReassociateAndCommon.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<20>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	add.s32 %r5, %r1, %r2;
	add.s32 %r6, %r1, %r3;
	add.s32 %r6, %r6, %r2;
	add.s32 %r7, %r1, %r4;
	add.s32 %r7, %r7, %r2;
	mul.lo.s32 %r10, %r1, %r4;
	add.s32 %r11, %r1, 1;
	mul.lo.s32 %r11, %r11, %r4;
	add.s32 %r12, %r1, 2;
	mul.lo.s32 %r12, %r12, %r4;
	st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r10};
	st.global.v2.u32 [%rd1+16], {%r11, %r12};
	ret;
}
END
} >chains.ptx
chains=ReassociateCSEBudget products=DistributeAndReassociateMulBudget
lines chains.ptx 23,50,73 '\(add\|mul\)[.]' :6 $chains=0:8 $chains=1:7 $chains=2:6 $products=0:8 $products=1:7 $products=2:6 \
    ReassociateCSESkip=1:7 ReassociateCSESkip=2:8 ReassociateCSESkip=3:9 ReassociateCSESkip=4:10 AllowReassociateCSE=0:10 \
    AllowReassociateCSE=1:6
# Three equal products, of which one is in a dominated block, and two equal loads.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<9>;
	.reg .pred %p1;
	ld.param.u64 %rd1, [p];
	ld.global.u64 %rd2, [%rd1];
	mul.hi.u64 %rd3, %rd2, %rd2;
	mul.hi.u64 %rd4, %rd2, %rd2;
	ld.global.u64 %rd5, [%rd1];
	st.global.v2.u64 [%rd1+16], {%rd3, %rd4};
	setp.eq.s64 %p1, %rd5, 0;
	@%p1 bra END;
	mul.hi.u64 %rd6, %rd2, %rd2;
	st.global.u64 [%rd1+32], %rd6;
END:
	ret;
}
END
} >redundant.ptx
modes=EnableGvnCseMode
lines redundant.ptx 23,GvnCse,73 'mul.hi.u64' :1 EnableGvnCse=0:3 EnableGvnCse=1:1 $modes=0:3 $modes=1:2 $modes=2:1 $modes=6:1 \
    $modes=7:3 GvnCseBudget=0:3 GvnCseBudget=1:2 GvnCseBudget=9:1 EnableGvnCsePerInstr=mul.hi:3 EnableGvnCsePerInstr=ld+add:1 \
    'EnableGvnCsePerInstr="ld, mul.hi":3' EnableGvnCsePerInstr=mul:1 "WHEN=FN=other;EnableGvnCse=0:1"
lines redundant.ptx 23,GvnCse,73 'ld.global' :1 $modes=2:2 $modes=3:1 EnableGvnCsePerInstr=ld:2 EnableGvnCsePerInstr=mul.hi:1
# On sm_80, a knob installs the phase.
for setting in '' EnableGvnCse=0 EnableGvnCse=1 $modes=0 $modes=2; do
    left=3
    case $setting in *=[12]) left=1 ;; esac
    run "GvnCse on sm_80 with ${setting:-no setting}" 0 -arch sm_80 ${setting:+--knob "$setting"} --named-phases=23,49,73 \
        redundant.ptx -o lines.ptx
    is "$(grep -c mul.hi.u64 lines.ptx)" $left
done
# Two sums at a distance of 5, between them a chain that contains the first one.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<20>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	add.s32 %r5, %r2, %r3;
	not.b32 %r6, %r1;
	not.b32 %r7, %r2;
	not.b32 %r8, %r3;
	add.s32 %r9, %r1, %r2;
	add.s32 %r9, %r9, %r3;
	st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};
	st.global.u32 [%rd1+16], %r9;
	ret;
}
END
} >window.ptx
for row in sm_70:1:3 sm_70:64:2 sm_80:1:2 sm_80:64:2 sm_90:1:3 sm_90:64:2; do
    window=${row#*:}
    run "a window of ${window%:*} on ${row%%:*}" 0 -arch "${row%%:*}" --named-phases=23,50,73 \
        --knob "ReassociateCSEWindow=${window%:*}" window.ptx -o lines.ptx
    is "$(grep -c 'add[.]' lines.ptx)" "${window#*:}"
done

# Three equal sums, two products of a sum, and a copy, for LateOriCommoning.
{
    echo "$head"
    cat <<'END'
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<20>;
	ld.param.u64 %rd1, [p];
	ld.global.v2.u32 {%r1, %r2}, [%rd1];
	add.s32 %r3, %r1, %r2;
	add.s32 %r4, %r2, %r1;
	add.s32 %r5, %r1, %r2;
	mul.lo.s32 %r6, %r3, 3;
	mul.lo.s32 %r7, %r4, 3;
	mov.b32 %r8, %r6;
	st.global.v4.u32 [%rd1], {%r4, %r5, %r7, %r8};
	ret;
}
END
} >late.ptx
late=23,LateOriCommoning,73
lines late.ptx $late '\(add\|mul\)[.]' :2 EnableLateCommoning=0:5 EnableLateCommoning=1:2 'EnableLateCommoning=0~ForceLateCommoning:2' \
    GeneralOptimizeEnable=0:5 'GeneralOptimizeEnable=0~ForceLateCommoning:2' LateCommoningPerInstr=add:5 LateCommoningPerInstr=mul.lo:3 \
    LateCommoningPerInstr=mul.lo+add:5 LateCommoningBits=2:5 LateCommoningBits=8:5 LateCommoningBits=5:2 \
    'LateCommoningBits=2~ForceLateCommoning:5' LateCommoningBudget=0:5 LateCommoningBudget=1:4 LateCommoningBudget=3:2 \
    "WHEN=FN=other;EnableLateCommoning=0:2"
lines late.ptx $late 'mov[.]b32' :0 DisableMoveCommoning:1
lines "$root/tests/ptxas/defects/lop3-is-zero.ptx" NOP setp.eq :0 PtxasWorkarounds=1:0 PtxasWorkarounds=0:2 \
    'WHEN=FN=k;PtxasWorkarounds=0:2' 'WHEN=FN=other;PtxasWorkarounds=0:0'

# -- Tables -------------------------------------------------------------------------------------------------------------

run "list of knobs" 0 --list-knobs
silent err
name="numbers of the original"
for row in NamedPhases:298 DisablePhases:185 OptBudget:499 DUMPIR:- NvOptRecipes:- WHEN:- \
    ConvertMemoryToRegIndexedSizeLimit:135 ConvertMemoryToRegWhole:136 MovWeightForConvertMemToReg:474 \
    DisableRedundantBarrierRemoval:231 MembarFlowControl:461 GeneralOptimizeEnable:487 \
    DisableConditionalFlowChains:91 DisableMergeEquivalentConditionalFlow:214 MergeEquivalentConditionalFlowBudget:464 \
    GeneralOptimizeEarlyBits:- GeneralOptimizeEarlyDone:- GeneralOptimizeTier:- \
    AllowReassociateCSE:31 ReassociateCSEBudget:- ReassociateCSEWindow:- ReassociateCSESkip:- \
    ReassociateLargeImmInUIADD64:- DistributeAndReassociateMulBudget:- GeneralOptimizeLateNoInsert:605 GeneralOptimizeLateBits:- \
    CopyPropBudget:- CopyPropGlobalBudget:- CopyPropForceGlobal:- CopyPropAddr:- CopyPropConstantBank:- CopyPropUseReachingDefs:- \
    CopyPropPreAllocReg:- CopyPropNoWriteNonRR:- CopyPropNonRegMultiDef:- CopyPropNoMmaCb:- LateCopyPropComplPred:- StoreForwardingBudget:- FoldBudget:- FoldRulesOff:- limit-fold-fp:- FormLop3Budget:- PtxasWorkarounds:- PhiInputLimit:- BackCopyPropBudget:808 \
    EnableGvnCse:- EnableGvnCseMode:402 EnableGvnCsePerInstr:257 DisableGvnEbbPrePass:210 GvnCseBudget:- \
    EnableLateCommoning:843 LateCommoningPerInstr:844 LateCommoningBits:- ForceLateCommoning:- DisableMoveCommoning:- LateCommoningBudget:-; do
    is "$(awk -v want="${row%:*}" '$2 == want { print $1 }' out)" "${row#*:}"
done
name="list of knobs and knobs.def"
sed -n 's/^KNOB([A-Z0-9_]*, *\(-*[0-9]*\), *"\([A-Za-z0-9-]*\)", *\([A-Z_]*\), .*/\1 \2 \3/p' "$root/knobs/knobs.def" | sed 's/^-1 /- /' >rows
grep -v '^        ' out | awk '{ print $1, $2, $3 }' >listed
same rows listed
name="list of knobs fits 100 columns, with all texts"
is "$(awk 'length > 100' out)" ""
is "$(grep -cE '^(  -|[ 0-9]{2}[0-9])  [A-Za-z0-9-]+ +[A-Z]+ ' out)" "$(grep -c . rows)"
sed -n 's/^KNOB(.*, "\([^"]*\)")$/\1/p' "$root/knobs/knobs.def" >texts
awk '/^        / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
    text != "" { print text; text = "" }
    END { print text }' out >listed
same texts listed
name="readers of knobs are rows of phases.def, or no phases"
sed -n 's/^PHASE([0-9]*, *"\([^"]*\)".*/\1/p' "$root/phases/phases.def" >phases
sed -n 's/^KNOB(.*, *"\([^"]*\)", "[^"]*")$/\1/p' "$root/knobs/knobs.def" >readers
is "$(grep -c . readers)" "$(grep -c . rows)"
is "$(grep -vxF -f phases readers | grep -vxE 'the [a-z]+( of PTX)?' | sed 's/^phases //; t; s/^/no row: /' |
    tr ',' '\n' | awk -v n="$(grep -c . phases)" '!($1 ~ /^[0-9]+$/ && $1 < n)')" ""
run "names of knobs" 0 --list-knobs=names
cut -d ' ' -f 2 rows >texts
same texts out
name="knobs.def has a number once"
is "$(grep -v '^-' rows | cut -d' ' -f1 | sort | uniq -d)" ""
run "list of knobs as JSON" 0 --list-knobs=json
if have python3; then
    python3 -c '
import json
t = json.load(open("out"))
assert t["schema"] == 1 and set(t) == {"schema", "knobs"}
for k in t["knobs"]:
    assert set(k) == {"index", "name", "type", "default", "range", "phase", "help"}, k
    print("-" if k["index"] is None else k["index"], k["name"], k["type"])
' >listed 2>json.err
    same rows listed
else
    skip "no python3 to read JSON"
fi
run "list of knobs as XML" 2 --list-knobs=xml
run "--print-knobs as JSON" 2 --print-knobs=json

# -- Effects ------------------------------------------------------------------------------------------------------------

# Each knob has a test of its effect: a row of `lines` above, a row here, or a golden file that fails without the
# directive that sets the knob.

# shows SETTING ARGS...: checks that the setting changes what oriopt writes.
shows() {
    setting=$1
    shift
    run "effect of $setting" 0 "$@"
    cat out err >without
    run "effect of $setting" 0 --knob "$setting" "$@"
    cat out err >with
    differ without with
    cmp -s without with || echo "$setting" >>shown
}
shows NamedPhases=NOP two.ptx
shows DisablePhases=0..164 two.ptx
shows DUMPIR=12 two.ptx
shows OptBudget=0 fold.ptx
shows $whole=0 --knob $weight=100 --named-phases=$promote memory.ptx
shows NvOptRecipes=off --print-pipeline
shows 'WHEN=FN=k;NamedPhases=NOP' two.ptx
grep -rnE '^(; |// )?set knob [A-Za-z]' "$root/tests/golden/phases" >directives
while IFS=: read -r file at directive; do
    setting=${directive#*set knob }
    sed "${at}d" "$file" >"copy.${file##*.}"
    "$ORICHECK" "copy.${file##*.}" >/dev/null 2>&1 || echo "$setting" >>shown
done <directives
name="every knob has a test of its effect"
sed 's/[=;].*//' shown | sort -u >effective
is "$(cut -d ' ' -f 2 rows | sort | comm -23 - effective | paste -s -d' ' -)" ""

# -- Printed settings ---------------------------------------------------------------------------------------------------

# values FILE: prints the settings of --print-knobs without their sources.
values() { sed 's/  *; .*//' "$1"; }
printf '[knobs]\n  optbudget = 0x10 ; why\nWHEN=FN=a*;DUMPIR="1;2";OptBudget=3\n[other]\nFoo=1\n[KNOBS]\nNamedPhases=" 1 + 2 "\n' >c.knobs
for row in '' 'OptBudget=3' 'DUMPIR="1 2"' 'WHEN=FN=k;OptBudget=1' 'WHEN=FN="a;b";WHEN=PH= 3 .. 9;DUMPIR=3;OptBudget=2~NvOptRecipes=off' \
    'WHEN=FH=0x10..;DisablePhases=3' 'DUMPIR=1
DUMPIR=2~WHEN=FN=*;DUMPIR=9
WHEN=FN=*;DUMPIR=9'; do
    with "$row" "--print-knobs of $row" 0 --print-knobs --knobs-file c.knobs --knob 'WHEN=FN=z;NvOptRecipes=off'
    silent err
    values out >first
    cp out again.knobs
    run "--print-knobs of $row, read back" 0 --print-knobs --knobs-file again.knobs
    values out >second
    same first second
    cp out again.knobs
    cp out third
    run "--print-knobs of $row, read back twice" 0 --print-knobs --knobs-file again.knobs
    same out third
done
with 'DUMPIR=3' "origins" 0 --print-knobs --knobs-file c.knobs --knob ' OptBudget=2'
says out "OptBudget=2                              ; --knob:1:2"
says out "DUMPIR=3                                 ; ORI_KNOBS:1:1"
says out 'NamedPhases=" 1 + 2 "                    ; c.knobs:7:1'
says out ";NvOptRecipes=on                         ; default"
says out ";DisablePhases                           ; unset"
says out 'WHEN=FN=a*;DUMPIR="1;2";OptBudget=3      ; c.knobs:3:12'

# -- Messages -----------------------------------------------------------------------------------------------------------

# Errors of settings are reported with file, line, column, the line and a caret, for every source:
# error COLUMN SETTING MESSAGE
caret() { printf "%$(($2 - 1))s^\n" '' | sed "s/^/$1/"; }
# Compares messages with only the first suggestion: the others depend on all names.
same_message() {
    sed 's/\(; did you mean [^,?]*\).*/\1?/' err >first.err
    same first.err want.err
}
error() {
    col=$1 text=$2 message=$3
    printf '%s\n%s\n%s\n' "WHERE:$col: error: $message" "$text" "$(caret '' "$col")" >message
    sed '1s/^WHERE/--knob:1/' message >want.err
    run "error of --knob $text" 2 --knob "$text" one.ptx -o left.ptx
    same_message
    silent out
    absent left.ptx
    sed '1s/^WHERE/ORI_KNOBS:1/' message >want.err
    with "$text" "error of the environment: $text" 2 one.ptx -o left.ptx
    same_message
    absent left.ptx
    printf '; a comment\n[knobs]\nOptBudget=3\n%s' "$text" >bad.knobs
    sed '1s/^WHERE/bad.knobs:4/' message >want.err
    run "error of a file: $text" 2 --knobs-file bad.knobs one.ptx -o left.ptx
    same_message
    absent left.ptx
    case $text in *\"*) return ;; esac
    {
        echo "$head"
        kernel k "	.pragma \"knob $text\";
"
    } >bad.ptx
    printf '%s\n\t.pragma "knob %s";\n%s\n' "bad.ptx:6:$((col + 15)): error: $message" "$text" "$(caret "$tab" $((col + 14)))" >want.err
    run "error of a pragma: $text" 1 bad.ptx -o left.ptx
    same_message
    absent left.ptx
    {
        echo "$head"
        echo ".pragma \"knob $text\";"
        kernel k
        kernel other
    } >bad.ptx
    printf '%s\n.pragma "knob %s";\n%s\n' "bad.ptx:4:$((col + 14)): error: $message" "$text" "$(caret '' $((col + 14)))" >want.err
    run "error of a module's pragma: $text" 1 bad.ptx -o left.ptx
    same_message
    printf 'target sm_90 ptx 8.0 address 64\nkernel @k() form multi {\nb0:\n  pragma "knob %s"\n  ret\n}\n' "$text" >bad.ori
    printf '%s\n  pragma "knob %s"\n%s\n' "bad.ori:4:$((col + 15)): error: $message" "$text" "$(caret '' $((col + 15)))" >want.err
    run "error of a pragma in Ori text: $text" 1 bad.ori -o left.ori
    same_message
}
count='a count such as 12 or 0x1f'
semicolon="';' separates settings only after WHEN; elsewhere use a newline or '~'"
condition='expected FN=glob, FH=hash or PH=phase'
# Errors in names.
error 1 'OptBudgt=1' "unknown knob 'OptBudgt'; did you mean OptBudget?"
error 1 'namedphase=1' "unknown knob 'namedphase'; did you mean NamedPhases?"
error 14 'OptBudget=1 ~Foo' "unknown knob 'Foo'; did you mean WHEN?"
error 11 'WHEN=FN=k;Dump=1' "unknown knob 'Dump'; did you mean DUMPIR?"
error 1 '=3' "expected the name of a knob"
error 1 '3=3' "there is no knob with the number 3; --list-knobs shows them"
error 2 ' "OptBudget"=3' "expected the name of a knob"
error 13 'OptBudget=3~[knobs]' "expected the name of a knob"
# Errors in the syntax of settings.
error 11 'OptBudget 3' "expected '=' or the end of the setting after OptBudget"
error 12 'OptBudget=3;DUMPIR=1' "$semicolon"
error 24 'OptBudget=3 ~OptBudget=;' "$semicolon"
# Errors in values.
error 1 'OptBudget' "OptBudget has no value; expected $count"
error 11 'OptBudget=' "OptBudget has no value; expected $count"
error 11 'OptBudget=many' "OptBudget: bad number 'many'; expected $count"
error 13 'OptBudget= 1x' "OptBudget: bad number '1x'; expected $count"
error 13 'OptBudget=1 2' "OptBudget: bad number '1 2'; expected $count"
error 11 'OptBudget=089' "OptBudget: bad number '089'; expected $count"
error 11 'OptBudget=1.5' "OptBudget: bad number '1.5'; expected $count"
error 11 'OptBudget="3"' "OptBudget: bad number '\"3\"'; expected $count"
error 11 'OptBudget=-1' "OptBudget: -1 is out of range 0.."
error 11 'OptBudget=9223372036854775808' "OptBudget: 9223372036854775808 does not fit 64 bits"
error 1 'DUMPIR' 'DUMPIR has no value; expected a text ("" for an empty one)'
error 8 'DUMPIR=' 'DUMPIR has no value; expected a text ("" for an empty one)'
error 8 'DUMPIR="12' "this quote is not closed"
error 13 'DUMPIR="12" 3' "unexpected text after the closing quote"
error 12 'DUMPIR="12";OptBudget=3' "$semicolon"
# Errors in lists of phases.
rows=$(grep -c '^PHASE(' "$root/phases/phases.def")
no_such="there is no phase $rows; the last is $((rows - 1))"
for knob in NamedPhases DisablePhases; do
    n=$((${#knob} + 2))
    error $n "$knob=12+Gvn" "$knob: unknown phase 'Gvn'; did you mean GvnCse?"
    error $n "$knob=$rows" "$knob: $no_such"
    error $((n + 10)) "WHEN=FN=x;$knob=GvnCse@50" "$knob: 'GvnCse' is not at slot 50 but at 49"
    error $n "$knob=\"12..9\"" "$knob: the range '12..9' is reversed: the lower phase comes first"
    error $n "$knob=GvnCse:3" "$knob: 'GvnCse:3': a phase takes no parameter"
    error $n "$knob=NOP@" "$knob: 'NOP@': expected a phase number after '@'"
done
error 8 'DUMPIR=CalcRegisterMap' \
    "DUMPIR: 'CalcRegisterMap' is at two slots: write CalcRegisterMap@124 or CalcRegisterMap@149"
error 22 'EnableGvnCsePerInstr=add+mull' "unknown instruction 'mull'; did you mean mul?"
error 22 'EnableGvnCsePerInstr=Add' "unknown instruction 'Add'; did you mean add?"
error 14 'NvOptRecipes=GvnCse' \
    "NvOptRecipes: 'GvnCse' is not a recipe; expected on, all, off, or recipes such as ConvertMemoryToRegisterOrUniform@3"
error 14 'NvOptRecipes=OriRemoveRedundantMov@10' \
    "NvOptRecipes: 'OriRemoveRedundantMov@10' is not a recipe; expected on, all, off, or recipes such as ConvertMemoryToRegisterOrUniform@3"
error 15 'NvOptRecipes= 0ff' "NvOptRecipes: unknown phase '0ff'; did you mean NOP?"
# Errors in conditions.
error 1 'WHEN' "WHEN has no condition; $condition"
error 1 'WHEN;OptBudget=1' "WHEN has no condition; $condition"
error 6 'WHEN=' "WHEN has no condition; $condition"
error 6 'WHEN=;OptBudget=1' "WHEN has no condition; $condition"
error 6 'WHEN=FM=k;OptBudget=1' "unknown condition 'FM'; did you mean FN?"
error 8 'WHEN=FN;OptBudget=1' "expected '=' after FN"
error 9 'WHEN=PH 12;OptBudget=1' "expected '=' after PH"
error 9 'WHEN=FN=;OptBudget=1' "FN has an empty pattern; * is every function"
error 9 'WHEN=FN="";OptBudget=1' "FN has an empty pattern; * is every function"
hash='expected a number such as 0x1f, or a range such as 0x10..0x20'
error 9 'WHEN=FH=;OptBudget=1' "bad hash ''; $hash"
error 9 'WHEN=FH=x;OptBudget=1' "bad hash 'x'; $hash"
error 9 'WHEN=FH=5..3;OptBudget=1' "bad hash '5..3'; $hash"
error 9 'WHEN=FH=-1;OptBudget=1' "bad hash '-1'; $hash"
error 9 'WHEN=FH=0x10000000000000000;OptBudget=1' "bad hash '0x10000000000000000'; $hash"
phase='expected a phase, or a range such as 13..29'
error 9 'WHEN=PH=;OptBudget=1' "bad phase ''; $phase"
error 9 'WHEN=PH=12..;OptBudget=1' "bad phase '12..'; $phase"
error 9 'WHEN=PH=..12;OptBudget=1' "bad phase '..12'; $phase"
error 9 'WHEN=PH=12..9;OptBudget=1' "the range 12..9 is reversed: the lower phase comes first"
error 9 'WHEN=PH=OriCopyPro;OptBudget=1' \
    "unknown phase 'OriCopyPro'; did you mean OriCopyProp?"
error 12 "WHEN=PH=1..$rows;OptBudget=1" "$no_such"
error 9 'WHEN=PH=CalcRegisterMap;OptBudget=1' \
    "'CalcRegisterMap' is at two slots: write CalcRegisterMap@124 or CalcRegisterMap@149"
error 1 'WHEN=FN=k' "WHEN without settings: write them after a ';' with no blank before it"
error 1 'WHEN=FN=k;;' "WHEN without settings: write them after a ';' with no blank before it"
error 2 ' WHEN=FN=k ;OptBudget=1' "WHEN without settings: write them after a ';' with no blank before it"
error 23 'WHEN=FN=k;OptBudget=1;WHEN=FN=j;OptBudget=2' \
    "WHEN follows a setting; conditions must come first in a record"

# Bytes that pragmas cannot contain, and errors of files.
printf 'DUMPIR=1\0012' >bytes
with "$(cat bytes)" "control character" 2 one.ptx
says err "ORI_KNOBS:1:9: error: control character 0x01"
says err "DUMPIR=1?2"
printf '[knobs]\nDUMPIR=1\000IR=3\n' >bytes
run "NUL byte" 2 --knobs-file bytes one.ptx
says err "bytes:2:9: error: a NUL byte"
printf 'OptBudget=3\n' >bytes
run "no section" 2 --knobs-file bytes one.ptx
printf "bytes:1:1: error: there is no line '[knobs]'; only lines after it are read\nOptBudget=3\n^\n" >want.err
same err want.err
printf '[other]\nOptBudget=x\n[knobs] OptBudget=3\n' >bytes
run "something after the section" 2 --knobs-file bytes one.ptx
printf "bytes:3:9: error: unexpected text after the section's name\n[knobs] OptBudget=3\n        ^\n" >want.err
same err want.err
printf '\357\273\277[KNOBS]\r\nDUMPIR=12 ; here\r\n\r\n;DUMPIR=3\r\n[x]\r\nFoo\r\n' >bytes
run "a file with what editors leave in it" 0 --knobs-file bytes one.ptx -o /dev/null
dumped "012 k"
: >bytes
run "an empty file" 2 --knobs-file bytes one.ptx
says err "bytes:1:1: error: there is no line '[knobs]'"
run "no file" 5 --knobs-file no.knobs one.ptx
says err "oriopt: error: cannot read 'no.knobs': No such file or directory"
run "a folder" 5 --knobs-file . one.ptx
run "an error and no file" 5 --knob Foo=1 --knobs-file no.knobs one.ptx
with '' "nothing in the environment" 0 one.ptx -o /dev/null
silent err

# All errors of all sources are reported; nothing runs.
printf '[knobs]\nFoo=1\nDUMPIR=12\nOptBudget=x\n' >bad.knobs
with 'Bar=1' "many errors" 2 --knobs-file bad.knobs --knob Baz --knob OptBudget=3 one.ptx -o left.ptx
sed -n 's/^\(.*\): error: .*/\1/p' err | paste -s -d' ' - >where
is "$(cat where)" "ORI_KNOBS:1:1 bad.knobs:2:1 bad.knobs:4:11 --knob:1:1"
absent left.ptx
run "no more errors than wanted" 2 --max-errors=1 --knobs-file bad.knobs one.ptx
is "$(grep -c error: err)" 1
run "errors as JSON" 2 --diagnostics=json --knob 'DUMPIR="' one.ptx
is "$(cat err)" '{"schema":1,"severity":"error","file":"--knob","line":1,"column":8,"message":"this quote is not closed"}'
{
    echo "$head"
    kernel k '	.pragma "knob Foo=1", "knob OptBudget=x";
'
    kernel other '	.pragma "knob DUMPIR=x";
'
} >bad.ptx
run "errors of all functions" 1 bad.ptx -o left.ptx
is "$(sed -n 's/^\(.*\): error: .*/\1/p' err | paste -s -d' ' -)" "bad.ptx:6:16 bad.ptx:6:40 bad.ptx:24:23"
absent left.ptx
run "errors of pragmas with -j" 1 -j4 bad.ptx -o left.ptx
run "errors of pragmas in pieces" 1 --piece=1 bad.ptx -o left.ptx
is "$(sed -n 's/^\(.*\): error: .*/\1/p' err | paste -s -d' ' -)" "bad.ptx:6:16 bad.ptx:6:40"
absent left.ptx
run "errors of pragmas and --print-pipeline" 1 --print-pipeline bad.ptx
run "errors of --knob come first" 2 --knob Foo bad.ptx

# -- Premises ----------------------------------------------------------------------------------------------------------

# A kernel that reads a generic address, its parameter.
{
    echo "$head"
    cat <<'END'
.const .align 4 .b8 fixed[8] = {7, 0, 0, 0, 8};
.visible .entry k(.param .u64 out, .param .u64 p)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	.local .align 8 .b8 own[16];
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [p];
	ld.u32 %r1, [%rd2+4];
	ld.local.u32 %r1, [own];
	ld.u32 %r1, [%rd2];
	st.global.u32 [%rd1], %r1;
	ret;
}
END
} >premise.ptx
lines premise.ptx OriInferAddressSpaces ld.global :0 KernelParamsGlobal:2 KernelParamsGlobal=0:0 KernelParamsGlobal=1:2
run "--assume=cuda" 0 --named-phases=OriInferAddressSpaces --assume=cuda premise.ptx -o assumed.ptx
is "$(grep -c ld.global assumed.ptx)" 2
silent err
run "--assume=cuda and a later --knob" 0 --assume cuda --knob KernelParamsGlobal=0 premise.ptx -o lines.ptx
is "$(grep -c ld.global lines.ptx)" 0
run "--knob and a later --assume=cuda" 0 --knob KernelParamsGlobal=0 --assume cuda premise.ptx -o lines.ptx
is "$(grep -c ld.global lines.ptx)" 1
with KernelParamsGlobal "the premise in the environment" 0 premise.ptx -o lines.ptx
is "$(grep -c ld.global lines.ptx)" 1
run "--assume=cuda without a use" 0 --assume=cuda one.ptx -o lines.ptx
silent err
run "settings of --assume" 0 --assume=cuda --print-knobs
says out "KernelParamsGlobal"
says out "--assume:1:1"
run "--assume=cuda in a reproducer" 0 --assume=cuda --reproducer r.ptx premise.ptx -o direct
run "--assume=cuda in a reproducer" 0 --run-reproducer r.ptx -o again
same direct again
run "another premise" 2 --assume=opencl premise.ptx
is "$(cat err)" "oriopt: --assume: 'opencl' is not cuda"
run "no premise" 2 --assume

# If the premise fails, the optimized kernel faults: at the address of a constant variable, of shared and of local
# memory. The original reads all of them.
premise() { # NAME ADDRESS MESSAGE
    exits "$1, original" 0 "$ORIRUN" --shared 16 --arg buf:4 --arg "u64:$2" premise.ptx
    exits "$1, with the premise" 1 "$ORIRUN" --shared 16 --arg buf:4 --arg "u64:$2" assumed.ptx
    says err "$3"
}
premise "a constant" 0x100000000000 "read of 4 bytes at 0x4 of 'fixed', which is in constant memory, not in .global"
premise "shared memory" 0x10000000000 "read of 4 bytes at address 0x10000000004, which is in shared memory, not in .global"
premise "local memory" 0x20000000000 "read of 4 bytes at address 0x20000000004, which is in local memory, not in .global"
for file in premise assumed; do
    exits "$file, global memory" 0 "$ORIRUN" --arg buf:4 --arg buf:2xu32:iota:5 --digest $file.ptx
    cp out $file.digest
done
same premise.digest assumed.digest

# -- Unused settings ---------------------------------------------------------------------------------------------------

run "NamedPhases and --named-phases" 0 --named-phases=12 --knob NamedPhases=3 one.ptx -o /dev/null
is "$(cat err)" "oriopt: warning: --knob:1:1: knob NamedPhases was set, but nothing that ran reads it"
with 'DUMPIR=158~  NvOptRecipes=off' "NvOptRecipes and --named-phases" 0 --named-phases=12 one.ptx -o warned.ptx
is "$(cat err)" "oriopt: warning: ORI_KNOBS:1:14: knob NvOptRecipes was set, but nothing that ran reads it"
run "the same output" 0 --named-phases=12 one.ptx -o plain.ptx
same plain.ptx warned.ptx
printf '[knobs]\n\nWHEN=FN=k;NamedPhases=3\n' >unread.knobs
run "unread in a record of a file" 0 --named-phases=12 --knobs-file unread.knobs one.ptx -o /dev/null
is "$(cat err)" "oriopt: warning: unread.knobs:3:11: knob NamedPhases was set, but nothing that ran reads it"
run "unread as JSON" 0 --diagnostics=json --named-phases=12 --knob NamedPhases=3 one.ptx -o /dev/null
says err '"severity":"warning"'
run "unread with -j" 0 -j4 --named-phases=12 --knob NamedPhases=3 two.ptx -o /dev/null
is "$(grep -c warning: err)" 1
run "read" 0 --knob 'NamedPhases=12~DisablePhases=3~OptBudget=0~NvOptRecipes=off~DUMPIR=3' one.ptx -o /dev/null
silent err

# -- Reproducers --------------------------------------------------------------------------------------------------------

printf '[knobs]\nWHEN=FN=k;DisablePhases="9 + 10"\nOptBudget=3\n' >r.knobs
set -- --knobs-file r.knobs --knob 'DisablePhases=84 ~ WHEN=FN=o*;NvOptRecipes=off' -O2
for kind in ptx ori; do
    input=two.ptx
    if [ $kind = ori ]; then
        input=two.ori
        run "two.ori" 0 -O0 two.ptx --emit=ori -o two.ori
    fi
    with 'WHEN=FN=k;OptBudget=1~NvOptRecipes=OriRemoveRedundantMov@73' "--reproducer of .$kind" 0 "$@" --reproducer r.$kind $input -o direct
    says err "oriopt: r.$kind repeats it: oriopt --run-reproducer r.$kind"
    is "$(grep -c 'option: --knob=' r.$kind)" 1
    lacks r.$kind knobs-file
    mv r.knobs r.knobs.gone
    with 'Foo=1' "--run-reproducer of .$kind" 0 --run-reproducer r.$kind -o again
    silent err
    same direct again
    with 'NvOptRecipes=off' "settings of a reproducer of .$kind" 0 --run-reproducer r.$kind --print-knobs
    values out >first
    mv r.knobs.gone r.knobs
    with 'WHEN=FN=k;OptBudget=1~NvOptRecipes=OriRemoveRedundantMov@73' "settings of the run" 0 "$@" --print-knobs
    values out >second
    same first second
    run "--knob after a reproducer of .$kind" 0 --run-reproducer r.$kind --knob DUMPIR=158
    dumped "158 k, 158 other"
done
{
    echo '[knobs]'
    awk 'BEGIN { for (k = 1; k <= 300; k++) printf "WHEN=FN=f%d;OptBudget=%d\n", k, k }'
} >many.knobs
run "many settings" 0 --knobs-file many.knobs -O1 --reproducer r.ptx one.ptx -o direct
run "many settings, again" 0 --run-reproducer r.ptx -o again
same direct again
set --
while [ $# -lt 128 ]; do set -- "$@" --knob=OptBudget=$#; done
run "many options" 0 "$@" -O0 --reproducer r.ptx one.ptx -o direct
run "many options, again" 0 --run-reproducer r.ptx -o again
same direct again
run "too many options" 2 "$@" --knob=OptBudget=1 one.ptx
says err "too many --knob options"
{
    echo "$head"
    kernel k '	.pragma "knob NamedPhases=12";
'
} >pragma.ptx
run "pragmas are part of the reproducer" 0 --reproducer r.ptx pragma.ptx -o direct
run "pragmas are part of the reproducer" 0 --run-reproducer r.ptx -o again
same direct again
run "pragmas are part of the reproducer" 0 one.ptx -o plain.ptx
grep -v pragma direct >bare
differ bare plain.ptx

# -- Threads ------------------------------------------------------------------------------------------------------------

{
    echo "$head"
    n=0
    for list in 9 10 9+10 23 73 84 107+112 164 0..164 12; do
        for knob in NamedPhases DisablePhases; do
            n=$((n + 1))
            kernel f$n "	.pragma \"knob $knob=$list\";
"
            kernel g$n
        done
        echo ".pragma \"knob NvOptRecipes=$([ $((n % 4)) = 0 ] && echo off || echo on)\";"
    done
} >threads.ptx
grep -v pragma threads.ptx >bare.ptx
printf '[knobs]\nWHEN=FN=f*;DisablePhases=9+10+84\nWHEN=FN=g?;NamedPhases="158"\nWHEN=FH=%s;DisablePhases=107\n' "$hash_k" >threads.knobs
for file in threads.ptx bare.ptx; do
    run "$file" 0 --knobs-file threads.knobs $file -o alone.ptx
    for options in "-j2" "-j4" "-j4 --piece=1" "-j1 --piece=1" "-j8 --piece=2000"; do
        # shellcheck disable=SC2086
        run "$file $options" 0 $options --knobs-file threads.knobs $file -o threads.out
        same alone.ptx threads.out
    done
    run "$file without settings" 0 $file -o without.ptx
    differ alone.ptx without.ptx
done

finish
