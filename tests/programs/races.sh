#!/bin/sh
# SPDX-License-Identifier: MIT
#
# races.sh: tests the race check of orirun on kernels with and without a race (tests/programs/races/).
# A row: kernel | options | position | block/thread | text of the error | position | text of the note. No position: the
# kernel has no race. Each kernel also runs with other orders of execution, which do not change the result. Prints each
# failure; ends in `N passed, N failed`.
#
# Environment: ORIRUN (default build/orirun).
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 2
needs "$ORIRUN"

# check FILE OPTIONS, rows on standard input
check() {
    file=tests/programs/races/$1 common=$2
    sed -n 's/.*\.entry \([a-z_]*\).*/\1/p' "$file" | sort >"$work/kernels"
    : >"$work/tested"
    while IFS='|' read -r kernel options position thread message note other; do
        name="$1 $kernel"
        echo "$kernel" >>"$work/tested"
        # shellcheck disable=SC2086
        "$ORIRUN" "$file" --entry "$kernel" $common $options >"$work/out" 2>&1
        rc=$?
        grep -v '^	' "$work/out" >"$work/said"
        : >"$work/want"
        if [ "$position" ]; then
            printf '%s:%s: error: launch 1, %s, block %s, thread %s: a data race at %s\n' "$file" "$position" "$kernel" \
                "${thread%/*}" "${thread#*/}" "$message" >>"$work/want"
            printf '%s:%s: note: block %s\n' "$file" "$note" "$other" >>"$work/want"
        fi
        is "$rc" "$((!!${#position}))"
        same "$work/said" "$work/want"
        for seed in 1 2 3 4; do
            # shellcheck disable=SC2086
            "$ORIRUN" "$file" --entry "$kernel" $common $options --schedule=$seed --max-steps=20K >"$work/out" 2>&1
            rc=$?
            # Blocks run one after the other: a block that waits for a later one reaches the limit.
            [ $rc -eq 4 ] || is "$rc with --schedule=$seed" "$((!!${#position})) with --schedule=$seed"
        done
    done
    name="$1: all kernels are tested"
    sort "$work/tested" >"$work/said"
    same "$work/said" "$work/kernels"
}

make_work

