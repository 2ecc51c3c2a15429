#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh: tests make install and uninstall, the installed library from C and C++, and the programs' help, man pages
# and completions. Missing shells and checkers of man pages are skipped.
#
#   tests/programs/install.sh
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: B, the folder of the build (default: that of ORIOPT, or build).

[ ! "${B-}" ] || ORIOPT=$B/oriopt
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage install.sh
needs "$ORIOPT"
cd "$root" || exit 2
tests=$root/tests B=${ORIOPT%/*}
programs=$B
make_work
names='oriopt orirun oricheck origen ori-ptxas orilink'

has_man_db() { man --version 2>/dev/null | grep -q '^man [0-9]'; }
files() { (cd "$1" && find . ! -type d | sort); }
table_of() { echo "tools/$1/$1.def" | tr -d -; }
# The options --help and --version of ori-ptxas are those of ptxas.
own_of() { case $1 in ori-ptxas) echo ori- ;; esac; }
# options_of PROGRAM: prints name<TAB>kind<TAB>argument<TAB>help of its options.
options_of() {
    sed -n 's/^\(OPTION\|PTXAS\|PTXAS_SAME\)([A-Z_]*, "\([^"]*\)", \([A-Z]*\), "\([^"]*\)", \(COMMAND, \|LAUNCH, \|RUN, \|"[A-Za-z-]*", [A-Z_]*, \|PLAIN, \|AS_IS, \|\)"\(.*\)")$/\2	\3	\4	\6/p' \
        "$(table_of "$1")"
    [ "$1" != orilink ] || options_of_nvlink
}
# The options of nvlink that orilink does not obey, with both spellings.
options_of_nvlink() {
    awk -F '"' '/^(PASSED|REFUSED)/ {
        split($3, kind, /[, ]+/)
        same = $1 ~ /_SAME/
        text = ($1 ~ /^REFUSED/ ? "refused: " : "") $(same ? 6 : 8)
        print $2 "\t" kind[2] "\t" $4 "\t" text
        if (!same)
            print $6 "\t" kind[2] "\t" $4 "\tthe same as --" $2
    }' "$(table_of orilink)"
}

# -- Install and uninstall ---------------------------------------------------------------------------------------------

name=install
dest="$work/a folder"
made B="$B" all "$B/docs/ori.pc" "$B/docs/ori-ptxrun.pc" "$B/docs/ori-config.cmake" "$B/docs/ori-config-version.cmake"
touch "$work/before" && sleep 1
made B="$B" install DESTDIR="$dest"
expected=$(for p in $names; do
    echo "./usr/local/bin/$p"
    echo "./usr/local/share/man/man1/$p.1"
    echo "./usr/local/share/bash-completion/completions/$p"
    echo "./usr/local/share/zsh/site-functions/_$p"
    echo "./usr/local/share/fish/vendor_completions.d/$p.fish"
done
for f in include/ori.h lib/libori.a lib/libori.so lib/libori.so.0 lib/pkgconfig/ori.pc lib/cmake/ori/ori-config.cmake \
    include/ptxrun.h lib/libori-ptxrun.so lib/libori-ptxrun.so.0 lib/pkgconfig/ori-ptxrun.pc lib/cmake/ori/ori-config-version.cmake share/man/man3/ori.h.3; do
    echo "./usr/local/$f"
done)
is "$(files "$dest")" "$(echo "$expected" | sort)"
is "$(find "$dest" -type f ! -perm 755 ! -perm 644)" ""
is "$(find "$dest" -type l | sort)" "$dest/usr/local/lib/libori-ptxrun.so
$dest/usr/local/lib/libori.so"
is "$(find "$dest/usr/local/bin" -type f -perm 755 | wc -l)" 6
name="install writes nothing outside of DESTDIR"
is "$(find "$work" -newer "$work/before" ! -type d ! -path "$dest/*" ! -path "$work/out")" ""
is "$(find "$programs/docs" "$programs"/libori* "$programs/oriopt" -newer "$work/before" ! -type d)" ""

name=uninstall
mkdir "$dest/usr/local/lib/other" && touch "$dest/usr/local/lib/other/file"
made B="$B" uninstall DESTDIR="$dest"
is "$(files "$dest")" ./usr/local/lib/other/file

name="install with folders of its own"
made B="$B" install DESTDIR="$work/own" PREFIX=/opt/ori BINDIR=/usr/bin LIBDIR=/opt/ori/lib64 MANDIR=/usr/man \
    INCLUDEDIR=/usr/include/ori
is "$(files "$work/own" | grep -cE '^\./usr/(bin/ori|man/man1/ori|include/ori/(ori|ptxrun)\.h)|^\./opt/ori/(lib64|share)/|^\./usr/man/man3/ori')" 42
is "$(files "$work/own" | wc -l)" 42
is "$(sed -n 's/^[a-z]*=//p' "$work/own/opt/ori/lib64/pkgconfig/ori.pc" | tr '\n' ' ')" \
    '/opt/ori ${prefix}/lib64 /usr/include/ori '
# The prefix, LIBDIR and INCLUDEDIR of a package file of CMake.
folders_of() { sed -n '/BASE_DIR/s/^[^"]*"\([^"]*\)".*/\1/p; s/^set(_ori_.*"\(.*\)")$/\1/p' "$1" | tr '\n' ' '; }
is "$(folders_of "$work/own/opt/ori/lib64/cmake/ori/ori-config.cmake")" '../../.. ${_ori_prefix}/lib64 /usr/include/ori '
made B="$B" uninstall DESTDIR="$work/own" PREFIX=/opt/ori BINDIR=/usr/bin LIBDIR=/opt/ori/lib64 MANDIR=/usr/man \
    INCLUDEDIR=/usr/include/ori
is "$(files "$work/own")" ""

# In /usr of Debian, zsh reads another folder than in /usr/local and elsewhere.
name="folders of Debian"
multiarch=/usr/lib/x86_64-linux-gnu
made B="$B" install DESTDIR="$work/debian" PREFIX=/usr LIBDIR=$multiarch
zsh=site-functions
[ ! -e /etc/debian_version ] || zsh=vendor-completions
for f in bin/oriopt "${multiarch#/usr/}/libori.so.0" share/bash-completion/completions/oriopt share/zsh/$zsh/_oriopt \
    share/fish/vendor_completions.d/oriopt.fish share/man/man1/oriopt.1 share/man/man3/ori.h.3; do
    if [ -s "$work/debian/usr/$f" ]; then ok; else bad "there is no /usr/$f"; fi
done
is "$(sed -n 's/^libdir=//p' "$work/debian$multiarch/pkgconfig/ori.pc")" '${prefix}/lib/x86_64-linux-gnu'
is "$(folders_of "$work/debian$multiarch/cmake/ori/ori-config.cmake")" \
    '../../../.. ${_ori_prefix}/lib/x86_64-linux-gnu ${_ori_prefix}/include '
made B="$B" install DESTDIR="$work/split" PREFIX=/usr LIBDIR=/lib64
is "$(folders_of "$work/split/lib64/cmake/ori/ori-config.cmake")" '/usr /lib64 ${_ori_prefix}/include '

# -- The library -------------------------------------------------------------------------------------------------------

rm -rf "$dest"
made B="$B" install DESTDIR="$dest"
version=$("$dest/usr/local/bin/oriopt" --version | sed 's/.* //')
name=version
case $version in [0-9]*.[0-9]*) ok ;; *) bad "oriopt says '$version'" ;; esac
is "$(sed -n 's/^Version: //p' "$dest/usr/local/lib/pkgconfig/ori.pc")" "$version"
for p in $names; do is "$("$dest/usr/local/bin/$p" "--$(own_of "$p")version")" "$p $version"; done

