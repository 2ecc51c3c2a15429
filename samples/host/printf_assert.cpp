// SPDX-License-Identifier: MIT
// Launches of samples/printf_assert.cu. The printed text becomes a comment of the launch.
#include "cuda_shim.h"

#include <cassert>

static std::string printed;

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    char line[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    printed += std::string("\n#     ") + line;
    printed.pop_back();  // each printed text ends in a newline
}

#define printf print
#include "printf_assert.cu"
#undef printf

static void say_hello(unsigned block, int n)
{
    Run r("hello", 1, block);
    auto in = r.iota((size_t)std::max(n, 1), -3, 2);
    r.scalar(n);
    printed.clear();
    r.run(hello, in, n);
    r.comment = "Prints" + printed;
}

int main()
{
    run_file("printf_assert", "Omitted: failing assertions and traps, which end the run, and a failing malloc.\n"
                              "The order of lines that different threads print is not defined.");
    say_hello(6, 5);
    say_hello(1, 0);
    {
        Run r("checked_divide", 2, 20);
        auto a = r.rand<int>(40, 1), b = r.iota(40, -199, 10), q = r.zero<int>(40);
        r.run(checked_divide, a, b, q);
    }
    {
        Run r("guarded", 2, 33);
        auto in = r.iota(66, -30), out = r.zero<int>(66);
        int limit = r.scalar(35);
        r.run(guarded, in, out, limit);
    }
}
