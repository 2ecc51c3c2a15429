#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what ptxas, orirun and oriopt make of constants, for tests/ptxas/meaning.sh.

    meaning.py DIR STEP [NAME...]      every STEP-th slot, and all slots of mnemonics that begin with a NAME

Each operand of each instruction of the tables in tests/exec gets edge values, once as a constant in a register and once
as an immediate. The other operands are constants in registers, with the values of cases of the table. ptxas folds such
code, and the constants that it stores are read from the cubin. They must be those that

    orirun                          stores,
    oriopt --named-phases=OriCopyProp, and ptxas    store, which shows that constants keep their meaning as operands,
    oriopt -O3, and ptxas           store.

Instructions with effects (EFFECTS) cannot be folded. For them ptxas must make the same code of the input and of the
output of OriCopyProp.

Prints a line for each difference, then the number of results that were compared and that ptxas did not fold. Rows of
meaning.txt are differences that are no mistake. Environment: ORIOPT, ORIRUN.
"""
import os
import re
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EDGES = [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 260, 32767, 32768, 65535, 65536,
         65537, 0x1000F, 2**31 - 1, 2**31, 2**31 + 1, 0xFFFF0001, 2**32 - 8, 2**32 - 1, 2**32 + 1, 2**63 - 1, 2**63,
         2**64 - 2**32 + 1, 2**64 - 1]
CASES = 2           # of the table, for the other operands
KERNELS = 60        # of a module
TARGET = "sm_75"    # has the fewest ways to make a constant
TYPE = re.compile(r"[usbf](8|16|32|64|128)|f16x2|bf16(x2)?|tf32|[us]16x2|f32x2|pred|e4m3x2|e5m2x2")
FORMS = ("reg", "imm")
# Results that no phase folds and that the ISA does not state to the bit: orirun rounds them correctly.
APPROXIMATE = re.compile(r"(sin|cos|lg2|ex2|tanh|rsqrt)\.|.*\.(approx|full)\b|(div|rcp|sqrt)\.(ftz\.)?f32$")
# Bits of the exponents, to recognize a NaN. ptxas often keeps its payload, and folds x * 1.0 to x (fact N6).
EXPONENT = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "tf32": 0x7F800000, "f64": 0x7FF << 52}
EFFECTS = """
st.global.u8 [%buffer], @16
st.global.s8 [%buffer], @32
st.global.b16 [%buffer], @16
st.global.u16 [%buffer], @32
st.global.b32 [%buffer], @32
st.global.u32 [%buffer], @64
st.global.s64 [%buffer], @64
st.global.v2.u8 [%buffer], {@16, %h}
st.global.v2.b32 [%buffer], {%r, @32}
st.volatile.global.u16 [%buffer], @16
atom.global.add.u32 %r, [%buffer], @32
atom.global.add.u64 %d, [%buffer], @64
atom.global.inc.u32 %r, [%buffer], @32
atom.global.min.s32 %r, [%buffer], @32
atom.global.exch.b64 %d, [%buffer], @64
atom.global.cas.b32 %r, [%buffer], @32, %r
atom.global.cas.b32 %r, [%buffer], %r, @32
atom.global.cas.b16 %h, [%buffer], @16, %h
red.global.add.s32 [%buffer], @32
red.global.max.u64 [%buffer], @64
shfl.sync.up.b32 %r, %r, @32, 0, -1
shfl.sync.down.b32 %r, %r, 1, @32, -1
shfl.sync.bfly.b32 %r, %r, @32, 31, -1
shfl.sync.idx.b32 %r|%q, %r, @32, 31, -1
shfl.sync.idx.b32 %r, @32, %r, 31, -1
match.any.sync.b32 %r, @32, -1
match.any.sync.b64 %r, @64, -1
nanosleep.u32 @32
"""


class Instruction:
    def __init__(self, text):
        self.text = text
        self.mnemonic, self.shape = text.split(None, 1)
        parts, depth = [], 0
        for c in self.shape:
            depth += (c == "{") - (c == "}")
            if c == "," and not depth:
                break
            parts.append(c)
        head = "".join(parts)
        names = lambda s: re.findall(r"(?<![\w.])[a-z_]\w*", s)
        self.outs, self.ins = names(head), names(self.shape[len(head):])
        self.carry_in = self.carry_out = False
        self.digits, self.cases = {}, []
        self.types = [p for p in self.mnemonic.split(".") if TYPE.fullmatch(p)]

    def add_case(self, line):
        before, after = (side.split() for side in line.split("->"))
        self.carry_in, self.carry_out = len(before) > len(self.ins), len(after) > len(self.outs)
        named = list(zip(self.ins + ["carry"], before)) + list(zip(self.outs + ["carry"], after))
        for name, value in named:
            if value != "_":
                self.digits[name] = len(value)
        if len(self.cases) < CASES:
            self.cases.append({n: int(v, 16) for n, v in zip(self.ins + ["carry"], before)})

    def type_of(self, name):
        """Returns the type that an immediate has in the slot."""
        if self.digits[name] == 1:
            return "pred"
        first = self.mnemonic.split(".")[0]
        k = self.ins.index(name)
        if first in ("cvt", "set") or (first == "slct" and k == 2):
            return self.types[-1] if self.types else "b32"
        return self.types[0] if self.types else "b32"

    def literal(self, name, value):
        """Returns the text of the immediate, or None if there is none in this slot."""
        kind = self.type_of(name)
        if "." + name in self.shape or re.search(r"\b%s\." % name, self.shape):
            return None
        if kind == "pred":
            return str(value) if value < 2 else None
        if kind == "f32":
            return "0f%08x" % (value & 2**32 - 1)
        if kind == "f64":
            return "0d%016x" % (value & 2**64 - 1)
        if "f16" in kind or kind[0] in "ef" or kind == "tf32":
            return None
        return "0x%x" % value

    def bits(self, name):
        return {1: 1, 2: 16}.get(self.digits[name], 4 * self.digits[name])


def read_tables():
    found = []
    for table in ("integer", "move", "float", "compare", "convert", "video"):
        skip = False
        for line in open(f"{ROOT}/tests/exec/{table}.vec"):
            later = line.startswith("# sm_100 and later")
            text = line.split("#")[0].rstrip()
            if later:
                skip = True
            elif text and text[0] not in " @":
                found.append(Instruction(text))
                found[-1].skip = skip
                skip = False
            elif text.startswith(" "):
                found[-1].add_case(text)
    return [i for i in found if not i.skip and max(i.digits.values()) <= 16 and set(i.outs + i.ins) - {"_"} <= set(i.digits)
            and not (set(i.outs) - {"_"} & set(i.ins))]


class Kernel:
    """A slot of an instruction with each edge value, in one form. Result k is stored at 8 * k."""

    def __init__(self, i, slot, form):
        self.i, self.slot, self.form = i, slot, form
        self.rows = []  # (value, output, text of the immediate, case)
        self.name = re.sub(r"\W", "_", f"{i.mnemonic}__{slot}_{form}")
        seen = set()
        for value in EDGES:
            number = value & (1 << i.bits(slot)) - 1
            literal = i.literal(slot, value) if form == "imm" else None
            key = literal if form == "imm" else number
            if key in seen or (form == "imm" and literal is None):
                continue
            seen.add(key)
            self.rows += [(value, number, literal, case) for case in i.cases]

    def outputs(self):
        return [o for o in self.i.outs if o != "_"] + (["carry"] if self.i.carry_out else [])

    def body(self, row):
        value, number, literal, case = row
        i, lines = self.i, []
        for name in i.ins:
            x = number if name == self.slot else case[name]
            if i.bits(name) == 1:
                lines.append(f"setp.ne.u32 %{name}, {x}, 0;")
            elif name != self.slot or literal is None:
                lines.append(f"mov.b{i.bits(name)} %{name}, 0x{x:x};")
        if i.carry_in:
            lines += [f"mov.b32 %carry, {case['carry']};", "add.cc.u32 %word, %carry, 0xffffffff;"]
        text = re.sub(r"(?<![\w.])([a-z]\w*)", r"%\1", re.sub(r":\d+", "", i.shape))
        if literal is not None:
            text = re.sub(r"%%%s\b" % self.slot, literal, text)
        lines.append(f"{i.mnemonic} {text};")
        if i.carry_out:
            lines.append("addc.u32 %carry, 0, 0;")
        return lines

    def print(self, rejected):
        regs = {n: i for i in [self.i] for n in i.ins + i.outs if n != "_"}
        out = [f".visible .entry {self.name}(.param .u64 p) {{", ".reg .b64 %buffer; .reg .b32 %word, %carry;"]
        for name in regs:
            bits = self.i.bits(name)
            out.append(f".reg .{'pred' if bits == 1 else 'b%d' % bits} %{name};")
        out.append("ld.param.u64 %buffer, [p];")
        at = self.base
        for k, row in enumerate(self.rows):
            lines = self.body(row)
            for o in self.outputs():
                bits = 32 if o == "carry" else self.i.bits(o)
                if bits == 1:
                    lines += [f"selp.b32 %word, 1, 0, %{o};", f"st.global.b32 [%buffer+{at}], %word;"]
                else:
                    lines.append(f"st.global.b{bits} [%buffer+{at}], %{o};")
                at += 8
            # One line for a row, so that a message of ptxas names the row.
            out.append("" if (self.name, k) in rejected else " ".join(lines))
        return out + ["ret; }"]

    def places(self):
        """Yields (row, output, offset, bytes)."""
        at = self.base
        for row in self.rows:
            for o in self.outputs():
                bits = 32 if o == "carry" else self.i.bits(o)
                yield row, o, at, 4 if bits == 1 else bits // 8
                at += 8


def code_of(path):
    """Returns {kernel: code} of a cubin."""
    data = open(path, "rb").read()
    at, = struct.unpack_from("<Q", data, 40)
    _, n, names = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQII", data, at + 64 * k) for k in range(n)]
    found = {}
    for s in sections:
        start = sections[names][4] + s[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text."):
            found[name[6:]] = data[s[4]:s[4] + s[5]]
    return found


def stored_constants(path):
    """Returns {kernel: {offset: value}} of a cubin: the constants that straight-line code stores."""
    return {name: stored_in(code) for name, code in code_of(path).items()}


def stored_in(code):
    regs, found = {255: 0}, {}
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        op, to, a, imm, c = low & 0xFFF, low >> 16 & 255, low >> 24 & 255, low >> 32, high & 255
        move = high >> 8 & 0xFFFFFF == 0x078E00 and a == 255  # of IMAD: .MOV.U32, no carry
        if low >> 12 & 15 != 7:  # under a guard
            regs[to] = regs[to + 1] = None
        elif op == 0x802:  # MOV Rd, imm
            regs[to] = imm
        elif op == 0x424 and move and c == 255:  # IMAD.MOV Rd, RZ, RZ, imm
            regs[to] = imm
        elif op == 0x435 and high & 0xFFFFFFFF == 0x1FF and a == 255:  # HFMA2.MMA Rd, -RZ, RZ, imm
            regs[to] = imm
        elif op == 0x805:  # CS2R Rd, SRZ
            regs[to] = 0
            regs[to + 1] = 0
        elif op == 0x202:  # MOV Rd, Rb
            regs[to] = regs.get(imm & 255)
        elif op == 0x224 and move and imm & 255 == 255:  # IMAD.MOV Rd, RZ, RZ, Rc
            regs[to] = regs.get(c)
        elif op == 0x816 and regs.get(a) is not None and regs.get(c) is not None:  # PRMT Rd, Ra, imm, Rc
            both = regs[a] | regs[c] << 32
            regs[to] = sum((both >> 8 * (imm >> 4 * k & 7) & 255) << 8 * k for k in range(4)) if not imm & 0x8888 else None
        elif op == 0x386 or op == 0x986:  # STG
            from_, size, place = imm & 255, high >> 9 & 7, low >> 40 & 0xFFFFFF
            parts = [regs.get(from_ + k if from_ != 255 else 255) for k in range(2 if size == 5 else 1)]
            value = None if None in parts else sum(x << 32 * k for k, x in enumerate(parts))
            found[place] = value if value is None else value & (1 << {0: 8, 2: 16, 4: 32, 5: 64}[size]) - 1
        elif 0x940 <= op < 0x960:  # branches, calls, exit: code after them may not run in order
            return found
        else:
            regs[to] = regs[to + 1] = None
    return found


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class Group:
    """The kernels of one module."""

    def __init__(self, kernels, folder, number):
        self.kernels, self.path = kernels, f"{folder}/{number}"
        self.bytes = 0
        for k in kernels:
            k.base = self.bytes
            self.bytes += 8 * len(k.rows) * len(k.outputs())
        self.rejected = set()

    def write(self):
        lines, self.line_of = [".version 8.8", f".target {TARGET}", ".address_size 64"], {}
        for k in self.kernels:
            text = k.print(self.rejected)
            first = len(lines) + len(text) - 1 - len(k.rows)
            self.line_of.update({first + n + 1: (k.name, n) for n in range(len(k.rows))})
            lines += text
        open(self.path + ".ptx", "w").write("\n".join(lines) + "\n")

    def assemble(self, ptx):
        return run("ptxas", "-arch", TARGET, "-O3", "-o", self.path + ".cubin", ptx)

    def constants(self, ptx, read=stored_constants):
        """Returns the constants that ptxas stores, or what `read` returns of the cubin, or a message."""
        said = self.assemble(ptx)
        return read(self.path + ".cubin") if said.returncode == 0 else said.stderr.split("\n")[0]

    def input_constants(self, read=stored_constants):
        """The same for the input. Rows that ptxas rejects are left out."""
        for turn in range(6):
            self.write()
            found = self.constants(self.path + ".ptx", read)
            if not isinstance(found, str):
                return found
            lines = re.findall(r"line (\d+); error", self.assemble(self.path + ".ptx").stderr)
            self.rejected |= {self.line_of[int(n)] for n in lines if int(n) in self.line_of}
        return found

    def memory(self):
        """Returns what the kernels leave in memory, or a message."""
        launches = [f"entry {k.name}\n" + ("keep\n" if n else f"arg buf:{self.bytes}\n") for n, k in enumerate(self.kernels)]
        with open(self.path + ".run", "w") as f:
            f.write(f"file {self.path}.ptx\n" + "---\n".join(launches) + f"dump-file 0={self.path}.bin\n")
        said = run(os.environ["ORIRUN"], self.path + ".run")
        return open(self.path + ".bin", "rb").read() if said.returncode == 0 else said.stderr.split("\n")[0]

    def optimized(self, *plan, read=stored_constants):
        said = run(os.environ["ORIOPT"], *plan, "-o", self.path + ".out.ptx", self.path + ".ptx")
        return self.constants(self.path + ".out.ptx", read) if said.returncode == 0 else said.stderr.split("\n")[0]


def is_nan(i, value):
    kind = (i.types or [""])[0]
    parts, width = (2, 16) if kind.endswith("16x2") else (1, 64)
    mask = EXPONENT.get(kind.replace("x2", ""))
    ones = [value >> width * k & (1 << width) - 1 for k in range(parts)]
    return mask is not None and any(x & mask == mask and x & ~mask & mask - 1 for x in ones)


def differs(i, who, value, want):
    if value is None or value == want or (who == "orirun" and APPROXIMATE.match(i.mnemonic)):
        return False
    return not (is_nan(i, value) and is_nan(i, want))


class Effect:
    """An instruction with an effect, with each edge value in the slot, in one form."""

    def __init__(self, number, text, form):
        self.text, self.name = text, f"effect_{number}_{form}"
        self.bits = int(re.search(r"@(\d+)", text)[1])
        self.immediate, self.rows = form == "imm", [v & (1 << self.bits) - 1 for v in EDGES]
        self.base = 0

    def outputs(self):
        return []

    def print(self, rejected):
        out = [f".visible .entry {self.name}(.param .u64 p) {{",
               ".reg .b64 %buffer, %d, %c64; .reg .b32 %r, %c32; .reg .b16 %h, %c16; .reg .pred %q;",
               "ld.param.u64 %buffer, [p]; ld.global.b32 %r, [%buffer]; ld.global.b16 %h, [%buffer+4];"]
        for n, value in enumerate(self.rows):
            operand = hex(value) if self.immediate else f"%c{self.bits}"
            code = f"{re.sub('@[0-9]+', operand, self.text)};"
            code = code if self.immediate else f"mov.b{self.bits} {operand}, {value}; {code}"
            for reg, store in (("%r", "b32"), ("%d", "b64"), ("%h", "b16")):
                if re.match(rf"\S+ {reg}\b", self.text):
                    code += f" st.global.{store} [%buffer+{8 * n}], {reg};"
            if "|%q" in self.text:
                code += f" selp.b32 %r, 1, 0, %q; st.global.b32 [%buffer+{8 * n}], %r;"
            out.append("" if (self.name, n) in rejected else code)
        return out + ["ret; }"]


def check_effects(folder):
    """Compares the code of instructions with effects. Returns the numbers of kernels that are equal and that differ."""
    texts = EFFECTS.split("\n")[1:-1]
    group = Group([Effect(n, text, form) for n, text in enumerate(texts) for form in FORMS], folder, "effects")
    code = group.input_constants(code_of)
    copied = group.optimized("--named-phases=OriCopyProp", read=code_of)
    for found in (code, copied):
        if isinstance(found, str):
            print(f"FAIL effects: {found}")
            return 0, 1
    wrong = [k for k in group.kernels if code[k.name] != copied[k.name]]
    for k in wrong:
        print(f"FAIL copies: ptxas makes other code of `{k.text}` with constants in {'text' if k.immediate else 'registers'}")
    return len(group.kernels) - len(wrong), len(wrong)


def read_exceptions():
    rows = [line.split(None, 3) for line in open(f"{ROOT}/tests/ptxas/meaning.txt") if line.strip() and line[0] != "#"]
    return {(mnemonic, slot, who): False for mnemonic, slot, who, _ in rows}


def main():
    folder, step = sys.argv[1], int(sys.argv[2])
    slots = [(i, s) for i in read_tables() for s in dict.fromkeys(i.ins)]
    names = tuple(sys.argv[3:])
    kernels = [Kernel(i, s, f) for n, (i, s) in enumerate(slots) if n % step == 0 or i.mnemonic.startswith(names)
               for f in FORMS]
    kernels = [k for k in {k.name: k for k in kernels}.values() if k.rows]
    exceptions = read_exceptions()
    unfolded = refused = 0
    compared, failed = check_effects(folder)
    for n in range(0, len(kernels), KERNELS):
        group = Group(kernels[n:n + KERNELS], folder, n // KERNELS)
        ptxas = group.input_constants()
        refused += len(group.rejected)
        others = {"ptxas": ptxas, "orirun": group.memory(), "copies": group.optimized("--named-phases=OriCopyProp"),
                  "oriopt": group.optimized("-O3")}
        for who, found in others.items():
            if isinstance(found, str):
                print(f"FAIL {who}, module {n // KERNELS}: {found}")
                failed += 1
        if any(isinstance(found, str) for found in others.values()):
            continue
        for k in group.kernels:
            for number, (row, o, at, size) in enumerate(k.places()):
                want = ptxas[k.name].get(at)
                if (k.name, number // len(k.outputs())) in group.rejected:
                    continue
                if want is None:
                    unfolded += 1
                    continue
                compared += 1
                is_ = {"orirun": int.from_bytes(others["orirun"][at:at + size], "little"),
                       "copies": others["copies"][k.name].get(at), "oriopt": others["oriopt"].get(k.name, {}).get(at)}
                for who, x in is_.items():
                    if not differs(k.i, who, x, want):
                        continue
                    key = (k.i.mnemonic, k.slot, who)
                    if key in exceptions:
                        exceptions[key] = True
                        continue
                    failed += 1
                    print(f"FAIL {who}: {o} of `{' '.join(k.body(row))}` is 0x{x:x}, ptxas folds 0x{want:x}")
    unused = [key for key, used in exceptions.items() if not used and step == 1]
    for key in unused:
        print("FAIL meaning.txt: the row has no effect:", *key)
    print(f"{len(kernels)} slots, {compared} results compared, {unfolded} not folded, {refused} rejected")
    print(f"{compared} passed, {failed + len(unused)} failed, 0 skipped")
    sys.exit(failed + len(unused) > 0)


if __name__ == "__main__":
    main()
