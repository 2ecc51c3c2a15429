// SPDX-License-Identifier: MIT
// Generates unoptimized PTX, as clang -O0 and llc -O0 make it.
//
//   naive func|module N SEED      about N instructions, in one kernel or in kernels of 1000
//
// All variables are in one frame of `.local` memory, which generic accesses reach by %SP. Each statement loads its
// operands and stores its result.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 48, BLOCK = 24, KERNEL = 1000 };

static uint64_t state;

static unsigned pick(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 16) % n);
}

static unsigned slot(void) { return 8 + 4 * pick(VARIABLES); }

static long reg, wide, pred, labels, count;

// Writes a = b op c; in one of eight, the second operand is an element of an array in global memory.
static void statement(void)
{
    static const char *const ops[] = {"add.s32", "sub.s32", "mul.lo.s32", "xor.b32", "and.b32", "or.b32"};
    unsigned kind = pick(8);
    long r = reg;
    printf("\tld.u32 \t%%r%ld, [%%SP+%u];\n", r, slot());
    if (kind == 0) {
        printf("\tld.u64 \t%%rd%ld, [%%SP+0];\n\tcvt.s64.s32 \t%%rd%ld, %%r%ld;\n\tshl.b64 \t%%rd%ld, %%rd%ld, 2;\n"
               "\tadd.s64 \t%%rd%ld, %%rd%ld, %%rd%ld;\n\tld.global.u32 \t%%r%ld, [%%rd%ld];\n",
               wide, wide + 1, r, wide + 2, wide + 1, wide + 3, wide, wide + 2, r + 1, wide + 3);
        wide += 4;
        reg = r + 2;
        count += 5;
    } else {
        printf("\tld.u32 \t%%r%ld, [%%SP+%u];\n\t%s \t%%r%ld, %%r%ld, %%r%ld;\n", r + 1, slot(), ops[pick(6)], r + 2, r,
               r + 1);
        reg = r + 3;
        count += 2;
    }
    printf("\tst.u32 \t[%%SP+%u], %%r%ld;\n", slot(), reg - 1);
    count += 2;
}

static void block(void)
{
    for (int k = 0; k < BLOCK / 4; k++)
        statement();
}

static void kernel(long index, long n)
{
    reg = wide = pred = labels = 1;
    count = 0;
    printf(".visible .entry naive%ld(.param .u64 naive%ld_param_0)\n{\n\t.local .align 8 .b8 \t__local_depot%ld[%d];\n"
           "\t.reg .b64 \t%%SP;\n\t.reg .b64 \t%%SPL;\n\t.reg .pred \t%%p<%ld>;\n\t.reg .b32 \t%%r<%ld>;\n"
           "\t.reg .b64 \t%%rd<%ld>;\n\tmov.u64 \t%%SPL, __local_depot%ld;\n\tcvta.local.u64 \t%%SP, %%SPL;\n"
           "\tld.param.u64 \t%%rd0, [naive%ld_param_0];\n\tst.u64 \t[%%SP+0], %%rd0;\n\tmov.u32 \t%%r0, %%tid.x;\n",
           index, index, index, 8 + 4 * VARIABLES, n + 9, n + 9, n + 9, index, index);
    for (int k = 0; k < VARIABLES; k++)
        printf("\tst.u32 \t[%%SP+%d], %%r0;\n", 8 + 4 * k);
    while (count < n) {
        block();
        printf("\tld.u32 \t%%r%ld, [%%SP+%u];\n\tsetp.lt.s32 \t%%p%ld, %%r%ld, %u;\n\t@%%p%ld bra \tLBB%ld_%ld;\n", reg,
               slot(), pred, reg, pick(100), pred, index, labels);
        reg++;
        pred++;
        block();
        printf("LBB%ld_%ld:\n", index, labels++);
        count += 3;
    }
    printf("\tld.u32 \t%%r%ld, [%%SP+8];\n\tld.u64 \t%%rd%ld, [%%SP+0];\n\tst.global.u32 \t[%%rd%ld], "
           "%%r%ld;\n\tret;\n}\n",
           reg, wide, wide, reg);
}

int main(int argc, char **argv)
{
    long n = argc == 4 ? atol(argv[2]) : 0, module = argc == 4 && !strcmp(argv[1], "module");
    if (n < 1 || (!module && strcmp(argv[1], "func"))) {
        fprintf(stderr, "usage: naive func|module N SEED\n");
        return 2;
    }
    state = (uint64_t)atol(argv[3]) * 0x9E3779B97F4A7C15u + 1;
    printf(".version 7.0\n.target sm_80\n.address_size 64\n");
    for (long k = 0; k < (module ? (n + KERNEL - 1) / KERNEL : 1); k++)
        kernel(k, module ? KERNEL : n);
    return 0;
}
