#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers.sh: checks that each #include points to a lower level or its own (the levels of the README). Prints each
# offence; ends in `N passed, N failed`, a test being a source file.
cd "$(dirname "$0")/.." || exit 2
find ir knobs sm phases tools -name '*.[ch]' -o -name '*.re' -o -name '*.def' | sort | xargs awk '
function level(f) {
    if (f ~ /^ir\/base\//) return 0
    if (f ~ /^ir\/core\//) return 1
    if (f ~ /^ir\/(analysis|eval)\//) return 2
    if (f ~ /^ir\/(text|ptx|machine|rewrite)\//) return 3
    if (f ~ /^knobs\//) return 4
    if (f ~ /^sm\/sm\.h$/) return 5
    if (f ~ /^phases\//) return 6
    if (f ~ /^sm\//) return 7
    if (f ~ /^tools\//) return 8
    return -1
}
FNR == 1 { files++; bad[FILENAME] = 0 }
/^#include "/ {
    split($0, part, "\"")
    to = level(part[2])
    if (to < 0 || to > level(FILENAME)) {
        printf "%s:%d: level %d includes %s, level %d\n", FILENAME, FNR, level(FILENAME), part[2], to
        if (!bad[FILENAME]++) failed++
    }
}
END { printf "%d passed, %d failed\n", files - failed, failed; exit failed > 0 }'
