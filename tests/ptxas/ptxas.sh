#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ptxas.sh: checks that ptxas accepts the output of oriopt for real PTX.
#
#   tests/ptxas/ptxas.sh [--compare] [--tree] [--quick] [-j N] [--keep DIR] [--list] [FILES...]
#
# Makes all real PTX that the tools of this machine can make, and checks for each file that
#   1. `oriopt -O3` succeeds,
#   2. a second run gives the same bytes,
#   3. ptxas accepts the output with the flags of the input,
#   4. oriopt on its own output reaches a fixed point after at most four runs,
#   5. the way through Ori text (PTX, Ori text, PTX) gives the bytes of the direct one, and Ori text is a fixed point,
#   6. continuing with a clone and with the reread text after each phase gives the same bytes, verified each time.
# With --compare it also compares the SASS of input and output (instructions and registers per function):
#   nop   for `--named-phases NOP` both equal the input's; exceptions are in tests/ptxas/real/nop-exceptions.txt,
#   sass  at ptxas -O3 no function of PTX from nvcc -O3 has more than max(1 %, 2 instructions) or 2 registers more than
#         before; before, a function has the code of those that are inlined into it, too.
#         Exceptions are in tests/ptxas/real/sass-exceptions.txt: at most 1 % of these functions, and no row
#         without effect. A table shows the totals and the ten worst functions. A function that is longer by more than
#         a quarter, but within these limits at -O1, is only listed: ptxas unrolls a loop that it did not unroll before.
#         No function of other PTX is worse by more than max(3 %, 8 instructions) or, unless a twentieth of its
#         instructions is gone, 2 registers. It is worse only if it is also worse at ptxas -O1, where ptxas does not
#         unroll. The sums of all inputs are no worse.
# A second run of oriopt on its own output changes at most 1 % of the files of PTX from nvcc -O3.
#
# --tree: only PTX in the tree. --quick: fewer of each. FILES (.cu .cl .c .cpp .ptx, folders of .ptx from nvcc -O3)
# replace the whole corpus:
#   samples/*.cu                        nvcc: five targets, -Xcicc -O0 (also with -lineinfo), -rdc=true, -lineinfo, -G
#   tests/ptxas/real/*.cu               nvcc, fewer targets; toolkit headers (cub, cuda::std, ...), newest instructions
#   samples/ptx samples/handwritten tests/ptxas/real: *.ptx      unchanged
#   tests/ptxas/real/*.cl *.c *.cpp     clang -O0 and -O2, then llc
#   llvm-stress                         many seeds through llc
#   libdevice.10.bc of the toolkit      through llc
#   tests/bench/gen.c                   the generator of the benchmarks
#   $ORI_CORPUS                         a folder of .ptx from nvcc -O3 (tests/bench/corpus.sh makes one)
# Files of such folders get only checks 1 to 4 and sass.
# Comments in a source: `// flags: ...` (more flags for nvcc), `// min-arch: sm_NN` (with a letter: only this target),
# `// ptxas: ...` (flags for ptxas). An input that ptxas rejects is not counted, but listed as skipped with the reason.
#
# Environment: ORIOPT (default build/oriopt), ORI_CORPUS (a folder, see above), ORI_PTX_CACHE (default build/ptx-cache:
# compiled inputs by hash of source and flags, ptxas verdicts by hash of PTX and flags), ORI_TIMEOUT (seconds for one
# run of oriopt, default 120), ORI_STRESS (seeds, default 100). Files of failures are kept in build/ptxas-fail/. --keep
# DIR keeps those of every input, --list only names the inputs.

set -u
LC_ALL=C
export LC_ALL
tab=$(printf '\t')

# settles: true if runs 2 to 4 reach a fixed point. One run may not, because a phase can enable an earlier phase.
settles() {
    changes=1
    cmp -s "$work/out.ptx" "$work/fixed.ptx" && changes=0
    cp "$work/out.ptx" "$work/before.ptx"
    for turn in 2 3 4; do
        cmp -s "$work/before.ptx" "$work/fixed.ptx" && return
        mv "$work/fixed.ptx" "$work/before.ptx"
        run_oriopt before.ptx fixed.ptx -O3 || return
    done
}

# -- Small helpers ----------------------------------------------------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }

# first NAME...: prints the first program that is on the PATH.
first() {
    for prog; do
        have "$prog" && echo "$prog" && return
    done
    return 1
}

hash_stdin() {
    if have sha256sum; then sha256sum; elif have shasum; then shasum -a 256; else cksum; fi | cut -d' ' -f1 | cut -c1-40
}

# limit SECONDS COMMAND...: runs a command with a time limit, if timeout(1) exists.
limit() {
    limit_s=$1
    shift
    if have timeout; then timeout "$limit_s" "$@"; else "$@"; fi
}

# comment NAME FILE: prints the texts after `// NAME:`.
comment() { sed -n "s|^//[[:space:]]*$1:[[:space:]]*||p" "$2" 2>/dev/null | tr -d '\r' | tr '\n' ' '; }

# -- The worker: one input -------------------------------------------------------------------------------------------

# Part of the cache's keys; increment it with a change of the recipes below.
recipes=2

