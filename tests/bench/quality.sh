#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quality.sh: compares the code that oriopt makes of naive PTX with that of LLVM's optimizer and of nvcc -O3.
#
#   tests/bench/quality.sh [-s SEEDS] [-n N] [-f FAMILIES] [MORE] [--] [OPTIONS OF ORIOPT...]
#   tests/bench/quality.sh --families-executed [-s SEEDS] [-n N] [-f FAMILIES] [MORE] [--] [OPTIONS OF ORIOPT...]
#   tests/bench/quality.sh --nvcc [MORE] [--] [OPTIONS OF ORIOPT...]
#   tests/bench/quality.sh --executed [-f SAMPLES] [MORE] [--] [OPTIONS OF ORIOPT...]
#
# MORE is [-m OPTIONS] [-a ARCH] [-k DIR].
#
#   -s SEEDS      seeds of the programs (default "1 2")
#   -n N          their size in instructions of LLVM at -O0 (default 1000)
#   -f FAMILIES   some of the families of gen_cl.py (default all ten)
#   -m OPTIONS    also measures oriopt with these options, and compares both
#   -a ARCH       backend of oriopt and target of ptxas (default sm_80); below sm_75, ptxas assembles for sm_75
#   -k DIR        keeps all files in DIR
#   --nvcc        the samples instead of the families
#   --executed    the samples as above; estimates executed SASS instructions
#   --families-executed
#                 estimates executed SASS instructions of the families
#
# Each program is compiled in three ways, and ptxas assembles the results at -O1 and at -O3:
#   naive       clang -O0, llc -O0: all variables in .local
#   reference   the same IR through opt -O2, without unrolling and vectorizing, and llc -O2
#   ours        the naive PTX through oriopt
# Loops have a pragma against unrolling, so that ptxas unrolls none of them: otherwise counts at -O3 are not comparable.
#
# --nvcc uses samples that exist both as naive PTX (NAME.O0.ptx) and as PTX of nvcc -O3 (NAME.sm_80.ptx). It lists the
# functions for which oriopt leaves more .local than nvcc -O3.
#
# --executed uses samples with launches in samples/run, in both forms, before and after oriopt. For each kernel it
# prints static SASS instructions and an estimate of the executed ones (executed.py), at ptxas -O1 and -O3. A kernel
# whose estimate explains less than 0.85 of the counts, on either side, is dropped and listed. -f names the samples
# (default all).
#
# --families-executed runs the launch that gen_cl.py prints for each family on `reference` and `ours`.
#
# llc compiles for ARCH up to sm_80. The samples are PTX for sm_80, so ptxas assembles them at least for sm_80.
#
# It only measures: the exit status is 0, but 1 if a tool fails, 2 for wrong usage.
#
# Environment: ORIOPT (default build/oriopt), PTXAS, CLANG, OPT and LLC (default: of one version, on the PATH).

set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
here=$(pwd)
bench=$root/tests/bench

usage() {
    sed -n 's/^#   \(tests.bench.*\)/usage: \1/p' "$bench/quality.sh" >&2
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }
absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }

mode=families seeds='1 2' size=1000 families='' keep='' other='' compared=0 arch=''
case ${1-} in --nvcc | --executed | --families-executed)
    mode=${1#--}
    shift
    ;;
esac
while getopts s:n:f:m:a:k: opt; do
    case $opt in
    s) seeds=$OPTARG ;;
    n) size=$OPTARG ;;
    f) families=$OPTARG ;;
    m) other=$OPTARG compared=1 ;;
    a) arch=$OPTARG ;;
    k) keep=$(absolute "$OPTARG") ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
case $seeds$size in *[!0-9\ ]*) usage ;; esac
sm=${arch:-sm_80}
sm=${sm#sm_}
case $sm in '' | *[!0-9]*) usage ;; esac
options=${arch:+--arch=$arch}${arch:+${*:+ }}$*
other=${arch:+--arch=$arch}${arch:+${other:+ }}$other

at_least() { if [ "$sm" -lt "$1" ]; then echo "sm_$1"; else echo "sm_$sm"; fi; }
at_most() { if [ "$sm" -gt "$1" ]; then echo "sm_$1"; else echo "sm_$sm"; fi; }

