# SPDX-License-Identifier: MIT
#
# growth_lib.sh: the part that growth.sh and growth_link.sh share. A script sets `root`, the folder of the tree,
# `program`, the program that it measures, and `shapes`, those that it measures without -s, and includes this file. It
# gets `dir`, the work folder, `work`, with which the names of its temporary files begin, and each N as a parameter.
# shellcheck disable=SC2034,SC2154

LC_ALL=C
export LC_ALL
me=$(basename "$0")
while getopts s: opt; do
    case $opt in
    s) shapes=$OPTARG ;;
    *)
        echo "usage: tests/bench/$me [-s SHAPES] [N...]" >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- 10000 100000
for tool in valgrind python3 "$program"; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "SKIP $me: no $tool"
        exit 0
    }
done
dir=$root/build/bench
mkdir -p "$dir" || exit 0
work=$dir/growth-$$
[ -x "$dir/timed" ] || ${CC:-cc} -O2 -std=c11 -o "$dir/timed" "$root/tests/bench/timed.c" || exit 0

# count ARGS...: prints the host instructions of the program, 0 if it fails.
count() {
    if valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$program" "$@" \
        >/dev/null 2>"$work.log"; then
        sed -n 's/.*I *refs: *//p' "$work.log" | tr -d ,
    else
        echo 0
    fi
}

# peak ARGS...: prints the peak of memory of the program, in kB.
peak() {
    rm -f "$work.peak"
    "$dir/timed" "$work.peak" "$program" "$@" >/dev/null 2>&1
    cut -d' ' -f4 "$work.peak"
}

# report UNITS START EMPTY [LIMIT]: prints the table of lines `shape units host-instructions peak`. START and EMPTY are
# the instructions and the peak of a run on nothing; LIMIT is the most bytes that a unit may take.
report() {
    printf '\n%-14s %12s %22s %16s %15s\n' 'growth' "$1" 'host instructions each' 'exponent <= 1.1' \
        "peak bytes each${4:+ <= $4}"
    awk -v start="$2" -v empty="$3" -v limit="${4-}" '
        !$2 || !$3 { printf "%-14s failed\n", $1; next }
        {
            cost = $3 - start
            growth = $1 == shape ? log(cost / before) / log($2 / size) : ""
            peak = ($4 - empty) * 1024 / $2
            printf "%-14s %12d %22.0f %16s %15.0f%s\n", $1, $2, cost / $2,
                   growth == "" ? "" : sprintf("%.2f %s", growth, growth <= 1.1 ? "met" : "MISSED"),
                   peak, limit == "" ? "" : peak <= limit ? " met" : " MISSED"
            shape = $1; size = $2; before = cost
            fflush()
        }'
}
