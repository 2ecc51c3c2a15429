// SPDX-License-Identifier: MIT
// Replaces generic accesses by accesses to the state space of their addresses.
//
// Sub-pass: OriInferAddressSpaces, after phase 3 and in the bundle of phase 37. Pointer analysis
// (ir/analysis/pointers.h) finds the underlying object and the space of an address. It propagates through moves, phis,
// selects, sums and conversions from a cvta of a space, or of a symbol in the space. An access at a known offset of a
// variable then names the variable. For any other access the address is computed a second time, in the space. A twin is
// inserted before each instruction that computes the generic address. The twin computes the address in the space, from
// the twins of the operands; the twin of a cvta is a move. The generic computation is dead afterwards if it has no
// other use. cvta.to is replaced by a move of the twin, and isspacep of a known space by a constant.
//
// A kernel parameter declared `.ptr .global` is an address in global memory, and so is one declared `.ptr` or not at
// all with KernelParamsGlobal. This knob states a premise that holds for CUDA: each 64-bit value in the parameters of a
// kernel that is used as an address points to global memory. The compilers of CUDA rely on it, too: nvcc and clang
// insert cvta.to.global after loads of pointer parameters, and of pointers in structures passed by value. The address
// that cudaGetSymbolAddress() returns for a constant variable is for host code only. ir/analysis/param_pointers.c
// decides which values are addresses. The twin of a load of a parameter is a second load. In the samples that nvcc
// -Xcicc -O0 compiles, 557 generic accesses are left without the knob and 70 with it; 125 functions have 4.7 % fewer
// SASS instructions (ptxas 13.0 -O3, sm_80), and none has more.
//
//     R2 = cvta.shared.u64 R1                     R3 = mov.b64 R1
//     R4 = add.s64 R2, R9                    ->   R5 = add.s64 R3, R9
//     R6 = ld.b32 [R4+8]                          R6 = ld.shared.b32 [R5+8]
//
//     R2 = cvta.shared::cluster.u64 R1            ...                      ; may be memory of another CTA
//     P1 = isspacep.shared::cluster R2       ->   P1 = mov.pred 1
//
//     R2 = cvta.local.u64 @x                      ...
//     st.b32 [R2+4], R7                      ->   st.local.b32 [@x+4], R7
//     R8 = cvta.to.local.u64 R2                   R8 = mov.b64 @x's address
//     P1 = isspacep.shared R2                     P1 = mov.pred 0
//
//     R1 = ld.param.b64 [@p]                      R2 = ld.param.b64 [@p]   ; `@p: 64 ptr(global)`, or the knob
//     R3 = add.s64 R1, R9                    ->   R4 = add.s64 R2, R9
//     R6 = ld.b32 [R3+8]                          R6 = ld.global.b32 [R4+8]
//
// Must not fire:
//     R4 = selp.b64 R2, R3, P0                    if R2 and R3 are in two spaces, or one may be any number
//     ld.volatile.b32 [R4]                        ordered accesses stay as they are
//     ld.b32 [R9], R9 a kernel's parameter        its space is unknown without the knob
//     ld.b32 [R9], R9 a function's parameter      its space is always unknown
//     isspacep.shared R9, with the knob           nothing is assumed about R9
//     ld.b32 [R9], `.ptr .shared` or OpenCL       R9 is no generic address, or one in any space
//     atom.add.u32 [R4], R4 in .local             there is no such instruction
//     ld.L1::no_allocate.b32 [R4], R4 in .shared  there is no such instruction
//     ld.b32 [R2], R2 = cvta.shared::cluster R1   ptxas makes the same code for ld.shared::cluster (tried)
//     isspacep.shared::cta R2                     may be true for this R2
//     cvta.to.shared::cta R2                      differs from R1 if R1 is an address of another CTA
//
// Does not do: addresses in `.param`, so pointers in a structure are found only if ld.param reads them.
// Documented: nothing. ptxas does not replace generic accesses (section 6 of ir/ptx/facts.md).
#include "ir/analysis/param_pointers.h"
#include "ir/analysis/pointers.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

enum { TEXT_MAX = 256 };

typedef struct Inference {
    Fn *fn;
    Arena scratch;
    Pointers *pointers;
    RegId nregs;
    DescId ndescs;
    DescId *in_space[SP_GENERIC];  // by DescId: the same access in this space; 0 = none, or not computed yet
    RegId *twin;                   // by RegId: the register with the address in the space; 0 = none
    VEC(RegId) work;               // worklist of registers with a twin that has no definitions yet
    VEC(InstrId) copied;           // instructions that get a twin
    bool progress;
} Inference;

// True for a generic address in a single space, which accesses can name.
static bool has_space(const Pointer *o)
{
    return o->kind == OR_ADDRESS && o->generic &&
           (o->space == SP_GLOBAL || o->space == SP_SHARED || o->space == SP_CLUSTER || o->space == SP_LOCAL ||
            o->space == SP_CONST);
}

