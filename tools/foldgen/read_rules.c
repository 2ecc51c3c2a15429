// SPDX-License-Identifier: MIT
// Reads the rules of folding: patterns into trees of nodes, expressions into code for a stack machine.
#include <ctype.h>
#include <stdlib.h>

#include "tools/foldgen/read_rules.h"

typedef struct Reader {
    RuleTables *set;
    Arena *arena;
    const char *rule, *at;
    bool *widths;  // by width: all instructions of the rule exist
} Reader;

static const struct {
    const char *name, *lhs, *cond, *rhs;
} sources[] = {
#define RULE(name, lhs, cond, rhs) {name, lhs, cond, rhs},
#define CODED(id, name, what)
#include "phases/scalar/fold/fold_rules.def"
#define RULE(...)
#define CODED(id, name, what) {name, what, "", ""},
#include "phases/scalar/fold/fold_rules.def"
};

static _Noreturn void fail(const Reader *r, const char *what)
{
    heap_fail(r->arena->heap, ST_INTERNAL, "rule %s: %s at '%.30s'", r->rule, what, r->at);
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
    if (!accept(r, text))
        fail(r, text);
}

/* -- Expressions ---------------------------------------------------------------------------------------- */

// Operators of C. An operator comes before the operators that are prefixes of it.
static const struct {
    const char *text;
    uint8_t level;  // precedence
    uint8_t op;
} operators[] = {
    {"<=s", 7, X_SLE}, {"<s", 7, X_SLT}, {"||", 1, X_EITHER}, {"&&", 2, X_BOTH}, {"==", 6, X_EQ},
    {"!=", 6, X_NE},   {"<<", 8, X_SHL}, {">>", 8, X_SHR},    {"<=", 7, X_LE},   {">=", 7, X_GE},
    {"<", 7, X_LT},    {">", 7, X_GT},   {"|", 3, X_OR},      {"^", 4, X_XOR},   {"&", 5, X_AND},
    {"+", 9, X_ADD},   {"-", 9, X_SUB},  {"*", 10, X_MUL},    {"/", 10, X_DIV},  {"%", 10, X_REM},
};

static const struct {
    const char *text;
    uint8_t op;
} functions[] = {{"sx2(", X_SX2},     {"sx(", X_SX},         {"pow2(", X_POW2},     {"log2(", X_LOG2},
                 {"ufits(", X_UFITS}, {"umagic(", X_UMAGIC}, {"ushift(", X_USHIFT}, {"sfits(", X_SFITS},
                 {"pays(", X_PAYS},   {"smagic(", X_SMAGIC}, {"sshift(", X_SSHIFT}};

// Functions of value ranges.
static const struct {
    const char *text;
    uint8_t op;
} range_functions[] = {{"zeros(", X_ZEROS}, {"set(", X_SET},   {"umin(", X_UMIN},
                       {"umax(", X_UMAX},   {"smin(", X_SMIN}, {"smax(", X_SMAX}};

static void emit_word(Reader *r, uint64_t word) { VEC_PUSH(r->arena, &r->set->code, word); }

static void read_expression(Reader *r, uint8_t level);

static void read_primary(Reader *r)
{
    skip_blanks(r);
    for (size_t k = 0; k < ARRAY_LEN(functions); k++) {
        if (accept(r, functions[k].text)) {
            read_expression(r, 1);
            expect(r, ")");
            emit_word(r, functions[k].op);
            return;
        }
    }
    for (size_t k = 0; k < ARRAY_LEN(range_functions); k++) {
        if (accept(r, range_functions[k].text)) {
            emit_word(r, range_functions[k].op | (uint64_t)(*r->at++ - 'p') << 8);
            expect(r, ")");
            return;
        }
    }
    if (accept(r, "ones")) {
        emit_word(r, X_ONES);
    } else if (accept(r, "offset")) {
        emit_word(r, X_OFFSET);
    } else if (accept(r, "past_calls")) {
        emit_word(r, X_PAST_CALLS);
    } else if (accept(r, "w")) {
        emit_word(r, X_BITS);
    } else if (accept(r, "(")) {
        read_expression(r, 1);
        expect(r, ")");
    } else if (accept(r, "-")) {
        read_primary(r);
        emit_word(r, X_NEG);
    } else if (accept(r, "~")) {
        read_primary(r);
        emit_word(r, X_COMPLEMENT);
    } else if (accept(r, "!")) {
        read_primary(r);
        emit_word(r, X_NOT);
    } else if (*r->at >= 'C' && *r->at <= 'F') {
        emit_word(r, X_CONST | (uint64_t)(*r->at++ - 'C') << 8);
    } else if (isdigit((unsigned char)*r->at)) {
        char *end;
        uint64_t n = strtoull(r->at, &end, 0);
        r->at = end;
        emit_word(r, X_NUMBER);
        emit_word(r, n);
    } else {
        fail(r, "no expression");
    }
}

