// SPDX-License-Identifier: MIT
// Lets an instruction write the register to which its result is copied afterwards, and removes the copy.
//
// Slot: 82 AdvancedPhaseBackPropVReg, which all backends install. Slot 83 OriBackCopyPropagate marks the end of this
// work (manager/pipeline_counter.c). One walk over the blocks in reverse postorder, backward through each block, opens
// each copy `Rd = mov Rs`. The next definition of Rs above closes the copy. If the copy is the only use of Rs, and
// there is no obstacle, the definition is renamed to Rd, and the copy is removed. If Rd is named between the two, and
// the definition is pure with operands that are not written between, the computation moves to the place of the copy
// instead, or before the moves in front of it: they shift values, and in a second run of the program the computation
// would stand there, since ssa form has no such moves. If the result is a copy itself, it is opened in turn, so that a
// chain collapses in one pass. For each register the walk records the last instructions that named it and that wrote
// it, so it visits each instruction once. While no copy is open, it only looks for moves.
//
//     R1 = add.s32 R0, 1; R2 = mov.b32 R1; R3 = mov.b32 R2      ->   R3 = add.s32 R0, 1
//     R1 = add.s32 R0, 1; R0 = mov.b32 R1                       ->   R0 = add.s32 R0, 1
//     R1 = add.s32 R0, 1; st [R9], R0; R0 = mov.b32 R1          ->   st [R9], R0; R0 = add.s32 R0, 1
//     @P0 R1 = add.s32 R2, 1; @P0 R3 = mov.b32 R1               ->   @P0 R3 = add.s32 R2, 1
//     R1 = mov.b32 R0; R0 = mov.b32 R1                          ->   (nothing)
//
// Must not fire:
//     R1 = ld [R8]; st [R9], R2; R2 = mov.b32 R1                the store reads the old R2, and may write [R8]
//     R1 = add.s32 R0, 1; R0 = mov.b32 R2; R2 = mov.b32 R1      R0 has another value at the copy
//     R1 = add.s32 R0, 1; st [R9], R1; R2 = mov.b32 R1          R1 has another use
//     R1 = add.s32 R0, 1 in another block                       R2 may be live on another path from that block
//     @P0 R1 = add.s32 R0, 1; R2 = mov.b32 R1                   R2 gets the old value of R1 where P0 is false
//     R1 = add.s32 R0, 1; @P0 R2 = mov.b32 R1                   R2 keeps its value where P0 is false
//     @P0 R1 = ...; P0 = setp ...; @P0 R2 = mov.b32 R1          the guards have different values
//     {R1, R2} = ld.v2 [R9]; R2 = mov.b32 R1                    {R2, R2} is no destination
//     R1, R2 or the guard is pinned or named                    other instructions may name it, too (rule 2)
//     R1 = ld.param [@ret] of a call sequence                   call sequences stay as they are (rule 5)
//     R1, CC0 = add.cc.u32 R3, R4                               instructions with a carry stay as they are (rule 8)
//
// Definition, copy and all instructions between are in one block. So only the instructions between observe that Rd is
// written earlier, and no instruction observes that Rs is not written.
//
// After ConvertAllMovPhiToMov few copies are left, and most are needed: they exchange or shift values. The copies that
// this phase removes are those of `i = i + 1` where i is read after the addition. ptxas generates the same code without
// them.
//
// Does not do: definitions in other blocks; a guard for an unguarded definition.
// Documented: one use of Rs, no definition of Rd between, both directions of the walk, the budget. Inferred: the other
// conditions, and moving the computation.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

// Numbers of visited instructions. Each is 0 or that of the latest visit of its kind; numbers grow up the block.
typedef struct Visits {
    uint32_t opened;   // of the copy whose source the register is
    uint32_t named;    // of an instruction that names the register
    uint32_t written;  // of an instruction that defines it
    InstrId copy;      // the copy that was opened
} Visits;

