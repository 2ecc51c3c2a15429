// SPDX-License-Identifier: MIT
// Plain C for clang: device functions with structures by value, recursion, function pointers, tables, varying widths.

struct Pair {
    int a;
    short b;
    signed char c[5];
};
struct Big {
    double d[6];
    struct Pair p;
};
typedef int (*Op)(int, int);

static int add(int x, int y) { return x + y; }
static int sub(int x, int y) { return x - y; }
static int mul(int x, int y) { return x * y; }
static const Op ops[] = {add, sub, mul};
int counter;
static long long totals[4] = {1, -2, 0x7fffffffffffffffLL, 4};
const char message[] = "a string with a quote \" and a newline\n";

int apply(int which, int x, int y)
{
    counter++;
    return ops[which % 3](x, y);
}

struct Pair twist(struct Pair p, int k)
{
    p.c[k % 5] ^= (signed char)p.a;
    p.b = (short)(p.b * k + message[k % 20]);
    return p;
}

struct Big grow(struct Big b, const struct Pair *p, int n)
{
    for (int i = 0; i < n; i++) {
        b.d[i % 6] += p[i].a * 0.5 - p[i].b;
        b.p = twist(p[i], i);
    }
    return b;
}

int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

unsigned long long mix(unsigned char a, unsigned short b, unsigned c, unsigned long long d, float f, double g, _Bool t)
{
    totals[a & 3] += (long long)d;
    d = d << (b & 63) | d >> (64 - (b & 63));
    return d ^ ((unsigned long long)a << 56) ^ (t ? c : (unsigned)f) ^ (unsigned long long)g;
}

int collatz(unsigned n)
{
    int steps = 0;
again:
    if (n <= 1)
        return steps;
    if (n & 1)
        goto odd;
    n /= 2;
    steps++;
    goto again;
odd:
    n = 3 * n + 1;
    steps++;
    goto again;
}

float horner(const float *c, int n, float x)
{
    float r = 0;
    do
        r = r * x + *c++;
    while (--n > 0);
    return r != r ? 0 : r;
}

void copy_bits(unsigned char *to, const unsigned char *from, int n, volatile int *progress)
{
    while (n--) {
        unsigned v = *from++;
        v = (v & 0x55) << 1 | (v & 0xaa) >> 1;
        v = (v & 0x33) << 2 | (v & 0xcc) >> 2;
        *to++ = (unsigned char)(v << 4 | v >> 4);
        *progress = n;
    }
}
