#!/bin/sh
# SPDX-License-Identifier: MIT
#
# faults.sh: checks the messages of orirun for faulting kernels (tests/programs/faults/faults.ptx), in clusters
# (clusters.ptx), for hints (hints.ptx), for accesses that leave a variable (bounds.ptx), and for kernels that try to
# access host memory (hostile.ptx): the exact first line, and the exit status. A row: kernel | options | exit status | position | [block/]thread | message; without a message the kernel must
# end normally. Under `make asan` a report of a sanitizer is a failure, since it changes the first line. Prints each
# failure; ends in `N passed, N failed`.
#
# Environment: ORIRUN (default build/orirun).
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
needs "$ORIRUN"

# check FILE: checks the rows on standard input.
check() {
    file=tests/programs/faults/$1
    while IFS='|' read -r kernel options status position thread message; do
        # shellcheck disable=SC2086
        said=$("$ORIRUN" "$file" --entry "$kernel" $options 2>&1 >/dev/null)
        rc=$?
        said=$(printf '%s\n' "$said" | head -n 1)
        block=0,0,0
        [ "$thread" = "${thread#*/}" ] || block=${thread%/*}
        want=${message:+"$file$position: error: launch 1, $kernel, block $block, thread ${thread#*/}: $message"}
        if [ "$said" = "$want" ] && [ "$rc" = "$status" ]; then
            ok
        else
            bad "$kernel $options: exit $rc, expected $status"
            printf '  said     %s\n  expected %s\n' "$said" "$want"
        fi
    done
}

check faults.ptx <<'EOF'
beyond|--block 63 --arg buf:63|0|||
beyond|--block 64 --arg buf:63|1|:33:2|63,0,0|write of 1 bytes at 0x3f of the buffer of argument 0, which has 63 bytes
misaligned|--arg buf:63|1|:41:2|0,0,0|write of 4 bytes at address 0x100000002202, which is not aligned
null|--arg u64:0|1|:50:2|0,0,0|read of 4 bytes at address 0x8, a null pointer
nowhere|--arg u64:0x123456789a00|1|:59:2|0,0,0|read of 4 bytes at address 0x123456789a00, which is not mapped
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
no_function|--arg u64:64|1|:131:2|0,0,0|a call to an address that is not a function
table|--arg u32:1|0|||
table|--arg u32:2|1|:140:2|0,0,0|brx.idx: index 2, but the table has 2 targets
shared||1|:151:2|0,0,0|read of 4 bytes at 0x1000 of shared memory, which has 32 bytes
texture||1|:160:2|0,0,0|'tex.1d.v4.f32.s32' is not supported
special_register||1|:214:2|0,0,0|'%envreg7' is not supported
not_a_member|--block 64|1|:166:2|1,0,0|the lane is not in its own member mask 0x1
not_a_member|--block 1|0|||
unwritten_register|--arg buf:64|0|||
unwritten_register|--arg buf:64 --check-uninit|1|:175:2|0,0,0|a use of a value that was never written
unwritten_memory|--arg buf:64|0|||
unwritten_memory|--arg buf:64 --check-uninit|1|:185:2|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:0 --check-uninit|0|||
padding|--arg buf:64 --arg u32:1 --check-uninit|1|:247:5|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:2 --check-uninit|1|:249:5|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:3 --check-uninit|1|:252:2|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:4 --check-uninit|1|:255:2|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:5 --check-uninit|1|:258:2|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:6 --check-uninit|1|:260:5|0,0,0|a read of memory that was never written
padding|--arg buf:64 --arg u32:7 --check-uninit|1|:262:5|0,0,0|a use of a value that was never written
padding|--arg buf:64 --arg u32:8 --check-uninit|1|:264:5|0,0,0|a use of a value that was never written
race|--block 64|0|||
race|--block 32 --check-races|0|||
race|--block 64 --check-races|1|:194:2|32,0,0|a data race at 0 of 's' of shared memory: nothing orders this write after the write of block 0,0,0, thread 31,0,0
no_race|--block 64 --check-races --check-uninit|0|||
EOF

