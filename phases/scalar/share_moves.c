// SPDX-License-Identifier: MIT
// Shares the registers of equal moves within a block, or moves their source into the reader.
//
// Slot: 58 GeneralOptimizeLate. One walk over each block keeps the last moves in a ring of six slots. A slot holds a
// source, a register or a constant, and up to two registers that moves copied the source to. A move is found if a slot
// has its source and file of registers; operands of two widths differ. The reader of a found move then takes the source
// itself, if the operand takes it, or the first register of the slot, and the move is removed. A move that is not found
// enters the next slot, which evicts the oldest source; a found move enters its slot if that has one register. A write
// of the source frees the slot, and a write of a register removes the register. All slots are free at the start of a
// block.
//
// A move is eligible if it is unguarded and without modifiers, and if its register has one use, is neither pinned nor
// named, and is in file R or UR.
//
//     R1 = mov.b32 5; R2 = mov.b32 5                      R1 = mov.b32 5
//     mma.sync ... {R9, R9}, {R1}, {R2, R9}          ->   mma.sync ... {R9, R9}, {R1}, {R1, R9}
//
//     R2 = mov.b32 R1; R3 = mov.b32 R1                    R2 = mov.b32 R1
//     st.global.v2.b32 [R9], {R2, R3}                ->   st.global.v2.b32 [R9], {R2, R1}
//
// Must not fire:
//     R2 = mov.b32 R1; R1 = mov.b32 5; R3 = mov.b32 R1; st [R9], R3      R1 was written between the moves
//     R2 = mov.b32 R1; R3 = mov.b32 R1; R1 = mov.b32 5; st [R9], R3      or before the reader
//     R2 = mov.b32 R1; R3 = mov.b64 R1                                   another width
//     R2 = mov.b32 R1 in another block                                   the ring is empty at the start of a block
//     @P0 R2 = mov.b32 R1                                                R2 may keep its old value
//     R2 = mov.b32 5; R3 = mov.b32 5 if R2 or R3 is pinned               an opaque instruction may write it later
//     R3 = mov.b32 5; st [R9], R3; st [R9+4], R3                         two uses
//
// Gates: -O3; knobs AllowReassociateCSE (31), GeneralOptimizeLateNoInsert (605: no move enters the ring) and
// GeneralOptimizeLateBits, the bits of ctx+1396: bit 2 gates moves of constants, bit 3 those of registers, and bits 4-5
// equal to 2 turn the phase off. If knob 31 is set, backends that issue two instructions at once keep one register in a
// slot. `--stats` prints the seven counters.
//
// In the default pipeline, copy propagation (37, 46) has moved sources into their readers, so few moves are left here:
// constants that their readers do not take. ptxas generates the same code for one or two moves of a constant.
//
// Not idempotent: a register that got another reader is refused in a second run, so its source enters no slot.
// Does not do: readers in other blocks, guards, old values of guarded definitions.
// Documented: gates, the ring, eligibility, counters, a single pass without a budget. Inferred: the order of the two
// replacements, the use of a second register, the effect of sub_7DC0E0.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

enum { SLOTS = 6, SHARERS = 2, CONSTANTS = 1 << 2, REGISTERS = 1 << 3, OFF_MASK = 0x30, OFF = 0x20 };

typedef struct RingSlot {
    uint32_t serial;     // number of the source among those that entered; 0 = free
    Operand source;      // of one width: that of the register or constant
    RegFile file;        // of the registers
    RegId reg[SHARERS];  // in the order of the moves; 0 = none
} RingSlot;

// A move that was found in the ring.
typedef struct FoundMove {
    uint32_t serial;  // of its slot; 0 = the register has no such move
    InstrId move;
} FoundMove;

typedef struct ShareMoves {
    Fn *fn;
    LateMoves *count;
    RingSlot slot[SLOTS];
    uint32_t serial;   // of the last source that entered
    FoundMove *found;  // by RegId
    uint32_t gates;    // CONSTANTS, REGISTERS
    uint32_t sharers;  // most registers in a slot
    bool insert, progress;
} ShareMoves;

/* -- Moves ---------------------------------------------------------------------------------------------- */

