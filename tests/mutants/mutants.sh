#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh: measures the tests by planted mistakes. Each patch of tests/mutants plants one. A patch with a number
# breaks that soundness rule; the others (phase-, ssa-, analysis-, core-, ptx-, text-) are slips of a programmer. The
# first line of a patch describes the mistake, and names the test that was written for it, if there is one. The script
# applies each patch to a copy of the tree under build/mutants, builds it, and runs these layers until one fails:
#
#   oricheck   the files of tests/golden/phases, tests/golden/text and tests/golden/read
#   net        the launches of the samples and of random programs (origen): the mutant optimizes them, and the original
#              interpreter compares input with output
#   unit       the unit tests, except those of the interpreter
#
# A patch of tools/orilink runs only one layer:
#
#   link       tests/link/{golden,traps,nvlink,constants,banks,scenarios}.sh and tests/programs/link.sh
#
#   tests/mutants/mutants.sh [--all] [PATCHES...]      default: all patches
#
# --all: runs all layers, and all tests of each. Prints a line per patch: `caught NAME by LAYER: ` with the first three
# failures and the number of others, or `missed NAME: ` with the mistake. Then the number of mutants that each layer
# caught, and `N caught, N missed, N %`. It is an error if a patch does not apply or does not build, or if the test that
# its first line names does not fail. Exit 0 all caught, 1 a miss or an error, 2 usage. A patch takes a few seconds, or
# half a minute if only the unit tests catch it. The script is no part of `make check`.
#
# Environment: SEEDS, number of random programs (default 100).

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
work=$root/build/mutants
jobs=2
all=
[ "${1-}" = --all ] && all=1 && shift
[ $# -gt 0 ] || set -- tests/mutants/*.patch
for patch; do
    [ -f "$patch" ] || { echo "usage: mutants.sh [--all] [PATCHES...]; there is no file '$patch'" >&2 && exit 2; }
done
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 120"

# Builds the unit tests by object, so that only changed sources are compiled again.
rules='
include Makefile
UNIT_OBJ = $(UNIT_SRC:%.c=$B/%.o)
$B/mutant-unit: $(UNIT_OBJ) $B/ori.a
	$(CC) $(CFLAGS) $(filter %.o %.a,$^) -o $@
-include $(UNIT_OBJ:.o=.d)
'

build() { # TREE TARGETS...
    (cd "$1" && shift && printf '%s\n' "$rules" |
        make -s -j"$jobs" -f - B=mutant CFLAGS=-O1 WERROR= "$@") >"$work/log" 2>&1
}

# -- Layers ------------------------------------------------------------------------------------------------------------
# A layer prints the failures in a tree, one per line.

# layers_of PATCH: prints the layers that a patch runs.
layers_of() { grep -q '^+++ b/tools/orilink/' "$1" && echo link || echo oricheck net unit; }
all_layers='oricheck net unit link'
layers=$all_layers

oricheck() { # TREE
    (cd "$1" && find tests/golden/phases tests/golden/text tests/golden/read -type f \( -name '*.ori' -o -name '*.ptx' \) | sort |
        xargs $limit mutant/oricheck) >"$work/out" 2>&1 && return
    # A crash ends the driver, and its name may be missing.
    sed -n 's/^tests\/\([^ :]*\.\(ori\|ptx\)\):.*/\1/p' "$work/out" | sort -u | grep . || echo "a crash"
}

# Plans of the mutant: the pipeline; the pipeline on modules that were cloned, printed and read back after each phase,
# so that losses of text and clones show; and SSA form first, on code that no phase has simplified.
plans='-O3
-O3 --self-check=clone,roundtrip
--named-phases=23,62,52,33,73,164,15,84,107,112'

# Prints the results of a .run file's launches on a module, sorted because lines of printf may come in any order.
results() { # RUN MODULE
    $limit "$work/base/mutant/orirun" --max-steps=1M --file="$2" "$1" 2>&1 | sort
}

# Writes the modules of the net as lines `RUN MODULE`, and the expected results of line N in N.want.
prepare_net() {
    rm -rf "$work/net"
    mkdir "$work/net"
    for run in samples/run/handwritten/*.run samples/run/*.run; do
        echo "$run ${run%/*}/$(sed -n 's/^file //p' "$run" | head -n 1)"
        name=${run##*/}
        name=${name%.run}
        for form in sm_90 O0; do
            ptx=samples/ptx/$name.$form.ptx
            case $run in samples/run/handwritten/*) continue ;; esac
            [ ! -e "$ptx" ] || [ -e "samples/run/$name.$form.run" ] || echo "$run $ptx"
        done
    done >"$work/net/modules"
    seed=1
    while [ $seed -le "${SEEDS:-100}" ]; do
        "$work/base/mutant/origen" --seed=$seed -o "$work/net/seed-$seed.ptx" &&
            echo "$work/net/seed-$seed.run $work/net/seed-$seed.ptx"
        seed=$((seed + 1))
    done >>"$work/net/modules"
    n=0
    while read -r run module; do
        n=$((n + 1))
        results "$run" "$module" >"$work/net/$n.want"
    done <"$work/net/modules"
}

net() { # TREE
    n=0
    while read -r run module; do
        n=$((n + 1))
        echo "$plans" >"$work/net/plans"
        while read -r plan; do
            if ! $limit "$1/mutant/oriopt" --no-reproducer $plan -o "$work/net/out.${module##*.}" "$module" >"$work/log" 2>&1; then
                echo "${module##*/} is not compiled ($plan)"
            elif ! results "$run" "$work/net/out.${module##*.}" | cmp -s - "$work/net/$n.want"; then
                echo "${module##*/} gives something else ($plan)"
            else
                continue
            fi
            [ "$all" ] || return
        done <"$work/net/plans"
    done <"$work/net/modules"
}

