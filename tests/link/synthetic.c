// SPDX-License-Identifier: MIT
// synthetic FILE.cubin FILE.o: writes the object of the documented example of dead code elimination, alone and in the
// fat binary of a host object whose host information names one kernel. nvcc makes no such sections of constants.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bytes {
    uint8_t at[1 << 16];
    size_t n;
} Bytes;

typedef struct Section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint32_t link, info, align, entsize;
    Bytes *data;
} Section;

static void put(Bytes *b, uint64_t x, int size)
{
    for (int k = 0; k < size; k++)
        b->at[b->n++] = (uint8_t)(x >> 8 * k);
}

static void put_text(Bytes *b, const char *text)
{
    memcpy(b->at + b->n, text, strlen(text) + 1), b->n += strlen(text) + 1;
}

static Bytes *new_bytes(void) { return calloc(1, sizeof(Bytes)); }

static void put_symbol(Bytes *b, uint32_t name, uint8_t info, uint8_t other, uint16_t section, uint64_t size)
{
    put(b, name, 4);
    put(b, info, 1);
    put(b, other, 1);
    put(b, section, 2);
    put(b, 0, 8);
    put(b, size, 8);
}

// Writes an ELF file. Section `names` receives the names of sections.
static void put_elf(Bytes *out, Section *s, int n, int names, int type, int machine, uint32_t flags, int osabi, int abi)
{
    uint32_t name[32] = {0};
    uint64_t offset[32] = {0};
    put(s[names].data, 0, 1);
    for (int k = 1; k < n; k++) {
        name[k] = (uint32_t)s[names].data->n;
        put_text(s[names].data, s[k].name);
    }
    out->n = 64;
    for (int k = 1; k < n; k++) {
        while (out->n % s[k].align)
            put(out, 0, 1);
        offset[k] = out->n;
        memcpy(out->at + out->n, s[k].data->at, s[k].data->n);
        out->n += s[k].data->n;
    }
    while (out->n % 8)
        put(out, 0, 1);
    Bytes header = {.n = 0};
    memcpy(header.at, "\177ELF\2\1\1", 7);
    header.at[7] = (uint8_t)osabi;
    header.at[8] = (uint8_t)abi;
    header.n = 16;
    put(&header, (uint64_t)type, 2);
    put(&header, (uint64_t)machine, 2);
    put(&header, 1, 4);
    put(&header, 0, 8);
    put(&header, 0, 8);
    put(&header, out->n, 8);
    put(&header, flags, 4);
    put(&header, 64, 2);
    put(&header, 0, 4);
    put(&header, 64, 2);
    put(&header, (uint64_t)n, 2);
    put(&header, (uint64_t)names, 2);
    memcpy(out->at, header.at, 64);
    for (int k = 0; k < n; k++) {
        put(out, name[k], 4);
        put(out, s[k].type, 4);
        put(out, s[k].flags, 8);
        put(out, 0, 8);
        put(out, offset[k], 8);
        put(out, k ? s[k].data->n : 0, 8);
        put(out, s[k].link, 4);
        put(out, s[k].info, 4);
        put(out, s[k].align, 8);
        put(out, s[k].entsize, 8);
    }
}

enum { STRINGS = 12, NAMES = 13, SYMBOLS = 14, CALLS = 15, COUNT = 16 };

