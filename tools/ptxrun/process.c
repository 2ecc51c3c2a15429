// SPDX-License-Identifier: MIT
// Reads the mappings of the process. A line of /proc/self/maps is `7f00-7f80 rw-p ... NAME`, with addresses in hex.
// Mappings that are not readable do not count, and neither do those of the kernel (`[vvar]`), which are no memory.
#define _POSIX_C_SOURCE 200809L
#include "tools/ptxrun/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

// A text that grows.
typedef struct Maps {
    char *text;
    size_t n, cap;
} Maps;

static bool maps_read(Maps *m, int file)
{
    for (ssize_t got = 1; got > 0; m->n += (size_t)got) {
        if (m->cap - m->n < 1 << 14) {
            char *more = realloc(m->text, m->cap * 2 + (1 << 15));
            if (!more)
                return false;
            m->text = more;
            m->cap = m->cap * 2 + (1 << 15);
        }
        got = read(file, m->text + m->n, m->cap - m->n - 1);
        if (got < 0)
            return false;
    }
    m->text[m->n] = 0;
    return true;
}

// Adds a range at the end, or to the last one. False: there is no memory.
static bool add(Process *p, HostRange range)
{
    HostRange *last = p->n ? &p->at[p->n - 1] : NULL;
    if (last && last->base + last->size == range.base && last->read_only == range.read_only) {
        last->size += range.size;
        return true;
    }
    if (p->n == p->cap) {
        HostRange *more = realloc(p->at, (p->cap * 2 + 64) * sizeof *more);
        if (!more)
            return false;
        p->at = more;
        p->cap = p->cap * 2 + 64;
    }
    p->at[p->n++] = range;
    return true;
}

static bool parse_line(Process *p, const char *line, const char *end)
{
    char *at;
    uint64_t base = strtoull(line, &at, 16), last = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    bool readable = at + 2 < end && at[0] == ' ' && at[1] == 'r', writable = readable && at[2] == 'w';
    const char *name = memchr(line, '[', (size_t)(end - line));
    if (!readable || (name && strncmp(name, "[v", 2) == 0))
        return true;
    return add(p, (HostRange){.base = base, .size = last - base, .read_only = !writable});
}

// False if the list cannot be read.
static bool process_read(Process *p)
{
    Maps m = {0};
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool done = file >= 0 && maps_read(&m, file);
    p->n = 0;
    for (const char *line = m.text, *end; done && *line; line = end + 1) {
        end = strchr(line, '\n');
        done = end && parse_line(p, line, end);
    }
    if (file >= 0)
        close(file);
    free(m.text);
    return done;
}

static bool lookup(const Process *p, uint64_t address, HostRange *range)
{
    size_t low = 0, high = p->n;
    while (low < high) {  // finds the first range that begins after the address
        size_t mid = low + (high - low) / 2;
        if (p->at[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || address - p->at[low - 1].base >= p->at[low - 1].size)
        return false;
    *range = p->at[low - 1];
    return true;
}

void process_forget(Process *p) { p->known = false; }

bool process_find(void *process, uint64_t address, HostRange *range)
{
    Process *p = process;
    if (p->known && lookup(p, address, range))
        return true;
    // Another thread may have mapped memory since.
    p->known = process_read(p);
    if (p->known)
        return lookup(p, address, range);
    *range = (HostRange){.base = UINT64_C(1) << 12, .size = UINT64_C(1) << 56};
    return address - range->base < range->size;
}