check hints.ptx <<'EOF'
hints|--block 64 --arg buf:256|0|||
hints|--block 64 --arg buf:256 --check-uninit|0|||
hints|--block 64 --arg buf:255|1|:42:2|0,0,0|write of 128 bytes at 0x80 of the buffer of argument 0, which has 255 bytes
discarded|--arg buf:256 --arg u32:128 --check-uninit|0|||
discarded|--arg buf:256 --arg u32:0|0|||
discarded|--arg buf:256 --arg u32:0 --check-uninit|1|:62:2|0,0,0|a use of a value that was never written
discarded|--arg buf:256 --arg u32:64|1|:60:2|0,0,0|write of 128 bytes at address 0x100000001140, which is not aligned
discarded|--arg buf:256 --arg u32:256|1|:60:2|0,0,0|write of 128 bytes at 0x100 of the buffer of argument 0, which has 256 bytes
discarded_shared||1|:72:2|0,0,0|write of 128 bytes at address 0x10000000000, which is in shared memory, not in .global
discard_race|--block 32 --arg buf:128 --check-races|0|||
discard_race|--block 64 --arg buf:128 --check-races|1|:80:2|32,0,0|a data race at 0 of the buffer of argument 0: nothing orders this write after the write of block 0,0,0, thread 31,0,0
discard_size|--arg buf:128|1|:88:2|0,0,0|discard of 64 bytes, but only 128 are possible
priority|--arg buf:256|1|:96:2|0,0,0|applypriority of 128 bytes at address 0x100000001140, which is not aligned
bulk|--arg buf:256 --arg u32:48|0|||
bulk|--arg buf:256 --arg u32:40|1|:106:2|0,0,0|a bulk prefetch of 40 bytes, which is not a multiple of 16
bulk|--arg u64:24 --arg u32:48|1|:106:2|0,0,0|a bulk prefetch of 48 bytes at address 0x18, which is not aligned
registers_parted|--block 5|0|||
registers_parted|--block 6|1|:116:2|0,0,0|divergence at setmaxnreg, which is aligned
registers_number||1|:122:2|0,0,0|setmaxnreg of 68 registers, which is no multiple of 8 from 24 to 256
event||1|:128:2|0,0,0|pmevent 16, but there are only 16, from 0 on
policy_unwritten|--arg buf:8 --check-uninit|1|:136:2|0,0,0|a use of a value that was never written
EOF

check shared-of-four-gigabytes.ptx <<'EOF'
k||1|:11:2|0,0,0|4294967312 bytes of shared memory, which is more than the limit of 16777216
EOF

check clusters.ptx <<'EOF'
cluster_rank|--grid 2 --arg u32:1|0|||
cluster_rank|--grid 2 --arg u32:2|1|:12:2|0,0,0|CTA 2, but the cluster has only 2, from 0 on
cluster_no_shared|--grid 2 --arg buf:64|1|:21:2|0,0,0|address 0x100000000000, which is not in shared memory of the cluster
cluster_ended|--grid 2|1|:36:2|0,0,0|read of 4 bytes in shared memory of CTA 1 of the cluster, which has ended
cluster_taken_for_own|--grid 2|1|:44:2|0,0,0|read of 4 bytes at 0x2000000 of shared memory, which has 64 bytes
cluster_beyond|--grid 2|1|:52:2|0,0,0|read of 4 bytes at 0x400 of shared memory, which has 64 bytes
cluster_no_arrival|--grid 2|1|:58:2|0,0,0|a wait at the barrier of the cluster without an arrival
cluster_two_arrivals|--grid 2|1|:65:2|0,0,0|a second arrival at the barrier of the cluster, without a wait after the first
cluster_parted|--grid 2 --block 5|0|||
cluster_parted|--grid 2 --block 6|1|:76:2|0,0,0|divergence at an aligned barrier
cluster_deadlock|--grid 2 --block 32|0|||
cluster_deadlock|--grid 2 --block 64|1|:92:2|0,0,0|deadlock: all threads that have not ended wait, this one at the barrier of the cluster
cluster_race|--grid 2 --arg u32:0|0|||
cluster_race|--grid 2 --arg u32:2 --check-races|0|||
cluster_race|--grid 2 --arg u32:1 --check-races|1|:112:2|1,0,0/0,0,0|a data race at 0 of 'room' of shared memory of block 0,0,0: nothing orders this read after the write of block 0,0,0, thread 0,0,0
cluster_unwritten|--grid 2|0|||
cluster_unwritten|--grid 2 --check-uninit|1|:130:2|1,0,0/0,0,0|a use of a value that was never written
cluster_free||0|||
cluster_free|--grid 6,4,2 --cluster 3,2,2|0|||
cluster_free|--grid 6,4,2 --cluster 4,2,2|1|:138:2|0,0,0|a cluster of 4,2,2 CTAs, which do not divide the grid
cluster_explicit|--grid 4|1|:143:2|0,0,0|a cluster of 1,1,1 CTAs, but the kernel requires a launch with a cluster size
cluster_explicit|--grid 4 --cluster 4|0|||
cluster_explicit|--grid 8 --cluster 8|1|:143:2|0,0,0|a cluster of 8,1,1 CTAs, which is more than the kernel allows
cluster_race|--grid 4 --arg u32:0 --cluster 4|1|:101:2|0,0,0|a cluster of 4,1,1 CTAs, which is not the size that the kernel requires
EOF

