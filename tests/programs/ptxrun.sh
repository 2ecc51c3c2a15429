#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ptxrun.sh: tests kernels that other programs run through the libraries. The samples run.c and ori.py (samples/embed)
# print the same results. C (embed/ptxrun.c) and Python call ptx_run() of libori-ptxrun.so, as test suites
# do. The library exports only ptx_run*. tests/unit/ori_run.c tests ori_run() in detail.
#
#   tests/programs/ptxrun.sh
#
# One line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: B, the folder of the build (default: that of ORIOPT, or build), CC, SANITIZE.
[ ! "${B-}" ] || ORIOPT=$B/oriopt
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage ptxrun.sh
needs "$ORIOPT"
cd "$root" || exit 2
B=$(absolute "${ORIOPT%/*}")
make_work
kernel=samples/embed/saxpy.ptx
strict='-std=c11 -Wall -Wextra -Wpedantic -Werror'
# A library with sanitizers needs a program with sanitizers, which Python is not.
have_python() {
    if [ "${SANITIZE-}" ]; then
        skip "sanitizers are not in Python"
    elif have python3 && python3 -c 'import ctypes' 2>/dev/null; then
        return
    else
        skip "there is no python3 with ctypes"
    fi
    false
}

# -- Samples ----------------------------------------------------------------------------------------------------------

name="run.c"
# shellcheck disable=SC2086  # flags are several
runs "$CC" $strict ${SANITIZE-} -Itools/lib samples/embed/run.c "$B/libori.a" -pthread -o "$work/run"
"$work/run" "$kernel" >"$work/out" 2>"$work/err"
is "$?" 0
is "$(sed 's/0x[0-9a-f]*/ADDRESS/' "$work/out")" "y[7] = 17.5, y[999] = 2497.5
block 7, thread 104: read of 4 bytes at address ADDRESS, which is in no registered range"
is "$(grep -c "^$kernel:3[34]:2: error: launch 3, saxpy, block 7,0,0, thread 104,0,0: " "$work/err")" 1
"$work/run" samples/ptx/fsm.O0.ptx >"$work/out" 2>"$work/err"
is "$?" 2
is "$(cat "$work/err")" "ori: error: the module has no kernel 'saxpy'"

# ori_py FILE: runs the sample with arrays of ctypes.
ori_py() {
    ORI_LIBRARY=$B/libori.so python3 -c "
import runpy, sys
sys.modules['numpy'] = None
sys.argv = ['ori.py', '$1']
runpy.run_path('samples/embed/ori.py', run_name='__main__')" >"$work/out" 2>"$work/err"
}
name="ori.py"
if have_python; then
    ori_py "$kernel"
    is "$?" 0
    is "$(cat "$work/err")" ""
    is "$(tail -n 1 "$work/out")" "// y[7] = 15, y[999] = 1999"
    "$ORIOPT" "$kernel" >"$work/expected"
    is "$(sed '$d' "$work/out" | cmp - "$work/expected")" ""
    name="ori.py, a fault"
    sed 's/setp.ge/setp.lt/' "$kernel" >"$work/wrong.ptx"
    ori_py "$work/wrong.ptx"
    is "$?" 1
    is "$(sed -n 's/0x[0-9a-f]*/ADDRESS/; s/^RuntimeError: //p' "$work/err" | sed "s,^$work/,,")" \
        "wrong.ptx:33:2: error: launch 1, saxpy, block 7,0,0, thread 104,0,0: read of 4 bytes at address ADDRESS, which is in no registered range"
    name="ori.py with numpy"
    if python3 -c 'import numpy' 2>/dev/null; then
        ORI_LIBRARY=$B/libori.so python3 samples/embed/ori.py "$kernel" >"$work/out" 2>"$work/err"
        is "$(tail -n 1 "$work/out")" "// y[7] = 15, y[999] = 1999"
    else
        skip "there is no numpy"
    fi
fi

# -- ptx_run() --------------------------------------------------------------------------------------------------------

name="ptxrun.c"
# shellcheck disable=SC2086
runs "$CC" $strict ${SANITIZE-} -Itools/ptxrun tests/programs/embed/ptxrun.c "$B/libori-ptxrun.so" -pthread -o "$work/ptxrun"
LD_LIBRARY_PATH=$B $limit "$work/ptxrun" >"$work/out" 2>"$work/err"
status=$?
summary=$(tail -n 1 "$work/out")
case $status,$summary in
0,*" passed, 0 failed") passed=$((passed + ${summary%% *})) ;;
*) bad "exit $status: $(head -n 3 "$work/out") $(grep -m 1 ERROR "$work/err")" ;;
esac
name="messages of ptx_run()"
is "$(grep -c '^ptx:10:2: error: launch [0-9]*, copy, block 0,0,0, thread 0,0,0: read of 4 bytes at address 0, a null pointer$' \
    "$work/err")" 401
is "$(grep -c '^	ld.global.u32 %r1, \[%rd1\];$' "$work/err")" "$(grep -c '^ptx:10:2' "$work/err")"

