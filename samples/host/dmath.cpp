// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "dmath.cu"

// The kernel `convert` for values out of range, which casts on the host leave undefined.
static void convert_any(const double *in, long long *out, float *outf)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[4 * i] = host_to_integer<long long>(x);
    out[4 * i + 1] = __double2int_rd(x) + (long long)__double2uint_ru(x);
    out[4 * i + 2] = (long long)__double2ull_rn(x);
    out[4 * i + 3] = __double_as_longlong(__ll2double_rd(out[4 * i])) ^ __double2hiint(x);
    outf[2 * i] = (float)x;
    outf[2 * i + 1] = __double2float_rz(x);
}

static std::vector<double> uniform(size_t n, uint64_t seed, double lo, double hi)
{
    std::vector<double> v;
    for (size_t k = 0; k < n; k++)
        v.push_back(lo + (double)(host_random(seed, k) >> 11) * 0x1p-53 * (hi - lo));
    return v;
}
// Returns random bits of finite numbers.
static std::vector<double> any(size_t n, uint64_t seed)
{
    std::vector<double> v;
    for (uint64_t k = 0; v.size() < n; k++)
        if (double x = host_from_bits<double>(host_random(seed, k)); std::isfinite(x))
            v.push_back(x);
    return v;
}

static void functions(const std::vector<double> &x, int ulp, const char *comment)
{
    Run r("transcendental", 1, (unsigned)x.size(), 0, comment);
    auto in = r.values(x);
    auto out = r.zero<double>(4 * x.size());
    r.approximate(1, ulp);
    r.run(transcendental, (const double *)in, out);
}

static void roots(const std::vector<double> &a, const char *comment)
{
    Run r("newton_root", 2, (unsigned)a.size() / 2, 0, comment);
    auto in = r.values(a);
    auto root = r.zero<double>(a.size());
    r.run(newton_root, (const double *)in, root, r.zero<int>(a.size()));
}

int main()
{
    const double inf = INFINITY, tiny = 5e-324, huge = DBL_MAX;
    run_file("dmath",
             "Bit-exact, except `transcendental`. Its functions are documented to be within 1 ULP (exp, log1p, cbrt) "
             "or 2 ULP\n"
             "(sin, pow), the host's are within 1. NaN results are omitted: their bits are not defined.");
    {
        Run r("exact", 1, 16, 0, "Overflow and subnormal results in all roundings, halves, infinities.");
        auto a = r.values<double>({1, -1, huge, -huge, tiny, -tiny, 2.5, -3.5, 1e308, 1e-308, inf, -1e-320, 0.1, 3,
                                   4503599627370497.5, -0.75});
        auto b = r.values<double>({3, 3, huge, huge, 0.5, 0.5, -1.5, 0.5, -1e308, 1e-8, 2, -2, 0.2, -7, 1e-17, tiny});
        r.run(exact, (const double *)a, (const double *)b, r.zero<double>(128));
    }
    {
        Run r("exact", 2, 50);
        auto a = r.values(any(100, 1)), b = r.values(any(100, 2));
        r.run(exact, (const double *)a, (const double *)b, r.zero<double>(800));
    }
    {
        Run r("exact", 1, 30);
        auto a = r.values(uniform(30, 3, -10, 10)), b = r.values(uniform(30, 4, -10, 10));
        r.run(exact, (const double *)a, (const double *)b, r.zero<double>(240));
    }
    {
        Run r("convert", 1, 24, 0, "Halves, the bounds of each type and values beyond them, infinities.");
        auto in = r.values<double>({0,
                                    -0.0,
                                    0.5,
                                    -0.5,
                                    1.5,
                                    2.5,
                                    2147483647,
                                    2147483647.5,
                                    -2147483648.5,
                                    4294967295,
                                    4294967295.5,
                                    1e10,
                                    -1e10,
                                    9223372036854774784.,
                                    9223372036854775808.,
                                    -9223372036854775808.,
                                    1e19,
                                    18446744073709551616.,
                                    -1e300,
                                    inf,
                                    -inf,
                                    tiny,
                                    1e-40,
                                    16777217});
        auto out = r.zero<long long>(96);
        r.run(convert_any, (const double *)in, out, r.zero<float>(48));
    }
    {
        Run r("convert", 1, 2, 0, "NaN; as a float its bits are not defined.");
        auto in =
            r.values<double>({host_from_bits<double>(0x7ff8000000000000), host_from_bits<double>(0xfff8000000000000)});
        auto out = r.zero<long long>(8);
        auto outf = r.zero<float>(4);
        r.nondet(2);
        r.run(convert_any, (const double *)in, out, outf);
    }
    {
        Run r("convert", 2, 32);
        auto in = r.values(uniform(64, 5, -1e6, 1e6));
        auto out = r.zero<long long>(256);
        r.run(convert, (const double *)in, out, r.zero<float>(128));
    }
    functions(uniform(32, 6, 0, 30), 4, "The sum of log1p and cbrt has both errors and one more rounding.");
    functions({0, 1e-300, 1e-10, 0.5, 1, 2, 27, 1e5, 105615.5, 1e6, 1e15, 1e22, 1e100, 1e200, 1e205, 1e300}, 4,
              "Slow paths: arguments of sin beyond 105615, powers that overflow, exponentials that are 0.");
    functions({26, 26.5, 26.6, 27, 27.1, 27.2, 38.5, 38.6}, 4, "Exponentials that are subnormal.");
    functions({-0.5, -1, -2, -8, -20, -1000, -1e6, -0.01}, 64,
              "The sum of log1p and cbrt cancels up to four bits, with errors of both terms.");
    functions({inf, -inf, NAN, tiny, 1e-310}, 4, "NaN results with any bits, and the smallest arguments.");
    roots({2, 3, 10, 1e10, 1e300, 1.7976931348623157e308, 4, 9}, "Up to sixty iterations.");
    roots({1, 0.25, 0, 1e-300, tiny, 0.1, 100, 0.999}, "From 1 downwards. The iteration does not reach the root of 0.");
    roots(uniform(64, 7, 0, 1000), "");
}
