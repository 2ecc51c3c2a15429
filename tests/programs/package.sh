#!/bin/sh
# SPDX-License-Identifier: MIT
#
# package.sh: tests for packagers. Flags of the environment reach all compilers and linkers, only `make lexers` needs
# re2c, and `make dist` packs the same bytes everywhere. Only one file is compiled.
#
#   tests/programs/package.sh
#
# One line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage package.sh
cd "$root" || exit 2
make_work
none=$work/none

# planned TARGETS...: prints the commands that make would run, one per line, with distinctive flags.
planned() {
    (unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR SANITIZE && CC=cc CPPFLAGS=-Dcppflags CFLAGS=-Dcflags LDFLAGS=-Wl,ldflags \
        make -n V=1 B="$none" "$@") 2>"$work/err" | sed -e ':line' -e '/\\$/{N' -e 's/\\\n//' -e 'b line' -e '}'
    is "$(cat "$work/err")" ""
}

# -- Flags ------------------------------------------------------------------------------------------------------------

programs="$none/unit $none/rules $none/net $none/fuzz-run"
# shellcheck disable=SC2086  # these are several
planned all $programs >"$work/commands"
grep '^cc ' "$work/commands" | grep -v ' -r -nostdlib ' >"$work/compilers"
name="commands of the compiler"
for program in oriopt orirun oricheck origen unit rules net fuzz-run libori.so.0 libori-ptxrun.so.0; do
    is "$(grep -c -- " -o $none/$program\$" "$work/compilers")" 1
done
name="CFLAGS"
is "$(grep -v -- ' -Dcflags ' "$work/compilers")" ""
name="CPPFLAGS, where sources are compiled"
is "$(grep -E -- '\.c( |$)' "$work/compilers" | grep -v -- ' -Dcppflags ')" ""
if [ "$(grep -c -- ' -Dcppflags ' "$work/compilers")" -gt 100 ]; then ok; else bad "there are too few sources"; fi
name="LDFLAGS, where programs and libraries are linked"
is "$(grep -v -- ' -c ' "$work/compilers" | grep -v -- ' -Wl,ldflags ')" ""
name="the library's undefined symbols"
is "$(grep -c -- ' -Wl,-z,defs ' "$work/compilers")" 2

# -- re2c -------------------------------------------------------------------------------------------------------------

name="re2c"
# shellcheck disable=SC2086
planned all install uninstall dist debug $programs >"$work/commands"
is "$(grep re2c "$work/commands")" ""
planned lexers >"$work/commands"
is "$(grep -c '^re2c ' "$work/commands")" "$(find ir knobs -name '*.re' | wc -l)"

# -- make dist --------------------------------------------------------------------------------------------------------

# pack TREE FOLDER [SECONDS]: sets $packed to the archive that `make dist` makes.
pack() {
    (
        cd "$1" || exit
        unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
        [ ! "${3-}" ] || export SOURCE_DATE_EPOCH="$3"
        make -s B="$work/$2" dist
    ) >"$work/out" 2>&1 || bad "make dist: $(head -n 1 "$work/out")"
    packed=$(find "$work/$2" -name '*.tar.gz')
}
name="make dist"
if tar --version 2>/dev/null | grep -q GNU && have gzip; then
    pack "$root" one
    archive=$packed
    version=$(basename "$archive" .tar.gz)
    is "$(find "$work/one" -type f)" "$archive"
    is "$version" "ori-$(sed -n 's/^.define ORI_VERSION_.* //p' tools/lib/ori.h | tr '\n' . | sed 's/\.$//')"
    tar -tzf "$archive" | sed "s,^$version/,," >"$work/files"
    name="files of the archive"
    for file in Makefile README.md LICENSE ir/ptx/lex.c tests/check.sh tests/unit/builder.c; do
        is "$(grep -cx "$file" "$work/files")" 1
    done
    is "$(grep -E '^(build|\.git/|/)' "$work/files")" ""
    [ ! -e .git ] || ! have git || is "$(git ls-files | LC_ALL=C sort | cmp - "$work/files")" ""
    name="an unpacked archive"
    (cd "$work" && umask 002 && tar -xzf "$archive")
    pack "$work/$version" two
    if cmp -s "$archive" "$packed"; then ok; else bad "it gives another archive"; fi
    is "$(find "$work/$version" -type f -perm 755 | wc -l)" "$(find "$work/$version" -type f -perm -100 | wc -l)"
    runs env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$work/$version" B="$work/tree" "$work/tree/tools/lib/entries.pic.o"
    name="the archive depends on names, contents and one time"
    find "$work/$version" -exec touch -d 2001-02-03 {} + && chmod -R g+w "$work/$version"
    pack "$work/$version" three 1000000000
    archive=$packed
    pack "$root" four 1000000000
    if cmp -s "$archive" "$packed"; then ok; else bad "times or modes of files change it"; fi
else
    skip "this needs GNU tar and gzip"
fi

finish
