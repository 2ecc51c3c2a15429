#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes inputs of orilink for sm_80, of shapes whose cost may not be linear, for make bench.

    cubins.py SHAPE N DIR

DIR receives the input files and `args`, a response file with the options and the names of these files. N is the number
of functions unless the shape says otherwise. Half of them is dead; names of live kernels contain `live`. Sections,
symbols, records and relocations are as ptxas 13.0 makes them. Code consists of NOPs, mostly 128 bytes in a function.
"""
import os
import struct
import sys

LOCAL, GLOBAL, WEAK = 0, 1, 2
SECTION, FUNCTION, VARIABLE = 3, 2, 13  # types of symbols
NOP = struct.pack("<QQ", 0x7918, 0xFC00000000000)
FILE_MAX = 10000  # functions of a file: ELF has at most 65279 sections, and a kernel that calls has six


class Function:
    """A function. `calls` and `refers` are names of what it calls, and of variables and sections to which it refers.

    `constants` are doubles that it reads.
    """

    def __init__(self, name, calls=(), refers=(), kernel=False, bind=GLOBAL, registers=24, constants=()):
        self.name, self.calls, self.refers, self.constants = name, calls, refers, constants
        self.kernel, self.bind, self.registers = kernel, bind, registers


class Data:
    """A section of variables of 8 bytes. `points` are pairs: a variable, by its index, has the address of another."""

    def __init__(self, name, variables, points=()):
        self.name, self.variables, self.points = name, variables, points


# -- ELF ----------------------------------------------------------------------------------------------------


class Section:
    """A section; `info` may be another section, whose index it means."""

    def __init__(self, name, kind, flags=0, link=0, info=0, align=1, entsize=0, data=b""):
        self.name, self.kind, self.flags, self.data = name, kind, flags, data
        self.link, self.info, self.align, self.entsize = link, info, align, entsize


class Strings:
    def __init__(self):
        self.data = bytearray(1)

    def add(self, text):
        offset = len(self.data)
        self.data += text.encode() + b"\0"
        return offset


def elf(sections, machine, flags=0, osabi=0, abi=0):
    """Returns a file with these sections behind an empty one. The first one receives their names."""
    names, out, headers = Strings(), bytearray(64), bytearray(64)
    offsets = [names.add(s.name) for s in sections]
    sections[0].data = names.data
    for s, name in zip(sections, offsets):
        info = s.info.index if isinstance(s.info, Section) else s.info
        out += bytes(-len(out) % s.align)
        headers += struct.pack("<IIQQQQIIQQ", name, s.kind, s.flags, 0, len(out), len(s.data), s.link, info, s.align,
                               s.entsize)
        out += s.data
    out += bytes(-len(out) % 8)
    out[:64] = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\177ELF", 2, 1, 1, osabi, abi, 1, machine, 1, 0, 0, len(out),
                           flags, 64, 0, 0, 64, len(sections) + 1, 1)
    return out + headers


# -- Cubins -------------------------------------------------------------------------------------------------


class Cubin:
    """A cubin. `signatures` has triples: group of records (-2 or -3), function and text of its signature."""

    def __init__(self, functions, data=(), frames=True, signatures=()):
        self.functions, self.data, self.signatures = functions, data, signatures
        self.sections, self.strings, self.symbols, self.number = [], Strings(), bytearray(24), {}
        self.add_sections(frames)
        self.add_symbols()
        self.fill()
        if frames:
            self.fill_frames()

    def bytes(self):
        return elf(self.sections, 190, 0x6005004, 0x41, 8)

    # The order of sections is that of ptxas.

    def append(self, section):
        self.sections.append(section)
        section.index = len(self.sections)
        return section

    def add(self, *args, **more):
        return self.append(Section(*args, **more))

    def add_rel(self, of):
        return self.add(".rel" + of.name, 9, 0x40, 3, of, 8, 16)

    def add_rela(self, of):
        return self.add(".rela" + of.name, 4, 0x40, 3, of, 8, 24)

    def add_sections(self, frames):
        self.add(".shstrtab", 3)
        self.strtab, self.symtab = self.add(".strtab", 3), self.add(".symtab", 2, 0, 2, 0, 8, 24)
        if frames:
            self.frame = self.add(".debug_frame", 1)
        note = struct.pack("<III12s4H", 12, 8, 1000, b"NVIDIA Corp", 2, 80, 130, 0)
        self.add(".note.nv.cuinfo", 7, 0x1000000, align=4, data=note)
        self.info = self.add(".nv.info", 0x70000000, 0, 3, 0, 4)
        for f in self.functions:
            f.code = Section(".text." + f.name, 1, 6, 3, 0, 128)
            f.info = self.add(".nv.info." + f.name, 0x70000000, 0x40, 3, f.code, 4)
        self.callgraph = self.add(".nv.callgraph", 0x70000001, 0, 3, 0, 4, 8)
        self.prototype = self.add(".nv.prototype", 0x70000002, 0, 3, 0, 4, 8)
        for f in self.functions:
            f.rela = self.add_rela(f.code) if f.calls else None
            f.rel = self.add_rel(f.code) if f.calls or f.refers or f.constants else None
        if frames:
            self.frame_rel, self.frame_rela = self.add_rel(self.frame), self.add_rela(self.frame)
        for d in self.data:
            d.section = Section(d.name, 0x70000008, 3, align=8, data=bytes(8 * len(d.variables)))
            d.rel = self.add_rel(d.section) if d.points else None
        for f in self.functions:
            if f.constants:
                values = struct.pack("<%dd" % len(f.constants), *f.constants)
                f.bank = self.add(".nv.constant2." + f.name, 0x70000066, 0x42, 0, f.code, 8, data=values)
        for f in self.functions:
            if f.kernel:
                f.parameters = self.add(".nv.constant0." + f.name, 0x70000064, 0x42, 0, f.code, 4, data=bytes(0x168))
        for s in [f.code for f in self.functions] + [d.section for d in self.data]:
            self.append(s)

    def add_symbol(self, key, text, info, other, section, value=0, size=0):
        self.number[key] = len(self.symbols) // 24
        self.symbols += struct.pack("<IBBHQQ", self.strings.add(text), info, other, section, value, size)

    def add_symbols(self):
        for s in self.sections:
            if s.name.startswith((".text", ".nv.constant0", ".debug_frame")):
                self.add_symbol(s, s.name, SECTION, 0, s.index)
        for d in self.data:
            self.add_symbol(d.name, d.name, SECTION, 0, d.section.index)
        for f in self.functions:
            f.first = len(self.symbols) // 24  # of its constants
            for k in range(0, 8 * len(f.constants), 8):
                text = "%s.const_opt.%d.%d" % (f.name, k, k + 8)
                self.add_symbol(None, text, LOCAL << 4 | VARIABLE, 0x81, f.bank.index, k, 8)
        for f in sorted(self.functions, key=lambda f: f.bind != LOCAL):
            slots = len(f.calls) + len(f.refers) + len(f.constants) + 1
            f.code.data = NOP * (slots + -slots % 8)
            self.add_symbol(f.name, f.name, f.bind << 4 | FUNCTION, 0x10 * f.kernel, f.code.index, 0, len(f.code.data))
            f.symbol = self.number[f.name]
            f.code.info = f.registers << 24 | f.symbol
            if f.bind == LOCAL or not self.symtab.info:
                self.symtab.info = f.symbol + (f.bind == LOCAL)
        for d in self.data:
            for k, name in enumerate(d.variables):
                self.add_symbol(name, name, GLOBAL << 4 | VARIABLE, 0x20, d.section.index, 8 * k, 8)
        self.defined = len(self.symbols) // 24
        for f in self.functions:
            for name in f.calls:
                if name not in self.number:
                    self.add_symbol(name, name, GLOBAL << 4 | FUNCTION, 0, 0)

    # Contents of sections.

    def fill(self):
        number, records, prototypes = self.number, bytearray(), bytearray()
        groups = {-1: bytearray(), -2: bytearray(), -3: bytearray(), -4: b""}
        texts = {text: self.strings.add(text) for text in ("#ii", "#ff")}
        prototype = {name: texts[text] for group, name, text in self.signatures if group == -2}
        for group, name, text in self.signatures:
            groups[group] += struct.pack("<II", number[name], texts[text])
        for f in self.functions:
            called = [number[name] for name in f.calls]
            records += struct.pack("<9I", 0x82F04, f.symbol, f.registers, 0x82304, f.symbol, 0, 0x81104, f.symbol, 0)
            prototypes += b"" if f.kernel else struct.pack("<II", f.symbol, prototype.get(f.name, texts["#ii"]))
            groups[-1] += b"".join(struct.pack("<II", f.symbol, k) for k in called)
            f.info.data = self.records(f, [k for k in called if k >= self.defined])
            if f.rela:
                f.rela.data = struct.pack("<QIIQQIIQ", 0, 0x39, f.symbol, 16, 16, 0x38, f.symbol, 16)
            if f.rel:
                targets = [(0x3A, k) for k in called] + [(0x38, number[name]) for name in f.refers]
                targets += [(0x40, f.first + k) for k in range(len(f.constants))]
                f.rel.data = b"".join(struct.pack("<QII", 16 * k, *target) for k, target in enumerate(targets))
        for d in self.data:
            if d.rel:
                d.rel.data = b"".join(struct.pack("<QII", 8 * k, 4, number[name]) for k, name in d.points)
        self.info.data, self.prototype.data = records, prototypes
        self.callgraph.data = b"".join(struct.pack("<Ii", 0, group) + groups[group] for group in groups)
        self.strtab.data, self.symtab.data = self.strings.data, self.symbols

    def records(self, f, undefined):
        """Returns the records of a function: the version of CUDA, undefined functions that it calls, parameters."""
        out = struct.pack("<IIBBH", 0x43704, 130, 1, 0x35, 0)
        if undefined:
            out += struct.pack("<BBH%dI" % len(undefined), 4, 0xF, 4 * len(undefined), *undefined)
        if f.kernel:
            out += struct.pack("<4I", 0x80A04, self.number[f.parameters], 0x80160, 0x81903)
            out += struct.pack("<5I", 0xC1704, 0, 0, 0x21F000, 0xFF1B03)
        return out + struct.pack("<BBH", 3, 0x5F, 0)

    def fill_frames(self):
        """Makes a common entry and an entry of each function."""
        common = bytes.fromhex("ffffffff2400000000000000ffffffffffffffff0300047c"
                               "ffffffff0f0c818080280008ff8180280881808028000000")
        rest = bytes.fromhex("040400000004100000000c8180802800041000000000000000000000")
        frame, rel, rela, section = bytearray(), bytearray(), bytearray(), self.number[self.frame]
        for f in self.functions:
            start = len(frame)
            at = start + len(common)
            size = struct.pack("<QQQQ", 24 + len(rest), 0, 0, len(f.code.data))
            frame += common + b"\xff\xff\xff\xff" + size + rest
            rel += struct.pack("<QII", at + 20, 2, f.symbol)
            rela += struct.pack("<QIIQ", at + 28, 0x49, f.symbol, 0)
            if start:
                rela += struct.pack("<QIIQ", at + 12, 2, section, start)
            else:
                rel += struct.pack("<QII", at + 12, 2, section)
        self.frame.data, self.frame_rel.data, self.frame_rela.data = frame, rel, rela


# -- Files around cubins ------------------------------------------------------------------------------------


def host_object(cubin, kernels=(), static_kernels=()):
    """Returns a host object with a cubin, and with the patterns of the kernels that its code launches."""
    entry = struct.pack("<HHIQQIIQQQQ", 2, 0x101, 0x40, len(cubin), 0, 0x10008, 80, 0, 0x11, 0, 0)
    fat = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(cubin)) + entry + cubin
    sections = [Section(".shstrtab", 3), Section("__nv_relfatbin", 1, 2, align=8, data=fat)]
    for name, patterns in (".nvHRKE", kernels), (".nvHRKI", static_kernels):
        sections.append(Section(name, 1, 2, data="".join(p + "\0" for p in patterns or [""]).encode()))
    return elf(sections, 62)


def archive(members):
    """Returns an archive with a table of symbols, one for each member, and with a table of long names."""
    longs = "".join("%s/\n" % name for name, _ in members).encode()
    symbols = struct.pack(">I", len(members)) + bytes(4 * len(members))
    symbols += b"".join(b"f%d\0" % k for k in range(len(members)))
    out, at, offsets = bytearray(b"!<arch>\n"), 0, []

    def add(name, data):
        nonlocal out
        out += b"%-16s%-12s%-6s%-6s%-8s%-10d`\n" % (name, b"0", b"0", b"0", b"644", len(data))
        out += data + b"\n" * (len(data) % 2)

    add(b"/", symbols)
    add(b"//", longs)
    for name, data in members:
        offsets.append(len(out))
        add(b"/%d" % at, data)
        at += len(name) + 2
    struct.pack_into(">%dI" % len(offsets), out, 8 + 60 + 4, *offsets)
    return out


# -- Shapes -------------------------------------------------------------------------------------------------
# A shape returns the options and the files: pairs of a name and bytes.


def mangled(name, parameters="i"):
    return "_Z%d%s%s" % (len(name), name, parameters)


def kernel(word, k, **more):
    """Returns a kernel whose name begins with a word."""
    return Function(mangled("%s%06d" % (word, k), "Pi"), kernel=True, **more)


def half(k):
    """Returns the first word of the names of a half."""
    return "dead" if k % 2 else "live"


def groups(n):
    """Returns functions in groups of ten: a kernel, and a chain of nine functions that it calls."""
    out = []
    for k in range(n // 10):
        names = [mangled("helper%06d" % (10 * k + i)) for i in range(1, 10)]
        out.append(kernel(half(k), k, calls=names[:1]))
        out += [Function(name, calls=names[i + 1:i + 2]) for i, name in enumerate(names)]
    return out


def split(functions, each=FILE_MAX, signatures=(), **more):
    """Divides functions, and the signatures of each, into cubins."""
    for k in range(0, len(functions), each):
        part = slice(k, k + each)
        yield "%d.cubin" % (k // each), Cubin(functions[part], signatures=signatures[part], **more).bytes()


def functions(n):
    """Functions without unwind data."""
    return ["--kernels-used=live"], split(groups(n), frames=False)


def frames(n):
    """Functions with unwind data."""
    return ["--kernels-used=live"], split(groups(n))


def reports(n):
    """Functions, with all reports."""
    options = "--kernels-used=live -v --print-gc-sections --report=json --dump-callgraph --Map=/dev/null"
    return [options], split(groups(n))


def documented(n):
    """Functions of which half are called by kernels and half by none, with the documented algorithm."""
    out = []
    for k in range(n // 10):
        names = [mangled("helper%06d" % (10 * k + i)) for i in range(1, 10)]
        out.append(kernel("live", k, calls=names[1::2]))
        out += [Function(name) for name in names]
    return ["--dce=documented -v --kernels-used=live"], split(out)


def two_halves(n):
    """Returns the names of the functions of two halves, 500 each, and how many of N each function has."""
    return [[mangled("%sfn%03d" % (half(h), k)) for k in range(500)] for h in range(2)], n // 1000


def calls(n):
    """N calls among 1,000 functions."""
    names, each = two_halves(n)
    out = [kernel(half(h), h, calls=names[h]) for h in range(2)]
    for part in names:
        out += [Function(name, calls=[part[(k + i) % 500] for i in range(1, each + 1)]) for k, name in enumerate(part)]
    return ["--kernels-used=live"], split(out)


def relocs(n):
    """N references of 1,000 functions to 1,000 variables."""
    names, each = two_halves(n)
    variables = [["v%d_%d" % (h, k) for k in range(500)] for h in range(2)]
    out = [kernel(half(h), h, calls=names[h]) for h in range(2)]
    for part, own in zip(names, variables):
        out += [Function(name, refers=[own[(k + i) % 500] for i in range(each)]) for k, name in enumerate(part)]
    data = [Data(".nv.global.init", [v for pair in zip(*variables) for v in pair])]
    return ["--kernels-used=live --variables-used=none"], split(out, data=data)


def undefined(n):
    """N undefined functions, called by 1,000 functions."""
    names, each = two_halves(n)
    out = [kernel(half(h), h, calls=names[h]) for h in range(2)]
    for h, part in enumerate(names):
        out += [Function(name, calls=[mangled("extern%d_%d_%d" % (h, k, i)) for i in range(each)])
                for k, name in enumerate(part)]
    return ["--kernels-used=live"], split(out)


def variables(n):
    """N variables of one section; each one contains the address of another."""
    names = ["v%06d" % k for k in range(n)]
    data = [Data(".nv.global.init", names, [(k, names[(k + 2) % n]) for k in range(n)])]
    out = [kernel(half(k), k, refers=[names[k]]) for k in range(2)]
    return ["--kernels-used=live --variables-used=none"], split(out, data=data)


def many_sections(n, refers):
    """Returns the files of N variables in sections of two, of which kernels refer to some sections or variables."""
    data = [Data(".nv.global.init.%d" % k, ["v%06d_%d" % (k, i) for i in range(2)]) for k in range(n // 2)]
    out = [kernel(half(h), h, refers=refers(data, h)) for h in range(2)]
    return ["--kernels-used=live --variables-used=none"], split(out, data=data)


def sections(n):
    """N variables in sections of two, of which one is dead."""
    return many_sections(n, lambda data, h: [d.variables[h] for d in data])


def wholes(n):
    """N variables in sections of two, to which code refers as a whole."""
    return many_sections(n, lambda data, h: [d.name for d in data[h::2]])


def chain(n):
    """Two chains of calls of N / 2 functions, with the stack of the live one."""
    names = [mangled("link%06d" % k) for k in range(n)]
    out = [kernel(half(h), h, calls=[names[h]]) for h in range(2)]
    out += [Function(name, calls=names[k + 2:k + 3]) for k, name in enumerate(names)]
    return ["--kernels-used=live --report=text"], split(out)


def cycle(n):
    """Two sets of N / 2 mutually recursive functions, with the report of the live one."""
    names = [mangled("cycle%06d" % k) for k in range(n)]
    out = [kernel(half(h), h, calls=[names[h]]) for h in range(2)]
    out += [Function(name, calls=[names[(k + 2) % n], names[k * 7919 * 2 % n + k % 2]]) for k, name in enumerate(names)]
    return ["--kernels-used=live --report=text"], split(out)


def weak(n):
    """N / 10 files, each with two kernels and with copies of the same eight weak functions."""
    names = [mangled("weak%d" % k) for k in range(8)]
    out = []
    for k in range(n // 10):
        out += [kernel(half(h), k, calls=names[h::2]) for h in range(2)]
        out += [Function(name, bind=WEAK, registers=24 + (k + i) % 8) for i, name in enumerate(names)]
    return ["--kernels-used=live"], split(out, 10)


def host_objects(parts):
    """Makes a host object of each part: functions, patterns of kernels, and those of static kernels."""
    for k, (functions, *patterns) in enumerate(parts):
        yield "%d.o" % k, host_object(Cubin(functions).bytes(), *patterns)


def pattern(f):
    """Returns the pattern of a kernel: nvcc omits the parameters."""
    return f.name[:-2] + "*"


def files(n):
    """N / 10 host objects with ten functions each."""
    out = groups(n)
    return [], host_objects((out[k:k + 10], [pattern(out[k])] if k % 20 == 0 else []) for k in range(0, n, 10))


def members(n):
    """An archive of N / 10 host objects with ten functions each."""
    return [], [("lib.a", archive([("src/member" + name, data) for name, data in files(n)[1]]))]


def patterns(n):
    """N kernels of host objects with a pattern for each kernel that they use."""
    out = [kernel(half(k), k) for k in range(n)]
    parts = (out[k:k + FILE_MAX] for k in range(0, n, FILE_MAX))
    return [], host_objects((part, [pattern(f) for f in part[::2]]) for part in parts)


def static_kernels(file, numbers):
    """Returns static kernels of a file, and the patterns of half of them."""
    start = "__nv_static_25__%08x_6_src_cu__Z4mainv_" % (file * 2654435761 & 0xFFFFFFFF)
    steps = ["step%06d" % k for k in numbers]
    out = [Function("%s_%s" % (start, mangled(step, "Pi")), kernel=True, bind=LOCAL) for step in steps]
    return out, [], ["%s*%d%s*" % (start, len(step), step) for step in steps[::2]]


def statics(n):
    """N static kernels of host objects with a pattern for each kernel that they use."""
    return [], host_objects(static_kernels(k, range(k, min(k + FILE_MAX, n))) for k in range(0, n, FILE_MAX))


def headers(n):
    """N / 10 host objects with static kernels of the same ten names."""
    return [], host_objects(static_kernels(k, range(10)) for k in range(n // 10))


def lists(n):
    """N kernels, and a list of those that are used."""
    out = [kernel(half(k), k) for k in range(n)]
    return ["--kernels-used=" + ",".join(f.name for f in out[::2])], split(out)


def indirect(n):
    """N functions: half call a signature indirectly, and half have it. There are two signatures, one for each half."""
    out, signatures = [], []
    for k in range(0, n, 2):
        for h in range(2):
            target = Function(mangled("target%06d" % (k + h)))
            out += [kernel(half(h), k)] if k % 4 else [target]
            signatures.append((-3 if k % 4 else -2, out[-1].name, "#ii" if h else "#ff"))
    return ["--kernels-used=live"], split(out, signatures=signatures)


def numbers(first, n):
    """Returns distinct doubles."""
    return [1 + (first + k) * 2.0**-40 for k in range(n)]


def reach(n):
    """N / 2 kernels that call functions of one chain, of which the last function has constants. All are live."""
    names = [mangled("link%06d" % k) for k in range(n // 2)]
    out = [kernel("live", k, calls=[name]) for k, name in enumerate(names)]
    out += [Function(name, calls=names[k + 1:k + 2]) for k, name in enumerate(names)]
    out[-1].constants = numbers(0, 5)
    return ["--optimize-data-layout"], split(out)


def banks(n):
    """N / 500 kernels, of which each calls ten of 2.5 as many functions, with 50 constants each; all are live.

    Ten of the 50 constants are of 200 that other functions have, too.
    """
    names = [mangled("helper%06d" % k) for k in range(n // 200)]
    out = [kernel("live", k, calls=[names[(k * 7919 + i * i * 31) % len(names)] for i in range(10)])
           for k in range(n // 500)]
    for k, name in enumerate(names):
        out.append(Function(name, constants=numbers(1000 + 40 * k, 40) + numbers(k * 7 % 190, 10)))
    return ["--optimize-data-layout"], split(out)


def duplicates(n):
    """N constants of functions with 500 each, of which 8,000 are distinct, in one documented bank. All are live."""
    names = [mangled("helper%06d" % k) for k in range(n // 500)]
    out = [kernel("live", 0, calls=names)]
    out += [Function(name, constants=numbers(500 * k % 8000, 500)) for k, name in enumerate(names)]
    return ["--ocg=documented"], split(out)


def overflow(n):
    """N distinct constants of one function, for which the documented algorithm gives up."""
    out = [kernel("live", 0, constants=numbers(0, n))]
    return ["--ocg=documented"], split(out)


SHAPES = {f.__name__: f for f in (functions, frames, reports, documented, calls, relocs, undefined, variables, sections,
                                  wholes, chain, cycle, weak, files, members, patterns, statics, headers, lists,
                                  indirect, reach, banks, duplicates, overflow)}


def main():
    shape, n, folder = SHAPES[sys.argv[1]], int(sys.argv[2]), sys.argv[3]
    options, made = shape(n)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "args"), "w") as args:
        args.writelines(option + "\n" for option in options)
        for name, data in made:
            path = os.path.join(folder, name)
            with open(path, "wb") as out:
                out.write(data)
            args.write(path + "\n")


main()
