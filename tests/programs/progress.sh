#!/bin/sh
# SPDX-License-Identifier: MIT
#
# progress.sh: tests the progress line of orirun and oriopt on a terminal, which script(1) of util-linux provides. The
# line appears after two seconds, so each run lasts until ^C, and a failing one until its limit of time.
#
#   tests/programs/progress.sh
#
# The last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage. Environment: ORIOPT, ORIRUN.
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage progress.sh
needs "$ORIOPT" "$ORIRUN"
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    skip "no script(1) of util-linux"
    finish
fi
make_work
cd "$work" || exit 2

cat >spin.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry short()
{
	ret;
}
.visible .entry spin()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p1, %r1, 1;
loop:
	@%p1 bra loop;
	ret;
}
END
printf 'file spin.ptx\nentry short\n---\nentry spin\ngrid 5\n' >spin.run
awk 'BEGIN {
    print ".version 8.0\n.target sm_80\n.address_size 64"
    for (k = 0; k < 1000000; k++) printf ".func more%d()\n{\n\tret;\n}\n", k
}' >long.ptx

# on_terminal TEXT COMMAND: runs a command on a terminal of 60 columns, and types ^C when it has shown the text. The
# terminal's output goes to `shown`, as lines.
on_terminal() {
    rm -f typed
    {
        for _ in $(seq 600); do
            grep -qF -e "$1" typed 2>/dev/null && break
            sleep 0.1
        done
        printf '\003'
    } | $limit script -qefc "stty cols 60; exec $2" typed >/dev/null 2>&1
    status=$?
    tr '\r' '\n' <typed >shown
}

name="orirun on a terminal"
on_terminal "launch 2" "'$ORIRUN' spin.run"
is $status 130
says shown "orirun: launch 2 of 2, spin: block 2 of 5"
name="the line is erased"
is "$(grep -A 1 '^orirun: launch 2' shown | tail -n 1 | tr -d ' ' | cut -c1-2)" ""
says shown "launch 2, spin, block 1,0,0, thread 0,0,0: stopped after"
says shown "blocks that had not started: 3"
name="oriopt on a terminal"
on_terminal "function " "'$ORIOPT' --piece=10K long.ptx -o out.ptx"
says shown " so far: "
is "$(grep -c '^oriopt: function [0-9]* of [0-9]* so far: ' shown | sed 's/^[1-9][0-9]*$/some/')" some
absent out.ptx
name="oriopt on a terminal that shows its output"
on_terminal 'more900000(' "'$ORIOPT' --piece=10K long.ptx"
is "$(grep -c '^oriopt: function' shown)" 0
name="a pipe"
on_terminal "launch 2, spin" "'$ORIRUN' spin.run --max-steps=200M 2>&1 | cat"
is "$(grep -c '^orirun: launch' shown)" 0
says shown "launch 2, spin, block 1,0,0, thread 0,0,0: more than"
finish
