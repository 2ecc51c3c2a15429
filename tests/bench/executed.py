#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Estimates the number of SASS instructions that the kernels of a PTX file execute, without a GPU.

    tests/bench/executed.py [-O 1,3] [-arch=sm_80] [--orirun=PATH] [--ptxas=PATH] [--blocks] FILE.run FILE.ptx

Prints a line for each level of ptxas and each kernel that ran, executions counted in threads:

    LEVEL FUNCTION STATIC EXECUTED FIT REGISTERS PTX        PTX: executed instructions of the PTX; `-`: no estimate

1. orirun runs the launches of FILE.run on FILE.ptx and counts executions of each line (--count=lines).
2. ptxas -lineinfo records for each SASS instruction the line of its PTX instruction. .loc and .file lines of the input
   are blanked so that these are lines of the PTX itself. The code is the same with and without -lineinfo.
3. The control-flow graph of the SASS gives one unknown for each edge outside of a spanning tree (circulation of a flow
   network), so conservation of flow holds exactly. The flows are non-negative and minimize the weighted sum of absolute
   deviations from the counts: the frequencies of all copies of a line sum up to its count. Only lines that ptxas turns
   into one instruction of a class take part. A guarded instruction may execute more often than its line. A small cost
   of every instruction chooses among flows that the counts do not determine.
4. EXECUTED is the sum of block sizes by frequency; FIT is the share of the weighted counts that the flow reproduces.

The minimum is found by iteratively reweighted least squares. Functions with more than MAX_UNKNOWNS unknowns get no
estimate.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import sass

MAX_UNKNOWNS = 260
ITERATIONS = 40
INSN_COST = 1e-4

# Weights of a line's count. Effects happen exactly as often as in the PTX; arithmetic may be shared or split.
WEIGHTS = dict.fromkeys(("gst", "sst", "atom", "mma"), 8.0)
WEIGHTS.update(dict.fromkeys(("gld", "sld", "fp64", "fp32", "mufu", "warp"), 3.0))
EXACT_WEIGHT, HELD_WEIGHT = 1e8, 1e6  # weights of squared deviations

# PTX instructions that ptxas turns into one SASS instruction of a class.
SINGLE = {
    "int": r"(?:add|sub|mul\.lo|mad\.lo|and|or|xor|shl|shr|setp|selp|min|max|lop3|prmt|bfe|not|neg)\S*\.[bsu]32",
    "fp32": r"(?:add|sub|mul|fma|mad|min|max|setp|selp)\S*\.f32",
    "fp64": r"(?:add|sub|mul|fma|setp)\S*\.f64",
    "gld": r"ld|tex|tld|cp\.async|suld",
    "lld": r"ld",
    "sld": r"ld",
    "gst": r"st|sust",
    "lst": r"st",
    "sst": r"st",
    "atom": r"atom|red",
    "warp": r"shfl|vote|match|redux|activemask",
    "ctl": r"bra\b",
    "bar": r"bar|barrier|membar|fence|cp\.async",
    "mufu": r"(?:ex2|lg2|rsqrt|sin|cos|sqrt|rcp)\.approx|popc|clz|brev|bfind|cvt",
    "mma": r"mma|wmma",
}
GUARD = r"^[\s{]*(?:@!?[%\w$]+\s+)?"
SINGLE = {cls: re.compile(GUARD + "(?:" + of + ")") for cls, of in SINGLE.items()}
SETP = re.compile(GUARD + "setp")
BRANCH = re.compile(r"^[\s{]*@!?[%\w$]+\s+bra(?:\.uni)?\s+([%\w$]+)")
LABEL = re.compile(r"^[\s{]*([%\w$]+):")

Row = collections.namedtuple("Row", "terms count weight at_least")  # terms: {unknown: factor}
LINE = re.compile(r"^LINE (\S+) (\d+) (\d+) (\d+) (\d+) (\d+) (\S+) (\S+)$", re.M)


# -- Counts -------------------------------------------------------------------------------------------------


