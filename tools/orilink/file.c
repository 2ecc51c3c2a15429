// SPDX-License-Identifier: MIT
// Reads and rewrites the files of a link.
#include <stdlib.h>

#include "tools/lib/lang.h"
#include "tools/orilink/file.h"

enum { AR_HEADER = 60, AR_MAGIC = 8, AR_SIZE = 48, AR_SIZE_DIGITS = 10 };

/* -- Host objects ---------------------------------------------------------------------------------------- */

// Checks that nothing else lies in the fat binary, whose size changes.
static bool fatbin_is_apart(const Member *m, const uint8_t *bytes, Diag *diag)
{
    const ElfSection *fat = &m->elf.sections.at[m->fatbin];
    uint64_t end = fat->offset + fat->size, headers = load64(bytes + 40);
    if (fat->offset < ELF_EHDR || (headers < end && headers + (uint64_t)m->elf.sections.n * ELF_SHDR > fat->offset))
        return elf_damaged(&m->elf, diag, "its headers lie in section %u, the fat binary", m->fatbin);
    for (uint32_t k = 1; k < m->elf.sections.n; k++) {
        const ElfSection *s = &m->elf.sections.at[k];
        if (k != m->fatbin && s->data && s->size && s->offset < end && s->offset + s->size > fat->offset)
            return elf_damaged(&m->elf, diag, "section %u lies in section %u, the fat binary", k, m->fatbin);
    }
    return true;
}

static bool read_host(Member *m, const uint8_t *bytes, Link *link, uint32_t *sm)
{
    static const char *const sets[HOST_SETS] = {".nvHRKE", ".nvHRKI", ".nvHRCE", ".nvHRCI", ".nvHRDE", ".nvHRDI"};
    if (!elf_read(&m->elf, m->name, bytes, m->size, &link->arena, link->diag))
        return false;
    bool has_host_info = false;
    for (uint32_t k = 1; k < m->elf.sections.n; k++) {
        const ElfSection *s = &m->elf.sections.at[k];
        if (strcmp(s->text, "__nv_relfatbin") == 0 && s->data && s->size)
            m->fatbin = k;
    }
    for (int set = 0; set < HOST_SETS; set++)  // in the order of the messages
        for (uint32_t k = 1; k < m->elf.sections.n; k++) {
            const ElfSection *s = &m->elf.sections.at[k];
            if (strcmp(s->text, sets[set]) == 0 && s->data) {
                has_host_info = true;
                seed_host_names(link, (HostSet)set, s->data, s->size);
            }
        }
    if (!m->fatbin)
        return true;
    if (!fatbin_is_apart(m, bytes, link->diag))
        return false;
    link->lacks_host_info |= !has_host_info && !m->is_system;
    m->fat = m->elf.sections.at[m->fatbin].data;
    m->fat_size = m->elf.sections.at[m->fatbin].size;
    if (fatbin_is(m->fat, m->fat_size))
        return fatbin_read(m, link, sm);
    diag_plain(link->diag, DIAG_ERROR, "'%s' is damaged: its section __nv_relfatbin has no fat binary", m->name);
    return false;
}

// Appends a host object with another section of the fat binary. Sections behind it move.
static void rewrite_host(const Member *m, const uint8_t *bytes, Link *link, TextBuffer *text)
{
    enum { ALIGN = 64 };  // at least that of all sections
    const ElfSection *fat = &m->elf.sections.at[m->fatbin];
    uint64_t old_end = fat->offset + fat->size, shoff = load64(bytes + 40), delta;
    size_t start = text->n;
    Arena scratch;
    arena_init(&scratch, link->heap);
    TextBuffer section = {.arena = &scratch};
    fatbin_rewrite(m, link, &section);
    text_put(text, bytes, fat->offset);
    text_put(text, section.at, section.n);
    delta = section.n - fat->size;
    while (delta % ALIGN) {
        text_put(text, "", 1);
        delta++;
    }
    text_put(text, bytes + old_end, m->size - old_end);
    uint8_t *p = (uint8_t *)text->at + start;
    if (shoff >= old_end)
        store64(p + 40, shoff += delta);
    for (uint32_t k = 1; k < m->elf.sections.n; k++) {
        uint8_t *header = p + shoff + (size_t)k * ELF_SHDR;
        uint64_t offset = m->elf.sections.at[k].offset;
        if (offset >= old_end)
            store64(header + 24, offset + delta);
        if (k == m->fatbin)
            store64(header + 32, section.n);
    }
    arena_free(&scratch);
}

/* -- Members --------------------------------------------------------------------------------------------- */

static Status read_cubin(Member *m, const uint8_t *bytes, Link *link, uint32_t *sm)
{
    Input in = {.is_system = m->is_system};
    link->lacks_host_info |= !m->is_system;
    link->objects += !m->is_system;
    if (!cubin_is_known(bytes, m->size)) {
        link->opaque = m->name;
        return ST_OK;
    }
    m->kind = MEMBER_CUBIN;
    if (!cubin_read(&in.cubin, m->name, bytes, m->size, &link->arena, link->diag))
        return ST_BAD_INPUT;
    if (*sm && !sm_is_linked(in.cubin.sm, *sm)) {
        diag_plain(link->diag, DIAG_ERROR, "'%s' is for sm_%u, not sm_%u", m->name, in.cubin.sm, *sm);
        return ST_BAD_INPUT;
    }
    *sm = *sm ? *sm : in.cubin.sm;
    VEC_PUSH(&link->arena, &link->inputs, in);
    m->input = link->inputs.n;
    return ST_OK;
}