# Targets of ptxas and llc.
case $mode in nvcc | executed) target=$(at_least 80) ;; *) target=$(at_least 75) ;; esac
cpu=$(at_most 80)

# -- Tools ------------------------------------------------------------------------------------------------------------

skip() {
    echo "SKIP quality.sh: $1"
    exit 0
}

ORIOPT=${ORIOPT:-$root/build/oriopt}
case $ORIOPT in */*) ORIOPT=$(absolute "$ORIOPT") ;; esac
have "$ORIOPT" || skip 'no oriopt (run make, or set ORIOPT)'
PTXAS=${PTXAS:-ptxas}
have "$PTXAS" || skip "no '$PTXAS': nothing says what the code is worth (set PTXAS)"

# llvm SUFFIX: true if clang, opt and llc of this version exist, and llc supports nvptx64.
llvm() {
    have "clang$1" && have "opt$1" && have "llc$1" && "llc$1" --version 2>/dev/null | grep -q nvptx64
}

case $mode in
families*)
    for suffix in -14 '' -15 -16 -17 -18 -19 -20 -21 none; do
        llvm "$suffix" && break
    done
    CLANG=${CLANG:-clang$suffix} OPT=${OPT:-opt$suffix} LLC=${LLC:-llc$suffix}
    for tool in "$CLANG" "$OPT" "$LLC"; do
        have "$tool" || skip "no clang, opt and llc for nvptx64 of one version (set CLANG, OPT, LLC): no families"
    done
    have python3 || skip 'no python3 for gen_cl.py: no families'
    ;;
esac

if [ -n "$keep" ]; then
    dir=$keep
    mkdir -p "$dir" || exit 1
else
    dir=$(mktemp -d "${TMPDIR:-/tmp}/quality.XXXXXX") || exit 1
    trap 'rm -rf "$dir"' EXIT
    trap 'exit 1' HUP INT TERM
fi
failed=0
: >"$dir/table"

# step OUT COMMAND...: runs a command, and reports a failure with the last lines of its output.
step() {
    out=$1
    shift
    "$@" >"$dir/log" 2>&1 && return
    rc=$?
    failed=$((failed + 1))
    echo "FAIL $(basename "$out"): exit status $rc: $*"
    tail -n 3 "$dir/log" | cut -c1-300 | sed 's/^/     /'
    return 1
}

# optimize IN OUT OPTIONS: runs oriopt.
optimize() {
    # shellcheck disable=SC2086 # options are words
    step "$2" "$ORIOPT" $3 -o "$2" "$1"
}

# assemble PTX LEVEL: makes PTX.ON.cubin, and PTX.ON.log with ptxas's report of registers and stack.
assemble() {
    step "$1.O$2.cubin" "$PTXAS" "-arch=$target" "-O$2" -v -o "$1.O$2.cubin" "$1" && cp "$dir/log" "$1.O$2.log"
}

# Prints the measured options.
what() {
    echo "ours: oriopt${options:+ $options}"
    [ $compared = 0 ] || echo "other: oriopt${other:+ $other}"
}

# Prints a line NAME BYTES for the stack frame of each function in a log of ptxas -v.
stacks() {
    awk '/Function properties for/ { name = $NF } / bytes stack frame/ { print name, $1 }' "$1"
}

# -- Samples ----------------------------------------------------------------------------------------------------------

# frames VARIANT PTX: adds a line `VARIANT NAME KIND LOCAL STACK` for each function to $dir/table; STACK is `-` for a
# function that ptxas has inlined everywhere.
frames() {
    assemble "$2" 3 || return 1
    stacks "$2.O3.log" >"$dir/stacks"
    awk -f "$bench/ptx.awk" "$2" | awk -v variant="$sample $1" '
        FILENAME != "-" { stack[$1] = $2; next }
        { print variant, $1, $2, $4, $1 in stack ? stack[$1] : "-" }' "$dir/stacks" - >>"$dir/table"
}

samples() {
    for naive in "$root"/samples/ptx/*.O0.ptx; do
        sample=$(basename "$naive" .O0.ptx)
        [ -f "$root/samples/ptx/$sample.sm_80.ptx" ] || continue
        cp "$naive" "$dir/$sample.naive.ptx" && cp "$root/samples/ptx/$sample.sm_80.ptx" "$dir/$sample.O3.ptx" || exit 1
        frames naive "$dir/$sample.naive.ptx" || continue
        frames O3 "$dir/$sample.O3.ptx" || continue
        optimize "$naive" "$dir/$sample.ours.ptx" "$options" && frames ours "$dir/$sample.ours.ptx"
        [ $compared = 1 ] && optimize "$naive" "$dir/$sample.other.ptx" "$other" && frames other "$dir/$sample.other.ptx"
    done
    what
    echo "$("$PTXAS" --version | tail -n 1), $target, -O3"
    awk -v compared=$compared -f "$bench/quality_nvcc.awk" "$dir/table"
}

# -- Executed instructions --------------------------------------------------------------------------------------------

# estimates: adds rows `SAMPLE FORM VARIANT LEVEL FUNCTION STATIC EXECUTED FIT` to $dir/table for each line `SAMPLE FORM
# VARIANT RUN PTX` of $dir/jobs (for families: `FAMILY SEED` are SAMPLE FORM). Runs one process per processor; a failed job leaves a file in $dir/failed.
estimates() {
    mkdir "$dir/rows" "$dir/failed" || exit 1
    export bench ORIRUN PTXAS target dir
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -n 5 -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" sh -c '
        at=$1-$2-$3
        python3 "$bench/executed.py" -O 1,3 "-arch=$target" --orirun="$ORIRUN" --ptxas="$PTXAS" "$4" "$5" >"$dir/rows/$at" 2>"$dir/rows/$at.log" ||
            mv "$dir/rows/$at.log" "$dir/failed/$at"
        rm -f "$dir/rows/$at.log"
        sed -i "s/^/$1 $2 $3 /" "$dir/rows/$at"' sh <"$dir/jobs"
    find "$dir/rows" -type f | sort | xargs cat | cut -d' ' -f1-8 >"$dir/table"
    for log in "$dir"/failed/*; do
        [ -f "$log" ] || continue
        failed=$((failed + 1))
        echo "FAIL $(basename "$log"): $(tail -n 1 "$log" | cut -c1-300)"
    done
    rm -r "$dir/rows" "$dir/failed"
}

with_orirun() {
    ORIRUN=$(dirname "$ORIOPT")/orirun
    have "$ORIRUN" || skip 'no orirun beside oriopt'
    have python3 || skip 'no python3 for executed.py'
}

executed() {
    with_orirun
    : >"$dir/jobs"
    for run in "$root"/samples/run/*.run; do
        sample=$(basename "$run" .run)
        case " ${families:-$sample} " in *" $sample "*) ;; *) continue ;; esac
        for form in O0 sm_80; do
            in=$root/samples/ptx/$sample.$form.ptx
            [ -f "$in" ] || continue
            echo "$sample $form before $run $in" >>"$dir/jobs"
            optimize "$in" "$dir/$sample.$form.ours.ptx" "$options" &&
                echo "$sample $form ours $run $dir/$sample.$form.ours.ptx" >>"$dir/jobs"
            [ $compared = 1 ] && optimize "$in" "$dir/$sample.$form.other.ptx" "$other" &&
                echo "$sample $form other $run $dir/$sample.$form.other.ptx" >>"$dir/jobs"
        done
    done
    estimates
    what
    echo "$("$PTXAS" --version | tail -n 1), $target"
    awk -v variant=ours -v causes="$bench/executed-exceptions.txt" -f "$bench/quality_executed.awk" "$dir/table"
    [ $compared = 0 ] || awk -v variant=other -v causes="$bench/executed-exceptions.txt" -f "$bench/quality_executed.awk" "$dir/table"
    rm -f "$dir/jobs"
}

# -- Families ---------------------------------------------------------------------------------------------------------

# measure VARIANT PTX: adds a line `FAMILY SEED VARIANT PTX SASS1 SASS3 REGISTERS STACK LOCAL` to $dir/table.
measure() {
    assemble "$2" 1 && assemble "$2" 3 || return 1
    for level in 1 3; do
        step "$2.O$level.cubin" "$dir/sasscount" "$2.O$level.cubin" || return 1
        cp "$dir/log" "$dir/count$level"
    done
    stacks "$2.O3.log" >"$dir/stacks"
    awk -f "$bench/ptx.awk" "$2" | awk -v variant="$family $seed $1" '
        FILENAME ~ /count1$/ { sass1 += $2; next }
        FILENAME ~ /count3$/ { sass3 += $2; if ($3 > regs) regs = $3; next }
        FILENAME ~ /stacks$/ { stack += $2; next }
        { insns += $3; bytes += $4 }
        END { print variant, insns + 0, sass1, sass3, regs + 0, stack + 0, bytes + 0 }
        ' "$dir/count1" "$dir/count3" "$dir/stacks" - >>"$dir/table"
}

# compile FAMILY SEED: makes a program in the three ways, $f.naive.ptx, $f.ref.ptx and $f.ours.ptx, and $f.other.ptx.
compile() {
    f=$dir/$1-$2
    python3 "$bench/gen_cl.py" "$1" "$size" "$2" >"$f.cl" || exit 2
    # without -disable-O0-optnone each function has an attribute that disables opt
    step "$f.ll" "$CLANG" -x cl -cl-std=CL1.2 -target nvptx64-nvidia-cuda -O0 -Xclang -disable-O0-optnone \
        -S -emit-llvm -o "$f.ll" "$f.cl" || return
    step "$f.naive.ptx" "$LLC" -O0 -march=nvptx64 "-mcpu=$cpu" -o "$f.naive.ptx" "$f.ll" || return
    step "$f.opt.ll" "$OPT" -O2 --disable-loop-unrolling --vectorize-loops=false --vectorize-slp=false \
        -S -o "$f.opt.ll" "$f.ll" || return
    step "$f.ref.ptx" "$LLC" -O2 -march=nvptx64 "-mcpu=$cpu" -o "$f.ref.ptx" "$f.opt.ll" || return
    optimize "$f.naive.ptx" "$f.ours.ptx" "$options" || return
    [ $compared = 0 ] || optimize "$f.naive.ptx" "$f.other.ptx" "$other"
}

# each_program COMMAND: runs COMMAND FAMILY SEED for each program.
each_program() {
    [ -n "$families" ] || families=$(python3 "$bench/gen_cl.py" --list)
    for family in $families; do
        for seed in $seeds; do
            "$1" "$family" "$seed"
        done
    done
    what
    echo "LLVM $("$LLC" --version | sed -n 's/.*LLVM version \([^ ]*\).*/\1/p'); $("$PTXAS" --version | tail -n 1), $target"
}