typedef struct BackProp {
    Ctx *ctx;
    Fn *fn;
    Arena scratch;
    Visits *of;      // by RegId; NULL until a copy of a register is found
    uint32_t now;    // number of the current instruction
    uint32_t start;  // number of the last instruction before the current block
    uint32_t nopen;  // copies that are open
    bool progress;
} BackProp;

/* -- Copies --------------------------------------------------------------------------------------------- */

// A quick test.
static inline bool may_be_copy(const Instr *i) { return i->nops == 2u + ir_guarded(i) && i->ndef == 1; }

// Returns the source of a copy that may be removed if its definition permits; K_NONE for other instructions.
static Operand source_of(const Fn *fn, const Instr *i)
{
    Operand from = copy_of_register(fn, i);
    if (op_kind(from) == K_NONE || i->callseq || (ir_guarded(i) && !reg_in_ssa(ir_reg(fn, op_index(*ir_guard(fn, i))))))
        return op_none();
    Operand to = *ir_def(fn, i, 0);
    return op_in_ssa(fn, from) && op_in_ssa(fn, to) && op_index(from) != op_index(to) ? from : op_none();
}

// Opens an instruction if it is a copy. Its place was visited as number `at`.
static void open_copy(BackProp *p, InstrId id, uint32_t at)
{
    Operand from = source_of(p->fn, ir_instr(p->fn, id));
    if (op_kind(from) == K_NONE)
        return;
    if (!p->of)
        p->of = NEW_ARRAY(&p->scratch, Visits, p->fn->regs.n);
    Visits *of = &p->of[op_index(from)];
    p->nopen += of->opened <= p->start;  // the source of two open copies has two uses
    of->opened = at;
    of->copy = id;
}

// Closes the open copy of a register and returns it; 0 = there is none.
static InstrId close_copy(BackProp *p, RegId r)
{
    Visits *of = &p->of[r];
    if (of->opened <= p->start)
        return 0;
    of->opened = 0;
    p->nopen--;
    return of->copy;
}

/* -- Obstacles ------------------------------------------------------------------------------------------ */

// A definition that is copied: definition k of an instruction. The place of the copy was visited as number `at`.
typedef struct Copied {
    InstrId def, copy;
    uint32_t k, at;
} Copied;

static bool names_carry(const Fn *fn, const Instr *i)
{
    const Operand *ops = ir_ops(fn, i);
    bool carry = false;
    for (uint32_t k = 0; k < i->nops && !carry; k++)
        carry = op_is_reg(ops[k]) && op_file(ops[k]) == RF_CC;
    return carry;
}

static bool defines(const Fn *fn, const Instr *i, RegId r)
{
    bool does = false;
    for (uint32_t k = 0; k < i->ndef && !does; k++)
        does = op_is_reg(*ir_def(fn, i, k)) && op_index(*ir_def(fn, i, k)) == r;
    return does;
}

// True if definition and copy have the same guard, with the same value.
static bool same_guard(const BackProp *p, const Instr *i, const Copied *c)
{
    Operand guard = ir_condition(p->fn, ir_instr(p->fn, c->copy));
    if (!op_same(ir_condition(p->fn, i), guard))
        return false;
    return !op_is_reg(guard) || (p->of[op_index(guard)].written <= c->at && !defines(p->fn, i, op_index(guard)));
}

// Returns the reason why neither the definition can be renamed nor the computation moved; NULL = none.
static const char *find_obstacle(const BackProp *p, const Copied *c)
{
    const Fn *fn = p->fn;
    const Instr *i = ir_instr(fn, c->def);
    if (i->flags & IF_PINNED || ir_def(fn, i, c->k)->mods)
        return "constraints apply to the result";
    if (i->callseq)
        return "the value is the result of a call";
    if (names_carry(fn, i))
        return "the value is computed with a carry";
    if (!same_guard(p, i, c))
        return "the value is computed under another guard";
    return defines(fn, i, op_index(*ir_def(fn, ir_instr(fn, c->copy), 0)))
               ? "the destination is another result of the computation"
               : NULL;
}

