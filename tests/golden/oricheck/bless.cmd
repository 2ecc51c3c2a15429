# SPDX-License-Identifier: MIT
mkdir d
cp precise-without-block.ptx precise-differs.ptx precise-ori.ori pass-crlf.ptx check-missing.ptx d
$oricheck --bless d; echo "exit $?"
$oricheck --bless d/p*; echo "exit $?"
$oricheck d/p*; echo "exit $?"
tail -n 13 d/precise-ori.ori
sed -n '/precise:/,$p' d/precise-without-block.ptx
ls d
