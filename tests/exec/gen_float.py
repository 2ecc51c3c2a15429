#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the vectors of floating-point instructions, of comparisons of floating point, and of all conversions:

    python3 gen_float.py float   > float.vec
    python3 gen_float.py compare > compare.vec
    python3 gen_float.py convert > convert.vec

Every number is computed from the text of the PTX ISA (9.0; section numbers stand beside the functions) with exact
integers and fractions; mpmath gives the transcendental functions to 1,000 bits, which are then rounded. Tests read only
the tables.

If the ISA leaves a result open, the output is `_`, or HEADER, which opens each file, states the choice.
"""

import sys
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import NamedTuple

import mpmath

HEADER = """\
# SPDX-License-Identifier: MIT
# Printed by gen_float.py {name}: do not edit. Inputs in hexadecimal, in the order of the operands, then the outputs;
# `_`: any value is right. `d:32` is a destination register of 32 bits.
#
# Unspecified by the ISA, and fixed for the whole file:
# - NaN results are 7fffffff (f32) and 7fff (f16, bf16) for "unspecified" or "canonical" ones; those of f64 are
#   `_`. But abs, neg and cvt keep the parts of a NaN that ptxas keeps in folding (tests/ptxas/same/nan.ptx).
# - .ftz applies after rounding: a result that rounds up to the least normal number is not flushed.
# - -0 under .sat and .relu is `_`: "clamps to [0.0, 1.0]" and "to 0 if negative" do not specify its
#   sign.
"""

# -- Numbers ---------------------------------------------------------------------------------------------------


class Real(NamedTuple):
    """A number with a separate sign, for -0."""

    sign: int
    mag: Fraction


INFINITE = float("inf")
NZ, INF, NINF = Real(1, Fraction(0)), Real(0, INFINITE), Real(1, INFINITE)  # NZ: -0
NAN, SNAN, NNAN = "canonical NaN", "NaN with a clear quiet bit", "negative NaN"
ANY = "_"


def real(x):
    return x if isinstance(x, Real) else Real(int(x < 0), abs(Fraction(x)))


def log2_floor(mag):
    """Returns the e with 2^e <= mag < 2^(e+1)."""
    e = mag.numerator.bit_length() - mag.denominator.bit_length()
    return e if mag >= Fraction(2) ** e else e - 1


def rounds_up(mode, sign, odd, rest, half):
    """True if a magnitude `rest` above a representable one (0 < rest < 2 half) is rounded to the next one."""
    if mode in ("rn", "rni"):
        return rest > half or (rest == half and odd)
    if mode == "rna":
        return rest >= half
    return {"rz": False, "rm": bool(sign), "rp": not sign}[mode.removesuffix("i")]


class Format:
    """A format: sign, exp bits of exponent, frac bits of fraction, and zeros below them (tf32)."""

    def __init__(self, name, exp, frac, nan, unused=0, has_inf=True):
        self.name, self.frac, self.unused, self.has_inf = name, frac, unused, has_inf
        self.width = 1 + exp + frac + unused
        self.nan = nan  # NaN of results; ANY: an unspecified payload is kept
        self.sign_bit = 1 << (self.width - 1)
        self.inf_bits = ((1 << exp) - 1) << (frac + unused)
        bias = (1 << (exp - 1)) - 1
        self.emin, self.emax = 1 - bias, bias + (not has_inf)
        self.ulp = Fraction(1, 1 << frac)  # unit in the last place of 1
        self.tiny = Fraction(2) ** (self.emin - frac)  # least subnormal
        self.low = Fraction(2) ** self.emin  # least normal
        self.big = Fraction(2) ** self.emax * (2 - self.ulp * (1 if has_inf else 2))  # greatest
        self.half_big = Fraction(2) ** (self.emax - frac - 1)  # half a unit in the last place of `big`

    def bits(self, x):
        """Returns the bits of a number that the format represents exactly."""
        if isinstance(x, str):
            quiet = self.inf_bits | 1 << (self.frac + self.unused - 1)
            return {NAN: self.sign_bit - 1, SNAN: self.inf_bits | 1, NNAN: self.sign_bit | quiet | 1}[x]
        x = real(x)
        b = self.round(x, "rz")
        assert self.value(b) == x, (self.name, x)
        return b

    def has(self, x):
        return isinstance(x, str) or real(x).mag in (0, INFINITE) or self.value(self.round(real(x), "rz")) == real(x)

    def value(self, bits):
        sign, b = int(bool(bits & self.sign_bit)), (bits & (self.sign_bit - 1)) >> self.unused
        if self.has_inf and b >= self.inf_bits >> self.unused:
            return Real(sign, INFINITE) if b == self.inf_bits >> self.unused else NAN
        if not self.has_inf and b == (self.sign_bit - 1) >> self.unused:
            return NAN
        exponent, fraction = b >> self.frac, b & ((1 << self.frac) - 1)
        if exponent == 0:
            return Real(sign, fraction * self.tiny)
        return Real(sign, (1 + fraction * self.ulp) * Fraction(2) ** (exponent - 1 + self.emin))

    def round(self, x, mode, satfinite=False):
        """Returns the bits of any number, rounded once."""
        sign, mag = x
        top = self.sign_bit if sign else 0
        if mag == INFINITE:
            return top | (self.round(Real(0, self.big), "rz") if satfinite else self.inf_bits)
        if mag == 0:
            return top
        exp = max(log2_floor(mag), self.emin)
        quantum = Fraction(2) ** (exp - self.frac)
        n, rest = divmod(mag, quantum)
        if rest and rounds_up(mode, sign, n & 1, rest, quantum / 2):
            n += 1
        if n * quantum > self.big:
            if satfinite or mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and sign):
                return top | self.round(Real(0, self.big), "rz")
            return top | self.inf_bits
        return top | (((exp - self.emin) << self.frac) + int(n)) << self.unused

    def flush(self, bits):
        x = self.value(bits)
        return bits & self.sign_bit if x != NAN and x.mag < self.low else bits


F16 = Format("f16", 5, 10, 0x7FFF)
BF16 = Format("bf16", 8, 7, 0x7FFF)
F32 = Format("f32", 8, 23, 0x7FFFFFFF)
F64 = Format("f64", 11, 52, ANY)
TF32 = Format("tf32", 8, 10, ANY, unused=13)  # its layout is implementation-defined: 10 bits of fraction, the rest 0
E4M3 = Format("e4m3", 4, 3, 0x7F, has_inf=False)
E5M2 = Format("e5m2", 5, 2, 0x7F)
HIGH = Format("f64[63:32]", 11, 20, 0x7FFFFFFF)  # "1.11.20", of rcp.approx.ftz.f64
PACKED = {"f16x2": F16, "bf16x2": BF16, "f32x2": F32}
FLOATS = {f.name: f for f in (F16, BF16, F32, F64)}


def format_of(type_name):
    """Returns the format of a type's parts, and their number."""
    return (PACKED[type_name], 2) if type_name in PACKED else (FLOATS[type_name], 1)


# -- Printing --------------------------------------------------------------------------------------------------


def remark(*lines):
    print()
    for line in lines:
        print(f"# {line}")


def section(title, *notes):
    print(f"\n@ {title}")
    for note in notes:
        print(f"# {note}")


def digits(value, width):
    return value if value == ANY else f"{value:0{max(width // 4, 1)}x}"


def instruction(text, in_widths, out_widths, cases, run, note=None):
    """Prints an instruction with its cases: tuples of inputs; run() returns an output or a tuple of outputs."""
    if note:
        print(f"# {note}")
    print(text)
    cases = list(dict.fromkeys(cases))
    results = [run(*case) for case in cases]
    assert len(cases) - results.count(ANY) >= 12, (text, len(cases))
    for case, out in zip(cases, results):
        out = out if isinstance(out, tuple) else (out,)
        left = " ".join(digits(v, w) for v, w in zip(case, in_widths, strict=True))
        right = " ".join(digits(v, w) for v, w in zip(out, out_widths, strict=True))
        print(f"    {left} -> {right}")