// Returns the source of a move that the gates let pass: a constant or a register; K_NONE for other instructions.
static Operand source_of(const Fn *fn, const Instr *i, uint32_t gates)
{
    Operand from = ir_desc(fn, i)->op == OP_MOV ? *ir_use(fn, i, 0) : op_none();
    bool passes = (op_is_const(from) && gates & CONSTANTS) || (op_is_reg(from) && gates & REGISTERS);
    return passes ? from : op_none();
}

static bool is_eligible(const Fn *fn, const Instr *i)
{
    Operand from = copy_of_move(fn, i), to = *ir_def(fn, i, 0);
    const Reg *r = op_is_reg(to) ? ir_reg(fn, op_index(to)) : NULL;
    return op_kind(from) != K_NONE && !from.mods && !to.mods && reg_in_ssa(r) &&
           (r->file == RF_R || r->file == RF_UR) && nuses_of(fn->analyses, op_index(to)) == 1 &&
           !(op_is_reg(from) && op_index(from) == op_index(to));
}

// A set of registers or sources that may have more members than were added.
typedef uint64_t RoughSet;
static RoughSet rough(uint32_t word) { return (RoughSet)1 << (hash_mix(word, 1) >> 58); }

static bool reads_any(const Fn *fn, const Instr *i, RoughSet regs)
{
    bool reads = false;
    for (uint32_t k = 0; k < ir_nuse(i) && !reads; k++)
        reads = op_is_reg(*ir_use(fn, i, k)) && regs & rough(op_index(*ir_use(fn, i, k)));
    return reads;
}

// True if an instruction may read a move that has the same source as an earlier one in the block.
static bool may_share(const Fn *fn, uint32_t gates)
{
    FOR_BLOCKS(fn, b) {
        RoughSet sources = 0, found = 0;
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (found && reads_any(fn, i, found))
                return true;
            Operand from = source_of(fn, i, gates);
            if (op_kind(from) == K_NONE)
                continue;
            found |= sources & rough(from.word) ? rough(op_index(*ir_def(fn, i, 0))) : 0;
            sources |= rough(from.word);
        }
    }
    return false;
}

/* -- The ring ------------------------------------------------------------------------------------------- */

static RingSlot *slot_of(ShareMoves *s, uint32_t serial)
{
    RingSlot *slot = &s->slot[serial % SLOTS];
    return serial && slot->serial == serial ? slot : NULL;
}

static RingSlot *find_source(ShareMoves *s, Operand source, RegFile file)
{
    for (uint32_t k = 0; k < SLOTS; k++)
        if (s->slot[k].serial && op_same(s->slot[k].source, source) && s->slot[k].file == file)
            return &s->slot[k];
    return NULL;
}

static void enter(ShareMoves *s, Operand source, RegFile file, RegId r)
{
    RingSlot *slot = &s->slot[++s->serial % SLOTS];
    s->count->evicted += slot->serial != 0;
    s->count->entered++;
    *slot = (RingSlot){.serial = s->serial, .source = source, .file = file, .reg = {r}};
}

// Removes a register from a slot, and frees the slot if it was the last one.
static void remove_sharer(RingSlot *slot, RegId r)
{
    if (slot->reg[0] == r)
        slot->reg[0] = slot->reg[1];
    else if (slot->reg[1] != r)
        return;
    slot->reg[1] = 0;
    if (!slot->reg[0])
        slot->serial = 0;
}

// Removes all that depends on a register which is written.
static void forget(ShareMoves *s, RegId r)
{
    s->found[r].serial = 0;
    for (uint32_t k = 0; k < SLOTS; k++) {
        RingSlot *slot = &s->slot[k];
        bool is_source = op_is_reg(slot->source) && op_index(slot->source) == r;
        if (!slot->serial || !(is_source || slot->reg[0] == r || slot->reg[1] == r))
            continue;
        s->count->forgotten++;
        if (is_source)
            slot->serial = 0;
        else
            remove_sharer(slot, r);
    }
}

