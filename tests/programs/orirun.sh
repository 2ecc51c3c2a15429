#!/bin/sh
# SPDX-License-Identifier: MIT
#
# orirun.sh: tests the command line of orirun and .run files: messages, arguments of every kind, dumps, digests,
# expectations, exit codes. Other tests cover the results of instructions.
#
#   tests/programs/orirun.sh
#
# Prints one line per failure; the last line is `N passed, N failed, N skipped`. Exit 0 all passed, 1 failed, 2 usage.
# Environment: ORIRUN, the program to test (default: beside ORIOPT, or build/orirun).

. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage orirun.sh
needs "$ORIRUN"
make_work
cd "$work" || exit 2


# run NAME EXIT ARGS...: runs orirun.
run() {
    name=$1 want=$2
    shift 2
    exits "$name" "$want" "$ORIRUN" "$@"
}
# prints FILE LINE: checks that a file of the last run has this line.
prints() { if grep -qxF -e "$2" "$1"; then ok; else bad "std$1 has no line \`$2\`: $(head -n 1 "$1" | cut -c1-150)"; fi; }
# printed LINE...: checks that standard output has exactly these lines, and standard error is empty.
printed() {
    : >want
    [ $# -eq 0 ] || printf '%s\n' "$@" >want
    same out want
    silent err
}

# refused MESSAGE ARGS...: checks a usage error with exactly this message.
refused() {
    message=$1
    shift
    run "$*" 2 "$@"
    prints err "orirun: $message"
    silent out
}

# file NAME EXIT: runs a .run file from standard input.
file() {
    cat >t.run
    run "$1" "$2" t.run
}
# wrong TEXT PLACE MESSAGE [EXIT]: checks that a .run file with this text is rejected there, with exactly this message.
wrong() {
    printf %b "$1" >t.run
    run "$3" "${4-1}" t.run
    prints err "t.run:$2: error: $3"
}

cat >store.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter = 7;
.global .align 4 .f32 quiet[4];
.const .align 4 .u32 table[3] = {1, 2, 3};
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n)
{
	.reg .b64 %rd<6>;
	.reg .b32 %r<6>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	ld.param.u32 %r2, [n];
	setp.ge.u32 %p1, %r1, %r2;
	@%p1 bra done;
	ld.param.u64 %rd1, [to];
	ld.param.u64 %rd2, [from];
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd5];
	st.global.u32 [%rd4], %r3;
done:
	ret;
}
END
for n in 8 16 32 64; do
    [ $n = 8 ] && width=16 || width=$n
    cat >>store.ptx <<END
.visible .entry keep$n(.param .u64 to, .param .b$n v)
{
	.reg .b64 %rd<2>;
	.reg .b$width %v;
	ld.param.u64 %rd1, [to];
	ld.param.b$n %v, [v];
	st.global.b$n [%rd1], %v;
	ret;
}
END
done
cat >>store.ptx <<'END'
.visible .entry keepstruct(.param .u64 to, .param .align 4 .b8 v[12])
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [to];
	ld.param.b32 %r1, [v];
	ld.param.b32 %r2, [v+4];
	ld.param.b32 %r3, [v+8];
	st.global.b32 [%rd1], %r1;
	st.global.b32 [%rd1+4], %r2;
	st.global.b32 [%rd1+8], %r3;
	ret;
}
.visible .entry same(.param .u64 a, .param .u64 b)
{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	sub.u64 %rd3, %rd1, %rd2;
	st.global.u64 [%rd1], %rd3;
	ret;
}
.visible .entry look(.param .u64 a)
{
	ret;
}
.visible .entry count()
{
	.reg .b32 %r<3>;
	ld.global.u32 %r1, [counter];
	add.u32 %r2, %r1, 1;
	st.global.u32 [counter], %r2;
	ret;
}
.visible .entry spin()
{
loop:
	bra loop;
}
END
cat >one.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing()
{
	ret;
}
END

# -- Help, version, usage -----------------------------------------------------------------------------------------------

run help 0 --help
silent err
prints out "usage: orirun [options] FILE"
says out "exit status:"
cp out help
name="help has a text for every option"
sed -n 's/^OPTION([A-Z_]*, "\([^"]*\)".*/\1/p' "$root/tools/orirun/orirun.def" >names
if [ "$(wc -l <names)" -gt 20 ]; then ok; else bad "tools/orirun/orirun.def has $(wc -l <names) options"; fi
while read -r option; do
    if grep -Eq "^  (--?)?$option(\\[?=[^ ]*| [a-z|]*)? +[a-zA-Z].*" help; then ok; else bad "no line for $option"; fi
done <names
run version 0 --version
says out "orirun "
refused "no input file; --help explains the use"
refused "more than one input file" one.ptx store.ptx
refused "unknown option '--frobnicate'; --help lists them all" --frobnicate one.ptx
refused "unknown option '--keep'; --help lists them all" --keep one.ptx
refused "option '--entry' requires a value" one.ptx --entry
refused "option '--coverage' takes no value" --coverage=1 one.ptx
refused "--count: '1' is not lines" --count=1 one.ptx
refused "-x: 'c' is not ptx or ori" -x c one.ptx
refused "--trace: 'x' is not a lane from 0 to 31" --trace=x one.ptx
refused "--trace: '64' is not a lane from 0 to 31" --trace=64 one.ptx
refused "--trace: '32' is not a lane from 0 to 31" --trace=32 one.ptx
refused "--max-memory: 'x' is not a number (K, M and G may follow)" --max-memory=x one.ptx
refused "--max-memory: '1GB' is not a number (K, M and G may follow)" --max-memory=1GB one.ptx
refused "--max-steps: '-1' is not a number from 0 to 18446744073709551615 (K, M and G may follow)" --max-steps=-1 one.ptx
refused "--shared: '3G' is not a number from 0 to 2147483647 (K, M and G may follow)" --shared=3G one.ptx
refused "--race-memory: '1k' is not a number from 0 to 18446744073709551615 (K, M and G may follow)" --race-memory=1k one.ptx
refused "--schedule: 'x' is not a number from 0 to 18446744073709551615" --schedule=x one.ptx
refused "--grid: '1 1' is not X, X,Y or X,Y,Z, numbers from 1 on with commas between them" --grid "1 1" one.ptx
refused "more than one input file; commas separate numbers, as in --grid=4,2" one.ptx --grid 1 1
refused "more than one input file; commas separate numbers, as in --grid=4,2" --block 1 1 one.ptx
refused "more than one input file" one.ptx store.ptx
refused "--grid: '0' is not X, X,Y or X,Y,Z, numbers from 1 on" --grid=0 one.ptx
refused "--grid: '1,2,3,4' is not X, X,Y or X,Y,Z, numbers from 1 on" --grid=1,2,3,4 one.ptx
refused "--grid: '1,' is not X, X,Y or X,Y,Z, numbers from 1 on" --grid=1, one.ptx
refused "--grid: '1,65536': a grid has at most 65535 blocks in y and in z" --grid=1,65536 one.ptx
refused "--grid: '2147483647,2,2' is a grid of too many blocks" --grid=2147483647,2,2 one.ptx
refused "--cluster: '0' is not X, X,Y or X,Y,Z, numbers from 1 on" --cluster=0 one.ptx
refused "--cluster: '17': a cluster has at most 16 blocks" --cluster=17 one.ptx
refused "--cluster: '4,2,4': a cluster has at most 16 blocks" --cluster=4,2,4 one.ptx
refused "--block: '1025': a block has at most 1024 threads" --block=1025 one.ptx
refused "--block: '32,32,2': a block has at most 1024 threads" --block=32,32,2 one.ptx
refused "--file replaces the module of a .run file; here it is 'one.ptx'" --file=store.ptx one.ptx
refused "--arg is for one launch: write it into 'x.run'" --arg=u32:1 x.run
run "missing module" 5 missing.ptx
prints err "orirun: cannot read 'missing.ptx': No such file or directory"
run "missing .run file" 5 missing.run
prints err "orirun: cannot read 'missing.run': No such file or directory"
printf '.version 8.0\n.target sm_90\n.visible .entry k()\n{\n\tmov.u32 %%r1, 1;\n}\n' >broken.ptx
run "errors of the module" 1 broken.ptx
says err "broken.ptx:5:10: error:"

