// SPDX-License-Identifier: MIT
// Buffered output, and files that appear whole or not at all.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/base.h"

enum { OUT_BUFFER = 1 << 16 };

void out_init(Out *out, Arena *arena, bool (*write)(void *, const char *, size_t), void *user)
{
    *out = (Out){.write = write, .user = user, .buf = arena_alloc(arena, OUT_BUFFER), .cap = OUT_BUFFER};
}

void out_flush(Out *out)
{
    if (out->n && !out->failed)
        out->failed = !out->write(out->user, out->buf, out->n);
    out->total += out->n;
    out->n = 0;
}

void out_split(Out *out, const char *text, size_t n)
{
    while (out->cap - out->n < n) {
        size_t part = out->cap - out->n;
        memcpy(out->buf + out->n, text, part);
        out->n = out->cap;
        out_flush(out);
        text += part;
        n -= part;
    }
    memcpy(out->buf + out->n, text, n);
    out->n += n;
}

// Writes a text that is longer than the buffer.
static void fmt_large(Out *out, size_t n, const char *fmt, va_list args)
{
    char *big = malloc(n + 1);
    if (big) {
        vsnprintf(big, n + 1, fmt, args);
        out_bytes(out, big, n);
        free(big);
    } else {
        out->failed = true;
    }
}

void out_fmt(Out *out, const char *fmt, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n >= (int)sizeof small) {
        if (out->cap - out->n <= (size_t)n)
            out_flush(out);
        if (out->cap > (size_t)n) {
            vsnprintf(out->buf + out->n, out->cap - out->n, fmt, again);
            out->n += (size_t)n;
        } else {
            fmt_large(out, (size_t)n, fmt, again);
        }
    } else if (n > 0) {
        out_bytes(out, small, (size_t)n);
    }
    va_end(again);
}

void out_u64(Out *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    out_bytes(out, digits + at, sizeof digits - at);
}

void out_i64(Out *out, int64_t value)
{
    if (value < 0)
        out_char(out, '-');
    out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_hex(Out *out, uint64_t value, unsigned digits)
{
    while (digits--)
        out_char(out, "0123456789ABCDEF"[(value >> (4 * digits)) & 15]);
}

// Returns the length of the UTF-8 character at `text`; 0 if there is none (RFC 3629: no surrogates, no overlong forms).
static size_t utf8_length(const unsigned char *text, size_t n)
{
    unsigned char c = text[0], second = n > 1 ? text[1] : 0;
    size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    unsigned char lo = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, hi = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (len > n || (len > 1 && (second < lo || second > hi)))
        return 0;
    for (size_t k = 2; k < len; k++)
        if ((text[k] & 0xc0) != 0x80)
            return 0;
    return len;
}

void out_json(Out *out, const char *text, size_t n)
{
    out_char(out, '"');
    for (size_t k = 0, len; k < n; k += len ? len : 1) {
        unsigned char c = (unsigned char)text[k];
        len = utf8_length((const unsigned char *)text + k, n - k);
        if (c == '"' || c == '\\')
            out_char(out, '\\');
        if (!len)
            out_z(out, "\\ufffd");
        else if (c < 32)
            out_fmt(out, "\\u%04x", c);
        else
            out_bytes(out, text + k, len);
    }
    out_char(out, '"');
}

bool out_to_text(void *user, const char *bytes, size_t n)
{
    TextBuffer *t = user;
    if (t->cap - t->n < n) {
        t->cap = MAX(t->n + n, t->cap * 2);
        char *grown = arena_alloc(t->arena, t->cap);
        if (t->n)
            memcpy(grown, t->at, t->n);
        t->at = grown;
    }
    if (n)
        memcpy(t->at + t->n, bytes, n);
    t->n += n;
    return true;
}

Source text_source(TextBuffer *t, const char *name)
{
    static const char slack[SOURCE_SLACK];
    size_t n = t->n;
    out_to_text(t, slack, sizeof slack);
    t->n = n;
    return (Source){.name = name, .text = t->at, .len = n};
}

static bool fail(char why[static 200])
{
    snprintf(why, 200, "%s", strerror(errno));
    return false;
}

// Resolves the symbolic links of a path; the target of the last link need not exist. Returns NULL and sets errno if the
// links form a cycle; returns an unresolved path if it is too long.
static const char *follow_links(const char *path, char buf[static PATH_MAX])
{
    char real[PATH_MAX], link[PATH_MAX];
    if (realpath(path, real))
        return strcpy(buf, real);
    if (strlen(path) >= PATH_MAX)
        return path;
    strcpy(buf, path);
    for (int hops = 0; hops < 40; hops++) {
        ssize_t n = readlink(buf, link, sizeof link - 1);
        if (n < 0)
            return buf;
        link[n] = 0;
        char *slash = strrchr(buf, '/');
        size_t folder = link[0] == '/' || !slash ? 0 : (size_t)(slash - buf) + 1;
        if (folder + (size_t)n >= PATH_MAX)
            return path;
        strcpy(buf + folder, link);
    }
    errno = ELOOP;
    return NULL;
}

/* -- Temporary files ------------------------------------------------------------------------------------ */

// Creates a temporary file beside the target, named after the target, or with a short name if that is too long.
static bool create_temp(OutFile *f)
{
    static const char ending[] = ".tmp-XXXXXX";
    const FileOps *ops = f->arena->heap->files;
    const char *slash = strrchr(f->real, '/');
    size_t folder = slash ? (size_t)(slash - f->real) + 1 : 0, n = strlen(f->real);
    f->temp = arena_alloc(f->arena, MAX(n, folder + 4) + sizeof ending);
    memcpy(f->temp, f->real, n);
    memcpy(f->temp + n, ending, sizeof ending);
    f->fd = ops ? ops->create(f->temp) : mkstemp(f->temp);
    if (f->fd < 0 && errno == ENAMETOOLONG) {
        memcpy(f->temp + folder, "ori", 3);
        memcpy(f->temp + folder + 3, ending, sizeof ending);
        f->fd = ops ? ops->create(f->temp) : mkstemp(f->temp);
    }
    if (f->fd < 0)
        f->temp = NULL;
    return f->fd >= 0;
}

// Renames the temporary file to `real`, or removes it if `real` is NULL.
static int finish_temp(const OutFile *f, const char *real)
{
    const FileOps *ops = f->arena->heap->files;
    return ops ? ops->finish(f->temp, real) : real ? rename(f->temp, real) : unlink(f->temp);
}

// Returns the standard output or the standard error if a path such as /dev/stdout names it, else -1. It may be a pipe,
// which no other path reaches, or a file with text of others, which must stay.
static int standard_fd(const char *path, const struct stat *named)
{
    struct stat st;
    for (int fd = STDOUT_FILENO; strncmp(path, "/dev/", 5) == 0 && fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &st) == 0 && st.st_dev == named->st_dev && st.st_ino == named->st_ino)
            return fd;
    return -1;
}

