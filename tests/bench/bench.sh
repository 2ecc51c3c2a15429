#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.sh: measures speed, memory and growth of reading, writing and phases in oriopt, and compares them with LLVM.
#
#   tests/bench/bench.sh [-r RUNS] [N...]       default: 5 runs, N = 100000 1000000
#
# For each shape of program and each N it generates about N instructions, runs `oriopt -O3 -o /dev/null
# --time-phases=json` on them, and prints tables (report.awk). The shapes of gen.c resemble nvcc's output, and are also
# measured as Ori text; those of naive.c resemble unoptimized code of clang. Those of ssa.c are in SSA form; `opt` runs
# the same programs as LLVM IR, text to text. It only measures: the exit status is 0.
#
# Environment: ORIOPT (default build/oriopt), ORI_BENCH_FLAGS (more options), ORI_BENCH_LIMIT (seconds for a run,
# default 120), OPT (LLVM's opt).

set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 0
here=$(pwd)
cd "$root" || exit 0
runs=5
while getopts r: opt; do
    case $opt in
    r) runs=$OPTARG ;;
    *)
        echo 'usage: tests/bench/bench.sh [-r RUNS] [N...]' >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- 100000 1000000
ORIOPT=${ORIOPT:-build/oriopt}
ORIRUN=${ORIRUN:-$(dirname "$ORIOPT")/orirun}
OPT=${OPT:-opt}
case $ORIOPT in /*) ;; */*) [ -x "$ORIOPT" ] || ORIOPT=$here/$ORIOPT ;; esac
command -v "$ORIOPT" >/dev/null 2>&1 || {
    echo "SKIP bench.sh: no oriopt (run make, or set ORIOPT)"
    exit 0
}

dir=build/bench
mkdir -p $dir || exit 0
for helper in gen naive ssa timed; do
    if [ ! -x $dir/$helper ] || [ -n "$(find tests/bench -name '*.[ch]' -newer $dir/$helper)" ]; then
        ${CC:-cc} -O2 -std=c11 -o $dir/$helper tests/bench/$helper.c || {
            echo "SKIP bench.sh: cannot compile tests/bench/$helper.c"
            exit 0
        }
    fi
done
rm -f $dir/*.ptx $dir/*.ori $dir/*.ll $dir/table

seconds=${ORI_BENCH_LIMIT:-120}
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout $seconds"

# measure NAME N COMMAND...: adds a line of results to $dir/table, the best of the runs: name, N, instructions, cpu and
# wall seconds, largest rss in kB, seconds of reading, of writing and of the phases, exit status. -1 is unknown. A run
# of more than 5 s is not repeated.
measure() {
    name=$1
    n=$2
    shift 2
    rm -f $dir/runs $dir/json
    k=0
    while [ $k -lt "$runs" ]; do
        # shellcheck disable=SC2086
        $dir/timed $dir/runs $limit "$@" 2>$dir/err >/dev/null
        rc=$?
        tr -d '\n\r' <$dir/err >>$dir/json
        echo >>$dir/json
        k=$((k + 1))
        [ $rc -eq 0 ] || break
        tail -n 1 $dir/runs | awk '{ exit $3 > 5 }' || break
    done
    # the report is one JSON object per run; its numbers are found by their keys
    awk -v name="$name" -v n="$n" '
        function number(key, text) {
            if (!match(text, "\"" key "\"[ \t]*:[ \t]*[-+0-9.eE]+")) return -1
            text = substr(text, RSTART, RLENGTH)
            sub(/.*:[ \t]*/, "", text)
            return text + 0
        }
        function least(a, b) { return a < 0 || (b >= 0 && b < a) ? b : a }
        BEGIN { cpu = wall = read = write = phases = insns = -1; rss = bad = 0 }
        FILENAME ~ /runs$/ {
            if ($5 != 0) { bad = $5; next }
            cpu = least(cpu, $1 + $2)
            wall = least(wall, $3)
            if ($4 > rss) rss = $4
            next
        }
        {
            read = least(read, number("read_s", $0))
            write = least(write, number("write_s", $0))
            if (number("instructions", $0) > 0) insns = number("instructions", $0)
            if (!match($0, /"phases"[ \t]*:/)) next
            rest = substr($0, RSTART)
            for (sum = 0; match(rest, /"seconds"[ \t]*:[ \t]*[-+0-9.eE]+/); rest = substr(rest, RSTART + RLENGTH))
                sum += number("seconds", rest)
            phases = least(phases, sum)
        }
        END { print name, n, insns, cpu, wall, rss, read, write, phases, bad }' $dir/runs $dir/json >>$dir/table
    grep -v '^[[:space:]]*[{}"]' $dir/err | head -n 2
}

oriopt() { # NAME N FILE
    # shellcheck disable=SC2086
    measure "$1" "$2" "$ORIOPT" -O3 ${ORI_BENCH_FLAGS-} --time-phases=json -o /dev/null "$3"
}