# make_input: makes $work/in.ptx from $kind $src $flags; false with the reason in $work/msg.
make_input() {
    case $kind in
    file) cp "$src" "$work/in.ptx" && return ;;
    stress) key=$(printf '%s\n' "stress $recipes $src $flags $PX_LLVM" | hash_stdin) ;;
    *) key=$( (printf '%s\n' "$kind $recipes $flags $PX_NVCC $PX_LLVM"; cat "$src"; cat "$(dirname "$src")"/*.h "$(dirname "$src")"/*.cuh 2>/dev/null) | hash_stdin) ;;
    esac
    made=$ORI_PTX_CACHE/in/$key
    if [ ! -f "$made.ptx" ] && [ ! -f "$made.no" ]; then
        t=$work/made
        case $kind in
        nvcc) nvcc -ptx $flags -o "$t.ptx" "$src" 2>"$t.err" ;;
        clang) # flags: language, standard, clang level, llc level, cpu
            set -- $flags
            std=
            [ "$2" != - ] && std=-$2
            "$PX_CLANG" -x "$1" $std -target nvptx64-nvidia-cuda -fno-exceptions -fno-rtti -fno-threadsafe-statics "$3" -S -emit-llvm -o "$t.ll" "$src" 2>"$t.err" &&
                "$PX_LLC" "$4" -march=nvptx64 "-mcpu=$5" -o "$t.ptx" "$t.ll" 2>>"$t.err" ;;
        stress) # src: seed, flags: size, llc level, cpu
            set -- $flags
            "$PX_STRESS" -seed "$src" -size "$1" -o "$t.ll" 2>"$t.err" &&
                (limit 60 "$PX_LLC" "$2" -march=nvptx64 "-mcpu=$3" -o "$t.ptx" "$t.ll") 2>>"$t.err" ;;
        bitcode) # flags: llc level, cpu; names with dots are not PTX
            set -- $flags
            "$PX_LLC" "$1" -march=nvptx64 "-mcpu=$2" -o "$t.raw" "$src" 2>"$t.err" &&
                sed -e ':a' -e 's/\(llvm[A-Za-z0-9_]*\)\.\([A-Za-z0-9]\)/\1_\2/' -e 'ta' "$t.raw" >"$t.ptx" ;;
        gen) "$PX_GEN" $flags >"$t.ptx" 2>"$t.err" ;;
        esac
        if [ $? -eq 0 ] && [ -s "$t.ptx" ]; then
            mv "$t.ptx" "$made.ptx.$$" && mv "$made.ptx.$$" "$made.ptx"
        else
            (grep -E 'rror|fatal|FATAL' "$t.err" || cat "$t.err" || echo 'no output') 2>/dev/null | head -n 3 >"$made.no.$$"
            mv "$made.no.$$" "$made.no"
        fi
        rm -f "$t".*
    fi
    if [ -f "$made.ptx" ]; then
        cp "$made.ptx" "$work/in.ptx"
    else
        cp "$made.no" "$work/msg"
        false
    fi
}

# assemble FILE COUNTS: runs ptxas $pflags on $work/FILE; $work/COUNTS gets the lines of sasscount; false with
# $work/msg.
assemble() {
    key=$( (printf '%s\n' "$pflags $PX_PTXAS"; cat "$work/$1") | hash_stdin)
    seen=$ORI_PTX_CACHE/as/$key
    if [ ! -f "$seen.ok" ] && [ ! -f "$seen.no" ]; then
        (cd "$work" && limit 900 ptxas $pflags -o made.cubin "$1" >made.log 2>&1)
        rc=$?
        if [ $rc -eq 0 ]; then
            if ! (cd "$work" && "$PX_COUNT" made.cubin) >"$seen.$$" 2>"$work/msg"; then
                rm -f "$seen.$$"
                return 1
            fi
            mv "$seen.$$" "$seen.ok"
        else
            (grep -E 'rror|fatal' "$work/made.log" || cat "$work/made.log") | head -n 8 >"$work/msg"
            if [ $rc -gt 1 ] && [ $rc -ne 255 ]; then # killed, crashed or out of time: report it, but do not cache it
                echo "ptxas: exit status $rc" >>"$work/msg"
                return 1
            fi
            cp "$work/msg" "$seen.$$" && mv "$seen.$$" "$seen.no"
        fi
    fi
    if [ -f "$seen.ok" ]; then cp "$seen.ok" "$work/$2"; else
        cp "$seen.no" "$work/msg"
        false
    fi
}

# run_oriopt IN OUT ARGS...: runs oriopt; false with $work/msg.
run_oriopt() {
    from=$1 to=$2
    shift 2
    (limit "${ORI_TIMEOUT:-120}" "$ORIOPT" "$@" "$work/$from" -o "$work/$to") >"$work/log" 2>&1
    rc=$?
    [ $rc -eq 0 ] && [ -f "$work/$to" ] && return
    (cat "$work/log"; echo "oriopt: exit status $rc") | awk 'NR<=6{print} {last=$0} END{if(NR>6)print last}' >"$work/msg"
    false
}

# list_inlined: writes the calls that the remarks say are inlined to $work/inlined, as lines `caller callee`.
list_inlined() {
    : >>"$work/remarks"
    tr -d "'" <"$work/remarks" | awk -F ': *' '
        /^Name/ { inlined = $2 == "Inlined" }
        /^Function/ { caller = $2 }
        /- Callee/ && inlined && !seen[caller, $2]++ { print caller, $2 }' >"$work/inlined"
}

# fail STEP: reports a failure and keeps its files.
fail() {
    {
        echo "FAIL $id: $1"
        [ -n "$pflags" ] && echo "     ptxas $pflags"
        head -n 12 "$work/msg" | cut -c1-300 | sed 's/^/     /'
    } >>"$result"
    mkdir -p "$PX_FAIL/$name"
    cp "$work"/*.ptx "$work"/*.ori "$work"/*.count "$PX_FAIL/$name/" 2>/dev/null
    {
        printf 'id: %s\nstep: %s\nsource: %s %s %s\nptxas %s\n' "$id" "$1" "$kind" "$src" "$flags" "$pflags"
        cat "$work/msg"
    } >>"$PX_FAIL/$name/message.txt"
}

# excepted KIND FUNCTION: prints the row of this input and function in the exceptions; false if there is none.
excepted() {
    [ -f "tests/ptxas/real/$1-exceptions.txt" ] || return 1
    while read -r ex_id ex_fn ex_cause; do
        case $ex_id in '' | \#*) continue ;; esac
        # the globs of a row must stay unquoted
        case $id in $ex_id) case $2 in $ex_fn)
            echo "$ex_id $ex_fn $ex_cause"
            return 0
            ;; esac ;; esac
    done <"tests/ptxas/real/$1-exceptions.txt"
    return 1
}

# judge KIND MESSAGE: reports the functions in $work/diff, except listed exceptions of this kind.
judge() {
    : >"$work/msg"
    while read -r fn ai ar bi br; do
        if row=$(excepted "$1" "$fn"); then
            echo "EXCEPTION $id: $1: $fn: instructions $ai -> $bi, registers $ar -> $br: ${row#* * }" >>"$result"
            echo "USED $1 $row" >>"$result"
        else
            echo "$fn: instructions $ai -> $bi, registers $ar -> $br" >>"$work/msg"
        fi
    done <"$work/diff"
    if [ -s "$work/msg" ]; then fail "$1: $2"; else echo "PASS $id: $1" >>"$result"; fi
}

# True if nvcc -O3 made the input.
from_nvcc_O3() {
    case $group in nvcc | nvcc-ptx | rdc | lineinfo | corpus) ;; *) false ;; esac
}

# compare A B INSNS PERCENT REGS KEPT: prints the functions of $work/B worse than those of $work/A, as lines `name insns
# regs insns regs`; INSNS < 0: any difference counts. More registers count only if at least KEPT % of the instructions
# are left. An entry that is only in A counts too (a device function may be inlined). A function of A has the code of
# those functions, too, whose calls $work/inlined lists (lines `caller callee`): once each, as if it were no copy.
compare() {
    sed -n 's/.*\.entry[[:space:]]\{1,\}\([A-Za-z0-9_$%]*\).*/\1/p' "$work/in.ptx" >"$work/entries"
    awk -v insns="$3" -v percent="$4" -v regs="$5" -v kept="$6" '
        # adds what is inlined into f
        function add_inlined(f,    callees, n, k) {
            n = split(into[f], callees)
            for (k = 1; k <= n; k++) {
                if (callees[k] in seen) continue
                seen[callees[k]] = 1
                code += ai[callees[k]]
                if (ar[callees[k]] > most) most = ar[callees[k]]
                add_inlined(callees[k])
            }
        }
        FILENAME ~ /entries$/ { entry[$1] = 1; next }
        FILENAME ~ /inlined$/ { into[$1] = into[$1] " " $2; next }
        FILENAME ~ /\/in\.count$/ { ai[$1] += $2; ar[$1] = $3; next }
        { bi[$1] += $2; br[$1] = $3 }
        END {
            for (f in ai) {
                if (!(f in bi)) {
                    if (insns < 0 || f in entry) print f, ai[f], ar[f], "-", "-"
                    continue
                }
                code = ai[f]
                most = ar[f]
                if (insns >= 0) {
                    split("", seen)
                    seen[f] = 1
                    add_inlined(f)
                }
                slack = code * percent / 100
                if (slack < insns) slack = insns
                # values promoted from the stack, and values computed once, need registers
                more = br[f] > most + regs && bi[f] > code * kept / 100
                if (insns < 0 ? code != bi[f] || most != br[f] : bi[f] > code + slack || more)
                    print f, ai[f], ar[f], bi[f], br[f]
            }
            for (f in bi)
                if (insns < 0 && !(f in ai)) print f, "-", "-", bi[f], br[f]
        }' "$work/entries" "$work/inlined" "$work/$1" "$work/$2" | sort
}

# same_unrolling GROWTH INSNS PERCENT REGS KEPT: removes functions from $work/diff that have more than GROWTH % more
# instructions, and are not worse than the other limits, those of compare(), at ptxas -O1. ptxas decides the unrolling of a
# loop before it removes dead code, so a shorter input may become longer. Counts are comparable only with equal unrolling.
same_unrolling() {
    growth=$1
    shift
    full=$pflags
    pflags="$pflags -O1"
    if assemble in.ptx in1.count && assemble out.ptx out1.count; then
        # compare() depends on the name in.count
        mv "$work/in.count" "$work/in3.count" && cp "$work/in1.count" "$work/in.count"
        compare in.count out1.count "$@" >"$work/diff1"
        mv "$work/in3.count" "$work/in.count"
        awk -v growth="$growth" -v id="$id" -v kept="$work/diff2" '
            FILENAME ~ /diff1$/ { worse[$1] = 1; next }
            $1 in worse || $4 * 100 <= $2 * (100 + growth) { print >kept; next }
            growth > 0 { print "UNROLLED " id ": " $1 ": instructions " $2 " -> " $4 ", registers " $3 " -> " $5 }' \
            "$work/diff1" "$work/diff" >>"$result"
        : >>"$work/diff2"
        mv "$work/diff2" "$work/diff"
    fi
    pflags=$full
}

# nop_checks: runs the nop check of one input.
nop_checks() {
    if ! run_oriopt in.ptx nop.ptx --named-phases NOP; then
        fail 'nop: oriopt --named-phases NOP'
    elif ! assemble nop.ptx nop.count; then
        fail 'nop: ptxas rejects the output of --named-phases NOP'
    else
        compare in.count nop.count -1 0 0 0 >"$work/diff"
        judge nop "the SASS differs from the input's"
    fi
}

# sass_checks: runs the sass check of one input.
sass_checks() {
    if from_nvcc_O3; then
        compare in.count out.count 2 1 2 0 >"$work/diff"
        [ -s "$work/diff" ] && same_unrolling 25 2 1 2 0
        awk -v id="$id" '
            FILENAME ~ /\/in\.count$/ { i[$1] += $2; r[$1] = $3; next }
            $1 in i { print "FUNC", i[$1], r[$1], $2, $3, id, $1 }' "$work/in.count" "$work/out.count" >>"$result"
    else
        compare in.count out.count 8 3 2 95 >"$work/diff"
        [ -s "$work/diff" ] && same_unrolling -100 8 3 2 95
    fi
    judge sass 'worse than the input'
    # only functions in both, so that inlined functions are no gain
    awk -v group="$group" '
        FILENAME ~ /\/in\.count$/ { i[$1] += $2; r[$1] = $3; next }
        FILENAME ~ /\/nop\.count$/ { if ($1 in i) { ni += $2; nr += $3 } next }
        $1 in i { n++; ii += i[$1]; ir += r[$1]; oi += $2; or += $3 }
        END { print "SUM", group, n + 0, ii + 0, ir + 0, ni + 0, nr + 0, oi + 0, or + 0 }' \
        "$work/in.count" "$([ -f "$work/nop.count" ] && echo "$work/nop.count" || echo /dev/null)" "$work/out.count" >>"$result"
}

# ori_checks: runs checks 5 and 6 of one input.
ori_checks() {
    if ! run_oriopt in.ptx straight.ptx --named-phases NOP ||
        ! run_oriopt in.ptx in.ori --named-phases NOP --emit=ori ||
        ! run_oriopt in.ori again.ori --named-phases NOP ||
        ! run_oriopt in.ori through.ptx --named-phases NOP --emit=ptx; then
        fail 'ori: PTX to Ori text and back'
    elif ! cmp "$work/in.ori" "$work/again.ori" >"$work/msg" 2>&1; then
        fail 'ori: reading and printing Ori text gives other bytes'
    elif ! cmp -s "$work/straight.ptx" "$work/through.ptx"; then
        diff "$work/straight.ptx" "$work/through.ptx" >"$work/msg" 2>&1
        fail 'ori: the way through Ori text gives other PTX'
    elif ! assemble through.ptx through.count; then
        fail 'ori: ptxas rejects what came through Ori text'
    elif ! run_oriopt in.ptx checked.ptx -O3 --self-check=clone,roundtrip,contracts --verify=each; then
        fail 'ori: --self-check'
    elif ! cmp -s "$work/out.ptx" "$work/checked.ptx"; then
        diff "$work/out.ptx" "$work/checked.ptx" >"$work/msg" 2>&1
        fail 'ori: --self-check gives other PTX'
    else
        echo "PASS $id: ori" >>"$result"
    fi
}

# checks: runs all checks of one input, whose fields are set.
checks() {
    if ! make_input; then
        echo "SKIP $id: not made: $(head -n 1 "$work/msg" | cut -c1-150)" >>"$result"
        return
    fi
    extra=$(comment ptxas "$work/in.ptx")
    [ -n "$extra" ] && pflags="$pflags $extra"
    target=$(sed -n 's/^[[:space:]]*\.target[[:space:]]\{1,\}\([^[:space:]/]*.*\)/\1/p' "$work/in.ptx" | tr -d '\r' | head -n 1)
    case $pflags in *-arch* | *gpu-name*) ;; *)
        arch=${target%%[!a-z0-9_]*}
        num=${arch#sm_}
        num=${num%[af]}
        case $num in '' | *[!0-9]*) num=0 ;; esac
        [ "$num" -lt "$PX_MIN" ] && arch=sm_$PX_MIN
        pflags="-arch=$arch $pflags"
        ;;
    esac
    case " $pflags " in *' -g '*) ;; *) case $target in *debug*) pflags="$pflags -g -O0" ;; esac ;; esac
    if ! assemble in.ptx in.count; then
        reason=$(head -n 1 "$work/msg" | cut -c1-150)
        pflags="$pflags -c" # it may be only a part of a program
        if [ "$kind" != file ] || ! assemble in.ptx in.count; then
            echo "SKIP $id: ptxas rejects the input: $reason" >>"$result"
            return
        fi
    fi
    if ! run_oriopt in.ptx out.ptx -O3; then
        fail 'oriopt -O3'
    elif ! run_oriopt in.ptx again.ptx -O3 "--remarks=$work/remarks" --remarks-filter=OriInline; then
        fail 'oriopt -O3, second run, with remarks'
    elif ! cmp "$work/out.ptx" "$work/again.ptx" >"$work/msg" 2>&1; then
        fail 'a second run gives other bytes'
    elif ! assemble out.ptx out.count; then
        fail 'ptxas rejects the output'
    elif ! run_oriopt out.ptx fixed.ptx -O3 || ! settles; then
        fail 'oriopt -O3 on its own output'
    elif ! cmp -s "$work/before.ptx" "$work/fixed.ptx"; then
        diff "$work/before.ptx" "$work/fixed.ptx" >"$work/msg" 2>&1
        fail 'oriopt does not stop changing its own output'
    else
        echo "PASS $id" >>"$result"
    fi
    if [ -f "$work/fixed.ptx" ] && from_nvcc_O3; then
        echo "SECOND $changes $id" >>"$result"
    fi
    list_inlined
    [ "$group" = corpus ] || ori_checks
    [ "$PX_COMPARE" = 1 ] && [ -f "$work/out.count" ] || return
    [ "$group" = corpus ] || nop_checks
    sass_checks
}