def encode(f, cases):
    """Returns cases of numbers, or of tuples of numbers, as bits, without numbers that the format lacks."""
    cases = [c if isinstance(c, tuple) and not isinstance(c, Real) else (c,) for c in cases]
    return [tuple(f.bits(x) for x in c) for c in cases if all(f.has(x) for x in c)]


def thin(cases):
    """Returns about half of the cases, for spellings with the meaning of another one."""
    return cases[::2] if len(cases) >= 24 else cases


def pair_up(cases):
    """Returns pairs of cases, each case once in the lower and once in the upper part."""
    n = len(cases)
    step = next(s for s in (7, 5, 3, 11) if n % s)
    return [(cases[i], cases[(step * i + 3) % n]) for i in range(n)]


def join(low, high, width):
    return ANY if ANY in (low, high) else low | high << width


def split(bits, width):
    return bits & ((1 << width) - 1), bits >> width


def instruction_of_type(text, type_name, arity, cases, run, note=None):
    """Prints an instruction whose operands and result have one type, from the cases and the function of one part."""
    f, parts = format_of(type_name)
    if parts == 1:
        instruction(text, [f.width] * arity, [f.width], cases, run, note)
        return
    w = f.width
    known = [c for c in cases if run(*c) != ANY]
    packed = [tuple(join(a, b, w) for a, b in zip(lo, hi)) for lo, hi in pair_up(known)]

    def run_parts(*operands):
        halves = [split(o, w) for o in operands]
        return join(run(*(h[0] for h in halves)), run(*(h[1] for h in halves)), w)

    instruction(text, [2 * w] * arity, [2 * w], packed, run_parts, note)


# -- Arithmetic on exact numbers -------------------------------------------------------------------------------
# Each function takes Reals (or NAN) and a rounding, which determines the sign of a zero sum, and returns the exact
# result.


def exact_add(a, b, mode):
    if NAN in (a, b):
        return NAN
    if INFINITE in (a.mag, b.mag):
        if a.mag == b.mag and a.sign != b.sign:
            return NAN
        return a if a.mag == INFINITE else b
    total = (-a.mag if a.sign else a.mag) + (-b.mag if b.sign else b.mag)
    if total == 0:
        return Real(a.sign if a.sign == b.sign else int(mode == "rm"), Fraction(0))
    return real(total)


def exact_neg(a):
    return a if a == NAN else Real(1 - a.sign, a.mag)


def exact_sub(a, b, mode):
    return exact_add(a, exact_neg(b), mode)


def exact_mul(a, b, mode):
    if NAN in (a, b) or {a.mag, b.mag} == {0, INFINITE}:
        return NAN
    return Real(a.sign ^ b.sign, INFINITE if INFINITE in (a.mag, b.mag) else a.mag * b.mag)


def exact_fma(a, b, c, mode):
    return exact_add(exact_mul(a, b, mode), c, mode)


def exact_div(a, b, mode):
    if NAN in (a, b) or a.mag == b.mag == 0 or a.mag == b.mag == INFINITE:
        return NAN
    sign = a.sign ^ b.sign
    if b.mag == 0 or a.mag == INFINITE:
        return Real(sign, INFINITE)
    return Real(sign, Fraction(0) if b.mag == INFINITE else a.mag / b.mag)


def exact_rcp(a, mode):
    return exact_div(real(1), a, mode)


