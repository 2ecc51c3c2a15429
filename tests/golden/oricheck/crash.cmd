# SPDX-License-Identifier: MIT
# The program waits for the other end of a pipe and is sent what a mistake of its own would raise.
for signal in SEGV ABRT ALRM; do
    mkfifo $signal.ptx
    $oricheck $signal.ptx 2>said >/dev/null &
    exec 3>$signal.ptx
    kill -$signal $!
    wait $! && echo "exit 0"
    exec 3>&-
    head -n 1 said
done 2>/dev/null
