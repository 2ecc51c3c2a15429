#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: runs the launches of samples/run on a GPU, on the PTX that each .run file names and on the other forms of the
# sample, and on what oriopt makes of each. Compares with the expectations of the files and with the interpreter
# (gpurun.c).
#
#   tests/gpu/run.sh [FILES.run...]
#   tests/gpu/run.sh --self-test      tests gpurun itself, with a substitute for the driver (fake_cuda.c); needs no GPU
#
# Prints the failures; the last line is `N passed, N failed, N skipped`, counted in launches (--self-test: in checks).
# Prints SKIP without a GPU. Exit 0 all passed, 1 failed, 2 usage or no build.
# Environment: B (build), CC (cc), CFLAGS (-O2 -g; those of B), ORI_TIMEOUT (seconds for one file, 300), V=1 prints all
# lines.

[ ! "${B-}" ] || ORIOPT=$B/oriopt
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
B=${ORIOPT%/*}
self_test=
case ${1-} in
--self-test) self_test=1 && shift ;;
-*) echo "usage: run.sh [--self-test] [FILES.run...]" >&2 && exit 2 ;;
esac
[ -e "$B/ori.a" ] || { echo "run.sh: there is no '$B/ori.a' (run make, or set B)" >&2 && exit 2; }
make_work

# compile OPTIONS...
compile() {
    # CFLAGS are several words
    $CC -std=c11 -Wall -Wextra -Wpedantic ${CFLAGS:--O2 -g} -I. "$@"
}

# Some systems have no libdl.
compile tests/gpu/gpurun.c "$B/programs.a" "$B/ori.a" -ldl -o "$work/gpurun" 2>"$work/err" ||
    compile tests/gpu/gpurun.c "$B/programs.a" "$B/ori.a" -o "$work/gpurun" || exit 2

limit=
! have timeout || limit="timeout ${ORI_TIMEOUT:-300}"

# -- The launches -----------------------------------------------------------------------------------------------------

# try NAME ARGUMENTS...: runs gpurun and adds its counts.
try() {
    what=$1
    shift
    $limit "$work/gpurun" "$@" >"$work/out" 2>&1
    status=$?
    if grep -q '^SKIP gpurun:' "$work/out"; then
        grep '^SKIP' "$work/out"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    if [ "${V-}" ]; then cat "$work/out"; else grep -v '^pass \|^skip \|^gpurun: \|^[0-9]* passed, ' "$work/out"; fi
    sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\(, \([0-9]*\) skipped\)*$/\1 \2 \4/p' "$work/out" | tail -n 1)
    if [ ! "$sums" ] || { [ $status -ne 0 ] && [ $status -ne 1 ]; }; then
        echo "FAIL $what: gpurun ended with status $status"
        sums="0 1"
    fi
    # shellcheck disable=SC2086
    set -- $sums
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + ${3:-0}))
}

# try_both RUN PTX: on a form of the sample, and on what oriopt makes of it.
try_both() {
    try "$2" --file "$2" "$1"
    if "$ORIOPT" -O3 -o "$work/optimized.ptx" "$2" 2>"$work/err"; then
        try "$2, optimized" --file "$work/optimized.ptx" "$1"
    else
        bad "oriopt $2: $(head -n 1 "$work/err")"
    fi
}

run_all() {
    [ $# -gt 0 ] || set -- samples/run/*.run samples/run/handwritten/*.run
    for run; do
        file=$(sed -n 's/^file \(.*\.ptx\)$/\1/p' "$run")
        [ "$file" ] || continue  # a driver accepts only PTX
        name=$(basename "$run" .run)
        try_both "$run" "$(dirname "$run")/$file"
        for form in sm_90 O0; do
            ptx=samples/ptx/$name.$form.ptx
            [ "$(dirname "$run")" = samples/run ] && [ -e "$ptx" ] && [ ! -e "samples/run/$name.$form.run" ] || continue
            try_both "$run" "$ptx"
        done
    done
}

# -- Self-test --------------------------------------------------------------------------------------------------------

# expect WHAT STATUS TEXT ARGUMENTS...: checks the exit status and output of gpurun with the substitute.
expect() {
    what=$1 status=$2 text=$3
    shift 3
    LD_LIBRARY_PATH=$work $limit "$work/gpurun" "$@" >"$work/out" 2>&1
    is=$?
    if [ $is -eq "$status" ] && grep -qF -e "$text" "$work/out"; then
        ok
    else
        bad "$what: status $is, expected $status and '$text'"
        sed 's/^/    /' "$work/out" | cut -c1-200 | head -n 8
    fi
}

# trouble MODE ...: the same with FAKE_CUDA=MODE.
trouble() {
    FAKE_CUDA=$1
    export FAKE_CUDA
    shift
    expect "$@"
    unset FAKE_CUDA
}

self_test() {
    compile -shared -fPIC tests/gpu/fake_cuda.c "$B/ori.a" -o "$work/libcuda.so.1" || exit 2
    cat >"$work/k.ptx" <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 sum;
.visible .global .align 8 .u64 where = sum;
.visible .const .align 4 .f32 scale = 0f40000000;
.extern .shared .align 4 .b8 room[];
.visible .entry twice(.param .u64 in, .param .u64 out, .param .u64 self)
{
    .reg .b32 %r<4>;
    .reg .b64 %a<6>;
    .reg .f32 %f<3>;
    ld.param.u64 %a1, [in];
    ld.param.u64 %a2, [out];
    ld.param.u64 %a4, [self];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %a3, %r1, 4;
    add.u64 %a1, %a1, %a3;
    add.u64 %a2, %a2, %a3;
    ld.global.f32 %f1, [%a1];
    ld.const.f32 %f2, [scale];
    mul.rn.f32 %f1, %f1, %f2;
    st.global.f32 [%a2], %f1;
    st.global.u64 [%a4], %a2;
    red.global.add.u32 [sum], %r1;
    ret;
}
END
    cat >"$work/k.run" <<'END'
file k.ptx
entry twice
grid 1
block 4
shared 60000
arg buf:4xf32:iota:1
arg buf:4xf32
arg buf:8
expect 1:f32 2 4 6 8
expect sum:u32 6
nondet 2
---
keep
block 4
expect 1:f32 ~1 2 4 6 8
expect sum:u32 12
---
# Each side leaves its own address of the same byte.
entry twice
block 1
arg buf:4xf32:fill:1
arg buf:4
arg buf:8
END
    sed 's/expect sum:u32 12/expect sum:u32 13/; s/ 2 4 6 8$/ 2 4 6 9/' "$work/k.run" >"$work/wrong.run"
    printf 'file k.ptx\nentry twice\narg buf:4\narg buf:4\narg buf:8\nexpect digest 0123456789abcdef 0123456789abcdef\n' >"$work/digest.run"
    printf 'file k.ptx\nentry twice\narg buf:4\n' >"$work/few.run"
    printf 'file k.ptx\nentry thrice\n' >"$work/name.run"
    sed 's/^.target sm_80/.target sm_100/' "$work/k.ptx" >"$work/new.ptx"
    sed 's/^.target sm_80/.target sm_80a/' "$work/k.ptx" >"$work/other.ptx"
    sed 's/^    mul.rn.f32/    add.rn.f32/' "$work/k.ptx" >"$work/add.ptx"
    expect 'three launches' 0 '3 passed, 0 failed' "$work/k.run"
    expect 'several files' 0 '6 passed, 0 failed' "$work/k.run" "$work/k.run"
    expect 'a wrong value' 1 'arg1:f32[3] is 8, expected 9' "$work/wrong.run"
    expect 'a wrong value near another' 1 'wrong.run launch 2' "$work/wrong.run"
    expect 'a wrong variable' 1 'sum:u32[0] is 12, expected 13' "$work/wrong.run"
    expect 'a wrong digest' 1 'the digest of arg0 is' "$work/digest.run"
    expect 'digests of too few buffers' 1 '2 digests are expected, but there are 3' "$work/digest.run"
    expect 'too few arguments' 1 "'twice' has 3 parameters, and there is 1 argument" "$work/few.run"
    expect 'no such kernel' 1 "has no kernel 'thrice'; did you mean 'twice'?" "$work/name.run"
    expect 'no such file' 1 'cannot read' "$work/none.run"
    expect 'another module' 1 'arg1:f32[3] is 6, expected 8' --file "$work/add.ptx" "$work/k.run"
    expect 'a newer target' 0 '0 passed, 0 failed, 3 skipped' --file "$work/new.ptx" "$work/k.run"
    expect 'a target of one architecture' 0 'its target is of another architecture' --file "$work/other.ptx" "$work/k.run"
    expect 'a level of the driver' 0 '3 passed, 0 failed' --jit-level 0 "$work/k.run"
    expect 'no such level' 2 'usage:' --jit-level 5 "$work/k.run"
    expect 'no operand' 2 'usage:'
    for mode in "" flip; do
        said=$(FAKE_CUDA=$mode LD_LIBRARY_PATH=$work JOBS=1 tests/gpu/random.sh 2 | tail -n 1)
        case $mode,$said in
        ,*[1-9]*' passed, 0 failed' | flip,'0 passed, '[1-9]*) ok ;;
        *) bad "random programs${mode:+, $mode}: $said" ;;
        esac
    done
    trouble none 'no device' 0 'SKIP gpurun: there is no GPU: no device' "$work/k.run"
    trouble old 'no device that the driver knows' 0 'SKIP gpurun: there is no GPU' "$work/k.run"
    trouble ptx 'a module that does not compile' 1 'log of the stand-in' "$work/k.run"
    trouble flip 'a wrong bit' 1 "of 16 bytes of arg0 differ from the interpreter's" "$work/k.run"
    trouble flip 'a wrong bit within the distance' 1 'in the interpreter' "$work/k.run"
    trouble fault 'a kernel that fails' 1 'cuCtxSynchronize: CUDA_ERROR_OF_THE_STAND_IN (719)' "$work/k.run"
    trouble fault 'keep after a failure' 1 'the memory of the launch before is lost' "$work/k.run"
    trouble fault 'going on after a failure' 1 '0 passed, 3 failed' "$work/k.run"
    rm "$work/libcuda.so.1"
    echo 'int x;' >"$work/x.c" && compile -shared -fPIC "$work/x.c" -o "$work/libcuda.so.1"
    expect 'a driver that lacks functions' 0 'SKIP gpurun: the CUDA driver is too old, it lacks: cuInit' "$work/k.run"
}

if [ "$self_test" ]; then self_test; else run_all "$@"; fi
finish