static void put_cubin(Bytes *out)
{
    static const char *const functions[] = {"main_kernel", "helper_a", "helper_b", "dead_fn"};
    static const int code[] = {1, 5, 7, 8}, numbered[] = {2, 3, 4, 6, 9, 10, 11};  // symbols 12 to 18
    Section s[COUNT] = {
        {.name = "", .align = 0},
        {".text.main_kernel", 1, 6, SYMBOLS, 1, 128, 0, new_bytes()},
        {".nv.info.main_kernel", 0x70000000, 0x40, SYMBOLS, 1, 4, 0, new_bytes()},
        {".rela.text.main_kernel", 9, 0x40, SYMBOLS, 1, 8, 16, new_bytes()},
        {".nv.note.main_kernel", 4, 0x40, SYMBOLS, 1, 8, 24, new_bytes()},
        {".text.helper_a", 1, 6, SYMBOLS, 2, 128, 0, new_bytes()},
        {".rela.text.helper_a", 9, 0x40, SYMBOLS, 5, 8, 16, new_bytes()},
        {".text.helper_b", 1, 6, SYMBOLS, 3, 128, 0, new_bytes()},
        {".text.dead_fn", 1, 6, SYMBOLS, 4, 128, 0, new_bytes()},
        {".rela.text.dead_fn", 9, 0x40, SYMBOLS, 8, 8, 16, new_bytes()},
        {".nv.info.dead_fn", 0x70000000, 0x40, SYMBOLS, 8, 4, 0, new_bytes()},
        {".nv.constant.dead_fn", 1, 0x42, 0, 8, 8, 0, new_bytes()},
        {".strtab", 3, 0, 0, 0, 1, 0, new_bytes()},
        {".shstrtab", 3, 0, 0, 0, 1, 0, new_bytes()},
        {".symtab", 2, 0, STRINGS, 1, 8, 24, new_bytes()},
        {".nv.callgraph", 0x70000001, 0, SYMBOLS, 0, 4, 8, new_bytes()},
    };
    put(s[STRINGS].data, 0, 1);
    put_symbol(s[SYMBOLS].data, 0, 0, 0, 0, 0);
    for (int k = 0; k < 4; k++) {
        put_symbol(s[SYMBOLS].data, (uint32_t)s[STRINGS].data->n, 0x12, k ? 0 : 0x10, (uint16_t)code[k], 128);
        put_text(s[STRINGS].data, functions[k]);
        s[code[k]].data->n = 128;
    }
    for (int k = 5; k < 12; k++)
        put_symbol(s[SYMBOLS].data, 0, 0, 0, 0, 0);
    for (int k = 0; k < 7; k++)
        put_symbol(s[SYMBOLS].data, 0, 3, 0, (uint16_t)numbered[k], 0);
    put(s[11].data, 0x400921fb54442d18, 8);
    const uint32_t calls[] = {0, UINT32_MAX, 1, 2, 2, 3, 0, (uint32_t)-2, 0, (uint32_t)-3, 0, (uint32_t)-4};
    for (int k = 0; k < 12; k++)
        put(s[CALLS].data, calls[k], 4);
    put_elf(out, s, COUNT, NAMES, 1, 190, 0x6005004, 0x41, 8);
}

static void put_host(Bytes *out, const Bytes *cubin)
{
    Section s[] = {
        {.name = "", .align = 0},
        {".shstrtab", 3, 0, 0, 0, 1, 0, new_bytes()},
        {"__nv_relfatbin", 1, 2, 0, 0, 8, 0, new_bytes()},
        {".nvHRKE", 1, 2, 0, 0, 1, 0, new_bytes()},
        {".nvHRKI", 1, 2, 0, 0, 1, 0, new_bytes()},
    };
    Bytes *fat = s[2].data;
    put(fat, 0xba55ed50, 4);
    put(fat, 1, 2);
    put(fat, 16, 2);
    put(fat, 0x40 + cubin->n, 8);
    put(fat, 2, 2);
    put(fat, 0x101, 2);
    put(fat, 0x40, 4);
    put(fat, cubin->n, 8);
    put(fat, 0, 8);
    put(fat, 0x10008, 4);
    put(fat, 80, 4);
    put(fat, 0, 8);
    put(fat, 0x11, 8);
    put(fat, 0, 8);
    put(fat, 0, 8);
    memcpy(fat->at + fat->n, cubin->at, cubin->n);
    fat->n += cubin->n;
    put_text(s[3].data, "main_kernel");
    put(s[4].data, 0, 1);
    put_elf(out, s, 5, 1, 1, 62, 0, 0, 0);
}

static int save(const Bytes *b, const char *path)
{
    FILE *f = fopen(path, "wb");
    return f && fwrite(b->at, 1, b->n, f) == b->n && fclose(f) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    Bytes *cubin = new_bytes(), *host = new_bytes();
    put_cubin(cubin);
    put_host(host, cubin);
    return argc < 3 || save(cubin, argv[1]) || save(host, argv[2]);
}