// True if a computation gives the same result at the place of the copy.
static bool is_movable(const BackProp *p, const Copied *c)
{
    enum { STAYS = TR_READ | TR_WRITE | TR_BARRIER | TR_CONV | TR_TRAP | TR_EFFECT | TR_ASYNC | TR_ORDERED };
    const Fn *fn = p->fn;
    const Instr *i = ir_instr(fn, c->def);
    uint32_t traits = ir_desc(fn, i)->traits;
    bool movable = traits & TR_PURE && !(traits & STAYS) && i->ndef == 1 && first_annotation(fn, c->def) == c->def;
    for (uint32_t k = 0; k < ir_nuse(i) && movable; k++) {
        Operand o = *ir_use(fn, i, k);
        if (op_is_reg(o))
            movable = reg_in_ssa(ir_reg(fn, op_index(o))) && p->of[op_index(o)].written <= c->at;
        else
            movable = op_kind(o) != K_SREG || !sreg_info[op_index(o)].fresh;
    }
    return movable;
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

// Renames a definition to the destination of its copy, and removes the copy.
static void rename_definition(Fn *fn, const Copied *c)
{
    Operand to = *ir_def(fn, ir_instr(fn, c->copy), 0), *def = ir_def(fn, ir_instr(fn, c->def), c->k);
    def_table_forget(fn, c->def, *def);
    remove_annotated(fn, c->copy);
    *def = to;
    def_table_define(fn, c->def);
}

// Returns the first of the moves in front of a copy that do not name its destination, at most HOPS; the copy itself if
// there is none.
static InstrId first_of_moves(const Fn *fn, InstrId copy)
{
    enum { HOPS = 32 };  // keeps the time linear
    RegId to = op_index(*ir_def(fn, ir_instr(fn, copy), 0));
    InstrId at = copy;
    InstrId id = ir_instr(fn, at)->prev;
    for (int n = 0; id && n < HOPS; n++, at = id, id = ir_instr(fn, at)->prev) {
        const Instr *i = ir_instr(fn, id);
        bool moves = ir_desc(fn, i)->op == OP_MOV && !(i->flags & (IF_PINNED | IF_GUARDED)) && !i->callseq;
        Operand from = moves ? *ir_use(fn, i, 0) : op_none();
        bool plain = op_is_const(from) || (op_is_reg(from) && op_index(from) != to);
        if (!plain || defines(fn, i, to) || first_annotation(fn, id) != id)
            break;
    }
    return at;
}

// Replaces a copy by the computation of its source. Returns the instruction.
static InstrId move_computation(BackProp *p, const Copied *c)
{
    Fn *fn = p->fn;
    const Instr *i = ir_instr(fn, c->def);
    bool copies = op_kind(source_of(fn, i)) != K_NONE;
    ir_instr(fn, c->copy)->line = i->line;
    instr_replace(fn, c->copy, i->desc, ir_use(fn, i, 0), ir_nuse(i));
    ir_remove(fn, c->def);
    InstrId place = copies ? c->copy : first_of_moves(fn, c->copy);
    if (place == c->copy)
        return place;
    const Instr *moved = ir_instr(fn, c->copy);
    InstrId id = ir_insert_before(fn, place, moved->desc, moved->flags, ir_ops(fn, moved), moved->nops);
    ir_instr(fn, id)->line = moved->line;
    Visits *to = &p->of[op_index(*ir_def(fn, moved, 0))];
    to->named = to->written = p->now;  // somewhere between
    ir_remove(fn, c->copy);
    return id;
}

// Removes an instruction that became a move of a register to itself.
static bool remove_self_move(Fn *fn, InstrId id)
{
    if (!is_self_move(fn, ir_instr(fn, id)))
        return false;
    nuses_count_instr(fn, ir_instr(fn, id), -1);
    remove_annotated(fn, id);
    return true;
}

static void record_operands(BackProp *p, const Instr *i)
{
    const Operand *ops = ir_ops(p->fn, i);
    for (uint32_t k = 0; k < i->nops; k++) {
        if (!op_is_reg(ops[k]))
            continue;
        Visits *of = &p->of[op_index(ops[k])];
        of->named = p->now;
        of->written = k < i->ndef ? p->now : of->written;
    }
}

// True if a copy is the only use of its source. The uses are counted only if there is no obstacle.
static bool is_only_use(Fn *fn, InstrId copy)
{
    return nuses_of(analysis_need(fn, AN_NUSES), op_index(*ir_use(fn, ir_instr(fn, copy), 0))) == 1;
}

// Removes a copy if the definition of its source permits.
static void remove_copy(BackProp *p, const Copied *c)
{
    Fn *fn = p->fn;
    RegId to = op_index(*ir_def(fn, ir_instr(fn, c->copy), 0));
    const char *obstacle = find_obstacle(p, c);
    bool moves = p->of[to].named > c->at;
    if (!obstacle && moves && !is_movable(p, c))
        obstacle = "the destination is used after the value is computed";
    bool only_use = (!obstacle || remarks_wanted(p->ctx)) && is_only_use(fn, c->copy);
    if (obstacle && only_use)
        remark(p->ctx, fn, c->copy, RM_MISSED, "CopyKept", "a copy stays: {Reason:%s}", obstacle);
    if (obstacle || !only_use)
        return;
    if (!knob_spend(&p->ctx->knobs, KNOB_BACK_COPY_PROP_BUDGET))
        return;
    remark(p->ctx, fn, c->def, RM_PASSED, "BackPropagated", "{Rewrite:%s}; the copy is removed",
           moves ? "the value is computed where it was copied" : "the value is computed in the register of its copy");
    nuses_count_instr(fn, ir_instr(fn, c->copy), -1);
    p->progress = true;
    if (!moves) {
        rename_definition(fn, c);
        remove_self_move(fn, c->def);
        return;
    }
    record_operands(p, ir_instr(fn, c->def));
    InstrId moved = move_computation(p, c);
    if (!remove_self_move(fn, moved))
        open_copy(p, moved, c->at);
}

/* -- The walk ------------------------------------------------------------------------------------------- */

// Closes the copies of the registers that an instruction defines.
static void close_copies(BackProp *p, InstrId id)
{
    for (uint32_t k = 0; k < ir_instr(p->fn, id)->ndef; k++) {
        Operand def = *ir_def(p->fn, ir_instr(p->fn, id), k);
        Copied c = {.def = id, .k = k};
        if (!op_is_reg(def))
            continue;
        c.at = p->of[op_index(def)].opened;
        if ((c.copy = close_copy(p, op_index(def))))
            remove_copy(p, &c);
    }
}

static void visit(BackProp *p, InstrId id)
{
    const Instr *i = ir_instr(p->fn, id);
    if (p->nopen)
        close_copies(p, id);
    if (!i->block)
        return;  // moved or removed
    if (may_be_copy(i))
        open_copy(p, id, p->now);
    if (p->nopen)
        record_operands(p, i);
}

bool phase_back_copy_prop(Ctx *ctx, Fn *fn)
{
    BackProp p = {.ctx = ctx, .fn = fn};
    const Analyses *a = analysis_need(fn, AN_RPO);
    arena_init(&p.scratch, &ctx->heap);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        p.start = p.now;
        p.nopen = 0;
        FOR_INSTRS_BACK(fn, a->rpo[k], id) {
            p.now++;
            if (p.nopen || may_be_copy(ir_instr(fn, id)))
                visit(&p, id);
        }
    }
    arena_free(&p.scratch);
    return p.progress;
}
