#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes ../run/NAME.run from every NAME.cpp beside this script and in handwritten/ (or from the given names): compiles
# the sample for the host, runs it, and writes its output. The files are checked in; run this after a change of a sample
# or a program.
#
# usage: ./run.sh [-n] [NAME...]      -n: only reports which files would change; CXX names another compiler

set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")"

only_compare=no
if [ "${1-}" = -n ]; then
    only_compare=yes
    shift
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/run.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p ../run/handwritten "$tmp/handwritten"

if [ $# -eq 0 ]; then
    for f in *.cpp handwritten/*.cpp; do
        set -- "$@" "${f%.cpp}"
    done
fi
status=0
for name in "$@"; do
    sample=${name%%.*}
    [ ! -f "../$sample.cu" ] || awk -f asm.awk "../$sample.cu" >"$tmp/$sample.cu"
    "${CXX:-g++}" -std=c++17 -O1 -ffp-contract=off -frounding-math -fwrapv -Wall -Wextra -Wno-unknown-pragmas -Wno-unused-parameter \
        -Wno-parentheses -Wno-sign-compare -I. -I"$tmp" -o "$tmp/$name" "$name.cpp" -lm
    "$tmp/$name" >"$tmp/$name.run"
    if [ "$only_compare" = yes ]; then
        cmp -s "$tmp/$name.run" "../run/$name.run" || {
            echo "run.sh: $name.run differs" >&2
            status=1
        }
    else
        mv "$tmp/$name.run" "../run/$name.run"
        echo "$name"
    fi
done
exit $status
