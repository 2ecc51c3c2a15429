// SPDX-License-Identifier: MIT
// Tests remarks: filters, formats, retraction, and names in YAML.
#include "phases/manager/remarks.h"

#include <stdio.h>

#include "tests/unit/unit.h"
#include "tools/lib/ori.h"

typedef struct Trial {
    Ctx ctx;
    Remarks remarks;
} Trial;

static void begin(Trial *r, const char *glob)
{
    *r = (Trial){0};
    arena_init(&r->ctx.arena, &r->ctx.heap);
    remarks_init(&r->remarks, &r->ctx.heap, glob);
    r->ctx.remarks = &r->remarks;
}

static const char *yaml(Trial *r)
{
    Out out;
    TextBuffer text = {.arena = &r->ctx.arena};
    out_init(&out, &r->ctx.arena, out_to_text, &text);
    remarks_write(&r->remarks, &out);
    out_flush(&out);
    out_to_text(&text, "", 1);
    return text.at;
}

static Fn *function(Trial *r, const char *name)
{
    Module *m = module_new(&r->ctx.heap);
    SymId s = module_sym(m, (Name){str_intern_z(&m->tables.strs, name), NO_NUMBER}, SYM_FUNC);
    return fn_new(m, s);
}

TEST(remarks_format)
{
    Trial r;
    begin(&r, NULL);
    Fn *fn = function(&r, "f");
    r.ctx.run.row = PH_COPY_PROP;
    remark(&r.ctx, fn, 0, RM_ANALYSIS, "All", "{A:%s}{B:%d} %u %lld%% {C:%llu}", "it's", -7, 8u, -9ll, 1ull << 63);
    CHECK_Z(yaml(&r), "--- !Analysis\nPass:            OriCopyProp\nName:            All\nFunction:        f\nArgs:\n"
                      "  - A:               'it''s'\n  - B:               '-7'\n  - String:          ' 8 -9% '\n"
                      "  - C:               '9223372036854775808'\n...\n");
    CHECK_Z(remark_text(&r.remarks.at.at[0], &r.ctx.arena), "it's-7 8 -9% 9223372036854775808");
    heap_release(&r.ctx.heap);
}

// Names in YAML: plain, in quotes, or with escapes.
TEST(remarks_names)
{
    static const char *const names[][2] = {
        {"_Z1fv", "_Z1fv"},
        {"a.b-c", "a.b-c"},
        {"No", "'No'"},
        {"12", "'12'"},
        {"-", "'-'"},
        {"$a", "'$a'"},
        {"a: b", "'a: b'"},
        {"\xc3\xa4", "'\xc3\xa4'"},
        {"a\nb", "\"a\\x0Ab\""},
        {"\xff\"", "\"\\xFF\\\"\""},
        {"\xc2\x85", "\"\\xC2\\x85\""},
        {"\xe2\x80", "\"\\xE2\\x80\""},
    };
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        Trial r;
        char expected[100];
        begin(&r, NULL);
        Fn *fn = function(&r, names[k][0]);
        remark(&r.ctx, fn, 0, RM_PASSED, "N", "%s", "");
        snprintf(expected, sizeof expected, "\nFunction:        %s\nArgs:            []\n...\n", names[k][1]);
        CHECK(strstr(yaml(&r), expected) != NULL);
        heap_release(&r.ctx.heap);
    }
}

// A phase that runs again in a function retracts its missed remarks there, and no others.
TEST(remarks_again)
{
    Trial r;
    begin(&r, "*o*");
    Fn *fn = function(&r, "f");
    for (int k = 0; k < 2; k++) {
        remarks_start(&r.remarks);
        for (int row = PH_COPY_PROP; row <= PH_PROMOTE_MEMORY; row++) {
            r.ctx.run.row = row;
            remark(&r.ctx, fn, 0, RM_MISSED, "M", "%d", row);
            remark(&r.ctx, fn, 0, RM_PASSED, "P", "%d", row);
        }
    }
    CHECK_EQ(r.remarks.at.n, 8);
    remarks_run(&r.remarks, PH_COPY_PROP);
    CHECK_EQ(r.remarks.at.n, 7);
    CHECK_Z(r.remarks.at.at[4].name, "P");
    CHECK_Z(r.remarks.at.at[5].name, "M");
    r.remarks.rows[PH_COPY_PROP] = false;
    r.ctx.run.row = PH_COPY_PROP;
    CHECK(!remarks_wanted(&r.ctx));
    remark(&r.ctx, fn, 0, RM_PASSED, "P", "%d", 1);
    CHECK_EQ(r.remarks.at.n, 7);
    r.ctx.remarks = NULL;
    CHECK(!remarks_wanted(&r.ctx));
    heap_release(&r.ctx.heap);
}

/* -- By ori.h ------------------------------------------------------------------------------------------- */

typedef struct Reported {
    unsigned n;
    char text[200];
} Reported;

static void record_message(void *user, const OriRemark *m)
{
    Reported *h = user;
    CHECK_EQ(m->kind, ORI_PASSED);
    CHECK_Z(m->phase, "ConvertMemoryToRegisterOrUniform");
    CHECK_Z(m->name, "Promoted");
    CHECK_Z(m->function, h->n ? "g" : "f");
    CHECK_Z(m->file ? m->file : "-", h->n ? "-" : "a.cu");
    CHECK_EQ(m->line, h->n ? 0 : 7);
    CHECK_EQ(m->column, h->n ? 0 : 2);
    CHECK(m->part_count > 4);
    CHECK_Z(m->parts[0].key, "Promoted");
    CHECK_Z(m->parts[0].text, "4");
    snprintf(h->text, sizeof h->text, "%s", m->text);
    h->n++;
}

TEST(remarks_in_library)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".func f()\n{\n\t.local .b32 x;\n\t.loc 1 7 2\n\tst.local.u32 [x], 1;\n\tret;\n}\n"
                               ".func g()\n{\n\t.local .b32 x;\n\tst.local.u32 [x], 1;\n\tret;\n}\n.file 1 \"a.cu\"\n";
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        Reported heard = {0};
        OriContext *ori = ori_open(NULL);
        CHECK_EQ(ori_set_threads(ori, threads), ORI_OK);
        ori_on_remark(ori, record_message, &heard);
        OriModule *m = ori_parse(ori, "k.ptx", text, sizeof text - 1, ORI_ANY);
        CHECK_EQ(ori_optimize(ori, m), ORI_OK);
        CHECK_EQ(heard.n, 2);
        CHECK_Z(heard.text, "4 of 4 bytes of x are promoted to registers; loads: 0, stores: 1");
        ori_on_remark(ori, NULL, NULL);
        m = ori_parse(ori, "k.ptx", text, sizeof text - 1, ORI_ANY);
        CHECK_EQ(ori_optimize(ori, m), ORI_OK);
        CHECK_EQ(heard.n, 2);
        ori_close(ori);
    }
}

void test_remarks(void)
{
    RUN(remarks_format);
    RUN(remarks_names);
    RUN(remarks_again);
    RUN(remarks_in_library);
}
