// SPDX-License-Identifier: MIT
// Runs kernels through ori.h: ranges of the host's memory, hostile accesses, variables, limits, faults, threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "tools/lib/ori.h"

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .u32 counter = 5;\n"
    ".global .u64 block_of_heap;\n"
    ".const .u32 fixed = 77;\n"
    ".extern .shared .b8 dynamic[];\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .b8 format[] = {37, 100, 10, 0};\n"
    // Reads *a and writes it to *b.
    ".visible .entry load(.param .u64 a, .param .u64 b)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.param.u64 %rd2, [b];\n"
    "\tld.global.u32 %r1, [%rd1];\n"
    "\tst.global.u32 [%rd2], %r1;\n\tret;\n}\n"
    ".visible .entry load_16(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<5>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n\tret;\n}\n"
    ".visible .entry store_1(.param .u64 a, .param .u8 v)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b16 %rs<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.param.u8 %rs1, [v];\n\tst.u8 [%rd1], %rs1;\n\tret;\n}\n"
    ".visible .entry add_one(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tred.global.add.u32 [%rd1], 1;\n\tret;\n}\n"
    // Writes to *a the number of earlier runs, plus 5.
    ".visible .entry count(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tatom.global.add.u32 %r1, [counter], 1;\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n"
    // Reverses the numbers of the threads through dynamic shared memory.
    ".visible .entry reverse(.param .u64 a)\n{\n\t.reg .b64 %rd<4>;\n\t.reg .b32 %r<9>;\n"
    "\tld.param.u64 %rd1, [a];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, dynamic;\n"
    "\tshl.b32 %r4, %r1, 2;\n\tadd.s32 %r5, %r3, %r4;\n\tst.shared.u32 [%r5], %r1;\n\tbar.sync 0;\n"
    "\tsub.s32 %r6, %r2, %r1;\n\tshl.b32 %r7, %r6, 2;\n\tadd.s32 %r7, %r3, %r7;\n"
    "\tld.shared.u32 %r8, [%r7+-4];\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
    "\tst.global.u32 [%rd3], %r8;\n\tret;\n}\n"
    ".visible .entry endless()\n{\n$top:\n\tbra $top;\n}\n"
    ".visible .entry heap()\n{\n\t.reg .b64 %rd<2>;\n\t.param .b64 n;\n\t.param .b64 r;\n"
    "\tst.param.b64 [n], 4194304;\n\tcall.uni (r), malloc, (n);\n\tld.param.b64 %rd1, [r];\n"
    "\tst.global.u64 [block_of_heap], %rd1;\n\tst.u32 [%rd1], 1;\n\tret;\n}\n"
    ".visible .entry print(.param .u32 v)\n{\n\t.local .align 8 .b8 args[8];\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<2>;\n"
    "\t.param .b64 f;\n\t.param .b64 a;\n\t.param .b32 r;\n\tld.param.u32 %r1, [v];\n\tst.local.u32 [args], %r1;\n"
    "\tcvta.global.u64 %rd1, format;\n\tcvta.local.u64 %rd2, args;\n\tst.param.b64 [f], %rd1;\n"
    "\tst.param.b64 [a], %rd2;\n\tcall.uni (r), vprintf, (f, a);\n\tret;\n}\n"
    // Prints the text at an address; copies bytes to an address.
    ".visible .entry print_at(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n"
    "\t.param .b64 f;\n\t.param .b64 a1;\n\t.param .b32 r;\n\tld.param.u64 %rd1, [a];\n\tst.param.b64 [f], %rd1;\n"
    "\tst.param.b64 [a1], 0;\n\tcall.uni (r), vprintf, (f, a1);\n\tret;\n}\n"
    ".visible .entry bulk(.param .u64 a, .param .u64 n)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<3>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.param.u64 %rd2, [n];\n\tcvt.u32.u64 %r1, %rd2;\n\tmov.u32 %r2, dynamic;\n"
    "\tcp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], %r1;\n\tcp.async.bulk.commit_group;\n"
    "\tcp.async.bulk.wait_group 0;\n\tret;\n}\n"
    ".visible .entry constant(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.const.u32 %r1, [fixed];\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";

enum { LOAD_LINE = 17 };  // of the ld.global of `load`

typedef struct Log {
    unsigned messages;
    char last[600];  // rendered, first line
    char printed[200];
} Log;

static void record_message(void *user, const OriMessage *m)
{
    Log *s = user;
    s->messages++;
    snprintf(s->last, sizeof s->last, "%.*s", (int)strcspn(m->rendered, "\n"), m->rendered);
}

static void record_print(void *user, const char *printed, size_t n)
{
    Log *s = user;
    size_t at = strlen(s->printed);
    snprintf(s->printed + at, sizeof s->printed - at, "%.*s", (int)n, printed);
}

