// SPDX-License-Identifier: MIT
// Checks the form of a function: level 3 of the verifier (F1 and F2, and levels 1 and 2: ir/core/verify.c).
//   F3  ssa form: a register that enters ssa (not pinned, not named elsewhere, not the carry) has at most one
//       definition, and exactly one if a reachable block uses it
//   F4  ssa form: a guarded instruction that defines such a register has tied uses
//   F5  phis come first in their block, are not in the entry, and have one input for each predecessor: one if two edges
//       lead here from one block, one for an unreachable predecessor, none for other blocks
//   F6  ssa form: the definition of such a register dominates each use in a reachable block. Within a block the
//       definition comes before the use; a phi uses an input at the end of the predecessor. Tied uses and guards are
//       uses.
//   F7  a phi or a tied use names no register that stays outside ssa
//   F8  successors and reachability that the function keeps equal newly computed ones. Other kept analyses are
//       compared only with --self-check=contracts: after each phase, this takes as long as the phases.
//
// Linear except for the dominators, which only ssa form requires. Dominators are computed anew, so that F6 does not
// rely on kept ones. The check needs them, so it is in ir/analysis and not beside ir/core/verify.c.
#include <stdio.h>

#include "ir/analysis/analysis.h"

typedef struct FormVerifier {
    const Fn *fn;
    InstrId at;
    char *why;
    Arena scratch;
    Analyses an;
    BlockId *defined_in;  // by RegId: the defining block, 0 = none
    bool *passed;         // by RegId: the walk has passed its definition
    BlockId *leads_to;    // by BlockId: the last block with phis of which it is a predecessor
    InstrId *input_of;    // by BlockId: the last phi with an input from it
    char names[2][64];    // of blocks, for messages
    uint32_t nnames;
} FormVerifier;

#define FAIL(v, ...) (snprintf((v)->why, 200, __VA_ARGS__), false)
// Expands to the arguments of `%s%u` for a register.
#define REG_NAME(v, o) reg_file_names[op_file(o)], ir_reg((v)->fn, op_index(o))->ordinal

// Returns the name of a block in Ori text, which is valid until the second call after this one.
static const char *block_name(FormVerifier *v, BlockId b)
{
    const Block *block = ir_block(v->fn, b);
    char *text = v->names[v->nnames++ % ARRAY_LEN(v->names)], label[48];
    if (block->label.stem)
        snprintf(text, sizeof v->names[0], "\"%s\"", name_text(v->fn->tables, block->label, label, sizeof label));
    else
        snprintf(text, sizeof v->names[0], "b%u", block->ordinal);
    return text;
}

static bool in_ssa(const FormVerifier *v, Operand o) { return op_is_reg(o) && reg_in_ssa(ir_reg(v->fn, op_index(o))); }

/* -- Ssa form: definitions ------------------------------------------------------------------------------ */

static bool collect_definitions(FormVerifier *v)
{
    const Fn *fn = v->fn;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            v->at = id;
            for (uint32_t k = 0; k < i->ndef; k++) {
                Operand def = *ir_def(fn, i, k);
                if (!in_ssa(v, def))
                    continue;
                BlockId *place = &v->defined_in[op_index(def)];
                if (*place)
                    return FAIL(v, "%s%u has a second definition; the first is in %s", REG_NAME(v, def),
                                block_name(v, *place));
                if (ir_guarded(i) && !(i->flags & IF_TIED))
                    return FAIL(v, "%s%u is defined under a guard without a tied use", REG_NAME(v, def));
                *place = b;
            }
        }
    }
    return true;
}

/* -- Ssa form: uses ------------------------------------------------------------------------------------- */

static bool check_use(FormVerifier *v, Operand o, BlockId b)
{
    if (!in_ssa(v, o))
        return true;
    BlockId from = v->defined_in[op_index(o)];
    if (!from)
        return FAIL(v, "%s%u is used but has no definition", REG_NAME(v, o));
    if (from == b)
        return v->passed[op_index(o)] || FAIL(v, "%s%u is used before its definition", REG_NAME(v, o));
    return dominates(&v->an, from, b) || FAIL(v, "%s%u is used in %s, which its definition in %s does not dominate",
                                              REG_NAME(v, o), block_name(v, b), block_name(v, from));
}

// Checks an input of a phi. The value of an input from an unreachable block is never used.
static bool check_input(FormVerifier *v, Operand o, BlockId pred)
{
    if (op_is_reg(o) && !in_ssa(v, o))
        return FAIL(v, "a phi uses %s%u, which is not in ssa form", REG_NAME(v, o));
    if (!op_is_reg(o) || !is_reachable(&v->an, pred))
        return true;
    BlockId from = v->defined_in[op_index(o)];
    if (!from)
        return FAIL(v, "%s%u is used but has no definition", REG_NAME(v, o));
    return dominates(&v->an, from, pred) ||
           FAIL(v, "a phi uses %s%u from %s, which its definition in %s does not dominate", REG_NAME(v, o),
                block_name(v, pred), block_name(v, from));
}

