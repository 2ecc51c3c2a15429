# SPDX-License-Identifier: MIT
"""Reads cubins of ptxas for sm_70 to sm_90: functions, their instructions with opcode class, guard, branch target and
line of the PTX text, and their control-flow graphs.

A cubin is an ELF64 file. Section .text.NAME holds the code of NAME and of the device functions that NAME calls. An
instruction has 16 bytes: opcode in bits 0..11, guard in bits 12..15, target of a relative branch in bits 32..81 as a
signed offset in bytes from the next instruction. From sm_90 on, branches and calls have this offset in units of four
bytes, with its low eight bits in bits 16..23 and the others in bits 34..81. With -lineinfo, .nv_debug_line_sass is a DWARF line table over the
lines of the PTX.
"""
import collections
import struct

# Opcodes without their operand form (low 9 bits), by class.
CLASSES = {
    "int": "002 003 004 005 007 00c 010 011 012 013 014 016 017 019 01a 01b 01c 01e 024 025 026 027 035 039 03e 048 0c2",
    "uniform": "082 083 084 086 087 08c 090 091 092 096 099 09a 09b 09c 0a4 0a5 0b9 0bd 0be 0bf 1c3",
    "fp32": "000 008 009 00a 00b 020 021 022 023 030 031 032 033 034 040",
    "fp64": "028 029 02a 02b",
    "mma": "03a 03c 03d 03f 037",
    "mufu": "100 101 104 105 106 107 108 109 10a 110 111 112 113 115",
    "gld": "160 161 162 163 164 165 166 167 16c 16d 16f 170 180 181 199 1ae 1d9",
    "gst": "185 186 19b 19c 19d",
    "lld": "183",
    "lst": "187",
    "sld": "03b 184",
    "sst": "188",
    "atom": "18a 18c 18d 18e 1a6 1a8 1a9",
    "cld": "182",
    "warp": "006 148 189 1a1 1c4",
    "bar": "0c7 0c9 11a 11d 18f 192 198 1ab 1af 1b2",
    "ctl": "118 141 142 143 144 145 146 147 14a 14c 14d 14e 150 152 153 155 156 157 158 15b 15c 15d",
    "sreg": "01d 119",
}
CLASS_OF = {int(opcode, 16): name for name, opcodes in CLASSES.items() for opcode in opcodes.split()}

MOV, CS2R = 0x002, 0x005
SETP = (0x00B, 0x00C, 0x02A, 0x034)  # FSETP, ISETP, DSETP, HSETP2
CALL_ABS, CALL, BSSY, BRA, BRX, JMP, JMX, EXIT, RET, BRXU = (
    0x143, 0x144, 0x145, 0x147, 0x149, 0x14A, 0x14C, 0x14D, 0x150, 0x158)
NOP12, BRA12 = 0x918, 0x947  # with the operand form
ALWAYS = 7  # the guard PT
IMMEDIATE = 4  # operand form
LINKED = 1  # operand form of calls from sm_90 on that name the register of the return address
INDIRECT_TARGETS = 0x34  # attribute of .nv.info.NAME
OUTSIDE = -1  # successor of a block that ends the function

Section = collections.namedtuple("Section", "name type data size info link")
Symbol = collections.namedtuple("Symbol", "name section value is_function")


class Insn:
    """An instruction. opcode: without the operand form; line: of the PTX, or None; target: index of an instruction,
    or None."""

    __slots__ = ("opcode", "cls", "guarded", "conditional", "target", "line")

    def __init__(self, at, low, high, line, sm):
        self.opcode = low & 0x1FF
        self.cls = CLASS_OF.get(self.opcode, "other")
        self.guarded = self.conditional = low >> 12 & 15 != ALWAYS
        self.target = None
        self.line = line
        linked = sm >= 90 and self.opcode == CALL and low >> 9 & 7 == LINKED
        if linked or (self.opcode in (BRA, CALL, BSSY, JMP) and low >> 9 & 7 == IMMEDIATE):
            split = sm >= 90 and self.opcode in (BRA, CALL)
            offset = (high & 0x3FFFF) << 32 | low >> 32
            if offset >> 49:
                offset -= 1 << 50
            if split:
                offset = (offset >> 2 << 8 | low >> 16 & 255) * 4
            self.target = at + 1 + offset // 16
            if self.opcode == BRA and high >> 23 & 15 != ALWAYS:
                self.conditional = True


