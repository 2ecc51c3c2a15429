// SPDX-License-Identifier: MIT
// Files of values: raw bytes, lowest byte first, or NumPy's .npy, which the first bytes of a file tell apart.
//
//     ValuesFile v;
//     Status status = values_open(&v, path, TY_F32, arena, why);
//     if (status == ST_OK)
//         ... v.bytes, v.size ...
//     values_close(&v);
#ifndef ORI_RUN_NPY_H
#define ORI_RUN_NPY_H

#include "tools/orirun/run_values.h"

typedef struct ValuesFile {
    Source source;
    const uint8_t *bytes;  // the values, of an array in C order
    uint64_t size;         // bytes
} ValuesFile;

enum { VALUES_WHY = 400 };

// Opens a file with values of a type; TY_NONE: of any. Returns ST_IO if it cannot be read, ST_BAD_INPUT if it has no
// such values, with the reason in `why`. The caller calls values_close() in all cases.
Status values_open(ValuesFile *v, const char *path, Type t, Arena *arena, char why[static VALUES_WHY]);
void values_close(ValuesFile *v);

// True if a file of this name is written as .npy.
bool npy_is_name(const char *path);
enum { NPY_HEADER = 128 };
// Writes the header of an array of `count` values; TY_NONE: of bytes.
void npy_header(char header[static NPY_HEADER], Type t, uint64_t count);

#endif
