// SPDX-License-Identifier: MIT
// Tests input files, and output files that appear whole or not at all.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

typedef struct FileTest {
    Heap heap;
    Arena arena;
    char why[200];
} FileTest;

static void open_test(FileTest *t)
{
    unit_heap(&t->heap);
    arena_init(&t->arena, &t->heap);
    t->why[0] = 0;
}

static void close_test(FileTest *t)
{
    arena_free(&t->arena);
    heap_release(&t->heap);
}

static char byte_at(size_t k) { return (char)('a' + (k * 7 + k / 4096) % 26); }

static void make_file(const char *path, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!CHECK(f != NULL))
        return;
    for (size_t k = 0; k < n; k++)
        fputc(byte_at(k), f);
    fclose(f);
}

static void check_source(const Source *s, size_t n)
{
    if (!CHECK_EQ(s->len, n))
        return;
    bool same = true, nul = true;
    for (size_t k = 0; k < n; k++)
        same &= s->text[k] == byte_at(k);
    for (size_t k = 0; k < SOURCE_SLACK; k++)
        nul &= s->text[n + k] == 0;
    CHECK(same);
    CHECK(nul);
}

static bool file_is(const char *path, const char *text)
{
    char back[100];
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    size_t n = fread(back, 1, sizeof back, f);
    fclose(f);
    return n == strlen(text) && memcmp(back, text, n) == 0;
}

// Returns the number of files in the test's directory.
static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(unit_path("."));
    if (!dir)
        return -1;
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* -- Input ---------------------------------------------------------------------------------------------- */

TEST(source_lengths)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t sizes[] = {0,         1,         15,         16,    17,       100,           page - 17,
                      page - 16, page - 15, page - 1,   page,  page + 1, 2 * page - 16, 2 * page - 15,
                      2 * page,  16 * page, 65536 - 16, 65536, 200000};
    FileTest t;
    open_test(&t);
    const char *path = unit_path("source");
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        unit_context("%zu bytes", sizes[k]);
        make_file(path, sizes[k]);
        Source s;
        if (CHECK(source_open(&s, path, &t.arena, t.why))) {
            check_source(&s, sizes[k]);
            CHECK(s.name == path);
            CHECK(truncate(path, 0) == 0);  // the text that was read stays
            check_source(&s, sizes[k]);
            source_close(&s);
            CHECK_EQ(s.mapped, 0);
            source_close(&s);  // a second close has no effect
        }
    }
    unlink(path);
    close_test(&t);
}

static void keep_text(void *user, const char *text, size_t n)
{
    char *to = user;
    size_t used = strlen(to);
    n = MIN(n, 399 - used);
    memcpy(to + used, text, n);
    to[used + n] = 0;
}

// Counts the bytes of a source that differ from those of the file.
static size_t count_lost(const Source *s)
{
    size_t n = 0;
    for (size_t k = 0; k < s->len; k++)
        n += s->text[k] != byte_at(k);
    return n;
}

// Text of less than a megabyte stays; dropped text is read again, and stays.
TEST(source_text_is_dropped)
{
    enum { MEGABYTE = 1 << 20, LENGTH = 3 * MEGABYTE + 100 };
    FileTest t;
    open_test(&t);
    const char *path = unit_path("source");
    make_file(path, LENGTH);
    Source s;
    if (CHECK(source_open(&s, path, &t.arena, t.why))) {
        source_drop(&s, MEGABYTE - 1);
        CHECK_EQ(count_lost(&s), 0);
        source_drop(&s, MEGABYTE + 5000);
        CHECK(count_lost(&s) > MEGABYTE - 70000 && count_lost(&s) <= MEGABYTE + 5000);
        source_drop(&s, MEGABYTE + 6000);
        source_drop(&s, s.len);
        CHECK(count_lost(&s) > 3 * MEGABYTE - 70000);
        CHECK_EQ(s.text[s.len], 0);
        CHECK(source_restore(&s));
        check_source(&s, LENGTH);
        CHECK(source_restore(&s));
        source_drop(&s, s.len);
        check_source(&s, LENGTH);
        source_close(&s);
    }
    unlink(path);
    close_test(&t);
}

