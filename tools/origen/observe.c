// SPDX-License-Identifier: MIT
// Makes values reach the output: through the hashes of a function, or directly in the record of a thread.
#include "tools/origen/origen.h"

// Each step is a bijection of the accumulator for any value, and of the value for any accumulator.
static const struct {
    Class cls;
    uint32_t sm, weight;
    const char *pattern;
} mixes[] = {
    {CLASS_R, 0, 6, "mad.lo.<s32|u32> $A, $a, <1664525|22695477|-1640531535|31|33>, $v;"},
    {CLASS_R, 0, 3, "mad.lo.<s32|u32> $A, $v, <1597334677|-1028477379|1000003>, $a;"},
    {CLASS_R, 0, 1, "xor.b32 $r1, $a, $v; mul.lo.<s32|u32> $A, $r1, <16777619|-2048144777|668265263>;"},
    {CLASS_R, 32, 2, "add.<s32|u32> $r1, $v, $a; shf.l.wrap.b32 $A, $r1, $r1, <5|7|13|19>;"},
    {CLASS_R, 0, 1, "shl.b32 $r1, $a, 5; add.s32 $r2, $r1, $a; xor.b32 $A, $r2, $v;"},
    {CLASS_R, 0, 1, "sub.s32 $r1, $a, $v; shl.b32 $r2, $r1, 9; shr.u32 $r3, $r1, 23; or.b32 $A, $r2, $r3;"},
    {CLASS_D, 0, 3, "mad.lo.<s64|u64> $C, $c, <6364136223846793005|1099511628211>, $v;"},
    {CLASS_D, 0, 1, "xor.b64 $d1, $c, $v; mul.lo.<s64|u64> $C, $d1, <1099511628211|-7046029254386353131>;"},
};
enum { MOST_WEIGHT = 6 };

Value *canonical_nan_of(Gen *g, Value *v)
{
    const char *pattern = class_info[v->cls].canonical_nan;
    if (!*pattern || (v->cls != CLASS_G && has(g, FT_NANBITS)))
        return v;
    Value *copy = value_scratch(g, v->cls);
    code(g, pattern, v, copy);
    return copy;
}

// Returns the bits of a value as class R or D.
static Value *bits_of(Gen *g, Value *v)
{
    v = canonical_nan_of(g, v);
    if (v->cls == CLASS_R || v->cls == CLASS_D)
        return v;
    Value *bits = value_scratch(g, class_info[v->cls].bytes == 8 ? CLASS_D : CLASS_R);
    code(g, class_info[v->cls].view, bits, v);
    return bits;
}

static void mix(Gen *g, Value *bits)
{
    uint32_t k;
    do
        k = roll(g, ARRAY_LEN(mixes));
    while (mixes[k].cls != bits->cls || mixes[k].sm > g->options.sm || !chance(g, mixes[k].weight, MOST_WEIGHT));
    code(g, mixes[k].pattern, bits);
}

// Mixes the halves of a value that is too wide for the accumulator.
static void mix_halves(Gen *g, Value *bits)
{
    Value *low = value_scratch(g, CLASS_R), *high = value_scratch(g, CLASS_R);
    if (chance(g, 1, 2))
        code(g, "mov.b64 {$w, $w}, $v;", low, high, bits);
    else
        code(g, "cvt.u32.u64 $w, $v; shr.u64 $d1, $v, 32; cvt.u32.u64 $w, $d1;", low, bits, bits, high);
    mix(g, low);
    mix(g, high);
}

// Stores the bits in the record of this thread, by chance and if there is room. Returns true if it did.
static bool store_in_record(Gen *g, Value *bits)
{
    Fn *fn = &g->fn;
    uint32_t bytes = class_info[bits->cls].bytes, at = (fn->record_used + bytes - 1) & ~(bytes - 1);
    if (!fn->record || at + bytes > fn->record->bytes || !chance(g, 1, 3))
        return false;
    Place p = {fn->record, NULL, at};
    fn->record_used = at + bytes;
    code(g, "st$s.<u|b>$u $o, $v;", space_name(fn->record->space), bytes * 8, &p, bits);
    return true;
}

void observe(Gen *g, Value *v)
{
    Fn *fn = &g->fn;
    const Value *guard = fn->guard;
    if (fn->dead || fn->unreachable)
        return;
    fn->guard = NULL;
    v->pending = false;
    Value *bits = bits_of(g, v);
    if (store_in_record(g, bits))
        ;
    else if (bits->cls == CLASS_R || fn->wide_hash)
        mix(g, bits);
    else
        mix_halves(g, bits);
    fn->guard = guard;
}

// An accumulator is a variable that only observe() assigns.
void hash_begin(Gen *g)
{
    Fn *fn = &g->fn;
    fn->hash = value_make(g, CLASS_R);
    code(g, "mov.u32 $w, <5381|-2128831035|0>;", fn->hash);
    fn->wide_hash = NULL;
    if (!has(g, FT_WIDE) || !chance(g, 1, 2))
        return;
    fn->wide_hash = value_make(g, CLASS_D);
    code(g, "mov.u64 $w, <0|-3750763034362895579>;", fn->wide_hash);
}
