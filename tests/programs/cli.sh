#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cli.sh: tests the command line of oriopt: options, exit codes, messages, output files, limits, hostile input.
#
#   tests/programs/cli.sh
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIOPT, the program to test (default build/oriopt).

. "$(dirname "$0")/../lib.sh"
tests=$root/tests
[ $# -eq 0 ] || usage cli.sh
needs "$ORIOPT"
make_work
cd "$work" || exit 2


# run NAME EXIT ARGS...: runs oriopt.
run() {
    name=$1 want=$2
    shift 2
    exits "$name" "$want" "$ORIOPT" "$@"
}
lines() { if [ "$(wc -l <"$1")" -eq "$2" ]; then ok; else bad "$1 has $(wc -l <"$1") lines, expected $2"; fi; }
clean() { if [ -z "$(find . -name '*.tmp*')" ]; then ok; else bad "a temporary file was left: $(find . -name '*.tmp*')"; fi; }

# json FILE: checks that the file is one JSON value (or one per line with a second argument).
json() {
    if have python3; then
        if python3 -c '
import json, sys
text = open(sys.argv[1]).read()
for part in text.splitlines() if len(sys.argv) > 2 else [text]:
    value = json.loads(part)
    assert value["schema"] == 1
' "$@" 2>/dev/null; then ok; else bad "$1 is not JSON with schema 1"; fi
    elif awk '{ gsub(/\\./, ""); gsub(/"[^"]*"/, ""); n += gsub(/[{[]/, "") - gsub(/[]}]/, "") } END { exit n != 0 || NR == 0 }' "$1" &&
        grep -q '^{"schema":1,' "$1"; then ok; else bad "$1 does not look like JSON with schema 1"; fi
}

cat >good.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.loc 1 1 1
	ld.param.u64 %rd1, [p];
	mov.b64 %rd1, %rd1;
	st.global.u32 [%rd1], 1;
	ret;
}
.visible .entry other(.param .u64 p)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	mov.b64 %rd1, %rd1;
	st.global.u32 [%rd1], 2;
	ret;
}
.file 1 "a.cu"
END
cat >bad.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	mov.u32 %r1, 1;
	mov.u32 %r2, 1;
	mov.u32 %r3, 1;
	ret;
}
END

# -- Help, version, usage -----------------------------------------------------------------------------------------------

run help 0 --help
silent err
says out "usage: oriopt [options] FILE"
says out "exit status:"
cp out help
run "help with one dash" 0 -help
same out help
name="help has a text for every option"
count=$(sed -n 's/^OPTION([A-Z_]*, "\([^"]*\)".*/\1/p' "$root/tools/oriopt/oriopt.def" 2>/dev/null | wc -l)
if [ "$count" -gt 20 ]; then ok; else bad "tools/oriopt/oriopt.def has $count options"; fi
sed -n 's/^OPTION([A-Z_]*, "\([^"]*\)".*/\1/p' "$root/tools/oriopt/oriopt.def" >names
while read -r option; do
    if grep -Eq "^  --?$option(\\[?=[^ ]*| [A-Z]*|[0-9.]+)?( +[a-zA-Z.].*)?$" help; then ok; else bad "no line for $option"; fi
done <names
run version 0 --version
says out "oriopt "
run "no input" 2
says err "no input file"
silent out
run "two inputs" 2 good.ptx bad.ptx
says err "more than one input"
run "unknown option" 2 --frobnicate good.ptx
says err "unknown option '--frobnicate'"
run "value where none belongs" 2 --verify-each=yes good.ptx
says err "takes no value"
run "value missing" 2 good.ptx --named-phases
says err "requires a value"
run "output missing" 2 good.ptx -o
is "$(cat err)" "oriopt: option '-o' requires a value"
run "bad level" 2 -O5 good.ptx
is "$(cat err)" "oriopt: '-O5' is not a level from -O0 to -O4"
run "level without a number" 2 -O good.ptx
run "bad emit" 2 --emit=sass good.ptx
is "$(cat err)" "oriopt: --emit: 'sass' is not ptx, ori or none"
run "bad verify" 2 --verify=sometimes good.ptx
is "$(cat err)" "oriopt: --verify: 'sometimes' is not none, final or each"
run "bad kind of input" 2 -x c good.ptx
is "$(cat err)" "oriopt: -x: 'c' is not ptx or ori"
run "bad diagnostics" 2 --diagnostics=xml good.ptx
run "bad time mode" 2 --time-phases=xml good.ptx
is "$(cat err)" "oriopt: --time-phases: 'xml' is not json or json:FILE"
run "bad list mode" 2 --list-phases=xml
is "$(cat err)" "oriopt: --list-phases: 'xml' is not json or names"
for option in max-errors max-memory max-time max-insns; do
    run "bad number for $option" 2 --$option=many good.ptx
    run "negative number for $option" 2 --$option=-1 good.ptx
    run "rest after the number for $option" 2 --$option=1x good.ptx
done
run "usage errors leave no output" 2 --frobnicate -o u.ptx good.ptx
absent u.ptx

# -- Phases -------------------------------------------------------------------------------------------------------------

rows=$(grep -c '^PHASE(' "$root/phases/phases.def")
run "list of phases" 0 --list-phases
lines out "$rows"
silent err
name="backends that install a row"
for row in "49 GvnCse .* 60,70,90 number" "82 AdvancedPhaseBackPropVReg .* all backend" "8 OriCreateMacroInsts .* - fuse" "168 OriFormLop3 .* 50,60,70,80,89,90 map .* \[off: ptxas forms lop3"; do
    if tr -s ' ' <out | grep -q "^ *$row"; then ok; else bad "no row for $row"; fi
done
for status in implemented off hook machine graphics bookkeeping not-yet; do says out " $status "; done
name="list of phases has their knobs"
sed -n 's/^ *\([0-9]*\) .*\[knobs: \(.*\)\]$/\1 \2/p' out >listed
# From the reader of each knob: a name of a phase, or `phases N, N`.
{
    sed -n 's/^PHASE(\([0-9]*\), *"\([^"]*\)".*/row \1 \2/p' "$root/phases/phases.def"
    sed -n 's/^KNOB([^"]*"\([^"]*\)".*, *"\([^"]*\)", "[^"]*")$/\1 \2/p' "$root/knobs/knobs.def"
} | awk '
    $1 == "row" { row[$3] = $2; n = $2; next }
    { knob = $1; sub(/^[^ ]* /, ""); sub(/^phases /, "") || $0 = row[$0] }
    { m = split($0, rows, ", "); for (k = 1; k <= m; k++) knobs[rows[k]] = knobs[rows[k]] ", " knob }
    END { for (k = 0; k <= n; k++) if (knobs[k] != "") print k substr(knobs[k], 2) }' >want
same want listed
for line in "23 PhiInputLimit" "160 ConvertMemoryToRegIndexedSizeLimit, ConvertMemoryToRegWhole, MovWeightForConvertMemToReg, PhiInputLimit" \
    "167 StoreForwardingBudget"; do
    if grep -qx "$line" listed; then ok; else bad "no line for $line"; fi
done
run "list of phases as JSON" 0 --list-phases=json
json out
name="list of phases as JSON has all rows"
if [ "$(grep -o '"index":[0-9]*' out | sort -u | wc -l)" -eq "$rows" ]; then ok; else bad "not $rows rows"; fi
says out '"index":49,"name":"GvnCse","kind":"transform","status":'
says out '"knobs":["CopyPropBudget","CopyPropGlobalBudget","CopyPropForceGlobal",'
for level in 0 1 2 3 4; do
    run "pipeline at -O$level" 0 --print-pipeline -O$level
    cp out plan
    run "pipeline at -O$level, run" 0 -O$level good.ptx -o direct.ptx
    run "pipeline at -O$level, printed and run" 0 -O$level --named-phases="$(cat plan)" good.ptx -o named.ptx
    same direct.ptx named.ptx
    run "pipeline at -O$level, printed and printed" 0 -O$level --print-pipeline --named-phases="$(cat plan)"
    same out plan
done
run "pipeline is for the standard output" 0 --print-pipeline
silent err
says out "OriRemoveNopCode@107"
run "default level is 3" 0 --print-pipeline
cp out plan
run "-O3 is the default" 0 --print-pipeline -O3
same out plan
run "-O0 does not transform" 0 -O0 --print-pipeline
name="-O0 does not transform"
if grep -q OriRemoveNopCode out; then bad "OriRemoveNopCode at -O0"; else ok; fi
run "phase by name" 0 --print-pipeline --named-phases=OriRemoveNopCode
lines out 1
cp out plan
run "phase in another case" 0 --print-pipeline --named-phases=oriremovenopcode
same out plan
run "phase by index" 0 --print-pipeline --named-phases=107
same out plan
run "phase by name and index" 0 --print-pipeline --named-phases=OriRemoveNopCode@107
same out plan
run "phases by commas" 0 --print-pipeline --named-phases=0,12,107
lines out 3
cp out plan
run "phases by plus signs" 0 --print-pipeline --named-phases=0+12+107
same out plan
run "two dashes or one, value apart" 0 -print-pipeline -named-phases 0,12,107
same out plan
run "phases in the given order" 0 --print-pipeline --named-phases=OriRemoveNopCode,OriSanitize
name="phases in the given order"
case $(head -n 1 out) in OriRemoveNopCode*) ok ;; *) bad "the first is $(head -n 1 out)" ;; esac
run "phase twice" 0 --print-pipeline --named-phases=107,107
lines out 2
run "range" 0 --print-pipeline --named-phases=90..112
says out "FinalInspectionPass@94"
says out "PlaceBlocksInSourceOrder@112"
run "range of names" 0 --print-pipeline --named-phases=FinalInspectionPass..OriRemoveNopCode
says out "FinalInspectionPass@94"
says out "OriRemoveNopCode@107"
run "range backwards" 2 --print-pipeline --named-phases=112..90
says err "reversed"
run "name of two slots" 2 --print-pipeline --named-phases=DumpNVuCodeText
says err "DumpNVuCodeText@129"
says err "DumpNVuCodeText@155"
run "name of two slots with its index" 0 --print-pipeline --named-phases=DumpNVuCodeText@155
says out "DumpNVuCodeText@155"
run "name with another's index" 2 --print-pipeline --named-phases=OriRemoveNopCode@12
says err "107"
run "name with no index after the sign" 2 --print-pipeline --named-phases=OriRemoveNopCode@
run "index out of range" 2 --print-pipeline --named-phases="$rows"
says err "there is no phase $rows"
run "unknown phase" 2 --named-phases=OriRemoveNopCod good.ptx -o u.ptx
says err "unknown phase 'OriRemoveNopCod'"
says err "OriRemoveNopCode"
absent u.ptx
run "unknown phase, many letters wrong" 2 --named-phases=GvnCsee good.ptx
says err "GvnCse"
run "very long phase name" 2 --named-phases="$(awk 'BEGIN { for (k = 0; k < 5000; k++) printf "x" }')" good.ptx
run "unknown phase to disable" 2 --disable-phases=Nothing good.ptx
says err "disable-phases"
run "unknown phase to start at" 2 --start-before=Nothing good.ptx
says err "start-before"
run "unknown phase to stop at" 2 --stop-after=Nothing good.ptx
says err "stop-after"
run "disable" 0 --disable-phases=OriRemoveNopCode --print-pipeline
name=disable
if grep -q OriRemoveNopCode out; then bad "the phase is still there"; else ok; fi
run "disable changes what runs" 0 --named-phases=107 --disable-phases=107 good.ptx
says out "mov.b64"
run "disable a range" 0 --disable-phases=0..158,OriInline,OriShrinkSignatures,GlobalOpt,OriDeadFunctions --print-pipeline
lines out 0
for list in OriRemoveNopCode 12,107 0..158 OriFold+OriCopyProp; do
    run "--disable-phases=$list" 0 --disable-phases=$list good.ptx -o disabled.ptx
    run "--disable-phases=$list, printed" 0 --disable-phases=$list --print-pipeline
    cp out plan
    run "--no-phase=$list" 0 --no-phase=$list good.ptx -o named.ptx
    same disabled.ptx named.ptx
    run "--no-phase $list, printed" 0 --no-phase $list --print-pipeline
    same plan out