check shared.ptx --check-races <<'EOF'
racy_reduction|--block 128 --arg buf:4096|29:2|0,0,0/32,0,0|0x80 of 'sums' of shared memory: nothing orders this write after the read of block 0,0,0, thread 0,0,0|26:2|0,0,0, thread 0,0,0: the read
reduction|--block 128 --arg buf:4096|||||
racy_scan|--block 128|92:2|0,0,0/32,0,0|0x7c of 'scanned' of shared memory: nothing orders this read after the write of block 0,0,0, thread 31,0,0|95:2|0,0,0, thread 31,0,0: the write
scan|--block 128|||||
racy_histogram|--block 128|139:2|0,0,0/64,0,0|0 of 'bins' of shared memory: nothing orders this read after the write of block 0,0,0, thread 0,0,0|141:2|0,0,0, thread 0,0,0: the write
histogram|--block 128|||||
racy_histogram_read|--block 128|166:2|0,0,0/64,0,0|0 of 'bins' of shared memory: nothing orders this atomic operation after the read of block 0,0,0, thread 0,0,0|167:2|0,0,0, thread 0,0,0: the read
racy_single_buffer|--block 64|188:2|0,0,0/0,0,0|0xfc of 'tile' of shared memory: nothing orders this read after the write of block 0,0,0, thread 63,0,0|186:2|0,0,0, thread 63,0,0: the write
double_buffer|--block 64|||||
racy_double_buffer|--block 64|234:2|0,0,0/0,0,0|0xfc of 'tiles' of shared memory: nothing orders this read after the write of block 0,0,0, thread 63,0,0|232:2|0,0,0, thread 63,0,0: the write
racy_readers|--block 128|260:2|0,0,0/0,0,0|0 of 'word' of shared memory: nothing orders this write after the read of block 0,0,0, thread 63,0,0|253:2|0,0,0, thread 63,0,0: the read
readers|--block 128|||||
racy_producer|--block 64|304:2|0,0,0/32,0,0|0 of 'slot' of shared memory: nothing orders this read after the write of block 0,0,0, thread 0,0,0|299:2|0,0,0, thread 0,0,0: the write
producer|--block 64|||||
racy_pairs|--block 128|353:2|0,0,0/96,0,0|0x180 of 'values' of shared memory: nothing orders this write after the read of block 0,0,0, thread 32,0,0|355:2|0,0,0, thread 32,0,0: the read
pairs|--block 128|||||
ended|--block 64|||||
racy_same_value|--block 128|403:2|0,0,0/32,0,0|0 of 'word' of shared memory: nothing orders this write after the write of block 0,0,0, thread 0,0,0|403:2|0,0,0, thread 0,0,0: the write
bytes|--block 128|||||
racy_bytes|--block 64|432:2|0,0,0/32,0,0|0x3 of 'text' of shared memory: nothing orders this write after the write of block 0,0,0, thread 0,0,0|430:2|0,0,0, thread 0,0,0: the write
racy_copy_own|--block 32 --arg buf:4096|452:2|0,0,0/0,0,0|0 of 'tile' of shared memory: nothing orders this read after the write by an asynchronous copy of block 0,0,0, thread 0,0,0|450:2|0,0,0, thread 0,0,0: the write by an asynchronous copy
copy_own|--block 32 --arg buf:4096|||||
racy_copy_group|--block 32 --arg buf:4096|493:2|0,0,0/0,0,0|0x200 of 'tile' of shared memory: nothing orders this read after the write by an asynchronous copy of block 0,0,0, thread 0,0,0|489:2|0,0,0, thread 0,0,0: the write by an asynchronous copy
racy_copy_other|--block 64 --arg buf:4096|509:2|0,0,0/32,0,0|0x200 of 'tile' of shared memory: nothing orders this write by an asynchronous copy after the read of block 0,0,0, thread 0,0,0|513:2|0,0,0, thread 0,0,0: the read
copy_other|--block 64 --arg buf:4096|||||
racy_mbarrier|--block 64|562:2|0,0,0/32,0,0|0 of 'box' of shared memory: nothing orders this read after the write of block 0,0,0, thread 0,0,0|557:2|0,0,0, thread 0,0,0: the write
mbarrier|--block 64|||||
racy_mbarrier_init|--block 64|601:2|0,0,0/32,0,0|0 of 'full' of shared memory: nothing orders this operation on an mbarrier after the write of block 0,0,0, thread 0,0,0|599:2|0,0,0, thread 0,0,0: the write
racy_bulk|--block 128 --arg buf:4096|630:2|0,0,0/96,0,0|0x108 of 'tiles' of shared memory: nothing orders this read after the write by an asynchronous copy of block 0,0,0, thread 0,0,0|623:2|0,0,0, thread 0,0,0: the write by an asynchronous copy
bulk|--block 128 --arg buf:4096|||||
EOF

