# SPDX-License-Identifier: MIT
$oricheck --verbose pass-crlf.ptx phase-not-there.ori check-order.ptx pass-ori.ori
