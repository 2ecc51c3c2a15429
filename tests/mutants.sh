#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh: do the tests notice when a phase becomes unsound? Each patch of tests/mutants plants one violation of a
# soundness rule; its first line says what is wrong, and which test catches it. For each, in a copy of the tree under
# build/mutants: apply, build, run oricheck over tests/phases and tests/text, and the unit tests if that finds nothing.
#
#   tests/mutants.sh [--all] [PATCHES...]      default: all patches
#
# --all: the unit tests always. A line a patch, `caught NAME: N in Soundness, N others` and the first tests that fail, or
# `missed NAME`; the last line is `N caught, N missed`. A patch that does not apply, does not build, or whose first line
# names a test that does not fail, is an error. Exit 0 all caught, 1 something missed or an error, 2 usage. It takes a few
# seconds a patch and is no part of `make check`.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 2
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

# The unit tests by object, so that they too are compiled again only where something changed.
rules='
include Makefile
UNIT_OBJ = $(UNIT_SRC:%.c=$B/%.o)
$B/mutant-unit: $(UNIT_OBJ) $B/libori.a
	$(CC) $(CFLAGS) $(filter %.o %.a,$^) -o $@
-include $(UNIT_OBJ:.o=.d)
'

build() {  # in the folder $1
    (cd "$1" && printf '%s\n' "$rules" |
        make -s -j"$jobs" -f - B=mutant CFLAGS=-O1 WERROR= mutant/libori.a mutant/oricheck mutant/mutant-unit) >"$work/log" 2>&1
}

# What fails of tests/phases/Soundness, of the other test files, of the unit tests: names in $work/{own,others,unit}.
check() {
    cd "$1" || exit 2
    $limit mutant/oricheck tests/phases/Soundness >"$work/out" 2>&1
    own=$?
    sed -n 's/^\([^ :]*\.\(ori\|ptx\)\):.*/\1/p' "$work/out" | sed 's/.*\///' | sort -u >"$work/own"
    find tests/phases tests/text -type f \( -name '*.ori' -o -name '*.ptx' \) | grep -v /Soundness/ | sort |
        xargs $limit mutant/oricheck >"$work/out" 2>&1
    others=$?
    sed -n 's/^\([^ :]*\.\(ori\|ptx\)\):.*/\1/p' "$work/out" | sed 's/^tests\///' | sort -u >"$work/others"
    unit=0
    : >"$work/unit"
    if [ "$all" ] || [ $own = 0 ] && [ $others = 0 ]; then
        $limit mutant/mutant-unit >"$work/out" 2>&1
        unit=$?
        [ $unit = 0 ] || echo "unit tests" >"$work/unit"
    fi
    # A crash ends the driver, and may leave no name.
    [ $own = 0 ] || [ -s "$work/own" ] || echo "a crash" >"$work/own"
    [ $others = 0 ] || [ -s "$work/others" ] || echo "a crash" >"$work/others"
    cd "$root" || exit 2
    [ $own = 0 ] && [ $others = 0 ] && [ $unit = 0 ]
}

count() { wc -l <"$1" | tr -d ' '; }

first_names() { cat "$work/own" "$work/others" "$work/unit" | head -n 4 | tr '\n' ' ' | sed 's/ $//'; }

rm -rf "$work"
mkdir -p "$work/base" || exit 2
cp -Rp Makefile ir knobs sm phases tools "$work/base/"
mkdir "$work/base/tests"
cp -Rp tests/unit tests/exec tests/phases tests/text "$work/base/tests/"
[ -d samples ] && ln -s "$root/samples" "$work/base/samples"
if ! build "$work/base"; then
    cat "$work/log" && echo "mutants.sh: the tree does not build" >&2
    exit 1
fi
if ! check "$work/base"; then
    cat "$work/out" && echo "mutants.sh: the tree as it is does not pass: $(first_names)" >&2
    exit 1
fi

caught=0 missed=0 errors=0
for patch; do
    name=${patch##*/}
    name=${name%.patch}
    case $patch in /*) ;; *) patch=$root/$patch ;; esac
    rm -rf "$work/tree"
    cp -Rp "$work/base" "$work/tree"
    if ! (cd "$work/tree" && patch -s -p1 <"$patch") >"$work/log" 2>&1; then
        cat "$work/log"
        echo "error  $name: the patch does not apply any more"
        errors=$((errors + 1))
    elif ! build "$work/tree"; then
        cat "$work/log"
        echo "error  $name: it does not build"
        errors=$((errors + 1))
    elif check "$work/tree"; then
        echo "missed $name: $(head -n 1 "$patch")"
        missed=$((missed + 1))
    else
        echo "caught $name: $(count "$work/own") in Soundness, $(count "$work/others") others${all:+, $(count "$work/unit") unit}: $(first_names)"
        caught=$((caught + 1))
        by=$(head -n 1 "$patch" | sed -n 's/.*: \([^ ]*\)$/\1/p')
        if [ "$by" ] && ! cat "$work/own" "$work/others" | grep -qF "$by"; then
            echo "error  $name: $by does not fail"
            errors=$((errors + 1))
        fi
    fi
done
rm -rf "$work/tree"
echo "$caught caught, $missed missed$([ $errors = 0 ] || echo ", $errors errors")"
[ $missed = 0 ] && [ $errors = 0 ]
