#!/bin/sh
# SPDX-License-Identifier: MIT
#
# constants.sh: lays out constants of the user again: aliases, the documented merging and the documented pre-pass, alone
# and beside banks of the compiler's constants, for sm_75, 80 and 90. nvlink links all results. --verify-link compares
# them with its links of the originals, and cubin.py --variables each place in linked code with the variable of the
# original file. Ends in `N passed, N failed, N skipped`.
#
# Environment: LINK_FILES, a path; the compiled files are taken from the folder LINK_FILES-constants if it exists, else
# copied there.
#
# nvlink 13.0 sorts an overflowing bank itself, but it ends by SIGFPE if a constant is static, and leaves the
# relocations of a constant that it removes at the old place, where another one may be. So only links of constants
# without these (-DPLAIN) can be compared.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/link/links.sh"

# -- Files -------------------------------------------------------------------------------------------------------------

# Two functions with 8,200 doubles in all, for which no bank of all constants is large enough.
doubles() { # FUNCTION FIRST
    awk -v name="$1" -v first="$2" 'BEGIN {
        printf "extern \"C\" __device__ __noinline__ double %s(double x)\n{\n    double r = x;\n", name
        for (k = first; k < first + 4100; k++)
            printf "    r = r * x + %.12f;\n", 1 + k * 0.0123456789
        print "    return r;\n}"
    }'
}
{
    doubles f0 10000
    doubles f1 20000
    echo '__constant__ int unused_first[3] = {1, 2, 3}, other_first[3] = {1, 2, 3};'
    echo '__constant__ double factor = 2.5;'
    echo 'extern "C" __global__ void k0(double *p) { p[0] = f0(p[1]) * factor; }'
    echo 'extern "C" __global__ void k1(double *p) { p[0] = f1(p[1]) * factor; }'
} >large.cu
objects() { # NAME FILE OPTIONS...
    object=$1 file=$2
    shift 2
    # shellcheck disable=SC2086
    starts object $object $file $targets -no-compress "$@"
}
compile() {
    objects equal1 equal
    objects equal2 equal -DSECOND
    objects equal3 equal -DTHIRD
    objects over1 overflow
    objects over2 overflow -DSECOND
    objects plain1 overflow -DPLAIN
    objects plain2 overflow -DPLAIN -DSECOND
    objects debug1 equal -G
    objects lines2 equal -DSECOND -lineinfo
    starts cubins merged merged
    starts cubins places places
    starts nvcc -rdc=true -fatbin -no-compress -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
        -o large.fatbin large.cu
    compiled
    extract equal1.o equal2.o over1.o over2.o plain1.o plain2.o ./*.fatbin
    rm ./*.fatbin log.*
}
# Mutants share the files of the first run.
cache=${LINK_FILES:+$LINK_FILES-constants}
if [ -d "$cache" ]; then
    cp -R "$cache/." .
else
    compile
    [ ! "$cache" ] || cp -R . "$cache"
fi

# -- Checks ------------------------------------------------------------------------------------------------------------

cubin() { $python "$root/tests/link/cubin.py" "$@"; }
edit() { $python "$root/tests/link/edit_variables.py" "$@"; }

# reads FILES...: compares linked code and constants with those of the originals. Sets $bytes, those of constants, and
# $size, that of the bank, and writes the names that share a place to `shared`.
reads() {
    name="$name, places"
    cubin --variables linked "$@" >variables 2>&1
    case $(head -n 1 variables) in
    [1-9]*' reads, 0 wrong') ok ;;
    *) bad "$(head -n 1 variables)" ;;
    esac
    bytes=$(sed -n 's/ bytes in .*//p' variables)
    size=$(sed -n 's/.* bytes in //p' variables)
    sed -n 's/^shared: //p' variables >shared
}
# only_constants FILES...: checks that the files in `small` have the same sections as those in `plain`, but for
# constants, and relocations, which may name another one.
only_constants() {
    for file; do
        is "$(cubin --changes $sm "plain/$file" "small/$file" | tr ' ' '\n' |
            grep -vE '^(\.nv\.constant3|\.rela?\.(text\..*|nv\.constant3)|)$')" ''
    done
}
# rewrites BASE OPTIONS FILES...: rewrites files with lists of options to `small`, and with BASE alone to `plain`.
# Another rewriting changes nothing.
rewrites() {
    base="-arch sm_$sm --ocg=off $1" options=$2
    shift 2
    rm -rf plain small again
    # shellcheck disable=SC2086
    exits "$name, twice" 0 "$ORILINK" $base $options -o small "$@"
    # shellcheck disable=SC2086
    "$ORILINK" $base -o plain "$@"
    # shellcheck disable=SC2086
    (cd small && "$ORILINK" $base $options -o ../again "$@")
    is "$(diff -r small again)" ''
    only_constants "$@"
}
# messages NAME FILE: compares what --verbose-layout printed. Numbers of sections depend on the target.
messages() {
    name="$1, messages, sm_$sm"
    unlisted
    sed 's/__nv_static[^ ]*_static_/static_/; s/ (.*)$/ (N)/; s/section [0-9][0-9]*/section N/' lines >log
    same "$2" log
}
# unlisted: writes messages to `lines`, without warnings of names of lists that match nothing, such as `none`.
unlisted() { sed '/^orilink: warning: --[a-z]*-used: no /d' err >lines; }
# quiet COMMAND...: without --verbose-layout, -v prints no message about the layout.
quiet() {
    exits "$name, -v" 0 "$@" -v -o unused
    is "$(grep -E '^(optimize|layout|found|change|no symbol|new OCG|ocg|(local )?constant |remove unused)' err)" ''
}

