# SPDX-License-Identifier: MIT
#
# report.awk: prints the tables of bench.sh, from its lines
#
#   NAME N INSTRUCTIONS CPU WALL RSS READ WRITE PHASES STATUS
#
# NAME is a shape or `empty`, which is start-up; LLVM's names end in .ll. Its instructions are counted in the PTX of the
# same program, so that both rates refer to the same work.

$1 == "empty" || $1 == "empty.ll" { start_cpu[$1] = $4 > 0 ? $4 : 0; start_rss[$1] = $6; next }

{
    row[++rows] = $1 SUBSEP $2
    shape = $1
    of_llvm = sub(/\.ll$/, "", shape)
    start = of_llvm ? "empty.ll" : "empty"
    insns[$1, $2] = of_llvm ? insns[shape, $2] : $3 > 0 ? $3 : $2
    cpu[$1, $2] = $4
    whole[$1, $2] = $4 < 0 ? -1 : $4 - start_cpu[start]
    rss[$1, $2] = $6
    bytes[$1, $2] = ($6 - start_rss[start]) * 1024 / insns[$1, $2]
    read[$1, $2] = $7
    write[$1, $2] = $8
    phases[$1, $2] = $9
    status[$1, $2] = $10
    if (of_llvm) next
    if (!($1 in last)) shapes[++count] = $1
    if (last[$1] != $2) before[$1] = last[$1]
    last[$1] = $2
}

function rate(n, s) { return s > 0 ? sprintf("%.2f", n / s / 1e6) : "-" }

function failure(key) { return status[key] == 124 ? "more than " limit " s" : "failed: exit status " status[key] }

# Returns the exponent of the times between the last two sizes of a shape, or LLVM's if `name` is the shape with .ll.
function growth(times, name, shape,    a, b) {
    if (!before[shape]) return "-"
    a = name SUBSEP before[shape]
    b = name SUBSEP last[shape]
    if (!(a in times) || times[a] <= 0 || times[b] <= 0 || insns[a] >= insns[b]) return "-"
    return sprintf("%.2f", log(times[b] / times[a]) / log(insns[b] / insns[a]))
}

# Returns the speed relative to LLVM, or a lower bound if LLVM was stopped.
function times_llvm(shape, n,    theirs) {
    theirs = shape ".ll" SUBSEP n
    if (!(theirs in cpu) || whole[shape, n] <= 0) return "-"
    if (cpu[theirs] < 0 && status[theirs] != 124) return "-"
    return sprintf("%.1f", (cpu[theirs] < 0 ? limit : whole[theirs]) / whole[shape, n])
}

function verdict(value, is_met) { return value == "-" ? "-" : value (is_met ? " met   " : " MISSED") }
function at_least(value, target) { return verdict(value, value + 0 >= target) }
function at_most(value, target) { return verdict(value, value + 0 <= target) }

function rows_of_oriopt(    r, key, name) {
    printf "\n%-22s %12s %9s %9s %10s %9s %8s %9s %8s\n", "oriopt", "instructions", "read M/s", "write M/s",
           "phases M/s", "text M/s", "cpu s", "rss MB", "B/insn"
    for (r = 1; r <= rows; r++) {
        key = row[r]
        split(key, name, SUBSEP)
        if (name[1] ~ /\.ll$/) continue
        printf "%-22s %12d ", name[1] " " name[2], insns[key]
        if (cpu[key] >= 0)
            printf "%9s %9s %10s %9s %8.3f %9.1f %8.1f", rate(insns[key], read[key]), rate(insns[key], write[key]),
                   rate(insns[key], phases[key]), rate(insns[key], whole[key]), cpu[key], rss[key] / 1024, bytes[key]
        print status[key] ? "  " failure(key) : ""
    }
}

function rows_of_llvm(    r, key, name) {
    printf "\nLLVM: opt -S -passes='%s'\n", lean
    if (skip) { print skip; return }
    printf "%-22s %12s %9s %8s %9s %8s %16s\n", "LLVM", "instructions", "text k/s", "cpu s", "rss MB", "B/insn",
           "oriopt: times"
    for (r = 1; r <= rows; r++) {
        key = row[r]
        split(key, name, SUBSEP)
        if (!sub(/\.ll$/, "", name[1])) continue
        printf "%-22s %12d ", name[1] " " name[2], insns[key]
        if (cpu[key] >= 0)
            printf "%9.1f %8.3f %9.1f %8.1f %16s", rate(insns[key] * 1000, whole[key]), cpu[key], rss[key] / 1024,
                   bytes[key], times_llvm(name[1], name[2])
        print status[key] ? "  " failure(key) : ""
    }
}

function rows_of_growth(    k, s) {
    if (!before[shapes[1]]) return
    printf "\n%-22s %20s %8s %8s %8s\n", "growth (exponent)", "from -> to", "whole", "phases", "LLVM"
    for (k = 1; k <= count; k++) {
        s = shapes[k]
        if (before[s])
            printf "%-22s %20s %8s %8s %8s\n", s, before[s] " -> " last[s], growth(whole, s, s), growth(phases, s, s),
                   growth(whole, s ".ll", s)
    }
}

# Prints the targets for the shapes of ssa.c; those of gen.c have none.
function rows_of_targets(    k, s, n) {
    printf "\n%-22s %14s %14s %14s %14s %14s %14s\n", "targets", "phases M/s", "text M/s", "growth, whole",
           "growth, phases", "B/insn", "times LLVM"
    printf "%-22s %14s %14s %14s %14s %14s %14s\n", "", ">= 3   ", ">= 1.3   ", "<= 1.1   ", "<= 1.1   ", "<= 250   ",
           "> 1   "
    for (k = 1; k <= count; k++) {
        s = shapes[k]
        n = last[s]
        if (s ~ /^(module|func)/) continue
        printf "%-22s %14s %14s %14s %14s %14s %14s\n", s " " n, at_least(rate(insns[s, n], phases[s, n]), 3),
               at_least(rate(insns[s, n], whole[s, n]), 1.3), at_most(growth(whole, s, s), 1.1),
               at_most(growth(phases, s, s), 1.1), at_most(cpu[s, n] < 0 ? "-" : sprintf("%.0f", bytes[s, n]), 250),
               verdict(times_llvm(s, n), times_llvm(s, n) + 0 > 1)
    }
}

END {
    rows_of_oriopt()
    rows_of_llvm()
    rows_of_growth()
    rows_of_targets()
}