def root(mag):
    """Returns the square root, exact or with an error that affects no rounding."""
    scaled = mag * 4**2000
    r = isqrt(scaled.numerator // scaled.denominator)
    return (Fraction(r) if r * r == scaled else r + Fraction(1, 2)) / 2**2000


def exact_sqrt(a, mode):
    if a == NAN or (a.sign and a.mag):
        return NAN
    return a if a.mag in (0, INFINITE) else Real(0, root(a.mag))


def exact_rsqrt(a, mode):
    if a == NAN or (a.sign and a.mag):
        return NAN
    if a.mag == 0:
        return Real(a.sign, INFINITE)
    return real(0) if a.mag == INFINITE else Real(0, root(1 / a.mag))


def finish(f, x, mode, ftz=False, sat=False, relu=False, satfinite=False):
    """Rounds an exact result, then applies .ftz, .sat and .relu. Notes of 9.7.3.3 and similar sections."""
    if x == NAN:
        return 0 if sat else f.nan
    bits = f.round(x, mode, satfinite)
    if ftz:
        bits = f.flush(bits)
    x = f.value(bits)
    if (sat or relu) and x.sign:
        return 0 if x.mag else ANY
    return f.bits(1) if sat and x.mag > 1 else bits


def arithmetic(f, exact, mode="rn", ftz=False, **limits):
    """Returns the function on bits for an exact function."""

    def run(*operands):
        values = [f.value(f.flush(o) if ftz else o) for o in operands]
        return finish(f, exact(*values, mode), mode, ftz, **limits)

    return run


# -- Cases: numbers for all formats (encode() drops unrepresentable ones) ---------------------------------------

PI, E = Fraction(355, 113), Fraction(193, 71)
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def near(f, x):
    """Returns the nearest number of the format."""
    return f.value(f.round(real(x), "rn"))


def add_cases(f):
    u, tiny, low, big, half = f.ulp, f.tiny, f.low, f.big, f.half_big
    return [
        (0, 0), (0, NZ), (NZ, NZ), (1, -1), (-1, 1), (near(f, PI), near(f, E)),  # signs of zeros
        (1, u / 2), (1 + u, u / 2), (1, u / 2 + u * u / 2), (-1, -u / 2), (-1 - u, -u / 2), (1, -u / 4),  # ties
        (1, tiny), (1, -tiny), (-1, tiny),
        (big, half), (big, half - half * u / 2), (-big, -half), (big, big), (-big, -big), (big, -big),  # overflow
        (INF, 1), (INF, NINF), (NINF, NINF), (NAN, 1), (1, SNAN),
        (tiny, tiny), (low - tiny, tiny), (low, -tiny), (low + tiny, -low), (-low - tiny, low), (-tiny, 0),  # .ftz
        (HALF, QUARTER), (HALF, HALF), (1, u), (-HALF, QUARTER),  # .sat
    ]


def sub_cases(f):
    return [(a, b if isinstance(b, str) else exact_neg(real(b))) for a, b in add_cases(f)]


def mul_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    three = Fraction(3, 2)
    return [
        (0, 1), (0, -1), (NZ, -1), (1, 1), (-1, 1), (near(f, PI), near(f, E)),
        (1 + u, three), (1 + 3 * u, three), (-1 - u, three),  # ties
        (1 + u, 1 + u), (-1 - u, 1 + u), (2 - u, 2 - u),
        (big, 2), (-big, 2), (big, 1 + u), (big, 1 - u / 2), (-big, -big), (big, tiny),
        (tiny, HALF), (-tiny, HALF), (3 * tiny, HALF), (tiny, Fraction(3, 4)), (tiny, tiny), (tiny, -tiny),  # underflow
        (low, HALF), (low + tiny, HALF), (low, 1 - u / 2), (-low, 1 - u / 2), (low - tiny, 2), (tiny, 1 / low),
        (INF, 0), (NZ, INF), (INF, -2), (NAN, 0), (1, SNAN), (NNAN, INF),
        (HALF, HALF), (2, HALF), (three, 1), (HALF, -HALF), (1 - u / 2, 1),
    ]


def fma_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    return [
        (1, 1, 0), (0, -1, 0), (0, -1, NZ), (0, 1, NZ), (1, 1, -1), (-1, 1, 1), (near(f, PI), near(f, E), -3),
        (1, 1, u / 2), (1 + u, 1, u / 2), (-1, 1, -u / 2), (1, 1, tiny), (1, 1, -tiny), (-1, 1, tiny),  # ties, sticky
        (1 + u, 1 + u, -1 - 2 * u), (1 + u, 1 - u, -1), (1 + u, 1 + u, 0),  # one rounding
        (tiny, tiny, 1), (tiny, -tiny, 1),
        (tiny, tiny, 0), (tiny, -tiny, 0), (tiny, -tiny, NZ), (tiny, tiny, -tiny),
        (big, 2, -big), (big, 1 + u, -big), (big, 2, NINF), (big, 2, 0), (-big, 2, 0), (big, 1, f.half_big),  # overflow
        (0, INF, 1), (INF, 1, NINF), (INF, 1, INF), (INF, -1, 1), (0, INF, NAN), (NAN, 1, 1), (1, SNAN, 1),
        (1, 1, NNAN), (low, HALF, tiny), (low, 1 - u / 2, 0), (low, 1, -tiny), (-low, 1, tiny), (tiny, 1, low - tiny),
        (low - tiny, 2, 0), (HALF, HALF, QUARTER), (1, HALF, HALF), (1, 1, u), (-1, HALF, QUARTER),
    ]


def div_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    half_range = Fraction(2) ** (f.emax - 2)
    return [
        (1, 1), (1, 3), (2, 3), (-1, 3), (10, -7), (near(f, PI), near(f, E)),
        (1, 1 + u), (1, 1 - u / 2), (1 + u, 1 - u / 2), (0, 1), (0, -1), (1, 0), (-1, 0), (1, NZ), (0, 0), (0, NZ),
        (INF, INF), (INF, -2), (2, INF), (-2, INF), (0, INF), (INF, 0), (NAN, 1), (1, SNAN), (0, NAN),
        (big, HALF), (-big, HALF), (big, 1 - u / 2), (big, tiny), (tiny, tiny), (1, tiny),  # overflow
        (tiny, 2), (-tiny, 2), (3 * tiny, 2), (low + tiny, 2), (low, 1 + u), (-low, 1 + u),  # underflow
        (low - tiny, 1),
        (tiny, 3), (low, half_range), (low, 2), (1, half_range), (7, half_range),
    ]


def unary_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    return [
        0, NZ, 1, -1, near(f, PI), 1 + u, -1 + u / 2, tiny, -tiny, low - tiny, -low + tiny, low, -low, big, -big,
        INF, NINF, NAN, NNAN, SNAN,
    ]


def root_cases(f):
    """Returns cases of sqrt and rsqrt."""
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    return [
        0, NZ, 1, 2, 3, 4, QUARTER, Fraction(9, 16), 1 + u, 1 - u / 2, 1 + 2 * u, 2 - u, near(f, PI), -1, -low, -tiny,
        tiny, 2 * tiny, 3 * tiny, low - tiny, low, low + tiny, big, Fraction(2) ** f.emax, INF, NINF, NAN, NNAN,
    ]


def rcp_cases(f):
    u, tiny, low, big, top = f.ulp, f.tiny, f.low, f.big, Fraction(2) ** f.emax
    return [
        0, NZ, 1, -1, 2, 3, -3, 7, 10, 1 + u, 1 - u / 2, 2 - u, near(f, PI),
        big, -big, top, top / 2, top / 2 * (1 + u), top / 4, low, -low, low - tiny,
        low / 2, low / 4, low / 4 + tiny, low / 4 - tiny, tiny, -tiny, INF, NINF, NAN, SNAN,
    ]


def min_max_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    return [
        (1, 2), (2, 1), (-1, 1), (-1, -2), (1, -2), (1, 1), (1, 1 + u), (0, NZ), (NZ, 0), (NZ, NZ),
        (INF, big), (NINF, -big), (INF, NINF), (NAN, 1), (-1, NAN), (NAN, NAN), (SNAN, -1), (NNAN, 2), (-2, NNAN),
        (NNAN, SNAN), (INF, NNAN), (tiny, 0), (-tiny, NZ), (-tiny, 0), (tiny, NZ), (tiny, -tiny), (tiny, 2 * tiny),
        (low, low - tiny), (-low, tiny),
    ]


def min_max_3_cases(f):
    tiny = f.tiny
    return [
        (1, 2, 3), (3, 1, 2), (2, 3, 1), (-1, -2, -3), (-3, 2, 1), (0, NZ, 0), (NZ, NZ, 0), (NZ, 0, NZ),
        (INF, NINF, 1), (NINF, 5, 6), (NAN, 1, 2), (1, NNAN, -2), (1, 2, SNAN), (NAN, SNAN, 1), (1, NAN, NNAN),
        (NAN, NAN, NAN), (tiny, 0, NZ), (-tiny, NZ, 0), (-tiny, tiny, 2 * tiny), (tiny, 2 * tiny, 3 * tiny),
    ]


# -- 9.7.3 Floating-Point Instructions -------------------------------------------------------------------------


def f32_forms(roundings, sats=("", ".sat")):
    return product(roundings, ("", ".ftz"), sats)


def arithmetic_section(number, name, exact, arity, cases, roundings, packed=False):
    """Prints add, sub, mul, fma, mad of f32, f32x2 and f64."""
    section(f"{number} Floating Point Instructions: {name}")
    operands = ", ".join("dabc"[: arity + 1])
    for rnd, ftz, sat in f32_forms(roundings):
        run = arithmetic(F32, exact, rnd[1:] or "rn", bool(ftz), sat=bool(sat))
        some = encode(F32, cases(F32))
        instruction_of_type(f"{name}{rnd}{ftz}{sat}.f32 {operands}", "f32", arity, some if rnd else thin(some), run)
    for rnd, ftz, _ in f32_forms(roundings if packed else (), ("",)):
        run = arithmetic(F32, exact, rnd[1:] or "rn", bool(ftz))
        some = thin(encode(F32, cases(F32)))
        instruction_of_type(f"{name}{rnd}{ftz}.f32x2 {operands}", "f32x2", arity, some, run, "sm_100 and later")
    for rnd in roundings:
        run = arithmetic(F64, exact, rnd[1:] or "rn")
        some = encode(F64, cases(F64))
        instruction_of_type(f"{name}{rnd}.f64 {operands}", "f64", arity, some if rnd else thin(some), run)


def testp():
    """Prints testp (9.7.3.1); zeros are normal."""
    tests = {
        "finite": lambda f, x: x != NAN and x.mag < INFINITE,
        "infinite": lambda f, x: x != NAN and x.mag == INFINITE,
        "number": lambda f, x: x != NAN,
        "notanumber": lambda f, x: x == NAN,
        "normal": lambda f, x: x != NAN and x.mag < INFINITE and (x.mag == 0 or x.mag >= f.low),
        "subnormal": lambda f, x: x != NAN and 0 < x.mag < f.low,
    }
    section("9.7.3.1 Floating Point Instructions: testp")
    for f, (name, test) in product((F32, F64), tests.items()):
        run = lambda a: int(test(f, f.value(a)))
        instruction(f"testp.{name}.{f.name} p, a", [f.width], [1], encode(f, unary_cases(f)), run)


def copysign():
    """Prints copysign (9.7.3.2): the sign bit of a, and all other bits of b."""
    section("9.7.3.2 Floating Point Instructions: copysign", "The bits are copied: NaNs keep their payload.")
    for f in (F32, F64):
        run = lambda a, b: (a & f.sign_bit) | (b & (f.sign_bit - 1))
        cases = [(1, 2), (-1, 2), (1, -2), (-1, -2), (0, NZ), (NZ, 0), (NZ, 1), (NINF, f.tiny), (-f.tiny, INF)]
        cases += [(NINF, NAN), (-1, SNAN), (1, NNAN), (NNAN, 3), (NAN, -3), (-f.big, f.low)]
        instruction(f"copysign.{f.name} d, a, b", [f.width] * 2, [f.width], encode(f, cases), run)


def div_approx(a, b, mode):
    """Returns a * (1/b), which is zero for large b (9.7.3.8)."""
    if NAN not in (a, b) and 2**126 < b.mag < 2**128:
        return NAN if a.mag == INFINITE else Real(a.sign ^ b.sign, Fraction(0))
    return exact_div(a, b, mode)


def div():
    roundings = (".rn", ".rz", ".rm", ".rp")
    section("9.7.3.8 Floating Point Instructions: div")
    for rnd, ftz in product(roundings, ("", ".ftz")):
        run = arithmetic(F32, exact_div, rnd[1:], bool(ftz))
        instruction_of_type(f"div{rnd}{ftz}.f32 d, a, b", "f32", 2, encode(F32, div_cases(F32)), run)
    for rnd in roundings:
        run = arithmetic(F64, exact_div, rnd[1:])
        instruction_of_type(f"div{rnd}.f64 d, a, b", "f64", 2, encode(F64, div_cases(F64)), run)
    remark("The correctly rounded quotient, but .approx gives zero where 2^126 < |b| < 2^128, or NaN if a is infinite.")
    big, limit = F32.big, Fraction(2) ** 126
    wide = [(1, big), (-1, big), (big, big), (INF, big), (NINF, 2 * limit), (big, limit), (1, limit * (1 + F32.ulp))]
    for ftz in ("", ".ftz"):
        cases = encode(F32, div_cases(F32) + wide)
        instruction_of_type(f"div.approx{ftz}.f32 d, a, b", "f32", 2, cases, arithmetic(F32, div_approx, ftz=bool(ftz)))
        instruction_of_type(f"div.full{ftz}.f32 d, a, b", "f32", 2, cases, arithmetic(F32, exact_div, ftz=bool(ftz)))


def quiet(f, a):
    return a | 1 << (f.frac + f.unused - 1)


def sign_function(f, parts, negate, ftz):
    """Returns abs or neg. NaNs keep their payload in f32 (made quiet), f64 and f16x2 without .ftz; others are
    canonical."""
    keeps = f in (F32, F64) or (f is F16 and parts == 2 and not ftz)

    def run(a):
        nan = f.value(a) == NAN
        if nan and not keeps:
            return f.nan
        a = f.flush(a) if ftz else a
        a = a ^ f.sign_bit if negate else a & ~f.sign_bit
        return quiet(f, a) if nan and f is F32 else a

    return run


def abs_neg(number, name, types, family="Floating Point Instructions"):
    section(f"{number} {family}: {name}")
    for t, ftz in product(types, ("", ".ftz")):
        f, parts = format_of(t)
        if ftz and f in (F64, BF16):
            continue
        cases = encode(f, unary_cases(f))
        instruction_of_type(f"{name}{ftz}.{t} d, a", t, 1, cases, sign_function(f, parts, name == "neg", ftz))


def two_inputs(f, greatest, nan, x, y):
    """Returns min_num, min_nan, max_num or max_nan of 9.7.3.11 and 9.7.3.12 on bits; -0 is less than +0."""
    a, b = f.value(x), f.value(y)
    if NAN in (a, b):
        if nan or a == b:
            return f.nan
        return y if a == NAN else x
    key = lambda v: ((-v.mag if v.sign else v.mag), -v.sign)
    return x if (key(a) > key(b)) == greatest else y


def min_max_function(f, greatest, ftz, nan, xorsign, absolute):
    def run(*operands):
        operands = [f.flush(o) if ftz else o for o in operands]
        sign = (operands[0] ^ operands[1]) & f.sign_bit
        if absolute:
            operands = [o & ~f.sign_bit for o in operands]
        d = operands[0]
        for o in operands[1:]:
            d = two_inputs(f, greatest, nan, d, o)
        if d != ANY and xorsign and f.value(d) != NAN:
            d = (d & ~f.sign_bit) | sign
        return d

    return run


def min_max(number, name, types, family="Floating Point Instructions", *notes):
    section(f"{number} {family}: {name}", *notes)
    for t, ftz, nan, xorsign in product(types, ("", ".ftz"), ("", ".NaN"), ("", ".xorsign.abs")):
        f, _ = format_of(t)
        if (ftz and f in (F64, BF16)) or (f is F64 and (nan or xorsign)):
            continue
        run = min_max_function(f, name == "max", ftz, nan, xorsign, xorsign)
        instruction_of_type(f"{name}{ftz}{nan}{xorsign}.{t} d, a, b", t, 2, encode(f, min_max_cases(f)), run)


def min_max_3(name):
    for ftz, nan, absolute in product(("", ".ftz"), ("", ".NaN"), ("", ".abs")):
        run = min_max_function(F32, name == "max", ftz, nan, "", absolute)
        text = f"{name}{ftz}{nan}{absolute}.f32 d, a, b, c"
        instruction_of_type(text, "f32", 3, encode(F32, min_max_3_cases(F32)), run, "sm_100 and later")


def high_half(exact):
    """Returns a function on the upper word of an f64 (9.7.3.14, 9.7.3.17); the lower word of its result is zero."""

    def run(a):
        x = HIGH.value(HIGH.flush(a >> 32))
        if x != NAN and x.mag == INFINITE and a & 0xFFFFFFFF:
            return ANY  # a NaN whose upper word is that of infinity
        return finish(HIGH, exact(x, "rn"), "rn", ftz=True) << 32

    return run


def high_half_cases(cases):
    """Returns cases of upper words, some with ignored lower words."""
    words = [w for (w,) in encode(HIGH, cases(HIGH))]
    infinite = (0x7FF00000, 0xFFF00000)
    some = [(w << 32,) for w in words] + [(w << 32 | 0xFFFFFFFF,) for w in words[::3] if w not in infinite]
    return some + [(0x0000000000000001,), (0x8000000000000001,), (0x3FF0000080000000,), (0x7FF0000000000001,)]


HIGH_HALF_NOTES = (
    "The exact result for the upper word of a, rounded once to the 20 bits of fraction. For NaNs with the upper",
    "word of infinity, the ISA contradicts itself: the lower word is ignored, and NaN gives NaN. So `_`.",
)


def exact_and_approx(number, name, exact, cases):
    """Prints rcp or sqrt: four roundings, and .approx, which rounds to nearest."""
    section(f"{number} Floating Point Instructions: {name}", f"{name}.approx is the correctly rounded value.")
    for rnd, ftz in product((".rn", ".rz", ".rm", ".rp", ".approx"), ("", ".ftz")):
        run = arithmetic(F32, exact, "rn" if rnd == ".approx" else rnd[1:], bool(ftz))
        instruction_of_type(f"{name}{rnd}{ftz}.f32 d, a", "f32", 1, encode(F32, cases(F32)), run)
    for rnd in (".rn", ".rz", ".rm", ".rp"):
        instruction_of_type(f"{name}{rnd}.f64 d, a", "f64", 1, encode(F64, cases(F64)), arithmetic(F64, exact, rnd[1:]))


def rcp():
    exact_and_approx("9.7.3.13", "rcp", exact_rcp, rcp_cases)
    section("9.7.3.14 Floating Point Instructions: rcp.approx.ftz.f64", *HIGH_HALF_NOTES)
    instruction("rcp.approx.ftz.f64 d, a", [64], [64], high_half_cases(rcp_cases), high_half(exact_rcp))


def rsqrt():
    section("9.7.3.16 Floating Point Instructions: rsqrt", "The correctly rounded value.")
    for f, ftz in ((F32, ""), (F32, ".ftz"), (F64, "")):
        run = arithmetic(f, exact_rsqrt, ftz=bool(ftz))
        instruction_of_type(f"rsqrt.approx{ftz}.{f.name} d, a", f.name, 1, encode(f, root_cases(f)), run)
    section("9.7.3.17 Floating Point Instructions: rsqrt.approx.ftz.f64", *HIGH_HALF_NOTES)
    instruction("rsqrt.approx.ftz.f64 d, a", [64], [64], high_half_cases(root_cases), high_half(exact_rsqrt))


# -- The transcendental functions: 9.7.3.18 to 9.7.3.22, 9.7.4.9, 9.7.4.10 --------------------------------------


def from_mp(x):
    man, exp = abs(x).man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp) * (-1 if x < 0 else 1)


