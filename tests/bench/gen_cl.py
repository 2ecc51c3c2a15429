#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a kernel of one of ten families in OpenCL C, for clang and nvptx64.

    python3 tests/bench/gen_cl.py FAMILY N [SEED]       about N instructions of LLVM at -O0; default SEED is 1
    python3 tests/bench/gen_cl.py module COUNT N SEED   COUNT kernels of all families in turn, with sizes around N
    python3 tests/bench/gen_cl.py --list                the names of the families
    python3 tests/bench/gen_cl.py --run FAMILY PTX      a file of launches of the kernel in the file PTX, for orirun

A kernel consists of units of some statements each; the seed selects their contents, the size their number. LLVM and
ptxas must not unroll loops: counts of instructions are comparable only with equal unrolling.
"""
import random
import sys

HEAD = """\
#define TID() __nvvm_read_ptx_sreg_tid_x()
#define BID() __nvvm_read_ptx_sreg_ctaid_x()
#define BDIM() __nvvm_read_ptx_sreg_ntid_x()

__kernel void k_%s(__global float *A, __global float *B, __global float *C, __global unsigned *U, __global int *I,
                   int n, int m, float s)
{
    int tid = TID();
    int gid = BID() * BDIM() + TID();
"""


def loop(head):
    """Returns the lines that begin a loop; the last one opens a brace."""
    return ["#pragma nounroll", "for (%s) {" % head]


# -- Families -----------------------------------------------------------------------------------------------
# Each function takes the number of units and the source of random numbers, and returns the lines of the kernel's body.


def matmul(units, rng):
    """Makes a 4 by 4 tile of a product of matrices in registers; a unit is a step of the inner loop."""
    body = ["float acc[16]; int k;"] + ["acc[%d] = 0;" % i for i in range(16)] + loop("k = 0; k < n; k += %d" % units)
    for q in range(units):
        body += ["{"] + ["float a%d = A[(gid * 4 + %d) * n + k + %d];" % (i, i, q) for i in range(4)]
        body += ["float b%d = B[(k + %d) * m + tid * 4 + %d];" % (i, q, i) for i in range(4)]
        body += ["acc[%d] += a%d * b%d;" % (4 * i + j, i, j) for i in range(4) for j in range(4)] + ["}"]
    return body + ["}"] + ["C[(gid * 4 + %d) * m + tid * 4 + %d] = acc[%d] * s;" % (i // 4, i % 4, i) for i in range(16)]


def stencil(units, rng):
    """Makes a sum of weighted neighbours in three dimensions; a unit is a neighbour."""
    body = ["int z;"] + loop("z = 1; z < n - 1; z++") + ["float t = 0;"]
    for _ in range(units):
        x, y, z = rng.randint(-2, 2), rng.randint(-2, 2), rng.randint(-1, 1)
        weight = rng.choice([0.5, 0.25, 1.0, 0.125, 2.0])
        body.append("t += %.3ff * A[(tid + %d) + ((gid + %d) + (z + %d) * m) * m];" % (weight, x, y, z))
    return body + ["C[tid + (gid + z * m) * m] = t;", "}"]


def fft(units, rng):
    """Makes butterflies of complex numbers in two arrays, at constant indices; a unit is a butterfly."""
    size = 32
    body = ["float re[%d], im[%d], t, v;" % (size, size)]
    body += ["re[%d] = A[gid * %d + %d]; im[%d] = B[gid * %d + %d];" % (i, size, i, i, size, i) for i in range(size)]
    for _ in range(units):
        i = rng.randrange(size)
        j = i ^ (1 << rng.randrange(5))
        re, im = rng.choice([(1.0, 0.0), (0.70710678, -0.70710678), (0.0, -1.0), (0.92387953, -0.38268343)])
        body += [
            "t = re[%d] * %.8ff - im[%d] * %.8ff; v = re[%d] * %.8ff + im[%d] * %.8ff;" % (j, re, j, im, j, im, j, re),
            "re[%d] = re[%d] - t; im[%d] = im[%d] - v; re[%d] = re[%d] + t; im[%d] = im[%d] + v;"
            % (j, i, j, i, i, i, i, i),
        ]
    return body + ["A[gid * %d + %d] = re[%d]; B[gid * %d + %d] = im[%d];" % (size, i, i, size, i, i) for i in range(size)]


def hashing(units, rng):
    """Makes a mix of four words: rotations, products by constants, a table in memory; a unit is a round."""
    body = ["unsigned a = U[gid], b = U[gid + 1] ^ 0x9e3779b9u, c = (unsigned)n, d = (unsigned)m;"]
    for _ in range(units):
        x, y, z = rng.sample("abcd", 3)
        k = rng.randint(1, 31)
        forms = [
            "%s += %s; %s ^= %s; %s = (%s << %d) | (%s >> %d);" % (x, y, z, x, z, z, k, z, 32 - k),
            "%s *= 0x85ebca6bu; %s ^= %s >> %d;" % (x, x, x, k),
            "%s -= %s * %du; %s += %s | %s;" % (x, y, rng.choice([2, 4, 8, 3, 5, 9]), z, x, y),
            "%s ^= U[(gid + %d) & %d];" % (x, k, rng.choice([255, 1023])),
        ]
        body.append(rng.choice(forms))
    return body + ["U[gid] = a ^ b ^ c ^ d;"]


def fsm(units, rng):
    """Makes a loop around a switch; a unit is a state."""
    body = ["int st = 0, i, acc = 0;"] + loop("i = 0; i < n; i++") + ["int c = I[gid * n + i];", "switch (st) {"]
    for q in range(units):
        step, mix, k = rng.choice("+-^|&"), rng.choice("+*^&"), rng.randint(1, 64)
        above, then = rng.randint(0, 99), rng.randrange(units)
        equal, to, other = rng.randint(0, 99), rng.randrange(units), rng.randrange(units)
        body += [
            "case %d:" % q,
            "acc %s= c %s %d;" % (step, mix, k),
            "if (c > %d) st = %d; else if (c == %d) { st = %d; acc ^= st; } else st = %d;"
            % (above, then, equal, to, other),
            "break;",
        ]
    return body + ["default: st = 0;", "}", "}", "I[gid] = acc + st;"]


def branchy(units, rng):
    """Makes a sequence of small ifs, with and without else."""
    body = ["int x = I[gid], y = I[gid + 1], z = n; float f = s;"]
    for q in range(units):
        way, bound, k = rng.choice("<>"), rng.randint(-9, 99), rng.choice([2, 3, 4, 8])
        forms = [
            "if (x %s %d) { y = y + x * %d; z = z - 1; } else { y = y - x; z = z + %d; }" % (way, bound, k, q % 7),
            "if ((y & %d) == 0) x = x + z;" % rng.choice([1, 3, 7]),
            "if (z > m) { f = f * A[gid + %d]; x = x ^ z; } else f = f + A[gid + %d];" % (q % 16, q % 16),
            "x = (y > z) ? y - z : z - y;",
        ]
        body.append(rng.choice(forms))
    return body + ["I[gid] = x + y + z; C[gid] = f;"]


def poly(units, rng):
    """Makes float expressions, a quarter of them repeated; a unit is an assignment."""
    names = ["v%d" % i for i in range(12)]
    body = ["float %s;" % ", ".join("%s = A[gid + %d]" % (v, i) for i, v in enumerate(names)), "int w = n * 4 + m;"]
    others = names + ["(2.0f * 3.0f)", "s", "B[gid * m + n]", "(float)(w * 2 + 1)", "1.0f", "0.0f"]
    seen = []
    for _ in range(units):
        if seen and rng.random() < 0.25:
            value = rng.choice(seen[-6:])
        else:
            value = "%s * %s + %s" % (rng.choice(names), rng.choice(names), rng.choice(others))
        seen.append(value)
        body.append("%s = %s %s (%s);" % (rng.choice(names), rng.choice(names), rng.choice("+-*"), value))
    return body + ["C[gid] = %s;" % " + ".join(names)]


def nest(units, rng):
    """Makes nests of two loops with invariant expressions in each; a unit is a nest."""
    body = ["int i, j;"]
    for q in range(units):
        body += loop("i = 0; i < n; i++") + ["int base = (gid * m + %d) * n;" % q] + loop("j = 0; j < m; j++")
        body += ["C[base + i * m + j] = A[i * m + j] * s + B[(n * m + %d) + j] * (s * %d.0f);" % (q, q + 2), "}", "}"]
    return body


def sortnet(units, rng):
    """Makes comparators of a sorting network in an array, at constant indices; a unit is a comparator."""
    size = 24
    body = ["int a[%d], t;" % size] + ["a[%d] = I[gid * %d + %d];" % (i, size, i) for i in range(size)]
    for _ in range(units):
        i, j = sorted(rng.sample(range(size), 2))
        body.append("if (a[%d] > a[%d]) { t = a[%d]; a[%d] = a[%d]; a[%d] = t; }" % (i, j, i, i, j, j))
    return body + ["I[gid * %d + %d] = a[%d];" % (size, i, i) for i in range(size)]


def nbody(units, rng):
    """Makes forces on a point; a unit is another point, in a block with variables of its own."""
    body = ["float px = A[gid * 4], py = A[gid * 4 + 1], pz = A[gid * 4 + 2], ax = 0, ay = 0, az = 0; int j;"]
    body += loop("j = 0; j < n; j += %d" % units)
    for q in range(units):
        body += [
            "{",
            "float dx = B[(j + %d) * 4] - px, dy = B[(j + %d) * 4 + 1] - py, dz = B[(j + %d) * 4 + 2] - pz;" % (q, q, q),
            "float d = dx * dx + dy * dy + dz * dz + s;",
            "float w = B[(j + %d) * 4 + 3] / (d * d);" % q,
            "ax += dx * w; ay += dy * w; az += dz * w;",
            "}",
        ]
    return body + ["}", "C[gid * 4] = ax; C[gid * 4 + 1] = ay; C[gid * 4 + 2] = az;"]


# Families, with the LLVM 14 instructions of a unit at -O0.
FAMILIES = {
    "matmul": (matmul, 208),
    "stencil": (stencil, 19),
    "fft": (fft, 39),
    "hash": (hashing, 10.8),
    "fsm": (fsm, 23),
    "branchy": (branchy, 17.7),
    "poly": (poly, 7.2),
    "nest": (nest, 65),
    "sortnet": (sortnet, 17),
    "nbody": (nbody, 77),
}


# Launches: the values of n and m, and sizes and generators of the buffers A, B, C, U and I. Accesses are in bounds for
# programs of at most 20,000 instructions.
LAUNCHES = {
    "matmul": ("12", "16", "FFFUI"),
    "stencil": ("6", "40", "SFFUI"),
    "fsm": ("40", "1", "FFFUI"),
    "nest": ("6", "7", "FFFUI"),
}
LAUNCH = ("9", "5", "FFFUI")
BUFFERS = {
    "F": "buf:65536xf32:rand:{}:0.5:4",
    "U": "buf:65536xu32:rand:{}",
    "I": "buf:65536xs32:rand:{}:-20:120",
    # The stencil reads up to two rows and columns before A. So A is in the middle of B, the first buffer of orirun.
    "S": "u64:0x%x" % (0x100000000000 + 131072),
}


def launch(family, ptx):
    """Prints the launch of a family's kernel: 32 threads, each with values of its own."""
    n, m, buffers = LAUNCHES.get(family, LAUNCH)
    print("file %s\nentry k_%s\ngrid 1\nblock 32" % (ptx, family))
    print("\n".join("arg " + BUFFERS[b].format(k) for k, b in enumerate(buffers)))
    print("arg s32:%s\narg s32:%s\narg f32:1.25" % (n, m))


def kernel(head, name, family, size, rng):
    """Prints a kernel of about `size` instructions."""
    make, of_unit = FAMILIES[family]
    body = make(max(1, round(size / of_unit)), rng)
    print(head % name + "\n".join(line if line[0] == "#" else "    " + line for line in body) + "\n}")


def module(count, size, seed):
    """Prints kernels with log-normal sizes around `size`, as in real modules; at most 8,000 instructions each."""
    rng = random.Random(seed)
    families = list(FAMILIES)
    for k in range(count):
        family = families[k % len(families)]
        own = min(8000, max(20, rng.lognormvariate(0, 1.3) * size))
        kernel(HEAD if k == 0 else HEAD[HEAD.index("__kernel") :], "%d_%s" % (k, family), family, own,
               random.Random(seed * 1000003 + k))


def main(args):
    if args == ["--list"]:
        print("\n".join(FAMILIES))
        return 0
    try:
        if args[0] == "module":
            module(int(args[1]), float(args[2]), int(args[3]))
            return 0
        if args[0] == "--run":
            FAMILIES[args[1]]
            launch(args[1], args[2])
            return 0
        size, seed = int(args[1]), int(args[2]) if len(args) > 2 else 1
        kernel(HEAD, args[0], args[0], size, random.Random(seed))
    except (IndexError, KeyError, ValueError):
        sys.stderr.write("usage: gen_cl.py FAMILY N [SEED] | module COUNT N SEED | --list | --run FAMILY PTX\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