done
run "--no-phase after --disable-phases" 0 --disable-phases=12 --no-phase=107 --print-pipeline
cp out plan
run "only the last counts" 0 --no-phase=107 --print-pipeline
same plan out
run "--no-phase and the knob add up" 0 --no-phase=107 --knob DisablePhases=12 --print-pipeline
cp out plan
run "--no-phase and the knob add up" 0 --no-phase=12,107 --print-pipeline
same plan out
run "unknown phase of --no-phase" 2 --no-phase=OriRemoveNopCod good.ptx -o u.ptx
says err "--no-phase: unknown phase 'OriRemoveNopCod'; did you mean OriRemoveNopCode"
absent u.ptx
cat >folded.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	mul.lo.u32 %r2, %r1, 8;
	st.global.u32 [%rd1], %r2;
	ret;
}
END
for list in ConvertMemoryToRegisterOrUniform GeneralOptimizeMid OriFold; do
    run "GeneralOptimizeMid without $list" 0 --named-phases=GeneralOptimizeMid --no-phase=$list folded.ptx
    says out mul.lo
done
for list in OriCopyProp OriStoreForwarding; do
    run "GeneralOptimizeMid without $list" 0 --named-phases=GeneralOptimizeMid --no-phase=$list folded.ptx
    says out shl.b32
done
run "--no-phase without a value" 2 good.ptx --no-phase
is "$(cat err)" "oriopt: option '--no-phase' requires a value"
run "start before" 0 --start-before=OriRemoveNopCode --print-pipeline
name="start before"
case $(head -n 1 out) in OriRemoveNopCode@107*) ok ;; *) bad "the first is $(head -n 1 out)" ;; esac
run "stop after" 0 --stop-after=OriRemoveNopCode --print-pipeline
name="stop after"
case $(tail -n 1 out) in OriRemoveNopCode@107*) ok ;; *) bad "the last is $(tail -n 1 out)" ;; esac
run "start and stop" 0 --start-before=107 --stop-after=107 --print-pipeline
lines out 1
run "a sub-pass follows a slot" 0 --print-pipeline
name="a sub-pass follows a slot"
if grep -A 1 '^ConvertAllMovPhiToMov@73' out | grep -q '^OriRemoveRedundantMov@73'; then ok; else bad "it does not"; fi
run "start with what follows a slot" 0 --start-before=OriRemoveRedundantMov --print-pipeline
name="start with what follows a slot"
case $(head -n 1 out) in OriRemoveRedundantMov@9*) ok ;; *) bad "the first is $(head -n 1 out)" ;; esac
run "stop in front of what follows a slot" 0 --stop-after=73 --print-pipeline
name="stop in front of what follows a slot"
case $(tail -n 1 out) in ConvertAllMovPhiToMov@73*) ok ;; *) bad "the last is $(tail -n 1 out)" ;; esac
run "disable the slots that are followed" 0 --disable-phases=8..9,72..73 --print-pipeline
name="disable the slots that are followed"
if grep -q OriRemoveRedundantMov out; then bad "what follows is still there"; else ok; fi
run "slots without a body can be named" 0 --named-phases=GvnCse good.ptx -o g.ptx
run "sub-passes can be named" 0 --named-phases=OriCopyProp good.ptx -o g.ptx
run "reports" 0 --reports good.ptx -o g.ptx
says err "*** 009.ReportInitialRepresentation on k ***"
run "no reports by default" 0 good.ptx -o g.ptx
silent err

# -- Backends -----------------------------------------------------------------------------------------------------------

run "list of backends" 0 --list-sm
silent err
for words in "sm_30   version 0x3000  class* 0 " "sm_50   version 0x4001  class* 4 " "sm_60   version 0x6000  class* 0 " \
    "sm_70   version 0x7000  class* 11" "sm_80   version 0x7001  class* 11" "sm_89   version 0x7002  class* 11" \
    "sm_90   version 0x8000  class* 11" "sm_50a (0x5001)" "sm_100 (0x9000)" "sm_10 sm_11 sm_12 sm_13 sm_20 sm_21 sm_30 " \
    "sm_80 sm_86 sm_87 sm_88" "sm_70 sm_72 sm_75"; do
    says out "$words"
done
name="list of backends has the documents' offsets"
for line in "gvn_cse 23 184 49" "reassociate_and_common 44 352 50" "general_optimize_mid2 56 448 46" \
    "general_optimize_late2 49 392 65" "swap_operands 79 632" "rewrite_chain 82 656" "operand_bytes 113 904" \
    "fold_info 117 936" "marks_predicates 164 1312" "refuses_source 165 1320" "class_mask 182 1456" \
    "class_mask_more 227 1816" "common_over_barrier 371 2968"; do
    if tr -s ' ' <out | grep -q "^$line "; then ok; else bad "no line for $line"; fi
done
name="what is inferred has a mark"
for line in "gvn_cse .* global value" "form_lop3 .* logic" "reassociate_and_common .* \* integer" "back_prop_vreg .* \* back copy" "class_mask .* \* more"; do
    if tr -s ' ' <out | grep -q "^$line "; then ok; else bad "no line for $line"; fi
done
says out "* inferred: "
name="bundles of the backends"
no=no-op yes=implemented
is "$(awk '$2 == 56 && $3 == 448 { print $5, $6, $7, $8, $9, $10, $11 }' out)" "$no $no $yes $yes $yes $yes $yes"
is "$(awk '$2 == 49 && $3 == 392 { print $5, $6, $7, $8, $9, $10, $11 }' out)" "$yes $yes $yes $yes $yes $yes $yes"
name="list of backends tells no-op by design from not yet"
case $(awk '$1 == "gvn_cse" { print $5, $6, $7, $8, $9, $10, $11 }' out) in
"no-op no-op "*" "*" no-op no-op "*) ok ;;
*) bad "gvn_cse is $(grep '^gvn_cse' out)" ;;
esac
run "list of backends as JSON" 0 --list-sm=json
json out
for words in '"name":"sm_30","number":30,"encoded":12288,"class":0' '"name":"sm_50","number":50,"encoded":16385,"class":4' \
    '"name":"sm_60","number":60,"encoded":24576,"class":0' '"name":"sm_70","number":70,"encoded":28672,"class":11' \
    '"name":"sm_80","number":80,"encoded":28673,"class":11' '"name":"sm_89","number":89,"encoded":28674,"class":11' \
    '"name":"sm_90","number":90,"encoded":32768,"class":11' '{"name":"sm_50a","encoded":20481}' \
    '{"name":"sm_100","encoded":36864}' '"registers":{"R":63,"UR":0,"P":7,"UP":0},"constant_bank":65536' \
    '"registers":{"R":255,"UR":63,"P":7,"UP":7},"constant_bank":65536' '{"name":"gvn_cse","slot":23,"phase":49,"status":"' \
    '{"name":"common_over_barrier","slot":371,"status":"no-op"' '{"name":"back_prop_vreg","phase":82,"status":"'; do
    says out "$words"
done
run "bad mode of the list of backends" 2 --list-sm=xml
run "without a backend" 0 good.ptx -o direct.ptx
for arch in sm_10 sm_30 sm_52 sm_50a sm_60 sm_75 sm_86 sm_89 sm_90a sm_100f sm_121; do
    run "-arch $arch" 0 -arch $arch good.ptx -o arch.ptx
    silent err
    name="-arch $arch keeps the target"
    if grep -qx '.target sm_90' arch.ptx; then ok; else bad "$(grep target arch.ptx)"; fi
done
run "--gpu-name" 0 --gpu-name sm_80 good.ptx -o arch.ptx
run "--arch=" 0 --arch=sm_80 good.ptx -o name.ptx
same arch.ptx name.ptx
for arch in sm_85 sm90 90 sm_ sm_90A compute_90 '' sm_090; do
    run "no target: $arch" 2 -arch "$arch" good.ptx -o u.ptx
    says err "--arch: '$arch' is not a target"
    absent u.ptx
