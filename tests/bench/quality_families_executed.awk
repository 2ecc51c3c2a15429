# SPDX-License-Identifier: MIT
#
# quality_families_executed.awk: prints the table of quality.sh --families-executed, from its lines
#
#   FAMILY SEED VARIANT LEVEL FUNCTION STATIC EXECUTED FIT
#
# VARIANT is ref, ours or, if `compared`, other; LEVEL that of ptxas. A mean includes a program only if the estimates of
# both variants explain at least 0.85 of the counts.

{
    program = $1 " " $2
    if (!(program in seen)) {
        seen[program] = 1
        programs[++n] = program
    }
    at = program SUBSEP $3 SUBSEP $4
    static[at] = $6
    if ($8 != "-" && $8 >= 0.85) executed[at] = $7
    fit[at] = $8
}

function of(values, at) { return at in values ? values[at] : "-" }

# Prints a program at a level, and adds it to the sums of the variant.
function columns(program, variant, level,    at, ref) {
    at = program SUBSEP variant SUBSEP level
    ref = program SUBSEP "ref" SUBSEP level
    printf "  %6s %10s %6s", of(static, at), of(executed, at), of(fit, at)
    if (!(at in executed) || !(ref in executed)) {
        printf " %7s", "-"
        return
    }
    printf " %7.3f", executed[at] / executed[ref]
    logs[variant, level] += log(executed[at] / executed[ref])
    count[variant, level]++
}

function table(variant,    p, level) {
    printf "\n%-14s  %6s %10s %6s %7s  %6s %10s %6s %7s\n", variant, "-O1", "executed", "fit", "of ref", "-O3", "executed",
           "fit", "of ref"
    for (p = 1; p <= n; p++) {
        printf "%-14s", programs[p]
        for (level = 1; level <= 3; level += 2) columns(programs[p], variant, level)
        print ""
    }
    for (level = 1; level <= 3; level += 2)
        if (count[variant, level])
            printf "-O%d: %d programs, executed %.3f of the reference (geometric mean)\n", level, count[variant, level],
                   exp(logs[variant, level] / count[variant, level])
}

END {
    print "\nSASS instructions, static and as the launch executes them (in threads); ref: LLVM -O2."
    table("ref")
    table("ours")
    if (compared) table("other")
}