class Function:
    """A function. code: instructions without the padding; entries: indices of the first instructions of the
    functions in it; jumps: {index of an indirect branch: its targets}."""

    def __init__(self, name, code, entries, jumps, regs):
        self.name, self.code, self.entries, self.jumps, self.regs = name, code, entries, jumps, regs


class Graph:
    """A control-flow graph. blocks: (first, end) of each; successors: block numbers or OUTSIDE; entries: blocks with
    an edge from the outside; calls: {block of a callee: all of its call sites}, for callees without indirect calls."""

    def __init__(self, function):
        code, jumps = function.code, function.jumps
        size = len(code)
        leaders, calls = {0} | function.entries, collections.defaultdict(list)
        indirect = any(insn.opcode in (CALL, CALL_ABS) and insn.target is None for insn in code)
        for at, insn in enumerate(code):
            inside = insn.target is not None and 0 <= insn.target < size
            if insn.opcode in (BRA, JMP):
                leaders.add(at + 1)
                if inside:
                    leaders.add(insn.target)
            elif insn.opcode == CALL and inside:
                leaders.add(insn.target)
                calls[insn.target].append(at)
            elif insn.opcode in (EXIT, RET, BRX, JMX, BRXU):
                leaders.add(at + 1)
            leaders.update(jumps.get(at, ()))
        starts = sorted(at for at in leaders if at < size)
        number = {at: block for block, at in enumerate(starts)}
        self.blocks = list(zip(starts, starts[1:] + [size]))
        self.entries = {0} | {number[at] for at in function.entries | set(calls) if at in number}
        self.calls = {number[target]: sites for target, sites in calls.items()
                      if not (indirect and target in function.entries)}
        self.block_of = [block for block, (first, end) in enumerate(self.blocks) for _ in range(first, end)]
        self.successors = [self._leads_to(code, jumps, number, first, end) for first, end in self.blocks]

    @staticmethod
    def _leads_to(code, jumps, number, first, end):
        last = code[end - 1]
        next_block = number.get(end, OUTSIDE)
        if last.opcode in (BRA, JMP):
            to = [number[last.target]] if last.target in number else []
        elif last.opcode in (EXIT, RET):
            to = [OUTSIDE]
        elif last.opcode in (BRX, JMX, BRXU):
            targets = jumps.get(end - 1) or next((jumps[at] for at in range(first, end) if at in jumps), [])
            to = [number[target] for target in targets if target in number] or [OUTSIDE]
        else:
            return [next_block]
        if last.conditional and next_block != OUTSIDE:
            to.append(next_block)
        return list(dict.fromkeys(to))


# -- ELF ----------------------------------------------------------------------------------------------------


def text_at(table, offset):
    return table[offset:table.index(b"\0", offset)].decode()


def read_sections(data):
    header, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, header + k * size) for k in range(count)]
    strings = data[raw[names][4]:raw[names][4] + raw[names][5]]
    return [Section(text_at(strings, r[0]), r[1], data[r[4]:r[4] + r[5]], r[5], r[7], r[6]) for r in raw]


def read_symbols(sections):
    for section in sections:
        if section.type == 2:
            strings = sections[section.link].data
            rows = struct.iter_unpack("<IBBHQQ", section.data)
            return [Symbol(text_at(strings, row[0]), row[3], row[4], row[1] & 15 == 2) for row in rows]
    return []


# -- Lines --------------------------------------------------------------------------------------------------