# -- Kernels ------------------------------------------------------------------------------------------------------------

run "the only kernel" 0 one.ptx
silent out
silent err
name="from standard input"
"$ORIRUN" --digest - <one.ptx >out 2>err
[ $? -eq 0 ] && ok || bad "exit code"
refused "'store.ptx' has 10 kernels, among them 'copy': choose one with \`entry\`" store.ptx
refused "'store.ptx' has no kernel 'keep33'; did you mean 'keep32'?" store.ptx --entry keep33
refused "'store.ptx' has no kernel 'abcdefghij'; it has 'copy' and others" store.ptx --entry abcdefghij
refused "'one.ptx' has no kernel 'abcdefghij'; it has 'nothing'" one.ptx --entry abcdefghij
printf '.version 8.0\n.target sm_90\n' >none.ptx
refused "'none.ptx' has no kernels" none.ptx
refused "'copy' has 3 parameters, and there are 0 arguments" store.ptx --entry copy
refused "'look' has 1 parameter, and there are 2 arguments" store.ptx --entry look --arg u32:1 --arg u32:1
refused "'u32:1' has 4 bytes, but parameter 0 of 'look' has 8" store.ptx --entry look --arg u32:1
refused "'buf:4', an address, has 8 bytes, but parameter 1 of 'keep8' has 1" store.ptx --entry keep8 --arg buf:4 --arg buf:4

# -- Values -------------------------------------------------------------------------------------------------------------

# scalar BITS TYPE VALUE PRINTED: checks that the value reaches the kernel, and that a dump prints it.
scalar() {
    run "$2:$3" 0 store.ptx --entry keep$1 --arg buf:$(($1 / 8)) --arg "$2:$3" --dump 0:$2
    printed "arg0:$2[0] $4"
}
scalar 8 u8 255 255
scalar 8 s8 -128 -128
scalar 8 b8 0x7f 0x7f
scalar 8 b8 -1 0xff
scalar 16 u16 65535 65535
scalar 16 s16 +32767 32767
scalar 16 b16 10 0x000a
scalar 16 f16 1.5 1.5
scalar 16 f16 0x3c00 1
scalar 16 f16 65504 65504
scalar 16 bf16 -0 -0
scalar 16 bf16 0.1 0.1
scalar 32 u32 4294967295 4294967295
scalar 32 s32 -2147483648 -2147483648
scalar 32 s32 0xffffffff -1
scalar 32 b32 0xDEADBEEF 0xdeadbeef
scalar 32 f32 0.1 0.1
scalar 32 f32 -inf -inf
scalar 32 f32 nan nan
scalar 32 f32 0xffc00000 0xffc00000
scalar 32 f32 0f3f800000 1
scalar 32 f32 1e-45 1e-45
scalar 32 f32 16777217 16777216
scalar 32 f32 1e10 1e+10
scalar 32 f32 0x1p3 8
scalar 32 tf32 1.0001 1
scalar 32 f16x2 0x3c003c00 0x3c003c00
scalar 64 u64 18446744073709551615 18446744073709551615
scalar 64 s64 -9223372036854775808 -9223372036854775808
scalar 64 b64 0x10 0x0000000000000010
scalar 64 f64 0.1 0.1
scalar 64 f64 0d7ff0000000000000 inf
scalar 64 f64 3.141592653589793 3.141592653589793

# no_scalar MESSAGE VALUE: checks that the value is rejected.
no_scalar() { refused "--arg: $1" store.ptx --entry look --arg "$2"; }
no_scalar "'256' does not fit: the range of u8 is 0 to 255" u8:256
no_scalar "'-1' does not fit: the range of u32 is 0 to 4294967295" u32:-1
no_scalar "'128' does not fit: the range of s8 is -128 to 127" s8:128
no_scalar "'-129' does not fit: the range of s8 is -128 to 127" s8:-129
no_scalar "'9223372036854775808' does not fit: the range of s64 is -9223372036854775808 to 9223372036854775807" s64:9223372036854775808
no_scalar "'18446744073709551616' does not fit: the range of u64 is 0 to 18446744073709551615" u64:18446744073709551616
no_scalar "'0x100' has more than the 8 bits of u8" u8:0x100
no_scalar "'0x' is not the bits of a u8" u8:0x
no_scalar "'0xg' is not the bits of a u8" u8:0xg
no_scalar "'' is not a number for u32" u32:
no_scalar "'1.5' is not a whole number for u32" u32:1.5
no_scalar "'--1' is not a whole number for s32" s32:--1
no_scalar "'one' is not a number for f32" f32:one
no_scalar "'1 ' is not a number for f32" "f32:1 "
no_scalar "'1e39' is too large for f32" f32:1e39
no_scalar "'65520' is too large for f16" f16:65520
no_scalar "'0f3f80000000' has more than the 32 bits of f32" f32:0f3f80000000
no_scalar "'u33' is not a kind of argument; did you mean 'u32'?" u33:1
no_scalar "'int' is not a kind of argument; did you mean 's32'?" int:1
no_scalar "'uint64_t' is not a kind of argument; did you mean 'u64'?" uint64_t:1
no_scalar "'double' is not a kind of argument; did you mean 'f64'?" double:1
no_scalar "'buff' is not a kind of argument; did you mean 'buf'?" buff:1
no_scalar "'zzzzzz' is not a kind of argument" zzzzzz:1
no_scalar "'b128' is not a kind of argument; did you mean 'b8'?" b128:1
no_scalar "'7' is not KIND:VALUE, as in u32:7 or buf:1024" 7

