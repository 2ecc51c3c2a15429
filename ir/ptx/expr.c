// SPDX-License-Identifier: MIT
// Parses constant expressions by precedence climbing: the operators of C on 64-bit integers, and + - * / and
// comparisons on doubles. The nesting is limited, so that hostile input cannot exhaust the stack.
//
// Differences from C are those of ptxas (tried): `%` and `~` are unsigned, shift counts are taken mod 64, `?:` has the
// type of the chosen arm.
#include "ir/ptx/read.h"

enum { DEPTH_MAX = 200 };

static Value parse_ternary(Reader *r, int depth);

bool expr_starts(const Reader *r)
{
    switch (r->tok) {
    case T_INT:
    case T_BIGINT:
    case T_F32:
    case T_F64:
    case T_DEC:
    case '-':
    case '+':
    case '~':
    case '!':
    case '(': return true;
    default: return r->tok == T_ID && rd_is(r, "WARP_SZ");
    }
}

static double as_double(Value v)
{
    double d;
    if (v.kind == LIT_F64) {
        memcpy(&d, &v.bits, 8);
        return d;
    }
    return v.is_unsigned ? (double)v.bits : (double)(int64_t)v.bits;
}

static Value make_int(uint64_t bits, bool is_unsigned) { return (Value){LIT_INT, is_unsigned, bits}; }

static Value make_double(double d)
{
    Value v = {.kind = LIT_F64};
    memcpy(&v.bits, &d, 8);
    return v;
}

static bool truth(Value v) { return v.kind == LIT_F64 ? as_double(v) != 0 : v.bits != 0; }

static Value literal(Reader *r)
{
    Value v = {.bits = r->lx.ival};
    switch (r->tok) {
    case T_BIGINT: rd_fail(r, rd_offset(r), "Constant overflow: the number does not fit 64 bits");
    case T_INT:
        v.kind = LIT_INT;
        v.is_unsigned = r->lx.is_unsigned || v.bits > INT64_MAX;
        break;
    case T_F32: v.kind = LIT_F32; break;
    case T_F64:
    case T_DEC: v.kind = LIT_F64; break;
    default:
        if (r->tok == T_ID && rd_is(r, "WARP_SZ"))
            v = make_int(32, false);
        else
            rd_fail(r, rd_offset(r), "expected a constant");
    }
    rd_next(r);
    return v;
}

// Reads a cast, `(.s64)` or `(.u64)`, whose opening parenthesis was read. False if there is none.
static bool accept_cast(Reader *r, bool *is_unsigned)
{
    if (r->tok != T_DOT)
        return false;
    *is_unsigned = rd_is(r, ".u64");
    if (!*is_unsigned && !rd_is(r, ".s64"))
        rd_fail(r, rd_offset(r), "expected .s64 or .u64");
    rd_next(r);
    rd_expect(r, ')', "to end the cast");
    return true;
}

static Value parse_unary(Reader *r, int depth)
{
    if (depth > DEPTH_MAX)
        rd_fail(r, rd_offset(r), "the constant expression is nested more than %d deep", DEPTH_MAX);
    int op = r->tok;
    size_t at = rd_offset(r);
    if (op == '(') {
        rd_next(r);
        bool is_unsigned;
        if (accept_cast(r, &is_unsigned)) {
            Value v = parse_unary(r, depth + 1);
            if (v.kind == LIT_F64)
                rd_fail(r, at, "a floating-point constant cannot be cast");
            v.is_unsigned = is_unsigned;
            return v;
        }
        Value v = parse_ternary(r, depth + 1);
        rd_expect(r, ')', "to end the constant expression");
        return v;
    }
    if (op != '-' && op != '+' && op != '~' && op != '!')
        return literal(r);
    rd_next(r);
    bool exact = r->tok == T_F32 || r->tok == T_F64;
    Value v = parse_unary(r, depth + 1);
    if (exact || v.kind == LIT_F32)
        rd_fail(r, at, "a sign is allowed only before decimal constants, not before 0f or 0d");
    if (v.kind == LIT_F64) {
        if (op == '~')
            rd_fail(r, at, "'~' requires an integer");
        return op == '!' ? make_int(!truth(v), false) : op == '-' ? make_double(-as_double(v)) : v;
    }
    switch (op) {
    case '-': return make_int(0 - v.bits, v.is_unsigned);
    case '~': return make_int(~v.bits, true);
    case '!': return make_int(!v.bits, false);
    default: return v;
    }
}

