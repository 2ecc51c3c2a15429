#!/bin/sh
# SPDX-License-Identifier: MIT
#
# faults.sh: what orirun says of kernels that go wrong (tests/faults/faults.ptx): each first line, to the letter, and the
# exit status. A row: kernel | options | exit status | position | thread | message; no message: it must run to its end.
# Prints each failure; ends in `N passed, N failed`.
#
# Environment: ORIRUN (default build/orirun).
cd "$(dirname "$0")/.." || exit 2
ORIRUN=${ORIRUN:-build/orirun}
[ -x "$ORIRUN" ] || { echo "faults.sh: there is no '$ORIRUN' (run make, or set ORIRUN)" >&2 && exit 2; }
file=tests/faults/faults.ptx
passed=0
failed=0

while IFS='|' read -r kernel options status position thread message; do
    # shellcheck disable=SC2086
    said=$("$ORIRUN" $file --entry "$kernel" $options 2>&1 >/dev/null)
    rc=$?
    said=$(printf '%s\n' "$said" | head -n 1)
    want=${message:+"$file$position: error: launch 1, $kernel, block 0,0,0, thread $thread: $message"}
    if [ "$said" = "$want" ] && [ "$rc" = "$status" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s %s: exit %s, expected %s\n  said     %s\n  expected %s\n' "$kernel" "$options" "$rc" "$status" "$said" "$want"
    fi
done <<'EOF'
beyond|--block 63 --arg buf:63|0|||
beyond|--block 64 --arg buf:63|1|:33:2|63,0,0|write of 1 bytes at 0x3f of the buffer of argument 0, which has 63 bytes
misaligned|--arg buf:63|1|:41:2|0,0,0|write of 4 bytes at address 0x100000002202, which is not aligned
null|--arg u64:0|1|:50:2|0,0,0|read of 4 bytes at address 0x8, a null pointer
nowhere|--arg u64:0x123456789a00|1|:59:2|0,0,0|read of 4 bytes at address 0x123456789a00, where nothing is
endless|--max-steps 10000|4||0,0,0|more than 10000 steps
left_alone|--block 64|1|:79:2|0,0,0|deadlock: all threads that have not ended wait, this one at a barrier
left_alone|--block 32|0|||
parted|--block 64|1|:89:2|0,0,0|divergence at an aligned barrier
parted|--block 5|0|||
too_deep||1|:18:2|0,0,0|calls are more than 1000 deep
trapped|--block 64|1|:107:2|9,0,0|trap
trapped|--block 9|0|||
constant|--arg u64:0|1|:116:2|0,0,0|a write to constant memory
no_body||1|:122:2|0,0,0|a call of 'elsewhere', which has no body
no_function|--arg u64:64|1|:131:2|0,0,0|a call of something that is no function
table|--arg u32:1|0|||
table|--arg u32:2|1|:140:2|0,0,0|brx.idx: index 2, but the table has 2 targets
shared||1|:151:2|0,0,0|read of 4 bytes at 0x1000 of shared memory, which has 32 bytes
texture||1|:160:2|0,0,0|'tex.1d.v4.f32.s32' is not supported
special_register||1|:214:2|0,0,0|'%envreg7' is not supported
not_a_member|--block 64|1|:166:2|1,0,0|a lane that is not in its own mask 0x1 of members
not_a_member|--block 1|0|||
unwritten_register|--arg buf:64|0|||
unwritten_register|--arg buf:64 --check-uninit|1|:175:2|0,0,0|a use of a value that nothing wrote
unwritten_memory|--arg buf:64|0|||
unwritten_memory|--arg buf:64 --check-uninit|1|:185:2|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:0 --check-uninit|0|||
padding|--arg buf:64 --arg u32:1 --check-uninit|1|:247:5|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:2 --check-uninit|1|:249:5|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:3 --check-uninit|1|:252:2|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:4 --check-uninit|1|:255:2|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:5 --check-uninit|1|:258:2|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:6 --check-uninit|1|:260:5|0,0,0|a read of memory that nothing wrote
padding|--arg buf:64 --arg u32:7 --check-uninit|1|:262:5|0,0,0|a use of a value that nothing wrote
padding|--arg buf:64 --arg u32:8 --check-uninit|1|:264:5|0,0,0|a use of a value that nothing wrote
race|--block 64|0|||
race|--block 32 --check-races|0|||
race|--block 64 --check-races|1|:194:2|32,0,0|a data race: this thread writes what thread 31 of CTA 0 wrote, with nothing between
no_race|--block 64 --check-races --check-uninit|0|||
EOF
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
