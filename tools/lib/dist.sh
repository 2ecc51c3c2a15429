#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dist.sh: packs the tree for `make dist`.
#
#   tools/lib/dist.sh DIR/NAME.tar.gz
#
# The archive has a folder NAME with the files that git tracks, as they are in the tree; without git, all files but build
# folders. Its bytes depend on these files and on one time alone: SOURCE_DATE_EPOCH, or the time of the commit, or without
# git that of the Makefile. So an unpacked archive gives the same archive. Needs GNU tar and gzip.
set -eu
LC_ALL=C
export LC_ALL
[ $# -eq 1 ] || { echo "usage: dist.sh DIR/NAME.tar.gz" >&2 && exit 2; }
tar --version 2>/dev/null | grep -q GNU || { echo "dist.sh: this needs GNU tar" >&2 && exit 2; }
mkdir -p "$(dirname "$1")"
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
name=$(basename "$1" .tar.gz)
cd "$(dirname "$0")/../.."

tracked() { [ -e .git ] && git rev-parse HEAD >/dev/null 2>&1; }
files() {
    if tracked; then
        git ls-files
    else
        find . \( -path ./build -o -path './build-*' \) -prune -o -type f -print | sed 's,^\./,,'
    fi
}
if [ "${SOURCE_DATE_EPOCH-}" ]; then
    time=$SOURCE_DATE_EPOCH
elif tracked; then
    time=$(git log -1 --format=%ct)
else
    time=$(stat -c %Y Makefile)
fi

trap 'rm -f "$archive.tar" "$archive.new"' EXIT
trap 'exit 2' HUP INT TERM
files | sort | tar -c -f "$archive.tar" --format=ustar --no-recursion --mtime="@$time" --owner=0 --group=0 \
    --numeric-owner --mode='u=rwX,go=rX' --transform="s,^,$name/," -T -
gzip -n -9 <"$archive.tar" >"$archive.new"
mv "$archive.new" "$archive"
