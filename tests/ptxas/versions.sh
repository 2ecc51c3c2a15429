#!/bin/sh
# SPDX-License-Identifier: MIT
#
# versions.sh: checks --ptx-version with ptxas, which is the judge of the versions in ir/core/features.def.
#
#   instructions  Of the lines of words/VERSION-TARGET.txt and versions/VERSION-TARGET.txt, oriopt must refuse each under
#                 PTX 3.1 with the version that ptxas requires. A line with an older spelling is accepted.
#   modules       A line of versions/modules.txt has a version, a target and a module, `\n` for an end of line. Under an
#                 earlier version ptxas and oriopt must refuse it, and both must accept it under this version.
#   targets       the same for a module with each target of oriopt.
#   samples       For each sample, ptxas must accept the output with the least version that oriopt accepts. oriopt must
#                 refuse the version before.
#
#   tests/ptxas/versions.sh [-q]    -q: a few samples
#
# Skips if there is no ptxas. Ends in `N passed, N failed, N skipped`. Environment: ORIOPT, the program to test (default
# build/oriopt).
. "$(dirname "$0")/../lib.sh"
tests=$root/tests/ptxas
needs "$ORIOPT"
without_ptxas
make_work
cd "$work" || exit 2
all='3.1 3.2 4.0 4.1 4.2 4.3 5.0 5.1 6.0 6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5
    8.6 8.7 8.8 9.0'

case ${1-} in
-q) samples='[acw]*.sm_90.ptx' ;;
'') samples='*.ptx' ;;
*) usage "tests/ptxas/versions.sh [-q]" ;;
esac

# before VERSION: prints the version before it, or 5.0 for 6.0: ptxas 13.0 takes some features of 6.0 under 5.1.
before() {
    [ "$1" != 6.0 ] || set -- 5.1
    for v in $all; do [ "$v" != "$1" ] || break && echo "$v"; done | tail -n 1
}
# compile FILE TARGET: runs ptxas, with its messages in `said`.
compile() {
    case $2 in sm_[1-6]* | sm_7[0-2]) case $2 in sm_1[0-9][0-9]*) arch=$2 ;; *) arch=sm_75 ;; esac ;; *) arch=$2 ;; esac
    ptxas -arch "$arch" -o cubin "$1" >said 2>&1 || {
        grep -q -e --compile-only said && ptxas -c -arch "$arch" -o cubin "$1" >said 2>&1
    }
}
# change VERSION FILE: runs oriopt, with its messages in `err`. Prints the version that it requires.
change() {
    "$ORIOPT" --max-errors=0 --ptx-version="$1" -o out.ptx "$2" 2>err
    status=$?
    sed -n 's/.* needs PTX \([0-9.]*\)$/\1/p; s/.*; PTX \(8.1\) allows.*/\1/p' err | sort -V | tail -n 1
}

# -- Instructions ------------------------------------------------------------------------------------------------------

# instructions FILE: ptxas stops after some errors, so it gets a few lines at a time.
instructions() {
    target=${1##*-} target=${target%.txt}
    rm -f part.*
    split -l 40 "$1" part.
    for part in part.*; do
        for version in 3.1 9.0; do
            {
                echo ".version $version"
                echo ".target $target"
                echo ".address_size 64"
                echo ".func ff { ret; } .visible .entry k(.param .u64 o) {"
                echo ".reg .pred %p<10>; .reg .b8 %c<5>; .reg .b16 %h<10>; .reg .b32 %r<20>; .reg .b64 %d<20>;"
                echo ".reg .b128 %q<5>; .reg .f32 %f<20>; .reg .f64 %e<9>; .shared .align 16 .b8 s[256];"
                echo "ld.param.u64 %d1, [o]; mov.u32 %r9, s; L1: tt: .branchtargets L1;"
                cat "$part"
                echo "ret; }"
            } >"$version.ptx"
        done
        compile 3.1.ptx "$target"
        sed -n 's/.*, line \([0-9]*\);.* requires PTX ISA \.version \([0-9.]*\).*/\1 \2/p' said | sort -k1,1n -k2,2V |
            awk '{ need[$1] = $2 } END { for (k in need) if (k > 7 && need[k] > 3.1) print k, need[k] }' | sort >ptxas
        change 3.1 9.0.ptx >/dev/null
        sed -n 's/^9.0.ptx:\([0-9]*\):[0-9]*: error: .* needs PTX \([0-9.]*\)$/\1 \2/p' err | sort -k1,1n -k2,2V |
            awk '{ need[$1] = $2 } END { for (k in need) if (k > 7) print k, need[k] }' | sort >oriopt
        awk 'FILENAME == "ptxas" { ptxas[$1] = $2; next }
            FILENAME == "oriopt" { oriopt[$1] = $2; next }
            FNR < 8 || /^ret/ { next }
            !oriopt[FNR] && /\.shared::cta|\.param::|\.weak|^barrier.*\.aligned/ { ptxas[FNR] = "" }
            ptxas[FNR] == oriopt[FNR] { print "same"; next }
            { print "oriopt has \"" oriopt[FNR] "\", ptxas \"" ptxas[FNR] "\": " $0 }
        ' ptxas oriopt 9.0.ptx >compared
        while read -r line; do
            if [ "$line" = same ]; then ok; else bad "$line"; fi
        done <compared
    done
}

for file in "$tests"/words/9.0-*.txt "$tests"/versions/9.0-*.txt; do
    instructions "$file"
done

# -- Modules and targets -----------------------------------------------------------------------------------------------

# needed VERSION TARGET TEXT: checks both programs on a module.
needed() {
    earlier=$(before "$1")
    printf '.version 9.0\n.target %s\n.address_size 64\n%b\n' "$2" "$3" >in.ptx
    [ -n "$earlier" ] || return
    sed "s/^.version 9.0/.version $earlier/" in.ptx >low.ptx
    if compile low.ptx "$2"; then bad "ptxas accepts it under $earlier"; else ok; fi
    is "$(change "$earlier" in.ptx)" "$1"
    change "$1" in.ptx >/dev/null
    is "$status" 0
    if compile out.ptx "$2"; then ok; else bad "ptxas refuses it under $1: $(head -n 1 said)"; fi
}
while IFS='	' read -r version target text; do
    name=$text
    needed "$version" "$target" "$text"
done <"$tests/versions/modules.txt"

ptxas --help | tr -cs 'a-z0-9_' '\n' | grep '^sm_' | sort -u >known
for target in $("$ORIOPT" --list-sm=names) sm_90a sm_100f sm_120f; do
    name=$target
    grep -qx "$target" known || continue
    printf '.version 9.0\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n' "$target" >in.ptx
    version=$(change 3.1 in.ptx)
    needed "${version:-3.1}" "$target" '.visible .entry k() { ret; }'
done

# -- Samples -----------------------------------------------------------------------------------------------------------

for file in "$root"/samples/ptx/$samples; do
    name=${file##*/}
    target=$(sed -n 's/^\.target \(sm_[0-9a-z]*\).*/\1/p' "$file" | head -n 1)
    version=$(change 3.1 "$file")
    change "${version:=3.1}" "$file" >/dev/null
    if [ $status -ne 0 ]; then
        bad "oriopt does not make PTX $version: $(head -n 1 err)"
        continue
    fi
    grep -qx ".version $version" out.ptx && ok || bad "the output has another version"
    if compile out.ptx "$target"; then ok; else bad "ptxas refuses PTX $version: $(head -n 1 said)"; fi
    earlier=$(before "$version")
    if [ -n "$earlier" ]; then
        change "$earlier" "$file" >/dev/null
        is "$status" 1
    fi
done
finish
