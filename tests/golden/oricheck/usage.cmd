# SPDX-License-Identifier: MIT
$oricheck; echo "exit $?"
$oricheck --filtre x .; echo "exit $?"
$oricheck --filter; echo "exit $?"
$oricheck --bless=yes .; echo "exit $?"
$oricheck no-such-file.ptx; echo "exit $?"
mkdir empty
$oricheck empty; echo "exit $?"
$oricheck --filter=nothing-has-this .; echo "exit $?"
