#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads cubins, also in host objects and archives, independently of orilink.

    cubin.py --entries FILE        prints each entry of its fat binaries: target, member, kind, digest of the bytes
    cubin.py --extract FILES...    writes the cubins of NAME.o and NAME.fatbin, not compressed, to NAME.SM.cubin
    cubin.py --traps FILES...      prints properties of cubins that tests rely on
    cubin.py --reads LINKED CALLS FILES...  compares the constants that linked code reads with those of the files; CALLS is
                                   a list of KERNEL=FUNCTION,...; FUNCTION#2 is the second function of a name
    cubin.py --variables LINKED FILES...  compares linked code and variables in constant memory with those of the files:
                                   code differs only in places of constants, each place has the bytes and the alignment
                                   of the file's variable. Prints counts, the bytes that variables have, the size of
                                   the bank, and the names of those that share a place. Names of static variables are cut to `static...`
    cubin.py --changes SM ORIGINAL REWRITTEN  prints the sections that differ in any cubin of two files; indices may differ
"""
import hashlib
import struct
import sys

SYMTAB, STRTAB, REL, RELA, NOBITS, CUDA = 2, 3, 9, 4, 8, 190
CUBIN = 2  # kind of an entry of a fat binary
GLOBAL, SHARED = 0x70000007, 0x7000000a
INFO, CALLGRAPH, PROTOTYPE = 0x70000000, 0x70000001, 0x70000002
FUNC, SECTION, OBJECT, CUDA_OBJECT, WEAK = 2, 3, 1, 13, 2
LOCAL, USER_CONSTANT = 0, 0x80  # binding, st_other
HAS_SIGNATURE, CALLS_SIGNATURE = 0xfffffffe, 0xfffffffd  # groups of the callgraph
MIN_STACK_SIZE = 0x12
CONSTANT_FIELDS = {0x40: (40, 14, 4), 0x42: (38, 16, 1), 0x3b: (32, 32, 1)}  # type: first bit, bits, unit
FIRST_SYMBOL, ALL_SYMBOLS = (0x0a, 0x11, 0x12, 0x23, 0x2f), (0x0f,)  # records of .nv.info that name symbols


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Section:
    def __init__(self, data, row):
        self.row = row
        _, self.type, self.flags, _, offset, self.size, self.link, self.info, self.align, _ = row
        self.empty = self.type in (NOBITS, GLOBAL, SHARED)  # no bytes in the file
        self.bytes = b"" if self.empty else data[offset:offset + self.size]
        self.relocs = []  # (offset, type, symbol index, addend) of the sections of relocations for this one
        self.kinds = set()  # REL, RELA: the types of these sections


def relocs_of(s):
    """Yields (offset, type, symbol index, addend) of a section of relocations."""
    for at in range(0, s.size, 24 if s.type == RELA else 16):
        offset, kind, symbol = struct.unpack_from("<QII", s.bytes, at)
        yield offset, kind, symbol, struct.unpack_from("<q", s.bytes, at + 16)[0] if s.type == RELA else None


class Symbol:
    def __init__(self, name, info, other, section, value, size):
        self.name, self.bind, self.type, self.other = name, info >> 4, info & 15, other
        self.section, self.value, self.size = section, value, size


class Cubin:
    def __init__(self, data):
        self.data = data
        self.flags, = struct.unpack_from("<I", data, 48)
        self.sm = self.flags >> 8 & 255
        table, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self.sections = [Section(data, struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * k)) for k in range(count)]
        self.symbols = []
        for s in self.sections:
            s.name = text_at(self.sections[names].bytes, s.row[0])
        for s in self.sections:
            if s.type == SYMTAB:
                self.strings = self.sections[s.link].bytes
                for at in range(0, s.size, 24):
                    name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", s.bytes, at)
                    self.symbols.append(Symbol(text_at(self.strings, name), info, other, section, value, size))
            elif s.type in (REL, RELA):
                self.add_relocs(s)
        self.number_functions()

    def number_functions(self):
        """Appends `#2`, `#3` to the names of functions that have the name of another one, and of their sections."""
        seen = {}
        for k, s in enumerate(self.sections):
            symbol = next((f for f in self.symbols
                           if f.type == FUNC and f.section == k and ".text." + f.name == s.name), None)
            if not symbol:
                continue
            seen[symbol.name] = seen.get(symbol.name, 0) + 1
            number = "#%d" % seen[symbol.name] if seen[symbol.name] > 1 else ""
            symbol.name += number
            for of in self.sections:
                if of is s or of.flags & 0x40 and of.info == k:
                    of.name += number

    def add_relocs(self, s):
        target = self.sections[s.info]
        target.kinds.add(s.type)
        target.relocs += relocs_of(s)

    def named(self, prefix):
        """Returns the sections with a prefix, by the rest of their names."""
        return {s.name[len(prefix):]: s for s in self.sections if s.name.startswith(prefix)}

    def section(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def functions(self):
        """Returns the symbols of functions with code, by name. Other names of the code are left out."""
        own = {k: s.name[6:] for k, s in enumerate(self.sections) if s.name.startswith(".text.")}
        return {s.name: s for s in self.symbols if s.type == FUNC and own.get(s.section) == s.name}

    def variables(self):
        """Returns the symbols of variables in global and constant memory."""
        return [s for s in self.symbols if s.type in (OBJECT, CUDA_OBJECT) and 0 < s.section < len(self.sections)
                and self.sections[s.section].name in (".nv.global", ".nv.global.init", ".nv.constant3")]

    def content(self, v):
        """Returns the bytes of a variable; b"": zeros, without bytes in the file."""
        return self.sections[v.section].bytes[v.value:v.value + v.size]

    def meaning(self, v):
        """Returns name, size, bytes and relocations of a variable."""
        relocs = [(offset - v.value, kind) + self.target(symbol, addend or 0)
                  for offset, kind, symbol, addend in self.sections[v.section].relocs
                  if v.value <= offset < v.value + v.size]
        return v.name, v.size, self.content(v), sorted(relocs)

    def target(self, symbol, addend):
        """Returns what a relocation names: a function or variable, an offset in it, and the bytes of the variable."""
        s = self.symbols[symbol]
        for v in self.variables():
            if v is s:
                return v.name, addend, self.content(v)
            if s.type == SECTION and v.section == s.section and v.value <= addend < v.value + v.size:
                return v.name, addend - v.value, self.content(v)
        return s.name, addend, b""

    def records(self, s):
        """Yields (attribute, symbols, rest) of the records of a section of type INFO."""
        at = 0
        while at + 4 <= s.size:
            form, attribute, size = struct.unpack_from("<BBH", s.bytes, at)
            payload = s.bytes[at + 4:at + 4 + size] if form == 4 else b""
            at += 4 + len(payload)
            n = len(payload) // 4 if attribute in ALL_SYMBOLS else 1 if attribute in FIRST_SYMBOL and payload else 0
            symbols = tuple(self.symbols[k].name for k in struct.unpack_from("<%dI" % n, payload))
            yield attribute, symbols, (payload[4 * n:], size if form != 4 else 0)

    def calls(self):
        """Yields (group, function, function or signature) of the callgraph."""
        s, group = self.section(".nv.callgraph"), None
        for at in range(0, s.size if s else 0, 8):
            a, b = struct.unpack_from("<II", s.bytes, at)
            if a == 0 and b > 0x80000000:
                group = b
            else:
                is_text = group in (HAS_SIGNATURE, CALLS_SIGNATURE)
                yield group, self.symbols[a].name, text_at(self.strings, b) if is_text else self.symbols[b].name

    def prototypes(self):
        s = self.section(".nv.prototype")
        for at in range(0, s.size if s else 0, 8):
            a, b = struct.unpack_from("<II", s.bytes, at)
            yield self.symbols[a].name, text_at(self.strings, b)

    def frames(self):
        """Returns the entries of .debug_frame: (offset, bytes, function, offset of the common entry).

        A common entry has no offset of another one (None), and the entry of a function that is gone has no function.
        """
        s, found, at = self.section(".debug_frame"), [], 0
        relocs = {r[0]: r for r in s.relocs} if s else {}
        while s and at < s.size:
            length, common = struct.unpack_from("<QQ", s.bytes, at + 4)
            if at + 12 in relocs and relocs[at + 12][3] is not None:
                common = relocs[at + 12][3]
            r = relocs.get(at + 20) if common != 0xffffffffffffffff else None
            name = self.symbols[r[2]].name if r else None
            found.append((at, s.bytes[at:at + 12 + length], name, None if common == 0xffffffffffffffff else common))
            at += 12 + length
        return found


# -- Files around cubins ---------------------------------------------------------------------------------------------

def members(data):
    """Yields (name, bytes) of an archive, or of the file itself."""
    if data[:8] != b"!<arch>\n":
        yield "", data
        return
    at = 8
    while at < len(data):
        size = int(data[at + 48:at + 58])
        yield data[at:at + 16].decode().strip().rstrip("/"), data[at + 60:at + 60 + size]
        at += 60 + size + (size & 1)


def entries(data):
    """Yields (kind, target, header, bytes) of a fat binary, or of that of a host object."""
    at, end = 16, len(data)
    if data[:4] == b"\177ELF":
        table, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * k) for k in range(count)]
        fat = [r for r in rows if text_at(data, rows[names][4] + r[0]) == "__nv_relfatbin"]
        at, end = (fat[0][4] + 16, fat[0][4] + fat[0][5]) if fat else (0, 0)
    while at < end:
        kind, _, header, stored = struct.unpack_from("<HHIQ", data, at)
        sm, = struct.unpack_from("<I", data, at + 28)
        yield kind, sm, data[at:at + header], data[at + header:at + header + stored]
        at += header + stored


def cubins(path, sm):
    """Yields the cubins of a file for a target that are not compressed."""
    with open(path, "rb") as f:
        data = f.read()
    for _, member in members(data):
        if member[:4] != b"\177ELF":
            continue
        if struct.unpack_from("<H", member, 18)[0] == CUDA:
            yield Cubin(member)
            continue
        for kind, of, _, content in entries(member):
            if kind == CUBIN and of == sm and content[:4] == b"\177ELF":
                yield Cubin(content)


# -- Commands --------------------------------------------------------------------------------------------------------

def print_entries(path):
    with open(path, "rb") as f:
        data = f.read()
    for name, member in members(data):
        if member[:4] == b"\177ELF":
            for kind, sm, header, content in entries(member):
                print(sm, name, kind, hashlib.sha256(header + content).hexdigest()[:16])


def extract(path):
    with open(path, "rb") as f:
        data = f.read()
    for kind, sm, _, content in entries(data):
        if kind == CUBIN:
            with open("%s.%d.cubin" % (path[:path.rindex(".")], sm), "wb") as f:
                f.write(content)


def print_traps(path):
    with open(path, "rb") as f:
        c = Cubin(f.read())
    own = c.functions()
    for name in own:
        s = c.section(".text." + name)
        if s.kinds == {REL, RELA}:
            print("relocations of both types:", name)
        for _, kind, symbol, _ in s.relocs:
            if kind in (0x40, 0x42, 0x3b):
                print("constant by %#x:" % kind, c.symbols[symbol].name)
    for s in c.symbols:
        if s.type == FUNC and s.section and s.name not in own:
            print("second name:", s.name)
    signatures = {text for group, _, text in c.calls() if group in (HAS_SIGNATURE, CALLS_SIGNATURE)}
    for text in sorted(signatures & {text for _, text in c.prototypes()}):
        print("string of callgraph and prototype:", text)
    common = {at for at, _, _, of in c.frames() if of is None}
    for k, (at, _, name, of) in enumerate(c.frames()):
        if of is not None and of != c.frames()[k - 1][0]:
            print("wrong common entry, of another function:" if of in common else "wrong common entry:", name)


def constants_of(c, ours, name, linked):
    """Yields (bank, place, bytes) of the constants that the linked code of a function reads."""
    for offset, kind, symbol, addend in c.section(".text." + name).relocs:
        s = c.symbols[symbol]
        if kind not in (0x40, 0x42) or not c.sections[s.section].name.startswith(".nv.constant2."):
            continue
        word, = struct.unpack_from("<Q", ours.section(".text." + linked).bytes, offset)
        place = (word >> 40 & 0x3fff) * 4 if kind == 0x40 else word >> 38 & 0xffff
        yield word >> 54 & 31, place - (addend or 0) & 0xffff, c.sections[s.section].bytes[s.value:s.value + s.size]


def print_reads(linked, calls, paths):
    ours = Cubin(open(linked, "rb").read())
    files = [Cubin(open(path, "rb").read()) for path in paths]
    reads = wrong = 0
    for kernel, callees in (call.split("=") for call in calls.split()):
        bank = ours.section(".nv.constant2." + kernel).bytes
        for name in [kernel] + callees.split(","):
            of, _, number = name.partition("#")
            c = [c for c in files if of in c.functions()][int(number or 1) - 1]
            for number, place, content in constants_of(c, ours, of, name):
                reads += 1
                wrong += number != 2 or bank[place:place + len(content)] != content
    print("%d reads, %d wrong" % (reads, wrong))


# -- Constants of the user -------------------------------------------------------------------------------------------

def plain(name):
    return name[name.rindex("static"):] if name.startswith("__nv_static") else name


def without_fields(code, relocs):
    """Returns code with zeros for the places of constants."""
    code = bytearray(code)
    for offset, kind, _, _ in relocs:
        if kind in CONSTANT_FIELDS:
            first, bits, _ = CONSTANT_FIELDS[kind]
            mask = (1 << bits + (0 if kind == 0x3b else 5)) - 1 << first  # with the bank
            word = int.from_bytes(code[offset:offset + 8], "little") & ~mask
            code[offset:offset + 8] = word.to_bytes(8, "little")
    return code


def places_of(c, code, relocs, named):
    """Yields (file, variable, place) of the constants of the user that linked code names; the place None: another bank."""
    for offset, kind, symbol, addend in relocs:
        if kind not in CONSTANT_FIELDS:
            continue
        v = c.symbols[symbol]
        of, v = (c, v) if v.section else named[v.name]
        if of.sections[v.section].name == ".nv.constant3":
            first, bits, unit = CONSTANT_FIELDS[kind]
            word = int.from_bytes(code[offset:offset + 8], "little")
            place = (word >> first & (1 << bits) - 1) * unit - (addend or 0) & 0xffff
            yield of, v, place if kind == 0x3b or word >> 54 & 31 == 3 else None


def print_variables(linked, paths):
    with open(linked, "rb") as f:
        ours = Cubin(f.read())
    bank = ours.section(".nv.constant3").bytes
    files = [c for path in paths for c in cubins(path, ours.sm)]
    named = {v.name: (c, v) for c in files for v in c.variables() if v.bind != LOCAL}
    meanings = [c.meaning(v) for c in files for v in c.variables()]
    variables = [v for v in ours.variables() if ours.sections[v.section].name == ".nv.constant3"]
    wrong = ["the variable " + v.name for v in variables if ours.meaning(v) not in meanings]
    reads, sharing = 0, {}
    for c in files:
        for name in c.functions():
            old, new = c.section(".text." + name), ours.section(".text." + name)
            if not new:
                continue
            if without_fields(old.bytes, old.relocs) != without_fields(new.bytes, old.relocs):
                wrong.append("the code of " + name)
            for of, v, place in places_of(c, new.bytes, old.relocs, named):
                s = of.sections[v.section]
                align = min(v.value & -v.value or s.align, s.align)
                reads += 1
                if place is None or place % align or bank[place:place + v.size] != of.content(v):
                    wrong.append("%s of %s" % (v.name, name))
                sharing.setdefault(place, set()).add((plain(v.name), files.index(of)))
    covered = {k for v in variables for k in range(v.value, v.value + v.size)}
    print("%d reads, %d wrong%s" % (reads, len(wrong), ": " + ", ".join(wrong[:5]) if wrong else ""))
    print("%d bytes in %d" % (len(covered), len(bank)))
    for names in sorted(sorted(name for name, _ in names) for names in sharing.values() if len(names) > 1):
        print("shared: " + " ".join(names))


def contents_of(c):
    """Returns the contents of sections by name, with names instead of indices.

    Strings and symbols of constants of the user are left out.
    """
    found = {}
    for s in c.sections:
        content = s.bytes
        if s.type == SYMTAB:
            content = sorted((v.name, v.bind, v.type, v.other, v.section < len(c.sections) and c.sections[v.section].name,
                              v.value, v.size) for v in c.symbols if v.name and v.other != USER_CONSTANT)
        elif s.type in (REL, RELA):
            content = [(offset, kind, c.symbols[symbol].name, addend) for offset, kind, symbol, addend in relocs_of(s)]
        elif s.type in (INFO, CALLGRAPH, PROTOTYPE):
            content = list(c.records(s) if s.type == INFO else c.calls() if s.type == CALLGRAPH else c.prototypes())
        elif s.type == STRTAB:
            continue
        found.setdefault(s.name, []).append((s.type, s.flags & 0xffffffff, s.align, s.size if s.empty else content))
    return found


def print_changes(sm, original, rewritten):
    names = set()
    for one, two in zip(cubins(original, int(sm)), cubins(rewritten, int(sm)), strict=True):
        a, b = contents_of(one), contents_of(two)
        names |= {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)}
    print(" ".join(sorted(names)))


if __name__ == "__main__":
    if sys.argv[1] == "--reads":
        print_reads(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif sys.argv[1] == "--variables":
        print_variables(sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "--changes":
        print_changes(*sys.argv[2:])
    else:
        for file in sys.argv[2:]:
            {"--entries": print_entries, "--extract": extract, "--traps": print_traps}[sys.argv[1]](file)
