// SPDX-License-Identifier: MIT
// Source lines of functions.
#include "ir/core/ir.h"

LineId line_new(Fn *fn, Line line)
{
    if (fn->lines.n == 0)
        *ir_line(fn, seg_push(&fn->lines, &fn->arena, 1, sizeof(Line))) = (Line){0};
    LineId id = seg_push(&fn->lines, &fn->arena, 1, sizeof(Line));
    *ir_line(fn, id) = line;
    return id;
}

LineId line_find(const Fn *fn, const IdSet *set, const Line *line)
{
    IDSET_EACH(set, line_hash(line), id) {
        if (line_same(ir_line(fn, id), line))
            return id;
    }
    return 0;
}

LineId line_first(const Fn *fn, IdSet *set, Arena *arena, LineId id)
{
    const Line *line = ir_line(fn, id);
    LineId first = line_find(fn, set, line);
    if (!first)
        idset_add(set, arena, line_hash(line), id);
    return first ? first : id;
}

void fn_source_position(const Fn *fn, LineId line, char text[static 200])
{
    const Module *m = fn->module;
    uint32_t number;
    Str name;
    text[0] = 0;
    for (uint32_t k = 0; line && k < m->items.n; k++)
        if (module_file(m, k, &number, &name) && number == ir_line(fn, line)->file) {
            snprintf(text, 200, "%.*s:%u", (int)MIN(name.len, 180), name.text, ir_line(fn, line)->line);
            return;
        }
}