typedef struct Rig {
    OriContext *ori;
    OriModule *module;
    Log log;
    uint32_t out;  // mapped
} Rig;

static void rig_open(Rig *r, const char *module)
{
    *r = (Rig){.ori = ori_open(NULL)};
    ori_on_message(r->ori, record_message, &r->log);
    ori_on_print(r->ori, record_print, &r->log);
    CHECK_EQ(ori_map(r->ori, &r->out, sizeof r->out, 0), ORI_OK);
    r->module = ori_parse(r->ori, "k.ptx", module, strlen(module), ORI_ANY);
    CHECK(r->module != NULL);
}

// Launches a block with up to two arguments of 64 bits.
static OriStatus launch(Rig *r, const char *kernel, unsigned threads, uint64_t a, uint64_t b, unsigned n)
{
    OriArgument arguments[] = {{&a, sizeof a}, {&b, sizeof b}};
    OriLaunch l = {.size = sizeof l,
                   .kernel = kernel,
                   .grid = {1, 1, 1},
                   .block = {threads, 1, 1},
                   .arguments = arguments,
                   .argument_count = n};
    return ori_run(r->ori, r->module, &l);
}

static uint64_t at(const void *p) { return (uintptr_t)p; }

// A read of 4 bytes at an address, which must be a fault for this reason.
static void refused(Rig *r, uint64_t address, const char *reason)
{
    unit_context("address %#llx", (unsigned long long)address);
    CHECK_EQ(launch(r, "load", 1, address, at(&r->out), 2), ORI_BAD_INPUT);
    const OriFault *f = ori_fault(r->ori);
    if (CHECK(f != NULL))
        CHECK_Z(f->reason, reason);
}

static void refused_in_no_range(Rig *r, uint64_t address)
{
    char reason[200];
    snprintf(reason, sizeof reason, "read of 4 bytes at address %#llx, which is in no registered range",
             (unsigned long long)address);
    refused(r, address, reason);
}

TEST(run_reads_and_writes)
{
    Rig r;
    uint32_t words[4] = {1, 2, 3, 4};
    rig_open(&r, text);
    CHECK_EQ(ori_map(r.ori, words, sizeof words, 0), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, at(&words[2]), at(&words[0]), 2), ORI_OK);
    CHECK_EQ(words[0], 3);
    CHECK(ori_fault(r.ori) == NULL);
    // The kernel reads the host's later writes.
    words[2] = 9;
    CHECK_EQ(launch(&r, NULL, 1, at(&words[2]), at(&words[0]), 2), ORI_OK);
    CHECK_EQ(words[0], 9);
    CHECK_EQ(launch(&r, "constant", 1, at(&r.out), 0, 1), ORI_OK);
    CHECK_EQ(r.out, 77);
    // Parameters have their own widths.
    uint64_t address = at(&words[3]) + 1;
    uint8_t byte = 0xab;
    OriArgument arguments[] = {{&address, 8}, {&byte, 1}};
    OriLaunch l = {.size = sizeof l, .kernel = "store_1", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    l.arguments = arguments;
    l.argument_count = 2;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_EQ(words[3], 0xab04);
    CHECK_EQ(r.log.messages, 0);
    ori_close(r.ori);
}

TEST(run_hostile)
{
    Rig r;
    static _Alignas(64) uint8_t bytes[256];
    char reason[300];
    uint64_t in = at(bytes + 64);
    rig_open(&r, text);
    CHECK_EQ(ori_map(r.ori, bytes + 64, 64, 0), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, in, at(&r.out), 2), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, in + 60, at(&r.out), 2), ORI_OK);
    refused_in_no_range(&r, in + 64);
    refused_in_no_range(&r, in - 4);
    refused_in_no_range(&r, UINT64_MAX - 3);
    CHECK_EQ(launch(&r, "load_16", 1, UINT64_MAX - 15, 0, 1), ORI_BAD_INPUT);
    refused_in_no_range(&r, UINT64_C(1) << 63);
    refused_in_no_range(&r, at(&r));
    refused_in_no_range(&r, at(text) & ~UINT64_C(3));
    refused(&r, 0, "read of 4 bytes at address 0, a null pointer");
    refused(&r, 4092, "read of 4 bytes at address 0xffc, a null pointer");
    snprintf(reason, sizeof reason, "read of 4 bytes at address %#llx, which is not aligned",
             (unsigned long long)in + 1);
    refused(&r, in + 1, reason);
    refused(&r, UINT64_MAX, "read of 4 bytes at address 0xffffffffffffffff, which is not aligned");
    // One byte beyond the end.
    CHECK_EQ(ori_unmap(r.ori, bytes + 64), ORI_OK);
    refused_in_no_range(&r, in);
    CHECK_EQ(ori_map(r.ori, bytes + 64, 63, 0), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, in + 56, at(&r.out), 2), ORI_OK);
    refused(&r, in + 60, "read of 4 bytes at 0x3c of a registered range, which has 63 bytes");
    CHECK_EQ(launch(&r, "load_16", 1, in + 32, 0, 1), ORI_OK);
    CHECK_EQ(launch(&r, "load_16", 1, in + 48, 0, 1), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, "read of 16 bytes at 0x30 of a registered range, which has 63 bytes");
    // Adjacent ranges are not merged: an access is in one range.
    CHECK_EQ(ori_map(r.ori, bytes + 127, 65, 0), ORI_OK);
    refused(&r, in + 60, "read of 4 bytes at 0x3c of a registered range, which has 63 bytes");
    CHECK_EQ(launch(&r, "load", 1, in + 64, at(&r.out), 2), ORI_OK);
    ori_close(r.ori);
}