static int precedence(int token)
{
    switch (token) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case T_SHL:
    case T_SHR: return 8;
    case '<':
    case '>':
    case T_LE:
    case T_GE: return 7;
    case T_EQ:
    case T_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case T_ANDAND: return 2;
    case T_OROR: return 1;
    default: return 0;
    }
}

static Value apply_double(Reader *r, int op, double a, double b, size_t at)
{
    switch (op) {
    case '+': return make_double(a + b);
    case '-': return make_double(a - b);
    case '*': return make_double(a * b);
    case '/': return make_double(a / b);
    case '<': return make_int(a < b, false);
    case '>': return make_int(a > b, false);
    case T_LE: return make_int(a <= b, false);
    case T_GE: return make_int(a >= b, false);
    case T_EQ: return make_int(a == b, false);
    case T_NE: return make_int(a != b, false);
    case T_ANDAND: return make_int(a != 0 && b != 0, false);
    case T_OROR: return make_int(a != 0 || b != 0, false);
    default: rd_fail(r, at, "this operator requires integers");
    }
}

static uint64_t divide(Reader *r, uint64_t a, uint64_t b, bool is_unsigned, size_t at)
{
    if (b == 0)
        rd_fail(r, at, "Constant expression has division by zero");
    if (is_unsigned)
        return a / b;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);  // INT64_MIN / -1 wraps
}

static Value apply_int(Reader *r, int op, Value x, Value y, size_t at)
{
    uint64_t a = x.bits, b = y.bits;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    bool u = x.is_unsigned || y.is_unsigned;
    switch (op) {
    case '+': return make_int(a + b, u);
    case '-': return make_int(a - b, u);
    case '*': return make_int(a * b, u);
    case '/': return make_int(divide(r, a, b, u, at), u);
    case '%': return make_int(a - b * divide(r, a, b, true, at), true);
    case '&': return make_int(a & b, u);
    case '^': return make_int(a ^ b, u);
    case '|': return make_int(a | b, u);
    case T_SHL: return make_int(a << (b & 63), x.is_unsigned);
    case T_SHR: return make_int(x.is_unsigned ? a >> (b & 63) : (uint64_t)(sa >> (b & 63)), x.is_unsigned);
    case '<': return make_int(u ? a < b : sa < sb, false);
    case '>': return make_int(u ? a > b : sa > sb, false);
    case T_LE: return make_int(u ? a <= b : sa <= sb, false);
    case T_GE: return make_int(u ? a >= b : sa >= sb, false);
    case T_EQ: return make_int(a == b, false);
    case T_NE: return make_int(a != b, false);
    case T_ANDAND: return make_int(a && b, false);
    default: return make_int(a || b, false);
    }
}

static Value parse_binary(Reader *r, int minimum, int depth)
{
    Value a = parse_unary(r, depth);
    for (int level; (level = precedence(r->tok)) >= minimum && level;) {
        int op = r->tok;
        size_t at = rd_offset(r);
        rd_next(r);
        Value b = parse_binary(r, level + 1, depth + 1);
        if (a.kind == LIT_F32 || b.kind == LIT_F32)
            rd_fail(r, at, "a 0f constant cannot be part of an expression");
        bool floats = a.kind == LIT_F64 || b.kind == LIT_F64;
        a = floats ? apply_double(r, op, as_double(a), as_double(b), at) : apply_int(r, op, a, b, at);
    }
    return a;
}

static Value parse_ternary(Reader *r, int depth)
{
    Value condition = parse_binary(r, 1, depth);
    if (r->tok != '?')
        return condition;
    rd_next(r);
    Value yes = parse_ternary(r, depth + 1);
    rd_expect(r, ':', "between the arms of `?:`");
    Value no = parse_ternary(r, depth + 1);
    return truth(condition) ? yes : no;
}

Value expr_parse(Reader *r)
{
    // Fast path for a single literal.
    char next = *r->lx.cur;
    if (r->tok == T_INT && (next == ',' || next == ';' || next == ']' || next == '}'))
        return literal(r);
    return parse_ternary(r, 0);
}

int64_t expr_integer(Reader *r, const char *what)
{
    size_t at = rd_offset(r);
    Value v = expr_parse(r);
    if (v.kind != LIT_INT)
        rd_fail(r, at, "%s must be an integer", what);
    return (int64_t)v.bits;
}
