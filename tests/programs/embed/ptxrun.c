// SPDX-License-Identifier: MIT
// ptxrun.c: tests of ptx_run(): values of all widths, memory of the process, bad addresses, the cache, threads.
//
//     ptxrun
//
// Prints each failure; the last line is `N passed, N failed`. Expected messages go to standard error.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <ptxrun.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD ".version 7.5\n.target sm_35\n.address_size 64\n"

// Writes to out[k] the sum of all parameters and k.
static const char widths[] =
    HEAD ".visible .entry widths(.param .u64 out, .param .u8 a, .param .s16 b, .param .u32 c, .param .u64 d)\n{\n"
         "\t.reg .b64 %rd<12>;\n\t.reg .b32 %r<2>;\n"
         "\tld.param.u64 %rd1, [out];\n\tld.param.u8 %rd2, [a];\n\tld.param.s16 %rd3, [b];\n\tld.param.u32 %rd4, [c];\n"
         "\tld.param.u64 %rd5, [d];\n\tadd.s64 %rd6, %rd2, %rd3;\n\tadd.s64 %rd7, %rd6, %rd4;\n"
         "\tadd.s64 %rd8, %rd7, %rd5;\n\tmov.u32 %r1, %tid.x;\n\tcvt.u64.u32 %rd9, %r1;\n\tadd.s64 %rd8, %rd8, %rd9;\n"
         "\tshl.b64 %rd10, %rd9, 3;\n\tadd.s64 %rd11, %rd1, %rd10;\n\tst.global.u64 [%rd11], %rd8;\n\tret;\n}\n";
// The first kernel of two: copies a word.
static const char copy[] =
    HEAD ".visible .entry copy(.param .u64 from, .param .u64 to)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<2>;\n"
         "\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tld.global.u32 %r1, [%rd1];\n"
         "\tst.global.u32 [%rd2], %r1;\n\tret;\n}\n"
         ".visible .entry other()\n{\n\ttrap;\n}\n";
enum { LOAD = 10, STORE = 11 };  // lines of `copy`
// The sum over a block in shared memory, and a variable that counts launches.
static const char sum[] = HEAD
    ".global .u32 launches;\n.extern .shared .u32 all[];\n"
    ".visible .entry sum(.param .u64 out)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<4>;\n\t.reg .pred %p<2>;\n"
    "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@!%p1 st.shared.u32 [all], 0;\n"
    "\tbar.sync 0;\n\tred.shared.add.u32 [all], %r1;\n\tbar.sync 0;\n\t@%p1 ret;\n\tld.shared.u32 %r2, [all];\n"
    "\tred.global.add.u32 [%rd1], %r2;\n\tatom.global.add.u32 %r3, [launches], 1;\n"
    "\tst.global.u32 [%rd1+4], %r3;\n\tret;\n}\n";

static int passed, failed;

static void check(int good, const char *what)
{
    good ? passed++ : failed++;
    if (!good)
        printf("%s; the error is '%s'\n", what, ptx_run_error() ? ptx_run_error() : "");
}
#define CHECK(good) check((good), "line " LINE(__LINE__) ": " #good)
#define LINE(n) LINE_TEXT(n)
#define LINE_TEXT(n) #n

static void run_copy(const void *from, void *to)
{
    void *args[] = {(void *)(uintptr_t)from, to};
    ptx_run(copy, 2, args, 1, 1, 1, 1, 1, 1, 0);
}

// True if the last error reports an access of the first kernel at this line, with this reason.
static int failed_at(int line, const char *reason)
{
    char place[40];
    snprintf(place, sizeof place, "ptx:%d:", line);
    const char *error = ptx_run_error();
    return error && strncmp(error, place, strlen(place)) == 0 && strstr(error, reason);
}

static void test_values(void)
{
    uint64_t out[4] = {0};
    void *args[] = {out, (void *)0x1ff, (void *)0xffff, (void *)0x7fffffffff, (void *)(1ul << 40)};
    ptx_run(widths, 5, args, 4, 1, 1, 1, 1, 1, 0);
    uint64_t want = 0xff - 1 + UINT64_C(0xffffffff) + (UINT64_C(1) << 40);
    CHECK(!ptx_run_error());
    CHECK(out[0] == want && out[3] == want + 3);
    // Heap, stack and static memory; a constant is read-only.
    static uint32_t there;
    static const uint32_t constant = 77;
    uint32_t here = 0, *heap = malloc(4);
    run_copy(&constant, &here);
    CHECK(!ptx_run_error() && here == 77);
    run_copy(&here, heap);
    run_copy(heap, &there);
    CHECK(!ptx_run_error() && there == 77);
    run_copy(&here, (void *)(uintptr_t)&constant);
    CHECK(failed_at(STORE, "which is read-only"));
    CHECK(constant == 77);
    free(heap);
}

