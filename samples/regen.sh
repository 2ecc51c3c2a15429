#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes ptx/NAME.sm_80.ptx, ptx/NAME.sm_90.ptx and ptx/NAME.O0.ptx from every NAME.cu beside this script (or from the
# given names), and assembles them with ptxas. A line "// flags: ..." in the source adds options. The files are checked
# in; run this only after a change of a source or of the compiler.
#
# usage: ./regen.sh [NAME...]        NVCC and PTXAS name other programs than those on the PATH

set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")"

nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:-ptxas}
command -v "$nvcc" >/dev/null 2>&1 || {
    echo "regen.sh: no '$nvcc' on the PATH: nothing was made, the checked-in files in ptx/ stay as they are" >&2
    exit 1
}
have_ptxas=yes
command -v "$ptxas" >/dev/null 2>&1 || {
    have_ptxas=no
    echo "regen.sh: no '$ptxas' on the PATH: the files are made but not assembled" >&2
}

here=$(pwd -P)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/regen.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p ptx

# make_ptx NAME VARIANT ARCH OPTIONS...: makes one PTX file.
make_ptx() {
    name=$1 variant=$2 arch=$3
    shift 3
    "$nvcc" "$@" -ptx -arch="$arch" -o "$tmp/out.ptx" "$name.cu"
    # -lineinfo writes the folders of the sources and of the toolkit into .file; remove them. Names of internal linkage
    # contain a hash of the same folder; replace it by zeros.
    sed -e "s|\"$here/|\"|" -e "s/_[0-9a-f]\{8\}_\([0-9]*_${name}_cu_\)/_00000000_\1/g" \
        -e 's|"/[^"]*/include/|"include/|' "$tmp/out.ptx" >"$tmp/clean.ptx"
    if grep -n '"/' "$tmp/clean.ptx" | grep '\.file' || grep -nF "$here" "$tmp/clean.ptx"; then
        echo "regen.sh: $name.$variant.ptx holds an absolute path" >&2
        exit 1
    fi
    if [ "$have_ptxas" = yes ]; then
        "$ptxas" -arch="$arch" -o "$tmp/out.cubin" "$tmp/clean.ptx"
    fi
    mv "$tmp/clean.ptx" "ptx/$name.$variant.ptx"
}

if [ $# -eq 0 ]; then
    for f in *.cu; do
        set -- "$@" "${f%.cu}"
    done
fi
for sample in "$@"; do
    flags=$(sed -n 's|^// flags: *||p' "$sample.cu")
    # shellcheck disable=SC2086 # flags are words
    {
        make_ptx "$sample" sm_80 sm_80 $flags
        make_ptx "$sample" sm_90 sm_90 $flags
        make_ptx "$sample" O0 sm_80 $flags -Xcicc -O0
    }
    echo "$sample"
done
