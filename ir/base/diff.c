// SPDX-License-Identifier: MIT
// Computes the line differences of two texts as unified hunks.
//
// The search is Myers' ("An O(ND) Difference Algorithm and Its Variations", 1986) in its linear-space form: two fronts
// of furthest-reaching paths grow from the corners of a box until they meet, and the box is split at that point. Equal
// lines first get equal numbers. The search excludes lines that cannot change its result: the common head and tail of
// the texts, and lines that only one text has, which are changed in any case.
//
// Fronts that have not met after `max_cost` edits stop, and the box is split at the furthest point of either front.
// This bounds the total work by lines * max_cost, since a search of cost max_cost^2 handles max_cost lines. A split at
// any point gives a correct result, but maybe not the smallest one.
#include "ir/base/base.h"

enum {
    MIN_MAX_COST = 256,           // smallest bound on the edits of a front
    LINES_LIMIT = INT32_MAX / 8,  // lines of a text; no sum of coordinates overflows
    HEADING_LEVELS = 8,           // deeper regions are omitted
};

// One of the texts. The candidates are the lines in the search, with separate indices.
typedef struct Side {
    TextLine *lines;
    uint32_t n;
    bool *changed;   // by line, with a false one at the end
    uint32_t *ids;   // of the candidates: equal lines have equal ids
    uint32_t *line;  // line number of each candidate
    uint32_t count;  // number of candidates
} Side;

typedef struct Diff {
    Side old, now;
    Arena *arena;
    int32_t max_cost;
    int32_t *fore, *back;  // memory of the two fronts
} Diff;

/* -- Lines ---------------------------------------------------------------------------------------------- */

uint32_t text_lines(const char *text, size_t len, Arena *arena, TextLine **lines)
{
    VEC(TextLine) found = {0};
    for (size_t at = 0, n; at < len; at += n + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        n = newline ? (size_t)(newline - (text + at)) : len - at;
        if (n > UINT32_MAX)
            heap_fail(arena->heap, ST_LIMIT, "a line has more than %u bytes", UINT32_MAX);
        TextLine line = {text + at, (uint32_t)n};
        VEC_PUSH(arena, &found, line);
    }
    *lines = found.at;
    return found.n;
}

static bool same_line(const TextLine *one, const TextLine *two)
{
    return one->len == two->len && (one->len == 0 || memcmp(one->text, two->text, one->len) == 0);
}

static void side_init(Side *side, const char *text, size_t len, Arena *arena)
{
    side->n = text_lines(text, len, arena, &side->lines);
    if (side->n > LINES_LIMIT)
        heap_fail(arena->heap, ST_LIMIT, "a text to compare has more than %d lines", LINES_LIMIT);
    side->changed = NEW_ARRAY(arena, bool, side->n + 1);
}

// Makes candidates of all lines except the head and the tail.
static void side_take(Side *side, uint32_t head, uint32_t tail, Arena *arena)
{
    side->count = side->n - head - tail;
    side->ids = arena_alloc(arena, side->count * sizeof *side->ids);
    side->line = arena_alloc(arena, side->count * sizeof *side->line);
    for (uint32_t k = 0; k < side->count; k++)
        side->line[k] = head + k;
}

// Excludes the common head and tail of the texts. False if no other lines are left.
static bool skip_equal_ends(Diff *d)
{
    const Side *old = &d->old, *now = &d->now;
    uint32_t shorter = MIN(old->n, now->n), head = 0, tail = 0;
    while (head < shorter && same_line(&old->lines[head], &now->lines[head]))
        head++;
    while (tail < shorter - head && same_line(&old->lines[old->n - 1 - tail], &now->lines[now->n - 1 - tail]))
        tail++;
    side_take(&d->old, head, tail, d->arena);
    side_take(&d->now, head, tail, d->arena);
    return old->count || now->count;
}

/* -- Numbers for lines ---------------------------------------------------------------------------------- */

enum { IN_OLD = 1, IN_NOW = 2 };

// The distinct lines, by id.
typedef struct Numbering {
    struct {
        const TextLine *line;
        uint8_t where;  // IN_OLD, IN_NOW
    } * at;
    uint32_t n;
    IdSet index;
} Numbering;

