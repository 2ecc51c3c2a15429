// SPDX-License-Identifier: MIT
// What people see of a run: the function before and after phases, as Ori text.
#ifndef ORI_PHASE_DUMP_H
#define ORI_PHASE_DUMP_H

#include "phases/phase.h"

/* manager/dump.c */
// Around the plan of one function.
void dump_start(Ctx *ctx, const Fn *fn);
void dump_end(Ctx *ctx, const Fn *fn);
// Around a phase. `changed`: whether the function is another than before.
void dump_before(Ctx *ctx, const Fn *fn, int row);
void dump_after(Ctx *ctx, const Fn *fn, int row, bool changed);

/* dump_cfg.c */
// Writes the control flow graph of a function as a digraph of Graphviz with this title.
void dump_graph(const Fn *fn, const char *title, Out *out);

/* self_check.c */
// Whether the phase kept to its contract; unwinds with an internal error otherwise.
void check_contract(Ctx *ctx, Fn *fn, int row, bool progress, bool changed);
// With --self-check: the function, or an equal one that takes its place.
Fn *self_check(Ctx *ctx, Fn *fn, int row);

#endif
