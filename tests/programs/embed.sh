#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.sh: tests the library in another program. The installed library builds samples/embed/optimize.c, which must
# produce the output of oriopt for all samples. libori.a must have no global state, and no way to print or to end the
# process. Many threads with a context each must get the same bytes as one (embed/threads.c), under ThreadSanitizer if
# the compiler supports it.
#
#   tests/programs/embed.sh [-q]        -q: without ThreadSanitizer, and fewer samples on each thread
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: B, the folder of the build (default: that of ORIOPT, or build), CC, CXX, SANITIZE.
[ ! "${B-}" ] || ORIOPT=$B/oriopt
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
B=${ORIOPT%/*}
quick='' times=32
[ "${1-}" = -q ] && quick=1 times=2 && shift
[ $# -eq 0 ] || usage "embed.sh [-q]"
needs "$ORIOPT"
make_work
CXX=${CXX:-c++}
strict='-Wall -Wextra -Wpedantic -Werror'
samples=$(ls samples/ptx/*.ptx samples/handwritten/*.ptx samples/handwritten/*.ori)

same() { if cmp -s "$1" "$2"; then ok; else bad "$3"; fi; }
# -- The installed library ---------------------------------------------------------------------------------------------

name=install
dest=$work/dest
made B="$B" install DESTDIR="$dest" PREFIX=/usr
pc=$dest/usr/lib/pkgconfig/ori.pc
name=pkg-config
# Expands ori.pc by hand: here the prefix is below DESTDIR.
by_hand=$(
    prefix=$dest$(sed -n 's/^prefix=//p' "$pc")
    libdir=$(sed -n 's/^libdir=//p' "$pc")
    includedir=$(sed -n 's/^includedir=//p' "$pc")
    eval "libdir=$libdir includedir=$includedir"
    eval "echo $(sed -n 's/^Cflags: //p; s/^Libs: //p' "$pc" | tr '\n' ' ')"
)
if have pkg-config; then
    flags=$(PKG_CONFIG_PATH='' PKG_CONFIG_SYSROOT_DIR=$dest PKG_CONFIG_LIBDIR=$dest/usr/lib/pkgconfig \
        pkg-config --cflags --libs ori 2>&1)
    # In any order, without duplicates.
    is "$(printf '%s\n' $flags | sort -u)" "$(printf '%s\n' $by_hand | sort -u)"
else
    skip "there is none; its flags are read out of ori.pc"
    flags=$by_hand
fi

# Compiled outside of the sources.
cp samples/embed/optimize.c "$work/optimize.c"
optimize=$work/optimize
name=optimize.c
# flags are several words
runs "$CC" -std=c11 $strict ${SANITIZE-} "$work/optimize.c" $flags -o "$optimize"

cat >"$work/client.cc" <<'END'
#include <ori.h>
#include <iterator>
#include <fstream>
#include <iostream>
#include <string>

extern "C" {
static int take(void *text, const char *bytes, size_t n)
{
    static_cast<std::string *>(text)->append(bytes, n);
    return 1;
}
}

int main(int argc, char **argv)
{
    std::ifstream file(argv[argc - 1]);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()), out;
    OriContext *ori = ori_open(nullptr);
    OriModule *module = ori_parse(ori, argv[argc - 1], text.data(), text.size(), ORI_ANY);
    bool good = module && ori_optimize(ori, module) == ORI_OK && ori_print(ori, module, ORI_ANY, take, &out) == ORI_OK;
    ori_close(ori);
    std::cout << out << std::flush;
    return !good;
}
END
name="C++"
if have "$CXX"; then
    # shellcheck disable=SC2086
    runs "$CXX" -std=c++11 $strict ${SANITIZE-} "$work/client.cc" $flags -o "$work/client"
    "$work/client" samples/ptx/fsm.O0.ptx >"$work/one"
    "$ORIOPT" samples/ptx/fsm.O0.ptx >"$work/two"
    same "$work/one" "$work/two" "other bytes than oriopt's"
else
    skip "there is no $CXX: nothing has seen ori.h as C++"
fi

# -- Equal output with oriopt ------------------------------------------------------------------------------------------

for file in $samples; do
    for level in 0 1 2 3; do
        name="$file -O $level"
        "$optimize" -O $level "$file" >"$work/one" 2>"$work/err" || bad "exit $?: $(head -n 1 "$work/err")"
        "$ORIOPT" -O$level "$file" >"$work/two" 2>"$work/err" || bad "oriopt: $(head -n 1 "$work/err")"
        same "$work/one" "$work/two" "other bytes than oriopt's"
    done
done
name="phases by name"
"$optimize" -p OriRemoveNopCode samples/ptx/fsm.O0.ptx >"$work/one" 2>"$work/err"
"$ORIOPT" --named-phases OriRemoveNopCode samples/ptx/fsm.O0.ptx >"$work/two"
same "$work/one" "$work/two" "other bytes than oriopt's"
name="functions by name"
is "$(grep -c '^optimize: ' "$work/err")" "$(grep -cE '\.(entry|func)' samples/ptx/fsm.O0.ptx)"

# -- Errors -----------------------------------------------------------------------------------------------------------

# refused NAME STATUS MESSAGE ARGUMENTS...: checks a failure without output, whose message comes from the callback,
# since the library prints nothing else.
refused() {
    name=$1 want=$2 message=$3
    shift 3
    "$optimize" "$@" >"$work/out" 2>"$work/err"
    is $? "$want"
    if grep -qF -e "$message" "$work/err"; then ok; else bad "it says $(head -n 1 "$work/err")"; fi
    if [ -s "$work/out" ]; then bad "there is output"; else ok; fi
}
cat >"$work/bad.ptx" <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    mov.u32 %r1, 1;
    ret;
}
.visible .entry l()
{
    add.s32 %r1, 2;
}
END
refused "an error in the text" 1 "$work/bad.ptx:6:13: error: " "$work/bad.ptx"
name="an error in the text, as oriopt says it"
"$ORIOPT" "$work/bad.ptx" 2>"$work/two"
is "$(sed '$d' "$work/err")" "$(cat "$work/two")"
is "$(sed -n '$p' "$work/err")" "optimize: bad input"
refused "no module" 1 "error: " /dev/null
refused "a level that there is not" 2 "a number from 0 to 4" -O 9 samples/ptx/fsm.O0.ptx
refused "an unknown phase" 2 "unknown phase 'GvnCsee'" -p GvnCsee samples/ptx/fsm.O0.ptx
refused "an unknown knob" 1 "GvnCsee" -k GvnCsee samples/ptx/fsm.O0.ptx
refused "no file" 5 "cannot read" "$work/missing.ptx"
refused "no arguments" 2 "wrong use"
if [ -c /dev/full ]; then
    name="no room"
    "$optimize" samples/ptx/fsm.O0.ptx >/dev/full 2>"$work/err"
    is $? 5
fi

# -- Symbols of the library --------------------------------------------------------------------------------------------

lib=$dest/usr/lib/libori.a
name="no state of its own"
if [ "${SANITIZE-}" ]; then
    skip "sanitizers add theirs"
elif have objdump && have nm; then
    # Tables of pointers are constant: only the loader writes .data.rel.ro.
    is "$(objdump -h "$lib" | awk '
        /file format/ { file = $1 }
        $2 ~ /^\.(data|bss|tdata|tbss)/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0*$/ { print file, $2, $3 }')" ""
    is "$(nm "$lib" | grep -E ' [CbB] ')" ""
else
    skip "no objdump or no nm"
fi
name="no way to print, to end the process or to read the environment"
if have nm; then
    is "$(nm -u "$lib" | awk '{ print $NF }' | sort -u | grep -xE \
        -e '_*(exit|_?Exit|quick_exit|abort|assert_fail|raise|kill|fork|vfork|exec[a-z]*|system|popen)' \
        -e 'f(open|dopen|close|read|write|put[cs]|get[cs]|flush|seek)|freopen|tmpfile|v?fprintf(_chk)?' \
        -e '_*(stdin|stdout|stderr|v?printf(_chk)?|puts|putchar|perror|syslog|get(char|s|line))' \
        -e '(secure_)?getenv|setenv|putenv|unsetenv|environ|setlocale|localeconv|signal|sigaction|atexit|chdir|s?rand' \
        -e '_?_?(strtok|strsignal|localtime|gmtime|asctime|ctime)' |
        { if [ "${SANITIZE-}" ]; then grep -vx abort; else cat; fi; })" ""
    is "$(nm "$lib" | awk '$2 == "T" && $3 ~ /^ori_/' | wc -l)" "$(grep -cE '^[A-Za-z].*[ *]ori_[a-z_]*\(' tools/lib/ori.h)"
else
    skip "no nm"
fi

# -- Threads with a context each --------------------------------------------------------------------------------------

# threads LIBRARY TIMES FLAGS...: runs threads.c on 32 threads, each sample TIMES times.
threads() {
    library=$1 often=$2
    shift 2
    runs "$CC" -std=c11 $strict -Itools/lib "$@" tests/programs/embed/threads.c "$library" -pthread -o "$work/threads"
    # shellcheck disable=SC2086
    TSAN_OPTIONS=exitcode=66 "$work/threads" 32 "$often" $samples >"$work/out" 2>"$work/err"
    status=$?
    summary=$(tail -n 1 "$work/out")
    case $status,$summary in
    0,*" passed, 0 failed") passed=$((passed + ${summary%% *})) ;;
    *) bad "exit $status: $summary $(grep -m 1 -E 'WARNING|ERROR|thread' "$work/err" "$work/out")" ;;
    esac
}
name="32 threads"
# shellcheck disable=SC2086
threads "$lib" $times ${SANITIZE-}
name="32 threads under ThreadSanitizer"
if [ ! "$quick" ]; then
    echo 'int main(void) { return 0; }' >"$work/try.c"
    if $CC -fsanitize=thread -o "$work/try" "$work/try.c" 2>/dev/null && "$work/try"; then
        # The same build as in threads.sh.
        made B="$B/tsan" CFLAGS="-O1 -g" SANITIZE=-fsanitize=thread "$B/tsan/libori.a"
        threads "$B/tsan/libori.a" 2 -g -fsanitize=thread
    else
        skip "$CC has none here"
    fi
fi

finish