check bounds.ptx <<'EOF'
shared|--arg u32:28 --check-bounds|0|||
shared|--arg u32:32|0|||
shared|--arg u32:32 --check-bounds|1|:23:2|0,0,0|write of 4 bytes at 0x20 of 'box' of shared memory, which has 32 bytes
shared|--arg u32:30000 --check-bounds|1|:23:2|0,0,0|write of 4 bytes at 0x7530 of 'box' of shared memory, which has 32 bytes
shared|--arg u32:0xffffffe0|0|||
shared|--arg u32:0xfffffffc --check-bounds|1|:23:2|0,0,0|write of 4 bytes at -0x4 of 'box' of shared memory, which has 32 bytes
generic|--arg u64:60 --check-bounds|0|||
generic|--arg u64:64|0|||
generic|--arg u64:64 --check-bounds|1|:34:2|0,0,0|write of 4 bytes at 0x40 of 'tile' of shared memory, which has 64 bytes
shared_dynamic|--arg u32:28 --shared 32 --check-bounds|0|||
shared_dynamic|--arg u32:32 --shared 32 --check-bounds|1|:43:2|0,0,0|write of 4 bytes at 0x20 of the dynamic part of shared memory, which has 32 bytes
shared_dynamic|--arg u32:0xfffffffc --shared 32|0|||
shared_dynamic|--arg u32:0xfffffffc --shared 32 --check-bounds|1|:43:2|0,0,0|write of 4 bytes at -0x4 of the dynamic part of shared memory, which has 32 bytes
shared_dynamic|--arg u32:0 --check-bounds|1|:43:2|0,0,0|write of 4 bytes at 0 of the dynamic part of shared memory, which has 0 bytes
local|--arg u64:12 --check-bounds|0|||
local|--arg u64:16|0|||
local|--arg u64:16 --check-bounds|1|:55:2|0,0,0|read of 4 bytes at 0x10 of 'array' of local memory, which has 16 bytes
local|--arg u64:0xfffffffffffffffc --check-bounds|1|:55:2|0,0,0|read of 4 bytes at -0x4 of 'array' of local memory, which has 16 bytes
local_of_module|--arg u64:12 --check-bounds|0|||
local_of_module|--arg u64:16|0|||
local_of_module|--arg u64:16 --check-bounds|1|:66:2|0,0,0|read of 4 bytes at 0x10 of 'module_local' of local memory, which has 16 bytes
local_of_caller|--arg u64:12 --check-bounds|0|||
local_of_caller|--arg u64:16|0|||
local_of_caller|--arg u64:16 --check-bounds|1|:76:2|0,0,0|read of 4 bytes at 0x10 of 'array' of local memory, which has 16 bytes
local_returned||0|||
local_returned|--check-bounds|1|:117:2|0,0,0|read of 4 bytes at 0x50020 of local memory, which is outside all variables
stack|--arg u64:28 --check-bounds|0|||
stack|--arg u64:32 --check-bounds|1|:128:2|0,0,0|write of 4 bytes at 0x40040 of local memory, which is outside all variables
stack|--arg u64:0xfffffffffffffffc|0|||
stack|--arg u64:0xfffffffffffffffc --check-bounds|1|:128:2|0,0,0|write of 4 bytes at -0x4 of the alloca part of local memory, which has 32 bytes
global|--arg u64:60 --check-bounds|0|||
global|--arg u64:4352|0|||
global|--arg u64:4352 --check-bounds|1|:137:2|0,0,0|write of 4 bytes at 0x1100 of 'first', which has 64 bytes
global|--arg u64:1000000000 --check-bounds|1|:137:2|0,0,0|write of 4 bytes at 0x3b9aca00 of 'first', which has 64 bytes
global|--arg u64:0xfffffffffffffffc --check-bounds|1|:137:2|0,0,0|write of 4 bytes at -0x4 of 'first', which has 64 bytes
constant|--arg u64:60 --check-bounds|0|||
constant|--arg u64:4352|0|||
constant|--arg u64:4352 --check-bounds|1|:147:2|0,0,0|read of 4 bytes at 0x1100 of 'fixed', which has 64 bytes
buffer|--arg buf:64 --arg u64:4352 --arg buf:64|0|||
buffer|--arg buf:64 --arg u64:4352 --arg buf:64 --check-bounds|1|:156:2|0,0,0|write of 4 bytes at 0x1100 of the buffer of argument 0, which has 64 bytes
buffer|--arg buf:64 --arg u64:60 --arg buf:64 --check-bounds|0|||
parameter|--arg u32:1 --arg u32:2 --arg u64:4|0|||
parameter|--arg u32:1 --arg u32:2 --arg u64:0 --check-bounds|0|||
parameter|--arg u32:1 --arg u32:2 --arg u64:4 --check-bounds|1|:166:2|0,0,0|read of 4 bytes at 0x4 of 'a' of parameter memory, which has 4 bytes
call_parameter||0|||
call_parameter|--check-bounds|1|:172:2|0,0,0|read of 4 bytes at 0x8 of 'pair' of parameter memory, which has 8 bytes
EOF