static uint32_t number_of(Numbering *all, const TextLine *line, Arena *arena)
{
    uint32_t hash = hash_bytes(line->text, line->len);
    IDSET_EACH(&all->index, hash, id) {
        if (same_line(all->at[id].line, line))
            return id;
    }
    idset_add(&all->index, arena, hash, all->n);
    all->at[all->n].line = line;
    return all->n++;
}

static void number_side(Numbering *all, Side *side, uint8_t where, Arena *arena)
{
    for (uint32_t k = 0; k < side->count; k++) {
        side->ids[k] = number_of(all, &side->lines[side->line[k]], arena);
        all->at[side->ids[k]].where |= where;
    }
}

// Marks lines that the other text does not have as changed, and excludes them from the search.
static void drop_unmatched(const Numbering *all, Side *side)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < side->count; k++) {
        if (all->at[side->ids[k]].where != (IN_OLD | IN_NOW)) {
            side->changed[side->line[k]] = true;
            continue;
        }
        side->ids[count] = side->ids[k];
        side->line[count++] = side->line[k];
    }
    side->count = count;
}

static void number_lines(Diff *d)
{
    Numbering all = {0};
    all.at = arena_zalloc(d->arena, ((size_t)d->old.count + d->now.count) * sizeof *all.at);
    number_side(&all, &d->old, IN_OLD, d->arena);
    number_side(&all, &d->now, IN_NOW, d->arena);
    drop_unmatched(&all, &d->old);
    drop_unmatched(&all, &d->now);
}

/* -- Search --------------------------------------------------------------------------------------------- */

// Lines [x, x_end) of the old text against [y, y_end) of the new one.
typedef struct Box {
    int32_t x, y, x_end, y_end;
} Box;

typedef struct Point {
    int32_t x, y;
} Point;

// For each diagonal x - y, the furthest x of a path with `cost` edits from a corner of the box. The front at the far
// corner counts backward from it, so that the same code advances both fronts.
typedef struct Front {
    const uint32_t *old, *now;  // the lines at (0, 0)
    int32_t step;               // 1 or -1, from a line to the next
    int32_t width, height;      // of the box
    int32_t low, high;          // outermost diagonals in use, every second one is valid
    int32_t cost;
    int32_t *x;  // by diagonal, which may be negative
} Front;

// Advances to the diagonals of the next cost: one further out on each side. After a path on the outermost diagonal has
// reached the edge of the box, one further in: no path exists beyond the edge.
static void front_widen(Front *f)
{
    f->cost++;
    if (f->x[f->low] - f->low < f->height)
        f->x[--f->low - 1] = -1;
    else
        f->low++;
    if (f->x[f->high] < f->width)
        f->x[++f->high + 1] = -1;
    else
        f->high--;
}

// Extends the path on every diagonal by one edit and the equal lines after it. Returns true if a path meets one of the
// other front; `at` then lies on a path through the whole box with the fewest edits. Points may leave the box in x or
// y. Such a path ends, and a path along the edge is at least as far as each path that it replaces.
static bool front_advance(Front *f, const Front *other, Point *at)
{
    front_widen(f);
    int32_t delta = f->width - f->height;
    bool may_meet = ((delta ^ f->cost ^ other->cost) & 1) == 0;
    for (int32_t k = f->low; k <= f->high; k += 2) {
        int32_t x = MAX(f->x[k - 1] + 1, f->x[k + 1]), y = x - k;
        while (x < f->width && y < f->height && f->old[x * f->step] == f->now[y * f->step])
            x++, y++;
        f->x[k] = x;
        int32_t facing = delta - k;  // number of the same diagonal, counted from the other corner
        if (may_meet && facing >= other->low && facing <= other->high && x + other->x[facing] >= f->width) {
            *at = (Point){x, y};
            return true;
        }
    }
    return false;
}

// Returns the point in the box that is furthest from the front's corner.
static Point front_furthest(const Front *f)
{
    Point best = {0, 0};
    for (int32_t k = f->low; k <= f->high; k += 2) {
        Point at = {f->x[k], f->x[k] - k};
        if (at.x <= f->width && at.y <= f->height && at.x + at.y > best.x + best.y)
            best = at;
    }
    return best;
}

