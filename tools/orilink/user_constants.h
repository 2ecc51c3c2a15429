// SPDX-License-Identifier: MIT
// Constants of the user: variables in the sections .nv.constant3 of files, which nvlink joins to one bank of at most 64
// KB. Each file's section may be laid out again, and equal constants may have one place.
#ifndef ORI_USER_CONSTANTS_H
#define ORI_USER_CONSTANTS_H

#include "tools/orilink/data_section.h"
#include "tools/orilink/link.h"

enum { USER_BANK = 3, USER_LIMIT = 1 << 16 };

typedef enum {
    MERGE_NONE,
    MERGE_DOCUMENTED,  // as nvlink is documented to do it with merge-constants
    MERGE_ALIAS,       // equal constants that the host cannot name
} MergeMode;

// Variables that overlap, or bytes between variables that no symbol names. The record of a section has its index.
typedef struct UserConstant {
    uint32_t section;  // of UserConstants
    uint32_t symbol;   // the first one of its file; 0 = none
    uint32_t nsymbols;
    uint64_t offset, size;  // in the section of the file
    bool has_relocs;        // its bytes are patched
    uint32_t alias;         // the constant that replaces it; 0 = none
} UserConstant;

// A section that can be laid out again.
typedef struct UserSection {
    uint32_t input, section;
    DataSection data;  // its records are in the order of their new places
    VEC(DataReloc) relocs;
    bool fixed;  // a relocation patches bytes that no constant has: it stays as it is
    bool edited;
} UserSection;

typedef struct UserConstants {
    Link *link;
    Arena arena;
    MergeMode mode;
    bool forced;   // all sections are laid out again, not only if the bank overflows
    Out *verbose;  // NULL: no messages
    VEC(UserSection) sections;
    VEC(UserConstant) constants;  // constants.at[0] is unused
    VEC(DataSymbol) symbols;      // of constants
} UserConstants;

/* user_constants.c */
// Lays out constants of the user again, and edits the inputs. Set link, mode, forced and verbose before.
void user_constants_edit(UserConstants *user);

/* user_alias.c */
// Finds equal constants, of which one can replace the others.
void user_constants_alias(UserConstants *user);

/* user_report.c */
// Prints each constant that another one replaces.
void user_constants_print(const UserConstants *user, Out *out);
// Prints the size of what was laid out again, before and after.
void user_constants_report(const UserConstants *user, Out *out);
// The same, by file, and the constants that others replace, as members of a JSON object, each after a comma; nothing if
// nothing was laid out again.
void user_constants_report_json(const UserConstants *user, Out *out);

/* user_check.c */
// Compares the constants of the user in a rewritten cubin, and the relocations that name or patch them, with those of
// the input. Ends with an internal error if they differ. `before`: by section, the index in the input.
void user_constants_check(const Link *link, const Input *input, const uint8_t *bytes, size_t size,
                          const uint32_t *before, Arena *arena);

#endif