// Accesses with sizes from the kernel, and accesses by system functions.
TEST(run_hostile_copies)
{
    Rig r;
    static _Alignas(16) uint8_t bytes[96] = "Hi\n";
    char reason[300];
    rig_open(&r, text);
    CHECK_EQ(ori_map(r.ori, bytes, 64, 0), ORI_OK);
    uint64_t a = at(bytes), n = 0;
    OriArgument arguments[] = {{&a, 8}, {&n, 8}};
    OriLaunch l = {.size = sizeof l, .kernel = "bulk", .grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 1 << 20};
    l.arguments = arguments;
    l.argument_count = 2;
    const struct {
        uint64_t offset, size;
        const char *reason;
    } rows[] = {
        {0, 80, "write of 80 bytes at 0 of a registered range, which has 64 bytes"},
        {48, 32, "write of 32 bytes at 0x30 of a registered range, which has 64 bytes"},
        {16, 1 << 20, "write of 1048576 bytes at 0x10 of a registered range, which has 64 bytes"},
    };
    for (uint32_t k = 0; k < ARRAY_LEN(rows); k++) {
        a = at(bytes) + rows[k].offset;
        n = rows[k].size;
        CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_BAD_INPUT);
        CHECK_Z(ori_fault(r.ori)->reason, rows[k].reason);
    }
    a = UINT64_MAX - 15;
    n = 32;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason,
            "write of 32 bytes at address 0xfffffffffffffff0, which is in no registered range");
    CHECK_EQ(bytes[0], 'H');
    CHECK_EQ(launch(&r, "print_at", 1, at(bytes), 0, 1), ORI_OK);
    CHECK_Z(r.log.printed, "Hi\n");
    memset(bytes, 'x', sizeof bytes);
    snprintf(reason, sizeof reason, "read of 1 bytes at address %#llx, which is in no registered range",
             (unsigned long long)at(bytes + 64));
    CHECK_EQ(launch(&r, "print_at", 1, at(bytes), 0, 1), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, reason);
    a = at(bytes);
    n = 64;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_EQ(bytes[63], 0);
    CHECK_EQ(bytes[64], 'x');
    ori_close(r.ori);
}