if [ "${1-}" = --worker ]; then # argument: a line number of $PX_TMP/inputs; all else comes from the environment
    result=$PX_TMP/result/$2
    IFS=$tab read -r id group kind src flags pflags <<EOF
$(sed -n "$2p" "$PX_TMP/inputs" | tr '~' ' ')
EOF
    [ "$flags" = - ] && flags=
    [ "$pflags" = - ] && pflags=
    name=$(printf '%s' "$id" | tr '/ ' '__')
    work=$PX_TMP/work/$2
    mkdir -p "$work"
    checks
    [ -n "$PX_KEEP" ] && mkdir -p "$PX_KEEP/$name" && cp "$work"/*.ptx "$work"/*.count "$PX_KEEP/$name/" 2>/dev/null
    rm -rf "$work"
    exit 0
fi

# -- The list of inputs -----------------------------------------------------------------------------------------------

# input ID GROUP KIND SRC FLAGS PTXAS-FLAGS: adds one line, fields by tabs, blanks inside a field as ~.
input() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:--}" "${6:--}" | tr ' ' '~' >>"$PX_TMP/inputs"; }

# arch_list FILE DEFAULTS: prints the default targets that the file's min-arch permits.
arch_list() {
    min=$(comment min-arch "$1")
    min=${min%% *}
    case $min in
    '') echo "$2" ;;
    *[a-z]) echo "${min#sm_}" ;;
    *)
        list=
        for arch in $2; do
            [ "$arch" -ge "${min#sm_}" ] && list="$list $arch"
        done
        echo "${list:-${min#sm_}}"
        ;;
    esac
}

# nvcc_input FILE TARGET VARIANT: adds one compilation by nvcc.
nvcc_input() {
    more=$(comment flags "$1") to=$(comment ptxas "$1")
    case $3 in
    -) group=nvcc add= ;;
    O0) group=nvcc-O0 add='-Xcicc -O0' ;;
    O0-lineinfo) group=nvcc-O0 add='-Xcicc -O0 -lineinfo' to="$to -lineinfo" ;;
    rdc) group=rdc add='-rdc=true' to="$to -c" ;;
    lineinfo) group=lineinfo add='-lineinfo' to="$to -lineinfo" ;;
    G) group=debug add='-G' to="$to -g -O0" ;;
    esac
    case " $more " in *-rdc=true* | *' -dc '*) to="$to -c" ;; esac
    v=
    [ "$3" = - ] || v=-$3
    input "$1@sm_$2$v" $group nvcc "$1" "-arch=sm_$2 $add $more" "$to"
}

# cu_inputs FILE DEFAULT-TARGETS: adds every variant of a .cu; with --quick a few of them in turn.
cu_inputs() {
    set -- "$1" $(arch_list "$1" "$2")
    file=$1
    shift
    lo=$1
    hi=$1 mid=$1
    for arch; do hi=$arch; done
    [ $# -gt 3 ] && mid=$2
    if [ "$quick" = 1 ]; then
        nvcc_input "$file" "$mid" -
        [ $((ncu % 4)) -eq 0 ] && nvcc_input "$file" "$mid" O0
        [ $((ncu % 4)) -eq 2 ] && nvcc_input "$file" "$mid" O0-lineinfo
        [ $((ncu % 5)) -eq 0 ] && nvcc_input "$file" "$hi" rdc
        [ $((ncu % 5)) -eq 1 ] && nvcc_input "$file" "$mid" G
        [ $((ncu % 5)) -eq 2 ] && nvcc_input "$file" "$hi" lineinfo
        [ $((ncu % 5)) -eq 3 ] && nvcc_input "$file" "$hi" -
        ncu=$((ncu + 1))
        return
    fi
    for arch; do nvcc_input "$file" "$arch" -; done
    nvcc_input "$file" "$lo" O0
    [ "$hi" != "$lo" ] && nvcc_input "$file" "$hi" O0-lineinfo
    nvcc_input "$file" "$mid" rdc
    nvcc_input "$file" "$hi" lineinfo
    nvcc_input "$file" "$mid" G
    [ "$hi" != "$mid" ] && [ $# -gt 3 ] && nvcc_input "$file" "$hi" G
}

# clang_inputs FILE: .cl is OpenCL (kernels); .c and .cpp are device functions, hence ptxas -c
clang_inputs() {
    to=$(comment ptxas "$1")
    case $1 in
    *.cl) lang=cl std=cl-std=CL1.2 ;;
    *.c) lang=c std=std=c11 to="$to -c" ;;
    *) lang=c++ std=std=c++14 to="$to -c" ;;
    esac
    input "$1@clang-O0-llc-O0" clang-O0 clang "$1" "$lang $std -O0 -O0 sm_75" "$to"
    [ "$quick" = 1 ] && return
    input "$1@clang-O0-llc-O2" clang-O0 clang "$1" "$lang $std -O0 -O2 sm_80" "$to"
    input "$1@clang-O1-llc-O0" clang-O1 clang "$1" "$lang $std -O1 -O0 sm_80" "$to"
    input "$1@clang-O2-llc-O2" clang-O2 clang "$1" "$lang $std -O2 -O2 sm_86" "$to"
}

# any_input FILE TARGETS: adds a file or a folder, by its extension.
any_input() {
    if [ -d "$1" ]; then
        for ptx in "$1"/*.ptx; do
            [ -f "$ptx" ] && input "corpus/$(basename "$ptx")" corpus file "$ptx"
        done
        return
    fi
    case $1 in
    samples/ptx/*.sm_*.ptx) input "$1" nvcc-ptx file "$1" ;;
    *.ptx) input "$1" ptx file "$1" ;;
    *.cu) [ $nvcc = 1 ] && cu_inputs "$1" "$2" ;;
    *.cl | *.c | *.cpp) [ $llvm = 1 ] && clang_inputs "$1" ;;
    *) echo "ptxas.sh: $1: neither .ptx nor .cu .cl .c .cpp" >&2 ;;
    esac
}

# Adds the PTX in the tree: the samples by nvcc, and hand-written PTX.
tree_corpus() {
    for f in samples/ptx/*.ptx samples/handwritten/*.ptx tests/ptxas/real/*.ptx; do
        [ -f "$f" ] && any_input "$f" ''
    done
}

corpus() {
    # the slowest compilations first, so that no worker runs them alone at the end
    for f in tests/ptxas/real/*.cu; do
        [ -f "$f" ] || continue
        case $quick$(comment quick "$f") in 1no*) continue ;; esac
        any_input "$f" '80 100'
    done
    for f in samples/*.cu; do
        [ -f "$f" ] && any_input "$f" '75 80 90 100 120'
    done
    for f in samples/ptx/*.ptx samples/handwritten/*.ptx tests/ptxas/real/*.ptx tests/ptxas/real/*.cl tests/ptxas/real/*.c tests/ptxas/real/*.cpp; do
        [ -f "$f" ] || continue
        case $f in samples/ptx/*) # made from samples/*.cu: with --quick and nvcc a few are enough
            nptx=$((nptx + 1))
            [ $quick$nvcc = 11 ] && [ $((nptx % 5)) -ne 1 ] && continue
            ;;
        esac
        any_input "$f" ''
    done
    if [ $llvm = 1 ] && [ -n "$PX_STRESS" ]; then
        seed=1
        seeds=${ORI_STRESS:-100}
        [ "$quick" = 1 ] && seeds=8
        while [ $seed -le "$seeds" ]; do
            # llc -O0 folds least, but cannot select all compares of a long function: such seeds are skipped
            input "stress/$seed-O0" stress stress $seed "$((60 + seed * 37 % 260)) -O0 sm_75" -c
            [ $((seed % 4)) -eq 0 ] && input "stress/$seed-O2" stress stress $seed "$((100 + seed * 40)) -O2 sm_80" -c
            seed=$((seed + 1))
        done
    fi
    if [ $llvm = 1 ] && [ $nvcc = 1 ] && [ "$quick" = 0 ]; then
        bc=$(dirname "$(command -v nvcc)")/../nvvm/libdevice/libdevice.10.bc
        if [ -f "$bc" ]; then
            input libdevice@llc-O0 libdevice bitcode "$bc" '-O0 sm_75' -c
            input libdevice@llc-O2 libdevice bitcode "$bc" '-O2 sm_80' -c
        fi
    fi
    if [ -n "$PX_GEN" ]; then
        for s in 1 2 3; do
            input "gen/module-$s" gen gen tests/bench/gen.c "module 4000 $s"
            input "gen/func-$s" gen gen tests/bench/gen.c "func 3000 $s"
            [ "$quick" = 1 ] && break
        done
    fi
    [ -z "${ORI_CORPUS-}" ] || any_input "$ORI_CORPUS"
}

# -- Arguments and tools ----------------------------------------------------------------------------------------------

usage() {
    echo 'usage: tests/ptxas/ptxas.sh [--compare] [--tree] [--quick] [-j N] [--keep DIR] [--list] [FILES...]' >&2
    exit 2
}

here=$(pwd)
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }

quick=0 tree=0 list=0 jobs='' ncu=0 nptx=0
PX_COMPARE=0 PX_KEEP=
files=
while [ $# -gt 0 ]; do
    case $1 in
    --compare) PX_COMPARE=1 ;;
    --quick) quick=1 ;;
    --tree) tree=1 ;;
    --list) list=1 ;;
    -j) [ $# -ge 2 ] || usage; jobs=$2; shift ;;
    -j*) jobs=${1#-j} ;;
    --keep) [ $# -ge 2 ] || usage; PX_KEEP=$(absolute "$2"); shift ;;
    --keep=*) PX_KEEP=$(absolute "${1#*=}") ;;
    -*) usage ;;
    *) # the name of an input inside the tree is its path from the root
        f=$(absolute "$1")
        files="$files ${f#"$root"/}" ;;
    esac
    shift
done
[ -n "$jobs" ] || jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
case $jobs in '' | *[!0-9]* | 0) usage ;; esac
[ -n "${ORIOPT-}" ] && case $ORIOPT in */*) ORIOPT=$(absolute "$ORIOPT") ;; esac
[ -n "${ORI_CORPUS-}" ] && ORI_CORPUS=$(absolute "$ORI_CORPUS")
[ -n "${ORI_PTX_CACHE-}" ] && ORI_PTX_CACHE=$(absolute "$ORI_PTX_CACHE")
cd "$root" || exit 2
ORIOPT=${ORIOPT:-$root/build/oriopt}
ORI_PTX_CACHE=${ORI_PTX_CACHE:-$root/build/ptx-cache}