cat >"$work/client.c" <<'END'
#include <ori.h>
#include <stdio.h>
int main(void) { return puts(ori_version()) < 0; }
END
cp "$work/client.c" "$work/client.cc"
# client COMPILER SOURCE: compiles with the installed library.
client() {
    export LD_LIBRARY_PATH="$dest/usr/local/lib"
    name="client, $1"
    if ! have "$1"; then
        skip "no $1"
        return
    fi
    if ! have pkg-config; then
        skip "no pkg-config; its flags are written out"
        runs "$1" ${SANITIZE-} -I"$dest/usr/local/include" "$work/$2" -L"$dest/usr/local/lib" -lori -pthread -o "$work/client"
    else
        # below a DESTDIR the prefix differs from the one in ori.pc
        flags=$(PKG_CONFIG_PATH="$dest/usr/local/lib/pkgconfig" \
            pkg-config --define-variable=prefix="$dest/usr/local" --cflags --libs ori 2>&1)
        eval "runs \"$1\" ${SANITIZE-} \"$work/$2\" $flags -o \"$work/client\""
    fi
    is "$("$work/client" 2>&1)" "$version"
    rm -f "$work/client"
    unset LD_LIBRARY_PATH
}
client "$CC" client.c
client g++ client.cc
name="the header alone, strictly"
runs "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$dest/usr/local/include/ori.h"
runs "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$dest/usr/local/include/ptxrun.h"

