// SPDX-License-Identifier: MIT
// Converts a table of vectors (tests/exec) to kernels of one instruction each, and launches that check them.
//
//   veckernels TABLE.vec DIR     writes DIR/TABLE.1.sm_90.ptx and .run, TABLE.2.sm_90.ptx and .run, ..., and the same
//                                for sm_100a where the table requires it
//
// Thread k of a kernel loads the operands of case k, each from a buffer of its own, executes the instruction and stores
// each result to a buffer of its own. The width of an operand is that of its digits; predicates and the carry are words
// of 0 and 1 in memory. Cases with a result that the ISA leaves open are omitted. Prints a line `DIR/TABLE.sm_90.run
// KERNELS CASES OMITTED` for each .run file. Exit 0 done, 1 bad table, 2 usage, 5 I/O.
//
//     addc.u32 d, a, b                    ld.global.b32 %a, ...   likewise %b and %carry
//         00000001 00000002 1 -> ...      add.cc.u32 %low, %carry, 0xffffffff;
//                                         addc.u32 %d, %a, %b;
//                                         st.global.b32 ..., %d;
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 1000,
    SIDE_MAX = 8,       // operands before or after the arrow
    CASES_MAX = 1024,   // threads of a block
    KERNELS_MAX = 100,  // kernels of a module: the cost of a launch grows with the kernels
    EXIT_IO = 5
};

typedef struct Value {
    uint64_t lo, hi;
    uint32_t digits;  // 0 = any value is right
} Value;

typedef struct Operand {
    char name[10];
    bool carry, sink;
    uint32_t digits;  // 1 = a predicate or the carry; 0 = unknown so far
} Operand;

typedef struct Side {
    Operand at[SIDE_MAX];
    uint32_t n;
} Side;

typedef struct Instruction {
    char text[LINE_BYTES];  // as in the table; empty = none
    char code[LINE_BYTES];  // with registers
    char entry[LINE_BYTES];
    uint32_t line;
    bool sm_100, begun;  // begun: a case has been read
    Side in, out;
    Value ins[CASES_MAX][SIDE_MAX], outs[CASES_MAX][SIDE_MAX];
    uint32_t ncases, left_out;
} Instruction;

// A module and its launches.
typedef struct Product {
    char run_path[LINE_BYTES];
    FILE *ptx, *run;  // NULL = not open
    uint32_t parts, kernels, cases, left_out;
} Product;

typedef struct Tool {
    const char *table, *dir;
    uint32_t line;
    bool sm_100;  // applies to the next instruction
    Product products[2];
    Instruction i;
} Tool;

static _Noreturn void bad_table(const Tool *t, const char *what)
{
    fprintf(stderr, "%s:%u: error: %s\n", t->table, t->line, what);
    exit(1);
}

static _Noreturn void bad_file(const char *path)
{
    perror(path);
    exit(EXIT_IO);
}

/* -- PTX ------------------------------------------------------------------------------------------------ */

static bool is_predicate(const Operand *o) { return o->digits == 1 && !o->carry; }
static bool is_wide(const Operand *o) { return o->digits == 32; }

// Returns the size in memory.
static uint32_t bytes_of(const Operand *o) { return o->digits == 1 ? 4 : o->digits / 2; }

// True if an 8-bit operand is the low half of a 16-bit register. Only packing, and ptxas where bf16 is the other type,
// require registers of 8 bits.
static bool is_low_half(const Instruction *i, const Operand *o)
{
    return o->digits == 2 && strncmp(i->text, "mov.", 4) != 0 && !strstr(i->text, "bf16");
}

static void print_register(FILE *out, const Instruction *i, const Operand *o)
{
    if (is_predicate(o))
        fprintf(out, "\t.reg .pred %%%s;\n", o->name);
    else
        fprintf(out, "\t.reg .b%u %%%s;\n", is_low_half(i, o) ? 16 : 8 * bytes_of(o), o->name);
}

static void print_address(FILE *out, const char *side, const Operand *o)
{
    fprintf(out, "\tld.param.u64 %%at, [%s_%s];\n", side, o->name);
    fprintf(out, "\tmad.wide.u32 %%at, %%k, %u, %%at;\n", bytes_of(o));
}