# -- Aliases -----------------------------------------------------------------------------------------------------------

printf '%s\n' 'chain_a chain_b chain_c' 'global_16 static_16' 'global_64 global_64_second' 'global_8 static_8' \
    'global_three static_three static_three' 'loose_12 strict_12' 'loose_4 strict_4' 'not_overlapped overlapped' \
    'one_16 two_16' 'one_4 two_4' 'one_64 two_64' 'one_8 two_8' 'overlaps same_overlaps' \
    'replaced replaces' 'static_4 static_4' \
    'static_twin static_twin' >pairs
grep -v 'overlap\|twin' pairs >pairs_of_traps
mkdir traps
cp equal1.o equal2.o equal3.o traps
edit traps/equal1.o move overlapped overlaps 4
edit traps/equal3.o name static_twin traps/equal2.o
alias=--merge-constants=alias
aliases() {
    files='equal1.o equal2.o equal3.o'
    exits "no aliases, sm_$sm" 0 "$ORILINK" -arch sm_$sm --nvlink --verify-link -o linked $files
    reads $files
    silent shared
    before=$bytes size_before=$size
    exits "aliases, sm_$sm" 0 "$ORILINK" -arch sm_$sm --nvlink --verify-link $alias --print-merged-constants -o linked \
        $files
    silent err
    reads $files
    same pairs shared
    # 4 + 8 + 16 + 64 in one file, 4 + 12 with other alignments, 4 + 8 + 16 + 64 in two files, 4 twice in three, 8 twice
    # in three, and three of 4 and one of 16
    is $((before - bytes)) 252
    is $((size_before - size > 200)) 1 # gaps depend on the order, and that on the path of the sources
    is "$(grep -c ' is replaced by ' out)" 18
    says out "constant 'loose_4' in file 'equal1.o' is replaced by 'strict_4' in file 'equal1.o'"
    says out "constant 'loose_12' in file 'equal1.o' is replaced by 'strict_12' in file 'equal1.o'"
    says out "constant 'chain_a' in file 'equal2.o' is replaced by 'chain_c' in file 'equal3.o'"
    says out "constant 'chain_b' in file 'equal2.o' is replaced by 'chain_c' in file 'equal3.o'"
    says out "constant 'replaced' in file 'equal2.o' is replaced by 'replaces' in file 'equal1.o'"
    rewrites '' $alias $files

    exits "reports, sm_$sm" 0 "$ORILINK" -arch sm_$sm $alias --report=text $files
    grep '^constants of the user' out >text
    exits "reports, sm_$sm" 0 "$ORILINK" -arch sm_$sm $alias --report=json $files
    says out '{"constant":"loose_4","file":"equal1.o","by":"strict_4","of":"equal1.o"}'
    is "$($python -c 'import json
r = json.load(open("out"))
sizes = [[c[k] for c in r["constants"]] for k in ("before", "after")]
print([c["file"] for c in r["constants"]], len(r["replaced"]))
print("constants of the user: %d bytes in %d files, laid out in %d" % (sum(sizes[0]), len(sizes[0]), sum(sizes[1])))')" \
        "['equal1.o', 'equal2.o', 'equal3.o'] 18
$(cat text)"
    exits "reports without aliases, sm_$sm" 0 "$ORILINK" -arch sm_$sm --report=json $files
    is "$(grep -c '"replaced":' out)" 0

    # A constant that overlaps another one, and static ones whose names could not be told apart.
    (
        cd traps || exit
        "$ORILINK" -arch sm_$sm --nvlink --verify-link $alias -o ../linked $files
    ) >out 2>err
    name="traps, sm_$sm"
    silent err
    reads traps/equal1.o traps/equal2.o traps/equal3.o
    same pairs_of_traps shared

    # No constant of a file without host information may be merged, nor one of the others.
    exits "cubins, sm_$sm" 0 "$ORILINK" $alias --print-merged-constants -o small equal1.$sm.cubin equal2.$sm.cubin
    says err 'warning: no constants are merged: an input has no host information'
    silent out
    same equal1.$sm.cubin small/equal1.$sm.cubin
    same equal2.$sm.cubin small/equal2.$sm.cubin
    exits "one cubin, sm_$sm" 0 "$ORILINK" -arch sm_$sm $alias --print-merged-constants -o small equal1.o \
        equal2.$sm.cubin equal3.o
    says err 'warning: no constants are merged: an input has no host information'
    silent out

    # The pre-pass removes a constant that only dead code reads, so it replaces none.
    exits "aliases and the pre-pass, sm_$sm" 0 "$ORILINK" -arch sm_$sm --dce=documented --optimize-data-layout $alias \
        --nvlink --verify-link -o linked $files
    reads $files
    same pairs shared
    exits "aliases and a plan, sm_$sm" 0 "$ORILINK" -arch sm_$sm --optimize-data-layout $alias --nvlink --verify-link \
        --report=text -o linked $files
    [ $sm = 90 ] || says out 'constants of kernel k_first(int*, double*): 24 bytes, planned in 24'
    reads $files
    same pairs shared
    rewrites '' "--optimize-data-layout $alias" $files
    exits "aliases and 9d, sm_$sm" 0 "$ORILINK" -arch sm_$sm --ocg=documented --optimize-data-layout $alias --nvlink \
        --verify-link -o linked $files
    reads $files
    same pairs shared

    # Debug information names constants, too. Code that is not optimized takes addresses.
    files='debug1.o lines2.o equal3.o'
    exits "debug information, sm_$sm" 0 "$ORILINK" -arch sm_$sm --nvlink --verify-link $alias -o linked $files
    reads $files
    says shared 'chain_a chain_b chain_c'
    says shared 'static_twin static_twin'
    rewrites '' $alias $files
}