run "an aggregate" 0 store.ptx --entry keepstruct --arg buf:12 --arg struct:hex:0102030405060708090a0B0C --dump 0
printed "arg0[0] 01 02 03 04 05 06 07 08 09 0a 0b 0c"
refused "'struct:hex:01' has 1 byte, but parameter 1 of 'keepstruct' has 12" store.ptx --entry keepstruct --arg buf:12 --arg struct:hex:01
no_scalar "'struct:0102' is not struct:hex:DIGITS" struct:0102
no_scalar "'g' is not a hexadecimal digit" struct:hex:0g
no_scalar "3 hexadecimal digits are not a whole number of bytes" buf:hex:012

# -- Buffers ------------------------------------------------------------------------------------------------------------

# buffer VALUE TYPE LINE...: checks the dump of a buffer.
buffer() {
    run "$1" 0 store.ptx --entry look --arg "$1" --dump "0${2:+:$2}"
    shift 2
    printed "$@"
}
buffer buf:3 '' "arg0[0] 00 00 00"
buffer buf:0 u32
buffer buf:hex:DEADBEEF '' "arg0[0] de ad be ef"
buffer buf:hex:deadbe u16 "arg0:u16[0] 44510" "arg0[2] be"
printf 'a\000b' >bytes
buffer buf:@bytes '' "arg0[0] 61 00 62"
: >empty
buffer buf:@empty ''
buffer buf:17xu8 '' "arg0[0] 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" "arg0[16] 00"
buffer buf:9xu32:iota u32 "arg0:u32[0] 0 1 2 3 4 5 6 7" "arg0:u32[8] 8"
buffer buf:4xs8:iota:126 s8 "arg0:s8[0] 126 127 -128 -127"
buffer buf:5xu16:iota:3:65535 u16 "arg0:u16[0] 3 2 1 0 65535"
buffer buf:4xf32:iota:0.5:0.25 f32 "arg0:f32[0] 0.5 0.75 1 1.25"
buffer buf:3xf64:iota:-1:-0.5 f64 "arg0:f64[0] -1 -1.5 -2"
# Computed in f64, rounded once.
buffer buf:8xf32:iota:0.1:0.1 b32 "arg0:b32[0] 0x3dcccccd 0x3e4ccccd 0x3e99999a 0x3ecccccd 0x3f000000 0x3f19999a 0x3f333333 0x3f4ccccd"
buffer buf:2xf16:fill:2.5 f16 "arg0:f16[0] 2.5 2.5"
buffer buf:2xu64:fill:7 u64 "arg0:u64[0] 7 7"
# The first numbers of splitmix64 for seeds 0 and 1234567, as its authors publish them.
buffer buf:3xb64:rand:0 b64 "arg0:b64[0] 0xe220a8397b1dcdaf 0x6e789e6aa1b965f4 0x06c45d188009454f"
buffer buf:3xu64:rand:1234567 u64 "arg0:u64[0] 6457827717110365317 3203168211198807973 9817491932198370423"
buffer buf:3xf32:rand:9:-2:2 b32 "arg0:b32[0] 0x3f3abd48 0x3f805b14 0xbf704f54"
buffer buf:3xb8:rand:0 b8 "arg0:b8[0] 0xaf 0xf4 0x4f"
buffer buf:3xu32:rand:0:0:10 u32 "arg0:u32[0] 5 0 9"
for kind in s32:rand:3:-5:6 f32:rand:3:-5:6 f64:rand:3:-5:6 f16:rand:3:-5:6; do
    run "in range: $kind" 0 store.ptx --entry look --arg "buf:1000x$kind" --dump "0:${kind%%:*}"
    if awk '{ for (k = 2; k <= NF; k++) { n++; low += $k < -4; high += $k > 4; out += $k < -5 || $k > 6 } } END { exit !(n == 1000 && low > 50 && high > 50 && !out) }' out
    then ok; else bad "$(head -n 1 out)"; fi
done
run "1K and 1024" 0 store.ptx --entry look --arg buf:1Kxu32:rand:5 --dump 0
cp out kilo
run "1K and 1024" 0 store.ptx --entry look --arg buf:1024xu32:rand:5 --dump 0
same out kilo
run "the same buffer again" 0 store.ptx --entry same --arg buf:8 --arg ref:0 --dump 0:u64 --dump 1:u64 --digest
printed "arg0:u64[0] 0" "arg1:u64[0] 0" "arg0 a8c7f832281a39c5"
run "two buffers are apart" 1 store.ptx --entry same --arg buf:8 --arg buf:8 --expect '0:u64 0'
says err "orirun: launch 1: arg0:u64[0] is "
refused "--arg: '0' is not the number of an earlier argument (the first is 0)" store.ptx --entry look --arg ref:0
refused "--arg: argument 0 has no buffer" store.ptx --entry look --arg u32:1 --arg ref:0
refused "'keep:0' is only for launches with \`keep\`" store.ptx --entry look --arg keep:0
buffers='buf:SIZE, buf:@FILE, buf:hex:DIGITS or buf:COUNTxTYPE:... (K, M and G may follow SIZE and COUNT)'
no_scalar "'buf:x' is not $buffers" buf:x
no_scalar "'buf:-1' is not $buffers" buf:-1
no_scalar "'buf:1KB' is not $buffers" buf:1KB
no_scalar "a file name must follow \`@\`" buf:@
no_scalar "'float' is not a type of values; did you mean 'f32'?" buf:3xfloat:iota
no_scalar "'f31' is not a type of values; did you mean 'f32'?" buf:3xf31:iota
no_scalar "'itoa' is not an initial value of a buffer; did you mean 'iota'? (iota, rand or fill)" buf:3xf32:itoa
no_scalar "'' is not an initial value of a buffer (iota, rand or fill)" buf:3xf32:
no_scalar "'iota:1:2:3' is not iota[:START[:STEP]]" buf:3xf32:iota:1:2:3
no_scalar "'rand' is not rand:SEED or rand:SEED:LO:HI" buf:3xf32:rand
no_scalar "'rand:1:2' is not rand:SEED or rand:SEED:LO:HI" buf:3xf32:rand:1:2
no_scalar "the range from 2 to 2, without its end, is empty" buf:3xf32:rand:1:2:2
no_scalar "the range from 1 to -1, without its end, is empty" buf:3xs32:rand:1:1:-1
no_scalar "'fill' is not fill:VALUE" buf:3xf32:fill
no_scalar "a buffer of 9223372036854775808 values is too large" buf:9223372036854775808xu64:iota
run "missing file of a buffer" 5 store.ptx --entry look --arg buf:@missing
prints err "orirun: cannot read 'missing': No such file or directory"
run "more memory than allowed" 4 store.ptx --entry look --max-memory 1M --arg buf:16M
says err "orirun: memory limit"

