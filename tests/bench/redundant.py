#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts instructions of ssa form that repeat an earlier one, by a simple algorithm that shares nothing with oriopt.

    tests/bench/redundant.py [--oriopt PATH] [--list] [--most N] [--most-loads N] [--total] [INPUT...] [-- OPTIONS...]

Each INPUT is PTX, Ori text, or the name of a set: `families` (naive PTX of gen_cl.py, seed 1; `families:7`: seed 7),
`nvcc-O0` or `nvcc-O3` (samples/ptx); the default is all three sets. oriopt runs with the OPTIONS up to slot 65 and
writes Ori text, which is the subject of the count:

pure        Instructions whose value depends on the operands only, but not moves, loads, cvta and special registers.
            Such an instruction is redundant if an equal one is above it in its block or in a dominator: same opcode,
            type, guard, operands and old values. Signs that the opcode ignores and the order of the operands of a
            commutative opcode make no difference.
loads       Loads that are not volatile, relaxed or acquire. A load is redundant if on each path to it the same bytes
            were loaded or stored, in pieces of the same width, and nothing between may write them or orders memory. An
            instruction orders memory unless HARMLESS lists it. Two accesses are disjoint if their spaces are, if they
            have the same base and disjoint offsets, or if their bases are two variables.

A redundant pure instruction is exempt if a remark `Pressure` is about its line, or, without line, about its function:
each remark exempts one. --list prints the redundant instructions with function and line of the Ori text; --most and
--most-loads set limits: exit status 1 if a set has more. --total prints one row for all inputs.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETS = {"nvcc-O0": "samples/ptx/*.O0.ptx", "nvcc-O3": "samples/ptx/*.sm_80.ptx"}

PURE = set(
    "abs add and bfe bfi bfind bmsk brev clz cnot copysign cos cvt cvt.pack div dp2a.hi dp2a.lo dp4a ex2 fma fns "
    "getctarank isspacep lg2 lop3 mad mad.hi mad.lo mad.wide mad24.hi mad24.lo mapa max min mul mul.hi mul.lo mul.wide "
    "mul24.hi mul24.lo neg not or popc prmt rcp rem rsqrt sad selp set setp shf.l shf.r shl shr sin slct sqrt sub szext "
    "tanh testp xor".split())
HARMLESS = PURE | set(
    "mov mov.phi mov.undef cvta cvta.to ld bra brx.idx ret exit add.cc addc addc.cc sub.cc subc subc.cc mad.lo.cc "
    "mad.hi.cc madc.lo madc.hi madc.lo.cc madc.hi.cc shfl.sync vote vote.sync activemask match.any.sync match.all.sync "
    "redux.sync tex tld4 txq suq prefetch prefetchu nanosleep mma.sync wmma.mma movmatrix.sync ldmatrix.sync wmma.load "
    "createpolicy".split())
COMMUTATIVE = {"add", "mul", "mul.lo", "mul.hi", "mul.wide", "mul24.lo", "mul24.hi", "and", "or", "xor", "min", "max",
               "mad", "mad.lo", "mad.hi", "mad.wide", "mad24.lo", "mad24.hi", "fma"}
SIGNLESS = {"add", "sub", "mul.lo", "mad.lo", "and", "or", "xor", "not", "shl", "selp", "neg", "popc", "clz", "brev"}
NAMES = sorted(HARMLESS, key=len, reverse=True)
SPACES = ("global", "shared", "local", "param", "const")
REGISTER = re.compile(r"\b(?:U?[RP]|CC)\d+\b")
VOLATILE = re.compile(r"\.(?:volatile|relaxed|acquire|mmio)\b")

Instr = collections.namedtuple("Instr", "line text guard defs name mods operands old")
Access = collections.namedtuple("Access", "space base offset pieces")  # pieces: offsets, and the width of each


class Function:
    def __init__(self, name, kernel):
        self.name, self.kernel = name, kernel
        self.blocks, self.preds, self.order = {}, {}, []
        self.temporaries = set()  # .param variables of calls
        self.externs = set()  # .extern .shared variables of the module, which are one memory


# -- Reading Ori text -------------------------------------------------------------------------------------------------