done
run "no target, by the other name" 2 --gpu-name=sm_85 good.ptx
says err "--gpu-name: 'sm_85' is not a target; did you mean sm_86?"
sed 's/sm_90/sm_999/' good.ptx >future.ptx
run "a module's target that nobody knows" 0 future.ptx
says err "future.ptx:2:9: warning: 'sm_999' is not a target and is optimized as sm_90; did you mean sm_121?"
lines err 3
says out ".target sm_999"
# Instructions that a backend makes must exist in the version and target of the text.
for try in sm_80:9.0:sm_80:lop3 sm_80:9.0:sm_35:xor sm_35:9.0:sm_80:xor sm_80:4.2:sm_80:xor sm_53:4.3:sm_121:lop3; do
    text=${try%:*:*} arch=${try%:*} arch=${arch##*:}
    cat >logic.ptx <<END
.version ${text#*:}
.target ${text%:*}
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	xor.b32 %r5, %r1, %r2;
	xor.b32 %r6, %r5, %r3;
	st.global.u32 [%rd1], %r6;
	ret;
}
END
    run "$arch makes of $text" 0 --knob NvOptRecipes=all -arch "$arch" logic.ptx
    says out "${try##*:}.b32"
done
run "pipeline for a module" 0 --print-pipeline good.ptx
cp out plan
run "pipeline for a module's target" 0 --print-pipeline -arch sm_90
same out plan
run "pipeline for a module with an error" 1 --print-pipeline bad.ptx
silent out

# -- Output -------------------------------------------------------------------------------------------------------------

run "to standard output" 0 good.ptx
silent err
cp out first.ptx
run "dash is standard output" 0 good.ptx -o -
same out first.ptx
run "to a file" 0 good.ptx -o second.ptx
silent out
same first.ptx second.ptx
run "twice the same bytes" 0 good.ptx -o third.ptx
same second.ptx third.ptx
clean
name="from standard input"
"$ORIOPT" - <good.ptx >out 2>err
[ $? -eq 0 ] && ok || bad "exit code"
same out first.ptx
name="from a pipe"
cat good.ptx | "$ORIOPT" - >out 2>err
same out first.ptx
name="errors of standard input"
"$ORIOPT" - <bad.ptx >out 2>err
[ $? -eq 1 ] && ok || bad "exit code"
says err "<stdin>:6:10: error:"
silent out
run "input after --" 0 -o second.ptx -- good.ptx
same first.ptx second.ptx
run "emit=none" 0 --emit=none good.ptx -o none.ptx
absent none.ptx
silent out
run "emit=ptx" 0 --emit=ptx good.ptx
same out first.ptx
run "-x ptx" 0 -x ptx good.ptx
same out first.ptx
for mode in none final each; do
    run "verify=$mode" 0 --verify=$mode good.ptx
    same out first.ptx
done
run "verify-each" 0 --verify-each good.ptx
same out first.ptx

run "error leaves no output" 1 bad.ptx -o new.ptx
absent new.ptx
clean
echo "precious" >old.ptx
cp old.ptx old.copy
run "error leaves an old output alone" 1 bad.ptx -o old.ptx
same old.ptx old.copy
clean
run "error writes nothing to standard output" 1 bad.ptx
silent out
cp good.ptx inplace.ptx
run "output over the input" 0 inplace.ptx -o inplace.ptx
same inplace.ptx first.ptx
cp bad.ptx inbad.ptx
run "output over the input, with an error" 1 inbad.ptx -o inbad.ptx
same inbad.ptx bad.ptx
mkdir -p real
echo old >real/target.ptx
ln -s real/target.ptx link.ptx
run "output through a link" 0 good.ptx -o link.ptx
same real/target.ptx first.ptx
name="output through a link keeps the link"
if [ -h link.ptx ]; then ok; else bad "the link became a file"; fi
ln -s real/made.ptx dangling.ptx
run "output through a link to nothing" 0 good.ptx -o dangling.ptx
same dangling.ptx first.ptx
name="output through a link to nothing keeps the link"
if [ -h dangling.ptx ] && [ -f real/made.ptx ]; then ok; else bad "the link became a file"; fi
chmod 640 second.ptx
run "output keeps the mode of a file" 0 good.ptx -o second.ptx
name="output keeps the mode of a file"
case $(ls -l second.ptx) in -rw-r-----*) ok ;; *) bad "$(ls -l second.ptx)" ;; esac
rm -f mode.ptx
(umask 027 && "$ORIOPT" good.ptx -o mode.ptx)
name="new output follows the umask"
case $(ls -l mode.ptx) in -rw-r-----*) ok ;; *) bad "$(ls -l mode.ptx)" ;; esac
run "to /dev/null" 0 good.ptx -o /dev/null
name="/dev/null is still a device"
if [ -c /dev/null ]; then ok; else bad "it is not"; fi
name="to a FIFO"
if mkfifo fifo 2>/dev/null; then
    cat fifo >through &
    $limit "$ORIOPT" good.ptx -o fifo 2>err
    [ $? -eq 0 ] && ok || bad "exit code"
    wait $!
    same through first.ptx
else
    skip "no FIFOs here"
fi
mkdir folder
run "to a folder" 5 good.ptx -o folder
says err "folder"
run "into a missing folder" 5 good.ptx -o missing/out.ptx
says err "missing/out.ptx"
run "from a missing file" 5 missing.ptx
says err "missing.ptx"
run "from a folder" 5 folder
says err "folder"
run "from an empty name" 5 ""
name="without permissions"
if [ "$(id -u)" -eq 0 ]; then
    skip "root may write everywhere"
else
    mkdir locked
    echo old >locked/out.ptx
    chmod 555 locked
    run "into a folder without permission" 5 good.ptx -o locked/new.ptx
    chmod 755 locked
    cp good.ptx unreadable.ptx
    chmod 000 unreadable.ptx
    run "from a file without permission" 5 unreadable.ptx
fi
name="to a full device"
if [ -c /dev/full ]; then
    run "to a full device" 5 good.ptx -o /dev/full
    says err "/dev/full"
    name="standard output is full"
    "$ORIOPT" good.ptx >/dev/full 2>err
    [ $? -eq 5 ] && ok || bad "exit code"
    for table in --list-phases --list-knobs --list-sm --print-pipeline; do
        name="$table to a full device"
        "$ORIOPT" $table >/dev/full 2>err
        [ $? -eq 5 ] && ok || bad "exit code"
    done
else
    skip "no /dev/full here"
fi
for how in "" --piece=1 "--piece=1 -j4" --list-phases --print-pipeline; do
    name="standard output is closed $how"
    # shellcheck disable=SC2086
    $limit "$ORIOPT" $how good.ptx >&- 2>err
    [ $? -eq 5 ] && ok || bad "exit code"
    says err "cannot write"
    # The next opened file then gets its descriptor.
    $limit "$ORIOPT" $how - <good.ptx >&- 2>err
    [ $? -eq 5 ] && ok || bad "exit code, from standard input"
done
name="all is closed, and a file is written"
$limit "$ORIOPT" --piece=1 good.ptx -o closed.ptx <&- >&- 2>&-
[ $? -eq 0 ] && ok || bad "exit code"
same closed.ptx first.ptx

# -- Kernels run before and after phases ------------------------------------------------------------------------------

cat >clock.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<3>;
	.reg .pred %p1;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd1, %rd1, %rd2;
	mov.u32 %r2, %clock;
	mov.u32 %r6, 0;
