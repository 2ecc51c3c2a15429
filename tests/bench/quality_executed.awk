# SPDX-License-Identifier: MIT
#
# quality_executed.awk: prints the table of quality.sh --executed, from its lines
#
#   SAMPLE FORM VARIANT LEVEL FUNCTION STATIC EXECUTED FIT
#
# FORM is O0 (naive) or sm_80 (nvcc -O3); VARIANT is before or the variant to compare, in `variant`; LEVEL that of
# ptxas. `causes` names the file of kernels of nvcc -O3 samples with known regressions: SAMPLE FUNCTION CAUSE.

BEGIN {
    least = 0.85
    while ((getline line < causes) > 0) {
        split(line, words, " ")
        cause[words[1] " " words[2]] = substr(line, length(words[1] words[2]) + 3)
    }
}

{
    kernel = $1 " " $5
    if (!((kernel, $2) in seen)) {
        seen[kernel, $2] = 1
        kernels[$2, ++n[$2]] = kernel
    }
    at = kernel SUBSEP $2 SUBSEP $4 SUBSEP $3
    static[at] = $6
    executed[at] = $7
    fit[at] = $8
}

function of(kernel, form, level, side) { return kernel SUBSEP form SUBSEP level SUBSEP side }
function fits(at) { return at in fit && fit[at] != "-" && fit[at] >= least }
function change(a, b) { return a ? sprintf("%+.1f %%", 100 * (b - a) / a) : "-" }

# Prints the columns of a level, and adds them to the sums.
function columns(kernel, form, level,    a, b) {
    a = of(kernel, form, level, "before")
    b = of(kernel, form, level, variant)
    if (!fits(a) || !fits(b)) {
        dropped = dropped sprintf("  %-6s -O%d  fit %s, %s  %s\n", form, level, a in fit ? fit[a] : "-", b in fit ? fit[b] : "-", kernel)
        drops++
        printf "  %5s %5s %8s  %10s %10s %8s", "-", "-", "", "-", "-", ""
        return
    }
    printf "  %5d %5d %8s  %10d %10d %8s", static[a], static[b], change(static[a], static[b]), executed[a], executed[b],
           change(executed[a], executed[b])
    count[level]++
    before[level] += static[a]
    after[level] += static[b]
    logs[level] += log(executed[b] / executed[a])
    if (executed[b] > executed[a] * 1.001) {
        worse[level]++
        if (form != "O0")
            list = list sprintf("  -O%d %+.1f %%  %s: %s\n", level, 100 * (executed[b] / executed[a] - 1), kernel,
                                kernel in cause ? cause[kernel] : "no known cause")
    }
    better[level] += executed[b] < executed[a] * 0.999
}

function table(form, title,    k, level) {
    printf "\n%s: %s\n%-18s %-10s %-18s %-31s  %-18s %s\n", variant, title, "", "", "-O1 static", "executed", "-O3 static", "executed"
    split("", count); split("", before); split("", after); split("", logs); split("", worse); split("", better)
    for (k = 1; k <= n[form]; k++) {
        printf "%-28.28s", kernels[form, k]
        columns(kernels[form, k], form, 1)
        columns(kernels[form, k], form, 3)
        print ""
    }
    for (level = 1; level <= 3; level += 2)
        if (count[level])
            printf "-O%d: %d kernels, static %d -> %d (%s), executed %+.1f %% (geometric mean), worse in %d, better in %d\n", level,
                   count[level], before[level], after[level], change(before[level], after[level]),
                   100 * (exp(logs[level] / count[level]) - 1), worse[level], better[level]
}

# Prints the executed instructions of naive code, through oriopt, in relation to those of nvcc -O3.
function relation(level,    k, kernel, naive, nvcc, r, n1, sum, static_naive, static_nvcc, high) {
    for (k = 1; k <= n["O0"]; k++) {
        kernel = kernels["O0", k]
        naive = of(kernel, "O0", level, variant)
        nvcc = of(kernel, "sm_80", level, "before")
        if (!fits(naive) || !fits(nvcc) || !executed[nvcc])
            continue
        r = executed[naive] / executed[nvcc]
        n1++
        sum += log(r)
        static_naive += static[naive]
        static_nvcc += static[nvcc]
        if (r > 1.25)
            high = high sprintf("  %5.2f  %s\n", r, kernel)
    }
    if (n1)
        printf "-O%d: %d kernels, static %.3f, executed %.3f (geometric mean) of nvcc -O3; above 1.25:\n%s", level, n1,
               static_naive / static_nvcc, exp(sum / n1), high
}

END {
    print "\nSASS instructions before and after oriopt, static and as the launches of samples/run execute them (in threads)."
    table("O0", "naive (nvcc -Xcicc -O0)")
    table("sm_80", "nvcc -O3")
    printf "\n%s: naive (nvcc -Xcicc -O0), in relation to nvcc -O3\n", variant
    relation(1)
    relation(3)
    if (list) printf "\nworse than what nvcc -O3 made, with the cause as executed-exceptions.txt has it:\n%s", list
    if (drops) printf "\ndropped, since the estimate explains less than %.2f of the counts (before, after):\n%s", least, dropped
}