# -- The documented merging --------------------------------------------------------------------------------------------

documented='--dce=documented --merge-constants=documented'
merging() {
    lists='--kernels-used=k_merged --variables-used=none'
    {
        echo 'layout and merge section .nv.constant3'
        echo 'found duplicate 64bit value 0x4021000000000000, alias unread_8 to more_8'
        echo 'found duplicate value 0x41414141, alias more_4 to unread_4'
        echo 'found duplicate 12 byte value, alias a_12 to strict_12'
    } >expected
    exits "merging, sm_$sm" 0 "$ORILINK" $lists $documented --nvlink --verify-link --verbose-layout -o linked merged.$sm.cubin
    messages merging expected
    reads merged.$sm.cubin
    silent shared # of those that code reads
    rewrites "--dce=documented $lists" --merge-constants=documented merged.$sm.cubin
    exits "merging without messages, sm_$sm" 0 "$ORILINK" $lists $documented -o small merged.$sm.cubin
    unlisted && silent lines
    quiet "$ORILINK" $lists $documented merged.$sm.cubin
    # The host may read each constant of a file without host information.
    exits "merging of cubins, sm_$sm" 0 "$ORILINK" --merge-constants=documented --verbose-layout --nvlink --verify-link \
        -o linked merged.$sm.cubin
    echo 'layout and merge section .nv.constant3' >expected
    messages 'merging of cubins' expected
    # Constants without a symbol are shared, too, and keep their section from the pre-pass.
    cp merged.$sm.cubin anonymous.cubin
    edit anonymous.cubin remove more_4
    edit anonymous.cubin remove a_12
    exits "anonymous constants, sm_$sm" 0 "$ORILINK" $lists $documented --optimize-data-layout --verbose-layout --nvlink \
        --verify-link -o linked anonymous.cubin
    {
        echo 'layout and merge section .nv.constant3'
        echo 'found duplicate 64bit value 0x4021000000000000, alias unread_8 to more_8'
        echo 'found duplicate value 0x41414141, alias  to unread_4'
        echo 'found duplicate 12 byte value, alias  to strict_12'
    } >expected
    messages 'anonymous constants' expected
    reads anonymous.cubin

    exits "merging beside a plan, sm_$sm" 0 "$ORILINK" --kernels-used=near,far --variables-used=none $documented \
        --optimize-data-layout --nvlink --verify-link -o linked places.$sm.cubin
    reads places.$sm.cubin
    exits "merging beside 9d, sm_$sm" 0 "$ORILINK" --kernels-used=near,far --variables-used=none $documented \
        --ocg=documented --optimize-data-layout --verbose-layout --nvlink --verify-link -o linked places.$sm.cubin
    says err 'layout and merge section .nv.constant3'
    [ $sm = 90 ] || says err 'new OCG constant size = 24'
    reads places.$sm.cubin
    quiet "$ORILINK" --kernels-used=near,far --variables-used=none $documented --ocg=documented --optimize-data-layout \
        places.$sm.cubin
    [ $sm != 90 ] || return 0
    exits "merging beside 9d that gives up, sm_$sm" 0 "$ORILINK" --kernels-used=k --variables-used=none $documented \
        --ocg=documented --optimize-data-layout --verbose-layout --nvlink --verify-link -o linked large.$sm.cubin
    says err "ocg const optimization didn't help so give up"
    says err 'remove unused constant unused_first'
    reads large.$sm.cubin
    is "$bytes" 8
}

