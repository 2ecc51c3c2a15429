// SPDX-License-Identifier: MIT
// Maps names of targets to backends and versions. A target has the newest backend that is not newer than the target,
// else the oldest: 75 has the backend of sm_70, 86 to 88 that of sm_80, 100 and up that of sm_90, targets below 30 that
// of sm_30. Its encoded version is that of the backend, unless the documents state another. So sm_103 and up have
// 0x8000, which no threshold distinguishes from the 0x9000 of sm_100.
#include <stdio.h>

#include "sm/sm.h"

const SmBackend *const sm_backends[SM_BACKEND_COUNT] = {
#define BACKEND(number) &sm_##number,
    SM_BACKENDS(BACKEND)
#undef BACKEND
};

// The targets that any release of ptxas accepts.
static const uint16_t numbers[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                                   70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

// Targets whose version differs from that of the backend.
static const struct {
    uint16_t number;
    char suffix;  // 0 = none, or a suffix without a row
    uint16_t encoded;
} versions[] = {{50, 'a', 0x5001}, {100, 0, 0x9000}};

static SmTarget target_of(unsigned number, char suffix)
{
    const SmBackend *backend = sm_backends[0];
    for (size_t k = 0; k < SM_BACKEND_COUNT && sm_backends[k]->profile.number <= number; k++)
        backend = sm_backends[k];
    SmTarget target = {backend, backend->profile.encoded};
    for (size_t k = 0; k < ARRAY_LEN(versions); k++)
        if (versions[k].number == number && (!versions[k].suffix || versions[k].suffix == suffix))
            target.encoded = versions[k].encoded;
    return target;
}

SmTarget sm_newest(void) { return target_of(UINT16_MAX, 0); }

// Parses `sm_` and a number of up to four digits. Returns the end, NULL if the text does not begin in this way.
static const char *take_number(const char *text, const char *end, unsigned *number)
{
    if (end - text < 4 || memcmp(text, "sm_", 3) != 0 || text[3] == '0')
        return NULL;
    const char *p = text + 3;
    for (*number = 0; p < end && p - text < 7 && *p >= '0' && *p <= '9'; p++)
        *number = *number * 10 + (unsigned)(*p - '0');
    return p > text + 3 ? p : NULL;
}

static bool is_suffix(char c) { return c == 'a' || c == 'f'; }

static bool exists(unsigned number)
{
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
        if (numbers[k] == number)
            return true;
    return false;
}

// Returns the number of the target that is nearest to the first number in a text; 0 = the text has no number.
static unsigned nearest(const char *text)
{
    unsigned number = 0, best = 0;
    text += strcspn(text, "0123456789");
    for (; *text >= '0' && *text <= '9' && number < 1000; text++)
        number = number * 10 + (unsigned)(*text - '0');
    for (size_t k = 0; k < ARRAY_LEN(numbers) && number; k++) {
        unsigned d = numbers[k] > number ? numbers[k] - number : number - numbers[k];
        if (!best || d < (best > number ? best - number : number - best))
            best = numbers[k];
    }
    return best;
}

// Appends the nearest target to a message of n bytes. Returns the new length.
static int suggest(const char *text, char why[static 300], int n)
{
    return nearest(text) ? n + snprintf(why + n, 300 - (size_t)n, "; did you mean sm_%u?", nearest(text)) : n;
}

bool sm_find(const char *text, SmTarget *target, char why[static 300])
{
    unsigned number;
    const char *end = text + strlen(text), *p = take_number(text, end, &number);
    if (p && exists(number) && (p == end || (is_suffix(*p) && p + 1 == end))) {
        *target = target_of(number, *p);
        return true;
    }
    int n = suggest(text, why, snprintf(why, 300, "'%.60s' is not a target", text));
    n += snprintf(why + n, 300 - (size_t)n, "%s the backends are", nearest(text) ? "" : ";");
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
        n += snprintf(why + n, 300 - (size_t)n, " %s", sm_backends[k]->profile.name);
    return false;
}

SmTarget sm_of_module(const Module *m)
{
    unsigned number;
    Str s = tab_str(&m->tables, m->sm);
    const char *end = s.text + s.len, *p = take_number(s.text, end, &number);
    return p ? target_of(number, (char)(p < end ? *p : 0)) : sm_newest();
}

uint32_t sm_shared_bytes(const Module *m)
{
    static const struct {
        uint16_t number, kilobytes;
    } limits[] = {{10, 16},   {11, 16},   {12, 16},   {13, 16},  {20, 48}, {21, 48},  {30, 48}, {32, 48},
                  {35, 48},   {37, 48},   {50, 48},   {52, 48},  {53, 48}, {60, 48},  {61, 48}, {62, 48},
                  {70, 96},   {72, 96},   {75, 64},   {80, 163}, {86, 99}, {87, 163}, {89, 99}, {90, 227},
                  {100, 227}, {101, 227}, {103, 227}, {120, 99}, {121, 99}};
    for (size_t k = 0; k < ARRAY_LEN(limits); k++)
        if (limits[k].number == m->isa.sm)
            return limits[k].kilobytes * 1024u;
    return 0;
}

bool sm_check_module(const Module *m, char why[static 300])
{
    SmTarget target;
    char text[80];
    Str s = tab_str(&m->tables, m->sm);
    snprintf(text, sizeof text, "%.*s", (int)MIN(s.len, 70), s.text);
    if (sm_find(text, &target, why))
        return true;
    const char *taken = sm_of_module(m).backend->profile.name;
    suggest(text, why, snprintf(why, 300, "'%.60s' is not a target and is optimized as %s", text, taken));
    return false;
}

// A target whose suffix has its own version comes after the plain one.
bool sm_nth_target(size_t k, SmTarget *target, char name[static 12])
{
    size_t at = 0;
    for (size_t j = 0; j < ARRAY_LEN(numbers); j++) {
        if (at++ == k) {
            snprintf(name, 12, "sm_%u", numbers[j]);
            *target = target_of(numbers[j], 0);
            return true;
        }
        for (size_t v = 0; v < ARRAY_LEN(versions); v++)
            if (versions[v].number == numbers[j] && versions[v].suffix && at++ == k) {
                snprintf(name, 12, "sm_%u%c", numbers[j], versions[v].suffix);
                *target = target_of(numbers[j], versions[v].suffix);
                return true;
            }
    }
    return false;
}