unit() { # TREE
    build "$1" mutant/mutant-unit || { echo "the unit tests do not build" && return; }
    names=$(sed -n 's/^ *X(\([a-z_]*\)).*/\1/p' "$1/tests/unit/main.c" | grep -vxE 'softfloat|approx|matrix|eval|machine|undef')
    (cd "$1" && $limit mutant/mutant-unit $names) >"$work/out" 2>&1 && return
    sed -n 's/^tests\/\(unit\/[a-z_]*\.c\):[0-9]*: \([a-z0-9_]*\) failed.*/\1 \2/p' "$work/out" | sort -u | grep . ||
        tail -n 1 "$work/out" | grep . || echo "the unit tests crash"
}

# The scripts run until the test fails that the patch names, or any if it names none.
link() { # TREE
    failed=
    : >"$work/out"
    for script in link/golden programs/link link/traps link/nvlink link/constants link/banks link/scenarios; do
        LINK_FILES=$work/link-files ORIOPT=$1/mutant/oriopt "$root/tests/$script.sh" >>"$work/out" 2>&1 && continue
        failed=1
        [ ! "$all" ] && link_failures | grep -qF -e "$test" && break
    done
    [ "$failed" ] || return
    link_failures | grep . || tail -n 1 "$work/out"
}
link_failures() { sed -n 's/^FAIL [a-z]*.sh: \([^:]*\): .*/\1/p' "$work/out" | tr ' ' '-' | sort -u; }

# Runs the layers on a tree. Sets $by to the layers with failures, and writes these to $work/LAYER.failed. True if there
# is none.
check() { # TREE
    by=
    for layer in $layers; do
        : >"$work/$layer.failed"
    done
    for layer in $layers; do
        $layer "$1" >"$work/$layer.failed"
        [ -s "$work/$layer.failed" ] || continue
        by="$by $layer"
        [ "$all" ] || break
    done
    [ ! "$by" ]
}

# Prints ` by oricheck: golden/phases/A.ori, golden/phases/B.ori and 2 more; by ...`.
findings() {
    for layer in $by; do
        printf ' by %s: %s' "$layer" "$(sed -n '1,3{H;};${g;s/\n/, /g;s/^, //;p;}' "$work/$layer.failed")"
        more=$(($(wc -l <"$work/$layer.failed") - 3))
        [ $more -le 0 ] || printf ' and %s more' $more
        [ "$layer" = "${by##* }" ] || printf ';'
    done
}

# -- Mutants -----------------------------------------------------------------------------------------------------------

rm -rf "$work"
mkdir -p "$work/base" || exit 2
cp -Rp Makefile ir knobs sm phases tools "$work/base/"
mkdir -p "$work/base/tests/golden"
cp -Rp tests/unit tests/exec tests/link "$work/base/tests/"
cp -Rp tests/golden/phases tests/golden/text tests/golden/read "$work/base/tests/golden/"
[ -d samples ] && ln -s "$root/samples" "$work/base/samples"
if ! build "$work/base" mutant/oricheck mutant/oriopt mutant/orirun mutant/origen mutant/orilink mutant/damage mutant/link-units mutant/link-layout mutant/mutant-unit; then
    cat "$work/log" && echo "mutants.sh: the tree does not build" >&2
    exit 1
fi
prepare_net
test=
if ! check "$work/base"; then
    echo "mutants.sh: the tree as it is does not pass:$(findings)" >&2
    exit 1
fi

caught=0 missed=0 errors=0
: >"$work/by"
for patch; do
    name=${patch##*/}
    name=${name%.patch}
    case $patch in /*) ;; *) patch=$root/$patch ;; esac
    layers=$(layers_of "$patch")
    test=$(head -n 1 "$patch" | sed -n 's/.*: \([^ ]*\)$/\1/p')
    programs='mutant/oricheck mutant/oriopt'
    [ "$layers" != link ] || programs='mutant/orilink mutant/damage mutant/link-units mutant/link-layout'
    rm -rf "$work/tree"
    cp -Rp "$work/base" "$work/tree"
    if ! (cd "$work/tree" && patch -s -p1 <"$patch") >"$work/log" 2>&1; then
        cat "$work/log"
        echo "error  $name: the patch does not apply any more"
        errors=$((errors + 1))
    elif ! build "$work/tree" $programs; then
        cat "$work/log"
        echo "error  $name: it does not build"
        errors=$((errors + 1))
    elif check "$work/tree"; then
        echo "missed $name: $(head -n 1 "$patch")"
        missed=$((missed + 1))
    else
        echo "caught $name$(findings)"
        caught=$((caught + 1))
        echo "$by" >>"$work/by"
        if [ "$test" ] && ! grep -qF "$test" "$work/${layers%% *}.failed"; then
            echo "error  $name: $test does not fail"
            errors=$((errors + 1))
        fi
    fi
done
rm -rf "$work/tree"
for layer in $all_layers; do
    echo "by $layer: $(grep -cw $layer "$work/by")"
done
awk -v c=$caught -v m=$missed -v e=$errors 'BEGIN {
    printf "%d caught, %d missed%s, %.1f %%\n", c, m, e ? ", " e " errors" : "", c + m ? 100 * c / (c + m) : 0
}'
[ $missed = 0 ] && [ $errors = 0 ]