// True if naming this space in an access is allowed and may save instructions. In shared::cluster it does not (tried).
static bool can_name(const Desc *d, Space space)
{
    bool access = d->op == OP_LD || d->op == OP_ST || d->op == OP_ATOM || d->op == OP_RED;
    return access && !(d->traits & (TR_ORDERED | TR_RDONLY)) && space != SP_CLUSTER;
}

// Returns the descriptor of the same access in a space; 0 = none.
static DescId desc_in_space(Inference *f, DescId of, Space space)
{
    Fn *fn = f->fn;
    if (!f->in_space[space])
        f->in_space[space] = NEW_ARRAY(&f->scratch, DescId, f->ndescs);
    DescId *found = &f->in_space[space][of];
    if (*found)
        return *found;
    DescId id = desc_with_space(fn->tables, of, space);
    bool there = id && module_takes(fn->module, tab_desc(fn->tables, id)->needs);
    return *found = there ? id : 0;
}

/* -- Twins ---------------------------------------------------------------------------------------------- */

static Operand twin_of(Inference *f, RegId r)
{
    if (!f->twin[r]) {
        f->twin[r] = reg_new(f->fn, RF_R, (Width)ir_reg(f->fn, r)->width);
        VEC_PUSH(&f->scratch, &f->work, r);
    }
    return op_reg(f->fn, f->twin[r]);
}

// True if an instruction defines a generic address in a known space.
static bool defines_address(Inference *f, InstrId id)
{
    const Instr *i = ir_instr(f->fn, id);
    ValueId v = i->ndef == 1 ? value_of(f->fn, f->pointers->a, id, 0) : 0;
    return v && v != VALUE_ANY && f->pointers->address[v] && has_space(&f->pointers->known.at[f->pointers->address[v]]);
}

// Collects the instructions that get twins: the definitions of the registers with twins, and transitively those of
// their operands.
static void find_sources(Inference *f)
{
    const Analyses *a = f->work.n ? analysis_need(f->fn, AN_DEFUSE) : NULL;
    while (f->work.n) {
        RegId r = f->work.at[--f->work.n];
        FOR_DEFS(a, r, def) {
            const Instr *i = ir_instr(f->fn, def->instr);
            if (!defines_address(f, def->instr))
                continue;
            VEC_PUSH(&f->scratch, &f->copied, def->instr);
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                Pointer o = pointer_of(f->pointers, def->instr, k);
                if (op_is_reg(ir_ops(f->fn, i)[k]) && has_space(&o))
                    twin_of(f, op_index(ir_ops(f->fn, i)[k]));
            }
        }
    }
}

// Inserts the twin of an instruction that computes a generic address, with operands `ops`, before the instruction.
static void make_twin(Inference *f, InstrId id, const Operand *ops)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    DescId desc = i->desc;
    if (d->op == OP_CVTA || d->op == OP_CVTA_ADDR) {
        Type type = type_make(TC_B, (Width)ir_reg(fn, op_index(ops[0]))->width);
        desc = desc_make(fn->tables, d->op == OP_CVTA ? OP_MOV : OP_ADDR, type);
    }
    InstrId twin = ir_insert_before(fn, id, desc, i->flags, ops, i->nops);
    ir_instr(fn, twin)->line = i->line;
    f->progress = true;
}

