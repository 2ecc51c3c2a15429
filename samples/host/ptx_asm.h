// SPDX-License-Identifier: MIT
// Interprets asm statements on the host: asm.awk converts them to calls of ptx_asm(), which parses and executes one
// instruction at a time. Registers hold 64 bits; an instruction uses the low bits of its type. Only instructions of the
// samples are supported; any other stops the program.
#ifndef PTX_ASM_H
#define PTX_ASM_H

#include "cuda_shim.h"

struct PtxOperand {
    uint64_t value;
    void *out;  // NULL = input only
    size_t size;
};

template <class T> PtxOperand ptx_in(const char *, T v) { return {host_to_bits(v), nullptr, sizeof v}; }
template <class T> PtxOperand ptx_out(const char *constraint, T &v)
{
    return {constraint[0] == '+' ? host_to_bits(v) : 0, &v, sizeof v};
}

using Words = std::vector<std::string>;

// Splits a text at separators outside of braces and brackets.
inline Words ptx_split(const std::string &s, char separator)
{
    Words parts(1);
    int depth = 0;
    for (char c : s) {
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == separator && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}
inline std::string ptx_trim(const std::string &s)
{
    size_t a = s.find_first_not_of(" \t\n"), z = s.find_last_not_of(" \t\n");
    return a == std::string::npos ? "" : s.substr(a, z - a + 1);
}

struct PtxAsm {
    std::vector<PtxOperand> operands;
    std::map<std::string, uint64_t> registers;
    bool carry = false;

    Words op;      // parts of the mnemonic
    Words arg;     // operands of the current instruction
    int bits = 0;  // width of its type
    bool is_signed = false, is_float = false;

    bool has(const char *part) const { return std::find(op.begin(), op.end(), part) != op.end(); }

    // Returns the bits of an operand, or of a selector such as %1.b2, unextended.
    uint64_t raw(const std::string &s)
    {
        if (s.empty())
            host_fail("asm: operand missing");
        if (s[0] == '!')
            return !raw(s.substr(1));
        if (s == "%laneid")
            return host_lane();
        if (s == "%cluster_ctarank")
            return 0;
        if (s[0] == '%')
            return operands.at((size_t)atoi(s.c_str() + 1)).value;
        if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D'))
            return strtoull(s.c_str() + 2, nullptr, 16);
        if (isdigit((unsigned char)s[0]) || s[0] == '-')
            return (uint64_t)strtoll(s.c_str(), nullptr, 0);
        return registers[s];
    }
    static uint64_t extend(uint64_t v, int bits, bool sign)
    {
        if (bits >= 64 || bits == 0)
            return v;
        v &= (1ull << bits) - 1;
        return sign && v >> (bits - 1) ? v | ~0ull << bits : v;
    }
    uint64_t get(size_t n) { return extend(raw(arg.at(n)), bits, is_signed); }
    void set(const std::string &s, uint64_t v, int width)
    {
        v = extend(v, width, false);
        if (s == "_")
            return;
        if (s[0] == '%')
            operands.at((size_t)atoi(s.c_str() + 1)).value = v;
        else
            registers[s] = v;
    }
    void result(uint64_t v) { set(arg.at(0), v, bits); }

    // Returns the elements of an operand in braces, else the operand itself.
    static Words elements(const std::string &s)
    {
        Words v = ptx_split(s[0] == '{' ? s.substr(1, s.size() - 2) : s, ',');
        for (auto &e : v)
            e = ptx_trim(e);
        return v;
    }
    char *address(const std::string &s)
    {
        std::string inner = ptx_trim(s.substr(1, s.size() - 2));
        size_t plus = inner.find('+');
        uint64_t a = raw(ptx_trim(inner.substr(0, plus)));
        if (plus != std::string::npos)
            a += raw(ptx_trim(inner.substr(plus + 1)));
        return op[0] == "cp" || op[0] == "mbarrier" || has("shared") ? (char *)host_shared((uint32_t)a) : (char *)a;
    }

    void set_type()
    {
        bits = 0, is_signed = is_float = false;
        for (auto &p : op) {
            if (p == "pred") {
                bits = 1;
                break;
            }
            if (p.size() < 2 || !strchr("usbf", p[0]) || !isdigit((unsigned char)p[1]))
                continue;
            bits = atoi(p.c_str() + 1);
            is_signed = p[0] == 's';
            is_float = p[0] == 'f';
        }
    }

    // Adds with a carry in, and sets the carry if the instruction does.
    void sum(uint64_t a, uint64_t b, bool in)
    {
        unsigned __int128 r = (unsigned __int128)extend(a, bits, false) + extend(b, bits, false) + in;
        if (has("cc"))
            carry = (bool)(r >> bits);
        result((uint64_t)r);
    }
    uint64_t product()
    {
        __int128 p =
            is_signed ? (__int128)(int64_t)get(1) * (int64_t)get(2) : (__int128)((unsigned __int128)get(1) * get(2));
        return (uint64_t)(has("hi") ? p >> bits : p);
    }
    bool compare()
    {
        uint64_t a = get(1), b = get(2);
        bool less = is_signed ? (int64_t)a < (int64_t)b : a < b, equal = a == b;
        const std::string &c = op[1];
        return c == "eq"   ? equal
               : c == "ne" ? !equal
               : c == "lt" ? less
               : c == "le" ? less || equal
               : c == "gt" ? !less && !equal
               : c == "ge" ? !less
                           : (host_fail("asm: comparison %s", c.c_str()), false);
    }
    void set_predicate()
    {
        bool r = compare(), not_r = !r;
        if (has("and"))
            r = r && (raw(arg.at(3)) & 1), not_r = not_r && (raw(arg.at(3)) & 1);
        Words p = ptx_split(arg[0], '|');
        set(p[0], r, 1);
        if (p.size() > 1)
            set(p[1], not_r, 1);
    }
    void move()
    {
        Words to = elements(arg[0]), from = elements(arg[1]);
        int each_to = bits / (int)to.size(), each_from = bits / (int)from.size();
        uint64_t v = 0;
        for (size_t k = 0; k < from.size(); k++)
            v |= extend(raw(from[k]), each_from, false) << (int)k * each_from % 64;
        for (size_t k = 0; k < to.size(); k++)
            set(to[k], v >> (int)k * each_to % 64, each_to);
    }
    void load()
    {
        char *p = address(arg[1]);
        for (auto &e : elements(arg[0])) {
            uint64_t v = 0;
            memcpy(&v, p, (size_t)bits / 8);
            set(e, extend(v, bits, is_signed), 64);
            p += bits / 8;
        }
    }
    void store()
    {
        char *p = address(arg[0]);
        for (auto &e : elements(arg[1])) {
            uint64_t v = raw(e);
            memcpy(p, &v, (size_t)bits / 8);
            p += bits / 8;
        }
    }
    // Returns the mask of a bit field. Positions and lengths are the low 8 bits; bits beyond 31 are zero.
    static uint64_t field(uint64_t pos, uint64_t len)
    {
        pos &= 255, len &= 255;
        uint64_t mask = len > 31 ? 0xffffffff : (1ull << len) - 1;
        return pos > 31 ? 0 : mask << pos & 0xffffffff;
    }
    void insert()
    {
        uint64_t pos = get(3), m = field(pos, get(4));
        result((get(2) & ~m) | ((pos & 255) > 31 ? 0 : get(1) << (pos & 255) & m));
    }
    void logic3()
    {
        uint64_t r = 0;
        for (int k = 0; k < bits; k++)
            r |= (get(4) >> ((get(1) >> k & 1) << 2 | (get(2) >> k & 1) << 1 | (get(3) >> k & 1)) & 1) << k;
        result(r);
    }
    // Returns a byte (.b0-.b3) or half (.h0, .h1) of a register, for video instructions.
    int64_t selected(const std::string &s, bool sign)
    {
        size_t dot = s.find('.');
        int width = dot == std::string::npos ? 32 : s[dot + 1] == 'b' ? 8 : 16;
        int at = width == 32 ? 0 : (s[dot + 2] - '0') * width;
        return (int64_t)extend(raw(s.substr(0, dot)) >> at, width, sign);
    }
    void video_add()
    {
        int64_t v = selected(arg[1], op[2][0] == 's') + selected(arg[2], op[3][0] == 's');
        if (has("sat"))
            v = std::min(std::max(v, (int64_t)INT_MIN), (int64_t)INT_MAX);
        if (has("max"))
            v = std::max(v, selected(arg[3], true));
        set(arg[0], (uint64_t)v, 32);
    }
    void video_difference4()
    {
        uint64_t sum = raw(arg[3]);
        for (int k = 0; k < 32; k += 8)
            sum += (uint64_t)abs((int)(raw(arg[1]) >> k & 255) - (int)(raw(arg[2]) >> k & 255));
        set(arg[0], sum, 32);
    }
    void floating()
    {
        if (op[0] == "fma")
            result(bits == 32 ? host_to_bits(fmaf(f32(1), f32(2), f32(3))) : host_to_bits(fma(f64(1), f64(2), f64(3))));
        else if (op[0] == "add" && has("rz"))
            result(bits == 32 ? host_to_bits(__fadd_rz(f32(1), f32(2))) : host_to_bits(__dadd_rz(f64(1), f64(2))));
        else
            host_fail("asm: %s in floating point", op[0].c_str());
    }
    float f32(size_t n) { return host_from_bits<float>(raw(arg.at(n))); }
    double f64(size_t n) { return host_from_bits<double>(raw(arg.at(n))); }

    // Copies immediately, because valid code does not access the data before the wait.
    void copy()
    {
        if (op[0] == "cp" && op[1] == "async" && (op[2] == "cg" || op[2] == "ca"))
            memcpy(address(arg[0]), (char *)raw(ptx_trim(arg[1].substr(1, arg[1].size() - 2))), (size_t)raw(arg[2]));
        else if (!has("commit_group") && !has("wait_group") && !has("wait_all"))
            host_fail("asm: copy %s", op[2].c_str());
    }
    void barrier()
    {
        if (has("red")) {
            unsigned n =
                host_barrier((int)raw(arg[1]), arg.size() > 3 ? (unsigned)raw(arg[2]) : 0, raw(arg.back()) & 1);
            if (!has("popc"))
                host_fail("asm: bar.red");
            return set(arg[0], n, 32);
        }
        host_barrier((int)raw(arg[0]), arg.size() > 1 ? (unsigned)raw(arg[1]) : 0, false, !has("arrive"));
    }
    // Layout: bits 0-15 pending, 16-31 expected, from 32 on the phase, which is the state.
    void mbarrier()
    {
        if (has("init")) {
            uint64_t n = raw(arg[1]) & 0xffff, v = n << 16 | n;
            memcpy(address(arg[0]), &v, 8);
        } else if (has("arrive") && op.size() == 4) {
            uint64_t v, state;
            memcpy(&v, address(arg[1]), 8);
            state = v >> 32;
            if ((--v & 0xffff) == 0)
                v = (state + 1) << 32 | (v & 0xffff0000) | (v >> 16 & 0xffff);
            memcpy(address(arg[1]), &v, 8);
            set(arg[0], state, 64);
        } else if (has("test_wait") && op.size() == 4) {
            host_yield();
            uint64_t v;
            memcpy(&v, address(arg[1]), 8);
            set(arg[0], v >> 32 != raw(arg[2]), 1);
        } else {
            host_fail("asm: mbarrier");
        }
    }

    void instruction()
    {
        const std::string &name = op[0];
        if (name == "mov")
            move();
        else if (name == "ld")
            load();
        else if (name == "st")
            store();
        else if (name == "cp")
            copy();
        else if (name == "bar" || (name == "barrier" && op[1] == "sync"))
            barrier();
        else if (name == "mbarrier")
            mbarrier();
        else if (name == "fence" || name == "membar" || name == "prefetch")
            ;
        else if (name == "vadd")
            video_add();
        else if (name == "vabsdiff4")
            video_difference4();
        else if (name == "setp" && !is_float)
            set_predicate();
        else if (name == "selp")
            result(raw(arg.at(3)) & 1 ? get(1) : get(2));
        else if (is_float)
            floating();
        else if (name == "add")
            sum(get(1), get(2), false);
        else if (name == "addc")
            sum(get(1), get(2), carry);
        else if (name == "sub")
            sum(get(1), ~get(2), true);
        else if (name == "subc")
            sum(get(1), ~get(2), carry);
        else if (name == "mul")
            result(product());
        else if (name == "mad")
            sum(product(), get(3), false);
        else if (name == "madc")
            sum(product(), get(3), carry);
        else if (name == "and")
            result(get(1) & get(2));
        else if (name == "or")
            result(get(1) | get(2));
        else if (name == "xor")
            result(get(1) ^ get(2));
        else if (name == "not")
            result(~get(1));
        else if (name == "shl")
            result((uint32_t)raw(arg[2]) >= (uint32_t)bits ? 0 : get(1) << (uint32_t)raw(arg[2]));
        else if (name == "shr" && !is_signed)
            result((uint32_t)raw(arg[2]) >= (uint32_t)bits ? 0 : get(1) >> (uint32_t)raw(arg[2]));
        else if (name == "bfe" && bits == 32 && !is_signed)
            result((get(2) & 255) > 31 ? 0 : (get(1) & field(get(2), get(3))) >> (get(2) & 255));
        else if (name == "bfi" && bits == 32)
            insert();
        else if (name == "lop3")
            logic3();
        else
            host_fail("asm: instruction %s", name.c_str());
    }

    void run(const char *text)
    {
        // Statements without scopes and declarations, and positions of labels.
        Words code;
        std::map<std::string, size_t> labels;
        std::string s;
        for (int depth = 0; *text; text++) {
            if (text[0] == '%' && text[1] == '%')
                text++;
            bool empty = ptx_trim(s).empty();
            if ((*text == '{' || *text == '}') && empty && depth == 0)
                continue;
            depth += (*text == '{') - (*text == '}');
            if (*text == ':' && text[1] != ':' && (s.empty() || s.back() != ':')) {
                labels[ptx_trim(s)] = code.size();
                s.clear();
            } else if (*text != ';') {
                s += *text;
            } else {
                if (s = ptx_trim(s); s.compare(0, 4, ".reg") != 0)
                    code.push_back(s);
                s.clear();
            }
        }
        for (size_t pc = 0; pc < code.size(); pc++) {
            s = code[pc];
            if (s[0] == '@') {
                size_t end = s.find_first_of(" \t");
                if (!(raw(s.substr(1, end - 1)) & 1))
                    continue;
                s = ptx_trim(s.substr(end));
            }
            size_t end = std::min(s.find_first_of(" \t"), s.size());
            op = ptx_split(s.substr(0, end), '.');
            arg = ptx_split(s.substr(end), ',');
            for (auto &a : arg)
                a = ptx_trim(a);
            set_type();
            if (op[0] == "bra")
                pc = labels.at(arg[0]) - 1;
            else
                instruction();
        }
        for (auto &o : operands)
            if (o.out)
                memcpy(o.out, &o.value, o.size);
    }
};

inline void ptx_asm(const char *text, std::vector<PtxOperand> operands)
{
    PtxAsm a;
    a.operands = std::move(operands);
    a.run(text);
}

#endif