# program FAMILY SEED: measures one program.
program() {
    compile "$1" "$2" || return
    for variant in naive ref ours other; do
        [ ! -f "$f.$variant.ptx" ] || measure $variant "$f.$variant.ptx"
    done
}

families() {
    ${CC:-cc} -O2 -std=c11 -o "$dir/sasscount" "$root/tests/ptxas/sasscount.c" ||
        skip 'cannot compile tests/ptxas/sasscount.c'
    each_program program
    awk -v compared=$compared -f "$bench/quality.awk" "$dir/table"
}

# jobs_of FAMILY SEED: adds the jobs of a program.
jobs_of() {
    compile "$1" "$2" || return
    python3 "$bench/gen_cl.py" --run "$1" "$f.ref.ptx" >"$f.run"
    for variant in ref ours other; do
        [ ! -f "$f.$variant.ptx" ] || echo "$1 $2 $variant $f.run $f.$variant.ptx" >>"$dir/jobs"
    done
}

families_executed() {
    with_orirun
    : >"$dir/jobs"
    each_program jobs_of
    estimates
    awk -v compared=$compared -f "$bench/quality_families_executed.awk" "$dir/table"
    rm -f "$dir/jobs"
}

case $mode in
nvcc) samples ;;
executed) executed ;;
families) families ;;
families-executed) families_executed ;;
esac
rm -f "$dir/log" "$dir/stacks" "$dir/count1" "$dir/count3" "$dir/sasscount"
[ $failed -eq 0 ] || {
    echo "runs that failed: $failed"
    exit 1
}
