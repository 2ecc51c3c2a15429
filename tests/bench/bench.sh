#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.sh: how fast oriopt reads, writes and runs its phases, what memory it takes, and how both grow.
#
#   tests/bench/bench.sh [-r RUNS] [N...]       default: 5 runs, N = 10000 100000 1000000
#
# For each N it generates (tests/bench/gen.c) a module of many functions and one single function of N instructions, as PTX
# and as Ori text, runs
# `oriopt -O3 -o /dev/null --time-phases=json`, and prints a table. It measures only: the exit status is 0.
# Environment: ORIOPT (default build/oriopt), ORI_BENCH_FLAGS (more options), ORI_BENCH_LIMIT (seconds for a run, default 120).

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
[ $# -gt 0 ] || set -- 10000 100000 1000000
ORIOPT=${ORIOPT:-build/oriopt}
case $ORIOPT in /*) ;; */*) [ -x "$ORIOPT" ] || ORIOPT=$here/$ORIOPT ;; esac
command -v "$ORIOPT" >/dev/null 2>&1 || {
    echo "SKIP bench.sh: no oriopt (run make, or set ORIOPT)"
    exit 0
}
dir=build/bench
mkdir -p $dir || exit 0
for helper in gen timed; do
    if [ ! -x $dir/$helper ] || [ -n "$(find tests/bench/$helper.c -newer $dir/$helper)" ]; then
        ${CC:-cc} -O2 -std=c11 -o $dir/$helper tests/bench/$helper.c || {
            echo "SKIP bench.sh: cannot compile tests/bench/$helper.c"
            exit 0
        }
        rm -f $dir/*.ptx $dir/*.ori
    fi
done
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout ${ORI_BENCH_LIMIT:-120}"

# measure NAME FILE N: one line of results in $dir/table
measure() {
    rm -f $dir/runs $dir/json
    k=0
    while [ $k -lt "$runs" ]; do
        # shellcheck disable=SC2086
        $dir/timed $dir/runs $limit "$ORIOPT" -O3 ${ORI_BENCH_FLAGS-} --time-phases=json -o /dev/null "$2" 2>$dir/err >/dev/null
        rc=$?
        tr -d '\n\r' <$dir/err >>$dir/json
        echo >>$dir/json
        k=$((k + 1))
        [ $rc -eq 0 ] || break
    done
    # the report is one JSON object a run; its numbers are found by their keys
    awk -v name="$1" -v n="$3" '
        function number(key, text) {
            if (!match(text, "\"" key "\"[ \t]*:[ \t]*[-+0-9.eE]+")) return -1
            text = substr(text, RSTART, RLENGTH)
            sub(/.*:[ \t]*/, "", text)
            return text + 0
        }
        function least(a, b) { return a < 0 || (b >= 0 && b < a) ? b : a }
        BEGIN { cpu = wall = read = write = phases = -1; rss = 0; bad = 0; insns = -1 }
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
            rest = $0
            sum = 0
            if (match(rest, /"phases"[ \t]*:/)) {
                rest = substr(rest, RSTART)
                while (match(rest, /"seconds"[ \t]*:[ \t]*[-+0-9.eE]+/)) {
                    piece = substr(rest, RSTART, RLENGTH)
                    sub(/.*:[ \t]*/, "", piece)
                    sum += piece
                    rest = substr(rest, RSTART + RLENGTH)
                }
                phases = least(phases, sum)
            }
        }
        END { print name, n, insns, cpu, wall, rss, read, write, phases, bad }' $dir/runs $dir/json >>$dir/table
    grep -v '^[[:space:]]*[{}"]' $dir/err | head -n 2
}

rm -f $dir/table
printf '.version 8.0\n.target sm_80\n.address_size 64\n' >$dir/empty.ptx
measure empty $dir/empty.ptx 0
for shape in module func; do
    for n; do
        f=$dir/$shape-$n.ptx
        [ -s "$f" ] || { $dir/gen $shape "$n" 1 >"$f.tmp" && mv "$f.tmp" "$f"; }
        measure $shape "$f" "$n"
    done
done
# The same as Ori text, which is read and written as such.
for shape in module func; do
    for n; do
        f=$dir/$shape-$n.ori
        "$ORIOPT" --named-phases NOP --emit=ori $dir/$shape-$n.ptx -o "$f" && measure $shape.ori "$f" "$n"
    done
done

cat <<EOF
oriopt -O3 ${ORI_BENCH_FLAGS-}${ORI_BENCH_FLAGS:+ }-o /dev/null; minimum of $runs runs.
  read    file to IR, in M instructions a second            (read_s of --time-phases=json)
  write   IR to bytes, to /dev/null                         (write_s)
  phases  the phases alone, without reading and writing     (sum over "phases")
  cpu     user + system seconds of the whole process, with start-up
  memory  (maximum RSS - maximum RSS on a file with only a header) / instructions, the largest of the runs
  growth  log(cpu ratio) / log(instruction ratio) of whole runs; the cpu time of the header-only file is subtracted
EOF
awk '
    function rate(n, s) { return s > 0 ? sprintf("%.2f", n / s / 1e6) : "-" }
    function sec(s) { return s >= 0 ? sprintf("%.3f", s) : "-" }
    $1 == "empty" {
        base_rss = $6; base_cpu = $4 > 0 ? $4 : 0
        printf "\n%-16s %12s %9s %9s %9s %9s %9s %9s %8s\n", "input", "instructions", "read M/s", "write M/s", "phases s", "cpu s", "wall s", "rss MB", "B/insn"
        printf "%-16s %12s %9s %9s %9s %9s %9s %9.1f\n", "header only", 0, "-", "-", sec($9), sec($4), sec($5), $6 / 1024
        next
    }
    {
        n = $3 > 0 ? $3 : $2
        if ($4 < 0) { printf "%-16s %12d   failed: exit status %d\n", $1 " " $2, n, $10; next }
        printf "%-16s %12d %9s %9s %9s %9s %9s %9.1f %8.1f%s\n", $1 " " $2, n, rate(n, $7), rate(n, $8), sec($9), sec($4), sec($5), $6 / 1024, ($6 - base_rss) * 1024 / n, $10 ? "   (a run failed: " $10 ")" : ""
        cpu[$1, $2] = $4 - base_cpu; insns[$1, $2] = n
        if (!(($1) in seen)) { seen[$1] = 1; shapes[++ns] = $1 }
        last[$1] = $2
        size[$1, ++count[$1]] = $2
    }
    END {
        for (k = 1; k <= ns; k++) {
            s = shapes[k]
            for (j = count[s] - 1; j >= 1; j--) {
                a = size[s, j]; b = last[s]
                if (cpu[s, a] > 0 && cpu[s, b] > 0 && insns[s, b] > insns[s, a])
                    printf "%s%-10s growth %8d -> %8d: exponent %.3f\n", first++ ? "" : "\n", s, a, b, log(cpu[s, b] / cpu[s, a]) / log(insns[s, b] / insns[s, a])
            }
        }
    }' $dir/table
exit 0
