# SPDX-License-Identifier: MIT
$oricheck --help; echo "exit $?"
$oricheck --version; echo "exit $?"
