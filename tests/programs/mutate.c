// SPDX-License-Identifier: MIT
// Damages a file, the same way on every machine.
//
//   mutate MODE SEED [FILE] > damaged
//
// truncate  the first part          flip      some bytes changed       insert   some bytes added
// drop      some lines removed      swap      some lines exchanged     splice   a part of the file repeated elsewhere
// noise     random bytes (no FILE)  tokens    random PTX tokens (no FILE)
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t roll(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t)((state >> 33) % n) : 0;
}

static void noise(void)
{
    for (uint32_t n = 1 + roll(4000); n--;)
        putchar((int)roll(256));
}

static void tokens(void)
{
    static const char *const words[] = {".version",
                                        "9.0",
                                        ".target",
                                        "sm_80",
                                        ".address_size",
                                        "64",
                                        ".visible",
                                        ".entry",
                                        ".func",
                                        "k",
                                        "(",
                                        ")",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ";",
                                        ",",
                                        ":",
                                        "|",
                                        ".reg",
                                        ".b32",
                                        ".pred",
                                        ".f32",
                                        "%r1",
                                        "%r<9>",
                                        "%p1",
                                        "@%p1",
                                        "@!",
                                        "add.s32",
                                        "mov.b64",
                                        "ld.global.v4.f32",
                                        "st.shared.u8",
                                        "bra",
                                        "L",
                                        "ret",
                                        "call",
                                        "0x1F",
                                        "0f3F800000",
                                        "1e9",
                                        "-",
                                        "+",
                                        "!",
                                        "~",
                                        "\"s\"",
                                        ".param",
                                        ".align",
                                        ".shared",
                                        "=",
                                        "setp.lt.and.s32",
                                        "_",
                                        "%tid.x",
                                        ".loc",
                                        ".pragma",
                                        "{%r1,%r2}",
                                        "[%r1+4]",
                                        "brx.idx",
                                        ".branchtargets",
                                        "99999999999999999999",
                                        "//",
                                        "/*",
                                        "*/",
                                        "\n",
                                        "%",
                                        ".v4",
                                        "<",
                                        ">",
                                        "?",
                                        ".section",
                                        ".extern",
                                        ".global",
                                        ".callprototype"};
    printf(".version 9.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t n = 1 + roll(600); n--;)
        printf("%s%s", words[roll(sizeof words / sizeof *words)], roll(6) ? " " : "\n");
}

static void lines(const char *text, size_t n, const char *mode)
{
    const char *kept = NULL;
    size_t kept_len = 0;
    int drop = strcmp(mode, "drop") == 0;
    for (const char *p = text, *end = text + n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((nl ? nl + 1 : end) - p);
        if (roll(40) == 0 && !drop && !kept) {
            kept = p;
            kept_len = len;
        } else if (!(drop && roll(40) == 0)) {
            fwrite(p, 1, len, stdout);
            if (kept && roll(3) == 0) {
                fwrite(kept, 1, kept_len, stdout);
                kept = NULL;
            }
        }
        p += len;
    }
}

static void bytes(const char *text, size_t n, const char *mode)
{
    static const char likely[] = "{}[]();,:.%@!|<>=+-*/\"0123456789abcxyz_$ \n\t\0\x80\xff";
    int insert = strcmp(mode, "insert") == 0;
    for (size_t k = 0; k < n; k++) {
        int hit = roll((uint32_t)(n / 6 + 1)) == 0;
        if (hit)
            putchar(likely[roll(sizeof likely - 1)]);
        if (!hit || insert)
            putchar(text[k]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *mode = argv[1];
    state = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15u + 12345;
    roll(2);
    if (strcmp(mode, "noise") == 0 || strcmp(mode, "tokens") == 0) {
        (strcmp(mode, "noise") == 0 ? noise : tokens)();
        return 0;
    }
    FILE *f = argc > 3 ? fopen(argv[3], "rb") : NULL;
    if (!f)
        return 2;
    static char text[1 << 22];
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    if (strcmp(mode, "truncate") == 0) {
        fwrite(text, 1, roll((uint32_t)n), stdout);
    } else if (strcmp(mode, "splice") == 0) {
        size_t a = roll((uint32_t)n), b = roll((uint32_t)n), len = roll(400);
        fwrite(text, 1, a, stdout);
        fwrite(text + b, 1, b + len < n ? len : n - b, stdout);
        fwrite(text + a, 1, n - a, stdout);
    } else if (strcmp(mode, "drop") == 0 || strcmp(mode, "swap") == 0) {
        lines(text, n, mode);
    } else {
        bytes(text, n, mode);
    }
    return 0;
}