# -- The pre-pass ------------------------------------------------------------------------------------------------------

overflow() {
    {
        echo 'optimize space in .nv.constant3 (N)'
        echo 'remove unused constant static_unused'
        echo 'local constant static_short at offset 36072'
        echo 'constant strict at offset 0'
        echo 'constant factor at offset 16'
        echo 'constant pointers at offset 40'
        echo 'constant of_host at offset 64'
        echo 'remove unused constant unused_large'
        echo 'remove unused constant unused_letter'
        echo 'change reloc in section N, offset from 56 to 40'
        echo 'change reloc in section N, offset from 40 to 24'
        echo 'no symbol for reloc section N at offset 24?'
        echo 'optimize space in .nv.constant3 (N)'
        echo 'local constant static_large at offset 24'
        echo 'remove unused constant unused_word'
        echo 'constant table at offset 4'
    } >expected
    name="nvlink rejects the originals, sm_$sm"
    (nvlink -arch=sm_$sm --use-host-info -o never over1.o over2.o || exit 1) >log 2>&1 && bad 'it links them' || ok
    lists='--kernels-used=k_first,k_second --variables-used=of_host'
    for roots in --use-host-info "$lists"; do
        suffix=o
        [ "$roots" = --use-host-info ] || suffix=$sm.cubin
        files="over1.$suffix over2.$suffix" plain="plain1.$suffix plain2.$suffix"
        # shellcheck disable=SC2086
        set -- "$ORILINK" -arch sm_$sm --dce=documented $roots
        exits "an overflow, $suffix" 0 "$@" --nvlink --verbose-layout -o linked $files
        messages "an overflow, $suffix" expected
        reads $files
        is "$bytes $size" "30075 30081"
        exits "an overflow without static constants, $suffix" 0 "$@" --nvlink --verify-link -o linked $plain
        silent err
        reads $plain
        is "$bytes $size" "30075 30081"
        quiet "$@" $files
        rm -rf plain small again
        exits "an overflow, twice, $suffix" 0 "$@" -o small $files
        "$@" --no-opt -o plain $files
        (cd small && "$@" -o ../again $files)
        is "$(diff -r small again)" ''
        only_constants $files
        exits "no pre-pass, $suffix" 1 "$ORILINK" -arch sm_$sm --ignore-host-info --nvlink --no-opt -o never $files
        says err 'File uses too much global constant data'
        exits "an overflow and merging, $suffix" 0 "$@" --merge-constants=documented --nvlink -o linked $files
        reads $files
        is "$bytes $size" "30075 30081"
    done
    exits "an overflow and aliases, sm_$sm" 0 "$ORILINK" -arch sm_$sm --dce=documented $alias --nvlink -o linked over1.o \
        over2.o
    reads over1.o over2.o

    # Dead constants do not count.
    exits "no overflow, sm_$sm" 0 "$ORILINK" -arch sm_$sm --nvlink --verbose-layout -o linked over1.o over2.o
    silent err
    reads over1.o over2.o
    is "$bytes $size" "30075 30081"
    exits "one file, sm_$sm" 0 "$ORILINK" --dce=documented $lists --verbose-layout -o small plain1.$sm.cubin
    unlisted && silent lines
    same plain1.$sm.cubin small/plain1.$sm.cubin
    exits "one file, forced, sm_$sm" 0 "$ORILINK" --dce=documented $lists --optimize-data-layout -o small \
        plain1.$sm.cubin
    is "$(cubin --changes $sm plain1.$sm.cubin small/plain1.$sm.cubin | tr ' ' '\n' | grep -v '^\.rel')" .nv.constant3
    # Nothing can be removed.
    exits "used constants overflow, sm_$sm" 1 "$ORILINK" -arch sm_$sm --nvlink --ignore-host-info --verbose-layout -o never \
        over1.o over2.o
    says err 'optimize space in .nv.constant3'
    says err 'File uses too much global constant data'
    absent never

    # A relocation of bytes without a symbol stays where it is.
    cp over1.$sm.cubin gap.cubin
    edit gap.cubin reloc .nv.constant3 24 12
    for option in '' --merge-constants=documented; do
        # shellcheck disable=SC2086
        exits "a relocation between constants, sm_$sm" 0 "$ORILINK" --dce=documented $lists $option --verbose-layout \
            -o small gap.cubin over2.$sm.cubin
        sed 's/section [0-9][0-9]*/section N/' err >log
        says log 'no symbol for reloc section N at offset 12?'
        is "$(grep -c 'change reloc\|merge' err)" "$(echo $option | wc -w)" # of over2
        is "$(cubin --changes $sm gap.cubin small/gap.cubin | tr ' ' '\n' | grep constant3)" ''
    done
    cp over1.o gap.o
    edit gap.o reloc .nv.constant3 24 12
    exits "a relocation between constants and aliases, sm_$sm" 0 "$ORILINK" -arch sm_$sm $alias -o small gap.o over2.o
    is "$(cubin --changes $sm gap.o small/gap.o | tr ' ' '\n' | grep constant3)" ''
}

# -- No optimization ---------------------------------------------------------------------------------------------------

no_opt() {
    files='equal1.o equal2.o equal3.o'
    exits "--no-opt, sm_$sm" 0 "$ORILINK" -arch sm_$sm --no-opt --dce=documented --nvlink --verify-link --verbose-layout \
        -o linked $files
    silent err
    reads $files
    is "$bytes" 679
    silent shared
    rm -rf small
    "$ORILINK" -arch sm_$sm --no-opt --dce=documented -o small plain1.o plain2.o
    for file in plain1.o plain2.o; do
        is "$(cubin --changes $sm $file small/$file)" ''
    done
    exits '--no-opt and the layout' 2 "$ORILINK" --no-opt --optimize-data-layout $files
    says err '-no-opt and -optimize-data-layout exclude each other'
    for mode in alias documented; do
        exits '--no-opt and merging' 2 "$ORILINK" --no-opt --merge-constants=$mode $files
        says err '--no-opt and --merge-constants exclude each other'
    done
}

for sm in 75 80 90; do
    aliases
    merging
    overflow
    no_opt
done
finish
