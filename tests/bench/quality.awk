# SPDX-License-Identifier: MIT
#
# quality.awk: prints the tables of quality.sh for the families, from its lines
#
#   FAMILY SEED VARIANT PTX SASS1 SASS3 REGISTERS STACK LOCAL
#
# VARIANT is naive, ref, ours or, if `compared`, other. A mean includes a program only if both variants exist.

{
    program = $1 " " $2
    if (!(program in seen)) {
        seen[program] = 1
        programs[++n] = program
    }
    for (k = 1; k <= 6; k++) value[program, $3, k] = $(k + 3)
}

function is_there(program, variant) { return (program, variant, 1) in value }

function ratio(program, a, b, k) {
    if (!is_there(program, a) || !is_there(program, b) || !value[program, b, k]) return "-"
    return sprintf("%.3f", value[program, a, k] / value[program, b, k])
}

function of(program, variant, k) { return is_there(program, variant) ? value[program, variant, k] : "-" }

# Returns the geometric mean of all programs; k is the column.
function mean(a, b, k,    p, sum, count, name) {
    for (p = 1; p <= n; p++) {
        name = programs[p]
        if (!is_there(name, a) || !is_there(name, b) || !value[name, a, k] || !value[name, b, k]) continue
        sum += log(value[name, a, k] / value[name, b, k])
        count++
    }
    return count ? sprintf("%.3f", exp(sum / count)) : "-"
}

# Returns the number of programs in which a column is not 0.
function left(variant, k,    p, count, all) {
    for (p = 1; p <= n; p++) {
        if (!is_there(programs[p], variant)) continue
        all++
        count += value[programs[p], variant, k] > 0
    }
    return sprintf("%d of %d", count, all)
}

function table(title, variant,    p, k, name) {
    printf "\n%-14s %9s %9s %9s %9s   %9s %9s   %6s %6s %6s %6s\n", title, "PTX", "SASS -O1", "SASS -O3", "registers",
           "stack", "naive", "PTX", "-O1", "-O3", "regs"
    for (p = 1; p <= n; p++) {
        name = programs[p]
        printf "%-14s", name
        for (k = 1; k <= 4; k++) printf " %9s", ratio(name, variant, "ref", k)
        printf "   %9s %9s  ", of(name, variant, 5), of(name, "naive", 5)
        for (k = 1; k <= 4; k++) printf " %6s", of(name, variant, k)
        print ""
    }
}

function row(title, a, b,    k) {
    printf "%-18s", title
    for (k = 1; k <= 4; k++) printf " %9s", mean(a, b, k)
    printf "   %12s %12s\n", left(a, 5), left(a, 6)
}

END {
    if (!n) exit
    print "\nInstructions and registers (at -O3) relative to the reference; stack: bytes that ptxas -O3 leaves; the counts."
    table("ours", "ours")
    if (compared) table("other", "other")
    printf "\n%-18s %9s %9s %9s %9s   %12s %12s\n", "geometric means", "PTX", "SASS -O1", "SASS -O3", "registers",
           "stack left", ".local left"
    row("naive / reference", "naive", "ref")
    row("ours / reference", "ours", "ref")
    if (compared) {
        row("other / reference", "other", "ref")
        row("other / ours", "other", "ours")
    }
    printf "%-18s %9s %9s %9s %9s   %12s %12s\n", "reference", "", "", "", "", left("ref", 5), left("ref", 6)
}
