// SPDX-License-Identifier: MIT
// Tests the phase table and lookup by name.
#include <ctype.h>
#include <stdio.h>

#include "tests/unit/unit.h"

static const struct {
    int index;
    const char *name;
} defined[] = {
#define PHASE(index, name, ...) {index, name},
#include "phases/phases.def"
};

TEST(phase_rows)
{
    CHECK_EQ(ARRAY_LEN(defined), PHASE_ROWS);
    CHECK_EQ(PHASE_SLOTS, 159);
    for (int k = 0; k < PHASE_ROWS; k++) {
        unit_context("%d %s", k, defined[k].name);
        CHECK_EQ(defined[k].index, k);
        CHECK(strcmp(phase_info[k].name, defined[k].name) == 0);
        CHECK(phase_info[k].summary[0] != 0);
        CHECK_EQ(phase_info[k].kind == PK_SUBPASS, k >= PHASE_SLOTS);
    }
    // Landmarks of the pipeline.
    CHECK(strcmp(phase_info[0].name, "OriCheckInitialProgram") == 0);
    CHECK(strcmp(phase_info[PH_GENERATE_MOV_PHI].name, "GenerateMovPhi") == 0);
    CHECK(strcmp(phase_info[49].name, "GvnCse") == 0);
    CHECK(strcmp(phase_info[PH_CONVERT_MOV_PHI].name, "ConvertAllMovPhiToMov") == 0);
    CHECK(strcmp(phase_info[107].name, "OriRemoveNopCode") == 0);
    CHECK(strcmp(phase_info[158].name, "NOP") == 0);
}

// One letter per slot. Gates: `-` always, 1 2 3 least level, 0 only at -O0.
TEST(phase_gates)
{
    static const char gates[] =
        "-1--------11-2111111112-2-2-22111111-21-----1-2--2211-2-1-31-112221112-23-11---1-1-111--1--"
        "----2---22------1111-1--10----------------1--1--0-------------------";
    static const char *const texts[] = {"-", ">0", ">1", ">2", "==0"};
    CHECK_EQ(sizeof gates - 1, PHASE_SLOTS);
    for (int k = 0; k < PHASE_SLOTS; k++) {
        unit_context("%d %s", k, phase_info[k].name);
        const PhaseGate by_letter[] = {
            ['-'] = PG_ALWAYS, ['0'] = PG_O0_ONLY, ['1'] = PG_O1, ['2'] = PG_O2, ['3'] = PG_O3};
        CHECK_EQ(phase_info[k].gate, by_letter[(unsigned char)gates[k]]);
        CHECK(strcmp(phase_gate_name(phase_info[k].gate), texts[phase_info[k].gate]) == 0);
        // No transformation runs at -O0.
        CHECK(phase_info[k].kind != PK_TRANSFORM || phase_info[k].gate != PG_ALWAYS);
    }
}

// Forms: any, multi, ssa, S to-ssa, M to-multi. Kinds: verify, report, analysis, transform, lower, update, hook,
// machine, graphics, bookkeeping.
TEST(phase_forms_and_kinds)
{
    static const char forms[] =
        "ammammmmmaamammmamsssssSssssssssaassssssssssssssssssssssssassasssssssssssMmmammmmmmmammmmmmmm"
        "maaamaaamaamammmmammaamaaaaaaaaaaamaaaaammmmmaaaaaaaaaaaaaamaaaaaa";
    static const char kinds[] =
        "vtlahllhmrttvttttgtttttltmtattttttgtgttgmalmtlthlttgtatltgttgttttttgmtatmlmtbhltmthtttmmthmmh"
        "lvurhmmmhrmhmhtttmhtmmhmmmmmmmmmmrhmrmubthhtlmmmmmmmmmmmmmrhmmrmuu";
    static const char kind_letters[] = "vratluhmgbs";
    static const char form_letters[] = "amsSM";
    CHECK_EQ(sizeof forms - 1, PHASE_SLOTS);
    CHECK_EQ(sizeof kinds - 1, PHASE_SLOTS);
    for (int k = 0; k < PHASE_SLOTS; k++) {
        unit_context("%d %s", k, phase_info[k].name);
        CHECK_EQ(form_letters[phase_info[k].form], forms[k]);
        CHECK_EQ(kind_letters[phase_info[k].kind], kinds[k]);
    }
}

static bool runs_on(const SmBackend *backend, int row)
{
    SmPass *pass = sm_pass(backend, row);
    return phase_info[row].body || phase_info[row].module || (pass && !sm_is_sentinel(pass));
}

TEST(phase_objects)
{
    Fixture f;
    fixture_open(&f);
    for (int k = 0; k < PHASE_ROWS; k++) {
        Phase *p = &f.ctx.phases[k];
        unit_context("%d %s", k, phase_info[k].name);
        CHECK_EQ(p->vtable->get_index(p), k);
        CHECK_EQ(p->vtable->is_noop(p), !runs_on(f.ctx.target.backend, k));
        CHECK(p->ctx == &f.ctx);
        CHECK(p->vtable->reserved[0] == NULL && p->vtable->reserved[1] == NULL);
        const char *status = phase_status(k);
        bool implemented = false;
        for (size_t b = 0; b < SM_BACKEND_COUNT; b++)
            implemented |= runs_on(sm_backends[b], k);
        PhaseKind kind = phase_info[k].kind;
        bool empty = kind == PK_HOOK || kind == PK_MACHINE || kind == PK_GRAPHICS || kind == PK_BOOKKEEPING;
        if (implemented)
            CHECK(strcmp(status, k == PH_FORM_LOP3 ? "off" : "implemented") == 0);
        else
            CHECK(strcmp(status, empty ? phase_kind_name(kind) : "not-yet") == 0);
    }
    // A no-op makes no progress.
    for (int k = 0; k < PHASE_ROWS; k++)
        if (!runs_on(f.ctx.target.backend, k))
            CHECK(!f.ctx.phases[k].vtable->execute(&f.ctx.phases[k], f.fn));
    fixture_close(&f);
}

