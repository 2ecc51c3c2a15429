# SPDX-License-Identifier: MIT
{ sed 's/^.version/\/\/ precise\n.version/' check-order.ptx; printf '// precise:'; } >wrong.ptx
$oricheck --bless wrong.ptx; echo "exit $?"
$oricheck wrong.ptx | grep precise
tail -n 3 wrong.ptx
