// SPDX-License-Identifier: MIT
// Decodes descriptors: sets the fields for modifiers and types that all instructions share, and calls the decoder in
// the opcode's file. Also narrows instructions, tests if results are foldable, and caches decoded descriptors.
#include "ir/eval/eval_internal.h"

static EvalDecode *const decoders[OPCODE_COUNT] = {
    [OP_MOV] = decode_move,          [OP_PACK] = decode_move,          [OP_UNPACK] = decode_move,
    [OP_MOV_VEC] = decode_move,      [OP_SELP] = decode_move,          [OP_SLCT] = decode_move,

    [OP_ADD] = decode_integer,       [OP_SUB] = decode_integer,        [OP_MUL_LO] = decode_integer,
    [OP_MUL_HI] = decode_integer,    [OP_MUL_WIDE] = decode_integer,   [OP_MUL24_LO] = decode_integer,
    [OP_MUL24_HI] = decode_integer,  [OP_MAD_LO] = decode_integer,     [OP_MAD_HI] = decode_integer,
    [OP_MAD_WIDE] = decode_integer,  [OP_MAD24_LO] = decode_integer,   [OP_MAD24_HI] = decode_integer,
    [OP_ADD_CC] = decode_integer,    [OP_ADDC] = decode_integer,       [OP_ADDC_CC] = decode_integer,
    [OP_SUB_CC] = decode_integer,    [OP_SUBC] = decode_integer,       [OP_SUBC_CC] = decode_integer,
    [OP_MAD_LO_CC] = decode_integer, [OP_MAD_HI_CC] = decode_integer,  [OP_MADC_LO] = decode_integer,
    [OP_MADC_HI] = decode_integer,   [OP_MADC_LO_CC] = decode_integer, [OP_MADC_HI_CC] = decode_integer,
    [OP_DIV] = decode_integer,       [OP_REM] = decode_integer,        [OP_SAD] = decode_integer,
    [OP_ABS] = decode_integer,       [OP_NEG] = decode_integer,        [OP_MIN] = decode_integer,
    [OP_MAX] = decode_integer,       [OP_POPC] = decode_integer,       [OP_CLZ] = decode_integer,
    [OP_BFIND] = decode_integer,     [OP_FNS] = decode_integer,        [OP_BREV] = decode_integer,
    [OP_BFE] = decode_integer,       [OP_BFI] = decode_integer,        [OP_SZEXT] = decode_integer,
    [OP_BMSK] = decode_integer,      [OP_DP4A] = decode_integer,       [OP_DP2A_LO] = decode_integer,
    [OP_DP2A_HI] = decode_integer,

    [OP_MUL] = decode_float,         [OP_MAD] = decode_float,          [OP_FMA] = decode_float,
    [OP_MIN3] = decode_float,        [OP_MAX3] = decode_float,         [OP_RCP] = decode_float,
    [OP_SQRT] = decode_float,        [OP_TESTP] = decode_float,        [OP_COPYSIGN] = decode_float,
    [OP_RSQRT] = decode_float,       [OP_SIN] = decode_float,          [OP_COS] = decode_float,
    [OP_LG2] = decode_float,         [OP_EX2] = decode_float,          [OP_TANH] = decode_float,
    [OP_CVT] = decode_convert,       [OP_CVT_PACK2] = decode_convert,  [OP_CVT_PACK] = decode_convert,
    [OP_SETP] = decode_compare,      [OP_SET] = decode_compare,

    [OP_AND] = decode_logic,         [OP_OR] = decode_logic,           [OP_XOR] = decode_logic,
    [OP_NOT] = decode_logic,         [OP_CNOT] = decode_logic,         [OP_LOP3] = decode_logic,
    [OP_LOP3_BOOL] = decode_logic,   [OP_SHL] = decode_logic,          [OP_SHR] = decode_logic,
    [OP_SHF_L] = decode_logic,       [OP_SHF_R] = decode_logic,        [OP_PRMT] = decode_logic,

    [OP_VADD] = decode_video,        [OP_VSUB] = decode_video,         [OP_VABSDIFF] = decode_video,
    [OP_VMIN] = decode_video,        [OP_VMAX] = decode_video,         [OP_VSHL] = decode_video,
    [OP_VSHR] = decode_video,        [OP_VMAD] = decode_video,         [OP_VSET] = decode_video,
    [OP_VADD2] = decode_video,       [OP_VSUB2] = decode_video,        [OP_VAVRG2] = decode_video,
    [OP_VABSDIFF2] = decode_video,   [OP_VMIN2] = decode_video,        [OP_VMAX2] = decode_video,
    [OP_VSET2] = decode_video,       [OP_VADD4] = decode_video,        [OP_VSUB4] = decode_video,
    [OP_VAVRG4] = decode_video,      [OP_VABSDIFF4] = decode_video,    [OP_VMIN4] = decode_video,
    [OP_VMAX4] = decode_video,       [OP_VSET4] = decode_video,
};