bool outfile_open(OutFile *f, const char *path, Arena *arena, char why[static 200])
{
    *f = (OutFile){.fd = STDOUT_FILENO, .path = path, .arena = arena};
    // If standard output is closed, the next file to be opened would get its descriptor.
    if (strcmp(path, "-") == 0)
        return fcntl(f->fd, F_GETFD) >= 0 || fail(why);
    char resolved[PATH_MAX];
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && (f->fd = standard_fd(path, &st)) >= 0)
        return true;
    const char *target = exists && !S_ISREG(st.st_mode) ? path : follow_links(path, resolved);
    if (!target)
        return fail(why);
    exists = stat(target, &st) == 0;
    if (!exists && errno != ENOENT)
        return fail(why);
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail(why);
    }
    if (exists && !S_ISREG(st.st_mode)) {
        f->fd = open(target, O_WRONLY | O_CLOEXEC);
        return f->fd >= 0 || fail(why);
    }
    size_t n = strlen(target);
    f->real = arena_alloc(arena, n + 1);
    memcpy(f->real, target, n + 1);
    if (!create_temp(f))
        return fail(why);
    mode_t mask = umask(0);
    umask(mask);
    fchmod(f->fd, exists ? st.st_mode & 0777 : 0666 & ~mask);
    return true;
}

bool outfile_hold(OutFile *f)
{
    struct stat st;
    bool direct = f->temp || (fstat(f->fd, &st) == 0 && S_ISCHR(st.st_mode));
    if (direct)
        return true;
    char temp[] = "/tmp/ori-XXXXXX";
    int fd = mkstemp(temp);
    if (fd < 0)
        return false;
    unlink(temp);
    f->held = fd ? fd : fcntl(fd, F_DUPFD, 1);  // not 0, which means none (if standard input is closed)
    if (!fd)
        close(fd);
    return f->held > 0;
}

static bool write_fd(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t put = write(fd, text, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text += put;
        n -= (size_t)put;
    }
    return true;
}

bool outfile_write(void *user, const char *text, size_t n)
{
    OutFile *f = user;
    bool ok = write_fd(f->held ? f->held : f->fd, text, n);
    f->error = ok || f->error ? f->error : errno;
    return ok;
}

const char *outfile_error(const OutFile *f) { return strerror(f->error ? f->error : EIO); }

// Copies the buffered output to its target.
static bool release(OutFile *f)
{
    char part[1 << 14];
    ssize_t n = 0;
    bool ok = lseek(f->held, 0, SEEK_SET) == 0;
    while (ok && (n = read(f->held, part, sizeof part)) != 0)
        ok = n < 0 ? errno == EINTR : write_fd(f->fd, part, (size_t)n);
    int error = errno;
    close(f->held);
    f->held = 0;
    errno = error;
    return ok;
}

bool outfile_commit(OutFile *f, char why[static 200])
{
    if (f->error || (f->held && !release(f))) {
        errno = f->error ? f->error : errno;
        fail(why);
        outfile_abandon(f);
        return false;
    }
    if (f->temp && ((!f->unsynced && fsync(f->fd) != 0) || finish_temp(f, f->real) != 0)) {
        fail(why);
        outfile_abandon(f);
        return false;
    }
    int fd = f->fd;
    f->temp = NULL;
    f->fd = -1;
    return fd == STDOUT_FILENO || fd == STDERR_FILENO || close(fd) == 0 || fail(why);
}

void outfile_abandon(OutFile *f)
{
    if (f->temp)
        finish_temp(f, NULL);
    f->temp = NULL;
    if (f->held)
        close(f->held);
    f->held = 0;
    if (f->fd > STDERR_FILENO)
        close(f->fd);
    f->fd = -1;
}