static void make_twins(Inference *f)
{
    Fn *fn = f->fn;
    Operand *ops = NULL;
    uint32_t room = 0;
    for (uint32_t n = 0; n < f->copied.n; n++) {
        InstrId id = f->copied.at[n];
        const Instr *i = ir_instr(fn, id);
        if (room < i->nops)
            ops = arena_alloc(&f->scratch, (room = i->nops * 2) * sizeof *ops);
        memcpy(ops, ir_ops(fn, i), i->nops * sizeof *ops);
        ops[0] = op_def(op_reg(fn, f->twin[op_index(ops[0])]));
        for (uint32_t k = i->ndef; k < i->nops; k++) {
            Pointer o = pointer_of(f->pointers, id, k);
            if (op_is_reg(ops[k]) && has_space(&o))
                ops[k] = op_reg(fn, f->twin[op_index(ops[k])]);
        }
        make_twin(f, id, ops);
    }
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

// A planned replacement of an instruction. It may use twins that are not defined yet.
typedef struct Change {
    InstrId instr;
    DescId desc;   // new descriptor of an access; 0 = replaced by a move
    Operand from;  // new base, or source of the move
    Operand offset;
} Change;

typedef VEC(Change) Changes;

// True if an address is a single known address in a variable.
static bool lies_in_variable(const Fn *fn, const Pointer *at)
{
    const Sym *s = at->sym ? ir_sym(fn, at->sym) : NULL;
    return s && s->kind == SYM_VAR && pointer_is_exact(at) && at->lo >= 0 && (uint64_t)at->lo < s->size;
}

static void visit_accesses(Inference *f, Changes *changes)
{
    Fn *fn = f->fn;
    for (uint32_t k = 0; k < f->pointers->accesses.n; k++) {
        const MemAccess *access = &f->pointers->accesses.at[k];
        const Instr *i = ir_instr(fn, access->instr);
        Operand base = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
        if (access->space != SP_GENERIC || !has_space(access->at) || !op_is_reg(base) ||
            !can_name(ir_desc(fn, i), (Space)access->at->space) || i->flags & IF_PINNED)
            continue;
        DescId desc = desc_in_space(f, i->desc, (Space)access->at->space);
        if (!desc)
            continue;
        Change change = {access->instr, desc, op_none(), offset};
        if (lies_in_variable(fn, access->at)) {
            change.from = op_sym(access->at->sym);
            change.offset = op_const(fn, (uint64_t)access->at->lo, W64);
        } else {
            change.from = twin_of(f, op_index(base));
        }
        VEC_PUSH(&f->scratch, changes, change);
    }
}

// True if isspacep of a space is a constant for generic addresses in space `of`. An address in shared::cluster may be
// one in shared::cta. Constant variables may lie in global memory.
static bool is_decided(Space space, Space of)
{
    bool own_cta = space == SP_SHARED && of == SP_CLUSTER;
    return space != SP_CONST && of != SP_CONST && !own_cta;
}

// Plans the replacements of cvta.to and isspacep of addresses in a known space.
static void visit_queries(Inference *f, Changes *changes)
{
    Fn *fn = f->fn;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            bool asks = d->op == OP_CVTA_TO || d->op == OP_ISSPACEP;
            if (!asks || !op_is_reg(*ir_use(fn, i, 0)) || !op_is_reg(*ir_def(fn, i, 0)) || i->flags & IF_PINNED)
                continue;
            Pointer o = pointer_of(f->pointers, id, i->ndef);
            Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
            if (!has_space(&o))
                continue;
            Change change = {.instr = id};
            if (d->op == OP_ISSPACEP && is_decided(space, (Space)o.space))
                change.from = op_const(fn, space_contains(space, (Space)o.space), W1);
            else if (d->op == OP_CVTA_TO && space == (Space)o.space)
                change.from = twin_of(f, op_index(*ir_use(fn, i, 0)));
            else
                continue;
            VEC_PUSH(&f->scratch, changes, change);
        }
    }
}

static void apply_changes(Inference *f, const Changes *changes)
{
    Fn *fn = f->fn;
    for (uint32_t k = 0; k < changes->n; k++) {
        const Change *c = &changes->at[k];
        Instr *i = ir_instr(fn, c->instr);
        f->progress = true;
        if (!c->desc) {
            instr_replace_by_move(fn, c->instr, c->from);
            continue;
        }
        instr_set_desc(fn, i, c->desc);
        *ir_use(fn, i, 0) = c->from;
        *ir_use(fn, i, 1) = c->offset;
    }
}

static bool assumes_global_params(Ctx *ctx, const Fn *fn)
{
    return fn->flags & FN_KERNEL && fn->sig.nparams && knob_is_set(&ctx->knobs, KNOB_KERNEL_PARAMS_GLOBAL);
}

// Returns the pointer analysis; NULL if no generic address can have a known space.
static Pointers *find_pointers(Ctx *ctx, Fn *fn, Arena *scratch)
{
    const bool *loads = NULL;
    if (assumes_global_params(ctx, fn))
        loads = param_pointers(fn, analysis_need(fn, AN_DEFUSE), scratch);
    if (loads)
        return pointers_with_loads(fn, loads, scratch);
    return fn->classes & IC_CVTA || has_global_pointer(fn) ? pointers_of(fn) : NULL;
}

bool phase_infer_spaces(Ctx *ctx, Fn *fn)
{
    if (~fn->classes & IC_CVTA && !has_global_pointer(fn) && !assumes_global_params(ctx, fn))
        return false;
    fn_set_classes(fn);  // promotion to registers may have replaced all generic accesses
    if (~fn->classes & IC_GENERIC)
        return false;
    Inference f = {.fn = fn, .nregs = fn->regs.n, .ndescs = fn->tables->desc_first + fn->tables->descs.n};
    Changes changes = {0};
    arena_init(&f.scratch, &ctx->heap);
    f.pointers = find_pointers(ctx, fn, &f.scratch);
    if (!f.pointers) {
        arena_free(&f.scratch);
        return false;
    }
    f.twin = NEW_ARRAY(&f.scratch, RegId, f.nregs);
    visit_accesses(&f, &changes);
    visit_queries(&f, &changes);
    find_sources(&f);
    make_twins(&f);
    apply_changes(&f, &changes);
    arena_free(&f.scratch);
    return f.progress;
}