LOOP:
	add.u32 %r6, %r6, 1;
	mul.lo.u32 %r7, %r6, 3;
	setp.lt.u32 %p1, %r6, 5;
	@%p1 bra LOOP;
	mov.u32 %r3, %clock;
	sub.u32 %r4, %r3, %r2;
	setp.gt.u32 %p1, %r1, 1;
	selp.u32 %r4, %r4, %r1, %p1;
	.loc 1 15 3
	st.global.u32 [%rd1], %r4;
	ret;
}
.file 1 "clock.cu"
PTX
printf 'file clock.ptx\nblock 4\narg buf:4xu32:fill:0\nexpect 0:u32 0 1\n' >clock.run
printf 'file x.ptx\nblock 4\narg buf:16\nnondet 0\n' >nondet.run
run 'kernels are run before and after phases' 0 --check-each --disable-phases=10,16,33,37,46,61,65,84 clock.ptx -o out1
run 'the same without' 0 --disable-phases=10,16,33,37,46,61,65,84 clock.ptx -o out2
same out1 out2
run 'a phase changes what a kernel leaves' 3 --check-each -o out3 clock.ptx
absent out3
says err 'EarlyOriSimpleLiveDead (phase 10), function k: launch 1: arg0:u32[2] is '
says err 'it was '
says err 'block 0,0,0, thread 2,0,0 (lane 2) wrote it, by st.global.u32 at clock.ptx:25 (at clock.cu:15)'
lines err 2
name='a reproducer is written'
set -- oriopt-crash-*.ori
if [ $# -eq 1 ] && [ -s "$1" ]; then ok; else bad "there is no such file"; fi
says err "repeats it: oriopt --run-reproducer $1"
error=$(sed -n 's/.*internal error: //p' err | sed 's/ at clock.ptx.*//') # the reproducer has other lines
run 'it repeats the error' 3 --run-reproducer "$1"
says err "$error"
lines err 1
run 'it is a module' 0 "$1"
run 'with more options' 3 --run-reproducer "$1" --print-changed=quiet
says err 'IR Dump'
rm -f "$1"
run 'what is not determined is not compared' 0 --check-each=nondet.run -o out3 clock.ptx
# Undefined bytes are not compared.
sed 's/st.global.u32 .%rd1., %r4;/shl.b64 %rd2, %rd2, 1; ld.param.u64 %rd1, [p]; add.s64 %rd1, %rd1, %rd2; VALUE st.global.b64 [%rd1], %rd2;/' clock.ptx >pair.ptx
printf 'file pair.ptx\nblock 4\narg buf:32\n' >pair.run
pair() { # EXIT VALUE INSTRUCTIONS
    sed "s/VALUE/$3/" pair.ptx >pair2.ptx
    run "a pair of $2" "$1" --check-each=pair.run -o out3 pair2.ptx
    rm -f out3 oriopt-crash-*.ori
}
pair 3 'a time and nothing' 'mov.b64 %rd2, {%r4, %r8};'
says err 'arg0:b32[4] is '
pair 3 'nothing and a time' 'mov.b64 %rd2, {%r8, %r4};'
says err 'arg0:b32[5] is '
pair 0 'sums of both' 'add.u32 %r4, %r4, %r8; mov.b64 %rd2, {%r4, %r4};'
pair 0 'sums and a number' 'add.u32 %r4, %r4, %r8; mov.b64 %rd2, {%r4, %r1};'
pair 3 'masked bytes' 'and.b32 %r4, %r8, 0xffffff00; mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2; and.b32 %r3, %r3, 0xff; or.b32 %r4, %r4, %r3; mov.b64 %rd2, {%r4, %r8};'
run 'a reproducer of a run in which nothing goes wrong' 0 --check-each=nondet.run -O2 --named-phases=15,10 --reproducer r.ptx -o out3 clock.ptx
says err 'r.ptx repeats it'
run 'nothing goes wrong' 0 --run-reproducer r.ptx
silent out
name='it has the options'
if grep -q '^// option: -O2$' r.ptx && grep -q '^// option: --named-phases=15,10$' r.ptx; then ok; else bad "$(head -n 5 r.ptx)"; fi
run 'a list of phases that was printed' 0 --print-pipeline clock.ptx
run 'a reproducer of it' 0 --named-phases="$(cat out)" --reproducer r2.ptx --emit=none clock.ptx
run 'it reads' 0 --run-reproducer r2.ptx --print-pipeline
run 'no .run file' 5 --check-each=none.run clock.ptx
says err "cannot read 'none.run'"
printf 'file x\nentry kk\n' >bad.run
run 'a .run file of something else' 1 --check-each=bad.run clock.ptx
says err "bad.run:2:7: error: 'clock.ptx' has no kernel 'kk'; did you mean 'k'?"
run 'the same with more threads' 0 --check-each=clock.run --emit=none --disable-phases=10,16,33,37,46,61,65,84 clock.ptx
sed 's/block 4/block 8/' clock.run >wide.run
run 'a fault before any phase' 1 --check-each=wide.run clock.ptx
says err 'clock.ptx:25'
says err 'before any phase, launch 1, block 0,0,0, thread 4,0,0'
run 'no reproducer' 2 --run-reproducer clock.ptx
says err 'was not written by --reproducer'
run 'no such reproducer' 5 --run-reproducer none.ori
run 'a reproducer and another input' 2 --run-reproducer r.ptx clock.ptx
name='no files are left'
if [ -z "$(find . -name 'oriopt-crash-*')" ]; then ok; else bad "$(find . -name 'oriopt-crash-*')"; fi

# -- Functions, debug information ---------------------------------------------------------------------------------------

run "one entry" 0 -e k good.ptx
name="one entry"
if [ "$(grep -c mov.b64 out)" -eq 1 ]; then ok; else bad "mov.b64 occurs $(grep -c mov.b64 out) times, expected once"; fi
says out ".entry other("
cp out one.ptx
run "entry, long" 0 --entry=k good.ptx
same out one.ptx
run "both entries" 0 -e k -e other good.ptx
same out first.ptx
run "entry that is not there" 2 -e nothing good.ptx -o nothing.ptx
says err "nothing"
absent nothing.ptx
run "misspelled entry, to standard output" 2 --entry othre good.ptx
silent out
says err "--entry: 'othre' is not a function of this module; did you mean other"
run "output to /dev/stdout" 0 -o /dev/stdout good.ptx
same out first.ptx
name="output to a pipe named /dev/stdout"
"$ORIOPT" -o /dev/stdout good.ptx | cat >piped.ptx
same piped.ptx first.ptx
name="remarks to a pipe named /dev/stderr"
"$ORIOPT" --remarks=/dev/stderr --emit=none good.ptx 2>&1 | cat >piped.yaml
"$ORIOPT" --remarks=remarks.yaml --emit=none good.ptx
same piped.yaml remarks.yaml
name="text of others stays in the file of /dev/stdout"
{ echo first; "$ORIOPT" -o /dev/stdout good.ptx; } >both.txt
is "$(head -n 1 both.txt)" first
run "strip debug" 0 --strip-debug good.ptx
name="strip debug"
if grep -q -e '\.loc' -e '\.file' out; then bad ".loc or .file is left"; else ok; fi
run "debug stays" 0 good.ptx
says out ".loc"
says out '.file 1 "a.cu"'

# -- Versions of PTX --------------------------------------------------------------------------------------------------

run "a lower version" 0 --ptx-version=7.8 good.ptx
is "$(sed -n 's/^\.version //p' out)" 7.8
sed -n '/^\.version/!p' out >lower.ptx
run "the version of the input" 0 good.ptx
is "$(sed -n 's/^\.version //p' out)" 8.0
sed -n '/^\.version/!p' out >own.ptx
same lower.ptx own.ptx
run "a higher version" 0 --ptx-version 9.0 good.ptx
is "$(sed -n 's/^\.version //p' out)" 9.0
run "a version as Ori text" 0 --ptx-version=7.8 --emit=ori good.ptx
says out "ptx 7.8"
run "on threads, in pieces" 0 --ptx-version=7.8 -j 4 --piece=1 good.ptx
is "$(sed -n 's/^\.version //p' out)" 7.8
for version in 7.9 9.1 3.0 10.0 7 7. .8 7.8.1 '' seven; do
    run "no version: '$version'" 2 --ptx-version="$version" good.ptx -o nothing.ptx
    says err "is not a version of PTX from 3.1 to 9.0"
    absent nothing.ptx
done
sed 's/st.global.u32 \[%rd1\], 1/st.async.u32 [%rd1], 1/; s/st.global.u32 \[%rd1\], 2/st.global.L1::no_allocate.u32 [%rd1], 2/
    s/^\.version 8.0/.version 9.0/; s/sm_90/sm_70/' good.ptx >newer.ptx
echo old >kept.ptx
for how in "" "-j 4" --piece=1; do
    # shellcheck disable=SC2086
    run "what needs a later version $how" 1 $how --ptx-version=7.0 newer.ptx -o kept.ptx
    is "$(grep -c ' error: ' err)" 2
    says err "newer.ptx:10:2: error: 'st.async.u32' needs PTX 8.1"
    says err "newer.ptx:18:2: error: 'st.global.L1::no_allocate.u32' needs PTX 7.4"
    is "$(cat kept.ptx)" old
done
run "as many errors as wanted" 1 --ptx-version=7.0 --max-errors=1 newer.ptx
is "$(grep -c ' error: ' err)" 1
silent out
run "a version that is low enough" 0 --ptx-version=8.1 newer.ptx
run "the version of Ori text" 0 --emit=ori good.ptx -o version.ori
run "it cannot be changed" 1 --ptx-version=7.8 version.ori
says err "can be changed in PTX only"
run "a reproducer has the version" 0 --ptx-version=7.8 --reproducer=version.repro good.ptx
says version.repro "option: --ptx-version=7.8"
run "and runs with it" 0 --run-reproducer=version.repro
# Phases make nothing that the version lacks: lop3 is in PTX 4.3.
cat >logic.ptx <<'END'
.version 8.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<6>;
	ld.param.u64 %rd1, [p];
	ld.global.v2.u32 {%r1, %r2}, [%rd1];
	ld.global.u32 %r3, [%rd1+8];
	and.b32 %r4, %r1, %r2;
	xor.b32 %r5, %r4, %r3;
	st.global.u32 [%rd1], %r5;
	ret;
}
END
run "lop3 is made" 0 --knob NvOptRecipes=all logic.ptx
says out "lop3.b32"
run "lop3 is not in PTX 4.2" 0 --knob NvOptRecipes=all --ptx-version=4.2 logic.ptx
if grep -q lop3 out; then bad "it is made"; else ok; fi

# -- Pieces and threads -----------------------------------------------------------------------------------------------

run "in pieces" 0 --piece=1 good.ptx
same out first.ptx
run "in pieces, threads" 0 --piece=1 -j 3 good.ptx
same out first.ptx
run "threads" 0 -j8 good.ptx
same out first.ptx
run "entries on threads" 0 -j 2 -e k -e other good.ptx
same out first.ptx
run "an entry in the second piece" 0 --piece=1 -e other good.ptx
run "an entry in no piece" 2 --piece=1 -e nothing good.ptx
silent out
{ cat good.ptx && echo '.visible .entry late() { mov.u32 %q, 1; }'; } >late.ptx
for how in "" --piece=1 "--piece=1 -j4"; do
    # shellcheck disable=SC2086
    run "an error after good functions $how" 1 $how late.ptx
    silent out
    # shellcheck disable=SC2086
    run "the same to a file $how" 1 $how late.ptx -o late.out
    absent late.out
done
name="an error after good functions, to a FIFO"
if mkfifo late.fifo 2>/dev/null; then
    for how in "" --piece=1 "--piece=1 -j4"; do
        cat late.fifo >through &
        exec 3>late.fifo  # an additional writer: cat ends even if oriopt never opens the FIFO
        # shellcheck disable=SC2086
        $limit "$ORIOPT" $how late.ptx -o late.fifo 2>err
        [ $? -eq 1 ] && ok || bad "exit code $how"
        exec 3>&-
        wait $!
        silent through
    done
else
    skip "no FIFOs here"
fi
{ cat late.ptx && echo '.visible .entry later() { mov.u32 %q, 1; }'; } >later.ptx
run "two errors in two pieces" 1 --piece=1 later.ptx
name="two errors in two pieces"
if [ "$(grep -c error: err)" -eq 2 ]; then ok; else bad "$(grep -c error: err) errors, expected 2"; fi
run "statistics in order" 0 -j4 --stats=all --emit=none good.ptx
sed 's/, [0-9]* bytes.*//' err >stats.4
run "statistics on one thread" 0 --stats=all --emit=none good.ptx
sed 's/, [0-9]* bytes.*//' err >stats.1
same stats.1 stats.4
run "dumps on threads" 0 -j4 --print-after=NOP --emit=none good.ptx
cp err dumps.4
run "dumps on one thread" 0 --print-after=NOP --emit=none good.ptx
same err dumps.4
run "an internal limit on threads" 4 -j4 --max-memory=40K good.ptx -o limited.out
absent limited.out
for value in 0 x -1 2000; do
    run "-j $value" 2 "-j=$value" good.ptx
    says err "a number of threads"
done
run "--piece x" 2 --piece=x good.ptx

# -- Remarks ------------------------------------------------------------------------------------------------------------

