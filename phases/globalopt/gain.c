// SPDX-License-Identifier: MIT
// Estimates what GlobalOpt (row 163) removes if a call is inlined.
//
// A variable whose address is passed stays as it is, since the callee accesses it through a parameter. Once the call is
// inlined, loads of a variable that keeps its initial value become constants (constants.c). So the inliner subtracts
// the number of these loads from the growth by the call. Nothing is changed here, and nothing is proven: other code may
// write the variable, or let its address escape, and GlobalOpt finds that later.
//
//     const @t align 4 size 16 = { ... }           inlined, the loads are constants: gain of 2 accesses and 128 bits
//     device @f(@p: 64) {
//       R1 = ld.param.b64 [@p]
//       R2 = ld.u32 [R1]; R3 = ld.u32 [R1+12]
//     }
//     R4 = cvta.const.u64 @t; call @f, (R4)
//
// Not counted:
//     ld.u32 [R1+R5]                               its index is unknown
//     st.u32 [R1], 5; call @g, (R1)                the variable may not keep its value
//     .shared variables                            they lose accesses only if no code reads some field
//     variables that are not internalized          a host may write them
//
// Documented: that the cost model of the inliner asks GlobalOpt. Inferred: the unit, a load for an instruction.
#include "phases/globalopt/gain.h"

#include "phases/globalopt/globalopt.h"

static bool is_enabled(Ctx *ctx)
{
    return ctx->internalized && !ctx->plan.off[PH_GLOBAL_OPT] && !knob_is_set(&ctx->knobs, KNOB_GLOBAL_OPT_DISABLE);
}

// Returns the symbol whose address the result of an instruction is, for the registers that were seen before.
static SymId symbol_of_result(const Fn *fn, const Instr *i, const SymId *of)
{
    const Desc *d = ir_desc(fn, i);
    Operand from = ir_nuse(i) ? *ir_use(fn, i, 0) : op_none();
    SymId held = op_is_reg(from) && !from.mods ? of[op_index(from)] : 0;
    switch (d->op) {
    case OP_ADDR:
    case OP_CVTA_ADDR: return op_kind(from) == K_SYM ? op_index(from) : 0;
    case OP_MOV:
    case OP_CVTA:
    case OP_CVTA_TO: return held;
    case OP_ADD: return op_is_const(*ir_use(fn, i, 1)) ? held : 0;
    case OP_LD:
        return op_kind(from) == K_SYM && op_index(from) & SYM_LOCAL && ir_sym(fn, op_index(from))->kind == SYM_FORMAL
                   ? op_index(from)
                   : 0;
    default: return 0;
    }
}

// Returns, by RegId, the registers with one definition.
static const bool *find_single(const Fn *fn, Arena *arena)
{
    bool *single = NEW_ARRAY(arena, bool, fn->regs.n), *seen = NEW_ARRAY(arena, bool, fn->regs.n);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; k < i->ndef; k++) {
                RegId r = op_is_reg(*ir_def(fn, i, k)) ? op_index(*ir_def(fn, i, k)) : 0;
                single[r] = r && !seen[r];
                seen[r] = true;
            }
        }
    return single;
}

static SymId *find_symbols(const Fn *fn, Arena *arena)
{
    const bool *single = find_single(fn, arena);
    SymId *of = NEW_ARRAY(arena, SymId, fn->regs.n);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Operand def = i->ndef == 1 ? *ir_def(fn, i, 0) : op_none();
            if (op_is_reg(def) && single[op_index(def)])
                of[op_index(def)] = symbol_of_result(fn, i, of);
        }
    return of;
}

RegisterSymbols symbols_in_registers(Ctx *ctx, const Fn *fn, Arena *arena)
{
    RegisterSymbols symbols = {0};
    if (is_enabled(ctx))
        symbols = (RegisterSymbols){find_symbols(fn, arena), fn->regs.n};
    return symbols;
}

const uint32_t *loads_through_parameters(Ctx *ctx, const Fn *fn, Arena *arena)
{
    if (!is_enabled(ctx))
        return NULL;
    uint32_t *by_symbol = NEW_ARRAY(arena, uint32_t, fn->syms.n);
    bool *written = NEW_ARRAY(arena, bool, fn->syms.n);
    const SymId *of = find_symbols(fn, arena);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            for (uint32_t k = i->ndef; k < d->nops; k++) {
                Operand o = ir_ops(fn, i)[k];
                uint32_t symbol = op_is_reg(o) ? local_symbol(of[op_index(o)]) : 0;
                by_symbol[symbol] += d->op == OP_LD;
                written[symbol] |= d->traits & TR_WRITE || d->op == OP_CALL;
            }
        }
    uint32_t *loads = NEW_ARRAY(arena, uint32_t, fn->sig.nparams);
    for (uint32_t k = 0; k < fn->sig.nparams; k++) {
        uint32_t symbol = local_symbol(fn->sig.params[k]);
        loads[k] = written[symbol] ? 0 : by_symbol[symbol];
    }
    return loads;
}

GlobalGain globalopt_gain(Ctx *ctx, const Module *m, SymId variable, uint32_t loads)
{
    const Sym *s = &m->syms.at[variable];
    bool constant = s->kind == SYM_VAR && s->init && module_internalizes(ctx, m, variable) &&
                    padded_bits(s) <= (uint64_t)knob_int(&ctx->knobs, KNOB_GLOBAL_OPT_BITS);
    return constant && loads ? (GlobalGain){padded_bits(s), loads} : (GlobalGain){0};
}
