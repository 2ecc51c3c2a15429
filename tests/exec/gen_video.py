#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints video.vec: the scalar and the SIMD video instructions.

    python3 tests/exec/gen_video.py > tests/exec/video.vec

Has a function for each section of the PTX ISA, as gen_integer.py does. If the ISA's prose and its pseudo code permit
several results for a case, all of them are computed, and the case takes any value if they differ.
"""
import sys

sys.dont_write_bytecode = True  # no __pycache__ in the tree

from itertools import product

from gen_integer import COMPARE, Type, header, instruction, noise, section, signed

CMPS = ["eq", "ne", "lt", "le", "gt", "ge"]
OPEN = "the ISA allows several"

# Bytes and halves with boundary values at all positions.
WORDS = [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00000001, 0x807FFF01, 0x7F8001FF, 0xFF00807F, 0x8000FFFF, 0x7FFF8001,
         0x01FF7F80, 0x00000000, *noise(32)[:6]]
THIRD = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x12345678, 0x00FF0080]


def words(turn):
    """Returns twelve rows of a, b and c, which depend on turn."""
    head = [(0, 0), (1, 1), (0, 1), (1, 0), (2, 2), (0, 10)]  # indices of WORDS
    n = len(WORDS)
    pairs = head + [((i + turn) % n, (3 * i + turn // 2 + 4) % n) for i in range(6)]
    pairs += [((i * 5 + turn) % n, (i * 7 + turn + 1) % n) for i in range(12)]
    pairs = list(dict.fromkeys(pairs))[:12]
    return [(WORDS[a], WORDS[b], THIRD[(i + turn) % len(THIRD)]) for i, (a, b) in enumerate(pairs)]


# -- 9.7.18.1 Scalar video instructions ---------------------------------------------------------------------

SELECTORS = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]


def size(selector):
    return {"": 32, "b": 8, "h": 16}[selector[1:2]]


def select(x, t, selector):
    """Returns the selected part of an operand, extended by the sign of its type."""
    bits = size(selector)
    place = bits * int(selector[2]) if selector else 0
    return Type(f"{t.name[0]}{bits}").number(x >> place)


def intermediate(tmp, t, sat, dsel):
    """Returns the permitted results before the second operation.

    The pseudo code has unbounded width. The prose has 34 bits before the clamp and 33 after it, and a sign by the type
    of the destination.
    """
    if sat:
        part = Type(f"{t.name[0]}{size(dsel)}")
        return [part.clamp(tmp), part.clamp(signed(tmp, 34))]
    return [tmp, signed(tmp, 33), t.number(tmp)]


def finish(tmp, t, c, second, dsel):
    if dsel:
        bits = size(dsel)
        mask = ((1 << bits) - 1) << bits * int(dsel[2])
        return tmp << bits * int(dsel[2]) & mask | c & ~mask
    with_c = {"": lambda x, _: x, ".add": lambda x, y: x + y, ".min": min, ".max": max}[second]
    return with_c(tmp, t.number(c)) % (1 << 32)


def scalar(tmp, t, sat, c, second, dsel):
    results = {finish(x, t, c, second, dsel) for x in intermediate(tmp, t, sat, dsel)}
    return results.pop() if len(results) == 1 else None


SECOND = ["", ".add", ".min", ".max"]


def picked(turn):
    """Returns selectors of a and b, which cover nearly all pairs over the turns."""
    return SELECTORS[turn % 7], SELECTORS[(turn * 3 + turn // 7 + 2) % 7]


def forms(types):
    """Yields (types, sat, second operation, selector of d, selectors of a and b) of an instruction's lines.

    types: of d and the sources, in all combinations. Without .sat and second operation the type of d has no effect.
    """
    half = len(types) // 2
    whole = ("", "")
    yield from ((t, "", "", "", whole) for k, t in enumerate(types) if k // half == k % 2)
    yield from ((t, ".sat", "", "", whole) for t in types)
    yield from ((types[k * 3 % len(types)], ["", ".sat"][k % 2], "", "", picked(k)) for k in range(7))
    for k, (second, sat, upper) in enumerate(product(SECOND[1:], ("", ".sat"), (0, half))):
        yield types[upper + k // 2 % half], sat, second, "", picked(k + 7) if k % 4 in (1, 2) else whole
    for k, (dsel, sat) in enumerate(product(SELECTORS[1:], ("", ".sat"))):
        yield types[(k * 3 + k // 8) % len(types)], sat, "", dsel, picked(k + 13)


def scalar_lines(name, types, mode, f, rows):
    """f: computes the intermediate result from the parts of a and b."""
    for turn, (names, sat, second, dsel, (asel, bsel)) in enumerate(forms(types)):
        d, *sources = (Type(x) for x in names)
        third = bool(second or dsel)
        def run(a, b, c=0):
            tmp = f(*(select(x, t, sel) for x, t, sel in zip((a, b), sources, (asel, bsel))))
            return scalar(tmp, d, sat, c, second, dsel)
        text = f"{name}.{'.'.join(names)}{sat}{mode}{second} d{dsel}, a{asel}, b{bsel}" + (", c" if third else "")
        instruction(text, [32] * (2 + third), [32], [x[:2 + third] for x in rows(turn, bsel)], run, OPEN)


TYPES = ["u32", "s32"]
THREE = list(product(TYPES, TYPES, TYPES))


def vadd_family():
    section("9.7.18.1.1 Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax")
    operations = {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b),
                  "vmin": min, "vmax": max}
    for name, f in operations.items():
        scalar_lines(name, THREE, "", f, lambda turn, _: words(turn))


def amounts(turn, bsel):
    """Returns rows with shift amounts in all parts of b that a selector can name."""
    repeated = {32: 1, 16: 0x10001, 8: 0x1010101}[size(bsel)]
    numbers = [0, 1, 4, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 255]
    values = [0x80000001, 0x7FFFFFFF, 0xFFFFFFFF, 0x807F01FF, 0x7F8000FF, 0x12345678]
    small = [1, 0xFFFFFFFF, 3, 0x01010101]  # most shifted values have 34 bits
    rows = []
    for i, n in enumerate(numbers):
        of = small if (i + turn) % 2 else values
        rows.append((of[(i // 2 + turn) % len(of)], n * repeated, THIRD[(i + turn) % 7]))
    return rows + [(values[turn % 6], 0xFFFFFFFF, 0), (small[turn % 4], 0x80000020, 5)]


def vshl_vshr():
    section("9.7.18.1.2 Scalar Video Instructions: vshl, vshr")
    def shifted(name, mode, a, b):
        b = min(b, 32) if mode == ".clamp" else b % 32
        return a << b if name == "vshl" else a >> b
    for name in ("vshl", "vshr"):
        for mode in (".clamp", ".wrap"):
            scalar_lines(name, [(d, a, "u32") for d in TYPES for a in TYPES], mode,
                         lambda a, b: shifted(name, mode, a, b), amounts)


def multiplied(ta, tb, c, types, minus_a, minus_b, minus_c, po, sat, scale):
    """Returns the results that the pseudo code and the prose of vmad permit.

    They disagree on the sign of c if unsigned factors are not negated but c is. The width of the clamp's input, 64 bits
    or unbounded, is not specified.
    """
    negated = minus_a != minus_b
    factors = "s" if "s32" in types else "u"
    final = Type("s32" if factors == "s" or negated or minus_c else "u32")
    results = set()
    for signs in {final.name[0], "s" if negated else factors}:
        third = Type(f"{signs}32").number(c)
        total = (-ta * tb if negated else ta * tb) + (-third if minus_c else third) + po >> scale
        wide = Type(f"{final.name[0]}64").number(total)
        results |= {final.clamp(total) % (1 << 32), final.clamp(wide) % (1 << 32)} if sat else {total % (1 << 32)}
    return results


def vmad():
    section("9.7.18.1.3 Scalar Video Instructions: vmad")
    signs = ["", "a", "b", "c", "ab", "po"]
    for turn, (types, sign, sat) in enumerate(product(product(TYPES, TYPES), signs, ("", ".sat"))):
        scale = ["", ".shr7", ".shr15"][turn % 3]
        asel, bsel = picked(turn) if turn // 6 % 2 else ("", "")
        po = sign == "po"
        a, b, c = (not po and x in sign for x in "abc")
        d = "s32" if "s32" in types or a != b or c else "u32"
        def run(x, y, z):
            parts = [select(v, Type(t), sel) for v, t, sel in zip((x, y), types, (asel, bsel))]
            results = multiplied(*parts, z, types, a, b, c, po, bool(sat), int(scale[4:] or 0))
            return results.pop() if len(results) == 1 else None
        mnemonic = f"vmad.{d}.{'.'.join(types)}{'.po' if po else ''}{sat}{scale}"
        operands = [("-" if minus else "") + x for x, minus in zip(("a" + asel, "b" + bsel, "c"), (a, b, c))]
        rows = words(turn) + words(turn + 3)[6:8]
        instruction(f"{mnemonic} d, {', '.join(operands)}", [32] * 3, [32], rows, run, OPEN)


def vset():
    section("9.7.18.1.4 Scalar Video Instructions: vset")
    u32 = Type("u32")
    for turn, (types, cmp) in enumerate(product(product(TYPES, TYPES), CMPS)):
        merged = ("", SELECTORS[1 + turn // 2 % 6]) if turn % 2 else (SECOND[1 + turn // 2 % 3], "")
        for second, dsel in (("", ""), merged):
            asel, bsel = picked(turn) if second or dsel else ("", "") if turn % 2 else (SELECTORS[turn // 2 % 7],) * 2
            third = bool(second or dsel)
            def run(a, b, c=0):
                ta, tb = (select(x, Type(t), sel) for x, t, sel in zip((a, b), types, (asel, bsel)))
                return finish(int(COMPARE[cmp](ta, tb)), u32, c, second, dsel)
            text = f"vset.{'.'.join(types)}.{cmp}{second} d{dsel}, a{asel}, b{bsel}" + (", c" if third else "")
            instruction(text, [32] * (2 + third), [32], [x[:2 + third] for x in words(turn)], run)


# -- 9.7.18.2 SIMD video instructions -----------------------------------------------------------------------


def average(x, y):
    return x + y + 1 >> 1 if x + y >= 0 else x + y >> 1


SIMD = {"vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y, "vavrg": average, "vabsdiff": lambda x, y: abs(x - y),
        "vmin": min, "vmax": max}

# Selectors of both sources and masks; "" = the default, which the first row of each list spells out.
PICKS = {
    2: [("", "", ""), (".h10", ".h32", ".h10"), (".h32", ".h10", ".h0"), (".h00", ".h11", ".h1"), (".h23", ".h31", ""),
        (".h01", "", ".h10"), ("", ".h22", ".h1"), (".h13", ".h20", ".h0"), (".h30", ".h33", "")],
    4: [("", "", ""), (".b3210", ".b7654", ".b3210"), (".b7654", ".b3210", ".b0"), (".b0000", ".b1111", ".b1"),
        (".b7531", ".b6420", ".b10"), (".b0123", "", ".b2"), ("", ".b4567", ".b20"), (".b2222", ".b3333", ".b21"),
        (".b5274", ".b1603", ".b210"), (".b0246", ".b1357", ".b3"), (".b4444", ".b5555", ".b30"),
        (".b6666", ".b7777", ".b31"), (".b3120", "", ".b310"), ("", ".b7465", ".b32"), (".b1032", ".b5476", ".b320"),
        (".b6071", ".b2534", ".b321"), (".b7700", ".b4433", "")],
}


def elements(a, b, selector, default, t, n):
    """Returns the selected parts of b:a, extended, the last one first."""
    part = Type(f"{t.name[0]}{32 // n}")
    return [part.number((b << 32 | a) >> part.bits * int(k)) for k in reversed((selector or default)[2:])]


def simd(n, f, types, sat, add, pick, rows, text):
    """f: function of two elements; text: the mnemonic."""
    bits = 32 // n
    asel, bsel, mask = pick
    d, *sources = (Type(t) for t in types)
    default = {2: (".h10", ".h32", ".h10"), 4: (".b3210", ".b7654", ".b3210")}[n]
    def run(a, b, c):
        va, vb = (elements(a, b, sel, other, t, n) for sel, other, t in zip((asel, bsel), default, sources))
        t = [f(x, y) for x, y in zip(va, vb)]
        if sat:
            t = [Type(f"{d.name[0]}{bits}").clamp(x) for x in t]
        chosen = [str(i) in (mask or default[2])[2:] for i in range(n)]
        if add:
            return c + sum(x for x, on in zip(t, chosen) if on)
        return sum(((t[i] if chosen[i] else c >> bits * i) % (1 << bits)) << bits * i for i in range(n))
    instruction(f"{text} d{mask}, a{asel}, b{bsel}, c", [32] * 3, [32], rows, run)


def simd_lines(n):
    section(f"9.7.18.2.{n - 1} SIMD Video Instructions: " + ", ".join(f"{name}{n}" for name in SIMD))
    turn = 0
    for name, f in SIMD.items():
        for k, types in enumerate(THREE):
            # without .sat the type of d has no effect: one form is enough
            for form in (".sat", ".add" if (k + k // 4) % 2 else ""):
                simd(n, f, types, form == ".sat", form == ".add", PICKS[n][turn % len(PICKS[n])], words(turn),
                     f"{name}{n}.{'.'.join(types)}{form}")
                turn += 1


def vset_lines(n):
    section(f"9.7.18.2.{n} SIMD Video Instructions: vset{n}")
    turn = 0
    for types in product(TYPES, TYPES):
        for cmp in CMPS:
            for add in ("", ".add"):
                pick = PICKS[n][turn * 2 % len(PICKS[n])]
                simd(n, lambda x, y: int(COMPARE[cmp](x, y)), ("u32", *types), False, bool(add), pick, words(turn),
                     f"vset{n}.{'.'.join(types)}.{cmp}{add}")
                turn += 1


def main():
    header("video", "Video instructions.", f'"{OPEN}": see gen_video.py, intermediate() and multiplied().')
    vadd_family()
    vshl_vshr()
    vmad()
    vset()
    for n in (2, 4):
        simd_lines(n)
        vset_lines(n)


if __name__ == "__main__":
    main()