check hostile.ptx <<'EOF'
load_4|--arg u64:0|1|:29:2|0,0,0|read of 4 bytes at address 0, a null pointer
load_4|--arg u64:0xfffffffffffffffc|1|:29:2|0,0,0|read of 4 bytes at address 0xfffffffffffffffc, which is not mapped
load_4|--arg u64:0xfffffffffffffffe|1|:29:2|0,0,0|read of 4 bytes at address 0xfffffffffffffffe, which is not aligned
load_4|--arg u64:0x1000000000c|0|||
load_4|--arg u64:0x1000000003c|0|||
load_4|--arg u64:0x10000000040|1|:29:2|0,0,0|read of 4 bytes at 0x40 of shared memory, which has 64 bytes
load_4|--arg u64:0x10100000000|1|:29:2|0,0,0|read of 4 bytes at 0x100000000 of shared memory, which has 64 bytes
load_4|--arg u64:0xfffffffffc|1|:29:2|0,0,0|read of 4 bytes at address 0xfffffffffc, which is not mapped
load_4|--arg u64:0x1fffffffffc|1|:29:2|0,0,0|read of 4 bytes at 0xfffffffffc of shared memory, which has 64 bytes
load_4|--arg u64:0x20000000000|1|:29:2|0,0,0|read of 4 bytes at 0 of local memory, which has 0 bytes
load_4|--arg u64:0x20000080000|1|:29:2|0,0,0|read of 4 bytes at 0x80000 of local memory, which has 0 bytes
load_4|--arg u64:0x30000000000|0|||
load_4|--arg u64:0x30000000004|0|||
load_4|--arg u64:0x30000000008|1|:29:2|0,0,0|read of 4 bytes at 0x8 of parameter memory, which has 8 bytes
load_4|--arg u64:0x40000000000|1|:29:2|0,0,0|read of 4 bytes at address 0x40000000000, which is not mapped
load_4|--arg u64:0x40000000010|1|:29:2|0,0,0|read of 4 bytes at address 0x40000000010, which is not mapped
load_4|--arg u64:0x7ffff0000000|1|:29:2|0,0,0|read of 4 bytes at address 0x7ffff0000000, which is not mapped
load_4|--arg buf:3|1|:29:2|0,0,0|read of 4 bytes at 0 of the buffer of argument 0, which has 3 bytes
load_4|--arg buf:4|0|||
load_16|--arg u64:0x10000000030|0|||
load_16|--arg u64:0x10000000040|1|:38:2|0,0,0|read of 16 bytes at 0x40 of shared memory, which has 64 bytes
load_16|--arg u64:0x1000000003c|1|:38:2|0,0,0|read of 16 bytes at address 0x3c, which is not aligned
load_16|--arg u64:0xfffffffffffffff0|1|:38:2|0,0,0|read of 16 bytes at address 0xfffffffffffffff0, which is not mapped
load_16|--arg buf:15|1|:38:2|0,0,0|read of 16 bytes at 0 of the buffer of argument 0, which has 15 bytes
load_16|--arg buf:0|1|:38:2|0,0,0|read of 16 bytes at 0 of the buffer of argument 0, which has 0 bytes
load_16_behind|--arg u64:0xfffffffffffffff0|1|:46:2|0,0,0|read of 16 bytes at address 0, a null pointer
load_16_behind|--arg buf:24|1|:46:2|0,0,0|read of 16 bytes at 0x10 of the buffer of argument 0, which has 24 bytes
load_16_behind|--arg buf:32|0|||
store_4|--arg u64:0x30000000000|1|:54:2|0,0,0|a write to a parameter of the kernel
store_4|--arg u64:0x40000000010|1|:54:2|0,0,0|write of 4 bytes at address 0x40000000010, which is not mapped
store_4|--arg u64:0x10000000040|1|:54:2|0,0,0|write of 4 bytes at 0x40 of shared memory, which has 64 bytes
store_16|--arg u64:0x10000000038|1|:63:2|0,0,0|write of 16 bytes at address 0x38, which is not aligned
store_16|--arg buf:8|1|:63:2|0,0,0|write of 16 bytes at 0 of the buffer of argument 0, which has 8 bytes
add_4|--arg u64:0x30000000000|1|:72:2|0,0,0|a write to a parameter of the kernel
add_4|--arg u64:0x10000000040|1|:72:2|0,0,0|write of 4 bytes at 0x40 of shared memory, which has 64 bytes
add_4|--arg u64:0x10000000002|1|:72:2|0,0,0|write of 4 bytes at address 0x2, which is not aligned
add_4|--arg u64:0x20000000000|1|:72:2|0,0,0|write of 4 bytes at 0 of local memory, which has 0 bytes
exchange_16|--arg buf:8|1|:83:2|0,0,0|write of 16 bytes at 0 of the buffer of argument 0, which has 8 bytes
exchange_16|--arg u64:0x10000000038|1|:83:2|0,0,0|write of 16 bytes at address 0x38, which is not aligned
reduce_8|--arg buf:7|1|:91:2|0,0,0|write of 8 bytes at 0 of the buffer of argument 0, which has 7 bytes
reduce_8|--arg u64:0xfffffffffffffff8|1|:91:2|0,0,0|write of 8 bytes at address 0xfffffffffffffff8, which is not mapped
load_global|--arg u64:0x10000000000|1|:100:2|0,0,0|read of 4 bytes at address 0x10000000000, which is in shared memory, not in .global
load_global|--arg u64:0x20000000000|1|:100:2|0,0,0|read of 4 bytes at address 0x20000000000, which is in local memory, not in .global
load_global|--arg u64:0x100000001104|1|:100:2|0,0,0|read of 4 bytes at 0x4 of 'fixed', which is in constant memory, not in .global
load_symbol|--arg u64:60|0|||
load_symbol|--arg u64:64|1|:111:2|0,0,0|read of 4 bytes at 0x40 of 'bytes', which has 64 bytes
load_symbol|--arg u64:4160|1|:111:2|0,0,0|read of 4 bytes at address 0x100000001040, which is not mapped
load_symbol|--arg u64:0xfffffffffffffffc|1|:111:2|0,0,0|read of 4 bytes at address 0xffffffffffc, which is not mapped
load_extern|--arg u64:0|0|||
load_extern|--arg u64:4|1|:122:2|0,0,0|read of 4 bytes at 0x4 of 'elsewhere', which has 4 bytes
store_weak|--arg u64:4|1|:132:2|0,0,0|write of 4 bytes at 0x4 of 'weak', which has 4 bytes
store_const|--arg u64:0|1|:143:2|0,0,0|a write to constant memory
store_const|--arg u64:32|1|:143:2|0,0,0|a write to constant memory
load_const|--arg u64:28|0|||
load_const|--arg u64:32|1|:154:2|0,0,0|read of 4 bytes at 0x20 of 'fixed', which has 32 bytes
load_const|--arg u64:0x100000000|1|:154:2|0,0,0|read of 4 bytes at address 0x100100001100, which is not mapped
add_const|--arg u64:0|1|:166:2|0,0,0|a write to constant memory
load_shared|--arg u32:48|0|||
load_shared|--arg u32:64|1|:174:2|0,0,0|read of 16 bytes at 0x40 of shared memory, which has 64 bytes
load_shared|--arg u32:0xfffffff0|1|:174:2|0,0,0|read of 16 bytes at 0xfffffff0 of shared memory, which has 64 bytes
load_shared_behind|--arg u32:0xfffffffc|0|||
load_shared_behind|--arg u32:60|1|:182:2|0,0,0|read of 4 bytes at 0x40 of shared memory, which has 64 bytes
store_shared|--arg u64:0x100000000|1|:190:2|0,0,0|write of 8 bytes at 0x100000000 of shared memory, which has 64 bytes
store_shared|--arg u64:0xfffffffffffffff8|1|:190:2|0,0,0|write of 8 bytes at 0xfffffffffffffff8 of shared memory, which has 64 bytes
store_shared|--arg u64:64 --shared 8|0|||
store_shared|--arg u64:72 --shared 8|1|:190:2|0,0,0|write of 8 bytes at 0x48 of shared memory, which has 72 bytes
add_shared|--arg u64:64|1|:199:2|0,0,0|write of 4 bytes at 0x40 of shared memory, which has 64 bytes
store_local|--arg u64:28|0|||
store_local|--arg u64:32|1|:210:2|0,0,0|write of 4 bytes at 0x20 of local memory, which has 32 bytes
store_local|--arg u64:0xfffffffffffffffc|1|:210:2|0,0,0|write of 4 bytes at 0xfffffffffffffffc of local memory, which has 32 bytes
store_local|--arg u64:0x100000000|1|:210:2|0,0,0|write of 4 bytes at 0x100000000 of local memory, which has 32 bytes
load_local|--arg u64:16|0|||
load_local|--arg u64:32|1|:219:2|0,0,0|read of 16 bytes at 0x20 of local memory, which has 32 bytes
no_local|--arg u64:0|1|:229:2|0,0,0|read of 4 bytes at 0 of local memory, which has 0 bytes
load_parameter|--arg u64:4|0|||
load_parameter|--arg u64:8|1|:240:2|0,0,0|read of 4 bytes at 0x8 of parameter memory, which has 8 bytes
load_parameter|--arg u64:0xfffffffffffffffc|1|:240:2|0,0,0|read of 4 bytes at 0xfffffffffffffffc of parameter memory, which has 8 bytes
load_behind_parameter|--arg u64:0|1|:247:2|0,0,0|read of 4 bytes at 0x8 of parameter memory, which has 8 bytes
load_before_parameter|--arg u64:0|1|:254:2|0,0,0|read of 4 bytes at 0xfffffffffffffffc of parameter memory, which has 8 bytes
formal_behind||1|:263:2|0,0,0|read of 4 bytes at 0x10 of parameter memory, which has 16 bytes
formal_before||1|:270:2|0,0,0|read of 4 bytes at 0xfffffffffffffffc of parameter memory, which has 16 bytes
formal_indexed|--arg u64:8|0|||
formal_indexed|--arg u64:16|1|:281:2|0,0,0|read of 4 bytes at 0x10 of parameter memory, which has 16 bytes
formal_indexed|--arg u64:0xfffffffffffffffc|1|:281:2|0,0,0|read of 4 bytes at 0xfffffffffffffffc of parameter memory, which has 16 bytes
formal_indexed|--arg u64:0x100000000|1|:281:2|0,0,0|read of 4 bytes at 0x100000000 of parameter memory, which has 16 bytes
argument_behind||1|:316:2|0,0,0|write of 4 bytes at 0x10 of parameter memory, which has 16 bytes
too_few_arguments||1|:349:2|0,0,0|a call with 1 arguments of a function that has 2
too_many_arguments||1|:360:2|0,0,0|a call with 3 arguments of a function that has 2
no_result||1|:371:2|0,0,0|a call with 0 results of a function that has 1
small_argument||1|:382:2|0,0,0|a call with a parameter of 8 bytes, of which the function expects 4096
large_for_small||1|:393:2|0,0,0|a call with a parameter of 65536 bytes, of which the function expects 4096
small_result||1|:403:2|0,0,0|a call with a parameter of 4096 bytes, of which the function expects 4
call_anything|--arg u64:0|1|:412:2|0,0,0|a call to an address that is not a function
call_anything|--arg u64:0x40000000001|1|:412:2|0,0,0|a call to an address that is not a function
call_anything|--arg u64:0x3fffffffff0|1|:412:2|0,0,0|a call to an address that is not a function
call_anything|--arg u64:0x4ffffffffff0|1|:412:2|0,0,0|a call to an address that is not a function
call_anything|--arg u64:0xfffffffffffffff0|1|:412:2|0,0,0|a call to an address that is not a function
call_kernel||1|:423:2|0,0,0|a call with a parameter of the kernel
call_alias||1|:438:2|0,0,0|a call with a parameter of 4096 bytes, of which the function expects 4
recursion_of_parameters||1|:446:2|0,0,0|more than 524288 bytes of parameters of functions
recursion_of_variables||1|:463:2|0,0,0|more than 524288 bytes of local memory
argument_of_four_gigabytes||1|:481:2|0,0,0|more than 524288 bytes of parameters of functions
call_of_four_gigabytes||1|:492:2|0,0,0|more than 524288 bytes of parameters of functions
sum_of_parameters_wraps||1|:508:2|0,0,0|more than 524288 bytes of parameters of functions
local_of_four_gigabytes||1|:516:2|0,0,0|more than 524288 bytes of local memory
local_at_the_limit||1|:524:2|0,0,0|more than 524288 bytes of local memory
allocate|--arg u64:524288|0|||
allocate|--arg u64:524289|1|:534:2|0,0,0|alloca of 524289 bytes, with more than 524288 bytes of local memory
allocate|--arg u64:0xffffffffffffffff|1|:534:2|0,0,0|alloca of 18446744073709551615 bytes, with more than 524288 bytes of local memory
allocate|--arg u64:0|1|:535:2|0,0,0|write of 1 bytes at 0 of local memory, which has 0 bytes
allocate_twice|--arg u64:262145|1|:544:2|0,0,0|alloca of 262145 bytes, with more than 524288 bytes of local memory
restore|--arg u64:0|0|||
restore|--arg u64:1|1|:553:2|0,0,0|stackrestore of 0x1, which no stacksave of this call returned
restore|--arg u64:0xffffffff|1|:553:2|0,0,0|stackrestore of 0xffffffff, which no stacksave of this call returned
restore|--arg u64:0xffffffffffffffff|1|:553:2|0,0,0|stackrestore of 0xffffffffffffffff, which no stacksave of this call returned
print|--arg u64:0 --arg u64:0|0|||
print|--arg u64:1 --arg u64:0|1|:568:2|0,0,0|read of 1 bytes at address 0x1, a null pointer
print|--arg u64:0x10000000040 --arg u64:0|1|:568:2|0,0,0|read of 1 bytes at 0x40 of shared memory, which has 64 bytes
print|--arg buf:hex:256400 --arg u64:0|1|:568:2|0,0,0|read of 4 bytes at address 0, a null pointer
print|--arg buf:hex:256400 --arg u64:2|1|:568:2|0,0,0|read of 4 bytes at address 0x4, a null pointer
print|--arg buf:hex:256400 --arg buf:3|1|:568:2|0,0,0|read of 4 bytes at 0 of the buffer of argument 1, which has 3 bytes
print|--arg buf:hex:2564 --arg buf:4|1|:568:2|0,0,0|read of 1 bytes at 0x2 of the buffer of argument 0, which has 2 bytes
print|--arg buf:hex:2573 --arg u64:0xffffffffffffffff|1|:568:2|0,0,0|read of 1 bytes at 0x2 of the buffer of argument 0, which has 2 bytes
print|--arg buf:hex:2573257300 --arg u64:0xfffffffffffffff9|1|:568:2|0,0,0|read of 8 bytes at address 0, a null pointer
print|--arg buf:hex:252e35303030303030306600 --arg buf:8|0|||
print_parameters|--arg u64:0x6425|0|||
print_parameters|--arg u64:0x4141414141414141|1|:581:2|0,0,0|read of 1 bytes at 0x8 of parameter memory, which has 8 bytes
print_endless||1|:593:2|0,0,0|read of 1 bytes at 0x8 of 'endless_text', which has 8 bytes
print_text_at|--arg u64:0|0|||
print_text_at|--arg u64:8|1|:611:2|0,0,0|read of 1 bytes at address 0x8, a null pointer
print_text_at|--arg u64:0x10000000040|1|:611:2|0,0,0|read of 1 bytes at 0x40 of shared memory, which has 64 bytes
print_text_at|--arg buf:8xu8:fill:65|1|:611:2|0,0,0|read of 1 bytes at 0x8 of the buffer of argument 0, which has 8 bytes
print_beyond_arguments||1|:628:2|0,0,0|read of 8 bytes at 0x10 of local memory, which has 16 bytes
print_wide||0|||
allocate_on_heap|--arg u64:0 --arg u64:0|1|:661:2|0,0,0|read of 4 bytes at 0 of memory of malloc, which has 0 bytes
allocate_on_heap|--arg u64:4 --arg u64:0|0|||
allocate_on_heap|--arg u64:4 --arg u64:4|1|:661:2|0,0,0|read of 4 bytes at 0x4 of memory of malloc, which has 4 bytes
allocate_on_heap|--arg u64:0xffffffffffffffff --arg u64:0|1|:661:2|0,0,0|read of 4 bytes at address 0, a null pointer
allocate_on_heap|--arg u64:8388609 --arg u64:0|1|:661:2|0,0,0|read of 4 bytes at address 0, a null pointer
free_anything|--arg u64:0|0|||
free_anything|--arg u64:16|1|:671:2|0,0,0|free of 0x10, which does not come from malloc
free_anything|--arg buf:16|1|:671:2|0,0,0|free of 0x100000008800, which does not come from malloc
free_anything|--arg u64:0x10000000000|1|:671:2|0,0,0|free of 0x10000000000, which does not come from malloc
use_after_free|--arg u32:0|1|:689:2|0,0,0|write of 4 bytes at 0 of memory of malloc, which was freed and had 64 bytes
use_after_free|--arg u32:1|1|:695:2|0,0,0|free of 0x100000008800, which was freed before
fail_at|--arg u64:0|1|:711:2|0,0,0|:1: : assertion '' failed
fail_at|--arg u64:1|1|:711:2|0,0,0|read of 1 bytes at address 0x1, a null pointer
fail_at|--arg buf:hex:4141|1|:711:2|0,0,0|read of 1 bytes at 0x2 of the buffer of argument 0, which has 2 bytes
copy_16|--arg u32:64 --arg buf:16|1|:723:2|0,0,0|write of 16 bytes at 0x40 of shared memory, which has 64 bytes
copy_16|--arg u32:56 --arg buf:16|1|:723:2|0,0,0|write of 16 bytes at address 0x38, which is not aligned
copy_16|--arg u32:0 --arg buf:15|1|:723:2|0,0,0|read of 16 bytes at 0 of the buffer of argument 1, which has 15 bytes
copy_16|--arg u32:0 --arg u64:16|1|:723:2|0,0,0|read of 16 bytes at address 0x10, a null pointer
copy_16|--arg u32:0 --arg u64:0x10000000000|1|:723:2|0,0,0|read of 16 bytes at address 0x10000000000, which is in shared memory, not in .global
copy_part|--arg u32:9 --arg buf:16|1|:735:2|0,0,0|cp.async of 8 bytes with a source of 9
copy_part|--arg u32:0xffffffff --arg buf:16|1|:735:2|0,0,0|cp.async of 8 bytes with a source of 4294967295
copy_part|--arg u32:8 --arg buf:7|1|:735:2|0,0,0|read of 8 bytes at 0 of the buffer of argument 1, which has 7 bytes
copy_part|--arg u32:7 --arg buf:7|0|||
copy_bulk|--arg buf:64 --arg u32:0 --arg u32:64|0|||
copy_bulk|--arg buf:64 --arg u32:0 --arg u32:80|1|:747:2|0,0,0|write of 80 bytes at 0 of the buffer of argument 0, which has 64 bytes
copy_bulk|--arg buf:128 --arg u32:0 --arg u32:80|1|:747:2|0,0,0|read of 80 bytes at 0 of shared memory, which has 64 bytes
copy_bulk|--arg buf:64 --arg u32:0 --arg u32:0xfffffff0|1|:747:2|0,0,0|write of 4294967280 bytes at 0 of the buffer of argument 0, which has 64 bytes
copy_bulk|--arg buf:64 --arg u32:0 --arg u32:8|1|:747:2|0,0,0|a bulk copy of 8 bytes, which is not a multiple of 16
copy_bulk|--arg buf:64 --arg u32:0xfffffff0 --arg u32:32|1|:747:2|0,0,0|read of 32 bytes at 0xfffffff0 of shared memory, which has 64 bytes
copy_bulk|--arg u64:0xfffffffffffffff0 --arg u32:0 --arg u32:32|1|:747:2|0,0,0|write of 32 bytes at address 0xfffffffffffffff0, which is not mapped
fetch_bulk|--arg u32:16 --arg buf:32 --arg u32:32 --arg u32:64|1|:763:2|0,0,0|write of 8 bytes at 0x40 of shared memory, which has 64 bytes
fetch_bulk|--arg u32:16 --arg buf:32 --arg u32:32 --arg u32:4|1|:763:2|0,0,0|write of 8 bytes at address 0x4, which is not aligned
fetch_bulk|--arg u32:48 --arg buf:32 --arg u32:32 --arg u32:0|1|:763:2|0,0,0|write of 32 bytes at 0x30 of shared memory, which has 64 bytes
fetch_bulk|--arg u32:16 --arg buf:16 --arg u32:32 --arg u32:0|1|:763:2|0,0,0|read of 32 bytes at 0 of the buffer of argument 1, which has 16 bytes
barrier_at|--arg buf:8|1|:771:2|0,0,0|an mbarrier at 0x100000008800, which is not in shared memory
barrier_at|--arg u64:0x10000000040|1|:771:2|0,0,0|write of 8 bytes at 0x40 of shared memory, which has 64 bytes
barrier_at|--arg u64:0x10000000004|1|:771:2|0,0,0|write of 8 bytes at address 0x4, which is not aligned
barrier_at|--arg u64:0x20000000000|1|:771:2|0,0,0|an mbarrier at 0x20000000000, which is not in shared memory
barrier_at|--arg u64:0x30000000000|1|:771:2|0,0,0|an mbarrier at 0x30000000000, which is not in shared memory
barrier_in_shared|--arg u32:64|1|:779:2|0,0,0|write of 8 bytes at 0x40 of shared memory, which has 64 bytes
barrier_in_shared|--arg u32:0xfffffff8|1|:779:2|0,0,0|write of 8 bytes at 0xfffffff8 of shared memory, which has 64 bytes
arrive_at|--arg u64:0x10000000000|1|:787:2|0,0,0|there is no initialized mbarrier here
arrive_at|--arg buf:8|1|:787:2|0,0,0|an mbarrier at 0x100000008800, which is not in shared memory
arrive_at|--arg u64:0x10000000040|1|:787:2|0,0,0|write of 8 bytes at 0x40 of shared memory, which has 64 bytes
wait_at|--arg u64:0x10000000000|1|:797:2|0,0,0|there is no initialized mbarrier here
wait_at|--arg buf:8|1|:797:2|0,0,0|an mbarrier at 0x100000008800, which is not in shared memory
copies_arrive_at|--arg u64:0x10000000040|1|:805:2|0,0,0|write of 8 bytes at 0x40 of shared memory, which has 64 bytes
copies_arrive_at|--arg buf:8|1|:805:2|0,0,0|an mbarrier at 0x100000008800, which is not in shared memory
load_matrix|--block 32 --arg u32:0|0|||
load_matrix|--block 32 --arg u32:64|1|:815:2|0,0,0|read of 16 bytes at 0x40 of shared memory, which has 64 bytes
load_matrix|--block 32 --arg u32:8|1|:815:2|0,0,0|read of 16 bytes at address 0x8, which is not aligned
load_matrix|--block 31 --arg u32:0|1|:815:2|0,0,0|ldmatrix.sync requires all lanes of the warp, but only 31 execute it
store_matrix|--block 32 --arg u32:0xfffffff0|1|:824:2|0,0,0|write of 16 bytes at 0xfffffff0 of shared memory, which has 64 bytes
load_fragment|--block 32 --arg buf:512 --arg u32:16|0|||
load_fragment|--block 32 --arg buf:512 --arg u32:24|1|:836:2|12,0,0|read of 2 bytes at 0x210 of the buffer of argument 0, which has 512 bytes
load_fragment|--block 32 --arg buf:512 --arg u32:0xfffffff0|1|:836:2|0,0,0|read of 2 bytes at address 0x101000008700, which is not mapped
load_fragment|--block 32 --arg buf:512 --arg u32:0xffffffff|1|:836:2|0,0,0|wmma.load at address 0x100000008800 with a stride of 4294967295, one of which is not aligned to 16 bytes
store_fragment|--block 32 --arg buf:1024 --arg u32:16|0|||
store_fragment|--block 32 --arg buf:1023 --arg u32:16|1|:848:2|31,0,0|write of 4 bytes at 0x3fc of the buffer of argument 0, which has 1023 bytes
store_fragment|--block 32 --arg buf:1024 --arg u32:0xfffffff0|1|:848:2|0,0,0|write of 4 bytes at address 0x102000008600, which is not mapped
store_fragment|--block 32 --arg u64:0x10000000000 --arg u32:16|1|:848:2|0,0,0|write of 4 bytes at 0x200 of shared memory, which has 64 bytes
branch_table|--arg u32:1|0|||
branch_table|--arg u32:2|1|:857:2|0,0,0|brx.idx: index 2, but the table has 2 targets
branch_table|--arg u32:0xffffffff|1|:857:2|0,0,0|brx.idx: index 4294967295, but the table has 2 targets
barrier_number|--arg u32:15 --arg u32:32|0|||
barrier_number|--arg u32:16 --arg u32:32|1|:869:2|0,0,0|barrier 16, but there are only 16, from 0 on
barrier_number|--arg u32:0xffffffff --arg u32:32|1|:869:2|0,0,0|barrier 4294967295, but there are only 16, from 0 on
barrier_number|--arg u32:0 --arg u32:33|1|:869:2|0,0,0|a barrier for 33 threads, which is not a multiple of the warp size
barrier_number|--arg u32:0 --arg u32:64|1|:869:2|0,0,0|deadlock: all threads that have not ended wait, this one at a barrier
barrier_number|--arg u32:0 --arg u32:0xffffffe0|1|:869:2|0,0,0|deadlock: all threads that have not ended wait, this one at a barrier
shuffle_from|--block 32 --arg u32:0xffffffff --arg u32:0xffffffff|0|||
shuffle_from|--block 32 --arg u32:32 --arg u32:0x1f00|0|||
find_bit|--arg u32:0xffffffff --arg u32:0xffffffff --arg u32:0xffffffff|0|||
find_bit|--arg u32:0 --arg u32:0x80000000 --arg u32:0x80000000|0|||
EOF

# A variable larger than memory is an error before the run.
said=$("$ORIRUN" tests/programs/faults/global-of-a-terabyte.ptx --max-memory 1G 2>&1)
if [ $? -eq 4 ] && [ "$said" = "orirun: memory limit of 1073741824 bytes reached" ]; then
    ok
else
    bad "global-of-a-terabyte.ptx: $said"
fi
finish