// A message about dropped text shows the line. If the file has changed, or is a pipe now, it has no position.
TEST(source_messages_about_dropped_text)
{
    enum { LENGTH = 3 << 20 };
    FileTest t;
    open_test(&t);
    const char *path = unit_path("source");
    for (int changed = 0; changed < 3; changed++) {
        unit_context("changed %d", changed);
        unlink(path);
        make_file(path, LENGTH);
        Source s;
        if (!CHECK(source_open(&s, path, &t.arena, t.why)))
            break;
        char want[300], got[400] = "";
        snprintf(want, sizeof want, changed ? "%s: error: here\n" : "%s:1:1001: error: here\n", path);
        source_drop(&s, s.len);
        if (changed) {
            CHECK(unlink(path) == 0 && (changed == 2 ? mkfifo(path, 0600) == 0 : (make_file(path, 100), true)));
            CHECK(!source_restore(&s));
            CHECK(!source_restore(&s));
        }
        Diag diag = {.source = &s, .write = keep_text, .user = got};
        diag_at(&diag, DIAG_ERROR, 1000, "here");
        CHECK(strncmp(got, want, strlen(want)) == 0);
        CHECK_EQ(strlen(got) == strlen(want), changed > 0);
        source_close(&s);
    }
    unlink(path);
    close_test(&t);
}

TEST(source_pipe)
{
    size_t sizes[] = {0, 10, 65536 - 16, 65536 - 15, 65536, 131072 - 16, 300000};
    FileTest t;
    open_test(&t);
    const char *path = unit_path("fifo");
    if (!CHECK(mkfifo(path, 0600) == 0))
        return;
    fflush(stdout);
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        unit_context("%zu bytes", sizes[k]);
        pid_t child = fork();
        if (child == 0) {
            int fd = open(path, O_WRONLY);
            char *text = malloc(sizes[k] + 1);
            for (size_t j = 0; j < sizes[k]; j++)
                text[j] = byte_at(j);
            for (size_t put = 0; put < sizes[k];) {
                ssize_t n = write(fd, text + put, MIN(sizes[k] - put, 5000));
                if (n <= 0)
                    _exit(1);
                put += (size_t)n;
            }
            _exit(0);
        }
        Source s;
        if (CHECK(source_open(&s, path, &t.arena, t.why))) {
            check_source(&s, sizes[k]);
            CHECK_EQ(s.mapped, 0);
            source_close(&s);
        }
        waitpid(child, NULL, 0);
    }
    unlink(path);
    close_test(&t);
}

TEST(source_standard_input)
{
    FileTest t;
    open_test(&t);
    const char *path = unit_path("stdin");
    make_file(path, 5000);
    int old = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    dup2(fd, STDIN_FILENO);
    Source s;
    if (CHECK(source_open(&s, "-", &t.arena, t.why))) {
        check_source(&s, 5000);
        CHECK_Z(s.name, "<stdin>");
        source_close(&s);
    }
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);  // not closed
    close(fd);
    if (old >= 0) {
        dup2(old, STDIN_FILENO);
        close(old);
    }
    unlink(path);
    close_test(&t);
}

TEST(source_errors)
{
    FileTest t;
    Source s;
    open_test(&t);
    CHECK(!source_open(&s, unit_path("missing"), &t.arena, t.why));
    CHECK_Z(t.why, "No such file or directory");
    CHECK(!source_open(&s, unit_path("."), &t.arena, t.why));
    CHECK_Z(t.why, "Is a directory");
    CHECK(!source_open(&s, "", &t.arena, t.why));
    source_close(&s);
    close_test(&t);
}

/* -- Output --------------------------------------------------------------------------------------------- */

TEST(outfile_appears_at_commit)
{
    FileTest t;
    OutFile f;
    struct stat st;
    open_test(&t);
    const char *path = unit_path("result");
    int before = count_files();
    if (!CHECK(outfile_open(&f, path, &t.arena, t.why)))
        return;
    CHECK(outfile_write(&f, "hello ", 6));
    CHECK(outfile_write(&f, "world", 5));
    CHECK(stat(path, &st) != 0);
    CHECK(outfile_commit(&f, t.why));
    CHECK(file_is(path, "hello world"));
    CHECK_EQ(count_files(), before + 1);
    mode_t mask = umask(0);
    umask(mask);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == (0666 & ~mask));
    outfile_abandon(&f);  // no effect after the commit
    CHECK(file_is(path, "hello world"));
    unlink(path);
    close_test(&t);
}

TEST(outfile_replaces)
{
    FileTest t;
    OutFile f;
    struct stat st;
    open_test(&t);
    const char *path = unit_path("result");
    make_file(path, 10);
    chmod(path, 0640);
    FILE *reader = fopen(path, "rb");  // still reads the old file after the commit
    if (!CHECK(outfile_open(&f, path, &t.arena, t.why)))
        return;
    CHECK(outfile_write(&f, "new", 3));
    CHECK(!file_is(path, "new"));
    CHECK(outfile_commit(&f, t.why));
    CHECK(file_is(path, "new"));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
    char old[20];
    CHECK(reader && fread(old, 1, sizeof old, reader) == 10);
    if (reader)
        fclose(reader);
    unlink(path);
    close_test(&t);
}