def transcendental(function, x):
    """Returns function(x) to 1,000 bits: only exact cases are nearer to a tie."""
    with mpmath.workprec(1000):
        y = function(mpmath.mpf(-x.mag.numerator if x.sign else x.mag.numerator) / x.mag.denominator)
        return real(from_mp(y))


def exact_sin(a, mode):
    if a == NAN or a.mag == INFINITE:
        return NAN
    return a if a.mag == 0 else transcendental(mpmath.sin, a)


def exact_cos(a, mode):
    if a == NAN or a.mag == INFINITE:
        return NAN
    return transcendental(mpmath.cos, a)


def exact_lg2(a, mode):
    if a == NAN or (a.sign and a.mag):
        return NAN
    if a.mag == 0:
        return NINF
    if a.mag == INFINITE:
        return INF
    e = log2_floor(a.mag)
    return real(e) if a.mag == Fraction(2) ** e else transcendental(lambda x: mpmath.log(x) / mpmath.log(2), a)


def exact_ex2(a, mode):
    if a == NAN:
        return NAN
    if a.mag > 5000:  # out of range of all formats
        return Real(0, Fraction(2) ** (-5000 if a.sign else 5000) if a.mag != INFINITE else (0 if a.sign else INFINITE))
    whole = (-a.mag if a.sign else a.mag).__floor__()
    rest = (-a.mag if a.sign else a.mag) - whole
    fraction = transcendental(lambda x: mpmath.power(2, x), real(rest)).mag if rest else 1
    return Real(0, fraction * Fraction(2) ** whole)


