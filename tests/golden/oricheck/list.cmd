# SPDX-License-Identifier: MIT
mkdir -p d/b d/a
cp pass-crlf.ptx d/b/1.ptx
cp pass-ori.ori d/a/2.ori
cp pass-crlf.ptx d/3.ptx
cp usage.cmd d/a/4.txt
$oricheck --list d; echo "exit $?"
$oricheck --list --filter=a/ d d/b/1.ptx; echo "exit $?"
$oricheck --verbose --filter=b/1 d no-test.ptx d/b/1.ptx; echo "exit $?"