static void print_load(FILE *out, const Instruction *i, const Operand *o)
{
    print_address(out, "in", o);
    if (is_predicate(o)) {
        fprintf(out, "\tld.global.b32 %%word, [%%at];\n\tsetp.ne.b32 %%%s, %%word, 0;\n", o->name);
    } else if (is_wide(o)) {
        fputs("\tld.global.b64 %low, [%at];\n\tld.global.b64 %high, [%at+8];\n", out);
        fprintf(out, "\tmov.b128 %%%s, {%%low, %%high};\n", o->name);
    } else {
        fprintf(out, "\tld.global.b%u %%%s, [%%at];\n", 8 * bytes_of(o), o->name);
        if (is_low_half(i, o))  // a nonzero upper half, which must be ignored
            fprintf(out, "\tor.b16 %%%s, %%%s, 0xa500;\n", o->name, o->name);
    }
}

static void print_store(FILE *out, const Operand *o)
{
    print_address(out, "out", o);
    if (is_predicate(o)) {
        fprintf(out, "\tselp.b32 %%word, 1, 0, %%%s;\n\tst.global.b32 [%%at], %%word;\n", o->name);
    } else if (is_wide(o)) {
        fprintf(out, "\tmov.b128 {%%low, %%high}, %%%s;\n", o->name);
        fputs("\tst.global.b64 [%at], %low;\n\tst.global.b64 [%at+8], %high;\n", out);
    } else {
        fprintf(out, "\tst.global.b%u [%%at], %%%s;\n", 8 * bytes_of(o), o->name);
    }
}

static const Operand *find_carry(const Side *s) { return s->n && s->at[s->n - 1].carry ? &s->at[s->n - 1] : NULL; }

// Prints additions that set and get the carry, which is one flag for all instructions.
static void print_instruction(FILE *out, const Instruction *i)
{
    if (find_carry(&i->in))
        fputs("\tadd.cc.u32 %word, %carry, 0xffffffff;\n", out);
    fprintf(out, "\t%s;\n", i->code);
    if (find_carry(&i->out))
        fputs("\taddc.u32 %carry, 0, 0;\n", out);
}

static void print_params(FILE *out, const Instruction *i)
{
    const char *between = "";
    for (uint32_t k = 0; k < i->in.n; k++, between = ", ")
        fprintf(out, "%s.param .u64 in_%s", between, i->in.at[k].name);
    for (uint32_t k = 0; k < i->out.n; k++)
        if (!i->out.at[k].sink)
            fprintf(out, "%s.param .u64 out_%s", between, i->out.at[k].name);
}

static void print_kernel(FILE *out, const Tool *t, const Instruction *i)
{
    fprintf(out, "\n// %s:%u: %s\n.visible .entry %s(", t->table, i->line, i->text, i->entry);
    print_params(out, i);
    fputs(")\n{\n\t.reg .b64 %at, %low, %high;\n\t.reg .b32 %k, %word;\n", out);
    if (find_carry(&i->in) || find_carry(&i->out))
        fputs("\t.reg .b32 %carry;\n", out);
    for (uint32_t k = 0; k < i->in.n; k++)
        if (!i->in.at[k].carry)
            print_register(out, i, &i->in.at[k]);
    for (uint32_t k = 0; k < i->out.n; k++)
        if (!i->out.at[k].carry && !i->out.at[k].sink)
            print_register(out, i, &i->out.at[k]);
    fputs("\tmov.u32 %k, %tid.x;\n", out);
    for (uint32_t k = 0; k < i->in.n; k++)
        print_load(out, i, &i->in.at[k]);
    print_instruction(out, i);
    for (uint32_t k = 0; k < i->out.n; k++)
        if (!i->out.at[k].sink)
            print_store(out, &i->out.at[k]);
    fputs("\tret;\n}\n", out);
}

/* -- Launches ------------------------------------------------------------------------------------------- */

// Prints the bytes of operand k of all cases. Results are complemented, so that a missing store shows.
static void print_buffer(FILE *out, const Instruction *i, const Operand *o, Value (*values)[SIDE_MAX], uint32_t k,
                         bool turned)
{
    fputs("arg buf:hex:", out);
    for (uint32_t c = 0; c < i->ncases; c++)
        for (uint32_t b = 0; b < bytes_of(o); b++) {
            uint64_t half = b < 8 ? values[c][k].lo : values[c][k].hi;
            fprintf(out, "%02x", (unsigned)((turned ? ~half : half) >> b % 8 * 8 & 255));
        }
    fputc('\n', out);
}

static void print_expected(FILE *out, const Instruction *i, uint32_t k, uint32_t arg)
{
    const Operand *o = &i->out.at[k];
    uint32_t bytes = is_wide(o) ? 8 : bytes_of(o);
    fprintf(out, "expect %u:b%u", arg, 8 * bytes);
    for (uint32_t c = 0; c < i->ncases; c++) {
        fprintf(out, " 0x%0*llx", (int)bytes * 2, (unsigned long long)i->outs[c][k].lo);
        if (is_wide(o))
            fprintf(out, " 0x%016llx", (unsigned long long)i->outs[c][k].hi);
    }
    fputc('\n', out);
}