check global.ptx --check-races <<'EOF'
racy_flag|--block 64 --arg buf:4096 --arg buf:4096|28:2|0,0,0/32,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|21:2|0,0,0, thread 0,0,0: the write
flag|--block 64 --arg buf:4096 --arg buf:4096|||||
racy_flag_reader|--block 64 --arg buf:4096 --arg buf:4096|76:2|0,0,0/32,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|68:2|0,0,0, thread 0,0,0: the write
racy_flag_plain|--block 64 --arg buf:4096 --arg buf:4096|97:2|0,0,0/32,0,0|0 of the buffer of argument 1: nothing orders this read after the write of block 0,0,0, thread 0,0,0|94:2|0,0,0, thread 0,0,0: the write
volatile_data|--block 64 --arg buf:4096 --arg buf:4096|||||
racy_release|--grid 2 --arg buf:4096 --arg buf:4096|147:2|1,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|140:2|0,0,0, thread 0,0,0: the write
release|--grid 2 --arg buf:4096 --arg buf:4096|||||
racy_block_fence|--grid 2 --arg buf:4096 --arg buf:4096|190:2|1,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|181:2|0,0,0, thread 0,0,0: the write
gpu_fence|--grid 2 --arg buf:4096 --arg buf:4096|||||
racy_scope|--grid 2 --arg buf:4096 --arg buf:4096|230:2|1,0,0/0,0,0|0 of the buffer of argument 1: nothing orders this acquire read after the release write of block 0,0,0, thread 0,0,0; their scopes are .gpu and .cta|227:2|0,0,0, thread 0,0,0: the release write
chain|--grid 3 --arg buf:4096 --arg buf:4096|||||
chain_atomic|--grid 3 --arg buf:4096 --arg buf:4096|||||
racy_chain|--grid 3 --arg buf:4096 --arg buf:4096|314:2|2,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|304:2|0,0,0, thread 0,0,0: the write
last_block|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|||||
racy_last_block|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|389:2|3,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|375:2|0,0,0, thread 0,0,0: the write
last_block_fence_first|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|||||
last_block_fence_after|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|||||
racy_last_block_warps|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|473:2|3,0,0/0,0,0|0xfc of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 63,0,0|463:2|0,0,0, thread 63,0,0: the write
lock|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|||||
racy_unlock|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|517:2|0,0,0/32,0,0|0 of the buffer of argument 1: nothing orders this read after the write of block 0,0,0, thread 0,0,0|519:2|0,0,0, thread 0,0,0: the write
racy_lock|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|538:2|0,0,0/32,0,0|0 of the buffer of argument 1: nothing orders this read after the write of block 0,0,0, thread 0,0,0|540:2|0,0,0, thread 0,0,0: the write
lock_acquire|--grid 4 --block 64 --arg buf:4096 --arg buf:4096|||||
racy_overlap|--grid 4 --block 32 --arg buf:4096|579:2|1,0,0/0,0,0|0x80 of the buffer of argument 0: nothing orders this write after the write of block 0,0,0, thread 31,0,0|580:2|0,0,0, thread 31,0,0: the write
racy_stencil|--grid 4 --block 32 --arg buf:4096|595:2|1,0,0/0,0,0|0x80 of the buffer of argument 0: nothing orders this write after the read of block 0,0,0, thread 31,0,0|594:2|0,0,0, thread 31,0,0: the read
stencil|--grid 4 --block 32 --arg buf:4096 --arg buf:4096|||||
racy_counter|--grid 4 --block 64 --arg buf:4096|627:2|2,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this read after the atomic operation of block 0,0,0, thread 63,0,0|624:2|0,0,0, thread 63,0,0: the atomic operation
counter|--grid 4 --block 64 --arg buf:4096|||||
racy_block_counter|--grid 4 --block 32 --arg buf:4096|646:2|1,0,0/0,0,0|0 of the buffer of argument 0: nothing orders this atomic operation after the atomic operation of block 0,0,0, thread 31,0,0; their scopes are .cta and .cta|646:2|0,0,0, thread 31,0,0: the atomic operation
block_counter|--grid 4 --block 64 --arg buf:4096|||||
compare|--grid 4 --block 32 --arg buf:4096|||||
EOF

check lanes.ptx --check-races=warp <<'EOF'
racy_exchange|--block 32|18:2|0,0,0/0,0,0|0x4 of 'box' of shared memory: nothing orders this read after the write of block 0,0,0, thread 1,0,0|17:2|0,0,0, thread 1,0,0: the write
exchange|--block 32|||||
exchange_block|--block 64|||||
racy_mask|--block 32|63:2|0,0,0/15,0,0|0x40 of 'box' of shared memory: nothing orders this read after the write of block 0,0,0, thread 16,0,0|61:2|0,0,0, thread 16,0,0: the write
racy_reduction|--block 32|83:2|0,0,0/0,0,0|0x40 of 'sums' of shared memory: nothing orders this read after the write of block 0,0,0, thread 16,0,0|85:2|0,0,0, thread 16,0,0: the write
reduction|--block 32|||||
racy_shuffle|--block 32|130:2|0,0,0/0,0,0|0x4 of 'box' of shared memory: nothing orders this read after the write of block 0,0,0, thread 1,0,0|128:2|0,0,0, thread 1,0,0: the write
shuffle|--block 32|||||
racy_same_value|--block 32 --arg buf:512|156:2|0,0,0/1,0,0|0 of the buffer of argument 0: nothing orders this write after the write of block 0,0,0, thread 0,0,0|156:2|0,0,0, thread 0,0,0: the write
one_lane|--block 32 --arg buf:512|||||
racy_leader|--block 32 --arg buf:512|184:2|0,0,0/1,0,0|0 of the buffer of argument 0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|182:2|0,0,0, thread 0,0,0: the write
atomics|--block 32 --arg buf:512|||||
volatiles|--block 32|||||
copies|--block 32 --arg buf:512|||||
racy_copies|--block 32 --arg buf:512|246:2|0,0,0/0,0,0|0x10 of 'tile' of shared memory: nothing orders this read after the write by an asynchronous copy of block 0,0,0, thread 1,0,0|242:2|0,0,0, thread 1,0,0: the write by an asynchronous copy
EOF

