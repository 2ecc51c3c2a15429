#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares linked cubins section by section.

    sections.py OURS REFERENCE

Compares the sections of code, constants and shared memory of OURS with those of the same name in REFERENCE. Prints the
names of those that differ, and `only: NAMES` with the functions that only REFERENCE has. Exit status 1 if a section of
OURS differs or is not in REFERENCE.
"""
import struct
import sys


def read(path):
    data = open(path, "rb").read()
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * k) for k in range(count)]
    sections = {}
    for row in rows[1:]:
        start = rows[names][4] + row[0]
        name = data[start:data.index(b"\0", start)].decode()
        bits = b"" if row[1] == 8 else data[row[4]:row[4] + row[5]]
        sections[name] = (row[5], bits)
    return sections


ours, reference = read(sys.argv[1]), read(sys.argv[2])
compared = (".text.", ".nv.constant0.", ".nv.constant2.", ".nv.shared.")
differ = [n for n in sorted(ours) if n.startswith(compared) and ours[n] != reference.get(n)]
only = [n[6:] for n in sorted(reference) if n.startswith(".text.") and n not in ours]
for name in differ:
    print("differs: " + name)
if only:
    print("only: " + " ".join(only))
sys.exit(1 if differ else 0)
