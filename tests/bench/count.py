#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the host instructions of oriopt for each PTX instruction that it reads (i/i), by callgrind.

    tests/bench/count.py [--update] [--llvm] [INPUT...]

Prints for each input the whole run, reading, writing, each phase and each analysis, and the builds of analyses for each
function. A phase includes the analyses that it requests, and its sub-passes. Compares the figures with the caps in
tests/bench/counts.txt: exit status 1 if a figure is above its cap. The caps are valid for one compiler, one libc, and
for generated inputs one LLVM; with others the comparison is skipped. --update writes the file, with caps 2 % above the
figures. --llvm also counts `opt -O2` less an empty pipeline.

Environment: ORIOPT, a program with symbols. Run by `make bench-count`.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CAPS = os.path.join(HERE, "counts.txt")
MARGIN = 1.02
SKIP_MAX = 50  # instructions of a skipped row in a function
MODULE = ["module", "600", "60", "77"]

TINY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""

# Name, description, source: PTX, the path of a sample, or the tools that make the PTX from the generated module.
INPUTS = {
    "tiny": ("a kernel of five instructions, in M instructions for the whole run", TINY),
    "naive": ("600 naive kernels, clang -O0, llc -O0", ("", "-O0")),
    "mem2reg": ("the same after mem2reg", ("-mem2reg", "-O0")),
    "llvm-O2": ("the same after opt -O2, llc -O2", ("-O2", "-O2")),
    "nvcc-O0": ("dmath, nvcc -Xcicc -O0", "samples/ptx/dmath.O0.ptx"),
    "nvcc-O3": ("dmath, nvcc -O3", "samples/ptx/dmath.sm_80.ptx"),
}

# Analyses by the functions that compute them.
ANALYSES = {
    "def": ["def_build", "def_build_part"],
    "rdefs": ["rdefs_build", "rdefs_of_part"],
    "pointers": ["compute_pointers"],
    "defuse": ["defuse_build"],
    "live": ["live_build"],
    "dom": ["dom_build"],
    "pdom": ["pdom_build"],
    "loops": ["loops_build"],
}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def first_line(*command):
    return run(*command).splitlines()[0].strip()


def tools():
    """Returns the versions that the counts depend on."""
    versions = {"compiler": first_line(os.environ.get("CC", "cc"), "--version")}
    versions["libc"] = first_line("ldd", "--version")
    versions["machine"] = os.uname().machine
    llvm = [shutil.which(tool) for tool in ("clang", "opt-14", "llc-14")]
    versions["llvm"] = first_line(llvm[0], "--version") if all(llvm) else "none"
    return versions


# -- Callgrind -------------------------------------------------------------------------------------------------------


class Profile:
    """The self costs of functions, and the number and inclusive cost of calls."""

    def __init__(self, path):
        names = {}
        self.own = collections.Counter()
        self.calls = collections.Counter()
        self.inclusive = collections.Counter()
        reference = re.compile(r"(c?fn)=\((\d+)\)(?: (.*))?")
        function = callee = calls = None
        with open(path) as lines:
            for line in lines:
                match = reference.match(line)
                if match:
                    kind, number, name = match.groups()
                    if name:
                        names[number] = name.strip()
                    if kind == "fn":
                        function = names[number]
                    else:
                        callee = names[number]
                elif line.startswith("calls="):
                    calls = int(line[6:].split()[0])
                elif line[0].isdigit() or line[0] in "+-*":
                    cost = int(line.split()[1])
                    self.inclusive[function] += cost
                    if calls is None:
                        self.own[function] += cost
                    else:
                        self.calls[callee] += calls
                        calls = None
        self.total = sum(self.own.values())