static void print_launch(FILE *out, Instruction *i, bool first)
{
    uint32_t arg = i->in.n;
    fprintf(out, "%s# %s\nentry %s\nblock %u\n", first ? "" : "---\n", i->text, i->entry, i->ncases);
    for (uint32_t k = 0; k < i->in.n; k++)
        print_buffer(out, i, &i->in.at[k], i->ins, k, false);
    for (uint32_t k = 0; k < i->out.n; k++)
        if (!i->out.at[k].sink)
            print_buffer(out, i, &i->out.at[k], i->outs, k, true);
    for (uint32_t k = 0; k < i->out.n; k++)
        if (!i->out.at[k].sink)
            print_expected(out, i, k, arg++);
}

/* -- Products ------------------------------------------------------------------------------------------- */

static FILE *open_file(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        bad_file(path);
    return f;
}

static void open_product(const Tool *t, Product *p, const char *target)
{
    const char *slash = strrchr(t->table, '/'), *base = slash ? slash + 1 : t->table;
    char name[300], path[LINE_BYTES];
    *p = (Product){.parts = p->parts + 1};
    snprintf(name, sizeof name, "%.*s.%u.%s", (int)strcspn(base, "."), base, p->parts, target);
    snprintf(path, sizeof path, "%s/%s.ptx", t->dir, name);
    snprintf(p->run_path, sizeof p->run_path, "%s/%s.run", t->dir, name);
    p->ptx = open_file(path);
    p->run = open_file(p->run_path);
    fprintf(p->ptx, "// Printed by veckernels from %s: do not edit.\n.version 8.8\n.target %s\n.address_size 64\n",
            t->table, target);
    fprintf(p->run, "# Printed by veckernels from %s: do not edit.\nfile %s.ptx\n", t->table, name);
}

static void close_product(Product *p)
{
    if (!p->ptx)
        return;
    bool ok = !ferror(p->ptx) && !ferror(p->run);
    ok = fclose(p->ptx) == 0 && ok;
    ok = fclose(p->run) == 0 && ok;
    if (!ok)
        bad_file(p->run_path);
    p->ptx = p->run = NULL;
    printf("%s %u %u %u\n", p->run_path, p->kernels, p->cases, p->left_out);
}

static void end_instruction(Tool *t)
{
    Instruction *i = &t->i;
    Product *p = &t->products[i->sm_100];
    if (!i->text[0])
        return;
    if (!i->ncases)
        bad_table(t, "the instruction before this line has no case without `_`");
    if (!p->ptx)
        open_product(t, p, i->sm_100 ? "sm_100a" : "sm_90");
    print_kernel(p->ptx, t, i);
    print_launch(p->run, i, !p->kernels);
    p->kernels++;
    p->cases += i->ncases;
    p->left_out += i->left_out;
    if (p->kernels == KERNELS_MAX)
        close_product(p);
    i->text[0] = 0;
}

/* -- Tables --------------------------------------------------------------------------------------------- */

static void add_operand(Tool *t, Side *side, const char *name, size_t len, bool carry)
{
    if (side->n == SIDE_MAX || len >= sizeof side->at[0].name)
        bad_table(t, "too many operands, or too long a name");
    Operand *o = &side->at[side->n++];
    *o = (Operand){.carry = carry, .sink = !carry && *name == '_'};
    memcpy(o->name, name, len);
}

// Parses the operands after the mnemonic: prefixes names as registers. Operands before the first comma outside of
// braces are results. Numbers are no operands; `:32` is dropped, since the digits give the width.
static void read_operands(Tool *t, const char *p, char *to)
{
    Instruction *i = &t->i;
    Side *side = &i->out;
    bool braces = false;
    while (*p) {
        size_t len = 0;
        while (isalnum((unsigned char)p[len]) || p[len] == '_')
            len++;
        if (len) {
            if (!isdigit((unsigned char)*p))
                add_operand(t, side, p, len, false);
            if (isalpha((unsigned char)*p))
                *to++ = '%';
            while (isalnum((unsigned char)p[len]) || p[len] == '.')  // a selector
                len++;
            memcpy(to, p, len);
            to += len;
            p += len;
            if (*p == ':')
                p += 1 + strspn(p + 1, "0123456789");
            continue;
        }
        braces = *p == '{' || (braces && *p != '}');
        if (*p == ',' && !braces)
            side = &i->in;
        *to++ = *p++;
    }
    *to = 0;
}

