// SPDX-License-Identifier: MIT
// Tracks which bytes of values are defined. A byte is defined if it was written, and computed only from defined bytes.
// A register has a state for each byte and lane (Frame.defined), memory has a state for each byte. So a struct may be
// copied in words, padding included. Registers, shared and local memory, parameters of calls and memory of malloc begin
// undefined.
//
// There are three kinds of instructions:
// - A copy moves states byte by byte: loads, stores, moves, phis, old values of guarded definitions, parameters,
//   shuffles, asynchronous copies. The sign extension of a loaded value has the state of the value's highest byte.
// - Bit operations are logic, shifts, prmt, bfe, bfi, packing, selp, slct, and conversions between integers: each bit
//   of a result depends on at most one bit of each operand. A bit operation is evaluated with the undefined bytes of
//   its operands set to zeroes, then to ones. Logic is evaluated with all combinations of zeroes and ones. A byte of
//   the result with a bit that differs is undefined. So `and` with 0 defines a byte, `shl` by 8 moves states, and `shl`
//   by 4 mixes the states of two bytes. The operands that select bits (amount, selector, position, condition) must be
//   defined as a whole.
// - All other instructions give an undefined result if a byte of an input is undefined. Elements of vectors are
//   independent. An atomic operation also makes the memory undefined, separately for each lane. The result of an
//   instruction that lanes execute together is undefined in all of them if it is undefined in one.
// A guard is an input of all three kinds. A defined value may count as undefined (`xor` with itself), but an undefined
// value never counts as defined.
//
// A launch is unspecified if an undefined value affects more than a result. Such values are the condition of a branch,
// an address, a mask of lanes, the number of a barrier, a callee, or the guard of an instruction with side effects.
//
// With `follow_undef` the states are only tracked. With `check_uninit` the first use of an undefined value is a fault.
// Copies are not uses, nor are bit operations, except of the operands that select bits. Uses are guards, addresses, and
// all operands of other instructions. A store to global memory is a use if no byte of its value is defined: such a
// value is not the padding of a struct.
#include <stdio.h>

#include "ir/machine/machine_internal.h"

/* -- States --------------------------------------------------------------------------------------------- */

static const char *const used = "a use of a value that was never written";

// Returns the states of a register, by row; NULL if none are tracked.
static RowStates *states_of(const Run *r, const Group *g, const OperandRef *o)
{
    RowStates *all = o->kind == REF_REG ? g->frame->defined : o->kind == REF_MODULE ? r->warp->module_defined : NULL;
    return all ? all + o->at : NULL;
}

// Returns the number of bytes of an operand. A predicate counts as a byte.
static uint32_t bytes_of(const OperandRef *o) { return o->width <= W8 ? 1 : width_bits((Width)o->width) / 8; }

static Mask *byte_of(RowStates *rows, uint32_t b) { return &rows[b / WORD_BYTES].byte[b % WORD_BYTES]; }

Mask lanes_defined(const Run *r, const Group *g, const OperandRef *o)
{
    RowStates *rows = states_of(r, g, o);
    Mask defined = o->kind == REF_UNDEF ? 0 : UINT32_MAX;
    for (uint32_t b = 0; rows && b < bytes_of(o); b++)
        defined &= *byte_of(rows, b);
    return defined;
}

void set_defined(Run *r, const Group *g, const OperandRef *o, Mask lanes, Mask defined)
{
    RowStates *rows = states_of(r, g, o);
    for (uint32_t b = 0; rows && b < bytes_of(o); b++) {
        Mask *at = byte_of(rows, b);
        *at = (*at & ~lanes) | (defined & lanes);
    }
}

// Returns states with all bytes alike.
static States same_states(Mask defined)
{
    States s;
    for (uint32_t b = 0; b < VALUE_BYTES; b++)
        s.byte[b] = defined;
    return s;
}

