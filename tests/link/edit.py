#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Edits a cubin: makes one that ptxas would not make.

    edit.py FILE OUTPUT FUNCTION EDIT N

EDIT, of the code of FUNCTION or of its constants of the compiler:
    none     writes the file as it is
    field    N becomes the place in the field of the first constant that the code reads
    bank     N becomes the bank in that field
    addend   N is added to the addend of the relocation for that field
    table    the same for the first table that the code indexes
    moves    the symbol of the first constant moves by N bytes
    drops    drops the relocation for the first constant
    names    the relocation for the first constant names that of the function N
    data     adds a relocation, at N in the constants
"""
import struct
import sys

from cubin import CUDA_OBJECT, NOBITS, REL, RELA, Cubin

PLACE, INDEXED, ADDRESS = 0x40, 0x42, 0x38  # types of relocations


class Editor(Cubin):
    def __init__(self, data):
        super().__init__(data)
        for s in self.sections:
            s.bytes = bytearray(s.bytes)

    def relocs(self, code):
        """Returns the sections of relocations for a section of code."""
        return [s for s in self.sections if s.type in (REL, RELA) and s.info == self.sections.index(code)]

    def with_addends(self, s):
        """Gives a section of relocations addends."""
        if s.type == REL:
            s.bytes = bytearray(b"".join(bytes(s.bytes[at:at + 16]) + bytes(8) for at in range(0, len(s.bytes), 16)))
            s.type = RELA

    def first(self, code, kind):
        """Returns the first relocation of a type that names a constant of the compiler: section, index, symbol."""
        for s in self.relocs(code):
            size = 24 if s.type == RELA else 16
            for at in range(0, len(s.bytes), size):
                _, found, symbol = struct.unpack_from("<QII", s.bytes, at)
                of = self.symbols[symbol]
                if found == kind and of.type == CUDA_OBJECT and ".nv.constant2." in self.sections[of.section].name:
                    return s, at // size, symbol
        sys.exit("edit.py: no relocation of type %#x" % kind)

    def write(self):
        out, rows = bytearray(self.data[:64]), []
        for s in self.sections:
            row = list(s.row)
            row[1], row[9] = s.type, 24 if s.type == RELA else s.row[9]
            if s.type and not (s.type == NOBITS or s.empty):
                out += bytes(-len(out) % max(s.align, 1))
                row[4], row[5] = len(out), len(s.bytes)
                out += s.bytes
            elif s.type:
                row[4] = len(out)
            rows.append(row)
        out += bytes(-len(out) % 8)
        struct.pack_into("<Q", out, 40, len(out))
        return out + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def main(file, output, function, edit, number):
    with open(file, "rb") as f:
        c = Editor(f.read())
    code, bank = c.section(".text." + function), c.section(".nv.constant2." + function)
    kind = INDEXED if edit == "table" else PLACE
    other = c.section(".text." + number) if edit == "names" else None
    number = 0 if other else int(number, 0)
    if edit in ("field", "bank", "addend", "table", "drops", "moves", "names"):
        relocs, k, symbol = c.first(code, kind)
        at, = struct.unpack_from("<Q", relocs.bytes, k * (24 if relocs.type == RELA else 16))
    if edit in ("field", "bank"):
        word, = struct.unpack_from("<Q", code.bytes, at)
        struct.pack_into("<Q", code.bytes, at, word | (number // 4 << 40 if edit == "field" else number << 54))
    elif edit in ("addend", "table"):
        c.with_addends(relocs)
        addend, = struct.unpack_from("<q", relocs.bytes, 24 * k + 16)
        struct.pack_into("<q", relocs.bytes, 24 * k + 16, addend + number)
    elif edit == "drops":
        size = 24 if relocs.type == RELA else 16
        del relocs.bytes[size * k:size * (k + 1)]
    elif edit == "moves":
        symbols = next(s for s in c.sections if s.type == 2)
        struct.pack_into("<Q", symbols.bytes, 24 * symbol + 8, c.symbols[symbol].value + number)
    elif edit == "names":
        struct.pack_into("<I", relocs.bytes, k * (24 if relocs.type == RELA else 16) + 12, c.first(other, PLACE)[2])
    elif edit == "data":
        relocs = next(s for s in c.sections if s.type == RELA and s.info == c.sections.index(bank))
        relocs.bytes += struct.pack("<QIIq", number, ADDRESS, c.symbols.index(c.functions()[function]), 0x40)
    with open(output, "wb") as f:
        f.write(c.write())


if __name__ == "__main__":
    main(*sys.argv[1:])
