// SPDX-License-Identifier: MIT
// foldgen: prints the rules of folding as the tables of fold_rules.h, in C.
//
//     foldgen >fold_tables.c
//
// The build runs it. Programs that read the rules at their start spent 9.2 of 9.8 million instructions on that for a
// tiny file. Exit status 0, 1 for a mistake in a rule.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/foldgen/read_rules.h"

enum { PER_LINE = 16 };

static void print_isa(const Isa *needs)
{
    printf("{");
    for (uint32_t w = 0; w < RULE_WIDTHS; w++)
        printf("{%u, %u}, ", needs[w].version, needs[w].sm);
    printf("}");
}

static void print_mnems(const RuleTables *t)
{
    printf("static const Mnem mnems[] = {\n");
    for (uint32_t k = 0; k < t->tables.mnems.n; k++) {
        const Mnem *m = &t->tables.mnems.at[k];
        printf("    {%u, %u, {%u, %u, %u}, {", m->first, m->ntypes, m->type[0], m->type[1], m->type[2]);
        for (uint32_t c = 0; c < MC_COUNT; c++)
            printf("%u, ", m->mod[c]);
        printf("}, 0, 0},\n");
    }
    printf("};\n\n");
}

static void print_nodes(const RuleTables *t)
{
    printf("static const RuleNode nodes[] = {\n");
    for (uint32_t k = 0; k < t->nodes.n; k++) {
        const RuleNode *n = &t->nodes.at[k];
        printf("    {%u, %u, %d, %d, %d, %u, %u, %u, {", n->kind, n->var, n->single, n->sums, n->commutes, n->op,
               n->cmp, n->nkids);
        for (uint32_t kid = 0; kid < RULE_KIDS; kid++)
            printf("%u, ", n->kids[kid]);
        printf("}, %u, {{%d, %u}, {%d, %u}}, %u, {", n->from, n->type[0].letter, n->type[0].times, n->type[1].letter,
               n->type[1].times, n->expr);
        for (uint32_t w = 0; w < RULE_WIDTHS; w++)
            printf("%u, ", n->mnem[w]);
        printf("}, ");
        print_isa(n->needs);
        printf("},\n");
    }
    printf("};\n\n");
}

static void print_exprs(const RuleTables *t)
{
    for (uint32_t k = 1; k < t->exprs.n; k++)
        printf("static uint64_t expr_%u(RuleValues *v) { return (void)v, %s; }\n", k, t->exprs.at[k]);
    printf("static RuleExpr *const exprs[] = {\n    0,");
    for (uint32_t k = 1; k < t->exprs.n; k++)
        printf("%sexpr_%u,", k % PER_LINE ? " " : "\n    ", k);
    printf("\n};\n\n");
}

// Prints a text of fold_rules.def, in which nothing needs an escape.
static void print_text(const char *text)
{
    if (text)
        printf("\"%s\", ", text);
    else
        printf("0, ");
}

static void print_rules(const RuleTables *t)
{
    printf("static const Rule rules[] = {\n");
    for (uint32_t k = 0; k < t->rules.n; k++) {
        const Rule *r = &t->rules.at[k];
        printf("    {");
        print_text(r->name);
        print_text(r->lhs);
        print_text(r->cond);
        print_text(r->rhs);
        printf("%u, %u, %u, {", r->from, r->to, r->when);
        for (uint32_t w = 0; w < RULE_WIDTHS; w++)
            printf("%d, ", r->at[w]);
        printf("}, ");
        print_isa(r->needs);
        printf(", %d, %d, %d, %d, %d, %d, %u},\n", r->same, r->offset, r->added, r->past_calls, r->deep, r->widths,
               r->compares);
    }
    printf("};\n\n");
}

// Gives a bit to each opcode of an instruction that must have one use, and to its users the bits that they read.
static void find_singles(const RuleTables *t, uint32_t def_bit[OPCODE_COUNT], uint32_t user_bits[OPCODE_COUNT])
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->nodes.n; k++) {
        const RuleNode *node = &t->nodes.at[k];
        for (uint32_t kid = 0; node->kind == RN_OP && kid < node->nkids; kid++) {
            const RuleNode *def = &t->nodes.at[node->kids[kid]];
            if (!def->single)
                continue;
            if (!def_bit[def->op] && n == 32) {
                fprintf(stderr, "foldgen: single uses of more than 32 opcodes: widen RuleSet.single_def\n");
                exit(1);
            }
            if (!def_bit[def->op])
                def_bit[def->op] = 1u << n++;
            user_bits[node->op] |= def_bit[def->op];
        }
    }
}

// Prints a number for each opcode.
static void print_by_opcode(const uint32_t *number)
{
    printf("    {");
    for (uint32_t op = 0; op < OPCODE_COUNT; op++)
        printf("%s%u,", op % PER_LINE ? " " : "\n     ", number[op]);
    printf("},\n");
}

// Prints the rules by opcode of their root, and the set.
static void print_set(const RuleTables *t)
{
    uint32_t first[OPCODE_COUNT + 1], n = 0, def_bit[OPCODE_COUNT] = {0}, user_bits[OPCODE_COUNT] = {0};
    find_singles(t, def_bit, user_bits);
    printf("static const uint16_t by[] = {");
    for (uint32_t op = 0; op < OPCODE_COUNT; op++) {
        first[op] = n;
        for (uint32_t k = 1; k <= t->npatterns; k++)
            if (t->nodes.at[t->rules.at[k].from].op == op)
                printf("%s%u,", n++ % PER_LINE ? " " : "\n    ", k);
    }
    first[OPCODE_COUNT] = n;
    printf("\n};\n\nconst RuleSet fold_rules = {\n    rules, %u, %u, %u, nodes, mnems, exprs,\n", t->rules.n - 1,
           t->npatterns, t->nodes.n);
    print_by_opcode(first);
    print_by_opcode(first + 1);
    printf("    by,\n");
    print_by_opcode(def_bit);
    print_by_opcode(user_bits);
    printf("};\n");
}

int main(void)
{
    jmp_buf unwind;
    Heap heap = {.unwind = &unwind};
    Arena arena;
    RuleTables tables = {0};
    if (setjmp(unwind)) {
        fprintf(stderr, "foldgen: %s\n", heap.message);
        return 1;
    }
    arena_init(&arena, &heap);
    rules_read(&arena, &tables);
    printf("// Made by foldgen from fold_rules.def.\n#include \"phases/scalar/fold/fold_expr.h\"\n\n");
    print_mnems(&tables);
    print_nodes(&tables);
    print_exprs(&tables);
    print_rules(&tables);
    print_set(&tables);
    heap_release(&heap);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