static States read_states(const Run *r, const Group *g, const OperandRef *o)
{
    RowStates *rows = states_of(r, g, o);
    States s = same_states(o->kind == REF_UNDEF ? 0 : UINT32_MAX);
    for (uint32_t b = 0; rows && b < bytes_of(o); b++)
        s.byte[b] = *byte_of(rows, b);
    return s;
}

static void write_states(Run *r, const Group *g, const OperandRef *o, Mask lanes, const States *s)
{
    RowStates *rows = states_of(r, g, o);
    for (uint32_t b = 0; rows && b < bytes_of(o); b++) {
        Mask *at = byte_of(rows, b);
        *at = (*at & ~lanes) | (s->byte[b] & lanes);
    }
}

void move_defined(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes)
{
    States s = read_states(r, g, from);
    write_states(r, g, to, lanes, &s);
}

uint32_t bytes_defined(const Run *r, const Group *g, const OperandRef *o, uint32_t lane)
{
    States s = read_states(r, g, o);
    uint32_t defined = 0;
    for (uint32_t b = 0; b < VALUE_BYTES; b++)
        defined |= (s.byte[b] >> lane & 1) << b;
    return defined;
}

void set_bytes_defined(Run *r, const Group *g, const OperandRef *o, uint32_t lane, uint32_t defined)
{
    RowStates *rows = states_of(r, g, o);
    Mask here = UINT32_C(1) << lane;
    for (uint32_t b = 0; rows && b < bytes_of(o); b++) {
        Mask *at = byte_of(rows, b);
        *at = defined >> b & 1 ? *at | here : *at & ~here;
    }
}

/* -- Effects -------------------------------------------------------------------------------------------- */

void undef_report_use(Run *r, const Group *g, const Code *c, Mask lanes)
{
    RunError *e = &r->machine->unspecified;
    if (lanes && r->machine->options.check_uninit)
        fault(r, g, c, (uint32_t)__builtin_ctz(lanes), "%s", used);
    if (!lanes || !r->machine->options.follow_undef || e->text[0])
        return;
    snprintf(e->text, sizeof e->text, "the effect of this instruction depends on a value that was never written");
    locate(r, g, c, (uint32_t)__builtin_ctz(lanes), e);
}

// True if an input of the instruction affects more than its result.
static bool affects_control(const Code *c, uint32_t k)
{
    switch (c->op) {
    case OP_LD:
    case OP_LDU:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_CALL: return k == 0;                                 // an address
    case OP_WMMA_STORE: return k < 2 || k >= 2u + c->eval.nout;  // address and stride
    case OP_SHFL_SYNC:
    case OP_VOTE_SYNC:
    case OP_MATCH_ANY:
    case OP_MATCH_ALL:
    case OP_REDUX: return k == c->nin - 1;  // a mask
    case OP_BAR_RED: return k != c->nin - 1;
    case OP_WMMA_LOAD:
    case OP_ELECT:
    case OP_BAR_WARP:
    case OP_BAR_SYNC:
    case OP_BAR_ARRIVE:
    case OP_BARRIER_SYNC:
    case OP_BARRIER_ARRIVE:
    case OP_BRX:
    case OP_CP_ASYNC_CA:
    case OP_CP_ASYNC_CG:
    case OP_CP_ASYNC_WAIT:
    case OP_MBAR_INIT:
    case OP_MBAR_INVAL:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_TEST:
    case OP_MBAR_TRY:
    case OP_OPAQUE: return true;
    default: return false;
    }
}

// True if the instruction has side effects, so that its guard affects more than its result.
static bool has_effect(const Group *g, const Code *c)
{
    return tab_desc(g->frame->func->fn->tables, c->instr->desc)->traits & (TR_WRITE | TR_CONV | TR_EFFECT);
}

static Mask guard_defined(const Run *r, const Group *g, const Code *c)
{
    return c->guarded ? lanes_defined(r, g, &c->guard) : UINT32_MAX;
}

/* -- Bit operations ------------------------------------------------------------------------------------- */

