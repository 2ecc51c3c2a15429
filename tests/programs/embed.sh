#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.sh: tests the library in other programs. The samples in C and C++ (samples/embed) are built against the tree and
# against an installation, with libori.a and with libori.so. Their output for all samples must equal that of oriopt. The
# libraries export only ori_*, have no state, and cannot print or end the process. Threads with a context each get the
# same bytes as one thread (embed/threads.c), under ThreadSanitizer if the compiler has it.
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

# -- An installation, and its flags -----------------------------------------------------------------------------------

name=install
dest=$work/dest
made B="$B" PACKAGE_DIR="$work/package" install DESTDIR="$dest" PREFIX=/usr
lib=$dest/usr/lib/libori.a
pc=$dest/usr/lib/pkgconfig/ori.pc
# by_hand FIELDS: prints these lines of ori.pc with expanded variables. Their prefix is below DESTDIR here.
by_hand() {
    prefix=$dest$(sed -n 's/^prefix=//p' "$pc")
    libdir=$(sed -n 's/^libdir=//p' "$pc")
    includedir=$(sed -n 's/^includedir=//p' "$pc")
    eval "libdir=$libdir includedir=$includedir"
    eval "echo $(sed -nE "s/^($1): //p" "$pc" | tr '\n' ' ')"
}
# pc_flags OPTIONS...
pc_flags() {
    PKG_CONFIG_PATH='' PKG_CONFIG_SYSROOT_DIR=$dest PKG_CONFIG_LIBDIR=$dest/usr/lib/pkgconfig pkg-config "$@" ori 2>&1
}
one_a_line() { printf '%s\n' "$@" | sort -u; }
shared_flags=$(by_hand 'Cflags|Libs')
static_flags=$(by_hand 'Cflags|Libs|Libs\.private')
name=pkg-config
if have pkg-config; then
    # Order and repetitions of words do not matter.
    # shellcheck disable=SC2046,SC2086  # these are several
    is "$(one_a_line $(pc_flags --cflags --libs))" "$(one_a_line $shared_flags)"
    # shellcheck disable=SC2046,SC2086
    is "$(one_a_line $(pc_flags --cflags --libs --static))" "$(one_a_line $static_flags)"
else
    skip "there is none; its flags are read out of ori.pc"
fi

# -- The samples in C and C++, everywhere -----------------------------------------------------------------------------

# Runs outside of the sources.
cp samples/embed/optimize.c samples/embed/optimize.cpp "$work"
"$ORIOPT" samples/ptx/calls.O0.ptx >"$work/expected"
# needs_library PROGRAM: prints the shared library that the loader has to find for it.
needs_library() { if have readelf; then readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(libori[^]]*\)\]/\1/p'; fi; }
# sample NAME FLAGS...: builds $work/NAME-c and $work/NAME-cpp with these flags and runs both. $folder is the one of a
# shared library, or empty.
sample() {
    built=$1
    shift
    name="optimize.c, $built"
    runs "$CC" -std=c11 $strict ${SANITIZE-} "$work/optimize.c" "$@" -o "$work/$built-c"
    name="optimize.cpp, $built"
    # shellcheck disable=SC2086
    have "$CXX" && runs "$CXX" -std=c++11 $strict ${SANITIZE-} "$work/optimize.cpp" "$@" -o "$work/$built-cpp"
    for language in c cpp; do
        [ -x "$work/$built-$language" ] || continue
        name="optimize.$language, $built"
        ! have readelf || is "$(needs_library "$work/$built-$language")" "${folder:+libori.so.0}"
        LD_LIBRARY_PATH=$folder "$work/$built-$language" samples/ptx/calls.O0.ptx >"$work/one" 2>"$work/err"
        same "$work/one" "$work/expected" "other bytes than oriopt's: $(head -n 1 "$work/err")"
    done
}
folder=''
sample tree-static -Itools/lib "$B/libori.a" -pthread
sample installed-static "-I$dest/usr/include" "$lib" -pthread
name="a static program"
echo 'int main(void) { return 0; }' >"$work/try.c"
if [ ! "${SANITIZE-}" ] && $CC -static "$work/try.c" -pthread -o "$work/try" 2>/dev/null; then
    # shellcheck disable=SC2086
    sample wholly-static -static $static_flags
else
    skip "$CC links none here${SANITIZE:+, since sanitizers are shared libraries}"
fi
folder=$(absolute "$B")
sample tree-shared -Itools/lib "$B/libori.so"
folder=$dest/usr/lib
# shellcheck disable=SC2086
sample installed-shared $shared_flags
optimize=$work/installed-static-c

name="optimize.cpp"
if have "$CXX"; then
    "$work/installed-static-cpp" -e _Z6op_gcdii samples/ptx/calls.O0.ptx >"$work/one" 2>"$work/err"
    is "$(grep -c '^optimize: .* -> ' "$work/err")" 1
    "$ORIOPT" -e _Z6op_gcdii samples/ptx/calls.O0.ptx >"$work/two"
    same "$work/one" "$work/two" "with -e, other bytes than oriopt's"
    "$work/installed-static-cpp" -e nowhere samples/ptx/calls.O0.ptx >"$work/one" 2>"$work/err"
    is "$?" 2
    is "$(cat "$work/one" "$work/err")" "ori: error: the module has no function 'nowhere', which ori_set_entries() names"
    "$work/installed-static-cpp" -O 9 samples/ptx/calls.O0.ptx >"$work/one" 2>&1
    is "$?" 2