# -- Dumps and digests --------------------------------------------------------------------------------------------------

copy="store.ptx --entry copy --block 4 --arg buf:16 --arg buf:4xu32:iota:10 --arg u32:3"
run "dumps in the order of the options" 0 $copy --dump 1:u32 --dump 0:u32 --dump-symbol counter:u32 --dump-symbol quiet
printed "arg1:u32[0] 10 11 12 13" "arg0:u32[0] 10 11 12 0" "counter:u32[0] 7" "quiet[0] 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
run "dump to a file" 0 $copy --dump-file 1=made
silent out
name="dump to a file: bytes"
printf '\012\000\000\000\013\000\000\000\014\000\000\000\015\000\000\000' >want
same made want
run "dump to standard output" 0 $copy --dump-file 1=-
same out want
run "dump into a missing folder" 5 $copy --dump-file 1=missing/made
prints err "orirun: cannot write 'missing/made': No such file or directory"
run "digests" 0 $copy --digest
printed "arg0 90116dca64b30fd8" "arg1 b02169b16211da25"
run "digest of known text" 0 store.ptx --entry look --arg buf:hex:666f6f626172 --digest
printed "arg0 85944171f73967e8"
run "digest of nothing" 0 store.ptx --entry look --arg buf:0 --digest
printed "arg0 cbf29ce484222325"
run "digest of a variable that changed" 0 store.ptx --entry count --digest
printed "counter 4cfad6c24f7bf87d"
run "nondet" 0 store.ptx --entry same --arg buf:8 --arg buf:hex:61 --nondet 0 --digest
printed "arg1 af63dc4c8601ec8c"
run "nondet variable" 0 store.ptx --entry count --nondet counter --digest
printed
refused "there is no argument 3" $copy --dump 3
refused "argument 2 has no buffer" $copy --dump 2
refused "there is no argument 9" $copy --nondet 9
refused "--dump: 'counter' is not the number of an argument (the first is 0)" $copy --dump counter
refused "--dump: 'u31' is not a type of values; did you mean 'u32'?" $copy --dump 0:u31
refused "--dump: the number of an argument or the name of a variable is missing" $copy --dump :u32
refused "--dump-file: '0' is not N=FILE" $copy --dump-file 0
refused "'store.ptx' has no variable 'countr'; did you mean 'counter'?" $copy --dump-symbol countr
refused "'one.ptx' has no variables" one.ptx --dump-symbol x

# -- Expectations -------------------------------------------------------------------------------------------------------

run "values as expected" 0 $copy --expect '0:u32 10 11 12 0' --expect '1:u32[2] 12' --expect 'counter:u32 7' --expect '0:b8 0x0a'
silent out
silent err
run "missed values" 1 $copy --expect '0:u32 10 12 12 1'
prints err "orirun: launch 1: arg0:u32[1] is 11, expected 12"
prints err "orirun: launch 1: arg0:u32[3] is 0, expected 1"
run "missed values from an index on" 1 $copy --expect '1:u32[2] 12 14'
prints err "orirun: launch 1: arg1:u32[3] is 13, expected 14"
run "many missed values" 1 store.ptx --entry look --arg buf:9 --expect '0:u8 1 1 1 1 1 1 0 1 1'
prints err "orirun: launch 1: arg0:u8[3] is 0, expected 1"
prints err "orirun: launch 1: 8 of 9 values differ"
name="many missed values: some are shown"
if [ "$(wc -l <err)" -eq 5 ]; then ok; else bad "$(wc -l <err) lines"; fi
floats="store.ptx --entry look --arg buf:hex:0000803f010080bfffffff7f00000080"
run "bits of floating point" 0 $floats --expect '0:f32 1 -1.0000001 nan -0'
run "bits of floating point differ" 1 $floats --expect '0:f32 1.0000001 -1 0x7fc00001 0'
prints err "orirun: launch 1: arg0:f32[0] is 1, expected 1.0000001"
prints err "orirun: launch 1: arg0:f32[1] is -1.0000001, expected -1"
prints err "orirun: launch 1: arg0:f32[2] is nan, expected 0x7fc00001"
prints err "orirun: launch 1: arg0:f32[3] is -0, expected 0"
run "one unit in the last place" 0 $floats --expect '0:f32 ~1 1.0000001 -1 nan 1e-45'
run "two units in the last place" 1 $floats --expect '0:f32 ~1 1.0000002'
prints err "orirun: launch 1: arg0:f32[0] is 1, expected 1.0000002"
run "units in the last place across zero" 0 store.ptx --entry look --arg buf:hex:01000080 --expect '0:f32 ~2 1e-45'
run "infinity is near nothing" 1 store.ptx --entry look --arg buf:hex:0000807f --expect '0:f32 ~5 3.4028235e38'
run "missed digest" 1 store.ptx --entry look --arg buf:hex:61 --expect 'digest 0123456789abcdef'
prints err "orirun: launch 1: the digest of arg0 is af63dc4c8601ec8c, expected 0123456789abcdef"
run "digests as expected" 0 store.ptx --entry look --arg buf:hex:61 --expect 'digest af63dc4c8601ec8c'
run "too many digests" 1 store.ptx --entry look --arg buf:hex:61 --expect 'digest af63dc4c8601ec8c af63dc4c8601ec8c'
prints err "orirun: launch 1: 2 digests are expected, but there is 1"
run "too few digests" 1 store.ptx --entry same --arg buf:8 --arg buf:8 --expect 'digest af63dc4c8601ec8c'
prints err "orirun: launch 1: 1 digest is expected, but there are 2"
refused "4 values are expected from index 1 on, but arg0 has room for 4" $copy --expect '0:u32[1] 1 2 3 4'
refused "--expect: no expectation follows: write \`digest HEX...\` or \`N:TYPE VALUE...\`" $copy --expect ''
refused "--expect: '0' requires a type, as in 0:u32" $copy --expect '0 1'
refused "--expect: no values follow '0:u32'" $copy --expect '0:u32'
refused "--expect: no values follow 'digest'" $copy --expect 'digest'
refused "--expect: 'xyz' is not a digest, 16 hexadecimal digits" $copy --expect 'digest xyz'
refused "--expect: '~x' is not ~N (units in the last place), ~abs:X or ~rel:X" $copy --expect '0:f32 ~x 1'
refused "--expect: u32 has no units in the last place" $copy --expect '0:u32 ~1 1'
refused "--expect: '-1' does not fit: the range of u8 is 0 to 255" $copy --expect '0:u8 -1'
refused "--expect: '0:u32[x]' does not end in [INDEX]" $copy --expect '0:u32[x] 1'