def count_lines(orirun, run, ptx):
    """Returns {kernel: {line: executions in threads}}, with the lines of called functions, {kernel: {line of a branch:
    (taken, not taken)}}, and {kernel: starts}."""
    done = subprocess.run([orirun, run, "--file", ptx, "--count=lines"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    counts, ways, starts = collections.defaultdict(dict), collections.defaultdict(dict), {}
    of_opcode = collections.Counter()
    for function, line, warps, threads, taken, not_taken, opcode, kernel in LINE.findall(done.stderr):
        if kernel != function and warps == "0":
            continue
        if kernel == function:
            starts.setdefault(kernel, int(threads))
        key = kernel, int(line), opcode
        of_opcode[key] += int(threads)  # its most frequent opcode counts for a line
        counts[kernel][key[1]] = max(counts[kernel].get(key[1], 0), of_opcode[key])
        if opcode.startswith("bra"):
            before = ways[kernel].get(key[1], (0, 0))
            ways[kernel][key[1]] = before[0] + int(taken), before[1] + int(not_taken)
    if not counts:
        raise RuntimeError("orirun counted nothing: " + done.stderr.strip().split("\n")[0])
    return counts, ways, starts


# -- Flows --------------------------------------------------------------------------------------------------


def reached(graph):
    seen, work = set(graph.entries), list(graph.entries)
    while work:
        for to in graph.successors[work.pop()]:
            if to != sass.OUTSIDE and to not in seen:
                seen.add(to)
                work.append(to)
    return seen


def edges_of(graph):
    """Returns the edges (from, to) of reachable blocks. An additional node is the outside, with edges to all
    entries."""
    outside, live = len(graph.blocks), reached(graph)
    edges = [(outside, entry) for entry in sorted(graph.entries)]
    for block in sorted(live):
        edges += [(block, outside if to == sass.OUTSIDE else to) for to in graph.successors[block]]
    return edges


def spanning_tree(edges, nodes):
    """Returns the numbers of the edges of a spanning forest, and of the other edges."""
    root = list(range(nodes))

    def find(node):
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    tree, others = [], []
    for number in sorted(range(len(edges)), key=lambda edge: edges[edge][0] == nodes - 1):
        a, b = find(edges[number][0]), find(edges[number][1])
        if a != b:
            root[a] = b
            tree.append(number)
        else:
            others.append(number)
    return tree, others


def circulation(edges, nodes):
    """Returns the flow of each edge as {unknown: factor}, such that flow is conserved, and the number of unknowns."""
    tree, free = spanning_tree(edges, nodes)
    flow = {edge: {unknown: 1.0} for unknown, edge in enumerate(free)}
    incident = collections.defaultdict(set)
    surplus = [collections.defaultdict(float) for _ in range(nodes)]  # inflow minus outflow
    for edge in tree:
        incident[edges[edge][0]].add(edge)
        incident[edges[edge][1]].add(edge)
    for unknown, edge in enumerate(free):
        surplus[edges[edge][1]][unknown] += 1.0
        surplus[edges[edge][0]][unknown] -= 1.0
    leaves = [node for node in incident if len(incident[node]) == 1]
    while leaves:
        leaf = leaves.pop()
        if len(incident[leaf]) != 1:
            continue
        edge, = incident[leaf]
        start, end = edges[edge]
        sign = 1 if start == leaf else -1
        flow[edge] = {unknown: sign * v for unknown, v in surplus[leaf].items() if abs(v) > 1e-9}
        other = end if start == leaf else start
        for unknown, v in flow[edge].items():
            surplus[end][unknown] += v
            surplus[start][unknown] -= v
        incident[leaf].clear()
        incident[other].discard(edge)
        if len(incident[other]) == 1:
            leaves.append(other)
    return flow, len(free)


def add_terms(to, terms, factor=1.0):
    for unknown, v in terms.items():
        to[unknown] += factor * v


def block_terms(edges, flow, blocks):
    """Returns the frequency of each block: the sum of the flows into it."""
    terms = [collections.defaultdict(float) for _ in range(blocks)]
    for edge, (_, to) in enumerate(edges):
        if to < blocks:
            add_terms(terms[to], flow.get(edge, {}))
    return [{unknown: v for unknown, v in of.items() if abs(v) > 1e-9} for of in terms]


# -- Votes --------------------------------------------------------------------------------------------------


def takes_part(insn):
    """True if the line of the instruction may correspond to it alone; moves and zeros belong to other instructions."""
    if insn.opcode in (sass.MOV, sass.CS2R) or insn.cls not in SINGLE:
        return False
    return insn.cls != "ctl" or insn.opcode == sass.BRA and insn.conditional


def may_make(statement, insn):
    """False for instructions of a jump table, which ptxas makes of several comparisons under the line of the first
    one."""
    return not SETP.match(statement) or insn.opcode in sass.SETP


def vote_rows(graph, code, counts, terms, text):
    """Returns a row for each line and class of instruction: the copies together execute as often as the line."""
    groups = collections.defaultdict(list)
    for at, insn in enumerate(code):
        if insn.line in counts and takes_part(insn) and insn.line <= len(text) and may_make(text[insn.line - 1], insn):
            groups[insn.line, insn.cls].append(at)
    rows = []
    for (line, cls), copies in groups.items():
        if not SINGLE[cls].match(text[line - 1]):
            continue
        of = collections.defaultdict(float)
        for at in copies:
            add_terms(of, terms[graph.block_of[at]])
        guarded = any(code[at].guarded for at in copies)
        rows.append(Row(dict(of), counts[line], WEIGHTS.get(cls, 1.0), guarded))
    return rows


def lines_after(text, line):
    """Returns the lines (from 1) from `line` to the end of its basic block. A label at `line` does not end it."""
    end = line
    while end < len(text) and not (LABEL.match(text[end]) or BRANCH.match(text[end - 1])):
        end += 1
    return range(line, end + 1)


def branch_rows(graph, code, ways, edges, flow, text):
    """Returns two rows for each branch of the PTX: the flows of all its copies to one side sum up to how often it was
    taken, and those to the other side to how often it was not taken. A branch has no rows if its label is ambiguous
    in the file, or if the lines of a copy's successors do not tell its sides apart."""
    found = collections.defaultdict(list)
    for number, line in enumerate(text, 1):
        if match := LABEL.match(line):
            found[match[1]].append(number)
    labels = {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}
    copies = collections.defaultdict(list)
    for block, (_, end) in enumerate(graph.blocks):
        if code[end - 1].opcode == sass.BRA and code[end - 1].conditional and len(graph.successors[block]) == 2:
            copies[code[end - 1].line].append(block)
    rows = []
    for line, blocks in copies.items():
        match = line in ways and line <= len(text) and BRANCH.match(text[line - 1])
        if not match or match[1] not in labels or line == len(text):
            continue
        sides = lines_after(text, labels[match[1]]), lines_after(text, line + 1)
        of = collections.defaultdict(float), collections.defaultdict(float)
        for block in blocks:
            found = [{side for side in (0, 1) for at in range(*graph.blocks[to]) if code[at].line in sides[side]}
                     if to != sass.OUTSIDE else set() for to in graph.successors[block]]
            if {0} not in found and {1} not in found or found[0] == found[1]:
                break
            first = found[0] == {0} or found[1] == {1}  # the side of the first successor is the taken one
            for successor, to in enumerate(graph.successors[block]):
                edge = edges[block, len(graph.blocks) if to == sass.OUTSIDE else to]
                add_terms(of[(successor == 0) != first], flow.get(edge, {}))
        else:
            rows += [Row(dict(terms), count, WEIGHTS.get("ctl", 1.0), False) for terms, count in zip(of, ways[line])]
    return rows


def exact_rows(graph, terms, entry_count):
    """Returns rows (terms, value, weight): the entry executes once per kernel start, a callee as often as its call
    sites."""
    rows = [(terms[0], entry_count, EXACT_WEIGHT)]
    for callee, sites in graph.calls.items():
        of = collections.defaultdict(float)
        add_terms(of, terms[callee])
        for at in sites:
            add_terms(of, terms[graph.block_of[at]], -1.0)
        rows.append((dict(of), 0, EXACT_WEIGHT))
    return rows


# -- Minimum ------------------------------------------------------------------------------------------------


def value(terms, x):
    return sum(v * x[unknown] for unknown, v in terms.items())


def solve_normal(matrix, right):
    """Solves a positive definite system by Gaussian elimination; `matrix` holds its upper triangle."""
    n = len(right)
    for a in range(n):
        row = matrix[a]
        pivot = row[a]
        filled = [k for k in range(a + 1, n) if row[k]]
        for at, z in enumerate(filled):
            factor = row[z] / pivot
            to = matrix[z]
            for k in filled[at:]:
                to[k] -= factor * row[k]
            right[z] -= factor * right[a]
    x = [0.0] * n
    for a in range(n - 1, -1, -1):
        row = matrix[a]
        x[a] = (right[a] - sum(row[k] * x[k] for k in range(a + 1, n) if row[k])) / row[a]
    return x


def reweighted(row, x, scale, smallest):
    """Returns the weight with which a squared deviation costs as much as the absolute one."""
    deviation = value(row.terms, x) - row.count
    weight = row.weight / max(abs(deviation) / scale, smallest)
    return weight * 0.05 if row.at_least and deviation > 0 else weight


def least_deviations(rows, exact, bounds, cost, n, scale):
    """Minimizes the sum of the rows' weighted absolute deviations plus `cost`, with non-negative `bounds`."""
    x, held = [0.0] * n, set()
    for turn in range(ITERATIONS):
        if turn:  # the penalty leaves a held flow slightly below 0, or above 0 if it need not be held
            held = {k for k, of in enumerate(bounds) if value(of, x) < (1e-9 if k in held else -1e-7) * scale}
        matrix, right = [[0.0] * n for _ in range(n)], [-cost.get(k, 0.0) for k in range(n)]
        smallest = max(1e-4, 0.3 * 0.6**turn)  # a large bound at first keeps rows from being fixed too early
        weighted = [(row.terms, row.count, reweighted(row, x, scale, smallest) if turn else row.weight) for row in rows]
        for terms, count, weight in weighted + exact + [(bounds[k], 0.0, HELD_WEIGHT) for k in held]:
            items = sorted(terms.items())
            for at, (j, v) in enumerate(items):
                right[j] += weight * v * count
                to = matrix[j]
                for k, w in items[at:]:
                    to[k] += weight * v * w
        for k in range(n):
            matrix[k][k] += 1e-6
        before, x = x, solve_normal(matrix, right)
        if turn > 15 and max((abs(a - b) for a, b in zip(before, x)), default=0) < 1e-5 * scale:
            break
    return x


def fit_of(rows, x):
    missed = total = 0.0
    for row in rows:
        deviation = value(row.terms, x) - row.count
        total += row.weight * max(row.count, 1e-9)
        if not (row.at_least and deviation > 0):
            missed += row.weight * min(abs(deviation), row.count or abs(deviation))
    return 1 - missed / total if total else 0.0


def frequencies(function, counts, ways, started, text):
    """Returns (graph, frequency of each block, fit), or None."""
    graph = sass.Graph(function)
    nblocks = len(graph.blocks)
    edges = edges_of(graph)
    flow, n = circulation(edges, nblocks + 1)
    if n > MAX_UNKNOWNS:
        return None
    terms = block_terms(edges, flow, nblocks)
    number = {edge: at for at, edge in enumerate(edges)}
    rows = vote_rows(graph, function.code, counts, terms, text)
    rows += branch_rows(graph, function.code, ways, number, flow, text)
    scale = max(1.0, *counts.values())
    cost = collections.defaultdict(float)
    for (first, end), of in zip(graph.blocks, terms):
        add_terms(cost, of, (end - first) * INSN_COST * scale / len(function.code))
    bounds = [flow[edge] for edge in range(len(edges)) if flow.get(edge)]
    x = least_deviations(rows, exact_rows(graph, terms, started), bounds, cost, n, scale)
    return graph, [max(0.0, value(of, x)) for of in terms], fit_of(rows, x)


# -- Files --------------------------------------------------------------------------------------------------


def without_loc(text):
    """Returns the text with empty lines for .loc and .file, so that ptxas -lineinfo refers to lines of the text
    itself."""
    return "\n".join("" if re.match(r"\s*\.(loc|file)\b", line) else line for line in text.split("\n"))


def assemble(ptxas, flags, ptx, cubin):
    done = subprocess.run([ptxas, "-lineinfo", *flags, ptx, "-o", cubin], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    with open(cubin, "rb") as data:
        return data.read()


def report(level, function, counts, ways, started, text, blocks):
    found = frequencies(function, counts, ways, started, text)
    columns = [level, function.name, len(function.code), "-", "-", function.regs, sum(counts.values())]
    if found:
        graph, frequency, fit = found
        executed = sum((end - first) * f for (first, end), f in zip(graph.blocks, frequency))
        columns[3:5] = round(executed), "%.3f" % fit
    print(*columns)
    if found and blocks:
        for (first, end), f in zip(graph.blocks, frequency):
            print("    %4d..%-4d %.0f" % (first, end - 1, f))


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description="Estimates how many SASS instructions kernels execute.")
    parser.add_argument("-O", dest="levels", default="3", help="levels of ptxas, with commas between (default 3)")
    parser.add_argument("-arch", default="sm_80", help="target of ptxas (default sm_80)")
    parser.add_argument("--orirun", default=os.path.join(root, "build", "orirun"))
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--blocks", action="store_true", help="print the frequency of each block, too")
    parser.add_argument("run")
    parser.add_argument("ptx")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open(args.ptx) as source:
        ptx, cubin, text = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin"), without_loc(source.read())
        with open(ptx, "w") as copy:
            copy.write(text)
        try:
            counts, ways, starts = count_lines(args.orirun, args.run, ptx)
            for level in args.levels.split(","):
                data = assemble(args.ptxas, ["-O" + level, "-arch=" + args.arch], ptx, cubin)
                for function in sass.read_functions(data):
                    of = counts.get(function.name)
                    if of and any(of.values()):
                        report(level, function, of, ways[function.name], starts[function.name], text.split("\n"),
                               args.blocks)
        except (OSError, RuntimeError) as error:
            sys.exit("executed.py: %s: %s" % (args.ptx, error))


if __name__ == "__main__":
    main()