class Reader:
    """Reads the numbers of a DWARF table in order."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value


def line_rows(reader, end, relocated, base, scale, lengths):
    """Runs one line program; yields (section, address, line), with line None at the end of a sequence."""
    line_base, line_range, opcode_base = base
    address, line, section = 0, 1, None
    while reader.at < end:
        op = reader.take("B")
        if op >= opcode_base:
            address += (op - opcode_base) // line_range * scale
            line += line_base + (op - opcode_base) % line_range
            yield section, address, line
        elif op == 0:
            end_of_entry = reader.unsigned() + reader.at
            kind = reader.take("B")
            if kind == 2:
                section = relocated.get(reader.at, section)
                address = reader.take("Q")
            elif kind == 1:
                yield section, address, None
                address, line = 0, 1
            reader.at = end_of_entry
        elif op == 1:
            yield section, address, line
        elif op == 2:
            address += reader.unsigned() * scale
        elif op == 3:
            line += reader.signed()
        elif op == 8:
            address += (255 - opcode_base) // line_range * scale
        elif op == 9:
            address += reader.take("H")
        else:
            for _ in range(lengths[op - 1]):
                reader.unsigned()


def read_lines(sections, symbols):
    """Returns {name of a text section: sorted [(address, line)]}."""
    by_name = {section.name: section for section in sections}
    table = by_name.get(".nv_debug_line_sass")
    rows = collections.defaultdict(list)
    if not table:
        return rows
    relocated = {}
    for name, form in ((".rel.nv_debug_line_sass", "<QQ"), (".rela.nv_debug_line_sass", "<QQq")):
        if name in by_name:
            for row in struct.iter_unpack(form, by_name[name].data):
                relocated[row[0]] = sections[symbols[row[1] >> 32].section].name
    reader = Reader(table.data, 0)
    while reader.at < table.size:
        length = reader.take("I")
        end = reader.at + length
        reader.take("H")  # version
        header = reader.take("I")
        program = reader.at + header
        scale = reader.take("B")
        reader.take("B")  # is_stmt
        base = reader.take("b"), reader.take("B"), reader.take("B")
        lengths = [reader.take("B") for _ in range(base[2] - 1)]
        reader.at = program
        for section, address, line in line_rows(reader, end, relocated, base, scale, lengths):
            rows[section].append((address, line))
        reader.at = end
    for of in rows.values():
        of.sort(key=lambda row: (row[0], row[1] is None))
    return rows


# -- Functions ----------------------------------------------------------------------------------------------


def indirect_targets(info):
    """Returns {index of an indirect branch: indices of its targets} of a section .nv.info.NAME."""
    jumps, at = {}, 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != 4:
            continue
        where, end = at, at + size
        while attribute == INDIRECT_TARGETS and where + 12 <= end:
            branch, count = struct.unpack_from("<I4xI", info, where)
            where += 12
            if where + 4 * count <= end:
                jumps[branch // 16] = [to // 16 for to in struct.unpack_from("<%dI" % count, info, where)]
            where += 4 * count
        at = end
    return jumps


def read_code(data, rows, sm):
    words = list(struct.iter_unpack("<QQ", data[:len(data) // 16 * 16]))
    size = len(words)
    while size and words[size - 1][0] & 0xFFF == NOP12:
        size -= 1
    code, row, line = [], 0, None
    for at, (low, high) in enumerate(words[:size]):
        while row < len(rows) and rows[row][0] <= 16 * at:
            line = rows[row][1]
            row += 1
        code.append(Insn(at, low, high, line, sm))
    if size >= 2 and words[size - 1][0] & 0xFFF == BRA12 and code[-1].target == size - 1:
        code.pop()  # the branch to itself before the padding
    return code


def read_functions(data):
    sections = read_sections(data)
    sm = data[49]  # the second byte of the flags
    symbols = read_symbols(sections)
    lines = read_lines(sections, symbols)
    info = {section.name: section.data for section in sections}
    functions = []
    for number, section in enumerate(sections):
        if section.name.startswith(".text.") and section.data:
            name = section.name[6:]
            entries = {symbol.value // 16 for symbol in symbols if symbol.section == number and symbol.is_function}
            jumps = indirect_targets(info.get(".nv.info." + name, b""))
            code = read_code(section.data, lines[section.name], sm)
            functions.append(Function(name, code, entries, jumps, section.info >> 24))
    return functions