const Format *eval_format(Type t)
{
    switch (t) {
    case TY_F16:
    case TY_F16X2: return &format_f16;
    case TY_BF16:
    case TY_BF16X2: return &format_bf16;
    case TY_TF32: return &format_tf32;
    case TY_F32:
    case TY_F32X2: return &format_f32;
    case TY_F64: return &format_f64;
    case TY_E4M3X2: return &format_e4m3;
    case TY_E5M2X2: return &format_e5m2;
    default: return NULL;
    }
}

static uint32_t parts_of(Type t)
{
    switch (t) {
    case TY_F16X2:
    case TY_BF16X2:
    case TY_F32X2:
    case TY_U16X2:
    case TY_S16X2:
    case TY_E4M3X2:
    case TY_E5M2X2: return 2;
    default: return 1;
    }
}

static bool is_signed(Type t) { return type_info[t].class == TC_S || t == TY_S16X2; }

static Rounding rounding_of(Mod m)
{
    switch (m) {
    case MOD_RZ:
    case MOD_RZI: return ROUND_ZERO;
    case MOD_RM:
    case MOD_RMI: return ROUND_DOWN;
    case MOD_RP:
    case MOD_RPI: return ROUND_UP;
    case MOD_RNA: return ROUND_NEAREST_AWAY;
    default: return ROUND_NEAREST_EVEN;
    }
}

bool eval_next_part(Str *rest, Str *part)
{
    if (!rest->len)
        return false;
    const char *end = rest->text + rest->len, *next = memchr(rest->text + 1, '.', rest->len - 1);
    if (!next)
        next = end;
    *part = (Str){.text = rest->text + 1, .len = (uint32_t)(next - rest->text) - 1};
    *rest = (Str){.text = next, .len = (uint32_t)(end - next)};
    return true;
}

void eval_run_parts(const Eval *e, const Value *in, Value *out)
{
    Value result = {0, 0};
    for (uint32_t k = 0; k < e->parts; k++) {
        Value part[EVAL_IN_MAX], one;
        for (uint32_t n = 0; n < e->nin; n++)
            part[n] = (Value){in[n].lo >> k * e->bits & e->mask, 0};
        e->part(e, part, &one);
        result.lo |= (one.lo & e->mask) << k * e->bits;
    }
    out[0] = result;
}

bool eval_decode(const Tables *t, const Desc *d, Eval *e)
{
    const Mnem *m = tab_mnem(t, d->mnem);
    Type to = (Type)m->type[0], from = (Type)m->type[1];
    if (!decoders[d->op] || d->nops - d->ndef > EVAL_IN_MAX || d->ndef > EVAL_OUT_MAX)
        return false;
    *e = (Eval){.op = d->op, .nin = (uint8_t)(d->nops - d->ndef), .nout = (uint8_t)d->ndef};
    e->f = eval_format(to);
    e->g = eval_format(from);
    e->parts = (uint8_t)parts_of(to);
    e->bits = (uint8_t)(width_bits(type_info[to].width) / parts_of(to));
    e->from_bits = (uint8_t)(width_bits(type_info[from].width) / parts_of(from));
    e->mask = mask_of(e->bits);
    e->is_signed = is_signed(to);
    e->from_signed = is_signed(from);
    e->rnd = m->mod[MC_RND];
    e->round = rounding_of((Mod)e->rnd);
    e->ftz = m->mod[MC_FTZ];
    e->sat = m->mod[MC_SAT] == MOD_SAT;
    e->satfinite = m->mod[MC_SAT] == MOD_SATFINITE;
    e->relu = m->mod[MC_RELU];
    e->nan = m->mod[MC_NAN];
    e->xorsign = m->mod[MC_XORSIGN];
    e->abs = m->mod[MC_ABS];
    e->cmp = m->mod[MC_CMP];
    e->combine = m->mod[MC_BOOL];
    e->mode = m->mod[MC_MODE] ? m->mod[MC_MODE] : m->mod[MC_POST];
    e->nofold = d->traits & TR_NOFOLD;
    return decoders[d->op](t, d, e);
}