# -- Tolerances, files of values and .npy -----------------------------------------------------------------------------

near="store.ptx --entry look --arg buf:hex:0000803f0000c842"    # 1, 100
run "absolute tolerance" 0 $near --expect '0:f32 ~abs:0.5 1.5 99.5'
run "absolute tolerance, missed" 1 $near --expect '0:f32 ~abs:0.5 1.25 101'
prints err "orirun: launch 1: arg0:f32[1] is 100, expected 101"
run "relative tolerance" 0 $near --expect '0:f32 ~rel:0.01 1.009 101'
run "relative tolerance, missed" 1 $near --expect '0:f32 ~rel:0.01 1.02 101'
prints err "orirun: launch 1: arg0:f32[0] is 1, expected 1.02"
run "both add up" 0 $near --expect '0:f32 ~abs:1 ~rel:0.01 2 102'
run "both, missed" 1 $near --expect '0:f32 ~abs:1 ~rel:0.01 2 103'
run "units in the last place, or a distance" 0 $near --expect '0:f32 ~1 ~abs:0.5 1.0000001 99.6'
run "distance of integers" 0 store.ptx --entry look --arg buf:hex:ff0a --expect '0:u8 ~abs:2 253 12'
run "distance of signed integers" 1 store.ptx --entry look --arg buf:hex:ff0a --expect '0:s8 ~abs:2 1 13'
prints err "orirun: launch 1: arg0:s8[1] is 10, expected 13"
run "NaN and infinity" 0 store.ptx --entry look --arg buf:hex:0000c07f0000807f --expect '0:f32 ~rel:1 nan inf'
run "infinity is far from numbers" 1 store.ptx --entry look --arg buf:hex:0000807f --expect '0:f32 ~rel:1 3e38'
refused "--expect: '~abs:-1' is not ~abs:X, where X is a number from 0 on" $near --expect '0:f32 ~abs:-1 1'
refused "--expect: '~rel:nan' is not ~rel:X, where X is a number from 0 on" $near --expect '0:f32 ~rel:nan 1'
refused "--expect: values of b32 have no distance" $near --expect '0:b32 ~abs:1 1'

# npy FILE DTYPE SHAPE [FORTRAN]: an array with the bytes of standard input.
npy() {
    header="{'descr': '$2', 'fortran_order': ${4-False}, 'shape': $3, }"
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header" >"$1"
    cat >>"$1"
}
ints() { for i; do printf "\\$(printf %03o "$i")\\000\\000\\000"; done; }

ints 10 11 12 13 >four
run "expected values in a file" 0 $copy --expect '1:u32 @four'
refused "4 values are expected from index 1 on, but arg1 has room for 4" $copy --expect '1:u32[1] @four'
run "expected values in a file, missed" 1 $copy --expect '0:u32 @four'
prints err "orirun: launch 1: arg0:u32[3] is 0, expected 13"
run "expected values in a file, with a tolerance" 0 $copy --expect '0:u32 ~abs:13 @four'
run "no such file of values" 5 $copy --expect '1:u32 @missing'
prints err "orirun: cannot read 'missing': No such file or directory"
run "no whole number of values" 1 $copy --expect '1:u64 @bytes'
prints err "orirun: 'bytes': 3 bytes are not a whole number of u64 values"
refused "--expect: a file name must follow \`@\`" $copy --expect '1:u32 @'

npy a.npy '<u4' '(2, 2)' <four
npy scalar.npy '<u4' '()' <four
npy 'with blank.npy' '<u4' '(4,)' <four
npy fortran.npy '<u4' '(2, 2)' True <four
npy big.npy '>u4' '(4,)' <four
npy object.npy '|O' '(4,)' <four
npy text.npy '<U4' '(1,)' <four
npy short.npy '<u4' '(5,)' <four
npy huge.npy '<u4' '(4294967296, 4294967296)' <four
npy signed.npy '<i4' '(4,)' <four
npy bool.npy '|b1' '(16,)' <four
printf '\223NUMPY\002\000\100\000\000\000%-63s\n' "{'shape':(4,),\"descr\":\"<f4\",'fortran_order':False}" | cat - four >two.npy
printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (4,), }" | cat - four >structure.npy
printf '\223NUMPY\001\000\377\377' >cut.npy
printf '\223NUMPY\011\000\001\000{' >version.npy

run "values of a .npy file" 0 store.ptx --entry look --arg buf:@a.npy --dump 0:u32 --expect '0:u32 @a.npy' --expect '0:s32 @signed.npy' --expect '0:b32 @a.npy'
printed "arg0:u32[0] 10 11 12 13"
run "version 2, and other quotes" 0 store.ptx --entry look --arg buf:f32:@two.npy --dump 0:b8
run "booleans" 0 store.ptx --entry look --arg buf:16xu8:@bool.npy --dump 0:u8
printed "arg0:u8[0] 10 0 0 0 11 0 0 0" "arg0:u8[8] 12 0 0 0 13 0 0 0"
run "an argument with a type" 0 store.ptx --entry look --arg buf:4xu32:@four --dump 0:u32
printed "arg0:u32[0] 10 11 12 13"
# bad_npy FILE TYPE MESSAGE: an argument of this type is refused, on the command line and in an expectation.
bad_npy() {
    run "$1 as $2" 1 store.ptx --entry look --arg "buf:$2:@$1"
    prints err "orirun: '$1': $3"
    run "$1 as $2, expected" 1 store.ptx --entry look --arg buf:64 --expect "0:$2 @$1"
    prints err "orirun: '$1': $3"
}
bad_npy a.npy s32 "dtype '<u4' does not have the values of s32, which is '<i4'"
bad_npy a.npy u64 "dtype '<u4' does not have the values of u64, which is '<u8'"
bad_npy a.npy f32 "dtype '<u4' does not have the values of f32, which is '<f4'"
bad_npy a.npy bf16 "dtype '<u4' does not have the values of bf16, which is '|V2'"
bad_npy fortran.npy u32 "the .npy file is in Fortran order; write it with order='C'"
bad_npy big.npy u32 "dtype '>u4' is big endian"
bad_npy object.npy u32 "dtype '|O': Python objects are not supported"
bad_npy text.npy u32 "dtype '<U4' is not a number"
bad_npy structure.npy u32 "a .npy file of structures is not supported"
bad_npy short.npy u32 "the .npy file has 16 bytes of values, but its shape 20"
bad_npy scalar.npy u32 "the .npy file has 16 bytes of values, but its shape 4"
bad_npy huge.npy u32 "the shape of the .npy file has too many values"
bad_npy cut.npy u32 "the header of the .npy file is malformed"
bad_npy version.npy u32 "version 9 of .npy is not supported"
run "a .npy file without a type" 1 store.ptx --entry look --arg buf:@big.npy
prints err "orirun: 'big.npy': dtype '>u4' is big endian"
run "another number of values" 1 store.ptx --entry look --arg buf:5xu32:@four
prints err "orirun: 'four' has 4 values of u32, not 5"
for header in '' '{' "{'descr'" "{'descr': '<u4" "{'descr': '<u4', 'shape': (4,)}" "{'descr': '<u4', 'shape': 4, 'fortran_order': False}" \
    "{'descr': '<u4', 'shape': (4, 'fortran_order': False}" "{'descr': '<u4', 'shape': (-4,), 'fortran_order': False}" "{'other': 1}"; do
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header" | cat - four >bad.npy
    run "header $header" 1 store.ptx --entry look --arg buf:@bad.npy
    prints err "orirun: 'bad.npy': the header of the .npy file is malformed"