/* -- Ssa form: phis ------------------------------------------------------------------------------------- */

// Marks the predecessors of a block; returns their number.
static uint32_t mark_predecessors(FormVerifier *v, BlockId b)
{
    uint32_t n = 0;
    FOR_PREDS(&v->an, b, p) {
        BlockId *mark = &v->leads_to[*p];
        n += *mark != b;
        *mark = b;
    }
    return n;
}

static bool fail_missing_input(FormVerifier *v, InstrId id, BlockId b)
{
    BlockId missing = 0;
    FOR_PREDS(&v->an, b, p)
        if (!missing && v->input_of[*p] != id)
            missing = *p;
    return FAIL(v, "a phi of %s has no input from its predecessor %s", block_name(v, b), block_name(v, missing));
}

static bool check_phi(FormVerifier *v, InstrId id, BlockId b, uint32_t npreds)
{
    const Fn *fn = v->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t n = ir_nuse(i);
    Operand def = *ir_def(fn, i, 0);
    if (b == fn->first)
        return FAIL(v, "the entry block has a phi");
    if (!in_ssa(v, def))
        return FAIL(v, "a phi defines %s%u, which is not in ssa form", REG_NAME(v, def));
    for (uint32_t k = 0; k < n; k += 2) {
        BlockId from = op_index(*ir_use(fn, i, k));
        if (v->leads_to[from] != b)
            return FAIL(v, "a phi of %s has an input from %s, which is not a predecessor", block_name(v, b),
                        block_name(v, from));
        if (v->input_of[from] == id)
            return FAIL(v, "a phi has two inputs from %s", block_name(v, from));
        v->input_of[from] = id;
        if (!check_input(v, *ir_use(fn, i, k + 1), from))
            return false;
    }
    return n / 2 == npreds || fail_missing_input(v, id, b);
}

/* -- Ssa form: the walk --------------------------------------------------------------------------------- */

static bool check_tied(FormVerifier *v, const Instr *i)
{
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand tied = *ir_tied(v->fn, i, k);
        if (op_is_reg(tied) && !in_ssa(v, tied))
            return FAIL(v, "a tied use names %s%u, which is not in ssa form", REG_NAME(v, tied));
    }
    return true;
}

static bool check_uses(FormVerifier *v, const Instr *i, BlockId b)
{
    const Operand *ops = ir_ops(v->fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (!check_use(v, ops[k], b))
            return false;
    return true;
}

static bool check_block(FormVerifier *v, BlockId b)
{
    const Fn *fn = v->fn;
    bool reachable = is_reachable(&v->an, b), start = true;
    uint32_t npreds = ir_is_phi(fn, ir_block(fn, b)->first) ? mark_predecessors(v, b) : 0;
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        Opcode op = ir_desc(fn, i)->op;
        bool phi = op == OP_PHI;
        v->at = id;
        if (phi && !start)
            return FAIL(v, "a phi follows another instruction");
        start = phi;
        if (!check_tied(v, i))
            return false;
        if (phi ? !check_phi(v, id, b, npreds) : reachable && !check_uses(v, i, b))
            return false;
        for (uint32_t k = 0; k < i->ndef; k++)
            if (op_is_reg(*ir_def(fn, i, k)))
                v->passed[op_index(*ir_def(fn, i, k))] = true;
    }
    return true;
}

static bool check_ssa(FormVerifier *v)
{
    const Fn *fn = v->fn;
    v->defined_in = NEW_ARRAY(&v->scratch, BlockId, fn->regs.n);
    v->passed = NEW_ARRAY(&v->scratch, bool, fn->regs.n);
    v->leads_to = NEW_ARRAY(&v->scratch, BlockId, fn->blocks.n);
    v->input_of = NEW_ARRAY(&v->scratch, InstrId, fn->blocks.n);
    analysis_compute(fn, &v->an, AN_DOM);
    if (!collect_definitions(v))
        return false;
    FOR_BLOCKS(fn, b)
        if (!check_block(v, b))
            return false;
    return true;
}

bool fn_verify(const Fn *fn, int level, InstrId *instr, char why[static 200])
{
    if (!ir_verify(fn, level, instr, why))
        return false;
    if (level < VERIFY_FORM)
        return true;
    FormVerifier v = {.fn = fn, .why = why};
    arena_init(&v.scratch, fn->arena.heap);
    analysis_init(&v.an, fn->arena.heap);
    bool ok = fn->form == FORM_MULTI || check_ssa(&v);
    analysis_free(&v.an);
    arena_free(&v.scratch);
    *instr = ok ? 0 : v.at;
    return ok && analysis_check(fn, AN_CFG | AN_RPO, why);
}
