// SPDX-License-Identifier: MIT
// Memory, vectors, hashing, strings, diagnostics, files and line differences. Nothing in this folder depends on the IR.
//
// Memory belongs to a Heap. Arenas take chunks from the heap; an arena is freed as a whole. A failed allocation or an
// internal error does not return: heap_fail() jumps to `Heap.unwind`, which the API function set, and heap_release()
// frees all chunks.
#ifndef ORI_BASE_H
#define ORI_BASE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The compilation context; completed in phases/phase.h.
typedef struct Ctx Ctx;

// Result of an API call, and exit status of a program; the numbers are the exit codes.
typedef enum { ST_OK, ST_BAD_INPUT, ST_USAGE, ST_INTERNAL, ST_LIMIT, ST_IO } Status;

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* heap.c: memory ------------------------------------------------------------------------------------------- */

typedef struct Chunk Chunk;
typedef struct Slab Slab;
enum { CHUNK_PAGES = 256 };  // pages of 4 KB in the largest chunk of a slab

// Source of a heap's memory; alloc == NULL: malloc() and free(). alloc() aligns as malloc() does and returns NULL if
// there is no memory. A heap that threads share calls alloc() from one thread at a time.
typedef struct Allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *p, size_t bytes);
    void *user;
} Allocator;

// Creates and finishes temporary files. A program can install functions that also record them for its signal handler.
typedef struct FileOps {
    int (*create)(char *temp);                          // as mkstemp()
    int (*finish)(const char *temp, const char *real);  // as rename(); real NULL: as unlink()
} FileOps;

// Takes memory from the system in slabs of 4 MB, hands out chunks of whole pages and reuses the chunks that arenas
// free. The heap lists all its memory, so an unwound call leaks nothing. A heap with a pool takes its chunks from the
// pool. So each thread unwinds its own heap, but arenas can be handed from one thread to another.
typedef struct Heap {
    struct Heap *pool;      // NULL: the heap has its own memory; else it uses only `files` and the fields below it
    pthread_mutex_t *lock;  // of a pool that several threads use; else NULL
    Allocator allocator;
    Slab *slabs;
    char *cur, *end;               // free part of the newest slab
    Chunk *free[CHUNK_PAGES + 1];  // free chunks of slabs, by number of pages
    Chunk *large;                  // chunks in use that the system allocated singly
    Chunk *spare;                  // free chunks that the system allocated singly
    size_t used, peak;             // bytes in chunks
    size_t high;                   // maximum of `used` since the heap was trimmed
    size_t spared;                 // bytes in `spare`
    size_t limit;                  // 0 = none
    const FileOps *files;          // NULL: mkstemp(), rename(), unlink()
    jmp_buf *unwind;               // target of a failure's longjmp()
    Status status;                 // of the failure
    char message[800];             // of the failure
} Heap;