static int find(const char *text, char why[static 400])
{
    why[0] = 0;
    return phase_find(text, strlen(text), why);
}

static int rows_of(const char *name)
{
    int n = 0;
    for (int k = 0; k < PHASE_ROWS; k++)
        n += strcmp(phase_info[k].name, name) == 0;
    return n;
}

TEST(phase_find_all)
{
    char why[400], text[100];
    for (int k = 0; k < PHASE_ROWS; k++) {
        const char *name = phase_info[k].name;
        unit_context("%s", name);
        for (int spelling = 0; spelling < 3; spelling++) {
            size_t n = 0;
            for (; name[n]; n++)
                text[n] = (char)(spelling == 0 ? name[n] : spelling == 1 ? tolower(name[n]) : toupper(name[n]));
            text[n] = 0;
            if (rows_of(name) == 1) {
                CHECK_EQ(find(text, why), k);
            } else {
                CHECK_EQ(find(text, why), -1);
                char both[200];
                snprintf(both, sizeof both, "%s@%d", name, k);
                CHECK(strstr(why, both) != NULL);
            }
            snprintf(text + n, sizeof text - n, "@%d", k);
            CHECK_EQ(find(text, why), k);
        }
        snprintf(text, sizeof text, "%d", k);
        CHECK_EQ(find(text, why), k);
    }
}

TEST(phase_find_part_of_text)
{
    char why[400];
    CHECK_EQ(phase_find("GvnCse,NOP", 6, why), 49);
    CHECK_EQ(phase_find("1234", 2, why), 12);
    CHECK_EQ(phase_find("NOP@158x", 7, why), 158);
}

TEST(phase_find_errors)
{
    char beyond[20], no_such[100];
    snprintf(beyond, sizeof beyond, "%d", PHASE_ROWS);
    snprintf(no_such, sizeof no_such, "there is no phase %d; the last is %d", PHASE_ROWS, PHASE_ROWS - 1);
    const struct {
        const char *text, *words;
    } errors[] = {
        {"GvnCs", "GvnCse"},
        {"GvnCsee", "GvnCse"},
        {"gvncze", "GvnCse"},
        {"OriLoopUnroling", "OriLoopUnrolling"},
        {"OriCopyPropagation", "OriCopyProp"},
        {"Gvn", "unknown phase 'Gvn'"},
        {"", "unknown phase ''"},
        {"GvnCse@50", "not at slot 50 but at 49"},
        {"MercConverter@", "expected a phase number"},
        {"@49", "unknown phase ''"},
        {"NOP@x", "expected a phase number"},
        {"NOP@-1", "expected a phase number"},
        {"NOP@158@158", "expected a phase number"},
        {"CalcRegisterMap", "CalcRegisterMap@124 or CalcRegisterMap@149"},
        {"calcregistermap", "CalcRegisterMap@124 or CalcRegisterMap@149"},
        {"CalcRegisterMap@125", "slot 125"},
        {beyond, no_such},
        {"99999999999999999999", "unknown phase"},
        {"-1", "unknown phase"},
        {"12 ", "unknown phase"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaa",
         "unknown phase 'aaaa"},
    };
    char why[400];
    for (size_t k = 0; k < ARRAY_LEN(errors); k++) {
        unit_context("%s", errors[k].text);
        CHECK_EQ(find(errors[k].text, why), -1);
        if (!strstr(why, errors[k].words))
            CHECK_Z(why, errors[k].words);
        CHECK(strlen(why) < 399);
    }
}

// The three suggested names differ.
TEST(phase_find_suggests_different_names)
{
    static const char *const texts[] = {"MercGenerateWARs", "MercGenerateWAR", "OriDoRema", "OriPerformLiveDead",
                                        "DumpNVuCode",      "UpdateAfter",     "x",         "Report",
                                        "GeneralOptimiz"};
    char why[400];
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        CHECK_EQ(find(texts[k], why), -1);
        unit_context("%s", why);
        const char *a = strstr(why, "did you mean ");
        if (!CHECK(a != NULL))
            continue;
        a += strlen("did you mean ");
        const char *b = strstr(a, ", "), *c = b ? strstr(b, " or ") : NULL, *end = c ? strchr(c, '?') : NULL;
        if (!CHECK(b && c && end))
            continue;
        size_t na = (size_t)(b - a), nb = (size_t)(c - (b + 2)), nc = (size_t)(end - (c + 4));
        b += 2;
        c += 4;
        CHECK(na != nb || memcmp(a, b, na) != 0);
        CHECK(na != nc || memcmp(a, c, na) != 0);
        CHECK(nb != nc || memcmp(b, c, nb) != 0);
    }
}

void test_phase_table(void)
{
    RUN(phase_rows);
    RUN(phase_gates);
    RUN(phase_forms_and_kinds);
    RUN(phase_objects);
    RUN(phase_find_all);
    RUN(phase_find_part_of_text);
    RUN(phase_find_errors);
    RUN(phase_find_suggests_different_names);
}
