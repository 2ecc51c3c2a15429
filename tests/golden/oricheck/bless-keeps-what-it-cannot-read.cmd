# SPDX-License-Identifier: MIT
{ cat error-that-phase-test-has-not.ptx; echo '// precise:'; echo '// old'; } >wrong.ptx
cp wrong.ptx before.ptx
$oricheck --bless wrong.ptx; echo "exit $?"
cmp wrong.ptx before.ptx && echo same