def exact_tanh(a, mode):
    if a == NAN or a.mag == 0:
        return a
    return Real(a.sign, Fraction(1)) if a.mag > 300 else transcendental(mpmath.tanh, a)


def angle_cases(f):
    odd = [0x3FC90FDB, 0x40490FDB, 0xC0C90FDB, 0x439D1463, 0x6F79BE45]  # near pi/2, pi, -2pi, 100pi, some n pi/2
    more = [HALF, Fraction(3, 4), Fraction(1, 4096), Fraction(-1, 4096), 10**10, 2**100, 2, 3, 11, -100]
    return [(b,) for b in odd] + encode(f, unary_cases(f) + more)


def lg2_cases(f):
    return encode(f, root_cases(f) + [HALF, Fraction(1, 1024), 10, 100, 1 - f.ulp, 2**100])


def ex2_cases(f):
    u, top, bottom = f.ulp, f.emax, f.emin - f.frac
    edges = [top, top + 1, (top + 1) * (1 - u / 2), f.emin, f.emin - 1, f.emin - HALF]
    edges += [bottom, bottom - 1, bottom - 2, (bottom - 1) * (1 - u), bottom + HALF]
    more = [2, -2, HALF, -HALF, Fraction(5, 2), u, -u, u / 2, near(f, Fraction(33, 10))]
    return encode(f, unary_cases(f) + [near(f, x) for x in edges] + more)


def tanh_cases(f):
    more = [HALF, 2, 3, 5, -5, 9, 10, -20, 100, Fraction(1, 64), Fraction(-1, 4096), near(f, Fraction(3, 10))]
    return encode(f, unary_cases(f) + more)


def transcendental_section(number, name, exact, cases):
    section(f"{number} Floating Point Instructions: {name}", "The correctly rounded value.")
    for ftz in ("", ".ftz") if name != "tanh" else ("",):
        run = arithmetic(F32, exact, ftz=bool(ftz))
        instruction_of_type(f"{name}.approx{ftz}.f32 d, a", "f32", 1, cases(F32), run)


# -- 9.7.4 Half Precision Floating-Point Instructions ----------------------------------------------------------

HALVES = ("f16", "f16x2", "bf16", "bf16x2")


def half_section(number, name):
    section(f"{number} Half Precision Floating Point Instructions: {name}")


def half_arithmetic(number, name, exact, cases):
    """Prints add, sub or mul: only .rn, which is also the default."""
    half_section(number, name)
    for t, rnd, ftz, sat in product(HALVES, ("", ".rn"), ("", ".ftz"), ("", ".sat")):
        f, _ = format_of(t)
        if f is BF16 and (ftz or sat):
            continue
        some = encode(f, cases(f))
        run = arithmetic(f, exact, ftz=bool(ftz), sat=bool(sat))
        instruction_of_type(f"{name}{rnd}{ftz}{sat}.{t} d, a, b", t, 2, thin(some) if rnd else some, run)


def half_fma():
    half_section("9.7.4.4", "fma")
    for t, ftz, limit in product(HALVES, ("", ".ftz"), ("", ".sat", ".relu")):
        f, _ = format_of(t)
        if f is BF16 and (ftz or limit == ".sat"):
            continue
        run = arithmetic(f, exact_fma, ftz=bool(ftz), sat=limit == ".sat", relu=limit == ".relu")
        instruction_of_type(f"fma.rn{ftz}{limit}.{t} d, a, b, c", t, 3, encode(f, fma_cases(f)), run)


def half_transcendental():
    half_section("9.7.4.9", "tanh")
    for t in HALVES:
        f, _ = format_of(t)
        instruction_of_type(f"tanh.approx.{t} d, a", t, 1, tanh_cases(f), arithmetic(f, exact_tanh))
    half_section("9.7.4.10", "ex2")
    for t in HALVES:
        f, _ = format_of(t)
        ftz = ".ftz" if f is BF16 else ""
        instruction_of_type(f"ex2.approx{ftz}.{t} d, a", t, 1, ex2_cases(f), arithmetic(f, exact_ex2, ftz=bool(ftz)))


def print_float():
    roundings = (".rn", ".rz", ".rm", ".rp")
    testp()
    copysign()
    arithmetic_section("9.7.3.3", "add", exact_add, 2, add_cases, ("",) + roundings, packed=True)
    arithmetic_section("9.7.3.4", "sub", exact_sub, 2, sub_cases, ("",) + roundings, packed=True)
    arithmetic_section("9.7.3.5", "mul", exact_mul, 2, mul_cases, ("",) + roundings, packed=True)
    arithmetic_section("9.7.3.6", "fma", exact_fma, 3, fma_cases, roundings, packed=True)
    arithmetic_section("9.7.3.7", "mad", exact_fma, 3, fma_cases, roundings)
    div()
    abs_neg("9.7.3.9", "abs", ("f32", "f64"))
    abs_neg("9.7.3.10", "neg", ("f32", "f64"))
    min_max("9.7.3.11", "min", ("f32", "f64"))
    min_max_3("min")
    min_max("9.7.3.12", "max", ("f32", "f64"))
    min_max_3("max")
    rcp()
    exact_and_approx("9.7.3.15", "sqrt", exact_sqrt, root_cases)
    rsqrt()
    transcendental_section("9.7.3.18", "sin", exact_sin, angle_cases)
    transcendental_section("9.7.3.19", "cos", exact_cos, angle_cases)
    transcendental_section("9.7.3.20", "lg2", exact_lg2, lg2_cases)
    transcendental_section("9.7.3.21", "ex2", exact_ex2, ex2_cases)
    transcendental_section("9.7.3.22", "tanh", exact_tanh, tanh_cases)
    family = "Half Precision Floating Point Instructions"
    half_arithmetic("9.7.4.1", "add", exact_add, add_cases)
    half_arithmetic("9.7.4.2", "sub", exact_sub, sub_cases)
    half_arithmetic("9.7.4.3", "mul", exact_mul, mul_cases)
    half_fma()
    abs_neg("9.7.4.5", "neg", HALVES, family)
    abs_neg("9.7.4.6", "abs", HALVES, family)
    min_max("9.7.4.7", "min", HALVES, family)
    min_max(
        "9.7.4.8", "max", HALVES, family,
        ".xorsign has no effect on a NaN result, as in the description. The packed pseudo code tests a instead.",
    )
    half_transcendental()


