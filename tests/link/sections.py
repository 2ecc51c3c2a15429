#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what nvlink makes of rewritten files with what it makes of the originals.

    sections.py FOLDER REFERENCE INPUTS...

FOLDER has the rewritten INPUTS, and their link `linked`. For each function of `linked`, compares with REFERENCE: code,
constants, shared memory, relocations, records, callgraph, prototypes, unwind data and debug information; for each
variable, its size, content and relocations. A field with the place of a constant may differ by as much as its symbol
does; relocations of the INPUTS tell the fields. Prints the functions that only REFERENCE has as `only: NAMES`.

In rewritten cubins, symbols do not overlap and lie in their sections, and .debug_frame has one entry for each function
with code, which names a common entry with the content that the function's entry in the original names.

Prints differences; exit status 1 if there are any. Compressed cubins are not read.
"""
import os
import sys

from cubin import CONSTANT_FIELDS, MIN_STACK_SIZE, SHARED, WEAK, Cubin, cubins


def load(path):
    with open(path, "rb") as f:
        return Cubin(f.read())


# -- A rewritten cubin -----------------------------------------------------------------------------------------------

def check_symbols(c):
    variables = []
    for s in c.symbols:
        if s.other == 0x40 or not 0 < s.section < len(c.sections):
            continue  # ptxas gives shared variables places behind their sections
        if s.value + s.size > c.sections[s.section].size:
            yield "%s ends behind %s" % (s.name, c.sections[s.section].name)
        if s.type == 13 and s.size:
            variables.append((s.section, s.value, s.value + s.size, s.name))
    variables.sort()
    for one, two in zip(variables, variables[1:]):
        if one[0] == two[0] and one[2] > two[1]:
            yield "%s and %s overlap" % (one[3], two[3])


def frames_by_function(c, by_offset):
    """Returns the unwind data by function: its entries, each with the common one, without offsets.

    ptxas makes wrong offsets of common entries for sm_90, which nvlink leaves. If not `by_offset`, the entry before
    that of a function is taken for the common one.
    """
    found, frames = {}, c.frames()
    common = {at: entry for at, entry, _, of in frames if of is None}
    for k, (_, entry, name, of) in enumerate(frames):
        if of is not None and name is not None:
            before = frames[k - 1][1] if k and frames[k - 1][3] is None else None
            found.setdefault(name, []).append((entry[:12] + entry[20:], common.get(of) if by_offset else before))
    return found


def check_frames(c, originals):
    """Checks the unwind data of a rewritten cubin."""
    if any(c.data == o.data for o in originals):
        return
    found = frames_by_function(c, True)
    names = set(c.functions())
    for name in sorted(names ^ set(found)):
        yield "unwind data of %s, which has no code" % name if name in found else "no unwind data of " + name
    known = [frames_by_function(o, o.sm < 90) for o in originals]
    for name in sorted(names & set(found)):
        entries = [frames[name] for frames in known if name in frames]
        if len(found[name]) != 1:
            yield "%d entries of unwind data of %s" % (len(found[name]), name)
        elif entries and found[name] not in entries:
            yield "unwind data of %s has another common entry" % name


# -- Linked cubins ---------------------------------------------------------------------------------------------------

def compare_code(name, ours, reference, inputs):
    """Compares code, in which only the fields of constants may differ."""
    code, other = (c.section(".text." + name).bytes for c in (ours, reference))
    if code == other:
        return
    if len(code) != len(other):
        yield "size"
        return
    places = [{v.name: v.value for v in c.variables()} for c in (ours, reference)]
    for c in inputs:
        s = c.named(".text.").get(name)
        if not s or len(s.bytes) != len(code):
            continue
        a, b, wrong = bytearray(code), bytearray(other), []
        for offset, kind, symbol, _ in s.relocs:
            variable = c.symbols[symbol].name
            if kind not in CONSTANT_FIELDS or variable not in places[0] or variable not in places[1]:
                continue
            first, bits, unit = CONSTANT_FIELDS[kind]
            mask = ((1 << bits) - 1) << first
            distances = []  # from the start of the variable
            for text, place in ((a, places[0]), (b, places[1])):
                word = int.from_bytes(text[offset:offset + 16], "little")
                distances.append(((word & mask) >> first) * unit - place[variable])
                text[offset:offset + 16] = (word & ~mask).to_bytes(16, "little")
            if distances[0] != distances[1]:
                wrong.append("constant %s at %d: %d, %d" % (variable, offset, *distances))
        if a == b:
            yield from wrong
            return
    yield "code at %d" % next(k for k, pair in enumerate(zip(code, other)) if pair[0] != pair[1])


def compare_sections(ours, reference, inputs):
    for s in ours.sections:
        other = reference.section(s.name)
        compared = s.name.startswith((".text.", ".nv.constant0.", ".nv.constant2.", ".nv.shared."))
        if compared and not other:
            yield s.name + " is only in ours"
        elif s.name.startswith(".text."):
            for text in compare_code(s.name[6:], ours, reference, inputs):
                yield "%s: %s" % (s.name, text)
        elif compared and (s.size, s.bytes) != (other.size, other.bytes):
            yield s.name + " differs"


def named_relocs(c, s):
    return sorted((offset, kind) + c.target(symbol, addend or 0) for offset, kind, symbol, addend in s.relocs)


def compare_functions(ours, reference):
    """Compares relocations and records."""
    for name in ours.functions():
        for prefix in (".text.", ".nv.constant2."):
            one, two = (c.section(prefix + name) for c in (ours, reference))
            if one and two and named_relocs(ours, one) != named_relocs(reference, two):
                yield "relocations of %s%s" % (prefix, name)
        sections = [(c, c.section(".nv.info." + name)) for c in (ours, reference)]
        one, two = (sorted(c.records(s)) if s else None for c, s in sections)
        if one != two:
            yield "records of " + name


def rows_of(c):
    """Returns the callgraph, the prototypes and the records of functions, each as (kind, function, ...)."""
    info = c.section(".nv.info")
    return ({("callgraph", a, group, b) for group, a, b in c.calls()} |
            {("prototype", a, b) for a, b in c.prototypes()} |
            {("record", s[0], a, rest) for a, s, rest in (c.records(info) if info else []) if s})


def compare_tables(ours, reference):
    """Compares rows of functions and undefined symbols of both.

    The stack of a kernel may be less, since it does not call functions that only REFERENCE has. nvlink joins the calls
    of all weak copies of a function.
    """
    names = set(ours.functions())
    dead = set(reference.functions()) - names
    names |= {s.name for s in reference.symbols if s.section == 0}
    weak = {s.name for s in reference.symbols if s.bind == WEAK}
    one, two = ({row for row in rows_of(c) if row[1] in names and not dead.intersection(row)}
                for c in (ours, reference))
    stacks = {row[1]: stack_of(row) for row in two if row[2] == MIN_STACK_SIZE} if dead else {}
    for row in sorted(one - two, key=str):
        if not (row[2] == MIN_STACK_SIZE and stack_of(row) < stacks.get(row[1], 0)):
            yield "in ours: %s" % (row,)
    for row in sorted(two - one, key=str):
        if not (row[2] == MIN_STACK_SIZE and row[1] in stacks) and not (row[0] == "callgraph" and row[1] in weak):
            yield "in the reference: %s" % (row,)


def stack_of(row):
    return int.from_bytes(row[3][0], "little")


def compare_variables(ours, reference):
    others = [reference.meaning(v) for v in reference.variables()]
    for v in ours.variables():
        if ours.meaning(v) in others:
            others.remove(ours.meaning(v))
        else:
            yield "variable %s" % v.name


def compare_frames(ours, reference):
    one, two = (frames_by_function(c, c.sm < 90) for c in (ours, reference))
    for name in ours.functions():
        if len(one.get(name, [])) != 1:
            yield "%d entries of unwind data of %s" % (len(one.get(name, [])), name)
        elif one[name][0] not in two.get(name, []):  # nvlink leaves those of weak copies
            yield "unwind data of " + name


def dead_fields(inputs, name, functions):
    """Yields places of addresses of shared variables of dead functions. nvlink writes -1, and orilink leaves 0."""
    start = 0
    for c in inputs:
        s = c.section(name)
        for offset, _, symbol, _ in s.relocs if s else []:
            of = c.sections[c.symbols[symbol].section]
            if of.type == SHARED and of.flags & 0x40 and c.sections[of.info].name[6:] not in functions:
                yield start + offset
        start += s.size if s else 0


def compare_debug(ours, reference, inputs):
    """Compares debug information, without the relocations of functions that are gone."""
    names = set(ours.functions())
    for s in ours.sections:
        if not s.name.startswith((".debug_", ".nv_debug_")) or s.name == ".debug_frame" or s.type == SHARED:
            continue
        other = reference.section(s.name)
        code = [bytearray(s.bytes), bytearray(other.bytes if other else b"")]
        for at in dead_fields(inputs, s.name, names):
            for one in code:
                one[at:at + 8] = bytes(8)
        if code[0] != code[1]:
            yield s.name + " differs"
            continue
        one, two = ([r for r in named_relocs(c, t) if r[2] in names] for c, t in ((ours, s), (reference, other)))
        if one != two:
            yield "relocations of " + s.name


def main():
    folder, reference, paths = sys.argv[1], load(sys.argv[2]), sys.argv[3:]
    ours = load(os.path.join(folder, "linked"))
    inputs = [c for path in paths for c in cubins(path, ours.sm)]
    differ = [*compare_sections(ours, reference, inputs), *compare_functions(ours, reference),
              *compare_tables(ours, reference), *compare_variables(ours, reference), *compare_frames(ours, reference),
              *compare_debug(ours, reference, inputs)]
    for path in paths:
        for c in cubins(os.path.join(folder, os.path.basename(path)), ours.sm):
            differ += [os.path.basename(path) + ": " + text for text in (*check_symbols(c), *check_frames(c, inputs))]
    only = [n for n in sorted(reference.named(".text.")) if not ours.section(".text." + n)]
    for text in differ:
        print(text)
    if only:
        print("only: " + " ".join(only))
    return 1 if differ else 0


sys.exit(main())
