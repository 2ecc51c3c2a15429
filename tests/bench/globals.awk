# SPDX-License-Identifier: MIT
#
# globals.awk: prints the bytes of the variables that a PTX file declares: those in .shared, and those in .const and
# .global. A declaration begins a line, and has its dimensions on this line, as in the output of nvcc and of oriopt.

/^[ \t]*(\.(visible|extern|weak|common)[ \t]+)?\.(shared|const|global)[ \t]/ {
    space = /\.shared/ ? "shared" : "table"
    sub(/=.*/, "")
    sub(/\/\/.*/, "")
    gsub(/\.attribute[ \t]*\([^)]*\)|\.align[ \t]+[0-9]+/, "")
    unit = match($0, /\.v[24][ \t]/) ? substr($0, RSTART + 2, 1) : 1
    if (!match($0, /\.[bsuf][0-9]+/)) next # textures, samplers and surfaces
    unit *= substr($0, RSTART + 2, RLENGTH - 2) / 8
    n = split($0, part, ",")
    for (; n; n--) {
        bytes = unit
        if (part[n] ~ /\[[ \t]*\]/) bytes = 0 # its size comes from the launch, or from another module
        while (match(part[n], /\[[ \t]*[0-9]+[ \t]*\]/)) {
            bytes *= substr(part[n], RSTART + 1, RLENGTH - 2)
            part[n] = substr(part[n], RSTART + RLENGTH)
        }
        sum[space] += bytes
    }
}

END { print sum["shared"] + 0, sum["table"] + 0 }
