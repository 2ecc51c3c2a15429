# SPDX-License-Identifier: MIT
$oricheck --verbose pass-crlf.ptx skip-arch.ptx check-order.ptx pass-ori.ori