# Remarks must equal the file beside the input, on one thread and on several, in one piece and in many.
for input in "$tests"/golden/remarks/*.ptx "$tests"/golden/remarks/*.ori; do
    said=${input%.*}.yaml
    base=$(basename "$input")
    for how in -j1 -j4 "-j1 --piece=1" "-j3 --piece=1" "-j4 --self-check=clone" --self-check=contracts; do
        # shellcheck disable=SC2086
        run "remarks of $base with $how" 0 $how "$input" -o remarks.out --remarks=remarks.yaml
        silent err
        same remarks.yaml "$said"
    done
    run "remarks change nothing in $base" 0 "$input"
    same out remarks.out
    run "remarks of $base on standard output" 0 "$input" --emit=none --remarks=-
    same out "$said"
    run "remarks of $base beside the module" 0 "$input" --remarks /dev/null
    same out remarks.out
    run "remarks of $base by way of Ori text" 0 "$input" --emit=ori --named-phases NOP -o remarks.ori
    run "remarks of $base as Ori text" 0 remarks.ori --emit=none --remarks=-
    same out "$said"
    name="documents of $base"
    if awk '
    /^--- !(Passed|Missed|Analysis)$/ { if (open) exit bad = 1; open = 1; keys = ""; next }
    /^\.\.\.$/ { if (keys !~ /^ Pass: Name:( DebugLoc:)? Function: Args:$/) exit bad = 1; open = 0; next }
    /^[A-Za-z]+:/ { keys = keys " " $1; if (open) next }
    /^  - [A-Za-z]+: +[^ ]/ { if (open && keys ~ /Args:$/) next }
    { exit bad = 1 }
    END { exit bad || open || !NR }' "$said"; then ok; else bad "a document is not whole"; fi
    if ! python3 -c 'import yaml' 2>/dev/null; then
        skip "python3 has no yaml"
    elif python3 -c '
import sys, yaml
class Loader(yaml.SafeLoader): pass
Loader.add_multi_constructor("!", lambda l, tag, node: (tag, l.construct_mapping(node, deep=True)))
for tag, remark in yaml.load_all(open(sys.argv[1]), Loader=Loader):
    assert tag in ("Passed", "Missed", "Analysis"), tag
    assert set(remark) - {"DebugLoc"} == {"Pass", "Name", "Function", "Args"}, remark
    assert isinstance(remark["Function"], str), remark
    if "DebugLoc" in remark:
        assert set(remark["DebugLoc"]) == {"File", "Line", "Column"}, remark
    for arg in remark["Args"]:
        assert len(arg) == 1 and all(isinstance(v, str) for v in arg.values()), arg
' "$said" 2>err; then ok; else bad "it is not YAML as opt-viewer reads it: $(tail -n 1 err)"; fi
    if ! have llvm-opt-report; then
        skip "there is no llvm-opt-report"
    elif llvm-opt-report "$said" -o report.txt 2>err; then ok; else bad "llvm-opt-report: $(head -n 1 err)"; fi
done
locals=$tests/golden/remarks/locals.ptx
run "remarks of other phases" 0 "$locals" --emit=none --remarks=- --remarks-filter='OriCopy*'
silent out
for glob in 'convertmemory*' 160 '160-*' 165; do
    of=ConvertMemory
    [ "$glob" = 165 ] && of=OriFold
    awk -v of=$of '/^--- /{ text = ""; wanted = 0 } { text = text $0 "\n"; wanted += $2 ~ "^" of } /^\.\.\.$/ && wanted { printf "%s", text }' \
        "$tests/golden/remarks/locals.yaml" >wanted.yaml
    run "remarks of phase $glob" 0 "$locals" --emit=none --remarks=- --remarks-filter="$glob"
    same out wanted.yaml
done
run "remarks of functions without any" 0 good.ptx -o /dev/null --remarks=none.yaml
if [ -e none.yaml ]; then ok; else bad "there is no file"; fi
silent none.yaml
run "remarks without debug information" 0 "$locals" --strip-debug --emit=none --remarks=-
says out "Name:            AddressEscapes"
if grep -q DebugLoc out; then bad "there are places"; else ok; fi
run "remarks and module in one place" 2 "$locals" --remarks=-
says err "name the same file"
run "remarks and module in one file" 2 "$locals" -o remarks.out --remarks=remarks.out
run "filter without remarks" 2 "$locals" --remarks-filter='*'
says err "requires --remarks"
run "remarks of bad input" 1 bad.ptx -o /dev/null --remarks=bad.yaml
absent bad.yaml
run "remarks that cannot be written" 5 "$locals" -o left.ptx --remarks=nowhere/remarks.yaml
says err "cannot write 'nowhere/remarks.yaml'"
absent left.ptx
if [ -c /dev/full ]; then
    run "remarks on a full device" 5 "$locals" -o left.ptx --remarks=/dev/full
    says err "cannot write '/dev/full'"
    absent left.ptx
fi
clean

# -- Figures ------------------------------------------------------------------------------------------------------------

run "times" 0 --time-phases --emit=none good.ptx
says err "OriRemoveNopCode"
says err "(read)"
silent out
name="times: longest first, with percent and a total"
if awk '
    NR == 1 { if ($0 !~ /^phase +seconds +% +runs +changed +skipped$/) bad = 1; next }
    { n = NF - ($1 ~ /^\((read|write)\)$/ ? 0 : 3); seconds = $(n - 1); percent = $n }
    /^\(total\)/ { total = seconds; all = percent; runs = $(NF - 2); skipped = $NF; next }
    { if (NR > 2 && seconds > before) bad = 1; before = seconds; sum += seconds; share += percent }
    n != NF { sum_runs += $(NF - 2); sum_skipped += $NF }
    END { exit bad || all != 100 || runs != sum_runs || skipped != sum_skipped || !skipped || sum - total > 0.0002 || total - sum > 0.0002 || share < 95 || share > 105 }
' err; then ok; else bad "$(head -n 3 err)"; fi
is "$(grep -c '^(read)\|^(write)' err)" 2
is "$(tail -n 1 err | cut -d ' ' -f 1)" "(total)"
run "times as JSON" 0 --time-phases=json --emit=none good.ptx
json err
says err '"phases":['
says err '"total_s":'
says err '"percent":'
run "figures for people" 0 --stats --emit=none good.ptx
grep -qE '^k: 4 -> 3 instructions, 1 -> 1 blocks; [0-9]+ of [0-9]+ phases changed it$' err && ok || bad "$(cat err)"
is "$(grep -c . err)" "$(grep -c '^\.visible' good.ptx)"
run "bytes of .local" 0 --stats --emit=none "$root/samples/handwritten/tenths.ptx"
says err "tenths: 23 -> 17 instructions, 1 -> 1 blocks, 4 -> 0 bytes of .local; "
run "all figures" 0 --stats=all --emit=none good.ptx
says err "k: instructions 4 -> 3"
says err ", .local 0 -> 0 bytes, "
if grep -q "registers" err; then bad "counts of virtual registers"; else ok; fi
run "reports in files of their own" 0 --stats=json:stats.json --time-phases=json:times.json --knob KeepSymbols=x good.ptx -o out.ptx
json stats.json
json times.json
run "a report in no folder" 5 --stats=json:nowhere/stats.json good.ptx -o report.ptx
absent report.ptx
run "a report without a name" 2 --stats=json: good.ptx
run "figures as JSON" 0 --stats=json --emit=none good.ptx
json err
says err '"kernels":['
says err '"rules":{'
says err '"instructions_in":4,"instructions":3'
run "figures beside the output" 0 --stats=json good.ptx
same out first.ptx
run "figures are the same in each run" 0 --stats=json --emit=none good.ptx
sed 's/"seconds":[0-9.]*//' err >figures
run "figures are the same in each run" 0 --stats=json --emit=none good.ptx
sed 's/"seconds":[0-9.]*//' err >figures2
same figures figures2
cat >moves.ori <<'END'
target sm_80 ptx 8.0 address 64
kernel @k(@p: 64) form multi {
b0:
  R0:64 = ld.param.b64 [@p]
  R1:32 = ld.global.b32 [R0]
  R2:32 = mov.b32 5
  R3:32 = mov.b32 5
  R1:32 = add.s32 R1, R3
  R4:32 = mov.b32 6
  R5:32 = mov.b32 7
  R6:32 = mov.b32 8
  R7:32 = mov.b32 9
  R8:32 = mov.b32 10
  R9:32 = mov.b32 11
  R10:32 = mov.b32 11
  {R12:32, R13:32} = mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {R9, R1}, {R10}, {R4, R5}
  R4:32 = mov.b32 %laneid
  R11:32 = mov.b32 12
  st.global.v4.b32 [R0], {R2, R6, R7, R8}
  st.global.v4.b32 [R0+16], {R11, R11, R12, R13}
  exit
}
END
run "counters of moves" 0 --named-phases=GeneralOptimizeLate --stats=all --emit=none moves.ori
says err ", GeneralOptimizeLate considered 10 entered 9 evicted 1 replaced 1 folded 1 forgotten 1 refused 1,"
run "counters of moves as JSON" 0 --named-phases=GeneralOptimizeLate --stats=json --emit=none moves.ori
json err
says err '"late_considered":10,"late_entered":9,"late_evicted":1,"late_replaced":1,"late_folded":1,"late_forgotten":1,"late_refused":1'
# counts NAME ARCH COUNTERS: checks the counters of GvnCse for the kernel whose code is the input.
counts() {
    {
        echo "target $2 ptx 8.0 address 64
kernel @k(@p: 64) form ssa {
  reg R30:32 \"%x\" .b32 named
b0:
  R0:64 = ld.param.b64 [@p]
  R1:32 = ld.global.b32 [R0]
  R2:32 = ld.global.b32 [R0+4]
  P0 = setp.lt.s32 R1, R2"
        cat
        echo '}'
    } >gvn.ori
    run "counters of GvnCse: $1" 0 --named-phases=GvnCse --stats=all --emit=none gvn.ori
    says err ", GvnCse $3,"
}
counts 'T1, no immediate dominator' sm_90 'T1 1 T2 0 T3 0 T4 0 T5 0 T6 0 replaced 0 moves 0 drained 0' <<'END'
  st.global.v2.u8 [R0+8], {R1, R2}
  {R3:32, R4:32} = ld.global.v2.u8 [R0+8]
  st.global.v2.b32 [R0+16], {R3, R4}
  exit
END
counts 'T2, no dominating value' sm_70 'T1 0 T2 1 T3 0 T4 0 T5 0 T6 0 replaced 0 moves 0 drained 0' <<'END'
  @P0 bra b1 else b2
b1:
  R3:32 = div.s32 R1, 7
  st.global.b32 [R0], R3
  bra b2
b2:
  R4:32 = div.s32 R1, 7
  st.global.b32 [R0], R4
  exit
END
counts 'T3, a block without candidates' sm_70 'T1 0 T2 0 T3 1 T4 0 T5 0 T6 0 replaced 0 moves 0 drained 0' <<'END'
  R3:64 = mul.wide.s32 R1, R2
  bra b1
b1:
  R4:64 = mov.b64 R3
  st.global.v2.b64 [R0], {R3, R4}
  exit
END
# Between the blocks, more registers are live than are always free.
{
    echo '  R3:32 = add.s32 R1, R2
  st.global.b32 [R0], R3
  bra b1
b1:'
    for k in 0 1 2 3 4 5 6 7 8 9; do
        echo "  R1$k:32 = xor.b32 R1, 1$k
  R2$k:32 = xor.b32 R1, 2$k
  R4$k:32 = xor.b32 R1, 4$k"
    done
    for k in 0 1 2 3 4 5 6 7 8 9; do
        echo "  st.global.v4.b32 [R0], {R1$k, R2$k, R4$k, R2}"
    done
    echo '  bra b2
b2:
  R7:32 = add.s32 R1, R2
  st.global.b32 [R0], R7
  exit'
} >t4
counts 'T4, the own definition stays' sm_70 'T1 0 T2 0 T3 0 T4 1 T5 0 T6 0 replaced 0 moves 0 drained 0' <t4
counts 'T5, behind a move of the leader' sm_70 'T1 0 T2 0 T3 0 T4 0 T5 1 T6 0 replaced 1 moves 0 drained 0' <<'END'
  R3:32 = div.s32 R1, 7
  R20:32 = mov.b32 R3 {pinned}
  st.global.v2.b32 [R0], {R3, R20}
  bra b1
b1:
  R4:32 = div.s32 R1, 7
  st.global.b32 [R0], R4
  exit
END
counts 'T6, replaced' sm_90 'T1 0 T2 0 T3 0 T4 0 T5 0 T6 2 replaced 2 moves 0 drained 1' <<'END'
  R3:32 = div.s32 R1, 7
  bra b1
b1:
  R4:32 = div.s32 R1, 7
  R5:32 = div.s32 R1, 7
  st.global.v2.b32 [R0], {R4, R5}
  exit
END
sed 's/R5:32 = div.s32 R1, 7/R5:32 = xor.b32 R4, 7/' gvn.ori >gvn.one && mv gvn.one gvn.ori
run "counters of GvnCse: replaced once" 0 --named-phases=GvnCse --stats=json --emit=none gvn.ori
json err
says err '"gvn_T1":0,"gvn_T2":0,"gvn_T3":0,"gvn_T4":0,"gvn_T5":0,"gvn_T6":1,"gvn_replaced":1,"gvn_moves":0,"gvn_drained":1'
counts 'a move' sm_70 'T1 0 T2 0 T3 0 T4 0 T5 0 T6 0 replaced 1 moves 1 drained 0' <<'END'
  R3:32 = div.s32 R1, 7
  R30:32 = div.s32 R1, 7
  st.global.v2.b32 [R0], {R3, R30}
  exit
END
# Functions a to d each have a call through a register, which becomes direct after a was inlined twice.
{
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.shared .u32 unused, used;\n.extern .func none();\n'
    echo '.func leaf();'
    for f in a b c d; do
        printf '.func %s()\n{\n\t.reg .b64 %%rd<2>;\n\tP: .callprototype _ ();\n' $f
        printf '\tmov.u64 %%rd1, leaf;\n\tcall %%rd1, P;\n\tret;\n}\n'
    done
    printf '.func leaf()\n{\n\tst.shared.u32 [used], 1;\n\tret;\n}\n'
    echo '.visible .entry k() { call a; call a; ret; }'
} >module.ptx
for jobs in 1 4; do
    run "counters of the module, -j$jobs" 0 -j$jobs --stats=all --emit=none module.ptx
    is "$(grep -A1 '^k:' err | sed '1s/:.*//')" "k
module: calls inlined 8, calls devirtualized 4, functions removed 5, variables removed 2, variables promoted 0, variables split 0, mallocs replaced 0, own variables 1, internal variables 0, open variables 0"
    run "counters of the module as JSON, -j$jobs" 0 -j$jobs --stats=json --emit=none module.ptx
    json err
    says err '],"module":{"calls_inlined":8,"calls_devirtualized":4,"functions_removed":5,"variables_removed":2,"variables_promoted":0,"variables_split":0,"mallocs_replaced":0,"variables_own":1,"variables_internal":0,"variables_open":0},"rules":{'
    run "calls made direct, -j$jobs" 0 -j$jobs --stats=all --named-phases=OriDevirtualize --emit=none module.ptx
    says err 'module: calls inlined 0, calls devirtualized 4, functions removed 0, variables removed 0'
done
{
    printf '.version 8.0\n.target sm_80\n.address_size 64\n.const .b32 c = 5;\n.global .b32 g[2];\n.shared .b32 s[2];\n'
    printf '.visible .entry k()\n{\n\t.reg .b32 %%r<4>;\n\tld.const.u32 %%r1, [c];\n\tst.volatile.global.u32 [g], %%r1;\n'
    printf '\tst.volatile.global.u32 [g+4], %%r1;\n\tst.shared.u32 [s], %%r1;\n\tret;\n}\n'
} >variables.ptx
run "counters of variables" 0 --stats=all --internalize c,g variables.ptx -o /dev/null
says err 'variables removed 2, variables promoted 1, variables split 1, mallocs replaced 0, own variables 1, internal variables 2, open variables 0'
run "counters of variables as JSON" 0 --stats=json --internalize c,g variables.ptx -o /dev/null
json err
says err '"variables_removed":2,"variables_promoted":1,"variables_split":1,"mallocs_replaced":0,"variables_own":1,"variables_internal":2,"variables_open":0}'
run "counters of open variables" 0 --stats=all variables.ptx -o /dev/null
says err 'own variables 1, internal variables 0, open variables 2'
run "counters of memory of malloc" 0 --stats=all "$root/tests/golden/phases/GlobalOpt/malloc.ptx" -o /dev/null
says err 'mallocs replaced 1'
run "counters of a module without calls" 0 --stats=json --emit=none good.ptx
says err '"module":{"calls_inlined":0,"calls_devirtualized":0,"functions_removed":0,"variables_removed":0,"variables_promoted":0,"variables_split":0,"mallocs_replaced":0,"variables_own":0,"variables_internal":0,"variables_open":0},'
run "counters of a module without calls" 0 --stats=all --emit=none good.ptx
is "$(grep -c '^module' err)" 0
run "pipeline counter" 0 --stats=all --emit=none good.ptx
says err ", pipeline counter 19,"
run "pipeline counter at -O1" 0 -O1 --stats=json --emit=none good.ptx
json err
says err '"pipeline_counter":9,'
run "pipeline counter below sm_70" 0 -O1 -arch sm_60 --stats=json --emit=none good.ptx
says err '"pipeline_counter":9,'
for list in 82 83 AdvancedPhaseBackPropVReg OriBackCopyPropagate 80..82; do
    run "slots 82 and 83 are disabled together: $list" 0 --disable-phases=$list --print-pipeline
    is "$(grep -cE '@8[23] ' out)" 0
done
run "slots 82 and 83 are disabled together" 0 --knob DisablePhases=83 --print-pipeline
is "$(grep -cE '@8[23] ' out)" 0
run "slots 82 and 83 run together" 0 --print-pipeline
is "$(grep -cE '@8[23] ' out)" 2
run "no counters without moves" 0 --stats=all --emit=none good.ptx
is "$(grep -c GeneralOptimizeLate err)" 0
printf '.version 8.0\n.target sm_90\n.address_size 64\n' >declarations.ptx
run "figures of no function as JSON" 0 --stats=json --emit=none declarations.ptx
json err
run "times of no function as JSON" 0 --time-phases=json --emit=none declarations.ptx
json err

# -- Ori text and dumps -------------------------------------------------------------------------------------------------

run "emit ori" 0 --named-phases=NOP --emit=ori good.ptx -o good.ori
says good.ori "target sm_90 ptx 8.0 address 64"
says good.ori "kernel @k(@p: .u64) visible form multi {"
run "Ori in, Ori out" 0 --named-phases=NOP good.ori -o again.ori
same good.ori again.ori
run "straight" 0 --named-phases=NOP good.ptx -o straight.ptx
run "Ori in, PTX out" 0 --named-phases=NOP --emit=ptx good.ori -o through.ptx
same straight.ptx through.ptx
cp good.ori good.text
run "Ori by its content" 0 --named-phases=NOP good.text -o again.ori
same good.ori again.ori
name="Ori from standard input"
"$ORIOPT" -x ori --named-phases=NOP - <good.ori >again.ori 2>err
same good.ori again.ori
run "x says PTX" 1 -x ptx good.ori
says err "this is Ori text, not PTX; use -x ori"
run "x says Ori" 1 -x ori good.ptx
run "x of something else" 2 -x llvm good.ptx
run "emit of something else" 2 --emit=llvm good.ptx
run "no product" 0 --emit=none good.ori
silent out
silent err

cat >ssa.ori <<'END'
target sm_90 ptx 8.0 address 64
kernel @s() visible form ssa {
b0:
  R0:32 = mov.b32 %tid.x
  P0 = setp.eq.s32 R0, 0
  @P0 bra b2 else b1
b1:                                     ; preds b0
  R1:32 = add.s32 R0, 1
  bra b2
b2:                                     ; preds b0 b1
  R2:32 = mov.phi b0: R0, b1: R1
  st.global.b32 [16], R2
  exit
}
END
sed -i 's/st.global.b32 .16., R2/st.local.b32 [16], R2/' ssa.ori
run "ssa form" 0 --named-phases=FinalInspectionPass --emit=ori ssa.ori -o again.ori
same ssa.ori again.ori
run "ssa form leaves as PTX" 0 --named-phases=NOP --emit=ptx ssa.ori -o ssa.ptx
if grep -q phi ssa.ptx; then bad "a phi in PTX"; else ok; fi
run "a phase of the other form" 0 --named-phases=OriRemoveNopCode --emit=ori ssa.ori -o again2.ori
says again2.ori "form multi"
run "a report of ssa form" 0 --named-phases=ReportInitialRepresentation --emit=none ssa.ori
says err "mov.phi b0: R0, b1: R1"

banner='; *** IR Dump'
run "print after" 0 --emit=none --print-after OriRemoveNopCode good.ptx
silent out
says err "$banner After 107.OriRemoveNopCode (OriRemoveNopCode) on k ***"
says err "$banner After 107.OriRemoveNopCode (OriRemoveNopCode) on other ***"
name="print after: two dumps"
if [ "$(grep -c "IR Dump" err)" -eq 2 ]; then ok; else bad "$(grep -c "IR Dump" err) banners"; fi
run "print before a list" 0 --emit=none --print-before=0,107 --filter-funcs k good.ptx
name="print before a list: two dumps"
if [ "$(grep -c "IR Dump Before [01][0-9]*[.].* on k" err)" -eq 2 ]; then ok; else bad "$(grep "IR Dump" err)"; fi
run "print around everything" 0 --emit=none --print-before-all --print-after-all --filter-funcs='*th*' good.ptx
says err "$banner Before 000.OriCheckInitialProgram (OriCheckInitialProgram) on other ***"
says err "$banner After 158.NOP (NOP) on other ***"
if grep -q ' on k ' err; then bad "a dump of k"; else ok; fi
run "filter of phases" 0 --emit=none --print-after-all --filter-phases='*nop*' good.ptx
name="filter of phases: only those"
if [ "$(grep "IR Dump" err | grep -vc '\.\(OriRemoveNopCode\|NOP\) ')" -eq 0 ] && grep -q '158.NOP' err; then ok; else bad "$(grep "IR Dump" err)"; fi
run "filter of phases by number" 0 --emit=none --print-after-all --filter-phases=107 good.ptx
name="filter of phases by number: one each"
if [ "$(grep -c "IR Dump" err)" -eq 2 ]; then ok; else bad "$(grep "IR Dump" err)"; fi

run "each dump reads back" 0 --emit=none --print-after=OriRemoveNopCode "$root/samples/ptx/calls.O0.ptx"
awk '/^; \*\*\* IR Dump/ { n++ } { print > ("dump." n ".ori") }' err
name="each dump reads back"
for dump in dump.*.ori; do
    if "$ORIOPT" --named-phases=NOP --emit=none "$dump" 2>dump.err; then ok; else bad "$dump: $(head -n 1 dump.err)"; fi
done

run "print changed" 0 --emit=none --named-phases=107,NOP --print-changed --filter-funcs=k good.ptx
says err "$banner At Start on k ***"
says err "$banner After 107.OriRemoveNopCode (OriRemoveNopCode) on k ***"
says err "$banner After 158.NOP (NOP) on k omitted because no change ***"
run "print changed quietly" 0 --emit=none --named-phases=107,NOP --print-changed=quiet --filter-funcs=k good.ptx
name="print changed quietly: two dumps"
if [ "$(grep -c "IR Dump" err)" -eq 2 ]; then ok; else bad "$(grep "IR Dump" err)"; fi
run "print changed as a difference" 0 --emit=none --named-phases=107,NOP --print-changed=diff --filter-funcs=k good.ptx
cat >want <<'END'
; *** IR Dump After 107.OriRemoveNopCode (OriRemoveNopCode) on k ***
@@ -2,7 +2,6 @@ kernel @k b0
 kernel @k(@p: .u64) visible form multi {
 b0:
   R0:64 = ld.param.u64 [@p]  !1:1:1
-  R0:64 = mov.b64 R0  !1:1:1
   st.global.u32 [R0], 1  !1:1:1
   ret  !1:1:1
 }

END
same err want
run "print changed: nothing changes" 0 --emit=none --print-changed=quiet --named-phases=NOP good.ptx
name="print changed: only the start"
if [ "$(grep -c "IR Dump" err)" -eq 2 ] && ! grep -q After err; then ok; else bad "$(grep "IR Dump" err)"; fi
run "print changed of something else" 2 --print-changed=loud good.ptx
run "print after an unknown phase" 2 --print-after=OriRemoveNopCod good.ptx
says err "did you mean OriRemoveNopCode"

run "dump directory" 0 --emit=none --named-phases=107,NOP --ir-dump-dir=dumps good.ptx
name="dump directory: files"
find dumps -type f | sort >files
cat >want <<'END'
dumps/index.json
dumps/k/000-Input.ori
dumps/k/001.107-OriRemoveNopCode.after.ori
dumps/other/000-Input.ori
dumps/other/001.107-OriRemoveNopCode.after.ori
END
same files want
json dumps/index.json
says dumps/index.json '"file":"k/001.107-OriRemoveNopCode.after.ori"'
says dumps/index.json '"sequence":2,"index":158,"name":"NOP","changed":false,'
run "dump directory: a file reads back" 0 --named-phases=NOP --emit=none dumps/k/001.107-OriRemoveNopCode.after.ori
cat >steps.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<4>;
	mov.u32 %r1, 1;
	add.u32 %r2, %r1, 2;
	mov.u32 %r3, %r2;
	mov.u32 %r3, %r3;
	st.local.u32 [16], %r3;
	ret;
}
END
run "dump directory: in the order of execution" 0 --emit=none --ir-dump-dir=twice \
    --named-phases=OriFold,107,NOP,OriCopyProp,10 steps.ptx