done
run "dump into a .npy file" 0 $copy --dump-file 1:u32=written.npy
name="dump into a .npy file: bytes"
npy want '<u4' '(4,)' <four
same written.npy want
run "dump into a .npy file without a type" 0 $copy --dump-file 1=written.npy
npy want '|u1' '(16,)' <four
same written.npy want
run "dump of bf16" 0 $copy --dump-file 1:bf16=written.npy
npy want '|V2' '(8,)' <four
same written.npy want
run "a type of bits takes any dtype of its size" 0 store.ptx --entry look --arg buf:f16x2:@two.npy --expect '0:b32 @a.npy'
run "what was written is read" 0 store.ptx --entry look --arg buf:bf16:@written.npy --expect '0:u32 @four'
run "no whole number of values in a .npy file" 1 store.ptx --entry look --arg buf:3 --dump-file 0:u32=no.npy
prints err "orirun: 3 bytes are not a whole number of u32 values"
absent no.npy
file "files of values in a .run file" 0 <<'END'
file store.ptx
entry look
arg buf:u32:@a.npy
expect 0:u32 ~abs:1 @with blank.npy
expect 0:u32 "@with blank.npy"
END
file "missed value of a file" 1 <<'END'
file store.ptx
entry look
arg buf:16
expect 0:s32 ~abs:10 @signed.npy
END
prints err "t.run:4:8: error: launch 1: arg0:s32[1] is 0, expected 11"

# -- .run files ---------------------------------------------------------------------------------------------------------

file "a .run file" 0 <<'END'
# A comment.
file store.ptx

entry copy   # another
block=4
arg buf:16
arg "buf:4xu32:iota:10"
arg u32:2
dump 0:u32
expect 0:u32 10 11 0 0   # and another
---
entry count
END
printed "launch 1 entry copy" "arg0:u32[0] 10 11 0 0" "arg0 142651a638f5e754" "arg1 b02169b16211da25" "launch 2 entry count" "counter 4cfad6c24f7bf87d"
file "only a module" 0 <<'END'
file one.ptx
END
printed "launch 1 entry nothing"
file "memory is fresh" 0 <<'END'
file store.ptx
entry count
expect counter:u32 8
---
entry count
expect counter:u32 8
END
file "memory is kept" 0 <<'END'
file store.ptx
entry count
---
keep
entry count
expect counter:u32 9
---
entry count
keep
expect counter:u32 10
END
file "arguments are kept" 0 <<'END'
file store.ptx
entry copy
block 2
arg buf:8
arg buf:2xu32:iota:5
arg u32:2
---
keep
entry copy
arg buf:4
arg keep:0
arg u32:1
expect 0:u32 5
expect 1:u32 5 6
---
keep
entry copy
expect 0:u32 5
expect 1:u32 5 6
END
mkdir -p sub/deep
cp store.ptx bytes sub/deep
cat >sub/paths.run <<'END'
file deep/store.ptx
entry look
arg buf:@deep/bytes
dump 0
dump-file 0=deep/written
END
run "paths are relative to the file" 0 sub/paths.run
says out "arg0[0] 61 00 62"
same sub/deep/written bytes
name="paths with blanks"
cp store.ptx 'a b.ptx'
cp bytes 'c d'
file "paths with blanks" 0 <<'END'
file "a b.ptx"
entry look
arg buf:@"c d"
dump 0
END
says out "arg0[0] 61 00 62"
sed 's/add.u32 %r2, %r1, 1;/add.u32 %r2, %r1, 2;/' store.ptx >other.ptx
cat >t.run <<'END'
file store.ptx
entry count
expect counter:u32 8
END
run "another module" 1 t.run --file other.ptx
prints err "t.run:3:8: error: launch 1: counter:u32[0] is 9, expected 8"
run "another module, missing" 5 t.run --file missing.ptx
prints err "orirun: cannot read 'missing.ptx': No such file or directory"
file "launches after a miss" 1 <<'END'
file store.ptx
entry count
expect counter:u32 9
---
entry count
expect counter:u32 7
END
prints err "t.run:3:8: error: launch 1: counter:u32[0] is 8, expected 9"
prints err "t.run:6:8: error: launch 2: counter:u32[0] is 8, expected 7"
prints out "launch 2 entry count"
printf 'file one.ptx\r\nentry nothing\r\n' >t.run
run "line ends with carriage returns" 0 t.run
printf 'file one.ptx' >t.run
run "no line end at the end" 0 t.run
run "a limit that is not reached" 0 t.run --max-steps 100

