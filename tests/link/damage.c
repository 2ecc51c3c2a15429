// SPDX-License-Identifier: MIT
// damage RUNS SEED FILES...: damages inputs of orilink and rewrites them. Each run changes bytes, the header, a section
// header, a word of a section, or the size of one of the files. Prints the numbers of files that were rewritten and
// refused, and the longest time; exit status 1 if a run took more than two seconds, needed more memory than small files
// do, or ended in an internal error. Crashes are found by sanitizers.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/link/random.h"
#include "tests/link/rewrite.h"

static uint32_t word(Random *r)
{
    switch (random_below(r, 4)) {
    case 0: return UINT32_MAX;
    case 1: return random_next(r);
    default: return random_below(r, 200);
    }
}

static void damage_section(Random *r, uint8_t *p, size_t n, bool header)
{
    uint64_t table = n >= ELF_EHDR ? load64(p + 40) : 0, count = n >= ELF_EHDR ? load16(p + 60) : 0;
    if (table > n || count > (n - table) / ELF_SHDR || !count)
        return;
    uint8_t *s = p + table + (size_t)random_below(r, count) * ELF_SHDR;
    uint64_t offset = load64(s + 24), size = load64(s + 32);
    if (header && random_below(r, 4))
        store32(s + 4 * random_below(r, 16), word(r));
    else if (header)
        store64(s + 8 * random_below(r, 8), -(uint64_t)random_below(r, 1000));
    else if (offset < n && size >= 4 && size <= n - offset)
        store32(p + offset + random_below(r, size / 4) * 4, word(r));
}

// Damages a file; returns its new size.
static size_t damage(Random *r, uint8_t *p, size_t n)
{
    for (uint32_t k = random_below(r, 3) + 1; k-- > 0;)
        switch (random_below(r, 6)) {
        case 0: p[random_below(r, n)] = (uint8_t)random_next(r); break;
        case 1: p[random_below(r, MIN(n, ELF_EHDR))] = (uint8_t)random_next(r); break;
        case 2: damage_section(r, p, n, true); break;
        case 3: damage_section(r, p, n, false); break;
        case 4: store32(p + random_below(r, n - 3), word(r)); break;
        default:
            if (!random_below(r, 4))
                n = 4 + random_below(r, n - 3);
        }
    return n;
}

typedef struct Original {
    const char *path;
    uint8_t *bytes;
    size_t n;
} Original;

static bool load(Original *o, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return false;
    *o = (Original){path, NULL, (size_t)ftell(f)};
    rewind(f);
    o->bytes = malloc(o->n);
    return o->n >= 4 && o->bytes && fread(o->bytes, 1, o->n, f) == o->n && fclose(f) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    uint32_t runs = (uint32_t)atoi(argv[1]), count = (uint32_t)argc - 3, rewritten = 0, refused = 0, bad = 0;
    Original *files = calloc(count, sizeof *files);
    double longest = 0;
    for (uint32_t k = 0; k < count; k++)
        if (!load(&files[k], argv[3 + k]))
            return 2;
    for (uint32_t k = 0; k < runs; k++) {
        Random r = {(uint64_t)atoi(argv[2]) << 32 | k};
        const Original *o = &files[random_below(&r, count)];
        uint8_t *copy = malloc(o->n + 16);  // an exact size, for sanitizers
        memcpy(copy, o->bytes, o->n);
        size_t n = damage(&r, copy, o->n);
        copy = realloc(copy, n);
        clock_t start = clock();
        static const char *const kernels[] = {"k_rec", "main", ""};
        uint32_t kind = random_below(&r, 12);
        Status status = rewrite(o->path, copy, n, kernels[kind % 3], kind / 3 & 1, kind / 6, (size_t)1 << 31);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        longest = MAX(longest, seconds);
        rewritten += status == ST_OK;
        refused += status != ST_OK;
        if (status == ST_INTERNAL || status == ST_LIMIT || seconds > 2) {
            printf("run %u of %s: status %d, %.1f s\n", k, o->path, status, seconds);
            bad++;
        }
        free(copy);
    }
    printf("%u rewritten, %u refused, longest %.2f s\n", rewritten, refused, longest);
    for (uint32_t k = 0; k < count; k++)
        free(files[k].bytes);
    free(files);
    return bad != 0;
}