name="dump directory: in the order of execution"
is "$(ls twice/k | tr '\n' ' ')" "000-Input.ori 001.165-OriFold.after.ori 002.107-OriRemoveNopCode.after.ori \
004.159-OriCopyProp.after.ori 005.010-EarlyOriSimpleLiveDead.after.ori "
: >file
run "dump directory is a file" 5 --emit=none --ir-dump-dir=file good.ptx
clean
rm -rf dumps twice

cat >flow.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<2>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra $L1;
	st.local.u32 [16], %r1;
$L1:
	ret;
}
END
# graphs FILE: checks that Graphviz reads it, if installed.
graphs() {
    if ! have dot; then skip "no dot"; elif dot -Tcanon "$1" >canon 2>&1; then ok; else bad "$(head -n 1 canon)"; fi
}
run "graphs after the last phase" 0 --emit=none --named-phases=NOP --dump-cfg flow.ptx
cat >want <<'END'
// *** IR Dump At End on k ***
digraph "k At End" {
  node [shape=box, fontname=monospace];
  b0 [label="b0:\l  R0:32 = mov.u32 %tid.x\l  P0 = setp.eq.u32 R0, 0\l  @P0 bra \"$L1\" else b2\l"];
  b2 [label="b2:                                     ; preds b0\l  st.local.u32 [16], R0\l  bra \"$L1\" {implicit}\l"];
  b1 [label="\"$L1\":                                  ; preds b0 b2\l  ret\l"];
  b0 -> b1 [label="true"];
  b0 -> b2 [label="false"];
  b2 -> b1;
}

