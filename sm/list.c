// SPDX-License-Identifier: MIT
// Prints --list-sm: backends, with the targets that have them, and the members of their vtables.
#include "sm/sm.h"

static const char *const files[RF_UP + 1] = {[RF_R] = "R", [RF_UR] = "UR", [RF_P] = "P", [RF_UP] = "UP"};

// A property of a backend.
typedef struct Fact {
    const char *name;
    bool holds;
} Fact;

enum {
#define ONE(...) +1
    CAPS = 0 SM_CAPS(ONE),
    FAMILIES = 1 SM_FAMILIES(ONE),  // and marks_directly
    THRESHOLDS = 0 SM_THRESHOLDS(ONE),
#undef ONE
    FACTS = CAPS + FAMILIES + THRESHOLDS
};

static void get_facts(const SmBackend *b, Fact facts[static FACTS])
{
    const SmProfile *p = &b->profile;
    SmTarget target = {b, p->encoded};
    size_t n = 0;
#define CAP(id, name, ...) facts[n++] = (Fact){#name, p->caps & SM_CAP_##id};
    SM_CAPS(CAP)
#undef CAP
#define FAMILY(name, ...) facts[n++] = (Fact){#name, sm_is_##name(p)};
    SM_FAMILIES(FAMILY)
#undef FAMILY
    facts[n++] = (Fact){"marks_directly", sm_marks_directly(p)};
#define THRESHOLD(name, ...) facts[n++] = (Fact){#name, sm_##name(target)};
    SM_THRESHOLDS(THRESHOLD)
#undef THRESHOLD
}

/* -- Text ----------------------------------------------------------------------------------------------- */

static void print_backend(Out *out, const SmBackend *b)
{
    Fact facts[FACTS];
    const SmProfile *p = &b->profile;
    out_fmt(out, "%-6s  version 0x%04x  class* %-2u  ", p->name, p->encoded, p->class);
    for (int f = 0; f <= RF_UP; f++)
        out_fmt(out, "%s* %-3u  ", files[f], p->regs[f]);
    out_fmt(out, "bank* %u\n", p->bank_bytes);
    get_facts(b, facts);
    out_z(out, "        is     ");
    for (size_t k = 0; k < FACTS; k++)
        if (facts[k].holds)
            out_fmt(out, " %s", facts[k].name);
    out_z(out, "\n        targets");
    SmTarget target;
    char name[12];
    for (size_t k = 0; sm_nth_target(k, &target, name); k++)
        if (target.backend == b)
            out_fmt(out, target.encoded == p->encoded ? " %s" : " %s (0x%04x)", name, target.encoded);
    out_char(out, '\n');
}

// Prints a number, or blanks if it is negative.
static void print_number(Out *out, int number)
{
    if (number < 0)
        out_fmt(out, "  %4s", "");
    else
        out_fmt(out, "  %4d", number);
}

static void print_members(Out *out)
{
    out_fmt(out, "\n%-25s  slot  byte  phase", "member");
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
        out_fmt(out, "  %-11s", sm_backends[k]->profile.name);
    out_z(out, "  what\n");
    for (int m = 0; m < SM_MEMBER_COUNT; m++) {
        const SmMember *member = &sm_members[m];
        out_fmt(out, "%-25s", member->name);
        print_number(out, member->slot);
        print_number(out, member->slot < 0 ? -1 : 8 * member->slot);
        out_char(out, ' ');
        print_number(out, member->row);
        for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
            out_fmt(out, "  %-11s", sm_status_name(sm_status(sm_backends[k], m)));
        out_fmt(out, "  %s%s\n", member->inferred ? "* " : "", member->text);
    }
    out_z(out, "\n* inferred: the documents do not say which backends have this member, or what it returns, or the "
               "value of a\n"
               "backend; sm/sm.h and sm/README.md have the reasons\n");
}

/* -- JSON ----------------------------------------------------------------------------------------------- */

static void json_facts(Out *out, const char *name, const Fact *facts, size_t n)
{
    out_fmt(out, "\"%s\":{", name);
    for (size_t k = 0; k < n; k++)
        out_fmt(out, "%s\"%s\":%s", k ? "," : "", facts[k].name, facts[k].holds ? "true" : "false");
    out_z(out, "},\n");
}

static void json_number(Out *out, const char *name, int number)
{
    if (number >= 0)
        out_fmt(out, ",\"%s\":%d", name, number);
}

static void json_members(Out *out, const SmBackend *b)
{
    out_z(out, "\"members\":[");
    for (int m = 0; m < SM_MEMBER_COUNT; m++) {
        const SmMember *member = &sm_members[m];
        out_fmt(out, "%s\n{\"name\":\"%s\"", m ? "," : "", member->name);
        json_number(out, "slot", member->slot);
        json_number(out, "phase", member->row);
        out_fmt(out,
                ",\"status\":\"%s\",\"inferred\":%s,\"document\":\"%s\",\"summary\":", sm_status_name(sm_status(b, m)),
                member->inferred ? "true" : "false", member->document);
        out_json(out, member->text, strlen(member->text));
        out_char(out, '}');
    }
    out_char(out, ']');
}

static void json_targets(Out *out, const SmBackend *b)
{
    SmTarget target;
    char name[12];
    out_z(out, "\"targets\":[");
    for (size_t k = 0, n = 0; sm_nth_target(k, &target, name); k++)
        if (target.backend == b)
            out_fmt(out, "%s{\"name\":\"%s\",\"encoded\":%u}", n++ ? "," : "", name, target.encoded);
    out_z(out, "],\n");
}

static void json_backend(Out *out, const SmBackend *b)
{
    Fact facts[FACTS];
    const SmProfile *p = &b->profile;
    get_facts(b, facts);
    out_fmt(out, "{\"name\":\"%s\",\"number\":%u,\"encoded\":%u,\"class\":%u,\n", p->name, p->number, p->encoded,
            p->class);
    json_facts(out, "capabilities", facts, CAPS);
    json_facts(out, "predicates", facts + CAPS, FAMILIES);
    json_facts(out, "thresholds", facts + CAPS + FAMILIES, THRESHOLDS);
    out_z(out, "\"registers\":{");
    for (int f = 0; f <= RF_UP; f++)
        out_fmt(out, "%s\"%s\":%u", f ? "," : "", files[f], p->regs[f]);
    out_fmt(out, "},\"constant_bank\":%u,\n", p->bank_bytes);
    json_targets(out, b);
    json_members(out, b);
    out_char(out, '}');
}

void sm_list(Out *out, bool json)
{
    if (json)
        out_z(out, "{\"schema\":1,\"backends\":[");
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++) {
        if (json)
            out_z(out, k ? ",\n" : "\n");
        if (json)
            json_backend(out, sm_backends[k]);
        else
            print_backend(out, sm_backends[k]);
    }
    if (json)
        out_z(out, "\n]}\n");
    else
        print_members(out);
}