static const char second[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .u32 other = 6;\n"
    ".const .u32 limit = 70;\n"
    // Writes the address of a variable to *a.
    ".visible .entry address_of_other(.param .u64 a)\n{\n\t.reg .b64 %rd<3>;\n"
    "\tld.param.u64 %rd1, [a];\n\tmov.u64 %rd2, other;\n\tst.u64 [%rd1], %rd2;\n\tret;\n}\n"
    ".visible .entry address_of_limit(.param .u64 a)\n{\n\t.reg .b64 %rd<3>;\n"
    "\tld.param.u64 %rd1, [a];\n\tmov.u64 %rd2, limit;\n\tst.u64 [%rd1], %rd2;\n\tret;\n}\n"
    ".visible .entry read_other(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.global.u32 %r1, [other];\n\tst.u32 [%rd1], %r1;\n\tret;\n}\n";

// Parses `second` once more, as the module under test.
static void open_second(Rig *r)
{
    r->module = ori_parse(r->ori, "second.ptx", second, strlen(second), ORI_ANY);
    CHECK(r->module != NULL);
}

static uint64_t address_by(Rig *r, const char *kernel)
{
    uint64_t address = 0;
    CHECK_EQ(ori_map(r->ori, &address, sizeof address, 0), ORI_OK);
    CHECK_EQ(launch(r, kernel, 1, at(&address), 0, 1), ORI_OK);
    CHECK_EQ(ori_unmap(r->ori, &address), ORI_OK);
    return address;
}

// Variables of two modules have different addresses, which depend only on the order of the calls.
TEST(run_addresses_of_modules)
{
    uint64_t seen[2][3];
    for (uint32_t k = 0; k < 2; k++) {
        Rig r;
        rig_open(&r, second);
        OriModule *first = r.module;
        open_second(&r);
        OriModule *unused = r.module;
        open_second(&r);
        seen[k][1] = address_by(&r, "address_of_other");
        r.module = first;
        seen[k][0] = address_by(&r, "address_of_other");
        r.module = unused;
        seen[k][2] = address_by(&r, "address_of_other");
        CHECK_EQ(address_by(&r, "address_of_other"), seen[k][2]);
        CHECK(seen[k][0] != seen[k][1] && seen[k][1] != seen[k][2] && seen[k][0] != seen[k][2]);
        // A machine that ended begins at the same address, and a freed module leaves its addresses unused.
        r.module = first;
        CHECK_EQ(ori_run_phases(r.ori, r.module, ""), ORI_OK);
        CHECK_EQ(address_by(&r, "address_of_other"), seen[k][0]);
        ori_free(r.ori, first);
        open_second(&r);
        uint64_t fresh = address_by(&r, "address_of_other");
        CHECK(fresh != seen[k][0] && fresh != seen[k][1] && fresh != seen[k][2]);
        ori_close(r.ori);
    }
    CHECK_EQ(seen[1][1], UINT64_C(1) << 60);
    CHECK_EQ(memcmp(seen[0], seen[1], sizeof seen[0]), 0);
}

// A kernel reaches variables of another module by their addresses.
TEST(run_variables_of_other_modules)
{
    Rig r;
    char reason[200];
    rig_open(&r, text);
    OriModule *first = r.module;
    CHECK_EQ(launch(&r, "constant", 1, at(&r.out), 0, 1), ORI_OK);
    open_second(&r);
    OriModule *owner = r.module;
    uint64_t other = address_by(&r, "address_of_other"), limit = address_by(&r, "address_of_limit");
    r.module = first;
    CHECK_EQ(launch(&r, "load", 1, other, at(&r.out), 2), ORI_OK);
    CHECK_EQ(r.out, 6);
    CHECK_EQ(launch(&r, "add_one", 1, other, 0, 1), ORI_OK);
    r.module = owner;
    CHECK_EQ(launch(&r, "read_other", 1, at(&r.out), 0, 1), ORI_OK);
    CHECK_EQ(r.out, 7);
    r.module = first;
    refused_in_no_range(&r, other + 4);
    CHECK_EQ(launch(&r, "load_16", 1, other, 0, 1), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, "read of 16 bytes at 0 of 'other', which has 4 bytes");
    CHECK_EQ(launch(&r, "load", 1, limit, at(&r.out), 2), ORI_OK);
    CHECK_EQ(r.out, 70);
    CHECK_EQ(launch(&r, "add_one", 1, limit, 0, 1), ORI_BAD_INPUT);
    snprintf(reason, sizeof reason, "write of 4 bytes at address %#llx, which is read-only", (unsigned long long)limit);
    CHECK_Z(ori_fault(r.ori)->reason, reason);
    CHECK_EQ(ori_reset(r.ori, owner), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, other, at(&r.out), 2), ORI_OK);
    CHECK_EQ(r.out, 6);
    ori_free(r.ori, owner);
    refused_in_no_range(&r, other);
    ori_close(r.ori);
}

TEST(run_parameter_sizes)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(ori_parameter_size(r.module, "store_1", 0), 8);
    CHECK_EQ(ori_parameter_size(r.module, "store_1", 1), 1);
    CHECK_EQ(ori_parameter_size(r.module, "store_1", 2), 0);
    CHECK_EQ(ori_parameter_size(r.module, "store_1", SIZE_MAX), 0);
    CHECK_EQ(ori_parameter_size(r.module, "store_2", 0), 0);
    CHECK_EQ(ori_parameter_size(r.module, "malloc", 0), 0);
    CHECK_EQ(ori_parameter_size(r.module, NULL, 1), 8);
    ori_close(r.ori);
}

TEST(run_read_only)
{
    Rig r;
    static uint32_t words[4] = {1, 2, 3, 4};
    char reason[200];
    rig_open(&r, text);
    CHECK_EQ(ori_map(r.ori, words, sizeof words, ORI_MAP_READ_ONLY), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, at(words), at(&r.out), 2), ORI_OK);
    CHECK_EQ(r.out, 1);
    snprintf(reason, sizeof reason, "write of 4 bytes at address %#llx, which is read-only",
             (unsigned long long)at(words));
    CHECK_EQ(launch(&r, "load", 1, at(&r.out), at(words), 2), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, reason);
    CHECK_EQ(launch(&r, "add_one", 1, at(words), 0, 1), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, reason);
    CHECK_EQ(words[0], 1);
    ori_close(r.ori);
}

