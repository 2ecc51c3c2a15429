// SPDX-License-Identifier: MIT
// Runs the launches of a .run file on the host, and prints the file with its expectations filled in:
//
//     #include "cuda_shim.h"
//     #include "launches.h"
//
//     #include "sha256.cu"
//     LAUNCHES("sha256", KERNEL(sha256_block), KERNEL(fnv1a))
//
// `expect N:TYPE` and `expect NAME:TYPE` get the values of argument N's buffer, or of a variable, and `expect digest`
// the digests of all buffers. Old values are replaced, but `~ULP` stays. A list keeps its length; an empty list gets
// all values from TYPE[INDEX] on. So the .run file alone describes a launch, and programs only bind the names of
// kernels and variables.
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include "cuda_shim.h"

#include <fstream>

namespace launches
{
using Words = std::vector<std::string>;
using Bytes = std::vector<uint8_t>;

// Bytes of a parameter, and the buffer that they address.
struct Arg {
    Bytes value;
    std::shared_ptr<Bytes> buffer;
};

struct Launch {
    std::string entry;
    dim3 grid, block;
    bool keep = false, done = false;
    std::vector<Arg> args;
    std::vector<size_t> nondet;
};

// Meaning of a name of the PTX file: a kernel, or a variable.
struct Name {
    std::string name;
    std::function<void(const Launch &)> run;
    uint8_t *at = nullptr;
    Bytes initial = {};
};

/* -- Values ---------------------------------------------------------------------------------------------- */

inline Words split(const std::string &text, const char *at)
{
    Words parts;
    for (size_t from = 0, to; from < text.size(); from = to + 1) {
        to = std::min(text.find_first_of(at, from), text.size());
        if (to > from)
            parts.push_back(text.substr(from, to - from));
    }
    return parts;
}

inline size_t number(const std::string &text) { return strtoull(text.c_str(), nullptr, 0); }

inline size_t size_of(const std::string &type)
{
    size_t digits = type.find_first_of("0123456789");
    return digits == std::string::npos ? 0 : number(type.substr(digits)) / 8;
}

inline void put(Bytes &out, uint64_t bits, size_t size)
{
    for (size_t k = 0; k < size; k++)
        out.push_back((uint8_t)(bits >> 8 * k));
}

inline uint64_t bits_of(double v, const std::string &type)
{
    if (type != "f32" && type != "f64")
        host_fail("no values of type %s", type.c_str());
    return type == "f32" ? host_to_bits((float)v) : host_to_bits(v);
}

inline uint64_t parse(const std::string &text, const std::string &type)
{
    if (type[0] == 'f')
        return bits_of(strtod(text.c_str(), nullptr), type);
    return text[0] == '-' ? 0 - number(text.substr(1)) : number(text);
}

/* -- Arguments ------------------------------------------------------------------------------------------- */

inline Bytes hex(const std::string &text)
{
    Bytes b;
    for (size_t k = 0; k + 1 < text.size(); k += 2)
        b.push_back((uint8_t)number("0x" + text.substr(k, 2)));
    return b;
}

// Makes the contents of `buf:COUNTxTYPE:HOW:...`.
inline Bytes generate(const Words &p)
{
    size_t count = number(p[1]);
    std::string type = p[1].substr(p[1].find('x') + 1), a = p.size() > 3 ? p[3] : "0", b = p.size() > 4 ? p[4] : "";
    bool floats = type[0] == 'f', bounds = p.size() > 5;
    Bytes out;
    for (size_t k = 0; k < count; k++) {
        uint64_t v, x = host_random(number(a), k);
        if (p[2] == "fill")
            v = parse(a, type);
        else if (p[2] == "iota" && floats)
            v = bits_of(atof(a.c_str()) + (double)k * (b.empty() ? 1 : atof(b.c_str())), type);
        else if (p[2] == "iota")
            v = parse(a, type) + k * (b.empty() ? 1 : parse(b, type));
        else if (p[2] != "rand" || (floats && (!bounds || type != "f32")))
            host_fail("no generator %s of %s", p[2].c_str(), type.c_str());
        else if (floats)
            v = bits_of(atof(b.c_str()) + (double)(x >> 40) * 0x1p-24 * (atof(p[5].c_str()) - atof(b.c_str())), type);
        else
            v = bounds ? parse(b, type) + x % (parse(p[5], type) - parse(b, type)) : x;
        put(out, v, size_of(type));
    }
    return out;
}

inline Bytes buffer(const Words &p)
{
    if (p.at(1) == "hex")
        return hex(p.at(2));
    return p.size() > 2 ? generate(p) : Bytes(number(p[1]));
}

inline Arg argument(const std::string &text, const std::vector<Arg> &before)
{
    Words p = split(text, ":");
    Arg a;
    if (p[0] == "ref") {
        a.value = before.at(number(p[1])).value;
    } else if (p[0] == "struct") {
        a.value = hex(p.at(2));
    } else if (p[0] == "buf") {
        a.buffer = std::make_shared<Bytes>(buffer(p));
        put(a.value, (uint64_t)(uintptr_t)a.buffer->data(), 8);
    } else {
        put(a.value, parse(p.at(1), p[0]), size_of(p[0]));
    }
    return a;
}

template <class T> T take(const Arg &a)
{
    if (sizeof(T) != a.value.size())
        host_fail("an argument has %zu bytes, the parameter %zu", a.value.size(), sizeof(T));
    T v;
    memcpy((void *)&v, a.value.data(), sizeof v);
    return v;
}

template <class... T, size_t... K> void call(void (*f)(T...), const std::vector<Arg> &args, std::index_sequence<K...>)
{
    f(take<T>(args[K])...);
}

template <class... T> Name kernel(const char *name, void (*f)(T...))
{
    return {name, [=](const Launch &l) {
                if (l.args.size() != sizeof...(T))
                    host_fail("%s has %zu parameters", name, sizeof...(T));
                host_launch(l.grid, l.block, [&] { call(f, l.args, std::index_sequence_for<T...>()); });
            }};
}

template <class T> Name variable(const char *name, T &v)
{
    uint8_t *at = (uint8_t *)(void *)&v;
    return {name, nullptr, at, Bytes(at, at + sizeof v)};
}

/* -- The file -------------------------------------------------------------------------------------------- */

inline void perform(Launch &l, std::vector<Name> &names)
{
    l.done = true;
    for (Name &n : names)
        if (!n.run && !l.keep)
            memcpy(n.at, n.initial.data(), n.initial.size());
    for (Name &n : names)
        if (n.run && n.name == l.entry)
            return n.run(l);
    host_fail("no kernel %s", l.entry.c_str());
}

inline std::string digests(const Launch &l)
{
    std::string text;
    for (size_t k = 0; k < l.args.size(); k++) {
        if (!l.args[k].buffer || std::count(l.nondet.begin(), l.nondet.end(), k))
            continue;
        uint64_t h = 0xcbf29ce484222325u;
        for (uint8_t x : *l.args[k].buffer)
            h = (h ^ x) * 0x100000001b3u;
        char word[20];
        snprintf(word, sizeof word, " %016llx", (unsigned long long)h);
        text += word;
    }
    return text;
}

// Returns the line of an expectation with these first words.
inline std::string expect(const Words &words, const Launch &l, const std::vector<Name> &names)
{
    std::string line = "expect " + words[1];
    if (words[1] == "digest")
        return line + digests(l);
    bool units = words.size() > 2 && words[2][0] == '~';
    if (units)
        line += " " + words[2];
    Words target = split(words[1], ":[]");
    const std::string &what = target[0], &type = target.at(1);
    const uint8_t *p = nullptr;
    size_t size = 0;
    if (isdigit((unsigned char)what[0])) {
        const Arg &a = l.args.at(number(what));
        if (a.buffer)
            p = a.buffer->data(), size = a.buffer->size();
    }
    for (const Name &n : names)
        if (!n.run && n.name == what)
            p = n.at, size = n.initial.size();
    if (!p)
        host_fail("%s is no buffer or variable", what.c_str());
    size_t width = size_of(type), from = target.size() > 2 ? number(target[2]) : 0, count = words.size() - 2 - units;
    count = count ? from + count : size / width;
    for (size_t k = from; k < count && (k + 1) * width <= size; k++)
        line += " " + host_text(type, p + k * width);
    return line;
}

inline dim3 dimensions(const std::string &text)
{
    unsigned d[3] = {1, 1, 1};
    sscanf(text.c_str(), "%u,%u,%u", &d[0], &d[1], &d[2]);
    return {d[0], d[1], d[2]};
}

inline int convert(const std::string &path, std::vector<Name> names)
{
    std::ifstream file(path);
    if (!file)
        host_fail("cannot open %s", path.c_str());
    Launch l;
    for (std::string line; std::getline(file, line); puts(line.c_str())) {
        Words words = split(line, " \t");
        if (words.empty() || words[0][0] == '#')
            continue;
        const std::string &first = words[0];
        if (!l.done && !l.entry.empty() && (first == "expect" || first == "---"))
            perform(l, names);
        if (first == "---")
            l = Launch();
        else if (first == "keep")
            l.keep = true;
        else if (first == "entry")
            l.entry = words.at(1);
        else if (first == "grid")
            l.grid = dimensions(words.at(1));
        else if (first == "block")
            l.block = dimensions(words.at(1));
        else if (first == "arg")
            l.args.push_back(argument(words.at(1), l.args));
        else if (first == "nondet")
            l.nondet.push_back(number(words.at(1)));
        else if (first == "expect")
            line = expect(words, l, names);
        else if (first != "file" && first != "dump" && first != "shared")
            host_fail("%s: what is '%s'?", path.c_str(), first.c_str());
    }
    return 0;
}
}  // namespace launches

#define KERNEL(f) launches::kernel(#f, f)
#define KERNEL_AS(name, ...) launches::kernel(name, __VA_ARGS__)
#define VARIABLE(v) launches::variable(#v, v)
#define LAUNCHES(name, ...) \
    int main() { return launches::convert("../run/" name ".run", {__VA_ARGS__}); }

#endif