static void begin_instruction(Tool *t, const char *text)
{
    Instruction *i = &t->i;
    size_t mnemonic = strcspn(text, " ");
    i->line = t->line;
    i->sm_100 = t->sm_100;
    i->begun = false;
    i->in.n = i->out.n = i->ncases = i->left_out = 0;
    snprintf(i->text, sizeof i->text, "%s", text);
    if (2 * strlen(text) >= sizeof i->code)  // each name gets a prefix of one letter
        bad_table(t, "too long a line");
    memcpy(i->code, text, mnemonic);
    read_operands(t, text + mnemonic, i->code + mnemonic);
    snprintf(i->entry, sizeof i->entry, "%.*s_%u", (int)mnemonic, text, t->line);
    for (char *p = i->entry; *p; p++)
        if (*p == '.' || *p == ':')
            *p = '_';
    t->sm_100 = false;
}

static bool read_value(const char **p, Value *v)
{
    static const char hex[] = "0123456789abcdef";
    *p += strspn(*p, " ");
    *v = (Value){0, 0, 0};
    if (**p == '_')
        return ++*p;
    for (const char *digit; **p && (digit = strchr(hex, **p)); ++*p, v->digits++) {
        v->hi = v->hi << 4 | v->lo >> 60;
        v->lo = v->lo << 4 | (uint64_t)(digit - hex);
    }
    return v->digits > 0;
}

// Reads the values of one side. A value without a name is the carry.
static const char *read_side(Tool *t, const char *p, Side *side, Value values[SIDE_MAX])
{
    uint32_t n = 0;
    for (Value v; read_value(&p, &v); n++) {
        if (n == side->n && !t->i.begun && !find_carry(side))
            add_operand(t, side, "carry", 5, true);
        if (n >= side->n)
            bad_table(t, "more values than operands");
        Operand *o = &side->at[n];
        if (v.digits && !o->digits)
            o->digits = v.digits;
        if (v.digits > 32 || (v.digits & (v.digits - 1)) || (v.digits && v.digits != o->digits))
            bad_table(t, "a value is not as wide as its operand");
        values[n] = v;
    }
    if (n < side->n)
        bad_table(t, "fewer values than operands");
    return p;
}

static void read_case(Tool *t, const char *p)
{
    Instruction *i = &t->i;
    bool open = false;
    if (!i->text[0])
        bad_table(t, "a case without an instruction");
    if (i->ncases == CASES_MAX)
        bad_table(t, "too many cases");
    p = read_side(t, p, &i->in, i->ins[i->ncases]);
    if (strncmp(p, "->", 2) != 0)
        bad_table(t, "`->` is missing");
    p = read_side(t, p + 2, &i->out, i->outs[i->ncases]);
    if (*p)
        bad_table(t, "something follows the results");
    i->begun = true;
    for (uint32_t k = 0; k < i->in.n; k++)
        if (!i->ins[i->ncases][k].digits)
            bad_table(t, "an operand without a value");
    for (uint32_t k = 0; k < i->out.n; k++)
        open |= !i->out.at[k].sink && !i->outs[i->ncases][k].digits;
    i->ncases += !open;
    i->left_out += open;
}

static void read_line(Tool *t, char *text)
{
    if (strncmp(text, "# sm_100 and later", 18) == 0)
        t->sm_100 = true;
    text[strcspn(text, "\n#")] = 0;
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
    if (!*text || *text == '@')
        return;
    if (*text == ' ') {
        read_case(t, text);
        return;
    }
    end_instruction(t);
    begin_instruction(t, text);
}

int main(int argc, char **argv)
{
    char text[LINE_BYTES];
    if (argc != 3) {
        fputs("usage: veckernels TABLE.vec DIR\n", stderr);
        return 2;
    }
    Tool *t = calloc(1, sizeof *t);
    FILE *in = fopen(argv[1], "r");
    if (!t || !in)
        bad_file(argv[1]);
    t->table = argv[1];
    t->dir = argv[2];
    while (fgets(text, sizeof text, in)) {
        t->line++;
        if (!strchr(text, '\n'))
            bad_table(t, "too long a line, or an unfinished one");
        read_line(t, text);
    }
    if (ferror(in))
        bad_file(argv[1]);
    end_instruction(t);
    close_product(&t->products[0]);
    close_product(&t->products[1]);
    fclose(in);
    free(t);
    return fflush(stdout) ? EXIT_IO : 0;
}