# -- Comparison: 9.3.1, 9.7.6, 9.7.7 ---------------------------------------------------------------------------

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
BOOLEANS = {"and": lambda t, c: t & c, "or": lambda t, c: t | c, "xor": lambda t, c: t ^ c}


def order(name, a, b):
    return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name])


def compare(name, a, b):
    """Returns a comparison of Reals or NAN (9.3.1.2)."""
    unordered = NAN in (a, b)
    if name in ("num", "nan"):
        return int(unordered == (name == "nan"))
    if unordered:
        return int(len(name) == 3)
    return order(name[:2], -a.mag if a.sign else a.mag, -b.mag if b.sign else b.mag)


def compare_cases(f):
    u, tiny, low, big = f.ulp, f.tiny, f.low, f.big
    ordered = [(1, 2), (2, 1), (1, 1), (-1, 1), (-1, -1 - u), (1, 1 + u), (0, NZ), (NZ, 0), (big, INF), (INF, INF)]
    unordered = [(NAN, 1), (1, SNAN), (NAN, NAN), (NNAN, NINF)]
    return encode(f, ordered + unordered + [(NINF, INF), (tiny, 0), (-tiny, tiny), (low, low - tiny), (NZ, -tiny)])


def combined_cases(f):
    """Returns cases with both values of the predicate."""
    u, tiny = f.ulp, f.tiny
    pairs = [(1, 2), (2, 1), (1, 1), (0, NZ), (1, NAN), (NAN, NAN), (-tiny, tiny), (tiny, 0), (1 + u, 1)]
    return [case + (c,) for case in encode(f, pairs) for c in (0, 1)]


def comparison(f, name, ftz=False, boolean=None):
    """Returns a function from (a, b) to (t, !t), or from (a, b, c) to BoolOp(t, c), BoolOp(!t, c)."""

    def run(a, b, c=None):
        t = compare(name, *(f.value(f.flush(x) if ftz else x) for x in (a, b)))
        return (t, 1 - t) if boolean is None else (BOOLEANS[boolean](t, c), BOOLEANS[boolean](1 - t, c))

    return run


def parts_of_cases(f, cases):
    """Returns cases of a packed type from cases of a part, with the predicate of the lower one if there is one."""
    return [tuple(join(lo[i], hi[i], f.width) for i in (0, 1)) + lo[2:] for lo, hi in pair_up(cases)]


def packed_comparison(f, name, ftz=False, boolean=None):
    part = comparison(f, name, ftz, boolean)

    def run(a, b, *c):
        (a0, a1), (b0, b1) = split(a, f.width), split(b, f.width)
        return part(a0, b0, *c)[0], part(a1, b1, *c)[0]

    return run


def setp(number, types, family):
    """Prints setp: p is the comparison (of the lower part), q its complement (9.7.6.2) or the upper comparison
    (9.7.7.2)."""
    section(f"{number} {family}: setp")
    booleans = list(BOOLEANS)
    for t, ftz in product(types, ("", ".ftz")):
        f, parts = format_of(t)
        if ftz and f in (F64, BF16):
            continue
        two, w = parts == 2, f.width * parts
        make = packed_comparison if two else comparison
        spread = (lambda cases: parts_of_cases(f, cases)) if two else (lambda cases: cases)
        for i, name in enumerate(COMPARISONS):
            run = make(f, name, ftz)
            if two or f in (F32, F64) and i % 3 == 0:
                instruction(f"setp.{name}{ftz}.{t} p|q, a, b", [w, w], [1, 1], spread(compare_cases(f)), run)
            else:
                one = lambda a, b: run(a, b)[0]
                instruction(f"setp.{name}{ftz}.{t} p, a, b", [w, w], [1], spread(compare_cases(f)), one)
        for i, name in enumerate(COMPARISONS):
            for boolean in booleans if t == "f32" and not ftz else [booleans[i % 3]]:
                run = make(f, name, ftz, boolean)
                cases = spread(combined_cases(f))
                if two or f in (F32, F64):
                    instruction(f"setp.{name}.{boolean}{ftz}.{t} p|q, a, b, c", [w, w, 1], [1, 1], cases, run)
                else:
                    one = lambda a, b, c: run(a, b, c)[0]
                    instruction(f"setp.{name}.{boolean}{ftz}.{t} p, a, b, c", [w, w, 1], [1], cases, one)


INTEGERS = {s + str(b): (s == "s", b) for b in (8, 16, 32, 64) for s in "su"}


def truth(dtype):
    """Returns the bits that `set` writes for true, and their width."""
    if dtype in INTEGERS:
        return (1 << INTEGERS[dtype][1]) - 1, INTEGERS[dtype][1]
    return FLOATS[dtype].bits(1), FLOATS[dtype].width


def set_instruction(name, boolean, ftz, dtype, stype):
    f, parts = format_of(stype)
    w = f.width * parts
    text = f"set.{name}{'.' + boolean if boolean else ''}{ftz}.{dtype}.{stype} d, a, b{', c' if boolean else ''}"
    cases = combined_cases(f) if boolean else compare_cases(f)
    widths = [w, w] + [1] * bool(boolean)
    if parts == 1:
        yes, width = truth(dtype)
        part = comparison(f, name, ftz, boolean)
        instruction(text, widths, [width], cases, lambda *x: yes if part(*x)[0] else 0)
        return
    yes = f.bits(1) if dtype in PACKED else 0xFFFF
    both = packed_comparison(f, name, ftz, boolean)

    def run(*x):
        p, q = both(*x)
        return (yes if p else 0) | (yes if q else 0) << f.width

    instruction(text, widths, [2 * f.width], parts_of_cases(f, cases), run)