name="ptx_run() from Python"
cat >"$work/tiny.py" <<'END'
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)] + [ctypes.c_int] * 7
lib.ptx_run_error.restype = ctypes.c_char_p
source = open(sys.argv[2], "rb").read()
x, y = memoryview(bytearray(4000)).cast("f"), memoryview(bytearray(4000)).cast("f")
for k in range(1000): x[k] = k
address = lambda view: ctypes.addressof(ctypes.c_char.from_buffer(view))
args = [address(x), address(y), 0x40000000, 1000]  # the bits of 2.0f
local, size, smem = (128, 1, 1), (8, 1, 1), 0
for k in range(3):
    lib.ptx_run(source, len(args), (ctypes.c_void_p * len(args))(*args), *local, *size, smem)
    assert lib.ptx_run_error() is None, lib.ptx_run_error()
assert y[7] == 42 and y[999] == 5994, (y[7], y[999])
# The current form: each value by cast().
args = [ctypes.cast(a, ctypes.c_void_p) for a in args]
image = bytearray(source + b"\0")
lib.ptx_run(ctypes.cast(address(image), ctypes.c_char_p), len(args),
            (ctypes.c_void_p * len(args))(*args), *local, *size, 0)
assert y[7] == 56, y[7]
args[0] = 16
lib.ptx_run(source, len(args), (ctypes.c_void_p * len(args))(*args), *local, *size, smem)
print(lib.ptx_run_error().decode())
END
if have_python; then
    python3 "$work/tiny.py" "$B/libori-ptxrun.so" "$kernel" >"$work/out" 2>"$work/err"
    is "$?" 0
    is "$(cat "$work/out")" \
        "ptx:33:2: error: launch 5, saxpy, block 0,0,0, thread 0,0,0: read of 4 bytes at address 0x10, a null pointer"
    is "$(head -n 1 "$work/err")" "$(cat "$work/out")"
fi

name="what kernels print"
cat >"$work/print.c" <<'END'
#include <ptxrun.h>
int main(void)
{
    ptx_run(".version 7.5\n.target sm_50\n.address_size 64\n.global .b8 f[] = {72, 105, 10, 0};\n"
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.visible .entry k()\n{\n"
            "\t.reg .b64 %rd<2>;\n\t.param .b64 f1;\n\t.param .b64 a1;\n\t.param .b32 r1;\n"
            "\tcvta.global.u64 %rd1, f;\n\tst.param.b64 [f1], %rd1;\n\tst.param.b64 [a1], 0;\n"
            "\tcall.uni (r1), vprintf, (f1, a1);\n\tret;\n}\n", 0, 0, 2, 1, 1, 1, 1, 1, 0);
    return ptx_run_error() != 0;
}
END
# shellcheck disable=SC2086
runs "$CC" $strict ${SANITIZE-} -Itools/ptxrun "$work/print.c" "$B/libori-ptxrun.so" -o "$work/print"
LD_LIBRARY_PATH=$B "$work/print" >"$work/out" 2>"$work/err"
is "$?" 0
is "$(cat "$work/out" "$work/err")" "Hi
Hi"

# -- The library ------------------------------------------------------------------------------------------------------

name=symbols
if have nm; then
    is "$(nm -D --defined-only "$B/libori-ptxrun.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort | tr '\n' ' ')" \
        "ptx_run ptx_run_error "
else
    skip "no nm"
fi
name=libori-ptxrun.so
if have readelf; then
    readelf -dW "$B/libori-ptxrun.so" >"$work/out"
    is "$(sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' "$work/out")" libori-ptxrun.so.0
    is "$(grep -c TEXTREL "$work/out")" 0
    [ "${SANITIZE-}" ] || is "$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' "$work/out" | grep -vE '^(lib(c|pthread)\.|ld)')" ""
else
    skip "no readelf"
fi
name="an installation"
dest=$work/dest
made B="$B" PACKAGE_DIR="$work/package" install DESTDIR="$dest" PREFIX=/usr
if have pkg-config; then
    flags=$(PKG_CONFIG_PATH='' PKG_CONFIG_SYSROOT_DIR=$dest PKG_CONFIG_LIBDIR=$dest/usr/lib/pkgconfig \
        pkg-config --cflags --libs ori-ptxrun 2>&1)
else
    skip "there is no pkg-config; its flags are written out"
    flags="-I$dest/usr/include -L$dest/usr/lib -lori-ptxrun"
fi
# shellcheck disable=SC2086
runs "$CC" $strict ${SANITIZE-} "$work/print.c" $flags -o "$work/print"
LD_LIBRARY_PATH=$dest/usr/lib "$work/print" >"$work/out" 2>"$work/err"
is "$(cat "$work/out" "$work/err")" "Hi
Hi"
name="both libraries in one program"
cat >"$work/both.c" <<'END'
#include <ori.h>
#include <ptxrun.h>
#include <stdio.h>
int main(void)
{
    OriContext *ori = ori_open(NULL);
    ptx_run("no module", 0, 0, 1, 1, 1, 1, 1, 1, 0);
    puts(ptx_run_error() ? ori_version() : "no error");
    ori_close(ori);
    return 0;
}
END
# shellcheck disable=SC2086
runs "$CC" $strict ${SANITIZE-} -Itools/lib -Itools/ptxrun "$work/both.c" "$B/libori.so" "$B/libori-ptxrun.so" -o "$work/both"
is "$(LD_LIBRARY_PATH=$B "$work/both" 2>/dev/null)" "$("$ORIOPT" --version | sed 's/.* //')"

finish