// Ends the current API call: records status and message, and unwinds.
_Noreturn void heap_fail(Heap *heap, Status status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Frees every chunk of every arena. Not for a heap with a pool: its arenas' chunks belong to the pool.
void heap_release(Heap *heap);
// Return the bytes in chunks of the heap or of its pool: the current number, and the maximum so far.
size_t heap_used(const Heap *heap);
// Gives spare memory back to the system. Later, spare and used memory together take no more than the maximum in use
// since this call.
void heap_trim(Heap *heap);
size_t heap_peak(const Heap *heap);

typedef struct Arena {
    Heap *heap;
    Chunk *chunks;
    char *cur, *end;  // free part of the newest chunk
    size_t size;      // bytes taken from the heap
} Arena;

void arena_init(Arena *arena, Heap *heap);
void arena_free(Arena *arena);
void *arena_refill(Arena *arena, size_t bytes);

// Under AddressSanitizer each allocation comes from the system, so that overflows inside an arena are detected.
#if defined(__SANITIZE_ADDRESS__)
enum { ARENA_EXACT = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { ARENA_EXACT = 1 };
#else
enum { ARENA_EXACT = 0 };
#endif
#else
enum { ARENA_EXACT = 0 };
#endif

// Returns `bytes` of uninitialized memory, aligned to 8, valid until the arena is freed.
static inline void *arena_alloc(Arena *arena, size_t bytes)
{
    bytes = bytes > SIZE_MAX - 7 ? bytes : (bytes + 7) & ~(size_t)7;
    // `<=`, so that the result for 0 bytes in an empty arena is not NULL: memset() and pointer arithmetic exclude NULL.
    if (ARENA_EXACT || (size_t)(arena->end - arena->cur) <= bytes)
        return arena_refill(arena, bytes);
    void *p = arena->cur;
    arena->cur += bytes;
    return p;
}

// Returns a copy of `bytes` bytes; NULL if `bytes` is 0.
static inline void *arena_copy(Arena *arena, const void *from, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(arena, bytes), from, bytes) : NULL;
}
// Returns a copy of the first `len` bytes of a text with a NUL after them.
static inline char *arena_text(Arena *arena, const char *text, size_t len)
{
    char *s = arena_alloc(arena, len + 1);
    memcpy(s, text, len);
    s[len] = 0;
    return s;
}

static inline void *arena_zalloc(Arena *arena, size_t bytes) { return memset(arena_alloc(arena, bytes), 0, bytes); }

#define NEW(arena, T) ((T *)arena_zalloc((arena), sizeof(T)))
#define NEW_ARRAY(arena, T, n) ((T *)arena_zalloc((arena), sizeof(T) * (size_t)(n)))

// Growable array in an arena: struct { T *at; uint32_t n, cap; }.
#define VEC(T)           \
    struct {             \
        T *at;           \
        uint32_t n, cap; \
    }
void *vec_grow(Arena *arena, void *old, uint32_t n, uint32_t *cap, size_t elem);
// Gives an empty vector the capacity `count`.
#define VEC_RESERVE(arena, v, count) ((v)->at = arena_alloc((arena), ((v)->cap = (count)) * sizeof *(v)->at))
#define VEC_PUSH(arena, v, x)                                                         \
    do {                                                                              \
        if ((v)->n == (v)->cap)                                                       \
            (v)->at = vec_grow((arena), (v)->at, (v)->n, &(v)->cap, sizeof *(v)->at); \
        (v)->at[(v)->n] = (x);                                                        \
        (v)->n++;                                                                     \
    } while (0)

// Segmented array: elements never move, growth copies nothing. An access finds the segment by a count of leading zeros.
// Segment s holds SEG_FIRST << s elements.
enum { SEG_SHIFT = 3, SEG_FIRST = 1 << SEG_SHIFT, SEG_COUNT = 28 };

typedef struct Seg {
    uintptr_t base[SEG_COUNT];  // address of the segment minus the size of (SEG_FIRST << s) elements
    uint32_t n;                 // elements in use
    uint32_t end;               // end of the segment that holds element n
} Seg;

static inline void *seg_at(const Seg *seg, uint32_t i, size_t elem)
{
    uint32_t k = i + SEG_FIRST;
    return (void *)(seg->base[31 - SEG_SHIFT - (uint32_t)__builtin_clz(k)] + k * elem);
}

// Makes room for `count` consecutive elements in one segment, uninitialized; returns the index of the first.
void seg_grow(Seg *seg, Arena *arena, uint32_t count, size_t elem);
static inline uint32_t seg_push(Seg *seg, Arena *arena, uint32_t count, size_t elem)
{
    if (seg->end - seg->n < count)
        seg_grow(seg, arena, count, elem);
    uint32_t i = seg->n;
    seg->n += count;
    return i;
}

// Keeps the first n elements, n > 0. Later elements reuse the memory of the others.
void seg_cut(Seg *seg, uint32_t n);
// Copies the elements to segments in this arena, which `seg` owns from now on.
void seg_copy(Seg *seg, Arena *arena, size_t elem);

/* idset.c: hash index ------------------------------------------------------------------------------------- */

// Hash index with open addressing. Finds the ids of records with a hash. The caller stores the records, and compares
// them.
typedef struct IdSet {
    struct {
        uint32_t hash, id1;
    } * slots;  // id1 = id + 1, 0 = free
    uint32_t mask, n;
} IdSet;

void idset_add(IdSet *set, Arena *arena, uint32_t hash, uint32_t id);
// Runs its body for each id with this hash: IDSET_EACH(&set, hash, id) if (equal(id)) return id;
#define IDSET_EACH(set, h, id)                                                                                       \
    for (uint32_t s_ = (h) & (set)->mask, id = 0; (set)->slots && (set)->slots[s_].id1; s_ = (s_ + 1) & (set)->mask) \
        if ((set)->slots[s_].hash == (h) && ((id = (set)->slots[s_].id1 - 1), true))

/* scope_tree.c: sparse sets of block numbers --------------------------------------------------------------- */

// A set of numbers below 2^31, iterated in ascending order: a red-black tree of bitsets. A node has the members
// key << 8 .. key << 8 | 255; member bit | word << 6 | key << 8 is a bit of bits[word].
typedef struct ScopeNode {
    struct ScopeNode *child[2], *parent;  // left, right
    uint32_t key;                         // bit 31: the node is black
    uint32_t unused;
    uint64_t bits[4];
} ScopeNode;

typedef struct ScopeTree {
    Arena *arena;
    ScopeNode *root, *last;  // last: the node that scope_tree_add() found last
    ScopeNode *free;         // removed nodes, linked by child[1]
    uint32_t n;              // nodes of the tree
} ScopeTree;

// A position in a scope tree: the next member is at least bit `from` of the node.
typedef struct ScopeCursor {
    const ScopeNode *node;
    uint32_t from;
} ScopeCursor;
#define SCOPE_END UINT32_MAX

void scope_tree_init(ScopeTree *t, Arena *arena);
// Adds a member in logarithmic time; true if it is new.
bool scope_tree_add(ScopeTree *t, uint32_t index);
bool scope_tree_has(const ScopeTree *t, uint32_t index);
// Return the position before the least member, and the next member or SCOPE_END. Members may be added meanwhile; those
// below the position are not returned.
ScopeCursor scope_tree_first(const ScopeTree *t);
uint32_t scope_tree_next(ScopeCursor *c);
// Removes the node with the least members, for reuse; true if the tree still has a node. Invalidates cursors.
bool scope_tree_drop(ScopeTree *t);

/* str.c: interned strings ---------------------------------------------------------------------------------- */

typedef uint32_t StrId;  // 0 = the empty string
#define STR_NONE UINT32_MAX

typedef struct Str {
    const char *text;  // not terminated
    uint32_t len, hash;
} Str;
static inline bool str_is(Str s, const char *z) { return s.len == strlen(z) && memcmp(s.text, z, s.len) == 0; }

// Interned strings with ids from 0. A parent is shared read-only; ids from `first` on belong to this table. A parent
// may get up to STR_ROOM more strings later; a table that had such a string before keeps an id of its own for it.
enum { STR_ROOM = 1 << 24 };
typedef struct StrTable {
    const struct StrTable *parent;
    Arena *arena;
    uint32_t first;  // id of the first string of this table
    VEC(Str) strings;
    IdSet index;
} StrTable;

void str_init(StrTable *table, Arena *arena, const StrTable *parent);
StrId str_intern(StrTable *table, const char *text, size_t len);
StrId str_find(const StrTable *table, const char *text, size_t len);  // STR_NONE if absent
// Appends the strings of `from` that `table`, a copy of its first ones, lacks. Both share the texts.
void str_copy_new(StrTable *table, const StrTable *from);
static inline Str str_get(const StrTable *table, StrId id)
{
    while (id < table->first)
        table = table->parent;
    return table->strings.at[id - table->first];
}
static inline StrId str_intern_z(StrTable *table, const char *text) { return str_intern(table, text, strlen(text)); }

// True if the pattern matches the whole text: `*` any run of bytes, `?` any byte, `[a-f_]` one of these, `[!a]` none of
// these, `\` the next character literally. A `]` directly after the `[` is in the class; a `[` without a closing
// bracket matches itself. With `fold_case`, ASCII letters match in both cases.
bool glob_match(const char *pattern, const char *text, size_t len, bool fold_case);

uint32_t hash_bytes(const void *p, size_t n);
static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

/* nearest.c: names that are like another one ---------------------------------------------------------------- */

enum { NEAREST_EDIT = 8 };  // the distance of one edit

// The three candidate names with the smallest distance from a text. Of names with equal distance the earlier one comes
// first; no name occurs twice. All zero = no candidates.
typedef struct Nearest {
    const char *name[3];   // nearest first; owned by the caller
    unsigned distance[3];  // NEAREST_EDIT for each edit; less if the name contains the text
    uint32_t n;
} Nearest;

void nearest_offer(Nearest *best, const char *text, size_t len, const char *name);
// Writes "; did you mean A, B or C?" with the names in `best`; an empty text if there are none.
void nearest_print(const Nearest *best, char *text, size_t cap);

/* source.c: input files ------------------------------------------------------------------------------------ */

// An input text. At least SOURCE_SLACK readable bytes follow it, the first of them a NUL, so that a lexer may load
// eight bytes at once.
enum { SOURCE_SLACK = 16 };
typedef struct Source {
    const char *name;
    const char *text;
    size_t len;
    size_t mapped;            // bytes of pages to unmap; 0 if the text is in an arena
    struct SourceFile *file;  // of text that can be dropped and read again; NULL: it cannot
} Source;

// Opens a file ("-" is standard input). On failure returns false with the reason in `why`.
bool source_open(Source *source, const char *path, Arena *arena, char why[static 200]);
void source_close(Source *source);
// Returns the memory of the text before an offset to the system. Until source_restore() the bytes are undefined. Has no
// effect on less than a megabyte, on text that cannot be dropped, and after source_restore().
void source_drop(const Source *source, size_t end);
// Reads dropped text again. False: the file has changed or cannot be read, and the text is lost. Async-signal-safe.
bool source_restore(const Source *source);

/* diag.c: diagnostics -------------------------------------------------------------------------------------- */

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } Severity;

