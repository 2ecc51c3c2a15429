// SPDX-License-Identifier: MIT
// Runs many threads, each with a context of its own, over the same modules, and checks that all get the same bytes.
//
//     threads THREADS TIMES FILE...
//
// Each thread starts with a different file, so that different files are processed at the same time, and continues until
// at least TIMES threads have processed each file. Every other context has threads of its own. Prints each difference;
// the last line is `N passed, N failed`, a test being a file on a thread.
#include <ori.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Text {
    char *at;
    size_t n, room;
} Text;

static int append(void *user, const char *bytes, size_t n)
{
    Text *t = user;
    while (t->room - t->n < n)
        t->at = realloc(t->at, t->room = t->room ? 2 * t->room : 1 << 16);
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
    return 1;
}

static Text read_file(const char *path)
{
    Text t = {0};
    char part[4096];
    FILE *file = fopen(path, "rb");
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        append(&t, part, n);
    if (file)
        fclose(file);
    return t;
}

static OriContext *open_context(unsigned threads)
{
    OriContext *ori = ori_open(NULL);
    if (ori)
        ori_set_threads(ori, threads);
    return ori;
}

// Returns the optimized text of a module; empty on failure.
static Text optimized(OriContext *ori, const char *path, const Text *in)
{
    Text out = {0};
    OriModule *m = ori_parse(ori, path, in->at, in->n, ORI_ANY);
    if (m && ori_optimize(ori, m) == ORI_OK)
        ori_print(ori, m, ORI_ANY, append, &out);
    ori_free(ori, m);
    return out;
}

typedef struct Work {
    pthread_t thread;
    int number, first, count, nfiles;
    char **paths;
    const Text *in, *expected;
    int passed, failed;
} Work;

static void *work(void *user)
{
    Work *w = user;
    OriContext *ori = open_context(w->number % 2 ? 3 : 1);
    for (int k = 0; k < w->count; k++) {
        int f = (w->first + k) % w->nfiles;
        Text out = ori ? optimized(ori, w->paths[f], &w->in[f]) : (Text){0};
        if (out.n && out.n == w->expected[f].n && memcmp(out.at, w->expected[f].at, out.n) == 0) {
            w->passed++;
        } else {
            w->failed++;
            printf("thread %d: %s: other bytes than on one thread\n", w->number, w->paths[f]);
        }
        free(out.at);
    }
    ori_close(ori);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 3 ? atoi(argv[1]) : 0, times = argc > 3 ? atoi(argv[2]) : 0, n = argc - 3;
    int passed = 0, failed = 0;
    if (threads < 1 || times < 1 || times > threads)
        return 2;
    char **paths = argv + 3;
    Text *in = calloc((size_t)n, sizeof *in), *expected = calloc((size_t)n, sizeof *expected);
    Work *works = calloc((size_t)threads, sizeof *works);
    OriContext *ori = open_context(1);
    for (int k = 0; k < n; k++) {
        in[k] = read_file(paths[k]);
        expected[k] = optimized(ori, paths[k], &in[k]);
    }
    for (int k = 0; k < threads; k++) {
        works[k] = (Work){.number = k,
                          .first = k * n / threads,
                          .count = (n * times + threads - 1) / threads,
                          .nfiles = n,
                          .paths = paths,
                          .in = in,
                          .expected = expected};
        if (pthread_create(&works[k].thread, NULL, work, &works[k]) != 0)
            return 2;
    }
    for (int k = 0; k < threads; k++) {
        pthread_join(works[k].thread, NULL);
        passed += works[k].passed;
        failed += works[k].failed;
    }
    for (int k = 0; k < n; k++) {
        free(in[k].at);
        free(expected[k].at);
    }
    free(in);
    free(expected);
    free(works);
    ori_close(ori);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
