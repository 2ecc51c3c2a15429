# SPDX-License-Identifier: MIT
#
# ptx.awk: counts instructions in a PTX file, a line for each function that has a body
#
#   NAME entry|func INSTRUCTIONS BYTES        BYTES: size of its .local variables
#
# A statement ends in `;` and may have several lines. It is an instruction unless it begins with a dot after its labels
# and scope braces. If .local variables outside of functions exist, the last line is `- - 0 BYTES`.

# Returns the bytes of a declaration `.local .align 8 .b8 a[4][2], b`.
function local_bytes(text,    unit, n, part, bytes, total) {
    sub(/^.*\.local[ \t]*/, "", text)
    sub(/=.*/, "", text)
    sub(/\.align[ \t]+[0-9]+/, "", text)
    unit = 1
    if (match(text, /\.v[24]/)) unit = substr(text, RSTART + 2, 1)
    if (match(text, /\.[bsuf][0-9]+/)) unit *= substr(text, RSTART + 2, RLENGTH - 2) / 8
    n = split(text, part, ",")
    for (; n; n--) {
        bytes = unit
        while (match(part[n], /\[[ \t]*[0-9]+[ \t]*\]/)) {
            bytes *= substr(part[n], RSTART + 1, RLENGTH - 2)
            part[n] = substr(part[n], RSTART + RLENGTH)
        }
        total += bytes
    }
    return total + 0
}

# Counts a statement, which has no `;`.
function statement(text) {
    if (text ~ /^\.(visible|extern|weak|common)[ \t]+\.local/ || text ~ /^\.local/) {
        if (name == "") outside += local_bytes(text)
        else bytes += local_bytes(text)
    } else if (text !~ /^\./ && name != "")
        count++
}

# Begins a function; `text` is its head from linkage to opening brace.
function head(text) {
    kind = text ~ /\.entry/ ? "entry" : "func"
    sub(/^.*\.(entry|func)[ \t]*/, "", text)
    if (text ~ /^\(/) sub(/^\([^)]*\)[ \t]*/, "", text) # the result
    match(text, /^[^ \t(]+/)
    name = substr(text, RSTART, RLENGTH)
    depth = count = bytes = 0
}

{
    sub(/\r$/, "")
    sub(/\/\/.*/, "")
    line = $0
    if (rest == "" && line ~ /^[ \t]*\.(loc|file|version|target|address_size|section)[ \t]/) next
    # a character that ends a part, and the text before it
    while (match(line, /[;{}]/)) {
        mark = substr(line, RSTART, 1)
        rest = rest substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + 1)
        gsub(/^[ \t]+/, "", rest)
        while (match(rest, /^[A-Za-z_$%][A-Za-z0-9_$]*[ \t]*:[ \t]*/) && substr(rest, RLENGTH + 1, 1) != ":")
            rest = substr(rest, RLENGTH + 1)
        if (mark == ";") {
            if (rest != "") statement(rest)
            rest = ""
        } else if (mark == "{" && name == "" && rest ~ /\.(entry|func)[ \t(]/ && rest !~ /=/) {
            head(rest)
            depth = 1
            rest = ""
        } else if (rest == "" && mark == "{")
            depth++
        else if (rest == "") {
            if (--depth == 0 && name != "") {
                print name, kind, count, bytes
                name = ""
            }
        } else
            rest = rest mark # operands, initializers
    }
    rest = rest line
    gsub(/^[ \t]+/, "", rest)
    if (rest != "") rest = rest " "
}

END { if (outside) print "-", "-", 0, outside }
