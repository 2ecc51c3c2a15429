// SPDX-License-Identifier: MIT
// Reads input files into memory.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/base.h"

// The file of a source, and the part of its text that was dropped.
struct SourceFile {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    size_t dropped;  // bytes at the start
    bool stays;      // they were read again, and are not dropped a second time: one message may follow another
    bool lost;       // they could not be read again
};

// Reads up to `room` bytes of the rest of the file to `buf`; returns their number, or -1.
static ssize_t read_some(int fd, char *buf, size_t room)
{
    size_t n = 0;
    for (ssize_t got; n < room; n += (size_t)got) {
        got = read(fd, buf + n, room - n);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got < 0)
            return -1;
        else if (got == 0)
            break;
    }
    return (ssize_t)n;
}

// Reads a regular file into separate pages, which the heap does not count. The file is not mapped: if it shrank during
// the run, SIGBUS would end the process. The length of the source is the number of bytes read.
static bool read_file(Source *source, int fd, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = ((len + SOURCE_SLACK) / page + 1) * page;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    ssize_t n = read_some(fd, p, len);
    if (n < 0) {
        munmap(p, bytes);
        return false;
    }
    source->text = p;
    source->len = (size_t)n;
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
        bool file = S_ISREG(st.st_mode) && st.st_size > 0 && !standard_input;
        ok = file ? read_file(source, fd, (size_t)st.st_size) : read_all(source, fd, arena);
        if (ok && file) {
            source->file = NEW(arena, struct SourceFile);
            *source->file =
                (struct SourceFile){.device = st.st_dev, .inode = st.st_ino, .size = st.st_size, .changed = st.st_mtim};
        }
    }
    if (!ok)
        snprintf(why, 200, "%s", strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
    return ok;
}

void source_close(Source *source)
{
    if (source->mapped)
        munmap((void *)(uintptr_t)source->text, source->mapped);
    source->mapped = 0;
    source->file = NULL;
}

void source_drop(const Source *source, size_t end)
{
    enum { MEGABYTE = 1 << 20 };
    struct SourceFile *file = source->file;
    end &= ~((size_t)sysconf(_SC_PAGESIZE) - 1);
    if (!file || file->stays || end < file->dropped + MEGABYTE)
        return;
    if (madvise((char *)(uintptr_t)source->text + file->dropped, end - file->dropped, MADV_DONTNEED) == 0)
        file->dropped = end;
}

static bool is_unchanged(const struct SourceFile *file, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode && st.st_size == file->size &&
           st.st_mtim.tv_sec == file->changed.tv_sec && st.st_mtim.tv_nsec == file->changed.tv_nsec;
}

bool source_restore(const Source *source)
{
    struct SourceFile *file = source->file;
    if (!file || (!file->dropped && !file->lost))
        return true;
    // O_NONBLOCK: the name may be that of a pipe by now.
    int fd = file->lost ? -1 : open(source->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && is_unchanged(file, fd) &&
              read_some(fd, (char *)(uintptr_t)source->text, file->dropped) == (ssize_t)file->dropped;
    if (fd >= 0)
        close(fd);
    file->dropped = 0;
    file->stays = true;
    file->lost = !ok;
    return ok;
}
