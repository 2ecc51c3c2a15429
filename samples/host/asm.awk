# SPDX-License-Identifier: MIT
# Converts CUDA's asm statements to calls: asm volatile("T" : "=r"(a) : "r"(b) : "memory") becomes ptx_asm("T",
# {ptx_out("=r", a), ptx_in("r", b)}). Comments with quotes inside an asm statement are not supported. Line numbers stay
# the same, so that messages of the compiler refer to the source.

{ text = text $0 "\n" }

# Returns the position after the string or the parenthesis that begins at `at`.
function skip(at,    c, depth) {
    if (substr(text, at, 1) == "\"") {
        for (at++; (c = substr(text, at, 1)) != "\"" && c != ""; at++)
            if (c == "\\")
                at++
        return at + 1
    }
    depth = 0
    do {
        c = substr(text, at, 1)
        if (c == "\"") {
            at = skip(at)
            continue
        }
        depth += (c == "(") - (c == ")")
        at++
    } while (depth > 0 && c != "")
    return at
}

# Writes the statement whose parenthesis begins at `at`; returns the position after it.
function statement(at,    end, c, section, next_, first, word) {
    end = skip(at) - 1
    printf "ptx_asm("
    section = 0
    first = 1
    for (at++; at < end;) {
        c = substr(text, at, 1)
        if (c == ":") {
            if (section++ == 0)
                printf ", {"
            at++
        } else if (c == "\"") {
            next_ = skip(at)
            word = substr(text, at, next_ - at)
            at = next_
            if (section == 0) {
                printf "%s", word
            } else if (section < 3) {
                printf "%s%s(%s, ", first ? "" : ", ", section == 1 ? "ptx_out" : "ptx_in", word
                first = 0
                while (substr(text, at, 1) != "(")
                    at++
                next_ = skip(at)
                printf "%s", substr(text, at + 1, next_ - at - 1)
                at = next_
            }
        } else {
            if (c == "\n")
                printf "\n"
            at++
        }
    }
    printf "%s)", section == 0 ? ", {}" : "}"
    return end + 1
}

END {
    while (match(text, /(^|[^A-Za-z0-9_])asm( volatile)? *\(/)) {
        at = RSTART + RLENGTH - 1
        word = substr(text, RSTART, RLENGTH)
        printf "%s%s", substr(text, 1, RSTART - 1), substr(word, 1, index(word, "asm") - 1)
        text = substr(text, statement(at))
    }
    printf "%s", text
}
