// SPDX-License-Identifier: MIT
// Computes the PTX version and the target that an instruction requires, and the version and target of a module.
#include "ir/core/ir.h"

static bool has_type(const Mnem *m, Type type)
{
    bool has = false;
    for (uint32_t k = 0; k < m->ntypes; k++)
        has |= m->type[k] == type;
    return has;
}

static bool has_mod(const Mnem *m, Mod mod) { return m->mod[mod_category(mod)] == mod; }

Isa isa_of(Opcode op, const Mnem *m)
{
    Isa need = {0, 0};
#define TYPE(t) has_type(m, TY_##t)
#define BITS(n) (width_bits(type_info[m->type[0]].width) == (n))
#define MOD(c) (m->mod[MC_##c] != 0)
#define IS(id) has_mod(m, MOD_##id)
#define NEED(id, when, lowest, first)                         \
    if ((op == OP_##id || OP_##id == OP_OPAQUE) && (when)) {  \
        need.version = MAX(need.version, (uint16_t)(lowest)); \
        need.sm = MAX(need.sm, (uint16_t)(first));            \
    }
#include "ir/core/features.def"
#undef TYPE
#undef BITS
#undef MOD
#undef IS
    return need;
}

// Reads the decimal number at `*p` and advances past it.
static uint32_t number(const char **p, const char *end)
{
    uint32_t n = 0;
    for (; *p < end && **p >= '0' && **p <= '9' && n < 1000; (*p)++)
        n = n * 10 + (uint32_t)(**p - '0');
    return n;
}

void module_set_isa(Module *m)
{
    Str version = tab_str(&m->tables, m->version), sm = tab_str(&m->tables, m->sm);
    const char *p = version.text, *end = p + version.len;
    if (version.len) {
        uint32_t major = number(&p, end);
        p += p < end;
        uint32_t minor = number(&p, end);
        m->isa.version = (uint16_t)MIN(major * 10 + MIN(minor, 9), UINT16_MAX);
    }
    p = sm.text, end = p + sm.len;
    if (sm.len > 3 && memcmp(p, "sm_", 3) == 0) {
        p += 3;
        m->isa.sm = (uint16_t)number(&p, end);
    }
}
