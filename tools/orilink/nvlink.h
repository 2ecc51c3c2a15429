// SPDX-License-Identifier: MIT
// Runs of nvlink on the files of a link.
#ifndef ORI_NVLINK_H
#define ORI_NVLINK_H

#include "tools/options/process.h"
#include "tools/orilink/file.h"

typedef struct Nvlink {
    const char *program;  // a path, or a name on the PATH; NULL: nvlink
    Names options;        // of the user, for each run
    const char *target;   // `sm_NN`
    const Seeds *seeds;   // options of orilink that nvlink has, too
    bool keeps_system_libraries, extra_warnings;
    bool full;           // all dead code was removed from the rewritten files
    const char *output;  // the linked file; NULL: it is not kept
    bool verify;         // compare the link of the rewritten files with that of the originals
    const char *folder;  // of temporary files, during nvlink_run(); NULL: there is none
} Nvlink;

// Links rewritten files; texts[k] is the new content of files[k], empty if the file did not change. Returns ST_OK, or
// another status after an error message: ST_BAD_INPUT if nvlink failed, ST_INTERNAL if the results differ.
Status nvlink_run(Nvlink *run, Link *link, const File *files, const TextBuffer *texts, uint32_t nfiles);
// Removes temporary files, after an error in nvlink_run() that unwound the heap.
void nvlink_end(Nvlink *run);

/* verify.c */
// Compares what nvlink made of the rewritten files with what it made of the originals: code, constants as code reads
// them, shared memory, initial values of variables, and relocations. Constants may have other places. Prints each
// difference; true if there is none.
bool verify_links(Link *link, const char *ours, const char *originals);

#endif