END
same err want
graphs err
run "graphs around phases" 0 --emit=none --dump-cfg=dot --print-before=10 --print-after=107 flow.ptx
is "$(grep -v '^  \|^}$\|^$' err | cut -d ' ' -f 1-8)" '// *** IR Dump Before 010.EarlyOriSimpleLiveDead (EarlyOriSimpleLiveDead) on
digraph "k Before 010.EarlyOriSimpleLiveDead" {
// *** IR Dump After 107.OriRemoveNopCode (OriRemoveNopCode) on
digraph "k After 107.OriRemoveNopCode" {'
graphs err
run "graphs where something changed" 0 --emit=none --dump-cfg --print-changed=quiet --named-phases=107,NOP good.ptx
is "$(grep -c '^digraph' err)" 4
run "graphs of some functions" 0 --emit=none --dump-cfg --filter-funcs=other good.ptx
is "$(grep -c '^digraph "other At End"' err)" "$(grep -c '^digraph' err)"
run "graphs beside dumps" 0 --emit=none --dump-cfg --ir-dump-dir=graphs --named-phases=107 good.ptx
is "$(ls graphs/k | tr '\n' ' ')" "000-Input.dot 000-Input.ori 001.107-OriRemoveNopCode.after.dot 001.107-OriRemoveNopCode.after.ori "
is "$(head -n 1 graphs/k/001.107-OriRemoveNopCode.after.dot)" 'digraph "k After 107.OriRemoveNopCode" {'
silent err
run "graphs of brx.idx" 0 --emit=none --named-phases=NOP --dump-cfg "$tests/golden/read/cf-brx-table.ptx"
graphs err
run "graphs of something else" 2 --dump-cfg=svg good.ptx
is "$(cat err)" "oriopt: --dump-cfg: 'svg' is not dot"
rm -rf graphs

run "call graph" 0 --dump-callgraph=dot "$root/samples/handwritten/calls.ptx" -o /none/graph.ptx
silent err
is "$(sed 1q out)" 'digraph calls {'
says out '    "calls_kernel" [shape=box, tooltip="30 instructions, visible"];'
says out '    "calls_kernel" -> "nothing" [label="3"];'
says out '    "calls_kernel" -> "(unknown)" [style=dashed];'
says out '    "quadruple" -> "twice_twice" [style=dotted, label="alias"];'
graphs out
cp out want
run "call graph of pieces" 0 --dump-callgraph --piece=1 -j4 "$root/samples/handwritten/calls.ptx"
same out want
run "call graph of Ori text" 0 -O0 --emit=ori "$root/samples/handwritten/calls.ptx" -o calls.ori
run "call graph of Ori text" 0 --dump-callgraph calls.ori
same out want
run "call graph without calls" 0 --dump-callgraph good.ptx
is "$(grep -c -e '->' out)" 0
run "call graph and pipeline" 0 --dump-callgraph --print-pipeline --named-phases=NOP good.ptx
is "$(sed "2q;s/ *;.*//" out)" "NOP@158
digraph calls {"
run "call graph of no input" 2 --dump-callgraph
is "$(cat err)" 'oriopt: no input file; --help explains the use'
run "call graph of wrong input" 1 --dump-callgraph bad.ptx
silent out
run "call graph of something else" 2 --dump-callgraph=svg good.ptx
is "$(cat err)" "oriopt: --dump-callgraph: 'svg' is not dot"

run "self-check" 0 --self-check=clone,roundtrip,contracts --verify=each good.ptx -o checked.ptx
run "without self-check" 0 good.ptx -o unchecked.ptx
same checked.ptx unchecked.ptx
run "self-check of something else" 2 --self-check=mirror good.ptx
run "start before, Ori" 0 --start-before=OriRemoveNopCode --emit=ori good.ori -o again.ori
run "stop after, Ori" 0 --stop-after=SetControlFlowOpLastInBB good.ori -o again.ori
same good.ori again.ori

cat >bad.ori <<'END'
target sm_90 ptx 8.0
kernel @k() form multi {
b0:
  R0:32 = mov.b32 R1
  R2:32 = add.s32 R0
  P0 = setp.eq.s32 R0, 0x
  exit
}
END
run "errors in Ori text" 1 bad.ori -o bad.out
says err "bad.ori:5:3: error: these operands do not fit 'add.s32'"
says err "  R2:32 = add.s32 R0"
says err "  ^"
absent bad.out

# -- Errors -------------------------------------------------------------------------------------------------------------

run "several errors" 1 bad.ptx
name="several errors"
if [ "$(grep -c ': error: ' err)" -eq 3 ]; then ok; else bad "$(grep -c ': error: ' err) errors, expected 3"; fi
says err "bad.ptx:6:10: error:"
says err "	mov.u32 %r1, 1;"
name="caret"
if [ "$(sed -n 3p err)" = "$(printf '\t        ^')" ]; then ok; else bad "$(sed -n 3p err)"; fi
run "max-errors" 1 --max-errors=2 bad.ptx
name="max-errors"
if [ "$(grep -c ': error: ' err)" -eq 2 ]; then ok; else bad "$(grep -c ': error: ' err) errors, expected 2"; fi
awk 'BEGIN { print ".version 8.0\n.target sm_90\n.visible .entry k()\n{"; for (k = 0; k < 50; k++) print "mov.u32 %q" k ", 1;"; print "}" }' >many.ptx
run "20 errors by default" 1 many.ptx
name="20 errors by default"
if [ "$(grep -c ': error: ' err)" -eq 20 ]; then ok; else bad "$(grep -c ': error: ' err) errors"; fi
run "max-errors=0 is all" 1 --max-errors=0 many.ptx
name="max-errors=0 is all"
if [ "$(grep -c ': error: ' err)" -eq 50 ]; then ok; else bad "$(grep -c ': error: ' err) errors"; fi
run "errors as JSON" 1 --diagnostics=json bad.ptx
json err lines
says err '"severity":"error","file":"bad.ptx","line":6,"column":10,"message":"'
lines err 3
printf '.version 8.0\n.target sm_90\n.visible .entry k()\n{\n\t.pragma "a\\"\001;\n\tmov.u32 %%r\303\244, 1;\n}\n' >odd.ptx
run "odd bytes in errors as JSON" 1 --diagnostics=json odd.ptx
json err lines
cp bad.ptx 'a "name" \ with.ptx'
run "odd file names as JSON" 1 --diagnostics=json 'a "name" \ with.ptx'
json err lines
run "text is the default" 1 --diagnostics=text bad.ptx
says err "bad.ptx:6:10: error:"
printf '.version 8.0\n.target sm_90\n.visible .entry k()\n{\n\tnosuch.u32 1;\n}\n' >unknown.ptx
run "unknown instructions are a warning" 0 unknown.ptx -o unknown.out
says err "unknown.ptx:5:2: warning:"

# -- Limits -------------------------------------------------------------------------------------------------------------

run "max-insns" 4 --max-insns=3 good.ptx -o limited.ptx
says err "max-insns"
absent limited.ptx
run "max-insns is enough" 0 --max-insns=8 good.ptx
echo precious >old.ptx
awk 'BEGIN {
    print ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<20000>;"
    for (k = 1; k < 20000; k++)
        print "mov.u32 %r" k ", " k ";"
    print "ret;\n}"
}' >big.ptx
run "max-memory" 4 --max-memory=100K big.ptx -o old.ptx
says err "memory"
same old.ptx old.copy
clean
run "max-memory is enough" 0 --max-memory=1G big.ptx -o limited.ptx

# functions N: prints a module of N functions of some 100 instructions each.
functions() {
    awk -v n="$1" 'BEGIN {
        print ".version 8.0\n.target sm_90\n.address_size 64"
        for (f = 0; f < n; f++) {
            print ".visible .entry f" f "(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<101>;\nld.param.u64 %rd1, [p];\nmov.u32 %r0, " f ";"
            for (k = 1; k <= 100; k++)
                print "mad.lo.s32 %r" k ", %r" k - 1 ", %r" int(k / 2) ", " k ";"
            print "st.global.u32 [%rd1], %r100;\nret;\n}"
        }
    }'
}
# labels N: prints two functions with the same N labels and registers.
labels() {
    awk -v n="$1" 'BEGIN {
        print ".version 8.0\n.target sm_90\n.address_size 64"
        for (f = 0; f < 2; f++) {
            print ".visible .entry f" f "(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<" n + 1 ">;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r0, [%rd1];\nsetp.eq.u32 %p1, %r0, 1;"
            for (k = 1; k <= n; k++)
                print "@%p1 bra $L" k + 1 ";\nadd.u32 %r" k ", %r" k - 1 ", " k ";\nst.global.u32 [%rd1], %r" k ";\n$L" k ":"
            print "$L" n + 1 ":\nret;\n}"
        }
    }'
}
labels 6000 >labels.ptx
run "large functions in one piece" 0 -O0 labels.ptx -o whole.ptx
run "large functions in pieces" 0 -O0 --piece=1 labels.ptx -o pieces.ptx
same pieces.ptx whole.ptx
sed '$d' labels.ptx >label.ptx
echo 'bra $L6002; }' >>label.ptx
run "an error after a large function" 1 --piece=1 label.ptx -o pieces.ptx
says err "label '\$L6002' is not defined"
# A limit for the module suffices for one of twice the length: memory hardly grows with the module.
functions 300 >functions.ptx
functions 600 >more.ptx
run "a whole module is too much" 4 --max-memory=3M --piece=8M functions.ptx -o limited3.ptx
absent limited3.ptx
run "a module in default pieces" 0 --max-memory=6M more.ptx -o pieces.ptx
run "dumps keep the whole module" 4 --max-memory=6M --print-after=NOP --filter-funcs=f0 more.ptx -o limited3.ptx
absent limited3.ptx
clean
run "a module without a limit" 0 functions.ptx -o whole.ptx
for threads in 1 4; do
    run "a module in pieces on $threads threads" 0 --max-memory=3M --piece=16K -j$threads functions.ptx -o pieces.ptx
    same pieces.ptx whole.ptx
    run "a longer one on $threads threads" 0 --max-memory=3M --piece=16K -j$threads more.ptx -o pieces.ptx
    clean
