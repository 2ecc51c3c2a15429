#!/bin/sh
# SPDX-License-Identifier: MIT
#
# diff.sh: phases keep what kernels compute. All launches of the samples are run in the interpreter before the phases and
# behind each that changed something (oriopt --check-each): by the whole pipeline at each level, on each backend, through Ori text,
# and by each implemented phase alone. What is written is read back and run, too.
#
#   tests/net/diff.sh [-q] [RUN...]      default: all of samples/run; -q: only -O3 and the phases alone, a form a sample
#
# Prints each difference and where its reproducer lies (diff/ beside oriopt), then for each phase how many of the programs it
# changed, by itself and in the pipeline; ends in `N passed, N failed`. A phase that changes none is not tested here.
#
# Environment: ORIOPT (default build/oriopt), JOBS (default: the number of cores).
set -u
LC_ALL=C
export LC_ALL

# One case: diff.sh --case WORK PLAN RUN PTX. Writes a line of what came out, and which phases changed something.
if [ "${1-}" = --case ]; then
    work=$2 plan=$3 run=$4 ptx=$5
    case $plan in
    -O*) set -- "$plan" ;;
    arch:*) set -- -O3 -arch "${plan#arch:}" ;;
    text) set -- -O3 --self-check=roundtrip --emit=ori ;;
    *) set -- --named-phases="$plan" ;;
    esac
    here=$work/case.$$
    mkdir -p "$here" && cd "$here" || exit 2
    if "$ORIOPT" "$@" --check-each="$run" --time-phases -o /dev/null "$ptx" 2>err >/dev/null; then
        awk -v plan="$plan" '$1 ~ /^[0-9]+$/ && $5 > 0 { print "changed", plan, $2 }
                             END { print "passed", plan }' err
    else
        echo "failed $plan $(basename "$run") $(basename "$ptx"): $(grep -m 1 'error' err || tail -n 1 err)"
        for file in oriopt-crash-*; do
            [ -e "$file" ] && mv "$file" "$work/" && echo "reproducer $work/$file"
        done
    fi
    cd "$work" && rm -rf "$here"
    exit 0
fi

cd "$(dirname "$0")/../.." || exit 2
root=$PWD
ORIOPT=${ORIOPT:-build/oriopt}
[ -x "$ORIOPT" ] || { echo "diff.sh: there is no '$ORIOPT' (run make, or set ORIOPT)" >&2 && exit 2; }
case $ORIOPT in /*) ;; *) ORIOPT=$root/$ORIOPT ;; esac
export ORIOPT
quick=
[ "${1-}" = -q ] && quick=1 && shift
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
work=$(dirname "$ORIOPT")/diff
rm -rf "$work"
mkdir -p "$work" || exit 2

# The implemented phases that may change a function.
phases=$("$ORIOPT" --list-phases | awk '/ implemented / && $3 != "verify" && $3 != "report" && $3 != "analysis" { print $2 "@" $1 }')
plans="-O1 -O2 -O3 -O4 text"
for arch in sm_30 sm_50 sm_60 sm_70 sm_80 sm_89 sm_90; do plans="$plans arch:$arch"; done
[ "$quick" ] && plans=-O3

# The module of a .run file, and the other forms of the same sample.
forms() {
    folder=$(dirname "$1")
    name=$(basename "$1" .run)
    echo "$folder/$(sed -n 's/^file *//p' "$1")"
    [ "$quick" ] && return
    case $folder in */handwritten) return ;; esac
    for form in sm_90 O0; do
        ptx=samples/ptx/$name.$form.ptx
        [ -e "$ptx" ] && [ ! -e "$folder/$name.$form.run" ] && echo "$ptx"
    done
}

[ $# -gt 0 ] || set -- samples/run/*.run samples/run/handwritten/*.run
for run; do
    forms "$run" | while read -r ptx; do
        for plan in $plans $phases; do
            echo "$work $plan $(realpath "$run") $(realpath "$ptx")"
        done
    done
done | xargs -P "$jobs" -L 1 sh "$root/tests/net/diff.sh" --case >"$work/out"

grep '^failed\|^reproducer' "$work/out"
awk -v phases="$phases" '
    $1 == "passed" { passed++; if ($2 == "-O3") programs++ }
    $1 == "failed" { failed++ }
    $1 == "changed" { name = $2; sub(/@.*/, "", name); if ($2 == "-O3") in_plan[$3]++; else if (name == $3) alone[$3]++ }
    END {
        n = split(phases, list, "\n")
        printf "%-34s %14s %14s   of %d programs\n", "changed by", "itself", "in -O3", programs
        for (k = 1; k <= n; k++) {
            name = list[k]
            sub(/@.*/, "", name)
            printf "%-34s %14d %14d\n", list[k], alone[name], in_plan[name]
        }
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }' "$work/out"
