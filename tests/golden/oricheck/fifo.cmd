# SPDX-License-Identifier: MIT
mkfifo pipe
cat pass-crlf.ptx >pipe &
$oricheck pipe