// Reports a file that cannot be linked.
static Status reject(const File *file, const Link *link)
{
    static const char inputs[] = "cubin, fat binary, host object or archive";
    const Source source = {.name = file->path, .text = (const char *)file->bytes, .len = file->size};
    const char *remedy, *what = lang_without_code(&source, &remedy);
    if (what)
        diag_plain(link->diag, DIAG_ERROR, "'%s' is %s, not a %s; %s first", file->path, what, inputs, remedy);
    else
        diag_plain(link->diag, DIAG_ERROR, "'%s' is no %s", file->path, inputs);
    return ST_BAD_INPUT;
}

static Status read_member(File *file, Member *m, Link *link, uint32_t *sm)
{
    const uint8_t *bytes = file->bytes + m->offset;
    bool elf = m->size >= ELF_EHDR && memcmp(bytes, "\177ELF", 4) == 0, fatbin = fatbin_is(bytes, m->size);
    if (file->is_archive && (fatbin || (elf && load16(bytes + 18) == EM_CUDA))) {
        diag_plain(link->diag, DIAG_WARNING, "'%s' is no host object, so nvlink ignores it in an archive", m->name);
        return ST_OK;
    }
    if (fatbin) {
        m->kind = MEMBER_FATBIN;
        m->fat = bytes;
        m->fat_size = m->size;
        link->lacks_host_info |= !m->is_system;
        return fatbin_read(m, link, sm) ? ST_OK : ST_BAD_INPUT;
    }
    if (!elf) {
        return file->is_archive ? ST_OK : reject(file, link);
    }
    if (load16(bytes + 18) == EM_CUDA)
        return read_cubin(m, bytes, link, sm);
    m->kind = MEMBER_HOST;
    return read_host(m, bytes, link, sm) ? ST_OK : ST_BAD_INPUT;
}

static bool member_changes(const Member *m, const Link *link)
{
    if (m->input && cubin_changes(link, &link->inputs.at[m->input - 1]))
        return true;
    for (uint32_t k = 0; k < m->entries.n; k++)
        if (m->entries.at[k].input && cubin_changes(link, &link->inputs.at[m->entries.at[k].input - 1]))
            return true;
    return false;
}

static void rewrite_member(const File *file, const Member *m, Link *link, TextBuffer *text)
{
    const uint8_t *bytes = file->bytes + m->offset;
    if (!member_changes(m, link))
        text_put(text, bytes, m->size);
    else if (m->kind == MEMBER_CUBIN)
        cubin_rewrite(link, &link->inputs.at[m->input - 1], text);
    else if (m->kind == MEMBER_FATBIN)
        fatbin_rewrite(m, link, text);
    else
        rewrite_host(m, bytes, link, text);
}

/* -- Archives -------------------------------------------------------------------------------------------- */

static bool bad_archive(const File *file, const Link *link)
{
    diag_plain(link->diag, DIAG_ERROR, "'%s' is damaged: a member of the archive is not all in it", file->path);
    return false;
}

// Returns the name of a member: `NAME/` in its header, or `/OFFSET` in the table of long names.
static const char *member_name(const File *file, const uint8_t *header, const Member *longs, Link *link)
{
    const char *name = (const char *)header;
    size_t n = strcspn(name, "/ "), at = 0;
    if (n == 0 && name[0] == '/' && name[1] >= '0' && name[1] <= '9' && longs) {
        for (const char *digit = name + 1; *digit >= '0' && *digit <= '9' && digit < name + 16; digit++)
            at = at * 10 + (size_t)(*digit - '0');
        if (at < longs->size) {
            name = (const char *)file->bytes + longs->offset + at;
            n = 0;
            while (n < longs->size - at && name[n] != '/' && name[n] != '\n')
                n++;
        }
    }
    n = MIN(n, 200);
    char *text = arena_alloc(&link->arena, strlen(file->path) + n + 3);
    sprintf(text, "%s(%.*s)", file->path, (int)n, name);
    return text;
}

static bool list_members(File *file, Link *link)
{
    const Member *longs = NULL;
    Member long_names;
    for (uint64_t at = AR_MAGIC; at < file->size;) {
        const uint8_t *p = file->bytes + at;
        uint64_t size = 0;
        if (file->size - at < AR_HEADER || p[58] != '`' || p[59] != '\n')
            return bad_archive(file, link);
        for (int k = 0; k < AR_SIZE_DIGITS && p[AR_SIZE + k] >= '0' && p[AR_SIZE + k] <= '9'; k++)
            size = size * 10 + (uint64_t)(p[AR_SIZE + k] - '0');
        if (size > file->size - at - AR_HEADER)
            return bad_archive(file, link);
        if (p[0] == '#' && p[1] == '1' && p[2] == '/') {
            diag_plain(link->diag, DIAG_ERROR, "'%s' is an archive in the format of BSD; GNU ar makes others",
                       file->path);
            return false;
        }
        Member m = {.header = at, .offset = at + AR_HEADER, .size = size};
        m.name = member_name(file, p, longs, link);
        if (p[0] == '/' && p[1] == '/') {
            long_names = m;
            longs = &long_names;
        }
        VEC_PUSH(&link->arena, &file->members, m);
        at = m.offset + size + (size & 1);
    }
    return true;
}