def split(text):
    """Splits at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def opcode(mnemonic):
    """Splits a mnemonic into the name and its modifiers."""
    for name in NAMES:
        if mnemonic == name or mnemonic.startswith(name + "."):
            return name, mnemonic[len(name):].split(".")[1:]
    name = mnemonic.split(".")[0]
    return name, mnemonic.split(".")[1:]


def instruction(line, text):
    rest = re.sub(r"\s+(?:!\d+(?::\d+)*|#\d+|\{(?:prop|defer|under|implicit|pinned)\})", "", text.strip())
    guard = defs = old = ""
    if rest.startswith("@"):
        guard, rest = rest.split(" ", 1)
    match = re.match(r"([^=\"]*?) = (.*)", rest)
    if match:
        defs, rest = match.groups()
    match = re.match(r"(.*) else (.*)", rest)
    if match:
        rest, old = match.groups()
    mnemonic, _, operands = rest.partition(" ")
    name, mods = opcode(mnemonic)
    return Instr(line, text.strip(), guard, defs, name, mods, split(operands), old)


def read(text):
    """Returns the functions of an Ori text."""
    functions, f, block, externs = [], None, None, set()
    for number, line in enumerate(text.split("\n"), 1):
        code, _, comment = line.partition(" ; ") if '"' not in line else (line, "", line.partition("; ")[2])
        head = re.match(r"(kernel|device) @(\S+?)[ (]", line)
        label = re.match(r'(b\d+|"[^"]*")(?: \{source \d+\})?:', line)
        if line.startswith("shared @") and " extern" in line:
            externs.add("@" + re.match(r"shared @([^\s:]+)", line).group(1))
        elif head and line.endswith("{"):
            f = Function(head.group(2), head.group(1) == "kernel")
            f.externs = externs
            functions.append(f)
            block = None
        elif line.startswith("}"):
            f = None
        elif f and label:
            block = label.group(1)
            f.blocks[block] = []
            f.order.append(block)
            f.preds[block] = re.findall(r'b\d+|"[^"]*"', line.partition("; preds")[2])
        elif f and block is None and re.match(r"\s+param @", line):
            f.temporaries.add(re.search(r"@([^\s:]+)", line).group(1))
        elif f and block is not None and line.strip() and not line.lstrip().startswith(";"):
            f.blocks[block].append(instruction(number, re.sub(r"\s+;.*", "", line) if '"' not in line else line))
    return functions


def definitions(f):
    """Returns the number of definitions of each register; one that an opaque instruction names has more than one."""
    count = collections.Counter()
    for b in f.order:
        for i in f.blocks[b]:
            count.update(re.findall(r"\bU?[RP]\d+|\bCC\d+", i.defs))
            if "opaque" in i.text:
                count.update(2 * re.findall(r"!+(U?[RP]\d+)", i.text))
    return count


def dominators(f):
    """Returns the set of dominators of each block; None: it is unreachable."""
    dom = {b: None for b in f.order}
    dom[f.order[0]] = {f.order[0]}
    changed = True
    while changed:
        changed = False
        for b in f.order[1:]:
            sets = [dom[p] for p in f.preds[b] if dom.get(p) is not None]
            new = set.intersection(*sets) | {b} if sets else None
            if new != dom[b]:
                dom[b] = new
                changed = True
    return dom


# -- Pure instructions ------------------------------------------------------------------------------------------------


def key(i):
    mods, operands = list(i.mods), list(i.operands)
    if i.name in SIGNLESS or (i.name in ("setp", "set") and mods[0] in ("eq", "ne")):
        mods = [re.sub(r"^[us](8|16|32|64)$", r"b\1", m) for m in mods]
    if i.name == "selp":
        mods = [re.sub(r"^f(16|32|64)$", r"b\1", m) for m in mods]
    if i.name in COMMUTATIVE or (i.name == "setp" and mods[0] in ("eq", "ne")):
        operands[:2] = sorted(operands[:2])
    return (i.guard, i.name, tuple(mods), tuple(operands), i.old)


def is_pure(i, count):
    """True for a pure instruction whose registers have one definition each."""
    registers = REGISTER.findall(" ".join(i.operands) + i.guard + i.old + re.sub(r":\d+", "", i.defs))
    special = any("%" in o for o in i.operands)
    return i.name in PURE and not special and all(count[r] <= 1 for r in registers) and "CC" not in i.text


def redundant_pure(f, dom, count):
    """Returns the number of pure instructions, and the redundant ones with the earlier one."""
    n, found = 0, []
    places = collections.defaultdict(list)
    for b in f.order:
        for at, i in enumerate(f.blocks[b]):
            if is_pure(i, count):
                n += 1
                places[key(i)].append((b, at, i))
    for equal in places.values():
        for b, at, i in equal:
            for other, before, leader in equal:
                above = other == b and before < at
                if dom[b] is not None and (above or (other != b and other in dom[b])):
                    found.append((i, leader))
                    break
    return n, found


# -- Loads ------------------------------------------------------------------------------------------------------------


def access(i):
    """Returns the access of a load or store; None if it is not a plain one."""
    space = next((m for m in i.mods if m in SPACES), "generic")
    address = next((o for o in i.operands if o.startswith("[")), None)
    match = re.match(r"^\[(@[^\]+-]+|U?R\d+|(?=-?\d))((?:[+-]|(?<=\[))-?\d+)?\]$", address or "")
    width = re.match(r"^[a-z]+?(\d+)(?:x2)?$", i.mods[-1]) if i.mods else None
    if not match or not width:
        return None
    size = int(width.group(1)) // 8 * (2 if i.mods[-1].endswith("x2") else 1)
    n = next((int(m[1:]) for m in i.mods if re.match(r"^v[248]$", m)), 1)
    start = int(match.group(2) or 0)
    return Access(space, match.group(1) or "", start, tuple((start + k * size, size) for k in range(n)))


def facts(i, a):
    return {(a.space, a.base, at, size, i.guard) for at, size in a.pieces}


def read_only(i, f, a):
    return a.space == "const" or "nc" in i.mods or (a.space == "param" and f.kernel)


def spaces_meet(a, b):
    return a == b or "generic" in (a, b) and "param" not in (a, b) and "const" not in (a, b)


def may_write(f, a, fact):
    """True if a store may write the bytes of a fact."""
    space, base, at, size, _ = fact
    if not spaces_meet(a.space, space):
        return False
    if a.base == base:
        return any(at < end + width and end < at + size for end, width in a.pieces)
    variables = a.base.startswith("@") and base.startswith("@") and a.space == space
    return not variables or (a.base in f.externs and base in f.externs)


def candidate(i, f, a):
    temporary = a and a.space == "param" and (not f.kernel or a.base[1:] in f.temporaries)
    return a and not VOLATILE.search("." + ".".join(i.mods)) and not temporary


def step(i, f, have, constant):
    """Updates the facts that hold behind an instruction."""
    defined = set(REGISTER.findall(re.sub(r":\d+", "", i.defs)))
    have -= {fact for fact in have if fact[1] in defined}
    if i.name == "ld":
        a = access(i)
        if VOLATILE.search("." + ".".join(i.mods)):
            have.intersection_update(constant)
        elif candidate(i, f, a):
            have |= facts(i, a)
    elif i.name == "st" and not VOLATILE.search("." + ".".join(i.mods)) and access(i):
        a = access(i)
        if a.space != "param":
            have -= {fact for fact in have if fact not in constant and may_write(f, a, fact)}
            have |= facts(i, a)
    elif i.name not in HARMLESS or "release" in i.mods:
        have.intersection_update(constant)


def redundant_loads(f, dom):
    """Returns the number of loads, and the redundant ones."""
    constant, every = set(), set()
    for b in f.order:
        for i in f.blocks[b]:
            a = access(i) if i.name in ("ld", "st") else None
            if a:
                every |= facts(i, a)
                if i.name == "ld" and read_only(i, f, a):
                    constant |= facts(i, a)
    out = {b: set(every) for b in f.order}

    def start(b):
        preds = [p for p in f.preds[b] if dom.get(p) is not None]
        return set.intersection(*(out[p] for p in preds)) if preds and b != f.order[0] else set()

    changed = True
    while changed:
        changed = False
        for b in f.order:
            have = start(b)
            for i in f.blocks[b]:
                step(i, f, have, constant)
            if have != out[b]:
                out[b] = have
                changed = True
    n, found = 0, []
    for b in f.order:
        if dom[b] is None:
            continue
        have = start(b)
        for i in f.blocks[b]:
            a = access(i) if i.name == "ld" else None
            if candidate(i, f, a):
                n += 1
                plain = {fact[:4] for fact in have if fact[4] in ("", i.guard)}
                if {fact[:4] for fact in facts(i, a)} <= plain:
                    found.append((i, None))
            step(i, f, have, constant)
    return n, found


# -- Remarks and inputs -----------------------------------------------------------------------------------------------


def pressure(yaml):
    """Returns the number of Pressure remarks for each (function, line); the line is 0 if it is unknown."""
    count = collections.Counter()
    for remark in yaml.split("--- !")[1:]:
        if re.search(r"^Name:\s+Pressure$", remark, re.M):
            line = re.search(r"Line: (\d+)", remark)
            name = re.search(r"^Function:\s+'?([^'\n]*)", remark, re.M).group(1)
            count[name, int(line.group(1)) if line else 0] += 1
    return count


def exempt(f, found, remarks):
    """Removes the instructions that Pressure remarks name."""
    left = []
    for i, leader in found:
        position = re.search(r"!\d+:(\d+)", i.text)
        at = (f.name, int(position.group(1)) if position else 0)
        if remarks[at] > 0:
            remarks[at] -= 1
        else:
            left.append((i, leader))
    return left


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("redundant.py: exit status %d: %s\n%s" % (done.returncode, " ".join(command), done.stderr[:300]))
    return done.stdout


def family_files(seed, folder):
    """Makes the naive PTX of the families."""
    bench = os.path.dirname(os.path.abspath(__file__))
    clang, llc = os.environ.get("CLANG", "clang"), os.environ.get("LLC", "llc-14")
    for family in run(sys.executable, bench + "/gen_cl.py", "--list").split():
        at = os.path.join(folder, family)
        with open(at + ".cl", "w") as out:
            out.write(run(sys.executable, bench + "/gen_cl.py", family, "1000", seed))
        run(clang, "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-cuda", "-O0", "-Xclang",
            "-disable-O0-optnone", "-S", "-emit-llvm", "-o", at + ".ll", at + ".cl")
        run(llc, "-O0", "-march=nvptx64", "-mcpu=sm_80", "-o", at + ".ptx", at + ".ll")
        yield at + ".ptx"


def files_of(name, folder):
    if name in SETS:
        return sorted(glob.glob(os.path.join(ROOT, SETS[name])))
    if name.split(":")[0] == "families":
        return list(family_files((name + ":1").split(":")[1], folder))
    return [name]


def count_file(args, path, folder):
    """Returns the counts of a file, and prints its redundant instructions."""
    ori, yaml = os.path.join(folder, "out.ori"), os.path.join(folder, "remarks.yaml")
    run(args.oriopt, "--stop-after=65", "--emit=ori", *args.options, "--remarks=" + yaml, "-o", ori, path)
    with open(ori) as text, open(yaml) as remarks:
        functions, remarks = read(text.read()), pressure(remarks.read())
    sums = collections.Counter()
    for f in functions:
        dom, count = dominators(f), definitions(f)
        n, all_found = redundant_pure(f, dom, count)
        found = exempt(f, all_found, remarks)
        loads, found_loads = redundant_loads(f, dom)
        sums.update(pure=n, redundant=len(found), exempt=len(all_found) - len(found), loads=loads,
                    redundant_loads=len(found_loads))
        for i, leader in (found + found_loads) if args.list else []:
            where = "%s: %s: %d" % (os.path.basename(path), f.name, i.line)
            print("%s: %s%s" % (where, i.text, "   ; as line %d" % leader.line if leader else ""))
    return sums


def main():
    argv, options = sys.argv[1:], []
    if "--" in argv:
        argv, options = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    parser = argparse.ArgumentParser(description="Counts redundant instructions behind slot 65.")
    parser.add_argument("--oriopt", default=os.environ.get("ORIOPT", os.path.join(ROOT, "build", "oriopt")))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--most", type=int)
    parser.add_argument("--most-loads", type=int)
    parser.add_argument("--total", action="store_true")
    parser.add_argument("inputs", nargs="*", default=["families", "nvcc-O0", "nvcc-O3"])
    args = parser.parse_args(argv)
    args.options, rows, failed = options, [], False
    with tempfile.TemporaryDirectory() as folder:
        for name in args.inputs:
            sums = collections.Counter()
            for path in files_of(name, folder):
                sums.update(count_file(args, path, folder))
            rows.append((os.path.basename(name), sums))
    if args.total:
        rows = [("total", sum((sums for _, sums in rows), collections.Counter()))]
    print("%-24s %8s %10s %8s %8s %10s" % ("", "pure", "redundant", "exempt", "loads", "redundant"))
    for name, sums in rows:
        columns = [sums[k] for k in ("pure", "redundant", "exempt", "loads", "redundant_loads")]
        print("%-24s %8d %10d %8d %8d %10d" % (name, *columns))
        failed |= args.most is not None and sums["redundant"] > args.most
        failed |= args.most_loads is not None and sums["redundant_loads"] > args.most_loads
    return failed


if __name__ == "__main__":
    sys.exit(main())
