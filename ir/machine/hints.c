// SPDX-License-Identifier: MIT
// Runs hints to the hardware, which change no value except by discard: prefetches, priorities and policies of caches,
// numbers of registers, dependent grids, events of profilers. PTX ISA 9.7.9 (prefetch, applypriority, discard,
// createpolicy), 9.7.13 (griddepcontrol), 9.7.19 (setmaxnreg, pmevent).
//
// - discard is a weak write of indeterminate values, so it is checked as a write. Its bytes become undefined.
// - Other hints access no memory: every address is accepted, since prefetches beyond the end of a buffer are usual.
//   Alignments and sizes that the ISA requires are checked.
// - createpolicy gives the same policy in all forms; only hints read it.
// - Other grids do not exist, so griddepcontrol.wait has nothing to wait for.
#include "ir/machine/machine_internal.h"

enum { LINE_BYTES = 128, BULK_ALIGN = 16, EVENTS = 16 };
#define POLICY UINT64_C(0x1000000000000000)  // evict_normal, as headers of CUDA have it

// Checks the number of bytes of discard and applypriority. False after a fault.
static bool check_line(Run *r, const Group *g, const Code *c, uint32_t lane, const char *name)
{
    uint32_t n = (uint32_t)read_lane(r, g, &c->in[2], lane);
    return n == LINE_BYTES || fault(r, g, c, lane, "%s of %u bytes, but only %d are possible", name, n, LINE_BYTES);
}

static bool run_discard(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t address = address_of(r, g, c, lane);
        if (!check_line(r, g, c, lane, "discard"))
            return false;
        const Span at = memory_in(r, g, c, lane, SP_GLOBAL, address, LINE_BYTES, LINE_BYTES, true);
        if (!at.bytes)
            return false;
        memset(at.bytes, (uint8_t)UNDEF_BITS, LINE_BYTES);
        if (at.defined)
            memset(at.defined, 0, LINE_BYTES);
    }
    return true;
}

static bool run_applypriority(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t address = address_of(r, g, c, lane);
        if (!check_line(r, g, c, lane, "applypriority"))
            return false;
        if (address % LINE_BYTES)
            return fault(r, g, c, lane, "applypriority of %d bytes at address %#llx, which is not aligned", LINE_BYTES,
                         (unsigned long long)address);
    }
    return true;
}

static bool run_bulk_prefetch(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane) {
        uint64_t address = address_of(r, g, c, lane);
        uint32_t bytes = (uint32_t)read_lane(r, g, &c->in[2], lane);
        if (bytes % BULK_ALIGN)
            return fault(r, g, c, lane, "a bulk prefetch of %u bytes, which is not a multiple of %d", bytes,
                         BULK_ALIGN);
        if (address % BULK_ALIGN)
            return fault(r, g, c, lane, "a bulk prefetch of %u bytes at address %#llx, which is not aligned", bytes,
                         (unsigned long long)address);
    }
    return true;
}

static bool run_setmaxnreg(Run *r, Group *g, const Code *c)
{
    uint32_t lane = (uint32_t)__builtin_ctz(g->lanes), n = (uint32_t)read_lane(r, g, &c->in[0], lane);
    if (g->lanes != r->warp->live)
        return fault(r, g, c, lane, "divergence at setmaxnreg, which is aligned");
    if (n % 8 || n < 24 || n > 256)
        return fault(r, g, c, lane, "setmaxnreg of %u registers, which is no multiple of 8 from 24 to 256", n);
    return true;
}

static bool run_pmevent(Run *r, Group *g, const Code *c)
{
    uint32_t lane = (uint32_t)__builtin_ctz(g->lanes), n = (uint32_t)read_lane(r, g, &c->in[0], lane);
    return n < EVENTS || fault(r, g, c, lane, "pmevent %u, but there are only %d, from 0 on", n, EVENTS);
}

bool run_createpolicy(Run *r, Group *g, const Code *c)
{
    FOR_LANES(g->lanes, lane)
        write_lane(r, g, &c->out[0], lane, (Value){POLICY, 0});
    return true;
}

bool hint_decode(const Tables *t, const Desc *d, Code *c)
{
    static const struct {
        const char *text;
        CodeRun *run;
        uint8_t least;   // number of inputs; an address counts as two
        bool is_prefix;  // more modifiers may follow
    } rows[] = {
        {"griddepcontrol.wait", run_nothing, 0, false},
        {"griddepcontrol.launch_dependents", run_nothing, 0, false},
        {"setmaxnreg.inc.sync.aligned.u32", run_setmaxnreg, 1, false},
        {"setmaxnreg.dec.sync.aligned.u32", run_setmaxnreg, 1, false},
        {"applypriority.L2::evict_normal", run_applypriority, 3, false},
        {"applypriority.global.L2::evict_normal", run_applypriority, 3, false},
        {"discard.L2", run_discard, 3, false},
        {"discard.global.L2", run_discard, 3, false},
        {"prefetch.tensormap", run_nothing, 2, false},
        {"prefetch.const.tensormap", run_nothing, 2, false},
        {"prefetch.param.tensormap", run_nothing, 2, false},
        {"cp.async.bulk.prefetch.L2.global", run_bulk_prefetch, 3, false},
        {"cp.async.bulk.prefetch.L2.global.L2::cache_hint", run_bulk_prefetch, 4, false},
        {"cp.async.bulk.prefetch.tensor.", run_nothing, 1, true},
        {"pmevent", run_pmevent, 1, false},
        {"pmevent.mask", run_nothing, 1, false},
        {"fence.mbarrier_init.", run_nothing, 0, true},
        {"fence.proxy.", run_nothing, 0, true},
        {"membar.proxy.", run_nothing, 0, true},
    };
    Str text = tab_str(t, tab_mnem(t, d->mnem)->text);
    for (uint32_t k = 0; d->op == OP_OPAQUE && k < ARRAY_LEN(rows); k++) {
        size_t n = strlen(rows[k].text);
        bool same = text.len >= n && memcmp(text.text, rows[k].text, n) == 0 && (rows[k].is_prefix || text.len == n);
        if (!same || c->nin < rows[k].least)
            continue;
        c->run = rows[k].run;
        return true;
    }
    return false;
}