name="ori.h(3)"
man="$dest/usr/local/share/man/man3/ori.h.3"
sed 's/\\-/-/g; s/\\f.//g' "$man" >"$work/man"
for f in $(sed -n 's/^ORI_API .*[ *]\(ori_[a-z_]*\)(.*/\1/p' tools/lib/ori.h); do
    if grep -qE "^[A-Za-z].*[ *]$f\(" "$work/man"; then ok; else bad "$f is not in it"; fi
done
is "$(grep '^\.SH' "$man" | sed 's/.*"\(.*\)"/\1/' | head -n 3 | tr '\n' ',')" NAME,SYNOPSIS,DESCRIPTION,
is "$(sed -n 's/^\.TH ORI\.H 3 "" "ori \(.*\)" "ori"$/\1/p' "$man")" "$version"
is "$(awk 'length > 80 && !/^\\fB/' "$man")" ""

# -- Texts -------------------------------------------------------------------------------------------------------------

# check_man PAGE: man page checkers find no problem. A date would change without a change of the page.
check_man() {
    ! have groff || runs groff -man -Tascii -ww -z "$1"
    ! have mandoc || is "$(mandoc -T lint -W warning "$1" | grep -v 'missing date, using ""')" ""
    has_man_db || return
    man --warnings -l "$1" >/dev/null 2>"$work/err"
    is "$(cat "$work/err")" ""
}
name="ori.h(3)"
check_man "$dest/usr/local/share/man/man3/ori.h.3"