/* -- Other widths --------------------------------------------------------------------------------------- */

// Returns the greatest width that an instruction may be narrowed to; 0 if it depends on its width.
static uint32_t widest(const Eval *e)
{
    switch (e->op) {
    case OP_MUL24_LO:
    case OP_MUL24_HI:
    case OP_MAD24_LO:
    case OP_MAD24_HI:
    case OP_DP4A:
    case OP_DP2A_LO:
    case OP_DP2A_HI:
    case OP_FNS:
    case OP_PRMT:
    case OP_PACK:
    case OP_UNPACK: return 0;
    case OP_MUL_WIDE:
    case OP_MAD_WIDE:
    case OP_SHF_L:
    case OP_SHF_R: return 32;
    default: return e->sat ? 32 : 64;
    }
}

bool eval_narrow(Eval *e, uint32_t bits)
{
    bool shape = e->f || e->g || e->parts > 1 || e->bits < 8 || e->bits > 64 || decoders[e->op] == decode_video ||
                 decoders[e->op] == decode_convert;
    if (shape || bits < 8 || bits > widest(e))
        return false;
    e->bits = e->from_bits = (uint8_t)bits;
    e->mask = mask_of(bits);
    return true;
}

/* -- Folding -------------------------------------------------------------------------------------------- */

static bool divides(const Eval *e, const Value *in)
{
    uint64_t a = in[0].lo & e->mask, b = in[1].lo & e->mask;
    bool least = e->is_signed && a == (e->mask >> 1) + 1;
    return b != 0 && !(least && b == e->mask);
}

// True if no position or length is above 255 that the ISA does not define: 64-bit forms do not reduce it mod 256.
static bool is_in_field(const Eval *e, const Value *in)
{
    uint32_t first = e->op == OP_BFI ? 2 : 1;
    return ((in[first].lo | in[first + 1].lo) & e->extra) <= 255;
}

// A NaN result is foldable if it is the canonical NaN of f16 or f32 and the instruction returns no other NaN. The ISA
// does not state if clamping gives +0 for -0.
bool eval_foldable(const Eval *e, const Value *in, const Value *out)
{
    if (e->nofold || ((e->op == OP_DIV || e->op == OP_REM) && !e->f && !divides(e, in)))
        return false;
    if (e->op == OP_FNS && ((in[1].lo & UINT32_MAX) > 31 || (in[2].lo & UINT32_MAX) == 0x80000000))
        return false;
    if ((e->op == OP_BFE || e->op == OP_BFI) && !is_in_field(e, in))
        return false;
    if (!e->f || e->op == OP_SETP || e->op == OP_TESTP)
        return true;
    for (uint32_t k = 0; k < e->parts; k++) {
        uint64_t part = out[0].lo >> k * e->bits & e->mask;
        bool nan = float_class(e->f, part) == FLOAT_NAN;
        bool canonical = (e->f == &format_f16 || e->f == &format_f32) && part == e->f->nan;
        if (nan ? !canonical || e->open_nan : !part && (e->sat || e->relu))
            return false;
    }
    return true;
}

void eval_cache_init(EvalCache *c, const Tables *tables, Arena *arena)
{
    *c = (EvalCache){.tables = tables, .arena = arena, .n = tables->desc_first + tables->descs.n};
    c->rows = NEW_ARRAY(arena, EvalRow *, c->n);
}

// Adds rows for newer descriptors.
static void grow(EvalCache *c)
{
    EvalCache old = *c;
    c->n = 2 * (c->tables->desc_first + c->tables->descs.n);
    c->rows = NEW_ARRAY(c->arena, EvalRow *, c->n);
    if (old.n)
        memcpy(c->rows, old.rows, old.n * sizeof *old.rows);
}

const Eval *eval_cached(EvalCache *c, DescId desc)
{
    if (desc >= c->n)
        grow(c);
    EvalRow *row = c->rows[desc];
    if (!row) {
        row = c->rows[desc] = NEW(c->arena, EvalRow);
        row->can = eval_decode(c->tables, tab_desc(c->tables, desc), &row->eval) && !row->eval.nofold;
    }
    return row->can ? &row->eval : NULL;
}
