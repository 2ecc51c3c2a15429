// SPDX-License-Identifier: MIT
// A kernel in Ori text that runs on the machine. It is called k, and its parameters are the addresses of two buffers of
// words, out and in. The k-th word that thread t reports is out[k * ROW + t].
#ifndef ORI_UNIT_RIG_H
#define ORI_UNIT_RIG_H

#include "ir/machine/machine.h"
#include "tests/unit/unit.h"

enum { ROW = 64, ROWS = 64 };

typedef struct Rig {
    Heap heap;
    Arena arena;
    TextBuffer text;
    Source source;
    Sink messages;
    Diag diag;
    Module *module;
    Machine *machine;
    uint64_t address[2];
    uint8_t *out, *in;
    SymId entry;
} Rig;

// Starts of texts: the module, and the initial registers of each thread,
//     R0, R1  out and in          R4, R5  the thread's words of them
//     R2      %tid.x              R6      in[%tid.x], which is %tid.x unless the test wrote another value
#define MODULE "target sm_80 ptx 8.0 address 64\n"
#define KERNEL(form) "kernel @k(@out: 64, @in: 64) form " form " {\n"
#define START                         \
    "  R0:64 = ld.param.b64 [@out]\n" \
    "  R1:64 = ld.param.b64 [@in]\n"  \
    "  R2:32 = mov.b32 %tid.x\n"      \
    "  R3:64 = mul.wide.u32 R2, 4\n"  \
    "  R4:64 = add.s64 R0, R3\n"      \
    "  R5:64 = add.s64 R1, R3\n"      \
    "  R6:32 = ld.global.b32 [R5]\n"
#define SSA MODULE KERNEL("ssa") "b0:\n" START
#define END "  exit\n}\n"
// Reports a register as the k-th word.
#define SAY(k, reg) "  st.global.b32 [R4+" SAY_##k "], " reg "\n"
#define SAY_0 "0"
#define SAY_1 "256"
#define SAY_2 "512"
#define SAY_3 "768"
#define SAY_4 "1024"
#define SAY_5 "1280"

// Reads the text and makes the machine.
void rig_open(Rig *r, MachineOptions options, const char *text);
bool rig_launch(Rig *r, Dim grid, Dim block);
// Opens and launches one warp, which must run to its end.
void rig_run(Rig *r, MachineOptions options, const char *text);
void rig_close(Rig *r);

uint32_t rig_word(const Rig *r, uint32_t k, uint32_t thread);
void rig_set(Rig *r, uint32_t thread, uint32_t word);  // word of in

#endif