if ! have ptxas; then
    echo 'SKIP ptxas.sh: ptxas not found'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
if [ $list = 0 ] && ! have "$ORIOPT"; then
    echo "FAIL ptxas.sh: no oriopt (run make, or set ORIOPT)"
    echo '0 passed, 1 failed, 0 skipped'
    exit 1
fi
missing=0
nvcc=1
[ $tree = 1 ] || have nvcc || {
    echo 'SKIP ptxas.sh: nvcc not found: no .cu is compiled'
    nvcc=0 missing=$((missing + 1))
}
PX_CLANG=$(first clang-14 clang clang-19 clang-18 clang-17 clang-16 clang-15)
PX_LLC=$(first llc-14 llc llc-19 llc-18 llc-17 llc-16 llc-15)
PX_STRESS=$(first llvm-stress-14 llvm-stress llvm-stress-19 llvm-stress-18 llvm-stress-17 llvm-stress-16 llvm-stress-15)
llvm=0
if [ -n "$PX_CLANG" ] && [ -n "$PX_LLC" ] && "$PX_LLC" --version 2>/dev/null | grep -q nvptx64; then
    llvm=1
elif [ $tree = 0 ]; then
    echo 'SKIP ptxas.sh: clang, or an llc for nvptx64, not found: no OpenCL, C and llvm-stress inputs'
    missing=$((missing + 1))
