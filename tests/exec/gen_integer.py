#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints integer.vec: integer arithmetic, carry chains, comparisons, logic and shifts.

    python3 tests/exec/gen_integer.py > tests/exec/integer.vec

Each function below computes one section of the PTX ISA in exact integers, independent of other implementations. It
takes the numbers of the operands (signed or not, by the type) and returns a number, which show() truncates to the width
of the destination. None is any value: the ISA leaves it open.
"""
import random

CASES_MIN = 12


# -- Numbers and bits ---------------------------------------------------------------------------------------


def signed(x, bits):
    """Returns the low `bits` bits of x as a two's complement number."""
    x %= 1 << bits
    return x - (1 << bits) if x >> (bits - 1) else x


def bit(x, i):
    return x >> i & 1


class Type:
    """A type by its name: s32, u16, b64, f32, pred."""

    def __init__(self, name):
        self.name = name
        self.bits = 1 if name == "pred" else int(name[1:])
        self.signed = name[0] == "s"
        self.low = -(1 << (self.bits - 1)) if self.signed else 0
        self.high = (1 << (self.bits - self.signed)) - 1

    def number(self, x):
        return signed(x, self.bits) if self.signed else x % (1 << self.bits)

    def clamp(self, x):
        return min(max(x, self.low), self.high)


def types(names):
    return [Type(name) for name in names.split()]


ALL = "u16 s16 u32 s32 u64 s64"
WIDE = "u32 s32 u64 s64"


# -- Operands -----------------------------------------------------------------------------------------------


def noise(bits):
    """Returns eight random numbers, the same in each run."""
    r = random.Random(bits)
    return [r.getrandbits(bits) for _ in range(8)]


def corners(bits):
    """Returns 0, 1, the greatest and the least signed number, all ones."""
    return 0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1


def ones(bits):
    """Returns operands of an instruction with one source."""
    z, o, p, m, f = corners(bits)
    r = noise(bits)
    return [(x,) for x in (z, o, p, m, f, 2, m + 1, f - 1, p - 1, 0x5A, *r[:5])]


def pairs(bits):
    z, o, p, m, f = corners(bits)
    r = noise(bits)
    return [(z, z), (z, o), (o, f), (f, f), (p, o), (p, p), (m, o), (m, f), (m, m), (f, m), (z, m), (m, p), (p, f),
            (r[0], r[1]), (r[2], r[3]), (r[4], r[4])]


