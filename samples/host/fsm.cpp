// SPDX-License-Identifier: MIT
#include "cuda_shim.h"

#include "fsm.cu"

static void parse(const std::vector<std::string> &numbers, unsigned grid, unsigned block, const char *comment)
{
    std::string text;
    std::vector<int> offset(1);
    for (auto &s : numbers) {
        text += s;
        offset.push_back((int)text.size());
    }
    Run r("parse_numbers", grid, block, 0, comment);
    auto t = r.bytes(text);
    auto o = r.values(offset);
    auto value = r.fill<long long>(numbers.size(), -7);
    auto scale = r.fill<int>(numbers.size(), -7);
    r.run(parse_numbers, (const char *)t, (const int *)o, value, scale, r.scalar((int)numbers.size()));
}

static void machine(const std::vector<int> &code, const char *comment, int start = -7)
{
    Run r("stack_machine", 2, 16, 0, comment);
    auto c = r.values(code);
    auto input = r.iota<int>(32, start, 3);
    r.run(stack_machine, (const int *)c, (const int *)input, r.zero<int>(32));
}

int main()
{
    run_file("fsm", "Switches: every case of the parser, of the stack machine and of the sparse one.");
    parse({"42", "-17", "+3.25",     "-0.001", "",  "-",  "+", ".", "1.", "-.5", "12a", "1.2.3", "9223372036854775807",
           "x",  "--1", "00012.500", "1e5",    "7", "-8", "0"},
          2, 16, "Numbers of all forms, and invalid ones.");
    parse({"3.14159265358979"}, 1, 32, "One number for many threads.");
    machine({2, 0}, "The input.");
    machine({2, 7, 5, 1, 10, 4, 0}, "Its square less ten.");
    machine({1, 100, 2, 6, 11, 0}, "Division, never by zero, and complement.");
    machine({1, 1000, 2, 1, 7, 3, 9, 3, 2, 3, 8, 2, 0}, "Swap and drop.");
    machine({2, 1, 8, 3, 6, 0}, "Too few operands: the quotient is stored elsewhere, and the stack is empty.");
    machine({2, 1, 20, 3, 2, 1, -1, 5, 1, 20, 3, 6, 0}, "A quotient with a zero in it.");
    machine({1, 0, 1, 5, 9, 1, 10, 3, 9, 1, -1, 3, 7, 10, 4, 8, 0}, "A loop that runs five times.");
    machine({1, 1, 10, 0}, "A loop that runs until the fuel is used up.");
    machine({1, 1, 2, 10, 7, 1, 9, 0}, "A jump that one thread does not take.", -6);
    machine({1, 3, 12}, "No such opcode.");
    machine({0}, "An empty stack.");
    machine({11, 10, 99, 8, 5, 3, 4, 6, 7, 9, 1, 7, 0}, "Everything with an empty stack.");
    for (int op : {3, 4, 5, 6, 9, 10, 11})
        machine({2, op, 4, 0, 1, 5, 0}, "One word on the stack, then a subtraction, or the target of a jump.");
    machine({1, 5, 2, 8, 7, 3, 8, 1, 3, 11, 0}, "Drop, with one word and with two.");
    {
        Run r("sparse_switch", 1, 16, 0, "Every case, and values without a case. The case of 7 falls through.");
        auto in = r.values<int>(
            {-100000, 0, 7, 1000, 65536, 2147483647, 1, -1, 7, 8, 999, 65535, 65537, -2147483647, -99999, 7, 55});
        r.run(sparse_switch, (const int *)in, r.zero<int>(16));
    }
    {
        Run r("sparse_switch", 2, 32);
        auto in = r.rand<int>(65, 1, -3, 9);
        r.run(sparse_switch, (const int *)in, r.zero<int>(64));
    }
}