fi
PX_NVCC= PX_LLVM=
[ $nvcc$tree = 10 ] && PX_NVCC=$(nvcc --version 2>/dev/null | sed -n 's/.*, V//p')
[ $llvm = 1 ] && PX_LLVM=$("$PX_LLC" --version 2>/dev/null | sed -n 's/.*LLVM version \([^ ]*\).*/\1/p')
PX_PTXAS=$(ptxas --version 2>/dev/null | sed -n 's/.*, V//p')

PX_TMP=$(mktemp -d "${TMPDIR:-/tmp}/ptxas-sh.XXXXXX") || exit 2
trap 'rm -rf "$PX_TMP"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -p "$PX_TMP/result" "$PX_TMP/work" "$ORI_PTX_CACHE/in" "$ORI_PTX_CACHE/as" build || exit 2
find "$ORI_PTX_CACHE" -type f -mtime +30 -exec rm -f {} + 2>/dev/null
PX_FAIL=$root/build/ptxas-fail
: >"$PX_TMP/inputs"

# Finds the oldest target of this ptxas, which is used for older .target lines.
PX_MIN=75
printf '.version 6.3\n.target sm_30\n.address_size 64\n' >"$PX_TMP/empty.ptx"
for n in $(ptxas --help 2>/dev/null | tr -c 'a-z0-9_' '\n' | sed -n 's/^sm_\([0-9]\{2,3\}\)$/\1/p' | sort -nu); do
    ptxas -arch=sm_$n -o "$PX_TMP/empty.cubin" "$PX_TMP/empty.ptx" >/dev/null 2>&1 && PX_MIN=$n && break
