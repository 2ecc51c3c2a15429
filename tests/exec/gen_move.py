#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints move.vec: selection, moves, packing, prmt and cvt.pack.

    python3 tests/exec/gen_move.py > tests/exec/move.vec

Has a function for each section of the PTX ISA, as gen_integer.py does.
"""
import sys

sys.dont_write_bytecode = True  # no __pycache__ in the tree

from gen_integer import Type, corners, header, instruction, noise, ones, pairs, section, types

ANY = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"


# -- 9.7.6 Comparison and selection instructions ------------------------------------------------------------


def selp():
    section("9.7.6.3 Comparison and Selection Instructions: selp")
    for t in types(ANY):
        rows = [(*x, c) for x in pairs(t.bits)[9:] for c in (1, 0)]
        instruction(f"selp.{t.name} d, a, b, c", [t.bits, t.bits, 1], [t.bits], rows, lambda a, b, c: a if c else b)


def f32_at_least_zero(c, ftz):
    """True if the number is >= 0: -0 is, NaN is not; .ftz flushes a negative subnormal to -0."""
    magnitude = c & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return False
    return c >> 31 == 0 or magnitude == 0 or (ftz and magnitude < 0x00800000)


FLOATS = [0, 0x80000000, 0x3F800000, 0xBF800000, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
          0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0xFFC00000, 0x7F800001,
          0xFF800001]
INTEGERS = [0, 1, -1, 1 << 31, 0x7FFFFFFF, 0x80000001, 0xC0000000, 0x40000000, 2, -2, 0xFFFF, 0xFFFF0000]


def slct():
    section("9.7.6.4 Comparison and Selection Instructions: slct")
    for t in types(ANY):
        selected = noise(t.bits)
        rows = lambda third: [(selected[i % 8], selected[(i + 3) % 8], c) for i, c in enumerate(third)]
        instruction(f"slct.{t.name}.s32 d, a, b, c", [t.bits, t.bits, 32], [t.bits], rows(INTEGERS),
                    lambda a, b, c: a if Type("s32").number(c) >= 0 else b)
        for ftz in ("", ".ftz"):
            instruction(f"slct{ftz}.{t.name}.f32 d, a, b, c", [t.bits, t.bits, 32], [t.bits], rows(FLOATS),
                        lambda a, b, c: a if f32_at_least_zero(c, bool(ftz)) else b)


# -- 9.7.9 Data movement and conversion instructions --------------------------------------------------------


def mov():
    section("9.7.9.3 Data Movement and Conversion Instructions: mov")
    for t in types("pred b128 " + ANY):
        rows = [(0,), (1,)] if t.bits == 1 else ones(t.bits)
        if t.name[0] == "f":  # -0, infinities, quiet and signalling NaNs, whose bits stay the same
            top = {32: 0x7F8, 64: 0x7FF}[t.bits] << t.bits - 12
            rows += [(top,), (top | 1 << t.bits - 1,), (top | 1,), (top | 1 << t.bits - 10,), (-1,)]
        instruction(f"mov.{t.name} d, a", [t.bits], [t.bits], rows, lambda a: a)
    print("# vectors: one element at a time, and all at once")
    for name, n in (("b16", 2), ("b32", 2), ("b64", 2), ("u16", 4), ("s32", 4), ("f32", 4), ("f64", 2)):
        t = Type(name)
        names = "abce"[:n]
        values = noise(t.bits) + [*corners(t.bits)]
        rows = [[values[(i + 3 * k) % 13] for k in range(n)] for i in range(13)]
        instruction(f"mov.v{n}.{name} {{{', '.join('xyzw'[:n])}}}, {{{', '.join(names)}}}", [t.bits] * n, [t.bits] * n,
                    rows, lambda *x: x)


def packing():
    section("9.7.9.4 Data Movement and Conversion Instructions: mov")
    forms = [(16, 2), (32, 2), (32, 4), (64, 2), (64, 4), (128, 2), (128, 4)]
    for bits, n in forms:
        part = bits // n
        last = (1 << part) - 1
        one = [[last if i == k else 0 for i in range(n)] for k in range(n)]
        rows = one + [[0] * n, [last] * n, [1 << part - 1] * n, list(range(1, n + 1))]
        rows += [[noise(part)[(i + 3 * k) % 8] for k in range(n)] for i in range(8)]
        instruction(f"mov.b{bits} d, {{{', '.join('abce'[:n])}}}", [part] * n, [bits], rows,
                    lambda *x: sum(v << part * i for i, v in enumerate(x)))
    print("# the sink is a destination that drops its value")
    for bits, n in forms:
        part = bits // n
        rows = [(x,) for x in (0, -1, *(((1 << part) - 1) << part * k for k in range(n)), *noise(bits))]
        rows += [(1 << part * k,) for k in range(n)] + [(1 << part * k - 1,) for k in range(1, n + 1)]
        for kept in {2: ("xy", "_y", "x_"), 4: ("xyzw", "_yzw", "x__w", "__z_")}[n]:
            instruction(f"mov.b{bits} {{{', '.join(kept)}}}, a", [bits], [part] * n, rows,
                        lambda a: tuple(None if k == "_" else a >> part * i for i, k in enumerate(kept)), "the sink")


# Source bytes of d.b3, d.b2, d.b1, d.b0 by the selector c[1:0].
PERMUTED = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def prmt():
    section("9.7.9.7 Data Movement and Conversion Instructions: prmt")
    def byte(a, b, n):
        return (b << 32 | a) >> 8 * n & 0xFF
    def generic(a, b, c):
        d = 0
        for i in range(4):
            control = c >> 4 * i & 15
            x = byte(a, b, control % 8)
            d |= (x if control < 8 else 0xFF if x >= 0x80 else 0) << 8 * i
        return d
    values = [(0x83828180, 0x07060504), (0x03020100, 0x87868584), (0x7F80FF01, 0x00FE8171)]
    controls = [0x3210, 0x7654, 0x0123, 0x4567, 0x0000, 0x7777, 0x8888, 0xFEDC, 0xBA98, 0x8F70, 0x19E6, 0x5410, 0x7632,
                0xFFFF3210, 0x10000, 0x89ABCDEF]
    instruction("prmt.b32 d, a, b, c", [32] * 3, [32], [(*values[i % 3], c) for i, c in enumerate(controls)], generic)
    for mode, table in PERMUTED.items():
        rows = [(*x, c) for x in values for c in range(4)]
        rows += [(*values[i], c) for i, c in enumerate((4, 0xFFFFFFFD, 0x3212))]  # only two bits are used
        instruction(f"prmt.b32.{mode} d, a, b, c", [32] * 3, [32], rows,
                    lambda a, b, c: sum(byte(a, b, int(n)) << 8 * i for i, n in enumerate(reversed(table[c % 4]))))


def cvt_pack():
    section("9.7.9.22 Data Movement and Conversion Instructions: cvt.pack")
    s32 = Type("s32")
    for t in types("u16 s16 u8 s8 u4 s4 u2 s2"):
        def pack(a, b, c=0):
            a, b = (t.clamp(s32.number(x)) % (1 << t.bits) for x in (a, b))
            return c << 2 * t.bits | a << t.bits | b
        r = noise(32)
        rows = [(0, 0), (t.high, t.high + 1), (t.high + 1, t.high), (t.low, t.low - 1), (t.low - 1, t.low), (1, -1),
                (-1, 1), (0x7FFFFFFF, 1 << 31), (1 << 31, 0x7FFFFFFF), (t.high - 1, t.low + 1), (2 << t.bits, 1),
                (1, 2 << t.bits), (r[0], 1), (0, r[1])]
        third = [0, -1, 0x12345678, 0x80000001, r[2]]
        if t.bits == 16:
            instruction(f"cvt.pack.sat.{t.name}.s32 d, a, b", [32] * 2, [32], rows, pack)
        else:
            instruction(f"cvt.pack.sat.{t.name}.s32.b32 d, a, b, c", [32] * 3, [32],
                        [(*x, third[i % 5]) for i, x in enumerate(rows)], pack)


def main():
    header("move", "Selection, moves, packing and unpacking, prmt, cvt.pack.")
    for f in (selp, slct, mov, packing, prmt, cvt_pack):
        f()


if __name__ == "__main__":
    main()
