// SPDX-License-Identifier: MIT
// Launches of samples/inline_asm.cu. This file has each asm statement in C++, identified by the beginning of its text.
#include "cuda_shim.h"

static void split(uint32_t v, uint16_t half[2]) { memcpy(half, &v, 4); }

template <class T> static T get(const PtxOperand &o) { return host_from_bits<T>(o.value); }
template <class T> static void set(const PtxOperand &o, T v) { memcpy(o.out, &v, sizeof v); }

static unsigned steps_to_one(uint64_t x)
{
    unsigned n = 0;
    for (; x > 1; n++)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    return n;
}

static double add_rz(double a, double b) { return __dadd_rz(a, b); }

using Operands = std::vector<PtxOperand>;
static const std::pair<const char *, void (*)(const Operands &)> statements[] = {
    // guarded_copy
    {"{\n\t.reg .pred p;\n\tsetp.lt.s32 p, %2, %3;",
     [](const Operands &o) { set(o[0], get<int>(o[2]) < get<int>(o[3]) ? *get<int *>(o[1]) : 77); }},
    {"st.global.u32", [](const Operands &o) { *get<uint32_t *>(o[0]) = get<uint32_t>(o[1]); }},
    // collatz_steps
    {"{\n\t.reg .pred odd, done;", [](const Operands &o) { set(o[0], steps_to_one(o[1].value)); }},
    // vector_moves
    {"ld.global.v4.u32",
     [](const Operands &o) {
         for (int k = 0; k < 4; k++)
             set(o[k], get<uint32_t *>(o[4])[k]);
     }},
    {"mov.b64 %0, {%1, %2}", [](const Operands &o) { set(o[0], o[1].value | o[2].value << 32); }},
    {"mov.u32 %0, %%laneid", [](const Operands &o) { set(o[0], host_lane()); }},
    {"{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, %2, 1;",
     [](const Operands &o) {
         uint32_t a = get<uint32_t>(o[1]), b = get<uint32_t>(o[2]);
         set(o[0], a < b ? a : b ^ 1);
     }},
    {"shl.b64 %0, %0, 4", [](const Operands &o) { set(o[0], o[0].value << 4); }},
    {"{ .reg .b16 lo, hi;",
     [](const Operands &o) {
         uint16_t half[2];
         split(get<uint32_t>(o[1]), half);
         set(o[0], (uint32_t)half[0] << 16 | half[1]);
     }},
    {"st.global.v4.b32",
     [](const Operands &o) {
         for (int k = 0; k < 4; k++)
             get<uint32_t *>(o[0])[k] = get<uint32_t>(o[k + 1]);
     }},
    // constraints
    {"mul.lo.s16", [](const Operands &o) { set(o[0], (int16_t)(get<int16_t>(o[1]) * get<int16_t>(o[2]))); }},
    {"fma.rn.f32", [](const Operands &o) { set(o[0], fmaf(get<float>(o[1]), get<float>(o[2]), 1.0f)); }},
    {"add.rz.f64", [](const Operands &o) { set(o[0], add_rz(get<double>(o[1]), 0.5)); }},
    {"shl.b32", [](const Operands &o) { set(o[0], get<uint32_t>(o[1]) << get<uint32_t>(o[2])); }},
};

static void known_asm(const char *text, const Operands &operands)
{
    for (auto &s : statements)
        if (strncmp(text, s.first, strlen(s.first)) == 0) {
            s.second(operands);
            return;
        }
    host_fail("not known: %s", text);
}

#define ptx_asm known_asm
#include "inline_asm.cu"
#undef ptx_asm

int main()
{
    const char *constraints5 = "_Z11constraintsILi5EEvPKsPKfPKdPd";
    run_file("inline_asm", "Guards, labels inside assembly, packing moves, registers of every class.");
    {
        Run r("guarded_copy", 2, 32, 0, "Only n elements of the input exist.");
        auto in = r.iota(50, -7, 3), out = r.zero<int>(64);
        int n = r.scalar(50);
        r.run(guarded_copy, in, out, n);
    }
    {
        Run r("guarded_copy", 1, 5);
        auto in = r.zero<int>(1), out = r.zero<int>(5);
        int n = r.scalar(0);
        r.run(guarded_copy, in, out, n);
    }
    {
        Run r("collatz", 2, 32);
        auto in = r.iota<unsigned>(64), out = r.zero<unsigned>(64);
        r.run(collatz, in, out);
    }
    {
        Run r("collatz", 1, 20);
        auto in = r.rand<unsigned>(20, 1), out = r.zero<unsigned>(20);
        r.run(collatz, in, out);
    }
    {
        Run r("vector_moves", 2, 35);
        auto in = r.rand<unsigned>(280, 2), out = r.zero<unsigned>(280);
        r.run(vector_moves, (const uint4 *)in, (uint4 *)out);
    }
    {
        Run r("vector_moves", 1, 3, 0, "Equal elements, and elements that differ in the sign.");
        auto in = r.values<unsigned>({~0u, 5, 5, 1u << 31, 0x80000001, ~0u, 0, ~0u, 0, 0, 1, 0xf0000001});
        auto out = r.zero<unsigned>(12);
        r.run(vector_moves, (const uint4 *)in, (uint4 *)out);
    }
    {
        Run r(constraints5, 1, 16);
        auto h = r.iota<short>(16, -20000, 2777);
        auto f = r.rand<float>(17, 3, -2, 2);
        auto d = r.iota<double>(16, -3, 0.4375), out = r.zero<double>(16);
        r.run(constraints<5>, h, f, d, out);
    }
    {
        Run r(constraints5, 1, 6, 0, "Sums that are truncated, not rounded; f is -1/2 and 2, so the rest adds zero.");
        auto h = r.fill<short>(6, 0);
        auto f = r.values<float>({-0.5f, 2, -0.5f, 2, -0.5f, 2, -0.5f});
        auto d = r.values<double>({0x1.fffffffffffffp-2, 0x1.fffffffffffffp52, -0x1.fffffffffffffp52, -0x1p-60,
                                   0x1.0000000000001p53, -0x1.fffffffffffffp60});
        auto out = r.zero<double>(6);
        r.run(constraints<5>, h, f, d, out);
    }
}