done

# compile NAME SOURCE: builds a helper in C if its source is newer.
compile() {
    out=build/$1
    if [ ! -x "$out" ] || [ -n "$(find "$2" -newer "$out" 2>/dev/null)" ]; then
        ${CC:-cc} -O2 -std=c11 -o "$out.$$" "$2" -lm && mv "$out.$$" "$out" || return 1
    fi
    echo "$root/$out"
}
PX_COUNT=$(compile sasscount tests/ptxas/sasscount.c) || exit 1
PX_GEN=
[ -f tests/bench/gen.c ] && PX_GEN=$(compile gen tests/bench/gen.c)
export ORIOPT ORI_PTX_CACHE PX_TMP PX_FAIL PX_COUNT PX_GEN PX_COMPARE PX_KEEP PX_MIN PX_NVCC PX_LLVM PX_PTXAS PX_CLANG PX_LLC PX_STRESS

if [ -n "$files" ]; then
    for f in $files; do
        any_input "$f" '75 80 90 100 120'
    done
elif [ $tree = 1 ]; then
    tree_corpus
else
    corpus
fi
total=$(wc -l <"$PX_TMP/inputs" | tr -d ' ')
if [ $list = 1 ]; then
    tr '~' ' ' <"$PX_TMP/inputs"
    exit 0