wrong '' 1:1 "the first line must be \`file FILE\`, the module"
wrong 'entry x' 1:1 "the first line must be \`file FILE\`, the module"
wrong '---' 1:1 "the first line must be \`file FILE\`, the module"
wrong 'file one.ptx\nfile one.ptx\n' 2:1 "there is one \`file\` line in a .run file"
wrong 'file one.ptx\n---\n' 2:1 "there is no launch before this line"
wrong 'file one.ptx\ngrid 1\n---\n# end\n' 3:1 "there is no launch after this line"
wrong 'file one.ptx\ngrid 1\n---\n---\n' 4:1 "there is no launch before this line"
wrong 'file one.ptx\ngrd 1\n' 2:1 "'grd' is not an option of .run files; did you mean 'grid'?"
wrong 'file one.ptx\n  xyzzyplugh 1\n' 2:3 "'xyzzyplugh' is not an option of .run files"
wrong 'file one.ptx\n--grid 1\n' 2:1 "write 'grid' without dashes"
wrong 'file one.ptx\ncount\n' 2:1 "'count' is for the command line only"
wrong 'file one.ptx\ngrid\n' 2:1 "a value must follow 'grid'"
wrong 'file one.ptx\nshared 1 2\n' 2:8 "one value follows 'shared'; if it holds blanks, put it in quotes"
wrong 'file one.ptx\ngrid "1\n' 2:6 "the quote is not closed on this line"
wrong 'file one.ptx\nkeep\n' 2:1 "there is no earlier launch whose memory can be kept" 1
wrong 'file one.ptx\ngrid 1\n---\nkeep 1\n' 4:6 "nothing may follow 'keep'"
wrong 'file one.ptx\ngrid 1 1\n' 2:6 "commas separate the numbers of 'grid', as in 4,2"
wrong 'file one.ptx\ngrid 0\n' 2:6 "'0' is not X, X,Y or X,Y,Z, numbers from 1 on"
wrong 'file one.ptx\narg u32:x\n' 2:5 "'x' is not a whole number for u32"
wrong 'file one.ptx\nexpect 0:u32 1 x\n' 2:16 "'x' is not a whole number for u32"
wrong 'file one.ptx\nentry nothin\n' 2:7 "'one.ptx' has no kernel 'nothin'; did you mean 'nothing'?"
wrong 'file one.ptx\ngrid 1\narg u32:1\n' 2:1 "'nothing' has 0 parameters, and there is 1 argument"
wrong 'file store.ptx\nentry look\narg u32:1\n' 3:5 "'u32:1' has 4 bytes, but parameter 0 of 'look' has 8"
wrong 'file store.ptx\nentry look\narg buf:4\ndump 1\n' 4:6 "there is no argument 1"
wrong 'file missing.ptx\n' 1:6 "cannot read 'missing.ptx': No such file or directory" 5
wrong 'file store.ptx\nentry look\narg buf:@missing\n' 3:5 "cannot read 'missing': No such file or directory" 5
wrong 'file store.ptx\nentry look\narg buf:4\n---\nkeep\nentry look\narg keep:1\n' 7:5 "argument 1 of the previous launch has no buffer"
wrong 'file store.ptx\nentry look\narg buf:4\n---\nentry look\narg keep:0\n' 6:5 "'keep:0' is only for launches with \`keep\`"
wrong 'file store.ptx\nentry count\n---\nkeep\nentry look\n' 4:1 "'look' has 1 parameter, and there are 0 arguments"
name="the line and a caret"
if [ "$(sed -n 2,3p err)" = "$(printf 'keep\n^')" ]; then ok; else bad "$(sed -n 2,3p err)"; fi

# -- Runs that stop -----------------------------------------------------------------------------------------------------

run "out of bounds" 1 store.ptx --entry copy --block 4 --arg buf:16 --arg buf:8 --arg u32:4 --digest
says err "store.ptx:21:2: error: launch 1, copy, block 0,0,0, thread 2,0,0: "
says err "	ld.global.u32 %r3, [%rd5];"
says err "the buffer of argument 1"
silent out
file "a fault ends the run" 1 <<'END'
file store.ptx
entry copy
arg buf:4
arg buf:0
arg u32:1
---
entry count
END
says err "error: launch 1, copy, block 0,0,0, thread 0,0,0: "
echo "launch 1 entry copy" >want
same out want
run "limit of steps" 4 store.ptx --entry spin --max-steps 1K
says err "launch 1, spin"

# -- Threads that wait ---------------------------------------------------------------------------------------------------

cat >waits.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry numbers()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 32;
	@%p1 bar.sync 2;
	bar.sync 1;
	ret;
}
.visible .entry lanes()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %laneid;
	setp.lt.u32 %p1, %r1, 8;
	@%p1 bra low;
	bar.warp.sync 0xffffffff;
	ret;
