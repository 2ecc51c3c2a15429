// SPDX-License-Identifier: MIT
// The rules of folding at run time: numbers of divisions, and rules by name. foldgen makes the tables from
// fold_rules.def when the program is built.
#include <stdio.h>

#include "phases/scalar/fold/fold_expr.h"

/* -- Division ------------------------------------------------------------------------------------------- */

/* Division by a constant as multiplication: Granlund and Montgomery, "Division by invariant integers using
   multiplication" (1994). x / d is the upper half of x * m, shifted right by s, where m = 2^(bits + s) / d, rounded up.
   The error of m is too small to change the quotient of any x of `bits` bits. */

__extension__ typedef unsigned __int128 Wide;

RuleMagic rule_magic(uint64_t d, uint32_t bits, bool is_signed)
{
    uint32_t most = d > 1 ? 64 - (uint32_t)__builtin_clzll(d - 1) : 0;  // log2 d, rounded up
    uint64_t limit = UINT64_MAX >> (64 - bits + is_signed);
    if (d < 2)
        return (RuleMagic){.fits = false};
    for (uint32_t s = 0; s + is_signed <= most && bits + s < 128; s++) {
        Wide power = (Wide)1 << (bits + s), m = power / d + 1;
        if (m <= limit && m * d - power <= (Wide)1 << (s + is_signed))
            return (RuleMagic){true, (uint64_t)m, s};
    }
    uint32_t s = most - is_signed;
    // 2^(bits + s) - 2^bits * d fits into Wide; 2^(bits + s) may not.
    Wide rest = is_signed ? ((Wide)1 << (bits + s)) / d : (((Wide)(((Wide)1 << s) - d)) << bits) / d;
    return (RuleMagic){false, (uint64_t)(rest + 1) & (UINT64_MAX >> (64 - bits)), s};
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static bool find_named(const char *text, size_t len, bool *off, char why[static 500])
{
    char pattern[64];
    bool found = false;
    snprintf(pattern, sizeof pattern, "%.*s", (int)MIN(len, sizeof pattern - 1), text);
    for (uint32_t k = 1; k <= fold_rules.n; k++) {
        if (!glob_match(pattern, fold_rules.rules[k].name, strlen(fold_rules.rules[k].name), true))
            continue;
        found = true;
        if (off)
            off[k] = true;
    }
    if (found)
        return true;
    Nearest best = {0};
    for (uint32_t k = 1; k <= fold_rules.n; k++)
        nearest_offer(&best, text, len, fold_rules.rules[k].name);
    int n = snprintf(why, 500, "'%s' is not a folding rule", pattern);
    nearest_print(&best, why + n, 500 - (size_t)n);
    return false;
}

bool rules_find(const char *names, bool *off, char why[static 500])
{
    for (size_t len; *names; names += len + (names[len] != 0)) {
        len = strcspn(names, ",+ \t");
        if (len && !find_named(names, len, off, why))
            return false;
    }
    return true;
}

uint64_t *rule_uses(Ctx *ctx)
{
    if (!ctx->rule_uses)
        ctx->rule_uses = NEW_ARRAY(&ctx->arena, uint64_t, fold_rules.n + 1);
    return ctx->rule_uses;
}

bool rules_match_single(const Fn *fn, const Analyses *a, Arena *scratch, const RegId *regs, uint32_t n)
{
    uint32_t *bit = n ? NEW_ARRAY(scratch, uint32_t, fn->regs.n) : NULL;  // single_def by RegId, if it has one use
    uint32_t any = 0, found = 0;
    for (uint32_t k = 0; k < n; k++) {
        InstrId def = nuses_of(a, regs[k]) == 1 ? def_of(a, regs[k]) : 0;
        bit[regs[k]] = def ? fold_rules.single_def[ir_desc(fn, ir_instr(fn, def))->op] : 0;
        any |= bit[regs[k]];
    }
    for (BlockId b = any ? fn->first : 0; b && !found; b = ir_block(fn, b)->next) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            uint32_t wanted = fold_rules.single_user[ir_desc(fn, i)->op] & any;
            for (uint32_t k = 0; wanted && k < ir_nuse(i); k++) {
                Operand use = *ir_use(fn, i, k);
                found |= op_is_reg(use) ? wanted & bit[op_index(use)] : 0;
            }
        }
    }
    return found;
}