// A diagnostic in parts, valid during the call of `report`.
typedef struct DiagMessage {
    Severity severity;
    const char *file;    // NULL: none
    uint32_t line, col;  // 0: no position
    const char *text;
    const char *rendered;  // with position, line and caret, as printed
} DiagMessage;

typedef struct Diag {
    const Source *source;
    void (*write)(void *user, const char *text, size_t n);
    void (*report)(void *user, const DiagMessage *message);  // replaces `write` if not NULL
    void *user;
    const char *program;  // printed instead of a file name if there is no source; NULL: oriopt
    bool json;            // one JSON object per line instead of text
    bool errors_only;     // warnings and notes are dropped
    uint32_t errors;      // reported so far
    uint32_t max_errors;  // reading stops at this number; 0 = no limit
    size_t line_offset;   // cache: offset of the start of line `line`
    uint32_t line;
} Diag;

// Converts a byte offset to line and column; both count from 1, columns in bytes.
void diag_locate(Diag *diag, size_t offset, uint32_t *line, uint32_t *col, size_t *line_start);
// Reports `file:line:col: error: ...` with the line and a caret.
void diag_at(Diag *diag, Severity severity, size_t offset, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_vat(Diag *diag, Severity severity, size_t offset, const char *fmt, va_list args);
// Reports without a position.
void diag_plain(Diag *diag, Severity severity, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* out.c: output -------------------------------------------------------------------------------------------- */

// Buffered output. `write` takes full buffers and returns false on failure; later output is dropped.
typedef struct Out {
    bool (*write)(void *user, const char *text, size_t n);
    void *user;
    char *buf;
    size_t n, cap;
    bool failed;
    uint64_t total;  // bytes passed to `write`
} Out;

void out_init(Out *out, Arena *arena, bool (*write)(void *, const char *, size_t), void *user);
void out_flush(Out *out);
void out_split(Out *out, const char *text, size_t n);  // out_bytes() of a text that does not fit the buffer
void out_fmt(Out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum { MAX_DIGITS = 10 };  // of a uint32_t
void out_u64(Out *out, uint64_t value);
void out_i64(Out *out, int64_t value);
void out_hex(Out *out, uint64_t value, unsigned digits);
// Writes a quoted JSON string. UTF-8 stays as it is; a byte outside any UTF-8 character is replaced by U+FFFD.
void out_json(Out *out, const char *text, size_t n);
static inline void out_bytes(Out *out, const char *text, size_t n)
{
    if (out->cap - out->n < n) {
        out_split(out, text, n);
    } else {
        memcpy(out->buf + out->n, text, n);
        out->n += n;
    }
}
// Writes the first n <= 16 bytes of a text that has 16 readable bytes.
static inline void out_short(Out *out, const char *text, size_t n)
{
    if (out->cap - out->n < 16) {
        out_bytes(out, text, n);
    } else {
        memcpy(out->buf + out->n, text, 16);
        out->n += n;
    }
}
static inline void out_z(Out *out, const char *text) { out_bytes(out, text, strlen(text)); }
static inline void out_char(Out *out, char c)
{
    if (out->n == out->cap)
        out_flush(out);
    out->buf[out->n++] = c;
}

// A text that grows in an arena.
typedef struct TextBuffer {
    Arena *arena;
    char *at;
    size_t n, cap;
} TextBuffer;
// A `write` for Out that appends to a TextBuffer.
bool out_to_text(void *text, const char *bytes, size_t n);
// Returns the text as a source, with the slack that readers require after it.
Source text_source(TextBuffer *text, const char *name);

// A file that appears whole or not at all: written beside its target and renamed by outfile_commit(). Devices and FIFOs
// are written directly; "-" is standard output.
typedef struct OutFile {
    int fd;
    int held;           // descriptor of the buffer if there is no file to rename; 0 = none
    const char *path;   // as given, for messages
    char *temp, *real;  // NULL if written directly
    int error;          // errno of the first failed write; 0 = none failed
    bool unsynced;      // outfile_commit() does not wait until the device has it: for many files that can be made again
    Arena *arena;
} OutFile;

bool outfile_open(OutFile *file, const char *path, Arena *arena, char why[static 200]);
// Buffers output to standard output or a FIFO until outfile_commit(), so that none appears if an error occurs later.
// Returns false if no temporary file can be created for the buffer.
bool outfile_hold(OutFile *file);
bool outfile_write(void *file, const char *text, size_t n);  // a `write` for Out
// Returns the reason of the first failed write.
const char *outfile_error(const OutFile *file);
// Completes the file. False: it cannot be completed, or a write has failed. Then nothing appears, and `why` has the
// reason.
bool outfile_commit(OutFile *file, char why[static 200]);
void outfile_abandon(OutFile *file);

/* diff.c: line differences --------------------------------------------------------------------------------- */

// One line of a text, not terminated.
typedef struct TextLine {
    const char *text;
    uint32_t len;
} TextLine;

// Splits a text into lines without newlines; the last line may lack a newline. The lines point into the text, and the
// array lies in the arena. Returns the number of lines.
uint32_t text_lines(const char *text, size_t len, Arena *arena, TextLine **lines);

typedef struct DiffOptions {
    uint32_t context;  // unchanged lines around a change
    // Returns the level of the region (a function, a block) that the line opens: 0 = none, 1 = outermost, up to 8. A
    // region ends at a line that opens a region of the same or an outer level. May shorten the line to the region's
    // title. NULL = no regions.
    int (*heading)(TextLine *line);
} DiffOptions;

// Writes the unified differences of two texts, without file headers: hunks `@@ -a,b +c,d @@ HEADING1 HEADING2` that
// patch accepts. The headings, outermost first, are the titles of the regions that contain or begin with the hunk's
// first changed line. They come from the old text if that line is removed, and from the new text if it is added.
// The differences are correct for all texts, and minimal except for large texts that have little in common. Returns
// false and writes nothing for equal texts; a newline at the end of only one text does not make them different.
bool diff_lines(Out *out, const char *old_text, size_t old_len, const char *new_text, size_t new_len,
                const DiffOptions *options, Heap *heap);

#endif