def set_section(number, family, pairs, *notes):
    """Prints all comparisons for the first destination of a source, some for the others."""
    section(f"{number} {family}: set", *notes)
    booleans, seen = list(BOOLEANS), set()
    for dtype, stype in pairs:
        f, _ = format_of(stype)
        for ftz in ("", ".ftz") if f in (F16, F32) and dtype != "bf16" else ("",):
            names = COMPARISONS if (stype, ftz) not in seen else ("eq", "ne", "lt", "geu", "nan")
            seen.add((stype, ftz))
            for i, name in enumerate(names):
                set_instruction(name, None, ftz, dtype, stype)
                if i % 2:
                    set_instruction(name, booleans[i // 2 % 3], ftz, dtype, stype)


def integer_set_cases(bits):
    values = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    return [(a, b) for a in values for b in values if a != b][:16] + [(1, 1), (values[3], values[3])]


def set_of_integers(dtype, stype, names):
    """Prints set with integer sources and .f16 or .bf16 results (9.7.7.1)."""
    signed, bits = stype[0] == "s", int(stype[1:])
    yes, width = truth(dtype)
    for name in names:

        def run(a, b):
            if signed:
                a, b = ((x ^ (1 << (bits - 1))) - (1 << (bits - 1)) for x in (a, b))
            return yes if order({"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(name, name), a, b) else 0

        instruction(f"set.{name}.{dtype}.{stype} d, a, b", [bits, bits], [width], integer_set_cases(bits), run)


def print_compare():
    single, half = "Comparison and Selection Instructions", "Half Precision Comparison Instructions"
    wide = [(d, s) for s in ("f32", "f64") for d in ("u32", "s32", "f32")]
    set_section("9.7.6.1", single, wide)
    setp("9.7.6.2", ("f32", "f64"), single)
    narrow = [(d, "f16") for d in ("f16", "u16", "s16", "u32", "s32", "bf16")] + [("f16", "f32"), ("f16", "f64")]
    narrow += [(d, "bf16") for d in ("bf16", "u16", "s16", "u32", "s32")] + [("bf16", "f32"), ("bf16", "f64")]
    narrow += [(d, "f16x2") for d in ("f16x2", "u32", "s32")] + [(d, "bf16x2") for d in ("bf16x2", "u32", "s32")]
    set_section(
        "9.7.7.1", half, narrow,
        "For .bf16 and .bf16x2 sources the pseudo code selects 1.0 or ones by the source's type. Here the destination's",
        "type selects, as in the description and for .f16.",
    )
    for dtype in ("f16", "bf16"):
        for bits in (16, 32, 64):
            set_of_integers(dtype, f"b{bits}", ("eq", "ne"))
            set_of_integers(dtype, f"u{bits}", ("lt", "hs"))
            set_of_integers(dtype, f"s{bits}", ("le", "gt"))
    setp("9.7.7.2", HALVES, half)


# -- 9.7.9.21 cvt ----------------------------------------------------------------------------------------------


def signed_value(type_name, bits):
    signed, width = INTEGERS[type_name]
    return (bits ^ (1 << (width - 1))) - (1 << (width - 1)) if signed else bits


def bounds(type_name):
    signed, width = INTEGERS[type_name]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def clamp(type_name, v):
    lo, hi = bounds(type_name)
    return min(max(v, lo), hi)


def in_register(type_name, v, width):
    """Returns an integer truncated to its type, then extended to the register by the type's sign (9.4.1, note of
    table 15)."""
    bits = INTEGERS[type_name][1]
    return signed_value(type_name, v & ((1 << bits) - 1)) & ((1 << width) - 1)


def destination(width, register):
    return "d" if width == register else f"d:{register}"


def interesting_integers(type_name, others=()):
    """Returns values of the type: its own bounds, those of other types, powers of two, patterns."""
    lo, hi = bounds(type_name)
    values = [0, 1, -1, 2, lo, hi, lo + 1, hi - 1]
    for other in others:
        values += [v + d for v in bounds(other) for d in (-1, 0, 1)]
    values += [0x55, 0xA5, 0x7F, 0x80, -0x80, 0x100, 0x1234, 0x8000, 0xFEDC, 0x12345678, 0x89ABCDEF, 0x0123456789ABCDEF]
    values += [-77, 10, 100, -100, 42, 200]
    bits = INTEGERS[type_name][1]
    return [(v & ((1 << bits) - 1),) for v in dict.fromkeys(values) if lo <= v <= hi]


def int_to_int(dst, src, sat, register):
    width, from_width = INTEGERS[dst][1], INTEGERS[src][1]

    def run(a):
        v = signed_value(src, a)
        return in_register(dst, clamp(dst, v) if sat else v, register)

    cases = interesting_integers(src, (dst,))[:16]
    text = f"cvt{'.sat' if sat else ''}.{dst}.{src} {destination(width, register)}, a"
    instruction(text, [from_width], [register], cases, run)


def can_saturate(dst, src):
    (lo, hi), (a, b) = bounds(dst), bounds(src)
    return a < lo or b > hi


def integer_conversions():
    remark("Integer to integer: truncated to the width; .sat only if the value may not fit.")
    for dst, src in product(INTEGERS, INTEGERS):
        width = INTEGERS[dst][1]
        int_to_int(dst, src, False, width)
        if can_saturate(dst, src):
            int_to_int(dst, src, True, width)
    remark("Registers wider than the destination type: extended by its sign, not the source's.")
    for dst, src in product(INTEGERS, ("s8", "u16", "s32", "u64")):
        for register in (16, 32, 64):
            if register > INTEGERS[dst][1]:
                int_to_int(dst, src, False, register)
                if can_saturate(dst, src) and register == 32:
                    int_to_int(dst, src, True, register)


def int_to_float(f, src, mode, sat=False, register=0, ftz=""):
    register = register or f.width
    p = 1 << (f.frac + 1)
    ties = [p + 1, p + 3, 2 * p + 2, 2 * p + 3, 2 * p + 6, 2 * p + 1, 4 * p + 1]
    over = [int(f.big + d) for d in (0, f.half_big - 1, f.half_big, f.half_big + 1, 2 * f.half_big)] if f is F16 else []
    lo, hi = bounds(src)
    more = [(v & ((1 << INTEGERS[src][1]) - 1),) for t in ties + over for v in (t, -t) if lo <= v <= hi]
    cases = more + interesting_integers(src)[: max(14, 24 - len(more))]
    run = lambda a: finish(f, real(signed_value(src, a)), mode, sat=sat)
    text = f"cvt.{mode}{ftz}{'.sat' if sat else ''}.{f.name}.{src} {destination(f.width, register)}, a"
    instruction(text, [INTEGERS[src][1]], [register], cases, run)


def round_integral(mode, x):
    """Rounds a number to an integral one: .rni .rzi .rmi .rpi."""
    n, rest = divmod(x.mag, 1)
    return Real(x.sign, Fraction(n + (bool(rest) and rounds_up(mode, x.sign, n & 1, rest, Fraction(1, 2)))))


def float_to_int(f, dst, mode, ftz="", sat="", register=0):
    width = INTEGERS[dst][1]
    register = register or width

    def run(a):
        x = f.value(f.flush(a) if ftz else a)
        if x == NAN:
            v = 0 if f is not F64 and width != 64 else 1 << (width - 1)
        elif x.mag == INFINITE:
            v = bounds(dst)[0 if x.sign else 1]
        else:
            r = round_integral(mode, x)
            v = clamp(dst, int(-r.mag if r.sign else r.mag))
        return in_register(dst, v, register)

    text = f"cvt.{mode}{ftz}{sat}.{dst}.{f.name} {destination(width, register)}, a"
    instruction(text, [f.width], [register], float_to_int_cases(f, dst), run)


def float_to_int_cases(f, dst):
    u, (lo, hi) = f.ulp, bounds(dst)
    values = [0, NZ, HALF, -HALF, 3 * HALF, -3 * HALF, 5 * HALF, HALF + u / 2, HALF - u / 4, 1 - u / 2, -1 + u / 2, -1]
    values += [near(f, Fraction(4951, 40))]
    for v in (lo - 1, lo - HALF, lo, lo + HALF, hi - HALF, hi, hi + HALF, hi + Fraction(3, 4), hi + 1):
        values += [v] if f.has(v) else []
    # Neighbours of bounds that the format lacks.
    values += [f.value(f.round(real(v), m)) for v in (lo, hi) for m in ("rz", "rm", "rp")]
    values += [f.tiny, -f.tiny, f.low, f.big, -f.big, INF, NINF, NAN, NNAN, SNAN]
    return encode(f, values)


def rounded_float_cases(f, g):
    """Returns numbers of f near the rounding boundaries of g."""
    u, tiny, low, big = g.ulp, g.tiny, g.low, g.big
    over = big + g.half_big  # least magnitude that rounds to infinity
    values = [0, NZ, 1, -1, HALF, -3 * HALF, 2, near(f, PI), 1 + f.ulp, -1 - f.ulp]
    values += [1 + u / 2, 1 + 3 * u / 2, -1 - u / 2, 1 + u / 2 + f.ulp, 1 + u / 2 - f.ulp]
    values += [big, -big, over, -over, over + g.half_big, over * (1 - f.ulp), over * (1 - f.ulp / 2), f.big, -f.big]
    values += [tiny, tiny / 2, -tiny / 2, 3 * tiny / 2, tiny / 2 * (1 + f.ulp), tiny / 4, f.tiny, -f.tiny]
    values += [low, low - tiny, low - tiny / 2, low - tiny / 4, -low + tiny / 2, f.low, f.low - f.tiny]
    return encode(f, values + [INF, NINF, NAN, NNAN, SNAN])


def converted_nan(g, f, a, mode, ftz):
    """Returns the NaN that ptxas makes of a NaN of f when it folds a conversion to g; if it does not fold, the
    canonical one."""
    if mode.endswith("i"):
        return g.nan
    if g is f:
        return (quiet(g, a) if ftz else a) if g in (F32, F64) else g.nan
    if g is TF32:
        return a & ~0x1FFF if mode == "rna" else ANY
    sign, payload = a & f.sign_bit, a & (f.sign_bit - 1) & ~f.inf_bits
    if (g, f) == (F32, F64):
        return quiet(g, sign >> 32 | g.inf_bits | payload >> 29)
    if (g, f) == (F64, F32) and not ftz:
        return quiet(g, sign << 32 | g.inf_bits | payload << 29)
    return 0x7FFFFFFFE0000000 if g is F64 else g.nan


def float_to_float(g, f, rnd="", ftz="", sat="", relu="", satfinite="", register=0, note=None):
    """Prints a conversion to g, or with an integer rounding to an integral value of the same format."""
    register = register or g.width
    mode = rnd[1:] or "rn"  # conversions without a rounding are exact

    def run(a):
        x = f.value(f.flush(a) if ftz and f is F32 else a)
        if x == NAN and not sat:
            return converted_nan(g, f, a, mode, ftz)
        if mode.endswith("i") and x != NAN and x.mag != INFINITE:
            x = round_integral(mode, x)  # zero keeps the sign of the operand
        return finish(g, x, mode, bool(ftz) and g is F32, bool(sat), bool(relu), bool(satfinite))

    cases = rounded_float_cases(f, g)
    if mode.endswith("i"):
        cases = float_to_int_cases(f, "s8") + encode(f, [1 / f.ulp - HALF, 1 / f.ulp, 1 / f.ulp + 1])
    mods = f"{rnd}{ftz}{relu}{satfinite}{sat}"
    text = f"cvt{mods}.{g.name}.{f.name} {destination(g.width, register)}, a"
    instruction(text, [f.width], [register], cases, run, note)


def ftz_of(g, f):
    return ("", ".ftz") if F32 in (f, g) else ("",)


def float_conversions():
    nearest = (".rn", ".rz", ".rm", ".rp")
    remark("Float to integral float of the same type. A zero has the sign of the operand.")
    for f in FLOATS.values():
        for rnd, ftz, sat in product((".rni", ".rzi", ".rmi", ".rpi"), ftz_of(f, f), ("", ".sat")):
            if not (sat and f is BF16):
                float_to_float(f, f, rnd, ftz, sat)
    remark("Float to float. A too large number becomes infinity as in IEEE 754, for f16, too (~131,000 in 6.5.1).")
    for g, f in product(FLOATS.values(), FLOATS.values()):
        exact = g.frac >= f.frac and g.emax >= f.emax
        for rnd, ftz, sat in product(("",) if exact else nearest, ftz_of(g, f), ("", ".sat")):
            if not (BF16 in (f, g) and sat):
                float_to_float(g, f, rnd, ftz, sat)
    for g, rnd in product((F32, F64), nearest):
        float_to_float(g, BF16, rnd)  # exact, but permitted: the example cvt.f64.bf16.rp
    for g in (F16, BF16):
        for rnd, relu, satfinite in product((".rn", ".rz"), ("", ".relu"), ("", ".satfinite")):
            if relu or satfinite:
                float_to_float(g, F32, rnd, relu=relu, satfinite=satfinite)
    remark("A destination register of 32 bits: extended with zeros.")
    float_to_float(F16, F32, ".rn", register=32)
    float_to_float(F16, F64, ".rz", register=32)
    remark("tf32 has an implementation-defined layout: the upper 19 bits, the rest zero. Its NaN is `_`, except for .rna.")
    for satfinite in ("", ".satfinite"):
        float_to_float(TF32, F32, ".rna", satfinite=satfinite)
    for rnd, relu, satfinite in product((".rn", ".rz"), ("", ".relu"), ("", ".satfinite")):
        note = "sm_100 and later" if satfinite else None
        float_to_float(TF32, F32, rnd, relu=relu, satfinite=satfinite, note=note)


def pair_conversion(type_name, g, f, mods, packed_source):
    """Prints a conversion of two numbers into one register: of two operands, a to the upper part, or of one packed
    operand."""
    mode = mods[1:3]
    relu, satfinite = ".relu" in mods, ".satfinite" in mods
    part = lambda a: finish(g, f.value(a), mode, relu=relu, satfinite=satfinite)
    values = [v for (v,) in rounded_float_cases(f, g) if part(v) != ANY]
    if packed_source:
        cases = [(join(lo, hi, f.width),) for lo, hi in pair_up(values)]
        run = lambda a: join(*(part(x) for x in split(a, f.width)), g.width)
        instruction(f"cvt{mods}.{type_name} d, a", [2 * f.width], [2 * g.width], cases, run)
    else:
        run = lambda a, b: join(part(b), part(a), g.width)
        instruction(f"cvt{mods}.{type_name} d, a, b", [f.width] * 2, [2 * g.width], pair_up(values), run)


def packed_conversions():
    remark("Pairs: a goes to the upper part.")
    for g, rnd, relu, satfinite in product((F16, BF16), (".rn", ".rz"), ("", ".relu"), ("", ".satfinite")):
        pair_conversion(f"{g.name}x2.f32", g, F32, rnd + relu + satfinite, False)
    remark("8-bit formats. NaN is 7f in both.")
    for g, relu in product((E4M3, E5M2), ("", ".relu")):
        pair_conversion(f"{g.name}x2.f32", g, F32, ".rn.satfinite" + relu, False)
        pair_conversion(f"{g.name}x2.f16x2", g, F16, ".rn.satfinite" + relu, True)
    for f, relu in product((E4M3, E5M2), ("", ".relu")):
        part = lambda a: finish(F16, f.value(a), "rn", relu=bool(relu))
        values = [0x00, 0x01, 0x03, 0x04, 0x07, 0x08, 0x38, 0x3C, 0x55, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F]
        values = [v for v in values + [v | 0x80 for v in values] if part(v) != ANY]
        run = lambda a: join(*(part(x) for x in split(a, 8)), 16)
        cases = [(join(lo, hi, 8),) for lo, hi in pair_up(values)]
        instruction(f"cvt.rn{relu}.f16x2.{f.name}x2 d, a", [16], [32], cases, run)


def print_convert():
    section("9.7.9.21 Data Movement and Conversion Instructions: cvt")
    integer_conversions()
    remark("Integer to float.")
    for f, src, mode in product(FLOATS.values(), INTEGERS, ("rn", "rz", "rm", "rp")):
        int_to_float(f, src, mode)
    for f, src in product((F16, F32, F64), ("s8", "u8", "s32", "u64")):
        int_to_float(f, src, "rn", sat=True)
    int_to_float(F16, "s32", "rn", register=32)
    int_to_float(F32, "s64", "rm", ftz=".ftz")
    remark(
        "Float to integer: clamped to the destination type, so .sat has no effect. NaN gives 0 if the source",
        "is not .f64 and the destination not of 64 bits, otherwise the highest bit of the destination alone.",
    )
    modes = ("rni", "rzi", "rmi", "rpi")
    for f, dst, mode in product(FLOATS.values(), INTEGERS, modes):
        float_to_int(f, dst, mode)
    for dst, mode in product(("s32", "u32", "s64", "u8"), modes):
        float_to_int(F32, dst, mode, ftz=".ftz")
    for f, dst in product((F16, F32, F64), ("s8", "u8", "u16", "s32", "u64")):
        float_to_int(f, dst, "rni", sat=".sat")
    wider = (("s8", 32), ("u8", 16), ("s16", 32), ("u16", 64), ("s32", 64), ("u32", 64))
    for f, (dst, register) in product((F16, F32, F64), wider):
        float_to_int(f, dst, "rzi", register=register)
    float_conversions()
    packed_conversions()


def main():
    printers = {"float": print_float, "compare": print_compare, "convert": print_convert}
    if len(sys.argv) != 2 or sys.argv[1] not in printers:
        sys.exit("usage: gen_float.py float|compare|convert")
    print(HEADER.format(name=sys.argv[1]), end="")
    printers[sys.argv[1]]()


if __name__ == "__main__":
    main()
