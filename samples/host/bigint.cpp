// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "bigint.cu"

int main()
{
    run_file("bigint", "Carries through all words, and random numbers. Division by zero is omitted.");
    {
        Run r("add256", 1, 4, 0, "Carry and borrow through all words, and through none.");
        std::vector<unsigned> a(32), b(32);
        for (size_t k = 0; k < 8; k++) {
            a[k] = ~0u, b[k] = k == 0;
            b[8 + k] = k == 0;
            a[16 + k] = b[16 + k] = ~0u;
            a[24 + k] = k % 2 ? ~0u : 0, b[24 + k] = 1;
        }
        auto pa = r.values(a, "b32"), pb = r.values(b, "b32");
        auto sum = r.zero<unsigned>(32), diff = r.fill<unsigned>(32, 5);
        r.type(2, "b32");
        r.type(3, "b32");
        r.run(add256, pa, pb, sum, diff);
    }
    {
        Run r("add256", 3, 16);
        auto pa = r.rand<unsigned>(384, 1), pb = r.rand<unsigned>(384, 2);
        auto sum = r.zero<unsigned>(384);
        r.run(add256, pa, pb, sum, r.zero<unsigned>(384));
    }
    {
        Run r("mul128", 1, 5);
        auto pa = r.values<unsigned long long>({0, ~0ull, 1ull << 32, 0xffffffff, 0x8000000000000001}, "b64");
        auto pb = r.values<unsigned long long>({~0ull, ~0ull, 1ull << 32, 0xffffffff, 0xfffffffe00000003}, "b64");
        auto out = r.zero<unsigned>(20);
        r.type(2, "b32");
        r.run(mul128, (uint2 *)pa, (uint2 *)pb, (uint4 *)out);
    }
    {
        Run r("mul128", 2, 40);
        auto pa = r.rand<unsigned>(160, 3), pb = r.rand<unsigned>(160, 4);
        r.run(mul128, (uint2 *)pa, (uint2 *)pb, (uint4 *)r.zero<unsigned>(320));
    }
    {
        Run r("divmod64", 1, 12, 0, "Both halves small, divisors of 32 and of 64 bits, and of either sign.");
        auto pa = r.values<long long>(
            {100, -100, 100, -100, LLONG_MIN, LLONG_MIN, LLONG_MAX, 0, 1ll << 40, -(1ll << 40), 5, 4294967296});
        auto pb = r.values<long long>({7, 7, -7, -7, 1, LLONG_MIN, -1, -5, 3, 1ll << 33, 1ll << 50, 4294967295});
        auto q = r.zero<long long>(24);
        r.run(divmod64, (const long long *)pa, (const long long *)pb, q, r.zero<unsigned long long>(24));
    }
    {
        Run r("divmod64", 2, 32);
        auto pa = r.rand<long long>(64, 5), pb = r.rand<long long>(64, 6, 1, 1ll << 40);
        auto q = r.zero<long long>(128);
        r.run(divmod64, (const long long *)pa, (const long long *)pb, q, r.zero<unsigned long long>(128));
    }
    {
        Run r("powmod", 2, 16, 0, "Exponents from 0.");
        auto base = r.rand<unsigned>(32, 7);
        auto exponent = r.iota<unsigned>(32);
        auto modulus = r.scalar(1000000007u);
        r.run(powmod, (const unsigned *)base, (const unsigned *)exponent, modulus, r.zero<unsigned>(32));
    }
    {
        Run r("powmod", 1, 48);
        auto base = r.rand<unsigned>(48, 8), exponent = r.rand<unsigned>(48, 9);
        auto modulus = r.scalar(4294967291u);
        r.run(powmod, (const unsigned *)base, (const unsigned *)exponent, modulus, r.zero<unsigned>(48));
    }
    {
        Run r("powmod", 1, 3, 0, "Modulo 1 all results are 0, except the empty product.");
        auto base = r.iota<unsigned>(3), exponent = r.iota<unsigned>(3);
        auto modulus = r.scalar(1u);
        r.run(powmod, (const unsigned *)base, (const unsigned *)exponent, modulus, r.fill<unsigned>(3, 9));
    }
    {
        Run r("wide128", 1, 5);
        auto a = r.values<unsigned long long>({0, ~0ull, ~0ull, 1, 0x8000000000000000, 127}, "b64");
        auto out = r.zero<unsigned long long>(10);
        r.type(1, "b64");
        r.run(wide128, (const unsigned long long *)a, out);
    }
    {
        Run r("wide128", 3, 20);
        auto a = r.rand<unsigned long long>(61, 10);
        r.run(wide128, (const unsigned long long *)a, r.zero<unsigned long long>(120));
    }
}