low:
	bar.warp.sync 0xffff;
	ret;
}
.visible .entry lock(.param .u64 lock)
{
	.reg .pred %p<3>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [lock];
	mov.u32 %r1, %laneid;
	setp.eq.u32 %p2, %r1, 31;
take:
	@%p2 bra taken;
	atom.global.cas.b32 %r2, [%rd1], 0, 1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra take;
taken:
	ret;
}
.visible .entry mbarrier()
{
	.reg .pred %p<3>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	.shared .align 8 .b64 other;
	.shared .align 8 .b64 full;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [full], 40;
	bar.sync 0;
	mbarrier.arrive.shared.b64 %rd1, [full];
again:
	mbarrier.test_wait.shared.b64 %p2, [full], %rd1;
	@!%p2 bra again;
	ret;
}
.visible .entry cluster() .reqnctapercluster 2, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %cluster_ctarank;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bar.sync 0, 64;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
END
# table LINE...: the table of the last run has just these rows.
table() {
    sed -n '/^block  *warp/,$p' err >rows
    : >want
    [ $# -eq 0 ] || printf '%s\n' "$@" >want
    same rows want
}
run "deadlock at barriers" 1 waits.ptx --entry numbers --block 96
table \
    "block  warp  lanes     at            instruction  waits for" \
    "0,0,0  0     ffffffff  waits.ptx:10  bar.sync     barrier 2: 32 of 96 threads have arrived" \
    "0,0,0  1     ffffffff  waits.ptx:11  bar.sync     barrier 1: 64 of 96 threads have arrived" \
    "0,0,0  2     ffffffff  waits.ptx:11  bar.sync     barrier 1: 64 of 96 threads have arrived"
run "deadlock of lanes" 1 waits.ptx --entry lanes --block 32 --grid 5
table \
    "block  warp  lanes     at            instruction    waits for" \
    "0,0,0  0     000000ff  waits.ptx:24  bar.warp.sync  lanes 0xff00 of its warp" \
    "0,0,0  0     ffffff00  waits.ptx:21  bar.warp.sync  lanes 0xff of its warp" \
    "blocks that had not started: 4"
run "limit of steps at a lock" 4 waits.ptx --entry lock --block 32 --arg buf:4xu32:fill:1 --max-steps 100
table \
    "block  warp  lanes     at            instruction  waits for" \
    "0,0,0  0     7fffffff  waits.ptx:36  bra          nothing: still running" \
    "0,0,0  0     80000000  waits.ptx:41  ret          lanes 0x7fffffff of its warp, to reconverge"
run "limit of steps at an mbarrier" 4 waits.ptx --entry mbarrier --block 32 --max-steps 1K
says err "the mbarrier at 0 of 'full' of shared memory: 8 of 40 arrivals and 0 bytes are pending"
run "deadlock of a cluster" 1 waits.ptx --entry cluster --block 32 --grid 2
table \
    "block  warp  lanes     at            instruction           waits for" \
    "0,0,0  0     ffffffff  waits.ptx:66  bar.sync              barrier 0: 32 of 64 threads have arrived" \
    "1,0,0  0     ffffffff  waits.ptx:68  barrier.cluster.wait  the barrier of the cluster: 32 of 64 threads have arrived"
run "a fault has no table" 1 store.ptx --entry copy --block 4 --arg buf:16 --arg buf:8 --arg u32:4
table

# -- Signals ------------------------------------------------------------------------------------------------------------

# A launch that does not end in the time of a test. A shell without job control ignores INT in the background, so python
# starts it.
cat >signals.py <<'END'
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
err = open("err", "w+")
p = subprocess.Popen(sys.argv[1:], stdout=open("out", "w"), stderr=err)
# Until the handler of USR1 is there, the process would end by it.
while p.poll() is None and not int(next(l.split()[1] for l in open(f"/proc/{p.pid}/status") if l.startswith("SigCgt")), 16) >> 9 & 1:
    time.sleep(0.01)
for n in 1, 2:
    p.send_signal(signal.SIGUSR1)
    while p.poll() is None and open("err").read().count("still running") < n:
        time.sleep(0.01)
p.send_signal(signal.SIGINT)
sys.exit(p.wait())
END
name="signals"
if [ -d /proc/self ] && have python3; then
    $limit python3 signals.py "$ORIRUN" waits.ptx --entry lock --block 32 --grid 3 --arg buf:4xu32:fill:1 --max-steps 4G --count
    is $? 130
    silent out
    sed -n 's/[0-9]* steps/N steps/p' err >rows
    printf '%s\n' \
        "orirun: launch 1 of 1, lock, after N steps: 1 of 3 blocks have started" \
        "orirun: launch 1 of 1, lock, after N steps: 1 of 3 blocks have started" \
        "waits.ptx: error: launch 1, lock, block 0,0,0, thread 0,0,0: stopped after N steps" >want
    same rows want
    is "$(grep -c '^block  *warp' err)" 3
    is "$(grep -c 'lanes 0x7fffffff of its warp, to reconverge' err)" 3
    is "$(grep -c 'blocks that had not started: 2' err)" 3
    name="counts of a stopped launch"
    says err "  atom"
else
    skip "no python3, or no /proc"
fi

# -- Counts and coverage ------------------------------------------------------------------------------------------------

run "count" 0 $copy --count
silent out
prints err "             1              4  setp"
prints err "             1              3  mul.wide"
says err "  all"
cat >called.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.func twice() { ret; }
.visible .entry one()
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra skip;
	call twice; @!%p1 call twice;
skip:
	ret;
}
.visible .entry other(.param .u32 more)
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	ld.param.u32 %r1, [more];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 ret;
	call twice;
	ret;
}
END
cat >t.run <<'END'
file called.ptx
entry one
block 40
---
keep
entry one
block 2
---
entry other
block 3
arg u32:0
END
run "count of lines" 0 t.run --count=lines
cat >want <<'END'
LINE twice 4 6 80 0 0 ret one
LINE one 9 3 42 0 0 mov one
LINE one 10 3 42 0 0 setp one
LINE one 11 3 42 2 40 bra one
LINE one 12 3 40 0 0 call one
LINE one 12 3 40 0 0 call one
LINE one 14 3 42 0 0 ret one
LINE other 20 1 3 0 0 ld other
LINE other 21 1 3 0 0 setp other
LINE other 22 1 3 0 0 ret other
LINE other 23 0 0 0 0 call other
LINE other 24 0 0 0 0 ret other
END
same err want
run "count of lines of a launch that fails" 1 store.ptx --entry copy --block 4 --arg buf:16 --arg buf:8 --arg u32:4 --count=lines
prints err "LINE copy 21 1 4 0 0 ld copy"
run "both counts" 0 t.run --count --count=lines
prints err "            10            125  ret"
prints err "LINE twice 4 6 80 0 0 ret one"
run "coverage" 0 $copy --coverage
silent out
prints err "coverage of copy: 3 of 3 blocks, 2 of 2 edges of branches"
run "coverage, branch never taken" 0 store.ptx --entry copy --block 2 --arg buf:8 --arg buf:8 --arg u32:2 --coverage
prints err "store.ptx:15: copy: the branch was never taken"
run "coverage, block never reached" 0 store.ptx --entry copy --block 2 --arg buf:8 --arg buf:8 --arg u32:0 --coverage
prints err "store.ptx:15: copy: the branch was always taken"
prints err "store.ptx:16: copy: the block that begins here never ran"
cat >t.run <<'END'
file store.ptx
entry copy
block 2
arg buf:8
arg buf:8
arg u32:0
---
entry copy
block 2
arg buf:8
arg buf:8
arg u32:2
END
run "coverage of several launches" 0 t.run --coverage
prints err "coverage of copy: 3 of 3 blocks, 2 of 2 edges of branches"
# The compiler copies a struct with its padding (launch 8), and adds nothing to it.
run "padding that is copied" 0 "$root"/samples/run/local_array.run --check-uninit
silent err

# -- Variables of functions -------------------------------------------------------------------------------------------

cat >statics.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 n) next()
{
	.global .align 4 .u32 count = 5;
	.const .align 4 .u32 steps[2] = {3, 10};
	.global .align 8 .u64 pointer = steps+4;
	.reg .b64 %rd<2>;
	.reg .b32 %r<5>;
	ld.global.u64 %rd1, [pointer];
	ld.const.u32 %r1, [%rd1];
	ld.global.u32 %r2, [count];
	add.u32 %r3, %r1, %r2;
	st.global.u32 [count], %r3;
	st.param.b32 [n], %r3;
	ret;
}
.visible .entry twice(.param .u64 to)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<3>;
	ld.param.u64 %rd1, [to];
	call (%r1), next, ();
	call (%r2), next, ();
	st.global.v2.u32 [%rd1], {%r1, %r2};
	ret;
}
END
file "variables of a function keep their values" 0 <<'END'
file statics.ptx
entry twice
arg buf:8
expect 0:u32 15 25
---
keep
expect 0:u32 35 45
---
entry twice
arg buf:8
expect 0:u32 15 25
END

cat >orders.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 to, .param .u64 from)
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.shared .align 16 .b8 s[16];
	ld.param.u64 %rd1, [to];
	ld.param.u64 %rd2, [from];
	mov.u32 %r1, %tid.x;
	mov.b64 %rd3, 4;
	setp.lt.u32 %p1, %r1, 5;
	shr.u32 %r2, %r1, 4;
	vote.ballot.sync.b32 %r3, %p1, -1;
	match.sync.any.b32 %r4, %r2, -1;
	redux.add.sync.u32 %r5, %r1, -1;
	shfl.bfly.sync.b32 %r6, %r1, 3, 31, -1;
	cp.async.shared.global.cg.L2::cache_hint.L2::128B [s], [%rd2], 16, %rd3;
	cp.async.wait_all;
	barrier.aligned.sync 0;
	ld.shared.u32 %r7, [s+12];
	setp.ne.u32 %p2, %r1, 0;
	@%p2 ret;
	st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};
	st.global.u32 [%rd1+16], %r7;
	ret;
}
END
file "words of opcodes in other places" 0 <<'END'
file orders.ptx
entry k
block 32
arg buf:20
arg buf:4xu32:iota:7
expect 0:u32 31 65535 496 3 10
END

finish