check cluster.ptx --check-races <<'EOF'
racy_neighbour|--grid 4|18:2|0,0,0/0,0,0|0 of 'mine' of shared memory of block 1,0,0: nothing orders this read after the write of block 1,0,0, thread 0,0,0|19:2|1,0,0, thread 0,0,0: the write
neighbour|--grid 4|||||
racy_relaxed|--grid 4|53:2|1,0,0/0,0,0|0 of 'mine' of shared memory of block 0,0,0: nothing orders this read after the write of block 0,0,0, thread 0,0,0|50:2|0,0,0, thread 0,0,0: the write
relaxed_fence|--grid 4|||||
racy_block_barrier|--grid 4|84:2|1,0,0/0,0,0|0 of 'mine' of shared memory: nothing orders this write after the read of block 0,0,0, thread 0,0,0|86:2|0,0,0, thread 0,0,0: the read
flag|--grid 4|||||
racy_flag|--grid 4|140:2|1,0,0/0,0,0|0 of 'box' of shared memory: nothing orders this read after the write of block 0,0,0, thread 0,0,0|132:2|0,0,0, thread 0,0,0: the write
mbarrier|--grid 4|||||
racy_mbarrier|--grid 4|197:2|0,0,0/0,0,0|0 of 'box' of shared memory: nothing orders this read after the write of block 1,0,0, thread 0,0,0|191:2|1,0,0, thread 0,0,0: the write
EOF

# -- Limits ------------------------------------------------------------------------------------------------------------

# Each thread writes its own word: shadow memory grows with the words.
cat >"$work/wide.ptx" <<'EOF'
.version 8.0
.target sm_80
.address_size 64
.visible .entry wide(.param .u64 to)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r3, %r2, 1024, %r1;
	mul.wide.u32 %rd2, %r3, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
EOF
wide="--grid 64 --block 1024 --arg buf:256K --check-races"
# shellcheck disable=SC2086
{
    name='enough memory'
    "$ORIRUN" "$work/wide.ptx" $wide --race-memory=8M >"$work/out" 2>&1
    is $? 0
    name='too little memory'
    "$ORIRUN" "$work/wide.ptx" $wide --race-memory=1M >"$work/out" 2>&1
    is $? 4
    is "$(grep -c 'the race check requires more than 1048576 bytes of memory' "$work/out")" 1
}
# Many blocks read the same words: one read represents those of ended blocks.
sed 's/%ctaid.x/0/; s/st.global.u32 \[%rd3\], %r1/ld.global.u32 %r1, [%rd3]/' "$work/wide.ptx" >"$work/same.ptx"
name='reads of many blocks'
"$ORIRUN" "$work/same.ptx" --grid 500 --block 1024 --arg buf:4K --check-races --race-memory=300K >"$work/out" 2>&1
is $? 0

# -- Samples -----------------------------------------------------------------------------------------------------------

# Samples with a launch that has a race. Two blocks write the same values to the same buffer (async_copy), atomicAdd_block
# on one word by several blocks (atomics), all threads write the same values (the others).
racy='async_copy atomics dynamic_stack old_style_23'
for file in samples/run/*.run samples/run/handwritten/*.run; do
    sample=${file##*/} name=$file want=0
    case " $racy " in *" ${sample%.run} "*) want=1 ;; esac
    "$ORIRUN" "$file" --check-races >"$work/out" 2>"$work/said"
    is "$? $(grep -c 'a data race' "$work/said")" "$want $want"
done

finish