// Finds a move in the ring, or inserts it.
static void consider(ShareMoves *s, InstrId id)
{
    const Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    Operand source = source_of(fn, i, s->gates);
    if (op_kind(source) == K_NONE)
        return;
    s->count->considered++;
    if (!is_eligible(fn, i)) {
        s->count->refused++;
        return;
    }
    RegId r = op_index(*ir_def(fn, i, 0));
    RegFile file = (RegFile)ir_reg(fn, r)->file;
    RingSlot *slot = find_source(s, source, file);
    if (!slot) {
        if (s->insert)
            enter(s, source, file, r);
        return;
    }
    s->found[r] = (FoundMove){slot->serial, id};
    if (!slot->reg[1] && s->sharers == SHARERS) {
        slot->reg[1] = r;
        s->count->entered++;
    }
}

/* -- Readers -------------------------------------------------------------------------------------------- */

static void remove_move(ShareMoves *s, RingSlot *slot, RegId r)
{
    InstrId move = s->found[r].move;
    remove_sharer(slot, r);
    s->found[r].serial = 0;
    nuses_count_instr(s->fn, ir_instr(s->fn, move), -1);
    remove_annotated(s->fn, move);
}

// Replaces operand k of an instruction if it reads a move that was found.
static void replace_use(ShareMoves *s, InstrId id, uint32_t k)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    Operand was = ir_ops(fn, i)[k];
    RingSlot *slot = op_is_reg(was) ? slot_of(s, s->found[op_index(was)].serial) : NULL;
    if (!slot || was.mods)
        return;
    RegId r = op_index(was);
    Operand by = slot->source;
    if (fit_operand(fn, i, k, &by)) {
        s->count->folded++;
    } else {
        by = op_reg(fn, slot->reg[0]);
        if (slot->reg[0] == r || !fit_operand(fn, i, k, &by))
            return;
        s->count->replaced++;
    }
    nuses_count(fn, was, -1);
    nuses_count(fn, by, 1);
    ir_ops(fn, ir_instr(fn, id))[k] = by;
    s->progress = true;
    if (!nuses_of(fn->analyses, r))
        remove_move(s, slot, r);
}

static void visit(ShareMoves *s, InstrId id)
{
    const Instr *i = ir_instr(s->fn, id);
    for (uint32_t k = i->ndef; k < i->ndef + ir_nuse(i); k++)
        replace_use(s, id, k);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(s->fn, i, k)))
            forget(s, op_index(*ir_def(s->fn, i, k)));
    consider(s, id);
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// Returns the kinds of moves that the knobs let pass; 0 = the phase does not run.
static uint32_t gates_of(Ctx *ctx, const Fn *fn)
{
    Knobs *k = &ctx->knobs;
    uint32_t bits = (uint32_t)knob_int(k, KNOB_LATE_BITS), kinds = bits & (CONSTANTS | REGISTERS);
    bool open = gate_is_open(ctx, fn, KNOB_REASSOCIATE_CSE,
                             !knob_is_set(k, KNOB_REASSOCIATE_CSE) || knob_int(k, KNOB_REASSOCIATE_CSE)) &&
                gate_is_open(ctx, fn, KNOB_LATE_BITS, kinds && (bits & OFF_MASK) != OFF);
    return open ? kinds : 0;
}

bool phase_share_moves(Ctx *ctx, Fn *fn)
{
    ShareMoves s = {.fn = fn, .count = &ctx->late, .gates = gates_of(ctx, fn)};
    if (!s.gates || !may_share(fn, s.gates))
        return false;
    bool single = knob_is_set(&ctx->knobs, KNOB_REASSOCIATE_CSE) && sm_is_dual_issue(&ctx->target.backend->profile);
    s.sharers = single ? 1 : SHARERS;
    s.insert = !knob_is_set(&ctx->knobs, KNOB_LATE_NO_INSERT);
    analysis_need(fn, AN_NUSES);
    Arena scratch;
    arena_init(&scratch, &ctx->heap);
    s.found = NEW_ARRAY(&scratch, FoundMove, fn->regs.n);
    FOR_BLOCKS(fn, b) {
        for (uint32_t k = 0; k < SLOTS; k++)
            s.slot[k].serial = 0;
        FOR_INSTRS(fn, b, id)
            visit(&s, id);
    }
    arena_free(&scratch);
    return s.progress;
}