static void read_expression(Reader *r, uint8_t level)
{
    read_primary(r);
    for (;;) {
        size_t k = 0;
        skip_blanks(r);
        while (k < ARRAY_LEN(operators) && strncmp(r->at, operators[k].text, strlen(operators[k].text)) != 0)
            k++;
        if (k == ARRAY_LEN(operators) || operators[k].level < level)
            return;
        r->at += strlen(operators[k].text);
        read_expression(r, operators[k].level + 1);
        emit_word(r, operators[k].op);
    }
}

static uint16_t read_code(Reader *r)
{
    uint32_t begin = r->set->code.n;
    read_expression(r, 1);
    emit_word(r, X_END);
    return (uint16_t)begin;
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

static uint16_t add_node(Reader *r, RuleNode n)
{
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
        n.expr = read_code(r);
        expect(r, "}");
        return add_node(r, n);
    }
    if (isdigit((unsigned char)*r->at)) {
        n.kind = RN_EXPR;
        n.expr = read_code(r);
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

static uint32_t need_of(const RuleTables *set, const RuleNode *n)
{
    const uint64_t *code = set->code.at + n->expr;
    switch ((RuleNodeKind)n->kind) {
    case RN_OP: return from_op((Opcode)n->op, n->cmp);
    case RN_VALUE: return FROM_ANY;
    case RN_CONST: return FROM_CONSTANT;
    case RN_EXPR: return code[0] == X_NUMBER && !code[1] && code[2] == X_END ? FROM_ZERO : FROM_CONSTANT;
    }
    return FROM_ANY;
}

static void read_rule(Reader *r, Rule *rule, uint32_t k)
{
    rule->cond = sources[k].cond;
    rule->rhs = sources[k].rhs;
    r->rule = rule->name;
    r->widths = rule->at;
    for (uint32_t w = 0; w < RULE_WIDTHS; w++)
        rule->at[w] = true;
    r->at = rule->lhs;
    rule->from = read_pattern(r);
    r->at = rule->cond;
    rule->when = *r->at ? read_code(r) : 0;
    r->at = rule->rhs;
    rule->to = read_pattern(r);
    const RuleNode *nodes = r->set->nodes.at, *root = &nodes[rule->from];
    if (*r->at || root->kind != RN_OP)
        fail(r, "no rule");
    add_needs(r->set, rule->to, rule);
    rule->widths = root->type[0].letter == 'p' && has_width(r->set, rule->from);
    for (uint32_t kid = 0; kid < root->nkids; kid++)
        rule->need[kid] = need_of(r->set, &nodes[root->kids[kid]]);
    const RuleNode *first = &nodes[root->kids[0]], *second = &nodes[root->kids[1]];
    const RuleNode *to = &nodes[rule->to];
    rule->deep = to->kind == RN_OP && to->nkids > root->nkids;
    for (uint32_t kid = 0; to->kind == RN_OP && kid < to->nkids; kid++)
        rule->deep |= nodes[to->kids[kid]].kind == RN_OP;
    rule->offset = strstr(rule->cond, "offset") != NULL;
    rule->past_calls = strstr(rule->cond, "past_calls") != NULL;
    rule->same = root->nkids > 1 && first->kind == RN_VALUE && second->kind == RN_VALUE && first->var == second->var;
}

void rules_read(Arena *arena, RuleTables *set)
{
    Reader r = {.set = set, .arena = arena};
    tables_init(&set->tables, arena, NULL);
    emit_word(&r, X_END);  // code 0 = none
    VEC_PUSH(arena, &set->rules, (Rule){0});
    set->npatterns = ARRAY_LEN(sources) - CODED_COUNT;
    for (uint32_t k = 0; k < ARRAY_LEN(sources); k++) {
        Rule rule = {.name = sources[k].name, .lhs = sources[k].lhs};
        if (k < set->npatterns)
            read_rule(&r, &rule, k);
        VEC_PUSH(arena, &set->rules, rule);
    }
}