TEST(run_ranges)
{
    Rig r;
    static uint8_t bytes[64];
    rig_open(&r, text);
    const struct {
        uint64_t base, size;
        unsigned flags;
        const char *message;
    } wrong[] = {
        {at(bytes), 0, 0, "ori: error: ori_map(): the range has no bytes"},
        {at(bytes), 1, 2, "ori: error: ori_map() takes 0 or ORI_MAP_READ_ONLY"},
        {0, 8192, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {4095, 1, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {at(bytes), UINT64_MAX, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {at(bytes), 0 - at(bytes), 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {4096, UINT64_C(1) << 40, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {UINT64_C(3) << 40, 4, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {(UINT64_C(5) << 40) - 1, 4, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {UINT64_C(1) << 60, 4, 0, "ori: error: ori_map(): kernels cannot reach these addresses"},
        {at(bytes) + 9, 7, 0, "ori: error: ori_map(): the range overlaps another one"},
        {at(bytes) + 16, 48, 0, "ori: error: ori_map(): the range overlaps another one"},
        {at(bytes), 64, 0, "ori: error: ori_map(): the range overlaps another one"},
        {at(bytes) + 22, 1, 0, "ori: error: ori_map(): the range overlaps another one"},
    };
    CHECK_EQ(ori_map(r.ori, bytes + 20, 12, 0), ORI_OK);
    CHECK_EQ(ori_map(r.ori, bytes + 8, 8, 0), ORI_OK);
    for (uint32_t k = 0; k < ARRAY_LEN(wrong); k++) {
        unit_context("row %u", k);
        CHECK_EQ(ori_map(r.ori, (void *)(uintptr_t)wrong[k].base, wrong[k].size, wrong[k].flags), ORI_USAGE);
        CHECK_Z(r.log.last, wrong[k].message);
    }
    // Neighbours do not overlap.
    CHECK_EQ(ori_map(r.ori, bytes + 16, 4, 0), ORI_OK);
    CHECK_EQ(ori_map(r.ori, bytes, 8, 0), ORI_OK);
    CHECK_EQ(ori_map(r.ori, bytes + 32, 32, 0), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, at(bytes + 16), at(&r.out), 2), ORI_OK);
    CHECK_EQ(ori_unmap(r.ori, bytes + 17), ORI_USAGE);
    CHECK_EQ(ori_unmap(r.ori, bytes + 16), ORI_OK);
    CHECK_EQ(ori_unmap(r.ori, bytes + 16), ORI_USAGE);
    CHECK_Z(r.log.last, "ori: error: ori_unmap(): no range begins here");
    refused_in_no_range(&r, at(bytes + 16));
    CHECK_EQ(launch(&r, "load", 1, at(bytes + 20), at(&r.out), 2), ORI_OK);
    // Many ranges, of which every second one is removed.
    for (uint32_t k = 0; k < 1000; k++)
        CHECK_EQ(ori_map(r.ori, (void *)((uintptr_t)(k * 389 % 1000 + 1) << 20), 100, 0), ORI_OK);
    for (uint32_t k = 0; k < 1000; k += 2)
        CHECK_EQ(ori_unmap(r.ori, (void *)((uintptr_t)(k + 1) << 20)), ORI_OK);
    for (uint32_t k = 0; k < 1000; k += 2) {
        CHECK_EQ(ori_map(r.ori, (void *)(((uintptr_t)(k + 1) << 20) + 99), 1, 0), ORI_OK);
        CHECK_EQ(ori_map(r.ori, (void *)(((uintptr_t)(k + 2) << 20) + 99), 1, 0), ORI_USAGE);
    }
    CHECK_EQ(launch(&r, "load", 1, at(bytes + 32), at(&r.out), 2), ORI_OK);
    ori_close(r.ori);
}

TEST(run_faults)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(launch(&r, "load", 1, at(&r.out), at(&r.out), 2), ORI_OK);
    CHECK_EQ(launch(&r, "load", 2, 16, 16, 2), ORI_BAD_INPUT);
    CHECK_Z(r.log.last, "k.ptx:17:2: error: launch 2, load, block 0,0,0, thread 0,0,0: "
                        "read of 4 bytes at address 0x10, a null pointer");
    const OriFault *f = ori_fault(r.ori);
    CHECK_Z(f->kernel, "load");
    CHECK_Z(f->function, "load");
    CHECK_Z(f->file, "k.ptx");
    CHECK_EQ(f->line, LOAD_LINE);
    CHECK_EQ(f->column, 2);
    CHECK_EQ(f->block.x + f->thread.x, 0);
    // A fault does not affect later launches.
    r.out = 8;
    uint32_t word = 3;
    CHECK_EQ(ori_map(r.ori, &word, 4, 0), ORI_OK);
    CHECK_EQ(launch(&r, "load", 1, at(&word), at(&r.out), 2), ORI_OK);
    CHECK_EQ(r.out, 3);
    CHECK(ori_fault(r.ori) == NULL);
    ori_close(r.ori);
}

// Invalid launches change nothing and have a message.
TEST(run_wrong_launches)
{
    Rig r;
    uint64_t a = 0;
    uint32_t half = 0;
    rig_open(&r, text);
    OriArgument good[] = {{&a, 8}, {&a, 8}}, small[] = {{&a, 8}, {&half, 4}};
    const OriLaunch base = {.size = sizeof base,
                            .kernel = "load",
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .arguments = good,
                            .argument_count = 2};
    struct {
        OriLaunch l;
        const char *message;
    } rows[] = {
        {base, "the module has no kernel 'lod'"},
        {base, "OriLaunch.size is 8, but must be sizeof(OriLaunch)"},
        {base, "a grid of 1,1,0 blocks of 1,1,1 threads: each number is at least 1"},
        {base, "a grid of 1,1,1 blocks of 0,1,1 threads: each number is at least 1"},
        {base, "a block of 1024,1,2 threads: a block has at most 1024"},
        {base, "a block of 65536,65536,1 threads: a block has at most 1024"},
        {base, "a grid of 1,65536,1 blocks: there are at most 65535 in y and in z"},
        {base, "a grid of 4294967295,2,1 blocks: there are at most 4294967295"},
        {base, "'load' has 2 parameters, and there is 1 argument"},
        {base, "argument 1 has 4 bytes, but parameter 1 of 'load' has 8"},
    };
    rows[0].l.kernel = "lod";
    rows[1].l.size = 8;
    rows[2].l.grid.z = 0;
    rows[3].l.block.x = 0;
    rows[4].l.block = (OriDim){1024, 1, 2};
    rows[5].l.block = (OriDim){65536, 65536, 1};
    rows[6].l.grid.y = 65536;
    rows[7].l.grid = (OriDim){UINT32_MAX, 2, 1};
    rows[8].l.argument_count = 1;
    rows[9].l.arguments = small;
    for (uint32_t k = 0; k < ARRAY_LEN(rows); k++) {
        unit_context("row %u", k);
        CHECK_EQ(ori_run(r.ori, r.module, &rows[k].l), ORI_USAGE);
        CHECK(strncmp(r.log.last, "ori: error: ", 12) == 0);
        CHECK_Z(r.log.last + 12, rows[k].message);
        CHECK(ori_fault(r.ori) == NULL);
    }
    // The members of a larger structure that this library lacks must be zero.
    struct {
        OriLaunch l;
        uint64_t later;
    } larger = {base, 0};
    larger.l.size = sizeof larger;
    a = at(&r.out);
    CHECK_EQ(ori_run(r.ori, r.module, &larger.l), ORI_OK);
    larger.later = 1;
    CHECK_EQ(ori_run(r.ori, r.module, &larger.l), ORI_USAGE);
    ori_close(r.ori);
    rig_open(&r, ".version 8.0\n.target sm_80\n.address_size 64\n.func f()\n{\n\tret;\n}\n");
    CHECK_EQ(launch(&r, NULL, 1, 0, 0, 0), ORI_USAGE);
    CHECK_Z(r.log.last, "ori: error: the module has no kernel");
    CHECK_EQ(launch(&r, "f", 1, 0, 0, 0), ORI_USAGE);
    ori_close(r.ori);
}

// Returns the result of the kernel `count`.
static uint32_t count(Rig *r)
{
    r->out = 0;
    CHECK_EQ(launch(r, "count", 1, at(&r->out), 0, 1), ORI_OK);
    return r->out;
}

TEST(run_variables)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(count(&r), 6);
    // Also after a fault, whose writes stay.
    CHECK_EQ(launch(&r, "count", 1, 16, 0, 1), ORI_BAD_INPUT);
    CHECK_EQ(count(&r), 8);
    CHECK_EQ(ori_reset(r.ori, r.module), ORI_OK);
    CHECK_EQ(count(&r), 5);
    // Another module has its own variables.
    OriModule *first = r.module;
    r.module = ori_parse(r.ori, "again.ptx", text, strlen(text), ORI_ANY);
    CHECK_EQ(count(&r), 5);
    ori_free(r.ori, r.module);
    r.module = first;
    CHECK_EQ(count(&r), 6);
    // Phases change the code of the module.
    CHECK_EQ(ori_optimize(r.ori, r.module), ORI_OK);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(launch(&r, "load", 1, 16, 16, 2), ORI_BAD_INPUT);
    CHECK_EQ(ori_fault(r.ori)->line, LOAD_LINE);
    ori_close(r.ori);
}

TEST(run_shared_and_atomics)
{
    Rig r;
    uint32_t words[64] = {0}, sum = 0;
    uint64_t a = at(words);
    rig_open(&r, text);
    CHECK_EQ(ori_map(r.ori, words, sizeof words, 0), ORI_OK);
    CHECK_EQ(ori_map(r.ori, &sum, sizeof sum, 0), ORI_OK);
    OriArgument argument = {&a, 8};
    OriLaunch l = {.size = sizeof l,
                   .kernel = "reverse",
                   .grid = {1, 1, 1},
                   .block = {64, 1, 1},
                   .shared_bytes = 256,
                   .arguments = &argument,
                   .argument_count = 1};
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    for (uint32_t k = 0; k < 64; k++)
        CHECK_EQ(words[k], 63 - k);
    l.shared_bytes = 252;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, "write of 4 bytes at 0xfc of shared memory, which has 252 bytes");
    CHECK_EQ(ori_fault(r.ori)->thread.x, 63);
    l.shared_bytes = UINT32_MAX;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_BAD_INPUT);
    a = at(&sum);
    l = (OriLaunch){.size = sizeof l, .kernel = "add_one", .grid = {3, 2, 2}, .block = {8, 8, 2}};
    l.arguments = &argument;
    l.argument_count = 1;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_EQ(sum, 12 * 128);
    l.cluster = (OriDim){3, 1, 2};
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_EQ(sum, 2 * 12 * 128);
    l.cluster = (OriDim){2, 1, 1};
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_BAD_INPUT);
    ori_close(r.ori);
}

TEST(run_prints)
{
    Rig r;
    uint32_t v = 42;
    rig_open(&r, text);
    OriArgument argument = {&v, 4};
    OriLaunch l = {.size = sizeof l, .kernel = "print", .grid = {2, 1, 1}, .block = {1, 1, 1}};
    l.arguments = &argument;
    l.argument_count = 1;
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_Z(r.log.printed, "42\n42\n");
    ori_on_print(r.ori, NULL, NULL);
    CHECK_EQ(ori_run(r.ori, r.module, &l), ORI_OK);
    CHECK_Z(r.log.printed, "42\n42\n");
    ori_close(r.ori);
}

TEST(run_limits)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(ori_set_run_limits(r.ori, 10000, 0), ORI_OK);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(launch(&r, "endless", 1, 0, 0, 0), ORI_LIMIT);
    CHECK_Z(ori_fault(r.ori)->reason, "more than 10000 steps");
    CHECK_Z(r.log.last, "k.ptx: error: launch 2, endless, block 0,0,0, thread 0,0,0: more than 10000 steps");
    CHECK_EQ(count(&r), 6);
    // Memory of malloc counts. Two launches have 8 MB, and a third gets none.
    CHECK_EQ(launch(&r, "heap", 1, 0, 0, 0), ORI_OK);
    CHECK_EQ(launch(&r, "heap", 1, 0, 0, 0), ORI_OK);
    CHECK_EQ(launch(&r, "heap", 1, 0, 0, 0), ORI_BAD_INPUT);
    CHECK_Z(ori_fault(r.ori)->reason, "write of 4 bytes at address 0, a null pointer");
    CHECK_EQ(ori_reset(r.ori, r.module), ORI_OK);
    CHECK_EQ(launch(&r, "heap", 1, 0, 0, 0), ORI_OK);
    CHECK_EQ(ori_reset(r.ori, r.module), ORI_OK);
    CHECK_EQ(ori_set_run_limits(r.ori, 0, 2 << 20), ORI_OK);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(launch(&r, "heap", 1, 0, 0, 0), ORI_LIMIT);
    CHECK_Z(r.log.last, "ori: error: memory limit of 2097152 bytes reached");
    CHECK(ori_fault(r.ori) == NULL);
    CHECK_EQ(count(&r), 5);  // the variables begin anew
    // Each limit too small ends in the same error, and the next launch succeeds.
    OriStatus status = ORI_LIMIT;
    for (size_t bytes = 1; status == ORI_LIMIT; bytes += 1 << 10) {
        unit_context("%zu bytes", bytes);
        CHECK_EQ(ori_set_run_limits(r.ori, 0, bytes), ORI_OK);
        status = launch(&r, "count", 1, at(&r.out), 0, 1);
        if (!CHECK(bytes < 1 << 20))
            break;
    }
    CHECK_EQ(status, ORI_OK);
    ori_close(r.ori);
}

