#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the table of the unit test of ir/eval/approx.c:

    python3 gen_approx_cases.py > approx.tbl

mpmath computes each value with 300 bits; nearest() rounds it, and checks that a relative error of 2^-280 does not
change the rounded value. The arguments are special ones, some of each exponent, neighbours of multiples of pi/2,
neighbours of points where a result overflows, underflows or becomes constant, and the hardest ones to round. For f16
and bf16 a hash of the results of all arguments is added.
"""
import random

import mpmath

PRECISION = 300
mp = mpmath.mp
mp.prec = PRECISION


class Format:
    def __init__(self, name, exp_bits, frac_bits, nan):
        self.name, self.exp_bits, self.frac_bits, self.nan = name, exp_bits, frac_bits, nan
        self.bits = 1 + exp_bits + frac_bits
        self.bias = (1 << exp_bits - 1) - 1
        self.sign = 1 << self.bits - 1
        self.inf = (1 << exp_bits) - 1 << frac_bits
        self.one = self.bias << frac_bits

    def unpack(self, a):
        """Returns m, e of the finite number (-1)^s m 2^e, m with its sign."""
        e, m = (a & self.sign - 1) >> self.frac_bits, a & (1 << self.frac_bits) - 1
        m, e = (m | 1 << self.frac_bits, e) if e else (m, 1)
        return -m if a & self.sign else m, e - self.bias - self.frac_bits

    def round(self, m, e):
        """Returns the nearest number to m 2^e, ties to even; m has more bits than a number."""
        sign, m = (self.sign, -m) if m < 0 else (0, m)
        cut = max(m.bit_length() - 1 - self.frac_bits, 1 - self.bias - self.frac_bits - e)
        if cut > m.bit_length() + 1:
            return sign
        rest, m = (m & (1 << cut) - 1, m >> cut) if cut > 0 else (0, m << -cut)
        half = 1 << cut - 1 if cut > 0 else 1
        m += rest > half or (rest == half and m & 1 == 1)
        # The leading bit of a normal number adds 1 to the exponent, and so does a carry.
        biased = e + cut + self.bias + self.frac_bits
        return sign | min((biased - 1 << self.frac_bits) + m, self.inf)

    def nearest(self, value, exact):
        sign, m, e, _ = value._mpf_
        m = int(m) << PRECISION
        e -= PRECISION
        m = -m if sign else m
        result = self.round(m, e)
        if not exact:
            assert self.round(m - (abs(m) >> 280), e) == result == self.round(m + (abs(m) >> 280), e)
        return result


F16 = Format("f16", 5, 10, 0x7FFF)
BF16 = Format("bf16", 8, 7, 0x7FFF)
F32 = Format("f32", 8, 23, 0x7FFFFFFF)
F64 = Format("f64", 11, 52, 0x7FF8000000000000)

# -- Functions ------------------------------------------------------------------------------------------

# Results for -inf, -0, +0, +inf, from the PTX ISA.
NAN = "nan"
SPECIAL = {
    "rsqrt": (NAN, "-inf", "+inf", "+0"),
    "sin": (NAN, "-0", "+0", NAN),
    "cos": (NAN, "+1", "+1", NAN),
    "lg2": (NAN, "-inf", "-inf", "+inf"),
    "ex2": ("+0", "+1", "+1", "+inf"),
    "tanh": ("-1", "-0", "+0", "+1"),
}


def special(f, name):
    if name == NAN:
        return f.nan
    return (f.sign if name[0] == "-" else 0) | {"inf": f.inf, "0": 0, "1": f.one}[name[1:]]


def result(function, f, a):
    m, e = (0, 0) if a & f.inf == f.inf else f.unpack(a)
    negative = a & f.sign != 0
    if a & f.sign - 1 > f.inf:
        return f.nan
    if m == 0:
        zero = a & f.inf == 0
        return special(f, SPECIAL[function][(1 if negative else 2) if zero else (0 if negative else 3)])
    if negative and function in ("rsqrt", "lg2"):
        return f.nan
    x = mpmath.mpf((m, e))
    if function == "rsqrt":
        return f.nearest(1 / mpmath.sqrt(x), False)
    if function == "lg2":
        power = m & m - 1 == 0
        return f.nearest(mpmath.mpf(m.bit_length() - 1 + e) if power else mpmath.log(x, 2), power)
    if function == "ex2":
        if abs(x) > 5000:  # out of range of all formats
            return 0 if negative else f.inf
        n = int(mpmath.floor(x))
        return f.nearest(mpmath.ldexp(mpmath.mpf(2) ** (x - n), n), x == n)
    if function == "tanh" and abs(x) > 1000:  # 1 - 2^-2885
        x = mpmath.mpf(-1000 if negative else 1000)
    return f.nearest(getattr(mpmath, function)(x), False)


# -- Arguments ------------------------------------------------------------------------------------------

# Arguments of f32 whose values are nearest to the middle between two numbers, found by exhaustive search:
# sin(73243f06), for instance, is 5e-10 of the distance of two numbers away from it.
HARD = {
    "sin": """
        73243f06 46199998 55cafb2a 67a9242b 4371ade3 5f208d82 7a5aacdb 6446cec0 79d1f6d3 61dfc847 5dadd689
        4fb56937 653cee8f 7a817b08 6d734599 3ef3830f 45a8abb3 6a3f60ff 3dcf5597 4967cb9b 5a935f4c 58dfb085
        4aa5a796 42d44528 4ecd11c7 616d8730 7f2a2ca7 521945ed 7c2e964a 4a987933 6dcea82e 4df947f3 6504cef1
        5de78921 64e5a461 7c5d6b82 67051b8d 55da572e 6e649053 4f45dcab 3d0650ea 7970a79d 5cdaa4f7 545bb734
        6e671317 3a1285ff 62e31fd9 726fd58e 742c68ce 6652a0dc 7bcebcdd 7f58cad9 401f2100 497d25c7 5b258da4
        7a93d493 509b1e93 3ef32001 7400c9ec 73263d14 3fa0fa4e 5c8248a5 761a2787 5b895db8 5af484be 740e98ce
        6e1cdf42 5d937ce2 3a852018 47ae93a5 656a98a6 4cf3e70e 729085ef 7a175df8 4605b1c7 59d8e261 59c871da
        7d6b2398 5b5008a3 60c7295d 75a6a9d0 744e6a54 774b032f 45e38b6e 7871df17 4384f128 655355c5 6201be80
        769b3e02 5d9ab86b 439774af 55a209a0 5e060cca 76ecd5e5 65127213 4dbc8385 67a8ecf0 39e89768 72dbafe3
        78f8b857 7d9876ae 51c8cefb 741750cd 612eff34 7608c65e 40e70813 6e60ecb0 3de26fd0 73472f7e 6b1ae8c3
        3ca025c6 58eb7ea9 62c47681 47b6f08f 4e480174 4b1d730f 4db9313e 3ab09237 629b5f78 6ee42fc9 50d1d8f5
        693b47c0 49a43e7a 7c8aaf58 63cf227c 4b8e0cb6 3a5352c7 550d9fa0 5ff28fbf 39e89769 44c4849f 3bf2bdfb
        477913a9 52f9dc8e 5ce229a9 435d7a02 5400cec5 60b5c6f0 67f7e4bc 79096a2c 7dff9f1d 7da26141 4e589563
        7814e20e 6a1262d5 45c6116d 5afcd574 6ad6a5ed 7d82a68e 4376b478 4e096d33 64b1d27a 4507eba4 3b6e7f51
        50d6514a 6a444bf5 78781b03 75acf093 6a2ef8e2 62a104ee 4daa9166 5580e2b6 6d790406 4eb59165 5690f296
        3f86b3d2 5deee9c2 3c56aa1e 3eb00d62 7c44fbdc 766621be 5fbcdcc4 4b63b142 46d8ee34 79172e38 7b9ce9d9
    """,
    "cos": """
        6115cb11 59443c0a 5f18b878 7a4b1a27 5922aa80 7908cd73 61703976 3c107fe6 55e5235d 39800000 424790ce
        3a544395 4a01dca4 7a38ab34 52d9d3fe 42378db8 7c69ae1e 4986afee 47a0e238 76d7173f 7c64841e 744fd5d8
        52f88494 543f6e04 5a8c921b 6978e912 64933b14 46f85a22 51abf5aa 77f7b624 3a0f1bbd 4e5b65ff 797cef4f
        650247d7 504be581 75da4c95 7db91687 5a1a3626 7e82fea4 3e5fa70e 7403c71c 71510edb 4ea2216b 5bae7209
        4b511330 77fb4fbf 4c46d929 7d378aef 7c75f2a4 4010a4bf 3fdb3c0e 7c06dc1b 72cfc61d 5da7ab87 4dd46702
        3faa2672 647a941f 77e9fa6b 6bdb1cfc 47d7c67e 5956c49c 71874a79 6aa2e13a 72a4a047 5d173a7d 699f1bf1
        474d265c 4475404c 6e1b06c0 4eb4d529 768bd236 3b434e12 69b7b0b9 4847462b 50e46dc7 3f8626a5 3dac4fc0
        40259f7c 7c352f65 6094669a 6e1ad2be 7a4fa716 5df96a14 790c0eae 60e81eef 6328a4e2 53f91a52 79f953b7
        62fe22bd 4215bfe0 6ba11b42 6598fdb5 58d567a5 6dab9cd2 3d58a0ea 7352a575 731b0e98 78e6fa17 741b2833
        7dbeb31d 571196b3 4b9bbb2a 4297114b 63b37133 721d0204 6b35e825 49f85c2d 677f5566 76fcc75d 3cfcfbff
        557ece24 5027962c 5bcde59e 3ea0e6ef 759ed259 6e4d9f27 466735fa 67fea1fe 7bf7c207 5531c16b 6b63643c
        4d9bc85f 7a879c44 513d8d25 64639ab6 3efec12e 683bb74d 5f675bac 76545e3c 4c503364 58b939c0 59dd5f59
        569ec55c 51456ea9 58f72162 6f611333 7f55cdd2 5d9615e4 64d15e3b 4ef6c2ba 7bfd9d67 4577a6d5 79a3e742
        58aae0fb 5acdb235 46ec2f8d 598fc11c 78a08876 5bff82fd 51a2837b 693fd059 73f778f7 66de163b 4c6e36e6
        7cf96d62 397fffff 3b41fd61 5945b351 688e7879 3f22061d 4179e3a4 76cc20e5 3ef63405 6647e32f 47565652
        5d94f9b3 55563557 7caf0f72 71134ba8 3dd22a0a 4500b329 66cd88aa 3b69832f 704f02a9 43a9a515 5e2bb93c
    """,
    "lg2": """
        3ea07ab9 40207ab9 6e914a90 7c114a90 31d54996 2fd54996 477fc006 39ffc006 1d6b8090 186b8090 4ef50f8c
        4c750f8c 69174467 77974467 3feddffd 3e0d64de 408d64de 39df57d9 465f57d9 45a9da4d 4529da4d 00126379
        3f442160 3a2d9642 45ad9642 3ef07492 40707492 3de485eb 3e6485eb 415e248e 40de248e 45db1bd1 455b1bd1
        3f7e3274 4026a4a6 3ea6a4a6 2825fc89 56a5fc89 3eac6ede 402c6ede 10df9ac4 7edf9ac4 2d258a16 50258a16
        7e08263d 6b88263d 42aa85ab 432a85ab 4920c8e1 4ca0c8e1 459977ed 441977ed 40d6dade 4156dade 655e840a
        1a5e840a 3e3f64f8 413f64f8 3dfa6eb9 3e7a6eb9 3a472e10 45472e10 4093eb97 4113eb97 3974964d 4574964d
        2d408673 50c08673 48e5032e 3365032e 31a429d5 4ea429d5 3fff7307 3f312ffa 3f2b1d0f 389cbb7e 3a9cbb7e
        3ca1b91e 3ba1b91e 3f0f0703 5abd2020 5a3d2020 3dd061a1 415061a1 001b1aad 4bb4299e 4a34299e 3f6cdb80
        3e5d3b66 3ddd3b66 145c16ad 00dc16ad 3881668a 3801668a 3e88cda3 4008cda3 59e65776 52665776 41b4870f
        3c34870f 308b0ee0 4a0b0ee0 40fa24c8 3e7a24c8 3ca8677c 42a8677c 42e910f4 3d6910f4 43678e87 42e78e87
        42a4a137 4224a137 2615f1ff 5095f1ff 4d0f7f11 370f7f11 66732f8c 77732f8c 3fcaa397 529ca251 551ca251
        00ebb016 726bb016 5a2ab50e 53aab50e 3f32c669 42c57a6b 41c57a6b 338238f4 310238f4 40ffdc1a 3e7fdc1a
        4aacccbf 482cccbf 6fb0be83 5fb0be83 20f513fc 237513fc 3f03f865 4b055b87 47855b87 3f01a641 3f3a078f
        683e4c4c 163e4c4c 408d2702 3d8d2702 14a37b51 71237b51 45210007 46210007 3fbab939 49412aa2 4bc12aa2
        397072ff 45f072ff 3be3c219 41e3c219 3fff32b8 4049b40e 3ec9b40e 3f7a79b4 0f89f9d5 1509f9d5 3eac68df
        402c68df 3f95f369 3fb4dbe5 499908dd 4a1908dd 36e4b8f9 4de4b8f9 3f1a36c4 3f4a392a 4a205ba5 36205ba5
    """,
    "ex2": """
        b52d1f9a bcf3a937 3b429d37 b8d3d026 baec2b40 3a07857c 3c02a9ad 36879cf7 be1f29de 33b8aa3b 3dc9abe2
        b466d4cb b338aa3b b8bbd3a2 b5160a52 bcaf4d02 3d036455 bae36f38 3b53aa14 37e338eb 3a0b4316 b8acad70
        b63b8cf0 3deb2f8e b4fdea14 b338aa3c 383ecb1d 354fbf7f 38fc47e1 365584c5 33b8aa3a b59bcfa6 b873a3d9
        39e14097 357dea0c b40a7fad be5e17c2 b9b001b9 3e196c0e 3f4746f3 be62e434 b4a194f5 3cfe4448 ba0f8aa5
        33b8aa3c 34e6d4c8 ba869e61 be0e371b 3e96975c 3fa5a5d7 bf34b452 bfda5a29 36610f67 bd723abf b338aa3a
        3f4d2720 3fe69390 403349c8 407349c8 4099a4e4 40b9a4e4 40d9a4e4 40f9a4e4 410cd272 411cd272 412cd272
        413cd272 414cd272 415cd272 416cd272 417cd272 41866939 418e6939 41966939 419e6939 41a66939 41ae6939
        41b66939 41be6939 41c66939 41ce6939 41d66939 41de6939 41e66939 41ee6939 41f66939 41fe6939 be4b6380
        bf996c70 c00cb638 c04cb638 c0865b1c c0a65b1c c0c65b1c c0e65b1c c1032d8e c1132d8e c1232d8e c1332d8e
        c1432d8e c1532d8e c1632d8e c1732d8e c18196c7 c18996c7 c19196c7 c19996c7 c1a196c7 c1a996c7 c1b196c7
        c1b996c7 c1c196c7 c1c996c7 c1d196c7 c1d996c7 c1e196c7 c1e996c7 c1f196c7 c1f996c7 3d48323f b338aa3d
        b7605712 b7dba6fe 39b8b000 3f800b8b bf7fe8ea bffff475 348a7fac ba964c18 37c65e73 3b36dee0 33b8aa39
        bcef4b6c 39626561 b54434e2 35db4a1e 3ab1950d 3b3e76ac bd328c34 3bf689e9 33b8aa3d 348a7fab b9f6500a
        b338aa39 bb075d15 b98f0b10 b5f824ca bd25a167 b338aa3e 3a6d963a bccbe24e b9f56922 34e6d4c7 b7a6fe3c
        33b8aa38 39159501 36c7176d b4cfbf84 bacad305 b40a7fac b913edb6 38759d25 37e78ce3 3649fa23 b9c12496
        33b8aa3e 3d9e1470 3f89e147 bf6c3d72 bff61eb9 3e49bcf6 3e0392f1 3e89645a bf3b4dd3 3ec8766f b338aa38
    """,
    "tanh": """
        3ac37de2 3eee0566 3cd41b91 40acb4d0 40c5e8ca 3d7c3055 3c96ae2e 40a6ef82 3f20b67f 3ff8bc7e 4013cd84
        3bc8b605 3f97fbc7 3ef6afee 3adbc904 39b89ba2 39b89ba3 40c7b05f 3f172be6 3e150cd4 3dc95db7 3fb3c82a
        3dee483b 3c4e34b0 3a5e773a 3da99442 3f325d3b 4053eea7 3bc11b0b 3ca1e990 3a27ba3b 3abc6065 3be46e2b
        3d2cd0ca 3c5a35d5 3d35a6ac 3e99e4bb 3afc9f57 3cc854ca 3a46dce7 3c15f90e 3e6cd3e1 3af41fd8 3eecff89
        3eb018d6 40807096 3da6889b 3e82a780 39b89ba1 3e3044f2 39b89ba4 3ddca6fc 3ec7f3c6 40d35ab0 3d56023a
        3b80d407 3c0eb4b4 3fa053d1 3d592ba5 3f965de8 3b2f8394 3bab6e65 3ebf2e81 3bb5ecff 3ad058bd 3baeb689
        408d5d7f 3b6585e1 3bac8a00 3e631b54 3b37a43f 3e09ebb6 3ed8064e 3a27ba3a 3d02b54c 40dbb3ad 3d1bdff1
        3c808dcf 40256067 3bddf829 405038d9 39b89ba0 3b90972e 3f9e4ef3 39b89ba5 3cb5f3d4 3a8c2507 3d7c7681
        4074dff7 3bb76620 3ee5924d 40499307 3efd0854 3fe2f9a2 3c36f957 3b8fcd75 3c65a52a 3e67e496 3c972ccc
        40078b30 3d80f2b6 3cd9544e 3f16b640 3db8bf35 3a46dce6 3f8fc0d8 3a71e7a5 3aa2eec0 3a71e7a6 39b89b9f
        3b5f204e 3c2ba455 40d6d3c9 39b89ba6 3ba510b2 3b1408c0 3c4ef942 4012afe8 3a9863fa 41102cb3 40d25896
        3dfed139 3c9cdf93 3ff41e50 3c615f1a 3b47b034 3af87232 3dc11856 3f62f456 4015fef3 3c7b4eba 3db384b3
        40b799ba 40420fce 3eb2785f 3b0a74bf 3cd1b66b 41102cb4 3d46319b 3d90e17f 405234be 3d927a7d 3e4e7585
        3e396cc3 3aac434a 3a27ba3c 3d56d593 41009b7a 3dadc865 3ccf8603 3cd15cd2 3db835be 3e69bf8a 3c262fd3
        3e631b69 3fdd0411 39b89b9e 3f3ac004 39b89ba7 3e82eee6 3cccb3c1 3d58b0dd 3fa7f972 3c082d25 3d84e215
        3ae6249d 40c48331 3fe308ef 3f97367c 410762be 3e0f288b 3ed8599c 40ada9fa 3a5e7739 3d1536bd 3f9e4851
    """,
}


def specials(f):
    least, normal, largest = 1, 1 << f.frac_bits, f.inf - 1
    some = [0, least, 2, normal - 1, normal, normal + 1, f.one - 1, f.one, f.one + 1, largest, f.inf]
    some += [f.inf + 1, f.nan, f.sign - 1, f.inf | 1 << f.frac_bits - 1]
    return [a | sign for a in some for sign in (0, f.sign)]


def each_exponent(f, rng, lowest=None, highest=None):
    """Returns one number of each exponent, with a random sign."""
    low = 0 if lowest is None else lowest + f.bias
    high = (f.inf >> f.frac_bits) - 1 if highest is None else highest + f.bias
    return [e << f.frac_bits | rng.getrandbits(f.frac_bits) | rng.getrandbits(1) * f.sign for e in range(low, high + 1)]


def around(f, x, n):
    """Returns the nearest number to x and its n neighbours on each side."""
    a = f.nearest(mpmath.mpf(x), True)
    return [a + k for k in range(-n, n + 1)]


def near_quarter_turns():
    """Returns for each exponent of f32 the number nearest to a multiple of pi/2. By continued fractions, m times 2^e
    / (pi/2) is nearest to an integer if m is the denominator of a convergent."""
    found = []
    for e in range(0, 105):
        rest = mpmath.ldexp(2 / mp.pi, e)
        before, m = 0, 1
        rest -= mpmath.floor(rest)
        best = 1
        while m < 1 << 24:
            best = m
            rest = 1 / rest
            digit = int(mpmath.floor(rest))
            rest -= digit
            before, m = m, digit * m + before
        found.append(F32.round(best << 64, e - 64))
    for k in list(range(1, 25)) + [100, 355, 1000, 65536, 1000000]:
        found += around(F32, k * mp.pi / 2, 1)
        found.append(F32.nearest(k * mp.pi / 4, True))
    return found


def hard_roots(f, rng, tries, n):
    """Returns arguments whose 1 / sqrt() is near the middle between two numbers: for random middles q, the m for
    which q^2 m is nearest to a power of two."""
    p = f.frac_bits + 1
    found = []
    for _ in range(tries):
        q = 1 << p | rng.getrandbits(p - 1) << 1 | 1
        power = 3 * p + rng.getrandbits(1)
        m = ((1 << power) + q * q // 2) // (q * q)
        if m >> p - 1 == 1:
            found.append((abs((1 << power) - q * q * m) / (q * q), m, rng.randrange(-40, 40) * 2 - power))
    found.sort()
    return [f.round(m << 64, e - 64) for _, m, e in found[:n]]


def arguments(function, f):
    rng = random.Random(function + f.name)
    args = specials(f)
    if f.bits == 16:
        return args + [rng.getrandbits(16) for _ in range(100)]
    hard = [int(a, 16) for a in HARD.get(function, "").split()]
    if function in ("sin", "cos"):
        return args + each_exponent(f, rng) + near_quarter_turns() + hard
    if function == "lg2":
        args += around(f, 1, 20) + around(f, mpmath.sqrt(2), 4) + around(f, mpmath.sqrt(0.5), 4)
        args += [f.round(1 << 64, e - 64) for e in (-149, -140, -127, -126, -64, -1, 1, 2, 3, 64, 126, 127)]
        return args + [a & f.sign - 1 for a in each_exponent(f, rng)] + hard
    if function == "ex2":
        for x in (-160, -151, -150, -149.5, -149, -148.5, -148, -127, -126, -1, -0.5, 0.5, 1, 127, 128, 129):
            args += around(f, x, 1)
        args += [f.nearest(mpmath.mpf(rng.uniform(-152, 129)), True) for _ in range(100)]
        return args + each_exponent(f, rng, -30, 10) + each_exponent(f, rng) + hard
    if function == "tanh":
        args += around(f, mpmath.atanh(1 - mpmath.mpf(2) ** -25), 3) + around(f, mpmath.mpf(2) ** -13, 2)
        args += around(f, 32, 1) + [f.nearest(mpmath.mpf(rng.uniform(-10, 10)), True) for _ in range(60)]
        return args + each_exponent(f, rng, -20, 4) + each_exponent(f, rng, -20, 4) + each_exponent(f, rng) + hard
    args += [f.round(1 << 64, e - 64) for e in range(-20, 21)]
    for _ in range(1 if f is F64 else 2):
        args += [a & f.sign - 1 for a in each_exponent(f, rng)][:: 5 if f is F64 else 1]
    return args + hard_roots(f, rng, 200000, 150)


# -- Output ---------------------------------------------------------------------------------------------


def hash_of_all(function, f):
    """Returns the 64-bit FNV-1a hash of all results, low byte first."""
    h = 0xCBF29CE484222325
    for a in range(1 << 16):
        r = result(function, f, a)
        for byte in (r & 0xFF, r >> 8):
            h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return h


def main():
    print("// SPDX-License-Identifier: MIT")
    print("// Printed by gen_approx_cases.py: do not edit. Arguments and results, in hexadecimal.")
    for function, f in (
        [("rsqrt", F32), ("rsqrt", F64), ("sin", F32), ("cos", F32), ("lg2", F32)]
        + [(function, f) for function in ("ex2", "tanh") for f in (F32, F16, BF16)]
    ):
        seen = dict.fromkeys(arguments(function, f))
        digits = f.bits // 4
        cells = ["{0x%0*X, 0x%0*X}," % (digits, a, digits, result(function, f, a)) for a in seen]
        per_line = 116 // (len(cells[0]) + 1)
        print("\nstatic const uint64_t %s_%s[][2] = {" % (function, f.name))
        for k in range(0, len(cells), per_line):
            print("    " + " ".join(cells[k : k + per_line]))
        print("};")
        if f.bits == 16:
            print("static const uint64_t %s_%s_all = 0x%016X;" % (function, f.name, hash_of_all(function, f)))


main()
