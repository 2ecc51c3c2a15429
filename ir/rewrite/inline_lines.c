// SPDX-License-Identifier: MIT
// Copies the lines of an inlined callee.
//
// A line of the callee's own code gets the label of its name and the line of the call. A line that was inlined into the
// callee keeps its function, and the line of its own call is copied, too. So the chain of calls ends in the caller:
//
//     h:   .loc 1 30 5                                                   call g
//     g:   .loc 1 20 5                                                   call f, inlined
//          .loc 1 10 5, function_name $f, inlined_at 1 20 5
//     h with g:
//          .loc 1 30 5
//          .loc 1 20 5, function_name $g, inlined_at 1 30 5
//          .loc 1 10 5, function_name $f, inlined_at 1 20 5
//
// Each inlined call gets a line of its own, so that the code of two calls in one line stays apart.
//
// Must not fire:
//     before PTX 7.2             lines have no `inlined_at`
//     call without a line        lines of the callee stay as they are
#include "ir/rewrite/inline_internal.h"

enum { INLINED_AT_VERSION = 72 };

LineCopy line_copy_begin(Arena *arena, Fn *fn, const Fn *callee, LineId call)
{
    LineCopy c = {.arena = arena, .fn = fn, .from = callee};
    c.copies = NEW_ARRAY(arena, LineId, callee->lines.n);
    c.call = fn->module->isa.version >= INLINED_AT_VERSION ? call : 0;
    return c;
}

// Makes the line of the call and the name of its callee, once a line refers to them.
static void make_call_line(LineCopy *c)
{
    Line call = *ir_line(c->fn, c->call);
    Str label = module_debug_label(c->fn->module, c->from->sym);
    const char *stem_end;
    uint32_t number = name_number(label.text, label.text + label.len, &stem_end);
    c->function = (Name){str_intern(&c->fn->tables->strs, label.text, (size_t)(stem_end - label.text)), number};
    call.after = 0;
    c->at = line_new(c->fn, call);
}

// Copies a line whose own call has a copy.
static LineId copy_one(LineCopy *c, LineId id)
{
    Line line = *ir_line(c->from, id);
    line.after = 0;
    if (line.at) {
        line.function = name_import(c->fn->tables, c->from->tables, line.function);
        line.at = c->copies[line.at];
    } else if (c->call) {
        if (!c->at)
            make_call_line(c);
        line.function = c->function;
        line.at = c->at;
    }
    return line_new(c->fn, line);
}

LineId line_copy(LineCopy *c, LineId id)
{
    for (LineId at = id; at && !c->copies[at]; at = ir_line(c->from, at)->at)
        VEC_PUSH(c->arena, &c->chain, at);
    while (c->chain.n) {
        LineId at = c->chain.at[--c->chain.n];
        c->copies[at] = copy_one(c, at);
    }
    return id ? c->copies[id] : 0;
}