else
    skip "there is no $CXX"
fi

# -- CMake ------------------------------------------------------------------------------------------------------------

mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.5)
project(embed C)
set(prefix mine)
find_package(ori \${wanted} REQUIRED)
if(NOT prefix STREQUAL mine)
  message(FATAL_ERROR "ori changes variables of the project")
endif()
foreach(kind ori static)
  add_executable(\${kind}-client "$work/optimize.c")
  target_link_libraries(\${kind}-client ori::\${kind})
endforeach()
END
# configure WANTED: configures a project that needs this version of ori.
configure() {
    cmake -S "$work/cmake" -B "$work/cmake/build" -Dwanted="$1" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_C_FLAGS="${SANITIZE-}" -DCMAKE_PREFIX_PATH="$dest/usr" >"$work/out" 2>&1
}
name=CMake
if have cmake; then
    for wanted in 0.0 0.1.99 0.2 1.0; do
        name="CMake: find_package(ori $wanted)"
        if configure "$wanted"; then bad "it was found"; else ok; fi
        is "$(tr -s '\n ' ' ' <"$work/out" | grep -c "compatible with requested version \"$wanted\"")" 1
    done
    for wanted in 0.1.0 0.1 ''; do
        name="CMake: find_package(ori $wanted)"
        if configure "$wanted"; then ok; else bad "$(grep -m 1 -A 3 Error "$work/out")"; fi
    done
    name=CMake
    cmake --build "$work/cmake/build" >"$work/out" 2>&1 || bad "$(tail -n 3 "$work/out")"
    for kind in ori static; do
        LD_LIBRARY_PATH='' "$work/cmake/build/$kind-client" samples/ptx/calls.O0.ptx >"$work/one" 2>/dev/null
        same "$work/one" "$work/expected" "ori::$kind: other bytes than oriopt's"
    done
    is "$(needs_library "$work/cmake/build/static-client")" ""
else
    skip "there is no cmake"
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

# -- Content of the libraries -----------------------------------------------------------------------------------------

name="symbols"
if have nm; then
    sed -n 's/^ORI_API .*[ *]\(ori_[a-z_]*\)(.*/\1/p' tools/lib/ori.h | sort >"$work/declared"
    nm -g --defined-only "$lib" | awk 'NF == 3 { print $3 }' | sort >"$work/one"
    same "$work/one" "$work/declared" "libori.a: $(diff "$work/one" "$work/declared" | grep -m 3 '^[<>]')"
    nm -D --defined-only "$dest/usr/lib/libori.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/one"
    same "$work/one" "$work/declared" "libori.so: $(diff "$work/one" "$work/declared" | grep -m 3 '^[<>]')"
else
    skip "no nm"
fi
name="a program with the same names"
cat >"$work/names.c" <<'END'
#include <ori.h>
#include <stdio.h>
int phase_info = 3;
int arena_init(void);
int arena_init(void) { return phase_info; }
static int take(void *file, const char *text, size_t n) { return fwrite(text, 1, n, file) == n; }
int main(void)
{
    OriContext *ori = ori_open(NULL);
    int good = ori && ori_print_table(ori, ORI_PHASES, take, stdout) == ORI_OK && arena_init() == 3;
    ori_close(ori);
    return !good;
}
END
"$ORIOPT" --list-phases=json >"$work/two"
for library in "$lib" "$dest/usr/lib/libori.so"; do
    # shellcheck disable=SC2086
    runs "$CC" -std=c11 $strict ${SANITIZE-} "-I$dest/usr/include" "$work/names.c" "$library" -pthread -o "$work/names"
    LD_LIBRARY_PATH=$dest/usr/lib "$work/names" >"$work/one"
    is $? 0
    same "$work/one" "$work/two" "it cannot use the library"
done
name="libori.so"
if have readelf; then
    readelf -dW "$dest/usr/lib/libori.so" >"$work/out"
    is "$(sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' "$work/out")" libori.so.0
    is "$(readlink "$dest/usr/lib/libori.so")" libori.so.0
    is "$(grep -c TEXTREL "$work/out")" 0
    [ "${SANITIZE-}" ] || is "$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' "$work/out" | grep -vE '^(lib(c|pthread)\.|ld)')" ""
else
    skip "no readelf"
fi
name="no state of its own"
if [ "${SANITIZE-}" ]; then
    skip "sanitizers add theirs"
elif have objdump && have nm; then
    # Tables of pointers are constant: only the loader writes .data.rel.ro.
    is "$(objdump -h "$lib" | awk '
        $2 ~ /^\.(data|bss|tdata|tbss)/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0*$/ { print $2, $3 }')" ""
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