// Returns a mask of the inputs of a bit operation that do not select bits; 0 for other instructions.
static uint32_t bitwise_inputs(const Code *c)
{
    if (c->run != run_eval)
        return 0;
    switch (c->op) {
    case OP_MOV:
    case OP_UNPACK:
    case OP_NOT:
    case OP_BREV:
    case OP_BFE:
    case OP_SZEXT:
    case OP_SHL:
    case OP_SHR: return 1;
    case OP_CVT: return !c->eval.f && !c->eval.g && !c->eval.sat;
    case OP_SELP:
    case OP_SLCT:
    case OP_PRMT:
    case OP_SHF_L:
    case OP_SHF_R:
    case OP_BFI:
    case OP_AND:
    case OP_OR:
    case OP_XOR: return 3;
    case OP_LOP3: return 7;
    case OP_PACK:
    case OP_MOV_VEC: return (UINT32_C(1) << c->nin) - 1;
    default: return 0;
    }
}

// True if a bit of the result may depend on several operands.
static bool combines_operands(Opcode op) { return op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_LOP3; }

// Returns a word with ones in the bytes of a mask.
static uint64_t bits_of(uint32_t bytes)
{
    uint64_t bits = 0;
    for (uint32_t b = 0; b < WORD_BYTES; b++)
        bits |= bytes >> b & 1 ? UINT64_C(0xff) << 8 * b : 0;
    return bits;
}

static uint32_t bytes_where(uint64_t bits)
{
    uint32_t bytes = 0;
    for (uint32_t b = 0; b < WORD_BYTES; b++)
        bytes |= (uint32_t)(bits >> 8 * b & 0xff ? 1 : 0) << b;
    return bytes;
}

// Evaluations of a bit operation in a lane with undefined inputs.
typedef struct Trial {
    const Code *code;
    uint32_t parts;
    Value in[EVAL_IN_MAX], undefined[EVAL_IN_MAX];  // undefined: ones in the undefined bits
    Value differs[EVAL_OUT_MAX];                    // ones in the bits of a result that depend on undefined bits
} Trial;

// Evaluates the operation. The undefined bits of the inputs in the mask `ones` are ones, those of other inputs zeroes.
static void try_with(Trial *t, uint32_t ones, Value *out)
{
    Value in[EVAL_IN_MAX];
    for (uint32_t k = 0; k < t->code->nin; k++) {
        bool one = ones >> k & 1;
        in[k].lo = one ? t->in[k].lo | t->undefined[k].lo : t->in[k].lo & ~t->undefined[k].lo;
        in[k].hi = one ? t->in[k].hi | t->undefined[k].hi : t->in[k].hi & ~t->undefined[k].hi;
    }
    eval_run(&t->code->eval, in, out);
}

static void try_all(Trial *t)
{
    Value first[EVAL_OUT_MAX], other[EVAL_OUT_MAX];
    try_with(t, 0, first);
    for (uint32_t ones = combines_operands(t->code->op) ? 1 : t->parts; ones <= t->parts; ones++) {
        try_with(t, ones, other);
        for (uint32_t k = 0; k < t->code->nout; k++) {
            t->differs[k].lo |= first[k].lo ^ other[k].lo;
            t->differs[k].hi |= first[k].hi ^ other[k].hi;
        }
    }
}

// Evaluates the operation in a lane in all trials. False if an operand that selects bits is undefined.
static bool try_lane(const Run *r, const Group *g, Trial *t, uint32_t lane)
{
    const Code *c = t->code;
    for (uint32_t k = 0; k < c->nin; k++) {
        uint32_t undefined = ALL_BYTES & ~bytes_defined(r, g, &c->in[k], lane);
        if (undefined && !(t->parts >> k & 1))
            return false;
        t->in[k] = (Value){read_lane(r, g, &c->in[k], lane), read_high(r, g, &c->in[k], lane)};
        t->undefined[k] = (Value){bits_of(undefined), bits_of(undefined >> WORD_BYTES)};
    }
    try_all(t);
    return true;
}