share="$dest/usr/local/share"
PATH=$dest/usr/local/bin:$PATH
export PATH
for p in $names; do
    man="$share/man/man1/$p.1"
    options_of "$p" >"$work/options"
    name="$p: the table"
    rows=$(grep -E '^(OPTION|(PTXAS|PASSED|REFUSED)(_SAME)?)\(' "$(table_of "$p")" | grep -v ', LINE, "' |
        awk '{ n += /^(PASSED|REFUSED)\(/ ? 2 : 1 } END { print n }')
    is "$rows" "$(wc -l <"$work/options")"
    is "$(awk -F '\t' 'length($4) < 5 || $4 !~ /[a-z]/ { print $1 }' "$work/options")" ""
    # A help text describes the option, and begins with no question word.
    is "$(awk -F '\t' 'tolower($4) ~ /^(what|whether|which|where|how) / { print $1 }' "$work/options")" ""
    for o in help version generate; do
        is "$(sed 's/^ori-//; s/ (--.*//' "$work/options" | grep "^$o	" | head -n 1)" "$(options_of oriopt | grep "^$o	")"
    done
    # -h and -v of ori-ptxas are those of ptxas, and -v of orilink is that of nvlink.
    for o in h v; do
        [ "$p" = ori-ptxas ] || [ "$p$o" = orilinkv ] || is "$(grep "^$o	" "$work/options")" "$(options_of oriopt | grep "^$o	")"
    done

    name="$p: --help"
    "$p" "--$(own_of "$p")help" >"$work/help" 2>&1
    is "$(awk 'length > 80' "$work/help")" ""
    is "$(grep -c '[[:space:]]$' "$work/help")" 0

    name="$p: --generate"
    for kind in man bash zsh fish; do
        "$p" --generate=$kind >"$work/one" 2>&1
        (cd / && TZ=Asia/Tokyo HOME=/nowhere "$dest/usr/local/bin/$p" -generate $kind) >"$work/two" 2>&1
        if [ -s "$work/one" ] && cmp -s "$work/one" "$work/two"; then ok; else bad "$kind is not the same twice"; fi
        # All characters must be printable in a C locale.
        is "$(tr -d '\n\t -~' <"$work/one" | wc -c)" 0
        if [ -w /dev/full ]; then
            "$p" --generate=$kind >/dev/full 2>/dev/null
            is $? 5
        fi
    done
    "$p" --generate=tcsh >"$work/out" 2>"$work/err"
    is $? 2
    is "$(cat "$work/out" "$work/err")" "$p: --generate: 'tcsh' is not man, bash, zsh or fish"

    name="$p: every option is in help, man page and completions"
    sed 's/\\-/-/g; s/\\f.//g' "$man" >"$work/man"
    while IFS='	' read -r option kind arg help; do
        dashes=--
        [ ${#option} -eq 1 ] && dashes=-
        word=$(echo "$help" | cut -d ' ' -f 1 | tr -d '`,')
        if grep -q -e "^  $dashes$option" "$work/help"; then ok; else bad "$option is not in the help"; fi
        if grep -A 1 -e "^$dashes$option" "$work/man" | grep -qF -e "$word"; then ok; else bad "$option is not in the man page"; fi
        if grep -q -e "[' ]$dashes$option[=' ]" "$share/bash-completion/completions/$p"; then ok; else bad "bash: $option"; fi
        if grep -q -e "^        '\*$dashes$option[=[+-]" "$share/zsh/site-functions/_$p"; then ok; else bad "zsh: $option"; fi
        if grep -q -e " -[ls] $option " "$share/fish/vendor_completions.d/$p.fish"; then ok; else bad "fish: $option"; fi
    done <"$work/options"

    name="$p: man page"
    is "$(grep '^\.SH' "$man" | sed 's/.*"\(.*\)"/\1/' | head -n 4 | tr '\n' ',')" NAME,SYNOPSIS,DESCRIPTION,OPTIONS,
    for section in 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        is "$(grep -c "^.SH \"$section\"" "$man")" 1
    done
    is "$(sed -n '/^\.SH "NAME"/{n;p;}' "$man" | grep -c "^$p \\\\- [a-z]")" 1
    is "$(awk 'length > 80 && !/^\\fB/' "$man")" ""
    check_man "$man"
done
name="man pages"
for checker in groff mandoc; do have $checker || skip "no $checker"; done
has_man_db || skip "no man_db"

name="lists that completions ask for"
sed -n 's/^LIST("[^"]*", "\([^"]*\)", "\([^"]*\)")/\1 \2/p' tools/options/option_lists.def >"$work/lists"
if [ -s "$work/lists" ]; then ok; else bad "tools/options/option_lists.def has no rows"; fi
while read -r program option; do
    name="$program $option"
    "$program" "$option" | awk '{ print $1 }' >"$work/out"
    if [ "$(grep -cE '^[A-Za-z0-9_.@-]+$' "$work/out")" -ge 5 ]; then ok; else bad "there are no names"; fi
    is "$(grep -vE '^[A-Za-z0-9_.@-]+$' "$work/out")" ""
done <"$work/lists"

# -- Completions -------------------------------------------------------------------------------------------------------

# Completions in a folder with these files: bash completes the part after the last `=`, `:` or `@`, other shells whole
# words.
mkdir -p "$work/cwd/some folder" "$work/cwd/runs" && touch "$work/cwd/one.ptx" "$work/cwd/two.run" "$work/cwd/o d.ptx"
# offers SHELL LINE EXPECTED...: checks the completions of the line, in any order.
offers() {
    shell=$1
    line=$2
    shift 2
    name="$shell completes \`$line\`"
    want=$(if [ $# -gt 0 ]; then printf '%s\n' "$@"; fi | sort)
    is "$(cd "$work/cwd" && "complete_$shell" "$line" | sort -u)" "$want"
}
# Implemented phases; the number distinguishes those of one name.
phases() {
    oriopt --list-phases | awk '$4 == "implemented" || $4 == "off" { n[$2]++; of[$1] = $2 }
        END { for (row in of) print of[row] (n[of[row]] > 1 ? "@" row : "") }'
}

# Checks completions that all shells share.
common() {
    offers "$1" 'oriopt --emi' "$2"
    offers "$1" 'oriopt --emit p' ptx
    offers "$1" 'oriopt -emit p' ptx
    offers "$1" 'oriopt -x ' ori ptx
    offers "$1" 'oriopt -O' -O0 -O1 -O2 -O3 -O4
    offers "$1" 'oriopt k.ptx --verify ' each final none
    offers "$1" 'oriopt --named-phases OriFo' OriFold OriFormLop3
    offers "$1" 'oriopt --named-phases orifol' OriFold
    offers "$1" 'oriopt --named-phases Enforce'
    offers "$1" 'oriopt --named-phases OriBranchOpt,OriFol' OriBranchOpt,OriFold
    offers "$1" 'oriopt --named-phases OriBranchOpt+NOP,OriFol' OriBranchOpt+NOP,OriFold
    offers "$1" 'oriopt --self-check clone,r' clone,roundtrip
    offers "$1" 'origen --features none,+irr' none,+irreducible
    offers "$1" 'oriopt --stop-after ' $(phases)
    offers "$1" 'oriopt --max-errors '
    offers "$1" 'oriopt -o on' one.ptx
    offers "$1" 'origen o'
    offers "$1" 'orirun on' one.ptx
}

complete_bash() {
    bash --norc -c '
        . "$1"
        # readline also splits words at these characters
        COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=() rest=$2
        while [[ $rest =~ ^[[:space:]]*([^[:space:]=:@]+|[=:@]+)(.*)$ ]]; do
            COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${BASH_REMATCH[2]}
        done
        [[ $2 == *[[:space:]] ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        "_${COMP_WORDS[0]}"
        ((${#COMPREPLY[@]})) && printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$share/bash-completion/completions/${1%% *}" "$1"
}
name=bash
if have bash; then
    for p in $names; do runs bash -n "$share/bash-completion/completions/$p"; done
    common bash --emit=
    offers bash 'oriopt --emit=p' ptx
    offers bash 'oriopt --emit=' none ori ptx
    offers bash 'oriopt --ver' --verify= --verify-each --version
    offers bash 'oriopt -ver' -verify= -verify-each -version
    offers bash 'oriopt --stats=' all json
    offers bash 'oriopt --list-sm=' json names
    offers bash 'oriopt --named-phases=OriBranchOpt,OriFol' OriBranchOpt,OriFold
    offers bash 'oriopt --named-phases=NOP@12,OriFol' 12,OriFold
    offers bash 'oriopt --named-phases X:1,OriFol' 1,OriFold
    offers bash 'oriopt --named-phases=DumpNVu' DumpNVuCodeText@129 DumpNVuCodeText@155
    offers bash 'oriopt --named-phases=DumpNVuCodeText@1' 129 155
    offers bash 'oriopt --knob OptB' OptBudget=
    offers bash 'oriopt --arch sm_8' sm_80 sm_86 sm_87 sm_88 sm_89
    offers bash 'oriopt @on' one.ptx
    offers bash 'oriopt @' 'o d.ptx' one.ptx runs 'some folder' two.run
    offers bash 'origen @on' one.ptx
    offers bash 'oriopt -- @on'
    offers bash 'oriopt --reproducer=on' one.ptx
    offers bash 'oriopt --check-each=' runs 'some folder' two.run
    offers bash 'oriopt --ir-dump-dir r' runs
    offers bash 'oriopt --ir-dump-dir=' runs 'some folder'
    offers bash 'orilink -L r' runs
    offers bash 'orilink -Lr' -Lruns
    offers bash 'orilink --lto --lib' --library= --library-path=
    offers bash 'oricheck ' 'o d.ptx' one.ptx runs 'some folder' two.run
    offers bash 'oricheck "o' 'o d.ptx' one.ptx
    offers bash 'oriopt -- --em'
    offers bash 'ori-ptxas --opt-l' --opt-level=
    offers bash 'ori-ptxas -opt-l'
    offers bash 'ori-ptxas --opt-level ' 0 1 2 3 4
    offers bash 'ori-ptxas on' one.ptx
    offers bash 'oriopt --list-phases on' one.ptx
    offers bash 'origen --style=' mixed naive optimized
    offers bash 'origen --features -irr' -irreducible
    offers bash "oriopt $(options_of oriopt | awk -F '\t' 'NR == 1 { print "-" $1 }') on" one.ptx
    name="bash offers every option"
    for p in $names; do
        is "$(complete_bash "$p --" | sed 's/^--//; s/=$//' | sort)" "$(options_of "$p" | cut -f 1 | grep .. | sort)"
    done
else
    skip "no bash"
fi

# An interactive zsh on a pseudo-terminal, whose compadd records its completions.
cat >"$work/capture.zsh" <<'END'
zmodload zsh/zpty || exit 1
export TERM=dumb
zpty shell zsh -f -i
tell() { zpty -w shell "$1" }
tell 'PS1= PS2= PROMPT_EOL_MARK=; unsetopt prompt_cr prompt_sp beep; stty -echo'
tell "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -d ${(q)3}.dump"
tell 'compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    local -a hits
    builtin compadd -O hits "$@"
    print -rl -- $IPREFIX${^hits} >>$capture
    builtin compadd "$@"
}'
tell 'finish() { zle list-choices; print -r -- END >>$capture; BUFFER= }; zle -N finish; bindkey "^X" finish'
tell "capture=${(q)3}"
zpty -w -n shell "$2"$'\x18'
for ((k = 0; k < 200; k++)); do
    zpty -r -t shell ignored >/dev/null
    [[ -f $3 && $(tail -n 1 $3) == END ]] && break
    sleep .05
done
((k < 200)) || print "zsh did not answer"
zpty -d shell
sed '$d' $3
END
complete_zsh() {
    rm -f "$work/capture"
    zsh -f "$work/capture.zsh" "$share/zsh/site-functions" "$1" "$work/capture"
}
name=zsh
if have zsh && zsh -fc 'zmodload zsh/zpty' 2>/dev/null; then
    for p in $names; do runs zsh -n "$share/zsh/site-functions/_$p"; done
    common zsh --emit
    offers zsh 'oriopt --emit=p' --emit=ptx
    offers zsh 'oriopt --stats=' --stats=all --stats=json
    offers zsh 'oriopt --named-phases=OriBranchOpt,OriFol' --named-phases=OriBranchOpt,OriFold
    offers zsh 'oriopt @on' @one.ptx
    offers zsh 'origen @on' @one.ptx
    offers zsh 'oriopt --reproducer=on' --reproducer=one.ptx
    offers zsh 'oriopt --check-each=t' --check-each=two.run
    offers zsh 'oriopt --ir-dump-dir r' runs
    offers zsh 'origen --features -irr' -irreducible
    offers zsh 'oriopt --list-phases on' one.ptx
    name="zsh offers every option"
    for p in $names; do
        is "$(complete_zsh "$p -" | sed 's/^--*//' | sort -u)" "$(options_of "$p" | cut -f 1 | sort -u)"
    done
else
    skip "no zsh with zsh/zpty"
fi

complete_fish() {
    HOME=$work XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data fish --no-config -c '
        source $argv[1]
        complete -C $argv[2]
    ' "$share/fish/vendor_completions.d/${1%% *}.fish" "$1" 2>&1 | cut -f 1
}
name=fish
if have fish; then
    for p in $names; do runs fish -n "$share/fish/vendor_completions.d/$p.fish"; done
    common fish --emit
    offers fish 'oriopt --emit=p' --emit=ptx
    offers fish 'oriopt --stats=' --stats=all --stats=json
    offers fish 'oriopt --named-phases=OriBranchOpt,OriFol' --named-phases=OriBranchOpt,OriFold
    offers fish 'oriopt --reproducer=on' --reproducer=one.ptx
    # fish inserts a completion of another case in place of the whole word, so it lists none.
    offers fish 'oriopt --stop-after=orifol'
    offers fish 'oriopt --stop-after=OriFol' --stop-after=OriFold
    offers fish 'oriopt --check-each=t' --check-each=two.run
    offers fish 'oriopt @on' @one.ptx
    offers fish 'origen @on' @one.ptx
    offers fish 'oriopt --ir-dump-dir r' runs/
    offers fish 'oriopt --list-phases on' one.ptx
    name="fish offers every option"
    for p in $names; do
        is "$(complete_fish "$p -" | sed 's/^--*//; s/=$//' | sort -u)" "$(options_of "$p" | cut -f 1 | sort -u)"
    done
else
    skip "no fish"
fi

finish