static void test_addresses(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t word = 0;
    run_copy(NULL, &word);
    CHECK(failed_at(LOAD, "a null pointer"));
    run_copy(&word, (void *)1);
    CHECK(failed_at(STORE, "which is not aligned"));
    run_copy((void *)(UINT64_MAX - 3), &word);
    CHECK(failed_at(LOAD, "which is in no mapping of the process"));
    run_copy((void *)0x1000000000000000, &word);
    CHECK(failed_at(LOAD, "which is in no mapping of the process"));
    char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + page, page, PROT_NONE);
    mprotect(pages + 2 * page, page, PROT_READ);
    memcpy(pages, &(uint32_t){5}, 4);
    run_copy(pages, &word);
    CHECK(!ptx_run_error() && word == 5);
    run_copy(pages + page, &word);
    CHECK(failed_at(LOAD, "which is in no mapping of the process"));
    run_copy(pages + 2 * page, &word);
    CHECK(!ptx_run_error() && word == 0);
    run_copy(&word, pages + 2 * page);
    CHECK(failed_at(STORE, "which is read-only"));
    run_copy(&word, pages + 3 * page);
    CHECK(!ptx_run_error());
    // An access to memory that is no longer mapped faults, even if the launch before reached it.
    munmap(pages, 4 * page);
    run_copy(pages, &word);
    CHECK(failed_at(LOAD, "which is in no mapping of the process"));
    word = 6;
    run_copy(&word, &word);
    CHECK(!ptx_run_error());
}

static void test_calls(void)
{
    uint32_t out[2] = {0, 9};
    void *args[] = {out};
    for (int k = 0; k < 3; k++)
        ptx_run(sum, 1, args, 8, 4, 2, 2, 1, 1, 4);
    CHECK(!ptx_run_error());
    CHECK(out[0] == 3 * 2 * 8 * (8 * 28));
    CHECK(out[1] == 15);  // 8 threads of 2 blocks; the variable began anew in each launch
    ptx_run(sum, 1, args, 8, 4, 2, 2, 1, 1, 0);
    CHECK(failed_at(14, "shared memory"));
    ptx_run(sum, 0, NULL, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() && strstr(ptx_run_error(), "'sum' has 1 parameter, and there are 0 arguments"));
    ptx_run(sum, 1, NULL, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() && strcmp(ptx_run_error(), "ptx_run: error: a null pointer") == 0);
    ptx_run(sum, -1, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() != NULL);
    ptx_run(sum, 1, args, 1, 1, 1, 1, -1, 1, 4);
    CHECK(ptx_run_error() && strcmp(ptx_run_error(), "ptx_run: error: a size is negative") == 0);
    ptx_run(sum, 1, args, 1, 1, 1, 1, 0, 1, 4);
    CHECK(ptx_run_error() && strstr(ptx_run_error(), "each number is at least 1"));
    ptx_run(NULL, 1, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() != NULL);
    ptx_run("", 0, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() != NULL);
    ptx_run(HEAD, 0, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() && strstr(ptx_run_error(), "the module has no kernel"));
    ptx_run(HEAD ".visible .entry k()\n{\n\tadd.s32 %r1, 2;\n}\n", 0, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(failed_at(6, "error"));
    ptx_run(HEAD ".visible .entry k(.param .b8 s[16])\n{\n\tret;\n}\n", 1, args, 1, 1, 1, 1, 1, 1, 4);
    CHECK(ptx_run_error() && strstr(ptx_run_error(), "parameter 0 of the kernel has 16 bytes"));
}

// More texts than the cache holds, twice.
static void test_cache(void)
{
    char text[500];
    uint32_t word = 0, wrong = 0;
    for (uint32_t k = 0; k < 400; k++) {
        void *args[] = {&word};
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p)\n{\n\t.reg .b64 %%rd<2>;\n\tld.param.u64 %%rd1, [p];\n"
                      "\tst.global.u32 [%%rd1], %u;\n\tret;\n}\n",
                 k % 100);
        ptx_run(text, 1, args, 1, 1, 1, 1, 1, 1, 0);
        wrong += ptx_run_error() || word != k % 100;
    }
    CHECK(!wrong);
}

// Variables of two modules have different addresses, and each kernel reaches those of the other module.
static void test_modules(void)
{
    char texts[2][500];
    uint64_t address[2] = {0, 0};
    for (uint32_t k = 0; k < 2; k++) {
        void *args[] = {&address[k]};
        snprintf(texts[k], sizeof texts[k],
                 HEAD ".global .u32 v = %u;\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b64 %%rd<3>;\n"
                      "\tld.param.u64 %%rd1, [p];\n\tmov.u64 %%rd2, v;\n\tst.global.u64 [%%rd1], %%rd2;\n\tret;\n}\n",
                 k + 7);
        ptx_run(texts[k], 1, args, 1, 1, 1, 1, 1, 1, 0);
    }
    CHECK(address[0] != address[1]);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t word = 0;
        run_copy((const void *)(uintptr_t)address[k], &word);
        CHECK(!ptx_run_error() && word == k + 7);
    }
}

enum { THREADS = 4, TIMES = 100 };

static void *work(void *user)
{
    uint32_t *wrong = user, out[2], to = 0;
    for (uint32_t k = 0; k < TIMES; k++) {
        void *args[] = {out};
        out[0] = k;
        ptx_run(sum, 1, args, 64, 1, 1, 1, 1, 1, 4);
        *wrong += ptx_run_error() || out[0] != k + 2016;
        run_copy(out, &to);
        *wrong += ptx_run_error() || to != k + 2016;
        // Other threads have their own errors.
        run_copy(NULL, &to);
        *wrong += !failed_at(LOAD, "a null pointer");
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    uint32_t wrong[THREADS] = {0};
    for (int k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, work, &wrong[k]);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        CHECK(!wrong[k]);
    }
    CHECK(ptx_run_error() != NULL);  // of this thread, from an earlier test
}

int main(void)
{
    CHECK(!ptx_run_error());
    test_values();
    test_addresses();
    test_cache();
    test_modules();
    test_calls();
    test_threads();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
