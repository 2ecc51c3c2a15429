// SPDX-License-Identifier: MIT
// Finds the names with the smallest edit distance to a text that is not a name. A name that begins with the text is
// near: people know the beginning of a long name. So is, less, a name that contains it.
//
// There is no maximum distance: three valid names are useful in any case.
#include <stdio.h>
#include <strings.h>

#include "ir/base/base.h"

enum { LONGEST = 60 };  // compared bytes of a text

// Returns Levenshtein's distance. `| 32` folds the case of letters, and makes some punctuation equal, too.
static unsigned edit_distance(const char *a, size_t na, const char *b)
{
    unsigned row[LONGEST + 4];
    size_t nb = MIN(strlen(b), ARRAY_LEN(row) - 1);
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned above = row[j];
            unsigned change = diagonal + ((a[i - 1] | 32) != (b[j - 1] | 32));
            row[j] = MIN(MIN(above, row[j - 1]) + 1, change);
            diagonal = above;
        }
    }
    return row[nb];
}

// Returns the offset of a text in a name, without regard to case, or -1.
static int find_in(const char *text, size_t len, const char *name)
{
    size_t n = strlen(name);
    for (size_t k = 0; k + len <= n; k++)
        if (strncasecmp(text, name + k, len) == 0)
            return (int)k;
    return -1;
}

// Returns the distance of a name from a text of which at most LONGEST bytes count. If the name contains the
// text, each further letter counts 1, and text before it as much as an edit.
static unsigned distance_of(const char *text, size_t len, const char *name)
{
    enum { SHORTEST = 3 };  // a shorter text is in too many names
    unsigned distance = NEAREST_EDIT * edit_distance(text, len, name);
    int at = len >= SHORTEST ? find_in(text, len, name) : -1;
    return at < 0 ? distance : MIN(distance, (unsigned)(strlen(name) - len) + (at ? NEAREST_EDIT : 0));
}

void nearest_offer(Nearest *best, const char *text, size_t len, const char *name)
{
    uint32_t k = 0, last = ARRAY_LEN(best->name) - 1;
    for (uint32_t j = 0; j < best->n; j++)
        if (strcmp(best->name[j], name) == 0)
            return;
    unsigned distance = distance_of(text, MIN(len, LONGEST), name);
    while (k < best->n && best->distance[k] <= distance)
        k++;
    if (k > last)
        return;
    for (uint32_t j = MIN(best->n, last); j > k; j--) {
        best->name[j] = best->name[j - 1];
        best->distance[j] = best->distance[j - 1];
    }
    best->name[k] = name;
    best->distance[k] = distance;
    best->n += best->n <= last;
}

void nearest_print(const Nearest *best, char *text, size_t cap)
{
    const char *const *name = best->name;
    switch (best->n) {
    case 0: snprintf(text, cap, "%s", ""); break;
    case 1: snprintf(text, cap, "; did you mean %s?", name[0]); break;
    case 2: snprintf(text, cap, "; did you mean %s or %s?", name[0], name[1]); break;
    default: snprintf(text, cap, "; did you mean %s, %s or %s?", name[0], name[1], name[2]); break;
    }
}
