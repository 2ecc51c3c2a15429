# SPDX-License-Identifier: MIT
#
# quality_nvcc.awk: prints the table of quality.sh --nvcc, from its lines
#
#   SAMPLE VARIANT FUNCTION entry|func LOCAL STACK
#
# VARIANT is naive, O3, ours or, if `compared`, other; LOCAL the bytes of .local variables in the PTX, STACK the bytes
# that ptxas leaves, or `-`. nvcc -O3 has inlined a function that it lacks. The table has functions with more .local in
# ours (or the other) than at -O3.

{
    at = $1 SUBSEP $3
    if ($2 == "naive") {
        functions[++n] = at
        kind[at] = $4
        samples += !($1 in seen)
        seen[$1] = 1
    }
    bytes[at, $2] = $5
    stack[at, $2] = $6
}

function of(values, at, variant) { return (at, variant) in values ? values[at, variant] : "-" }
function more(at, variant) { return of(bytes, at, variant) + 0 > of(bytes, at, "O3") + 0 }

function summary(variant, title,    k, at, entries, funcs, sum, same) {
    for (k = 1; k <= n; k++) {
        at = functions[k]
        if (more(at, variant)) {
            if (kind[at] == "entry") entries++
            else funcs++
            sum += of(bytes, at, variant) - of(bytes, at, "O3")
        } else if (of(bytes, at, variant) > 0)
            same++
    }
    printf "%-6s %8d kernels, %4d functions: %6d bytes more than nvcc -O3; no more than it has in %d others\n", title, entries,
           funcs, sum, same
}

END {
    if (!n) exit
    print "\nBytes of .local in the PTX, and of stack that ptxas leaves; `-` is a function that is inlined everywhere."
    printf "\n%-14s %-6s %7s %7s %7s", "sample", "", "naive", "ours", "-O3"
    if (compared) printf " %7s", "other"
    printf "   %7s %7s", "stack", "-O3"
    if (compared) printf " %7s", "other"
    print "  function"
    for (k = 1; k <= n; k++) {
        at = functions[k]
        if (!more(at, "ours") && !more(at, "other")) continue
        split(at, name, SUBSEP)
        printf "%-14s %-6s %7s %7s %7s", name[1], kind[at], of(bytes, at, "naive"), of(bytes, at, "ours"), of(bytes, at, "O3")
        if (compared) printf " %7s", of(bytes, at, "other")
        printf "   %7s %7s", of(stack, at, "ours"), of(stack, at, "O3")
        if (compared) printf " %7s", of(stack, at, "other")
        print "  " name[2]
    }
    printf "\n%d functions in %d samples; more .local than nvcc -O3 in\n", n, samples
    summary("naive", "naive")
    summary("ours", "ours")
    if (compared) summary("other", "other")
}