// Returns the point that splits a box whose first lines differ and whose last lines differ. It is neither the first nor
// the last point of the box.
static Point split_point(const Diff *d, Box box)
{
    int32_t width = box.x_end - box.x, height = box.y_end - box.y;
    Front fore = {.old = d->old.ids + box.x, .now = d->now.ids + box.y, .step = 1, .x = d->fore + height + 1};
    Front back = {.old = d->old.ids + box.x_end - 1, .now = d->now.ids + box.y_end - 1, .step = -1};
    back.x = d->back + height + 1;
    fore.width = back.width = width;
    fore.height = back.height = height;
    fore.x[0] = back.x[0] = 0;
    Point near = {0, 0}, far = {0, 0};
    bool met = false;
    while (!met && fore.cost < d->max_cost)
        met = front_advance(&fore, &back, &near) || front_advance(&back, &fore, &far);
    if (!met) {
        near = front_furthest(&fore);
        far = front_furthest(&back);
    }
    if (near.x + near.y >= far.x + far.y)
        return (Point){box.x + near.x, box.y + near.y};
    return (Point){box.x_end - far.x, box.y_end - far.y};
}

static void shrink_by_equal_ends(const Diff *d, Box *box)
{
    const uint32_t *old = d->old.ids, *now = d->now.ids;
    while (box->x < box->x_end && box->y < box->y_end && old[box->x] == now[box->y])
        box->x++, box->y++;
    while (box->x < box->x_end && box->y < box->y_end && old[box->x_end - 1] == now[box->y_end - 1])
        box->x_end--, box->y_end--;
}

static void mark_changed(Side *side, int32_t from, int32_t to)
{
    for (int32_t k = from; k < to; k++)
        side->changed[side->line[k]] = true;
}

// Marks the changed candidates of both texts.
static void search(Diff *d)
{
    int32_t lines = (int32_t)(d->old.count + d->now.count);
    for (d->max_cost = MIN_MAX_COST; (int64_t)d->max_cost * d->max_cost < lines;)
        d->max_cost++;
    d->fore = arena_alloc(d->arena, ((size_t)lines + 3) * sizeof *d->fore);
    d->back = arena_alloc(d->arena, ((size_t)lines + 3) * sizeof *d->back);
    VEC(Box) todo = {0};
    Box all = {0, 0, (int32_t)d->old.count, (int32_t)d->now.count};
    VEC_PUSH(d->arena, &todo, all);
    while (todo.n) {
        Box box = todo.at[--todo.n];
        shrink_by_equal_ends(d, &box);
        if (box.x == box.x_end || box.y == box.y_end) {
            mark_changed(&d->old, box.x, box.x_end);
            mark_changed(&d->now, box.y, box.y_end);
            continue;
        }
        Point at = split_point(d, box);
        Box first = {box.x, box.y, at.x, at.y}, second = {at.x, at.y, box.x_end, box.y_end};
        VEC_PUSH(d->arena, &todo, second);
        VEC_PUSH(d->arena, &todo, first);
    }
}

/* -- Hunks ---------------------------------------------------------------------------------------------- */

// Replaces consecutive lines of the old text, from `old` on, by consecutive lines of the new text, from `now` on.
typedef struct Change {
    uint32_t old, nold, now, nnow;
} Change;

typedef struct Regions {
    uint32_t seen;                  // lines visited
    TextLine open[HEADING_LEVELS];  // innermost open region of each level, text NULL = none
} Regions;

typedef struct Writer {
    Out *out;
    const Diff *diff;
    const DiffOptions *options;
    Regions old, now;
} Writer;

// Collects the changes in line order, without empty ones.
static uint32_t collect_changes(const Diff *d, Change **changes)
{
    VEC(Change) found = {0};
    const Side *old = &d->old, *now = &d->now;
    for (uint32_t x = 0, y = 0; x < old->n || y < now->n; x++, y++) {
        Change c = {.old = x, .now = y};
        while (old->changed[x])
            x++;
        while (now->changed[y])
            y++;
        c.nold = x - c.old;
        c.nnow = y - c.now;
        if (c.nold || c.nnow)
            VEC_PUSH(d->arena, &found, c);
    }
    *changes = found.at;
    return found.n;
}

