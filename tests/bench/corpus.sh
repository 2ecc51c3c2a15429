#!/bin/sh
# SPDX-License-Identifier: MIT
#
# corpus.sh: compiles CUDA programs of other projects to PTX, as input for ptxas.sh and sassdiff.sh.
#
#   tests/bench/corpus.sh [-j N] [-a ARCH] [-I DIR] SRCDIR OUTDIR
#
# Each .cu file below SRCDIR is compiled with `nvcc -ptx -arch=ARCH -O3` (default sm_80) to OUTDIR/O3/NAME.ptx, and with
# `-Xcicc -O0` to OUTDIR/O0/NAME.ptx. NAME is the path of the file with `_` for `/`. The include path is the folder of
# the file and, for each folder above it up to SRCDIR, that folder and its subfolders Common, common, inc, include and
# utils; -I adds a folder for all files. A file that does not compile is tried again with definitions of names that the
# toolkit has removed, then also with `-rdc=true --extended-lambda`.
#
# A result without a function body, or with the text of an earlier result apart from comments, is renamed to
# NAME.ptx.dropped. OUTDIR/failed.txt lists the files that do not compile, with the first error of each. Existing
# results are not compiled again; -j is the number of processes (default: one for each processor).

set -u
LC_ALL=C
export LC_ALL

usage() {
    echo 'usage: tests/bench/corpus.sh [-j N] [-a ARCH] [-I DIR] SRCDIR OUTDIR' >&2
    exit 2
}

# compile LEVEL FLAGS...: compiles $file to $out/LEVEL/$name.ptx; false with the messages in $err.
compile() {
    level=$1
    shift
    to=$out/$level/$name.ptx
    [ -e "$to" ] || [ -e "$to.dropped" ] && return
    # shellcheck disable=SC2086 # include directories are words
    nvcc -w -ptx "-arch=$arch" -O3 "$@" $include -o "$to.$$" "$file" >/dev/null 2>"$err" && mv "$to.$$" "$to" && return
    rm -f "$to.$$"
    return 1
}

# Options for programs of old toolkits: definitions of removed names, and headers that other headers no longer include.
old='-DcudaThreadSynchronize=cudaDeviceSynchronize -DcudaThreadExit=cudaDeviceReset -DclockRate=major -DcomputeMode=major
-DdeviceOverlap=major -include sys/time.h -include unistd.h -include cstring'

# worker SRCDIR OUTDIR ARCH INCLUDE FILE: compiles one file.
worker() {
    src=$1 out=$2 arch=$3 file=$5
    name=$(printf '%s\n' "${file#"$src"/}" | sed 's/\.cu$//; s/[^A-Za-z0-9._+-]/_/g')
    include=$4 dir=${file%/*}
    while :; do
        include="$include -I$dir"
        for sub in Common common inc include utils; do
            [ -d "$dir/$sub" ] && include="$include -I$dir/$sub"
        done
        case $dir in "$src" | /) break ;; esac
        dir=${dir%/*}
    done
    err=$out/log/$name
    if compile O3; then
        compile O0 -Xcicc -O0
    elif compile O3 $old; then
        compile O0 $old -Xcicc -O0
    elif compile O3 $old -rdc=true --extended-lambda; then
        compile O0 $old -rdc=true --extended-lambda -Xcicc -O0
    else
        (grep -m 1 -E 'error|fatal' "$err" || head -n 1 "$err") | sed "s|^|$name: |" >"$out/log/$name.failed"
    fi
    rm -f "$err"
    :
}

if [ "${1-}" = --worker ]; then
    shift
    worker "$@"
    exit
fi

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) arch=sm_80 include=-I.
while getopts j:a:I: opt; do
    case $opt in
    j) jobs=$OPTARG ;;
    a) arch=$OPTARG ;;
    I) include="$include -I$(cd "$OPTARG" && pwd)" || exit 1 ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] && [ -d "$1" ] || usage
command -v nvcc >/dev/null 2>&1 || {
    echo 'SKIP corpus.sh: nvcc not found'
    exit 0
}
mkdir -p "$2/O3" "$2/O0" || exit 1
src=$(cd "$1" && pwd) && out=$(cd "$2" && pwd) || exit 1
rm -rf "$out/log"
mkdir "$out/log" || exit 1
case $src$out in
*[[:space:]]*)
    echo 'corpus.sh: names of folders with blanks are not supported' >&2
    exit 2
    ;;
esac

find "$src" -name '*.cu' | grep -v '[[:space:]]' | sort >"$out/sources"
xargs -n 1 -P "$jobs" sh "$0" --worker "$src" "$out" "$arch" "$include" <"$out/sources"
find "$out/log" -name '*.failed' -exec cat {} + | sort >"$out/failed.txt"
rm -rf "$out/log"

# Drops results without code, and duplicates.
for level in O3 O0; do
    for ptx in "$out/$level"/*.ptx; do
        [ -e "$ptx" ] || continue
        grep -q '^{' "$ptx" || { mv "$ptx" "$ptx.dropped"; continue; }
        printf '%s %s\n' "$(sed '/^\/\//d' "$ptx" | cksum | tr ' ' -)" "$ptx"
    done | awk 'seen[$1]++ { print $2 }' | while read -r ptx; do
        mv "$ptx" "$ptx.dropped"
    done
    echo "$level: $(find "$out/$level" -name '*.ptx' | wc -l) files"
done
echo "sources: $(wc -l <"$out/sources"), not compiled: $(wc -l <"$out/failed.txt")"