fi
rm -rf "$PX_FAIL"

# -- Run and report ---------------------------------------------------------------------------------------------------

awk -v n="$total" 'BEGIN { for (k = 1; k <= n; k++) print k }' | xargs -n 1 -P "$jobs" sh "$root/tests/ptxas/ptxas.sh" --worker
k=1
while [ $k -le "$total" ]; do
    if [ -s "$PX_TMP/result/$k" ]; then cat "$PX_TMP/result/$k"; else echo "FAIL input $k: $(sed -n "${k}p" "$PX_TMP/inputs" | cut -f1): the worker gave no result"; fi
    k=$((k + 1))
done >"$PX_TMP/all"

if [ $PX_COMPARE = 1 ]; then # sums by group; the comparison of the sums is a check of its own
    awk '
        function row(name, n, i, r, ni, nr, oi, or) {
            printf "%-10s %6d  %9d %9d %9d %+8.2f%%  %8d %8d %8d %+8.2f%%\n", name, n, i, ni, oi, i ? 100 * (oi - i) / i : 0, r, nr, or, r ? 100 * (or - r) / r : 0
        }
        $1 == "SUM" {
            if (!($2 in n)) order[++groups] = $2
            n[$2] += $3; i[$2] += $4; r[$2] += $5; ni[$2] += $6; nr[$2] += $7; oi[$2] += $8; or[$2] += $9
            N += $3; I += $4; R += $5; NI += $6; NG += $7; OI += $8; OR += $9
        }
        END {
            printf "%-10s %6s  %9s %9s %9s %9s  %8s %8s %8s %9s\n", "SASS of", "funcs", "insns", "nop", "-O3", "", "regs", "nop", "-O3", ""
            for (k = 1; k <= groups; k++) { g = order[k]; row(g, n[g], i[g], r[g], ni[g], nr[g], oi[g], or[g]) }
            row("sum", N, I, R, NI, NG, OI, OR)
            print (OI > I ? "FAIL" : "PASS") " sum: instructions " I " -> " OI
            print (OR > R ? "FAIL" : "PASS") " sum: registers " R " -> " OR
        }' "$PX_TMP/all" >"$PX_TMP/sums"
    cat "$PX_TMP/sums" >>"$PX_TMP/all"
    grep -v -e '^PASS' -e '^FAIL' "$PX_TMP/sums"