static uint32_t load_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_big(uint8_t *p, uint32_t x)
{
    for (int k = 0; k < 4; k++)
        p[k] = (uint8_t)(x >> (24 - 8 * k));
}

// Returns the index of the first member whose header is at an offset or behind it, or the last one.
static uint32_t member_at(const File *file, uint32_t offset)
{
    uint32_t low = 0, high = file->members.n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->members.at[middle].header < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Moves the offsets in the table of symbols (`/`), which are of headers of members.
static void move_symbols(const File *file, const uint64_t *moved, TextBuffer *text)
{
    const Member *m = file->members.at;
    if (!file->members.n || file->bytes[m->header] != '/' || file->bytes[m->header + 1] != ' ' || m->size < 4)
        return;
    uint8_t *p = (uint8_t *)text->at + AR_MAGIC + AR_HEADER;
    uint32_t n = load_big(p);
    for (uint32_t k = 0; k < n && 8 + (uint64_t)k * 4 <= m->size; k++) {
        uint8_t *q = p + 4 + (size_t)k * 4;
        store_big(q, (uint32_t)moved[member_at(file, load_big(q))]);
    }
}

static void rewrite_archive(const File *file, Link *link, TextBuffer *text)
{
    uint64_t *moved = NEW_ARRAY(text->arena, uint64_t, file->members.n + 1);
    text_put(text, file->bytes, AR_MAGIC);
    for (uint32_t k = 0; k < file->members.n; k++) {
        const Member *m = &file->members.at[k];
        char size[AR_SIZE_DIGITS + 1];
        moved[k] = text->n;
        text_put(text, file->bytes + m->header, AR_HEADER);
        rewrite_member(file, m, link, text);
        size_t n = text->n - (size_t)moved[k] - AR_HEADER;
        snprintf(size, sizeof size, "%-*zu", AR_SIZE_DIGITS, n);
        memcpy(text->at + moved[k] + AR_SIZE, size, AR_SIZE_DIGITS);
        if (n & 1)
            text_put(text, "\n", 1);
    }
    move_symbols(file, moved, text);
}

/* -- Files ----------------------------------------------------------------------------------------------- */

Status file_parse(File *file, const char *path, const uint8_t *bytes, size_t size, Link *link, uint32_t *sm)
{
    Status status = ST_OK;
    *file = (File){.path = path, .bytes = bytes, .size = size};
    file->is_archive = size >= AR_MAGIC && memcmp(bytes, "!<arch>\n", AR_MAGIC) == 0;
    if (size >= AR_MAGIC && memcmp(bytes, "!<thin>\n", AR_MAGIC) == 0) {
        diag_plain(link->diag, DIAG_ERROR, "'%s' is a thin archive; name its members instead, or make it without T",
                   path);
        return ST_BAD_INPUT;
    }
    if (!file->is_archive)
        VEC_PUSH(&link->arena, &file->members, ((Member){.name = path, .size = size}));
    else if (!list_members(file, link))
        return ST_BAD_INPUT;
    file->is_system = strcmp(base_name(path), "libcudadevrt.a") == 0;
    for (uint32_t k = 0; k < file->members.n && status == ST_OK; k++) {
        file->members.at[k].is_system = file->is_system;
        status = read_member(file, &file->members.at[k], link, sm);
    }
    return status;
}

Status file_read(File *file, const char *path, Link *link, uint32_t *sm)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &link->arena, why)) {
        diag_plain(link->diag, DIAG_ERROR, "cannot read '%s': %s", path, why);
        return ST_IO;
    }
    return file_parse(file, path, (const uint8_t *)source.text, source.len, link, sm);
}

bool file_write(Link *link, const char *path, const void *bytes, size_t n)
{
    Arena scratch;
    OutFile file;
    char why[200];
    arena_init(&scratch, link->heap);
    bool ok = outfile_open(&file, path, &scratch, why);
    if (ok) {
        file.unsynced = true;
        outfile_write(&file, bytes, n);
        ok = outfile_commit(&file, why);
    }
    if (!ok)
        diag_plain(link->diag, DIAG_ERROR, "cannot write '%s': %s", path, why);
    arena_free(&scratch);
    return ok;
}

bool file_changes(const File *file, const Link *link)
{
    for (uint32_t k = 0; k < file->members.n; k++)
        if (member_changes(&file->members.at[k], link))
            return true;
    return false;
}

void file_rewrite(const File *file, Link *link, TextBuffer *text)
{
    if (file->is_archive)
        rewrite_archive(file, link, text);
    else
        rewrite_member(file, &file->members.at[0], link, text);
}
