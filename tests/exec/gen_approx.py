#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the constants of ir/eval/approx.c.

    gen_approx.py             print them as C
    gen_approx.py --check     compare them with ir/eval/approx.c

Uses integers only: pi by Machin's formula, ln 2 by the series of artanh, all with 64 bits more than are printed.
"""
import os
import re
import sys

GUARD = 64
FACTORIALS = 27  # the last is 1 / 27!
ODDS = 20  # the last is 1 / 41


def artan(n, one, sign):
    """Returns artan(1 / n) (sign -1) or artanh(1 / n) (sign 1), times `one`."""
    total, power, k = 0, one // n, 1
    while power:
        total += power // k if k % 4 == 1 or sign > 0 else -(power // k)
        power //= n * n
        k += 2
    return total


def constants():
    bits = 320 + GUARD
    one = 1 << bits
    pi = 16 * artan(5, one, -1) - 4 * artan(239, one, -1)
    ln2 = 2 * artan(3, one, 1)

    def fraction(value, n):
        return value >> (bits - n)

    turn = fraction(one * one // (2 * pi), 320)
    yield "turn", 64, [0] + [turn >> (256 - 64 * k) & (1 << 64) - 1 for k in range(5)]
    yield "pi_4", 128, [fraction(pi // 4, 128)]
    yield "ln2", 128, [fraction(ln2, 128)]
    yield "log2_e", 128, [fraction(one * one // ln2, 127)]
    # Tables are indexed with n. An entry for the value 1 has no fraction and is not used.
    factorial, table = 1, [0, 0]
    for n in range(2, FACTORIALS + 1):
        factorial *= n
        table.append(fraction(one // factorial, 128))
    yield "inverse_factorial", 128, table
    yield "inverse_odd", 128, [0] + [fraction(one // (2 * n + 1), 128) for n in range(1, ODDS + 1)]


def word(value):
    return "0x%016X" % value


def show(bits, value):
    return word(value) if bits == 64 else "C128(%s, %s)" % (word(value >> 64), word(value & (1 << 64) - 1))


def main():
    if sys.argv[1:] == ["--check"]:
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "../../ir/eval/approx.c")) as file:
            text = file.read()
        bad = 0
        for name, bits, values in constants():
            found = re.search(r"\b%s(?:\[[^]]*\])? = ([^;]*);" % name, text)
            have = re.findall(r"0x[0-9A-F]{16}", found.group(1)) if found else []
            want = re.findall(r"0x[0-9A-F]{16}", " ".join(show(bits, v) for v in values))
            if have != want:
                print("approx.c: %s differs" % name)
                bad += 1
        sys.exit(bad > 0)
    for name, bits, values in constants():
        kind = "uint64_t" if bits == 64 else "u128"
        if len(values) == 1:
            print("static const %s %s = %s;" % (kind, name, show(bits, values[0])))
        else:
            print("static const %s %s[] = {" % (kind, name))
            for value in values:
                print("    %s," % show(bits, value))
            print("};")


main()
