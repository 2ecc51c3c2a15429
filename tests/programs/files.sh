#!/bin/sh
# SPDX-License-Identifier: MIT
#
# files.sh: tests outputs of oriopt under signals, full devices, odd names and links, changing inputs, and odd bytes in
# JSON. No partial output may stay, and messages must give the reason.
#
#   tests/programs/files.sh
#
# The last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage. Environment: ORIOPT.
. "$(dirname "$0")/../lib.sh"
needs "$ORIOPT"
make_work
cp "$root/samples/ptx/fsm.O0.ptx" "$work/in.ptx"
cd "$work" || exit 2

clean() { is "$(find . -name '*.tmp-*' | head -n 1)" ""; }
# run NAME EXIT ARGS...: runs oriopt.
run() {
    name=$1 want=$2
    shift 2
    "$ORIOPT" "$@" >out 2>err </dev/null
    is $? "$want"
}

# -- Signals ----------------------------------------------------------------------------------------------------------

# The output is open after the first piece, and the other pieces take seconds.
awk 'BEGIN {
    print ".version 8.0\n.target sm_80\n.address_size 64"
    for (k = 0; k < 60000; k++) printf ".func more%d()\n{\n\tret;\n}\n", k
}' >long.ptx
for signal in TERM INT HUP XFSZ; do
    name="signal $signal"
    "$ORIOPT" --piece=1K long.ptx -o out.ptx 2>err &
    pid=$!
    while [ -z "$(find . -name 'out.ptx.tmp-*')" ] && kill -0 $pid 2>/dev/null; do :; done
    kill -s $signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    # A shell without job control ignores INT in the background, and oriopt keeps that setting.
    if [ $status -eq 0 ]; then
        [ $signal = INT ] || skip "it was done before the signal came"
    else
        is "$(kill -l $status)" $signal
        if [ -e out.ptx ]; then bad "there is output"; else ok; fi
    fi
    clean
    rm -f out.ptx
done
name="signal INT, not ignored"
if have python3; then
    python3 -c '
import glob, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen([sys.argv[1], "--piece=1K", "long.ptx", "-o", "out.ptx"])
while not glob.glob("out.ptx.tmp-*") and p.poll() is None: pass
p.send_signal(signal.SIGINT)
sys.exit(p.wait() != -signal.SIGINT)' "$ORIOPT"
    is $? 0
    clean
else
    skip "no python3"
fi
rm -f long.ptx out.ptx
name="an input that shrinks"
awk 'BEGIN { for (k = 0; k < 100000; k++) print "// a line of a long comment" }' | cat in.ptx - >shrinks.ptx
"$ORIOPT" shrinks.ptx -o out.ptx 2>err &
pid=$!
: >shrinks.ptx
wait $pid
case $? in 0 | 1) ok ;; *) bad "it ends by a signal" ;; esac
rm -f out.ptx shrinks.ptx
name="limit on file sizes"
(
    ulimit -f 1
    exec "$ORIOPT" in.ptx -o big.out 2>err
)
if [ $? -gt 128 ]; then ok; else bad "it goes on"; fi
clean
name="limit on file sizes without the signal"
(
    trap '' XFSZ
    ulimit -f 1
    exec "$ORIOPT" in.ptx -o big.out 2>err
)
is $? 5
says err "cannot write 'big.out': File too large"
clean

# -- Reasons ----------------------------------------------------------------------------------------------------------

if [ -c /dev/full ]; then
    run "a full device" 5 in.ptx -o /dev/full
    says err "cannot write '/dev/full': No space left on device"
    name="standard output on a full device"
    "$ORIOPT" in.ptx >/dev/full 2>err
    is $? 5
    says err "No space left on device"
    run "remarks on a full device" 5 in.ptx -o left.ptx --remarks=/dev/full
    says err "cannot write '/dev/full': No space left on device"
    if [ -e left.ptx ]; then bad "there is output"; else ok; fi
else
    name=/dev/full
    skip "there is none"
fi
run "a missing folder" 5 in.ptx -o no/such/out.ptx
says err "cannot write 'no/such/out.ptx': No such file or directory"

# -- Names and links --------------------------------------------------------------------------------------------------

for n in 243 244 245 250 255; do
    long=$(printf "%${n}s" '' | tr ' ' x)
    run "a name of $n bytes" 0 in.ptx -o "$long"
    if [ -s "$long" ]; then ok; else bad "no output"; fi
    clean
    rm -f "$long"
done
run "a name of 256 bytes" 5 in.ptx -o "$(printf '%256s' '' | tr ' ' x)"
says err "File name too long"
clean
ln -s self self
run "a link to itself" 5 in.ptx -o self
says err "cannot write 'self': Too many levels of symbolic links"
if [ -L self ]; then ok; else bad "the link is gone"; fi
ln -s ring2 ring1
ln -s ring1 ring2
run "two links in a ring" 5 in.ptx -o ring1
says err "Too many levels of symbolic links"
ln -s target link
run "a link to nothing yet" 0 in.ptx -o link
if [ -s target ] && [ -L link ]; then ok; else bad "the link is not followed"; fi

# Without standard input, descriptor 0 is free for the files of the program.
name="no standard input"
"$ORIOPT" in.ptx -o - >expected
"$ORIOPT" - <in.ptx >piped
"$ORIOPT" in.ptx -o - <&- | cat >closed
same expected piped
same expected closed

# -- JSON -------------------------------------------------------------------------------------------------------------

if have python3; then
    odd=$(printf 'odd\377\303\251.ptx')
    printf '.version 8.0\n.target sm_80\n.entry k()\n{\n\tmov.u32 %%r\200\303(, "\351";\n}\n' >"$odd"
    run "bytes above 0x7f" 1 --diagnostics=json "$odd"
    if python3 -c 'import json; [json.loads(l) for l in open("err", encoding="utf-8")]' 2>why; then ok; else bad "no JSON: $(tail -n 1 why)"; fi
    if grep -q "$(printf 'odd\\\\ufffd\303\251')" err; then ok; else bad "$(head -n 1 err)"; fi
else
    name=JSON
    skip "no python3"
fi

finish
