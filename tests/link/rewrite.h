// SPDX-License-Identifier: MIT
// Rewrites a file in memory as orilink does, for tests with damaged files.
#ifndef ORI_TEST_REWRITE_H
#define ORI_TEST_REWRITE_H

#include "tools/orilink/banks.h"
#include "tools/orilink/file.h"
#include "tools/orilink/user_constants.h"

static inline void no_message(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

// Keeps the kernels whose names contain a text. Uses at most `limit` bytes. Returns the status.
static inline Status rewrite(const char *path, const uint8_t *bytes, size_t n, const char *kernels, bool no_variables,
                             bool documented, size_t limit)
{
    Heap heap = {.limit = limit};
    jmp_buf unwind;
    volatile Status status = ST_INTERNAL;
    Diag diag = {.write = no_message};
    Link link = {.heap = &heap, .diag = &diag};
    heap.unwind = &unwind;
    arena_init(&link.arena, &heap);
    if (setjmp(unwind)) {
        status = heap.status;
    } else {
        File file;
        Seeds seeds = {.by_list = true};
        TextBuffer text = {.arena = &link.arena};
        uint32_t sm = 0;
        link.compresses = n & 2;
        str_init(&link.names, &link.arena, NULL);
        VEC_PUSH(&link.arena, &seeds.kernels, kernels);
        if (no_variables)
            VEC_PUSH(&link.arena, &seeds.variables, "none");
        status = file_parse(&file, path, bytes, n, &link, &sm);
        if (status == ST_OK) {
            graph_build(&link);
            seed_roots(&link, &seeds);
            if (documented)
                dce_documented(&link, false);
            else
                dce_full(&link);
            link.lacks_host_info = false;  // so that constants get aliases
            UserConstants user = {.link = &link, .mode = documented ? MERGE_DOCUMENTED : MERGE_ALIAS, .forced = n & 1};
            user_constants_edit(&user);
            Banks banks;
            banks_read(&banks, &link, true);
            if (banks_plan(&banks, true)) {
                banks_apply(&banks);
                if (!banks_check(&banks))
                    heap_fail(&heap, ST_INTERNAL, "a constant was moved wrongly");
            }
            file_rewrite(&file, &link, &text);
            report_functions(&link, &(Out){.write = out_to_text, .user = &text, .buf = (char[4096]){0}, .cap = 4096});
        }
    }
    heap_release(&heap);
    return status;
}

#endif
