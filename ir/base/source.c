// SPDX-License-Identifier: MIT
// Input files: mapped where the system can, read into memory where it cannot (pipes, devices).
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/base.h"

// Maps the file over a zeroed mapping that is at least SOURCE_SLACK bytes longer, so that NULs follow the text.
static bool map_file(Source *source, int fd, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = ((len + SOURCE_SLACK) / page + 1) * page;
    char *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (mmap(p, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(p, bytes);
        return false;
    }
    source->text = p;
    source->len = len;
    source->mapped = bytes;
    return true;
}

static bool read_all(Source *source, int fd, Arena *arena)
{
    size_t cap = 1 << 16, n = 0;
    char *buf = arena_alloc(arena, cap);
    while (true) {
        ssize_t got = read(fd, buf + n, cap - n - SOURCE_SLACK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        n += (size_t)got;
        if (n + SOURCE_SLACK == cap) {
            char *bigger = arena_alloc(arena, cap * 2);
            memcpy(bigger, buf, n);
            buf = bigger;
            cap *= 2;
        }
    }
    memset(buf + n, 0, SOURCE_SLACK);
    source->text = buf;
    source->len = n;
    return true;
}

bool source_open(Source *source, const char *path, Arena *arena, char why[static 200])
{
    bool standard_input = strcmp(path, "-") == 0;
    *source = (Source){.name = standard_input ? "<stdin>" : path};
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        ok = false;
    }
    if (ok) {
        bool mapped =
            S_ISREG(st.st_mode) && st.st_size > 0 && !standard_input && map_file(source, fd, (size_t)st.st_size);
        ok = mapped || read_all(source, fd, arena);
    }
    if (!ok)
        snprintf(why, 200, "%s", strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
    return ok;
}

void source_passed(const Source *source, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (source->mapped && from < to)
        madvise((void *)(uintptr_t)(source->text + from), to - from, MADV_DONTNEED);
}

void source_close(Source *source)
{
    if (source->mapped)
        munmap((void *)(uintptr_t)source->text, source->mapped);
    source->mapped = 0;
}