// A launch whose memory cannot be allocated fails, without loss of data.
typedef struct Counted {
    size_t held, calls, fail_at;
} Counted;

static void *count_alloc(void *user, size_t bytes)
{
    Counted *c = user;
    if (++c->calls == c->fail_at)
        return NULL;
    c->held += bytes;
    return malloc(bytes);
}

static void count_free(void *user, void *p, size_t bytes)
{
    Counted *c = user;
    c->held -= bytes;
    free(p);
}

TEST(run_allocator)
{
    OriStatus status = ORI_LIMIT;
    for (size_t n = 1; status != ORI_OK; n++) {
        Counted c = {.fail_at = n};
        uint32_t out = 0;
        uint64_t a = at(&out);
        OriAllocator allocator = {count_alloc, count_free, &c};
        unit_context("allocation %zu fails", n);
        OriContext *ori = ori_open(&allocator);
        OriModule *m = ori ? ori_parse(ori, NULL, text, strlen(text), ORI_ANY) : NULL;
        OriArgument argument = {&a, 8};
        OriLaunch l = {.size = sizeof l, .kernel = "count", .grid = {1, 1, 1}, .block = {1, 1, 1}};
        l.arguments = &argument;
        l.argument_count = 1;
        status = m ? ori_map(ori, &out, 4, 0) : ORI_LIMIT;
        status = status == ORI_OK ? ori_run(ori, m, &l) : status;
        CHECK(status == ORI_LIMIT || (status == ORI_OK && out == 5));
        ori_close(ori);
        CHECK_EQ(c.held, 0);
        if (!CHECK(n < 10000))
            break;
    }
}