static void evaluate_states(Run *r, const Group *g, const Code *c, Mask lanes)
{
    FOR_LANES(lanes, lane) {
        Trial t = {.code = c, .parts = bitwise_inputs(c)};
        bool known = try_lane(r, g, &t, lane);
        for (uint32_t k = 0; k < c->nout; k++) {
            uint32_t lost = bytes_where(t.differs[k].lo) | bytes_where(t.differs[k].hi) << WORD_BYTES;
            for (uint32_t b = 0; b < VALUE_BYTES; b++)
                if (!known || lost >> b & 1)
                    r->defined[k].byte[b] &= ~(UINT32_C(1) << lane);
        }
    }
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static bool is_shuffle(const Code *c) { return c->op == OP_SHFL || c->op == OP_SHFL_SYNC; }

// Returns a mask of the inputs that the instruction copies and does not use. The last bit also represents all later
// inputs.
static uint32_t copied_inputs(const Code *c)
{
    switch (c->op) {
    case OP_ST: return ~UINT32_C(3);    // after the address
    case OP_CALL: return ~UINT32_C(1);  // after the callee
    case OP_UNDEF:
    case OP_SHFL:
    case OP_SHFL_SYNC: return 1;
    default: return bitwise_inputs(c);
    }
}

// Returns the lanes in which all inputs except those of a mask are defined.
static Mask all_defined(const Run *r, const Group *g, const Code *c, uint32_t but)
{
    Mask defined = UINT32_MAX;
    for (uint32_t k = 0; k < c->nin; k++)
        if (!(but >> MIN(k, 31) & 1))
            defined &= lanes_defined(r, g, &c->in[k]);
    return defined;
}

Mask undef_inputs(const Run *r, const Group *g, const Code *c)
{
    return guard_defined(r, g, c) & all_defined(r, g, c, is_shuffle(c));
}

static void check_inputs(Run *r, const Group *g, const Code *c)
{
    if (has_effect(g, c))
        undef_report_use(r, g, c, g->lanes & ~guard_defined(r, g, c));
    for (uint32_t k = 0; k < c->nin; k++)
        if (affects_control(c, k))
            undef_report_use(r, g, c, g->lanes & ~lanes_defined(r, g, &c->in[k]));
}

static void begin_store(Run *r, const Group *g, const Code *c, Mask defined)
{
    r->ndefined = c->vec;
    for (uint32_t k = 0; k < c->vec; k++) {
        r->defined[k] = read_states(r, g, &c->in[2 + k]);
        for (uint32_t b = 0; b < VALUE_BYTES; b++)
            r->defined[k].byte[b] &= defined;
    }
}

static void begin_result(Run *r, const Group *g, const Code *c, Mask guard)
{
    Mask inputs = all_defined(r, g, c, 0), parts = g->lanes & ~inputs;
    r->ndefined = c->vec;
    if (parts && bitwise_inputs(c)) {
        inputs |= parts;
        r->ndefined = c->nout;
    } else if (c->converges && g->lanes & ~(inputs & guard)) {
        inputs = 0;  // the result depends on the inputs of all lanes
    }
    for (uint32_t k = 0; k < r->ndefined; k++)
        r->defined[k] = same_states(inputs & guard);
    if (parts && bitwise_inputs(c))
        evaluate_states(r, g, c, parts);
}

bool undef_begin(Run *r, const Group *g, const Code *c)
{
    if (c->run == run_unsupported)
        return true;  // the instruction may lack operands
    Mask guard = guard_defined(r, g, c);
    if (r->machine->options.check_uninit) {
        undef_report_use(r, g, c, g->lanes & ~(guard & all_defined(r, g, c, copied_inputs(c))));
        if (r->machine->error.status != RUN_DONE)
            return false;
    } else {
        check_inputs(r, g, c);
    }
    if (c->op == OP_ST)
        begin_store(r, g, c, guard & lanes_defined(r, g, &c->in[0]));
    else
        begin_result(r, g, c, guard);
    return true;
}

void undef_end(Run *r, const Group *g, const Code *c)
{
    Mask others = 0;
    if (is_shuffle(c))
        return;  // collective_shfl() wrote the states
    if (c->converges)
        for (uint32_t b = 0; b < VALUE_BYTES; b++)
            others |= g->lanes & ~r->defined[0].byte[b];
    for (uint32_t k = 0; k < c->nout; k++)
        if (others)
            set_defined(r, g, &c->out[k], g->lanes, 0);
        else
            write_states(r, g, &c->out[k], g->lanes, &r->defined[k < r->ndefined ? k : 0]);
}

void undef_skip(Run *r, const Group *g, const Code *c, Mask lanes)
{
    Mask undefined = lanes & ~guard_defined(r, g, c);
    if (has_effect(g, c) || r->machine->options.check_uninit)
        undef_report_use(r, g, c, undefined);
    for (uint32_t k = 0; k < c->nout; k++)
        set_defined(r, g, &c->out[k], undefined, 0);
}

/* -- Memory --------------------------------------------------------------------------------------------- */

static bool is_load(const Code *c) { return c->op == OP_LD || c->op == OP_LDU; }

// True for loads and asynchronous copies. The latter move the states when the copy is made.
static bool is_copy(const Code *c) { return is_load(c) || c->op == OP_CP_ASYNC_CA || c->op == OP_CP_ASYNC_CG; }

static void set_undefined(States *s, uint32_t first, uint32_t end, uint32_t lane)
{
    for (uint32_t b = first; b < end; b++)
        s->byte[b] &= ~(UINT32_C(1) << lane);
}

// Sets the states of a loaded value. Bytes above the value are its sign extension, or zeroes.
static void load_bytes_of(States *s, const Access *a, const uint8_t *defined, uint32_t bytes)
{
    for (uint32_t b = 0; b < bytes; b++)
        if (!defined[b])
            set_undefined(s, b, a->code->extends && b + 1 == bytes ? VALUE_BYTES : b + 1, a->lane);
}

static void load_states(Run *r, const Access *a, uint32_t elements)
{
    uint32_t bytes = a->size / elements;
    for (uint32_t k = 0; k < elements; k++) {
        const uint8_t *defined = a->defined + k * bytes;
        if (!memchr(defined, 0, bytes))
            continue;
        if (is_load(a->code))
            load_bytes_of(&r->defined[k], a, defined, bytes);
        else
            set_undefined(&r->defined[k], 0, VALUE_BYTES, a->lane);
    }
}

static void store_states(const Run *r, const Access *a, uint32_t elements)
{
    uint32_t bytes = a->size / elements;
    for (uint32_t k = 0; k < elements; k++)
        for (uint32_t b = 0; b < bytes; b++)  // all bytes are alike except for `st`
            a->defined[k * bytes + b] = r->defined[k].byte[b % VALUE_BYTES] >> a->lane & 1;
}

// True if a store to global memory writes no defined byte.
static bool writes_undefined(const Access *a)
{
    return a->code->op == OP_ST && a->allocation && !memchr(a->defined, 1, a->size);
}

bool undef_access(Run *r, const Access *a)
{
    const bool checks = r->machine->options.check_uninit;
    if (!a->defined)
        return true;
    if (!a->write) {
        if (checks && !is_copy(a->code) && memchr(a->defined, 0, a->size))
            return fault(r, a->group, a->code, a->lane, "a read of memory that was never written");
        load_states(r, a, a->code->vec);
        return true;
    }
    store_states(r, a, a->code->vec);
    return !checks || !writes_undefined(a) || fault(r, a->group, a->code, a->lane, "%s", used);
}

/* -- Queries -------------------------------------------------------------------------------------------- */

const uint8_t *machine_defined(Machine *m, uint64_t address)
{
    const Allocation *a = allocation_of(m, address);
    return a && a->defined ? a->defined + (address - a->base) : NULL;
}

const RunError *machine_unspecified(const Machine *m) { return m->unspecified.text[0] ? &m->unspecified : NULL; }