def callgrind(command, folder, name):
    out = os.path.join(folder, name + ".callgrind")
    run("valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, *command)
    return Profile(out)


# -- Inputs ----------------------------------------------------------------------------------------------------------


def make_inputs(folder, names):
    """Returns the path of each input; generated ones are missing if LLVM is."""
    paths, generated = {}, []
    for name in names:
        source = INPUTS[name][1]
        if source == TINY:
            paths[name] = os.path.join(folder, "tiny.ptx")
            with open(paths[name], "w") as out:
                out.write(TINY)
        elif isinstance(source, str):
            paths[name] = os.path.join(ROOT, source)
        else:
            generated.append(name)
    if not generated or tools()["llvm"] == "none":
        return paths
    source, naive = os.path.join(folder, "m.cl"), os.path.join(folder, "m.ll")
    with open(source, "w") as out:
        out.write(run(sys.executable, os.path.join(HERE, "gen_cl.py"), *MODULE))
    flags = "-x cl -cl-std=CL2.0 -target nvptx64 -O0 -Xclang -disable-O0-optnone -S -emit-llvm"
    run("clang", *flags.split(), source, "-o", naive)
    for name in generated:
        passes, level = INPUTS[name][1]
        code, paths[name] = os.path.join(folder, name + ".ll"), os.path.join(folder, name + ".ptx")
        run("opt-14", "-S", *([passes] if passes else []), naive, "-o", code)
        run("llc-14", level, "-mcpu=sm_70", code, "-o", paths[name])
    return paths


# -- Figures ---------------------------------------------------------------------------------------------------------


def printed_json(oriopt, option, path):
    done = subprocess.run([oriopt, option, "--emit=none", path], check=True, capture_output=True, text=True)
    return json.loads(done.stderr)


def statistics(oriopt, path):
    """Returns the number of functions and of instructions read, and the rows with their numbers of runs and skips.

    Functions that are removed, as those that were inlined into all callers, count as well."""
    times = printed_json(oriopt, "--time-phases=json", path)["phases"]
    counts = subprocess.run(["awk", "-f", os.path.join(HERE, "ptx.awk"), path], check=True, capture_output=True, text=True)
    read = [int(line.split()[2]) for line in counts.stdout.splitlines()]
    return len(read), sum(read), {row["index"]: row for row in times}


def skipped_rows_cost(oriopt, path, folder, profile, functions, rows):
    """Returns the instructions of a skipped row in a function: the difference that disabling such rows makes."""
    promotes = 160  # disabling this row turns off phase 37
    names = [str(row) for row, info in rows.items() if info["skipped"] and not info["runs"] and row != promotes]
    skips = sum(rows[int(name)]["skipped"] for name in names)
    if not names:
        return None
    without = callgrind([oriopt, "--disable-phases=" + ",".join(names), path, "-o", os.devnull], folder, "without")
    return max(profile.total - without.total, 0) / skips


def figures(oriopt, name, path, folder):
    """Returns the figures of an input, in the order of the report."""
    profile = callgrind([oriopt, path, "-o", os.devnull], folder, name)
    if name == "tiny":
        return {"whole run": profile.total / 1e6}
    functions, instructions, rows = statistics(oriopt, path)
    found = {"whole run": profile.total / instructions}
    found["reading"] = profile.inclusive["lang_more"] / instructions
    found["writing"] = profile.inclusive["lang_write_item"] / instructions
    for row in sorted(rows):
        cost = profile.inclusive["execute_%d" % row] / instructions
        if cost >= 10:
            found["%d %s" % (row, rows[row]["name"])] = cost
    for analysis, builders in ANALYSES.items():
        cost = sum(profile.inclusive[builder] for builder in builders[:1]) / instructions
        if cost >= 10:
            found["AN_%s" % analysis.upper()] = cost
    for analysis in ("rdefs", "pointers"):
        # In ssa form rdefs_build() has nothing to compute. rdefs_of_part() computes a part.
        builds = profile.calls["compute_limited" if analysis == "rdefs" else "compute_pointers"]
        found["builds of AN_%s for each function" % analysis.upper()] = builds / functions
    if name == "llvm-O2":
        skip = skipped_rows_cost(oriopt, path, folder, profile, functions, rows)
        if skip is not None:
            found["a skipped row in a function"] = skip
    return found


# -- Caps ------------------------------------------------------------------------------------------------------------


def read_caps():
    """Returns the versions and the caps of the file."""
    versions, caps = {}, collections.defaultdict(dict)
    if not os.path.exists(CAPS):
        return versions, caps
    with open(CAPS) as lines:
        for line in lines:
            words = line.split(None, 2)
            if line.startswith("# ") and words[1].endswith(":"):
                versions[words[1][:-1]] = words[2].strip()
            elif words and line[0] != "#":
                caps[words[0]][words[2].strip()] = float(words[1])
    return versions, caps


def write_caps(versions, found):
    with open(CAPS, "w") as out:
        out.write("# Caps of tests/bench/count.py: input, host instructions for each instruction read, item.\n")
        out.write("# A cap is raised only with a reason in the commit.\n")
        for name, version in versions.items():
            out.write("# %s: %s\n" % (name, version))
        for name, items in found.items():
            out.write("\n")
            for item, value in items.items():
                cap = SKIP_MAX if item.startswith("a skipped row") else value * MARGIN
                out.write("%-8s %9s %s\n" % (name, "%.2f" % cap if cap < 10 else "%.0f" % (cap + 0.5), item))


def compare(name, items, versions, caps, here):
    """Prints the figures of an input; returns the numbers of figures within and above their caps."""
    generated = not isinstance(INPUTS[name][1], str)
    depends = ["compiler", "libc", "machine"] + (["llvm"] if generated else [])
    other = [tool for tool in depends if versions.get(tool) != here[tool]]
    print("\n%s: %s" % (name, INPUTS[name][0]))
    good = bad = 0
    for item, value in items.items():
        cap = caps[name].get(item)
        above = cap is not None and value > cap and not other
        good += cap is not None and not above and not other
        bad += above
        print("%s%10.*f  %s%s" % ("FAIL " if above else "     ", 2 if value < 10 else 0, value, item,
                                  "" if cap is None else " (cap %g)" % cap))
    if other:
        print("SKIP %s: the caps are those of %s" % (name, ", ".join("%s %s" % (t, versions.get(t)) for t in other)))
    return good, bad, bool(other)


def count_llvm(folder):
    """Prints the instructions of opt -O2 less those of opt without passes."""
    code = os.path.join(folder, "mem2reg.ll")
    full = callgrind(["opt-14", "-O2", code, "-o", os.devnull], folder, "opt").total
    empty = callgrind(["opt-14", "--passes=verify", code, "-o", os.devnull], folder, "empty").total
    print("\nopt -O2 on mem2reg: %.0f M instructions, %.0f M of them without passes" % (full / 1e6, empty / 1e6))
    return full - empty


def main(args):
    oriopt = os.environ.get("ORIOPT", os.path.join(ROOT, "build", "oriopt"))
    names = [arg for arg in args if arg in INPUTS] or list(INPUTS)
    if any(arg not in INPUTS and arg not in ("--update", "--llvm") for arg in args):
        sys.stderr.write(__doc__)
        return 2
    if not shutil.which("valgrind"):
        print("SKIP bench-count: valgrind is not here\n0 passed, 0 failed, 1 skipped")
        return 0
    here = tools()
    versions, caps = read_caps()
    with tempfile.TemporaryDirectory() as folder:
        paths = make_inputs(folder, names)
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            jobs = {name: pool.submit(figures, oriopt, name, paths[name], folder) for name in names if name in paths}
            found = {name: job.result() for name, job in jobs.items()}
        if "--update" in args:
            write_caps(here, found)
            versions, caps = read_caps()
        results = [compare(name, items, versions, caps, here) for name, items in found.items()]
        for name in names:
            if name not in paths:
                print("SKIP %s: LLVM 14 is not here" % name)
        if "--llvm" in args:
            count_llvm(folder)
    good, bad = sum(r[0] for r in results), sum(r[1] for r in results)
    skipped = sum(r[2] for r in results) + len(names) - len(paths)
    print("%d passed, %d failed, %d skipped" % (good, bad, skipped))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