TEST(outfile_abandoned)
{
    FileTest t;
    OutFile f;
    open_test(&t);
    const char *path = unit_path("result");
    int before = count_files();
    if (!CHECK(outfile_open(&f, path, &t.arena, t.why)))
        return;
    CHECK(outfile_write(&f, "half", 4));
    outfile_abandon(&f);
    outfile_abandon(&f);
    CHECK_EQ(count_files(), before);
    make_file(path, 3);
    if (CHECK(outfile_open(&f, path, &t.arena, t.why))) {
        CHECK(outfile_write(&f, "half", 4));
        outfile_abandon(&f);
    }
    char text[] = {byte_at(0), byte_at(1), byte_at(2), 0};
    CHECK(file_is(path, text));
    CHECK_EQ(count_files(), before + 1);
    unlink(path);
    close_test(&t);
}

TEST(outfile_symlink)
{
    FileTest t;
    OutFile f;
    struct stat st;
    open_test(&t);
    const char *path = unit_path("target"), *link = unit_path("link");
    make_file(path, 5);
    if (CHECK(symlink("target", link) == 0) && CHECK(outfile_open(&f, link, &t.arena, t.why))) {
        CHECK(outfile_write(&f, "through", 7));
        CHECK(outfile_commit(&f, t.why));
        CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
        CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
        CHECK(file_is(path, "through"));
    }
    unlink(link);
    unlink(path);
    close_test(&t);
}

TEST(outfile_device)
{
    FileTest t;
    OutFile f;
    struct stat st;
    open_test(&t);
    if (CHECK(outfile_open(&f, "/dev/null", &t.arena, t.why))) {
        CHECK(f.temp == NULL);
        CHECK(outfile_write(&f, "gone", 4));
        CHECK(outfile_commit(&f, t.why));
    }
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    if (CHECK(outfile_open(&f, "/dev/null", &t.arena, t.why)))
        outfile_abandon(&f);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    close_test(&t);
}

// A file with a failed write is not completed, also if its author did not look at the result of the write.
TEST(outfile_full)
{
    FileTest t;
    OutFile f;
    open_test(&t);
    if (access("/dev/full", W_OK) == 0 && CHECK(outfile_open(&f, "/dev/full", &t.arena, t.why))) {
        CHECK(!outfile_write(&f, "gone", 4));
        CHECK(!outfile_commit(&f, t.why));
        CHECK_Z(t.why, "No space left on device");
    }
    if (CHECK(outfile_open(&f, unit_path("half"), &t.arena, t.why))) {
        f.error = EFBIG;  // as a write sets it
        CHECK(!outfile_commit(&f, t.why));
        CHECK_Z(t.why, "File too large");
    }
    CHECK_EQ(count_files(), 0);
    close_test(&t);
}

TEST(outfile_errors)
{
    FileTest t;
    OutFile f;
    open_test(&t);
    CHECK(!outfile_open(&f, unit_path("."), &t.arena, t.why));
    CHECK_Z(t.why, "Is a directory");
    CHECK(!outfile_open(&f, unit_path("no/such/file"), &t.arena, t.why));
    CHECK_Z(t.why, "No such file or directory");
    outfile_abandon(&f);
    CHECK_EQ(count_files(), 0);
    close_test(&t);
}

// An Out that writes to a file, over several buffers.
TEST(outfile_through_out)
{
    FileTest t;
    OutFile f;
    Out out;
    open_test(&t);
    const char *path = unit_path("result");
    if (!CHECK(outfile_open(&f, path, &t.arena, t.why)))
        return;
    out_init(&out, &t.arena, outfile_write, &f);
    for (size_t k = 0; k < 300000; k++)
        out_char(&out, byte_at(k));
    out_flush(&out);
    CHECK(!out.failed);
    CHECK(outfile_commit(&f, t.why));
    Source s;
    if (CHECK(source_open(&s, path, &t.arena, t.why))) {
        check_source(&s, 300000);
        source_close(&s);
    }
    unlink(path);
    close_test(&t);
}

void test_files(void)
{
    RUN(source_lengths);
    RUN(source_text_is_dropped);
    RUN(source_messages_about_dropped_text);
    RUN(source_pipe);
    RUN(source_standard_input);
    RUN(source_errors);
    RUN(outfile_appears_at_commit);
    RUN(outfile_replaces);
    RUN(outfile_abandoned);
    RUN(outfile_symlink);
    RUN(outfile_device);
    RUN(outfile_full);
    RUN(outfile_errors);
    RUN(outfile_through_out);
}