done
run "max-time" 4 --max-time=0.000001 big.ptx -o limited2.ptx
says err "time"
absent limited2.ptx
run "max-time is enough" 0 --max-time=100 big.ptx -o limited2.ptx

# -- Hostile input: a message, an exit code, no output ------------------------------------------------------------------

# refused NAME FILE: checks exit 1 with a position, and no output.
refused() {
    run "$1" 1 "$2" -o refused.ptx
    absent refused.ptx
    if grep -Eq "^$2:[0-9]+:[0-9]+: error: " err; then ok; else bad "no error with a position: $(head -n 1 err | cut -c1-150)"; fi
    if [ "$(wc -c <err)" -lt 20000 ]; then ok; else bad "$(wc -c <err) bytes of messages"; fi
}

: >empty.ptx
refused "empty file" empty.ptx
name="empty standard input"
"$ORIOPT" - </dev/null >out 2>err
[ $? -eq 1 ] && ok || bad "exit code"
printf 'x' >one.txt
refused "one byte" one.txt
printf '\000' >nul.txt
refused "one NUL byte" nul.txt
awk 'BEGIN { for (k = 0; k < 5000; k++) printf "\n" }' >newlines.txt
refused "only line ends" newlines.txt

header='.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n'
# repeat N TEXT: prints TEXT N times.
repeat() { awk -v n="$1" -v t="$2" 'BEGIN { s = t; while (length(s) < 4096) s = s t; m = length(s) / length(t); for (k = 0; k + m <= n; k += m) printf "%s", s; for (; k < n; k++) printf "%s", t }'; }
{ printf "$header"; repeat 1000000 '{'; } >braces.ptx
refused "a million braces" braces.ptx
{ printf "$header"; repeat 1000000 '{'; repeat 1000000 '}'; printf '\nret;\n}\n'; } >balanced.ptx
run "a million braces, balanced" 0 balanced.ptx -o balanced.out
{ printf "$header"; repeat 1000000 '}'; } >closing.ptx
refused "a million closing braces" closing.ptx
{ printf "$header.reg .b32 r;\nmov.u32 r, "; repeat 1000000 '('; } >parentheses.ptx
refused "a million parentheses" parentheses.ptx
{ printf "$header.reg .b32 r;\nmov.u32 r, "; repeat 1000000 '-'; } >minus.ptx
refused "a million signs" minus.ptx
{ printf "$header.reg .b32 r;\nmov.u32 r, 1"; repeat 200000 '?1:1'; printf ';\nret;\n}\n'; } >ternary.ptx
refused "many conditional operators" ternary.ptx
{ printf "$header.reg .b32 r;\nmov.u32 r, 1"; repeat 200000 '+1'; printf ';\nret;\n}\n'; } >sum.ptx
run "a long sum" 0 sum.ptx -o sum.out
{ printf "$header.reg .b32 r;\nld.u32 r, "; repeat 1000000 '['; } >brackets.ptx
refused "a million brackets" brackets.ptx
{ printf ".version 8.0\n.target sm_90\n.global .u32 a[2] = "; repeat 1000000 '{'; } >init.ptx
refused "a million braces of an initializer" init.ptx
{ printf ".version 8.0\n.target sm_90\n.global .u32 a"; repeat 1000000 '[1]'; printf ';\n'; } >dims.ptx
refused "a million dimensions" dims.ptx
{ printf "$header"; repeat 1000000 'x'; printf ' 1;\nret;\n}\n'; } >word.ptx
run "a mnemonic of a million letters" 0 --emit=none word.ptx
{ printf "$header.reg .b32 "; repeat 1000000 'x'; printf ';\nret;\n}\n'; } >longname.ptx
run "a name of a million letters" 0 longname.ptx -o longname.out
{ printf "$header.pragma \""; repeat 1000000 'x'; printf '";\nret;\n}\n'; } >pragma.ptx
refused "a pragma of a million letters" pragma.ptx
{ printf "$header.reg .b32 r;\nmov.u32 r, "; repeat 1000000 '9'; printf ';\nret;\n}\n'; } >digits.ptx
refused "a million digits" digits.ptx
{ printf ".version 8.0\n.target sm_90\n.global .u64 a[1099511627776][1099511627776];\n"; } >huge.ptx
refused "an array of 2^80 elements" huge.ptx
{ printf ".version 8.0\n.target sm_90\n.global .u64 a[1099511627776] = {1};\n"; } >sparse.ptx
run "an array of 2^40 elements with one value" 0 --max-memory=64M sparse.ptx -o sparse.out
{ printf ".version 8.0\n.target sm_90\n.global .u8 a[1073741824][2] = {{1}, {1}};\n"; } >sparse2.ptx
run "a partial initializer" 0 --max-memory=64M sparse2.ptx -o sparse.out
{ printf ".version 8.0\n.target sm_90\n.global .u8 a[2][1073741824] = {{1}, {1}};\n"; } >sparse3.ptx
run "an initializer that would have a large gap in C" 0 --max-memory=64M sparse3.ptx -o gap.out
{ printf "${header}.reg .b32 %%r<16000000>;\nmov.u32 %%r15999999, 1;\nret;\n}\n"; } >registers.ptx
run "16 million registers, one used" 0 registers.ptx -o registers.out
{ printf "$header.reg .b32 r;\n/"; repeat 1000000 '*'; } >stars.ptx
refused "a comment of a million stars" stars.ptx
awk 'BEGIN { srand(7); for (k = 0; k < 100000; k++) printf "%c", 1 + int(rand() * 254) }' >random.txt
refused "random bytes" random.txt

# Truncations of a file that uses most of the syntax: no crash, and exit 0 or 1.
cat "$tests/golden/read/call-sequence.ptx" "$tests/golden/read/comments-everywhere.ptx" "$tests/golden/read/init-address-masks.ptx" 2>/dev/null |
    grep -v '^//' >whole.ptx
size=$(wc -c <whole.ptx)
name="truncated file"
at=0
wrong=
while [ "$at" -lt "$size" ]; do
    head -c $at whole.ptx >cut.ptx
    "$ORIOPT" cut.ptx -o cut.out 2>err
    case $? in
    0) rm -f cut.out ;;
    1) [ ! -e cut.out ] && [ -s err ] || wrong="$wrong $at:left" ;;
    *) wrong="$wrong $at" ;;
    esac
    at=$((at + 13))
done
if [ -z "$wrong" ]; then ok; else bad "crash or wrong exit code when cut at$wrong"; fi
# Changes of one byte.
name="damaged file"
at=0
wrong=
while [ "$at" -lt "$size" ]; do
    { head -c $at whole.ptx; printf '\377'; tail -c +$((at + 2)) whole.ptx; } >cut.ptx
    "$ORIOPT" cut.ptx -o cut.out 2>err
    case $? in
    0 | 1) rm -f cut.out ;;
    *) wrong="$wrong $at" ;;
    esac
    at=$((at + 29))
done
if [ -z "$wrong" ]; then ok; else bad "crash or wrong exit code with a bad byte at$wrong"; fi
clean

finish
