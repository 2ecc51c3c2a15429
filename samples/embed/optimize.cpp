// SPDX-License-Identifier: MIT
// optimize.cpp: the optimizer inside a C++ program. Smart pointers own contexts and modules, errors are exceptions.
//
//     optimize [-O LEVEL] [-e FUNCTION]... FILE.ptx > OUT.ptx
//
// Reads a module, runs the default phases over its functions (or just those of -e), prints a line for each function to
// standard error, and the module to standard output.
//
//     c++ -std=c++11 optimize.cpp $(pkg-config --cflags --libs ori) -o optimize
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <ori.h>
#include <stdexcept>
#include <string>
#include <vector>

// An exception may not leave a callback: the library is C.
extern "C" {
static void take_message(void *text, const OriMessage *message)
{
    try {
        static_cast<std::string *>(text)->append(message->rendered);
    } catch (const std::bad_alloc &) {
    }
}

static int take_text(void *text, const char *bytes, std::size_t size)
{
    try {
        static_cast<std::string *>(text)->append(bytes, size);
        return 1;
    } catch (const std::bad_alloc &) {
        return 0;
    }
}

static void print_stats(void *, const OriFunctionStats *stats)
{
    std::cerr << "optimize: " << stats->function << ": " << stats->instructions_in << " -> " << stats->instructions
              << " instructions\n";
}
}

class Error : public std::runtime_error
{
  public:
    Error(OriStatus status, const std::string &messages) : std::runtime_error(messages), status(status) {}
    OriStatus status;
};

class Optimizer
{
  public:
    Optimizer() : context(ori_open(nullptr), ori_close)
    {
        if (!context)
            throw std::bad_alloc();
        ori_on_message(context.get(), take_message, &messages);
        ori_on_function_stats(context.get(), print_stats, nullptr);
    }
    // The context has the address of `messages`.
    Optimizer(const Optimizer &) = delete;
    Optimizer &operator=(const Optimizer &) = delete;

    void set_level(int level) { check(ori_set_level(context.get(), level)); }

    void set_entries(const std::vector<std::string> &names)
    {
        std::vector<const char *> texts;
        for (const std::string &name : names)
            texts.push_back(name.c_str());
        check(ori_set_entries(context.get(), texts.data(), texts.size()));
    }

    // Returns the optimized text of a module.
    std::string optimize(const std::string &name, const std::string &text)
    {
        OriContext *ori = context.get();
        auto release = [ori](OriModule *module) { ori_free(ori, module); };
        std::unique_ptr<OriModule, decltype(release)> module(
            ori_parse(ori, name.c_str(), text.data(), text.size(), ORI_ANY), release);
        check(ori_parse_status(ori));
        check(ori_optimize(ori, module.get()));
        std::string out;
        check(ori_print(ori, module.get(), ORI_ANY, take_text, &out));
        return out;
    }

  private:
    void check(OriStatus status)
    {
        if (status == ORI_OK)
            return;
        std::string said;
        said.swap(messages);
        throw Error(status, said);
    }

    std::string messages;
    std::unique_ptr<OriContext, void (*)(OriContext *)> context;
};

static std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file)
        throw Error(ORI_IO, "optimize: cannot read '" + path + "'\n");
    return text;
}

static void run(int argc, char **argv)
{
    Optimizer optimizer;
    std::vector<std::string> entries;
    std::string path;
    for (int k = 1; k < argc; k++) {
        bool last = k + 1 == argc;
        if (std::strcmp(argv[k], "-O") == 0 && !last)
            optimizer.set_level(std::atoi(argv[++k]));
        else if (std::strcmp(argv[k], "-e") == 0 && !last)
            entries.push_back(argv[++k]);
        else
            path = argv[k];
    }
    if (path.empty())
        throw Error(ORI_USAGE, "usage: optimize [-O LEVEL] [-e FUNCTION]... FILE.ptx\n");
    optimizer.set_entries(entries);
    std::cout << optimizer.optimize(path, read_file(path)) << std::flush;
    if (!std::cout)
        throw Error(ORI_IO, "optimize: cannot write\n");
}

int main(int argc, char **argv)
{
    try {
        run(argc, argv);
        return ORI_OK;
    } catch (const Error &error) {
        std::cerr << error.what();
        return error.status;
    } catch (const std::bad_alloc &) {
        std::cerr << "optimize: out of memory\n";
        return ORI_LIMIT;
    }
}
