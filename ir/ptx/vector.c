// SPDX-License-Identifier: MIT
// Replaces vector registers that are formals or arguments, as in `.func (.reg .v2 .u32 o) f (.reg .v4 .f32 i)` and
// `call (t), f, (v)`, by arrays of bytes in .param space, in which the ABI passes them.
//
// The array of a formal is aligned to its size. The elements are ordinary registers, loaded at the start of the body or
// stored before each `ret`. A call gets such an array for each vector, stored before the call or loaded after it.
//
//     .func (.reg .v2 .u32 o) f (.reg .v2 .u32 i)      .func (.param .align 8 .b8 o[8]) f (.param .align 8 .b8 i[8])
//     {                                                {
//                                                          ld.param.v2.b32 {%r1, %r2}, [i];
//         mov.v2.u32 o, i;                         ->      mov.b32 %r3, %r1; mov.b32 %r4, %r2;
//                                                          st.param.v2.b32 [o], {%r3, %r4};
//         ret;                                             ret;
//     }                                                }
//
// If elements have 32 or 64 bits, ptxas generates the same code from both forms, for caller and callee (compared with
// `-c`). Narrower elements, which ptxas passes in another way, are an error if the caller or callee may be in another
// module. These cases are functions that are not local to the module, and prototypes of indirect calls. Scalars instead
// of the array were rejected: several results turn off the ABI for the whole module.
#include <stdio.h>

#include "ir/ptx/read.h"

// Makes the symbol an array in .param space that holds a vector.
static void make_array(Sym *s, Type type, uint32_t vec)
{
    uint32_t bytes = width_bits(type_info[type].width) / 8 * vec;
    s->space = SP_PARAM;
    s->type = TY_B8;
    s->vec = 0;
    s->align = bytes;
    s->flags |= SYM_ARRAY | SYM_ALIGNED;
    s->count = s->size = bytes;
}

// Appends a load or a store of all elements of a vector.
static void append_access(Reader *r, Opcode op, const Vector *v)
{
    Operand ops[6], address[2] = {op_sym(v->sym), op_const(r->fn, 0, W64)};
    bool load = op == OP_LD;
    Type type = type_make(TC_B, (Width)ir_reg(r->fn, v->reg)->width);
    DescId desc = desc_make(r->t, op, type, .mods = {MOD_PARAM, v->count == 2 ? MOD_V2 : MOD_V4});
    memcpy(load ? ops + v->count : ops, address, sizeof address);
    for (uint32_t k = 0; k < v->count; k++) {
        Operand element = op_reg(r->fn, v->reg + k);
        ops[load ? k : k + 2] = load ? op_def(element) : element;
    }
    rd_need_block(r);
    InstrId id = ir_append(r->fn, r->block, desc, 0, ops, v->count + 2);
    ir_instr(r->fn, id)->line = r->line;
    rd_note_param(r, id, op);
}

void vector_formal(Reader *r, SymId sym, RegId reg, bool returns, size_t at)
{
    Sym *s = ir_sym(r->fn, sym);
    Type type = (Type)s->type;
    uint32_t count = s->vec;
    bool narrow = type_info[type].width < W32;
    if (s->flags & SYM_ARRAY)
        rd_fail(r, at, "a register parameter cannot be an array");
    if (type_info[type].width == W1 || width_bits(type_info[type].width) * count > 128)
        rd_fail(r, at, "a vector parameter has at most 128 bits, and no predicates");
    if (!reg && narrow)
        rd_fail(r, at, "a prototype with vectors of 8-bit or 16-bit elements is not supported");
    make_array(s, type, count);
    if (reg)
        VEC_PUSH(&r->arena, &r->vectors,
                 ((Vector){.sym = sym, .reg = reg, .count = count, .returns = returns, .at = at}));
}

void vector_check_linkage(Reader *r, uint32_t flags)
{
    for (uint32_t k = 0; k < r->vectors.n && flags & (SYM_VISIBLE | SYM_EXTERN | SYM_WEAK); k++)
        if (ir_reg(r->fn, r->vectors.at[k].reg)->width < W32)
            rd_fail(r, r->vectors.at[k].at,
                    "vectors of 8-bit or 16-bit elements are supported in functions of this module only: remove "
                    ".visible, .weak or .extern");
}

void vector_load_formals(Reader *r)
{
    for (uint32_t k = 0; k < r->vectors.n; k++)
        if (!r->vectors.at[k].returns)
            append_access(r, OP_LD, &r->vectors.at[k]);
}

void vector_store_results(Reader *r)
{
    for (uint32_t k = 0; k < r->vectors.n; k++)
        if (r->vectors.at[k].returns)
            append_access(r, OP_ST, &r->vectors.at[k]);
}

SymId vector_argument(Reader *r, RegId reg, uint32_t count, bool result)
{
    Name name = {str_intern_z(&r->t->strs, result ? "vector_result" : "vector_argument"), NO_NUMBER};
    SymId sym = fn_sym(r->fn, scope_unique(r, name), SYM_CALLPARAM);
    static const Type bits[WIDTH_COUNT] = {[W8] = TY_B8, [W16] = TY_B16, [W32] = TY_B32, [W64] = TY_B64};
    make_array(ir_sym(r->fn, sym), bits[ir_reg(r->fn, reg)->width], count);
    Vector v = {.sym = sym, .reg = reg, .count = count};
    if (result)
        VEC_PUSH(&r->arena, &r->results, v);
    else
        append_access(r, OP_ST, &v);
    return sym;
}

void vector_load_results(Reader *r)
{
    for (uint32_t k = 0; k < r->results.n; k++)
        append_access(r, OP_LD, &r->results.at[k]);
    r->results.n = 0;
}
