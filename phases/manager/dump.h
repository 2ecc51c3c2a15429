// SPDX-License-Identifier: MIT
// Dumps and checks that the manager makes around phases.
#ifndef ORI_PHASE_DUMP_H
#define ORI_PHASE_DUMP_H

#include "phases/phase.h"

/* manager/dump.c */
// Starts and ends the dumps of one function, around its plan.
void dump_start(Ctx *ctx, const Fn *fn);
void dump_end(Ctx *ctx, Fn *fn);
// Makes the dumps of a phase that is skipped, since the function has no instructions of these classes (IC_*).
void dump_skipped(Ctx *ctx, const Fn *fn, int row, uint32_t classes);
// Makes the dumps before and after a phase. `changed`: the hash of the function changed.
void dump_before(Ctx *ctx, const Fn *fn, int row);
void dump_after(Ctx *ctx, const Fn *fn, int row, bool changed);
// Does the same for a phase over the module; its dumps are the whole module.
void dump_module_before(Ctx *ctx, const Module *m, int row);
void dump_module_after(Ctx *ctx, const Module *m, int row, bool changed);

/* dump_cfg.c */
// Writes the control flow graph of a function as a digraph of Graphviz with this title.
void dump_graph(const Fn *fn, const char *title, Out *out);

/* self_check.c */
// Checks the contract of the phase that ran; unwinds with an internal error if it is broken.
void check_contract(Ctx *ctx, Fn *fn, int row, bool progress, bool changed);
// Checks that a phase that is skipped would not change the function.
void check_skip(Ctx *ctx, Fn *fn, int row, int slot);
// Returns the function. With --self-check, returns an equal function that replaces it.
Fn *self_check(Ctx *ctx, Fn *fn, int row);

#endif