TEST(run_broken_module)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(ori_set_limits(r.ori, 0, 1e-9), ORI_OK);
    CHECK_EQ(ori_optimize(r.ori, r.module), ORI_LIMIT);
    CHECK_EQ(launch(&r, "count", 1, at(&r.out), 0, 1), ORI_USAGE);
    CHECK(strstr(r.log.last, "broken") != NULL);
    ori_close(r.ori);
}

// A kernel of a function in ssa form, and Ori text.
TEST(run_ssa_form)
{
    Rig r;
    rig_open(&r, text);
    CHECK_EQ(ori_run_phases(r.ori, r.module, "ReplaceUniformsWithImm..GvnCse"), ORI_OK);
    CHECK_EQ(count(&r), 5);
    CHECK_EQ(count(&r), 6);
    ori_close(r.ori);
}

/* -- Two contexts on two threads ------------------------------------------------------------------------ */

enum { TIMES = 50 };

typedef struct Worker {
    pthread_t thread;
    uint32_t number, last, faults;
    const uint32_t *common;  // read by both
} Worker;

static void *work(void *user)
{
    Worker *w = user;
    OriContext *ori = ori_open(NULL);
    OriModule *m = ori_parse(ori, "k.ptx", text, strlen(text), ORI_ANY);
    uint32_t own[2] = {w->number, 0};
    ori_map(ori, own, sizeof own, 0);
    ori_map(ori, (void *)(uintptr_t)w->common, 4, ORI_MAP_READ_ONLY);
    for (uint32_t k = 0; k < TIMES; k++) {
        uint64_t a = at(own), from = at(w->common), to = at(&own[1]), wrong = at(&own[2]);
        OriArgument one = {&a, 8}, two[] = {{&from, 8}, {&to, 8}}, none[] = {{&wrong, 8}, {&to, 8}};
        OriLaunch l = {.size = sizeof l, .grid = {4, 1, 1}, .block = {64, 1, 1}};
        l.kernel = "add_one";
        l.arguments = &one;
        l.argument_count = 1;
        ori_run(ori, m, &l);
        l.kernel = "load";
        l.arguments = two;
        l.argument_count = 2;
        ori_run(ori, m, &l);
        l.arguments = none;
        w->faults += ori_run(ori, m, &l) == ORI_BAD_INPUT && ori_fault(ori)->line == LOAD_LINE;
    }
    w->last = own[0] + own[1];
    ori_close(ori);
    return NULL;
}

TEST(run_threads)
{
    const uint32_t common = 1000000;
    Worker workers[2];
    for (uint32_t k = 0; k < 2; k++) {
        workers[k] = (Worker){.number = k, .common = &common};
        CHECK_EQ(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    }
    for (uint32_t k = 0; k < 2; k++) {
        pthread_join(workers[k].thread, NULL);
        CHECK_EQ(workers[k].last, common + k + TIMES * 256);
        CHECK_EQ(workers[k].faults, TIMES);
    }
}

void test_ori_run(void)
{
    RUN(run_reads_and_writes);
    RUN(run_hostile);
    RUN(run_hostile_copies);
    RUN(run_addresses_of_modules);
    RUN(run_variables_of_other_modules);
    RUN(run_parameter_sizes);
    RUN(run_read_only);
    RUN(run_ranges);
    RUN(run_faults);
    RUN(run_wrong_launches);
    RUN(run_variables);
    RUN(run_shared_and_atomics);
    RUN(run_prints);
    RUN(run_limits);
    RUN(run_allocator);
    RUN(run_broken_module);
    RUN(run_ssa_form);
    RUN(run_threads);
}
