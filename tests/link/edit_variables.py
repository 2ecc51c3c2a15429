#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Edits the cubins of a file in place, also those of a host object that are not compressed.

    edit_variables.py FILE remove SYMBOL              makes the entry of a symbol empty
    edit_variables.py FILE move SYMBOL OTHER OFFSET   gives a symbol the place at an offset of another one
    edit_variables.py FILE reloc SECTION OLD NEW      moves a relocation of a section from an offset to another one
    edit_variables.py FILE name SYMBOL OTHER          gives a symbol the name that it has in the file OTHER, of the same length

A SYMBOL without its prefix is a static variable.
"""
import struct
import sys

from cubin import CUDA, REL, RELA, Cubin


def cubins_in(data):
    """Yields the places of the cubins of a file, and the cubins."""
    at = data.find(b"\177ELF")
    while at >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == CUDA:
            yield at, Cubin(bytes(data[at:]))
        at = data.find(b"\177ELF", at + 4)


def symbol_at(c, name):
    """Returns a symbol, and the offset of its entry."""
    table = next(s for s in c.sections if s.type == 2)
    index = next(k for k, s in enumerate(c.symbols) if s.name == name or s.name.endswith("_" + name))
    return c.symbols[index], table.row[4] + 24 * index


def relocs_at(c, name):
    """Yields the offsets of the relocations of a section."""
    for s in c.sections:
        if s.type in (REL, RELA) and c.sections[s.info].name == name:
            yield from range(s.row[4], s.row[4] + s.size, 24 if s.type == RELA else 16)


def edit(data, start, c, what, name, *rest):
    if what == "remove":
        at = start + symbol_at(c, name)[1]
        data[at:at + 24] = bytes(24)
    elif what == "move":
        struct.pack_into("<Q", data, start + symbol_at(c, name)[1] + 8, symbol_at(c, rest[0])[0].value + int(rest[1]))
    elif what == "name":
        with open(rest[0], "rb") as f:
            other = next(cubins_in(f.read()))[1]
        old, new = (symbol_at(of, name)[0].name.encode() for of in (c, other))
        at = data.index(b"\0" + old + b"\0", start) + 1
        data[at:at + len(new)] = new
    else:
        for at in relocs_at(c, name):
            if struct.unpack_from("<Q", data, start + at)[0] == int(rest[0]):
                struct.pack_into("<Q", data, start + at, int(rest[1]))


def main():
    with open(sys.argv[1], "rb") as f:
        data = bytearray(f.read())
    for start, c in list(cubins_in(data)):
        edit(data, start, c, *sys.argv[2:])
    with open(sys.argv[1], "wb") as f:
        f.write(data)


main()