# LLVM's passes that correspond to oriopt's phases, without the verifier that opt runs by default.
lean='function(sroa,early-cse,simplifycfg,instcombine,gvn,reassociate,loop-mssa(licm),adce)'
llvm() { # NAME N FILE
    measure "$1" "$2" "$OPT" -disable-verify -passes="$lean" -S -o /dev/null "$3"
}

printf '.version 8.0\n.target sm_80\n.address_size 64\n' >$dir/empty.ptx
oriopt empty 0 $dir/empty.ptx
for shape in module func; do
    for n; do
        f=$dir/$shape-$n
        $dir/gen $shape "$n" 1 >"$f.ptx"
        oriopt $shape "$n" "$f.ptx"
        "$ORIOPT" --named-phases NOP --emit=ori "$f.ptx" -o "$f.ori" && oriopt $shape.ori "$n" "$f.ori"
        rm -f "$f.ptx" "$f.ori"
    done
done

for shape in module func; do
    for n; do
        f=$dir/naive-$n
        $dir/naive $shape "$n" 1 >"$f.ptx"
        oriopt naive-$shape "$n" "$f.ptx"
        rm -f "$f.ptx"
    done
done

# Hard shapes of about a megabyte; the target is 5 s and 1 GB for each.
shapes='irr_local:7400 irr_regs:11000 nest:8000 switch:10000 switchloop:8000 block:18000 blockmem:9000 local:8000
    locals:7000 labels:11000 emptylabels:30000 scopes:200000 scopelabel:40000 scopelabels:30000 calls:6000 phis:8000
    philoop:6500 params:8000 funcs:7000 syms:12000 init:120000 initsym:250000 redef:12000 redefbr:11000 guards:20000
    guards2:14000 chain:20000 logic:20000 movchain:25000 addrchain:12000 ladder:6500 loops:9000 inverse:9000 vecs:7500
    preds:16000 ptrphi:5000 calldevs:18000 bar:20000 selp:14000'
if command -v python3 >/dev/null 2>&1; then
    for shape in $shapes; do
        python3 tests/bench/shapes.py "${shape%:*}" "${shape#*:}" >$dir/shape.ptx
        oriopt "${shape%:*}" "${shape#*:}" $dir/shape.ptx
    done
    rm -f $dir/shape.ptx
else
    echo 'SKIP hard shapes: no python3'
fi

echo 'declare void @f(i32 addrspace(1)*)' >$dir/empty.ll
skip=
if "$OPT" -passes="$lean" -disable-output $dir/empty.ll 2>/dev/null; then
    llvm empty.ll 0 $dir/empty.ll
else
    skip="SKIP LLVM: no '$OPT' that takes these passes and typed pointers (LLVM 14 to 16; set OPT)"
fi
for shape in straight branchy deep switch branchy-module; do
    for n; do
        f=$dir/$shape-$n
        $dir/ssa $shape "$n" 1 ptx >"$f.ptx"
        oriopt $shape "$n" "$f.ptx"
        [ -n "$skip" ] || {
            $dir/ssa $shape "$n" 1 ll >"$f.ll"
            llvm $shape.ll "$n" "$f.ll"
        }
        rm -f "$f.ptx" "$f.ll"
    done
done

cat <<EOF
oriopt -O3 ${ORI_BENCH_FLAGS-}${ORI_BENCH_FLAGS:+ }-o /dev/null; the best of $runs runs, one if it takes more than 5 s.
  read     file to IR, in M instructions a second            (read_s of --time-phases=json)
  write    IR to bytes, to /dev/null                         (write_s)
  phases   all phases together, without reading and writing  (sum over "phases")
  text     text to text: the cpu time of the whole process without start-up, that of a file with only a header
  cpu      user + system seconds of the whole process, with start-up
  memory   (maximum RSS - maximum RSS on a file with only a header) / instructions, the largest of the runs
  growth   log(time ratio) / log(instruction ratio) between the two largest N, of whole runs and of the phases
EOF
awk -v limit="$seconds" -v lean="$lean" -v skip="$skip" -f tests/bench/report.awk $dir/table

# The interpreter: instructions of threads (a warp's count 32 times) per second of cpu time, start-up included.
[ -x "$ORIRUN" ] || exit 0
printf '\n%-22s %12s %9s\n' orirun instructions 'M/s >= 30'
for f in tests/bench/run/*.run; do
    rm -f $dir/runs
    k=0
    while [ $k -lt "$runs" ]; do
        $dir/timed $dir/runs "$ORIRUN" "$f" >/dev/null 2>&1
        k=$((k + 1))
    done
    "$ORIRUN" --count "$f" 2>&1 | awk -v name="$(basename "$f" .run)" '
        FILENAME ~ /runs$/ { if (!best || $1 + $2 < best) best = $1 + $2; next }
        $3 == "all" { printf "%-22s %12d %9.1f\n", name, $2, $2 / best / 1e6 }' $dir/runs -
done
exit 0
