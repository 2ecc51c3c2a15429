// SPDX-License-Identifier: MIT
// Enters strings, names, constants and descriptors of one function into the tables of another function of the module.
#include "ir/core/ir.h"

// The functions share the tables of the module, and so all ids below the first id of their own tables.
StrId str_import(Tables *to, const Tables *from, StrId id)
{
    Str s = tab_str(from, id);
    return str_intern(&to->strs, s.text, s.len);
}

Name name_import(Tables *to, const Tables *from, Name name)
{
    return name.stem ? (Name){str_import(to, from, name.stem), name.number} : name;
}

ConstId const_import(Tables *to, const Tables *from, ConstId id)
{
    if (id < from->const_first)
        return id;
    Const c = tab_const(from, id);
    return const_intern(to, c.bits, c.width);
}

DescId desc_import(Tables *to, const Tables *from, DescId id)
{
    if (id < from->desc_first)
        return id;
    const Desc *d = tab_desc(from, id);
    Str mnemonic = tab_str(from, tab_mnem(from, d->mnem)->text), shape = tab_str(from, d->shape);
    const char *why;
    DescId own = desc_intern(to, mnem_intern(to, mnemonic.text, mnemonic.len), shape.text, shape.len, &why);
    if (!own || tab_desc(to, own)->op != d->op)
        heap_fail(to->arena->heap, ST_INTERNAL, "'%.*s' cannot be entered into the tables of another function",
                  (int)MIN(mnemonic.len, 60), mnemonic.text);
    return own;
}
