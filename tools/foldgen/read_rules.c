// SPDX-License-Identifier: MIT
// Reads the rules of folding: patterns into trees of nodes, expressions into expressions of C.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/foldgen/read_rules.h"

enum { TEXT_MAX = 1000 };  // of an expression in C

typedef struct Reader {
    RuleTables *set;
    Arena *arena;
    const char *rule, *at;
    int line;         // of the rule
    bool *widths;     // by width: all instructions of the rule exist
    uint32_t ranges;  // bit per variable: its range occurs in the condition
} Reader;

static const struct {
    const char *name, *lhs, *cond, *rhs;
    int line;  // of fold_rules.def
} sources[] = {
#define RULE(name, lhs, cond, rhs) {name, lhs, cond, rhs, __LINE__},
#define CODED(id, name, what)
#include "phases/scalar/fold/fold_rules.def"
#define RULE(...)
#define CODED(id, name, what) {name, what, "", "", __LINE__},
#include "phases/scalar/fold/fold_rules.def"
};

static _Noreturn void fail(const Reader *r, const char *what)
{
    heap_fail(r->arena->heap, ST_INTERNAL, "phases/scalar/fold/fold_rules.def:%d: rule %s: %s at '%.30s'", r->line,
              r->rule, what, r->at);
}

static void skip_blanks(Reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool accept(Reader *r, const char *text)
{
    skip_blanks(r);
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect(Reader *r, const char *text)
{
    char what[40];
    snprintf(what, sizeof what, "expected '%.20s'", text);
    if (!accept(r, text))
        fail(r, what);
}

/* -- Expressions ---------------------------------------------------------------------------------------- */

// Operators. An operator comes before the operators that are prefixes of it.
static const struct {
    const char *text;
    uint8_t level;                // precedence
    const char *before, *middle;  // in C: before the left operand, between the operands
} operators[] = {
    {"<=s", 7, "ex_sle(", ", "}, {"<s", 7, "ex_slt(", ", "}, {"||", 1, "(", " || "},     {"&&", 2, "(", " && "},
    {"==", 6, "(", " == "},      {"!=", 6, "(", " != "},     {"<<", 8, "ex_shl(", ", "}, {">>", 8, "ex_shr(", ", "},
    {"<=", 7, "(", " <= "},      {">=", 7, "(", " >= "},     {"<", 7, "(", " < "},       {">", 7, "(", " > "},
    {"|", 3, "(", " | "},        {"^", 4, "(", " ^ "},       {"&", 5, "(", " & "},       {"+", 9, "(", " + "},
    {"-", 9, "(", " - "},        {"*", 10, "(", " * "},      {"/", 10, "ex_div(", ", "}, {"%", 10, "ex_rem(", ", "},
};

// Functions of numbers, and functions of the range of a value.
static const char *const functions[] = {"sx",     "sx2",    "pow2",  "log2",   "below", "ufits",
                                        "umagic", "ushift", "sfits", "smagic", "sshift"};
static const char *const range_functions[] = {"zeros", "lowzeros", "set", "umin", "umax", "smin", "smax"};

static const char zero[] = "0ull";

static const char *format(const Reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Returns a text in the arena.
static const char *format(const Reader *r, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        fail(r, "long expression");
    return arena_text(r->arena, text, (size_t)n);
}

static const char *read_expression(Reader *r, uint8_t level);

// Reads an expression up to its closing parenthesis.
static const char *read_closed(Reader *r)
{
    const char *c = read_expression(r, 1);
    expect(r, ")");
    return c;
}

static bool accept_call(Reader *r, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(r->at, name, n) != 0 || r->at[n] != '(')
        return false;
    r->at += n + 1;
    return true;
}

static const char *read_primary(Reader *r)
{
    skip_blanks(r);
    for (size_t k = 0; k < ARRAY_LEN(functions); k++)
        if (accept_call(r, functions[k]))
            return format(r, "ex_%s(v, %s)", functions[k], read_closed(r));
    for (size_t k = 0; k < ARRAY_LEN(range_functions); k++) {
        if (accept_call(r, range_functions[k])) {
            int var = *r->at++ - 'p';
            expect(r, ")");
            r->ranges |= 1u << var;
            return format(r, "ex_%s(v, %d)", range_functions[k], var);
        }
    }
    if (accept_call(r, "pays"))
        return format(r, "(v->proving || %s)", read_closed(r));
    if (accept(r, "ones"))
        return "ex_ones(v)";
    if (accept(r, "offset"))
        return "v->offset";
    if (accept(r, "added"))
        return "v->added";
    if (accept(r, "past_calls"))
        return "v->past_calls";
    if (accept(r, "w"))
        return "ex_width(v)";
    if (accept(r, "("))
        return read_closed(r);
    if (accept(r, "-"))
        return format(r, "(0 - %s)", read_primary(r));
    if (accept(r, "~"))
        return format(r, "~%s", read_primary(r));
    if (accept(r, "!"))
        return format(r, "!%s", read_primary(r));
    if (*r->at >= 'C' && *r->at <= 'F')
        return format(r, "v->constant[%d]", *r->at++ - 'C');
    if (!isdigit((unsigned char)*r->at))
        fail(r, "no expression");
    char *end;
    unsigned long long n = strtoull(r->at, &end, 0);
    r->at = end;
    return n ? format(r, "%lluull", n) : zero;
}

static const char *read_expression(Reader *r, uint8_t level)
{
    const char *c = read_primary(r);
    for (;;) {
        size_t k = 0;
        skip_blanks(r);
        while (k < ARRAY_LEN(operators) && strncmp(r->at, operators[k].text, strlen(operators[k].text)) != 0)
            k++;
        if (k == ARRAY_LEN(operators) || operators[k].level < level)
            return c;
        r->at += strlen(operators[k].text);
        const char *right = read_expression(r, operators[k].level + 1);
        c = format(r, "%s%s%s%s)", operators[k].before, c, operators[k].middle, right);
    }
}

// Returns the index of an expression. Equal expressions have one index.
static uint16_t read_expr(Reader *r)
{
    RuleTables *set = r->set;
    const char *c = read_expression(r, 1);
    for (uint32_t k = 1; k < set->exprs.n; k++)
        if (strcmp(set->exprs.at[k], c) == 0)
            return (uint16_t)k;
    VEC_PUSH(r->arena, &set->exprs, c);
    return (uint16_t)(set->exprs.n - 1);
}

/* -- Patterns ------------------------------------------------------------------------------------------- */

static RuleType read_type(Reader *r)
{
    RuleType t = {.letter = *r->at++};
    t.times = *r->at == '2' ? 1 : *r->at == '4' ? 2 : 0;
    r->at += t.times > 0;
    return t;
}

// Returns the type at a width; TY_NONE = it does not exist.
static Type type_at(RuleType t, uint32_t bits)
{
    static const struct {
        char letter;
        TypeClass class;
    } classes[] = {{'i', TC_S}, {'s', TC_S}, {'u', TC_U}, {'a', TC_B}, {'b', TC_B}, {'f', TC_F}};
    bits <<= t.times;
    if (t.letter == 'p')
        return TY_PRED;
    for (size_t k = 0; k < ARRAY_LEN(classes); k++)
        if (classes[k].letter == t.letter)
            return type_make(classes[k].class, bits == 16 ? W16 : bits == 32 ? W32 : bits == 64 ? W64 : W_NONE);
    return TY_NONE;
}

// Looks up the instruction of a node at each width at which it exists.
static void look_up(Reader *r, RuleNode *n, const char *name, size_t len)
{
    Tables *tables = &r->set->tables;
    n->op = OPCODE_COUNT;
    for (uint32_t w = 0; w < RULE_WIDTHS; w++) {
        Mnem m = *tab_mnem(tables, mnem_intern(tables, name, len));
        bool there = m.first != OP_OPAQUE;
        for (int k = 0; k < 2 && n->type[k].letter; k++) {
            m.type[k] = (uint8_t)type_at(n->type[k], rule_bits(w));
            there &= m.type[k] != TY_NONE;
            m.ntypes++;
        }
        DescId id = there ? desc_of_mnem(tables, &m, rule_shape(n)) : 0;
        const Desc *d = id ? tab_desc(tables, id) : NULL;
        if (!d || d->op == OP_OPAQUE) {
            r->widths[w] = false;
            continue;
        }
        n->op = (uint16_t)d->op;
        n->commutes = d->traits & TR_COMM;
        n->cmp = tab_mnem(tables, d->mnem)->mod[MC_CMP];
        n->needs[w] = d->needs;
        n->mnem[w] = (uint16_t)d->mnem;
    }
    if (n->op == OPCODE_COUNT)
        fail(r, "no such instruction");
}

// Returns the source that an operand must have to match a node (RuleNode.from).
static uint8_t source_of(const RuleTables *set, const RuleNode *n)
{
    switch ((RuleNodeKind)n->kind) {
    case RN_OP: return FROM_OP;
    case RN_VALUE: return FROM_ANY;
    case RN_CONST: return FROM_CONSTANT;
    case RN_EXPR: return strcmp(set->exprs.at[n->expr], zero) == 0 ? FROM_ZERO : FROM_CONSTANT;
    }
    return FROM_ANY;
}

static uint16_t add_node(Reader *r, RuleNode n)
{
    n.from = source_of(r->set, &n);
    VEC_PUSH(r->arena, &r->set->nodes, n);
    return (uint16_t)(r->set->nodes.n - 1);
}

static uint16_t read_pattern(Reader *r)
{
    bool sums = accept(r, "+");
    RuleNode n = {.single = sums || accept(r, "^"), .sums = sums};
    skip_blanks(r);
    if (accept(r, "{")) {
        n.kind = RN_EXPR;
        n.expr = read_expr(r);
        expect(r, "}");
        return add_node(r, n);
    }
    if (isdigit((unsigned char)*r->at)) {
        n.kind = RN_EXPR;
        n.expr = read_expr(r);
        return add_node(r, n);
    }
    if (!accept(r, "(")) {
        bool constant = *r->at >= 'C' && *r->at <= 'F';
        if (!constant && (*r->at < 'p' || *r->at > 'z'))
            fail(r, "no pattern");
        n.kind = constant ? RN_CONST : RN_VALUE;
        n.var = (uint8_t)(*r->at - (constant ? 'C' : 'p'));
        r->at++;
        return add_node(r, n);
    }
    n.kind = RN_OP;
    const char *name = r->at;
    size_t len = strcspn(name, ":");
    r->at += len;
    expect(r, ":");
    n.type[0] = read_type(r);
    if (accept(r, "."))
        n.type[1] = read_type(r);
    while (!accept(r, ")")) {
        if (n.nkids == RULE_KIDS)
            fail(r, "many operands");
        n.kids[n.nkids++] = read_pattern(r);
    }
    look_up(r, &n, name, len);
    return add_node(r, n);
}

/* -- The set -------------------------------------------------------------------------------------------- */

// True if an instruction in a pattern has a type other than predicate, so that it determines the width.
static bool has_width(const RuleTables *set, uint16_t node)
{
    const RuleNode *n = &set->nodes.at[node];
    bool has = n->kind == RN_OP && n->type[0].letter != 'p';
    for (uint32_t k = 0; k < n->nkids; k++)
        has |= has_width(set, n->kids[k]);
    return has;
}

// Raises the PTX version and target that a rule needs at each width to those of the instructions of a result.
static void add_needs(const RuleTables *set, uint16_t node, Rule *rule)
{
    const RuleNode *n = &set->nodes.at[node];
    for (uint32_t w = 0; w < RULE_WIDTHS && n->kind == RN_OP; w++) {
        rule->needs[w].version = MAX(rule->needs[w].version, n->needs[w].version);
        rule->needs[w].sm = MAX(rule->needs[w].sm, n->needs[w].sm);
    }
    for (uint32_t k = 0; k < n->nkids; k++)
        add_needs(set, n->kids[k], rule);
}

static void read_rule(Reader *r, Rule *rule, uint32_t k)
{
    rule->cond = sources[k].cond;
    rule->rhs = sources[k].rhs;
    r->rule = rule->name;
    r->line = sources[k].line;
    r->widths = rule->at;
    for (uint32_t w = 0; w < RULE_WIDTHS; w++)
        rule->at[w] = true;
    r->at = rule->lhs;
    rule->from = read_pattern(r);
    r->at = rule->cond;
    r->ranges = 0;
    rule->when = *r->at ? read_expr(r) : 0;
    rule->compares = r->ranges & (r->ranges - 1) ? (uint16_t)r->ranges : 0;
    r->at = rule->rhs;
    rule->to = read_pattern(r);
    const RuleNode *nodes = r->set->nodes.at, *root = &nodes[rule->from];
    if (*r->at || root->kind != RN_OP)
        fail(r, "no rule");
    add_needs(r->set, rule->to, rule);
    rule->widths = root->type[0].letter == 'p' && has_width(r->set, rule->from);
    const RuleNode *first = &nodes[root->kids[0]], *second = &nodes[root->kids[1]];
    const RuleNode *to = &nodes[rule->to];
    rule->deep = to->kind == RN_OP && to->nkids > root->nkids;
    for (uint32_t kid = 0; to->kind == RN_OP && kid < to->nkids; kid++)
        rule->deep |= nodes[to->kids[kid]].kind == RN_OP;
    rule->offset = strstr(rule->cond, "offset") != NULL;
    rule->added = strstr(rule->cond, "added") != NULL;
    rule->past_calls = strstr(rule->cond, "past_calls") != NULL;
    rule->same = root->nkids > 1 && first->kind == RN_VALUE && second->kind == RN_VALUE && first->var == second->var;
}

void rules_read(Arena *arena, RuleTables *set)
{
    Reader r = {.set = set, .arena = arena};
    tables_init(&set->tables, arena, NULL);
    VEC_PUSH(arena, &set->exprs, NULL);
    VEC_PUSH(arena, &set->rules, (Rule){0});
    set->npatterns = ARRAY_LEN(sources) - CODED_COUNT;
    for (uint32_t k = 0; k < ARRAY_LEN(sources); k++) {
        Rule rule = {.name = sources[k].name, .lhs = sources[k].lhs};
        if (k < set->npatterns)
            read_rule(&r, &rule, k);
        VEC_PUSH(arena, &set->rules, rule);
    }
}