// Advances to the regions that are open at this line.
static void regions_go(Regions *r, const TextLine *lines, uint32_t line, int (*heading)(TextLine *))
{
    for (; r->seen <= line; r->seen++) {
        TextLine title = lines[r->seen];
        int level = heading(&title);
        if (level < 1 || level > HEADING_LEVELS)
            continue;
        r->open[level - 1] = title;
        for (; level < HEADING_LEVELS; level++)
            r->open[level].text = NULL;
    }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void write_headings(Writer *w, const Change *first)
{
    if (!w->options->heading)
        return;
    Regions *r = first->nold ? &w->old : &w->now;
    const Side *side = first->nold ? &w->diff->old : &w->diff->now;
    regions_go(r, side->lines, first->nold ? first->old : first->now, w->options->heading);
    for (int level = 0; level < HEADING_LEVELS; level++) {
        const char *text = r->open[level].text;
        if (!text)
            continue;
        const char *end = text + r->open[level].len;
        while (text < end && is_space(*text))
            text++;
        while (text < end && is_space(end[-1]))
            end--;
        out_char(w->out, ' ');
        out_bytes(w->out, text, (size_t)(end - text));
    }
}

// Writes the range of a hunk header. A range without lines has the number of the line before it.
static void write_range(Out *out, const char *sign, uint32_t first, uint32_t n)
{
    out_z(out, sign);
    out_u64(out, n ? first + 1 : first);
    if (n != 1) {
        out_char(out, ',');
        out_u64(out, n);
    }
}

static void write_lines(Out *out, char mark, const Side *side, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        out_char(out, mark);
        out_bytes(out, side->lines[k].text, side->lines[k].len);
        out_char(out, '\n');
    }
}

// Writes n changes and the lines between and around them.
static void write_hunk(Writer *w, const Change *c, uint32_t n)
{
    const Side *old = &w->diff->old, *now = &w->diff->now;
    const Change *last = &c[n - 1];
    uint32_t old_end = last->old + last->nold, now_end = last->now + last->nnow;
    uint32_t lead = MIN(w->options->context, c->old);
    uint32_t trail = MIN(w->options->context, old->n - old_end);
    write_range(w->out, "@@ -", c->old - lead, old_end + trail - (c->old - lead));
    write_range(w->out, " +", c->now - lead, now_end + trail - (c->now - lead));
    out_z(w->out, " @@");
    write_headings(w, c);
    out_char(w->out, '\n');
    uint32_t shown = c->old - lead;
    for (; c <= last; c++) {
        write_lines(w->out, ' ', old, shown, c->old);
        write_lines(w->out, '-', old, c->old, c->old + c->nold);
        write_lines(w->out, '+', now, c->now, c->now + c->nnow);
        shown = c->old + c->nold;
    }
    write_lines(w->out, ' ', old, old_end, old_end + trail);
}

// Groups changes into hunks: changes whose context would touch share one.
static void write_hunks(Writer *w, const Change *changes, uint32_t n)
{
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n; end++) {
            uint32_t between = changes[end].old - (changes[end - 1].old + changes[end - 1].nold);
            if (between > 2 * (uint64_t)w->options->context)
                break;
        }
        write_hunk(w, changes + first, end - first);
    }
}

bool diff_lines(Out *out, const char *old_text, size_t old_len, const char *new_text, size_t new_len,
                const DiffOptions *options, Heap *heap)
{
    Arena scratch;
    arena_init(&scratch, heap);
    Diff d = {.arena = &scratch};
    side_init(&d.old, old_text, old_len, &scratch);
    side_init(&d.now, new_text, new_len, &scratch);
    bool differ = skip_equal_ends(&d);
    if (differ) {
        number_lines(&d);
        search(&d);
        Writer w = {.out = out, .diff = &d, .options = options};
        Change *changes;
        uint32_t n = collect_changes(&d, &changes);
        write_hunks(&w, changes, n);
    }
    arena_free(&scratch);
    return differ;
}
