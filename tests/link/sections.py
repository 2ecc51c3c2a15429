#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares linked cubins section by section.

    sections.py OURS REFERENCE
    sections.py CUBIN

Compares the sections of code, constants and shared memory of OURS with those of the same name in REFERENCE. Prints the
names of those that differ, and `only: NAMES` with the functions that only REFERENCE has. Exit status 1 if a section of
OURS differs or is not in REFERENCE. With one file, checks that symbols do not overlap and lie in their sections.
"""
import struct
import sys


def rows_of(data):
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    return [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * k) for k in range(count)], names


def check_symbols(path):
    data = open(path, "rb").read()
    rows, _ = rows_of(data)
    symtab = next(row for row in rows if row[1] == 2)
    variables = []
    for at in range(symtab[4], symtab[4] + symtab[5], 24):
        _, info, other, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
        if other == 0x40:  # ptxas gives shared variables places behind their sections
            continue
        if 0 < section < len(rows) and value + size > rows[section][5]:
            return "%s: a symbol ends at %d of section %d, which has %d bytes" % (path, value + size, section, rows[section][5])
        if info & 15 == 13 and size and 0 < section < len(rows):
            variables.append((section, value, value + size))
    variables.sort()
    for one, two in zip(variables, variables[1:]):
        if one[0] == two[0] and one[2] > two[1]:
            return "%s: symbols overlap at %d of section %d" % (path, two[1], two[0])
    return ""


def read(path):
    data = open(path, "rb").read()
    rows, names = rows_of(data)
    sections = {}
    for row in rows[1:]:
        start = rows[names][4] + row[0]
        name = data[start:data.index(b"\0", start)].decode()
        bits = b"" if row[1] == 8 else data[row[4]:row[4] + row[5]]
        sections[name] = (row[5], bits)
    return sections


if len(sys.argv) == 2:
    error = check_symbols(sys.argv[1])
    print(error, end="")
    sys.exit(1 if error else 0)
ours, reference = read(sys.argv[1]), read(sys.argv[2])
compared = (".text.", ".nv.constant0.", ".nv.constant2.", ".nv.shared.")
differ = [n for n in sorted(ours) if n.startswith(compared) and ours[n] != reference.get(n)]
only = [n[6:] for n in sorted(reference) if n.startswith(".text.") and n not in ours]
for name in differ:
    print("differs: " + name)
if only:
    print("only: " + " ".join(only))
sys.exit(1 if differ else 0)
