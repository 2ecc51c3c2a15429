// SPDX-License-Identifier: MIT
// Input files of a link: cubins, fat binaries, host objects with one, and archives of these. A file is rewritten with
// the same structure around the cubins.
#ifndef ORI_FILE_H
#define ORI_FILE_H

#include "tools/orilink/link.h"

typedef enum { MEMBER_OTHER, MEMBER_CUBIN, MEMBER_FATBIN, MEMBER_HOST } MemberKind;

// An entry of a fat binary; offsets are relative to its start.
typedef struct FatEntry {
    uint64_t offset, header, stored;  // `stored` bytes follow `header` bytes
    uint16_t kind;
    uint32_t sm, input;  // input: index of its cubin in the link + 1; 0 = not wanted
} FatEntry;

// A part of a file that is one object.
typedef struct Member {
    const char *name;       // for messages: `PATH`, or `PATH(MEMBER)`
    uint64_t header;        // offset of its header in an archive
    uint64_t offset, size;  // in the file
    MemberKind kind;
    uint32_t input;      // of a cubin: its index in the link + 1
    Elf elf;             // of a host object
    uint32_t fatbin;     // its section with the fat binary; 0 = it has no device code
    const uint8_t *fat;  // the fat binary; NULL: none
    uint64_t fat_size;
    VEC(FatEntry) entries;
    bool is_system;  // of libcudadevrt.a
} Member;

typedef struct File {
    const char *path;
    const uint8_t *bytes;
    size_t size;
    bool is_archive, is_system;
    VEC(Member) members;
} File;

/* file.c */
// Reads a file and adds its cubins for the target `sm` to the link; sm 0: that of the first cubin, which it becomes.
// Returns ST_OK, or another status after an error message.
Status file_read(File *file, const char *path, Link *link, uint32_t *sm);
// The same for bytes in memory, which stay in use.
Status file_parse(File *file, const char *path, const uint8_t *bytes, size_t size, Link *link, uint32_t *sm);
// True if something is removed from a file.
bool file_changes(const File *file, const Link *link);
// Writes a file whole or not at all. False after an error message.
bool file_write(Link *link, const char *path, const void *bytes, size_t n);
// Appends the file, with its cubins rewritten.
void file_rewrite(const File *file, Link *link, TextBuffer *text);

/* fatbin.c */
// True for the start of a fat binary.
bool fatbin_is(const uint8_t *bytes, uint64_t size);
// Reads the entries of the fat binary of a member. False after an error message.
bool fatbin_read(Member *m, Link *link, uint32_t *sm);
// Appends the fat binary of a member, with its cubins rewritten.
void fatbin_rewrite(const Member *m, Link *link, TextBuffer *text);

#endif