def halves(bits):
    """Returns factors near the square root of the largest number."""
    h = 1 << (bits // 2)
    return [(h, h), (h - 1, h + 1), (h - 1, h - 1), (h // 2, h), (-h, h - 1), (-h, -h)]


def triples(bits, of=pairs):
    z, o, p, m, f = corners(bits)
    third = [z, o, f, m, p, *noise(bits)[5:]]
    return [(*x, third[i % len(third)]) for i, x in enumerate(of(bits))]


def products(bits):
    return pairs(bits)[1:] + halves(bits)


def with_bit(rows):
    """Returns each row with a carry or predicate of 1, and every second one also with 0."""
    return [(*x, c) for i, x in enumerate(rows) for c in ((0, 1) if i % 2 == 0 else (1,))]


# -- Printing -----------------------------------------------------------------------------------------------


def show(x, bits):
    return "_" if x is None else f"{x % (1 << bits):0{(bits + 3) // 4}x}"


def header(name, *lines):
    print("# SPDX-License-Identifier: MIT")
    print(f"# Made by gen_{name}.py, which computes the ISA's definitions in exact integers.")
    for text in lines:
        print(f"# {text}")


def section(title):
    print(f"\n@ {title}")


def instruction(text, sources, results, rows, f, why=""):
    """Prints an instruction and its cases.

    sources, results: widths of the operands, hidden ones last; rows: bits of the sources; f: maps a row to a result or
    a tuple of results; why: comment of cases with an open result.
    """
    print(text)
    rows = list(dict.fromkeys(tuple(x % (1 << n) for x, n in zip(row, sources)) for row in rows))
    while len(rows) < CASES_MIN and set(sources) == {1}:  # predicates have only few combinations
        rows += rows
    assert len(rows) >= CASES_MIN, text
    for row in rows:
        out = f(*row)
        out = out if isinstance(out, tuple) else (out,)
        assert len(row) == len(sources) and len(out) == len(results), text
        left = " ".join(show(x, n) for x, n in zip(row, sources))
        right = " ".join(show(x, n) for x, n in zip(out, results))
        assert None not in out or why, text
        print(f"    {left} -> {right}" + (f"  # {why}" if None in out else ""))


def plain(mnemonic, names, operands, rows, f, why=""):
    """Prints an instruction in several types; all its operands have the type."""
    for t in types(names):
        instruction(f"{mnemonic}.{t.name} {operands}", [t.bits] * operands.count(","), [t.bits], rows(t.bits),
                    lambda *x: f(t, *map(t.number, x)), why)


# -- 9.7.1 Integer arithmetic instructions ------------------------------------------------------------------


def packed(f):
    """Returns f applied to each half of 32 bits."""
    def run(t, *x):
        low, high = (f(*(t.number(v >> n) for v in x)) for n in (0, 16))
        return low % 0x10000 | high % 0x10000 << 16
    return run


def packed_pairs(_):
    p16 = pairs(16)
    return [(a | c << 16, b | d << 16) for (a, b), (c, d) in zip(p16, p16[5:] + p16[:5])]


def packed_types(mnemonic, names, f):
    for t in types(names):
        instruction(f"{mnemonic}.{t.name}x2 d, a, b", [32, 32], [32], packed_pairs(t),
                    lambda a, b: packed(f)(t, a, b))


def add():
    section("9.7.1.1 Integer Arithmetic Instructions: add")
    plain("add", ALL, "d, a, b", pairs, lambda t, a, b: a + b)
    plain("add.sat", "s32", "d, a, b", pairs, lambda t, a, b: t.clamp(a + b))
    packed_types("add", "u16 s16", lambda a, b: a + b)


def sub():
    section("9.7.1.2 Integer Arithmetic Instructions: sub")
    plain("sub", ALL, "d, a, b", pairs, lambda t, a, b: a - b)
    plain("sub.sat", "s32", "d, a, b", pairs, lambda t, a, b: t.clamp(a - b))


def mul():
    section("9.7.1.3 Integer Arithmetic Instructions: mul")
    plain("mul.lo", ALL, "d, a, b", products, lambda t, a, b: a * b)
    plain("mul.hi", ALL, "d, a, b", products, lambda t, a, b: a * b >> t.bits)
    for t in types("u16 s16 u32 s32"):
        instruction(f"mul.wide.{t.name} d, a, b", [t.bits] * 2, [2 * t.bits], products(t.bits),
                    lambda a, b: t.number(a) * t.number(b))


def mad():
    section("9.7.1.4 Integer Arithmetic Instructions: mad")
    of = lambda n: triples(n, products)
    plain("mad.lo", ALL, "d, a, b, c", of, lambda t, a, b, c: a * b + c)
    plain("mad.hi", ALL, "d, a, b, c", of, lambda t, a, b, c: (a * b >> t.bits) + c)
    bounds = [(1 << 31, 1 << 31, 0x40000000), (1 << 31, 1 << 31, 0x3FFFFFFF), (1 << 31, 0x7FFFFFFF, 0xC0000000),
              (1 << 31, 0x7FFFFFFF, 0x80000000), (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF), (-1, 1, 1 << 31)]
    plain("mad.hi.sat", "s32", "d, a, b, c", lambda n: of(n) + bounds, lambda t, a, b, c: t.clamp((a * b >> 32) + c))
    for t in types("u16 s16 u32 s32"):
        w = Type(f"{t.name[0]}{2 * t.bits}")
        third = corners(w.bits) + tuple(noise(w.bits))
        rows = [(*x, third[i % len(third)]) for i, x in enumerate(products(t.bits))]
        instruction(f"mad.wide.{t.name} d, a, b, c", [t.bits] * 2 + [w.bits], [w.bits], rows,
                    lambda a, b, c: t.number(a) * t.number(b) + w.number(c))


# "24-bit integer values held in 32-bit source registers": the low 24 bits of a register, independent of the others.
def factors24(_):
    z, o, p, m, f = corners(24)
    return pairs(24) + [(0x1000, 0x1000), (0x800, 0x1000), (0xFF000003, 0x7F000005), (0xFFFFFFFF, 0x80000001),
                        (0xFF800000, 0xFF800000), (m | 0xFF << 24, p)]


def product24(t, a, b):
    part = Type(f"{t.name[0]}24")
    return part.number(a) * part.number(b)


def mul24():
    section("9.7.1.5 Integer Arithmetic Instructions: mul24")
    print("# bits 31:24 of a and b are ignored")
    plain("mul24.lo", "u32 s32", "d, a, b", factors24, product24)
    plain("mul24.hi", "u32 s32", "d, a, b", factors24, lambda t, a, b: product24(t, a, b) >> 16)


def mad24():
    section("9.7.1.6 Integer Arithmetic Instructions: mad24")
    third = [0, 1, -1, 1 << 31, 0x7FFFFFFF, *noise(32)[:4]]
    of = lambda n: [(*x, third[i % len(third)]) for i, x in enumerate(factors24(n))]
    plain("mad24.lo", "u32 s32", "d, a, b, c", of, lambda t, a, b, c: product24(t, a, b) + c)
    plain("mad24.hi", "u32 s32", "d, a, b, c", of, lambda t, a, b, c: (product24(t, a, b) >> 16) + c)
    bounds = [(0x7FFFFF, 0x7FFFFF, 0x7FFFFFFF), (0x7FFFFF, 0x7FFFFF, 0x400000FF), (0x800000, 0x800000, 0x40000000),
              (0x800000, 0x800000, 0x3FFFFFFF), (0x800000, 0x7FFFFF, 0x80000000), (0x800000, 0x7FFFFF, 0xC0000080),
              (0x800000, 0x7FFFFF, 0xC000007F)]
    plain("mad24.hi.sat", "s32", "d, a, b, c", lambda n: of(n) + bounds,
          lambda t, a, b, c: t.clamp((product24(t, a, b) >> 16) + c))


def sad():
    section("9.7.1.7 Integer Arithmetic Instructions: sad")
    plain("sad", ALL, "d, a, b, c", triples, lambda t, a, b, c: c + (b - a if a < b else a - b))


def quotients(bits):
    z, o, p, m, f = corners(bits)
    return [(7, 2), (-7, 2), (7, -2), (-7, -2), (m, 2), (m, 1), (p, m), (m, m), (m, p), (f, p), (f, m), (o, f), (z, p),
            (p, 3), (f, 10), *zip(noise(bits)[:4], (x >> bits // 3 for x in noise(bits)[4:])), (o, z), (m, z), (z, z),
            (m, f)]


def truncated(t, a, b):
    """Returns the quotient rounded towards zero; None for x / 0 and for a quotient out of range."""
    if b == 0:
        return None
    q = abs(a) // abs(b)
    q = q if (a < 0) == (b < 0) else -q
    return q if t.low <= q <= t.high else None


def div():
    section("9.7.1.8 Integer Arithmetic Instructions: div")
    print("# the ISA does not specify the rounding of quotients: towards zero, as in C")
    plain("div", ALL, "d, a, b", quotients, truncated, "no value is specified")


def rem():
    section("9.7.1.9 Integer Arithmetic Instructions: rem")
    print("# as division rounds towards zero, the remainder has the sign of the dividend")
    def remainder(t, a, b):
        q = truncated(t, a, b)
        return None if q is None else a - q * b
    plain("rem", ALL, "d, a, b", quotients, remainder, "no value is specified")


def abs_():
    section("9.7.1.10 Integer Arithmetic Instructions: abs")
    print("# the least number is its own absolute value, which has the bits of the exact one")
    plain("abs", "s16 s32 s64", "d, a", ones, lambda t, a: abs(a))


def neg():
    section("9.7.1.11 Integer Arithmetic Instructions: neg")
    plain("neg", "s16 s32 s64", "d, a", ones, lambda t, a: -a)


def min_max(number, name, pick):
    section(f"9.7.1.{number} Integer Arithmetic Instructions: {name}")
    plain(name, ALL, "d, a, b", pairs, lambda t, a, b: pick(a, b))
    plain(f"{name}.relu", "s32", "d, a, b", pairs, lambda t, a, b: max(pick(a, b), 0))
    packed_types(name, "u16 s16", pick)
    packed_types(f"{name}.relu", "s16", lambda a, b: max(pick(a, b), 0))


def popc():
    section("9.7.1.14 Integer Arithmetic Instructions: popc")
    for n in (32, 64):
        instruction(f"popc.b{n} d, a", [n], [32], ones(n), lambda a: bin(a).count("1"))


def powers(bits):
    return ones(bits) + [(1 << i,) for i in (3, bits // 2 - 1, bits // 2, bits - 2)] + [(-1 << bits // 2,), (-2,)]


def clz():
    section("9.7.1.15 Integer Arithmetic Instructions: clz")
    for n in (32, 64):
        instruction(f"clz.b{n} d, a", [n], [32], powers(n), lambda a: n - a.bit_length())


def bfind():
    section("9.7.1.16 Integer Arithmetic Instructions: bfind")
    for t in types(WIDE):
        def position(a):
            a = t.number(a)
            return (a if a >= 0 else ~a).bit_length() - 1  # -1 = 0xffffffff: none
        def amount(a):
            return t.bits - 1 - position(a) if position(a) >= 0 else -1
        instruction(f"bfind.{t.name} d, a", [t.bits], [32], powers(t.bits), position)
        instruction(f"bfind.shiftamt.{t.name} d, a", [t.bits], [32], powers(t.bits), amount)


def fns():
    section("9.7.1.17 Integer Arithmetic Instructions: fns")
    def find(mask, base, offset):
        base, offset = Type("u32").number(base), signed(offset, 32)
        if base > 31:
            return None
        if offset == 0:
            return base if bit(mask, base) else -1
        order = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [i for i in order if bit(mask, i)]
        return found[abs(offset) - 1] if abs(offset) <= len(found) else -1
    rows = [(0xAAAAAAAA, 3, 1), (0xAAAAAAAA, 3, -1), (0xAAAAAAAA, 2, 1), (0xAAAAAAAA, 2, -1), (0xAAAAAAAA, 3, 0),
            (0xAAAAAAAA, 2, 0), (0, 0, 1), (0, 31, -1), (0xFFFFFFFF, 0, 32), (0xFFFFFFFF, 0, 33), (0xFFFFFFFF, 31, -32),
            (0xFFFFFFFF, 31, -33), (1, 31, -1), (1 << 31, 0, 1), (1 << 31, 31, 1), (1 << 31, 31, 0), (1, 0, 0),
            (0x80000001, 0, 2), (0x80000001, 31, -2), (0xFFFFFFFF, 5, 0x7FFFFFFF), (0xFFFFFFFF, 5, 1 << 31),
            (0x00F0F0F0, 10, 3), (0x00F0F0F0, 10, -3), (0xFFFFFFFF, 32, 1), (0xFFFFFFFF, -1, -1)]
    instruction("fns.b32 d, a, b, c", [32] * 3, [32], rows, find, "undefined: base > 31")


def brev():
    section("9.7.1.18 Integer Arithmetic Instructions: brev")
    for n in (32, 64):
        instruction(f"brev.b{n} d, a", [n], [n], ones(n), lambda a: sum(bit(a, i) << (n - 1 - i) for i in range(n)))


# Starts and lengths of fields. At 32 bits, bits 31:8 of both are ignored.
def fields(n):
    return [(0, 0), (0, 1), (0, n), (4, 8), (n - 8, 8), (n - 8, 9), (n - 1, 1), (n - 1, 2), (n, 1), (n, 0), (8, n),
            (3, n), (1, n - 1), (0, n - 1), (0, 255), (255, 255), (255, 1), (16, 0), (0x104, 8), (4, 0x108),
            (0xFFFFFF04, 0x100), (n + 5, 12)]


# The ISA defines positions and lengths up to 255. Above, ptxas folds them mod 256 at 32 bits, and as they are at 64.
def in_field(x, bits):
    return x % 256 if bits == 32 else x


def bfe():
    section("9.7.1.19 Integer Arithmetic Instructions: bfe")
    for t in types(WIDE):
        msb = t.bits - 1
        def extract(a, b, c):
            pos, length = in_field(b, t.bits), in_field(c, t.bits)
            sbit = bit(a, min(pos + length - 1, msb)) if t.signed and length else 0
            return sum((bit(a, pos + i) if i < length and pos + i <= msb else sbit) << i for i in range(t.bits))
        values = [0x8000000F00F0F0F5 & (1 << t.bits) - 1 | 1 << msb, (1 << msb) - 1 ^ 0xF0, *noise(t.bits)[:3]]
        rows = [(values[i % 5], *x) for i, x in enumerate(fields(t.bits))]
        instruction(f"bfe.{t.name} d, a, b, c", [t.bits, 32, 32], [t.bits], rows, extract)


def bfi():
    section("9.7.1.20 Integer Arithmetic Instructions: bfi")
    for n in (32, 64):
        def insert(a, b, c, d):
            pos, length = in_field(c, n), in_field(d, n)
            return sum(bit(a, i - pos) << i if pos <= i < pos + length else b & 1 << i for i in range(n))
        r = noise(n)
        values = [(-1, 0), (0, -1), (r[0], r[1]), (r[2], r[3])]
        rows = [(*values[i % 4], *x) for i, x in enumerate(fields(n))]
        instruction(f"bfi.b{n} d, a, b, c, e", [n, n, 32, 32], [n], rows, insert)


AMOUNTS = [0, 1, 2, 7, 8, 15, 16, 30, 31, 32, 33, 40, 63, 64, 0x100, 0x80000000, 0xFFFFFFFF]


def szext():
    section("9.7.1.21 Integer Arithmetic Instructions: szext")
    for mode in ("clamp", "wrap"):
        for t in types("u32 s32"):
            def extend(a, b):
                if mode == "clamp" and b >= 32:
                    return a
                n = b % 32
                return 0 if n == 0 else Type(f"{t.name[0]}{n}").number(a)
            rows = [(0x9A5A8182 if i % 3 else 0x7FFF7F7E, n) for i, n in enumerate(AMOUNTS)]
            rows += [(0xFFFFFFFF, n) for n in (0, 1, 31, 32, 33)] + [(0xAAAAAAAA, 2)]
            instruction(f"szext.{mode}.{t.name} d, a, b", [32, 32], [32], rows, extend)


def bmsk():
    section("9.7.1.22 Integer Arithmetic Instructions: bmsk")
    def mask(mode, a, b):
        if mode == "clamp" and a >= 32:
            return 0
        start = a % 32
        length = min(b, 32) if mode == "clamp" else b % 32
        return sum(1 << i for i in range(start, min(start + length, 32)))
    rows = [(1, 2), (0, 0), (0, 1), (0, 31), (0, 32), (0, 33), (31, 1), (31, 0), (31, 2), (16, 16), (16, 17), (30, 3),
            (32, 1), (33, 4), (8, 32), (8, 64), (5, 0xFFFFFFFF), (0xFFFFFFFF, 5), (0x80000003, 7), (4, 0x80000008),
            (63, 63)]
    for mode in ("clamp", "wrap"):
        instruction(f"bmsk.{mode}.b32 d, a, b", [32, 32], [32], rows, lambda a, b: mask(mode, a, b))


def parts(x, sign, bits, count):
    t = Type(f"{sign}{bits}")
    return [t.number(x >> bits * i) for i in range(count)]


def dot_rows():
    r = noise(32)
    third = [0, 1, -1, 0x7FFFFFFF, 1 << 31, *r[6:]]
    rows = [(0, 0), (0x01010101, 0x01010101), (0xFFFFFFFF, 0xFFFFFFFF), (0x80808080, 0x80808080),
            (0x7F7F7F7F, 0x80808080), (0xFFFFFFFF, 0x7F7F7F7F), (0x80007FFF, 0x80FF7F01), (0x7FFF8000, 0x017FFF80),
            (0x80008000, 0x80808080), (0x01020304, 0x05060708), (0x000000FF, 0xFF), (0xFF000000, 0xFF000000),
            (r[0], r[1]), (r[2], r[3]), (r[4], r[5])]
    return [(*x, third[i % 7]) for i, x in enumerate(rows)]


def dp4a():
    section("9.7.1.23 Integer Arithmetic Instructions: dp4a")
    for s in "us":
        for z in "us":
            instruction(f"dp4a.{s}32.{z}32 d, a, b, c", [32] * 3, [32], dot_rows(),
                        lambda a, b, c: c + sum(x * y for x, y in zip(parts(a, s, 8, 4), parts(b, z, 8, 4))))


def dp2a():
    section("9.7.1.24 Integer Arithmetic Instructions: dp2a")
    for mode, first in (("lo", 0), ("hi", 2)):
        for s in "us":
            for z in "us":
                def dot(a, b, c):
                    return c + sum(x * y for x, y in zip(parts(a, s, 16, 2), parts(b, z, 8, 4)[first:]))
                instruction(f"dp2a.{mode}.{s}32.{z}32 d, a, b, c", [32] * 3, [32], dot_rows(), dot)


# -- 9.7.2 Extended-precision integer arithmetic instructions -----------------------------------------------
# CC.CF is the carry of a sum of bits: "behavior is the same for unsigned and signed integers". A difference is the sum
# a + ~b + 1, in a chain a + ~b + CC.CF. So CC.CF is 1 without a borrow, unlike the text of the ISA ("borrow-out written
# to CC.CF"), but as on ptxas and GPUs; tests/ptxas/same/carry.ptx compares the semantics with ptxas.


def carried(mnemonic, operands, rows, f, cc_in, cc_out):
    """f: the exact sum of unsigned numbers; the bits beyond the width are the carry."""
    for t in types(WIDE):
        n = t.bits
        def run(*x):
            exact = f(t, *x)
            return (exact, exact >> n) if cc_out else exact
        sources, cases = [n] * operands.count(",") + [1] * cc_in, with_bit(rows(n)) if cc_in else rows(n)
        instruction(f"{mnemonic}.{t.name} {operands}", sources, [n] + [1] * cc_out, cases, run)


def complement(t, b):
    return (1 << t.bits) - 1 - b


def add_cc():
    section("9.7.2.1 Extended-Precision Arithmetic Instructions: add.cc")
    carried("add.cc", "d, a, b", pairs, lambda t, a, b: a + b, False, True)


def addc():
    section("9.7.2.2 Extended-Precision Arithmetic Instructions: addc")
    for cc in ("", ".cc"):
        carried(f"addc{cc}", "d, a, b", pairs, lambda t, a, b, cf: a + b + cf, True, bool(cc))


def sub_cc():
    section("9.7.2.3 Extended-Precision Arithmetic Instructions: sub.cc")
    print("# CC.CF is 1 if there is no borrow")
    carried("sub.cc", "d, a, b", pairs, lambda t, a, b: a + complement(t, b) + 1, False, True)


def subc():
    section("9.7.2.4 Extended-Precision Arithmetic Instructions: subc")
    for cc in ("", ".cc"):
        carried(f"subc{cc}", "d, a, b", pairs, lambda t, a, b, cf: a + complement(t, b) + cf, True, bool(cc))


def half(t, which, a, b):
    """Returns the bits of one half of a product, as an unsigned number."""
    product = t.number(a) * t.number(b)
    return (product if which == "lo" else product >> t.bits) % (1 << t.bits)


def mad_cc():
    section("9.7.2.5 Extended-Precision Arithmetic Instructions: mad.cc")
    print("# the carry is from the addition of c to the bits of the half")
    for w in ("lo", "hi"):
        carried(f"mad.{w}.cc", "d, a, b, c", lambda n: triples(n, products),
                lambda t, a, b, c: half(t, w, a, b) + c, False, True)


def madc():
    section("9.7.2.6 Extended-Precision Arithmetic Instructions: madc")
    for w in ("lo", "hi"):
        for cc in ("", ".cc"):
            carried(f"madc.{w}{cc}", "d, a, b, c", lambda n: triples(n, products),
                    lambda t, a, b, c, cf: half(t, w, a, b) + c + cf, True, bool(cc))


# -- 9.7.6 Comparison and selection instructions ------------------------------------------------------------

COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b, "ls": lambda a, b: a <= b, "hi": lambda a, b: a > b, "hs": lambda a, b: a >= b,
}
COMBINE = {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}


def comparisons(t):
    return list(COMPARE)[:{"b": 2, "s": 6, "u": 10}[t.name[0]]]


def compared(bits):
    z, o, p, m, f = corners(bits)
    r = noise(bits)
    return [(z, z), (o, z), (z, o), (f, f), (p, m), (m, p), (f, z), (z, f), (m, m), (m, m + 1), (p, p - 1),
            (r[0], r[1]), (r[1], r[0]), (r[2], r[2])]


def combined(bits):
    return with_bit(compared(bits)[:10])


COMPARED = "b16 b32 b64 " + ALL


def set_():
    section("9.7.6.1 Comparison and Selection Instructions: set")
    true = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000}
    count = 0
    for t in types(COMPARED):
        for cmp in comparisons(t):
            to = list(true)[count % 3]
            count += 1
            instruction(f"set.{cmp}.{to}.{t.name} d, a, b", [t.bits] * 2, [32], compared(t.bits),
                        lambda a, b: COMPARE[cmp](t.number(a), t.number(b)) and true[to])
    for k, t in enumerate(types(COMPARED)):
        for i, (name, op) in enumerate(COMBINE.items()):
            cmp = comparisons(t)[(k + i) % len(comparisons(t))]
            to = list(true)[(k + i) % 3]
            instruction(f"set.{cmp}.{name}.{to}.{t.name} d, a, b, c", [t.bits, t.bits, 1], [32], combined(t.bits),
                        lambda a, b, c: op(COMPARE[cmp](t.number(a), t.number(b)), bool(c)) and true[to])


def setp_line(t, cmp, name="", to="p|q"):
    def run(a, b, c=0):
        true = COMPARE[cmp](t.number(a), t.number(b))
        p, q = (int(COMBINE[name](x, bool(c)) if name else x) for x in (true, not true))
        return p if to == "p" else (None if to[0] == "_" else p, None if to[-1] == "_" else q)
    name_, c, width = (f".{name}", ", c", [1]) if name else ("", "", [])
    instruction(f"setp.{cmp}{name_}.{t.name} {to}, a, b{c}", [t.bits] * 2 + width, [1] * len(to.split("|")),
                combined(t.bits) if name else compared(t.bits), run, "the sink drops a result")


def setp():
    section("9.7.6.2 Comparison and Selection Instructions: setp")
    for t in types(COMPARED):
        for cmp in comparisons(t):
            setp_line(t, cmp)
    for k, t in enumerate(types(COMPARED)):
        cmps = comparisons(t)
        setp_line(t, cmps[k % len(cmps)], to="p")
        for i, name in enumerate(COMBINE):
            for cmp in cmps if t.bits == 32 else [cmps[(k + i) % len(cmps)]]:
                setp_line(t, cmp, name)
    setp_line(Type("s32"), "lt", "or", "p")
    setp_line(Type("s32"), "gt", "and", "p|_")
    setp_line(Type("u32"), "ls", "xor", "_|q")


# -- 9.7.8 Logic and shift instructions ---------------------------------------------------------------------

BITS = "pred b16 b32 b64"


def logic(number, name, f, names=BITS):
    section(f"9.7.8.{number} Logic and Shift Instructions: {name}")
    for t in types(names):
        one = f.__code__.co_argcount == 1
        rows = [(0,), (1,)] if t.bits == 1 else ones(t.bits)
        if not one:
            rows = [(a, b) for a in (0, 1) for b in (0, 1)] if t.bits == 1 else pairs(t.bits)
        instruction(f"{name}.{t.name} d, a" + ("" if one else ", b"), [t.bits] * (1 if one else 2), [t.bits], rows, f)


def looked_up(k, a, b, c):
    """Returns lop3: bit i of the result is the bit of table k at the index from bits i of a, b and c."""
    return sum(bit(k, bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i)) << i for i in range(32))


def lop3_rows():
    r = noise(32)
    return [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), (0, 0, 0), (-1, -1, -1), (-1, 0, 0), (0, -1, 0), (0, 0, -1),
            (-1, -1, 0), (-1, 0, -1), (0, -1, -1), (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[6]),
            (1 << 31, 1, 0)]


def lop3():
    section("9.7.8.6 Logic and Shift Instructions: lop3")
    tables = [0x00, 0x01, 0x0F, 0x1A, 0x33, 0x3F, 0x40, 0x55, 0x69, 0x78, 0x7F, 0x80, 0x96, 0xAA, 0xB2, 0xCA, 0xCC,
              0xD8, 0xE8, 0xF0, 0xF8, 0xFE, 0xFF]
    for k in tables:
        instruction(f"lop3.b32 d, a, b, c, {k:#04x}", [32] * 3, [32], lop3_rows(),
                    lambda a, b, c: looked_up(k, a, b, c))
    for k in (0x00, 0x3F, 0x80, 0x96, 0xFF):
        for name in ("or", "and"):
            for to in ("d|p", "_|p") if k == 0x80 else ("d|p",):
                def run(a, b, c, q):
                    d = looked_up(k, a, b, c)
                    return d if to[0] == "d" else None, int(COMBINE[name](d != 0, bool(q)))
                instruction(f"lop3.{name}.b32 {to}, a, b, c, {k:#04x}, q", [32, 32, 32, 1], [32, 1],
                            with_bit(lop3_rows()), run, "the sink drops a result")


def shf():
    section("9.7.8.7 Logic and Shift Instructions: shf")
    for side in "lr":
        for mode in ("clamp", "wrap"):
            def funnel(a, b, c):
                n = min(c, 32) if mode == "clamp" else c % 32
                return (b << 32 | a) << n >> 32 if side == "l" else (b << 32 | a) >> n
            values = [(0x89ABCDEF, 0x01234567), (0x80000001, 0x40000002), (0xFFFFFFFF, 0), (0, 0xFFFFFFFF)]
            rows = [(*values[i % 4], c) for i, c in enumerate(AMOUNTS)]
            rows += [(0x12345678, 0x12345678, 12), (1, 1 << 31, 32)]
            instruction(f"shf.{side}.{mode}.b32 d, a, b, c", [32] * 3, [32], rows, funnel)


def shifted(bits):
    z, o, p, m, f = corners(bits)
    r = noise(bits)
    amounts = [0, 1, bits // 2, bits - 1, bits, bits + 1, *AMOUNTS[7:], 0x10001]
    values = [m | r[0], p & r[1] | 1, f, m + 1]
    rows = [(values[i % 4], n) for i, n in enumerate(amounts)]
    return rows + [(m, bits - 1), (f, bits), (p, bits), (z, 5), (m, bits - 2)]


def shl():
    section("9.7.8.8 Logic and Shift Instructions: shl")
    for t in types("b16 b32 b64"):
        instruction(f"shl.{t.name} d, a, b", [t.bits, 32], [t.bits], shifted(t.bits), lambda a, b: a << min(b, t.bits))


def shr():
    section("9.7.8.9 Logic and Shift Instructions: shr")
    for t in types("b16 b32 b64 " + ALL):
        instruction(f"shr.{t.name} d, a, b", [t.bits, 32], [t.bits], shifted(t.bits),
                    lambda a, b: t.number(a) >> min(b, t.bits))


def main():
    header("integer", "Integer arithmetic, carry chains, comparisons of integers, logic and shifts.",
           "Carries are operands here: CC.CF, which is 1 for a carry and for no borrow, comes last.")
    for f in (add, sub, mul, mad, mul24, mad24, sad, div, rem, abs_, neg):
        f()
    min_max(12, "min", min)
    min_max(13, "max", max)
    for f in (popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk, dp4a, dp2a):
        f()
    for f in (add_cc, addc, sub_cc, subc, mad_cc, madc, set_, setp):
        f()
    logic(1, "and", lambda a, b: a & b)
    logic(2, "or", lambda a, b: a | b)
    logic(3, "xor", lambda a, b: a ^ b)
    logic(4, "not", lambda a: ~a)
    logic(5, "cnot", lambda a: int(a == 0), "b16 b32 b64")
    for f in (lop3, shf, shl, shr):
        f()


if __name__ == "__main__":
    main()
