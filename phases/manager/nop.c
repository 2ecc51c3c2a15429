// SPDX-License-Identifier: MIT
// Phases that do nothing. Slots: 158 NOP; 131 and 157 DebuggerBreak.
//
// `--named-phases NOP` only reads and writes, which tests readers and writers. DebuggerBreak calls
// ori_debugger_break(), which programs and libraries export: `gdb -ex "break ori_debugger_break"` stops in each
// function at these slots.
#include "phases/bodies.h"

bool phase_nop(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    (void)fn;
    return false;
}

// The library exports it (ori.h). The assembler statement keeps the calls of an empty function.
__attribute__((noinline, used, visibility("default"))) void ori_debugger_break(void);
void ori_debugger_break(void) { __asm__ volatile(""); }

bool phase_debugger_break(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    (void)fn;
    ori_debugger_break();
    return false;
}