fi
# Prints the functions of PTX from nvcc -O3, the share of exceptions among them, and exceptions without effect.
if [ $PX_COMPARE = 1 ]; then
    grep '^FUNC ' "$PX_TMP/all" | cut -d' ' -f2- >"$PX_TMP/functions"
    awk '
        { n++; i += $1; r += $2; o += $3; q += $4; worse += $3 > $1; better += $3 < $1; wr += $4 > $2; br += $4 < $2 }
        END {
            if (!n) exit
            printf "functions of nvcc -O3: %d, instructions %d -> %d (%+.2f %%): %d worse, %d better; registers %d -> %d: %d worse, %d better\n",
                   n, i, o, i ? 100 * (o - i) / i : 0, worse, better, r, q, wr, br
        }' "$PX_TMP/functions"
    awk '$3 > $1 || $4 > $2 { printf "%d %d   %+d instructions of %d, %+d registers of %d: %s: %s\n", $3 - $1, $4 - $2, $3 - $1, $1, $4 - $2, $2, $5, $6 }' \
        "$PX_TMP/functions" | sort -k1,1nr -k2,2nr | head -n 10 | cut -d' ' -f3-
    cut -f1 "$PX_TMP/inputs" >"$PX_TMP/ids"
    for kind in nop sass; do
        [ -f tests/ptxas/real/$kind-exceptions.txt ] || continue
        while read -r ex_id ex_fn ex_cause; do
            case $ex_id in '' | \#*) continue ;; esac
            grep -qF "USED $kind $ex_id $ex_fn " "$PX_TMP/all" && continue
            case $ex_id in *[*?[]*) [ "$quick$tree$files" = 00 ] || continue ;; esac # another input may need it
            while read -r id; do
                case $id in $ex_id)
                    echo "FAIL tests/ptxas/real/$kind-exceptions.txt: '$ex_id $ex_fn' had no effect on $id: remove the row"
                    break
                    ;; esac
            done <"$PX_TMP/ids"
        done <tests/ptxas/real/$kind-exceptions.txt
    done >>"$PX_TMP/all"
    awk '
        $1 == "FUNC" { n++; from_nvcc[$6 ":"] = 1 }
        $1 == "EXCEPTION" && $3 == "sass:" { used[$2]++ }
        END {
            if (n < 100) exit
            for (id in used)
                if (id in from_nvcc) all += used[id]
            print (all * 100 > n ? "FAIL" : "PASS") " exceptions of sass: " all + 0 " of " n " functions, at most 1 %"
        }' "$PX_TMP/all" >"$PX_TMP/share"
    cat "$PX_TMP/share" >>"$PX_TMP/all"
fi
# A limit of 1 % is checked only with enough files.
awk '
    $1 == "SECOND" { n++; if ($2) { changed++; which = which "\n     " $3 } }
    END {
        if (n >= 50) print (changed * 100 > n ? "FAIL" : "PASS") " a second run changes " changed + 0 " of " n " files of nvcc -O3, at most 1 %" which
        else if (changed) print "a second run changes " changed " of " n " files of nvcc -O3" which
    }' "$PX_TMP/all" >"$PX_TMP/second"
cat "$PX_TMP/second" >>"$PX_TMP/all"
grep -v '^FAIL' "$PX_TMP/second" | grep -v '^     '
grep '^SKIP ' "$PX_TMP/all"
grep -E '^(EXCEPTION|UNROLLED) ' "$PX_TMP/all"
grep -e '^FAIL' -e '^     ' "$PX_TMP/all"
awk -F "$tab" '{ n[$2]++ } END { for (g in n) printf "%s %d\n", g, n[g] }' "$PX_TMP/inputs" | sort | tr '\n' ',' | sed 's/,$//; s/,/, /g; s/^/inputs: /'
echo
[ -d "$PX_FAIL" ] && echo "files of the failures: build/ptxas-fail/"
passed=$(grep -c '^PASS ' "$PX_TMP/all")
failed=$(grep -c '^FAIL ' "$PX_TMP/all")
skipped=$(($(grep -c '^SKIP ' "$PX_TMP/all") + missing))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
